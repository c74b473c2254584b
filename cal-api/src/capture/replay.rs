//! Reading a capture, and running its launches again.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::recorder::contents;
use super::{Done, Head, Held, LIST, Launch, Record, VERSION};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::launch::Threads;
use crate::module::Module;
use crate::resource::{Place, Resource, Shape};
use crate::{Format, compile};

/// A folder that `CAL_CAPTURE` filled.
#[derive(Debug)]
pub struct Capture {
    folder: PathBuf,
    head: Head,
    launches: Vec<Launch>,
    calls: Vec<String>,
    cut: bool,
}

/// A launch on a device, with everything bound.
#[derive(Debug)]
pub struct Prepared {
    module: Module,
    /// In the order of [`Launch::resources`].
    resources: Vec<Resource>,
    launch: Launch,
}

impl Capture {
    /// Reads the list of a folder; kernels and contents are read as they are wanted.
    pub fn open(folder: impl AsRef<Path>) -> Result<Capture> {
        let folder = folder.as_ref();
        let path = folder.join(LIST);
        let named = |e: &dyn std::fmt::Display| Error::failed(format!("{}: {e}", path.display()));
        let text = std::fs::read(&path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => {
                named(&"it is not there: CAL_CAPTURE of a program that begins fills the folder")
            }
            _ => named(&e),
        })?;
        let mut lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
        // Behind the last newline is nothing, or what a program that was killed left of a line.
        let cut = lines.pop().is_some_and(|rest| !rest.is_empty());
        let mut records = Vec::new();
        for (number, line) in lines.into_iter().enumerate() {
            let record: Record =
                serde_json::from_slice(line).map_err(|e| named(&format_args!("line {}: {e}", number + 1)))?;
            records.push(record);
        }
        let mut records = records.into_iter();
        let Some(Record::Capture(head)) = records.next() else {
            return Err(named(&"it does not begin as a capture"));
        };
        if head.version != VERSION {
            let version = head.version;
            return Err(named(&format_args!("version {version}, but this library reads version {VERSION}")));
        }
        let mut capture =
            Capture { folder: folder.to_owned(), head, launches: Vec::new(), calls: Vec::new(), cut };
        for record in records {
            match record {
                Record::Capture(_) => return Err(named(&"two captures in one list")),
                Record::Call(line) => capture.calls.push(line),
                Record::Launch(launch) => capture.launches.push(*launch),
                Record::Done(done) => {
                    let of = |launch: &&mut Launch| launch.number == done.launch;
                    let launch = capture.launches.iter_mut().rev().find(of);
                    launch.ok_or_else(|| named(&"the end of a launch that did not begin"))?.done = Some(done);
                }
            }
        }
        Ok(capture)
    }

    /// The program.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The launches, in order.
    pub fn launches(&self) -> &[Launch] {
        &self.launches
    }

    /// The C functions that were called, with arguments and results; nothing of a Rust program.
    pub fn calls(&self) -> &[String] {
        &self.calls
    }

    /// The program ended in the middle: of a line, or of the last launch.
    pub fn is_cut_off(&self) -> bool {
        self.cut || self.launches.last().is_some_and(|launch| launch.done.is_none())
    }

    /// The kernel of a launch: IL text, or a program as text if its file ends with `.ir`.
    pub fn kernel(&self, launch: &Launch) -> Result<Vec<u8>> {
        self.file(&launch.kernel)
    }

    /// What a launch left in a resource when it was captured; none if it did not end, or failed.
    pub fn written(&self, launch: &Launch, resource: usize) -> Result<Option<Vec<u8>>> {
        let name = launch.done.as_ref().and_then(|done: &Done| done.written.get(&resource));
        name.map(|name| self.file(name)).transpose()
    }

    /// A file of the folder, which must be what its name says.
    fn file(&self, name: &str) -> Result<Vec<u8>> {
        let path = self.folder.join(name);
        let failed = |why: &dyn std::fmt::Display| Error::failed(format!("{}: {why}", path.display()));
        let (folder, file) = name.split_once('/').unwrap_or_default();
        if ![super::KERNELS, super::DATA].contains(&folder) || file.contains(['/', '\\']) {
            return Err(Error::failed(format!("`{name}` is no name of a file of a capture")));
        }
        let bytes = std::fs::read(&path).map_err(|e| failed(&e))?;
        let hash: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        if !file.starts_with(&hash) {
            log::warn!("{}: the contents have changed since they were captured", path.display());
        }
        Ok(bytes)
    }

    /// Loads the kernel of a launch, allocates and fills what was bound, and binds it.
    pub fn prepare(&self, launch: &Launch, context: &Context) -> Result<Prepared> {
        let text = self.kernel(launch)?;
        self.prepare_with(launch, &text, context)
    }

    /// The same with another kernel in place of the captured one: what it does not declare stays unbound.
    pub fn prepare_with(&self, launch: &Launch, text: &[u8], context: &Context) -> Result<Prepared> {
        let in_launch = |e: Error| e.context(format_args!("launch {}", launch.number));
        let device = context.device();
        let module = match launch.kernel.ends_with(".ir") && recal_il::ir::text::is_program(text) {
            true => {
                let program = recal_il::ir::text::parse(text)
                    .map_err(|found| in_launch(crate::compiler::refused(&found, text)))?;
                context.load_program(program.into())
            }
            false => compile(text, device.info().target).and_then(|object| context.load(&object.into())),
        }
        .map_err(in_launch)?;
        let mut resources = Vec::with_capacity(launch.resources.len());
        for held in &launch.resources {
            let named = |e: Error| in_launch(e.context(held.symbols.join(", ")));
            let resource = held.allocate(context).map_err(named)?;
            self.fill(held, &resource).map_err(named)?;
            for symbol in &held.symbols {
                if module.symbols().iter().any(|known| known.to_string() == *symbol) {
                    module.bind(symbol, &resource).map_err(named)?;
                }
            }
            resources.push(resource);
        }
        for (number, state) in &launch.samplers {
            let sampler = state
                .sampler()
                .ok_or_else(|| in_launch(Error::failed(format!("s{number}: there is no such wrap mode"))))?;
            if let Ok(name) = module.name(&format!("s{number}")) {
                name.set_sampler(sampler)?;
            }
        }
        Ok(Prepared { module, resources, launch: launch.clone() })
    }

    fn fill(&self, held: &Held, resource: &Resource) -> Result<()> {
        let Some(name) = &held.data else {
            let why = held.error.as_deref().unwrap_or("the capture has no contents of it");
            return Err(Error::failed(why));
        };
        let bytes = self.file(name)?;
        let mut map = resource.map::<u8>()?;
        if bytes.len() != map.len() {
            return Err(Error::failed(format!(
                "{name}: {} bytes, but the resource has {}",
                bytes.len(),
                map.len()
            )));
        }
        map.copy_from_slice(&bytes);
        Ok(())
    }
}

