//! Layout: a statement a line, indented by what it stands in, comments where they were. The program stays the same.

use super::parser::parse;
use crate::diagnostic::Diagnostic;
use crate::isa::Opcode;

/// What a level of indentation stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    /// `if`, `whileloop`.
    Block,
    Switch,
    /// Below `case` or `default`.
    Arm,
    /// A function or a macro.
    Body,
}

/// Spaces of a level.
const INDENT: usize = 4;

/// The same kernel laid out. Text that is not accepted by [`parse`] gives what is wrong with it; what follows `end` stays as it is.
pub fn format(text: &[u8]) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let ast = parse(text)?;
    let mut items: Vec<(u32, u32, Option<Opcode>, u32)> =
        ast.statements.iter().map(|s| (s.span.start, s.span.end, Some(s.opcode), s.word.end)).collect();
    items.push((ast.header.span.start, ast.header.span.end, None, ast.header.span.end));
    items.sort_unstable_by_key(|item| item.0);

    let mut writer = Writer { out: Vec::with_capacity(text.len()), levels: Vec::new() };
    let mut at = 0;
    for (start, end, opcode, word_end) in items {
        let [start, end, word_end] = [start, end, word_end].map(|n| n as usize);
        let depth = writer.enter(opcode);
        // A comment before the end of a block belongs to the block, one before a function to the function.
        let comments = match opcode {
            Some(Opcode::Func | Opcode::Mdef | Opcode::End) | None => depth,
            _ => depth.max(writer.levels.len()),
        };
        writer.gap(&text[at..start], comments.max(writer.before(opcode, depth)));
        writer.indent(depth);
        writer.statement(&text[start..end], word_end.clamp(start, end) - start);
        writer.leave(opcode);
        at = end;
    }
    let rest = &text[at..];
    let blank = rest.iter().all(u8::is_ascii_whitespace);
    if !blank {
        writer.out.extend_from_slice(rest);
    }
    if writer.out.last() != Some(&b'\n') {
        writer.out.push(b'\n');
    }
    Ok(writer.out)
}

struct Writer {
    out: Vec<u8>,
    levels: Vec<Level>,
}

impl Writer {
    /// Ends the levels that a statement ends; the indentation of the statement itself.
    fn enter(&mut self, opcode: Option<Opcode>) -> usize {
        use Opcode as O;
        match opcode {
            Some(O::Else | O::Endif | O::Endloop) => {
                self.levels.pop();
            }
            Some(O::Case | O::Default) => {
                self.levels.pop_if(|level| *level == Level::Arm);
            }
            Some(O::Endswitch) => {
                self.levels.pop_if(|level| *level == Level::Arm);
                self.levels.pop();
            }
            Some(O::Func | O::Endfunc | O::Mdef | O::Mend | O::Endmain | O::End) | None => {
                self.levels.clear()
            }
            _ => {}
        }
        self.levels.len()
    }

    /// How deep comments before a statement stand that ends a block.
    fn before(&self, opcode: Option<Opcode>, depth: usize) -> usize {
        use Opcode as O;
        let ends =
            matches!(opcode, Some(O::Else | O::Endif | O::Endloop | O::Endswitch | O::Endfunc | O::Mend));
        depth + usize::from(ends)
    }

    /// Begins the levels that a statement begins.
    fn leave(&mut self, opcode: Option<Opcode>) {
        use Opcode as O;
        let Some(opcode) = opcode else { return };
        self.levels.extend(match opcode {
            O::Ifc | O::Ifnz | O::IfLogicalz | O::IfLogicalnz | O::Else | O::Whileloop | O::Loop => {
                Some(Level::Block)
            }
            O::Switch => Some(Level::Switch),
            O::Case | O::Default => Some(Level::Arm),
            O::Func | O::Mdef => Some(Level::Body),
            _ => None,
        });
    }

    fn indent(&mut self, depth: usize) {
        self.out.resize(self.out.len() + depth * INDENT, b' ');
    }

    fn line_end(&mut self) {
        if !self.out.is_empty() && self.out.last() != Some(&b'\n') {
            self.out.push(b'\n');
        }
    }

    /// What stands between two statements: comments, blank lines, of which one stays, and what the parser passed over.
    fn gap(&mut self, gap: &[u8], depth: usize) {
        let mut blank = 0;
        for (k, line) in gap.split(|b| *b == b'\n').enumerate() {
            let line = line.trim_ascii();
            if line.is_empty() {
                blank += usize::from(k > 0);
                continue;
            }
            if k == 0 && !self.out.is_empty() {
                self.out.extend_from_slice(b"  ");
            } else {
                self.line_end();
                self.blank(blank > 0);
                self.indent(if self.out.is_empty() { 0 } else { depth });
            }
            self.out.extend_from_slice(line);
            blank = 0;
        }
        self.line_end();
        // The last line of a gap is that of the next statement.
        self.blank(blank > 1);
    }

    fn blank(&mut self, wanted: bool) {
        if wanted && !self.out.is_empty() && !self.out.ends_with(b"\n\n") {
            self.out.push(b'\n');
        }
    }

    /// One space between words, none before a comma and one after it, none in specifiers.
    fn statement(&mut self, text: &[u8], word: usize) {
        // A comment inside ends with its line.
        if text.contains(&b';') {
            return self.out.extend_from_slice(text);
        }
        let mut depth = 0usize;
        let mut space = false;
        let first = self.out.len();
        for (at, &byte) in text.iter().enumerate() {
            if byte.is_ascii_whitespace() {
                space = true;
                continue;
            }
            let in_word = at < word;
            let last = *self.out.last().unwrap_or(&b' ');
            let tight = byte == b','
                || in_word && (depth > 0 || byte == b')')
                || matches!(last, b'(' | b'[')
                || matches!(byte, b')' | b']');
            let after_comma = last == b',' && !(in_word && depth > 0);
            if self.out.len() > first && (after_comma || space && !tight) && last != b' ' {
                self.out.push(b' ');
            }
            match byte {
                b'(' => depth += 1,
                b')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            space = false;
            self.out.push(byte);
        }
    }
}
