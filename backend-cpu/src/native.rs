//! Replaces operations by compiled code.
//!
//! Neighbouring lane operations, loads and stores of words become one function. What only they need never leaves
//! machine registers: the rows of temporaries are not stored unless something in the same run reads them later.
//!
//! A function goes over a wave in strips, while an access by all lanes comes before the next operation of any. So a
//! function never touches memory again that it stored to, and stores to none that it loaded from. A construct becomes
//! part of functions if all that is in it can, and if it stores nothing in loops ([`constructs`]).

mod accesses;
mod after;
mod constructs;
mod emitted;
mod function;
mod group;
mod guards;
mod item;
mod live;
mod repack;
mod rounds;
mod stages;
mod steps;

use std::ops::Range;
use std::rc::Rc;

use recal_il::diagnostic::Span;
use recal_il::ir::Builtin;
use recal_jit::{Compiler, Function, Isa};
use rustc_hash::{FxHashMap, FxHashSet};

use self::after::Mentions;
use self::guards::Known;
use self::item::{Item, What};
use self::live::Lives;
use self::stages::Accesses;
use crate::launch::{GROUP, shared};
use crate::load::jumps;
use crate::op::{Body, Code, LaunchKey, MemoryOp, NONE, Op, Pc, Place, RowId, Seen};
use crate::system::cores;

/// Compiles what can be compiled for launches of which this is known; outputs are stored if all of it is compiled. `None` if the system gives
/// no memory for code.
pub fn compile(code: &Code, isa: Isa, key: &LaunchKey) -> Option<Body> {
    let body = |key: &LaunchKey| {
        compile_by(|| compiler(code, isa, key.line).with_column(column(code)), code, isa, key)
    };
    let made = body(key)?;
    // Who interprets part of it stores them itself.
    let stores = |op: &Op| matches!(op, Op::Native(function) if function.emits());
    if made.emitted.is_empty() && made.ops.iter().any(stores) {
        return body(&LaunchKey { outputs: Box::default(), ..key.clone() });
    }
    Some(made)
}

/// The same that keeps programs for listings.
pub fn compile_listed(code: &Code, isa: Isa, key: &LaunchKey) -> Option<Body> {
    compile_by(|| compiler(code, isa, key.line).with_programs(), code, isa, key)
}

/// The row of the threads' columns, which nothing writes.
fn column(code: &Code) -> Option<RowId> {
    code.builtins.iter().find_map(|&(row, builtin)| (builtin == Builtin::Position(0)).then_some(row))
}

fn compiler(code: &Code, isa: Isa, line: u32) -> Compiler {
    let (words, _) = shared(code);
    Compiler::new(isa)
        .with_threads(cores())
        .with_lines(line)
        .keeping_denormals(code.gradual)
        .with_shared(words)
}

/// How a body is compiled.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// There is code for whole waves alone: nothing may be interpreted, since lanes could leave there.
    whole: bool,
    /// A construct is compiled alone before it is taken.
    alone: bool,
}

fn compile_by(compiler: impl Fn() -> Compiler, code: &Code, isa: Isa, key: &LaunchKey) -> Option<Body> {
    let whole = key.whole && stages::possible(&code.ops);
    // Constructs that can't be compiled are rare: each is compiled alone first only where one was met.
    let any = [false, true].map(|alone| Way { whole: false, alone });
    let ways = whole.then_some(Way { whole, alone: false }).into_iter().chain(any);
    let made = ways.into_iter().find_map(|way| {
        let LaunchKey { line, block, .. } = *key;
        let mut body = Body::default();
        let (words_of_group, own) = shared(code);
        if !words_of_group.is_empty() {
            body.views.push((Place::Group, NONE));
            body.group = Some(GROUP);
        }
        let rounds = rounds::rounds(code);
        body.trail = if rounds.is_empty() { 0 } else { rounds::TRAIL };
        (body.copies, body.own) = (own.len() as u32 + body.trail, own);
        let builder = Builder {
            code,
            words: code.literals.iter().copied().collect(),
            key,
            isa,
            columns: (1..recal_jit::LANES as u32).contains(&line)
                && block
                    .is_some_and(|[x, y, _]| x == line && (x * y).is_multiple_of(recal_jit::LANES as u32)),
            compiler: if way.whole { compiler().for_whole_waves() } else { compiler() },
            body,
            rounds,
            items: Vec::new(),
            stores: false,
            known: Known::new(code),
            mentions: Rc::new(Mentions::of(code)),
            lives: Rc::new(Lives::of(code)),
            accesses: Vec::new(),
            way,
            failed: false,
        };
        builder.build().map_err(|Failed| log::debug!("not all can be compiled, {way:?}")).ok()
    });
    made.flatten()
}

