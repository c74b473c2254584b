//! What surrounds the statements of a random kernel: stage, group, what is bound, and how threads find their parts.

use std::fmt::Write as _;

use recal_hal::{DomainParam, Extent, Format, Sampler, Wrap};

use super::kernel::word;
use crate::case::{Buffer, Slot};
use crate::generate::values::Random;

/// Threads of a kernel: two waves.
pub const THREADS: u32 = 128;
/// Bytes of output a thread: 128 for its registers, 128 that statements read and write.
pub const SLICE: u32 = 256;
/// Bytes of input a thread: all registers.
pub const INPUT: u32 = 128;
/// Bytes of a record of the structured UAV, one a thread.
pub const RECORD: u32 = 64;
/// Elements of the typed UAV, four a thread, in rows of 32.
const TYPED: [u32; 2] = [32, 16];

/// What the other engine can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Engine {
    /// Pixel kernels, several groups, barriers, textures, formats. Otherwise one group of two waves, each thread with words of
    /// its own.
    pub device: bool,
    /// 64-bit floats.
    pub float64: bool,
    /// 64-bit atomics.
    pub atomics64: bool,
}

impl Engine {
    /// Arithmetic, flow and words of memory.
    pub const WORDS: Engine = Engine { device: false, float64: true, atomics64: false };
    /// All that there is.
    pub const DEVICE: Engine = Engine { device: true, float64: true, atomics64: true };
}

/// A texture that the kernel may read.
#[derive(Clone, Debug)]
pub struct Texture {
    format: Format,
    width: u32,
    height: u32,
    pub unnormalized: bool,
    sampler: Sampler,
}

/// Stage, group and bindings.
#[derive(Clone, Debug)]
pub struct Shape {
    pub engine: Engine,
    /// Registers that statements compute with, from r1: eight, or three in small kernels, which load and store them
    /// through `g[]`. Graphics drivers take seconds to compile large kernels.
    pub registers: usize,
    /// Of a pixel kernel.
    pub domain: Option<Extent>,
    pub block: [u32; 3],
    pub groups: [u32; 3],
    /// `i0` and on.
    pub textures: Vec<Texture>,
    /// `uav3`, of one dimension or two.
    pub typed: Option<(Format, bool)>,
    /// `o0` and on, of pixel kernels.
    pub outputs: Vec<Format>,
    params: Option<[DomainParam; 8]>,
}

const BLOCKS: [([u32; 3], [u32; 3]); 6] = [
    ([128, 1, 1], [1, 1, 1]),
    ([64, 1, 1], [2, 1, 1]),
    ([16, 8, 1], [1, 1, 1]),
    ([4, 4, 2], [2, 2, 1]),
    ([8, 8, 1], [1, 2, 1]),
    ([32, 1, 1], [2, 1, 2]),
];

/// At most [`THREADS`] each: whole tiles, and tiles of which some threads are outside.
const DOMAINS: [[u32; 2]; 4] = [[16, 8], [18, 7], [9, 14], [64, 2]];

const WRAPS: [Wrap; 8] = [
    Wrap::Repeat,
    Wrap::MirroredRepeat,
    Wrap::ClampToEdge,
    Wrap::MirrorClampToEdge,
    Wrap::Clamp,
    Wrap::MirrorClamp,
    Wrap::ClampToBorder,
    Wrap::MirrorClampToBorder,
];

/// A small float.
fn fraction(random: &mut Random) -> f32 {
    (random.below(129) as f32 - 64.0) / 8.0
}

fn texture(random: &mut Random) -> Texture {
    let format = match random.below(3) {
        0 => Format::Float32x4,
        _ => Format::ALL[random.below(Format::ALL.len())],
    };
    let sampler = match random.below(3) {
        0 => Sampler::default(),
        _ => Sampler {
            linear: random.below(2) == 0,
            wrap: [0; 3].map(|_| WRAPS[random.below(8)]),
            border: [0; 4].map(|_| fraction(random)),
        },
    };
    Texture {
        format,
        width: 1 + random.below(70) as u32,
        height: 1 + random.below(9) as u32,
        unnormalized: random.below(2) == 0,
        sampler,
    }
}

