//! Messages of the Debug Adapter Protocol: a length, an empty line, JSON.

use std::io::{BufRead, Read as _, Write as _};
use std::sync::mpsc::{self, Receiver};

use serde_json::{Value, json};

/// More than any editor sends.
const LONGEST: usize = 64 << 20;
/// Of a line of the head.
const LONGEST_LINE: u64 = 4096;

/// What came in: a message, or why there is none.
pub(crate) type Message = Result<Value, String>;

/// Reads standard input on a thread of its own, so that a running launch can be told to stop.
pub(crate) fn read() -> Receiver<Message> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        while let Some(message) = message(&mut input) {
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    receiver
}

/// The next message; `None` when there are no more, or none can be found any more.
fn message(input: &mut impl BufRead) -> Option<Message> {
    let mut length: Option<Result<usize, String>> = None;
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).ok()?;
        if read == 0 {
            return None;
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            match length.take() {
                Some(Ok(length)) => return body(input, length),
                Some(Err(why)) => return Some(Err(why)),
                // Between two messages.
                None => continue,
            }
        }
        let field = line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        if let Some((_, number)) = field {
            let parsed = number.trim().parse().ok().filter(|length| *length <= LONGEST);
            length = Some(parsed.ok_or_else(|| format!("`{line}` is no length of a message")));
        }
    }
}

fn body(input: &mut impl BufRead, length: usize) -> Option<Message> {
    let mut bytes = Vec::new();
    let read = input.by_ref().take(length as u64).read_to_end(&mut bytes).ok()?;
    if read < length {
        return None;
    }
    Some(serde_json::from_slice(&bytes).map_err(|e| e.to_string()))
}

/// Numbers messages and sends them.
#[derive(Default)]
pub(crate) struct Writer {
    number: u64,
    /// Nobody reads.
    pub(crate) closed: bool,
}

impl Writer {
    fn send(&mut self, mut message: Value) {
        self.number += 1;
        message["seq"] = self.number.into();
        let text = message.to_string();
        let mut out = std::io::stdout().lock();
        let sent = write!(out, "Content-Length: {}\r\n\r\n{text}", text.len()).and_then(|()| out.flush());
        self.closed |= sent.is_err();
    }

    pub(crate) fn event(&mut self, name: &str, body: Value) {
        self.send(json!({ "type": "event", "event": name, "body": body }));
    }

    /// Answers a request: with a body, or with why not.
    pub(crate) fn answer(&mut self, request: &Value, answer: Result<Value, String>) {
        let (number, command) = (&request["seq"], &request["command"]);
        let command = command.as_str().unwrap_or_default();
        let number = number.as_u64().unwrap_or(0);
        let mut message = json!({ "type": "response", "request_seq": number, "command": command, "success": answer.is_ok() });
        match answer {
            Ok(body) => message["body"] = body,
            Err(why) => {
                message["message"] = why.as_str().into();
                message["body"] = json!({ "error": { "id": 1, "format": why, "showUser": true } });
            }
        }
        self.send(message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_is_told_and_the_next_one_is_read() {
        let good = r#"{"seq":1}"#;
        let framed = |body: &str| format!("Content-Length: {}\r\n\r\n{body}", body.len());
        let text = format!(
            "\r\nnonsense\r\nContent-Length: ten\r\n\r\n{}{}content-length:9\r\nOther: x\r\n\r\n{good}Content-Length: 99\r\n\r\n{{",
            framed("{]"),
            framed("\u{fffd}")
        );
        let mut input = text.as_bytes();
        let mut next = || message(&mut input);
        for _ in 0..3 {
            assert!(matches!(next(), Some(Err(_))));
        }
        assert_eq!(next(), Some(Ok(json!({ "seq": 1 }))));
        assert_eq!(next(), None, "the last one ends too early");
        let mut long = "Content-Length: 99999999999\r\n\r\n".as_bytes();
        assert!(matches!(message(&mut long), Some(Err(_))));
        // A head without end is read line by line, and never as a whole.
        let endless = vec![b'x'; 1 << 16];
        assert_eq!(message(&mut &endless[..]), None);
    }
}
