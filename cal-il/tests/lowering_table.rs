//! Every row of the instruction table goes through text, check, lowering and validation.

use std::collections::BTreeSet;

use recal_il::ir::validate::validate;
use recal_il::isa::{Category, Meaning, Opcode, Row, Scope, TABLE, VectorRule};

/// Rows that kernels may spell and that are refused all the same.
const REFUSED: &[(Opcode, &str)] = &[
    (Opcode::DclSemaphore, "waits for other groups, whose progress no device promises"),
    (Opcode::InitSemaphore, "as above"),
    (Opcode::SemaphoreSignal, "as above"),
    (Opcode::SemaphoreWait, "as above"),
];

fn compile(text: &str) -> Result<(), String> {
    match recal_il::compile(text.as_bytes()) {
        Ok(program) => validate(&program).map_err(|defects| format!("{defects:#?}\n{program}\n{text}")),
        Err(errors) => Err(format!("{errors:#?}\n{text}")),
    }
}

/// The items of a `controls` entry; brackets keep what is inside together.
fn items(controls: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut depth = 0;
    for c in controls.chars() {
        depth += i32::from("([{<".contains(c)) - i32::from(")]}>".contains(c));
        match c {
            ' ' if depth == 0 => items.push(String::new()),
            c => items.last_mut().unwrap().push(c),
        }
    }
    items.retain(|item| !item.is_empty());
    items
}

/// Alternatives of `[a|b]` and `{a|b}`; a bar inside parentheses belongs to an argument.
fn alternatives(item: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut depth = 0;
    for c in item[1..item.len() - 1].chars() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        match c {
            '|' if depth == 0 => all.push(String::new()),
            c => all.last_mut().unwrap().push(c),
        }
    }
    all
}

fn id(row: &Row) -> u32 {
    let m = row.mnemonic;
    match m {
        "uav_load" | "uav_store" => 0,
        "uav_struct_load" | "uav_struct_store" | "srv_struct_load" => 2,
        _ if m.starts_with("uav_arena") => 3,
        "load" | "resinfo" | "bufinfo" => 0,
        _ if row.category == Category::Texture => 0,
        _ => 1,
    }
}

/// Every specifier of `item` with its argument filled in; several where an argument has several values.
fn spelled(row: &Row, specifier: &str) -> Vec<String> {
    let Some((name, argument)) = specifier.split_once('(') else { return vec![specifier.to_string()] };
    let values: &[&str] = match (name, argument.trim_end_matches(')')) {
        ("_id" | "_resource" | "_uav" | "_stage", _) => return vec![format!("{name}({})", id(row))],
        ("_sampler", _) => &["0", "15"],
        ("_relop", _) => &["ne", "eq", "ge", "gt", "le", "lt"],
        ("_zeroop", _) => &["fltmax", "zero", "infinity", "inf_else_max"],
        ("_cmpval", _) => &["0.0", "0.5", "1.0", "-0.5", "-1.0"],
        ("_coordtype", _) => &["normalized", "unnormalized"],
        ("_aoffimmi" | "_addroffimmi", _) => &["1,-2,0", "0.0,1.0,0.0"],
        ("_resourcetype", _) => &["2d"],
        ("_compselect", _) => &["x", "y", "z", "w"],
        ("_size", _) => &["dword", "short", "byte"],
        ("_lOffset", _) => &["4"],
        ("_sharingMode", _) => &["rel"],
        ("_matrix", _) => &["4x4", "3x3"],
        (name, argument) => panic!("{}: {name}({argument}) is new to this test", row.mnemonic),
    };
    values.iter().map(|value| format!("{name}({value})")).collect()
}

/// Opcode words of a row: one with the required specifiers, and one for each value of each specifier.
fn opwords(row: &Row) -> Vec<String> {
    let mut required = vec![row.mnemonic.to_string()];
    let mut optional = Vec::new();
    for item in items(row.controls) {
        match item.chars().next() {
            Some('[') => optional.extend(alternatives(&item)),
            Some('{') => {
                let choices: Vec<String> = alternatives(&item).iter().flat_map(|a| spelled(row, a)).collect();
                required = cross(&required, &choices);
            }
            Some('_') => required = cross(&required, &spelled(row, &item)),
            _ => {}
        }
    }
    // A fence without a suffix orders nothing and is refused.
    let mut all = if row.opcode == Opcode::Fence { Vec::new() } else { required.clone() };
    for specifier in optional.iter().flat_map(|o| spelled(row, o)) {
        all.push(format!("{}{specifier}", required[0]));
    }
    all
}

