//! Loops that are left while few lanes are in them: these lanes are brought together and go on in another function, and what comes after the
//! loop is done by a third one.

use recal_il::ir::lines::Shape;
use recal_il::isa::LaneOp;
use recal_jit::{Function, LANES, Module, NONE, Row, Step, Ticks, View, lanes};

use crate::flow::patience;
use crate::{On, Random};

/// Rows: two constants, rounds that are left, what grows in a loop and is read after it, the same for nobody, what comes before and after.
const MINUS_ONE: u32 = 0;
const FACTOR: u32 = 1;
const LEFT: u32 = 2;
const GROWS: u32 = 3;
const LOST: u32 = 4;
const BEFORE: u32 = 5;
const AFTER: u32 = 6;
const TEST: u32 = 7;
const PLACE: u32 = 8;
const ROWS: u32 = 9;
/// What the loop reads of lanes that are in it, and what it leaves for later.
const READS: [u32; 3] = [LEFT, GROWS, LOST];

fn lane(op: LaneOp, ids: &[u32]) -> Step<'_> {
    Step::Lane { op, ids, writes: 1, same: 0 }
}

fn before() -> Vec<Step<'static>> {
    vec![lane(LaneOp::Imul, &[BEFORE, GROWS, FACTOR]), lane(LaneOp::Mov, &[LOST, BEFORE])]
}

fn repeats() -> Vec<Step<'static>> {
    vec![
        Step::Loop,
        lane(LaneOp::Ieq, &[TEST, LEFT, MINUS_ONE]),
        Step::Break(Some((TEST, true, Shape::Any))),
        lane(LaneOp::Iadd, &[LEFT, LEFT, MINUS_ONE]),
        Step::Load { view: 0, address: LEFT, to: [TEST, NONE, NONE, NONE], flush: 0, lanes: Shape::Any },
        lane(LaneOp::Xor, &[LOST, LOST, TEST]),
        lane(LaneOp::Imul, &[GROWS, GROWS, FACTOR]),
        lane(LaneOp::Iadd, &[GROWS, GROWS, LOST]),
        Step::EndLoop,
    ]
}

/// Several lanes store to the same word: the last one's stays.
fn after() -> Vec<Step<'static>> {
    vec![
        lane(LaneOp::Xor, &[AFTER, GROWS, BEFORE]),
        Step::Store { view: 1, address: PLACE, from: [AFTER, NONE, NONE, NONE], lanes: Shape::Any },
        lane(LaneOp::Iadd, &[GROWS, AFTER, FACTOR]),
    ]
}

struct Made {
    module: Module,
    whole: Function,
    inner: Function,
    rest: Function,
}

fn made(on: On, lines: u32) -> Made {
    let constant = |row: u32| [!0, 0x2545_F491].get(row as usize).copied();
    let dead = |row: u32| matches!(row, LEFT | LOST | BEFORE | TEST);
    let mut compiler = on.compiler().with_lines(lines);
    let steps = [before(), repeats(), after()].concat();
    compiler.repack(Some(before().len() as u32));
    let whole = compiler.function(&steps, constant, dead, |_| false).unwrap();
    compiler.scattered(Some(whole));
    compiler.repack(Some(0));
    let inner = compiler.function(&repeats(), constant, |row| dead(row) && row != BEFORE, |_| false).unwrap();
    let rest = compiler.function(&after(), constant, dead, |_| false).unwrap();
    Made { module: compiler.finish().unwrap(), whole, inner, rest }
}

impl Made {
    /// Does all of it for the lanes of a wave; how often lanes were brought together.
    fn run(&self, on: On, exec: u64, rows: &mut [Row], views: &[View], repack: bool) -> u32 {
        let few = |function: Function| match (repack, on.code) {
            (false, _) => 0,
            (true, true) => function.repacks().unwrap() / 2,
            (true, false) => on.isa.lanes() / 2,
        };
        let abreast = if on.code { self.whole.repacks().unwrap() } else { on.isa.lanes() };
        let patience = patience(u32::MAX);
        let mut ticks = Ticks::new(&patience);
        ticks.repack(few(self.whole), 64);
        let mut left = on.call(&self.module, self.whole, rows, views, exec, &mut ticks);
        assert_eq!(left & !exec, 0);
        if left == 0 {
            return 0;
        }
        let late = exec & !0 << (left.trailing_zeros() / abreast * abreast);
        let mut times = 0;
        while left != 0 {
            let from: Vec<usize> = lanes(left).collect();
            let mut packed = vec![Row::splat(0xDEAD_BEEF); ROWS as usize];
            for row in READS.map(|row| row as usize) {
                from.iter().enumerate().for_each(|(to, lane)| packed[row].0[to] = rows[row].0[*lane]);
            }
            let all = !0 >> (LANES - from.len());
            ticks.repack(if from.len() as u32 > abreast { few(self.inner) } else { 0 }, 64);
            let still = on.call(&self.module, self.inner, &mut packed, views, all, &mut ticks);
            for row in READS.map(|row| row as usize) {
                from.iter().enumerate().for_each(|(at, lane)| rows[row].0[*lane] = packed[row].0[at]);
            }
            left = lanes(still).fold(0, |left, at| left | 1 << from[at]);
            times += 1;
        }
        on.call(&self.module, self.rest, rows, views, late, &mut ticks);
        times
    }
}

pub fn lanes_go_on_together(on: On) {
    let mut random = Random(3);
    let mut times = 0;
    for round in 0..60 {
        let made = made(on, if round % 2 == 0 { 0 } else { 32 });
        let most = [3, 40, 300, 2000][round as usize % 4];
        let exec = [!0, !0, 0xF0FF_0000_1234_8001u64][round as usize % 3];
        let few = random.word() % 2 == 0;
        let rows: Vec<Row> = (0..ROWS)
            .map(|row| {
                Row(std::array::from_fn(|lane| match row {
                    MINUS_ONE => !0,
                    FACTOR => 0x2545_F491,
                    LEFT if few && random.word() % 4 > 0 => !0,
                    LEFT => random.below(most),
                    PLACE => 4 * (lane as u32 * 7 % 16),
                    _ => random.word(),
                }))
            })
            .collect();
        let memory: Vec<u32> = (0..256).map(|_| random.word()).collect();
        let [plain, repacked] = [false, true].map(|repack| {
            let (mut rows, mut stored) = (rows.clone(), vec![0u32; 16]);
            // SAFETY: both vectors outlive the calls.
            let views = unsafe {
                [View::new(memory.as_ptr().cast(), 4 * 256), View::new(stored.as_mut_ptr().cast(), 4 * 16)]
            };
            times += made.run(on, exec, &mut rows, &views, repack);
            let seen: Vec<Row> = [AFTER, GROWS].map(|row| rows[row as usize]).into();
            (seen, stored)
        });
        assert!(plain == repacked, "round {round}");
    }
    assert!(times > 40, "{times}");
}
