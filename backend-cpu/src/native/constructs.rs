//! Whole constructs as parts of functions.
//!
//! What all lanes do before any goes on, the strips of one function do one after another. So a construct that stores to
//! memory which it loaded from, or the reverse, becomes several functions: each goes as far as strips may go alone, closes the choices that
//! are open, and the next one makes them again by a copy of what they tested. In loops that cannot be: they are then interpreted.

use super::{Builder, Item, MOST, What, compiler};
use crate::op::{MemoryOp, Op, RowId};

/// A construct that is open.
struct Open {
    /// Its operation, and where it is among the items of the function.
    op: usize,
    item: usize,
    /// The copy of the row that a choice tests, if there is one.
    kept: Option<RowId>,
    /// Its second side has begun.
    second: bool,
}

/// The functions of a construct.
#[derive(Default)]
struct Walk {
    /// Those that are done, with what comes last in each.
    done: Vec<(Vec<Item>, Item)>,
    items: Vec<Item>,
    /// See [`Builder::stores`].
    stores: bool,
    open: Vec<Open>,
    loops: usize,
    /// Rows for copies that are taken.
    copies: u32,
}

impl Walk {
    /// The next step, or access, of the construct; `None` if it cannot be done.
    fn push(&mut self, op: usize, what: What, first: RowId) -> Option<()> {
        if self.loops > 0 && what.stores() {
            return None;
        }
        if what.clash(&self.items, self.stores).is_some() {
            self.split(first)?;
        }
        self.stores |= what.stores();
        self.items.push(Item { op, what });
        Some(())
    }

    /// Ends the function at hand, and begins another one in the same choices. Copies are in rows from `first` on.
    fn split(&mut self, first: RowId) -> Option<()> {
        if self.loops > 0 {
            return None;
        }
        let last = *self.items.last()?;
        let mut before = 0;
        for open in &mut self.open {
            open.item += before;
            if open.kept.is_none() {
                let row = first + self.copies;
                open.kept = Some(row);
                self.copies += 1;
                self.items.insert(open.item, Item { op: open.op, what: What::Keep(row) });
                (open.item, before) = (open.item + 1, before + 1);
            }
        }
        let close = |open: &Open| Item { op: open.op, what: What::Close };
        self.items.extend(self.open.iter().rev().map(close));
        self.done.push((std::mem::take(&mut self.items), last));
        self.stores = false;
        for open in &mut self.open {
            open.item = self.items.len();
            self.items.push(Item { op: open.op, what: What::Again(open.kept?) });
            if open.second {
                self.items.push(Item { op: open.op, what: What::Otherwise });
            }
        }
        Some(())
    }
}

