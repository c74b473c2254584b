//! What of a program is interpreted although kernels are compiled, and why: for people.

use std::collections::BTreeMap;

use recal_hal::{Format, Wrap};
use recal_il::diagnostic::Span;
use recal_il::ir::Program;

use crate::isa_choice::InstructionSet;
use crate::op::{Code, LaunchKey, MemoryOp, Op, Place, Seen, Shape, Texture};
use crate::{load, native};

/// An operation that is interpreted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interpreted {
    /// What it does.
    pub what: String,
    /// Why no code is made for it.
    pub why: &'static str,
    /// The instructions that need it, in the kernel text.
    pub spans: Vec<Span>,
}

/// What of a program is interpreted where kernels are compiled for `set`, whether this processor has it or not; `None` if
/// for this set nothing is compiled. Samples are taken to be of surfaces with whole words and the nearest filter.
pub fn interpreted(program: &Program, set: InstructionSet) -> Option<Vec<Interpreted>> {
    let isa = set.code()?;
    let (packed, known) = load::prepare(program, true, false);
    let mut code = load::load_compiled(&packed, &known);
    code.find_sampled();
    let shapes = simple_textures(&code, &BTreeMap::new()).into();
    let body =
        native::compile(&code, isa, &LaunchKey { shapes, line: recal_jit::line(0), ..LaunchKey::default() })?;
    let mut list: Vec<Interpreted> = Vec::new();
    let mut note = |what: String, why: &'static str, span: Option<Span>| {
        let known = list.iter().position(|other| other.what == what && other.why == why);
        let at = known.unwrap_or_else(|| {
            list.push(Interpreted { what, why, spans: Vec::new() });
            list.len() - 1
        });
        let spans = &mut list[at].spans;
        spans.extend(span.filter(|span| !spans.contains(span)));
    };
    for op in &body.ops {
        match op {
            Op::Lanes { first, end } => {
                for number in *first as usize..*end as usize {
                    let op = code.steps[number].op;
                    note(format!("{op:?}").to_lowercase(), ALONE, code.step_spans.get(number).copied());
                }
            }
            Op::Memory(index) => {
                let (what, why) = describe(&code.memory[*index as usize].op);
                note(what.into(), why, span_of(&code, *index));
            }
            _ => {}
        }
    }
    Some(list)
}

/// Why what can be compiled is not.
const ALONE: &str = "it needs too many values at a time";

/// What samples find where nothing is known of a launch but these formats of resources, by number; others have four floats.
pub fn simple_textures(code: &Code, formats: &BTreeMap<u32, Format>) -> Vec<Shape> {
    let format = |place: Place| match place {
        Place::Srv(place) => formats.get(code.resources.get(place as usize)?).copied(),
        _ => None,
    };
    let simple = |&(place, _): &Seen| {
        let format = format(place).unwrap_or(Format::Float32x4);
        Some(Texture { format, wrap: [Wrap::ClampToEdge; 2], linear: false })
    };
    code.sampled.iter().map(simple).collect()
}

/// The instruction that makes an access.
pub fn span_of(code: &Code, access: u32) -> Option<Span> {
    let at = code.ops.iter().position(|op| matches!(op, Op::Memory(index) if *index == access))?;
    code.op_spans.get(at).copied()
}

