//! What products of a size reach: host alone, devices alone, both, with data on the devices, and what the copies take.
//!
//!     cargo run --release -p recal-blas --example rates -- single 4096 8192
//!
//! `transfers` among the sizes leaves out what the host computes: devices with a program's own memory, data on them, pinned memory.
//! `once 4096` does three products in single precision, for `CAL_TIMELINE`: the first makes memory and kernels.
//!
//! The environment says which devices and which host BLAS, as for the library. Two devices of one machine are compared with the first.

use std::ffi::{CStr, c_char};
use std::time::Instant;

use recal::{Format, Place, Runtime};
use recal_blas::{Blas, Host, Options, Real, View, ViewMut};

/// Products of each way, of which the best counts and the mean of the later half, in so many seconds.
const TIMES: usize = 6;
const LONGEST: f64 = 4.0;

/// The largest size of which all ways are tried; of larger ones the numbers are on the devices.
const LARGEST: usize = 8192;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    recal::logger::start(&recal::Config::from_env().0);
    let mut arguments = std::env::args().skip(1);
    let kind = arguments.next().unwrap_or_else(|| "single".into());
    let (words, sizes): (Vec<String>, Vec<String>) = arguments.partition(|word| word == "transfers");
    let host = words.is_empty();
    let sizes = sizes.into_iter().map(|text| text.parse::<usize>()).collect::<Result<Vec<_>, _>>()?;
    let sizes = if sizes.is_empty() { vec![2048] } else { sizes };
    if let Ok(host) = Host::get() {
        println!("host BLAS: {}{}", host.name(), configuration(host).unwrap_or_default());
    }
    let cores = std::thread::available_parallelism()?;
    println!(
        "{cores} threads, devices: {:?}",
        Runtime::new()?.devices().map(|info| &info.name).collect::<Vec<_>>()
    );
    for size in sizes {
        match &*kind {
            "single" => rates::<f32>(size, host, |n| (n % 17) as f32 / 16.0 - 0.5)?,
            "once" => once(size)?,
            "double" => rates::<f64>(size, host, |n| (n % 17) as f64 / 16.0 - 0.5)?,
            other => return Err(format!("{other}: neither single, double nor once").into()),
        }
    }
    Ok(())
}

/// What OpenBLAS says of itself: the processor that its kernels are for is in there.
fn configuration(host: &Host) -> Option<String> {
    let (config, core) = (host.symbol("openblas_get_config")?, host.symbol("openblas_get_corename")?);
    let text = |address| {
        // SAFETY: functions of OpenBLAS without arguments, which give text that lives as long as the library.
        unsafe {
            let ask =
                std::mem::transmute::<*const std::ffi::c_void, extern "C" fn() -> *const c_char>(address);
            CStr::from_ptr(ask()).to_string_lossy().into_owned()
        }
    };
    Some(format!(", {}, core {}", text(config).trim(), text(core)))
}

