//! Which operations the primitives of [`Algebra`] are.

use recal_il::isa::lane::{bits, division, double, root};
use recal_il::isa::{Algebra, Scalar};

use super::{Graph, NO, Node, Val};
use crate::op::Kind::*;
use crate::op::Op;
use crate::op::Relation::*;

/// Methods of operations whose result is constant if the operands are.
macro_rules! fold {
    ($($name:ident($($arg:ident),*) $wrap:ident = |$self:ident| $body:expr;)*) => {
        $(
            fn $name(&mut self, $($arg: Val),*) -> Val {
                if let ($(Some($arg),)*) = ($(self.word_of($arg),)*) {
                    let value = Scalar.$name($($arg),*);
                    return self.$wrap(value);
                }
                let $self = self;
                $body
            }
        )*
    };
}

impl Algebra for Graph {
    type W = Val;
    type Q = [Val; 2];
    type B = Val;

    fn word(&mut self, bits: u32) -> Val {
        self.add(Node::Word(bits))
    }

    fn quad(&mut self, bits: u64) -> [Val; 2] {
        [self.add(Node::Quad(bits)); 2]
    }

    fn pack(&mut self, lo: Val, hi: Val) -> [Val; 2] {
        if let (Some(lo), Some(hi)) = (self.word_of(lo), self.word_of(hi)) {
            return self.quad(u64::from(hi) << 32 | u64::from(lo));
        }
        match (self.parts(lo), self.parts(hi)) {
            (Some((Op::Even, halves, NO)), Some((Op::Odd, same, NO))) if halves == same => {
                [halves[0], halves[1]]
            }
            _ => [self.binary(Op::ZipLow, lo, hi), self.binary(Op::ZipHigh, lo, hi)],
        }
    }

    fn lo(&mut self, q: [Val; 2]) -> Val {
        match (self.quad_of(q[0]), self.parts(q[0])) {
            (Some(quad), _) => self.word(quad as u32),
            (_, Some((Op::ZipLow, [lo, ..], _))) => lo,
            _ => self.binary(Op::Even, q[0], q[1]),
        }
    }

    fn hi(&mut self, q: [Val; 2]) -> Val {
        match (self.quad_of(q[0]), self.parts(q[0])) {
            (Some(quad), _) => self.word((quad >> 32) as u32),
            (_, Some((Op::ZipLow, [_, hi, _], _))) => hi,
            _ => self.binary(Op::Odd, q[0], q[1]),
        }
    }

    fn select(&mut self, c: Val, a: Val, b: Val) -> Val {
        match (self.bool_of(c), self.word_of(a), self.word_of(b)) {
            (Some(c), ..) => return if c { a } else { b },
            _ if a == b => return a,
            (_, Some(0), _) => {
                let c = self.negate(c);
                return self.keep(c, b);
            }
            (_, _, Some(0)) => return self.keep(c, a),
            _ => {}
        }
        if let (Some((x, some)), Some((y, other))) = (self.flushed_later(a), self.flushed_later(b)) {
            if some || other {
                let chosen = self.select(c, x, y);
                return self.flush(chosen);
            }
        }
        // Where it was asked before there is one answer.
        match (self.parts(c), self.parts(a), self.parts(b)) {
            (Some((Op::Not, [c, ..], _)), ..) => self.select(c, b, a),
            (_, Some((Op::Select, [same, a, _], NO)), _) if same == c => self.select(c, a, b),
            (.., Some((Op::Select, [same, _, b], NO))) if same == c => self.select(c, a, b),
            _ => self.inst(Op::Select, [c, a, b]),
        }
    }

    fn selectq(&mut self, c: Val, a: [Val; 2], b: [Val; 2]) -> [Val; 2] {
        if let Some(c) = self.bool_of(c) {
            return if c { a } else { b };
        }
        let c = self.split(c);
        // Half of a mask that is known may be all or nothing, where all of it is neither.
        [0, 1].map(|k| match self.bool_of(c[k]) {
            Some(true) => a[k],
            Some(false) => b[k],
            None => self.inst(Op::QSelect, [c[k], a[k], b[k]]),
        })
    }

    fn both(&mut self, a: Val, b: Val) -> Val {
        match (self.bool_of(a), self.bool_of(b)) {
            (Some(a), _) => return if a { b } else { self.bool(false) },
            (_, Some(b)) => return if b { a } else { self.bool(false) },
            _ => {}
        }
        // The older one is the mask, since others may want it too.
        let (a, b) = (a.min(b), a.max(b));
        match (self.parts(a), self.parts(b)) {
            (_, Some((op @ (Op::Compare(..) | Op::Common(_)), [x, y, _], NO))) => self.within(op, x, y, a),
            (Some((op @ (Op::Compare(..) | Op::Common(_)), [x, y, _], NO)), _) => self.within(op, x, y, b),
            _ => self.binary(Op::Both, a, b),
        }
    }

