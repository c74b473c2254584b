//! Matrix products.

use std::fmt::Write as _;

use recal::Format;

use crate::case::{Buffer, Case, Check, Random, Scale, Step, Threads, Unit, bits};

/// The final kernel of the PLDI 2008 tutorial: 8 streams of A, 4 of B, 8 outputs, 8 x 4 elements of C a thread, unrolled by four.
/// Registers: r2, r3 positions, r4 round, r10 … r17 sums, r20 + 4j + p element p of stream j of B, r36 … r39 of A.
fn streams_text() -> String {
    let mut text = String::from(
        "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_cb cb0[1]\n\
         dcl_literal l0, 0.0, 1.0, 2.0, 3.0\ndcl_literal l1, 4.0, 4.0, 4.0, 4.0\ndcl_literal l2, 0, 1, 0, 0\n",
    );
    for output in 0..8 {
        let _ = writeln!(text, "dcl_output_generic o{output}\nmov r{}, l0.0000", 10 + output);
    }
    for stream in 0..12 {
        let _ = writeln!(
            text,
            "dcl_resource_id({stream})_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)"
        );
    }
    text.push_str(
        "mov r2, vWinCoord0.xyxy\nmov r3, vWinCoord0.xyxy\nmov r2.__zw, l0.00xy\nmov r3.__zw, l0.00zw\n\
         mov r4, l2.xxxx\nwhileloop\nige r4._y__, r4.x, cb0[0].x\nbreak_logicalnz r4.y\n",
    );
    let mut fetch = |stream: u32, first: u32, coordinates: [&str; 4]| {
        for (register, coordinate) in (first..).zip(coordinates) {
            let _ = writeln!(text, "sample_resource({stream})_sampler({stream}) r{register}, {coordinate}");
        }
        if stream < 8 {
            for position in 0..4 {
                for (component, row) in [('y', 1), ('x', 0), ('z', 2), ('w', 3)] {
                    let (sum, b) = (10 + stream, 20 + 4 * row + position);
                    let _ = writeln!(text, "mad r{sum}, r{}.{component}, r{b}, r{sum}", first + position);
                }
            }
        }
    };
    for j in 0..4 {
        fetch(8 + j, 20 + 4 * j, ["r2.xzxx", "r2.xwxx", "r3.xzxx", "r3.xwxx"]);
    }
    for s in 0..8 {
        fetch(s, 36, ["r2.zyzz", "r2.wyww", "r3.zyzz", "r3.wyww"]);
    }
    text.push_str("add r2.__zw, r2.00zw, l1\nadd r3.__zw, r3.00zw, l1\niadd r4.x___, r4.x, l2.y\nendloop\n");
    for output in 0..8 {
        let _ = writeln!(text, "mov o{output}, r{}", 10 + output);
    }
    text.push_str("end\n");
    text
}

/// Random factors, and a judge of their product: C x = A (B x) for two vectors of small integers. All numbers are
/// multiples of 1/64 below 2^24/64, so that everything is exact.
pub(super) struct Product {
    n: usize,
    pub(super) a: Vec<f32>,
    pub(super) b: Vec<f32>,
    vectors: Vec<(Vec<f64>, Vec<f64>)>,
}

impl Product {
    pub(super) fn new(n: u32) -> Self {
        let n = n as usize;
        let mut random = Random(0x2008_0613);
        let a: Vec<f32> = (0..n * n).map(|_| random.eighth()).collect();
        let b: Vec<f32> = (0..n * n).map(|_| random.eighth()).collect();
        let vectors = (0..2)
            .map(|_| {
                let x: Vec<f64> = (0..n).map(|_| f64::from(random.word() % 17) - 8.0).collect();
                let y = times(&a, &times(&b, &x));
                (x, y)
            })
            .collect();
        Self { n, a, b, vectors }
    }

    pub(super) fn judge(self) -> impl Fn(&[f32]) -> Result<(), String> {
        let (n, vectors) = (self.n, self.vectors);
        move |c| {
            if c.len() != n * n {
                return Err("a product of another size".into());
            }
            for (x, y) in &vectors {
                let found = times(c, x);
                if let Some(row) = (0..n).find(|row| found[*row] != y[*row]) {
                    return Err(format!("row {row} of the product is wrong"));
                }
            }
            Ok(())
        }
    }
}

