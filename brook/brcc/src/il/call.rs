//! Calls: a kernel that another calls becomes part of it.

use super::asm::Op;
use super::expr::words;
use super::{Emitter, Frame};
use crate::hir::{self, Arg, Base, ParamKind, Place};
use crate::types::Type;

impl<'k> Emitter<'k> {
    /// Compiles a kernel into this one.
    pub(crate) fn call(&mut self, at: usize, args: &'k [Arg]) -> Result<Vec<Op>, String> {
        let callee = &self.kernels[at];
        if self.frames.len() > 32 {
            return Err(format!("`{}` is called more than 32 kernels deep", callee.name));
        }
        let mut vars: Vec<Option<Vec<Op>>> = vec![None; callee.vars.len()];
        let mut arrays = vec![0; callee.params.len()];
        let mut back = Vec::new();
        for (number, (param, arg)) in callee.params.iter().zip(args).enumerate() {
            match arg {
                Arg::Array(given) => arrays[number] = self.frame().arrays[*given],
                Arg::Value(e) => {
                    let leaves = self.leaves(e)?;
                    // What is no plain variable or literal is computed once; what an output may change is copied.
                    let outs = args.iter().filter_map(|a| if let Arg::Out(p) = a { Some(p) } else { None });
                    let changes = outs.into_iter().any(|p| matches!(p.base, Base::Var(v) if e.mentions(v)));
                    let plain =
                        leaves.iter().all(|op| !matches!(op.reg, super::asm::Reg::ConstantAt(..)) && !op.neg);
                    vars[number] =
                        Some(if plain && !changes { leaves } else { self.copied(param.ty, &leaves) });
                }
                Arg::Out(place) => {
                    let direct = place.swizzle.is_empty() && matches!(place.base, Base::Var(_));
                    if direct {
                        vars[number] = Some(self.place_leaves(place));
                    } else {
                        let fresh = self.fresh(param.ty);
                        back.push((place, fresh[0].clone()));
                        vars[number] = Some(fresh);
                    }
                }
            }
        }
        // A variable that takes a result and is read under another name would change too early.
        let result = self.fresh(callee.result);
        let early = hir::returns_early(&callee.body);
        self.frames.push(Frame { kernel: callee, vars, arrays, result: result.clone(), function: false });
        let done = if early {
            self.function(|e| e.statements(&callee.body))
        } else {
            let loops = std::mem::take(&mut self.continues);
            let done = self.statements(&callee.body);
            self.continues = loops;
            done
        };
        self.frames.pop();
        done?;
        for (place, op) in back {
            self.store_back(place, &op)?;
        }
        Ok(result)
    }

    fn copied(&mut self, ty: Type, leaves: &[Op]) -> Vec<Op> {
        let fresh = self.fresh(ty);
        for (to, from) in fresh.iter().zip(leaves) {
            self.asm.mov(&to.dst(), from);
        }
        fresh
    }

    fn store_back(&mut self, place: &'k Place, op: &Op) -> Result<(), String> {
        match &place.base {
            Base::Var(_) => {
                let to = self.place_leaves(place)[0].clone();
                self.asm.mov(&to.dst(), op);
                Ok(())
            }
            Base::Scatter(param, index) => self.scatter(*param, index, place, op),
            Base::Shared(offset) => {
                self.store_shared(*offset, place, op);
                Ok(())
            }
        }
    }

    /// Variables of the outermost kernel: what each parameter is.
    pub(crate) fn parameters(&mut self) -> Vec<Option<Vec<Op>>> {
        let kernel = self.kernel;
        let mut vars: Vec<Option<Vec<Op>>> = vec![None; kernel.vars.len()];
        for (at, param) in kernel.params.iter().enumerate() {
            vars[at] = match param.kind {
                ParamKind::Input => Some(self.read_input(at)),
                ParamKind::Constant => {
                    let (buffer, slot) = self.layout.slot(at, super::Usage::User);
                    Some(vec![Op::new(super::asm::Reg::Constant(buffer, slot), words(param.ty))])
                }
                ParamKind::Output => Some(self.fresh(param.ty)),
                _ => None,
            };
        }
        vars
    }
}