/// It can't be compiled that way.
struct Failed;

impl Builder<'_> {
    fn build(mut self) -> Result<Option<Body>, Failed> {
        let (code, key) = (self.code, self.key);
        let mut targets = FxHashSet::default();
        code.ops.iter().for_each(|op| jumps(&mut op.clone(), |pc| _ = targets.insert(*pc)));
        let whole = key.block.is_some_and(|block| self.whole_group(block));
        let mut positions = Vec::with_capacity(code.ops.len() + 1);
        let mut at = if whole { code.ops.len() } else { 0 };
        while at < code.ops.len() {
            // Who jumps to the end of a round has nobody left in it: what is tested before for the next one may be skipped.
            let ends_round = matches!(code.ops[at], Op::EndLoop { .. });
            if targets.contains(&(at as Pc)) && !ends_round {
                self.close();
            }
            if self.failed {
                return Err(Failed);
            }
            // Items that wait for more are before what follows.
            positions.push(self.body.ops.len() as Pc);
            match code.ops[at] {
                Op::Lanes { first, end } => (first..end).for_each(|step| self.step(at, step)),
                Op::Memory(index) => self.memory(at, index),
                ref op => {
                    let begins = matches!(op, Op::If { .. } | Op::Loop);
                    if let Some(last) = begins.then(|| self.construct(at)).flatten() {
                        // Nothing outside leads into a construct.
                        positions.resize(last + 1, self.body.ops.len() as Pc);
                        at = last + 1;
                        continue;
                    }
                    let mut op = op.clone();
                    if let Op::End = op {
                        self.outputs(at, &key.outputs);
                    }
                    match tested_before(code, at) {
                        // Who has to test alone can.
                        Some((leave, row)) if !self.test(leave, row) => return Ok(None),
                        _ => {}
                    }
                    let before = at > 0 && tested_before(code, at - 1).is_some_and(|(leave, _)| leave == at);
                    if let Some(test) = op.test_mut() {
                        test.done = before || self.test(at, test.row);
                    }
                    self.close();
                    if ends_round {
                        positions[at] = self.body.ops.len() as Pc;
                    }
                    self.known.flow(&op);
                    self.body.ops.push(op);
                }
            }
            at += 1;
        }
        self.close();
        if self.failed {
            return Err(Failed);
        }
        let Builder { compiler, mut body, known, accesses, way, .. } = self;
        body.module = compiler.finish();
        if body.module.is_none() {
            log::warn!("the system gives no memory for code; kernels are interpreted");
            return Ok(None);
        }
        body.ops.iter_mut().for_each(|op| jumps(op, |pc| *pc = positions[*pc as usize]));
        body.stages = stages::stages(&body.ops, &accesses).unwrap_or_default();
        if way.whole && body.stages.is_empty() && body.in_registers().is_none() {
            return Err(Failed);
        }
        body.guards = known.guards();
        emitted::finish(&mut body);
        Ok(Some(body))
    }
}

/// The test with which each round of a loop begins is done before the loop and where its rounds end, right before a barrier if that is the
/// last thing there: the operation of the test that is done at this place, and its row.
fn tested_before(code: &Code, at: usize) -> Option<(usize, RowId)> {
    let body = match (&code.ops[at], code.ops.get(at + 1)) {
        (Op::Loop, _) => at + 1,
        (Op::Fence(_), Some(Op::EndLoop { body, .. })) => *body as usize,
        (Op::EndLoop { body, .. }, _) if !matches!(code.ops[at - 1], Op::Fence(_)) => *body as usize,
        _ => return None,
    };
    let Op::Break { cond: Some(test), .. } = &code.ops[body] else { return None };
    let mut depth = 0;
    for op in &code.ops[body..] {
        match op {
            Op::Loop => depth += 1,
            Op::EndLoop { .. } if depth == 0 => return Some((body, test.row)),
            Op::EndLoop { .. } => depth -= 1,
            _ => {}
        }
    }
    None
}

