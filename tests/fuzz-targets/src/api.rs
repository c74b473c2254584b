//! Sequences of calls of the C functions, from one thread or two, against a model that knows which handles are alive.
//!
//! Two bytes of the input are one call and its choice of handles; sizes and flags take some more. Handles are picked
//! among those ever given out, dead ones too, of any kind. The model says for each call whether it may succeed.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::Mutex;

use arbitrary::Unstructured;
use recal::CalResult;
use recal::ffi::types::*;
use recal::ffi::*;

/// Calls of a sequence at most.
const MOST: usize = 200;

/// The runtime is one for the process.
static PROCESS: Mutex<()> = Mutex::new(());

const KERNEL: &std::ffi::CStr = c"il_ps_2_0\ndcl_output_generic o0\ndcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
    dcl_cb cb0[1]\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n\
    sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\nadd o0, r0, cb0[0]\nend\n";

/// A handle, whether it is alive, and to whom it belongs.
#[derive(Clone, Copy)]
struct Handle {
    word: u32,
    alive: bool,
    owner: usize,
}

/// What is known.
#[derive(Default)]
struct Model {
    contexts: Vec<Handle>,
    /// The owner says nothing.
    resources: Vec<Handle>,
    mapped: Vec<bool>,
    sizes: Vec<(u32, u32)>,
    mems: Vec<Handle>,
    /// Resource of each mem.
    of: Vec<usize>,
    modules: Vec<Handle>,
    /// Entry and names of each module.
    inside: Vec<[u32; 4]>,
    events: Vec<Handle>,
}

fn pick(u: &mut Unstructured<'_>, list: &[Handle]) -> Option<usize> {
    if list.is_empty() { None } else { u.int_in_range(0..=list.len() - 1).ok() }
}

fn size(u: &mut Unstructured<'_>) -> u32 {
    const SIZES: [u32; 10] = [0, 1, 7, 64, 100, 255, 16384, 16385, 1 << 20, u32::MAX];
    SIZES[u.int_in_range(0..=SIZES.len() - 1).unwrap_or(0)]
}

/// Runs a sequence; an even first byte is one thread, an odd one two.
pub fn api(data: &[u8]) {
    let Some((&first, rest)) = data.split_first() else { return };
    let _alone = PROCESS.lock().unwrap_or_else(|e| e.into_inner());
    // SAFETY: the pointers of all calls here are NULL or to locals that are large enough; the handles may be anything.
    unsafe {
        assert_eq!(calInit(), CalResult::Ok);
        let mut device = 0;
        // The last device is the CPU.
        let mut count = 0;
        assert_eq!(calDeviceGetCount(&mut count), CalResult::Ok);
        assert_eq!(calDeviceOpen(&mut device, count - 1), CalResult::Ok);
        let image = image();
        if first & 1 == 0 {
            let mut model = Model::default();
            sequence(&mut Unstructured::new(rest), device, image, &mut model);
            model.end();
        } else {
            // Each thread has objects of its own, so that what it sees is known; the device is shared.
            let image = image as usize;
            std::thread::scope(|scope| {
                for half in rest.chunks(rest.len().div_ceil(2).max(1)) {
                    scope.spawn(move || {
                        let mut model = Model::default();
                        sequence(&mut Unstructured::new(half), device, image as CALimage, &mut model);
                        model.end();
                    });
                }
            });
        }
        assert_eq!(calImageFree(image), CalResult::Ok);
        assert_eq!(calDeviceClose(device), CalResult::Ok, "nothing keeps the device");
        assert_eq!(calShutdown(), CalResult::Ok);
        assert_eq!(calShutdown(), CalResult::NotInitialized);
    }
}

/// # Safety
/// The runtime is initialised.
unsafe fn image() -> CALimage {
    let (mut object, mut image) = (null_mut(), null_mut());
    // SAFETY: the outputs are locals, the text ends with NUL.
    unsafe {
        assert_eq!(calclCompile(&mut object, CAL_LANGUAGE_IL, KERNEL.as_ptr(), 8), CalResult::Ok);
        assert_eq!(calclLink(&mut image, &mut object, 1), CalResult::Ok);
        assert_eq!(calclFreeObject(object), CalResult::Ok);
    }
    image
}

fn sequence(u: &mut Unstructured<'_>, device: CALdevice, image: CALimage, model: &mut Model) {
    for _ in 0..MOST {
        if u.is_empty() || step(u, device, image, model).is_none() {
            break;
        }
    }
}

/// The code that the call must give: OK if all is well, else a bad handle, else another error.
fn expect(got: CalResult, handles: bool, rest: bool, what: &str) -> bool {
    match (handles, rest) {
        (false, _) => assert_eq!(got, CalResult::BadHandle, "{what}"),
        (true, true) => assert_eq!(got, CalResult::Ok, "{what}"),
        (true, false) => assert!(!matches!(got, CalResult::Ok | CalResult::BadHandle), "{what}: {got:?}"),
    }
    got == CalResult::Ok
}

