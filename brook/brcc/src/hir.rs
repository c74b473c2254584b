//! Kernels after the checks: every name resolved, every type known, every conversion written out. Both emitters, AMD IL and
//! C++, start here; nothing in it is wrong.
//!
//! An expression is evaluated where it stands, operands from left to right. Operands of arithmetic have the type of the result;
//! a comparison's operands have one type and its value is 1 or 0 of the comparison's own type.

use crate::ast::BinaryOp;
use crate::types::Type;

/// Number of a variable of a kernel: parameters first, in order.
pub type VarId = usize;

/// A kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Name.
    pub name: String,
    /// Result; `void` of those that hosts call.
    pub result: Type,
    /// Parameters.
    pub params: Vec<Param>,
    /// Parameters, then locals.
    pub vars: Vec<Var>,
    /// Body.
    pub body: Vec<Stmt>,
    /// Marked `reduce`.
    pub reduce: bool,
    /// Threads of a group.
    pub group: Option<u32>,
    /// The shared array: element type and elements.
    pub shared: Option<Shared>,
    /// What it asks for itself or through the kernels that it calls.
    pub uses: Uses,
}

/// The shared array of a group kernel.
#[derive(Clone, Debug)]
pub struct Shared {
    /// Name.
    pub name: String,
    /// Type of the elements, 16 bytes each.
    pub ty: Type,
    /// Elements.
    pub count: u32,
}

/// What a kernel asks for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uses {
    /// `indexof`
    pub indexof: bool,
    /// `instance()`
    pub instance: bool,
    /// `instanceInGroup()`
    pub in_group: bool,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// Name.
    pub name: String,
    /// Type of the element or value.
    pub ty: Type,
    /// What it is.
    pub kind: ParamKind,
}

/// What a parameter is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// `T a<>`
    Input,
    /// `out T a<>`
    Output,
    /// `T a`
    Constant,
    /// `T a[]…`: the dimensions.
    Gather(u8),
    /// `T a[4]…`: the sizes, as written.
    ConstArray(Vec<u32>),
    /// `out T a[]…`: the dimensions.
    Scatter(u8),
    /// `reduce T a<>` or `reduce T a`
    Reduce,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Var {
    /// Name.
    pub name: String,
    /// Type.
    pub ty: Type,
}

impl Kernel {
    /// True if hosts can call it.
    pub fn is_entry(&self) -> bool {
        self.result == Type::Void
            && self
                .params
                .iter()
                .any(|p| matches!(p.kind, ParamKind::Output | ParamKind::Scatter(_) | ParamKind::Reduce))
    }

    /// The scatter parameter.
    pub fn scatter(&self) -> Option<usize> {
        self.params.iter().position(|p| matches!(p.kind, ParamKind::Scatter(_)))
    }
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// Its value is dropped.
    Expr(Expr),
    /// A local and what it begins with.
    Local(VarId, Option<Expr>),
    /// `if`
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// `while` and `for`: condition, body, step.
    Loop(Option<Expr>, Vec<Stmt>, Option<Expr>),
    /// `do … while`
    DoWhile(Vec<Stmt>, Expr),
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `return`
    Return(Option<Expr>),
    /// `{ … }`
    Block(Vec<Stmt>),
    /// `syncGroup()`
    Sync,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its type.
    pub ty: Type,
    /// What it is.
    pub kind: ExprKind,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// Whole number, as 32 bits.
    Int(u32),
    /// Floating number of the expression's type.
    Float(f64),
    /// A variable.
    Var(VarId),
    /// Member of a struct.
    Member(Box<Expr>, usize),
    /// Components of a vector.
    Swizzle(Box<Expr>, Vec<u8>),
    /// Element of a gather stream; x first. Numbers are whole or floating; one vector may hold all of them.
    Gather(usize, Vec<Expr>),
    /// Element of a constant array; indices as written, whole numbers.
    Element(usize, Vec<Expr>),
    /// Element of the shared array.
    Shared(Box<Expr>),
    /// `-`
    Neg(Box<Expr>),
    /// `~`
    BitNot(Box<Expr>),
    /// `!`: 1 or 0.
    Not(Box<Expr>),
    /// Arithmetic, bits, shifts.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// Comparison.
    Compare(BinaryOp, Box<Expr>, Box<Expr>),
    /// `&&`, `||`: true if and.
    Logic(bool, Box<Expr>, Box<Expr>),
    /// `?:`
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Conversion to the expression's type; as many components.
    Cast(Box<Expr>),
    /// One number for all components.
    Splat(Box<Expr>),
    /// Components from numbers.
    Construct(Vec<Expr>),
    /// A function of the language.
    Intrinsic(Intrinsic, Vec<Expr>),
    /// A kernel, by its number in the file.
    Call(usize, Vec<Arg>),
    /// `indexof`: where this thread is, as four floats.
    IndexOf,
    /// `instance()`
    Instance,
    /// `instanceInGroup()`
    InGroup,
    /// `=`; the value is what is stored.
    Assign(Box<Place>, Box<Expr>),
    /// `++`, `--`: up?, prefix?
    Step(bool, bool, Box<Place>),
    /// `a, b`
    Comma(Box<Expr>, Box<Expr>),
}

