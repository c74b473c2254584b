//! One instruction: operands, masks, modifiers, and the memory it names.

use super::flow::nothing;
use super::{Checker, Stop, legal};
use crate::diagnostic::{Diagnostic, Span};
use crate::inst::{
    Controls, Dimension, Dst, Inst, Modifiers, Register, Resource, Select, ShortSwizzle, Src, Stage, Uav,
    Write,
};
use crate::isa::{Category, Opcode, VectorRule};
use crate::text::ast::{Operand, OperandKind, Statement};

/// Short swizzles that are looked into.
const MAX_SHORT_SWIZZLES: usize = 4096;

impl Checker<'_> {
    /// Checks an instruction without control flow and completes `inst`, which has its opcode and place; false if it was
    /// refused. Its sources are appended to `sources`. It and they are made where they stay, since a processor waits for
    /// what it copies right after it was put together.
    pub(super) fn instruction(
        &mut self,
        s: &Statement,
        inst: &mut Inst,
        sources: &mut Vec<Src>,
    ) -> Result<bool, Stop> {
        let ast = self.ast;
        let opcode = inst.opcode;
        if !self.stage_allows(s, opcode)?
            || !self.controls(s, opcode, &mut inst.controls)?
            || !self.memory(s, opcode, &inst.controls)?
        {
            return Ok(false);
        }
        let operands = ast.operands(s);
        let mem = legal::writes_mem(opcode);
        let has_dst = matches!(operands.first(), Some(Operand { kind: OperandKind::Destination { .. }, .. }));
        let mut rest = operands;
        if has_dst {
            inst.dst =
                Some(Dst { register: Register::Nothing, mask: [Write::Keep; 4], span: operands[0].span });
            if let Some(dst) = &mut inst.dst
                && !self.destination(&operands[0], mem, dst)?
            {
                return Ok(false);
            }
            rest = &operands[1..];
        }
        inst.sources = (sources.len() as u32, rest.len() as u32);
        let first = sources.len();
        sources.extend(rest.iter().map(|operand| nothing(operand.span)));
        let sources = &mut sources[first..];
        for (operand, src) in rest.iter().zip(&mut *sources) {
            if !self.source(operand, src)? {
                return Ok(false);
            }
        }
        if !legal::float_sources(opcode) {
            self.drop_float_modifiers(opcode, sources, false);
        } else if legal::double_sources(opcode) {
            self.drop_float_modifiers(opcode, sources, true);
        }
        if let Some(dst) = &inst.dst {
            if legal::pair_result(opcode) && !whole_pairs(&dst.mask) {
                let refused = self.error(
                    Diagnostic::error(
                        "cut-pair",
                        dst.span,
                        format!("the result of `{}` is a pair of components", opcode.mnemonic()),
                    )
                    .with_note("write `.xy`, `.zw` or both"),
                );
                return refused.map(|()| false);
            }
            self.lint(opcode, dst, sources);
        }
        if opcode == Opcode::Transpose {
            self.transpose_registers(inst.dst.as_ref(), sources);
        }
        Ok(true)
    }

    /// `transpose` touches four registers in a row.
    fn transpose_registers(&mut self, dst: Option<&Dst>, src: &[Src]) {
        let registers = dst.map(|d| &d.register).into_iter().chain(src.iter().map(|s| &s.register));
        let highest =
            registers.filter_map(|r| if let Register::Temp(n) = r { Some(n + 3) } else { None }).max();
        if let Some(n) = highest {
            self.note_temp(n);
        }
    }

    fn stage_allows(&mut self, s: &Statement, opcode: Opcode) -> Result<bool, Stop> {
        if self.stage == Stage::Pixel && opcode.row().category == Category::Lds {
            return self.wrong_stage(s.word, "LDS").map(|()| false);
        }
        Ok(true)
    }

    /// Drops modifiers that mean nothing to the operands of `opcode`: of integers all but negation, of doubles all
    /// but those of the sign.
    fn drop_float_modifiers(&mut self, opcode: Opcode, src: &mut [Src], doubles: bool) {
        for s in src {
            let kept =
                Modifiers { neg: s.modifiers.neg, abs: s.modifiers.abs && doubles, ..Modifiers::default() };
            if s.modifiers != kept {
                s.modifiers = kept;
                let (what, note) = match doubles {
                    true => ("modifiers of single precision", "only `_abs` and `_neg` work on doubles"),
                    false => ("float modifiers", "only `_neg` has an integer meaning"),
                };
                let message = format!("{what} have no effect on `{}`", opcode.mnemonic());
                self.warn(Diagnostic::warning("modifier-ignored", s.span, message).with_note(note));
            }
        }
    }

    /// Warns about swizzles that read as they hardly can be meant.
    fn lint(&mut self, opcode: Opcode, dst: &Dst, src: &[Src]) {
        match opcode.row().rule {
            VectorRule::PerComponent => {
                let last = (0..4).rev().find(|&k| dst.mask[k] == Write::Result).unwrap_or(0) as u8;
                // Whether anything reads what the filled positions deliver shows after lowering.
                for s in src.iter().filter(|s| s.given > 1 && s.given <= last) {
                    if self.short_swizzles.len() < MAX_SHORT_SWIZZLES {
                        self.short_swizzles.push(ShortSwizzle { span: s.span, given: s.given, last });
                    }
                }
            }
            VectorRule::ScalarReplicated => {
                for s in src {
                    let constant = |k: Select| matches!(k, Select::Zero | Select::One);
                    if constant(s.swizzle[3]) && !constant(s.swizzle[0]) {
                        self.warn(
                            Diagnostic::warning(
                                "scalar-position",
                                s.span,
                                format!("`{}` reads position w, a constant here", opcode.mnemonic()),
                            )
                            .with_note("a single letter such as `.x` fills all positions"),
                        );
                    }
                }
            }
            _ => {}
        }
    }

    /// Checks that the memory an instruction names is declared with the right kind; false if it was refused.
    fn memory(&mut self, s: &Statement, opcode: Opcode, c: &Controls) -> Result<bool, Stop> {
        use Opcode as O;
        match opcode.row().category {
            Category::Texture => {
                self.resource_used(c.id, s.span);
                if !matches!(opcode, O::Load | O::Resinfo) && !self.interface.samplers.contains(&c.sampler) {
                    self.interface.samplers.push(c.sampler);
                }
                Ok(true)
            }
            Category::Lds if matches!(opcode, O::LdsReadVec | O::LdsWriteVec) => {
                if self.interface.lds_dwords_per_thread == 0 {
                    return self.undeclared_memory(
                        s.word,
                        "LDS of this thread",
                        "dcl_lds_size_per_thread 16",
                    );
                }
                if opcode == O::LdsWriteVec && c.lds_offset >= self.interface.lds_dwords_per_thread {
                    let d = Diagnostic::error(
                        "lds-offset",
                        s.word,
                        "the offset lies beyond the LDS that each thread owns",
                    );
                    return self.error(d).map(|()| false);
                }
                Ok(true)
            }
            Category::Lds if !self.interface.lds.contains_key(&c.id) => self.undeclared_memory(
                s.word,
                &format!("LDS block {}", c.id),
                &format!("dcl_lds_id({}) 1024", c.id),
            ),
            Category::Gds if matches!(opcode, O::AppendBufAlloc | O::AppendBufConsume) => {
                if !self.interface.counters.contains(&c.id) {
                    self.interface.counters.push(c.id);
                }
                Ok(true)
            }
            Category::Gds if !self.interface.gds.contains_key(&c.id) => self.undeclared_memory(
                s.word,
                &format!("GDS block {}", c.id),
                &format!("dcl_gds_id({}) 512", c.id),
            ),
            Category::Uav => self.uav_used(s, opcode, c),
            Category::Memory => match opcode {
                O::SrvRawLoad | O::SrvStructLoad => {
                    let structured = opcode == O::SrvStructLoad;
                    match self.interface.srvs.get(&c.id) {
                        _ if c.ext && self.interface.srvs.values().any(|&x| (x > 0) == structured) => {
                            Ok(true)
                        }
                        Some(&stride) if (stride > 0) == structured => Ok(true),
                        Some(0) => self.wrong_kind(s, &format!("buffer {} is raw", c.id)),
                        Some(_) => self.wrong_kind(s, &format!("buffer {} holds records", c.id)),
                        None => self.undeclared_memory(
                            s.word,
                            &format!("buffer {}", c.id),
                            &format!("dcl_raw_srv_id({})", c.id),
                        ),
                    }
                }
                O::Bufinfo if c.of_uav => self.uav_used(s, opcode, c),
                O::Bufinfo if self.interface.srvs.contains_key(&c.id) => Ok(true),
                _ => {
                    self.resource_used(c.id, s.span);
                    Ok(true)
                }
            },
            _ => Ok(true),
        }
    }

    fn undeclared_memory(&mut self, span: Span, what: &str, how: &str) -> Result<bool, Stop> {
        self.error(
            Diagnostic::error("undeclared", span, format!("{what} is not declared"))
                .with_note(format!("it is declared so: `{how}`")),
        )
        .map(|()| false)
    }

    fn wrong_kind(&mut self, s: &Statement, what: &str) -> Result<bool, Stop> {
        let message = format!("{what}: `{}` does not access it", s.opcode.mnemonic());
        self.error(Diagnostic::error("memory-kind", s.word, message)).map(|()| false)
    }

    fn resource_used(&mut self, id: u32, span: Span) {
        if self.interface.resources.contains_key(&id) {
            return;
        }
        self.interface
            .resources
            .insert(id, Resource { dimension: Dimension::D2, unnormalized: true, declared: false });
        self.warn(
            Diagnostic::warning("undeclared-resource", span, format!("resource {id} is not declared"))
                .with_note("taken as `dcl_resource_id(…)_type(2d,unnorm)`"),
        );
    }

    fn uav_used(&mut self, s: &Statement, opcode: Opcode, c: &Controls) -> Result<bool, Stop> {
        let id = c.id;
        match self.interface.uavs.get(&id) {
            // The number may only be where counting starts; something that fits must be there.
            _ if c.ext && self.interface.uavs.values().any(|uav| uav.takes(opcode)) => Ok(true),
            Some(uav) if uav.takes(opcode) => Ok(true),
            Some(uav) => {
                let kind = match uav {
                    Uav::Raw => "raw",
                    Uav::Arena => "an arena",
                    Uav::Structured { .. } => "structured",
                    Uav::Typed { .. } => "typed",
                };
                self.wrong_kind(s, &format!("UAV {id} is {kind}"))
            }
            None => self.undeclared_memory(s.word, &format!("UAV {id}"), &format!("dcl_raw_uav_id({id})")),
        }
    }
}

/// Both components of each pair are treated alike by the result.
fn whole_pairs(mask: &[Write; 4]) -> bool {
    let result = |k: usize| mask[k] == Write::Result;
    result(0) == result(1) && result(2) == result(3)
}
