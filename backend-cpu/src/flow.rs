//! Runs a wave: walks the flat operations, keeps the mask of executing lanes, stops at barriers.
//!
//! Lanes leave a construct by way of three masks (broken, returned, killed); the end of each construct
//! lets go on whoever entered it and is in none of them. A side without lanes is jumped over.

use recal_il::ir::Fence;
use recal_jit::Function;

use crate::context::Context;
use crate::memory;
use crate::op::{Code, Frame, Op, RowId, Step, Test};
use crate::wave::{Mask, Row, Wave, nonzero};

/// Why a wave stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All its threads are done.
    Ended,
    /// It waits for the other waves of its group.
    Barrier,
    /// The launch was told to stop.
    Stopped,
}

/// Executing lanes for which the condition holds.
#[inline(always)]
fn holds(wave: &Wave, test: Test) -> Mask {
    let set = if test.done { wave.tested } else { nonzero(&wave.rows[test.row as usize]) };
    wave.exec & if test.nonzero { set } else { !set }
}

#[inline(always)]
fn holds_or_all(wave: &Wave, test: Option<Test>) -> Mask {
    test.map_or(wave.exec, |test| holds(wave, test))
}

/// Takes `leaving` out of the executing lanes; the next operation, or `skip` if nobody is left.
#[inline(always)]
fn leave(wave: &mut Wave, leaving: Mask, next: usize, skip: u32) -> usize {
    if leaving == 0 {
        return next;
    }
    let rest = wave.exec & !leaving;
    wave.set_exec(rest);
    if rest == 0 { skip as usize } else { next }
}

/// Goes on after a construct with the lanes in `exec`.
#[inline(always)]
fn close(wave: &mut Wave, exec: Mask, next: usize, skip: u32) -> usize {
    wave.set_exec(exec);
    if exec == 0 { skip as usize } else { next }
}

/// Runs a lane operation, then gives the lanes that do not execute their old values back.
#[inline(always)]
fn masked<const WRITES: usize>(wave: &mut Wave, step: Step, ids: &[RowId]) {
    let mut old = [Row::ZERO; WRITES];
    let written = &ids[..WRITES];
    for (old, &id) in old.iter_mut().zip(written) {
        *old = wave.rows[id as usize];
    }
    step.handler.call(&mut wave.rows, ids);
    let exec = wave.exec_row();
    for (old, &id) in old.iter().zip(written) {
        let new = &mut wave.rows[id as usize].0;
        for ((word, &old), &mask) in new.iter_mut().zip(&old.0).zip(&exec.0) {
            *word = *word & mask | old & !mask;
        }
    }
}

/// The fence is of memory that other groups see.
pub fn orders(fence: Fence) -> bool {
    !fence.difference(Fence::THREADS | Fence::LDS | Fence::SHARED).is_empty()
}

/// Calls a compiled function; true if the launch is to stop.
#[inline(always)]
fn native(wave: &mut Wave, function: Function, context: &mut Context<'_>) -> bool {
    let Some(compiled) = &context.compiled else { return false };
    let ticks = &mut context.native_ticks;
    let mut called = [recal_jit::Wave::new(&mut wave.rows, wave.exec)];
    let mut called = recal_jit::Waves::new(&mut called);
    compiled.call(&function, &mut called, 0..1, wave.full, ticks, &mut context.mode);
    wave.tested = called.tested(0);
    ticks.stopped()
}

