//! brcc, the compiler of Brook+: C with streams and kernels to C++ and AMD IL.
//!
//! ```
//! let source = "kernel void sum(float a<>, float b<>, out float c<>) { c = a + b; }";
//! let output = brcc::compile(source, &brcc::Options::default()).unwrap();
//! let il = &output.kernels[0].techniques[0].passes[0].text;
//! assert!(il.contains("add r"));
//! assert!(output.header.contains("class __sum"));
//! ```
//!
//! The way down: [`lex`] makes tokens, [`parse`] syntax trees of the kernels, [`check`] kernels in which every name and type is
//! known ([`hir`]), [`il`] and the C++ writer code. Host code is copied, with changes where streams are declared. Nothing here
//! panics on wrong input, and findings are told together.

#![forbid(unsafe_code)]

pub mod ast;
pub mod check;
mod cpp;
pub mod diagnostic;
pub mod hir;
pub mod il;
pub mod lex;
pub mod parse;
pub mod preprocess;
pub mod rules;
pub mod types;

use std::fmt::Write as _;

use ast::Item;
use diagnostic::{Diagnostic, Report, Severity};

/// How to compile.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of the source, for line directives.
    pub source_name: String,
    /// What the names of the files begin with, folder and all.
    pub prefix: String,
    /// No conversion without a cast (`-a` turns it off).
    pub strong: bool,
    /// Gather arrays with sizes are streams as well (`-c`).
    pub no_constant_arrays: bool,
    /// Programs for long and three-dimensional streams too (`-r` turns it off).
    pub translation: bool,
    /// brcc reads the preprocessor lines (`-pp`).
    pub preprocess: bool,
    /// Macros (`-D`), with their values.
    pub defines: Vec<(String, String)>,
    /// Code for CAL (`-p cal`).
    pub cal: bool,
    /// Code for the CPU (`-p cpu`).
    pub cpu: bool,
    /// IL as lists of numbers (`-s`).
    pub as_chars: bool,
    /// Line directives (`-l`).
    pub line_directives: bool,
    /// Prototypes of host functions in the header (`-e`).
    pub prototypes: bool,
    /// Warnings up to this level are shown (`-w`); strong typing shows all.
    pub warning_level: u8,
    /// Warnings are errors (`-x`).
    pub warnings_are_errors: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            source_name: "kernels.br".to_owned(),
            prefix: "kernels".to_owned(),
            strong: true,
            no_constant_arrays: false,
            translation: true,
            preprocess: false,
            defines: Vec::new(),
            cal: true,
            cpu: true,
            as_chars: false,
            line_directives: false,
            prototypes: false,
            warning_level: 0,
            warnings_are_errors: false,
        }
    }
}

/// A compiled kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The checked kernel.
    pub hir: hir::Kernel,
    /// Its programs; none of kernels that hosts cannot call.
    pub techniques: Vec<il::Technique>,
}

/// A compiled file.
#[derive(Clone, Debug)]
pub struct Output {
    /// `P.cpp`
    pub source: String,
    /// `P.h`
    pub header: String,
    /// `P_gpu.h`
    pub gpu: String,
    /// The kernels.
    pub kernels: Vec<Kernel>,
    /// The structs that they use.
    pub structs: types::Structs,
    /// Warnings that are to be shown.
    pub warnings: Vec<Diagnostic>,
}

impl Output {
    /// The CPU versions of the kernels as a unit of C++ that needs nothing but `brook/CPU/kernel.h`. Those that hosts call are functions
    /// of C, of the type `brook_cpu_kernel`, with the names that `symbol` makes of theirs.
    pub fn cpu_unit(&self, symbol: impl Fn(&str) -> String) -> String {
        let kernels: Vec<hir::Kernel> = self.kernels.iter().map(|k| k.hir.clone()).collect();
        cpp::unit(&kernels, &self.structs, symbol)
    }
}

/// Stack of the thread that compiles: trees are as deep as the source nests.
const STACK: usize = 32 << 20;
/// Bytes of the programs of all kernels.
const PROGRAMS: usize = 16 << 20;
/// Longest source.
const LONGEST: usize = 4 << 20;

/// Compiles a file. The error is everything that is wrong with it.
pub fn compile(source: &str, options: &Options) -> Result<Output, Vec<Diagnostic>> {
    if source.len() > LONGEST {
        return Err(refused("the file has more than 4 MiB"));
    }
    let work = || compile_here(source, options);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(e) => Err(refused(&format!("no thread to compile in: {e}"))),
        }
    })
}

fn refused(message: &str) -> Vec<Diagnostic> {
    let mut report = Report::default();
    report.error("file", diagnostic::Span::default(), message);
    report.into_sorted()
}

