//! Expressions and statements of CPU kernels.

use std::fmt::Write as _;

use super::{is_narrow, kernel_scalar, kernel_type, name};
use crate::ast::BinaryOp;
use crate::hir::{Arg, Base, Expr, ExprKind, Intrinsic as F, Kernel, ParamKind, Place, Stmt, VarId};
use crate::types::{Class, Scalar, Structs, Type};

const CPU: &str = "::brook::cpu::";

/// Writes the body of one kernel.
pub(super) struct Writer<'k> {
    pub(super) kernels: &'k [Kernel],
    pub(super) kernel: &'k Kernel,
    pub(super) structs: &'k Structs,
    pub(super) out: String,
    pub(super) indent: usize,
    /// The body stops at barriers and goes on later: its variables are members, and it has so many places to go on at.
    pub(super) stops: Option<usize>,
}

fn list(values: &[String]) -> String {
    values.join(", ")
}

impl Writer<'_> {
    /// A variable's name where the body is.
    pub(super) fn var(&self, id: VarId) -> String {
        let text = name(&self.kernel.vars[id].name);
        let kept = self.kernel.params.get(id).is_none_or(|p| p.kind == ParamKind::Input);
        // Blocks may have a variable of one name each; members may not.
        if self.stops.is_some() && kept { format!("__l.{text}_{id}") } else { text }
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:width$}{text}", "", width = 4 * self.indent);
    }

    pub(super) fn block(&mut self, body: &[Stmt]) {
        self.line("{");
        self.indent += 1;
        self.statements(body);
        self.indent -= 1;
        self.line("}");
    }

    pub(super) fn statements(&mut self, body: &[Stmt]) {
        body.iter().for_each(|s| self.statement(s));
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Expr(e) => {
                let text = self.any(e);
                self.line(&format!("(void)({text});").replace("(void)(void)", "(void)"));
            }
            Stmt::Local(id, init) => {
                let var = &self.kernel.vars[*id];
                let ty = kernel_type(self.structs, var.ty);
                let value = init.as_ref().map_or_else(|| format!("{CPU}zero<{ty} >()"), |e| self.any(e));
                let name = self.var(*id);
                if self.stops.is_some() {
                    self.line(&format!("{name} = {value};"));
                } else {
                    self.line(&format!("{ty} {name} = {value};"));
                    self.line(&format!("(void){name};"));
                }
            }
            Stmt::If(condition, then, otherwise) => {
                let test = self.test(condition);
                self.line(&format!("if ({test})"));
                self.block(then);
                if !otherwise.is_empty() {
                    self.line("else");
                    self.block(otherwise);
                }
            }
            Stmt::Loop(condition, body, step) => {
                let test = condition.as_ref().map_or_else(String::new, |c| self.test(c));
                let step = step.as_ref().map_or_else(String::new, |s| format!("(void)({})", self.any(s)));
                self.line(&format!("for (; {test}; {step})"));
                self.block(body);
            }
            Stmt::DoWhile(body, condition) => {
                self.line("do");
                self.block(body);
                let test = self.test(condition);
                self.line(&format!("while ({test});"));
            }
            Stmt::Break => self.line("break;"),
            Stmt::Continue => self.line("continue;"),
            Stmt::Return(None) if self.stops.is_some() => self.line("{ __s.__at = -1; return; }"),
            Stmt::Return(None) => self.line("return;"),
            Stmt::Return(Some(e)) => {
                let text = self.any(e);
                self.line(&format!("return {text};"));
            }
            Stmt::Block(body) => self.block(body),
            Stmt::Sync => {
                let at = self.stops.map_or(1, |n| n + 1);
                self.stops = Some(at);
                self.line(&format!("__l.__at = {at}; __s = __l; return;"));
                self.line(&format!("case {at}:;"));
            }
        }
    }

    /// A condition, as `bool`.
    pub(super) fn test(&self, e: &Expr) -> String {
        match &e.kind {
            ExprKind::Compare(op, a, b) if e.ty.width() == 1 => {
                format!("{CPU}is_{}({}, {})", comparison(*op), self.any(a), self.any(b))
            }
            ExprKind::Logic(and, a, b) if e.ty.width() == 1 => {
                format!("({} {} {})", self.test(a), if *and { "&&" } else { "||" }, self.test(b))
            }
            ExprKind::Not(inner) if e.ty.width() == 1 => format!("!{}", self.test(inner)),
            _ => format!("{CPU}is_true({})", self.any(e)),
        }
    }

    /// The value of an expression.
    pub(super) fn any(&self, e: &Expr) -> String {
        let scalar = e.ty.scalar().map_or("int", kernel_scalar);
        match &e.kind {
            ExprKind::Int(n) => integer(*n, e.ty),
            ExprKind::Float(x) => float(*x, e.ty),
            ExprKind::Var(id) => self.var(*id),
            ExprKind::Member(base, at) => {
                let Type::Struct(id) = base.ty else { return String::new() };
                let member = format!("{}.{}", self.any(base), self.structs.get(id).members[*at].0);
                if is_narrow(e.ty) { format!("{CPU}wide({member})") } else { member }
            }
            ExprKind::Swizzle(base, comps) => match comps.as_slice() {
                [one] => format!("{}.{}", self.any(base), ["x", "y", "z", "w"][usize::from(*one)]),
                more => format!("{CPU}pick({}, {})", self.any(base), list(&numbers(more))),
            },
            ExprKind::Gather(param, index) => {
                let index: Vec<String> = index.iter().map(|i| self.any(i)).collect();
                let element = format!("{}.at({})", name(&self.kernel.params[*param].name), list(&index));
                if is_narrow(e.ty) { format!("{CPU}wide({element})") } else { element }
            }
            ExprKind::Element(param, index) => self.element(*param, index, e.ty),
            ExprKind::Shared(index) => {
                let element = format!("__t.shared<{} >().read({})", self.shared_type(), self.any(index));
                if is_narrow(e.ty) { format!("{CPU}wide({element})") } else { element }
            }
            ExprKind::Neg(inner) => format!("{CPU}neg({})", self.any(inner)),
            ExprKind::BitNot(inner) => format!("{CPU}bit_not({})", self.any(inner)),
            ExprKind::Not(inner) => format!("{CPU}logic_not({})", self.any(inner)),
            ExprKind::Binary(op, a, b) => {
                format!("{CPU}{}({}, {})", operation(*op), self.any(a), self.any(b))
            }
            ExprKind::Compare(op, a, b) => {
                format!("{CPU}{}({}, {})", comparison(*op), self.any(a), self.any(b))
            }
            ExprKind::Logic(..) if e.ty.width() == 1 => format!("{CPU}number<{scalar}>({})", self.test(e)),
            ExprKind::Logic(and, a, b) => {
                let word = if *and { "logic_and" } else { "logic_or" };
                format!("{CPU}{word}<{scalar}>({}, {})", self.any(a), self.any(b))
            }
            ExprKind::Cond(c, a, b) => format!("({} ? {} : {})", self.test(c), self.any(a), self.any(b)),
            ExprKind::Cast(inner) => format!("{CPU}convert<{scalar}>({})", self.any(inner)),
            ExprKind::Splat(inner) => {
                format!("{}({CPU}Splat(), {})", kernel_type(self.structs, e.ty), self.any(inner))
            }
            ExprKind::Construct(parts) => {
                let parts: Vec<String> = parts.iter().map(|p| self.any(p)).collect();
                format!("{}({})", kernel_type(self.structs, e.ty), list(&parts))
            }
            ExprKind::Intrinsic(which, args) => {
                let args: Vec<String> = args.iter().map(|a| self.any(a)).collect();
                format!("{CPU}{}({})", function(*which), list(&args))
            }
            ExprKind::Call(at, args) => self.call(*at, args),
            ExprKind::IndexOf => "__t.indexof()".to_owned(),
            ExprKind::Instance => "__t.instance()".to_owned(),
            ExprKind::InGroup => "__t.in_group()".to_owned(),
            ExprKind::Assign(place, value) => self.assign(place, &self.any(value)),
            ExprKind::Step(up, prefix, place) => {
                let word = match (up, prefix) {
                    (true, true) => "increment",
                    (false, true) => "decrement",
                    (true, false) => "post_increment",
                    (false, false) => "post_decrement",
                };
                match place.swizzle.len() {
                    0 | 1 => format!("{CPU}{word}({})", self.reference(place)),
                    _ => format!("{CPU}{word}({})", self.part(place)),
                }
            }
            ExprKind::Comma(a, b) => format!("((void)({}), {})", self.any(a), self.any(b)),
        }
    }

    fn element(&self, param: usize, index: &[Expr], ty: Type) -> String {
        let ParamKind::ConstArray(dims) = &self.kernel.params[param].kind else { return String::new() };
        let mut flat = String::new();
        for (axis, e) in index.iter().enumerate() {
            let at = format!("{CPU}convert<int>({})", self.any(e));
            flat = if axis == 0 { at } else { format!("{CPU}add({CPU}mul({flat}, {}), {at})", dims[axis]) };
        }
        let total: u32 = dims.iter().product();
        let element = format!("{CPU}constant({}, {total}, {flat})", name(&self.kernel.params[param].name));
        if is_narrow(ty) { format!("{CPU}wide({element})") } else { element }
    }

    fn shared_type(&self) -> String {
        let ty = self.kernel.shared.as_ref().map_or(Type::FLOAT, |s| s.ty);
        kernel_type(self.structs, ty)
    }

    fn base(&self, place: &Place) -> String {
        match &place.base {
            Base::Var(id) => self.var(*id),
            Base::Scatter(param, index) => {
                let index: Vec<String> = index.iter().map(|i| self.any(i)).collect();
                format!("{}.cell({})", name(&self.kernel.params[*param].name), list(&index))
            }
            Base::Shared(offset) => format!("__t.shared<{} >().own({offset})", self.shared_type()),
        }
    }

    /// A reference to what is stored, but for several components.
    fn reference(&self, place: &Place) -> String {
        let mut text = self.base(place);
        let mut ty = match place.base {
            Base::Var(id) => self.kernel.vars[id].ty,
            _ => Type::Void,
        };
        for at in &place.path {
            if let Type::Struct(id) = ty {
                let member = &self.structs.get(id).members[*at];
                let _ = write!(text, ".{}", member.0);
                ty = member.1;
            }
        }
        if let [one] = place.swizzle.as_slice() {
            let _ = write!(text, ".{}", ["x", "y", "z", "w"][usize::from(*one)]);
        }
        text
    }

    fn whole(&self, place: &Place) -> String {
        let whole = Place { swizzle: Vec::new(), ..place.clone() };
        self.reference(&whole)
    }

    /// Several components as something to store to.
    fn part(&self, place: &Place) -> String {
        format!("{CPU}part({}, {}).ref()", self.whole(place), list(&numbers(&place.swizzle)))
    }

    fn assign(&self, place: &Place, value: &str) -> String {
        if place.swizzle.len() > 1 {
            return format!("{CPU}set({}, {value}, {})", self.whole(place), list(&numbers(&place.swizzle)));
        }
        let plain = matches!(place.base, Base::Var(_)) && place.path.is_empty();
        if plain {
            format!("({} = {value})", self.reference(place))
        } else {
            format!("{CPU}store({}, {value})", self.reference(place))
        }
    }

    fn call(&self, at: usize, args: &[Arg]) -> String {
        let callee = &self.kernels[at];
        let mut text = format!("__{}_cpu_inner(__t", callee.name);
        for arg in args {
            text.push_str(", ");
            match arg {
                Arg::Value(e) => text.push_str(&self.any(e)),
                Arg::Array(param) => text.push_str(&name(&self.kernel.params[*param].name)),
                Arg::Out(place) if place.swizzle.len() > 1 => text.push_str(&self.part(place)),
                Arg::Out(place)
                    if is_narrow(place.ty)
                        && !(place.path.is_empty() && matches!(place.base, Base::Var(_))) =>
                {
                    let _ = write!(text, "{CPU}widened({}).ref()", self.reference(place));
                }
                Arg::Out(place) => text.push_str(&self.reference(place)),
            }
        }
        text + ")"
    }
}

