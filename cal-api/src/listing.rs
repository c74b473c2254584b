//! Listings of kernels: the text in canonical form, then the SPIR-V module of a device that can do everything.
//!
//! A real device may lack something, so the module that it runs may differ; `CAL_DUMP` has that one. The module is the
//! one for native arithmetic, default samplers and any format.

use recal_hal::FloatMode;
use recal_il::ir::Program;
use recal_il::ir::passes::Watch;
use recal_il::spirv::{self, Assume, Mode, Target};
use rspirv::binary::Disassemble;

use crate::error::{Error, Result};

/// The text as a listing, in canonical form; as it is, if that is not to be had.
pub(crate) fn il(text: &[u8]) -> String {
    match recal_il::text::parse(text) {
        Ok(ast) => recal_il::text::print(&ast),
        Err(_) => String::from_utf8_lossy(text).into_owned(),
    }
}

/// The module, or why there is none.
pub(crate) fn spirv(program: &Program) -> String {
    spirv_listing(program, FloatMode::Native).unwrap_or_else(|reason| format!("; none: {reason}\n"))
}

/// The SPIR-V module of a program as text, for a device that can do everything, default samplers and any format;
/// native arithmetic unless faithful is asked for.
pub fn spirv_listing(program: &Program, mode: FloatMode) -> Result<String> {
    spirv_watched(program, mode, &mut |_, _| {})
}

/// The same, and tells what the passes before make of the program.
pub(crate) fn spirv_watched(program: &Program, mode: FloatMode, watch: Watch<'_>) -> Result<String> {
    let mode = match mode {
        FloatMode::Faithful => Mode::Faithful,
        FloatMode::Default | FloatMode::Native => Mode::Native,
    };
    let assume = Assume { default_samplers: true, ..Assume::NOTHING };
    let module = spirv::emit_watched(program, &Target::full(mode), assume, watch)
        .map_err(|reason| Error::failed(reason.to_string()))?;
    let module = rspirv::dr::load_words(&module.words).map_err(|reason| Error::failed(reason.to_string()))?;
    Ok(module.disassemble())
}