/// What is shown of the findings, with `-w` and `-x`; true if some of it is an error.
fn judge(found: Vec<Diagnostic>, options: &Options) -> (Vec<Diagnostic>, bool) {
    let level = if options.strong { 3 } else { options.warning_level };
    let shown: Vec<Diagnostic> = found
        .into_iter()
        .filter(|d| !matches!(d.severity, Severity::Warning(l) if l > level))
        .map(|mut d| {
            if options.warnings_are_errors && !options.strong {
                d.severity = Severity::Error;
            }
            d
        })
        .collect();
    let failed = shown.iter().any(|d| d.severity == Severity::Error);
    (shown, failed)
}

fn compile_here(source: &str, options: &Options) -> Result<Output, Vec<Diagnostic>> {
    let mut report = Report::default();
    if !options.preprocess {
        return compile_text(source, options, report);
    }
    let expanded = preprocess::preprocess(source, &options.defines, &mut report);
    if expanded.text.len() > LONGEST {
        return Err(refused("the file has more than 4 MiB once its macros are replaced"));
    }
    // Those of the lines themselves have their places in the source; what follows is found in the text without macros.
    let lines = std::mem::take(&mut report);
    report.count(lines.errors());
    let in_source = |found: Vec<Diagnostic>| {
        let moved = found.into_iter().map(|d| Diagnostic { span: expanded.origin(d.span), ..d });
        let (more, failed) = judge(lines.into_sorted(), options);
        let mut all: Vec<Diagnostic> = moved.chain(more).collect();
        all.sort_by_key(|d| d.span);
        (all, failed)
    };
    match compile_text(&expanded.text, options, report) {
        Ok(mut output) => {
            let (warnings, failed) = in_source(std::mem::take(&mut output.warnings));
            output.warnings = warnings;
            if failed { Err(output.warnings) } else { Ok(output) }
        }
        Err(found) => Err(in_source(found).0),
    }
}

/// Compiles a text without macros; `report` may have counted errors already.
fn compile_text(source: &str, options: &Options, mut report: Report) -> Result<Output, Vec<Diagnostic>> {
    let tokens = lex::lex(source, &mut report);
    let file = parse::parse(source, &tokens, &mut report);
    let rules = check::Rules { strong: options.strong, no_constant_arrays: options.no_constant_arrays };
    let kernels = check::check(&file, rules, &mut report);
    let mut host = HostText::default();
    let parts = file.items.iter().filter_map(|i| match i {
        Item::Host(first, end) => Some(&tokens[*first..*end]),
        _ => None,
    });
    let functions = cpp::functions(source, parts, &file.structs);
    // Even of wrong kernels: a file's errors are told together.
    for item in &file.items {
        write_item(item, source, &tokens, &file, options, &kernels, &functions, &mut report, &mut host);
    }
    let mut compiled = Vec::new();
    let mut bytes = 0;
    if report.errors() == 0 {
        let unrolled: Vec<hir::Kernel> = kernels.iter().map(il::unroll).collect();
        for (at, kernel) in kernels.iter().enumerate() {
            let techniques = if options.cal && kernel.is_entry() {
                match il::compile(&unrolled, at, &file.structs, options.translation) {
                    Ok(techniques) => techniques,
                    Err(reason) => {
                        let span = kernel_span(&file, &kernel.name);
                        report.error("too-large", span, format!("the kernel is too large: {reason}"));
                        Vec::new()
                    }
                }
            } else {
                Vec::new()
            };
            bytes += techniques.iter().flat_map(|t| &t.passes).map(|p| p.text.len()).sum::<usize>();
            if bytes > PROGRAMS {
                let span = kernel_span(&file, &kernel.name);
                let message = format!("the programs of the kernels have more than {} MiB", PROGRAMS >> 20);
                report.error("too-large", span, message);
                break;
            }
            compiled.push(Kernel { hir: kernel.clone(), techniques });
        }
    }
    let (shown, failed) = judge(report.into_sorted(), options);
    if failed {
        return Err(shown);
    }
    Ok(assemble(options, source, &file, compiled, &host, shown))
}

fn kernel_span(file: &parse::File, name: &str) -> diagnostic::Span {
    let kernels = file.items.iter().filter_map(|i| if let Item::Kernel(k, _) = i { Some(k) } else { None });
    kernels.into_iter().find(|k| k.name.text == name).map_or_else(Default::default, |k| k.name.span)
}

/// The text of `P.cpp`.
#[derive(Default)]
struct HostText {
    all: String,
    /// Without kernels, for prototypes.
    own: String,
}

