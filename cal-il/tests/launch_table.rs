//! What modules say of the launch table, of group memory, and what they take from known sizes.

mod opcodes;

use std::collections::BTreeSet;

use opcodes::{count, opcodes};
use recal_il::format::Format;
use recal_il::spirv::launch::Slot;
use recal_il::spirv::{Assume, Mode, Module, Shape, Surfaces, Target, emit};

const RETURN: u32 = 253;

fn module(text: &str, assume: Assume) -> Module {
    let program = recal_il::compile(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let target = Target { max_group_size: [1024, 1024, 64], ..Target::full(Mode::Faithful) };
    emit(&program, &target, assume).expect("the device has everything")
}

fn pixel(body: &str) -> String {
    format!(
        "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\ndcl_cb cb0[2]\n\
         dcl_resource_id(3)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
         dcl_literal l0, 0, 1, 2, 3\n{body}end\n"
    )
}

#[test]
fn every_object_has_two_rows_of_its_own() {
    let plain = "sample_resource(3)_sampler(0) r0, vWinCoord0.xyxx\nadd o0, r0, cb0[1]\n";
    let corners = format!("dcl_input_interp(linear) v0.xy__\n{}", plain.replace("cb0[1]", "v0.xyxy"));
    for (body, first) in [(plain, 2), (corners.as_str(), 26)] {
        let layout = module(&pixel(body), Assume::NOTHING).layout;
        let mut rows = BTreeSet::new();
        for row in layout.slots.values().flat_map(|row| [*row, row + 1]) {
            assert!(rows.insert(row), "row {row} belongs to two of {:?}", layout.slots);
        }
        // The launch has those before, and nothing lies behind the last.
        assert_eq!((rows.first(), rows.last()), (Some(&first), Some(&(layout.rows - 1))));
    }
}

#[test]
fn surfaces_are_all_slots_but_samplers() {
    let layout = module(
        &pixel("sample_resource(3)_sampler(0) r0, vWinCoord0.xyxx\nadd o0, r0, cb0[1]\n"),
        Assume::NOTHING,
    )
    .layout;
    let slots: Vec<Slot> = layout.slots.keys().copied().collect();
    let surfaces = [Slot::Empty, Slot::Resource(3), Slot::Constant(0), Slot::Output(0)];
    assert_eq!(slots, [&surfaces[..], &[Slot::Sampler(0)]].concat());
    assert_eq!(layout.surfaces(), surfaces.len());
}

#[test]
fn a_number_that_is_computed_may_be_any() {
    let slots = |body: &str| {
        let layout = module(&pixel(body), Assume::NOTHING).layout;
        let resources = layout.slots.keys().filter(|slot| matches!(slot, Slot::Resource(_))).count();
        let samplers = layout.slots.keys().filter(|slot| matches!(slot, Slot::Sampler(_))).count();
        (resources, samplers)
    };
    assert_eq!(slots("sample_ext_resource(3)_sampler(0) o0, vWinCoord0.xyxx, l0.x, l0.x\n"), (1, 1));
    for body in [
        "sample_ext_resource(0)_sampler(0) o0, vWinCoord0.xyxx, cb0[0].x, l0.x\n",
        "sample_ext_resource(3)_sampler(0) o0, vWinCoord0.xyxx, l0.x, cb0[0].x\n",
        "if_logicalnz cb0[1].x\nload_ext_resource(0) r0, vWinCoord0.xyxx, cb0[0].x\nendif\nmov o0, r0\n",
    ] {
        assert_eq!(slots(body), (4, 16), "{body}");
    }
}

#[test]
fn threads_that_exchange_have_memory_for_it() {
    let shared = |how: &str| {
        let text = format!(
            "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_lds_size_per_thread 4\ndcl_literal l0, 0, 1, 2, 3\n\
             lds_write_vec mem0, l0\nlds_read_vec{how} r0, vTidInGrp0.x000\nmov g[vAbsTid.x], r0\nend\n"
        );
        module(&text, Assume::NOTHING).shared
    };
    // Four words of each thread: what it loads for the others of its quad.
    assert_eq!(shared("_neighborExch") - shared(""), 64 * 4 * 4);
}

/// Who calls a function asks behind it whether the thread is gone, if it may be.
#[test]
fn callers_of_callers_leave_with_a_thread_that_is_discarded() {
    let returns = |main: &str, gone: &str| {
        let functions = format!(
            "func 1\nret_logicalnz cb0[0].x\ncall 2\nadd r0, r0, r0\nret\nendfunc\n\
             func 2\nret_logicalnz cb0[0].y\n{gone}add r0, r0, cb0[1]\nret\nendfunc\n"
        );
        let text = pixel(&format!("mov r0, vWinCoord0.xyxy\n{main}mov o0, r0\nendmain\n{functions}"));
        count(&opcodes(&module(&text, Assume::NOTHING)), RETURN)
    };
    let discard = "discard_logicalnz r0.x\n";
    let more = |main: &str| returns(main, discard) - returns(main, "");
    // Main asks behind its call, and so does the function between, if there is one.
    assert_eq!(more("call 1\n"), more("call 2\n") + 1);
}

#[test]
fn surfaces_that_cover_the_domain_are_told_from_others() {
    let shape = |size| Some(Shape { size, format: Format::Float32x1 });
    let one = |domain| Surfaces::new(&[shape([8, 6, 64])], domain);
    let inside = one(Some([1, 2, 3, 3]));
    assert_ne!(inside, one(None));
    for domain in [[1, 2, 5, 4], [1, 0, 5, 6]] {
        assert_eq!(one(Some(domain)), inside, "{domain:?}");
    }
    for domain in [[1, 2, 8, 3], [1, 2, 3, 5], [1, 0, 7, 7], [u32::MAX, 2, 3, 3]] {
        assert_ne!(one(Some(domain)), inside, "{domain:?}");
    }
    // To both edges of a square surface.
    let square = |domain| Surfaces::new(&[shape([8, 8, 64])], Some(domain));
    assert_eq!(square([2, 2, 6, 6]), square([1, 2, 3, 3]));
    // Columns for rows: a square domain fits both ways, a long one only in one.
    assert_ne!(one(Some([1, 2, 7, 2])), inside);
}

#[test]
fn places_in_a_surface_that_covers_the_domain_need_no_test() {
    let text = pixel("sample_resource(3)_sampler(0) o0, vWinCoord0.xyxx\n");
    let length = |size: [u32; 3]| {
        let shape = |size| Some(Shape { size, format: Format::Float32x4 });
        let slots = module(&text, Assume::NOTHING).layout.slots;
        let shapes: Vec<Option<Shape>> = slots
            .keys()
            .map(|slot| match slot {
                Slot::Resource(_) => shape(size),
                Slot::Output(_) => shape([64, 64, 64]),
                _ => None,
            })
            .collect();
        let surfaces = Surfaces::new(&shapes, Some([0, 0, 64, 64]));
        opcodes(&module(&text, Assume { surfaces, default_samplers: true, ..Assume::NOTHING })).len()
    };
    assert!(length([65, 65, 128]) < length([63, 65, 128]));
}

/// What a branch has asked is known in it, and nowhere else.
#[test]
fn indices_are_bounded_in_their_branch_only() {
    let length = |asked: &str, inside: &str, behind: &str| {
        let text = format!(
            "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_lds_id(0) 256\ndcl_cb cb0[2]\ndcl_literal l0, 128, 0, 1, 2\n\
             mov r1.xy, cb0[0].xyxx\nult r2.x, r1.{asked}, l0.x\nif_logicalnz r2.x\n{inside}endif\n\
             {behind}mov g[vAbsTid.x], r3\nend\n"
        );
        opcodes(&module(&text, Assume::NOTHING)).len()
    };
    let (load, other) = ("lds_load_id(0) r3.x, r1.x\n", "mov r3.x, vAbsTid0.x\n");
    assert!(length("x", load, "") < length("y", load, ""));
    assert_eq!(length("x", other, load), length("y", other, load));
    let otherwise = format!("{other}else\n{load}");
    assert_eq!(length("x", &otherwise, ""), length("y", &otherwise, ""));
}
