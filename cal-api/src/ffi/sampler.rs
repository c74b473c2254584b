//! Extension `CAL_EXT_SAMPLER_PARAM`.

use std::ffi::c_void;

use super::types::*;
use crate::error::{Error, Result};
use crate::{Sampler, Wrap};

const WRAPS: [Wrap; 8] = [
    Wrap::Repeat,
    Wrap::MirroredRepeat,
    Wrap::ClampToEdge,
    Wrap::MirrorClampToEdge,
    Wrap::Clamp,
    Wrap::MirrorClamp,
    Wrap::ClampToBorder,
    Wrap::MirrorClampToBorder,
];

/// The two filters of CAL are one here: what magnifies also minifies, there are no mipmaps.
fn filter(param: u32, value: u32) -> Result<bool> {
    match (param, value) {
        // Nearest, and linear, with or without mipmaps.
        (CAL_SAMPLER_PARAM_MIN_FILTER, 1..=3) | (CAL_SAMPLER_PARAM_MAG_FILTER, 0) => Ok(false),
        (CAL_SAMPLER_PARAM_MIN_FILTER, 0 | 4 | 5) | (CAL_SAMPLER_PARAM_MAG_FILTER, 1) => Ok(true),
        (CAL_SAMPLER_PARAM_MIN_FILTER, 7 | 8) | (CAL_SAMPLER_PARAM_MAG_FILTER, 4) => {
            Err(Error::unsupported(format!("vals: filter {value}: four-sample filters are not available")))
        }
        _ => Err(Error::failed(format!("vals: {value} is no filter"))),
    }
}

boundary! {
    /// Sets a sampler parameter: `vals` points at an enum value, or at four floats for the border colour.
    Runtime Init
    fn calCtxSetSamplerParams(call; ; ctx: CALcontext, name: CALname, param: CALsamplerParameter, vals: *mut c_void) {
        let context = call.context(ctx)?;
        let name = super::module::name_of(call, &context, name)?;
        let mut sampler = name.sampler()?;
        if param == CAL_SAMPLER_PARAM_DEFAULT {
            return name.set_sampler(Sampler::default());
        }
        if vals.is_null() {
            return Err(Error::invalid("vals: NULL"));
        }
        // SAFETY: not NULL; valid for an enum value, or four floats, by the contract of the function.
        let word = || unsafe { vals.cast::<u32>().read_unaligned() };
        match param {
            CAL_SAMPLER_PARAM_MIN_FILTER | CAL_SAMPLER_PARAM_MAG_FILTER => sampler.linear = filter(param, word())?,
            CAL_SAMPLER_PARAM_WRAP_S..=CAL_SAMPLER_PARAM_WRAP_R => {
                let value = word();
                let wrap = WRAPS.get(value as usize);
                sampler.wrap[(param - CAL_SAMPLER_PARAM_WRAP_S) as usize] =
                    *wrap.ok_or_else(|| Error::failed(format!("vals: {value} is no wrap mode")))?;
            }
            CAL_SAMPLER_PARAM_BORDER_COLOR => {
                // SAFETY: valid for four floats by the contract of the function.
                sampler.border = unsafe { vals.cast::<[f32; 4]>().read_unaligned() };
            }
            other => return Err(Error::failed(format!("param: {other} is no value of CALsamplerParameter"))),
        }
        name.set_sampler(sampler)
    }

    /// Reads a sampler parameter into `vals`.
    Runtime Init
    fn calCtxGetSamplerParams(call; ; ctx: CALcontext, name: CALname, param: CALsamplerParameter, vals: *mut c_void) {
        let context = call.context(ctx)?;
        let sampler = super::module::name_of(call, &context, name)?.sampler()?;
        if vals.is_null() {
            return Err(Error::invalid("vals: NULL"));
        }
        let word = match param {
            CAL_SAMPLER_PARAM_MIN_FILTER if sampler.linear => CAL_SAMPLER_MIN_LINEAR,
            CAL_SAMPLER_PARAM_MIN_FILTER => CAL_SAMPLER_MIN_NEAREST,
            CAL_SAMPLER_PARAM_MAG_FILTER if sampler.linear => CAL_SAMPLER_MAG_LINEAR,
            CAL_SAMPLER_PARAM_MAG_FILTER => CAL_SAMPLER_MAG_NEAREST,
            CAL_SAMPLER_PARAM_WRAP_S..=CAL_SAMPLER_PARAM_WRAP_R => {
                sampler.wrap[(param - CAL_SAMPLER_PARAM_WRAP_S) as usize] as u32
            }
            CAL_SAMPLER_PARAM_BORDER_COLOR => {
                // SAFETY: not NULL; valid for four floats by the contract of the function.
                unsafe { vals.cast::<[f32; 4]>().write_unaligned(sampler.border) };
                return Ok(());
            }
            other => return Err(Error::failed(format!("param: {other} cannot be read"))),
        };
        // SAFETY: not NULL; valid for an enum value by the contract of the function.
        unsafe { vals.cast::<u32>().write_unaligned(word) };
        Ok(())
    }
}
