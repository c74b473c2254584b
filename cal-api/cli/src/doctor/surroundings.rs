//! What is around the devices: drivers, libraries, cache, environment.

use std::collections::BTreeSet;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::path::{Path, PathBuf};

use recal::Config;
use recal::config::VARIABLES;

use super::{Line, Section, State, line};

/// Variables of others that decide what is found here.
const OTHERS: [&str; 8] = [
    "LD_LIBRARY_PATH",
    "VK_DRIVER_FILES",
    "VK_ICD_FILENAMES",
    "VK_ADD_DRIVER_FILES",
    "VK_LOADER_DRIVERS_SELECT",
    "VK_LOADER_DRIVERS_DISABLE",
    "VK_LAYER_PATH",
    "VK_INSTANCE_LAYERS",
];

pub(super) fn sections(config: &Config) -> Vec<Section> {
    let section = |title: &str, lines| Section { title: title.into(), lines };
    vec![
        section("Vulkan drivers", drivers()),
        section("libraries", libraries()),
        section("cache", cache(config.cache.as_deref())),
        section(
            "environment",
            environment(std::env::vars_os().map(|(name, value)| {
                (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned())
            })),
        ),
    ]
}

/// Paths in a variable that has several.
fn paths(variable: &str) -> Vec<PathBuf> {
    let value = std::env::var_os(variable).unwrap_or_default();
    std::env::split_paths(&value).filter(|path| !path.as_os_str().is_empty()).collect()
}

/// The files of a folder with this extension, by name; none if it cannot be read.
fn files_in(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|e| e == extension)).collect();
    files.sort();
    files
}

/// What the loader of Vulkan reads, by its documented rules, and the devices of the system's kernel.
fn drivers() -> Vec<Line> {
    let mut lines = Vec::new();
    if cfg!(target_os = "linux") {
        let named: Vec<_> =
            ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].iter().flat_map(|name| paths(name)).collect();
        let mut files: Vec<PathBuf> = Vec::new();
        if named.is_empty() {
            let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/share"));
            let mut roots: Vec<PathBuf> = paths("XDG_DATA_HOME");
            roots.extend(home.filter(|_| roots.is_empty()));
            roots.extend(["/usr/local/etc", "/etc", "/usr/local/share", "/usr/share"].map(PathBuf::from));
            files.extend(roots.iter().flat_map(|root| files_in(&root.join("vulkan/icd.d"), "json")));
        }
        for path in named.into_iter().chain(paths("VK_ADD_DRIVER_FILES")) {
            if path.is_dir() { files.extend(files_in(&path, "json")) } else { files.push(path) }
        }
        lines.extend(files.iter().map(|file| driver(file)));
        if files.is_empty() {
            lines.push(line(
                State::Absent,
                "none",
                "no manifest in vulkan/icd.d of /etc, /usr/share and their likes",
            ));
        }
        lines.extend(nodes());
    }
    lines
}

/// The manifest of a driver.
fn driver(file: &Path) -> Line {
    let about = file.display().to_string();
    let library = fs::read(file).map_err(|e| e.to_string()).and_then(|text| {
        let manifest: serde_json::Value = serde_json::from_slice(&text).map_err(|e| e.to_string())?;
        let library = manifest["ICD"]["library_path"].as_str().map(str::to_owned);
        library.ok_or_else(|| "the manifest names no library".into())
    });
    match library {
        // A bare name is for the system to find, any other is a path from the manifest.
        Ok(library) if library.contains('/') => {
            let path = file.parent().unwrap_or(Path::new("")).join(&library);
            match path.exists() {
                true => line(State::Good, about, library),
                false => line(State::Bad, about, format!("{} is not there", path.display())),
            }
        }
        Ok(library) => line(State::Good, about, library),
        Err(error) => line(State::Bad, about, error),
    }
}

