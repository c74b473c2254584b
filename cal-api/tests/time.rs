//! Time: limits end every launch, contexts share the CPU's workers, waiting and asking take no longer than the work.

use std::time::{Duration, Instant};

use recal::{Config, Context, Device, Event, Format, Grid, Module, Place, Resource, Runtime};

/// `uav0[thread] = thread`
const NUMBER: &str = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 2, 0, 0, 0\n\
    ishl r0.x, vAbsTidFlat.x, l0.x\nuav_raw_store_id(0) mem0.x___, r0.x, vAbsTidFlat.x\nend\n";
/// The same after a loop of eight rounds: nobody knows beforehand how long it takes, so a worker does it.
const COUNT: &str = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 2, 8, 1, 0\n\
    whileloop\niadd r1.x, r1.x, l0.z\nige r2.x, r1.x, l0.y\nbreak_logicalnz r2.x\nendloop\n\
    ishl r0.x, vAbsTidFlat.x, l0.x\nuav_raw_store_id(0) mem0.x___, r0.x, vAbsTidFlat.x\nend\n";
/// `uav0[0] = 7`, and nothing else.
const SEVEN: &str = "il_cs_2_0\ndcl_num_thread_per_group 1\ndcl_raw_uav_id(0)\ndcl_literal l0, 0, 7, 0, 0\n\
    uav_raw_store_id(0) mem0.x___, l0.x, l0.y\nend\n";
/// Never ends.
const ENDLESS: &str = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 0, 1, 0, 0\n\
    whileloop\niadd r0.x, r0.x, l0.y\nendloop\nuav_raw_store_id(0) mem0.x___, l0.x, r0.x\nend\n";

/// Longer than anything here takes that does not hang, on a machine with twenty times as much to do as it has cores.
const PATIENCE: Duration = Duration::from_secs(20);

fn cpu(timeout: Duration) -> Device {
    let config = Config { backends: vec!["cpu".into()], timeout: Some(timeout), ..Config::default() };
    Runtime::with_config(config).and_then(|runtime| runtime.open(0)).expect("the CPU is always there")
}

/// A context with a kernel and its `uav0` of 256 words.
struct Work {
    ctx: Context,
    module: Module,
    out: Resource,
}

impl Work {
    fn new(device: &Device, text: &str) -> Work {
        let ctx = device.create_context().expect("a context");
        let module = ctx.load(&recal::compile(text, 8).expect("it compiles").into()).expect("it loads");
        let out = device.allocate_1d(256, Format::UnsignedInt32x1, Place::Remote).expect("memory");
        module.bind("uav0", &out).expect("it binds");
        Work { ctx, module, out }
    }

    fn launch(&self, block: u32, groups: [u32; 3]) -> Event {
        let event =
            self.ctx.run_grid(&self.module, Grid { block: [block, 1, 1], groups }).expect("it is accepted");
        self.ctx.flush().expect("it starts");
        event
    }

    /// Four groups, which the first to ask or wait starts.
    fn run(&self) -> Event {
        let grid = Grid { block: [64, 1, 1], groups: [4, 1, 1] };
        self.ctx.run_grid(&self.module, grid).expect("it is accepted")
    }

    fn words(&self) -> Vec<u32> {
        self.out.map::<u32>().expect("a map").to_vec()
    }
}

/// Asks until the work is done; panics if that takes too long.
fn poll(event: &Event, what: &str) -> recal::Result<()> {
    let start = Instant::now();
    while !event.is_done()? {
        assert!(start.elapsed() < PATIENCE, "{what}: not done after {PATIENCE:?}");
    }
    Ok(())
}

#[test]
fn launches_without_loops_end_at_their_limit() {
    let device = cpu(Duration::from_millis(200));
    // The last three have as many groups as 64 bits count from 0 to 0, and more.
    let cases = [
        (NUMBER, 64, [67_000_000, 4_000_000, 1]),
        (SEVEN, 1, [1 << 22, 1 << 22, 1 << 20]),
        (SEVEN, 1, [1 << 31, 1 << 31, 4]),
        (SEVEN, 1, [u32::MAX; 3]),
    ];
    for (text, block, groups) in cases {
        let work = Work::new(&device, text);
        let event = work.launch(block, groups);
        let what = format!("{groups:?} groups");
        let error = poll(&event, &what).expect_err("it cannot be done");
        assert!(error.to_string().contains("timeout"), "{what}: {error}");
        let (first, expected) = if block == 1 { (0, 7) } else { (9, 9) };
        assert_eq!(work.words()[first], expected, "{what}: nothing ran");
        // What is left of it must not hold up the end of its context.
        let start = Instant::now();
        work.launch(block, groups);
        drop((event, work));
        assert!(start.elapsed() < PATIENCE, "{what}: {:?}", start.elapsed());
    }
}

#[test]
fn a_shutdown_ends_a_launch_without_loops() {
    // `calShutdown` waits for the work; only the limit ends it.
    let device = cpu(Duration::from_millis(200));
    let work = Work::new(&device, SEVEN);
    work.launch(1, [u32::MAX; 3]);
    let start = Instant::now();
    work.ctx.finish().expect("it ends");
    assert!(start.elapsed() < PATIENCE);
}

