//! The environment variables: one table that names, documents, parses and validates them.
//!
//! Input: the environment at `calInit` (or [`crate::Runtime::new`]). Output: a [`Config`] and warnings. Rubbish is
//! never fatal: it is reported and the default is taken.

use std::path::PathBuf;
use std::time::Duration;

#[cfg(feature = "cpu")]
use recal_cpu::InstructionSet;
use recal_hal::FloatMode;

use crate::target::Target;

/// An environment variable.
#[derive(Debug)]
pub struct Variable {
    /// Name.
    pub name: &'static str,
    /// Accepted values.
    pub values: &'static str,
    /// Value when unset or not understood.
    pub default: &'static str,
    /// What it does.
    pub doc: &'static str,
    parse: fn(&mut Config, &str) -> Result<(), String>,
}

impl Variable {
    /// Why a value is not understood; `None` if it is.
    pub fn refusal(&self, value: &str) -> Option<String> {
        (self.parse)(&mut Config::default(), value.trim()).err()
    }
}

/// How the runtime is to behave.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Backends by name, in order of enumeration.
    pub backends: Vec<String>,
    /// Which Vulkan device: position or part of the name; all if `None`.
    pub vulkan_device: Option<String>,
    /// Exactness of float operations.
    pub float: FloatMode,
    /// Target to report instead of the device's own.
    pub target: Option<Target>,
    /// The best set of instructions that the CPU device may use.
    #[cfg(feature = "cpu")]
    pub isa: InstructionSet,
    /// Log filter.
    pub log: String,
    /// Folder for kernels and images.
    pub dump: Option<PathBuf>,
    /// Where API calls are written.
    pub trace: Trace,
    /// File of the timeline.
    pub timeline: Option<PathBuf>,
    /// Folder that receives what is launched, with its data.
    pub capture: Option<PathBuf>,
    /// Folder for built kernels; `None` = do not cache.
    pub cache: Option<PathBuf>,
    /// Longest time one launch may take; `None` = for ever.
    pub timeout: Option<Duration>,
    /// Backends check kernels for misuse.
    pub checks: bool,
}

/// Where API calls are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trace {
    /// Nowhere.
    Off,
    /// Standard error.
    Stderr,
    /// A file, created or emptied.
    File(PathBuf),
}

