//! The page at an address of this machine, compiled again as one types.
//!
//! What is typed is compiled by a process of its own, which is ended if it takes too long. Only this machine is served, and only
//! pages that came from here: a page of somebody else's in the same browser gets nothing.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tiny_http::{Header, Method, Request, Response, Server};

use super::{Arguments, gather, page};
use crate::Outcome;
use crate::files::print;

/// Most bytes of a kernel.
const MOST: u64 = 256 << 10;
/// The longest that one is worked on.
const LIMIT: Duration = Duration::from_secs(20);
/// Most requests at a time.
const AT_A_TIME: usize = 8;

pub(super) fn serve(arguments: &Arguments, port: u16, name: &str, text: &[u8]) -> Outcome {
    let server = Server::http(("127.0.0.1", port)).map_err(|e| format!("--serve {port}: {e}"))?;
    let port = server.server_addr().to_ip().map_or(port, |address| address.port());
    let mut first = gather::gather(arguments, name, text);
    first["served"] = true.into();
    let served = Arc::new(Served { port, page: page::served(&first), again: again(arguments) });
    print(&format!("http://127.0.0.1:{port}/\n"))?;
    let busy = Arc::new(AtomicUsize::new(0));
    for request in server.incoming_requests() {
        let (served, busy) = (Arc::clone(&served), Arc::clone(&busy));
        if busy.fetch_add(1, Ordering::Relaxed) >= AT_A_TIME {
            busy.fetch_sub(1, Ordering::Relaxed);
            answer(request, 503, "text/plain", "too many requests at a time");
            continue;
        }
        std::thread::spawn(move || {
            served.request(request);
            busy.fetch_sub(1, Ordering::Relaxed);
        });
    }
    Ok(())
}

struct Served {
    port: u16,
    page: String,
    /// Arguments of the process that compiles.
    again: Vec<String>,
}

/// The arguments that say of standard input what these say of the kernel.
fn again(arguments: &Arguments) -> Vec<String> {
    let mut all: Vec<String> = ["explore", "-", "--json"].map(Into::into).into();
    arguments.bind.iter().for_each(|given| all.extend(["--bind".into(), given.text.clone()]));
    all.extend(arguments.extent.arguments());
    all.extend(["--trips".into(), arguments.trips.to_string()]);
    if let Some(isa) = arguments.isa {
        all.extend(["--isa".into(), isa.name().into()]);
    }
    all
}

/// Sends an answer; whoever is gone has none.
fn answer(request: Request, status: u16, kind: &str, text: &str) {
    let header = |name: &str, value: &str| Header::from_bytes(name, value).ok();
    let headers = [
        header("Content-Type", &format!("{kind}; charset=utf-8")),
        header("X-Content-Type-Options", "nosniff"),
        header("Cache-Control", "no-store"),
    ];
    let mut response = Response::from_string(text).with_status_code(status);
    headers.into_iter().flatten().for_each(|header| response.add_header(header));
    let _ = request.respond(response);
}

impl Served {
    fn request(&self, mut request: Request) {
        let header = |request: &Request, name: &'static str| {
            let found = request.headers().iter().find(|header| header.field.equiv(name));
            found.map(|header| header.value.to_string())
        };
        let (host, origin) = (header(&request, "Host"), header(&request, "Origin"));
        if !self.is_own(host.as_deref(), origin.as_deref()) {
            return answer(request, 403, "text/plain", "this page is for the machine that it runs on");
        }
        match (request.method(), request.url()) {
            (Method::Get, "/") => answer(request, 200, "text/html", &self.page),
            (Method::Post, "/compile") => {
                let mut text = Vec::new();
                if request.as_reader().take(MOST + 1).read_to_end(&mut text).is_err() {
                    return;
                }
                if text.len() as u64 > MOST {
                    let said = format!("a kernel has at most {MOST} bytes here");
                    return answer(request, 413, "application/json", &json!({ "error": said }).to_string());
                }
                answer(request, 200, "application/json", &self.compile(&text).to_string());
            }
            _ => answer(request, 404, "text/plain", "there is nothing here"),
        }
    }

    /// The request names this server, and the page that sends it, if any does, is this server's.
    fn is_own(&self, host: Option<&str>, origin: Option<&str>) -> bool {
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        let own = |name: &str| hosts.iter().any(|host| host == name);
        host.is_some_and(own) && origin.is_none_or(|from| from.strip_prefix("http://").is_some_and(own))
    }

    fn compile(&self, text: &[u8]) -> Value {
        let mut value = match compiled(&self.again, text) {
            Ok(value) => value,
            Err(error) => json!({ "error": error.to_string() }),
        };
        value["served"] = true.into();
        value
    }
}

/// What another process says of a text.
fn compiled(arguments: &[String], text: &[u8]) -> Outcome<Value> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let text = text.to_vec();
    let writer = std::thread::spawn(move || input.map(|mut input| input.write_all(&text)));
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        output.map(|mut output| output.read_to_end(&mut bytes));
        bytes
    });
    let start = Instant::now();
    let ended = loop {
        match child.try_wait()? {
            Some(status) => break Some(status),
            None if start.elapsed() > LIMIT => break None,
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    if ended.is_none() {
        child.kill()?;
        child.wait()?;
    }
    let _ = writer.join();
    let bytes = reader.join().map_err(|_| "the answer could not be read")?;
    match ended {
        None => Err(format!("this took longer than {} s and was ended", LIMIT.as_secs()).into()),
        Some(status) => Ok(serde_json::from_slice(&bytes).map_err(|e| format!("{status}, {e}"))?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_pages_are_answered() {
        let served = Served { port: 81, page: String::new(), again: Vec::new() };
        assert!(served.is_own(Some("127.0.0.1:81"), None));
        assert!(served.is_own(Some("localhost:81"), Some("http://localhost:81")));
        for (host, origin) in [
            (None, None),
            (Some("elsewhere.example:81"), None),
            (Some("127.0.0.1"), None),
            (Some("127.0.0.1:81"), Some("http://elsewhere.example")),
            (Some("127.0.0.1:81"), Some("null")),
        ] {
            assert!(!served.is_own(host, origin), "{host:?} {origin:?}");
        }
    }
}
