//! Expressions over what a thread that stands still has and sees: `r0.x > 1.5`, `g[lane + 4].x as int`.
//!
//! A register has no type. It takes that of what it is compared or computed with; two registers are floats, and equal if their
//! bits are. `as float`, `as int` and `as uint` say what is meant.

use std::fmt;

use recal::Area;
use recal::debug::{Builtin, State};
use recal_il::ir::{Reg, ThreadId};

/// A value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    /// 32 bits that may be anything.
    Word(u32),
    Int(i64),
    Float(f32),
}

/// What words are taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Float,
    Int,
    Uint,
    Hex,
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    Value(Value),
    /// Something with components, and which of them; x if none is named.
    Term(Term, Option<u8>),
    As(Type, Box<Node>),
    Unary(char, Box<Node>),
    Binary(&'static str, Box<Node>, Box<Node>),
}

#[derive(Clone, Debug)]
pub(super) enum Term {
    Register(String, [Option<Reg>; 4]),
    Array(u32, Box<Node>),
    Shared(u32),
    Builtin(String, [Option<Builtin>; 4]),
    /// `tid`
    Position,
    Lane,
    Wave,
    Part,
    /// Column or element or byte, and row.
    Memory(Memory, Box<Node>, Option<Box<Node>>),
}

/// A memory by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    Output(u32),
    Area(Area),
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Memory::Output(number) => write!(f, "o{number}"),
            Memory::Area(area) => area.fmt(f),
        }
    }
}

impl Memory {
    /// All that a kernel has.
    pub(crate) fn all(state: &State<'_>) -> Vec<Memory> {
        state.memories().into_iter().map(Memory::Area).chain(state.outputs().map(Memory::Output)).collect()
    }

    /// The one of this name. An output's memory has the name of its register.
    pub(crate) fn named(state: &State<'_>, name: &str) -> Option<Memory> {
        Memory::all(state).into_iter().find(|memory| memory.to_string() == name)
    }

    pub(crate) fn contents<'s>(self, state: &State<'s>) -> Option<recal::debug::Contents<'s>> {
        match self {
            Memory::Output(number) => state.output(number),
            Memory::Area(area) => state.memory(area),
        }
    }

    /// Whether it is of one group only.
    fn of_group(self) -> bool {
        matches!(self, Memory::Area(Area::Lds(_) | Area::OwnLds))
    }
}

/// An expression whose names are known.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    pub(crate) text: String,
    pub(super) root: Node,
}

/// What an expression depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    /// A thread.
    pub(crate) thread: bool,
    /// A group.
    pub(crate) group: bool,
}

/// Component by letter.
pub(super) fn component(letter: &str) -> Option<u8> {
    ["x", "y", "z", "w"].iter().position(|known| *known == letter).map(|k| k as u8)
}

pub(super) fn letter(component: usize) -> &'static str {
    ["x", "y", "z", "w"].get(component).unwrap_or(&"")
}

impl Type {
    pub(crate) fn named(name: &str) -> Option<Type> {
        match name {
            "float" => Some(Type::Float),
            "int" => Some(Type::Int),
            "uint" => Some(Type::Uint),
            "hex" => Some(Type::Hex),
            _ => None,
        }
    }

    /// A word for people.
    pub(crate) fn show(self, word: u32) -> String {
        match self {
            Type::Float => format!("{:?}", f32::from_bits(word)),
            Type::Int => (word as i32).to_string(),
            Type::Uint => word.to_string(),
            Type::Hex => format!("0x{word:08x}"),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Word(word) => write!(f, "0x{word:08x}  {:<15?} {}", f32::from_bits(*word), *word as i32),
            Value::Int(value) => value.fmt(f),
            Value::Float(value) => write!(f, "{value:?}"),
        }
    }
}

impl Value {
    fn float(self) -> f32 {
        match self {
            Value::Word(word) => f32::from_bits(word),
            Value::Int(value) => value as f32,
            Value::Float(value) => value,
        }
    }

    fn int(self) -> i64 {
        match self {
            Value::Word(word) => i64::from(word as i32),
            Value::Int(value) => value,
            Value::Float(value) => value as i64,
        }
    }

    pub(crate) fn holds(self) -> bool {
        match self {
            Value::Word(word) => word != 0,
            Value::Int(value) => value != 0,
            Value::Float(value) => value != 0.0,
        }
    }

    /// As `kind`.
    fn to(self, kind: Type) -> Value {
        match (kind, self) {
            (Type::Float, value) => Value::Float(value.float()),
            (Type::Int, Value::Word(word)) => Value::Int(i64::from(word as i32)),
            (Type::Uint, Value::Word(word)) => Value::Int(i64::from(word)),
            (Type::Hex, value) => value,
            (_, value) => Value::Int(value.int()),
        }
    }
}

impl Expression {
    /// The value in a lane; why there is none.
    pub(crate) fn value(&self, state: &State<'_>, lane: u32) -> Result<Value, String> {
        value(&self.root, state, lane)
    }

