//! Vector programs as text, for people: a value a line, `v3 = FMul v1, v2`; `row 4` is what a wave's register holds.

use std::fmt::{self, Display, Formatter};

use crate::NONE;
use crate::graph::interleaved::count;
use crate::graph::{Field, Graph, Inst, NO, Node, Val};
use crate::op::Op;
use crate::program::{Block, Call, Emitted, Induction, Part, Program, Start, Straight, Sums};

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let said = [
            (self.lazy, "instructions take denormals as zeros"),
            (self.together, "the lanes of a strip take the same way"),
        ];
        said.iter().filter(|(is, _)| *is).try_for_each(|(_, what)| writeln!(f, "; {what}"))?;
        parts(f, &self.parts, 0)
    }
}

fn indent(f: &mut Formatter<'_>, depth: usize) -> fmt::Result {
    (0..depth.min(40)).try_for_each(|_| f.write_str("  "))
}

fn parts(f: &mut Formatter<'_>, list: &[Part], depth: usize) -> fmt::Result {
    for part in list {
        match part {
            Part::Block(of) => block(f, of, depth)?,
            Part::If { nonzero, then, otherwise, .. } => {
                indent(f, depth)?;
                writeln!(
                    f,
                    "{} {{",
                    if *nonzero { "if the test holds" } else { "if the test does not hold" }
                )?;
                parts(f, then, depth + 1)?;
                if !otherwise.is_empty() {
                    indent(f, depth)?;
                    f.write_str("} else {\n")?;
                    parts(f, otherwise, depth + 1)?;
                }
                indent(f, depth)?;
                f.write_str("}\n")?;
            }
            Part::Loop(of) => {
                if let Some(of) = &of.sums {
                    sums(f, of, depth)?;
                }
                of.before.iter().try_for_each(|of| block(f, of, depth))?;
                if let Some((graph, values)) = &of.kept {
                    values_of(f, graph, depth, "k")?;
                    for (number, value) in values.iter().enumerate() {
                        indent(f, depth)?;
                        writeln!(f, "kept {number} = {}", Shown(graph, *value, "k"))?;
                    }
                }
                indent(f, depth)?;
                f.write_str("loop {\n")?;
                parts(f, &of.body, depth + 1)?;
                indent(f, depth)?;
                f.write_str("}\n")?;
                of.after.iter().try_for_each(|of| block(f, of, depth))?;
            }
            Part::Call(of) => call(f, of, depth)?,
            Part::Emit(of) => emitted(f, of, depth)?,
            Part::Break(test, _) => {
                indent(f, depth)?;
                f.write_str(match test {
                    None => "break\n",
                    Some(true) => "break if the test holds\n",
                    Some(false) => "break if the test does not hold\n",
                })?;
            }
        }
    }
    Ok(())
}

fn call(f: &mut Formatter<'_>, of: &Call, depth: usize) -> fmt::Result {
    values_of(f, &of.graph, depth, "v")?;
    let rows =
        of.to.iter().filter(|row| **row != NONE).map(|row| format!("row {row} = ")).collect::<String>();
    let operands: Vec<String> =
        of.operands.iter().map(|val| Shown(&of.graph, *val, "v").to_string()).collect();
    indent(f, depth)?;
    writeln!(f, "{rows}lane after lane {:?} view {} {}", of.act, of.view, operands.join(", "))
}

