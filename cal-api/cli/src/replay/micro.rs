//! One instruction by itself on two devices: the declarations of its kernel, its registers from a constant buffer, the
//! instruction, and a store of what it wrote. Constants keep the compilers of devices from doing it themselves.

use std::collections::HashMap;

use recal::capture::{Capture, Launch, Prepared};
use recal::{AccessKind, Area, Domain, Format, Place, Resource, Symbol, Threads};

use super::instruction::{Results, Tried, named};
use crate::Outcome;
use crate::choice::Opened;

/// Kernels of single instructions, by the line that they are for.
pub(super) struct Micro<'c> {
    capture: &'c Capture,
    launch: Launch,
    /// The declarations, a line each.
    declared: Vec<String>,
    compute: bool,
    thread: [u32; 3],
    devices: &'c [Opened; 2],
    built: HashMap<u32, Option<[Built; 2]>>,
    /// Numbers that the kernel does not use.
    constants: u32,
    scratch: u32,
    literal: u32,
    uav: u32,
}

/// An instruction on a device.
struct Built {
    prepared: Prepared,
    operands: Resource,
    result: Resource,
}

impl<'c> Micro<'c> {
    pub(super) fn new(
        capture: &'c Capture,
        launch: &Launch,
        text: &[u8],
        thread: [u32; 3],
        devices: &'c [Opened; 2],
    ) -> Micro<'c> {
        let text = String::from_utf8_lossy(text);
        let is_declaration = |line: &&str| line.starts_with("il_") || line.starts_with("dcl");
        let declared: Vec<String> =
            text.lines().map(str::trim).filter(is_declaration).map(str::to_owned).collect();
        let free = |prefix: &str, most: u32| {
            (0..most).rev().find(|n| !text.contains(&format!("{prefix}{n}"))).unwrap_or(most)
        };
        let used = named(&text).last().copied().unwrap_or(0);
        let mut launch = launch.clone();
        // One thread is enough where it does not know of the others.
        if let (Threads::Domain(_), false) = (launch.threads(), launch.is_interpolated()) {
            launch = launch.over(Domain { x: thread[0], y: thread[1], width: 1, height: 1 });
        }
        Micro {
            capture,
            compute: matches!(launch.threads(), Threads::Grid(_)),
            launch,
            declared,
            thread,
            devices,
            built: HashMap::new(),
            constants: free("cb", 15),
            scratch: used + 1,
            literal: free("l", 1000),
            uav: (0..11).rev().find(|n| !text.contains(&format!("uav_id({n})"))).unwrap_or(11),
        }
    }

    /// Where the results of an instruction differ; none if it cannot run by itself.
    pub(super) fn differs(&mut self, tried: &Tried<'_>) -> Outcome<Option<Results>> {
        let step = tried.step;
        let alone = |area: Area| matches!(area, Area::Constant(_) | Area::Resource(_) | Area::Immediate);
        let known = step.accesses.iter().all(|a| a.kind == AccessKind::Read && alone(a.area));
        if !known || step.flow.is_some() || step.writes.is_empty() {
            return Ok(None);
        }
        if !self.built.contains_key(&step.line) {
            let built = self.build(tried);
            self.built.insert(step.line, built);
        }
        let Some(Some(built)) = self.built.get(&step.line) else { return Ok(None) };
        let mut results = Vec::new();
        for one in built {
            let mut map = one.operands.map::<u32>()?;
            for (row, (_, words)) in tried.before.iter().enumerate() {
                map[4 * row..4 * row + 4].copy_from_slice(words);
            }
            drop(map);
            // What does not run here did in the whole kernel: it says nothing.
            if one.prepared.run().is_err() {
                return Ok(None);
            }
            let element = self.element(&one.result);
            results.push(one.result.map::<u32>()?[element..element + 4].to_vec());
        }
        let mut found = Vec::new();
        for (name, _) in &step.writes {
            let component = name.rsplit('.').next().and_then(|c| "xyzw".find(c)).unwrap_or(0);
            let [a, b] = [results[0][component], results[1][component]];
            if a != b {
                found.push((name.clone(), [a, b]));
            }
        }
        Ok(Some(found))
    }

    /// Where the thread's result is, in words.
    fn element(&self, result: &Resource) -> usize {
        let [x, y, z] = self.thread.map(|n| n as usize);
        match self.launch.threads() {
            Threads::Domain(_) => 4 * (y * result.pitch() as usize + x),
            Threads::Grid(grid) => {
                // As vAbsTidFlat counts: groups after each other, and in a group x first.
                let block = grid.block.map(|n| n as usize);
                let [gx, gy, gz] = [x / block[0], y / block[1], z / block[2]];
                let groups = grid.groups.map(|n| n as usize);
                let group = (gz * groups[1] + gy) * groups[0] + gx;
                let inside = ((z % block[2]) * block[1] + y % block[1]) * block[0] + x % block[0];
                4 * (group * block[0] * block[1] * block[2] + inside)
            }
        }
    }

    fn build(&self, tried: &Tried<'_>) -> Option<[Built; 2]> {
        let (text, symbol) = self.text(tried)?;
        let [first, second] = self.devices;
        Some([self.on(first, &text, &symbol, tried)?, self.on(second, &text, &symbol, tried)?])
    }

    /// The kernel, and the symbol that its result is in.
    fn text(&self, tried: &Tried<'_>) -> Option<(String, String)> {
        let mut lines = self.declared.clone();
        let rows = tried.before.len().max(1);
        lines.push(format!("dcl_cb cb{}[{rows}]", self.constants));
        let target = tried.step.writes.first()?.0.split('.').next()?.to_owned();
        let output = match () {
            () if target.starts_with('o') => target.clone(),
            () if self.compute => format!("uav{}", self.uav),
            () => {
                let declared = lines.iter().find_map(|line| line.strip_prefix("dcl_output_generic "));
                let output = declared.map(|rest| rest.split(['.', ' ']).next().unwrap_or("o0").to_owned());
                if output.is_none() {
                    lines.push("dcl_output_generic o0".into());
                }
                output.unwrap_or_else(|| "o0".into())
            }
        };
        if self.compute {
            lines.push(format!("dcl_raw_uav_id({})", self.uav));
            lines.push(format!("dcl_literal l{}, 4, 4, 4, 4", self.literal));
        }
        for (row, (number, _)) in tried.before.iter().enumerate() {
            lines.push(format!("mov r{number}, cb{}[{row}]", self.constants));
        }
        lines.push(tried.step.text.clone());
        if self.compute {
            lines.push(format!("ishl r{}.x, vAbsTidFlat.x, l{}.x", self.scratch, self.literal));
            lines.push(format!("uav_raw_store_id({}) mem0, r{}.x, {target}", self.uav, self.scratch));
        } else if output != target {
            lines.push(format!("mov {output}, {target}"));
        }
        lines.push("end".into());
        Some((lines.join("\n") + "\n", output))
    }

    fn on(&self, opened: &Opened, text: &str, symbol: &str, tried: &Tried<'_>) -> Option<Built> {
        let prepared = self.capture.prepare_with(&self.launch, text.as_bytes(), &opened.context).ok()?;
        let module = prepared.module();
        let operands = opened
            .device
            .allocate_1d(tried.before.len().max(1) as u32, Format::Float32x4, Place::Remote)
            .ok()?;
        module.bind(&format!("cb{}", self.constants), &operands).ok()?;
        // All outputs are whole words, whatever was bound.
        let mut result = None;
        let held = self.launch.resources.iter();
        let (width, height) = held.fold((1, 1), |(w, h), held| (w.max(held.width), h.max(held.height)));
        for known in module.symbols() {
            let name = known.to_string();
            let resource = match known {
                Symbol::Output(_) => opened.device.allocate_2d(
                    width.min(opened.device.info().max_width_2d).max(self.thread[0] + 1),
                    height.max(self.thread[1] + 1),
                    Format::Float32x4,
                    Place::Local,
                ),
                Symbol::Uav(n) if *n == self.uav && self.compute => {
                    let Threads::Grid(grid) = self.launch.threads() else { return None };
                    let threads = grid.groups.iter().chain(&grid.block).product();
                    opened.device.allocate_buffer(threads, Format::Float32x4, Place::Local)
                }
                _ => continue,
            };
            let resource = resource.ok()?;
            module.bind(&name, &resource).ok()?;
            if name == symbol {
                result = Some(resource);
            }
        }
        Some(Built { prepared, operands, result: result? })
    }
}
