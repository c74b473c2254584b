//! The stages of a kernel of which all is compiled but barriers, and flow that all threads of a group take alike.

use crate::flow::orders;
use crate::op::{Op, Place, Stage, Test};

use super::item::same_memory;

/// The memory that a function accesses, and whether it changes that.
pub(super) type Accesses = Vec<(Place, bool)>;

/// Whether there can be stages of what operations become: flow can be taken alike by all threads of a group.
pub(super) fn possible(ops: &[Op]) -> bool {
    let flow = |op: &Op| match op {
        Op::Lanes { .. }
        | Op::Native(_)
        | Op::Memory(_)
        | Op::Fence(_)
        | Op::If { .. }
        | Op::Else { .. }
        | Op::EndIf { .. }
        | Op::Loop
        | Op::EndLoop { .. }
        | Op::Break { .. }
        | Op::End => true,
        Op::Call { .. } | Op::Return { .. } | Op::EndFunction | Op::Discard { .. } => false,
    };
    ops.iter().all(flow)
}

/// The stages of operations; `None` if they are to be interpreted. `accesses` are those of the functions, in their order.
pub(super) fn stages(ops: &[Op], accesses: &[Accesses]) -> Option<Vec<Stage>> {
    let mut stages = vec![Stage::Barrier { orders: false, turns: false }];
    // Where operations begin.
    let mut begins = Vec::with_capacity(ops.len());
    let mut functions = 0..;
    for (at, op) in ops.iter().enumerate() {
        begins.push(stages.len());
        stages.push(match op {
            Op::Native(function) => Stage::Run(*function, functions.next()?),
            Op::Fence(fence) => Stage::Barrier { orders: orders(*fence), turns: false },
            Op::If { cond, otherwise } => {
                jump(Some(&Test { nonzero: !cond.nonzero, ..*cond }), *otherwise as usize + 1)?
            }
            Op::Else { end } => Stage::Jump(*end as usize),
            Op::EndIf { .. } | Op::Loop => continue,
            Op::EndLoop { body, .. } => Stage::Again(*body as usize),
            Op::Break { cond, .. } => jump(cond.as_ref(), end_of_loop(ops, at)? + 1)?,
            Op::End => break,
            _ => return None,
        });
    }
    let end = stages.len();
    for stage in &mut stages {
        if let Stage::Jump(to) | Stage::JumpIf { to, .. } | Stage::Again(to) = stage {
            *to = begins.get(*to).copied().unwrap_or(end);
        }
    }
    for at in 0..end {
        let seen = !abreast(&stages, at + 1, accesses);
        if let Stage::Barrier { turns, .. } = &mut stages[at] {
            *turns = seen;
        }
    }
    Some(stages)
}

/// A jump, if the condition holds, to an operation.
fn jump(test: Option<&Test>, to: usize) -> Option<Stage> {
    match test {
        None => Some(Stage::Jump(to)),
        Some(test) => (test.alike && test.done).then_some(Stage::JumpIf { nonzero: test.nonzero, to }),
    }
}