fn emitted(f: &mut Formatter<'_>, of: &Emitted, depth: usize) -> fmt::Result {
    let line = |f: &mut Formatter<'_>, depth, text: &str| {
        indent(f, depth)?;
        writeln!(f, "{text}")
    };
    let inner = depth + usize::from(of.whole.is_some());
    if let Some(whole) = &of.whole {
        line(f, depth, "elements as they lie in memory {")?;
        if let Some(once) = &whole.once {
            line(f, inner, &format!("once, by columns in row {}", once.column))?;
            for of in &once.members {
                let Start { view, number, step } = once.starts[usize::from(of.start)];
                let far = of.words as i32;
                let place = format!("kept {} = kept {number} {far:+} of view {view}", of.number);
                line(f, inner, &format!("{place}, in the last lane kept {}, steps of {step}", of.last))?;
            }
        }
        if let Some((graph, values)) = &whole.kept {
            values_of(f, graph, inner, "k")?;
            for (number, value) in (0..).zip(values) {
                let step = whole.steps.iter().find(|(of, _)| *of == number);
                let step = step.map_or(String::new(), |(_, step)| format!(" ; must step by {step}"));
                line(f, inner, &format!("kept {number} = {}{step}", Shown(graph, *value, "k")))?;
            }
        }
        straight(f, &whole.body, inner)?;
        if let Some(doubted) = whole.doubted {
            line(f, inner, &format!("in doubt where {}", Shown(&whole.body.graph, doubted, "v")))?;
        }
        for (element, values) in of.elements.iter().zip(&whole.values) {
            let shown = |val: &Val| Shown(&whole.body.graph, *val, "v").to_string();
            let vectors: Vec<String> = values[..count(values)].iter().map(shown).collect();
            line(f, inner, &format!("view {} = {}", element.view, vectors.join(", ")))?;
        }
        line(f, depth, "} else {")?;
    }
    block(f, &of.block, inner)?;
    for element in &of.elements {
        let rows = &element.rows[..element.count as usize];
        line(f, inner, &format!("view {} = elements in rows {rows:?}", element.view))?;
    }
    if of.whole.is_some() { line(f, depth, "}") } else { Ok(()) }
}

fn sums(f: &mut Formatter<'_>, of: &Sums, depth: usize) -> fmt::Result {
    let line = |f: &mut Formatter<'_>, depth, text: &str| {
        indent(f, depth)?;
        writeln!(f, "{text}")
    };
    line(f, depth, "elements as they lie in memory {")?;
    let (graph, values) = &of.kept;
    values_of(f, graph, depth + 1, "k")?;
    for (number, value) in (0..).zip(values) {
        let step = of.steps.iter().find(|(of, _)| *of == number);
        let same = if of.same_kept.contains(&number) { " ; the same in a line" } else { "" };
        let equal = if of.equal_kept.contains(&number) { " ; the same in all lines" } else { "" };
        let step = step.map_or(same.into(), |(_, step)| format!(" ; must step by {step}"));
        line(f, depth + 1, &format!("kept {number} = {}{step}{equal}", Shown(graph, *value, "k")))?;
    }
    if let Some((entry, doubted)) = &of.entry {
        straight(f, entry, depth + 1)?;
        line(f, depth + 1, &format!("not where {}", Shown(&entry.graph, *doubted, "v")))?;
    }
    for words in &of.elements {
        line(f, depth + 1, &format!("elements in rows {:?}", &words[..count(words)]))?;
    }
    if let Some(reduced) = &of.reduced {
        line(f, depth + 1, &format!("{} rounds by steps {{", reduced.rounds))?;
        let (entry, doubted) = &reduced.entry;
        straight(f, entry, depth + 2)?;
        line(f, depth + 2, &format!("not where {}", Shown(&entry.graph, *doubted, "v")))?;
        line(f, depth + 2, &format!("not as long again where {}", Shown(&entry.graph, reduced.again, "v")))?;
        for Induction { number, by, .. } in &reduced.inductions {
            line(f, depth + 2, &format!("kept {number} is more by kept {by} in each round"))?;
        }
        parts(f, &reduced.body, depth + 2)?;
        line(f, depth + 1, "}")?;
    }
    line(f, depth + 1, "loop {")?;
    parts(f, &of.body, depth + 2)?;
    line(f, depth + 1, "}")?;
    let (exit, doubted) = &of.exit;
    straight(f, exit, depth + 1)?;
    if let Some(doubted) = doubted {
        line(f, depth + 1, &format!("in doubt where {}", Shown(&exit.graph, *doubted, "v")))?;
    }
    line(f, depth, "} else {")?;
    line(f, depth, "}")
}