fn times(m: &[f32], x: &[f64]) -> Vec<f64> {
    m.chunks_exact(x.len()).map(|row| row.iter().zip(x).map(|(a, b)| f64::from(*a) * b).sum()).collect()
}

/// The blocked loop that the kernels are measured against, one thread.
fn on_host(a: &[f32], b: &[f32], c: &mut [f32], n: usize) {
    const BLOCK_K: usize = 64;
    const BLOCK_J: usize = 256;
    c.fill(0.0);
    for kk in (0..n).step_by(BLOCK_K) {
        for jj in (0..n).step_by(BLOCK_J) {
            let columns = jj..n.min(jj + BLOCK_J);
            for i in 0..n {
                let to = &mut c[i * n..][columns.clone()];
                for k in kk..n.min(kk + BLOCK_K) {
                    let factor = a[i * n + k];
                    for (sum, from) in to.iter_mut().zip(&b[k * n..][columns.clone()]) {
                        *sum += factor * from;
                    }
                }
            }
        }
    }
}

fn host(product: &Product) -> Option<Box<dyn FnMut()>> {
    let n = product.n;
    (n <= 1024).then(|| {
        let (a, b, mut c) = (product.a.clone(), product.b.clone(), vec![0.0; n * n]);
        Box::new(move || {
            on_host(&a, &b, &mut c, n);
            std::hint::black_box(&c);
        }) as Box<dyn FnMut()>
    })
}

pub fn streams(scale: Scale) -> Vec<Case> {
    let sizes: &[u32] = scale.pick(&[64], &[512, 1024], &[1024, 4096, 8192]);
    sizes.iter().map(|n| streams_of(*n)).collect()
}

fn streams_of(n: u32) -> Case {
    let product = Product::new(n);
    let (side, stripe) = (n as usize, (n * n / 8) as usize);
    let mut buffers = Vec::new();
    for (s, rows) in product.a.chunks_exact(stripe).enumerate() {
        buffers.push(Buffer::input(&format!("i{s}"), [n / 4, n / 8], Format::Float32x4, bits(rows)));
    }
    for j in 0..4 {
        let rows: Vec<f32> = product.b.chunks(side).skip(j).step_by(4).flatten().copied().collect();
        buffers.push(Buffer::input(&format!("i{}", 8 + j), [n / 4, n / 4], Format::Float32x4, bits(&rows)));
    }
    for s in 0..8 {
        buffers.push(Buffer::output(&format!("o{s}"), [n / 4, n / 8], Format::Float32x4));
    }
    let host = host(&product);
    let judge = product.judge();
    let check: Check = Box::new(move |buffers, _| {
        let c: Vec<f32> = buffers[12..].iter().flatten().map(|w| f32::from_bits(*w)).collect();
        judge(&c)
    });
    Case {
        name: format!("matmul {n}"),
        il: streams_text(),
        peer: "matmul_pldi",
        buffers,
        threads: Threads::Domain(n / 4, n / 8),
        steps: Step::of(&[n / 16, 0, 0, 0], &[n / 16, n / 4, n / 4, n / 8]),
        work: 2.0 * f64::from(n).powi(3),
        unit: Unit::Flop,
        check,
        host,
        doubles: false,
    }
}

