//! `recal opt`: passes of the compiler over a kernel or a program, and what comes out.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::ValueEnum;
use recal::{FloatMode, Format, InstructionSet, Symbol};
use recal_il::ir::passes::{Pass, Settings};
use recal_il::ir::{Program, text};
use recal_il::opt;
use serde_json::json;

use crate::Outcome;
use crate::analyze::{format, instructions};
use crate::files::{print, print_json};
use crate::kernel::{Content, Kernel};

/// Arguments of `recal opt`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// IL text, an image (its text for Cypress), or a program as text; `-` = standard input
    #[arg(required_unless_present = "list")]
    file: Option<PathBuf>,
    /// Pass to run; several run in the order given
    #[arg(short, long = "pass", value_name = "NAME", value_parser = pass)]
    passes: Vec<&'static Pass>,
    /// What to print
    #[arg(short, long, value_enum, default_value_t = Emit::Ir)]
    emit: Emit,
    /// Instructions that vector programs and machine code are for, as CAL_ISA names them; the best of this processor by default
    #[arg(short, long, value_parser = instructions)]
    isa: Option<InstructionSet>,
    /// Elements of a resource that vector programs and machine code are for, e.g. i0=float64_1; float32_4 by default
    #[arg(short, long = "format", value_name = "NAME=FORMAT", value_parser = format)]
    format: Vec<(Symbol, Format)>,
    /// Tell the passes instead
    #[arg(short, long)]
    list: bool,
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is printed.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Emit {
    /// The program as text
    Ir,
    /// Its SPIR-V module
    Spirv,
    /// Its vector program for the CPU device
    Vector,
    /// The machine code of that
    Asm,
}

fn pass(name: &str) -> Result<&'static Pass, String> {
    opt::named(name).ok_or_else(|| {
        let names: Vec<_> = opt::passes().map(|pass| pass.name).collect();
        format!("there is no such pass; there are {}", names.join(", "))
    })
}

pub(crate) fn opt(arguments: &Arguments) -> Outcome {
    let Some(file) = arguments.file.as_ref().filter(|_| !arguments.list) else {
        return list(arguments.json);
    };
    let kernel = Kernel::read(file)?;
    let program = read(&kernel)?;
    let program = opt::run(&program, &arguments.passes, &Settings::USUAL, &mut |_, _| {})
        .map_err(|error| format!("{}: {error}", kernel.name))?;
    let named = |e: recal::Error| format!("{}: {e}", kernel.name);
    let (emit, shown) = match arguments.emit {
        Emit::Ir => ("ir", program.to_string()),
        Emit::Spirv => ("spirv", recal::spirv_listing(&program, FloatMode::Faithful).map_err(named)?),
        Emit::Vector | Emit::Asm => {
            let set = arguments.isa.unwrap_or_else(InstructionSet::best);
            let none = || format!("for {} nothing is compiled", set.name());
            let isa = set.code().ok_or_else(none)?;
            let formats = formats(&program, &arguments.format)?;
            if let Emit::Vector = arguments.emit {
                ("vector", recal::vector_listing(&program, set, &formats).ok_or_else(none)?)
            } else {
                let disassemble = |code: &[u8]| isa.disassembled(code);
                let lines = recal::code_listing(&program, set, &formats, &disassemble).ok_or_else(none)?;
                ("asm", lines.into_iter().map(|line| line.text + "\n").collect())
            }
        }
    };
    if !arguments.json {
        return print(&shown);
    }
    print_json(&json!({
        "file": kernel.name,
        "passes": arguments.passes.iter().map(|pass| pass.name).collect::<Vec<_>>(),
        "emit": emit,
        "lines": shown.lines().collect::<Vec<_>>(),
    }))
}

/// The formats of resources, by number.
fn formats(program: &Program, list: &[(Symbol, Format)]) -> Outcome<BTreeMap<u32, Format>> {
    let inputs = &program.declared.resources;
    let one = |(symbol, format): &(Symbol, Format)| match symbol {
        Symbol::Input(number) if inputs.contains_key(number) => Ok((*number, *format)),
        Symbol::Input(_) => Err(format!("{symbol}: the kernel has no such input").into()),
        other => Err(format!("{other}: code is made for formats of inputs, i0 and so on, alone").into()),
    };
    list.iter().map(one).collect()
}

/// The program of a kernel, or the one that the text is.
fn read(kernel: &Kernel) -> Outcome<Program> {
    let text = match &kernel.content {
        Content::Text(text) => text.as_slice(),
        Content::Image(_) => kernel.text(recal::target::CYPRESS)?,
    };
    let read = if text::is_program(text) { text::parse(text) } else { recal_il::compile(text) };
    Ok(read.map_err(|found| kernel.refused(text, found))?)
}

/// Every pass by name, and what it does.
fn list(json: bool) -> Outcome {
    if json {
        let all: Vec<_> =
            opt::passes().map(|pass| json!({ "name": pass.name, "about": pass.about })).collect();
        return print_json(&json!({ "passes": all }));
    }
    print(&opt::passes().map(|pass| format!("{:<12} {}\n", pass.name, pass.about)).collect::<String>())
}
