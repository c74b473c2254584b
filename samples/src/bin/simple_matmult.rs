//! C = A · B with the final kernel of the PLDI 2008 CAL tutorial: eight streams of A, four of B, eight outputs, the loop
//! unrolled by four. The twin of `c/simple_matmult.c`, which says how the matrices are laid out.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Instant;

use recal::{Domain, Format, Place, Runtime};
use recal_samples::{Options, Random, Result, best_of, read_rows, verdict, write_rows};

fn main() -> ExitCode {
    verdict("simple_matmult", run)
}

/// The kernel's text. Registers: r2, r3 positions, r4 round, r10 … r17 sums, r20 + 4j + p element p of stream j of B,
/// r36 … r39 four elements of one stream of A.
fn kernel() -> Result<String, std::fmt::Error> {
    let mut text = String::from(
        "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n\
         dcl_cb cb0[1]\n\
         dcl_literal l0, 0.0, 1.0, 2.0, 3.0\n\
         dcl_literal l1, 4.0, 4.0, 4.0, 4.0\n\
         dcl_literal l2, 0, 1, 0, 0\n",
    );
    for output in 0..8 {
        writeln!(text, "dcl_output_generic o{output}\nmov r{}, l0.0000", 10 + output)?;
    }
    for stream in 0..12 {
        writeln!(
            text,
            "dcl_resource_id({stream})_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)"
        )?;
    }
    text.push_str(
        "mov r2, vWinCoord0.xyxy\nmov r3, vWinCoord0.xyxy\nmov r2.__zw, l0.00xy\nmov r3.__zw, l0.00zw\n\
         mov r4, l2.xxxx\nwhileloop\nige r4._y__, r4.x, cb0[0].x\nbreak_logicalnz r4.y\n",
    );
    let mut fetch = |stream: u32, first: u32, coordinates: [&str; 4]| {
        for (register, coordinate) in (first..).zip(coordinates) {
            writeln!(text, "sample_resource({stream})_sampler({stream}) r{register}, {coordinate}")?;
        }
        if stream < 8 {
            for position in 0..4 {
                for (component, row) in [('y', 1), ('x', 0), ('z', 2), ('w', 3)] {
                    let (sum, b) = (10 + stream, 20 + 4 * row + position);
                    writeln!(text, "mad r{sum}, r{}.{component}, r{b}, r{sum}", first + position)?;
                }
            }
        }
        Ok::<(), std::fmt::Error>(())
    };
    for j in 0..4 {
        fetch(8 + j, 20 + 4 * j, ["r2.xzxx", "r2.xwxx", "r3.xzxx", "r3.xwxx"])?;
    }
    for s in 0..8 {
        fetch(s, 36, ["r2.zyzz", "r2.wyww", "r3.zyzz", "r3.wyww"])?;
    }
    text.push_str("add r2.__zw, r2.00zw, l1\nadd r3.__zw, r3.00zw, l1\niadd r4.x___, r4.x, l2.y\nendloop\n");
    for output in 0..8 {
        writeln!(text, "mov o{output}, r{}", 10 + output)?;
    }
    text.push_str("end\n");
    Ok(text)
}

/// What the kernel is measured against: one thread, blocked so that the piece of B in use stays in the cache.
fn multiply_on_host(a: &[f32], b: &[f32], n: usize) -> Vec<f32> {
    const BLOCK_K: usize = 64;
    const BLOCK_J: usize = 256;
    let mut c = vec![0.0; n * n];
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
    c
}

fn run(options: &Options) -> Result<bool> {
    let size = options.size.unwrap_or(1024);
    if size % 16 != 0 || size > 8192 {
        return Err("the size must be a multiple of 16 and at most 8192".into());
    }
    let n = size as usize;
    let mut random = Random(2008);
    let a: Vec<f32> = (0..n * n).map(|_| random.eighth()).collect();
    let b: Vec<f32> = (0..n * n).map(|_| random.eighth()).collect();

    let runtime = Runtime::new()?;
    let device = runtime.open(options.device)?;
    let context = device.create_context()?;
    let module = context.load(&recal::compile(kernel()?, device.info().target)?.into())?;

    let mut outputs = Vec::new();
    for stream in 0..8 {
        let input = device.allocate_2d(size / 4, size / 8, Format::Float32x4, Place::Local)?;
        write_rows(&input, &a[stream * n * n / 8..][..n * n / 8])?;
        module.bind(&format!("i{stream}"), &input)?;
        let output = device.allocate_2d(size / 4, size / 8, Format::Float32x4, Place::Local)?;
        module.bind(&format!("o{stream}"), &output)?;
        outputs.push(output);
    }
    for stream in 0..4 {
        let input = device.allocate_2d(size / 4, size / 4, Format::Float32x4, Place::Local)?;
        let rows: Vec<f32> = b.chunks(n).skip(stream).step_by(4).flatten().copied().collect();
        write_rows(&input, &rows)?;
        module.bind(&format!("i{}", 8 + stream), &input)?;
    }
    let constant = device.allocate_1d(1, Format::UnsignedInt32x4, Place::Remote)?;
    constant.map::<u32>()?[0] = size / 16;
    module.bind("cb0", &constant)?;

    let best =
        best_of(options.iterations, || Ok(context.run(&module, Domain::of(size / 4, size / 8))?.wait()?))?;
    let start = Instant::now();
    let expected = multiply_on_host(&a, &b, n);
    let host = start.elapsed();

    let work = 2e-9 * (n * n * n) as f64;
    println!("{size} x {size} on {}: {:.2} GFLOPS", device.info().name, work / best.as_secs_f64());
    println!(
        "blocked Rust loop, one thread: {:.2} GFLOPS; ratio {:.2}",
        work / host.as_secs_f64(),
        host.as_secs_f64() / best.as_secs_f64()
    );
    let mut product = Vec::with_capacity(n * n);
    for output in &outputs {
        product.extend(read_rows::<f32>(output)?);
    }
    Ok(product == expected)
}
