//! What the libraries and commands for a platform look like from outside: exported names, the command `recal`, Brook+, headers.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use recal_conformance::toolchain::{Result, Standard, repository, run};
use recal_needs::{Need, Trial};

use super::{By, PATIENCE, Platform};

impl Platform {
    /// The libraries export the historical names; on Windows under each of their file names.
    pub(super) fn exports(self) -> Result<()> {
        let read = |list: &str| {
            let file = repository().join("tests/abi").join(list);
            std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))
        };
        let wide = self.target.starts_with("x86_64");
        for (part, list) in [("rt", "exports-rt.txt"), ("cl", "exports-cl.txt")] {
            let list = read(list)?;
            let expected: BTreeSet<&str> = list.lines().collect();
            let files = match (self.is_windows(), wide) {
                (false, _) => vec![format!("libatical{part}.so")],
                (true, false) => vec![format!("atical{part}.dll"), format!("amdcal{part}.dll")],
                (true, true) => ["atical", "amdcal"]
                    .iter()
                    .flat_map(|name| ["", "64"].map(|end| format!("{name}{part}{end}.dll")))
                    .collect(),
            };
            for file in files {
                let found = self.exported(&self.libraries().join(&file))?;
                let plain: BTreeSet<&str> = found
                    .iter()
                    .map(String::as_str)
                    .filter(|n| n.starts_with("cal") && !n.contains('@'))
                    .collect();
                if plain != expected {
                    return Err(format!("{file} exports {plain:?}"));
                }
                if self.by != By::Wine32 {
                    continue;
                }
                // calInit, calInit@0 and _calInit@0.
                for name in expected.iter() {
                    let decorated = format!("{name}@");
                    let both = ["", "_"]
                        .map(|begin| found.iter().any(|n| n.starts_with(&format!("{begin}{decorated}"))));
                    if both != [true, true] {
                        return Err(format!("{file} exports {name} without its decorations"));
                    }
                }
            }
        }
        Ok(())
    }

    /// Names that a library exports.
    fn exported(self, library: &Path) -> Result<BTreeSet<String>> {
        if self.is_windows() {
            let mut dump = Command::new(format!("{}objdump", self.tools));
            let text = run(dump.arg("-p").arg(library), PATIENCE)?.success("objdump")?.stdout;
            // "\t[   0] calCtxCreate" behind the line of the table's name.
            let table =
                text.split_once("[Ordinal/Name Pointer] Table").map(|(_, rest)| rest).unwrap_or_default();
            let lines = table.lines().skip(1).take_while(|l| !l.trim().is_empty());
            return Ok(lines
                .filter_map(|l| Some(l.split_once("] ")?.1.split_whitespace().last()?.to_owned()))
                .collect());
        }
        let mut nm = Command::new("nm");
        nm.args(["-D", "--defined-only", "--format=posix"]).arg(library);
        let text = run(&mut nm, PATIENCE)?.success("nm")?.stdout;
        Ok(text.lines().filter_map(|l| l.split_whitespace().next()).map(str::to_owned).collect())
    }

    /// The command runs and says what it was built for.
    pub(super) fn command_line(self) -> Result<()> {
        let mut command = self.tool(&self.folder().join("bin/recal"))?;
        let printed = run(command.args(["doctor", "--json"]), PATIENCE)?.success("recal doctor")?.stdout;
        let report: serde_json::Value =
            serde_json::from_str(&printed).map_err(|e| format!("recal doctor --json: {e}\n{printed}"))?;
        let processor = self.target.split('-').next().unwrap_or_default().replace("i686", "x86");
        let system = if self.is_windows() { "windows" } else { "linux" };
        let said = (report["os"].as_str(), report["arch"].as_str());
        if said == (Some(system), Some(&processor)) {
            Ok(())
        } else {
            Err(format!("{system}, {processor}: recal doctor says {said:?}"))
        }
    }

    /// A command of ours for the target, where programs are.
    fn tool(self, built: &Path) -> Result<Command> {
        let end = if self.is_windows() { "exe" } else { "" };
        let built = built.with_extension(end);
        let program = self.programs()?.join(built.file_name().unwrap_or_default());
        std::fs::copy(&built, &program).map_err(|e| format!("{}: {e}", built.display()))?;
        if self.by != By::Loader {
            return self.command(&program, false);
        }
        // It was linked for a system that has 32-bit libraries.
        let folder = "/usr/i686-linux-gnu/lib";
        let mut command = Command::new(format!("{folder}/ld-linux.so.2"));
        command.args(["--library-path", folder]).arg(&program).current_dir(self.programs()?);
        command.env("CAL_BACKEND", "cpu");
        Ok(command)
    }

    /// `brcc` compiles the kernels of `brook/tests/installed`, and the program runs them on the CPU versions and on CAL.
    pub(super) fn brook_program(self) -> Result<()> {
        let files = repository().join("brook/tests/installed");
        let folder = self.programs()?;
        for file in ["kernels.br", "main.cpp"] {
            std::fs::copy(files.join(file), folder.join(file)).map_err(|e| format!("{file}: {e}"))?;
        }
        run(self.tool(&self.brook().join("brcc"))?.arg("kernels.br"), PATIENCE)?.success("brcc")?;
        let include = format!("-I{}", repository().join("brook/include").display());
        let libraries = format!("-L{}", self.brook().display());
        let sources = ["main.cpp", "kernels.cpp"].map(|name| folder.join(name));
        let options = [include.as_str(), "-I.", &libraries, "-lbrook"];
        let program = self.build("brook_saxpy", &sources, Standard::Cxx("c++98"), &options)?;
        for runtime in ["cpu", "cal"] {
            let mut command = self.command(&program, false)?;
            let printed =
                run(command.env("BRT_RUNTIME", runtime), PATIENCE)?.success(&format!("on {runtime}"))?.stdout;
            if printed.trim_end() != "Passed!" {
                return Err(format!("on {runtime} it printed {printed}"));
            }
        }
        Ok(())
    }
}

/// The headers as Microsoft's compiler reads them, by clang, which imitates it.
pub(super) fn msvc() -> Trial {
    let there = run(Command::new("clang").arg("--version"), PATIENCE).is_ok();
    let need = Need::system("clang is not installed", there);
    recal_needs::trial("platforms::headers::msvc", [need], || -> Result<()> {
        let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
        // Those for Direct3D include the headers of Microsoft's kit.
        let headers = ["CAL/cal.h", "CAL/calcl.h", "CAL/cal_ext.h", "CAL/cal_ext_counter.h"];
        let headers = [&headers[..], &["CAL/calcl_ext.h", "CAL/cal_private_ext.h", "brook/capi.h"]].concat();
        let text: String = headers.iter().map(|header| format!("#include <{header}>\n")).collect();
        for triple in ["x86_64-pc-windows-msvc", "i686-pc-windows-msvc"] {
            for (language, end) in [("/TC", "c"), ("/TP", "cpp")] {
                let file = scratch.join(format!("msvc.{end}"));
                let calls = format!("{text}int unit(void);\nint unit(void) {{ return calInit(); }}\n");
                std::fs::write(&file, calls).map_err(|e| format!("{}: {e}", file.display()))?;
                let mut command = Command::new("clang");
                command.args(["--driver-mode=cl", "-fsyntax-only", "/W4", "/WX", language]);
                command.arg(format!("--target={triple}"));
                for folder in ["cal-api/include", "brook/include"] {
                    command.arg("/I").arg(repository().join(folder));
                }
                run(command.arg("--").arg(&file), PATIENCE)?.success(triple)?;
            }
        }
        Ok(())
    })
}
