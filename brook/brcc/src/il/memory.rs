//! Streams, arrays, positions: what turns places into addresses.
//!
//! With translation a stream of any shape lies row by row in two-dimensional memory: element n is in row n / width, column n mod
//! width. Without it the position is the place.

use super::asm::{Dst, Op, Reg};
use super::expr::{class, word_list, words};
use super::layout::{only_scatters, ruler};
use super::{Emitter, Usage};
use crate::hir::{Expr, ExprKind, ParamKind, Place};
use crate::types::{Class, Type};

/// True if the words of a place are the first of its register.
fn in_order(dst: &Dst) -> bool {
    dst.comps.iter().enumerate().all(|(at, comp)| usize::from(*comp) == at)
}

impl<'k> Emitter<'k> {
    /// Where this thread is, if anything asks.
    pub(crate) fn place(&mut self) {
        let kernel = self.kernel;
        let scatters = kernel.scatter().is_some();
        let guarded = self.translation && scatters;
        let asked = kernel.uses.instance || kernel.uses.indexof;
        if kernel.reduce || !(asked || guarded) {
            return;
        }
        if !self.translation {
            let half = self.asm.float(-0.5);
            let position = self.asm.temp(4);
            let xy = Dst { register: position.register, comps: vec![0, 1] };
            self.asm.each("add", &xy, &[&Op::new(Reg::Named("v0"), 2), &half]);
            let zw = Dst { register: position.register, comps: vec![2, 3] };
            let zero = self.asm.int(0);
            self.asm.mov(&zw, &zero);
            self.position.float = Some(position.op());
            if kernel.uses.instance {
                self.position.int = Some(self.asm.new_each("ftoi", 4, &[&position.op()]));
            }
            return;
        }
        let first = ruler(kernel).unwrap_or(0);
        let position = self.asm.temp(4);
        // Where an array that is stored to rules, its dimensions are known, and positions may lie behind it.
        let (index, extents, axes) = match kernel.params[first].kind {
            ParamKind::Scatter(rank) if only_scatters(kernel) => {
                let launch = self.shape(first, Usage::Positions);
                let index = self.thread_index(&launch.word(0));
                (index, launch.pick(&[1, 2]), usize::from(rank))
            }
            _ => {
                let width = self.shape(first, Usage::BufferShape).word(0);
                (self.thread_index(&width), self.shape(first, Usage::StreamShape), 4)
            }
        };
        self.split(&index, &extents, axes, &position);
        self.position.int = Some(position.op());
        if kernel.uses.indexof {
            self.position.float = Some(self.asm.new_each("itof", 4, &[&position.op()]));
        }
        if guarded {
            let count = if only_scatters(kernel) {
                self.shape(first, Usage::Positions).word(3)
            } else {
                let mut count = extents.word(0);
                for axis in 1..axes {
                    count = self.asm.new_each("imul", 1, &[&count, &extents.word(axis)]);
                }
                count
            };
            self.position.valid = Some(self.below(&index, &count));
        }
    }

    /// The extents of a stream or its memory.
    pub(crate) fn shape(&self, param: usize, usage: Usage) -> Op {
        let (buffer, slot) = self.layout.slot(param, usage);
        Op::new(Reg::Constant(buffer, slot), 4)
    }

    /// Number of this thread's element, where a row of the launch has so many.
    pub(crate) fn thread_index(&mut self, width: &Op) -> Op {
        if self.kernel.group.is_some() {
            return Op { reg: Reg::Named("vAbsTidFlat"), comps: vec![0], neg: false };
        }
        let cell = self.asm.new_each("ftoi", 2, &[&Op::new(Reg::Named("v0"), 2)]);
        self.asm.new_each("imad", 1, &[&cell.word(1), width, &cell.word(0)])
    }

