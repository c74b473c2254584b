//! Runs the waves of a group by stages, where nothing of a kernel is interpreted.

use std::ops::Range;

use recal_jit::{Function, Waves};

use crate::context::{Context, Launch};
use crate::flow::Outcome;
use crate::op::{Body, Guard, Stage};
use crate::repack;
use crate::wave::{self, LANES, launched, nonzero};

/// What is done for each group of a launch.
#[derive(Default)]
pub struct Plan(Vec<Act>);

enum Act {
    /// Calls a function for some of the waves; which of all it is, if it may leave lanes in a loop.
    Call(Function, Range<usize>, Option<usize>),
    /// As [`Stage::Barrier`].
    Barrier {
        orders: bool,
        turns: bool,
    },
    Jump(usize),
    JumpIf {
        nonzero: bool,
        to: usize,
    },
    Again(usize),
}

/// The launch is to stop.
struct Stopped;

impl Plan {
    /// For so many waves; `idle` is what [`idle`] says.
    pub fn new(body: &Body, waves: usize, idle: &[u64]) -> Plan {
        let stages = &body.stages;
        let mut acts = Vec::with_capacity(2 * stages.len());
        let mut begins = Vec::with_capacity(stages.len());
        let takes = |number: usize, wave: usize| {
            let idle = idle.get(number).copied().unwrap_or_default();
            idle.checked_shr(wave as u32).unwrap_or_default() & 1 == 0
        };
        for stage in stages {
            begins.push(acts.len());
            match *stage {
                Stage::Run(function, number) => {
                    let takes: Vec<usize> = (0..waves).filter(|wave| takes(number, *wave)).collect();
                    let runs = takes.chunk_by(|wave, next| wave + 1 == *next);
                    let repacks = matches!(body.repacks.get(number), Some(Some(_))).then_some(number);
                    acts.extend(runs.map(|run| Act::Call(function, run[0]..run[0] + run.len(), repacks)));
                }
                Stage::Barrier { orders, turns } => acts.push(Act::Barrier { orders, turns }),
                Stage::Jump(to) => acts.push(Act::Jump(to)),
                Stage::JumpIf { nonzero, to } => acts.push(Act::JumpIf { nonzero, to }),
                Stage::Again(to) => acts.push(Act::Again(to)),
            }
        }
        let end = acts.len();
        for act in &mut acts {
            if let Act::Jump(to) | Act::JumpIf { to, .. } | Act::Again(to) = act {
                *to = begins.get(*to).copied().unwrap_or(end);
            }
        }
        Plan(acts)
    }

    /// Waves may have to be run one after another.
    pub fn takes_turns(&self) -> bool {
        self.0.iter().any(|act| matches!(act, Act::Barrier { turns: true, .. }))
    }

    /// Runs waves that were just started to their end.
    pub fn run(&self, waves: &mut Waves<'_, '_>, context: &mut Context<'_>) -> Outcome {
        let (mut at, all) = (0, waves.len());
        while let Some(Act::Barrier { orders, turns }) = self.0.get(at) {
            order(*orders);
            let (from, together) = (at + 1, if *turns { 1 } else { all });
            // All of them come to the same barrier.
            for first in (0..all).step_by(together.max(1)) {
                match self.run_part(from, waves, first..first + together, context) {
                    Ok(barrier) => at = barrier,
                    Err(Stopped) => return Outcome::Stopped,
                }
            }
        }
        Outcome::Ended
    }

    /// Runs some of the waves to the next barrier that does not let all of them go on as they are, or to their end: where that is.
    #[inline(always)]
    fn run_part(
        &self,
        mut at: usize,
        waves: &mut Waves<'_, '_>,
        part: Range<usize>,
        context: &mut Context<'_>,
    ) -> Result<usize, Stopped> {
        let all = part.len() == waves.len();
        while let (Some(act), Some(code)) = (self.0.get(at), &context.compiled) {
            at += 1;
            match act {
                Act::Call(function, of, repacks) => {
                    let part = if all { of.clone() } else { part.start.max(of.start)..part.end.min(of.end) };
                    if let Some(repack) = repacks.and_then(|at| context.launch.body.repacks[at].as_ref()) {
                        if !part.is_empty() && repack::call(function, repack, waves, part, context) {
                            return Err(Stopped);
                        }
                    } else if !part.is_empty() {
                        let ticks = &mut context.native_ticks;
                        code.call(function, waves, part, true, ticks, &mut context.mode);
                        if ticks.stopped() {
                            return Err(Stopped);
                        }
                    }
                }
                Act::Barrier { orders, turns } => {
                    if !all || *turns && part.len() > 1 {
                        return Ok(at - 1);
                    }
                    order(*orders);
                }
                Act::Jump(to) => at = *to,
                // What the first thread says all say.
                Act::JumpIf { nonzero, to } if (waves.tested(part.start) & 1 == 1) == *nonzero => at = *to,
                Act::JumpIf { .. } => {}
                Act::Again(to) => {
                    if context.tick() {
                        return Err(Stopped);
                    }
                    at = *to;
                }
            }
        }
        Ok(at)
    }
}

/// What comes before is seen by what follows, if it is to be.
fn order(orders: bool) {
    if orders {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    }
}

/// The waves for which each function does nothing, whichever group they are of; their rows hold what all groups have in common.
pub fn idle(waves: &mut [wave::Wave], threads: u32, launch: &Launch<'_>) -> Vec<u64> {
    let code = launch.code;
    if launch.body.stages.is_empty() {
        return Vec::new();
    }
    let mut takes = |index: usize, guard: &Guard| {
        let rows = &mut waves[index].rows;
        for step in guard.steps.iter().map(|&number| code.steps[number as usize]) {
            step.handler.call(rows, &code.operands[step.first as usize..][..usize::from(step.count)]);
        }
        let set = nonzero(&rows[guard.row as usize]);
        (if guard.nonzero { set } else { !set }) & launched(threads, index) != 0
    };
    let count = threads.div_ceil(LANES as u32).min(u64::BITS) as usize;
    let idle = |guards: &Vec<Guard>| {
        let none = |index: &usize| !guards.is_empty() && !guards.iter().any(|guard| takes(*index, guard));
        (0..count).filter(none).fold(0, |idle, index| idle | 1 << index)
    };
    launch.body.guards.iter().map(idle).collect()
}
