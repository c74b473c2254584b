//! Operations packed to VLIW instructions.

use super::*;

/// How far ahead of the first open VLIW instruction a free slot is looked for.
const WINDOW: usize = 64;

/// Packs the operations of a basic block, as early as their operands allow.
#[derive(Default)]
pub(super) struct Bundles {
    /// VLIW instructions of closed blocks.
    pub(super) total: u32,
    /// Used general slots, and whether the transcendental one is taken, of each instruction of the open block.
    pub(super) bundles: Vec<(u32, bool)>,
    /// By register: the instruction after the one that computes it, counted over all blocks.
    pub(super) ready: Vec<u32>,
    pub(super) slots: u32,
}

impl Bundles {
    pub(super) fn close(&mut self) {
        self.total += self.bundles.len() as u32;
        self.bundles.clear();
    }

    fn earliest(&self, inst: &LaneInst) -> u32 {
        let ready = |operand: &Operand| match operand {
            Operand::Reg(reg) => self.ready[*reg as usize],
            _ => 0,
        };
        inst.args.iter().map(ready).max().unwrap_or(0).max(self.total)
    }

    fn finish(&mut self, inst: &LaneInst, at: u32) {
        for reg in inst.dst {
            self.ready[reg as usize] = at;
        }
    }

    pub(super) fn pass_on(&mut self, inst: &LaneInst) {
        let at = self.earliest(inst);
        self.finish(inst, at);
    }

    pub(super) fn place(&mut self, inst: &LaneInst, width: u32, transcendental: bool) {
        // Five slots: four general ones and a transcendental one that takes anything. Four slots: a
        // transcendental operation occupies three.
        let five = self.slots == 5;
        let first = (self.earliest(inst) - self.total) as usize;
        let first = first.max(self.bundles.len().saturating_sub(WINDOW));
        let width = if transcendental && !five { 3 } else { width };
        let mut at = first;
        loop {
            while at >= self.bundles.len() {
                self.bundles.push((0, false));
            }
            let (used, taken) = &mut self.bundles[at];
            if transcendental && five {
                if !*taken {
                    *taken = true;
                    break;
                }
            } else if *used + width <= 4 {
                *used += width;
                break;
            } else if five && width == 1 && !*taken {
                *taken = true;
                break;
            }
            at += 1;
        }
        self.finish(inst, self.total + at as u32 + 1);
    }
}
