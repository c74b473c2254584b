//! Programs: built when they are used first, and what is bound to them.

use std::collections::VecDeque;

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
    /// What was used longest ago comes first; the queue works in order, so it is done first too.
    kept: VecDeque<Kept>,
}

struct Kept {
    resource: Resource,
    mem: Mem,
    values: Vec<[u32; 4]>,
    event: Option<Event>,
}

/// Values that are kept in case they come again.
const KEPT: usize = 16;
/// Values of launches in flight; a launch with further ones waits for the first.
const IN_FLIGHT: usize = 64;

impl CalDevice {
    pub(crate) fn load(&self, name: &str, image: &str) -> Result<Program> {
        let failed =
            |e: recal::Error| Failure::cal(Code::Kernel, &format!("the program `{}`", name.trim()), &e);
        let object = recal::compile(image, self.device.info().target).map_err(failed)?;
        let module = self.context.load(&object.into()).map_err(failed)?;
        let numbered =
            |letter: &str| (0..).map_while(|n| module.name(&format!("{letter}{n}")).ok()).collect::<Vec<_>>();
        let constants =
            numbered("cb").into_iter().map(|name| Constants { name, kept: VecDeque::new() }).collect();
        let store = module.name("uav0").ok();
        Ok(Program { inputs: numbered("i"), outputs: numbered("o"), store, constants, module })
    }
}

impl Constants {
    /// Binds values.
    pub(crate) fn bind(
        &mut self,
        device: &recal::Device,
        context: &recal::Context,
        values: &[[u32; 4]],
    ) -> Result<()> {
        let same = self.kept.iter().position(|k| k.values == values);
        let kept = match same.and_then(|at| self.kept.remove(at)) {
            Some(kept) => kept,
            None => self.filled(device, context, values).map_err(failed)?,
        };
        self.name.bind(&kept.mem).map_err(failed)?;
        self.kept.push_back(kept);
        Ok(())
    }

    /// Memory that no launch reads, with the values.
    fn filled(
        &mut self,
        device: &recal::Device,
        context: &recal::Context,
        values: &[[u32; 4]],
    ) -> recal::Result<Kept> {
        let full = self.kept.len() >= IN_FLIGHT;
        // What became of an earlier launch its own streams tell; here it matters only that it is over.
        let over = |event: &Event| {
            event.is_done().unwrap_or(true)
                || (full && {
                    event.wait().ok();
                    true
                })
        };
        let oldest = self.kept.front().filter(|_| self.kept.len() >= KEPT);
        let free = match oldest.is_some_and(|k| k.event.as_ref().is_none_or(over)) {
            true => self.kept.pop_front(),
            false => None,
        };
        let fits = |k: &Kept| k.values.len() == values.len();
        let mut kept = match free.filter(fits) {
            Some(kept) => kept,
            None => {
                let rows = u32::try_from(values.len().max(1)).unwrap_or(u32::MAX);
                let resource = device.allocate_1d(rows, Format::UnsignedInt32x4, Place::Remote)?;
                let mem = context.mem(&resource)?;
                Kept { resource, mem, values: Vec::new(), event: None }
            }
        };
        kept.resource.map::<u32>()?[..values.len() * 4].copy_from_slice(values.as_flattened());
        kept.values = values.to_vec();
        kept.event = None;
        Ok(kept)
    }

    /// The launch that reads what was bound last.
    pub(crate) fn used(&mut self, event: &Event) {
        if let Some(kept) = self.kept.back_mut() {
            kept.event = Some(event.clone());
        }
    }
}

fn failed(e: recal::Error) -> Failure {
    Failure::cal(Code::Kernel, "constants", &e)
}
