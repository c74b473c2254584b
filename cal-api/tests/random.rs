//! Random calls: against a model that knows which handles are alive, from one thread and from several.
#![allow(clippy::macro_metavars_in_unsafe)]

mod support;

use std::ptr::null_mut;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use recal::ffi::types::*;
use recal::ffi::*;
use recal::{CalResult, Format};
use support::*;

/// What a step does; numbers pick among the handles ever given out.
#[derive(Clone, Debug)]
enum Step {
    CreateContext,
    DestroyContext(usize),
    Allocate(u32),
    Free(usize),
    GetMem(usize, usize),
    ReleaseMem(usize, usize),
    Map(usize),
    Unmap(usize),
    Load(usize),
    Unload(usize, usize),
    Bind(usize, usize, usize),
    Run(usize, usize),
    Copy(usize, usize, usize),
    Random(u32),
}

fn step() -> impl Strategy<Value = Step> {
    let n = 0usize..64;
    prop_oneof![
        2 => Just(Step::CreateContext),
        1 => n.clone().prop_map(Step::DestroyContext),
        4 => (1u32..300).prop_map(Step::Allocate),
        2 => n.clone().prop_map(Step::Free),
        4 => (n.clone(), n.clone()).prop_map(|(c, r)| Step::GetMem(c, r)),
        2 => (n.clone(), n.clone()).prop_map(|(c, m)| Step::ReleaseMem(c, m)),
        3 => n.clone().prop_map(Step::Map),
        3 => n.clone().prop_map(Step::Unmap),
        2 => n.clone().prop_map(Step::Load),
        1 => (n.clone(), n.clone()).prop_map(|(c, m)| Step::Unload(c, m)),
        4 => (n.clone(), n.clone(), n.clone()).prop_map(|(c, m, b)| Step::Bind(c, m, b)),
        4 => (n.clone(), n.clone()).prop_map(|(c, m)| Step::Run(c, m)),
        3 => (n.clone(), n.clone(), n).prop_map(|(c, a, b)| Step::Copy(c, a, b)),
        2 => any::<u32>().prop_map(Step::Random),
    ]
}

#[derive(Default)]
struct Model {
    /// (handle, alive)
    contexts: Vec<(u32, bool)>,
    /// (handle, alive, mapped, width)
    resources: Vec<(u32, bool, bool, u32)>,
    /// (handle, alive, context, width)
    mems: Vec<(u32, bool, usize, u32)>,
    /// (handle, func, output name, alive, context, bound mem)
    modules: Vec<(u32, u32, u32, bool, usize, Option<usize>)>,
}

fn pick<T>(list: &[T], number: usize) -> Option<usize> {
    (!list.is_empty()).then(|| number % list.len())
}

fn code(good: bool, bad: CalResult) -> CalResult {
    if good { CalResult::Ok } else { bad }
}

