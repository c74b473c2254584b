//! `recal compile`: IL text to an image, or only what is wrong with it.

use std::path::PathBuf;

use recal::target::{TARGETS, Target};
use recal::{Diagnostic, Image, Severity};
use serde_json::json;

use crate::files::{is_standard, print, print_json, write};
use crate::kernel::{Kernel, diagnostics};
use crate::{Outcome, Told};

/// Arguments of `recal compile`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// IL text, or an image whose text is compiled again; `-` = standard input
    kernel: PathBuf,
    /// Image to write; `-` = standard output
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Device by name or number, e.g. cypress, rv770, 8; several make an image for each
    #[arg(short, long, default_value = "cypress", value_parser = target)]
    target: Vec<Target>,
    /// Print what there is to say as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A device of the time, by any of its names: one list for all commands.
pub(crate) fn target(text: &str) -> Result<Target, String> {
    Target::parse(text).ok_or_else(|| {
        let names: Vec<_> = TARGETS.iter().map(|t| t.name.to_ascii_lowercase()).collect();
        format!("no such device; there are {}", names.join(", "))
    })
}

pub(crate) fn compile(arguments: &Arguments) -> Outcome {
    let Arguments { kernel, output, target: targets, json } = arguments;
    let output = output.as_deref();
    if *json && output.is_some_and(is_standard) {
        return Err("--json and -o - both want standard output".into());
    }
    let kernel = Kernel::read(kernel)?;
    if *json {
        let mut found: Vec<Diagnostic> = Vec::new();
        let mut shown = Vec::new();
        for target in targets {
            let text = kernel.text(target.value)?;
            for more in recal::diagnose(text, target.value)? {
                if !found.contains(&more) {
                    shown.push(diagnostics(std::slice::from_ref(&more), text)[0].clone());
                    found.push(more);
                }
            }
        }
        let accepted = found.iter().all(|d| d.severity != Severity::Error);
        print_json(&json!({
            "file": kernel.name,
            "accepted": accepted,
            "targets": targets.iter().map(|t| t.name.to_ascii_lowercase()).collect::<Vec<_>>(),
            "output": output.filter(|_| accepted).map(|path| path.display().to_string()),
            "diagnostics": shown,
        }))?;
        if !accepted {
            return Err(Told::refused().into());
        }
    }
    let mut objects = Vec::new();
    let mut told: Vec<Diagnostic> = Vec::new();
    for target in targets {
        let compiled = kernel.object(target.value).map_err(|e| match targets.len() {
            1 => e,
            _ => format!("for {}: {e}", target.name.to_ascii_lowercase()).into(),
        });
        let (object, mut warnings) = compiled?;
        warnings.retain(|warning| !told.contains(warning));
        if !json {
            kernel.tell(&warnings, kernel.text(target.value)?);
        }
        told.extend(warnings);
        objects.push(object);
    }
    let image = Image::link(&objects.iter().collect::<Vec<_>>())?;
    match output {
        Some(path) => write(path, image.as_bytes()),
        None if *json => Ok(()),
        None => print(&format!("{}: accepted\n", kernel.name)),
    }
}
