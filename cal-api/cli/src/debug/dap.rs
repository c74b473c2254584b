//! The debugger for editors: the Debug Adapter Protocol over standard input and output.
//!
//! A thread of the protocol is a lane of the wave at work, so that all of a wave are seen side by side.

mod launch;
mod variables;
mod wire;

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, TryRecvError};

use recal::debug::State;
use serde_json::{Value, json};

use self::wire::{Message, Writer};
use super::commands::{self, Done};
use super::control::{Control, Front, Order, Poll, Thread, Why};
use super::expression::Memory;
use super::parse::expression;
use super::show;
use crate::Outcome;
use crate::kernel::Kernel;

/// Serves until the editor says goodbye.
pub(crate) fn serve() -> Outcome {
    let mut adapter = Adapter {
        inbox: wire::read(),
        out: Writer::default(),
        launch: None,
        path: PathBuf::new(),
        answered: false,
        configured: false,
        gone: false,
        first_line: 1,
        stop_on_entry: false,
        stop_at_end: false,
    };
    while let Some(request) = adapter.next() {
        match request["command"].as_str().unwrap_or_default() {
            "initialize" => {
                adapter.first_line = u32::from(request["arguments"]["linesStartAt1"] != false);
                adapter.out.answer(&request, Ok(capabilities()));
            }
            "launch" if adapter.launch.is_none() => {
                adapter.run(request);
                if adapter.gone {
                    return Ok(());
                }
            }
            "disconnect" | "terminate" => {
                adapter.out.answer(&request, Ok(Value::Null));
                if request["command"] == "disconnect" {
                    return Ok(());
                }
            }
            "threads" => adapter.out.answer(&request, Ok(json!({ "threads": [] }))),
            _ => adapter.out.answer(&request, Err("nothing is launched".into())),
        }
    }
    Ok(())
}

fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsConditionalBreakpoints": true,
        "supportsEvaluateForHovers": true,
        "supportsStepBack": true,
        "supportsReadMemoryRequest": true,
        "supportsDataBreakpoints": true,
        "supportsRestartRequest": true,
        "supportsTerminateRequest": true,
        "supportsBreakpointLocationsRequest": true,
    })
}

struct Adapter {
    inbox: Receiver<Message>,
    out: Writer,
    /// The request that launched.
    launch: Option<Value>,
    path: PathBuf,
    /// It was answered.
    answered: bool,
    /// The editor has said what it wanted to say before the start.
    configured: bool,
    /// The editor has said goodbye.
    gone: bool,
    first_line: u32,
    stop_on_entry: bool,
    /// One may look at memory, and go back, when all threads have ended.
    stop_at_end: bool,
}

impl Adapter {
    /// The next request; what is none is told.
    fn next(&mut self) -> Option<Value> {
        loop {
            if self.out.closed {
                return None;
            }
            let message = self.inbox.recv().ok()?;
            if let Some(request) = self.request(message) {
                return Some(request);
            }
        }
    }

    fn request(&mut self, message: Message) -> Option<Value> {
        let why = match message {
            Ok(value) if value["type"] == "request" && value["command"].is_string() => return Some(value),
            // Nothing is asked of the editor.
            Ok(value) if value["type"] == "response" => return None,
            Ok(_) => "it is no request".into(),
            Err(why) => why,
        };
        self.said("stderr", &format!("a message cannot be read: {why}\n"));
        None
    }

    fn said(&mut self, category: &str, text: &str) {
        self.out.event("output", json!({ "category": category, "output": text }));
    }

    /// Runs a launch until it ends.
    fn run(&mut self, request: Value) {
        let given = &request["arguments"];
        (self.stop_on_entry, self.stop_at_end) = (given["stopOnEntry"] == true, given["stopAtEnd"] == true);
        (self.answered, self.configured) = (false, false);
        self.launch = Some(request.clone());
        let outcome = launch::arguments(&request).map_err(Into::into).and_then(|arguments| {
            let path = arguments.kernel.clone().unwrap_or_default();
            self.path = std::path::absolute(&path).unwrap_or(path.clone());
            let kernel = Kernel::read(&path)?;
            super::launch(&kernel, &arguments.launch, arguments.thread, self)
        });
        if let Err(error) = outcome {
            if self.answered {
                self.said("stderr", &format!("{error}\n"));
            } else {
                self.launch = None;
                return self.out.answer(&request, Err(error.to_string()));
            }
        }
        if !self.gone {
            self.out.event("exited", json!({ "exitCode": 0 }));
            self.out.event("terminated", json!({}));
        }
    }

