//! An editor's conversation with `recal debug --dap`.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::scratch;
use crate::wire::Wire;

struct Editor {
    wire: Wire,
    asked: u64,
    received: u64,
    /// Events that came before an answer.
    events: Vec<Value>,
}

impl Editor {
    fn new() -> Editor {
        let wire = Wire::new(&["debug", "--dap"]);
        let mut editor = Editor { wire, asked: 0, received: 0, events: Vec::new() };
        let able = editor.ask("initialize", json!({ "adapterID": "recal", "linesStartAt1": true }));
        for ability in ["ConfigurationDoneRequest", "ConditionalBreakpoints", "StepBack", "ReadMemoryRequest"]
        {
            assert_eq!(able[format!("supports{ability}")], true, "{able}");
        }
        editor
    }

    fn receive(&mut self) -> Value {
        let message = self.wire.receive();
        self.received += 1;
        assert_eq!(message["seq"], self.received, "{message}");
        message
    }

    fn send(&mut self, command: &str, arguments: Value) -> u64 {
        self.asked += 1;
        self.wire.send(
            &json!({ "seq": self.asked, "type": "request", "command": command, "arguments": arguments }),
        );
        self.asked
    }

    /// The answer to a request.
    fn answer(&mut self, number: u64) -> Value {
        loop {
            let message = self.receive();
            if message["type"] == "event" {
                self.events.push(message);
                continue;
            }
            assert_eq!(
                (&message["type"], &message["request_seq"]),
                (&json!("response"), &json!(number)),
                "{message}"
            );
            return message;
        }
    }

    fn ask(&mut self, command: &str, arguments: Value) -> Value {
        let number = self.send(command, arguments);
        let answer = self.answer(number);
        assert_eq!(answer["command"], command);
        assert_eq!(answer["success"], true, "{answer}");
        answer["body"].clone()
    }

    /// Why a request was refused.
    fn refused(&mut self, command: &str, arguments: Value) -> String {
        let number = self.send(command, arguments);
        let answer = self.answer(number);
        assert_eq!(answer["success"], false, "{answer}");
        answer["message"].as_str().unwrap().to_owned()
    }

    /// The next event of a name; others are skipped.
    fn event(&mut self, name: &str) -> Value {
        loop {
            let event = if self.events.is_empty() { self.receive() } else { self.events.remove(0) };
            if event["event"] == name {
                return event["body"].clone();
            }
            assert_eq!(event["type"], "event", "{event}");
            assert_ne!(event["event"], "stopped", "{event}");
        }
    }

    /// The launch goes on: why it stands still then, at which line.
    fn goes(&mut self, command: &str, thread: u64) -> (String, u64) {
        self.ask(command, json!({ "threadId": thread }));
        self.stopped(thread)
    }

    fn stopped(&mut self, thread: u64) -> (String, u64) {
        let stopped = self.event("stopped");
        assert_eq!(
            (&stopped["threadId"], &stopped["allThreadsStopped"]),
            (&json!(thread), &json!(true)),
            "{stopped}"
        );
        (stopped["reason"].as_str().unwrap().to_owned(), self.frames(thread)[0]["line"].as_u64().unwrap())
    }

    fn frames(&mut self, thread: u64) -> Vec<Value> {
        self.ask("stackTrace", json!({ "threadId": thread }))["stackFrames"].as_array().unwrap().clone()
    }

    fn evaluate(&mut self, text: &str) -> String {
        let body = self.ask("evaluate", json!({ "expression": text, "context": "watch" }));
        body["result"].as_str().unwrap().to_owned()
    }

    fn variables(&mut self, reference: &Value, more: Value) -> Vec<Value> {
        let mut arguments = json!({ "variablesReference": reference });
        if let Some(more) = more.as_object() {
            arguments.as_object_mut().unwrap().extend(more.clone());
        }
        self.ask("variables", arguments)["variables"].as_array().unwrap().clone()
    }

    fn leaves(mut self) {
        self.ask("disconnect", json!({}));
        self.wire.ends();
    }
}

/// Adds 2 to twice what `g` holds where the thread is, by a function.
const KERNEL: &str = "il_ps_2_0
dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__
dcl_output_generic o0
dcl_literal l0, 2.0, 1.5, 0, 0
mul r0.x, vWinCoord0.x, l0.y
ftoi r1.x, vWinCoord0.x
call 2
mov g[r1.x].x, r0.x
mov o0, r0.x
endmain
func 2
add r0.x, r0.x, l0.x
ret
end
";

