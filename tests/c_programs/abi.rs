//! The C interface itself: headers in every language, order and include style; sizes, offsets and values against
//! `abi/layout.txt`; exported symbols against `abi/exports-*.txt`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use recal_conformance::toolchain::{Installation, Result, Standard, repository, run};
use recal_needs::{Failed, Trial};

use crate::{Lazy, trial};

const HEADERS: [&str; 8] = [
    "cal.h",
    "calcl.h",
    "cal_ext.h",
    "cal_ext_counter.h",
    "calcl_ext.h",
    "cal_private_ext.h",
    "cal_ext_d3d9.h",
    "cal_ext_d3d10.h",
];

const STANDARDS: [Standard; 7] = [
    Standard::C("c89"),
    Standard::C("c99"),
    Standard::C("c11"),
    Standard::Cxx("c++98"),
    Standard::Cxx("c++11"),
    Standard::Cxx("c++14"),
    Standard::Cxx("c++17"),
];

/// The tests of this file.
pub fn trials(lazy: &Lazy) -> Vec<Trial> {
    let mut trials = Vec::new();
    for standard in STANDARDS {
        let name = match standard {
            Standard::C(name) | Standard::Cxx(name) => name,
        };
        trials.push(trial(format!("headers::{name}"), lazy, move |i| headers(i, standard)));
        trials.push(trial(format!("layout::{name}"), lazy, move |i| layout(i, standard)));
    }
    // Cross compilers: file names in lower case, and the headers of Windows and Direct3D.
    for compiler in ["x86_64-w64-mingw32-gcc", "i686-w64-mingw32-gcc"] {
        trials.push(Trial::test(format!("headers::{compiler}"), || cross(compiler).map_err(Failed::from)));
    }
    trials.push(Trial::test("layout::rust", || rust_side().map_err(Failed::from)));
    trials.push(trial("layout::list_is_complete".into(), lazy, list_is_complete));
    trials
        .push(trial("exports::libaticalrt".into(), lazy, |i| exports(i, "libaticalrt.so", "exports-rt.txt")));
    trials
        .push(trial("exports::libaticalcl".into(), lazy, |i| exports(i, "libaticalcl.so", "exports-cl.txt")));
    trials.push(trial("exports::libaticaldd".into(), lazy, third_library));
    trials.push(trial("exports::names_recorded_by_programs".into(), lazy, recorded_names));
    trials
}

/// Compiles text without linking, all warnings being errors.
fn compiles(installation: &Installation, standard: Standard, what: &str, text: &str) -> Result<()> {
    let extension = if matches!(standard, Standard::C(_)) { "c" } else { "cpp" };
    let file = installation.build.join(format!("headers-{}.{extension}", standard_name(standard)));
    std::fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))?;
    let include = installation.prefix.join("include");
    let mut compiler = standard.compiler();
    compiler.args(["-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only"]);
    compiler.arg("-I").arg(&include).arg("-I").arg(include.join("CAL")).arg(&file);
    run(&mut compiler, Duration::from_secs(60))?.success(what)?;
    Ok(())
}

/// Each header alone, and all after `<windows.h>`, for Windows. Nothing need be installed for that.
fn cross(compiler: &str) -> Result<()> {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{compiler}.c"));
    let mut texts = HEADERS.map(|header| format!("#include <CAL/{header}>\n")).to_vec();
    texts.push(format!("#include <windows.h>\n{}", texts.concat()));
    for text in texts {
        let whole = format!("{text}int unit(void);\n");
        std::fs::write(&file, whole).map_err(|e| format!("{}: {e}", file.display()))?;
        let mut command = Command::new(compiler);
        command.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]);
        command.arg("-I").arg(repository().join("cal-api/include")).arg(&file);
        run(&mut command, Duration::from_secs(60))?.success(&text)?;
    }
    Ok(())
}

fn standard_name(standard: Standard) -> &'static str {
    match standard {
        Standard::C(name) | Standard::Cxx(name) => name,
    }
}

