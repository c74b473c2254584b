//! Compiled functions give the bits of the functions that they were made from: the code of each instruction set, where
//! the processor has it, and the vector program of each, evaluated, everywhere.

mod calls;
mod emitted;
mod encodings;
mod flow;
mod group;
mod leaves;
mod licm;
mod lines;
mod loads;
mod operations;
mod pairs;
mod pressure;
mod repacks;
mod rounds;
mod samples;
mod stores;
mod sums;
mod walks;
mod waves;

use recal_jit::{Ask, Compiler, Function, Isa, Module, Row, Ticks, View};
use recal_needs::{Arguments, Need, Trial};
use yaxpeax_arch::{Decoder, U8Reader};
use yaxpeax_arm::armv8::a64::InstDecoder;

/// What runs a function.
#[derive(Clone, Copy)]
pub struct On {
    isa: Isa,
    /// The processor; else the evaluator.
    code: bool,
}

impl On {
    fn compiler(self) -> Compiler {
        Compiler::new(self.isa).with_programs()
    }

    fn call(
        self,
        module: &Module,
        function: Function,
        rows: &mut [Row],
        views: &[View],
        exec: u64,
        ticks: &mut Ticks<'_>,
    ) -> u64 {
        match self.code {
            true => module.call(function, rows, views, exec, ticks),
            false => module.evaluate(function, rows, views, exec, ticks),
        }
    }
}

/// Never stops.
struct Endless;

impl Ask for Endless {
    fn stop(&self) -> bool {
        false
    }
}

fn endless() -> Ticks<'static> {
    Ticks::new(&Endless)
}

struct Random(u32);

impl Random {
    fn word(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }
}

/// The instructions of NEON code.
fn arm(code: &[u8]) -> Vec<String> {
    let decode = |word: &[u8]| InstDecoder::default().decode(&mut U8Reader::new(word));
    let text = |word: &[u8]| decode(word).unwrap_or_else(|error| panic!("{word:x?}: {error}")).to_string();
    code.chunks(4).map(text).collect()
}

/// Tests by name.
macro_rules! tests {
    ($($module:ident: $($test:ident)*;)*) => {
        [$($((concat!(stringify!($module), "::", stringify!($test)), $module::$test as fn(On)),)*)*]
    };
}

fn main() -> std::process::ExitCode {
    let tests = tests! {
        operations: every_operation_alone denormals_are_kept random_runs random_runs_of_floats memory tests_of_rows
            chains_of_multiply_adds;
        samples: samples samples_of_all_formats;
        loads: elements elements_apart parts spread;
        stores: words elements in_windows;
        calls: atomics_of_words atomics_of_pairs atomics_at_elements counters parts texels none_in_loops;
        licm: what_does_not_change products_of_two_kinds;
        lines: neighbours_and_equals_in_lines known_shapes loads_near_each_other
            loads_that_lines_have_in_common;
        leaves: random_rounds rounds_of_floats_are_bare rows_change_when_lanes_have_left;
        repacks: lanes_go_on_together;
        flow: short_sides_are_done_by_all long_ones_by_several_threads random_constructs random_constructs_in_lines endless_loops_end;
        pairs: loads_of_doubles sums_of_doubles;
        sums: sums_of_products sums_of_lines_abreast addresses_of_sums addresses_side_by_side addresses_go_on
            factors_and_addends_where_they_lie;
        emitted: elements_stay_whole elements_at_columns neighbours_at_columns waves_of_a_line;
        pressure: places_on_the_stack_are_used_again operands_come_from_memory what_is_not_in_doubt_comes_last sums_grow_a_few_at_a_time chains_need_a_register_each;
        rounds: remembered;
        walks: columns;
        waves: one_after_another stopped whole_ones;
        group: group group_in_no_order groups_one_after_another;
        encodings: what_is_made_is_what_was_meant;
    };
    let mut trials = vec![Trial::test("lines::widths", || {
        lines::widths();
        Ok(())
    })];
    // Who knows where a page ends.
    #[cfg(unix)]
    let edges = tests! { samples: nothing_beyond_the_last_texel; };
    #[cfg(not(unix))]
    let edges: [(&str, fn(On)); 0] = [];
    for isa in Isa::all() {
        for code in [true, false] {
            for (name, test) in tests.into_iter().chain(edges) {
                let name = format!("{} {}: {name}", isa.name(), if code { "code" } else { "evaluated" });
                // The evaluator needs nothing.
                let needs = code.then(|| Need::instructions(isa.name(), isa.available()));
                trials.push(recal_needs::trial(name, needs, move || test(On { isa, code })));
            }
        }
    }
    recal_needs::run(&Arguments::from_args(), trials)
}
