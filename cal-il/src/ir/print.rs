//! A program as text for people: one statement a line, `%n` for registers. Nothing reads it back.

use std::fmt::{self, Display, Formatter, Write};

use super::{
    AtomicAddress, Block, Builtin, Cond, Dst4, Id, InfoSource, MemoryInst, Operand, Program, Space, Src4,
    StmtKind, ThreadId, Width,
};

/// The components by name.
const LETTERS: [char; 4] = ['x', 'y', 'z', 'w'];

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "; {:?} program, {} registers", self.stage, self.registers)?;
        for output in &self.outputs {
            let [x, y, z, w] = output.registers;
            writeln!(f, "; o{} = %{x} %{y} %{z} %{w}", output.index)?;
        }
        for (number, function) in self.functions.iter().enumerate() {
            match function.label {
                None => writeln!(f, "main {{")?,
                Some(label) => writeln!(f, "function {number} ; func {label}\n{{")?,
            }
            block(f, &function.body, 1)?;
            writeln!(f, "}}")?;
        }
        Ok(())
    }
}

fn indent(f: &mut Formatter<'_>, depth: usize) -> fmt::Result {
    // Deep nesting must not make the text quadratic.
    (0..depth.min(40)).try_for_each(|_| f.write_str("  "))
}

fn block(f: &mut Formatter<'_>, statements: &Block, depth: usize) -> fmt::Result {
    for stmt in statements {
        indent(f, depth)?;
        match &stmt.kind {
            StmtKind::Lane(inst) => {
                write!(f, "%{}", inst.dst[0])?;
                if inst.dst[0] != inst.dst[1] {
                    write!(f, ", %{}", inst.dst[1])?;
                }
                write!(f, " = {}", inst.op.name())?;
                list(f, " ", &inst.args)?;
            }
            StmtKind::Memory(inst) => write!(f, "{inst}")?,
            StmtKind::If { cond, then, otherwise } => {
                writeln!(f, "if {cond} {{")?;
                block(f, then, depth + 1)?;
                if !otherwise.is_empty() {
                    indent(f, depth)?;
                    writeln!(f, "}} else {{")?;
                    block(f, otherwise, depth + 1)?;
                }
                indent(f, depth)?;
                f.write_char('}')?;
            }
            StmtKind::Loop { body } => {
                writeln!(f, "loop {{")?;
                block(f, body, depth + 1)?;
                indent(f, depth)?;
                f.write_char('}')?;
            }
            StmtKind::Switch { selector, arms } => {
                writeln!(f, "switch {selector} {{")?;
                for arm in arms {
                    indent(f, depth)?;
                    for label in &arm.labels {
                        write!(f, "case {label} ")?;
                    }
                    writeln!(f, "{}:", if arm.default { "default " } else { "" })?;
                    block(f, &arm.body, depth + 1)?;
                }
                indent(f, depth)?;
                f.write_char('}')?;
            }
            StmtKind::Break(cond) => guarded(f, "break", cond)?,
            StmtKind::Continue(cond) => guarded(f, "continue", cond)?,
            StmtKind::Return(cond) => guarded(f, "return", cond)?,
            StmtKind::Call { function, cond } => guarded(f, &format!("call {function}"), cond)?,
            StmtKind::Discard(cond) => guarded(f, "discard", &Some(*cond))?,
            StmtKind::Fence(fence) => write!(f, "fence {fence:?}")?,
        }
        f.write_char('\n')?;
    }
    Ok(())
}

fn guarded(f: &mut Formatter<'_>, what: &str, cond: &Option<Cond>) -> fmt::Result {
    f.write_str(what)?;
    cond.as_ref().map_or(Ok(()), |cond| write!(f, " if {cond}"))
}

fn list(f: &mut Formatter<'_>, before: &str, operands: &[Operand]) -> fmt::Result {
    for (k, operand) in operands.iter().enumerate() {
        write!(f, "{}{operand}", if k == 0 { before } else { ", " })?;
    }
    Ok(())
}

