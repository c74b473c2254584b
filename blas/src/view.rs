//! Strided views of matrices: rows, columns, and the distance of neighbours in each direction.
//!
//! A view may be transposed, conjugated and cut without touching a number. Negative strides and stride 0 are allowed in what is
//! only read, as ndarray has them.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::scalar::Scalar;

/// A matrix that is read.
pub struct View<'a, T> {
    at: *const T,
    rows: usize,
    columns: usize,
    row_stride: isize,
    column_stride: isize,
    conjugated: bool,
    life: PhantomData<&'a [T]>,
}

/// A matrix that is written. No two of its elements are the same memory.
pub struct ViewMut<'a, T> {
    at: *mut T,
    rows: usize,
    columns: usize,
    row_stride: isize,
    column_stride: isize,
    life: PhantomData<&'a mut [T]>,
}

impl<T> Clone for View<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for View<'_, T> {}

// SAFETY: a view is a shared slice with another order of elements.
unsafe impl<T: Sync> Send for View<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for View<'_, T> {}
// SAFETY: a mutable view is an exclusive slice with another order of elements.
unsafe impl<T: Send> Send for ViewMut<'_, T> {}

impl<T> fmt::Debug for View<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "View({} x {}, strides {}, {})",
            self.rows, self.columns, self.row_stride, self.column_stride
        )
    }
}

impl<T> fmt::Debug for ViewMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, columns) = (self.rows, self.columns);
        write!(f, "ViewMut({rows} x {columns}, strides {}, {})", self.row_stride, self.column_stride)
    }
}

/// Elements that a slice needs for these rows, columns and strides.
fn needed(rows: usize, columns: usize, strides: [usize; 2]) -> Option<usize> {
    if rows == 0 || columns == 0 {
        return Some(0);
    }
    let [row, column] = [(rows - 1, strides[0]), (columns - 1, strides[1])].map(|(n, s)| n.checked_mul(s));
    row?.checked_add(column?)?.checked_add(1).filter(|n| isize::try_from(*n).is_ok())
}

fn check(length: usize, rows: usize, columns: usize, strides: [usize; 2]) -> Result<()> {
    match needed(rows, columns, strides) {
        Some(needed) if needed <= length => Ok(()),
        Some(needed) => Err(Error::shape(format!(
            "{rows} x {columns} elements with strides {}, {} need {needed} numbers, and there are {length}",
            strides[0], strides[1]
        ))),
        None => Err(Error::shape(format!("{rows} x {columns} elements are more than memory has"))),
    }
}

impl<'a, T: Scalar> View<'a, T> {
    /// A matrix in a slice: element (i, j) is number `i * strides[0] + j * strides[1]`.
    pub fn new(numbers: &'a [T], rows: usize, columns: usize, strides: [usize; 2]) -> Result<Self> {
        check(numbers.len(), rows, columns, strides)?;
        // SAFETY: all elements are in the slice, which is borrowed for the view's life.
        Ok(unsafe { Self::from_raw(numbers.as_ptr(), rows, columns, strides.map(|s| s as isize)) })
    }

    /// A matrix whose rows follow each other.
    pub fn by_rows(numbers: &'a [T], rows: usize, columns: usize) -> Result<Self> {
        Self::new(numbers, rows, columns, [columns, 1])
    }

    /// A matrix whose columns follow each other.
    pub fn by_columns(numbers: &'a [T], rows: usize, columns: usize) -> Result<Self> {
        Self::new(numbers, rows, columns, [1, rows])
    }