/// What an access that is not compiled does, and why it is not.
pub fn describe(op: &MemoryOp) -> (&'static str, &'static str) {
    const KIND: &str = "accesses of this kind are not compiled";
    let texels = if op.sampled().is_none() { "its resource or sampler is computed" } else { ALONE };
    const FAR: &str = "its offset is too large";
    match op {
        MemoryOp::Sample(_) => ("sample", texels),
        MemoryOp::Gather { .. } => ("gather of four texels", texels),
        MemoryOp::Fetch { .. } => ("texel at integers", texels),
        MemoryOp::ResourceInfo { .. } | MemoryOp::BufferInfo { .. } => ("size of a resource", KIND),
        MemoryOp::ElementLoad { place: Place::Global, .. } => ("element of g[]", FAR),
        MemoryOp::ElementLoad { .. } => ("constant by a computed number", FAR),
        MemoryOp::ArrayLoad { .. } | MemoryOp::ArrayStore { .. } => ("indexed temporary", KIND),
        MemoryOp::GlobalStore { .. } => ("store to g[]", FAR),
        MemoryOp::SharedLoad { .. } | MemoryOp::SharedStore { .. } => ("shared register", KIND),
        MemoryOp::RawLoad { .. } => ("load", ALONE),
        MemoryOp::RawStore { .. } => ("store", ALONE),
        MemoryOp::TypedLoad { .. } => ("element of a typed UAV", ALONE),
        MemoryOp::TypedStore { .. } => ("store to a typed UAV", ALONE),
        MemoryOp::Atomic { .. } | MemoryOp::AtomicWide { .. } => ("atomic", ALONE),
        MemoryOp::Counter { .. } => ("append or consume", ALONE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_indexed_temp_array x0[200]\n\
        mov r0.x, vaTid.x\nitof r1.x, r0.x\nmul r1.x, r1.x, r1.x\nsin r2.x, r1.x\nadd r2.x, r2.x, r1.x\n\
        mov x0[r0.x], r1\nuav_raw_store_id(0) mem0.x, r0.x, r2.x\nend\n";

    const COMPILED: &str = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_cb cb0[16]\ndcl_raw_uav_id(0)\n\
        dcl_typed_uav_id(1)_type(2d)_fmtx(unorm)\ndcl_lds_id(2) 64\ndcl_indexed_temp_array x0[8]\n\
        dcl_cb icb[2], 1, 2, 3, 4, 5, 6, 7, 8\nmov r0.x, vaTid.x\nmov r1, cb0[r0.x + 1]\nmov r3, icb[r0.x]\n\
        mov x0[r0.x], r3\nadd r1, r1, x0[r0.x + 1]\n\
        mov r2, g[r0.x]\nuav_load_id(1) r3, r0.xx00\nuav_ushort_load_id(0) r4.x, r0.x\n\
        lds_load_byte_id(2) r4.y, r0.x\nadd r1, r1, r2\nadd r1, r1, r3\niadd r4.x, r4.x, r4.y\n\
        pow r1.x, r1.x, r1.y\nrsq r1.z, r1.w\nf2d r2.xy, r1.x\ndrsq r2.xy, r2.xy\nu64div r2.xy, r2.xy, r4.xx\n\
        atan r1.x, r1.x\nadd r1.x, r1.x, r1.z\niadd r1.x, r1.x, r2.x\niadd r1.x, r1.x, r4.x\n\
        uav_raw_store_id(0) mem0.x, r0.x, r1.x\nuav_add_id(0) r0.x, r1.x\nif_logicalnz r1.x\n\
        lds_read_add_id(2) r1.x, r0.x, r1.x\nappend_buf_alloc_id(0) r2.x\nendif\nuav_store_id(1) r0.xx00, r1\n\
        uav_short_store_id(0) r0.x, r2.x\nend\n";

    #[test]
    fn accesses_of_all_kinds_and_long_functions_are_compiled() {
        let program = recal_il::compile(COMPILED.as_bytes()).unwrap();
        for set in [InstructionSet::Neon, InstructionSet::Avx2, InstructionSet::Avx512] {
            assert_eq!(interpreted(&program, set).unwrap(), [], "{set:?}");
        }
    }

    /// The same for every set that has code, on every processor; and nothing for the one that has none.
    #[test]
    fn what_is_interpreted_is_said_with_its_place() {
        let program = recal_il::compile(KERNEL.as_bytes()).unwrap();
        assert_eq!(interpreted(&program, InstructionSet::Baseline), None);
        for set in [InstructionSet::Neon, InstructionSet::Avx2, InstructionSet::Avx512] {
            let list = interpreted(&program, set).unwrap();
            let lines: Vec<(&str, Vec<&str>)> = list
                .iter()
                .map(|found| {
                    let text = |span: &Span| &KERNEL[span.start as usize..span.end as usize];
                    (found.what.as_str(), found.spans.iter().map(text).collect())
                })
                .collect();
            let array = ("indexed temporary", vec!["mov x0[r0.x], r1"]);
            assert!(lines.contains(&array), "{set:?}: {lines:?}");
            let compiled = ["add", "mul", "mov", "itof", "sin", "store"];
            assert!(lines.iter().all(|(what, _)| !compiled.contains(what)), "{set:?}: {lines:?}");
        }
    }
}
