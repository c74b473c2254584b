//! What a build script is told about a wrong file.

use brook_build::Build;

fn told(name: &str, source: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("brook_build_{name}"));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(format!("{name}.br"));
    std::fs::write(&file, source).unwrap();
    let error = Build::new().out_dir(&folder).cpu(false).try_compile(&file).unwrap_err();
    assert_eq!(format!("{error}"), format!("{error:?}"));
    error.to_string()
}

#[test]
fn mistakes_have_line_column_and_caret() {
    let text = told(
        "wrong",
        "#define WHAT b\nkernel void f(float a<>, out float c<>)\n{\n    c = a + WHAT;\n    c = 1.0;\n}\n",
    );
    assert!(text.contains("wrong.br:4:13"), "{text}");
    assert!(text.contains("4 |     c = a + WHAT;\n  |             ^^^^"), "{text}");
    assert!(text.contains("wrong.br:5:9") && text.contains("double"), "{text}");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = Build::new().try_compile("nowhere.br").unwrap_err();
    assert!(error.to_string().starts_with("nowhere.br: "), "{error}");
}

#[test]
fn a_name_that_no_module_has_is_refused() {
    assert!(told("two-words", "int n;\n").contains("the file's name is the module's"));
}
