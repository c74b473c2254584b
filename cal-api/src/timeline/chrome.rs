//! The JSON of Chrome's tracer: an array of events. A reader takes an array without its end, too.

use recal_hal::timeline::Span;

use super::{Drawn, Form, told};

#[derive(Default)]
pub(super) struct Chrome {
    /// Memory that is used again.
    text: String,
}

/// A text as JSON has it.
fn quoted(out: &mut Vec<u8>, text: &str) {
    let plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    if text.as_bytes().iter().all(plain) {
        put(out, &["\"", text, "\""]);
    } else {
        serde_json::to_writer(out, text).expect("a text is JSON");
    }
}

/// Texts, one after the other.
fn put(out: &mut Vec<u8>, texts: &[&str]) {
    texts.iter().for_each(|text| out.extend_from_slice(text.as_bytes()));
}

fn number(out: &mut Vec<u8>, number: u64) {
    put(out, &[itoa::Buffer::new().format(number)]);
}

/// Microseconds, as the format wants them.
fn micro(out: &mut Vec<u8>, nanoseconds: u64) {
    number(out, nanoseconds / 1000);
    let rest = (nanoseconds % 1000) as u32;
    let digit = |place: u32| b'0' + (rest / place % 10) as u8;
    out.extend([b'.', digit(100), digit(10), digit(1)]);
}

/// Whose an event is.
fn of(out: &mut Vec<u8>, process: u32, row: u32) {
    put(out, &[",\"pid\":"]);
    number(out, process.into());
    put(out, &[",\"tid\":"]);
    number(out, row.into());
}

/// What a process or a row is called.
fn named(out: &mut Vec<u8>, what: &str, process: u32, row: u32, name: &str) {
    put(out, &["{\"ph\":\"M\",\"name\":\"", what, "\""]);
    of(out, process, row);
    put(out, &[",\"args\":{\"name\":"]);
    quoted(out, name);
    put(out, &["}}"]);
}

impl Form for Chrome {
    fn begin(&mut self, out: &mut Vec<u8>, process: u32, name: &str) {
        put(out, &["[\n"]);
        named(out, "process_name", process, 0, name);
    }

    fn track(&mut self, out: &mut Vec<u8>, track: Drawn, name: &str) {
        put(out, &[",\n"]);
        named(out, "thread_name", track.process, track.number, name);
    }

    fn span(&mut self, out: &mut Vec<u8>, track: Drawn, span: &Span) {
        let Span { start, end, .. } = *span;
        put(out, &[",\n{\"ph\":\"X\",\"name\":"]);
        quoted(out, &span.name);
        put(out, &[",\"cat\":\"", span.kind, "\""]);
        of(out, track.process, track.number);
        put(out, &[",\"ts\":"]);
        micro(out, start);
        put(out, &[",\"dur\":"]);
        micro(out, end.saturating_sub(start));
        self.text.clear();
        if let Some(name) = told(&span.detail, &mut self.text) {
            put(out, &[",\"args\":{"]);
            quoted(out, name);
            put(out, &[":"]);
            quoted(out, &self.text);
            put(out, &["}"]);
        }
        put(out, &["}"]);
        // An arrow leaves the span that is open at its time on its row, and ends at the one that is open there then.
        let leaves = Some(&span.leaves).filter(|flow| **flow > 0).map(|flow| ("\"s\"", flow));
        let arrives = span.arrives.numbers().iter().map(|flow| ("\"f\",\"bp\":\"e\"", flow));
        for (phase, flow) in leaves.into_iter().chain(arrives) {
            put(out, &[",\n{\"ph\":", phase, ",\"id\":"]);
            number(out, *flow);
            put(out, &[",\"name\":\"command\",\"cat\":\"flow\""]);
            of(out, track.process, track.number);
            put(out, &[",\"ts\":"]);
            micro(out, start);
            put(out, &["}"]);
        }
    }

    fn end(&self) -> &'static [u8] {
        b"\n]\n"
    }
}
