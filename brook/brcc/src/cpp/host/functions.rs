//! Functions of host code as C had them: K&R definitions, declarations without parameters, and prototypes for the header.

use std::collections::{HashMap, HashSet};

use super::{Depth, FAR, Host, NO_TYPES, split};
use crate::diagnostic::Report;
use crate::lex::{Kind, Token, lex};
use crate::types::{Structs, Type};

/// Functions that a file defines, with their parameters in the form of C++; nothing of a name that is defined more than once.
pub(crate) type Functions = HashMap<String, Option<String>>;

/// The functions that parts of a file define.
pub(crate) fn functions<'t>(
    source: &str,
    parts: impl Iterator<Item = &'t [Token]>,
    structs: &Structs,
) -> Functions {
    let mut found = Functions::new();
    let none = Functions::new();
    for tokens in parts {
        let mut report = Report::default();
        let mut host = Host::new(source, tokens, structs, &none, &mut report, 0);
        let mut depth = Depth::default();
        while host.at < tokens.len() {
            depth.step(&host, host.at);
            // A method may have the name of a function.
            let qualified = host.at > 0 && host.text(host.at - 1) == ":";
            if depth.is_top()
                && !qualified
                && host.is_word(host.at)
                && let Some(head) = host.head()
            {
                let name = host.text(host.at).to_owned();
                found.entry(name).and_modify(|p| *p = None).or_insert(Some(head.parameters));
            }
            host.at += 1;
        }
    }
    found
}

/// Words that are no names, of functions or of parameters.
const KEYWORDS: [&str; 9] =
    ["if", "while", "for", "switch", "catch", "return", "sizeof", "default", "delete"];

/// The head of a definition.
struct Head {
    /// Parameters, in the form of C++.
    parameters: String,
    /// The body's brace.
    body: usize,
    /// Without a type, which is `int`.
    typeless: bool,
    /// The types of its parameters stand behind the brackets, or nowhere.
    old_style: bool,
}