    /// Position of element `index` in a stream of a shape with so many dimensions. The last is not bounded: what lies behind the
    /// stream stays behind it.
    pub(crate) fn split(&mut self, index: &Op, stream: &Op, axes: usize, position: &Dst) {
        let mut rest = index.clone();
        for axis in 0..axes - 1 {
            self.asm.each("umod", &position.word(axis), &[&rest, &stream.word(axis)]);
            rest = self.asm.new_each("udiv", 1, &[&rest, &stream.word(axis)]);
        }
        self.asm.mov(&position.word(axes - 1), &rest);
        if axes < 4 {
            let zero = self.asm.int(0);
            let others = Dst { register: position.register, comps: (axes as u8..4).collect() };
            self.asm.mov(&others, &zero);
        }
    }

    /// Number of the element at a position: ((w·Z + z)·Y + y)·X + x, of as many axes as the position has.
    pub(crate) fn linear(&mut self, position: &Op, stream: &Op) -> Op {
        let mut index = position.word(position.comps.len() - 1);
        for axis in (0..position.comps.len() - 1).rev() {
            index = self.asm.new_each("imad", 1, &[&index, &stream.word(axis), &position.word(axis)]);
        }
        index
    }

    /// Column and row of element `index`.
    fn cell(&mut self, index: &Op, buffer: &Op) -> Op {
        let cell = self.asm.temp(2);
        self.asm.each("umod", &cell.word(0), &[index, &buffer.word(0)]);
        self.asm.each("udiv", &cell.word(1), &[index, &buffer.word(0)]);
        cell.op()
    }

    /// Reads all leaves of a parameter at float coordinates; one leaf where it is wanted, if its words lie there in order.
    pub(crate) fn sample(&mut self, param: usize, ty: Type, at: &Op, want: Option<&Dst>) -> Vec<Op> {
        let first = self.layout.input(param);
        let leaves = self.structs.leaves(ty);
        let coordinates = self.asm.padded(at);
        let want = want.filter(|dst| leaves.len() == 1 && in_order(dst));
        let mut ops = Vec::new();
        for (leaf, what) in leaves.iter().enumerate() {
            let (to, op) = match want {
                Some(dst) => (dst.clone(), dst.op()),
                None => {
                    let dst = self.asm.temp(4);
                    let op = Op::temp(dst.register, words(what.ty()));
                    (dst, op)
                }
            };
            self.asm.each_of(&format!("sample_resource({})_sampler(0)", first + leaf), &to, &coordinates);
            ops.push(op);
        }
        ops
    }

    /// Reads at whole coordinates, column and row.
    pub(crate) fn sample_cell(&mut self, param: usize, ty: Type, cell: &Op, want: Option<&Dst>) -> Vec<Op> {
        let coordinates = self.asm.new_each("utof", 2, &[cell]);
        self.sample(param, ty, &coordinates, want)
    }

    /// This thread's element of an input stream.
    pub(crate) fn read_input(&mut self, param: usize) -> Vec<Op> {
        let ty = self.kernel.params[param].ty;
        match (self.translation && self.kernel.scatter().is_some(), self.position.int.clone()) {
            (true, Some(position)) => {
                let stream = self.shape(param, Usage::StreamShape);
                // A position may lie behind the input, which then has its edge there, as it has without translation.
                let less = self.asm.int(u32::MAX);
                let last = self.asm.new_each("iadd", 4, &[&stream, &less]);
                let position = self.asm.new_each("imin", 4, &[&position, &last]);
                let index = self.linear(&position, &stream);
                let buffer = self.shape(param, Usage::BufferShape);
                let cell = self.cell(&index, &buffer);
                self.sample_cell(param, ty, &cell, None)
            }
            // Equal shapes lie equally.
            _ => self.sample(param, ty, &Op::new(Reg::Named("v0"), 2), None),
        }
    }

