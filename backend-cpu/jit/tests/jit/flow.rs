//! Functions with constructs do for each lane what the constructs say.

use iced_x86::{Decoder, DecoderOptions};
use recal_il::ir::lines::Shape;
use recal_il::isa::LaneOp;
use recal_il::isa::lane::fold;
use recal_jit::{Ask, LANES, NONE, Row, Step, Ticks, View};

use crate::{On, Random, arm};

/// Stops after so many questions.
pub struct Patience(std::cell::Cell<u32>);

impl Ask for Patience {
    fn stop(&self) -> bool {
        let left = self.0.get();
        self.0.set(left.saturating_sub(1));
        left == 0
    }
}

pub fn patience(questions: u32) -> Patience {
    Patience(std::cell::Cell::new(questions))
}

impl Random {
    pub fn below(&mut self, n: u32) -> u32 {
        self.word() % n
    }
}

/// A step that owns its rows.
#[derive(Clone, Copy, Debug)]
pub enum Own {
    Op(LaneOp, [u32; 4], usize),
    Load(u32, u32),
    Store(u32, u32),
    If(u32, bool),
    Else,
    EndIf,
    Loop,
    EndLoop,
    Break(Option<(u32, bool)>),
}

impl Own {
    /// `lanes`: what is said of all words but addresses of stores, `stores` of those.
    pub fn step(&self, lanes: Shape, stores: Shape) -> Step<'_> {
        match self {
            Own::Op(_, ids, count) => match self {
                Own::Op(op, ..) => Step::Lane { op: *op, ids: &ids[..*count], writes: 1, same: 0 },
                _ => unreachable!(),
            },
            Own::Load(to, address) => {
                Step::Load { view: 0, address: *address, to: [*to, NONE, NONE, NONE], flush: 0, lanes }
            }
            Own::Store(address, from) => {
                Step::Store { view: 1, address: *address, from: [*from, NONE, NONE, NONE], lanes: stores }
            }
            Own::If(row, nonzero) => Step::If { row: *row, nonzero: *nonzero, lanes },
            Own::Else => Step::Else,
            Own::EndIf => Step::EndIf,
            Own::Loop => Step::Loop,
            Own::EndLoop => Step::EndLoop,
            Own::Break(test) => Step::Break(test.map(|(row, nonzero)| (row, nonzero, lanes))),
        }
    }
}

/// Rows: 0 to 3 are constants, then general ones, then counters of loops, one for each depth.
const GENERAL: u32 = 24;
const COUNTERS: u32 = 4 + GENERAL;
/// Written before it is read, in one run.
const TEMPORARY: u32 = COUNTERS + 4;
const ROWS: u32 = COUNTERS + 5;
const CONSTANTS: [u32; 4] = [0, 1, 3, 0x3F80_0000];

struct Program {
    random: Random,
    steps: Vec<Own>,
}

impl Program {
    fn ops(&mut self, count: u32) {
        const OPS: [LaneOp; 12] = [
            LaneOp::Iadd,
            LaneOp::Isub,
            LaneOp::Xor,
            LaneOp::And,
            LaneOp::Ult,
            LaneOp::Imul,
            LaneOp::Mov,
            LaneOp::Select,
            LaneOp::Ushr,
            LaneOp::Ieq,
            LaneOp::Add,
            LaneOp::Mul,
        ];
        for _ in 0..count {
            let op = OPS[self.random.below(12) as usize];
            let words = op.arguments().len();
            let mut ids = [0; 4];
            ids[0] = 4 + self.random.below(GENERAL);
            (1..=words).for_each(|k| ids[k] = self.random.below(COUNTERS));
            if matches!(op, LaneOp::Add | LaneOp::Mul) {
                for id in &mut ids[1..=words] {
                    let flushed = 4 + self.random.below(GENERAL);
                    self.steps.push(Own::Op(LaneOp::Flush, [flushed, *id, 0, 0], 2));
                    self.steps.push(Own::Op(LaneOp::Canon, [flushed, flushed, 0, 0], 2));
                    *id = flushed;
                }
            }
            self.steps.push(Own::Op(op, ids, 1 + words));
            if matches!(op, LaneOp::Add | LaneOp::Mul) {
                self.steps.push(Own::Op(LaneOp::Canon, [ids[0], ids[0], 0, 0], 2));
            }
        }
        if self.random.below(3) == 0 {
            let [to, a, b] = [GENERAL, COUNTERS, COUNTERS].map(|n| self.random.below(n));
            self.steps.push(Own::Op(LaneOp::Isub, [TEMPORARY, a, b, 0], 3));
            self.steps.push(Own::Op(LaneOp::Xor, [4 + to, TEMPORARY, b, 0], 3));
        }
        if self.random.below(3) == 0 {
            let (to, address) = (4 + self.random.below(GENERAL), self.random.below(COUNTERS));
            self.steps.push(Own::Load(to, address));
        }
    }