impl Host<'_> {
    fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0;
        for at in open..self.tokens.len().min(open + FAR) {
            match self.text(at) {
                "(" => depth += 1,
                ")" => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// What is defined at a name, if it is a function.
    fn head(&self) -> Option<Head> {
        if self.text(self.at + 1) != "(" || KEYWORDS.contains(&self.text(self.at)) {
            return None;
        }
        let close = self.closing(self.at + 1)?;
        let typeless = self.at == 0
            || matches!(self.text(self.at - 1), ";" | "}")
            || self.tokens[self.at - 1].kind == Kind::Directive;
        let list = &self.tokens[self.at + 2..close];
        let names = split(self.source, list);
        let is_name = |t: &&[Token]| {
            t.len() == 1 && t[0].kind == Kind::Word && !KEYWORDS.contains(&t[0].span.of(self.source))
        };
        let plain = !list.is_empty() && names.iter().all(is_name);
        if self.text(close + 1) == "{" {
            let old_style = plain && names.iter().all(|t| self.is_variable(self.of(t), close + 1));
            let parameters = if old_style {
                names.iter().map(|t| format!("int {}", self.of(t))).collect::<Vec<_>>().join(", ")
            } else {
                self.new_parameters(list)
            };
            // Without a type, and with names that nothing computes with: a macro.
            if typeless && plain && !old_style && self.of(list) != "void" {
                return None;
            }
            return Some(Head { parameters, body: close + 1, typeless, old_style });
        }
        // `f(a) int (*a)();` against two macros in a row.
        let call = self.text(close + 2) == "(" && self.text(close + 3) != "*";
        if !plain || !self.is_word(close + 1) || call {
            return None;
        }
        let mut typed: Vec<(String, String)> = Vec::new();
        let mut at = close + 1;
        while at < self.tokens.len() && self.text(at) != "{" {
            let far = self.tokens.len().min(at + FAR);
            let end = (at..far).find(|e| self.text(*e) == ";")?;
            self.old_parameters(at, end, &mut typed);
            at = end + 1;
        }
        // All that is declared there are parameters, without values: else it is a macro, and what follows stands for itself.
        let others = typed.iter().any(|(name, _)| !names.iter().any(|t| self.of(t) == name));
        if others || (close..at).any(|at| self.text(at) == "=") {
            return None;
        }
        let list: Vec<String> = names
            .iter()
            .map(|t| self.of(t))
            .map(|name| {
                typed.iter().find(|p| p.0 == name).map_or_else(|| format!("int {name}"), |p| p.1.clone())
            })
            .collect();
        Some(Head { parameters: list.join(", "), body: at, typeless, old_style: true })
    }

    /// True of a name in a list that has no types: the body computes with it, and nothing is declared by it.
    fn is_variable(&self, name: &str, body: usize) -> bool {
        if NO_TYPES.contains(&name) || Type::named(name).is_some() || self.structs.find(name).is_some() {
            return false;
        }
        let far = self.tokens.len().min(body + FAR);
        // Behind the brace, so that there are two tokens before.
        let mut computes = false;
        for at in (body..far).filter(|at| self.text(*at) == name) {
            if self.is_word(at + 1) {
                return false;
            }
            let before = self.text(at - 1);
            let behind = self.text(at + 1);
            let two_before = self.tokens[at - 2].kind;
            computes = computes
                || before == "["
                || before == "*" && matches!(two_before, Kind::Int | Kind::Float)
                || before == "("
                    && two_before == Kind::Word
                    && self.text(at - 2) != "sizeof"
                    && behind != "*"
                || before == "," && matches!(behind, "," | ")")
                || matches!(
                    before,
                    "+" | "-" | "/" | "%" | "==" | "!=" | "<=" | ">=" | "++" | "--" | "return"
                )
                || matches!(behind, "+" | "-" | "/" | "%" | "==" | "!=" | "<=" | ">=" | "++" | "--")
                || matches!(behind, "=" | "+=" | "-=" | "*=" | "/=" | "?" | "&&" | "||" | "<");
        }
        computes
    }

    /// A list with types, its streams as objects.
    fn new_parameters(&self, list: &[Token]) -> String {
        let (Some(first), Some(last)) = (list.first(), list.last()) else { return String::new() };
        let (none, mut report) = (Functions::new(), Report::default());
        let from = first.span.start as usize;
        let mut inner = Host::new(self.source, list, self.structs, &none, &mut report, from);
        while inner.at < list.len() {
            if !inner.stream(true) {
                inner.at += 1;
            }
        }
        inner.out.push_str(&self.source[inner.copied..(last.span.end as usize).max(inner.copied)]);
        inner.out
    }

    /// `int a, *b; float c<>;` as parameters by their names.
    fn old_parameters(&self, first: usize, end: usize, into: &mut Vec<(String, String)>) {
        let mut at = first;
        // Words up to the first declared name are the type.
        while at + 1 < end && self.is_word(at) && self.is_word(at + 1) {
            at += 1;
        }
        if self.is_word(at) && matches!(self.text(at + 1), "*" | "(") {
            at += 1;
        }
        let ty = self.of(&self.tokens[first..at]);
        for declarator in split(self.source, &self.tokens[at..end]) {
            let Some(name) = declarator.iter().find(|t| t.kind == Kind::Word).map(|t| t.span.of(self.source))
            else {
                continue;
            };
            let stream = declarator.iter().any(|t| t.kind == Kind::Punct && t.span.of(self.source) == "<");
            let text = if stream {
                format!("::brook::Stream<{} > {name}", self.stream_type(ty))
            } else {
                format!("{ty} {}", self.of(declarator))
            };
            into.push((name.to_owned(), text));
        }
    }

    /// A function definition as C had them: without a type, or without types in its list.
    pub(super) fn definition(&mut self) -> bool {
        let Some(head) = self.head() else { return false };
        if !head.old_style && !head.typeless {
            return false;
        }
        self.copy_to(self.at);
        if head.typeless {
            self.out.push_str("int ");
        }
        if !head.old_style {
            self.at += 1;
            return true;
        }
        let written = self.out.len();
        self.out.push_str(&format!("{}({}) ", self.text(self.at), head.parameters));
        self.at = head.body;
        let body = self.tokens.get(head.body).map_or(self.source.len(), |t| t.span.start as usize);
        self.replace_up_to(body, written);
        true
    }

    /// `int f();`, which tells nothing of the parameters, of a function that the file defines: C++ takes it for one without any.
    pub(super) fn prototype(&mut self) -> bool {
        let Some(Some(parameters)) = self.functions.get(self.text(self.at)) else { return false };
        let behind = self.text(self.at + 3);
        if self.text(self.at + 2) != ")" || parameters.is_empty() || !matches!(behind, ";" | ",") {
            return false;
        }
        // A declaration: from a type on there are names, asterisks and further functions.
        let mut first = self.at;
        while first > 0 {
            match self.text(first - 1) {
                "*" | "," | "(" | ")" => {}
                _ if self.is_word(first - 1) => {}
                _ => break,
            }
            first -= 1;
        }
        let typed = self.is_word(first)
            && first < self.at
            && (self.is_word(first + 1) || self.text(first + 1) == "*")
            && !matches!(self.text(first), "return" | "else" | "case" | "goto" | "delete" | "throw" | "do");
        if !typed {
            return false;
        }
        self.copy_to(self.at + 2);
        self.out.push_str(parameters);
        self.at += 3;
        true
    }
}

/// What a header needs of host code for its functions to be called elsewhere.
#[derive(Default)]
pub(crate) struct Declarations {
    /// Inclusions and types.
    pub(crate) types: Vec<String>,
    /// Prototypes.
    pub(crate) functions: Vec<String>,
}

/// Declarations from host code that is rewritten already. Functions whose types the header does not see are left out.
pub(crate) fn declarations(text: &str, structs: &Structs) -> Declarations {
    let (mut report, none) = (Report::default(), Functions::new());
    let tokens = lex(text, &mut report);
    let tokens = &tokens[..tokens.len().saturating_sub(1)];
    let host = Host::new(text, tokens, structs, &none, &mut report, 0);
    let mut found = Declarations::default();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut heads: Vec<(String, Vec<&str>, String)> = Vec::new();
    let mut hidden: HashSet<&str> = HashSet::new();
    let mut depth = Depth::default();
    let (mut first, mut conditions) = (0, 0i32);
    for at in 0..tokens.len() {
        let was_top = depth.is_top();
        depth.step(&host, at);
        if tokens[at].kind == Kind::Directive {
            let line = tokens[at].span.of(text);
            let mut words = line.trim_start_matches('#').split_whitespace();
            match words.next() {
                Some("include") if conditions == 0 => found.types.push(line.trim_end().to_owned()),
                Some("define") => {
                    let name = words.next().unwrap_or_default();
                    hidden.insert(name.split('(').next().unwrap_or_default());
                }
                Some("if" | "ifdef" | "ifndef") => conditions += 1,
                Some("endif") => conditions -= 1,
                _ => {}
            }
            if was_top {
                first = at + 1;
            }
            continue;
        }
        let statement = &tokens[first..at];
        let words = || statement.iter().filter(|t| t.kind == Kind::Word).map(|t| t.span.of(text));
        match host.text(at) {
            "{" if was_top && !depth.is_top() => {
                let list = statement.iter().position(|t| t.span.of(text) == "(");
                let name = list.and_then(|l| l.checked_sub(1)).map(|n| statement[n]);
                let plain = name.is_some_and(|n| n.kind == Kind::Word)
                    && at > first
                    && host.text(at - 1) == ")"
                    && list.is_some_and(|l| l > 1)
                    && !words().any(|w| {
                        matches!(w, "static" | "template" | "operator" | "class" | "inline" | "namespace")
                    })
                    && !statement.iter().any(|t| t.span.of(text) == "=")
                    && list.is_some_and(|l| statement[..l].iter().all(|t| t.span.of(text) != ":"));
                if let (true, Some(name)) = (plain, name) {
                    let name = name.span.of(text);
                    *seen.entry(name.to_owned()).or_default() += 1;
                    let head = host.of(statement).split_whitespace().collect::<Vec<_>>().join(" ");
                    heads.push((name.to_owned(), words().collect(), head));
                } else if list.is_none() {
                    // A type, or something else of C++.
                    hidden.extend(words().filter(|w| !NO_TYPES.contains(w)));
                }
            }
            "}" if depth.is_top() => first = if words().any(|w| w == "typedef") { first } else { at + 1 },
            "{" if depth.is_top() => first = at + 1,
            ";" if depth.is_top() => {
                if statement.first().is_some_and(|t| t.span.of(text) == "typedef") {
                    if statement.iter().any(|t| t.span.of(text) == "{") || conditions > 0 {
                        hidden.extend(words().filter(|w| !NO_TYPES.contains(w) && Type::named(w).is_none()));
                    } else if !words().any(|w| hidden.contains(w)) {
                        found.types.push(format!("{};", host.of(statement)));
                    }
                }
                first = at + 1;
            }
            _ => {}
        }
    }
    let known = |words: &[&str]| !words.iter().any(|w| hidden.contains(w));
    found.functions = heads
        .into_iter()
        .filter(|(name, words, _)| name != "main" && seen[name] == 1 && known(words))
        .map(|(_, _, head)| head)
        .collect();
    found
}
