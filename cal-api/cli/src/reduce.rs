//! `recal reduce`: the smallest kernel, or nearly, on which two devices still differ, or a command still fails.
//!
//! What the kernel works on is a capture: one that there is, or one that is made of the bindings. Every candidate runs in a process
//! of its own (`recal diff --kernel`), which is ended if it takes much longer than that of the whole kernel: a loop without its counter
//! does not end.

mod shrink;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use recal::Severity;
use recal::capture::Capture;
use serde_json::{Value, json};

use crate::Outcome;
use crate::choice::{self, Choice};
use crate::data;
use crate::files::{is_standard, print, print_json, write};
use crate::kernel::Kernel;
use crate::run::Extent;

/// Arguments of `recal reduce`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// IL text, an image (its text for Cypress), `-` = standard input; or a folder that CAL_CAPTURE filled
    kernel: PathBuf,
    /// File that receives the reduced kernel, `-` = standard output; the kernel's name with .reduced.il by default
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// What a symbol gets, as for `recal run`; files, not standard input
    #[arg(short, long = "bind", value_name = "NAME=VALUE", value_parser = bound)]
    bind: Vec<String>,
    #[command(flatten)]
    extent: Extent,
    /// Launch of the folder; the first that differs by default
    #[arg(short, long, value_name = "NUMBER")]
    launch: Option<u32>,
    /// The two devices, each with --device, as for `recal diff`
    #[arg(long, num_args = 1, value_parser = choice::choice)]
    device: Vec<Choice>,
    /// Most candidates that are tried
    #[arg(long, default_value_t = 5000)]
    tries: u32,
    /// Print what was done as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Instead of devices, after `--`: a command that gets the kernel's file as its last argument, and must end with the status that
    /// it has for the whole kernel, which is not 0
    #[arg(last = true)]
    command: Vec<String>,
}

/// A binding as it was written, if it is one.
fn bound(text: &str) -> Result<String, String> {
    data::binding(text).map(|_| text.to_owned())
}

