//! Pseudo-code of lane operations: the functions that define them, run on names instead of numbers.

use recal_il::ir::AtomicOp;
use recal_il::isa::lane::{Class, apply};
use recal_il::isa::memory::atomic::{new_quad, new_word};
use recal_il::isa::{Algebra, LaneOp};

/// More lines than this tell a reader nothing.
const MAX_LINES: usize = 14;

/// An expression: its place among those before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Term(usize);

#[derive(Clone, PartialEq, Debug)]
enum Node {
    Name(&'static str),
    Word(u32),
    Quad(u64),
    /// Written between two operands.
    Infix(&'static str, Term, Term),
    /// Written before its operand.
    Prefix(&'static str, Term),
    Choice(Term, Term, Term),
    Call(&'static str, Vec<Term>),
}

/// Writes down what a function computes. Equal expressions are one.
#[derive(Default)]
struct Writer {
    nodes: Vec<Node>,
}

impl Writer {
    fn node(&mut self, node: Node) -> Term {
        let at = self.nodes.iter().position(|n| *n == node);
        Term(at.unwrap_or_else(|| {
            self.nodes.push(node);
            self.nodes.len() - 1
        }))
    }

    fn parts(&self, term: Term) -> Vec<Term> {
        match &self.nodes[term.0] {
            Node::Name(_) | Node::Word(_) | Node::Quad(_) => Vec::new(),
            Node::Infix(_, a, b) => vec![*a, *b],
            Node::Prefix(_, a) => vec![*a],
            Node::Choice(c, a, b) => vec![*c, *a, *b],
            Node::Call(_, args) => args.clone(),
        }
    }

    /// Lines that end with `dst = …`; what is used more than once gets a name.
    fn text(&self, result: Term) -> Option<String> {
        let mut uses = vec![0usize; self.nodes.len()];
        let mut seen = vec![false; self.nodes.len()];
        let mut open = vec![result];
        while let Some(term) = open.pop() {
            uses[term.0] += 1;
            if !std::mem::replace(&mut seen[term.0], true) {
                open.extend(self.parts(term));
            }
        }
        let mut names: Vec<Option<String>> = vec![None; self.nodes.len()];
        let mut lines = Vec::new();
        for at in 0..self.nodes.len() {
            let named = uses[at] > 1 && at != result.0 && !self.parts(Term(at)).is_empty();
            if named {
                let text = self.shown(Term(at), &names, false);
                let name = format!("t{}", lines.len());
                lines.push(format!("{name} = {text}"));
                names[at] = Some(name);
            }
        }
        lines.push(format!("dst = {}", self.shown(result, &names, false)));
        let short = lines.len() <= MAX_LINES && lines.iter().all(|line| line.len() <= 110);
        short.then(|| lines.join("\n"))
    }

    fn shown(&self, term: Term, names: &[Option<String>], inner: bool) -> String {
        if let Some(name) = &names[term.0] {
            return name.clone();
        }
        let (text, atom) = match &self.nodes[term.0] {
            Node::Name(name) => ((*name).to_string(), true),
            Node::Word(bits) => (number(u64::from(*bits)), true),
            Node::Quad(bits) => (number(*bits), true),
            Node::Infix(operator, a, b) => {
                let (a, b) = (self.shown(*a, names, true), self.shown(*b, names, true));
                (format!("{a} {operator} {b}"), false)
            }
            Node::Prefix(operator, a) => (format!("{operator}{}", self.shown(*a, names, true)), true),
            Node::Choice(c, a, b) => {
                let [c, a, b] = [c, a, b].map(|t| self.shown(*t, names, true));
                (format!("{c} ? {a} : {b}"), false)
            }
            Node::Call(name, args) => {
                let args: Vec<String> = args.iter().map(|a| self.shown(*a, names, false)).collect();
                (format!("{name}({})", args.join(", ")), true)
            }
        };
        if inner && !atom { format!("({text})") } else { text }
    }
}

/// Small numbers in decimal; words that are bit patterns in hex.
fn number(bits: u64) -> String {
    if bits < 256 { bits.to_string() } else { format!("0x{bits:X}") }
}

macro_rules! written {
    (@ $self:ident infix $op:literal $a:ident $b:ident) => { $self.node(Node::Infix($op, $a, $b)) };
    (@ $self:ident prefix $op:literal $a:ident) => { $self.node(Node::Prefix($op, $a)) };
    (@ $self:ident choice $op:literal $c:ident $a:ident $b:ident) => { $self.node(Node::Choice($c, $a, $b)) };
    (@ $self:ident call $op:literal $($a:ident)*) => { $self.node(Node::Call($op, vec![$($a),*])) };
    ($($name:ident($($arg:ident),*) $kind:ident $op:literal;)*) => {$(
        fn $name(&mut self, $($arg: Term),*) -> Term { written!(@ self $kind $op $($arg)*) }
    )*};
}

impl Algebra for Writer {
    type W = Term;
    type Q = Term;
    type B = Term;

    fn word(&mut self, bits: u32) -> Term {
        self.node(Node::Word(bits))
    }
    fn quad(&mut self, bits: u64) -> Term {
        self.node(Node::Quad(bits))
    }
    // A 64-bit operand is one name: taking its halves apart and together again is the operand.
    fn pack(&mut self, lo: Term, hi: Term) -> Term {
        if let (Node::Call("low", a), Node::Call("high", b)) = (&self.nodes[lo.0], &self.nodes[hi.0]) {
            if a == b {
                return a[0];
            }
        }
        self.node(Node::Call("pair", vec![lo, hi]))
    }

    written! {
        lo(q) call "low"; hi(q) call "high";
        select(c, a, b) choice "?"; selectq(c, a, b) choice "?";
        both(a, b) infix "and"; either(a, b) infix "or"; negate(a) prefix "not ";
        iadd(a, b) infix "+"; isub(a, b) infix "-"; imul(a, b) infix "*";
        umulhi(a, b) call "umulhi"; smulhi(a, b) call "smulhi";
        udiv(a, b) infix "udiv"; umod(a, b) infix "umod";
        and(a, b) infix "&"; or(a, b) infix "|"; xor(a, b) infix "^"; not(a) prefix "~";
        shl(a, n) infix "<<"; shr(a, n) infix ">>u"; sar(a, n) infix ">>s";
        popcount(a) call "popcount"; clz(a) call "leading_zeros"; reverse(a) call "reverse";
        ieq(a, b) infix "=="; ilt(a, b) infix "<s"; ult(a, b) infix "<u";
        fadd_raw(a, b) infix "+."; fmul_raw(a, b) infix "*."; ffma_raw(a, b, c) call "fused";
        feq(a, b) infix "==."; flt(a, b) infix "<."; fle(a, b) infix "<=.";
        itof_raw(a) call "float_of_signed"; utof_raw(a) call "float_of_unsigned"; ftoi_raw(a) call "truncated";
        qadd(a, b) infix "+"; qsub(a, b) infix "-"; qmul(a, b) infix "*";
        qand(a, b) infix "&"; qor(a, b) infix "|"; qxor(a, b) infix "^";
        qshl(a, n) infix "<<"; qshr(a, n) infix ">>u"; qsar(a, n) infix ">>s";
        qeq(a, b) infix "=="; qlt(a, b) infix "<s"; qult(a, b) infix "<u";
        qudiv(a, b) infix "udiv"; qumod(a, b) infix "umod";
        dadd_raw(a, b) infix "+."; dmul_raw(a, b) infix "*."; dfma_raw(a, b, c) call "fused";
        ddiv_raw(a, b) infix "/."; dsqrt_raw(a) call "sqrt";
        deq(a, b) infix "==."; dlt(a, b) infix "<."; dle(a, b) infix "<=.";
        ftod_raw(a) call "double"; dtof_raw(a) call "float";
        flush(a) call "flush"; is_nan(a) call "is_nan"; canonical(a) call "canonical"; mask(c) call "mask";
        is_zero(a) call "is_zero"; is_dnan(a) call "is_nan"; is_dzero(a) call "is_zero";
        dcanonical(a) call "canonical"; qclz(a) call "leading_zeros"; qumulhi(a, b) call "umulhi";
        imin(a, b) call "min_s"; imax(a, b) call "max_s"; umin(a, b) call "min_u"; umax(a, b) call "max_u";
        ftrunc(a) call "trunc"; ffloor(a) call "floor"; fceil(a) call "ceil"; fnearest(a) call "nearest";
        dfloor(a) call "floor"; fma(a, b, c) call "fused"; fdiv(a, b) infix "/.";
        fsqrt(a) call "sqrt"; frsqrt(a) call "reciprocal_sqrt";
    }
}

/// Names of operands, in order.
pub const OPERANDS: [&str; 5] = ["src0", "src1", "src2", "src3", "src4"];

/// What an operation computes from its operands, by the function that defines it; `None` if that is long.
pub fn lane(op: LaneOp, names: &[&'static str]) -> Option<String> {
    let mut writer = Writer::default();
    let mut words = Vec::new();
    for (k, class) in op.arguments().iter().enumerate() {
        let term = writer.node(Node::Name(names.get(k).copied().unwrap_or("zeroop")));
        match class {
            Class::Q => {
                let (lo, hi) = (writer.lo(term), writer.hi(term));
                words.extend([lo, hi]);
            }
            Class::F | Class::W => words.push(term),
        }
    }
    let (low, high) = apply(&mut writer, op, &words);
    let result = match high {
        Some(high) => writer.pack(low, high),
        None => low,
    };
    // The result of a 64-bit operation was taken apart by `apply`.
    writer.text(result)
}

/// The new value that an atomic puts into memory.
pub fn atomic(op: AtomicOp, wide: bool, sources: usize) -> String {
    let mut writer = Writer::default();
    let [old, a, b] =
        ["old", "src1", if sources > 2 { "src2" } else { "src1" }].map(|n| writer.node(Node::Name(n)));
    let new = if wide { new_quad(&mut writer, op, old, a, b) } else { new_word(&mut writer, op, old, a, b) };
    let text = writer.text(new).unwrap_or_default();
    text.replace("dst =", "new =")
}

/// What the signs of a piece of pseudo-code mean; those that are in it.
pub fn legend(code: &str) -> Option<String> {
    let signs = [
        (&[" <s ", " <u "][..], "`<s` and `<u` compare signed and unsigned numbers"),
        (&[">>s", ">>u"], "`>>s` copies the sign, `>>u` fills with zeros"),
        (&["+.", "*.", "/."], "`+.`, `*.` and `/.` are float arithmetic, rounded to nearest even"),
        (&["<. ", "<=.", "==."], "`<.`, `<=.` and `==.` compare floats and are false for NaN"),
        (&["flush("], "`flush` makes denormals zeros of their sign"),
        (&["canonical("], "`canonical` makes any NaN the one of the device"),
        (&["mask("], "`mask` gives all ones for true, 0 for false"),
        (&["fused("], "`fused` rounds once"),
    ];
    let used: Vec<&str> = signs
        .iter()
        .filter(|(marks, _)| marks.iter().any(|m| code.contains(m)))
        .map(|(_, words)| *words)
        .collect();
    (!used.is_empty()).then(|| format!("Here {}.", used.join("; ")))
}
