//! The module of a file: structs, functions of its kernels, and what the runtime knows about them.

use std::fmt::Write as _;

use brcc::hir::{Param, ParamKind};
use brcc::il::{Entry, Pass, Technique};
use brcc::types::{Scalar, Structs, Type};
use brcc::{Kernel, Output};

/// Words of Rust that cannot be names as they stand.
const KEYWORDS: [&str; 52] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "Self",
    "static", "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

fn name(text: &str) -> String {
    match text {
        // These are no names even with a prefix.
        "self" | "Self" | "super" | "crate" | "_" => format!("{text}_"),
        _ if KEYWORDS.contains(&text) => format!("r#{text}"),
        _ => text.replace('$', "_S_"),
    }
}

fn number(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Char => "i8",
        Scalar::UChar => "u8",
        Scalar::Short => "i16",
        Scalar::UShort => "u16",
        Scalar::Int => "i32",
        Scalar::UInt => "u32",
        Scalar::Float => "f32",
        Scalar::Double => "f64",
    }
}

/// An element's type; `up` leads to the module that has the structs.
fn element(structs: &Structs, ty: Type, up: &str) -> String {
    match ty {
        Type::Vector(scalar, 1) => number(scalar).to_owned(),
        Type::Vector(scalar, n) => format!("[{}; {n}]", number(scalar)),
        Type::Struct(id) => format!("{up}{}", name(&structs.get(id).name)),
        Type::Void | Type::Unknown => "()".to_owned(),
    }
}

fn parameter(structs: &Structs, param: &Param, up: &str) -> String {
    let ty = element(structs, param.ty, up);
    let ty = match &param.kind {
        ParamKind::Constant => ty,
        ParamKind::ConstArray(sizes) => {
            format!("&{}", sizes.iter().rev().fold(ty, |inner, size| format!("[{inner}; {size}]")))
        }
        _ => format!("&::brook::Stream<{ty}>"),
    };
    format!("{}: {ty}", name(&param.name))
}

fn structs(all: &Structs, text: &mut String) {
    for (at, definition) in all.0.iter().enumerate() {
        let own = name(&definition.name);
        let _ = writeln!(
            text,
            "/// The struct `{}`.\n#[repr(C)]\n#[derive(Clone, Copy, Debug, Default, PartialEq)]\npub struct {own} {{",
            definition.name
        );
        for (member, ty) in &definition.members {
            let _ = writeln!(
                text,
                "    /// Member `{member}`.\n    pub {}: {},",
                name(member),
                element(all, *ty, "")
            );
        }
        let _ = writeln!(
            text,
            "}}\n\n// SAFETY: a struct of C, of numbers, with all its members.\nunsafe impl ::brook::Element for {own} {{\n    \
             fn members() -> Vec<::brook::Member> {{\n        vec!["
        );
        for leaf in all.leaves(Type::Struct(at as u16)) {
            let path: Vec<String> = leaf.path.split('.').map(name).collect();
            let _ = writeln!(
                text,
                "            ::brook::Member {{ scalar: ::brook::Scalar::{:?}, width: {}, offset: ::core::mem::offset_of!({own}, {}) }},",
                leaf.scalar,
                leaf.width,
                path.join(".")
            );
        }
        text.push_str("        ]\n    }\n}\n\n");
    }
}

fn entry(entry: &Entry) -> String {
    match entry {
        Entry::Constant(at, usage) => format!("::brook::Entry::Constant({at}, ::brook::Usage::{usage:?})"),
        Entry::ConstArray(at) => format!("::brook::Entry::ConstArray({at})"),
        Entry::Input(at, member, access) => {
            format!("::brook::Entry::Input({at}, {member}, ::brook::Access::{access:?})")
        }
        Entry::Output(at, member, access) => {
            format!("::brook::Entry::Output({at}, {member}, ::brook::Access::{access:?})")
        }
    }
}

fn technique(kernel: &str, technique: &Technique) -> String {
    let pass = |(number, pass): (usize, &Pass)| {
        let entries: Vec<String> = pass.entries.iter().map(entry).collect();
        format!(
            "::brook::Pass {{ name: \"{kernel}, pass {number}\".to_owned(), image: {:?}.to_owned(), compute: {}, entries: vec![{}] }}",
            pass.text,
            pass.compute,
            entries.join(", ")
        )
    };
    let passes: Vec<String> = technique.passes.iter().enumerate().map(pass).collect();
    format!(
        "::brook::Technique {{ translation: {}, passes: vec![{}] }}",
        technique.translation,
        passes.join(", ")
    )
}

