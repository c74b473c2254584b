//! Declarations: collected from the whole text before anything else, since they may stand anywhere. Literals,
//! constants, arrays, inputs and outputs are here, the rest in `memory`.

use super::{Checker, Go, Input, InputDecl, Stop};
use crate::diagnostic::{Diagnostic, Span};
use crate::inst::{PositionKind, Stage, Write};
use crate::isa::{Category, Opcode};
use crate::text::ast::{Argument, File, Number, Operand, OperandKind, Register, Statement};

/// Rows of a constant buffer.
const MAX_ROWS: u32 = 4096;
/// Constant buffers.
const MAX_BUFFERS: u32 = 16;
/// Elements of all indexed arrays of a thread: 1 MiB.
const MAX_ELEMENTS: u64 = 65536;
/// Colour outputs.
const MAX_OUTPUTS: u32 = 8;
/// Interpolated inputs.
const MAX_INPUTS: u32 = 32;
/// Key of `vWinCoord` among the inputs.
pub(super) const WIN_COORD: u32 = u32::MAX;

/// Literals. A number may be declared several times: the latest declaration before a use in the text counts,
/// or the first one if the use precedes all.
#[derive(Default)]
pub(super) struct Literals {
    values: Vec<Option<[u32; 4]>>,
}

impl Literals {
    pub fn get(&self, number: u32) -> Option<[u32; 4]> {
        self.values.get(number as usize).copied().flatten()
    }

    pub fn set(&mut self, number: u32, value: [u32; 4]) {
        let at = number as usize;
        if at >= self.values.len() {
            self.values.resize(at + 1, None);
        }
        self.values[at] = Some(value);
    }
}

