//! Queues: order, copies, errors, many small launches from several threads, closing with work in flight.

mod harness;

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use harness::{Machine, domain, grid, read, word, write};
use recal_hal::{Backend, Bindings, Command, DeviceOptions, Error, Format, Heap, MemoryRequest, Surface};

const ENDLESS: &str = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 0, 1, 0, 0\n\
    whileloop\niadd r0.x, r0.x, l0.y\nendloop\nuav_raw_store_id(0) mem0.x___, l0.x, r0.x\nend\n";

const ADD: &str = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 0, 1, 0, 0\n\
    uav_add_id(0) l0.x, l0.y\nend\n";

fn one_uav(machine: &Machine) -> (Surface, Bindings) {
    let out = machine.surface(Format::UnsignedInt32x1, 64, 1);
    let bindings = Bindings { uavs: vec![(0, out.clone())], ..Bindings::default() };
    (out, bindings)
}

/// Tells that it has begun, by the first word of its UAV, and ends when the second is set.
const GATE: &str = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 0, 1, 4, 0\n\
    uav_add_id(0) l0.x, l0.y\nwhileloop\nuav_read_add_id(0) r0.x, l0.z, l0.x\nbreak_logicalnz r0.x\nendloop\nend\n";

#[test]
fn many_small_launches_from_several_threads() {
    let machine = Machine::new();
    let kernel = machine.kernel(ADD);
    let (out, bindings) = one_uav(&machine);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let queue = machine.device.create_queue().unwrap();
            let (kernel, bindings) = (kernel.clone(), Arc::new(bindings.clone()));
            scope.spawn(move || {
                let mut last = 0;
                for i in 0..500 {
                    let extent = grid(1 + i % 3, 64);
                    last = queue
                        .submit(Command::Launch {
                            kernel: kernel.clone(),
                            bindings: bindings.clone(),
                            extent,
                        })
                        .unwrap();
                    match i % 4 {
                        0 => queue.wait(last).unwrap(),
                        1 => queue.flush().unwrap(),
                        _ => {}
                    }
                    assert!(queue.completed() <= last);
                }
                queue.wait(last).unwrap();
                assert_eq!(queue.completed(), last);
                assert!(queue.busy() > Duration::ZERO);
            });
        }
    });
    // 500 launches of 1, 2, 3, 1, … groups.
    let groups: u32 = (0..500).map(|i| 1 + i % 3).sum();
    assert_eq!(read(&out, 1), [4 * 64 * groups]);
}

/// Workers find sixteen launches at a time: those beyond are done by who waits for them, and places are free again afterwards.
#[test]
fn more_launches_at_once_than_workers_find() {
    const LAUNCHES: usize = 18;
    let machine = Machine::new();
    let kernel = machine.kernel(GATE);
    for _ in 0..2 {
        let outs: [(Surface, Bindings); LAUNCHES] = std::array::from_fn(|_| one_uav(&machine));
        std::thread::scope(|scope| {
            for (_, bindings) in &outs {
                let (queue, kernel) = (machine.device.create_queue().unwrap(), kernel.clone());
                let bindings = Arc::new(bindings.clone());
                scope.spawn(move || {
                    let launch = Command::Launch { kernel, bindings, extent: grid(4, 64) };
                    let ticket = queue.submit(launch).unwrap();
                    queue.wait(ticket).unwrap();
                });
            }
            let begun = || outs.iter().filter(|(out, _)| word(out, 0).load(SeqCst) > 0).count();
            let start = Instant::now();
            while begun() < LAUNCHES && start.elapsed() < Duration::from_secs(60) {
                std::thread::sleep(Duration::from_millis(1));
            }
            let all = begun();
            outs.iter().for_each(|(out, _)| word(out, 1).store(1, SeqCst));
            assert_eq!(all, LAUNCHES);
        });
    }
}

