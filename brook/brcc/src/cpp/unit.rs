//! The CPU versions of kernels alone, for hosts that are not C++.

use std::fmt::Write as _;

use super::{cpu_kernel, element_type};
use crate::hir::Kernel;
use crate::types::Structs;

/// A unit of C++ with the CPU versions of all kernels; those that hosts call are functions of C with the names that `symbol` gives.
pub(crate) fn unit(kernels: &[Kernel], structs: &Structs, symbol: impl Fn(&str) -> String) -> String {
    let mut text = String::from(
        "/* CPU versions of kernels, written by brcc. */\n#include \"brook/CPU/kernel.h\"\n\nnamespace {\n\n",
    );
    for definition in &structs.0 {
        let _ = writeln!(text, "struct {} {{", definition.name);
        for (name, ty) in &definition.members {
            let _ = writeln!(text, "    {} {name};", element_type(structs, *ty));
        }
        text.push_str("};\n\n");
    }
    for at in 0..kernels.len() {
        text.push_str(&cpu_kernel(kernels, at, structs));
    }
    text.push_str("} // namespace\n\n");
    for kernel in kernels.iter().filter(|k| k.is_entry()) {
        let _ = writeln!(
            text,
            "extern \"C\" void {}(const brook_cpu_call* call, size_t begin, size_t end)\n{{\n    __{}_cpu(call, begin, end);\n}}\n",
            symbol(&kernel.name),
            kernel.name
        );
    }
    text
}
