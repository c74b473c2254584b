//! What kernels become on this device, for people.

use std::collections::BTreeMap;

use recal_hal::Format;
use recal_il::diagnostic::Span;
use recal_il::inst::GroupSize;
use recal_il::ir::Program;
use recal_il::listing::Line;
use recal_jit::{Function, Module};

use crate::isa_choice::InstructionSet;
use crate::op::{Code, LaunchKey, Op};
use crate::report::{describe, simple_textures, span_of};
use crate::wave::LANES;
use crate::{load, native};

/// The vector program that a program becomes where kernels are compiled for `set`, whether this processor has it or not: its
/// functions, and between them what is interpreted. `None` if for this set nothing is compiled. Samples are taken to be of
/// surfaces with these formats, by number, or four floats, and the nearest filter, threads to be in lines of 64, or, if they wait for each other, in groups
/// as the program declares them.
pub fn vector_listing(
    program: &Program,
    set: InstructionSet,
    formats: &BTreeMap<u32, Format>,
) -> Option<String> {
    let lines = listing(program, set, formats, &|module, function, _| {
        let text = module.listing(function)?;
        let inner = text.lines().map(|line| Line::new(format!("  {line}"), Span::default()));
        Some(enclosed("compiled", inner.collect()))
    })?;
    Some(lines.into_iter().map(|line| line.text + "\n").collect())
}

/// What tells machine code line by line, each with the byte where it begins.
pub type Disassemble<'a> = &'a dyn Fn(&[u8]) -> Vec<(u32, String)>;

/// The same with machine code, as `disassemble` tells it with the bytes where its lines begin, in place of vector programs.
pub fn code_listing(
    program: &Program,
    set: InstructionSet,
    formats: &BTreeMap<u32, Format>,
    disassemble: Disassemble<'_>,
) -> Option<Vec<Line>> {
    listing(program, set, formats, &|module, function, spans| {
        let (any, all) = module.code_of(function);
        let lines = |code: &[u8], whole: bool| {
            let placed = disassemble(code).into_iter().map(|(at, text)| {
                let step = module.step_at(function, whole, at);
                let span = step.and_then(|step| spans.get(step as usize)).copied();
                Line::new(format!("  {text}"), span.unwrap_or_default())
            });
            placed.collect()
        };
        let some = if all.is_some() { "some threads" } else { "any threads" };
        let mut text = enclosed(&format!("code for {some}"), lines(any, false));
        if let Some(all) = all {
            text.extend(enclosed("code for whole waves", lines(all, true)));
        }
        Some(text)
    })
}

/// Lines between braces.
fn enclosed(head: &str, inner: Vec<Line>) -> Vec<Line> {
    let plain = |text: String| Line::new(text, Span::default());
    [vec![plain(format!("{head} {{"))], inner, vec![plain("}".into())]].concat()
}

/// The lines of a function of the module, whose steps come from these instructions.
type OfFunction<'a> = &'a dyn Fn(&Module, Function, &[Span]) -> Option<Vec<Line>>;

fn listing(
    program: &Program,
    set: InstructionSet,
    formats: &BTreeMap<u32, Format>,
    function: OfFunction<'_>,
) -> Option<Vec<Line>> {
    let isa = set.code()?;
    let (packed, known) = load::prepare(program, true, false);
    let mut code = load::load_compiled(&packed, &known);
    code.find_sampled();
    // Groups whose threads wait for each other are launched as they are declared.
    let block = match program.interface.group {
        Some(_) if code.in_place && code.waves_alone => Some([LANES as u32, 1, 1]),
        Some(GroupSize::Exact(block)) if code.barriers || code.in_place => Some(block),
        _ => None,
    };
    let line = recal_jit::line(block.map_or(64, |[x, ..]| x));
    let shapes = simple_textures(&code, formats).into();
    let body =
        native::compile_listed(&code, isa, &LaunchKey { shapes, line, block, ..LaunchKey::default() })?;
    let head = format!("; {} code, strips of {} threads", isa.name(), isa.lanes());
    let mut text = vec![Line::new(head, Span::default())];
    let of = |spans: &[Span], at: usize| spans.get(at).copied().unwrap_or_default();
    for (at, op) in body.ops.iter().enumerate() {
        match op {
            Op::Native(native) => {
                let spans = body.spans.get(at).map_or(&[][..], Vec::as_slice);
                let mut lines = function(body.module.as_ref()?, *native, spans)?;
                if let Some(first) = lines.first_mut() {
                    first.text.insert_str(0, &format!("{at}: "));
                }
                text.append(&mut lines);
            }
            Op::Lanes { first, end } => text.extend((*first..*end).map(|step| {
                let said = format!("{at}: interpreted {}", lane(&code, step as usize));
                Line::new(said, of(&code.step_spans, step as usize))
            })),
            Op::Memory(index) => {
                let said = format!("{at}: interpreted {}", describe(&code.memory[*index as usize].op).0);
                text.push(Line::new(said, span_of(&code, *index).unwrap_or_default()));
            }
            other => text.push(Line::new(format!("{at}: {other:?}"), Span::default())),
        }
    }
    Some(text)
}

