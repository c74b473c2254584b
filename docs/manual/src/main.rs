//! Writes the book into a folder: `recal-manual FOLDER`.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(folder), None) = (arguments.next(), arguments.next()) else {
        eprintln!("recal-manual FOLDER: writes the manual as pages of HTML");
        return ExitCode::from(2);
    };
    match write(Path::new(&folder)) {
        Ok(pages) => {
            println!("{pages} pages in {}", Path::new(&folder).display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("recal-manual: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(folder: &Path) -> std::io::Result<usize> {
    let files = recal_manual::book::files();
    let mut pages = 0;
    for file in &files {
        let path = folder.join(&file.name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, &file.bytes)?;
        pages += usize::from(file.name.ends_with(".html"));
    }
    Ok(pages)
}
