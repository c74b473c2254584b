//! Kernel texts from fuzzer bytes: every compute instruction of the table with its specifiers and random operands, in
//! random flow, over one set of declarations. Most are accepted.

use arbitrary::Unstructured;
use recal_il::isa::{Category, Row, Scope, TABLE, VectorRule};

/// Statements at most.
const MOST: usize = 60;

/// Registers of memory that are declared, and how large the memory behind them is: see [`crate::kernel`].
pub const DECLARED: &str = "dcl_literal l0, 1, 2.0, 0x3, -4\ndcl_literal l1, 0x80000000, 0x7FC00000, 0xFF800000, 0x7FFFFFFF\n\
    dcl_literal l2, 0xFFFFFFFF, 4096, 0xFFFFFFFC, 0x3FFFFFFF\ndcl_cb cb0[8]\ndcl_indexed_temp_array x0[4]\n\
    dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
    dcl_uav_id(1)_type(2d)_fmtx(float)\ndcl_raw_uav_id(2)\ndcl_struct_uav_id(3) 16\ndcl_arena_uav_id(4)\n\
    dcl_raw_srv_id(5)\ndcl_struct_srv_id(6) 16\ndcl_gds_id(0) 64\n";

fn below(u: &mut Unstructured<'_>, n: usize) -> usize {
    u.int_in_range(0..=n.max(1) - 1).unwrap_or(0)
}

fn pick<'a>(u: &mut Unstructured<'_>, from: &[&'a str]) -> &'a str {
    from[below(u, from.len())]
}

/// A whole program; of a compute kernel with 64 threads a group, else of a pixel kernel with `o0`.
pub fn text(u: &mut Unstructured<'_>) -> String {
    let compute = below(u, 4) != 0;
    let mut out = if compute {
        format!(
            "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_lds_id(0) 1024\ndcl_lds_size_per_thread 8\n{DECLARED}"
        )
    } else {
        format!(
            "il_ps_2_0\n{DECLARED}dcl_output_generic o0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n"
        )
    };
    let functions = below(u, 3);
    let mut left = MOST;
    block(u, &mut out, compute, 0, &mut left, functions);
    if !compute {
        out.push_str("mov o0, r0\n");
    }
    out.push_str("endmain\n");
    for number in 0..functions {
        out.push_str(&format!("func {number}\n"));
        // No recursion: functions call none.
        block(u, &mut out, compute, 0, &mut left, 0);
        out.push_str("ret\nendfunc\n");
    }
    out.push_str("end\n");
    out
}

fn block(
    u: &mut Unstructured<'_>,
    out: &mut String,
    compute: bool,
    depth: usize,
    left: &mut usize,
    functions: usize,
) {
    for _ in 0..below(u, 12) {
        if *left == 0 || u.is_empty() {
            return;
        }
        *left -= 1;
        match below(u, 14) {
            0 if depth < 4 => {
                out.push_str(&format!("if_logicalnz {}\n", scalar(u)));
                block(u, out, compute, depth + 1, left, functions);
                if below(u, 2) == 0 {
                    out.push_str("else\n");
                    block(u, out, compute, depth + 1, left, functions);
                }
                out.push_str("endif\n");
            }
            1 if depth < 4 => {
                // Loops count up in a register of their own; `continue` would skip the count.
                let counter = format!("r{}.x", 40 + depth);
                out.push_str(&format!(
                    "mov {counter}, l0.0\nwhileloop\niadd {counter}, {counter}, l0.x\nige r50.x, {counter}, l0.z\nbreak_logicalnz r50.x\n"
                ));
                block(u, out, compute, depth + 1, left, functions);
                if below(u, 3) == 0 {
                    out.push_str(&format!(
                        "{} {}\n",
                        pick(u, &["break_logicalz", "continue_logicalnz"]),
                        scalar(u)
                    ));
                }
                out.push_str("endloop\n");
            }
            2 if depth < 4 => {
                out.push_str(&format!("switch {}\ncase {}\n", scalar(u), below(u, 4)));
                block(u, out, compute, depth + 1, left, functions);
                out.push_str("break\ndefault\n");
                block(u, out, compute, depth + 1, left, functions);
                out.push_str("break\nendswitch\n");
            }
            3 if functions > 0 => out.push_str(&format!("call {}\n", below(u, functions))),
            _ => statement(u, out, compute),
        }
    }
}

fn scalar(u: &mut Unstructured<'_>) -> String {
    format!("r{}.{}", below(u, 8), pick(u, &["x", "y", "z", "w"]))
}

fn usable(row: &Row, compute: bool) -> bool {
    row.scope == Scope::Compute
        && !matches!(row.category, Category::Decl | Category::Flow)
        && !row.mnemonic.contains("semaphore")
        && (compute || !matches!(row.category, Category::Lds | Category::Gds | Category::Sync))
}

fn statement(u: &mut Unstructured<'_>, out: &mut String, compute: bool) {
    let row = &TABLE[below(u, TABLE.len())];
    if !usable(row, compute) {
        return;
    }
    let (word, values, ext) = opword(u, row);
    let mut operands: Vec<String> = Vec::new();
    (0..row.destinations).for_each(|_| operands.push(destination(u, row)));
    (0..row.sources).for_each(|_| operands.push(source(u, compute)));
    if ext {
        let two = row.category == Category::Texture && !matches!(row.mnemonic, "load" | "resinfo");
        (0..1 + usize::from(two)).for_each(|_| operands.push(source(u, compute)));
    }
    operands.extend(values);
    out.push_str(&format!("{word} {}\n", operands.join(", ")));
}

fn id_of(row: &Row) -> &'static str {
    let m = row.mnemonic;
    match row.category {
        Category::Uav if matches!(m, "uav_load" | "uav_store") => "1",
        Category::Uav if m.starts_with("uav_struct") => "3",
        Category::Uav if m.starts_with("uav_arena") => "4",
        Category::Uav => "2",
        _ if m == "srv_raw_load" => "5",
        _ if m == "srv_struct_load" => "6",
        _ => "0",
    }
}

