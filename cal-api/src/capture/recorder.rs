//! Writing a capture while the program runs.
//!
//! Launches are kept one at a time: what is bound is copied by the queue itself, so that it is what the device sees, whatever
//! the program has mapped; the launch is on the disk before it is submitted, and awaited. So the capture of a program that
//! is killed, or of a launch that takes the driver down, replays up to there.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use recal_hal::sync::Mutex;
use recal_hal::{Command, Extent};
use sha2::{Digest as _, Sha256};

use super::{DATA, Done, Head, Held, KERNELS, LIST, Launch, Record, SamplerState, VERSION, bits_of};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::module::{Module, Snapshot};
use crate::resource::Resource;
use crate::symbol::Symbol;

/// Captures that this process has begun: a runtime that is started again goes on at their end.
static BEGUN: Mutex<Vec<Arc<Recorder>>> = Mutex::new(Vec::new());
/// There was a capture in this process: C functions ask.
static ON: AtomicBool = AtomicBool::new(false);

/// Whether anything was ever captured.
pub(crate) fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Writes a folder.
pub(crate) struct Recorder {
    folder: PathBuf,
    process: u32,
    /// Held for the whole of a launch; its number.
    launches: Mutex<u32>,
    list: Mutex<File>,
    /// Something could not be written: the capture has ended.
    failed: AtomicBool,
}

/// Begins a capture in a folder, or says in the log why not.
pub(crate) fn begin(path: &Path) -> Option<Arc<Recorder>> {
    let process = std::process::id();
    let folder = PathBuf::from(path.to_string_lossy().replace("%p", &process.to_string()));
    let mut begun = BEGUN.lock();
    if let Some(known) = begun.iter().find(|known| known.folder == folder) {
        if known.process != process {
            log::warn!(
                "CAL_CAPTURE: {} is that of the process that forked this one; %p in the name stands for the process",
                folder.display()
            );
            return None;
        }
        return Some(Arc::clone(known));
    }
    match Recorder::new(folder.clone(), process) {
        Ok(recorder) => {
            let recorder = Arc::new(recorder);
            begun.push(Arc::clone(&recorder));
            ON.store(true, Ordering::Relaxed);
            Some(recorder)
        }
        Err(e) => {
            log::warn!("CAL_CAPTURE: {}: {e}; nothing is captured", folder.display());
            None
        }
    }
}

impl Recorder {
    fn new(folder: PathBuf, process: u32) -> std::io::Result<Self> {
        for part in [KERNELS, DATA] {
            std::fs::create_dir_all(folder.join(part))?;
        }
        let list = Mutex::new(File::create(folder.join(LIST))?);
        let recorder =
            Self { folder, process, launches: Mutex::new(0), list, failed: AtomicBool::new(false) };
        let program = std::env::current_exe().ok();
        let program = program.as_deref().and_then(Path::file_name);
        recorder.write(&Record::Capture(Head {
            version: VERSION,
            program: program.map_or_else(|| "program".into(), |name| name.to_string_lossy().into_owned()),
            process,
            recal: env!("CARGO_PKG_VERSION").into(),
        }))?;
        Ok(recorder)
    }

    /// Whether there is still something to be written: not in children of `fork`, and not behind an error.
    fn writes(&self) -> bool {
        self.process == std::process::id() && !self.failed.load(Ordering::Relaxed)
    }

