//! NVIDIA's own library beside us: cuBLAS products, the driver's copy and launch. Found at run time, or not at all.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;

use libloading::Library;

use crate::case::Case;
use crate::measure::{Result, Runner};

/// An empty kernel.
const EMPTY: &std::ffi::CStr =
    c".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry empty()\n{\n ret;\n}\n";

type Pointer = u64;
type Status = c_int;

/// CUDA's driver, and cuBLAS if it is there.
pub struct Cuda {
    driver: Library,
    blas: Option<Library>,
    blas_handle: *mut c_void,
    empty: *mut c_void,
}

/// Calls a C function of a library by name; anything but 0 is an error.
macro_rules! call {
    ($library:expr, $name:literal, $($value:expr => $kind:ty),* $(,)?) => {{
        // SAFETY: the type is the function's in the library's documentation; arguments live until it returns.
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

impl Cuda {
    /// Opens device 0.
    pub fn open() -> Result<Cuda> {
        // SAFETY: NVIDIA's libraries have no requirements on being loaded.
        let driver = unsafe { Library::new("libcuda.so.1") }?;
        call!(driver, "cuInit", 0 => c_uint)?;
        let (mut device, mut context) = (0, null_mut());
        call!(driver, "cuDeviceGet", &mut device => *mut c_int, 0 => c_int)?;
        call!(driver, "cuDevicePrimaryCtxRetain", &mut context => *mut *mut c_void, device => c_int)?;
        call!(driver, "cuCtxSetCurrent", context => *mut c_void)?;
        let (mut module, mut empty) = (null_mut(), null_mut());
        call!(driver, "cuModuleLoadData", &mut module => *mut *mut c_void, EMPTY.as_ptr() => *const c_char)?;
        call!(driver, "cuModuleGetFunction",
            &mut empty => *mut *mut c_void, module => *mut c_void, c"empty".as_ptr() => *const c_char)?;
        let mut cuda = Cuda { driver, blas: None, blas_handle: null_mut(), empty };
        for name in ["libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so"] {
            // SAFETY: as above.
            if let Ok(blas) = unsafe { Library::new(name) } {
                call!(blas, "cublasCreate_v2", &mut cuda.blas_handle => *mut *mut c_void)?;
                cuda.blas = Some(blas);
                break;
            }
        }
        if cuda.blas.is_none() {
            eprintln!(
                "note: CUDA is here, libcublas is not (set LD_LIBRARY_PATH): no products to compare with"
            );
        }
        Ok(cuda)
    }

    fn wait(&self) -> Result<()> {
        call!(self.driver, "cuCtxSynchronize",)
    }

    fn allocate(&self, words: &[u32], bytes: u64) -> Result<Pointer> {
        let mut at = 0;
        call!(self.driver, "cuMemAlloc_v2", &mut at => *mut Pointer, bytes as usize => usize)?;
        if !words.is_empty() {
            call!(self.driver, "cuMemcpyHtoD_v2",
                at => Pointer, words.as_ptr().cast() => *const c_void, words.len() * 4 => usize)?;
        }
        Ok(at)
    }

    fn download(&self, from: Pointer, count: usize) -> Result<Vec<u32>> {
        let mut words = vec![0u32; count];
        call!(self.driver, "cuMemcpyDtoH_v2",
            words.as_mut_ptr().cast() => *mut c_void, from => Pointer, count * 4 => usize)?;
        Ok(words)
    }

    /// Launches the empty kernel, then waits.
    pub fn launch(&self, times: u32) -> Result<()> {
        for _ in 0..times {
            call!(self.driver, "cuLaunchKernel",
                self.empty => *mut c_void,
                1 => c_uint, 1 => c_uint, 1 => c_uint, 64 => c_uint, 1 => c_uint, 1 => c_uint, 0 => c_uint,
                null_mut() => *mut c_void, null_mut() => *mut c_void, null_mut() => *mut c_void)?;
        }
        self.wait()
    }

    /// What CUDA has for a case; `None` if nothing.
    pub fn prepare<'c>(&'c self, case: &Case) -> Result<Option<CudaRunner<'c>>> {
        let words = |k: usize| &case.buffers[k].words[..];
        let n = f64::sqrt(case.buffers.last().map_or(0.0, |b| b.bytes() as f64 / 4.0)) as u32;
        Ok(match case.peer {
            "copy" => {
                let bytes = case.buffers[0].bytes();
                let from = self.allocate(words(0), bytes)?;
                let to = self.allocate(&[], bytes)?;
                Some(CudaRunner { cuda: self, kind: Kind::Copy, bytes, pointers: vec![from, to] })
            }
            _ if self.blas.is_none() => None,
            "matmul_shared" | "matmul_wide" | "matmul_outer" | "matmul_tiled" | "dgemm" | "dgemm_tiled" => {
                let bytes = case.buffers[2].bytes();
                let kind = match case.peer {
                    "dgemm" | "dgemm_tiled" => {
                        Kind::Double(f64::sqrt(bytes as f64 / 8.0) as u32, case.peer == "dgemm_tiled")
                    }
                    "matmul_outer" | "matmul_tiled" => Kind::Transposed(n),
                    _ => Kind::Single(n),
                };
                let pointers = vec![
                    self.allocate(words(0), bytes)?,
                    self.allocate(words(1), bytes)?,
                    self.allocate(&[], bytes)?,
                ];
                Some(CudaRunner { cuda: self, kind, bytes, pointers })
            }
            "matmul_pldi" => {
                let bytes = 8 * case.buffers[12].bytes();
                let n = f64::sqrt(bytes as f64 / 4.0) as usize;
                let a: Vec<u32> = (0..8).flat_map(|k| words(k).iter().copied()).collect();
                let row = |r: usize| words(8 + r % 4)[r / 4 * n..][..n].iter().copied();
                let b: Vec<u32> = (0..n).flat_map(row).collect();
                let pointers =
                    vec![self.allocate(&a, bytes)?, self.allocate(&b, bytes)?, self.allocate(&[], bytes)?];
                Some(CudaRunner { cuda: self, kind: Kind::Streams(n as u32), bytes, pointers })
            }
            _ => None,
        })
    }
}

enum Kind {
    Copy,
    Single(u32),
    /// The first factor by columns.
    Transposed(u32),
    Streams(u32),
    /// The same where that is said.
    Double(u32, bool),
}

/// A case on CUDA.
pub struct CudaRunner<'c> {
    cuda: &'c Cuda,
    kind: Kind,
    bytes: u64,
    pointers: Vec<Pointer>,
}

