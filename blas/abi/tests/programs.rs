//! Programs that know BLAS only: netlib's testers and one that CMake finds us for, with our library in the place of theirs.
//!
//! All products go to the device named, down to the smallest.

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use recal_needs::{Arguments, LAVAPIPE, Need, Trial, trial};
use support::{Outcome, library, root, run};

/// Where netlib's testers are: Debian's package `libblas-test`.
fn testers() -> PathBuf {
    Path::new("/usr/lib").join(format!("{}-linux-gnu/blas", std::env::consts::ARCH))
}

/// One of netlib's testers. `few`: sizes 1 and 7 only.
fn netlib(tester: &str, input: Option<&str>, device: &[(&str, &str)], few: bool) -> Outcome {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("netlib-{tester}-{few}"));
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    for entry in std::fs::read_dir(&folder).map_err(|e| e.to_string())?.flatten() {
        let _ = std::fs::remove_file(entry.path());
    }
    let input = match input {
        Some(name) => {
            Some(std::fs::read_to_string(testers().join(name)).map_err(|e| format!("{name}: {e}"))?)
        }
        None => None,
    };
    let input = input.map(|text| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        if let (true, Some(at)) = (few, lines.iter().position(|line| line.contains("NUMBER OF VALUES OF N")))
        {
            lines[at] = "2                 NUMBER OF VALUES OF N".into();
            lines[at + 1] = "1 7               VALUES OF N".into();
        }
        lines.join("\n") + "\n"
    });
    let figures = folder.join("figures");
    let mut command = Command::new(testers().join(tester));
    command.current_dir(&folder).env("LD_LIBRARY_PATH", library()?);
    command.env("CALBLAS_SHARE", "1").env("CALBLAS_THRESHOLD", "0").env("CALBLAS_LOG", &figures);
    command.envs(device.iter().copied()).env_remove("CALBLAS_HOST").env("CAL_CACHE", folder.join("cache"));
    let mut text = run(&mut command, input)?;
    // Levels 2 and 3 of Fortran write to a file.
    for entry in std::fs::read_dir(&folder).map_err(|e| e.to_string())?.flatten() {
        if entry.path().extension().is_some_and(|e| e == "out") {
            text += &std::fs::read_to_string(entry.path()).unwrap_or_default();
        }
    }
    if !text.contains("PASS") || text.contains("FAIL") || text.contains("*****") {
        return Err(format!("{tester}:\n{text}"));
    }
    if tester.ends_with('3') || tester.starts_with("xblat3") {
        let told = std::fs::read_to_string(&figures).map_err(|e| format!("{tester}: no figures: {e}"))?;
        if !told.contains("host 0 calls") || told.contains("devices 0 calls") {
            return Err(format!("{tester}: not all was the device's: {told}"));
        }
    }
    Ok(())
}

/// CMake finds the library as ACML-GPU.
fn cmake() -> Outcome {
    let library = library()?;
    let build = Path::new(env!("CARGO_TARGET_TMPDIR")).join("calblas-cmake");
    let _ = std::fs::remove_dir_all(&build);
    let mut configure = Command::new("cmake");
    configure
        .arg("-S")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/installed"))
        .arg("-B")
        .arg(&build);
    configure.arg(format!("-DBLAS_ACML_GPU_LIB_DIRS={}", library.display()));
    configure.arg(format!("-DCMAKE_C_FLAGS=-I{}", root().join("blas/include").display()));
    let told = run(&mut configure, None)?;
    if !told.contains("libacml.so") || !told.contains("libCALBLAS.so") {
        return Err(format!("CMake found another library:\n{told}"));
    }
    run(Command::new("cmake").arg("--build").arg(&build), None)?;
    let mut program = Command::new(build.join("product"));
    program.env("LD_LIBRARY_PATH", library).env("CAL_BACKEND", "cpu");
    program.env("CALBLAS_SHARE", "1").env("CALBLAS_THRESHOLD", "0");
    let printed = run(&mut program, None)?;
    // After it there may be hints of the log: on a processor younger than OpenBLAS.
    if printed.starts_with("4 5 10 11 16\n") { Ok(()) } else { Err(format!("it printed {printed}")) }
}

