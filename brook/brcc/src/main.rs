//! The command `brcc`, with the options of release 1.4.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use brcc::{Options, Output, diagnostic};

const USAGE: &str = "\
usage: brcc [-hkrblfxaesclvd] [-D macro[=value]] [-i folder] [-n l] [-w level] [-o prefix] [-p cal|cpu|p] file.br

  -h         this text
  -o prefix  names of the files written: prefix.cpp, prefix.h, prefix_gpu.h; the file's own name if left out
  -k         keep the IL of every pass in a file, prefix_kernel[_pass][_addr].il
  -p cal     code for CAL only; -p cpu: for the CPU only; both if left out
  -r         no programs for streams with more than a row of the device's elements, or three dimensions
  -pp        read #define, #undef, #ifdef, #ifndef, #if, #else, #endif
  -D m=n     a macro for -pp
  -i folder  where an external preprocessor (BRCC_EXT_PP) looks for files
  -a         convert types as C does (weak typing)
  -c         gather arrays with sizes are streams, never constant buffers
  -w 0..3    warnings up to a level, 0 if left out; strong typing shows all
  -x         warnings are errors
  -s         IL as lists of numbers rather than strings
  -e         prototypes of the host's functions in the header
  -l, -n l   line directives, none
  -v         say what is done
  -b, -f, -d accepted, without effect
";

struct Command {
    options: Options,
    input: String,
    keep: bool,
    verbose: bool,
    folders: Vec<String>,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()).collect();
    match read(&args).and_then(run) {
        Ok(code) => code,
        Err(message) => {
            say(&format!("brcc: {message}\n"));
            ExitCode::FAILURE
        }
    }
}

/// Says something on standard error, if anybody listens.
fn say(text: &str) {
    _ = std::io::stderr().write_all(text.as_bytes());
}

fn read(args: &[String]) -> Result<Command, String> {
    let mut options = Options::default();
    let mut command = Command {
        options: Options::default(),
        input: String::new(),
        keep: false,
        verbose: false,
        folders: Vec::new(),
    };
    let mut prefix = None;
    let mut targets: Vec<String> = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let Some(letters) = arg.strip_prefix('-').filter(|l| !l.is_empty()) else {
            if !command.input.is_empty() {
                return Err(format!("one file at a time: {} and {arg}", command.input));
            }
            command.input.clone_from(arg);
            continue;
        };
        let mut rest = letters;
        while let Some(letter) = rest.chars().next() {
            rest = &rest[letter.len_utf8()..];
            if matches!(letter, 'o' | 'p' | 'D' | 'i' | 'n' | 'w') {
                let value = if rest.is_empty() { args.next().cloned() } else { Some(rest.to_owned()) };
                let value = value.ok_or_else(|| format!("-{letter} lacks its argument\n{USAGE}"))?;
                match (letter, value.as_str()) {
                    ('o', _) if prefix.is_some() => return Err("-o may be given once".to_owned()),
                    ('o', _) => prefix = Some(value),
                    ('p', "p") => options.preprocess = true,
                    ('p', "cal" | "cpu") => targets.push(value),
                    ('p', other) => return Err(format!("-p {other}: there are `cal` and `cpu`")),
                    ('D', _) => options.defines.push(define(&value)?),
                    ('i', _) => command.folders.push(value),
                    ('n', "l") => options.line_directives = false,
                    ('n', other) => return Err(format!("-n {other}: there is `-n l`")),
                    _ => {
                        let level = value.parse().ok().filter(|l| *l <= 3);
                        options.warning_level =
                            level.ok_or_else(|| format!("-w {value}: levels are 0 to 3"))?;
                    }
                }
                break;
            }
            match letter {
                'h' => {
                    // Who closed the output wants no more of it.
                    _ = std::io::stdout().write_all(USAGE.as_bytes());
                    std::process::exit(1);
                }
                'k' => command.keep = true,
                'r' | 'R' => options.translation = false,
                's' => options.as_chars = true,
                'l' => options.line_directives = true,
                'x' => options.warnings_are_errors = true,
                'a' => options.strong = false,
                'e' => options.prototypes = true,
                'c' => options.no_constant_arrays = true,
                'v' => command.verbose = true,
                'b' | 'f' | 'd' => {}
                other => return Err(format!("unknown option -{other}\n{USAGE}")),
            }
        }
    }
    let suffix = Path::new(&command.input).extension().and_then(|e| e.to_str());
    if command.input.is_empty() {
        return Err(format!("no file\n{USAGE}"));
    }
    if !matches!(suffix, Some("br" | "brh")) {
        return Err(format!("{}: the name ends in .br or .brh", command.input));
    }
    if command.folders.len() > 32 {
        return Err("more than 32 folders (-i)".to_owned());
    }
    options.cal = targets.is_empty() || targets.iter().any(|t| t == "cal");
    options.cpu = targets.is_empty() || targets.iter().any(|t| t == "cpu");
    options.prefix =
        prefix.unwrap_or_else(|| Path::new(&command.input).with_extension("").display().to_string());
    options.source_name.clone_from(&command.input);
    command.options = options;
    Ok(command)
}