fn kernel(name: &str, text: &str) -> PathBuf {
    let path = scratch("dap").join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn launch(path: &std::path::Path, more: Value) -> Value {
    let mut arguments = json!({
        "program": path.to_str().unwrap(), "bind": { "o0": "8x8:float32_1", "g[]": "8:float32_4" }, "domain": "8x8",
    });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    arguments
}

#[test]
fn an_editor_steps_forwards_and_back() {
    let path = kernel("step.il", KERNEL);
    let source = json!({ "path": path.to_str().unwrap() });
    let mut editor = Editor::new();
    editor.ask("launch", launch(&path, json!({ "stopAtEnd": true })));
    editor.event("initialized");
    let set = editor.ask(
        "setBreakpoints",
        json!({ "source": source, "breakpoints": [
            { "line": 8, "condition": "r0.x > 9.0 && tid.y == 3" }, { "line": 11 }, { "line": 99 }, { "line": 8, "condition": "r7.x" },
        ] }),
    );
    let set = set["breakpoints"].as_array().unwrap();
    assert_eq!((&set[0]["verified"], &set[0]["line"]), (&json!(true), &json!(8)));
    assert_eq!(
        (&set[1]["verified"], &set[1]["line"]),
        (&json!(true), &json!(12)),
        "a line without an instruction"
    );
    assert_eq!(set[2]["verified"], false);
    assert_eq!((&set[3]["verified"], &set[3]["message"]), (&json!(false), &json!("the kernel has no `r7`")));
    let elsewhere = json!({ "source": { "path": "/elsewhere.il" }, "breakpoints": [{ "line": 8 }] });
    assert_eq!(editor.ask("setBreakpoints", elsewhere)["breakpoints"][0]["verified"], false);
    let set = editor.ask(
        "setBreakpoints",
        json!({ "source": source, "breakpoints": [{ "line": 8, "condition": "r0.x > 9.0 && tid.y == 3" }] }),
    );
    let id = set["breakpoints"][0]["id"].clone();
    editor.ask("setExceptionBreakpoints", json!({ "filters": [] }));
    editor.ask("configurationDone", json!({}));
    // 1.5 (x + 0.5) + 2 is more than 9 from column 5 on: lane 8 * 3 + 5, thread 30.
    let stopped = editor.event("stopped");
    assert_eq!((&stopped["reason"], &stopped["threadId"]), (&json!("breakpoint"), &json!(30)), "{stopped}");
    assert_eq!(stopped["hitBreakpointIds"], json!([id]));

    let threads = editor.ask("threads", json!({}));
    let threads = threads["threads"].as_array().unwrap();
    assert_eq!((threads.len(), &threads[29]), (64, &json!({ "id": 30, "name": "thread (5, 3)" })));
    let frames = editor.frames(30);
    assert_eq!((frames.len(), &frames[0]["name"], &frames[0]["line"]), (1, &json!("main"), &json!(8)));
    assert_eq!(frames[0]["source"]["path"], path.to_str().unwrap());
    let scopes = editor.ask("scopes", json!({ "frameId": frames[0]["id"] }));
    let scope = |name: &str| {
        let all = scopes["scopes"].as_array().unwrap();
        all.iter().find(|scope| scope["name"] == name).unwrap()["variablesReference"].clone()
    };
    let registers = editor.variables(&scope("Registers"), Value::Null);
    let names: Vec<&str> = registers.iter().map(|variable| variable["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["r0", "r1", "o0"]);
    let components = editor.variables(&registers[0]["variablesReference"], Value::Null);
    assert_eq!(components[0]["value"], "10.25 (1092878336, 0x41240000)", "1.5 * 5.5 + 2");
    let thread = editor.variables(&scope("Thread"), Value::Null);
    let value =
        |name: &str| thread.iter().find(|variable| variable["name"] == name).unwrap()["value"].clone();
    assert_eq!((value("tid"), value("lane")), (json!("5, 3, 0"), json!("29")));
    let memories = editor.variables(&scope("Memory"), Value::Null);
    let memory = |name: &str| memories.iter().find(|variable| variable["name"] == name).unwrap();
    assert_eq!(memory("o0")["indexedVariables"], 64);
    assert_eq!(
        (editor.evaluate("r0.x * 2.0"), editor.evaluate("g[5].x as float")),
        ("20.5".into(), "0.0".into())
    );

    // The store, the function and back again.
    assert_eq!(editor.goes("next", 30), ("step".into(), 9));
    let elements = editor.variables(&memory("g")["variablesReference"], json!({ "start": 5, "count": 1 }));
    assert_eq!(
        (elements.len(), &elements[0]["name"], &elements[0]["value"]),
        (1, &json!("[5]"), &json!("10.25, 0.0, 0.0, 0.0"))
    );
    let bytes = editor.ask("readMemory", json!({ "memoryReference": "g", "offset": 80, "count": 4 }));
    assert_eq!(bytes["data"], "AAAkQQ==", "41240000");
    assert_eq!(editor.goes("stepBack", 30), ("step".into(), 8));
    assert_eq!(editor.evaluate("g[5].x as float"), "0.0");
    assert_eq!(editor.goes("stepBack", 30), ("step".into(), 12));
    let frames = editor.frames(30);
    assert_eq!((frames.len(), &frames[0]["name"], &frames[1]["line"]), (2, &json!("func 2"), &json!(7)));
    assert_eq!(editor.goes("stepOut", 30), ("breakpoint".into(), 8));
    assert_eq!(editor.goes("stepBack", 30).1, 12);
    assert_eq!(editor.goes("stepBack", 30).1, 7);
    assert_eq!(editor.goes("next", 30).1, 8);
    // Another thread of the wave.
    assert_eq!(editor.goes("next", 1), ("step".into(), 9));
    assert_eq!(editor.goes("next", 1), ("step".into(), 10), "the end of main");

    // Who writes g[2]? Then backwards to it.
    let info = editor.ask(
        "dataBreakpointInfo",
        json!({ "name": "[2]", "variablesReference": memory("g")["variablesReference"] }),
    );
    assert_eq!(info["dataId"], "g[2]");
    editor.ask("setBreakpoints", json!({ "source": source, "breakpoints": [] }));
    let set = editor
        .ask("setDataBreakpoints", json!({ "breakpoints": [{ "dataId": "g[2]", "accessType": "write" }] }));
    assert_eq!(set["breakpoints"][0]["verified"], true);
    editor.ask("reverseContinue", json!({ "threadId": 1 }));
    let stopped = editor.event("stopped");
    assert_eq!(stopped["reason"], "data breakpoint");
    assert!(stopped["description"].as_str().unwrap().ends_with("by line 8"), "{stopped}");
    let stopped = editor.goes("continue", 1);
    assert_eq!(stopped, ("step".into(), 10), "the end of the launch");
    assert_eq!(
        (editor.evaluate("o0[5, 3]"), editor.evaluate("o0[0, 7] as float")),
        ("10.25 (1092878336, 0x41240000)".into(), "2.75".into())
    );
    assert!(
        editor.refused("evaluate", json!({ "expression": "r0.x", "context": "hover" })).contains("no thread")
    );
    assert_eq!(editor.goes("stepBack", 1), ("step".into(), 10));
    editor.leaves();
}

#[test]
fn the_console_takes_commands_and_expressions() {
    let path = kernel("console.il", KERNEL);
    let mut editor = Editor::new();
    editor.ask("launch", launch(&path, json!({ "stopOnEntry": true, "thread": "2,1" })));
    editor.event("initialized");
    editor.ask("configurationDone", json!({}));
    assert_eq!(editor.stopped(11), ("entry".into(), 5));
    let typed = |editor: &mut Editor, text: &str| {
        editor.ask("evaluate", json!({ "expression": text, "context": "repl" }))["result"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(typed(&mut editor, "tid.x * 10"), "20");
    assert!(typed(&mut editor, "wave tid.x").lines().count() == 65);
    assert_eq!(typed(&mut editor, "break 9 if tid.x == 6"), "breakpoint 1: line 9  mov o0, r0.x");
    assert_eq!(typed(&mut editor, "continue"), "");
    editor.event("continued");
    assert_eq!(editor.stopped(7), ("breakpoint".into(), 9));
    assert!(
        editor
            .refused("evaluate", json!({ "expression": "delete 7", "context": "repl" }))
            .contains("nothing")
    );
    assert_eq!(typed(&mut editor, "thread 2,1"), "thread (2, 1): lane 10 in tile 0\n    9  mov o0, r0.x");
    editor.ask("restart", json!({}));
    assert_eq!(editor.stopped(11), ("entry".into(), 5));
    editor.ask("setBreakpoints", json!({ "source": { "path": path.to_str().unwrap() } }));
    editor.ask("continue", json!({ "threadId": 11 }));
    assert_eq!(editor.event("exited")["exitCode"], 0);
    editor.event("terminated");
    editor.leaves();
}

#[test]
fn a_launch_without_end_is_stopped() {
    let text = "il_ps_2_0\ndcl_output_generic o0\ndcl_literal l0, 1, 0, 0, 0\nwhileloop\niadd r0.x, r0.x, l0.x\nendloop\nmov o0, r0\nend\n";
    let path = kernel("endless.il", text);
    let arguments =
        json!({ "program": path.to_str().unwrap(), "bind": { "o0": "4x4:float32_1" }, "domain": "4x4" });
    let mut editor = Editor::new();
    editor.ask("launch", arguments);
    editor.event("initialized");
    editor.ask("configurationDone", json!({}));
    assert!(editor.refused("next", json!({ "threadId": 1 })).contains("running"));
    editor.ask("pause", json!({ "threadId": 1 }));
    assert_eq!(editor.stopped(1), ("pause".into(), 5));
    let before: i64 = editor.evaluate("r0.x as int").parse().unwrap();
    editor.goes("next", 1);
    assert_eq!(editor.evaluate("r0.x as int"), (before + 1).to_string());
    editor.goes("stepBack", 1);
    assert_eq!(editor.evaluate("r0.x as int"), before.to_string());
    editor.ask("continue", json!({ "threadId": 1 }));
    editor.leaves();
}

#[test]
fn what_is_wrong_is_told_and_nothing_ends() {
    let path = kernel("wrong.il", KERNEL);
    let bad = kernel("bad.il", "il_ps_2_0\nmuul r0, r1, r2\nend\n");
    let mut editor = Editor::new();
    assert!(editor.refused("next", json!({ "threadId": 1 })).contains("nothing is launched"));
    assert!(editor.refused("launch", json!({})).contains("program"));
    assert!(editor.refused("launch", json!({ "program": "/no such file.il" })).contains("no such file"));
    assert!(
        editor
            .refused("launch", json!({ "program": bad.to_str().unwrap(), "domain": "4x4" }))
            .contains("muul")
    );
    assert!(editor.refused("launch", launch(&path, json!({ "domain": "4 by 4" }))).contains("--domain"));
    assert!(
        editor
            .refused("launch", launch(&path, json!({ "thread": "9,9" })))
            .contains("not part of the launch")
    );
    assert!(editor.refused("launch", launch(&path, json!({ "bind": ["o0"] }))).contains("bind"));
    editor.ask("launch", launch(&path, json!({ "stopOnEntry": true })));
    editor.event("initialized");
    // None of these is a request; the one behind them is answered.
    editor.wire.raw("Content-Length: 3\r\n\r\n{\"]Content-Length: x\r\n\r\nContent-Length: 4\r\n\r\nnull\r\n\r\nContent-Length: 2\r\n\r\n[]");
    editor.ask("configurationDone", json!({}));
    let said: Vec<Value> = editor.events.iter().filter(|event| event["event"] == "output").cloned().collect();
    assert_eq!(said.len(), 4, "{said:?}");
    assert_eq!(editor.stopped(1), ("entry".into(), 5));
    assert!(editor.refused("frobnicate", json!({})).contains("frobnicate"));
    assert!(editor.refused("variables", json!({ "variablesReference": 0 })).contains("no such variable"));
    assert!(
        editor
            .refused("variables", json!({ "variablesReference": 123_456_789_012_u64 }))
            .contains("no such variable")
    );
    assert!(editor.refused("variables", json!("nothing")).contains("no such variable"));
    assert!(editor.refused("evaluate", json!({})).contains("missing"));
    assert!(editor.refused("evaluate", json!({ "expression": "(".repeat(5000) })).contains("deep"));
    assert!(editor.refused("readMemory", json!({ "memoryReference": "q", "count": 4 })).contains('q'));
    assert!(
        editor
            .refused("readMemory", json!({ "memoryReference": "g", "offset": -4, "count": 4 }))
            .contains("before")
    );
    let none = editor.ask("readMemory", json!({ "memoryReference": "g", "offset": 1_u64 << 62, "count": 4 }));
    assert_eq!((&none["data"], &none["unreadableBytes"]), (&json!(""), &json!(4)));
    editor.ask("setBreakpoints", json!({ "source": 7, "breakpoints": "all" }));
    editor.ask("stackTrace", json!({ "threadId": 999_999_999_999_u64, "startFrame": 7, "levels": 1 }));
    editor.ask("scopes", json!({ "frameId": u64::MAX }));
    assert_eq!(editor.goes("next", 1), ("step".into(), 6));
    editor.leaves();
    // Gone in the middle of a message.
    let mut editor = Editor::new();
    editor.ask("launch", launch(&path, json!({})));
    editor.wire.raw("Content-Length: 100\r\n\r\n{");
    editor.wire.hang_up();
    editor.wire.ends();
}
