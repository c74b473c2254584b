//! The passes that back ends run, by name and in their order: each list once, for who runs it, for the tests of what they
//! compute, and for [`crate::opt`].

use std::borrow::Cow;

use super::arrays::in_registers;
use super::compact::compact;
use super::inline::inline;
use super::jumps::without_jumps;
use super::lockstep::keep;
use super::native::native;
use super::own_lds::in_a_block;
use super::payload::loosen;
use super::rotate::rotate;
use super::speculate::{WORTH, speculate, without_flushes};
use super::unroll::{unroll, unroll_fully};
use super::validate::{validate, validate_unflushed};
use super::{MemoryInst, Program};

/// What passes go by besides the program.
#[derive(Clone, Copy)]
pub struct Settings<'a> {
    /// Every instruction is to give the documented bits.
    pub faithful: bool,
    /// No compiler of a device comes after: what is not done here is not done.
    pub last: bool,
    /// What an access costs, in operations; loops with one beyond 64 are not unrolled.
    pub cost: &'a dyn Fn(&MemoryInst) -> u32,
    /// Instructions, weighted by loops, that a region must save to run bare first.
    pub worth: i64,
    /// The device goes around statements that no thread runs. Others run all of them, loops one round, and keep nothing.
    pub skips: bool,
    /// Most threads of a group.
    pub threads: u32,
    /// Group memory has eight more bytes, by which threads tell each other that they have not left a loop.
    pub room: bool,
}

impl Settings<'_> {
    /// Faithful, for groups of one wave on a device to which an access is four operations.
    pub const USUAL: Settings<'static> = Settings {
        faithful: true,
        last: true,
        cost: &|_| 4,
        worth: WORTH,
        skips: true,
        threads: 64,
        room: true,
    };
}

/// Who needs a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For {
    /// Everybody.
    All,
    /// Programs that are to give the documented bits.
    Faithful,
    /// Those in native float mode.
    Native,
    /// Who compiles without a compiler of a device behind it.
    Last,
}

/// What a pass has to do with flushes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flushes {
    /// It may run before they are placed, and after.
    Ignored,
    /// It places them.
    Placed,
    /// It counts on them.
    Needed,
    /// It counts on them, and takes most of them away.
    Dropped,
}

impl Flushes {
    /// Checks what comes out of a pass.
    pub(crate) fn validate(self, program: &Program) -> Result<(), Vec<String>> {
        match self {
            Flushes::Ignored | Flushes::Dropped => validate_unflushed(program),
            Flushes::Placed | Flushes::Needed => validate(program),
        }
    }
}

/// A pass: a program in, one that computes the same out, or the same one.
#[derive(Debug)]
pub struct Pass {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub about: &'static str,
    /// What it has to do with flushes.
    pub flushes: Flushes,
    /// Who needs it.
    pub needed: For,
    pub(crate) run: for<'p> fn(&'p Program, &Settings<'_>) -> Cow<'p, Program>,
}

impl Pass {
    /// Whether it is run in a list.
    fn is_needed(&self, settings: &Settings<'_>) -> bool {
        match self.needed {
            For::All => true,
            For::Faithful => settings.faithful,
            For::Native => !settings.faithful,
            For::Last => settings.last,
        }
    }

    /// Runs it. In debug builds what comes out is validated.
    pub fn run<'p>(&self, program: &'p Program, settings: &Settings<'_>) -> Cow<'p, Program> {
        let out = (self.run)(program, settings);
        if cfg!(debug_assertions)
            && matches!(out, Cow::Owned(_))
            && let Err(defects) = self.flushes.validate(&out)
        {
            panic!("after {}: {defects:#?}\n{out}", self.name);
        }
        out
    }
}

/// Passes that two lists have.
const INLINE: Pass = Pass {
    name: "inline",
    about: "small functions, and those called in one place, become part of their callers",
    flushes: Flushes::Needed,
    needed: For::All,
    run: |program, _| inline(program),
};
const OWN_LDS: Pass = Pass {
    name: "own_lds",
    about: "the LDS that threads own, as on the R700, becomes a block",
    flushes: Flushes::Ignored,
    needed: For::All,
    run: |program, settings| in_a_block(program, settings.threads),
};
const PAYLOAD: Pass = Pass {
    name: "payload",
    about: "doubles hold NaNs of any payload where nobody reads their bits",
    flushes: Flushes::Needed,
    needed: For::Faithful,
    run: |program, _| loosen(program),
};

