//! What the blocks of a function share.

use super::{Body, Code, Plan, Pool, STACK};
use crate::graph::{Graph, Val};
use crate::program::Straight;
use crate::target::{self, Base, Rm, Target};

/// What the blocks of a function share.
pub struct Frame<'a> {
    pub target: &'static dyn Target,
    /// The code for a strip.
    pub code: Code,
    pub pool: &'a mut Pool,
    /// Not all lanes take part.
    pub masked: bool,
    /// Neighbouring lanes that are looked at together.
    pub line: u32,
    /// Rows that are in registers, from the last one down.
    pub pinned: Vec<u32>,
    /// Where the values that a loop finds ready are.
    pub kept: Vec<u32>,
    /// Places on the stack that are taken while a block runs, and the most that were.
    pub slots: u32,
    pub most: u32,
    /// Denormal operands count as zeros.
    pub lazy: bool,
    /// Where the count of back-edges is kept, see [`crate::Ticks`].
    pub ticks: Option<u32>,
    /// Jumps to the end of the function.
    pub stops: Vec<usize>,
}

impl<'a> Frame<'a> {
    pub fn new(
        target: &'static dyn Target,
        pool: &'a mut Pool,
        masked: bool,
        lazy: bool,
        line: u32,
    ) -> Frame<'a> {
        let mut frame = Frame {
            target,
            code: Code::default(),
            pool,
            masked,
            line: line.min(target.lanes()),
            pinned: Vec::new(),
            kept: Vec::new(),
            slots: 0,
            most: 0,
            lazy,
            ticks: None,
            stops: Vec::new(),
        };
        if lazy {
            // The caller's float mode.
            frame.slot();
        }
        frame
    }

    /// A place on the stack for the rest of the function.
    pub fn slot(&mut self) -> u32 {
        self.slots += 1;
        self.most = self.most.max(self.slots);
        self.place(self.slots - 1)
    }

    /// Where a place on the stack is.
    pub fn place(&self, slot: u32) -> u32 {
        4 * self.target.lanes() * slot
    }

    /// Vector registers that blocks are given.
    pub fn vectors(&self) -> u8 {
        self.target.vectors(self.masked) - self.pinned.len() as u8
    }

    /// The register of a pinned row.
    pub fn pin(&self, row: u32) -> Option<u8> {
        let at = self.pinned.iter().position(|&pinned| pinned == row)?;
        Some(self.target.vectors(self.masked) - 1 - at as u8)
    }

    /// Loads the pinned rows, or stores them.
    pub fn move_pinned(&mut self, load: bool) {
        let last = self.target.vectors(self.masked) - 1;
        for (at, &row) in self.pinned.iter().enumerate() {
            let register = last - at as u8;
            match load {
                true => self.target.load(&mut self.code, register, Rm::Mem(Base::Rows, 256 * row)),
                false => self.target.store(&mut self.code, register, Base::Rows, 256 * row),
            }
        }
    }

    /// Appends a block; the mask register of its test.
    pub fn block(&mut self, block: &Straight) -> Option<u8> {
        let plan = Plan::new(&block.graph, &block.outputs, block.test.as_slice(), false);
        let mut body = Body::new(self, &plan.graph, &plan.uses);
        for (time, (&val, stores)) in plan.order.iter().zip(&plan.stores).enumerate() {
            body.now = 2 * time as u32;
            body.instruction(val);
            body.now += 1;
            body.store_rows(stores);
        }
        body.end(block.test)
    }

    /// Appends a block that leaves values on the stack, for a loop.
    pub fn keep(&mut self, graph: &Graph, values: &[Val]) {
        self.kept = values.iter().map(|_| self.slot()).collect();
        let plan = Plan::new(graph, &[], values, false);
        let kept = self.kept.clone();
        let mut body = Body::new(self, &plan.graph, &plan.uses);
        for (time, &val) in plan.order.iter().enumerate() {
            body.now = 2 * time as u32;
            body.instruction(val);
        }
        body.pinned.clear();
        for (&val, at) in values.iter().zip(kept) {
            let from = body.fetch(val);
            body.target.store(&mut body.frame.code, from, Base::Stack, at);
        }
    }

    /// [`Frame::block`] for one that changes nothing if there are executing lanes in `doubted`: then the block that
    /// follows is run. What [`Frame::attempted`] wants to know.
    pub fn attempt(&mut self, block: &Straight, doubted: Val) -> usize {
        let last: Vec<Val> = block.test.into_iter().chain([doubted]).collect();
        let plan = Plan::new(&block.graph, &block.outputs, &last, true);
        let mut body = Body::new(self, &plan.graph, &plan.uses);
        for (time, &val) in plan.order.iter().enumerate() {
            body.now = 2 * time as u32;
            body.instruction(val);
        }
        body.pinned = last;
        let doubted = body.fetch(doubted);
        let (target, masks) = (body.target, body.target.masks());
        let mut asked = doubted;
        if body.frame.masked {
            target.mask_and(&mut body.frame.code, masks.scratch, masks.exec, doubted);
            asked = masks.scratch;
        }
        let fails = target.jump_if(&mut body.frame.code, asked, true);
        body.now += 1;
        if let Some(stores) = plan.stores.last() {
            body.store_rows(stores);
        }
        if let Some(test) = body.end(block.test) {
            target.mask_copy(&mut self.code, masks.tested, test);
        }
        let done = target.jump(&mut self.code);
        target.land(&mut self.code, fails);
        done
    }

    /// Joins an attempt and what was done instead, whose test is in the register `test`.
    pub fn attempted(&mut self, done: usize, test: Option<u8>) -> Option<u8> {
        let tested = self.target.masks().tested;
        if let Some(test) = test {
            self.target.mask_copy(&mut self.code, tested, test);
        }
        self.target.land(&mut self.code, done);
        test.map(|_| tested)
    }

    /// Appends the function to `code`; false, and nothing appended, if it needs too many places on the stack.
    pub fn finish(self, code: &mut Code) -> bool {
        let stack = self.place(self.most).next_multiple_of(64);
        if stack <= STACK {
            let frame = target::Frame {
                body: &self.code.bytes,
                stack,
                masked: self.masked,
                ticks: self.ticks,
                lazy: self.lazy,
                stops: &self.stops,
            };
            self.target.function(code, self.pool, &frame);
        }
        stack <= STACK
    }
}
