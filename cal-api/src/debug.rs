//! Standing still in a launch: at any instruction of any wave, forwards and backwards.
//!
//! Input: a module with everything bound, the text of its kernel, and a [`Debugger`], which is asked before each instruction of
//! IL that a wave executes and sees registers and memory then. The launch runs on the host, in the calling thread and in
//! the same order each time; stores are made. As for [`Module::trace`], only the CPU backend can do it.

pub use recal_cpu::{Call, Contents, Debugger, Layout, Next, State};
pub use recal_hal::Extent;
pub use recal_il::ir::Builtin;

use crate::error::{Error, Result};
use crate::launch::Threads;
use crate::module::Module;

impl Module {
    /// Runs a launch under a debugger. `text` is what the module was compiled from.
    ///
    /// ```
    /// use recal::debug::{Debugger, Next, State};
    /// use recal::{Domain, Format, Place, Threads};
    /// /// The value of r0.x in the first lane, when the second instruction has run.
    /// struct Look(Option<u32>);
    /// impl Debugger for Look {
    ///     fn step(&mut self, state: &State<'_>) -> Next {
    ///         let (register, _) = state.names().iter().find(|(_, name)| *name == "r0.x").unwrap();
    ///         if state.number() == 3 {
    ///             self.0 = state.register(*register, 0);
    ///             return Next::End;
    ///         }
    ///         Next::Go
    ///     }
    /// }
    /// let runtime = recal::Runtime::with_config(recal::Config { backends: vec!["cpu".into()], ..Default::default() })?;
    /// let device = runtime.open(0)?;
    /// let text = "il_ps_2_0\ndcl_output_generic o0\ndcl_literal l0, 0x2, 0x3, 0x0, 0x0\n\
    ///             mov r0.x, l0.x\niadd r0.x, r0.x, l0.y\nmov o0.x, r0.x\nend\n";
    /// let module = device.create_context()?.load(&recal::compile(text, device.info().target)?.into())?;
    /// module.bind("o0", &device.allocate_2d(4, 4, Format::UnsignedInt32x1, Place::Local)?)?;
    /// let mut look = Look(None);
    /// module.debug(text, Threads::Domain(Domain::of(4, 4)), &mut look)?;
    /// assert_eq!(look.0, Some(5));
    /// # Ok::<(), recal::Error>(())
    /// ```
    pub fn debug(&self, text: impl AsRef<[u8]>, threads: Threads, debugger: &mut dyn Debugger) -> Result<()> {
        let (program, names) = self.watched(text.as_ref())?;
        let extent = self.watched_extent(threads)?;
        self.context().finish()?;
        let bound = self.bound(None)?;
        recal_cpu::debug(&program, names, &bound.bindings, extent, debugger)
            .map_err(|e| Error::backend("debugging a kernel", e))
    }
}