/// The end of the innermost loop around an operation.
fn end_of_loop(ops: &[Op], at: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, op) in ops.iter().enumerate().skip(at) {
        match op {
            Op::Loop => depth += 1,
            Op::EndLoop { .. } if depth == 0 => return Some(at),
            Op::EndLoop { .. } => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The two may not be done by some waves before the other by all.
fn clash(some: &Accesses, others: &Accesses) -> bool {
    let clash = |&(place, stores): &(Place, bool)| {
        others.iter().any(|&(other, stored)| (stores || stored) && same_memory(place, other))
    };
    some.iter().any(clash)
}

/// From a stage to the next barrier nobody sees that all waves do a stage before the next one, since none accesses what another one, or
/// itself before, stores to.
fn abreast(stages: &[Stage], first: usize, accesses: &[Accesses]) -> bool {
    let mut seen: Vec<Option<Accesses>> = vec![None; stages.len()];
    let mut rest = vec![(first, Accesses::new())];
    while let Some((at, before)) = rest.pop() {
        let Some(stage) = stages.get(at) else { continue };
        let first = seen[at].is_none();
        let known = seen[at].get_or_insert_default();
        let more: Accesses = before.into_iter().filter(|access| !known.contains(access)).collect();
        if more.is_empty() && !first {
            continue;
        }
        known.extend(more);
        let mut before = known.clone();
        match stage {
            Stage::Barrier { .. } => {}
            Stage::Run(_, number) => {
                if clash(&accesses[*number], &before) {
                    return false;
                }
                before.extend(&accesses[*number]);
                rest.push((at + 1, before));
            }
            Stage::Jump(to) | Stage::Again(to) => rest.push((*to, before)),
            Stage::JumpIf { to, .. } => rest.extend([(*to, before.clone()), (at + 1, before)]),
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use crate::isa_choice::InstructionSet;
    use crate::op::{LaunchKey, Stage};
    use crate::{load, native};

    /// Groups of lines of 16 threads ask for what the next group reads of memory that others see, once for each load of it where all lanes
    /// execute, and for where it stores; those of longer lines, and those that need not wait, do not.
    #[test]
    fn narrow_groups_ask_for_what_the_next_one_reads() {
        let text = |fence: &str| {
            format!(
                "il_cs_2_0\ndcl_num_thread_per_group 16, 16, 1\ndcl_lds_id(0) 1024\ndcl_raw_uav_id(0)\ndcl_cb cb0[1]\n\
                dcl_literal l0, 4, 0, 0, 0\numul r0.x, vAbsTid.y, cb0[0].x\nimul r0.y, vAbsTid.x, l0.x\n\
                iadd r0.x, r0.x, r0.y\nuav_raw_load_id(0) r1.x, r0.x\nimul r2.x, vTidInGrpFlat.x, l0.x\n\
                lds_store_id(0) r2.x, r1.x\n{fence}lds_load_id(0) r3.x, r2.x\niadd r3.x, r3.x, r1.x\n\
                uav_raw_store_id(0) mem0.x, r0.x, r3.x\nend\n"
            )
        };
        let asks = |set: InstructionSet, line: u32, fence: &str| {
            let program = recal_il::compile(text(fence).as_bytes()).unwrap();
            let (packed, known) = load::prepare(&program, true, false);
            let code = load::load_compiled(&packed, &known);
            let body =
                native::compile(&code, set.code().unwrap(), &LaunchKey { line, ..LaunchKey::default() })
                    .unwrap();
            // prefetcht0 [r11 + 64], and [r11 + r10]
            let of_loads = |bytes: &&[u8]| **bytes == [0x41, 0x0F, 0x18, 0x4B, 64];
            let of_stores = |bytes: &&[u8]| **bytes == [0x43, 0x0F, 0x18, 0x0C, 0x13];
            let module = body.module.unwrap();
            let count =
                |asks: &dyn Fn(&&[u8]) -> bool| module.code().windows(5).filter(|at| asks(at)).count();
            [count(&of_loads), count(&of_stores)]
        };
        for set in [InstructionSet::Avx2, InstructionSet::Avx512] {
            assert_eq!(asks(set, 16, "fence_threads_lds\n"), [1, 1], "{set:?}");
            assert_eq!(asks(set, 32, "fence_threads_lds\n"), [0, 0], "{set:?}");
            assert_eq!(asks(set, 16, "fence_lds\n"), [0, 0], "{set:?}");
        }
    }

    /// A loop that stores is a function for each round. Waves take turns where one could find what another one stored.
    #[test]
    fn rounds_that_store_are_functions() {
        let kinds = |body: &str| {
            let text = format!(
                "il_cs_2_0\ndcl_num_thread_per_group 256\ndcl_raw_uav_id(0)\ndcl_lds_id(0) 1024\ndcl_cb cb0[1]\n\
                dcl_literal l0, 4, 1, 0, 0\nimul r0.x, vTidInGrpFlat.x, l0.x\nwhileloop\nige r1.x, r2.x, cb0[0].x\n\
                break_logicalnz r1.x\n{body}iadd r2.x, r2.x, l0.y\nendloop\nuav_raw_store_id(0) mem0.x, r0.x, r3.x\nend\n"
            );
            let program = recal_il::compile(text.as_bytes()).unwrap();
            let (packed, known) = load::prepare(&program, true, false);
            let code = load::load_compiled(&packed, &known);
            let key = LaunchKey { line: 64, ..LaunchKey::default() };
            let body = native::compile(&code, InstructionSet::Avx2.code().unwrap(), &key).unwrap();
            let kind = |stage: &Stage| match stage {
                Stage::Run(..) => "run",
                Stage::Barrier { turns: true, .. } => "turns",
                Stage::Barrier { turns: false, .. } => "all",
                Stage::Jump(_) => "jump",
                Stage::JumpIf { .. } => "if",
                Stage::Again(_) => "again",
            };
            body.stages.iter().map(kind).collect::<Vec<_>>().join(" ")
        };
        let store = "lds_store_id(0) r0.x, r2.x\n";
        let load = "lds_load_id(0) r3.x, r0.x\n";
        assert_eq!(kinds(store), "turns run if run again run");
        assert_eq!(kinds(&format!("{load}{store}")), "turns run if run run again run");
        assert_eq!(kinds(&format!("{store}fence_threads_lds\n")), "all run if run all again run");
        assert_eq!(kinds(&format!("{load}fence_threads_lds\n{store}")), "all run if run turns run again run");
    }
}
