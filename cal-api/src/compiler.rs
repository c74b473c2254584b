//! IL text to objects and programs.
//!
//! Input: kernel text, as bytes (comments may hold any code page), and a target. Output: an [`Object`], or an error
//! whose message holds every diagnostic with line, column and caret. Instructions newer than the target are refused.

#[cfg(feature = "cpu")]
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

#[cfg(feature = "cpu")]
use recal_cpu::InstructionSet;
use recal_hal::{FloatMode, timeline, with_room};
use recal_il::diagnostic::{Diagnostic, Span, render};
use recal_il::inst::{Kernel, Node, Stage};
use recal_il::ir::Program;
use recal_il::isa::{Category, Family, Opcode};
use recal_il::vliw::{self, CHIPS, Elements};

use crate::config::Config;
use crate::error::{Error, Result};
use crate::image::{Image, Object};
use crate::listing::spirv_watched;
use crate::target::Target;

/// Errors and warnings shown of one text.
const SHOWN: usize = 32;

/// Compiles IL text for a target (a value of `CALtarget`, see [`crate::DeviceInfo::target`]).
///
/// ```
/// let error = recal::compile("il_ps_2_0\nfrobnicate r0, r1\nend\n", 8).unwrap_err();
/// assert!(error.to_string().contains("frobnicate"));
/// ```
pub fn compile(text: impl AsRef<[u8]>, target: u32) -> Result<Object> {
    let text = text.as_ref();
    let target = Target::from_value(target)
        .ok_or_else(|| Error::invalid(format!("target: {target} is no value of CALtarget")))?;
    with_room(|| compile_for(text, target))
}

fn compile_for(text: &[u8], target: Target) -> Result<Object> {
    let start = timeline::now();
    let program = program(text, target);
    timeline::done(start, "compile", "compile");
    let program = program?;
    if !program.warnings.is_empty() {
        // Old programs expect a compiler that prints nothing.
        log::info!(target: "recal::compiler", "{}", shown(&program.warnings, text));
    }
    let object = Object::new(target, text, &program)?;
    dump(target, "il", text);
    Ok(object)
}

/// Everything that there is to say about a text, errors and warnings; no errors if it compiles for the target.
///
/// ```
/// let found = recal::diagnose("il_ps_2_0\nfrobnicate r0, r1\nmov r0, l9\nend\n", 8)?;
/// let rules: Vec<_> = found.iter().map(|d| d.rule).collect();
/// assert_eq!(rules, ["unknown-opcode", "undeclared"]);
/// # Ok::<(), recal::Error>(())
/// ```
pub fn diagnose(text: impl AsRef<[u8]>, target: u32) -> Result<Vec<Diagnostic>> {
    let target = Target::from_value(target)
        .ok_or_else(|| Error::invalid(format!("target: {target} is no value of CALtarget")))?;
    let text = text.as_ref();
    Ok(with_room(|| read(text, target)).map_or_else(|errors| errors, |program| program.warnings))
}

fn read(text: &[u8], target: Target) -> Result<Program, Vec<Diagnostic>> {
    let kernel = recal_il::front(text)?;
    let newer = newer_instructions(&kernel, target);
    if !newer.is_empty() {
        return Err(newer);
    }
    recal_il::lower::lower(&kernel)
}

/// The program of a text.
pub(crate) fn program(text: &[u8], target: Target) -> Result<Program> {
    with_room(|| read(text, target)).map_err(|e| refused(&e, text))
}

/// What a compiler of the time might have made of a text for the chip of a target; none if there is no such chip or the model does
/// not go as far.
pub(crate) fn chip_code(text: &[u8], target: Target) -> Option<String> {
    let chip = CHIPS.iter().find(|chip| Target::parse(chip.name) == Some(target))?;
    with_room(|| {
        read(text, target).ok()?;
        let bare = recal_il::lower::lower_bare(&recal_il::front(text).ok()?).ok()?;
        let code = vliw::compile(&bare, chip, &Elements::default()).ok()?;
        Some(code.listing(chip))
    })
}

/// The error that shows diagnostics.
pub(crate) fn refused(diagnostics: &[Diagnostic], text: &[u8]) -> Error {
    Error::kernel(diagnostics, format!("the kernel was not accepted\n{}", shown(diagnostics, text)))
}