/// Each header alone, each pair in both orders, in both include styles; then a program in the manner of Brook+ that
/// defines function-like macros with the names of enumerators.
fn headers(installation: &Installation, standard: Standard) -> Result<()> {
    for first in HEADERS {
        for second in HEADERS {
            let text = format!("#include <CAL/{first}>\n#include \"{second}\"\nint unit(void);\n");
            compiles(installation, standard, &format!("{first}, {second}"), &text)?;
        }
    }
    let clients = "\
        #include <cal.h>\n#include <calcl.h>\n#include <cal_ext.h>\n\
        #if !defined(__CAL_H__) || !defined(__CALCL_H__) || !defined(__CAL_EXT_H__)\n#error guards\n#endif\n\
        #define CAL_RESULT_ERROR(result, message) ((result) != CAL_RESULT_OK ? (message) : 0)\n\
        #define calCtxRunProgram(event, context, func, domain) CAL_RESULT_ERROR\n\
        CALresult unit(void);\n\
        CALresult unit(void)\n{\n\
            CALevent event = CAL_EVENT_INVALID;\n\
            PFNCALRESCREATE2D create = 0;\n\
            struct CALdeviceattribsRec attribs;\n\
            CALextproc proc = 0;\n\
            CALvoid** address = (CALvoid**)&proc;\n\
            CALextproc* other = address;\n\
            attribs.struct_size = sizeof(struct CALdeviceattribsRec);\n\
            return event || create || other || attribs.struct_size ? calCtxRunProgram(0, 0, 0, 0) : CAL_RESULT_OK;\n\
        }\n";
    compiles(installation, standard, "macros after inclusion", clients)
}

/// One line of `abi/layout.txt`.
struct Fact {
    /// What it is, as the file says it.
    text: String,
    /// As a C expression.
    expression: String,
    /// Its value.
    value: i64,
}

fn facts() -> Result<Vec<Fact>> {
    let file = repository().join("tests/abi/layout.txt");
    let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    let mut facts = Vec::new();
    for line in text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let expression = match words.as_slice() {
            ["size", name, _] => format!("sizeof({name})"),
            ["offset", path, _] => {
                let (name, member) = path.split_once('.').ok_or_else(|| format!("layout.txt: {line}"))?;
                format!("offsetof({name}, {member})")
            }
            ["value", name, _] => format!("({name})"),
            _ => return Err(format!("layout.txt: {line}")),
        };
        let value = words[2].parse().map_err(|e| format!("layout.txt: {line}: {e}"))?;
        facts.push(Fact { text: line.to_string(), expression, value });
    }
    Ok(facts)
}

/// A program that compares every size, offset and value when it runs.
fn layout(installation: &Installation, standard: Standard) -> Result<()> {
    let mut text = String::from("#include <stddef.h>\n#include <stdio.h>\n");
    for header in HEADERS {
        let _ = writeln!(text, "#include <CAL/{header}>");
    }
    text.push_str("int main(void)\n{\n    int wrong = 0;\n");
    for Fact { text: line, expression, value } in facts()? {
        let _ = writeln!(
            text,
            "    if ((long){expression} != {value}L) {{ printf(\"%ld, not: {line}\\n\", (long){expression}); ++wrong; }}"
        );
    }
    text.push_str("    return wrong != 0;\n}\n");
    let extension = if matches!(standard, Standard::C(_)) { "c" } else { "cpp" };
    let name = format!("layout-{}", standard_name(standard));
    let file = installation.build.join(format!("{name}.{extension}"));
    std::fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))?;
    let include = format!("-I{}", installation.prefix.join("include").display());
    let program = installation.build(&name, &[file], standard, &["-O0", &include])?;
    run(&mut Command::new(program), Duration::from_secs(60))?.success(&name)?;
    Ok(())
}

/// Every enumerator and every member of the headers has its line in `abi/layout.txt`.
fn list_is_complete(installation: &Installation) -> Result<()> {
    let known: BTreeSet<String> = facts()?
        .iter()
        .filter_map(|f| {
            f.text.split_whitespace().nth(1).map(|w| w.rsplit('.').next().unwrap_or(w).to_string())
        })
        .collect();
    let mut unknown = Vec::new();
    for header in HEADERS {
        let file = installation.prefix.join("include/CAL").join(header);
        let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let mut inside = false;
        for line in text.lines() {
            if line.starts_with("typedef enum") || line.starts_with("typedef struct") && line.ends_with('{') {
                inside = true;
            } else if line.starts_with('}') {
                inside = false;
            } else if inside {
                let line = line.split("/*").next().unwrap_or("").trim();
                let name = match line.split_once('=') {
                    Some((name, _)) => name.trim(),
                    None => line.trim_end_matches(';').rsplit([' ', '*']).next().unwrap_or(""),
                };
                if !name.is_empty() && !known.contains(name) {
                    unknown.push(format!("{header}: {name}"));
                }
            }
        }
    }
    if unknown.is_empty() { Ok(()) } else { Err(format!("not in layout.txt: {}", unknown.join(", "))) }
}

