//! Listings of kernels: the text in canonical form, then the SPIR-V module of a device that can do everything.
//!
//! A real device may lack something, so the module that it runs may differ; `CAL_DUMP` has that one. The module is the
//! one for native arithmetic, default samplers and any format.

use cal_il::ir::Program;
use cal_il::spirv::{self, Assume, Formats, Mode, Surfaces};
use rspirv::binary::Disassemble;

/// The text as a listing, in canonical form; as it is, if that is not to be had.
pub(crate) fn il(text: &[u8]) -> String {
    match cal_il::text::parse(text) {
        Ok(ast) => cal_il::text::print(&ast),
        Err(_) => String::from_utf8_lossy(text).into_owned(),
    }
}

/// The module, or why there is none.
pub(crate) fn spirv(program: &Program) -> String {
    let assume = Assume { formats: Formats::Any, default_samplers: true, surfaces: Surfaces::UNKNOWN };
    let module = match spirv::emit(program, &able(), assume) {
        Ok(module) => module,
        Err(reason) => return format!("; none: {reason}\n"),
    };
    match rspirv::dr::load_words(&module.words) {
        Ok(module) => module.disassemble(),
        Err(reason) => format!("; none: {reason}\n"),
    }
}

/// A device that can do everything.
fn able() -> spirv::Target {
    spirv::Target {
        mode: Mode::Native,
        float64: true,
        int64: true,
        int64_atomics: true,
        int64_shared_atomics: true,
        rte32: true,
        rte64: true,
        nan_preserve32: true,
        nan_preserve64: true,
        denorm_preserve32: true,
        denorm_preserve64: true,
        gradual32: true,
        exact64: true,
        fused64: true,
        divides64: true,
        roots64: true,
        max_group: 1024,
        max_group_size: [1024; 3],
        max_shared: 65536,
        max_uniform: 65536,
    }
}