    fn any(&mut self) -> (u32, bool) {
        (4 + self.random.below(GENERAL), self.random.below(2) == 0)
    }

    fn list(&mut self, depth: u32, looping: bool) {
        for _ in 0..1 + self.random.below(3) {
            let count = self.random.below(5);
            self.ops(count);
            match self.random.below(5) {
                0 | 1 if depth < 4 => {
                    let (row, nonzero) = self.any();
                    self.steps.push(Own::If(row, nonzero));
                    self.list(depth + 1, looping);
                    if self.random.below(2) == 0 {
                        self.steps.push(Own::Else);
                        self.list(depth + 1, looping);
                    }
                    self.steps.push(Own::EndIf);
                }
                2 if depth < 4 => {
                    let counter = COUNTERS + depth;
                    let flag = 4 + self.random.below(GENERAL);
                    self.steps.push(Own::Op(LaneOp::Mov, [counter, 0, 0, 0], 2));
                    self.steps.push(Own::Loop);
                    self.steps.push(Own::Op(LaneOp::Ult, [flag, 2, counter, 0], 3));
                    self.steps.push(Own::Break(Some((flag, true))));
                    self.steps.push(Own::Op(LaneOp::Iadd, [counter, counter, 1, 0], 3));
                    self.list(depth + 1, true);
                    self.steps.push(Own::EndLoop);
                }
                3 if looping => {
                    let test = self.any();
                    let all = self.random.below(6) == 0;
                    self.steps.push(Own::Break(if all { None } else { Some(test) }));
                }
                _ => {}
            }
        }
    }
}

/// One lane, step by step.
pub fn lane(steps: &[Own], rows: &mut [u32], from: &[u32], to: &mut [u32]) {
    let holds = |rows: &[u32], (row, nonzero): (u32, bool)| (rows[row as usize] != 0) == nonzero;
    // The step after the one that closes the construct which starts before `at`; an `else` closes if asked for.
    let close = |mut at: usize, other: bool| {
        let mut depth = 0;
        loop {
            match steps[at] {
                Own::If(..) | Own::Loop => depth += 1,
                Own::Else if depth == 0 && other => return at + 1,
                Own::EndIf | Own::EndLoop if depth == 0 => return at + 1,
                Own::EndIf | Own::EndLoop => depth -= 1,
                _ => {}
            }
            at += 1;
        }
    };
    let mut loops: Vec<usize> = Vec::new();
    let mut at = 0;
    while at < steps.len() {
        let next = at + 1;
        at = match steps[at] {
            Own::Op(op, ids, count) => {
                let args: Vec<u32> = ids[1..count].iter().map(|&id| rows[id as usize]).collect();
                rows[ids[0] as usize] = fold(op, &args).0;
                next
            }
            Own::Load(row, address) => {
                rows[row as usize] = from.get(rows[address as usize] as usize / 4).copied().unwrap_or(0);
                next
            }
            Own::Store(address, row) => {
                if let Some(word) = to.get_mut(rows[address as usize] as usize / 4) {
                    *word = rows[row as usize];
                }
                next
            }
            Own::If(row, nonzero) => {
                if holds(rows, (row, nonzero)) {
                    next
                } else {
                    close(next, true)
                }
            }
            Own::Else => close(next, false),
            Own::EndIf => next,
            Own::Loop => {
                loops.push(next);
                next
            }
            Own::EndLoop => *loops.last().unwrap(),
            Own::Break(test) if test.is_none_or(|test| holds(rows, test)) => {
                let start = loops.pop().unwrap();
                close(start, false)
            }
            Own::Break(_) => next,
        };
    }
}

