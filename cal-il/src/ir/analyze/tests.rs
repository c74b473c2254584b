//! Estimates and counts that were worked out by hand.

use super::*;

fn report(body: &str, target: &str) -> Report {
    report_of(body, target, &Elements::default())
}

fn report_of(body: &str, target: &str, elements: &Elements) -> Report {
    let text = format!(
        "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\ndcl_cb cb0[4]\n\
         dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n{body}\nend\n"
    );
    let kernel = crate::front(text.as_bytes()).unwrap();
    let program = crate::lower::lower(&kernel).unwrap();
    analyze(&kernel, &program, Target::named(target).unwrap(), elements)
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
    // One stream core instruction: 2 M / (64 * 775 MHz) = 0.04 ms.
    let add = report_of("add o0.x, vWinCoord0.x, vWinCoord0.y", "RV670", &byte);
    assert_eq!((add.stats.vliw, add.stats.fetch), (1, 0));
    near(threads * add.alu_clocks / engine, 0.04e-3, 0.01e-3);
    // One fetch: 2 M / (16 * 775 MHz) = 0.16 ms. One byte in, one out: 2 M * 16 / (256 * 2250 MHz) = 0.056 ms.
    let copy = report_of("sample_resource(0)_sampler(0) o0, vWinCoord0.xyxx", "RV670", &byte);
    assert_eq!((copy.stats.fetch, copy.stats.export, copy.stats.memory_bits), (1, 1, 16));
    near(threads * copy.fetch_clocks / engine, 0.16e-3, 0.01e-3);
    near(threads * copy.memory_clocks / engine, 0.056e-3, 0.001e-3);
    // All three together: 0.16 ms, bound by the fetch.
    let text = "sample_resource(0)_sampler(0) r0.x, vWinCoord0.xyxx\nadd o0.x, r0.x, vWinCoord0.x";
    let all = report_of(text, "RV670", &byte);
    assert_eq!((all.stats.vliw, all.stats.fetch, all.stats.memory_bits), (1, 1, 16));
    assert_eq!((all.limit, all.alu_to_fetch), (Unit::Fetch, 1.0));
    near(all.seconds(threads), 0.16e-3, 0.01e-3);
    // Four floats in and out make 256 bits: 2 M * 256 / (256 * 2250 MHz) = 0.889 ms.
    let wide = report("sample_resource(0)_sampler(0) o0, vWinCoord0.xyxx", "RV670");
    assert_eq!((wide.stats.memory_bits, wide.limit), (256, Unit::Memory));
    near(wide.seconds(threads), 0.889e-3, 0.001e-3);
    assert!((wide.cycles(threads) - 0.889e-3 * engine).abs() < 1e3);
}

#[test]
fn counts_of_each_kind() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_lds_id(0) 512\ndcl_literal l0, 1, 2, 3, 4\n\
        ishl r0.x, vAbsTid0.x, l0.y\nuav_raw_load_id(0) r1.xy, r0.x\nlds_store_id(0) l0.w, r1.x\nfence_threads_lds\n\
        lds_load_id(0) r2.x, l0.w\nif_logicalnz r2.x\nwhileloop\niadd r2.x, r2.x, r1.y\nbreak_logicalz r2.x\nendloop\n\
        endif\nuav_add_id(0) r0.x, r2.x\nuav_raw_store_id(0) mem0.x___, r0.x, r2.x\nend\n";
    let kernel = crate::front(text.as_bytes()).unwrap();
    let program = crate::lower::lower(&kernel).unwrap();
    let stats = Stats::of(&kernel, &program, 5, &Elements::default());
    // 64 bits are loaded, 32 stored. The flow: if, loop, break.
    assert_eq!((stats.load, stats.store, stats.atomic, stats.lds, stats.memory_bits), (1, 1, 1, 2, 96));
    assert_eq!((stats.flow, stats.loops, stats.fence, stats.lds_bytes, stats.fetch), (3, 1, 1, 512, 0));
    // The shift, the sum; flow separates the two.
    assert_eq!((stats.integer, stats.vliw), (2, 2));
}

#[test]
fn independent_operations_share_a_vliw_instruction() {
    // Four adds of one vector fit one instruction, a chain of three scalars does not.
    let wide = report("add r0, vWinCoord0.xyxy, cb0[0]\nmov o0, r0", "Cypress");
    assert_eq!(wide.stats.float, 4);
    let chain = report(
        "add r0.x, vWinCoord0.x, cb0[0].x\nadd r1.x, r0.x, cb0[0].y\nadd o0.x, r1.x, cb0[0].z",
        "Cypress",
    );
    assert_eq!((chain.stats.float, chain.stats.vliw), (3, 3));
    // Two square roots wait for the one transcendental unit.
    let roots = report("sqrt_vec o0.xy, vWinCoord0.xyxy", "Cypress");
    assert_eq!((roots.stats.transcendental, roots.stats.vliw), (2, 2));
}
