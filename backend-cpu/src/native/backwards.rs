//! Kernels that one function does for a group, from the last thread to the first.
//!
//! In a reduction a thread reads what itself and later ones have stored, and fewer threads take part in each step than in the one before.
//! If the last strip goes through all steps first, then the one before it, each finds in group memory what it would find if all had
//! waited for each other. So barriers need nothing, and who takes no part in a step takes none in what follows. Whether that is
//! so is found out thread by thread: where threads access group memory follows from their places in the group.

use std::collections::{HashMap, HashSet};

use recal_il::ir::{Builtin, Fence, ThreadId};
use recal_il::isa::lane::Class;

use super::{Builder, Item, What};
use crate::flow::orders;
use crate::launch::place_own;
use crate::op::{Code, MemoryOp, NONE, Op, Place, RowId, Rows4};
use crate::wave::{LANES, Mask, Row, lanes, launched, nonzero};

/// Most rows that are worked out.
const MOST: usize = 4096;
/// Most operations that all threads do: of more, waves do well to have code without masks.
const LONGEST: usize = 64;
/// Most operations of all: threads are looked at one by one.
const MOST_ITEMS: usize = 512;
/// Fewest choices behind which some threads have nothing to do.
const FEWEST: usize = 2;

impl Builder<'_> {
    /// Makes the kernel one function, if that gives what groups of `block` threads are to give, and pays.
    pub(super) fn backwards(&mut self, block: [u32; 3]) -> bool {
        let Some(items) = Walk::new(self.code, block).and_then(|walk| walk.items(self)) else { return false };
        self.compiler.backwards(true);
        let function = self.function_of(&items, |_| true);
        self.compiler.backwards(false);
        let Some(function) = function else { return false };
        self.push(&items, function);
        self.body.ops.push(Op::End);
        true
    }
}

/// Who has accessed a word.
#[derive(Clone, Copy, Default)]
struct Touched {
    /// The first of all threads that have, if any has.
    least: Option<usize>,
    /// The waves that have since the last barrier, and which that was.
    waves: u64,
    barrier: usize,
}

impl Touched {
    fn add(&mut self, thread: usize, barrier: usize) {
        self.least = Some(self.least.map_or(thread, |least| least.min(thread)));
        let waves = if self.barrier == barrier { self.waves } else { 0 };
        (self.waves, self.barrier) = (waves | 1 << (thread / LANES), barrier);
    }

    /// A thread that accesses it next comes after them if later threads do all that they do first; and waves that do not wait for each other
    /// have no part in it.
    fn before(&self, thread: usize, barrier: usize) -> bool {
        let alone = self.barrier != barrier || self.waves & !(1 << (thread / LANES)) == 0;
        self.least.is_none_or(|least| least >= thread && alone)
    }
}

/// Who has loaded a word, and who has stored to it.
#[derive(Clone, Copy, Default)]
struct Word {
    loaded: Touched,
    stored: Touched,
}

impl Word {
    fn before(&self, thread: usize, barrier: usize, stores: bool) -> bool {
        self.stored.before(thread, barrier) && (!stores || self.loaded.before(thread, barrier))
    }

    fn add(&mut self, thread: usize, barrier: usize, stores: bool) {
        if stores { &mut self.stored } else { &mut self.loaded }.add(thread, barrier);
    }
}

/// A memory.
#[derive(Default)]
struct Memory {
    words: HashMap<u32, Word>,
    /// Any of its words, and what may be any of them.
    all: Word,
    unknown: Word,
}

/// A choice that is open.
struct Open {
    /// The lanes of each wave that came to it.
    outer: Vec<Mask>,
    /// Those that take its first side, if that is known, and does not depend on what is not.
    takes: Option<Vec<Mask>>,
    second: bool,
    written: Vec<RowId>,
}

/// A choice of all threads that has no second side: where it ends, and who makes it.
struct Choice {
    end: usize,
    takes: Vec<Mask>,
}

