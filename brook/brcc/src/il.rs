//! Checked kernels to AMD IL.
//!
//! Input: a [`hir::Kernel`]. Output: [`Technique`]s: the plain one and the one that translates addresses, each of as many
//! passes as eight outputs a pass make of it. Called kernels are compiled into their callers. A vector is a register, a struct as
//! many as it has members; `a * b + c` is one instruction, and operands are read through swizzles rather than copied.

mod arith;
mod asm;
mod call;
mod expr;
mod intrinsic;
mod layout;
mod memory;
mod reduce;
mod stmt;
mod unroll;

use std::fmt::Write as _;
pub(crate) use unroll::unroll;

use crate::hir::{self, ParamKind};
use crate::types::Structs;
use asm::{Asm, Op};
use layout::Layout;
pub use layout::{Access, Entry, Usage};

/// A whole implementation of a kernel.
#[derive(Clone, Debug)]
pub struct Technique {
    /// Streams may be longer than a row of the device, or have three dimensions.
    pub translation: bool,
    /// Its programs.
    pub passes: Vec<Pass>,
}

/// One program.
#[derive(Clone, Debug)]
pub struct Pass {
    /// Its text.
    pub text: String,
    /// What is bound, in the order of `KernelDesc`.
    pub entries: Vec<Entry>,
    /// It runs in groups.
    pub compute: bool,
}

/// Outputs of a pass.
const OUTPUTS: usize = 8;
/// Longest program. Calls are compiled into their callers, so a few lines can ask for any amount.
const LONGEST: usize = 8 << 20;

/// Everything that a kernel needs; the error says what is too much.
pub fn compile(
    kernels: &[hir::Kernel],
    at: usize,
    structs: &Structs,
    translation: bool,
) -> Result<Vec<Technique>, String> {
    let kernel = &kernels[at];
    // Three dimensions lie in two-dimensional memory by translation only, and threads of groups are numbered in a line.
    let always = kernel.group.is_some()
        || kernel.params.iter().any(|p| matches!(p.kind, ParamKind::Gather(3) | ParamKind::Scatter(3)));
    let modes: &[bool] = match (always, translation) {
        (true, _) => &[true],
        (_, true) => &[false, true],
        _ => &[false],
    };
    let outputs: usize =
        kernel.params.iter().filter(|p| p.kind == ParamKind::Output).map(|p| structs.count(p.ty)).sum();
    let passes = outputs.div_ceil(OUTPUTS).max(1);
    let mut techniques = Vec::new();
    let mut bytes = 0;
    for &translation in modes {
        let mut list: Vec<Pass> = Vec::new();
        for pass in 0..passes {
            let pass = Emitter::new(kernels, at, structs, translation, pass).run()?;
            bytes += pass.text.len();
            if bytes > LONGEST {
                return Err(format!(
                    "its programs have more than {} MiB: each pass computes everything",
                    LONGEST >> 20
                ));
            }
            list.push(pass);
        }
        techniques.push(Technique { translation, passes: list });
    }
    Ok(techniques)
}

/// What the variables of one kernel, or of a kernel inside it, are.
struct Frame<'k> {
    kernel: &'k hir::Kernel,
    /// Registers of each variable: one for a vector, one for each leaf of a struct.
    vars: Vec<Option<Vec<Op>>>,
    /// For each parameter that is an array, which parameter of the outermost kernel it is.
    arrays: Vec<usize>,
    /// Where a result goes.
    result: Vec<Op>,
    /// `return` is an instruction: the body is a function.
    function: bool,
}

/// Where this thread is.
#[derive(Clone, Debug, Default)]
struct Position {
    /// Four floats.
    float: Option<Op>,
    /// Four whole numbers.
    int: Option<Op>,
    /// Nonzero if the thread has an element; with translation, where surplus threads run.
    valid: Option<Op>,
}

struct Emitter<'k> {
    kernels: &'k [hir::Kernel],
    kernel: &'k hir::Kernel,
    structs: &'k Structs,
    translation: bool,
    pass: usize,
    layout: Layout,
    asm: Asm,
    frames: Vec<Frame<'k>>,
    /// Steps of the loops around, run by `continue`, and conditions of `do` loops.
    continues: Vec<stmt::Continue<'k>>,
    position: Position,
    functions: Vec<String>,
    /// Expressions around this one.
    depth: u32,
}

