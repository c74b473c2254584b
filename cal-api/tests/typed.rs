//! Typed memory and kernels inside Rust, on the CPU and on a Vulkan device.
#![cfg(feature = "macros")]

use std::time::Duration;

use recal::typed::{Buffer, Image, Threads};
use recal::{Config, Context, ErrorKind, FloatMode, Runtime};
use recal_needs::{Need, Trial};

recal::il! {
    /// y = a x + y, through bytes.
    fn saxpy(x: &Buffer<f32>, y: &mut Buffer<f32>, a: f32) {
        il_cs_2_0
        dcl_num_thread_per_group 64
        dcl_raw_srv_id(1)
        dcl_raw_uav_id(0)
        dcl_cb cb0[1]
        dcl_literal l0, 4, 0, 0, 0 // bytes of a number
        imul r0.x, vAbsTidFlat.x, l0.x
        srv_raw_load_id(1) r1.x, r0.x
        uav_raw_load_id(0) r2.x, r0.x
        mad r2.x, cb0[0].x, r1.x, r2.x
        uav_raw_store_id(0) mem0.x, r0.x, r2.x
        end
    }

    /// Sum and difference of two pictures, in native and in swapped rows.
    fn butterfly(i1: &Image<[f32; 2]>, i0: &Image<[f32; 2]>, sum: &mut Image<[f32; 2]>, difference: &mut Image<[f32; 2]>) {
        il_ps_2_0
        dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__
        dcl_output_generic o0
        dcl_output_generic o1
        dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)
        dcl_resource_id(1)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)
        sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx
        sample_resource(1)_sampler(0) r1, vWinCoord0.xyxx
        add o0, r0, r1
        sub o1, r0, r1
        end
    }

    /// Rows of values, as they lie in a constant buffer.
    fn rows(y @ g: &mut Buffer<[u32; 4]>, a: f32, b: [i32; 3], c @ cb2: f64, d: [f32; 4], e @ cb2: u32) {
        il_cs_2_0
        dcl_num_thread_per_group 1
        dcl_cb cb0[3]
        dcl_cb cb2[2]
        mov g[0], cb0[0]
        mov g[1], cb0[1]
        mov g[2], cb2[0]
        mov g[3], cb0[2]
        mov g[4], cb2[1]
        end
    }

    /// Each element's place.
    pub fn places(y: &mut Image<[i16; 2]>) {
        il_ps_2_0
        dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__
        dcl_output_generic o0
        ftoi o0, vWinCoord0
        end
    }
}

type Words = [u32; 2];

/// Kernels of strings and files, and a type that the macro cannot know by name.
#[recal::kernel]
fn sums(x: &Image<Words>, y @ uav3: &mut Image<u32>) {
    "il_cs_2_0
    dcl_num_thread_per_group 8, 8  ; groups hang over the end
    dcl_resource_id(0)_type(2d,unnorm)_fmtx(uint)_fmty(uint)_fmtz(uint)_fmtw(uint)
    dcl_uav_id(3)_type(2d)_fmtx(uint)
    load_resource(0) r0, vAbsTid.xy
    iadd r0, r0.x, r0.y
    uav_store_id(3) vAbsTid.xy, r0
    end"
}

#[recal::kernel]
fn count(y: &mut Buffer<f32>) {
    include_str!("typed/count.il")
}

fn saxpy_is_itself(context: &Context) {
    let x: Vec<f32> = (0..1000u16).map(f32::from).collect();
    let k = saxpy(context).unwrap();
    let on = Buffer::from_slice(context, &x).unwrap();
    let mut y = Buffer::from_slice(context, &vec![1.0; 1000]).unwrap();
    let event = k.fill(&on, &mut y, 2.0).unwrap();
    event.wait().unwrap();
    assert!(event.is_done().unwrap());
    k.run(10u32, &on, &mut y, 0.5).unwrap();
    let expected: Vec<f32> =
        x.iter().map(|x| if *x < 64.0 { 2.5 * x + 1.0 } else { 2.0 * x + 1.0 }).collect();
    assert_eq!(y.read().unwrap(), expected, "ten threads are one group of 64");
    assert_eq!(on.read().unwrap(), x);
}

