//! A piece of the Mandelbrot set: how many steps until a point is gone, 250 at most.

use recal::typed::Image;
use recal::{Context, Result};

recal::il! {
    pub fn mandelbrot(img: &mut Image<u8>, sz: f32, off: [f32; 2]) {
        il_ps_2_0
        dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__
        dcl_output_generic o0
        dcl_cb cb0[2]
        dcl_literal l0, 4.0, 2.0, 1, 250
        mad r0.xy__, vWinCoord0.xyxx, cb0[0].xxxx, cb0[1].xyxx      // c
        mov r1.xy__, r0.xyxx                                        // z
        whileloop
            mul r2.xy__, r1.xyxx, r1.xyxx
            add r2.__z_, r2.x, r2.y
            lt r2.___w, l0.x, r2.z
            break_logicalnz r2.w
            ige r2.___w, r3.x, l0.w
            break_logicalnz r2.w
            sub r2.x, r2.x, r2.y
            mul r2.y, l0.y, r1.x
            mul r2.y, r2.y, r1.y
            add r1.xy__, r2.xyxx, r0.xyxx
            iadd r3.x, r3.x, l0.z
        endloop
        mov o0, r3.xxxx
        end
    }
}

/// The picture, row by row.
pub fn run(context: &Context, n: u32) -> Result<Vec<u8>> {
    let mut img = Image::output(context, n, n)?;
    mandelbrot(context)?.fill(&mut img, 0.01 / n as f32, [0.317, 0.414])?;
    img.read()
}
