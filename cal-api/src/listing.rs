//! Listings of kernels: the text in canonical form, then the SPIR-V module of a device that can do everything.
//!
//! A real device may lack something, so the module that it runs may differ; `CAL_DUMP` has that one. The module is the
//! one for native arithmetic, default samplers and any format.

use recal_il::ir::Program;
use recal_il::spirv::{self, Assume, Mode, Target};
use rspirv::binary::Disassemble;

/// The text as a listing, in canonical form; as it is, if that is not to be had.
pub(crate) fn il(text: &[u8]) -> String {
    match recal_il::text::parse(text) {
        Ok(ast) => recal_il::text::print(&ast),
        Err(_) => String::from_utf8_lossy(text).into_owned(),
    }
}

/// The module, or why there is none.
pub(crate) fn spirv(program: &Program) -> String {
    let assume = Assume { default_samplers: true, ..Assume::NOTHING };
    let module = match spirv::emit(program, &Target::full(Mode::Native), assume) {
        Ok(module) => module,
        Err(reason) => return format!("; none: {reason}\n"),
    };
    match rspirv::dr::load_words(&module.words) {
        Ok(module) => module.disassemble(),
        Err(reason) => format!("; none: {reason}\n"),
    }
}
