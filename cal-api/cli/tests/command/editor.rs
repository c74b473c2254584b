//! An editor's conversation with `recal lsp`, `recal fmt`, and the grammar.

use serde_json::{Value, json};

use crate::wire::Wire;
use crate::{printed, recal, recal_with, scratch};

struct Editor {
    wire: Wire,
    asked: u64,
}

impl Editor {
    fn new() -> Editor {
        let mut editor = Editor { wire: Wire::new(&["lsp"]), asked: 0 };
        let able = editor.ask("initialize", json!({ "capabilities": {} }));
        let able = &able["capabilities"];
        assert!(able["hoverProvider"] == true && able["definitionProvider"] == true, "{able}");
        assert!(
            able["documentFormattingProvider"] == true && able["completionProvider"].is_object(),
            "{able}"
        );
        editor.tell("initialized", json!({}));
        editor
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.wire.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        self.wire.send(&json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params }));
        let answer = self.wire.receive();
        assert_eq!(answer["id"], self.asked, "{answer}");
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Opens or changes the kernel; what the server then says about it.
    fn shows(&mut self, method: &str, params: Value) -> Vec<Value> {
        self.tell(method, params);
        let said = self.wire.receive();
        assert_eq!(said["method"], "textDocument/publishDiagnostics", "{said}");
        said["params"]["diagnostics"].as_array().unwrap().clone()
    }

    fn at(&mut self, method: &str, line: u32, character: u32) -> Value {
        let place =
            json!({ "textDocument": { "uri": URI }, "position": { "line": line, "character": character } });
        self.ask(method, place)
    }
}

const URI: &str = "file:///kernel.il";

const KERNEL: &str = "il_ps_2_0
dcl_resource_id(3)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)
dcl_output_generic o0
dcl_literal l0, 1.0, 2.0, 3.0, 4.0
sample_resource(3)_sampler(0) r1, l0.xy
  mad_ieee r2, r1,l0, l0 ; \u{1f600} mad
call 7
mov o0, r2
endmain
func 7
ret
endfunc
end
";

#[test]
fn an_editor_is_answered() {
    let mut editor = Editor::new();
    let document = json!({ "uri": URI, "languageId": "il", "version": 1, "text": KERNEL });
    assert_eq!(editor.shows("textDocument/didOpen", json!({ "textDocument": document })), [] as [Value; 0]);

    let mad = editor.at("textDocument/hover", 5, 4);
    let text = mad["contents"]["value"].as_str().unwrap();
    assert!(
        text.contains("**mad** (instruction)") && text.contains("mad[_ieee] dst, src0, src1, src2"),
        "{text}"
    );
    assert_eq!(
        mad["range"],
        json!({ "start": { "line": 5, "character": 2 }, "end": { "line": 5, "character": 10 } })
    );
    assert!(
        editor.at("textDocument/hover", 5, 11)["contents"]["value"].as_str().unwrap().contains("**r#**"),
        "a register"
    );
    assert!(editor.at("textDocument/hover", 5, 29).is_null(), "comments say nothing");

    let line = |found: &Value| {
        (found["range"]["start"]["line"].as_u64(), found["range"]["start"]["character"].as_u64())
    };
    for ((at, column), wanted) in [
        ((5, 18), (3, 12)), // l0: its declaration
        ((7, 9), (5, 11)),  // r2: where it is written first
        ((6, 6), (9, 0)),   // the function
        ((4, 16), (1, 0)),  // the resource
        ((7, 5), (2, 19)),  // o0
    ] {
        let found = editor.at("textDocument/definition", at, column);
        assert_eq!(line(&found), (Some(wanted.0), Some(wanted.1)), "{at}, {column}: {found}");
    }

    let edits = editor.ask(
        "textDocument/formatting",
        json!({ "textDocument": { "uri": URI }, "options": { "tabSize": 4, "insertSpaces": true } }),
    );
    let laid_out = edits[0]["newText"].as_str().unwrap();
    assert!(
        laid_out.contains("\nmad_ieee r2, r1, l0, l0  ; \u{1f600} mad\n") && laid_out.contains("\n    ret\n"),
        "{laid_out}"
    );

    // As it is typed: an instruction, its specifiers, a register.
    let mut change = |text: &str| {
        let change =
            json!({ "textDocument": { "uri": URI, "version": 2 }, "contentChanges": [{ "text": text }] });
        editor.shows("textDocument/didChange", change)
    };
    let said = change("il_ps_2_0\n\u{fc}\nmadd r0, r1, r2, r3\nend\n");
    assert!(
        said.iter()
            .any(|d| d["code"] == "unknown-opcode" && d["range"]["start"]["line"] == 2 && d["severity"] == 1),
        "{said:?}"
    );
    change("il_ps_2_0\nsample_b\nuav_raw_load_\nmov r\n");
    let labels = |items: Value| -> Vec<String> {
        items.as_array().unwrap().iter().map(|i| i["label"].as_str().unwrap().to_string()).collect()
    };
    assert_eq!(labels(editor.at("textDocument/completion", 1, 8)), ["sample_b"]);
    let specifiers = labels(editor.at("textDocument/completion", 2, 13));
    assert!(specifiers.contains(&"_id".into()) && specifiers.contains(&"_cached".into()), "{specifiers:?}");
    let registers = labels(editor.at("textDocument/completion", 3, 5));
    assert!(registers.contains(&"r0".into()) && registers.contains(&"vAbsTidFlat".into()), "{registers:?}");

    let closed = editor.shows("textDocument/didClose", json!({ "textDocument": { "uri": URI } }));
    assert!(closed.is_empty());
    assert!(editor.ask("shutdown", Value::Null).is_null());
    editor.tell("exit", Value::Null);
    editor.wire.ends();
}

