//! Runs a kernel text on the CPU backend and on every Vulkan device found, on the same inputs, and compares all
//! memory that it may write, bit for bit.

use std::sync::{Arc, OnceLock};

use recal_cpu::CpuBackend;
use recal_hal::{
    Backend, Bindings, Command, Device, DeviceOptions, DomainParam, Error, Extent, FloatMode, Format, Heap,
    Kernel, MemoryRequest, Sampler, Surface,
};
use recal_il::inst::{Dimension, Interface, PositionKind, Resource, Stage};
use recal_il::ir::{
    Builtin, Function, Id, LaneInst, LaneOp, MemoryInst, Operand, Output, Program, Reg, Stmt, StmtKind,
};
use recal_il::isa::lane::Class;
use recal_vulkan::{Options, Vulkan};

/// Longest time for one kernel.
const WATCHDOG: std::time::Duration = std::time::Duration::from_secs(20);

/// The Vulkan devices, in faithful mode.
pub fn devices() -> &'static [(String, Arc<dyn Device>)] {
    static DEVICES: OnceLock<Vec<(String, Arc<dyn Device>)>> = OnceLock::new();
    DEVICES.get_or_init(|| {
        let _ = env_logger::try_init();
        let validation = std::env::var_os("RECAL_VALIDATION").is_some();
        let backend = Vulkan::new(Options {
            software: true,
            at_once: true,
            uniforms: true,
            validation,
            ..Options::default()
        });
        let options =
            DeviceOptions { float_mode: FloatMode::Faithful, watchdog: Some(WATCHDOG), ..Default::default() };
        let open = |adapter: &Arc<dyn recal_hal::Adapter>| {
            let name = adapter.attributes().name.clone();
            let device = adapter.open(&options).unwrap_or_else(|error| panic!("{name}: {error}"));
            (name, device)
        };
        backend.adapters().iter().map(open).collect()
    })
}

/// The oracle.
pub fn cpu() -> &'static Arc<dyn Device> {
    static DEVICE: OnceLock<Arc<dyn Device>> = OnceLock::new();
    DEVICE.get_or_init(|| {
        CpuBackend::new().adapters()[0]
            .open(&DeviceOptions { watchdog: Some(WATCHDOG), ..Default::default() })
            .expect("the CPU is always there")
    })
}

/// A generator of words: xorshift.
pub struct Words(pub u64);

impl Words {
    pub fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as u32
    }

    /// A word of any kind: small and large integers, plain floats, and the odd values.
    pub fn any(&mut self) -> u32 {
        const ODD: [u32; 20] = [
            0,
            0x8000_0000,
            0x3F80_0000,
            0xBF80_0000,
            0x7F80_0000,
            0xFF80_0000,
            0x7FC0_0000,
            0xFFC0_1234,
            0x7F7F_FFFF,
            0x0080_0000,
            0x007F_FFFF,
            0x8000_0001,
            0x3F7F_FFFF,
            0x4B00_0000,
            0xCB00_0001,
            0x4F00_0000,
            0x7FFF_FFFF,
            0xFFFF_FFFF,
            0x3F00_0000,
            0x7FF0_0000,
        ];
        match self.next() % 8 {
            0 => ODD[self.next() as usize % ODD.len()],
            1 => self.next() % 64,
            2 => self.next(),
            3 => (self.next() % 200).wrapping_sub(100),
            // Exponents near 1.
            4 | 5 => (self.next() & 0x807F_FFFF) | ((117 + self.next() % 20) << 23),
            // Products that underflow.
            6 => (self.next() & 0x807F_FFFF) | ((50 + self.next() % 30) << 23),
            _ => ((self.next() % 4096) as f32 / 16.0).to_bits(),
        }
    }
}

impl Words {
    /// Halves of 64-bit values, low first: integers, doubles near 1 and the odd ones.
    pub fn half_of_quad(&mut self) -> u32 {
        // The generator's lowest bit in turn tells low from high closely enough: any half may be either.
        match self.next() % 8 {
            0 => 0,
            1 => self.any(),
            2 => (self.next() & 0x800F_FFFF) | ((1013 + self.next() % 20) << 20),
            3 => (self.next() & 0x800F_FFFF) | ((1013 + self.next() % 20) << 20),
            4 => (self.next() & 0x800F_FFFF) | ((490 + self.next() % 30) << 20),
            5 => self.next() & 0x800F_FFFF,
            6 => [0x7FF0_0000, 0xFFF0_0000, 0x3FF0_0000, 0x0010_0000, u32::MAX][self.next() as usize % 5],
            _ => self.next(),
        }
    }
}

