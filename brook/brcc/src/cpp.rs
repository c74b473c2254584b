//! Checked kernels to C++: their CPU versions, the objects by which hosts call them, and the descriptions of their IL.
//!
//! Everything written is C++98 and free of warnings.

mod expr;
mod host;
mod kernel;
mod stub;
mod unit;

use std::fmt::Write as _;

use crate::hir;
use crate::il::{Access, Entry, Technique, Usage};
use crate::types::{Class, Scalar, Structs, Type};

pub(crate) use host::{Functions, declarations, functions, mentions, rewrite as rewrite_host, signs};
pub(crate) use kernel::cpu_kernel;
pub(crate) use stub::{class, operators, struct_element};
pub(crate) use unit::unit;

/// Words of C++ that are names in C.
const KEYWORDS: [&str; 61] = [
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "bitand",
    "bitor",
    "bool",
    "catch",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "compl",
    "concept",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "decltype",
    "delete",
    "dynamic_cast",
    "explicit",
    "export",
    "false",
    "friend",
    "inline",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "reinterpret_cast",
    "requires",
    "signed",
    "static_assert",
    "static_cast",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typeid",
    "typename",
    "using",
    "virtual",
    "wchar_t",
    "xor",
    "xor_eq",
    "NULL",
    "errno",
    "brook",
];

/// Words of C that are no types of the language.
const WORDS: [&str; 26] = [
    "auto", "break", "case", "const", "continue", "default", "do", "else", "enum", "extern", "for", "goto",
    "if", "long", "register", "return", "sizeof", "static", "struct", "switch", "typedef", "union",
    "unsigned", "void", "volatile", "while",
];

/// True of what cannot be a name in host code, which is copied as it stands.
pub(crate) fn is_taken(text: &str) -> bool {
    KEYWORDS.contains(&text) || WORDS.contains(&text) || Type::named(text).is_some()
}

/// A name of the language as a name of C++.
pub(crate) fn name(text: &str) -> String {
    // Compilers take a dollar sign in a name, but not without a word about it.
    if KEYWORDS.contains(&text) { format!("{text}_") } else { text.replace('$', "_S_") }
}

/// The host's type of a stream's element.
pub(crate) fn element_type(structs: &Structs, ty: Type) -> String {
    match ty {
        Type::Vector(scalar, 1) => host_scalar(scalar).to_owned(),
        Type::Vector(scalar, n) => format!("brook::Vec<{}, {n}>", host_scalar(scalar)),
        Type::Struct(id) => structs.get(id).name.clone(),
        Type::Void | Type::Unknown => "void".to_owned(),
    }
}

fn host_scalar(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Char => "char",
        Scalar::UChar => "unsigned char",
        Scalar::Short => "short",
        Scalar::UShort => "unsigned short",
        Scalar::Int => "int",
        Scalar::UInt => "unsigned int",
        Scalar::Float => "float",
        Scalar::Double => "double",
    }
}

/// The type that kernels compute with: 8 and 16 bits are 32 bits.
pub(crate) fn kernel_type(structs: &Structs, ty: Type) -> String {
    match ty {
        Type::Vector(scalar, 1) => kernel_scalar(scalar).to_owned(),
        Type::Vector(scalar, n) => format!("brook::Vec<{}, {n}>", kernel_scalar(scalar)),
        other => element_type(structs, other),
    }
}

pub(crate) fn kernel_scalar(scalar: Scalar) -> &'static str {
    match scalar.class() {
        Class::Signed => "int",
        Class::Unsigned => "unsigned int",
        Class::Float => "float",
        Class::Double => "double",
    }
}

/// True of what is stored in fewer bits than it is computed in.
pub(crate) fn is_narrow(ty: Type) -> bool {
    ty.scalar().is_some_and(|s| s.bytes() < 4)
}

/// The file with the IL and what is bound to it.
pub(crate) fn descriptions(
    prefix: &str,
    list: &[(&hir::Kernel, Option<&[Technique]>)],
    as_chars: bool,
) -> String {
    let guard = format!("_{}_GPU_AUTO_GENERATED_H_", identifier(prefix));
    let mut out =
        format!("/* AMD IL of the kernels, written by brcc. */\n#ifndef {guard}\n#define {guard}\n\n");
    for (kernel, techniques) in list {
        let name = &kernel.name;
        let Some(techniques) = techniques else {
            let _ = writeln!(out, "static const ::brook::KernelDesc* const __{name}_cal = 0;\n");
            continue;
        };
        let mut chain = String::new();
        for (t, technique) in techniques.iter().enumerate() {
            let translation = if technique.translation { ".addressTranslation()" } else { "" };
            let _ = write!(chain, "\n    .technique(::brook::Technique(){translation}");
            for (p, pass) in technique.passes.iter().enumerate() {
                let text = format!("__{name}_cal_desc_tech{t}_pass{p}");
                image(&mut out, &text, &pass.text, as_chars);
                let _ =
                    write!(chain, "\n        .pass(::brook::Pass(\"{name}_tech{t}_pass{p} \").image({text})");
                if pass.compute {
                    chain.push_str(".computeShader()");
                }
                for entry in &pass.entries {
                    let _ = write!(chain, "\n            {}", describe(entry));
                }
                chain.push(')');
            }
            chain.push(')');
        }
        let _ = writeln!(
            out,
            "static const ::brook::KernelDesc __{name}_cal_desc = ::brook::KernelDesc(){chain};"
        );
        let _ = writeln!(out, "static const ::brook::KernelDesc* const __{name}_cal = &__{name}_cal_desc;\n");
    }
    out + "#endif\n"
}

fn describe(entry: &Entry) -> String {
    let access = |a: &Access| if *a == Access::Random { "ACCESS_RANDOM" } else { "ACCESS_STREAM" };
    match entry {
        Entry::Constant(arg, usage) => {
            let usage = match usage {
                Usage::User => "USER_PARAM",
                Usage::StreamShape => "STREAMSHAPE",
                Usage::BufferShape => "BUFFERSHAPE",
                Usage::ReductionFactor => "REDUCTIONFACTOR",
                Usage::Positions => "POSITIONS",
            };
            format!(".constant({arg}, ::brook::CONST_{usage})")
        }
        Entry::ConstArray(arg) => format!(".constArray({arg}, 0)"),
        Entry::Input(arg, member, a) => format!(".input({arg}, {member}, ::brook::{})", access(a)),
        Entry::Output(arg, member, a) => format!(".output({arg}, {member}, ::brook::{})", access(a)),
    }
}

/// Longest string literal that every compiler of the time takes.
const LITERAL: usize = 60_000;

fn image(out: &mut String, name: &str, text: &str, as_chars: bool) {
    let _ = write!(out, "static const char {name}[] =");
    if as_chars || text.len() >= LITERAL {
        out.push_str(" {\n");
        for line in text.as_bytes().chunks(24) {
            let list: Vec<String> = line.iter().map(u8::to_string).collect();
            let _ = writeln!(out, "    {},", list.join(","));
        }
        out.push_str("    0};\n");
        return;
    }
    for line in text.lines() {
        let _ = write!(out, "\n    \"{line}\\n\"");
    }
    out.push_str(";\n");
}

/// A file's name as part of a macro's.
pub(crate) fn identifier(prefix: &str) -> String {
    let base = prefix.rsplit(['/', '\\']).next().unwrap_or(prefix);
    base.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}
