//! The host BLAS: a library of the user's choice, loaded at run time.
//!
//! It is loaded with its symbols kept to itself, but it looks for what it calls where the program does first: so its `xerbla_` is
//! the program's, as if it were linked. We may stand as `libblas.so.3` ourselves, by name or by a link; a library whose `sgemm_` is
//! our own is passed over.

use std::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;

use libloading::Library;

use crate::scalar::{Kind, Scalar};
use crate::view::{View, ViewMut};

/// A host BLAS.
pub struct Host {
    library: Library,
    name: String,
    /// `gemm`, `trsm` and `trmm` of the four kinds.
    products: [Option<*const c_void>; 4],
    triangles: [[Option<*const c_void>; 4]; 2],
    /// Tells and sets how many threads it works with, if it has such functions.
    threads: Option<(Ask, Set)>,
}

type Ask = unsafe extern "C" fn() -> c_int;
type Set = unsafe extern "C" fn(c_int);

/// Functions that tell and set how many threads work: OpenBLAS, MKL.
const THREADS: [(&str, &str); 2] = [
    ("openblas_get_num_threads", "openblas_set_num_threads"),
    ("MKL_Get_Max_Threads", "MKL_Set_Num_Threads"),
];

/// Cores without AVX, for which OpenBLAS takes processors that it does not know.
#[cfg(target_arch = "x86_64")]
const OLD: [&[u8]; 4] = [b"Prescott", b"Core2", b"Penryn", b"Nehalem"];

/// A host with fewer threads, until dropped.
pub(crate) struct Fewer(Option<(Set, c_int)>);

impl Drop for Fewer {
    fn drop(&mut self) {
        if let Some((set, before)) = self.0 {
            // SAFETY: the library's function, which takes a number of threads.
            unsafe { set(before) };
        }
    }
}

// SAFETY: functions of a BLAS may be called from any thread; nothing else is behind the addresses.
unsafe impl Send for Host {}
// SAFETY: as above.
unsafe impl Sync for Host {}

/// Which of the two routines with a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Triangle {
    Solve,
    Multiply,
}

/// Where host libraries are looked for when nobody names one, in order: OpenBLAS, BLIS, ATLAS, then whatever the system's is.
#[cfg(windows)]
fn candidates() -> Vec<String> {
    ["libopenblas.dll", "openblas.dll", "libblis.dll", "libblas.dll", "blas.dll"].map(str::to_owned).to_vec()
}

#[cfg(not(windows))]
fn candidates() -> Vec<String> {
    use std::path::PathBuf;
    let mut found = vec!["libopenblas.so.0".to_owned()];
    let folders = ["/usr/lib", "/usr/lib64", "/usr/local/lib"].map(PathBuf::from);
    let multiarch = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    let folders = std::iter::once(PathBuf::from(multiarch)).chain(folders);
    for folder in folders {
        for name in [
            "openblas-pthread",
            "openblas-openmp",
            "openblas-serial",
            "openblas",
            "blis-pthread",
            "atlas",
            "blas",
        ] {
            let file = folder.join(name).join("libblas.so.3");
            if file.exists() {
                found.push(file.display().to_string());
            }
        }
    }
    found.extend(["libblis.so.4", "libblas.so.3", "libblas.so"].map(str::to_owned));
    found
}

/// Opens a library. Where the system would wait with a function that is missing until it is called, that is a failure now.
fn load(name: &str) -> Result<Library, libloading::Error> {
    #[cfg(unix)]
    {
        use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
        // SAFETY: what the library does when it is loaded is what the user asked for by naming or installing it.
        unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL) }.map(From::from)
    }
    #[cfg(not(unix))]
    // SAFETY: as above.
    unsafe {
        Library::new(name)
    }
}

/// The address of a routine that is never the host's: our own library's. Set by who exports BLAS routines.
static OWN: OnceLock<usize> = OnceLock::new();
static HOST: OnceLock<Result<Host, String>> = OnceLock::new();

/// Says at which address `sgemm_` of this library is, so that it is not taken for a host's. Only before [`Host::get`].
pub fn set_own_routine(address: *const c_void) {
    let _ = OWN.set(address as usize);
}

impl Host {
    /// The host BLAS that `CALBLAS_HOST` names, else the first that is found. What was tried, if there is none.
    pub fn get() -> Result<&'static Host, &'static str> {
        let host = HOST.get_or_init(|| {
            let named = std::env::var("CALBLAS_HOST").ok().filter(|name| !name.is_empty());
            if named.as_deref() == Some("none") {
                return Err("CALBLAS_HOST is `none`".into());
            }
            let names = named.map_or_else(candidates, |name| vec![name]);
            let mut tried = Vec::new();
            for name in names {
                match Host::open(&name) {
                    Ok(host) => {
                        log::info!("host BLAS: {name}");
                        host.doubt();
                        return Ok(host);
                    }
                    Err(why) => tried.push(why),
                }
            }
            Err(format!("no host BLAS: {}", tried.join("; ")))
        });
        host.as_ref().map_err(String::as_str)
    }

