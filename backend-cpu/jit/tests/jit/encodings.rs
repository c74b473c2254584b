//! Whole functions, as somebody else's disassembler reads them.

use iced_x86::{CpuidFeature, Decoder, DecoderOptions, FlowControl};
use recal_il::format::Format;
use recal_il::ir::lines::Shape;
use recal_il::ir::{AtomicOp, Width};
use recal_il::isa::LaneOp;
use recal_il::isa::memory::texel::Wrap;
use recal_jit::{At, Filter, NONE, Sample, Step};

use crate::{On, arm};

/// Every byte belongs to an instruction that the set has, and every jump leads to one.
pub fn what_is_made_is_what_was_meant(on: On) {
    let add = [2, 1, 0];
    let sample = Sample {
        unnormalized: true,
        offset: [0; 2],
        format: Format::Float32x4,
        wrap: [Wrap::ClampToEdge; 2],
        filter: Filter::Nearest,
        normal: [true; 2],
    };
    // The one with most that is special.
    let wrap = [Wrap::Repeat, Wrap::MirrorClamp];
    let filtered =
        Sample { format: Format::SnormInt16x4, wrap, filter: Filter::Linear, unnormalized: false, ..sample };
    let lane = |op, ids| Step::Lane { op, ids, writes: 1, same: 0 };
    for (line, shape) in
        [(4, Shape::Any), (8, Shape::Same), (16, Shape::Same), (16, Shape::Step(4)), (16, Shape::Step(16))]
    {
        let steps = [
            Step::Load { view: 0, address: 0, to: [1, NONE, NONE, NONE], flush: 1, lanes: shape },
            Step::Load { view: 0, address: 1, to: [1, 2, NONE, NONE], flush: 0, lanes: shape },
            Step::Sample {
                view: 1,
                sample,
                coordinates: [1, 2, NONE, NONE],
                to: [2, 3, 4, 5],
                flush: 15,
                lanes: shape,
                same: 0,
            },
            lane(LaneOp::Add, &add),
            Step::If { row: 2, nonzero: true, lanes: shape },
            Step::Loop,
            lane(LaneOp::Mad, &[2, 1, 0, 2]),
            Step::Break(Some((2, false, shape))),
            Step::EndLoop,
            Step::Else,
            lane(LaneOp::Imul, &[3, 1, 0]),
            Step::EndIf,
            Step::Store { view: 2, address: 3, from: [2, NONE, NONE, NONE], lanes: shape },
            Step::Store { view: 3, address: 3, from: [2, 3, NONE, NONE], lanes: shape },
            Step::StoreElement { view: 4, element: 3, offset: -1, from: [2, 3, 4, 5], lanes: shape },
            Step::StoreElement { view: 4, element: 1, offset: 5, from: [NONE, 3, NONE, 5], lanes: shape },
            Step::Atomic {
                view: 5,
                op: AtomicOp::Inc,
                wide: false,
                alone: true,
                at: At::Byte(3),
                from: [2, NONE, NONE, NONE],
                to: [5, NONE],
            },
            Step::If { row: 4, nonzero: true, lanes: Shape::Any },
            Step::StorePart { view: 6, address: 5, width: Width::U16, from: 4 },
            Step::EndIf,
            Step::Test { row: 2 },
        ];
        let mut compiler = on.compiler().with_lines(line);
        compiler.function(&steps, |_| None, |_| false, |_| false).unwrap();
        compiler.function(&steps[..4], |_| None, |_| false, |_| false).unwrap();
        let filtered = [Step::Sample {
            view: 1,
            sample: filtered,
            coordinates: [1, 2, NONE, NONE],
            to: [2, 3, 4, 5],
            flush: 15,
            lanes: shape,
            same: 0,
        }];
        compiler.function(&filtered, |_| None, |_| false, |_| false).unwrap();
        let left = [
            Step::Loop,
            lane(LaneOp::Mad, &[2, 1, 0, 2]),
            Step::Break(Some((2, false, Shape::Any))),
            Step::EndLoop,
            lane(LaneOp::Add, &add),
        ];
        compiler.repack(Some(0));
        let left = compiler.function(&left, |_| None, |_| false, |_| false).unwrap();
        assert!(left.repacks().is_some());
        // Addresses that are computed once, from columns in row 1, in as many registers as there are.
        let mut emitted: Vec<Step<'_>> = (0..5)
            .map(|view| Step::Sample {
                view,
                sample: Sample { offset: [2, 0], ..sample },
                coordinates: [1, 2, NONE, NONE],
                to: [0, 1, 2, 3].map(|k| 10 + 4 * u32::from(view) + k),
                flush: 15,
                lanes: shape,
                same: 2,
            })
            .collect();
        let sums: Vec<[u32; 3]> =
            (4..20).map(|k| [30 + k % 4, if k < 8 { 6 + k } else { 30 + k % 4 }, 10 + k]).collect();
        emitted.extend(sums.iter().map(|ids| Step::Lane { op: LaneOp::Add, ids, writes: 1, same: 0 }));
        emitted.push(Step::Emit { view: 5, rows: [30, 31, 32, 33], count: 4, past_caches: true });
        let column = Some(1);
        compiler = compiler.with_column(column);
        let stores = compiler.function(&emitted, |_| None, |row| row < 30, |_| true).unwrap();
        let module = compiler.finish().unwrap();
        let known = module.listing(stores).unwrap().contains("once, by columns");
        assert_eq!(known, on.isa.name() != "neon" && line >= on.isa.lanes(), "{line}");
        let code = module.code();
        let (starts, jumps) = if on.isa.name() == "neon" { neon(code) } else { x86(code, on.isa.name()) };
        assert!(jumps.len() > 20, "{} jumps", jumps.len());
        for jump in jumps {
            assert!(starts.binary_search(&jump).is_ok(), "a jump leads into the middle of an instruction");
        }
    }
}

/// Where instructions start, and where jumps lead.
fn x86(code: &[u8], set: &str) -> (Vec<u64>, Vec<u64>) {
    let (mut starts, mut jumps) = (Vec::new(), Vec::new());
    for instruction in &mut Decoder::new(64, code, DecoderOptions::NONE) {
        assert!(
            !instruction.is_invalid(),
            "{:x?} at {}",
            &code[instruction.ip() as usize..],
            instruction.ip()
        );
        let baseline = [CpuidFeature::AVX, CpuidFeature::AVX2, CpuidFeature::FMA, CpuidFeature::BMI1];
        for feature in instruction.cpuid_features() {
            let name = format!("{feature:?}");
            let known = !name.starts_with("AVX") && !name.starts_with("BMI") || baseline.contains(feature);
            let wide = set == "avx512" && name.starts_with("AVX512");
            assert!(known || wide, "{name} for {set}");
        }
        starts.push(instruction.ip());
        if let FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch = instruction.flow_control()
        {
            jumps.push(instruction.near_branch_target());
        }
    }
    (starts, jumps)
}

/// The same.
fn neon(code: &[u8]) -> (Vec<u64>, Vec<u64>) {
    let texts = arm(code);
    let starts = (0..texts.len() as u64).map(|k| 4 * k).collect();
    let jumps = (0..).zip(&texts).filter_map(|(k, text)| {
        let distance = text.split_once('$').map(|(_, distance)| distance)?;
        let (sign, digits) = distance.split_at(3);
        let distance = u64::from_str_radix(digits, 16).unwrap();
        Some(if sign == "+0x" { 4 * k + distance } else { 4 * k - distance })
    });
    (starts, jumps.collect())
}
