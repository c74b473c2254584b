//! `CAL_TIMELINE`: what happened when, as a file that Perfetto opens.
//!
//! A name that ends in `.pftrace` gets Perfetto's own format, any other the JSON of Chrome's tracer. Spans are written as they
//! end, so that the file of a program that crashes lacks only its end.

mod chrome;
mod perfetto;

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use recal_hal::sync::{Mutex, RwLock};
use recal_hal::timeline::{Recorder, Span, Track, start};

/// How old what is not in the file may become while there is news.
const FLUSH: Duration = Duration::from_millis(1);

/// A form of the file.
trait Form: Send + Sync {
    /// The beginning of the file, and the name of the process.
    fn begin(&self, out: &mut Vec<u8>, process: u32, name: &str);
    /// Introduces a track.
    fn track(&self, out: &mut Vec<u8>, track: &Drawn<'_>);
    /// A span; times in nanoseconds.
    fn span(&self, out: &mut Vec<u8>, track: &Drawn<'_>, span: &Span<'_>, times: [u64; 2]);
    /// What the file ends with; a program that starts again goes on before it.
    fn end(&self) -> &'static [u8];
}

/// A row of the picture.
struct Drawn<'a> {
    process: u32,
    number: u32,
    name: &'a str,
    /// A thread of the process, not a queue.
    thread: bool,
}

/// Who a row belongs to.
#[derive(PartialEq, Eq, Hash)]
enum Owner {
    Thread(std::thread::ThreadId),
    Queue(u64),
}

struct Out {
    file: BufWriter<File>,
    flushed: Instant,
    /// The file could not be written.
    failed: bool,
}

struct Writer {
    form: Box<dyn Form>,
    rows: RwLock<HashMap<Owner, u32>>,
    out: Mutex<Out>,
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

/// Times count from here.
fn origin() -> Instant {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    *ORIGIN.get_or_init(Instant::now)
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
    origin();
    let path = &PathBuf::from(path.to_string_lossy().replace("%p", &process.to_string()));
    match Writer::open(path) {
        Ok(writer) => start(Arc::new(writer)),
        Err(e) => log::warn!("CAL_TIMELINE: {}: {e}; there is no timeline", path.display()),
    }
}

fn form(path: &Path) -> Box<dyn Form> {
    let perfetto = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("pftrace"));
    if perfetto { Box::new(perfetto::Perfetto) } else { Box::new(chrome::Chrome) }
}

impl Writer {
    fn open(path: &Path) -> std::io::Result<Self> {
        let process = std::process::id();
        let form = form(path);
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
        let mut file = BufWriter::with_capacity(1 << 16, file);
        file.write_all(&text)?;
        let out = Out { file, flushed: Instant::now(), failed: false };
        Ok(Self { form, rows: RwLock::default(), out: Mutex::new(out), process })
    }
}

/// A number for a new row: those of the file count on when a runtime is started again.
fn new_row() -> u32 {
    static ROWS: AtomicU32 = AtomicU32::new(1);
    ROWS.fetch_add(1, Ordering::Relaxed)
}

impl Recorder for Writer {
    fn record(&self, span: &Span<'_>) {
        // Everything but the writing is done without a lock: those who end at the same time do not wait for each other.
        let mut text = Vec::with_capacity(512);
        let owner = Owner::of(span);
        let thread = span.track == Track::Thread;
        let process = self.process;
        let known = self.rows.read().get(&owner).copied();
        let number = known.unwrap_or_else(new_row);
        if known.is_none() {
            let name = match span.track {
                Track::Thread => {
                    std::thread::current().name().map_or_else(|| format!("thread {number}"), str::to_owned)
                }
                Track::Queue(name, number) => format!("{name} {number}"),
            };
            self.form.track(&mut text, &Drawn { process, number, name: &name, thread });
            self.rows.write().insert(owner, number);
        }
        let since = |time: Instant| time.saturating_duration_since(origin()).as_nanos() as u64;
        let times = [since(span.start), since(span.end)];
        self.form.span(&mut text, &Drawn { process, number, name: "", thread }, span, times);
        let mut out = self.out.lock();
        out.write(&text);
        if out.flushed.elapsed() >= FLUSH {
            out.flush();
        }
    }

    fn finish(&self) {
        let mut out = self.out.lock();
        out.write(self.form.end());
        out.flush();
    }
}

impl Owner {
    fn of(span: &Span<'_>) -> Self {
        match span.track {
            Track::Thread => Self::Thread(std::thread::current().id()),
            Track::Queue(_, number) => Self::Queue(number),
        }
    }
}

impl Out {
    /// A full disk is not the caller's problem, but is told once.
    fn write(&mut self, text: &[u8]) {
        if !self.failed
            && let Err(e) = self.file.write_all(text)
        {
            self.failed = true;
            log::warn!("CAL_TIMELINE: {e}; the timeline ends here");
        }
    }

    fn flush(&mut self) {
        self.flushed = Instant::now();
        if !self.failed
            && let Err(e) = self.file.flush()
        {
            self.failed = true;
            log::warn!("CAL_TIMELINE: {e}; the timeline ends here");
        }
    }
}
