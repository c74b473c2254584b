//! Each row of an access is listed once, as read or written: what is not listed is not renamed.

use super::*;

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
        (MemoryOp::ConstLoad { place: 0, index, offset, dst }, &[1], &dst),
        (MemoryOp::ImmediateLoad { index, offset, dst }, &[1], &dst),
        (MemoryOp::ArrayLoad { first: 40, elements: 2, index, offset, dst }, &[1], &dst),
        (MemoryOp::ArrayStore { first: 40, elements: 2, index, offset, src }, &[1, 6, 7, 8, 9], &[]),
        (MemoryOp::GlobalLoad { index, offset, dst }, &[1], &dst),
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
        (MemoryOp::LdsWriteOwn { offset: 0, src }, &src, &[]),
        (MemoryOp::LdsReadAny { thread: 1, offset: 2, neighbor_exchange: false, dst }, &[1, 2], &dst),
        (MemoryOp::Counter { uav: 0, consume: false, dst: 20 }, &[], &[20]),
    ];
    for (mut op, reads, writes) in list {
        let mut found = [Vec::new(), Vec::new()];
        op.each_row(|row, written| found[usize::from(written)].push(row));
        found.iter_mut().for_each(|rows| rows.sort_unstable());
        assert_eq!(found, [reads, writes], "{op:?}");
        op.rename(|row| row + 100);
        let mut renamed = Vec::new();
        op.each_row(|row, _| renamed.push(row - 100));
        renamed.sort_unstable();
        assert_eq!(renamed, [reads, writes].concat(), "{op:?}");
    }
}
