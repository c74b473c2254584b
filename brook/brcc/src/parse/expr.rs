//! Expressions, by precedence.

use super::{Parser, Read};
use crate::ast::{BinaryOp, Expr, ExprKind, TypeName, UnaryOp};
use crate::diagnostic::Span;
use crate::lex::Kind;
use crate::types::Type;

const ASSIGNMENTS: [(&str, BinaryOp); 10] = [
    ("+=", BinaryOp::Add),
    ("-=", BinaryOp::Sub),
    ("*=", BinaryOp::Mul),
    ("/=", BinaryOp::Div),
    ("%=", BinaryOp::Rem),
    ("<<=", BinaryOp::Shl),
    (">>=", BinaryOp::Shr),
    ("&=", BinaryOp::And),
    ("|=", BinaryOp::Or),
    ("^=", BinaryOp::Xor),
];

/// Tallest expression.
const TALLEST: u32 = 500;

fn expr(kind: ExprKind, span: Span) -> Expr {
    Expr::new(kind, span)
}

impl Parser<'_> {
    /// Any expression.
    pub(crate) fn expression(&mut self) -> Read<Expr> {
        let mut left = self.assignment()?;
        while self.take(",") {
            let right = self.assignment()?;
            let span = left.span.to(right.span);
            left = expr(ExprKind::Comma(Box::new(left), Box::new(right)), span);
            self.not_too_tall(&left)?;
        }
        Ok(left)
    }

    /// A chain of operators makes a tree as deep as it is long, and chains in chains one as deep as all of them.
    fn not_too_tall(&mut self, e: &Expr) -> Read<()> {
        if e.height <= TALLEST {
            return Ok(());
        }
        self.report.error("nesting", e.span, format!("more than {TALLEST} operators in one expression"));
        Err(super::Told)
    }

    /// An expression without a comma.
    pub(crate) fn assignment(&mut self) -> Read<Expr> {
        self.nested(|p| {
            let left = p.conditional()?;
            let op = if p.is("=") {
                None
            } else {
                match ASSIGNMENTS.iter().find(|(text, _)| p.is(text)) {
                    Some((_, op)) => Some(*op),
                    None => return Ok(left),
                }
            };
            p.step();
            let right = p.assignment()?;
            let span = left.span.to(right.span);
            Ok(expr(ExprKind::Assign(op, Box::new(left), Box::new(right)), span))
        })
    }

    fn conditional(&mut self) -> Read<Expr> {
        let condition = self.binary(1)?;
        if !self.take("?") {
            return Ok(condition);
        }
        let yes = self.nested(Self::expression)?;
        self.expect(":")?;
        let no = self.nested(Self::conditional)?;
        let span = condition.span.to(no.span);
        Ok(expr(ExprKind::Cond(Box::new(condition), Box::new(yes), Box::new(no)), span))
    }

    fn binary(&mut self, loosest: u8) -> Read<Expr> {
        let mut left = self.unary()?;
        while let Some(&(_, op, precedence)) = BinaryOp::TABLE.iter().find(|(text, ..)| self.is(text))
            && precedence >= loosest
        {
            self.step();
            let right = self.nested(|p| p.binary(precedence + 1))?;
            let span = left.span.to(right.span);
            left = expr(ExprKind::Binary(op, Box::new(left), Box::new(right)), span);
            self.not_too_tall(&left)?;
        }
        Ok(left)
    }

    /// The size of a stream: a constant, a name, a call, or anything in brackets.
    pub(crate) fn dimension(&mut self) -> Read<Expr> {
        self.nested(Self::postfix)
    }

    fn unary(&mut self) -> Read<Expr> {
        self.nested(|p| {
            let start = p.span();
            let op = match p.text() {
                _ if p.kind() != Kind::Punct => None,
                "+" => Some(UnaryOp::Plus),
                "-" => Some(UnaryOp::Neg),
                "!" => Some(UnaryOp::Not),
                "~" => Some(UnaryOp::BitNot),
                "*" => Some(UnaryOp::Deref),
                "&" => Some(UnaryOp::Address),
                _ => None,
            };
            if let Some(op) = op {
                p.step();
                let operand = p.unary()?;
                let span = start.to(operand.span);
                return Ok(expr(ExprKind::Unary(op, Box::new(operand)), span));
            }
            if p.is("++") || p.is("--") {
                let up = p.is("++");
                p.step();
                let operand = p.unary()?;
                let span = start.to(operand.span);
                return Ok(expr(ExprKind::Step(up, true, Box::new(operand)), span));
            }
            if p.is("sizeof") {
                p.step();
                if p.cast_type().is_none() {
                    p.unary()?;
                }
                return Ok(expr(ExprKind::Sizeof, start.to(p.before())));
            }
            if p.is("(") {
                if let Some(ty) = p.cast_type() {
                    let operand = p.unary()?;
                    let span = start.to(operand.span);
                    return Ok(expr(ExprKind::Cast(ty, Box::new(operand)), span));
                }
            }
            p.postfix()
        })
    }

    /// `(type)`, or nothing is taken.
    fn cast_type(&mut self) -> Option<TypeName> {
        let before = self.at;
        if !self.take("(") {
            return None;
        }
        let ty = if self.is("void") || self.is("long") {
            let text = self.text().to_owned();
            let span = self.span();
            self.step();
            let ty = if text == "void" { Some(Type::Void) } else { None };
            Some(TypeName { ty, text, span, pointer: false })
        } else {
            self.silent_type()
        };
        if let Some(mut ty) = ty {
            while self.take("*") {
                ty.pointer = true;
            }
            if self.take(")") {
                return Some(ty);
            }
        }
        self.at = before;
        None
    }

    fn postfix(&mut self) -> Read<Expr> {
        let mut left = self.primary()?;
        loop {
            self.not_too_tall(&left)?;
            let start = left.span;
            if self.take("[") {
                let index = self.nested(Self::expression)?;
                let end = self.expect("]")?;
                left = expr(ExprKind::Index(Box::new(left), Box::new(index)), start.to(end));
            } else if self.is("(") {
                self.step();
                let args = self.arguments()?;
                left = expr(ExprKind::Call(Box::new(left), args), start.to(self.before()));
            } else if self.is(".") || self.is("->") {
                let arrow = self.is("->");
                self.step();
                let name = self.name()?;
                let span = start.to(name.span);
                left = expr(ExprKind::Member(Box::new(left), name, arrow), span);
            } else if self.is("++") || self.is("--") {
                let up = self.is("++");
                let end = self.span();
                self.step();
                left = expr(ExprKind::Step(up, false, Box::new(left)), start.to(end));
            } else {
                return Ok(left);
            }
        }
    }

    /// The rest of a call behind its bracket.
    fn arguments(&mut self) -> Read<Vec<Expr>> {
        let mut args = Vec::new();
        while !self.is(")") {
            args.push(self.assignment()?);
            if !self.take(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(args)
    }

    /// `{ a, b }`
    pub(crate) fn list(&mut self) -> Read<Expr> {
        self.nested(|p| {
            let start = p.expect("{")?;
            let mut values = Vec::new();
            while !p.is("}") {
                values.push(if p.is("{") { p.list()? } else { p.assignment()? });
                if !p.take(",") {
                    break;
                }
            }
            let end = p.expect("}")?;
            Ok(expr(ExprKind::List(values), start.to(end)))
        })
    }

    fn primary(&mut self) -> Read<Expr> {
        let span = self.span();
        let text = self.text();
        let kind = match self.kind() {
            Kind::Int => self.integer(text, span),
            Kind::Float => self.float(text, span),
            Kind::Str => ExprKind::Str,
            Kind::Char => ExprKind::Char,
            Kind::Punct if text == "(" => {
                self.step();
                let inner = self.nested(Self::expression)?;
                let end = self.expect(")")?;
                return Ok(Expr { span: span.to(end), ..inner });
            }
            Kind::Word => return self.word(),
            Kind::Punct | Kind::Directive | Kind::End => return self.unexpected("an expression"),
        };
        self.step();
        Ok(expr(kind, span))
    }

    fn word(&mut self) -> Read<Expr> {
        let span = self.span();
        let text = self.text();
        let called = self.peek(1) == "(";
        match text {
            "indexof" => {
                self.step();
                let bracket = self.take("(");
                let name = self.name()?;
                if bracket {
                    self.expect(")")?;
                }
                return Ok(expr(ExprKind::IndexOf(name), span.to(self.before())));
            }
            "instance" | "instanceInGroup" | "syncGroup" | "iter" if called => {
                let kind = match text {
                    "instance" => ExprKind::Instance,
                    "instanceInGroup" => ExprKind::InstanceInGroup,
                    "syncGroup" => ExprKind::SyncGroup,
                    _ => ExprKind::Iter,
                };
                self.step();
                self.step();
                let args = self.arguments()?;
                if text != "iter" && !args.is_empty() {
                    self.report.error("argument-count", span, format!("`{text}` takes no arguments"));
                }
                return Ok(expr(kind, span.to(self.before())));
            }
            _ => {}
        }
        let vector = |ty: &Type| matches!(ty, Type::Vector(..));
        if let (Some(ty), true) = (self.type_named(text).filter(vector), called) {
            self.step();
            self.step();
            let args = self.arguments()?;
            return Ok(expr(ExprKind::Construct(ty, args), span.to(self.before())));
        }
        if text == "unsigned" && Type::named(self.peek(1)).is_some() && self.peek(2) == "(" {
            if let Some(ty) = self.silent_type().and_then(|t| t.ty) {
                self.expect("(")?;
                let args = self.arguments()?;
                return Ok(expr(ExprKind::Construct(ty, args), span.to(self.before())));
            }
        }
        if Type::named(text).is_some() || super::stmt::STATEMENTS.contains(&text) {
            return self.unexpected("an expression");
        }
        self.step();
        Ok(expr(ExprKind::Name(text.to_owned()), span))
    }

    fn integer(&mut self, text: &str, span: Span) -> ExprKind {
        let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
        let unsigned = text[digits.len()..].contains(['u', 'U']);
        let parsed = if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            u64::from_str_radix(hex, 16)
        } else if digits.len() > 1 && digits.starts_with('0') {
            u64::from_str_radix(&digits[1..], 8)
        } else {
            digits.parse()
        };
        match parsed {
            Ok(value) if value <= u64::from(u32::MAX) => ExprKind::Int(value as u32, unsigned),
            Ok(_) => {
                self.report.error("literal", span, "the number does not fit into 32 bits");
                ExprKind::Wrong
            }
            Err(_) => {
                self.report.error("literal", span, format!("`{text}` is not a number"));
                ExprKind::Wrong
            }
        }
    }

    fn float(&mut self, text: &str, span: Span) -> ExprKind {
        let digits = text.trim_end_matches(['f', 'F', 'l', 'L']);
        let single = digits.len() < text.len();
        // More than one suffix, or none of a number that has neither point nor exponent.
        if text.len() - digits.len() > 1 {
            self.report.error("literal", span, format!("`{text}` is not a number"));
            return ExprKind::Wrong;
        }
        match digits.parse::<f64>() {
            Ok(value) => ExprKind::Float(value, !single),
            Err(_) => {
                self.report.error("literal", span, format!("`{text}` is not a number"));
                ExprKind::Wrong
            }
        }
    }
}