fn cross(words: &[String], suffixes: &[String]) -> Vec<String> {
    words.iter().flat_map(|word| suffixes.iter().map(move |suffix| format!("{word}{suffix}"))).collect()
}

const COMPUTE: &str = "il_cs_2_0
dcl_num_thread_per_group 64
dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)
dcl_resource_id(1)_type(buffer)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)
dcl_uav_id(0)_type(2d)_fmtx(float)
dcl_raw_uav_id(1)
dcl_struct_uav_id(2) 16
dcl_arena_uav_id(3)
dcl_raw_srv_id(1)
dcl_struct_srv_id(2) 32
dcl_gds_id(1) 512
dcl_cb cb0[4]
";

/// A kernel with `line` in its middle.
fn kernel(row: &Row, line: &str) -> String {
    let lds = match row.mnemonic {
        "lds_read_vec" | "lds_write_vec" => "dcl_lds_size_per_thread 8\ndcl_lds_sharing_mode _wavefrontRel\n",
        _ => "dcl_lds_id(1) 1024\n",
    };
    format!("{COMPUTE}{lds}mov r1, cb0[0]\nmov r2, cb0[1]\n{line}\nmov g[vAbsTid.x], r20\nend\n")
}

fn operands(row: &Row, destination: &str, source: &str) -> Vec<String> {
    let mut all = Vec::new();
    for _ in 0..row.destinations {
        let store = matches!(row.meaning, Meaning::Memory(_)) && row.mnemonic.contains("store")
            || row.mnemonic == "lds_write_vec";
        all.push(if store { "mem.xy".to_string() } else { destination.to_string() });
    }
    for k in 0..row.sources {
        all.push(source.replace('#', &(1 + k % 2).to_string()));
    }
    all
}

#[test]
fn every_executable_row_lowers_with_every_specifier() {
    let mut failures = Vec::new();
    let mut tried = 0;
    for row in TABLE {
        let executable = !matches!(row.meaning, Meaning::Declaration | Meaning::Flow);
        if row.scope != Scope::Compute || !executable || REFUSED.iter().any(|(o, _)| *o == row.opcode) {
            continue;
        }
        let pair = row.rule == VectorRule::DoublePair;
        for word in opwords(row) {
            for (destination, source) in [
                (if pair { "r20.xy" } else { "r20" }, "r#"),
                (if pair { "r20.zw" } else { "r20.x" }, if pair { "r#.zw" } else { "r#.y" }),
            ] {
                let mut parts = operands(row, destination, source);
                if word.contains("_ext") && row.controls.contains("[_ext]") {
                    let sampler = row.mnemonic.starts_with("sample") || row.mnemonic.starts_with("fetch4");
                    parts.extend(["r1.x".to_string()]);
                    parts.extend(sampler.then(|| "r1.y".to_string()));
                }
                let text = kernel(row, &format!("{word} {}", parts.join(", ")));
                tried += 1;
                if let Err(why) = compile(&text) {
                    failures.push(why);
                }
            }
        }
    }
    assert!(tried > 900, "only {tried} kernels");
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n----\n"));
}

#[test]
fn rows_refused_by_name_say_so() {
    for (opcode, _) in REFUSED {
        let row = opcode.row();
        let operands = operands(row, "r20", "r#").join(", ");
        let error = compile(&kernel(row, &format!("{}_id(1) {operands}", row.mnemonic))).unwrap_err();
        assert!(error.contains(&format!("`{}`", row.mnemonic)), "{error}");
    }
}

#[test]
fn graphics_rows_are_refused_in_the_table() {
    for row in TABLE.iter().filter(|row| row.scope == Scope::Graphics) {
        let accepted = matches!(row.mnemonic, "texld" | "texldb" | "texldd");
        assert_eq!(matches!(row.meaning, Meaning::Refused(_)), !accepted, "{}", row.mnemonic);
    }
    for row in TABLE.iter().filter(|row| row.scope == Scope::Compute) {
        let listed = REFUSED.iter().any(|(o, _)| *o == row.opcode);
        assert!(listed || !matches!(row.meaning, Meaning::Refused(_)), "{}", row.mnemonic);
    }
}

#[test]
fn every_row_is_described() {
    for row in TABLE {
        let doc = row.opcode.doc();
        assert!(doc.ends_with('.') && doc.len() > 8, "{}: {doc:?}", row.mnemonic);
        let (part, section) = row.section.split_once(' ').expect(row.mnemonic);
        assert!(matches!(part, "IL" | "ALU"), "{}", row.mnemonic);
        assert!(section.chars().all(|c| c.is_ascii_digit() || c == '.'), "{}", row.mnemonic);
    }
}

