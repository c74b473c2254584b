//! Which resource, constant and output each parameter is.
//!
//! The order of the entries is the contract with the runtime: constants take slots of the last constant buffer, inputs and
//! outputs their numbers, in the order of the list.

use std::fmt::Write as _;

pub use brook_abi::{Access, Entry, Usage};

use crate::hir::{self, ParamKind};
use crate::types::Structs;

/// Where things are.
pub(crate) struct Layout {
    pub(crate) entries: Vec<Entry>,
    inputs: usize,
    outputs: usize,
    arrays: Vec<(usize, u32)>,
    slots: Vec<(usize, Usage)>,
    scatter: bool,
}

/// The parameter whose shape tells where threads are: the first ordinary output, or what else there is.
pub(crate) fn ruler(kernel: &hir::Kernel) -> Option<usize> {
    let find = |wanted: fn(&ParamKind) -> bool| kernel.params.iter().position(|p| wanted(&p.kind));
    find(|k| *k == ParamKind::Output)
        .or_else(|| find(|k| matches!(k, ParamKind::Scatter(_) | ParamKind::Reduce)))
}

/// Nothing but an array that is stored to tells where threads are.
pub(crate) fn only_scatters(kernel: &hir::Kernel) -> bool {
    kernel.scatter().is_some() && kernel.params.iter().all(|p| p.kind != ParamKind::Output)
}

impl Layout {
    pub(crate) fn of(kernel: &hir::Kernel, structs: &Structs, translation: bool, pass: usize) -> Layout {
        let mut layout = Layout {
            entries: Vec::new(),
            inputs: 0,
            outputs: 0,
            arrays: Vec::new(),
            slots: Vec::new(),
            scatter: false,
        };
        let scatters = kernel.scatter().is_some();
        for (at, param) in kernel.params.iter().enumerate() {
            match param.kind {
                ParamKind::Constant => layout.slots.push((at, Usage::User)),
                ParamKind::Gather(_) if translation => layout.shapes(at),
                ParamKind::Input if kernel.reduce => {
                    layout.slots.push((at, Usage::ReductionFactor));
                    if translation {
                        layout.shapes(at);
                    }
                }
                ParamKind::Input if translation && scatters => layout.shapes(at),
                _ => {}
            }
        }
        if translation {
            if let Some(ruler) = ruler(kernel) {
                layout.shapes(ruler);
            }
            if let Some(at) = kernel.scatter() {
                layout.shapes(at);
                if only_scatters(kernel) {
                    layout.slots.push((at, Usage::Positions));
                }
            }
        }
        layout.entries.extend(layout.slots.iter().map(|(at, usage)| Entry::Constant(*at, *usage)));
        for (at, param) in kernel.params.iter().enumerate() {
            let access = match param.kind {
                ParamKind::Input => Access::Stream,
                ParamKind::Gather(_) => Access::Random,
                ParamKind::ConstArray(ref dims) => {
                    layout.arrays.push((at, dims.iter().product()));
                    layout.entries.push(Entry::ConstArray(at));
                    continue;
                }
                _ => continue,
            };
            for leaf in 0..structs.count(param.ty) {
                layout.entries.push(Entry::Input(at, leaf, access));
                layout.inputs += 1;
            }
        }
        let mut number = 0;
        for (at, param) in kernel.params.iter().enumerate() {
            if !matches!(param.kind, ParamKind::Output | ParamKind::Reduce) {
                continue;
            }
            for leaf in 0..structs.count(param.ty) {
                if number / super::OUTPUTS == pass {
                    layout.entries.push(Entry::Output(at, leaf, Access::Stream));
                    layout.outputs += 1;
                }
                number += 1;
            }
        }
        if let Some(at) = kernel.scatter() {
            layout.entries.push(Entry::Output(at, 0, Access::Random));
            layout.scatter = true;
        }
        layout
    }

    fn shapes(&mut self, at: usize) {
        for usage in [Usage::StreamShape, Usage::BufferShape] {
            if !self.slots.contains(&(at, usage)) {
                self.slots.push((at, usage));
            }
        }
    }

    /// Number of the `i#` of a parameter's first leaf.
    pub(crate) fn input(&self, param: usize) -> usize {
        let inputs = self.entries.iter().filter(|e| matches!(e, Entry::Input(..)));
        inputs.take_while(|e| !matches!(e, Entry::Input(at, ..) if *at == param)).count()
    }

    /// Buffer and slot of a constant.
    pub(crate) fn slot(&self, param: usize, usage: Usage) -> (u32, u32) {
        let at = self.slots.iter().position(|s| *s == (param, usage)).unwrap_or(0);
        (self.arrays.len() as u32, at as u32)
    }

    /// Number of the buffer of a constant array.
    pub(crate) fn array(&self, param: usize) -> (u32, u32) {
        let at = self.arrays.iter().position(|(p, _)| *p == param).unwrap_or(0);
        (at as u32, self.arrays.get(at).map_or(0, |a| a.1))
    }

    pub(crate) fn declare(&self, text: &mut String) {
        for number in 0..self.outputs {
            let _ = writeln!(text, "dcl_output_usage(generic) o{number}.xyzw");
        }
        for number in 0..self.inputs {
            let _ = writeln!(
                text,
                "dcl_resource_id({number})_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)"
            );
        }
        if self.scatter {
            text.push_str("dcl_uav_id(0)_type(2d)_fmtx(uint)\n");
        }
        for (number, (_, elements)) in self.arrays.iter().enumerate() {
            let _ = writeln!(text, "dcl_cb cb{number}[{elements}]");
        }
        if !self.slots.is_empty() {
            let _ = writeln!(text, "dcl_cb cb{}[{}]", self.arrays.len(), self.slots.len());
        }
    }
}
