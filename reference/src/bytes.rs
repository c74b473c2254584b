//! Memory as the interpreter needs it: bytes by address, and words that change in one.

/// Bytes that kernels read and write. Who calls stays inside.
pub trait Memory {
    /// How many.
    fn bytes(&self) -> usize;

    /// Reads the bytes from `at` on.
    fn read(&self, at: usize, to: &mut [u8]);

    /// Writes bytes from `at` on.
    fn write(&mut self, at: usize, from: &[u8]);

    /// Replaces the word at `at`, a multiple of 4, by what `new` makes of it, in one; what it was. Others than this launch may use
    /// the memory: then `new` may be asked several times.
    fn update(&mut self, at: usize, new: &mut dyn FnMut(u32) -> u32) -> u32 {
        let mut bytes = [0; 4];
        self.read(at, &mut bytes);
        let old = u32::from_le_bytes(bytes);
        self.write(at, &new(old).to_le_bytes());
        old
    }

    /// The same for two words at a multiple of 8.
    fn update_wide(&mut self, at: usize, new: &mut dyn FnMut(u64) -> u64) -> u64 {
        let mut bytes = [0; 8];
        self.read(at, &mut bytes);
        let old = u64::from_le_bytes(bytes);
        self.write(at, &new(old).to_le_bytes());
        old
    }
}

impl Memory for Vec<u8> {
    fn bytes(&self) -> usize {
        self.len()
    }

    fn read(&self, at: usize, to: &mut [u8]) {
        to.copy_from_slice(&self[at..at + to.len()]);
    }

    fn write(&mut self, at: usize, from: &[u8]) {
        self[at..at + from.len()].copy_from_slice(from);
    }
}

/// Memories by number, whatever they are.
pub(crate) trait Memories {
    fn numbered(&self, number: usize) -> &dyn Memory;
}

impl<M: Memory> Memories for Vec<M> {
    fn numbered(&self, number: usize) -> &dyn Memory {
        &self[number]
    }
}

/// Reads from the first `bytes` bytes of a memory; `None` if not all of it is there.
fn read<const N: usize>(memory: &dyn Memory, bytes: usize, at: usize) -> Option<[u8; N]> {
    let mut to = [0; N];
    if at.checked_add(N)? > bytes {
        return None;
    }
    memory.read(at, &mut to);
    Some(to)
}

/// A word of the first `bytes` bytes, by its number.
pub(crate) fn word_at(memory: &dyn Memory, bytes: usize, word: u64) -> Option<u32> {
    let at = usize::try_from(word).ok()?.checked_mul(4)?;
    read(memory, bytes, at).map(u32::from_le_bytes)
}

/// What a kernel reaches of a memory: so many of its bytes.
pub(crate) struct Reach<'m> {
    pub memory: &'m mut dyn Memory,
    pub bytes: usize,
}

impl<'m> Reach<'m> {
    /// All of it.
    pub fn whole(memory: &'m mut dyn Memory) -> Reach<'m> {
        let bytes = memory.bytes();
        Reach { memory, bytes }
    }

    /// Word number `word`, if all of it is there.
    pub fn word(&self, word: u64) -> Option<u32> {
        word_at(self.memory, self.bytes, word)
    }

    /// `N` bytes, if all of them are there.
    pub fn read<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        read(self.memory, self.bytes, at)
    }

    /// Where so many bytes of a word lie, if all of them are there.
    fn place(&self, word: u64, bytes: usize) -> Option<usize> {
        let at = usize::try_from(word).ok()?.checked_mul(4)?;
        (at.checked_add(bytes)? <= self.bytes).then_some(at)
    }

    /// Stores bytes, if there is room for all of them.
    pub fn write(&mut self, at: usize, from: &[u8]) {
        if at.checked_add(from.len()).is_some_and(|end| end <= self.bytes) {
            self.memory.write(at, from);
        }
    }

    /// Stores a word, if there is one.
    pub fn set_word(&mut self, word: u64, value: u32) {
        if let Some(at) = self.place(word, 4) {
            self.memory.write(at, &value.to_le_bytes());
        }
    }

    /// Replaces a word, if there is one; what it was.
    pub fn update(&mut self, word: u64, new: &mut dyn FnMut(u32) -> u32) -> Option<u32> {
        self.place(word, 4).map(|at| self.memory.update(at, new))
    }

    /// Replaces two words, if there are such.
    pub fn update_wide(&mut self, word: u64, new: &mut dyn FnMut(u64) -> u64) -> Option<u64> {
        self.place(word, 8).map(|at| self.memory.update_wide(at, new))
    }
}
