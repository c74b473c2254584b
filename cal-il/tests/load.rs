//! What modules ask of a driver that builds them: it takes time for every instruction, and some take more than in proportion
//! for long runs of them and for calls.

mod opcodes;

use opcodes::{count, opcodes};
use recal_il::spirv::{Assume, Mode, Module, Target, emit};

const FUNCTION_CALL: u32 = 57;
const LOAD: u32 = 61;
const VOLATILE: u32 = 1;

/// As llvmpipe is: without what its doubles lack, and with an end to runs.
fn processor() -> Target {
    Target {
        fused64: false,
        keeps_exits: false,
        skips: false,
        large_tiles: false,
        longest_run: 4096,
        ..Target::full(Mode::Native)
    }
}

fn module(body: &str, target: &Target) -> Module {
    let text = format!(
        "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_literal l0, 1, 2, 3, 4\nmov r1, g[vAbsTidFlat.x]\nmov r2, r1\n\
         {body}end\n"
    );
    let program = recal_il::compile(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:?}"));
    emit(&program, target, Assume::NOTHING).expect("the device has everything")
}

fn repeated(statement: &str, times: usize) -> String {
    format!("{}mov g[vAbsTidFlat.x], r1\n", format!("{statement}\n").repeat(times))
}

/// Places of the loads that may not be left out.
fn volatile_loads(module: &Module) -> Vec<usize> {
    let (mut at, mut found) = (5, Vec::new());
    while let Some(word) = module.words.get(at) {
        let length = (word >> 16) as usize;
        if word & 0xFFFF == LOAD && length > 4 && module.words[at + 4] & VOLATILE != 0 {
            found.push(at);
        }
        at += length;
    }
    found
}

/// Instructions that one more of a statement takes.
fn cost(statement: &str) -> usize {
    let [few, many] = [8, 16].map(|times| opcodes(&module(&repeated(statement, times), &processor())).len());
    (many - few) / 8
}

#[test]
fn roots_of_doubles_are_short() {
    let root = cost("drsq r1.xy, r1.xy");
    assert!((50..500).contains(&root), "{root}");
}

#[test]
fn long_runs_have_ends() {
    let run = processor().longest_run as usize;
    for statement in ["mad r1, r1, r2, r1.wzyx", "sin_vec r1, r1"] {
        let body = repeated(statement, 400);
        let words = module(&body, &processor());
        let ends = volatile_loads(&words);
        let most = run + 2048;
        assert!(ends.len() >= 4, "{statement}: {ends:?}");
        for pair in ends.windows(2) {
            assert!((run..most).contains(&(pair[1] - pair[0])), "{statement}: {ends:?}");
        }
        assert!(words.words.len() - ends[ends.len() - 1] < most, "{statement}: {ends:?}");
        // Who does not mind long runs gets none.
        let plain = module(&body, &Target { longest_run: u32::MAX, ..processor() });
        assert!(volatile_loads(&plain).is_empty());
    }
}

#[test]
fn loops_begin_and_end_runs() {
    // A loop of many short rounds beside a long one.
    let round = "mad r1, r1, r2, r1.wzyx\n".repeat(20);
    let body = format!("whileloop\n{round}break_logicalnz r1.x\nendloop\n").repeat(40);
    assert!(volatile_loads(&module(&repeated(&body, 1), &processor())).is_empty());
}

#[test]
fn small_functions_are_no_calls() {
    let calls = |count: usize, function: &str| {
        let body = "call 1\n".repeat(count);
        format!("{body}mov g[vAbsTidFlat.x], r1\nret\nendmain\nfunc 1\n{function}\nret\nendfunc\n")
    };
    let number = |body: &str| count(&opcodes(&module(body, &processor())), FUNCTION_CALL);
    // Main is a function.
    assert_eq!(number(&calls(2000, "mad r1, r1, r2, r1")), 1);
    assert_eq!(
        number(&calls(3, "if_logicalnz r1.x\ncall 2\nendif\nret\nendfunc\nfunc 2\nadd r1, r1, r2")),
        1
    );
    // Those that threads leave earlier, and long ones, are.
    assert_eq!(number(&calls(3, "ret_logicalnz r1.x\nmad r1, r1, r2, r1")), 4);
    assert_eq!(number(&calls(3, &"mad r1, r1, r2, r1.wzyx\n".repeat(100))), 4);
    // What they become together has an end.
    let many = number(&calls(6000, &"mad r1, r1, r2, r1.wzyx\n".repeat(3)));
    assert!((2..6000).contains(&many), "{many}");
}
