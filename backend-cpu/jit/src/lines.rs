//! What the lines of a wave have in common in a function's loops: strips of several lines can be done at a time then, and what they
//! read alike is read once.

use crate::graph::{Graph, Node, Val};
use crate::program::{Block, Loop, Part, Reduced, Straight, Sums};
use rustc_hash::FxHashSet;

/// Finds what is the same in all lines where a program's innermost loops add up products, if it begins with these rows so; whether
/// lines take the same way, as long as all lanes execute.
pub fn in_common(parts: &mut [Part], rows: &FxHashSet<u32>) -> bool {
    let mut lines = Lines { rows: rows.clone(), kept: FxHashSet::default(), inside: false };
    lines.list(parts)
}

struct Lines {
    /// Rows that all lines have in common, and what is ready that they have, by number.
    rows: FxHashSet<u32>,
    kept: FxHashSet<u32>,
    /// In a construct nothing becomes common that was not before it.
    inside: bool,
}

impl Lines {
    /// False if a test is not the same in all lines.
    fn list(&mut self, list: &mut [Part]) -> bool {
        let mut tested = false;
        list.iter_mut().all(|part| match part {
            Part::Block(block) => {
                tested = self.block(block);
                true
            }
            Part::If { then, otherwise, .. } => {
                let outer = std::mem::replace(&mut self.inside, true);
                let alike = tested && self.list(then) && self.list(otherwise);
                self.inside = outer;
                alike
            }
            Part::Loop(of) => self.repeat(of),
            Part::Break(test, _) => test.is_none() || tested,
            Part::Call(_) | Part::Emit(_) => false,
        })
    }

    /// Whether the test of a block is the same.
    fn block(&mut self, block: &Block) -> bool {
        block.body.graph.leaves.is_empty() && self.straight(&block.body)
    }

    fn straight(&mut self, of: &Straight) -> bool {
        let equal = self.equal(&of.graph);
        let is = |val: Val| equal[val.index()];
        for output in &of.outputs {
            match () {
                () if !is(output.val) => _ = self.rows.remove(&output.row),
                () if !self.inside => _ = self.rows.insert(output.row),
                () => {}
            }
        }
        of.next.iter().filter(|(_, val)| !is(*val)).for_each(|(number, _)| _ = self.kept.remove(number));
        of.test.is_some_and(is)
    }

    fn repeat(&mut self, of: &mut Loop) -> bool {
        let outer = std::mem::replace(&mut self.inside, true);
        let mut other = Lines { rows: self.rows.clone(), kept: FxHashSet::default(), inside: true };
        let mut alike = of.sums.as_mut().is_none_or(|sums| other.sums(sums));
        of.before.iter().for_each(|block| _ = self.straight(&block.body));
        alike &= self.rounds(&mut of.body, of.kept.as_ref()).0;
        of.after.iter().for_each(|block| _ = self.straight(&block.body));
        // Either may have been done.
        self.rows.retain(|row| other.rows.contains(row));
        self.inside = outer;
        alike
    }

    fn sums(&mut self, of: &mut Sums) -> bool {
        // Their vectors hold what lanes have of words side by side.
        of.elements.iter().flatten().for_each(|row| _ = self.rows.remove(row));
        let (alike, kept) = self.rounds(&mut of.body, Some(&of.kept));
        (of.equal_rows, of.equal_kept) = (self.rows.clone(), kept);
        if let Some(Reduced { entry: (entry, _), .. }) = &of.reduced {
            let outer = std::mem::replace(&mut self.kept, of.equal_kept.clone());
            let equal = self.equal(&entry.graph);
            self.kept = outer;
            let is = |(_, val): &&(u32, Val)| equal[val.index()];
            of.equal_kept.extend(entry.next.iter().filter(is).map(|(number, _)| *number));
        }
        self.straight(&of.exit.0);
        alike
    }

    /// A loop's body as often as something is found not to be common; what is ready that is, too.
    fn rounds(&mut self, body: &mut [Part], kept: Option<&(Graph, Vec<Val>)>) -> (bool, FxHashSet<u32>) {
        let mut common = FxHashSet::default();
        if let Some((graph, values)) = kept {
            let equal = self.equal(graph);
            let is = |(_, val): &(u32, &Val)| equal[val.index()];
            common.extend((0..).zip(values).filter(is).map(|(number, _)| number));
        }
        let outer = std::mem::replace(&mut self.kept, common);
        let alike = loop {
            let before = (self.rows.len(), self.kept.len());
            let alike = self.list(body);
            if !alike || (self.rows.len(), self.kept.len()) == before {
                break alike;
            }
        };
        (alike, std::mem::replace(&mut self.kept, outer))
    }

