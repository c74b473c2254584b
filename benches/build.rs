//! Compiles the GLSL peers with glslang. Without it the bench is built all the same and says that peers are missing.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=glsl");
    println!("cargo::rerun-if-env-changed=PATH");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut sources: Vec<PathBuf> = fs::read_dir("glsl")
        .expect("the folder of the peers")
        .map(|entry| entry.expect("an entry of the folder").path())
        .filter(|path| path.extension().is_some_and(|e| e == "comp"))
        .collect();
    sources.sort();
    let mut list = String::from("/// Names and modules.\nconst PEERS: &[(&str, &[u8])] = &[\n");
    for source in sources {
        let name = source.file_stem().and_then(|name| name.to_str()).expect("plain names");
        if let Some(module) = compile(&source, &out.join(format!("{name}.spv"))) {
            list += &format!("({name:?}, include_bytes!({:?}).as_slice()),\n", module.display().to_string());
        }
    }
    list += "];\n";
    fs::write(out.join("peers_list.rs"), list).expect("the output folder can be written");
}

fn compile(source: &Path, module: &Path) -> Option<PathBuf> {
    let output = Command::new("glslangValidator")
        .args(["-V", "--quiet", "--target-env", "vulkan1.2", "-o"])
        .args([module, source])
        .output();
    match output {
        Ok(output) if output.status.success() => Some(module.to_owned()),
        Ok(output) => {
            panic!("{}: {}", source.display(), String::from_utf8_lossy(&output.stdout))
        }
        Err(error) => {
            println!("cargo::warning=glslangValidator does not run ({error}): no GLSL peers in this build");
            None
        }
    }
}
