//! OpenCL beside us: the same algorithms in OpenCL C, on a processor that OpenCL finds, which is pocl on most machines. The library is
//! found at run time, or not at all.

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::ptr::{null, null_mut};

use libloading::Library;

use crate::case::{Case, Threads};
use crate::measure::{Result, Runner};

type Status = c_int;
/// A platform, a device, a context, a queue, a program, a kernel or memory.
type Object = *mut c_void;

const DEVICE_TYPE_CPU: u64 = 1 << 1;
const PLATFORM_NAME: c_uint = 0x0902;
const DEVICE_NAME: c_uint = 0x102B;
const DRIVER_VERSION: c_uint = 0x102D;
const KERNEL_NUM_ARGS: c_uint = 0x1191;
const PROGRAM_BUILD_LOG: c_uint = 0x1183;
const MEM_READ_WRITE: u64 = 1;
const MEM_COPY_HOST_PTR: u64 = 1 << 5;
const TRUE: c_uint = 1;

/// Kernels by the names of the GLSL peers.
macro_rules! sources {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../opencl/", $name, ".cl")))),*]
    };
}

const SOURCES: &[(&str, &str)] = sources! {
    "bitonic_sort" "copy" "dgemm" "dgemm_tiled" "divergent" "empty" "hash" "mandelbrot" "matmul_outer" "matmul_pldi"
    "matmul_shared" "matmul_tiled" "matmul_wide" "polynomial" "reduction_1" "reduction_2" "reduction_3" "reduction_4" "stencil" "straight"
    "transpose_local" "transpose_naive" "vector_matrix"
};

/// Calls a C function of the library by name; anything but 0 is an error.
macro_rules! call {
    ($library:expr, $name:literal, $($value:expr => $kind:ty),* $(,)?) => {{
        // SAFETY: the type is the function's in OpenCL's specification; arguments live until it returns.
        let status = unsafe {
            let function = $library.get::<unsafe extern "C" fn($($kind),*) -> Status>($name.as_bytes())?;
            function($($value),*)
        };
        match status {
            0 => Ok(()),
            status => Err(Box::<dyn std::error::Error>::from(format!("{}: error {status}", $name))),
        }
    }};
}

/// Calls a C function that makes an object.
macro_rules! create {
    ($library:expr, $name:literal, $($value:expr => $kind:ty),* $(,)?) => {{
        let mut status: Status = 0;
        // SAFETY: as above.
        let object = unsafe {
            let function =
                $library.get::<unsafe extern "C" fn($($kind,)* *mut Status) -> Object>($name.as_bytes())?;
            function($($value,)* &mut status)
        };
        match status {
            0 => Ok(object),
            status => Err(Box::<dyn std::error::Error>::from(format!("{}: error {status}", $name))),
        }
    }};
}

/// A processor as a device of OpenCL.
pub struct OpenCl {
    /// For tables: `pocl`, or `opencl` of somebody else.
    pub label: String,
    /// Name and version that the implementation gives.
    pub name: String,
    library: Library,
    device: Object,
    context: Object,
    queue: Object,
}

impl OpenCl {
    /// The first processor.
    pub fn open() -> Result<OpenCl> {
        // SAFETY: the loader of OpenCL's implementations has no requirements on being loaded.
        let library = unsafe { Library::new("libOpenCL.so.1") }?;
        let mut count = 0;
        call!(library, "clGetPlatformIDs",
            0 => c_uint, null_mut() => *mut Object, &mut count => *mut c_uint)?;
        let mut platforms = vec![null_mut(); count as usize];
        call!(library, "clGetPlatformIDs",
            count => c_uint, platforms.as_mut_ptr() => *mut Object, null_mut() => *mut c_uint)?;
        for platform in platforms {
            let mut device = null_mut();
            let found = call!(library, "clGetDeviceIDs",
                platform => Object, DEVICE_TYPE_CPU => u64, 1 => c_uint,
                &mut device => *mut Object, null_mut() => *mut c_uint);
            if found.is_err() {
                continue;
            }
            let platform = text(|size, to, needed| {
                call!(library, "clGetPlatformInfo",
                    platform => Object, PLATFORM_NAME => c_uint,
                    size => usize, to => *mut c_void, needed => *mut usize)
            })?;
            let of_device = |what: c_uint| {
                text(|size, to, needed| {
                    call!(library, "clGetDeviceInfo",
                        device => Object, what => c_uint,
                        size => usize, to => *mut c_void, needed => *mut usize)
                })
            };
            let name = format!("{} {}", of_device(DEVICE_NAME)?, of_device(DRIVER_VERSION)?);
            let context = create!(library, "clCreateContext",
                null() => *const isize, 1 => c_uint, &device => *const Object,
                null_mut() => *mut c_void, null_mut() => *mut c_void)?;
            let queue = create!(library, "clCreateCommandQueue",
                context => Object, device => Object, 0 => u64)?;
            let label = if platform.contains("Portable Computing Language") { "pocl" } else { "opencl" };
            return Ok(OpenCl { label: label.into(), name, library, device, context, queue });
        }
        Err("no processor among OpenCL's devices".into())
    }

