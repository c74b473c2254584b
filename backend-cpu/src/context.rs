//! What the waves of a launch see: bound memory, group memory, and the signal to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use recal_hal::{Bindings, DomainParam, Error, Extent, Format, Sampler};

use crate::fiber;
use crate::launch::{self, Last, Own, Placed, line, turned};
use crate::memory::{Block, TexelCache, View};
use crate::op::{Body, Code, Emitted, LaunchKey, Place, Seen, Shape, Slot, Texture};
use crate::repack::Thrift;
use crate::schedule::Shared;
use crate::wave::{LANES, Row};

/// Append counters of a device, by UAV number.
pub type Counters = [AtomicU32; 16];

/// A bound surface.
#[derive(Clone, Copy)]
pub struct Surface<'a> {
    /// Its bytes.
    pub view: View<'a>,
    /// Elements per row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Elements from one row to the next.
    pub pitch: u32,
    /// Element format.
    pub format: Format,
    /// Words per element if they are stored bit for bit, else 0.
    pub words: u32,
    /// What is stored will not be in the caches when it is read.
    pub past_caches: bool,
}

impl<'a> Surface<'a> {
    /// What kernels see of a surface; an error if it is larger than its memory or not this backend's.
    pub fn bind(surface: &'a recal_hal::Surface) -> Result<Surface<'a>, Error> {
        let whole = whole(surface)?;
        let bytes = surface.bytes();
        if bytes > whole.bytes() as u64 || surface.width > surface.pitch {
            return Err(Error::Failed(format!(
                "a surface of {bytes} bytes does not fit its memory of {} bytes",
                whole.bytes()
            )));
        }
        let words = if surface.format.encoding().is_raw() { surface.format.read_words() } else { 0 };
        Ok(Surface {
            view: whole.part(0, bytes as usize),
            width: surface.width,
            height: surface.height,
            pitch: surface.pitch,
            format: surface.format,
            words,
            past_caches: false,
        })
    }

    /// The two have bytes in common.
    fn overlaps(&self, other: View<'_>) -> bool {
        let [own, others] = [self.view, other].map(|view| view.address()..view.address() + view.bytes());
        own.start < others.end && others.start < own.end
    }
}

/// What compiled samples must know of a surface. They read whole words.
fn shape(surface: &Surface<'_>, sampler: &Sampler) -> Shape {
    let whole = surface.view.bytes() % 4 == 0 && surface.width > 0 && surface.height > 0;
    let linear = sampler.linear && !surface.format.is_integer();
    whole.then_some(Texture { format: surface.format, wrap: [sampler.wrap[0], sampler.wrap[1]], linear })
}

/// What a launch reaches goes through the caches without staying there: some of them is for what others have there.
fn is_large(bytes: impl Iterator<Item = usize>, cache: usize) -> bool {
    bytes.fold(0, usize::saturating_add) >= cache / 4 * 3
}

/// A constant buffer: rows of raw bytes, whatever its format. Memory is pages, and what follows the surface there is not the
/// kernel's.
fn constants(surface: &recal_hal::Surface) -> Result<View<'_>, Error> {
    let bytes = usize::try_from(surface.bytes()).unwrap_or(usize::MAX);
    Ok(whole(surface)?.part(0, bytes))
}

/// All bytes of the memory of a surface.
pub fn whole(surface: &recal_hal::Surface) -> Result<View<'_>, Error> {
    block(surface).map(Block::view)
}

/// The memory of a surface.
pub fn block(surface: &recal_hal::Surface) -> Result<&Block, Error> {
    let block = surface.memory.as_any().downcast_ref::<Block>();
    block.ok_or_else(|| Error::Failed("memory of another backend is bound".into()))
}

/// Tells the waves of a launch to give up. Who looks at the clock for it also sees whether other work waits.
pub struct Stop {
    /// 0 = run.
    reason: AtomicU8,
    deadline: Option<Instant>,
    /// Whose threads run the launch.
    shared: Option<Arc<Shared>>,
}

const TIMEOUT: u8 = 1;
const CANCELLED: u8 = 2;

impl Stop {
    /// Runs for at most `limit` from now, on threads of `shared`.
    pub fn after(limit: Option<Duration>, shared: Option<Arc<Shared>>) -> Stop {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        Stop { reason: AtomicU8::new(0), deadline, shared }
    }

    /// Asks all waves to give up.
    pub fn cancel(&self) {
        self.reason.store(CANCELLED, Relaxed);
    }

    /// True if the launch is to give up.
    #[inline]
    pub fn raised(&self) -> bool {
        self.reason.load(Relaxed) != 0
    }

