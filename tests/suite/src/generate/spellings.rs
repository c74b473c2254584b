//! Spellings by the hundred: every swizzle, every mask, every way to write a negation, headers, declarations of
//! inputs, fences, group sizes (amd-il 1.3, 1.9, 1.10, 1.12, 3.1, 3.6, 5.13; il-usage 8, 9, 10, 16).

use std::fmt::Write as _;

use recal_hal::{DomainParam, Extent, Format};

use crate::case::{Buffer, Case, Needs, Slot, Want};
use crate::reference::Kind;
use crate::reference::vector::{self, Write as Change};

/// What the source register holds: floats, and as integers with both signs.
const SOURCE: [u32; 4] = [0x3FC0_0000, 0xC020_0000, 0x4448_0000, 0x8000_0003];
/// What destinations hold before.
const OLD: [u32; 4] = [0x0BAD_0001, 0x0BAD_0002, 0x0BAD_0003, 0x0BAD_0004];

/// All cases of this module.
pub fn spellings() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, alphabet) in [("", "xyzw"), ("_rgba", "rgba")] {
        cases.extend(parts(&words(&format!("{alphabet}01")), |part, words| {
            swizzles(&format!("swizzles{name}_{part}"), alphabet, words)
        }));
        let mut masks = words(&format!("{alphabet}_01"));
        masks.retain(|word| is_mask(&in_xyzw(word, alphabet)));
        cases.extend(parts(&masks, |part, words| {
            self::masks(&format!("masks{name}_{part}"), alphabet, words)
        }));
    }
    cases.extend([
        negations("negation_float", "add", Kind::Float),
        negations("negation_integer", "iadd", Kind::Int),
        fences(),
        sizes(),
    ]);
    cases.extend(headers());
    cases.extend(interpolations());
    cases.extend(group_sizes());
    cases
}

fn case(name: String, text: String, from: &str, extent: Extent, buffers: Vec<Buffer>) -> Case {
    let checks = buffers.iter().filter_map(|b| b.expected.as_ref()).map(|e| e.len() / 4).sum();
    Case {
        name: format!("spelling/{name}"),
        text,
        from: from.to_owned(),
        extent: Some(extent),
        buffers,
        samplers: Vec::new(),
        params: None,
        refused: None,
        needs: Needs { compute: matches!(extent, Extent::Grid { .. }), fp64: false },
        faithful_only: false,
        checks,
    }
}

const ONE_PIXEL: Extent = Extent::Domain { x: 0, y: 0, width: 1, height: 1 };

/// A pixel kernel that leaves `rows` in `g[]`.
fn to_global(name: &str, text: String, from: &str, rows: Vec<[u32; 4]>) -> Case {
    let buffer = Buffer::row(Slot::Global, Format::UnsignedInt32x4, rows.len() as u32);
    let wants = rows.into_iter().flatten().map(Want::Word);
    case(name.to_owned(), text, from, ONE_PIXEL, vec![buffer.expecting(wants)])
}

fn literal(number: u32, words: [u32; 4]) -> String {
    format!("dcl_literal l{number}, {:#x}, {:#X}, {:#X}, {:#010x}\n", words[0], words[1], words[2], words[3])
}

/// Texts of 1 to 4 letters.
fn words(letters: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut last = vec![String::new()];
    for _ in 0..4 {
        last = last.iter().flat_map(|w| letters.chars().map(move |c| format!("{w}{c}"))).collect();
        all.extend(last.iter().cloned());
    }
    all
}

/// Cases of some words each: compilers of drivers take long for longer kernels.
fn parts<'a>(words: &'a [String], case: impl Fn(usize, &'a [String]) -> Case) -> Vec<Case> {
    words.chunks(48).enumerate().map(|(part, words)| case(part, words)).collect()
}

/// A text in the letters of `alphabet` as one in xyzw.
fn in_xyzw(text: &str, alphabet: &str) -> String {
    text.chars().map(|c| alphabet.find(c).map_or(c, |k| char::from(b"xyzw"[k]))).collect()
}

