//! From a graph to machine code: which values are needed, in which registers, and the bytes.
//!
//! The code goes over the 64 lanes in four strips of 16. Within a block nothing branches, so that the next use of
//! each value is known, and the value whose next use is farthest gives way when registers run out.

mod access;
mod frame;
mod plan;
mod pool;

use self::access::{Way, entry};
pub use self::frame::{Frame, float_mode};
use self::plan::{Plan, graph_inst};
pub use self::pool::Pool;
use crate::encode::{Base, Lanes, Rm, inst::*};
use crate::graph::{Form, Graph, Inst, NO, Node, Val};

/// Mask of the executing lanes.
pub const EXEC: u8 = 1;
/// Mask for use within an instruction, and one more that cannot guard lanes.
pub const SCRATCH: u8 = 7;
pub const TEST: u8 = 0;
/// The test of a block that was tried in two ways.
const TESTED: u8 = 6;
/// Vectors that are given out; the last one is for use within an instruction.
const VECTORS: u8 = 31;
/// Most values that are kept on the stack at a time.
const SLOTS: usize = 240;

/// Where a value is.
#[derive(Clone, Copy, Default)]
struct Place {
    register: Option<u8>,
    slot: Option<u32>,
}

struct Body<'a, 'b> {
    frame: &'a mut Frame<'b>,
    graph: &'a Graph,
    uses: &'a [Vec<u32>],
    place: Vec<Place>,
    /// Who is in which register; masks 2 to 6 are given out.
    vectors: [Option<Val>; 32],
    masks: [Option<Val>; 8],
    /// Operands of the instruction at hand.
    pinned: Vec<Val>,
    slots: u32,
    /// Places on the stack whose values are done with, and those that the instruction at hand may still read.
    free: Vec<u32>,
    freed: Vec<u32>,
    now: u32,
    lanes: Lanes,
}

impl<'a, 'b> Body<'a, 'b> {
    fn new(frame: &'a mut Frame<'b>, graph: &'a Graph, uses: &'a [Vec<u32>]) -> Body<'a, 'b> {
        Body {
            graph,
            uses,
            place: vec![Place::default(); uses.len()],
            vectors: [None; 32],
            masks: [None; 8],
            pinned: Vec::new(),
            slots: frame.slots,
            free: Vec::new(),
            freed: Vec::new(),
            now: 0,
            lanes: frame.lanes,
            frame,
        }
    }

    /// Stores values in rows; there may be more of them than registers.
    fn store_rows(&mut self, stores: &[(u32, Val)], unseen: &impl Fn(u32) -> bool) {
        let done = self.now;
        let (held, spilled): (Vec<_>, Vec<_>) =
            stores.iter().partition(|(_, val)| self.place[*val as usize].register.is_some());
        let stores: Vec<(u32, Val)> = held.into_iter().chain(spilled).collect();
        for (k, &(row, val)) in stores.iter().enumerate() {
            // What is still to be stored has a use ahead.
            self.now = done - 1;
            self.pinned = vec![val];
            self.free.append(&mut self.freed);
            let from = self.fetch(val);
            let lanes = if unseen(row) { Lanes::All } else { self.lanes };
            match self.frame.pin(row) {
                Some(to) => self.frame.code.vector(LOAD, to, 0, Rm::Reg(from), lanes, None),
                None => self.frame.code.vector(STORE, from, 0, Rm::Mem(Base::Rows, 256 * row), lanes, None),
            }
            self.now = done;
            if stores[k + 1..].iter().all(|&(_, later)| later != val) {
                self.release(val);
            }
        }
    }

    /// The mask register of `test`, when everything else is done.
    fn end(&mut self, test: Option<Val>) -> Option<u8> {
        test.map(|val| self.fetch(val))
    }

    /// The next use after the current time, if there is one.
    fn next_use(&self, val: Val) -> Option<u32> {
        let uses = &self.uses[val as usize];
        uses.get(uses.partition_point(|&time| time <= self.now)).copied()
    }

    /// Frees the places of a value without further uses.
    fn release(&mut self, val: Val) {
        if self.next_use(val).is_none() {
            if let Some(register) = self.place[val as usize].register.take() {
                *self.owner(self.graph.is_mask(val), register) = None;
            }
            self.freed.extend(self.place[val as usize].slot.take());
        }
    }

