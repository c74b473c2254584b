//! Code that stores elements one after another.

use super::address::Addressing;
use super::work::Work;
use super::{Body, Frame, Plan};
use crate::graph::{NO, Node};
use crate::program::{Element, Whole};
use crate::target::Rm;

const KNOWN: &str = "a function that stores elements knows where its rows began";

impl Frame<'_> {
    /// Appends a way that is tried first; the jump that is taken when it has ended well. Else the code goes on behind, and nothing has
    /// changed.
    pub fn whole(&mut self, of: &Whole, elements: &[Element]) -> usize {
        let (target, strips, before) = (self.target, self.strips, self.slots);
        if let Some((graph, values)) = &of.kept {
            self.keep(graph, values);
        }
        let mut fails = Vec::new();
        for &(number, step) in &of.steps {
            for strip in 0..strips {
                let at = self.kept[(strips * number + strip) as usize];
                fails.push(target.unless_steps(&mut self.code, self.pool, at, step));
            }
        }
        let values = of.values.iter().flatten().filter(|val| **val != NO);
        let wanted: Vec<_> = values.chain(&of.doubted).copied().collect();
        let mut work = Work::new(&of.body, &wanted, strips, false);
        let plan = Plan::new(work.graph, &[], &work.others.concat(), true, None, Addressing::Scalar, false);
        let mut body = Body::new(self, &plan.graph, &plan.uses);
        body.addresses = Some(&plan.addresses);
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
        self.slots = before;
        let done = target.jump(&mut self.code);
        fails.into_iter().for_each(|fails| target.land(&mut self.code, fails));
        done
    }

    /// Stores elements whose words are in rows, when nothing is in registers.
    pub fn elements(&mut self, elements: &[Element]) {
        let (target, strips) = (self.target, self.strips);
        let Some(origin) = self.origin else { unreachable!("{KNOWN}") };
        for of in elements {
            for strip in 0..strips {
                for (register, &row) in (0..).zip(&of.rows[..of.count as usize]) {
                    if row == NO {
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
