//! Two lanes with any work keep what depends in order, and nothing hangs.

use super::*;

/// A memory of its own, or half of two.
fn span(number: u64) -> Span {
    Span { start: 4 * number, end: 4 * number + if number % 3 == 0 { 6 } else { 4 } }
}

/// A command: ticket, what stands before it, whether it is more than a kernel.
type Recorded = (Ticket, Barrier, bool);

/// A chunk, as a device would see it.
struct Submitted {
    lane: Lane,
    after: u64,
    point: u64,
    plain: bool,
    commands: Vec<Recorded>,
}

/// Programs of random commands: what depends on each other is kept apart, nothing waits for what is not submitted.
struct Model {
    order: Order<Vec<Recorded>>,
    submitted: Vec<Submitted>,
    uses: Vec<(Lane, Uses)>,
    /// Positions of the timelines when each command came.
    before: Vec<[u64; 2]>,
    /// Positions of the timelines.
    done: [u64; 2],
    state: u64,
}

impl Model {
    fn random(&mut self, below: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 20) % below
    }

    fn submit(&mut self, lane: Lane) {
        let Some(mut chunk) = self.order.take_open(lane) else { return };
        let reached = self.submitted.iter().filter(|c| c.lane == lane.other()).map(|c| c.point).max();
        assert!(chunk.after <= reached.unwrap_or(0), "a wait for what is not submitted");
        let commands = std::mem::take(&mut chunk.work);
        let Chunk { after, point, plain, .. } = chunk;
        self.submitted.push(Submitted { lane, after, point, plain, commands });
        self.order.run(lane, chunk);
    }

    /// As the queue does it.
    fn command(&mut self) {
        let lane = Lane::ALL[self.random(2) as usize];
        let buffers = |model: &mut Self, n| (0..n).map(|_| span(model.random(6))).collect::<Vec<_>>();
        let transfer = lane == Lane::Copies || self.random(4) == 0;
        let mut uses = Uses { reads: buffers(self, 1), writes: buffers(self, 1), ..Uses::default() };
        // What a kernel writes is no uniform buffer of its own.
        let uniform = self.random(2) == 0 && !transfer && !uses.reads[0].meets(&uses.writes[0]);
        uses.uniforms.extend(uses.reads.iter().filter(|_| uniform));
        let after = self.order.after(lane, &uses);
        if after > 0 {
            if self.order.is_open(lane.other(), after) {
                self.submit(lane.other());
            }
            self.submit(lane);
            self.order.wait(lane, after);
        }
        if self.order.open(lane).is_none() {
            self.order.begin(lane, Vec::new());
        }
        let barrier = self.order.record(lane, &uses, transfer, true, 0);
        let ticket = self.order.issue(lane);
        self.order.open(lane).unwrap().push((ticket, barrier, transfer));
        self.uses.push((lane, uses));
        self.before.push(self.done);
        assert_eq!(self.uses.len() as u64, ticket);
    }

    /// One timeline moves, if the next chunk's wait is over.
    fn advance(&mut self, lane: Lane) -> bool {
        let done = self.done;
        let next = self.submitted.iter().find(|c| c.lane == lane && c.point > done[lane as usize]);
        let Some(next) = next.filter(|c| c.after <= done[lane.other() as usize]) else { return false };
        self.done[lane as usize] = next.point;
        while self.order.take_done(lane, self.done[lane as usize]).is_some() {}
        true
    }

    /// Whether the command of ticket `a` is over before that of `b` begins, which a barrier between kernels of that kind is enough for.
    fn ordered(&self, a: Ticket, b: Ticket, least: Barrier) -> bool {
        let place = |ticket| {
            let chunk = self.submitted.iter().position(|c| c.commands.iter().any(|(t, ..)| *t == ticket));
            chunk.map(|chunk| (chunk, &self.submitted[chunk])).expect("it was submitted")
        };
        let ((at, from), (to, chunk)) = (place(a), place(b));
        if self.before[b as usize - 1][from.lane as usize] >= from.point {
            return true;
        }
        if from.lane != chunk.lane {
            // A wait holds for all later chunks of its lane.
            let earlier = self.submitted[..=to].iter().filter(|c| c.lane == chunk.lane);
            return earlier.map(|c| c.after).max().is_some_and(|after| after >= from.point);
        }
        let kernel = |chunk: &Submitted, ticket| {
            chunk.commands.iter().any(|(t, _, transfer)| *t == ticket && !transfer)
        };
        let kernels = kernel(from, a) && kernel(chunk, b);
        let enough = |barrier: Barrier| barrier == Barrier::All || (kernels && barrier >= least);
        let between = |(t, barrier, _): &Recorded| (a + 1..=b).contains(t) && enough(*barrier);
        let ended = |c: &Submitted| c.lane == chunk.lane && !c.plain;
        chunk.commands.iter().any(between) || (at < to && self.submitted[at..to].iter().any(ended))
    }
}

