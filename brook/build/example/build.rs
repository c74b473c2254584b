//! Kernels first.

fn main() {
    brook_build::compile("src/particles.br");
}
