//! From a graph to machine code: which values are needed, in which registers, and the bytes.
//!
//! The code goes over the 64 lanes in four strips of 16. Within a strip nothing branches, so that the next use of
//! each value is known, and the value whose next use is farthest gives way when registers run out.

use std::collections::HashMap;

use crate::View;
use crate::encode::{Base, Code, Lanes, Rm, inst::*};
use crate::graph::{Form, Graph, Inst, NO, Node, Val};

/// Mask of the executing lanes.
const EXEC: u8 = 1;
/// Mask for use within an instruction, and one more that cannot guard lanes.
const SCRATCH: u8 = 7;
const TEST: u8 = 0;
/// Vectors that are given out; the last one is for use within an instruction.
const VECTORS: u8 = 31;
/// Most values that are kept on the stack at a time: less than a page, so that the guard page is not passed over.
const SLOTS: usize = 56;

/// Constants that code reads, shared by all code of a module.
#[derive(Default)]
pub struct Pool {
    pub words: Vec<u32>,
    word_at: HashMap<u32, u32>,
    quad_at: HashMap<u64, u32>,
    lanes_at: Option<u32>,
}

impl Pool {
    fn word(&mut self, word: u32) -> u32 {
        *self.word_at.entry(word).or_insert_with(|| {
            self.words.push(word);
            4 * (self.words.len() as u32 - 1)
        })
    }

    /// The numbers of the lanes.
    fn lanes(&mut self) -> u32 {
        *self.lanes_at.get_or_insert_with(|| {
            self.words.extend(0..16);
            4 * (self.words.len() as u32 - 16)
        })
    }

    fn quad(&mut self, quad: u64) -> u32 {
        *self.quad_at.entry(quad).or_insert_with(|| {
            self.words.extend([quad as u32, (quad >> 32) as u32]);
            4 * (self.words.len() as u32 - 2)
        })
    }
}

/// What is to be stored when: instructions in order, and for each the rows that are stored after it.
struct Plan {
    order: Vec<Val>,
    stores: Vec<Vec<(u32, Val)>>,
    /// When each value is used, as numbers of instructions doubled; a store counts one more.
    uses: Vec<Vec<u32>>,
}

impl Plan {
    fn new(graph: &mut Graph, outputs: &[(u32, Val)]) -> Plan {
        // What is not computed is copied to a register last, before any row that it came from may change.
        let mut results = Vec::new();
        let mut copies = Vec::new();
        for &(row, val) in outputs {
            match graph.node(val) {
                Node::Row(same) if same == row => {}
                Node::Inst(_) => results.push((row, val)),
                _ => {
                    let copy = graph.inst(Form::Copy, LOAD, [val, NO, NO], 0);
                    copies.push(copy);
                    results.push((row, copy));
                }
            }
        }
        let count = graph.nodes.len();
        let mut needed: Vec<bool> = (0..count)
            .map(|val| {
                graph_inst(graph, val as Val)
                    .is_some_and(|inst| matches!(inst.form, Form::Store | Form::Return))
            })
            .collect();
        results.iter().for_each(|&(_, val)| needed[val as usize] = true);
        for val in (0..count).rev().filter(|&val| graph_inst(graph, val as Val).is_some()) {
            if needed[val] {
                let args = graph_inst(graph, val as Val).map_or([NO; 3], |inst| inst.args);
                args.iter().filter(|&&arg| arg != NO).for_each(|&arg| needed[arg as usize] = true);
            }
        }
        let is_copy = |val: Val| graph_inst(graph, val).is_some_and(|inst| inst.form == Form::Copy);
        let chosen = |val: &Val| needed[*val as usize] && graph_inst(graph, *val).is_some() && !is_copy(*val);
        let mut order: Vec<Val> = (0..count as Val).filter(chosen).collect();
        copies.sort_unstable();
        copies.dedup();
        order.extend(copies);
        let mut uses = vec![Vec::new(); count];
        let mut when = vec![0; count];
        for (time, &val) in order.iter().enumerate() {
            when[val as usize] = time;
            for arg in graph_inst(graph, val).map_or([NO; 3], |inst| inst.args) {
                if arg != NO && uses[arg as usize].last() != Some(&(2 * time as u32)) {
                    uses[arg as usize].push(2 * time as u32);
                }
            }
        }
        let mut stores = vec![Vec::new(); order.len()];
        let last_read: HashMap<u32, usize> = (0..count)
            .filter_map(|val| match (graph.nodes[val], uses[val].last()) {
                (Node::Row(row), Some(&last)) => Some((row, last as usize / 2)),
                _ => None,
            })
            .collect();
        for (row, val) in results {
            let time = when[val as usize].max(last_read.get(&row).copied().unwrap_or(0));
            stores[time].push((row, val));
            uses[val as usize].push(2 * time as u32 + 1);
        }
        uses.iter_mut().for_each(|list| list.sort_unstable());
        Plan { order, stores, uses }
    }
}

