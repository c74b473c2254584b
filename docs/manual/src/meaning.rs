//! What an instruction means, from its row: words, pseudo-code, operands.

use recal_il::isa::{
    Access, Area, AtomicOp, Choice, LaneOp, Meaning, Memory, Opcode, Row, Vector, VectorRule, View,
};

use crate::pseudo::{self, OPERANDS};

/// The lane operations of a row, with what chooses them.
pub fn operations(row: &Row) -> Vec<(&'static str, LaneOp)> {
    match row.meaning {
        Meaning::Lane(_, Choice::One(op)) => vec![("", op)],
        Meaning::Lane(_, Choice::Ieee { bare, ieee }) => vec![("", bare), ("_ieee", ieee)],
        Meaning::Lane(_, Choice::Zeroop { op, .. }) => vec![("", op)],
        _ => Vec::new(),
    }
}

/// How operands are taken and results are placed.
pub fn words(row: &Row) -> Vec<String> {
    let mut words = Vec::new();
    words.extend(Some(row.opcode.details()).filter(|d| !d.is_empty()));
    match row.meaning {
        Meaning::Lane(view, _) => {
            words.push(match row.rule {
                VectorRule::PerComponent => "Each component of the mask is computed from the same position of the sources, after their swizzles.",
                VectorRule::ScalarReplicated => "Position w of each source is read (a swizzle of one letter is that letter everywhere); the result goes to every component of the mask.",
                VectorRule::Reduction => "Several positions are combined; the result goes to every component of the mask.",
                VectorRule::DoublePair => "A number of 64 bits is a pair of words: of a source positions x (low) and y (high), of the destination the pair `xy` or `zw` that the mask names.",
                VectorRule::Other => "The result goes to the components of the mask.",
            }.to_string());
            words.push(match view {
                View::Float => "Sources are floats: denormals count as zeros, and modifiers such as `_abs`, `_x2` and `_bias` are arithmetic.",
                View::Bits => "Bits are taken as they are: `_neg` and `_abs` change the sign bit, denormals and NaNs stay.",
                View::Int => "Words are integers or bits: `_neg` is two's complement, other modifiers do nothing and are warned of.",
                View::Double => "Of modifiers, `_abs` and `_neg` work, on the sign of the high word.",
                View::Quad => "Words are pairs, low word first.",
            }.to_string());
        }
        Meaning::Memory(memory) => words.extend(memory_words(row, memory)),
        Meaning::Refused(reason) => {
            words.push(format!("The compiler knows it by name and refuses it: {reason}."))
        }
        _ => {}
    }
    words
}

fn area_words(area: Area) -> &'static str {
    match area {
        Area::Uav => "The memory is what is bound to `uav` with the number of `_id`.",
        Area::Srv => "The memory is what is bound to the read-only buffer with the number of `_id`.",
        Area::Lds => "The memory is the block of LDS with that number: one for each group.",
        Area::Gds => "The memory is the block of GDS with that number: one for all groups.",
    }
}

const OUTSIDE: &str =
    "Outside of the memory that is bound, loads give 0 and stores do nothing; that is no error.";

