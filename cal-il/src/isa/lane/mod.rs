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
//! Behind the function stand properties that passes ask about:
//!
//! | property | means |
//! |---|---|
//! | `operand`, `sign`, `number`, `mask` | what the result is, see [`Leaves`] |
//! | `moves`, `sum`, `limits`, … | what it does with numbers, see [`Numeric`] |
//! | `whole` | the results are whole numbers, infinities or NaNs |
//! | `bare` | the result may be a denormal, or a NaN of any payload, whatever its class says |
//! | `native(X)` | the processor's operation in its place: with denormals, IEEE's zeros and any NaN, and a sum of a product rounds once |
//! | `transcendental` | of operations with floats: the fifth unit of a chip of the time does it, or the first step of it |
//!
//! Lowering inserts [`LaneOp::Flush`] where an `F` argument may hold a denormal and [`LaneOp::Canon`] where a
//! `W` argument may hold a NaN of an unspecified payload. That keeps both out of arithmetic chains.

pub mod bits;
pub mod compare;
pub mod convert;
pub mod division;
pub mod double;
pub mod exponential;
pub(crate) mod expr;
pub mod float;
pub mod gcn;
pub mod int;
pub mod int64;
pub mod media;
mod properties;
pub mod root;
pub mod rounding;
pub mod trigonometric;

use super::Algebra;
pub use properties::{Class, Leaves, Numeric};

