//! The Mandelbrot set as a picture, `mandelbrot.png`: counts from the kernel, checked against the same float operations
//! here, colours from a palette.

use std::path::PathBuf;
use std::process::ExitCode;

use recal::{Domain, Format, Place, Runtime};
use recal_samples::{Options, Result, best_of, read_rows, verdict, write_png};

const LIMIT: u32 = 512;

/// `cb0[0]` = left, top, step, 4.0; `cb0[1].x` = limit
const KERNEL: &str = "\
il_ps_2_0
dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__
dcl_output_generic o0
dcl_cb cb0[2]
dcl_literal l0, 0, 1, 0, 0
mul r0.xy__, vWinCoord0.xyxx, cb0[0].zzzz
add r0.xy__, r0.xyxx, cb0[0].xyxx
mov r1.xy__, r0.xyxx
mov r2.x, l0.x
whileloop
  ige r3.x, r2.x, cb0[1].x
  break_logicalnz r3.x
  mul r4.xy__, r1.xyxx, r1.xyxx
  add r4.__z_, r4.x, r4.y
  lt r3.y, cb0[0].w, r4.z
  break_logicalnz r3.y
  mul r5.x, r1.x, r1.y
  add r5.x, r5.x, r5.x
  sub r5.y, r4.x, r4.y
  add r1.x, r5.y, r0.x
  add r1.y, r5.x, r0.y
  iadd r2.x, r2.x, l0.y
endloop
mov o0, r2.xxxx
end
";

fn main() -> ExitCode {
    verdict("mandelbrot", run)
}

/// The part of the plane that is seen.
#[derive(Clone, Copy)]
struct View {
    left: f32,
    top: f32,
    step: f32,
}

impl View {
    fn count(self, column: u32, row: u32) -> u32 {
        let x0 = (column as f32 + 0.5) * self.step + self.left;
        let y0 = (row as f32 + 0.5) * self.step + self.top;
        let (mut x, mut y) = (x0, y0);
        for n in 0..LIMIT {
            let (xx, yy, xy) = (x * x, y * y, x * y);
            if xx + yy > 4.0 {
                return n;
            }
            (x, y) = (xx - yy + x0, xy + xy + y0);
        }
        LIMIT
    }
}

/// Black inside, from dark blue over white to brown outside.
fn colour(count: u32) -> [u8; 3] {
    if count == LIMIT {
        return [0; 3];
    }
    let t = (count as f32 / LIMIT as f32).sqrt();
    [0.0f32, 0.08, 0.18].map(|shift| (255.0 * (0.5 - 0.5 * ((t + shift) * 9.0).cos())) as u8)
}

fn run(options: &Options) -> Result<bool> {
    let size = options.size.unwrap_or(1024);
    let view = View { left: -2.1, top: -1.35, step: 2.7 / size as f32 };
    let runtime = Runtime::new()?;
    let device = runtime.open(options.device)?;
    let context = device.create_context()?;
    let module = context.load(&recal::compile(KERNEL, device.info().target)?.into())?;
    let output = device.allocate_2d(size, size, Format::UnsignedInt32x1, Place::Local)?;
    let constants = device.allocate_1d(2, Format::Float32x4, Place::Remote)?;
    constants.map::<f32>()?[..4].copy_from_slice(&[view.left, view.top, view.step, 4.0]);
    constants.map::<u32>()?[4] = LIMIT;
    module.bind("o0", &output)?;
    module.bind("cb0", &constants)?;

    let best = best_of(options.iterations, || Ok(context.run(&module, Domain::of(size, size))?.wait()?))?;
    let counts: Vec<u32> = read_rows(&output)?;
    println!("{size} x {size} on {}: {:.2} ms", device.info().name, best.as_secs_f64() * 1e3);

    let path = options.output.clone().unwrap_or_else(|| PathBuf::from("mandelbrot.png"));
    let pixels: Vec<u8> = counts.iter().flat_map(|&count| colour(count)).collect();
    write_png(&path, size, size, &pixels)?;
    println!("written to {}", path.display());

    let mut expected = (0..size).flat_map(|y| (0..size).map(move |x| view.count(x, y)));
    Ok(counts.iter().all(|&count| Some(count) == expected.next()))
}
