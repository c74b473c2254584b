//! Kernels of which one function does a whole group, with its memory in registers: [`recal_jit::Compiler::group`].

use recal_il::ir::{Builtin, Fence, ThreadId};
use recal_jit::Group;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Builder, Item, What};
use crate::flow::orders;
use crate::launch::{GROUP, grown, place_own};
use crate::op::{Op, Place, RowId};
use crate::wave::{LANES, Row};

/// Most threads.
const MOST: u32 = 1024;

impl Builder<'_> {
    /// Makes the kernel one function, if it can be made for groups of `block` threads.
    pub(super) fn whole_group(&mut self, block: [u32; 3]) -> bool {
        let threads = block.iter().try_fold(1u32, |threads, size| threads.checked_mul(*size));
        let Some(threads) = threads.filter(|threads| (1..=MOST).contains(threads)) else { return false };
        let Some(items) = self.items_of_group() else { return false };
        let code = self.code;
        let own = |builtin: Builtin| {
            matches!(
                builtin,
                Builtin::Thread(ThreadId::InGroup | ThreadId::InGroupFlat, _) | Builtin::WaveSlot
            )
        };
        // What depends on the group is words that code finds.
        let (shared, copies) = (&self.body.own, |builtin: Builtin| matches!(builtin, Builtin::Thread(..)));
        if !code.builtins.iter().all(|(_, builtin)| own(*builtin) || copies(*builtin)) {
            return false;
        }
        let placed: Vec<(RowId, Builtin)> =
            code.builtins.iter().chain(shared).copied().filter(|(_, builtin)| own(*builtin)).collect();
        let rows = placed.iter().map(|(row, _)| row + 1).max().unwrap_or(0) as usize;
        let mut words: Vec<(u32, Vec<u32>)> = placed.iter().map(|(row, _)| (*row, Vec::new())).collect();
        for wave in 0..threads.div_ceil(LANES as u32) as usize {
            let mut of_wave = vec![Row::ZERO; rows];
            place_own(&mut of_wave, &placed, block, wave);
            words.iter_mut().for_each(|(row, words)| words.extend(of_wave[*row as usize].0));
        }
        let Some(steps) = self.steps(&items, &[]) else { return false };
        let memories: FxHashMap<u8, u32> = (0..)
            .zip(&self.body.views)
            .filter_map(|(number, (place, _))| match place {
                Place::Lds { bytes, .. } => Some((number, bytes / 4)),
                _ => None,
            })
            .collect();
        let same: FxHashSet<u32> = code.constants.iter().map(|(row, ..)| *row).collect();
        let grown: Vec<(u8, u8, u32)> =
            (0..).zip(grown(block)).map(|(word, by)| (GROUP, word, by)).filter(|(.., by)| *by > 0).collect();
        let group = Group { threads, own: &words, same: &same, grown: &grown, memories: &memories };
        let zeroed = |row: RowId| code.zeroed.iter().any(|range| range.contains(&row)).then_some(0);
        let literals = &self.words;
        let constant = |row: RowId| literals.get(&row).copied().or_else(|| zeroed(row));
        self.compiler.ask_ahead(self.wanted_next());
        let Some(function) = self.compiler.group(&steps, constant, &group) else { return false };
        self.push(&items, function);
        self.body.ops.push(Op::End);
        true
    }

    /// All of the kernel, if there are nothing but operations, accesses, choices and barriers.
    fn items_of_group(&self) -> Option<Vec<Item>> {
        let code = self.code;
        if !(code.barriers || code.in_place) || !code.outputs.is_empty() || code.shared > 0 {
            return None;
        }
        let mut items = Vec::new();
        for (at, op) in code.ops.iter().enumerate() {
            let item = |what: What| Item { op: at, what };
            match op {
                Op::Lanes { first, end } => {
                    if (*first..*end).any(|number| code.steps[number as usize].fused) {
                        return None;
                    }
                    items.extend((*first..*end).map(|number| item(What::Step(number))));
                }
                Op::Memory(index) => items.push(item(self.access(*index)?)),
                Op::If { .. } | Op::Else { .. } | Op::EndIf { .. } => items.push(item(What::Flow)),
                Op::Fence(fence) if orders(*fence) => return None,
                Op::Fence(fence) if fence.contains(Fence::THREADS) => items.push(item(What::Barrier)),
                Op::Fence(_) => {}
                Op::End => break,
                _ => return None,
            }
        }
        Some(items)
    }
}

#[cfg(test)]
mod tests {
    use crate::isa_choice::InstructionSet;
    use crate::op::{LaunchKey, Op};
    use crate::{load, native};

    const HEAD: &str = "il_cs_2_0\ndcl_num_thread_per_group 256\ndcl_lds_id(0) 1024\ndcl_lds_id(1) 1024\ndcl_raw_uav_id(0)\ndcl_cb cb0[1]\n\
        dcl_literal l0, 2, 128, 64, 32\ndcl_literal l1, 4, 1, 0, 255\nmov r0.x, vTidInGrpFlat.x\nishl r0.y, r0.x, l0.x\n\
        ishl r0.z, vAbsTidFlat.x, l0.x\nuav_raw_load_id(0) r1.x, r0.z\nlds_store_id(0) r0.y, r1.x\nfence_threads_lds\n";
    const END: &str = "if_logicalz r0.x\nlds_load_id(0) r9.x, r0.y\n\
        umul r7.x, vThreadGrpIdFlat.x, l0.y\nuav_raw_store_id(0) mem0.x___, r7.x, r9.x\nendif\nend\n";