fn argument(u: &mut Unstructured<'_>, row: &Row, name: &str, kinds: &str) -> String {
    match name {
        "_uav" if row.mnemonic == "bufinfo" => "2",
        "_id" | "_resource" | "_uav" => id_of(row),
        "_sampler" | "_stage" => pick(u, &["0", "1", "15"]),
        "_type" | "_resourcetype" => pick(u, &["1d", "2d", "buffer"]),
        "_coordtype" => pick(u, &["normalized", "unnormalized"]),
        "_relop" => pick(u, &["ne", "eq", "ge", "gt", "le", "lt"]),
        "_zeroop" => pick(u, &["fltmax", "zero", "infinity", "inf_else_max"]),
        "_cmpval" => pick(u, &["0.0", "0.5", "1.0", "-0.5", "-1.0"]),
        "_aoffimmi" | "_addroffimmi" => pick(u, &["1,0,0", "-8.0,7.5,0.5", "-8,-8,-8"]),
        "_compselect" => pick(u, &["x", "y", "z", "w"]),
        "_matrix" => pick(u, &["3x3", "4x4", "4x3"]),
        "_lOffset" => pick(u, &["0", "4", "60"]),
        "_sharingMode" => "rel",
        "_stride" => "4",
        "_length" => "-1",
        "_size" => kinds.split('|').nth(below(u, 3)).unwrap_or("byte"),
        name if name.starts_with("_fmt") => pick(u, &["float", "uint", "unknown"]),
        _ => "0",
    }
    .to_owned()
}

/// Splits at `|` outside parentheses.
fn alternatives(body: &str) -> Vec<&str> {
    let mut depth = 0;
    body.split(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == '|' && depth == 0
    })
    .collect()
}

/// The opcode word with a choice of specifiers; values for `<…>` operands; whether it is an `_ext` form.
fn opword(u: &mut Unstructured<'_>, row: &Row) -> (String, Vec<String>, bool) {
    let (mut word, mut values, mut ext) = (row.mnemonic.to_owned(), Vec::new(), false);
    for item in row.controls.split_whitespace() {
        let optional = item.starts_with('[');
        let body = if optional || item.starts_with('{') { &item[1..item.len() - 1] } else { item };
        if body.starts_with('<') {
            values.push(pick(u, &["16", "0x10", "2.5", "4294967295"]).to_owned());
            continue;
        }
        if optional && below(u, 3) != 0 {
            continue;
        }
        let options = alternatives(body);
        let chosen = options[below(u, options.len())];
        ext |= chosen == "_ext";
        match chosen.split_once('(') {
            Some((name, rest)) => {
                let value = argument(u, row, name, rest.trim_end_matches(')'));
                word.push_str(&format!("{name}({value})"));
            }
            None => word.push_str(chosen),
        }
    }
    if row.mnemonic == "fence" && word == "fence" {
        word.push_str("_memory");
    }
    if row.destinations > 0 && below(u, 8) == 0 {
        word.push_str(pick(u, &["_sat", "_x2", "_d8"]));
    }
    (word, values, ext)
}

fn source(u: &mut Unstructured<'_>, compute: bool) -> String {
    let register = match below(u, 14) {
        0 => "l0".to_owned(),
        1 => "l1".to_owned(),
        2 => "l2".to_owned(),
        3 => format!("cb0[{}]", below(u, 8)),
        4 => format!("cb0[{} + {}]", scalar(u), below(u, 5)),
        5 => format!("x0[{} - {}]", scalar(u), below(u, 9)),
        6 => format!("g[{} + {}]", scalar(u), below(u, 5)),
        7 if compute => pick(u, &["vTidInGrp0", "vAbsTidFlat", "vThreadGrpId"]).to_owned(),
        7 => "vWinCoord0".to_owned(),
        _ => format!("r{}", below(u, 8)),
    };
    let swizzle: String =
        (0..[0, 1, 4][below(u, 3)]).map(|_| pick(u, &["x", "y", "z", "w", "0", "1"])).collect();
    let dot = if swizzle.is_empty() { "" } else { "." };
    let modifier = pick(u, &["", "", "", "", "_neg(xyzw)", "_abs", "_bx2"]);
    format!("{register}{modifier}{dot}{swizzle}")
}

fn destination(u: &mut Unstructured<'_>, row: &Row) -> String {
    if row.mnemonic.contains("store") || row.mnemonic == "lds_write_vec" {
        return pick(u, &["mem0.x___", "mem0.xy__", "mem0", "mem0.__z_"]).to_owned();
    }
    let mask = if row.rule == VectorRule::DoublePair {
        pick(u, &[".xy", ".zw", ""])
    } else {
        pick(u, &["", "", ".x", ".xy__", ".__z_", ".y00"])
    };
    match below(u, 8) {
        0 => format!("x0[{} + {}]{mask}", scalar(u), below(u, 9)),
        1 => format!("g[{} - {}]{mask}", scalar(u), below(u, 9)),
        _ => format!("r{}{mask}", below(u, 8)),
    }
}
