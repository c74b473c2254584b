//! Programs of the cases: in C++ what calls the kernels, in C what they should give.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use brcc::hir::{Kernel, Param, ParamKind};
use brcc::types::{Scalar, Structs, Type};

use crate::build::{self, BACKENDS, Code, Tools};
use crate::cases::{self, Case};

/// What a program printed: for each result an error code and bytes.
pub type Output = BTreeMap<String, (i32, Vec<u8>)>;

/// The cases of `kernels/`.
pub struct Kernels {
    pub cases: Vec<Case>,
    parsed: Vec<Result<Parsed, String>>,
}

struct Parsed {
    kernel: Kernel,
    structs: Structs,
}

/// Extents of an argument, x first.
type Dims = Vec<u32>;

fn scalar_name(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::UChar => "unsigned char",
        Scalar::UShort => "unsigned short",
        Scalar::UInt => "unsigned int",
        other => other.name(),
    }
}

fn type_name(structs: &Structs, ty: Type) -> String {
    match ty {
        Type::Vector(scalar, 1) => scalar_name(scalar).to_owned(),
        other => structs.show(other),
    }
}

impl Kernels {
    /// Reads and compiles the cases, each alone.
    pub fn load(cases: Vec<Case>) -> Kernels {
        let parse = |case: &Case| {
            let options = cases::options(case)?;
            let output = brcc::compile(&case.source, &options)
                .map_err(|e| brcc::diagnostic::render(&e, &case.source, "case.br"))?;
            let kernel = output.kernels.iter().rev().find(|k| k.hir.is_entry());
            let kernel = kernel.ok_or("no kernel that a host can call")?.hir.clone();
            Ok(Parsed { kernel, structs: output.structs })
        };
        let parsed = cases.iter().map(parse).collect();
        Kernels { cases, parsed }
    }

    fn good(&self) -> impl Iterator<Item = (&Case, &Parsed)> {
        self.cases.iter().zip(&self.parsed).filter_map(|(c, p)| Some((c, p.as_ref().ok()?)))
    }

    /// Compiles the program of all kernels.
    pub fn build(&self, tools: &Tools) -> Result<(), String> {
        let mut units: BTreeMap<String, Vec<(&Case, &Parsed)>> = BTreeMap::new();
        for (case, parsed) in self.good() {
            // Options are those of a file: what differs is compiled apart.
            let flags: Vec<&str> =
                case.words.iter().filter(|w| w.starts_with('-')).map(String::as_str).collect();
            let flags: String = flags.concat().chars().filter(char::is_ascii_alphanumeric).collect();
            units.entry(format!("{}_{flags}", case.file)).or_default().push((case, parsed));
        }
        let mut commands = Vec::new();
        let mut objects: Vec<PathBuf> = Vec::new();
        let mut table = String::from("#include <stdio.h>\n");
        let mut calls = String::new();
        for (unit, list) in &units {
            let prefix = tools.scratch.join(unit);
            let source: String = list.iter().map(|(c, _)| c.source.as_str()).collect();
            let mut options = cases::options(list[0].0)?;
            options.prefix = prefix.display().to_string();
            let output = brcc::compile(&source, &options)
                .map_err(|e| format!("{unit}: {}", brcc::diagnostic::render(&e, &source, unit)))?;
            let mut host = format!("#include \"{unit}.h\"\n#include \"fill.h\"\n");
            for (case, parsed) in list {
                host.push_str(&host_function(case, parsed)?);
                let function = function_name(case);
                let _ = writeln!(table, "void {function}();");
                let _ = writeln!(calls, "    {function}();\n    fflush(stdout);");
            }
            let files = [
                (".cpp", &output.source),
                (".h", &output.header),
                ("_gpu.h", &output.gpu),
                ("_host.cpp", &host),
            ];
            for (suffix, text) in files {
                write(&tools.scratch.join(format!("{unit}{suffix}")), text)?;
            }
            for part in [".cpp", "_host.cpp"] {
                let object = tools.scratch.join(format!("{unit}{part}.o"));
                commands.push(tools.compile(
                    &tools.scratch.join(format!("{unit}{part}")),
                    &object,
                    if part == ".cpp" { Code::Written } else { Code::Tests },
                ));
                objects.push(object);
            }
        }
        write(
            &tools.scratch.join("main.cpp"),
            &format!("{table}int main()\n{{\n{calls}    return 0;\n}}\n"),
        )?;
        let object = tools.scratch.join("main.o");
        commands.push(tools.compile(&tools.scratch.join("main.cpp"), &object, Code::Tests));
        objects.push(object);
        build::run_all(commands)?;
        build::run(&mut tools.link(&objects, &tools.scratch.join("kernels"))).map(drop)
    }