pub fn random_constructs(on: On) {
    constructs(on, 900, false);
}

/// All lanes of a line have the same words, and the compiler knows: none parts from the others.
pub fn random_constructs_in_lines(on: On) {
    constructs(on, 600, true);
}

/// A short side is no jump, so that what is around it is one block; a long one is a jump.
pub fn short_sides_are_done_by_all(on: On) {
    let ops = |count| (0..count).map(|k| Own::Op(LaneOp::Iadd, [4 + k % 5, 5 + k % 3, 6 + k % 2, 0], 3));
    let choice = |count| {
        let sides = [vec![Own::If(9, true)], ops(count).collect(), vec![Own::Else], ops(2).collect()];
        sides.into_iter().flatten().chain([Own::EndIf]).collect()
    };
    let jumps = |steps: Vec<Own>| {
        let list: Vec<Step<'_>> = steps.iter().map(|own| own.step(Shape::Any, Shape::Any)).collect();
        let mut compiler = on.compiler();
        let function = compiler.function(&list, |_| None, |_| false, |_| false).unwrap();
        let module = compiler.finish().unwrap();
        let (code, _) = module.code_of(function);
        if on.isa.name() == "neon" {
            let conditional = |text: &&String| text.starts_with("b.") || text.starts_with("cb");
            return arm(code).iter().filter(conditional).count();
        }
        let conditional = |instruction: &iced_x86::Instruction| instruction.is_jcc_short_or_near();
        Decoder::new(64, code, DecoderOptions::NONE).into_iter().filter(conditional).count()
    };
    let without = jumps(ops(6).collect());
    assert_eq!(jumps(choice(6)), without);
    assert!(jumps(choice(60)) > without);
}

/// Long functions are translated by several threads, and are the same as of one.
pub fn long_ones_by_several_threads(on: On) {
    let mut steps = Vec::new();
    for round in 0..40 {
        // What takes denormals as zeros is in the second half alone.
        let which = if round < 30 { LaneOp::Iadd } else { LaneOp::Mul };
        let op = |k| Own::Op(which, [4 + k % 5, 5 + (k + round) % 3, 6 + k % 2, 0], 3);
        steps.extend((0..30).map(op));
        steps.push(Own::If(4 + round % 5, round % 2 == 0));
        // Deeper lists are split as well.
        steps.extend((0..if round == 7 { 1500 } else { 30 }).map(op));
        steps.extend([Own::If(9, true), op(3), op(4), Own::EndIf]);
        steps.push(Own::Else);
        steps.extend([op(1), Own::EndIf]);
    }
    let list: Vec<Step<'_>> = steps.iter().map(|own| own.step(Shape::Any, Shape::Any)).collect();
    let made = |threads: usize| {
        let mut compiler = on.compiler().with_threads(threads);
        let function = compiler.function(&list, |_| None, |_| false, |_| false).unwrap();
        let module = compiler.finish().unwrap();
        (module.code().to_vec(), module.listing(function))
    };
    let one = made(1);
    assert!([2, 3, 8].into_iter().all(|threads| made(threads) == one));
}

