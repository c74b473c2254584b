//! When a launch stands still: breakpoints, watches, steps, and going back.
//!
//! The launch asks before each instruction. Going forward is to say "go on" until something is due. Going back is to have the
//! launch run again, to note where it would have stood still, and to have it run again to the last such place.

use std::collections::VecDeque;

use recal::debug::{Debugger, Next, State};

use super::expression::{Expression, Value};
use super::lines::Lines;

/// A thread: position, and where it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Thread {
    pub(crate) position: [u32; 3],
    pub(crate) part: u64,
    pub(crate) wave: u32,
    pub(crate) lane: u32,
}

impl Thread {
    pub(crate) fn at(state: &State<'_>, position: [u32; 3]) -> Option<Thread> {
        let (part, wave, lane) = state.place_of(position)?;
        Some(Thread { position, part, wave, lane })
    }

    fn of_lane(state: &State<'_>, lane: u32) -> Thread {
        Thread { position: state.position(lane), part: state.part(), wave: state.wave(), lane }
    }

    /// Its wave is at work.
    pub(crate) fn in_wave(&self, state: &State<'_>) -> bool {
        !state.ended() && (state.part(), state.wave()) == (self.part, self.wave)
    }

    /// It is about to execute the instruction.
    pub(crate) fn is_here(&self, state: &State<'_>) -> bool {
        self.in_wave(state) && state.active() >> self.lane & 1 == 1
    }
}

pub(crate) struct Breakpoint {
    pub(crate) id: u32,
    pub(crate) line: u32,
    instructions: Vec<usize>,
    pub(crate) thread: Option<Thread>,
    pub(crate) condition: Option<Expression>,
    /// It goes when it was met.
    pub(crate) once: bool,
}

pub(crate) struct Watch {
    pub(crate) id: u32,
    pub(crate) expression: Expression,
    /// Whose registers it is about.
    pub(crate) thread: Option<Thread>,
    /// The part that it was looked at in, and what there was.
    last: Option<(u64, Seen)>,
}

/// Values, or why there are none.
type Seen = Result<Vec<(String, Value)>, String>;

/// A value that changed.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) id: u32,
    pub(crate) name: String,
    pub(crate) from: String,
    pub(crate) to: String,
    /// Line of the instruction that was executed last.
    pub(crate) line: u32,
}

/// Why a launch stands still.
#[derive(Clone, Debug)]
pub(crate) enum Why {
    /// The thread begins.
    Begin,
    Step,
    Breakpoint(Vec<u32>),
    Watch(Vec<Change>),
    /// One was asked to go back and there is nothing before.
    Start,
    /// Another thread was chosen.
    Thread,
    Pause,
    /// All threads have ended.
    End,
}

/// How a launch goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// So many instructions of the thread.
    Step(u32),
    /// The same, calls as one.
    Over(u32),
    /// To where the function was called.
    Out,
    /// So many instructions of the thread back.
    Back(u32),
    Continue,
    /// Back to the last breakpoint or change.
    Reverse,
    /// To where this thread begins.
    Thread([u32; 3]),
    /// From the start, to where the first thread that one looked at begins.
    Restart,
    /// From the start, to the first breakpoint.
    Run,
    Quit,
}

/// Who shows a state and takes orders.
pub(crate) trait Front {
    /// The launch stands still.
    fn stopped(&mut self, control: &mut Control, state: &State<'_>, why: &Why) -> Order;
    /// The launch goes on; now and then one is asked whether it is to stop here.
    fn poll(&mut self, control: &mut Control, state: &State<'_>) -> Poll;
}

/// An answer to that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Poll {
    Go,
    Pause,
    Quit,
}

enum Mode {
    /// Until something is due; the number of steps left, and the depth of calls in which they count.
    Run { steps: Option<(u32, usize)> },
    /// Until the thread executes something.
    First(Why),
    /// Until the step of this number.
    Arrive(u64, Why),
    /// Notes where it would have stood still before the step of a number.
    Seek { before: u64, stops: bool, most: usize, found: VecDeque<(u64, Why, Thread)>, whole: bool },
}

pub(crate) struct Control {
    pub(crate) lines: Lines,
    pub(crate) breakpoints: Vec<Breakpoint>,
    pub(crate) watches: Vec<Watch>,
    /// The thread that one looks at.
    pub(crate) thread: Thread,
    /// The one that one looked at first.
    start: Thread,
    /// Line of the instruction that was executed last.
    last: u32,
    ids: u32,
    mode: Mode,
}

/// A launch and who looks at it.
pub(crate) struct Engine<'f, F: Front> {
    front: &'f mut F,
    start: [u32; 3],
    text: Vec<u8>,
    control: Option<Control>,
    polled: u32,
    /// The thread is not one of the launch.
    pub(crate) lost: bool,
}

