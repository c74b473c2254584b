//! `recal explore`: a page on which a kernel, its programs and its machine code stand side by side.
//!
//! ```text
//! gather  a text to everything that the page shows, as JSON
//! counts  a real run: what each line did, and where the kernel lies under the roof
//! page    JSON to one file of HTML; the parts of it are in page/
//! serve   the page at an address of this machine, compiled again as one types
//! ```

mod counts;
mod gather;
mod page;
mod serve;

use std::path::{Path, PathBuf};

use recal::InstructionSet;
use recal_il::ir::analyze::ASSUMED_ROUNDS;

use crate::analyze::instructions;
use crate::data::{self, Binding};
use crate::files::{is_standard, print, print_json, write};
use crate::kernel::Kernel;
use crate::run::Extent;
use crate::{Outcome, Told};

/// Arguments of `recal explore`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// IL text, or an image (its text for Cypress); `-` = standard input
    #[arg(required_unless_present = "serve")]
    kernel: Option<PathBuf>,
    /// File to write, `-` = standard output; the kernel's name with .html by default
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Serve the page to this machine alone, at this port or a free one, and compile again as one types
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "0", conflicts_with_all = ["output", "json"])]
    serve: Option<u16>,
    /// What a symbol gets, as for `recal run`; with --domain or --grid the kernel runs and is counted
    #[arg(short, long = "bind", value_name = "NAME=VALUE", value_parser = given)]
    bind: Vec<Given>,
    #[command(flatten)]
    extent: Extent,
    /// Instructions of the machine code, as CAL_ISA names them; the best of this processor by default
    #[arg(short, long, value_parser = instructions)]
    isa: Option<InstructionSet>,
    /// Rounds of loops about which constants say nothing, for the table of chips
    #[arg(long, default_value_t = ASSUMED_ROUNDS)]
    trips: u32,
    /// Print what the page shows as JSON instead
    #[arg(long, conflicts_with = "output")]
    pub(crate) json: bool,
}

/// A binding, and as it was written.
#[derive(Clone)]
struct Given {
    text: String,
    binding: Binding,
}

fn given(text: &str) -> Result<Given, String> {
    Ok(Given { text: text.to_owned(), binding: data::binding(text)? })
}

/// What is shown while nothing was typed.
const EXAMPLE: &str = "il_ps_2_0\n\
    dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n\
    dcl_output_generic o0\n\
    mul o0, vWinCoord0.xxxx, vWinCoord0.yyyy\n\
    end\n";

pub(crate) fn explore(arguments: &Arguments) -> Outcome {
    let kernel = match &arguments.kernel {
        Some(path) => Kernel::read(path)?,
        None => Kernel { name: "kernel.il".into(), content: crate::kernel::Content::Text(EXAMPLE.into()) },
    };
    let text = kernel.text(recal::target::CYPRESS)?;
    if let Some(port) = arguments.serve {
        return serve::serve(arguments, port, &kernel.name, text);
    }
    let found = gather::gather(arguments, &kernel.name, text);
    if arguments.json {
        print_json(&found)?;
    } else {
        let path = arguments.output.clone().unwrap_or_else(|| beside(&kernel.name));
        write(&path, page::page(&found).as_bytes())?;
        if !is_standard(&path) {
            print(&format!("{}\n", path.display()))?;
        }
    }
    // The page shows what is wrong; so does the command.
    if found["accepted"] == false {
        return match arguments.json {
            true => Err(Told::refused().into()),
            false => Err(kernel.refused(text, recal::diagnose(text, recal::target::CYPRESS)?).into()),
        };
    }
    match found["run"]["error"].as_str() {
        Some(error) => Err(Told(error.into()).into()),
        None => Ok(()),
    }
}

/// The page of a kernel: its name in the folder at hand.
fn beside(name: &str) -> PathBuf {
    let stem = Path::new(name).file_stem().filter(|_| !name.starts_with('<'));
    let mut file = stem.map_or_else(|| "kernel".into(), std::ffi::OsStr::to_os_string);
    file.push(".html");
    file.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_called_like_their_kernels() {
        for (name, page) in [("a/b.il", "b.html"), ("k", "k.html"), ("<standard input>", "kernel.html")] {
            assert_eq!(beside(name), PathBuf::from(page));
        }
    }
}
