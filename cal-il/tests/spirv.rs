//! Emitted modules are valid SPIR-V for Vulkan 1.2, for every lane operation and every accepted text, for a device
//! that has everything and for one that has little. Needs `spirv-val`.

mod opcodes;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use opcodes::{count, opcodes};
use recal_il::inst::{Interface, Stage};
use recal_il::ir::{Function, LaneInst, LaneOp, Operand, Output, Program, Reg, Stmt, StmtKind};
use recal_il::isa::lane::Class;
use recal_il::spirv::{Assume, Formats, Mode, Module, Target, Unsupported, emit};

/// A device with everything.
fn rich(mode: Mode) -> Target {
    Target { max_group_size: [1024, 1024, 64], max_shared: 49152, ..Target::full(mode) }
}

/// A device with the least that takes part.
fn poor() -> Target {
    Target {
        float64: false,
        int64: false,
        int64_atomics: false,
        int64_shared_atomics: false,
        rte32: false,
        rte64: false,
        nan_preserve32: false,
        nan_preserve64: false,
        denorm_preserve32: false,
        denorm_preserve64: false,
        gradual32: false,
        exact64: false,
        fused64: false,
        divides64: false,
        roots64: false,
        fences_apart: false,
        longest_run: 64,
        skips: false,
        large_tiles: false,
        max_shared: 32768,
        max_uniform: 16384,
        ..rich(Mode::Faithful)
    }
}

const ASSUMPTIONS: [Assume; 7] = [
    Assume { formats: Formats::FourWords, default_samplers: true, ..Assume::NOTHING },
    Assume { formats: Formats::Words, default_samplers: true, ..Assume::NOTHING },
    Assume::NOTHING,
    Assume { formats: Formats::Words, padded: true, buffers: true, ..Assume::NOTHING },
    Assume { buffers: true, ..Assume::NOTHING },
    Assume { uniforms: true, formats: Formats::FourWords, default_samplers: true, ..Assume::NOTHING },
    Assume { buffers: true, uniforms: true, ..Assume::NOTHING },
];

/// What the validator says against a module.
fn complaints(module: &Module) -> String {
    let mut child = Command::new("spirv-val")
        .args(["--target-env", "vulkan1.2", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the validator starts");
    let bytes: Vec<u8> = module.words.iter().flat_map(|word| word.to_le_bytes()).collect();
    child.stdin.take().expect("piped").write_all(&bytes).expect("the validator reads its input");
    let output = child.wait_with_output().expect("the validator ends");
    let text = [output.stdout, output.stderr].concat();
    if output.status.success() { String::new() } else { String::from_utf8_lossy(&text).into_owned() }
}

fn check(name: &str, program: &Program, target: &Target, assume: Assume) -> Result<(), Unsupported> {
    let module = emit(program, target, assume)?;
    let text = complaints(&module);
    if !text.is_empty() {
        let path = std::env::temp_dir().join("recal-invalid.spv");
        let bytes: Vec<u8> = module.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let _ = std::fs::write(&path, bytes);
        panic!("{name} for {:?}, {assume:?}: {text}\nmodule in {}", target.mode, path.display());
    }
    Ok(())
}

/// o0 = op(registers 0, 1, …)
fn one_lane_op(op: LaneOp) -> Program {
    let words: usize = op.arguments().iter().map(|class| class.words()).sum();
    let args = (0..words as u32).map(|k| Operand::Reg(Reg(k))).collect();
    let inst = LaneInst { op, dst: [Reg(8), Reg(if op.result() == Class::Q { 9 } else { 8 })], args };
    let span = Default::default();
    // Twice, and once more under a condition.
    let body = vec![
        Stmt { kind: StmtKind::Lane(inst.clone()), span },
        Stmt {
            kind: StmtKind::If {
                cond: recal_il::ir::Cond { operand: Operand::Reg(Reg(8)), nonzero: true },
                then: vec![Stmt { kind: StmtKind::Lane(inst.clone()), span }],
                otherwise: vec![],
            },
            span,
        },
        Stmt { kind: StmtKind::Lane(inst), span },
    ];
    let mut interface = Interface::default();
    interface.outputs.insert(0, 15);
    Program {
        stage: Stage::Pixel,
        declared: interface.clone(),
        interface,
        functions: vec![Function { label: None, body }],
        registers: 12,
        outputs: vec![Output { index: 0, registers: [8, 9, 10, 11].map(Reg) }],
        warnings: vec![],
    }
}

fn every_lane_operation_is_valid() {
    for op in LaneOp::ALL {
        let program = one_lane_op(*op);
        for mode in [Mode::Faithful, Mode::Native] {
            check(op.name(), &program, &rich(mode), ASSUMPTIONS[0]).unwrap();
        }
        // Integer sequences for what doubles do inexactly.
        let rough = Target { fused64: false, divides64: false, roots64: false, ..rich(Mode::Faithful) };
        check(op.name(), &program, &rough, ASSUMPTIONS[0]).unwrap();
        match check(op.name(), &program, &poor(), ASSUMPTIONS[0]) {
            Ok(()) => {}
            Err(Unsupported(reason)) => {
                assert!(
                    op.arguments().contains(&Class::Q) || op.result() == Class::Q,
                    "{}: {reason}",
                    op.name()
                );
            }
        }
    }
}

fn every_accepted_text_is_valid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/il/accept");
    let mut count = 0;
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths.into_iter().filter(|path| path.extension().is_some_and(|e| e == "il")) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // Other tests see to it that the texts compile.
        let Ok(program) = recal_il::compile(&std::fs::read(&path).unwrap()) else { continue };
        for assume in ASSUMPTIONS {
            for mode in [Mode::Faithful, Mode::Native] {
                // A text may ask for more than any device has; it is refused then, not miscompiled.
                if let Err(Unsupported(reason)) = check(&name, &program, &rich(mode), assume) {
                    eprintln!("{name}: {reason}");
                }
            }
            let _ = check(&name, &program, &poor(), assume);
        }
        count += 1;
    }
    assert!(count > 0);
}

