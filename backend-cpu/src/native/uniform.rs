//! Choices that all threads of a group make alike, whatever memory holds.
//!
//! The words of a row are the same for all threads of a group if they are computed of words that are, where all threads do so. Constructs are
//! walked in their order, loops until nothing changes.

use recal_il::ir::{Builtin, ThreadId};
use rustc_hash::FxHashSet;

use crate::op::{Code, MemoryOp, Op, RowId, Test};

/// A construct that is open.
struct Open {
    /// Its operation.
    at: usize,
    repeats: bool,
    /// Threads part in it.
    parted: bool,
    /// What was known before it; of a loop, whenever it begins again.
    before: Vec<bool>,
    /// What its first side left.
    first: Option<Vec<bool>>,
    /// What is known where the loop is left.
    exits: Vec<Vec<bool>>,
    written: Vec<RowId>,
}

struct Walk {
    /// For each row, whether all threads have the same word in it.
    same: Vec<bool>,
    open: Vec<Open>,
    alike: FxHashSet<usize>,
}

/// The operations of main whose conditions hold for all threads of a group or for none.
pub(super) fn alike(code: &Code) -> FxHashSet<usize> {
    // Those write rows by computed numbers.
    let arrays = code.memory.iter().any(|access| matches!(access.op, MemoryOp::ArrayStore { .. }));
    if arrays { FxHashSet::default() } else { Walk::new(code).walk(code).unwrap_or_default() }
}

/// What is known both here and there.
fn meet(here: &mut [bool], there: &[bool]) {
    here.iter_mut().zip(there).for_each(|(here, there)| *here &= there);
}

impl Walk {
    fn new(code: &Code) -> Walk {
        let mut same = vec![false; code.rows as usize];
        let groups = code.builtins.iter().filter(|(_, builtin)| {
            matches!(builtin, Builtin::Thread(ThreadId::Group | ThreadId::GroupFlat, _))
        });
        let rows =
            code.literals.iter().map(|(row, _)| *row).chain(code.constants.iter().map(|(row, ..)| *row));
        let rows = rows.chain(groups.map(|(row, _)| *row)).chain(code.zeroed.iter().cloned().flatten());
        rows.for_each(|row| same[row as usize] = true);
        Walk { same, open: Vec::new(), alike: FxHashSet::default() }
    }

    fn parted(&self) -> bool {
        self.open.iter().any(|open| open.parted)
    }

    fn write(&mut self, row: RowId, same: bool) {
        self.same[row as usize] = same && !self.parted();
        self.open.iter_mut().for_each(|open| open.written.push(row));
    }

    /// Whether all threads decide alike.
    fn decide(&mut self, at: usize, test: Option<&Test>) -> bool {
        let alike = !self.parted() && test.is_none_or(|test| self.same[test.row as usize]);
        match alike {
            true => self.alike.insert(at),
            false => self.alike.remove(&at),
        };
        alike
    }

    /// Threads leave the innermost loop.
    fn leave(&mut self, at: usize, test: Option<&Test>) -> Option<()> {
        let alike = self.decide(at, test);
        let within = self.open.iter().rposition(|open| open.repeats)?;
        let inner = &mut self.open[within];
        inner.parted |= !alike;
        if inner.parted {
            inner.written.iter().for_each(|row| self.same[*row as usize] = false);
        }
        inner.exits.push(self.same.clone());
        Some(())
    }

    /// Closes a construct whose threads come together again.
    fn close(&mut self) {
        if let Some(Open { parted: true, written, .. }) = self.open.pop() {
            written.iter().for_each(|row| self.same[*row as usize] = false);
        }
    }

    fn walk(mut self, code: &Code) -> Option<FxHashSet<usize>> {
        let mut at = 0;
        loop {
            let op = &code.ops[at];
            match op {
                Op::Lanes { first, end } => {
                    for (writes, reads) in (*first..*end).map(|step| code.ids(step as usize)) {
                        let same = reads.iter().all(|row| self.same[*row as usize]);
                        writes.iter().for_each(|row| self.write(*row, same));
                    }
                }
                Op::Memory(index) => code.memory[*index as usize].op.each_row(|row, write| {
                    if write {
                        self.write(row, false);
                    }
                }),
                Op::If { cond, .. } => {
                    let parted = !self.decide(at, Some(cond));
                    self.open(at, false, parted);
                }
                Op::Loop => self.open(at, true, false),
                Op::Else { .. } => {
                    let open = self.open.last_mut()?;
                    open.first = Some(std::mem::replace(&mut self.same, open.before.clone()));
                }
                Op::EndIf { .. } => {
                    let open = self.open.last_mut()?;
                    meet(&mut self.same, open.first.as_ref().unwrap_or(&open.before));
                    self.close();
                }
                Op::EndLoop { .. } => {
                    let open = self.open.last_mut()?;
                    let mut head = open.before.clone();
                    meet(&mut head, &self.same);
                    if head != open.before {
                        self.same = head.clone();
                        open.before = head;
                        open.exits.clear();
                        at = open.at + 1;
                        continue;
                    }
                    self.same = head;
                    let exits = std::mem::take(&mut open.exits);
                    if let Some((first, rest)) = exits.split_first() {
                        self.same.clone_from(first);
                        rest.iter().for_each(|exit| meet(&mut self.same, exit));
                    }
                    self.close();
                }
                Op::Break { cond, .. } => self.leave(at, cond.as_ref())?,
                Op::Fence(_) => {}
                Op::End => return Some(self.alike),
                _ => return None,
            }
            at += 1;
        }
    }

