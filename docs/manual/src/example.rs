//! A kernel for each instruction: the shortest of `examples/` that has it, else one made from its row.

use std::collections::HashMap;
use std::sync::OnceLock;

use recal_il::isa::{Category, Meaning, Memory, Opcode, Row, Scope, TABLE, VectorRule};

macro_rules! examples {
    ($($name:literal,)*) => {
        /// Kernels of the book, by name.
        pub const KERNELS: &[(&str, &str)] = &[$(($name, include_str!(concat!("../examples/", $name, ".il"))),)*];
    };
}

examples! {
    "hello", "branches", "loop", "while_float", "switch", "function", "macro", "discard", "position",
    "constants", "array", "group_sum", "neighbours", "shared", "raw_view", "typed_view", "records", "arena",
    "typeless", "read_only", "counter", "share", "any_group", "double", "hints", "old_flow", "resource_size",
    "late_hints", "product_one", "product_four", "product_block", "apart", "waves", "julia",
}

/// The instruction that a word of a kernel begins with: the longest mnemonic before a specifier.
fn instruction(word: &str) -> Option<Opcode> {
    static NAMES: OnceLock<HashMap<&str, Opcode>> = OnceLock::new();
    let names = NAMES.get_or_init(|| TABLE.iter().map(|row| (row.mnemonic, row.opcode)).collect());
    let mut end = word.find('(').unwrap_or(word.len());
    while end > 0 {
        if let Some(opcode) = names.get(&word[..end]) {
            return Some(*opcode);
        }
        end = word[..end].rfind('_').unwrap_or(0);
    }
    None
}

/// Whether a kernel has an instruction, comments left out.
pub fn has(kernel: &str, row: &Row) -> bool {
    let code = kernel.lines().map(|line| line.split(';').next().unwrap_or_default());
    code.flat_map(str::split_whitespace).any(|word| instruction(word) == Some(row.opcode))
}

/// A kernel that compiles and has the instruction; `None` for those that kernels cannot have.
pub fn of(row: &Row) -> Option<String> {
    if row.scope == Scope::Graphics && !matches!(row.meaning, Meaning::Memory(Memory::Sample)) {
        return None;
    }
    if matches!(row.meaning, Meaning::Refused(_)) || row.opcode == Opcode::DclSemaphore {
        return None;
    }
    let kernels = KERNELS.iter().map(|(_, text)| *text).filter(|text| has(text, row));
    if let Some(kernel) = kernels.min_by_key(|text| text.len()) {
        return Some(kernel.trim_end().to_string());
    }
    made(row)
}

/// What a specifier that must be there is in an example.
fn required(row: &Row) -> String {
    let mut word = row.mnemonic.to_string();
    for item in row.controls.split(' ') {
        let item = item.trim_start_matches('{').split('|').next().unwrap_or_default();
        word += match item.split('(').next().unwrap_or_default() {
            "_id" => "_id(0)",
            "_resource" => "_resource(0)",
            "_sampler" => "_sampler(0)",
            "_stage" => "_stage(0)",
            "_relop" => "_relop(gt)",
            "_cmpval" => "_cmpval(0.5)",
            "_size" => "_size(short)",
            _ => "",
        };
    }
    if row.opcode == Opcode::Fence { "fence_threads_lds".into() } else { word }
}

