//! Text to programs.

use super::memory::{self, Left};
use super::reader::{Found, Reader};
use super::values::parse_register;
use super::{Form, interface};
use crate::diagnostic::{Diagnostic, Span};
use crate::inst::{Fence, Interface, MAX_NESTING};
use crate::ir::{
    Arm, Block, Cond, Function, LaneInst, LaneOp, Operand, Output, Program, Reg, Stage, Stmt, StmtKind,
};

/// Deepest nesting: passes put blocks around those of a kernel, and all of them recurse.
const DEEPEST: usize = 4 * MAX_NESTING;

/// Most registers: analyses have tables of them.
const REGISTERS: u32 = 1 << 24;

/// Whether a text is a program rather than a kernel: its first word is `program`.
pub fn is_program(text: &[u8]) -> bool {
    let mut reader = Reader::new(text);
    reader.pass_lines() && reader.takes_word("program")
}

/// Reads a program. Whether it is consistent, [`validate`](crate::ir::validate::validate) says. It has no warnings: those are
/// about a kernel's text.
pub fn parse(text: &[u8]) -> Result<Program, Vec<Diagnostic>> {
    program(&mut Reader::new(text)).map_err(|wrong| vec![wrong.into()])
}

fn program(reader: &mut Reader<'_>) -> Found<Program> {
    reader.pass_lines();
    reader.expect_word("program")?;
    let mut program = Program {
        stage: Stage::parse(reader)?,
        interface: Interface::default(),
        declared: Interface::default(),
        functions: Vec::new(),
        registers: 0,
        outputs: Vec::new(),
        warnings: Vec::new(),
    };
    while reader.next_line()? {
        if reader.takes_word("function") {
            let function = function(&program, reader)?;
            program.functions.push(function);
        } else {
            head(&mut program, reader)?;
        }
    }
    if program.functions.is_empty() {
        return Err(reader.wrong("expected `function 0`".into()));
    }
    Ok(program)
}

/// A line before the functions.
fn head(program: &mut Program, reader: &mut Reader<'_>) -> Found<()> {
    let start = reader.place();
    if reader.takes_word("registers") {
        program.registers = u32::parse(reader)?;
        return match program.registers > REGISTERS {
            true => Err(reader.wrong_since(start, format!("more than {REGISTERS} registers"))),
            false => Ok(()),
        };
    }
    if reader.takes_word("output") {
        let index = u32::parse(reader)?;
        reader.expect(b'=')?;
        let mut registers = [Reg(0); 4];
        for register in &mut registers {
            *register = parse_register(reader)?;
        }
        program.outputs.push(Output { index, registers });
        return Ok(());
    }
    let Program { interface, declared, .. } = program;
    let mut lists = if reader.takes_word("declared") {
        vec![declared]
    } else if reader.takes_word("internal") {
        vec![interface]
    } else {
        vec![interface, declared]
    };
    let field = reader.word()?;
    // The same words are read for each list.
    let item = reader.place();
    for list in &mut lists {
        reader.back(item);
        interface::add(list, field, reader).unwrap_or_else(|| {
            Err(reader.wrong_since(start, format!("`{field}` is nothing that a program has")))
        })?;
    }
    Ok(())
}

/// A block that is being read.
enum Open {
    Function,
    Then(Cond, Span),
    Else(Cond, Block, Span),
    Loop(Span),
    Switch(Operand, Vec<Arm>, Span),
    Arm(Vec<i32>, bool),
}

/// A function, from behind its first word to its `}`.
fn function(program: &Program, reader: &mut Reader<'_>) -> Found<Function> {
    let start = reader.place();
    let number = u32::parse(reader)? as usize;
    if number != program.functions.len() {
        return Err(reader.wrong_since(start, format!("expected function {}", program.functions.len())));
    }
    let label = if reader.takes_word("label") { Some(u32::parse(reader)?) } else { None };
    reader.expect(b'{')?;
    let mut open = vec![(Open::Function, Block::new())];
    while let Some((kind, block)) = open.last_mut() {
        if !reader.next_line()? {
            return Err(reader.wrong("expected `}`".into()));
        }
        if reader.takes(b'}') {
            if let Some(body) = close(&mut open, reader)? {
                return Ok(Function { label, body });
            }
            continue;
        }
        if let Open::Switch(..) = kind {
            open.push(arm(reader)?);
        } else if let Some(inner) = statement(block, reader)? {
            open.push((inner, Block::new()));
        }
        if open.len() > DEEPEST {
            return Err(reader.wrong(format!("blocks in more than {DEEPEST} others")));
        }
    }
    Err(reader.wrong("expected a function".into()))
}

