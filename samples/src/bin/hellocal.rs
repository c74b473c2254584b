//! The smallest whole program: one kernel, one input, one constant, one output. The twin of `c/hellocal.c`.

use std::process::ExitCode;

use recal::{Domain, Format, Place, Runtime};
use recal_samples::{Options, Result, read_rows, verdict, write_rows};

/// `o0 = i0 * cb0[0].x`
const KERNEL: &str = "\
il_ps_2_0
dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__
dcl_output_generic o0
dcl_cb cb0[1]
dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)
sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx
mul o0, r0, cb0[0].x
end
";

fn main() -> ExitCode {
    verdict("hellocal", run)
}

fn run(options: &Options) -> Result<bool> {
    let size = options.size.unwrap_or(64);
    let runtime = Runtime::new()?;
    let device = runtime.open(options.device)?;
    println!("on {}", device.info().name);
    let context = device.create_context()?;
    let module = context.load(&recal::compile(KERNEL, device.info().target)?.into())?;

    let input = device.allocate_2d(size, size, Format::Float32x1, Place::Local)?;
    let output = device.allocate_2d(size, size, Format::Float32x1, Place::Local)?;
    let constant = device.allocate_1d(1, Format::Float32x4, Place::Remote)?;
    let numbers: Vec<f32> = (0..size * size).map(|i| i as f32).collect();
    write_rows(&input, &numbers)?;
    constant.map::<f32>()?[0] = 0.5;

    module.bind("i0", &input)?;
    module.bind("cb0", &constant)?;
    module.bind("o0", &output)?;
    context.run(&module, Domain::of(size, size))?.wait()?;

    let halves: Vec<f32> = read_rows(&output)?;
    println!("the last element of the output is {}", halves[halves.len() - 1]);
    Ok(numbers.iter().zip(&halves).all(|(number, half)| number * 0.5 == *half))
}
