//! Accesses to memory.

use recal_il::ir::{
    AtomicAddress, AtomicOp, Dst4, Id, InfoSource, MemoryInst, Operand, Reg, Space, Src4, Uav, WideAtomic,
    Width,
};
use recal_il::isa::Scalar;
use recal_il::isa::memory::atomic::{new_quad, new_word};
use recal_il::isa::memory::element;

use crate::bytes::{Reach, word_at};
use crate::group::Group;
use crate::texture::{self, Place, planar};
use crate::wave::{Mask, lanes};
use crate::{Bound, Machine, Memory, Surface};

/// First word of the row of 16 bytes `index + offset`, if the bytes have some of it.
fn row_at(index: u32, offset: i32, bytes: usize) -> Option<u64> {
    let row = u64::try_from(i64::from(index as i32) + i64::from(offset)).ok()?;
    (row < bytes.div_ceil(16) as u64).then_some(4 * row)
}

impl Bound<'_> {
    /// A word of a constant buffer; 0 beyond its memory.
    pub fn constant(&self, buffer: u32, row: u64, component: usize) -> u32 {
        let Some(surface) = self.constants.get(&buffer) else { return 0 };
        let memory = self.memories.numbered(surface.memory);
        word_at(memory, surface.bytes(), 4 * row + component as u64).unwrap_or(0)
    }
}

impl<M: Memory> Machine<M> {
    /// What kernels reach by a surface.
    fn reach(&mut self, surface: &Surface) -> Reach<'_> {
        Reach { memory: &mut self.memories[surface.memory], bytes: surface.bytes() }
    }
}

impl<M: Memory> Group<'_, '_, M> {
    /// Executes an access for threads of a wave: all read their operands before the next statement.
    pub fn access(&mut self, first: usize, now: Mask, inst: &MemoryInst) {
        if let MemoryInst::LdsReadAny { thread, offset, neighbor_exchange, dst } = inst {
            return self.read_any(first, now, *thread, *offset, *neighbor_exchange, dst);
        }
        for lane in lanes(now) {
            self.access_one(first + lane, inst);
        }
    }

    fn words<const N: usize>(&self, t: usize, operands: [Operand; N]) -> [u32; N] {
        operands.map(|operand| self.word(t, operand))
    }

    fn sources(&self, t: usize, src: &Src4) -> [Option<u32>; 4] {
        src.map(|operand| operand.map(|operand| self.word(t, operand)))
    }

    fn deliver(&mut self, t: usize, dst: &Dst4, words: [u32; 4]) {
        for (register, word) in dst.iter().zip(words) {
            if let Some(register) = register {
                self.registers.set(*register, t, word);
            }
        }
    }

    /// A number of the text with what is added to it.
    fn number(&self, t: usize, id: Id) -> u32 {
        id.index.map_or(id.base, |index| id.base.wrapping_add(self.word(t, index)))
    }

    /// A resource that the program has.
    fn resource(&self, t: usize, id: Id) -> Option<Surface> {
        let number = self.number(t, id);
        let interface = &self.program.interface;
        let there = interface.resources.contains_key(&number) || interface.srvs.contains_key(&number);
        self.machine.resources.get(&number).filter(|_| there).copied()
    }

    /// The shape of a resource is that of the number in the text.
    fn dimensions(&self, id: Id) -> u32 {
        self.program.interface.resources.get(&id.base).map_or(2, |resource| planar(resource.dimension))
    }

    fn uav_dimensions(&self, uav: u32) -> u32 {
        match self.program.interface.uavs.get(&uav) {
            Some(Uav::Typed { dimension }) => planar(*dimension),
            _ => 1,
        }
    }

