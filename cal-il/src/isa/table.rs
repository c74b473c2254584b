//! The instruction table: one row per instruction.
//!
//! Parser, checker, printer, lowering, documentation and conformance cases all read this table. A row is
//!
//! ```text
//! /// What it does.
//! ///
//! /// What that sentence leaves open.
//! Ident "mnemonic" [aliases] number Category destinations sources "controls" Scope VectorRule Family
//!     [meaning] "section";
//! ```
//!
//! `controls` uses the notation of [`super::Row::controls`]. `meaning` is one of
//!
//! | meaning | the instruction is |
//! |---|---|
//! | `float Op` | a lane operation on floats |
//! | `bits Op` | one that moves bits: `_neg` and `_abs` touch the sign only |
//! | `int Op` | one on integers: `_neg` is two's complement |
//! | `double Op`, `quad Op` | one on pairs: doubles, 64-bit integers |
//! | `ieee Bare Ieee` | a float operation chosen by `_ieee` |
//! | `zeroop Op`, `zeroop_infinity Op`, `double_zeroop Op` | one that takes the `_zeroop` as its last operand; without the suffix that is `fltmax`, `infinity`, `infinity` |
//! | `vector Name` | an expansion that combines positions ([`super::Vector`]) |
//! | `memory Name`, `load Area Access`, `store Area Access`, `atomic Area Op`, `atomic_read …`, `atomic64 …`, `atomic64_read …` | a memory access ([`super::Memory`]) |
//! | `declaration`, `flow`, `nothing`, `compute_unit`, `wave_slot` | as named |
//! | `graphics`, `refused "reason"` | not for CAL kernels |

use super::{
    Access, Area, AtomicOp, Category, Choice, Family, LaneOp, Meaning, Memory, Row, Scope, Vector,
    VectorRule, View,
};
use crate::inst::Zeroop;

