//! Arithmetic instructions: for every row and specifier one kernel that applies it in many spellings to the same
//! inputs, and one with literal operands, which the compiler may fold.

use std::fmt::Write as _;

use rayon::prelude::*;
use recal_hal::{Extent, Format};
use recal_il::isa::{Row, Scope, TABLE};

use super::values::{self, Random};
use crate::case::{Buffer, Case, Needs, Slot};
use crate::reference::vector::{Form, evaluate};
use crate::reference::{Control, Kind, Meaning, Relop, Rule, Zeroop, meaning};

/// Threads of a kernel; each tries four tuples of inputs with a per-component instruction.
const THREADS: usize = 256;
/// What destinations hold before, as hexadecimal words of a literal.
const OLD: [u32; 4] = [0x0BAD_0001, 0x0BAD_0002, 0x0BAD_0003, 0x0BAD_0004];

/// Cases of all rows that the reference has a meaning for.
pub fn alu() -> Vec<Case> {
    let rows: Vec<&Row> = TABLE.iter().filter(|row| row.scope == Scope::Compute).collect();
    rows.into_par_iter().flat_map_iter(row_cases).collect()
}

fn row_cases(row: &Row) -> Vec<Case> {
    let mut cases = Vec::new();
    if let Some(meaning) = meaning(row.mnemonic) {
        for (suffix, control) in specifiers(row) {
            let mut forms = forms(&meaning);
            if RARE_MODIFIERS_ON.contains(&row.mnemonic) {
                rare_modifiers(&meaning, &mut forms);
            }
            if SATURATED_DOUBLES.contains(&row.mnemonic) {
                let sources = vec![("", ""); meaning.sources.len()];
                forms.push(Form { scale: "_sat", mask: ".xy", sources, ..Form::default() });
            }
            let inputs = inputs(row, &meaning);
            let name = format!("alu/{}{suffix}", row.mnemonic);
            cases.push(kernel(&name, row, &suffix, &control, &meaning, &forms, &inputs));
            cases.push(literals(&format!("{name}/literal"), row, &suffix, &control, &meaning, &inputs));
        }
        for alias in row.aliases {
            let inputs = inputs(row, &meaning);
            for (suffix, control) in specifiers(row).into_iter().take(1) {
                let name = format!("alu/{}/as {alias}{suffix}", row.mnemonic);
                let mut case = literals(&name, row, &suffix, &control, &meaning, &inputs);
                case.text =
                    case.text.replace(&format!("{}{suffix} ", row.mnemonic), &format!("{}{suffix} ", alias));
                cases.push(case);
            }
        }
    }
    cases
}

/// What a specifier does to the control of an instruction.
type Apply<'a> = &'a dyn Fn(&mut Control);