#[test]
fn kernels_are_laid_out_in_place_and_checked() {
    let folder = scratch("fmt");
    let path = folder.join("k.il");
    std::fs::write(&path, KERNEL).unwrap();
    let name = path.to_str().unwrap();
    let output = recal(&["fmt", "--check", name]);
    assert!(
        !output.status.success() && String::from_utf8_lossy(&output.stderr).contains("not laid out"),
        "{output:?}"
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), KERNEL, "a check changes nothing");
    assert_eq!(printed(&["fmt", name]), "");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("\nmad_ieee r2, r1, l0, l0  ; "), "{text}");
    assert!(recal(&["fmt", "--check", name]).status.success());
    let output = recal_with(&["fmt", "-"], KERNEL.as_bytes(), &[]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), text);
    let output = recal_with(&["fmt", "-"], b"il_ps_2_0\nmadd r0\nend\n", &[]);
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("unknown-opcode"), "{output:?}");
}

#[test]
fn the_grammar_knows_every_instruction() {
    let grammar: Value = serde_json::from_str(&printed(&["grammar"])).unwrap();
    assert_eq!(grammar["scopeName"], "source.il");
    let patterns = grammar["patterns"].as_array().unwrap();
    let names = |class: &str| -> Vec<String> {
        let pattern = patterns.iter().find(|p| p["name"] == class).unwrap()["match"].as_str().unwrap();
        let inside = pattern.split_once("\\b(").unwrap().1.rsplit_once(")(?=").unwrap().0;
        inside.split('|').map(str::to_string).collect()
    };
    let known: Vec<String> =
        ["invalid.illegal.il", "keyword.control.il", "storage.type.il", "support.function.il"]
            .into_iter()
            .flat_map(names)
            .collect();
    for row in recal_il::isa::TABLE {
        assert!(known.iter().any(|n| n == row.mnemonic), "{}", row.mnemonic);
    }
    assert!(
        names("keyword.control.il").contains(&"whileloop".into())
            && names("storage.type.il").contains(&"dcl_literal".into())
    );
}