impl Checker<'_> {
    pub(super) fn collect_declarations(&mut self) -> Go {
        let ast = self.ast;
        let mut inside = None;
        let mut macro_count = 0;
        for statement in &ast.statements {
            match statement.opcode {
                Opcode::Mdef => {
                    inside = Some(macro_count);
                    macro_count += 1;
                }
                Opcode::Mend => inside = None,
                _ if statement.opcode.row().category == Category::Decl => {
                    self.declaration(statement, inside.filter(|&m| m < self.macros.list.len()))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn declaration(&mut self, s: &Statement, inside: Option<usize>) -> Go {
        if let Some((rule, message, note)) = super::legal::refusal(s.opcode) {
            let d = Diagnostic::error(rule, s.word, format!("`{}` {message}", s.opcode.mnemonic()))
                .with_note(note);
            return self.error(d);
        }
        match s.opcode {
            Opcode::DclLiteral => self.literal(s, inside),
            Opcode::DclCb => self.constant_buffer(s),
            Opcode::DclIndexedTempArray => self.array(s, inside),
            Opcode::DclInput => self.input(s),
            Opcode::Dclpi => self.pixel_input(s),
            Opcode::DclOutput => self.output(s),
            Opcode::DclResource | Opcode::Dclpt => self.resource(s),
            Opcode::DclNumThreadPerGroup | Opcode::DclMaxThreadPerGroup => self.group(s),
            Opcode::DclLds | Opcode::DclStructLds | Opcode::DclGds | Opcode::DclStructGds => self.block(s),
            Opcode::DclLdsSizePerThread => self.lds_per_thread(s),
            Opcode::DclLdsSharingMode => {
                if self.ast.specifiers(s).iter().any(|x| x.name == "wavefrontAbs") {
                    self.absolute_sharing(s.word);
                }
                Ok(())
            }
            Opcode::DclUav
            | Opcode::DclTypedUav
            | Opcode::DclRawUav
            | Opcode::DclStructUav
            | Opcode::DclArenaUav
            | Opcode::DclTypelessUav => self.uav(s),
            Opcode::DclRawSrv | Opcode::DclStructSrv => self.srv(s),
            Opcode::DclSharedTemp => self.shared(s),
            Opcode::DclGlobalFlags => Ok(()),
            // Hints without effect: DclTotalNumThreadGroup, DclWavesize, DclGwsThreadCount.
            _ => {
                let d = Diagnostic::warning(
                    "hint-ignored",
                    s.span,
                    format!("`{}` has no effect", s.opcode.mnemonic()),
                );
                self.warn(d);
                Ok(())
            }
        }
    }

    pub(super) fn absolute_sharing(&mut self, span: Span) {
        self.warn(
            Diagnostic::warning("sharing-mode", span, "absolute LDS sharing is treated as relative")
                .with_note("LDS does not outlive a group here"),
        );
    }

    /// The register of a declaration.
    pub(super) fn register_of(&mut self, s: &Statement) -> Result<Option<(Register, Span)>, Stop> {
        match self.ast.operands(s).first() {
            Some(&Operand {
                kind: OperandKind::Source { register, .. } | OperandKind::Destination { register, .. },
                span,
            }) => Ok(Some((register, span))),
            _ => self.fail(Diagnostic::error("declaration", s.word, "a register is expected here")),
        }
    }

    pub(super) fn bad_register(&mut self, span: Span, opcode: Opcode, form: &str) -> Go {
        self.error(Diagnostic::error(
            "declaration",
            span,
            format!("`{}` declares a register such as `{form}`", opcode.mnemonic()),
        ))
    }

    fn literal(&mut self, s: &Statement, inside: Option<usize>) -> Go {
        let Some((number, value)) = literal_of(self.ast.operands(s)) else {
            let span = self.ast.operands(s).first().map_or(s.word, |o| o.span);
            return self.bad_register(span, s.opcode, "l0");
        };
        if let Some(m) = inside {
            self.macros.list[m].literals.entry(number).or_insert(value);
            return Ok(());
        }
        match self.literals.get(number) {
            None => self.literals.set(number, value),
            Some(old) if old != value => self.warn(
                Diagnostic::warning(
                    "literal-redefined",
                    s.span,
                    format!("`l{number}` is declared again with another value"),
                )
                .with_note("the latest declaration before a use in the text counts"),
            ),
            Some(_) => {}
        }
        Ok(())
    }

    fn constant_buffer(&mut self, s: &Statement) -> Go {
        let Some((r, span)) = self.register_of(s)? else { return Ok(()) };
        let rows = match r.index {
            Some(index) if index.base.is_none() && index.offset >= 0 => index.offset as u32,
            _ => return self.bad_register(span, s.opcode, "cb0[16]"),
        };
        if rows > MAX_ROWS || rows == 0 {
            // Whoever uses it makes no mistake of his own.
            self.interface.constants.insert(r.number.unwrap_or(0), MAX_ROWS);
            return self.error(Diagnostic::error(
                "constant-buffer-size",
                span,
                format!("a constant buffer has 1 to {MAX_ROWS} rows, not {rows}"),
            ));
        }
        match (r.file, r.number) {
            (File::Immediate, None) => self.immediates(s, rows, span),
            (File::Const, number) => {
                let number = number.unwrap_or(0);
                if number >= MAX_BUFFERS {
                    return self.error(Diagnostic::error(
                        "constant-buffer-number",
                        span,
                        format!("constant buffers are cb0 to cb{}", MAX_BUFFERS - 1),
                    ));
                }
                let entry = self.interface.constants.entry(number).or_insert(0);
                *entry = rows.max(*entry);
                Ok(())
            }
            _ => self.bad_register(span, s.opcode, "cb0[16]"),
        }
    }

    fn immediates(&mut self, s: &Statement, rows: u32, span: Span) -> Go {
        let ast = self.ast;
        let words: Vec<u32> = ast.operands(s)[1..].iter().filter_map(number_of).map(Number::bits).collect();
        if words.len() != rows as usize * 4 {
            self.interface.immediates = vec![[0; 4]];
            return self.error(Diagnostic::error(
                "immediate-data",
                span,
                format!("`icb[{rows}]` needs {} values, found {}", rows * 4, words.len()),
            ));
        }
        if !self.interface.immediates.is_empty() {
            return self.error(Diagnostic::error("redefined", span, "`icb` is declared twice"));
        }
        self.interface.immediates = words.chunks_exact(4).map(|w| [w[0], w[1], w[2], w[3]]).collect();
        Ok(())
    }

    fn array(&mut self, s: &Statement, inside: Option<usize>) -> Go {
        let Some((r, span)) = self.register_of(s)? else { return Ok(()) };
        let (File::Array, Some(number), Some(index)) = (r.file, r.number, r.index) else {
            return self.bad_register(span, s.opcode, "x0[8]");
        };
        if index.base.is_some() || index.offset <= 0 {
            self.interface.arrays.entry(number).or_insert(1);
            return self.error(Diagnostic::error("array-size", span, "an array has at least one element"));
        }
        let elements = index.offset as u32;
        // Arrays of macros get numbers above those that a text can spell.
        let number = match inside {
            None => number,
            Some(m) => {
                let next = 0x1_0000 + self.interface.arrays.len() as u32;
                *self.macros.list[m].arrays.entry(number).or_insert(next)
            }
        };
        let old = self.interface.arrays.insert(number, elements);
        if old.is_some_and(|old| old != elements) {
            return self.redeclared(span, "this array");
        }
        let total: u64 = self.interface.arrays.values().map(|&e| u64::from(e)).sum();
        if total > MAX_ELEMENTS {
            return self.error(Diagnostic::error(
                "array-size",
                span,
                format!("arrays of a thread have at most {MAX_ELEMENTS} elements, these have {total}"),
            ));
        }
        Ok(())
    }

    pub(super) fn redeclared(&mut self, span: Span, what: &str) -> Go {
        self.error(Diagnostic::error("redefined", span, format!("{what} is declared twice, differently")))
    }

    fn input(&mut self, s: &Statement) -> Go {
        let ast = self.ast;
        let Some((r, span)) = self.register_of(s)? else { return Ok(()) };
        let mask = mask_of(&ast.operands(s)[0]);
        let usage =
            ast.specifiers(s).iter().find(|x| x.name == "usage").and_then(|x| word_of(ast.arguments(x)));
        let position = match usage {
            None | Some("generic") => false,
            Some("position") => true,
            Some(other) => {
                let decl = InputDecl { kind: Input::Interpolant, mask };
                self.inputs.insert(r.number.unwrap_or(WIN_COORD), decl);
                let d = Diagnostic::error(
                    "graphics-only",
                    s.word,
                    format!("an input of usage `{other}` needs a graphics pipeline"),
                );
                return self.error(d.with_note("pixel kernels have `position` and `generic` inputs"));
            }
        };
        let key = match (r.file, r.number) {
            (File::WinCoord, None | Some(0)) => WIN_COORD,
            (File::Input, Some(n)) if n < MAX_INPUTS => n,
            (File::Input, Some(_)) => {
                return self.error(Diagnostic::error(
                    "input-number",
                    span,
                    format!("inputs are v0 to v{}", MAX_INPUTS - 1),
                ));
            }
            (f, _) if is_thread_id(f) => {
                return if self.stage == Stage::Compute {
                    Ok(())
                } else {
                    self.wrong_stage(span, "a thread identifier")
                };
            }
            (File::ObjIndex, _) => return Ok(()),
            (File::Refused(_), _) => {
                let name = crate::text::register_name(r.file);
                return self.error(Diagnostic::error(
                    "graphics-only",
                    span,
                    format!("`{name}` needs a graphics pipeline"),
                ));
            }
            _ => return self.bad_register(span, s.opcode, "v0"),
        };
        if self.stage == Stage::Compute {
            return self.wrong_stage(span, "an input");
        }
        let kind = if position || key == WIN_COORD { Input::Position } else { Input::Interpolant };
        self.declare_input(key, kind, mask, PositionKind::Centre, span)
    }

    fn declare_input(
        &mut self,
        key: u32,
        kind: Input,
        mask: [Write; 4],
        position: PositionKind,
        span: Span,
    ) -> Go {
        match kind {
            Input::Position => match self.interface.position {
                Some(old) if old != position => return self.redeclared(span, "the position"),
                _ => self.interface.position = Some(position),
            },
            Input::Interpolant if !self.interface.interpolants.contains(&key) => {
                self.interface.interpolants.push(key)
            }
            Input::Interpolant => {}
        }
        match self.inputs.get_mut(&key) {
            Some(old) if old.kind != kind => return self.redeclared(span, "this input"),
            Some(old) => {
                for (o, m) in old.mask.iter_mut().zip(mask) {
                    if m != Write::Keep {
                        *o = m;
                    }
                }
            }
            None => {
                self.inputs.insert(key, InputDecl { kind, mask });
            }
        }
        Ok(())
    }

    /// `dclpi`: the pixel position in whole numbers; components may be constants.
    fn pixel_input(&mut self, s: &Statement) -> Go {
        let ast = self.ast;
        let Some((r, span)) = self.register_of(s)? else { return Ok(()) };
        let mut mask = [Write::Keep; 4];
        for spec in ast.specifiers(s) {
            let Some(k) = ["x", "y", "z", "w"].iter().position(|n| *n == spec.name) else { continue };
            mask[k] = match word_of(ast.arguments(spec)) {
                Some("*") => Write::Result,
                // The one kernel met says `_x(0)_y(0)` and needs column and row.
                Some("0") if k < 2 => Write::Result,
                Some("0") => Write::Zero,
                Some("1") => Write::One,
                _ => Write::Keep,
            };
        }
        let key = match (r.file, r.number) {
            (File::WinCoord, _) => WIN_COORD,
            (File::Input, Some(n)) if n < MAX_INPUTS => n,
            _ => return self.bad_register(span, s.opcode, "vWinCoord0"),
        };
        if self.stage == Stage::Compute {
            return self.wrong_stage(span, "an input");
        }
        self.declare_input(key, Input::Position, mask, PositionKind::Whole, span)
    }

    fn output(&mut self, s: &Statement) -> Go {
        let Some((r, span)) = self.register_of(s)? else { return Ok(()) };
        let (File::Output, Some(number), None) = (r.file, r.number, r.index) else {
            return self.bad_register(span, s.opcode, "o0");
        };
        if self.stage == Stage::Compute {
            return self.wrong_stage(span, "an output `o#`");
        }
        if number >= MAX_OUTPUTS {
            return self.output_number(span);
        }
        let mask = mask_of(&self.ast.operands(s)[0]);
        let bits = (0..4).filter(|&k| mask[k] != Write::Keep).fold(0, |b, k| b | 1 << k);
        *self.output_masks.entry(number).or_insert(0) |= bits;
        Ok(())
    }

    pub(super) fn output_number(&mut self, span: Span) -> Go {
        self.error(Diagnostic::error(
            "output-number",
            span,
            format!("outputs are o0 to o{}", MAX_OUTPUTS - 1),
        ))
    }

    /// Checks what only the whole set of declarations shows.
    pub(super) fn finish_declarations(&mut self) -> Go {
        let refused = self.errors.iter().any(|d| d.rule == "group-size");
        if self.stage == Stage::Compute && self.interface.group.is_none() && !refused {
            return self.error(
                Diagnostic::error(
                    "missing-group-size",
                    self.ast.header.span,
                    "a compute program declares its group size",
                )
                .with_suggestion(
                    "declare it",
                    self.ast.header.span.after(),
                    "\ndcl_num_thread_per_group 64",
                ),
            );
        }
        self.interface.interpolants.sort_unstable();
        Ok(())
    }

    /// Adds what only the use of registers shows.
    pub(super) fn finish_interface(&mut self) -> Go {
        for (&number, &bits) in &self.output_masks {
            *self.interface.outputs.entry(number).or_insert(0) |= bits;
        }
        Ok(())
    }
}

/// Number and value of a `dcl_literal`.
pub(super) fn literal_of(operands: &[Operand]) -> Option<(u32, [u32; 4])> {
    let [register, values @ ..] = operands else { return None };
    let OperandKind::Source { register: r, .. } = register.kind else { return None };
    let (File::Literal, Some(number), None) = (r.file, r.number, r.index) else { return None };
    let mut value = [0; 4];
    for (slot, operand) in value.iter_mut().zip(values) {
        *slot = number_of(operand)?.bits();
    }
    Some((number, value))
}

pub(super) fn number_of(operand: &Operand) -> Option<Number> {
    match operand.kind {
        OperandKind::Number(n) => Some(n),
        _ => None,
    }
}

fn mask_of(operand: &Operand) -> [Write; 4] {
    match operand.kind {
        OperandKind::Destination { mask, .. } => mask,
        _ => [Write::Result; 4],
    }
}

pub(super) fn word_of(arguments: &[Argument]) -> Option<&'static str> {
    match arguments.first() {
        Some(Argument::Word(word)) => Some(word),
        _ => None,
    }
}

pub(super) fn is_thread_id(file: File) -> bool {
    matches!(
        file,
        File::TidInGrp
            | File::TidInGrpFlat
            | File::AbsTid
            | File::AbsTidFlat
            | File::ThreadGrpId
            | File::ThreadGrpIdFlat
    )
}
