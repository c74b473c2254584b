//! What is known of a region: which operations may be bare, what has to be watched for it, and what may be wrong then.

use rustc_hash::{FxHashMap, FxHashSet};

use super::doubt::{Doubt, Taking, doubts, numbers, taking};
use super::flat::{Flat, Item, Kind, OUTSIDE};
use super::range::{NORMAL, Range};
use super::{LEAST, Live};
use crate::ir::{Builtin, LaneInst, Operand, Reg};
use crate::isa::LaneOp;
use crate::isa::lane::{Class, Numeric};

/// Least exponent of the products of sums: their last bits are then no denormals.
const PRODUCT: i32 = NORMAL + 23;
/// Numbers that are watched.
const WATCHED: Range = Range::from(LEAST);

/// How an operation is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As it is.
    Full,
    /// By a bare operation; of a multiply-add, both.
    Bare,
    /// A multiply-add of which only the product is bare.
    BareProduct,
    /// A flush of what is no denormal.
    Move,
}

/// The findings.
pub(super) struct Analysis {
    /// By item.
    pub forms: Vec<Form>,
    /// Registers of which every number in the region is watched.
    pub watched: FxHashSet<Reg>,
    /// Registers of which the number at entry is watched.
    pub entry: Vec<Reg>,
    /// Registers that must not become NaN.
    pub numbers: FxHashSet<Reg>,
    /// Registers that live on and may be wrong if the watch saw something, with the doubt that is left if not.
    pub results: Vec<(Reg, Doubt)>,
    /// By control flow: a loop that might end in another round.
    pub guarded: Vec<bool>,
    /// Instructions saved, weighted by loops.
    pub gain: i64,
}

struct Pass<'a> {
    flat: &'a Flat<'a>,
    live: &'a Live,
    /// Operations that are worth it, by item.
    wanted: Vec<bool>,
    watched: FxHashSet<Reg>,
    /// Registers whose entry is watched.
    entry: FxHashSet<Reg>,
    ranges: FxHashMap<Reg, Range>,
}

/// How each operation of a whole program may be written, whatever the numbers.
pub(super) fn sure(flat: &Flat) -> Vec<Form> {
    // All registers start as zeros.
    let live = Live { before: FxHashSet::default(), behind: Vec::new(), written: Vec::new() };
    let mut pass = Pass::new(flat, &live, vec![false; flat.items.len()]);
    pass.find_ranges();
    pass.forms()
}

impl Analysis {
    pub fn of(flat: &Flat, live: &Live) -> Option<Self> {
        let wanted = wanted(flat);
        if !wanted.contains(&true) {
            return None;
        }
        let mut entry = FxHashSet::default();
        for (item, wanted) in flat.items.iter().zip(&wanted) {
            if let (Kind::Lane(_), true) = (&item.kind, wanted) {
                item.kind.reads(|reg| {
                    if live.before.contains(&reg) {
                        entry.insert(reg);
                    }
                });
            }
        }
        let nothing = vec![false; wanted.len()];
        // Without any watch: what is so in any case.
        let mut sure = Pass::new(flat, live, nothing);
        sure.find_ranges();
        let sure = sure.forms();
        let mut pass = Pass { entry, ..Pass::new(flat, live, wanted) };
        pass.watch();
        let forms = pass.forms();
        let Pass { watched, mut entry, .. } = pass;
        entry.extend(watched.iter().filter(|reg| live.before.contains(reg)));
        let mut entry: Vec<Reg> = entry.into_iter().collect();
        entry.sort_unstable();
        let doubts = doubts(flat, &forms);
        let (tainted, guarded) = tainted(flat, &forms, &sure);
        let numbers = numbers(flat, &doubts);
        let of = |reg: &Reg| doubts.get(reg).copied().unwrap_or(Doubt::None);
        let results: Vec<_> =
            live.behind.iter().filter(|reg| tainted.contains(reg)).map(|reg| (*reg, of(reg))).collect();
        let mut this = Self { forms, watched, entry, numbers, results, guarded, gain: 0 };
        this.gain = this.judge(flat);
        Some(this)
    }

