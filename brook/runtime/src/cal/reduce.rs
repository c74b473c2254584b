//! Reductions in passes: each combines blocks of up to eight elements an axis, until the result's extents are left.

use super::launch::{Extents, Which};
use super::{Bound, CalDevice, Rectangle};
use crate::error::{Code, Failure, Result};
use crate::kernel::Kernel;
use crate::shape::Shape;

/// Elements that a thread combines along an axis, unless a prime factor is larger.
const BLOCK: u32 = 8;

/// The part of a ratio that one pass does: a product of its smallest prime factors.
fn factor(ratio: u32) -> u32 {
    let (mut rest, mut product) = (ratio, 1u32);
    let mut prime = 2;
    while rest > 1 {
        if prime * prime > rest {
            prime = rest;
        }
        if rest % prime == 0 {
            if product > 1 && product.saturating_mul(prime) > BLOCK {
                break;
            }
            product *= prime;
            rest /= prime;
        } else {
            prime += 1;
        }
    }
    product
}

impl CalDevice {
    /// Reduces argument `input` to argument `output`.
    pub(crate) fn reduce(
        &mut self,
        kernel: &Kernel,
        args: &[Bound],
        input: usize,
        output: usize,
    ) -> Result<()> {
        let (Some(Bound::Stream(_, from)), Some(Bound::Stream(result, to))) =
            (args.get(input), args.get(output))
        else {
            return Err(Failure::new(Code::Kernel, "a reduction without streams"));
        };
        let (mut shape, to) = (*from, *to);
        let formats: Vec<_> = result.iter().map(|b| b.resource().format()).collect();
        let mut args = args.to_vec();
        loop {
            let step: [u32; 4] = std::array::from_fn(|i| factor(shape.dims[i] / to.dims[i]));
            let dims: [u32; 4] = std::array::from_fn(|i| shape.dims[i] / step[i]);
            let last = dims == to.dims;
            let next = if last { to } else { Shape::new(shape.rank, dims, self.limits())? };
            if last {
                args[output] = Bound::Stream(result.clone(), to);
            } else {
                let mut buffers = Vec::new();
                for format in &formats {
                    buffers.push(self.allocate(&next, *format)?);
                }
                args[output] = Bound::Stream(buffers, next);
            }
            let translated = shape.translated || next.translated;
            let Some(t) = kernel.techniques.iter().position(|t| t.translation == translated) else {
                return Err(no_technique());
            };
            let which = Which { key: (kernel.id, t, 0), pass: &kernel.techniques[t].passes[0] };
            let extents = Extents { factor: step, positions: [0; 4] };
            self.run(which, &args, extents, &[Rectangle::all(&next)], None)?;
            if last {
                return Ok(());
            }
            args[input] = args[output].clone();
            shape = next;
        }
    }
}

/// Why a kernel cannot take long streams.
pub(crate) fn no_technique() -> Failure {
    Failure::new(
        Code::Kernel,
        "a stream is longer than a row of the device, or has three dimensions, and the kernel was compiled without address \
         translation (brcc -r)",
    )
}

#[cfg(test)]
mod tests {
    use super::factor;

    #[test]
    fn passes_combine_small_primes() {
        let steps = |mut n: u32| {
            let mut list = Vec::new();
            while n > 1 {
                list.push(factor(n));
                n /= factor(n);
            }
            list
        };
        assert_eq!(steps(1), Vec::<u32>::new());
        assert_eq!(steps(64), [8, 8]);
        assert_eq!(steps(12), [4, 3]);
        assert_eq!(steps(7919), [7919]);
        assert_eq!(steps(22), [2, 11]);
    }
}
