//! Code as a listing, in the style of the chips' disassembler.

use std::fmt::Write as _;

use super::pack::{is_float, is_inline, writes};
use super::{Alu, Bundle, Chip, Clause, Code, Fetch, Mark, Src, V, Word, Write};

const COMPONENTS: [&str; 5] = ["x", "y", "z", "w", "t"];

impl Code {
    /// The listing, lines with their newlines. Addresses count 64-bit words, as the hardware does.
    pub fn listing(&self, chip: &Chip) -> String {
        let mut out = String::new();
        let lines = self.lines();
        let control = lines.iter().filter(|line| line.is_some()).count() + 1;
        let mut address = control.next_multiple_of(2);
        let mut number = 0;
        let ends = self.ends();
        for (at, clause) in self.clauses.iter().enumerate() {
            let Some(line) = lines[at] else { continue };
            let target = |to: usize| lines[to..].iter().flatten().next().copied().unwrap_or(control - 1);
            let _ = match clause {
                Clause::Alu(bundles) => {
                    let words: usize = bundles.iter().map(Bundle::words).sum();
                    let kind = self.kind(at);
                    let windows = windows(bundles);
                    let _ = writeln!(out, "{line:02} {kind}: ADDR({address}) CNT({words}){windows}");
                    address += words;
                    for (n, bundle) in bundles.iter().enumerate() {
                        let before = n.checked_sub(1).map(|before| &bundles[before]);
                        self.bundle(&mut out, number, bundle, before, chip);
                        number += 1;
                    }
                    Ok(())
                }
                Clause::Fetch(list) => {
                    address = address.next_multiple_of(2);
                    let _ = writeln!(out, "{line:02} TEX: ADDR({address}) CNT({})", list.len());
                    address += 2 * list.len();
                    for fetch in list {
                        let _ = writeln!(out, "     {number:3}  {}", self.fetch(fetch));
                        number += 1;
                    }
                    Ok(())
                }
                Clause::Write(write) => writeln!(out, "{line:02} {}", self.write(write)),
                Clause::Mark(mark, _) => match mark {
                    Mark::If => writeln!(out, "{line:02} JUMP  POP_CNT(1) ADDR({})", target(ends[at])),
                    Mark::Else => writeln!(out, "{line:02} ELSE POP_CNT(1) ADDR({})", target(ends[at])),
                    Mark::EndIf => writeln!(out, "{line:02} POP (1) ADDR({})", line + 1),
                    Mark::Loop(rounds) => {
                        let rounds = rounds.map(|n| format!(" ; {n} rounds")).unwrap_or_default();
                        writeln!(
                            out,
                            "{line:02} LOOP_DX10 i0 FAIL_JUMP_ADDR({}){rounds}",
                            target(ends[at] + 1)
                        )
                    }
                    Mark::EndLoop => {
                        writeln!(out, "{line:02} ENDLOOP i0 PASS_JUMP_ADDR({})", target(ends[at] + 1))
                    }
                    Mark::Break(_) => writeln!(out, "{line:02} LOOP_BREAK i0"),
                    Mark::Continue(_) => writeln!(out, "{line:02} LOOP_CONTINUE i0"),
                    Mark::Leave(..) => writeln!(out, "{line:02} JUMP ADDR({})", target(ends[at])),
                    Mark::Wait => writeln!(out, "{line:02} WAIT_ACK: OUTSTANDING_ACKS <= 0"),
                    Mark::Region(_) | Mark::EndRegion(_) => Ok(()),
                },
            };
        }
        out += "END_OF_PROGRAM\n";
        out
    }

    /// Numbers of lines of the control flow program.
    fn lines(&self) -> Vec<Option<usize>> {
        let mut next = 0;
        let has = |clause: &Clause| !matches!(clause, Clause::Mark(mark, _) if !mark.has_line());
        let mut number = |clause| {
            has(clause).then(|| {
                next += 1;
                next - 1
            })
        };
        self.clauses.iter().map(&mut number).collect()
    }

    /// Where flow leads: of an `if` to its other side or end, of loops to the other end, of jumps to where they go.
    fn ends(&self) -> Vec<usize> {
        let mut ends = vec![self.clauses.len(); self.clauses.len()];
        let mut open = Vec::new();
        for (at, clause) in self.clauses.iter().enumerate() {
            let Clause::Mark(mark, _) = clause else { continue };
            match mark {
                Mark::If | Mark::Loop(_) => open.push(at),
                Mark::Else | Mark::EndIf | Mark::EndLoop => {
                    if let Some(start) = open.pop() {
                        ends[start] = at;
                        ends[at] = if *mark == Mark::EndLoop { start } else { at };
                    }
                    if *mark == Mark::Else {
                        open.push(at);
                    }
                }
                Mark::Leave(id, _) => {
                    let end = |clause: &Clause| matches!(clause, Clause::Mark(Mark::EndRegion(other), _) if other == id);
                    ends[at] = self.clauses.iter().position(end).unwrap_or(self.clauses.len());
                }
                _ => {}
            }
        }
        ends
    }

