//! What kernels become on this device, for people.

use std::fmt::Write as _;

use recal_il::ir::Program;
use recal_jit::{Function, Module};

use crate::isa_choice::InstructionSet;
use crate::op::{Code, Op};
use crate::report::{describe, simple_textures};
use crate::{load, native};

/// The vector program that a program becomes where kernels are compiled for `set`, whether this processor has it or not: its
/// functions, and between them what is interpreted. `None` if for this set nothing is compiled. Samples are taken to be of
/// surfaces with whole words and the nearest filter, threads to be in lines of 64.
pub fn vector_listing(program: &Program, set: InstructionSet) -> Option<String> {
    listing(program, set, &|module, function| {
        Some(format!("compiled {{\n{}}}\n", indented(&module.listing(function)?)))
    })
}

/// The same with machine code, as `disassemble` tells it, in place of vector programs.
pub fn code_listing(
    program: &Program,
    set: InstructionSet,
    disassemble: &dyn Fn(&[u8]) -> String,
) -> Option<String> {
    listing(program, set, &|module, function| {
        let (any, all) = module.code_of(function);
        let some = if all.is_some() { "some threads" } else { "any threads" };
        let mut text = format!("code for {some} {{\n{}}}\n", indented(&disassemble(any)));
        if let Some(all) = all {
            let _ = write!(text, "code for whole waves {{\n{}}}\n", indented(&disassemble(all)));
        }
        Some(text)
    })
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

fn listing(
    program: &Program,
    set: InstructionSet,
    function: &dyn Fn(&Module, Function) -> Option<String>,
) -> Option<String> {
    let isa = set.code()?;
    let (packed, shapes) = load::prepare(program, true);
    let mut code = load::load_compiled(&packed, &shapes);
    code.find_sampled();
    let body = native::compile_listed(&code, isa, &simple_textures(&code), recal_jit::line(64))?;
    let mut text = format!("; {} code, strips of {} threads\n", isa.name(), isa.lanes());
    for (at, op) in body.ops.iter().enumerate() {
        match op {
            Op::Native(native) => {
                let _ = write!(text, "{at}: {}", function(body.module.as_ref()?, *native)?);
            }
            Op::Lanes { first, end } => {
                (*first..*end)
                    .for_each(|step| _ = writeln!(text, "{at}: interpreted {}", lane(&code, step as usize)));
            }
            Op::Memory(index) => {
                let _ = writeln!(text, "{at}: interpreted {}", describe(&code.memory[*index as usize].op).0);
            }
            other => _ = writeln!(text, "{at}: {other:?}"),
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
        assert_eq!(vector_listing(&program, InstructionSet::Baseline), None);
        for set in [InstructionSet::Neon, InstructionSet::Avx2, InstructionSet::Avx512] {
            let listing = vector_listing(&program, set).unwrap();
            assert!(listing.starts_with(&format!("; {} code, strips of ", set.name())), "{listing}");
            for part in
                ["FMul v", "Load view 0 v", "Store view 0 v", ", 0x3FC00000\n", "0: compiled {\n", "ShlBy(2)"]
            {
                assert!(listing.contains(part), "{part} is not in\n{listing}");
            }
        }
    }
}