struct Walk<'a> {
    code: &'a Code,
    /// What rows hold where that is known.
    waves: Vec<Vec<Row>>,
    known: Vec<bool>,
    /// The lanes that may execute.
    exec: Vec<Mask>,
    open: Vec<Open>,
    barrier: usize,
    /// The LDS by its offset, and all that other groups see.
    memories: HashMap<Option<u32>, Memory>,
    items: Vec<Item>,
    /// Accesses that no order was asked for since, and where among the items one may be: after the last access or part of a construct.
    recent: Vec<What>,
    since: usize,
    stores: Vec<(usize, Vec<Mask>)>,
    choices: Vec<Choice>,
}

impl<'a> Walk<'a> {
    fn new(code: &'a Code, block: [u32; 3]) -> Option<Walk<'a>> {
        let threads = block.iter().try_fold(1u32, |threads, size| threads.checked_mul(*size))? as usize;
        let count = threads.div_ceil(LANES);
        let fits = (1..=16).contains(&count) && count * code.rows as usize <= MOST;
        if !fits || !code.barriers || !code.outputs.is_empty() {
            return None;
        }
        let mut known = vec![false; code.rows as usize];
        let mut waves = vec![vec![Row::ZERO; code.rows as usize]; count];
        let placed = |of: &&(RowId, Builtin)| {
            matches!(of.1, Builtin::Thread(ThreadId::InGroup | ThreadId::InGroupFlat, _))
        };
        for (index, rows) in waves.iter_mut().enumerate() {
            place_own(rows, &code.builtins, block, index);
            code.literals.iter().for_each(|&(row, word)| rows[row as usize] = Row::splat(word));
        }
        let builtins = code.builtins.iter().filter(placed).map(|(row, _)| *row);
        let rows = builtins.chain(code.literals.iter().map(|(row, _)| *row));
        rows.chain(code.zeroed.iter().cloned().flatten()).for_each(|row| known[row as usize] = true);
        Some(Walk {
            code,
            waves,
            known,
            exec: (0..count).map(|index| launched(threads as u32, index)).collect(),
            open: Vec::new(),
            barrier: 1,
            memories: HashMap::new(),
            items: Vec::new(),
            recent: Vec::new(),
            since: 0,
            stores: Vec::new(),
            choices: Vec::new(),
        })
    }

    /// The kernel in the order in which each strip is to do it.
    fn items(mut self, builder: &Builder<'_>) -> Option<Vec<Item>> {
        let mut common = 0;
        for (at, op) in self.code.ops.iter().enumerate() {
            if common > LONGEST || self.items.len() > MOST_ITEMS {
                return None;
            }
            let flow = Item { op: at, what: What::Flow };
            match op {
                Op::Lanes { first, end } => {
                    for number in *first..*end {
                        common += usize::from(self.open.is_empty());
                        self.step(number)?;
                        self.items.push(Item { op: at, what: What::Step(number) });
                    }
                }
                Op::Memory(index) => {
                    let what = builder.access(*index)?;
                    self.access(*index, what)?;
                    // Loads before it are before a store in a block; a load is what an earlier one of the same word was.
                    let finds = |earlier: &What| earlier.stores() && what.clashes(*earlier);
                    if !what.stores() && self.recent.iter().any(finds) {
                        self.items.insert(self.since, Item { op: at, what: What::Order });
                        self.recent.clear();
                    }
                    self.recent.push(what);
                    self.items.push(Item { op: at, what });
                    self.since = self.items.len();
                }
                Op::If { cond, .. } => {
                    let set = |(rows, exec): (&Vec<Row>, &Mask)| {
                        let set = nonzero(&rows[cond.row as usize]);
                        (if cond.nonzero { set } else { !set }) & exec
                    };
                    let takes = self.waves.iter().zip(&self.exec).map(set).collect::<Vec<Mask>>();
                    let takes = self.known[cond.row as usize].then_some(takes);
                    let outer = self.exec.clone();
                    takes.iter().for_each(|takes| self.exec.clone_from(takes));
                    self.open.push(Open { outer, takes, second: false, written: Vec::new() });
                    self.push_flow(flow);
                }
                Op::Else { .. } => {
                    self.push_flow(flow);
                    let open = self.open.last_mut()?;
                    open.second = true;
                    self.exec.clone_from(&open.outer);
                    if let Some(takes) = &open.takes {
                        self.exec.iter_mut().zip(takes).for_each(|(exec, takes)| *exec &= !takes);
                    }
                    open.written.iter().for_each(|row| self.known[*row as usize] = false);
                }
                Op::EndIf { .. } => {
                    let Open { outer, takes, second, written, .. } = self.open.pop()?;
                    written.iter().for_each(|row| self.known[*row as usize] = false);
                    self.open.iter_mut().for_each(|open| open.written.extend(&written));
                    self.exec = outer;
                    if let (Some(takes), false, true) = (takes, second, self.open.is_empty()) {
                        self.choices.push(Choice { end: self.items.len(), takes });
                    }
                    self.push_flow(flow);
                }
                Op::Fence(fence) if orders(*fence) => return None,
                Op::Fence(fence) => self.barrier += usize::from(fence.contains(Fence::THREADS)),
                Op::End => break,
                _ => return None,
            }
        }
        self.nested()
    }

    /// The items, where choices that all who have anything to do later make end with all of it.
    fn nested(self) -> Option<Vec<Item>> {
        let among = |some: &[Mask], all: &[Mask]| some.iter().zip(all).all(|(some, all)| some & !all == 0);
        let whole = |choice: &Choice| {
            let mut later = self.stores.iter().filter(|(at, _)| *at > choice.end);
            later.all(|(_, lanes)| among(lanes, &choice.takes))
        };
        let ends: Vec<usize> = self.choices.iter().filter(|choice| whole(choice)).map(|of| of.end).collect();
        let kept = (0..self.items.len()).filter(|at| !ends.contains(at)).chain(ends.iter().rev().copied());
        (ends.len() >= FEWEST).then(|| kept.map(|at| self.items[at]).collect())
    }

    fn push_flow(&mut self, item: Item) {
        self.items.push(item);
        self.since = self.items.len();
    }

    fn write(&mut self, row: RowId, known: bool) {
        self.known[row as usize] = known;
        self.open.iter_mut().for_each(|open| open.written.push(row));
    }

    /// A lane operation.
    fn step(&mut self, number: u32) -> Option<()> {
        let step = self.code.steps[number as usize];
        let (writes, reads) = self.code.ids(number as usize);
        // Places of threads are whole numbers, and so is what comes of them.
        let whole = step.op.arguments().iter().chain([&step.op.result()]).all(|class| *class == Class::W);
        let known = whole && reads.iter().all(|row| self.known[*row as usize]);
        if known {
            let ids = &self.code.operands[step.first as usize..][..usize::from(step.count)];
            for (rows, exec) in self.waves.iter_mut().zip(&self.exec) {
                let before: Vec<Row> = writes.iter().map(|row| rows[*row as usize]).collect();
                step.handler.call(rows, ids);
                for (row, before) in writes.iter().zip(before) {
                    lanes(!exec).for_each(|lane| rows[*row as usize].0[lane] = before.0[lane]);
                }
            }
        }
        writes.iter().for_each(|&row| self.write(row, known));
        (!step.fused).then_some(())
    }

    /// An access; `None` if threads may not come in the other order.
    fn access(&mut self, index: u32, what: What) -> Option<()> {
        let op = &self.code.memory[index as usize].op;
        let (place, stores) = what.accessed()?;
        let lds = match place {
            Place::Lds { offset, bytes } => Some((offset, bytes)),
            Place::Gds { .. } | Place::Counter(_) => return None,
            _ => None,
        };
        let (address, wanted) = match (op, what) {
            (_, What::Atomic(..)) => return None,
            (MemoryOp::RawLoad { address, dst: rows, .. }, _) => (Some(*address), rows),
            (MemoryOp::RawStore { address, src: rows, .. }, _) => (Some(*address), rows),
            _ => (None, &[NONE; 4]),
        };
        let address = address.filter(|row| lds.is_some() && self.known[*row as usize]);
        let memory = self.memories.entry(lds.map(|(offset, _)| offset)).or_default();
        let words = lds.map_or(0, |(_, bytes)| bytes.div_ceil(4));
        let mut touched: Vec<(usize, Option<u32>)> = Vec::new();
        for (wave, (rows, exec)) in self.waves.iter().zip(&self.exec).enumerate() {
            for lane in lanes(*exec) {
                let thread = wave * LANES + lane;
                match address {
                    Some(row) => touched.extend(
                        of_element(rows[row as usize].0[lane], wanted, words)
                            .map(|word| (thread, Some(word))),
                    ),
                    None => touched.push((thread, None)),
                }
            }
        }
        let barrier = self.barrier;
        for &(thread, word) in &touched {
            let before = |of: &Word| of.before(thread, barrier, stores);
            let fine = match word {
                Some(word) => before(&memory.unknown) && memory.words.get(&word).is_none_or(before),
                None => before(&memory.all),
            };
            if !fine {
                return None;
            }
        }
        // Of several threads that store to a word the last one's word stays.
        let mut stored = HashSet::new();
        if stores && !touched.iter().all(|(_, word)| stored.insert(word)) {
            return None;
        }
        for (thread, word) in touched {
            memory.all.add(thread, barrier, stores);
            let of = word.map_or(&mut memory.unknown, |word| memory.words.entry(word).or_default());
            of.add(thread, barrier, stores);
        }
        if stores {
            self.stores.push((self.items.len(), self.exec.clone()));
        }
        let mut written = Vec::new();
        op.each_row(|row, write| written.extend(write.then_some(row)));
        written.into_iter().for_each(|row| self.write(row, false));
        Some(())
    }
}

/// The numbers of the words that an access at a byte address touches, of so many.
fn of_element(address: u32, rows: &Rows4, words: u32) -> impl Iterator<Item = u32> {
    let wanted = (0..4).zip(rows).filter(|(_, row)| **row != NONE).map(|(k, _)| k);
    let wanted: Vec<u32> = wanted.map(|k| (address >> 2).wrapping_add(k)).collect();
    wanted.into_iter().filter(move |word| *word < words)
}

#[cfg(test)]
mod tests {
    use crate::isa_choice::InstructionSet;
    use crate::op::Op;
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
            let body = native::compile(&code, isa, &[], 32, &[], Some([threads, 1, 1])).unwrap();
            matches!(body.ops[..], [Op::Native(_), Op::End])
        });
        assert_eq!(one[0], one[1]);
        one[0]
    }

    #[test]
    fn a_reduction_is_one_function() {
        let with = |steps: &str| [HEAD, steps, END].concat();
        assert!(one(&with(&steps()), 256));
        assert!(one(&with(&steps()), 100));
        // Of no use where no thread stops before others.
        assert!(!one(&with(""), 256));
        let first = steps();
        let others = |other: &str| with(&(first.clone() + other));
        // What the thread before has left.
        let earlier =
            step("l0.w", "l1.w").replace("ishl r7.x, r7.x", "iand r7.x, r7.x, l1.w\nishl r7.x, r7.x");
        assert!(!one(&others(&earlier), 256));
        // What the one after it has left, and then changes.
        assert!(one(&others(&step("l1.x", "l1.x")), 256));
        assert!(!one(&others(&step("l1.x", "l1.y")), 256));
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
        // Memory that other groups see, in an order that they may see.
        assert!(!one(&with(&first.replacen("fence_threads_lds", "fence_threads_lds_memory", 1)), 256));
        assert!(!one(&others("uav_add_id(0) r0.z, r0.x\n"), 256));
    }

    /// Choices end where their threads have nothing more to do, and not before.
    #[test]
    fn who_comes_back_is_not_left_behind() {
        let again = "ult r3.x, r0.x, l0.y\nif_logicalnz r3.x\nlds_store_id(1) r0.y, r0.x\nendif\n";
        assert!(one(&[HEAD, &steps(), again, END].concat(), 256));
        let again = again.repeat(2).replacen("l0.y", "l0.x", 1);
        assert!(one(&[HEAD, &steps(), &again, END].concat(), 256));
    }
}
