//! What is not a kernel's own time: launching, compiling, loading.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use recal::{Domain, Format, Module, Place};
use recal_il::spirv::{Assume, Formats, Mode, Target};

use crate::case::{Buffer, Case, Step, Threads, Unit};
use crate::measure::{Effort, Result, Runner, Series, Timed, interleaved};
use crate::report::Row;
use crate::run::Peers;
use crate::subject::Ours;

const EMPTY: &str = "il_ps_2_0\ndcl_output_generic o0\ndcl_literal l0, 1.0, 1.0, 1.0, 1.0\nmov o0, l0\nend\n";

/// Dispatches in a command buffer of many.
const RECORDED: u32 = 64;

/// A kernel of one tile that writes a constant.
fn empty_case() -> Case {
    Case {
        name: "empty".into(),
        il: EMPTY.into(),
        peer: "empty",
        buffers: vec![Buffer::output("o0", [8, 8], Format::Float32x4)],
        threads: Threads::Domain(8, 8),
        steps: Step::of(&[], &[8]),
        work: 1.0,
        unit: Unit::Operation,
        check: Box::new(|b, _| crate::case::expect_words(&b[0], [1.0f32.to_bits(); 256])),
        host: None,
        doubles: false,
    }
}

/// Launches of one tile: each waited for, each polled for, and many at once.
pub fn launches(
    effort: Effort,
    ours: &[&Ours],
    peers: Peers<'_>,
) -> Result<Vec<(&'static str, Vec<Series>)>> {
    let case = empty_case();
    let mut subjects = ours.iter().map(|ours| ours.prepare(&case)).collect::<Result<Vec<_>>>()?;
    let mut peer = peers.glsl.map(|gpu| gpu.prepare(&case)).transpose()?;
    let mut opencl = peers.opencl.map(|opencl| opencl.prepare(&case)).transpose()?;
    let runners = subjects.iter_mut().map(|s| s as &mut dyn Runner);
    for runner in runners.chain(peer.as_mut().map(|p| p as _)).chain(opencl.as_mut().map(|p| p as _)) {
        runner.run(1)?;
        (case.check)(&runner.read()?, true).map_err(|e| format!("{}: {e}", runner.who()))?;
    }
    // The least that it costs in a plain Vulkan program.
    let least = peers.glsl.map(|gpu| gpu.prepare(&case)).transpose()?;
    let plain = least
        .as_ref()
        .map(|peer| -> Result<_> { Ok([peer.recorded(1)?, peer.recorded(0)?, peer.recorded(RECORDED)?]) });
    let plain = plain.transpose()?;
    let modules: Vec<(String, &Ours, Module)> = ours
        .iter()
        .map(|ours| {
            let module = ours.load(EMPTY)?;
            module.bind("o0", &ours.device.allocate_2d(8, 8, Format::Float32x4, Place::Local)?)?;
            Ok((ours.label.clone(), *ours, module))
        })
        .collect::<Result<_>>()?;

    let mut all = Vec::new();
    let mut waits: Vec<Timed<'_>> = Vec::new();
    let mut polls: Vec<Timed<'_>> = Vec::new();
    for (label, ours, module) in &modules {
        waits.push((
            label.clone(),
            Box::new(|times| {
                for _ in 0..times {
                    ours.context.run(module, Domain::of(8, 8))?.wait()?;
                }
                Ok(())
            }),
        ));
        polls.push((
            label.clone(),
            Box::new(|times| {
                for _ in 0..times {
                    let event = ours.context.run(module, Domain::of(8, 8))?;
                    while !event.is_done()? {
                        std::hint::spin_loop();
                    }
                }
                Ok(())
            }),
        ));
    }
    if let Some([one, nothing, _]) = &plain {
        for (who, recorded) in [("glsl, recorded before", one), ("nothing, recorded before", nothing)] {
            polls.push((who.into(), Box::new(|times| (0..times).try_for_each(|_| recorded.poll(1)))));
        }
    }
    if let Some(peer) = &mut peer {
        waits.push(("glsl".into(), Box::new(|times| (0..times).try_for_each(|_| peer.run(1)))));
    }
    if let Some(opencl) = &mut opencl {
        waits.push((opencl.who(), Box::new(|times| (0..times).try_for_each(|_| opencl.run(1)))));
    }
    if let Some(cuda) = peers.cuda {
        waits.push(("cuda".into(), Box::new(|times| (0..times).try_for_each(|_| cuda.launch(1)))));
    }
    all.push(("launch and wait", interleaved(effort, &mut waits)?));
    all.push(("launch and poll", interleaved(effort, &mut polls)?));
    let mut hosts = Vec::new();
    for (label, ours, module) in &modules {
        hosts.push(host_time(effort, label, ours, module)?);
    }
    all.push(("launch again, the host's part", hosts));
    drop(waits);
    let mut batches: Vec<Timed<'_>> = Vec::new();
    for subject in &mut subjects {
        batches.push((subject.who(), Box::new(|times| subject.run(times))));
    }
    if let Some(peer) = &mut peer {
        batches.push(("glsl".into(), Box::new(|times| peer.run(times))));
    }
    if let Some(opencl) = &mut opencl {
        batches.push((opencl.who(), Box::new(|times| opencl.run(times))));
    }
    if let Some(cuda) = peers.cuda {
        batches.push(("cuda".into(), Box::new(|times| cuda.launch(times))));
    }
    if let Some([.., many]) = &plain {
        let poll = |times: u32| many.poll(times.div_ceil(RECORDED));
        batches.push(("glsl, recorded before".into(), Box::new(poll)));
    }
    // Long batches: what is measured is the cost of one more launch.
    let long = Effort { least: effort.least.max(0.005), ..effort };
    all.push(("launch, one of many", interleaved(long, &mut batches)?));
    Ok(all)
}