/// As an alternative of Debian's for `libblas.so.3`, in folders of its own: taken by its priority, given back when it is removed.
fn alternative() -> Outcome {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("calblas-alternative");
    let _ = std::fs::remove_dir_all(&folder);
    for name in ["alternatives", "admin", "lib"] {
        std::fs::create_dir_all(folder.join(name)).map_err(|e| e.to_string())?;
    }
    let link = folder.join("lib/libblas.so.3");
    let name = format!("libblas.so.3-{}-linux-gnu", std::env::consts::ARCH);
    let alternatives = |arguments: &[&dyn AsRef<std::ffi::OsStr>]| {
        let mut command = Command::new("update-alternatives");
        command.arg("--quiet").arg("--altdir").arg(folder.join("alternatives"));
        command.arg("--admindir").arg(folder.join("admin")).arg("--log").arg(folder.join("log"));
        arguments.iter().for_each(|argument| _ = command.arg(argument));
        run(&mut command, None)
    };
    let (ours, other) = (library()?.join("libCALBLAS.so"), testers().join("libblas.so.3"));
    // Level 3 on the device tells who is at work.
    let figures = folder.join("figures");
    let told = || {
        let _ = std::fs::remove_file(&figures);
        let mut command = Command::new(testers().join("xscblat3"));
        command.current_dir(&folder).env("LD_LIBRARY_PATH", folder.join("lib")).env_remove("CALBLAS_HOST");
        command.env("CAL_BACKEND", "cpu").env("CALBLAS_LOG", &figures);
        let input = std::fs::read_to_string(testers().join("sin3")).map_err(|e| e.to_string())?;
        let text = run(&mut command, Some(input))?;
        let passed = text.contains("PASS") && !text.contains("FAIL");
        if passed { Ok(figures.exists()) } else { Err(text) }
    };
    alternatives(&[&"--install", &link, &name, &other, &"10"])?;
    if told()? {
        return Err("our library was at work before it was an alternative".into());
    }
    alternatives(&[&"--install", &link, &name, &ours, &"200"])?;
    if !told()? {
        return Err("our library was not at work as libblas.so.3".into());
    }
    alternatives(&[&"--remove", &name, &ours])?;
    if told()? { Err("our library was at work after it was removed".into()) } else { Ok(()) }
}

/// Without a host BLAS, products work and what is the host's says what is missing.
fn without_host() -> Outcome {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("calblas-without");
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let program = folder.join("product");
    let mut compiler = Command::new("gcc");
    compiler
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/installed/product.c"))
        .arg("-o")
        .arg(&program);
    compiler.arg(format!("-I{}", root().join("blas/include").display()));
    compiler.arg(format!("-L{}", library()?.display())).arg("-lCALBLAS");
    run(&mut compiler, None)?;
    for host in ["none", "libnothing-of-the-kind.so"] {
        let mut command = Command::new(&program);
        command.env("LD_LIBRARY_PATH", library()?).env("CAL_BACKEND", "cpu").env("CALBLAS_HOST", host);
        match run(&mut command, None) {
            Err(told)
                if told.contains("CALBLAS: cblas_ddot is the host BLAS's")
                    && told.contains("CALBLAS_HOST") => {}
            other => return Err(format!("{host}: {other:?}")),
        }
    }
    Ok(())
}

/// Which argument is told to be wrong, by rows and by columns, with a host that asks our error handler too; and numbers that need no
/// host.
fn wrong_arguments() -> Outcome {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("calblas-errors");
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let program = folder.join("errors");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/installed/errors.c");
    let mut compiler = Command::new("gcc");
    compiler.arg(&source).arg("-o").arg(&program);
    compiler.arg(format!("-I{}", root().join("blas/include").display()));
    compiler.arg(format!("-L{}", library()?.display())).arg("-lCALBLAS");
    run(&mut compiler, None)?;
    let wanted = std::fs::read_to_string(source.with_extension("out")).map_err(|e| e.to_string())?;
    for host in [testers().join("libblas.so.3"), PathBuf::from("none")] {
        let mut command = Command::new(&program);
        command.env("LD_LIBRARY_PATH", library()?).env("CAL_BACKEND", "cpu").env("CALBLAS_HOST", &host);
        let told = run(&mut command, None)?;
        let same = if host.exists() { told == wanted } else { told.ends_with("\n7 17\n7 17\n") };
        if !same {
            return Err(format!("{}: it printed\n{told}\nrather than\n{wanted}", host.display()));
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let there = |what: &str, there: bool| Need::system(&format!("{what} is not installed"), there);
    let netlibs = || there("libblas-test", testers().join("xblat3s").exists());
    let host = || there("a host BLAS", testers().join("libblas.so.3").exists());
    let mut trials: Vec<Trial> = vec![
        trial("cmake", [Need::program("cmake"), host()], cmake),
        trial("alternative", [Need::program("update-alternatives"), netlibs(), host()], alternative),
        trial("without_host", [Need::program("gcc")], without_host),
        trial("wrong_arguments", [Need::program("gcc"), netlibs(), host()], wrong_arguments),
    ];
    let cpu: &[(&str, &str)] = &[("CAL_BACKEND", "cpu")];
    let vulkan: &[(&str, &str)] = &[("CAL_BACKEND", "vulkan"), ("CAL_VULKAN_DEVICE", LAVAPIPE.device)];
    for letter in ["s", "d", "c", "z"] {
        for level in ["1", "2", "3"] {
            let all = [
                (format!("xblat{level}{letter}"), (level != "1").then(|| format!("{letter}blat{level}.in"))),
                (format!("x{letter}cblat{level}"), (level != "1").then(|| format!("{letter}in{level}"))),
            ];
            for (tester, input) in all {
                let (again, file) = (tester.clone(), input.clone());
                trials.push(trial(format!("cpu::{tester}"), [netlibs(), host()], move || {
                    netlib(&tester, input.as_deref(), cpu, false)
                }));
                // Levels 1 and 2 do not see the device.
                if level == "3" && again.starts_with("xblat") {
                    trials.push(trial(
                        format!("lavapipe::{again}"),
                        [netlibs(), host(), Need::driver(LAVAPIPE)],
                        move || netlib(&again, file.as_deref(), vulkan, true),
                    ));
                }
            }
        }
    }
    recal_needs::run(&Arguments::from_args(), trials)
}
