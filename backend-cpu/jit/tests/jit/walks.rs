//! Loops that go through memory in steps which only run time knows ask for what later rounds read, others do not.

use iced_x86::{Decoder, DecoderOptions, Mnemonic};
use recal_il::ir::lines::Shape;
use recal_il::isa::LaneOp;
use recal_jit::{NONE, Step};

use crate::On;

/// Rows: the address, what it goes on by, a counter, what it ends at, a sum, a word that is loaded.
const ADDRESS: u32 = 0;
const STEP: u32 = 1;
const COUNTER: u32 = 2;
const END: u32 = 3;
const SUM: u32 = 4;
const WORD: u32 = 5;
const TEST: u32 = 6;
const FOUR: u32 = 7;

/// How often the code of a loop asks for what it reads later: what is done to rows after the load in each round, the word of the row of the
/// step, and how the addresses of lanes lie.
fn asked(on: On, changes: &[[u32; 3]], step: Option<u32>, shape: Shape) -> usize {
    let lane = |op, ids| Step::Lane { op, ids, writes: 1, same: 0 };
    let test = [TEST, COUNTER, END];
    let sum = [SUM, WORD, SUM];
    let mut steps = vec![
        Step::Loop,
        Step::Lane { op: LaneOp::Ige, ids: &test, writes: 1, same: 1 },
        Step::Break(Some((TEST, true, Shape::Same))),
        Step::Load { view: 0, address: ADDRESS, to: [WORD, NONE, NONE, NONE], flush: 0, lanes: shape },
        lane(LaneOp::Iadd, &sum),
    ];
    steps.extend(changes.iter().map(|ids| lane(LaneOp::Iadd, &ids[..])));
    steps.push(Step::EndLoop);
    let constant = |row| match row {
        STEP => step,
        FOUR => Some(4),
        _ => None,
    };
    let mut compiler = on.compiler().with_lines(64);
    compiler.function(&steps, constant, |row| row == SUM, |_| false).unwrap();
    let module = compiler.finish().unwrap();
    let mut decoder = Decoder::new(64, module.code(), DecoderOptions::NONE);
    decoder.iter().filter(|instruction| instruction.mnemonic() == Mnemonic::Prefetcht1).count()
}

const COUNT: [u32; 3] = [COUNTER, COUNTER, FOUR];
const GO: [u32; 3] = [ADDRESS, ADDRESS, STEP];

/// One line for each load: code is for all lanes, and for some.
pub fn columns(on: On) {
    match on.isa.name() {
        "avx2" => {}
        "avx512" => return assert_eq!(asked(on, &[COUNT, GO], None, Shape::Step(4)), 0, "nothing is gained"),
        _ => return,
    }
    let near = Shape::Step(4);
    let found = |changes: &[[u32; 3]], step, shape| asked(on, changes, step, shape);
    assert!(found(&[COUNT, GO], None, near) > 0, "a step that only run time knows");
    assert!(found(&[COUNT, GO], Some(8192), near) > 0, "a long one");
    assert!(found(&[COUNT, GO], None, Shape::Same) > 0, "one word for all");
    assert_eq!(found(&[COUNT, GO], Some(64), near), 0, "words side by side");
    assert_eq!(found(&[COUNT], None, near), 0, "always the same words");
    assert!(found(&[COUNT, GO, GO], None, near) > 0, "twice the step");
    assert_eq!(found(&[COUNT, [ADDRESS; 3]], None, near), 0, "steps that grow");
    assert_eq!(found(&[COUNT, GO, [STEP, STEP, FOUR]], None, near), 0, "steps that change");
    assert_eq!(found(&[COUNT, [ADDRESS, WORD, STEP]], None, near), 0, "what comes from elsewhere");
    assert_eq!(found(&[COUNT, GO], None, Shape::Any), 0, "lanes anywhere");
}