/// Each thread takes a number: one after another in a launch that one thread does, whoever else is idle.
#[test]
fn a_launch_has_no_more_threads_than_it_may() {
    const NUMBERS: &str = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_raw_uav_id(1)\n\
        dcl_literal l0, 0, 1, 2, 20\nwhileloop\nige r0.x, r0.y, l0.w\nbreak_logicalnz r0.x\niadd r0.y, r0.y, l0.y\nendloop\n\
        uav_read_add_id(0) r1.x, l0.x, l0.y\nishl r2.x, vAbsTidFlat.x, l0.z\n\
        uav_raw_store_id(1) mem0.x___, r2.x, r1.x\nend\n";
    let machine = Machine::new();
    let (next, mut bindings) = one_uav(&machine);
    let groups = 8000;
    let numbers = machine.surface(Format::UnsignedInt32x1, 64, groups);
    bindings.uavs.push((1, numbers.clone()));
    machine.queue.limit_threads(1);
    let ticket = machine.submit(&machine.kernel(NUMBERS), bindings, grid(groups, 64));
    machine.queue.wait(ticket).unwrap();
    let all = 64 * groups;
    assert_eq!(read(&next, 1), [all]);
    assert_eq!(read(&numbers, all as usize), (0..all).collect::<Vec<u32>>());
}

#[test]
fn a_flushed_queue_runs_without_a_waiter() {
    let machine = Machine::new();
    let (out, bindings) = one_uav(&machine);
    let ticket = machine.submit(&machine.kernel(ADD), bindings, grid(3, 64));
    assert_eq!(machine.queue.completed(), 0);
    machine.queue.flush().unwrap();
    let start = Instant::now();
    while machine.queue.completed() < ticket {
        assert!(start.elapsed() < Duration::from_secs(60));
        std::thread::yield_now();
    }
    assert_eq!(read(&out, 1), [192]);
}

/// Groups that share registers are done in order by whoever runs the queue, a worker here, since nobody knows how long the loop before takes.
#[test]
fn a_worker_runs_groups_that_share_registers() {
    const LOOP: &str = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 0, 1, 9, 0\n\
        whileloop\nige r0.y, r0.x, l0.z\nbreak_logicalnz r0.y\niadd r0.x, r0.x, l0.y\nendloop\nend\n";
    const COUNT: &str = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_shared_temp sr1\ninit_shared_registers\n\
        dcl_raw_uav_id(0)\ndcl_literal l0, 0, 1, 2, 0\niadd sr0.x, sr0.x, l0.y\nfence_sr\nmov r0, sr0\n\
        ishl r1.x, vTidInGrpFlat.x, l0.z\nuav_raw_store_id(0) mem0.x, r1.x, r0.x\nend\n";
    let machine = Machine::new();
    let (out, bindings) = one_uav(&machine);
    machine.submit(&machine.kernel(LOOP), bindings.clone(), grid(1, 64));
    let ticket = machine.submit(&machine.kernel(COUNT), bindings, grid(3, 64));
    machine.queue.flush().unwrap();
    let start = Instant::now();
    while machine.queue.completed() < ticket {
        assert!(start.elapsed() < Duration::from_secs(60));
        std::thread::yield_now();
    }
    assert_eq!(read(&out, 64), [3; 64]);
}

#[test]
fn what_was_submitted_runs_when_somebody_waits_for_less() {
    let machine = Machine::new();
    let (out, bindings) = one_uav(&machine);
    let kernel = machine.kernel(ADD);
    let first = machine.submit(&kernel, bindings.clone(), grid(1, 64));
    let second = machine.submit(&kernel, bindings, grid(2, 64));
    machine.queue.wait(first).unwrap();
    // Nobody flushes, and nobody waits for the second.
    let start = Instant::now();
    while machine.queue.completed() < second {
        assert!(start.elapsed() < Duration::from_secs(60));
        std::thread::yield_now();
    }
    assert_eq!(read(&out, 1), [192]);
}