/// Swizzles of one to four letters, zeros and ones.
fn swizzles(name: &str, alphabet: &str, words: &[String]) -> Case {
    let mut text = format!("il_ps_2_0\n{}mov r0, l0\n", literal(0, SOURCE));
    let mut rows = Vec::new();
    for (k, word) in words.iter().enumerate() {
        let _ = writeln!(text, "mov g[{k}], r0.{word}");
        rows.push(vector::swizzle(SOURCE, &format!(".{}", in_xyzw(word, alphabet))));
    }
    text.push_str("end\n");
    to_global(name, text, "amd-il 1.10, the second implementation of swizzles", rows)
}

/// Masks that 1.9 allows.
fn masks(name: &str, alphabet: &str, words: &[String]) -> Case {
    let mut text = format!("il_ps_2_0\n{}{}", literal(0, SOURCE), literal(1, OLD));
    let mut rows = Vec::new();
    for word in words {
        let mask = in_xyzw(word, alphabet);
        let k = rows.len();
        let _ = writeln!(text, "mov r1, l1\nmov r1.{word}, l0\nmov g[{k}], r1");
        let changes = vector::mask(&format!(".{mask}"));
        rows.push(std::array::from_fn(|c| match changes[c] {
            Change::Keep => OLD[c],
            Change::Take => SOURCE[c],
            Change::Set(word) => word,
        }));
    }
    text.push_str("end\n");
    to_global(name, text, "amd-il 1.9, the second implementation of masks", rows)
}

/// Letters in order, each character at a component of its own, and something is written.
fn is_mask(text: &str) -> bool {
    if text.chars().all(|c| c == '_') {
        return false;
    }
    let mut next = 0;
    for c in text.chars() {
        let at = "xyzw".find(c).unwrap_or(next);
        if at < next || at > 3 {
            return false;
        }
        next = at + 1;
    }
    true
}

/// `_neg` with every list, `_abs`, before the swizzle, after it, and on both sides.
fn negations(name: &str, opcode: &str, kind: Kind) -> Case {
    let mut text = format!("il_ps_2_0\n{}mov r0, l0\n", literal(0, SOURCE));
    let mut rows = Vec::new();
    let lists: Vec<String> = (1..16u32)
        .map(|bits| (0..4).filter(|k| bits & 1 << k != 0).map(|k| char::from(b"xyzw"[k])).collect())
        .collect();
    let mut spellings = vec!["_neg".to_owned()];
    spellings.extend(lists.iter().map(|list| format!("_neg({list})")));
    if kind == Kind::Float {
        let signs = spellings.clone();
        spellings.push("_abs".into());
        spellings.extend(signs.iter().map(|sign| format!("{sign}_abs")));
        spellings.extend(signs.iter().map(|sign| format!("_abs{sign}")));
    }
    for (n, modifiers) in spellings.iter().enumerate() {
        for (k, swizzle) in [".x", ".y000", ".wzyx", ".01xy", ".zw", ""].into_iter().enumerate() {
            let words = vector::modify(vector::swizzle(SOURCE, swizzle), modifiers, kind);
            let sum =
                |word: u32| if kind == Kind::Int { word } else { crate::reference::float::add(word, 0) };
            // Behind the swizzle, before it, and one modifier on either side.
            let mut places = vec![format!("{swizzle}{modifiers}"), format!("{modifiers}{swizzle}")];
            if let Some((first, second)) = modifiers.split_once("_abs").filter(|_| !swizzle.is_empty()) {
                if !first.is_empty() && second.is_empty() {
                    places.push(format!("{first}{swizzle}_abs"));
                }
            }
            // All places of one in six, one of the others.
            for place in places.iter().skip(if (n + k) % 6 == 0 { 0 } else { (n + k) % places.len() }).take(3)
            {
                let _ = writeln!(text, "{opcode} g[{}], r0{place}, r9.0000", rows.len());
                rows.push(words.map(sum));
            }
        }
    }
    text.push_str("end\n");
    to_global(name, text, "amd-il 1.12, the second implementation of modifiers", rows)
}

