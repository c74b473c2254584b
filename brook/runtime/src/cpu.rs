//! The back end on the CPU: memory of the host, kernels compiled by the host's compiler, all its threads.

use std::cell::UnsafeCell;
use std::ffi::c_void;

use recal_hal::sync::{Condvar, Mutex};

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

/// Elements below which more threads cost more than they bring.
const WORTH: usize = 4096;

/// Addresses that threads of a launch share.
#[derive(Clone, Copy)]
struct Shared(*mut c_void);

// SAFETY: what it points to outlives the launch and is made for threads.
unsafe impl Send for Shared {}

impl Launch<'_> {
    fn call(&self) -> CpuCall {
        CpuCall {
            arrays: self.arrays.as_ptr(),
            origin: self.origin,
            extent: self.extent,
            shape: self.shape,
            resize: i32::from(self.resize),
            thread: 0,
            group: 0,
            shared: std::ptr::null_mut(),
            shared_bytes: 0,
            barrier: no_barrier,
            barrier_data: std::ptr::null_mut(),
        }
    }

    /// Runs it; returns when it is done.
    pub(crate) fn run(&self) {
        match self.group {
            Some((threads, bytes)) => self.groups(threads, bytes),
            None => self.elements(),
        }
    }

    fn elements(&self) {
        let count: usize = self.extent.iter().map(|d| *d as usize).product();
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(count / WORTH + 1);
        let share = count.div_ceil(threads);
        let work = |first: usize| {
            let call = self.call();
            let (begin, end) = (first * share, count.min((first + 1) * share));
            if begin < end {
                // SAFETY: the compiler wrote the kernel for this structure; arrays are valid during the launch.
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

    /// A thread for each thread of a group; the groups come one after the other.
    fn groups(&self, threads: u32, bytes: u32) {
        let count: usize = self.shape.iter().map(|d| *d as usize).product();
        let groups = count.div_ceil(threads as usize);
        let barrier = Barrier { threads, state: Mutex::new(Waiting::default()), changed: Condvar::new() };
        let mut shared = vec![0u128; (bytes as usize).div_ceil(16)];
        let (memory, meeting) =
            (Shared(shared.as_mut_ptr().cast()), Shared((&raw const barrier).cast_mut().cast()));
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let work = move || {
                    // Both addresses as wholes: each is made for threads.
                    let (memory, meeting) = (memory, meeting);
                    let call = CpuCall {
                        thread,
                        group: threads,
                        shared: memory.0,
                        shared_bytes: bytes,
                        barrier: wait_at_barrier,
                        barrier_data: meeting.0,
                        ..self.call()
                    };
                    // SAFETY: as in `elements`; the shared memory and the barrier outlive the scope.
                    unsafe { (self.kernel)(&raw const call, 0, groups) };
                };
                let small = std::thread::Builder::new().stack_size(256 << 10);
                if let Err(e) = small.spawn_scoped(scope, work) {
                    // A group that lacks a thread would wait for ever.
                    log::error!("{threads} threads for a group: {e}");
                    std::process::abort();
                }
            }
        });
    }
}

// SAFETY: arrays hold addresses of memory that the launch keeps alive; see `Block`.
unsafe impl Sync for CpuArray {}

extern "C" fn no_barrier(_: *mut c_void, _: i32) {}

/// Where the threads of a group meet. A thread that has left its group counts as there until all have left it.
struct Barrier {
    threads: u32,
    state: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    here: u32,
    left: u32,
    meetings: u64,
    groups: u64,
}

impl Barrier {
    fn sync(&self) {
        let mut state = self.state.lock();
        state.here += 1;
        if self.meet(&mut state) {
            return;
        }
        let meeting = state.meetings;
        while state.meetings == meeting {
            state = self.changed.wait(state);
        }
    }

    fn leave(&self) {
        let mut state = self.state.lock();
        state.left += 1;
        if state.left == self.threads {
            state.left = 0;
            state.groups += 1;
            self.changed.notify_all();
            return;
        }
        self.meet(&mut state);
        let group = state.groups;
        while state.groups == group {
            state = self.changed.wait(state);
        }
    }

    /// Lets those who wait go on once nobody is missing.
    fn meet(&self, state: &mut Waiting) -> bool {
        if state.here == 0 || state.here + state.left < self.threads {
            return false;
        }
        state.here = 0;
        state.meetings += 1;
        self.changed.notify_all();
        true
    }
}

extern "C" fn wait_at_barrier(barrier: *mut c_void, leave: i32) {
    // SAFETY: `groups` gives the address of a barrier that outlives its threads.
    let barrier = unsafe { &*barrier.cast::<Barrier>() };
    if leave == 0 { barrier.sync() } else { barrier.leave() }
}
