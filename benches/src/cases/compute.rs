//! Kernels that mostly compute.

use recal::Format;

use super::pixel;
use crate::case::{Buffer, Case, Random, Scale, Step, Threads, Unit, bits, expect_near, expect_words};

pub fn mandelbrot(scale: Scale) -> Vec<Case> {
    let n = scale.pick(32, 1024, 4096u32);
    let limit = 250u32;
    let view = [-2.0f32, -1.25, 2.5 / n as f32, 4.0];
    let count = move |column: u32, row: u32| {
        let x0 = (column as f32 + 0.5) * view[2] + view[0];
        let y0 = (row as f32 + 0.5) * view[2] + view[1];
        let (mut x, mut y, mut k) = (x0, y0, 0);
        while k < limit && x * x + y * y <= 4.0 {
            let (xx, yy, xy) = (x * x, y * y, x * y);
            x = (xx - yy) + x0;
            y = (xy + xy) + y0;
            k += 1;
        }
        k
    };
    let expected: Vec<u32> = (0..n * n).map(|k| count(k % n, k / n)).collect();
    let steps: f64 = expected.iter().map(|k| f64::from(*k)).sum();
    let words: Vec<u32> = bits(&view);
    let (mut constants, mut push) = (words.clone(), words);
    constants.extend([limit, 0, 0, 0]);
    push.extend([limit, n]);
    let host = (scale != Scale::Large).then(|| {
        Box::new(move || {
            let sum: u32 = (0..n * n).map(|k| count(k % n, k / n)).sum();
            std::hint::black_box(sum);
        }) as Box<dyn FnMut()>
    });
    vec![Case {
        name: format!("mandelbrot {n}"),
        il: pixel(0, 2) + include_str!("../../il/mandelbrot.il"),
        peer: "mandelbrot",
        buffers: vec![Buffer::output("o0", [n, n], Format::UnsignedInt32x1)],
        threads: Threads::Domain(n, n),
        steps: Step::of(&constants, &push),
        work: 7.0 * steps,
        unit: Unit::Flop,
        check: Box::new(move |b, exact| {
            if exact {
                return expect_words(&b[0], expected.iter().copied());
            }
            // A peer may contract: points near the border then leave a little sooner or later.
            let off = b[0].iter().zip(&expected).filter(|(a, b)| a.abs_diff(**b) > 2).count();
            match off * 20 <= expected.len() {
                true => Ok(()),
                false => Err(format!("{off} of {} counts are off", expected.len())),
            }
        }),
        host,
        doubles: false,
    }]
}

pub fn hash(scale: Scale) -> Vec<Case> {
    let n = scale.pick(32, 512, 2048u32);
    let rounds = 64;
    let value = move |k: u32| {
        let i = k / 4;
        let mut h = i.wrapping_mul([1, 3, 5, 7][k as usize % 4]).wrapping_add(0x9E37_79B9);
        for r in 0..rounds {
            h = (h ^ (h >> 16)).wrapping_mul(0x85EB_CA6B);
            h = (h ^ (h >> 13)).wrapping_mul(0xC2B2_AE35);
            h = (h ^ (h >> 16)).wrapping_add(r);
        }
        h
    };
    let host = (scale != Scale::Large).then(|| {
        let mut to = vec![0; (4 * n * n) as usize];
        Box::new(move || {
            to.iter_mut().zip(0..).for_each(|(to, k)| *to = value(k));
            std::hint::black_box(&to);
        }) as Box<dyn FnMut()>
    });
    vec![Case {
        name: format!("hash {n}"),
        il: pixel(0, 1) + include_str!("../../il/hash.il"),
        peer: "hash",
        buffers: vec![Buffer::output("o0", [n, n], Format::UnsignedInt32x4)],
        threads: Threads::Domain(n, n),
        steps: Step::of(&[rounds, n, 0, 0], &[rounds, n, n]),
        work: 4.0 * 9.0 * f64::from(rounds) * f64::from(n).powi(2),
        unit: Unit::Operation,
        check: Box::new(move |b, _| expect_words(&b[0], (0..4 * n * n).map(value))),
        host,
        doubles: false,
    }]
}

pub fn straight(scale: Scale) -> Vec<Case> {
    let n = scale.pick(32, 512, 1024u32);
    let c = [0.25f32, -0.5, 0.375, -0.125];
    let mut random = Random(0x57);
    let from: Vec<f32> = (0..4 * n * n).map(|_| random.unit()).collect();
    let mut il = pixel(1, 1)
        + "sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\nmov r1, r0.yzwx\nmov r2, r0.zwxy\nmov r3, r0.wxyz\n";
    for _ in 0..64 {
        for (k, component) in ["x", "y", "z", "w"].iter().enumerate() {
            il += &format!("mad r{k}, r{k}, cb0[0].{component}, r{}\n", (k + 1) % 4);
        }
    }
    il += "add r0, r0, r1\nadd r2, r2, r3\nadd o0, r0, r2\nend\n";
    let words = bits(&from);
    let constants = bits(&c);
    let push: Vec<u32> = constants.iter().copied().chain([n, n]).collect();
    vec![Case {
        name: format!("straight {n}"),
        il,
        peer: "straight",
        buffers: vec![
            Buffer::input("i0", [n, n], Format::Float32x4, words),
            Buffer::output("o0", [n, n], Format::Float32x4),
        ],
        threads: Threads::Domain(n, n),
        steps: Step::of(&constants, &push),
        work: 2.0 * 4.0 * 256.0 * f64::from(n).powi(2),
        unit: Unit::Flop,
        check: Box::new(move |b, _| {
            let value = |k: usize| {
                let part = |j: usize| f64::from(from[k / 4 * 4 + (k + j) % 4]);
                let mut v: [f64; 4] = std::array::from_fn(part);
                for _ in 0..64 {
                    for k in 0..4 {
                        v[k] = v[k] * f64::from(c[k]) + v[(k + 1) % 4];
                    }
                }
                v.iter().sum()
            };
            expect_near(&b[1], (0..from.len()).map(value), 1e-3)
        }),
        host: None,
        doubles: false,
    }]
}

pub fn divergent(scale: Scale) -> Vec<Case> {
    let n = scale.pick(32, 1024, 2048u32);
    let rounds = 32;
    let value = move |k: u32| {
        let (mut h, mut n) = (k, 0u32);
        for _ in 0..rounds {
            if h & 1 != 0 {
                h = h.wrapping_mul(3).wrapping_add(1);
                h ^= h >> 7;
                n = n.wrapping_add(h & 15);
            } else {
                h = (h >> 1) ^ 0xB529_7A4D;
                h = h.wrapping_add(n << 3);
                n ^= h;
            }
        }
        n
    };
    vec![Case {
        name: format!("divergent {n}"),
        il: pixel(0, 1) + include_str!("../../il/divergent.il"),
        peer: "divergent",
        buffers: vec![Buffer::output("o0", [n, n], Format::UnsignedInt32x1)],
        threads: Threads::Domain(n, n),
        steps: Step::of(&[rounds, n, 0, 0], &[rounds, n, n]),
        work: 6.0 * f64::from(rounds) * f64::from(n).powi(2),
        unit: Unit::Operation,
        check: Box::new(move |b, _| expect_words(&b[0], (0..n * n).map(value))),
        host: None,
        doubles: false,
    }]
}