    fn equal(&self, graph: &Graph) -> Vec<bool> {
        let mut equal: Vec<bool> = Vec::with_capacity(graph.nodes.len());
        for node in &graph.nodes {
            let is = match node {
                Node::Word(_) | Node::Quad(_) | Node::Bool(_) | Node::Field(..) | Node::Lanes(_) => true,
                Node::Row(row) => self.rows.contains(row),
                Node::Kept(number) => self.kept.contains(number),
                Node::Mask(_) => false,
                Node::Inst(inst) => !inst.op.acts() && inst.operands().all(|arg| equal[arg.index()]),
            };
            equal.push(is);
        }
        equal
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NONE;
    use crate::op::Op;
    use crate::program::Output;

    /// A block that leaves sums of two rows in rows, and tests a row.
    fn block(sums: &[(u32, [u32; 2])], tested: u32, next: &[(u32, u32)]) -> Part {
        let mut graph = Graph::new(false);
        let mut row = |row: u32| graph.add(Node::Row(row));
        let operands: Vec<(u32, [Val; 2])> =
            sums.iter().map(|(to, from)| (*to, from.map(&mut row))).collect();
        let (test, next) = (row(tested), next.iter().map(|(number, of)| (*number, row(*of))).collect());
        let outputs = operands.iter().map(|&(row, [a, b])| {
            let val = graph.binary(Op::Add, a, b);
            Output { row, val, unseen: false }
        });
        let outputs = outputs.collect();
        let body = Straight { graph, outputs, test: Some(test), next };
        Part::Block(Box::new(Block { body, attempt: None }))
    }

    fn lines(rows: &[u32], list: &mut [Part]) -> (bool, Vec<u32>) {
        let mut lines =
            Lines { rows: rows.iter().copied().collect(), kept: FxHashSet::default(), inside: false };
        let alike = lines.list(list);
        let mut rows: Vec<u32> = lines.rows.into_iter().collect();
        rows.sort_unstable();
        (alike, rows)
    }

    #[test]
    fn rows_become_common_before_loops_and_stop_to_be_in_them() {
        // Row 9 differs from line to line; 4 is made of what does not.
        let before = block(&[(4, [1, 2])], 1, &[]);
        // The second round finds 2 no longer common, the third one 3.
        let rounds =
            vec![block(&[(3, [3, 2]), (2, [2, 9]), (5, [1, 1])], 1, &[]), Part::Break(Some(true), NONE)];
        let mut list = [before, Part::Loop(Box::new(Loop { body: rounds, ..Loop::default() }))];
        assert_eq!(lines(&[1, 2, 3], &mut list), (true, vec![1, 4]));
        // What may not have been done makes nothing common, and a test of such a row parts the lines.
        let mut parted = [Part::Loop(Box::new(Loop {
            body: vec![block(&[(2, [2, 9])], 2, &[]), Part::Break(Some(true), NONE)],
            ..Loop::default()
        }))];
        assert!(!lines(&[1, 2], &mut parted).0);
    }

    #[test]
    fn what_is_ready_is_common_while_each_round_leaves_it_so() {
        let of = |next: &[(u32, u32)]| {
            let mut graph = Graph::new(false);
            let values = [1, 1, 9].map(|row| graph.add(Node::Row(row))).to_vec();
            let mut lines =
                Lines { rows: [1].into_iter().collect(), kept: FxHashSet::default(), inside: true };
            let mut body = [block(&[], 1, next), Part::Break(Some(true), NONE)];
            let (alike, kept) = lines.rounds(&mut body, Some(&(graph, values)));
            let mut kept: Vec<u32> = kept.into_iter().collect();
            kept.sort_unstable();
            (alike, kept)
        };
        assert_eq!(of(&[]), (true, vec![0, 1]));
        assert_eq!(of(&[(0, 1), (1, 9)]), (true, vec![0]));
    }
}
