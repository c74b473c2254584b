//! A picture mirrored at its diagonal, naively and through LDS, and written as `transpose.png`: the original on the
//! left, the result on the right. The twin of `c/transpose.c`.

use std::path::PathBuf;
use std::process::ExitCode;

use recal::{Domain, Format, Grid, Place, Runtime};
use recal_samples::{Options, Result, best_of, read_rows, verdict, write_png, write_rows};

const NAIVE: &str = "\
il_ps_2_0
dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__
dcl_output_generic o0
dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)
sample_resource(0)_sampler(0) o0, vWinCoord0.yxyx
end
";

/// `cb0[0].x`: bytes of a row. Rows of 17 words in LDS, so that columns fall on different banks.
const LOCAL: &str = "\
il_cs_2_0
dcl_num_thread_per_group 16, 16, 1
dcl_lds_id(0) 1088
dcl_raw_uav_id(0)
dcl_raw_uav_id(1)
dcl_cb cb0[1]
dcl_literal l0, 4, 16, 68, 0
umul r0.x, vAbsTid.y, cb0[0].x
imul r0.y, vAbsTid.x, l0.x
iadd r0.x, r0.x, r0.y
uav_raw_load_id(0) r1.x, r0.x
imul r2.x, vTidInGrp.y, l0.z
imul r2.y, vTidInGrp.x, l0.x
iadd r2.x, r2.x, r2.y
lds_store_id(0) r2.x, r1.x
fence_threads_lds
imul r3.x, vTidInGrp.x, l0.z
imul r3.y, vTidInGrp.y, l0.x
iadd r3.x, r3.x, r3.y
lds_load_id(0) r1.x, r3.x
imul r4.x, vThreadGrpId.y, l0.y
iadd r4.x, r4.x, vTidInGrp.x
imul r4.y, vThreadGrpId.x, l0.y
iadd r4.y, r4.y, vTidInGrp.y
umul r5.x, r4.y, cb0[0].x
imul r5.y, r4.x, l0.x
iadd r5.x, r5.x, r5.y
uav_raw_store_id(1) mem0.x___, r5.x, r1.x
end
";

fn main() -> ExitCode {
    verdict("transpose", run)
}

/// A picture that is not its own mirror image: rings around a point off the diagonal, on a slope.
fn picture(size: u32) -> Vec<f32> {
    let at = |x: u32, y: u32| {
        let (x, y) = (x as f32 / size as f32, y as f32 / size as f32);
        let distance = ((x - 0.75).powi(2) + (y - 0.3).powi(2)).sqrt();
        0.7 * (0.5 + 0.5 * (distance * 60.0).sin()) + 0.3 * x
    };
    (0..size).flat_map(|y| (0..size).map(move |x| at(x, y))).collect()
}

fn run(options: &Options) -> Result<bool> {
    let size = options.size.unwrap_or(512);
    if size % 16 != 0 {
        return Err("the size must be a multiple of 16".into());
    }
    let n = size as usize;
    let original = picture(size);
    let mirrored: Vec<f32> = (0..n * n).map(|i| original[i % n * n + i / n]).collect();
    let runtime = Runtime::new()?;
    let device = runtime.open(options.device)?;
    let context = device.create_context()?;
    let target = device.info().target;

    let naive = context.load(&recal::compile(NAIVE, target)?.into())?;
    let input = device.allocate_2d(size, size, Format::Float32x1, Place::Local)?;
    let output = device.allocate_2d(size, size, Format::Float32x1, Place::Local)?;
    write_rows(&input, &original)?;
    naive.bind("i0", &input)?;
    naive.bind("o0", &output)?;
    let time = best_of(options.iterations, || Ok(context.run(&naive, Domain::of(size, size))?.wait()?))?;
    let by_naive: Vec<f32> = read_rows(&output)?;
    println!("naive: {:.3} ms", time.as_secs_f64() * 1e3);

    let local = context.load(&recal::compile(LOCAL, target)?.into())?;
    let input = device.allocate_buffer(size * size, Format::Float32x1, Place::Local)?;
    let output = device.allocate_buffer(size * size, Format::Float32x1, Place::Local)?;
    let constant = device.allocate_1d(1, Format::UnsignedInt32x4, Place::Remote)?;
    constant.map::<u32>()?[0] = size * 4;
    write_rows(&input, &original)?;
    local.bind("uav0", &input)?;
    local.bind("uav1", &output)?;
    local.bind("cb0", &constant)?;
    let grid = Grid { block: [16, 16, 1], groups: [size / 16, size / 16, 1] };
    let time = best_of(options.iterations, || Ok(context.run_grid(&local, grid)?.wait()?))?;
    let by_local: Vec<f32> = read_rows(&output)?;
    println!("local: {:.3} ms", time.as_secs_f64() * 1e3);

    let grey = |value: &f32| (value * 255.0) as u8;
    let side_by_side: Vec<u8> =
        original.chunks(n).zip(by_local.chunks(n)).flat_map(|(a, b)| a.iter().chain(b).map(grey)).collect();
    let path = options.output.clone().unwrap_or_else(|| PathBuf::from("transpose.png"));
    write_png(&path, size * 2, size, &side_by_side)?;
    println!("written to {}", path.display());
    Ok(by_naive == mirrored && by_local == mirrored)
}
