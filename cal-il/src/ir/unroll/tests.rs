use super::*;

const LOAD: &str = "uav_raw_load_id(0) r5.x, r4.x\niadd r4.x, r4.x, l0.w\niadd r6.x, r6.x, r5.x\n";

fn program(body: &str) -> Program {
    let text = format!(
        "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_lds_id(0) 64\ndcl_cb cb0[2]\n\
         dcl_literal l0, 0, 1, 2, 4\ndcl_literal l1, 1.0, -0.5, 0.0, 16.0\ndcl_literal l2, 24, 27, 25, 0\ndcl_literal l3, 8, 7, 0, 0\nmov r4, l0\nmov r6, l0\n{body}\n\
         mov g[0], r6\nmov g[1], r1\nend\n"
    );
    crate::compile(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

/// The outermost loops after unrolling, if that changed anything.
fn unrolled(body: &str, cost: u32) -> Option<Vec<Block>> {
    let program = program(body);
    let changed = unroll(&program, false, |_| cost);
    crate::ir::validate::validate(&changed).unwrap_or_else(|defects| panic!("{defects:#?}\n{changed}"));
    let loops = changed.functions[0].body.iter().filter_map(|stmt| match &stmt.kind {
        StmtKind::Loop { body } => Some(body.clone()),
        _ => None,
    });
    (changed.registers > program.registers).then(|| loops.collect())
}

/// What stands before the only exit of the loop of four rounds, sorted.
fn ahead(start: &str, body: &str) -> Vec<&'static str> {
    let body = format!("{start}\nwhileloop\n{}\nendloop\n", body.replace("LOAD", LOAD));
    let loops = unrolled(&body, 4).unwrap_or_else(|| panic!("not unrolled: {body}"));
    let [rounds, rest] = &loops[..] else { panic!("{} loops", loops.len()) };
    let count =
        |block: &Block, test: fn(&StmtKind) -> bool| block.iter().filter(|stmt| test(&stmt.kind)).count();
    let load: fn(&StmtKind) -> bool = |kind| matches!(kind, StmtKind::Memory(_));
    assert_eq!((count(rounds, load), count(rest, load)), (4, 1));
    assert_eq!(count(rounds, |kind| matches!(kind, StmtKind::Break(_) | StmtKind::If { .. })), 1);
    let before = rounds.iter().map_while(|stmt| match &stmt.kind {
        StmtKind::Lane(inst) => Some(inst.op.name()),
        _ => None,
    });
    let mut before: Vec<_> = before.collect();
    before.sort_unstable();
    before
}

#[test]
fn the_last_round_decides_about_floats() {
    let float = "mov r1.x, l1.z";
    let up = "ge r2.x, r1.x, cb0[1].x\nbreak_logicalnz r2.x\nLOAD\nadd r1.x, r1.x, l1.x";
    assert_eq!(ahead(float, up), ["Add", "Add", "Add", "Ge"]);
    // At the bottom the counter is one step further.
    let bottom = "LOAD\nadd r1.x, l1.x, r1.x\nlt r2.x, r1.x, cb0[1].x\nif_logicalz r2.x\nbreak\nendif";
    assert_eq!(ahead(float, bottom), ["Add", "Add", "Add", "Add", "Lt"]);
    let down = "lt r2.x, cb0[1].x, r1.x\nif_logicalnz r2.x\nelse\nbreak\nendif\nLOAD\nadd r1.x, r1.x, l1.y";
    assert_eq!(ahead(float, down), ["Add", "Add", "Add", "Lt"]);
}

#[test]
fn integers_must_not_wrap() {
    let integer = "mov r1.x, cb0[0].x";
    let signed = "ige r2.x, r1.x, cb0[1].x\nbreak_logicalnz r2.x\nLOAD\niadd r1.x, r1.x, l0.z";
    assert_eq!(ahead(integer, signed), ["Iadd", "Iadd", "Iadd", "Ige", "Ige", "Or"]);
    let unsigned = "ult r2.x, r1.x, l0.w\nbreak_logicalz r2.x\nLOAD\niadd r1.x, r1.x, l0.z";
    assert_eq!(ahead(integer, unsigned), ["Iadd", "Iadd", "Iadd", "Ieq", "Or", "Uge", "Ult"]);
}

#[test]
fn otherwise_each_round_is_asked() {
    let four = |ops: Vec<&str>, op: &str| {
        assert_eq!(ops.iter().filter(|o| **o == op).count(), 4, "{ops:?}");
    };
    let float = "mov r1.x, l1.z";
    // Away from the bound; by a step that nobody knows; past all floats.
    four(ahead(float, "lt r2.x, r1.x, cb0[1].x\nbreak_logicalnz r2.x\nLOAD\nadd r1.x, r1.x, l1.x"), "Lt");
    four(ahead(float, "ge r2.x, r1.x, l1.w\nbreak_logicalnz r2.x\nLOAD\nadd r1.x, r1.x, cb0[0].x"), "Ge");
    four(ahead(float, "ge r2.x, r1.x, l1.w\nbreak_logicalnz r2.x\nLOAD\nadd r1.x, r1.x, r1.x"), "Ge");
    // The bits of a float.
    four(ahead(float, "breakc_relop(ge) r1.x, cb0[1].x\nLOAD\nadd r1.x, r1.x, l1.x"), "RawGe");
    // A bound that moves, an equality, two exits.
    let integer = "mov r1.xy, cb0[0]";
    let moves = "ige r2.x, r1.x, r1.y\nbreak_logicalnz r2.x\nLOAD\niadd r1.xy, r1, l0.yz";
    four(ahead(integer, moves), "Ige");
    four(ahead(integer, "ieq r2.x, r1.x, l0.w\nbreak_logicalnz r2.x\nLOAD\niadd r1.x, r1.x, l0.y"), "Ieq");
    let body = "ige r2.x, r1.x, l0.w\nbreak_logicalnz r2.x\nLOAD\niadd r1.x, r1.x, l0.y\nbreak_logicalz r1.y";
    let loops = unrolled(&format!("{integer}\nwhileloop\n{}\nendloop", body.replace("LOAD", LOAD)), 4);
    assert_eq!(loops.map(|loops| loops.len()), Some(2));
}

#[test]
fn other_loops_stay() {
    let count = "ige r2.x, r1.x, cb0[1].x\nbreak_logicalnz r2.x\n";
    let step = "iadd r1.x, r1.x, l0.y\n";
    let is_left = |body: &str, cost: u32| {
        let body = format!("mov r1.x, cb0[0].x\nwhileloop\n{body}\nendloop");
        assert!(unrolled(&body, cost).is_none(), "{body}");
    };
    for other in [
        "",
        "uav_raw_store_id(0) mem0.x, r4.x, r1.x",
        "lds_store_id(0) r4.x, r1.x",
        "fence_threads_lds",
        "uav_add_id(0) r4.x, r1.x",
        "continue_logicalnz r6.x",
        "ret_logicalnz r6.x",
        "if_logicalnz r6.x\niadd r6.x, r6.x, l0.y\nbreak\nendif",
        // A load decides.
        "break_logicalnz r5.x",
        "if_logicalnz r6.x\niadd r1.x, r1.x, l0.y\nendif",
        "pow r6.x, r1.x, r1.x",
        "whileloop\nbreak_logicalnz r1.x\niadd r1.x, r1.x, l0.y\nendloop",
    ] {
        let load = if other.is_empty() { "" } else { LOAD };
        is_left(&format!("{count}{load}{other}\n{step}"), 4);
    }
    is_left(&format!("{count}{LOAD}{step}"), LIMIT);
    is_left(&format!("{count}{LOAD}if_logicalnz r6.x\niadd r6.x, r6.x, l0.y\nendif\n{step}"), u32::MAX);
    // Twelve rounds, as everybody sees.
    let known =
        format!("mov r1.x, l0.w\nwhileloop\nige r2.x, r1.x, l1.w\nbreak_logicalnz r2.x\n{LOAD}{step}endloop");
    assert!(unrolled(&known, 4).is_none());
    // The inner one of two is unrolled.
    let inner = format!("mov r1.x, cb0[0].x\nwhileloop\n{count}{LOAD}{step}endloop");
    assert_eq!(unrolled(&inner, 4).map(|loops| loops.len()), Some(2));
    let outer = format!("whileloop\nbreak_logicalnz r6.x\n{inner}\nendloop");
    assert_eq!(unrolled(&outer, 4).map(|loops| loops.len()), Some(1));
}

#[test]
fn known_rounds_are_written_out() {
    let whole = |start: &str, body: &str| {
        let program = program(&format!("{start}\nwhileloop\n{body}\nendloop"));
        let changed = unroll(&program, false, |_| 4);
        crate::ir::validate::validate(&changed).unwrap_or_else(|defects| panic!("{defects:#?}\n{changed}"));
        let body = &changed.functions[0].body;
        let stores = body.iter().filter(|stmt| matches!(stmt.kind, StmtKind::Memory(_))).count();
        let loops = body.iter().any(|stmt| matches!(stmt.kind, StmtKind::Loop { .. }));
        // The program itself stores twice.
        (!loops).then(|| stores - 2)
    };
    let halves = "break_logicalz r1.x\nlds_store_id(0) r4.x, r1.x\nfence_threads_lds\nushr r1.x, r1.x, l0.y";
    assert_eq!(whole("mov r1.x, l0.w", halves), Some(3));
    assert_eq!(whole("mov r1.x, l0.x", halves), Some(0));
    let doubles =
        "uav_add_id(0) r4.x, r1.x\nige r2.x, r1.x, l0.w\nbreak_logicalnz r2.x\niadd r1.x, r1.x, r1.x";
    assert_eq!(whole("mov r1.x, l0.y", doubles), Some(3));
    // Not known; without end; too many rounds, or too long; a nested loop; what decides comes from a branch.
    assert_eq!(whole("mov r1.x, cb0[0].x", halves), None);
    assert_eq!(whole("mov r1.x, l0.x", doubles), None);
    let thirds = halves.replace("ushr r1.x, r1.x, l0.y", "isub r1.x, r1.x, l0.y\niand r1.x, r1.x, r1.x");
    assert_eq!(whole("mov r1.x, l0.w", &thirds), Some(4));
    assert_eq!(whole("mov r1.x, l1.w", &thirds), None);
    assert_eq!(whole("mov r1.x, l0.w", &format!("{halves}\npow r6.x, r6.x, r6.x")), None);
    assert_eq!(whole("mov r1.x, l0.w", &format!("{halves}\nwhileloop\nbreak\nendloop")), None);
    let branch = "if_logicalnz r6.x\nmov r1.x, l0.x\nendif";
    assert_eq!(whole("mov r1.x, l0.w", &format!("{halves}\n{branch}")), None);
}

/// The counter is a constant in all that reads it, and has its last word at the end.
#[test]
fn counters_are_folded() {
    let folded = |start: &str, body: &str| {
        let program = program(&format!("{start}\nwhileloop\n{body}\nendloop"));
        let changed = unroll_fully(&program, |_| 4);
        crate::ir::validate::validate(&changed).unwrap_or_else(|defects| panic!("{defects:#?}\n{changed}"));
        let body = &changed.functions[0].body;
        let whole = !body.iter().any(|stmt| matches!(stmt.kind, StmtKind::Loop { .. }));
        let stores = |stmt: &Stmt| match stmt.kind.memory() {
            Some(MemoryInst::RawStore { src, .. }) => src[0],
            _ => None,
        };
        let stored = body.iter().filter_map(|stmt| match &stmt.kind {
            StmtKind::If { then, .. } => stores(&then[0]),
            _ => stores(stmt),
        });
        let words = stored.map(|operand| if let Operand::Imm(word) = operand { word } else { u32::MAX });
        let left = body.iter().filter_map(|stmt| match &stmt.kind {
            StmtKind::Lane(LaneInst { op: LaneOp::Mov, args, .. }) => match args[..] {
                [Operand::Imm(word)] => Some(word),
                _ => None,
            },
            _ => None,
        });
        whole.then(|| (words.collect::<Vec<u32>>(), left.collect::<Vec<u32>>()))
    };
    let test = "uge r2.x, r1.x, l0.w\nbreak_logicalnz r2.x\n";
    let store = "lds_store_id(0) r4.x, r1.x\nfence_threads_lds\n";
    let step = "iadd r1.x, r1.x, l0.y";
    let counts = folded("mov r1.x, l0.y", &format!("{test}{store}{step}")).unwrap();
    assert_eq!(counts.0, [1, 2, 3]);
    assert!(counts.1.ends_with(&[4, u32::MAX]), "the counter, and that it has reached its end: {counts:?}");
    let inner = format!("{test}if_logicalnz r6.x\n{store}endif\n{step}");
    assert_eq!(folded("mov r1.x, l0.x", &inner).unwrap().0, [0, 1, 2, 3]);
    // What is read after the counter moved is the next word.
    assert_eq!(folded("mov r1.x, l0.x", &format!("{test}{step}\n{store}")).unwrap().0, [1, 2, 3, 4]);
    // Sixteen rounds are the most, and none is the least.
    let sixteen = format!("uge r2.x, r1.x, l2.x\nbreak_logicalnz r2.x\n{store}{step}");
    assert_eq!(folded("mov r1.x, l3.x", &sixteen).map(|(words, _)| words.len()), Some(16));
    assert_eq!(folded("mov r1.x, l3.y", &sixteen), None);
    assert_eq!(folded("mov r1.x, l0.w", &format!("{test}{store}{step}")).unwrap().0, []);
    assert_eq!(folded("mov r1.x, cb0[0].x", &format!("{test}{store}{step}")), None);
}

/// Twelve rounds as three of four, and none of what counts otherwise.
#[test]
fn counted_rounds_run_in_a_row() {
    let rounds = |start: &str, bound: &str, at: &str| {
        let test = format!("ige r2.x, r1.x, {bound}\nbreak_logicalnz r2.x\n");
        let (top, bottom) = if at == "top" { (test.as_str(), "") } else { ("", test.as_str()) };
        let body = format!(
            "mov r1.x, {start}\nwhileloop\n{top}{LOAD}iadd r1.x, r1.x, l0.y\n{bottom}endloop\nmov r7, r1"
        );
        let program = program(&body);
        let changed = unroll(&program, true, |_| 4);
        crate::ir::validate::validate(&changed).unwrap_or_else(|defects| panic!("{defects:#?}\n{changed}"));
        let mut loads = 0;
        for stmt in &changed.functions[0].body {
            if let StmtKind::Loop { body } = &stmt.kind {
                loads += body.iter().filter(|stmt| matches!(stmt.kind, StmtKind::Memory(_))).count();
            }
        }
        loads
    };
    // l2.x is 24, l2.y 27, l2.z 25.
    assert_eq!(rounds("l0.x", "l2.x", "top"), 8);
    assert_eq!(rounds("l0.y", "l2.y", "top"), 2);
    assert_eq!(rounds("l0.x", "l2.y", "top"), 1);
    // The test at the end leaves in the midst of the last round: 24 are whole before it.
    assert_eq!(rounds("l0.x", "l2.z", "bottom"), 8);
    assert_eq!(rounds("l0.x", "l2.x", "bottom"), 1);
}