#[test]
fn copies_keep_order_and_pitch() {
    let machine = Machine::new();
    let text = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n\
        mov o0, vWinCoord0.xyxy\nend\n";
    let drawn = machine.pitched(Format::Float32x2, 10, 7, 64);
    let copied = machine.pitched(Format::Float32x2, 12, 9, 13);
    let bindings = Bindings { outputs: vec![(0, drawn.clone())], ..Bindings::default() };
    machine.submit(&machine.kernel(text), bindings, domain(10, 7));
    let ticket = machine.queue.submit(Command::Copy { src: drawn, dst: copied.clone() }).unwrap();
    machine.queue.wait(ticket).unwrap();
    let got = read(&copied, 2 * 13 * 9);
    for row in 0..9 {
        for column in 0..13 {
            let at = 2 * (row * 13 + column);
            let inside = row < 7 && column < 10;
            let expected = if inside { [column as f32 + 0.5, row as f32 + 0.5] } else { [0.0; 2] };
            assert_eq!(got[at..at + 2], expected.map(f32::to_bits), "column {column} row {row}");
        }
    }
}

/// Rows move apart and together within one memory, as if all of the source were read before anything is written.
#[test]
fn copies_within_one_memory_change_the_pitch() {
    let machine = Machine::new();
    for (from, to) in [(64, 128), (128, 64), (16, 64), (64, 16)] {
        let whole = machine.surface(Format::UnsignedInt32x1, 2048, 1);
        write(&whole, &(1..=2048).collect::<Vec<u32>>());
        let part = |pitch| Surface { width: 16, height: 8, pitch, ..whole.clone() };
        let ticket = machine.queue.submit(Command::Copy { src: part(from), dst: part(to) }).unwrap();
        machine.queue.wait(ticket).unwrap();
        assert_eq!(machine.queue.error(ticket), None);
        for (k, word) in read(&whole, 2048).into_iter().enumerate() {
            let (x, y) = (k % to as usize, k / to as usize);
            let moved = if x < 16 && y < 8 { y * from as usize + x } else { k };
            assert_eq!(word as usize, moved + 1, "from {from} to {to}, column {x}, row {y}");
        }
    }
}

#[test]
fn a_copy_that_does_not_fit_fails_and_the_queue_goes_on() {
    let machine = Machine::new();
    let (small, large) = (machine.surface(Format::Float32x1, 4, 1), machine.surface(Format::Float32x1, 8, 1));
    let bad = machine.queue.submit(Command::Copy { src: large.clone(), dst: small.clone() }).unwrap();
    write(&small, &[1, 2, 3, 4]);
    let good = machine.queue.submit(Command::Copy { src: small, dst: large.clone() }).unwrap();
    machine.queue.wait(good).unwrap();
    assert!(matches!(machine.queue.error(bad), Some(Error::Failed(_))));
    assert_eq!(machine.queue.error(good), None);
    assert_eq!(read(&large, 5), [1, 2, 3, 4, 0]);
}

#[test]
fn the_watchdog_ends_an_endless_kernel_and_only_that() {
    let options = DeviceOptions { watchdog: Some(Duration::from_millis(50)), ..DeviceOptions::default() };
    let machine = Machine::with(&options);
    let (out, bindings) = one_uav(&machine);
    let endless = machine.submit(&machine.kernel(ENDLESS), bindings.clone(), grid(100, 64));
    let next = machine.submit(&machine.kernel(ADD), bindings, grid(1, 64));
    machine.queue.wait(next).unwrap();
    assert!(matches!(machine.queue.error(endless), Some(Error::Timeout(_))));
    assert_eq!(machine.queue.error(next), None);
    assert_eq!(read(&out, 1), [64]);
}

#[test]
fn a_launch_begins_with_all_lanes_after_one_that_was_stopped() {
    // Half of the threads leave the loop, and the others never do.
    let apart = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_literal l0, 0, 1, 32, 0\n\
        ult r1.x, vTidInGrpFlat0.x, l0.z\nwhileloop\nbreak_logicalnz r1.x\niadd r0.x, r0.x, l0.y\nendloop\nend\n";
    let branch = ADD.replace(
        "uav_add_id(0) l0.x, l0.y",
        "if_logicalz vThreadGrpId0.y\nmov r1.x, l0.y\nendif\nuav_add_id(0) l0.x, r1.x",
    );
    let options = DeviceOptions { watchdog: Some(Duration::from_millis(30)), ..DeviceOptions::default() };
    for machine in [Machine::with(&options), Machine::interpreting(&options)] {
        let (out, bindings) = one_uav(&machine);
        let stopped = machine.submit(&machine.kernel(apart), Bindings::default(), grid(64, 64));
        let next = machine.submit(&machine.kernel(&branch), bindings, grid(64, 64));
        machine.queue.wait(next).unwrap();
        assert!(matches!(machine.queue.error(stopped), Some(Error::Timeout(_))));
        assert_eq!(read(&out, 1), [64 * 64]);
    }
}

