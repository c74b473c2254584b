//! The canonical printer. Parsing what it prints gives the same tree.

use std::fmt::{self, Display, Formatter, Write as _};

use super::ast::{
    Argument, Ast, File, Header, HeaderStage, Index, Modifiers, Number, Operand, OperandKind, Register,
    Select, Specifier, Statement, Write,
};
use super::parser::FLAGS;
use super::registers;
use crate::isa::Opcode;

/// Prints a tree: one statement a line, constructs indented, canonical case, four-character masks.
pub fn print(ast: &Ast) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = program(&mut out, ast);
    out
}

fn program(out: &mut String, ast: &Ast) -> fmt::Result {
    let mut depth: usize = 0;
    for (at, statement) in ast.statements.iter().enumerate() {
        if at == ast.before_header {
            writeln!(out, "{}", ast.header)?;
        }
        use Opcode as O;
        let closes = matches!(statement.opcode, O::Endif | O::Endloop | O::Endswitch | O::Mend | O::Endfunc);
        depth = depth.saturating_sub(usize::from(closes));
        let outdented = matches!(statement.opcode, O::Else | O::Case | O::Default);
        for _ in 0..depth.saturating_sub(usize::from(outdented)).min(40) {
            out.push_str("  ");
        }
        write_statement(out, ast, statement)?;
        out.push('\n');
        let opens = matches!(
            statement.opcode,
            O::IfLogicalnz | O::IfLogicalz | O::Ifc | O::Ifnz | O::Whileloop | O::Loop | O::Switch | O::Mdef
        );
        depth += usize::from(opens);
    }
    Ok(())
}

impl Display for Header {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        f.write_str(match self.stage {
            HeaderStage::Pixel => "il_ps",
            HeaderStage::Compute => "il_cs",
            HeaderStage::Vertex => "il_vs",
            HeaderStage::Geometry => "il_gs",
            HeaderStage::Hull => "il_hs",
            HeaderStage::Domain => "il_ds",
        })?;
        if let Some((major, minor)) = self.version {
            write!(f, "_{major}_{minor}")?;
        }
        f.write_str(if self.multipass { "_mp" } else { "" })?;
        f.write_str(if self.realtime { "_rt" } else { "" })
    }
}

fn write_statement(out: &mut String, ast: &Ast, s: &Statement) -> fmt::Result {
    out.push_str(s.opcode.mnemonic());
    for specifier in ast.specifiers(s) {
        write_specifier(out, ast, s.opcode, specifier)?;
    }
    if s.precise != 0 {
        out.push_str("_prec(");
        (0..4).filter(|k| s.precise & 1 << k != 0).for_each(|k| out.push(['x', 'y', 'z', 'w'][k]));
        out.push(')');
    }
    out.push_str(match s.scale {
        1 => "_x2",
        2 => "_x4",
        3 => "_x8",
        -1 => "_d2",
        -2 => "_d4",
        -3 => "_d8",
        _ => "",
    });
    out.push_str(if s.saturate { "_sat" } else { "" });
    let operands = ast.operands(s);
    if s.opcode == Opcode::Mcall {
        return write_mcall(out, ast, s, operands);
    }
    if !operands.is_empty() {
        out.push(' ');
    }
    write_list(out, ast, operands)
}

fn write_specifier(out: &mut String, ast: &Ast, opcode: Opcode, s: &Specifier) -> fmt::Result {
    let arguments = ast.arguments(s);
    if s.name == "usage" && matches!(opcode, Opcode::DclInput | Opcode::DclOutput) {
        out.push('_');
        return arguments.iter().try_for_each(|a| write_argument(out, ast, a));
    }
    if s.name == "word" && matches!(arguments, [Argument::Other(_)]) {
        out.push('_');
        return write_argument(out, ast, &arguments[0]);
    }
    if !s.name.is_empty() {
        write!(out, "_{}", s.name)?;
    }
    // The second argument of a macro call counts its destinations and is not spelled.
    let arguments = if opcode == Opcode::Mcall { &arguments[..1] } else { arguments };
    for (k, argument) in arguments.iter().enumerate() {
        out.push(if k == 0 { '(' } else { ',' });
        write_argument(out, ast, argument)?;
    }
    out.push_str(if arguments.is_empty() { "" } else { ")" });
    Ok(())
}

fn write_argument(out: &mut String, ast: &Ast, argument: &Argument) -> fmt::Result {
    match argument {
        Argument::Number(n) => write!(out, "{n}"),
        Argument::Word(word) => out.write_str(word),
        Argument::Other(at) => out.write_str(ast.words.get(*at as usize).map_or("", String::as_str)),
    }
}

