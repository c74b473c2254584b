//! What becomes of some kernels. That it computes the same is tried on random ones (`tests/suite/tests/fuzzing.rs`).

use super::{WORTH, speculate, without_flushes};
use crate::ir::visit::statements;
use crate::ir::{LaneInst, LaneOp, Program, Stmt, StmtKind};

const HEAD: &str = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_raw_uav_id(1)\ndcl_raw_uav_id(2)\ndcl_cb cb0[4]\n\
    dcl_lds_id(0) 1024\ndcl_literal l0, 0, 1, 16, 64\ndcl_literal l1, 0.0, 1.5, -2.0, 1.0e-36\n";

/// A loop that adds products of loaded words.
const PRODUCTS: &str = "mov r1, l1.x\nmov r2.x, l0.x\nwhileloop\nige r3.x, r2.x, cb0[0].x\nbreak_logicalnz r3.x\n\
    uav_raw_load_id(0) r4, r2.x\nuav_raw_load_id(1) r5, r2.x\nmad r1, r4, r5, r1\niadd r2.x, r2.x, l0.z\nendloop\n";

fn compiled(body: &str) -> Program {
    let text = format!("{HEAD}{body}\nend\n");
    crate::compile(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

/// After the pass: how often each of the operations occurs in fast regions, and in all.
fn counts<const N: usize>(body: &str, ops: &[LaneOp; N]) -> [usize; N] {
    let program = compiled(body);
    let mut changed = speculate(&program, WORTH, true).into_owned();
    crate::ir::validate::validate(&changed).unwrap_or_else(|defects| panic!("{defects:#?}\n{changed}"));
    let mut counts = [0; N];
    statements(&mut changed.functions[0].body, &mut |stmt| {
        if let StmtKind::Lane(LaneInst { op, .. }) = &stmt.kind
            && let Some(k) = ops.iter().position(|wanted| wanted == op)
        {
            counts[k] += 1;
        }
    });
    counts
}

const BARE: [LaneOp; 3] = [LaneOp::BareMul, LaneOp::BareAdd, LaneOp::Mad];

#[test]
fn products_of_loaded_words_run_bare_and_in_full() {
    let body = format!("{PRODUCTS}mov g[0], r1");
    assert_eq!(counts(&body, &BARE), [4, 4, 4]);
    // Eight words a round are watched, a quarter of them by a product, and four results looked at.
    let watch = [LaneOp::Umin3, LaneOp::Umin, LaneOp::Flush, LaneOp::Imad];
    assert_eq!(counts(&body, &watch), [4, 0, 8, 2]);
}

/// Where the region in full runs whether it is needed or not, loops gain by running bare, and straight code does not.
#[test]
fn without_jumps_only_loops_run_bare() {
    let row = "mad r1, r4, r5, r1\nmad r5, r1, r4, r5\n".repeat(16);
    let straight = format!("mov r4, cb0[1]\nmov r5, cb0[2]\nmov r1, cb0[3]\n{row}mov g[0], r1");
    let changes = |body: &str, skips| {
        let program = compiled(body);
        speculate(&program, WORTH, skips).registers > program.registers
    };
    assert_eq!([true, false].map(|skips| changes(&straight, skips)), [true, false]);
    let looped = format!("{PRODUCTS}mov g[0], r1");
    assert_eq!([true, false].map(|skips| changes(&looped, skips)), [true, true]);
}

/// Stores, atomics and barriers are done once; what stands between them may be done twice.
#[test]
fn regions_end_at_what_others_see() {
    for (other, products) in
        [("uav_raw_store_id(1) mem0, r2.x, r1", 0), ("fence_threads_lds", 0), ("uav_add_id(2) r2.x, r2.x", 0)]
    {
        let body = PRODUCTS.replace("mad r1", &format!("{other}\nmad r1")) + "mov g[0], r1";
        // The loop itself is no region any more; four products of its body are not worth a look at their results.
        assert_eq!(counts(&body, &BARE)[0], products, "{other}");
    }
    let twice = format!("{PRODUCTS}fence_threads_lds\n{PRODUCTS}mov g[0], r1");
    assert_eq!(counts(&twice, &BARE), [8, 8, 8]);
}

/// Memory that the program writes is loaded once: another thread may have come further.
#[test]
fn what_is_written_is_not_loaded_twice() {
    let store = |to: u32| format!("{PRODUCTS}uav_raw_store_id({to}) mem0, l0.x, r1");
    assert_eq!(counts(&store(2), &BARE), [4, 4, 4]);
    assert_eq!(counts(&store(1), &BARE)[0], 0);
    let global = PRODUCTS.replace("uav_raw_load_id(0) r4, r2.x", "mov r4, g[r2.x]");
    assert_eq!(counts(&format!("{global}uav_raw_store_id(2) mem0, l0.x, r1"), &BARE), [4, 4, 4]);
    assert_eq!(counts(&format!("{global}mov g[0], r1"), &BARE)[0], 0);
}

/// What an operation takes bit for bit comes from operations that are exact.
#[test]
fn addresses_and_quotients_are_exact() {
    let others = [
        // One component of four.
        ("rcp_zeroop(infinity) r6, r1", 3),
        ("iand r6, r1, l0.w", 0),
        ("div_zeroop(infinity) r6, l1.y, r1", 0),
    ];
    for (exact, products) in others {
        let body = PRODUCTS.replace("endloop", &format!("{exact}\nadd r7, r7, r6\nendloop"))
            + "mov g[0], r7\nmov g[1], r1";
        assert_eq!(counts(&body, &BARE)[0], products, "{exact}");
    }
}

/// A loop that ends when a product says so asks in each round; one that counts does not.
#[test]
fn loops_that_products_end_are_guarded() {
    let breaks = |body: &str| {
        let program = compiled(body);
        let changed = speculate(&program, WORTH, true);
        let first = changed.functions[0].body.iter().find_map(|stmt| match &stmt.kind {
            StmtKind::Loop { body } => Some(body),
            _ => None,
        });
        let is_break = |stmt: &&Stmt| matches!(stmt.kind, StmtKind::Break(_) | StmtKind::If { .. });
        first.expect("a loop").iter().filter(is_break).count()
    };
    assert_eq!(breaks(&format!("{PRODUCTS}mov g[0], r1")), 1);
    let ends = PRODUCTS.replace("endloop", "lt r8.x, l1.y, r1.x\nbreak_logicalnz r8.x\nendloop");
    assert_eq!(breaks(&format!("{ends}mov g[0], r1")), 3);
    // A loop that counts, but that products decide to enter.
    let entered = format!("{PRODUCTS}lt r8.x, l1.y, r1.x\nif_logicalnz r8.x\n{PRODUCTS}endif\nmov g[0], r1");
    let mut program = speculate(&compiled(&entered), WORTH, true).into_owned();
    let (mut guards, mut loops) = (0, 0);
    statements(&mut program.functions[0].body, &mut |stmt| {
        if let StmtKind::Loop { body } = &stmt.kind {
            loops += 1;
            guards +=
                usize::from(body.iter().filter(|stmt| matches!(stmt.kind, StmtKind::Break(_))).count() == 2);
        }
    });
    assert_eq!((loops, guards), (4, 1));
}

/// A factor that is a sum of products may be small again: it is watched, too.
#[test]
fn factors_that_are_computed_are_watched() {
    let chain = "uav_raw_load_id(0) r1, l0.x\nmad r2, r1, r1, l1.y\nmad r2, r2, r1, l1.y\nmad r2, r2, r1, l1.y\nmov g[0], r2";
    let [bare, three, one] = counts(chain, &[LaneOp::BareMul, LaneOp::Umin3, LaneOp::Umin]);
    assert_eq!((bare, 2 * three + one), (12, 12));
}

/// Products of the language's IEEE operations are products, too; of a chain of sums the first addend is watched, and what follows is not.
#[test]
fn chains_of_sums_are_watched_where_they_begin() {
    let step = "mad_ieee r1, r4, r5, r1\n".repeat(8);
    let chain = format!(
        "mov r2.x, l0.x\nuav_raw_load_id(0) r1, l0.y\nuav_raw_load_id(0) r4, r2.x\nuav_raw_load_id(1) r5, r2.x\n{step}mov g[0], r1"
    );
    let [bare, three, one] = counts(&chain, &[LaneOp::BareMul, LaneOp::Umin3, LaneOp::Umin]);
    // Two factors and an addend of each component.
    assert_eq!((bare, 2 * three + one), (32, 12));
}

/// A constant that is too small cannot be watched.
#[test]
fn tiny_constants_stay_in_full() {
    let body = PRODUCTS.replace("r4, r5, r1", "r4, l1.w, r1") + "mov g[0], r1";
    assert_eq!(counts(&body, &BARE)[0], 0);
}

/// Sums of counters and positions need no flush, whatever else there is.
#[test]
fn counters_need_no_flush() {
    let body =
        "itof r1.x, vAbsTidFlat.x\nadd r1.y, r1.x, l1.y\nadd r1.z, r1.y, l1.w\nmov r1.w, l1.x\nmov g[0], r1";
    let program = compiled(body);
    let mut changed = without_flushes(&program).into_owned();
    let mut found = Vec::new();
    statements(&mut changed.functions[0].body, &mut |stmt| {
        if let StmtKind::Lane(inst) = &stmt.kind
            && matches!(inst.op, LaneOp::Add | LaneOp::BareAdd)
        {
            found.push(inst.op);
        }
    });
    // The last one adds a number whose last bit would be a denormal's.
    assert_eq!(found, [LaneOp::BareAdd, LaneOp::Add]);
}
