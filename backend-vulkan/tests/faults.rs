//! Every call of the driver that may fail does so once, in every way that the specification allows: an error that says what
//! happened, or the right results all the same; nothing is left behind; a device that is lost stays lost, and others go on.
//!
//! `RECAL_FAULTS` says how many faults at most; `make faults` injects all there are.

mod faulty;
mod needs;

use std::sync::Arc;

use faulty::EntryPoint;
use recal_hal::{
    Backend, Bindings, Command, Device, DeviceOptions, Error, Extent, Format, Heap, Memory, MemoryRequest,
    Program, Queue, Result, Surface,
};
use recal_vulkan::{Options, Vulkan};

/// `uav0[thread] += cb0[0].x`, by way of GDS, so that a launch needs scratch memory, too.
const ADD: &str = "il_cs_2_0\n\
    dcl_num_thread_per_group 64\n\
    dcl_raw_uav_id(0)\n\
    dcl_gds_id(0) 256\n\
    dcl_cb cb0[1]\n\
    dcl_literal l0, 2, 0, 0, 0\n\
    ishl r0.x, vAbsTidFlat.x, l0.x\n\
    uav_raw_load_id(0) r1.x, r0.x\n\
    iadd r1.x, r1.x, cb0[0].x\n\
    gds_store_id(0) r0.x, r1.x\n\
    gds_load_id(0) r2.x, r0.x\n\
    uav_raw_store_id(0) mem.x___, r0.x, r2.x\n\
    end\n";

const WORDS: usize = 1024;

/// Application memory, for whole pages.
#[repr(C, align(4096))]
struct Pages([u32; WORDS]);

fn surface(memory: &Arc<dyn Memory>, format: Format) -> Surface {
    let width = (WORDS * 4) as u32 / format.bytes();
    Surface { memory: memory.clone(), width, height: 1, pitch: width, format }
}

fn fill(memory: &dyn Memory, word: u32) -> Result<()> {
    let at = memory.map()?.cast::<u32>();
    // SAFETY: all memories here have that many words, and no command uses this one now.
    (0..WORDS).for_each(|k| unsafe { at.add(k).write(word) });
    memory.unmap();
    Ok(())
}

/// A word of the memory, where all are the same.
fn word(memory: &dyn Memory) -> Result<u32> {
    let at = memory.map()?.cast::<u32>();
    // SAFETY: as in `fill`.
    let (first, last) = unsafe { (at.read(), at.add(63).read()) };
    memory.unmap();
    assert_eq!(first, last);
    Ok(first)
}

/// What programs do with a device. The results are checked.
fn work(device: &dyn Device, program: &Arc<Program>) -> Result<()> {
    let bytes = (WORDS * 4) as u64;
    let allocate = |heap| device.allocate(MemoryRequest { bytes, heap });
    let kernel = device.load(program.clone())?;
    let (local, constants, copy) =
        (allocate(Heap::Local)?, allocate(Heap::Remote)?, allocate(Heap::RemoteCached)?);
    let mut pages = Box::new(Pages([0; WORDS]));
    // SAFETY: the pages outlive the memory, whose last user is the queue; both are dropped before.
    let own = unsafe { device.import(pages.0.as_mut_ptr().cast(), bytes) }?;
    fill(&*local, 5)?;
    fill(&*constants, 3)?;
    let queue = device.create_queue()?;
    let launch = |memory: &Arc<dyn Memory>| Command::Launch {
        kernel: kernel.clone(),
        bindings: Arc::new(Bindings {
            constants: vec![(0, surface(&constants, Format::UnsignedInt32x4))],
            uavs: vec![(0, surface(memory, Format::UnsignedInt32x1))],
            ..Bindings::default()
        }),
        extent: Extent::Grid { groups: [1; 3], block: [64, 1, 1] },
    };
    let outcome = (|| {
        // One after the other, so that each is a submission; then several.
        let first = queue.submit(launch(&local))?;
        wait(&*queue, first)?;
        queue.submit(launch(&local))?;
        queue.submit(launch(&own))?;
        // One that waits for kernels, and one that waits for it.
        queue.submit(Command::Copy {
            src: surface(&local, Format::UnsignedInt32x1),
            dst: surface(&copy, Format::UnsignedInt32x1),
        })?;
        queue.submit(launch(&copy))?;
        let last = queue.submit(Command::Copy {
            src: surface(&local, Format::UnsignedInt32x1),
            dst: surface(&copy, Format::UnsignedInt32x1),
        })?;
        wait(&*queue, last)?;
        assert_eq!(queue.error(first), None, "it was done before");
        assert_eq!((word(&*local)?, word(&*copy)?), (11, 11));
        device.set_counter(3, 7)?;
        assert_eq!(device.counter(3)?, 7);
        Ok(())
    })();
    drop((queue, own));
    outcome?;
    assert_eq!(pages.0[63], 3);
    Ok(())
}

/// As the API layer waits: by looking, and then at what became of the ticket.
fn wait(queue: &dyn Queue, ticket: u64) -> Result<()> {
    queue.flush()?;
    queue.wait(ticket)?;
    assert!(queue.completed() >= ticket, "a wait that is over");
    queue.error(ticket).map_or(Ok(()), Err)
}