    /// A matrix in memory: element (i, j) is at `at + i * strides[0] + j * strides[1]`.
    ///
    /// # Safety
    /// All elements may be read, and nobody writes them, while the view or one made of it lives.
    pub unsafe fn from_raw(at: *const T, rows: usize, columns: usize, strides: [isize; 2]) -> Self {
        let [row_stride, column_stride] = strides;
        Self { at, rows, columns, row_stride, column_stride, conjugated: false, life: PhantomData }
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// From a row to the next and from a column to the next, in elements.
    pub fn strides(&self) -> [isize; 2] {
        [self.row_stride, self.column_stride]
    }

    /// Where element (0, 0) is.
    pub fn as_ptr(&self) -> *const T {
        self.at
    }

    /// True if elements are read conjugated.
    pub fn is_conjugated(&self) -> bool {
        self.conjugated && T::PARTS == 2
    }

    /// The transpose.
    pub fn t(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }

    /// The conjugate.
    pub fn conj(self) -> Self {
        Self { conjugated: !self.conjugated, ..self }
    }

    /// The conjugate transpose.
    pub fn h(self) -> Self {
        self.t().conj()
    }

    /// A part.
    ///
    /// # Panics
    /// If it is not inside.
    pub fn part(self, rows: Range<usize>, columns: Range<usize>) -> Self {
        assert!(rows.start <= rows.end && rows.end <= self.rows, "rows {rows:?} of {}", self.rows);
        assert!(
            columns.start <= columns.end && columns.end <= self.columns,
            "columns {columns:?} of {}",
            self.columns
        );
        let at = self.at.wrapping_offset(self.offset(rows.start, columns.start));
        Self { at, rows: rows.len(), columns: columns.len(), ..self }
    }

    fn offset(&self, row: usize, column: usize) -> isize {
        row as isize * self.row_stride + column as isize * self.column_stride
    }

    /// An element.
    ///
    /// # Panics
    /// If it is not inside.
    pub fn at(&self, row: usize, column: usize) -> T {
        assert!(row < self.rows && column < self.columns, "({row}, {column}) of {self:?}");
        // SAFETY: the element is inside; who made the view keeps elements readable.
        let value = unsafe { *self.at.offset(self.offset(row, column)) };
        if self.conjugated { value.conj() } else { value }
    }

    /// Elements of a row that follow each other in memory and are read as they are.
    pub(crate) fn row(&self, row: usize) -> Option<&'a [T]> {
        assert!(row < self.rows);
        if self.column_stride != 1 || self.is_conjugated() {
            return None;
        }
        // SAFETY: the row's elements follow each other; who made the view keeps them readable.
        Some(unsafe { std::slice::from_raw_parts(self.at.offset(self.offset(row, 0)), self.columns) })
    }

    /// Its numbers by columns.
    pub(crate) fn to_columns(self) -> Vec<T> {
        let all = (0..self.columns).flat_map(|j| (0..self.rows).map(move |i| (i, j)));
        all.map(|(i, j)| self.at(i, j)).collect()
    }
}

impl<'a, T: Scalar> ViewMut<'a, T> {
    /// A matrix in a slice: element (i, j) is number `i * strides[0] + j * strides[1]`. Strides under which two elements could be
    /// the same number are refused: the larger has to pass all of the other direction.
    pub fn new(numbers: &'a mut [T], rows: usize, columns: usize, strides: [usize; 2]) -> Result<Self> {
        check(numbers.len(), rows, columns, strides)?;
        let passes = |n: usize, stride: usize, other: usize| other > n.saturating_sub(1) * stride;
        let apart = match (rows, columns) {
            (0 | 1, 0 | 1) => true,
            (0 | 1, _) => strides[1] > 0,
            (_, 0 | 1) => strides[0] > 0,
            _ => {
                strides.iter().all(|s| *s > 0)
                    && (passes(rows, strides[0], strides[1]) || passes(columns, strides[1], strides[0]))
            }
        };
        if !apart {
            return Err(Error::shape(format!(
                "elements of {rows} x {columns} with strides {}, {} share memory",
                strides[0], strides[1]
            )));
        }
        // SAFETY: all elements are in the slice, which is borrowed exclusively; no two are the same.
        Ok(unsafe { Self::from_raw(numbers.as_mut_ptr(), rows, columns, strides.map(|s| s as isize)) })
    }

    /// A matrix whose rows follow each other.
    pub fn by_rows(numbers: &'a mut [T], rows: usize, columns: usize) -> Result<Self> {
        Self::new(numbers, rows, columns, [columns.max(1), 1])
    }

    /// A matrix whose columns follow each other.
    pub fn by_columns(numbers: &'a mut [T], rows: usize, columns: usize) -> Result<Self> {
        Self::new(numbers, rows, columns, [1, rows.max(1)])
    }

    /// A matrix in memory: element (i, j) is at `at + i * strides[0] + j * strides[1]`.
    ///
    /// # Safety
    /// No two elements are the same memory; all may be read and written, and nobody else does, while the view or one made of it
    /// lives.
    pub unsafe fn from_raw(at: *mut T, rows: usize, columns: usize, strides: [isize; 2]) -> Self {
        let [row_stride, column_stride] = strides;
        Self { at, rows, columns, row_stride, column_stride, life: PhantomData }
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// From a row to the next and from a column to the next, in elements.
    pub fn strides(&self) -> [isize; 2] {
        [self.row_stride, self.column_stride]
    }

    /// Where element (0, 0) is.
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.at
    }