fn memory_words(row: &Row, memory: Memory) -> Vec<String> {
    let structured = "A view of records takes record and byte offset in positions x and y of the address.";
    let texture = |what: &str| {
        vec![
        what.to_string(),
        "The four components of the texel are converted by the format of what is bound; then the swizzle-like order of the mask applies. A resource of one component delivers it in all four; of two, the others are 0 and 1.".to_string(),
    ]
    };
    match memory {
        Memory::Sample => texture("Coordinates are floats: of texels where the resource is `unnorm`, of the whole surface from 0 to 1 else. The texel in which the coordinate lies is read, or a weighted mean of neighbours where the sampler is set to linear (`calCtxSetSamplerParams`). Coordinates outside follow the wrap mode. There is one level, so bias, gradients and level change nothing."),
        Memory::Gather => texture("One component (`_compselect`, else x) of the four texels that a linear filter would weigh goes to w, z, x, y: upper left, upper right, lower left, lower right."),
        Memory::GatherOffset => texture("As `fetch4`; the second source is added to the coordinates, in texels."),
        Memory::Fetch => texture("Coordinates are integers, of texels: x, y, z as the type has dimensions. No sampler takes part; outside, 0 is read."),
        Memory::ResourceInfo => vec!["Width, height and depth of the resource in texels go to x, y, z, its number of levels, 1, to w: as floats, with `_uint` as integers.".into()],
        Memory::BufferInfo => vec!["The number of elements of the buffer (of a raw one, of bytes), as an integer, goes to every component of the mask.".into()],
        Memory::Load(area, access) => {
            let what = match access {
                Access::Vector | Access::Split => "Component k of the mask is the word at the address plus 4 k bytes; the low two bits of an address are ignored.",
                Access::Dword => "One word, which goes to every component of the mask.",
                Access::U8 => "One byte, filled up with zeros.",
                Access::I8 => "One byte, its sign copied.",
                Access::U16 => "Two bytes, filled up with zeros.",
                Access::I16 => "Two bytes, their sign copied.",
                Access::Typed => "Coordinates are integers, of elements. The element is converted by its format; components that it lacks are 0, 0 and 1.",
                Access::Arena => "`_size` says whether a word, two bytes or one byte are read; fewer are filled up with zeros.",
                Access::Wide => "Two words, at an address that is a multiple of 8; lower bits are ignored.",
            };
            let mut words = vec![what.to_string(), area_words(area).to_string()];
            words.extend(matches!(access, Access::Vector | Access::Split).then(|| structured.to_string()));
            words.push(OUTSIDE.to_string());
            words
        }
        Memory::Store(area, access) => {
            let what = match access {
                Access::Vector | Access::Split => "The destination is the word `mem` with a mask: component k of the mask goes to the address plus 4 k bytes.",
                Access::U8 | Access::I8 => "The low byte of position x is stored.",
                Access::U16 | Access::I16 => "The low two bytes of position x are stored.",
                Access::Typed => "Coordinates are integers, of elements. The four positions of the source are converted to the format of what is bound.",
                Access::Arena => "`_size` says whether a word, two bytes or one byte of position x are stored.",
                Access::Wide => "Positions x and y are stored, at an address that is a multiple of 8.",
                Access::Dword => "Position x of the source is stored.",
            };
            vec![what.to_string(), area_words(area).to_string(), OUTSIDE.to_string()]
        }
        Memory::Atomic(area, op) | Memory::Atomic64(area, op) => atomic_words(area, op, false),
        Memory::AtomicRead(area, op) | Memory::AtomicRead64(area, op) => atomic_words(area, op, true),
        Memory::Append | Memory::Consume => vec![
            format!("The counter belongs to the UAV with that number{}. Counters live as long as the device is open; the host sees them through `calReadAtomicCounter`.",
                if row.opcode == Opcode::AppendBufAlloc { "; the result is its value before one is added" } else { "; one is taken off, and the result is its value after that" }),
        ],
        Memory::WriteOwn => vec!["A thread has the words of `dcl_lds_size_per_thread`. Component k of the mask goes to its word `_lOffset` + k.".into()],
        Memory::ReadAny => vec![
            "Position x of the source is the number of a thread in its group, position y an offset in words, a multiple of 4. Four words of that thread's area are read.".into(),
            "With `_neighborExch`, what four neighbouring threads have read is transposed: thread a of the four gets component a of each.".into(),
        ],
        Memory::Fence => vec![
            "Accesses of the kinds that are named, before it, are done before those after it begin. `_threads` waits until all threads of the group are there; those that have returned count as being there.".into(),
            "`fence_threads_lds` between writing and reading LDS is the usual form. Where threads of a group have parted, a barrier is a mistake that `CAL_DEBUG=checks` reports.".into(),
        ],
        Memory::InitShared => vec!["It stands at the beginning of the program; `sr#` then begin as 0 in every launch.".into()],
    }
}

fn atomic_words(area: Area, op: AtomicOp, read: bool) -> Vec<String> {
    let mut words = vec![area_words(area).to_string()];
    if op == AtomicOp::CmpXchg {
        words.push(if area == Area::Uav {
            "Of a view the new value stands first, the value to compare with second.".into()
        } else {
            "The value to compare with stands first, the new one second.".into()
        });
    }
    words.push(if read {
        "The value before goes to the destination. No other access comes between reading and writing; the order of threads is not defined.".into()
    } else {
        "No other access comes between reading and writing; the order of threads is not defined.".into()
    });
    words.push(if read {
        "Outside of the memory nothing happens, and the old value is 0.".into()
    } else {
        "Outside of the memory nothing happens.".into()
    });
    words
}

/// Pseudo-code; where a specifier chooses, what chooses stands first. `None` for declarations and flow.
pub fn code(row: &Row) -> Vec<(&'static str, String)> {
    let sources = &OPERANDS[..usize::from(row.sources)];
    match row.meaning {
        Meaning::Lane(..) => operations(row)
            .into_iter()
            .map(|(chooses, op)| (chooses, pseudo::lane(op, sources).unwrap_or_else(|| long(op, sources))))
            .collect(),
        Meaning::Vector(vector) => vec![("", vector_code(vector, row).to_string())],
        Meaning::Memory(memory) => memory_code(row, memory).into_iter().map(|code| ("", code)).collect(),
        _ => Vec::new(),
    }
}

