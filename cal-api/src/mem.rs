//! A mem: a resource as one context sees it.

use std::sync::Arc;

use recal_hal::sync::Mutex;
use recal_hal::{Memory, Surface};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::resource::Resource;

/// A resource as one context sees it. It keeps the memory alive, also after the resource was freed.
#[derive(Clone)]
pub struct Mem(Arc<Inner>);

struct Inner {
    context: Context,
    /// Gone after `calCtxReleaseMem`.
    seen: Mutex<Option<(Resource, Arc<dyn Memory>)>>,
}

impl PartialEq for Mem {
    fn eq(&self, other: &Mem) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Mem {
    pub(crate) fn new(context: &Context, resource: &Resource) -> Result<Mem> {
        let memory = resource
            .memory_on(context.device())
            .ok_or_else(|| Error::failed("res: the resource belongs to another device than the context"))?;
        let seen = Mutex::new(Some((resource.clone(), Arc::clone(memory))));
        Ok(Mem(Arc::new(Inner { context: context.clone(), seen })))
    }

    /// The context.
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// The resource; `None` after the mem was released.
    pub fn resource(&self) -> Option<Resource> {
        self.0.seen.lock().as_ref().map(|(r, _)| r.clone())
    }

    pub(crate) fn surface(&self) -> Option<(Resource, Surface)> {
        self.0.seen.lock().as_ref().map(|(r, m)| (r.clone(), r.surface(m)))
    }

    /// Lets go of the memory and unbinds the mem everywhere.
    pub fn release(&self) {
        let seen = self.0.seen.lock().take();
        self.0.context.forget_mem(self);
        // The memory goes last, and not while a lock is held.
        drop(seen);
    }
}