impl Held {
    fn allocate(&self, context: &Context) -> Result<Resource> {
        let format = Format::named(&self.format)
            .ok_or_else(|| Error::failed(format!("there is no format {}", self.format)))?;
        let shape = match self.height {
            0 => Shape::line(self.width, format),
            height => Shape::rows(self.width, height, format),
        };
        Resource::with_pitch(context.device(), shape, self.pitch, Place::Local)
    }
}

impl Prepared {
    /// The module, with everything bound.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Launches, and waits for the end.
    pub fn run(&self) -> Result<()> {
        let in_launch = |e: Error| e.context(format_args!("launch {}", self.launch.number));
        let context = self.module.context();
        for (&uav, &value) in &self.launch.counters {
            context.device().set_atomic_counter(uav, value).map_err(in_launch)?;
        }
        let event = match (self.launch.threads(), self.launch.domain_params()) {
            (Threads::Domain(domain), None) => context.run(&self.module, domain),
            (Threads::Domain(domain), Some(params)) => context.run_with_params(&self.module, domain, params),
            (Threads::Grid(grid), _) => context.run_grid(&self.module, grid),
        };
        event.and_then(|event: Event| event.wait()).map_err(in_launch)
    }

    /// What is now in a resource of the launch, all rows to the pitch, by its place in [`Launch::resources`].
    pub fn contents(&self, resource: usize) -> Result<Vec<u8>> {
        let found = self.resources.get(resource);
        let found =
            found.ok_or_else(|| Error::invalid(format!("resource: {resource} is beyond the launch's")))?;
        contents(self.module.context(), found)
    }
}