struct Builder<'a> {
    code: &'a Code,
    /// Literals.
    words: FxHashMap<RowId, u32>,
    key: &'a LaunchKey,
    isa: Isa,
    /// The lines of a wave follow each other along y.
    columns: bool,
    compiler: Compiler,
    body: Body,
    /// The loops around barriers, by their operations.
    rounds: Vec<Range<usize>>,
    /// What the next function does.
    items: Vec<Item>,
    /// It may store: else what it loads clashes with nothing.
    stores: bool,
    known: Known,
    mentions: Rc<Mentions>,
    lives: Rc<Lives<'a>>,
    /// What each function accesses.
    accesses: Vec<Accesses>,
    way: Way,
    /// Something can't be compiled that has to be.
    failed: bool,
}

/// Most items that wait for a function: of more it would be several anyway.
const MOST: usize = 8192;

impl Builder<'_> {
    fn step(&mut self, op: usize, number: u32) {
        if self.items.len() > MOST {
            self.close();
        }
        if !self.code.steps[number as usize].fused {
            self.items.push(Item { op, what: What::Step(number) });
            return;
        }
        self.close();
        self.interpret(What::Step(number));
    }

    fn memory(&mut self, op: usize, index: u32) {
        let Some(what) = self.access(index) else {
            self.close();
            self.failed |= self.way.whole;
            self.body.ops.push(Op::Memory(index));
            return;
        };
        self.body.samples |= matches!(self.code.memory[index as usize].op, MemoryOp::Sample(_));
        if let Some(last) = what.clash(&self.items, self.stores) {
            if self.items.iter().any(|item| item.what.is_flow()) {
                self.close();
            } else {
                let (rest, stores) = (self.items.split_off(self.cut(last + 1, what)), self.stores);
                self.close();
                (self.items, self.stores) = (rest, stores);
            }
        }
        self.stores |= what.stores();
        self.items.push(Item { op, what });
    }

    /// Where to end a function before an access, from the item `first` on: where it hands on the fewest rows, and there as early as it can.
    fn cut(&self, first: usize, access: What) -> usize {
        let rows = |what: What, writes: bool, visit: &mut dyn FnMut(RowId)| match what {
            What::Step(number) => {
                let (to, from) = self.code.ids(number as usize);
                if writes { to } else { from }.iter().for_each(|row| visit(*row));
            }
            What::Load(index, _) | What::Store(index, _) | What::Atomic(index, _) => {
                let op = &self.code.memory[index as usize].op;
                op.each_row(|row, written| {
                    if written == writes {
                        visit(row)
                    }
                });
            }
            _ => {}
        };
        // How often each row is written before.
        let mut written: FxHashMap<RowId, u32> = FxHashMap::default();
        for item in &self.items {
            rows(item.what, true, &mut |row| *written.entry(row).or_default() += 1);
        }
        let mut handed: FxHashSet<RowId> = FxHashSet::default();
        rows(access, false, &mut |row| _ = handed.insert(row));
        handed.retain(|row| written.contains_key(row));
        let mut best = (handed.len(), self.items.len());
        for at in (first..self.items.len()).rev() {
            let what = self.items[at].what;
            rows(what, true, &mut |row| {
                handed.remove(&row);
                written.entry(row).and_modify(|count| *count -= 1);
            });
            let before = |row: &RowId| written.get(row).is_some_and(|count| *count > 0);
            rows(what, false, &mut |row| _ = before(&row).then(|| handed.insert(row)));
            best = best.min((handed.len(), at));
        }
        best.1
    }

    /// Tests a row for the operation that comes next; true if compiled code does it.
    fn test(&mut self, op: usize, row: RowId) -> bool {
        self.items.push(Item { op, what: What::Test(row) });
        self.close()
    }

    /// Makes functions of the items; false if the last of them is interpreted.
    fn close(&mut self) -> bool {
        // Nothing but what is stored is read after stores of outputs.
        match self.items.iter().rev().find(|item| !item.what.is_output()) {
            Some(&last) => self.close_after(last),
            None => false,
        }
    }

    /// The same where rows are read from after `last` on.
    fn close_after(&mut self, last: Item) -> bool {
        let items = std::mem::take(&mut self.items);
        self.stores = false;
        self.emit(&items, last)
    }

    /// Makes one function, or several if they are too many for one.
    fn emit(&mut self, items: &[Item], last: Item) -> bool {
        let repeats = self.repacked(items);
        self.compiler.repack(repeats.as_ref().map(|of| of.start as u32));
        if let Some(function) = self.function(items, last) {
            let repack = repeats.and_then(|of| self.repack(items, of, last, function));
            self.body.repacks.push(repack);
            self.push(items, function);
            self.guard(items, last);
            return true;
        }
        if items.len() == 1 {
            self.interpret(items[0].what);
            return false;
        }
        let Some(middle) = self.middle(items) else {
            self.failed = true;
            return false;
        };
        let (first, rest) = items.split_at(middle);
        first.last().into_iter().for_each(|&last| _ = self.emit(first, last));
        self.emit(rest, last)
    }

    /// The function that was made of items comes next.
    fn push(&mut self, items: &[Item], function: Function) {
        if !self.code.op_spans.is_empty() {
            self.body.spans.resize(self.body.ops.len(), Vec::new());
            self.body.spans.push(items.iter().map(|item| self.span(item)).collect());
        }
        self.body.ops.push(Op::Native(function));
        let mut accesses: Accesses = items.iter().filter_map(|item| item.what.accessed()).collect();
        accesses.sort_unstable();
        accesses.dedup();
        self.accesses.push(accesses);
    }

    /// The instruction of an item, of code that keeps them.
    fn span(&self, item: &Item) -> Span {
        let span = match item.what {
            What::Step(number) => self.code.step_spans.get(number as usize),
            _ => self.code.op_spans.get(item.op),
        };
        span.copied().unwrap_or_default()
    }

    /// A place in the middle that is in no construct.
    fn middle(&self, items: &[Item]) -> Option<usize> {
        let mut depth = 0;
        let mut places = (0..items.len()).filter(|&at| {
            let place = depth == 0;
            match items[at].what {
                What::Flow => match self.code.ops[items[at].op] {
                    Op::If { .. } | Op::Loop => depth += 1,
                    Op::EndIf { .. } | Op::EndLoop { .. } => depth -= 1,
                    _ => {}
                },
                What::Again(_) => depth += 1,
                What::Close => depth -= 1,
                _ => {}
            }
            place && at > 0
        });
        let half = items.len() / 2;
        let first = places.next();
        places.chain(first).min_by_key(|place| place.abs_diff(half))
    }

    /// Leaves an item as it is.
    fn interpret(&mut self, what: What) {
        self.failed |= self.way.whole;
        match what {
            What::Step(number) => {
                // Nothing jumps between two steps of one operation.
                let joined = self.joined(number);
                match self.body.ops.last_mut() {
                    Some(Op::Lanes { end, .. }) if joined && *end == number => *end += 1,
                    _ => self.body.ops.push(Op::Lanes { first: number, end: number + 1 }),
                }
            }
            What::Load(index, _) | What::Store(index, _) | What::Atomic(index, _) => {
                self.body.ops.push(Op::Memory(index));
            }
            // None of them is alone but a copy, and there is code for that.
            What::Test(_)
            | What::Flow
            | What::Barrier
            | What::Keep(_)
            | What::Again(_)
            | What::Otherwise
            | What::Close => {}
            // Whoever runs the tile does it.
            What::Output(..) => self.body.emitted.clear(),
        }
    }

    /// The step follows another one in the same operation.
    fn joined(&self, number: u32) -> bool {
        self.code
            .ops
            .iter()
            .any(|op| matches!(op, Op::Lanes { first, end } if *first < number && number < *end))
    }

    /// Number of the view of a place.
    fn view(&mut self, place: Place) -> Option<u8> {
        self.seen((place, NONE))
    }

    fn seen(&mut self, seen: Seen) -> Option<u8> {
        let known = self.body.views.iter().position(|other| *other == seen);
        let number = known.unwrap_or_else(|| {
            self.body.views.push(seen);
            self.body.views.len() - 1
        });
        u8::try_from(number).ok().filter(|number| *number < u8::MAX)
    }
}