impl<'k> Emitter<'k> {
    fn new(
        kernels: &'k [hir::Kernel],
        at: usize,
        structs: &'k Structs,
        translation: bool,
        pass: usize,
    ) -> Self {
        let kernel = &kernels[at];
        Emitter {
            kernels,
            kernel,
            structs,
            translation,
            pass,
            layout: Layout::of(kernel, structs, translation, pass),
            asm: Asm::default(),
            frames: Vec::new(),
            continues: Vec::new(),
            position: Position::default(),
            functions: Vec::new(),
            depth: 0,
        }
    }

    fn run(mut self) -> Result<Pass, String> {
        let kernel = self.kernel;
        self.place();
        if kernel.reduce {
            self.reduction()?;
        } else {
            let vars = self.parameters();
            self.frames.push(Frame {
                kernel,
                vars,
                arrays: (0..kernel.params.len()).collect(),
                result: Vec::new(),
                function: false,
            });
            self.body()?;
            self.outputs();
        }
        self.finish()
    }

    /// The outermost kernel's body, as a function if it returns early.
    fn body(&mut self) -> Result<(), String> {
        let kernel = self.frames[self.frames.len() - 1].kernel;
        if hir::returns_early(&kernel.body) {
            self.function(|e| e.statements(&kernel.body))
        } else {
            self.statements(&kernel.body)
        }
    }

    /// Emits a function and a call of it.
    fn function(&mut self, inner: impl FnOnce(&mut Self) -> Result<(), String>) -> Result<(), String> {
        let before = std::mem::take(&mut self.asm.body);
        let loops = std::mem::take(&mut self.continues);
        let frame = self.frames.len() - 1;
        self.frames[frame].function = true;
        inner(self)?;
        self.continues = loops;
        let body = std::mem::replace(&mut self.asm.body, before);
        let number = self.functions.len();
        self.functions.push(body);
        self.asm.line(&format!("call {number}"));
        Ok(())
    }

    /// Writes the outputs of this pass.
    fn outputs(&mut self) {
        let frame = &self.frames[0];
        let mut all: Vec<Op> = Vec::new();
        for (at, param) in self.kernel.params.iter().enumerate() {
            if param.kind == ParamKind::Output {
                all.extend(frame.vars[at].iter().flatten().cloned());
            }
        }
        for (number, op) in all.into_iter().skip(self.pass * OUTPUTS).take(OUTPUTS).enumerate() {
            self.asm.store_output(number, &op);
        }
    }

    fn finish(self) -> Result<Pass, String> {
        let compute = self.kernel.group.is_some();
        let mut text = String::from(if compute { "il_cs_2_0\n" } else { "il_ps_2_0\n" });
        if let Some(group) = self.kernel.group {
            let _ = writeln!(text, "dcl_num_thread_per_group {group}");
            if let Some(shared) = &self.kernel.shared {
                let _ = writeln!(text, "dcl_lds_size_per_thread {}", 4 * shared.count / group);
                text.push_str("dcl_lds_sharing_mode _wavefrontRel\n");
            }
        } else {
            text.push_str("dcl_input_position_interp(linear_noperspective) v0.xy__\n");
        }
        self.layout.declare(&mut text);
        self.asm.declare(&mut text);
        text.push_str(&self.asm.body);
        text.push_str("endmain\n");
        for (number, body) in self.functions.iter().enumerate() {
            let _ = write!(text, "func {number}\n{body}ret\n");
        }
        text.push_str("end\n");
        if text.len() > LONGEST {
            return Err(format!("the program has {} MiB; the limit is {}", text.len() >> 20, LONGEST >> 20));
        }
        Ok(Pass { text, entries: self.layout.entries, compute })
    }

    /// Ends early what grows without end.
    fn check_length(&self) -> Result<(), String> {
        if self.asm.body.len() > LONGEST || self.functions.iter().map(String::len).sum::<usize>() > LONGEST {
            return Err(format!(
                "its program has more than {} MiB: calls are compiled into their callers",
                LONGEST >> 20
            ));
        }
        Ok(())
    }
}
