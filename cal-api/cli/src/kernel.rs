//! The kernel on a command line: IL text, or an image or object that holds some.

use std::error::Error;
use std::fmt;
use std::path::Path;

use recal::{Context, Diagnostic, Image, Module, Object, Severity};
use recal_il::diagnostic::{Label, Span, position, render, render_coloured};
use serde_json::{Value, json};

use crate::{Outcome, files};

/// A kernel, and what it is called in messages.
pub(crate) struct Kernel {
    pub(crate) name: String,
    pub(crate) content: Content,
}

/// What was in the file.
pub(crate) enum Content {
    Text(Vec<u8>),
    Image(Image),
}

/// A kernel on a device.
pub(crate) struct Loaded {
    pub(crate) module: Module,
    /// The text that was loaded.
    pub(crate) text: Vec<u8>,
    pub(crate) warnings: Vec<Diagnostic>,
}

impl Kernel {
    pub(crate) fn read(path: &Path) -> Outcome<Kernel> {
        let (name, bytes) = (files::name(path), files::read(path)?);
        let content = match bytes.starts_with(b"\x7fELF") {
            true => Content::Image(Image::from_bytes(&bytes).map_err(|e| format!("{name}: {e}"))?),
            false => Content::Text(bytes),
        };
        Ok(Kernel { name, content })
    }

    /// The text for a target, a value of `CALtarget`.
    pub(crate) fn text(&self, target: u32) -> Outcome<&[u8]> {
        match &self.content {
            Content::Text(text) => Ok(text),
            Content::Image(image) => Ok(image.text(target).map_err(|e| format!("{}: {e}", self.name))?),
        }
    }

    /// Compiles for a target, and what there is to say about it.
    pub(crate) fn object(&self, target: u32) -> Outcome<(Object, Vec<Diagnostic>)> {
        let text = self.text(target)?;
        let found = recal::diagnose(text, target)?;
        if found.iter().any(|d| d.severity == Severity::Error) {
            return Err(self.refused(text, found).into());
        }
        Ok((recal::compile(text, target).map_err(|e| format!("{}: {e}", self.name))?, found))
    }

    /// Loads into a context; warnings are told at once unless they go into JSON.
    pub(crate) fn load(&self, context: &Context, json: bool) -> Outcome<Loaded> {
        let target = context.device().info().target;
        let (object, warnings) = self.object(target)?;
        let text = self.text(target)?.to_vec();
        if !json {
            self.tell(&warnings, &text);
        }
        Ok(Loaded { module: context.load(&object.into())?, text, warnings })
    }

    /// Tells warnings on standard error.
    pub(crate) fn tell(&self, found: &[Diagnostic], text: &[u8]) {
        files::say(&shown(found, text, &self.name));
    }

    /// The error that says why the text is not accepted.
    pub(crate) fn refused(&self, text: &[u8], found: Vec<Diagnostic>) -> Refused {
        Refused { name: self.name.clone(), text: text.to_vec(), found }
    }
}

/// A kernel that is not accepted.
#[derive(Debug)]
pub(crate) struct Refused {
    name: String,
    text: Vec<u8>,
    found: Vec<Diagnostic>,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = shown(&self.found, &self.text, &self.name);
        write!(f, "{}: the kernel is not accepted\n{}", self.name, shown.trim_end())
    }
}

impl Error for Refused {}

impl Refused {
    pub(crate) fn json(&self) -> Value {
        json!({
            "error": "the kernel is not accepted",
            "file": self.name,
            "diagnostics": diagnostics(&self.found, &self.text),
        })
    }
}

/// What is said on standard error: in colour if that is a terminal which wants it (`NO_COLOR`, `CLICOLOR_FORCE`).
fn shown(found: &[Diagnostic], text: &[u8], name: &str) -> String {
    match anstream::AutoStream::choice(&std::io::stderr()) {
        anstream::ColorChoice::Never => render(found, text, name),
        _ => render_coloured(found, text, name),
    }
}

/// Diagnostics and their places.
pub(crate) fn diagnostics(found: &[Diagnostic], text: &[u8]) -> Value {
    found.iter().map(|d| diagnostic(d, text)).collect()
}

fn diagnostic(d: &Diagnostic, text: &[u8]) -> Value {
    let (line, column) = position(text, d.span.start);
    let label = |label: &Label| {
        let (line, column) = position(text, label.span.start);
        let (start, end) = (label.span.start, label.span.end);
        json!({ "text": label.text, "line": line, "column": column, "start": start, "end": end })
    };
    let suggestion = d.suggestion.as_ref().map(|suggestion| {
        let edit = |(span, replacement): &(Span, String)| {
            json!({ "start": span.start, "end": span.end, "replacement": replacement })
        };
        let edits: Vec<Value> = suggestion.edits.iter().map(edit).collect();
        json!({ "message": suggestion.message, "edits": edits })
    });
    json!({
        "severity": d.severity.name(), "rule": d.rule, "message": d.message, "note": d.note,
        "line": line, "column": column, "start": d.span.start, "end": d.span.end,
        "labels": d.labels.iter().map(label).collect::<Vec<_>>(), "suggestion": suggestion,
    })
}
