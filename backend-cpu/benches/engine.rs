//! Speed of the engine: `cargo bench -p backend-cpu`. Items of `matmul` are float operations.

#[path = "../tests/harness/mod.rs"]
mod harness;
#[path = "../tests/matmul_kernel/mod.rs"]
mod matmul_kernel;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use harness::{Machine, domain};
use recal_cpu::{CpuBackend, InstructionSet};
use recal_hal::{Backend, Bindings, Command, DeviceOptions, Format, Sampler, Wrap};

const POSITION: &str = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n\
    dcl_output_generic o0\ndcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n";

fn main() {
    divan::main();
}

/// Runs a pixel kernel of one input and one output over n x n elements, again and again.
fn draw(bencher: Bencher, format: Format, n: u32, text: &str) {
    let machine = Machine::new();
    let kernel = machine.kernel(text);
    let (from, to) = (machine.surface(format, n, n), machine.surface(format, n, n));
    let bindings = Bindings { resources: vec![(0, from)], outputs: vec![(0, to)], ..Bindings::default() };
    let bytes = 2 * format.bytes() as usize * n as usize * n as usize;
    bencher.counter(BytesCount::new(bytes)).bench(|| {
        let ticket = machine.submit(&kernel, bindings.clone(), domain(n, n));
        machine.queue.wait(ticket).unwrap();
    });
}

/// The matrix product of the CAL tutorials.
#[divan::bench(args = [128, 256, 1024], max_time = 5)]
fn matmul(bencher: Bencher, n: u32) {
    let machine = Machine::new();
    let (bindings, _) = matmul_kernel::bind(&machine, n, n, n);
    let kernel = machine.kernel(&matmul_kernel::text());
    bencher.counter(ItemsCount::new(2 * u64::from(n).pow(3))).bench(|| {
        let ticket = machine.submit(&kernel, bindings.clone(), domain(n / 4, n / 8));
        machine.queue.wait(ticket).unwrap();
    });
}

/// Launches of one tile, each waited for.
#[divan::bench]
fn launch_and_wait(bencher: Bencher) {
    let text = format!("{POSITION}mov o0, vWinCoord0.xyxy\nend\n");
    draw(bencher, Format::Float32x4, 8, &text);
}

/// A kernel that copies.
#[divan::bench(max_time = 3)]
fn copy_kernel(bencher: Bencher) {
    let text = format!("{POSITION}sample_resource(0)_sampler(0) o0, vWinCoord0.xyxx\nend\n");
    draw(bencher, Format::Float32x4, 2048, &text);
}

/// A copy command of the same size.
#[divan::bench(max_time = 3)]
fn copy_command(bencher: Bencher) {
    let machine = Machine::new();
    let n = 2048;
    let (src, dst) = (machine.surface(Format::Float32x4, n, n), machine.surface(Format::Float32x4, n, n));
    bencher.counter(BytesCount::new(2 * 16 * n as usize * n as usize)).bench(|| {
        let ticket = machine.queue.submit(Command::Copy { src: src.clone(), dst: dst.clone() }).unwrap();
        machine.queue.wait(ticket).unwrap();
    });
}

/// A stencil of five points over one float an element.
#[divan::bench(max_time = 3)]
fn stencil(bencher: Bencher) {
    let mut text = format!("{POSITION}dcl_literal l0, 0.2, 0, 0, 0\n");
    for (r, at) in
        ["0.0,0.0,0.0", "-1.0,0.0,0.0", "1.0,0.0,0.0", "0.0,-1.0,0.0", "0.0,1.0,0.0"].iter().enumerate()
    {
        text += &format!("sample_resource(0)_sampler(0)_aoffimmi({at}) r{r}.x, vWinCoord0.xyxx\n");
    }
    text += "add r0.x, r0.x, r1.x\nadd r0.x, r0.x, r2.x\nadd r0.x, r0.x, r3.x\nadd r0.x, r0.x, r4.x\n\
        mul r0.x, r0.x, l0.x\nmov o0, r0\nend\n";
    draw(bencher, Format::Float32x1, 1024, &text);
}

/// What runs kernels: the interpreter, or what they are compiled to.
const SETS: [&str; 2] = ["baseline", "best"];

fn machine(set: &str) -> Machine {
    let best = InstructionSet::best();
    let set = InstructionSet::ALL.into_iter().find(|known| known.name() == set).unwrap_or(best);
    let device = CpuBackend::limited(set).adapters()[0].open(&DeviceOptions::default()).unwrap();
    let queue = device.create_queue().unwrap();
    Machine { device, queue }
}

