//! `CAL_TIMELINE`: what happened when, as a file that Perfetto opens.
//!
//! A name that ends in `.pftrace` gets Perfetto's own format, any other the JSON of Chrome's tracer. Spans are written soon after
//! their ends, so that the file of a program that crashes lacks only its own.

mod chrome;
mod perfetto;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use recal_hal::Extent;
use recal_hal::sync::Mutex;
use recal_hal::timeline::{Detail, Recorder, Span, Thread, Track, start, stop};

/// A form of the file.
trait Form: Send {
    /// The beginning of the file, and the name of the process.
    fn begin(&mut self, out: &mut Vec<u8>, process: u32, name: &str);
    /// Introduces a track.
    fn track(&mut self, out: &mut Vec<u8>, track: Drawn, name: &str);
    /// A span.
    fn span(&mut self, out: &mut Vec<u8>, track: Drawn, span: &Span);
    /// What the file ends with; a program that starts again goes on before it.
    fn end(&self) -> &'static [u8];
}

/// A row of the picture.
#[derive(Clone, Copy)]
struct Drawn {
    process: u32,
    number: u32,
    /// A thread of the process, not a queue.
    thread: bool,
}

/// What else is told of a span: what it is called, and a text behind those of `out`.
fn told(detail: &Detail, out: &mut String) -> Option<&'static str> {
    match detail {
        Detail::None => return None,
        Detail::Text(text) => {
            let (name, text) = &**text;
            out.push_str(text);
            return Some(name);
        }
        Detail::Bytes(bytes) => write!(out, "{bytes} bytes"),
        Detail::Extent(Extent::Domain { width, height, .. }) => write!(out, "{width} x {height}"),
        Detail::Extent(Extent::Grid { groups: [x, y, z], block: [bx, by, bz] }) => {
            write!(out, "{x} x {y} x {z} groups of {bx} x {by} x {bz}")
        }
    }
    .expect("memory grows");
    Some("size")
}

/// Who a row belongs to.
#[derive(PartialEq, Eq, Hash)]
enum Owner {
    Thread(u64),
    Queue(u64),
    Device(u64),
}

struct Writer {
    form: Box<dyn Form>,
    rows: HashMap<Owner, u32>,
    /// Spans by their times; memory that is used again.
    sorted: Vec<(u64, Reverse<u64>, usize)>,
    /// What is not in the file.
    text: Vec<u8>,
    file: File,
    /// The file could not be written.
    failed: bool,
    process: u32,
}

/// Files that this process has begun: a runtime that is started again goes on at their end.
static BEGUN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The C boundary ends timelines itself, behind the call that it is in.
static HELD: AtomicBool = AtomicBool::new(false);

/// Whether the C boundary ends the timeline.
pub(crate) fn is_held() -> bool {
    HELD.load(Ordering::Relaxed)
}

/// Keeps a timeline open although its runtime goes, or not.
pub(crate) fn hold(held: bool) {
    HELD.store(held, Ordering::Relaxed);
}

/// Begins to write a timeline to `path`, or says in the log why not.
pub(crate) fn begin(path: &Path) {
    // The file of a process is not that of its children, even if they were forked from it.
    static OWNER: AtomicU32 = AtomicU32::new(0);
    let process = std::process::id();
    let owner = OWNER.compare_exchange(0, process, Ordering::Relaxed, Ordering::Relaxed);
    if owner.is_err_and(|owner| owner != process) {
        log::debug!("CAL_TIMELINE: children of `fork` are not drawn");
        return;
    }
    // The one before may end the same file.
    stop();
    let path = &PathBuf::from(path.to_string_lossy().replace("%p", &process.to_string()));
    match Writer::open(path) {
        Ok(writer) => start(Box::new(writer)),
        Err(e) => log::warn!("CAL_TIMELINE: {}: {e}; there is no timeline", path.display()),
    }
}

fn form(path: &Path) -> Box<dyn Form> {
    let perfetto = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("pftrace"));
    if perfetto { Box::<perfetto::Perfetto>::default() } else { Box::<chrome::Chrome>::default() }
}

impl Writer {
    fn open(path: &Path) -> std::io::Result<Self> {
        let process = std::process::id();
        let mut form = form(path);
        let mut begun = BEGUN.lock();
        let known = begun.iter().any(|one| one == path);
        let mut file = File::options().write(true).create(true).truncate(!known).open(path)?;
        if known {
            let end = file.metadata()?.len().saturating_sub(form.end().len() as u64);
            file.set_len(end)?;
            file.seek(SeekFrom::End(0))?;
        } else {
            begun.push(path.to_owned());
        }
        let mut text = Vec::new();
        if !known {
            let name = std::env::current_exe().ok();
            let name =
                name.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
            form.begin(&mut text, process, name.as_deref().unwrap_or("program"));
        }
        Ok(Self { form, rows: HashMap::new(), sorted: Vec::new(), text, file, failed: false, process })
    }

    /// The row of a span, introduced if it is new.
    fn row(&mut self, thread: &Thread, track: Track) -> Drawn {
        let owner = match track {
            Track::Thread => Owner::Thread(thread.number),
            Track::Queue(_, number) => Owner::Queue(number),
            Track::Device { number, .. } => Owner::Device(number),
        };
        let known = self.rows.get(&owner).copied();
        let number = known.unwrap_or_else(new_row);
        let row = Drawn { process: self.process, number, thread: track == Track::Thread };
        if known.is_none() {
            let name = match track {
                Track::Thread => thread.name.clone().unwrap_or_else(|| format!("thread {number}")),
                Track::Queue(name, number) => format!("{name} {number}"),
                Track::Device { queue, number, read: true } => {
                    format!("{queue} {number}, by the device's clock")
                }
                Track::Device { queue, number, read: false } => {
                    format!("{queue} {number}, by the device's clock, placed by submissions and ends")
                }
            };
            self.form.track(&mut self.text, row, &name);
            self.rows.insert(owner, number);
        }
        row
    }
}

/// A number for a new row: those of the file count on when a runtime is started again.
fn new_row() -> u32 {
    static ROWS: AtomicU32 = AtomicU32::new(1);
    ROWS.fetch_add(1, Ordering::Relaxed)
}

impl Recorder for Writer {
    fn record(&mut self, thread: &Thread, spans: &[Span]) {
        // Spans that begin at the same time are in each other: the longer is the outer one, and comes first.
        let mut sorted = std::mem::take(&mut self.sorted);
        sorted.clear();
        sorted.extend(spans.iter().enumerate().map(|(k, span)| (span.start, Reverse(span.end), k)));
        sorted.sort_unstable();
        let mut last = None;
        for (.., k) in &sorted {
            let span = &spans[*k];
            let row = match last {
                Some((track, row)) if track == span.track => row,
                _ => self.row(thread, span.track),
            };
            last = Some((span.track, row));
            self.form.span(&mut self.text, row, span);
        }
        self.sorted = sorted;
    }

    /// A full disk is not the caller's problem, but is told once.
    fn flush(&mut self) {
        if !self.failed
            && let Err(e) = self.file.write_all(&self.text)
        {
            self.failed = true;
            log::warn!("CAL_TIMELINE: {e}; the timeline ends here");
        }
        self.text.clear();
    }

    fn finish(&mut self) {
        self.text.extend(self.form.end());
        self.flush();
    }
}
