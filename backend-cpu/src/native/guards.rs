//! Functions that do nothing for some waves, the same ones in every group.
//!
//! The steps of a reduction are choices by the place of a thread in its group: most waves take part in few of them. Which do is worked
//! out once for a launch, and they are not called for the others.

use recal_il::ir::{Builtin, ThreadId};
use rustc_hash::FxHashMap;

use super::{Builder, Item, What};
use crate::op::{Code, Guard, Op, RowId, Test};

/// Most operations that a choice is worked out by.
const MOST: usize = 16;

/// What rows hold that is the same in every group, and what follows from it for functions.
#[derive(Default)]
pub(super) struct Known {
    /// Waves wait for each other.
    barriers: bool,
    /// Constructs around that are in no function.
    depth: u32,
    /// For each row the operations that it is computed by, and the row that they leave it in.
    rows: FxHashMap<RowId, (Vec<u32>, RowId)>,
    functions: Vec<Guarded>,
}

/// A function.
#[derive(Default)]
struct Guarded {
    /// The choices outside of which it does nothing; none if it does.
    guards: Vec<Guard>,
    /// The rows by which it makes choices again.
    again: Vec<RowId>,
    /// Rows that are kept for who makes choices again.
    kept: Vec<RowId>,
}

impl Known {
    pub(super) fn new(code: &Code) -> Known {
        let placed = |builtin: &Builtin| {
            matches!(builtin, Builtin::Thread(ThreadId::InGroup | ThreadId::InGroupFlat, _))
        };
        let rows = code.builtins.iter().filter(|(_, builtin)| placed(builtin)).map(|&(row, _)| row);
        let rows = rows.chain(code.literals.iter().map(|&(row, _)| row));
        let rows = rows.chain(code.constants.iter().map(|&(row, ..)| row));
        Known {
            barriers: code.barriers,
            depth: 0,
            rows: rows.map(|row| (row, (Vec::new(), row))).collect(),
            functions: Vec::new(),
        }
    }

    /// Waves wait for each other.
    pub(super) fn barriers(&self) -> bool {
        self.barriers
    }

    /// An operation that is in no function.
    pub(super) fn flow(&mut self, op: &Op) {
        match op {
            Op::If { .. } | Op::Loop => self.depth += 1,
            Op::EndIf { .. } | Op::EndLoop { .. } => self.depth -= 1,
            _ => {}
        }
    }

    /// A lane operation that all threads do.
    fn step(&mut self, number: u32, writes: &[RowId], reads: &[RowId]) {
        let from: Option<Vec<&Vec<u32>>> =
            reads.iter().map(|row| self.rows.get(row).map(|(steps, _)| steps)).collect();
        let known = from.is_some();
        let mut steps: Vec<u32> = from.into_iter().flatten().flatten().copied().chain([number]).collect();
        steps.sort_unstable();
        steps.dedup();
        for &row in writes {
            match known && steps.len() <= MOST {
                true => _ = self.rows.insert(row, (steps.clone(), row)),
                false => _ = self.rows.remove(&row),
            }
        }
    }

    fn guard(&self, row: RowId, nonzero: bool) -> Option<Guard> {
        let (steps, row) = self.rows.get(&row)?;
        Some(Guard { steps: steps.clone(), row: *row, nonzero })
    }

    /// The guards of all functions, see [`crate::op::Body::guards`].
    pub(super) fn guards(self) -> Vec<Vec<Guard>> {
        let mut functions = self.functions;
        for at in (0..functions.len()).rev() {
            let (of, later) = functions.split_at(at + 1);
            let Guarded { guards, kept, .. } = &of[at];
            // Who makes choices again reads what was kept of them: it may not be called where that was not.
            let follows = |row: &RowId| {
                // Who keeps something else there has made the choice again before.
                let until =
                    later.iter().position(|of| of.kept.contains(row)).map_or(later.len(), |at| at + 1);
                let mut readers = later[..until].iter().filter(|of| of.again.contains(row));
                readers
                    .all(|of| !of.guards.is_empty() && of.guards.iter().all(|guard| guards.contains(guard)))
            };
            if !kept.iter().all(follows) {
                functions[at].guards.clear();
            }
        }
        functions.into_iter().map(|of| of.guards).collect()
    }
}

