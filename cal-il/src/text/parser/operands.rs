//! What follows the word of a statement: operands, values, flags, data, what macros take.

use super::*;

impl Parser<'_> {
    /// Reads operands while commas follow, then compares their number with the table. One comma may be missing if
    /// another operand must follow: that is told, and reading goes on.
    pub(super) fn operands(&mut self, statement: &mut Statement) -> Step<()> {
        let row = statement.opcode.row();
        let rules = Rules::of(statement.opcode);
        let registers = usize::from(row.destinations) + usize::from(row.sources);
        let extra = self.ext_operands(statement);
        let most = registers + extra.1 + rules.values.len();
        if most == 0 {
            return Ok(());
        }
        let least = registers + extra.0 + rules.values.len() - rules.optional_values;
        let mut count = 0;
        let mut told = false;
        loop {
            let end = self.c.at;
            self.c.skip_space();
            let read = if count < usize::from(row.destinations) {
                operand::destination(&mut self.c, &mut self.ast.operands)
            } else if count < registers + extra.1 {
                operand::source(&mut self.c, &mut self.ast.operands)
            } else {
                let kind = rules.values.get(count - registers - extra.1).copied();
                self.value(kind, row.scope)
            };
            read.map_err(|d| self.no_operand(d, statement, end))?;
            statement.operands.1 += 1;
            count += 1;
            let mut ahead = self.c;
            ahead.skip_space();
            if ahead.peek() != b',' {
                if count >= least || told || !self.operand_follows(&ahead, end) {
                    break;
                }
                told = true;
                self.errors.push(mistakes::missing_comma(self.c.text, self.c.at, ahead.span_here()));
                continue;
            }
            if statement.opcode == Opcode::DclCb && self.is_immediate_buffer(statement) {
                break;
            }
            self.c = ahead;
            self.c.at += 1;
        }
        if statement.opcode == Opcode::DclCb && self.is_immediate_buffer(statement) {
            return self.immediate_data(statement);
        }
        self.check_count(statement, least, most)
    }

    /// True if an operand stands ahead that no comma announces.
    fn operand_follows(&self, ahead: &Cursor, end: usize) -> bool {
        let word = &ahead.text[ahead.at..ahead.word_end()];
        let operand = ahead.at_number() || mistakes::operand_like(word) && grammar::longest(word).is_none();
        operand && ahead.at > end && ahead.at > self.c.at && self.errors.len() + 1 < MAX_ERRORS
    }

    /// What is wrong with an operand, now that the statement is known; if there is none at all, behind what it is
    /// missing.
    fn no_operand(&mut self, d: Box<Diagnostic>, statement: &Statement, end: usize) -> Box<Diagnostic> {
        if d.rule == "immediate-operand" && statement.opcode.row().category == Category::Decl {
            let found = excerpt(self.c.text, d.span);
            let message = format!("a register is expected, found `{found}`");
            let note = format!("it is written `{}`", grammar::usage(statement.opcode));
            return Box::new(Diagnostic::error(d.rule, d.span, message).with_note(note));
        }
        if d.rule == "destination-modifier" {
            let modifier = excerpt(self.c.text, d.span);
            let mut d = d;
            if matches!(modifier.as_str(), "_sat" | "_x2" | "_x4" | "_x8" | "_d2" | "_d4" | "_d8") {
                let edits = vec![(statement.word.after(), modifier), (d.span, String::new())];
                d.suggestion = Some(Suggestion { message: "write it so".into(), edits });
            }
            return d;
        }
        if !matches!(d.rule, "missing-operand" | "truncated") || d.span.end < end as u32 {
            return d;
        }
        self.c.at = end;
        let gap = Span::gap(end);
        let name = statement.opcode.mnemonic();
        let message = match d.rule {
            "truncated" => format!("the text ends where an operand of `{name}` is expected"),
            _ => format!("an operand of `{name}` is missing"),
        };
        let note = format!("it is written `{}`", grammar::usage(statement.opcode));
        Box::new(Diagnostic::error(d.rule, gap, message).with_label(gap, "expected here").with_note(note))
    }

    /// Fewest and most operands that `_ext` adds.
    fn ext_operands(&self, statement: &Statement) -> (usize, usize) {
        if !self.ast.specifiers(statement).iter().any(|s| s.name == "ext") {
            return (0, 0);
        }
        match statement.opcode {
            Opcode::Load | Opcode::Resinfo | Opcode::SrvRawLoad | Opcode::SrvStructLoad | Opcode::Bufinfo => {
                (0, 1)
            }
            opcode if opcode.row().category == Category::Uav => (1, 1),
            _ => (2, 2),
        }
    }

    fn check_count(&mut self, statement: &Statement, least: usize, most: usize) -> Step<()> {
        let count = statement.operands.1 as usize;
        // The narrow stores are written with and without `mem`.
        let first = self.ast.operands(statement).first();
        let with_mem = matches!(first, Some(Operand { kind: OperandKind::Destination { register, .. }, .. }) if register.file == File::Mem);
        let optional_mem =
            matches!(statement.opcode, Opcode::UavByteStore | Opcode::UavShortStore) && with_mem;
        let (least, most) = if optional_mem { (least + 1, most + 1) } else { (least, most) };
        if (least..=most).contains(&count) {
            return Ok(());
        }
        let name = statement.opcode.mnemonic();
        let wanted = if least == most { least.to_string() } else { format!("{least} to {most}") };
        let plural = if most == 1 { "" } else { "s" };
        let message = format!("`{name}` takes {wanted} operand{plural}, found {count}");
        let d = Diagnostic::error("operand-count", statement.word, message);
        let d = match self.ast.operands(statement).get(most) {
            Some(extra) => d.with_label(extra.span, "one too many"),
            None => d.with_label(Span::gap(self.c.at), "one is missing here"),
        };
        Err(Box::new(d.with_note(format!("it is written `{}`", grammar::usage(statement.opcode)))))
    }

    /// Reads an operand that is no register.
    fn value(&mut self, kind: Option<ValueKind>, scope: Scope) -> Step<()> {
        let start = self.c.at;
        let kind = match kind {
            Some(ValueKind::Flags) => OperandKind::Flags(self.flags()?),
            _ if self.c.at_number() => OperandKind::Number(self.c.number()?),
            // Too many operands: read what is there, the count is reported.
            None => return operand::source(&mut self.c, &mut self.ast.operands),
            Some(_) if scope == Scope::Graphics && is_word(self.c.peek()) => {
                let end = self.c.word_end();
                let word = opword::intern(&mut self.ast, &self.c.text[start..end]);
                self.c.at = end;
                OperandKind::Word(word)
            }
            Some(_) if grammar::longest(&self.c.text[start..self.c.word_end()]).is_some() => {
                return Err(mistakes::operand(&self.c));
            }
            Some(_) if self.c.at_end() => return Err(mistakes::operand(&self.c)),
            Some(_) => return mistakes::number(&self.c),
        };
        self.ast.operands.push(Operand { kind, span: self.c.span_from(start) });
        Ok(())
    }

    fn flags(&mut self) -> Step<u8> {
        let mut bits = 0;
        loop {
            let end = self.c.word_end();
            let word = self.c.text[self.c.at..end].to_ascii_lowercase();
            bits |= match FLAGS.iter().position(|f| f.as_bytes().eq_ignore_ascii_case(&word)) {
                Some(bit) => 1 << bit,
                None => {
                    let (span, found) = (self.c.span_here(), self.c.excerpt());
                    let d =
                        Diagnostic::error("unknown-flag", span, format!("`{found}` is not a global flag"));
                    return Err(Box::new(match grammar::nearest(&found, FLAGS.into_iter()) {
                        Some(near) => d.with_suggestion(format!("did you mean `{near}`?"), span, near),
                        None => d.with_note(format!("one of: {}", FLAGS.join(", "))),
                    }));
                }
            };
            self.c.at = end;
            let mut ahead = self.c;
            ahead.skip_space();
            if ahead.peek() != b'|' {
                return Ok(bits);
            }
            self.c = ahead;
            self.c.at += 1;
            self.c.skip_space();
        }
    }

    fn is_immediate_buffer(&self, statement: &Statement) -> bool {
        matches!(
            self.ast.operands(statement).first(),
            Some(Operand { kind: OperandKind::Source { register, .. }, .. }) if register.file == File::Immediate
        )
    }

    /// The values of `dcl_cb icb[n]`: numbers with commas, braces and line breaks in any arrangement.
    fn immediate_data(&mut self, statement: &mut Statement) -> Step<()> {
        let mut depth = 0usize;
        let mut comma = false;
        loop {
            let mut ahead = self.c;
            ahead.skip_space();
            match ahead.peek() {
                b'{' => depth += 1,
                b'}' if depth > 0 => depth -= 1,
                b',' if !comma => {
                    comma = true;
                    self.c = ahead;
                    self.c.at += 1;
                    continue;
                }
                _ if ahead.at_number() => {
                    self.c = ahead;
                    let number = self.c.number()?;
                    let operand =
                        Operand { kind: OperandKind::Number(number), span: self.c.span_from(ahead.at) };
                    self.push(statement, operand);
                    comma = false;
                    continue;
                }
                _ if depth > 0 || comma => {
                    let gap = Span::gap(self.c.at);
                    let message = match depth {
                        0 => "a number is missing in the data of `icb`",
                        _ => "a number or `}` is missing in the data of `icb`",
                    };
                    return Err(Box::new(Diagnostic::error("immediate-data", gap, message)));
                }
                _ => return Ok(()),
            }
            self.c = ahead;
            self.c.at += 1;
        }
    }

    /// `loop i0`, `loop repeat i0`.
    pub(super) fn loop_operand(&mut self, statement: &mut Statement) -> Step<()> {
        self.c.skip_space();
        if self.c.text[self.c.at..self.c.word_end()].eq_ignore_ascii_case(b"repeat") {
            self.c.at = self.c.word_end();
            self.c.skip_space();
        }
        operand::source(&mut self.c, &mut self.ast.operands)?;
        statement.operands.1 += 1;
        Ok(())
    }

    /// `(d0, d1), (s0, s1)` of a macro call; the number of destinations becomes the second argument of `(id)`.
    pub(super) fn mcall(&mut self, statement: &mut Statement) -> Step<()> {
        self.list(statement, true)?;
        let destinations = statement.operands.1;
        let end = self.c.at;
        self.c.skip_space();
        if !self.c.eat(b',') {
            return Err(self.expected(end, "`,` between the lists of `mcall`"));
        }
        self.list(statement, false)?;
        let at = (statement.specifiers.0) as usize;
        let number = super::super::ast::Number::Integer { value: i64::from(destinations), hex: false };
        self.ast.arguments.push(Argument::Number(number));
        self.ast.specifiers[at].arguments.1 += 1;
        Ok(())
    }

    fn list(&mut self, statement: &mut Statement, destinations: bool) -> Step<()> {
        let end = self.c.at;
        self.c.skip_space();
        if !self.c.eat(b'(') {
            return Err(self.expected(end, "a list of operands in parentheses"));
        }
        self.c.skip_space();
        if self.c.eat(b')') {
            return Ok(());
        }
        loop {
            self.c.skip_space();
            let read = if destinations { operand::destination } else { operand::source };
            read(&mut self.c, &mut self.ast.operands)?;
            statement.operands.1 += 1;
            let end = self.c.at;
            self.c.skip_space();
            if self.c.eat(b')') {
                return Ok(());
            }
            if !self.c.eat(b',') {
                return Err(self.expected(end, "`,` or `)`"));
            }
        }
    }

    /// Something else stands here; if that is on a later line, what is missing is missing at `end`.
    fn expected(&mut self, end: usize, what: &str) -> Box<Diagnostic> {
        let later = self.c.at_end() || self.c.text[end..self.c.at].contains(&b'\n');
        let (span, message) = match later {
            true => (Span::gap(end), format!("{what} is missing")),
            false => (self.c.span_here(), format!("{what} is expected, found `{}`", self.c.excerpt())),
        };
        if later {
            self.c.at = end;
        }
        let note = "a macro is called so: `mcall(1) (r0, r1), (r2, r3.x)`, destinations before sources";
        Box::new(Diagnostic::error("macro-syntax", span, message).with_note(note))
    }
}