/// Calls `$callback! { Name (classes) -> class = path::function, properties; … }` with the list of all lane operations.
/// The path is relative to `recal_il::isa::lane`.
#[macro_export]
macro_rules! for_each_lane_op {
    ($callback:ident) => {
        $callback! {
            // Moves. The F forms keep the class of a value that is about to be used as a float.
            Mov (W) -> W = bits::mov, operand, moves;
            MovF (F) -> F = bits::mov, moves;
            Select (W, W, W) -> W = bits::select, operand, chooses;
            SelectF (W, F, F) -> F = bits::select, chooses;
            // (condition, when not 0.0, old value)
            Cmov (F, W, W) -> W = bits::cmov, operand, chooses;
            // Sign bit operations: of floats, and of any word (the high word of a double).
            Neg (F) -> F = bits::neg, negates;
            Abs (F) -> F = bits::abs, magnitude;
            NegBits (W) -> W = bits::neg, sign, negates;
            AbsBits (W) -> W = bits::abs, sign, magnitude;

            // Bits
            Not (W) -> W = bits::not;
            And (W, W) -> W = bits::and;
            Or (W, W) -> W = bits::or;
            Xor (W, W) -> W = bits::xor;
            Ishl (W, W) -> W = bits::shl;
            Ishr (W, W) -> W = bits::sar;
            Ushr (W, W) -> W = bits::shr;
            Icbits (W) -> W = bits::popcount;
            UbitReverse (W) -> W = bits::reverse;
            FfbHi (W) -> W = bits::ffb_hi;
            FfbLo (W) -> W = bits::ffb_lo;
            FfbShi (W) -> W = bits::ffb_shi;
            UbitExtract (W, W, W) -> W = bits::ubit_extract;
            IbitExtract (W, W, W) -> W = bits::ibit_extract;
            UbitInsert (W, W, W, W) -> W = bits::ubit_insert;
            Bfi (W, W, W) -> W = bits::bfi;
            Bfm (W, W) -> W = bits::bfm;
            Bitalign (W, W, W) -> W = bits::bitalign;
            Bytealign (W, W, W) -> W = bits::bytealign;

            // 32-bit integers. Imul, Imad serve the unsigned forms too.
            Iadd (W, W) -> W = int::iadd;
            Isub (W, W) -> W = int::isub;
            Inegate (W) -> W = int::ineg;
            Imul (W, W) -> W = int::imul;
            ImulHigh (W, W) -> W = int::imul_high;
            UmulHigh (W, W) -> W = int::umul_high;
            Imad (W, W, W) -> W = int::imad;
            Imin (W, W) -> W = int::imin;
            Imax (W, W) -> W = int::imax;
            Umin (W, W) -> W = int::umin;
            Umax (W, W) -> W = int::umax;
            Imin3 (W, W, W) -> W = int::imin3;
            Imed3 (W, W, W) -> W = int::imed3;
            Imax3 (W, W, W) -> W = int::imax3;
            Umin3 (W, W, W) -> W = int::umin3;
            Umed3 (W, W, W) -> W = int::umed3;
            Umax3 (W, W, W) -> W = int::umax3;
            Udiv (W, W) -> W = int::udiv;
            Umod (W, W) -> W = int::umod;
            Ieq (W, W) -> W = int::ieq, mask;
            Ine (W, W) -> W = int::ine, mask;
            Ilt (W, W) -> W = int::ilt, mask;
            Ige (W, W) -> W = int::ige, mask;
            Ult (W, W) -> W = int::ult, mask;
            Uge (W, W) -> W = int::uge, mask;
            Icarry (W, W) -> W = int::icarry;
            Iborrow (W, W) -> W = int::iborrow;
            Umul24 (W, W) -> W = int::umul24;
            Umul24High (W, W) -> W = int::umul24_high;
            Umad24 (W, W, W) -> W = int::umad24;
            Imul24 (W, W) -> W = int::imul24;
            Imul24High (W, W) -> W = int::imul24_high;
            Imad24 (W, W, W) -> W = int::imad24;

            // Media. `sad4` is four Sad in a row.
            U4lerp (W, W, W) -> W = media::u4lerp;
            Sad (W, W, W) -> W = media::sad;
            Sadhi (W, W, W) -> W = media::sadhi;
            SadU16 (W, W, W) -> W = media::sad_u16;
            SadU32 (W, W, W) -> W = media::sad_u32;
            MsadU8 (W, W, W) -> W = media::msad;
            QsadU8 (Q, W, Q) -> Q = media::qsad;
            MqsadU8 (Q, W, Q) -> Q = media::mqsad;

            // Single precision. A destination scale is MulIeee by the power of two.
            Flush (W) -> F = float::flush, moves, native(Mov);
            Canon (F) -> W = float::canon, number, moves, native(Mov);
            Add (F, F) -> F = float::add, sum, native(BareAdd);
            Sub (F, F) -> F = float::sub, difference, native(BareSub);
            Mul (F, F) -> F = float::mul, product, native(BareMul);
            MulIeee (F, F) -> F = float::mul_ieee, ieee_product, native(BareMul);
            Mad (F, F, F) -> F = float::mad, product_sum, native(BareFma);
            MadIeee (F, F, F) -> F = float::mad_ieee, ieee_product_sum, native(BareFma);
            Fma (F, F, F) -> F = float::fma, native(BareFma);
            // Where neither operands nor result are denormals; of IEEE's rules for zeros, infinities and NaNs.
            BareAdd (F, F) -> F = float::bare_add, bare, sum;
            BareSub (F, F) -> F = float::bare_sub, bare, difference;
            BareMul (F, F) -> F = float::bare_mul, bare, ieee_product;
            BareFma (F, F, F) -> F = float::bare_fma, bare;
            Lrp (F, F, F) -> F = float::lrp;
            Min (F, F) -> F = float::min, limits;
            Max (F, F) -> F = float::max, limits;
            MinIeee (F, F) -> F = float::min_ieee, limits;
            MaxIeee (F, F) -> F = float::max_ieee, limits;
            Min3 (F, F, F) -> F = float::min3, limits;
            Med3 (F, F, F) -> F = float::med3, limits;
            Max3 (F, F, F) -> F = float::max3, limits;
            Clamp (F, F, F) -> F = float::clamp, limits;
            Saturate (F) -> F = float::saturate, number, compares;
            Sgn (F) -> F = float::sgn, number, compares, whole;
            Frc (F) -> F = rounding::frc, rounds;
            Floor (F) -> F = rounding::floor, rounds, whole;
            Ceil (F) -> F = rounding::ceil, rounds, whole;
            Trunc (F) -> F = rounding::trunc, rounds, whole;
            RoundNearest (F) -> F = rounding::nearest, rounds, whole;
            Rnd (F) -> F = rounding::rnd, whole;
            // Division: the last operand is the number of the `_zeroop`.
            Div (F, F, W) -> F = division::div, transcendental;
            Rcp (F, W) -> F = division::rcp, transcendental;
            Rsq (F, W) -> F = root::rsq, transcendental;
            Sqrt (F) -> F = root::sqrt, transcendental;
            Mod (F, F) -> F = division::modulo;
            // Exponentials; of a logarithm, the last operand is the `_zeroop`. Exn is e^x.
            Exp (F) -> F = exponential::exp2, transcendental;
            Exn (F) -> F = exponential::exp, transcendental;
            Log (F, W) -> F = exponential::log2, transcendental;
            Ln (F, W) -> F = exponential::ln, transcendental;
            Pow (F, F) -> F = exponential::pow, transcendental;
            // Trigonometric functions, in radians.
            Sin (F) -> F = trigonometric::sin, transcendental;
            Cos (F) -> F = trigonometric::cos, transcendental;
            Tan (F) -> F = trigonometric::tan;
            Asin (F) -> F = trigonometric::asin;
            Acos (F) -> F = trigonometric::acos;
            Atan (F) -> F = trigonometric::atan;
            Pireduce (F) -> F = trigonometric::pireduce;
            Ldexp (F, W) -> F = convert::ldexp;
            FrexpExp (F) -> W = convert::frexp_exp;
            FrexpMant (F) -> F = convert::frexp_mant;

            // Comparisons: all ones / 0; 1.0 / 0.0; denormals as they are, all ones / 0, for control flow.
            Ne (F, F) -> W = compare::ne, mask, compares;
            Eq (F, F) -> W = compare::eq, mask, compares;
            Ge (F, F) -> W = compare::ge, mask, compares;
            Gt (F, F) -> W = compare::gt, mask, compares;
            Le (F, F) -> W = compare::le, mask, compares;
            Lt (F, F) -> W = compare::lt, mask, compares;
            SetNe (F, F) -> F = compare::set_ne, number, compares, whole;
            SetEq (F, F) -> F = compare::set_eq, number, compares, whole;
            SetGe (F, F) -> F = compare::set_ge, number, compares, whole;
            SetGt (F, F) -> F = compare::set_gt, number, compares, whole;
            SetLe (F, F) -> F = compare::set_le, number, compares, whole;
            SetLt (F, F) -> F = compare::set_lt, number, compares, whole;
            RawNe (W, W) -> W = compare::raw_ne, mask, compares;
            RawEq (W, W) -> W = compare::raw_eq, mask, compares;
            RawGe (W, W) -> W = compare::raw_ge, mask, compares;
            RawGt (W, W) -> W = compare::raw_gt, mask, compares;
            RawLe (W, W) -> W = compare::raw_le, mask, compares;
            RawLt (W, W) -> W = compare::raw_lt, mask, compares;
            Class (W, W) -> W = compare::class, mask;
            Dclass (Q, W) -> W = compare::dclass, mask;

            // Conversions
            Ftoi (F) -> W = convert::ftoi, converts;
            Ftou (F) -> W = convert::ftou, transcendental, converts;
            FtoiFlr (F) -> W = convert::ftoi_flr, converts;
            FtoiRpi (F) -> W = convert::ftoi_rpi, converts;
            Itof (W) -> F = convert::itof, number, transcendental, whole;
            Utof (W) -> F = convert::utof, number, transcendental, whole;
            F2f16 (F) -> W = convert::f2f16;
            F2f16Near (F) -> W = convert::f2f16_near;
            F2f16NegInf (F) -> W = convert::f2f16_neg_inf;
            F2f16PlusInf (F) -> W = convert::f2f16_plus_inf;
            F162f (W) -> F = convert::f162f;
            F2u4 (F, F, F, F) -> W = convert::f2u4;
            Unpack0 (W) -> F = convert::unpack0, number, whole;
            Unpack1 (W) -> F = convert::unpack1, number, whole;
            Unpack2 (W) -> F = convert::unpack2, number, whole;
            Unpack3 (W) -> F = convert::unpack3, number, whole;
            F2d (F) -> Q = double::f2d;
            D2f (Q) -> F = double::d2f;
            Dtoi (Q) -> W = double::dtoi;
            Dtou (Q) -> W = double::dtou;
            Itod (W) -> Q = double::itod;
            Utod (W) -> Q = double::utod;

            // Double precision. Negation and magnitude: NegBits, AbsBits of the high word. `dmov`, `dmovc`: two moves.
            Dadd (Q, Q) -> Q = double::add, native(BareDadd);
            Dsub (Q, Q) -> Q = double::sub, native(BareDsub);
            Dabs (Q) -> Q = double::abs;
            Dmul (Q, Q) -> Q = double::mul, native(BareDmul);
            Dmad (Q, Q, Q) -> Q = double::mad, native(BareDmad);
            // NaNs to the canonical one; sums and products whose NaNs have any payload.
            Dcanon (Q) -> Q = double::canon;
            BareDadd (Q, Q) -> Q = double::bare_add, bare;
            BareDsub (Q, Q) -> Q = double::bare_sub, bare;
            BareDmul (Q, Q) -> Q = double::bare_mul, bare;
            BareDmad (Q, Q, Q) -> Q = double::bare_mad, bare;
            Ddiv (Q, Q, W) -> Q = double::div;
            Drcp (Q, W) -> Q = double::rcp;
            Drsq (Q, W) -> Q = root::drsq;
            Dsqrt (Q) -> Q = double::sqrt;
            Dmin (Q, Q) -> Q = double::min;
            Dmax (Q, Q) -> Q = double::max;
            Dfrac (Q) -> Q = double::frac;
            Dldexp (Q, W) -> Q = double::ldexp;
            DfrexpExp (Q) -> W = double::frexp_exp;
            DfrexpMant (Q) -> Q = double::frexp_mant;
            Dsaturate (Q) -> Q = double::saturate;
            Deq (Q, Q) -> W = double::eq, mask;
            Dne (Q, Q) -> W = double::ne, mask;
            Dlt (Q, Q) -> W = double::lt, mask;
            Dge (Q, Q) -> W = double::ge, mask;

            // Steps of division and range reduction. A scale takes (value, denominator, numerator); its flag goes to
            // the last operand of the fmas.
            DivScale (F, F, F) -> F = gcn::div_scale;
            DivScaleFlag (F, F, F) -> W = gcn::div_scale_flag;
            DivFmas (F, F, F, W) -> F = gcn::div_fmas;
            DivFixup (F, F, F) -> F = gcn::div_fixup;
            DdivScale (Q, Q, Q) -> Q = gcn::ddiv_scale;
            DdivScaleFlag (Q, Q, Q) -> W = gcn::ddiv_scale_flag;
            DdivFmas (Q, Q, Q, W) -> Q = gcn::ddiv_fmas;
            DdivFixup (Q, Q, Q) -> Q = gcn::ddiv_fixup;
            DtrigPreop (Q, W) -> Q = gcn::dtrig_preop;

            // 64-bit integers. I64mul serves the unsigned form too.
            I64add (Q, Q) -> Q = int64::add;
            I64sub (Q, Q) -> Q = int64::sub;
            I64negate (Q) -> Q = int64::neg;
            I64mul (Q, Q) -> Q = int64::mul;
            I64div (Q, Q) -> Q = int64::idiv;
            I64mod (Q, Q) -> Q = int64::imod;
            U64div (Q, Q) -> Q = int64::udiv;
            U64mod (Q, Q) -> Q = int64::umod;
            I64min (Q, Q) -> Q = int64::imin;
            I64max (Q, Q) -> Q = int64::imax;
            U64min (Q, Q) -> Q = int64::umin;
            U64max (Q, Q) -> Q = int64::umax;
            I64shl (Q, W) -> Q = int64::shl;
            I64shr (Q, W) -> Q = int64::sar;
            U64shr (Q, W) -> Q = int64::shr;
            I64eq (Q, Q) -> W = int64::eq, mask;
            I64ne (Q, Q) -> W = int64::ne, mask;
            I64lt (Q, Q) -> W = int64::ilt, mask;
            I64ge (Q, Q) -> W = int64::ige, mask;
            U64lt (Q, Q) -> W = int64::ult, mask;
            U64ge (Q, Q) -> W = int64::uge, mask;
        }
    };
}