fn shown(diagnostics: &[Diagnostic], text: &[u8]) -> String {
    let first = &diagnostics[..diagnostics.len().min(SHOWN)];
    let mut all = render(first, text, "kernel");
    if diagnostics.len() > SHOWN {
        all += &format!("and {} more\n", diagnostics.len() - SHOWN);
    }
    all
}

/// An error for each instruction that the target does not have, where it stands first.
fn newer_instructions(kernel: &Kernel, target: Target) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if kernel.stage == Stage::Compute && target.family < Family::R700 {
        let message = format!("target {} has no compute kernels", target.name);
        found.push(Diagnostic::error("target", Span::default(), message));
    }
    let mut told = Vec::new();
    for function in &kernel.functions {
        check_family(&function.body, target, &mut told, &mut found);
    }
    found.sort_by_key(|d| d.span.start);
    found
}

fn check_family(body: &[Node], target: Target, told: &mut Vec<Opcode>, found: &mut Vec<Diagnostic>) {
    for node in body {
        match node {
            Node::Inst(inst) => {
                let row = inst.opcode.row();
                if row.family > target.family && !told.contains(&inst.opcode) {
                    told.push(inst.opcode);
                    let message = format!(
                        "`{}` needs {:?} or later, but target {} is {:?}",
                        row.mnemonic, row.family, target.name, target.family
                    );
                    let d = Diagnostic::error("target", inst.span, message);
                    found.push(match row.category {
                        Category::Uav if target.family == Family::R700 => d.with_note(
                            "R700 reads and writes whole dwords of raw UAVs: `uav_raw_load`, `uav_raw_store`",
                        ),
                        _ => d,
                    });
                }
            }
            Node::If { then, otherwise, .. } => {
                check_family(then, target, told, found);
                check_family(otherwise, target, told, found);
            }
            Node::Loop { body, .. } => check_family(body, target, told, found),
            Node::Switch { arms, .. } => {
                arms.iter().for_each(|a| check_family(&a.body, target, told, found));
            }
            Node::Break(..)
            | Node::Continue(..)
            | Node::Call { .. }
            | Node::Return(..)
            | Node::Discard(..) => {}
        }
    }
}

/// Writes an image to the folder of `CAL_DUMP`.
pub(crate) fn dump_image(image: &Image) {
    if let Some(target) = image.targets().first().and_then(|&t| Target::from_value(t)) {
        dump(target, "elf", image.as_bytes());
    }
}

/// Writes what a program becomes, with the name of its text's dump: after each pass of lowering and of emission (faithful mode,
/// a device that can do everything), the SPIR-V module as text, and the vector program of the CPU device.
pub(crate) fn dump_program(program: &Program, text: &[u8], target: Target) {
    if dump_folder().is_none() {
        return;
    }
    let name =
        |extension: &str| format!("{}-{:016x}.{extension}", target.name.to_ascii_lowercase(), fnv1a(text));
    let mut number = 0;
    let mut watch = |pass: &'static str, program: &Program| {
        dump_named(&name(&format!("{number:02}-{pass}.ir")), program.to_string().as_bytes());
        number += 1;
    };
    with_room(|| {
        if let Ok(kernel) = recal_il::front(text) {
            // It was lowered without complaint before.
            let _ = recal_il::lower::lower_watched(&kernel, &mut watch);
        }
        let spirv = spirv_watched(program, FloatMode::Faithful, &mut watch);
        let spirv = spirv.unwrap_or_else(|reason| format!("; none: {reason}\n"));
        dump_named(&name("spvasm"), spirv.as_bytes());
        #[cfg(feature = "cpu")]
        if let Some(vector) = recal_cpu::vector_listing(program, instructions(), &BTreeMap::new()) {
            dump_named(&name("vector"), vector.as_bytes());
        }
    });
}

/// The folder of `CAL_DUMP`, if there is one.
fn dump_folder() -> Option<&'static std::path::PathBuf> {
    static FOLDER: OnceLock<Option<std::path::PathBuf>> = OnceLock::new();
    FOLDER.get_or_init(|| Config::from_env().0.dump).as_ref()
}