    /// A place on the stack.
    fn slot(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.frame.most = self.frame.most.max(self.slots);
            64 * (self.slots - 1)
        })
    }

    /// The register of a value that is a pinned row.
    fn pin(&self, val: Val) -> Option<u8> {
        if let Node::Row(row) = self.graph.node(val) { self.frame.pin(row) } else { None }
    }

    fn owner(&mut self, mask: bool, register: u8) -> &mut Option<Val> {
        if mask { &mut self.masks[register as usize] } else { &mut self.vectors[register as usize] }
    }

    /// A register for `val`, taken from whoever needs it last.
    fn take(&mut self, val: Val) -> u8 {
        let mask = self.graph.is_mask(val);
        let range = if mask { 2..7 } else { 0..VECTORS - self.frame.pinned.len() as u8 };
        let free = range.clone().find(|&r| self.owner(mask, r).is_none());
        let register = free.unwrap_or_else(|| {
            let last = |r: &u8| {
                let owner = if mask { self.masks[*r as usize] } else { self.vectors[*r as usize] };
                owner.map_or(0, |owner| {
                    if self.pinned.contains(&owner) { 0 } else { self.next_use(owner).unwrap_or(u32::MAX) }
                })
            };
            let victim = range.max_by_key(last).unwrap_or(2);
            self.evict(mask, victim);
            victim
        });
        *self.owner(mask, register) = Some(val);
        self.place[val as usize].register = Some(register);
        register
    }

    fn evict(&mut self, mask: bool, register: u8) {
        let Some(val) = self.owner(mask, register).take() else { return };
        self.place[val as usize].register = None;
        if self.next_use(val).is_some()
            && self.place[val as usize].slot.is_none()
            && matches!(self.graph.node(val), Node::Inst(_))
        {
            let at = self.slot();
            self.place[val as usize].slot = Some(at);
            if mask {
                self.frame.code.mask_store(register, at);
            } else {
                self.frame.code.vector(STORE, register, 0, Rm::Mem(Base::Stack, at), Lanes::All, None);
            }
        }
    }

    /// The register that holds `val`, loaded if need be.
    fn fetch(&mut self, val: Val) -> u8 {
        if let Some(register) = self.place[val as usize].register.or_else(|| self.pin(val)) {
            return register;
        }
        let register = self.take(val);
        let (enc, from) = match (self.graph.node(val), self.place[val as usize].slot) {
            (Node::Row(row), _) => (LOAD, Rm::Mem(Base::Rows, 256 * row)),
            (Node::Word(word), _) => (PBROADCASTD, Rm::Mem(Base::Pool, self.frame.pool.word(word))),
            (Node::Field(view, field), _) => {
                (PBROADCASTD, Rm::Mem(Base::Views, entry(view) + 4 * field as u32))
            }
            (Node::Quad(quad), _) => (PBROADCASTQ, Rm::Mem(Base::Pool, self.frame.pool.quad(quad))),
            (Node::Kept(at), _) => (LOAD, Rm::Mem(Base::Stack, at)),
            (_, Some(at)) if self.graph.is_mask(val) => {
                self.frame.code.mask_load(register, at);
                return register;
            }
            (_, Some(at)) => (LOAD, Rm::Mem(Base::Stack, at)),
            (node, None) => unreachable!("{node:?} is used before it is computed"),
        };
        self.frame.code.vector(enc, register, 0, from, Lanes::All, None);
        register
    }

    /// The last operand of an instruction, which may be in memory.
    fn operand(&mut self, val: Val, wide: bool) -> Rm {
        if self.place[val as usize].register.is_none() {
            match self.graph.node(val) {
                Node::Word(word) if !wide => return Rm::Splat(Base::Pool, self.frame.pool.word(word)),
                Node::Field(view, field) if !wide => {
                    return Rm::Splat(Base::Views, entry(view) + 4 * field as u32);
                }
                Node::Quad(quad) if wide => return Rm::Splat(Base::Pool, self.frame.pool.quad(quad)),
                Node::Row(row) if self.frame.pin(row).is_none() && self.passes(val) => {
                    return Rm::Mem(Base::Rows, 256 * row);
                }
                Node::Kept(at) if self.passes(val) => return Rm::Mem(Base::Stack, at),
                Node::Inst(_) if !self.graph.is_mask(val) && self.passes(val) => {
                    if let Some(at) = self.place[val as usize].slot {
                        return Rm::Mem(Base::Stack, at);
                    }
                }
                _ => {}
            }
        }
        Rm::Reg(self.fetch(val))
    }

    /// A value in memory is not worth a register: everything in registers is used before it is used again.
    fn passes(&self, val: Val) -> bool {
        let Some(next) = self.next_use(val) else { return true };
        let given = &self.vectors[..VECTORS as usize - self.frame.pinned.len()];
        let sooner = |owner: Val| self.next_use(owner).is_some_and(|time| time < next);
        given.iter().all(|owner| owner.is_some_and(sooner))
    }

    /// A register for the result that starts as `from`: the same one if nobody needs it any more.
    fn start_as(&mut self, val: Val, from: Val) -> u8 {
        let source = self.fetch(from);
        if self.next_use(from).is_none() && self.pin(from).is_none() {
            self.place[from as usize].register = None;
            self.vectors[source as usize] = Some(val);
            self.place[val as usize].register = Some(source);
            return source;
        }
        let to = self.take(val);
        self.frame.code.vector(LOAD, to, 0, Rm::Reg(source), Lanes::All, None);
        to
    }

    fn instruction(&mut self, val: Val) {
        let Some(Inst { form, enc, args, imm }) = graph_inst(self.graph, val) else { return };
        self.pinned = args.into_iter().filter(|&arg| arg != NO).collect();
        self.free.append(&mut self.freed);
        let [a, b, c] = args;
        match form {
            Form::Binary | Form::BinaryImm => {
                let mask = if c == NO { Lanes::All } else { Lanes::OrZero(self.fetch(c)) };
                let first = self.fetch(a);
                let second = self.operand(b, enc.wide());
                let to = self.result(val, args);
                let imm = (form == Form::BinaryImm).then_some(imm);
                self.frame.code.vector(enc, to, first, second, mask, imm);
            }
            Form::Unary | Form::UnaryImm => {
                let from = self.operand(a, enc.wide());
                let to = self.result(val, args);
                self.frame.code.vector(enc, to, 0, from, Lanes::All, (form == Form::UnaryImm).then_some(imm));
            }
            Form::Shift(digit) => {
                let from = Rm::Reg(self.fetch(a));
                let to = self.result(val, args);
                self.frame.code.vector(enc, digit, to, from, Lanes::All, Some(imm));
            }
            Form::Fma => {
                let (x, y) = (self.fetch(a), self.fetch(b));
                // The factors may be the addend as well.
                let to = if c == a || c == b {
                    let from = self.fetch(c);
                    let to = self.take(val);
                    self.frame.code.vector(LOAD, to, 0, Rm::Reg(from), Lanes::All, None);
                    to
                } else {
                    self.start_as(val, c)
                };
                self.frame.code.vector(enc, to, x, Rm::Reg(y), Lanes::All, None);
                self.finish(args, val);
            }
            Form::Flush if enc == ADDPS => {
                let from = self.fetch(a);
                let to = self.result(val, args);
                let zero = Rm::Splat(Base::Pool, self.frame.pool.word(0x8000_0000));
                self.frame.code.vector(ADDPS, to, from, zero, Lanes::All, None);
            }
            Form::Flush => {
                let from = self.fetch(a);
                const DENORMAL: u8 = 0x20;
                self.frame.code.vector(FPCLASSPS, SCRATCH, 0, Rm::Reg(from), Lanes::All, Some(DENORMAL));
                let to = self.start_as(val, a);
                let sign = Rm::Splat(Base::Pool, self.frame.pool.word(0x8000_0000));
                self.frame.code.vector(PANDD, to, to, sign, Lanes::Some(SCRATCH), None);
                self.finish(args, val);
            }
            Form::Compare | Form::Test => {
                let within = if c == NO { Lanes::All } else { Lanes::Some(self.fetch(c)) };
                let first = self.fetch(a);
                let second = self.operand(b, enc.wide());
                let to = self.result(val, args);
                self.frame.code.vector(
                    enc,
                    to,
                    first,
                    second,
                    within,
                    (form == Form::Compare).then_some(imm),
                );
            }
            Form::Classify => {
                let from = self.operand(a, false);
                let to = self.result(val, args);
                self.frame.code.vector(enc, to, 0, from, Lanes::All, Some(imm));
            }
            Form::Select => {
                let (mask, otherwise) = (self.fetch(a), self.fetch(c));
                let then = self.operand(b, enc.wide());
                let to = self.result(val, args);
                self.frame.code.vector(enc, to, otherwise, then, Lanes::Some(mask), None);
            }
            Form::Keep => {
                let mask = self.fetch(a);
                let from = match self.operand(b, false) {
                    // A broadcast is a load of its own.
                    Rm::Splat(base, at) => {
                        let to = self.result(val, args);
                        self.frame.code.vector(
                            PBROADCASTD,
                            to,
                            0,
                            Rm::Mem(base, at),
                            Lanes::OrZero(mask),
                            None,
                        );
                        return;
                    }
                    from => from,
                };
                let to = self.result(val, args);
                self.frame.code.vector(LOAD, to, 0, from, Lanes::OrZero(mask), None);
            }
            Form::Expand | Form::Collect => {
                let from = Rm::Reg(self.fetch(a));
                let to = self.result(val, args);
                self.frame.code.vector(enc, to, 0, from, Lanes::All, None);
            }
            Form::And | Form::Or => {
                let (a, b) = (self.fetch(a), self.fetch(b));
                let to = self.result(val, args);
                if form == Form::And {
                    self.frame.code.mask_and(to, a, b)
                } else {
                    self.frame.code.mask_or(to, a, b)
                }
            }
            Form::Not => {
                let from = self.fetch(a);
                let to = self.result(val, args);
                self.frame.code.mask_not(to, from);
            }
            Form::Load => {
                let index = self.fetch(a);
                // A gather must not write over its indices.
                let to = self.take(val);
                self.frame.code.vector(PXORD, to, to, Rm::Reg(to), Lanes::All, None);
                let first = Rm::Mem(Base::First, 0);
                self.access(imm, index, self.lanes, true, |code, way| match way {
                    Way::Near => code.vector(LOAD_NEAR, to, 0, first, Lanes::OrZero(SCRATCH), None),
                    Way::Splat => code.vector(PBROADCASTD, to, 0, first, Lanes::OrZero(SCRATCH), None),
                    Way::Far => code.scattered(PGATHERDD, to, index, SCRATCH),
                });
                self.finish(args, val);
            }
            Form::Part(_) => {
                // The first of them that is needed loads all.
                let place = self.place[val as usize];
                if place.register.is_none() && place.slot.is_none() {
                    self.group(imm, a, self.graph.groups[&val]);
                } else {
                    self.release(a);
                }
            }
            Form::Store => {
                let (index, from) = (self.fetch(a), self.fetch(b));
                self.access(imm, index, self.lanes, false, |code, way| match way {
                    Way::Far => code.scattered(PSCATTERDD, from, index, SCRATCH),
                    _ => {
                        code.vector(STORE_NEAR, from, 0, Rm::Mem(Base::First, 0), Lanes::Some(SCRATCH), None)
                    }
                });
                args.iter().filter(|&&arg| arg != NO).for_each(|&arg| self.release(arg));
            }
            Form::Return => {
                let mask = self.fetch(a);
                self.frame.code.mask_to_result(mask);
                self.release(a);
            }
            Form::Copy => {
                let from = self.operand(a, false);
                let to = self.result(val, args);
                match from {
                    Rm::Splat(base, at) => {
                        self.frame.code.vector(PBROADCASTD, to, 0, Rm::Mem(base, at), Lanes::All, None)
                    }
                    from => self.frame.code.vector(LOAD, to, 0, from, Lanes::All, None),
                }
            }
        }
    }

    /// The register of the result; those of operands without further uses are free for it.
    fn result(&mut self, val: Val, args: [Val; 3]) -> u8 {
        args.iter().filter(|&&arg| arg != NO).for_each(|&arg| self.release(arg));
        let register = self.take(val);
        self.release_unused(val);
        register
    }

    fn finish(&mut self, args: [Val; 3], val: Val) {
        args.iter().filter(|&&arg| arg != NO).for_each(|&arg| self.release(arg));
        self.release_unused(val);
    }

    fn release_unused(&mut self, val: Val) {
        debug_assert!(self.next_use(val).is_some(), "value {val} is computed for nobody");
    }
}
