//! A kernel's CPU version: the body as a function of one element, and the loop over the elements.

use std::fmt::Write as _;

use super::expr::Writer;
use super::{element_type, kernel_type, name};
use crate::hir::{Kernel, ParamKind};
use crate::types::{Structs, Type};

/// The functions `__k_cpu_inner` and, of kernels that hosts call, `__k_cpu`.
pub(crate) fn cpu_kernel(kernels: &[Kernel], at: usize, structs: &Structs) -> String {
    let kernel = &kernels[at];
    let mut writer = Writer { kernels, kernel, structs, out: String::new(), indent: 0 };
    let mut head = format!(
        "static inline {} __{}_cpu_inner(::brook::cpu::Thread& __t",
        kernel_type(structs, kernel.result),
        kernel.name
    );
    for param in &kernel.params {
        let ty = kernel_type(structs, param.ty);
        let element = element_type(structs, param.ty);
        let text = match param.kind {
            // By value: a variable may be an argument and take a result of one call.
            ParamKind::Input | ParamKind::Constant => format!("const {ty} "),
            ParamKind::Output | ParamKind::Reduce => format!("{ty}& "),
            ParamKind::Gather(_) => format!("const ::brook::cpu::Array<{element} >& "),
            ParamKind::Scatter(_) => format!("::brook::cpu::Array<{element} >& "),
            ParamKind::ConstArray(_) => format!("const {element}* "),
        };
        let _ = write!(head, ", {text}{}", name(&param.name));
    }
    let _ = writeln!(writer.out, "{head})");
    writer.out.push_str("{\n    (void)__t;\n");
    for param in &kernel.params {
        let _ = writeln!(writer.out, "    (void){};", name(&param.name));
    }
    writer.indent = 1;
    // The body is a block of its own, as it is in C: locals may be named as nothing else is.
    writer.statements(&kernel.body);
    writer.out.push_str("}\n\n");
    let mut out = writer.out;
    if kernel.is_entry() {
        driver(kernel, structs, &mut out);
    }
    out
}

fn driver(kernel: &Kernel, structs: &Structs, out: &mut String) {
    let _ = writeln!(
        out,
        "static void __{}_cpu(const brook_cpu_call* __c, size_t __begin, size_t __end)\n{{\n    ::brook::cpu::Thread __t(__c);",
        kernel.name
    );
    for (at, param) in kernel.params.iter().enumerate() {
        let element = element_type(structs, param.ty);
        let text = match param.kind {
            ParamKind::Constant => {
                format!(
                    "const {0} __p{at} = ::brook::cpu::wide(*static_cast<const {element}*>(__c->arrays[{at}].data));",
                    kernel_type(structs, param.ty)
                )
            }
            ParamKind::ConstArray(_) => {
                format!("const {element}* __p{at} = static_cast<const {element}*>(__c->arrays[{at}].data);")
            }
            _ => format!("::brook::cpu::Array<{element} > __p{at}(__t, {at});"),
        };
        let _ = writeln!(out, "    {text}");
    }
    if kernel.reduce {
        reduction(kernel, structs, out);
        return;
    }
    let group = kernel.group.is_some();
    out.push_str("    for (size_t __i = __begin; __i < __end; ++__i) {\n");
    out.push_str(if group { "        __t.seek_in_group(__i);\n" } else { "        __t.seek(__i);\n" });
    let mut args = String::from("__t");
    let mut stores = String::new();
    for (at, param) in kernel.params.iter().enumerate() {
        let _ = match param.kind {
            ParamKind::Input if matches!(param.ty, Type::Struct(_)) => write!(args, ", __p{at}.input(__t)"),
            ParamKind::Input => write!(args, ", ::brook::cpu::wide(__p{at}.input(__t))"),
            ParamKind::Output => {
                let ty = kernel_type(structs, param.ty);
                let _ = writeln!(out, "        {ty} __o{at} = ::brook::cpu::zero<{ty} >();");
                let _ = writeln!(stores, "        ::brook::cpu::store(__p{at}.output(__t), __o{at});");
                write!(args, ", __o{at}")
            }
            _ => write!(args, ", __p{at}"),
        };
    }
    let _ = writeln!(out, "        __{}_cpu_inner({args});", kernel.name);
    out.push_str(&stores);
    if group {
        out.push_str("        __t.leave_group();\n");
    }
    out.push_str("    }\n}\n\n");
}

fn reduction(kernel: &Kernel, structs: &Structs, out: &mut String) {
    let find = |kind: ParamKind| kernel.params.iter().position(|p| p.kind == kind).unwrap_or(0);
    let (input, output) = (find(ParamKind::Input), find(ParamKind::Reduce));
    let ty = kernel_type(structs, kernel.params[input].ty);
    let args: Vec<String> = (0..kernel.params.len())
        .map(|at| match at {
            _ if at == input => format!("::brook::cpu::wide(__p{input}.block(__t, __n))"),
            _ if at == output => "__sum".to_owned(),
            _ => format!("__p{at}"),
        })
        .collect();
    let _ = write!(
        out,
        "    const size_t __count = __p{input}.block_size(__p{output});\n\
         \x20   for (size_t __i = __begin; __i < __end; ++__i) {{\n\
         \x20       __t.seek(__i);\n\
         \x20       {ty} __sum = ::brook::cpu::wide(__p{input}.block(__t, 0));\n\
         \x20       for (size_t __n = 1; __n < __count; ++__n) {{\n\
         \x20           __{}_cpu_inner(__t, {});\n",
        kernel.name,
        args.join(", ")
    );
    let _ = write!(
        out,
        "        }}\n        ::brook::cpu::store(__p{output}.output(__t), __sum);\n    }}\n}}\n\n"
    );
}
