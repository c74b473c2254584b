//! Specifiers decoded into [`Controls`].

use super::declare::word_of;
use super::memory::MAX_IDS;
use super::{Checker, Stop, legal};
use crate::diagnostic::Diagnostic;
use crate::inst::{Controls, Fence, Relop, Stage, Zeroop};
use crate::isa::Opcode;
use crate::text::ast::{Argument, Number, Specifier, Statement};

impl Checker<'_> {
    /// Decodes the specifiers and destination modifiers of a statement into `c`; false if one was refused.
    pub(super) fn controls(&mut self, s: &Statement, opcode: Opcode, c: &mut Controls) -> Result<bool, Stop> {
        let ast = self.ast;
        (c.scale, c.saturate) = (s.scale, s.saturate);
        if s.scale != 0 && !legal::float_result(opcode) {
            c.scale = 0;
            self.ignored(s, "a scale has");
        }
        if s.saturate && !legal::saturable(opcode) {
            c.saturate = false;
            self.ignored(s, "`_sat` has");
        }
        for spec in ast.specifiers(s) {
            if !self.control(c, s, spec)? {
                return Ok(false);
            }
        }
        if opcode == Opcode::Fence && c.fence.is_empty() && !self.dropped_barrier(s) {
            let d = Diagnostic::error(
                "missing-specifier",
                s.word,
                "`fence` needs at least one of `_threads`, `_lds`, `_memory` …",
            );
            return self.error(d).map(|()| false);
        }
        Ok(true)
    }

    fn dropped_barrier(&self, s: &Statement) -> bool {
        self.ast.specifiers(s).iter().any(|x| x.name == "threads")
    }

    fn ignored(&mut self, s: &Statement, what: &str) {
        let name = s.opcode.mnemonic();
        self.warn(Diagnostic::warning("modifier-ignored", s.word, format!("{what} no effect on `{name}`")));
    }

    /// Decodes one specifier; false if it was refused.
    fn control(&mut self, c: &mut Controls, s: &Statement, spec: &Specifier) -> Result<bool, Stop> {
        let ast = self.ast;
        let arguments = ast.arguments(spec);
        let word = word_of(arguments);
        match spec.name {
            "ieee" => c.ieee = true,
            "zeroop" => {
                c.zeroop = Some(match word {
                    Some("zero") => Zeroop::Zero,
                    Some("infinity") => Zeroop::Infinity,
                    Some("inf_else_max") => Zeroop::InfElseMax,
                    _ => Zeroop::FltMax,
                });
            }
            "relop" => c.relop = word.and_then(relop),
            "cmpval" => {
                let value = match arguments {
                    [Argument::Number(n)] => n.as_f32(),
                    _ => f32::NAN,
                };
                if ![0.0, 0.5, 1.0, -0.5, -1.0].contains(&value) {
                    let d = Diagnostic::error(
                        "specifier-argument",
                        spec.span,
                        "`_cmpval` takes 0.0, 0.5, 1.0, -0.5 or -1.0",
                    );
                    return self.error(d).map(|()| false);
                }
                c.cmpval = value;
            }
            "id" | "resource" | "stage" | "uav" => {
                let Some(id) = self.id(s, &[spec.name], MAX_IDS)? else { return Ok(false) };
                c.id = id;
                c.of_uav = spec.name == "uav";
                if spec.name == "stage" {
                    let Some(sampler) = self.id(s, &["stage"], 16)? else { return Ok(false) };
                    c.sampler = sampler;
                }
            }
            "sampler" => {
                let Some(sampler) = self.id(s, &["sampler"], 16)? else { return Ok(false) };
                c.sampler = sampler;
            }
            "ext" => c.ext = true,
            "coordtype" => {
                c.unnormalized = match word {
                    Some("unnormalized") => Some(true),
                    Some("normalized") => Some(false),
                    _ => None,
                };
            }
            "aoffimmi" | "addroffimmi" => return self.texel_offset(c, spec),
            "compselect" => {
                c.component =
                    word.and_then(|w| ["x", "y", "z", "w"].iter().position(|n| *n == w)).unwrap_or(0) as u8
            }
            "size" => {
                c.size = match word {
                    Some("byte") => 1,
                    Some("short") => 2,
                    _ => 4,
                };
            }
            "uint" => c.uint = true,
            "lOffset" => match arguments {
                [Argument::Number(Number::Integer { value, .. })]
                    if (0..=60).contains(value) && value % 4 == 0 =>
                {
                    c.lds_offset = *value as u32;
                }
                _ => {
                    let d = Diagnostic::error(
                        "specifier-argument",
                        spec.span,
                        "`_lOffset` takes a multiple of 4 from 0 to 60",
                    );
                    return self.error(d).map(|()| false);
                }
            },
            "neighborExch" => c.neighbor_exchange = true,
            "sharingMode" if word == Some("abs") => self.absolute_sharing(spec.span),
            "threads" => {
                if self.stage == Stage::Pixel {
                    self.warn(Diagnostic::warning(
                        "barrier-ignored",
                        spec.span,
                        "a pixel program has no group to wait for",
                    ));
                } else {
                    c.fence |= Fence::THREADS;
                }
            }
            "lds" => c.fence |= Fence::LDS,
            "memory" => c.fence |= Fence::MEMORY,
            "sr" => c.fence |= Fence::SHARED,
            "mem_write_only" => c.fence |= Fence::MEMORY_WRITE,
            "mem_read_only" => c.fence |= Fence::MEMORY_READ,
            "gds" => c.fence |= Fence::GDS,
            "matrix" => {
                let digit = |k: usize| word.and_then(|w| w.as_bytes().get(k)).map_or(4, |b| b - b'0');
                c.matrix = (digit(0), digit(2));
            }
            "nrm4" => c.nrm4 = true,
            "normalize" => c.normalize = true,
            // Caches, precision and the repeated resource type change no result; filter hints of old fetches neither.
            "cached" | "uncached" | "nrm3" | "resourcetype" => {}
            "xoffset" | "yoffset" | "zoffset" => return self.old_offset(c, spec),
            "lodbias" | "centroid" | "mag" | "min" | "aniso" => {
                self.warn(Diagnostic::warning(
                    "hint-ignored",
                    spec.span,
                    format!("`_{}` has no effect on a resource of one level", spec.name),
                ));
            }
            _ => {}
        }
        Ok(true)
    }

    fn half_texels(argument: Option<&Argument>) -> Option<i8> {
        let Some(Argument::Number(n)) = argument else { return None };
        let halves = n.as_f32() * 2.0;
        (halves.fract() == 0.0 && (-16.0..=15.0).contains(&halves)).then_some(halves as i8)
    }

    fn texel_offset(&mut self, c: &mut Controls, spec: &Specifier) -> Result<bool, Stop> {
        let arguments = self.ast.arguments(spec);
        let mut offset = [0; 3];
        let good = (1..=3).contains(&arguments.len())
            && arguments
                .iter()
                .zip(&mut offset)
                .all(|(a, o)| Self::half_texels(Some(a)).map(|h| *o = h).is_some());
        if !good {
            let d = Diagnostic::error(
                "specifier-argument",
                spec.span,
                "texel offsets are three numbers from -8 to 7.5 in steps of 0.5",
            );
            return self.error(d).map(|()| false);
        }
        c.offset = offset;
        Ok(true)
    }

    fn old_offset(&mut self, c: &mut Controls, spec: &Specifier) -> Result<bool, Stop> {
        let Some(halves) = Self::half_texels(self.ast.arguments(spec).first()) else {
            let d = Diagnostic::error(
                "specifier-argument",
                spec.span,
                "a texel offset is a number from -8 to 7.5 in steps of 0.5",
            );
            return self.error(d).map(|()| false);
        };
        c.offset[usize::from(spec.name.as_bytes()[0] - b'x')] = halves;
        Ok(true)
    }
}

fn relop(word: &str) -> Option<Relop> {
    Some(match word {
        "ne" => Relop::Ne,
        "eq" => Relop::Eq,
        "ge" => Relop::Ge,
        "gt" => Relop::Gt,
        "le" => Relop::Le,
        "lt" => Relop::Lt,
        _ => return None,
    })
}
