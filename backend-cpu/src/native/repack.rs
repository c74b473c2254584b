//! Compaction of lanes: a loop that lanes leave one by one is left when few of them are in it. They are brought together with those of other
//! strips and waves, and go on in a function that is the loop alone; what comes after it is done in a third one.

use std::ops::Range;

use recal_il::ir::lines::Shape;
use recal_jit::Function;
use rustc_hash::FxHashSet;

use super::item::{Item, What};
use super::{Builder, stages};
use crate::op::{Op, Repack, RowId, Test};

impl Builder<'_> {
    /// The longest loop of a function, in no choice and no other loop, that lanes of a line leave apart.
    pub(super) fn repacked(&self, items: &[Item]) -> Option<Range<usize>> {
        let mut found: Option<Range<usize>> = None;
        let apart = |test: &Test| test.lanes != Shape::Same;
        // Constructs that are open: where they begin, whether they are loops, and whether lanes leave them, or take them, apart.
        let mut open: Vec<(usize, bool, bool)> = Vec::new();
        for (at, item) in items.iter().enumerate() {
            match (item.what, &self.code.ops[item.op]) {
                (What::Flow, Op::Loop) => open.push((at, true, false)),
                (What::Flow, Op::If { cond, .. }) => open.push((at, false, apart(cond))),
                (What::Again(_), _) => open.push((at, false, true)),
                (What::Flow, Op::Break { cond, .. }) => {
                    let of = open.iter().rposition(|of| of.1)?;
                    open[of].2 |= cond.as_ref().is_some_and(apart) || open[of + 1..].iter().any(|of| of.2);
                }
                (What::Flow, Op::EndLoop { .. } | Op::EndIf { .. }) | (What::Close, _) => {
                    let (first, repeats, apart) = open.pop()?;
                    let longer = found.as_ref().is_none_or(|of| at - first > of.len());
                    if open.is_empty() && repeats && apart && longer {
                        found = Some(first..at + 1);
                    }
                }
                // What a function tests is what it returns.
                (What::Test(_), _) => return None,
                _ => {}
            }
        }
        found.filter(|_| stages::possible(&self.code.ops))
    }

    /// What goes on with lanes that the function of these items leaves in the loop.
    pub(super) fn repack(
        &mut self,
        items: &[Item],
        of: Range<usize>,
        last: Item,
        function: Function,
    ) -> Option<Repack> {
        function.repacks()?;
        let (inside, rest) = (&items[of.clone()], &items[of.end..]);
        let rest: Vec<Item> = rest.iter().copied().filter(|item| !item.what.is_output()).collect();
        self.compiler.scattered(Some(function));
        self.compiler.repack(Some(0));
        let repeat = self.function(inside, inside[inside.len() - 1]);
        let rest = if rest.is_empty() { Some(None) } else { self.function_for(&rest, last, true).map(Some) };
        self.compiler.scattered(None);
        let (brought, taken) = self.carried(inside);
        Some(Repack { repeat: repeat?, rest: rest?, brought, taken })
    }

    /// The rows that lanes in a loop bring along, and take back.
    fn carried(&self, inside: &[Item]) -> (Vec<RowId>, Vec<RowId>) {
        let code = self.code;
        let (mut read, mut written): (FxHashSet<RowId>, FxHashSet<RowId>) = Default::default();
        for item in inside {
            match item.what {
                What::Step(number) => {
                    let (to, from) = code.ids(number as usize);
                    written.extend(to);
                    read.extend(from);
                }
                What::Load(index, _) => {
                    code.memory[index as usize].op.each_row(|row, is_written| {
                        _ = if is_written { written.insert(row) } else { read.insert(row) }
                    });
                }
                What::Flow => code.ops[item.op].each_read(|row| _ = read.insert(row)),
                _ => {}
            }
        }
        let at_head = self.lives.before(inside[0].op + 1);
        let after = self.lives.after(inside, inside[inside.len() - 1]);
        let fixed: FxHashSet<RowId> =
            code.literals.iter().map(|of| of.0).chain(code.constants.iter().map(|of| of.0)).collect();
        let found = |row: &RowId| *row >= code.registers || at_head.contains(*row);
        let (words, _) = crate::launch::shared(code);
        // What depends on the group is added to a place, or is the same for all.
        let place = |row: RowId| words.get(&row).map_or(Some(row), |shared| shared.plus);
        let brought = read.iter().copied().filter(|row| found(row) && !fixed.contains(row)).filter_map(place);
        let taken = written.iter().copied().filter(|row| at_head.contains(*row) || after.contains(*row));
        let mut taken: Vec<RowId> = taken.collect();
        // Who leaves before it writes one of them takes back what it had.
        let mut brought: Vec<RowId> = brought.chain(taken.iter().copied()).collect();
        brought.sort_unstable();
        brought.dedup();
        taken.sort_unstable();
        (brought, taken)
    }
}