    /// Looks at the clock, too.
    #[cold]
    fn check(&self) -> bool {
        let now = Instant::now();
        if !self.raised() && self.deadline.is_some_and(|deadline| now >= deadline) {
            self.reason.store(TIMEOUT, Relaxed);
        }
        if let Some(shared) = &self.shared {
            shared.make_room(now);
        }
        if !self.raised() {
            fiber::pause(now);
        }
        self.raised()
    }

    /// Why the launch gave up.
    pub fn error(&self) -> Option<Error> {
        match self.reason.load(Relaxed) {
            0 => None,
            TIMEOUT => Some(Error::Timeout("the kernel ran longer than the watchdog allows".into())),
            _ => Some(Error::Failed("the queue was closed while the kernel ran".into())),
        }
    }
}

impl recal_jit::Ask for Stop {
    fn stop(&self) -> bool {
        self.check()
    }
}

/// What a launch may reach, by place.
struct Surfaces<'a> {
    resources: Vec<Surface<'a>>,
    buffers: Vec<View<'a>>,
    uavs: Vec<Surface<'a>>,
    outputs: Vec<Surface<'a>>,
    global: View<'a>,
    samplers: [Sampler; 16],
}

impl<'a> Surfaces<'a> {
    /// Finds what the program needs among the bindings.
    fn bind(code: &Code, bindings: &'a Bindings) -> Result<Surfaces<'a>, Error> {
        fn find<'a>(
            list: &'a [(u32, recal_hal::Surface)],
            number: u32,
            what: &str,
        ) -> Result<&'a recal_hal::Surface, Error> {
            let found = list.iter().find(|(n, _)| *n == number);
            found.map(|(_, s)| s).ok_or_else(|| Error::Failed(format!("{what}{number} is not bound")))
        }
        let mut samplers = [Sampler::default(); 16];
        for (number, sampler) in &bindings.samplers {
            if let Some(slot) = samplers.get_mut(*number as usize) {
                *slot = *sampler;
            }
        }
        let all = |list, numbers: &[u32], what| -> Result<Vec<Surface<'a>>, Error> {
            numbers.iter().map(|&n| Surface::bind(find(list, n, what)?)).collect()
        };
        Ok(Surfaces {
            resources: all(&bindings.resources, &code.resources, "i")?,
            buffers: code
                .buffers
                .iter()
                .map(|&n| constants(find(&bindings.constants, n, "cb")?))
                .collect::<Result<_, _>>()?,
            uavs: all(&bindings.uavs, &code.uavs, "uav")?,
            outputs: code
                .outputs
                .iter()
                .map(|&(n, _)| Surface::bind(find(&bindings.outputs, n, "o")?))
                .collect::<Result<_, _>>()?,
            global: match &bindings.global {
                Some(surface) => Surface::bind(surface)?.view,
                None => View::EMPTY,
            },
            samplers,
        })
    }

    /// What compiled samples must know.
    fn shape(&self, &(place, sampler): &Seen) -> Shape {
        let sampler = self.samplers.get(sampler as usize).copied().unwrap_or_default();
        let surface = match place {
            Place::Srv(place) => self.resources.get(place as usize),
            Place::Uav(place) => self.uavs.get(place as usize),
            _ => None,
        };
        surface.and_then(|surface| shape(surface, &sampler))
    }

    /// Finds out how outputs are stored. Those that the first of `caches` can't hold, with all else that it reaches, are stored past the caches, unless the launch reads them,
    /// and those that nobody has read since they were stored if the second can't; and where it reads none of them, and threads in lines of whole waves are all inside, compiled code may store them.
    fn stored(
        &mut self,
        code: &Code,
        unread: &[bool],
        (extent, columns): (Extent, u32),
        caches: [usize; 2],
    ) -> Box<[Emitted]> {
        let surfaces = self.resources.iter().chain(&self.uavs).map(|surface| surface.view);
        let read: Vec<View<'_>> = surfaces.chain(self.buffers.iter().copied()).chain([self.global]).collect();
        let bytes = || self.outputs.iter().map(|surface| &surface.view).chain(&read).map(View::bytes);
        let large = caches.map(|cache| is_large(bytes(), cache));
        let mut apart = true;
        for at in 0..self.outputs.len() {
            let (before, rest) = self.outputs.split_at_mut(at);
            let Some(output) = rest.first_mut() else { break };
            let is_read = read.iter().any(|read| output.overlaps(*read));
            output.past_caches = large[usize::from(unread[at])] && !is_read;
            apart &= !is_read && !before.iter().any(|other| output.overlaps(other.view));
        }
        let emitted = self.outputs.iter().map(|output| launch::emitted(extent, columns, output));
        let alone = apart && !turned(code, extent);
        emitted.collect::<Option<Box<[Emitted]>>>().filter(|_| alone).unwrap_or_default()
    }
}

