//! Kernels that mostly move data.

use recal::Format;

use super::pixel;
use crate::case::{Buffer, Case, Random, Scale, Step, Threads, Unit, bits, expect_near, expect_words};

fn random_floats(count: u32) -> Vec<f32> {
    let mut random = Random(0x5EED);
    (0..count).map(|_| random.unit()).collect()
}

pub fn stencil(scale: Scale) -> Vec<Case> {
    let n = scale.pick(64, 1024, 8192u32);
    let from = random_floats(n * n);
    let mut il = pixel(1, 0) + "dcl_literal l0, 0.2, 0, 0, 0\n";
    for (r, at) in ["0.0,0.0", "-1.0,0.0", "1.0,0.0", "0.0,-1.0", "0.0,1.0"].iter().enumerate() {
        il += &format!("sample_resource(0)_sampler(0)_aoffimmi({at},0.0) r{r}.x, vWinCoord0.xyxx\n");
    }
    il += "add r0.x, r0.x, r1.x\nadd r0.x, r0.x, r2.x\nadd r0.x, r0.x, r3.x\nadd r0.x, r0.x, r4.x\n\
           mul r0.x, r0.x, l0.x\nmov o0, r0\nend\n";
    let words = bits(&from);
    let expected = move |k: usize| {
        let side = n as usize;
        let (x, y) = (k % side, k / side);
        let last = side - 1;
        let at = |x: usize, y: usize| f64::from(from[y * side + x]);
        let sum = at(x, y)
            + at(x.saturating_sub(1), y)
            + at((x + 1).min(last), y)
            + at(x, y.saturating_sub(1))
            + at(x, (y + 1).min(last));
        sum * 0.2
    };
    vec![Case {
        name: format!("stencil {n}"),
        il,
        peer: "stencil",
        buffers: vec![
            Buffer::input("i0", [n, n], Format::Float32x1, words),
            Buffer::output("o0", [n, n], Format::Float32x1),
        ],
        threads: Threads::Domain(n, n),
        steps: Step::of(&[], &[n, n]),
        work: 8.0 * f64::from(n) * f64::from(n),
        unit: Unit::Byte,
        check: Box::new(move |b, _| expect_near(&b[1], (0..(n * n) as usize).map(&expected), 1e-6)),
        host: None,
        doubles: false,
    }]
}

pub fn polynomial(scale: Scale) -> Vec<Case> {
    let [w, h] = scale.pick([64, 64], [1024, 1024], [8192, 4096]);
    let from = random_floats(4 * w * h);
    let c = [0.3f32, -1.7, 2.9, 0.1];
    let il = pixel(1, 1)
        + "sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\n\
           mad r1, cb0[0].xxxx, r0, cb0[0].yyyy\nmad r1, r1, r0, cb0[0].zzzz\nmad o0, r1, r0, cb0[0].wwww\nend\n";
    let words = bits(&from);
    let constants = bits(&c);
    let push: Vec<u32> = constants.iter().copied().chain([w, h]).collect();
    let host = (scale != Scale::Large).then(|| {
        let (from, mut to) = (from.clone(), vec![0.0f32; from.len()]);
        Box::new(move || {
            for (to, x) in to.iter_mut().zip(&from) {
                *to = ((c[0] * x + c[1]) * x + c[2]) * x + c[3];
            }
            std::hint::black_box(&to);
        }) as Box<dyn FnMut()>
    });
    vec![Case {
        name: format!("polynomial {w}x{h}x4"),
        il,
        peer: "polynomial",
        buffers: vec![
            Buffer::input("i0", [w, h], Format::Float32x4, words),
            Buffer::output("o0", [w, h], Format::Float32x4),
        ],
        threads: Threads::Domain(w, h),
        steps: Step::of(&constants, &push),
        work: 32.0 * f64::from(w) * f64::from(h),
        unit: Unit::Byte,
        check: Box::new(move |b, _| {
            let c = c.map(f64::from);
            let value = |x: &f32| {
                let x = f64::from(*x);
                ((c[0] * x + c[1]) * x + c[2]) * x + c[3]
            };
            expect_near(&b[1], from.iter().map(value), 1e-5)
        }),
        host,
        doubles: false,
    }]
}

pub fn copy(scale: Scale) -> Vec<Case> {
    let [w, h] = scale.pick([64, 64], [2048, 1024], [8192, 8192]);
    let mut random = Random(0xC0);
    let words: Vec<u32> = (0..4 * w * h).map(|_| random.word()).collect();
    let expected = words.clone();
    vec![Case {
        name: format!("copy {w}x{h}x4"),
        il: pixel(1, 0) + "sample_resource(0)_sampler(0) o0, vWinCoord0.xyxx\nend\n",
        peer: "copy",
        buffers: vec![
            Buffer::input("i0", [w, h], Format::Float32x4, words),
            Buffer::output("o0", [w, h], Format::Float32x4),
        ],
        threads: Threads::Domain(w, h),
        steps: Step::of(&[], &[w, h]),
        work: 32.0 * f64::from(w) * f64::from(h),
        unit: Unit::Byte,
        check: Box::new(move |b, _| expect_words(&b[1], expected.iter().copied())),
        host: None,
        doubles: false,
    }]
}

pub fn transpose(scale: Scale) -> Vec<Case> {
    let n = scale.pick(64, 2048, 8192u32);
    let mut random = Random(0x7);
    let words: Vec<u32> = (0..n * n).map(|_| random.word()).collect();
    let case = |kind: &str, local: bool| {
        let side = n as usize;
        let from = words.clone();
        let (names, size) = if local { (["uav0", "uav1"], [n * n, 0]) } else { (["i0", "o0"], [n, n]) };
        Case {
            name: format!("transpose {kind} {n}"),
            il: match local {
                true => include_str!("../../il/transpose_local.il").into(),
                false => pixel(1, 0) + "sample_resource(0)_sampler(0) o0, vWinCoord0.yxyx\nend\n",
            },
            peer: if local { "transpose_local" } else { "transpose_naive" },
            buffers: vec![
                Buffer::input(names[0], size, Format::Float32x1, words.clone()),
                Buffer::output(names[1], size, Format::Float32x1),
            ],
            threads: match local {
                true => Threads::Grid([n / 16, n / 16, 1], [16, 16, 1]),
                false => Threads::Domain(n, n),
            },
            steps: if local { Step::same(&[n * 4, 0, 0, 0]) } else { Step::of(&[], &[n]) },
            work: 8.0 * f64::from(n) * f64::from(n),
            unit: Unit::Byte,
            check: Box::new(move |b, _| {
                expect_words(&b[1], (0..side * side).map(|k| from[k % side * side + k / side]))
            }),
            host: None,
            doubles: false,
        }
    };
    vec![case("naive", false), case("local", true)]
}
