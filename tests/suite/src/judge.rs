//! What is judged alike wherever a case runs: memory, and the errors of a compiler.

use recal_il::diagnostic::Diagnostic;

use crate::case::Buffer;

/// Lines printed for one failed case.
const MOST_LINES: usize = 12;

/// Compares memory with what is wanted, and everything else with what it was.
pub fn compare(buffer: &Buffer, memory: &[u8], loose: bool, lines: &mut Vec<String>) {
    let mut untouched = buffer.spread();
    untouched.resize(memory.len(), 0);
    let mut wrong = 0;
    for &(at, want) in buffer.expected.iter().flatten() {
        let start = buffer.place(at);
        let found = &memory[start..start + want.bytes()];
        if !want.accepts(found, loose) {
            wrong += 1;
            if lines.len() < MOST_LINES {
                let hex: String = found.iter().rev().map(|b| format!("{b:02X}")).collect();
                lines.push(format!(
                    "{} byte {at} (word {}): 0x{hex}, wanted {want:X?}",
                    buffer.slots[0],
                    at / 4
                ));
            }
        }
        untouched[start..start + want.bytes()].copy_from_slice(found);
    }
    if wrong > MOST_LINES {
        lines.push(format!("{}: {wrong} wrong in all", buffer.slots[0]));
    }
    if let Some(at) = (0..memory.len()).find(|&k| memory[k] != untouched[k]) {
        lines.push(format!(
            "{}: memory byte {at} changed to {:02X}, which nothing should write",
            buffer.slots[0], memory[at]
        ));
    }
}

/// Judges the compiler's errors.
pub fn refusal(text: &str, errors: &[Diagnostic], wanted: Option<&str>) -> Result<(), Vec<String>> {
    if let Some(wanted) = wanted
        && errors
            .iter()
            .any(|e| e.rule.contains(wanted) || e.message.to_lowercase().contains(&wanted.to_lowercase()))
    {
        return Ok(());
    }
    let mut lines: Vec<String> = errors
        .iter()
        .take(4)
        .map(|e| {
            let line = text.as_bytes()[..(e.span.start as usize).min(text.len())]
                .iter()
                .filter(|b| **b == b'\n')
                .count();
            format!(
                "line {}: {} [{}]: {}",
                line + 1,
                e.message,
                e.rule,
                text.lines().nth(line).unwrap_or_default()
            )
        })
        .collect();
    if let Some(wanted) = wanted {
        lines.push(format!("refused, but not for `{wanted}`"));
    }
    Err(lines)
}

pub fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("of unknown kind")
}
