//! The ABI as this side sees it, as text, for the comparison with the C headers.

use super::types::{CONSTANTS, layouts};
use crate::error::CalResult;
use crate::target::TARGETS;

/// Lines `size STRUCT n`, `offset STRUCT.MEMBER n` and `value ENUMERATOR n`, in no particular order.
pub fn abi_lines() -> Vec<String> {
    let mut lines = Vec::new();
    for (name, size, members) in layouts() {
        lines.push(format!("size {name} {size}"));
        lines.extend(members.iter().map(|(member, at)| format!("offset {name}.{member} {at}")));
    }
    lines.extend(CONSTANTS.iter().map(|(name, value)| format!("value {name} {value}")));
    lines.extend(CalResult::ALL.iter().map(|r| format!("value {} {}", r.name(), *r as u32)));
    lines.extend(crate::Format::ALL.iter().map(|f| format!("value CAL_FORMAT_{} {}", f.name(), *f as u32)));
    let aliases = recal_il::format::ALIASES.iter();
    lines.extend(aliases.map(|(name, format)| format!("value CAL_FORMAT_{name} {}", *format as u32)));
    // The public headers end at BARTS and call three of the values reserved.
    for target in &TARGETS[..18] {
        let name = match target.value {
            12 => "RESERVED0",
            13 => "RESERVED1",
            16 => "RESERVED2",
            _ => target.name,
        };
        lines.push(format!("value CAL_TARGET_{name} {}", target.value));
    }
    lines
}