/// All variables, in the order in which they are documented.
pub const VARIABLES: &[Variable] = &[
    Variable {
        name: "CAL_BACKEND",
        values: "comma-separated list of `vulkan`, `cpu`, or names of backends that the program registered",
        default: "registered backends, then `vulkan,cpu`",
        doc: "Which backends are asked for devices. The CPU is enumerated last wherever it stands in the list; \
              leaving it out removes it.",
        parse: |config, text| {
            let names: Vec<String> =
                text.split(',').map(|n| n.trim().to_ascii_lowercase()).filter(|n| !n.is_empty()).collect();
            if names.is_empty() {
                return Err("it names no backend".into());
            }
            config.backends = names;
            Ok(())
        },
    },
    Variable {
        name: "CAL_VULKAN_DEVICE",
        values: "position in the list of Vulkan devices, from 0, or a part of the device's name",
        default: "all but software rasterisers",
        doc: "Which Vulkan devices are enumerated.",
        parse: |config, text| {
            config.vulkan_device = Some(text.to_owned());
            Ok(())
        },
    },
    Variable {
        name: "CAL_FLOAT",
        values: "`faithful`, `native`",
        default: "faithful on the CPU, native on a GPU",
        doc: "`faithful`: every instruction gives the documented bits. `native`: the device's own instructions, \
              within the documented bounds; of the CPU device sums, products and fused multiply-adds as IEEE 754 \
              has them, with denormals (`docs/numerics.md`).",
        parse: |config, text| {
            config.float = match text.to_ascii_lowercase().as_str() {
                "faithful" => FloatMode::Faithful,
                "native" => FloatMode::Native,
                _ => return Err("neither `faithful` nor `native`".into()),
            };
            Ok(())
        },
    },
    Variable {
        name: "CAL_TARGET",
        values: "a value or name of `CALtarget`: `8`, `cypress`, `rv770` …",
        default: "the device's own, Cypress",
        doc: "The historical device that every device reports, with the limits of that generation.",
        parse: |config, text| {
            config.target = Some(Target::parse(text).ok_or("no such target")?);
            Ok(())
        },
    },
    Variable {
        name: "CAL_ISA",
        values: "`avx512`, `avx2`, `neon`, `baseline`",
        default: "the best that the processor has",
        doc: "The best set of instructions that the CPU device may use. What the processor lacks is not used whatever is \
              named; with `baseline` nothing is compiled, and kernels are many times slower.",
        #[cfg(feature = "cpu")]
        parse: |config, text| {
            let named = |set: &InstructionSet| text.eq_ignore_ascii_case(set.name());
            config.isa = InstructionSet::ALL.into_iter().find(named).ok_or("no such instruction set")?;
            Ok(())
        },
        #[cfg(not(feature = "cpu"))]
        parse: |_, _| Err("the CPU device is not compiled in".into()),
    },
    Variable {
        name: "CAL_LOG",
        values: "a filter as in `RUST_LOG`: `warn`, `debug`, `recal=trace,recal_vulkan=info` …",
        default: "`warn`",
        doc: "What C programs and the command `recal` log to standard error. Rust programs bring a logger of their own \
              (the crate `log`), or call `recal::logger::start`.",
        parse: |config, text| {
            config.log = text.to_owned();
            Ok(())
        },
    },
    Variable {
        name: "CAL_DUMP",
        values: "a folder, created if missing",
        default: "nothing is written",
        doc: "Receives the IL text of every kernel that is compiled (`*.il`) and every image that is linked (`*.elf`); of \
              every kernel that is loaded the program after each pass (`*.ir`, numbered, as `docs/ir.md` describes), the \
              SPIR-V module in faithful mode on a device that can do everything (`*.spvasm`), the vector program of the CPU \
              device (`*.vector`), and each module that a Vulkan device gets (`*.spv`).",
        parse: |config, text| {
            config.dump = Some(PathBuf::from(text));
            Ok(())
        },
    },
    Variable {
        name: "CAL_TRACE",
        values: "`0`, `1` (standard error), or a file name",
        default: "`0`",
        doc: "Writes every call of a C function, from `calInit` on, with its arguments, results and duration, one line each: \
              formats, targets and flags by name, kernels by their first words, domains and grids as sizes. Questions for an \
              event that are repeated with the same answer share a line that tells how often.",
        parse: |config, text| {
            config.trace = match text {
                "0" => Trace::Off,
                "1" | "stderr" => Trace::Stderr,
                path => Trace::File(PathBuf::from(path)),
            };
            Ok(())
        },
    },
    Variable {
        name: "CAL_TIMELINE",
        values: "a file name, in which `%p` stands for the number of the process; `.pftrace` at its end chooses Perfetto's own format, anything else the JSON of Chrome's tracer",
        default: "nothing is written",
        doc: "Writes what happened when, for ui.perfetto.dev or chrome://tracing: calls, compilations, submissions, waits, \
              what queues and devices executed, the CPU device's workers; arrows lead from the submission of a launch or copy to its \
              execution (`docs/timeline.md`). Questions for an event that is pending are left out.",
        parse: |config, text| {
            config.timeline = Some(PathBuf::from(text));
            Ok(())
        },
    },
    Variable {
        name: "CAL_CAPTURE",
        values: "a folder, created if missing, in which `%p` stands for the number of the process",
        default: "nothing is written",
        doc: "Keeps every launch with its kernel and the contents of everything that is bound, and what it wrote, each distinct \
              content once; and the calls of a C program. `recal replay` runs it again on any device, `recal diff` on two \
              (`docs/capture.md`). A launch returns when it is done. A capture that is in the folder is replaced.",
        parse: |config, text| {
            config.capture = Some(PathBuf::from(text));
            Ok(())
        },
    },
    Variable {
        name: "CAL_CACHE",
        values: "a folder, created if missing, or `off`",
        default: "`recal` in `$XDG_CACHE_HOME`, else in `$HOME/.cache`; on Windows in `%LOCALAPPDATA%`, on macOS in `$HOME/Library/Caches`",
        doc: "Where GPU backends keep built kernels between runs.",
        parse: |config, text| {
            config.cache = if text.eq_ignore_ascii_case("off") { None } else { Some(PathBuf::from(text)) };
            Ok(())
        },
    },
    Variable {
        name: "CAL_TIMEOUT",
        values: "seconds, with or without a fraction; `0` = no limit",
        default: "`600`",
        doc: "Longest time one launch may take. A kernel that takes longer is stopped and its event answers an error.",
        parse: |config, text| {
            let seconds: f64 = text.parse().map_err(|_| "not a number of seconds")?;
            if !(0.0..=1e9).contains(&seconds) {
                return Err("not between 0 and 1000000000".into());
            }
            config.timeout = (seconds > 0.0).then(|| Duration::from_secs_f64(seconds));
            Ok(())
        },
    },
    Variable {
        name: "CAL_DEBUG",
        values: "comma-separated list of `checks`",
        default: "none",
        doc: "`checks`: on the CPU, reads of registers that were never written, accesses out of range, races between \
              threads of a group and barriers in divergent flow are told in the log, with line of the kernel and thread; \
              kernels run many times slower (`docs/language.md`). The command `recal` then ends with status 3. Devices that \
              cannot check say so in the log; on Vulkan, the validation layers are asked for.",
        parse: |config, text| {
            for word in text.split(',').map(str::trim).filter(|w| !w.is_empty()) {
                match word {
                    "checks" => config.checks = true,
                    other => return Err(format!("unknown word `{other}`")),
                }
            }
            Ok(())
        },
    },
];

