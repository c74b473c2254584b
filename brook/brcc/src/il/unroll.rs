//! Loops over constant arrays, unrolled: `for (k = 0; k < 3; k++) s += mask[k]` reads `mask[0]`, `mask[1]`, `mask[2]`, constants at
//! fixed places, which any compiler of IL serves better than one at a computed place. What is computed stays the same, in the same
//! order.

use crate::ast::BinaryOp;
use crate::hir::{Arg, Base, Expr, ExprKind, Kernel, Place, Stmt, VarId};
use crate::types::{Class, Scalar, Type};

/// Most rounds of a loop that is unrolled.
const ROUNDS: i64 = 16;
/// Most expressions that come of it.
const SIZE: usize = 1500;

/// The kernel with such loops written out.
pub(crate) fn unroll(kernel: &Kernel) -> Kernel {
    let mut kernel = kernel.clone();
    block(&mut kernel.body);
    kernel
}

fn block(body: &mut Vec<Stmt>) {
    for statement in body.iter_mut() {
        match statement {
            Stmt::If(_, a, b) => {
                block(a);
                block(b);
            }
            Stmt::Loop(_, inner, _) | Stmt::DoWhile(inner, _) | Stmt::Block(inner) => block(inner),
            _ => {}
        }
    }
    let mut at = 1;
    while at < body.len() {
        if let Some(rounds) = rounds(&body[at - 1], &body[at]) {
            body.splice(at..=at, rounds);
        }
        at += 1;
    }
}

/// The rounds of a loop behind the statement that sets its counter, and the counter's last value.
fn rounds(before: &Stmt, this: &Stmt) -> Option<Vec<Stmt>> {
    let Stmt::Expr(Expr { kind: ExprKind::Assign(place, first), .. }) = before else { return None };
    let Stmt::Loop(Some(condition), body, Some(step)) = this else { return None };
    let counter = variable(place)?;
    let class = place.ty.scalar().map(Scalar::class).filter(|_| place.ty.width() == 1)?;
    let ExprKind::Compare(op @ (BinaryOp::Lt | BinaryOp::Le), left, right) = &condition.kind else {
        return None;
    };
    let end = number(right, class)? + i64::from(*op == BinaryOp::Le);
    let first = number(first, class)?;
    let rounds = end - first;
    let counts = matches!(left.kind, ExprKind::Var(v) if v == counter) && is_step(step, counter);
    if !counts || !(1..=ROUNDS).contains(&rounds) {
        return None;
    }
    let mut found = Found { counter, size: 0, element: false, fixed: true };
    let mut own = body.clone();
    statements(&mut own, &mut |e| found.look(e), &mut |s| {
        !matches!(s, Stmt::Break | Stmt::Continue | Stmt::Return(_) | Stmt::Sync)
    })
    .then_some(())?;
    let whole = found.size * usize::try_from(rounds).ok()?;
    if !found.element || !found.fixed || whole > SIZE {
        return None;
    }
    let value = |n: i64| Expr { ty: place.ty, kind: ExprKind::Int(n as u32) };
    let mut list = Vec::new();
    for n in first..end {
        let mut copy = body.clone();
        let mut replace = |e: &mut Expr| {
            if matches!(e.kind, ExprKind::Var(v) if v == counter) {
                *e = value(n);
            } else {
                fold(e);
            }
        };
        statements(&mut copy, &mut replace, &mut |_| true);
        list.push(Stmt::Block(copy));
    }
    let last = ExprKind::Assign(place.clone(), Box::new(value(end)));
    list.push(Stmt::Expr(Expr { ty: place.ty, kind: last }));
    Some(list)
}

/// A variable as a whole.
fn variable(place: &Place) -> Option<VarId> {
    match place.base {
        Base::Var(id) if place.path.is_empty() && place.swizzle.is_empty() => Some(id),
        _ => None,
    }
}

fn number(e: &Expr, class: Class) -> Option<i64> {
    match (&e.kind, class) {
        (ExprKind::Int(n), Class::Signed) => Some(i64::from(*n as i32)),
        (ExprKind::Int(n), Class::Unsigned) => Some(i64::from(*n)),
        _ => None,
    }
}

/// `v++`, `v += 1`, `v = v + 1`.
fn is_step(step: &Expr, counter: VarId) -> bool {
    match &step.kind {
        ExprKind::Step(up, _, place) => *up && variable(place) == Some(counter),
        ExprKind::Assign(place, value) => {
            let ExprKind::Binary(BinaryOp::Add, a, b) = &value.kind else { return false };
            variable(place) == Some(counter)
                && matches!(a.kind, ExprKind::Var(v) if v == counter)
                && matches!(b.kind, ExprKind::Int(1))
        }
        _ => false,
    }
}

