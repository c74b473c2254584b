//! A cubic of many numbers, four per thread.

use recal::typed::Image;
use recal::{Context, Result};

recal::il! {
    pub fn poly3(x: &Image<[f32; 4]>, y: &mut Image<[f32; 4]>, coefficients: [f32; 4]) {
        il_ps_2_0
        dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__
        dcl_output_generic o0
        dcl_cb cb0[1]
        dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)
        sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx
        mad r1, cb0[0].xxxx, r0, cb0[0].yyyy
        mad r1, r1, r0, cb0[0].zzzz
        mad o0, r1, r0, cb0[0].wwww
        end
    }
}

/// `a x³ + b x² + c x + d` of rows of numbers.
pub fn run(context: &Context, width: u32, x: &[[f32; 4]], coefficients: [f32; 4]) -> Result<Vec<[f32; 4]>> {
    let x = Image::from_rows(context, width, x)?;
    let mut y = Image::output(context, width, x.height())?;
    poly3(context)?.fill(&x, &mut y, coefficients)?;
    y.read()
}