/// The Rust side of the boundary has the same sizes, offsets and values: every structure of the list with every member,
/// and no value that the list has otherwise.
fn rust_side() -> Result<()> {
    let expected: BTreeSet<String> = facts()?.into_iter().map(|f| f.text).collect();
    let rust: BTreeSet<String> = recal::ffi::abi_lines().into_iter().collect();
    let names = |lines: &BTreeSet<String>| -> BTreeSet<String> {
        lines.iter().filter_map(|l| l.rsplit_once(' ').map(|(name, _)| name.to_string())).collect()
    };
    let known = names(&expected);
    let wrong: Vec<&String> = rust
        .difference(&expected)
        .filter(|l| l.rsplit_once(' ').is_some_and(|(name, _)| known.contains(name)))
        .collect();
    let covered = names(&rust);
    let missing: Vec<&String> = known
        .iter()
        .filter(|name| {
            name.starts_with("offset ")
                || name.starts_with("value CAL_RESULT_")
                || name.starts_with("value CAL_TARGET_")
        })
        .filter(|name| !covered.contains(*name))
        .collect();
    if wrong.is_empty() && missing.is_empty() {
        Ok(())
    } else {
        Err(format!("differ: {wrong:?}; not on the Rust side: {missing:?}"))
    }
}

/// The symbols that a library gives to programs are exactly the historical ones.
fn exports(installation: &Installation, library: &str, list: &str) -> Result<()> {
    let file = repository().join("tests/abi").join(list);
    let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    let expected: BTreeSet<&str> = text.lines().collect();
    let path = installation.prefix.join("lib").join(library);
    let mut nm = Command::new("nm");
    nm.args(["-D", "--defined-only", "--format=posix"]).arg(&path);
    let output = run(&mut nm, Duration::from_secs(60))?.success("nm")?.stdout;
    let found: BTreeSet<&str> =
        output.lines().filter_map(|l| l.split_whitespace().next()).filter(|n| n.starts_with("cal")).collect();
    let missing: Vec<_> = expected.difference(&found).collect();
    let extra: Vec<_> = found.difference(&expected).collect();
    if missing.is_empty() && extra.is_empty() {
        Ok(())
    } else {
        Err(format!("{library}: missing {missing:?}, not historical {extra:?}"))
    }
}

/// The library that start-up scripts look for beside the two loads, alone and after them, and exports nothing.
fn third_library(installation: &Installation) -> Result<()> {
    let folder = installation.prefix.join("lib");
    let source = installation.build.join("third.c");
    let text = "#include <dlfcn.h>\n#include <stdio.h>\nint main(int argc, char** argv)\n{\n    int i;\n    \
        for (i = 1; i < argc; ++i) {\n        if (!dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL)) {\n            \
        puts(dlerror());\n            return 1;\n        }\n    }\n    return argc < 2;\n}\n";
    std::fs::write(&source, text).map_err(|e| format!("{}: {e}", source.display()))?;
    let program = installation.build("third", &[source], Standard::C("c99"), &[])?;
    for libraries in [&["aticaldd"][..], &["aticalrt", "aticalcl", "aticaldd"], &["aticaldd", "aticalrt"]] {
        let paths = libraries.iter().map(|name| folder.join(format!("lib{name}.so")));
        let said = run(Command::new(&program).args(paths), Duration::from_secs(60))?;
        said.success(&format!("loading {libraries:?}"))?;
    }
    let mut nm = Command::new("nm");
    nm.args(["-D", "--defined-only", "--format=posix"]).arg(folder.join("libaticaldd.so"));
    let exported = run(&mut nm, Duration::from_secs(60))?.success("nm")?.stdout;
    if exported.is_empty() { Ok(()) } else { Err(format!("libaticaldd.so exports {exported}")) }
}

/// Programs record the bare file names, and symbols without a version, as with the original libraries.
fn recorded_names(installation: &Installation) -> Result<()> {
    let source = Path::new(&repository()).join("samples/c/hellocal.c");
    let program = installation.build("recorded-names", &[source], Standard::C("c99"), &[])?;
    let mut readelf = Command::new("readelf");
    readelf.args(["--dynamic", "--dyn-syms", "--wide"]).arg(&program);
    let output = run(&mut readelf, Duration::from_secs(60))?.success("readelf")?.stdout;
    for library in ["libaticalrt.so", "libaticalcl.so"] {
        if !output.contains(&format!("[{library}]")) {
            return Err(format!("the program does not record {library}:\n{output}"));
        }
    }
    for line in output.lines().filter(|l| l.contains(" cal")) {
        if line.contains("cal") && line.contains('@') {
            return Err(format!("a versioned symbol: {line}"));
        }
    }
    Ok(())
}
