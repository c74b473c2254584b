//! What one types.

use recal::debug::State;

use super::control::{Control, Order, Thread};
use super::expression::{Expression, Memory, Type};
use super::parse::expression;
use super::show;

/// What a line of commands leads to.
pub(crate) enum Done {
    /// Something to print; the launch stands still.
    Said(String),
    Goes(Order),
}

const HELP: &str = "\
break LINE [thread X,Y] [if EXPRESSION]   stand still there; tbreak: once
watch EXPRESSION         stand still where its value has changed
delete NUMBER, info      take a breakpoint or watch away; list them
step, next [COUNT]       one instruction of the thread; next: a call as one
out                      to where the function was called
back [COUNT]             one instruction of the thread back
continue, rcontinue      to the next breakpoint or change; to the last one before
thread [X[,Y[,Z]]]       the thread that one looks at; choose another
print EXPRESSION         r0, r0.x as int, g[lane + 1].x, o0[3, 4], tid.x * 4
registers                of the thread
wave [EXPRESSION ...] [as KIND]   of all threads of the wave, a line for each
memory [NAME [AT[, ROW]] [COUNT] [as KIND]]   inputs, outputs, g, lds0, cb0; the names alone
list [LINE], where       the text; calls
restart, quit
A command's first letters will do, an empty line is the last command again. KIND: float, int, uint, hex.
";

const COMMANDS: &[&str] = &[
    "break",
    "back",
    "continue",
    "delete",
    "help",
    "info",
    "list",
    "memory",
    "next",
    "out",
    "print",
    "quit",
    "rcontinue",
    "registers",
    "restart",
    "step",
    "tbreak",
    "thread",
    "watch",
    "wave",
    "where",
];

/// The command that a word is, or begins; the first of several.
fn command(word: &str) -> Result<&'static str, String> {
    let exact = COMMANDS.iter().find(|name| **name == word);
    let found = exact.or_else(|| COMMANDS.iter().find(|name| name.starts_with(word)));
    found.copied().ok_or_else(|| format!("`{word}` is no command; help lists them"))
}

/// Whether a word is a command or begins one.
pub(crate) fn is_command(word: &str) -> bool {
    !word.is_empty() && command(word).is_ok()
}

/// Does what a line says.
pub(crate) fn execute(control: &mut Control, state: &State<'_>, line: &str) -> Result<Done, String> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let name = command(word)?;
    let count = || match rest {
        "" => Ok(1),
        rest => rest.parse::<u32>().ok().filter(|n| *n > 0).ok_or_else(|| format!("`{rest}` is no count")),
    };
    let alone = |order: Order| match rest {
        "" => Ok(Done::Goes(order)),
        _ => Err(format!("{name} takes nothing")),
    };
    let running = |order: Order| match state.ended() {
        true => Err("the launch has ended; back, rcontinue and restart go on".to_owned()),
        false => Ok(Done::Goes(order)),
    };
    let said = |text: String| Ok(Done::Said(text));
    match name {
        "step" => running(Order::Step(count()?)),
        "next" => running(Order::Over(count()?)),
        "out" => alone(Order::Out).and_then(|_| match state.calls().is_empty() {
            true => Err("no function was called".into()),
            false => running(Order::Out),
        }),
        "back" => Ok(Done::Goes(Order::Back(count()?))),
        "continue" => alone(Order::Continue).and_then(|_| running(Order::Continue)),
        "rcontinue" => match control.breakpoints.is_empty() && control.watches.is_empty() {
            true => Err("there is no breakpoint and no watch".into()),
            false => alone(Order::Reverse),
        },
        "restart" => alone(Order::Restart),
        "quit" => alone(Order::Quit),
        "break" | "tbreak" => said(add_breakpoint(control, state, rest, name == "tbreak")?),
        "watch" => {
            let expression = expression(rest, state)?;
            let text = expression.text.clone();
            let id = control.add_watch(state, expression);
            said(format!("watch {id}: {text}\n"))
        }
        "delete" => match rest.parse().is_ok_and(|id| control.delete(id)) {
            true => said(String::new()),
            false => Err(format!("`{rest}` is the number of nothing; info lists them")),
        },
        "info" => said(show::points(control, state)),
        "thread" if rest.is_empty() => said(format!("{}\n", show::thread(state, &control.thread))),
        "thread" => {
            let thread = named_thread(state, rest)?;
            // In the same wave one looks at another lane, and nothing else changes.
            if !thread.is_here(state) {
                return Ok(Done::Goes(Order::Thread(thread.position)));
            }
            control.thread = thread;
            said(format!("{}\n{}", show::thread(state, &thread), show::place(control, state)))
        }
        "print" => said(print(control, state, rest)?),
        "registers" => {
            if !control.thread.in_wave(state) {
                return Err("the wave of the thread is not at work here".into());
            }
            let all = show::registers(state, control.thread.lane);
            said(all.iter().map(|(name, word)| show::word_line(name, *word)).collect())
        }
        "wave" => {
            let (rest, kind) = kind(rest)?;
            let expressions = expressions(state, rest)?;
            said(show::wave(state, &expressions, kind)?)
        }
        "memory" if rest.is_empty() => said(show::memories(state)),
        "memory" => said(memory(state, control, rest)?),
        "list" => {
            let line = if rest.is_empty() { None } else { Some(line_number(rest)?) };
            said(show::list(control, state, line))
        }
        "where" => match state.ended() {
            true => Err("the launch has ended".into()),
            false => said(show::calls(control, state)),
        },
        _ => said(HELP.to_owned()),
    }
}