impl Model {
    fn apply(&mut self, device: u32, image: CALimage, step: &Step) -> Option<()> {
        use CalResult::{BadHandle, Error};
        let mut out = 9u32;
        match *step {
            Step::CreateContext => self.contexts.push((context(device), true)),
            Step::DestroyContext(c) => {
                let c = pick(&self.contexts, c)?;
                let (handle, alive) = self.contexts[c];
                assert_eq!(call!(calCtxDestroy(handle)), code(alive, BadHandle));
                self.contexts[c].1 = false;
                self.mems.iter_mut().filter(|m| m.2 == c).for_each(|m| m.1 = false);
                self.modules.iter_mut().filter(|m| m.4 == c).for_each(|m| m.3 = false);
            }
            Step::Allocate(width) => {
                let handle = remote_1d(device, width, Format::Float32x1);
                self.resources.push((handle, true, false, width));
            }
            Step::Free(r) => {
                let r = pick(&self.resources, r)?;
                let (handle, alive, ..) = self.resources[r];
                assert_eq!(call!(calResFree(handle)), code(alive, BadHandle));
                self.resources[r].1 = false;
            }
            Step::GetMem(c, r) => {
                let (c, r) = (pick(&self.contexts, c)?, pick(&self.resources, r)?);
                let good = self.contexts[c].1 && self.resources[r].1;
                let got = call!(calCtxGetMem(&mut out, self.contexts[c].0, self.resources[r].0));
                assert_eq!(got, code(good, BadHandle));
                assert_eq!(out != 0, good);
                if good {
                    self.mems.push((out, true, c, self.resources[r].3));
                }
            }
            Step::ReleaseMem(c, m) => {
                let (c, m) = (pick(&self.contexts, c)?, pick(&self.mems, m)?);
                let good = self.contexts[c].1 && self.mems[m].1 && self.mems[m].2 == c;
                assert_eq!(
                    call!(calCtxReleaseMem(self.contexts[c].0, self.mems[m].0)),
                    code(good, BadHandle)
                );
                if good {
                    self.mems[m].1 = false;
                    self.modules.iter_mut().filter(|x| x.5 == Some(m)).for_each(|x| x.5 = None);
                }
            }
            Step::Map(r) => {
                let r = pick(&self.resources, r)?;
                let (handle, alive, mapped, width) = self.resources[r];
                let mut address = null_mut();
                let got = call!(calResMap(&mut address, &mut out, handle, 0));
                assert_eq!(got, if alive { code(!mapped, Error) } else { BadHandle });
                if got == CalResult::Ok {
                    assert_eq!(out, width.next_multiple_of(64));
                    // SAFETY: mapped, that many floats.
                    unsafe { std::ptr::write_bytes(address.cast::<f32>(), 0, out as usize) };
                    self.resources[r].2 = true;
                } else {
                    assert!(address.is_null() && out == 0);
                }
            }
            Step::Unmap(r) => {
                let r = pick(&self.resources, r)?;
                let (handle, alive, mapped, _) = self.resources[r];
                let wanted = if alive { code(mapped, Error) } else { BadHandle };
                assert_eq!(call!(calResUnmap(handle)), wanted);
                self.resources[r].2 &= wanted != CalResult::Ok;
            }
            Step::Load(c) => {
                let c = pick(&self.contexts, c)?;
                let (handle, alive) = self.contexts[c];
                assert_eq!(call!(calModuleLoad(&mut out, handle, image)), code(alive, BadHandle));
                if alive {
                    let mut func = 0;
                    ok!(calModuleGetEntry(&mut func, handle, out, c"main".as_ptr()));
                    self.modules.push((out, func, name(handle, out, c"o0"), true, c, None));
                }
            }
            Step::Unload(c, m) => {
                let (c, m) = (pick(&self.contexts, c)?, pick(&self.modules, m)?);
                let good = self.contexts[c].1 && self.modules[m].3 && self.modules[m].4 == c;
                assert_eq!(
                    call!(calModuleUnload(self.contexts[c].0, self.modules[m].0)),
                    code(good, BadHandle)
                );
                self.modules[m].3 &= !good;
            }
            Step::Bind(c, m, b) => {
                let (c, m, b) = (pick(&self.contexts, c)?, pick(&self.modules, m)?, pick(&self.mems, b)?);
                let good = self.contexts[c].1
                    && self.modules[m].3
                    && self.modules[m].4 == c
                    && self.mems[b].1
                    && self.mems[b].2 == c;
                let got = call!(calCtxSetMem(self.contexts[c].0, self.modules[m].2, self.mems[b].0));
                assert_eq!(got, code(good, BadHandle));
                if good {
                    self.modules[m].5 = Some(b);
                }
            }
            Step::Run(c, m) => {
                let (c, m) = (pick(&self.contexts, c)?, pick(&self.modules, m)?);
                let alive = self.contexts[c].1 && self.modules[m].3 && self.modules[m].4 == c;
                let domain = CALdomain { x: 0, y: 0, width: 64, height: 1 };
                let got = call!(calCtxRunProgram(&mut out, self.contexts[c].0, self.modules[m].1, &domain));
                assert_eq!(got, if alive { code(self.modules[m].5.is_some(), Error) } else { BadHandle });
                assert_eq!(out != 0, got == CalResult::Ok);
                if got == CalResult::Ok {
                    let state = call!(calCtxIsEventDone(self.contexts[c].0, out));
                    assert!(matches!(state, CalResult::Ok | CalResult::Pending));
                }
            }
            Step::Copy(c, a, b) => {
                let (c, a, b) = (pick(&self.contexts, c)?, pick(&self.mems, a)?, pick(&self.mems, b)?);
                let (from, to) = (self.mems[a], self.mems[b]);
                let alive = self.contexts[c].1 && from.1 && to.1 && from.2 == c && to.2 == c;
                let got = call!(calMemCopy(&mut out, self.contexts[c].0, from.0, to.0, 0));
                assert_eq!(got, if alive { code(to.3 >= from.3, Error) } else { BadHandle });
                assert_eq!(out != 0, got == CalResult::Ok);
            }
            Step::Random(word) => {
                let known = self.contexts.iter().any(|h| h.0 == word)
                    || self.resources.iter().any(|h| h.0 == word)
                    || self.mems.iter().any(|h| h.0 == word)
                    || self.modules.iter().any(|h| [h.0, h.1, h.2].contains(&word))
                    || word == device;
                if !known {
                    wild(word);
                }
            }
        }
        Some(())
    }
}