/// A step: `row 3 = Sin row 2`.
fn lane(code: &Code, step: usize) -> String {
    let rows = |ids: &[u32]| ids.iter().map(|row| format!("row {row}")).collect::<Vec<_>>().join(", ");
    let (writes, reads) = code.ids(step);
    format!("{} = {:?} {}", rows(writes), code.steps[step].op, rows(reads))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_listing_has_functions_and_what_is_interpreted() {
        let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 1.5, 2, 0, 0\n\
            ishl r0.x, vaTid.x, l0.y\nuav_raw_load_id(0) r1.x, r0.x\nmul r1.x, r1.x, l0.x\nsin r2.x, r1.x\n\
            if_logicalnz r0.x\nadd r2.x, r2.x, r1.x\nendif\nuav_raw_store_id(0) mem0.x, r0.x, r2.x\nend\n";
        let program = recal_il::compile(text.as_bytes()).unwrap();
        assert_eq!(vector_listing(&program, InstructionSet::Baseline, &BTreeMap::new()), None);
        for set in [InstructionSet::Neon, InstructionSet::Avx2, InstructionSet::Avx512] {
            let listing = vector_listing(&program, set, &BTreeMap::new()).unwrap();
            assert!(listing.starts_with(&format!("; {} code, strips of ", set.name())), "{listing}");
            for part in [
                "FMul v",
                "Load view 1 v",
                "Store view 1 v",
                "word 0 of view 0",
                ", 0x3FC00000",
                "0: compiled {\n",
                "ShlBy(2)",
            ] {
                assert!(listing.contains(part), "{part} is not in\n{listing}");
            }
        }
    }

    /// Every instruction of the kernel that computes has machine code, and what is interpreted has its place.
    #[test]
    fn machine_code_knows_what_it_is_for() {
        let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_indexed_temp_array x0[200]\n\
            dcl_literal l0, 1.5, 2, 0, 1\n\
            ishl r0.x, vaTid.x, l0.y\nuav_raw_load_id(0) r1.x, r0.x\nwhileloop\nige r3.x, r4.x, r1.x\n\
            break_logicalnz r3.x\nmad r5.x, r5.x, l0.x, r1.x\niadd r4.x, r4.x, l0.w\nendloop\nsin r2.x, r5.x\n\
            uav_raw_store_id(0) mem0.x, r0.x, r2.x\nuav_add_id(0) r0.x, r4.x\nmov x0[r4.x], r4\nuav_add_id(0) r0.x, x0[r1.x].x\nend\n";
        let program = recal_il::compile(text.as_bytes()).unwrap();
        for set in [InstructionSet::Neon, InstructionSet::Avx2, InstructionSet::Avx512] {
            let isa = set.code().unwrap();
            let lines =
                code_listing(&program, set, &BTreeMap::new(), &|code| isa.disassembled(code)).unwrap();
            let of = |part: &str| {
                let said = |line: &&Line| {
                    line.span
                        .is_some_and(|span| text[span.start as usize..span.end as usize].starts_with(part))
                };
                lines.iter().filter(said).map(|line| line.text.as_str()).collect::<Vec<_>>()
            };
            for part in ["ishl", "uav_raw_load", "ige", "break", "mad", "iadd", "sin", "uav_raw_store"] {
                assert!(!of(part).is_empty(), "{set:?}: nothing is for {part}");
            }
            let multiplies =
                |lines: Vec<&str>| lines.iter().any(|line| line.contains("mul") || line.contains("fma"));
            assert!(multiplies(of("mad")), "{set:?}: {:?}", of("mad"));
            assert!(!multiplies(of("iadd")), "{set:?}: {:?}", of("iadd"));
            assert!(multiplies(of("sin")), "{set:?}: {:?}", of("sin"));
            let calls = |line: &&str| line.contains("call ") || line.contains("blr ");
            assert!(of("uav_add").iter().any(calls), "{set:?}: nothing is called");
            let array = of("mov x0");
            assert!(array.iter().any(|line| line.contains("interpreted")), "{set:?}: {array:?}");
        }
    }
}