/// What makes of a program one that runs on rows of threads, which have two constructs only and know LDS as blocks.
pub static STRUCTURED: [Pass; 3] = [
    Pass {
        name: "jumps",
        about: "jumps but breaks of loops become choices, and switches too",
        flushes: Flushes::Ignored,
        needed: For::All,
        run: |program, _| without_jumps(program),
    },
    INLINE,
    OWN_LDS,
];

/// The passes of the CPU device behind those, before registers are shared.
pub static CPU: [Pass; 5] = [
    // Elements of each thread, one after another, are asked for if they are memory.
    Pass {
        name: "arrays",
        about: "small indexed temporaries become registers, computed numbers choices",
        flushes: Flushes::Ignored,
        needed: For::Last,
        run: |program, _| in_registers(program),
    },
    Pass {
        name: "native",
        about: "sums and products are the processor's: fused, not flushed, NaNs as they come",
        flushes: Flushes::Dropped,
        needed: For::Native,
        run: |program, _| Cow::Owned(native(program)),
    },
    PAYLOAD,
    Pass {
        name: "unroll_fully",
        about: "loops of known rounds are written out, with what counts as constants",
        flushes: Flushes::Ignored,
        needed: For::Last,
        run: |program, settings| unroll_fully(program, settings.cost),
    },
    // What is between barriers is done for all waves of a group, and what is up to a store for all threads of a wave.
    Pass {
        name: "rotate",
        about: "loops around barriers and stores test where their rounds end",
        flushes: Flushes::Ignored,
        needed: For::Last,
        run: |program, _| rotate(program),
    },
];

/// What back ends run last that share registers.
pub static COMPACT: Pass = Pass {
    name: "compact",
    about: "values whose lives do not overlap share registers",
    flushes: Flushes::Ignored,
    needed: For::All,
    run: |program, _| {
        let mut out = program.clone();
        compact(&mut out);
        Cow::Owned(out)
    },
};

/// The passes of emission of SPIR-V.
pub static EMISSION: [Pass; 7] = [
    INLINE,
    OWN_LDS,
    Pass {
        name: "unroll",
        about: "loops that load run four rounds at a time, those of known rounds are written out",
        flushes: Flushes::Needed,
        needed: For::All,
        run: |program, settings| unroll(program, settings.faithful, settings.cost),
    },
    Pass {
        name: "flushes",
        about: "flushes of what is never a denormal go",
        flushes: Flushes::Needed,
        needed: For::Faithful,
        run: |program, _| without_flushes(program),
    },
    PAYLOAD,
    Pass {
        name: "speculate",
        about: "regions run with bare sums and products first, and again in full if in doubt",
        flushes: Flushes::Needed,
        needed: For::Faithful,
        run: |program, settings| speculate(program, settings.worth, settings.skips),
    },
    Pass {
        name: "lockstep",
        about: "fences and masks keep the threads of a wave together where they talk",
        flushes: Flushes::Needed,
        needed: For::All,
        run: |program, settings| keep(program, settings.threads, settings.room),
    },
];

/// Told of each pass that ran, and what came out.
pub type Watch<'a> = &'a mut dyn FnMut(&'static str, &Program);

/// Runs those passes of a list that are needed, one after another.
pub fn run<'p>(
    list: &'static [Pass],
    program: &'p Program,
    settings: &Settings<'_>,
    watch: Watch<'_>,
) -> Cow<'p, Program> {
    let mut current = Cow::Borrowed(program);
    for pass in list.iter().filter(|pass| pass.is_needed(settings)) {
        current = match pass.run(&current, settings) {
            Cow::Owned(changed) => Cow::Owned(changed),
            Cow::Borrowed(_) => current,
        };
        watch(pass.name, &current);
    }
    current
}