/// From the loader to the results, and again if the device is still there after an error.
fn scenario(next: &ash::Entry, options: &Options, program: &Arc<Program>) -> Result<()> {
    let backend = Vulkan::with_entry(options.clone(), faulty::loader(next));
    let adapters = backend.adapters();
    let adapter = adapters.first().ok_or_else(|| Error::Failed("no device is found".into()))?;
    let device = adapter.open(&DeviceOptions::default())?;
    let outcome = work(&*device, program);
    match &outcome {
        Ok(()) => {}
        Err(Error::DeviceLost(_)) => {
            let lost = |call: &str, what: Option<Error>| {
                assert!(matches!(what, Some(Error::DeviceLost(_))), "{call} after {outcome:?}: {what:?}");
            };
            lost("allocate", device.allocate(MemoryRequest { bytes: 4096, heap: Heap::Local }).err());
            lost("load", device.load(program.clone()).err());
            lost("create_queue", device.create_queue().err());
            lost("counter", device.counter(0).err());
            lost("work", work(&*device, program).err());
        }
        // Memory was short, and is not any more.
        Err(_) => match work(&*device, program) {
            Ok(()) => {}
            Err(again) => panic!("the device was not lost, but {outcome:?} led to {again}"),
        },
    }
    outcome
}

/// Injects one fault; `None` if the scenario made fewer calls of the entry point.
fn inject(
    entry: &EntryPoint,
    call: u64,
    code: ash::vk::Result,
    run: impl FnOnce() -> Result<()>,
) -> Option<Result<()>> {
    faulty::arm(entry, call, code);
    let outcome = run();
    let fired = faulty::disarm();
    assert_eq!(faulty::live(), 0, "{:?} {call} {code}: {outcome:?}: objects are left", entry.name);
    if !fired {
        assert_eq!(outcome, Ok(()), "nothing failed");
        return None;
    }
    if let Err(error) = &outcome {
        let text = error.to_string();
        assert!(text.len() > 15 && !text.contains('{'), "{:?} {call} {code}: {text}", entry.name);
    }
    Some(outcome)
}

fn every_call_may_fail() {
    let _ = env_logger::builder().filter_level(log::LevelFilter::Off).try_init();
    // SAFETY: what the system's search path finds is a Vulkan loader.
    let next = unsafe { ash::Entry::load() }.expect("the test needs a device");
    let folder = std::env::temp_dir().join(format!("recal-faults-{}", std::process::id()));
    let options = Options { software: true, cache: Some(folder.clone()), ..Options::default() };
    // One that has nothing to do with it and must go on; it also keeps the driver loaded.
    let backend = Vulkan::new(Options { software: true, ..Options::default() });
    let adapter = backend.adapters().first().cloned().expect("the test needs one");
    let other = adapter.open(&DeviceOptions::default()).expect("a listed device opens");
    let program = Arc::new(recal_il::compile(ADD.as_bytes()).expect("it compiles"));
    let run = |apart| scenario(&next, &Options { copies_apart: apart, ..options.clone() }, &program);
    // Fills the pipeline cache on disk, so that later runs read it.
    assert_eq!(run(false), Ok(()));

    // First calls first, each in another way, so that few faults go a long way.
    let mut points = Vec::new();
    for apart in [false, true] {
        faulty::restart();
        assert_eq!(run(apart), Ok(()));
        assert_eq!(faulty::live(), 0);
        for (k, entry) in faulty::ENTRY_POINTS.iter().enumerate() {
            let codes = entry.codes.len();
            for call in 1..=faulty::calls(entry) {
                let rank = |way: usize| (call as usize - 1) * codes + (way + k + usize::from(apart)) % codes;
                let ways = entry.codes.iter().enumerate();
                points.extend(ways.map(|(way, code)| (rank(way), k, call, *code, apart)));
            }
        }
    }
    points.sort_by_key(|(rank, k, .., apart)| (*rank, *k, *apart));
    let most = std::env::var("RECAL_FAULTS").ok();
    points.truncate(most.map_or(60, |n| n.parse().expect("RECAL_FAULTS is a number")));

    let (mut errors, mut borne, mut missed) = (0, 0, 0);
    let start = std::time::Instant::now();
    for (_, k, call, code, apart) in points {
        match inject(&faulty::ENTRY_POINTS[k], call, code, || run(apart)) {
            // How often a wait looks depends on the time that the work takes.
            None => missed += 1,
            Some(Err(_)) => errors += 1,
            Some(Ok(())) => borne += 1,
        }
        assert_eq!(work(&*other, &program), Ok(()), "the other device");
    }
    println!(
        "{} faults: {errors} gave an error, {borne} did no harm; {missed} calls were not made; {:?}",
        errors + borne,
        start.elapsed()
    );
    assert!(errors > 20);
    let _ = std::fs::remove_dir_all(folder);
}

recal_needs::tests!(needs::device() => every_call_may_fail);