    /// Runs all kernels on a back end.
    pub fn run(&self, tools: &Tools, backend: usize) -> Result<Output, String> {
        let mut command = BACKENDS[backend].command(&tools.scratch.join("kernels"));
        let done = command.output().map_err(|e| format!("{command:?}: {e}"))?;
        let mut output = read(&String::from_utf8_lossy(&done.stdout));
        if !done.status.success() {
            let said =
                format!("the program ended with {}: {}", done.status, String::from_utf8_lossy(&done.stderr));
            output.insert("!".to_owned(), (0, said.into_bytes()));
        }
        Ok(output)
    }

    /// What plain C gives.
    pub fn expected(&self, tools: &Tools) -> Result<Output, String> {
        let mut text = String::from(C_PRELUDE);
        let mut calls = String::new();
        for (case, parsed) in self.good() {
            text.push_str(&reference_function(case, parsed)?);
            let _ = writeln!(calls, "    {}();", function_name(case));
        }
        let _ = write!(text, "int main(void)\n{{\n{calls}    return 0;\n}}\n");
        let (source, program) = (tools.scratch.join("expected.c"), tools.scratch.join("expected"));
        write(&source, &text)?;
        let mut gcc = Command::new("gcc");
        gcc.args(["-std=c99", "-O1", "-w", "-ffp-contract=off", "-fwrapv"])
            .arg(&source)
            .arg("-o")
            .arg(&program)
            .arg("-lm");
        gcc.arg("-I").arg(cases::folder().join("suite"));
        build::run(&mut gcc)?;
        Ok(read(&build::run(&mut Command::new(&program))?))
    }

    /// Compares the results of one case.
    pub fn compare(&self, at: usize, expected: &Output, found: &Output) -> Result<(), String> {
        let case = &self.cases[at];
        let parsed = self.parsed[at].as_ref().map_err(Clone::clone)?;
        let tolerance: f64 = case.word("tol").map_or(0.0, |t| t.parse().unwrap_or(0.0));
        let code: i32 = case.word("code").map_or(0, |t| t.parse().unwrap_or(-1));
        let mut compared = 0;
        for param in outputs(&parsed.kernel) {
            let key = format!("{}:{}", case.name, param.name);
            let (_, want) = expected.get(&key).ok_or_else(|| format!("C gives no `{key}`"))?;
            let Some((status, have)) = found.get(&key) else {
                let reason =
                    found.get("!").map_or_else(String::new, |(_, t)| String::from_utf8_lossy(t).into_owned());
                return Err(format!("no result `{key}`; {reason}"));
            };
            if *status != code {
                return Err(format!("`{}` has error {status}, not {code}", param.name));
            }
            let scalar = parsed.structs.leaves(param.ty)[0].scalar;
            difference(scalar, want, have, tolerance).map_err(|e| format!("{}: {e}", param.name))?;
            compared += 1;
        }
        if compared == 0 { Err("nothing was compared".to_owned()) } else { Ok(()) }
    }
}

/// The first number that differs.
fn difference(scalar: Scalar, want: &[u8], have: &[u8], tolerance: f64) -> Result<(), String> {
    if want.len() != have.len() {
        return Err(format!("{} bytes, not {}", have.len(), want.len()));
    }
    let size = scalar.bytes();
    for (at, (w, h)) in want.chunks(size).zip(have.chunks(size)).enumerate() {
        if w == h {
            continue;
        }
        let number = |b: &[u8]| match (scalar, size) {
            (Scalar::Double, _) => f64::from_le_bytes(b.try_into().unwrap_or_default()),
            (Scalar::Float, _) => f64::from(f32::from_le_bytes(b.try_into().unwrap_or_default())),
            (Scalar::Char | Scalar::UChar, _) => f64::from(b[0]),
            (_, 2) => f64::from(u16::from_le_bytes(b.try_into().unwrap_or_default())),
            _ => f64::from(i32::from_le_bytes(b.try_into().unwrap_or_default())),
        };
        let (x, y) = (number(w), number(h));
        let both_nan = x.is_nan() && y.is_nan();
        if !both_nan
            && ((x - y).abs() > tolerance * x.abs().max(1.0) || tolerance == 0.0 || x.is_nan() != y.is_nan())
        {
            return Err(format!("number {at} is {y} ({h:02x?}), not {x} ({w:02x?})"));
        }
    }
    Ok(())
}

