//! Programs: built when they are used first, and what is bound to them.

use recal::{Event, Format, Mem, Module, Name, Place, Resource};

use super::CalDevice;
use crate::error::{Code, Failure, Result};

/// A program of the device.
pub(crate) struct Program {
    pub(crate) module: Module,
    pub(crate) inputs: Vec<Name>,
    pub(crate) outputs: Vec<Name>,
    pub(crate) store: Option<Name>,
    pub(crate) constants: Vec<Constants>,
}

/// A constant buffer: memory with the values of earlier launches, used again when the values are the same or the launch is done.
pub(crate) struct Constants {
    name: Name,
    kept: Vec<Kept>,
}

struct Kept {
    resource: Resource,
    mem: Mem,
    values: Vec<[u32; 4]>,
    event: Option<Event>,
}

/// Constant buffers of one kind that are kept.
const KEPT: usize = 16;

impl CalDevice {
    pub(crate) fn load(&self, name: &str, image: &str) -> Result<Program> {
        let failed =
            |e: recal::Error| Failure::cal(Code::Kernel, &format!("the program `{}`", name.trim()), &e);
        let object = recal::compile(image, self.device.info().target).map_err(failed)?;
        let module = self.context.load(&object.into()).map_err(failed)?;
        let numbered =
            |letter: &str| (0..).map_while(|n| module.name(&format!("{letter}{n}")).ok()).collect::<Vec<_>>();
        let constants = numbered("cb").into_iter().map(|name| Constants { name, kept: Vec::new() }).collect();
        let store = module.name("uav0").ok();
        Ok(Program { inputs: numbered("i"), outputs: numbered("o"), store, constants, module })
    }
}

impl Constants {
    /// Binds values; gives which of the kept buffers has them.
    pub(crate) fn bind(
        &mut self,
        device: &recal::Device,
        context: &recal::Context,
        values: &[[u32; 4]],
    ) -> Result<usize> {
        let failed = |e: recal::Error| Failure::cal(Code::Kernel, "constants", &e);
        let same = self.kept.iter().position(|k| k.values == values);
        let at = match same {
            Some(at) => at,
            None => {
                let free = |k: &Kept| {
                    k.values.len() == values.len()
                        && k.event.as_ref().is_none_or(|e| e.is_done().unwrap_or(true))
                };
                let at = match self.kept.iter().position(free).filter(|_| self.kept.len() >= KEPT) {
                    Some(at) => at,
                    None => {
                        let rows = u32::try_from(values.len().max(1)).unwrap_or(u32::MAX);
                        let resource = device
                            .allocate_1d(rows, Format::UnsignedInt32x4, Place::Remote)
                            .map_err(failed)?;
                        let mem = context.mem(&resource).map_err(failed)?;
                        self.kept.push(Kept { resource, mem, values: Vec::new(), event: None });
                        self.kept.len() - 1
                    }
                };
                let kept = &mut self.kept[at];
                kept.resource.map::<u32>().map_err(failed)?[..values.len() * 4]
                    .copy_from_slice(values.as_flattened());
                kept.values = values.to_vec();
                kept.event = None;
                at
            }
        };
        self.name.bind(&self.kept[at].mem).map_err(failed)?;
        Ok(at)
    }

    pub(crate) fn used(&mut self, at: usize, event: &Event) {
        self.kept[at].event = Some(event.clone());
        // Many launches in flight leave many buffers; those that are done go.
        if self.kept.len() > KEPT {
            let mut seen = 0;
            self.kept.retain(|k| {
                seen += 1;
                seen <= KEPT || !k.event.as_ref().is_none_or(|e| e.is_done().unwrap_or(true))
            });
        }
    }
}
