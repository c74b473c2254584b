//! Estimates and counts that were worked out by hand, and those that the documents of the time print.

use std::collections::BTreeMap;

use super::*;
use crate::vliw::{Bundle, Clause};

fn pixel(body: &str) -> String {
    format!(
        "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\ndcl_cb cb0[4]\n\
         dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n{body}\nend\n"
    )
}

fn report(text: &str, chip: &str, elements: &Elements, rounds: u32) -> Report {
    let kernel = crate::front(text.as_bytes()).unwrap();
    let program = crate::lower::lower_bare(&kernel).unwrap();
    analyze(&kernel, &program, Chip::named(chip).unwrap(), elements, rounds).unwrap()
}

fn usual(text: &str, chip: &str) -> Report {
    report(text, chip, &Elements::default(), ASSUMED_ROUNDS)
}

/// The worked examples of the technical overview of 2009, section 3.2: an RV670 with 64 thread processors, 16 fetch
/// units, 256 bits of bus, 775 and 1125 MHz (double data rate); two million threads.
#[test]
fn worked_estimates_of_rv670() {
    let threads = 2e6;
    let near = |seconds: f64, printed: f64, last_digit: f64| {
        assert!((seconds - printed).abs() <= last_digit / 2.0, "{seconds} is not {printed}");
    };
    let byte = Elements {
        resources: BTreeMap::from([(0, 8)]),
        outputs: BTreeMap::from([(0, 8)]),
        ..Elements::default()
    };
    let engine = 775e6;
    let of = |body: &str| report(&pixel(body), "RV670", &byte, 1);
    // One stream core instruction: 2 M / (64 * 775 MHz) = 0.04 ms.
    let add = of("add o0.x, vWinCoord0.x, vWinCoord0.y");
    assert_eq!((add.counts.bundles, add.counts.fetches), (1, 0));
    near(threads * add.clocks()[1].alu / engine, 0.04e-3, 0.01e-3);
    // One fetch: 2 M / (16 * 775 MHz) = 0.16 ms. One byte in, one out: 2 M * 16 / (256 * 2250 MHz) = 0.056 ms.
    let copy = of("sample_resource(0)_sampler(0) o0, vWinCoord0.xyxx");
    assert_eq!((copy.counts.fetches, copy.counts.writes, copy.costs.mean.bits), (1, 1, 16.0));
    near(threads * copy.clocks()[1].fetch / engine, 0.16e-3, 0.01e-3);
    near(threads * copy.clocks()[1].memory / engine, 0.056e-3, 0.001e-3);
    // All three together: 0.16 ms, bound by the fetch.
    let all = of("sample_resource(0)_sampler(0) r0.x, vWinCoord0.xyxx\nadd o0.x, r0.x, vWinCoord0.x");
    assert_eq!((all.counts.bundles, all.counts.fetches, all.costs.mean.bits), (1, 1, 16.0));
    assert_eq!((all.limit(), all.alu_to_fetch()), (Unit::Fetch, 1.0));
    near(all.seconds(threads), 0.16e-3, 0.01e-3);
    assert_eq!(all.reason(), "1.0 fetches on 16 fetch units take 2.9 times as long as memory");
    // Four floats in and out make 256 bits: 2 M * 256 / (256 * 2250 MHz) = 0.889 ms.
    let wide = usual(&pixel("sample_resource(0)_sampler(0) o0, vWinCoord0.xyxx"), "RV670");
    assert_eq!((wide.costs.mean.bits, wide.limit()), (256.0, Unit::Memory));
    near(wide.seconds(threads), 0.889e-3, 0.001e-3);
    assert!((wide.cycles(threads) - 0.889e-3 * engine).abs() < 1e3);
}

