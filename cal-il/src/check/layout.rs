//! Where a construct that is not closed was probably meant to end: indentation tells, if there is any.

use crate::diagnostic::{Diagnostic, Span};
use crate::isa::Opcode;
use crate::text::ast::{Ast, Statement};

/// A construct that seems not to be closed where its author thought so.
struct Suspect {
    opener: Span,
    words: (&'static str, &'static str),
    /// The statement before which it should be closed.
    before: Span,
    column: usize,
}

/// Improves what is said of constructs that are not closed: points at the place where, by the indentation, the closing
/// word is missing.
pub(crate) fn place_by_layout(found: &mut [Diagnostic], ast: &Ast, text: &[u8]) {
    for d in found.iter_mut().filter(|d| d.rule == "unclosed") {
        let Some(suspect) = suspect(ast, text, d) else { continue };
        let (open, close) = suspect.words;
        let line =
            text[..suspect.before.start as usize].iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        let inserted = format!("{}{close}\n", " ".repeat(suspect.column));
        *d = Diagnostic::error(d.rule, suspect.opener, format!("this `{open}` is not closed by `{close}`"))
            .with_label(suspect.before, format!("by its indentation, this is behind the `{close}`"))
            .with_suggestion("close it", Span::gap(line), inserted);
    }
}

/// Walks from the opening word of `d` to the end of its body with the columns of what is open.
fn suspect(ast: &Ast, text: &[u8], d: &Diagnostic) -> Option<Suspect> {
    let end = d.labels.first().map_or(u32::MAX, |label| label.span.start);
    let from = ast.statements.iter().position(|s| s.word == d.span)?;
    opens(ast.statements[from].opcode)?;
    let mut open: Vec<Open> = Vec::new();
    for s in ast.statements[from..].iter().take_while(|s| s.word.start <= end) {
        let column = column(text, s);
        if let (Some(top), Some(column)) = (open.last_mut(), column) {
            top.deeper |= column > top.column;
            let arm = matches!(s.opcode, Opcode::Else | Opcode::Case | Opcode::Default);
            let own = closes(s.opcode) == Some(top.words.1) && column == top.column;
            if top.deeper && column <= top.column && !own && !(arm && column == top.column) {
                let Open { word, words, column, .. } = *top;
                return Some(Suspect { opener: word, words, before: s.word, column });
            }
        }
        if let Some(words) = opens(s.opcode) {
            // Without a column of its own it is no evidence, nor is what is in it.
            open.push(Open { word: s.word, words, column: column?, deeper: false });
        } else if closes(s.opcode).is_some() {
            open.pop();
        }
    }
    None
}

/// A construct on the way.
struct Open {
    word: Span,
    words: (&'static str, &'static str),
    column: usize,
    /// Something in it is indented.
    deeper: bool,
}

fn opens(opcode: Opcode) -> Option<(&'static str, &'static str)> {
    use Opcode as O;
    Some(match opcode {
        O::IfLogicalnz | O::IfLogicalz | O::Ifc | O::Ifnz => ("if", "endif"),
        O::Whileloop => ("whileloop", "endloop"),
        O::Switch => ("switch", "endswitch"),
        _ => return None,
    })
}

fn closes(opcode: Opcode) -> Option<&'static str> {
    use Opcode as O;
    Some(match opcode {
        O::Endif => "endif",
        O::Endloop => "endloop",
        O::Endswitch => "endswitch",
        _ => return None,
    })
}

/// Blanks before a statement that begins its line; a tab goes to the next multiple of eight.
fn column(text: &[u8], s: &Statement) -> Option<usize> {
    let before = &text[..s.word.start as usize];
    let line = &before[before.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1)..];
    line.iter().try_fold(0, |column, byte| match byte {
        b' ' => Some(column + 1),
        b'\t' => Some(column / 8 * 8 + 8),
        _ => None,
    })
}