fn graph_inst(graph: &Graph, val: Val) -> Option<Inst> {
    if let Node::Inst(inst) = graph.node(val) { Some(inst) } else { None }
}

/// Appends a function to `code`; false, and nothing sensible appended, if it needs too many places on the stack.
/// The outputs are rows and what they are to hold; with `masked` only in executing lanes.
pub fn function(
    graph: &mut Graph,
    outputs: &[(u32, Val)],
    masked: bool,
    pool: &mut Pool,
    code: &mut Code,
) -> bool {
    let plan = Plan::new(graph, outputs);
    let mut body = Body {
        graph,
        uses: &plan.uses,
        code: Code::default(),
        pool,
        place: vec![Place::default(); plan.uses.len()],
        vectors: [None; 32],
        masks: [None; 8],
        pinned: Vec::new(),
        slots: 0,
        now: 0,
        lanes: if masked { Lanes::Some(EXEC) } else { Lanes::All },
    };
    for (time, (&val, stores)) in plan.order.iter().zip(&plan.stores).enumerate() {
        body.now = 2 * time as u32;
        body.instruction(val);
        body.now += 1;
        for &(row, val) in stores {
            body.pinned = stores.iter().map(|&(_, val)| val).collect();
            let from = body.fetch(val);
            let lanes = body.lanes;
            body.code.vector(STORE, from, 0, Rm::Mem(Base::Rows, 256 * row), lanes, None);
        }
        stores.iter().for_each(|&(_, val)| body.release(val));
    }
    let (slots, body) = (body.slots, body.code.bytes);
    if slots as usize > SLOTS {
        return false;
    }
    wrap(code, &body, slots, masked);
    true
}

/// The loop over strips: rdi rows, rsi constants, rdx executing lanes, rcx views.
fn wrap(code: &mut Code, body: &[u8], slots: u32, masked: bool) {
    code.raw(&[0x53]); // push rbx
    code.raw(&[0x49, 0x89, 0xC9]); // mov r9, rcx
    if slots > 0 {
        code.raw(&[0x49, 0x89, 0xE0]); // mov r8, rsp
        code.raw(&[0x48, 0x83, 0xE4, 0xC0]); // and rsp, -64
        code.raw(&[0x48, 0x81, 0xEC]); // sub rsp, n
        code.raw(&(64 * slots).to_le_bytes());
        code.raw(&[0x48, 0x89, 0xE1]); // mov rcx, rsp
    }
    code.raw(&[0xBB, 4, 0, 0, 0]); // mov ebx, 4
    code.raw(&[0x31, 0xC0]); // xor eax, eax
    let start = code.bytes.len();
    code.raw(&[0x48, 0xC1, 0xE8, 16]); // shr rax, 16
    if masked {
        code.raw(&[0x66, 0x85, 0xD2]); // test dx, dx
        code.raw(&[0x0F, 0x84]); // jz past the body
        code.raw(&(body.len() as u32 + 4).to_le_bytes());
        code.raw(&[0xC5, 0xF8, 0x92, 0xCA]); // kmovw k1, edx
    }
    code.raw(body);
    code.raw(&[0x48, 0x83, 0xC7, 64]); // add rdi, 64
    code.raw(&[0x48, 0xC1, 0xEA, 16]); // shr rdx, 16
    code.raw(&[0xFF, 0xCB]); // dec ebx
    let back = start as i32 - (code.bytes.len() as i32 + 6);
    code.raw(&[0x0F, 0x85]); // jnz
    code.raw(&back.to_le_bytes());
    if slots > 0 {
        code.raw(&[0x4C, 0x89, 0xC4]); // mov rsp, r8
    }
    code.raw(&[0xC5, 0xF8, 0x77, 0x5B, 0xC3]); // vzeroupper; pop rbx; ret
    code.bytes.resize(code.bytes.len().next_multiple_of(32), 0xCC);
}

