//! Kernels of Brook+ in a program of Rust: `build.rs` compiles `particles.br`, the macro takes the module in.

pub use brook::{Failure, Stream};

brook::kernels!(
    /// The kernels of `particles.br`.
    pub mod particles
);

use particles::Particle;

/// Moves particles for some passes of a hundredth of a second, and gives them with the largest height.
///
/// # Errors
/// What the device says.
pub fn simulate(start: &[Particle], passes: u32) -> Result<(Vec<Particle>, f32), Failure> {
    let mut now = Stream::from_slice(start)?;
    let mut next = Stream::new(now.dims())?;
    for _ in 0..passes {
        particles::r#move(&now, 0.01, &next)?;
        std::mem::swap(&mut now, &mut next);
    }
    let heights = Stream::new(now.dims())?;
    particles::height(&now, &heights)?;
    Ok((now.to_vec()?, particles::value::highest(&heights)?))
}