/// What the host does for a launch that came before: batches are waited for apart.
fn host_time(effort: Effort, label: &str, ours: &Ours, module: &Module) -> Result<Series> {
    const BATCHES: u32 = 16;
    const LAUNCHES: u32 = 64;
    let round = || -> Result<f64> {
        let mut seconds = 0.0;
        for _ in 0..BATCHES {
            let start = Instant::now();
            let mut last = ours.context.run(module, Domain::of(8, 8))?;
            for _ in 1..LAUNCHES {
                last = ours.context.run(module, Domain::of(8, 8))?;
            }
            seconds += start.elapsed().as_secs_f64();
            last.wait()?;
        }
        Ok(seconds / f64::from(BATCHES * LAUNCHES))
    };
    let begun = Instant::now();
    round()?;
    while begun.elapsed() < effort.warm {
        round()?;
    }
    let seconds = (0..effort.rounds).map(|_| round()).collect::<Result<_>>()?;
    Ok(Series { who: label.into(), seconds })
}

/// The copy command over two resources of `width` x `height` float4, beside the drivers' own.
pub fn copy_command(effort: Effort, ours: &[&Ours], peers: Peers<'_>, mut case: Case) -> Result<Row> {
    let peer = peers.glsl.map(|gpu| gpu.prepare(&case)).transpose()?;
    let opencl = peers.opencl.map(|opencl| opencl.prepare(&case)).transpose()?;
    let mut runner = peers.cuda.map(|cuda| cuda.prepare(&case)).transpose()?.flatten();
    let mut subjects: Vec<Timed<'_>> = Vec::new();
    for ours in ours {
        let [width, height] = [case.buffers[0].width, case.buffers[0].height];
        let of = |words: &[u32]| -> Result<recal::Resource> {
            let resource = ours.device.allocate_2d(width, height, Format::Float32x4, Place::Local)?;
            if !words.is_empty() {
                resource.map::<u32>()?[..words.len()].copy_from_slice(words);
            }
            Ok(resource)
        };
        let (source, target) = (of(&case.buffers[0].words)?, of(&[])?);
        let (from, to) = (ours.context.mem(&source)?, ours.context.mem(&target)?);
        ours.context.copy(&from, &to)?.wait()?;
        let words = target.map::<u32>()?[..case.buffers[0].words.len()].to_vec();
        (case.check)(&[Vec::new(), words], true)
            .map_err(|e| format!("copy command by {}: {e}", ours.label))?;
        subjects.push((
            ours.label.clone(),
            Box::new(move |times| {
                let mut last = None;
                for _ in 0..times {
                    last = Some(ours.context.copy(&from, &to)?);
                }
                Ok(last.map_or(Ok(()), |event| event.wait())?)
            }),
        ));
    }
    if let Some(peer) = &peer {
        subjects.push(("driver".into(), Box::new(|times| peer.copy_command(times))));
    }
    if let Some(opencl) = &opencl {
        subjects.push((format!("{} copy", opencl.who()), Box::new(|times| opencl.copy_command(times))));
    }
    if let Some(runner) = &mut runner {
        subjects.push(("cuda".into(), Box::new(|times| runner.run(times))));
    }
    let work = std::mem::take(&mut case.work);
    let series = interleaved(effort, &mut subjects)?;
    Ok(Row::new(&case.name.replace("copy", "copy command"), Some(work), case.unit.rate(), &series))
}