impl CudaRunner<'_> {
    /// C = A B by rows is Cᵀ = Bᵀ Aᵀ by columns.
    fn product<T>(&self, function: &str, n: u32, transposed: bool, one: T, zero: T) -> Result<()> {
        let Some(blas) = &self.cuda.blas else { return Err("no cuBLAS".into()) };
        let n = n as c_int;
        let (a, b, c) = (self.pointers[0], self.pointers[1], self.pointers[2]);
        type Gemm<T> = unsafe extern "C" fn(
            *mut c_void,
            c_int,
            c_int,
            c_int,
            c_int,
            c_int,
            *const T,
            Pointer,
            c_int,
            Pointer,
            c_int,
            *const T,
            Pointer,
            c_int,
        ) -> Status;
        // SAFETY: the type is cuBLAS's for both widths; the three matrices are on the device and have n² numbers.
        let status = unsafe {
            let gemm = blas.get::<Gemm<T>>(function.as_bytes())?;
            gemm(self.cuda.blas_handle, 0, c_int::from(transposed), n, n, n, &one, b, n, a, n, &zero, c, n)
        };
        if status == 0 { Ok(()) } else { Err(format!("{function}: error {status}").into()) }
    }
}

impl Runner for CudaRunner<'_> {
    fn who(&self) -> String {
        "cuda".into()
    }

    fn run(&mut self, times: u32) -> Result<()> {
        for _ in 0..times {
            match self.kind {
                Kind::Copy => call!(self.cuda.driver, "cuMemcpyDtoDAsync_v2",
                    self.pointers[1] => Pointer, self.pointers[0] => Pointer, self.bytes as usize => usize,
                    null_mut() => *mut c_void)?,
                Kind::Single(n) | Kind::Streams(n) => {
                    self.product("cublasSgemm_v2", n, false, 1.0f32, 0.0f32)?
                }
                Kind::Transposed(n) => self.product("cublasSgemm_v2", n, true, 1.0f32, 0.0f32)?,
                Kind::Double(n, by_columns) => {
                    self.product("cublasDgemm_v2", n, by_columns, 1.0f64, 0.0f64)?
                }
            }
        }
        self.cuda.wait()
    }

    fn read(&mut self) -> Result<Vec<Vec<u32>>> {
        let last = self.pointers[self.pointers.len() - 1];
        let result = self.cuda.download(last, self.bytes as usize / 4)?;
        Ok(match self.kind {
            Kind::Copy => vec![Vec::new(), result],
            Kind::Single(_) | Kind::Transposed(_) | Kind::Double(..) => vec![Vec::new(), Vec::new(), result],
            // The checks look at the streams of the result.
            Kind::Streams(_) => {
                let mut all = vec![Vec::new(); 12];
                all.extend(result.chunks(result.len() / 8).map(<[u32]>::to_vec));
                all
            }
        })
    }
}

impl Drop for CudaRunner<'_> {
    fn drop(&mut self) {
        let free = |at: Pointer| -> Result<()> { call!(self.cuda.driver, "cuMemFree_v2", at => Pointer) };
        for at in &self.pointers {
            if let Err(error) = free(*at) {
                eprintln!("{error}");
            }
        }
    }
}