/// Version words, and what may stand before and behind them.
fn headers() -> Vec<Case> {
    let macro_first = "mdef(3)_out(1)_in(1)\nmov out0, in0\nmend\n";
    let texts: &[(&str, &str, &str)] = &[
        ("ps_2_0", "il_ps_2_0\n", ""),
        ("ps_3_0", "il_ps_3_0\n", ""),
        ("ps_2_1", "il_ps_2_1\n", ""),
        ("ps_bare", "il_ps\n", ""),
        ("ps_flags", "il_ps_2_0_mp_rt\n", ""),
        ("ps_upper_case", "IL_PS_2_0\n", ""),
        ("ps_comment_behind", "il_ps_2_0;main;\n", ""),
        ("ps_statement_behind", "il_ps_2_0 nop\n", ""),
        ("ps_blank_lines_before", "\n \t\r\n; a comment\n\nil_ps_2_0  \t\n", ""),
        ("ps_client_line", "dx11_ps\nil_ps_2_0\n", ""),
        ("ps_macro_before", macro_first, "il_ps_2_0\n"),
        ("cs_2_0", "il_cs_2_0\n", ""),
        ("cs_2_1", "il_cs_2_1\n", ""),
        ("cs_3_0", "il_cs_3_0\n", ""),
        ("cs_bare", "il_cs\n", ""),
        ("cs_statement_behind", "il_cs nop\n", ""),
    ];
    texts
        .iter()
        .map(|(name, first, second)| {
            let compute = name.starts_with("cs");
            let group = if compute { "dcl_num_thread_per_group 1\n" } else { "" };
            let text = format!("{first}{second}{group}{}mov g[0], l0\nend", literal(0, SOURCE));
            let extent = if compute { Extent::Grid { groups: [1; 3], block: [1; 3] } } else { ONE_PIXEL };
            let buffer = Buffer::row(Slot::Global, Format::UnsignedInt32x4, 1);
            let buffer = buffer.expecting(SOURCE.map(Want::Word));
            case(format!("header/{name}"), text, "amd-il 1.3", extent, vec![buffer])
        })
        .collect()
}

/// Interpolation modes, long and short names, and the ways to declare the position. The corner values make the
/// input 1, 2, 3, 4 everywhere, so that all modes agree.
fn interpolations() -> Vec<Case> {
    const MODES: [&str; 15] = [
        "notused",
        "constant",
        "linear",
        "linear_centroid",
        "linear_noperspective",
        "linear_noperspective_centroid",
        "linear_sample",
        "linear_noperspective_sample",
        "centroid",
        "noperspective",
        "sample",
        "noper_centroid",
        "noper_sample",
        "linear_noper_centroid",
        "linear_noper_sample",
    ];
    const POSITIONS: [&str; 8] = [
        "dcl_input_position_interp(MODE) v0.xy__",
        "dcl_input_usage(pos)_interp(MODE) v0.x___\ndcl_input_usage(position)_interp(MODE) v0.xy__",
        "dcl_input_usage(wincoord)_interp(MODE) v0",
        "dcl_input_wincoord_interp(MODE) v0.xy__",
        "dcl_input_pos_interp(MODE) v0",
        "dcl_input_position v0.xy__",
        "dcl_input_usage(pos) v0",
        "",
    ];
    const GENERIC: [&str; 3] = [
        "dcl_input_generic_interp(MODE) v1",
        "dcl_input_interp(MODE) v1",
        "dcl_input_usage(generic)_usageIndex(1)_interp(MODE) v1",
    ];
    let corners =
        DomainParam { ul: [1.0, 2.0, 3.0, 4.0], ll: [1.0, 2.0, 3.0, 4.0], lr: [1.0, 2.0, 3.0, 4.0] };
    MODES
        .iter()
        .enumerate()
        .map(|(k, mode)| {
            let position = POSITIONS[k % POSITIONS.len()].replace("MODE", mode);
            let generic = GENERIC[k % GENERIC.len()].replace("MODE", mode);
            let text = format!(
                "il_ps_2_0\n{position}\n{generic}\nmov r0.xy, v0.xyxy\nftoi r1.x, v0.x\nmov g[r1.x], r0.xy00\n\
                 mov g[r1.x+2], v1\nend\n"
            );
            let rows = [[0.5, 0.5, 0.0, 0.0], [1.5, 0.5, 0.0, 0.0], corners.ul, corners.ul];
            let wants = rows.into_iter().flatten().map(|f| Want::Word(f.to_bits()));
            let buffer = Buffer::row(Slot::Global, Format::UnsignedInt32x4, 4).expecting(wants);
            let extent = Extent::Domain { x: 0, y: 0, width: 2, height: 1 };
            let mut case =
                case(format!("input/{mode}"), text, "amd-il 2.4, 3.1", extent, vec![buffer]);
            let mut params = [DomainParam::default(); 8];
            params[1] = corners;
            case.params = Some(params);
            case
        })
        .collect()
}

