//! Builds the C and C++ programs of this folder's neighbours against an installed reCAL and runs them.
//!
//! Every program, header combination, export list and sample is a test with its own name; the usual filters of
//! `cargo test` apply.

mod abi;
mod brook;
mod capture;
mod clients;
mod drivers;
mod map;
mod packages;
mod platforms;
mod programs;
mod samples;
mod timeline;

use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use recal_conformance::toolchain::{Installation, Result};
use recal_needs::{Arguments, Need, Trial};

/// The installation, made when the first test asks for it: listing the tests builds nothing.
#[derive(Clone, Default)]
pub struct Lazy(Arc<OnceLock<Result<Installation>>>);

impl Lazy {
    /// The installation, or why there is none.
    pub fn get(&self) -> Result<&Installation> {
        let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c_programs");
        self.0.get_or_init(|| Installation::new(&scratch)).as_ref().map_err(Clone::clone)
    }
}

/// Makes a test of a function that needs the installation.
pub fn trial<F>(name: String, lazy: &Lazy, test: F) -> Trial
where
    F: FnOnce(&Installation) -> Result<()> + Send + 'static,
{
    needing(name, [], lazy, test)
}

/// The same of one that needs drivers or programs, too.
pub fn needing<F>(name: String, needs: impl IntoIterator<Item = Need>, lazy: &Lazy, test: F) -> Trial
where
    F: FnOnce(&Installation) -> Result<()> + Send + 'static,
{
    let lazy = lazy.clone();
    recal_needs::trial(name, needs, move || lazy.get().and_then(test))
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let lazy = Lazy::default();
    let mut trials = abi::trials(&lazy);
    trials.extend(brook::trials(&lazy));
    trials.extend(capture::trials(&lazy));
    trials.extend(packages::trials(&lazy));
    trials.extend(clients::trials(&lazy));
    trials.extend(programs::trials(&lazy));
    trials.extend(samples::trials(&lazy));
    trials.extend(timeline::trials(&lazy));
    trials.extend(platforms::trials(&lazy));
    let names = trials.iter().map(|t| t.name().to_owned()).collect();
    trials.extend(map::trials(names));
    recal_needs::run(&arguments, trials)
}
