//! The C functions of level 3. Rows are columns of the transpose: each becomes a Fortran routine, as in the reference.

use std::ffi::{CString, c_char, c_int};

use recal_blas::Scalar;

use crate::fortran;

unsafe extern "C" {
    /// The program's, or ours (`c/xerbla.c`).
    fn cblas_xerbla(argument: c_int, name: *const c_char, form: *const c_char, ...);
    fn calblas_called_from_c(from_c: c_int, rows: c_int);
}

/// A letter of Fortran; the number of the argument if there is none.
type Letter = Result<u8, (c_int, &'static str)>;

const NAMES: [(&str, c_int, &[u8]); 4] =
    [("TransA", 111, b"NTC"), ("Uplo", 121, b"UL"), ("Diag", 131, b"NU"), ("Side", 141, b"LR")];

/// A value of an enumeration as Fortran's letter; if rows are asked for, that of the transpose.
fn of(argument: c_int, which: usize, value: c_int) -> Letter {
    let (name, first, letters) = NAMES[which];
    let place = usize::try_from(value - first).ok().filter(|at| *at < letters.len());
    place.map(|at| letters[at]).ok_or((argument, name))
}

fn trans(argument: c_int, value: c_int) -> Letter {
    of(argument, 0, value)
}

fn uplo(argument: c_int, value: c_int, rows: bool) -> Letter {
    of(argument, 1, value).map(|letter| match (rows, letter) {
        (false, letter) => letter,
        (true, b'U') => b'L',
        (true, _) => b'U',
    })
}

fn side(argument: c_int, value: c_int, rows: bool) -> Letter {
    of(argument, 3, value).map(|letter| match (rows, letter) {
        (false, letter) => letter,
        (true, b'L') => b'R',
        (true, _) => b'L',
    })
}

/// Of a product with itself by rows: without transposition is with the one that `turned` names.
fn turned(argument: c_int, value: c_int, rows: bool, turned: u8) -> Letter {
    trans(argument, value).map(|letter| match (rows, letter) {
        (false, letter) => letter,
        (true, b'N') => turned,
        (true, b'T') if turned == b'C' => b'T',
        (true, _) => b'N',
    })
}

/// Calls `body` with whether rows are asked for; what it finds wrong, and a wrong layout, goes to `cblas_xerbla`.
fn call(name: &str, layout: c_int, body: impl FnOnce(bool) -> Result<(), (c_int, &'static str)>) {
    let rows = layout == 101;
    // SAFETY: two variables are set.
    unsafe { calblas_called_from_c(1, c_int::from(rows)) };
    let done = if matches!(layout, 101 | 102) { body(rows) } else { Err((1, "layout")) };
    if let Err((argument, what)) = done {
        let name = CString::new(format!("cblas_{name}")).unwrap_or_default();
        let form = CString::new(format!("Illegal {what} setting\n")).unwrap_or_default();
        // SAFETY: two strings; the form takes no more arguments.
        unsafe { cblas_xerbla(argument, name.as_ptr(), form.as_ptr()) };
    }
    // SAFETY: two variables are set.
    unsafe { calblas_called_from_c(0, 0) };
}

fn at(letter: &u8) -> *const c_char {
    std::ptr::from_ref(letter).cast()
}

/// C = alpha op(A) op(B) + beta C.
///
/// # Safety
/// As BLAS.
pub unsafe fn gemm<T: Scalar>(
    name: &str,
    layout: c_int,
    transa: c_int,
    transb: c_int,
    m: c_int,
    n: c_int,
    k: c_int,
    alpha: impl Given<T>,
    a: *const T,
    lda: c_int,
    b: *const T,
    ldb: c_int,
    beta: impl Given<T>,
    c: *mut T,
    ldc: c_int,
) {
    // SAFETY: addresses of numbers, as the caller promises.
    let (alpha, beta) = unsafe { (alpha.get(), beta.get()) };
    call(name, layout, |rows| {
        let (ta, tb) = (trans(2, transa)?, of(3, 0, transb).map_err(|(n, _)| (n, "TransB"))?);
        // SAFETY: the caller's promise about the matrices.
        unsafe {
            match rows {
                false => fortran::gemm(
                    name,
                    at(&ta),
                    at(&tb),
                    &m,
                    &n,
                    &k,
                    &alpha,
                    a,
                    &lda,
                    b,
                    &ldb,
                    &beta,
                    c,
                    &ldc,
                ),
                true => fortran::gemm(
                    name,
                    at(&tb),
                    at(&ta),
                    &n,
                    &m,
                    &k,
                    &alpha,
                    b,
                    &ldb,
                    a,
                    &lda,
                    &beta,
                    c,
                    &ldc,
                ),
            }
        }
        Ok(())
    });
}

/// A number as C gives it: a real one by value, a complex one by its address.
pub trait Given<T> {
    /// The number.
    ///
    /// # Safety
    /// An address is that of a number.
    unsafe fn get(self) -> T;
}

impl Given<f32> for f32 {
    unsafe fn get(self) -> f32 {
        self
    }
}

impl Given<f64> for f64 {
    unsafe fn get(self) -> f64 {
        self
    }
}

impl<T: Copy> Given<T> for *const T {
    unsafe fn get(self) -> T {
        // SAFETY: the caller's.
        unsafe { *self }
    }
}

macro_rules! symmetric {
    ($($(#[$doc:meta])* $routine:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        /// As BLAS.
        pub unsafe fn $routine<T: Scalar>(
            name: &str, layout: c_int, side_: c_int, uplo_: c_int, m: c_int, n: c_int, alpha: impl Given<T>, a: *const T, lda: c_int,
            b: *const T, ldb: c_int, beta: impl Given<T>, c: *mut T, ldc: c_int,
        ) {
            // SAFETY: addresses of numbers, as the caller promises.
            let (alpha, beta) = unsafe { (alpha.get(), beta.get()) };
            call(name, layout, |rows| {
                let (side, uplo) = (side(2, side_, rows)?, uplo(3, uplo_, rows)?);
                let (m, n) = if rows { (n, m) } else { (m, n) };
                // SAFETY: the caller's promise about the matrices.
                unsafe { fortran::$routine(name, at(&side), at(&uplo), &m, &n, &alpha, a, &lda, b, &ldb, &beta, c, &ldc) }
                Ok(())
            });
        }
    )* };
}

symmetric! {
    /// C = alpha A B + beta C or alpha B A + beta C, A symmetric.
    symm;
    /// As `symm`, A Hermitian.
    hemm;
}

macro_rules! ranks {
    ($($(#[$doc:meta])* $routine:ident $number:ty, $turned:expr;)*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        /// As BLAS.
        pub unsafe fn $routine<T: Scalar>(
            name: &str, layout: c_int, uplo_: c_int, trans: c_int, n: c_int, k: c_int, alpha: impl Given<$number>, a: *const T,
            lda: c_int, beta: impl Given<$number>, c: *mut T, ldc: c_int,
        ) {
            // SAFETY: addresses of numbers, as the caller promises.
            let (alpha, beta) = unsafe { (alpha.get(), beta.get()) };
            call(name, layout, |rows| {
                let (uplo, trans) = (uplo(2, uplo_, rows)?, turned(3, trans, rows, $turned)?);
                // SAFETY: the caller's promise about the matrices.
                unsafe { fortran::$routine(name, at(&uplo), at(&trans), &n, &k, &alpha, a, &lda, &beta, c, &ldc) }
                Ok(())
            });
        }
    )* };
}

ranks! {
    /// C = alpha A Aᵀ + beta C or alpha Aᵀ A + beta C.
    syrk T, b'T';
    /// C = alpha A Aᴴ + beta C or alpha Aᴴ A + beta C.
    herk T::Real, b'C';
}

macro_rules! ranks_of_two {
    ($($(#[$doc:meta])* $routine:ident $beta:ty, $turned:expr, $alpha:expr;)*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        /// As BLAS.
        pub unsafe fn $routine<T: Scalar>(
            name: &str, layout: c_int, uplo_: c_int, trans: c_int, n: c_int, k: c_int, alpha: impl Given<T>, a: *const T,
            lda: c_int, b: *const T, ldb: c_int, beta: impl Given<$beta>, c: *mut T, ldc: c_int,
        ) {
            // SAFETY: addresses of numbers, as the caller promises.
            let (alpha, beta) = unsafe { (alpha.get(), beta.get()) };
            call(name, layout, |rows| {
                let (uplo, trans) = (uplo(2, uplo_, rows)?, turned(3, trans, rows, $turned)?);
                let alpha = if rows { $alpha(alpha) } else { alpha };
                // SAFETY: the caller's promise about the matrices.
                unsafe { fortran::$routine(name, at(&uplo), at(&trans), &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc) }
                Ok(())
            });
        }
    )* };
}

ranks_of_two! {
    /// C = alpha A Bᵀ + alpha B Aᵀ + beta C or alpha Aᵀ B + alpha Bᵀ A + beta C.
    syr2k T, b'T', std::convert::identity;
    /// C = alpha A Bᴴ + conj(alpha) B Aᴴ + beta C or alpha Aᴴ B + conj(alpha) Bᴴ A + beta C.
    her2k T::Real, b'C', T::conj;
}

macro_rules! triangles {
    ($($(#[$doc:meta])* $routine:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        /// As BLAS.
        pub unsafe fn $routine<T: Scalar>(
            name: &str, layout: c_int, side_: c_int, uplo_: c_int, transa: c_int, diag: c_int, m: c_int, n: c_int,
            alpha: impl Given<T>, a: *const T, lda: c_int, b: *mut T, ldb: c_int,
        ) {
            // SAFETY: addresses of numbers, as the caller promises.
            let alpha = unsafe { alpha.get() };
            call(name, layout, |rows| {
                let (side, uplo) = (side(2, side_, rows)?, uplo(3, uplo_, rows)?);
                let (trans, diag) = (trans(4, transa)?, of(5, 2, diag)?);
                let (m, n) = if rows { (n, m) } else { (m, n) };
                // SAFETY: the caller's promise about the matrices.
                unsafe {
                    fortran::$routine(name, at(&side), at(&uplo), at(&trans), at(&diag), &m, &n, &alpha, a, &lda, b, &ldb);
                }
                Ok(())
            });
        }
    )* };
}

triangles! {
    /// B = alpha op(A) B or alpha B op(A), A a triangle.
    trmm;
    /// X of op(A) X = alpha B or X op(A) = alpha B, A a triangle.
    trsm;
}
