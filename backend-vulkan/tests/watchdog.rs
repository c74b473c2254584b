//! A kernel that never ends: an error on its ticket, errors afterwards, no hang, and the process ends.

mod needs;

use std::sync::Arc;
use std::time::{Duration, Instant};

use recal_hal::{
    Backend, Bindings, Command, DeviceOptions, Error, Extent, Format, Heap, MemoryRequest, Surface,
};
use recal_vulkan::{Options, Vulkan};

fn an_endless_kernel_times_out() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 1\ndcl_raw_uav_id(0)\ndcl_literal l0, 0, 1, 0, 0\nwhileloop\n\
                uav_add_id(0) l0.x, l0.y\nendloop\nend\n";
    let program = Arc::new(recal_il::compile(text.as_bytes()).unwrap());
    let backend = Vulkan::new(Options { software: true, ..Options::default() });
    // One device will do: its threads go on until the process ends.
    let adapter = backend.adapters().first().cloned().expect("the test needs one");
    let options = DeviceOptions { watchdog: Some(Duration::from_millis(300)), ..Default::default() };
    let device = adapter.open(&options).unwrap();
    let kernel = device.load(program).unwrap();
    let memory = device.allocate(MemoryRequest { bytes: 4096, heap: Heap::Local }).unwrap();
    let uav = Surface { memory, width: 1024, height: 1, pitch: 1024, format: Format::UnsignedInt32x1 };
    let bindings = Arc::new(Bindings { uavs: vec![(0, uav)], ..Bindings::default() });
    let queue = device.create_queue().unwrap();
    // llvmpipe ends a thread's loops after 65,535 iterations: enough threads make the launch long all the same.
    let extent = Extent::Grid { groups: [60_000, 1, 1], block: [1; 3] };
    let command = Command::Launch { kernel, bindings, extent };
    let start = Instant::now();
    let ticket = queue.submit(command.clone()).unwrap();
    assert!(matches!(queue.wait(ticket), Err(Error::Timeout(_) | Error::DeviceLost(_))));
    assert!(start.elapsed() < Duration::from_secs(20));
    assert!(queue.completed() >= ticket, "a failed command counts as done");
    assert!(matches!(queue.error(ticket), Some(Error::Timeout(_) | Error::DeviceLost(_))));
    assert!(matches!(queue.submit(command), Err(Error::DeviceLost(_))));
    assert!(matches!(device.create_queue(), Err(Error::DeviceLost(_))));
}

recal_needs::tests!(needs::device() => an_endless_kernel_times_out);
