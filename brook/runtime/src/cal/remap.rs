//! Copies between streams of different shapes: parts of streams, and inputs that are repeated or skipped over.
//!
//! One program does all of it: for each element of the destination inside a box, the position in the source is
//! (position − low) · multiply / divide + start, by axis, in whole numbers.

use recal::Domain;

use super::{Buffer, CalDevice, Rectangle};
use crate::error::{Code, Failure, Result};
use crate::shape::Shape;

/// Where elements come from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Remap {
    /// The box in the destination.
    pub(crate) low: [u32; 4],
    pub(crate) high: [u32; 4],
    /// Where it begins in the source.
    pub(crate) start: [u32; 4],
    pub(crate) multiply: [u32; 4],
    pub(crate) divide: [u32; 4],
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Remap {
    /// A box of one stream to a box of another.
    pub(crate) fn copy(low: [u32; 4], extent: [u32; 4], start: [u32; 4]) -> Remap {
        let high = std::array::from_fn(|i| low[i] + extent[i]);
        Remap { low, high, start, multiply: [1; 4], divide: [1; 4] }
    }

    /// A whole stream to one of other extents.
    pub(crate) fn resize(from: [u32; 4], to: [u32; 4]) -> Result<Remap> {
        let by = |i: usize| gcd(from[i], to[i]).max(1);
        let multiply: [u32; 4] = std::array::from_fn(|i| from[i] / by(i));
        let divide = std::array::from_fn(|i| to[i] / by(i));
        if (0..4).any(|i| u64::from(to[i]) * u64::from(multiply[i]) > u64::from(u32::MAX)) {
            let message = format!("an input of {from:?} elements cannot be brought to {to:?}");
            return Err(Failure::new(Code::NotSupported, message));
        }
        Ok(Remap { low: [0; 4], high: to, start: [0; 4], multiply, divide })
    }
}

const PROGRAM: &str = "\
il_ps_2_0
dcl_input_position_interp(linear_noperspective) v0.xy__
dcl_output_usage(generic) o0.xyzw
dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)
dcl_cb cb0[9]
ftoi r0.xy__, v0.xyxx
imad r0.x___, r0.y, cb0[1].x, r0.x
umod r1.x___, r0.x, cb0[0].x
udiv r0.x___, r0.x, cb0[0].x
umod r1._y__, r0.x, cb0[0].y
udiv r0.x___, r0.x, cb0[0].y
umod r1.__z_, r0.x, cb0[0].z
udiv r1.___w, r0.x, cb0[0].z
ult r2, r1, cb0[4]
uge r3, r1, cb0[5]
ior r2, r2, r3
ior r2.xy__, r2.xyxx, r2.zwzz
ior r2.x___, r2.x, r2.y
discard_logicalnz r2.x
iadd r1, r1, cb0[4]_neg(xyzw)
imul r1, r1, cb0[7]
udiv r1, r1, cb0[8]
iadd r1, r1, cb0[6]
imad r0.x___, r1.w, cb0[2].z, r1.z
imad r0.x___, r0.x, cb0[2].y, r1.y
imad r0.x___, r0.x, cb0[2].x, r1.x
umod r4.x___, r0.x, cb0[3].x
udiv r4._y__, r0.x, cb0[3].x
utof r4.xy__, r4.xyxx
sample_resource(0)_sampler(0) r5, r4.xy00
mov o0, r5
endmain
end
";

impl CalDevice {
    /// Copies as `remap` says, member by member.
    pub(crate) fn remap(
        &mut self,
        from: (&[Buffer], &Shape),
        to: (&[Buffer], &Shape),
        remap: Remap,
    ) -> Result<()> {
        let failed = |e: recal::Error| Failure::cal(Code::Domain, "copying a part of a stream", &e);
        if self.remap.is_none() {
            self.remap = Some(self.load("remap", PROGRAM)?);
        }
        let Some(program) = &mut self.remap else { return Ok(()) };
        let cells = |shape: &Shape| [shape.cells[0], shape.cells[1], 1, 1];
        let values = [
            to.1.dims,
            cells(to.1),
            from.1.dims,
            cells(from.1),
            remap.low,
            remap.high,
            remap.start,
            remap.multiply,
            remap.divide,
        ];
        // Without translation positions are places: only the box runs.
        let r = if to.1.translated {
            Rectangle::all(to.1)
        } else {
            let extent = |i: usize| remap.high[i] - remap.low[i];
            Rectangle { x: remap.low[0], y: remap.low[1], width: extent(0), height: extent(1) }
        };
        for (from, to) in from.0.iter().zip(to.0) {
            program.inputs[0].bind(from.mem()).map_err(failed)?;
            program.outputs[0].bind(to.mem()).map_err(failed)?;
            program.constants[0].bind(&self.device, &self.context, &values)?;
            let domain = Domain { x: r.x, y: r.y, width: r.width, height: r.height };
            let event = self.context.run(&program.module, domain).map_err(failed)?;
            program.constants[0].used(&event);
        }
        self.context.flush().map_err(failed)
    }
}
