//! What functions are made of.

use recal_il::format::Format;
use recal_il::ir::AtomicOp;
use recal_il::ir::Width;
use recal_il::ir::lines::Shape;
use recal_il::isa::LaneOp;
use recal_il::isa::memory::texel::Wrap;

/// What a function does, one after another. Shapes say what is known of words in the lanes of a line that execute; they count
/// for nothing unless lanes are in lines, see [`crate::Compiler::with_lines`].
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// A lane operation.
    Lane {
        /// What.
        op: LaneOp,
        /// Destination rows, then source rows, low word first.
        ids: &'a [u32],
        /// How many of them are destinations.
        writes: usize,
        /// Sources that are the same in the lanes of a line that execute: bit k is source k.
        same: u32,
    },
    /// Loads words; 0 outside.
    Load {
        /// Which of the views.
        view: u8,
        /// The row of byte addresses of component 0; the low two bits are ignored.
        address: u32,
        /// A row for each component, or [`NONE`].
        to: [u32; 4],
        /// Components that are flushed; bit k is component k.
        flush: u8,
        /// Of the addresses.
        lanes: Shape,
    },
    /// Loads words of elements of 16 bytes; 0 outside.
    LoadElement {
        /// Which of the views.
        view: u8,
        /// The row of numbers of elements.
        element: u32,
        /// What is added to them: less than 2^30 either way, and nothing wraps into the view.
        offset: i32,
        /// A row for each component, or [`NONE`].
        to: [u32; 4],
        /// Components that are flushed; bit k is component k.
        flush: u8,
        /// Of the numbers.
        lanes: Shape,
    },
    /// Loads a part of a word, of a view of whole words; 0 outside.
    LoadPart {
        /// Which of the views.
        view: u8,
        /// The row of byte addresses; of halves of words the low bit is ignored.
        address: u32,
        /// What is loaded.
        width: Width,
        /// Rows for it, or [`NONE`].
        to: [u32; 4],
        /// In which of them it is flushed.
        flush: u8,
        /// Of the addresses.
        lanes: Shape,
    },
    /// Loads what coordinates mean in a view.
    Sample {
        /// Which of the views.
        view: u8,
        /// How.
        sample: Sample,
        /// Rows of column and line, the latter or [`NONE`] if it does not count; and of texels that are added to
        /// them by [`Filter::Gather`], or [`NONE`].
        coordinates: [u32; 4],
        /// A row for each component, or [`NONE`].
        to: [u32; 4],
        /// Components that are flushed; bit k is component k.
        flush: u8,
        /// Of the texels.
        lanes: Shape,
        /// Coordinates that are the same in the lanes of a line that execute: bit k is coordinate k.
        same: u32,
    },
    /// Stores words; nothing outside.
    Store {
        /// Which of the views.
        view: u8,
        /// The row of byte addresses of component 0; the low two bits are ignored.
        address: u32,
        /// The row of each component that is stored, or [`NONE`].
        from: [u32; 4],
        /// Of the addresses.
        lanes: Shape,
    },
    /// Stores words of elements of 16 bytes; nothing outside.
    StoreElement {
        /// Which of the views.
        view: u8,
        /// The row of numbers of elements.
        element: u32,
        /// As of `LoadElement`.
        offset: i32,
        /// The row of each component that is stored, or [`NONE`].
        from: [u32; 4],
        /// Of the numbers.
        lanes: Shape,
    },
    /// Stores the lowest part of words, in a view of whole words; nothing outside.
    StorePart {
        /// Which of the views.
        view: u8,
        /// The row of byte addresses; of halves of words the low bit is ignored.
        address: u32,
        /// What is stored.
        width: Width,
        /// The row.
        from: u32,
    },
    /// Stores elements at coordinates that are integers; nothing outside.
    StoreTexel {
        /// Which of the views.
        view: u8,
        /// Of the elements.
        format: Format,
        /// The rows of column and line, the latter or [`NONE`] if it does not count.
        coordinates: [u32; 2],
        /// The row of each component; those that the format does not have are passed over.
        from: [u32; 4],
    },
    /// Changes words, or pairs of words at a multiple of 8 bytes, each lane after the one before and, unless nobody else has the memory meanwhile, at once for
    /// all who share it; nothing outside, where 0 was. Not in loops, nor are the step that follows, `StorePart`, and `StoreTexel` of less than a word.
    Atomic {
        /// Which of the views.
        view: u8,
        /// What becomes of them.
        op: AtomicOp,
        /// Pairs.
        wide: bool,
        /// Nobody else has the memory meanwhile.
        alone: bool,
        /// Where they are.
        at: At,
        /// The rows of the first source and of the second one, low words first, or [`NONE`].
        from: [u32; 4],
        /// Rows for what was there, or [`NONE`].
        to: [u32; 2],
    },
    /// The word of a view counts on, once for each lane; or back.
    Count {
        /// Which of the views.
        view: u8,
        /// Back.
        consume: bool,
        /// The row for what it was before, or is after that if it counts back.
        to: u32,
    },
    /// Stores what rows hold at the end: elements of `count` words, 1, 2 or 4, those of lanes one after another from the start of a
    /// view, which is there for nothing else. Last of all steps, and done where all lanes execute if [`Function::emits`] says so;
    /// else the rows are left.
    ///
    /// [`Function::emits`]: crate::Function::emits
    Emit {
        /// Which of the views, below 32.
        view: u8,
        /// The rows, or [`NONE`] for zeros.
        rows: [u32; 4],
        /// Words of an element.
        count: u32,
        /// Past the caches: the view begins at a multiple of 64.
        past_caches: bool,
    },
    /// The lanes of a row whose word is not 0 are what the function returns; at most once.
    Test {
        /// The row.
        row: u32,
    },
    /// All threads of a group wait for each other; only where they are compiled together, see [`crate::Compiler::group`].
    Barrier,
    /// Lanes with any bit of the row set, or with none, go on; the others after the `Else`, or the `EndIf`.
    If {
        /// The row.
        row: u32,
        /// Any bit.
        nonzero: bool,
        /// Of the row.
        lanes: Shape,
    },
    /// See `If`.
    Else,
    /// See `If`.
    EndIf,
    /// Repeats what is before the `EndLoop` until all lanes have left.
    Loop,
    /// See `Loop`.
    EndLoop,
    /// All lanes, or those with any bit of the row set, or with none, leave the innermost loop. The shape is that of the row.
    Break(Option<(u32, bool, Shape)>),
}

