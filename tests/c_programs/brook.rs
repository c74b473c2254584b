//! How programs find an installed Brook+: the makefiles of its time, pkg-config, CMake. The program is `brook/tests/installed`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use recal_conformance::toolchain::{Installation, Result, repository, run};
use recal_needs::Trial;

use crate::{Lazy, trial};

/// The tests of this file.
pub fn trials(lazy: &Lazy) -> Vec<Trial> {
    vec![
        trial("brook::makefile".into(), lazy, makefile),
        trial("brook::pkg_config".into(), lazy, pkg_config),
        trial("brook::cmake".into(), lazy, cmake),
        trial("brook::exports".into(), lazy, exports),
    ]
}

const MINUTES: Duration = Duration::from_secs(240);

/// A copy of the program's files in a folder of its own.
fn project(installation: &Installation, name: &str) -> Result<PathBuf> {
    let folder = installation.build.join(name);
    // What an earlier run left would be taken for up to date.
    let _ = std::fs::remove_dir_all(&folder);
    let files = repository().join("brook/tests/installed");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for file in ["kernels.br", "main.cpp", "Makefile", "CMakeLists.txt"] {
        std::fs::copy(files.join(file), folder.join(file)).map_err(|e| format!("{file}: {e}"))?;
    }
    Ok(folder)
}

/// The program passes on the CPU versions of its kernels and on CAL.
fn passes(installation: &Installation, program: &Path) -> Result<()> {
    for runtime in ["cpu", "cal"] {
        let mut program = Command::new(program);
        program.env("LD_LIBRARY_PATH", installation.prefix.join("lib"));
        program.env("BRT_RUNTIME", runtime).env("CAL_BACKEND", "cpu");
        let output = run(&mut program, MINUTES)?.success(runtime)?.stdout;
        if output != "Passed!\n" {
            return Err(format!("{runtime}: it printed {output}"));
        }
    }
    Ok(())
}

/// `brcc` on the path, `-lbrook`.
fn makefile(installation: &Installation) -> Result<()> {
    let folder = project(installation, "brook-makefile")?;
    let path = std::env::var("PATH").unwrap_or_default();
    let mut make = Command::new("make");
    make.current_dir(&folder).arg(format!("BROOKROOT={}", installation.prefix.display()));
    make.env("PATH", format!("{}:{path}", installation.prefix.join("bin").display()));
    for name in ["MAKEFLAGS", "MAKELEVEL"] {
        make.env_remove(name);
    }
    run(&mut make, MINUTES)?.success("make")?;
    passes(installation, &folder.join("saxpy"))
}

fn pkg_config(installation: &Installation) -> Result<()> {
    let folder = project(installation, "brook-pkg-config")?;
    let ask = |question: &[&str]| -> Result<String> {
        let mut query = Command::new("pkg-config");
        query.env("PKG_CONFIG_PATH", installation.prefix.join("lib/pkgconfig")).args(question).arg("brook");
        Ok(run(&mut query, MINUTES)?.success("pkg-config")?.stdout.trim().to_owned())
    };
    let mut brcc = Command::new(ask(&["--variable=brcc"])?);
    run(brcc.current_dir(&folder).arg("kernels.br"), MINUTES)?.success("brcc")?;
    let mut compiler = Command::new("g++");
    compiler.current_dir(&folder).args([
        "-std=c++98",
        "-Wall",
        "-Werror",
        "main.cpp",
        "kernels.cpp",
        "-o",
        "saxpy",
    ]);
    compiler.args(ask(&["--cflags", "--libs"])?.split_whitespace());
    run(&mut compiler, MINUTES)?.success("g++")?;
    passes(installation, &folder.join("saxpy"))
}

fn cmake(installation: &Installation) -> Result<()> {
    let folder = project(installation, "brook-cmake")?;
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(&folder).arg("-B").arg(folder.join("build"));
    configure.arg(format!("-DCMAKE_PREFIX_PATH={}", installation.prefix.display()));
    run(&mut configure, MINUTES)?.success("cmake")?;
    run(Command::new("cmake").arg("--build").arg(folder.join("build")), MINUTES)?.success("cmake --build")?;
    passes(installation, &folder.join("build/saxpy"))
}

/// The library shows the functions of `brook/capi.h` and nothing else, so that a program may link CAL as well.
fn exports(installation: &Installation) -> Result<()> {
    let library = installation.prefix.join("lib/libbrook.so");
    let mut nm = Command::new("nm");
    nm.args(["-D", "--defined-only", "--format=posix"]).arg(&library);
    let listed = run(&mut nm, MINUTES)?.success("nm")?.stdout;
    let mut names: Vec<&str> = listed.lines().filter_map(|l| l.split(' ').next()).collect();
    names.sort_unstable();
    let file = installation.prefix.join("include/brook/capi.h");
    let header = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    let mut declared: Vec<&str> = header
        .lines()
        .filter(|l| l.ends_with(");") && !l.starts_with("typedef") && !l.starts_with(' '))
        .filter_map(|l| l.split('(').next()?.rsplit([' ', '*']).next())
        .collect();
    declared.sort_unstable();
    if names == declared { Ok(()) } else { Err(format!("exported: {names:?}\ndeclared: {declared:?}")) }
}