/// As long as launches that never end have all workers, small ones of another context are done all the same, whether
/// somebody waits for them or only asks.
#[test]
fn a_small_launch_is_done_beside_endless_ones() {
    for (text, block, groups) in [(ENDLESS, 64, [256, 1, 1]), (SEVEN, 1, [u32::MAX; 3])] {
        let device = cpu(Duration::from_secs(600));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        // More than there are workers.
        let endless: Vec<(Work, Event)> = (0..cores + 2)
            .map(|_| {
                let work = Work::new(&device, text);
                let event = work.launch(block, groups);
                (work, event)
            })
            .collect();
        // By now they have got hold of the workers.
        std::thread::sleep(Duration::from_millis(50));
        let (small, looped) = (Work::new(&device, NUMBER), Work::new(&device, COUNT));
        let mut times = Vec::new();
        for round in 0..12 {
            let good = if round % 2 == 0 { &small } else { &looped };
            good.out.map::<u32>().expect("a map").fill(!0);
            let start = Instant::now();
            let event = good.launch(64, [4, 1, 1]);
            match round / 2 % 3 {
                0 => poll(&event, "beside endless ones").expect("nothing fails"),
                1 => event.wait().expect("nothing fails"),
                // The map waits.
                _ => {}
            }
            assert!(good.words().iter().zip(0..).all(|(word, k)| *word == k));
            times.push(start.elapsed());
        }
        println!("beside {} endless launches: {times:?}", endless.len());
        assert!(times.iter().all(|time| *time < PATIENCE), "{times:?}");
        for (_, event) in &endless {
            assert!(!event.is_done().expect("it goes on"), "it was not endless");
        }
        // Contexts end with what they were doing, and the device with them.
        let start = Instant::now();
        drop((endless, small, looped, device));
        assert!(start.elapsed() < PATIENCE);
    }
}

#[test]
fn who_only_asks_sleeps() {
    let device = cpu(Duration::from_secs(600));
    let work = Work::new(&device, ENDLESS);
    let event = work.launch(64, [1, 1, 1]);
    let start = Instant::now();
    let mut asked = 0;
    while start.elapsed() < Duration::from_millis(400) {
        assert!(!event.is_done().expect("it goes on"));
        asked += 1;
    }
    // Whoever asks without a rest asks some four million times.
    println!("{asked} questions in {:?}", start.elapsed());
    assert!(asked < 200_000, "{asked} questions");
    // The first answers of all come at once: the quickest of a hundred in a row.
    let quickest = (0..20).map(|_| {
        let event = work.launch(64, [1, 1, 1]);
        let start = Instant::now();
        (0..100).for_each(|_| assert!(!event.is_done().expect("it goes on")));
        start.elapsed()
    });
    let quickest = quickest.min().expect("there were some");
    assert!(quickest < Duration::from_millis(20), "100 questions took {quickest:?}");
}

/// `uav0[thread] = thread` after a million rounds: some milliseconds.
#[cfg(target_os = "linux")]
fn long_count() -> String {
    COUNT.replace("l0, 2, 8, 1, 0", "l0, 2, 1000000, 1, 0")
}

/// Does nothing but ask for short work, until this thread is known for it.
fn only_ask(work: &Work) {
    for _ in 0..4 {
        let event = work.run();
        poll(&event, "short work").expect("nothing fails");
    }
}

/// Processor's time of this thread.
#[cfg(target_os = "linux")]
fn own_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("the system tells it");
    let time = text.split(' ').next().and_then(|word| word.parse().ok()).expect("nanoseconds first");
    Duration::from_nanos(time)
}

#[cfg(target_os = "linux")]
#[test]
fn who_only_asks_works() {
    let device = cpu(Duration::from_secs(600));
    let (short, long) = (Work::new(&device, COUNT), Work::new(&device, &long_count()));
    // Asleep it takes some microseconds. Where others have the cores the work may be another thread's each time.
    let awake = Duration::from_micros(200);
    let mut most = Duration::ZERO;
    for round in 0..200 {
        if round >= 20 && most > awake {
            break;
        }
        only_ask(&short);
        long.out.map::<u32>().expect("a map").fill(!0);
        let event = long.run();
        let before = own_time();
        let done = event.is_done().expect("nothing fails");
        most = most.max(own_time() - before);
        println!("done by the first question: {done}");
        poll(&event, "long work").expect("nothing fails");
        assert!(long.words().iter().zip(0..).all(|(word, k)| *word == k), "what changed threads went wrong");
    }
    assert!(most > awake, "a question took {most:?} of the processor's time");
}

#[test]
fn who_works_while_asking_has_its_answer() {
    let device = cpu(Duration::from_secs(5));
    let (short, endless) = (Work::new(&device, COUNT), Work::new(&device, ENDLESS));
    for _ in 0..3 {
        only_ask(&short);
        let event = endless.run();
        assert!(!event.is_done().expect("it goes on"), "before its limit is over");
        // The rest is a worker's, or of who waits.
        let error = event.wait().expect_err("it never ends");
        assert!(error.to_string().contains("timeout"), "{error}");
        only_ask(&short);
    }
    // A queue ends with what nobody goes on with.
    let start = Instant::now();
    let event = endless.run();
    assert!(!event.is_done().expect("it goes on"));
    drop((event, endless));
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
}

#[test]
fn waits_end_with_the_work() {
    let device = cpu(Duration::from_secs(600));
    let work = Work::new(&device, NUMBER);
    let start = Instant::now();
    for round in 0..60 {
        // Started by a worker in every other round, else by who waits.
        let event = if round % 2 == 0 { work.launch(64, [4, 1, 1]) } else { work.run() };
        event.wait().expect("nothing fails");
    }
    // Each takes some microseconds.
    assert!(start.elapsed() < PATIENCE, "60 small launches took {:?}", start.elapsed());
}
