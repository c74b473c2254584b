//! The kernels, by kind.

mod compute;
mod group;
mod matmul;
mod memory;
pub mod tiled;

use crate::case::{Case, Scale};

/// Builds a case.
pub type Build = fn(Scale) -> Vec<Case>;

/// Every kernel family: name, and what makes its cases. Cases are made one family at a time, since large ones take
/// much memory.
pub const FAMILIES: [(&str, Build); 18] = [
    ("matmul", matmul::streams),
    ("matmul_wide", matmul::wide),
    ("matmul_outer", matmul::outer),
    ("matmul_tiled", tiled::singles),
    ("dgemm_tiled", tiled::doubles),
    ("matmul_lds", matmul::shared),
    ("dgemm", matmul::doubles),
    ("vector_matrix", matmul::vector),
    ("mandelbrot", compute::mandelbrot),
    ("stencil", memory::stencil),
    ("polynomial", memory::polynomial),
    ("copy", memory::copy),
    ("transpose", memory::transpose),
    ("reduction", group::reductions),
    ("bitonic_sort", group::bitonic_sort),
    ("hash", compute::hash),
    ("straight", compute::straight),
    ("divergent", compute::divergent),
];

/// The case of a copy.
pub fn copies(scale: Scale) -> Vec<Case> {
    memory::copy(scale)
}

/// Beginning of a pixel kernel of one output.
fn pixel(inputs: u32, constants: u32) -> String {
    let mut text = String::from(
        "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n",
    );
    for k in 0..inputs {
        text += &format!(
            "dcl_resource_id({k})_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n"
        );
    }
    if constants > 0 {
        text += &format!("dcl_cb cb0[{constants}]\n");
    }
    text
}
