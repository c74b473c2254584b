//! Declarations of memory: group size, resources, UAVs, read-only buffers, LDS, GDS, shared registers.

use super::declare::{number_of, word_of};
use super::{Checker, Go, Stop};
use crate::diagnostic::Diagnostic;
use crate::inst::{Block, Dimension, GroupSize, Resource, Stage, Uav};
use crate::isa::Opcode;
use crate::text::ast::{Argument, File, Number, Operand, Statement};

/// Threads of a group.
const MAX_GROUP: u64 = 1024;
/// Bytes of all LDS blocks, and of all GDS blocks.
const MAX_LOCAL: u64 = 65536;
/// Resources, UAVs, read-only buffers.
pub(super) const MAX_IDS: u32 = 256;
/// Longest record of a structured buffer (the Direct3D 11 limit).
const MAX_STRIDE: u32 = 2048;
/// Shared registers.
const MAX_SHARED: u32 = 128;

impl Checker<'_> {
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

    pub(super) fn resource(&mut self, s: &Statement) -> Go {
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
                    // Resources have one sample an element, so its number says nothing.
                    "4c" | "4comp" | "unknown" | "2dmsaa" | "2darraymsaa" | "2dms_array" => {
                        let (plain, shape) = match word.starts_with("2da") || word == "2dms_array" {
                            true => ("2darray", Dimension::D2Array),
                            false => ("2d", Dimension::D2),
                        };
                        self.warn(Diagnostic::warning(
                            "resource-type",
                            spec.span,
                            format!("type `{word}` is taken as `{plain}`"),
                        ));
                        shape
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

    pub(super) fn group(&mut self, s: &Statement) -> Go {
        if self.stage == Stage::Pixel {
            return self.wrong_stage(s.word, "a thread group");
        }
        let numbers = self.numbers(s);
        let flat = numbers.iter().try_fold(1u64, |p, &n| p.checked_mul(u64::try_from(n).ok()?));
        let Some(flat) = flat.filter(|f| (1..=MAX_GROUP).contains(f)) else {
            let found = flat.map_or(String::new(), |flat| format!(", not {flat}"));
            return self.error(Diagnostic::error(
                "group-size",
                s.span,
                format!("a group has 1 to {MAX_GROUP} threads{found}"),
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

    pub(super) fn block(&mut self, s: &Statement) -> Go {
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
            let blocks = if lds { &mut self.interface.lds } else { &mut self.interface.gds };
            blocks.insert(id, Block { bytes: 4, stride: 0 });
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

    pub(super) fn lds_per_thread(&mut self, s: &Statement) -> Go {
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

    pub(super) fn uav(&mut self, s: &Statement) -> Go {
        let ast = self.ast;
        let Some(id) = self.id(s, &["id"], MAX_IDS)? else { return Ok(()) };
        let new = match s.opcode {
            Opcode::DclRawUav => Uav::Raw,
            Opcode::DclArenaUav => Uav::Arena,
            Opcode::DclStructUav => {
                let value = self.numbers(s)[0];
                let Some(stride) = self.stride(s, value)? else {
                    self.interface.uavs.insert(id, Uav::Structured { stride: 4 });
                    return Ok(());
                };
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

    pub(super) fn srv(&mut self, s: &Statement) -> Go {
        let Some(id) = self.id(s, &["id"], MAX_IDS)? else { return Ok(()) };
        let stride = if s.opcode == Opcode::DclStructSrv {
            let value = self.numbers(s)[0];
            let Some(stride) = self.stride(s, value)? else {
                self.interface.srvs.insert(id, 4);
                return Ok(());
            };
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
    pub(super) fn shared(&mut self, s: &Statement) -> Go {
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
}

fn coordinate_mode(ast: &crate::text::ast::Ast, spec: &crate::text::ast::Specifier) -> Option<&'static str> {
    word_of(ast.arguments(spec))
}