    fn open(name: &str) -> Result<Host, String> {
        let library = load(name).map_err(|e| e.to_string())?;
        let mut host = Host {
            library,
            name: name.to_owned(),
            products: [None; 4],
            triangles: [[None; 4]; 2],
            threads: None,
        };
        let gemm = host.symbol("sgemm_").ok_or_else(|| format!("{name} has no sgemm_"))?;
        if OWN.get() == Some(&(gemm as usize)) {
            return Err(format!("{name} is this library"));
        }
        let all = |what: &str| Kind::ALL.map(|kind| host.symbol(&format!("{}{what}_", kind.letter())));
        let (products, triangles) = (all("gemm"), [all("trsm"), all("trmm")]);
        (host.products, host.triangles) = (products, triangles);
        host.threads = THREADS.into_iter().find_map(|(ask, set)| {
            let (ask, set) = (host.symbol(ask)?, host.symbol(set)?);
            // SAFETY: functions of these names have these types in the libraries that have them.
            unsafe {
                Some((
                    std::mem::transmute::<*const c_void, Ask>(ask),
                    std::mem::transmute::<*const c_void, Set>(set),
                ))
            }
        });
        Ok(host)
    }

    /// Warns of an OpenBLAS that is older than the processor: its guess is the oldest of all, which does a tenth.
    fn doubt(&self) {
        let Some(core) = self.symbol("openblas_get_corename") else { return };
        // SAFETY: OpenBLAS's function of this name has this type, and gives text that lives as long as the library.
        let core = unsafe {
            let ask = std::mem::transmute::<*const c_void, extern "C" fn() -> *const c_char>(core);
            std::ffi::CStr::from_ptr(ask())
        };
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && OLD.contains(&core.to_bytes()) {
            let better = if std::arch::is_x86_feature_detected!("avx512bw") { "SkylakeX" } else { "Haswell" };
            log::warn!(
                "{} does not know this processor and computes as on {core:?}: OPENBLAS_CORETYPE={better} makes it many times faster",
                self.name
            );
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = core;
    }

    /// The name that it was loaded by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address of one of its functions.
    pub fn symbol(&self, name: &str) -> Option<*const c_void> {
        // SAFETY: the address is handed out only; who calls it knows its type.
        let symbol = unsafe { self.library.get::<*const c_void>(name.as_bytes()) }.ok()?;
        Some(*symbol).filter(|address| !address.is_null())
    }

    /// Leaves cores to others: at most so many threads work until the guard goes. Nothing where the library cannot be told.
    pub(crate) fn with_threads(&self, most: usize) -> Fewer {
        let most = integer(most).unwrap_or(c_int::MAX).max(1);
        Fewer(self.threads.and_then(|(ask, set)| {
            // SAFETY: see `open`.
            let before = unsafe { ask() };
            // SAFETY: likewise.
            (before > most).then(|| unsafe { set(most) })?;
            Some((set, before))
        }))
    }

    /// C = alpha A B + beta C. False if nothing was done, since the library or its integers have no way to say it.
    pub(crate) fn gemm<T: Scalar>(
        &self,
        alpha: T,
        a: View<T>,
        b: View<T>,
        beta: T,
        c: &mut ViewMut<T>,
    ) -> bool {
        let Some(address) = self.products[T::KIND as usize] else { return false };
        if c.strides()[0] != 1 && c.strides()[1] == 1 {
            return self.gemm(alpha, b.t(), a.t(), beta, &mut c.reborrow().t());
        }
        let [m, n, k] = [c.rows(), c.columns(), a.columns()];
        let (kept_a, kept_b);
        let a = if let Some(plain) = Plain::of(a) {
            plain
        } else {
            kept_a = a.to_columns();
            Plain::columns(&kept_a, m)
        };
        let b = if let Some(plain) = Plain::of(b) {
            plain
        } else {
            kept_b = b.to_columns();
            Plain::columns(&kept_b, k)
        };
        if c.strides()[0] != 1 {
            let mut kept_c = c.view().to_columns();
            let Ok(mut whole) = ViewMut::by_columns(&mut kept_c, m, n) else { return false };
            // SAFETY: `a` and `b` have the rows and columns that they had.
            let (a, b) = unsafe { (a.view(m, k), b.view(k, n)) };
            if !self.gemm(alpha, a, b, beta, &mut whole) {
                return false;
            }
            let whole = whole.view();
            for (i, j) in (0..n).flat_map(|j| (0..m).map(move |i| (i, j))) {
                c.update(i, j, |_| whole.at(i, j));
            }
            return true;
        }
        let ([Some(m), Some(n), Some(k)], [Some(lda), Some(ldb), Some(ldc)]) = (
            [m, n, k].map(integer),
            [integer(a.leading), integer(b.leading), integer((c.strides()[1].max(1) as usize).max(m))],
        ) else {
            return false;
        };
        type Gemm<T> = unsafe extern "C" fn(
            *const c_char,
            *const c_char,
            *const c_int,
            *const c_int,
            *const c_int,
            *const T,
            *const T,
            *const c_int,
            *const T,
            *const c_int,
            *const T,
            *mut T,
            *const c_int,
            usize,
            usize,
        );
        // SAFETY: the function is the Fortran routine of this name, for this type.
        let gemm = unsafe { std::mem::transmute::<*const c_void, Gemm<T>>(address) };
        // SAFETY: sizes and leading dimensions are those of views, whose elements may be read, and written in C's case.
        unsafe {
            gemm(
                &a.letter,
                &b.letter,
                &m,
                &n,
                &k,
                &alpha,
                a.at,
                &lda,
                b.at,
                &ldb,
                &beta,
                c.as_mut_ptr(),
                &ldc,
                1,
                1,
            );
        }
        true
    }

    /// B = alpha op(A) B, or the solution X of op(A) X = alpha B in B's place, with a triangle A that is stored by columns, in
    /// contiguous memory. False if nothing was done.
    pub(crate) fn triangle<T: Scalar>(
        &self,
        what: Triangle,
        lower: bool,
        unit: bool,
        a: &[T],
        b: &mut ViewMut<T>,
    ) -> bool {
        let Some(address) = self.triangles[(what == Triangle::Multiply) as usize][T::KIND as usize] else {
            return false;
        };
        let order = b.rows();
        let (side, transposed, [m, n], leading) = match b.strides() {
            [1, leading] => (b'L', b'N', [b.rows(), b.columns()], leading),
            // B's transpose is stored by columns: op(A) comes from the right, transposed.
            [leading, 1] => (b'R', b'T', [b.columns(), b.rows()], leading),
            _ => return false,
        };
        let (Some(order), [Some(m), Some(n)]) = (integer(order), [m, n].map(integer)) else { return false };
        let Some(leading) = usize::try_from(leading).ok().and_then(|l| integer(l.max(m as usize))) else {
            return false;
        };
        let letters = [side, if lower { b'L' } else { b'U' }, transposed, if unit { b'U' } else { b'N' }];
        let letters = letters.map(|letter| letter as c_char);
        let one = T::ONE;
        type Triangular<T> = unsafe extern "C" fn(
            *const c_char,
            *const c_char,
            *const c_char,
            *const c_char,
            *const c_int,
            *const c_int,
            *const T,
            *const T,
            *const c_int,
            *mut T,
            *const c_int,
            usize,
            usize,
            usize,
            usize,
        );
        // SAFETY: the function is the Fortran routine of this name, for this type.
        let routine = unsafe { std::mem::transmute::<*const c_void, Triangular<T>>(address) };
        // SAFETY: `a` has order² numbers; B's sizes and leading dimension are those of its view, which is exclusive.
        unsafe {
            routine(
                &letters[0],
                &letters[1],
                &letters[2],
                &letters[3],
                &m,
                &n,
                &one,
                a.as_ptr(),
                &order,
                b.as_mut_ptr(),
                &leading,
                1,
                1,
                1,
                1,
            );
        }
        true
    }
}

/// An operand as Fortran takes it.
struct Plain<T> {
    letter: c_char,
    at: *const T,
    leading: usize,
}

impl<T: Scalar> Plain<T> {
    fn of(view: View<T>) -> Option<Self> {
        let of = |letter: u8, stride: isize, least: usize| {
            let leading = usize::try_from(stride).ok()?.max(least).max(1);
            Some(Plain { letter: letter as c_char, at: view.as_ptr(), leading })
        };
        // One row or column lies wherever its stride says: of a single column no stride between columns matters.
        match (view.strides(), view.is_conjugated()) {
            ([1, stride], false) if stride >= view.rows() as isize || view.columns() <= 1 => {
                of(b'N', stride, view.rows())
            }
            ([stride, 1], conjugated) if stride >= view.columns() as isize || view.rows() <= 1 => {
                of(if conjugated { b'C' } else { b'T' }, stride, view.columns())
            }
            _ => None,
        }
    }

    fn columns(numbers: &[T], rows: usize) -> Self {
        Plain { letter: b'N' as c_char, at: numbers.as_ptr(), leading: rows.max(1) }
    }

    /// # Safety
    /// The operand was made of a view of these rows and columns, or of numbers that live as long.
    unsafe fn view<'a>(&self, rows: usize, columns: usize) -> View<'a, T> {
        let leading = self.leading as isize;
        let strides = if self.letter == b'N' as c_char { [1, leading] } else { [leading, 1] };
        // SAFETY: the caller's.
        let view = unsafe { View::from_raw(self.at, rows, columns, strides) };
        if self.letter == b'C' as c_char { view.conj() } else { view }
    }
}

fn integer(n: usize) -> Option<c_int> {
    c_int::try_from(n).ok()
}