fn block(f: &mut Formatter<'_>, block: &Block, depth: usize) -> fmt::Result {
    if let Some((attempt, doubt)) = &block.attempt {
        indent(f, depth)?;
        f.write_str("attempt {\n")?;
        straight(f, attempt, depth + 1)?;
        indent(f, depth)?;
        match *doubt {
            NO => writeln!(f, "}} where loads are outside {{")?,
            doubt => writeln!(f, "}} in doubt where {} {{", Shown(&attempt.graph, doubt, "v"))?,
        }
        straight(f, &block.body, depth + 1)?;
        indent(f, depth)?;
        return f.write_str("}\n");
    }
    straight(f, &block.body, depth)
}

fn straight(f: &mut Formatter<'_>, of: &Straight, depth: usize) -> fmt::Result {
    values_of(f, &of.graph, depth, "v")?;
    for leave in &of.graph.leaves {
        indent(f, depth)?;
        let not = if leave.nonzero { "" } else { "not " };
        writeln!(f, "lanes leave where {not}{}", Shown(&of.graph, leave.test, "v"))?;
    }
    for output in &of.outputs {
        indent(f, depth)?;
        let unseen = if output.unseen { " ; others may see anything" } else { "" };
        writeln!(f, "row {} = {}{unseen}", output.row, Shown(&of.graph, output.val, "v"))?;
    }
    for (number, val) in &of.next {
        indent(f, depth)?;
        writeln!(f, "kept {number} = {} from the next round on", Shown(&of.graph, *val, "v"))?;
    }
    if let Some(test) = of.test {
        indent(f, depth)?;
        writeln!(f, "test {}", Shown(&of.graph, test, "v"))?;
    }
    Ok(())
}

/// All values; constants stand where they are used.
fn values_of(f: &mut Formatter<'_>, graph: &Graph, depth: usize, letter: &'static str) -> fmt::Result {
    for (number, node) in graph.nodes.iter().enumerate() {
        if matches!(node, Node::Word(_) | Node::Quad(_) | Node::Bool(_) | Node::Lanes(_) | Node::Mask(_)) {
            continue;
        }
        indent(f, depth)?;
        write!(f, "{letter}{number} = ")?;
        match node {
            Node::Row(row) => write!(f, "row {row}")?,
            Node::Field(view, Field::Shared(word)) => write!(f, "word {word} of view {view}")?,
            Node::Field(view, field) => write!(f, "{field:?} of view {view}")?,
            Node::Kept(kept) => write!(f, "kept {kept}")?,
            Node::Inst(inst) => instruction(f, graph, inst, letter)?,
            Node::Word(_) | Node::Quad(_) | Node::Bool(_) | Node::Lanes(_) | Node::Mask(_) => {}
        }
        f.write_str("\n")?;
    }
    Ok(())
}

fn instruction(f: &mut Formatter<'_>, graph: &Graph, inst: &Inst, letter: &'static str) -> fmt::Result {
    match inst.op {
        Op::Load(view) => write!(f, "Load view {view}")?,
        Op::Store(view) => write!(f, "Store view {view}")?,
        Op::StoreBlocks(view, number, words) => {
            write!(f, "StoreBlocks {number} view {view} words {words:04b}")?
        }
        op => write!(f, "{op:?}")?,
    }
    for (k, arg) in inst.args.into_iter().filter(|arg| *arg != NO).enumerate() {
        f.write_str(if k == 0 { " " } else { ", " })?;
        write!(f, "{}", Shown(graph, arg, letter))?;
    }
    if inst.mask != NO {
        write!(f, " where {}", Shown(graph, inst.mask, letter))?;
    }
    Ok(())
}

/// A value where it is used: a constant as it is, others by their number.
struct Shown<'g>(&'g Graph, Val, &'static str);

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Shown(graph, val, letter) = self;
        match graph.node(*val) {
            Node::Word(word) => write!(f, "0x{word:08X}"),
            Node::Quad(quad) => write!(f, "0x{quad:016X}"),
            Node::Bool(all) => write!(f, "{all}"),
            Node::Lanes(number) => write!(f, "{:?}", graph.fixed.words(number)),
            Node::Mask(lanes) => write!(f, "lanes {lanes:#b}"),
            _ => write!(f, "{letter}{}", val.index()),
        }
    }
}