/// Eight rows and twice four columns a thread; A and B are sampled, C goes to the global buffer. Registers: r1 columns and
/// rounds, r2, r3 rows, r4 rows of B, r10 … r17 the left sums, r20 … r27 the right ones, r30 … r37 B, r40 A, r41 a place.
fn wide_text() -> String {
    let mut text = String::from(
        "il_cs_2_0\ndcl_num_thread_per_group 8, 8, 1\ndcl_cb cb0[1]\n\
         dcl_literal l0, 0.5, 1.5, 2.5, 3.5\ndcl_literal l1, 4.5, 5.5, 6.5, 7.5\n\
         dcl_literal l2, 8.0, 4.0, 1.0, 0.0\ndcl_literal l3, 0, 1, 8, 0\n",
    );
    for k in 0..2 {
        let _ = writeln!(
            text,
            "dcl_resource_id({k})_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)"
        );
    }
    for k in (10..18).chain(20..28) {
        let _ = writeln!(text, "mov r{k}, l2.wwww");
    }
    // cb0[0]: elements of a row and of half a row, as integers; half a row, as a float
    text.push_str(
        "itof r0.xy, vAbsTid.xy\nadd r1.x, r0.x, l0.x\nadd r1.y, r1.x, cb0[0].z\nmov r1.z, l0.x\n\
         mul r0.y, r0.y, l2.x\nadd r2, r0.yyyy, l0\nadd r3, r0.yyyy, l1\nmov r4, l0\nmov r5.x, l3.x\n\
         whileloop\nige r5.y, r5.x, cb0[0].x\nbreak_logicalnz r5.y\n",
    );
    let components = ["x", "y", "z", "w"];
    for (half, column) in ["x", "y"].iter().enumerate() {
        for (k, row) in components.iter().enumerate() {
            let _ = writeln!(
                text,
                "mov r41.x, r1.{column}\nmov r41.y, r4.{row}\nsample_resource(1)_sampler(0) r{}, r41.xyxx",
                30 + 4 * half + k
            );
        }
    }
    for row in 0..8 {
        let _ = writeln!(
            text,
            "mov r41.x, r1.z\nmov r41.y, r{}.{}\nsample_resource(0)_sampler(0) r40, r41.xyxx",
            2 + row / 4,
            components[row % 4]
        );
        for half in 0..2 {
            for (k, component) in components.iter().enumerate() {
                let (sum, b) = (10 + 10 * half + row, 30 + 4 * half + k);
                let _ = writeln!(text, "mad r{sum}, r40.{component}, r{b}, r{sum}");
            }
        }
    }
    text.push_str(
        "add r4, r4, l2.yyyy\nadd r1.z, r1.z, l2.z\niadd r5.x, r5.x, l3.y\nendloop\n\
         umul r6.x, vAbsTid.y, l3.z\numad r6.x, r6.x, cb0[0].x, vAbsTid.x\n",
    );
    for row in 0..8 {
        let _ = writeln!(
            text,
            "mov g[r6.x], r{}\niadd r6.y, r6.x, cb0[0].y\nmov g[r6.y], r{}\niadd r6.x, r6.x, cb0[0].x",
            10 + row,
            20 + row
        );
    }
    text.push_str("end\n");
    text
}

pub fn wide(scale: Scale) -> Vec<Case> {
    let sizes: &[u32] = scale.pick(&[128], &[512], &[4096, 8192]);
    sizes.iter().map(|n| wide_of(*n)).collect()
}

fn wide_of(n: u32) -> Case {
    let product = Product::new(n);
    let size = [n / 4, n];
    let buffers = vec![
        Buffer::input("i0", size, Format::Float32x4, bits(&product.a)),
        Buffer::input("i1", size, Format::Float32x4, bits(&product.b)),
        Buffer::output("g[]", [n * n / 4, 0], Format::Float32x4),
    ];
    let host = host(&product);
    let judge = product.judge();
    Case {
        name: format!("matmul_wide {n}"),
        il: wide_text(),
        peer: "matmul_wide",
        buffers,
        threads: Threads::Grid([n / 64, n / 64, 1], [8, 8, 1]),
        steps: Step::of(&[n / 4, n / 8, ((n / 8) as f32).to_bits(), 0], &[n / 4]),
        work: 2.0 * f64::from(n).powi(3),
        unit: Unit::Flop,
        check: Box::new(move |buffers, _| judge(&crate::case::floats(&buffers[2]))),
        host,
        doubles: false,
    }
}

/// Threads of a group of the sum of outer products, and its rounds in one iteration of the loop.
const OUTER_GROUP: [u32; 2] = [8, 4];
const OUTER_ROUNDS: u32 = 8;