fn define(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let good = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if good {
        Ok((name.to_owned(), value.to_owned()))
    } else {
        Err(format!("-D {text}: `{name}` is no name"))
    }
}

fn run(command: Command) -> Result<ExitCode, String> {
    let Command { mut options, input, keep, verbose, folders } = command;
    let header_only = input.ends_with(".brh");
    let files: &[&str] = if header_only { &[".h"] } else { &[".cpp", ".h", "_gpu.h"] };
    let paths: Vec<String> = files.iter().map(|f| format!("{}{f}", options.prefix)).collect();
    for path in &paths {
        // What a failed compilation leaves must not be taken for its result.
        let _ = std::fs::remove_file(path);
    }
    let bytes = match std::env::var("BRCC_EXT_PP") {
        Ok(line) if options.preprocess && !line.is_empty() => {
            options.preprocess = false;
            external(&line, &input, &folders)?
        }
        _ => std::fs::read(&input).map_err(|e| format!("{input}: {e}"))?,
    };
    // Comments may be in any code page.
    let source =
        String::from_utf8(bytes).unwrap_or_else(|e| e.into_bytes().iter().map(|b| char::from(*b)).collect());
    match brcc::compile(&source, &options) {
        Ok(output) => {
            say(&diagnostic::render(&output.warnings, &source, &input));
            write(&output, &options, &paths, header_only, keep, verbose)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(found) => {
            say(&diagnostic::render(&found, &source, &input));
            Ok(ExitCode::FAILURE)
        }
    }
}

fn write(
    output: &Output,
    options: &Options,
    paths: &[String],
    header_only: bool,
    keep: bool,
    verbose: bool,
) -> Result<(), String> {
    let texts: &[&String] =
        if header_only { &[&output.header] } else { &[&output.source, &output.header, &output.gpu] };
    let mut files: Vec<(String, &str)> =
        paths.iter().cloned().zip(texts.iter().map(|t| t.as_str())).collect();
    for kernel in output.kernels.iter().filter(|_| keep) {
        for technique in &kernel.techniques {
            for (number, pass) in technique.passes.iter().enumerate() {
                let of = if technique.passes.len() > 1 { format!("_pass{number}") } else { String::new() };
                let at = if technique.translation { "_addr" } else { "" };
                files.push((format!("{}_{}{of}{at}.il", options.prefix, kernel.hir.name), &pass.text));
            }
        }
    }
    for (path, text) in files {
        if let Some(folder) = Path::new(&path).parent() {
            std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        }
        std::fs::write(&path, text).map_err(|e| format!("{path}: {e}"))?;
        if verbose {
            // Who closed the output wants no more of it.
            _ = writeln!(std::io::stdout(), "brcc: wrote {path}");
        }
    }
    Ok(())
}

/// Runs the preprocessor that the environment names: `%S` the source, `%P` the result, `%I` folders one after the other, `%%` a
/// percent sign; a source or result that is not named is standard input or output.
fn external(line: &str, input: &str, folders: &[String]) -> Result<Vec<u8>, String> {
    let target = std::env::temp_dir().join(format!("brcc-{}.i", std::process::id()));
    let target_name = target.display().to_string();
    let mut folders = folders.iter();
    let (mut named_source, mut named_target) = (false, false);
    let mut words = Vec::new();
    for word in line.split_whitespace() {
        let mut text = String::new();
        let mut chars = word.chars();
        while let Some(c) = chars.next() {
            match (c, if c == '%' { chars.next() } else { None }) {
                ('%', Some('S')) => {
                    named_source = true;
                    text.push_str(input);
                }
                ('%', Some('P')) => {
                    named_target = true;
                    text.push_str(&target_name);
                }
                ('%', Some('I')) => text.push_str(folders.next().map_or(".", String::as_str)),
                ('%', Some(other)) => text.push(other),
                _ => text.push(c),
            }
        }
        words.push(text);
    }
    let [program, args @ ..] = words.as_slice() else {
        return Err("BRCC_EXT_PP names no command".to_owned());
    };
    let mut command = std::process::Command::new(program);
    command.args(args);
    if !named_source {
        command.stdin(std::fs::File::open(input).map_err(|e| format!("{input}: {e}"))?);
    }
    let result = command
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|e| format!("BRCC_EXT_PP: {program}: {e}"))?;
    if !result.status.success() {
        return Err(format!("BRCC_EXT_PP: {program}: {}", result.status));
    }
    if !named_target {
        return Ok(result.stdout);
    }
    let bytes = std::fs::read(&target).map_err(|e| format!("{target_name}: {e}"));
    let _ = std::fs::remove_file(&target);
    bytes
}
