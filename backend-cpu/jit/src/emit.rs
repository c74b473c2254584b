//! From a vector program to machine code: which values are needed, in which registers, and the bytes.
//!
//! The code goes over the 64 lanes in strips. Within a block nothing branches, so that the next use of each value is
//! known, and the value whose next use is farthest gives way when registers run out.

mod access;
mod address;
mod arrange;
mod buffer;
mod emitted;
mod fetch;
mod flow;
mod frame;
mod leave;
mod packs;
mod place;
mod plan;
mod pool;
mod ready;
mod trail;
mod walks;
mod work;

use recal_il::ir::lines::Shape;
use rustc_hash::{FxHashMap, FxHashSet};

use self::address::Addresses;
pub use self::arrange::{Arrange, Together, grown};
pub use self::buffer::Code;
pub use self::flow::code;
pub use self::frame::Frame;
pub use self::packs::At;
use self::place::Place;
pub use self::plan::Order;
use self::plan::Plan;
pub use self::pool::Pool;
pub use self::trail::Trail;
pub use self::work::{MOST, Tests};
use crate::graph::{Args, Graph, Inst, NO, Node, Val};
use crate::op::Op;
use crate::program::Output;
use crate::target::{Base, Blocks, Rm, Target};

/// What is used so often again is worth a place on the stack.
const FEW: usize = 3;

/// Most bytes on the stack.
const STACK: u32 = 320 * 64;

/// What accesses that find their addresses in general registers take from vectors.
pub fn words(graph: &Graph, needed: &[bool]) -> FxHashSet<Val> {
    Addresses::of(graph, needed).words
}

/// How many loads of a graph are at known distances from others.
pub fn near(graph: &Graph, needed: &[bool], target: &dyn Target) -> usize {
    Addresses::near(graph, needed, target).near.len()
}

/// An address in the register for one.
#[derive(Clone, Copy, PartialEq)]
enum Held {
    /// From a place on the stack.
    At(u32),
    /// Of the word with this number in a view.
    Of(u8, Val),
    /// No address, but how many words it is behind an anchor.
    Behind(Val),
}

/// An address in a register: of which word of which view, and what is read from there.
#[derive(Clone, Default)]
struct Pointer {
    of: Option<(u8, Val)>,
    parts: Vec<Val>,
}

/// A block under construction.
struct Body<'a, 'b> {
    target: &'static dyn Target,
    /// Registers that values are given: of vectors the first so many, and of masks, where those have registers of their own.
    given: u8,
    of_masks: Option<std::ops::Range<u8>>,
    frame: &'a mut Frame<'b>,
    graph: &'a Graph,
    uses: &'a [plan::Uses],
    /// See [`Plan`].
    addresses: Option<&'a Addresses>,
    place: Vec<Place>,
    /// Who is in which register.
    vectors: [Option<Val>; 32],
    masks: [Option<Val>; 8],
    /// Operands of the instruction at hand.
    pinned: Args,
    /// Rows whose new values are all that matters, and the rows that these are for.
    replaced: FxHashSet<u32>,
    becomes: FxHashMap<Val, u32>,
    /// The register, and mask, of a row that the instruction at hand changes.
    merging: Option<(u8, u8)>,
    /// Registers in which rows have their new values.
    settled: u32,
    slots: u32,
    /// Where there is room on the stack for single elements, and how much.
    room: (u32, u32),
    /// The elements whose addresses are in registers, by [`Base::Kept`].
    pointers: Vec<Pointer>,
    /// How many of them keep what they hold.
    reserved: usize,
    /// The address that [`Base::First`] is.
    held: Option<Held>,
    /// Rows by which a load has asked for what later rounds read.
    walked: FxHashSet<u32>,
    /// Places on the stack for where elements were in the round before.
    ahead: Vec<u32>,
    /// The value that the register which no value is given has, see [`Target::spare`].
    spare: Option<Val>,
    /// Places on the stack whose values are done with, and those that the instruction at hand may still read.
    free: Vec<u32>,
    freed: Vec<u32>,
    now: u32,
}

