//! Prints speeds of the engine; `speed [name]`.

#[path = "../tests/harness/mod.rs"]
mod harness;
#[path = "../tests/matmul_kernel/mod.rs"]
mod matmul_kernel;

use std::time::Instant;

use cal_hal::{Bindings, Format};
use harness::{Machine, domain};

fn matmul(machine: &Machine) {
    let n = 1024;
    let (bindings, _) = matmul_kernel::bind(machine, n, n, n);
    let kernel = machine.kernel(&matmul_kernel::text());
    for _ in 0..4 {
        let start = Instant::now();
        let ticket = machine.submit(&kernel, bindings.clone(), domain(n / 4, n / 8));
        machine.queue.wait(ticket).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        println!("matmul {n}: {:.1} GFLOPS", 2.0 * f64::from(n).powi(3) / seconds / 1e9);
    }
}

fn empty(machine: &Machine) {
    let text = "il_ps_2_0\ndcl_output_generic o0\ndcl_literal l0, 0, 0, 0, 0\nmov o0, l0\nend\n";
    let kernel = machine.kernel(text);
    let out = machine.surface(Format::Float32x4, 8, 8);
    let bindings = Bindings { outputs: vec![(0, out)], ..Bindings::default() };
    let count = 100_000;
    let start = Instant::now();
    for _ in 0..count {
        let ticket = machine.submit(&kernel, bindings.clone(), domain(8, 8));
        machine.queue.wait(ticket).unwrap();
    }
    println!("empty, launch and wait: {:.2} µs", start.elapsed().as_secs_f64() * 1e6 / f64::from(count));
    let start = Instant::now();
    let mut last = 0;
    for _ in 0..count {
        last = machine.submit(&kernel, bindings.clone(), domain(8, 8));
    }
    machine.queue.wait(last).unwrap();
    println!("empty, batched: {:.2} µs", start.elapsed().as_secs_f64() * 1e6 / f64::from(count));
}

fn copy(machine: &Machine) {
    let n = 4096;
    let text = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n\
        dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
        sample_resource(0)_sampler(0) o0, vWinCoord0.xyxx\nend\n";
    let kernel = machine.kernel(text);
    let (from, to) = (machine.surface(Format::Float32x4, n, n), machine.surface(Format::Float32x4, n, n));
    let bindings = Bindings { resources: vec![(0, from)], outputs: vec![(0, to)], ..Bindings::default() };
    for _ in 0..4 {
        let start = Instant::now();
        let ticket = machine.submit(&kernel, bindings.clone(), domain(n, n));
        machine.queue.wait(ticket).unwrap();
        let bytes = 2.0 * 16.0 * f64::from(n).powi(2);
        println!("copy {n}: {:.1} GB/s", bytes / start.elapsed().as_secs_f64() / 1e9);
    }
}

fn main() {
    let machine = Machine::new();
    let wanted = std::env::args().nth(1);
    let asked = |name: &str| wanted.as_deref().is_none_or(|wanted| wanted == name);
    if asked("matmul") {
        matmul(&machine);
    }
    if asked("empty") {
        empty(&machine);
    }
    if asked("copy") {
        copy(&machine);
    }
}