/// A run of a kernel.
#[derive(Clone)]
pub struct Case {
    pub text: String,
    pub extent: Extent,
    pub width: u32,
    pub height: u32,
    pub input: Format,
    pub output: Format,
    pub sampler: Sampler,
    pub seed: u64,
    /// Words of resources and constants, instead of any.
    pub fill: fn(&mut Words) -> u32,
    pub params: Option<Box<[DomainParam; 8]>>,
}

impl Case {
    /// A pixel kernel over 24 x 20, or a compute kernel of two groups.
    pub fn new(text: &str) -> Self {
        let compute = text.contains("il_cs");
        let extent = if compute {
            Extent::Grid { groups: [2, 1, 1], block: [64, 1, 1] }
        } else {
            Extent::Domain { x: 0, y: 0, width: 24, height: 20 }
        };
        Self {
            text: text.into(),
            extent,
            width: 24,
            height: 20,
            input: Format::Float32x4,
            output: Format::Float32x4,
            sampler: Sampler::default(),
            seed: 0x9E37_79B9_7F4A_7C15,
            fill: Words::any,
            params: None,
        }
    }
}

/// Writable memory after a run, by name.
pub type Outcome = Vec<(String, Vec<u32>)>;

/// Runs a case on a device, as often as asked, each time in fresh memory.
pub fn run(
    device: &dyn Device,
    program: &Arc<Program>,
    case: &Case,
    launches: u32,
) -> Result<Vec<Outcome>, Error> {
    let kernel = device.load(program.clone())?;
    (0..launches).map(|_| launch(device, program, kernel.clone(), case)).collect()
}

fn launch(
    device: &dyn Device,
    program: &Program,
    kernel: Arc<dyn Kernel>,
    case: &Case,
) -> Result<Outcome, Error> {
    let mut words = Words(case.seed);
    let mut surface =
        |bytes: u64, format: Format, width: u32, height: u32, fill: bool| -> Result<Surface, Error> {
            let memory =
                device.allocate(MemoryRequest { bytes: bytes.next_multiple_of(4096), heap: Heap::Remote })?;
            if fill {
                let to = memory.map()?.cast::<u32>();
                for k in 0..bytes as usize / 4 {
                    // SAFETY: inside the block, which nothing uses yet.
                    unsafe { to.add(k).write((case.fill)(&mut words)) };
                }
                memory.unmap();
            }
            Ok(Surface { memory, width, height, pitch: width.next_multiple_of(64), format })
        };
    let two_dimensional =
        |format: Format| u64::from(case.width.next_multiple_of(64) * case.height * format.bytes());
    let interface = &program.interface;
    let mut bindings = Bindings { domain_params: case.params.clone(), ..Bindings::default() };
    let mut written = Vec::new();
    for id in interface.resources.keys().chain(interface.srvs.keys()) {
        let new = surface(two_dimensional(case.input), case.input, case.width, case.height, true)?;
        bindings.resources.push((*id, new));
    }
    for id in interface.constants.keys() {
        bindings.constants.push((*id, surface(4096, Format::Float32x4, 256, 1, true)?));
    }
    bindings.samplers = (0..16).map(|id| (id, case.sampler)).collect();
    for id in interface.outputs.keys() {
        let new = surface(two_dimensional(case.output), case.output, case.width, case.height, false)?;
        written.push((format!("o{id}"), new.clone()));
        bindings.outputs.push((*id, new));
    }
    for (id, uav) in &interface.uavs {
        let typed = matches!(uav, recal_il::ir::Uav::Typed { .. });
        let new = if typed {
            surface(two_dimensional(case.output), case.output, case.width, case.height, true)?
        } else {
            surface(64 << 10, Format::UnsignedInt32x4, 4096, 1, true)?
        };
        written.push((format!("uav{id}"), new.clone()));
        bindings.uavs.push((*id, new));
    }
    if interface.global {
        let new = surface(64 << 10, Format::Float32x4, 4096, 1, true)?;
        written.push(("g[]".into(), new.clone()));
        bindings.global = Some(new);
    }
    let queue = device.create_queue()?;
    let command = Command::Launch { kernel, bindings: Arc::new(bindings), extent: case.extent };
    let ticket = queue.submit(command)?;
    queue.wait(ticket)?;
    let read = |surface: &Surface| -> Result<Vec<u32>, Error> {
        let from = surface.memory.map()?.cast::<u32>();
        // SAFETY: inside the block; the launch that wrote it is done.
        let words = (0..surface.bytes() as usize / 4).map(|k| unsafe { from.add(k).read() }).collect();
        surface.memory.unmap();
        Ok(words)
    };
    written.into_iter().map(|(name, surface)| Ok((name, read(&surface)?))).collect()
}

