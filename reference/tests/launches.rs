//! What cases cannot show: why launches stop, waves that meet, and threads that take different ways through functions and loops.

use recal_hal::{Extent, Format};
use recal_il::ir::{Program, text};
use recal_reference::{Machine, Stopped, Surface};

fn compiled(text: &str) -> Program {
    recal_il::compile(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

fn group(threads: u32) -> Extent {
    Extent::Grid { groups: [1; 3], block: [threads, 1, 1] }
}

/// A machine whose `uav0` has so many words.
fn machine(words: u32) -> Machine {
    let mut machine = Machine::default();
    let memory = machine.memory(vec![0; 4 * words as usize]);
    machine.uavs.insert(0, Surface::row(memory, Format::UnsignedInt32x1, words));
    machine
}

fn words(machine: &Machine) -> Vec<u32> {
    let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    machine.memories[0].chunks_exact(4).map(word).collect()
}

#[test]
fn a_loop_without_an_end_stops() {
    let program = compiled("il_cs_2_0\ndcl_num_thread_per_group 4\nwhileloop\nendloop\nend\n");
    let mut machine = Machine { patience: 1000, ..Machine::default() };
    assert_eq!(machine.launch(&program, group(4)), Err(Stopped::Endless));
}

#[test]
fn what_is_not_bound_or_too_short_is_named() {
    let program = compiled(
        "il_cs_2_0\ndcl_num_thread_per_group 1\ndcl_raw_uav_id(0)\ndcl_literal l0, 0, 0, 0, 0\n\
         uav_raw_store_id(0) mem.x___, l0.x, l0.x\nend\n",
    );
    let unbound = Err(Stopped::Unbound("uav0".into()));
    assert_eq!(Machine::default().launch(&program, group(1)), unbound);
    let mut short = machine(4);
    short.memories[0].pop();
    assert_eq!(short.launch(&program, group(1)), unbound);
    assert_eq!(machine(4).launch(&program, group(1)), Ok(()));
}

#[test]
fn contracts_are_taken_at_their_word() {
    let program = "program pixel\nregisters 1\noutputs 0 1\nconstants 0 1\noutput 0 = %0 %0 %0 %0\n\
        function 0 {\n%0 = Add cb0[0].x, 1.0f\n}\n";
    let program = text::parse(program.as_bytes()).unwrap();
    let launch = |constant: f32, bare: bool| {
        let mut machine = Machine { bare, ..Machine::default() };
        let row: Vec<u8> = [constant; 4].iter().flat_map(|float| float.to_le_bytes()).collect();
        let memories = [row, vec![0; 16]].map(|bytes| machine.memory(bytes));
        let [constants, output] = memories.map(|memory| Surface::row(memory, Format::Float32x4, 1));
        machine.constants.insert(0, constants);
        machine.outputs.insert(0, output);
        machine.launch(&program, Extent::Domain { x: 0, y: 0, width: 1, height: 1 })
    };
    assert_eq!(launch(1.5, false), Ok(()));
    assert_eq!(launch(1e-40, false), Err(Stopped::Unflushed("Add".into())));
    assert_eq!(launch(1e-40, true), Ok(()));
}

/// Two waves: each thread adds what the thread opposite has written.
#[test]
fn waves_meet_at_barriers() {
    let program = compiled(
        "il_cs_2_0\ndcl_num_thread_per_group 128\ndcl_lds_id(0) 512\ndcl_raw_uav_id(0)\n\
         dcl_literal l0, 4, 508, 1, 0\nimul r0.x, vTidInGrpFlat.x, l0.x\niadd r1.x, vTidInGrpFlat.x, l0.z\n\
         lds_store_id(0) r0.x, r1.x\nfence_threads_lds\niadd r2.x, l0.y, r0.x_neg(xyzw)\nlds_load_id(0) r3.x, r2.x\n\
         imul r3.x, r3.x, r1.x\nuav_raw_store_id(0) mem.x___, r0.x, r3.x\nend\n",
    );
    let mut machine = machine(128);
    machine.launch(&program, group(128)).unwrap();
    assert_eq!(words(&machine), (0..128).map(|k| (128 - k) * (k + 1)).collect::<Vec<u32>>());
}

/// Thread k goes k rounds, skips the store in round 1, and returns early from the function if it is odd.
#[test]
fn threads_take_their_own_ways() {
    let program = compiled(
        "il_cs_2_0\ndcl_num_thread_per_group 8\ndcl_raw_uav_id(0)\ndcl_literal l0, 4, 1, 0, 100\n\
         mov r1.x, vAbsTidFlat.x\nimul r0.x, r1.x, l0.x\nmov r2.xy, l0.zz\nwhileloop\nige r3.x, r2.x, r1.x\n\
         break_logicalnz r3.x\niadd r2.x, r2.x, l0.y\nieq r3.x, r2.x, l0.y\ncontinue_logicalnz r3.x\n\
         iadd r2.y, r2.y, r2.x\nendloop\ncall 1\nuav_raw_store_id(0) mem.x___, r0.x, r2.y\nendmain\n\
         func 1\niand r3.x, r1.x, l0.y\nret_logicalnz r3.x\niadd r2.y, r2.y, l0.w\nret\nendfunc\nend\n",
    );
    let mut machine = machine(8);
    machine.launch(&program, group(8)).unwrap();
    let sum = |k: u32| (2..=k).sum::<u32>() + if k % 2 == 0 { 100 } else { 0 };
    assert_eq!(words(&machine), (0..8).map(sum).collect::<Vec<u32>>());
}