/// Reads texels at `at` by a sampler and writes elements of four floats, n x n; items are texels.
fn filter(bencher: Bencher, set: &str, format: Format, sampler: Sampler, at: &str) {
    let (machine, n) = (machine(set), 512);
    let text = format!(
        "{POSITION}dcl_literal l0, 0.25, 0.25, 0, 0\nmul r0, vWinCoord0.xyxx, l0.xyzz\n\
         sample_resource(0)_sampler(0){at} o0, r0.xyxx\nend\n"
    );
    let kernel = machine.kernel(&text);
    let (from, to) = (machine.surface(format, n / 4, n / 4), machine.surface(Format::Float32x4, n, n));
    let bindings = Bindings {
        resources: vec![(0, from)],
        outputs: vec![(0, to)],
        samplers: vec![(0, sampler)],
        ..Bindings::default()
    };
    bencher.counter(ItemsCount::new(n as usize * n as usize)).bench(|| {
        let ticket = machine.submit(&kernel, bindings.clone(), domain(n, n));
        machine.queue.wait(ticket).unwrap();
    });
}

/// Bytes that are converted.
#[divan::bench(args = SETS, max_time = 2)]
fn unorm_bytes(bencher: Bencher, set: &str) {
    filter(bencher, set, Format::UnormInt8x4, Sampler::default(), "");
}

/// Repeated half floats.
#[divan::bench(args = SETS, max_time = 2)]
fn repeated_halves(bencher: Bencher, set: &str) {
    let sampler = Sampler { wrap: [Wrap::Repeat; 3], ..Sampler::default() };
    filter(bencher, set, Format::Float16x4, sampler, "");
}

/// The bilinear filter with a border.
#[divan::bench(args = SETS, max_time = 2)]
fn bilinear(bencher: Bencher, set: &str) {
    let sampler = Sampler { linear: true, wrap: [Wrap::ClampToBorder; 3], ..Sampler::default() };
    filter(bencher, set, Format::UnormInt8x4, sampler, "_aoffimmi(0.5,0.5,0.0)");
}

/// Operations that become many, by name and by what is done in a round of a loop.
const LONG: [(&str, &str); 12] = [
    ("sin", "sin r0.x, r0.x"),
    ("exp", "exp r0.x, r0.x"),
    ("log", "log r0.x, r0.x"),
    ("pow", "pow r0.x, r0.x, r1.x"),
    ("rsq", "rsq r0.x, r0.x"),
    ("atan", "atan r0.x, r0.x"),
    ("asin", "asin r0.x, r0.x"),
    ("udiv", "udiv r0.x, r0.x, r1.x"),
    ("ddiv", "ddiv r0.xy, r0.xy, r1.xy"),
    ("drsq", "drsq r0.xy, r0.xy"),
    ("u64div", "u64div r0.xy, r0.xy, r1.xy"),
    ("f2d", "f2d r2.xy, r0.x\nd2f r0.x, r2.xy"),
];

fn long(bencher: Bencher, name: &str, looped: bool) {
    let (machine, n) = (Machine::new(), 256);
    let body = LONG.into_iter().find(|(known, _)| *known == name).map(|(_, body)| body).unwrap_or_default();
    let (open, close) = match looped {
        true => ("whileloop\nbreak_logicalnz r3.y\n", "endloop\n"),
        false => ("", ""),
    };
    let rounds = if looped { 1 } else { 16 };
    let body = format!("{body}\niadd r0.x, r0.x, l0.z\n").repeat(rounds);
    let text = format!(
        "{POSITION}dcl_literal l0, 0.75, 1.3, 0x4000, 1\ndcl_literal l1, 16, 0, 0, 0\n\
         mad r0, vWinCoord0.xyxy, l0.xxxx, l0.yyyy\nmov r1, l0.yyyy\nmov r3, l1.yyyy\n\
         {open}{body}iadd r3.x, r3.x, l0.w\nige r3.y, r3.x, l1.x\n{close}mov o0, r0\nend\n"
    );
    let kernel = machine.kernel(&text);
    let (from, to) = (machine.surface(Format::Float32x4, 4, 4), machine.surface(Format::Float32x4, n, n));
    let bindings = Bindings { resources: vec![(0, from)], outputs: vec![(0, to)], ..Bindings::default() };
    bencher.counter(ItemsCount::new(16 * n as usize * n as usize)).bench(|| {
        let ticket = machine.submit(&kernel, bindings.clone(), domain(n, n));
        machine.queue.wait(ticket).unwrap();
    });
}

/// Long functions in a loop.
#[divan::bench(args = LONG.map(|(name, _)| name), max_time = 0.3)]
fn long_in_loop(bencher: Bencher, name: &str) {
    long(bencher, name, true);
}

/// The same one after another.
#[divan::bench(args = LONG.map(|(name, _)| name), max_time = 0.3)]
fn long_straight(bencher: Bencher, name: &str) {
    long(bencher, name, false);
}