/// What differs between the CPU and a Vulkan device, as a text; empty if nothing.
pub fn difference(name: &str, case: &Case) -> String {
    let program = match recal_il::compile(case.text.as_bytes()) {
        Ok(program) => Arc::new(program),
        Err(errors) => return format!("{name}: does not compile: {errors:?}"),
    };
    let mut case = case.clone();
    if program.stage == Stage::Compute {
        if let (Extent::Grid { block, .. }, Some(recal_il::ir::GroupSize::Exact(size))) =
            (&mut case.extent, program.interface.group)
        {
            *block = size;
        }
    }
    // The second launch may have a pipeline that knows sizes.
    compare(name, &program, &case, 2)
}

/// [`difference`] of a program.
fn compare(name: &str, program: &Arc<Program>, case: &Case, launches: u32) -> String {
    log::info!("{name} on the CPU");
    let expected = match run(&**cpu(), program, case, 1) {
        Ok(mut expected) => expected.remove(0),
        Err(error) => return format!("{name}: the CPU: {error}"),
    };
    let mut text = String::new();
    for (device, vulkan) in devices() {
        log::info!("{name} on {device}");
        match run(&**vulkan, program, case, launches) {
            Ok(found) => {
                let pairs = found.iter().flat_map(|found| expected.iter().zip(found));
                for ((what, a), (_, b)) in pairs {
                    let wrong: Vec<usize> = (0..a.len()).filter(|k| a[*k] != b[*k]).collect();
                    if let Some(k) = wrong.first() {
                        text += &format!(
                            "{name} on {device}: {} of {} words of {what} differ, first word {k}: {:08x} instead of {:08x}\n",
                            wrong.len(),
                            a.len(),
                            b[*k],
                            a[*k]
                        );
                    }
                }
            }
            // What a device lacks is no difference; llvmpipe lacks nothing.
            Err(Error::Unsupported(reason)) if !device.contains("llvmpipe") => eprintln!("{name}: {reason}"),
            Err(error) => text += &format!("{name} on {device}: {error}\n"),
        }
    }
    text
}

/// Runs a lane operation on many argument words on all devices and compares the result words.
///
/// Arguments come from a resource of four components, more from a second and third one; an `F` argument is
/// flushed first, an `F` result made canonical, as lowering does.
pub fn lane_difference(op: LaneOp, words: usize, pairs: bool) -> String {
    let mut inputs = Vec::new();
    let span = Default::default();
    let mut body = Vec::new();
    let lane = |op: LaneOp, dst: [Reg; 2], args: Vec<Operand>| {
        let inst = LaneInst { op, dst, args: args.into_iter().collect() };
        Stmt { kind: StmtKind::Lane(inst), span }
    };
    let resources = words.div_ceil(4).max(1) as u32;
    for resource in 0..resources {
        let dst = std::array::from_fn(|k| Some(Reg(4 * resource + k as u32)));
        let coord = [0, 1, 2].map(|k| Operand::Builtin(Builtin::Position(k)));
        let id = Id { base: resource, index: None };
        body.push(Stmt {
            kind: StmtKind::from(MemoryInst::Sample {
                resource: id,
                sampler: Id { base: 0, index: None },
                unnormalized: true,
                coord,
                offset: [0; 3],
                dst,
            }),
            span,
        });
        inputs.push(resource);
    }
    let mut next = 0;
    let mut args = Vec::new();
    for class in op.arguments() {
        if *class == Class::F {
            let argument = Reg(next);
            body.push(lane(LaneOp::Flush, [argument; 2], vec![Operand::Reg(argument)]));
        }
        for _ in 0..class.words() {
            args.push(Operand::Reg(Reg::fresh(&mut next)));
        }
    }
    let out = Reg(20);
    let high = if op.result() == Class::Q { Reg(21) } else { out };
    body.push(lane(op, [out, high], args));
    if op.result() == Class::F {
        body.push(lane(LaneOp::Canon, [out; 2], vec![Operand::Reg(out)]));
    }
    let mut interface = Interface { position: Some(PositionKind::Centre), ..Interface::default() };
    for resource in inputs {
        let shape = Resource { dimension: Dimension::D2, unnormalized: true, declared: true };
        interface.resources.insert(resource, shape);
    }
    interface.samplers.push(0);
    interface.outputs.insert(0, 15);
    let program = Program {
        stage: Stage::Pixel,
        declared: interface.clone(),
        interface,
        functions: vec![Function { label: None, body }],
        registers: 24,
        outputs: vec![Output { index: 0, registers: [20, 21, 22, 23].map(Reg) }],
        warnings: vec![],
    };
    let mut case = Case::new("");
    (case.width, case.height) = (64, 64);
    case.extent = Extent::Domain { x: 0, y: 0, width: 64, height: 64 };
    if pairs {
        case.fill = Words::half_of_quad;
    }
    compare(op.name(), &Arc::new(program), &case, 1)
}
