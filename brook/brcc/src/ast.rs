//! The syntax tree of kernels. Host code has none: it is copied, with changes where streams stand.

use crate::diagnostic::Span;
use crate::types::Type;

/// A name and where it stands.
#[derive(Clone, Debug)]
pub struct Name {
    /// The text.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
    /// Expressions on the longest way down from here, this one too: what walks the tree is as deep in calls.
    pub height: u32,
}

impl Expr {
    /// An expression of its parts.
    pub fn new(kind: ExprKind, span: Span) -> Expr {
        let tallest = |list: &[Expr]| list.iter().map(|e| e.height).max().unwrap_or(0);
        let below = match &kind {
            ExprKind::Unary(_, a)
            | ExprKind::Step(_, _, a)
            | ExprKind::Cast(_, a)
            | ExprKind::Member(a, ..) => a.height,
            ExprKind::Binary(_, a, b)
            | ExprKind::Assign(_, a, b)
            | ExprKind::Index(a, b)
            | ExprKind::Comma(a, b) => a.height.max(b.height),
            ExprKind::Cond(a, b, c) => a.height.max(b.height).max(c.height),
            ExprKind::Call(f, list) => f.height.max(tallest(list)),
            ExprKind::Construct(_, list) | ExprKind::List(list) => tallest(list),
            _ => 0,
        };
        Expr { kind, span, height: below + 1 }
    }
}

/// Operators on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `+`
    Plus,
    /// `-`
    Neg,
    /// `!`
    Not,
    /// `~`
    BitNot,
    /// `*`
    Deref,
    /// `&`
    Address,
}

/// Operators on two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    And,
    Or,
    Xor,
    Lt,
    Gt,
    Le,
    Ge,
    Eq,
    Ne,
    LogicAnd,
    LogicOr,
}

impl BinaryOp {
    /// Spellings with their precedences, loosest 1.
    pub const TABLE: [(&'static str, BinaryOp, u8); 18] = [
        ("||", BinaryOp::LogicOr, 1),
        ("&&", BinaryOp::LogicAnd, 2),
        ("|", BinaryOp::Or, 3),
        ("^", BinaryOp::Xor, 4),
        ("&", BinaryOp::And, 5),
        ("==", BinaryOp::Eq, 6),
        ("!=", BinaryOp::Ne, 6),
        ("<", BinaryOp::Lt, 7),
        (">", BinaryOp::Gt, 7),
        ("<=", BinaryOp::Le, 7),
        (">=", BinaryOp::Ge, 7),
        ("<<", BinaryOp::Shl, 8),
        (">>", BinaryOp::Shr, 8),
        ("+", BinaryOp::Add, 9),
        ("-", BinaryOp::Sub, 9),
        ("*", BinaryOp::Mul, 10),
        ("/", BinaryOp::Div, 10),
        ("%", BinaryOp::Rem, 10),
    ];

    /// As it is written.
    pub fn text(self) -> &'static str {
        BinaryOp::TABLE.iter().find(|row| row.1 == self).map_or("?", |row| row.0)
    }

    /// True of `<` to `!=`.
    pub fn is_comparison(self) -> bool {
        matches!(
            self,
            BinaryOp::Lt | BinaryOp::Gt | BinaryOp::Le | BinaryOp::Ge | BinaryOp::Eq | BinaryOp::Ne
        )
    }

    /// True of `&&` and `||`.
    pub fn is_logic(self) -> bool {
        matches!(self, BinaryOp::LogicAnd | BinaryOp::LogicOr)
    }
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// Integer literal; true if unsigned.
    Int(u32, bool),
    /// Floating literal; true if double.
    Float(f64, bool),
    /// String literal.
    Str,
    /// Character literal.
    Char,
    /// A name.
    Name(String),
    /// One operand.
    Unary(UnaryOp, Box<Expr>),
    /// `++`, `--`: increment?, prefix?
    Step(bool, bool, Box<Expr>),
    /// Two operands.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `=`, or with an operator.
    Assign(Option<BinaryOp>, Box<Expr>, Box<Expr>),
    /// `?:`
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `(type) e`
    Cast(TypeName, Box<Expr>),
    /// A call.
    Call(Box<Expr>, Vec<Expr>),
    /// `a[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `a.b`; `a->b` if the flag is set.
    Member(Box<Expr>, Name, bool),
    /// `float4(…)`
    Construct(Type, Vec<Expr>),
    /// `{ … }` as an initialiser.
    List(Vec<Expr>),
    /// `indexof(s)`
    IndexOf(Name),
    /// `instance()`
    Instance,
    /// `instanceInGroup()`
    InstanceInGroup,
    /// `syncGroup()`
    SyncGroup,
    /// `iter(…)`
    Iter,
    /// `sizeof …`
    Sizeof,
    /// `a, b`
    Comma(Box<Expr>, Box<Expr>),
    /// What could not be read; the error is told already.
    Wrong,
}

