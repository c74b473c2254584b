//! Ways to make code of a program, and the choice among them.

use crate::LANES;
use crate::emit::{self, Frame, Order, Pool, Together, Trail};
use crate::program::{self, Program};
use crate::target::Target;

/// Two strips at a time may move one value to the stack or back for so many operations.
const MANY: u32 = 8;
/// Most values of a function that is tried in several ways: more never fit the registers, and take their time.
const MOST_TRIED: usize = 1000;
/// Operations of one step that take longer than a processor looks ahead.
const LONG: usize = 48;

/// One way to make code of a program.
#[derive(Clone, Copy)]
pub struct Trial<'a> {
    pub program: &'a Program,
    pub target: &'static dyn Target,
    pub masked: bool,
    pub line: u32,
    /// Strips at a time.
    pub strips: u32,
    /// Most rows that loops keep in registers.
    pub pins: usize,
    /// How sums are arranged, see [`emit::Arrange`].
    pub sums: (usize, Together),
    /// Rounds of loops may go on by steps, see [`program::Reduced`].
    pub reduced: bool,
    /// See [`Frame`].
    pub order: Order,
}

impl<'a> Trial<'a> {
    /// One strip at a time, with nothing out of its order.
    pub fn new(program: &'a Program, target: &'static dyn Target, masked: bool, line: u32) -> Trial<'a> {
        Trial {
            program,
            target,
            masked,
            line,
            strips: 1,
            pins: target.pinned(),
            sums: (0, Together::Elements),
            reduced: false,
            order: Order::Written,
        }
    }

    /// That of what all threads of a group do: all at once in its order, or one result after another.
    pub fn for_group(self, pool: &mut Pool) -> Self {
        let Trial { program, target, .. } = self;
        let way = Trial { strips: LANES as u32 / target.lanes(), pins: 0, ..self };
        let acts = |part: &program::Part| match part {
            program::Part::Block(block) => block.body.graph.nodes.iter().filter(|node| node.acts()).count(),
            _ => 0,
        };
        // What is loaded must be loaded before anything is stored.
        let stores = program.parts.iter().map(acts).sum::<usize>();
        let order = if stores > 1 { Order::StoresLast } else { Order::Deep };
        let cost = |way: &Trial<'_>| {
            let body = way.body(pool);
            4 * body.moves + body.instructions
        };
        [way, Trial { order, ..way }].into_iter().min_by_key(cost).unwrap_or(way)
    }

    /// The way that reads and writes memory least often, if the program adds up products of whole elements; with so many strips at most.
    pub fn for_sums(self, pool: &mut Pool, strips: u32) -> Option<Self> {
        if !program::sums(&self.program.parts) {
            return None;
        }
        let first = self.body(pool);
        let (most, registers) = (first.most_pins(), usize::from(self.target.vectors(0)));
        let half = registers.div_ceil(2);
        let mut ways = vec![self, Trial { pins: most, ..self }];
        let elements = [half, half * 3 / 4, half * 5 / 4].map(|sums| (sums, Together::Elements));
        let factors = [2, 4].map(|first| (half, Together::Factors(first)));
        for sums in elements.into_iter().chain([(half, Together::Lanes)]).chain(factors) {
            ways.push(Trial { pins: 0, sums, ..self });
        }
        for strips in [2, 4].into_iter().filter(|number| *number <= strips) {
            ways.push(Trial { strips, ..self });
            ways.push(Trial { strips, pins: most, ..self });
        }
        let cost = |way: &Trial<'_>, pool: &mut Pool| {
            let body = way.body(pool);
            (4 * body.touches + body.instructions) * 2 / way.strips
        };
        ways.into_iter().min_by_key(|way| cost(way, pool))
    }

    /// The same for a function without loops in which more sums grow by several steps each than there are registers: as it is written each
    /// step of all of them comes before the next one, and each sum goes to the stack and back for each.
    fn for_long_sums(self, pool: &mut Pool) -> Option<Self> {
        let registers = usize::from(self.target.vectors(0));
        let sums = |part: &program::Part| match part {
            program::Part::Block(block) => emit::grown(&block.body.graph, &block.body.outputs),
            _ => 0,
        };
        if self.program.parts.iter().map(sums).max()? <= registers {
            return None;
        }
        let whole = |n: usize| n / 4 * 4;
        let ways = [0, whole(registers / 2), whole(registers * 3 / 4)]
            .map(|n| Trial { sums: (n, Together::Elements), ..self });
        let cost = |way: &Trial<'_>| {
            let body = way.body(pool);
            if body.fits() { 4 * body.touches + body.instructions } else { u32::MAX }
        };
        ways.into_iter().min_by_key(cost)
    }

    /// The same for a function of one block in whose lines rows are the same: what lines read alike is read once.
    fn for_lines(self, pool: &mut Pool) -> Option<Self> {
        let Trial { program, target, masked, line, .. } = self;
        let lanes = target.lanes();
        let one = !masked && matches!(&program.parts[..], [program::Part::Block(_)]);
        if !one || program.equal.is_empty() || target.strips() == 1 || line >= LANES as u32 || line < lanes {
            return None;
        }
        let ways = [1, 2, emit::MOST].map(|strips| Trial { strips, ..self });
        let fits = |way: &&Trial<'_>| {
            way.strips == 1 || way.strips * lanes > line && way.strips * lanes <= LANES as u32
        };
        let cost = |way: &&Trial<'_>| {
            let body = way.body(pool);
            if body.fits() { (4 * body.touches + body.instructions) * 4 / way.strips } else { u32::MAX }
        };
        ways.iter().filter(fits).min_by_key(cost).copied().filter(|way| way.strips > 1)
    }

    /// The way that moves values least often, as far as that is tried.
    pub fn best(mut self, pool: &mut Pool, alike: bool) -> Self {
        let Trial { program, target, masked, .. } = self;
        // Strips without loops follow each other closely enough, unless a step becomes so many operations that the next strip is
        // far away; in loops they would wait for their own results.
        if let Some(made) = self.for_lines(pool) {
            return made;
        }
        if let (false, false, Some(made)) = (masked, program.loops, self.for_long_sums(pool)) {
            return made;
        }
        let small = program.loops && program::size(&program.parts) <= MOST_TRIED;
        if !small && program::longest(&program.parts) <= LONG {
            return self;
        }
        if target.strips() > 1 && (masked || alike) {
            let orders = if small { &[Order::Written, Order::Deep][..] } else { &[Order::Written] };
            let two = orders.iter().map(|&order| Trial { strips: 2, order, ..self });
            let fits = |two: &Trial<'_>| {
                let frame = two.body(pool);
                MANY * frame.moves <= frame.instructions
            };
            self = two.into_iter().find(fits).unwrap_or(self);
        }
        if !small {
            return self;
        }
        // One result after another needs fewer registers, as long as results have little in common.
        let moved = |way: &Trial<'_>, pool: &mut Pool| {
            let frame = way.body(pool);
            frame.moves + frame.touches
        };
        let deep = Trial { order: Order::Deep, ..self };
        if moved(&deep, pool) < moved(&self, pool) {
            self = deep;
        }
        // More rows in registers leave fewer of them to everything else.
        let frame = self.body(pool);
        let (touches, pins) = (frame.touches, frame.most_pins());
        let more = Trial { pins, ..self };
        if touches > 0 && more.body(pool).touches < touches { more } else { self }
    }

    /// The code of the program's parts.
    pub fn body<'p>(&self, pool: &'p mut Pool) -> Frame<'p> {
        let Trial { program, target, masked, line, strips, pins, sums, reduced, order } = *self;
        let mut frame = Frame { pins, order, ..Frame::new(target, pool, masked, program.lazy, line, strips) };
        frame.reduced = reduced;
        frame.strips.together = program.group;
        if !masked && !program.loops && strips > frame.strips.line {
            frame.strips.equal.clone_from(&program.equal);
        }
        let learns = !masked && target.learns() && program::stores(&program.parts);
        frame.ticks = (program.loops || program.calls || learns).then(|| frame.slot());
        frame.learned = program.learned;
        frame.trail = if program.loops || program.group { Trail::default() } else { program.trail };
        frame.straight = !program.loops;
        frame.next = if program.loops { 0 } else { program.next };
        if !masked && frame.next > 0 && program::stores(&program.parts) {
            let room = frame.slot();
            frame.earlier = (0..4 * target.lanes()).step_by(16).map(|at| room + at).collect();
        }
        frame.origin = matches!(program.parts.last(), Some(program::Part::Emit(_))).then(|| frame.slot());
        frame.grown =
            program.grown.iter().map(|&(view, field, by)| (target.field(view, field), by)).collect();
        frame.alone = program.parts.len() == 1;
        let (sums, together) = sums;
        frame.arrange = (sums > 0).then(|| emit::Arrange {
            sums,
            together,
            moving: !program.loops,
            ..emit::Arrange::default()
        });
        frame.repacks = program.repacks;
        emit::code(&program.parts, &mut frame);
        std::mem::take(&mut frame.skips).into_iter().for_each(|jump| target.land(&mut frame.code, jump));
        frame
    }
}