/// A pixel kernel for arithmetic and textures, a compute kernel for memory.
fn made(row: &Row) -> Option<String> {
    let word = required(row);
    let pair =
        row.rule == VectorRule::DoublePair || matches!(row.category, Category::Double | Category::Int64);
    match row.meaning {
        Meaning::Memory(memory) if !texture(memory) => Some(with_memory(row, &word)),
        Meaning::Lane(..)
        | Meaning::Vector(_)
        | Meaning::Memory(_)
        | Meaning::ComputeUnit
        | Meaning::WaveSlot => {
            let inputs: Vec<String> = (0..row.sources.max(1)).map(|k| k.to_string()).collect();
            let mut text =
                String::from("il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n");
            for k in &inputs {
                text += &format!(
                    "dcl_resource_id({k})_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n"
                );
            }
            text += "dcl_output_generic o0\n";
            let is_texture = matches!(row.meaning, Meaning::Memory(_));
            if is_texture {
                let coordinates =
                    if matches!(row.meaning, Meaning::Memory(Memory::Fetch | Memory::ResourceInfo)) {
                        text += "ftoi r0, vWinCoord0.xy00\n";
                        "r0"
                    } else {
                        text += "mov r0, vWinCoord0.xy00\n";
                        "r0"
                    };
                let sources = vec![coordinates; usize::from(row.sources)].join(", ");
                text += &format!("{word} r1{}{sources}\n", if row.sources > 0 { ", " } else { "" });
            } else {
                for k in &inputs {
                    text += &format!("sample_resource({k})_sampler({k}) r{k}, vWinCoord0.xy\n");
                }
                let result = usize::from(row.sources.max(1));
                let mask = if pair && row.rule == VectorRule::DoublePair { ".xy" } else { "" };
                let sources: Vec<String> = (0..row.sources)
                    .map(|k| {
                        if row.rule == VectorRule::ScalarReplicated {
                            format!("r{k}.x")
                        } else {
                            format!("r{k}")
                        }
                    })
                    .collect();
                let comma = if sources.is_empty() { "" } else { ", " };
                text += &format!("{word} r{result}{mask}{comma}{}\n", sources.join(", "));
                let out = if mask.is_empty() { format!("r{result}") } else { format!("r{result}.xy00") };
                return Some(text + &format!("mov o0, {out}\nend"));
            }
            Some(text + "mov o0, r1\nend")
        }
        Meaning::Nothing => Some(format!("il_ps_2_0\ndcl_output_generic o0\n{word}\nmov o0, r0\nend")),
        _ => None,
    }
}

fn texture(memory: Memory) -> bool {
    matches!(
        memory,
        Memory::Sample | Memory::Gather | Memory::GatherOffset | Memory::Fetch | Memory::ResourceInfo
    )
}

/// Declarations that the memory of a row needs, then the row on the thread's number.
fn with_memory(row: &Row, word: &str) -> String {
    let name = row.mnemonic;
    let declaration = match row.category {
        Category::Lds => "dcl_lds_id(0) 1024\n",
        Category::Gds if name.starts_with("gds") => "dcl_gds_id(0) 1024\n",
        _ if name.starts_with("srv_raw") => "dcl_raw_srv_id(0)\n",
        _ if name.starts_with("srv_struct") => "dcl_struct_srv_id(0) 16\n",
        _ if name.contains("arena") => "dcl_arena_uav_id(0)\n",
        _ if name.contains("struct") => "dcl_struct_uav_id(0) 16\n",
        _ if matches!(name, "uav_load" | "uav_store") => "dcl_uav_id(0)_type(1d)_fmtx(float)\n",
        _ => "dcl_raw_uav_id(0)\n",
    };
    let mut operands: Vec<&str> = Vec::new();
    let stores = row.destinations == 1 && name.contains("store");
    if row.destinations == 1 {
        operands.push(if stores {
            "mem0.x___"
        } else if row.rule == VectorRule::DoublePair {
            "r2.xy"
        } else {
            "r2.x"
        });
    }
    let value = ["r1.x", "l0.y", "l0.z"];
    let wide = ["r1.x", "l0.yx", "l0.zx"];
    let names = if name.contains("64") { wide } else { value };
    operands.extend(names.iter().take(usize::from(row.sources)));
    let line = format!("{word} {}", operands.join(", "));
    let result = if row.destinations == 1 && !stores { "r2.x" } else { "r1.x" };
    format!(
        "il_cs_2_0\ndcl_num_thread_per_group 64\n{declaration}dcl_literal l0, 0, 1, 4, 8\n\
         ishl r1.x, vTidInGrpFlat.x, l0.z\n{}\nmov g[vAbsTidFlat.x], {result}\nend",
        line.trim_end()
    )
}