/// Kernels that together hold every declaration and every flow instruction.
const PROGRAMS: &[&str] = &[
    "mdef(7)_out(1)_in(2)
mul r0, in0, in1
add out0, r0, r0
mend
il_ps_2_0
dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__
dcl_output_generic o0
dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)
dcl_cb cb0[4]
dcl_literal l0, 0, 1, 2.5, 0x10
dcl_indexed_temp_array x0[4]
dcl_global_flags refactoringAllowed
mov r0, cb0[0]
mcall(7)(r3.xy__), (l0.z, r0)
mov r5, l0.xxxx
ifc_relop(gt) r0.x, r0.y
  mov r1, l0.xyzw
else
  mov r1, r0
endif
if_logicalz r0.x
  add r1, r1, r0
endif
ifnz r0.y
  add r1, r1, r0
endif
whileloop
  breakc_relop(ge) r5.x, l0.z
  break_logicalz r0.y
  iadd r5.x, r5.x, l0.y
  continuec_relop(lt) r5.x, r0.z
  continue_logicalz r0.w
  continue_logicalnz r0.w
  if_logicalnz r5.y
    continue
  endif
  break_logicalnz r5.z
  break
endloop
switch r0.x
  default
    mov r1, r0
  case 1
    mov x0[r5.x+1], r1
  break
  case -2
  case 3
    break_logicalnz r0.z
endswitch
call 1
call_logicalz r0.x, 1
call_logicalnz r0.x, 1
discard_logicalz r0.x
discard_logicalnz r0.z
mov o0, r1
endmain
func 1
  ret_logicalz r1.x
  ret_logicalnz r1.y
  if_logicalnz r0.x
    ret_dyn
  endif
  add r1, r1, r3
ret
endfunc
end
",
    "il_cs_2_0
dcl_num_thread_per_group 64, 1, 1
dcl_total_num_thread_group 4
dcl_wavesize 64
dcl_gws_thread_count 64
dcl_lds_id(1) 1024
dcl_struct_lds_id(2) 16, 4
dcl_gds_id(0) 64
dcl_struct_gds_id(1) 16, 4
dcl_uav_id(0)_type(2d)_fmtx(float)
dcl_typed_uav_id(1)_type(2d)_fmtx(float)
dcl_raw_uav_id(2)
dcl_struct_uav_id(3) 16
dcl_arena_uav_id(4)
dcl_typeless_uav_id(5)_stride(4)_length(64)_access(read_write)
dcl_raw_srv_id(6)
dcl_struct_srv_id(7) 16
lds_store_vec_id(2) mem.xy, vTidInGrp.x, vTidInGrp.y, vAbsTid.xyxy
fence_threads_lds
lds_load_vec_id(2) r0, vTidInGrp.x, vTidInGrp.y
mov g[0], r0
end
",
    "il_cs_2_0
dcl_max_thread_per_group 256
dcl_lds_size_per_thread 4
dcl_lds_sharing_mode _wavefrontRel
dcl_shared_temp sr2
init_shared_registers
mov r0, vTidInGrp
add sr0, r0, sr1
lds_write_vec mem, r0
mov g[0], sr0
end
",
    "il_ps_3_0
dclpi_x(*)_y(*)_z(-)_w(-)_centered vWinCoord0
dcl_input_generic_interp(linear) v1
dcl_output_generic o0
add o0, vWinCoord0.xyxy, v1
end
",
];

#[test]
fn declarations_and_flow_lower() {
    let mut seen = BTreeSet::new();
    for text in PROGRAMS {
        if let Err(why) = compile(text) {
            panic!("{why}");
        }
        for word in text.split_whitespace() {
            let word = word.to_ascii_lowercase();
            for row in TABLE {
                let rest = word.strip_prefix(row.mnemonic);
                if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '('])) {
                    seen.insert(row.mnemonic);
                }
            }
        }
    }
    let missing: Vec<&str> = (TABLE.iter())
        .filter(|row| row.scope == Scope::Compute)
        .filter(|row| matches!(row.meaning, Meaning::Declaration | Meaning::Flow))
        .map(|row| row.mnemonic)
        .filter(|mnemonic| !seen.contains(mnemonic))
        .filter(|mnemonic| REFUSED.iter().all(|(refused, _)| refused.mnemonic() != *mnemonic))
        .collect();
    assert!(missing.is_empty(), "no program above has {missing:?}");
}
