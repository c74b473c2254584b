//! Lane operations: scalar functions that every ALU instruction is made of.
//!
//! [`for_each_lane_op!`](crate::for_each_lane_op) is the one list. A line
//!
//! ```text
//! Mad (F, F, F) -> F = float::mad;
//! ```
//!
//! names the operation, the classes of its arguments and result, and the generic function that means it.
//! Classes:
//!
//! | class | argument | result |
//! |---|---|---|
//! | `F` | float word, **already flushed**; NaNs may have any payload | flushed float word; a NaN may have any payload |
//! | `W` | any 32-bit word, taken bit for bit | 32-bit word; if it is a float it is canonical |
//! | `Q` | two words, low first | two words, low first; NaNs canonical |
//!
//! Lowering inserts [`LaneOp::Flush`] where an `F` argument may hold a denormal and [`LaneOp::Canon`] where a
//! `W` argument may hold a NaN of an unspecified payload. That keeps both out of arithmetic chains.

pub mod bits;
pub mod float;
pub mod int;

use super::Algebra;

/// Class of an argument or result of a lane operation; see the module text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Flushed float word.
    F,
    /// Word, bit for bit.
    W,
    /// 64-bit word in two registers.
    Q,
}

impl Class {
    /// Number of 32-bit operands.
    pub const fn words(self) -> usize {
        match self {
            Class::F | Class::W => 1,
            Class::Q => 2,
        }
    }
}

/// Calls `$callback! { Name (classes) -> class = path::function; … }` with the list of all lane operations.
/// The path is relative to `cal_il::isa::lane`.
#[macro_export]
macro_rules! for_each_lane_op {
    ($callback:ident) => {
        $callback! {
            Mov (W) -> W = bits::mov;
            Flush (W) -> F = float::flush;
            Canon (F) -> W = float::canon;
            Add (F, F) -> F = float::add;
            MulIeee (F, F) -> F = float::mul_ieee;
            Iadd (W, W) -> W = int::iadd;
        }
    };
}

macro_rules! define {
    ($($name:ident ($($arg:ident),*) -> $result:ident = $($path:ident)::+;)*) => {
        /// A lane operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u16)]
        #[allow(missing_docs)]
        pub enum LaneOp { $($name,)* }

        impl LaneOp {
            /// Every lane operation.
            pub const ALL: &'static [LaneOp] = &[$(LaneOp::$name,)*];

            /// Name as in the list.
            pub const fn name(self) -> &'static str {
                match self { $(LaneOp::$name => stringify!($name),)* }
            }

            /// Argument classes.
            pub const fn arguments(self) -> &'static [Class] {
                match self { $(LaneOp::$name => &[$(Class::$arg),*],)* }
            }

            /// Result class.
            pub const fn result(self) -> Class {
                match self { $(LaneOp::$name => Class::$result,)* }
            }
        }

        /// Applies `op` to flattened argument words (a `Q` takes two, low first). Returns the low and high
        /// result words; the high one only for class `Q`.
        pub fn apply<A: Algebra>(a: &mut A, op: LaneOp, words: &[A::W]) -> (A::W, Option<A::W>) {
            let mut words = words.iter().copied();
            match op {
                $(LaneOp::$name => {
                    let result = define!(@call a words ($($path)::+) [] $($arg)*);
                    define!(@result $result a result)
                })*
            }
        }
    };
    // One `let` per argument: hygiene keeps the `word`s of different steps apart.
    (@call $a:ident $w:ident ($($path:tt)+) [$($done:ident)*]) => { $($path)+($a, $($done),*) };
    (@call $a:ident $w:ident ($($path:tt)+) [$($done:ident)*] $class:ident $($rest:ident)*) => {{
        let word = define!(@arg $class $a $w);
        define!(@call $a $w ($($path)+) [$($done)* word] $($rest)*)
    }};
    (@arg Q $a:ident $w:ident) => {{ let lo = next(&mut $w); let hi = next(&mut $w); $a.pack(lo, hi) }};
    (@arg $class:ident $a:ident $w:ident) => { next(&mut $w) };
    (@result Q $a:ident $r:ident) => { ($a.lo($r), Some($a.hi($r))) };
    (@result $class:ident $a:ident $r:ident) => { ($r, None) };
}

fn next<T>(words: &mut impl Iterator<Item = T>) -> T {
    words.next().expect("lowering gives a lane operation as many words as its classes take")
}

for_each_lane_op!(define);