#[test]
fn what_depends_is_ordered_and_nothing_hangs() {
    for seed in 1..=300 {
        let mut model = Model {
            order: Order::default(),
            submitted: Vec::new(),
            uses: Vec::new(),
            before: Vec::new(),
            done: [0; 2],
            state: 0x9E37_79B9_7F4A_7C15u64.wrapping_mul(seed),
        };
        for _ in 0..60 {
            match model.random(8) {
                0 => Lane::ALL.into_iter().for_each(|lane| model.submit(lane)),
                1 => {
                    let lane = Lane::ALL[model.random(2) as usize];
                    model.advance(lane);
                }
                _ => model.command(),
            }
            let completed = model.order.completed();
            let unfinished = (1..).zip(&model.uses).find(|(ticket, (lane, _))| {
                let at = model.submitted.iter().find(|c| c.commands.iter().any(|(t, ..)| t == ticket));
                at.is_none_or(|chunk| chunk.point > model.done[*lane as usize])
            });
            assert!(unfinished.is_none_or(|(ticket, _)| completed < ticket), "done too early");
        }
        Lane::ALL.into_iter().for_each(|lane| model.submit(lane));
        let goals = model.order.goals(model.order.issued());
        while Lane::ALL.into_iter().any(|lane| model.advance(lane)) {}
        assert_eq!(model.order.completed(), model.order.issued(), "seed {seed}: it hangs");
        assert!(goals.iter().zip(model.done).all(|(goal, done)| *goal <= done));
        for (b, (_, later)) in (1..).zip(&model.uses) {
            for (a, (_, earlier)) in (1..b).zip(&model.uses) {
                let seen =
                    later.uniforms.iter().any(|span| earlier.writes.iter().any(|other| other.meets(span)));
                let least = if seen { Barrier::Uniforms } else { Barrier::Kernels };
                assert!(!earlier.meets(later) || model.ordered(a, b, least), "seed {seed}: {a} and {b}");
            }
        }
    }
}

/// A copy beside a kernel that it has nothing to do with waits for nothing, but is done no earlier.
#[test]
fn what_does_not_depend_is_not_ordered() {
    let mut order = Order::default();
    let uses = |read, write| Uses { reads: vec![span(read)], writes: vec![span(write)], ..Uses::default() };
    for (lane, uses) in [(Lane::Kernels, uses(1, 2)), (Lane::Copies, uses(4, 5)), (Lane::Kernels, uses(1, 7))]
    {
        assert_eq!(order.after(lane, &uses), 0);
        if order.open(lane).is_none() {
            order.begin(lane, ());
        }
        // One of kernels stands at the beginning.
        let begun = order.side(lane).ordered != Barrier::None;
        let expected = if begun { Barrier::None } else { Barrier::Uniforms };
        assert_eq!(order.record(lane, &uses, false, true, 0), expected);
        order.issue(lane);
    }
    for lane in Lane::ALL {
        let chunk = order.take_open(lane).unwrap();
        assert_eq!(chunk.after, 0);
        order.run(lane, chunk);
    }
    assert!(order.take_done(Lane::Copies, 1).is_some());
    assert_eq!(order.completed(), 0);
    assert_eq!(order.goals(1), [1, 0]);
    assert!(order.take_done(Lane::Kernels, 1).is_some());
    assert_eq!(order.completed(), 3);
}

/// A command in parts is done with the last of them, and those that come after it no earlier.
#[test]
fn parts_share_a_ticket() {
    let mut order = Order::default();
    let ticket = order.promise();
    let later = order.promise();
    for part in 1..=3 {
        order.begin(Lane::Kernels, ());
        order.record(Lane::Kernels, &Uses::default(), false, false, 0);
        order.stamp(Lane::Kernels, ticket);
        if part == 3 {
            order.stamp(Lane::Kernels, later);
        }
        let chunk = order.take_open(Lane::Kernels).unwrap();
        assert_eq!(chunk.point, part);
        order.run(Lane::Kernels, chunk);
        if part > 1 {
            assert!(order.take_done(Lane::Kernels, part - 1).is_some());
        }
        assert_eq!((order.completed(), order.goals(ticket)), (ticket - 1, [part, 0]));
    }
    assert!(order.take_done(Lane::Kernels, 3).is_some());
    assert_eq!(order.completed(), later);
}

/// What was more than a kernel and is done by somebody else: the next command waits for everybody, once.
#[test]
fn foreign_works_are_waited_for() {
    let mut order = Order::default();
    let uses = Uses { reads: vec![span(1)], ..Uses::default() };
    let mut record = |chunk: bool, foreign| {
        if chunk {
            order.take_open(Lane::Kernels);
            order.begin(Lane::Kernels, ());
        }
        let barrier = order.record(Lane::Kernels, &uses, false, true, foreign);
        order.issue(Lane::Kernels);
        barrier
    };
    let found = [(true, 0), (false, 0), (false, 1), (false, 1), (true, 1), (true, 3), (true, 3)];
    let wanted = {
        use Barrier::{All, None, Uniforms};
        [Uniforms, None, All, None, Uniforms, All, Uniforms]
    };
    assert_eq!(found.map(|(chunk, foreign)| record(chunk, foreign)), wanted);
}

/// Only what was written since is waited for as a uniform buffer, however long ago its kernel was over.
#[test]
fn uniform_buffers_wait_for_what_wrote_them() {
    let mut order = Order::default();
    order.begin(Lane::Kernels, ());
    let mut record = |uniform: u64, read: u64, write: u64| {
        let uniforms = vec![span(uniform)];
        let uses = Uses {
            reads: vec![span(uniform), span(read)],
            writes: vec![span(write)],
            uniforms,
            shown: false,
        };
        let barrier = order.record(Lane::Kernels, &uses, false, false, 0);
        order.issue(Lane::Kernels);
        barrier
    };
    use Barrier::{Kernels, None, Uniforms};
    assert_eq!(record(1, 2, 4), Uniforms);
    // Other memory; what was written, as a storage buffer; then, not written since, as a uniform buffer.
    assert_eq!(record(1, 2, 5), None);
    assert_eq!(record(1, 4, 7), Kernels);
    assert_eq!(record(1, 2, 8), None);
    assert_eq!(record(5, 2, 10), Uniforms);
    assert_eq!(record(4, 2, 11), None);
    // What was written last.
    assert_eq!(record(11, 2, 13), Uniforms);
}