macro_rules! isa {
    (@number _) => { None };
    (@number $n:literal) => { Some($n) };
    (@meaning float $op:ident) => { Meaning::Lane(View::Float, Choice::One(LaneOp::$op)) };
    (@meaning bits $op:ident) => { Meaning::Lane(View::Bits, Choice::One(LaneOp::$op)) };
    (@meaning int $op:ident) => { Meaning::Lane(View::Int, Choice::One(LaneOp::$op)) };
    (@meaning double $op:ident) => { Meaning::Lane(View::Double, Choice::One(LaneOp::$op)) };
    (@meaning quad $op:ident) => { Meaning::Lane(View::Quad, Choice::One(LaneOp::$op)) };
    (@meaning ieee $bare:ident $ieee:ident) => {
        Meaning::Lane(View::Float, Choice::Ieee { bare: LaneOp::$bare, ieee: LaneOp::$ieee })
    };
    (@meaning zeroop $op:ident) => {
        Meaning::Lane(View::Float, Choice::Zeroop { op: LaneOp::$op, bare: Zeroop::FltMax })
    };
    (@meaning zeroop_infinity $op:ident) => {
        Meaning::Lane(View::Float, Choice::Zeroop { op: LaneOp::$op, bare: Zeroop::Infinity })
    };
    (@meaning double_zeroop $op:ident) => {
        Meaning::Lane(View::Double, Choice::Zeroop { op: LaneOp::$op, bare: Zeroop::Infinity })
    };
    (@meaning vector $name:ident) => { Meaning::Vector(Vector::$name) };
    (@meaning memory $name:ident) => { Meaning::Memory(Memory::$name) };
    (@meaning load $area:ident $access:ident) => { Meaning::Memory(Memory::Load(Area::$area, Access::$access)) };
    (@meaning store $area:ident $access:ident) => { Meaning::Memory(Memory::Store(Area::$area, Access::$access)) };
    (@meaning atomic $area:ident $op:ident) => { Meaning::Memory(Memory::Atomic(Area::$area, AtomicOp::$op)) };
    (@meaning atomic_read $area:ident $op:ident) => {
        Meaning::Memory(Memory::AtomicRead(Area::$area, AtomicOp::$op))
    };
    (@meaning atomic64 $area:ident $op:ident) => { Meaning::Memory(Memory::Atomic64(Area::$area, AtomicOp::$op)) };
    (@meaning atomic64_read $area:ident $op:ident) => {
        Meaning::Memory(Memory::AtomicRead64(Area::$area, AtomicOp::$op))
    };
    (@meaning declaration) => { Meaning::Declaration };
    (@meaning flow) => { Meaning::Flow };
    (@meaning nothing) => { Meaning::Nothing };
    (@meaning compute_unit) => { Meaning::ComputeUnit };
    (@meaning wave_slot) => { Meaning::WaveSlot };
    (@meaning graphics) => { Meaning::Refused("needs a graphics pipeline") };
    (@meaning refused $reason:literal) => { Meaning::Refused($reason) };
    ($($(#[doc = $doc:literal])* $id:ident $mnemonic:literal [$($alias:literal),*] $number:tt $category:ident
        $dst:literal $src:literal $controls:literal $scope:ident $rule:ident $family:ident
        [$($meaning:tt)*] $section:literal;)*) => {
        /// Every instruction of the text form of AMD IL.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum Opcode {
            $($(#[doc = $doc])* #[doc = concat!("`", $mnemonic, "`")] $id,)*
        }

        /// The table, indexed by `Opcode as usize`.
        pub static TABLE: &[Row] = &[
            $(Row {
                opcode: Opcode::$id,
                mnemonic: $mnemonic,
                aliases: &[$($alias),*],
                number: isa!(@number $number),
                category: Category::$category,
                destinations: $dst,
                sources: $src,
                controls: $controls,
                scope: Scope::$scope,
                rule: VectorRule::$rule,
                family: Family::$family,
                doc: concat!($($doc, "\n",)* ""),
                section: $section,
                meaning: isa!(@meaning $($meaning)*),
            },)*
        ];
    };
}

isa! {
    /// Clears the sign bit.
    Abs "abs" [] 1 Float 1 1 "" Compute PerComponent R600 [bits AbsBits] "ALU 3.1";
    /// Arc cosine in radians; NaN outside [-1, 1].
    Acos "acos" [] 2 Float 1 1 "" Compute ScalarReplicated R600 [float Acos] "ALU 3.4";
    /// Sum, rounded to nearest even.
    Add "add" [] 3 Float 1 2 "" Compute PerComponent R600 [float Add] "ALU 3.1";
    /// Arc sine in radians; NaN outside [-1, 1].
    Asin "asin" [] 4 Float 1 1 "" Compute ScalarReplicated R600 [float Asin] "ALU 3.4";
    /// Arc tangent in radians.
    Atan "atan" [] 5 Float 1 1 "" Compute ScalarReplicated R600 [float Atan] "ALU 3.4";
    /// Leaves the innermost loop or switch.
    ///
    /// Threads that get here leave the loop or switch at once and go on behind its end; the others go on.
    Break "break" [] 6 Flow 0 0 "" Compute Other R600 [flow] "IL 4.3";
    /// Leaves the innermost loop or switch if a float comparison holds.
    ///
    /// The operands are compared as floats, position x; denormals count as what they are, and every relation but `ne`
    /// is false for NaN.
    Breakc "breakc" [] 7 Flow 0 2 "_relop(op)" Compute Other R600 [flow] "IL 4.3";
    /// Calls a function.
    ///
    /// The number is that of a `func`. Calls nest as deep as the hardware's stack did; recursion is refused. Registers
    /// are shared by all functions.
    Call "call" [] 8 Flow 0 0 "<label>" Compute Other R600 [flow] "IL 4.5";
    /// Calls a function by a Direct3D 9 boolean constant.
    Callnz "callnz" [] 9 Flow 0 1 "<label>" Graphics Other R600 [graphics] "IL 4.9";
    /// Limits the first source to the range of the other two, by the rules of bare `max` and `min`.
    Clamp "clamp" [] 10 Float 1 3 "" Compute PerComponent R600 [float Clamp] "ALU 3.1";
    /// Rounds up to a whole float.
    Clg "clg" [] 11 Float 1 1 "" Compute PerComponent R600 [float Ceil] "ALU 3.5";
    /// Copies the second source where the first is not 0.0; elsewhere the destination keeps its value.
    Cmov "cmov" [] 12 Select 1 2 "" Compute PerComponent R600 [vector ConditionalMove] "ALU 3.9";
    /// Second source where the first compares true with `_cmpval`, else the third.
    Cmp "cmp" [] 13 Select 1 3 "_relop(op) _cmpval(v)" Compute PerComponent R600 [vector Compare] "ALU 3.9";
    /// Clamps a colour to the range of the target.
    Colorclamp "colorclamp" [] 14 Graphics 1 1 "" Graphics PerComponent R600 [graphics] "IL 4.9";
    /// Goes on with the next iteration.
    ///
    /// Threads that get here skip the rest of the loop's body. Directly inside `switch` it is an error.
    Continue "continue" [] 16 Flow 0 0 "" Compute Other R600 [flow] "IL 4.3";
    /// Goes on with the next iteration if a float comparison holds.
    ///
    /// The operands are compared as floats, position x, as `breakc` does.
    Continuec "continuec" [] 17 Flow 0 2 "_relop(op)" Compute Other R600 [flow] "IL 4.3";
    /// Cosine of radians, over the full range.
    Cos "cos" [] 18 Float 1 1 "" Compute ScalarReplicated R600 [float Cos] "ALU 3.4";
    /// Cross product of the first three components; w becomes 0.
    Crs "crs" [] 19 Float 1 2 "" Compute Other R600 [vector Cross] "ALU 3.8";
    /// Declares an array of Direct3D 9 constants.
    Dclarray "dclarray" [] 20 Decl 0 2 "" Graphics Other R600 [graphics] "IL 3.10";
    /// Defines default components.
    Dcldef "dcldef" [] 21 Decl 1 0 "_x(c) _y(c) _z(c) _w(c)" Graphics Other R600 [graphics] "IL 3.10";
    /// Declares the pixel position in whole numbers.
    ///
    /// The position is the column and row, without the half of the pixel's centre. For each component the specifier
    /// says `*` (deliver it), `-` (not needed), or a constant.
    Dclpi "dclpi" [] 22 Decl 1 0 "_x(c) _y(c) _z(c) _w(c) [_center] [_bias] [_invert] [_centered]" Compute Other R600 [declaration] "IL 3.10";
    /// Declares an interpolated input by usage.
    Dclpin "dclpin" [] 23 Decl 1 0 "[_usage(u)] _x(c) _y(c) _z(c) _w(c) [_centroid] [_origin]" Graphics Other R600 [graphics] "IL 3.10";
    /// Declares a pixel parameter.
    Dclpp "dclpp" [] 24 Decl 1 0 "_param(n)" Graphics Other R600 [graphics] "IL 3.10";
    /// Declares a texture stage.
    Dclpt "dclpt" [] 25 Decl 0 0 "_stage(n) _type(t) _coordmode(m)" Graphics Other R600 [graphics] "IL 3.10";
    /// Declares a vertex element.
    Dclv "dclv" [] 26 Decl 1 0 "_elem(n) _x(c) _y(c) _z(c) _w(c)" Graphics Other R600 [graphics] "IL 3.10";
    /// Declares a vertex output.
    Dclvout "dclvout" [] 27 Decl 1 0 "_usage(u) _usageIndex(n) _x(c) _y(c) _z(c) _w(c)" Graphics Other R600 [graphics] "IL 3.10";
    /// Defines a Direct3D 9 float constant.
    Def "def" [] 28 Decl 1 0 "<value> <value> <value> <value>" Graphics Other R600 [graphics] "IL 3.10";
    /// Defines a Direct3D 9 boolean constant.
    Defb "defb" [] 29 Decl 1 0 "<bool>" Graphics Other R600 [graphics] "IL 3.10";
    /// Determinant of a matrix.
    Det "det" [] 30 Graphics 1 1 "" Graphics Other R600 [graphics] "IL 4.9";
    /// Length of the difference of two three-component vectors.
    Dist "dist" [] 31 Float 1 2 "" Compute Reduction R600 [vector Distance] "ALU 3.8";
    /// Quotient, correctly rounded; `_zeroop` says what a zero divisor gives.
    Div "div" [] 32 Float 1 2 "[_zeroop(z)]" Compute PerComponent R600 [zeroop Div] "ALU 3.2";
    /// Two-component dot product plus the third source.
    Dp2add "dp2add" [] 33 Float 1 3 "[_ieee]" Compute Reduction R600 [vector Dot2Add] "ALU 3.8";
    /// Dot product of three components, from left to right, each step rounded.
    Dp3 "dp3" [] 34 Float 1 2 "[_ieee]" Compute Reduction R600 [vector Dot3] "ALU 3.8";
    /// Dot product of four components, from left to right, each step rounded.
    Dp4 "dp4" [] 35 Float 1 2 "[_ieee]" Compute Reduction R600 [vector Dot4] "ALU 3.8";
    /// Distance vector (1, y*y, z, w) of Direct3D 9 lighting.
    Dst "dst" [] 36 Float 1 2 "" Compute Other R600 [vector Dst] "ALU 3.8";
    /// Derivative along x.
    Dsx "dsx" [] 37 Graphics 1 1 "[_fine] [_centroid]" Graphics PerComponent R600 [graphics] "IL 4.9";
    /// Derivative along y.
    Dsy "dsy" [] 38 Graphics 1 1 "[_fine] [_centroid]" Graphics PerComponent R600 [graphics] "IL 4.9";
    /// Begins the other branch.
    ///
    /// Threads for which the condition of the `if` did not hold run what follows, up to `endif`.
    Else "else" [] 39 Flow 0 0 "" Compute Other R600 [flow] "IL 4.2";
    /// Ends the text.
    ///
    /// What follows is not read. It may stand behind `endmain`, behind the last function, or alone.
    End "end" [] 40 Flow 0 0 "" Compute Other R600 [flow] "IL 4.6";
    /// Ends an `if`.
    ///
    /// Threads of both branches go on together from here.
    Endif "endif" [] 41 Flow 0 0 "" Compute Other R600 [flow] "IL 4.2";
    /// Ends a loop.
    ///
    /// Threads that are still in the loop go back to its `whileloop`. A loop that nothing leaves is stopped by
    /// `CAL_TIMEOUT`.
    Endloop "endloop" [] 42 Flow 0 0 "" Compute Other R600 [flow] "IL 4.3";
    /// Ends the main program.
    ///
    /// Functions follow, or `end`. It may be left out where nothing but `end` follows.
    Endmain "endmain" [] 43 Flow 0 0 "" Compute Other R600 [flow] "IL 4.6";
    /// e to the power of the source.
    Exn "exn" [] 44 Float 1 1 "" Compute ScalarReplicated R600 [float Exn] "ALU 3.3";
    /// 2 to the power of the source.
    Exp "exp" [] 45 Float 1 1 "" Compute ScalarReplicated R600 [float Exp] "ALU 3.3";
    /// Partial exponential of w: 2^floor, fraction, 2^w, 1.
    Expp "expp" [] 46 Float 1 1 "" Compute Other R600 [vector ExpPartial] "ALU 3.3";
    /// First source, negated unless the dot product of the other two is negative.
    Faceforward "faceforward" [] 47 Float 1 3 "" Compute Other R600 [vector FaceForward] "ALU 3.8";
    /// Rounds down to a whole float.
    Flr "flr" [] 48 Float 1 1 "" Compute PerComponent R600 [float Floor] "ALU 3.5";
    /// Fraction: the source minus its floor.
    Frc "frc" [] 49 Float 1 1 "" Compute PerComponent R600 [float Frc] "ALU 3.1";
    /// Begins a function.
    ///
    /// Functions stand behind `endmain`. The body reaches to `endfunc`, or to a final `ret` where the next `func` or
    /// `end` follows.
    Func "func" [] 50 Flow 0 0 "<label>" Compute Other R600 [flow] "IL 4.5";
    /// Sum of the absolute derivatives.
    Fwidth "fwidth" [] 51 Graphics 1 1 "" Graphics PerComponent R600 [graphics] "IL 4.9";
    /// Runs the branch if a float comparison holds.
    ///
    /// The operands are compared as floats, position x; denormals count as what they are, and every relation but `ne`
    /// is false for NaN.
    Ifc "ifc" [] 52 Flow 0 2 "_relop(op)" Compute Other R600 [flow] "IL 4.2";
    /// Runs the branch if any bit is set.
    ///
    /// An old spelling of `if_logicalnz`.
    Ifnz "ifnz" [] 53 Flow 0 1 "" Compute Other R600 [flow] "IL 4.2";
    /// Initialises an input.
    Initv "initv" [] 54 Decl 1 1 "" Graphics Other R600 [graphics] "IL 3.10";
    /// Kills the pixel if a component is negative.
    Kill "kill" [] 55 Graphics 0 1 "[_stage(n)] [_sample(b)]" Graphics Other R600 [graphics] "IL 4.9";
    /// Length of a three-component vector.
    Len "len" [] 56 Float 1 1 "" Compute Reduction R600 [vector Length] "ALU 3.8";
    /// Lighting coefficients of Direct3D 9.
    Lit "lit" [] 57 Float 1 1 "" Compute Other R600 [vector Lit] "ALU 3.8";
    /// Natural logarithm; `_zeroop` says what zero gives.
    Ln "ln" [] 58 Float 1 1 "[_zeroop(z)]" Compute ScalarReplicated R600 [zeroop Ln] "ALU 3.3";
    /// Level of detail of a lookup.
    Lod "lod" [] 59 Texture 1 1 "_stage(n)" Graphics Other R600 [graphics] "IL 5.4";
    /// Logarithm to base 2; `_zeroop` says what zero gives.
    Log "log" [] 60 Float 1 1 "[_zeroop(z)]" Compute ScalarReplicated R600 [zeroop Log] "ALU 3.3";
    /// Partial logarithm of |w|: exponent, mantissa, log2, 1.
    Logp "logp" [] 61 Float 1 1 "[_zeroop(z)]" Compute Other R600 [vector LogPartial] "ALU 3.3";
    /// Loop counted by a Direct3D 9 integer constant.
    Loop "loop" ["loop_rep"] 62 Flow 0 1 "[_rep|_repeat]" Graphics Other R600 [graphics] "IL 4.9";
    /// Linear interpolation: first * (second - third) + third, unfused.
    Lrp "lrp" [] 63 Float 1 3 "" Compute PerComponent R600 [float Lrp] "ALU 3.1";
    /// Product, rounded, plus the third source, rounded: never fused.
    Mad "mad" [] 64 Float 1 3 "[_ieee]" Compute PerComponent R600 [ieee Mad MadIeee] "ALU 3.1";
    /// Larger value; bare, a NaN gives the second source; `_ieee`, the number.
    Max "max" [] 65 Float 1 2 "[_ieee]" Compute PerComponent R600 [ieee Max MaxIeee] "ALU 3.7";
    /// Exports a vector to a stream.
    Memexport "memexport" [] 66 Memory 0 2 "_exportStream(n) _elemOffset(k)" Graphics Other R600 [graphics] "IL 5.12";
    /// Imports a vector from a stream.
    Memimport "memimport" [] 67 Memory 1 1 "_elem(n)" Graphics Other R600 [graphics] "IL 5.12";
    /// Smaller value; bare, a NaN gives the second source; `_ieee`, the number.
    Min "min" [] 68 Float 1 2 "[_ieee]" Compute PerComponent R600 [ieee Min MinIeee] "ALU 3.7";
    /// Matrix product.
    Mmul "mmul" [] 69 Graphics 1 2 "[_matrix(m)]" Graphics Other R600 [graphics] "IL 4.9";
    /// Remainder with the sign of the first source.
    Mod "mod" [] 70 Float 1 2 "[_ieee]" Compute PerComponent R600 [float Mod] "ALU 3.6";
    /// Copies bits; with `_sat` or a scale it is arithmetic.
    Mov "mov" [] 71 Float 1 1 "" Compute PerComponent R600 [bits Mov] "ALU 3.1";
    /// Writes the address register.
    Mova "mova" ["mova_round"] 72 Float 1 1 "[_round(b)]" Graphics PerComponent R600 [graphics] "IL 1.13";
    /// Product; bare, zero times anything is +0.
    Mul "mul" [] 73 Float 1 2 "[_ieee]" Compute PerComponent R600 [ieee Mul MulIeee] "ALU 2.1";
    /// Noise function.
    Noise "noise" [] 74 Graphics 1 1 "_type(t)" Graphics Other R600 [graphics] "IL 4.9";
    /// Does nothing.
    Nop "nop" [] 75 Misc 0 0 "" Compute Other R600 [nothing] "IL 4.9";
    /// Divides a vector by its length; `_zeroop` replaces the reciprocal of a zero length.
    Nrm "nrm" [] 76 Float 1 1 "[_nrm3|_nrm4] [_zeroop(z)]" Compute Other R600 [vector Normalize] "ALU 3.8";
    /// Reduces radians to [-pi, pi).
    Pireduce "pireduce" [] 77 Float 1 1 "" Compute PerComponent R600 [float Pireduce] "ALU 3.4";
    /// First source to the power of the second.
    Pow "pow" [] 78 Float 1 2 "" Compute ScalarReplicated R600 [float Pow] "ALU 3.3";
    /// Marks precomputed code.
    Precomp "precomp" [] 79 Misc 0 0 "" Graphics Other R600 [graphics] "IL 4.9";
    /// Projective division of coordinates.
    Project "project" [] 80 Graphics 1 1 "_stage(n)" Graphics Other R600 [graphics] "IL 4.9";
    /// Reciprocal, correctly rounded; `_zeroop` says what zero gives.
    Rcp "rcp" [] 81 Float 1 1 "[_zeroop(z)]" Compute ScalarReplicated R600 [zeroop Rcp] "ALU 3.2";
    /// Reflection of the first source at the normal in the second.
    Reflect "reflect" [] 82 Float 1 2 "[_normalize]" Compute Other R600 [vector Reflect] "ALU 3.8";
    /// Returns from a function; in main, ends the thread.
    ///
    /// Inside a function, threads that get here go on behind the call. In main they are done: their outputs are kept.
    Ret "ret" [] 83 Flow 0 0 "" Compute Other R600 [flow] "IL 4.5";
    /// Adds one half and rounds down.
    Rnd "rnd" [] 84 Float 1 1 "" Compute PerComponent R600 [float Rnd] "ALU 3.5";
    /// Reciprocal square root, correctly rounded; `_zeroop` says what zero gives.
    Rsq "rsq" [] 85 Float 1 1 "[_zeroop(z)]" Compute ScalarReplicated R600 [zeroop Rsq] "ALU 3.2";
    /// 1.0 where the relation holds, else 0.0.
    Set "set" [] 86 Compare 1 2 "_relop(op)" Compute PerComponent R600 [vector Set] "ALU 3.9";
    /// Sign as -1.0, 0.0 or 1.0; NaN gives -1.0.
    Sgn "sgn" [] 87 Float 1 1 "" Compute PerComponent R600 [float Sgn] "ALU 3.1";
    /// Sine of radians, over the full range.
    Sin "sin" [] 88 Float 1 1 "" Compute ScalarReplicated R600 [float Sin] "ALU 3.4";
    /// Cosine of w in x, sine in y.
    Sincos "sincos" [] 89 Float 1 1 "" Compute Other R600 [vector SinCos] "ALU 3.4";
    /// Square root, correctly rounded.
    Sqrt "sqrt" [] 90 Float 1 1 "" Compute ScalarReplicated R600 [float Sqrt] "ALU 3.2";
    /// Difference, rounded to nearest even.
    Sub "sub" [] 91 Float 1 2 "" Compute PerComponent R600 [float Sub] "ALU 3.1";
    /// Tangent of radians.
    Tan "tan" [] 92 Float 1 1 "" Compute ScalarReplicated R600 [float Tan] "ALU 3.4";
    /// Older form of `sample`: resource and sampler share the stage number.
    Texld "texld" [] 93 Texture 1 1 "_stage(n) [_centroid(b)] [_mag(m)] [_min(m)] [_aniso(a)] [_lodbias(v)] [_xoffset(v)] [_yoffset(v)] [_zoffset(v)]" Graphics Other R600 [memory Sample] "IL 5.4";
    /// Older form of `sample_b`.
    Texldb "texldb" [] 94 Texture 1 2 "_stage(n) [_centroid(b)] [_mag(m)] [_min(m)] [_aniso(a)] [_lodbias(v)] [_xoffset(v)] [_yoffset(v)] [_zoffset(v)]" Graphics Other R600 [memory Sample] "IL 5.4";
    /// Older form of `sample_g`.
    Texldd "texldd" [] 95 Texture 1 3 "_stage(n) [_centroid(b)] [_mag(m)] [_min(m)] [_aniso(a)] [_lodbias(v)] [_xoffset(v)] [_yoffset(v)] [_zoffset(v)]" Graphics Other R600 [memory Sample] "IL 5.4";
    /// Reads a sample of a multisampled texture.
    Texldms "texldms" [] 96 Texture 1 1 "_stage(n) [_sample(n)] [_centroid(b)] [_mag(m)] [_min(m)] [_aniso(a)] [_lodbias(v)] [_xoffset(v)] [_yoffset(v)] [_zoffset(v)]" Graphics Other R600 [graphics] "IL 5.4";
    /// Weights of a linear filter.
    Texweight "texweight" [] 97 Texture 1 1 "_stage(n)" Graphics Other R600 [graphics] "IL 5.4";
    /// Transposes a matrix held in consecutive registers.
    Transpose "transpose" [] 98 Graphics 1 1 "[_matrix(m)]" Compute Other R600 [vector Transpose] "ALU 3.8";
    /// Rounds toward zero to a whole float.
    Trc "trc" [] 99 Float 1 1 "" Compute PerComponent R600 [float Trunc] "ALU 3.5";
    /// Cosine of w in x, sine in y; the coefficient operands are ignored.
    Dxsincos "dxsincos" [] 100 Float 1 3 "" Compute Other R600 [vector SinCos] "ALU 3.4";
    /// Leaves the innermost loop or switch if no bit is set.
    ///
    /// Looks at position x of the source as an integer: -0.0 counts as set, since its sign bit is.
    BreakLogicalz "break_logicalz" [] 101 Flow 0 1 "" Compute Other R600 [flow] "IL 4.3";
    /// Leaves the innermost loop or switch if any bit is set.
    ///
    /// Looks at position x of the source as an integer: -0.0 counts as set, since its sign bit is.
    BreakLogicalnz "break_logicalnz" [] 102 Flow 0 1 "" Compute Other R600 [flow] "IL 4.3";
    /// Calls a function if no bit is set.
    ///
    /// Position x of the source decides; threads for which it is not 0 do not call.
    CallLogicalz "call_logicalz" [] 103 Flow 0 1 "<label>" Compute Other R600 [flow] "IL 4.5";
    /// Calls a function if any bit is set.
    ///
    /// Position x of the source decides; threads for which it is 0 do not call.
    CallLogicalnz "call_logicalnz" [] 104 Flow 0 1 "<label>" Compute Other R600 [flow] "IL 4.5";
    /// Labels an arm of a switch.
    ///
    /// The label is an integer, also in hex or negative. Arms fall through into the next unless they `break`; several
    /// labels may stand together.
    Case "case" [] 105 Flow 0 0 "<int>" Compute Other R600 [flow] "IL 4.4";
    /// Goes on with the next iteration if no bit is set.
    ///
    /// Position x of the source decides, bit for bit.
    ContinueLogicalz "continue_logicalz" [] 106 Flow 0 1 "" Compute Other R600 [flow] "IL 4.3";
    /// Goes on with the next iteration if any bit is set.
    ///
    /// Position x of the source decides, bit for bit.
    ContinueLogicalnz "continue_logicalnz" [] 107 Flow 0 1 "" Compute Other R600 [flow] "IL 4.3";
    /// Labels the arm of a switch that takes all other values.
    ///
    /// It may stand anywhere among the arms and falls through as any of them.
    Default "default" [] 108 Flow 0 0 "" Compute Other R600 [flow] "IL 4.4";
    /// Ends a switch.
    ///
    /// Threads of all arms go on together from here.
    Endswitch "endswitch" [] 109 Flow 0 0 "" Compute Other R600 [flow] "IL 4.4";
    /// Ends a function.
    ///
    /// A function that gets here without `ret` returns, with a warning.
    Endfunc "endfunc" [] 110 Flow 0 0 "" Compute Other R600 [flow] "IL 4.5";
    /// Runs the branch if no bit is set.
    ///
    /// Position x of the source decides, as an integer: the branch runs where it is 0.
    IfLogicalz "if_logicalz" [] 111 Flow 0 1 "" Compute Other R600 [flow] "IL 4.2";
    /// Runs the branch if any bit is set.
    ///
    /// Position x of the source decides, as an integer: the branch runs where it is not 0. Comparisons such as `ilt`
    /// and `lt` make such values.
    IfLogicalnz "if_logicalnz" [] 112 Flow 0 1 "" Compute Other R600 [flow] "IL 4.2";
    /// Begins an endless loop.
    ///
    /// It ends by `break`, `break_logicalz`, `break_logicalnz`, `breakc`, or by a return. Threads that have left wait
    /// behind `endloop`.
    Whileloop "whileloop" [] 113 Flow 0 0 "" Compute Other R600 [flow] "IL 4.3";
    /// Chooses an arm by an integer.
    ///
    /// Position x of the source is compared as an integer with the label of each `case`.
    Switch "switch" [] 114 Flow 0 1 "" Compute Other R600 [flow] "IL 4.4";
    /// Returns from anywhere; in main, ends the thread.
    ///
    /// The thread is done wherever it stands, inside loops too, if this is main; a function returns.
    RetDyn "ret_dyn" [] 115 Flow 0 0 "" Compute Other R600 [flow] "IL 4.5";
    /// Returns if no bit is set.
    ///
    /// Position x of the source decides, bit for bit.
    RetLogicalz "ret_logicalz" [] 116 Flow 0 1 "" Compute Other R600 [flow] "IL 4.5";
    /// Returns if any bit is set.
    ///
    /// Position x of the source decides, bit for bit.
    RetLogicalnz "ret_logicalnz" [] 117 Flow 0 1 "" Compute Other R600 [flow] "IL 4.5";
    /// Declares a constant buffer.
    ///
    /// `cb2[16]` has sixteen rows of four words. There are 16 buffers, of up to 4096 rows; what the host bound is the
    /// limit of access, not this number.
    DclCb "dcl_cb" [] 118 Decl 0 1 "" Compute Other R600 [declaration] "IL 3.3";
    /// Declares an array of temporaries.
    ///
    /// `x0[8]` has eight elements of four words, private to each thread, which start as 0. All arrays of a kernel
    /// together have up to 65536 elements.
    DclIndexedTempArray "dcl_indexed_temp_array" [] 119 Decl 0 1 "" Compute Other R600 [declaration] "IL 3.5";
    /// Declares something of a graphics stage.
    DclInputPrimitive "dcl_input_primitive" [] 120 Decl 0 0 "<word>" Graphics Other R600 [graphics] "IL 3.9";
    /// Declares a constant of four words.
    ///
    /// Numbers with a point, an exponent or a final `f` are floats, others integers; hexadecimal ones are bits. A
    /// double takes two words, the low one first.
    DclLiteral "dcl_literal" [] 121 Decl 0 1 "<value> <value> <value> <value>" Compute Other R600 [declaration] "IL 3.3";
    /// Declares something of a graphics stage.
    DclMaxOutputVertexCount "dcl_max_output_vertex_count" [] 122 Decl 0 0 "<int>" Graphics Other R600 [graphics] "IL 3.9";
    /// Declares something of a graphics stage.
    DclOdepth "dcl_odepth" [] 123 Decl 0 0 "" Graphics Other R600 [graphics] "IL 3.9";
    /// Declares something of a graphics stage.
    DclOutputTopology "dcl_output_topology" [] 124 Decl 0 0 "<word>" Graphics Other R600 [graphics] "IL 3.9";
    /// Declares an output.
    ///
    /// Pixel kernels write `o0` to `o7`, usually declared by `dcl_output_generic o0`. A mask says which components are
    /// written.
    DclOutput "dcl_output" [] 125 Decl 1 0 "[_usage(u)|_<u>] [_usageIndex(n)]" Compute Other R600 [declaration] "IL 3.2";
    /// Declares an input.
    ///
    /// The position is declared by `dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__`. Other usages are
    /// interpolated inputs, whose corners `calCtxRunProgramParams` gives. Components that are left out of the mask read
    /// as 0.
    DclInput "dcl_input" [] 126 Decl 1 0 "[_usage(u)|_<u>] [_usageIndex(n)] [_interp(m)]" Compute Other R600 [declaration] "IL 3.1";
    /// Declares something of a graphics stage.
    DclVprim "dcl_vprim" [] 127 Decl 0 0 "" Graphics Other R600 [graphics] "IL 3.9";
    /// Declares a readable surface.
    ///
    /// The host binds it by the name `i` with the number. With `unnorm`, coordinates of `sample` count texels. The
    /// format words are the kernel's opinion only: what the bound resource has decides.
    DclResource "dcl_resource" [] 128 Decl 0 0 "_id(n) _type(t[,unnorm]) [_fmtx(f)] [_fmty(f)] [_fmtz(f)] [_fmtw(f)]" Compute Other R600 [declaration] "IL 3.4";
    /// Ends a primitive strip.
    Cut "cut" [] 129 Graphics 0 0 "" Graphics Other R600 [graphics] "IL 4.9";
    /// Kills the pixel thread if no bit is set.
    ///
    /// A thread that is killed writes no output and no memory from here on. Pixel kernels only.
    DiscardLogicalz "discard_logicalz" [] 130 Graphics 0 1 "" Compute Other R600 [flow] "IL 4.7";
    /// Kills the pixel thread if any bit is set.
    ///
    /// A thread that is killed writes no output and no memory from here on. Pixel kernels only.
    DiscardLogicalnz "discard_logicalnz" [] 131 Graphics 0 1 "" Compute Other R600 [flow] "IL 4.7";
    /// Emits a vertex.
    Emit "emit" [] 132 Graphics 0 0 "" Graphics Other R600 [graphics] "IL 4.9";
    /// Emits a vertex and ends the strip.
    EmitThenCut "emit_then_cut" ["emitcut"] 133 Graphics 0 0 "" Graphics Other R600 [graphics] "IL 4.9";
    /// Reads a texel at integer coordinates, without filter.
    Load "load" [] 134 Texture 1 1 "{_resource(n)|_id(n)} [_ext] [_aoffimmi(u,v,w)|_addroffimmi(u,v,w)]" Compute Other R600 [memory Fetch] "IL 5.4";
    /// Size of a resource.
    Resinfo "resinfo" [] 135 Texture 1 1 "{_resource(n)|_id(n)} [_ext] [_uint]" Compute Other R600 [memory ResourceInfo] "IL 5.4";
    /// Reads a texel at float coordinates.
    Sample "sample" [] 136 Texture 1 1 "{_resource(n)|_id(n)} _sampler(m) [_ext] [_coordtype(t)] [_aoffimmi(u,v,w)|_addroffimmi(u,v,w)] [_resourcetype(t)]" Compute Other R600 [memory Sample] "IL 5.4";
    /// As `sample`, with a level bias, which one level ignores.
    SampleB "sample_b" [] 137 Texture 1 2 "{_resource(n)|_id(n)} _sampler(m) [_ext] [_coordtype(t)] [_aoffimmi(u,v,w)|_addroffimmi(u,v,w)] [_resourcetype(t)]" Compute Other R600 [memory Sample] "IL 5.4";
    /// As `sample`, with gradients, which one level ignores.
    SampleG "sample_g" [] 138 Texture 1 3 "{_resource(n)|_id(n)} _sampler(m) [_ext] [_coordtype(t)] [_aoffimmi(u,v,w)|_addroffimmi(u,v,w)] [_resourcetype(t)]" Compute Other R600 [memory Sample] "IL 5.4";
    /// As `sample`, with a level, which is always 0.
    SampleL "sample_l" [] 139 Texture 1 2 "{_resource(n)|_id(n)} _sampler(m) [_ext] [_coordtype(t)] [_aoffimmi(u,v,w)|_addroffimmi(u,v,w)] [_resourcetype(t)]" Compute Other R600 [memory Sample] "IL 5.4";
    /// Samples and compares with a depth.
    SampleC "sample_c" [] 140 Texture 1 2 "{_resource(n)|_id(n)} _sampler(m) [_ext] [_coordtype(t)] [_aoffimmi(u,v,w)|_addroffimmi(u,v,w)] [_resourcetype(t)]" Graphics Other R600 [graphics] "IL 5.4";
    /// Samples and compares with a depth.
    SampleCLz "sample_c_lz" [] 141 Texture 1 2 "{_resource(n)|_id(n)} _sampler(m) [_ext] [_coordtype(t)] [_aoffimmi(u,v,w)|_addroffimmi(u,v,w)] [_resourcetype(t)]" Graphics Other R600 [graphics] "IL 5.4";
    /// Bitwise complement.
    Inot "inot" [] 142 Bit 1 1 "" Compute PerComponent R600 [int Not] "ALU 4";
    /// Bitwise or.
    Ior "ior" [] 143 Bit 1 2 "" Compute PerComponent R600 [int Or] "ALU 4";
    /// Bitwise exclusive or.
    Ixor "ixor" [] 144 Bit 1 2 "" Compute PerComponent R600 [int Xor] "ALU 4";
    /// Sum, wrapping.
    Iadd "iadd" [] 145 Int 1 2 "" Compute PerComponent R600 [int Iadd] "ALU 4";
    /// Low word of the product plus the third source, wrapping.
    Imad "imad" [] 146 Int 1 3 "" Compute PerComponent R600 [int Imad] "ALU 4";
    /// Larger signed integer.
    Imax "imax" [] 147 Int 1 2 "" Compute PerComponent R600 [int Imax] "ALU 4";
    /// Smaller signed integer.
    Imin "imin" [] 148 Int 1 2 "" Compute PerComponent R600 [int Imin] "ALU 4";
    /// Low word of the product.
    Imul "imul" [] 149 Int 1 2 "" Compute PerComponent R600 [int Imul] "ALU 4";
    /// High word of the signed product.
    ImulHigh "imul_high" [] 150 Int 1 2 "" Compute PerComponent R600 [int ImulHigh] "ALU 4";
    /// All ones where equal, else 0.
    Ieq "ieq" [] 151 Compare 1 2 "" Compute PerComponent R600 [int Ieq] "ALU 4";
    /// All ones where greater or equal as signed integers, else 0.
    Ige "ige" [] 152 Compare 1 2 "" Compute PerComponent R600 [int Ige] "ALU 4";
    /// All ones where less as signed integers, else 0.
    Ilt "ilt" [] 153 Compare 1 2 "" Compute PerComponent R600 [int Ilt] "ALU 4";
    /// Two's complement.
    Inegate "inegate" ["ineg"] 154 Int 1 1 "" Compute PerComponent R600 [int Inegate] "ALU 4";
    /// All ones where different, else 0.
    Ine "ine" [] 155 Compare 1 2 "" Compute PerComponent R600 [int Ine] "ALU 4";
    /// Shifts left by the low five bits of the second source.
    Ishl "ishl" [] 156 Bit 1 2 "" Compute PerComponent R600 [int Ishl] "ALU 4";
    /// Arithmetic shift right by the low five bits of the second source.
    Ishr "ishr" [] 157 Bit 1 2 "" Compute PerComponent R600 [int Ishr] "ALU 4";
    /// Logical shift right by the low five bits of the second source.
    Ushr "ushr" [] 158 Bit 1 2 "" Compute PerComponent R600 [int Ushr] "ALU 4";
    /// Unsigned quotient; all ones for a zero divisor.
    Udiv "udiv" [] 159 Uint 1 2 "" Compute PerComponent R600 [int Udiv] "ALU 4";
    /// Unsigned remainder; all ones for a zero divisor.
    Umod "umod" [] 160 Uint 1 2 "" Compute PerComponent R600 [int Umod] "ALU 4";
    /// Low word of the product plus the third source, wrapping.
    Umad "umad" [] 161 Uint 1 3 "" Compute PerComponent R600 [int Imad] "ALU 4";
    /// Larger unsigned integer.
    Umax "umax" [] 162 Uint 1 2 "" Compute PerComponent R600 [int Umax] "ALU 4";
    /// Smaller unsigned integer.
    Umin "umin" [] 163 Uint 1 2 "" Compute PerComponent R600 [int Umin] "ALU 4";
    /// All ones where less as unsigned integers, else 0.
    Ult "ult" [] 164 Compare 1 2 "" Compute PerComponent R600 [int Ult] "ALU 4";
    /// All ones where greater or equal as unsigned integers, else 0.
    Uge "uge" [] 165 Compare 1 2 "" Compute PerComponent R600 [int Uge] "ALU 4";
    /// Low word of the product.
    Umul "umul" [] 166 Uint 1 2 "" Compute PerComponent R600 [int Imul] "ALU 4";
    /// High word of the unsigned product.
    UmulHigh "umul_high" [] 167 Uint 1 2 "" Compute PerComponent R600 [int UmulHigh] "ALU 4";
    /// Truncates to a signed integer, saturating; NaN gives 0.
    Ftoi "ftoi" [] 168 Convert 1 1 "" Compute PerComponent R600 [float Ftoi] "ALU 5";
    /// Truncates to an unsigned integer, saturating; NaN gives 0.
    Ftou "ftou" [] 169 Convert 1 1 "" Compute PerComponent R600 [float Ftou] "ALU 5";
    /// Signed integer to float, rounded to nearest even.
    Itof "itof" [] 170 Convert 1 1 "" Compute PerComponent R600 [int Itof] "ALU 5";
    /// Unsigned integer to float, rounded to nearest even.
    Utof "utof" [] 171 Convert 1 1 "" Compute PerComponent R600 [int Utof] "ALU 5";
    /// Bitwise and.
    Iand "iand" ["and"] 172 Bit 1 2 "" Compute PerComponent R600 [int And] "ALU 4";
    /// Second source where the first has any bit set, else the third, bit for bit.
    CmovLogical "cmov_logical" [] 173 Select 1 3 "" Compute PerComponent R600 [int Select] "ALU 3.9";
    /// All ones where equal as floats, else 0.
    Eq "eq" [] 174 Compare 1 2 "" Compute PerComponent R600 [float Eq] "ALU 3.9";
    /// 2 to the power of the source, per component.
    ExpVec "exp_vec" [] 175 Float 1 1 "" Compute PerComponent R600 [float Exp] "ALU 3.3";
    /// All ones where greater or equal as floats, else 0.
    Ge "ge" [] 176 Compare 1 2 "" Compute PerComponent R600 [float Ge] "ALU 3.9";
    /// Logarithm to base 2, per component; zero gives -infinity.
    LogVec "log_vec" [] 177 Float 1 1 "[_zeroop(z)]" Compute PerComponent R600 [zeroop_infinity Log] "ALU 3.3";
    /// All ones where less as floats, else 0.
    Lt "lt" [] 178 Compare 1 2 "" Compute PerComponent R600 [float Lt] "ALU 3.9";
    /// All ones where different as floats or NaN, else 0.
    Ne "ne" [] 179 Compare 1 2 "" Compute PerComponent R600 [float Ne] "ALU 3.9";
    /// Rounds to a whole float, ties to even.
    RoundNearest "round_nearest" [] 180 Float 1 1 "" Compute PerComponent R600 [float RoundNearest] "ALU 3.5";
    /// Rounds down to a whole float.
    RoundNeginf "round_neginf" [] 181 Float 1 1 "" Compute PerComponent R600 [float Floor] "ALU 3.5";
    /// Rounds up to a whole float.
    RoundPlusinf "round_plusinf" ["round_posinf"] 182 Float 1 1 "" Compute PerComponent R600 [float Ceil] "ALU 3.5";
    /// Rounds toward zero to a whole float.
    RoundZ "round_z" [] 183 Float 1 1 "" Compute PerComponent R600 [float Trunc] "ALU 3.5";
    /// Reciprocal square root, per component; zero gives infinity.
    RsqVec "rsq_vec" [] 184 Float 1 1 "" Compute PerComponent R600 [zeroop_infinity Rsq] "ALU 3.2";
    /// Sine of radians, per component.
    SinVec "sin_vec" [] 185 Float 1 1 "" Compute PerComponent R600 [float Sin] "ALU 3.4";
    /// Cosine of radians, per component.
    CosVec "cos_vec" [] 186 Float 1 1 "" Compute PerComponent R600 [float Cos] "ALU 3.4";
    /// Square root, per component.
    SqrtVec "sqrt_vec" [] 187 Float 1 1 "" Compute PerComponent R600 [float Sqrt] "ALU 3.2";
    /// Dot product of two components, from left to right, each step rounded.
    Dp2 "dp2" [] 188 Float 1 2 "[_ieee]" Compute Reduction R600 [vector Dot2] "ALU 3.8";
    /// Copies bits.
    InvariantMove "invariant_move" ["inv_mov", "invariant_mov"] 189 Float 1 1 "" Compute PerComponent R600 [bits Mov] "ALU 3.1";
    /// Scatters outputs.
    Scatter "scatter" [] 190 Memory 0 0 "" Graphics Other R600 [graphics] "IL 5.12";
    /// Mantissa of a double in zw, exponent in y.
    Dfrexp "dfrexp" [] 191 Double 1 1 "" Compute DoublePair R600 [vector DoubleFrexp] "ALU 7";
    /// Sum of doubles.
    Dadd "dadd" [] 192 Double 1 2 "" Compute DoublePair R600 [double Dadd] "ALU 7";
    /// Product of doubles.
    Dmul "dmul" [] 193 Double 1 2 "" Compute DoublePair R600 [double Dmul] "ALU 7";
    /// Double to float, rounded to nearest even.
    D2f "d2f" [] 194 Convert 1 1 "" Compute Other R600 [double D2f] "ALU 5";
    /// Float to double.
    F2d "f2d" [] 195 Convert 1 1 "" Compute DoublePair R600 [double F2d] "ALU 5";
    /// Double times 2 to an integer power.
    Dldexp "dldexp" [] 196 Double 1 2 "" Compute DoublePair R600 [double Dldexp] "ALU 7";
    /// Fraction of a double.
    Dfrac "dfrac" [] 197 Double 1 1 "" Compute DoublePair R600 [double Dfrac] "ALU 7";
    /// Product of doubles plus the third source, rounded once.
    Dmad "dmad" [] 198 Double 1 3 "" Compute DoublePair R600 [double Dmad] "ALU 7";
    /// One component of the four texels that a linear filter would touch.
    Fetch4 "fetch4" [] 199 Texture 1 1 "{_resource(n)|_id(n)} _sampler(m) [_ext] [_coordtype(t)] [_aoffimmi(u,v,w)|_addroffimmi(u,v,w)] [_resourcetype(t)] [_compselect(c)]" Compute Other R700 [memory Gather] "IL 5.4";
    /// Number of samples of a resource.
    Sampleinfo "sampleinfo" [] 200 Texture 1 1 "{_resource(n)|_id(n)} [_ext] [_uint]" Graphics Other R600 [graphics] "IL 5.4";
    /// Level of detail that a lookup would use.
    Getlod "getlod" [] 201 Texture 1 1 "{_resource(n)|_id(n)} _sampler(m) [_ext] [_coordtype(t)] [_aoffimmi(u,v,w)|_addroffimmi(u,v,w)] [_resourcetype(t)]" Graphics Other R600 [graphics] "IL 5.4";
    /// Declares something of a graphics stage.
    DclPersistent "dcl_persistent" ["dcl_persist"] 202 Decl 0 1 "" Graphics Other R600 [graphics] "IL 3.9";
    /// All ones in both words where different as doubles or NaN, else 0.
    Dne "dne" [] 203 Compare 1 2 "" Compute DoublePair R600 [double Dne] "ALU 7";
    /// All ones in both words where equal as doubles, else 0.
    Deq "deq" [] 204 Compare 1 2 "" Compute DoublePair R600 [double Deq] "ALU 7";
    /// All ones in both words where greater or equal as doubles, else 0.
    Dge "dge" [] 205 Compare 1 2 "" Compute DoublePair R600 [double Dge] "ALU 7";
    /// All ones in both words where less as doubles, else 0.
    Dlt "dlt" [] 206 Compare 1 2 "" Compute DoublePair R600 [double Dlt] "ALU 7";
    /// Position of a sample.
    Samplepos "samplepos" [] 207 Texture 1 1 "{_resource(n)|_id(n)}" Graphics Other R600 [graphics] "IL 5.4";
    /// Quotient of doubles, correctly rounded.
    Ddiv "ddiv" [] 208 Double 1 2 "[_zeroop(z)]" Compute DoublePair R600 [double_zeroop Ddiv] "ALU 7";
    /// Reserves shared registers.
    ///
    /// `sr4`, or `sr[4]`, reserves four registers of up to 128. Each lane of a SIMD engine has one copy for all waves
    /// that run on it.
    DclSharedTemp "dcl_shared_temp" [] 209 Decl 0 1 "" Compute Other R700 [declaration] "IL 3.5";
    /// Zeroes the shared registers at the start of a launch.
    InitSharedRegisters "init_shared_registers" ["init_sr"] 210 Sync 0 0 "" Compute Other R700 [memory InitShared] "IL 3.5";
    /// Declares the exact group size.
    ///
    /// One to three numbers; their product is at most 1024. The launch must ask for the same.
    DclNumThreadPerGroup "dcl_num_thread_per_group" ["dcl_num_thread_per_blk"] 212 Decl 0 0 "<int> [<int>] [<int>]" Compute Other R700 [declaration] "IL 3.6";
    /// States the number of groups; a hint.
    ///
    /// It is told a warning and changes nothing: the launch says how many groups there are.
    DclTotalNumThreadGroup "dcl_total_num_thread_group" [] 213 Decl 0 0 "<int> [<int>] [<int>]" Compute Other R700 [declaration] "IL 3.6";
    /// Declares the LDS dwords that each thread owns.
    ///
    /// Each thread may write that many dwords, its own, by `lds_write_vec`, and read those of all by `lds_read_vec`. A
    /// multiple of 4.
    DclLdsSizePerThread "dcl_lds_size_per_thread" [] 214 Decl 0 0 "<int>" Compute Other R700 [declaration] "IL 3.7";
    /// Says how waves share owned LDS.
    ///
    /// `_wavefrontRel` is the usual one. `_wavefrontAbs` is taken as that, with a warning: LDS does not outlive a
    /// group.
    DclLdsSharingMode "dcl_lds_sharing_mode" [] 215 Decl 0 0 "{_wavefrontRel|_wavefrontAbs}" Compute Other R700 [declaration] "IL 3.7";
    /// Reads four dwords of any thread's LDS area.
    LdsReadVec "lds_read_vec" [] 216 Lds 1 1 "[_neighborExch] [_sharingMode(m)]" Compute Other R700 [memory ReadAny] "IL 5.8";
    /// Writes up to four dwords of the thread's own LDS area.
    LdsWriteVec "lds_write_vec" [] 217 Lds 1 1 "[_lOffset(k)] [_sharingMode(m)]" Compute Other R700 [memory WriteOwn] "IL 5.8";
    /// Orders memory accesses; with `_threads` a barrier of the group.
    Fence "fence" [] 218 Sync 0 0 "[_threads] [_lds] [_memory] [_sr] [_mem_write_only] [_mem_read_only] [_gds]" Compute Other R700 [memory Fence] "IL 5.13";
    /// Loads up to four dwords from LDS.
    LdsLoadVec "lds_load_vec" [] 219 Lds 1 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [load Lds Split] "IL 5.5";
    /// Stores up to four dwords to LDS.
    LdsStoreVec "lds_store_vec" [] 220 Lds 1 3 "{_id(n)|_resource(n)}" Compute Other Evergreen [store Lds Split] "IL 5.5";
    /// Declares a typed view.
    ///
    /// Its elements are converted by the format of what is bound to `uav` with the number, as texels are.
    DclUav "dcl_uav" [] 221 Decl 0 0 "_id(n) _type(t) _fmtx(f)" Compute Other Evergreen [declaration] "IL 3.8";
    /// Declares a byte-addressed view.
    ///
    /// Addresses count bytes; the low two bits are ignored. The host binds it by the name `uav` with the number.
    DclRawUav "dcl_raw_uav" [] 222 Decl 0 0 "_id(n)" Compute Other R700 [declaration] "IL 3.8";
    /// Declares a view of records.
    ///
    /// The stride is the number of bytes of a record, a multiple of 4 from 4 to 2048. Addresses are pairs: record in x,
    /// byte in it in y.
    DclStructUav "dcl_struct_uav" [] 223 Decl 0 0 "_id(n) <stride>" Compute Other Evergreen [declaration] "IL 3.8";
    /// Loads a texel of a typed view.
    UavLoad "uav_load" [] 224 Uav 1 1 "_id(n) [_ext] [_cached|_uncached]" Compute Other Evergreen [load Uav Typed] "IL 5.6";
    /// Loads up to four dwords from a byte address.
    UavRawLoad "uav_raw_load" [] 225 Uav 1 1 "_id(n) [_ext] [_cached|_uncached]" Compute Other R700 [load Uav Vector] "IL 5.6";
    /// Loads up to four dwords of a record.
    UavStructLoad "uav_struct_load" [] 226 Uav 1 1 "_id(n) [_ext] [_cached|_uncached]" Compute Other Evergreen [load Uav Vector] "IL 5.6";
    /// Stores a texel of a typed view.
    UavStore "uav_store" [] 227 Uav 0 2 "_id(n) [_ext]" Compute Other Evergreen [store Uav Typed] "IL 5.6";
    /// Stores up to four dwords at a byte address.
    UavRawStore "uav_raw_store" [] 228 Uav 1 2 "_id(n) [_ext]" Compute Other R700 [store Uav Vector] "IL 5.6";
    /// Stores up to four dwords of a record.
    UavStructStore "uav_struct_store" [] 229 Uav 1 2 "_id(n) [_ext]" Compute Other Evergreen [store Uav Vector] "IL 5.6";
    /// Declares a byte-addressed view with byte and short access.
    ///
    /// As a raw view, and for `uav_arena_load`, `uav_arena_store` and the forms of bytes and shorts. A raw declaration
    /// of the same number is no clash.
    DclArenaUav "dcl_arena_uav" [] 230 Decl 0 0 "_id(n)" Compute Other Evergreen [declaration] "IL 3.8";
    /// Loads a dword, or a byte or short, zero-extended.
    UavArenaLoad "uav_arena_load" [] 231 Uav 1 1 "_id(n) [_ext] _size(dword|short|byte) [_cached|_uncached]" Compute Other Evergreen [load Uav Arena] "IL 5.6";
    /// Stores a dword, short or byte.
    UavArenaStore "uav_arena_store" [] 232 Uav 0 2 "_id(n) [_ext] _size(dword|short|byte)" Compute Other Evergreen [store Uav Arena] "IL 5.6";
    /// Atomically adds in a view.
    UavAdd "uav_add" [] 233 Uav 0 2 "_id(n) [_ext]" Compute Other Evergreen [atomic Uav Add] "IL 5.6";
    /// Atomically subtracts in a view.
    UavSub "uav_sub" [] 234 Uav 0 2 "_id(n) [_ext]" Compute Other Evergreen [atomic Uav Sub] "IL 5.6";
    /// Atomically subtracts the old value from the source in a view.
    UavRsub "uav_rsub" [] 235 Uav 0 2 "_id(n) [_ext]" Compute Other Evergreen [atomic Uav RSub] "IL 5.6";
    /// Atomically keeps the signed minimum in a view.
    UavMin "uav_min" [] 236 Uav 0 2 "_id(n) [_ext]" Compute Other Evergreen [atomic Uav Min] "IL 5.6";
    /// Atomically keeps the signed maximum in a view.
    UavMax "uav_max" [] 237 Uav 0 2 "_id(n) [_ext]" Compute Other Evergreen [atomic Uav Max] "IL 5.6";
    /// Atomically keeps the unsigned minimum in a view.
    UavUmin "uav_umin" [] 238 Uav 0 2 "_id(n) [_ext]" Compute Other Evergreen [atomic Uav UMin] "IL 5.6";
    /// Atomically keeps the unsigned maximum in a view.
    UavUmax "uav_umax" [] 239 Uav 0 2 "_id(n) [_ext]" Compute Other Evergreen [atomic Uav UMax] "IL 5.6";
    /// Atomically ands in a view.
    UavAnd "uav_and" [] 240 Uav 0 2 "_id(n) [_ext]" Compute Other Evergreen [atomic Uav And] "IL 5.6";
    /// Atomically ors in a view.
    UavOr "uav_or" [] 241 Uav 0 2 "_id(n) [_ext]" Compute Other Evergreen [atomic Uav Or] "IL 5.6";
    /// Atomically exclusive-ors in a view.
    UavXor "uav_xor" [] 242 Uav 0 2 "_id(n) [_ext]" Compute Other Evergreen [atomic Uav Xor] "IL 5.6";
    /// Atomically stores if the old value compares equal in a view.
    UavCmp "uav_cmp" [] 243 Uav 0 3 "_id(n) [_ext]" Compute Other Evergreen [atomic Uav CmpXchg] "IL 5.6";
    /// Atomically adds in a view; returns the old value.
    UavReadAdd "uav_read_add" [] 244 Uav 1 2 "_id(n) [_ext]" Compute Other Evergreen [atomic_read Uav Add] "IL 5.6";
    /// Atomically subtracts in a view; returns the old value.
    UavReadSub "uav_read_sub" [] 245 Uav 1 2 "_id(n) [_ext]" Compute Other Evergreen [atomic_read Uav Sub] "IL 5.6";
    /// Atomically subtracts the old value from the source in a view; returns the old value.
    UavReadRsub "uav_read_rsub" [] 246 Uav 1 2 "_id(n) [_ext]" Compute Other Evergreen [atomic_read Uav RSub] "IL 5.6";
    /// Atomically keeps the signed minimum in a view; returns the old value.
    UavReadMin "uav_read_min" [] 247 Uav 1 2 "_id(n) [_ext]" Compute Other Evergreen [atomic_read Uav Min] "IL 5.6";
    /// Atomically keeps the signed maximum in a view; returns the old value.
    UavReadMax "uav_read_max" [] 248 Uav 1 2 "_id(n) [_ext]" Compute Other Evergreen [atomic_read Uav Max] "IL 5.6";
    /// Atomically keeps the unsigned minimum in a view; returns the old value.
    UavReadUmin "uav_read_umin" [] 249 Uav 1 2 "_id(n) [_ext]" Compute Other Evergreen [atomic_read Uav UMin] "IL 5.6";
    /// Atomically keeps the unsigned maximum in a view; returns the old value.
    UavReadUmax "uav_read_umax" [] 250 Uav 1 2 "_id(n) [_ext]" Compute Other Evergreen [atomic_read Uav UMax] "IL 5.6";
    /// Atomically ands in a view; returns the old value.
    UavReadAnd "uav_read_and" [] 251 Uav 1 2 "_id(n) [_ext]" Compute Other Evergreen [atomic_read Uav And] "IL 5.6";
    /// Atomically ors in a view; returns the old value.
    UavReadOr "uav_read_or" [] 252 Uav 1 2 "_id(n) [_ext]" Compute Other Evergreen [atomic_read Uav Or] "IL 5.6";
    /// Atomically exclusive-ors in a view; returns the old value.
    UavReadXor "uav_read_xor" [] 253 Uav 1 2 "_id(n) [_ext]" Compute Other Evergreen [atomic_read Uav Xor] "IL 5.6";
    /// Atomically exchanges in a view; returns the old value.
    UavReadXchg "uav_read_xchg" [] 254 Uav 1 2 "_id(n) [_ext]" Compute Other Evergreen [atomic_read Uav Xchg] "IL 5.6";
    /// Atomically stores if the old value compares equal in a view; returns the old value.
    UavReadCmpXchg "uav_read_cmp_xchg" [] 255 Uav 1 3 "_id(n) [_ext]" Compute Other Evergreen [atomic_read Uav CmpXchg] "IL 5.6";
    /// Takes the next slot of an append buffer.
    AppendBufAlloc "append_buf_alloc" [] 256 Gds 1 0 "_id(n)" Compute Other Evergreen [memory Append] "IL 5.10";
    /// Gives the last slot of an append buffer back.
    AppendBufConsume "append_buf_consume" [] 257 Gds 1 0 "_id(n)" Compute Other Evergreen [memory Consume] "IL 5.10";
    /// Declares a read-only byte-addressed buffer.
    ///
    /// It is bound as a resource is, and read by byte address.
    DclRawSrv "dcl_raw_srv" [] 258 Decl 0 0 "_id(n)" Compute Other Evergreen [declaration] "IL 3.9";
    /// Declares a read-only buffer of records.
    ///
    /// The stride is the number of bytes of a record, a multiple of 4. Addresses are pairs: record in x, byte in it in
    /// y.
    DclStructSrv "dcl_struct_srv" [] 259 Decl 0 0 "_id(n) <stride>" Compute Other Evergreen [declaration] "IL 3.9";
    /// Loads up to four dwords from a read-only buffer.
    SrvRawLoad "srv_raw_load" [] 260 Memory 1 1 "_id(n) [_ext]" Compute Other Evergreen [load Srv Vector] "IL 5.11";
    /// Loads up to four dwords of a read-only record.
    SrvStructLoad "srv_struct_load" [] 261 Memory 1 1 "_id(n) [_ext]" Compute Other Evergreen [load Srv Vector] "IL 5.11";
    /// Declares a block of LDS in bytes.
    ///
    /// All blocks together have up to 65536 bytes, whole dwords. Every group has its own.
    DclLds "dcl_lds" [] 262 Decl 0 0 "_id(n) <bytes>" Compute Other Evergreen [declaration] "IL 3.7";
    /// Declares a block of LDS records.
    ///
    /// Stride in bytes, then the number of records. Addresses are pairs: record in x, byte in it in y.
    DclStructLds "dcl_struct_lds" [] 263 Decl 0 0 "_id(n) <stride> <count>" Compute Other Evergreen [declaration] "IL 3.7";
    /// Loads a dword from LDS.
    LdsLoad "lds_load" [] 264 Lds 1 1 "{_id(n)|_resource(n)}" Compute Other Evergreen [load Lds Dword] "IL 5.5";
    /// Stores a dword to LDS.
    LdsStore "lds_store" [] 265 Lds 0 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [store Lds Dword] "IL 5.5";
    /// Atomically adds in LDS.
    LdsAdd "lds_add" [] 266 Lds 0 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic Lds Add] "IL 5.5";
    /// Atomically subtracts in LDS.
    LdsSub "lds_sub" [] 267 Lds 0 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic Lds Sub] "IL 5.5";
    /// Atomically subtracts the old value from the source in LDS.
    LdsRsub "lds_rsub" [] 268 Lds 0 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic Lds RSub] "IL 5.5";
    /// Atomically keeps the signed minimum in LDS.
    LdsMin "lds_min" [] 269 Lds 0 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic Lds Min] "IL 5.5";
    /// Atomically keeps the signed maximum in LDS.
    LdsMax "lds_max" [] 270 Lds 0 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic Lds Max] "IL 5.5";
    /// Atomically keeps the unsigned minimum in LDS.
    LdsUmin "lds_umin" [] 271 Lds 0 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic Lds UMin] "IL 5.5";
    /// Atomically keeps the unsigned maximum in LDS.
    LdsUmax "lds_umax" [] 272 Lds 0 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic Lds UMax] "IL 5.5";
    /// Atomically ands in LDS.
    LdsAnd "lds_and" [] 273 Lds 0 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic Lds And] "IL 5.5";
    /// Atomically ors in LDS.
    LdsOr "lds_or" [] 274 Lds 0 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic Lds Or] "IL 5.5";
    /// Atomically exclusive-ors in LDS.
    LdsXor "lds_xor" [] 275 Lds 0 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic Lds Xor] "IL 5.5";
    /// Atomically stores if the old value compares equal in LDS.
    LdsCmp "lds_cmp" [] 276 Lds 0 3 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic Lds CmpXchg] "IL 5.5";
    /// Atomically adds in LDS; returns the old value.
    LdsReadAdd "lds_read_add" [] 277 Lds 1 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic_read Lds Add] "IL 5.5";
    /// Atomically subtracts in LDS; returns the old value.
    LdsReadSub "lds_read_sub" [] 278 Lds 1 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic_read Lds Sub] "IL 5.5";
    /// Atomically subtracts the old value from the source in LDS; returns the old value.
    LdsReadRsub "lds_read_rsub" [] 279 Lds 1 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic_read Lds RSub] "IL 5.5";
    /// Atomically keeps the signed minimum in LDS; returns the old value.
    LdsReadMin "lds_read_min" [] 280 Lds 1 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic_read Lds Min] "IL 5.5";
    /// Atomically keeps the signed maximum in LDS; returns the old value.
    LdsReadMax "lds_read_max" [] 281 Lds 1 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic_read Lds Max] "IL 5.5";
    /// Atomically keeps the unsigned minimum in LDS; returns the old value.
    LdsReadUmin "lds_read_umin" [] 282 Lds 1 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic_read Lds UMin] "IL 5.5";
    /// Atomically keeps the unsigned maximum in LDS; returns the old value.
    LdsReadUmax "lds_read_umax" [] 283 Lds 1 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic_read Lds UMax] "IL 5.5";
    /// Atomically ands in LDS; returns the old value.
    LdsReadAnd "lds_read_and" [] 284 Lds 1 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic_read Lds And] "IL 5.5";
    /// Atomically ors in LDS; returns the old value.
    LdsReadOr "lds_read_or" [] 285 Lds 1 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic_read Lds Or] "IL 5.5";
    /// Atomically exclusive-ors in LDS; returns the old value.
    LdsReadXor "lds_read_xor" [] 286 Lds 1 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic_read Lds Xor] "IL 5.5";
    /// Atomically exchanges in LDS; returns the old value.
    LdsReadXchg "lds_read_xchg" [] 287 Lds 1 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic_read Lds Xchg] "IL 5.5";
    /// Atomically stores if the old value compares equal in LDS; returns the old value.
    LdsReadCmpXchg "lds_read_cmp_xchg" [] 288 Lds 1 3 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic_read Lds CmpXchg] "IL 5.5";
    /// Ends a strip of a stream.
    CutStream "cut_stream" [] 289 Graphics 0 0 "_stream(n)" Graphics Other Evergreen [graphics] "IL 4.9";
    /// Emits a vertex to a stream.
    EmitStream "emit_stream" [] 290 Graphics 0 0 "_stream(n)" Graphics Other Evergreen [graphics] "IL 4.9";
    /// Emits a vertex to a stream and ends the strip.
    EmitThenCutStream "emit_then_cut_stream" ["emit_cut_stream"] 291 Graphics 0 0 "_stream(n)" Graphics Other Evergreen [graphics] "IL 4.9";
    /// Samples and compares with a depth.
    SampleCL "sample_c_l" [] 292 Texture 1 3 "{_resource(n)|_id(n)} _sampler(m) [_ext] [_coordtype(t)] [_aoffimmi(u,v,w)|_addroffimmi(u,v,w)] [_resourcetype(t)]" Graphics Other R600 [graphics] "IL 5.4";
    /// Samples and compares with a depth.
    SampleCG "sample_c_g" [] 293 Texture 1 4 "{_resource(n)|_id(n)} _sampler(m) [_ext] [_coordtype(t)] [_aoffimmi(u,v,w)|_addroffimmi(u,v,w)] [_resourcetype(t)]" Graphics Other R600 [graphics] "IL 5.4";
    /// Samples and compares with a depth.
    SampleCB "sample_c_b" [] 294 Texture 1 3 "{_resource(n)|_id(n)} _sampler(m) [_ext] [_coordtype(t)] [_aoffimmi(u,v,w)|_addroffimmi(u,v,w)] [_resourcetype(t)]" Graphics Other R600 [graphics] "IL 5.4";
    /// Number of set bits.
    Icbits "icbits" [] 295 Bit 1 1 "" Compute PerComponent Evergreen [int Icbits] "ALU 4";
    /// Number of zero bits above the highest set bit; all ones for 0.
    FfbHi "ffb_hi" ["ffb(hi)"] 296 Bit 1 1 "" Compute PerComponent Evergreen [int FfbHi] "ALU 4";
    /// Number of the lowest set bit; all ones for 0.
    FfbLo "ffb_lo" ["ffb(lo)"] 296 Bit 1 1 "" Compute PerComponent Evergreen [int FfbLo] "ALU 4";
    /// Position from the top of the first bit that differs from the sign; all ones if none.
    FfbShi "ffb_shi" ["ffb(shi)"] 296 Bit 1 1 "" Compute PerComponent Evergreen [int FfbShi] "ALU 4";
    /// 1 where the unsigned sum overflows, else 0.
    Icarry "icarry" [] 297 Uint 1 2 "" Compute PerComponent Evergreen [int Icarry] "ALU 4";
    /// 1 where the unsigned difference borrows, else 0.
    Iborrow "iborrow" [] 298 Uint 1 2 "" Compute PerComponent Evergreen [int Iborrow] "ALU 4";
    /// Bit field (width, offset, value), sign-extended.
    IbitExtract "ibit_extract" [] 299 Bit 1 3 "" Compute PerComponent Evergreen [int IbitExtract] "ALU 4";
    /// Bit field (width, offset, value), zero-extended.
    UbitExtract "ubit_extract" [] 300 Bit 1 3 "" Compute PerComponent Evergreen [int UbitExtract] "ALU 4";
    /// Bits in reverse order.
    UbitReverse "ubit_reverse" [] 301 Bit 1 1 "" Compute PerComponent Evergreen [int UbitReverse] "ALU 4";
    /// Declares something of a graphics stage.
    DclNumIcp "dcl_num_icp" [] 302 Decl 0 0 "<int>" Graphics Other Evergreen [graphics] "IL 3.9";
    /// Declares something of a graphics stage.
    DclNumOcp "dcl_num_ocp" [] 303 Decl 0 0 "<int>" Graphics Other Evergreen [graphics] "IL 3.9";
    /// Declares something of a graphics stage.
    DclNumInstances "dcl_num_instances" [] 304 Decl 0 0 "<int>" Graphics Other Evergreen [graphics] "IL 3.9";
    /// Begins the control point phase.
    HsCpPhase "hs_cp_phase" [] 305 Flow 0 0 "" Graphics Other Evergreen [graphics] "IL 4.9";
    /// Begins a fork phase.
    HsForkPhase "hs_fork_phase" [] 306 Flow 0 0 "<int>" Graphics Other Evergreen [graphics] "IL 4.9";
    /// Begins a join phase.
    HsJoinPhase "hs_join_phase" [] 307 Flow 0 0 "<int>" Graphics Other Evergreen [graphics] "IL 4.9";
    /// Ends a hull shader phase.
    Endphase "endphase" [] 308 Flow 0 0 "" Graphics Other Evergreen [graphics] "IL 4.9";
    /// Declares something of a graphics stage.
    DclTsDomain "dcl_ts_domain" [] 309 Decl 0 0 "_<word>" Graphics Other Evergreen [graphics] "IL 3.9";
    /// Declares something of a graphics stage.
    DclTsPartition "dcl_ts_partition" [] 310 Decl 0 0 "_<word>" Graphics Other Evergreen [graphics] "IL 3.9";
    /// Declares something of a graphics stage.
    DclTsOutputPrimitive "dcl_ts_output_primitive" [] 311 Decl 0 0 "_<word>" Graphics Other Evergreen [graphics] "IL 3.9";
    /// Declares something of a graphics stage.
    DclMaxTessfactor "dcl_max_tessfactor" [] 312 Decl 0 0 "<int>" Graphics Other Evergreen [graphics] "IL 3.9";
    /// Declares something of a graphics stage.
    DclFunctionBody "dcl_function_body" [] 313 Decl 0 0 "" Graphics Other Evergreen [graphics] "IL 3.9";
    /// Declares something of a graphics stage.
    DclFunctionTable "dcl_function_table" [] 314 Decl 0 0 "" Graphics Other Evergreen [graphics] "IL 3.9";
    /// Declares something of a graphics stage.
    DclInterfacePtr "dcl_interface_ptr" [] 315 Decl 0 0 "" Graphics Other Evergreen [graphics] "IL 3.9";
    /// Calls through an interface.
    Fcall "fcall" [] 316 Flow 0 1 "" Graphics Other Evergreen [graphics] "IL 4.9";
    /// Replaces a bit field (width, offset) of the last source.
    UbitInsert "ubit_insert" [] 317 Bit 1 4 "" Compute PerComponent Evergreen [int UbitInsert] "ALU 4";
    /// Size of a buffer.
    Bufinfo "bufinfo" [] 318 Memory 1 0 "{_resource(n)|_uav(n)|_id(n)} [_ext]" Compute Other Evergreen [memory BufferInfo] "IL 5.4";
    /// Gathers and compares with a depth.
    Fetch4c "fetch4c" ["fetch4_c"] 319 Texture 1 2 "{_resource(n)|_id(n)} _sampler(m) [_ext] [_coordtype(t)] [_aoffimmi(u,v,w)|_addroffimmi(u,v,w)] [_resourcetype(t)] [_compselect(c)]" Graphics Other Evergreen [graphics] "IL 5.4";
    /// As `fetch4`, with a run-time texel offset.
    Fetch4po "fetch4po" ["fetch4_po"] 320 Texture 1 2 "{_resource(n)|_id(n)} _sampler(m) [_ext] [_coordtype(t)] [_aoffimmi(u,v,w)|_addroffimmi(u,v,w)] [_resourcetype(t)] [_compselect(c)]" Compute Other Evergreen [memory GatherOffset] "IL 5.4";
    /// Gathers and compares with a depth.
    Fetch4poc "fetch4poc" ["fetch4_po_c"] 321 Texture 1 3 "{_resource(n)|_id(n)} _sampler(m) [_ext] [_coordtype(t)] [_aoffimmi(u,v,w)|_addroffimmi(u,v,w)] [_resourcetype(t)] [_compselect(c)]" Graphics Other Evergreen [graphics] "IL 5.4";
    /// Larger double; the number if one is NaN.
    Dmax "dmax" [] 322 Double 1 2 "" Compute DoublePair Evergreen [double Dmax] "ALU 7";
    /// Smaller double; the number if one is NaN.
    Dmin "dmin" [] 323 Double 1 2 "" Compute DoublePair Evergreen [double Dmin] "ALU 7";
    /// Float to half, toward zero, in the low 16 bits.
    F2f16 "f2f16" ["f_2_f16"] 324 Convert 1 1 "" Compute PerComponent Evergreen [float F2f16] "ALU 5";
    /// Half in the low 16 bits to float.
    F162f "f162f" ["f16_2_f"] 325 Convert 1 1 "" Compute PerComponent Evergreen [int F162f] "ALU 5";
    /// Byte 0 as a float.
    Unpack0 "unpack0" [] 326 Convert 1 1 "" Compute PerComponent Evergreen [int Unpack0] "ALU 5";
    /// Byte 1 as a float.
    Unpack1 "unpack1" [] 327 Convert 1 1 "" Compute PerComponent Evergreen [int Unpack1] "ALU 5";
    /// Byte 2 as a float.
    Unpack2 "unpack2" [] 328 Convert 1 1 "" Compute PerComponent Evergreen [int Unpack2] "ALU 5";
    /// Byte 3 as a float.
    Unpack3 "unpack3" [] 329 Convert 1 1 "" Compute PerComponent Evergreen [int Unpack3] "ALU 5";
    /// Low word of the pair (first, second) shifted right by bits.
    Bitalign "bitalign" [] 330 Bit 1 3 "" Compute PerComponent Evergreen [int Bitalign] "ALU 4";
    /// Low word of the pair (first, second) shifted right by bytes.
    Bytealign "bytealign" [] 331 Bit 1 3 "" Compute PerComponent Evergreen [int Bytealign] "ALU 4";
    /// Average of four bytes, rounded by the low bits of the third source.
    U4lerp "u4lerp" [] 332 Uint 1 3 "" Compute PerComponent Evergreen [int U4lerp] "ALU 6";
    /// Sum of absolute differences of four bytes plus the third source.
    Sad "sad" [] 333 Uint 1 3 "" Compute PerComponent Evergreen [int Sad] "ALU 6";
    /// Sum of absolute differences of four bytes, shifted to the high half, plus the third source.
    Sadhi "sadhi" ["sad_hi"] 334 Uint 1 3 "" Compute PerComponent Evergreen [int Sadhi] "ALU 6";
    /// Sum of absolute differences of sixteen bytes plus the third source.
    Sad4 "sad4" ["sad_4"] 335 Uint 1 3 "" Compute Reduction Evergreen [vector Sad4] "ALU 6";
    /// Packs four floats into bytes, rounded and saturated.
    F2U4 "f_2_u4" ["f2u4"] 336 Convert 1 1 "" Compute Reduction Evergreen [vector PackBytes] "ALU 5";
    /// Evaluates an input at a snapped position.
    EvalSnapped "eval_snapped" [] 337 Graphics 1 2 "" Graphics PerComponent Evergreen [graphics] "IL 4.9";
    /// Evaluates an input at a sample.
    EvalSampleIndex "eval_sample_index" [] 338 Graphics 1 2 "" Graphics PerComponent Evergreen [graphics] "IL 4.9";
    /// Evaluates an input at the centroid.
    EvalCentroid "eval_centroid" [] 339 Graphics 1 1 "" Graphics PerComponent Evergreen [graphics] "IL 4.9";
    /// Copies a pair.
    Dmov "dmov" [] 340 Double 1 1 "" Compute DoublePair Evergreen [vector PairMove] "ALU 7";
    /// Second pair where the first source has any bit set, else the third.
    Dmovc "dmovc" [] 341 Select 1 3 "[_relop(op)]" Compute DoublePair Evergreen [vector PairSelect] "ALU 7";
    /// Square root of a double, correctly rounded.
    Dsqrt "dsqrt" [] 342 Double 1 1 "" Compute DoublePair Evergreen [double Dsqrt] "ALU 7";
    /// Reciprocal of a double, correctly rounded.
    Drcp "drcp" [] 343 Double 1 1 "[_zeroop(z)]" Compute DoublePair Evergreen [double_zeroop Drcp] "ALU 7";
    /// Reciprocal square root of a double.
    Drsq "drsq" [] 344 Double 1 1 "[_zeroop(z)]" Compute DoublePair Evergreen [double_zeroop Drsq] "ALU 7";
    /// Begins a macro.
    ///
    /// Macros stand before the header or behind main. `in#` are the sources of the call, `out#` its destinations.
    /// Literals, `r#` and `x#` that the body names are its own. Macros do not recurse.
    Mdef "mdef" [] 345 Flow 0 0 "(id) _out(n) _in(m) [_outline]" Compute Other R600 [flow] "IL 4.8";
    /// Ends a macro.
    ///
    /// Expansion goes on behind the `mcall`.
    Mend "mend" [] 346 Flow 0 0 "" Compute Other R600 [flow] "IL 4.8";
    /// Expands a macro.
    ///
    /// Destinations and sources stand in two lists in parentheses: `mcall(7)(r3.xy__), (l0.z, r0)`.
    Mcall "mcall" [] 347 Flow 0 0 "(id)" Compute Other R600 [flow] "IL 4.8";
    /// Declares something of a graphics stage.
    DclStream "dcl_stream" [] 348 Decl 0 0 "" Graphics Other Evergreen [graphics] "IL 3.9";
    /// Sets compiler flags; no effect is required.
    ///
    /// Flags are joined by bars, for example `refactoringAllowed|enableDoublePrecisionFloatOps`. Arithmetic is never
    /// reassociated, whatever they say.
    DclGlobalFlags "dcl_global_flags" [] 349 Decl 0 0 "<flags>" Compute Other Evergreen [declaration] "IL 3.9";
    /// Reciprocal, per component.
    RcpVec "rcp_vec" [] 350 Float 1 1 "[_zeroop(z)]" Compute PerComponent Evergreen [zeroop Rcp] "ALU 3.2";
    /// Loads an interface pointer.
    LoadFptr "load_fptr" [] 351 Misc 1 1 "" Graphics Other Evergreen [graphics] "IL 4.9";
    /// Declares an upper bound of the group size.
    ///
    /// The launch chooses the size, up to this number of threads in all.
    DclMaxThreadPerGroup "dcl_max_thread_per_group" [] 352 Decl 0 0 "<int>" Compute Other Evergreen [declaration] "IL 3.6";
    /// Declares a block of GDS in bytes.
    ///
    /// GDS is one memory for all groups of a launch.
    DclGds "dcl_gds" [] 354 Decl 0 0 "_id(n) <bytes>" Compute Other Evergreen [declaration] "IL 3.7";
    /// Declares a block of GDS records.
    ///
    /// Stride in bytes, then the number of records.
    DclStructGds "dcl_struct_gds" [] 355 Decl 0 0 "_id(n) <stride> <count>" Compute Other Evergreen [declaration] "IL 3.7";
    /// Loads a dword from GDS.
    GdsLoad "gds_load" [] 356 Gds 1 1 "_id(n)" Compute Other Evergreen [load Gds Dword] "IL 5.9";
    /// Stores a dword to GDS.
    GdsStore "gds_store" [] 357 Gds 0 2 "_id(n)" Compute Other Evergreen [store Gds Dword] "IL 5.9";
    /// Atomically adds in GDS.
    GdsAdd "gds_add" [] 358 Gds 0 2 "_id(n)" Compute Other Evergreen [atomic Gds Add] "IL 5.9";
    /// Atomically subtracts in GDS.
    GdsSub "gds_sub" [] 359 Gds 0 2 "_id(n)" Compute Other Evergreen [atomic Gds Sub] "IL 5.9";
    /// Atomically subtracts the old value from the source in GDS.
    GdsRsub "gds_rsub" [] 360 Gds 0 2 "_id(n)" Compute Other Evergreen [atomic Gds RSub] "IL 5.9";
    /// Atomically increments, wrapping to 0 at the source in GDS.
    GdsInc "gds_inc" [] 361 Gds 0 2 "_id(n)" Compute Other Evergreen [atomic Gds Inc] "IL 5.9";
    /// Atomically decrements, wrapping to the source in GDS.
    GdsDec "gds_dec" [] 362 Gds 0 2 "_id(n)" Compute Other Evergreen [atomic Gds Dec] "IL 5.9";
    /// Atomically keeps the signed minimum in GDS.
    GdsMin "gds_min" [] 363 Gds 0 2 "_id(n)" Compute Other Evergreen [atomic Gds Min] "IL 5.9";
    /// Atomically keeps the signed maximum in GDS.
    GdsMax "gds_max" [] 364 Gds 0 2 "_id(n)" Compute Other Evergreen [atomic Gds Max] "IL 5.9";
    /// Atomically keeps the unsigned minimum in GDS.
    GdsUmin "gds_umin" [] 365 Gds 0 2 "_id(n)" Compute Other Evergreen [atomic Gds UMin] "IL 5.9";
    /// Atomically keeps the unsigned maximum in GDS.
    GdsUmax "gds_umax" [] 366 Gds 0 2 "_id(n)" Compute Other Evergreen [atomic Gds UMax] "IL 5.9";
    /// Atomically ands in GDS.
    GdsAnd "gds_and" [] 367 Gds 0 2 "_id(n)" Compute Other Evergreen [atomic Gds And] "IL 5.9";
    /// Atomically ors in GDS.
    GdsOr "gds_or" [] 368 Gds 0 2 "_id(n)" Compute Other Evergreen [atomic Gds Or] "IL 5.9";
    /// Atomically exclusive-ors in GDS.
    GdsXor "gds_xor" [] 369 Gds 0 2 "_id(n)" Compute Other Evergreen [atomic Gds Xor] "IL 5.9";
    /// Atomically clears the bits of a mask and ors a value in GDS.
    GdsMskor "gds_mskor" [] 370 Gds 0 3 "_id(n)" Compute Other Evergreen [atomic Gds MskOr] "IL 5.9";
    /// Atomically stores if the old value compares equal in GDS.
    GdsCmpStore "gds_cmp_store" [] 371 Gds 0 3 "_id(n)" Compute Other Evergreen [atomic Gds CmpXchg] "IL 5.9";
    /// Atomically adds in GDS; returns the old value.
    GdsReadAdd "gds_read_add" [] 372 Gds 1 2 "_id(n)" Compute Other Evergreen [atomic_read Gds Add] "IL 5.9";
    /// Atomically subtracts in GDS; returns the old value.
    GdsReadSub "gds_read_sub" [] 373 Gds 1 2 "_id(n)" Compute Other Evergreen [atomic_read Gds Sub] "IL 5.9";
    /// Atomically subtracts the old value from the source in GDS; returns the old value.
    GdsReadRsub "gds_read_rsub" [] 374 Gds 1 2 "_id(n)" Compute Other Evergreen [atomic_read Gds RSub] "IL 5.9";
    /// Atomically increments, wrapping to 0 at the source in GDS; returns the old value.
    GdsReadInc "gds_read_inc" [] 375 Gds 1 2 "_id(n)" Compute Other Evergreen [atomic_read Gds Inc] "IL 5.9";
    /// Atomically decrements, wrapping to the source in GDS; returns the old value.
    GdsReadDec "gds_read_dec" [] 376 Gds 1 2 "_id(n)" Compute Other Evergreen [atomic_read Gds Dec] "IL 5.9";
    /// Atomically keeps the signed minimum in GDS; returns the old value.
    GdsReadMin "gds_read_min" [] 377 Gds 1 2 "_id(n)" Compute Other Evergreen [atomic_read Gds Min] "IL 5.9";
    /// Atomically keeps the signed maximum in GDS; returns the old value.
    GdsReadMax "gds_read_max" [] 378 Gds 1 2 "_id(n)" Compute Other Evergreen [atomic_read Gds Max] "IL 5.9";
    /// Atomically keeps the unsigned minimum in GDS; returns the old value.
    GdsReadUmin "gds_read_umin" [] 379 Gds 1 2 "_id(n)" Compute Other Evergreen [atomic_read Gds UMin] "IL 5.9";
    /// Atomically keeps the unsigned maximum in GDS; returns the old value.
    GdsReadUmax "gds_read_umax" [] 380 Gds 1 2 "_id(n)" Compute Other Evergreen [atomic_read Gds UMax] "IL 5.9";
    /// Atomically ands in GDS; returns the old value.
    GdsReadAnd "gds_read_and" [] 381 Gds 1 2 "_id(n)" Compute Other Evergreen [atomic_read Gds And] "IL 5.9";
    /// Atomically ors in GDS; returns the old value.
    GdsReadOr "gds_read_or" [] 382 Gds 1 2 "_id(n)" Compute Other Evergreen [atomic_read Gds Or] "IL 5.9";
    /// Atomically exclusive-ors in GDS; returns the old value.
    GdsReadXor "gds_read_xor" [] 383 Gds 1 2 "_id(n)" Compute Other Evergreen [atomic_read Gds Xor] "IL 5.9";
    /// Atomically clears the bits of a mask and ors a value in GDS; returns the old value.
    GdsReadMskor "gds_read_mskor" [] 384 Gds 1 3 "_id(n)" Compute Other Evergreen [atomic_read Gds MskOr] "IL 5.9";
    /// Atomically exchanges in GDS; returns the old value.
    GdsReadXchg "gds_read_xchg" [] 385 Gds 1 2 "_id(n)" Compute Other Evergreen [atomic_read Gds Xchg] "IL 5.9";
    /// Atomically stores if the old value compares equal in GDS; returns the old value.
    GdsReadCmpXchg "gds_read_cmp_xchg" [] 386 Gds 1 3 "_id(n)" Compute Other Evergreen [atomic_read Gds CmpXchg] "IL 5.9";
    /// 24-bit unsigned product plus the third source.
    Umad24 "umad24" [] 387 Uint 1 3 "" Compute PerComponent Evergreen [int Umad24] "ALU 4";
    /// Low word of the 24-bit unsigned product.
    Umul24 "umul24" [] 388 Uint 1 2 "" Compute PerComponent Evergreen [int Umul24] "ALU 4";
    /// Product plus the third source, rounded once.
    Fma "fma" [] 389 Float 1 3 "" Compute PerComponent Evergreen [float Fma] "ALU 3.1";
    /// Atomically increments, wrapping to 0 at the source in a view.
    UavUinc "uav_uinc" [] 390 Uav 0 2 "_id(n) [_ext]" Compute Other Evergreen [atomic Uav Inc] "IL 5.6";
    /// Atomically decrements, wrapping to the source in a view.
    UavUdec "uav_udec" [] 391 Uav 0 2 "_id(n) [_ext]" Compute Other Evergreen [atomic Uav Dec] "IL 5.6";
    /// 24-bit signed product plus the third source.
    Imad24 "imad24" [] 392 Int 1 3 "" Compute PerComponent Evergreen [int Imad24] "ALU 4";
    /// Low word of the 24-bit signed product.
    Imul24 "imul24" [] 393 Int 1 2 "" Compute PerComponent Evergreen [int Imul24] "ALU 4";
    /// Atomically increments, wrapping to 0 at the source in a view; returns the old value.
    UavReadUinc "uav_read_uinc" [] 394 Uav 1 2 "_id(n) [_ext]" Compute Other Evergreen [atomic_read Uav Inc] "IL 5.6";
    /// Atomically decrements, wrapping to the source in a view; returns the old value.
    UavReadUdec "uav_read_udec" [] 395 Uav 1 2 "_id(n) [_ext]" Compute Other Evergreen [atomic_read Uav Dec] "IL 5.6";
    /// Loads a byte from LDS, sign-extended.
    LdsLoadByte "lds_load_byte" [] 396 Lds 1 1 "{_id(n)|_resource(n)}" Compute Other Evergreen [load Lds I8] "IL 5.5";
    /// Loads two bytes from LDS, sign-extended.
    LdsLoadShort "lds_load_short" [] 397 Lds 1 1 "{_id(n)|_resource(n)}" Compute Other Evergreen [load Lds I16] "IL 5.5";
    /// Loads a byte from LDS, zero-extended.
    LdsLoadUbyte "lds_load_ubyte" [] 398 Lds 1 1 "{_id(n)|_resource(n)}" Compute Other Evergreen [load Lds U8] "IL 5.5";
    /// Loads two bytes from LDS, zero-extended.
    LdsLoadUshort "lds_load_ushort" [] 399 Lds 1 1 "{_id(n)|_resource(n)}" Compute Other Evergreen [load Lds U16] "IL 5.5";
    /// Stores a byte to LDS.
    LdsStoreByte "lds_store_byte" [] 400 Lds 0 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [store Lds U8] "IL 5.5";
    /// Stores two bytes to LDS.
    LdsStoreShort "lds_store_short" [] 401 Lds 0 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [store Lds U16] "IL 5.5";
    /// Loads a byte, sign-extended.
    UavByteLoad "uav_byte_load" [] 402 Uav 1 1 "_id(n) [_ext] [_cached|_uncached]" Compute Other Evergreen [load Uav I8] "IL 5.6";
    /// Loads two bytes, sign-extended.
    UavShortLoad "uav_short_load" [] 403 Uav 1 1 "_id(n) [_ext] [_cached|_uncached]" Compute Other Evergreen [load Uav I16] "IL 5.6";
    /// Loads a byte, zero-extended.
    UavUbyteLoad "uav_ubyte_load" [] 404 Uav 1 1 "_id(n) [_ext] [_cached|_uncached]" Compute Other Evergreen [load Uav U8] "IL 5.6";
    /// Loads two bytes, zero-extended.
    UavUshortLoad "uav_ushort_load" [] 405 Uav 1 1 "_id(n) [_ext] [_cached|_uncached]" Compute Other Evergreen [load Uav U16] "IL 5.6";
    /// Stores a byte.
    UavByteStore "uav_byte_store" [] 406 Uav 0 2 "_id(n) [_ext]" Compute Other Evergreen [store Uav U8] "IL 5.6";
    /// Stores two bytes.
    UavShortStore "uav_short_store" [] 407 Uav 0 2 "_id(n) [_ext]" Compute Other Evergreen [store Uav U16] "IL 5.6";
    /// Sum of 64-bit integers, wrapping.
    I64add "i64add" [] 408 Int64 1 2 "" Compute DoublePair Evergreen [quad I64add] "ALU 7";
    /// All ones in both words where equal as 64-bit integers, else 0.
    I64eq "i64eq" [] 409 Int64 1 2 "" Compute DoublePair Evergreen [quad I64eq] "ALU 7";
    /// All ones in both words where greater or equal as signed 64-bit integers, else 0.
    I64ge "i64ge" [] 410 Int64 1 2 "" Compute DoublePair Evergreen [quad I64ge] "ALU 7";
    /// All ones in both words where less as signed 64-bit integers, else 0.
    I64lt "i64lt" [] 411 Int64 1 2 "" Compute DoublePair Evergreen [quad I64lt] "ALU 7";
    /// Larger signed 64-bit integer.
    I64max "i64max" [] 412 Int64 1 2 "" Compute DoublePair Evergreen [quad I64max] "ALU 7";
    /// Smaller signed 64-bit integer.
    I64min "i64min" [] 413 Int64 1 2 "" Compute DoublePair Evergreen [quad I64min] "ALU 7";
    /// All ones in both words where different as 64-bit integers, else 0.
    I64ne "i64ne" [] 414 Int64 1 2 "" Compute DoublePair Evergreen [quad I64ne] "ALU 7";
    /// Two's complement of a 64-bit integer.
    I64negate "i64negate" [] 415 Int64 1 1 "" Compute DoublePair Evergreen [quad I64negate] "ALU 7";
    /// Shifts a 64-bit integer left by the low six bits of the second source.
    I64shl "i64shl" [] 416 Int64 1 2 "" Compute DoublePair Evergreen [quad I64shl] "ALU 7";
    /// Arithmetic shift right of a 64-bit integer.
    I64shr "i64shr" [] 417 Int64 1 2 "" Compute DoublePair Evergreen [quad I64shr] "ALU 7";
    /// All ones in both words where greater or equal as unsigned 64-bit integers, else 0.
    U64ge "u64ge" [] 418 Int64 1 2 "" Compute DoublePair Evergreen [quad U64ge] "ALU 7";
    /// All ones in both words where less as unsigned 64-bit integers, else 0.
    U64lt "u64lt" [] 419 Int64 1 2 "" Compute DoublePair Evergreen [quad U64lt] "ALU 7";
    /// Larger unsigned 64-bit integer.
    U64max "u64max" [] 420 Int64 1 2 "" Compute DoublePair Evergreen [quad U64max] "ALU 7";
    /// Smaller unsigned 64-bit integer.
    U64min "u64min" [] 421 Int64 1 2 "" Compute DoublePair Evergreen [quad U64min] "ALU 7";
    /// Logical shift right of a 64-bit integer.
    U64shr "u64shr" [] 422 Int64 1 2 "" Compute DoublePair Evergreen [quad U64shr] "ALU 7";
    /// Declares a typed view.
    ///
    /// A later spelling of `dcl_uav`.
    DclTypedUav "dcl_typed_uav" [] 423 Decl 0 0 "_id(n) _type(t) _fmtx(f)" Compute Other Evergreen [declaration] "IL 3.8";
    /// Declares a view by stride and length.
    ///
    /// A raw view, or one of records if the stride is above 4. With `_access(private)` it is refused: that is scratch
    /// memory of later chips.
    DclTypelessUav "dcl_typeless_uav" [] 424 Decl 0 0 "_id(n) [_stride(s)] [_length(b)] [_access(a)]" Compute Other Evergreen [declaration] "IL 3.8";
    /// High word of the 24-bit signed product.
    Imul24High "imul24_high" [] 425 Int 1 2 "" Compute PerComponent Evergreen [int Imul24High] "ALU 4";
    /// High word of the 24-bit unsigned product.
    Umul24High "umul24_high" [] 426 Uint 1 2 "" Compute PerComponent Evergreen [int Umul24High] "ALU 4";
    /// Atomically increments, wrapping to 0 at the source in LDS.
    LdsInc "lds_inc" [] 427 Lds 0 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic Lds Inc] "IL 5.5";
    /// Atomically decrements, wrapping to the source in LDS.
    LdsDec "lds_dec" [] 428 Lds 0 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic Lds Dec] "IL 5.5";
    /// Atomically increments, wrapping to 0 at the source in LDS; returns the old value.
    LdsReadInc "lds_read_inc" [] 429 Lds 1 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic_read Lds Inc] "IL 5.5";
    /// Atomically decrements, wrapping to the source in LDS; returns the old value.
    LdsReadDec "lds_read_dec" [] 430 Lds 1 2 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic_read Lds Dec] "IL 5.5";
    /// Atomically clears the bits of a mask and ors a value in LDS.
    LdsMskor "lds_mskor" [] 431 Lds 0 3 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic Lds MskOr] "IL 5.5";
    /// Atomically clears the bits of a mask and ors a value in LDS; returns the old value.
    LdsReadMskor "lds_read_mskor" [] 432 Lds 1 3 "{_id(n)|_resource(n)}" Compute Other Evergreen [atomic_read Lds MskOr] "IL 5.5";
    /// Float to half, to nearest even.
    F2f16Near "f2f16_near" ["f_2_f16_near"] 433 Convert 1 1 "" Compute PerComponent Evergreen [float F2f16Near] "ALU 5";
    /// Float to half, rounded down.
    F2f16NegInf "f2f16_neg_inf" ["f_2_f16_neg_inf"] 434 Convert 1 1 "" Compute PerComponent Evergreen [float F2f16NegInf] "ALU 5";
    /// Float to half, rounded up.
    F2f16PlusInf "f2f16_plus_inf" ["f_2_f16_plus_inf"] 435 Convert 1 1 "" Compute PerComponent Evergreen [float F2f16PlusInf] "ALU 5";
    /// Low 64 bits of the product.
    I64mul "i64mul" [] 436 Int64 1 2 "" Compute DoublePair Evergreen [quad I64mul] "ALU 7";
    /// Low 64 bits of the product.
    U64mul "u64mul" [] 437 Int64 1 2 "" Compute DoublePair Evergreen [quad I64mul] "ALU 7";
    /// Float times 2 to an integer power.
    Ldexp "fldexp" ["ldexp"] 438 Float 1 2 "" Compute PerComponent NorthernIslands [float Ldexp] "ALU 7";
    /// Exponent of a float as an integer, mantissa in [0.5, 1).
    FrexpExp "frexp_exp" [] 439 Float 1 1 "" Compute PerComponent NorthernIslands [float FrexpExp] "ALU 7";
    /// Mantissa of a float in [0.5, 1).
    FrexpMant "frexp_mant" [] 440 Float 1 1 "" Compute PerComponent NorthernIslands [float FrexpMant] "ALU 7";
    /// Exponent of a double as an integer, mantissa in [0.5, 1).
    DfrexpExp "dfrexp_exp" [] 441 Double 1 1 "" Compute Other NorthernIslands [double DfrexpExp] "ALU 7";
    /// Mantissa of a double in [0.5, 1).
    DfrexpMant "dfrexp_mant" [] 442 Double 1 1 "" Compute DoublePair NorthernIslands [double DfrexpMant] "ALU 7";
    /// Truncates a double to a signed integer, saturating.
    Dtoi "dtoi" [] 443 Convert 1 1 "" Compute Other NorthernIslands [double Dtoi] "ALU 5";
    /// Truncates a double to an unsigned integer, saturating.
    Dtou "dtou" [] 444 Convert 1 1 "" Compute Other NorthernIslands [double Dtou] "ALU 5";
    /// Signed integer to double, exact.
    Itod "itod" [] 445 Convert 1 1 "" Compute DoublePair NorthernIslands [double Itod] "ALU 5";
    /// Unsigned integer to double, exact.
    Utod "utod" [] 446 Convert 1 1 "" Compute DoublePair NorthernIslands [double Utod] "ALU 5";
    /// Adds one half, rounds down, converts to a signed integer.
    FtoiRpi "ftoi_rpi" [] 447 Convert 1 1 "" Compute PerComponent Evergreen [float FtoiRpi] "ALU 5";
    /// Rounds down, converts to a signed integer.
    FtoiFlr "ftoi_flr" [] 448 Convert 1 1 "" Compute PerComponent Evergreen [float FtoiFlr] "ALU 5";
    /// Smallest of three floats.
    Min3 "min3" [] 449 Float 1 3 "" Compute PerComponent NorthernIslands [float Min3] "ALU 4";
    /// Median of three floats.
    Med3 "med3" [] 450 Float 1 3 "" Compute PerComponent NorthernIslands [float Med3] "ALU 4";
    /// Largest of three floats.
    Max3 "max3" [] 451 Float 1 3 "" Compute PerComponent NorthernIslands [float Max3] "ALU 4";
    /// Smallest of three signed integers.
    Imin3 "imin3" [] 452 Int 1 3 "" Compute PerComponent NorthernIslands [int Imin3] "ALU 4";
    /// Median of three signed integers.
    Imed3 "imed3" [] 453 Int 1 3 "" Compute PerComponent NorthernIslands [int Imed3] "ALU 4";
    /// Largest of three signed integers.
    Imax3 "imax3" [] 454 Int 1 3 "" Compute PerComponent NorthernIslands [int Imax3] "ALU 4";
    /// Smallest of three unsigned integers.
    Umin3 "umin3" [] 455 Uint 1 3 "" Compute PerComponent NorthernIslands [int Umin3] "ALU 4";
    /// Median of three unsigned integers.
    Umed3 "umed3" [] 456 Uint 1 3 "" Compute PerComponent NorthernIslands [int Umed3] "ALU 4";
    /// Largest of three unsigned integers.
    Umax3 "umax3" [] 457 Uint 1 3 "" Compute PerComponent NorthernIslands [int Umax3] "ALU 4";
    /// All ones where the float is in one of the classes that the second source's bits name.
    Class "class" [] 458 Compare 1 2 "" Compute PerComponent NorthernIslands [bits Class] "ALU 7";
    /// All ones where the double is in one of the classes that the second source's bits name.
    Dclass "dclass" [] 459 Compare 1 2 "" Compute DoublePair NorthernIslands [double Dclass] "ALU 7";
    /// Residency of the last lookup.
    SampleReturnCode "sample_return_code" [] 460 Texture 1 0 "" Graphics Other NorthernIslands [graphics] "IL 5.4";
    /// Number of the compute unit that runs the thread.
    CuId "cu_id" [] 461 Misc 1 0 "" Compute Other NorthernIslands [compute_unit] "IL 4.9";
    /// Number of the wave slot that runs the thread.
    WaveId "wave_id" [] 462 Misc 1 0 "" Compute Other NorthernIslands [wave_slot] "IL 4.9";
    /// Difference of 64-bit integers, wrapping.
    I64sub "i64sub" [] 463 Int64 1 2 "" Compute DoublePair Evergreen [quad I64sub] "ALU 7";
    /// Signed quotient; all ones for a zero divisor.
    I64div "i64div" [] 464 Int64 1 2 "" Compute DoublePair Evergreen [quad I64div] "ALU 7";
    /// Unsigned quotient; all ones for a zero divisor.
    U64div "u64div" [] 465 Int64 1 2 "" Compute DoublePair Evergreen [quad U64div] "ALU 7";
    /// Signed remainder; all ones for a zero divisor.
    I64mod "i64mod" [] 466 Int64 1 2 "" Compute DoublePair Evergreen [quad I64mod] "ALU 7";
    /// Unsigned remainder; all ones for a zero divisor.
    U64mod "u64mod" [] 467 Int64 1 2 "" Compute DoublePair Evergreen [quad U64mod] "ALU 7";
    /// States the threads that take part in global wave sync.
    ///
    /// It is told a warning and does nothing.
    DclGwsThreadCount "dcl_gws_thread_count" [] 468 Decl 0 0 "<int>" Compute Other Evergreen [declaration] "IL 3.6";
    /// Declares a semaphore of global wave sync.
    ///
    /// Refused, as the instructions are: waiting for other groups needs their progress, which no device here promises.
    DclSemaphore "dcl_semaphore" [] 469 Decl 0 0 "_id(n)" Compute Other Evergreen [declaration] "IL 3.9";
    /// Sets the count of a semaphore.
    InitSemaphore "init_semaphore" ["semaphore_init"] 470 Sync 0 1 "_id(n)" Compute Other Evergreen [refused "semaphores need global wave sync, which no CAL device has"] "IL 5.13";
    /// Increments a semaphore.
    SemaphoreSignal "semaphore_signal" [] 471 Sync 0 0 "_id(n)" Compute Other Evergreen [refused "semaphores need global wave sync, which no CAL device has"] "IL 5.13";
    /// Waits for a semaphore and decrements it.
    SemaphoreWait "semaphore_wait" [] 472 Sync 0 0 "_id(n)" Compute Other Evergreen [refused "semaphores need global wave sync, which no CAL device has"] "IL 5.13";
    /// Scales an operand of a division so that its steps neither overflow nor underflow.
    DivScale "div_scale" ["fdiv_scale"] 473 Float 1 3 "" Compute Other NorthernIslands [vector DivScale] "ALU 7";
    /// Fused multiply-add step of a division.
    DivFmas "div_fmas" ["fdiv_fmas"] 474 Float 1 3 "" Compute Other NorthernIslands [vector DivFmas] "ALU 7";
    /// Gives the special values of a division their results.
    DivFixup "div_fixup" ["fdiv_fixup"] 475 Float 1 3 "" Compute Other NorthernIslands [float DivFixup] "ALU 7";
    /// Scales an operand of a double division.
    DdivScale "ddiv_scale" [] 476 Double 1 3 "" Compute DoublePair NorthernIslands [vector DoubleDivScale] "ALU 7";
    /// Fused multiply-add step of a double division.
    DdivFmas "ddiv_fmas" [] 477 Double 1 3 "" Compute DoublePair NorthernIslands [vector DoubleDivFmas] "ALU 7";
    /// Gives the special values of a double division their results.
    DdivFixup "ddiv_fixup" [] 478 Double 1 3 "" Compute DoublePair NorthernIslands [double DdivFixup] "ALU 7";
    /// Segment of 2/pi for the range reduction of a double.
    DtrigPreop "dtrig_preop" [] 479 Double 1 2 "" Compute DoublePair NorthernIslands [double DtrigPreop] "ALU 7";
    /// Sum of absolute differences of the bytes whose reference byte is not zero.
    MsadU8 "msad_u8" ["msad"] 480 Uint 1 3 "" Compute Other NorthernIslands [int MsadU8] "ALU 6";
    /// Four sums of absolute differences over a sliding window.
    QsadU8 "qsad_u8" ["qsad"] 481 Uint 1 3 "" Compute Other NorthernIslands [quad QsadU8] "ALU 6";
    /// Four masked sums of absolute differences over a sliding window.
    MqsadU8 "mqsad_u8" ["mqsad"] 482 Uint 1 3 "" Compute Other NorthernIslands [quad MqsadU8] "ALU 6";
    /// Bits of the second source where the first has ones, else of the third.
    Bfi "bfi" [] _ Bit 1 3 "" Compute PerComponent Evergreen [int Bfi] "ALU 4";
    /// Mask of (width, offset).
    Bfm "bfm" [] _ Bit 1 2 "" Compute PerComponent Evergreen [int Bfm] "ALU 4";
    /// Difference, wrapping.
    Isub "isub" [] _ Int 1 2 "" Compute PerComponent R600 [int Isub] "ALU 4";
    /// Tangent of radians, per component.
    TanVec "tan_vec" [] _ Float 1 1 "" Compute PerComponent R600 [float Tan] "ALU 3.4";
    /// States the wave size; a hint.
    ///
    /// It is told a warning and does nothing: waves have 64 threads.
    DclWavesize "dcl_wavesize" [] _ Decl 0 0 "<int>" Compute Other NorthernIslands [declaration] "IL 3.6";
    /// Loads a pair of words from group memory, aligned to 8 bytes.
    LdsLoad64 "lds_load64" [] _ Lds 1 1 "{_id(n)|_resource(n)}" Compute DoublePair NorthernIslands [load Lds Wide] "IL 5.5";
    /// Stores a pair of words to group memory, aligned to 8 bytes.
    LdsStore64 "lds_store64" [] _ Lds 0 2 "{_id(n)|_resource(n)}" Compute Other NorthernIslands [store Lds Wide] "IL 5.5";
    /// Adds on 64 bits of group memory, atomically.
    LdsAdd64 "lds_add64" [] _ Lds 0 2 "{_id(n)|_resource(n)}" Compute Other NorthernIslands [atomic64 Lds Add] "IL 5.5";
    /// Subtracts on 64 bits of group memory, atomically.
    LdsSub64 "lds_sub64" [] _ Lds 0 2 "{_id(n)|_resource(n)}" Compute Other NorthernIslands [atomic64 Lds Sub] "IL 5.5";
    /// Source minus memory on 64 bits of group memory, atomically.
    LdsRsub64 "lds_rsub64" [] _ Lds 0 2 "{_id(n)|_resource(n)}" Compute Other NorthernIslands [atomic64 Lds RSub] "IL 5.5";
    /// Increments up to a limit on 64 bits of group memory, atomically.
    LdsInc64 "lds_inc64" [] _ Lds 0 2 "{_id(n)|_resource(n)}" Compute Other NorthernIslands [atomic64 Lds Inc] "IL 5.5";
    /// Decrements from a limit on 64 bits of group memory, atomically.
    LdsDec64 "lds_dec64" [] _ Lds 0 2 "{_id(n)|_resource(n)}" Compute Other NorthernIslands [atomic64 Lds Dec] "IL 5.5";
    /// Signed minimum on 64 bits of group memory, atomically.
    LdsMin64 "lds_min64" [] _ Lds 0 2 "{_id(n)|_resource(n)}" Compute Other NorthernIslands [atomic64 Lds Min] "IL 5.5";
    /// Signed maximum on 64 bits of group memory, atomically.
    LdsMax64 "lds_max64" [] _ Lds 0 2 "{_id(n)|_resource(n)}" Compute Other NorthernIslands [atomic64 Lds Max] "IL 5.5";
    /// Unsigned minimum on 64 bits of group memory, atomically.
    LdsUmin64 "lds_umin64" [] _ Lds 0 2 "{_id(n)|_resource(n)}" Compute Other NorthernIslands [atomic64 Lds UMin] "IL 5.5";
    /// Unsigned maximum on 64 bits of group memory, atomically.
    LdsUmax64 "lds_umax64" [] _ Lds 0 2 "{_id(n)|_resource(n)}" Compute Other NorthernIslands [atomic64 Lds UMax] "IL 5.5";
    /// Bitwise and on 64 bits of group memory, atomically.
    LdsAnd64 "lds_and64" [] _ Lds 0 2 "{_id(n)|_resource(n)}" Compute Other NorthernIslands [atomic64 Lds And] "IL 5.5";
    /// Bitwise or on 64 bits of group memory, atomically.
    LdsOr64 "lds_or64" [] _ Lds 0 2 "{_id(n)|_resource(n)}" Compute Other NorthernIslands [atomic64 Lds Or] "IL 5.5";
    /// Bitwise exclusive or on 64 bits of group memory, atomically.
    LdsXor64 "lds_xor64" [] _ Lds 0 2 "{_id(n)|_resource(n)}" Compute Other NorthernIslands [atomic64 Lds Xor] "IL 5.5";
    /// Replaces masked bits on 64 bits of group memory, atomically.
    LdsMskor64 "lds_mskor64" [] _ Lds 0 3 "{_id(n)|_resource(n)}" Compute Other NorthernIslands [atomic64 Lds MskOr] "IL 5.5";
    /// Stores if equal on 64 bits of group memory, atomically.
    LdsCmp64 "lds_cmp64" [] _ Lds 0 3 "{_id(n)|_resource(n)}" Compute Other NorthernIslands [atomic64 Lds CmpXchg] "IL 5.5";
    /// Adds on 64 bits of group memory, atomically; the old pair is the result.
    LdsReadAdd64 "lds_read_add64" [] _ Lds 1 2 "{_id(n)|_resource(n)}" Compute DoublePair NorthernIslands [atomic64_read Lds Add] "IL 5.5";
    /// Subtracts on 64 bits of group memory, atomically; the old pair is the result.
    LdsReadSub64 "lds_read_sub64" [] _ Lds 1 2 "{_id(n)|_resource(n)}" Compute DoublePair NorthernIslands [atomic64_read Lds Sub] "IL 5.5";
    /// Source minus memory on 64 bits of group memory, atomically; the old pair is the result.
    LdsReadRsub64 "lds_read_rsub64" [] _ Lds 1 2 "{_id(n)|_resource(n)}" Compute DoublePair NorthernIslands [atomic64_read Lds RSub] "IL 5.5";
    /// Increments up to a limit on 64 bits of group memory, atomically; the old pair is the result.
    LdsReadInc64 "lds_read_inc64" [] _ Lds 1 2 "{_id(n)|_resource(n)}" Compute DoublePair NorthernIslands [atomic64_read Lds Inc] "IL 5.5";
    /// Decrements from a limit on 64 bits of group memory, atomically; the old pair is the result.
    LdsReadDec64 "lds_read_dec64" [] _ Lds 1 2 "{_id(n)|_resource(n)}" Compute DoublePair NorthernIslands [atomic64_read Lds Dec] "IL 5.5";
    /// Signed minimum on 64 bits of group memory, atomically; the old pair is the result.
    LdsReadMin64 "lds_read_min64" [] _ Lds 1 2 "{_id(n)|_resource(n)}" Compute DoublePair NorthernIslands [atomic64_read Lds Min] "IL 5.5";
    /// Signed maximum on 64 bits of group memory, atomically; the old pair is the result.
    LdsReadMax64 "lds_read_max64" [] _ Lds 1 2 "{_id(n)|_resource(n)}" Compute DoublePair NorthernIslands [atomic64_read Lds Max] "IL 5.5";
    /// Unsigned minimum on 64 bits of group memory, atomically; the old pair is the result.
    LdsReadUmin64 "lds_read_umin64" [] _ Lds 1 2 "{_id(n)|_resource(n)}" Compute DoublePair NorthernIslands [atomic64_read Lds UMin] "IL 5.5";
    /// Unsigned maximum on 64 bits of group memory, atomically; the old pair is the result.
    LdsReadUmax64 "lds_read_umax64" [] _ Lds 1 2 "{_id(n)|_resource(n)}" Compute DoublePair NorthernIslands [atomic64_read Lds UMax] "IL 5.5";
    /// Bitwise and on 64 bits of group memory, atomically; the old pair is the result.
    LdsReadAnd64 "lds_read_and64" [] _ Lds 1 2 "{_id(n)|_resource(n)}" Compute DoublePair NorthernIslands [atomic64_read Lds And] "IL 5.5";
    /// Bitwise or on 64 bits of group memory, atomically; the old pair is the result.
    LdsReadOr64 "lds_read_or64" [] _ Lds 1 2 "{_id(n)|_resource(n)}" Compute DoublePair NorthernIslands [atomic64_read Lds Or] "IL 5.5";
    /// Bitwise exclusive or on 64 bits of group memory, atomically; the old pair is the result.
    LdsReadXor64 "lds_read_xor64" [] _ Lds 1 2 "{_id(n)|_resource(n)}" Compute DoublePair NorthernIslands [atomic64_read Lds Xor] "IL 5.5";
    /// Replaces masked bits on 64 bits of group memory, atomically; the old pair is the result.
    LdsReadMskor64 "lds_read_mskor64" [] _ Lds 1 3 "{_id(n)|_resource(n)}" Compute DoublePair NorthernIslands [atomic64_read Lds MskOr] "IL 5.5";
    /// Exchanges on 64 bits of group memory, atomically; the old pair is the result.
    LdsReadXchg64 "lds_read_xchg64" [] _ Lds 1 2 "{_id(n)|_resource(n)}" Compute DoublePair NorthernIslands [atomic64_read Lds Xchg] "IL 5.5";
    /// Stores if equal on 64 bits of group memory, atomically; the old pair is the result.
    LdsReadCmpXchg64 "lds_read_cmp_xchg64" [] _ Lds 1 3 "{_id(n)|_resource(n)}" Compute DoublePair NorthernIslands [atomic64_read Lds CmpXchg] "IL 5.5";
    /// Loads a pair of words from global data share, aligned to 8 bytes.
    GdsLoad64 "gds_load64" [] _ Gds 1 1 "_id(n)" Compute DoublePair NorthernIslands [load Gds Wide] "IL 5.9";
    /// Stores a pair of words to global data share, aligned to 8 bytes.
    GdsStore64 "gds_store64" [] _ Gds 0 2 "_id(n)" Compute Other NorthernIslands [store Gds Wide] "IL 5.9";
    /// Adds on 64 bits of global data share, atomically.
    GdsAdd64 "gds_add64" [] _ Gds 0 2 "_id(n)" Compute Other NorthernIslands [atomic64 Gds Add] "IL 5.9";
    /// Subtracts on 64 bits of global data share, atomically.
    GdsSub64 "gds_sub64" [] _ Gds 0 2 "_id(n)" Compute Other NorthernIslands [atomic64 Gds Sub] "IL 5.9";
    /// Source minus memory on 64 bits of global data share, atomically.
    GdsRsub64 "gds_rsub64" [] _ Gds 0 2 "_id(n)" Compute Other NorthernIslands [atomic64 Gds RSub] "IL 5.9";
    /// Increments up to a limit on 64 bits of global data share, atomically.
    GdsInc64 "gds_inc64" [] _ Gds 0 2 "_id(n)" Compute Other NorthernIslands [atomic64 Gds Inc] "IL 5.9";
    /// Decrements from a limit on 64 bits of global data share, atomically.
    GdsDec64 "gds_dec64" [] _ Gds 0 2 "_id(n)" Compute Other NorthernIslands [atomic64 Gds Dec] "IL 5.9";
    /// Signed minimum on 64 bits of global data share, atomically.
    GdsMin64 "gds_min64" [] _ Gds 0 2 "_id(n)" Compute Other NorthernIslands [atomic64 Gds Min] "IL 5.9";
    /// Signed maximum on 64 bits of global data share, atomically.
    GdsMax64 "gds_max64" [] _ Gds 0 2 "_id(n)" Compute Other NorthernIslands [atomic64 Gds Max] "IL 5.9";
    /// Unsigned minimum on 64 bits of global data share, atomically.
    GdsUmin64 "gds_umin64" [] _ Gds 0 2 "_id(n)" Compute Other NorthernIslands [atomic64 Gds UMin] "IL 5.9";
    /// Unsigned maximum on 64 bits of global data share, atomically.
    GdsUmax64 "gds_umax64" [] _ Gds 0 2 "_id(n)" Compute Other NorthernIslands [atomic64 Gds UMax] "IL 5.9";
    /// Bitwise and on 64 bits of global data share, atomically.
    GdsAnd64 "gds_and64" [] _ Gds 0 2 "_id(n)" Compute Other NorthernIslands [atomic64 Gds And] "IL 5.9";
    /// Bitwise or on 64 bits of global data share, atomically.
    GdsOr64 "gds_or64" [] _ Gds 0 2 "_id(n)" Compute Other NorthernIslands [atomic64 Gds Or] "IL 5.9";
    /// Bitwise exclusive or on 64 bits of global data share, atomically.
    GdsXor64 "gds_xor64" [] _ Gds 0 2 "_id(n)" Compute Other NorthernIslands [atomic64 Gds Xor] "IL 5.9";
    /// Replaces masked bits on 64 bits of global data share, atomically.
    GdsMskor64 "gds_mskor64" [] _ Gds 0 3 "_id(n)" Compute Other NorthernIslands [atomic64 Gds MskOr] "IL 5.9";
    /// Stores if equal on 64 bits of global data share, atomically.
    GdsCmpStore64 "gds_cmp_store64" [] _ Gds 0 3 "_id(n)" Compute Other NorthernIslands [atomic64 Gds CmpXchg] "IL 5.9";
    /// Adds on 64 bits of global data share, atomically; the old pair is the result.
    GdsReadAdd64 "gds_read_add64" [] _ Gds 1 2 "_id(n)" Compute DoublePair NorthernIslands [atomic64_read Gds Add] "IL 5.9";
    /// Subtracts on 64 bits of global data share, atomically; the old pair is the result.
    GdsReadSub64 "gds_read_sub64" [] _ Gds 1 2 "_id(n)" Compute DoublePair NorthernIslands [atomic64_read Gds Sub] "IL 5.9";
    /// Source minus memory on 64 bits of global data share, atomically; the old pair is the result.
    GdsReadRsub64 "gds_read_rsub64" [] _ Gds 1 2 "_id(n)" Compute DoublePair NorthernIslands [atomic64_read Gds RSub] "IL 5.9";
    /// Increments up to a limit on 64 bits of global data share, atomically; the old pair is the result.
    GdsReadInc64 "gds_read_inc64" [] _ Gds 1 2 "_id(n)" Compute DoublePair NorthernIslands [atomic64_read Gds Inc] "IL 5.9";
    /// Decrements from a limit on 64 bits of global data share, atomically; the old pair is the result.
    GdsReadDec64 "gds_read_dec64" [] _ Gds 1 2 "_id(n)" Compute DoublePair NorthernIslands [atomic64_read Gds Dec] "IL 5.9";
    /// Signed minimum on 64 bits of global data share, atomically; the old pair is the result.
    GdsReadMin64 "gds_read_min64" [] _ Gds 1 2 "_id(n)" Compute DoublePair NorthernIslands [atomic64_read Gds Min] "IL 5.9";
    /// Signed maximum on 64 bits of global data share, atomically; the old pair is the result.
    GdsReadMax64 "gds_read_max64" [] _ Gds 1 2 "_id(n)" Compute DoublePair NorthernIslands [atomic64_read Gds Max] "IL 5.9";
    /// Unsigned minimum on 64 bits of global data share, atomically; the old pair is the result.
    GdsReadUmin64 "gds_read_umin64" [] _ Gds 1 2 "_id(n)" Compute DoublePair NorthernIslands [atomic64_read Gds UMin] "IL 5.9";
    /// Unsigned maximum on 64 bits of global data share, atomically; the old pair is the result.
    GdsReadUmax64 "gds_read_umax64" [] _ Gds 1 2 "_id(n)" Compute DoublePair NorthernIslands [atomic64_read Gds UMax] "IL 5.9";
    /// Bitwise and on 64 bits of global data share, atomically; the old pair is the result.
    GdsReadAnd64 "gds_read_and64" [] _ Gds 1 2 "_id(n)" Compute DoublePair NorthernIslands [atomic64_read Gds And] "IL 5.9";
    /// Bitwise or on 64 bits of global data share, atomically; the old pair is the result.
    GdsReadOr64 "gds_read_or64" [] _ Gds 1 2 "_id(n)" Compute DoublePair NorthernIslands [atomic64_read Gds Or] "IL 5.9";
    /// Bitwise exclusive or on 64 bits of global data share, atomically; the old pair is the result.
    GdsReadXor64 "gds_read_xor64" [] _ Gds 1 2 "_id(n)" Compute DoublePair NorthernIslands [atomic64_read Gds Xor] "IL 5.9";
    /// Replaces masked bits on 64 bits of global data share, atomically; the old pair is the result.
    GdsReadMskor64 "gds_read_mskor64" [] _ Gds 1 3 "_id(n)" Compute DoublePair NorthernIslands [atomic64_read Gds MskOr] "IL 5.9";
    /// Exchanges on 64 bits of global data share, atomically; the old pair is the result.
    GdsReadXchg64 "gds_read_xchg64" [] _ Gds 1 2 "_id(n)" Compute DoublePair NorthernIslands [atomic64_read Gds Xchg] "IL 5.9";
    /// Stores if equal on 64 bits of global data share, atomically; the old pair is the result.
    GdsReadCmpXchg64 "gds_read_cmp_xchg64" [] _ Gds 1 3 "_id(n)" Compute DoublePair NorthernIslands [atomic64_read Gds CmpXchg] "IL 5.9";
    /// Clears the sign of a double.
    Dabs "dabs" [] _ Double 1 1 "" Compute DoublePair R600 [double Dabs] "ALU 7";
    /// Difference of doubles, rounded to nearest even.
    Dsub "dsub" [] _ Double 1 2 "" Compute DoublePair R600 [double Dsub] "ALU 7";
    /// Exponent of position x in y, significand in w, as `dfrexp` does with doubles.
    Frexp "frexp" [] _ Float 1 1 "" Compute Other R600 [vector Frexp] "ALU 7";
    /// Third source plus the absolute differences of the two halves of the first two.
    SadU16 "sad_u16" [] _ Uint 1 3 "" Compute PerComponent Evergreen [int SadU16] "ALU 6";
    /// Third source plus the absolute difference of the first two, unsigned.
    SadU32 "sad_u32" [] _ Uint 1 3 "" Compute PerComponent Evergreen [int SadU32] "ALU 6";
    /// Gives a register another name; no text with it is known.
    Alias "alias" [] _ Misc 1 1 "" Graphics Other R600 [refused "no kernel text with it is known, and what it does is not documented"] "IL 6.3";
    /// Chooses the vertex stream that follows.
    StreamId "stream_id" [] _ Graphics 0 0 "<int>" Graphics Other Evergreen [graphics] "IL 6.3";
    /// Declares an array of registers that outlive a launch.
    DclPersistentArray "dcl_persistent_array" [] _ Decl 0 1 "" Graphics Other R600 [graphics] "IL 6.3";
    /// Quotient, correctly rounded, which `div` is already.
    DivPrecise "div_precise" [] _ Float 1 2 "[_zeroop(z)]" Compute PerComponent R600 [zeroop Div] "ALU 3.2";
}
