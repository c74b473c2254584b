//! A browser without a window, told what to do through a pair of pipes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The longest that an answer takes, on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(120);

/// A browser with one page.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    session: String,
    number: u64,
    /// What the page complained about.
    pub complaints: Vec<String>,
    /// What it asked for.
    pub requests: Vec<String>,
}

impl Browser {
    /// Starts it; what it keeps goes into the folder.
    pub fn start(folder: &Path) -> Browser {
        let mut command = Command::new("sh");
        // The browser listens at number 3 and answers at number 4.
        command.arg("-c").arg("exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1");
        command.args([
            "chromium",
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--no-first-run",
            "--hide-scrollbars",
            "--remote-debugging-pipe",
        ]);
        command.arg(format!("--user-data-dir={}", folder.display()));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (to, out) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, from) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(out).split(0).map_while(Result::ok) {
                let Ok(value) = serde_json::from_slice(&message) else { continue };
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        let mut browser = Browser {
            child,
            to,
            from,
            session: String::new(),
            number: 0,
            complaints: Vec::new(),
            requests: Vec::new(),
        };
        let target = browser.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let attached = json!({ "targetId": target["targetId"], "flatten": true });
        browser.session =
            browser.ask("Target.attachToTarget", attached)["sessionId"].as_str().unwrap().into();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Asks for something and waits for the answer; notes what the page says meanwhile.
    pub fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let mut message = json!({ "id": self.number, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.clone().into();
        }
        self.to.write_all(message.to_string().as_bytes()).unwrap();
        self.to.write_all(&[0]).unwrap();
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let got = self.from.recv_timeout(left).unwrap_or_else(|e| panic!("{method}: {e}"));
            if got["id"] == self.number {
                assert!(got["error"].is_null(), "{method}: {got}");
                return got["result"].clone();
            }
            let said = &got["params"];
            match got["method"].as_str() {
                Some("Runtime.exceptionThrown") => self.complaints.push(said.to_string()),
                Some("Runtime.consoleAPICalled") if said["type"] == "error" || said["type"] == "warning" => {
                    self.complaints.push(said.to_string());
                }
                Some("Log.entryAdded") if said["entry"]["level"] == "error" => {
                    self.complaints.push(said.to_string());
                }
                Some("Network.requestWillBeSent") => {
                    self.requests.push(said["request"]["url"].as_str().unwrap_or_default().into());
                }
                _ => {}
            }
        }
    }

    /// A window of this size, and what its system says of lightness.
    pub fn window(&mut self, width: u32, height: u32, scheme: &str) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.ask("Emulation.setDeviceMetricsOverride", size);
        let scheme = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.ask("Emulation.setEmulatedMedia", json!({ "features": scheme }));
    }

    pub fn open(&mut self, address: &str) {
        self.ask("Page.navigate", json!({ "url": address }));
        self.until("document.readyState === 'complete' && document.querySelector('.line') !== null");
    }

    /// The value of an expression in the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let answer = self.ask("Runtime.evaluate", json!({ "expression": expression, "returnByValue": true }));
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub fn until(&mut self, expression: &str) {
        let end = Instant::now() + PATIENCE;
        while self.value(expression) != true {
            assert!(Instant::now() < end, "{expression} does not become true");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Moves the pointer over an element.
    pub fn point(&mut self, element: &str) {
        let place = format!(
            "(() => {{ const e = {element}; e.scrollIntoView({{ block: 'center' }}); const b = e.getBoundingClientRect(); \
             return [b.left + 12, b.top + b.height / 2]; }})()"
        );
        let place = self.value(&place);
        let moved = json!({ "type": "mouseMoved", "x": place[0], "y": place[1] });
        self.ask("Input.dispatchMouseEvent", moved);
    }

    /// Presses a key.
    pub fn press(&mut self, key: &str, code: u32) {
        for kind in ["keyDown", "keyUp"] {
            let event = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            self.ask("Input.dispatchKeyEvent", event);
        }
    }

    /// The page as a picture, in base 64; `whole`: also what is below the window.
    pub fn picture(&mut self, whole: bool) -> String {
        let wanted = json!({ "format": "png", "captureBeyondViewport": whole });
        self.ask("Page.captureScreenshot", wanted)["data"].as_str().unwrap().into()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It is gone already, or goes now.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