/// Where a view is in the table of views.
fn entry(view: u8) -> u32 {
    size_of::<View>() as u32 * u32::from(view)
}

/// Moves the words of a store.
fn store(from: u8, index: u8) -> impl FnMut(&mut Code, bool) {
    move |code, near| match near {
        true => code.vector(STORE_NEAR, from, 0, Rm::Mem(Base::First, 0), Lanes::Some(SCRATCH), None),
        false => code.scattered(PSCATTERDD, from, index, SCRATCH),
    }
}

/// Where a value is.
#[derive(Clone, Copy, Default)]
struct Place {
    register: Option<u8>,
    slot: Option<u32>,
}

struct Body<'a> {
    graph: &'a Graph,
    uses: &'a [Vec<u32>],
    code: Code,
    pool: &'a mut Pool,
    place: Vec<Place>,
    /// Who is in which register; masks 2 to 6 are given out.
    vectors: [Option<Val>; 32],
    masks: [Option<Val>; 8],
    /// Operands of the instruction at hand.
    pinned: Vec<Val>,
    slots: u32,
    now: u32,
    lanes: Lanes,
}

impl Body<'_> {
    /// The next use after the current time, if there is one.
    fn next_use(&self, val: Val) -> Option<u32> {
        let uses = &self.uses[val as usize];
        uses.get(uses.partition_point(|&time| time <= self.now)).copied()
    }

    /// Frees the register of a value without further uses.
    fn release(&mut self, val: Val) {
        if self.next_use(val).is_none() {
            if let Some(register) = self.place[val as usize].register.take() {
                *self.owner(self.graph.is_mask(val), register) = None;
            }
        }
    }

    fn owner(&mut self, mask: bool, register: u8) -> &mut Option<Val> {
        if mask { &mut self.masks[register as usize] } else { &mut self.vectors[register as usize] }
    }

    /// A register for `val`, taken from whoever needs it last.
    fn take(&mut self, val: Val) -> u8 {
        let mask = self.graph.is_mask(val);
        let range = if mask { 2..7 } else { 0..VECTORS };
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
            let at = 64 * self.slots;
            self.place[val as usize].slot = Some(at);
            self.slots += 1;
            if mask {
                self.code.mask_store(register, at);
            } else {
                self.code.vector(STORE, register, 0, Rm::Mem(Base::Stack, at), Lanes::All, None);
            }
        }
    }

    /// The register that holds `val`, loaded if need be.
    fn fetch(&mut self, val: Val) -> u8 {
        if let Some(register) = self.place[val as usize].register {
            return register;
        }
        let register = self.take(val);
        let (enc, from) = match (self.graph.node(val), self.place[val as usize].slot) {
            (Node::Row(row), _) => (LOAD, Rm::Mem(Base::Rows, 256 * row)),
            (Node::Word(word), _) => (PBROADCASTD, Rm::Mem(Base::Pool, self.pool.word(word))),
            (Node::Field(view, field), _) => {
                (PBROADCASTD, Rm::Mem(Base::Views, entry(view) + 4 * field as u32))
            }
            (Node::Quad(quad), _) => (PBROADCASTQ, Rm::Mem(Base::Pool, self.pool.quad(quad))),
            (_, Some(at)) if self.graph.is_mask(val) => {
                self.code.mask_load(register, at);
                return register;
            }
            (_, Some(at)) => (LOAD, Rm::Mem(Base::Stack, at)),
            (node, None) => unreachable!("{node:?} is used before it is computed"),
        };
        self.code.vector(enc, register, 0, from, Lanes::All, None);
        register
    }

    /// The last operand of an instruction, which may be in memory.
    fn operand(&mut self, val: Val, wide: bool) -> Rm {
        if self.place[val as usize].register.is_none() {
            match self.graph.node(val) {
                Node::Word(word) if !wide => return Rm::Splat(Base::Pool, self.pool.word(word)),
                Node::Field(view, field) if !wide => {
                    return Rm::Splat(Base::Views, entry(view) + 4 * field as u32);
                }
                Node::Quad(quad) if wide => return Rm::Splat(Base::Pool, self.pool.quad(quad)),
                Node::Row(row) if self.next_use(val).is_none() => return Rm::Mem(Base::Rows, 256 * row),
                _ => {}
            }
        }
        Rm::Reg(self.fetch(val))
    }

    /// A register for the result that starts as `from`: the same one if nobody needs it any more.
    fn start_as(&mut self, val: Val, from: Val) -> u8 {
        let source = self.fetch(from);
        if self.next_use(from).is_none() {
            self.place[from as usize].register = None;
            self.vectors[source as usize] = Some(val);
            self.place[val as usize].register = Some(source);
            return source;
        }
        let to = self.take(val);
        self.code.vector(LOAD, to, 0, Rm::Reg(source), Lanes::All, None);
        to
    }

    fn instruction(&mut self, val: Val) {
        let Some(Inst { form, enc, args, imm }) = graph_inst(self.graph, val) else { return };
        self.pinned = args.into_iter().filter(|&arg| arg != NO).collect();
        let [a, b, c] = args;
        match form {
            Form::Binary | Form::BinaryImm => {
                let mask = if c == NO { Lanes::All } else { Lanes::OrZero(self.fetch(c)) };
                let first = self.fetch(a);
                let second = self.operand(b, enc.wide());
                let to = self.result(val, args);
                let imm = (form == Form::BinaryImm).then_some(imm);
                self.code.vector(enc, to, first, second, mask, imm);
            }
            Form::Unary | Form::UnaryImm => {
                let from = self.operand(a, enc.wide());
                let to = self.result(val, args);
                self.code.vector(enc, to, 0, from, Lanes::All, (form == Form::UnaryImm).then_some(imm));
            }
            Form::Shift(digit) => {
                let from = Rm::Reg(self.fetch(a));
                let to = self.result(val, args);
                self.code.vector(enc, digit, to, from, Lanes::All, Some(imm));
            }
            Form::Fma => {
                let (x, y) = (self.fetch(a), self.fetch(b));
                // The factors may be the addend as well.
                let to = if c == a || c == b {
                    let from = self.fetch(c);
                    let to = self.take(val);
                    self.code.vector(LOAD, to, 0, Rm::Reg(from), Lanes::All, None);
                    to
                } else {
                    self.start_as(val, c)
                };
                self.code.vector(enc, to, x, Rm::Reg(y), Lanes::All, None);
                self.finish(args, val);
            }
            Form::Flush => {
                let from = self.fetch(a);
                const DENORMAL: u8 = 0x20;
                self.code.vector(FPCLASSPS, SCRATCH, 0, Rm::Reg(from), Lanes::All, Some(DENORMAL));
                let to = self.start_as(val, a);
                let sign = Rm::Splat(Base::Pool, self.pool.word(0x8000_0000));
                self.code.vector(PANDD, to, to, sign, Lanes::Some(SCRATCH), None);
                self.finish(args, val);
            }
            Form::Compare | Form::Test => {
                let within = if c == NO { Lanes::All } else { Lanes::Some(self.fetch(c)) };
                let first = self.fetch(a);
                let second = self.operand(b, enc.wide());
                let to = self.result(val, args);
                self.code.vector(enc, to, first, second, within, (form == Form::Compare).then_some(imm));
            }
            Form::Select => {
                let (mask, otherwise) = (self.fetch(a), self.fetch(c));
                let then = self.operand(b, enc.wide());
                let to = self.result(val, args);
                self.code.vector(enc, to, otherwise, then, Lanes::Some(mask), None);
            }
            Form::Keep => {
                let mask = self.fetch(a);
                let from = match self.operand(b, false) {
                    // A broadcast is a load of its own.
                    Rm::Splat(base, at) => {
                        let to = self.result(val, args);
                        self.code.vector(PBROADCASTD, to, 0, Rm::Mem(base, at), Lanes::OrZero(mask), None);
                        return;
                    }
                    from => from,
                };
                let to = self.result(val, args);
                self.code.vector(LOAD, to, 0, from, Lanes::OrZero(mask), None);
            }
            Form::Expand | Form::Collect => {
                let from = Rm::Reg(self.fetch(a));
                let to = self.result(val, args);
                self.code.vector(enc, to, 0, from, Lanes::All, None);
            }
            Form::And | Form::Or => {
                let (a, b) = (self.fetch(a), self.fetch(b));
                let to = self.result(val, args);
                if form == Form::And { self.code.mask_and(to, a, b) } else { self.code.mask_or(to, a, b) }
            }
            Form::Not => {
                let from = self.fetch(a);
                let to = self.result(val, args);
                self.code.mask_not(to, from);
            }
            Form::Load => {
                let index = self.fetch(a);
                // A gather must not write over its indices.
                let to = self.take(val);
                self.code.vector(PXORD, to, to, Rm::Reg(to), Lanes::All, None);
                self.access(imm, index, Lanes::All, |code, near| match near {
                    true => {
                        let first = Rm::Mem(Base::First, 0);
                        code.vector(LOAD_NEAR, to, 0, first, Lanes::OrZero(SCRATCH), None);
                    }
                    false => code.scattered(PGATHERDD, to, index, SCRATCH),
                });
                self.finish(args, val);
            }
            Form::Store => {
                let (index, from) = (self.fetch(a), self.fetch(b));
                self.access(imm, index, self.lanes, store(from, index));
                args.iter().filter(|&&arg| arg != NO).for_each(|&arg| self.release(arg));
            }
            Form::Return => {
                let mask = self.fetch(a);
                self.code.mask_to_result(mask);
                self.release(a);
            }
            Form::Copy => {
                let from = self.operand(a, false);
                let to = self.result(val, args);
                match from {
                    Rm::Splat(base, at) => {
                        self.code.vector(PBROADCASTD, to, 0, Rm::Mem(base, at), Lanes::All, None)
                    }
                    from => self.code.vector(LOAD, to, 0, from, Lanes::All, None),
                }
            }
        }
    }

    /// Code for an access to the words `index` of a view: `SCRATCH` becomes the lanes that are within it, and
    /// neighbours are moved together.
    fn access(&mut self, view: u8, index: u8, within: Lanes, mut transfer: impl FnMut(&mut Code, bool)) {
        const LESS: u8 = 1;
        const EQUAL: u8 = 0;
        let entry = entry(view);
        let lanes = Rm::Mem(Base::Pool, self.pool.lanes());
        let code = &mut self.code;
        code.vector(PCMPUD, SCRATCH, index, Rm::Splat(Base::Views, entry + 8), within, Some(LESS));
        code.raw(&[0x4D, 0x8B, 0x91]); // mov r10, [r9 + entry]
        code.raw(&entry.to_le_bytes());
        code.vector(PBROADCASTD, VECTORS, 0, Rm::Reg(index), Lanes::All, None);
        code.vector(PADDD, VECTORS, VECTORS, lanes, Lanes::All, None);
        code.vector(PCMPD, TEST, VECTORS, Rm::Reg(index), Lanes::All, Some(EQUAL));
        code.raw(&[0xC5, 0xF8, 0x98, 0xC0]); // kortestw k0, k0
        let (mut near, mut far) = (Code::default(), Code::default());
        near.first_word(index);
        near.raw(&[0x4F, 0x8D, 0x1C, 0x9A]); // lea r11, [r10 + 4 * r11]
        transfer(&mut near, true);
        transfer(&mut far, false);
        near.raw(&[0xEB, far.bytes.len() as u8]); // jmp over the other case
        code.raw(&[0x73, near.bytes.len() as u8]); // jnc
        code.raw(&near.bytes);
        code.raw(&far.bytes);
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
