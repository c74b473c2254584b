//! What becomes of rows when a function has ended.

use recal_il::bits::BitSet;
use recal_jit::After;
use rustc_hash::{FxHashMap, FxHashSet};

use super::live::Lives;
use super::{Item, What};
use crate::op::{Code, Op, RowId};

/// How often operations mention rows, outputs once more; and for each operation whether it is of the main program, and in no loop.
pub struct Mentions {
    rows: Vec<u32>,
    once: Vec<bool>,
}

impl Mentions {
    /// Found once for all functions of a kernel: there may be as many as operations.
    pub fn of(code: &Code) -> Mentions {
        let mut rows: Vec<u32> = Vec::new();
        let mut mention = |row: RowId| {
            let at = row as usize;
            rows.resize(rows.len().max(at + 1), 0);
            rows[at] += 1;
        };
        code.outputs.iter().flat_map(|(_, rows)| rows).for_each(|row| mention(*row));
        let (mut depth, mut main) = (0, true);
        let mut once = Vec::with_capacity(code.ops.len());
        for op in &code.ops {
            code.each_row(op, |row, _| mention(row));
            match op {
                Op::Loop => depth += 1,
                Op::EndLoop { .. } => depth -= 1,
                Op::End => main = false,
                _ => {}
            }
            once.push(main && depth == 0);
        }
        Mentions { rows, once }
    }
}

/// Tells what becomes of rows after a function.
pub struct Rows<'a> {
    code: &'a Code,
    mentions: &'a Mentions,
    live: BitSet,
    /// How often it mentions rows itself; `None` if it may run more than once, and so find again what it left.
    own: Option<FxHashMap<RowId, u32>>,
}

impl<'a> Rows<'a> {
    pub fn after(
        code: &'a Code,
        mentions: &'a Mentions,
        lives: &Lives<'_>,
        items: &[Item],
        last: Item,
    ) -> Rows<'a> {
        let begins = |first: &Item| first.op == 0 || mentions.once[first.op - 1];
        let once = items.first().is_some_and(begins);
        Rows { code, mentions, live: lives.after(items, last), own: once.then(|| own(code, items)) }
    }

    pub fn of(&self, row: RowId) -> After {
        let all = self.mentions.rows.get(row as usize).copied().unwrap_or_default();
        let alone = |own: &FxHashMap<RowId, u32>| own.get(&row).copied().unwrap_or_default() == all;
        if row >= self.code.registers || self.live.contains(row) {
            After::Read
        } else if self.code.temporaries.contains(row) || self.own.as_ref().is_some_and(alone) {
            After::Dead
        } else {
            After::Kept
        }
    }
}

/// How often items mention rows.
fn own(code: &Code, items: &[Item]) -> FxHashMap<RowId, u32> {
    let mut rows = FxHashMap::default();
    let mut mention = |row: RowId| *rows.entry(row).or_default() += 1;
    let mut ops = FxHashSet::default();
    for item in items {
        match item.what {
            What::Step(step) => {
                let (writes, reads) = code.ids(step as usize);
                writes.iter().chain(reads).for_each(|row| mention(*row));
            }
            _ if ops.insert(item.op) => code.each_row(&code.ops[item.op], |row, _| mention(row)),
            _ => {}
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load;

    /// The steps of each operation of a kernel that computes, as the items of a function.
    fn runs(code: &Code) -> Vec<Vec<Item>> {
        let item = |op: usize, step: u32| Item { op, what: What::Step(step) };
        let run = |(at, op): (usize, &Op)| match op {
            Op::Lanes { first, end } => Some((*first..*end).map(|step| item(at, step)).collect()),
            _ => None,
        };
        code.ops.iter().enumerate().filter_map(run).collect()
    }

    /// For a function of each operation that computes, what becomes of the rows that it writes: how many are read, kept, and dead.
    fn rows(text: &str) -> Vec<[usize; 3]> {
        let program = recal_il::compile(text.as_bytes()).unwrap();
        let (packed, known) = load::prepare(&program, true, false);
        let mut code = load::load_compiled(&packed, &known);
        // Nobody keeps those that are written first everywhere.
        code.temporaries = BitSet::new();
        let of = |items: Vec<Item>| {
            let (mentions, lives) = (Mentions::of(&code), Lives::of(&code));
            let rows = Rows::after(&code, &mentions, &lives, &items, items[items.len() - 1]);
            let mut written = FxHashSet::default();
            for item in &items {
                if let What::Step(step) = item.what {
                    written.extend(code.ids(step as usize).0);
                }
            }
            [After::Read, After::Kept, After::Dead]
                .map(|after| written.iter().filter(|row| rows.of(**row) == after).count())
        };
        runs(&code).into_iter().map(of).collect()
    }

    const BEFORE: &str = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy\n\
        dcl_output_generic o0\nftoi r3.x, vWinCoord0.x\n";

    /// `r1.x` is for one operation alone, `r2.x` for the next one too, `o0` for whoever looks at the result.
    #[test]
    fn nothing_is_dead_that_is_mentioned_elsewhere_or_found_again() {
        let body = "if_logicalnz r3.x\niadd r1.x, r1.x, r3.x\niadd r2.x, r2.x, r1.x\nendif\n\
            if_logicalnz r3.x\niadd r3.x, r3.x, r2.x\nendif\n";
        let after = "mov o0, r3.x\nend\n";
        let found = rows(&format!("{BEFORE}{body}{after}"));
        assert!(found.contains(&[1, 0, 1]), "{found:?}");
        assert!(found.iter().all(|[read, ..]| *read > 0), "{found:?}");
        let again = rows(&format!("{BEFORE}whileloop\nbreak_logicalz r3.x\n{body}endloop\n{after}"));
        assert!(again.iter().all(|[_, kept, dead]| kept + dead == 0), "{again:?}");
    }

    /// `r1.x` is written anew in both loops that mention it, and for those that have left read after them.
    #[test]
    fn rows_are_kept_for_lanes_that_are_elsewhere() {
        let text = format!(
            "{BEFORE}mov r1.x, r3.x\nwhileloop\nbreak_logicalz r3.x\nmov r1.x, r3.x\niadd r2.x, r2.x, r1.x\n\
             if_logicalnz r2.x\niadd r3.x, r3.x, r2.x\nelse\nmov r3.x, r1.x\nendif\nendloop\n\
             mov r4.x, r1.x\nif_logicalnz r2.x\nmov r1.x, r2.x\niadd r2.x, r2.x, r1.x\nelse\n\
             iadd r2.x, r2.x, r1.x\nendif\niadd r2.x, r2.x, r4.x\nmov o0, r2.x\nend\n"
        );
        let found = rows(&text);
        assert!(found.iter().any(|[_, kept, _]| *kept == 1), "{found:?}");
        // What the loop writes is read where it ends.
        assert!(found.contains(&[2, 0, 0]), "{found:?}");
    }
}