    /// Instructions saved. A bare product saves the test for zeros and the flush, a sum the flush.
    fn judge(&self, flat: &Flat) -> i64 {
        let mut gain = -8 - 2 * self.entry.len() as i64;
        for (_, doubt) in &self.results {
            gain -= if *doubt == Doubt::None { 1 } else { 6 };
        }
        for (item, form) in flat.items.iter().zip(&self.forms) {
            let weight = 8i64.pow(item.depth.min(6));
            gain += weight * saved(item, *form);
            item.kind.writes(|reg| {
                gain -= 2 * weight * i64::from(self.watched.contains(&reg));
                gain -= 2 * weight * i64::from(self.numbers.contains(&reg));
            });
        }
        for (control, guarded) in flat.controls.iter().zip(&self.guarded) {
            if *guarded {
                let mut depth = 1;
                let mut parent = control.parent;
                while parent != OUTSIDE {
                    depth += u32::from(flat.controls[parent].is_loop);
                    parent = flat.controls[parent].parent;
                }
                gain -= 3 * 8i64.pow(depth.min(6));
            }
        }
        gain
    }
}

/// Instructions that a form saves.
pub(super) fn saved(item: &Item, form: Form) -> i64 {
    let Kind::Lane(inst) = &item.kind else { return 0 };
    match (form, inst.op) {
        (Form::Full, _) => 0,
        (Form::Move, _) | (_, LaneOp::Add | LaneOp::Sub | LaneOp::MulIeee) => 3,
        (Form::Bare, LaneOp::Mad) => 9,
        (Form::Bare | Form::BareProduct, LaneOp::Mul | LaneOp::Mad) => 6,
        (Form::Bare, _) => 6,
        (Form::BareProduct, _) => 3,
    }
}

/// Whether a processor has another product in the place of an operation's.
pub(super) fn is_product(op: LaneOp) -> bool {
    use Numeric as N;
    let product = matches!(op.numeric(), N::Product | N::IeeeProduct | N::ProductSum | N::IeeeProductSum);
    product && op.native().is_some()
}

/// Whether the product of an operation is +0 for any zero.
pub(super) fn zero_rule(op: LaneOp) -> bool {
    matches!(op.numeric(), Numeric::Product | Numeric::ProductSum)
}

/// Products whose doubts nobody reads bit for bit, where the region spends its time.
fn wanted(flat: &Flat) -> Vec<bool> {
    let lanes = || {
        flat.items.iter().filter_map(|item| match &item.kind {
            Kind::Lane(inst) => Some((*inst, item.depth)),
            _ => None,
        })
    };
    // Registers whose bits somebody reads: nothing that they come from may be in doubt.
    let mut exact: FxHashSet<Reg> = FxHashSet::default();
    let demand = |operand: &Operand, exact: &mut FxHashSet<Reg>| match operand {
        Operand::Reg(reg) => exact.insert(*reg),
        _ => false,
    };
    for item in &flat.items {
        match &item.kind {
            Kind::Lane(inst) => {
                // A 64-bit argument takes two words; those are taken bit for bit.
                for (place, arg) in inst.args.iter().enumerate() {
                    if taking(inst.op, place) == Taking::Bits {
                        demand(arg, &mut exact);
                    }
                }
            }
            kind => kind.reads(|reg| {
                exact.insert(reg);
            }),
        }
    }
    loop {
        let mut changed = false;
        for (inst, _) in lanes() {
            if !inst.dst.iter().any(|reg| exact.contains(reg)) {
                continue;
            }
            for (place, arg) in inst.args.iter().enumerate() {
                if matches!(taking(inst.op, place), Taking::Passes | Taking::Number) {
                    changed |= demand(arg, &mut exact);
                }
            }
        }
        if !changed {
            break;
        }
    }
    let deepest = lanes().filter(|(inst, _)| is_product(inst.op)).map(|(_, depth)| depth).max();
    let flat_products = lanes().filter(|(inst, depth)| is_product(inst.op) && *depth == 0).count();
    flat.items
        .iter()
        .map(|item| match &item.kind {
            Kind::Lane(inst) if is_product(inst.op) => {
                let allowed = !zero_rule(inst.op) || !exact.contains(&inst.dst[0]);
                let hot = item.depth > 0 || deepest == Some(0) || flat_products >= 32;
                allowed && hot
            }
            _ => false,
        })
        .collect()
}

impl<'a> Pass<'a> {
    fn new(flat: &'a Flat<'a>, live: &'a Live, wanted: Vec<bool>) -> Self {
        Self {
            flat,
            live,
            wanted,
            watched: FxHashSet::default(),
            entry: FxHashSet::default(),
            ranges: FxHashMap::default(),
        }
    }