/// Specifier suffixes that an instruction allows, with what they mean.
fn specifiers(row: &Row) -> Vec<(String, Control)> {
    let mut all = vec![(String::new(), Control::default())];
    let mut multiply = |options: &[(String, Apply<'_>)], optional: bool| {
        let bare = if optional { all.clone() } else { Vec::new() };
        let with = all.iter().flat_map(|(text, control)| {
            options.iter().map(move |(suffix, apply)| {
                let mut control = *control;
                apply(&mut control);
                (format!("{text}{suffix}"), control)
            })
        });
        all = bare.into_iter().chain(with).collect();
    };
    if row.controls.contains("[_ieee]") {
        multiply(&[("_ieee".into(), &|c| c.ieee = true)], true);
    }
    if row.controls.contains("_nrm4") {
        multiply(&[("_nrm3".into(), &|_| ()), ("_nrm4".into(), &|c| c.nrm4 = true)], true);
    }
    if row.controls.contains("[_normalize]") {
        multiply(&[("_normalize".into(), &|c| c.normalize = true)], true);
    }
    if row.controls.contains("[_zeroop(z)]") {
        multiply(
            &[
                ("_zeroop(fltmax)".into(), &|c| c.zeroop = Some(Zeroop::Fltmax)),
                ("_zeroop(zero)".into(), &|c| c.zeroop = Some(Zeroop::Zero)),
                ("_zeroop(infinity)".into(), &|c| c.zeroop = Some(Zeroop::Infinity)),
                ("_zeroop(inf_else_max)".into(), &|c| c.zeroop = Some(Zeroop::Infinity)),
            ],
            true,
        );
    }
    if row.controls.contains("_relop(op)") && row.mnemonic != "dmovc" {
        use Relop::*;
        let relops = [("ne", Ne), ("eq", Eq), ("ge", Ge), ("gt", Gt), ("le", Le), ("lt", Lt)];
        let set: Vec<_> = relops
            .map(|(name, op)| (format!("_relop({name})"), move |c: &mut Control| c.relop = Some(op)))
            .into();
        let options: Vec<_> = set.iter().map(|(s, f)| (s.clone(), f as Apply<'_>)).collect();
        multiply(&options, false);
    }
    if row.controls.contains("_cmpval(v)") {
        let values = [0.0, 0.5, 1.0, -0.5, -1.0];
        let set: Vec<_> =
            values.map(|v: f32| (format!("_cmpval({v:.1})"), move |c: &mut Control| c.cmpval = v)).into();
        let options: Vec<_> = set.iter().map(|(s, f)| (s.clone(), f as Apply<'_>)).collect();
        multiply(&options, false);
    }
    all
}

/// Instructions that are tried with every source modifier: the modifiers are applied before the instruction sees
/// anything, so a few stand for all.
const RARE_MODIFIERS_ON: &[&str] = &["add", "mul", "max", "lt", "flr", "ftoi", "dp4", "mov"];

/// Doubles that `_sat` limits.
const SATURATED_DOUBLES: &[&str] = &["dadd", "dmul", "dmad", "ddiv"];

/// Modifiers beyond sign changes, alone and chained.
fn rare_modifiers(meaning: &Meaning, all: &mut Vec<Form>) {
    let chains = [
        "_invert",
        "_bias",
        "_x2",
        "_bx2",
        "_sign",
        "_divComp(y)",
        "_divComp(z)",
        "_divComp(w)",
        "_sat",
        "_invert_sat",
        "_bias_abs",
        "_sign_neg(xz)",
        "_bx2_abs_neg(y)",
        "_sat_neg(w)_x2_invert",
    ];
    for k in 0..meaning.sources.len() {
        for (n, chain) in chains.into_iter().enumerate() {
            let mut sources = vec![("", ""); meaning.sources.len()];
            sources[k] = (["", ".wzyx", ".yx"][n % 3], chain);
            all.push(Form { sources, ..Form::default() });
        }
    }
}

/// Spellings to try.
fn forms(meaning: &Meaning) -> Vec<Form> {
    let n = meaning.sources.len();
    let plain = vec![("", ""); n];
    let form = |scale, mask, sources: Vec<(&'static str, &'static str)>| Form {
        scale,
        mask,
        sources,
        in_place: false,
    };
    let mut all = Vec::new();
    if meaning.sources.iter().any(|k| k.of_pair()) || matches!(meaning.rule, Rule::Pair(_)) {
        pair_forms(meaning, &mut all);
        return all;
    }
    for mask in ["", ".x", ".y", ".zw", ".xz", ".x_z0", ".0y1_", ".___w"] {
        all.push(form("", mask, plain.clone()));
    }
    let swizzled = |list: &[&'static str]| (0..n).map(|k| (list[k % list.len()], "")).collect::<Vec<_>>();
    all.push(form("", "", swizzled(&[".wzyx", ".yxwz"])));
    all.push(form("", "", swizzled(&[".z", ".x", ".w"])));
    all.push(form("", "", swizzled(&[".yx", ".zwx"])));
    all.push(form("", "", swizzled(&[".x0y1", ".1w0z"])));
    all.push(form("", ".xyz1", swizzled(&[".1", ".xyzw", ".0"])));
    all.push(Form { in_place: true, ..form("", ".yzw", swizzled(&[".yxwz", ".wzyx"])) });
    for (k, kind) in meaning.sources.iter().enumerate() {
        let modifiers: &[&str] = match kind {
            Kind::Float | Kind::Bits => &["_neg(xyzw)", "_neg(xz)", "_abs", "_abs_neg(yw)"],
            Kind::Int | Kind::Count => &["_neg(xyzw)", "_neg(y)"],
            _ => &[],
        };
        for modifier in modifiers {
            let mut sources = plain.clone();
            sources[k] = (".yzwx", modifier);
            all.push(form("", "", sources));
        }
    }
    if meaning.float_result {
        for scale in ["_sat", "_x2", "_x4", "_x8", "_d2", "_d4", "_d8", "_x2_sat", "_d8_sat"] {
            all.push(form(scale, "", plain.clone()));
        }
    }
    all
}

/// Doubles and 64-bit integers: pairs only.
fn pair_forms(meaning: &Meaning, all: &mut Vec<Form>) {
    let n = meaning.sources.len();
    let sources = |pairs: &[&'static str]| -> Vec<(&'static str, &'static str)> {
        (0..n).map(|k| (pairs[k % pairs.len()], "")).collect()
    };
    let word = matches!(meaning.rule, Rule::PairToWord(_));
    let whole = matches!(meaning.rule, Rule::Whole(_));
    let masks: &[&str] = match meaning.rule {
        _ if whole => &["", ".yzw", ".zw", ".y"],
        _ if word && meaning.sources.len() == 1 => &[".x", ".y", ".zw", "", ".z"],
        _ => &[".xy", ".zw", ".xy__", "", ".__zw"],
    };
    for mask in masks {
        all.push(Form { mask, sources: sources(&[""]), ..Form::default() });
        all.push(Form { mask, sources: sources(&[".zw", ".xy"]), ..Form::default() });
    }
    let mask = if whole { "" } else { masks[0] };
    all.push(Form { mask, sources: sources(&[".zwzw", ".xy00", ".xyxy"]), ..Form::default() });
    if !whole {
        all.push(Form { mask: masks[1], sources: sources(&[".xy"]), in_place: true, ..Form::default() });
    }
    for (k, kind) in meaning.sources.iter().enumerate() {
        if *kind == Kind::Double {
            for modifiers in
                ["_neg(y)", "_neg(xyzw)", "_neg(x)", "_abs", "_abs_neg(y)", "_bx2_sat_invert_neg(y)"]
            {
                let mut sources = sources(&[".xy", ".zw"]);
                sources[k].1 = modifiers;
                all.push(Form { mask, sources, ..Form::default() });
            }
        }
    }
}

/// Register contents for each thread: one vector a source.
fn inputs(row: &Row, meaning: &Meaning) -> Vec<Vec<[u32; 4]>> {
    let kinds = meaning.sources;
    let mut random =
        Random::new(row.mnemonic.bytes().fold(7, |h, b| h.wrapping_mul(31).wrapping_add(u64::from(b))));
    let combinations: usize = kinds.iter().map(|k| values::edges(*k)).product();
    let slots = if kinds.iter().any(|k| k.of_pair()) { 2 } else { 4 };
    let room = THREADS * slots;
    let mut tuple = 0;
    let mut next = |random: &mut Random| -> Vec<u64> {
        tuple += 1;
        // Edge tuples first: all of them if there is room, otherwise a sample; the last quarter is random.
        if tuple <= room * 3 / 4 && (combinations > room / 2 || tuple <= combinations) {
            let mut index = if combinations > room / 2 { random.word() as usize } else { tuple - 1 };
            kinds
                .iter()
                .map(|k| {
                    let edge = values::edge(*k, index % values::edges(*k));
                    index /= values::edges(*k);
                    edge
                })
                .collect()
        } else {
            kinds.iter().map(|k| values::random(*k, random)).collect()
        }
    };
    (0..THREADS)
        .map(|_| {
            let mut vectors = vec![[0; 4]; kinds.len()];
            for slot in 0..slots {
                for (vector, value) in vectors.iter_mut().zip(next(&mut random)) {
                    if slots == 4 {
                        vector[slot] = value as u32;
                    } else {
                        vector[2 * slot] = value as u32;
                        vector[2 * slot + 1] = (value >> 32) as u32;
                    }
                }
            }
            vectors
        })
        .collect()
}

fn needs(meaning: &Meaning) -> Needs {
    Needs {
        fp64: meaning.sources.contains(&Kind::Double) || matches!(meaning.rule, Rule::Pair(_)),
        compute: true,
    }
}

const FROM: &str = "softfloat, wide integers or multiple precision, by amd-il-alu 1 to 7";

/// The instruction as text.
fn spell(mnemonic: &str, suffix: &str, form: &Form, destination: &str, registers: &[String]) -> String {
    let mut line = format!("{mnemonic}{suffix}{} {destination}{}", form.scale, form.mask);
    for (register, (swizzle, modifiers)) in registers.iter().zip(&form.sources) {
        // Modifiers stand before or after the swizzle; both mean the same.
        let _ = if swizzle.len() % 2 == 0 {
            write!(line, ", {register}{modifiers}{swizzle}")
        } else {
            write!(line, ", {register}{swizzle}{modifiers}")
        };
    }
    line.push('\n');
    line
}

/// All forms on inputs from a raw UAV, results to another.
fn kernel(
    name: &str,
    row: &Row,
    suffix: &str,
    control: &Control,
    meaning: &Meaning,
    forms: &[Form],
    inputs: &[Vec<[u32; 4]>],
) -> Case {
    let sources = meaning.sources.len();
    let mut text =
        String::from("il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_raw_uav_id(1)\n");
    let _ = writeln!(text, "dcl_literal l0, {:#X}, {:#X}, {:#X}, {:#X}", OLD[0], OLD[1], OLD[2], OLD[3]);
    let _ = writeln!(text, "dcl_literal l1, {}, {}, 16, 0", 16 * sources, 16 * forms.len());
    text.push_str("umul r0.x, vAbsTidFlat.x, l1.x\numul r0.y, vAbsTidFlat.x, l1.y\n");
    let mut registers = Vec::new();
    for k in 0..sources {
        let _ = writeln!(text, "uav_raw_load_id(0) r{}, r0.x\niadd r0.x, r0.x, l1.z", k + 1);
        registers.push(format!("r{}", k + 1));
    }
    for form in forms {
        if form.in_place {
            text.push_str("mov r10, r1\n");
            let mut changed = registers.clone();
            changed[0] = "r10".into();
            text.push_str(&spell(row.mnemonic, suffix, form, "r10", &changed));
        } else {
            text.push_str("mov r10, l0\n");
            text.push_str(&spell(row.mnemonic, suffix, form, "r10", &registers));
        }
        text.push_str("uav_raw_store_id(1) mem0, r0.y, r10\niadd r0.y, r0.y, l1.z\n");
    }
    text.push_str("end\n");
    let mut wants = Vec::with_capacity(inputs.len() * forms.len() * 4);
    for vectors in inputs {
        for form in forms {
            let old = if form.in_place { vectors[0] } else { OLD };
            wants.extend(evaluate(row.mnemonic, meaning, control, form, vectors, old).map(|v| v.want()));
        }
    }
    let words: Vec<u32> = inputs.iter().flatten().flatten().copied().collect();
    let input = Buffer::row(Slot::Uav(0), Format::UnsignedInt32x1, words.len() as u32).holding(&words);
    let output = Buffer::row(Slot::Uav(1), Format::UnsignedInt32x1, wants.len() as u32);
    Case {
        name: name.to_owned(),
        text,
        from: FROM.to_owned(),
        extent: Some(Extent::Grid { groups: [(inputs.len() / 64) as u32, 1, 1], block: [64, 1, 1] }),
        buffers: vec![input, output.expecting(wants)],
        samplers: Vec::new(),
        params: None,
        refused: None,
        needs: needs(meaning),
        faithful_only: false,
        checks: inputs.len() * forms.len(),
    }
}

/// Literal operands, one thread: what constant folding makes of the instruction.
fn literals(
    name: &str,
    row: &Row,
    suffix: &str,
    control: &Control,
    meaning: &Meaning,
    inputs: &[Vec<[u32; 4]>],
) -> Case {
    const TRIES: usize = 12;
    let mut text = String::from("il_ps_2_0\ndcl_output_generic o0\n");
    let mut wants = Vec::new();
    let mask = match meaning.rule {
        Rule::Pair(_) => ".xy",
        _ => "",
    };
    let form = Form { mask, sources: vec![("", ""); meaning.sources.len()], ..Form::default() };
    text.push_str("ftoi r0.x, vWinCoord0.x\nmov r1, r9.0000\n");
    for vectors in inputs.iter().step_by(inputs.len() / TRIES).take(TRIES) {
        let k = wants.len() / 4;
        let mut registers = Vec::new();
        for (n, v) in vectors.iter().enumerate() {
            let number = 10 * k + n;
            let _ =
                writeln!(text, "dcl_literal l{number}, {:#X}, {:#X}, {:#X}, {:#X}", v[0], v[1], v[2], v[3]);
            registers.push(format!("l{number}"));
        }
        let _ = writeln!(text, "dcl_literal l{}, {k}, 0, 0, 0", 10 * k + 9);
        let _ = writeln!(text, "ieq r2.x, r0.x, l{}.x\nmov r3, r9.0000", 10 * k + 9);
        text.push_str(&spell(row.mnemonic, suffix, &form, "r3", &registers));
        text.push_str("cmov_logical r1, r2.x, r3, r1\n");
        wants.extend(evaluate(row.mnemonic, meaning, control, &form, vectors, [0; 4]).map(|v| v.want()));
    }
    text.push_str("mov o0, r1\nend\n");
    let width = (wants.len() / 4) as u32;
    Case {
        name: name.to_owned(),
        text,
        from: FROM.to_owned(),
        extent: Some(Extent::Domain { x: 0, y: 0, width, height: 1 }),
        buffers: vec![Buffer::row(Slot::Output(0), Format::UnsignedInt32x4, width).expecting(wants)],
        samplers: Vec::new(),
        params: None,
        refused: None,
        needs: Needs { compute: false, ..needs(meaning) },
        faithful_only: false,
        checks: width as usize,
    }
}
