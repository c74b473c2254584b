//! What the blocks of a function share, and the loop over strips around them.

use super::{Body, EXEC, Plan, Pool, SCRATCH, SLOTS, TESTED, VECTORS};
use crate::encode::{Base, Code, Lanes, NOT_ZERO, Rm, inst::STORE};
use crate::graph::{Graph, Val};

/// What the blocks of a function share.
pub struct Frame<'a> {
    /// The code for a strip.
    pub code: Code,
    pub pool: &'a mut Pool,
    /// Which lanes take part.
    pub lanes: Lanes,
    /// Lanes of a line: 4, 8 or 16.
    pub line: u32,
    /// Rows that are in registers, from the last one down.
    pub pinned: Vec<u32>,
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
    pub fn new(pool: &'a mut Pool, masked: bool, lazy: bool, line: u32) -> Frame<'a> {
        let mut frame = Frame {
            code: Code::default(),
            pool,
            lanes: if masked { Lanes::Some(EXEC) } else { Lanes::All },
            line,
            pinned: Vec::new(),
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
        64 * (self.slots - 1)
    }

    /// The register of a pinned row.
    pub fn pin(&self, row: u32) -> Option<u8> {
        let at = self.pinned.iter().position(|&pinned| pinned == row)?;
        Some(VECTORS - 1 - at as u8)
    }

    /// Appends a block: the outputs are rows and what they are to hold, in all lanes if nobody sees the others. The
    /// mask register of `test`.
    pub fn block(
        &mut self,
        graph: &mut Graph,
        outputs: &[(u32, Val)],
        unseen: impl Fn(u32) -> bool,
        test: Option<Val>,
    ) -> Option<u8> {
        let plan = Plan::new(graph, outputs, test.as_slice(), false);
        let mut body = Body::new(self, graph, &plan.uses);
        for (time, (&val, stores)) in plan.order.iter().zip(&plan.stores).enumerate() {
            body.now = 2 * time as u32;
            body.instruction(val);
            body.now += 1;
            body.store_rows(stores, &unseen);
        }
        body.end(test)
    }

    /// Appends a block that leaves values in places on the stack.
    pub fn keep(&mut self, graph: &mut Graph, values: &[(Val, u32)]) {
        let wanted: Vec<Val> = values.iter().map(|&(val, _)| val).collect();
        let plan = Plan::new(graph, &[], &wanted, false);
        let mut body = Body::new(self, graph, &plan.uses);
        for (time, &val) in plan.order.iter().enumerate() {
            body.now = 2 * time as u32;
            body.instruction(val);
        }
        body.pinned.clear();
        for &(val, at) in values {
            let from = body.fetch(val);
            body.frame.code.vector(STORE, from, 0, Rm::Mem(Base::Stack, at), Lanes::All, None);
        }
    }

    /// [`Frame::block`] for one that changes nothing if there are lanes in `doubted`: then the block that follows is
    /// run. What [`Frame::attempted`] wants to know.
    pub fn attempt(
        &mut self,
        graph: &mut Graph,
        outputs: &[(u32, Val)],
        unseen: impl Fn(u32) -> bool,
        test: Option<Val>,
        doubted: Val,
    ) -> usize {
        let last: Vec<Val> = test.into_iter().chain([doubted]).collect();
        let plan = Plan::new(graph, outputs, &last, true);
        let mut body = Body::new(self, graph, &plan.uses);
        for (time, &val) in plan.order.iter().enumerate() {
            body.now = 2 * time as u32;
            body.instruction(val);
        }
        body.pinned = last;
        let doubted = body.fetch(doubted);
        let code = &mut body.frame.code;
        if let Lanes::Some(lanes) = body.lanes {
            code.mask_and(SCRATCH, lanes, doubted);
            code.mask_test(SCRATCH);
        } else {
            code.mask_test(doubted);
        }
        let fails = code.jump(Some(NOT_ZERO));
        body.now += 1;
        if let Some(stores) = plan.stores.last() {
            body.store_rows(stores, &unseen);
        }
        if let Some(test) = body.end(test) {
            self.code.mask_and(TESTED, test, test);
        }
        let done = self.code.jump(None);
        self.code.land(fails);
        done
    }

    /// Joins an attempt and what was done instead, whose test is in the register `test`.
    pub fn attempted(&mut self, done: usize, test: Option<u8>) -> Option<u8> {
        if let Some(test) = test {
            self.code.mask_and(TESTED, test, test);
        }
        self.code.land(done);
        test.map(|_| TESTED)
    }

    /// Appends the function to `code`; false, and nothing appended, if it needs too many places on the stack.
    pub fn finish(self, code: &mut Code) -> bool {
        let fits = self.most as usize <= SLOTS;
        if fits {
            wrap(code, self);
        }
        fits
    }
}

/// The loop over strips: rdi rows, rsi constants, rdx executing lanes, rcx views, r8 ticks.
fn wrap(code: &mut Code, frame: Frame<'_>) {
    let (body, slots) = (&frame.code.bytes, frame.most);
    let masked = matches!(frame.lanes, Lanes::Some(_));
    code.raw(&[0x53]); // push rbx
    code.raw(&[0x49, 0x89, 0xC9]); // mov r9, rcx
    code.raw(&[0x4D, 0x89, 0xC2]); // mov r10, r8
    if slots > 0 {
        code.raw(&[0x49, 0x89, 0xE0]); // mov r8, rsp
        code.raw(&[0x48, 0x83, 0xE4, 0xC0]); // and rsp, -64
        // Page by page, so that the guard page is not passed over.
        for page in 1..=64 * slots / 4096 {
            code.raw(&[0x48, 0x83, 0x8C, 0x24]); // or qword [rsp - 4096 * page], 0
            code.raw(&(4096 * page).wrapping_neg().to_le_bytes());
            code.raw(&[0]);
        }
        code.raw(&[0x48, 0x81, 0xEC]); // sub rsp, n
        code.raw(&(64 * slots).to_le_bytes());
        code.raw(&[0x48, 0x89, 0xE1]); // mov rcx, rsp
    }
    if let Some(at) = frame.ticks {
        code.raw(&[0x4C, 0x89, 0x91]); // mov [rcx + at], r10
        code.raw(&at.to_le_bytes());
    }
    if frame.lazy {
        code.raw(&[0x0F, 0xAE, 0x19]); // stmxcsr [rcx]
        float_mode(code, frame.pool, true);
    }
    code.raw(&[0xBB, 4, 0, 0, 0]); // mov ebx, 4
    code.raw(&[0x31, 0xC0]); // xor eax, eax
    let start = code.bytes.len();
    code.raw(&[0x48, 0xC1, 0xE8, 16]); // shr rax, 16
    if masked {
        code.raw(&[0x66, 0x85, 0xD2]); // test dx, dx
        code.raw(&[0x0F, 0x84]); // jz past the body
        code.raw(&(body.len() as u32 + 4).to_le_bytes());
        code.raw(&[0xC5, 0xF8, 0x92, 0xCA]); // kmovw k1, edx
    }
    let base = code.bytes.len();
    code.raw(body);
    code.raw(&[0x48, 0x83, 0xC7, 64]); // add rdi, 64
    code.raw(&[0x48, 0xC1, 0xEA, 16]); // shr rdx, 16
    code.raw(&[0xFF, 0xCB]); // dec ebx
    let back = start as i32 - (code.bytes.len() as i32 + 6);
    code.raw(&[0x0F, 0x85]); // jnz
    code.raw(&back.to_le_bytes());
    frame.stops.iter().for_each(|at| code.land(base + at));
    if frame.lazy {
        float_mode(code, frame.pool, false);
    }
    if slots > 0 {
        code.raw(&[0x4C, 0x89, 0xC4]); // mov rsp, r8
    }
    code.raw(&[0xC5, 0xF8, 0x77, 0x5B, 0xC3]); // vzeroupper; pop rbx; ret
    code.bytes.resize(code.bytes.len().next_multiple_of(32), 0xCC);
}

/// Lets denormal operands count as zeros, or restores the mode of the caller from the first place on the stack.
pub fn float_mode(code: &mut Code, pool: &mut Pool, lazy: bool) {
    if lazy {
        // Round to nearest, no traps, no flush of results.
        let at = pool.word(0x1F80 | 1 << 6);
        code.raw(&[0x0F, 0xAE, 0x96]); // ldmxcsr [rsi + at]
        code.raw(&at.to_le_bytes());
    } else {
        code.raw(&[0x0F, 0xAE, 0x11]); // ldmxcsr [rcx]
    }
}