    /// Indices as float coordinates, x first.
    fn coordinates(&mut self, index: &'k [Expr]) -> Result<Op, String> {
        if index.len() == 1 || index.iter().all(|e| class(e.ty) == Class::Float) {
            let (op, float) = self.index_operand(index)?;
            let n = op.comps.len();
            return Ok(if float { op } else { self.asm.new_each("itof", n, &[&op]) });
        }
        let mut ops = Vec::new();
        for e in index {
            ops.push((self.value(e)?.word(0), class(e.ty) == Class::Float));
        }
        let first = &ops[0];
        if ops.iter().all(|op| op.0.reg == first.0.reg && !op.1) {
            let comps = ops.iter().map(|op| op.0.comp(0)).collect();
            let op = Op { reg: first.0.reg.clone(), comps, neg: false };
            return Ok(self.asm.new_each("itof", ops.len(), &[&op]));
        }
        let dst = self.asm.temp(ops.len());
        for (at, (op, float)) in ops.iter().enumerate() {
            self.asm.each(if *float { "mov" } else { "itof" }, &dst.word(at), &[op]);
        }
        Ok(dst.op())
    }

    /// Indices as one operand, x first, and whether they are floats.
    fn index_operand(&mut self, index: &'k [Expr]) -> Result<(Op, bool), String> {
        if let [vector] = index {
            let op = self.value(vector)?;
            let comps: Vec<u8> = (0..vector.ty.width()).collect();
            if class(vector.ty) == Class::Float {
                return Ok((op.pick(&comps), true));
            }
            return Ok((op.pick(&comps), false));
        }
        let floats = index.iter().filter(|e| class(e.ty) == Class::Float).count();
        let as_float = floats == index.len();
        let mut ops = Vec::new();
        for e in index {
            let op = self.value(e)?.word(0);
            ops.push(if class(e.ty) == Class::Float && !as_float {
                let whole = self.asm.new_each("round_neginf", 1, &[&op]);
                self.asm.new_each("ftoi", 1, &[&whole])
            } else {
                op
            });
        }
        Ok((self.joined(&ops), as_float))
    }

    /// Several words as one operand.
    fn joined(&mut self, ops: &[Op]) -> Op {
        if ops.iter().all(|op| op.reg == ops[0].reg && op.neg == ops[0].neg) {
            let comps = ops.iter().map(|op| op.comp(0)).collect();
            return Op { reg: ops[0].reg.clone(), comps, neg: ops[0].neg };
        }
        let dst = self.asm.temp(ops.len());
        for (at, op) in ops.iter().enumerate() {
            self.asm.mov(&dst.word(at), op);
        }
        dst.op()
    }

    /// Elements of a gather stream. What lies outside is the nearest edge.
    pub(crate) fn gather(
        &mut self,
        param: usize,
        index: &'k [Expr],
        ty: Type,
        want: Option<&Dst>,
    ) -> Result<Vec<Op>, String> {
        let frame = &self.frames[self.frames.len() - 1];
        let ParamKind::Gather(rank) = frame.kernel.params[param].kind else {
            return Err("an element of no array".to_owned());
        };
        let outer = frame.arrays[param];
        if !self.translation || rank == 2 {
            let at = self.coordinates(index)?;
            return Ok(self.sample(outer, ty, &at, want));
        }
        let (op, float) = self.index_operand(index)?;
        let n = usize::from(rank);
        let whole = if float {
            let floor = self.asm.new_each("round_neginf", n, &[&op]);
            self.asm.new_each("ftoi", n, &[&floor])
        } else {
            op
        };
        let stream = self.shape(outer, Usage::StreamShape);
        let axes: Vec<u8> = (0..rank).collect();
        let less = self.asm.int(u32::MAX);
        let last = self.asm.new_each("iadd", n, &[&stream.pick(&axes), &less]);
        let zero = self.asm.int(0);
        let clamped = self.asm.new_each("imax", n, &[&whole, &zero]);
        let clamped = self.asm.new_each("imin", n, &[&clamped, &last]);
        let number = self.linear(&clamped, &stream);
        let buffer = self.shape(outer, Usage::BufferShape);
        let cell = self.cell(&number, &buffer);
        Ok(self.sample_cell(outer, ty, &cell, want))
    }