fn write(path: &std::path::Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}

fn read(text: &str) -> Output {
    let mut output = Output::new();
    for line in text.lines() {
        let mut words = line.split(' ');
        let (Some(name), Some(code), Some(hex)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let bytes = (0..hex.len() / 2)
            .filter_map(|i| u8::from_str_radix(hex.get(2 * i..2 * i + 2)?, 16).ok())
            .collect();
        output.insert(name.to_owned(), (code.parse().unwrap_or(-1), bytes));
    }
    output
}

fn function_name(case: &Case) -> String {
    format!("case_{}", case.name.replace(['/', '-'], "_"))
}

fn outputs(kernel: &Kernel) -> impl Iterator<Item = &Param> {
    kernel
        .params
        .iter()
        .filter(|p| matches!(p.kind, ParamKind::Output | ParamKind::Scatter(_) | ParamKind::Reduce))
}

/// Extents of an argument: its own (`name=WxH`), or those of its kind.
fn dims(case: &Case, param: &Param) -> Dims {
    let parse = |text: &str| text.split('x').filter_map(|n| n.parse().ok()).collect::<Dims>();
    if let Some(own) = case.word(&param.name) {
        return parse(own);
    }
    let shape = case.word("shape").map_or_else(|| vec![7, 5], parse);
    match &param.kind {
        ParamKind::Gather(1) => vec![11],
        ParamKind::Gather(2) => vec![6, 4],
        ParamKind::Gather(_) => vec![4, 3, 2],
        ParamKind::ConstArray(dims) => vec![dims.iter().product()],
        ParamKind::Constant => vec![1],
        ParamKind::Reduce => vec![1; shape.len()],
        _ => shape,
    }
}

/// Statements that fill `array`, the same in both languages.
fn fill(case: &Case, structs: &Structs, param: &Param, number: usize, array: &str, count: u32) -> String {
    let mut text = format!("    for (int i = 0; i < {count}; ++i) {{\n");
    for (leaf_number, leaf) in structs.leaves(param.ty).iter().enumerate() {
        let ty = scalar_name(leaf.scalar);
        let seed = number + 3 * leaf_number;
        let value = case.word(&format!("fill.{}", param.name)).map_or_else(
            || match leaf.scalar {
                Scalar::Float | Scalar::Double => {
                    let by = if leaf.scalar == Scalar::Float { "8.0f" } else { "8.0" };
                    if case.has("unit") {
                        format!("fill_number(i, c, {seed}, 61) / 32.0f - 0.9375f")
                    } else if case.has("pos") {
                        format!("(fill_number(i, c, {seed}, 61) + 1) / {by}")
                    } else {
                        format!("(fill_number(i, c, {seed}, 61) - 30) / {by}")
                    }
                }
                Scalar::UChar | Scalar::UShort | Scalar::UInt => format!("fill_number(i, c, {seed}, 41)"),
                _ if case.has("pos") => format!("fill_number(i, c, {seed}, 41) + 1"),
                _ => format!("fill_number(i, c, {seed}, 41) - 20"),
            },
            str::to_owned,
        );
        let place =
            if leaf.path.is_empty() { format!("{array}[i]") } else { format!("{array}[i].{}", leaf.path) };
        let _ = writeln!(
            text,
            "        for (int c = 0; c < {}; ++c) (({ty}*)&{place})[c] = ({ty})({value});",
            leaf.width
        );
    }
    text + "    }\n"
}

fn host_function(case: &Case, parsed: &Parsed) -> Result<String, String> {
    let (kernel, structs) = (&parsed.kernel, &parsed.structs);
    let mut text = format!("void {}()\n{{\n", function_name(case));
    let mut args = Vec::new();
    let mut after = String::new();
    let by_value = case.has("scalar");
    for (number, param) in kernel.params.iter().enumerate() {
        let (name, ty) = (&param.name, type_name(structs, param.ty));
        let dims = dims(case, param);
        let count: u32 = dims.iter().product();
        let fill = fill(case, structs, param, number, &format!("{name}_data"), count);
        let _ = writeln!(text, "    static {ty} {name}_data[{count}];");
        match &param.kind {
            ParamKind::Constant => {
                text.push_str(&fill);
                args.push(format!("{name}_data[0]"));
                continue;
            }
            ParamKind::ConstArray(sizes) => {
                text.push_str(&fill);
                let rest: String = sizes[1..].iter().map(|d| format!("[{d}]")).collect();
                args.push(if rest.is_empty() {
                    format!("{name}_data")
                } else {
                    format!("({ty} (*){rest}){name}_data")
                });
                continue;
            }
            ParamKind::Reduce if by_value => {
                args.push(format!("{name}_data[0]"));
                let _ = writeln!(
                    after,
                    "    show(\"{}:{name}\", 0, {name}_data, sizeof {name}_data);",
                    case.name
                );
                continue;
            }
            _ => {}
        }
        let list: Vec<String> = dims.iter().map(u32::to_string).collect();
        let _ = writeln!(text, "    unsigned int {name}_dims[] = {{{}}};", list.join(", "));
        let _ = writeln!(text, "    ::brook::Stream<{ty} > {name}({}, {name}_dims);", dims.len());
        args.push(name.clone());
        let is_output = matches!(param.kind, ParamKind::Output | ParamKind::Reduce);
        if !is_output || case.word("size").is_some() {
            let _ = writeln!(text, "{fill}    {name}.read({name}_data);");
        }
        if is_output || matches!(param.kind, ParamKind::Scatter(_)) {
            let _ = writeln!(
                after,
                "    memset((void*){name}_data, 0, sizeof {name}_data);\n    int {name}_code = {name}.error();\n    \
                 {name}.write({name}_data);\n    show(\"{}:{name}\", {name}_code ? {name}_code : {name}.error(), {name}_data, sizeof {name}_data);",
                case.name
            );
        }
    }
    let four = |key: &str, rest: u32| {
        case.word(key).map(|t| {
            let mut list: Vec<String> = t.split(',').map(|n| format!("{n}u")).collect();
            list.resize(4, format!("{rest}u"));
            list.join(", ")
        })
    };
    if let Some(offset) = four("offset", 0) {
        let _ = writeln!(text, "    {}.domainOffset(uint4({offset}));", kernel.name);
    }
    if let Some(size) = four("size", 1) {
        let _ = writeln!(text, "    {}.domainSize(uint4({size}));", kernel.name);
    }
    let _ = writeln!(text, "    {}({});\n{after}}}\n", kernel.name, args.join(", "));
    Ok(text)
}

const C_PRELUDE: &str = r#"
#include <math.h>
#include <stdint.h>
#include "fill.h"
typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned int uint;
#define VECTORS(T, N) typedef struct { T x, y; } N##2; typedef struct { T x, y, z; } N##3; typedef struct { T x, y, z, w; } N##4;
VECTORS(char, char) VECTORS(uchar, uchar) VECTORS(short, short) VECTORS(ushort, ushort) VECTORS(int, int) VECTORS(uint, uint)
VECTORS(float, float) typedef struct { double x, y; } double2;
static int clampi(int v, int low, int high) { return v < low ? low : v > high ? high : v; }
"#;

fn reference_function(case: &Case, parsed: &Parsed) -> Result<String, String> {
    let (kernel, structs) = (&parsed.kernel, &parsed.structs);
    let mut text = String::new();
    for definition in &structs.0 {
        let _ = writeln!(text, "#ifndef STRUCT_{0}\n#define STRUCT_{0}\ntypedef struct {{", definition.name);
        for (name, ty) in &definition.members {
            let _ = writeln!(text, "    {} {name};", type_name(structs, *ty));
        }
        let _ = writeln!(text, "}} {};\n#endif", definition.name);
    }
    let _ = writeln!(text, "static void {}(void)\n{{", function_name(case));
    let ruler = kernel.params.iter().find(|p| p.kind == ParamKind::Output).or_else(|| outputs(kernel).next());
    let rule = ruler.map(|p| dims(case, p)).ok_or("no output")?;
    let at = |d: &Dims, i: usize| d.get(i).copied().unwrap_or(1);
    let (mut before, mut after, mut shown) = (String::new(), String::new(), String::new());
    for (number, param) in kernel.params.iter().enumerate() {
        let (name, ty) = (&param.name, type_name(structs, param.ty));
        let dims = dims(case, param);
        let count: u32 = dims.iter().product();
        let is_output = matches!(param.kind, ParamKind::Output | ParamKind::Reduce);
        let array = match param.kind {
            ParamKind::Input | ParamKind::Output | ParamKind::Constant | ParamKind::Reduce => {
                format!("{name}_data")
            }
            _ => name.clone(),
        };
        let _ = writeln!(text, "    static {ty} {array}[{count}];");
        if !is_output || case.word("size").is_some() {
            text.push_str(&fill(case, structs, param, number, &array, count));
        }
        if !matches!(param.kind, ParamKind::Constant) {
            let _ = writeln!(
                text,
                "    const int {name}_w = {}, {name}_h = {}, {name}_d = {}, {name}_n = {count};",
                at(&dims, 0),
                at(&dims, 1),
                at(&dims, 2)
            );
        }
        // Repeated or skipped over, axis by axis.
        let scaled = format!(
            "x * {0} / {3} + {0} * (y * {1} / {4} + {1} * (z * {2} / {5}))",
            at(&dims, 0),
            at(&dims, 1),
            at(&dims, 2),
            at(&rule, 0),
            at(&rule, 1),
            at(&rule, 2)
        );
        let _ = match param.kind {
            ParamKind::Constant => writeln!(text, "    const {ty} {name} = {array}[0];"),
            ParamKind::Input if !kernel.reduce => {
                writeln!(before, "        {ty} {name} = {array}[{scaled}];")
            }
            ParamKind::Output => {
                let _ = writeln!(after, "        {array}[i] = {name};");
                writeln!(before, "        {ty} {name}; memset(&{name}, 0, sizeof {name});")
            }
            _ => Ok(()),
        };
        if is_output || matches!(param.kind, ParamKind::Scatter(_)) {
            let _ = writeln!(shown, "    show(\"{}:{name}\", 0, {array}, sizeof {array});", case.name);
        }
    }
    let range = |key: &str, axis: usize, otherwise: u32| {
        case.word(key).and_then(|t| t.split(',').nth(axis)?.parse().ok()).unwrap_or(otherwise)
    };
    let axis = |name: &str, i: usize| {
        let first = range("offset", i, 0);
        let end = first + range("size", i, at(&rule, i) - first);
        format!("for (int {name} = {first}; {name} < {end}; ++{name}) ")
    };
    let _ = writeln!(text, "    {}{}{}{{", axis("z", 2), axis("y", 1), axis("x", 0));
    let _ =
        writeln!(text, "        const int i = x + {} * (y + {} * z); (void)i;", at(&rule, 0), at(&rule, 1));
    if kernel.reduce {
        let find = |kind: ParamKind| {
            kernel.params.iter().find(|p| p.kind == kind).ok_or("a reduction without streams")
        };
        let (input, output) = (find(ParamKind::Input)?, find(ParamKind::Reduce)?);
        let (from, ty) = (dims(case, input), type_name(structs, input.ty));
        let factor: Vec<u32> = (0..3).map(|i| at(&from, i) / at(&rule, i)).collect();
        let _ = write!(
            text,
            "        {ty} {c}; int first = 1;\n\
             \x20       for (int bz = 0; bz < {fz}; ++bz) for (int by = 0; by < {fy}; ++by) for (int bx = 0; bx < {fx}; ++bx) {{\n\
             \x20           {ty} {a} = {a}_data[x * {fx} + bx + {w} * (y * {fy} + by + {h} * (z * {fz} + bz))];\n\
             \x20           if (first) {{ {c} = {a}; first = 0; }} else {{\n{code}            }}\n        }}\n        {c}_data[i] = {c};\n",
            c = output.name,
            a = input.name,
            fx = factor[0],
            fy = factor[1],
            fz = factor[2],
            w = at(&from, 0),
            h = at(&from, 1),
            code = case.reference,
        );
    } else {
        let _ = write!(text, "{before}{}{after}", case.reference);
    }
    let _ = write!(text, "    }}\n{shown}}}\n");
    Ok(text)
}
