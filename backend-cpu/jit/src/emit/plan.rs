//! Which values are needed, in which order, and when rows are stored.

use std::collections::HashMap;

use crate::encode::inst::LOAD;
use crate::graph::{Form, Graph, Inst, NO, Node, Val};

/// What is to be stored when: instructions in order, and for each the rows that are stored after it.
pub struct Plan {
    pub order: Vec<Val>,
    pub stores: Vec<Vec<(u32, Val)>>,
    /// When each value is used, as numbers of instructions doubled; a store counts one more.
    pub uses: Vec<Vec<u32>>,
}

impl Plan {
    /// `last` are wanted when everything else is done; rows are stored not before if `late`.
    pub fn new(graph: &mut Graph, outputs: &[(u32, Val)], last: &[Val], late: bool) -> Plan {
        // What is not computed is copied to a register last, before any row that it came from may change.
        let mut results = Vec::new();
        let mut copies = Vec::new();
        for &(row, val) in outputs {
            match graph.node(val) {
                Node::Row(same) if same == row => {}
                Node::Inst(_) => results.push((row, val)),
                _ => {
                    let copy = graph.inst(Form::Copy, LOAD, [val, NO, NO], 0);
                    copies.push(copy);
                    results.push((row, copy));
                }
            }
        }
        let count = graph.nodes.len();
        let mut needed: Vec<bool> = (0..count)
            .map(|val| {
                graph_inst(graph, val as Val)
                    .is_some_and(|inst| matches!(inst.form, Form::Store | Form::Return))
            })
            .collect();
        results
            .iter()
            .map(|&(_, val)| val)
            .chain(last.iter().copied())
            .for_each(|val| needed[val as usize] = true);
        for val in (0..count).rev().filter(|&val| graph_inst(graph, val as Val).is_some()) {
            if needed[val] {
                let args = graph_inst(graph, val as Val).map_or([NO; 3], |inst| inst.args);
                args.iter().filter(|&&arg| arg != NO).for_each(|&arg| needed[arg as usize] = true);
            }
        }
        let is_copy = |val: Val| graph_inst(graph, val).is_some_and(|inst| inst.form == Form::Copy);
        let chosen = |val: &Val| needed[*val as usize] && graph_inst(graph, *val).is_some() && !is_copy(*val);
        let mut order: Vec<Val> = (0..count as Val).filter(chosen).collect();
        copies.sort_unstable();
        copies.dedup();
        order.extend(copies);
        let mut uses = vec![Vec::new(); count];
        let mut when = vec![0; count];
        for (time, &val) in order.iter().enumerate() {
            when[val as usize] = time;
            for arg in graph_inst(graph, val).map_or([NO; 3], |inst| inst.args) {
                if arg != NO && uses[arg as usize].last() != Some(&(2 * time as u32)) {
                    uses[arg as usize].push(2 * time as u32);
                }
            }
        }
        let mut stores = vec![Vec::new(); order.len()];
        let last_read: HashMap<u32, usize> = (0..count)
            .filter_map(|val| match (graph.nodes[val], uses[val].last()) {
                (Node::Row(row), Some(&last)) => Some((row, last as usize / 2)),
                _ => None,
            })
            .collect();
        for (row, val) in results {
            let early = when[val as usize].max(last_read.get(&row).copied().unwrap_or(0));
            let time = if late { order.len() - 1 } else { early };
            stores[time].push((row, val));
            uses[val as usize].push(2 * time as u32 + 1);
        }
        last.iter().for_each(|&val| uses[val as usize].push(2 * order.len() as u32 + 1));
        uses.iter_mut().for_each(|list| list.sort_unstable());
        Plan { order, stores, uses }
    }
}

pub fn graph_inst(graph: &Graph, val: Val) -> Option<Inst> {
    if let Node::Inst(inst) = graph.node(val) { Some(inst) } else { None }
}
