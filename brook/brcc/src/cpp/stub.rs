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

/// What is a word or macro of some compiler behind two underscores.
const RESERVED: [&str; 108] = [
    "alignof",
    "always_inline",
    "amd64",
    "arm",
    "arm64",
    "asm",
    "assume",
    "attribute",
    "auto_type",
    "based",
    "bases",
    "block",
    "bool",
    "box",
    "builtin",
    "cdecl",
    "clrcall",
    "complex",
    "const",
    "constinit",
    "declspec",
    "decltype",
    "delegate",
    "direct_bases",
    "event",
    "except",
    "extension",
    "fastcall",
    "finally",
    "flexarr",
    "float128",
    "float16",
    "float80",
    "forceinline",
    "fp16",
    "func",
    "gc",
    "hook",
    "i386",
    "i486",
    "i586",
    "i686",
    "ibm128",
    "identifier",
    "imag",
    "inline",
    "int128",
    "int16",
    "int32",
    "int64",
    "int8",
    "integer_pack",
    "interface",
    "k8",
    "label",
    "leave",
    "linux",
    "m128",
    "m128d",
    "m128i",
    "m256",
    "m512",
    "m64",
    "newslot",
    "noop",
    "null",
    "nullptr",
    "overflow",
    "pascal",
    "pin",
    "pixel",
    "pragma",
    "property",
    "ptr32",
    "ptr64",
    "raise",
    "real",
    "restrict",
    "restrict_arr",
    "sealed",
    "signed",
    "stdcall",
    "strong",
    "super",
    "thiscall",
    "thread",
    "try",
    "try_cast",
    "typeof",
    "typeof_unqual",
    "uflow",
    "unaligned",
    "underlying_type",
    "unhook",
    "unix",
    "unused",
    "uuidof",
    "value",
    "vector",
    "vectorcall",
    "virtual_inheritance",
    "volatile",
    "w64",
    "weak",
    "win32",
    "word",
    "wur",
    "x86_64",
];

/// The class of a kernel: `__k`, unless compilers or their headers may know that as something else.
fn class_name(k: &str) -> String {
    let starts = ["atomic_", "builtin_", "cpp_", "gnu_", "has_", "is_", "sync_", "transaction_"];
    let taken = RESERVED.contains(&k)
        || starts.iter().any(|s| k.starts_with(s))
        || k.ends_with("_t")
        || k.ends_with('_')
        || !k.contains(|c: char| c.is_ascii_lowercase());
    if taken { format!("__{k}_kernel") } else { format!("__{k}") }
}

/// Class and object of a kernel, for the header.
pub(crate) fn class(kernel: &Kernel, structs: &Structs) -> String {
    let (k, class) = (&kernel.name, class_name(&kernel.name));
    let mut text =
        format!("class {class} {{\npublic:\n    void operator()({});\n", arguments(kernel, structs, false));
    if kernel.reduce {
        let _ = writeln!(text, "    void operator()({});", arguments(kernel, structs, true));
    }
    let _ = write!(
        text,
        "    void domainOffset(::brook::Vec<unsigned int, 4> offset) {{ ::brook::setDomain(__offset, offset); }}\n\
         \x20   void domainSize(::brook::Vec<unsigned int, 4> size) {{ ::brook::setDomain(__size, size); }}\n\
         \x20   /* The next call runs on these positions. Thread-local objects are not initialised, so it is plain data. */\n\
         \x20   ::brook::DomainSetting __offset, __size;\n}};\nextern BROOK_THREAD_LOCAL {class} {k};\n\n"
    );
    text
}

/// The call operators.
pub(crate) fn operators(kernel: &Kernel, structs: &Structs, cpu: bool) -> String {
    let (k, class) = (&kernel.name, class_name(&kernel.name));
    let group = kernel.group.unwrap_or(0);
    let shared = kernel.shared.as_ref().map_or(0, |s| s.count * 16);
    let mut text = format!(
        "static const ::brook::KernelTable __{k}_fp = {{\"{k}\", __{k}_cal, {}, {}, {group}, {shared}}};\n\
         BROOK_THREAD_LOCAL {class} {k};\n\n",
        if cpu { format!("__{k}_cpu") } else { "0".to_owned() },
        i32::from(kernel.reduce)
    );
    for by_value in [false, true] {
        if by_value && !kernel.reduce {
            continue;
        }
        let _ = writeln!(
            text,
            "void {class}::operator()({})\n{{\n    ::brook::KernelCall __k(__{k}_fp, __offset, __size);",
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
