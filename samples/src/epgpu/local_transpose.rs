//! A matrix mirrored at its diagonal by way of memory that groups share: rows are read and rows are written.

use recal::typed::Buffer;
use recal::{Context, Result};

recal::il! {
    /// `n`: bytes of a row. Rows in LDS are of 17 words, so that columns fall on different banks.
    pub fn transpose(a: &Buffer<f32>, t: &mut Buffer<f32>, n: u32) {
        il_cs_2_0
        dcl_num_thread_per_group 16, 16, 1
        dcl_lds_id(0) 1088
        dcl_raw_srv_id(0)
        dcl_raw_uav_id(0)
        dcl_cb cb0[1]
        dcl_literal l0, 4, 68, 16, 0
        imul r0.xy__, vAbsTid.xyxx, l0.xxxx
        umad r0.x, vAbsTid.y, cb0[0].x, r0.x
        srv_raw_load_id(0) r1.x, r0.x
        imul r2.xy__, vTidInGrp.xyxx, l0.xxxx
        imul r2.__zw, vTidInGrp.00xy, l0.00yy
        iadd r3.x, r2.x, r2.w
        iadd r3.y, r2.y, r2.z
        lds_store_id(0) r3.x, r1.x
        fence_threads_lds
        lds_load_id(0) r1.x, r3.y
        imul r4.xy__, vThreadGrpId.yxyy, l0.zzzz
        iadd r4.xy__, r4.xyxx, vTidInGrp.xyxx
        imul r4.x, r4.x, l0.x
        umad r4.x, r4.y, cb0[0].x, r4.x
        uav_raw_store_id(0) mem0.x___, r4.x, r1.x
        end
    }
}

/// The transposed matrix of `n` times `n`, a multiple of 16.
pub fn run(context: &Context, n: u32, a: &[f32]) -> Result<Vec<f32>> {
    let a = Buffer::from_slice(context, a)?;
    let mut t = Buffer::output(context, a.len())?;
    transpose(context)?.run((n, n), &a, &mut t, 4 * n)?;
    t.read()
}
