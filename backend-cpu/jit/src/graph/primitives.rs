//! Which instructions the primitives of [`Algebra`] are.

use recal_il::isa::{Algebra, Scalar};

use super::{EQUAL, Form, Graph, Inst, LESS, LESS_EQUAL, NEGATED, NO, Node, UNORDERED, Val};
use crate::encode::inst::*;

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
        [self.binary(UNPCKLPS, lo, hi), self.binary(UNPCKHPS, lo, hi)]
    }

    fn lo(&mut self, q: [Val; 2]) -> Val {
        match (self.quad_of(q[0]), self.as_inst(q[0])) {
            (Some(quad), _) => self.word(quad as u32),
            (_, Some(Inst { form: Form::Binary, enc: UNPCKLPS, args: [lo, ..], .. })) => lo,
            _ => self.inst(Form::BinaryImm, SHUFPS, [q[0], q[1], NO], 0x88),
        }
    }

    fn hi(&mut self, q: [Val; 2]) -> Val {
        match (self.quad_of(q[0]), self.as_inst(q[0])) {
            (Some(quad), _) => self.word((quad >> 32) as u32),
            (_, Some(Inst { form: Form::Binary, enc: UNPCKLPS, args: [_, hi, _], .. })) => hi,
            _ => self.inst(Form::BinaryImm, SHUFPS, [q[0], q[1], NO], 0xDD),
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
        match self.as_inst(c) {
            Some(Inst { form: Form::Not, args: [c, ..], .. }) => self.select(c, b, a),
            _ => self.inst(Form::Select, PBLENDMD, [c, a, b], 0),
        }
    }

    fn selectq(&mut self, c: Val, a: [Val; 2], b: [Val; 2]) -> [Val; 2] {
        if let Some(c) = self.bool_of(c) {
            return if c { a } else { b };
        }
        let c = self.split(c);
        [0, 1].map(|k| self.inst(Form::Select, PBLENDMQ, [c[k], a[k], b[k]], 0))
    }

    fn both(&mut self, a: Val, b: Val) -> Val {
        match (self.bool_of(a), self.bool_of(b)) {
            (Some(a), _) => return if a { b } else { self.bool(false) },
            (_, Some(b)) => return if b { a } else { self.bool(false) },
            _ => {}
        }
        // The older one is the mask, since others may want it too.
        let (a, b) = (a.min(b), a.max(b));
        match (self.as_inst(a), self.as_inst(b)) {
            (_, Some(Inst { form: form @ (Form::Compare | Form::Test), enc, args: [x, y, NO], imm })) => {
                self.inst(form, enc, [x, y, a], imm)
            }
            (Some(Inst { form: form @ (Form::Compare | Form::Test), enc, args: [x, y, NO], imm }), _) => {
                self.inst(form, enc, [x, y, b], imm)
            }
            _ => self.inst(Form::And, LOAD, [a, b, NO], 0),
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
            _ => self.inst(Form::Or, LOAD, [a, b, NO], 0),
        }
    }

    fn negate(&mut self, a: Val) -> Val {
        match self.node(a) {
            Node::Bool(a) => self.bool(!a),
            Node::Inst(Inst { form: Form::Compare, enc, args: args @ [.., NO], imm }) => {
                self.inst(Form::Compare, enc, args, imm ^ NEGATED)
            }
            Node::Inst(Inst { form: Form::Test, enc, args: args @ [.., NO], imm }) => {
                let other = if enc == PTESTMD { PTESTNMD } else { PTESTMD };
                self.inst(Form::Test, other, args, imm)
            }
            Node::Inst(Inst { form: Form::Not, args: [a, ..], .. }) => a,
            Node::Inst(Inst { form: Form::Or, args: [a, b, _], .. }) => {
                let (a, b) = (self.negate(a), self.negate(b));
                self.both(a, b)
            }
            _ => self.inst(Form::Not, LOAD, [a, NO, NO], 0),
        }
    }

    fold! {
        iadd(a, b) word = |g| match (g.word_of(a), g.word_of(b)) {
            (Some(0), _) => b,
            (_, Some(0)) => a,
            _ => g.symmetric(PADDD, a, b),
        };
        isub(a, b) word = |g| if g.word_of(b) == Some(0) { a } else { g.binary(PSUBD, a, b) };
        imul(a, b) word = |g| {
            let (a, b) = if g.word_of(a).is_some() { (b, a) } else { (a, b) };
            match g.word_of(b) {
                Some(0) => b,
                Some(n) if n.is_power_of_two() => g.shifted(a, n.ilog2(), 6, PSLLVD, NO),
                _ => g.binary(PMULLD, a, b),
            }
        };
        umulhi(a, b) word = |g| g.high_product(PMULUDQ, a, b);
        smulhi(a, b) word = |g| g.high_product(PMULDQ, a, b);
        udiv(_a, _b) word = |g| g.none();
        umod(_a, _b) word = |g| g.none();
        and(a, b) word = |g| {
            let (a, b) = if g.word_of(a).is_some() { (b, a) } else { (a, b) };
            match g.word_of(b) {
                Some(0) => b,
                Some(u32::MAX) => a,
                _ if a == b => a,
                _ => g.binary(PANDD, a, b),
            }
        };
        or(a, b) word = |g| {
            let (a, b) = if g.word_of(a).is_some() { (b, a) } else { (a, b) };
            match g.word_of(b) {
                Some(0) => a,
                _ if a == b => a,
                _ => g.binary(PORD, a, b),
            }
        };
        xor(a, b) word = |g| {
            let (a, b) = if g.word_of(a).is_some() { (b, a) } else { (a, b) };
            if g.word_of(b) == Some(0) { a } else { g.binary(PXORD, a, b) }
        };
        not(a) word = |g| {
            let ones = g.word(u32::MAX);
            g.xor(a, ones)
        };
        shl(a, n) word = |g| match g.word_of(n) {
            Some(count) => g.shifted(a, count, 6, PSLLVD, n),
            None => g.binary(PSLLVD, a, n),
        };
        shr(a, n) word = |g| match g.word_of(n) {
            Some(count) => g.shifted(a, count, 2, PSRLVD, n),
            None => g.binary(PSRLVD, a, n),
        };
        sar(a, n) word = |g| match g.word_of(n) {
            Some(count) => g.shifted(a, count, 4, PSRAVD, n),
            None => g.binary(PSRAVD, a, n),
        };
        popcount(_a) word = |g| g.none();
        clz(a) word = |g| g.inst(Form::Unary, PLZCNTD, [a, NO, NO], 0);
        reverse(_a) word = |g| g.none();
        ieq(a, b) bool = |g| {
            let (a, b) = if g.word_of(a).is_some() { (b, a) } else { (a, b) };
            match (g.word_of(b), g.as_inst(a)) {
                (Some(0), Some(Inst { form: Form::Binary, enc: PANDD, args: [x, y, NO], .. })) => {
                    g.inst(Form::Test, PTESTNMD, [x, y, NO], 0)
                }
                (Some(0), Some(Inst { form: Form::Expand, enc: PMOVM2D, args: [mask, ..], .. })) => g.negate(mask),
                (Some(0), _) => g.inst(Form::Test, PTESTNMD, [a, a, NO], 0),
                _ => g.compare(PCMPD, a, b, EQUAL),
            }
        };
        ilt(a, b) bool = |g| g.compare(PCMPD, a, b, LESS);
        ult(a, b) bool = |g| g.compare(PCMPUD, a, b, LESS);
        fadd_raw(a, b) word = |g| {
            // The sign of a NaN is not said.
            let sign = g.word(0x8000_0000);
            for (x, y) in [(a, b), (b, a)] {
                if let Some(Inst { form: Form::Binary, enc: PXORD, args: [z, bits, NO], .. }) = g.as_inst(y) {
                    if bits == sign {
                        let (x, z) = (g.float(x), g.float(z));
                        return g.binary(SUBPS, x, z);
                    }
                }
            }
            let (a, b) = (g.float(a), g.float(b));
            g.symmetric(ADDPS, a, b)
        };
        fmul_raw(a, b) word = |g| {
            let (a, b) = (g.float(a), g.float(b));
            g.symmetric(MULPS, a, b)
        };
        feq(a, b) bool = |g| g.compare_floats(a, b, EQUAL);
        flt(a, b) bool = |g| g.compare_floats(a, b, LESS);
        fle(a, b) bool = |g| g.compare_floats(a, b, LESS_EQUAL);
        is_zero(a) bool = |g| {
            let zero = g.word(0);
            g.compare_floats(a, zero, EQUAL)
        };
        itof_raw(a) word = |g| g.inst(Form::Unary, CVTDQ2PS, [a, NO, NO], 0);
        utof_raw(a) word = |g| g.inst(Form::Unary, CVTUDQ2PS, [a, NO, NO], 0);
        ftoi_raw(a) word = |g| g.inst(Form::Unary, CVTTPS2DQ, [a, NO, NO], 0);
        flush(a) word = |g| match g.as_inst(a) {
            Some(Inst { form: Form::Flush, .. }) => a,
            _ => g.inst(Form::Flush, if g.lazy { ADDPS } else { PANDD }, [a, NO, NO], 0),
        };
        is_nan(a) bool = |g| {
            // Flushed or not.
            let floats = g.floats;
            let a = g.float(a);
            g.floats = floats;
            g.compare(CMPPS, a, a, UNORDERED)
        };
        ftrunc(a) word = |g| g.rounded(a, 0x0B);
        ffloor(a) word = |g| g.rounded(a, 0x09);
        fceil(a) word = |g| g.rounded(a, 0x0A);
        fnearest(a) word = |g| g.rounded(a, 0x08);
        fma(a, b, c) word = |g| {
            let args = [a, b, c].map(|arg| g.float(arg));
            let sum = g.inst(Form::Fma, FMAPS, args, 0);
            g.flush(sum)
        };
        fdiv(a, b) word = |g| {
            let (a, b) = (g.float(a), g.float(b));
            let quotient = g.binary(DIVPS, a, b);
            g.flush(quotient)
        };
        fsqrt(a) word = |g| {
            let a = g.float(a);
            g.inst(Form::Unary, SQRTPS, [a, NO, NO], 0)
        };
        frsqrt(_a) word = |g| g.none();
    }

    fn mask(&mut self, c: Val) -> Val {
        match self.bool_of(c) {
            Some(c) => self.word(if c { u32::MAX } else { 0 }),
            None => self.inst(Form::Expand, PMOVM2D, [c, NO, NO], 0),
        }
    }

    fn qadd(&mut self, a: [Val; 2], b: [Val; 2]) -> [Val; 2] {
        self.halves(PADDQ, a, b)
    }

    fn qsub(&mut self, a: [Val; 2], b: [Val; 2]) -> [Val; 2] {
        self.halves_in_order(PSUBQ, a, b)
    }

    fn qmul(&mut self, a: [Val; 2], b: [Val; 2]) -> [Val; 2] {
        self.halves(PMULLQ, a, b)
    }

    fn qand(&mut self, a: [Val; 2], b: [Val; 2]) -> [Val; 2] {
        self.halves(PANDQ, a, b)
    }

    fn qor(&mut self, a: [Val; 2], b: [Val; 2]) -> [Val; 2] {
        self.halves(PORQ, a, b)
    }

    fn qxor(&mut self, a: [Val; 2], b: [Val; 2]) -> [Val; 2] {
        self.halves(PXORQ, a, b)
    }

    fn qshl(&mut self, a: [Val; 2], n: Val) -> [Val; 2] {
        let n = self.widened(n);
        self.halves_in_order(PSLLVQ, a, n)
    }

    fn qshr(&mut self, a: [Val; 2], n: Val) -> [Val; 2] {
        let n = self.widened(n);
        self.halves_in_order(PSRLVQ, a, n)
    }

    fn qsar(&mut self, a: [Val; 2], n: Val) -> [Val; 2] {
        let n = self.widened(n);
        self.halves_in_order(PSRAVQ, a, n)
    }

    fn qeq(&mut self, a: [Val; 2], b: [Val; 2]) -> Val {
        self.compare_halves(PCMPQ, a, b, EQUAL)
    }

    fn qlt(&mut self, a: [Val; 2], b: [Val; 2]) -> Val {
        self.compare_halves(PCMPQ, a, b, LESS)
    }

    fn qult(&mut self, a: [Val; 2], b: [Val; 2]) -> Val {
        self.compare_halves(PCMPUQ, a, b, LESS)
    }

    fn qudiv(&mut self, a: [Val; 2], _: [Val; 2]) -> [Val; 2] {
        self.unsupported = true;
        a
    }

    fn qumod(&mut self, a: [Val; 2], _: [Val; 2]) -> [Val; 2] {
        self.unsupported = true;
        a
    }

    fn dadd_raw(&mut self, a: [Val; 2], b: [Val; 2]) -> [Val; 2] {
        self.floats = true;
        self.halves(ADDPD, a, b)
    }

    fn dmul_raw(&mut self, a: [Val; 2], b: [Val; 2]) -> [Val; 2] {
        self.floats = true;
        self.halves(MULPD, a, b)
    }

    fn dfma_raw(&mut self, a: [Val; 2], b: [Val; 2], c: [Val; 2]) -> [Val; 2] {
        self.floats = true;
        [0, 1].map(|k| self.inst(Form::Fma, FMAPD, [a[k], b[k], c[k]], 0))
    }

    fn ddiv_raw(&mut self, a: [Val; 2], b: [Val; 2]) -> [Val; 2] {
        self.floats = true;
        self.halves_in_order(DIVPD, a, b)
    }

    fn dsqrt_raw(&mut self, a: [Val; 2]) -> [Val; 2] {
        self.floats = true;
        a.map(|a| self.inst(Form::Unary, SQRTPD, [a, NO, NO], 0))
    }

    fn deq(&mut self, a: [Val; 2], b: [Val; 2]) -> Val {
        self.floats = true;
        self.compare_halves(CMPPD, a, b, EQUAL)
    }

    fn dlt(&mut self, a: [Val; 2], b: [Val; 2]) -> Val {
        self.floats = true;
        self.compare_halves(CMPPD, a, b, LESS)
    }

    fn is_dnan(&mut self, a: [Val; 2]) -> Val {
        self.compare_halves(CMPPD, a, a, UNORDERED)
    }

    fn ftod_raw(&mut self, a: Val) -> [Val; 2] {
        self.unsupported = true;
        [a; 2]
    }

    fn dtof_raw(&mut self, a: [Val; 2]) -> Val {
        self.unsupported = true;
        a[0]
    }
}
