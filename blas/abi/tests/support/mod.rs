//! The library as a build makes it, and programs that are run with it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Nothing, or why a test fails.
pub type Outcome = Result<(), String>;

/// Where the repository is.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder with the library, as a build makes it, and with the name by which testers ask for it.
pub fn library() -> Result<&'static Path, String> {
    static FOLDER: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("calblas");
        let mut build = Command::new("sh");
        build.arg(root().join("scripts/build-blas.sh")).arg(&folder).arg("dev");
        run(&mut build, None)?;
        let link = folder.join("libblas.so.3");
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink("libCALBLAS.so", &link).map_err(|e| e.to_string())?;
        Ok(folder)
    });
    folder.as_deref().map_err(Clone::clone)
}

/// What it printed.
pub fn run(command: &mut Command, input: Option<String>) -> Result<String, String> {
    let name = format!("{command:?}");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|e| format!("{name}: {e}"))?;
    let mut stdin = child.stdin.take().ok_or("no input")?;
    let feeder = std::thread::spawn(move || {
        use std::io::Write as _;
        // Testers of level 1 read nothing.
        let _ = stdin.write_all(input.unwrap_or_default().as_bytes());
    });
    let output = child.wait_with_output().map_err(|e| format!("{name}: {e}"))?;
    let _ = feeder.join();
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() { Ok(text) } else { Err(format!("{name}: {}\n{text}", output.status)) }
}