/// One call; nothing if the input is used up.
fn step(u: &mut Unstructured<'_>, device: CALdevice, image: CALimage, model: &mut Model) -> Option<()> {
    let call: u8 = u.arbitrary().ok()?;
    let mut out = 77u32;
    // SAFETY: as in `api`.
    unsafe {
        match call % 18 {
            0 if model.contexts.len() < 8 => {
                assert_eq!(calCtxCreate(&mut out, device), CalResult::Ok);
                model.contexts.push(Handle { word: out, alive: true, owner: 0 });
            }
            1 => {
                let c = pick(u, &model.contexts)?;
                let got = calCtxDestroy(model.contexts[c].word);
                if expect(got, model.contexts[c].alive, true, "calCtxDestroy") {
                    model.contexts[c].alive = false;
                    let owned = model.mems.iter_mut().chain(&mut model.modules).chain(&mut model.events);
                    owned.filter(|h| h.owner == c).for_each(|h| h.alive = false);
                }
            }
            2 | 3 => {
                let (width, height, two) = (size(u), size(u), call % 18 == 3);
                let format: u32 = u.int_in_range(0..=50).ok()?;
                let flags = [0, 0, 0, 1, 2, 3, 4, 0x8000_0000][u.int_in_range(0..=7).ok()?];
                let bytes =
                    16 * u128::from(width).next_multiple_of(64) * u128::from(if two { height } else { 1 });
                // Large ones may be had or not, and would only take time here; beyond these there is no machine for them.
                if (8 << 20..1 << 42).contains(&bytes) {
                    return Some(());
                }
                let mut dev = device;
                let got = match (two, u.ratio(1u8, 2u8).ok()?) {
                    (true, true) => calResAllocLocal2D(&mut out, device, width, height, format, flags),
                    (true, false) => calResAllocRemote2D(&mut out, &mut dev, 1, width, height, format, flags),
                    (false, true) => calResAllocLocal1D(&mut out, device, width, format, flags),
                    (false, false) => calResAllocRemote1D(&mut out, &mut dev, 1, width, format, flags),
                };
                let impossible = width == 0 || two && height == 0 || format > 46 || flags > 3;
                assert!(
                    !(impossible && got == CalResult::Ok),
                    "{width} x {height}, format {format}, flags {flags}"
                );
                assert_eq!(out != 0, got == CalResult::Ok);
                if got == CalResult::Ok {
                    model.resources.push(Handle { word: out, alive: true, owner: 0 });
                    model.mapped.push(false);
                    model.sizes.push((width, if two { height } else { 1 }));
                }
            }
            4 => {
                let r = pick(u, &model.resources)?;
                if expect(calResFree(model.resources[r].word), model.resources[r].alive, true, "calResFree") {
                    model.resources[r].alive = false;
                }
            }
            5 => {
                let r = pick(u, &model.resources)?;
                let mut address = null_mut::<c_void>();
                let flags = u.int_in_range(0..=1).ok()?;
                let got = calResMap(&mut address, &mut out, model.resources[r].word, flags);
                let free = model.resources[r].alive && !model.mapped[r];
                if flags == 0 && expect(got, model.resources[r].alive, free, "calResMap") {
                    assert_eq!(out, model.sizes[r].0.next_multiple_of(64), "a pitch");
                    model.mapped[r] = true;
                    address.cast::<u8>().write(1);
                } else if got == CalResult::Ok {
                    model.mapped[r] = true;
                }
            }
            6 => {
                let r = pick(u, &model.resources)?;
                let alive = model.resources[r].alive;
                if expect(calResUnmap(model.resources[r].word), alive, model.mapped[r], "calResUnmap") {
                    model.mapped[r] = false;
                }
            }
            7 => {
                let (c, r) = (pick(u, &model.contexts)?, pick(u, &model.resources)?);
                let good = model.contexts[c].alive && model.resources[r].alive;
                let got = calCtxGetMem(&mut out, model.contexts[c].word, model.resources[r].word);
                if expect(got, good, true, "calCtxGetMem") {
                    model.mems.push(Handle { word: out, alive: true, owner: c });
                    model.of.push(r);
                }
            }
            8 => {
                let (c, m) = (pick(u, &model.contexts)?, pick(u, &model.mems)?);
                let good = model.contexts[c].alive && model.mems[m].alive && model.mems[m].owner == c;
                let got = calCtxReleaseMem(model.contexts[c].word, model.mems[m].word);
                if expect(got, good, true, "calCtxReleaseMem") {
                    model.mems[m].alive = false;
                }
            }
            9 if model.modules.len() < 8 => {
                let c = pick(u, &model.contexts)?;
                let context = model.contexts[c].word;
                let got = calModuleLoad(&mut out, context, image);
                if expect(got, model.contexts[c].alive, true, "calModuleLoad") {
                    let mut inside = [0; 4];
                    let [func, names @ ..] = &mut inside;
                    assert_eq!(calModuleGetEntry(func, context, out, c"main".as_ptr()), CalResult::Ok);
                    for (name, text) in names.iter_mut().zip([c"o0", c"i0", c"cb0"]) {
                        assert_eq!(calModuleGetName(name, context, out, text.as_ptr()), CalResult::Ok);
                    }
                    model.modules.push(Handle { word: out, alive: true, owner: c });
                    model.inside.push(inside);
                }
            }
            10 => {
                let (c, m) = (pick(u, &model.contexts)?, pick(u, &model.modules)?);
                let good = model.contexts[c].alive && model.modules[m].alive && model.modules[m].owner == c;
                let got = calModuleUnload(model.contexts[c].word, model.modules[m].word);
                if expect(got, good, true, "calModuleUnload") {
                    model.modules[m].alive = false;
                }
            }
            11 | 12 => {
                let (c, m, b) = (pick(u, &model.contexts)?, pick(u, &model.modules)?, pick(u, &model.mems)?);
                let slot: usize = u.int_in_range(1..=3).ok()?;
                let good = model.contexts[c].alive
                    && [model.modules[m], model.mems[b]].iter().all(|h| h.alive && h.owner == c);
                let got = calCtxSetMem(model.contexts[c].word, model.inside[m][slot], model.mems[b].word);
                expect(got, good, true, "calCtxSetMem");
            }
            13 | 14 => {
                let (c, m) = (pick(u, &model.contexts)?, pick(u, &model.modules)?);
                let good = model.contexts[c].alive && model.modules[m].alive && model.modules[m].owner == c;
                let domain =
                    CALdomain { x: size(u) & 255, y: 0, width: size(u) & 255, height: size(u) & 127 };
                let got = calCtxRunProgram(&mut out, model.contexts[c].word, model.inside[m][0], &domain);
                // Whether all is bound, and the domain empty, is not followed.
                assert_eq!(got == CalResult::BadHandle, !good, "calCtxRunProgram: {got:?}");
                if got == CalResult::Ok {
                    model.events.push(Handle { word: out, alive: true, owner: c });
                }
            }
            15 => {
                let (c, a, b) = (pick(u, &model.contexts)?, pick(u, &model.mems)?, pick(u, &model.mems)?);
                let good = model.contexts[c].alive
                    && [model.mems[a], model.mems[b]].iter().all(|h| h.alive && h.owner == c);
                let got =
                    calMemCopy(&mut out, model.contexts[c].word, model.mems[a].word, model.mems[b].word, 0);
                assert_eq!(got == CalResult::BadHandle, !good, "calMemCopy: {got:?}");
                let (from, to) = (model.sizes[model.of[a]], model.sizes[model.of[b]]);
                assert!(!(got == CalResult::Ok && (from.0 > to.0 || from.1 > to.1)), "{from:?} into {to:?}");
                if got == CalResult::Ok {
                    model.events.push(Handle { word: out, alive: true, owner: c });
                }
            }
            16 => {
                let (c, e) = (pick(u, &model.contexts)?, pick(u, &model.events)?);
                let got = calCtxIsEventDone(model.contexts[c].word, model.events[e].word);
                let good = model.contexts[c].alive && model.events[e].alive && model.events[e].owner == c;
                // Old events may be forgotten; others are done, pending, or failed.
                assert!(good || got == CalResult::BadHandle, "calCtxIsEventDone: {got:?}");
            }
            _ => {
                let word: u32 = u.arbitrary().ok()?;
                wild(word, model);
            }
        }
    }
    Some(())
}

