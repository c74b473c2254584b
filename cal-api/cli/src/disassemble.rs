//! `recal disassemble`: what is in an image, or a text in canonical form.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::Outcome;
use crate::files::{print, print_json};
use crate::kernel::{Content, Kernel};

/// Arguments of `recal disassemble`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Image or IL text; `-` = standard input
    file: PathBuf,
    /// Print the listing as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn disassemble(arguments: &Arguments) -> Outcome {
    let kernel = Kernel::read(&arguments.file)?;
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (kind, programs): (_, Vec<Value>) = match &kernel.content {
        Content::Image(image) => {
            let named = |e: recal::Error| format!("{}: {e}", kernel.name);
            if !arguments.json {
                let mut listing = String::new();
                image.disassemble(|line| listing += line).map_err(named)?;
                return print(&listing);
            }
            let program = |l: &recal::Listing| {
                json!({
                    "target": l.target.to_ascii_lowercase(), "stage": if l.compute { "compute" } else { "pixel" },
                    "il": lines(&l.il), "isa": l.isa.as_deref().map(lines), "spirv": l.spirv.as_deref().map(lines),
                })
            };
            ("image", image.listings().map_err(named)?.iter().map(program).collect())
        }
        Content::Text(text) => {
            let ast = recal_il::text::parse(text).map_err(|found| kernel.refused(text, found))?;
            let il = recal_il::text::print(&ast);
            if !arguments.json {
                return print(&il);
            }
            let stage = format!("{:?}", ast.header.stage).to_ascii_lowercase();
            (
                "il",
                vec![json!({ "target": null, "stage": stage, "il": lines(&il), "isa": null, "spirv": null })],
            )
        }
    };
    print_json(&json!({ "file": kernel.name, "kind": kind, "programs": programs }))
}