/// Twice four rows and twice four columns a thread: each round adds the outer product of a column of A, which is stored
/// by columns, and a row of B, while the factors of the next round are on their way. Registers: r1 columns of C, as x and y,
/// and of A, as z and w; r4 round, r10 … r13 and r20 … r23 factors in turn, r30 … r45 sums, r50 a place.
fn outer_text() -> String {
    let [gx, gy] = OUTER_GROUP;
    let mut text = format!(
        "il_cs_2_0\ndcl_num_thread_per_group {gx}, {gy}, 1\ndcl_cb cb0[1]\n\
         dcl_literal l0, 0.5, 1.0, 0.0, 0.0\ndcl_literal l1, 0, 1, 4, 2\n"
    );
    for k in 0..2 {
        let _ = writeln!(
            text,
            "dcl_resource_id({k})_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)"
        );
    }
    for sum in 30..46 {
        let _ = writeln!(text, "mov r{sum}, l0.zzzz");
    }
    // cb0[0]: iterations; elements of a row and of half a row; half a row as a float
    text.push_str(
        "itof r0.xy, vAbsTid.xy\nadd r1.xy, r0.xy, l0.xx\nmov r1.__zw, r1.00yy\n\
         add r1._y_w, r1.0x0z, cb0[0].0w0w\n",
    );
    let load = |text: &mut String, first: u32| {
        for (factor, (resource, column)) in [(1, "x"), (1, "y"), (0, "z"), (0, "w")].iter().enumerate() {
            let _ = writeln!(
                text,
                "mov r50.x, r1.{column}\nmov r50.y, r4.x\n\
                 sample_resource({resource})_sampler(0) r{}, r50.xyxx",
                first + factor as u32
            );
        }
        text.push_str("add r4.x, r4.x, l0.y\n");
    };
    text.push_str("mov r4.x, l0.x\n");
    load(&mut text, 10);
    text.push_str("mov r5.x, l1.x\nwhileloop\nige r5.y, r5.x, cb0[0].x\nbreak_logicalnz r5.y\n");
    for round in 0..OUTER_ROUNDS {
        let (now, next) = if round % 2 == 0 { (10, 20) } else { (20, 10) };
        load(&mut text, next);
        for half in 0..2 {
            for (row, component) in ["x", "y", "z", "w"].iter().enumerate() {
                for column in 0..2 {
                    let sum = 30 + 8 * half + 2 * row as u32 + column;
                    let (a, b) = (now + 2 + half, now + column);
                    let _ = writeln!(text, "mad r{sum}, r{a}.{component}, r{b}, r{sum}");
                }
            }
        }
    }
    text.push_str(
        "iadd r5.x, r5.x, l1.y\nendloop\n\
         imul r6.x, vAbsTid.y, l1.z\nimul r6.x, r6.x, cb0[0].y\niadd r6.x, r6.x, vAbsTid.x\n\
         imul r6.y, cb0[0].y, cb0[0].z\nimul r6.y, r6.y, l1.z\niadd r6.y, r6.y, r6.x\n",
    );
    for (half, place) in ["x", "y"].iter().enumerate() {
        for row in 0..4 {
            let sum = 30 + 8 * half + 2 * row;
            let _ = writeln!(
                text,
                "mov g[r6.{place}], r{sum}\niadd r6.z, r6.{place}, cb0[0].z\nmov g[r6.z], r{}\n\
                 iadd r6.{place}, r6.{place}, cb0[0].y",
                sum + 1
            );
        }
    }
    text.push_str("end\n");
    text
}

pub fn outer(scale: Scale) -> Vec<Case> {
    let sizes: &[u32] = scale.pick(&[128], &[512], &[4096, 8192]);
    sizes.iter().map(|n| outer_of(*n)).collect()
}

fn outer_of(n: u32) -> Case {
    let product = Product::new(n);
    let (side, size) = (n as usize, [n / 4, n]);
    let columns: Vec<f32> = (0..side * side).map(|k| product.a[k % side * side + k / side]).collect();
    let buffers = vec![
        Buffer::input("i0", size, Format::Float32x4, bits(&columns)),
        Buffer::input("i1", size, Format::Float32x4, bits(&product.b)),
        Buffer::output("g[]", [n * n / 4, 0], Format::Float32x4),
    ];
    let host = host(&product);
    let judge = product.judge();
    let half = n / 8;
    let groups = [half / OUTER_GROUP[0], half / OUTER_GROUP[1], 1];
    Case {
        name: format!("matmul_outer {n}"),
        il: outer_text(),
        peer: "matmul_outer",
        buffers,
        threads: Threads::Grid(groups, [OUTER_GROUP[0], OUTER_GROUP[1], 1]),
        steps: Step::of(&[n / OUTER_ROUNDS, n / 4, half, (half as f32).to_bits()], &[n / 4]),
        work: 2.0 * f64::from(n).powi(3),
        unit: Unit::Flop,
        check: Box::new(move |buffers, _| judge(&crate::case::floats(&buffers[2]))),
        host,
        doubles: false,
    }
}