/// GPUs as the system's kernel shows them, and whether this user may use them.
fn nodes() -> Vec<Line> {
    let named = |folder: &str, prefix: &str| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let is = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.strip_prefix(prefix).is_some_and(|rest| rest.parse::<u32>().is_ok())
        };
        entries.filter(is).collect::<BTreeSet<_>>()
    };
    let nodes: Vec<_> = named("/dev/dri", "renderD").into_iter().chain(named("/dev", "nvidia")).collect();
    if nodes.is_empty() {
        return vec![line(
            State::Absent,
            "GPU",
            "the system has none: no /dev/dri/renderD*, no /dev/nvidia*",
        )];
    }
    let node = |path: &PathBuf| match fs::File::options().read(true).write(true).open(path) {
        Ok(_) => line(State::Good, path.display().to_string(), "may be used"),
        Err(e) => line(State::Bad, path.display().to_string(), e.to_string()),
    };
    nodes.iter().map(node).collect()
}

/// The libraries that old programs open, where programs started from here find them.
fn libraries() -> Vec<Line> {
    let own = std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.to_path_buf()));
    // Windows looks beside programs, and in the folders of programs.
    let beside = own.and_then(|own| if cfg!(windows) { Some(own) } else { Some(own.parent()?.join("lib")) });
    let variable = if cfg!(windows) { "PATH" } else { "LD_LIBRARY_PATH" };
    let from_path = paths(variable);
    let arch = if cfg!(target_arch = "x86") { "i386" } else { std::env::consts::ARCH };
    let triplet = format!("/usr/lib/{arch}-linux-gnu");
    let system = ["/usr/local/lib", &triplet, "/usr/lib64", "/usr/lib", "/lib64", "/lib"].map(PathBuf::from);
    let found = |folders: &[PathBuf], name: &str| {
        folders.iter().map(|folder| folder.join(name)).find(|path| path.exists())
    };
    let mut lines = Vec::new();
    // The third is a thing of start-up scripts.
    let names =
        if cfg!(windows) { &["aticalrt", "aticalcl"][..] } else { &["aticalrt", "aticalcl", "aticaldd"] };
    for name in names {
        let name = format!("{DLL_PREFIX}{name}{DLL_SUFFIX}");
        let seen = found(&from_path, &name).or_else(|| found(&system, &name));
        let built = beside.as_ref().map(|folder| folder.join(&name)).filter(|path| path.exists());
        lines.push(match (seen, built) {
            (Some(path), _) if is_ours(&path) => line(State::Good, name, path.display().to_string()),
            (Some(path), _) => {
                line(State::Bad, name, format!("{} is another's, and programs find it first", path.display()))
            }
            (None, Some(path)) => {
                let folder = path.parent().unwrap_or(Path::new("")).display().to_string();
                let text = match cfg!(windows) {
                    true => {
                        format!("{}; programs want it beside themselves, or PATH={folder}", path.display())
                    }
                    false => {
                        format!("{}; programs want a run path or LD_LIBRARY_PATH={folder}", path.display())
                    }
                };
                line(State::Good, name, text)
            }
            (None, None) => line(
                State::Absent,
                name,
                format!("not in {variable}, beside the command or where systems have libraries"),
            ),
        });
    }
    lines
}

/// Whether a library has the marks of this product: the bridge between the libraries, or its name.
fn is_ours(path: &Path) -> bool {
    let bytes = fs::read(path).unwrap_or_default();
    [&b"recal_cl_"[..], b"reCAL"].iter().any(|mark| bytes.windows(mark.len()).any(|window| window == *mark))
}

