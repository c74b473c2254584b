//! The pipeline cache on disk, damaged in every way that disks and processes have: kernels run all the same, and what is
//! left in the folder is whole.

mod needs;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::sync::Arc;

use recal_hal::{Backend, Bindings, Command, DeviceOptions, Extent, Format, Heap, MemoryRequest, Surface};
use recal_vulkan::{Options, Vulkan};

/// The folder of a child; see [`child`].
const FOLDER: &str = "RECAL_CACHE_FOLDER";

/// Opens a device that keeps its cache in `folder`, runs a kernel that stores `number`, and closes the device, which writes the
/// cache.
fn run(folder: &Path, number: u32) {
    let backend =
        Vulkan::new(Options { software: true, cache: Some(folder.to_owned()), ..Options::default() });
    let adapter = backend.adapters().first().cloned().expect("the test needs one");
    let device = adapter.open(&DeviceOptions::default()).expect("a listed device opens");
    let text = format!(
        "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 2, {number}, 0, 0\n\
         ishl r0.x, vAbsTidFlat.x, l0.x\nuav_raw_store_id(0) mem.x___, r0.x, l0.y\nend\n"
    );
    let kernel =
        device.load(Arc::new(recal_il::compile(text.as_bytes()).expect("it compiles"))).expect("it loads");
    let memory = device.allocate(MemoryRequest { bytes: 4096, heap: Heap::RemoteCached }).expect("memory");
    let uav =
        Surface { memory: memory.clone(), width: 64, height: 1, pitch: 64, format: Format::UnsignedInt32x1 };
    let bindings = Arc::new(Bindings { uavs: vec![(0, uav)], ..Bindings::default() });
    let queue = device.create_queue().expect("a queue");
    let extent = Extent::Grid { groups: [1; 3], block: [64, 1, 1] };
    let ticket = queue.submit(Command::Launch { kernel, bindings, extent }).expect("it is accepted");
    queue.wait(ticket).expect("it runs");
    let words = memory.map().expect("a map").cast::<u32>();
    // SAFETY: the memory has 4096 bytes, and the launch is done.
    assert!((0..64).all(|k| unsafe { words.add(k).read() } == number));
    memory.unmap();
}

/// A folder of a test's own, gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("recal-cache-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder for temporary files");
        Folder(folder)
    }

    fn files(&self) -> Vec<PathBuf> {
        fs::read_dir(&self.0).expect("it is there").map(|entry| entry.expect("readable").path()).collect()
    }

    /// The only file in it, which must be a whole cache.
    fn cache(&self) -> PathBuf {
        let files = self.files();
        assert_eq!(files.len(), 1, "nothing else is left: {files:?}");
        assert!(is_whole(&fs::read(&files[0]).expect("readable")), "{files:?}");
        files[0].clone()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A cache of the driver behind it: the header as Vulkan defines it, and a checksum at the end.
fn is_whole(file: &[u8]) -> bool {
    let Some((data, sum)) = file.split_at_checked(file.len().saturating_sub(8)) else { return false };
    let fnv = data
        .iter()
        .fold(0xCBF2_9CE4_8422_2325u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3));
    data.len() >= 32 && data[..8] == [32, 0, 0, 0, 1, 0, 0, 0] && sum == fnv.to_le_bytes()
}

/// A pipe that nobody writes to would be waited for, a device without an end read for ever.
fn what_is_no_file_is_not_read() {
    let folder = Folder::new("pipe");
    run(&folder.0, 1);
    let path = folder.cache();
    let make_pipe = |path: &Path| Process::new("mkfifo").arg(path).status().expect("mkfifo").success();
    let link = |path: &Path| std::os::unix::fs::symlink("/dev/zero", path).is_ok();
    for make in [&make_pipe as &dyn Fn(&Path) -> bool, &link] {
        fs::remove_file(&path).expect("it was there");
        assert!(make(&path));
        let (done, waiting) = std::sync::mpsc::channel();
        let of_thread = folder.0.clone();
        std::thread::spawn(move || {
            run(&of_thread, 2);
            done.send(())
        });
        let outcome = waiting.recv_timeout(std::time::Duration::from_secs(120));
        assert_eq!(outcome, Ok(()), "opening the device does not hang");
    }
}

