//! Programs on several processes: those of `samples/mpi`, and High Performance Linpack as Debian's `hpcc` has it, with our library in the
//! place of its BLAS. Everything stays on this machine.

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use recal_needs::{Arguments, Need, Trial, trial};
use support::{Outcome, library, root, run};

/// A folder for a test, empty.
fn folder(name: &str) -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mpi-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    Ok(folder)
}

/// `mpirun` with so many processes, more than there are processors if need be, on the CPU device, which does every product.
fn mpirun(processes: usize, folder: &Path) -> Result<Command, String> {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "400", "mpirun", "--oversubscribe", "--bind-to", "none"]);
    // Shared memory and the loopback device. Containers forbid the copy from process to process that it would prefer.
    command.args(["--mca", "btl", "self,vader", "--mca", "btl_vader_single_copy_mechanism", "none"]);
    command.args(["--mca", "oob_tcp_if_include", "lo", "-np", &processes.to_string()]);
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.env("LD_LIBRARY_PATH", library()?).env_remove("CALBLAS_HOST").env("OPENBLAS_NUM_THREADS", "1");
    command.env("CAL_BACKEND", "cpu").env("CALBLAS_SHARE", "1").env("CAL_CACHE", folder.join("cache"));
    command.current_dir(folder);
    Ok(command)
}

