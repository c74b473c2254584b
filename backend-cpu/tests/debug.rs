//! A launch under a debugger: which instructions it is asked about, and that going back leads to the same states.

mod harness;

use harness::{Machine, grid, read};
use recal_cpu::{Area, Debugger, Next, State, debug};
use recal_hal::{Bindings, Extent, Format};
use recal_il::ir::Reg;
use recal_il::lower::lower_named;

/// Asks a function.
struct Ask<F>(F);

impl<F: FnMut(&State<'_>) -> Next> Debugger for Ask<F> {
    fn step(&mut self, state: &State<'_>) -> Next {
        (self.0)(state)
    }
}

/// Runs a kernel with `words` words as raw uav0 under a debugger; what they are then.
fn run(text: &str, extent: Extent, words: u32, step: impl FnMut(&State<'_>) -> Next) -> Vec<u32> {
    let machine = Machine::new();
    let out = machine.surface(Format::UnsignedInt32x1, words, 1);
    let constants = vec![(0, machine.surface(Format::Float32x4, 1, 1))];
    let bindings = Bindings { uavs: vec![(0, out.clone())], constants, ..Bindings::default() };
    let (program, names) = lower_named(&recal_il::front(text.as_bytes()).unwrap()).unwrap();
    debug(&program, names, &bindings, extent, &mut Ask(step)).unwrap();
    read(&out, words as usize)
}

/// Counts in memory, each thread for itself, and one word together with all others.
const COUNT: &str = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_lds_id(0) 256\n\
    dcl_literal l0, 2, 1, 700, 0\nishl r0.x, vAbsTidFlat0.x, l0.x\nishl r0.y, vTidInGrpFlat0.x, l0.x\n\
    mov r1.x, l0.w\nwhileloop\nieq r2.x, r1.x, l0.z\nbreak_logicalnz r2.x\niadd r1.x, r1.x, l0.y\n\
    lds_store_id(0) r0.y, r1.x\nuav_add_id(0) r0.x, l0.y\nendloop\nend\n";

#[test]
fn running_again_leads_to_the_same_states() {
    let groups = 48;
    let seen = |state: &State<'_>| {
        let register = |reg, lane| state.register(Reg(reg), lane).map_or(u64::MAX, u64::from);
        let word = |area, at| state.memory(area).and_then(|c| c.word(at)).map_or(u64::MAX, u64::from);
        let last = 4 * (64 * groups - 1);
        let words = [
            register(0, 3),
            register(1, 63),
            register(2, 7),
            register(3, 0),
            register(4, 9),
            word(Area::Lds(0), 12),
            word(Area::Uav(0), 256 * state.part() as usize),
            word(Area::Uav(0), 4),
            word(Area::Uav(0), last as usize),
            state.active(),
            state.instruction().map_or(u64::MAX, |k| k as u64),
            state.part(),
        ];
        words
            .into_iter()
            .fold(0u64, |hash, word| hash.rotate_left(9).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ word)
    };
    let mut states: Vec<u64> = vec![0];
    let (mut goals, mut goal, mut began) = (vec![1, 5000, 90_000, 160_000, 160_001, 20, 150_000], None, None);
    let mut arrived = Vec::new();
    let words = run(COUNT, grid(groups, 64), 64 * groups, |state| {
        let number = state.number();
        let state_now = seen(state);
        let Some(to) = goal else {
            // Forward, for the first time.
            assert_eq!(number as usize, states.len());
            states.push(state_now);
            if !state.ended() {
                return Next::Go;
            }
            goal = goals.pop();
            return Next::Again(goal.unwrap());
        };
        began.get_or_insert(number);
        assert_eq!(states[number as usize], state_now, "step {number} on the way to {to}");
        if number < to {
            return Next::Go;
        }
        arrived.push((to, began.take().unwrap()));
        match goals.pop() {
            Some(next) => {
                goal = Some(next);
                Next::Again(next)
            }
            None => {
                goal = Some(u64::MAX);
                Next::Again(0)
            }
        }
        // At last it runs to its end once more.
    });
    assert!(states.len() > 160_002, "{}", states.len());
    assert!(words.iter().all(|word| *word == 700), "what was stored before is stored once");
    let from = |step| arrived.iter().find(|(to, _)| *to == step).unwrap().1;
    assert_eq!((from(1), from(20), from(5000)), (1, 1, 1));
    // Not from the start: from a copy of the memory between.
    assert!(from(160_000) > 60_000 && from(160_000) <= 160_000, "{arrived:?}");
    assert!(from(90_000) > 1 && from(90_000) <= 90_000, "{arrived:?}");
}