/// Functions of many steps, by what they approach. The steps are those of the lane function.
fn long(op: LaneOp, sources: &[&'static str]) -> String {
    use LaneOp as O;
    let formula = match op {
        O::Exp => "2 ^ src0",
        O::Exn => "e ^ src0",
        O::Log => "log2(src0); where src0 is 0, zeroop decides",
        O::Ln => "ln(src0); where src0 is 0, zeroop decides",
        O::Pow => "src0 ^ src1",
        O::Sin => "sin(src0)",
        O::Cos => "cos(src0)",
        O::Tan => "tan(src0)",
        O::Asin => "arc sine of src0",
        O::Acos => "arc cosine of src0",
        O::Atan => "arc tangent of src0",
        O::Pireduce => "src0 - 2 pi * nearest(src0 / 2 pi)",
        O::Div | O::Ddiv => "src0 /. src1; where src1 is 0, zeroop decides",
        O::Rcp | O::Drcp => "1 /. src0; where src0 is 0, zeroop decides",
        O::Rsq | O::Drsq => "1 /. sqrt(src0); where src0 is 0, zeroop decides",
        _ => {
            let facts = crate::numerics::of(op);
            let definition = facts.first().map_or("", |f| f.definition.as_str());
            return format!("dst = {}({})    # {definition}", op.name(), sources.join(", "));
        }
    };
    format!("dst = {formula}")
}

fn vector_code(vector: Vector, row: &Row) -> &'static str {
    match vector {
        Vector::Dot2 => "sum = src0.x * src1.x\nsum = src0.y * src1.y + sum\ndst = sum",
        Vector::Dot2Add => "sum = src0.x * src1.x\nsum = src0.y * src1.y + sum\ndst = sum + src2.w",
        Vector::Dot3 => {
            "sum = src0.x * src1.x\nsum = src0.y * src1.y + sum\nsum = src0.z * src1.z + sum\ndst = sum"
        }
        Vector::Dot4 => {
            "sum = src0.x * src1.x\nsum = src0.y * src1.y + sum\nsum = src0.z * src1.z + sum\nsum = src0.w * src1.w + sum\ndst = sum"
        }
        Vector::Length => "dst = sqrt(dp3(src0, src0))",
        Vector::Distance => "d = src0 - src1\ndst = sqrt(dp3(d, d))",
        Vector::Normalize => {
            "scale = rsq_zeroop(dp3(src0, src0))    # dp4 with _nrm4\nfor c in mask: dst.c = src0.c * scale"
        }
        Vector::Cross => {
            "dst.x = src0.y * src1.z - src0.z * src1.y\ndst.y = src0.z * src1.x - src0.x * src1.z\ndst.z = src0.x * src1.y - src0.y * src1.x\ndst.w = 0"
        }
        Vector::Reflect => {
            "n = src1    # with _normalize: src1 * rsq(dp3(src1, src1))\nd = 2 * dp3(src0, n)\nfor c in mask: dst.c = src0.c - d * n.c"
        }
        Vector::FaceForward => {
            "toward = dp3(src1, src2) < 0\nfor c in mask: dst.c = toward ? src0.c : -src0.c"
        }
        Vector::Lit => {
            "dst.x = 1\ndst.y = max(src0.x, 0)\ndst.z = src0.x > 0 and src0.y > 0 ? src0.y ^ clamp(src0.w, -127.998, 127.998) : 0\ndst.w = 1"
        }
        Vector::Dst => "dst.x = 1\ndst.y = src0.y * src1.y\ndst.z = src0.z\ndst.w = src1.w",
        Vector::SinCos => "dst.x = cos(src0.w)\ndst.y = sin(src0.w)\ndst.zw = 0",
        Vector::ExpPartial => {
            "dst.x = 2 ^ floor(src0.w)\ndst.y = src0.w - floor(src0.w)\ndst.z = 2 ^ src0.w\ndst.w = 1"
        }
        Vector::LogPartial => {
            "a = |src0.w|\ndst.x = floor(log2(a))\ndst.y = a / 2 ^ dst.x\ndst.z = log2(a)\ndst.w = 1"
        }
        Vector::Transpose => {
            "for i in 0..4, k in 0..4: dst[i][k] = src0[k][i]    # four registers from each on"
        }
        Vector::Set => "for c in mask: dst.c = relop(src0.c, src1.c) ? 1.0 : 0.0",
        Vector::Compare => "for c in mask: dst.c = relop(src0.c, cmpval) ? src1.c : src2.c",
        Vector::ConditionalMove => "for c in mask: if src0.c != 0.0: dst.c = src1.c",
        Vector::Sad4 => "sum = src2.x\nfor c in xyzw: sum = sad(src0.c, src1.c, sum)\ndst = sum",
        Vector::PackBytes => "for k in 0..4: byte k of dst = saturated to 0..255(nearest(src0[k]))",
        Vector::DoubleFrexp => "# src0.xy = m * 2 ^ e with 0.5 <= |m| < 1\ndst.x = 0\ndst.y = e\ndst.zw = m",
        Vector::Frexp => "# src0.x = m * 2 ^ e with 0.5 <= |m| < 1\ndst.xz = 0\ndst.y = e\ndst.w = m",
        Vector::PairMove => "dst = src0    # two words",
        Vector::PairSelect => "dst = src0.x != 0 ? src1 : src2    # two words each",
        Vector::DivScale | Vector::DoubleDivScale => {
            "# src0 is src1 or src2, the denominator or the numerator\ndst = src0 times a power of 2 that keeps the quotient in range\nflag = the quotient has to be scaled back    # kept for div_fmas"
        }
        Vector::DivFmas | Vector::DoubleDivFmas => {
            if row.sources == 3 {
                "dst = fused(src0, src1, src2), scaled back where the last div_scale set the flag"
            } else {
                ""
            }
        }
    }
}