/// The overview's figure 14 and the tutorial of 2008: the simple product, by hand from the Brook+ that both print.
#[test]
fn the_simple_product_of_the_tutorial() {
    let text = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\ndcl_cb cb0[1]\n\
        dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
        dcl_resource_id(1)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
        dcl_literal l0, 0.0, 1.0, 1.0, 0.0\n\
        mov r0, vWinCoord0.xxxy\nmov r0._yz_, l0.0xx0\nmov r1.x, l0.x\nmov r2.x, cb0[0].x\nwhileloop\n\
        lt r3.x, l0.x, r2.x\nbreak_logicalz r3.x\nsample_resource(0)_sampler(0) r4.x, r0.zw\n\
        sample_resource(1)_sampler(1) r5.x, r0.xy\nmad r1.x, r4.x, r5.x, r1.x\nadd r0, r0, l0\nsub r2.x, r2.x, l0.y\n\
        endloop\nmov o0, r1.x\nend\n";
    let simple = usual(text, "RV670");
    // "5 Registers, 7 ALU Instructions, 2 Gather Instructions, 48.57% ALU Utilization".
    assert_eq!((simple.code.gprs, simple.counts.bundles, simple.counts.fetches), (5, 7, 2));
    assert_eq!(format!("{:.2}", 100.0 * simple.packing()), "48.57");
    // "eight clauses": four of the stream cores, two of branches, one of fetches, one of writes.
    let c = &simple.counts;
    assert_eq!((c.alu_clauses, c.control, c.fetch_clauses, c.writes), (4, 2, 1, 1));
    // Three VLIW instructions before and after the loop, four in it: compare, leave, two of sums; two fetches.
    assert_eq!((simple.costs.mean.bundles, simple.costs.mean.fetches), (3.0 + 4.0 * 16.0, 32.0));
    assert_eq!((simple.costs.least.bundles, simple.costs.least.fetches), (7.0, 2.0));
    // A row of A or a column of B is one element in eight of a wave of 8 x 8; the output is four floats.
    assert_eq!(simple.costs.mean.bits, 16.0 * 2.0 * 32.0 / 8.0 + 128.0);
}

/// The tutorial's kernel of version 1: its loop as printed, with what the loop needs around it.
#[test]
fn the_blocked_product_of_the_tutorial() {
    let mut text = String::from(
        "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_cb cb0[2]\n\
         dcl_literal l0, 0.0, 1.0, 0.0, 0.0\ndcl_literal l1, 1, 1, 1, 1\n",
    );
    (0..8).for_each(|n| text += &format!("dcl_output_generic o{n}\n"));
    for n in 0..12 {
        text += &format!(
            "dcl_resource_id({n})_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n"
        );
    }
    text += "mov r37, cb0[0]\nmov r38, cb0[1]\nmov r0, vWinCoord0.xyxx\nmov r2, l0.xxxx\nmov r0.__z_, vWinCoord0.yyyy\n\
        mov r0.___w, r2.w\nmov r11, l1.0000\n";
    (3..11).for_each(|n| text += &format!("mov r{n}, l0.0000\n"));
    text += "whileloop\nitof r11._y__, r11.x\nge r11._y__, r11.y, r37.x\nbreak_logicalnz r11.y\n";
    (8..12).for_each(|n| text += &format!("sample_resource({n})_sampler({n}) r{}, r0.xwxx\n", 13 + n));
    (0..8).for_each(|n| text += &format!("sample_resource({n})_sampler({n}) r{}, r0.wzww\n", 13 + n));
    for n in 0..8 {
        let (a, c) = (13 + n, 3 + n);
        text += &format!(
            "mad r12, r{a}.y, r22, r{c}\nmad r12, r{a}.x, r21, r12\nmad r12, r{a}.z, r23, r12\nmad r{c}, r{a}.w, r24, r12\n"
        );
    }
    text += "mov r0.___w, r2.w\nadd r2.___w, r2.w, r38.y\niadd r11.x___, r11.x, l1\nendloop\n";
    (0..8).for_each(|n| text += &format!("mov o{n}, r{}\n", 3 + n));
    text += "end\n";
    let blocked = usual(&text, "RV670");
    // "12 Gather Instructions", in clauses of at most eight.
    assert_eq!((blocked.counts.fetches, blocked.counts.fetch_clauses), (12, 2));
    // "26 Registers, 49 ALU Instructions, 85.31% ALU utilization", with a beginning and an end that are not printed; of the
    // loop, 128 products and sums fill 26 to 32 VLIW instructions.
    assert!((23..=29).contains(&blocked.code.gprs), "{}", blocked.code.gprs);
    assert!((37..=49).contains(&blocked.counts.bundles), "{}", blocked.counts.bundles);
    assert!((0.75..=0.90).contains(&blocked.packing()), "{}", blocked.packing());
    // Fetches decide, not memory: the tutorial measured 97 % and more of cache hits.
    assert_eq!(blocked.limit(), Unit::Fetch);
}