impl Shape {
    /// A shape for an engine.
    pub fn new(random: &mut Random, engine: Engine) -> Shape {
        let small = engine.device && random.below(32) > 0;
        let mut shape = Shape {
            engine,
            registers: if small { 3 } else { 8 },
            domain: None,
            block: [THREADS, 1, 1],
            groups: [1, 1, 1],
            textures: Vec::new(),
            typed: None,
            outputs: Vec::new(),
            params: None,
        };
        if !engine.device {
            return shape;
        }
        let any = |random: &mut Random| Format::ALL[random.below(Format::ALL.len())];
        if random.below(4) == 0 {
            let [x, y] = [0; 2].map(|_| random.below(4) as u32);
            let [width, height] = DOMAINS[random.below(DOMAINS.len())];
            shape.domain = Some(Extent::Domain { x, y, width, height });
            shape.outputs = (0..1 + random.below(3)).map(|_| any(random)).collect();
            let mut corner = || [0; 4].map(|_| fraction(random));
            let corners = [0; 8].map(|_| DomainParam { ul: corner(), ll: corner(), lr: corner() });
            shape.params = Some(corners);
        } else {
            (shape.block, shape.groups) = BLOCKS[random.below(BLOCKS.len())];
        }
        shape.textures = (0..random.below(3)).map(|_| texture(random)).collect();
        if random.below(3) == 0 {
            shape.typed = Some((any(random), random.below(2) == 0));
        }
        shape
    }

    /// Most statements of main.
    pub fn most(&self) -> usize {
        if self.small() { 7 } else { 30 }
    }

    fn small(&self) -> bool {
        self.registers == 3
    }

    /// Threads of a group.
    pub fn group(&self) -> u32 {
        self.block.iter().product()
    }

    /// Whether threads may meet at barriers.
    pub fn meets(&self) -> bool {
        self.engine.device && self.domain.is_none()
    }

    /// Elements in a row of the typed UAV, as a shift, if it has rows.
    pub fn typed_rows(&self) -> Option<u32> {
        self.typed.and_then(|(_, flat)| (!flat).then(|| TYPED[0].ilog2()))
    }

    /// Header, declarations and what comes before the statements: r90 = (output, input, LDS, row of g), r93 =
    /// (number, GDS, number in the group, 0), registers from memory, x0 from them if it is used.
    pub fn prologue(&self, arrays: bool) -> String {
        let mut out = String::new();
        match self.domain {
            Some(_) => {
                out.push_str(
                    "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n\
                     dcl_input_interp(linear) v1\n",
                );
                for k in 0..self.outputs.len() {
                    let _ = writeln!(out, "dcl_output_generic o{k}");
                }
            }
            None => {
                let [x, y, z] = self.block;
                let _ =
                    writeln!(out, "il_cs_2_0\ndcl_num_thread_per_group {x}, {y}, {z}\ndcl_lds_id(0) 4096");
            }
        }
        out.push_str(
            "dcl_raw_uav_id(0)\ndcl_raw_uav_id(1)\ndcl_raw_uav_id(2)\ndcl_cb cb0[8]\n\
             dcl_indexed_temp_array x0[8]\n",
        );
        if self.engine.device {
            let _ = writeln!(out, "dcl_gds_id(0) 2048\ndcl_struct_uav_id(4) {RECORD}\ndcl_raw_srv_id(5)");
        }
        if let Some((_, flat)) = self.typed {
            let _ = writeln!(out, "dcl_uav_id(3)_type({}d)_fmtx(float)", if flat { 1 } else { 2 });
        }
        for (k, texture) in self.textures.iter().enumerate() {
            let unnorm = if texture.unnormalized { ",unnorm" } else { "" };
            let _ = writeln!(
                out,
                "dcl_resource_id({k})_type(2d{unnorm})_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)"
            );
        }
        out.push_str(
            "dcl_literal l0, 0, 1, 2, 3\ndcl_literal l1, 7, 60, 112, 128\ndcl_literal l6, 8, 128, 32, 4\n\
             dcl_literal l7, 16, 28, 24, 12\ndcl_literal l8, 31, 5, 44, 63\n",
        );
        let (number, in_group) = match self.domain {
            Some(_) => ("vObjIndex0.x", "vObjIndex0.x"),
            None => ("vAbsTidFlat.x", "vTidInGrpFlat.x"),
        };
        let _ = writeln!(
            out,
            "mov r93.x0_0, {number}\nmov r93.__z_, {in_group}\numul r93.y, r93.x, l7.x\n\
             ishl r90.x, r93.x, l6.x\numul r90.yzw, r93.xxzx, l6"
        );
        for k in 1..=self.registers {
            let _ = match self.small() {
                true => writeln!(out, "mov r{k}, g[r90.w + {}]", k - 1),
                false => writeln!(out, "uav_raw_load_id(0) r{k}, r90.y\niadd r90.y, r90.y, l7.x"),
            };
        }
        if arrays {
            for k in 1..=self.registers {
                let _ = writeln!(out, "mov x0[{}], r{k}", k - 1);
            }
        }
        out
    }

