//! Rows that nothing reads when a function has ended.

use std::collections::HashSet;

use super::{Item, What, read_later};
use crate::op::{Code, Op, RowId};

/// Tells of rows whether nothing reads what a function leaves in them.
pub struct Dead<'a> {
    code: &'a Code,
    last: Item,
    /// What is mentioned elsewhere; `None` if the function may run more than once, and so find again what it left.
    elsewhere: Option<HashSet<RowId>>,
}

impl<'a> Dead<'a> {
    pub fn after(code: &'a Code, items: &[Item], last: Item) -> Dead<'a> {
        let once = items.first().is_some_and(|first| once(code, first.op));
        Dead { code, last, elsewhere: once.then(|| elsewhere(code, items)) }
    }

    pub fn contains(&self, row: RowId) -> bool {
        if self.code.temporaries.contains(&row) {
            return !read_later(self.code, self.last, row);
        }
        let own = |elsewhere: &HashSet<RowId>| row < self.code.registers && !elsewhere.contains(&row);
        self.elsewhere.as_ref().is_some_and(own)
    }
}

/// An operation of the main program is in no loop.
fn once(code: &Code, at: usize) -> bool {
    let mut depth = 0;
    for op in &code.ops[..at] {
        match op {
            Op::Loop => depth += 1,
            Op::EndLoop { .. } => depth -= 1,
            Op::End => return false,
            _ => {}
        }
    }
    depth == 0
}

/// The rows that other operations than these mention, and outputs.
fn elsewhere(code: &Code, items: &[Item]) -> HashSet<RowId> {
    let mut steps = HashSet::new();
    let mut ops = HashSet::new();
    for item in items {
        match item.what {
            What::Step(number) => _ = steps.insert(number),
            _ => _ = ops.insert(item.op),
        }
    }
    let mut rows: HashSet<RowId> = code.outputs.iter().flat_map(|(_, rows)| rows).copied().collect();
    for (at, op) in code.ops.iter().enumerate() {
        match op {
            Op::Lanes { first, end } => {
                for step in (*first..*end).filter(|step| !steps.contains(step)) {
                    let (writes, reads) = code.ids(step as usize);
                    rows.extend(writes.iter().chain(reads));
                }
            }
            _ if ops.contains(&at) => {}
            Op::Memory(index) => code.memory[*index as usize].op.each_row(|row, _| _ = rows.insert(row)),
            op => op.each_read(|row| _ = rows.insert(row)),
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
            let dead = Dead::after(&code, &items, items[items.len() - 1]);
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