impl Default for Config {
    fn default() -> Self {
        Self {
            backends: Vec::new(),
            vulkan_device: None,
            float: FloatMode::Default,
            target: None,
            #[cfg(feature = "cpu")]
            isa: InstructionSet::Avx512,
            log: "warn".into(),
            dump: None,
            trace: Trace::Off,
            timeline: None,
            capture: None,
            cache: None,
            timeout: Some(Duration::from_secs(600)),
            checks: false,
        }
    }
}

/// Where the system wants files that can be made again.
fn cache_home(lookup: &impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let folder = |name| lookup(name).filter(|d| !d.is_empty()).map(PathBuf::from);
    if cfg!(windows) {
        folder("LOCALAPPDATA")
    } else if cfg!(target_vendor = "apple") {
        folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join("Library/Caches")))
    } else {
        folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")))
    }
}

impl Config {
    /// From the environment. The warnings name variables that were not understood.
    pub fn from_env() -> (Config, Vec<String>) {
        Self::from_lookup(|name| std::env::var_os(name).map(|v| v.to_string_lossy().into_owned()))
    }

    /// From any source of variables.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> (Config, Vec<String>) {
        let mut config = Config { cache: cache_home(&lookup).map(|b| b.join("recal")), ..Config::default() };
        let mut warnings = Vec::new();
        for variable in VARIABLES {
            let Some(text) = lookup(variable.name) else { continue };
            if text.trim().is_empty() {
                continue;
            }
            let mut changed = config.clone();
            match (variable.parse)(&mut changed, text.trim()) {
                Ok(()) => config = changed,
                Err(reason) => warnings.push(format!(
                    "{}={text}: {reason}; taken as unset (accepted: {}; default: {})",
                    variable.name, variable.values, variable.default
                )),
            }
        }
        (config, warnings)
    }

    /// One line for the log.
    pub(crate) fn summary(&self) -> String {
        let backends = if self.backends.is_empty() { "default".into() } else { self.backends.join(",") };
        let folder =
            |path: &Option<PathBuf>| path.as_ref().map_or("none".into(), |p| p.display().to_string());
        let trace = match &self.trace {
            Trace::Off => "off".into(),
            Trace::Stderr => "standard error".into(),
            Trace::File(path) => path.display().to_string(),
        };
        #[cfg(feature = "cpu")]
        let isa = self.isa.name();
        #[cfg(not(feature = "cpu"))]
        let isa = "none";
        format!(
            "backends {backends}, float {}, target {}, instructions up to {isa}, timeout {}, cache {}, dump {}, trace {trace}, checks {}",
            format!("{:?}", self.float).to_lowercase(),
            self.target.map_or("the device's", |t| t.name),
            self.timeout.map_or("none".into(), |t| format!("{} s", t.as_secs_f64())),
            folder(&self.cache),
            folder(&self.dump),
            if self.checks { "on" } else { "off" }
        )
    }
}