impl<'f, F: Front> Engine<'f, F> {
    /// One looks at the thread at `start` first.
    pub(crate) fn new(front: &'f mut F, text: &[u8], start: [u32; 3]) -> Engine<'f, F> {
        Engine { front, start, text: text.to_vec(), control: None, polled: 0, lost: false }
    }
}

/// What is to be done at a step.
enum Verdict {
    Go,
    Stop(Why),
    Again(u64),
}

/// Steps between two questions whether to stop.
const POLL: u32 = 256;

impl<F: Front> Debugger for Engine<'_, F> {
    fn step(&mut self, state: &State<'_>) -> Next {
        if self.control.is_none() {
            let Some(thread) = Thread::at(state, self.start) else {
                self.lost = true;
                return Next::End;
            };
            self.control = Some(Control::new(&self.text, thread));
        }
        let Some(control) = &mut self.control else { return Next::End };
        let mut verdict = control.verdict(state);
        control.last = control.lines.of_instruction(state, state.instruction());
        self.polled += 1;
        if matches!(verdict, Verdict::Go) && self.polled >= POLL {
            self.polled = 0;
            match self.front.poll(control, state) {
                Poll::Go => {}
                Poll::Quit => return Next::End,
                Poll::Pause => {
                    control.mode = Mode::Run { steps: None };
                    control.look_again(state);
                    if !control.thread.is_here(state) && state.active() != 0 {
                        control.thread = Thread::of_lane(state, state.active().trailing_zeros());
                    }
                    verdict = Verdict::Stop(Why::Pause);
                }
            }
        }
        match verdict {
            Verdict::Go => Next::Go,
            Verdict::Again(step) => control.again(step),
            Verdict::Stop(why) => {
                let order = self.front.stopped(control, state, &why);
                control.follow(order, state)
            }
        }
    }
}

impl Control {
    fn new(text: &[u8], thread: Thread) -> Control {
        Control {
            lines: Lines::new(text),
            breakpoints: Vec::new(),
            watches: Vec::new(),
            thread,
            start: thread,
            last: 0,
            ids: 0,
            mode: Mode::First(Why::Begin),
        }
    }

    fn id(&mut self) -> u32 {
        self.ids += 1;
        self.ids
    }

    /// Adds a breakpoint at a line, or the next that has instructions; its number and line.
    pub(crate) fn add_breakpoint(
        &mut self,
        state: &State<'_>,
        line: u32,
        thread: Option<Thread>,
        condition: Option<Expression>,
        once: bool,
    ) -> Option<(u32, u32)> {
        let (line, instructions) = self.lines.instructions(state, line)?;
        // Who is at the first instruction of a line has been at the line.
        let instructions = instructions.into_iter().take(1).collect();
        let id = self.id();
        self.breakpoints.push(Breakpoint { id, line, instructions, thread, condition, once });
        Some((id, line))
    }

    /// Adds a watch of what an expression says for the thread.
    pub(crate) fn add_watch(&mut self, state: &State<'_>, expression: Expression) -> u32 {
        let id = self.id();
        let thread = expression.needs().thread.then_some(self.thread);
        self.watches.push(Watch { id, expression, thread, last: None });
        self.look_again(state);
        id
    }