/// What the runtime knows about a kernel.
fn info(kernel: &Kernel, symbol: Option<&str>) -> String {
    let k = &kernel.hir;
    let techniques: Vec<String> = kernel.techniques.iter().map(|t| technique(&k.name, t)).collect();
    let cal = if techniques.is_empty() {
        "None".to_owned()
    } else {
        format!("Some(::brook::Kernel::new(vec![{}]))", techniques.join(", "))
    };
    let shared = k.shared.as_ref().map_or(0, |s| s.count * 16);
    let group = k.group.map_or("None".to_owned(), |threads| format!("Some(({threads}, {shared}))"));
    let cpu = symbol.map_or("None".to_owned(), |s| format!("Some({s})"));
    let declared = symbol.map_or(String::new(), |s| {
        format!(
            "        unsafe extern \"C\" {{\n            fn {s}(call: *const ::brook::capi::types::CpuCall, begin: usize, end: usize);\n        }}\n"
        )
    });
    format!(
        "{declared}        static KERNEL: ::std::sync::LazyLock<::brook::KernelInfo> = ::std::sync::LazyLock::new(|| ::brook::KernelInfo {{\n            \
         name: \"{}\",\n            cal: {cal},\n            cpu: {cpu},\n            reduce: {},\n            group: {group},\n        }});\n",
        k.name, k.reduce
    )
}

/// Functions of a kernel: for all positions, and in `on` for some; of reductions in `value` one that gives a value.
fn functions(kernel: &Kernel, all: &Structs, symbol: Option<&str>, file: &str) -> [String; 3] {
    let k = &kernel.hir;
    let own = name(&k.name);
    let list = |up: &str| k.params.iter().map(|p| parameter(all, p, up)).collect::<Vec<_>>();
    let names: Vec<String> = k.params.iter().map(|p| name(&p.name)).collect();
    let pushes: String = k
        .params
        .iter()
        .zip(&names)
        .map(|(param, name)| match &param.kind {
            ParamKind::Constant => format!(".constant(&{name})"),
            ParamKind::ConstArray(sizes) => {
                format!(".array({name}{})", ".as_flattened()".repeat(sizes.len() - 1))
            }
            ParamKind::Input => format!(".input({name})"),
            ParamKind::Gather(_) => format!(".gather({name})"),
            ParamKind::Output => format!(".output({name})"),
            ParamKind::Scatter(_) => format!(".scatter({name})"),
            ParamKind::Reduce => format!(".reduce({name})"),
        })
        .collect();
    let errors = "///\n/// # Errors\n/// As `brook::Call::run`.\n";
    let plain = format!(
        "/// The kernel `{}` of `{file}`.\n{errors}#[allow(clippy::too_many_arguments)]\npub fn {own}({}) -> ::brook::Result<()> {{\n    \
         on::{own}(::brook::Positions::default(), {})\n}}\n\n",
        k.name,
        list("").join(", "),
        names.join(", ")
    );
    let on = format!(
        "/// The kernel `{}` on some positions.\n{errors}#[allow(clippy::too_many_arguments)]\npub fn {own}(__positions: ::brook::Positions, {}) -> \
         ::brook::Result<()> {{\n{}        // SAFETY: the arguments are those of the kernel, which the same compiler read.\n        \
         unsafe {{ ::brook::Call::new(&KERNEL) }}{pushes}.run(__positions)\n}}\n\n",
        k.name,
        list("super::").join(", "),
        info(kernel, symbol)
    );
    let mut value = String::new();
    if let Some(result) = k.params.iter().position(|p| p.kind == ParamKind::Reduce) {
        let ty = element(all, k.params[result].ty, "super::");
        let mut given = list("super::");
        given.remove(result);
        let streams: Vec<String> = names
            .iter()
            .enumerate()
            .map(|(at, n)| if at == result { "&__result".to_owned() } else { n.clone() })
            .collect();
        value = format!(
            "/// The reduction `{}` to one value.\n{errors}pub fn {own}({}) -> ::brook::Result<{ty}> {{\n    \
             let __result = ::brook::Stream::<{ty}>::new(&[1])?;\n    super::{own}({})?;\n    Ok(__result.to_vec()?[0])\n}}\n\n",
            k.name,
            given.join(", "),
            streams.join(", ")
        );
    }
    [plain, on, value]
}

/// The module of a compiled file. `symbol` names CPU versions, if there are any.
pub(crate) fn module(output: &Output, file: &str, symbol: Option<&dyn Fn(&str) -> String>) -> String {
    let mut text = format!("// Written by recal-brook-build from {file}.\n\n");
    structs(&output.structs, &mut text);
    let (mut on, mut value) = (String::new(), String::new());
    for kernel in output.kernels.iter().filter(|k| k.hir.is_entry()) {
        let symbol = symbol.map(|s| s(&kernel.hir.name));
        let [plain, some, one] = functions(kernel, &output.structs, symbol.as_deref(), file);
        text.push_str(&plain);
        on.push_str(&some);
        value.push_str(&one);
    }
    let _ = write!(text, "/// Kernels on some positions.\npub mod on {{\n{on}}}\n\n");
    let _ = write!(text, "/// Reductions to one value.\npub mod value {{\n{value}}}\n");
    text
}