/// A copy from host memory beside a kernel of about its length that has nothing to do with it: the kernel alone, the copy
/// alone, both at once. With overlap both take as long as the longer, without it as long as the two together.
pub fn copy_beside_kernel(effort: Effort, ours: &[&Ours], bytes: u32) -> Result<Row> {
    let mut text = String::from(
        "il_ps_2_0\ndcl_output_generic o0\ndcl_cb cb0[1]\ndcl_literal l0, 0.999, 0.001, 0x0, 0xFFFFFFFF\n\
         mov r0, l0.xyxy\nmov r1.x, cb0[0].x\nwhileloop\nbreak_logicalz r1.x\niadd r1.x, r1.x, l0.w\n",
    );
    text += &"mad r0, r0, l0.xxxx, l0.yyyy\n".repeat(16);
    text += "endloop\nmov o0, r0\nend\n";
    const TURNS: u32 = 60_000;
    let width = 1024;
    let height = (bytes / (16 * width)).max(1);
    let mut all: Vec<Timed<'_>> = Vec::new();
    for ours in ours {
        let of = |place| ours.device.allocate_2d(width, height, Format::Float32x4, place);
        let (source, target) = (of(Place::Remote)?, of(Place::Local)?);
        let words = source.map::<u32>()?.len() as u32;
        source
            .map::<u32>()?
            .iter_mut()
            .zip(0u32..)
            .for_each(|(word, k)| *word = k.wrapping_mul(2_654_435_761));
        let (from, to) = (ours.context.mem(&source)?, ours.context.mem(&target)?);
        ours.context.copy(&from, &to)?.wait()?;
        let moved = target
            .map::<u32>()?
            .iter()
            .zip(0u32..words)
            .all(|(word, k)| *word == k.wrapping_mul(2_654_435_761));
        if !moved {
            return Err(format!("copy beside a kernel by {}: other words", ours.label).into());
        }
        let module = ours.load(&text)?;
        module.bind("o0", &ours.device.allocate_2d(64, 64, Format::Float32x4, Place::Local)?)?;
        let turns = ours.device.allocate_1d(1, Format::UnsignedInt32x4, Place::Remote)?;
        module.bind("cb0", &turns)?;
        let kernel = move || ours.context.run(&module, Domain::of(64, 64));
        let copy = move || ours.context.copy(&from, &to);
        let time = |run: &dyn Fn() -> recal::Result<recal::Event>| -> Result<f64> {
            let start = Instant::now();
            run()?.wait()?;
            Ok(start.elapsed().as_secs_f64())
        };
        // A tenth of the most turns tells how many are as long as the copy.
        turns.map::<u32>()?[0] = TURNS / 10;
        let times = [time(&copy)?, time(&copy)?, time(&kernel)?, time(&kernel)?];
        let wanted = f64::from(TURNS / 10) * times[1] / times[3];
        turns.map::<u32>()?[0] = (wanted as u32).clamp(1, TURNS);
        let (kernel, copy) = (std::rc::Rc::new(kernel), std::rc::Rc::new(copy));
        for (what, with) in [("kernel", [true, false]), ("copy", [false, true]), ("both", [true, true])] {
            let (kernel, copy) = (kernel.clone(), copy.clone());
            all.push((
                format!("{} {what}", ours.label),
                Box::new(move |times| {
                    let mut last = None;
                    for _ in 0..times {
                        if with[0] {
                            last = Some(kernel()?);
                        }
                        if with[1] {
                            last = Some(copy()?);
                        }
                    }
                    Ok(last.map_or(Ok(()), |event| event.wait())?)
                }),
            ));
        }
    }
    let series = interleaved(effort, &mut all)?;
    Ok(Row::new(&format!("copy of {} KiB beside kernel", bytes >> 10), None, "µs", &series))
}