    /// The same matrix, to be used up.
    pub fn reborrow(&mut self) -> ViewMut<'_, T> {
        ViewMut { life: PhantomData, ..*self }
    }

    /// The same matrix, read.
    pub fn view(&self) -> View<'_, T> {
        // SAFETY: the view borrows this one, so nobody writes.
        unsafe { View::from_raw(self.at, self.rows, self.columns, self.strides()) }
    }

    /// The transpose.
    pub fn t(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }

    /// The first `at` rows, and the others.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn split_rows(self, at: usize) -> (Self, Self) {
        assert!(at <= self.rows, "row {at} of {}", self.rows);
        let second = self.at.wrapping_offset(at as isize * self.row_stride);
        (Self { rows: at, ..self }, Self { at: second, rows: self.rows - at, ..self })
    }

    /// The first `at` columns, and the others.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn split_columns(self, at: usize) -> (Self, Self) {
        let (first, second) = self.t().split_rows(at);
        (first.t(), second.t())
    }

    /// A part.
    ///
    /// # Panics
    /// If it is not inside.
    pub fn part(self, rows: Range<usize>, columns: Range<usize>) -> Self {
        let below = self.split_rows(rows.end).0.split_rows(rows.start).1;
        below.split_columns(columns.end).0.split_columns(columns.start).1
    }

    /// Changes an element.
    ///
    /// # Panics
    /// If it is not inside.
    pub fn update(&mut self, row: usize, column: usize, change: impl FnOnce(T) -> T) {
        assert!(row < self.rows && column < self.columns, "({row}, {column}) of {self:?}");
        let offset = row as isize * self.row_stride + column as isize * self.column_stride;
        // SAFETY: the element is inside; the view is borrowed exclusively.
        let element = unsafe { &mut *self.at.offset(offset) };
        *element = change(*element);
    }

    /// Elements of a row that follow each other in memory.
    pub(crate) fn row(&mut self, row: usize) -> Option<&mut [T]> {
        assert!(row < self.rows);
        if self.column_stride != 1 {
            return None;
        }
        let offset = row as isize * self.row_stride;
        // SAFETY: the row's elements follow each other; the view is borrowed exclusively.
        Some(unsafe { std::slice::from_raw_parts_mut(self.at.offset(offset), self.columns) })
    }

    /// Multiplies all elements; with 0 they are not read.
    pub fn scale(&mut self, by: T) {
        if by == T::ONE {
            return;
        }
        let mut lines = self.reborrow();
        if lines.column_stride != 1 && lines.row_stride == 1 {
            lines = lines.t();
        }
        for i in 0..lines.rows {
            match lines.row(i) {
                Some(row) if by == T::ZERO => row.fill(T::ZERO),
                Some(row) => row.iter_mut().for_each(|x| *x = by * *x),
                None => {
                    for j in 0..lines.columns {
                        lines.update(i, j, |x| if by == T::ZERO { T::ZERO } else { by * x });
                    }
                }
            }
        }
    }
}

#[cfg(feature = "ndarray")]
impl<'a, T: Scalar> From<ndarray::ArrayView2<'a, T>> for View<'a, T> {
    fn from(array: ndarray::ArrayView2<'a, T>) -> Self {
        let (rows, columns) = array.dim();
        let strides = [array.strides()[0], array.strides()[1]];
        // SAFETY: the array's view is borrowed for `'a`, and its elements lie so.
        unsafe { View::from_raw(array.as_ptr(), rows, columns, strides) }
    }
}

#[cfg(feature = "ndarray")]
impl<'a, T: Scalar> From<ndarray::ArrayViewMut2<'a, T>> for ViewMut<'a, T> {
    fn from(mut array: ndarray::ArrayViewMut2<'a, T>) -> Self {
        let (rows, columns) = array.dim();
        let strides = [array.strides()[0], array.strides()[1]];
        // SAFETY: the array's view is borrowed exclusively for `'a`, and ndarray's mutable views share no elements.
        unsafe { ViewMut::from_raw(array.as_mut_ptr(), rows, columns, strides) }
    }
}