fn parameters_that_are_symbols_are_those(context: &Context) {
    let a: Vec<[f32; 2]> = (0..15u8).map(|n| [f32::from(n), 0.5]).collect();
    let b: Vec<[f32; 2]> = (0..15u8).map(|n| [100.0, f32::from(n)]).collect();
    let (x, y) = (Image::from_rows(context, 5, &a).unwrap(), Image::from_rows(context, 5, &b).unwrap());
    let mut sum = Image::new(context, 5, 3).unwrap();
    let mut difference = Image::new(context, 5, 3).unwrap();
    butterfly(context).unwrap().run((5, 3), &x, &y, &mut sum, &mut difference).unwrap();
    let both = |f: fn(f32, f32) -> f32| -> Vec<[f32; 2]> {
        b.iter().zip(&a).map(|(b, a)| [f(b[0], a[0]), f(b[1], a[1])]).collect()
    };
    assert_eq!(sum.read().unwrap(), both(|b, a| b + a));
    assert_eq!(difference.read().unwrap(), both(|b, a| b - a), "i1 is the first parameter");
    let mut place = [[0.0; 2]; 16];
    difference.read_into(&mut place[1..]).unwrap();
    assert_eq!((place[0], &place[1..]), ([0.0; 2], &both(|b, a| b - a)[..]));
    let error = difference.read_into(&mut place).unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().contains("16 elements given for 15")),
        (ErrorKind::Argument, true)
    );
}

fn values_are_rows(context: &Context) {
    let mut y = Buffer::new(context, 5).unwrap();
    rows(context).unwrap().run(1u32, &mut y, 1.5, [-1, 2, 3], 1.0, [1.0, 2.0, 3.0, 4.0], 7).unwrap();
    let four = [1.0f32, 2.0, 3.0, 4.0].map(f32::to_bits);
    let expected =
        [[1.5f32.to_bits(), 0, 0, 0], [u32::MAX, 2, 3, 0], [0, 0x3ff0_0000, 0, 0], four, [7, 0, 0, 0]];
    assert_eq!(y.read().unwrap(), expected);
}

/// Each launch has its own values, however many are in flight.
fn launches_keep_their_values(context: &Context) {
    let k = saxpy(context).unwrap();
    let x = Buffer::from_slice(context, &[1.0; 64]).unwrap();
    let mut y = Buffer::new(context, 64).unwrap();
    for a in 0..100u8 {
        k.fill(&x, &mut y, f32::from(a)).unwrap();
    }
    assert_eq!(y.read().unwrap(), [4950.0; 64]);
}

fn small_elements_and_odd_widths(context: &Context) {
    let mut y = Image::output(context, 67, 3).unwrap();
    places(context).unwrap().fill(&mut y).unwrap();
    let expected: Vec<[i16; 2]> = (0..3).flat_map(|y| (0..67).map(move |x| [x, y])).collect();
    assert_eq!(y.read().unwrap(), expected);
}

fn strings_files_and_aliases(context: &Context) {
    let x: Vec<Words> = (0..11 * 5).map(|n| [n, 1000]).collect();
    let image = Image::from_rows(context, 11, &x).unwrap();
    let mut y = Image::new(context, 11, 5).unwrap();
    sums(context).unwrap().run((11, 5), &image, &mut y).unwrap();
    assert_eq!(y.read().unwrap(), (1000..1055).collect::<Vec<u32>>());
    let mut numbers = Buffer::output(context, 100).unwrap();
    count(context).unwrap().fill(&mut numbers).unwrap();
    assert_eq!(numbers.read().unwrap()[99], 99.5);
    assert!(count::IL.starts_with("; The number"));
}

/// A round of a program that makes its memory anew each time.
fn memory_is_reused(context: &Context) {
    let resource = Buffer::<f32>::output(context, 1000).unwrap().resource().clone();
    // Someone has it: it is not the next buffer's.
    assert_ne!(*Buffer::<f32>::output(context, 1000).unwrap().resource(), resource);
    let mut first = Buffer::<f32>::new(context, 1000).unwrap();
    count(context).unwrap().fill(&mut first).unwrap();
    drop(first);
    let next = Buffer::<f32>::output(context, 1000).unwrap();
    assert_eq!(next.read().unwrap()[7], 7.5, "what the last one left");
    drop(next);
    let zeros = Buffer::<f32>::new(context, 1000).unwrap();
    assert_eq!(zeros.read().unwrap(), [0.0; 1000]);
    drop(zeros);
    context.trim();
    let fresh = Buffer::<f32>::output(context, 1000).unwrap();
    assert_eq!(fresh.read().unwrap(), [0.0; 1000]);
}

/// Readers and launches of many threads share memory; none sees an error because of another.
fn threads_share(context: &Context) {
    let k = saxpy(context).unwrap();
    let x = Buffer::from_slice(context, &[1.0; 256]).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut y = Buffer::new(context, 256).unwrap();
                for _ in 0..50 {
                    k.fill(&x, &mut y, 1.0).unwrap();
                    assert_eq!(x.read().unwrap()[255], 1.0);
                }
                assert_eq!(y.read().unwrap(), [50.0; 256]);
            });
        }
    });
}

