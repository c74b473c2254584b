//! EPGPU's five benchmarks: their results checked, their time beside that of the same kernels through resources, names and modules.

use std::process::ExitCode;

use recal::{Config, Context, Domain, Event, Format, Grid, Module, Place, Resource, Runtime};
use recal_samples::epgpu::{local_transpose, mandelbrot, naive_transpose, poly3, stencil};
use recal_samples::{Options, Random, Result, best_of, verdict, write_rows};

fn main() -> ExitCode {
    verdict("epgpu", run)
}

/// Launches of one measurement, which waits for all of them.
const LAUNCHES: u32 = 50;

/// What both forms share.
struct Bench<'a> {
    context: &'a Context,
    n: u32,
    iterations: u32,
}

impl Bench<'_> {
    fn module(&self, il: &str, resources: &[(&str, &Resource)]) -> Result<Module> {
        let target = self.context.device().info().target;
        let module = self.context.load(&recal::compile(il, target)?.into())?;
        for (name, resource) in resources {
            module.bind(name, resource)?;
        }
        Ok(module)
    }

    fn rows(&self, format: Format) -> Result<Resource> {
        Ok(self.context.device().allocate_2d(self.n, self.n, format, Place::Local)?)
    }

    fn constants(&self, rows: &[[f32; 4]]) -> Result<Resource> {
        let width = rows.len() as u32;
        let constants = self.context.device().allocate_1d(width, Format::Float32x4, Place::Remote)?;
        write_rows(&constants, rows.as_flattened())?;
        Ok(constants)
    }

    fn domain(&self) -> Domain {
        Domain::of(self.n, self.n)
    }

    /// Prints the time of a launch in both forms.
    fn report(
        &self,
        name: &str,
        mut typed: impl FnMut() -> recal::Result<Event>,
        mut long: impl FnMut() -> recal::Result<Event>,
    ) -> Result<()> {
        let time = |launch: &mut dyn FnMut() -> recal::Result<Event>| {
            best_of(self.iterations, || {
                let mut last = None;
                for _ in 0..LAUNCHES {
                    last = Some(launch()?);
                }
                last.map_or(Ok(()), |event| Ok(event.wait()?))
            })
        };
        let [typed, long] =
            [time(&mut typed)?, time(&mut long)?].map(|t| t.as_secs_f64() / f64::from(LAUNCHES));
        println!(
            "{name:<16} {:9.2} us, long form {:9.2} us, ratio {:.3}",
            typed * 1e6,
            long * 1e6,
            typed / long
        );
        Ok(())
    }
}

fn run(options: &Options) -> Result<bool> {
    let n = options.size.unwrap_or(512);
    if n % 16 != 0 {
        return Err("the size must be a multiple of 16".into());
    }
    // The same bits everywhere, to be compared with those of the processor.
    let config = Config { float: recal::FloatMode::Faithful, ..Config::from_env().0 };
    let context = Runtime::with_config(config)?.open(options.device)?.create_context()?;
    println!("{n} x {n} on {}", context.device().info().name);
    let bench = Bench { context: &context, n, iterations: options.iterations };
    let good = [
        ("poly3", polynomial(&bench)?),
        ("mandelbrot", set(&bench)?),
        ("stencil", plate(&bench)?),
        ("naive transpose", naive(&bench)?),
        ("local transpose", local(&bench)?),
    ];
    for (name, _) in good.iter().filter(|(_, good)| !good) {
        println!("{name}: wrong");
    }
    Ok(good.iter().all(|(_, good)| *good))
}

fn numbers(n: u32) -> Vec<f32> {
    let mut random = Random(2011);
    (0..n * n).map(|_| random.next_u32() as f32 / u32::MAX as f32).collect()
}

fn polynomial(bench: &Bench) -> Result<bool> {
    const C: [f32; 4] = [0.3, -1.7, 2.9, 0.1];
    let x: Vec<[f32; 4]> = numbers(bench.n).iter().map(|&x| [x, 1.0 + x, -x, 0.5]).collect();
    let y = poly3::run(bench.context, bench.n, &x, C)?;

    let from = recal::typed::Image::from_rows(bench.context, bench.n, &x)?;
    let mut to = recal::typed::Image::output(bench.context, bench.n, bench.n)?;
    let k = poly3::poly3(bench.context)?;
    let (input, output) = (bench.rows(Format::Float32x4)?, bench.rows(Format::Float32x4)?);
    write_rows(&input, x.as_flattened())?;
    let bound = [("i0", &input), ("o0", &output), ("cb0", &bench.constants(&[C])?)];
    let module = bench.module(poly3::poly3::IL, &bound)?;
    bench.report("poly3", || k.fill(&from, &mut to, C), || bench.context.run(&module, bench.domain()))?;
    let horner = |x: f32| ((C[0] * x + C[1]) * x + C[2]) * x + C[3];
    Ok(x.iter().zip(&y).all(|(x, y)| x.map(horner) == *y))
}