    /// An element of a constant array.
    pub(crate) fn element(
        &mut self,
        param: usize,
        index: &'k [Expr],
        ty: Type,
        want: Option<&Dst>,
    ) -> Result<Op, String> {
        let frame = &self.frames[self.frames.len() - 1];
        let ParamKind::ConstArray(dims) = &frame.kernel.params[param].kind else {
            return Err("an element of no array".to_owned());
        };
        let (dims, outer) = (dims.clone(), frame.arrays[param]);
        let (buffer, elements) = self.layout.array(outer);
        let mut fixed = 0u64;
        let mut moving: Option<Op> = None;
        for (axis, e) in index.iter().enumerate() {
            let stride: u64 = dims[axis + 1..].iter().map(|d| u64::from(*d)).product();
            if let ExprKind::Int(n) = e.kind {
                fixed = fixed.wrapping_add(u64::from(n).wrapping_mul(stride));
                continue;
            }
            let op = self.value(e)?.word(0);
            let stride = self.asm.int(stride as u32);
            moving = Some(match moving {
                None if axis + 1 == dims.len() => op,
                None => self.asm.new_each("imul", 1, &[&op, &stride]),
                Some(sum) => self.asm.new_each("imad", 1, &[&op, &stride, &sum]),
            });
        }
        let Some(op) = moving else {
            return Ok(if fixed < u64::from(elements) {
                Op::new(Reg::Constant(buffer, fixed as u32), words(ty))
            } else {
                // Outside reads 0, as the machine has it.
                let zero = self.asm.int(0);
                zero.pick(&vec![0; words(ty)])
            });
        };
        // The index is kept: what it was computed from may change before the element is read.
        let kept = self.asm.temp(1);
        let at = self.asm.int(fixed as u32);
        if fixed < u64::from(elements) {
            self.asm.mov(&kept, &op);
        } else {
            self.asm.each("iadd", &kept, &[&op, &at]);
        }
        let slot = if fixed < u64::from(elements) { fixed as u32 } else { 0 };
        let element = Op::new(Reg::ConstantAt(buffer, kept.register, 0, slot), words(ty));
        let dst = self.target(want, ty);
        self.asm.mov(&dst, &element);
        Ok(dst.op())
    }

    /// Any element of the shared array.
    pub(crate) fn shared(&mut self, index: &'k Expr, ty: Type, want: Option<&Dst>) -> Result<Op, String> {
        let op = self.value(index)?.word(0);
        let address = self.owner(&op);
        let dst = want.filter(|dst| in_order(dst) && dst.comps.len() == 4).cloned();
        let dst = dst.unwrap_or_else(|| self.asm.temp(4));
        let from = self.asm.padded(&address);
        self.asm.line(&format!("lds_read_vec r{}, {from}", dst.register));
        Ok(Op::temp(dst.register, words(ty)))
    }

    /// The thread that owns a shared element, and where it begins among the thread's words.
    fn owner(&mut self, index: &Op) -> Op {
        let per = self.owned_elements();
        if per == 1 {
            return index.clone();
        }
        let address = self.asm.temp(2);
        let two = self.asm.int(2);
        if per.is_power_of_two() {
            let (bits, rest) = (self.asm.int(per.trailing_zeros()), self.asm.int(per - 1));
            self.asm.each("ushr", &address.word(0), &[index, &bits]);
            self.asm.each("iand", &address.word(1), &[index, &rest]);
        } else {
            let (count, minus) = (self.asm.int(per), self.asm.int(per.wrapping_neg()));
            self.asm.each("udiv", &address.word(0), &[index, &count]);
            self.asm.each("imad", &address.word(1), &[&address.op().word(0), &minus, index]);
        }
        self.asm.each("ishl", &address.word(1), &[&address.op().word(1), &two]);
        address.op()
    }

