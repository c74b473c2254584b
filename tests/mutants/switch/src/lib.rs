//! Which mutant is on, in the copy that `recal-mutants` makes. `MUTANT=n` chooses one for a whole process; with
//! `MUTANTS_SEEN=file` the numbers of those that are asked for are appended to the file, each once.

use std::io::Write;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};

/// None is on.
pub const NONE: u32 = u32::MAX - 2;
/// None is on, and who is asked for is noted.
const SEEING: u32 = u32::MAX - 1;
/// Nobody has looked at the environment.
const UNKNOWN: u32 = u32::MAX;

static CHOSEN: AtomicU32 = AtomicU32::new(UNKNOWN);
static SEEN: [AtomicU8; 1 << 16] = [const { AtomicU8::new(0) }; 1 << 16];

/// Whether this mutant is on.
#[inline(always)]
pub fn on(number: u32) -> bool {
    let chosen = CHOSEN.load(Relaxed);
    if chosen >= SEEING { rare(number) } else { chosen == number }
}

#[cold]
#[inline(never)]
fn rare(number: u32) -> bool {
    if CHOSEN.load(Relaxed) == UNKNOWN {
        let asked = std::env::var("MUTANT").ok().and_then(|text| text.parse().ok());
        let seeing = std::env::var_os("MUTANTS_SEEN").is_some();
        CHOSEN.store(asked.unwrap_or(if seeing { SEEING } else { NONE }), Relaxed);
        return on(number);
    }
    if SEEN[number as usize].swap(1, Relaxed) == 0 {
        note(number);
    }
    false
}

/// Processes may be ended at any time, so each number is written at once.
fn note(number: u32) {
    static FILE: OnceLock<Option<Mutex<std::fs::File>>> = OnceLock::new();
    let file = FILE.get_or_init(|| {
        let path = std::env::var_os("MUTANTS_SEEN")?;
        std::fs::OpenOptions::new().append(true).create(true).open(path).ok().map(Mutex::new)
    });
    if let Some(file) = file {
        let mut file = file.lock().unwrap_or_else(|e| e.into_inner());
        let _ = file.write_all(format!("{number}\n").as_bytes());
    }
}

/// Turns one on, or [`NONE`].
pub fn choose(number: u32) {
    CHOSEN.store(number, Relaxed);
}

/// Begins to note, in memory.
pub fn see() {
    CHOSEN.store(SEEING, Relaxed);
}

/// The numbers that were asked for since it was called last.
pub fn seen() -> Vec<u32> {
    (0..SEEN.len() as u32).filter(|k| SEEN[*k as usize].swap(0, Relaxed) == 1).collect()
}
