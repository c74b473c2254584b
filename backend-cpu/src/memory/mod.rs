//! Memory as kernels see it.
//!
//! [`Block`] is an allocation, [`View`] a checked window on shared bytes. [`words`] moves rows between registers and
//! words of a view, [`elements`] elements of any format; [`texture`], [`buffer`], [`atomic`] and [`group`] are the kinds of access built on it.

mod atomic;
mod block;
mod buffer;
pub mod elements;
mod filter;
mod group;
pub mod texture;
mod view;
pub mod words;

pub use block::{Block, InUse};
pub use buffer::view_of;
pub use filter::border_words;
pub use texture::TexelCache;
pub use view::{View, ordered};

use crate::context::Context;
use crate::op::{Access, MemoryOp};
use crate::wave::Wave;

/// Executes one access for the executing lanes of a wave.
#[inline(always)]
pub fn access(wave: &mut Wave, access: &Access, context: &mut Context<'_>) {
    wave.flush = access.flush;
    match &access.op {
        MemoryOp::Sample(op) => texture::sample(wave, context, op),
        MemoryOp::Gather { resource, sampler, at, texel_offset, component, dst } => {
            filter::gather(wave, context, *resource, *sampler, at, *texel_offset, *component, *dst);
        }
        MemoryOp::Fetch { resource, coord, offset, dimensions, dst } => {
            texture::fetch(wave, context, *resource, *coord, *offset, *dimensions, *dst);
        }
        MemoryOp::TypedLoad { place, coord, dimensions, dst } => {
            texture::typed_load(wave, context, *place, *coord, *dimensions, *dst);
        }
        MemoryOp::TypedStore { place, coord, dimensions, src } => {
            texture::typed_store(wave, context, *place, *coord, *dimensions, *src);
        }
        MemoryOp::ResourceInfo { resource, uint, dst } => {
            texture::info(wave, context, *resource, *uint, *dst)
        }
        MemoryOp::BufferInfo { of, dst } => buffer::info(wave, context, *of, *dst),
        MemoryOp::ElementLoad { place, index, offset, dst } => {
            buffer::element_load(wave, context, *place, *index, *offset, *dst);
        }
        MemoryOp::ArrayLoad { first, elements, index, offset, dst } => {
            group::array_load(wave, *first, *elements, *index, *offset, *dst);
        }
        MemoryOp::ArrayStore { first, elements, index, offset, src } => {
            group::array_store(wave, *first, *elements, *index, *offset, *src);
        }
        MemoryOp::GlobalStore { index, offset, src } => {
            buffer::global_store(wave, context, *index, *offset, *src)
        }
        MemoryOp::SharedLoad { register, dst } => group::shared_load(wave, context, *register, *dst),
        MemoryOp::SharedStore { register, src } => group::shared_store(wave, context, *register, *src),
        MemoryOp::RawLoad { place, address, width, dst } => {
            buffer::raw_load(wave, context, *place, *address, *width, *dst);
        }
        MemoryOp::RawStore { place, address, width, src } => {
            buffer::raw_store(wave, context, *place, *address, *width, *src);
        }
        MemoryOp::Atomic { op, place, at, dimensions, src, src2, dst } => {
            atomic::word(wave, context, *op, *place, *at, *dimensions, *src, *src2, *dst);
        }
        MemoryOp::AtomicWide { op, place, address, src, src2, dst } => {
            atomic::wide(wave, context, *op, *place, *address, *src, *src2, *dst);
        }
        MemoryOp::Counter { uav, consume, dst } => atomic::counter(wave, context, *uav, *consume, *dst),
    }
}
