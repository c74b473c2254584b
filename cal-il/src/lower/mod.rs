//! Lowering: checked vector instructions become scalar operations on numbered registers.
//!
//! Input is a kernel that the checker passed, output a program that any backend runs. Lowering resolves what IL
//! writes around an operation: swizzles, modifiers, masks, scales, relative addresses, structured addresses.
//! What an instruction itself does, its table row says ([`crate::isa::Meaning`]). Afterwards passes over the
//! program place the flushes and canonicalisations that the classes of lane operations ask for, and remove what
//! nothing reads.
//!
//! Refused are only forms that need more than a lane: `transpose` of anything but temporaries, and what the
//! checker should have caught.

mod alu;
mod area;
mod build;
mod flow;
mod fold;
mod lint;
mod memory;
mod passes;
mod source;
mod vector;
mod write;

use std::collections::BTreeMap;

use crate::diagnostic::Diagnostic;
use crate::inst::{Inst, Kernel};
use crate::ir::passes::Watch;
use crate::ir::{Builtin, Function, Operand, Output, Program, Reg, needed};
use crate::isa::Meaning;

use build::{Builder, Files};
pub use passes::LOWERING;
use write::Value;

/// Lowers a checked kernel. Time and size are linear in the kernel.
pub fn lower(kernel: &Kernel) -> Result<Program, Vec<Diagnostic>> {
    lower_watched(kernel, &mut |_, _| {})
}

/// The same, and tells what the translation and each pass make of the kernel.
pub fn lower_watched(kernel: &Kernel, watch: Watch<'_>) -> Result<Program, Vec<Diagnostic>> {
    let (mut program, files) = translate(Builder::new(kernel))?;
    watch("translate", &program);
    let registers = passes::run(&mut program, watch);
    lint::run(kernel, &mut program, &registers, &files);
    Ok(program)
}

/// Lowers a checked kernel for a device whose arithmetic flushes and cleans by itself: without the flushes and canonical NaNs
/// that backends need.
pub fn lower_bare(kernel: &Kernel) -> Result<Program, Vec<Diagnostic>> {
    let (mut program, _) = translate(Builder::new(kernel))?;
    passes::reduce(&mut program, &mut |_, _| {});
    needed::forget_untouched(&mut program);
    Ok(program)
}

/// Lowers a checked kernel for people who watch it run: every component of an `r#` and `o#` keeps one register for
/// all of its life, and every copy is made. Computes the same words as [`lower`], more slowly.
pub fn lower_named(kernel: &Kernel) -> Result<(Program, Names), Vec<Diagnostic>> {
    let (mut program, files) = translate(Builder::new(kernel))?;
    passes::required(&mut program);
    needed::forget_untouched(&mut program);
    Ok((program, files.names()))
}

/// What registers of a program stand for, as the kernel writes it: `r0.x`, `o1.w`. Others hold values in between.
pub type Names = BTreeMap<Reg, String>;

/// Statement for statement, without passes: classes are not respected yet.
fn translate(mut builder: Builder) -> Result<(Program, Files), Vec<Diagnostic>> {
    let kernel = builder.kernel;
    let outputs = (kernel.interface.outputs.keys())
        .map(|&index| Output { index, registers: builder.output(index) })
        .collect();
    let functions = (kernel.functions.iter())
        .map(|function| Function { label: function.label, body: builder.body(&function.body) })
        .collect();
    if !builder.diagnostics.is_empty() {
        return Err(builder.diagnostics);
    }
    let program = Program {
        stage: kernel.stage,
        interface: kernel.interface.clone(),
        declared: kernel.interface.clone(),
        functions,
        registers: builder.registers(),
        outputs,
        warnings: kernel.warnings.clone(),
    };
    Ok((program, builder.files))
}

impl Builder<'_> {
    fn inst(&mut self, inst: &Inst) {
        self.span = inst.span;
        match inst.opcode.row().meaning {
            Meaning::Declaration | Meaning::Flow | Meaning::Nothing => {}
            Meaning::Lane(view, choice) => self.lane_inst(inst, view, choice),
            Meaning::Vector(vector) => self.vector_inst(inst, vector),
            Meaning::Memory(memory) => self.memory_inst(inst, memory),
            Meaning::ComputeUnit => self.builtin_inst(inst, Builtin::ComputeUnit),
            Meaning::WaveSlot => self.builtin_inst(inst, Builtin::WaveSlot),
            Meaning::Refused(reason) => {
                self.refuse("refused", format!("`{}`: {reason}", inst.opcode.mnemonic()));
            }
        }
    }

    fn builtin_inst(&mut self, inst: &Inst, builtin: Builtin) {
        if let Some(dst) = &inst.dst {
            self.write(dst, Self::replicate(dst, Value::Word(Operand::Builtin(builtin))));
        }
    }
}

#[cfg(test)]
mod tests;