/// What a loop's body is like.
struct Found {
    counter: VarId,
    size: usize,
    /// An element of a constant array is found by the counter.
    element: bool,
    /// The body leaves the counter alone.
    fixed: bool,
}

impl Found {
    fn look(&mut self, e: &Expr) {
        let own = |place: &Place| matches!(place.base, Base::Var(v) if v == self.counter);
        self.size += 1;
        match &e.kind {
            ExprKind::Element(_, index) => self.element |= index.iter().any(|i| i.mentions(self.counter)),
            ExprKind::Assign(place, _) | ExprKind::Step(_, _, place) => self.fixed &= !own(place),
            ExprKind::Call(_, args) => {
                self.fixed &= !args.iter().any(|a| matches!(a, Arg::Out(place) if own(place)));
                // A called kernel is compiled into this one: how long it is is not known here.
                self.size += 50;
            }
            _ => {}
        }
    }
}

/// Whole numbers, where both are known.
fn fold(e: &mut Expr) {
    let ExprKind::Binary(op, a, b) = &e.kind else { return };
    let (ExprKind::Int(a), ExprKind::Int(b)) = (&a.kind, &b.kind) else { return };
    let value = match op {
        BinaryOp::Add => a.wrapping_add(*b),
        BinaryOp::Sub => a.wrapping_sub(*b),
        BinaryOp::Mul => a.wrapping_mul(*b),
        _ => return,
    };
    if matches!(e.ty, Type::Vector(_, 1)) {
        e.kind = ExprKind::Int(value);
    }
}

/// Visits every expression, inner ones first; false as soon as `allowed` refuses a statement.
fn statements(
    body: &mut [Stmt],
    visit: &mut dyn FnMut(&mut Expr),
    allowed: &mut dyn FnMut(&Stmt) -> bool,
) -> bool {
    body.iter_mut().all(|statement| {
        if !allowed(statement) {
            return false;
        }
        match statement {
            Stmt::Expr(e) | Stmt::Local(_, Some(e)) | Stmt::Return(Some(e)) => expression(e, visit),
            Stmt::If(condition, a, b) => {
                expression(condition, visit);
                return statements(a, visit, allowed) && statements(b, visit, allowed);
            }
            Stmt::Loop(condition, inner, step) => {
                condition.iter_mut().chain(step).for_each(|e| expression(e, visit));
                return statements(inner, visit, allowed);
            }
            Stmt::DoWhile(inner, condition) => {
                expression(condition, visit);
                return statements(inner, visit, allowed);
            }
            Stmt::Block(inner) => return statements(inner, visit, allowed),
            Stmt::Local(_, None) | Stmt::Break | Stmt::Continue | Stmt::Return(None) | Stmt::Sync => {}
        }
        true
    })
}

fn expression(e: &mut Expr, visit: &mut dyn FnMut(&mut Expr)) {
    let in_place = |place: &mut Place, visit: &mut dyn FnMut(&mut Expr)| {
        if let Base::Scatter(_, index) = &mut place.base {
            index.iter_mut().for_each(|i| expression(i, visit));
        }
    };
    match &mut e.kind {
        ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Var(_)
        | ExprKind::IndexOf
        | ExprKind::Instance
        | ExprKind::InGroup => {}
        ExprKind::Member(a, _)
        | ExprKind::Swizzle(a, _)
        | ExprKind::Shared(a)
        | ExprKind::Neg(a)
        | ExprKind::BitNot(a)
        | ExprKind::Not(a)
        | ExprKind::Cast(a)
        | ExprKind::Splat(a) => expression(a, visit),
        ExprKind::Binary(_, a, b)
        | ExprKind::Compare(_, a, b)
        | ExprKind::Logic(_, a, b)
        | ExprKind::Comma(a, b) => [a, b].into_iter().for_each(|e| expression(e, visit)),
        ExprKind::Cond(a, b, c) => [a, b, c].into_iter().for_each(|e| expression(e, visit)),
        ExprKind::Gather(_, list)
        | ExprKind::Element(_, list)
        | ExprKind::Construct(list)
        | ExprKind::Intrinsic(_, list) => list.iter_mut().for_each(|e| expression(e, visit)),
        ExprKind::Assign(place, value) => {
            in_place(place, visit);
            expression(value, visit);
        }
        ExprKind::Step(_, _, place) => in_place(place, visit),
        ExprKind::Call(_, args) => {
            for arg in args {
                match arg {
                    Arg::Value(e) => expression(e, visit),
                    Arg::Out(place) => in_place(place, visit),
                    Arg::Array(_) => {}
                }
            }
        }
    }
    visit(e);
}