/// After a `}`: the innermost block becomes a statement of the one around. At the end of the function it is its body.
fn close(open: &mut Vec<(Open, Block)>, reader: &mut Reader<'_>) -> Found<Option<Block>> {
    let Some((kind, block)) = open.pop() else { return Ok(None) };
    let (kind, span) = match kind {
        Open::Function => return Ok(Some(block)),
        Open::Then(cond, span) => {
            if reader.takes_word("else") {
                reader.expect(b'{')?;
                open.push((Open::Else(cond, block, span), Block::new()));
                return Ok(None);
            }
            (StmtKind::If { cond, then: block, otherwise: Block::new() }, span)
        }
        Open::Else(cond, then, span) => (StmtKind::If { cond, then, otherwise: block }, span),
        Open::Loop(span) => (StmtKind::Loop { body: block }, span),
        Open::Switch(selector, arms, span) => (StmtKind::Switch { selector, arms }, span),
        Open::Arm(labels, default) => {
            if let Some((Open::Switch(_, arms, _), _)) = open.last_mut() {
                arms.push(Arm { labels, default, body: block });
            }
            return Ok(None);
        }
    };
    if let Some((_, around)) = open.last_mut() {
        around.push(Stmt { kind, span });
    }
    Ok(None)
}

fn arm(reader: &mut Reader<'_>) -> Found<(Open, Block)> {
    reader.expect_word("case")?;
    let mut labels = Vec::new();
    while !matches!(reader.peek(), Some(b'{' | b'd')) {
        labels.push(i32::parse(reader)?);
    }
    let default = reader.takes_word("default");
    reader.expect(b'{')?;
    Ok((Open::Arm(labels, default), Block::new()))
}

/// Reads a line into a block, or the beginning of a block in it.
fn statement(block: &mut Block, reader: &mut Reader<'_>) -> Found<Option<Open>> {
    let mut span = Span::default();
    if reader.takes(b'@') {
        span.start = u32::parse(reader)?;
        reader.expect(b':')?;
        span.end = u32::parse(reader)?;
    }
    let mut left = Left::new();
    while matches!(reader.peek(), Some(b'%' | b'_')) {
        left.push(if reader.takes(b'_') { None } else { Some(parse_register(reader)?) });
    }
    if !left.is_empty() {
        reader.expect(b'=')?;
        let kind = operation(&left, reader)?;
        block.push(Stmt { kind, span });
        return Ok(None);
    }
    let guard = |reader: &mut Reader<'_>| -> Found<Option<Cond>> {
        if reader.takes_word("if") { Cond::parse(reader).map(Some) } else { Ok(None) }
    };
    let begins = |reader: &mut Reader<'_>, open: Open| reader.expect(b'{').map(|()| Some(open));
    let kind = match reader.peek_word().unwrap_or_default() {
        "if" => {
            reader.word()?;
            let cond = Cond::parse(reader)?;
            return begins(reader, Open::Then(cond, span));
        }
        "loop" => {
            reader.word()?;
            return begins(reader, Open::Loop(span));
        }
        "switch" => {
            reader.word()?;
            let selector = Operand::parse(reader)?;
            return begins(reader, Open::Switch(selector, Vec::new(), span));
        }
        "break" => {
            reader.word()?;
            StmtKind::Break(guard(reader)?)
        }
        "continue" => {
            reader.word()?;
            StmtKind::Continue(guard(reader)?)
        }
        "return" => {
            reader.word()?;
            StmtKind::Return(guard(reader)?)
        }
        "call" => {
            reader.word()?;
            StmtKind::Call { function: u32::parse(reader)? as usize, cond: guard(reader)? }
        }
        "discard" => {
            reader.word()?;
            reader.expect_word("if")?;
            StmtKind::Discard(Cond::parse(reader)?)
        }
        "fence" => {
            reader.word()?;
            StmtKind::Fence(Fence::parse(reader)?)
        }
        _ => operation(&left, reader)?,
    };
    block.push(Stmt { kind, span });
    Ok(None)
}

/// A lane operation or a memory access, from its name on.
fn operation(left: &Left, reader: &mut Reader<'_>) -> Found<StmtKind> {
    let start = reader.place();
    let name = reader.word()?;
    if let Some(access) = memory::parse(name, left, reader, start) {
        return access.map(StmtKind::from);
    }
    let Some(op) = LaneOp::named(name) else {
        return Err(reader.wrong_since(start, format!("`{name}` is no operation")));
    };
    let dst = match left[..] {
        [Some(reg)] => [reg, reg],
        [Some(low), Some(high)] => [low, high],
        _ => return Err(reader.wrong_since(start, format!("`{name}` writes one register or two"))),
    };
    let mut args = smallvec::SmallVec::new();
    while reader.peek().is_some() {
        if !args.is_empty() {
            reader.expect(b',')?;
        }
        args.push(Operand::parse(reader)?);
    }
    Ok(StmtKind::Lane(LaneInst { op, dst, args }))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