    fn range(&self, operand: Operand) -> Range {
        match operand {
            Operand::Imm(bits) => Range::of_word(bits),
            Operand::Reg(reg) => self.ranges.get(&reg).copied().unwrap_or(Range::WORD),
            // Whole numbers, or with a half.
            Operand::Builtin(Builtin::Position(_)) => Range { least: -1, unit: -1 },
            Operand::Builtin(_) | Operand::Const { .. } => Range::WORD,
        }
    }

    /// The range of what a lane operation gives.
    fn result(&self, inst: &LaneInst) -> Range {
        use Numeric as N;
        let arg = |place: usize| self.range(inst.args[place]);
        let any = |from: usize| {
            inst.args[from..].iter().map(|arg| self.range(*arg)).reduce(Range::or).unwrap_or(Range::WORD)
        };
        let product = || {
            let exact = arg(0).product(arg(1));
            if exact.is_normal() { exact } else { Range::FLUSHED }
        };
        let sum = |a: Range, b: Range| {
            let exact = a.sum(b);
            if exact.is_normal() { exact } else { Range::FLUSHED }
        };
        match inst.op.numeric() {
            N::Moves if inst.op == LaneOp::Flush => arg(0).flushed(),
            N::Moves | N::Negates | N::Magnitude => arg(0),
            N::Chooses => any(1),
            N::Limits => any(0),
            N::Sum | N::Difference => sum(arg(0), arg(1)),
            N::Product | N::IeeeProduct => product(),
            N::ProductSum | N::IeeeProductSum => sum(product(), arg(2)),
            _ if inst.op == LaneOp::Saturate => arg(0).or(Range::WHOLE),
            _ if inst.op.is_whole() => Range::WHOLE,
            _ if inst.op.result() == Class::F => Range::FLUSHED,
            _ => Range::WORD,
        }
    }

    /// Ranges of all registers, from what is watched.
    fn find_ranges(&mut self) {
        self.ranges.clear();
        for item in &self.flat.items {
            item.kind.writes(|reg| _ = self.ranges.insert(reg, Range::ZEROS));
        }
        for reg in &self.live.before {
            let watched = self.entry.contains(reg) || self.watched.contains(reg);
            let at_entry = if watched { WATCHED } else { Range::WORD };
            self.ranges.insert(*reg, at_entry);
        }
        loop {
            let mut changed = false;
            for item in &self.flat.items {
                let range = match &item.kind {
                    Kind::Lane(inst) => self.result(inst),
                    _ => Range::WORD,
                };
                item.kind.writes(|reg| {
                    let range = if self.watched.contains(&reg) { WATCHED } else { range };
                    let before = self.ranges.get(&reg).copied().unwrap_or(Range::ZEROS);
                    let joined = before.or(range);
                    if joined != before {
                        self.ranges.insert(reg, joined);
                        changed = true;
                    }
                });
            }
            if !changed {
                return;
            }
        }
    }

    /// By register: the one whose number it has, perhaps with another sign, wherever it is read.
    fn sources(&self) -> FxHashMap<Reg, Option<Reg>> {
        let mut sources = FxHashMap::default();
        for item in &self.flat.items {
            let source = match &item.kind {
                Kind::Lane(inst) if inst.op != LaneOp::Flush => match (inst.op.numeric(), inst.args[0]) {
                    (Numeric::Moves | Numeric::Negates | Numeric::Magnitude, Operand::Reg(source)) => {
                        Some(source)
                    }
                    _ => None,
                },
                _ => None,
            };
            item.kind.writes(|reg| {
                let only = !sources.contains_key(&reg) && !self.live.before.contains(&reg);
                sources.insert(reg, source.filter(|_| only));
            });
        }
        sources
    }

    /// By register: loops around its definitions, at most.
    fn depths(&self) -> FxHashMap<Reg, u32> {
        let mut depths: FxHashMap<Reg, u32> = FxHashMap::default();
        for item in &self.flat.items {
            item.kind.writes(|reg| {
                let depth = depths.entry(reg).or_default();
                *depth = item.depth.max(*depth);
            });
        }
        depths
    }

