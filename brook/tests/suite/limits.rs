//! The bounds of the command: whatever it is given, `brcc` ends by itself within 10 s of processor time and 256 MiB of address
//! space, with findings or with code, never with a signal or a panic. `prlimit` sets the bounds.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::{Arc, OnceLock};

use recal_needs::{Failed, Trial};

use crate::build::Tools;
use crate::cases;

type Lazy = Arc<OnceLock<Result<Tools, String>>>;
type Test = Box<dyn FnOnce(&Tools) -> Result<(), String> + Send>;

/// Runs brcc on a source, bounded.
fn bounded(tools: &Tools, name: &str, source: &[u8], options: &[&str]) -> Result<Output, String> {
    let folder = tools.scratch.join("limits");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let file: PathBuf = folder.join(format!("{}.br", name.replace('/', "_")));
    std::fs::write(&file, source).map_err(|e| format!("{}: {e}", file.display()))?;
    let mut command = Command::new("prlimit");
    command.args(["--as=268435456", "--cpu=10", "--core=0"]).arg(tools.scratch.join("brcc"));
    command.args(options).arg(&file);
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let ended = output.status.code().is_some_and(|code| code <= 1) && output.status.signal().is_none();
    if !ended || said.contains("panicked") || said.contains("no thread to compile in") {
        return Err(format!("{name}: {}\n{}", output.status, said.chars().take(2000).collect::<String>()));
    }
    if output.status.success() == said.contains("error") {
        return Err(format!(
            "{name}: {} with\n{}",
            output.status,
            said.chars().take(2000).collect::<String>()
        ));
    }
    Ok(output)
}

/// All wrong sources, each alone; how many were refused.
fn wrong_sources(tools: &Tools) -> Result<(), String> {
    let (mut refused, mut kinds) = (0, std::collections::BTreeSet::new());
    for case in cases::load("errors") {
        let mut options: Vec<&str> = case.words.iter().map(String::as_str).filter(|w| *w != "-w0").collect();
        options.extend(["-w", "3"]);
        let output = bounded(tools, &case.name, case.source.as_bytes(), &options)?;
        let wanted = case.marks("error")?;
        if output.status.success() == wanted.is_empty() {
            refused += usize::from(!wanted.is_empty());
            kinds.extend(wanted.into_iter().map(|w| (case.file.clone(), w.1, case.name.clone())));
        } else {
            return Err(format!("{}: {}", case.name, output.status));
        }
    }
    if refused >= 100 && kinds.len() >= 100 { Ok(()) } else { Err(format!("{refused} sources were refused")) }
}