    fn owned_elements(&self) -> u32 {
        let count = self.kernel.shared.as_ref().map_or(1, |s| s.count);
        (count / self.kernel.group.unwrap_or(1)).max(1)
    }

    /// An element that this thread owns.
    pub(crate) fn store_shared(&mut self, offset: u32, place: &Place, value: &Op) {
        let ty = self.kernel.shared.as_ref().map_or(Type::FLOAT, |s| s.ty);
        let (mask, op) = self.masked(ty, place, value);
        let source = self.asm.shown(&op);
        let at = if offset == 0 { String::new() } else { format!("_lOffset({})", 4 * offset) };
        self.asm.line(&format!("lds_write_vec{at} mem0{mask}, {source}"));
    }

    /// The mask of a place in an element of four words, and the value with its words in place.
    fn masked(&mut self, ty: Type, place: &Place, value: &Op) -> (String, Op) {
        let to: Vec<u8> = if place.swizzle.is_empty() {
            (0..words(ty) as u8).collect()
        } else {
            word_list(ty, &place.swizzle)
        };
        let mut comps = vec![value.comp(0); 4];
        let mut mask = String::new();
        to.iter().enumerate().for_each(|(at, word)| comps[usize::from(*word)] = value.comp(at));
        if to.len() < 4 {
            mask.push('.');
            (0..4u8).for_each(|c| {
                mask.push(if to.contains(&c) { ['x', 'y', 'z', 'w'][usize::from(c)] } else { '_' })
            });
        }
        (mask, Op { reg: value.reg.clone(), comps, neg: value.neg })
    }

    /// Stores an element of the scatter stream. What lies outside is dropped.
    pub(crate) fn scatter(
        &mut self,
        param: usize,
        index: &'k [Expr],
        place: &Place,
        value: &Op,
    ) -> Result<(), String> {
        let ParamKind::Scatter(rank) = self.kernel.params[param].kind else {
            return Err("a store to no array".to_owned());
        };
        let ty = self.kernel.params[param].ty;
        // The value may live in a variable that the index changes.
        let (op, float) = self.index_operand(index)?;
        let n = op.comps.len();
        let whole = if float {
            let floor = self.asm.new_each("round_neginf", n, &[&op]);
            self.asm.new_each("ftoi", n, &[&floor])
        } else {
            op
        };
        let mut guards: Vec<Op> = self.position.valid.iter().cloned().collect();
        let cell = if self.translation && rank != 2 {
            let stream = self.shape(param, Usage::StreamShape);
            let axes: Vec<u8> = (0..rank).collect();
            let inside = self.below(&whole, &stream.pick(&axes));
            guards.extend((0..n).map(|at| inside.word(at)));
            let number = self.linear(&whole, &stream);
            let buffer = self.shape(param, Usage::BufferShape);
            self.cell(&number, &buffer)
        } else {
            whole
        };
        let guard = guards.into_iter().reduce(|a, b| self.asm.new_each("iand", 1, &[&a, &b]));
        if let Some(guard) = &guard {
            let test = self.asm.shown(guard);
            self.asm.line(&format!("if_logicalnz {test}"));
        }
        let at = self.asm.padded(&cell);
        let stored = if place.swizzle.is_empty() {
            value.clone()
        } else {
            // Only some components: the others are read first.
            let old = self.asm.temp(4);
            self.asm.line(&format!("uav_load_id(0) r{}, {at}", old.register));
            let to = Dst { register: old.register, comps: word_list(ty, &place.swizzle) };
            self.asm.mov(&to, value);
            old.op()
        };
        let source = self.asm.padded(&stored);
        self.asm.line(&format!("uav_store_id(0) {at}, {source}"));
        if guard.is_some() {
            self.asm.line("endif");
        }
        Ok(())
    }
}