/// Of threads that wait for several tickets each goes on when its own is done, and none before.
#[test]
fn who_waits_goes_on_when_its_own_ticket_is_done() {
    let long = Duration::from_secs(60);
    let machine = Machine::new();
    let kernel = machine.kernel(GATE);
    let gates: Vec<Surface> = (0..3)
        .map(|_| {
            let (gate, bindings) = one_uav(&machine);
            machine.submit(&kernel, bindings, grid(1, 64));
            gate
        })
        .collect();
    std::thread::scope(|scope| {
        let (tell, told) = channel();
        let wait = |ticket| {
            let (queue, tell) = (machine.queue.clone(), tell.clone());
            scope.spawn(move || {
                queue.wait(ticket).unwrap();
                tell.send(ticket).unwrap();
            });
        };
        // The first of them runs all, and the others find it at work.
        wait(3);
        let start = Instant::now();
        while word(&gates[0], 0).load(SeqCst) == 0 && start.elapsed() < long {
            std::thread::yield_now();
        }
        [1, 2, 2].into_iter().for_each(wait);
        // They look for a while before they sleep; those that are late need not be woken.
        std::thread::sleep(Duration::from_millis(20));
        let mut seen = Vec::new();
        for (gate, waiting) in gates.iter().zip([1, 2, 1]) {
            word(gate, 1).store(1, SeqCst);
            seen.push((0..waiting).map(|_| told.recv_timeout(long).ok()).collect::<Vec<_>>());
        }
        assert_eq!(seen, [vec![Some(1)], vec![Some(2); 2], vec![Some(3)]]);
    });
}

#[test]
fn dropping_a_queue_stops_what_it_runs() {
    let machine = Machine::new();
    let (_, bindings) = one_uav(&machine);
    let kernel = machine.kernel(ENDLESS);
    for pause in [0, 5] {
        let queue = machine.device.create_queue().unwrap();
        let launch = Command::Launch {
            kernel: kernel.clone(),
            bindings: Arc::new(bindings.clone()),
            extent: grid(10, 64),
        };
        queue.submit(launch.clone()).unwrap();
        queue.submit(launch).unwrap();
        queue.flush().unwrap();
        std::thread::sleep(Duration::from_millis(pause));
        drop(queue);
    }
    // The workers are free again, and go with the device.
    let ticket = machine.submit(&machine.kernel(ADD), bindings, grid(1, 64));
    machine.queue.flush().unwrap();
    machine.queue.wait(ticket).unwrap();
    drop(machine);
}

#[test]
fn a_missing_binding_is_an_error_not_a_panic() {
    let machine = Machine::new();
    let error = machine.try_run(ADD, Bindings::default(), grid(1, 64)).unwrap_err();
    assert_eq!(error, Error::Failed("uav0 is not bound".into()));
}

#[test]
fn memory_is_refused_not_overcommitted() {
    let adapter = recal_cpu::CpuBackend::new().adapters()[0].clone();
    let device = adapter.open(&DeviceOptions::default()).unwrap();
    let request = MemoryRequest { bytes: 1 << 50, heap: Heap::Local };
    assert!(matches!(device.allocate(request), Err(Error::OutOfMemory(_))));
    assert!(device.allocate(MemoryRequest { bytes: 4096, heap: Heap::RemoteCached }).is_ok());
    let attributes = adapter.attributes();
    assert_eq!((attributes.target, attributes.wavefront_size), (8, 64));
    assert!(attributes.simds > 0 && attributes.engine_clock > 0 && attributes.local_ram > 0);
}