/// The table as `docs/environment.md`.
pub fn documentation() -> String {
    let mut text = String::from(
        "# Environment variables\n\nRead once, by `calInit` (`recal::Runtime::new` in Rust; `calclCompile` reads \
         `CAL_LOG` and `CAL_DUMP` if it comes first). A value that is not understood is reported in the log and taken \
         as unset. `CAL_LOG=recal=info` shows what was understood. \
         All hold for the process, not for single contexts.\n\nThis page is generated from the table in \
         `cal-api/src/config.rs`; a test keeps the two equal.\n",
    );
    for variable in VARIABLES {
        text += &format!(
            "\n## {}\n\n{}\n\n* Values: {}\n* Default: {}\n",
            variable.name, variable.doc, variable.values, variable.default
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(pairs: &[(&str, &str)]) -> (Config, Vec<String>) {
        Config::from_lookup(|name| pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned()))
    }

    #[test]
    fn nothing_set_is_the_default() {
        assert_eq!(parse(&[]), (Config::default(), vec![]));
    }

    #[test]
    fn every_variable_is_understood() {
        let (config, warnings) = parse(&[
            ("CAL_BACKEND", " vulkan, CPU "),
            ("CAL_VULKAN_DEVICE", "llvmpipe"),
            ("CAL_FLOAT", "Faithful"),
            ("CAL_TARGET", "rv770"),
            #[cfg(feature = "cpu")]
            ("CAL_ISA", "AVX2"),
            ("CAL_LOG", "debug"),
            ("CAL_DUMP", "out"),
            ("CAL_TRACE", "1"),
            ("CAL_TIMELINE", "t.json"),
            ("CAL_CAPTURE", "c"),
            ("CAL_CACHE", "OFF"),
            ("CAL_TIMEOUT", "2.5"),
            ("CAL_DEBUG", "checks"),
            ("HOME", "h"),
        ]);
        assert_eq!(warnings, Vec::<String>::new());
        assert_eq!(
            config,
            Config {
                backends: vec!["vulkan".into(), "cpu".into()],
                vulkan_device: Some("llvmpipe".into()),
                float: FloatMode::Faithful,
                target: Target::from_value(5),
                #[cfg(feature = "cpu")]
                isa: InstructionSet::Avx2,
                log: "debug".into(),
                dump: Some("out".into()),
                trace: Trace::Stderr,
                timeline: Some("t.json".into()),
                capture: Some("c".into()),
                cache: None,
                timeout: Some(Duration::from_millis(2500)),
                checks: true,
            }
        );
    }

    #[test]
    fn rubbish_warns_and_changes_nothing() {
        for (name, value) in [
            ("CAL_BACKEND", ",,"),
            ("CAL_FLOAT", "sloppy"),
            ("CAL_ISA", "mmx"),
            ("CAL_TARGET", "geforce"),
            ("CAL_TIMEOUT", "soon"),
            ("CAL_TIMEOUT", "-1"),
            ("CAL_TIMEOUT", "NaN"),
            ("CAL_TIMEOUT", "1e300"),
            ("CAL_DEBUG", "checks,luck"),
        ] {
            let (config, warnings) = parse(&[(name, value)]);
            assert_eq!(config, Config::default(), "{name}={value}");
            assert_eq!(warnings.len(), 1, "{name}={value}");
            assert!(warnings[0].contains(name) && warnings[0].contains(value), "{warnings:?}");
        }
    }

    #[test]
    fn zero_lifts_the_time_limit() {
        assert_eq!(parse(&[("CAL_TIMEOUT", "0")]).0.timeout, None);
    }

    #[test]
    fn the_page_in_docs_is_this_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/environment.md");
        if std::env::var_os("RECAL_WRITE_DOCS").is_some() {
            std::fs::write(path, documentation()).unwrap();
        }
        assert_eq!(
            std::fs::read_to_string(path).unwrap(),
            documentation(),
            "RECAL_WRITE_DOCS=1 rewrites the page"
        );
    }
}
