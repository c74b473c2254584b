//! The JSON of Chrome's tracer: an array of events. A reader takes an array without its end, too.

use std::io::Write as _;

use recal_hal::timeline::Span;

use super::{Drawn, Form};

pub(super) struct Chrome;

/// A text as JSON has it.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}

/// Microseconds, as the format wants them.
fn micro(nanoseconds: u64) -> String {
    format!("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000)
}

/// An event behind others; writing to memory does not fail.
macro_rules! put {
    ($out:expr, $($text:tt)*) => { drop(write!($out, $($text)*)) };
}

impl Form for Chrome {
    fn begin(&self, out: &mut Vec<u8>, process: u32, name: &str) {
        let name = quoted(name);
        put!(
            out,
            "[\n{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{process},\"tid\":0,\"args\":{{\"name\":{name}}}}}"
        );
    }

    fn track(&self, out: &mut Vec<u8>, track: &Drawn<'_>) {
        let Drawn { process, number, .. } = track;
        let name = quoted(track.name);
        put!(
            out,
            ",\n{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{process},\"tid\":{number},\"args\":{{\"name\":{name}}}}}"
        );
    }

    fn span(&self, out: &mut Vec<u8>, track: &Drawn<'_>, span: &Span<'_>, [start, end]: [u64; 2]) {
        let Drawn { process, number, .. } = track;
        let details: Vec<String> =
            span.details.iter().map(|(name, value)| format!("{}:{}", quoted(name), quoted(value))).collect();
        let (name, at, took) = (quoted(span.name), micro(start), micro(end.saturating_sub(start)));
        put!(
            out,
            ",\n{{\"ph\":\"X\",\"name\":{name},\"cat\":\"{}\",\"pid\":{process},\"tid\":{number},\"ts\":{at},\"dur\":{took},\"args\":{{{}}}}}",
            span.kind,
            details.join(",")
        );
        // An arrow leaves the span that is open at its time on its row, and ends at the one that is open there then.
        let leaves = span.leaves.iter().map(|flow| ("\"s\"", flow));
        for (phase, flow) in leaves.chain(span.arrives.iter().map(|flow| ("\"f\",\"bp\":\"e\"", flow))) {
            put!(
                out,
                ",\n{{\"ph\":{phase},\"id\":{flow},\"name\":\"command\",\"cat\":\"flow\",\"pid\":{process},\"tid\":{number},\"ts\":{at}}}"
            );
        }
    }

    fn end(&self) -> &'static [u8] {
        b"\n]\n"
    }
}
