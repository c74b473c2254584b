//! Statements.

use super::{Parser, Read, Told};
use crate::ast::{Stmt, StmtKind};
use crate::diagnostic::Span;
use crate::lex::Kind;

/// Words that begin statements.
pub(crate) const STATEMENTS: [&str; 14] = [
    "if", "else", "while", "do", "for", "break", "continue", "return", "switch", "case", "default", "goto",
    "asm", "__asm__",
];

impl Parser<'_> {
    /// What follows `{`, with its `}`.
    pub(crate) fn block_rest(&mut self, open: Span) -> Read<Vec<Stmt>> {
        let mut body = Vec::new();
        while !self.take("}") {
            if self.kind() == Kind::End {
                self.report.error("syntax", open, "the brace is not closed");
                return Err(Told);
            }
            if self.report.is_full() {
                return Err(Told);
            }
            let before = self.at;
            match self.statement() {
                Ok(statement) => body.push(statement),
                Err(Told) => {
                    self.recover();
                    if self.at == before {
                        self.step();
                    }
                }
            }
        }
        Ok(body)
    }

    /// Goes behind the statement that could not be read.
    fn recover(&mut self) {
        let mut depth = 0;
        while self.kind() != Kind::End {
            match self.text() {
                "{" => depth += 1,
                "}" if depth == 0 => return,
                "}" => {
                    depth -= 1;
                    if depth == 0 {
                        return self.step();
                    }
                }
                ";" if depth == 0 => return self.step(),
                _ => {}
            }
            self.step();
        }
    }

    fn boxed(&mut self) -> Read<Box<Stmt>> {
        self.nested(Self::statement).map(Box::new)
    }

    fn statement(&mut self) -> Read<Stmt> {
        let start = self.span();
        let kind = self.statement_kind()?;
        Ok(Stmt { kind, span: start.to(self.before()) })
    }

    fn statement_kind(&mut self) -> Read<StmtKind> {
        let start = self.span();
        if self.take(";") {
            return Ok(StmtKind::Empty);
        }
        if self.take("{") {
            return Ok(StmtKind::Block(self.nested(|p| p.block_rest(start))?));
        }
        if self.kind() == Kind::Word && STATEMENTS.contains(&self.text()) {
            return self.flow();
        }
        if self.kind() == Kind::Word && self.peek(1) == ":" {
            self.step();
            self.step();
            return Ok(StmtKind::Unsupported("a label"));
        }
        if self.begins_declaration() {
            return Ok(StmtKind::Decl(self.declaration()?));
        }
        let value = self.expression()?;
        self.expect(";")?;
        Ok(StmtKind::Expr(value))
    }

    fn flow(&mut self) -> Read<StmtKind> {
        let word = self.text();
        let start = self.span();
        self.step();
        match word {
            "if" => {
                let condition = self.bracketed()?;
                let then = self.boxed()?;
                let otherwise = if self.take("else") { Some(self.boxed()?) } else { None };
                Ok(StmtKind::If(condition, then, otherwise))
            }
            "while" => {
                let condition = self.bracketed()?;
                Ok(StmtKind::While(condition, self.boxed()?))
            }
            "do" => {
                let body = self.boxed()?;
                self.expect("while")?;
                let condition = self.bracketed()?;
                self.expect(";")?;
                Ok(StmtKind::DoWhile(body, condition))
            }
            "for" => {
                self.expect("(")?;
                let init = self.boxed()?;
                if !matches!(init.kind, StmtKind::Empty | StmtKind::Expr(_) | StmtKind::Decl(_)) {
                    self.report.error(
                        "syntax",
                        init.span,
                        "`for` begins with an expression or a declaration",
                    );
                }
                let condition = if self.is(";") { None } else { Some(self.expression()?) };
                self.expect(";")?;
                let step = if self.is(")") { None } else { Some(self.expression()?) };
                self.expect(")")?;
                Ok(StmtKind::For(init, condition, step, self.boxed()?))
            }
            "break" => self.expect(";").map(|_| StmtKind::Break),
            "continue" => self.expect(";").map(|_| StmtKind::Continue),
            "return" => {
                let value = if self.is(";") { None } else { Some(self.expression()?) };
                self.expect(";")?;
                Ok(StmtKind::Return(value))
            }
            "switch" => {
                self.bracketed()?;
                self.skip_statement()?;
                Ok(StmtKind::Unsupported("`switch`"))
            }
            "goto" => {
                self.name()?;
                self.expect(";")?;
                Ok(StmtKind::Unsupported("`goto`"))
            }
            "asm" | "__asm__" => {
                self.recover();
                Ok(StmtKind::Unsupported("`asm`"))
            }
            _ => {
                self.report.error("syntax", start, format!("`{word}` stands alone"));
                Err(Told)
            }
        }
    }

    fn bracketed(&mut self) -> Read<crate::ast::Expr> {
        self.expect("(")?;
        let inner = self.expression()?;
        self.expect(")")?;
        Ok(inner)
    }

    fn skip_statement(&mut self) -> Read<()> {
        if !self.is("{") {
            self.recover();
            return Ok(());
        }
        let open = self.span();
        let mut depth = 0;
        loop {
            match self.text() {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ if self.kind() == Kind::End => {
                    self.report.error("syntax", open, "the brace is not closed");
                    return Err(Told);
                }
                _ => {}
            }
            self.step();
            if depth == 0 {
                return Ok(());
            }
        }
    }
}