    /// Finds what must be watched for the products that are wanted, and for sums with what was computed before a loop.
    fn watch(&mut self) {
        let sources = self.sources();
        let depths = self.depths();
        loop {
            self.find_ranges();
            let mut more = Vec::new();
            // Sums whose addend has been asked for: they are good when that is.
            let mut follows: FxHashSet<Reg> = FxHashSet::default();
            for (item, wanted) in self.flat.items.iter().zip(&self.wanted) {
                let Kind::Lane(inst) = &item.kind else { continue };
                let mut ask = |operand: Operand| {
                    if let Operand::Reg(mut reg) = operand {
                        let mut steps = 0;
                        while let Some(Some(source)) = sources.get(&reg).filter(|_| steps < 8) {
                            reg = *source;
                            steps += 1;
                        }
                        if !self.watched.contains(&reg) && !follows.contains(&reg) {
                            more.push(reg);
                        }
                    }
                };
                if matches!(inst.op, LaneOp::Add | LaneOp::Sub) {
                    for arg in &inst.args {
                        if let Operand::Reg(reg) = arg
                            && self.range(*arg).unit < NORMAL
                            && depths.get(reg).copied().unwrap_or(0) < item.depth
                        {
                            ask(*arg);
                        }
                    }
                }
                if !wanted {
                    continue;
                }
                let (a, b) = (self.range(inst.args[0]), self.range(inst.args[1]));
                if a.product(b).least < PRODUCT {
                    if a.least <= b.least || b.least >= LEAST {
                        ask(inst.args[0]);
                    }
                    if b.least <= a.least || a.least >= LEAST {
                        ask(inst.args[1]);
                    }
                } else if let Some(addend) = inst.args.get(2)
                    && self.range(*addend).unit < NORMAL
                {
                    ask(*addend);
                    follows.insert(inst.dst[0]);
                }
            }
            if more.is_empty() {
                return;
            }
            self.watched.extend(more);
        }
    }

    /// How each item is written.
    fn forms(&self) -> Vec<Form> {
        let form = |(item, wanted): (&Item, &bool)| {
            let Kind::Lane(inst) = &item.kind else { return Form::Full };
            let range = |place: usize| self.range(inst.args[place]);
            let exact = |a: Range, b: Range| a.is_normal() && b.is_normal() && a.sum(b).is_normal();
            match inst.op {
                LaneOp::Flush if self.watched.contains(&inst.dst[0]) || range(0).is_normal() => Form::Move,
                LaneOp::Add | LaneOp::Sub if exact(range(0), range(1)) => Form::Bare,
                LaneOp::MulIeee if range(0).is_normal() && range(0).product(range(1)).is_normal() => {
                    Form::Bare
                }
                op if *wanted && is_product(op) => {
                    let product = range(0).product(range(1));
                    if product.least < PRODUCT {
                        Form::Full
                    } else if inst.args.len() < 3 || exact(product, range(2)) {
                        Form::Bare
                    } else {
                        Form::BareProduct
                    }
                }
                _ => Form::Full,
            }
        };
        self.flat.items.iter().zip(&self.wanted).map(form).collect()
    }
}

/// Registers that depend on what is bare or watched, and the loops that run, or go on, because of them.
fn tainted(flat: &Flat, forms: &[Form], sure: &[Form]) -> (FxHashSet<Reg>, Vec<bool>) {
    let mut registers: FxHashSet<Reg> = FxHashSet::default();
    // Whether its statements run, and whether rounds may be more or fewer.
    let mut controls = vec![false; flat.controls.len()];
    let mut loops = vec![false; flat.controls.len()];
    let is = |operand: &Operand, registers: &FxHashSet<Reg>| matches!(operand, Operand::Reg(reg) if registers.contains(reg));
    loop {
        let mut changed = false;
        for (k, control) in flat.controls.iter().enumerate() {
            let around = control.parent != OUTSIDE && controls[control.parent];
            let tested = control.tested.is_some_and(|operand| is(&operand, &registers));
            let leaves = control.exits.iter().any(|(cond, at)| {
                let mut at = *at;
                let mut under = false;
                while at != k && at != OUTSIDE {
                    under |= controls[at];
                    at = flat.controls[at].parent;
                }
                under || cond.is_some_and(|operand| is(&operand, &registers))
            });
            changed |= leaves && !loops[k] || (around || tested || leaves) && !controls[k];
            loops[k] |= leaves;
            controls[k] |= around || tested || leaves;
        }
        for ((item, form), sure) in flat.items.iter().zip(forms).zip(sure) {
            let mut found = form != sure || item.control != OUTSIDE && controls[item.control];
            item.kind.reads(|reg| found |= registers.contains(&reg));
            if found {
                item.kind.writes(|reg| changed |= registers.insert(reg));
            }
        }
        if !changed {
            break;
        }
    }
    // A loop that is entered by mistake may be one that would not end.
    let guarded =
        flat.controls.iter().zip(controls).map(|(control, found)| control.is_loop && found).collect();
    (registers, guarded)
}