    /// The values of all components, if none is named; and what each is called.
    pub(crate) fn values(&self, state: &State<'_>, lane: u32) -> Result<Vec<(String, Value)>, String> {
        let (kind, node, name) = match &self.root {
            Node::As(kind, node) => (
                Some(*kind),
                &**node,
                self.text.rsplit_once(" as ").map_or(&*self.text, |(name, _)| name).trim(),
            ),
            node => (None, node, &*self.text),
        };
        let Node::Term(term, None) = node else {
            return Ok(vec![(name.to_owned(), self.value(state, lane)?)]);
        };
        let shown = |name: String, value: Value| (name, kind.map_or(value, |kind| value.to(kind)));
        let all: Vec<(usize, Value)> = components(term, state, lane)?;
        let scalar = matches!(term, Term::Lane | Term::Wave | Term::Part);
        Ok(all
            .into_iter()
            .map(|(k, value)| {
                let name = if scalar { name.to_owned() } else { format!("{name}.{}", letter(k)) };
                shown(name, value)
            })
            .collect())
    }

    /// The lanes of a mask for which it holds.
    pub(crate) fn lanes(&self, state: &State<'_>, mask: u64) -> u64 {
        let holds = |lane: &u32| self.value(state, *lane).is_ok_and(Value::holds);
        (0..64).filter(|lane| mask >> lane & 1 == 1).filter(holds).fold(0, |mask, lane| mask | 1 << lane)
    }

    pub(crate) fn needs(&self) -> Needs {
        let mut needs = Needs::default();
        visit(&self.root, &mut needs);
        needs
    }
}

fn visit(node: &Node, needs: &mut Needs) {
    match node {
        Node::Value(_) => {}
        Node::As(_, node) | Node::Unary(_, node) => visit(node, needs),
        Node::Binary(_, left, right) => {
            visit(left, needs);
            visit(right, needs);
        }
        Node::Term(Term::Memory(memory, column, row), _) => {
            needs.group |= memory.of_group();
            visit(column, needs);
            if let Some(row) = row {
                visit(row, needs);
            }
        }
        Node::Term(Term::Array(_, index), _) => {
            needs.thread = true;
            visit(index, needs);
        }
        Node::Term(..) => needs.thread = true,
    }
}

fn value(node: &Node, state: &State<'_>, lane: u32) -> Result<Value, String> {
    match node {
        Node::Value(value) => Ok(*value),
        Node::As(kind, node) => Ok(value(node, state, lane)?.to(*kind)),
        Node::Term(term, which) => {
            let which = which.map_or(0, usize::from);
            let found = components(term, state, lane)?.into_iter().find(|(k, _)| *k == which);
            found.map(|(_, value)| value).ok_or_else(|| format!("there is no component {}", letter(which)))
        }
        Node::Unary(op, node) => {
            let value = value(node, state, lane)?;
            Ok(match (op, value) {
                ('!', value) => Value::Int(i64::from(!value.holds())),
                ('~', value) => Value::Int(!value.int()),
                (_, Value::Int(value)) => Value::Int(value.wrapping_neg()),
                (_, value) => Value::Float(-value.float()),
            })
        }
        Node::Binary("&&", left, right) => {
            let both = value(left, state, lane)?.holds() && value(right, state, lane)?.holds();
            Ok(Value::Int(both.into()))
        }
        Node::Binary("||", left, right) => {
            let any = value(left, state, lane)?.holds() || value(right, state, lane)?.holds();
            Ok(Value::Int(any.into()))
        }
        Node::Binary(op, left, right) => binary(op, value(left, state, lane)?, value(right, state, lane)?),
    }
}

/// A word beside a whole number is one; unsigned if the number is too large for the other kind.
fn beside(word: Value, number: Value) -> i64 {
    match (word, number) {
        (Value::Word(word), Value::Int(number)) if number > i64::from(i32::MAX) => word.into(),
        (value, _) => value.int(),
    }
}

fn binary(op: &str, left: Value, right: Value) -> Result<Value, String> {
    let truth = |holds: bool| Ok(Value::Int(holds.into()));
    if let ("==" | "!=", Value::Word(a), Value::Word(b)) = (op, left, right) {
        return truth((a == b) == (op == "=="));
    }
    let bits = matches!(op, "&" | "|" | "^" | "<<" | ">>" | "%");
    let whole = bits
        || matches!(
            (left, right),
            (Value::Int(_), Value::Int(_) | Value::Word(_)) | (Value::Word(_), Value::Int(_))
        );
    if !whole {
        let (a, b) = (left.float(), right.float());
        return match op {
            "==" => truth(a == b),
            "!=" => truth(a != b),
            "<" => truth(a < b),
            "<=" => truth(a <= b),
            ">" => truth(a > b),
            ">=" => truth(a >= b),
            "+" => Ok(Value::Float(a + b)),
            "-" => Ok(Value::Float(a - b)),
            "*" => Ok(Value::Float(a * b)),
            _ => Ok(Value::Float(a / b)),
        };
    }
    let (a, b) = (beside(left, right), beside(right, left));
    let none = || "division by 0".to_owned();
    Ok(Value::Int(match op {
        "==" => (a == b).into(),
        "!=" => (a != b).into(),
        "<" => (a < b).into(),
        "<=" => (a <= b).into(),
        ">" => (a > b).into(),
        ">=" => (a >= b).into(),
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" => a.checked_div(b).ok_or_else(none)?,
        "%" => a.checked_rem(b).ok_or_else(none)?,
        "&" => a & b,
        "|" => a | b,
        "^" => a ^ b,
        "<<" => a.checked_shl(b as u32).unwrap_or(0),
        _ => a.checked_shr(b as u32).unwrap_or(0),
    }))
}

