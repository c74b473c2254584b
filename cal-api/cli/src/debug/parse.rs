//! Reads expressions.

use recal::debug::State;

use super::expression::{Expression, Memory, Node, Term, Type, Value, builtins, component};

/// Operators that bind alike, the loosest first.
const LEVELS: [&[&str]; 9] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
];
/// Those that bind tightest.
const PRODUCT: &[&str] = &["*", "/", "%"];

/// Brackets and signs inside each other.
const DEPTH: usize = 100;

/// Operators of an expression: each may be inside the next one.
const LENGTH: usize = 2000;

struct Parser<'p, 's> {
    rest: &'p str,
    state: &'p State<'s>,
    depth: usize,
    length: usize,
}

/// The expression that a text is, for this kernel.
pub(crate) fn expression(text: &str, state: &State<'_>) -> Result<Expression, String> {
    let mut parser = Parser { rest: text, state, depth: 0, length: 0 };
    let root = parser.level(0)?;
    parser.space();
    match parser.rest.is_empty() {
        true => Ok(Expression { text: text.trim().to_owned(), root }),
        false => Err(format!("`{}` is more than an expression", parser.rest)),
    }
}

impl Parser<'_, '_> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, text: &str) -> bool {
        self.space();
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, text: &str) -> Result<(), String> {
        let rest = self.rest;
        if self.take(text) { Ok(()) } else { Err(format!("expected `{text}` before `{rest}`")) }
    }

    fn word(&mut self) -> &str {
        self.space();
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn operator(&mut self, of: &[&'static str]) -> Option<&'static str> {
        self.space();
        let found = *of.iter().find(|op| self.rest.starts_with(**op))?;
        // `&` is not the half of `&&`, nor `<` of `<<`.
        let longer = ["&&", "||", "<<", ">>", "<=", ">="];
        if longer.iter().any(|op| self.rest.starts_with(op) && op.len() > found.len()) {
            return None;
        }
        self.rest = &self.rest[found.len()..];
        Some(found)
    }

    fn level(&mut self, level: usize) -> Result<Node, String> {
        let operators = LEVELS.get(level).copied().unwrap_or(PRODUCT);
        let next =
            |parser: &mut Self| if level < LEVELS.len() { parser.level(level + 1) } else { parser.unary() };
        let mut left = next(self)?;
        while let Some(op) = self.operator(operators) {
            self.longer()?;
            left = Node::Binary(op, Box::new(left), Box::new(next(self)?));
        }
        Ok(left)
    }

    fn longer(&mut self) -> Result<(), String> {
        self.length += 1;
        if self.length > LENGTH { Err("the expression is too long".into()) } else { Ok(()) }
    }

    fn deeper<T>(&mut self, inside: impl FnOnce(&mut Self) -> Result<T, String>) -> Result<T, String> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err("the expression is too deep".into());
        }
        let found = inside(self);
        self.depth -= 1;
        found
    }

    fn unary(&mut self) -> Result<Node, String> {
        for op in ['!', '~', '-'] {
            if self.take(op.encode_utf8(&mut [0; 4])) {
                return Ok(Node::Unary(op, Box::new(self.deeper(Self::unary)?)));
            }
        }
        let mut node = self.primary()?;
        loop {
            let before = self.rest;
            if self.word() != "as" {
                self.rest = before;
                return Ok(node);
            }
            let name = self.word();
            let kind =
                Type::named(name).ok_or_else(|| format!("`{name}` is none of float, int, uint, hex"))?;
            self.longer()?;
            node = Node::As(kind, Box::new(node));
        }
    }

    fn primary(&mut self) -> Result<Node, String> {
        self.space();
        if self.take("(") {
            let node = self.deeper(|parser| parser.level(0))?;
            self.expect(")")?;
            return Ok(node);
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            return self.number();
        }
        let rest = self.rest;
        let name = self.word().to_owned();
        if name.is_empty() {
            return Err(if rest.is_empty() {
                "something is missing at the end".into()
            } else {
                format!("`{rest}` is no value")
            });
        }
        let index = if self.take("[") {
            let column = self.deeper(|parser| parser.level(0))?;
            let row = if self.take(",") { Some(self.deeper(|parser| parser.level(0))?) } else { None };
            self.expect("]")?;
            Some((column, row))
        } else {
            None
        };
        let term = self.term(&name, index)?;
        let mut which = None;
        if let Some(after) = self.rest.strip_prefix('.') {
            self.rest = after;
            let letter = self.word().to_owned();
            which = Some(component(&letter).ok_or_else(|| format!("`.{letter}` is none of .x, .y, .z, .w"))?);
        }
        if let (Term::Register(name, registers), Some(k)) = (&term, which)
            && registers[usize::from(k)].is_none()
        {
            return Err(format!("the kernel does not use that component of {name}"));
        }
        Ok(Node::Term(term, which))
    }

    fn number(&mut self) -> Result<Node, String> {
        let rest = self.rest;
        let hex = rest.starts_with("0x") || rest.starts_with("0X");
        let mut end = 0;
        let bytes = rest.as_bytes();
        while end < bytes.len() {
            let exponent = !hex && end > 0 && matches!(bytes[end - 1], b'e' | b'E');
            let part = bytes[end].is_ascii_alphanumeric()
                || bytes[end] == b'.'
                || exponent && matches!(bytes[end], b'+' | b'-');
            if !part {
                break;
            }
            end += 1;
        }
        let (text, rest) = rest.split_at(end);
        self.rest = rest;
        let bad = || format!("`{text}` is no number");
        if hex {
            return u32::from_str_radix(&text[2..], 16)
                .map(|n| Node::Value(Value::Int(n.into())))
                .map_err(|_| bad());
        }
        if text.contains(['.', 'e', 'E']) {
            return text.parse().map(|n| Node::Value(Value::Float(n))).map_err(|_| bad());
        }
        let whole = text.parse::<i64>().ok().filter(|n| *n <= u32::MAX.into());
        whole.map(|n| Node::Value(Value::Int(n))).ok_or_else(bad)
    }

    /// What a name and what is in the brackets behind it stand for.
    fn term(&self, name: &str, index: Option<(Node, Option<Node>)>) -> Result<Term, String> {
        let unknown = || format!("the kernel has no `{name}`");
        let digits = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
        let (file, number) = (&name[..digits], name[digits..].parse::<u32>().ok());
        let Some((column, row)) = index else {
            return match (file, number) {
                ("lane", None) => Ok(Term::Lane),
                ("wave", None) => Ok(Term::Wave),
                ("group" | "tile", None) => Ok(Term::Part),
                ("tid", None) => Ok(Term::Position),
                ("r" | "o", Some(_)) => {
                    let mut registers = [None; 4];
                    for (register, known) in self.state.names() {
                        if let Some((known, letter)) = known.split_once('.')
                            && known == name
                            && let Some(k) = component(letter)
                        {
                            registers[usize::from(k)] = Some(*register);
                        }
                    }
                    match registers == [None; 4] {
                        true => Err(unknown()),
                        false => Ok(Term::Register(name.to_owned(), registers)),
                    }
                }
                ("sr", Some(number)) => Ok(Term::Shared(number)),
                _ => match builtins(self.state, name) {
                    Some(found) if found != [None; 4] => Ok(Term::Builtin(name.to_owned(), found)),
                    Some(_) => Err(format!("the kernel does not use {name}; `tid` is the thread's position")),
                    None if Memory::named(self.state, name).is_some() => {
                        Err(format!("`{name}` wants an index: {name}[0]"))
                    }
                    None => Err(unknown()),
                },
            };
        };
        if let ("x", Some(number)) = (file, number) {
            return match (self.state.arrays().any(|(known, _)| known == number), row) {
                (true, None) => Ok(Term::Array(number, Box::new(column))),
                (true, Some(_)) => Err(format!("{name} has one index")),
                (false, _) => Err(unknown()),
            };
        }
        let memory = Memory::named(self.state, name).ok_or_else(unknown)?;
        Ok(Term::Memory(memory, Box::new(column), row.map(Box::new)))
    }
}