#[cfg(test)]
mod tests {
    use crate::isa_choice::InstructionSet;
    use crate::op::{Body, LaunchKey};
    use crate::wave::{Row, lanes};
    use crate::{load, native};

    /// What becomes of a kernel in which threads leave a loop as this says, as code for each instruction set.
    fn bodies(leave: &str) -> Vec<Body> {
        let text = format!(
            "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_raw_uav_id(1)\ndcl_cb cb0[1]\ndcl_literal l0, 4, 1, 63, 0\n\
            mov r0.x, vAbsTidFlat.x\niand r1.x, r0.x, l0.z\nmov r3.x, r0.x\nwhileloop\n{leave}\nimul r3.x, r3.x, r3.x\n\
            iand r4.x, r3.x, l0.z\nuav_raw_load_id(1) r4.x, r4.x\nixor r3.x, r3.x, r4.x\niadd r1.x, r1.x, l0.y\nendloop\n\
            iadd r3.x, r3.x, r0.x\nimul r5.x, r3.x, r1.x\nimul r0.x, r0.x, l0.x\nuav_raw_store_id(0) mem0.x, r0.x, r5.x\nend\n"
        );
        let program = recal_il::compile(text.as_bytes()).unwrap();
        let (packed, known) = load::prepare(&program, true, false);
        let code = load::load_compiled(&packed, &known);
        let key = LaunchKey { line: 64, whole: true, ..LaunchKey::default() };
        [InstructionSet::Avx2, InstructionSet::Avx512, InstructionSet::Neon]
            .map(|set| native::compile_listed(&code, set.code().unwrap(), &key).unwrap())
            .into()
    }

    const APART: &str = "ige r2.x, r1.x, l0.z\nbreak_logicalnz r2.x";

    #[test]
    fn loops_that_all_leave_together_are_not_left_before() {
        let left = |leave: &str| bodies(leave).iter().map(Body::repacks).collect::<Vec<_>>();
        assert_eq!(left(APART), [true; 3]);
        assert_eq!(
            left("ige r2.x, r1.x, l0.z\nif_logicalnz r2.x\nimul r3.x, r3.x, r0.x\nbreak\nendif"),
            [true; 3]
        );
        let together = "ige r2.x, r6.x, cb0[0].x\nbreak_logicalnz r2.x\niadd r6.x, r6.x, l0.y";
        assert_eq!(left(together), [false; 3]);
    }

    /// Others of the wave have done what comes after the loop, and what they have found is not stored yet.
    #[test]
    fn what_comes_after_the_loop_is_done_for_some_lanes_alone() {
        for body in bodies(APART) {
            let rest = body.repacks.iter().flatten().find_map(|repack| repack.rest).unwrap();
            let views = vec![recal_jit::View::of_words([0; recal_jit::SHARED]); body.views.len()];
            let row = |row: u32| Row(std::array::from_fn(|lane| 1 + row * 64 + lane as u32));
            let before: Vec<Row> = (0..64).map(row).collect();
            let mut rows = before.clone();
            let (exec, never) = (0x00FF_0000_F000_0300, crate::context::Stop::after(None, None));
            body.module.unwrap().evaluate(rest, &mut rows, &views, exec, &mut recal_jit::Ticks::new(&never));
            let same = |row: usize, of: u64| lanes(of).all(|lane| rows[row].0[lane] == before[row].0[lane]);
            assert!((0..64).all(|row| same(row, !exec)));
            assert!(!(0..64).all(|row| same(row, exec)));
        }
    }
}
