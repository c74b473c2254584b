//! Streams and kernel calls for Rust: what C++ has in `brook/Stream.h`, with results instead of remembered errors.

use std::marker::PhantomData;

use recal_hal::sync::{Mutex, MutexGuard};

use crate::device::System;
use crate::element_of::{self, Constant, Element};
use crate::error::{Code, Failure, Result};
use crate::kernel::Kernel;
use crate::run::{Argument, Call as Inner, CpuKernel, Role};
use crate::stream::{Core, Handle};

/// Held while anything touches memory of the CPU back end: kernels there write to it through plain addresses, from several threads,
/// and streams are shared by their handles.
static CPU: Mutex<()> = Mutex::new(());

fn guard(is_cpu: bool) -> Option<MutexGuard<'static, ()>> {
    is_cpu.then(|| CPU.lock())
}

/// A device: those of CAL, then the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Device(usize);

impl Device {
    /// All devices, the CPU last.
    pub fn all() -> impl Iterator<Item = Device> {
        System::get().of_type("all").map(Device)
    }

    /// Those of CAL.
    pub fn cal() -> impl Iterator<Item = Device> {
        System::get().of_type("cal").map(Device)
    }

    /// The one that runs kernels' CPU versions.
    pub fn cpu() -> Device {
        Device(System::get().cpu())
    }

    /// The calling thread's: the one of `BRT_RUNTIME` and `BRT_ADAPTER` until [`Device::make_current`].
    pub fn current() -> Device {
        Device(System::get().current())
    }

    /// Makes it the calling thread's: streams are made on it, and kernels run on it. Gives the one before.
    pub fn make_current(self) -> Device {
        Device(System::get().set_current(self.0))
    }

    /// True of the CPU.
    pub fn is_cpu(self) -> bool {
        self.0 == System::get().cpu()
    }
}

/// A stream of elements, on the device that was the thread's when it was made. Clones are the same stream.
///
/// ```
/// let stream = brook::Stream::<f32>::new(&[4, 2])?;
/// stream.read(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])?;
/// let right = stream.domain(&[2, 0], &[4, 2])?;
/// assert_eq!(right.to_vec()?, [3.0, 4.0, 7.0, 8.0]);
/// # Ok::<(), brook::Failure>(())
/// ```
pub struct Stream<T> {
    handle: Handle,
    element: PhantomData<fn(T) -> T>,
}

impl<T> Clone for Stream<T> {
    fn clone(&self) -> Self {
        let handle = Handle { core: self.handle.core.clone(), exec: self.handle.exec };
        Stream { handle, element: PhantomData }
    }
}

impl<T> std::fmt::Debug for Stream<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stream<{}>({:?})", std::any::type_name::<T>(), self.dims())
    }
}

impl<T> Stream<T> {
    /// Extents, x first.
    pub fn dims(&self) -> &[u32] {
        let shape = &self.handle.core.shape;
        &shape.dims[..shape.rank]
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.handle.core.shape.count()
    }

    /// Never: streams have elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its device.
    pub fn device(&self) -> Device {
        Device(self.handle.core.device)
    }

    /// Waits for all that was to be done with it.
    ///
    /// # Errors
    /// What failed since the last call.
    pub fn finish(&self) -> Result<()> {
        self.handle.core.finish();
        outcome(&self.handle.core)
    }

    /// True if nothing is outstanding.
    pub fn is_sync(&self) -> bool {
        self.handle.core.is_sync()
    }

    /// The part from `start` up to, and without, `end`, x first. It is the same memory: changes of either are seen by the other.
    ///
    /// # Errors
    /// [`Code::InvalidParameter`] if the corners are not inside, in order, or have other dimensions.
    pub fn domain(&self, start: &[u32], end: &[u32]) -> Result<Stream<T>> {
        let rank = self.dims().len();
        let corner = |given: &[u32]| std::array::from_fn(|i| given.get(i).copied().unwrap_or(0));
        let corners = (start.len() == rank && end.len() == rank).then(|| (corner(start), corner(end)));
        self.derived(self.handle.domain(corners))
    }