    /// What kind of ALU clause it is, by what follows.
    fn kind(&self, at: usize) -> &'static str {
        match self.clauses.get(at + 1) {
            Some(Clause::Mark(Mark::If, _)) => "ALU_PUSH_BEFORE",
            Some(Clause::Mark(Mark::Break(false), _)) => "ALU_BREAK",
            Some(Clause::Mark(Mark::Continue(false), _)) => "ALU_CONTINUE",
            _ => "ALU",
        }
    }

    fn place(&self, value: V) -> String {
        match self.places.get(value.index()).copied().flatten() {
            Some((register, component)) => format!("R{register}.{}", COMPONENTS[usize::from(component)]),
            None => "____".into(),
        }
    }

    fn bundle(&self, out: &mut String, number: usize, bundle: &Bundle, before: Option<&Bundle>, chip: &Chip) {
        let mut label = format!("{number:8}  ");
        for (n, slot) in bundle.slots.iter().enumerate() {
            let Some((alu, from)) = slot else { continue };
            let own = &alu.slots[*from];
            let dst = own.dst.map_or_else(|| "____".into(), |dst| self.place(dst));
            let srcs: Vec<String> = own
                .srcs
                .iter()
                .map(|src| self.source(src, alu, bundle, before.map(|b| (b, number))))
                .collect();
            let clamp = if alu.clamp { "  CLAMP" } else { "" };
            let slot = if chip.is_cayman() { COMPONENTS[n.min(3)] } else { COMPONENTS[n] };
            let operands = [dst].into_iter().chain(srcs).collect::<Vec<_>>().join(",  ");
            let _ = writeln!(out, "{label}{slot}: {:<16} {operands}{clamp}", alu.name);
            label = " ".repeat(10);
        }
    }

    fn source(&self, src: &Src, alu: &Alu, bundle: &Bundle, before: Option<(&Bundle, usize)>) -> String {
        let text = match src.word {
            Word::V(value) => match before {
                Some((before, number)) if writes(before, value) => {
                    let result = |(_, slot): &(usize, &Option<(Alu, usize)>)| {
                        slot.as_ref().is_some_and(|(alu, from)| alu.slots[*from].dst == Some(value))
                    };
                    match before.slots.iter().enumerate().find(result) {
                        Some((4, _)) => format!("PS{}", number - 1),
                        Some((n, _)) => format!("PV{}.{}", number - 1, COMPONENTS[n]),
                        None => self.place(value),
                    }
                }
                _ => self.place(value),
            },
            Word::Imm(word) if is_inline(word, is_float(alu.name)) => match word {
                0x3f80_0000 => "1.0f".into(),
                0xbf80_0000 => "-1.0f".into(),
                0x3f00_0000 => "0.5".into(),
                0xbf00_0000 => "-0.5".into(),
                u32::MAX => "-1".into(),
                word => word.to_string(),
            },
            Word::Imm(word) => {
                let at = bundle.literals.iter().position(|literal| *literal == word).unwrap_or(0);
                format!("(0x{word:08X}, {:?}f).{}", f32::from_bits(word), COMPONENTS[at.min(3)])
            }
            Word::Const { buffer, row, component } => {
                format!("KC{buffer}[{row}].{}", COMPONENTS[usize::from(component)])
            }
            Word::Special(name) => name.into(),
        };
        let text = if src.abs { format!("|{text}|") } else { text };
        if src.neg { format!("-{text}") } else { text }
    }

    /// Register and swizzle of a vector.
    fn vector(&self, srcs: &[Src]) -> String {
        let register = srcs.iter().filter_map(Src::value).find_map(|v| self.places[v.index()]);
        let component = |src: &Src| match src.word {
            Word::Imm(0) => "0",
            Word::Imm(_) => "1",
            _ => {
                let place = src.value().and_then(|v| self.places[v.index()]);
                place.map_or("_", |(_, component)| COMPONENTS[usize::from(component)])
            }
        };
        let swizzle: String = srcs.iter().map(component).collect();
        format!("R{}.{swizzle}", register.map_or(0, |(register, _)| register))
    }

    fn fetch(&self, fetch: &Fetch) -> String {
        let places = fetch.dst.map(|dst| dst.and_then(|dst| self.places[dst.index()]));
        let register = places.iter().flatten().next().map_or(0, |(register, _)| *register);
        // By component of the register: which word it gets.
        let mut swizzle = ["_"; 4];
        for (word, place) in places.iter().enumerate() {
            if let Some((_, component)) = place {
                swizzle[usize::from(*component)] = COMPONENTS[word];
            }
        }
        let mut text = fetch.name.to_owned();
        if fetch.dst.iter().any(Option::is_some) {
            let _ = write!(text, " R{register}.{},", swizzle.concat());
        }
        if !fetch.data.is_empty() {
            let data: Vec<Src> = fetch.data.iter().map(|v| Src::of(*v)).collect();
            let _ = write!(text, " {},", self.vector(&data));
        }
        if !fetch.address.is_empty() {
            let _ = write!(text, " {},", self.vector(&fetch.address));
        }
        format!("{text} {}", fetch.from)
    }

    fn write(&self, write: &Write) -> String {
        let vector = |values: &[V]| {
            let srcs: Vec<Src> = values.iter().map(|v| Src::of(*v)).collect();
            self.vector(&srcs)
        };
        let mut text = format!("{}: {}", write.name, write.to);
        if !write.address.is_empty() {
            let _ = write!(text, "[{}]", vector(&write.address));
        }
        if !write.data.is_empty() {
            let _ = write!(text, ", {}", vector(&write.data));
        }
        text
    }
}

/// The windows to constant buffers that a clause opens.
fn windows(bundles: &[Bundle]) -> String {
    let mut lines = std::collections::BTreeSet::new();
    for (alu, from) in bundles.iter().flat_map(|bundle| bundle.slots.iter().flatten()) {
        for src in &alu.slots[*from].srcs {
            if let Word::Const { buffer, row, .. } = src.word {
                lines.insert((buffer, row / 16));
            }
        }
    }
    let window = |(n, (buffer, line)): (usize, (u32, u32))| {
        format!(" KCACHE{n}(CB{buffer}:{}-{})", 16 * line, 16 * line + 15)
    };
    lines.into_iter().enumerate().map(window).collect()
}