fn damage_is_noticed_and_mended() {
    let folder = Folder::new("damage");
    run(&folder.0, 1);
    let path = folder.cache();
    let good = fs::read(&path).expect("readable");
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        bytes
    };
    let mut damaged: Vec<(String, Vec<u8>)> = vec![
        ("empty".into(), Vec::new()),
        ("rubbish".into(), vec![0xA5; 4096]),
        ("twice as long".into(), with(&|b| b.extend_from_within(..))),
        ("of another vendor".into(), with(&|b| b[8] ^= 1)),
        ("of another driver build".into(), with(&|b| b[16] ^= 1)),
        ("without its checksum, as older versions wrote it".into(), with(&|b| b.truncate(b.len() - 8))),
    ];
    for part in [1, 8, 31, 32, good.len() / 2, good.len() - 1] {
        damaged.push((format!("cut to {part}"), with(&|b| b.truncate(part))));
    }
    for k in 0..8 {
        let at = 32 + (good.len() - 32) * k / 8;
        damaged.push((format!("a bit changed at {at}"), with(&|b| b[at] ^= 0x10)));
    }
    for (number, (what, bytes)) in damaged.into_iter().enumerate() {
        assert!(!is_whole(&bytes) || bytes.len() > 32 && bytes[..32] != good[..32], "{what}");
        fs::write(&path, bytes).expect("writable");
        // Another kernel, so that there is something to write.
        println!("{what}");
        run(&folder.0, 100 + number as u32);
        assert_eq!(folder.cache(), path, "{what}");
    }
}

fn places_that_take_no_file() {
    let folder = Folder::new("places");
    let file = folder.0.join("file");
    fs::write(&file, "in the way").expect("writable");
    // A file where the folder should be, folders that nobody can make, and a device.
    for place in
        [file.join("cache"), "/proc/recal/cache".into(), "/dev/full".into(), "/dev/null/cache".into()]
    {
        run(&place, 7);
    }
    assert_eq!(folder.files(), [&*file], "and nothing came of it");
    fs::remove_file(&file).expect("it is ours");
    // A folder where the file should be.
    run(&folder.0, 7);
    let path = folder.cache();
    fs::remove_file(&path).expect("it is ours");
    fs::create_dir(&path).expect("writable");
    run(&folder.0, 8);
    assert_eq!(folder.files(), [path], "and nothing is left beside it");
}

/// What the children below do: a run by itself.
fn child(folder: &Path) {
    if std::env::var_os("RECAL_DISK").is_some() {
        let limit = libc::rlimit { rlim_cur: 10, rlim_max: 10 };
        // SAFETY: ignoring a signal and setting a limit: a file that grows beyond it is then an error, as on a full disk.
        unsafe {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &limit), 0);
        }
    }
    run(folder, 1000 + std::process::id());
}

fn start(folder: &Path, full: bool) -> std::process::Child {
    let mut process = Process::new(std::env::current_exe().expect("the name of this program"));
    process.env(FOLDER, folder).stdout(std::process::Stdio::null());
    // Its own shader cache would meet the limit, too.
    process.env("MESA_SHADER_CACHE_DISABLE", "true");
    if full {
        process.env("RECAL_DISK", "full");
    }
    process.spawn().expect("it starts")
}

fn processes_at_once_and_a_full_disk() {
    let folder = Folder::new("processes");
    run(&folder.0, 1);
    let path = folder.cache();
    for _ in 0..2 {
        // All of them find nothing and write.
        fs::remove_file(&path).expect("it is ours");
        let children: Vec<_> = (0..4).map(|_| start(&folder.0, false)).collect();
        for mut child in children {
            assert!(child.wait().expect("it ends").success());
        }
        assert_eq!(folder.cache(), path);
    }
    fs::remove_file(&path).expect("it is ours");
    assert!(start(&folder.0, true).wait().expect("it ends").success());
    assert_eq!(folder.files(), Vec::<PathBuf>::new(), "no half of a file is left");
}

fn main() -> std::process::ExitCode {
    if let Some(folder) = std::env::var_os(FOLDER) {
        child(Path::new(&folder));
        return std::process::ExitCode::SUCCESS;
    }
    tests()
}

recal_needs::tests!(fn tests, needs::device() => what_is_no_file_is_not_read damage_is_noticed_and_mended
    places_that_take_no_file processes_at_once_and_a_full_disk);