impl Display for Cond {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.nonzero { "" } else { "!" }, self.operand)
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Operand::Reg(reg) => write!(f, "%{reg}"),
            Operand::Imm(word) => {
                let value = f32::from_bits(word);
                // Words that look like ordinary floats are shown as such too.
                if word != 0 && (1e-9..1e9).contains(&value.abs()) {
                    write!(f, "0x{word:08X}({value})")
                } else if word < 1 << 16 {
                    write!(f, "{word}")
                } else {
                    write!(f, "0x{word:08X}")
                }
            }
            Operand::Const { buffer, row, component } => {
                write!(f, "cb{buffer}[{row}].{}", LETTERS[usize::from(component & 3)])
            }
            Operand::Builtin(builtin) => write!(f, "{builtin}"),
        }
    }
}

impl Display for Builtin {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let letter = |c: &u8| LETTERS[usize::from(c & 3)];
        match self {
            Builtin::Thread(id, c) => {
                let name = match id {
                    ThreadId::InGroup => "vTidInGrp",
                    ThreadId::InGroupFlat => "vTidInGrpFlat",
                    ThreadId::Absolute => "vAbsTid",
                    ThreadId::AbsoluteFlat => "vAbsTidFlat",
                    ThreadId::Group => "vThreadGrpId",
                    ThreadId::GroupFlat => "vThreadGrpIdFlat",
                };
                write!(f, "{name}.{}", letter(c))
            }
            Builtin::Position(c) => write!(f, "vWinCoord0.{}", letter(c)),
            Builtin::Interpolant(number, c) => write!(f, "v{number}.{}", letter(c)),
            Builtin::ObjectIndex => f.write_str("vObjIndex0"),
            Builtin::Timer(c) => write!(f, "Tmr.{}", letter(c)),
            Builtin::ComputeUnit => f.write_str("cu_id"),
            Builtin::WaveSlot => f.write_str("wave_id"),
        }
    }
}

impl Display for Id {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.base)?;
        self.index.map_or(Ok(()), |index| write!(f, "+{index}"))
    }
}

impl Display for Space {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Space::Uav(n) => write!(f, "uav{n}"),
            Space::Srv(n) => write!(f, "srv{n}"),
            Space::Lds(n) => write!(f, "lds{n}"),
            Space::Gds(n) => write!(f, "gds{n}"),
        }
    }
}

/// Destinations as `%1 _ %2 _`.
struct To<'a>(&'a Dst4);

impl Display for To<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (k, reg) in self.0.iter().enumerate() {
            let space = if k == 0 { "" } else { " " };
            match reg {
                Some(reg) => write!(f, "{space}%{reg}")?,
                None => write!(f, "{space}_")?,
            }
        }
        Ok(())
    }
}

/// Sources as `%1 _ 5 _`.
struct From<'a>(&'a Src4);

impl Display for From<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (k, word) in self.0.iter().enumerate() {
            let space = if k == 0 { "" } else { " " };
            match word {
                Some(word) => write!(f, "{space}{word}")?,
                None => write!(f, "{space}_")?,
            }
        }
        Ok(())
    }
}

/// `index` or `index + offset`.
struct At(Operand, i32);

impl Display for At {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            At(Operand::Imm(base), offset) => write!(f, "{}", (*base as i32).wrapping_add(*offset)),
            At(index, 0) => write!(f, "{index}"),
            At(index, offset) => write!(f, "{index}{offset:+}"),
        }
    }
}

fn width(width: Width) -> &'static str {
    match width {
        Width::Dwords => "",
        Width::U8 => ".u8",
        Width::I8 => ".i8",
        Width::U16 => ".u16",
        Width::I16 => ".i16",
    }
}