/// A constant that a loop wants flushed is, before everything: the line that wants it is not the first.
#[test]
fn constants_of_later_lines_are_no_stops() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 4\ndcl_cb cb0[1]\ndcl_raw_uav_id(0)\ndcl_literal l0, 0, 1, 2, 0\n\
        mov r1.x, l0.x\nwhileloop\nige r2.x, r1.x, l0.z\nbreak_logicalnz r2.x\n\
        mad r0, r0, cb0[0], r0\niadd r1.x, r1.x, l0.y\nendloop\nend\n";
    let mut lines = Vec::new();
    run(text, grid(1, 4), 4, |state| {
        let span = state.instruction().map(|k| state.instructions()[k]);
        lines.extend(span.map(|span| 1 + text[..span.start as usize].matches('\n').count()));
        Next::Go
    });
    assert_eq!(lines, [6, 7, 8, 9, 10, 11, 8, 9, 10, 11, 8, 9]);
}

#[test]
fn each_instruction_is_shown_once_before_it_is_executed() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 4\ndcl_raw_uav_id(0)\ndcl_literal l0, 2, 1, 0, 0\n\
        ult r1.x, vTidInGrpFlat0.x, l0.x\nif_logicalnz r1.x\ncall 7\nelse\nmov r2.x, l0.w\nendif\n\
        whileloop\nige r3.x, r4.x, l0.x\nbreak_logicalnz r3.x\niadd r4.x, r4.x, l0.y\nendloop\n\
        dp4 r5.x, r4.xxxx, r4.xxxx\nendmain\nfunc 7\nmov r2.x, l0.x\nret\nend\n";
    let mut shown = Vec::new();
    run(text, grid(1, 4), 4, |state| {
        let span = state.instruction().map(|k| state.instructions()[k]);
        let line = span.map(|span| 1 + text[..span.start as usize].matches('\n').count());
        shown.push((line, state.active(), state.calls().len()));
        assert_eq!(state.number() as usize, shown.len());
        Next::Go
    });
    let lines: Vec<usize> = shown.iter().filter_map(|(line, ..)| *line).collect();
    // `ret` at the end of a function is nothing.
    assert_eq!(lines, [5, 6, 7, 19, 9, 11, 12, 13, 14, 12, 13, 14, 12, 13, 16]);
    let at = |line| shown.iter().find(|(known, ..)| *known == Some(line)).unwrap();
    assert_eq!((at(7).1, at(19).1, at(9).1, at(16).1), (0b0011, 0b0011, 0b1100, 0b1111));
    assert_eq!((at(7).2, at(19).2, at(9).2), (0, 1, 0));
    // The end of the kernel, then that of the launch.
    assert_eq!(
        shown[shown.len() - 2..].iter().map(|s| (s.0, s.1)).collect::<Vec<_>>(),
        [(None, 0b1111), (None, 0)]
    );
}

#[test]
fn who_has_seen_enough_ends_the_launch() {
    let store = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 2, 7, 0, 0\n\
        ishl r0.x, vAbsTidFlat0.x, l0.x\nuav_raw_store_id(0) mem0.x___, r0.x, l0.y\nend\n";
    // The third step is the end of the first group, the fifth the store of the second.
    for (end, stored) in [(2, 0), (3, 64), (5, 64), (6, 128)] {
        let words =
            run(store, grid(4, 64), 256, |state| if state.number() == end { Next::End } else { Next::Go });
        let there = words.iter().filter(|word| **word == 7).count();
        assert_eq!(there, stored, "ended at step {end}");
    }
}
