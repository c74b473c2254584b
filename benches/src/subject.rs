//! Our side: a case on a device of this project.

use recal::{
    Config, Context, Device, Domain, Event, FloatMode, Format, Grid, Mem, Module, Name, Place, Resource,
    Runtime,
};

use crate::case::{Case, Threads};
use crate::measure::{Result, Runner};

/// A device of ours.
pub struct Ours {
    /// For tables: `cpu`, `vulkan`.
    pub label: String,
    /// Opened.
    pub device: Device,
    /// Its queue.
    pub context: Context,
}

impl Ours {
    /// The CPU device, or a Vulkan device by name.
    pub fn open(label: &str, vulkan: Option<&str>) -> Result<Ours> {
        let (mut config, _) = Config::from_env();
        config.backends = vec![if vulkan.is_some() { "vulkan" } else { "cpu" }.into()];
        config.vulkan_device = vulkan.map(str::to_owned);
        if vulkan.is_some() && config.float == FloatMode::Default {
            config.float = FloatMode::Native;
        }
        let runtime = Runtime::with_config(config)?;
        let device = runtime.open(0)?;
        let context = device.create_context()?;
        Ok(Ours { label: label.into(), device, context })
    }

    /// Loads a kernel.
    pub fn load(&self, il: &str) -> Result<Module> {
        Ok(self.context.load(&recal::compile(il, self.device.info().target)?.into())?)
    }

    /// Prepares a case.
    pub fn prepare(&self, case: &Case) -> Result<Subject> {
        let module = self.load(&case.il)?;
        let mut resources = Vec::new();
        for buffer in &case.buffers {
            let resource = match buffer.height {
                0 => self.device.allocate_buffer(buffer.width, buffer.format, Place::Local)?,
                height => self.device.allocate_2d(buffer.width, height, buffer.format, Place::Local)?,
            };
            if !buffer.words.is_empty() {
                let row = (buffer.width * buffer.format.bytes() / 4) as usize;
                for (to, from) in resource.map::<u32>()?.rows_mut().zip(buffer.words.chunks(row)) {
                    to[..from.len()].copy_from_slice(from);
                }
            }
            module.bind(&buffer.name, &resource)?;
            resources.push(resource);
        }
        let mut constants = Vec::new();
        for step in case.steps.iter().filter(|step| !step.constants.is_empty()) {
            let rows = step.constants.len().div_ceil(4) as u32;
            let resource = self.device.allocate_1d(rows, Format::UnsignedInt32x4, Place::Remote)?;
            resource.map::<u32>()?[..step.constants.len()].copy_from_slice(&step.constants);
            constants.push(self.context.mem(&resource)?);
        }
        let name = if constants.is_empty() { None } else { Some(module.name("cb0")?) };
        if let (Some(name), Some(first)) = (&name, constants.first()) {
            name.bind(first)?;
        }
        Ok(Subject {
            who: self.label.clone(),
            context: self.context.clone(),
            module,
            resources,
            constants,
            name,
            threads: case.threads,
        })
    }
}

/// A case that is ready to run.
pub struct Subject {
    who: String,
    context: Context,
    module: Module,
    resources: Vec<Resource>,
    constants: Vec<Mem>,
    name: Option<Name>,
    threads: Threads,
}

impl Subject {
    fn launch(&self) -> Result<Event> {
        Ok(match self.threads {
            Threads::Domain(width, height) => self.context.run(&self.module, Domain::of(width, height))?,
            Threads::Grid(groups, block) => self.context.run_grid(&self.module, Grid { block, groups })?,
        })
    }
}

impl Runner for Subject {
    fn who(&self) -> String {
        self.who.clone()
    }

    fn run(&mut self, times: u32) -> Result<()> {
        let mut last = None;
        for _ in 0..times {
            if let (Some(name), true) = (&self.name, self.constants.len() > 1) {
                for constants in &self.constants {
                    name.bind(constants)?;
                    last = Some(self.launch()?);
                }
            } else {
                last = Some(self.launch()?);
            }
        }
        if let Some(event) = last {
            event.wait()?;
        }
        Ok(())
    }

    fn read(&mut self) -> Result<Vec<Vec<u32>>> {
        let mut all = Vec::new();
        for resource in &self.resources {
            all.push(resource.map::<u32>()?.rows().flatten().copied().collect());
        }
        Ok(all)
    }
}
