//! The Fortran routines of level 3: arguments are checked as the reference does, and become views.

use std::ffi::{c_char, c_int};

use recal_blas::{Blas, Part, Scalar, Side, View, ViewMut};

unsafe extern "C" {
    /// The program's, or ours (`c/xerbla.c`).
    fn xerbla_(name: *const c_char, argument: *const c_int, length: usize);
    fn atexit(function: extern "C" fn()) -> c_int;
}

/// The engine, which tells its figures at the end if it was asked to.
fn engine() -> &'static Blas {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let (config, _) = recal::Config::from_env();
        recal::logger::start(&config);
        recal_blas::set_own_routine(crate::sgemm_ as *const std::ffi::c_void);
        if Blas::global().options().log.is_some() {
            extern "C" fn tell() {
                Blas::global().tell();
            }
            // SAFETY: the function may run at any time: the engine is never taken down.
            unsafe { atexit(tell) };
        }
    });
    Blas::global()
}

/// What a routine made of its arguments: nothing, or the number of the first that is wrong.
type Checked = Result<(), c_int>;

/// Wrong arguments are told to `xerbla_`, under the routine's name in six capitals.
fn report(name: &str, checked: Checked) {
    if let Err(argument) = checked {
        let shown = format!("{:<6}\0", name.to_uppercase());
        // SAFETY: a name with its length, and a number.
        unsafe { xerbla_(shown.as_ptr().cast(), &argument, 6) };
    }
}

/// Tells what the engine refuses; sizes that were checked here are right, so this says nothing.
fn done(result: recal_blas::Result<()>) -> Checked {
    if let Err(e) = result {
        log::error!("CALBLAS: {e}");
    }
    Ok(())
}

/// An argument by its address.
///
/// # Safety
/// The address is that of a `T`.
unsafe fn get<T: Copy>(at: *const T) -> T {
    // SAFETY: the caller's.
    unsafe { *at }
}

/// A letter, in capitals.
///
/// # Safety
/// The address is that of a letter.
unsafe fn letter(at: *const c_char) -> u8 {
    // SAFETY: the caller's.
    (unsafe { *at } as u8).to_ascii_uppercase()
}

fn check(right: bool, argument: c_int) -> Checked {
    if right { Ok(()) } else { Err(argument) }
}

/// A size that is not negative.
fn size(n: c_int, argument: c_int) -> Result<usize, c_int> {
    usize::try_from(n).map_err(|_| argument)
}

/// A leading dimension that takes `rows`.
fn leading(ld: c_int, rows: usize, argument: c_int) -> Result<isize, c_int> {
    check(ld as i64 >= rows.max(1) as i64, argument)?;
    Ok(ld as isize)
}

fn side(letter: u8, argument: c_int) -> Result<Side, c_int> {
    match letter {
        b'L' => Ok(Side::Left),
        b'R' => Ok(Side::Right),
        _ => Err(argument),
    }
}

fn part(letter: u8, argument: c_int) -> Result<Part, c_int> {
    match letter {
        b'U' => Ok(Part::Upper),
        b'L' => Ok(Part::Lower),
        _ => Err(argument),
    }
}

/// A matrix as it is stored, `rows` x `columns` by columns, read as `op` says.
///
/// # Safety
/// The matrix may be read.
unsafe fn view<'a, T: Scalar>(at: *const T, rows: usize, columns: usize, ld: isize, op: u8) -> View<'a, T> {
    // SAFETY: the caller's.
    let view = unsafe { View::from_raw(at, rows, columns, [1, ld]) };
    match op {
        b'N' => view,
        b'T' => view.t(),
        _ => view.h(),
    }
}

/// # Safety
/// The matrix may be read and written, and nobody else does.
unsafe fn view_mut<'a, T: Scalar>(at: *mut T, rows: usize, columns: usize, ld: isize) -> ViewMut<'a, T> {
    // SAFETY: the caller's; a leading dimension that takes all rows keeps columns apart.
    unsafe { ViewMut::from_raw(at, rows, columns, [1, ld]) }
}