/// Sources made to cost time, memory or stack; with the options that they need.
fn monsters() -> Vec<(&'static str, Vec<u8>, &'static [&'static str])> {
    const MIB: usize = 1 << 20;
    let kernel = |body: String| {
        format!("kernel void f(float a<>, float m[], out float c<>)\n{{\n{body}\n}}\n").into_bytes()
    };
    let fill = |piece: &str, bytes: usize| piece.repeat(bytes / piece.len());
    let numbered = |count: usize, one: &dyn Fn(usize) -> String| (0..count).map(one).collect::<String>();
    vec![
        ("brackets", kernel(format!("c = {}a{};", "(".repeat(MIB / 2), ")".repeat(MIB / 2))), &[]),
        ("signs", kernel(format!("c = {}a;", fill("- ", MIB))), &[]),
        ("braces", kernel("{".repeat(MIB)), &[]),
        ("sums", kernel(format!("c = {}a;", fill("a + ", MIB))), &[]),
        ("commas", kernel(format!("c = ({}a);", fill("a, ", MIB))), &[]),
        (
            "chains_in_chains",
            kernel(format!("c = {}a{};", format!("{}(", fill("a+", 900)).repeat(90), ")".repeat(90))),
            &[],
        ),
        ("choices", kernel(format!("c = {}a;", fill("a > 1.0f ? a : ", MIB))), &[]),
        ("else_if", kernel(format!("{}c = a;", fill("if (a > 1.0f) c = a; else ", MIB))), &[]),
        ("subscripts", kernel(format!("c = {}0{};", "m[".repeat(MIB / 4), "]".repeat(MIB / 4))), &[]),
        ("statements", kernel(fill("c = a * a + m[1] * c;\n", MIB - 4096)), &[]),
        ("many_errors", kernel(fill("c = nothing;\n", MIB - 4096)), &[]),
        ("many_warnings", kernel(fill("{ int n = a; }\n", MIB - 4096)), &["-a", "-w", "3"]),
        ("locals", kernel(numbered(12_000, &|n| format!("float l{n} = a;\n")) + "c = l1;"), &[]),
        (
            "parameters",
            format!(
                "kernel void f({}out float c<>) {{ c = p1; }}\n",
                numbered(12_000, &|n| format!("float p{n}<>, "))
            )
            .into_bytes(),
            &[],
        ),
        (
            "outputs",
            format!(
                "kernel void f({}float a<>) {{ o1 = a; }}\n",
                numbered(2000, &|n| format!("out float o{n}<>, "))
            )
            .into_bytes(),
            &[],
        ),
        (
            "kernels",
            numbered(10_000, &|n| format!("kernel void k{n}(float a<>, out float c<>) {{ c = a; }}\n"))
                .into_bytes(),
            &[],
        ),
        (
            "lines",
            numbered(10_000, &|n| {
                format!("kernel void k{n}(float a<>, out float c<>) {{ c = a; }}\nint x{n};\n")
            })
            .into_bytes(),
            &["-l"],
        ),
        ("too_much_kernel", kernel(fill("c = a;\n", 2 * MIB)), &[]),
        ("too_much_file", fill("int host;\n", 5 * MIB).into_bytes(), &[]),
        (
            "structs_double",
            (numbered(60, &|n| {
                if n == 0 {
                    "typedef struct { float x; } S0;\n".into()
                } else {
                    format!("typedef struct {{ S{0} a; S{0} b; }} S{n};\n", n - 1)
                }
            }) + "kernel void f(S59 a<>, out S59 c<>) { c = a; }\n")
                .into_bytes(),
            &[],
        ),
        (
            "struct_members",
            format!(
                "typedef struct {{ {} }} S;\nkernel void f(S a<>, out S c<>) {{ c = a; }}\n",
                numbered(50_000, &|n| format!("float m{n};"))
            )
            .into_bytes(),
            &[],
        ),
        (
            "calls_double",
            ("kernel float k0(float a) { return a * 2.0f; }\n".to_owned()
                + &numbered(30, &|n| {
                    format!("kernel float k{}(float a) {{ return k{n}(a) + k{n}(a + 1.0f); }}\n", n + 1)
                })
                + "kernel void f(float a<>, out float c<>) { c = k30(a); }\n")
                .into_bytes(),
            &[],
        ),
        (
            "deep_calls",
            (format!("kernel float k0(float a) {{ return {}a; }}\n", fill("a + ", 1600))
                + &numbered(31, &|n| {
                    format!("kernel float k{}(float a) {{ return k{n}(a){}; }}\n", n + 1, fill(" + a", 1600))
                })
                + "kernel void f(float a<>, out float c<>) { c = k31(a); }\n")
                .into_bytes(),
            &[],
        ),
        ("streams_without_end", fill("float a<1> ", MIB).into_bytes(), &[]),
        ("old_functions_without_end", fill("f(x) a ", MIB).into_bytes(), &[]),
        ("host_brackets", fill("f((", MIB).into_bytes(), &[]),
        ("angles", fill("a b<", MIB).into_bytes(), &[]),
        ("quotes", "\"".repeat(3 * MIB).into_bytes(), &[]),
        ("comment", format!("/*{}", "*".repeat(3 * MIB)).into_bytes(), &[]),
        ("one_word", kernel(format!("c = {};", "x".repeat(MIB - 4096))), &[]),
        ("one_number", kernel(format!("c = 1{}.0f;", "0".repeat(MIB - 4096))), &[]),
        ("zeros", vec![0; 3 * MIB], &[]),
        ("bytes", (0..MIB as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect(), &[]),
        (
            "macros_double",
            (numbered(64, &|n| format!("#define A{n} A{0} A{0}\n", n + 1)) + "int x = A0;\n").into_bytes(),
            &["-pp"],
        ),
        (
            "macros_chain",
            (numbered(95, &|n| format!("#define A{n} A{}\n", n + 1)) + &fill("A0 ", MIB) + "\n").into_bytes(),
            &["-pp"],
        ),
        (
            "macros_grow",
            (format!("#define A {}\n", "x".repeat(60_000)) + &"A\n".repeat(MIB / 4)).into_bytes(),
            &["-pp"],
        ),
        ("conditions", "#if 1\n".repeat(MIB / 6).into_bytes(), &["-pp"]),
    ]
}

/// The tests of this file.
pub fn trials(tools: &Lazy) -> Vec<Trial> {
    let trial = |name: String, test: Test| {
        let tools = Arc::clone(tools);
        Trial::test(name, move || {
            let tools = tools.get_or_init(Tools::new).as_ref().map_err(|e| Failed::from(e.clone()))?;
            test(tools).map_err(Failed::from)
        })
    };
    let mut trials = vec![trial("limits/wrong_sources".into(), Box::new(wrong_sources))];
    for (name, source, options) in monsters() {
        let test = move |tools: &Tools| bounded(tools, name, &source, options).map(drop);
        trials.push(trial(format!("limits/{name}"), Box::new(test)));
    }
    trials
}