impl<'a, 'b> Body<'a, 'b> {
    fn new(frame: &'a mut Frame<'b>, graph: &'a Graph, uses: &'a [plan::Uses]) -> Body<'a, 'b> {
        Body {
            target: frame.target,
            given: frame.vectors(),
            of_masks: frame.target.masks().registers.clone(),
            graph,
            uses,
            addresses: None,
            place: vec![Place::default(); uses.len()],
            vectors: [None; 32],
            masks: [None; 8],
            pinned: Args::new(),
            replaced: FxHashSet::default(),
            becomes: FxHashMap::default(),
            merging: None,
            settled: 0,
            slots: frame.slots,
            room: (0, 0),
            reserved: 0,
            held: None,
            walked: FxHashSet::default(),
            ahead: Vec::new(),
            pointers: vec![Pointer::default(); usize::from(frame.target.addresses())],
            spare: None,
            free: Vec::new(),
            freed: Vec::new(),
            now: 0,
            frame,
        }
    }

    /// The same for a block that leaves values in rows when it ends, whatever happens.
    fn replacing(mut self, stores: &[Vec<Output>]) -> Self {
        // It matters where rows have registers.
        if self.frame.pinned.is_empty() {
            return self;
        }
        let whole = |output: &&Output| output.unseen || !self.frame.strips.masked;
        self.replaced = stores.iter().flatten().filter(whole).map(|output| output.row).collect();
        self.becomes = stores.iter().flatten().filter(whole).map(|output| (output.val, output.row)).collect();
        self
    }

    /// The mask registers of tests, one for each strip, when everything else is done.
    fn end(&mut self, tests: &[Val]) -> Option<Tests> {
        self.pinned = tests.into();
        let first = self.fetch(*tests.first()?);
        let second = tests.get(1).map_or(first, |&test| self.fetch(test));
        let found = [first, second];
        let masks = self.target.masks();
        Some(if found.contains(&masks.temporary) { self.frame.tested(found) } else { found })
    }

    /// The next use after the current time, if there is one.
    fn next_use(&self, val: Val) -> Option<u32> {
        let uses = &self.uses[val.index()][..];
        let (first, last) = (*uses.first()?, *uses.last()?);
        match () {
            () if last <= self.now => None,
            () if first > self.now => Some(first),
            () => uses.get(uses.partition_point(|&time| time <= self.now)).copied(),
        }
    }

    /// Frees the places of a value without further uses.
    fn release(&mut self, val: Val) {
        if self.next_use(val).is_none() {
            if let Some(register) = self.place[val.index()].register.take() {
                *self.owner(self.in_mask_register(val), register) = None;
            }
            self.freed.extend(self.place[val.index()].slot.take());
        }
    }