    /// A line as the editor counts.
    fn line(&self, line: u32) -> u32 {
        (line + self.first_line).saturating_sub(1)
    }

    /// The reverse.
    fn own_line(&self, line: &Value) -> u32 {
        let line = line.as_u64().and_then(|line| u32::try_from(line).ok()).unwrap_or(0);
        line.saturating_add(1) - self.first_line
    }

    fn source(&self) -> Value {
        let name = self.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        json!({ "name": name, "path": self.path.to_string_lossy() })
    }

    /// Tells that the launch stands still.
    fn stands(&mut self, control: &Control, state: &State<'_>, why: &Why) {
        let mut body = json!({ "threadId": thread_id(control, state), "allThreadsStopped": true });
        let (reason, told) = match why {
            Why::Begin => ("entry", String::new()),
            Why::Step => ("step", String::new()),
            Why::Thread => ("step", "another thread".into()),
            Why::Start => ("entry", "there is nothing before this".into()),
            Why::Pause => ("pause", String::new()),
            Why::End => ("step", "the launch has ended".into()),
            Why::Breakpoint(ids) => {
                body["hitBreakpointIds"] = ids.clone().into();
                ("breakpoint", String::new())
            }
            Why::Watch(changes) => {
                body["hitBreakpointIds"] = changes.iter().map(|change| change.id).collect();
                let told = changes.iter().map(|c| {
                    format!("{}: {} -> {}, by line {}", c.name, c.from.trim(), c.to.trim(), self.line(c.line))
                });
                ("data breakpoint", told.collect::<Vec<_>>().join("; "))
            }
        };
        body["reason"] = reason.into();
        if !told.is_empty() {
            body["description"] = told.as_str().into();
            body["text"] = told.into();
        }
        self.out.event("stopped", body);
    }

    /// Does what is asked; an order if the launch is to go on.
    fn answer(&mut self, control: &mut Control, state: &State<'_>, request: &Value) -> Option<Order> {
        let given = &request["arguments"];
        let command = request["command"].as_str().unwrap_or_default();
        let order = match command {
            "continue" => Some(Order::Continue),
            "next" => Some(Order::Over(1)),
            "stepIn" => Some(Order::Step(1)),
            "stepOut" => Some(Order::Out),
            "stepBack" => Some(Order::Back(1)),
            "reverseContinue" => Some(Order::Reverse),
            "restart" if self.stop_on_entry => Some(Order::Restart),
            "restart" => Some(Order::Run),
            "configurationDone" => {
                self.configured = true;
                self.out.answer(request, Ok(Value::Null));
                return if self.stop_on_entry { None } else { Some(Order::Run) };
            }
            "disconnect" | "terminate" => {
                self.gone = command == "disconnect";
                Some(Order::Quit)
            }
            _ => None,
        };
        if let Some(order) = order {
            if let Some(lane) = given["threadId"].as_u64().and_then(lane_of)
                && control.thread.in_wave(state)
                && state.launched() >> lane & 1 == 1
            {
                control.thread = Thread { lane, position: state.position(lane), ..control.thread };
            }
            let body =
                if command == "continue" { json!({ "allThreadsContinued": true }) } else { Value::Null };
            self.out.answer(request, Ok(body));
            // From the end one only goes back.
            let over = state.ended()
                && matches!(order, Order::Continue | Order::Over(_) | Order::Step(_) | Order::Out);
            return Some(if over { Order::Quit } else { order });
        }
        if command == "evaluate" && given["context"] == "repl" {
            return self.typed(control, state, request);
        }
        let answer = self.told(control, state, command, given);
        self.out.answer(request, answer);
        None
    }