fn set(bench: &Bench) -> Result<bool> {
    let picture = mandelbrot::run(bench.context, bench.n)?;

    let size = 0.01 / bench.n as f32;
    let mut img = recal::typed::Image::output(bench.context, bench.n, bench.n)?;
    let k = mandelbrot::mandelbrot(bench.context)?;
    let output = bench.rows(Format::UnsignedInt8x1)?;
    let constants = bench.constants(&[[size, 0.0, 0.0, 0.0], [0.317, 0.414, 0.0, 0.0]])?;
    let module = bench.module(mandelbrot::mandelbrot::IL, &[("o0", &output), ("cb0", &constants)])?;
    let typed = || k.fill(&mut img, size, [0.317, 0.414]);
    bench.report("mandelbrot", typed, || bench.context.run(&module, bench.domain()))?;
    let count = |x: u32, y: u32| {
        let at = |place: u32, off: f32| (place as f32 + 0.5) * size + off;
        let c = (at(x, 0.317), at(y, 0.414));
        let (mut z, mut count) = (c, 0);
        while z.0 * z.0 + z.1 * z.1 <= 4.0 && count < 250 {
            z = (z.0 * z.0 - z.1 * z.1 + c.0, 2.0 * z.0 * z.1 + c.1);
            count += 1;
        }
        count
    };
    let expected = (0..bench.n).flat_map(|y| (0..bench.n).map(move |x| count(x, y)));
    Ok(picture.iter().copied().eq(expected))
}

fn plate(bench: &Bench) -> Result<bool> {
    const SWEEPS: u32 = 20;
    let n = bench.n as usize;
    let plate = numbers(bench.n);
    let swept = stencil::run(bench.context, bench.n, &plate, SWEEPS)?;

    let last = [bench.n as f32 - 1.0; 2];
    let k = stencil::sweep(bench.context)?;
    let mut src = recal::typed::Image::from_rows(bench.context, bench.n, &plate)?;
    let typed = || {
        let mut dst = recal::typed::Image::output(bench.context, bench.n, bench.n)?;
        let event = k.fill(&src, &mut dst, last)?;
        src = dst;
        Ok(event)
    };
    let mut plates = [bench.rows(Format::Float32x1)?, bench.rows(Format::Float32x1)?];
    write_rows(&plates[0], &plate)?;
    let constants = bench.constants(&[[last[0], last[1], 0.0, 0.0]])?;
    let module = bench.module(stencil::sweep::IL, &[("cb0", &constants)])?;
    let long = || {
        module.bind("i0", &plates[0])?;
        module.bind("o0", &plates[1])?;
        plates.swap(0, 1);
        bench.context.run(&module, bench.domain())
    };
    bench.report("stencil", typed, long)?;
    let mut expected = plate;
    for _ in 0..SWEEPS {
        let mut next = expected.clone();
        for y in 1..n - 1 {
            for x in 1..n - 1 {
                let at = |x: usize, y: usize| expected[y * n + x];
                next[y * n + x] = ((at(x - 1, y) + at(x + 1, y)) + (at(x, y - 1) + at(x, y + 1))) * 0.25;
            }
        }
        expected = next;
    }
    Ok(swept == expected)
}

fn transposed(a: &[f32], n: usize) -> Vec<f32> {
    (0..n * n).map(|at| a[at % n * n + at / n]).collect()
}

fn naive(bench: &Bench) -> Result<bool> {
    let a = numbers(bench.n);
    let t = naive_transpose::run(bench.context, bench.n, &a)?;

    let from = recal::typed::Image::from_rows(bench.context, bench.n, &a)?;
    let mut to = recal::typed::Image::output(bench.context, bench.n, bench.n)?;
    let k = naive_transpose::transpose(bench.context)?;
    let (input, output) = (bench.rows(Format::Float32x1)?, bench.rows(Format::Float32x1)?);
    let module = bench.module(naive_transpose::transpose::IL, &[("i0", &input), ("o0", &output)])?;
    bench.report(
        "naive transpose",
        || k.fill(&from, &mut to),
        || bench.context.run(&module, bench.domain()),
    )?;
    Ok(t == transposed(&a, bench.n as usize))
}

fn local(bench: &Bench) -> Result<bool> {
    let n = bench.n;
    let a = numbers(n);
    let t = local_transpose::run(bench.context, n, &a)?;

    let from = recal::typed::Buffer::from_slice(bench.context, &a)?;
    let mut to = recal::typed::Buffer::output(bench.context, a.len())?;
    let k = local_transpose::transpose(bench.context)?;
    let line = || bench.context.device().allocate_buffer(n * n, Format::Float32x1, Place::Local);
    let (input, output) = (line()?, line()?);
    let constants = bench.constants(&[[f32::from_bits(4 * n), 0.0, 0.0, 0.0]])?;
    let bound = [("i0", &input), ("uav0", &output), ("cb0", &constants)];
    let module = bench.module(local_transpose::transpose::IL, &bound)?;
    let grid = Grid { block: [16, 16, 1], groups: [n / 16, n / 16, 1] };
    let typed = || k.run((n, n), &from, &mut to, 4 * n);
    bench.report("local transpose", typed, || bench.context.run_grid(&module, grid))?;
    Ok(t == transposed(&a, n as usize))
}