    fn either(&mut self, a: Val, b: Val) -> Val {
        match (self.bool_of(a), self.bool_of(b)) {
            (Some(a), _) => {
                if a {
                    self.bool(true)
                } else {
                    b
                }
            }
            (_, Some(b)) => {
                if b {
                    self.bool(true)
                } else {
                    a
                }
            }
            _ if a == b => a,
            _ => self.binary(Op::Either, a, b),
        }
    }

    fn negate(&mut self, a: Val) -> Val {
        if let Some(a) = self.bool_of(a) {
            return self.bool(!a);
        }
        match self.parts(a) {
            Some((Op::Compare(kind, relation, negated), [x, y, _], NO)) => {
                self.binary(Op::Compare(kind, relation, !negated), x, y)
            }
            Some((Op::Common(any), [x, y, _], NO)) => self.binary(Op::Common(!any), x, y),
            Some((Op::Not, [a, ..], _)) => a,
            Some((Op::Either, [a, b, _], _)) => {
                let (a, b) = (self.negate(a), self.negate(b));
                self.both(a, b)
            }
            _ => self.unary(Op::Not, a),
        }
    }

    fold! {
        iadd(a, b) word = |g| match (g.word_of(a), g.word_of(b)) {
            (Some(0), _) => b,
            (_, Some(0)) => a,
            _ => g.symmetric(Op::Add, a, b),
        };
        isub(a, b) word = |g| match (g.word_of(b), g.ready(a, false)) {
            (Some(0), _) => a,
            (Some(1), Some(ready)) => g.add(ready),
            _ => g.binary(Op::Sub, a, b),
        };
        imul(a, b) word = |g| {
            let (a, b) = if g.word_of(a).is_some() { (b, a) } else { (a, b) };
            match g.word_of(b) {
                Some(0) => b,
                Some(n) if n.is_power_of_two() => g.shifted(a, n.ilog2(), Op::ShlBy, Op::Shl, NO),
                _ => g.binary(Op::Mul, a, b),
            }
        };
        umulhi(a, b) word = |g| g.high_product(Op::MulEvenUnsigned, a, b);
        smulhi(a, b) word = |g| g.high_product(Op::MulEvenSigned, a, b);
        udiv(a, b) word = |g| division::quotient_words(g, a, b).0;
        umod(a, b) word = |g| division::quotient_words(g, a, b).1;
        imin(a, b) word = |g| g.symmetric(Op::MinSigned, a, b);
        imax(a, b) word = |g| g.symmetric(Op::MaxSigned, a, b);
        fmin_raw(a, b) word = |g| {
            let (a, b) = (g.float(a), g.float(b));
            g.binary(Op::FMin, a, b)
        };
        fmax_raw(a, b) word = |g| {
            let (a, b) = (g.float(a), g.float(b));
            g.binary(Op::FMax, a, b)
        };
        floor_to_int(a) word = |g| {
            let whole = g.ffloor(a);
            g.ftoi_raw(whole)
        };
        and(a, b) word = |g| {
            let (a, b) = if g.word_of(a).is_some() { (b, a) } else { (a, b) };
            match g.word_of(b) {
                Some(0) => b,
                Some(u32::MAX) => a,
                _ if a == b => a,
                _ => g.binary(Op::And, a, b),
            }
        };
        or(a, b) word = |g| {
            let (a, b) = if g.word_of(a).is_some() { (b, a) } else { (a, b) };
            match g.word_of(b) {
                Some(0) => a,
                _ if a == b => a,
                _ => g.binary(Op::Or, a, b),
            }
        };
        xor(a, b) word = |g| {
            let (a, b) = if g.word_of(a).is_some() { (b, a) } else { (a, b) };
            if g.word_of(b) == Some(0) { a } else { g.binary(Op::Xor, a, b) }
        };
        not(a) word = |g| {
            let ones = g.word(u32::MAX);
            g.xor(a, ones)
        };
        shl(a, n) word = |g| match g.word_of(n) {
            Some(count) => g.shifted(a, count, Op::ShlBy, Op::Shl, n),
            None => g.binary(Op::Shl, a, n),
        };
        shr(a, n) word = |g| match g.word_of(n) {
            Some(count) => g.shifted(a, count, Op::ShrBy, Op::Shr, n),
            None => g.binary(Op::Shr, a, n),
        };
        sar(a, n) word = |g| match g.word_of(n) {
            Some(count) => g.shifted(a, count, Op::SarBy, Op::Sar, n),
            None => g.binary(Op::Sar, a, n),
        };
        popcount(a) word = |g| bits::sum_of_bits(g, a);
        clz(a) word = |g| g.unary(Op::LeadingZeros, a);
        reverse(a) word = |g| bits::swapped_fields(g, a);
        ieq(a, b) bool = |g| {
            let (a, b) = if g.word_of(a).is_some() { (b, a) } else { (a, b) };
            match (g.word_of(b), g.parts(a)) {
                (Some(0), Some((Op::And, [x, y, _], NO))) => g.binary(Op::Common(false), x, y),
                (Some(0), Some((Op::Words, [mask, ..], _))) => g.negate(mask),
                (Some(0), _) => g.binary(Op::Common(false), a, a),
                _ => g.compare(Signed, Equal, a, b),
            }
        };
        ilt(a, b) bool = |g| g.compare(Signed, Less, a, b);
        ult(a, b) bool = |g| g.compare(Unsigned, Less, a, b);
        fadd_raw(a, b) word = |g| {
            // The sign of a NaN is not said.
            let sign = g.word(0x8000_0000);
            for (x, y) in [(a, b), (b, a)] {
                if let Some((Op::Xor, [z, bits, _], NO)) = g.parts(y) {
                    if bits == sign {
                        let (x, z) = (g.float(x), g.float(z));
                        return g.binary(Op::FSub, x, z);
                    }
                }
            }
            let (a, b) = (g.float(a), g.float(b));
            g.symmetric(Op::FAdd, a, b)
        };
        fmul_raw(a, b) word = |g| {
            let (a, b) = (g.float(a), g.float(b));
            g.symmetric(Op::FMul, a, b)
        };
        ffma_raw(a, b, c) word = |g| {
            let args = [a, b, c].map(|arg| g.float(arg));
            g.inst(Op::FFma, args)
        };
        feq(a, b) bool = |g| g.compare_floats(Equal, a, b);
        flt(a, b) bool = |g| g.compare_floats(Less, a, b);
        fle(a, b) bool = |g| g.compare_floats(LessEqual, a, b);
        is_zero(a) bool = |g| {
            let zero = g.word(0);
            g.compare_floats(Equal, a, zero)
        };
        itof_raw(a) word = |g| match g.ready(a, true) {
            Some(ready) => g.add(ready),
            None => g.unary(Op::FromSigned, a),
        };
        utof_raw(a) word = |g| g.unary(Op::FromUnsigned, a);
        ftoi_raw(a) word = |g| g.unary(Op::ToSigned, a);
        flush(a) word = |g| match g.parts(a) {
            Some((Op::Flush, ..)) => a,
            _ if g.never_denormal(a) => a,
            _ => g.unary(Op::Flush, a),
        };
        is_nan(a) bool = |g| {
            // Flushed or not.
            let floats = g.floats;
            let a = g.float(a);
            g.floats = floats;
            g.compare(Float, Unordered, a, a)
        };
        ftrunc(a) word = |g| g.rounded(a, 3);
        ffloor(a) word = |g| g.rounded(a, 1);
        fceil(a) word = |g| g.rounded(a, 2);
        fnearest(a) word = |g| g.rounded(a, 0);
        fma(a, b, c) word = |g| {
            let sum = g.ffma_raw(a, b, c);
            g.flush(sum)
        };
        fdiv(a, b) word = |g| {
            let (a, b) = (g.float(a), g.float(b));
            let quotient = g.binary(Op::FDiv, a, b);
            g.flush(quotient)
        };
        fsqrt(a) word = |g| {
            let a = g.float(a);
            g.unary(Op::FSqrt, a)
        };
        frsqrt(a) word = |g| root::reciprocal_of_root(g, a);
    }