/// The distributed product, of sizes that no grid divides, in panels that lie across parts.
fn summa(processes: usize) -> Outcome {
    let folder = folder(&format!("summa-{processes}"))?;
    let program = folder.join("summa");
    let mut compiler = Command::new("mpicc");
    compiler.args(["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program);
    compiler.arg(root().join("samples/mpi/summa.c"));
    compiler.arg(format!("-I{}", root().join("blas/include").display()));
    compiler.arg(format!("-L{}", library()?.display())).args(["-lCALBLAS", "-lpthread"]);
    run(&mut compiler, None)?;
    for (sizes, figures) in [(["150", "131", "173", "48"], true), (["1", "3", "2", "1"], false)] {
        let [m, n, k, width] = sizes;
        let told = folder.join(format!("figures-{m}"));
        let mut command = mpirun(processes, &folder)?;
        command.env("CALBLAS_THRESHOLD", "0").env("CALBLAS_LOG", &told).arg(&program);
        command.args(["-m", m, "-n", n, "-k", k, "-w", width, "-i", "1"]);
        let text = run(&mut command, None)?;
        if !text.contains("summa: PASS") || !text.contains("step by step:") || !text.contains("overlapped:") {
            return Err(text);
        }
        let told = std::fs::read_to_string(&told).map_err(|e| format!("no figures: {e}\n{text}"))?;
        if figures && told.matches("host 0 calls").count() != processes {
            return Err(format!("not every process had all on its device:\n{told}"));
        }
    }
    Ok(())
}

/// The lines of `hpccinf.txt` that matter: order, block, grid. One broadcast in a ring, one panel ahead, as Debian's example has it; no
/// further sizes for the other benchmarks, whose memory and time follow from the order.
fn input(order: usize, block: usize, grid: [usize; 2]) -> String {
    let [rows, columns] = grid;
    let sizes = format!("1\n{order}\n1\n{block}\n0\n1\n{rows}\n{columns}");
    let choices = "16.0 1 2 1 4 1 2 1 1 1 1 1 1 2 64 0 0 1 8".replace(' ', "\n");
    format!("Linpack\nof a test\nHPL.out\n8\n{sizes}\n{choices}\n-\n0\n1\n0\n1\n")
}

/// High Performance Linpack on four processes: its residual is small, and products were our kernels', by time and by operations.
fn linpack() -> Outcome {
    let folder = folder("linpack")?;
    // hpcc's random accesses take their time: a table of the next smaller power of two of order² words is changed four times all over,
    // message by message. So this is just below such a power.
    let (order, block) = (250, 32);
    std::fs::write(folder.join("hpccinf.txt"), input(order, block, [2, 2])).map_err(|e| e.to_string())?;
    let told = folder.join("figures");
    let mut command = mpirun(4, &folder)?;
    // Small as this system is, nearly all of its products are the device's.
    command
        .env("CALBLAS_THRESHOLD", "8000")
        .env("CALBLAS_LOG", &told)
        .env("CALBLAS_DEVICES", "rank")
        .arg("hpcc");
    let printed = run(&mut command, None)?;
    let text = std::fs::read_to_string(folder.join("hpccoutf.txt"))
        .map_err(|e| format!("no results: {e}\n{printed}"))?;
    let residual = text.lines().find(|line| line.starts_with("||Ax-b||_oo"));
    if !residual.is_some_and(|line| line.ends_with("PASSED")) || text.contains("FAILED") {
        return Err(format!("Linpack did not pass:\n{text}"));
    }
    let told = std::fs::read_to_string(&told)
        .map_err(|e| format!("no figures, so another BLAS was at work: {e}"))?;
    let lines: Vec<&str> = told.lines().filter(|line| line.starts_with("CALBLAS dgemm")).collect();
    let part = |line: &str, name: &str| {
        let number = line.split(name).nth(1)?.split(',').next()?;
        number.trim().parse::<f64>().ok()
    };
    let most = |line: &&str| {
        ["devices' part of the time ", "of the operations "]
            .iter()
            .all(|name| part(line, name).is_some_and(|p| p > 0.95))
    };
    if lines.len() != 4 || !lines.iter().all(most) {
        return Err(format!("of four processes not all had 0.95 of their products on the device:\n{told}"));
    }
    Ok(())
}

/// The model of Linpack, where it can be told without it: a perfect machine multiplies all the time, four of them take a quarter of it, and
/// each thing that is slow takes time of its own.
fn model() -> Outcome {
    let folder = folder("model")?;
    let program = folder.join("linpack_model");
    let mut compiler = Command::new("gcc");
    compiler.args(["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program);
    compiler.arg(root().join("samples/mpi/linpack_model.c")).arg("-lm");
    run(&mut compiler, None)?;
    // Seconds as a whole, and of the update, panel, broadcast, swap and solution.
    let times = |options: &str| -> Result<Vec<f64>, String> {
        let perfect = "-N 20000 -b 100 -P 1 -Q 1 -d 0 -g 100 -t 0 -f 1e9 -m 1e9 -w 1e9 -l 0";
        let text =
            run(Command::new(&program).args(perfect.split(' ')).args(options.split_whitespace()), None)?;
        let seconds = text.split_whitespace().zip(text.split_whitespace().skip(1));
        let seconds = seconds.filter(|(_, unit)| unit.trim_end_matches(',') == "s");
        Ok(seconds.filter_map(|(number, _)| number.parse().ok()).collect())
    };
    let near = |found: f64, wanted: f64| (found - wanted).abs() <= 0.02 * wanted + 0.01;
    let whole = 2.0 / 3.0 * 20000f64.powi(3) / 100e9;
    // What is slow, which of the times that shows, and about how long it takes.
    let (side, steps) = (20000f64, 200.0);
    let cases = [
        ("", 1, whole),
        ("-P 2 -Q 2", 1, whole / 4.0),
        ("-t 0.5", 1, side.powi(3) / 3.0 / 100.0 * 8.0 / 0.5e9),
        ("-f 1", 2, side * side / 2.0 * 100.0 / 1e9),
        ("-P 4 -l 100", 2, 20000.0 * 2.0 * 2.0 * 100e-6),
        ("-Q 4 -w 0.01", 3, side * side / 2.0 * 8.0 / 0.01e9),
        ("-P 2 -w 0.01", 4, 3.0 * side * side / 2.0 * 8.0 / 0.01e9),
        ("-m 1", 4, 4.0 * side * side / 2.0 * 8.0 / 1e9),
        ("-P 2 -Q 2 -l 100000", 5, steps * 3.0 * 0.1),
    ];
    for (options, at, wanted) in cases {
        let times = times(options)?;
        let [all, parts @ ..] = &times[..] else { return Err(format!("{options}: no times")) };
        if parts.len() != 5 || !near(times[at], wanted) || !near(*all, parts.iter().sum()) {
            return Err(format!("{options}: {times:?}, expected {wanted} at {at}"));
        }
    }
    // A panel ahead hides what others wait for.
    let (slow, ahead) = ("-Q 4 -f 1 -w 1", times("-Q 4 -f 1 -w 1 -d 1")?);
    if ahead[0] >= 0.8 * times(slow)?[0] || ahead[0] < whole / 4.0 {
        Err(format!("{ahead:?}"))
    } else {
        Ok(())
    }
}

fn main() -> ExitCode {
    let host = Path::new("/usr/lib").join(format!("{}-linux-gnu/blas/libblas.so.3", std::env::consts::ARCH));
    let host = || Need::system("a host BLAS is not installed", host.exists());
    let mut trials: Vec<Trial> = Vec::new();
    for processes in [1, 2, 4] {
        let needs = [Need::program("mpicc"), Need::program("mpirun"), host()];
        trials.push(trial(format!("summa::{processes}"), needs, move || summa(processes)));
    }
    let needs = [Need::program("hpcc"), Need::program("mpirun"), host()];
    trials.push(trial("linpack", needs, linpack));
    trials.push(trial("model", [Need::program("gcc")], model));
    // One after the other: each takes all processors.
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    recal_needs::run(&arguments, trials)
}
