//! Accesses by which threads of a group may talk to each other, and what is known of their addresses.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::visit::{calls, destinations_of, order, written};
use crate::inst::GroupSize;
use crate::ir::WAVE;
use crate::ir::{
    Area, AtomicAddress, Block, Builtin, LaneInst, LaneOp, MemoryInst, Operand, Program, Reg, Space, Stmt,
    StmtKind, ThreadId, Width,
};

/// A word that is `own * (number of the thread in its group) + rest`, and at most `spread` more, plus multiples of what is
/// the same for a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    own: i64,
    rest: i64,
    spread: i64,
    /// Of group number times threads, flat and in x.
    groups: [i64; 2],
}

/// An access to memory that threads share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub area: Area,
    pub writes: bool,
    /// Byte address, if it is known, and bytes.
    form: Option<Form>,
    bytes: i64,
    /// Function and position in the text.
    pub function: usize,
    pub place: usize,
    /// The outermost loop around.
    pub turns: Option<usize>,
}

impl Access {
    /// Whether its bytes are known, and others for each thread.
    pub fn is_apart(&self) -> bool {
        self.form.is_some_and(|form| form.own != 0)
    }

    /// Whether one writes what the other, of another thread of the wave, may touch.
    pub fn meets(&self, other: &Self, threads: u32) -> bool {
        if self.area != other.area || !(self.writes || other.writes) {
            return false;
        }
        let (Some(a), Some(b)) = (self.form, other.form) else { return true };
        if a.groups != b.groups {
            return true;
        }
        if threads > WAVE && a.own != b.own {
            // What threads of another wave than the first do is not looked at.
            return true;
        }
        let n = i64::from(threads.min(WAVE));
        let overlap = |s: i64, t: i64| {
            let (first, second) = (a.own * s + a.rest, b.own * t + b.rest);
            first < second + b.spread + other.bytes && second < first + a.spread + self.bytes
        };
        if a.own == b.own && a.own > 0 {
            // Only the distance between the threads counts, and few are near.
            let (apart, reach) = (a.rest - b.rest, a.spread.max(b.spread) + self.bytes.max(other.bytes));
            let (least, most) = ((apart - reach) / a.own - 1, (apart + reach) / a.own + 1);
            return (least.max(1 - n)..=most.min(n - 1)).any(|d| d != 0 && overlap(0, d));
        }
        (0..n).any(|s| (0..n).any(|t| s != t && overlap(s, t)))
    }

    /// Whether two accesses are the same as far as others are concerned.
    pub fn same(&self, other: &Self) -> bool {
        (self.area, self.writes, self.form, self.bytes) == (other.area, other.writes, other.form, other.bytes)
    }
}

/// All accesses of a program, by statement.
pub(super) fn accesses(program: &Program) -> FxHashMap<*const Stmt, Access> {
    let flat = matches!(program.interface.group, Some(GroupSize::Exact([_, 1, 1])));
    let mut finder = Finder {
        program,
        flat,
        forms: FxHashMap::default(),
        found: FxHashMap::default(),
        entries: FxHashMap::default(),
        function: 0,
        place: 0,
    };
    // Callers before what they call: a function begins with what holds wherever it is called.
    for number in order(&program.functions).into_iter().rev() {
        finder.function = number;
        finder.forms = finder.entries.remove(&number).unwrap_or_default();
        finder.block(&program.functions[number].body, None);
    }
    finder.found
}

/// Accesses that are alike: one, with where it is done.
struct Kind<'a> {
    /// The first of them.
    first: &'a Access,
    /// The place of the last one.
    last: usize,
    /// The outermost loops around them.
    turns: Vec<usize>,
    /// One is in another function than main: statements there follow in any order.
    called: bool,
    /// It may be done more than once.
    again: bool,
}

/// Areas by which threads may tell each other something.
pub(super) fn areas(accesses: &FxHashMap<*const Stmt, Access>, threads: u32) -> FxHashSet<Area> {
    let mut all: Vec<&Access> = accesses.values().collect();
    all.sort_by_key(|access| (access.function, access.place));
    let mut kinds: Vec<Kind<'_>> = Vec::new();
    for access in all {
        let known = kinds.iter_mut().find(|kind| kind.first.same(access));
        let (turns, called) = (access.turns, access.function > 0);
        match known {
            Some(kind) => {
                (kind.last, kind.again) = (access.place, true);
                kind.turns.extend(turns);
                kind.called |= called;
            }
            None => {
                let again = turns.is_some() || called;
                let turns = turns.into_iter().collect();
                kinds.push(Kind { first: access, last: access.place, turns, called, again });
            }
        }
    }
    let mut found = FxHashSet::default();
    for (k, one) in kinds.iter().enumerate() {
        let area = one.first.area;
        if one.again && one.first.meets(one.first, threads) && matches!(area, Area::Lds(_)) {
            found.insert(area);
        }
        for other in &kinds[k + 1..] {
            if found.contains(&area) || !one.first.meets(other.first, threads) {
                continue;
            }
            // Of global memory, what is loaded after it was stored.
            let told = || {
                let (store, load) = if one.first.writes { (one, other) } else { (other, one) };
                let looped = store.turns.iter().any(|turns| load.turns.contains(turns));
                let any_order = looped || store.called || load.called;
                !load.first.writes && (any_order || store.first.place < load.last)
            };
            if !area.is_global() || told() {
                found.insert(area);
            }
        }
    }
    found
}