    /// The memory of a byte-addressed space, if there is one.
    fn space(&mut self, space: Space) -> Option<Reach<'_>> {
        let surface = match space {
            Space::Uav(n) => self.machine.uavs.get(&n),
            Space::Srv(n) => self.machine.resources.get(&n),
            Space::Lds(n) => return self.local.lds.get_mut(&n).map(|bytes| Reach::whole(bytes)),
            Space::Gds(n) => return self.launch.gds.get_mut(&n).map(|bytes| Reach::whole(&mut **bytes)),
        };
        let surface = *surface?;
        Some(self.machine.reach(&surface))
    }

    fn access_one(&mut self, t: usize, inst: &MemoryInst) {
        match inst {
            MemoryInst::Sample { resource, sampler, unnormalized, coord, offset, dst } => {
                let [u, v, _] = self.words(t, *coord);
                let dimensions = self.dimensions(*resource);
                let place = Place { coord: [u, v], offset: *offset, unnormalized: *unnormalized, dimensions };
                let state = self.sampler(t, *sampler);
                let texel =
                    self.resource(t, *resource).map(|s| self.machine.bound().sample(&s, &state, &place));
                self.deliver(t, dst, texel.unwrap_or_default());
            }
            MemoryInst::Gather {
                resource,
                sampler,
                unnormalized,
                coord,
                offset,
                texel_offset,
                component,
                dst,
            } => {
                let dimensions = self.dimensions(*resource);
                let coord = self.words(t, *coord);
                let place = Place { coord, offset: *offset, unnormalized: *unnormalized, dimensions };
                let added = texel_offset.map(|added| self.words(t, added));
                let state = self.sampler(t, *sampler);
                let found = self.resource(t, *resource);
                let texels =
                    found.map(|s| self.machine.bound().gather(&s, &state, &place, added, *component));
                self.deliver(t, dst, texels.unwrap_or_default());
            }
            MemoryInst::Fetch { resource, coord, offset, dst } => {
                let (coord, dimensions) = (self.words(t, *coord), self.dimensions(*resource));
                let found = self.resource(t, *resource);
                let texel = found.map(|s| self.machine.bound().fetch(&s, dimensions, coord, *offset));
                self.deliver(t, dst, texel.unwrap_or_default());
            }
            MemoryInst::ResourceInfo { resource, uint, dst } => {
                let size = self.resource(t, *resource).map_or([0; 4], |s| [s.width, s.height, 1, 1]);
                self.deliver(t, dst, size.map(|n| if *uint { n } else { (n as f32).to_bits() }));
            }
            MemoryInst::BufferInfo { of, dst } => {
                let counts = self.counts(t, *of);
                self.deliver(t, dst, counts);
            }
            MemoryInst::ConstLoad { buffer, index, offset, dst } => {
                let bytes = self.machine.constants.get(buffer).map_or(0, Surface::bytes);
                let row = row_at(self.word(t, *index), *offset, bytes);
                let word = |k| row.map_or(0, |word| self.machine.bound().constant(*buffer, word / 4, k));
                self.deliver(t, dst, [0, 1, 2, 3].map(word));
            }
            MemoryInst::ImmediateLoad { index, offset, dst } => {
                let table = &self.program.interface.immediates;
                let row = row_at(self.word(t, *index), *offset, 16 * table.len());
                self.deliver(t, dst, row.map_or([0; 4], |word| table[word as usize / 4]));
            }
            MemoryInst::ArrayLoad { array, index, offset, dst } => {
                let rows = self.threads[t].arrays.get(array).map_or(&[][..], |rows| rows);
                let row = row_at(self.word(t, *index), *offset, 16 * rows.len());
                self.deliver(t, dst, row.map_or([0; 4], |word| rows[word as usize / 4]));
            }
            MemoryInst::ArrayStore { array, index, offset, src } => {
                let (words, index) = (self.sources(t, src), self.word(t, *index));
                let Some(rows) = self.threads[t].arrays.get_mut(array) else { return };
                if let Some(word) = row_at(index, *offset, 16 * rows.len()) {
                    replace(&mut rows[word as usize / 4], words);
                }
            }
            MemoryInst::GlobalLoad { index, offset, dst } => {
                let index = self.word(t, *index);
                let words = self.machine.global.map_or([0; 4], |surface| {
                    let reach = self.machine.reach(&surface);
                    let row = row_at(index, *offset, reach.bytes);
                    [0, 1, 2, 3].map(|k| row.and_then(|word| reach.word(word + k)).unwrap_or(0))
                });
                self.deliver(t, dst, words);
            }
            MemoryInst::GlobalStore { index, offset, src } => {
                let (words, index) = (self.sources(t, src), self.word(t, *index));
                let Some(surface) = self.machine.global else { return };
                if let Some(first) = row_at(index, *offset, surface.bytes()) {
                    store(&mut self.machine.reach(&surface), first, words);
                }
            }
            MemoryInst::SharedLoad { register, dst } => {
                let lane = self.threads[t].lane();
                let bank = self.launch.shared.get(*register as usize).map(|bank| bank[lane]);
                if let Some(row) = bank {
                    self.deliver(t, dst, row);
                }
            }
            MemoryInst::SharedStore { register, src } => {
                let (lane, words) = (self.threads[t].lane(), self.sources(t, src));
                if let Some(bank) = self.launch.shared.get_mut(*register as usize) {
                    replace(&mut bank[lane], words);
                }
            }
            MemoryInst::RawLoad { space, address, width, dst } => {
                let address = self.word(t, *address);
                let words = self.space(*space).map_or([0; 4], |reach| load(&reach, address, *width));
                self.deliver(t, dst, words);
            }
            MemoryInst::RawStore { space, address, width, src } => {
                let (address, words) = (self.word(t, *address), self.sources(t, src));
                let Some(mut reach) = self.space(*space) else { return };
                match width {
                    Width::Dwords => store(&mut reach, u64::from(address / 4), words),
                    Width::U8 | Width::I8 => store_low(&mut reach, address, 1, words[0]),
                    Width::U16 | Width::I16 => store_low(&mut reach, address & !1, 2, words[0]),
                }
            }
            MemoryInst::TypedLoad { uav, coord, dst } => {
                let (coord, dimensions) = (self.words(t, *coord), self.uav_dimensions(*uav));
                let Some(surface) = self.machine.uavs.get(uav) else { return };
                let words = self.machine.bound().typed_load(surface, dimensions, coord);
                self.deliver(t, dst, words);
            }
            MemoryInst::TypedStore { uav, coord, src } => {
                let (coord, words) = (self.words(t, *coord), self.words(t, *src));
                let dimensions = self.uav_dimensions(*uav);
                let Some(surface) = self.machine.uavs.get(uav).copied() else { return };
                if let Some(element) = texture::typed(&surface, dimensions, coord) {
                    self.machine.store_element(&surface, element, words);
                }
            }
            MemoryInst::Atomic { op, space, address, src, src2, dst, wide } => {
                let s = self.word(t, *src);
                let s2 = src2.map_or(0, |operand| self.word(t, operand));
                match (address, wide) {
                    (AtomicAddress::Byte(address), Some(wide)) => {
                        let address = self.word(t, *address);
                        self.atomic_wide(t, *op, *space, address, [s, s2], *dst, wide);
                    }
                    (AtomicAddress::Byte(address), None) => {
                        let word = self.word(t, *address) / 4;
                        self.atomic(t, *op, *space, Some(word.into()), [s, s2], *dst);
                    }
                    (AtomicAddress::Texel(coord), _) => {
                        let coord = self.words(t, *coord);
                        let word = self.texel_word(*space, coord);
                        self.atomic(t, *op, *space, word, [s, s2], *dst);
                    }
                }
            }
            MemoryInst::LdsWriteOwn { offset, src } => {
                let words = self.sources(t, src);
                let own = self.program.interface.lds_dwords_per_thread as usize;
                let thread = self.threads[t].number as usize;
                let mut owned = Reach::whole(&mut self.local.owned);
                for (k, word) in words.into_iter().enumerate() {
                    let at = *offset as usize + k;
                    if let (Some(word), true) = (word, at < own) {
                        owned.set_word((thread * own + at) as u64, word);
                    }
                }
            }
            MemoryInst::Counter { uav, consume, dst } => {
                let step = if *consume { u32::MAX } else { 1 };
                let mut counters = Reach::whole(&mut *self.launch.counters);
                let before = counters.update(u64::from(*uav), &mut |count| count.wrapping_add(step));
                let value = before.map(|before| if *consume { before.wrapping_sub(1) } else { before });
                self.registers.set(*dst, t, value.unwrap_or(0));
            }
            // For all threads of a group at once; see `access`.
            MemoryInst::LdsReadAny { .. } => {}
            // They are zeros when a launch begins.
            MemoryInst::InitShared => {}
        }
    }

    fn sampler(&self, t: usize, id: Id) -> recal_hal::Sampler {
        self.machine.samplers.get(&self.number(t, id)).copied().unwrap_or_default()
    }

    /// `bufinfo`
    fn counts(&self, t: usize, of: InfoSource) -> [u32; 4] {
        let interface = &self.program.interface;
        let bytes = |surface: Option<&Surface>, stride: u32| match surface.map(Surface::bytes) {
            None => [0; 4],
            Some(bytes) if stride == 0 => [bytes as u32, 0, 0, 0],
            Some(bytes) => [(bytes / stride as usize) as u32, stride, 0, 0],
        };
        let elements = |surface: Option<&Surface>| {
            [surface.map_or(0, |surface| surface.width.saturating_mul(surface.height)), 0, 0, 0]
        };
        match of {
            InfoSource::Resource(id) => elements(self.resource(t, id).as_ref()),
            InfoSource::Uav(n) => {
                let surface = self.machine.uavs.get(&n);
                match interface.uavs.get(&n) {
                    Some(Uav::Typed { .. }) => elements(surface),
                    Some(Uav::Structured { stride }) => bytes(surface, *stride),
                    Some(Uav::Raw | Uav::Arena) | None => bytes(surface, 0),
                }
            }
            InfoSource::Srv(n) => {
                bytes(self.machine.resources.get(&n), interface.srvs.get(&n).copied().unwrap_or(0))
            }
        }
    }

    /// Word number of a texel of a typed UAV. Of elements of several words the first one is meant.
    fn texel_word(&self, space: Space, coord: [u32; 3]) -> Option<u64> {
        let Space::Uav(uav) = space else { return None };
        let surface = self.machine.uavs.get(&uav)?;
        let element = texture::typed(surface, self.uav_dimensions(uav), coord)?;
        Some(u64::from(element) * u64::from(surface.format.bytes().div_ceil(4)))
    }

    fn atomic(
        &mut self,
        t: usize,
        op: AtomicOp,
        space: Space,
        word: Option<u64>,
        [s, s2]: [u32; 2],
        dst: Option<Reg>,
    ) {
        let reach = self.space(space).zip(word);
        let old = reach.and_then(|(mut reach, word)| {
            reach.update(word, &mut |old| new_word(&mut Scalar, op, old, s, s2))
        });
        self.deliver(t, &[dst, None, None, None], [old.unwrap_or(0), 0, 0, 0]);
    }

    #[expect(clippy::too_many_arguments, reason = "an atomic has so many")]
    fn atomic_wide(
        &mut self,
        t: usize,
        op: AtomicOp,
        space: Space,
        address: u32,
        low: [u32; 2],
        dst: Option<Reg>,
        wide: &WideAtomic,
    ) {
        let high = [self.word(t, wide.src), wide.src2.map_or(0, |operand| self.word(t, operand))];
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let (s, s2) = (pair(low[0], high[0]), pair(low[1], high[1]));
        let old = self.space(space).and_then(|mut reach| {
            reach.update_wide(u64::from(address / 8 * 2), &mut |old| new_quad(&mut Scalar, op, old, s, s2))
        });
        let old = old.unwrap_or(0);
        self.deliver(t, &[dst, wide.dst, None, None], [old as u32, (old >> 32) as u32, 0, 0]);
    }

    /// `lds_read_vec`: dwords of any thread; with the exchange, each quad of lanes transposes what it loaded.
    fn read_any(
        &mut self,
        first: usize,
        now: Mask,
        thread: Operand,
        offset: Operand,
        neighbor_exchange: bool,
        dst: &Dst4,
    ) {
        let own = u64::from(self.program.interface.lds_dwords_per_thread);
        let mut loaded = vec![[0; 4]; self.threads.len().next_multiple_of(4)];
        for t in lanes(now).map(|lane| first + lane) {
            let (thread, offset) = (self.word(t, thread), self.word(t, offset));
            for (k, word) in loaded[t].iter_mut().enumerate() {
                let dword = u64::from(offset) + k as u64;
                if (thread as usize) < self.threads.len() && dword < own {
                    let owned = &self.local.owned;
                    *word = word_at(owned, owned.len(), u64::from(thread) * own + dword).unwrap_or(0);
                }
            }
        }
        for t in lanes(now).map(|lane| first + lane) {
            let words = match neighbor_exchange {
                true => [0, 1, 2, 3].map(|k| loaded[(t & !3) + k][t & 3]),
                false => loaded[t],
            };
            self.deliver(t, dst, words);
        }
    }
}

