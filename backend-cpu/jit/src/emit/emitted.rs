//! Code that stores elements one after another.

use super::address::{Addressing, Round};
use super::work::Work;
use super::{Body, Frame, Order, Plan};
use crate::NONE;
use crate::graph::{Graph, NO, Node, Val};
use crate::op::Op;
use crate::program::{Element, Once, Start, Whole};
use crate::row::LANES;
use crate::target::{Base, Rm, Scalar, Steps};

const KNOWN: &str = "a function that stores elements knows where its rows began";

impl Frame<'_> {
    /// Appends a way that is tried first; the jump that is taken when it has ended well. Else the code goes on behind, and nothing has
    /// changed.
    pub fn whole(&mut self, of: &Whole, elements: &[Element]) -> usize {
        let (target, strips, before) = (self.target, self.strips.number, self.slots);
        let mut fails = Vec::new();
        if let (Some(kept), Some(once)) = (&of.kept, of.once.as_ref().filter(|_| self.alone)) {
            self.once(kept, once);
            (0..strips).for_each(|strip| fails.push(target.unless_good(&mut self.code, strip)));
        } else {
            if let Some((graph, values)) = &of.kept {
                self.keep(graph, values);
            }
            for &(number, step) in &of.steps {
                for strip in 0..strips {
                    let at = self.kept[(strips * number + strip) as usize];
                    fails.push(target.unless_steps(
                        &mut self.code,
                        self.pool,
                        Steps { at, first: at, from: 0, step },
                    ));
                }
            }
        }
        let values = of.values.iter().flatten().filter(|val| **val != NO);
        let wanted: Vec<_> = values.chain(&of.doubted).copied().collect();
        let mut work = Work::new(&of.body, &wanted, &self.strips);
        let plan = Plan::new(
            work.graph,
            &[],
            &work.others.concat(),
            &[],
            None,
            Addressing::Scalar(Round::default()),
            (Order::Written, false),
        );
        let starts = self.starts(of).len();
        let mut body = Body::new(self, &plan.graph, &plan.uses);
        (body.addresses, body.reserved) = (Some(&plan.addresses), starts);
        for (time, &val) in plan.order.iter().enumerate() {
            body.now = 2 * time as u32;
            body.instruction(val);
            body.now += 1;
            body.release(val);
        }
        body.pinned.clear();
        if of.doubted.is_some() {
            for doubted in work.others.pop().unwrap_or_default() {
                let asked = body.fetch(doubted);
                fails.push(target.jump_if(&mut body.frame.code, asked, true));
            }
        }
        let mut values = work.others.into_iter();
        let Some(origin) = body.frame.origin else { unreachable!("{KNOWN}") };
        for of in elements {
            target.elements(&mut body.frame.code, of.view, of.count, origin);
            let vectors: Vec<_> = values.by_ref().take(of.count as usize).collect();
            for (k, strips) in (0..).zip(vectors) {
                for (strip, val) in (0..).zip(strips) {
                    let from = body.fetch(val);
                    target.put(&mut body.frame.code, from, of.count * strip + k, of.past_caches);
                }
            }
        }
        self.kept.clear();
        self.based.clear();
        self.slots = before;
        let done = target.jump(&mut self.code);
        fails.into_iter().for_each(|fails| target.land(&mut self.code, fails));
        done
    }

    /// Computes what is ready for the first lanes of as many strips as a vector has lanes, before the first strip: which of them are good,
    /// and addresses, which go on from strip to strip, and from wave to wave.
    fn once(&mut self, (graph, values): &(Graph, Vec<Val>), once: &Once) {
        let (target, strips, lanes) = (self.target, self.strips.number, self.target.lanes());
        let body = std::mem::take(&mut self.code);
        self.strips.number = 1;
        let count = LANES as u32 / lanes;
        let (at, from) = (self.slot(), self.row(once.column));
        let of_strips = |word: &dyn Fn(u32) -> u32| -> Vec<u32> { (0..lanes).map(word).collect() };
        let columns = self.pool.table(&of_strips(&|strip| ((strip * lanes) as f32).to_bits()));
        target.broadcast(&mut self.code, 0, Base::Rows, from, false);
        self.operation(Op::FAdd, 0, 0, Base::Pool, columns);
        target.store(&mut self.code, 0, Base::Stack, at);
        self.moved.insert(once.column, at);
        self.keep(graph, values);
        self.moved.remove(&once.column);
        let middle = |frame: &Self, number: u32| frame.kept[number as usize] + 4 * (count / 2);
        for (k, of) in once.members.iter().enumerate() {
            let Start { number, step, .. } = once.starts[usize::from(of.start)];
            let place =
                |strip: u32| strip.wrapping_sub(count / 2).wrapping_mul(lanes * step).wrapping_add(of.words);
            let (first, last) = (self.kept[of.number as usize], self.kept[of.last as usize]);
            let there = self.pool.table(&of_strips(&place));
            let rest = self.pool.lanes(lanes, |_| (lanes - 1) * step);
            let base = middle(self, number);
            target.broadcast(&mut self.code, 1, Base::Stack, base, false);
            self.operation(Op::Add, 1, 1, Base::Pool, there);
            self.operation(Op::Xor, 2, 1, Base::Stack, first);
            self.operation(Op::Add, 1, 1, Base::Pool, rest);
            self.operation(Op::Xor, 1, 1, Base::Stack, last);
            let to = if k == 0 { 0 } else { 1 };
            target.operation(
                &mut self.code,
                self.pool,
                Op::Or,
                to,
                [Rm::Reg(1), Rm::Reg(2), Rm::Reg(0)],
                None,
            );
            if k > 0 {
                target.operation(
                    &mut self.code,
                    self.pool,
                    Op::Or,
                    0,
                    [Rm::Reg(0), Rm::Reg(1), Rm::Reg(0)],
                    None,
                );
            }
        }
        target.good_strips(&mut self.code, self.pool, 0);
        for (number, &Start { view, number: of, step }) in (0..).zip(&once.starts) {
            let at = (Base::Stack, middle(self, of));
            target.scalar(&mut self.code, Scalar::Move, 0, Ok(at));
            target.element(&mut self.code, view);
            target.keep_address(&mut self.code, number);
            target.move_address(&mut self.code, number, (4 * (count / 2) * lanes * step).wrapping_neg());
        }
        (self.strips.number, self.before) = (strips, std::mem::replace(&mut self.code, body));
        for of in &once.members {
            let Start { view, step, .. } = once.starts[usize::from(of.start)];
            for strip in 0..strips {
                let words = (strip * lanes * step).wrapping_add(of.words);
                self.based.insert((view, strips * of.number + strip), (of.start, words.wrapping_mul(4)));
            }
        }
    }

    /// to = op(a, a vector in memory)
    fn operation(&mut self, op: Op, to: u8, a: u8, base: Base, at: u32) {
        let args = [Rm::Reg(a), Rm::Mem(base, at), Rm::Reg(0)];
        self.target.operation(&mut self.code, self.pool, op, to, args, None);
    }

    /// Keeps the addresses of a way while the other one is done, or has them back.
    pub fn other_way(&mut self, of: &Whole, places: &[u32], begins: bool) {
        for ((number, _), at) in (0..).zip(self.starts(of)).zip(places) {
            self.target.address_to_stack(&mut self.code, number, *at, begins);
        }
    }

    /// The addresses go on to the next strips.
    pub fn next_strips(&mut self, of: &Whole) {
        let lanes = self.strips.number * self.target.lanes();
        for (number, Start { step, .. }) in (0..).zip(self.starts(of)) {
            self.target.move_address(&mut self.code, number, 4 * lanes * step);
        }
    }

    /// What addresses are kept for, from strip to strip.
    pub fn starts(&self, of: &Whole) -> Vec<Start> {
        of.once.iter().filter(|_| self.alone).flat_map(|once| once.starts.clone()).collect()
    }

    /// Stores elements whose words are in rows, when nothing is in registers.
    pub fn elements(&mut self, elements: &[Element]) {
        let (target, strips) = (self.target, self.strips.number);
        let Some(origin) = self.origin else { unreachable!("{KNOWN}") };
        for of in elements {
            for strip in 0..strips {
                for (register, &row) in (0..).zip(&of.rows[..of.count as usize]) {
                    if row == NONE {
                        target.constant(&mut self.code, self.pool, register, Node::Word(0));
                        continue;
                    }
                    let (base, at) = self.place_of(strips * row + strip);
                    target.load(&mut self.code, register, Rm::Mem(base, at));
                }
                if of.count > 1 {
                    target.interleave(&mut self.code, of.count, true);
                }
                target.elements(&mut self.code, of.view, of.count, origin);
                for k in 0..of.count {
                    target.put(&mut self.code, k as u8, of.count * strip + k, of.past_caches);
                }
            }
        }
    }
}