/// NULL wherever a pointer goes, and a word that may be no handle.
///
/// # Safety
/// The runtime is initialised.
unsafe fn wild(word: u32, model: &Model) {
    // SAFETY: NULL is allowed everywhere.
    unsafe {
        assert_ne!(calCtxCreate(null_mut(), word), CalResult::Ok);
        assert_ne!(calResMap(null_mut(), null_mut(), word, 0), CalResult::Ok);
        assert_ne!(calModuleLoad(null_mut(), word, null_mut()), CalResult::Ok);
        assert_ne!(calCtxRunProgram(null_mut(), word, word, null()), CalResult::Ok);
        assert_ne!(calModuleGetName(null_mut(), word, word, null()), CalResult::Ok);
        assert_ne!(calImageRead(null_mut(), null(), word), CalResult::Ok);
        assert_ne!(calclCompile(null_mut(), word, null(), word), CalResult::Ok);
        assert!(!calGetErrorString().is_null());
        let lists = [&model.contexts, &model.resources, &model.mems, &model.modules, &model.events];
        let known = lists.iter().any(|list| list.iter().any(|h| h.word == word))
            || model.inside.iter().any(|inside| inside.contains(&word));
        // With two threads the word may be the other's; such luck has odds of 2^-25.
        if !known {
            let mut out = 0;
            assert_ne!(calCtxGetMem(&mut out, word, word), CalResult::Ok);
            assert_eq!(out, 0);
        }
    }
}

impl Model {
    /// Destroys what is left.
    fn end(&self) {
        // SAFETY: as in `api`.
        unsafe {
            for h in self.contexts.iter().filter(|h| h.alive) {
                assert_eq!(calCtxDestroy(h.word), CalResult::Ok);
            }
            for h in self.resources.iter().filter(|h| h.alive) {
                assert_eq!(calResFree(h.word), CalResult::Ok);
            }
        }
    }
}
