//! What editors speak over: messages of JSON behind their length, on the standard streams of a process.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

/// A `recal` that an editor has started.
pub(crate) struct Wire {
    child: Child,
    from: BufReader<ChildStdout>,
}

impl Wire {
    /// With these arguments, on the CPU.
    pub(crate) fn new(arguments: &[&str]) -> Wire {
        let mut child = Command::new(env!("CARGO_BIN_EXE_recal"))
            .args(arguments)
            .env("CAL_BACKEND", "cpu")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let from = BufReader::new(child.stdout.take().unwrap());
        Wire { child, from }
    }

    /// Sends text as it is.
    pub(crate) fn raw(&mut self, text: &str) {
        let to = self.child.stdin.as_mut().unwrap();
        to.write_all(text.as_bytes()).unwrap();
        to.flush().unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.raw(&format!("Content-Length: {}\r\n\r\n{text}", text.len()));
    }

    pub(crate) fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).unwrap() > 0, "the other side is gone");
            if line == "\r\n" {
                break;
            }
            if let Some(n) = line.strip_prefix("Content-Length: ") {
                length = n.trim().parse().unwrap();
            }
        }
        let mut text = vec![0; length];
        self.from.read_exact(&mut text).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    /// Nothing more is sent.
    pub(crate) fn hang_up(&mut self) {
        drop(self.child.stdin.take());
    }

    /// It ends by itself, and well.
    pub(crate) fn ends(&mut self) {
        assert!(self.child.wait().unwrap().success());
    }
}
