//! The command's options: the files that it writes, what stands in them, and how it ends.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::{Arc, OnceLock};

use recal_needs::{Failed, Trial};

use crate::build::Tools;

type Lazy = Arc<OnceLock<Result<Tools, String>>>;

const SOURCE: &str = "\
#include <math.h>
typedef struct { float x; float y; } Pair;
kernel void first(float a<>, out float b<>) { b = a; }
kernel void many(float a<>, out Pair p0<>, out Pair p1<>, out Pair p2<>, out Pair p3<>, out Pair p4<>)
{
    p0.x = a; p0.y = a; p1 = p0; p2 = p0; p3 = p0; p4 = p0;
}
int helper(int n) { return n + 1; }
static int hidden(void) { return 2; }
float old_helper(a, b) float a; float *b; { return a + *b; }
int main() { return helper(0) + hidden() - 3; }
";

/// A folder with `k.br` in it, and brcc run there.
struct Place<'t> {
    tools: &'t Tools,
    folder: PathBuf,
}

impl Place<'_> {
    fn write(&self, name: &str, text: &str) -> Result<(), String> {
        std::fs::write(self.folder.join(name), text).map_err(|e| format!("{name}: {e}"))
    }

    fn read(&self, name: &str) -> Result<String, String> {
        std::fs::read_to_string(self.folder.join(name)).map_err(|e| format!("{name}: {e}"))
    }

    fn brcc(&self, options: &[&str], env: &[(&str, &str)]) -> Result<Output, String> {
        let mut command = Command::new(self.tools.scratch.join("brcc"));
        command.current_dir(&self.folder).args(options).env_remove("BRCC_EXT_PP");
        command.envs(env.iter().copied()).output().map_err(|e| format!("brcc: {e}"))
    }

    /// Runs it to success; gives what it said.
    fn good(&self, options: &[&str]) -> Result<String, String> {
        let output = self.brcc(options, &[])?;
        let said = text(&output);
        if output.status.success() {
            Ok(said)
        } else {
            Err(format!("{options:?}: {}\n{said}", output.status))
        }
    }

    /// Runs it to exit status 1; gives what it said.
    fn bad(&self, options: &[&str]) -> Result<String, String> {
        let output = self.brcc(options, &[])?;
        let said = text(&output);
        if output.status.code() == Some(1) {
            Ok(said)
        } else {
            Err(format!("{options:?}: {}\n{said}", output.status))
        }
    }

    /// The files but the sources.
    fn files(&self) -> Result<BTreeSet<String>, String> {
        let entries = std::fs::read_dir(&self.folder).map_err(|e| e.to_string())?;
        let names = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned());
        Ok(names.filter(|n| !n.ends_with(".br") && !n.ends_with(".brh")).collect())
    }

    fn wants(&self, names: &[&str]) -> Result<(), String> {
        let (have, want) = (self.files()?, names.iter().map(|n| (*n).to_owned()).collect());
        if have == want { Ok(()) } else { Err(format!("files {have:?} rather than {want:?}")) }
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn holds(what: &str, yes: bool) -> Result<(), String> {
    if yes { Ok(()) } else { Err(format!("it does not hold: {what}")) }
}

type Test = fn(&Place<'_>) -> Result<(), String>;

const TESTS: [(&str, Test); 15] = [
    ("names", |p| {
        p.good(&["k.br"])?;
        p.wants(&["k.cpp", "k.h", "k_gpu.h"])?;
        holds("the guard", p.read("k.h")?.contains("#ifndef _k_AUTO_GENERATED_H_"))?;
        holds(
            "the class and its object",
            p.read("k.h")?.contains("class __first {") && p.read("k.h")?.contains(" first;"),
        )?;
        holds("the struct's elements", p.read("k.h")?.contains("getStreamType(const Pair*)"))?;
        let gpu = p.read("k_gpu.h")?;
        for name in [
            "__first_cal_desc_tech0_pass0[]",
            "__first_cal_desc_tech1_pass0[]",
            "__many_cal_desc_tech1_pass1[]",
            "__many_cal_desc ",
        ] {
            holds(name, gpu.contains(name))?;
        }
        let code = p.read("k.cpp")?;
        for line in [
            "#include \"brook/brook.h\"",
            "#include \"k_gpu.h\"",
            "#include \"k.h\"",
            "#include <math.h>",
            "__first_fp",
        ] {
            holds(line, code.contains(line))?;
        }
        Ok(())
    }),
    ("prefix", |p| {
        p.good(&["-o", "built/deep/name", "k.br"])?;
        p.wants(&["built"])?;
        for file in ["name.cpp", "name.h", "name_gpu.h"] {
            holds(file, p.folder.join("built/deep").join(file).is_file())?;
        }
        holds("the guard", p.read("built/deep/name.h")?.contains("_name_AUTO_GENERATED_H_"))?;
        p.good(&["-oglued", "k.br"])?;
        holds("a glued name", p.folder.join("glued.cpp").is_file())?;
        holds("-o twice", p.bad(&["-o", "a", "-o", "b", "k.br"])?.contains("once"))
    }),
    ("keep", |p| {
        p.good(&["-k", "k.br"])?;
        p.wants(&[
            "k.cpp",
            "k.h",
            "k_gpu.h",
            "k_first.il",
            "k_first_addr.il",
            "k_many_pass0.il",
            "k_many_pass0_addr.il",
            "k_many_pass1.il",
            "k_many_pass1_addr.il",
        ])?;
        holds("IL", p.read("k_first.il")?.starts_with("il_ps_2_0\n"))
    }),
    ("plain_only", |p| {
        for option in ["-r", "-R"] {
            p.good(&[option, "-k", "k.br"])?;
            p.wants(&["k.cpp", "k.h", "k_gpu.h", "k_first.il", "k_many_pass0.il", "k_many_pass1.il"])?;
            holds("no translation", !p.read("k_gpu.h")?.contains("addressTranslation"))?;
        }
        Ok(())
    }),
    ("targets", |p| {
        p.good(&["-p", "cal", "k.br"])?;
        let code = p.read("k.cpp")?;
        holds("no CPU version in the table", code.contains("{\"first\", __first_cal, 0,"))?;
        p.good(&["-p", "cpu", "k.br"])?;
        holds(
            "no IL",
            !p.read("k_gpu.h")?.contains("il_ps_2_0") && p.read("k_gpu.h")?.contains("__first_cal = 0;"),
        )?;
        p.good(&["-p", "cal", "-p", "cpu", "k.br"])?;
        holds(
            "both",
            p.read("k_gpu.h")?.contains("il_ps_2_0")
                && p.read("k.cpp")?.contains("{\"first\", __first_cal, __first_cpu,"),
        )?;
        p.bad(&["-p", "ps30", "k.br"]).map(drop)
    }),
    ("numbers", |p| {
        p.good(&["-s", "k.br"])?;
        let gpu = p.read("k_gpu.h")?;
        // i l _ p s
        holds("a list of numbers", gpu.contains("    105,108,95,112,115,") && !gpu.contains("\"il_ps"))
    }),
    ("lines", |p| {
        p.good(&["-l", "k.br"])?;
        holds("line directives", p.read("k.cpp")?.contains("#line 3 \"k.br\""))?;
        p.good(&["-l", "-n", "l", "k.br"])?;
        holds("none", !p.read("k.cpp")?.contains("#line"))?;
        // Each mark is the number of its line, behind whatever was rewritten.
        let source = "kernel void f(float a<>, out float c<>) { c = a; }\n\n/* comment */\nint mark_4;\n\
                      int old(a,\n b)\n int a;\n float b;\n{ return mark_9; }\n\
                      void g(int n)\n{ float s<2,\n 3>, t<4\n >; float mark_13 = n; }\nint h(float s<\n>) { return mark_15; }\n";
        p.write("l.br", source)?;
        p.good(&["-l", "l.br"])?;
        let (mut number, mut marks) = (0, 0);
        for line in p.read("l.cpp")?.lines() {
            match line.strip_prefix("#line ").and_then(|rest| rest.split(' ').next()?.parse::<u32>().ok()) {
                Some(next) => number = next - 1,
                None => number += 1,
            }
            if let Some((_, rest)) = line.split_once("mark_") {
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                holds(&format!("mark {digits} in line {number}"), digits == number.to_string())?;
                marks += 1;
            }
        }
        holds("all marks", marks == 4)?;
        p.bad(&["-n", "x", "k.br"]).map(drop)
    }),
    ("prototypes", |p| {
        p.good(&["-e", "k.br"])?;
        let header = p.read("k.h")?;
        holds("extern \"C\"", header.contains("extern \"C\" {\nint helper(int n);\n"))?;
        holds(
            "neither static functions nor main",
            !header.contains("hidden") && !header.contains("int main("),
        )?;
        holds("the K&R kind", header.contains("float old_helper(float a, float *b);\n"))?;
        holds("what they need", header.contains("#include <math.h>\n"))?;
        p.write(
            "e.br",
            "#include <stdio.h>\n#define REAL float\ntypedef int number;\ntypedef enum { A, B } Choice;\n\
             static int inside(n) int n; { return n; }\n\
             int streams(s, n) float s<>; number n; { return inside(n); }\n\
             number put(to, each) FILE *to; float (*each)(int); { return to != 0 && each != 0; }\n\
             REAL macro(REAL a) { return a; }\nint choose(Choice c) { return c == A; }\n\
             int twice(int a) { return a; }\nint twice(float a) { return a > 0; }\nextern \"C\" { int there(a) { return a + 1; } }\n",
        )?;
        p.good(&["-e", "e.br"])?;
        let header = p.read("e.h")?;
        let prototypes = header.split("extern \"C\" {\n").nth(1).unwrap_or_default();
        holds(
            prototypes,
            prototypes.starts_with(
                "int streams(::brook::Stream<float > s, number n);\nnumber put(FILE *to, float (*each)(int));\nint there(int a);\n}\n",
            ),
        )?;
        p.write("main.cpp", "#include \"e.h\"\nint main() { return there(-1); }\n")?;
        for file in ["e", "main"] {
            let (source, object) =
                (p.folder.join(file).with_extension("cpp"), p.folder.join(file).with_extension("o"));
            crate::build::run(&mut p.tools.compile(&source, &object, crate::build::Code::Program))?;
        }
        p.good(&["k.br"])?;
        holds("none without -e", !p.read("k.h")?.contains("helper"))
    }),
    ("warnings", |p| {
        p.write("w.br", "kernel void f(float a<>, out int c<>) { c = a; }\n")?;
        holds("strong typing", p.bad(&["w.br"])?.contains("error[type-mismatch]"))?;
        p.wants(&[])?;
        holds("silent", p.good(&["-a", "w.br"])?.is_empty())?;
        holds("level 3", p.good(&["-a", "-w", "3", "w.br"])?.contains("warning[type-mismatch]"))?;
        holds("level 3, glued", p.good(&["-a", "-w3", "w.br"])?.contains("warning[type-mismatch]"))?;
        holds("errors", p.bad(&["-ax", "-w", "3", "w.br"])?.contains("error[type-mismatch]"))?;
        p.bad(&["-w", "4", "w.br"]).map(drop)
    }),
    ("macros", |p| {
        p.write("m.br", "#ifdef GIVEN\nkernel void f(float a<>, float k[SIZE], out float c<>) { c = a + k[1]; }\n#else\nnothing works\n#endif\n")?;
        p.good(&["-pp", "-D", "GIVEN", "-D", "SIZE=4", "m.br"])?;
        holds("the macro's value", p.read("m.h")?.contains("k[4]"))?;
        p.good(&["-pp", "-DGIVEN=1", "-DSIZE=7", "m.br"])?;
        holds("glued", p.read("m.h")?.contains("k[7]"))?;
        holds("a name", p.bad(&["-pp", "-D", "1+=2", "m.br"])?.contains("no name"))?;
        // Without -pp directives go through to the C++ compiler.
        p.write("d.br", "#define N 3\n#if N > 2\nint n = N;\n#endif\n")?;
        p.good(&["d.br"])?;
        holds("directives", p.read("d.cpp")?.contains("#define N 3\n#if N > 2\nint n = N;\n#endif"))
    }),
    ("external_preprocessor", |p| {
        p.write(
            "x.br",
            "#include \"part.brh\"\nkernel void f(float a<>, out float c<>) { c = a * FACTOR; }\n",
        )?;
        std::fs::create_dir_all(p.folder.join("inc")).map_err(|e| e.to_string())?;
        p.write("inc/part.brh", "#define FACTOR 2.0f\n")?;
        for line in ["cpp -P -I %I %S -o %P", "cpp -P -I %I"] {
            let output = p.brcc(&["-pp", "-i", "inc", "x.br"], &[("BRCC_EXT_PP", line)])?;
            holds(&format!("{line}: {}", text(&output)), output.status.success())?;
            holds("the macro", !p.read("x.cpp")?.contains("FACTOR"))?;
        }
        let output = p.brcc(&["-pp", "x.br"], &[("BRCC_EXT_PP", "false %S")])?;
        holds("its failure", output.status.code() == Some(1) && text(&output).contains("BRCC_EXT_PP"))?;
        let output = p.brcc(&["-pp", "x.br"], &[("BRCC_EXT_PP", "no-such-program %S")])?;
        holds("its absence", output.status.code() == Some(1))
    }),
    ("names_of_types_hidden", |p| {
        p.write("t.br", "kernel void f(float4 a<>, uint b<>, out float4 c<>) { c = a * float4(2.0f, 2.0f, 2.0f, (float)b); }\n")?;
        p.good(&["t.br"])?;
        p.write(
            "main.cpp",
            "typedef int float4;\nstruct uchar {};\n#include \"t.h\"\nstatic int full(size_t) { return 0; }\n\
             int main() { brook::setMemoryHandle(full); return float4(0); }\n",
        )?;
        for file in ["t", "main"] {
            let (source, object) =
                (p.folder.join(file).with_extension("cpp"), p.folder.join(file).with_extension("o"));
            let mut command = p.tools.compile(&source, &object, crate::build::Code::Written);
            crate::build::run(command.arg("-DHIDE_BROOK_TYPES"))?;
        }
        Ok(())
    }),
    ("header_only", |p| {
        p.write("h.brh", "kernel void f(float a<>, out float c<>) { c = a; }\n")?;
        p.good(&["h.brh"])?;
        p.wants(&["h.h"])
    }),
    ("old_results_go", |p| {
        p.good(&["k.br"])?;
        p.write("k.br", "kernel void broken( { }\n")?;
        p.bad(&["k.br"])?;
        p.wants(&[])
    }),
    ("wrong_use", |p| {
        holds("usage", p.bad(&["-h"])?.contains("usage: brcc"))?;
        holds("no file", p.bad(&[])?.contains("no file"))?;
        holds("a suffix", p.bad(&["k.cpp"])?.contains(".br"))?;
        holds("a file that is not there", p.bad(&["nowhere.br"])?.contains("nowhere.br"))?;
        holds("two files", p.bad(&["k.br", "k.br"])?.contains("one file"))?;
        holds("an option", p.bad(&["-z", "k.br"])?.contains("unknown option"))?;
        holds("no argument", p.bad(&["k.br", "-o"])?.contains("lacks"))?;
        holds("folders", p.bad(&[["-i", "x"].repeat(33).as_slice(), &["k.br"]].concat())?.contains("32"))?;
        p.good(&["-b", "-f", "-d", "k.br"])?;
        let said = p.good(&["-v", "k.br"])?;
        holds("verbose", ["k.cpp", "k.h", "k_gpu.h"].iter().all(|f| said.contains(f)))
    }),
];

fn run(tools: &Tools, name: &str, test: Test) -> Result<(), String> {
    let folder = tools.scratch.join("options").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let place = Place { tools, folder };
    place.write("k.br", SOURCE)?;
    test(&place)
}

/// The tests of this file.
pub fn trials(tools: &Lazy) -> Vec<Trial> {
    let trial = |(name, test): (&'static str, Test)| {
        let tools = Arc::clone(tools);
        Trial::test(format!("options/{name}"), move || {
            let tools = tools.get_or_init(Tools::new).as_ref().map_err(|e| Failed::from(e.clone()))?;
            run(tools, name, test).map_err(Failed::from)
        })
    };
    TESTS.into_iter().map(trial).collect()
}