/// The instructions that the CPU device uses.
#[cfg(feature = "cpu")]
fn instructions() -> InstructionSet {
    let limit = Config::from_env().0.isa;
    let fits = |set: &InstructionSet| set.available() && *set <= limit;
    InstructionSet::ALL.into_iter().rfind(fits).unwrap_or(InstructionSet::Baseline)
}

/// Writes to the folder of `CAL_DUMP`, if there is one; names hold the target and a hash, so equal ones meet.
fn dump(target: Target, extension: &str, bytes: &[u8]) {
    if dump_folder().is_some() {
        let name = format!("{}-{:016x}.{extension}", target.name.to_ascii_lowercase(), fnv1a(bytes));
        dump_named(&name, bytes);
    }
}

fn dump_named(name: &str, bytes: &[u8]) {
    let Some(folder) = dump_folder() else { return };
    if let Err(e) = write(folder, name, bytes) {
        log::warn!("CAL_DUMP: {}: {e}", folder.join(name).display());
    }
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join(name), bytes)
}

/// FNV-1a: stable between runs, unlike the hash of the standard library.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COPY: &str = "il_ps_2_0\ndcl_output_generic o0\nmov o0, r0.0000\nend\n";

    #[test]
    fn errors_have_line_and_reason() {
        let text = compile("il_ps_2_0\nmov r0, r1\nbogus r1\nend\n", 8).unwrap_err().to_string();
        assert!(text.contains("kernel:3:1") && text.contains("bogus"), "{text}");
    }

    #[test]
    fn unknown_targets_are_refused() {
        assert_eq!(compile(COPY, 27).unwrap_err().result(), crate::CalResult::InvalidParameter);
        assert!(compile(COPY, 26).is_ok());
    }

    #[test]
    fn instructions_newer_than_the_target_are_refused_by_name() {
        let text = "il_ps_2_0\ndcl_output_generic o0\nubit_extract r0, r1, r2, r3\nmov o0, r0\nend\n";
        assert!(compile(text, 8).is_ok());
        let error = compile(text, 5).unwrap_err().to_string();
        assert!(error.contains("ubit_extract") && error.contains("770"), "{error}");
    }

    #[test]
    fn r700_has_raw_uavs_and_no_arenas() {
        let text = |body: &str| {
            format!(
                "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(1)\ndcl_arena_uav_id(8)\n{body}\nend\n"
            )
        };
        let raw = "uav_raw_load_id(1) r1.x, vAbsTidFlat.x\nuav_raw_store_id(1) mem.x, vAbsTidFlat.x, r1.x";
        assert!(compile(text(raw), 5).is_ok());
        let narrow = "uav_arena_load_id(8)_size(byte) r1.x, vAbsTidFlat.x\n\
                      uav_arena_store_id(8)_size(byte) vAbsTidFlat.x, r1.x\nuav_read_add_id(1) r1.x, r1.x, r1.x";
        let found = diagnose(text(narrow), 5).unwrap();
        let said: Vec<_> = found.iter().map(|d| d.message.split(' ').next().unwrap_or_default()).collect();
        assert_eq!(said, ["`uav_arena_load`", "`uav_arena_store`", "`uav_read_add`"]);
        assert!(found[0].note.as_ref().is_some_and(|note| note.contains("raw UAVs")), "{:?}", found[0]);
        assert!(compile(text(narrow), 8).is_ok());
    }

    #[test]
    fn an_instruction_that_the_target_lacks_is_told_of_once() {
        let text =
            format!("il_ps_2_0\ndcl_output_generic o0\n{}mov o0, r0\nend\n", "drsq r0.xy, r0.xy\n".repeat(9));
        assert_eq!(diagnose(text, 5).unwrap().len(), 1);
    }

    #[test]
    fn what_is_said_is_plain_text_with_what_is_meant() {
        let text = compile("il_ps_2_0\nmul_saturate r0, r1, r1\nend\n", 8).unwrap_err().to_string();
        assert!(text.contains("did you mean `_sat`?") && text.contains("+ mul_sat r0, r1, r1"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_kernel() {
        assert!(compile(format!("\u{feff}{COPY}"), 8).is_ok());
    }

    #[test]
    fn compute_kernels_need_r700() {
        let text = "il_cs_2_0\ndcl_num_thread_per_group 64\nend\n";
        assert!(compile(text, 5).is_ok());
        assert!(compile(text, 3).unwrap_err().to_string().contains("compute"));
    }
}