/// The components that a term has, by number.
fn components(term: &Term, state: &State<'_>, lane: u32) -> Result<Vec<(usize, Value)>, String> {
    let whole = |value: i64| Ok(vec![(0, Value::Int(value))]);
    let words = |words: [Option<u32>; 4]| -> Vec<(usize, Value)> {
        let there = words.into_iter().enumerate();
        there.filter_map(|(k, word)| Some((k, Value::Word(word?)))).collect()
    };
    let running = |found: Vec<(usize, Value)>| match found.is_empty() {
        true if state.ended() => Err("no thread runs here".to_owned()),
        true => Err("the kernel does not use it".to_owned()),
        false => Ok(found),
    };
    match term {
        Term::Lane => whole(lane.into()),
        Term::Wave => whole(state.wave().into()),
        Term::Part => whole(state.part() as i64),
        Term::Position => {
            let at = state.position(lane);
            Ok(at.into_iter().enumerate().map(|(k, n)| (k, Value::Int(n.into()))).collect())
        }
        Term::Register(_, registers) => {
            running(words(registers.map(|reg| reg.and_then(|reg| state.register(reg, lane)))))
        }
        Term::Builtin(name, builtins) => {
            let found = running(words(builtins.map(|b| b.and_then(|b| state.builtin(b, lane)))));
            found.map_err(|why| format!("{name}: {why}"))
        }
        Term::Shared(number) => running(words([0, 1, 2, 3].map(|k| state.shared(*number, k, lane)))),
        Term::Array(number, index) => {
            let at = value(index, state, lane)?.int();
            let element = u32::try_from(at).ok();
            let found = [0, 1, 2, 3].map(|k| state.array(*number, element?, k, lane));
            let found = words(found);
            if found.is_empty() { Err(format!("x{number}[{at}] is out of range")) } else { Ok(found) }
        }
        Term::Memory(memory, column, row) => {
            let column = value(column, state, lane)?.int();
            let row = row.as_ref().map_or(Ok(0), |row| Ok::<i64, String>(value(row, state, lane)?.int()))?;
            let name = || {
                if row == 0 { format!("{memory}[{column}]") } else { format!("{memory}[{column}, {row}]") }
            };
            let contents = memory.contents(state).ok_or_else(|| format!("{memory}: no group runs here"))?;
            let outside = || format!("{} is out of range", name());
            let at = u32::try_from(column).map_err(|_| outside())?;
            let row = u32::try_from(row).map_err(|_| outside())?;
            let words = match contents.layout() {
                recal::debug::Layout::Bytes => {
                    contents.word(at as usize).filter(|_| row == 0).map(|word| vec![word])
                }
                _ => contents.element(at, row),
            };
            let words = words.ok_or_else(outside)?;
            Ok(words.into_iter().enumerate().map(|(k, word)| (k, Value::Word(word))).collect())
        }
    }
}

/// Values that the launch defines, by what the kernel calls them.
pub(super) fn builtins(state: &State<'_>, name: &str) -> Option<[Option<Builtin>; 4]> {
    let lower = name.to_ascii_lowercase();
    let base = lower.trim_end_matches(|c: char| c.is_ascii_digit());
    let number: u32 = lower[base.len()..].parse().unwrap_or(0);
    let known: Vec<Builtin> = state.builtins().collect();
    let has = |wanted: &dyn Fn(Builtin) -> Option<u8>| {
        let mut found = [None; 4];
        for builtin in &known {
            if let Some(k) = wanted(*builtin) {
                found[usize::from(k & 3)] = Some(*builtin);
            }
        }
        Some(found)
    };
    let thread = |id: ThreadId| {
        has(&move |builtin| match builtin {
            Builtin::Thread(known, k) if known == id => Some(k),
            _ => None,
        })
    };
    match base {
        "vwincoord" => has(&|builtin| if let Builtin::Position(k) = builtin { Some(k) } else { None }),
        "vtidingrp" | "vtid" => thread(ThreadId::InGroup),
        "vtidingrpflat" => thread(ThreadId::InGroupFlat),
        "vabstid" | "vatid" => thread(ThreadId::Absolute),
        "vabstidflat" => thread(ThreadId::AbsoluteFlat),
        "vthreadgrpid" | "vtgroupid" => thread(ThreadId::Group),
        "vthreadgrpidflat" => thread(ThreadId::GroupFlat),
        "vobjindex" => has(&|builtin| (builtin == Builtin::ObjectIndex).then_some(0)),
        "v" => has(&move |builtin| match builtin {
            Builtin::Interpolant(n, k) if u32::from(n) == number => Some(k),
            _ => None,
        }),
        _ => None,
    }
}