/// Where a value may be stored.
#[derive(Clone, Debug)]
pub struct Place {
    /// Type of what is stored.
    pub ty: Type,
    /// What holds it.
    pub base: Base,
    /// Members of structs on the way.
    pub path: Vec<usize>,
    /// Components; all of them if empty.
    pub swizzle: Vec<u8>,
}

/// What holds a place.
#[derive(Clone, Debug)]
pub enum Base {
    /// A variable.
    Var(VarId),
    /// Element of the scatter stream, x first, as [`ExprKind::Gather`] has it.
    Scatter(usize, Vec<Expr>),
    /// Element of the shared array that this thread owns: the number behind its first.
    Shared(u32),
}

/// Argument of a kernel that a kernel calls.
#[derive(Clone, Debug)]
pub enum Arg {
    /// A value.
    Value(Expr),
    /// Where the result goes.
    Out(Place),
    /// A parameter that is an array.
    Array(usize),
}

/// Functions of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Intrinsic {
    Abs,
    Sign,
    Min,
    Max,
    Clamp,
    Floor,
    Round,
    Frac,
    Fmod,
    Sqrt,
    Rsqrt,
    Exp,
    Log,
    Pow,
    Sin,
    Cos,
    Asin,
    Acos,
    Dot,
    Cross,
    Normalize,
    Lerp,
    IsFinite,
    IsInf,
    IsNan,
    Any,
    All,
}

impl Expr {
    /// True if evaluating it changes something.
    pub fn has_effects(&self) -> bool {
        match &self.kind {
            ExprKind::Assign(..) | ExprKind::Step(..) => true,
            ExprKind::Call(_, args) => args.iter().any(|a| match a {
                Arg::Value(e) => e.has_effects(),
                Arg::Out(_) => true,
                Arg::Array(_) => false,
            }),
            _ => self.operands().iter().any(|e| e.has_effects()),
        }
    }

    /// True if it reads or writes a variable.
    pub fn mentions(&self, var: VarId) -> bool {
        match &self.kind {
            ExprKind::Var(v) => *v == var,
            ExprKind::Assign(place, value) => place.mentions(var) || value.mentions(var),
            ExprKind::Step(_, _, place) => place.mentions(var),
            ExprKind::Call(_, args) => args.iter().any(|a| match a {
                Arg::Value(e) => e.mentions(var),
                Arg::Out(p) => p.mentions(var),
                Arg::Array(_) => false,
            }),
            _ => self.operands().iter().any(|e| e.mentions(var)),
        }
    }

    /// Expressions directly inside; those of places and calls are left out.
    pub fn operands(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Var(_)
            | ExprKind::IndexOf
            | ExprKind::Instance
            | ExprKind::InGroup
            | ExprKind::Call(..)
            | ExprKind::Step(..) => Vec::new(),
            ExprKind::Member(e, _)
            | ExprKind::Swizzle(e, _)
            | ExprKind::Shared(e)
            | ExprKind::Neg(e)
            | ExprKind::BitNot(e)
            | ExprKind::Not(e)
            | ExprKind::Cast(e)
            | ExprKind::Assign(_, e)
            | ExprKind::Splat(e) => vec![e],
            ExprKind::Binary(_, a, b)
            | ExprKind::Compare(_, a, b)
            | ExprKind::Logic(_, a, b)
            | ExprKind::Comma(a, b) => vec![a, b],
            ExprKind::Cond(a, b, c) => vec![a, b, c],
            ExprKind::Gather(_, list)
            | ExprKind::Element(_, list)
            | ExprKind::Construct(list)
            | ExprKind::Intrinsic(_, list) => list.iter().collect(),
        }
    }
}

impl Place {
    /// True if it is, or is found by, a variable.
    pub fn mentions(&self, var: VarId) -> bool {
        match &self.base {
            Base::Var(v) => *v == var,
            Base::Scatter(_, index) => index.iter().any(|e| e.mentions(var)),
            Base::Shared(_) => false,
        }
    }
}

/// True if a `return` stands anywhere but at the end.
pub fn returns_early(body: &[Stmt]) -> bool {
    let before_last = body.len().saturating_sub(1);
    body[..before_last].iter().any(contains_return)
        || body.last().is_some_and(|last| match last {
            Stmt::Return(_) => false,
            Stmt::Block(inner) => returns_early(inner),
            other => contains_return(other),
        })
}

fn contains_return(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Return(_) => true,
        Stmt::If(_, a, b) => a.iter().chain(b).any(contains_return),
        Stmt::Loop(_, body, _) | Stmt::DoWhile(body, _) | Stmt::Block(body) => {
            body.iter().any(contains_return)
        }
        Stmt::Expr(_) | Stmt::Local(..) | Stmt::Break | Stmt::Continue | Stmt::Sync => false,
    }
}

/// True if a `syncGroup()` stands in it.
pub fn contains_sync(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Sync => true,
        Stmt::If(_, a, b) => contains_sync(a) || contains_sync(b),
        Stmt::Loop(_, body, _) | Stmt::DoWhile(body, _) | Stmt::Block(body) => contains_sync(body),
        Stmt::Expr(_) | Stmt::Local(..) | Stmt::Break | Stmt::Continue | Stmt::Return(_) => false,
    })
}
