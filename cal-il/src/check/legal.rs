//! What is refused by name, and how instructions read and write their operands.

use crate::isa::{Category, Meaning, Opcode, Scope, VectorRule, View};

/// Why an instruction is refused: rule, message after its name, note.
pub(super) fn refusal(opcode: Opcode) -> Option<(&'static str, &'static str, &'static str)> {
    use Opcode as O;
    Some(match opcode {
        O::Texld | O::Texldb | O::Texldd | O::Callnz | O::Dclpt => return None,
        O::Loop | O::Mova | O::Initv | O::Def | O::Defb | O::Dclarray | O::Dcldef => (
            "legacy",
            "belongs to the DirectX 9 constant and address registers, which CAL kernels do not have",
            "use `whileloop` with `break_logicalnz`, `dcl_literal`, and indices such as `cb0[r1.x]`",
        ),
        O::Alias => (
            "undocumented",
            "is known by name only: no kernel with it was ever published",
            "use `mov`, or the register itself",
        ),
        O::Memexport | O::Memimport | O::Scatter | O::DclPersistent | O::DclPersistentArray => {
            ("legacy", "needs hardware older than CAL kernels", "write through `g[]` or a UAV")
        }
        O::DclSemaphore | O::InitSemaphore | O::SemaphoreSignal | O::SemaphoreWait => (
            "semaphore",
            "waits for other groups, and no device here promises that other groups make progress",
            "use atomics between launches, or one launch per phase",
        ),
        O::DclFunctionBody | O::DclFunctionTable | O::DclInterfacePtr | O::Fcall | O::LoadFptr => {
            ("graphics-only", "belongs to the interfaces of DirectX 11 shaders", "use `call`")
        }
        O::SampleReturnCode => {
            ("graphics-only", "belongs to partially resident textures", "CAL resources are always resident")
        }
        _ if opcode.row().scope == Scope::Graphics => (
            "graphics-only",
            "needs a graphics pipeline",
            "CAL kernels have no rasteriser state, vertices or derivatives",
        ),
        _ => return None,
    })
}

/// The instruction to which an old spelling corresponds.
pub(super) fn modern(opcode: Opcode) -> Opcode {
    match opcode {
        Opcode::Texld => Opcode::Sample,
        Opcode::Texldb => Opcode::SampleB,
        Opcode::Texldd => Opcode::SampleG,
        Opcode::Callnz => Opcode::CallLogicalnz,
        Opcode::Ifnz => Opcode::IfLogicalnz,
        _ => opcode,
    }
}

/// Modifiers other than negation have a meaning on sources.
pub(super) fn float_sources(opcode: Opcode) -> bool {
    use Opcode as O;
    match opcode.row().category {
        Category::Int | Category::Uint | Category::Bit | Category::Int64 => false,
        Category::Lds | Category::Gds | Category::Uav | Category::Memory | Category::Sync => false,
        Category::Compare => !matches!(opcode, O::Ieq | O::Ine | O::Ige | O::Ilt | O::Uge | O::Ult),
        Category::Convert => !matches!(
            opcode,
            O::Itof
                | O::Utof
                | O::Itod
                | O::Utod
                | O::F162f
                | O::Unpack0
                | O::Unpack1
                | O::Unpack2
                | O::Unpack3
        ),
        Category::Texture => !matches!(opcode, O::Load | O::Resinfo),
        _ => true,
    }
}

/// The sources are doubles, of which modifiers change only the sign.
pub(super) fn double_sources(opcode: Opcode) -> bool {
    use crate::isa::Vector as V;
    match opcode.row().meaning {
        Meaning::Lane(View::Double, _) => opcode != Opcode::F2d,
        Meaning::Vector(v) => {
            matches!(v, V::DoubleFrexp | V::PairMove | V::PairSelect | V::DoubleDivScale | V::DoubleDivFmas)
        }
        _ => false,
    }
}

/// `_x2` … `_d8` have a meaning on the result.
pub(super) fn float_result(opcode: Opcode) -> bool {
    use Opcode as O;
    match opcode.row().category {
        Category::Float | Category::Select => opcode != O::Dmovc,
        Category::Texture => true,
        Category::Convert => matches!(
            opcode,
            O::Itof | O::Utof | O::D2f | O::F162f | O::Unpack0 | O::Unpack1 | O::Unpack2 | O::Unpack3
        ),
        Category::Compare => opcode == O::Set,
        _ => false,
    }
}

/// `_sat` has a meaning on the result.
pub(super) fn saturable(opcode: Opcode) -> bool {
    float_result(opcode) || matches!(opcode, Opcode::Dadd | Opcode::Dmul | Opcode::Dmad | Opcode::Ddiv)
}

/// The result is a pair of components and a mask must not cut it.
pub(super) fn pair_result(opcode: Opcode) -> bool {
    let row = opcode.row();
    row.rule == VectorRule::DoublePair
        && row.category != Category::Compare
        && !compares_64(opcode)
        && opcode != Opcode::Dfrexp
}

fn compares_64(opcode: Opcode) -> bool {
    use Opcode as O;
    matches!(opcode, O::I64eq | O::I64ge | O::I64lt | O::I64ne | O::U64ge | O::U64lt)
}

/// The destination is `mem`.
pub(super) fn writes_mem(opcode: Opcode) -> bool {
    use Opcode as O;
    matches!(
        opcode,
        O::UavRawStore
            | O::UavStructStore
            | O::LdsWriteVec
            | O::LdsStoreVec
            | O::UavByteStore
            | O::UavShortStore
    )
}