    /// Prepares the kernel of a case.
    pub fn prepare<'c>(&'c self, case: &Case) -> Result<OpenClRunner<'c>> {
        let (name, source) =
            SOURCES.iter().find(|(name, _)| *name == case.peer).ok_or("no such kernel in OpenCL")?;
        let program = create!(self.library, "clCreateProgramWithSource",
            self.context => Object, 1 => c_uint,
            &source.as_ptr().cast() => *const *const c_char, &source.len() => *const usize)?;
        let built = call!(self.library, "clBuildProgram",
            program => Object, 1 => c_uint, &self.device => *const Object,
            c"-cl-std=CL1.2".as_ptr() => *const c_char, null_mut() => *mut c_void, null_mut() => *mut c_void);
        if let Err(error) = built {
            let log = text(|size, to, needed| {
                call!(self.library, "clGetProgramBuildInfo",
                    program => Object, self.device => Object, PROGRAM_BUILD_LOG => c_uint,
                    size => usize, to => *mut c_void, needed => *mut usize)
            })?;
            return Err(format!("{name}.cl: {error}\n{log}").into());
        }
        let function = CString::new(*name)?;
        let kernel = create!(self.library, "clCreateKernel",
            program => Object, function.as_ptr() => *const c_char)?;
        let (global, local) = match case.threads {
            Threads::Domain(width, height) => ([width as usize, height as usize, 1], None),
            Threads::Grid(groups, block) => {
                ([0, 1, 2].map(|k| (groups[k] * block[k]) as usize), Some(block.map(|n| n as usize)))
            }
        };
        let mut runner = OpenClRunner {
            cl: self,
            program,
            kernel,
            buffers: Vec::new(),
            global,
            local,
            steps: case.steps.iter().map(|step| step.push.clone()).collect(),
            parameters: 0,
        };
        for buffer in &case.buffers {
            let mut words = buffer.words.clone();
            words.resize(buffer.bytes() as usize / 4, 0);
            let memory = create!(self.library, "clCreateBuffer",
                self.context => Object, MEM_READ_WRITE | MEM_COPY_HOST_PTR => u64,
                words.len() * 4 => usize, words.as_mut_ptr().cast() => *mut c_void)?;
            runner.buffers.push((memory, words.len()));
        }
        for (k, (memory, _)) in runner.buffers.iter().enumerate() {
            call!(self.library, "clSetKernelArg",
                kernel => Object, k as c_uint => c_uint,
                size_of::<Object>() => usize, (&raw const *memory).cast() => *const c_void)?;
        }
        let mut arguments: c_uint = 0;
        call!(self.library, "clGetKernelInfo",
            kernel => Object, KERNEL_NUM_ARGS => c_uint, size_of::<c_uint>() => usize,
            (&raw mut arguments).cast() => *mut c_void, null_mut() => *mut usize)?;
        // Words that a kernel has no use for, which stand at the end, are not among its parameters.
        runner.parameters = (arguments as usize)
            .checked_sub(runner.buffers.len())
            .filter(|count| runner.steps.iter().all(|words| *count <= words.len()))
            .ok_or_else(|| format!("{name}.cl: its parameters are not the case's"))?;
        Ok(runner)
    }
}