impl Step<'_> {
    /// Lanes do it one after another.
    pub(crate) fn is_call(&self) -> bool {
        match self {
            Step::StorePart { .. } | Step::Atomic { .. } | Step::Count { .. } => true,
            // Other threads write the other bytes of the word.
            Step::StoreTexel { format, .. } => format.bytes() < 4,
            _ => false,
        }
    }
}

/// Where an atomic is done.
#[derive(Clone, Copy, Debug)]
pub enum At {
    /// At byte addresses, in this row.
    Byte(u32),
    /// At the first word of an element at coordinates that are integers: the rows of column and line, the latter or [`NONE`] if it does
    /// not count, and the format.
    Element([u32; 2], Format),
}

/// Which texels a sample reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// The nearest one.
    Nearest,
    /// The mean of the four around.
    Linear,
    /// A component of the four around.
    Gather(u8),
    /// The one at coordinates that are integers; nothing outside.
    Integers,
    /// The same as an element of a UAV: one of zeros outside, and no component stands for others.
    Element,
}

/// What is known of a sampled view when the code is made.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Coordinates count texels; else 1 is the whole size.
    pub unnormalized: bool,
    /// Half texels that are added to the coordinates; whole ones with [`Filter::Integers`].
    pub offset: [i8; 2],
    /// Format of the texels.
    pub format: Format,
    /// What is beyond the edges.
    pub wrap: [Wrap; 2],
    /// Which texels are read.
    pub filter: Filter,
    /// Coordinates that are never denormals.
    pub normal: [bool; 2],
}

/// The words of a row that steps only read: a word of a [`View`](crate::View::of_words), the same for all lanes, and what another row has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Which of the views.
    pub view: u8,
    /// Which of its words.
    pub word: u8,
    /// The row that is added, if there is one.
    pub plus: Option<u32>,
}

/// No row.
pub const NONE: u32 = u32::MAX;