pub fn shared(scale: Scale) -> Vec<Case> {
    let sizes: &[u32] = scale.pick(&[64], &[512], &[1024, 4096]);
    sizes.iter().map(|n| shared_of(*n)).collect()
}

fn shared_of(n: u32) -> Case {
    let product = Product::new(n);
    let flat = [n * n, 0];
    let buffers = vec![
        Buffer::input("uav0", flat, Format::Float32x1, bits(&product.a)),
        Buffer::input("uav1", flat, Format::Float32x1, bits(&product.b)),
        Buffer::output("uav2", flat, Format::Float32x1),
    ];
    let host = host(&product);
    let judge = product.judge();
    Case {
        name: format!("matmul_lds {n}"),
        il: include_str!("../../il/matmul_lds.il").into(),
        peer: "matmul_shared",
        buffers,
        threads: Threads::Grid([n / 16, n / 16, 1], [16, 16, 1]),
        steps: Step::same(&[n * 4, n / 16, 0, 0]),
        work: 2.0 * f64::from(n).powi(3),
        unit: Unit::Flop,
        check: Box::new(move |buffers, _| judge(&crate::case::floats(&buffers[2]))),
        host,
        doubles: false,
    }
}

pub fn doubles(scale: Scale) -> Vec<Case> {
    let n = scale.pick(32, 256, 2048u32);
    let product = Product::new(n);
    let size = [n, n];
    let wide = |values: &[f32]| -> Vec<u32> {
        values
            .iter()
            .flat_map(|v| [f64::from(*v).to_bits() as u32, (f64::from(*v).to_bits() >> 32) as u32])
            .collect()
    };
    let buffers = vec![
        Buffer::input("i0", size, Format::Float64x1, wide(&product.a)),
        Buffer::input("i1", size, Format::Float64x1, wide(&product.b)),
        Buffer::output("o0", size, Format::Float64x1),
    ];
    let judge = product.judge();
    vec![Case {
        name: format!("dgemm {n}"),
        il: include_str!("../../il/dgemm.il").into(),
        peer: "dgemm",
        buffers,
        threads: Threads::Domain(n, n),
        steps: Step::of(&[(n as f32).to_bits(), 0, 0, 0], &[(n as f32).to_bits(), n]),
        work: 2.0 * f64::from(n).powi(3),
        unit: Unit::Flop,
        check: Box::new(move |buffers, _| {
            let double = |pair: &[u32]| f64::from_bits(u64::from(pair[0]) | u64::from(pair[1]) << 32);
            judge(&buffers[2].chunks_exact(2).map(|pair| double(pair) as f32).collect::<Vec<f32>>())
        }),
        host: None,
        doubles: true,
    }]
}

pub fn vector(scale: Scale) -> Vec<Case> {
    let n = scale.pick(128, 2048, 16384u32);
    let side = n as usize;
    let mut random = Random(128);
    let x: Vec<f32> = (0..side).map(|_| random.eighth()).collect();
    let m: Vec<f32> = (0..side * side).map(|_| random.eighth()).collect();
    let mut y = vec![0.0f32; side];
    for (x, row) in x.iter().zip(m.chunks_exact(side)) {
        y.iter_mut().zip(row).for_each(|(y, m)| *y += x * m);
    }
    let buffers = vec![
        Buffer::input("uav0", [n, 0], Format::Float32x1, bits(&x)),
        Buffer::input("uav1", [n * n, 0], Format::Float32x1, bits(&m)),
        Buffer::output("uav2", [n, 0], Format::Float32x1),
    ];
    vec![Case {
        name: format!("vector_matrix {n}"),
        il: include_str!("../../il/vector_matrix.il").into(),
        peer: "vector_matrix",
        buffers,
        threads: Threads::Grid([n / 128, 1, 1], [128, 1, 1]),
        steps: Step::same(&[n / 128, n * 4, 0, 0]),
        work: 4.0 * f64::from(n).powi(2),
        unit: Unit::Byte,
        check: Box::new(move |buffers, _| crate::case::expect_words(&buffers[2], bits(&y))),
        host: None,
        doubles: false,
    }]
}
