//! Machine code as text, for people: an instruction a line, with the place that jumps name before the one at it.

use std::collections::BTreeSet;

use iced_x86::{Decoder, DecoderOptions, Formatter as _, Instruction, IntelFormatter, OpKind};
use yaxpeax_arch::{Decoder as _, U8Reader};
use yaxpeax_arm::armv8::a64::{InstDecoder, Operand};

use crate::Isa;

impl Isa {
    /// The instructions of code, one a line. Jumps name places by bytes from the beginning; a line has the place alone.
    pub fn disassemble(self, code: &[u8]) -> String {
        self.disassembled(code).into_iter().map(|(_, line)| line + "\n").collect()
    }

    /// The same lines, each with the byte where its instruction begins.
    pub fn disassembled(self, code: &[u8]) -> Vec<(u32, String)> {
        let mut instructions = if self.name() == "neon" { arm(code) } else { x86(code) };
        // What fills up to where the next function begins.
        let last = instructions.iter().rposition(|i| !["int3", "brk #0x0"].contains(&i.says.as_str()));
        instructions.truncate(last.map_or(0, |last| last + 1));
        let targets: BTreeSet<u64> = instructions.iter().filter_map(|i| i.target).collect();
        let mut lines = Vec::new();
        for Listed { at, says, .. } in instructions {
            if targets.contains(&at) {
                lines.push((at as u32, format!("{at:#x}:")));
            }
            lines.push((at as u32, format!("  {says}")));
        }
        lines
    }
}

/// An instruction.
struct Listed {
    at: u64,
    /// Where it may go.
    target: Option<u64>,
    says: String,
}

fn x86(code: &[u8]) -> Vec<Listed> {
    let mut formatter = IntelFormatter::new();
    let options = formatter.options_mut();
    options.set_branch_leading_zeros(false);
    options.set_show_branch_size(false);
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_uppercase_hex(false);
    options.set_space_after_operand_separator(true);
    let mut listed = |instruction: Instruction| {
        let mut says = String::new();
        formatter.format(&instruction, &mut says);
        let jumps = matches!(instruction.op0_kind(), OpKind::NearBranch64);
        let target = jumps.then(|| instruction.near_branch_target());
        Listed { at: instruction.ip(), target, says }
    };
    Decoder::with_ip(64, code, 0, DecoderOptions::NONE).iter().map(&mut listed).collect()
}

fn arm(code: &[u8]) -> Vec<Listed> {
    let decoder = InstDecoder::default();
    let words = code.chunks_exact(4).zip((0..).step_by(4));
    words
        .map(|(word, at)| match decoder.decode(&mut U8Reader::new(word)) {
            Ok(instruction) => {
                let offset = instruction.operands.iter().find_map(|operand| match operand {
                    Operand::PCOffset(offset) => Some(*offset),
                    _ => None,
                });
                let target = offset.map(|offset| (at as i64 + offset) as u64);
                let mut says = instruction.to_string();
                if let Some(target) = target
                    && let Some((before, _)) = says.split_once('$')
                {
                    says = format!("{before}{target:#x}");
                }
                Listed { at, target, says }
            }
            Err(_) => Listed { at, target: None, says: format!(".word {:#010x}", word_of(word)) },
        })
        .collect()
}

fn word_of(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
}
