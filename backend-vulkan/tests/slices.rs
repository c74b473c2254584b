//! Launches that are submitted in slices: every group runs once, what comes behind sees all of them, and grids without end are
//! neither recorded as a whole nor outlast the time limit.

mod needs;

use std::sync::{Arc, mpsc};
use std::time::Duration;

use recal_hal::{
    Backend, Bindings, Command, Device, DeviceOptions, Error, Extent, Format, Heap, Memory, MemoryRequest,
    Queue, Surface, Ticket,
};
use recal_vulkan::{Options, Vulkan};

/// Adds 1 to the word of each group.
const COUNT: &str = "il_cs_2_0\ndcl_num_thread_per_group 1\ndcl_raw_uav_id(0)\ndcl_literal l0, 4, 1, 0, 0\n\
                     imul r0.x, vThreadGrpIdFlat.x, l0.x\nuav_add_id(0) r0.x, l0.y\nend\n";

/// Word t of uav1 is twice that of uav0.
const TWICE: &str = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_raw_uav_id(1)\n\
                     dcl_literal l0, 4, 0, 0, 0\nimul r0.x, vAbsTidFlat.x, l0.x\nuav_raw_load_id(0) r1.x, r0.x\n\
                     iadd r1.x, r1.x, r1.x\nuav_raw_store_id(1) mem.x___, r0.x, r1.x\nend\n";

const WORDS: u32 = 4096;

fn memory(device: &dyn Device) -> Arc<dyn Memory> {
    device.allocate(MemoryRequest { bytes: 4 * u64::from(WORDS), heap: Heap::RemoteCached }).unwrap()
}

fn surface(memory: &Arc<dyn Memory>) -> Surface {
    Surface { memory: memory.clone(), width: WORDS, height: 1, pitch: WORDS, format: Format::UnsignedInt32x1 }
}

fn words(memory: &dyn Memory) -> Vec<u32> {
    let from = memory.map().unwrap().cast::<u32>();
    // SAFETY: the block has so many words and all work is done.
    let words = (0..WORDS as usize).map(|k| unsafe { from.add(k).read() }).collect();
    memory.unmap();
    words
}

fn launch(device: &dyn Device, text: &str, uavs: &[&Arc<dyn Memory>], groups: [u32; 3], x: u32) -> Command {
    let kernel = device.load(Arc::new(recal_il::compile(text.as_bytes()).unwrap())).unwrap();
    let uavs = (0..).zip(uavs).map(|(k, memory)| (k, surface(memory))).collect();
    let bindings = Arc::new(Bindings { uavs, ..Bindings::default() });
    Command::Launch { kernel, bindings, extent: Extent::Grid { groups, block: [x, 1, 1] } }
}

fn slices_are_one_launch() {
    for (slice, copies_apart) in [(1, false), (7, true), (100, false), (4095, true)] {
        let options = Options { software: true, slice: Some(slice), copies_apart, ..Options::default() };
        for adapter in Vulkan::new(options).adapters() {
            let name = &adapter.attributes().name;
            let device = adapter.open(&DeviceOptions::default()).unwrap();
            let queue = device.create_queue().unwrap();
            let (counts, copy, twice) = (memory(&*device), memory(&*device), memory(&*device));
            // The copy and the kernels depend on each other, so that none may overtake.
            let commands = [
                launch(&*device, COUNT, &[&counts], [16, 16, 4], 1),
                Command::Copy { src: surface(&counts), dst: surface(&copy) },
                launch(&*device, COUNT, &[&counts], [1024, 1, 1], 1),
                launch(&*device, TWICE, &[&counts, &twice], [16, 1, 1], 64),
                launch(&*device, COUNT, &[&counts], [8, 8, 8], 1),
            ];
            let tickets = commands.map(|command| queue.submit(command).unwrap());
            assert!(tickets.windows(2).all(|pair| pair[0] < pair[1]), "{name}: {tickets:?}");
            // Some by looking, the rest by waiting.
            queue.flush().unwrap();
            while queue.completed() < tickets[1] {
                std::thread::yield_now();
            }
            queue.wait(tickets[4]).unwrap();
            assert!(queue.completed() >= tickets[4]);
            assert!(tickets.iter().all(|ticket| queue.error(*ticket).is_none()));
            let expected = |f: fn(usize) -> u32| (0..WORDS as usize).map(f).collect::<Vec<_>>();
            let once = expected(|k| u32::from(k < 1024));
            assert_eq!(words(&*copy), once, "{name}, slices of {slice}");
            assert_eq!(words(&*twice), expected(|k| if k < 1024 { 4 } else { 0 }), "{name}: {slice}");
            let all = expected(|k| {
                if k < 512 {
                    3
                } else if k < 1024 {
                    2
                } else {
                    0
                }
            });
            assert_eq!(words(&*counts), all, "{name}: {slice}");
        }
    }
}

/// A command behind a launch in slices that turns out to be wrong fails alone.
fn what_is_wrong_behind_slices_fails_alone() {
    let options = Options { software: true, slice: Some(10), ..Options::default() };
    for adapter in Vulkan::new(options).adapters() {
        let name = &adapter.attributes().name;
        let device = adapter.open(&DeviceOptions::default()).unwrap();
        let queue = device.create_queue().unwrap();
        let (counts, copy) = (memory(&*device), memory(&*device));
        let long = queue.submit(launch(&*device, COUNT, &[&counts], [1024, 1, 1], 1)).unwrap();
        let wrong = Surface { format: Format::UnsignedInt32x4, ..surface(&counts) };
        let wrong = queue.submit(Command::Copy { src: wrong, dst: surface(&copy) }).unwrap();
        let right = queue.submit(Command::Copy { src: surface(&counts), dst: surface(&copy) }).unwrap();
        assert!(matches!(queue.wait(wrong), Err(Error::Failed(_))), "{name}");
        queue.wait(right).unwrap();
        assert_eq!(queue.error(long), None);
        assert!(words(&*copy)[..1024].iter().all(|word| *word == 1), "{name}");
    }
}

/// Nothing ever ends here, so it is the last that the device does.
fn grids_without_end_time_out() {
    let backend = Vulkan::new(Options { software: true, ..Options::default() });
    let adapter = backend.adapters().first().cloned().expect("the test needs one");
    let options = DeviceOptions { watchdog: Some(Duration::from_millis(300)), ..Default::default() };
    let device = adapter.open(&options).unwrap();
    let queue = device.create_queue().unwrap();
    let command = launch(&*device, COUNT, &[&memory(&*device)], [u32::MAX, u32::MAX, 7], 1);
    let (told, hears) = mpsc::channel::<(Result<Ticket, Error>, Result<(), Error>)>();
    std::thread::spawn(move || {
        let ticket = queue.submit(command);
        let outcome = ticket.clone().and_then(|ticket| queue.wait(ticket));
        let _ = told.send((ticket, outcome));
        std::mem::forget(queue as Arc<dyn Queue>);
    });
    // Recording all of it would take years.
    let (ticket, outcome) = hears.recv_timeout(Duration::from_secs(60)).expect("it is being recorded still");
    assert!(ticket.is_ok());
    assert!(matches!(outcome, Err(Error::Timeout(_) | Error::DeviceLost(_))), "{outcome:?}");
}

recal_needs::tests!(needs::device() => slices_are_one_launch what_is_wrong_behind_slices_fails_alone grids_without_end_time_out);