/// Runs `wave` from where it is. The frames match the operations by construction of the loader.
#[inline(always)]
pub fn run(wave: &mut Wave, code: &Code, context: &mut Context<'_>) -> Outcome {
    let launch = context.launch;
    let body = launch.body;
    let mut pc = wave.pc;
    loop {
        let next = pc + 1;
        pc = match &body.ops[pc] {
            Op::Lanes { first, end } => {
                context.mode.leave();
                for step in &code.steps[*first as usize..*end as usize] {
                    let ids = &code.operands[step.first as usize..][..usize::from(step.count)];
                    if wave.full {
                        step.handler.call(&mut wave.rows, ids);
                    } else {
                        match step.writes {
                            1 => masked::<1>(wave, *step, ids),
                            2 => masked::<2>(wave, *step, ids),
                            4 => masked::<4>(wave, *step, ids),
                            8 => masked::<8>(wave, *step, ids),
                            writes => unreachable!("a lane operation writes {writes} rows"),
                        }
                    }
                }
                next
            }
            Op::Native(function) => {
                if native(wave, *function, context) {
                    return Outcome::Stopped;
                }
                next
            }
            Op::Memory(index) => {
                context.mode.leave();
                memory::access(wave, &code.memory[*index as usize], context);
                next
            }
            Op::If { cond, otherwise } => {
                let taken = holds(wave, *cond);
                let outer = wave.exec;
                wave.frames.push(Frame::If { outer, otherwise: outer & !taken });
                if taken != outer {
                    wave.set_exec(taken);
                }
                if taken == 0 { *otherwise as usize } else { next }
            }
            Op::Else { end } => {
                let lanes = match wave.frames.last() {
                    Some(Frame::If { otherwise, .. }) => *otherwise,
                    frame => unreachable!("else of {frame:?}"),
                };
                close(wave, lanes, next, *end)
            }
            Op::EndIf { skip } => match wave.frames.pop() {
                Some(Frame::If { outer, .. }) => {
                    let exec = wave.still(outer);
                    if exec == wave.exec && exec != 0 { next } else { close(wave, exec, next, *skip) }
                }
                frame => unreachable!("endif of {frame:?}"),
            },
            Op::Loop => {
                wave.frames.push(Frame::Loop { outer: wave.exec, broken: wave.broken });
                wave.broken = 0;
                next
            }
            Op::EndLoop { body, skip } => {
                let Some(Frame::Loop { outer, broken }) = wave.frames.last().copied() else {
                    unreachable!("endloop without its loop")
                };
                let live = wave.still(outer);
                if live != 0 {
                    if live != wave.exec {
                        wave.set_exec(live);
                    }
                    if context.tick() {
                        return Outcome::Stopped;
                    }
                    *body as usize
                } else {
                    wave.frames.pop();
                    wave.broken = broken;
                    let exec = wave.still(outer);
                    close(wave, exec, next, *skip)
                }
            }
            Op::Break { cond, skip } => {
                let leaving = holds_or_all(wave, *cond);
                wave.broken |= leaving;
                leave(wave, leaving, next, *skip)
            }
            Op::Call { target, cond } => {
                let called = holds_or_all(wave, *cond);
                if called == 0 {
                    next
                } else {
                    wave.frames.push(Frame::Call { outer: wave.exec, broken: wave.broken, back: next });
                    wave.broken = 0;
                    wave.set_exec(called);
                    // Functions without loops call each other more often than anyone waits for.
                    if context.tick() {
                        return Outcome::Stopped;
                    }
                    *target as usize
                }
            }
            Op::EndFunction => {
                let Some(Frame::Call { outer, broken, back }) = wave.frames.pop() else {
                    unreachable!("end of a function that was not called")
                };
                wave.broken = broken;
                let exec = wave.still(outer);
                wave.set_exec(exec);
                back
            }
            Op::Return { cond, skip } => {
                let leaving = holds_or_all(wave, *cond);
                wave.returned |= leaving;
                leave(wave, leaving, next, *skip)
            }
            Op::Discard { cond, skip } => {
                let leaving = holds(wave, *cond);
                wave.killed |= leaving;
                leave(wave, leaving, next, *skip)
            }
            Op::Fence(fence) => {
                if orders(*fence) {
                    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
                }
                if fence.contains(Fence::THREADS) && context.group_waves > 1 {
                    wave.pc = next;
                    return Outcome::Barrier;
                }
                next
            }
            Op::End => return Outcome::Ended,
        };
    }
}
