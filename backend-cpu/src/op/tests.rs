//! Each row of an access is listed once, as read or written.

use super::*;
use crate::isa_choice::InstructionSet;
use crate::load;

fn slot(index: RowId) -> Slot {
    Slot { base: 0, place: NONE, index }
}

#[test]
fn accesses_list_all_their_rows() {
    let at = Addressing { coord: [3, 4, 5], offset: [0; 3], unnormalized: false, dimensions: 2 };
    let dst = [20, 21, 22, 23];
    let src = [6, 7, 8, 9];
    let (add, place) = (AtomicOp::Add, Place::Uav(0));
    let (index, offset, width) = (1, 0, Width::Dwords);
    let pair = [20, 21];
    let atomic = |at| MemoryOp::Atomic { op: add, place, at, dimensions: 1, src: 6, src2: 7, dst: 20 };
    let sample = SampleOp { resource: slot(1), sampler: slot(2), at, dst, number: 0, slot: 0, again: false };
    let gather = |texel_offset| MemoryOp::Gather {
        resource: slot(1),
        sampler: slot(2),
        at,
        texel_offset,
        component: 0,
        dst,
    };
    let list: Vec<(MemoryOp, &[RowId], &[RowId])> = vec![
        (MemoryOp::Sample(sample), &[1, 2, 3, 4, 5], &dst),
        (gather(None), &[1, 2, 3, 4, 5], &dst),
        (gather(Some([6, 7])), &[1, 2, 3, 4, 5, 6, 7], &dst),
        (
            MemoryOp::Fetch { resource: slot(1), coord: [3, 4, NONE], offset: [0; 3], dimensions: 2, dst },
            &[1, 3, 4],
            &dst,
        ),
        (MemoryOp::ResourceInfo { resource: slot(1), uint: true, dst }, &[1], &dst),
        (MemoryOp::BufferInfo { of: InfoOf::Resource(slot(1)), dst: [20, NONE, 22, NONE] }, &[1], &[20, 22]),
        (MemoryOp::BufferInfo { of: InfoOf::Typed(0), dst }, &[], &dst),
        (MemoryOp::ElementLoad { place, index, offset, dst }, &[1], &dst),
        (MemoryOp::ArrayLoad { first: 40, elements: 2, index, offset, dst }, &[1], &dst),
        (MemoryOp::ArrayStore { first: 40, elements: 2, index, offset, src }, &[1, 6, 7, 8, 9], &[]),
        (MemoryOp::GlobalStore { index, offset, src }, &[1, 6, 7, 8, 9], &[]),
        (MemoryOp::SharedLoad { register: 0, dst }, &[], &dst),
        (MemoryOp::SharedStore { register: 0, src }, &src, &[]),
        (MemoryOp::RawLoad { place, address: 1, width, dst }, &[1], &dst),
        (MemoryOp::RawStore { place, address: 1, width, src }, &[1, 6, 7, 8, 9], &[]),
        (MemoryOp::TypedLoad { place: 0, coord: [3, 4, 5], dimensions: 2, dst }, &[3, 4, 5], &dst),
        (
            MemoryOp::TypedStore { place: 0, coord: [3, 4, 5], dimensions: 2, src },
            &[3, 4, 5, 6, 7, 8, 9],
            &[],
        ),
        (atomic(AtomicAt::Byte(1)), &[1, 6, 7], &[20]),
        (atomic(AtomicAt::Texel([3, 4, 5])), &[3, 4, 5, 6, 7], &[20]),
        (
            MemoryOp::AtomicWide { op: add, place, address: 1, src: [6, 7], src2: [8, 9], dst: pair },
            &[1, 6, 7, 8, 9],
            &pair,
        ),
        (MemoryOp::Counter { uav: 0, consume: false, dst: 20 }, &[], &[20]),
    ];
    for (op, reads, writes) in list {
        let mut found = [Vec::new(), Vec::new()];
        op.each_row(|row, written| found[usize::from(written)].push(row));
        found.iter_mut().for_each(|rows| rows.sort_unstable());
        assert_eq!(found, [reads, writes], "{op:?}");
    }
}

/// Launches all of whose waves are whole have code for those alone, if nothing is interpreted; what is made for others serves them, too.
#[test]
fn launches_of_whole_waves_have_code_for_those_alone() {
    let kernel = |body: &str| {
        format!(
            "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n\
             dcl_literal l0, 1.0, 2.0, 0, 0\nge r1.x, vWinCoord0.x, l0.y\n{body}mul o0, r0, vWinCoord0.xyyx\nend\n"
        )
    };
    let chosen = kernel("if_logicalnz r1.x\nadd r0, l0, vWinCoord0.xyxy\nendif\n");
    let leaves = kernel("discard_logicalnz r1.x\n");
    let code = |text: &str, set: InstructionSet| {
        let (packed, known) = load::prepare(&recal_il::compile(text.as_bytes()).unwrap(), true, false);
        Code { native: set.code(), ..load::load_compiled(&packed, &known) }
    };
    let key = |whole| LaunchKey { line: 64, whole, ..LaunchKey::default() };
    // Whether each function has code for some lanes, too.
    let both = |body: &Body| -> Vec<bool> {
        let functions = body.ops.iter().filter_map(|op| match op {
            Op::Native(function) => Some(!function.for_whole_waves()),
            _ => None,
        });
        functions.collect()
    };
    for set in InstructionSet::ALL.into_iter().filter(|set| set.code().is_some()) {
        let first = code(&chosen, set);
        let bodies = [true, true, false].map(|whole| first.body(key(whole), 1));
        assert_eq!(bodies.each_ref().map(|body| both(body)), [[false], [false], [true]], "{set:?}");
        assert!(Arc::ptr_eq(&bodies[0], &bodies[1]) && !Arc::ptr_eq(&bodies[0], &bodies[2]));
        let other = code(&chosen, set);
        let bodies = [false, true].map(|whole| other.body(key(whole), 1));
        assert!(Arc::ptr_eq(&bodies[0], &bodies[1]) && both(&bodies[0]) == [true], "{set:?}");
        // Lanes leave where code ends, so that what follows is called for some.
        let body = code(&leaves, set).body(key(true), 1);
        assert!(body.stages.is_empty() && both(&body).iter().all(|both| *both), "{set:?}");
    }
}