pub(crate) fn reduce(arguments: &Arguments) -> Outcome {
    let scratch = Scratch::new()?;
    let mut test = Test::new(arguments, &scratch)?;
    let text = std::mem::take(&mut test.whole);
    let before: Vec<String> = text.lines().map(str::to_owned).collect();
    let (mut left, mut failed) = (arguments.tries, None);
    let after = shrink::shrink(&before, &mut |candidate| {
        if left == 0 || failed.is_some() {
            return false;
        }
        left -= 1;
        test.holds(&(candidate.join("\n") + "\n")).unwrap_or_else(|e| {
            failed = Some(e);
            false
        })
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let path = arguments.output.clone().unwrap_or_else(|| beside(&arguments.kernel));
    write(&path, (after.join("\n") + "\n").as_bytes())?;
    let tried = arguments.tries - left;
    if arguments.json {
        return print_json(&json!({
            "file": arguments.kernel.display().to_string(), "output": path.display().to_string(),
            "launch": test.launch, "before": before.len(), "after": after.len(), "tried": tried, "ended": left == 0,
        }));
    }
    if is_standard(&path) {
        return Ok(());
    }
    let more = if left == 0 { "; there may be more to take away (--tries)" } else { "" };
    let (path, now, all) = (path.display(), after.len(), before.len());
    print(&format!("{path}: {now} lines of {all}, {tried} candidates{more}\n"))
}

/// The name of the result, in the folder at hand.
fn beside(kernel: &Path) -> PathBuf {
    let stem = kernel.file_stem().filter(|_| !is_standard(kernel));
    let mut name = stem.map_or_else(|| "kernel".into(), std::ffi::OsStr::to_os_string);
    name.push(".reduced.il");
    name.into()
}

/// A folder for candidates and what they work on, gone with this.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Outcome<Scratch> {
        let path = std::env::temp_dir().join(format!("recal-reduce-{}", std::process::id()));
        std::fs::create_dir(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed stays where temporary files are.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a reduced kernel must still do.
struct Test<'a> {
    arguments: &'a Arguments,
    scratch: &'a Scratch,
    /// The kernel as it is at first.
    whole: String,
    /// What is wrong with the whole kernel: candidates have nothing else.
    rules: Vec<&'static str>,
    /// The capture, and the launch of it.
    capture: PathBuf,
    launch: Option<u32>,
    /// The status to be kept.
    status: i32,
    limit: Duration,
}

/// The status of `recal diff` where devices differ.
const DIFFERS: i32 = 3;

impl Test<'_> {
    /// Runs the whole kernel, which must differ or fail.
    fn new<'a>(arguments: &'a Arguments, scratch: &'a Scratch) -> Outcome<Test<'a>> {
        let mut test = Test {
            arguments,
            scratch,
            whole: String::new(),
            rules: Vec::new(),
            capture: scratch.0.join("capture"),
            launch: None,
            status: DIFFERS,
            limit: Duration::from_secs(600),
        };
        if arguments.kernel.is_dir() {
            test.take_launch()?;
        } else {
            let kernel = Kernel::read(&arguments.kernel)?;
            test.whole = String::from_utf8_lossy(kernel.text(recal::target::CYPRESS)?).into_owned();
        }
        test.rules = wrong(&test.whole);
        if arguments.command.is_empty() {
            test.two_devices()?;
            if test.launch.is_none() {
                test.make_capture()?;
            }
        }
        let whole = test.whole.clone();
        let start = Instant::now();
        match (test.run(&whole)?, arguments.command.is_empty()) {
            (Some(DIFFERS), true) => {}
            (Some(0), true) => {
                return Err("the devices do not differ on this kernel: there is nothing to reduce".into());
            }
            (_, true) => {
                return Err(format!("the kernel does not run on both devices: {}", test.told(&whole)?).into());
            }
            (Some(0), false) => return Err("the command does not fail: there is nothing to reduce".into()),
            (Some(status), false) => test.status = status,
            (None, false) => return Err("the command did not end by itself".into()),
        }
        test.limit = 5 * start.elapsed() + Duration::from_secs(2);
        Ok(test)
    }

    fn two_devices(&self) -> Outcome {
        match self.arguments.device.len() {
            2 => Ok(()),
            _ => Err("name two devices, --device A --device B, or a command after --".into()),
        }
    }

    /// The launch of a capture that is there, and its kernel.
    fn take_launch(&mut self) -> Outcome {
        self.capture.clone_from(&self.arguments.kernel);
        let capture = Capture::open(&self.capture)?;
        let mut number = self.arguments.launch;
        if number.is_none() && self.arguments.command.is_empty() {
            self.two_devices()?;
            let output = self.diff(None)?.arg("--json").stderr(Stdio::inherit()).output()?;
            let found: Value = serde_json::from_slice(&output.stdout)?;
            let first = found["difference"]["launch"].as_u64();
            number =
                Some(first.ok_or("the devices do not differ on this capture: there is nothing to reduce")?
                    as u32);
        }
        let number = number.unwrap_or(0);
        let launch = capture.launches().iter().find(|launch| launch.number == number);
        let launch = launch.ok_or_else(|| format!("--launch {number}: the capture has no such launch"))?;
        if launch.kernel.ends_with(".ir") {
            return Err(format!("launch {number}: its kernel was loaded without a text").into());
        }
        self.whole = String::from_utf8_lossy(&capture.kernel(launch)?).into_owned();
        self.launch = Some(number);
        Ok(())
    }

    /// Runs the whole kernel on the CPU, for what it works on.
    fn make_capture(&mut self) -> Outcome {
        let mut command = Command::new(std::env::current_exe()?);
        command.env("CAL_CAPTURE", &self.capture).env("CAL_BACKEND", "cpu");
        command.arg("run").arg(self.candidate(&self.whole)?).args(self.arguments.extent.arguments());
        command.args(self.arguments.bind.iter().flat_map(|bind| ["--bind", bind]));
        let output = command.stdin(Stdio::null()).output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr)
                .trim_start_matches("recal: ")
                .trim_end()
                .into());
        }
        self.launch = Some(0);
        Ok(())
    }

    fn candidate(&self, text: &str) -> Outcome<PathBuf> {
        let path = self.scratch.0.join("kernel.il");
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(path)
    }

    /// `recal diff`, of all launches or with a candidate in one.
    fn diff(&self, text: Option<&str>) -> Outcome<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.env_remove("CAL_CAPTURE").arg("diff").arg(&self.capture).stdin(Stdio::null());
        for device in &self.arguments.device {
            command.args(["--device", &device.to_string()]);
        }
        if let (Some(text), Some(launch)) = (text, self.launch) {
            command.args(["--launch", &launch.to_string()]).arg("--kernel").arg(self.candidate(text)?);
        }
        Ok(command)
    }

    /// What is said of a candidate.
    fn told(&self, text: &str) -> Outcome<String> {
        let output = self.diff(Some(text))?.output()?;
        Ok(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }

    /// The status of a candidate; none if it did not end by itself.
    fn run(&self, text: &str) -> Outcome<Option<i32>> {
        let [program, rest @ ..] = self.arguments.command.as_slice() else {
            return Ok(ended(&mut self.diff(Some(text))?, self.limit)?);
        };
        let mut command = Command::new(program);
        command.args(rest).arg(self.candidate(text)?);
        ended(&mut command, self.limit).map_err(|e| format!("{program}: {e}").into())
    }

    /// Whether a candidate still does it.
    fn holds(&self, text: &str) -> Outcome<bool> {
        if !wrong(text).iter().all(|rule| self.rules.contains(rule)) {
            return Ok(false);
        }
        Ok(self.run(text)? == Some(self.status))
    }
}

/// Rules that a text breaks, and that it reads what it never wrote: devices may well differ on that.
fn wrong(text: &str) -> Vec<&'static str> {
    let found = recal::diagnose(text, recal::target::CYPRESS).unwrap_or_default();
    found
        .iter()
        .filter(|d| d.severity == Severity::Error || d.rule == "unwritten-register")
        .map(|d| d.rule)
        .collect()
}

/// Runs a process without words; its status, or none if it was ended because it took too long, or by a signal.
fn ended(command: &mut Command, limit: Duration) -> std::io::Result<Option<i32>> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
