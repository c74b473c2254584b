//! Operands: registers resolved against declarations, indices folded, what may be read or written.

use super::declare::{WIN_COORD, is_thread_id};
use super::{Checker, Input, InputDecl, Stop};
use crate::diagnostic::{Diagnostic, Span};
use crate::inst::{Dst, Index, Modifiers, PositionKind, Register, Select, Src, Stage, ThreadId, Write};
use crate::text::ast::{self, File, Operand, OperandKind};

type Found<T> = Result<Option<T>, Stop>;

impl Checker<'_> {
    /// Resolves a source into `src`; false if it was refused.
    pub(super) fn source(&mut self, operand: &Operand, src: &mut Src) -> Result<bool, Stop> {
        let span = operand.span;
        let OperandKind::Source { ref register, swizzle, given, modifiers } = operand.kind else {
            let d = Diagnostic::error("operand-kind", span, "a register that can be read is expected");
            return self.error(d).map(|()| false);
        };
        *src = Src { register: Register::Nothing, swizzle, given, modifiers, span };
        // `r0.1111` makes a constant; the register need not exist.
        let constant = swizzle.iter().all(|s| matches!(s, Select::Zero | Select::One));
        if constant && !matches!(register.file, File::Refused(_)) {
            return Ok(true);
        }
        if !self.register(register, span, false, &mut src.register)? {
            return Ok(false);
        }
        if src.register == Register::Mem {
            let d = Diagnostic::error("write-only", span, "`mem` cannot be read");
            return self.error(d).map(|()| false);
        }
        if matches!(register.file, File::Input | File::WinCoord) {
            self.constant_inputs(register, &src.register, &mut src.swizzle);
        }
        Ok(true)
    }

    /// Components that the input declaration forces to constants or leaves out, and the missing ones of the position.
    fn constant_inputs(&self, register: &ast::Register, resolved: &Register, swizzle: &mut [Select; 4]) {
        let key = if register.file == File::WinCoord { WIN_COORD } else { register.number.unwrap_or(0) };
        let mask = self.inputs.get(&key).map_or([Write::Result; 4], |d| d.mask);
        for s in swizzle {
            let k = match s {
                Select::Zero | Select::One => continue,
                Select::X => 0,
                Select::Y => 1,
                Select::Z => 2,
                Select::W => 3,
            };
            match mask[k] {
                Write::Zero => *s = Select::Zero,
                Write::One => *s = Select::One,
                _ if *resolved == Register::Position && k > 1 => *s = Select::Zero,
                Write::Keep if matches!(resolved, Register::Interpolant(_)) => *s = Select::Zero,
                _ => {}
            }
        }
    }

    /// Resolves a destination into `dst`, `mem` only where `mem` is true; false if it was refused.
    pub(super) fn destination(&mut self, operand: &Operand, mem: bool, dst: &mut Dst) -> Result<bool, Stop> {
        let span = operand.span;
        let OperandKind::Destination { ref register, mask } = operand.kind else {
            let d = Diagnostic::error("operand-kind", span, "a register that can be written is expected");
            return self.error(d).map(|()| false);
        };
        if mask.iter().all(|m| *m == Write::Keep) {
            let d = Diagnostic::error("empty-mask", span, "this mask writes nothing");
            return self.error(d).map(|()| false);
        }
        (dst.mask, dst.span) = (mask, span);
        if !self.register(register, span, true, &mut dst.register)? {
            return Ok(false);
        }
        if (dst.register == Register::Mem) != mem {
            let message = if mem {
                "this instruction stores to `mem`"
            } else {
                "`mem` is the destination of stores only"
            };
            return self.error(Diagnostic::error("mem-destination", span, message)).map(|()| false);
        }
        match &dst.register {
            Register::Temp(_)
            | Register::Array(..)
            | Register::Global(_)
            | Register::Shared(_)
            | Register::Mem => {}
            Register::Output(number) => self.write_output(*number, mask, span),
            _ => {
                let name = crate::text::register_name(register.file);
                let message = format!("`{name}` registers cannot be written");
                return self.error(Diagnostic::error("read-only", span, message)).map(|()| false);
            }
        }
        Ok(true)
    }

    fn write_output(&mut self, number: u32, mask: [Write; 4], span: Span) {
        let bits = (0..4).filter(|&k| mask[k] != Write::Keep).fold(0u8, |b, k| b | 1 << k);
        *self.interface.outputs.entry(number).or_insert(0) |= bits;
        match self.output_masks.get(&number).map(|declared| bits & !declared) {
            Some(0) => {}
            Some(extra) => {
                let components: String =
                    (0..4).filter(|k| extra & 1 << k != 0).map(|k| ['x', 'y', 'z', 'w'][k]).collect();
                let message =
                    format!("`o{number}.{components}` is written, and the declaration leaves it out");
                self.warn(Diagnostic::warning("output-mask", span, message));
            }
            // Told once.
            None if std::mem::replace(&mut self.told_outputs[number as usize & 7], true) => {}
            None => {
                let message = format!("`o{number}` is written and not declared");
                let declaration = format!("\ndcl_output_generic o{number}");
                self.warn(Diagnostic::warning("undeclared-output", span, message).with_suggestion(
                    "declare it",
                    self.ast.header.span.after(),
                    declaration,
                ));
            }
        }
    }

    /// The number of a temporary, renumbered inside macros.
    pub(super) fn temp(&mut self, number: u32) -> u32 {
        let number = match self.current_macro() {
            Some(m) => m.temp(number),
            None => number,
        };
        self.note_temp(number)
    }

    pub(super) fn note_temp(&mut self, number: u32) -> u32 {
        self.temps = self.temps.max(number + 1);
        number
    }

    fn shape_error<T>(&mut self, register: ast::Register, span: Span) -> Found<T> {
        let name = crate::text::register_name(register.file);
        let form = match register.file {
            File::Array | File::Const => format!("{name}0[index]"),
            File::Global | File::Immediate => format!("{name}[index]"),
            File::Temp | File::Literal | File::Input | File::Output | File::In | File::Out | File::Shared => {
                format!("{name}0")
            }
            _ => name.to_string(),
        };
        self.fail(Diagnostic::error("register-form", span, format!("this register is written `{form}`")))
    }

    fn refused<T>(&mut self, register: ast::Register, span: Span) -> Found<T> {
        let name = crate::text::register_name(register.file);
        let legacy = matches!(name, "a" | "aL" | "c" | "i" | "b" | "p" | "oC" | "oT" | "vT");
        let (rule, what) = match legacy {
            true => ("legacy", "belongs to DirectX 9 shaders or obsolete hardware"),
            false => ("graphics-only", "needs a graphics pipeline"),
        };
        let d = Diagnostic::error(rule, span, format!("the register `{name}` {what}"));
        self.fail(match name {
            "a" | "aL" => d.with_note("any `r#` can be an index: `cb0[r1.x]`"),
            "c" | "i" | "b" => {
                d.with_note("constants are `cb0[0]`, declared by `dcl_cb cb0[1]`, or literals `l0`")
            }
            "oC" => d.with_note("the outputs of pixel programs are `o0` to `o7`"),
            "vT" => d.with_note("interpolated inputs are `v0` to `v31`, the position is `vWinCoord0`"),
            _ => d,
        })
    }

    /// Resolves a register into `out`, a temporary without further ado; false if it was refused. `write` tells what it is
    /// for.
    fn register(
        &mut self,
        r: &ast::Register,
        span: Span,
        write: bool,
        out: &mut Register,
    ) -> Result<bool, Stop> {
        *out = match (r.file, r.number, r.index) {
            (File::Temp, Some(n), None) => Register::Temp(self.temp(n)),
            _ => match self.other_register(*r, span, write)? {
                Some(register) => register,
                None => return Ok(false),
            },
        };
        Ok(true)
    }

    /// Resolves a register that is no temporary.
    fn other_register(&mut self, r: ast::Register, span: Span, write: bool) -> Found<Register> {
        let none_or_zero = r.number.unwrap_or(0) == 0 && r.index.is_none();
        Ok(Some(match (r.file, r.number, r.index) {
            (File::Refused(_), ..) => return self.refused(r, span),
            (File::Literal, Some(n), None) => match self.literal_value(n) {
                Some(value) => Register::Literal(value),
                None => {
                    return self.undeclared(
                        span,
                        format!("`l{n}`"),
                        &format!("dcl_literal l{n}, 0, 0, 0, 0"),
                    );
                }
            },
            (File::Array, Some(n), Some(i)) => {
                let number = match self.current_macro() {
                    Some(m) => m.arrays.get(&n).copied().unwrap_or(u32::MAX),
                    None => n,
                };
                let Some(&elements) = self.interface.arrays.get(&number) else {
                    let how = format!("dcl_indexed_temp_array x{n}[16]");
                    return self.undeclared(span, format!("`x{n}`"), &how);
                };
                let Some(index) = self.index(i, span)? else { return Ok(None) };
                if index.base.is_none() && !(0..i64::from(elements)).contains(&i64::from(index.offset)) {
                    self.warn(
                        Diagnostic::warning("array-index", span, format!("`x{n}` has {elements} elements"))
                            .with_note("reads outside give 0, writes outside are dropped"),
                    );
                }
                Register::Array(number, index)
            }
            (File::Const, number, Some(i)) => {
                let n = number.unwrap_or(0);
                if number.is_none() {
                    self.warn(Diagnostic::warning(
                        "register-form",
                        span,
                        "`cb` without a number is taken as `cb0`",
                    ));
                }
                let Some(&rows) = self.interface.constants.get(&n) else {
                    let how = format!("dcl_cb cb{n}[16]");
                    return self.undeclared(span, format!("`cb{n}`"), &how);
                };
                let Some(index) = self.index(i, span)? else { return Ok(None) };
                if index.base.is_none() && i64::from(index.offset) >= i64::from(rows) {
                    self.warn(
                        Diagnostic::warning(
                            "constant-index",
                            span,
                            format!("`cb{n}` is declared with {rows} rows"),
                        )
                        .with_note("the bound memory is the limit"),
                    );
                }
                Register::Const(n, index)
            }
            (File::Immediate, None, Some(i)) => {
                if self.interface.immediates.is_empty() {
                    return self.undeclared(span, "`icb`".into(), "dcl_cb icb[1] { {1, 2, 3, 4} }");
                }
                let Some(index) = self.index(i, span)? else { return Ok(None) };
                Register::Immediate(index)
            }
            (File::Global, None, Some(i)) => {
                self.interface.global = true;
                let Some(index) = self.index(i, span)? else { return Ok(None) };
                Register::Global(index)
            }
            (File::Input | File::Output, Some(_), Some(_)) | (File::Input | File::Output, None, Some(_)) => {
                return self.fail(Diagnostic::error(
                    "graphics-only",
                    span,
                    "indexed inputs and outputs need a graphics pipeline",
                ));
            }
            (File::Input, Some(n), None) => return self.input_register(n, span),
            (File::WinCoord, ..) if none_or_zero => return self.input_register(WIN_COORD, span),
            (File::Output, Some(n), None) => {
                if self.stage == Stage::Compute {
                    return self.wrong_stage(span, "an output `o#`").map(|()| None);
                }
                if n >= 8 {
                    return self.output_number(span).map(|()| None);
                }
                if !write {
                    self.interface.outputs.entry(n).or_insert(0);
                }
                Register::Output(n)
            }
            (File::Mem, ..) if r.number.unwrap_or(0) == 0 && mem_index(r.index) => Register::Mem,
            (File::ObjIndex, ..) if none_or_zero => Register::ObjectIndex,
            (File::Timer, ..) if none_or_zero => Register::Timer,
            (File::Shared, number, index) => {
                let n = match (number, index) {
                    (Some(n), None) => n,
                    (None, Some(i)) if i.base.is_none() && i.offset >= 0 => i.offset as u32,
                    _ => return self.shape_error(r, span),
                };
                if n >= self.interface.shared {
                    let how = format!("dcl_shared_temp sr{n}");
                    return self.undeclared(span, format!("`sr{n}`"), &how);
                }
                Register::Shared(n)
            }
            (File::In | File::Out, Some(n), None) => {
                return self.parameter(r.file == File::In, n, write, span);
            }
            (file, ..) if is_thread_id(file) && none_or_zero => {
                if self.stage == Stage::Pixel {
                    return self.wrong_stage(span, "a thread identifier").map(|()| None);
                }
                Register::Thread(thread_id(file))
            }
            _ => return self.shape_error(r, span),
        }))
    }

    fn literal_value(&self, number: u32) -> Option<[u32; 4]> {
        match self.current_macro() {
            Some(m) => m.literals.get(&number).copied(),
            None => self.literals.get(number),
        }
    }

    fn undeclared<T>(&mut self, span: Span, what: String, how: &str) -> Found<T> {
        self.fail(
            Diagnostic::error("undeclared", span, format!("{what} is not declared"))
                .with_note(format!("it is declared so: `{how}`")),
        )
    }

    fn input_register(&mut self, key: u32, span: Span) -> Found<Register> {
        if self.stage == Stage::Compute {
            return self.wrong_stage(span, "an input").map(|()| None);
        }
        match self.inputs.get(&key) {
            Some(InputDecl { kind: Input::Interpolant, .. }) => return Ok(Some(Register::Interpolant(key))),
            Some(_) => {}
            None if key == WIN_COORD || key == 0 => {}
            None => {
                let how = format!("dcl_input_generic_interp(linear) v{key}");
                return self.undeclared(span, format!("`v{key}`"), &how);
            }
        }
        self.interface.position.get_or_insert(PositionKind::Centre);
        Ok(Some(Register::Position))
    }

    fn parameter(&mut self, input: bool, n: u32, write: bool, span: Span) -> Found<Register> {
        let name = if input { "in" } else { "out" };
        let Some(m) = self.current_macro() else {
            return self.fail(Diagnostic::error(
                "macro-parameter",
                span,
                format!("`{name}{n}` exists in macros only"),
            ));
        };
        let (count, register) = if input { (m.ins, m.input(n)) } else { (m.outs, m.output(n)) };
        if n >= count {
            return self.fail(Diagnostic::error(
                "macro-parameter",
                span,
                format!("this macro has {count} `{name}` parameters"),
            ));
        }
        if input && write {
            return self.fail(Diagnostic::error("read-only", span, "macro inputs cannot be written"));
        }
        Ok(Some(Register::Temp(self.note_temp(register))))
    }

    /// Resolves an index; one by a literal becomes a number.
    fn index(&mut self, i: ast::Index, span: Span) -> Found<Index> {
        let Some((file, number, component)) = i.base else {
            return Ok(Some(Index { base: None, offset: i.offset }));
        };
        let register = ast::Register { file, number, index: None };
        let mut base = Register::Nothing;
        if !self.register(&register, span, false, &mut base)? {
            return Ok(None);
        }
        Ok(Some(match base {
            Register::Literal(value) => {
                Index { base: None, offset: (value[component as usize] as i32).wrapping_add(i.offset) }
            }
            Register::Mem => {
                return self.fail(Diagnostic::error("write-only", span, "`mem` cannot be an index"));
            }
            base => Index { base: Some(Box::new((base, component))), offset: i.offset },
        }))
    }
}

fn mem_index(index: Option<ast::Index>) -> bool {
    index.is_none_or(|i| i.base.is_none() && i.offset == 0)
}

fn thread_id(file: File) -> ThreadId {
    match file {
        File::TidInGrp => ThreadId::InGroup,
        File::TidInGrpFlat => ThreadId::InGroupFlat,
        File::AbsTid => ThreadId::Absolute,
        File::AbsTidFlat => ThreadId::AbsoluteFlat,
        File::ThreadGrpId => ThreadId::Group,
        _ => ThreadId::GroupFlat,
    }
}

/// True if any modifier other than negation is set.
pub(super) fn float_modifiers(m: &Modifiers) -> bool {
    let Modifiers { invert, bias, x2, sign, div_comp, abs, neg: _, saturate } = *m;
    invert || bias || x2 || sign || div_comp.is_some() || abs || saturate
}