    /// Takes a breakpoint or watch away.
    pub(crate) fn delete(&mut self, id: u32) -> bool {
        let before = self.breakpoints.len() + self.watches.len();
        self.breakpoints.retain(|b| b.id != id);
        self.watches.retain(|w| w.id != id);
        self.breakpoints.len() + self.watches.len() < before
    }

    /// What watches say now is what they said last.
    fn look_again(&mut self, state: &State<'_>) {
        self.watches.iter_mut().for_each(|watch| watch.last = None);
        self.changes(state);
    }

    fn changes(&mut self, state: &State<'_>) -> Vec<Change> {
        let mut changes = Vec::new();
        for watch in &mut self.watches {
            let group = watch.expression.needs().group;
            if watch.thread.is_some_and(|thread| !thread.in_wave(state)) || group && state.ended() {
                continue;
            }
            let lane = watch.thread.map_or(0, |thread| thread.lane);
            let now = watch.expression.values(state, lane);
            let before = watch.last.replace((state.part(), now.clone()));
            let Some((part, before)) = before else { continue };
            // LDS is another memory in each group.
            if group && part != state.part() {
                continue;
            }
            let shown = |seen: &Seen, k: usize| match seen {
                Ok(values) => values.get(k).map_or(String::new(), |(_, value)| value.to_string()),
                Err(why) => why.clone(),
            };
            let names = now
                .as_ref()
                .or(before.as_ref())
                .map_or(Vec::new(), |values| values.iter().map(|(name, _)| name.clone()).collect());
            for (k, name) in names.into_iter().enumerate() {
                let (from, to) = (shown(&before, k), shown(&now, k));
                if from != to {
                    changes.push(Change { id: watch.id, name, from, to, line: self.last });
                }
            }
        }
        changes
    }

    /// The breakpoints that are met here, and the thread to look at.
    fn met(&self, state: &State<'_>) -> Option<(Vec<u32>, Thread)> {
        let here = state.instruction()?;
        let mut met: Option<(Vec<u32>, Thread)> = None;
        for breakpoint in self.breakpoints.iter().filter(|b| b.instructions.contains(&here)) {
            let mut lanes = state.active();
            if let Some(thread) = breakpoint.thread {
                lanes &= if thread.in_wave(state) { 1 << thread.lane } else { 0 };
            }
            if let Some(condition) = &breakpoint.condition {
                lanes = condition.lanes(state, lanes);
            }
            if lanes == 0 {
                continue;
            }
            let own = self.thread.in_wave(state) && lanes >> self.thread.lane & 1 == 1;
            let thread = if own { self.thread } else { Thread::of_lane(state, lanes.trailing_zeros()) };
            met.get_or_insert((Vec::new(), thread)).0.push(breakpoint.id);
        }
        met
    }

    /// What would have the launch stand still here, steps apart.
    fn due(&mut self, state: &State<'_>) -> Option<(Why, Thread)> {
        let changes = self.changes(state);
        let met = self.met(state);
        match (changes.is_empty(), met) {
            (false, _) => {
                let first = self.watches.iter().find(|watch| watch.id == changes[0].id);
                let thread = first.and_then(|watch| watch.thread).unwrap_or(self.thread);
                Some((Why::Watch(changes), thread))
            }
            (true, Some((ids, thread))) => Some((Why::Breakpoint(ids), thread)),
            (true, None) => None,
        }
    }

    fn verdict(&mut self, state: &State<'_>) -> Verdict {
        let number = state.number();
        match &mut self.mode {
            Mode::Arrive(step, why) => {
                if number < *step && !state.ended() {
                    return Verdict::Go;
                }
                let why = why.clone();
                self.look_again(state);
                Verdict::Stop(why)
            }
            Mode::First(why) => {
                let why = if state.ended() { Why::End } else { why.clone() };
                if !state.ended() && !self.thread.is_here(state) {
                    return Verdict::Go;
                }
                self.look_again(state);
                Verdict::Stop(why)
            }
            Mode::Seek { before, .. } => {
                if number >= *before || state.ended() {
                    return self.sought();
                }
                self.seek(state);
                Verdict::Go
            }
            Mode::Run { .. } => self.run(state),
        }
    }

