//! `cal analyze`: what a kernel binds, what it consists of, and what would limit it on a device of the time.

use std::path::Path;

use cal_il::diagnostic::render;
use cal_il::inst::{GroupSize, Interface, Stage};
use cal_il::ir::analyze::{self, Target};

use crate::{Outcome, read};

/// A device that the figures are for.
pub(crate) fn device(text: &str) -> Result<Target, String> {
    Target::named(text).cloned().ok_or_else(|| {
        let names: Vec<_> = analyze::TARGETS.iter().map(|t| t.name).collect();
        format!("no figures for this device; there are {}", names.join(", "))
    })
}

pub(crate) fn analyze(path: &Path, device: &Target) -> Outcome {
    let text = read(path)?;
    let name = path.display().to_string();
    let refused = |e: Vec<_>| render(&e, &text, &name);
    let kernel = cal_il::front(&text).map_err(refused)?;
    let program = cal_il::lower::lower(&kernel).map_err(refused)?;
    eprint!("{}", render(&program.warnings, &text, &name));
    println!("kernel        {}", stage(kernel.stage, &kernel.interface));
    println!("binds         {}", binds(&kernel.interface));
    print!("{}", analyze::analyze(&kernel, &program, device));
    Ok(())
}

fn stage(stage: Stage, interface: &Interface) -> String {
    match (stage, interface.group) {
        (Stage::Compute, Some(GroupSize::Exact([x, y, z]))) => format!("compute, groups of {x} x {y} x {z}"),
        (Stage::Compute, Some(GroupSize::AtMost(n))) => format!("compute, groups of at most {n}"),
        (Stage::Compute, None) => "compute".into(),
        (Stage::Pixel, _) => "pixel".into(),
    }
}

fn binds(interface: &Interface) -> String {
    let mut all: Vec<String> = Vec::new();
    all.extend(interface.resources.iter().map(|(n, r)| format!("i{n} ({:?})", r.dimension)));
    all.extend(interface.srvs.keys().map(|n| format!("i{n} (buffer)")));
    all.extend(interface.outputs.keys().map(|n| format!("o{n}")));
    all.extend(interface.constants.iter().map(|(n, rows)| format!("cb{n}[{rows}]")));
    all.extend(interface.uavs.iter().map(|(n, u)| format!("uav{n} ({u:?})")));
    all.extend(interface.global.then(|| "g[]".to_owned()));
    all.extend(interface.samplers.iter().map(|n| format!("s{n}")));
    if all.is_empty() { "nothing".into() } else { all.join(", ") }
}