/// The folder of built kernels.
fn cache(folder: Option<&Path>) -> Vec<Line> {
    let Some(folder) = folder else {
        return vec![line(State::Absent, "none", "CAL_CACHE=off, or neither XDG_CACHE_HOME nor HOME is set")];
    };
    let about = folder.display().to_string();
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            return vec![line(State::Absent, about, "not there yet; made when a GPU has built a kernel")];
        }
        Err(e) => return vec![line(State::Bad, about, e.to_string())],
    };
    let sizes: Vec<u64> = entries.flatten().filter_map(|e| e.metadata().ok()).map(|m| m.len()).collect();
    // The way to know whether files can be made is to make one.
    let probe = folder.join(format!("doctor-{}", std::process::id()));
    let written = fs::write(&probe, b"");
    // If it was not made it cannot be removed.
    let _ = fs::remove_file(&probe);
    vec![match written {
        Ok(()) => {
            let text = format!("{} files, {} KiB", sizes.len(), sizes.iter().sum::<u64>().div_ceil(1024));
            line(State::Good, about, text)
        }
        Err(e) => line(State::Bad, about, format!("cannot be written: {e}")),
    }]
}

/// Variables that count, and those that look as if they did.
fn environment(variables: impl Iterator<Item = (String, String)>) -> Vec<Line> {
    let mut lines = Vec::new();
    for (name, value) in variables.collect::<BTreeSet<_>>() {
        let about = format!("{name}={value}");
        let known = VARIABLES.iter().find(|variable| variable.name == name);
        lines.extend(match known {
            Some(_) if value.trim().is_empty() => Some(line(State::Absent, about, "empty, as if unset")),
            Some(variable) => Some(match variable.refusal(&value) {
                None => line(State::Good, about, ""),
                Some(reason) => {
                    let text = format!("{reason}; taken as unset (accepted: {})", variable.values);
                    line(State::Bad, about, text)
                }
            }),
            None if name.starts_with("CAL_") => Some(line(State::Bad, about, "no such variable is read")),
            None if OTHERS.contains(&name.as_str()) => Some(line(State::Good, about, "")),
            None => None,
        });
    }
    if lines.is_empty() {
        lines.push(line(State::Absent, "none", "no variable that counts is set"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_understood_or_told() {
        let set = [
            ("CAL_TIMEOUT", "soon"),
            ("CAL_BACKEND", "cpu"),
            ("CAL_BACKEN", "x"),
            ("PATH", "p"),
            ("VK_LAYER_PATH", "l"),
        ];
        let set = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let lines = environment(set);
        let states: Vec<_> = lines.iter().map(|l| (l.about.as_str(), l.state)).collect();
        let expected = [
            ("CAL_BACKEN=x", State::Bad),
            ("CAL_BACKEND=cpu", State::Good),
            ("CAL_TIMEOUT=soon", State::Bad),
            ("VK_LAYER_PATH=l", State::Good),
        ];
        assert_eq!(states, expected);
        assert!(lines[2].text.starts_with("not a number of seconds; taken as unset"));
    }

    #[test]
    fn a_cache_is_there_or_missing_or_in_the_way() {
        let folder = std::env::temp_dir().join(format!("recal-doctor-{}", std::process::id()));
        assert_eq!(cache(Some(&folder))[0].state, State::Absent);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("kernels"), [0; 3000]).unwrap();
        assert_eq!(cache(Some(&folder)), [line(State::Good, folder.display().to_string(), "1 files, 3 KiB")]);
        assert_eq!(cache(Some(&folder.join("kernels")))[0].state, State::Bad);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(cache(None)[0].state, State::Absent);
    }

    #[test]
    fn a_manifest_names_a_library_that_is_there() {
        let file = std::env::temp_dir().join(format!("recal-icd-{}.json", std::process::id()));
        for (text, state) in [
            (r#"{"ICD": {"library_path": "libvulkan_lvp.so"}}"#, State::Good),
            (r#"{"ICD": {"library_path": "/no such folder/lib.so"}}"#, State::Bad),
            (r#"{"ICD": {"library_path": "./recal-no-such-file.so"}}"#, State::Bad),
            (r#"{"ICD": {}}"#, State::Bad),
            ("rubbish", State::Bad),
        ] {
            fs::write(&file, text).unwrap();
            assert_eq!(driver(&file).state, state, "{text}");
        }
        fs::remove_file(&file).unwrap();
        assert_eq!(driver(&file).state, State::Bad);
    }
}