    fn write(&self, record: &Record) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        self.list.lock().write_all(&line)
    }

    /// Writes a line. A full disk is not the program's problem, but is told once.
    fn note(&self, record: &Record) {
        self.check(self.write(record));
    }

    fn check<T>(&self, outcome: std::io::Result<T>) -> Option<T> {
        match outcome {
            Ok(value) => Some(value),
            Err(e) => {
                if !self.failed.swap(true, Ordering::Relaxed) {
                    log::warn!("CAL_CAPTURE: {}: {e}; the capture ends here", self.folder.display());
                }
                None
            }
        }
    }

    /// A C function has returned.
    pub(crate) fn call(&self, line: String) {
        if self.writes() {
            self.note(&Record::Call(line));
        }
    }

    /// Keeps a file once for each content; its name in the folder.
    fn keep(&self, part: &str, kind: &str, bytes: &[u8]) -> Option<String> {
        let hash: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let name = format!("{part}/{hash}.{kind}");
        let path = self.folder.join(&name);
        let length = std::fs::metadata(&path).ok().map(|found| found.len());
        if length == Some(bytes.len() as u64) {
            return Some(name);
        }
        // A file that has its name is whole, whenever the program is killed.
        let half = self.folder.join(format!("{part}/{hash}.part"));
        let written = std::fs::write(&half, bytes).and_then(|()| std::fs::rename(&half, &path));
        self.check(written).map(|()| name)
    }

    /// Submits a launch, and keeps what is bound before and what was written after it.
    pub(crate) fn launch(
        &self,
        module: &Module,
        bound: &Snapshot,
        extent: Extent,
        submit: impl FnOnce() -> Result<Event>,
    ) -> Result<Event> {
        if !self.writes() {
            return submit();
        }
        let mut launches = self.launches.lock();
        let context = module.context();
        let mut launch = self.described(*launches, module, bound);
        launch.set_extent(extent);
        self.note(&Record::Launch(Box::new(launch)));
        let event = submit();
        let error = match &event {
            Ok(event) => event.wait().err(),
            Err(error) => Some(error.clone()),
        };
        let mut done =
            Done { launch: *launches, error: error.map(|e| e.to_string()), written: BTreeMap::new() };
        if done.error.is_none() {
            for (at, (resource, symbols)) in resources(context, bound).into_iter().enumerate() {
                if symbols.iter().any(|s| super::is_written(s))
                    && let Ok(bytes) = contents(context, &resource)
                    && let Some(name) = self.keep(DATA, "bin", &bytes)
                {
                    done.written.insert(at, name);
                }
            }
        }
        self.note(&Record::Done(done));
        *launches += 1;
        event
    }

    fn described(&self, number: u32, module: &Module, bound: &Snapshot) -> Launch {
        let context = module.context();
        let device = context.device();
        let kernel = match module.text() {
            Some(text) => self.keep(KERNELS, "il", text),
            None => self.keep(KERNELS, "ir", module.program().to_string().as_bytes()),
        };
        let held = resources(context, bound).into_iter().map(|(resource, symbols)| {
            let shape = resource.shape();
            let kept = contents(context, &resource);
            let error = kept.as_ref().err().map(Error::to_string);
            if let Some(error) = &error {
                log::warn!("CAL_CAPTURE: launch {number}, {}: {error}", symbols.join(", "));
            }
            Held {
                symbols,
                width: shape.width,
                height: if shape.two_dimensional { shape.height } else { 0 },
                pitch: resource.pitch(),
                format: resource.format().name().into(),
                data: kept.ok().and_then(|bytes| self.keep(DATA, "bin", &bytes)),
                error,
            }
        });
        let counters = module.program().interface.counters.iter();
        Launch {
            number,
            context: context.number(),
            device: device.info().name.clone(),
            target: crate::runtime::target_of(device.info()).name.into(),
            kernel: kernel.unwrap_or_default(),
            domain: None,
            grid: None,
            params: bound.bindings.domain_params.as_deref().map(bits_of),
            samplers: bound
                .bindings
                .samplers
                .iter()
                .map(|(n, state)| (*n, SamplerState::from(state)))
                .collect(),
            counters: counters.filter_map(|&n| Some((n, device.atomic_counter(n).ok()?))).collect(),
            resources: held.collect(),
            done: None,
        }
    }
}

/// What is bound: each resource once, with its symbols.
fn resources(context: &Context, bound: &Snapshot) -> Vec<(Resource, Vec<String>)> {
    let bindings = &bound.bindings;
    let with = |list: &[(u32, recal_hal::Surface)], symbol: fn(u32) -> Symbol| -> Vec<_> {
        list.iter().map(|(n, surface)| (symbol(*n), Arc::clone(&surface.memory))).collect()
    };
    let mut all = with(&bindings.resources, Symbol::Input);
    all.extend(with(&bindings.outputs, Symbol::Output));
    all.extend(with(&bindings.constants, Symbol::Constant));
    all.extend(with(&bindings.uavs, Symbol::Uav));
    all.extend(bindings.global.as_ref().map(|g| (Symbol::Global, Arc::clone(&g.memory))));
    let symbols = |resource: &Resource| {
        let memory = resource.memory_on(context.device());
        let its = all.iter().filter(|(_, m)| memory.is_some_and(|memory| Arc::ptr_eq(memory, m)));
        its.map(|(symbol, _)| symbol.to_string()).collect()
    };
    bound.resources.iter().map(|resource| (resource.clone(), symbols(resource))).collect()
}

/// All rows of a resource, to the pitch, as the context's device sees them behind all work that was submitted with it.
pub(super) fn contents(context: &Context, resource: &Resource) -> Result<Vec<u8>> {
    let device = context.device();
    let memory = resource
        .memory_on(device)
        .ok_or_else(|| Error::failed("the resource belongs to another device than the context"))?;
    resource.wait_idle()?;
    let copy = resource.twin(device)?;
    let twin = copy.memory_on(device).ok_or_else(|| Error::failed("a copy has no memory"))?;
    let whole = |mut surface: recal_hal::Surface| {
        surface.width = surface.pitch;
        surface
    };
    let (src, dst) = (whole(resource.surface(memory)), whole(copy.surface(twin)));
    context.submit(Command::Copy { src, dst }, &[resource.clone(), copy.clone()])?.wait()?;
    Ok(copy.map::<u8>()?.to_vec())
}