impl Display for MemoryInst {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            MemoryInst::Sample { resource, sampler, unnormalized, coord, offset, dst } => {
                let scale = if *unnormalized { "" } else { " normalized" };
                write!(f, "{} = sample i{resource} s{sampler}{scale} at", To(dst))?;
                list(f, " ", coord)?;
                offsets(f, offset)
            }
            MemoryInst::Gather {
                resource,
                sampler,
                unnormalized,
                coord,
                offset,
                texel_offset,
                component,
                dst,
            } => {
                let scale = if *unnormalized { "" } else { " normalized" };
                let letter = LETTERS[usize::from(component & 3)];
                write!(f, "{} = gather i{resource}.{letter} s{sampler}{scale} at", To(dst))?;
                list(f, " ", coord)?;
                if let Some(texels) = texel_offset {
                    list(f, " plus ", texels)?;
                }
                offsets(f, offset)
            }
            MemoryInst::Fetch { resource, coord, offset, dst } => {
                write!(f, "{} = fetch i{resource} at", To(dst))?;
                list(f, " ", coord)?;
                offsets(f, offset)
            }
            MemoryInst::ResourceInfo { resource, uint, dst } => {
                write!(f, "{} = resinfo i{resource}{}", To(dst), if *uint { " uint" } else { "" })
            }
            MemoryInst::BufferInfo { of, dst } => match of {
                InfoSource::Resource(id) => write!(f, "{} = bufinfo i{id}", To(dst)),
                InfoSource::Uav(n) => write!(f, "{} = bufinfo uav{n}", To(dst)),
                InfoSource::Srv(n) => write!(f, "{} = bufinfo srv{n}", To(dst)),
            },
            MemoryInst::ConstLoad { buffer, index, offset, dst } => {
                write!(f, "{} = cb{buffer}[{}]", To(dst), At(*index, *offset))
            }
            MemoryInst::ImmediateLoad { index, offset, dst } => {
                write!(f, "{} = icb[{}]", To(dst), At(*index, *offset))
            }
            MemoryInst::ArrayLoad { array, index, offset, dst } => {
                write!(f, "{} = x{array}[{}]", To(dst), At(*index, *offset))
            }
            MemoryInst::ArrayStore { array, index, offset, src } => {
                write!(f, "x{array}[{}] = {}", At(*index, *offset), From(src))
            }
            MemoryInst::GlobalLoad { index, offset, dst } => {
                write!(f, "{} = g[{}]", To(dst), At(*index, *offset))
            }
            MemoryInst::GlobalStore { index, offset, src } => {
                write!(f, "g[{}] = {}", At(*index, *offset), From(src))
            }
            MemoryInst::SharedLoad { register, dst } => write!(f, "{} = sr{register}", To(dst)),
            MemoryInst::SharedStore { register, src } => write!(f, "sr{register} = {}", From(src)),
            MemoryInst::RawLoad { space, address, width: w, dst } => {
                write!(f, "{} = {space}{}[{address}]", To(dst), width(*w))
            }
            MemoryInst::RawStore { space, address, width: w, src } => {
                write!(f, "{space}{}[{address}] = {}", width(*w), From(src))
            }
            MemoryInst::TypedLoad { uav, coord, dst } => {
                write!(f, "{} = texel uav{uav} at", To(dst))?;
                list(f, " ", coord)
            }
            MemoryInst::TypedStore { uav, coord, src } => {
                write!(f, "texel uav{uav} at")?;
                list(f, " ", coord)?;
                list(f, " = ", src)
            }
            MemoryInst::Atomic { op, space, address, src, src2, dst, wide } => {
                if let Some(dst) = dst {
                    write!(f, "%{dst} = ")?;
                }
                write!(f, "atomic {op:?}{} {space}", if wide.is_some() { "64" } else { "" })?;
                match address {
                    AtomicAddress::Byte(address) => write!(f, "[{address}]")?,
                    AtomicAddress::Texel(coord) => list(f, " at ", coord)?,
                }
                write!(f, " with {src}")?;
                src2.map_or(Ok(()), |word| write!(f, ", {word}"))?;
                match wide {
                    Some(wide) => write!(f, " high {:?}", wide),
                    None => Ok(()),
                }
            }
            MemoryInst::LdsWriteOwn { offset, src } => write!(f, "lds own[{offset}] = {}", From(src)),
            MemoryInst::LdsReadAny { thread, offset, neighbor_exchange, dst } => {
                let exchange = if *neighbor_exchange { " exchanged" } else { "" };
                write!(f, "{} = lds of {thread}[{offset}]{exchange}", To(dst))
            }
            MemoryInst::Counter { uav, consume, dst } => {
                write!(f, "%{dst} = {} uav{uav}", if *consume { "consume" } else { "append" })
            }
            MemoryInst::InitShared => f.write_str("init shared"),
        }
    }
}

fn offsets(f: &mut Formatter<'_>, offset: &[i8; 3]) -> fmt::Result {
    match offset {
        [0, 0, 0] => Ok(()),
        [u, v, w] => write!(f, " offset ({u}, {v}, {w})"),
    }
}
