//! What is measured: a kernel in IL, the same algorithm in GLSL, their data, and what must come out.

use recal::Format;

/// How much of a problem is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// A few milliseconds in all: for tests.
    Smoke,
    /// For a CPU.
    Small,
    /// For a GPU.
    Large,
}

impl Scale {
    /// The size of this scale.
    pub fn pick<T>(self, smoke: T, small: T, large: T) -> T {
        match self {
            Scale::Smoke => smoke,
            Scale::Small => small,
            Scale::Large => large,
        }
    }
}

/// Memory bound to a kernel. The GLSL binding is its place in the list.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Name in the IL kernel.
    pub name: String,
    /// Columns, in elements.
    pub width: u32,
    /// Rows; 0 = one-dimensional, of any width.
    pub height: u32,
    /// Elements.
    pub format: Format,
    /// Contents at first, in words; empty = zeros.
    pub words: Vec<u32>,
    /// Whether the kernel writes it.
    pub written: bool,
}

impl Buffer {
    /// Memory that kernels read.
    pub fn input(name: &str, size: [u32; 2], format: Format, words: Vec<u32>) -> Self {
        Self { name: name.into(), width: size[0], height: size[1], format, words, written: false }
    }

    /// Memory that kernels write.
    pub fn output(name: &str, size: [u32; 2], format: Format) -> Self {
        Self { name: name.into(), width: size[0], height: size[1], format, words: Vec::new(), written: true }
    }

    /// Size in bytes.
    pub fn bytes(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height.max(1)) * u64::from(self.format.bytes())
    }
}

/// Threads of the IL kernel.
#[derive(Clone, Copy, Debug)]
pub enum Threads {
    /// Pixel kernel: columns and rows.
    Domain(u32, u32),
    /// Compute kernel: groups, and the size of one.
    Grid([u32; 3], [u32; 3]),
}

/// One launch: the words of `cb0` and of the push constants.
#[derive(Clone, Debug)]
pub struct Step {
    /// `cb0` of the IL kernel.
    pub constants: Vec<u32>,
    /// Push constants of the GLSL kernel.
    pub push: Vec<u32>,
}

impl Step {
    /// The same words for both.
    pub fn same(words: &[u32]) -> Vec<Step> {
        vec![Step { constants: words.to_vec(), push: words.to_vec() }]
    }

    /// Different words.
    pub fn of(constants: &[u32], push: &[u32]) -> Vec<Step> {
        vec![Step { constants: constants.to_vec(), push: push.to_vec() }]
    }
}

/// What the work of a run is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Float operations.
    Flop,
    /// Bytes read and written.
    Byte,
    /// Other operations.
    Operation,
}

impl Unit {
    /// Name of 10^9 of it a second.
    pub fn rate(self) -> &'static str {
        match self {
            Unit::Flop => "GFLOPS",
            Unit::Byte => "GB/s",
            Unit::Operation => "Gop/s",
        }
    }
}

/// Looks at all buffers after one run. `exact`: nothing may be off by contraction or the like.
pub type Check = Box<dyn Fn(&[Vec<u32>], bool) -> Result<(), String>>;

/// One kernel with its data.
pub struct Case {
    /// Name, with the size.
    pub name: String,
    /// Text of our kernel.
    pub il: String,
    /// Name of the GLSL peer.
    pub peer: &'static str,
    /// Memory.
    pub buffers: Vec<Buffer>,
    /// Threads of both kernels.
    pub threads: Threads,
    /// Launches of a run, in order.
    pub steps: Vec<Step>,
    /// Work of a run.
    pub work: f64,
    /// What `work` counts.
    pub unit: Unit,
    /// Judges the result.
    pub check: Check,
    /// The same in plain Rust on one thread, where that says something.
    pub host: Option<Box<dyn FnMut()>>,
    /// 64-bit floats are needed.
    pub doubles: bool,
}

impl Case {
    /// Groups of the GLSL peer, and columns and rows of one where a domain leaves that to us: such as are fast on the device.
    /// Hardware takes longer to start a group of 8 x 8 than such a group takes to copy a float4 each.
    pub fn peer_launch(&self, hardware: bool) -> ([u32; 3], [u32; 2]) {
        match self.threads {
            Threads::Grid(groups, [columns, rows, _]) => (groups, [columns, rows]),
            Threads::Domain(width, height) => {
                let [x, y] = match (hardware, self.il.split_once("whileloop")) {
                    (false, _) => [8, 8],
                    (true, Some((_, body))) if body.contains("sample_resource") => [32, 2],
                    (true, Some(_)) => [16, 8],
                    (true, None) => [16, 16],
                };
                ([width.div_ceil(x), height.div_ceil(y), 1], [x, y])
            }
        }
    }
}

/// Deterministic numbers.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next 32 bits.
    pub fn word(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as u32
    }

    /// A multiple of 1/8 below 1: sums of products are exact in whatever order.
    pub fn eighth(&mut self) -> f32 {
        (self.word() >> 29) as f32 / 8.0
    }

    /// Between 0 and 1.
    pub fn unit(&mut self) -> f32 {
        (self.word() >> 8) as f32 / 16_777_216.0
    }
}

/// Floats as words.
pub fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

/// Words as floats.
pub fn floats(words: &[u32]) -> Vec<f32> {
    words.iter().map(|w| f32::from_bits(*w)).collect()
}

/// Compares words with what they must be.
pub fn expect_words(found: &[u32], expected: impl IntoIterator<Item = u32>) -> Result<(), String> {
    for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
        if *found != expected {
            return Err(format!("word {k} is {found:#x}, not {expected:#x}"));
        }
    }
    Ok(())
}

/// Compares floats with what they must be, within a part of the larger of that and 1.
pub fn expect_near(
    found: &[u32],
    expected: impl IntoIterator<Item = f64>,
    tolerance: f64,
) -> Result<(), String> {
    for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
        let found = f64::from(f32::from_bits(*found));
        let error = (found - expected).abs();
        if error.is_nan() || error > tolerance * expected.abs().max(1.0) {
            return Err(format!("number {k} is {found}, not {expected}"));
        }
    }
    Ok(())
}
