//! A notation for nested calls on an [`Algebra`](crate::isa::Algebra).
//!
//! `expr!(a, iadd(and(x, 0xFF), y))` calls `a.word(0xFF)`, `a.and(x, …)` and `a.iadd(…, y)`. A plain name is a
//! value, a number is a word constant, `{…}` is any Rust expression taken as it is.

macro_rules! expr {
    ($a:ident, $f:ident ($($args:tt)*)) => { expr!(@args $a $f [] $($args)*) };
    (@args $a:ident $f:ident [$($done:ident)*]) => { $a.$f($($done),*) };
    (@args $a:ident $f:ident [$($done:ident)*] $g:ident ($($inner:tt)*) $(, $($rest:tt)*)?) => {{
        let value = expr!(@args $a $g [] $($inner)*);
        expr!(@args $a $f [$($done)* value] $($($rest)*)?)
    }};
    (@args $a:ident $f:ident [$($done:ident)*] $x:ident $(, $($rest:tt)*)?) => {{
        let value = $x;
        expr!(@args $a $f [$($done)* value] $($($rest)*)?)
    }};
    (@args $a:ident $f:ident [$($done:ident)*] $n:literal $(, $($rest:tt)*)?) => {{
        let value = $a.word($n);
        expr!(@args $a $f [$($done)* value] $($($rest)*)?)
    }};
    (@args $a:ident $f:ident [$($done:ident)*] $x:block $(, $($rest:tt)*)?) => {{
        let value = $x;
        expr!(@args $a $f [$($done)* value] $($($rest)*)?)
    }};
}

pub(crate) use expr;