/// A kernel of about `count` instructions: arithmetic of all kinds, fetches, loops and conditions.
pub fn long_kernel(count: usize) -> String {
    let mut text = String::from(
        "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n\
         dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\ndcl_cb cb0[16]\n\
         dcl_literal l0, 0.5, 1.0, 2.0, 3.0\ndcl_literal l1, 1, 2, 3, 4\n\
         mov r0, l0\nmov r1, l0\nmov r2, l0\nmov r3, l0\n",
    );
    let block = [
        "sample_resource(0)_sampler(0) r1, vWinCoord0.xyxx",
        "mad r0, r1, cb0[3].xyzw, r0",
        "add r2.xy__, r0.zwzz, r1_neg(xyzw)",
        "mul r3.x, r2.x, r2.y",
        "dp4 r3.y, r0, r1",
        "iadd r4, r4, l1.xyxy",
        "iand r5.x, r4.y, l1.z",
        "if_logicalnz r5.x",
        "max r0.xyz_, r0.xyzz, r3.xxxx",
        "else",
        "min r0, r0, l0.wwww",
        "endif",
        "ishl r6, r4, l1.xxxx",
        "ixor r4, r4, r6",
        "frc r7, r0",
        "ge r8.x, r7.x, l0.x",
        "cmov_logical r0.x, r8.x, r0.y, r7.z",
        "rcp_zeroop(fltmax) r9.x, r3.y",
        "mad_sat r2, r9.xxxx, r0, r2",
        "itof r10, r4",
    ];
    for k in 0..count {
        text += block[k % block.len()];
        text.push('\n');
    }
    text += match count % block.len() {
        8..=11 => "endif\nadd o0, r0, r2\nend\n",
        _ => "add o0, r0, r2\nend\n",
    };
    text
}

/// Text to program and program to SPIR-V: bytes of the text, and the times.
pub fn front_end(effort: Effort) -> Result<(usize, Vec<Series>)> {
    let text = long_kernel(1000);
    let compiled = |text: &str| {
        recal_il::compile(text.as_bytes()).map_err(|problems| format!("{} problems", problems.len()))
    };
    let program = compiled(&text)?;
    let checked = recal_il::front(text.as_bytes()).map_err(|p| format!("{} problems", p.len()))?;
    let assume = Assume { formats: Formats::FourWords, default_samplers: true, ..Assume::NOTHING };
    let target = Target { denorm_preserve32: false, denorm_preserve64: false, ..Target::full(Mode::Native) };
    let (faithful, widths) = (Target::full(Mode::Faithful), Assume { formats: Formats::Words, ..assume });
    recal_il::spirv::emit(&program, &target, assume)?;
    let mut stages: Vec<Timed<'_>> = vec![
        (
            "text to checked kernel".into(),
            Box::new(|times| {
                (0..times).for_each(|_| drop(black_box(recal_il::front(black_box(text.as_bytes())))));
                Ok(())
            }),
        ),
        (
            "checked kernel to program".into(),
            Box::new(|times| {
                (0..times).for_each(|_| drop(black_box(recal_il::lower::lower(black_box(&checked)))));
                Ok(())
            }),
        ),
        (
            "text to program".into(),
            Box::new(|times| {
                (0..times).for_each(|_| drop(black_box(recal_il::compile(black_box(text.as_bytes())))));
                Ok(())
            }),
        ),
        (
            "program to SPIR-V".into(),
            Box::new(|times| {
                (0..times).for_each(|_| drop(black_box(recal_il::spirv::emit(&program, &target, assume))));
                Ok(())
            }),
        ),
        (
            "the same for elements of any width".into(),
            Box::new(|times| {
                (0..times).for_each(|_| drop(black_box(recal_il::spirv::emit(&program, &target, widths))));
                Ok(())
            }),
        ),
        (
            "the same in faithful mode".into(),
            Box::new(|times| {
                (0..times).for_each(|_| drop(black_box(recal_il::spirv::emit(&program, &faithful, assume))));
                Ok(())
            }),
        ),
    ];
    Ok((text.len(), interleaved(effort, &mut stages)?))
}

