//! Emission by examples: `tests/emission/*.ir` holds a program, and behind a line `; becomes` the SPIR-V module that it becomes.
//! Lines before the program say for which device: `; native`, `; without gradual32`, and what a launch knows:
//! `; samplers default`, `; formats words`, `; padded`, `; rows whole`.
//!
//! Types, constants and what lies in storage have names that say what they are; values are numbered anew in each function, so
//! that a page changes where its module does. Of what stands before the functions, only what devices must know is shown.

use std::collections::HashMap;
use std::path::Path;

use recal_il::ir::text;
use recal_il::spirv::{Assume, Formats, Mode, Target, emit};
use recal_needs::pages::Page;
use rspirv::binary::Disassemble;
use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{Op, Word};

/// The device and the launch that a page names.
fn settings(page: &Page) -> (Target, Assume) {
    let (mut target, mut assume) = (Target::full(Mode::Faithful), Assume::NOTHING);
    for setting in page.settings() {
        match setting {
            ("native", "") => target.mode = Mode::Native,
            ("without", features) => features.split(' ').for_each(|feature| match feature {
                "gradual32" => target.gradual32 = false,
                "int64" => target.int64 = false,
                "divides64" => target.divides64 = false,
                "roots64" => target.roots64 = false,
                "fused64" => target.fused64 = false,
                "saturates" => target.saturates = false,
                "keeps_exits" => target.keeps_exits = false,
                "skips" => target.skips = false,
                _ => panic!("{}: {feature}", page.name),
            }),
            ("samplers", "default") => assume.default_samplers = true,
            ("formats", "four_words") => assume.formats = Formats::FourWords,
            ("formats", "words") => assume.formats = Formats::Words,
            ("padded", "") => assume.padded = true,
            ("rows", "whole") => assume.whole_rows = true,
            other => panic!("{}: {other:?}", page.name),
        }
    }
    (target, assume)
}

/// Names for what stands before the functions.
struct Names(HashMap<Word, String>);

impl Names {
    fn of(module: &Module) -> Names {
        let mut names = Names(HashMap::new());
        for inst in module.ext_inst_imports.iter().chain(&module.types_global_values) {
            let name = names.name(inst);
            let taken = names.0.values().any(|other| *other == name);
            let number = names.0.len();
            names.0.insert(
                inst.result_id.expect("a result"),
                if taken { format!("{name}_{number}") } else { name },
            );
        }
        for (inst, built_in) in module.annotations.iter().filter_map(built_in) {
            names.0.insert(inst, built_in);
        }
        names
    }

    fn operand(&self, inst: &Instruction, number: usize) -> String {
        match &inst.operands[number] {
            Operand::IdRef(id) => self.0[id].clone(),
            Operand::LiteralBit32(bits) => bits.to_string(),
            Operand::LiteralBit64(bits) => bits.to_string(),
            other => format!("{other:?}"),
        }
    }

    fn name(&self, inst: &Instruction) -> String {
        let of = |number| self.operand(inst, number);
        let ty = || inst.result_type.map_or_else(String::new, |ty| self.0[&ty].clone());
        match inst.class.opcode {
            Op::ExtInstImport => "GLSL".into(),
            Op::TypeVoid => "void".into(),
            Op::TypeBool => "bool".into(),
            Op::TypeInt => format!("u{}", of(0)),
            Op::TypeFloat => format!("f{}", of(0)),
            Op::TypeVector => format!("{}x{}", of(0), of(1)),
            Op::TypeArray => format!("{}_array{}", of(0), of(1).trim_start_matches("u32")),
            Op::TypeRuntimeArray => format!("{}_array", of(0)),
            Op::TypeStruct => {
                let fields: Vec<_> = (0..inst.operands.len()).map(of).collect();
                format!("struct_{}", fields.join("_"))
            }
            Op::TypePointer => format!("{}_{}", self.pointed(inst), of(1)),
            Op::TypeFunction => "function".into(),
            Op::ConstantTrue => "true".into(),
            Op::ConstantFalse => "false".into(),
            Op::Constant => match (&inst.operands[0], ty().as_str()) {
                (Operand::LiteralBit32(bits), "f32") => format!("f32_{:?}", f32::from_bits(*bits)),
                (Operand::LiteralBit64(bits), "f64") => format!("f64_{:?}", f64::from_bits(*bits)),
                (Operand::LiteralBit32(bits), ty) if *bits > 9999 => format!("{ty}_{bits:#X}"),
                (Operand::LiteralBit64(bits), ty) if *bits > 9999 => format!("{ty}_{bits:#X}"),
                (_, ty) => format!("{ty}_{}", of(0)),
            },
            Op::Variable => format!("{:?}", inst.operands[0].unwrap_storage_class()).to_lowercase(),
            op => format!("{op:?}_{}", ty()),
        }
    }

    fn pointed(&self, inst: &Instruction) -> String {
        format!("{:?}", inst.operands[0].unwrap_storage_class())
    }

    /// A line of a function; values get the next number where they first stand.
    fn line(&self, line: &str, values: &mut HashMap<String, usize>) -> String {
        let mut shown = String::new();
        for (k, word) in line.split_whitespace().enumerate() {
            shown += if k == 0 { "" } else { " " };
            let Some(id) = word.strip_prefix('%') else {
                shown += word;
                continue;
            };
            let known = id.parse().ok().and_then(|id: Word| self.0.get(&id));
            let next = values.len() + 1;
            shown += &match known {
                Some(name) => format!("%{name}"),
                None => format!("%{}", values.entry(id.to_owned()).or_insert(next)),
            };
        }
        shown
    }
}

/// A variable that the device fills, and with what.
fn built_in(inst: &Instruction) -> Option<(Word, String)> {
    match inst.operands.as_slice() {
        [Operand::IdRef(id), _, Operand::BuiltIn(what)] => Some((*id, format!("{what:?}"))),
        _ => None,
    }
}

fn listing(words: &[u32]) -> String {
    let module = rspirv::dr::load_words(words).expect("a module");
    let mut names = Names::of(&module);
    for (number, function) in module.functions.iter().enumerate() {
        let id = function.def_id().expect("a function");
        let entry = module.entry_points.iter().any(|entry| entry.operands[1] == Operand::IdRef(id));
        names.0.insert(id, if entry { "entry".into() } else { format!("function{number}") });
    }
    let mut text = String::new();
    let header = module.capabilities.iter().chain(&module.execution_modes);
    for inst in header {
        text += &format!("{}\n", names.line(&inst.disassemble(), &mut HashMap::new()));
    }
    for function in &module.functions {
        let mut values = HashMap::new();
        for inst in function.all_inst_iter() {
            text += &format!("{}\n", names.line(&inst.disassemble(), &mut values));
        }
    }
    text
}

#[test]
fn programs_become_the_modules_of_the_pages() {
    let mut wrong = String::new();
    for page in Page::all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/emission")) {
        let program = text::parse(page.before.as_bytes()).unwrap_or_else(|found| {
            panic!("{}", recal_il::diagnostic::render(&found, page.before.as_bytes(), &page.name))
        });
        let (target, assume) = settings(&page);
        let module = emit(&program, &target, assume).unwrap_or_else(|e| panic!("{}: {e}", page.name));
        wrong += &page.difference(&listing(&module.words));
    }
    assert!(wrong.is_empty(), "{wrong}");
}