impl Builder<'_> {
    /// Takes the construct at `first` into the next functions, if all of it can be compiled; its last operation.
    pub(super) fn construct(&mut self, first: usize) -> Option<usize> {
        let copies = self.code.rows + self.body.own.len() as RowId + self.body.trail;
        let mut walk = Walk::default();
        let mut samples = false;
        let mut at = first;
        loop {
            match self.code.ops[at] {
                Op::Lanes { first, end } => {
                    for number in first..end {
                        if self.code.steps[number as usize].fused {
                            return None;
                        }
                        walk.push(at, What::Step(number), copies)?;
                    }
                }
                Op::Memory(index) => {
                    samples |= matches!(self.code.memory[index as usize].op, MemoryOp::Sample(_));
                    walk.push(at, self.access(index)?, copies)?;
                }
                Op::Break { .. } if walk.loops == 0 => return None,
                Op::Break { .. } => walk.push(at, What::Flow, copies)?,
                Op::Else { .. } => {
                    walk.push(at, What::Flow, copies)?;
                    walk.open.last_mut()?.second = true;
                }
                Op::If { .. } | Op::Loop => {
                    let open = Open { op: at, item: walk.items.len(), kept: None, second: false };
                    walk.push(at, What::Flow, copies)?;
                    walk.open.push(open);
                    walk.loops += usize::from(matches!(self.code.ops[at], Op::Loop));
                }
                Op::EndIf { .. } | Op::EndLoop { .. } => {
                    walk.push(at, What::Flow, copies)?;
                    walk.open.pop();
                    walk.loops -= usize::from(matches!(self.code.ops[at], Op::EndLoop { .. }));
                }
                _ => return None,
            }
            if walk.open.is_empty() {
                break;
            }
            at += 1;
        }
        let Walk { mut done, items, copies, stores, .. } = walk;
        let last = *items.last()?;
        done.push((items, last));
        if self.way.alone {
            // What can't be compiled alone can't be with more.
            let mut trial = compiler(self.code, self.isa, self.key.line);
            std::mem::swap(&mut trial, &mut self.compiler);
            let each = done.iter().all(|(items, last)| self.function(items, *last).is_some());
            std::mem::swap(&mut trial, &mut self.compiler);
            if !each {
                return None;
            }
        }
        let clashes = |inner: &Item| inner.what.clash(&self.items, self.stores).is_some();
        if done[0].0.iter().any(clashes) || self.items.len() > MOST {
            self.close();
        }
        self.body.samples |= samples;
        self.body.copies = self.body.copies.max(self.body.own.len() as u32 + self.body.trail + copies);
        let whole = done.pop().map(|(items, _)| items)?;
        for (mut items, last) in done {
            self.items.append(&mut items);
            self.close_after(last);
        }
        self.stores |= stores;
        self.items.extend(whole);
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use crate::isa_choice::InstructionSet;
    use crate::op::{Emitted, LaunchKey, Op};
    use crate::{load, native};

    /// How many ifs and functions of machine code are left of a kernel whose one `if` has so many elements at a time, before another `if`.
    fn left(elements: u32) -> Vec<[usize; 2]> {
        let mut text = String::from(
            "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_cb cb0[1]\ndcl_literal l0, 4, 16, 1, 0\n\
            ishl r0.x, vAbsTid.x, l0.x\nitof r9, r0.x\nmov r1, r9\nif_logicalnz r0.x\n",
        );
        for register in 0..elements {
            let to = 10 + register;
            text += &format!("mad r{to}, r{0}, cb0[0], r{0}.yzwx\n", to - 1);
        }
        for register in (0..elements).rev() {
            text += &format!("add r1, r1, r{}\n", 10 + register);
        }
        text += "endif\nilt r2.x, r0.x, l0.y\nif_logicalnz r2.x\nadd r1, r1, r1\nendif\n\
            uav_raw_store_id(0) mem0, r0.x, r1\nend\n";
        let program = recal_il::compile(text.as_bytes()).unwrap();
        let (packed, known) = load::prepare(&program, true, false);
        let code = load::load_compiled(&packed, &known);
        let left = |set: InstructionSet| {
            let body =
                native::compile(&code, set.code().unwrap(), &LaunchKey { line: 64, ..LaunchKey::default() })
                    .unwrap();
            let count = |is: fn(&Op) -> bool| body.ops.iter().filter(|op| is(op)).count();
            [count(|op| matches!(op, Op::If { .. })), count(|op| matches!(op, Op::Native(_)))]
        };
        [InstructionSet::Avx2, InstructionSet::Avx512, InstructionSet::Neon].map(left).into()
    }

    /// The operations that are left of a pixel kernel with this in a loop, functions of machine code aside.
    fn flow(text: &str, functions: &str) -> Vec<String> {
        let text = format!(
            "il_ps_2_0\ndcl_output_generic o0\ndcl_cb cb0[1]\ndcl_literal l0, 1, 2, 3, 0\nmov r0.x, vObjIndex0.x\n\
            whileloop\nige r1.x, r0.x, cb0[0].x\nbreak_logicalnz r1.x\niadd r0.x, r0.x, l0.x\n\
            and r1.x, r0.x, l0.z\n{text}imul r0.x, r0.x, l0.z\nendloop\nmov o0, r0.xxxx\nendmain\n{functions}end\n"
        );
        let program = recal_il::compile(text.as_bytes()).unwrap();
        let (packed, known) = load::prepare(&program, true, false);
        let code = load::load_compiled(&packed, &known);
        let key = LaunchKey { line: 64, ..LaunchKey::default() };
        let body = native::compile(&code, InstructionSet::Avx2.code().unwrap(), &key).unwrap();
        let others = body.ops.iter().filter(|op| !matches!(op, Op::Native(_)));
        others.map(|op| format!("{op:?}").split([' ', '(']).next().unwrap().to_string()).collect()
    }

    #[test]
    fn jumps_are_in_the_code_of_what_is_around() {
        let jump = |text: &str| flow(text, "");
        assert_eq!(jump("if_logicalnz r1.x\niadd r0.x, r0.x, l0.y\ncontinue\nendif\n"), ["End"]);
        assert_eq!(jump("continue_logicalnz r1.x\n"), ["End"]);
        let arms = "switch r1.x\ncase 1\niadd r0.x, r0.x, l0.y\nbreak\ncase 2\nbreak_logicalnz r0.x\n\
            default\nimul r0.x, r0.x, l0.y\nbreak\nendswitch\n";
        assert_eq!(jump(arms), ["End"]);
        assert_eq!(
            flow("call_logicalnz r1.x, 1\n", "func 1\nret_logicalnz r0.x\niadd r0.x, r0.x, l0.y\nret\n")[0],
            "End"
        );
        // Threads end behind it.
        assert_eq!(jump("if_logicalnz r1.x\nret_dyn\nendif\n"), ["Return", "End"]);
        assert_eq!(jump("discard_logicalnz r1.x\n"), ["Discard", "Return", "End"]);
    }

    /// Outputs of launches of whole waves; NEON takes their elements apart, and leaves rows.
    #[test]
    fn whole_waves_have_code_on_every_target() {
        let text = "il_ps_2_0\ndcl_output_generic o0\ndcl_cb cb0[1]\nadd o0, cb0[0], vWinCoord0.xyxy\nend\n";
        let program = recal_il::compile(text.as_bytes()).unwrap();
        let (packed, known) = load::prepare(&program, true, false);
        let code = load::load_compiled(&packed, &known);
        for set in [InstructionSet::Avx2, InstructionSet::Avx512, InstructionSet::Neon] {
            let outputs = [Emitted { words: 4, past_caches: false }].into();
            let key = LaunchKey { line: 64, whole: true, outputs, ..LaunchKey::default() };
            let body = native::compile(&code, set.code().unwrap(), &key).unwrap();
            assert!(matches!(body.ops[..], [Op::Native(_), Op::End]), "{set:?}");
            assert_eq!(body.emitted.is_empty(), set == InstructionSet::Neon, "{set:?}");
        }
    }

    #[test]
    fn a_construct_with_too_many_values_is_left_and_others_are_not() {
        for few in left(10) {
            assert_eq!(few, [0, 1]);
        }
        for [ifs, functions] in left(260) {
            assert_eq!(ifs, 1);
            assert!(functions > 2, "{functions}");
        }
    }
}