/// Takes the words that there are.
fn replace(row: &mut [u32; 4], words: [Option<u32>; 4]) {
    for (to, word) in row.iter_mut().zip(words) {
        *to = word.unwrap_or(*to);
    }
}

/// Stores the words that there are from word number `first` on.
fn store(reach: &mut Reach<'_>, first: u64, words: [Option<u32>; 4]) {
    for (k, word) in words.into_iter().enumerate() {
        if let Some(word) = word {
            reach.set_word(first + k as u64, word);
        }
    }
}

/// Stores the low bytes of a word, if there is room for all of them.
fn store_low(reach: &mut Reach<'_>, address: u32, size: usize, word: Option<u32>) {
    if let Some(word) = word {
        reach.write(address as usize, &word.to_le_bytes()[..size]);
    }
}

/// A byte-addressed load.
fn load(reach: &Reach<'_>, address: u32, width: Width) -> [u32; 4] {
    let low = match width {
        Width::Dwords => {
            let first = u64::from(address / 4);
            return [0, 1, 2, 3].map(|k| reach.word(first + k).unwrap_or(0));
        }
        Width::U8 | Width::I8 => reach.read(address as usize).map_or(0, |[byte]: [u8; 1]| byte.into()),
        Width::U16 | Width::I16 => {
            reach.read(address as usize & !1).map_or(0, |b| u16::from_le_bytes(b).into())
        }
    };
    [element::extended(&mut Scalar, width, low); 4]
}
