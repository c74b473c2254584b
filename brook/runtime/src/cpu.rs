//! The back end on the CPU: memory of the host, kernels compiled by the host's compiler, all its threads.

use std::cell::UnsafeCell;
use std::sync::LazyLock;

use crate::capi::types::{CpuArray, CpuCall, CpuKernel};
use crate::error::{Code, Failure, Result};
use crate::stream::Core;

/// Memory of a stream. Kernels of several threads write to it at once, each its elements.
pub(crate) struct Block {
    words: Box<[UnsafeCell<u64>]>,
    bytes: usize,
}

// SAFETY: plain numbers; who writes where at what time is the kernel's matter, as with any memory that C++ threads share.
unsafe impl Sync for Block {}

impl Block {
    pub(crate) fn new(bytes: usize) -> Result<Block> {
        let count = bytes.div_ceil(8);
        let mut words = Vec::new();
        words
            .try_reserve_exact(count)
            .map_err(|e| Failure::new(Code::Declaration, format!("memory of a stream: {e}")))?;
        words.resize_with(count, || UnsafeCell::new(0));
        Ok(Block { words: words.into_boxed_slice(), bytes })
    }

    pub(crate) fn address(&self) -> *mut u8 {
        self.words.as_ptr().cast_mut().cast()
    }

    /// Copies the program's memory to a stream, or to the part that it is.
    pub(crate) fn store(&self, core: &Core, host: &[u8]) {
        let mut from = host;
        self.rows(core, |at, bytes| {
            let (row, rest) = from.split_at(bytes);
            from = rest;
            // SAFETY: `rows` gives places inside the block, and no kernel runs while a call is made on its streams.
            unsafe { std::ptr::copy_nonoverlapping(row.as_ptr(), self.address().add(at), bytes) };
        });
    }

    /// The other way.
    pub(crate) fn fetch(&self, core: &Core, host: &mut [u8]) {
        let mut to = host;
        self.rows(core, |at, bytes| {
            let (row, rest) = std::mem::take(&mut to).split_at_mut(bytes);
            to = rest;
            // SAFETY: as above.
            unsafe { std::ptr::copy_nonoverlapping(self.address().add(at), row.as_mut_ptr(), bytes) };
        });
    }

    /// Places and bytes of the rows of a stream in memory.
    fn rows(&self, core: &Core, mut each: impl FnMut(usize, usize)) {
        let (start, strides) = core.view();
        let (dims, size) = (core.shape.dims, core.element.size);
        if core.whole.is_none() {
            return each(0, self.bytes);
        }
        for w in 0..dims[3] as usize {
            for z in 0..dims[2] as usize {
                for y in 0..dims[1] as usize {
                    let at = start + w * strides[3] + z * strides[2] + y * strides[1];
                    each(at * size, dims[0] as usize * size);
                }
            }
        }
    }
}

/// What a launch runs on.
pub(crate) struct Launch<'l> {
    pub(crate) kernel: CpuKernel,
    pub(crate) arrays: &'l [CpuArray],
    pub(crate) origin: [u32; 4],
    pub(crate) extent: [u32; 4],
    pub(crate) shape: [u32; 4],
    pub(crate) resize: bool,
    /// Threads of a group, bytes that they share.
    pub(crate) group: Option<(u32, u32)>,
}

/// Hardware threads this process may use; the system takes its time to say so.
static CORES: LazyLock<usize> = LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));

/// Elements below which more threads cost more than they bring.
const WORTH: usize = 4096;

impl Launch<'_> {
    fn call(&self, memory: &mut [u128]) -> CpuCall {
        let (group, shared_bytes) = self.group.unwrap_or((0, 0));
        CpuCall {
            arrays: self.arrays.as_ptr(),
            origin: self.origin,
            extent: self.extent,
            shape: self.shape,
            resize: i32::from(self.resize),
            group,
            shared: memory.as_mut_ptr().cast(),
            shared_bytes,
        }
    }

    /// Runs it; returns when it is done. The elements, or the groups, are divided among threads; a group stays with one, which has
    /// memory for the group that it runs.
    pub(crate) fn run(&self) {
        let elements: usize = self.extent.iter().map(|d| *d as usize).product();
        let count = self.group.map_or(elements, |(threads, _)| elements.div_ceil(threads as usize));
        let threads = CORES.min(elements / WORTH + 1).min(count);
        let share = count.div_ceil(threads.max(1));
        let bytes = self.group.map_or(0, |(_, bytes)| bytes as usize);
        let work = |first: usize| {
            let mut memory = vec![0u128; bytes.div_ceil(16)];
            let call = self.call(&mut memory);
            let (begin, end) = (first * share, count.min((first + 1) * share));
            if begin < end {
                // SAFETY: the compiler wrote the kernel for this structure; arrays and memory are valid during the launch.
                unsafe { (self.kernel)(&raw const call, begin, end) };
            }
        };
        std::thread::scope(|scope| {
            let work = &work;
            let others: Vec<_> = (1..threads).map(|n| scope.spawn(move || work(n))).collect();
            work(0);
            others.into_iter().for_each(|t| drop(t.join()));
        });
    }
}

// SAFETY: arrays hold addresses of memory that the launch keeps alive; see `Block`.
unsafe impl Sync for CpuArray {}