fn mistakes_are_values(context: &Context) {
    let kind = |error: recal::Error| format!("{:?}", error.kind());
    assert_eq!(kind(Buffer::<f32>::new(context, 0).unwrap_err()), "Argument");
    assert_eq!(kind(Image::from_rows(context, 3, &[0u8; 7]).unwrap_err()), "Argument");
    assert_eq!(kind(Image::<u8>::from_rows(context, 0, &[]).unwrap_err()), "Argument");
    let mut buffer = Buffer::<u32>::new(context, 4).unwrap();
    assert_eq!(kind(buffer.write(&[1, 2, 3]).unwrap_err()), "Argument");
    let elsewhere = context.device().create_context().unwrap();
    let (x, mut y) = (Buffer::new(context, 64).unwrap(), Buffer::new(&elsewhere, 64).unwrap());
    let error = saxpy(context).unwrap().fill(&x, &mut y, 1.0).unwrap_err();
    assert!(error.to_string().contains("uav0: its memory belongs to another context"), "{error}");
    let threads = Threads([u64::MAX, 1, 1]);
    let mut y = Buffer::new(context, 64).unwrap();
    assert_eq!(kind(saxpy(context).unwrap().run(threads, &x, &mut y, 1.0).unwrap_err()), "Argument");
    let error = recal::typed::Kernel::load(context, "il_ps_2_0\nmov o0, l0\nend\n").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Kernel(found) if !found.is_empty()), "{error:?}");
}

fn mapped_rows(context: &Context) {
    let mut image = Image::<[u8; 4]>::new(context, 3, 2).unwrap();
    for (row, numbers) in image.map().unwrap().rows_mut().enumerate() {
        numbers.fill(row as u8 + 1);
    }
    assert_eq!(image.read().unwrap(), [[1; 4], [1; 4], [1; 4], [2; 4], [2; 4], [2; 4]]);
}

fn events_are_awaited(context: &Context) {
    let k = saxpy(context).unwrap();
    let x = Buffer::from_slice(context, &[1.0; 64]).unwrap();
    let mut y = Buffer::new(context, 64).unwrap();
    pollster::block_on(async {
        for _ in 0..5 {
            k.fill(&x, &mut y, 1.0).unwrap().await.unwrap();
        }
    });
    assert_eq!(y.read().unwrap(), [5.0; 64]);
    let event = k.fill(&x, &mut y, 1.0).unwrap();
    assert!(event.wait_timeout(Duration::from_secs(600)).unwrap());
}

#[cfg(feature = "ndarray")]
fn arrays_with_any_strides(context: &Context) {
    use ndarray::{Array1, array, s};
    let a = array![[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
    let image = Image::from_array(context, a.slice(s![.., ..;2])).unwrap();
    assert_eq!(image.to_array().unwrap(), array![[1.0, 3.0], [4.0, 6.0]]);
    let column = Buffer::from_array(context, a.column(1)).unwrap();
    assert_eq!(column.to_array().unwrap(), Array1::from(vec![2.0, 5.0]));
}

/// A test and its name.
type Test = (&'static str, fn(&Context));

const TESTS: &[Test] = &[
    ("saxpy_is_itself", saxpy_is_itself),
    ("parameters_that_are_symbols_are_those", parameters_that_are_symbols_are_those),
    ("values_are_rows", values_are_rows),
    ("launches_keep_their_values", launches_keep_their_values),
    ("small_elements_and_odd_widths", small_elements_and_odd_widths),
    ("strings_files_and_aliases", strings_files_and_aliases),
    ("memory_is_reused", memory_is_reused),
    ("threads_share", threads_share),
    ("mistakes_are_values", mistakes_are_values),
    ("mapped_rows", mapped_rows),
    ("events_are_awaited", events_are_awaited),
    #[cfg(feature = "ndarray")]
    ("arrays_with_any_strides", arrays_with_any_strides),
];

fn context(backend: &str) -> Option<Context> {
    let config = Config { backends: vec![backend.into()], float: FloatMode::Faithful, ..Config::default() };
    let runtime = Runtime::with_config(config).unwrap();
    let there = runtime.devices().count() > 0;
    there.then(|| runtime.open(0).unwrap().create_context().unwrap())
}

fn main() -> std::process::ExitCode {
    let mut trials: Vec<Trial> = Vec::new();
    let compiled_in: &[&str] = &[
        #[cfg(feature = "cpu")]
        "cpu",
        #[cfg(feature = "vulkan")]
        "vulkan",
    ];
    for backend in compiled_in {
        let found = context(backend);
        for (name, test) in TESTS {
            let name = format!("{backend}: {name}");
            let on = found.clone();
            let need = Need::vulkan(on.iter().count());
            trials.push(recal_needs::trial(name, [need], move || {
                test(&on.unwrap().device().create_context().unwrap());
            }));
        }
    }
    recal_needs::run(&recal_needs::Arguments::from_args(), trials)
}

/// Everything may go to and be used by other threads.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<saxpy>();
    shared::<Buffer<[f32; 4]>>();
    shared::<Image<u8>>();
    shared::<recal::Event>();
};