    fn run(&mut self, state: &State<'_>) -> Verdict {
        let due = self.due(state);
        let Mode::Run { steps } = &mut self.mode else { return Verdict::Go };
        if let Some((left, depth)) = steps
            && self.thread.is_here(state)
            && state.calls().len() <= *depth
        {
            *left -= 1;
            if *left == 0 {
                *steps = None;
                // What is met here is told, too.
                let why = due.filter(|(_, thread)| *thread == self.thread).map_or(Why::Step, |(why, _)| why);
                self.forget(&why);
                return Verdict::Stop(why);
            }
        }
        if let Some((why, thread)) = due {
            self.thread = thread;
            self.forget(&why);
            return Verdict::Stop(why);
        }
        if state.ended() { Verdict::Stop(Why::End) } else { Verdict::Go }
    }

    /// Takes breakpoints away that are for once.
    fn forget(&mut self, why: &Why) {
        if let Why::Breakpoint(ids) = why {
            self.breakpoints.retain(|b| !(b.once && ids.contains(&b.id)));
        }
    }

    fn seek(&mut self, state: &State<'_>) {
        let Mode::Seek { stops, .. } = &self.mode else { return };
        let place = match stops {
            true => self.due(state),
            false => self.thread.is_here(state).then_some((Why::Step, self.thread)),
        };
        if let (Some((why, thread)), Mode::Seek { most, found, .. }) = (place, &mut self.mode) {
            if found.len() == *most {
                found.pop_front();
            }
            found.push_back((state.number(), why, thread));
        }
    }

    /// All before the place was seen.
    fn sought(&mut self) -> Verdict {
        let Mode::Seek { before, stops, most, found, whole } = &mut self.mode else { return Verdict::Go };
        if found.len() < *most && !*whole {
            *whole = true;
            found.clear();
            return Verdict::Again(0);
        }
        let (before, stops) = (*before, *stops);
        let (step, mode) = match found.pop_front() {
            Some((step, why, thread)) => {
                self.thread = thread;
                (step, Mode::Arrive(step, why))
            }
            None if stops => (0, Mode::First(Why::Start)),
            None => (before, Mode::Arrive(before, Why::Start)),
        };
        self.mode = mode;
        Verdict::Again(step)
    }

    fn again(&mut self, step: u64) -> Next {
        self.watches.iter_mut().for_each(|watch| watch.last = None);
        self.last = 0;
        Next::Again(step)
    }

    fn follow(&mut self, order: Order, state: &State<'_>) -> Next {
        let depth = state.calls().len();
        let number = state.number();
        let seek =
            |stops, most| Mode::Seek { before: number, stops, most, found: VecDeque::new(), whole: stops };
        let (mode, next) = match order {
            Order::Step(count) => (Mode::Run { steps: Some((count.max(1), usize::MAX)) }, Next::Go),
            Order::Over(count) => (Mode::Run { steps: Some((count.max(1), depth)) }, Next::Go),
            Order::Out if depth == 0 => (Mode::Run { steps: None }, Next::Go),
            Order::Out => (Mode::Run { steps: Some((1, depth - 1)) }, Next::Go),
            Order::Continue => (Mode::Run { steps: None }, Next::Go),
            Order::Back(count) => (seek(false, count.max(1) as usize), Next::Again(number)),
            Order::Reverse => (seek(true, 1), Next::Again(0)),
            Order::Run => (Mode::Run { steps: None }, Next::Again(0)),
            Order::Restart => {
                self.thread = self.start;
                (Mode::First(Why::Begin), Next::Again(0))
            }
            Order::Thread(position) => {
                if let Some(thread) = Thread::at(state, position) {
                    self.thread = thread;
                }
                (Mode::First(Why::Thread), Next::Again(0))
            }
            Order::Quit => return Next::End,
        };
        self.mode = mode;
        match next {
            Next::Again(step) => self.again(step),
            next => next,
        }
    }
}