    fn mask(&mut self, c: Val) -> Val {
        match self.bool_of(c) {
            Some(c) => self.word(if c { u32::MAX } else { 0 }),
            None => self.unary(Op::Words, c),
        }
    }

    fn qadd(&mut self, a: [Val; 2], b: [Val; 2]) -> [Val; 2] {
        self.halves(Op::QAdd, a, b)
    }

    fn qsub(&mut self, a: [Val; 2], b: [Val; 2]) -> [Val; 2] {
        self.halves_in_order(Op::QSub, a, b)
    }

    fn qmul(&mut self, a: [Val; 2], b: [Val; 2]) -> [Val; 2] {
        self.halves(Op::QMul, a, b)
    }

    fn qand(&mut self, a: [Val; 2], b: [Val; 2]) -> [Val; 2] {
        self.halves(Op::QAnd, a, b)
    }

    fn qor(&mut self, a: [Val; 2], b: [Val; 2]) -> [Val; 2] {
        self.halves(Op::QOr, a, b)
    }

    fn qxor(&mut self, a: [Val; 2], b: [Val; 2]) -> [Val; 2] {
        self.halves(Op::QXor, a, b)
    }

    fn qshl(&mut self, a: [Val; 2], n: Val) -> [Val; 2] {
        let n = self.widened(n);
        self.halves_in_order(Op::QShl, a, n)
    }

