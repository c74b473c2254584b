//! The text of the kernel: lines, and the instructions on them.

use recal::debug::State;
use recal_il::diagnostic::Span;

pub(crate) struct Lines {
    text: Vec<u8>,
    /// First byte of each line.
    starts: Vec<usize>,
    /// Line of the end of main.
    end: u32,
}

impl Lines {
    pub(crate) fn new(text: &[u8]) -> Lines {
        let newlines = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        let starts: Vec<usize> = std::iter::once(0).chain(newlines).collect();
        let mut lines = Lines { text: text.to_vec(), starts, end: 0 };
        let statements = recal_il::text::parse(text).map_or(Vec::new(), |ast| ast.statements);
        let is = |span: Span, word: &str| lines.text_of(span).eq_ignore_ascii_case(word);
        let end = statements.iter().find(|s| is(s.word, "endmain")).or(statements.last());
        lines.end = end.map_or(0, |end| lines.of(end.span));
        lines
    }

    pub(crate) fn count(&self) -> u32 {
        let empty = self.starts.last().is_some_and(|start| *start == self.text.len());
        self.starts.len() as u32 - u32::from(empty)
    }

    /// The line of a place, from 1.
    pub(crate) fn of(&self, span: Span) -> u32 {
        self.starts.partition_point(|start| *start <= span.start as usize) as u32
    }

    /// A line without its end; nothing beyond the last.
    pub(crate) fn line(&self, number: u32) -> String {
        let Some(index) = (number as usize).checked_sub(1).filter(|index| *index < self.starts.len()) else {
            return String::new();
        };
        let end = self.starts.get(index + 1).copied().unwrap_or(self.text.len());
        String::from_utf8_lossy(&self.text[self.starts[index]..end]).trim_end().to_owned()
    }

    fn text_of(&self, span: Span) -> String {
        let bytes = self.text.get(span.start as usize..span.end as usize).unwrap_or_default();
        String::from_utf8_lossy(bytes).trim().to_owned()
    }

    /// Where an instruction of a state is; `None` is the end of main.
    pub(crate) fn of_instruction(&self, state: &State<'_>, instruction: Option<usize>) -> u32 {
        let span = instruction.and_then(|number| state.instructions().get(number));
        span.map_or(self.end, |span| self.of(*span))
    }

    /// The instructions of the first line, from this one on, that has any; and that line.
    pub(crate) fn instructions(&self, state: &State<'_>, line: u32) -> Option<(u32, Vec<usize>)> {
        let all = state.instructions();
        let first = all.iter().position(|span| self.of(*span) >= line)?;
        let line = self.of(all[first]);
        Some((line, (first..all.len()).take_while(|k| self.of(all[*k]) == line).collect()))
    }
}