macro_rules! define {
    ($($name:ident ($($arg:ident),*) -> $result:ident = $($path:ident)::+ $(, $property:ident $(($of:ident))?)*;)*) => {
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

            /// The operation of a name.
            pub fn named(name: &str) -> Option<LaneOp> {
                match name { $(stringify!($name) => Some(LaneOp::$name),)* _ => None }
            }

            /// Argument classes.
            pub const fn arguments(self) -> &'static [Class] {
                match self { $(LaneOp::$name => &[$(Class::$arg),*],)* }
            }

            /// Result class.
            pub const fn result(self) -> Class {
                match self { $(LaneOp::$name => Class::$result,)* }
            }

            /// What its result is, beyond the class.
            pub const fn leaves(self) -> Leaves {
                match self { $(LaneOp::$name => define!(@leaves $result $($property $(($of))?)*),)* }
            }

            /// Whether the result may be a denormal, or a NaN of any payload, whatever its class says. Passes put such operations where
            /// that makes no difference.
            pub const fn is_bare(self) -> bool {
                match self { $(LaneOp::$name => define!(@is bare $($property $(($of))?)*),)* }
            }

            /// What it does with numbers.
            pub const fn numeric(self) -> Numeric {
                match self { $(LaneOp::$name => define!(@numeric $($property $(($of))?)*),)* }
            }

            /// Whether the results are whole numbers, infinities or NaNs.
            pub const fn is_whole(self) -> bool {
                match self { $(LaneOp::$name => define!(@is whole $($property $(($of))?)*),)* }
            }

            /// The processor's operation in its place, where that is another one: with denormals, IEEE's zeros and any NaN, and a sum of a
            /// product rounds once.
            pub const fn native(self) -> Option<LaneOp> {
                match self { $(LaneOp::$name => define!(@native $($property $(($of))?)*),)* }
            }

            /// Whether it is an operation with floats that only the fifth unit of a chip of the time does, or the first step of it.
            pub const fn is_transcendental(self) -> bool {
                match self { $(LaneOp::$name => define!(@is transcendental $($property $(($of))?)*),)* }
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
    (@leaves $class:ident operand $($more:tt)*) => { Leaves::Operand };
    (@leaves $class:ident sign $($more:tt)*) => { Leaves::Sign };
    (@leaves $class:ident number $($more:tt)*) => { Leaves::Number };
    (@leaves $class:ident mask $($more:tt)*) => { Leaves::Mask };
    (@leaves $class:ident $other:tt $($more:tt)*) => { define!(@leaves $class $($more)*) };
    (@leaves F) => { Leaves::Float };
    (@leaves $class:ident) => { Leaves::Word };
    (@numeric moves $($more:tt)*) => { Numeric::Moves };
    (@numeric negates $($more:tt)*) => { Numeric::Negates };
    (@numeric magnitude $($more:tt)*) => { Numeric::Magnitude };
    (@numeric chooses $($more:tt)*) => { Numeric::Chooses };
    (@numeric limits $($more:tt)*) => { Numeric::Limits };
    (@numeric rounds $($more:tt)*) => { Numeric::Rounds };
    (@numeric sum $($more:tt)*) => { Numeric::Sum };
    (@numeric difference $($more:tt)*) => { Numeric::Difference };
    (@numeric product $($more:tt)*) => { Numeric::Product };
    (@numeric ieee_product $($more:tt)*) => { Numeric::IeeeProduct };
    (@numeric product_sum $($more:tt)*) => { Numeric::ProductSum };
    (@numeric ieee_product_sum $($more:tt)*) => { Numeric::IeeeProductSum };
    (@numeric compares $($more:tt)*) => { Numeric::Compares };
    (@numeric converts $($more:tt)*) => { Numeric::Converts };
    (@numeric $other:tt $($more:tt)*) => { define!(@numeric $($more)*) };
    (@numeric) => { Numeric::Opaque };
    (@native native ($op:ident) $($more:tt)*) => { Some(LaneOp::$op) };
    (@native $other:tt $($more:tt)*) => { define!(@native $($more)*) };
    (@native) => { None };
    (@is whole whole $($more:tt)*) => { true };
    (@is bare bare $($more:tt)*) => { true };
    (@is transcendental transcendental $($more:tt)*) => { true };
    (@is $property:ident $other:tt $($more:tt)*) => { define!(@is $property $($more)*) };
    (@is $property:ident) => { false };
}

/// Computes `op` on constant argument words.
pub fn fold(op: LaneOp, words: &[u32]) -> (u32, Option<u32>) {
    apply(&mut super::Scalar, op, words)
}

fn next<T>(words: &mut impl Iterator<Item = T>) -> T {
    words.next().expect("lowering gives a lane operation as many words as its classes take")
}

for_each_lane_op!(define);
