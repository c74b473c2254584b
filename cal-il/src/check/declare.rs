//! Declarations: collected from the whole text before anything else, since they may stand anywhere.

use super::{Checker, Go, Input, InputDecl, Stop};
use crate::diagnostic::{Diagnostic, Span};
use crate::inst::{Block, Dimension, GroupSize, PositionKind, Resource, Stage, Uav, Write};
use crate::isa::{Category, Opcode};
use crate::text::ast::{Argument, File, Number, Operand, OperandKind, Register, Statement};

/// Threads of a group.
const MAX_GROUP: u64 = 1024;
/// Rows of a constant buffer.
const MAX_ROWS: u32 = 4096;
/// Constant buffers.
const MAX_BUFFERS: u32 = 16;
/// Elements of all indexed arrays of a thread: 1 MiB.
const MAX_ELEMENTS: u64 = 65536;
/// Bytes of all LDS blocks, and of all GDS blocks.
const MAX_LOCAL: u64 = 65536;
/// Resources, UAVs, read-only buffers.
pub(super) const MAX_IDS: u32 = 256;
/// Longest record of a structured buffer (the Direct3D 11 limit).
const MAX_STRIDE: u32 = 2048;
/// Colour outputs.
const MAX_OUTPUTS: u32 = 8;
/// Interpolated inputs.
const MAX_INPUTS: u32 = 32;
/// Shared registers.
const MAX_SHARED: u32 = 128;
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
    fn register_of(&mut self, s: &Statement) -> Result<Option<(Register, Span)>, Stop> {
        match self.ast.operands(s).first() {
            Some(&Operand {
                kind: OperandKind::Source { register, .. } | OperandKind::Destination { register, .. },
                span,
            }) => Ok(Some((register, span))),
            _ => self.fail(Diagnostic::error("declaration", s.word, "a register is expected here")),
        }
    }

    fn bad_register(&mut self, span: Span, opcode: Opcode, form: &str) -> Go {
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

    fn redeclared(&mut self, span: Span, what: &str) -> Go {
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
            (File::Refused(name), _) => {
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

    /// The number of a required specifier, limited.
    pub(super) fn id(&mut self, s: &Statement, names: &[&str], limit: u32) -> Result<Option<u32>, Stop> {
        let ast = self.ast;
        let Some(spec) = ast.specifiers(s).iter().find(|x| names.contains(&x.name)) else {
            return Ok(Some(0));
        };
        match ast.arguments(spec) {
            [Argument::Number(Number::Integer { value, .. })] if (0..i64::from(limit)).contains(value) => {
                Ok(Some(*value as u32))
            }
            _ => {
                let message = format!("`_{}` takes a number from 0 to {}", spec.name, limit - 1);
                self.fail(Diagnostic::error("id-range", spec.span, message))
            }
        }
    }

    fn resource(&mut self, s: &Statement) -> Go {
        let ast = self.ast;
        let Some(id) = self.id(s, &["id", "stage"], MAX_IDS)? else { return Ok(()) };
        let Some((dimension, mut unnormalized)) = self.shape(s)? else { return Ok(()) };
        if let Some(mode) = ast.specifiers(s).iter().find(|x| x.name == "coordmode") {
            unnormalized = coordinate_mode(ast, mode) == Some("unnormalized");
        }
        let new = Resource { dimension, unnormalized, declared: true };
        match self.interface.resources.insert(id, new) {
            Some(old) if old != new => self.redeclared(s.span, &format!("resource {id}")),
            _ => Ok(()),
        }
    }

    /// `_type(…)`: shape, and whether `unnorm` stands there.
    fn shape(&mut self, s: &Statement) -> Result<Option<(Dimension, bool)>, Stop> {
        let ast = self.ast;
        let mut dimension = None;
        let mut unnormalized = false;
        for spec in ast.specifiers(s).iter().filter(|x| x.name == "type") {
            for argument in ast.arguments(spec) {
                let word = match argument {
                    Argument::Word(word) => *word,
                    Argument::Other(at) => ast.words.get(*at as usize).map_or("", String::as_str),
                    Argument::Number(_) => "",
                };
                let shape = match word {
                    "unnorm" => {
                        unnormalized = true;
                        continue;
                    }
                    "1d" => Dimension::D1,
                    "2d" => Dimension::D2,
                    "3d" => Dimension::D3,
                    "buffer" => Dimension::Buffer,
                    "1darray" => Dimension::D1Array,
                    "2darray" => Dimension::D2Array,
                    "4c" | "4comp" | "unknown" => {
                        self.warn(Diagnostic::warning(
                            "resource-type",
                            spec.span,
                            format!("type `{word}` is taken as `2d`"),
                        ));
                        Dimension::D2
                    }
                    _ => {
                        return self.fail(
                            Diagnostic::error(
                                "graphics-only",
                                spec.span,
                                format!("a resource of type `{word}` needs a graphics pipeline"),
                            )
                            .with_note("CAL resources are 1d, 2d, 3d, buffer, 1darray or 2darray"),
                        );
                    }
                };
                if dimension.replace(shape).is_some() {
                    return self.fail(Diagnostic::error(
                        "specifier-argument",
                        spec.span,
                        "`_type` names one shape",
                    ));
                }
            }
        }
        match dimension {
            Some(dimension) => Ok(Some((dimension, unnormalized))),
            None => self.fail(Diagnostic::error("missing-specifier", s.word, "`_type` must name a shape")),
        }
    }

    fn numbers(&mut self, s: &Statement) -> Vec<i64> {
        let value = |o: &Operand| match number_of(o) {
            Some(Number::Integer { value, .. }) => value,
            _ => -1,
        };
        self.ast.operands(s).iter().map(value).collect()
    }

    fn group(&mut self, s: &Statement) -> Go {
        if self.stage == Stage::Pixel {
            return self.wrong_stage(s.word, "a thread group");
        }
        let numbers = self.numbers(s);
        let flat = numbers.iter().try_fold(1u64, |p, &n| p.checked_mul(u64::try_from(n).ok()?));
        let Some(flat) = flat.filter(|f| (1..=MAX_GROUP).contains(f)) else {
            return self.error(Diagnostic::error(
                "group-size",
                s.span,
                format!("a group has 1 to {MAX_GROUP} threads"),
            ));
        };
        let exact = s.opcode == Opcode::DclNumThreadPerGroup;
        let new = if exact {
            let get = |k| numbers.get(k).map_or(1, |&n: &i64| n as u32);
            GroupSize::Exact([get(0), get(1), get(2)])
        } else {
            GroupSize::AtMost(flat as u32)
        };
        match self.interface.group {
            Some(GroupSize::Exact(_)) if !exact => {}
            Some(GroupSize::AtMost(_)) if exact => self.interface.group = Some(new),
            Some(old) if old != new => return self.redeclared(s.span, "the group size"),
            _ => self.interface.group = Some(new),
        }
        Ok(())
    }

    fn block(&mut self, s: &Statement) -> Go {
        let Some(id) = self.id(s, &["id"], MAX_IDS)? else { return Ok(()) };
        let lds = matches!(s.opcode, Opcode::DclLds | Opcode::DclStructLds);
        if lds && self.stage == Stage::Pixel {
            return self.wrong_stage(s.word, "LDS");
        }
        let numbers = self.numbers(s);
        let (stride, bytes) = match numbers[..] {
            [stride, count] => (stride, stride.saturating_mul(count)),
            _ => (0, numbers[0]),
        };
        if bytes <= 0 || bytes > MAX_LOCAL as i64 || bytes % 4 != 0 || stride % 4 != 0 || stride < 0 {
            return self.error(Diagnostic::error(
                "lds-size",
                s.span,
                format!("a block has 4 to {MAX_LOCAL} bytes and whole dwords"),
            ));
        }
        let new = Block { bytes: bytes as u32, stride: stride as u32 };
        let blocks = if lds { &mut self.interface.lds } else { &mut self.interface.gds };
        let old = blocks.insert(id, new);
        let total: u64 = blocks.values().map(|b| u64::from(b.bytes)).sum();
        if old.is_some_and(|old| old != new) {
            return self.redeclared(s.span, &format!("block {id}"));
        }
        if total > MAX_LOCAL {
            return self.error(Diagnostic::error(
                "lds-size",
                s.span,
                format!("all blocks together have at most {MAX_LOCAL} bytes, these have {total}"),
            ));
        }
        Ok(())
    }

    fn lds_per_thread(&mut self, s: &Statement) -> Go {
        if self.stage == Stage::Pixel {
            return self.wrong_stage(s.word, "LDS");
        }
        let n = self.numbers(s)[0];
        if !(4..=64).contains(&n) || n % 4 != 0 {
            return self.error(Diagnostic::error(
                "lds-size",
                s.span,
                "a thread owns 4 to 64 dwords of LDS, a multiple of 4",
            ));
        }
        let old = std::mem::replace(&mut self.interface.lds_dwords_per_thread, n as u32);
        if old != 0 && old != n as u32 { self.redeclared(s.span, "the LDS size") } else { Ok(()) }
    }

    fn stride(&mut self, s: &Statement, value: i64) -> Result<Option<u32>, Stop> {
        if (4..=i64::from(MAX_STRIDE)).contains(&value) && value % 4 == 0 {
            return Ok(Some(value as u32));
        }
        self.fail(Diagnostic::error(
            "stride",
            s.span,
            format!("a record has 4 to {MAX_STRIDE} bytes, a multiple of 4"),
        ))
    }

    fn uav(&mut self, s: &Statement) -> Go {
        let ast = self.ast;
        let Some(id) = self.id(s, &["id"], MAX_IDS)? else { return Ok(()) };
        let new = match s.opcode {
            Opcode::DclRawUav => Uav::Raw,
            Opcode::DclArenaUav => Uav::Arena,
            Opcode::DclStructUav => {
                let value = self.numbers(s)[0];
                let Some(stride) = self.stride(s, value)? else { return Ok(()) };
                Uav::Structured { stride }
            }
            Opcode::DclTypelessUav => {
                let access = ast
                    .specifiers(s)
                    .iter()
                    .find(|x| x.name == "access")
                    .and_then(|x| word_of(ast.arguments(x)));
                if access == Some("private") {
                    return self.error(
                        Diagnostic::error(
                            "private-uav",
                            s.span,
                            "a private UAV is scratch memory of a later hardware generation",
                        )
                        .with_note("use `dcl_indexed_temp_array`"),
                    );
                }
                let stride = ast.specifiers(s).iter().find(|x| x.name == "stride").map(|x| ast.arguments(x));
                match stride {
                    Some([Argument::Number(Number::Integer { value, .. })]) if *value > 4 => {
                        let Some(stride) = self.stride(s, *value)? else { return Ok(()) };
                        Uav::Structured { stride }
                    }
                    _ => Uav::Raw,
                }
            }
            _ => {
                let Some((dimension, _)) = self.shape(s)? else { return Ok(()) };
                Uav::Typed { dimension }
            }
        };
        let merged = match (self.interface.uavs.get(&id), new) {
            (None, _) => new,
            (Some(&old), _) if old == new => new,
            // Both are byte addresses; arena accesses are the superset.
            (Some(Uav::Raw | Uav::Arena), Uav::Raw | Uav::Arena) => Uav::Arena,
            _ => return self.redeclared(s.span, &format!("UAV {id}")),
        };
        self.interface.uavs.insert(id, merged);
        Ok(())
    }

    fn srv(&mut self, s: &Statement) -> Go {
        let Some(id) = self.id(s, &["id"], MAX_IDS)? else { return Ok(()) };
        let stride = if s.opcode == Opcode::DclStructSrv {
            let value = self.numbers(s)[0];
            let Some(stride) = self.stride(s, value)? else { return Ok(()) };
            stride
        } else {
            0
        };
        match self.interface.srvs.insert(id, stride) {
            Some(old) if old != stride => self.redeclared(s.span, &format!("buffer {id}")),
            _ => Ok(()),
        }
    }

    /// `sr3` and `sr[4]` both reserve four registers: the text form is not documented, the larger count is safe.
    fn shared(&mut self, s: &Statement) -> Go {
        let Some((r, span)) = self.register_of(s)? else { return Ok(()) };
        let count = match (r.file, r.number, r.index) {
            (File::Shared, Some(n), None) => n + 1,
            (File::Shared, None, Some(i)) if i.base.is_none() && i.offset > 0 => i.offset as u32,
            _ => return self.bad_register(span, s.opcode, "sr3"),
        };
        if count > MAX_SHARED {
            return self.error(Diagnostic::error(
                "shared-size",
                span,
                format!("there are {MAX_SHARED} shared registers"),
            ));
        }
        self.interface.shared = self.interface.shared.max(count);
        Ok(())
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
                .with_note("add `dcl_num_thread_per_group 64`"),
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

fn number_of(operand: &Operand) -> Option<Number> {
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

fn coordinate_mode(ast: &crate::text::ast::Ast, spec: &crate::text::ast::Specifier) -> Option<&'static str> {
    word_of(ast.arguments(spec))
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
