//! Constant buffers as uniform buffers. There a row that is read by number is an operand of the instructions that use it; from
//! memory it takes a load and registers. So what floats are computed from comes from there. Where loops end and what addresses are made
//! of is loaded once: that was faster (docs/vulkan.md). Rows by computed numbers are loaded from memory, too.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::iter;

use rspirv::spirv::{Decoration, Op, StorageClass, Word};

use super::memory::BUFFERS;
use super::module::Type;
use super::{Emitter, Surfaces, Target};
use crate::bits::BitSet;
use crate::ir::visit::program_has;
use crate::ir::{LaneInst, LaneOp, Operand, Program, StmtKind};
use crate::isa::lane::Class;

/// Constant buffers of a kernel that may be uniform buffers, at most.
pub const UNIFORMS: usize = 8;

/// The binding of the first of them, behind those of storage buffers.
pub const UNIFORM_BINDINGS: u32 = Surfaces::PLACES as u32;

/// Words of constant buffers, by row and component.
pub(super) type Words = BTreeMap<u32, BTreeSet<(u32, u8)>>;

/// What arithmetic on floats reads of constant buffers by number, as far as a target may have it in uniform buffers.
pub(super) fn floats(program: &Program, target: &Target) -> Words {
    let found = RefCell::new(Words::new());
    let take = |operand: &Operand| match *operand {
        Operand::Const { buffer, row, component } if row < target.uniform_rows => {
            found.borrow_mut().entry(buffer.into()).or_default().insert((row, component));
        }
        _ => {}
    };
    // Constants are flushed before: into registers that something else reads.
    let read = RefCell::new(BitSet::default());
    let each = |f: &dyn Fn(&LaneInst)| {
        program_has(program, &|kind| {
            if let StmtKind::Lane(inst) = kind {
                f(inst);
            }
            false
        })
    };
    each(&|LaneInst { op, args, .. }| {
        let classes = op.arguments().iter().flat_map(|class| iter::repeat_n(*class, class.words()));
        // Comparisons give words.
        let arithmetic = op.result() == Class::F && *op != LaneOp::Flush;
        for (_, operand) in classes.zip(args).filter(|(class, _)| arithmetic && *class == Class::F) {
            take(operand);
            if let Operand::Reg(register) = operand {
                read.borrow_mut().insert(*register);
            }
        }
    });
    each(&|LaneInst { op, args, dst }| {
        if *op == LaneOp::Flush && read.borrow().contains(dst[0]) {
            args.iter().for_each(take);
        }
    });
    found.into_inner().into_iter().take(UNIFORMS).collect()
}

impl Emitter<'_> {
    /// Whether a word of a constant buffer comes from a uniform buffer.
    pub(super) fn is_uniform(&self, buffer: u32, row: u32, component: u8) -> bool {
        let known =
            || self.layout.uniforms.get(&buffer).is_some_and(|words| words.contains(&(row, component)));
        self.assume.uniforms && known()
    }

    /// The words of a row of a uniform buffer.
    pub(super) fn uniform_row(&mut self, buffer: u32, row: u32) -> [Word; 4] {
        let variable = self.uniform(buffer);
        let (zero, row) = (self.w.word(0), self.w.word(row));
        let pointer = self.w.pointer(StorageClass::Uniform, Type::Vec(4));
        let pointer = self.w.op(Op::AccessChain, pointer, &[variable, zero, row]);
        let vector = self.w.load(self.t.uvec4, pointer, None);
        let parts = self.loaded_parts(vector, 4);
        [parts[0], parts[1], parts[2], parts[3]]
    }

    /// The variable of a constant buffer that is a uniform buffer.
    fn uniform(&mut self, buffer: u32) -> Word {
        if let Some(variable) = self.uniforms.get(&buffer) {
            return *variable;
        }
        let found = self.layout.uniforms().position(|(other, _)| other == buffer);
        let place = found.expect("only words of such buffers are asked for");
        let rows = self.layout.uniforms().nth(place).map_or(0, |(_, rows)| rows);
        let rows = self.w.word(rows);
        let variable = self.uniform_block(rows, BUFFERS, UNIFORM_BINDINGS + place as u32);
        self.uniforms.insert(buffer, variable);
        variable
    }

    /// A uniform block of so many rows of four words.
    pub(super) fn uniform_block(&mut self, rows: Word, set: u32, binding: u32) -> Word {
        let array = self.w.global(Op::TypeArray, None, &[self.t.uvec4, rows]);
        self.w.decorate(array, Decoration::ArrayStride, &[16]);
        let block = self.w.global(Op::TypeStruct, None, &[array]);
        self.w.decorate(block, Decoration::Block, &[]);
        self.w.decorate_member(block, 0, Decoration::Offset, &[0]);
        let variable = self.w.variable(StorageClass::Uniform, block, None);
        self.w.decorate(variable, Decoration::DescriptorSet, &[set]);
        self.w.decorate(variable, Decoration::Binding, &[binding]);
        self.interface.push(variable);
        variable
    }
}