/// Rows and columns as stored of what `op` makes rows x columns.
fn stored(op: u8, rows: usize, columns: usize) -> [usize; 2] {
    if op == b'N' { [rows, columns] } else { [columns, rows] }
}

/// The routines, each with its arguments read from their addresses; `$body` gives a [`Checked`].
macro_rules! routines {
    ($($(#[$doc:meta])* $name:ident($($letter:ident),*; $($argument:ident: $type:ty),*)
        ($($order:ident: $ordered:ty),*) $body:expr;)*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        /// As BLAS: addresses of arguments, and of matrices with the elements that sizes and leading dimensions tell.
        pub unsafe fn $name<T: Scalar>(name: &str, $($order: $ordered),*) {
            // SAFETY: all are addresses of arguments.
            let ($($letter,)*) = unsafe { ($(letter($letter),)*) };
            // SAFETY: as above.
            let ($($argument,)*) = unsafe { ($(get::<$type>($argument),)*) };
            let body = || -> Checked { $body };
            report(name, body());
        }
    )* };
}

type Letter = *const c_char;
type Integer = *const c_int;

routines! {
    /// C = alpha op(A) op(B) + beta C.
    gemm(transa, transb; m: c_int, n: c_int, k: c_int, alpha: T, lda: c_int, ldb: c_int, beta: T, ldc: c_int)
    (transa: Letter, transb: Letter, m: Integer, n: Integer, k: Integer, alpha: *const T, a: *const T, lda: Integer, b: *const T,
     ldb: Integer, beta: *const T, c: *mut T, ldc: Integer) {
        check(b"NTC".contains(&transa), 1)?;
        check(b"NTC".contains(&transb), 2)?;
        let (m, n, k) = (size(m, 3)?, size(n, 4)?, size(k, 5)?);
        let ([ra, ca], [rb, cb]) = (stored(transa, m, k), stored(transb, k, n));
        let (lda, ldb, ldc) = (leading(lda, ra, 8)?, leading(ldb, rb, 10)?, leading(ldc, m, 13)?);
        // SAFETY: the caller's promise about the matrices.
        let (a, b, c) = unsafe { (view(a, ra, ca, lda, transa), view(b, rb, cb, ldb, transb), view_mut(c, m, n, ldc)) };
        done(engine().gemm(alpha, a, b, beta, c))
    };
    /// C = alpha A B + beta C or alpha B A + beta C, A symmetric.
    symm(side_, uplo; m: c_int, n: c_int, alpha: T, lda: c_int, ldb: c_int, beta: T, ldc: c_int)
    (side_: Letter, uplo: Letter, m: Integer, n: Integer, alpha: *const T, a: *const T, lda: Integer, b: *const T, ldb: Integer,
     beta: *const T, c: *mut T, ldc: Integer) {
        let (side, part, m, n) = (side(side_, 1)?, part(uplo, 2)?, size(m, 3)?, size(n, 4)?);
        let order = if side == Side::Left { m } else { n };
        let (lda, ldb, ldc) = (leading(lda, order, 7)?, leading(ldb, m, 9)?, leading(ldc, m, 12)?);
        if m == 0 || n == 0 || (alpha == T::ZERO && beta == T::ONE) {
            return Ok(());
        }
        // SAFETY: the caller's promise about the matrices.
        let (a, b, c) = unsafe { (view(a, order, order, lda, b'N'), view(b, m, n, ldb, b'N'), view_mut(c, m, n, ldc)) };
        done(engine().symm(side, part, alpha, a, b, beta, c))
    };
    /// As `symm`, A Hermitian.
    hemm(side_, uplo; m: c_int, n: c_int, alpha: T, lda: c_int, ldb: c_int, beta: T, ldc: c_int)
    (side_: Letter, uplo: Letter, m: Integer, n: Integer, alpha: *const T, a: *const T, lda: Integer, b: *const T, ldb: Integer,
     beta: *const T, c: *mut T, ldc: Integer) {
        let (side, part, m, n) = (side(side_, 1)?, part(uplo, 2)?, size(m, 3)?, size(n, 4)?);
        let order = if side == Side::Left { m } else { n };
        let (lda, ldb, ldc) = (leading(lda, order, 7)?, leading(ldb, m, 9)?, leading(ldc, m, 12)?);
        if m == 0 || n == 0 || (alpha == T::ZERO && beta == T::ONE) {
            return Ok(());
        }
        // SAFETY: the caller's promise about the matrices.
        let (a, b, c) = unsafe { (view(a, order, order, lda, b'N'), view(b, m, n, ldb, b'N'), view_mut(c, m, n, ldc)) };
        done(engine().hemm(side, part, alpha, a, b, beta, c))
    };
    /// C = alpha A Aᵀ + beta C or alpha Aᵀ A + beta C.
    syrk(uplo, trans; n: c_int, k: c_int, alpha: T, lda: c_int, beta: T, ldc: c_int)
    (uplo: Letter, trans: Letter, n: Integer, k: Integer, alpha: *const T, a: *const T, lda: Integer, beta: *const T, c: *mut T,
     ldc: Integer) {
        let part = part(uplo, 1)?;
        check(if T::PARTS == 2 { b"NT".as_slice() } else { b"NTC" }.contains(&trans), 2)?;
        let (n, k) = (size(n, 3)?, size(k, 4)?);
        let [ra, ca] = stored(trans, n, k);
        let (lda, ldc) = (leading(lda, ra, 7)?, leading(ldc, n, 10)?);
        // SAFETY: the caller's promise about the matrices.
        let (a, c) = unsafe { (view(a, ra, ca, lda, trans), view_mut(c, n, n, ldc)) };
        done(engine().syrk(part, alpha, a, beta, c))
    };
    /// C = alpha A Aᴴ + beta C or alpha Aᴴ A + beta C.
    herk(uplo, trans; n: c_int, k: c_int, alpha: T::Real, lda: c_int, beta: T::Real, ldc: c_int)
    (uplo: Letter, trans: Letter, n: Integer, k: Integer, alpha: *const T::Real, a: *const T, lda: Integer, beta: *const T::Real,
     c: *mut T, ldc: Integer) {
        let part = part(uplo, 1)?;
        check(b"NC".contains(&trans), 2)?;
        let (n, k) = (size(n, 3)?, size(k, 4)?);
        let [ra, ca] = stored(trans, n, k);
        let (lda, ldc) = (leading(lda, ra, 7)?, leading(ldc, n, 10)?);
        // SAFETY: the caller's promise about the matrices.
        let (a, c) = unsafe { (view(a, ra, ca, lda, trans), view_mut(c, n, n, ldc)) };
        done(engine().herk(part, alpha, a, beta, c))
    };
    /// C = alpha A Bᵀ + alpha B Aᵀ + beta C or alpha Aᵀ B + alpha Bᵀ A + beta C.
    syr2k(uplo, trans; n: c_int, k: c_int, alpha: T, lda: c_int, ldb: c_int, beta: T, ldc: c_int)
    (uplo: Letter, trans: Letter, n: Integer, k: Integer, alpha: *const T, a: *const T, lda: Integer, b: *const T, ldb: Integer,
     beta: *const T, c: *mut T, ldc: Integer) {
        let part = part(uplo, 1)?;
        check(if T::PARTS == 2 { b"NT".as_slice() } else { b"NTC" }.contains(&trans), 2)?;
        let (n, k) = (size(n, 3)?, size(k, 4)?);
        let [ra, ca] = stored(trans, n, k);
        let (lda, ldb, ldc) = (leading(lda, ra, 7)?, leading(ldb, ra, 9)?, leading(ldc, n, 12)?);
        // SAFETY: the caller's promise about the matrices.
        let (a, b, c) = unsafe { (view(a, ra, ca, lda, trans), view(b, ra, ca, ldb, trans), view_mut(c, n, n, ldc)) };
        done(engine().syr2k(part, alpha, a, b, beta, c))
    };
    /// C = alpha A Bᴴ + conj(alpha) B Aᴴ + beta C or alpha Aᴴ B + conj(alpha) Bᴴ A + beta C.
    her2k(uplo, trans; n: c_int, k: c_int, alpha: T, lda: c_int, ldb: c_int, beta: T::Real, ldc: c_int)
    (uplo: Letter, trans: Letter, n: Integer, k: Integer, alpha: *const T, a: *const T, lda: Integer, b: *const T, ldb: Integer,
     beta: *const T::Real, c: *mut T, ldc: Integer) {
        let part = part(uplo, 1)?;
        check(b"NC".contains(&trans), 2)?;
        let (n, k) = (size(n, 3)?, size(k, 4)?);
        let [ra, ca] = stored(trans, n, k);
        let (lda, ldb, ldc) = (leading(lda, ra, 7)?, leading(ldb, ra, 9)?, leading(ldc, n, 12)?);
        // SAFETY: the caller's promise about the matrices.
        let (a, b, c) = unsafe { (view(a, ra, ca, lda, trans), view(b, ra, ca, ldb, trans), view_mut(c, n, n, ldc)) };
        done(engine().her2k(part, alpha, a, b, beta, c))
    };
    /// B = alpha op(A) B or alpha B op(A), A a triangle.
    trmm(side_, uplo, trans, diag; m: c_int, n: c_int, alpha: T, lda: c_int, ldb: c_int)
    (side_: Letter, uplo: Letter, trans: Letter, diag: Letter, m: Integer, n: Integer, alpha: *const T, a: *const T, lda: Integer,
     b: *mut T, ldb: Integer) {
        let (side, part, unit, m, n, order) = triangle(side_, uplo, trans, diag, m, n)?;
        let (lda, ldb) = (leading(lda, order, 9)?, leading(ldb, m, 11)?);
        // SAFETY: the caller's promise about the matrices.
        let (a, b) = unsafe { (view(a, order, order, lda, trans), view_mut(b, m, n, ldb)) };
        done(engine().trmm(side, part, unit, alpha, a, b))
    };
    /// X of op(A) X = alpha B or X op(A) = alpha B, A a triangle.
    trsm(side_, uplo, trans, diag; m: c_int, n: c_int, alpha: T, lda: c_int, ldb: c_int)
    (side_: Letter, uplo: Letter, trans: Letter, diag: Letter, m: Integer, n: Integer, alpha: *const T, a: *const T, lda: Integer,
     b: *mut T, ldb: Integer) {
        let (side, part, unit, m, n, order) = triangle(side_, uplo, trans, diag, m, n)?;
        let (lda, ldb) = (leading(lda, order, 9)?, leading(ldb, m, 11)?);
        // SAFETY: the caller's promise about the matrices.
        let (a, b) = unsafe { (view(a, order, order, lda, trans), view_mut(b, m, n, ldb)) };
        done(engine().trsm(side, part, unit, alpha, a, b))
    };
}

/// The first six arguments of routines with a triangle; the part is that of op(A).
fn triangle(
    side_: u8,
    uplo: u8,
    trans: u8,
    diag: u8,
    m: c_int,
    n: c_int,
) -> Result<(Side, Part, bool, usize, usize, usize), c_int> {
    let (side, stored) = (side(side_, 1)?, part(uplo, 2)?);
    check(b"NTC".contains(&trans), 3)?;
    check(b"UN".contains(&diag), 4)?;
    let (m, n) = (size(m, 5)?, size(n, 6)?);
    let part = if trans == b'N' { stored } else { stored.other() };
    let order = if side == Side::Left { m } else { n };
    Ok((side, part, diag == b'U', m, n, order))
}