    /// The same stream, of which calls run the first `count` elements only. For streams of one dimension.
    ///
    /// # Errors
    /// [`Code::InvalidParameter`] if there are fewer, or more dimensions.
    pub fn exec_domain(&self, count: u32) -> Result<Stream<T>> {
        self.derived(self.handle.exec_domain(count))
    }

    /// Takes over the elements of a stream of the same extents, of any device.
    ///
    /// # Errors
    /// [`Code::InvalidParameter`] if the extents differ, [`Code::Assign`] if nothing was ever stored in `from`.
    pub fn assign(&self, from: &Stream<T>) -> Result<()> {
        let _here = guard(self.handle.core.is_cpu() || from.handle.core.is_cpu());
        self.handle.core.assign(&from.handle.core);
        outcome(&self.handle.core)
    }

    fn derived(&self, handle: Handle) -> Result<Stream<T>> {
        outcome(&self.handle.core)?;
        outcome(&handle.core)?;
        Ok(Stream { handle, element: PhantomData })
    }
}

impl<T: Element> Stream<T> {
    /// A stream of extents, x first: `[width, height]`.
    ///
    /// # Errors
    /// [`Code::InvalidParameter`] if there are not 1 to 4 extents or one is 0; [`Code::NotSupported`] if the device takes fewer
    /// elements, or no doubles.
    pub fn new(dims: &[u32]) -> Result<Stream<T>> {
        let core = Core::new(System::get().current(), dims.len(), dims, element_of::describe::<T>());
        outcome(&core)?;
        Ok(Stream { handle: Handle { core, exec: None }, element: PhantomData })
    }

    /// A stream of one dimension with these elements.
    ///
    /// # Errors
    /// As [`Stream::new`] and [`Stream::read`].
    pub fn from_slice(elements: &[T]) -> Result<Stream<T>> {
        let stream = Stream::new(&[u32::try_from(elements.len()).unwrap_or(u32::MAX)])?;
        stream.read(elements)?;
        Ok(stream)
    }

    /// Reads elements into the stream, x fastest.
    ///
    /// # Errors
    /// [`Code::InvalidParameter`] if there are not as many as the stream has; else what the device says.
    pub fn read(&self, from: &[T]) -> Result<()> {
        self.same_length(from.len())?;
        let _here = guard(self.handle.core.is_cpu());
        // SAFETY: as many bytes as the stream has elements, for the time of the call, which does not keep the address.
        element_of::with_bytes(from, |bytes| unsafe { self.handle.core.read(bytes.as_ptr(), "") });
        outcome(&self.handle.core)
    }

    /// Writes the stream's elements out, x fastest. Waits for them.
    ///
    /// # Errors
    /// As [`Stream::read`].
    pub fn write(&self, to: &mut [T]) -> Result<()> {
        self.same_length(to.len())?;
        let mut bytes = vec![0u8; size_of_val(to)];
        let here = guard(self.handle.core.is_cpu());
        // SAFETY: as many bytes as the stream has elements; the call waits.
        unsafe { self.handle.core.write(bytes.as_mut_ptr(), "") };
        drop(here);
        outcome(&self.handle.core)?;
        element_of::from_bytes(&bytes, to);
        Ok(())
    }

    /// The stream's elements, x fastest.
    ///
    /// # Errors
    /// What the device says.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let mut list = vec![element_of::zero(); self.len()];
        self.write(&mut list)?;
        Ok(list)
    }

    fn same_length(&self, given: usize) -> Result<()> {
        if given == self.len() {
            return Ok(());
        }
        let message = format!("{given} elements for a stream of {}", self.len());
        Err(Failure::new(Code::InvalidParameter, message))
    }
}

/// What a stream remembers as failed.
fn outcome(core: &Core) -> Result<()> {
    let mut errors = core.errors();
    let (code, message) = (errors.take_first(), errors.take_log());
    if code == Code::None { Ok(()) } else { Err(Failure::new(code, message.trim_end())) }
}

/// Positions that a kernel runs on, x first; all of them if neither is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Positions {
    /// The first.
    pub offset: Option<[u32; 4]>,
    /// How many by axis; the rest if left out.
    pub size: Option<[u32; 4]>,
}