fn memory_code(row: &Row, memory: Memory) -> Option<String> {
    let store_source = row.sources.saturating_sub(1);
    Some(match memory {
        Memory::Sample => "dst = filtered texel of resource[id] at src0".into(),
        Memory::Gather | Memory::GatherOffset => "dst.wzxy = one component of the 2 x 2 texels around src0".into(),
        Memory::Fetch => "dst = resource[id][src0.x, src0.y, src0.z], 0 outside".into(),
        Memory::ResourceInfo => "dst = (width, height, depth, 1)".into(),
        Memory::BufferInfo => "dst = number of elements".into(),
        Memory::Load(_, Access::Vector) => "a = src0.x & ~3    # of records: src0.x * stride + src0.y\nfor c in mask: dst.c = memory[a + 4 c]".into(),
        Memory::Load(_, Access::Split) => "a = src0.x    # of records: src0.x * stride + src1.x\nfor c in mask: dst.c = memory[a + 4 c]".into(),
        Memory::Load(_, Access::Typed) => "dst = element[src0], converted".into(),
        Memory::Load(_, Access::Wide) => "dst = (memory[src0.x], memory[src0.x + 4])".into(),
        Memory::Load(_, Access::Dword) => "dst = memory[src0.x & ~3]".into(),
        Memory::Load(_, Access::I8 | Access::I16) => "dst = sign_extended(memory[src0.x])".into(),
        Memory::Load(..) => "dst = zero_extended(memory[src0.x])".into(),
        Memory::Store(_, Access::Vector | Access::Split) if row.destinations == 1 => {
            format!("a = src0.x    # of records: record * stride + byte\nfor c in mem's mask: memory[a + 4 c] = src{store_source}.c")
        }
        Memory::Store(_, Access::Typed) => "element[src0] = converted(src1)".into(),
        Memory::Store(_, Access::Wide) => "memory[src0.x] = src1.x\nmemory[src0.x + 4] = src1.y".into(),
        Memory::Store(..) => "memory[src0.x] = low bits of src1.x".into(),
        Memory::Atomic(area, op) | Memory::AtomicRead(area, op) | Memory::Atomic64(area, op) | Memory::AtomicRead64(area, op) => {
            let wide = matches!(memory, Memory::Atomic64(..) | Memory::AtomicRead64(..));
            let mut new = pseudo::atomic(op, wide, usize::from(row.sources));
            if op == AtomicOp::CmpXchg && area != Area::Uav {
                // There the value to compare with stands first.
                new = new.replace("src1", "srcX").replace("src2", "src1").replace("srcX", "src2");
            }
            let read = matches!(memory, Memory::AtomicRead(..) | Memory::AtomicRead64(..));
            format!("old = memory[src0]\n{new}\nmemory[src0] = new{}", if read { "\ndst = old" } else { "" })
        }
        Memory::Append => "dst = counter[id]\ncounter[id] = counter[id] + 1".into(),
        Memory::Consume => "counter[id] = counter[id] - 1\ndst = counter[id]".into(),
        Memory::WriteOwn => "for c in mask: lds[own][lOffset + c] = src0.c".into(),
        Memory::ReadAny => "for c in xyzw: dst.c = lds[thread src0.x][src0.y + c]".into(),
        Memory::Fence | Memory::InitShared => return None,
    })
}