/// Memories know from now on what of them a launch reads and stores. Whether nobody has read what the one before stored, for each output.
fn met(code: &Code, bindings: &Bindings) -> Result<Vec<bool>, Error> {
    let listed = [&bindings.resources, &bindings.constants, &bindings.uavs].into_iter().flatten();
    for surface in listed.map(|(_, surface)| surface).chain(&bindings.global) {
        block(surface)?.read();
    }
    let bound = |number: u32| bindings.outputs.iter().find(|(n, _)| *n == number);
    let outputs = code.outputs.iter().filter_map(|&(number, _)| bound(number));
    outputs.map(|(_, surface)| Ok(block(surface)?.stored())).collect()
}

/// How many waves so many threads are.
fn waves(threads: [u32; 3]) -> u64 {
    let all = threads.into_iter().fold(1u64, |all, more| all.saturating_mul(more.into()));
    all.div_ceil(LANES as u64)
}

/// What is known of a launch before its waves run, found once for all threads that work on it.
pub struct Known {
    body: Arc<Body>,
    /// The outputs that are stored past the caches.
    past_caches: Vec<bool>,
}

impl Known {
    /// Finds the body for what is bound, or makes it. `caches` are the bytes of the largest one, and how many of them the process can count on.
    pub fn find(
        code: &Code,
        bindings: &Bindings,
        (extent, columns): (Extent, u32),
        caches: [usize; 2],
    ) -> Result<Known, Error> {
        let mut surfaces = Surfaces::bind(code, bindings)?;
        let shapes = code.sampled.iter().map(|seen| surfaces.shape(seen)).collect();
        let outputs = surfaces.stored(code, &met(code, bindings)?, (extent, columns), caches);
        let line = if turned(code, extent) { 0 } else { line(extent, columns) };
        let (block, waves) = match extent {
            Extent::Domain { width, height, .. } => (None, waves([width, height, 1])),
            Extent::Grid { groups, block } => {
                let waves =
                    groups.into_iter().fold(waves(block), |all, more| all.saturating_mul(more.into()));
                (Some(block), waves)
            }
        };
        let whole = launch::whole(code, extent, columns);
        Ok(Known {
            body: code.body(LaunchKey { shapes, line, outputs, block, whole }, waves),
            past_caches: surfaces.outputs.iter().map(|output| output.past_caches).collect(),
        })
    }
}

/// Everything that all waves of a launch share.
pub struct Launch<'a> {
    /// The program.
    pub code: &'a Code,
    /// What waves run.
    pub body: &'a Body,
    /// How many threads.
    pub extent: Extent,
    /// The most columns of a tile.
    pub columns: u32,
    /// Resources and SRVs by place.
    pub resources: Vec<Surface<'a>>,
    /// Constant buffers by place.
    pub buffers: Vec<View<'a>>,
    /// UAVs by place.
    pub uavs: Vec<Surface<'a>>,
    /// Outputs in the order of [`Code::outputs`].
    pub outputs: Vec<Surface<'a>>,
    /// `g[]`
    pub global: View<'a>,
    /// `s#`
    pub samplers: [Sampler; 16],
    /// Corner values of interpolated inputs.
    pub params: Option<&'a [DomainParam; 8]>,
    /// GDS.
    pub gds: View<'a>,
    /// Append counters.
    pub counters: &'a Counters,
    /// Signal to give up.
    pub stop: &'a Stop,
}

impl<'a> Launch<'a> {
    /// Of a program, with what is known of it.
    pub fn bind(
        (code, known): (&'a Code, &'a Known),
        bindings: &'a Bindings,
        (extent, columns): (Extent, u32),
        gds: View<'a>,
        counters: &'a Counters,
        stop: &'a Stop,
    ) -> Result<Launch<'a>, Error> {
        let Surfaces { resources, buffers, uavs, mut outputs, global, samplers } =
            Surfaces::bind(code, bindings)?;
        for (output, past_caches) in outputs.iter_mut().zip(&known.past_caches) {
            output.past_caches = *past_caches;
        }
        Ok(Launch {
            code,
            body: &known.body,
            extent,
            columns,
            resources,
            buffers,
            uavs,
            outputs,
            global,
            samplers,
            params: bindings.domain_params.as_deref(),
            gds,
            counters,
            stop,
        })
    }

    /// The resource of a slot whose number is known.
    #[inline(always)]
    pub fn resource(&self, slot: Slot) -> Option<&Surface<'a>> {
        self.resources.get(slot.place as usize)
    }
}