/// A kernel of a source file. `recal-brook-build` writes these.
pub struct KernelInfo {
    /// Its name.
    pub name: &'static str,
    /// Its programs for CAL.
    pub cal: Option<Kernel>,
    /// Its CPU version.
    pub cpu: Option<CpuKernel>,
    /// It is a reduction.
    pub reduce: bool,
    /// Threads of a group, and bytes that they share.
    pub group: Option<(u32, u32)>,
}

/// A call of a kernel: arguments in the order of its parameters, then [`Call::run`].
pub struct Call<'a> {
    kernel: &'a KernelInfo,
    arguments: Vec<Argument<'a>>,
}

impl<'a> Call<'a> {
    /// A call of a kernel.
    ///
    /// # Safety
    /// The arguments that follow are those of the kernel's parameters, in kind, number and type; the CPU version is the compiler's.
    pub unsafe fn new(kernel: &'a KernelInfo) -> Call<'a> {
        Call { kernel, arguments: Vec::new() }
    }

    fn stream<T>(mut self, role: Role, stream: &'a Stream<T>) -> Call<'a> {
        self.arguments.push(Argument::Stream(role, Some(&stream.handle)));
        self
    }

    /// `T a<>`
    pub fn input<T: Element>(self, stream: &'a Stream<T>) -> Call<'a> {
        self.stream(Role::Input, stream)
    }

    /// `T a[]`
    pub fn gather<T: Element>(self, stream: &'a Stream<T>) -> Call<'a> {
        self.stream(Role::Gather, stream)
    }

    /// `out T a<>`
    pub fn output<T: Element>(self, stream: &'a Stream<T>) -> Call<'a> {
        self.stream(Role::Output, stream)
    }

    /// `out T a[]`
    pub fn scatter<T: Element>(self, stream: &'a Stream<T>) -> Call<'a> {
        self.stream(Role::Scatter, stream)
    }

    /// `reduce T a<>`
    pub fn reduce<T: Element>(self, stream: &'a Stream<T>) -> Call<'a> {
        self.stream(Role::Reduce, stream)
    }

    /// `T a`
    pub fn constant<T: Constant>(self, value: &'a T) -> Call<'a> {
        self.numbers(std::slice::from_ref(value), false)
    }

    /// `T a[4]`
    pub fn array<T: Constant>(self, values: &'a [T]) -> Call<'a> {
        self.numbers(values, true)
    }

    fn numbers<T: Constant>(mut self, values: &'a [T], array: bool) -> Call<'a> {
        // SAFETY: numbers and arrays of them have no padding.
        let bytes = unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values)) };
        self.arguments.push(Argument::Constant { scalar: T::SCALAR, width: T::WIDTH, array, bytes });
        self
    }

    /// Runs the kernel. It does not wait on CAL: results are waited for when they are read.
    ///
    /// # Errors
    /// [`Code::Kernel`] if a stream is on another device than the thread's or the launch fails; [`Code::InvalidParameter`] if shapes
    /// do not fit or a stream is input and output; [`Code::NotSupported`] if the device cannot, or the kernel has no version for it.
    pub fn run(self, positions: Positions) -> Result<()> {
        let _here = guard(Device::current().is_cpu());
        let kernel = self.kernel;
        let call = Inner {
            name: kernel.name,
            cal: kernel.cal.as_ref(),
            cpu: kernel.cpu,
            reduce: kernel.reduce,
            group: kernel.group,
            arguments: self.arguments,
            offset: positions.offset,
            size: positions.size,
        };
        let ran = call.checked();
        // What outputs were told of a call that ran: inputs that were resized or never stored to.
        let told: Vec<Result<()>> = call.outputs().map(|o| outcome(&o.core)).collect();
        ran.map_err(|f| Failure::new(f.code, format!("{}: {}", kernel.name, f.message)))?;
        for notice in told.into_iter().filter_map(Result::err) {
            if notice.code != Code::Warning && !call.resizes() {
                return Err(notice);
            }
            log::warn!("{notice}");
        }
        Ok(())
    }
}