#[test]
fn counts_of_each_kind() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_lds_id(0) 512\ndcl_literal l0, 1, 2, 3, 4\n\
        ishl r0.x, vAbsTid0.x, l0.y\nuav_raw_load_id(0) r1.xy, r0.x\nlds_store_id(0) l0.w, r1.x\nfence_threads_lds\n\
        lds_load_id(0) r2.x, l0.w\nif_logicalnz r2.x\nwhileloop\niadd r2.x, r2.x, r1.y\nbreak_logicalz r2.x\nendloop\n\
        endif\nuav_add_id(0) r0.x, r2.x\nuav_raw_store_id(0) mem0.x___, r0.x, r2.x\nend\n";
    let report = usual(text, "Cypress");
    let stats = report.stats;
    assert_eq!((stats.load, stats.store, stats.atomic, stats.lds, stats.group), (1, 1, 1, 2, 64));
    // The flow: if, loop, break.
    assert_eq!((stats.flow, stats.loops, stats.fence, stats.lds_bytes, stats.fetch), (3, 1, 1, 512, 0));
    // 64 bits are loaded, 32 stored, 32 read and 32 written by the atomic.
    assert_eq!((stats.integer, report.costs.mean.bits), (2, 160.0));
    // Without the loop at least, with both sides and all its rounds at most.
    assert!(report.costs.least.bundles < report.costs.mean.bundles);
    assert!(report.costs.mean.bundles < report.costs.most.bundles);
}

#[test]
fn independent_operations_share_a_vliw_instruction() {
    // Four adds of one vector fit one instruction, a chain of three scalars does not.
    let wide = usual(&pixel("add r0, vWinCoord0.xyxy, cb0[0]\nmov o0, r0"), "Cypress");
    assert_eq!((wide.stats.float, wide.counts.bundles), (4, 1));
    let chain = "add r0.x, vWinCoord0.x, cb0[0].x\nadd r1.x, r0.x, cb0[0].y\nadd o0.x, r1.x, cb0[0].z";
    let chain = usual(&pixel(chain), "Cypress");
    assert_eq!((chain.stats.float, chain.counts.bundles), (3, 3));
    // Two square roots wait for the one transcendental unit.
    let roots = usual(&pixel("sqrt_vec o0.xy, vWinCoord0.xyxy"), "Cypress");
    assert_eq!((roots.stats.transcendental, roots.counts.bundles), (2, 2));
}

/// Values that a loop carries are in registers, although all threads have the same.
#[test]
fn what_loops_carry_is_in_registers() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_cb cb0[8]\ndcl_literal l0, 1,0,0,0\n\
        mov r0, cb0[0]\nmov r1, cb0[1]\nmov r9.x, cb0[4].x\nwhileloop\nbreak_logicalz r9.x\nmad r0, r0, r0, r0\n\
        mad r1, r1, r1, r1\niadd r9.x, r9.x, l0.y\nendloop\nadd r0, r0, r1\nmov g[vAbsTidFlat.x], r0\nend\n";
    let report = usual(text, "Cypress");
    // Nine words and the address; R0 and R1 bring the numbers of thread and group.
    assert!((3..=5).contains(&report.code.gprs), "{}", report.code.gprs);
    assert!(report.costs.mean.bundles > 30.0, "16 rounds of two VLIW instructions and more");
}

/// Registers, LDS and the size of a group limit the waves of a SIMD engine.
#[test]
fn waves_by_registers_and_lds() {
    let cypress = Chip::named("Cypress").unwrap();
    // 248 registers: the table of the guides of the time.
    for (gprs, waves) in [(8, 31), (10, 24), (16, 15), (32, 7), (62, 4), (124, 2)] {
        assert_eq!(cypress.waves(gprs, None), (waves, Holder::Registers));
    }
    assert_eq!(cypress.waves(1, None), (32, Holder::Waves));
    // All of the LDS for a group of one wave: one wave.
    assert_eq!(cypress.waves(4, Some((64, 32768))), (1, Holder::Lds));
    assert_eq!(cypress.waves(4, Some((64, 32769))), (0, Holder::Lds));
    assert_eq!(cypress.waves(4, Some((256, 8192))), (16, Holder::Lds));
    assert_eq!(cypress.waves(4, Some((64, 0))), (8, Holder::Groups));
    assert_eq!(cypress.waves(62, Some((256, 0))), (4, Holder::Registers));
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_lds_id(0) 32768\ndcl_raw_uav_id(0)\ndcl_literal l0, 2,0,0,0\n\
        ishl r0.x, vTidInGrpFlat.x, l0.x\nlds_store_id(0) r0.x, r0.x\nfence_threads_lds\nlds_load_id(0) r1.x, r0.x\n\
        uav_raw_store_id(0) mem.x, r0.x, r1.x\nend\n";
    let report = usual(text, "Cypress");
    assert_eq!((report.waves, report.holder), (1, Holder::Lds));
    // An RV770 has half as much.
    assert_eq!(usual(text, "RV770").waves, 0);
}

