//! What is written for the shell: completions, and man pages of the command and of the environment variables.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::roff::{Roff, bold, roman};
use recal::config::VARIABLES;

use crate::files::{print, write};
use crate::{Arguments, Outcome};

/// Prints what a shell reads to complete words after `recal`.
pub(crate) fn completions(shell: Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "recal", &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// Writes `recal.1`, a page for each subcommand, `recal-environment.7`, a page of section 3 for each function of the API, and
/// `amd-il.7`.
pub(crate) fn manual(folder: &Path) -> Outcome {
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    clap_mangen::generate_to(Arguments::command().name("recal"), folder)?;
    for page in recal_manual::man::pages() {
        write(&folder.join(page.file), page.text.as_bytes())?;
    }
    write(&folder.join("recal-environment.7"), environment().as_bytes())
}

/// The table of variables as a page.
fn environment() -> String {
    let mut page = Roff::default();
    page.control("TH", ["recal-environment", "7"]);
    page.control("SH", ["NAME"]);
    page.text([roman("recal-environment - environment variables of CAL programs")]);
    page.control("SH", ["DESCRIPTION"]);
    page.text([roman(
        "Read once, by calInit. A value that is not understood is reported in the log and taken as unset.",
    )]);
    page.control("SH", ["VARIABLES"]);
    for variable in VARIABLES {
        page.control("TP", []);
        page.text([bold(variable.name)]);
        let plain = |text: &str| roman(text.replace('`', ""));
        page.text([plain(variable.doc)]);
        page.control("IP", []);
        page.text([plain(&format!("Values: {}. Default: {}.", variable.values, variable.default))]);
    }
    page.control("SH", ["SEE ALSO"]);
    page.text([bold("recal"), roman("(1)")]);
    page.render()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_variable_has_its_place() {
        let page = super::environment();
        for variable in super::VARIABLES {
            assert!(page.contains(variable.name), "{}", variable.name);
        }
        assert!(page.contains(".TH recal-environment 7"));
    }
}
