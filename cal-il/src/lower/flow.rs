//! Control flow: structure is kept, conditions become words.

use crate::inst::{Cond as Condition, Node, Relop};
use crate::ir::{Arm, Block, Cond, LaneOp, StmtKind};
use crate::isa::View;

use super::build::Builder;

impl Builder<'_> {
    /// Lowers `nodes` to a block of their own.
    pub fn body(&mut self, nodes: &[Node]) -> Block {
        // An instruction is two or three operations.
        let outer = std::mem::replace(&mut self.block, Block::with_capacity(3 * nodes.len()));
        self.nodes(nodes);
        std::mem::replace(&mut self.block, outer)
    }

    /// Recursion is bounded by [`crate::inst::MAX_NESTING`].
    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Inst(inst) => self.inst(inst),
                Node::If { cond, then, otherwise, span } => {
                    self.span = *span;
                    let cond = self.condition(cond);
                    let then = self.body(then);
                    let otherwise = self.body(otherwise);
                    self.span = *span;
                    self.statement(StmtKind::If { cond, then, otherwise });
                }
                Node::Loop { body, span } => {
                    let body = self.body(body);
                    self.span = *span;
                    self.statement(StmtKind::Loop { body });
                }
                Node::Switch { selector, arms, span } => {
                    self.span = *span;
                    let selector = self.position(selector, 0, View::Int);
                    let arms = (arms.iter())
                        .map(|arm| Arm {
                            labels: arm.labels.clone(),
                            default: arm.default,
                            body: self.body(&arm.body),
                        })
                        .collect();
                    self.span = *span;
                    self.statement(StmtKind::Switch { selector, arms });
                }
                Node::Break(cond, span) => {
                    self.span = *span;
                    let cond = cond.as_ref().map(|c| self.condition(c));
                    self.statement(StmtKind::Break(cond));
                }
                Node::Continue(cond, span) => {
                    self.span = *span;
                    let cond = cond.as_ref().map(|c| self.condition(c));
                    self.statement(StmtKind::Continue(cond));
                }
                Node::Call { function, cond, span } => {
                    self.span = *span;
                    let cond = cond.as_ref().map(|c| self.condition(c));
                    self.statement(StmtKind::Call { function: *function, cond });
                }
                Node::Return(cond, span) => {
                    self.span = *span;
                    let cond = cond.as_ref().map(|c| self.condition(c));
                    self.statement(StmtKind::Return(cond));
                }
                Node::Discard(cond, span) => {
                    self.span = *span;
                    let cond = self.condition(cond);
                    self.statement(StmtKind::Discard(cond));
                }
            }
            if matches!(node, Node::Break(None, _) | Node::Continue(None, _) | Node::Return(None, _)) {
                // Nothing reaches what follows.
                return;
            }
        }
    }

    /// A condition as a word. Comparisons see denormals as they are: programs compare small integers so.
    fn condition(&mut self, cond: &Condition) -> Cond {
        match cond {
            Condition::NonZero(src) => Cond { operand: self.positions(src, 1)[0], nonzero: true },
            Condition::Zero(src) => Cond { operand: self.positions(src, 1)[0], nonzero: false },
            Condition::Compare(relop, sources) => {
                let [a, b] = &**sources;
                let a = self.position(a, 0, View::Bits);
                let b = self.position(b, 0, View::Bits);
                let (op, nonzero, args) = match relop {
                    Relop::Eq => (LaneOp::RawEq, true, [a, b]),
                    Relop::Ne => (LaneOp::RawEq, false, [a, b]),
                    Relop::Ge => (LaneOp::RawGe, true, [a, b]),
                    Relop::Le => (LaneOp::RawGe, true, [b, a]),
                    Relop::Lt => (LaneOp::RawLt, true, [a, b]),
                    Relop::Gt => (LaneOp::RawLt, true, [b, a]),
                };
                Cond { operand: self.value(op, &args), nonzero }
            }
        }
    }
}