/// Loops whose rounds follow from constants run as often; others as often as is assumed.
#[test]
fn rounds_of_loops() {
    let text = |bound: &str| {
        pixel(&format!(
            "dcl_literal l0, 0, 1, 10, 0\nmov r0.x, l0.x\nmov r1.x, l0.x\nwhileloop\nige r2.x, r0.x, {bound}\n\
             break_logicalnz r2.x\nadd r1.x, r1.x, vWinCoord0.x\niadd r0.x, r0.x, l0.y\nendloop\nmov o0.x, r1.x"
        ))
    };
    let known = usual(&text("l0.z"), "Cypress");
    assert_eq!(known.code.loops()[0].rounds, Some(10));
    assert_eq!(known.costs.least, known.costs.most);
    let open = |rounds| report(&text("cb0[0].x"), "Cypress", &Elements::default(), rounds);
    assert_eq!(open(5).code.loops()[0].rounds, None);
    let once = open(1).costs.mean.bundles;
    let body = open(2).costs.mean.bundles - once;
    assert_eq!(open(7).costs.mean.bundles, once + 6.0 * body);
    assert_eq!(open(7).costs.least.bundles, once);
    assert!(body >= 2.0);
}

/// What all threads of a wave read is read once, rows and columns once for each.
#[test]
fn the_cache_serves_a_wave() {
    let bits = |address: &str| {
        let body = format!("mov r0, cb0[0]\nmov r0.x, {address}\nsample_resource(0)_sampler(0) o0, r0.xyxx");
        usual(&pixel(&body), "RV670").costs.mean.bits - 128.0
    };
    assert_eq!([bits("vWinCoord0.x"), bits("vWinCoord0.y"), bits("cb0[1].x")], [16.0, 16.0, 2.0]);
    let own = usual(&pixel("sample_resource(0)_sampler(0) o0, vWinCoord0.xyxx"), "RV670");
    assert_eq!(own.costs.mean.bits, 256.0);
}

/// Clauses hold 128 words of 64 bits, and 8 or 16 fetches.
#[test]
fn clauses_have_limits() {
    let mut body = String::new();
    for n in 0..20 {
        let (x, y) = (n % 8, n / 8);
        body += &format!("sample_resource(0)_sampler(0)_aoffimmi({x}.0,{y}.0,0.0) r{n}, vWinCoord0.xyxx\n");
    }
    body += "mov r20, r0\n";
    for n in 1..20 {
        body += &format!("add r20, r20, r{n}\n");
    }
    let body = pixel(&(body + "mov o0, r20"));
    let lengths = |chip: &str| -> Vec<usize> {
        let fetches =
            |clause: &Clause| if let Clause::Fetch(list) = clause { Some(list.len()) } else { None };
        usual(&body, chip).code.clauses.iter().filter_map(fetches).collect()
    };
    assert_eq!((lengths("RV670"), lengths("RV770")), (vec![8, 8, 4], vec![16, 4]));
    let mut long = String::from("mov r0, vWinCoord0.xyxy\n");
    (0..100).for_each(|n| long += &format!("mad r0, r0, r0, cb0[{}]\n", n % 4));
    let long = usual(&pixel(&(long + "mov o0, r0")), "Cypress");
    let words = |clause: &Clause| match clause {
        Clause::Alu(bundles) => Some(bundles.iter().map(Bundle::words).sum::<usize>()),
        _ => None,
    };
    let words: Vec<usize> = long.code.clauses.iter().filter_map(words).collect();
    assert!(words.len() >= 4 && words.iter().all(|words| *words <= 128), "{words:?}");
}