#[allow(clippy::too_many_arguments)]
fn write_item(
    item: &Item,
    source: &str,
    tokens: &[lex::Token],
    file: &parse::File,
    options: &Options,
    kernels: &[hir::Kernel],
    functions: &cpp::Functions,
    report: &mut Report,
    host: &mut HostText,
) {
    let line = |host: &mut HostText, span: diagnostic::Span| {
        if options.line_directives {
            let name = options.source_name.replace('\\', "\\\\").replace('"', "\\\"");
            let _ = writeln!(host.all, "\n#line {} \"{name}\"", diagnostic::position(source, span.start).0);
        }
    };
    match item {
        Item::Host(first, end) => {
            let part = &tokens[*first..*end];
            if part.is_empty() {
                return;
            }
            // Comments before the first token belong to the host as well.
            let from = if *first == 0 { 0 } else { tokens[first - 1].span.end as usize };
            let all = cpp::rewrite_host(source, part, &file.structs, functions, report, from);
            let text = all.trim_start_matches('\n');
            let start = (from + all.len() - text.len()) as u32;
            line(host, diagnostic::Span { start, end: start });
            host.all.push_str(text);
            host.all.push('\n');
            if options.prototypes {
                host.own.push_str(text);
                host.own.push('\n');
            }
        }
        Item::Kernel(kernel, span) => {
            if let Some(at) = kernels.iter().position(|k| k.name == kernel.name.text) {
                line(host, *span);
                host.all.push_str(&cpp::cpu_kernel(kernels, at, &file.structs));
                if kernels[at].is_entry() {
                    host.all.push_str(&cpp::operators(&kernels[at], &file.structs, options.cpu));
                }
            }
        }
        Item::Struct(..) | Item::Prototype(_) => {}
    }
}

fn assemble(
    options: &Options,
    text: &str,
    file: &parse::File,
    kernels: Vec<Kernel>,
    host: &HostText,
    warnings: Vec<Diagnostic>,
) -> Output {
    let base = options.prefix.rsplit(['/', '\\']).next().unwrap_or(&options.prefix);
    let guard = format!("_{}_AUTO_GENERATED_H_", cpp::identifier(&options.prefix));
    let mut header =
        format!("/* Written by brcc. */\n#ifndef {guard}\n#define {guard}\n\n#include \"brook/brook.h\"\n\n");
    let texts = file
        .items
        .iter()
        .filter_map(|i| if let Item::Struct(_, span) = i { Some(span.of(text)) } else { None });
    let texts: Vec<&str> = texts.collect();
    // What members are called that are of the host's types: the header comes before those.
    let called = |ty: &dyn Fn(types::Type) -> bool| -> String {
        let said = |name: &str| texts.iter().any(|text| cpp::mentions(text, name));
        let named = file.structs.other_names().filter(|(name, of)| ty(*of) && said(name));
        named
            .map(|(name, ty)| format!("typedef {} {name};\n", cpp::element_type(&file.structs, ty)))
            .collect()
    };
    header.push_str(&called(&|ty| matches!(ty, types::Type::Vector(..))));
    for (at, (definition, text)) in file.structs.0.iter().zip(&texts).enumerate() {
        let _ = writeln!(header, "{}", cpp::signs(text));
        header.push_str(&called(&|ty| ty == types::Type::Struct(at as u16)));
        header.push_str(&cpp::struct_element(&file.structs, at, definition));
    }
    for kernel in kernels.iter().filter(|k| k.hir.is_entry()) {
        header.push_str(&cpp::class(&kernel.hir, &file.structs));
    }
    let declared = cpp::declarations(&host.own, &file.structs);
    if !declared.functions.is_empty() {
        declared.types.iter().for_each(|t| {
            let _ = writeln!(header, "{t}");
        });
        header.push_str("extern \"C\" {\n");
        declared.functions.iter().for_each(|p| {
            let _ = writeln!(header, "{p};");
        });
        header.push_str("}\n\n");
    }
    header.push_str("#endif\n");
    let described: Vec<_> = kernels
        .iter()
        .filter(|k| k.hir.is_entry())
        .map(|k| (&k.hir, (!k.techniques.is_empty()).then_some(k.techniques.as_slice())))
        .collect();
    let gpu = cpp::descriptions(&options.prefix, &described, options.as_chars);
    let source = format!(
        "/* Written by brcc from {}. */\n#include \"brook/brook.h\"\n#include \"{base}_gpu.h\"\n#include \"{base}.h\"\n\n{}",
        options.source_name, host.all
    );
    Output { source, header, gpu, kernels, structs: file.structs.clone(), warnings }
}