/// What the waves of one group see.
pub struct Context<'a> {
    /// The launch.
    pub launch: &'a Launch<'a>,
    /// LDS: blocks, then the R700 areas.
    pub lds: View<'a>,
    /// What compiled code is called by, with the memory of [`Body::views`].
    pub compiled: Option<recal_jit::Bound<'a>>,
    /// Rows for lanes that are brought together, if there are such.
    pub packed: &'a mut [Row],
    /// Whether that pays.
    pub thrift: Thrift,
    /// Shared registers.
    pub shared: &'a mut [Row],
    /// Places of threads in their group, for each wave.
    pub own: Vec<Own>,
    /// The group that is run, and its number, if one was.
    pub group: [u32; 3],
    pub last_group: Option<u64>,
    /// The rows that are other than those of the group before.
    pub placed: Vec<Placed>,
    /// The tile that was run last, and where it is.
    pub tile: Option<Last>,
    /// Threads per group.
    pub group_threads: u32,
    /// Waves per group.
    pub group_waves: u32,
    /// Texels of samples, see [`crate::op::SampleOp::slot`].
    pub texels: Vec<TexelCache>,
    /// Back-edges, calls and parts since the launch was last asked whether to stop.
    pub ticks: u32,
    /// The same in compiled code.
    pub native_ticks: recal_jit::Ticks<'a>,
    /// The float mode that its functions leave: what reads or converts floats leaves it first.
    pub mode: recal_jit::Mode,
}

/// Back-edges of one wave between two looks at the clock: some microseconds.
const TICKS: u32 = 64;
/// Operations of a part that take about as long as a back-edge with what is in a loop.
const OPERATIONS: usize = 64;

impl Context<'_> {
    /// Counts a loop back-edge, or a call; true if the launch is to give up.
    #[inline(always)]
    pub fn tick(&mut self) -> bool {
        self.count(1)
    }

    /// Counts a part, for what is in it; true if the launch is to give up.
    pub fn part(&mut self) -> bool {
        let code = self.launch.code;
        let operations = (code.steps.len() + code.memory.len()) * self.group_waves as usize;
        self.count(1 + u32::try_from(operations / OPERATIONS).unwrap_or(TICKS).min(TICKS))
    }

    #[inline(always)]
    fn count(&mut self, ticks: u32) -> bool {
        self.ticks += ticks;
        if self.ticks < TICKS {
            return false;
        }
        self.ticks = 0;
        self.launch.stop.check()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use recal_hal::{Bindings, Extent, Format, Surface};

    use super::{Known, is_large};
    use crate::copy::Copy;
    use crate::isa_choice::{InstructionSet, chosen};
    use crate::load;
    use crate::memory::{Block, InUse};

    /// What is read takes its room in the caches, too.
    #[test]
    fn launches_larger_than_the_caches() {
        let large = |mib: &[usize]| is_large(mib.iter().map(|mib| mib << 20), 32 << 20);
        assert!(large(&[24]) && large(&[16, 16]) && large(&[8, 8, 8]) && large(&[16, usize::MAX >> 20, 16]));
        assert!(!large(&[]) && !large(&[16]) && !large(&[16, 4]) && !large(&[1, 1, 1]));
    }

    /// Where a process can't count on the caches, only what somebody reads is left there.
    #[test]
    fn what_nobody_has_read_goes_past_caches_that_others_may_have() {
        let text = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n\
            dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
            sample_resource(0)_sampler(0) o0, vWinCoord0.xyxx\nend\n";
        let (packed, known) = load::prepare(&recal_il::compile(text.as_bytes()).unwrap(), true, false);
        let code = load::load(&packed, &known, chosen(InstructionSet::Baseline));
        let surface = |height| {
            let memory = Block::allocate(u64::from(height) << 12, u64::MAX, &InUse::default()).unwrap();
            Surface { memory: Arc::new(memory), width: 256, height, pitch: 256, format: Format::Float32x4 }
        };
        let past = |from: &Surface, to: &Surface| {
            let (resources, outputs) = (vec![(0, from.clone())], vec![(0, to.clone())]);
            let extent = Extent::Domain { x: 0, y: 0, width: 256, height: to.height };
            let bindings = Bindings { resources, outputs, ..Bindings::default() };
            let caches = [1 << 20, 1 << 16];
            Known::find(&code, &bindings, (extent, 64), caches).unwrap().past_caches == [true]
        };
        let [here, there] = [16; 2].map(surface);
        assert_eq!([past(&here, &there), past(&here, &there), past(&here, &there)], [false, true, true]);
        assert!(!past(&there, &here) && !past(&here, &there), "what a launch has read");
        assert!(past(&here, &there));
        there.memory.map().unwrap();
        assert!(!past(&here, &there), "what the host has read");
        assert!(past(&here, &there));
        Copy::new(there.clone(), here.clone()).unwrap();
        assert!(!past(&here, &there), "what a copy has read");
        assert!(past(&here, &there) && !past(&here, &here) && !past(&here, &here), "what the launch reads");
        let [from, to] = [5; 2].map(surface);
        assert!(!past(&from, &to) && !past(&from, &to), "what caches hold");
        let [from, to] = [128; 2].map(surface);
        assert!(past(&from, &to), "what none holds");
    }
}
