//! Launches on the plain interpreter: `cb0` and `g[]` as rows of words, UAVs as bytes.
#![allow(dead_code, reason = "each test uses some of it")]

use recal_hal::{Extent, Format};
use recal_il::ir::{Program, Stage};
use recal_reference::{Machine, Surface};

/// A machine whose memories 0 and 1 are `cb0` and `g[]`.
pub fn machine(constants: &[[u32; 4]], global: &[[u32; 4]]) -> Machine {
    let mut machine = Machine::default();
    let rows = [constants, global].map(|rows| {
        let bytes = rows.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
        Surface::row(machine.memory(bytes), Format::UnsignedInt32x4, rows.len() as u32)
    });
    machine.constants.insert(0, rows[0]);
    machine.global = Some(rows[1]);
    machine
}

/// Binds bytes as a UAV, as many words as they are.
pub fn uav(machine: &mut Machine, number: u32, bytes: Vec<u8>) {
    let words = bytes.len() as u32 / 4;
    let memory = machine.memory(bytes);
    machine.uavs.insert(number, Surface::row(memory, Format::UnsignedInt32x1, words));
}

/// The bytes of a UAV.
pub fn uav_bytes(machine: &Machine, number: u32) -> Vec<u8> {
    machine.memories[machine.uavs[&number].memory].clone()
}

/// The words of a memory by rows.
pub fn rows(machine: &Machine, memory: usize) -> Vec<[u32; 4]> {
    let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let row = |bytes: &[u8]| [0, 4, 8, 12].map(|k| word(&bytes[k..k + 4]));
    machine.memories[memory].chunks_exact(16).map(row).collect()
}

/// The rows of `g[]`.
pub fn global(machine: &Machine) -> Vec<[u32; 4]> {
    rows(machine, 1)
}

/// Runs so many threads: pixels of a row, or one group. The words of each output of each thread.
pub fn run(machine: &mut Machine, program: &Program, threads: u32) -> Vec<Vec<[u32; 4]>> {
    for output in &program.outputs {
        let memory = machine.memory(vec![0; 16 * threads as usize]);
        machine.outputs.insert(output.index, Surface::row(memory, Format::UnsignedInt32x4, threads));
    }
    let extent = match program.stage {
        Stage::Pixel => Extent::Domain { x: 0, y: 0, width: threads, height: 1 },
        Stage::Compute => Extent::Grid { groups: [1; 3], block: [threads, 1, 1] },
    };
    machine.launch(program, extent).unwrap_or_else(|stopped| panic!("{stopped}\n{program}"));
    let outputs = program.outputs.iter().map(|output| machine.outputs[&output.index].memory);
    outputs.map(|memory| rows(machine, memory)).collect()
}