/// Every combination of fence suffixes, in two orders, between accesses of the thread's own memory.
fn fences() -> Case {
    const SUFFIXES: [&str; 7] =
        ["_threads", "_lds", "_memory", "_sr", "_mem_write_only", "_mem_read_only", "_gds"];
    let mut text = String::from(
        "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_lds_id(0) 256\ndcl_gds_id(0) 256\n\
         dcl_literal l0, 2, 1, 0, 0\nishl r0.x, vAbsTidFlat.x, l0.x\nmov r1.x, l0.z\n",
    );
    for bits in 1..128u32 {
        let mut chosen: Vec<&str> = (0..7).filter(|k| bits & 1 << k != 0).map(|k| SUFFIXES[k]).collect();
        if bits % 2 == 0 {
            chosen.reverse();
        }
        let _ = writeln!(
            text,
            "lds_store_id(0) r0.x, r1.x\nfence{}\nlds_load_id(0) r1.x, r0.x\niadd r1.x, r1.x, l0.y",
            chosen.concat()
        );
    }
    text.push_str("uav_raw_store_id(0) mem0.x, r0.x, r1.x\nend\n");
    let buffer = Buffer::row(Slot::Uav(0), Format::UnsignedInt32x1, 64).expecting([Want::Word(127); 64]);
    let extent = Extent::Grid { groups: [1; 3], block: [64, 1, 1] };
    case("fences".into(), text, "amd-il 5.13", extent, vec![buffer])
}

/// The group sizes that programs declare, in every form of the declaration.
fn group_sizes() -> Vec<Case> {
    let mut sizes = vec![[10, 1, 1], [32, 1, 1], [256, 1, 1], [8, 8, 1], [4, 4, 4], [1, 1, 64]];
    sizes.extend((64..=1024).step_by(32).map(|x| [x, 1, 1]));
    sizes
        .iter()
        .enumerate()
        .map(|(k, &[x, y, z])| {
            let threads = x * y * z;
            let declaration = match k % 3 {
                0 => format!("dcl_num_thread_per_group {x},{y},{z}"),
                1 if y == 1 && z == 1 => format!("dcl_num_thread_per_group {x}"),
                1 => format!("dcl_num_thread_per_group {x}, {y}, {z}"),
                _ => format!("dcl_num_thread_per_blk {x}, {y} ,{z}"),
            };
            // Two groups; the last thread's identifiers go through LDS to the first one.
            let text = format!(
                "il_cs_2_0\n{declaration}\ndcl_lds_id(0) 16\ndcl_literal l0, {}, 0, 1, 0\n\
                 mov r0.xyz, vTidInGrp.xyz\nmov r0.w, vTidInGrpFlat.x\nieq r1.x, vTidInGrpFlat.x, l0.x\n\
                 if_logicalnz r1.x\nlds_store_vec_id(0) mem0, l0.y, l0.y, r0\nendif\nfence_threads_lds\n\
                 if_logicalz vTidInGrpFlat.x\nlds_load_vec_id(0) r2, l0.y, l0.y\nmov g[vThreadGrpIdFlat.x], r2\n\
                 endif\nend\n",
                threads - 1
            );
            let row = [x - 1, y - 1, z - 1, threads - 1].map(Want::Word);
            let buffer = Buffer::row(Slot::Global, Format::UnsignedInt32x4, 2).expecting([row, row].concat());
            let extent = Extent::Grid { groups: [2, 1, 1], block: [x, y, z] };
            case(format!("group/{x}x{y}x{z}"), text, "amd-il 2.3, 3.6", extent, vec![buffer])
        })
        .collect()
}