    fn open(&mut self, at: usize, repeats: bool, parted: bool) {
        self.open.push(Open {
            at,
            repeats,
            parted,
            before: self.same.clone(),
            first: None,
            exits: Vec::new(),
            written: Vec::new(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load;

    /// How many of the choices of a kernel are made alike, and how many there are.
    fn counts(text: &str) -> [usize; 2] {
        let head = "il_cs_2_0\ndcl_num_thread_per_group 128\ndcl_raw_uav_id(0)\ndcl_lds_id(0) 512\ndcl_cb cb0[1]\n\
            dcl_literal l0, 0, 1, 9, 4\n";
        let program = recal_il::compile(format!("{head}{text}end\n").as_bytes()).unwrap();
        let (packed, known) = load::prepare(&program, true, false);
        let code = load::load_compiled(&packed, &known);
        let choices =
            code.ops.iter().filter(|op| matches!(op, Op::If { .. } | Op::Break { cond: Some(_), .. }));
        let alike = alike(&code);
        let conditional =
            |at: &&usize| matches!(code.ops[**at], Op::If { .. } | Op::Break { cond: Some(_), .. });
        [alike.iter().filter(conditional).count(), choices.count()]
    }

    const STORE: &str = "uav_raw_store_id(0) mem0.x, vTidInGrpFlat.x, r2.x\n";

    #[test]
    fn what_depends_on_the_launch_and_the_group_is_alike() {
        let until = |bound: &str, step: &str| {
            format!(
                "whileloop\nige r1.x, r0.x, {bound}\nbreak_logicalnz r1.x\n{STORE}iadd r0.x, r0.x, {step}\nendloop\n"
            )
        };
        assert_eq!(counts(&until("cb0[0].x", "l0.y")), [1, 1]);
        assert_eq!(counts(&until("vThreadGrpId.x", "l0.y")), [1, 1]);
        assert_eq!(counts(&until("vTidInGrpFlat.x", "l0.y")), [0, 1]);
        // What counts is the same at first only.
        assert_eq!(counts(&until("cb0[0].x", "vAbsTidFlat.x")), [0, 1]);
        // Memory may hold anything.
        let loaded = "uav_raw_load_id(0) r1.x, l0.x\nif_logicalnz r1.x\n";
        assert_eq!(counts(&format!("{loaded}{STORE}endif\n")), [0, 1]);
    }

    #[test]
    fn where_threads_part_nothing_stays_the_same() {
        let part = "if_logicalnz vTidInGrpFlat.x\nmov r2.x, l0.z\n";
        let ask = format!("if_logicalnz r2.x\n{STORE}endif\n");
        assert_eq!(counts(&format!("mov r2.x, l0.y\n{part}endif\n{ask}")), [0, 2]);
        assert_eq!(counts(&format!("mov r2.x, l0.y\n{part}else\nmov r2.x, l0.z\nendif\n{ask}")), [0, 2]);
        // The choice inside is made by some.
        assert_eq!(counts(&format!("{part}if_logicalnz cb0[0].x\n{STORE}endif\nendif\n")), [0, 2]);
        let alike = "if_logicalnz cb0[0].x\nmov r2.x, l0.z\nelse\nmov r2.x, l0.w\nendif\n";
        assert_eq!(counts(&format!("{alike}{ask}")), [2, 2]);
        // A loop that threads leave at different rounds.
        let parted = |before: &str| {
            format!(
                "mov r2.x, l0.x\nwhileloop\n{before}ige r1.x, r2.x, vTidInGrpFlat.x\nbreak_logicalnz r1.x\n\
                iadd r2.x, r2.x, l0.y\nendloop\n{ask}"
            )
        };
        assert_eq!(counts(&parted("")), [0, 2]);
        assert_eq!(counts(&parted("ige r3.x, r2.x, cb0[0].x\nbreak_logicalnz r3.x\n")), [0, 3]);
    }
}