fn constructs(on: On, rounds: u32, together: bool) {
    let (lanes, stores) = if together { (Shape::Same, Shape::Step(4)) } else { (Shape::Any, Shape::Any) };
    let (mut made, mut two) = (0, 0);
    for round in 0..rounds {
        let mut program = Program { random: Random(round * 77 + 5), steps: Vec::new() };
        program.list(0, false);
        // Each lane has a word of its own.
        let (address, from) = (3 + GENERAL, 4);
        program.steps.push(Own::Op(LaneOp::Mov, [address, COUNTERS + 3, 0, 0], 2));
        program.steps.push(Own::Store(address, from));
        let Program { mut random, steps } = program;
        // The address is a counter that no loop of the program uses.
        if steps.iter().any(|step| matches!(step, Own::Op(_, ids, _) if ids[0] == COUNTERS + 3)) {
            continue;
        }
        let list: Vec<Step<'_>> = steps.iter().map(|own| own.step(lanes, stores)).collect();
        let dead = |row: u32| row % 5 == 4 && row != 4;
        let unseen = |row: u32| row == TEMPORARY;
        let constant = |row: u32| CONSTANTS.get(row as usize).copied();
        // Lines alone say nothing.
        let lines = if together || round % 2 == 1 { 32 } else { 0 };
        let mut compiler = on.compiler().with_lines(lines);
        let Some(function) = compiler.function(&list, constant, dead, unseen) else { continue };
        let module = compiler.finish().unwrap();
        made += 1;
        // mov ebx, 4 or 2: the strips that are left, two at a time
        let left = if on.isa.name() == "avx2" { 4 } else { 2 };
        two += u32::from(module.code().windows(5).any(|code| code == [0xBB, left, 0, 0, 0]));
        for exec in [!0, 0xF00F_0000_1234_8001u64, 1 << 40] {
            let mut rows: Vec<Row> = (0..ROWS)
                .map(|row| match constant(row) {
                    Some(word) => Row::splat(word),
                    None if row == COUNTERS + 3 => Row(std::array::from_fn(|lane| 4 * lane as u32)),
                    None => {
                        let words: [u32; LANES] = std::array::from_fn(|_| match random.below(3) {
                            0 => random.below(300),
                            1 => random.word(),
                            _ => random.below(2),
                        });
                        Row(std::array::from_fn(|lane| words[if together { lane / 32 } else { lane }]))
                    }
                })
                .collect();
            let memory: Vec<u32> = (0..64).map(|_| random.word()).collect();
            let mut to = vec![0xEEEE_EEEEu32; 64];
            let mut expected_to = to.clone();
            let before = rows.clone();
            // SAFETY: both vectors outlive the call.
            let views = [unsafe { View::new(memory.as_ptr().cast(), 256) }, unsafe {
                View::new(to.as_mut_ptr().cast(), 256)
            }];
            let patience = patience(u32::MAX);
            let mut ticks = Ticks::new(&patience);
            on.call(&module, function, &mut rows, &views, exec, &mut ticks);
            assert!(!ticks.stopped());
            for k in 0..LANES {
                let mut own: Vec<u32> = before.iter().map(|row| row.0[k]).collect();
                if exec >> k & 1 == 1 {
                    lane(&steps, &mut own, &memory, &mut expected_to);
                }
                for row in (0..ROWS).filter(|&row| !dead(row) && !unseen(row)) {
                    let got = rows[row as usize].0[k];
                    assert_eq!(got, own[row as usize], "round {round}, lane {k}, row {row} of {steps:#?}");
                }
            }
            assert_eq!(to, expected_to, "round {round}");
        }
    }
    assert!(made > rounds / 3, "only {made} were made");
    // Where a target does two strips at a time, both ways are to be tried.
    let both = on.isa.name() == "neon" || (made / 8..made).contains(&two);
    assert!(both, "{two} of {made} do two strips at a time");
}

pub fn endless_loops_end(on: On) {
    let mut compiler = on.compiler();
    let add = [0, 0, 1];
    let steps = [Step::Loop, Step::Lane { op: LaneOp::Iadd, ids: &add, writes: 1, same: 0 }, Step::EndLoop];
    let function = compiler.function(&steps, |_| None, |_| false, |_| false).unwrap();
    let module = compiler.finish().unwrap();
    let mut rows = [Row::ZERO, Row::splat(1)];
    let patience = patience(3);
    let mut ticks = Ticks::new(&patience);
    on.call(&module, function, &mut rows, &[], !0, &mut ticks);
    assert!(ticks.stopped());
}