fn rates<T: Real>(n: usize, by_host: bool, number: impl Fn(usize) -> T) -> Outcome<()> {
    let a: Vec<T> = (0..n * n).map(&number).collect();
    let b: Vec<T> = (0..n * n).map(|k| number(k * 7 + 3)).collect();
    let mut c = vec![T::ZERO; n * n];
    let views = || Ok::<_, recal_blas::Error>([View::by_columns(&a, n, n)?, View::by_columns(&b, n, n)?]);
    let operations = 2.0 * (n as f64).powi(3);
    let rate = |what: &str, share: Option<f64>, c: &mut [T]| -> Outcome<f64> {
        let blas = Blas::new(Options { share, ..Options::from_env() });
        let mut seconds = Vec::new();
        for _ in 0..if share.is_none() { 4 * TIMES } else { TIMES } {
            let [a, b] = views()?;
            let start = Instant::now();
            blas.gemm(T::ONE, a, b, T::ZERO, ViewMut::by_columns(c, n, n)?)?;
            seconds.push(start.elapsed().as_secs_f64());
            if seconds.len() > 1 && seconds.iter().sum::<f64>() > LONGEST {
                break;
            }
        }
        let best = seconds.iter().copied().fold(f64::INFINITY, f64::min);
        let late = &seconds[seconds.len() / 2..];
        let mean = late.iter().sum::<f64>() / late.len() as f64;
        let figures = blas.figures(T::KIND);
        let part = figures.operations[0] / (figures.operations[0] + figures.operations[1]);
        println!(
            "{:?} {n}, {what}: {:.1} GFLOPS at best, {:.1} in the mean of the later half, first {:.1} ms; devices' part {part:.3}",
            T::KIND,
            1e-9 * operations / best,
            1e-9 * operations / mean,
            1e3 * seconds[0]
        );
        Ok(operations / best)
    };
    let mut devices = 0.0;
    let mut wanted = Vec::new();
    if n <= LARGEST && !by_host {
        devices = rate("devices", Some(1.0), &mut c)?;
        wanted = c.clone();
    } else if n <= LARGEST {
        let host = rate("host", Some(0.0), &mut c)?;
        wanted = c.clone();
        devices = rate("devices", Some(1.0), &mut c)?;
        exact("devices", &c, &wanted)?;
        let both = rate("auto", None, &mut c)?;
        exact("auto", &c, &wanted)?;
        println!(
            "{:?} {n}: auto has {:.3} of the sum, {:.3} of the best alone",
            T::KIND,
            both / (host + devices),
            both / host.max(devices)
        );
    }
    let count = Runtime::new()?.devices_by_backend().filter(|(backend, _)| *backend != "cpu").count().max(1);
    let mut alone = 0.0;
    for devices in [1, count] {
        let blas = Blas::new(Options { devices: Some((0..devices as u32).collect()), ..Options::from_env() });
        let [a, b] = views()?;
        let start = Instant::now();
        let mut product = blas.resident(a, b)?;
        let sent = start.elapsed().as_secs_f64();
        let mut best = f64::INFINITY;
        for _ in 0..TIMES {
            let start = Instant::now();
            product.multiply()?;
            best = best.min(start.elapsed().as_secs_f64());
        }
        alone = if devices == 1 { best } else { alone };
        println!(
            "{:?} {n}, data on {devices} devices: {:.1} GFLOPS, {:.3} of one; sent and multiplied first in {:.1} ms",
            T::KIND,
            1e-9 * operations / best,
            alone / best,
            1e3 * sent
        );
        c.fill(T::ZERO);
        product.fetch(T::ONE, T::ZERO, ViewMut::by_columns(&mut c, n, n)?)?;
        exact("data on devices", &c, &wanted)?;
        if count == 1 {
            break;
        }
    }
    let bytes = (n * n * T::KIND.precision().bytes()) as f64;
    let [send, fetch] = copies(bytes)?;
    let copied = 2.0 * bytes / send + bytes / fetch;
    println!(
        "{:?} {n}: copies to the device at {:.1} GB/s, back at {:.1}: {:.1} ms, product {:.1} ms; devices' way has {:.3} of the larger",
        T::KIND,
        1e-9 * send,
        1e-9 * fetch,
        1e3 * copied,
        1e3 * alone,
        copied.max(alone) * devices / operations
    );
    let blas = Blas::new(Options::from_env());
    let mut product = blas.pinned::<T>([n; 3])?;
    product.left(|step, column| column.copy_from_slice(&a[step * n..][..n]))?;
    product
        .right(|step, row| row.iter_mut().enumerate().for_each(|(column, to)| *to = b[column * n + step]))?;
    let mut best = f64::INFINITY;
    for _ in 0..2 * TIMES {
        let start = Instant::now();
        product.multiply()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!(
        "{:?} {n}, in pinned memory, copies of all counted: {:.1} GFLOPS, {:.1} ms, {:.3} of the larger",
        T::KIND,
        1e-9 * operations / best,
        1e3 * best,
        copied.max(alone) / best
    );
    let put = |row: usize, numbers: &[T]| {
        numbers.iter().enumerate().for_each(|(column, number)| c[column * n + row] = *number);
    };
    product.result(put)?;
    exact("pinned memory", &c, &wanted)
}

/// All numbers are multiples of 1/256 and small, so every product has the same bits; of large ones nothing is known.
fn exact<T: Real>(what: &str, found: &[T], wanted: &[T]) -> Outcome<()> {
    match found.iter().zip(wanted).position(|(found, wanted)| found != wanted) {
        Some(at) => Err(format!("{what}: number {at} is {:?}, not {:?}", found[at], wanted[at]).into()),
        None => Ok(()),
    }
}

/// Three products as the environment has them.
fn once(n: usize) -> Outcome<()> {
    let (a, mut c) = (vec![0.5f32; n * n], vec![0.0; n * n]);
    let blas = Blas::new(Options::from_env());
    for _ in 0..3 {
        let (view, start) = (View::by_columns(&a, n, n)?, Instant::now());
        blas.gemm(1.0, view, view, 0.0, ViewMut::by_columns(&mut c, n, n)?)?;
        println!("{:.1} ms", 1e3 * start.elapsed().as_secs_f64());
    }
    Ok(())
}

/// Bytes a second from memory of the host that the device reaches, and back; and what the host's threads do with it.
fn copies(bytes: f64) -> Outcome<[f64; 2]> {
    let device = Runtime::new()?.open(0)?;
    let context = device.create_context()?;
    let (width, height) = (4096, ((bytes / 16.0 / 4096.0) as u32).clamp(1, 4096));
    let texture = |place| {
        let resource = device.allocate_2d(width, height, Format::Float32x4, place)?;
        let mem = context.mem(&resource)?;
        Ok::<_, recal::Error>((resource, mem))
    };
    let local = texture(Place::Local)?;
    let bytes = f64::from(width) * f64::from(height) * 16.0;
    let mut rates = [0.0; 2];
    for place in [Place::Remote, Place::RemoteCached] {
        let there = texture(place)?;
        let mut best = [f64::INFINITY; 4];
        let mut note = |at: usize, start: Instant, times: f64| {
            best[at] = best[at].min(times * start.elapsed().as_secs_f64());
        };
        for _ in 0..3 {
            let start = Instant::now();
            context.copy(&there.1, &local.1)?.wait()?;
            note(0, start, 1.0);
            let start = Instant::now();
            context.copy(&local.1, &there.1)?.wait()?;
            note(1, start, 1.0);
            let mut map = there.0.map::<f32>()?;
            let start = Instant::now();
            map.fill(1.5);
            note(2, start, 1.0);
            let start = Instant::now();
            let part = map.len() / 64;
            std::hint::black_box(map[..part].iter().sum::<f32>());
            note(3, start, 64.0);
        }
        let [to, from, write, read] = best.map(|seconds| 1e-9 * bytes / seconds);
        println!(
            "{place:?}: device takes {to:.1} GB/s, gives {from:.1}; a thread writes {write:.1}, reads {read:.1}"
        );
        rates = [f64::max(rates[0], 1e9 * to), f64::max(rates[1], 1e9 * from)];
    }
    Ok(rates)
}