fn line_number(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("`{text}` is no line"))
}

/// A thread of the launch by its position.
fn named_thread(state: &State<'_>, text: &str) -> Result<Thread, String> {
    let mut at = [0; 3];
    let inside = text.trim().trim_start_matches('(').trim_end_matches(')');
    let parts: Vec<&str> = inside.split(',').collect();
    let bad = || format!("`{text}` is no thread; 5 or 3,4 is");
    if parts.len() > at.len() {
        return Err(bad());
    }
    for (to, part) in at.iter_mut().zip(parts) {
        *to = part.trim().parse().map_err(|_| bad())?;
    }
    Thread::at(state, at).ok_or_else(|| format!("({}) is not one of the launch", inside.trim()))
}

/// The text and the kind that is named behind it.
fn kind(text: &str) -> Result<(&str, Option<Type>), String> {
    let Some((before, name)) =
        text.rsplit_once("as ").filter(|(before, _)| before.is_empty() || before.ends_with(' '))
    else {
        return Ok((text, None));
    };
    match Type::named(name.trim()) {
        Some(kind) => Ok((before.trim(), Some(kind))),
        None => Err(format!("`{name}` is none of float, int, uint, hex")),
    }
}

/// Several, with spaces between them; all `r#` if there is none.
fn expressions(state: &State<'_>, text: &str) -> Result<Vec<Expression>, String> {
    let mut names: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    if names.is_empty() {
        let registers = show::registers(state, 0);
        names = registers.iter().filter_map(|(name, _)| Some(name.split_once('.')?.0.to_owned())).collect();
        names.dedup();
    }
    names.iter().map(|name| expression(name, state)).collect()
}

fn add_breakpoint(
    control: &mut Control,
    state: &State<'_>,
    text: &str,
    once: bool,
) -> Result<String, String> {
    let (place, condition) = match text.split_once(" if ") {
        Some((place, condition)) => (place, Some(expression(condition, state)?)),
        None => (text, None),
    };
    let (line, thread) = match place.split_once(" thread ") {
        Some((line, position)) => (line, Some(named_thread(state, position)?)),
        None => (place, None),
    };
    let wanted = match line.trim() {
        "" => control.lines.of_instruction(state, state.instruction()),
        line => line_number(line)?,
    };
    let added = control.add_breakpoint(state, wanted, thread, condition, once);
    let (id, line) = added.ok_or_else(|| format!("no instruction is at line {wanted} or behind it"))?;
    Ok(format!("breakpoint {id}: line {line}  {}\n", control.lines.line(line).trim()))
}

fn print(control: &Control, state: &State<'_>, text: &str) -> Result<String, String> {
    let expression = expression(text, state)?;
    if expression.needs().thread && !control.thread.in_wave(state) {
        return Err("the wave of the thread is not at work here".into());
    }
    let values = expression.values(state, control.thread.lane)?;
    Ok(values.into_iter().map(|(name, value)| show::value_line(&name, value)).collect())
}

/// `NAME [AT[, ROW]] [COUNT]`
fn memory(state: &State<'_>, control: &Control, text: &str) -> Result<String, String> {
    let (text, kind) = kind(text)?;
    let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
    let memory = Memory::named(state, name).ok_or_else(|| {
        let all: Vec<String> = Memory::all(state).iter().map(Memory::to_string).collect();
        format!("the kernel has no memory `{name}`, but {}", all.join(", "))
    })?;
    let words = rest.replace(',', " , ");
    let mut words = words.split_whitespace().peekable();
    let number = |words: &mut dyn Iterator<Item = &str>, otherwise: u32| match words.next() {
        None => Ok(otherwise),
        Some(word) => {
            let at = expression(word, state)?.values(state, control.thread.lane)?;
            let value = at.first().map(|(_, value)| value.to_string());
            value.and_then(|value| value.parse().ok()).ok_or_else(|| format!("`{word}` is no number"))
        }
    };
    let column = number(&mut words, 0)?;
    let row = match words.next_if_eq(&",") {
        Some(_) => number(&mut words, 0)?,
        None => 0,
    };
    let count = number(&mut words, 16)?;
    match words.next() {
        Some(word) => Err(format!("`{word}` is too much")),
        None => show::memory(state, memory, [column, row], count, kind),
    }
}