impl Drop for OpenCl {
    fn drop(&mut self) {
        let release = || -> Result<()> {
            call!(self.library, "clReleaseCommandQueue", self.queue => Object)?;
            call!(self.library, "clReleaseContext", self.context => Object)
        };
        if let Err(error) = release() {
            eprintln!("{error}");
        }
    }
}

/// Text of whatever length, asked for twice.
fn text(ask: impl Fn(usize, *mut c_void, *mut usize) -> Result<()>) -> Result<String> {
    let mut needed = 0;
    ask(0, null_mut(), &mut needed)?;
    let mut bytes = vec![0u8; needed];
    ask(needed, bytes.as_mut_ptr().cast(), null_mut())?;
    Ok(String::from_utf8_lossy(&bytes).trim_end_matches('\0').into())
}

/// A kernel in OpenCL C that is ready to run.
pub struct OpenClRunner<'c> {
    cl: &'c OpenCl,
    program: Object,
    kernel: Object,
    /// Memory, and its size in words.
    buffers: Vec<(Object, usize)>,
    global: [usize; 3],
    /// Left to the implementation where the kernel does not ask for a size.
    local: Option<[usize; 3]>,
    steps: Vec<Vec<u32>>,
    parameters: usize,
}

impl OpenClRunner<'_> {
    /// Copies buffer 0 to buffer 1 by the copy command.
    pub fn copy_command(&self, times: u32) -> Result<()> {
        let [(from, words), (to, _)] = self.buffers[..2] else { return Err("a copy has two buffers".into()) };
        for _ in 0..times {
            call!(self.cl.library, "clEnqueueCopyBuffer",
                self.cl.queue => Object, from => Object, to => Object, 0 => usize, 0 => usize, words * 4 => usize,
                0 => c_uint, null() => *const Object, null_mut() => *mut Object)?;
        }
        call!(self.cl.library, "clFinish", self.cl.queue => Object)
    }
}

impl Runner for OpenClRunner<'_> {
    fn who(&self) -> String {
        self.cl.label.clone()
    }

    fn run(&mut self, times: u32) -> Result<()> {
        let local = self.local.as_ref().map_or(null(), |local| local.as_ptr());
        for _ in 0..times {
            for words in &self.steps {
                for (k, word) in words[..self.parameters].iter().enumerate() {
                    call!(self.cl.library, "clSetKernelArg",
                        self.kernel => Object, (self.buffers.len() + k) as c_uint => c_uint,
                        size_of::<u32>() => usize, (&raw const *word).cast() => *const c_void)?;
                }
                call!(self.cl.library, "clEnqueueNDRangeKernel",
                    self.cl.queue => Object, self.kernel => Object, 3 => c_uint,
                    null() => *const usize, self.global.as_ptr() => *const usize, local => *const usize,
                    0 => c_uint, null() => *const Object, null_mut() => *mut Object)?;
            }
        }
        call!(self.cl.library, "clFinish", self.cl.queue => Object)
    }

    fn read(&mut self) -> Result<Vec<Vec<u32>>> {
        let mut all = Vec::new();
        for (memory, count) in &self.buffers {
            let mut words = vec![0u32; *count];
            call!(self.cl.library, "clEnqueueReadBuffer",
                self.cl.queue => Object, *memory => Object, TRUE => c_uint, 0 => usize, count * 4 => usize,
                words.as_mut_ptr().cast() => *mut c_void,
                0 => c_uint, null() => *const Object, null_mut() => *mut Object)?;
            all.push(words);
        }
        Ok(all)
    }
}

impl Drop for OpenClRunner<'_> {
    fn drop(&mut self) {
        let release = || -> Result<()> {
            for (memory, _) in &self.buffers {
                call!(self.cl.library, "clReleaseMemObject", *memory => Object)?;
            }
            call!(self.cl.library, "clReleaseKernel", self.kernel => Object)?;
            call!(self.cl.library, "clReleaseProgram", self.program => Object)
        };
        if let Err(error) = release() {
            eprintln!("{error}");
        }
    }
}
