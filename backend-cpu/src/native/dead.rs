//! Rows that nothing reads when a function has ended.

use std::collections::{HashMap, HashSet};

use super::{Item, What, read_later};
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
            each_row(code, op, &mut mention);
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

/// Visits the rows that an operation mentions.
fn each_row(code: &Code, op: &Op, visit: &mut impl FnMut(RowId)) {
    match op {
        Op::Lanes { first, end } => (*first..*end).for_each(|step| each_of_step(code, step, visit)),
        Op::Memory(index) => code.memory[*index as usize].op.each_row(|row, _| visit(row)),
        op => op.each_read(visit),
    }
}

fn each_of_step(code: &Code, step: u32, visit: &mut impl FnMut(RowId)) {
    let (writes, reads) = code.ids(step as usize);
    writes.iter().chain(reads).for_each(|row| visit(*row));
}

/// Tells of rows whether nothing reads what a function leaves in them.
pub struct Dead<'a> {
    code: &'a Code,
    mentions: &'a Mentions,
    last: Item,
    /// How often it mentions rows itself; `None` if it may run more than once, and so find again what it left.
    own: Option<HashMap<RowId, u32>>,
}

impl<'a> Dead<'a> {
    pub fn after(code: &'a Code, mentions: &'a Mentions, items: &[Item], last: Item) -> Dead<'a> {
        let begins = |first: &Item| first.op == 0 || mentions.once[first.op - 1];
        let once = items.first().is_some_and(begins);
        Dead { code, mentions, last, own: once.then(|| own(code, items)) }
    }

    pub fn contains(&self, row: RowId) -> bool {
        if self.code.temporaries.contains(&row) {
            return !read_later(self.code, self.last, row);
        }
        let all = self.mentions.rows.get(row as usize).copied().unwrap_or_default();
        let alone = |own: &HashMap<RowId, u32>| own.get(&row).copied().unwrap_or_default() == all;
        row < self.code.registers && self.own.as_ref().is_some_and(alone)
    }
}

/// How often items mention rows.
fn own(code: &Code, items: &[Item]) -> HashMap<RowId, u32> {
    let mut rows = HashMap::new();
    let mut mention = |row: RowId| *rows.entry(row).or_default() += 1;
    let mut ops = HashSet::new();
    for item in items {
        match item.what {
            What::Step(step) => each_of_step(code, step, &mut mention),
            _ if ops.insert(item.op) => each_row(code, &code.ops[item.op], &mut mention),
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

    /// For a function of each operation that computes, how many rows it leaves for nobody, and how many it writes.
    fn dead(text: &str) -> Vec<[usize; 2]> {
        let program = recal_il::compile(text.as_bytes()).unwrap();
        let (packed, known) = load::prepare(&program, true, false);
        let mut code = load::load_compiled(&packed, &known);
        // Those that are written first everywhere have a rule of their own.
        code.temporaries.clear();
        let of = |items: Vec<Item>| {
            let mentions = Mentions::of(&code);
            let dead = Dead::after(&code, &mentions, &items, items[items.len() - 1]);
            let mut written = HashSet::new();
            for item in &items {
                if let What::Step(step) = item.what {
                    written.extend(code.ids(step as usize).0);
                }
            }
            [written.iter().filter(|row| dead.contains(**row)).count(), written.len()]
        };
        runs(&code).into_iter().map(of).collect()
    }

    /// `r1.x` is for one operation alone, `r2.x` for the next one too, `o0` for whoever looks at the result.
    #[test]
    fn nothing_is_dead_that_is_mentioned_elsewhere_or_found_again() {
        let before = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy\n\
            dcl_output_generic o0\nftoi r3.x, vWinCoord0.x\n";
        let body = "if_logicalnz r3.x\niadd r1.x, r1.x, r3.x\niadd r2.x, r2.x, r1.x\nendif\n\
            if_logicalnz r3.x\niadd r3.x, r3.x, r2.x\nendif\n";
        let after = "mov o0, r3.x\nend\n";
        let found = dead(&format!("{before}{body}{after}"));
        assert!(found.contains(&[1, 2]), "{found:?}");
        assert!(found.iter().all(|[dead, written]| dead < written), "{found:?}");
        let again = dead(&format!("{before}whileloop\nbreak_logicalz r3.x\n{body}endloop\n{after}"));
        assert!(again.iter().all(|[dead, _]| *dead == 0), "{again:?}");
    }
}
