//! What emitted modules consist of.

use recal_il::spirv::Module;

/// Words before the first instruction.
const HEADER: usize = 5;

/// The opcodes of a module's instructions, in order.
pub fn opcodes(module: &Module) -> Vec<u32> {
    let (mut at, mut found) = (HEADER, Vec::new());
    while let Some(word) = module.words.get(at) {
        found.push(word & 0xFFFF);
        at += (word >> 16) as usize;
    }
    found
}

/// How many of them are this one.
pub fn count(opcodes: &[u32], opcode: u32) -> usize {
    opcodes.iter().filter(|code| **code == opcode).count()
}