/// Switches have limits, and lengths of instructions 16 bits. The time is linear in the arms.
fn long_switches_are_valid() {
    let program = |cases: String| {
        let text = format!(
            "il_ps_2_0\ndcl_output_generic o0\ndcl_literal l0, 0, 1, 2, 3\nmov r0, l0\nswitch r0.x\n\
             {cases}mov r1, l0.y\nbreak\ndefault\nmov r1, l0.z\nbreak\nendswitch\nmov o0, r1\nend\n"
        );
        recal_il::compile(text.as_bytes()).unwrap()
    };
    let labels = program((0..40_000).map(|k| format!("case {k}\n")).collect());
    check("a switch of many labels", &labels, &rich(Mode::Native), ASSUMPTIONS[0]).unwrap();
    let arms = |count| {
        program(
            (0..count).map(|k| format!("case {k}\nmov r1, l0.w\nbreak\n")).collect::<String>() + "case -1\n",
        )
    };
    check("a switch of many arms", &arms(2_000), &rich(Mode::Native), ASSUMPTIONS[0]).unwrap();
    // The validator would take minutes.
    emit(&arms(40_000), &rich(Mode::Native), ASSUMPTIONS[0]).unwrap();
}

/// Loops that load and count become two, unless an access is too much code to be repeated.
fn unrolled_loops_are_valid() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases");
    const LOOP_MERGE: u32 = 246;
    let loops = |module: &Module| count(&opcodes(module), LOOP_MERGE);
    for (name, anything) in [
        ("flow/unroll_float.il", 2),
        ("flow/unroll_two_exits.il", 2),
        ("flow/unroll_integer_wraps.il", 2),
        ("texture/sample_in_loop.il", 1),
    ] {
        let text = std::fs::read(cases.join(name)).expect("the case is there");
        let program = recal_il::compile(&text).expect("the case is right");
        for mode in [Mode::Faithful, Mode::Native] {
            for (assume, wanted) in ASSUMPTIONS.into_iter().zip([2, 2, anything]) {
                check(name, &program, &rich(mode), assume).expect("the device can do all");
                let module = emit(&program, &rich(mode), assume).expect("the device can do all");
                // The one with products runs bare first, and then in full.
                let bare = mode == Mode::Faithful && name == "texture/sample_in_loop.il";
                assert_eq!(loops(&module), if bare { 2 * wanted } else { wanted }, "{name}, {assume:?}");
            }
        }
    }
}

/// Each of 14 functions calls the next one twice: 2^14 calls of the last, but 15 functions.
fn deep_calls_are_emitted_at_once() {
    let mut text = String::from(
        "il_ps_2_0\ndcl_output_generic o0\ndcl_literal l0, 0, 1, 2, 3\nmov r0, l0\ncall 1\nmov o0, r0\nendmain\n",
    );
    (1..15).for_each(|k| text += &format!("func {k}\ncall {0}\ncall {0}\nret\n", k + 1));
    text += "func 15\niadd r0, r0, l0.y\nret\nend\n";
    let program = recal_il::compile(text.as_bytes()).unwrap();
    check("deep calls", &program, &rich(Mode::Native), ASSUMPTIONS[0]).unwrap();
}

fn what_a_device_lacks_is_named() {
    let double = one_lane_op(LaneOp::Dadd);
    let refused = emit(&double, &poor(), ASSUMPTIONS[0]).unwrap_err();
    assert!(refused.0.contains("64-bit floats"), "{refused}");
    let text = b"il_cs_2_0\ndcl_num_thread_per_group 512\nend\n";
    let program = recal_il::compile(text).unwrap();
    let small = Target { max_group: 256, ..rich(Mode::Faithful) };
    let refused = emit(&program, &small, ASSUMPTIONS[0]).unwrap_err();
    assert!(refused.0.contains("512") && refused.0.contains("256"), "{refused}");
}

recal_needs::tests!([recal_needs::Need::program("spirv-val")] => every_lane_operation_is_valid every_accepted_text_is_valid long_switches_are_valid unrolled_loops_are_valid deep_calls_are_emitted_at_once what_a_device_lacks_is_named);
