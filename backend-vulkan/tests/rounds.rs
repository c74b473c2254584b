//! Loops of many rounds: right, or the event says that they are not. llvmpipe lets the loops of a thread have 65,535
//! rounds together.

mod needs;

use std::sync::Arc;

use recal_hal::{
    Backend, Bindings, Command, Device, DeviceOptions, Error, Extent, FloatMode, Format, Heap, Memory,
    MemoryRequest, Queue, Surface, Ticket,
};
use recal_vulkan::{Options, Vulkan};

/// Thread t of 64: cb0[0].x + t · cb0[0].y times a loop of cb0[0].z + t · cb0[0].w rounds, or a loop around whose
/// body is left early; the rounds in all.
const NESTED: &str = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_cb cb0[1]\ndcl_raw_uav_id(0)\n\
    dcl_literal l0, 0, 1, 2, 0\nmov r1, l0.xxxx\numad r2.x, vAbsTidFlat.x, cb0[0].y, cb0[0].x\n\
    umad r2.y, vAbsTidFlat.x, cb0[0].w, cb0[0].z\nwhileloop\nbreak_logicalz r2.x\niadd r2.x, r2.x, l0.y_neg(xyzw)\n\
    mov r3.x, r2.y\nwhileloop\nif_logicalz r3.x\nbreak\nendif\niadd r3.x, r3.x, l0.y_neg(xyzw)\n\
    iadd r1.x, r1.x, l0.y\nendloop\nendloop\nishl r4.x, vAbsTidFlat.x, l0.z\n\
    uav_raw_store_id(0) mem.x___, r4.x, r1.x\nend\n";

/// The same for loops in a function, and in a switch.
const CALLED: &str = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_cb cb0[1]\ndcl_raw_uav_id(0)\n\
    dcl_literal l0, 0, 1, 2, 0\nmov r1, l0.xxxx\numad r2.x, vAbsTidFlat.x, cb0[0].y, cb0[0].x\n\
    umad r2.y, vAbsTidFlat.x, cb0[0].w, cb0[0].z\nwhileloop\nbreak_logicalz r2.x\niadd r2.x, r2.x, l0.y_neg(xyzw)\n\
    call 1\nendloop\nishl r4.x, vAbsTidFlat.x, l0.z\nuav_raw_store_id(0) mem.x___, r4.x, r1.x\nendmain\n\
    func 1\nmov r3.x, r2.y\nwhileloop\nand r3.y, r3.x, l0.y\nswitch r3.y\ncase 0\nret_logicalz r3.x\nbreak\n\
    case 1\nbreak\nendswitch\niadd r3.x, r3.x, l0.y_neg(xyzw)\niadd r1.x, r1.x, l0.y\nendloop\nret\nend\n";

const MODES: [FloatMode; 2] = [FloatMode::Native, FloatMode::Faithful];

/// Numbers of rounds: so many times, and more by thread, so many, and more by thread.
const TURNS: [[u32; 4]; 9] = [
    [1, 0, 60_000, 0],
    [1, 0, 70_000, 0],
    [200, 0, 250, 0],
    [300, 0, 300, 0],
    [70_000, 0, 0, 0],
    [1, 0, 40_000, 600],
    [0, 1200, 0, 0],
    [100, 50, 30, 1],
    [1, 0, 5, 0],
];

fn memory(device: &dyn Device, words: &[u32]) -> Arc<dyn Memory> {
    let memory = device.allocate(MemoryRequest { bytes: 4096, heap: Heap::RemoteCached }).unwrap();
    let to = memory.map().unwrap().cast::<u32>();
    // SAFETY: the block has 1024 words and nothing else uses it.
    unsafe { to.copy_from_nonoverlapping(words.as_ptr(), words.len()) };
    memory.unmap();
    memory
}

fn surface(memory: &Arc<dyn Memory>) -> Surface {
    Surface { memory: memory.clone(), width: 1024, height: 1, pitch: 1024, format: Format::UnsignedInt32x1 }
}

/// Launches one after the other, without a wait in between; what each gave.
fn run(device: &dyn Device, text: &str) -> Vec<Result<Vec<u32>, Error>> {
    let kernel = device.load(Arc::new(recal_il::compile(text.as_bytes()).unwrap())).unwrap();
    let queue: Arc<dyn Queue> = device.create_queue().unwrap();
    let launched: Vec<(Ticket, Arc<dyn Memory>)> = TURNS
        .iter()
        .map(|turns| {
            let (constants, result) = (memory(device, turns), memory(device, &[]));
            let bindings = Arc::new(Bindings {
                constants: vec![(0, surface(&constants))],
                uavs: vec![(0, surface(&result))],
                ..Bindings::default()
            });
            let extent = Extent::Grid { groups: [1; 3], block: [64, 1, 1] };
            (queue.submit(Command::Launch { kernel: kernel.clone(), bindings, extent }).unwrap(), result)
        })
        .collect();
    let outcome = |(ticket, result): (Ticket, Arc<dyn Memory>)| {
        queue.wait(ticket)?;
        assert!(queue.completed() >= ticket);
        let from = result.map()?.cast::<u32>();
        // SAFETY: the block has 1024 words and the launch is done.
        Ok((0..64).map(|k| unsafe { from.add(k).read() }).collect())
    };
    launched.into_iter().map(outcome).collect()
}

fn long_loops_are_right_or_tell() {
    let backend = Vulkan::new(Options { software: true, at_once: true, ..Options::default() });
    for (adapter, float_mode) in backend.adapters().iter().flat_map(|a| MODES.map(|mode| (a, mode))) {
        let name = &adapter.attributes().name;
        let device = adapter.open(&DeviceOptions { float_mode, ..DeviceOptions::default() }).unwrap();
        for text in [NESTED, CALLED] {
            let mut told = 0;
            for (turns, found) in TURNS.iter().zip(run(&*device, text)) {
                let [times, more, rounds, longer] = *turns;
                let expected: Vec<u32> =
                    (0..64).map(|t| (times + t * more) * (rounds + t * longer)).collect();
                match found {
                    Ok(found) => assert_eq!(found, expected, "{name}: {turns:?}: silently wrong"),
                    Err(Error::Failed(text)) => {
                        told += 1;
                        assert!(text.contains("loop") && text.contains(name.as_str()), "{text}");
                        // What is far from any limit has nothing to tell.
                        let all = |t: u32| (times + t * more + 1) * (rounds + t * longer + 2);
                        assert!((0..64).any(|t| all(t) > 30_000), "{name}: {turns:?}: {text}");
                    }
                    Err(error) => panic!("{name}: {turns:?}: {error}"),
                }
            }
            println!("{name}, {float_mode:?}: {told} of {} launches told", TURNS.len());
        }
    }
}

recal_needs::tests!(needs::device() => long_loops_are_right_or_tell);
