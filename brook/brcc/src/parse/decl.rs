//! Declarations: specifiers, declarators, kernels.

use super::{Parser, Read, Told};
use crate::ast::{Attribute, Decl, Declarator, Kernel, Name, Param, Quals, Shape, TypeName};
use crate::lex::Kind;
use crate::types::{Scalar, Type};

/// Words that are taken and mean nothing.
const IGNORED: [&str; 13] = [
    "inline",
    "__inline",
    "__inline__",
    "typeof",
    "__extension__",
    "alignof",
    "__real",
    "__imag",
    "__complex",
    "__label__",
    "__cdecl",
    "__stdcall",
    "__fastcall",
];

/// Words that begin or continue a declaration besides the names of vectors and structs.
const SPECIFIERS: [&str; 26] = [
    "const",
    "volatile",
    "restrict",
    "__restrict",
    "__restrict__",
    "out",
    "shared",
    "reduce",
    "iter",
    "kernel",
    "vout",
    "static",
    "extern",
    "register",
    "auto",
    "typedef",
    "unsigned",
    "signed",
    "long",
    "void",
    "struct",
    "union",
    "enum",
    "inline",
    "__iterator",
    "__inline",
];

impl Parser<'_> {
    /// True where a declaration begins.
    pub(crate) fn begins_declaration(&self) -> bool {
        if self.kind() != Kind::Word {
            return false;
        }
        let text = self.text();
        // `iter(…)` and constructors are expressions.
        if self.peek(1) == "(" {
            return SPECIFIERS.contains(&text) && !matches!(text, "iter");
        }
        SPECIFIERS.contains(&text)
            || Type::named(text).is_some()
            || (self.structs.find(text).is_some() && self.peek(1) == "*")
            || (self.tokens.get(self.at + 1).is_some_and(|t| t.kind == Kind::Word)
                && !super::stmt::STATEMENTS.contains(&text)
                && !matches!(text, "indexof" | "sizeof"))
    }

    /// Specifiers in any order. The type is `None` if none was written.
    pub(crate) fn specifiers(&mut self) -> Read<(Quals, Option<TypeName>)> {
        let mut quals = Quals::default();
        let start = self.span();
        let mut sign = None;
        let mut long = false;
        let mut named: Option<(String, Option<Type>)> = None;
        let mut ty_span = None;
        while self.kind() == Kind::Word {
            let text = self.text();
            let span = self.span();
            match text {
                "out" => quals.out = Some(span),
                "reduce" => quals.reduce = Some(span),
                "kernel" => quals.kernel = Some(span),
                "const" => quals.constant = Some(span),
                "shared" => quals.shared = Some(span),
                "iter" | "__iterator" => quals.iter = Some(span),
                "vout" => {
                    quals.vout = Some(span);
                    self.step();
                    if self.take("[") {
                        if !self.is("]") {
                            self.assignment()?;
                        }
                        self.expect("]")?;
                    }
                    continue;
                }
                "volatile" | "restrict" | "__restrict" | "__restrict__" | "static" | "extern"
                | "register" | "auto" | "typedef" => quals.other.push(Name { text: text.to_owned(), span }),
                "__attribute__" => {
                    self.step();
                    self.skip_brackets()?;
                    continue;
                }
                "unsigned" | "signed" => {
                    sign = Some(text == "unsigned");
                    ty_span = Some(ty_span.unwrap_or(span));
                }
                "long" => {
                    long = true;
                    ty_span = Some(ty_span.unwrap_or(span));
                }
                "struct" | "union" | "enum" if named.is_none() => {
                    self.step();
                    let name = self.name()?;
                    let found = if text == "struct" { self.structs.find(&name.text) } else { None };
                    named = Some((format!("{text} {}", name.text), found));
                    ty_span = Some(ty_span.unwrap_or(span));
                    continue;
                }
                _ if IGNORED.contains(&text) => {}
                // `short int` is the same.
                "int" if named.as_ref().is_some_and(|(name, _)| name == "short") => {}
                _ if named.is_none() => {
                    let ty = if text == "void" { Some(Type::Void) } else { self.type_named(text) };
                    let next_is_word = self.tokens.get(self.at + 1).is_some_and(|t| t.kind == Kind::Word);
                    // A word of no meaning is a type if a name follows, else the declared name itself.
                    if ty.is_none() && (!next_is_word || sign.is_some() || long) {
                        break;
                    }
                    named = Some((text.to_owned(), ty));
                    ty_span = Some(ty_span.unwrap_or(span));
                }
                _ => break,
            }
            self.step();
        }
        let text = match (&named, sign, long) {
            (None, None, false) => return Ok((quals, None)),
            (None, ..) => "int".to_owned(),
            (Some((name, _)), ..) => name.clone(),
        };
        let mut ty = match &named {
            Some((_, ty)) => *ty,
            None => Some(Type::INT),
        };
        if long {
            ty = None;
        }
        if let (Some(unsigned), Some(Type::Vector(scalar, width))) = (sign, ty) {
            ty = match (scalar, unsigned) {
                (Scalar::Char, true) => Some(Type::Vector(Scalar::UChar, width)),
                (Scalar::Short, true) => Some(Type::Vector(Scalar::UShort, width)),
                (Scalar::Int, true) => Some(Type::Vector(Scalar::UInt, width)),
                (Scalar::Char | Scalar::Short | Scalar::Int, false) => ty,
                _ => None,
            };
        }
        let shown = match (sign, long) {
            (_, true) => format!("long {text}"),
            (Some(true), _) => format!("unsigned {text}"),
            (Some(false), _) => format!("signed {text}"),
            _ => text,
        };
        let span = ty_span.unwrap_or(start).to(self.before());
        Ok((quals, Some(TypeName { ty, text: shown, span, pointer: false })))
    }

    pub(crate) fn type_named(&self, name: &str) -> Option<Type> {
        Type::named(name).or_else(|| self.structs.find(name))
    }

    /// Notes the other names that a `typedef` of the host gives to types of kernels. Reads on from it, no matter to where.
    pub(crate) fn other_names(&mut self) {
        if !self.take("typedef") {
            return;
        }
        let Some(ty) = self.silent_type().and_then(|named| named.ty) else { return };
        // Of `typedef float real, *reals, matrix[16];` the first.
        let mut before = "";
        while !self.is(";") && self.kind() != Kind::End && !self.is("{") {
            let plain = self.kind() == Kind::Word && before != "*" && matches!(self.peek(1), "," | ";");
            if plain {
                self.structs.call(self.text(), ty);
            }
            before = self.text();
            self.step();
        }
    }

    /// A type, or nothing and no error.
    pub(crate) fn silent_type(&mut self) -> Option<TypeName> {
        let unsigned = self.take("unsigned");
        let signed = !unsigned && self.take("signed");
        let _ = self.take("struct");
        let span = self.span();
        let text = self.text().to_owned();
        let named = if self.kind() == Kind::Word { self.type_named(&text) } else { None };
        let ty = match (unsigned || signed, named) {
            (false, Some(ty)) => {
                self.step();
                ty
            }
            (true, Some(Type::Vector(scalar, n)))
                if matches!(scalar, Scalar::Char | Scalar::Short | Scalar::Int) =>
            {
                self.step();
                match scalar {
                    _ if signed => Type::Vector(scalar, n),
                    Scalar::Char => Type::Vector(Scalar::UChar, n),
                    Scalar::Short => Type::Vector(Scalar::UShort, n),
                    _ => Type::Vector(Scalar::UInt, n),
                }
            }
            (true, None) => Type::Vector(if signed { Scalar::Int } else { Scalar::UInt }, 1),
            _ => return None,
        };
        if text == "short" {
            let _ = self.take("int");
        }
        Some(TypeName { ty: Some(ty), text, span, pointer: false })
    }

    fn skip_brackets(&mut self) -> Read<()> {
        let open = self.expect("(")?;
        let mut depth = 1;
        while depth > 0 {
            match self.text() {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ if self.kind() == Kind::End => {
                    self.report.error("syntax", open, "the bracket is not closed");
                    return Err(Told);
                }
                _ => {}
            }
            self.step();
        }
        Ok(())
    }

    /// A declared name with its shape.
    pub(crate) fn declarator(&mut self) -> Read<Declarator> {
        let mut pointer = None;
        while self.is("*") {
            pointer = Some(self.span());
            self.step();
            while matches!(self.text(), "const" | "restrict" | "__restrict" | "volatile") {
                self.step();
            }
        }
        let name = self.name()?;
        let start = self.span();
        let mut sizes = Vec::new();
        let mut array = false;
        while self.is("[") {
            self.step();
            array = true;
            sizes.push(if self.is("]") { None } else { Some(self.assignment()?) });
            self.expect("]")?;
        }
        let mut shape = if array { Shape::Array(sizes) } else { Shape::None };
        if self.take("<") {
            let mut dims = Vec::new();
            while !self.is(">") {
                if !dims.is_empty() || self.is(",") {
                    self.expect(",")?;
                }
                dims.push(self.dimension()?);
            }
            self.expect(">")?;
            shape = if array || self.is("[") { Shape::Both } else { Shape::Stream(dims) };
            while self.take("[") {
                if !self.is("]") {
                    self.assignment()?;
                }
                self.expect("]")?;
            }
        }
        let shape_span = if matches!(shape, Shape::None) { name.span } else { start.to(self.before()) };
        Ok(Declarator { name, pointer, shape, shape_span, init: None })
    }

    /// A declaration with its semicolon.
    pub(crate) fn declaration(&mut self) -> Read<Decl> {
        let (quals, ty) = self.specifiers()?;
        let Some(ty) = ty else {
            return self.unexpected("a type");
        };
        let mut names = Vec::new();
        if !self.is(";") {
            loop {
                let mut declarator = self.declarator()?;
                if self.take("=") {
                    declarator.init = Some(if self.is("{") { self.list()? } else { self.assignment()? });
                }
                names.push(declarator);
                if !self.take(",") {
                    break;
                }
            }
        }
        self.expect(";")?;
        Ok(Decl { quals, ty, names })
    }

    fn attributes(&mut self) -> Read<Vec<Attribute>> {
        let mut attributes = Vec::new();
        while self.is("Attribute") {
            self.step();
            self.expect("[")?;
            loop {
                let name = self.name()?;
                let mut args = Vec::new();
                if self.take("(") {
                    while !self.is(")") {
                        args.push(self.assignment()?);
                        if !self.take(",") {
                            break;
                        }
                    }
                    self.expect(")")?;
                }
                attributes.push(Attribute { name, args });
                if !self.take(",") {
                    break;
                }
            }
            self.expect("]")?;
        }
        Ok(attributes)
    }

    /// A kernel; nothing if it is a prototype.
    pub(crate) fn kernel_definition(&mut self) -> Read<Option<Kernel>> {
        let attributes = self.attributes()?;
        let (quals, mut result) = self.specifiers()?;
        if let (Some(result), true) = (&mut result, self.is("*")) {
            result.pointer = true;
            self.step();
        }
        let name = self.name()?;
        self.expect("(")?;
        let mut params = Vec::new();
        let mut old_style = Vec::new();
        if self.is("void") && self.peek(1) == ")" {
            self.step();
        }
        while !self.is(")") {
            let plain = self.kind() == Kind::Word
                && matches!(self.peek(1), "," | ")")
                && self.type_named(self.text()).is_none();
            if plain && params.is_empty() {
                old_style.push(self.name()?);
            } else {
                params.push(self.param()?);
            }
            if !self.take(",") {
                break;
            }
        }
        self.expect(")")?;
        if self.take(";") {
            return Ok(None);
        }
        if !old_style.is_empty() {
            params = self.old_style(&old_style)?;
        }
        let open = self.expect("{")?;
        let body = self.block_rest(open)?;
        Ok(Some(Kernel { attributes, quals, result, name, params, body, end: self.before() }))
    }

    fn param(&mut self) -> Read<Param> {
        let (quals, ty) = self.specifiers()?;
        let Some(ty) = ty else {
            return self.unexpected("a type");
        };
        let declarator = self.declarator()?;
        Ok(Param { quals, ty, declarator })
    }

    /// K&R: `(a, b) float a<>; out float b<>; {`, the parameters in the order of their names.
    fn old_style(&mut self, names: &[Name]) -> Read<Vec<Param>> {
        let mut declared: Vec<Param> = Vec::new();
        while !self.is("{") && self.kind() != Kind::End {
            let decl = self.declaration()?;
            for declarator in decl.names {
                if let Some(init) = &declarator.init {
                    self.report.error("parameter", init.span, "a parameter has no initialiser");
                }
                if !names.iter().any(|n| n.text == declarator.name.text) {
                    let text = &declarator.name.text;
                    self.report.error(
                        "parameter",
                        declarator.name.span,
                        format!("`{text}` is not in the list of parameters"),
                    );
                }
                declared.push(Param { quals: decl.quals.clone(), ty: decl.ty.clone(), declarator });
            }
        }
        let mut params = Vec::new();
        for name in names {
            match declared.iter().position(|p| p.declarator.name.text == name.text) {
                Some(at) => params.push(declared.swap_remove(at)),
                None => self.report.error("parameter", name.span, format!("`{}` has no type", name.text)),
            }
        }
        Ok(params)
    }
}
