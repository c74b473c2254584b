//! `recal devices`: what there is.

use std::fmt::Write as _;

use recal::target::Target;
use recal::{DeviceInfo, Runtime};
use serde_json::{Value, json};

use crate::Outcome;
use crate::files::{print, print_json};

pub(crate) fn devices(json: bool) -> Outcome {
    let runtime = Runtime::new()?;
    let list: Vec<(&str, &DeviceInfo)> = runtime.devices_by_backend().collect();
    if json {
        let list: Vec<Value> =
            list.iter().enumerate().map(|(n, (backend, d))| device(n, backend, d)).collect();
        return print_json(&json!({ "devices": list }));
    }
    if list.is_empty() {
        return Err("no device; `recal doctor` tells why".into());
    }
    print(&list.iter().enumerate().map(|(ordinal, (_, d))| shown(ordinal, d)).collect::<String>())
}

fn shown(ordinal: usize, d: &DeviceInfo) -> String {
    let yes = |value| if value { "yes" } else { "no" };
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "{ordinal}: {}\n   target {}, {} SIMDs, wavefront {}, {} MHz\n   \
         memory {} MiB local, {} MiB remote, {} MiB cached remote\n   \
         doubles {}, compute {}, LDS {} bytes, groups up to {}, {} UAVs\n   \
         largest resource {} or {} x {} elements\n",
        d.name,
        target(d),
        d.simds,
        d.wavefront_size,
        d.engine_clock,
        d.local_ram,
        d.uncached_remote_ram,
        d.cached_remote_ram,
        yes(d.double_precision),
        yes(d.compute),
        d.lds_bytes,
        d.max_group,
        d.uavs,
        d.max_width_1d,
        d.max_width_2d,
        d.max_height_2d
    );
    text
}

/// Name of the historical device that this one reports, as `compile -t` takes it.
fn target(d: &DeviceInfo) -> String {
    Target::from_value(d.target).map_or("?".into(), |t| t.name.to_ascii_lowercase())
}

/// `docs/command.md` says what each is.
pub(crate) fn device(ordinal: usize, backend: &str, d: &DeviceInfo) -> Value {
    json!({
        "ordinal": ordinal, "name": d.name, "backend": backend, "target": target(d),
        "simds": d.simds, "wavefront": d.wavefront_size, "engine_mhz": d.engine_clock, "memory_mhz": d.memory_clock,
        "local_mib": d.local_ram, "remote_mib": d.uncached_remote_ram, "cached_remote_mib": d.cached_remote_ram,
        "doubles": d.double_precision, "compute": d.compute, "lds_bytes": d.lds_bytes, "max_group": d.max_group,
        "uavs": d.uavs, "max_width_1d": d.max_width_1d, "max_width_2d": d.max_width_2d,
        "max_height_2d": d.max_height_2d,
        "surface_alignment": d.surface_alignment,
    })
}