fn numbers(list: &[u8]) -> Vec<String> {
    list.iter().map(u8::to_string).collect()
}

fn integer(n: u32, ty: Type) -> String {
    match ty.scalar().map(Scalar::class) {
        Some(Class::Unsigned) => format!("{n}u"),
        _ if n == 0x8000_0000 => "(-2147483647 - 1)".to_owned(),
        _ if n > 0x8000_0000 => format!("({})", n as i32),
        _ => n.to_string(),
    }
}

fn float(x: f64, ty: Type) -> String {
    if ty.scalar() == Some(Scalar::Double) {
        return if x.is_finite() {
            format!("({x:e})")
        } else {
            format!("{CPU}infinity<double>({})", i32::from(x < 0.0))
        };
    }
    let single = x as f32;
    if single.is_finite() {
        // `1e0` is a number of C, `1` with an `f` is not.
        format!("({single:e}f)")
    } else {
        format!("{CPU}infinity<float>({})", i32::from(x < 0.0))
    }
}

fn comparison(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Lt => "lt",
        BinaryOp::Gt => "gt",
        BinaryOp::Le => "le",
        BinaryOp::Ge => "ge",
        BinaryOp::Eq => "eq",
        _ => "ne",
    }
}

fn operation(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "add",
        BinaryOp::Sub => "sub",
        BinaryOp::Mul => "mul",
        BinaryOp::Div => "div",
        BinaryOp::Rem => "rem",
        BinaryOp::Shl => "shl",
        BinaryOp::Shr => "shr",
        BinaryOp::And => "bit_and",
        BinaryOp::Or => "bit_or",
        _ => "bit_xor",
    }
}

fn function(which: F) -> &'static str {
    match which {
        F::Abs => "abs",
        F::Sign => "sign",
        F::Min => "min",
        F::Max => "max",
        F::Clamp => "clamp",
        F::Floor => "floor",
        F::Round => "round",
        F::Frac => "frac",
        F::Fmod => "fmod",
        F::Sqrt => "sqrt",
        F::Rsqrt => "rsqrt",
        F::Exp => "exp",
        F::Log => "log",
        F::Pow => "pow",
        F::Sin => "sin",
        F::Cos => "cos",
        F::Asin => "asin",
        F::Acos => "acos",
        F::Dot => "dot",
        F::Cross => "cross",
        F::Normalize => "normalize",
        F::Lerp => "lerp",
        F::IsFinite => "isfinite_",
        F::IsInf => "isinf_",
        F::IsNan => "isnan_",
        F::Any => "any",
        F::All => "all",
    }
}
