//! `recal fmt`: kernels laid out anew.

use std::path::PathBuf;

use recal_il::diagnostic::render;

use crate::files::{is_standard, name, print, read, say, write};
use crate::{Outcome, Told};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Kernels, which are written in place; `-` = from standard input to standard output
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Change nothing; name the files that would change, with status 1
    #[arg(long)]
    check: bool,
}

pub(crate) fn format(arguments: &Arguments) -> Outcome {
    let (mut refused, mut old) = (false, Vec::new());
    for path in &arguments.files {
        let text = read(path)?;
        let laid_out = match recal_il::text::format(&text) {
            Ok(laid_out) => laid_out,
            Err(errors) => {
                say(&render(&errors, &text, &name(path)));
                refused = true;
                continue;
            }
        };
        if arguments.check {
            if laid_out != text {
                old.push(name(path));
            }
        } else if is_standard(path) || laid_out != text {
            write(path, &laid_out)?;
        }
    }
    if refused {
        return Err(Box::new(Told::refused()));
    }
    match old.is_empty() {
        true => Ok(()),
        false => Err(format!("not laid out: {}", old.join(", ")).into()),
    }
}

/// The grammar for editors.
pub(crate) fn grammar() -> Outcome {
    print(&recal_manual::grammar::textmate())
}
