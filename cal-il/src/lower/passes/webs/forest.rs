//! Which values reach common uses: a union-find forest over definitions and joins. A join of several values becomes one web with
//! them only when something reads it.

use crate::ir::Reg;

/// A value of a register: what it holds when its function begins, a definition, or a join of several.
pub(super) type Node = u32;

/// A node that is not an unread join.
const READ: u32 = u32::MAX;
/// The end of a list of operands.
const END: u32 = u32::MAX - 1;

/// What is known of a node.
struct Info {
    /// Its parent, itself if it is a root; never younger.
    parent: Node,
    /// For a join that nothing has read yet, the first of its operands in `operands`; else `READ`.
    pending: u32,
    /// The register whose value it is.
    register: Reg,
}

/// The nodes, first those of the beginning, in the order of their registers.
pub(super) struct Forest {
    nodes: Vec<Info>,
    /// Operands of joins, with the number of the next one.
    operands: Vec<(Node, u32)>,
    /// Joins made, and values that arrived at one.
    pub(super) steps: usize,
}

impl Forest {
    pub(super) fn new(registers: u32) -> Self {
        // A register of the kernel is written again and again.
        let mut nodes = Vec::with_capacity(8 * registers as usize);
        nodes.extend((0..registers).map(|number| Info {
            parent: number,
            pending: READ,
            register: Reg(number),
        }));
        Self { nodes, operands: Vec::new(), steps: 0 }
    }

    /// The register whose value `node` is.
    pub(super) fn register(&self, node: Node) -> Reg {
        self.nodes[node as usize].register
    }

    /// A new value of `register`.
    #[inline]
    pub(super) fn definition(&mut self, register: Reg) -> Node {
        self.node(register, READ)
    }

    fn node(&mut self, register: Reg, pending: u32) -> Node {
        let node = self.nodes.len() as Node;
        self.nodes.push(Info { parent: node, pending, register });
        node
    }

    /// A new value of `register`, which is one of `operands`.
    pub(super) fn join(&mut self, register: Reg, operands: &[Node]) -> Node {
        self.steps += 1;
        let node = self.node(register, END);
        operands.iter().for_each(|&operand| self.add_operand(node, operand));
        node
    }

    /// Makes the value at the beginning a join: what an earlier call left.
    pub(super) fn persists(&mut self, register: Reg) {
        self.nodes[register.index()].pending = END;
    }

    fn add_operand(&mut self, join: Node, operand: Node) {
        let end = self.operands.len() as u32;
        let next = std::mem::replace(&mut self.nodes[join as usize].pending, end);
        self.operands.push((operand, next));
    }

    /// The value of `from` arrives at join `to`.
    pub(super) fn flow(&mut self, to: Node, from: Node) {
        self.steps += 1;
        if to == from {
            return;
        }
        match self.nodes[to as usize].pending {
            READ => {
                self.union(to, from);
                self.activate(from);
            }
            END => self.add_operand(to, from),
            last if self.operands[last as usize].0 != from => self.add_operand(to, from),
            _ => {}
        }
    }

    /// Something reads `node`: it and what reaches it become one web.
    #[inline]
    pub(super) fn activate(&mut self, node: Node) {
        if self.nodes[node as usize].pending != READ {
            self.read(node);
        }
    }

    /// The same of a join.
    fn read(&mut self, node: Node) {
        let mut work = vec![node];
        while let Some(node) = work.pop() {
            let mut next = std::mem::replace(&mut self.nodes[node as usize].pending, READ);
            while next != READ && next != END {
                let (operand, after) = self.operands[next as usize];
                self.union(node, operand);
                work.push(operand);
                next = after;
            }
        }
    }

    fn find(&mut self, mut node: Node) -> Node {
        loop {
            let parent = self.nodes[node as usize].parent;
            if parent == node {
                return node;
            }
            let up = self.nodes[parent as usize].parent;
            self.nodes[node as usize].parent = up;
            node = up;
        }
    }

    fn union(&mut self, a: Node, b: Node) {
        let (a, b) = (self.find(a), self.find(b));
        self.nodes[a.max(b) as usize].parent = a.min(b);
    }

    /// The root of each node, which is the oldest of its web.
    pub(super) fn roots(&self) -> Vec<Node> {
        let mut roots: Vec<Node> = Vec::with_capacity(self.nodes.len());
        // A parent is older, so in order each has its root at once.
        for Info { parent, .. } in &self.nodes {
            roots.push(roots.get(*parent as usize).copied().unwrap_or(*parent));
        }
        roots
    }
}