/// A kernel that was loaded before, loaded again; and the same as another program, which the device does not know, only the
/// driver's cache: what the emitter does then is measured by [`front_end`], the rest is the driver. Then the same with a launch, of few threads
/// and of many, for which our CPU device makes machine code.
pub fn warm_loads(effort: Effort, ours: &[&Ours]) -> Result<Vec<Series>> {
    let text = long_kernel(1000);
    let program = recal_il::compile(text.as_bytes()).map_err(|p| format!("{} problems", p.len()))?;
    let mut subjects: Vec<Timed<'_>> = Vec::new();
    for ours in ours {
        let image: recal::Image = recal::compile(&text, ours.device.info().target)?.into();
        ours.context.load(&image)?;
        subjects.push((
            ours.label.clone(),
            Box::new(move |times| {
                for _ in 0..times {
                    drop(ours.context.load(&image)?);
                }
                Ok(())
            }),
        ));
        let other = program.clone();
        subjects.push((
            format!("{}, another program", ours.label),
            Box::new(move |times| {
                for _ in 0..times {
                    drop(ours.context.load_program(Arc::new(other.clone()))?);
                }
                Ok(())
            }),
        ));
        // Few threads may be interpreted; for many there must be code.
        for (height, launch) in [(1, "its first launch"), (512, "a first launch of many threads")] {
            let other = program.clone();
            let of = |width, height| ours.device.allocate_2d(width, height, Format::Float32x4, Place::Local);
            let bound = [("i0", of(64, height)?), ("cb0", of(16, 1)?), ("o0", of(64, height)?)];
            subjects.push((
                format!("{}, another program and {launch}", ours.label),
                Box::new(move |times| {
                    for _ in 0..times {
                        let module = ours.context.load_program(Arc::new(other.clone()))?;
                        bound.iter().try_for_each(|(name, resource)| module.bind(name, resource))?;
                        ours.context.run(&module, Domain::of(64, height))?.wait()?;
                    }
                    Ok(())
                }),
            ));
        }
        // What of that is running it, not making the code.
        let of = |width| ours.device.allocate_2d(width, 512, Format::Float32x4, Place::Local);
        let bound = [
            ("i0", of(64)?),
            ("cb0", ours.device.allocate_2d(16, 1, Format::Float32x4, Place::Local)?),
            ("o0", of(64)?),
        ];
        let module = ours.context.load_program(Arc::new(program.clone()))?;
        bound.iter().try_for_each(|(name, resource)| module.bind(name, resource))?;
        subjects.push((
            format!("{}, that launch again", ours.label),
            Box::new(move |times| {
                for _ in 0..times {
                    ours.context.run(&module, Domain::of(64, 512))?.wait()?;
                }
                Ok(())
            }),
        ));
    }
    interleaved(effort, &mut subjects)
}

/// Processor and number of its cores.
pub fn processor() -> (String, usize) {
    let text = std::fs::read_to_string(Path::new("/proc/cpuinfo")).unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    (name.unwrap_or("unknown").into(), std::thread::available_parallelism().map_or(1, usize::from))
}
