//! Kernels of groups that share memory, and kernels of many launches.

use recal::Format;

use crate::case::{Buffer, Case, Random, Scale, Step, Threads, Unit, expect_words};

pub fn reductions(scale: Scale) -> Vec<Case> {
    let count = scale.pick(1000, 4_000_001, 128_000_001u32);
    let mut random = Random(2002);
    let words: Vec<u32> = (0..count).map(|_| random.word()).collect();
    let texts = [
        ("strided", "reduction_1", include_str!("../../il/reduction_1.il"), 256),
        ("first threads", "reduction_2", include_str!("../../il/reduction_2.il"), 256),
        ("two loads", "reduction_3", include_str!("../../il/reduction_3.il"), 512),
        ("unrolled", "reduction_4", include_str!("../../il/reduction_4.il"), 512u32),
    ];
    let cases = texts.map(|(name, peer, il, per_group)| {
        let groups = count.div_ceil(per_group);
        let sums: Vec<u32> = words
            .chunks(per_group as usize)
            .map(|part| part.iter().fold(0u32, |sum, w| sum.wrapping_add(*w)))
            .collect();
        let grid = [groups, 1, 1];
        Case {
            name: format!("reduction {name} {count}"),
            il: il.into(),
            peer,
            buffers: vec![
                Buffer::input("uav0", [count, 0], Format::UnsignedInt32x1, words.clone()),
                Buffer::output("uav1", [groups, 0], Format::UnsignedInt32x1),
            ],
            threads: Threads::Grid(grid, [256, 1, 1]),
            steps: Step::same(&[count, 0, 0, 0]),
            work: 4.0 * f64::from(count),
            unit: Unit::Byte,
            check: Box::new(move |b, _| expect_words(&b[1], sums.iter().copied())),
            host: None,
            doubles: false,
        }
    });
    cases.into()
}

pub fn bitonic_sort(scale: Scale) -> Vec<Case> {
    let n = scale.pick(256, 65536, 1 << 22u32);
    let mut random = Random(5);
    let words: Vec<u32> = (0..n).map(|_| random.word()).collect();
    let mut sorted = words.clone();
    sorted.sort_unstable();
    let mut steps = Vec::new();
    let mut k = 2;
    while k <= n {
        let mut j = k / 2;
        while j > 0 {
            let last = if k == n { 0 } else { k };
            steps.extend(Step::same(&[j, last, 0, 0]));
            j /= 2;
        }
        k *= 2;
    }
    vec![Case {
        name: format!("bitonic_sort {n}"),
        il: include_str!("../../il/bitonic_sort.il").into(),
        peer: "bitonic_sort",
        buffers: vec![Buffer {
            written: true,
            ..Buffer::input("uav0", [n, 0], Format::UnsignedInt32x1, words)
        }],
        threads: Threads::Grid([n / 128, 1, 1], [64, 1, 1]),
        work: steps.len() as f64 * f64::from(n / 2),
        steps,
        unit: Unit::Operation,
        check: Box::new(move |b, _| expect_words(&b[0], sorted.iter().copied())),
        host: None,
        doubles: false,
    }]
}