    /// Answers a question.
    fn told(
        &mut self,
        control: &mut Control,
        state: &State<'_>,
        command: &str,
        given: &Value,
    ) -> Result<Value, String> {
        let frame_lane =
            given["frameId"].as_u64().map_or(control.thread.lane, |frame| (frame / FRAMES) as u32 & 63);
        match command {
            "setBreakpoints" => Ok(json!({ "breakpoints": self.breakpoints(control, state, given) })),
            "setDataBreakpoints" => Ok(json!({ "breakpoints": watches(control, state, given) })),
            "setExceptionBreakpoints" | "setFunctionBreakpoints" | "setInstructionBreakpoints" => {
                Ok(json!({ "breakpoints": [] }))
            }
            "dataBreakpointInfo" => {
                let name = given["name"].as_str().unwrap_or_default();
                let parent = given["variablesReference"].as_u64();
                let text = match parent {
                    Some(number) => variables::expression_of(state, number, name),
                    None => Some(name.to_owned()),
                };
                let text = text.filter(|text| expression(text, state).is_ok());
                let told = text.clone().unwrap_or_else(|| "that cannot be watched".into());
                Ok(json!({ "dataId": text, "description": told, "accessTypes": ["write"] }))
            }
            "breakpointLocations" => {
                let (first, last) = (self.own_line(&given["line"]), self.own_line(&given["endLine"]));
                let mut lines: Vec<u32> =
                    state.instructions().iter().map(|span| control.lines.of(*span)).collect();
                lines.dedup();
                let inside = lines.into_iter().filter(|line| (first..=last.max(first)).contains(line));
                let places: Vec<Value> = inside.map(|line| json!({ "line": self.line(line) })).collect();
                Ok(json!({ "breakpoints": places }))
            }
            "threads" => Ok(json!({ "threads": threads(control, state) })),
            "stackTrace" => Ok(self.frames(control, state, given)),
            "scopes" => Ok(variables::scopes(state, frame_lane)),
            "variables" => {
                let number = given["variablesReference"].as_u64().unwrap_or(0);
                let first = given["start"].as_u64().unwrap_or(0);
                // 0 is as good as nothing here.
                variables::children(state, number, first, given["count"].as_u64().filter(|count| *count > 0))
            }
            "evaluate" => {
                let text = given["expression"].as_str().unwrap_or_default();
                let line = variables::line(state, text, frame_lane)?;
                let memory = text.split_once('[').and_then(|(name, _)| Memory::named(state, name.trim()));
                let memory = memory.map(|memory| memory.to_string());
                let mut body = json!({ "result": line, "variablesReference": 0 });
                if let Some(memory) = memory {
                    body["memoryReference"] = memory.into();
                }
                Ok(body)
            }
            "readMemory" => variables::bytes(state, given),
            "pause" | "cancel" => Ok(Value::Null),
            _ => Err(format!("`{command}` is not answered here")),
        }
    }

    fn breakpoints(&self, control: &mut Control, state: &State<'_>, given: &Value) -> Vec<Value> {
        control.breakpoints.clear();
        let path = given["source"]["path"].as_str().map(PathBuf::from);
        let same = |path: &PathBuf| {
            let real = |path: &PathBuf| path.canonicalize().unwrap_or(path.clone());
            *path == self.path || real(path) == real(&self.path)
        };
        let none = Vec::new();
        let wanted = given["breakpoints"].as_array().unwrap_or(&none);
        let add = |wanted: &Value| {
            let refused = |why: String| json!({ "verified": false, "message": why });
            if !path.as_ref().is_some_and(same) {
                return refused("it is in another kernel".into());
            }
            let condition = match wanted["condition"].as_str().filter(|text| !text.trim().is_empty()) {
                Some(text) => match expression(text, state) {
                    Ok(condition) => Some(condition),
                    Err(why) => return refused(why),
                },
                None => None,
            };
            match control.add_breakpoint(state, self.own_line(&wanted["line"]), None, condition, false) {
                Some((id, line)) => json!({ "id": id, "verified": true, "line": self.line(line) }),
                None => refused("no instruction is there or behind it".into()),
            }
        };
        wanted.iter().map(add).collect()
    }

    fn frames(&self, control: &Control, state: &State<'_>, given: &Value) -> Value {
        let lane = given["threadId"].as_u64().and_then(lane_of).unwrap_or(control.thread.lane);
        if state.ended() {
            let line = self.line(control.lines.of_instruction(state, None));
            let frame = json!({ "id": u64::from(lane) * FRAMES, "name": "ended", "line": line, "column": self.first_line, "source": self.source() });
            return json!({ "stackFrames": [frame], "totalFrames": 1 });
        }
        let mut places = Vec::new();
        let mut line = control.lines.of_instruction(state, state.instruction());
        for call in state.calls().iter().rev() {
            places.push((format!("func {}", call.label), line));
            line = control.lines.of(call.from);
        }
        places.push(("main".to_owned(), line));
        let waits = if state.active() >> lane & 1 == 1 { "" } else { " (the thread does not execute this)" };
        let frames = places.iter().enumerate().map(|(depth, (name, line))| {
            json!({
                "id": u64::from(lane) * FRAMES + depth as u64, "name": format!("{name}{waits}"), "line": self.line(*line),
                "column": self.first_line, "source": self.source(),
            })
        });
        let frames: Vec<Value> = frames.collect();
        let first = given["startFrame"].as_u64().unwrap_or(0) as usize;
        let levels = given["levels"].as_u64().filter(|levels| *levels > 0).unwrap_or(u64::MAX);
        let shown: Vec<&Value> =
            frames.iter().skip(first).take(usize::try_from(levels).unwrap_or(usize::MAX)).collect();
        json!({ "stackFrames": shown, "totalFrames": frames.len() })
    }