fn write_mcall(out: &mut String, ast: &Ast, s: &Statement, operands: &[Operand]) -> fmt::Result {
    let last = ast.specifiers(s).first().and_then(|x| ast.arguments(x).last());
    let split = match last {
        Some(Argument::Number(n)) => (n.bits() as usize).min(operands.len()),
        _ => 0,
    };
    let (destinations, sources) = operands.split_at(split);
    out.push_str(" (");
    write_list(out, ast, destinations)?;
    out.push_str("), (");
    write_list(out, ast, sources)?;
    out.push(')');
    Ok(())
}

fn write_list(out: &mut String, ast: &Ast, operands: &[Operand]) -> fmt::Result {
    for (k, operand) in operands.iter().enumerate() {
        out.push_str(if k == 0 { "" } else { ", " });
        write_operand(out, ast, operand)?;
    }
    Ok(())
}

impl Display for Number {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match *self {
            Self::Integer { value, hex: false } => write!(f, "{value}"),
            Self::Integer { value, hex: true } if value < 0 => write!(f, "-0x{:X}", -value),
            Self::Integer { value, hex: true } => write!(f, "0x{value:X}"),
            // The debug form of a float always has a point or an exponent, and reads back exactly.
            Self::Float(bits) => write!(f, "{:?}", f32::from_bits(bits)),
        }
    }
}

fn write_operand(out: &mut String, ast: &Ast, operand: &Operand) -> fmt::Result {
    match operand.kind {
        OperandKind::Destination { register, mask } => {
            write_register(out, &register)?;
            if mask != [Write::Result; 4] {
                out.push('.');
                for (k, what) in mask.iter().enumerate() {
                    out.push(match what {
                        Write::Keep => '_',
                        Write::Result => ['x', 'y', 'z', 'w'][k],
                        Write::Zero => '0',
                        Write::One => '1',
                    });
                }
            }
            Ok(())
        }
        OperandKind::Source { register, swizzle, given, modifiers } => {
            write_register(out, &register)?;
            if swizzle != [Select::X, Select::Y, Select::Z, Select::W] {
                out.push('.');
                swizzle.iter().take(usize::from(given)).for_each(|s| out.push(letter(*s)));
            }
            write_modifiers(out, &modifiers);
            Ok(())
        }
        OperandKind::Number(n) => write!(out, "{n}"),
        OperandKind::Flags(bits) => {
            let names: Vec<&str> =
                FLAGS.iter().enumerate().filter(|(k, _)| bits & 1 << k != 0).map(|(_, n)| *n).collect();
            out.write_str(&names.join("|"))
        }
        OperandKind::Word(at) => out.write_str(ast.words.get(at as usize).map_or("", String::as_str)),
    }
}

fn letter(select: Select) -> char {
    match select {
        Select::X => 'x',
        Select::Y => 'y',
        Select::Z => 'z',
        Select::W => 'w',
        Select::Zero => '0',
        Select::One => '1',
    }
}

fn write_modifiers(out: &mut String, m: &Modifiers) {
    let flags = [
        (m.invert, "_invert"),
        (m.bias && m.x2, "_bx2"),
        (m.bias && !m.x2, "_bias"),
        (m.x2 && !m.bias, "_x2"),
        (m.sign, "_sign"),
    ];
    flags.iter().filter(|(on, _)| *on).for_each(|(_, name)| out.push_str(name));
    if let Some(divisor) = m.div_comp {
        out.push_str(
            ["_divComp(unknown)", "_divComp(y)", "_divComp(z)", "_divComp(w)"][usize::from(divisor.min(3))],
        );
    }
    out.push_str(if m.abs { "_abs" } else { "" });
    if m.neg != 0 {
        out.push_str("_neg(");
        (0..4).filter(|k| m.neg & 1 << k != 0).for_each(|k| out.push(['x', 'y', 'z', 'w'][k]));
        out.push(')');
    }
    out.push_str(if m.saturate { "_sat" } else { "" });
}

fn write_register(out: &mut String, r: &Register) -> fmt::Result {
    write_name(out, r.file, r.number)?;
    match r.index {
        None => Ok(()),
        Some(Index { base: None, offset }) => write!(out, "[{offset}]"),
        Some(Index { base: Some((file, number, component)), offset }) => {
            out.push('[');
            write_name(out, file, number)?;
            write!(out, ".{}", ['x', 'y', 'z', 'w'][usize::from(component & 3)])?;
            match offset {
                0 => out.write_char(']'),
                1.. => write!(out, "+{offset}]"),
                _ => write!(out, "{offset}]"),
            }
        }
    }
}

fn write_name(out: &mut String, file: File, number: Option<u32>) -> fmt::Result {
    out.push_str(registers::name(file));
    number.map_or(Ok(()), |n| write!(out, "{n}"))
}
