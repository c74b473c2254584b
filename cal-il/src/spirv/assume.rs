//! What is known of a launch before it.

/// What is known about a launch beforehand. A module runs only launches that keep to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Assume {
    /// Formats of resources, outputs and typed UAVs.
    pub formats: Formats,
    /// All samplers have the default state: nearest, clamp to edge.
    pub default_samplers: bool,
    /// Sizes of the bound surfaces.
    pub surfaces: Surfaces,
    /// Zeros are behind every bound memory, from its last word to 16 bytes behind the next multiple of 16 bytes.
    /// Outputs need none.
    pub padded: bool,
    /// Constant buffers and `g[]` end with whole rows of four words.
    pub whole_rows: bool,
    /// Every surface is a storage buffer, too: set 1, its binding the slot's place in the layout. Where the surface ends, by
    /// words, constants and `g[]` by rows of four, the buffer does: loads behind it give 0, stores do nothing. None is
    /// larger than 1 GiB.
    pub buffers: bool,
    /// Every constant buffer of [`Layout::uniforms`](super::launch::Layout::uniforms) is a uniform buffer of so many rows, too: set 1,
    /// binding [`UNIFORM_BINDINGS`](super::UNIFORM_BINDINGS) and its place among those. Nothing writes them during the launch.
    pub uniforms: bool,
    /// Groups are one wave, where the program leaves their size to the launch.
    pub one_wave: bool,
}

/// What is known of the sizes of surfaces: which are equal, so that indices are computed once for all of them, and which
/// cover the domain, so that a thread's own place needs no test; and of the domain. By default nothing is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Surfaces {
    /// By place among the slots of the layout: 1 + the first place of the same width, height and pitch; 0: not known.
    pub(super) same: [u8; Surfaces::PLACES],
    /// Words of an element that is stored unconverted, by place; 0: not known.
    pub(super) words: [u8; Surfaces::PLACES],
    /// A bit for each place whose surface covers the domain, and the domain with columns and rows exchanged.
    pub(super) covering: [u32; 2],
    /// The domain begins at column 0 and row 0.
    pub(super) at_origin: bool,
}

/// What a launch knows of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Width, height and pitch in elements.
    pub size: [u32; 3],
    /// Format.
    pub format: crate::format::Format,
}

impl Assume {
    /// Holds for every launch.
    pub const NOTHING: Assume = Assume {
        formats: Formats::Any,
        default_samplers: false,
        surfaces: Surfaces::UNKNOWN,
        padded: false,
        whole_rows: false,
        buffers: false,
        uniforms: false,
        one_wave: false,
    };
}

impl Surfaces {
    /// Slots that are looked at; the others count as unknown.
    pub const PLACES: usize = 32;
    /// Nothing is known.
    pub const UNKNOWN: Surfaces =
        Surfaces { same: [0; Self::PLACES], words: [0; Self::PLACES], covering: [0; 2], at_origin: false };

    /// From the resources, outputs and UAVs by place, and the domain: column, row, width and height.
    pub fn new(shapes: &[Option<Shape>], domain: Option<[u32; 4]>) -> Self {
        let at_origin = matches!(domain, Some([0, 0, ..]));
        let mut this = Self { at_origin, ..Self::default() };
        for (k, shape) in shapes.iter().enumerate().take(Self::PLACES) {
            let Some(Shape { size, format }) = shape else { continue };
            let [width, height, _] = size;
            if Formats::of(*format) != Formats::Any {
                this.words[k] = (format.bytes() / 4) as u8;
            }
            if let Some(first) =
                shapes.iter().position(|other| other.is_some_and(|other| other.size == *size))
            {
                this.same[k] = 1 + first as u8;
            }
            let Some([x, y, columns, rows]) = domain else { continue };
            let covers = |right: Option<u32>, below: Option<u32>| {
                right.is_some_and(|end| end <= *width) && below.is_some_and(|end| end <= *height)
            };
            let (right, below) = (x.checked_add(columns), y.checked_add(rows));
            this.covering[0] |= u32::from(covers(right, below)) << k;
            this.covering[1] |= u32::from(covers(below, right)) << k;
        }
        this
    }
}

/// A class of formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Formats {
    /// Four unconverted words.
    FourWords,
    /// One, two or four unconverted words.
    Words,
    /// All.
    Any,
}

impl Formats {
    /// The narrowest class that contains a format.
    pub fn of(format: crate::format::Format) -> Formats {
        match (format.encoding().is_raw(), format.bytes()) {
            (true, 16) => Formats::FourWords,
            (true, _) => Formats::Words,
            (false, _) => Formats::Any,
        }
    }
}