/// Everything large at once: 20 resources, 8 outputs, a constant buffer of 4096 rows, 200 literals, registers up to
/// r38688, 3000 statements in a row, nesting 40 deep.
fn sizes() -> Case {
    const RESOURCES: u32 = 20;
    const DEEP: usize = 40;
    let mut text = String::from("il_ps_2_0\ndcl_cb cb0[4096]\ndcl_literal l0, 1, 0, 4095, 7\n");
    (0..8).for_each(|k| text.push_str(&format!("dcl_output_generic o{k}\n")));
    for k in 0..RESOURCES {
        let _ = writeln!(
            text,
            "dcl_resource_id({k})_type(2d,unnorm)_fmtx(uint)_fmty(uint)_fmtz(uint)_fmtw(uint)"
        );
    }
    // r38688.x = 1 + 2 + … over resources i0 to i19, each holding its number and one.
    text.push_str("mov r38688, r9.0000\n");
    for k in 0..RESOURCES {
        let _ =
            writeln!(text, "sample_resource({k})_sampler({}) r{}, vWinCoord0.xy00", k % 16, 1000 + 997 * k);
        let _ = writeln!(text, "iadd r38688.x, r38688.x, r{}.x", 1000 + 997 * k);
    }
    // r38688.y = 1 + … + 200 over literals declared where they are used.
    for k in 1..=200 {
        let _ =
            writeln!(text, "dcl_literal l{}, 0, {k}, 0, 0\niadd r38688.y, r38688.y, l{}.y", 100 + k, 100 + k);
    }
    (0..3000).for_each(|_| text.push_str("iadd r38688.z, r38688.z, l0.x\n"));
    for k in 0..DEEP {
        text.push_str(if k % 2 == 0 { "if_logicalnz l0.x\n" } else { "whileloop\n" });
        text.push_str("iadd r38688.w, r38688.w, l0.x\n");
    }
    for k in (0..DEEP).rev() {
        text.push_str(if k % 2 == 0 { "endif\n" } else { "break\nendloop\n" });
    }
    text.push_str("mov r5.x, l0.z\n");
    (0..8).for_each(|k| {
        let _ =
            writeln!(text, "mov o{k}, {}", ["r38688", "cb0[4095]", "cb0[r5.x]", "cb0[l0.w + 4088]"][k % 4]);
    });
    text.push_str("end\n");
    let sums = [210, 20100, 3000, DEEP as u32];
    let last = [11, 22, 33, 44];
    let mut constants = vec![0; 4096 * 4];
    constants[4095 * 4..].copy_from_slice(&last);
    let mut buffers = vec![Buffer::row(Slot::Constant(0), Format::UnsignedInt32x4, 4096).holding(&constants)];
    for k in 0..RESOURCES {
        buffers.push(Buffer::row(Slot::Resource(k), Format::UnsignedInt32x1, 1).holding(&[k + 1]));
    }
    for k in 0..8 {
        let row = if k % 4 == 0 { sums } else { last };
        buffers.push(Buffer::row(Slot::Output(k), Format::UnsignedInt32x4, 1).expecting(row.map(Want::Word)));
    }
    case("sizes".into(), text, "il-usage 16", ONE_PIXEL, buffers)
}