impl Builder<'_> {
    /// Finds the choices outside of which a function, which comes next, does nothing.
    pub(super) fn guard(&mut self, items: &[Item], last: Item) {
        let (code, known) = (self.code, &mut self.known);
        if !known.barriers {
            return known.functions.push(Guarded::default());
        }
        // It may be left out, or come again: then rows hold something else.
        if known.depth > 0 {
            let mut forget = |row: RowId| _ = known.rows.remove(&row);
            for item in items {
                match item.what {
                    What::Step(number) => code.ids(number as usize).0.iter().for_each(|row| forget(*row)),
                    What::Load(index, _) | What::Store(index, _) | What::Atomic(index, _) => {
                        code.memory[index as usize].op.each_row(|row, write| {
                            if write {
                                forget(row)
                            }
                        });
                    }
                    What::Keep(row) => forget(row),
                    _ => {}
                }
            }
            return known.functions.push(Guarded::default());
        }
        let (mut of, mut depth, mut acts) = (Guarded::default(), 0, false);
        for item in items {
            let op = &code.ops[item.op];
            match (item.what, op) {
                (What::Step(number), _) => {
                    let (writes, reads) = code.ids(number as usize);
                    if depth > 0 {
                        writes.iter().for_each(|row| _ = known.rows.remove(row));
                        continue;
                    }
                    known.step(number, writes, reads);
                    acts = acts || writes.iter().any(|&row| outlives(code, last, row));
                }
                (What::Load(index, _) | What::Store(index, _) | What::Atomic(index, _), _) => {
                    let outside = depth == 0;
                    acts |= outside && item.what.stores();
                    code.memory[index as usize].op.each_row(|row, write| {
                        if write {
                            known.rows.remove(&row);
                            acts = acts || outside && outlives(code, last, row);
                        }
                    });
                }
                (What::Keep(to), Op::If { cond, .. }) => {
                    known.rows.remove(&to);
                    if depth == 0 {
                        of.kept.push(to);
                        known.rows.get(&cond.row).cloned().map(|from| known.rows.insert(to, from));
                    }
                }
                (What::Flow | What::Again(_), Op::If { cond: Test { row, nonzero, .. }, .. }) => {
                    let row = if let What::Again(kept) = item.what { kept } else { *row };
                    if depth == 0 {
                        let guard = known.guard(row, *nonzero);
                        acts |= guard.is_none();
                        of.guards.extend(guard);
                        of.again.push(row);
                    }
                    depth += 1;
                }
                (What::Close, _) | (What::Flow, Op::EndIf { .. } | Op::EndLoop { .. }) => depth -= 1,
                (What::Flow, Op::Loop) => {
                    acts |= depth == 0;
                    depth += 1;
                }
                (What::Flow, Op::Else { .. }) | (What::Otherwise, _) => acts |= depth == 1,
                (What::Flow, _) => {}
                (What::Again(_) | What::Keep(_) | What::Test(_) | What::Barrier | What::Output(..), _) => {
                    acts = true
                }
            }
        }
        if acts {
            of.guards.clear();
        }
        known.functions.push(of);
    }
}

/// True if something may read what a function that ends with `last` leaves in a row for all threads. Where it ends in a choice, that is
/// behind the choice: what threads do that take it is another matter.
fn outlives(code: &Code, last: Item, row: RowId) -> bool {
    let (mut depth, mut begun) = (0, false);
    // Who reads in the same block has written before.
    let mut hidden = None;
    for (at, op) in code.ops.iter().enumerate() {
        let (mut read, mut written) = (false, false);
        match op {
            Op::Lanes { first, end } => {
                let from = match last.what {
                    What::Step(number) if at == last.op => number + 1,
                    _ => *first,
                };
                for (writes, reads) in (from..*end).map(|step| code.ids(step as usize)) {
                    read |= !written && reads.contains(&row);
                    written |= writes.contains(&row);
                }
                begun |= at == last.op && depth == 0 && matches!(last.what, What::Step(_));
            }
            Op::Memory(index) => code.memory[*index as usize].op.each_row(|other, write| {
                read |= other == row && !write;
                written |= other == row && write;
            }),
            Op::End => return !code.outputs.is_empty(),
            Op::If { .. }
            | Op::Loop
            | Op::Else { .. }
            | Op::EndIf { .. }
            | Op::EndLoop { .. }
            | Op::Fence(_)
            | Op::Break { .. } => op.each_read(|other| read |= other == row),
            _ => read = true,
        }
        if begun && hidden.is_none() {
            if read || written && depth == 0 {
                return read;
            }
            hidden = written.then_some(depth);
        }
        match op {
            Op::If { .. } | Op::Loop => depth += 1,
            Op::EndIf { .. } | Op::EndLoop { .. } => depth -= 1,
            _ => {}
        }
        let ended = |within: i32| depth < within || depth == within && matches!(op, Op::Else { .. });
        hidden = hidden.filter(|within| !ended(*within));
        begun |= at >= last.op && depth == 0;
    }
    true
}

#[cfg(test)]
mod tests {
    use crate::isa_choice::InstructionSet;
    use crate::op::LaunchKey;
    use crate::{load, native};

    /// How many guards each function has.
    fn guards(text: &str) -> Vec<usize> {
        let program = recal_il::compile(text.as_bytes()).unwrap();
        let (packed, known) = load::prepare(&program, true, false);
        let code = load::load_compiled(&packed, &known);
        let isa =
            InstructionSet::ALL.into_iter().filter_map(InstructionSet::code).find(|isa| isa.available());
        let Some(isa) = isa else { return Vec::new() };
        let body = native::compile(&code, isa, &LaunchKey { line: 32, ..LaunchKey::default() }).unwrap();
        body.guards.iter().map(Vec::len).collect()
    }

    #[test]
    fn steps_of_a_reduction_are_for_some_waves() {
        let mut text = String::from(
            "il_cs_2_0\ndcl_num_thread_per_group 256\ndcl_lds_id(0) 1024\ndcl_raw_uav_id(0)\ndcl_cb cb0[1]\n\
            dcl_literal l0, 2, 128, 64, 32\nmov r0.x, vTidInGrpFlat0.x\nishl r0.y, r0.x, l0.x\n\
            lds_store_id(0) r0.y, r0.x\nfence_threads_lds\n",
        );
        for step in ["l0.y", "l0.z", "l0.w"] {
            text += &format!(
                "ult r3.x, r0.x, {step}\nif_logicalnz r3.x\niadd r7.x, r0.x, {step}\nishl r7.x, r7.x, l0.x\n\
                lds_load_id(0) r8.x, r7.x\nlds_load_id(0) r9.x, r0.y\niadd r9.x, r9.x, r8.x\n\
                lds_store_id(0) r0.y, r9.x\nendif\nfence_threads_lds\n"
            );
        }
        text += "if_logicalz r0.x\nlds_load_id(0) r9.x, r0.y\numul r7.x, vThreadGrpIdFlat.x, l0.y\n\
            uav_raw_store_id(0) mem0.x___, r7.x, r9.x\nendif\nend\n";
        assert_eq!(guards(&text), [0, 1, 1, 1, 1, 1, 1, 1]);
    }
}