    /// A step of a reduction for threads below a number: what is added is what the one so many on has left.
    fn step(below: &str, on: &str) -> String {
        format!(
            "ult r3.x, r0.x, {below}\nif_logicalnz r3.x\niadd r7.x, r0.x, {on}\nishl r7.x, r7.x, l0.x\n\
            lds_load_id(0) r8.x, r7.x\nlds_load_id(0) r9.x, r0.y\niadd r9.x, r9.x, r8.x\n\
            lds_store_id(0) r0.y, r9.x\nendif\n"
        )
    }

    fn steps() -> String {
        ["l0.y", "l0.z", "l0.w"].map(|at| step(at, at) + "fence_threads_lds\n").concat()
    }

    /// One function does all of the kernel, for groups of so many threads.
    fn one(text: &str, threads: u32) -> bool {
        let program = recal_il::compile(text.as_bytes()).unwrap();
        let (packed, known) = load::prepare(&program, true, false);
        let code = load::load_compiled(&packed, &known);
        let one = [InstructionSet::Avx2, InstructionSet::Avx512].map(|set| {
            let isa = set.code().unwrap();
            let body = native::compile(
                &code,
                isa,
                &LaunchKey { line: 32, block: Some([threads, 1, 1]), ..LaunchKey::default() },
            )
            .unwrap();
            matches!(body.ops[..], [Op::Native(function), Op::End] if function.of_group())
        });
        assert_eq!(one[0], one[1]);
        one[0]
    }

    #[test]
    fn a_reduction_is_one_function() {
        let with = |steps: &str| [HEAD, steps, END].concat();
        assert!(one(&with(&steps()), 256));
        assert!(one(&with(&steps()), 100));
        assert!(!one(&with(&steps()), 2048));
        let first = steps();
        let others = |other: &str| with(&(first.clone() + other));
        // What the thread before has left, and the one after, which changes that.
        let earlier =
            step("l0.w", "l1.w").replace("ishl r7.x, r7.x", "iand r7.x, r7.x, l1.w\nishl r7.x, r7.x");
        assert!(one(&others(&earlier), 256));
        assert!(one(&others(&step("l1.x", "l1.x")), 256));
        assert!(one(&others(&step("l1.x", "l1.y")), 256));
        // Threads of two waves, which do not wait for each other.
        let hurried = with(&first.replacen("fence_threads_lds\n", "", 1));
        assert!(!one(&hurried, 256));
        // The last of those that store to one word.
        assert!(!one(
            &others("ult r3.x, r0.x, l0.w\nif_logicalnz r3.x\nlds_store_id(1) l1.z, r0.x\nendif\n"),
            256
        ));
        assert!(!one(&others("uav_raw_store_id(0) mem0.x, r0.z, r0.x\n"), 256));
        // Nobody knows where that is: an address that memory told, and one that another side left.
        assert!(!one(&others("lds_load_id(0) r8.x, r0.y\nlds_store_id(0) r8.x, r0.x\n"), 256));
        let side = |ends: &str, after: &str| {
            let few = "ult r3.x, r0.x, l0.w\nif_logicalnz r3.x\nmov r5.x, r0.y\nif_logicalnz cb0[0].x\n";
            let [moved, store] = ["iadd r5.x, r0.y, l1.x\n", "lds_store_id(1) r5.x, r0.x\n"];
            one(&others(&[few, moved, ends, store, after, "endif\n"].concat()), 256)
        };
        assert!(!side("endif\n", ""));
        assert!(side("", "endif\n"));
        // A wave that stores to what it loads from, but in a loop, or where it may load what it stored.
        let moved = |more: &str| {
            let text = format!(
                "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 2, 1, 63, 0\n\
                ishl r0.x, vAbsTid.x, l0.x\nixor r0.y, vAbsTid.x, l0.y\nishl r0.y, r0.y, l0.x\n\
                uav_raw_load_id(0) r1.x, r0.x\nuav_raw_load_id(0) r1.y, r0.y\nuav_raw_store_id(0) mem0.x, r0.y, r1.x\n\
                uav_raw_store_id(0) mem0.x, r0.x, r1.y\n{more}end\n"
            );
            [64, 128].map(|threads| one(&text, threads))
        };
        assert_eq!(moved(""), [true, false]);
        assert_eq!(
            moved("uav_raw_load_id(0) r1.x, r0.x\nuav_raw_store_id(0) mem0.x, r0.y, r1.x\n"),
            [false; 2]
        );
        assert_eq!(moved("whileloop\nbreak_logicalnz r1.x\niadd r1.x, r1.x, l0.y\nendloop\n"), [false; 2]);
        // Memory that other groups see, in an order that they may see.
        assert!(!one(&with(&first.replacen("fence_threads_lds", "fence_threads_lds_memory", 1)), 256));
        assert!(!one(&others("uav_add_id(0) r0.z, r0.x\n"), 256));
    }
}