    /// What comes after the statements of main.
    pub fn epilogue(&self) -> String {
        let mut out = String::new();
        for k in 1..=self.registers {
            let _ = match self.small() {
                true => writeln!(out, "mov g[r90.w + {}], r{k}", k - 1),
                false => writeln!(out, "uav_raw_store_id(1) mem0, r90.x, r{k}\niadd r90.x, r90.x, l7.x"),
            };
        }
        for k in 0..self.outputs.len() {
            let _ = writeln!(out, "mov o{k}, r{}", k + 1);
        }
        out
    }

    /// How many threads run.
    pub fn extent(&self) -> Extent {
        self.domain.unwrap_or(Extent::Grid { groups: self.groups, block: self.block })
    }

    /// Corner values of the interpolants.
    pub fn params(&self) -> Option<[DomainParam; 8]> {
        self.params
    }

    /// Sampler states, by the number of the texture that is read with them.
    pub fn samplers(&self) -> Vec<(u32, Sampler)> {
        let state = |(k, texture): (usize, &Texture)| (k as u32, texture.sampler);
        self.textures.iter().enumerate().filter(|(_, t)| t.sampler != Sampler::default()).map(state).collect()
    }

    /// Memory, filled with words that matter.
    pub fn buffers(&self, random: &mut Random) -> Vec<Buffer> {
        let mut filled = |slot, format: Format, width: u32, height: u32| {
            let bytes = (width * height * format.bytes()) as usize;
            let initial = (0..bytes.div_ceil(4)).flat_map(|_| word(random).to_le_bytes()).take(bytes);
            Buffer { slots: vec![slot], format, width, height, initial: initial.collect(), expected: None }
        };
        let (one, four) = (Format::UnsignedInt32x1, Format::UnsignedInt32x4);
        let mut buffers = vec![
            filled(Slot::Uav(0), one, THREADS * INPUT / 4, 1),
            filled(Slot::Uav(1), one, THREADS * SLICE / 4, 1),
            filled(Slot::Uav(2), one, 16, 1),
            filled(Slot::Constant(0), four, 8, 1),
            filled(Slot::Global, four, THREADS * 4, 1),
        ];
        if self.engine.device {
            buffers.push(filled(Slot::Uav(4), one, THREADS * RECORD / 4, 1));
            buffers.push(filled(Slot::Resource(5), one, 64, 1));
        }
        if let Some((format, flat)) = self.typed {
            let [width, height] = if flat { [TYPED[0] * TYPED[1], 1] } else { TYPED };
            buffers.push(filled(Slot::Uav(3), format, width, height));
        }
        for (k, texture) in self.textures.iter().enumerate() {
            buffers.push(filled(Slot::Resource(k as u32), texture.format, texture.width, texture.height));
        }
        for (k, format) in self.outputs.iter().enumerate() {
            buffers.push(filled(Slot::Output(k as u32), *format, 20, 12));
        }
        buffers
    }
}
