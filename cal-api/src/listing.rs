//! Listings of kernels: the text in canonical form, then the SPIR-V module of a device that can do everything.
//!
//! A real device may lack something, so the module that it runs may differ; `CAL_DUMP` has that one. The module is the
//! one for native arithmetic, default samplers and any format.

use std::borrow::Cow;

use recal_hal::FloatMode;
use recal_il::diagnostic::Span;
use recal_il::ir::Program;
use recal_il::ir::passes::Watch;
use recal_il::listing::Line;
use recal_il::spirv::{self, Assume, Mode, Target};
use rspirv::binary::Disassemble;

use crate::error::{Error, Result};

/// The text as a listing, in canonical form; as it is, if that is not to be had.
pub(crate) fn il(text: &[u8]) -> String {
    match recal_il::text::parse(text) {
        Ok(ast) => recal_il::text::print(&ast),
        Err(_) => String::from_utf8_lossy(text).into_owned(),
    }
}

/// The module, or why there is none.
pub(crate) fn spirv(program: &Program) -> String {
    spirv_listing(program, FloatMode::Native).unwrap_or_else(|reason| format!("; none: {reason}\n"))
}

/// The SPIR-V module of a program as text, for a device that can do everything, default samplers and any format;
/// native arithmetic unless faithful is asked for.
pub fn spirv_listing(program: &Program, mode: FloatMode) -> Result<String> {
    spirv_watched(program, mode, &mut |_, _| {})
}

/// The same, and tells what the passes before make of the program.
pub(crate) fn spirv_watched(program: &Program, mode: FloatMode, watch: Watch<'_>) -> Result<String> {
    let lines = spirv_lines(program, mode, watch)?;
    Ok(lines.into_iter().map(|line| line.text).collect::<Vec<_>>().join("\n"))
}

/// As [`spirv_listing`], line by line with the instruction of the kernel's text that each comes from; `watch` is told what the
/// passes before make of the program.
pub fn spirv_lines(program: &Program, mode: FloatMode, watch: Watch<'_>) -> Result<Vec<Line>> {
    let mode = match mode {
        FloatMode::Faithful => Mode::Faithful,
        FloatMode::Default | FloatMode::Native => Mode::Native,
    };
    let assume = Assume { default_samplers: true, ..Assume::NOTHING };
    let module = spirv::emit_watched(program, &Target::full(mode), assume, watch)
        .map_err(|reason| Error::failed(reason.to_string()))?;
    let loaded = rspirv::dr::load_words(&module.words).map_err(|reason| Error::failed(reason.to_string()))?;
    let text = loaded.disassemble();
    // An instruction a line, in the order of the module; the number of words is in the upper half of the first.
    let mut at = HEADER;
    let mut spans = module.spans.iter().copied().peekable();
    let mut span = Span::default();
    let lines = text.lines().map(|line| {
        if line.starts_with(';') {
            return Line::new(line, Span::default());
        }
        while let Some((_, next)) = spans.next_if(|(from, _)| *from as usize <= at) {
            span = next;
        }
        let line = exact(line, module.words.get(at..).unwrap_or_default());
        at += module.words.get(at).map_or(1, |first| (first >> 16).max(1) as usize);
        Line::new(&*line, span)
    });
    Ok(lines.collect())
}

/// The line of an instruction that has these words, with the bits of a constant that is no number as assemblers of SPIR-V read them: `0x1.8p+128`.
fn exact<'l>(line: &'l str, words: &[u32]) -> Cow<'l, str> {
    let number = |text: &str| {
        let bits = match *words {
            // The value is behind the type and the result.
            [first, _, _, low, high, ..] if first >> 16 == 5 => u64::from(high) << 32 | u64::from(low),
            // Widened: the exponent of what is no number is all ones in either width.
            [_, _, _, low, ..] => {
                u64::from(low >> 31) << 63 | 0x7FF << 52 | u64::from(low & 0x007F_FFFF) << 29
            }
            _ => return text.to_owned(),
        };
        let exponent = if words[0] >> 16 == 5 { 1024 } else { 128 };
        let sign = if bits >> 63 == 1 { "-" } else { "" };
        let fraction = format!("{:013x}", bits & ((1 << 52) - 1));
        match fraction.trim_end_matches('0') {
            "" => format!("{sign}0x1p+{exponent}"),
            digits => format!("{sign}0x1.{digits}p+{exponent}"),
        }
    };
    match line.rsplit_once(' ') {
        Some((before, text @ ("NaN" | "inf" | "-inf"))) if before.contains(" OpConstant ") => {
            format!("{before} {}", number(text)).into()
        }
        _ => line.into(),
    }
}

/// Words before the first instruction of a module.
const HEADER: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_that_are_no_numbers_keep_their_bits() {
        let line = |text: &str, words: &[u32]| {
            exact(&format!("%9 = OpConstant %5 {text}"), words).rsplit(' ').next().unwrap().to_owned()
        };
        let float = |bits: u32| line("NaN", &[4 << 16 | 43, 5, 9, bits]);
        assert_eq!(
            [0x7FC0_0000, 0xFFC0_0000, 0x7F80_0001, 0x7F80_0000, 0xFF80_0000].map(float),
            ["0x1.8p+128", "-0x1.8p+128", "0x1.000002p+128", "0x1p+128", "-0x1p+128"]
        );
        let double = |bits: u64| line("inf", &[5 << 16 | 43, 5, 9, bits as u32, (bits >> 32) as u32]);
        assert_eq!([0x7FF0_0000_0000_0000, 0xFFF8_0000_0000_0000].map(double), ["0x1p+1024", "-0x1.8p+1024"]);
        assert_eq!(line("1.5", &[4 << 16 | 43, 5, 9, 1.5f32.to_bits()]), "1.5");
    }

    #[test]
    fn instructions_of_a_module_know_where_they_come_from() {
        let text = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n\
            dcl_literal l0, 3.0, 1, 0, 0\nmov r1.x, l0.z\nwhileloop\nige r2.x, r1.x, l0.y\nbreak_logicalnz r2.x\n\
            iadd r1.x, r1.x, l0.y\nendloop\nif_logicalnz r1.x\nmul r3.x, vWinCoord0.x, l0.x\nendif\n\
            add o0, r3.x, vWinCoord0.y\nend\n";
        let program = recal_il::compile(text.as_bytes()).unwrap();
        let lines = spirv_lines(&program, FloatMode::Native, &mut |_, _| {}).unwrap();
        let plain = spirv_listing(&program, FloatMode::Native).unwrap();
        assert_eq!(plain.lines().collect::<Vec<_>>(), lines.iter().map(|l| &l.text[..]).collect::<Vec<_>>());
        let of = |part: &str| {
            let found = lines.iter().filter(|line| line.text.contains(part));
            let said = found.filter_map(|line| line.span).map(|span| {
                let text = &text[span.start as usize..span.end as usize];
                text.split_whitespace().next().unwrap_or_default()
            });
            said.collect::<std::collections::BTreeSet<_>>()
        };
        assert!(of("OpFMul").contains("mul") && !of("OpFMul").contains("add"), "{:?}", of("OpFMul"));
        assert!(of("OpFAdd").contains("add"), "{:?}", of("OpFAdd"));
        assert!(of("OpLoopMerge").contains("whileloop"), "{:?}", of("OpLoopMerge"));
        assert!(of("OpFunctionEnd").is_empty() && of("OpTypeInt").is_empty());
    }
}