struct Finder<'a> {
    program: &'a Program,
    /// Groups have one dimension.
    flat: bool,
    /// What registers hold at the current point.
    forms: FxHashMap<Reg, Form>,
    found: FxHashMap<*const Stmt, Access>,
    /// What registers hold where functions are called.
    entries: FxHashMap<usize, FxHashMap<Reg, Form>>,
    function: usize,
    place: usize,
}

/// Numbers beyond which words may wrap around.
const FAR: i64 = 1 << 24;

impl Finder<'_> {
    fn form(&self, operand: &Operand) -> Option<Form> {
        let plain = |own, rest, groups| Some(Form { own, rest, spread: 0, groups });
        match operand {
            Operand::Imm(word) => plain(0, i64::from(*word), [0; 2]),
            Operand::Reg(register) => self.forms.get(register).copied(),
            Operand::Builtin(Builtin::Thread(ThreadId::InGroupFlat, _)) => plain(1, 0, [0; 2]),
            Operand::Builtin(Builtin::Thread(ThreadId::InGroup, 0)) if self.flat => plain(1, 0, [0; 2]),
            Operand::Builtin(Builtin::Thread(ThreadId::AbsoluteFlat, _)) => plain(1, 0, [1, 0]),
            Operand::Builtin(Builtin::Thread(ThreadId::Absolute, 0)) if self.flat => plain(1, 0, [0, 1]),
            _ => None,
        }
    }

    /// What a lane operation gives.
    fn result(&self, inst: &LaneInst) -> Option<Form> {
        let form = |k: usize| self.form(inst.args.get(k)?);
        // The low 24 bits are all of it, whatever the thread.
        let short = |k: usize| {
            form(k).filter(|f| {
                f.groups == [0; 2]
                    && f.own >= 0
                    && f.rest >= 0
                    && f.own * i64::from(WAVE) + f.rest + f.spread < FAR
            })
        };
        let number = |f: Form| (f.own == 0 && f.spread == 0 && f.groups == [0; 2]).then_some(f.rest);
        let times = |f: Form, n: i64| Form {
            own: f.own * n,
            // Constants have 32 bits each.
            rest: f.rest.saturating_mul(n).saturating_add((f.spread * n).min(0)),
            spread: f.spread * n.abs(),
            groups: f.groups.map(|g| g * n),
        };
        let up_to = |spread| Form { own: 0, rest: 0, spread, groups: [0; 2] };
        let plus = |a: Form, b: Form| Form {
            own: a.own + b.own,
            rest: a.rest.saturating_add(b.rest),
            spread: a.spread + b.spread,
            groups: [a.groups[0] + b.groups[0], a.groups[1] + b.groups[1]],
        };
        let product = |a: Form, b: Form| match (number(a), number(b)) {
            (_, Some(n)) => Some(times(a, n)),
            (Some(n), _) => Some(times(b, n)),
            _ => None,
        };
        let result = match inst.op {
            LaneOp::Mov => form(0)?,
            // Bits that are left of a negative number may be any.
            LaneOp::And => {
                let numbers = [form(0), form(1)].into_iter().flatten().filter_map(number);
                up_to(numbers.filter(|n| *n >= 0).min()?)
            }
            LaneOp::Ushr => up_to(i64::from(u32::MAX) >> number(form(1)?).filter(|n| (0..32).contains(n))?),
            LaneOp::Iadd => plus(form(0)?, form(1)?),
            LaneOp::Isub => plus(form(0)?, times(form(1)?, -1)),
            LaneOp::Ishl => times(form(0)?, 1 << number(form(1)?).filter(|n| (0..24).contains(n))?),
            LaneOp::Imul => product(form(0)?, form(1)?)?,
            LaneOp::Umul24 => product(short(0)?, short(1)?)?,
            LaneOp::Imad => plus(product(form(0)?, form(1)?)?, form(2)?),
            LaneOp::Umad24 => plus(product(short(0)?, short(1)?)?, form(2)?),
            _ => return None,
        };
        // Products and sums of words are what they seem to be as long as the parts are small. A group's number may be
        // anything: what it adds is the same for all, as long as the multiples of it are equal.
        let near = [result.own, result.rest, result.spread, result.groups[0], result.groups[1]]
            .iter()
            .all(|n| n.abs() < FAR);
        near.then_some(result)
    }

    fn forget(&mut self, block: &Block) {
        let forms = &mut self.forms;
        written(self.program, block, &mut |register| {
            forms.remove(&register);
        });
    }

    fn block(&mut self, block: &Block, turns: Option<usize>) {
        for statement in block {
            self.place += 1;
            match &statement.kind {
                StmtKind::Lane(inst) => {
                    let form = self.result(inst).filter(|_| inst.dst[0] == inst.dst[1]);
                    inst.dst.iter().for_each(|register| {
                        self.forms.remove(register);
                    });
                    if let Some(form) = form {
                        self.forms.insert(inst.dst[0], form);
                    }
                }
                StmtKind::Memory(inst) => {
                    if let Some(access) = self.access(inst, turns) {
                        self.found.insert(std::ptr::from_ref(statement), access);
                    }
                    destinations_of(inst).into_iter().for_each(|register| {
                        self.forms.remove(&register);
                    });
                }
                StmtKind::If { then, otherwise, .. } => {
                    let before = self.forms.clone();
                    self.block(then, turns);
                    self.forms.clone_from(&before);
                    self.block(otherwise, turns);
                    self.forms = before;
                    self.forget(then);
                    self.forget(otherwise);
                }
                StmtKind::Loop { body } => {
                    self.forget(body);
                    let before = self.forms.clone();
                    self.block(body, turns.or(Some(self.place)));
                    self.forms = before;
                }
                StmtKind::Switch { arms, .. } => {
                    arms.iter().for_each(|arm| self.forget(&arm.body));
                    let before = self.forms.clone();
                    for arm in arms {
                        self.block(&arm.body, turns);
                        self.forms.clone_from(&before);
                    }
                }
                StmtKind::Call { function, .. } => {
                    let here = &self.forms;
                    self.entries
                        .entry(*function)
                        .and_modify(|known| known.retain(|register, form| here.get(register) == Some(form)))
                        .or_insert_with(|| here.clone());
                    let mut all = vec![*function];
                    let mut at = 0;
                    while at < all.len() {
                        let body = &self.program.functions[all[at]].body;
                        self.forget(body);
                        calls(body, &mut |callee| {
                            if !all.contains(&callee) {
                                all.push(callee);
                            }
                        });
                        at += 1;
                    }
                }
                _ => {}
            }
        }
    }

    fn access(&self, inst: &MemoryInst, turns: Option<usize>) -> Option<Access> {
        let (area, writes) = (inst.effect().0, !inst.is_load());
        if !area.is_global() && !matches!(area, Area::Lds(_)) {
            return None;
        }
        let scaled = |form: Option<Form>, by: i64, offset: i64| {
            let form = form?;
            let groups = form.groups.map(|g| g * by);
            Some(Form { own: form.own * by, rest: form.rest * by + offset, spread: form.spread * by, groups })
        };
        let components =
            |present: [bool; 4]| (0..4).rev().find(|k| present[*k as usize]).map_or(4, |k| 4 * (k + 1));
        let size = |width: &Width, present: [bool; 4]| match width {
            Width::Dwords => components(present),
            Width::U8 | Width::I8 => 1,
            Width::U16 | Width::I16 => 2,
        };
        let (form, bytes) = match inst {
            MemoryInst::RawLoad { address, width, dst, .. } => {
                (self.form(address), size(width, dst.map(|d| d.is_some())))
            }
            MemoryInst::RawStore { address, width, src, .. } => {
                (self.form(address), size(width, src.map(|s| s.is_some())))
            }
            MemoryInst::Atomic { space: Space::Lds(_), address, wide, .. } => {
                let form = match address {
                    AtomicAddress::Byte(address) => self.form(address),
                    AtomicAddress::Texel(_) => None,
                };
                (form, if wide.is_some() { 8 } else { 4 })
            }
            MemoryInst::GlobalLoad { index, offset, .. } | MemoryInst::GlobalStore { index, offset, .. } => {
                (scaled(self.form(index), 16, 16 * i64::from(*offset)), 16)
            }
            MemoryInst::TypedLoad { .. } | MemoryInst::TypedStore { .. } => (None, 16),
            // Atomics of memory that others see are in some order whatever is done.
            _ => return None,
        };
        // The low bits of an address do not count.
        let unit = if bytes < 4 { bytes } else { 4 };
        let aligned = |form: &Form| {
            form.own % unit == 0 && form.rest % unit == 0 && form.groups.iter().all(|g| g % unit == 0)
        };
        let form = form.filter(aligned).map(|form| Form { spread: form.spread - form.spread % unit, ..form });
        Some(Access { area, writes, form, bytes, function: self.function, place: self.place, turns })
    }
}