    /// A line of the editor's console: a command of the debugger, or an expression.
    fn typed(&mut self, control: &mut Control, state: &State<'_>, request: &Value) -> Option<Order> {
        let text = request["arguments"]["expression"].as_str().unwrap_or_default();
        let result = |text: &str| Ok(json!({ "result": text.trim_end(), "variablesReference": 0 }));
        let word = text.split_whitespace().next().unwrap_or_default();
        if !commands::is_command(word) {
            let line = variables::line(state, text, control.thread.lane);
            self.out.answer(request, line.and_then(|line| result(&line)));
            return None;
        }
        match commands::execute(control, state, text) {
            Ok(Done::Said(said)) => {
                self.out.answer(request, result(&said));
                None
            }
            Ok(Done::Goes(order)) => {
                self.out.answer(request, result(""));
                self.out.event(
                    "continued",
                    json!({ "threadId": thread_id(control, state), "allThreadsContinued": true }),
                );
                Some(order)
            }
            Err(why) => {
                self.out.answer(request, Err(why));
                None
            }
        }
    }
}

/// Frames that a thread may have: the last bits of a frame's number.
const FRAMES: u64 = 1 << 16;

/// Threads are numbered from 1.
fn lane_of(thread: u64) -> Option<u32> {
    thread.checked_sub(1).filter(|lane| *lane < 64).map(|lane| lane as u32)
}

fn thread_id(control: &Control, state: &State<'_>) -> u32 {
    if state.ended() { 1 } else { control.thread.lane + 1 }
}

/// The threads of the wave at work.
fn threads(control: &Control, state: &State<'_>) -> Vec<Value> {
    if state.ended() {
        return vec![
            json!({ "id": 1, "name": format!("thread {}", show::position(state, control.thread.position)) }),
        ];
    }
    let lanes = (0..64).filter(|lane| state.launched() >> lane & 1 == 1);
    lanes
        .map(|lane: u32| json!({ "id": lane + 1, "name": format!("thread {}", show::position(state, state.position(lane))) }))
        .collect()
}

fn watches(control: &mut Control, state: &State<'_>, given: &Value) -> Vec<Value> {
    control.watches.clear();
    let none = Vec::new();
    let wanted = given["breakpoints"].as_array().unwrap_or(&none);
    let add = |wanted: &Value| match expression(wanted["dataId"].as_str().unwrap_or_default(), state) {
        Ok(expression) => json!({ "id": control.add_watch(state, expression), "verified": true }),
        Err(why) => json!({ "verified": false, "message": why }),
    };
    wanted.iter().map(add).collect()
}

impl Front for Adapter {
    fn stopped(&mut self, control: &mut Control, state: &State<'_>, why: &Why) -> Order {
        if matches!(why, Why::End) && !self.stop_at_end {
            return Order::Quit;
        }
        if self.answered && self.configured {
            self.stands(control, state, why);
        }
        if !self.answered {
            self.answered = true;
            if let Some(launch) = self.launch.clone() {
                self.out.answer(&launch, Ok(Value::Null));
            }
            self.out.event("initialized", json!({}));
        }
        loop {
            let Some(request) = self.next() else {
                self.gone = true;
                return Order::Quit;
            };
            let configured = self.configured;
            if let Some(order) = self.answer(control, state, &request) {
                return order;
            }
            if self.configured && !configured {
                self.stands(control, state, why);
            }
        }
    }

    fn poll(&mut self, control: &mut Control, state: &State<'_>) -> Poll {
        loop {
            let message = match self.inbox.try_recv() {
                Ok(message) => message,
                Err(TryRecvError::Empty) => return Poll::Go,
                Err(TryRecvError::Disconnected) => {
                    self.gone = true;
                    return Poll::Quit;
                }
            };
            let Some(request) = self.request(message) else { continue };
            match request["command"].as_str().unwrap_or_default() {
                "pause" => {
                    self.out.answer(&request, Ok(Value::Null));
                    return Poll::Pause;
                }
                "continue" | "next" | "stepIn" | "stepOut" | "stepBack" | "reverseContinue" | "restart"
                | "evaluate" => {
                    self.out.answer(&request, Err("the launch is running".into()));
                }
                _ => {
                    if self.answer(control, state, &request) == Some(Order::Quit) {
                        return Poll::Quit;
                    }
                }
            }
        }
    }
}
