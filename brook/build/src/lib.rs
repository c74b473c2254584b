//! Brook+ in build scripts: the kernels of a `.br` file as typed functions of Rust.
//!
//! ```no_run
//! // build.rs
//! brook_build::compile("src/saxpy.br");
//! ```
//!
//! The crate that is built depends on `recal-brook`, whose macro takes the module in: `brook::kernels!(mod saxpy);`. For
//! `kernel void saxpy(float a, float x<>, out float result<>)` it has
//!
//! * `saxpy::saxpy(a: f32, x: &Stream<f32>, result: &Stream<f32>) -> Result<()>`
//! * `saxpy::on::saxpy(positions, …)`, which runs on some positions only
//! * of a reduction besides `saxpy::value::name(…) -> Result<T>`, without the result's argument
//!
//! Short vectors are arrays (`float4` is `[f32; 4]`), constant arrays references to arrays (`float k[3][2]` is `&[[f32; 2]; 3]`), structs
//! are structs of the module. Host code in the file is left out.

mod rust;

use std::fmt;
use std::path::{Path, PathBuf};

/// The headers that CPU versions are compiled with.
const HEADERS: [(&str, &str); 3] = [
    ("brook/capi.h", include_str!("../include/brook/capi.h")),
    ("brook/types.h", include_str!("../include/brook/types.h")),
    ("brook/CPU/kernel.h", include_str!("../include/brook/CPU/kernel.h")),
];

/// Why there is no module. `Debug` is the text too: it is what a failing `main` shows.
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// Compiles a file with the defaults, from a build script. Mistakes end the script: cargo shows them with line and caret.
pub fn compile(file: impl AsRef<Path>) {
    Build::new().compile(file);
}

/// How to compile. The defaults are those of `brcc`, with the preprocessor lines read (`-pp`).
#[derive(Clone, Debug)]
pub struct Build {
    options: brcc::Options,
    out: Option<PathBuf>,
}

impl Default for Build {
    fn default() -> Self {
        Build::new()
    }
}

impl Build {
    /// The defaults.
    pub fn new() -> Build {
        Build { options: brcc::Options { preprocess: true, ..brcc::Options::default() }, out: None }
    }

    /// No conversion without a cast (the default), or conversions as in C (`brcc -a`).
    pub fn strong(&mut self, yes: bool) -> &mut Build {
        self.options.strong = yes;
        self
    }

    /// A macro (`brcc -D`).
    pub fn define(&mut self, name: &str, value: &str) -> &mut Build {
        self.options.defines.push((name.to_owned(), value.to_owned()));
        self
    }

    /// CPU versions of the kernels, for which a C++ compiler is needed; without them kernels run on CAL only. On by default.
    pub fn cpu(&mut self, yes: bool) -> &mut Build {
        self.options.cpu = yes;
        self
    }

    /// Programs for streams of three dimensions and for long ones. On by default (`brcc -r` turns it off).
    pub fn translation(&mut self, yes: bool) -> &mut Build {
        self.options.translation = yes;
        self
    }

    /// Gather arrays with sizes are arrays of the host (the default), or streams too (`brcc -c`).
    pub fn constant_arrays(&mut self, yes: bool) -> &mut Build {
        self.options.no_constant_arrays = !yes;
        self
    }

    /// The folder of the results, `OUT_DIR` if not set.
    pub fn out_dir(&mut self, folder: impl Into<PathBuf>) -> &mut Build {
        self.out = Some(folder.into());
        self
    }

    /// Compiles a file, from a build script. Mistakes end the script: cargo shows them with line and caret.
    pub fn compile(&self, file: impl AsRef<Path>) {
        if let Err(error) = self.try_compile(file) {
            eprintln!("\n{error}");
            std::process::exit(1);
        }
    }

    /// Compiles a file, relative to the package's folder, to `OUT_DIR/<name>.rs` and, with CPU versions, to a static library that
    /// cargo links.
    ///
    /// # Errors
    /// The mistakes in the file, as text with line and caret; files that cannot be read or written; no C++ compiler.
    pub fn try_compile(&self, file: impl AsRef<Path>) -> Result<(), Error> {
        let file = file.as_ref();
        let shown = file.display().to_string();
        println!("cargo::rerun-if-changed={shown}");
        let source = std::fs::read_to_string(file).map_err(|e| Error(format!("{shown}: {e}")))?;
        let stem = file.file_stem().and_then(|s| s.to_str()).filter(|s| is_name(s));
        let stem = stem
            .ok_or_else(|| Error(format!("{shown}: the file's name is the module's, which it cannot be")))?;
        let options =
            brcc::Options { source_name: shown.clone(), prefix: stem.to_owned(), ..self.options.clone() };
        let output = brcc::compile(&source, &options)
            .map_err(|found| Error(brcc::diagnostic::render(&found, &source, &shown)))?;
        for line in brcc::diagnostic::render(&output.warnings, &source, &shown).lines() {
            println!("cargo::warning={line}");
        }
        let folder = match &self.out {
            Some(folder) => folder.clone(),
            None => std::env::var_os("OUT_DIR")
                .map(PathBuf::from)
                .ok_or_else(|| Error("OUT_DIR is not set: this is for build scripts".to_owned()))?,
        };
        // Two crates of one program may have files of one name.
        let package =
            std::env::var("CARGO_PKG_NAME").unwrap_or_default().replace(|c| !char::is_alphanumeric(c), "_");
        let symbol = |kernel: &str| format!("brook_{package}_{stem}_{kernel}_cpu").replace('$', "_S_");
        let module = rust::module(&output, &shown, options.cpu.then_some(&symbol));
        write(&folder.join(format!("{stem}.rs")), &module)?;
        if options.cpu && output.kernels.iter().any(|k| k.hir.is_entry()) {
            let include = folder.join("brook-include");
            for (name, text) in HEADERS {
                write(&include.join(name), text)?;
            }
            let unit = folder.join(format!("{stem}_cpu.cpp"));
            write(&unit, &output.cpu_unit(symbol))?;
            // Sums of products are rounded twice, as on a device.
            cc::Build::new()
                .cpp(true)
                .file(&unit)
                .include(&include)
                .flag_if_supported("-ffp-contract=off")
                .try_compile(&format!("brook_{package}_{stem}"))
                .map_err(|e| Error(format!("{shown}: the CPU versions of the kernels: {e}")))?;
        }
        Ok(())
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    let failed = |e: std::io::Error| Error(format!("{}: {e}", path.display()));
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(path, text).map_err(failed)
}