/// A type as it is written somewhere.
#[derive(Clone, Debug)]
pub struct TypeName {
    /// The type, if kernels have it.
    pub ty: Option<Type>,
    /// Its name.
    pub text: String,
    /// Where.
    pub span: Span,
    /// `*` stands behind it.
    pub pointer: bool,
}

/// Qualifiers and storage classes of a declaration, with the places of those that matter.
#[derive(Clone, Debug, Default)]
pub struct Quals {
    /// `out`
    pub out: Option<Span>,
    /// `reduce`
    pub reduce: Option<Span>,
    /// `kernel`
    pub kernel: Option<Span>,
    /// `const`
    pub constant: Option<Span>,
    /// `shared`
    pub shared: Option<Span>,
    /// `iter`
    pub iter: Option<Span>,
    /// `vout`
    pub vout: Option<Span>,
    /// Others: `static`, `volatile` … with their names.
    pub other: Vec<Name>,
}

/// Shape that follows a declared name.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Nothing.
    None,
    /// `<…>`; the sizes given.
    Stream(Vec<Expr>),
    /// `[…]…`; each size if given.
    Array(Vec<Option<Expr>>),
    /// `[…]` and `<…>` together.
    Both,
}

/// One declared name.
#[derive(Clone, Debug)]
pub struct Declarator {
    /// The name.
    pub name: Name,
    /// `*` before it.
    pub pointer: Option<Span>,
    /// What follows it.
    pub shape: Shape,
    /// Where the shape stands.
    pub shape_span: Span,
    /// Initialiser.
    pub init: Option<Expr>,
}

/// Declared names of one type.
#[derive(Clone, Debug)]
pub struct Decl {
    /// Qualifiers.
    pub quals: Quals,
    /// Type.
    pub ty: TypeName,
    /// Names.
    pub names: Vec<Declarator>,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where.
    pub span: Span,
}

/// What a statement is.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `;`
    Empty,
    /// `e;`
    Expr(Expr),
    /// Declaration.
    Decl(Decl),
    /// `{ … }`
    Block(Vec<Stmt>),
    /// `if`
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    /// `while`
    While(Expr, Box<Stmt>),
    /// `do … while`
    DoWhile(Box<Stmt>, Expr),
    /// `for`
    For(Box<Stmt>, Option<Expr>, Option<Expr>, Box<Stmt>),
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `return`
    Return(Option<Expr>),
    /// `switch`, `goto`, `case`, labels, `asm`: not for kernels. The word.
    Unsupported(&'static str),
}

/// `Attribute[…]` before a kernel.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Its name.
    pub name: Name,
    /// Its arguments.
    pub args: Vec<Expr>,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// Qualifiers.
    pub quals: Quals,
    /// Type; none in a K&R list that leaves it out.
    pub ty: TypeName,
    /// Name and shape.
    pub declarator: Declarator,
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Attributes.
    pub attributes: Vec<Attribute>,
    /// Qualifiers.
    pub quals: Quals,
    /// Type of the result; `None` if none was written.
    pub result: Option<TypeName>,
    /// Name.
    pub name: Name,
    /// Parameters.
    pub params: Vec<Param>,
    /// Body.
    pub body: Vec<Stmt>,
    /// Its last brace.
    pub end: Span,
}

/// `typedef struct { … } name;` or `struct name { … };` whose members streams may have.
#[derive(Clone, Debug)]
pub struct StructDef {
    /// Name.
    pub name: Name,
    /// Members.
    pub members: Vec<(Name, TypeName)>,
}

/// What stands at the top of a file.
#[derive(Clone, Debug)]
pub enum Item {
    /// A kernel, and the bytes of its definition.
    Kernel(Box<Kernel>, Span),
    /// A kernel's prototype.
    Prototype(Span),
    /// A struct; the host sees it as well.
    Struct(StructDef, Span),
    /// Host code: tokens `first..last`.
    Host(usize, usize),
}
