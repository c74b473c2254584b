//! What does not change while an innermost loop runs: it is computed before, and kept on the stack.
//!
//! Most of it is where samples read: a column or line that a thread stays in.

use std::collections::HashMap;

use crate::emit::Frame;
use crate::graph::{Form, Graph, Inst, NO, Node, Val};
use crate::tree::{Rows, Tree, each_row, each_run};

/// Fewest instructions that are worth a place on the stack, and most places.
const WORTH: u32 = 3;
const MOST: usize = 48;

/// Values of a loop.
pub struct Kept {
    /// Rows that the loop writes.
    written: Rows,
    /// Computes the values.
    graph: Graph,
    /// Those that are wanted, and where they are.
    places: HashMap<Val, u32>,
    wanted: Vec<Val>,
}

impl Kept {
    /// For a loop with this body; `lazy` as for [`Graph::new`].
    pub fn new(body: &[Tree<'_>], lazy: bool) -> Kept {
        let mut written = Rows::default();
        each_run(body, &mut |run| {
            for step in &run.steps {
                each_row(step, |row, write| {
                    if write {
                        written.insert(row)
                    }
                });
            }
        });
        Kept { written, graph: Graph::new(lazy), places: HashMap::new(), wanted: Vec::new() }
    }

    /// Notes what the loop wants of a run.
    pub fn want(&mut self, graph: &Graph, outputs: &[(u32, Val)]) {
        let found = unchanging(&self.written, graph, |node| Some(self.graph.add(node)));
        let users = (0..graph.nodes.len() as Val).filter(|val| !found.contains_key(val));
        let args = users.filter_map(|val| graph.as_inst(val)).flat_map(|inst| inst.args);
        for val in args.chain(outputs.iter().map(|&(_, val)| val)) {
            if let Some(&(WORTH.., Some(own))) = found.get(&val) {
                let known = graph.is_mask(val) || self.wanted.contains(&own);
                if !known && self.wanted.len() < MOST {
                    self.wanted.push(own);
                }
            }
        }
    }

    /// Appends the code for what is wanted.
    pub fn compute(&mut self, frame: &mut Frame<'_>) {
        let values: Vec<(Val, u32)> = self.wanted.iter().map(|&val| (val, frame.slot())).collect();
        if !values.is_empty() {
            frame.keep(&mut self.graph, &values);
        }
        self.places = values.into_iter().collect();
    }

    /// Makes a run take what is ready.
    pub fn replace(&self, graph: &mut Graph) {
        if self.places.is_empty() {
            return;
        }
        for (val, (_, own)) in unchanging(&self.written, graph, |node| self.graph.find(node)) {
            if let Some(&at) = own.and_then(|own| self.places.get(&own)) {
                graph.nodes[val as usize] = Node::Kept(at);
            }
        }
    }

    /// The places are free again.
    pub fn end(self, frame: &mut Frame<'_>) {
        frame.slots -= self.places.len() as u32;
    }
}

/// The result depends on nothing but the operands.
fn pure(inst: Inst) -> bool {
    !matches!(inst.form, Form::Load | Form::Part(_) | Form::Store | Form::Return | Form::Copy)
}

/// The values of a run that do not change if it writes no other rows than these: how many instructions they take, and
/// what `place` says of their nodes, if it knows the operands.
fn unchanging(
    written: &Rows,
    graph: &Graph,
    mut place: impl FnMut(Node) -> Option<Val>,
) -> HashMap<Val, (u32, Option<Val>)> {
    let mut found: HashMap<Val, (u32, Option<Val>)> = HashMap::new();
    for (val, &node) in (0..).zip(&graph.nodes) {
        let Node::Inst(inst) = node else {
            if !matches!(node, Node::Row(row) if written.contains(row)) {
                found.insert(val, (0, place(node)));
            }
            continue;
        };
        let args: Option<Vec<_>> =
            inst.args.iter().filter(|&&arg| arg != NO).map(|arg| found.get(arg).copied()).collect();
        let Some(args) = args.filter(|_| pure(inst) && !graph.plain_products.contains(&val)) else {
            continue;
        };
        let length = args.iter().fold(1, |sum: u32, (n, _)| sum.saturating_add(*n));
        let own: Option<Vec<Val>> = args.into_iter().map(|(_, own)| own).collect();
        let own = own.and_then(|own| {
            let mut own = own.into_iter();
            place(Node::Inst(Inst {
                args: inst.args.map(|arg| if arg == NO { NO } else { own.next().unwrap_or(NO) }),
                ..inst
            }))
        });
        found.insert(val, (length, own));
    }
    found
}
