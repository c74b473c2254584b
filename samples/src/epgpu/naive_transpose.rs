//! A matrix mirrored at its diagonal, each element where it is wanted.

use recal::typed::Image;
use recal::{Context, Result};

recal::il! {
    pub fn transpose(a: &Image<f32>, t: &mut Image<f32>) {
        il_ps_2_0
        dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__
        dcl_output_generic o0
        dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)
        sample_resource(0)_sampler(0) o0, vWinCoord0.yxyx
        end
    }
}

/// The transposed matrix of so many columns.
pub fn run(context: &Context, width: u32, a: &[f32]) -> Result<Vec<f32>> {
    let a = Image::from_rows(context, width, a)?;
    let mut t = Image::output(context, a.height(), width)?;
    transpose(context)?.fill(&a, &mut t)?;
    t.read()
}