    fn qshr(&mut self, a: [Val; 2], n: Val) -> [Val; 2] {
        let n = self.widened(n);
        self.halves_in_order(Op::QShr, a, n)
    }

    fn qsar(&mut self, a: [Val; 2], n: Val) -> [Val; 2] {
        let n = self.widened(n);
        self.halves_in_order(Op::QSar, a, n)
    }

    fn qeq(&mut self, a: [Val; 2], b: [Val; 2]) -> Val {
        self.compare_halves(SignedQuad, Equal, a, b)
    }

    fn qlt(&mut self, a: [Val; 2], b: [Val; 2]) -> Val {
        self.compare_halves(SignedQuad, Less, a, b)
    }

    fn qult(&mut self, a: [Val; 2], b: [Val; 2]) -> Val {
        self.compare_halves(UnsignedQuad, Less, a, b)
    }

    fn qudiv(&mut self, a: [Val; 2], b: [Val; 2]) -> [Val; 2] {
        division::quotient_quads(self, a, b).0
    }

    fn qumod(&mut self, a: [Val; 2], b: [Val; 2]) -> [Val; 2] {
        division::quotient_quads(self, a, b).1
    }

    fn dadd_raw(&mut self, a: [Val; 2], b: [Val; 2]) -> [Val; 2] {
        self.floats = true;
        self.halves(Op::DAdd, a, b)
    }

    fn dmul_raw(&mut self, a: [Val; 2], b: [Val; 2]) -> [Val; 2] {
        self.floats = true;
        self.halves(Op::DMul, a, b)
    }

    fn dfma_raw(&mut self, a: [Val; 2], b: [Val; 2], c: [Val; 2]) -> [Val; 2] {
        self.floats = true;
        [0, 1].map(|k| self.inst(Op::DFma, [a[k], b[k], c[k]]))
    }

    fn ddiv_raw(&mut self, a: [Val; 2], b: [Val; 2]) -> [Val; 2] {
        self.floats = true;
        self.halves_in_order(Op::DDiv, a, b)
    }

    fn dsqrt_raw(&mut self, a: [Val; 2]) -> [Val; 2] {
        self.floats = true;
        a.map(|a| self.unary(Op::DSqrt, a))
    }

    fn deq(&mut self, a: [Val; 2], b: [Val; 2]) -> Val {
        self.floats = true;
        self.compare_halves(Double, Equal, a, b)
    }

    fn dlt(&mut self, a: [Val; 2], b: [Val; 2]) -> Val {
        self.floats = true;
        self.compare_halves(Double, Less, a, b)
    }

    fn is_dnan(&mut self, a: [Val; 2]) -> Val {
        self.compare_halves(Double, Unordered, a, a)
    }

    fn ftod_raw(&mut self, a: Val) -> [Val; 2] {
        double::widened(self, a)
    }

    fn dtof_raw(&mut self, a: [Val; 2]) -> Val {
        double::narrowed(self, a)
    }
}

impl Graph {
    /// High halves of products: of the words with even numbers, then of the others.
    fn high_product(&mut self, multiply: Op, a: Val, b: Val) -> Val {
        let down = |g: &mut Graph, v: Val| g.unary(Op::QShrBy(32), v);
        // Constants are the same in both places.
        let odd = |g: &mut Graph, v: Val| if g.word_of(v).is_some() { v } else { down(g, v) };
        let even = self.binary(multiply, a, b);
        let (a, b) = (odd(self, a), odd(self, b));
        let odd = self.binary(multiply, a, b);
        let upper = self.add(Node::Quad(0xFFFF_FFFF_0000_0000));
        let (even, odd) = (down(self, even), self.binary(Op::QAnd, odd, upper));
        self.binary(Op::Or, even, odd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Node;

    #[test]
    fn a_choice_that_was_made_is_not_asked_again() {
        let mut graph = Graph::new(false);
        let [x, y, z, w] = [0, 1, 2, 3].map(|row| graph.add(Node::Row(row)));
        let [mask, other] = [z, w].map(|val| graph.tested(val));
        let once = graph.select(mask, x, y);
        let [first, second] = [graph.select(mask, x, z), graph.select(mask, w, y)];
        assert_eq!(graph.select(mask, first, y), once);
        assert_eq!(graph.select(mask, x, second), once);
        assert_ne!(graph.select(other, first, y), graph.select(other, x, y));
    }
}
