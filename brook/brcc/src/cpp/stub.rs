//! The objects by which hosts call kernels, and how streams see structs.

use std::fmt::Write as _;

use super::{element_type, name};
use crate::hir::{Kernel, Param, ParamKind};
use crate::types::{Struct, Structs, Type};

/// Argument of a call operator. A reduction has two: for a stream and for a value.
fn argument(structs: &Structs, param: &Param, by_value: bool) -> String {
    let element = element_type(structs, param.ty);
    let name = name(&param.name);
    match &param.kind {
        ParamKind::Constant => format!("const {element} {name}"),
        ParamKind::ConstArray(dims) => {
            let sizes: String = dims.iter().map(|d| format!("[{d}]")).collect();
            format!("const {element} {name}{sizes}")
        }
        ParamKind::Reduce if by_value => format!("{element}& {name}"),
        _ => format!("const ::brook::Stream<{element} >& {name}"),
    }
}

fn arguments(kernel: &Kernel, structs: &Structs, by_value: bool) -> String {
    kernel.params.iter().map(|p| argument(structs, p, by_value)).collect::<Vec<_>>().join(", ")
}

/// Class and object of a kernel, for the header.
pub(crate) fn class(kernel: &Kernel, structs: &Structs) -> String {
    let k = &kernel.name;
    let mut text =
        format!("class __{k} {{\npublic:\n    void operator()({});\n", arguments(kernel, structs, false));
    if kernel.reduce {
        let _ = writeln!(text, "    void operator()({});", arguments(kernel, structs, true));
    }
    let _ = write!(
        text,
        "    void domainOffset(::brook::Vec<unsigned int, 4> offset) {{ ::brook::setDomain(__offset, offset); }}\n\
         \x20   void domainSize(::brook::Vec<unsigned int, 4> size) {{ ::brook::setDomain(__size, size); }}\n\
         \x20   /* The next call runs on these positions. Thread-local objects are not initialised, so it is plain data. */\n\
         \x20   ::brook::DomainSetting __offset, __size;\n}};\nextern BROOK_THREAD_LOCAL __{k} {k};\n\n"
    );
    text
}

/// The call operators.
pub(crate) fn operators(kernel: &Kernel, structs: &Structs, cpu: bool) -> String {
    let k = &kernel.name;
    let group = kernel.group.unwrap_or(0);
    let shared = kernel.shared.as_ref().map_or(0, |s| s.count * 16);
    let mut text = format!(
        "static const ::brook::KernelTable __{k}_fp = {{\"{k}\", __{k}_cal, {}, {}, {group}, {shared}}};\n\
         BROOK_THREAD_LOCAL __{k} {k};\n\n",
        if cpu { format!("__{k}_cpu") } else { "0".to_owned() },
        i32::from(kernel.reduce)
    );
    for by_value in [false, true] {
        if by_value && !kernel.reduce {
            continue;
        }
        let _ = writeln!(
            text,
            "void __{k}::operator()({})\n{{\n    ::brook::KernelCall __k(__{k}_fp, __offset, __size);",
            arguments(kernel, structs, by_value)
        );
        for param in &kernel.params {
            let name = name(&param.name);
            let push = match &param.kind {
                ParamKind::Input => format!("PushStream({name})"),
                ParamKind::Gather(_) => format!("PushGatherStream({name})"),
                ParamKind::Constant => format!("PushConstant({name})"),
                ParamKind::ConstArray(dims) => {
                    let total: u32 = dims.iter().product();
                    let zeros = "[0]".repeat(dims.len());
                    format!("PushConstantBuffer(&{name}{zeros}, {total})")
                }
                ParamKind::Output => format!("PushOutput({name})"),
                ParamKind::Scatter(_) => format!("PushScatterStream({name})"),
                ParamKind::Reduce if by_value => format!("PushReduce(&{name})"),
                ParamKind::Reduce => format!("PushReduceStream({name})"),
            };
            let _ = writeln!(text, "    __k.{push};");
        }
        text.push_str("    __k.run();\n}\n\n");
    }
    text
}

/// What a stream of structs is made of.
pub(crate) fn struct_element(structs: &Structs, at: usize, definition: &Struct) -> String {
    let name = &definition.name;
    let leaves = structs.leaves(Type::Struct(at as u16));
    let mut text = format!(
        "namespace brook {{\ntemplate<> inline const StreamType* getStreamType(const {name}*)\n{{\n    \
         static const {name} model = {name}();\n    static const StreamMember members[] = {{\n"
    );
    for leaf in &leaves {
        let _ = writeln!(
            text,
            "        BROOK_MEMBER({}, {}, model, {}),",
            leaf.scalar as u8, leaf.width, leaf.path
        );
    }
    let _ = write!(
        text,
        "    }};\n    static const StreamType type = {{members, {}, static_cast<unsigned int>(sizeof({name}))}};\n    return &type;\n}}\n}}\n\n",
        leaves.len()
    );
    text
}