    /// A place on the stack.
    fn slot(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.frame.most = self.frame.most.max(self.slots);
            self.frame.place(self.slots - 1)
        })
    }

    /// The register of a value that is a pinned row.
    fn pin(&self, val: Val) -> Option<u8> {
        if let Node::Row(row) = self.graph.node(val) { self.frame.pin(row) } else { None }
    }

    fn in_mask_register(&self, val: Val) -> bool {
        self.of_masks.is_some() && self.graph.is_mask(val)
    }

    fn owner(&mut self, mask: bool, register: u8) -> &mut Option<Val> {
        if mask { &mut self.masks[register as usize] } else { &mut self.vectors[register as usize] }
    }

    /// A register for `val`, taken from whoever needs it last.
    fn take(&mut self, val: Val) -> u8 {
        let mask = self.in_mask_register(val);
        let range = self.of_masks.clone().filter(|_| mask).unwrap_or(0..self.given);
        let free = range.clone().find(|&r| self.owner(mask, r).is_none());
        let register = free.unwrap_or_else(|| {
            let last = |r: &u8| {
                let owner = if mask { self.masks[*r as usize] } else { self.vectors[*r as usize] };
                owner.map_or(0, |owner| {
                    if self.pinned.contains(&owner) { 0 } else { self.next_use(owner).unwrap_or(u32::MAX) }
                })
            };
            let victim = range.max_by_key(last).unwrap_or_default();
            self.evict(mask, victim);
            victim
        });
        *self.owner(mask, register) = Some(val);
        self.place[val.index()].register = Some(register);
        register
    }

    fn evict(&mut self, mask: bool, register: u8) {
        let Some(val) = self.owner(mask, register).take() else { return };
        self.place[val.index()].register = None;
        let kept = self.place[val.index()].nowhere() || self.copied(val);
        if self.next_use(val).is_some() && kept && matches!(self.graph.node(val), Node::Inst(_)) {
            let at = self.slot();
            self.frame.moves += 1;
            self.frame.touch();
            self.place[val.index()].slot = Some(at);
            if mask {
                self.target.mask_store(&mut self.frame.code, register, at);
            } else {
                self.target.store(&mut self.frame.code, register, Base::Stack, at);
            }
        }
    }

    /// What is far is copied to the stack if it is used several times more: lines of a matrix fall together in the caches, and who
    /// read all of them does not find the first one again.
    fn copied(&self, val: Val) -> bool {
        let Place { slot, far, .. } = self.place[val.index()];
        let uses = &self.uses[val.index()];
        let left = uses.len() - uses.partition_point(|&time| time <= self.now);
        far.is_some() && slot.is_none() && left >= FEW
    }

    /// The register of a pinned row becomes free for `val`: another value may have grown out of the row.
    fn make_way(&mut self, pin: u8, val: Val) {
        let Some(other) = self.vectors[pin as usize].filter(|other| *other != val) else { return };
        self.vectors[pin as usize] = None;
        self.place[other.index()].register = None;
        if self.next_use(other).is_some() {
            let to = self.take(other);
            self.target.load(&mut self.frame.code, to, Rm::Reg(pin));
        }
    }

    /// A register for the result that starts as `from`: the same one if nobody needs it any more.
    fn start_as(&mut self, val: Val, from: Val, elsewhere: bool) -> u8 {
        let source = self.fetch(from);
        // A pinned row that is written later has no use for what it holds.
        let taken = match self.graph.node(from) {
            Node::Row(row) if self.frame.pin(row).is_some() => !self.replaced.contains(&row),
            _ => false,
        };
        let taken = taken || self.settled >> source & 1 == 1;
        if !elsewhere && self.next_use(from).is_none() && !taken {
            self.place[from.index()].register = None;
            self.vectors[source as usize] = Some(val);
            self.place[val.index()].register = Some(source);
            return source;
        }
        let to = self.take(val);
        self.target.load(&mut self.frame.code, to, Rm::Reg(source));
        to
    }

    fn instruction(&mut self, val: Val) {
        self.compute_value(val);
        if self.addresses.is_some_and(|addresses| addresses.words.contains(&val)) {
            self.put_word(val);
        }
    }

    fn compute_value(&mut self, val: Val) {
        let Some(inst) = self.graph.as_inst(val) else { return };
        self.frame.instructions += 1;
        self.frame.code.is_for(self.graph.origin(val));
        let Inst { op, args: [a, b, _], .. } = inst;
        let target = self.target;
        if !op.pure() || self.merging.is_some() {
            self.spare = None;
        }
        if let Some(leaves) = self.addresses.and_then(|addresses| addresses.leaves.get(&val)) {
            return self.by_address(val, op, a, leaves);
        }
        self.pinned.clear();
        self.pinned.extend(inst.operands());
        self.free.append(&mut self.freed);
        if !op.pure() {
            self.held = None;
        }
        match op {
            Op::Load(view) => {
                let index = self.fetch(a);
                // A gather must not write over its indices.
                let to = self.take(val);
                let access = self.access(val, op, view, index, a);
                target.load_words(access, to);
                if let Some(at) = self.walk(a) {
                    target.fetch_later(&mut self.frame.code, at);
                }
                if self.graph.shape_of(a).among(target.lanes()) != Shape::Any {
                    self.trail(val, view, 1);
                }
            }
            Op::Part(view, _) | Op::Pair(view, _) | Op::Member(view, _) => {
                // The first of them that is needed loads all.
                if self.place[val.index()].nowhere() {
                    self.group(val, op, view, a, None);
                }
            }
            Op::Store(view) | Op::StoreBlocks(view, ..) => {
                let (index, from) = (self.fetch(a), self.fetch(b));
                let some = (inst.mask != NO).then(|| self.fetch(inst.mask));
                let mut access = self.access(val, op, view, index, a);
                if let Some(some) = some {
                    access = access.within(some);
                }
                match op {
                    Op::StoreBlocks(_, number, words) => {
                        target.store_blocks(access, from, Blocks { number: number.into(), words })
                    }
                    _ => target.store_words(access, from),
                }
            }
            Op::Return => {
                let mask = self.fetch(a);
                let strip = self.graph.strips.get(&val).copied().unwrap_or_default();
                let Frame { code, pool, strips, .. } = &mut *self.frame;
                target.give(code, pool, mask, strips.number as u8 - 1 - strip);
            }
            Op::Copy => {
                // What is read of it need not be aligned.
                let Place { far, near, .. } = self.place[a.index()];
                let from = if far.is_some() || near.is_some() {
                    Rm::Reg(self.fetch(a))
                } else {
                    self.operand(a, false)
                };
                let to = self.result(val, inst);
                return self.target.load(&mut self.frame.code, to, from);
            }
            op => return self.operation(val, op, inst),
        }
        inst.operands().for_each(|arg| self.release(arg));
    }

    fn operation(&mut self, val: Val, op: Op, mut inst: Inst) {
        if self.narrow(val, op, inst) {
            return;
        }
        // The operand that is in a register stands where one is needed.
        let held = |val: Val| val != NO && self.place[val.index()].register.is_some();
        if op.commutes() && held(inst.args[1]) && !held(inst.args[0]) {
            inst.args.swap(0, 1);
        }
        let overwritten = self.target.overwrites(op);
        let last = usize::from(inst.args[1] != NO);
        let mut args = [Rm::Reg(0); 3];
        let mask = (inst.mask != NO).then(|| self.fetch(inst.mask));
        for k in (0..3).filter(|&k| k != last && Some(k) != overwritten && inst.args[k] != NO) {
            args[k] = Rm::Reg(self.fetch(inst.args[k]));
        }
        // An operand in memory is where an address leads that is taken last.
        if let Some(from) =
            overwritten.map(|k| inst.args[k]).filter(|from| self.place[from.index()].far.is_some())
        {
            self.fetch(from);
        }
        if Some(last) != overwritten {
            args[last] = match self.target.takes_memory(op) {
                true => self.operand(inst.args[last], op.wide()),
                false => Rm::Reg(self.fetch(inst.args[last])),
            };
        }
        if let Some((pin, exec)) = self.merging.take() {
            inst.operands().for_each(|arg| self.release(arg));
            let one = inst.operands().any(|arg| self.graph.node(arg) == Node::Word(1));
            return self.target.merged(&mut self.frame.code, op, pin, args, exec, one);
        }
        let to = match overwritten {
            Some(k) => {
                let from = inst.args[k];
                let others = inst.args.iter().enumerate().any(|(other, &arg)| other != k && arg == from);
                let to = self.start_as(val, from, others);
                args[k] = Rm::Reg(to);
                inst.operands().for_each(|arg| self.release(arg));
                to
            }
            None => self.result(val, inst),
        };
        let Frame { code, pool, .. } = &mut *self.frame;
        self.target.operation(code, pool, op, to, args, mask);
    }

    /// The register of a row that the value is for, if nobody reads any more what the row has.
    fn register_of_row(&self, val: Val) -> Option<u8> {
        let row = *self.becomes.get(&val)?;
        let pin = self.frame.pin(row).filter(|pin| self.settled >> pin & 1 == 0)?;
        let read = |of: Val| self.graph.node(of) == Node::Row(row) && self.next_use(of).is_some();
        let free = self.vectors[usize::from(pin)].is_none();
        (free && !self.graph.values().any(read)).then_some(pin)
    }

    /// The register of a row that would be idle: of one that is written later, or of what has grown out of it.
    fn idle(&self, val: Val, inst: Inst) -> Option<u8> {
        let none = self.frame.pinned.is_empty() || self.in_mask_register(val) || inst.mask != NO;
        if none || matches!(inst.op, Op::Load(_)) {
            return None;
        }
        let of_operand = inst.operands().find_map(|arg| {
            let register = self.place[arg.index()].register.or_else(|| match self.graph.node(arg) {
                Node::Row(row) if self.replaced.contains(&row) => self.frame.pin(row),
                _ => None,
            })?;
            let owner = self.vectors[usize::from(register)];
            let settled = self.settled >> register & 1 == 1;
            let free = register >= self.given && !settled && owner.is_none_or(|owner| owner == arg);
            (free && !self.in_mask_register(arg) && self.next_use(arg).is_none()).then_some(register)
        });
        of_operand.or_else(|| self.register_of_row(val))
    }

    /// The register of the result; those of operands without further uses are free for it.
    fn result(&mut self, val: Val, inst: Inst) -> u8 {
        let idle = self.idle(val, inst);
        if let Some(register) = idle {
            inst.operands().for_each(|arg| self.release(arg));
            self.vectors[usize::from(register)] = Some(val);
            self.place[val.index()].register = Some(register);
            return register;
        }
        inst.operands().for_each(|arg| self.release(arg));
        debug_assert!(self.next_use(val).is_some(), "{val} is computed for nobody");
        self.take(val)
    }
}
