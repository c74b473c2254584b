//! How other builds find an installed reCAL: pkg-config, CMake, `DESTDIR`.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use recal_conformance::toolchain::{Installation, Result, Standard, repository, run};
use recal_needs::Trial;

use crate::{Lazy, trial};

/// The tests of this file.
pub fn trials(lazy: &Lazy) -> Vec<Trial> {
    vec![
        trial("packages::pkg_config".into(), lazy, pkg_config),
        trial("packages::cmake".into(), lazy, cmake),
        trial("packages::destdir".into(), lazy, destdir),
        trial("packages::readme".into(), lazy, readme),
    ]
}

fn pkg_config(installation: &Installation) -> Result<()> {
    let mut query = Command::new("pkg-config");
    query
        .env("PKG_CONFIG_PATH", installation.prefix.join("lib/pkgconfig"))
        .args(["--cflags", "--libs", "cal"]);
    let options = run(&mut query, Duration::from_secs(60))?.success("pkg-config")?.stdout;
    let program = installation.build.join("by-pkg-config");
    let mut compiler = Command::new("gcc");
    compiler.arg(repository().join("samples/c/hellocal.c")).arg("-o").arg(&program);
    compiler.args(options.split_whitespace());
    run(&mut compiler, Duration::from_secs(60))?.success("gcc")?;
    let mut program = Command::new(program);
    program.env("LD_LIBRARY_PATH", installation.prefix.join("lib"));
    run(&mut program, Duration::from_secs(60))?.success("hellocal")?;
    Ok(())
}

fn cmake(installation: &Installation) -> Result<()> {
    let found_by = format!("-DCMAKE_PREFIX_PATH={}", installation.prefix.display());
    cmake_builds(installation, "by-cmake", &found_by)
}

/// A project that finds the package this way builds and runs.
fn cmake_builds(installation: &Installation, name: &str, found_by: &str) -> Result<()> {
    let project = installation.build.join(name);
    let write = |name: &str, text: &str| {
        let file = project.join(name);
        std::fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))
    };
    // A leftover of an earlier run would keep its cache.
    let _ = std::fs::remove_dir_all(&project);
    std::fs::create_dir_all(&project).map_err(|e| format!("{}: {e}", project.display()))?;
    let source = repository().join("samples/c/hellocal.c");
    write(
        "CMakeLists.txt",
        &format!(
            "cmake_minimum_required(VERSION 3.13)\nproject(hello C)\nfind_package(CAL 0.1 REQUIRED)\n\
             add_executable(hello \"{}\")\ntarget_link_libraries(hello CAL::CAL)\n",
            source.display()
        ),
    )?;
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(&project).arg("-B").arg(project.join("build"));
    configure.arg(found_by);
    run(&mut configure, Duration::from_secs(120))?.success("cmake")?;
    run(Command::new("cmake").arg("--build").arg(project.join("build")), Duration::from_secs(120))?
        .success("cmake --build")?;
    run(&mut Command::new(project.join("build/hello")), Duration::from_secs(60))?.success("hello")?;
    Ok(())
}

/// A staged installation, with libraries where the system has them, is whole, its command runs, and it has the final
/// prefix in its files, not the staging folder; and it can be removed.
fn destdir(installation: &Installation) -> Result<()> {
    let stage = installation.build.join("stage");
    let make = |goal: &str| -> Result<()> {
        let mut make = Command::new("make");
        make.current_dir(repository()).args([goal, "PREFIX=/opt/recal", "LIBDIR=lib/of-a-system"]);
        make.arg(format!("DESTDIR={}", stage.display()));
        for name in ["CARGO_TARGET_DIR", "MAKEFLAGS", "MAKELEVEL"] {
            make.env_remove(name);
        }
        run(&mut make, Duration::from_secs(600))?.success(goal)?;
        Ok(())
    };
    make("install")?;
    let root = stage.join("opt/recal");
    for file in [
        "include/CAL/cal.h",
        "lib/of-a-system/libaticalrt.so",
        "lib/of-a-system/libaticalcl.so",
        "lib/of-a-system/libaticaldd.so",
        "lib/of-a-system/libbrook.so",
        "lib/of-a-system/libCALBLAS.so",
        "lib/of-a-system/libacml.so",
        "lib/of-a-system/pkgconfig/calblas.pc",
        "include/calblas.h",
        "include/calblas/cblas.h",
        "include/brook/brook.h",
        "include/brook/CPU/kernel.h",
        "bin/brcc",
        "bin/recal",
        "share/man/man1/recal.1",
        "share/man/man1/recal-run.1",
        "share/man/man3/calCtxRunProgram.3",
        "share/man/man7/amd-il.7",
        "share/man/man7/recal-environment.7",
        "share/bash-completion/completions/recal",
    ] {
        if !Path::new(&root).join(file).is_file() {
            return Err(format!("{file} is not there"));
        }
    }
    let libraries = root.join("lib/of-a-system");
    for file in [
        root.join("bin/recal"),
        root.join("bin/brcc"),
        libraries.join("libaticalrt.so"),
        libraries.join("libaticalcl.so"),
        libraries.join("libbrook.so"),
        libraries.join("libCALBLAS.so"),
    ] {
        let sections = run(Command::new("readelf").args(["-S", "-W"]).arg(&file), Duration::from_secs(60))?;
        if sections.success("readelf")?.stdout.contains(".debug_line") {
            return Err(format!("{} is not stripped", file.display()));
        }
    }
    // Nothing is called as programs that systems have: `cal` is a calendar.
    if root.join("bin/cal").exists() {
        return Err("bin/cal is there".into());
    }
    cmake_builds(installation, "staged", &format!("-DCAL_DIR={}", libraries.join("cmake/CAL").display()))?;
    let pc =
        std::fs::read_to_string(libraries.join("pkgconfig/cal.pc")).map_err(|e| format!("cal.pc: {e}"))?;
    run(Command::new(root.join("bin/recal")).arg("devices"), Duration::from_secs(60))?
        .success("recal devices")?;
    let right = pc.contains("prefix=/opt/recal\n") && pc.contains("libdir=${prefix}/lib/of-a-system\n");
    if !right {
        return Err(format!("cal.pc:\n{pc}"));
    }
    make("uninstall")?;
    let left: Vec<_> = std::fs::read_dir(&root).into_iter().flatten().flatten().map(|e| e.path()).collect();
    if left.is_empty() { Ok(()) } else { Err(format!("make uninstall left {left:?}")) }
}

/// The program of the README builds and prints what its comment says.
fn readme(installation: &Installation) -> Result<()> {
    let file = repository().join("README.md");
    let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    let program = text
        .split("```c\n")
        .nth(1)
        .and_then(|t| t.split("```").next())
        .ok_or("README.md has no C program")?;
    let source = installation.build.join("readme.c");
    std::fs::write(&source, program).map_err(|e| format!("{}: {e}", source.display()))?;
    let program = installation.build("readme", &[source], Standard::C("c99"), &[])?;
    let output = run(&mut Command::new(program), Duration::from_secs(60))?.success("readme")?.stdout;
    if output == "8.75\n" { Ok(()) } else { Err(format!("printed {output}")) }
}
