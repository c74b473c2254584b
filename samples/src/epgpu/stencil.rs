//! Sweeps over a plate: each inner point becomes the mean of its neighbours.

use recal::typed::Image;
use recal::{Context, Result};

recal::il! {
    pub fn sweep(src: &Image<f32>, dst: &mut Image<f32>, last: [f32; 2]) {
        il_ps_2_0
        dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__
        dcl_output_generic o0
        dcl_cb cb0[1]
        dcl_literal l0, 0.25, 1.0, 0.0, 0.0
        dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)
        sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx
        lt r1.xy__, l0.yyyy, vWinCoord0.xyxx
        lt r1.__zw, vWinCoord0.00xy, cb0[0].00xy
        iand r1.xy__, r1.xyxx, r1.zwzz
        iand r1.x, r1.x, r1.y
        if_logicalnz r1.x
            sample_resource(0)_sampler(0)_aoffimmi(-1.0,0.0,0.0) r2, vWinCoord0.xyxx
            sample_resource(0)_sampler(0)_aoffimmi(1.0,0.0,0.0) r3, vWinCoord0.xyxx
            sample_resource(0)_sampler(0)_aoffimmi(0.0,-1.0,0.0) r4, vWinCoord0.xyxx
            sample_resource(0)_sampler(0)_aoffimmi(0.0,1.0,0.0) r5, vWinCoord0.xyxx
            add r2.x, r2.x, r3.x
            add r4.x, r4.x, r5.x
            add r2.x, r2.x, r4.x
            mul r0.x, r2.x, l0.x
        endif
        mov o0, r0
        end
    }
}

/// The plate after so many sweeps.
pub fn run(context: &Context, n: u32, plate: &[f32], sweeps: u32) -> Result<Vec<f32>> {
    let sweep = sweep(context)?;
    let mut src = Image::from_rows(context, n, plate)?;
    for _ in 0..sweeps {
        let mut dst = Image::output(context, n, n)?; // cheap: it is the one before the last
        sweep.fill(&src, &mut dst, [n as f32 - 1.0; 2])?;
        src = dst;
    }
    src.read()
}