/// Every call that takes a handle, with a word that is none.
fn wild(word: u32) {
    let (mut out, mut out2, mut value) = (9u32, 9u32, 9f32);
    let mut address = null_mut();
    let domain = CALdomain { x: 0, y: 0, width: 1, height: 1 };
    let mut attributes = [72u32; 18];
    expect!(BadHandle, calDeviceClose(word));
    expect!(BadHandle, calDeviceGetStatus(attributes.as_mut_ptr().cast(), word));
    expect!(BadHandle, calCtxCreate(&mut out, word));
    expect!(BadHandle, calCtxDestroy(word));
    expect!(BadHandle, calCtxFlush(word));
    expect!(BadHandle, calCtxIsEventDone(word, word));
    expect!(BadHandle, calCtxGetMem(&mut out, word, word));
    expect!(BadHandle, calCtxReleaseMem(word, word));
    expect!(BadHandle, calCtxSetMem(word, word, word));
    expect!(BadHandle, calCtxRunProgram(&mut out, word, word, &domain));
    expect!(BadHandle, calMemCopy(&mut out, word, word, word, 0));
    expect!(BadHandle, calModuleUnload(word, word));
    expect!(BadHandle, calModuleGetEntry(&mut out, word, word, c"main".as_ptr()));
    expect!(BadHandle, calModuleGetName(&mut out, word, word, c"o0".as_ptr()));
    expect!(BadHandle, calResFree(word));
    expect!(BadHandle, calResMap(&mut address, &mut out, word, 0));
    expect!(BadHandle, calResUnmap(word));
    expect!(BadHandle, calResAllocLocal1D(&mut out2, word, 4, 0, 0));
    expect!(BadHandle, calCtxGetCounter(&mut value, word, word));
}

fn sequence(device: u32, image: CALimage, steps: &[Step]) {
    let mut model = Model::default();
    for step in steps {
        model.apply(device, image, step);
    }
    // What is left goes with its contexts; resources one by one.
    for (handle, _) in model.contexts.iter().filter(|c| c.1) {
        ok!(calCtxDestroy(*handle));
    }
    for (handle, ..) in model.resources.iter().filter(|r| r.1) {
        ok!(calResFree(*handle));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_sequences_give_the_codes_of_the_model(steps in prop::collection::vec(step(), 1..120)) {
        let session = start();
        session.manual.run_freely();
        let (device, image) = (open(MANUAL), image(FILL));
        sequence(device, image, &steps);
        assert_eq!(session.manual.live_memories(), 0, "nothing leaks");
        assert_eq!(session.manual.live_kernels(), 0, "nothing leaks");
        ok!(calImageFree(image));
    }

    #[test]
    fn random_words_are_bad_handles(words in prop::collection::vec(any::<u32>(), 50)) {
        let _session = start();
        words.into_iter().for_each(wild);
        for kind in 0..16u32 {
            wild(kind << 28);
            wild(kind << 28 | 1 << 20);
        }
    }
}

#[test]
fn threads_share_a_device() {
    let _session = start();
    let (device, image) = (open(CPU), image(FILL) as usize);
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let strategy = prop::collection::vec(step(), 400);
            let steps = strategy.new_tree(&mut runner).unwrap().current();
            std::thread::spawn(move || sequence(device, image as CALimage, &steps))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    ok!(calImageFree(image as CALimage));
}

#[test]
fn threads_share_a_context() {
    let _session = start();
    let device = open(CPU);
    let ctx = context(device);
    let results: Arc<Vec<u32>> =
        Arc::new((0..6).map(|_| remote_1d(device, 256, Format::Float32x1)).collect());
    let threads: Vec<_> = (0..6)
        .map(|t| {
            let results = Arc::clone(&results);
            std::thread::spawn(move || {
                for _ in 0..100 {
                    let (module, func) = load(ctx, FILL);
                    let bound = bind(ctx, module, c"o0", results[t]);
                    let event = run(ctx, func, 256, 1);
                    assert_eq!(finish(ctx, event), CalResult::Ok);
                    with_map(results[t], 256, |w, _| {
                        assert!(w.iter().all(|&w| w == 1.5f32.to_bits()));
                        w.fill(0);
                    });
                    ok!(calCtxReleaseMem(ctx, bound));
                    ok!(calModuleUnload(ctx, module));
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn shutdown_while_others_call() {
    for _ in 0..20 {
        let session = start();
        session.manual.run_freely();
        let device = open(MANUAL);
        let threads: Vec<_> = (0..3)
            .map(|_| {
                std::thread::spawn(move || {
                    let mut context = 0;
                    let format = Format::Float32x1 as u32;
                    loop {
                        match call!(calCtxCreate(&mut context, device)) {
                            CalResult::Ok => {}
                            CalResult::NotInitialized | CalResult::BadHandle => return,
                            other => panic!("{other:?}"),
                        }
                        let mut res = 0;
                        let code = call!(calResAllocLocal1D(&mut res, device, 64, format, 0));
                        assert_eq!(code == CalResult::Ok, res != 0);
                        let _ = call!(calResFree(res));
                        let _ = call!(calCtxDestroy(context));
                    }
                })
            })
            .collect();
        std::thread::sleep(std::time::Duration::from_millis(5));
        ok!(calShutdown());
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(session.manual.live_memories(), 0);
    }
}
