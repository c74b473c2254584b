//! Going on after an error: where the next statement begins, and what the one that cannot be read may have been.

use super::cursor::{Cursor, is_word};
use super::parser::Parser;
use super::{mistakes, opword};
use crate::isa::Category;

impl Parser<'_> {
    /// Notes what the statement at `start`, which cannot be read, may have been.
    pub(super) fn lose(&mut self, start: usize) {
        let at = Cursor { at: start, ..self.c };
        let word = &at.text[start..at.word_end()];
        let category = opword::mnemonic(&at).map(|(opcode, _)| opcode).or_else(|| mistakes::meant(word));
        match category.map(|opcode| opcode.row().category) {
            Some(Category::Decl) => self.lost.declarations = true,
            Some(Category::Flow) => self.lose_flow(start as u32),
            Some(_) => {}
            // A word that nobody knows: a declaration by its beginning, else perhaps a word that opens or closes.
            None if word.get(..3).is_some_and(|dcl| dcl.eq_ignore_ascii_case(b"dcl")) => {
                self.lost.declarations = true;
            }
            None if word.is_empty() => {}
            None => self.lose_flow(start as u32),
        }
    }

    /// Notes that a word which opens or closes something may be missing at `at`.
    pub(super) fn lose_flow(&mut self, at: u32) {
        let (first, _) = self.lost.flow.unwrap_or((at, at));
        self.lost.flow = Some((first, at));
    }

    /// Goes to the next place where a statement can start: a known opcode after white space, or any word that begins
    /// a line, unless the line goes on with operands of the statement in error.
    pub(super) fn recover(&mut self, start: usize) {
        // The rest of the word in which the error stands is never a statement.
        let mut inside = self.c.at > start && is_word(self.c.byte(self.c.at - 1));
        if self.c.at <= start {
            self.c.at = start;
            self.skip_one();
        }
        loop {
            if inside {
                self.c.at = self.c.word_end();
            }
            let before = self.c.at;
            self.c.skip_space();
            if self.c.at_end() {
                return;
            }
            if self.c.at > before && self.c.peek().is_ascii_alphabetic() {
                let new_line = self.c.text[before..self.c.at].contains(&b'\n');
                let goes_on = matches!(self.c.byte(before - 1), b',' | b'(' | b'[' | b'{' | b'|');
                let word = &self.c.text[self.c.at..self.c.word_end()];
                let begins = new_line && !goes_on && !mistakes::operand_like(word);
                if begins || opword::mnemonic(&self.c).is_some() {
                    return;
                }
            }
            inside = is_word(self.c.peek());
            if !inside {
                self.skip_one();
            }
        }
    }

    /// Skips a word, a comment in the manner of another language, or one character.
    fn skip_one(&mut self) {
        match mistakes::foreign_comment(&self.c, !self.no_block_end) {
            Some(comment) => {
                // Looked for once in vain, the end of a comment is not looked for again.
                self.no_block_end |=
                    self.c.starts_with(b"/*") && !self.c.text[..comment.end].ends_with(b"*/");
                self.c.at = comment.end;
            }
            None => self.c.at = self.c.word_end().max(self.c.at + 1).min(self.c.text.len()),
        }
    }
}
