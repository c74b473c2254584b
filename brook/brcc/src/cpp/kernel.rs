//! A kernel's CPU version: the body as a function of one element, and the loop over the elements.
//!
//! A body with barriers is a coroutine without a stack: its variables are members of a struct of each thread of the group, at a
//! barrier it keeps them and returns, and a `switch` around the body goes on behind it. So one thread of the system runs a whole
//! group, part by part, whatever branches and loops the barriers stand in.

use std::fmt::Write as _;

use super::expr::Writer;
use super::{element_type, kernel_type, name};
use crate::hir::{self, Kernel, Param, ParamKind};
use crate::types::{Structs, Type};

/// The functions `__k_cpu_inner` and, of kernels that hosts call, `__k_cpu`.
pub(crate) fn cpu_kernel(kernels: &[Kernel], at: usize, structs: &Structs) -> String {
    let kernel = &kernels[at];
    let stops = hir::contains_sync(&kernel.body);
    let mut writer =
        Writer { kernels, kernel, structs, out: String::new(), indent: 0, stops: stops.then_some(0) };
    let mut head = format!(
        "static inline {} __{}_cpu_inner(::brook::cpu::Thread& __t",
        kernel_type(structs, kernel.result),
        kernel.name
    );
    if stops {
        writer.out.push_str(&members(&writer, structs));
        let _ = write!(head, ", __{}_cpu_item& __s", kernel.name);
    }
    for param in &kernel.params {
        let ty = kernel_type(structs, param.ty);
        let element = element_type(structs, param.ty);
        let text = match param.kind {
            ParamKind::Input if stops => format!("const ::brook::cpu::Array<{element} >& "),
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
    if stops {
        // A copy, which compilers keep in registers between two barriers.
        let _ = writeln!(
            writer.out,
            "    __{}_cpu_item __l = __s;\n    switch (__l.__at) {{\n    default:",
            kernel.name
        );
        for (at, param) in kernel.params.iter().enumerate() {
            if param.kind == ParamKind::Input {
                let value = input(param, &name(&param.name));
                let _ = writeln!(writer.out, "    {} = {value};", writer.var(at));
            }
        }
    }
    // The body is a block of its own, as it is in C: locals may be named as nothing else is.
    writer.statements(&kernel.body);
    writer.out.push_str(if stops { "    }\n    __s.__at = -1;\n}\n\n" } else { "}\n\n" });
    let mut out = writer.out;
    if kernel.is_entry() {
        driver(kernel, structs, stops, &mut out);
    }
    out
}

/// The struct of what a thread keeps at a barrier.
fn members(writer: &Writer<'_>, structs: &Structs) -> String {
    let kernel = writer.kernel;
    let mut text = format!("struct __{}_cpu_item {{\n    int __at;\n", kernel.name);
    for (id, var) in kernel.vars.iter().enumerate() {
        if let Some(member) = writer.var(id).strip_prefix("__l.") {
            let _ = writeln!(text, "    {} {member};", kernel_type(structs, var.ty));
        }
    }
    text + "};\n\n"
}

/// This thread's element of an input, as kernels compute with it.
fn input(param: &Param, array: &str) -> String {
    if matches!(param.ty, Type::Struct(_)) {
        format!("{array}.input(__t)")
    } else {
        format!("::brook::cpu::wide({array}.input(__t))")
    }
}

fn driver(kernel: &Kernel, structs: &Structs, stops: bool, out: &mut String) {
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
    let mut args = String::from("__t");
    if stops {
        args.push_str(", __item");
    }
    let mut results = String::new();
    let mut stores = String::new();
    for (at, param) in kernel.params.iter().enumerate() {
        let _ = match param.kind {
            ParamKind::Input if !stops => write!(args, ", {}", input(param, &format!("__p{at}"))),
            ParamKind::Output => {
                let ty = kernel_type(structs, param.ty);
                let _ = writeln!(results, "        {ty} __o{at} = ::brook::cpu::zero<{ty} >();");
                let _ = writeln!(stores, "        ::brook::cpu::store(__p{at}.output(__t), __o{at});");
                write!(args, ", __o{at}")
            }
            _ => write!(args, ", __p{at}"),
        };
    }
    let name = &kernel.name;
    let Some(group) = kernel.group else {
        let _ = writeln!(
            out,
            "    for (size_t __i = __begin; __i < __end; ++__i) {{\n        __t.seek(__i);\n\
             {results}        __{name}_cpu_inner({args});\n{stores}    }}\n}}\n"
        );
        return;
    };
    // Groups have no results but what they scatter; positions have as many axes as it.
    let axes =
        kernel.params.iter().find_map(|p| if let ParamKind::Scatter(n) = p.kind { Some(n) } else { None });
    let axes = axes.unwrap_or(1);
    if stops {
        let _ = writeln!(
            out,
            "    ::brook::cpu::Items<__{name}_cpu_item> __items({group}u);\n\
             \x20   for (size_t __g = __begin; __g < __end; ++__g) {{\n\
             \x20       unsigned int __left = {group}u;\n\
             \x20       __items.restart();\n\
             \x20       while (__left > 0) {{\n\
             \x20           __t.seek_in_group(__g, {axes});\n\
             \x20           for (unsigned int __n = 0; __n < {group}u; ++__n, __t.next_in_group()) {{\n\
             \x20               __{name}_cpu_item& __item = __items[__n];\n\
             \x20               if (__item.__at >= 0) {{\n\
             \x20                   __{name}_cpu_inner({args});\n\
             \x20                   __left -= __item.__at < 0 ? 1u : 0u;\n\
             \x20               }}\n\
             \x20           }}\n\
             \x20       }}\n\
             \x20   }}\n}}\n"
        );
    } else {
        let _ = writeln!(
            out,
            "    for (size_t __g = __begin; __g < __end; ++__g) {{\n        __t.seek_in_group(__g, {axes});\n\
             \x20       for (unsigned int __n = 0; __n < {group}u; ++__n, __t.next_in_group()) {{\n\
             \x20           __{name}_cpu_inner({args});\n        }}\n    }}\n}}\n"
        );
    }
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
