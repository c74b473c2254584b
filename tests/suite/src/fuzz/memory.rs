//! Statements that touch memory. Every thread touches words of its own, but for commutative atomics on `uav2`, what
//! nobody writes, and what barriers keep apart.

use super::kernel::{Generator, Statement, fixed};

impl Generator {
    /// An address in the thread's part of a memory, in r91.x.
    fn address(&mut self, base: &str, mask: &str, extra: &str) -> Vec<Statement> {
        let index = self.component();
        let mut lines = vec![
            fixed(&format!("iand r91.x, {index}, {mask}")),
            fixed(&format!("iadd r91.x, r91.x, {base}")),
        ];
        if !extra.is_empty() {
            lines.push(fixed(&format!("iadd r91.x, r91.x, {extra}")));
        }
        lines
    }

    /// A store, now and then of another register in its place, and once more.
    fn store(&mut self, place: &str, register: &str, out: &mut Vec<Statement>) {
        let store = |register: &str| fixed(&format!("{place} {register}"));
        out.push(store(register));
        if self.random.below(4) == 0 {
            out.extend([store(&self.register()), store(register)]);
        }
    }

    pub(super) fn memory(&mut self, out: &mut Vec<Statement>) {
        if let Some(random) = &mut self.lockstep {
            let kind = random.below(6);
            if kind < 3 {
                return self.lockstep(kind, out);
            }
        }
        if self.shape.engine.device && self.random.below(3) == 0 {
            return self.device_memory(out);
        }
        let (register, component) = (self.register(), self.component());
        let lds = self.shape.domain.is_none();
        match self.random.below(13) {
            0 => {
                out.extend(self.address("r90.x", "l1.z", "l1.w"));
                self.store("uav_raw_store_id(1) mem0.xyz, r91.x,", &register, out);
            }
            1 => {
                out.extend(self.address("r90.x", "l1.z", "l1.w"));
                out.push(fixed(&format!("uav_raw_load_id(1) {register}, r91.x")));
            }
            2 if lds => {
                out.extend(self.address("r90.z", "l7.y", ""));
                let op = self.pick(&["", "_byte", "_short"]);
                out.push(fixed(&format!("lds_store{op}_id(0) r91.x, {component}")));
            }
            3 if lds => {
                out.extend(self.address("r90.z", "l8.x", ""));
                let op = self.pick(&["ubyte", "byte", "short", "ushort"]);
                out.push(fixed(&format!("lds_load_{op}_id(0) {component}, r91.x")));
            }
            4 if lds => {
                out.extend(self.address("r90.z", "l7.y", ""));
                let op = self.pick(&["add", "sub", "rsub", "min", "umax", "inc", "dec", "xchg"]);
                out.push(fixed(&format!("lds_read_{op}_id(0) {register}, r91.x, {component}")));
            }
            5 if lds => {
                out.extend(self.address("r90.z", "l7.z", ""));
                out.push(fixed(&format!("lds_load64_id(0) {register}.zw, r91.x")));
            }
            6 => {
                out.extend(self.address("r90.w", "l0.w", ""));
                self.store("mov g[r91.x].xyw,", &register, out);
            }
            7 => {
                out.extend(self.address("r90.w", "l0.w", ""));
                out.push(fixed(&format!("mov {register}, g[r91.x]")));
            }
            8 => {
                let index = self.component();
                out.push(fixed(&format!("iand r91.x, {index}, l1.x")));
                out.push(fixed(&match self.random.below(2) {
                    0 => format!("mov x0[r91.x].xz, {register}"),
                    _ => format!("mov {register}.yw, x0[r91.x]"),
                }));
            }
            9 => {
                out.extend(self.address("r90.x", "l8.w", "l1.w"));
                out.push(fixed(&match self.random.below(6) {
                    0 => format!("uav_byte_store_id(1) mem0.x, r91.x, {component}"),
                    1 => format!("uav_short_store_id(1) mem0.x, r91.x, {component}"),
                    2 => format!("uav_byte_load_id(1) {component}, r91.x"),
                    3 => format!("uav_ubyte_load_id(1) {component}, r91.x"),
                    4 => format!("uav_short_load_id(1) {component}, r91.x"),
                    _ => format!("uav_ushort_load_id(1) {component}, r91.x"),
                }));
            }
            10 => {
                out.extend(self.address("r90.x", "l1.y", "l1.w"));
                let op = self.pick(&["add", "rsub", "max", "umin", "xor", "uinc", "udec", "xchg"]);
                out.push(fixed(&format!("uav_read_{op}_id(1) {component}, r91.x, {register}.y")));
            }
            _ => {
                let index = self.component();
                out.push(fixed(&format!("iand r91.x, {index}, l1.y")));
                let op = self.atomic;
                out.push(fixed(&format!("uav_{op}_id(2) r91.x, {component}")));
            }
        }
    }

    /// What the plain interpreter does not have.
    fn device_memory(&mut self, out: &mut Vec<Statement>) {
        let (register, component) = (self.register(), self.component());
        let textures = self.shape.textures.len();
        let lds = self.shape.domain.is_none();
        match self.random.below(13) {
            0..=3 if textures > 0 => self.texture(out),
            4 | 5 if self.shape.typed.is_some() => self.typed(out),
            6 => {
                // A record of the thread's own, r94 = (record, byte).
                let index = self.component();
                out.push(fixed("mov r94.x, r93.x"));
                out.push(fixed(&format!("iand r94.y, {index}, l8.z")));
                out.push(fixed(&match self.random.below(3) {
                    0 => format!("uav_struct_store_id(4) mem0.xy, r94.xy, {register}"),
                    1 => format!("uav_struct_load_id(4) {register}, r94.xy"),
                    _ => format!("uav_read_add_id(4) {component}, r94.xy, {register}.z"),
                }));
            }
            7 => {
                // Anywhere: it is read-only, and outside reads 0.
                let mask = self.pick(&["l1.w", "l8.w", "l6.y"]);
                let index = self.component();
                out.push(fixed(&format!("iand r91.x, {index}, {mask}")));
                out.push(fixed(&format!("srv_raw_load_id(5) {register}, r91.x")));
            }
            8 | 9 => {
                out.extend(self.address("r93.y", "l7.w", ""));
                let op = self.pick(&["add", "sub", "umax", "min", "xor", "inc", "dec", "xchg"]);
                out.push(fixed(&match self.random.below(3) {
                    0 => format!("gds_store_id(0) r91.x, {component}"),
                    1 => format!("gds_load_id(0) {component}, r91.x"),
                    _ => format!("gds_read_{op}_id(0) {component}, r91.x, {register}.x"),
                }));
            }
            10 | 11 if self.shape.engine.atomics64 => {
                let space = if lds && self.random.below(2) == 0 { "lds" } else { "gds" };
                match space {
                    "lds" => out.extend(self.address("r90.z", "l7.z", "")),
                    _ => out.extend(self.address("r93.y", "l6.x", "")),
                }
                let pair = self.pick(&["xy", "zw"]);
                let source = format!("{}.{}", self.register(), self.pick(&["xy", "zw"]));
                let op =
                    self.pick(&["add", "sub", "rsub", "min", "umax", "and", "xor", "inc", "dec", "xchg"]);
                out.push(fixed(&match self.random.below(4) {
                    0 => format!("{space}_store64_id(0) r91.x, {source}"),
                    1 => {
                        format!("{space}_read_cmp_xchg64_id(0) {register}.{pair}, r91.x, {source}, {source}")
                    }
                    _ => format!("{space}_read_{op}64_id(0) {register}.{pair}, r91.x, {source}"),
                }));
            }
            _ if self.shape.domain.is_some() => {
                let input = self.pick(&["v1", "vWinCoord0.xyxy", "vObjIndex0.xxxx"]);
                out.push(fixed(&format!("mov {register}, {input}")));
            }
            _ => {
                let input = self.pick(&["vTidInGrp", "vThreadGrpId", "vAbsTid", "vThreadGrpIdFlat"]);
                out.push(fixed(&format!("mov {register}.xyz, {input}.xyzx")));
            }
        }
    }

    pub(super) fn texture(&mut self, out: &mut Vec<Statement>) {
        let n = self.random.below(self.shape.textures.len());
        let (register, source, component) = (self.register(), self.source(), self.component());
        let offset = self.pick(&["", "", "", "_aoffimmi(1,-2,0)", "_aoffimmi(-0.5,2.5,0)"]);
        let whole = self.pick(&["", "", "_aoffimmi(-1,2,0)"]);
        match self.random.below(8) {
            0..=3 => {
                out.push(fixed(&format!("sample_resource({n})_sampler({n}){offset} {register}, {source}")));
            }
            4 | 5 => {
                let mask = self.pick(&["l8.x", "l8.w", "l1.x"]);
                out.push(fixed(&format!("iand r94.xy, {register}, {mask}")));
                out.push(fixed(&format!("load_resource({n}){whole} {register}, r94.xy00")));
            }
            6 => {
                let select = self.pick(&["", "_compselect(y)", "_compselect(w)"]);
                out.push(fixed(&format!(
                    "fetch4_resource({n})_sampler({n}){whole}{select} {register}, {source}"
                )));
            }
            _ => {
                out.push(fixed(&format!("resinfo_resource({n})_uint {register}, {component}")));
            }
        }
    }

    /// An element of the thread's own four of the typed UAV.
    fn typed(&mut self, out: &mut Vec<Statement>) {
        let (register, index) = (self.register(), self.component());
        out.push(fixed(&format!("iand r94.x, {index}, l0.w")));
        out.push(fixed("imad r94.x, r93.x, l6.w, r94.x"));
        let coord = match self.shape.typed_rows() {
            Some(_) => {
                out.push(fixed("ushr r94.y, r94.x, l8.y"));
                out.push(fixed("iand r94.x, r94.x, l8.x"));
                "r94.xy00"
            }
            None => "r94.x000",
        };
        let words = self.shape.typed.is_some_and(|(format, _)| format.bytes() == 4);
        out.push(fixed(&match self.random.below(5) {
            0 | 1 => format!("uav_store_id(3) {coord}, {register}"),
            2 if words => format!("uav_read_umax_id(3) {register}.y, {coord}, {index}"),
            _ => format!("uav_load_id(3) {register}, {coord}"),
        }));
    }

    /// Words that other threads of the group wrote, between barriers. To be put where all threads pass.
    pub(super) fn meeting(&mut self, out: &mut Vec<Statement>) {
        let (index, component, distance) = (self.component(), self.component(), self.component());
        let last = self.shape.group() - 1;
        let fence = self.pick(&["fence_threads_lds", "fence_threads_lds_memory"]);
        out.push(fixed(fence));
        out.push(fixed(&format!("iadd r91.x, r93.z, {distance}")));
        out.push(fixed(&format!("iand r91.x, r91.x, l9.{}", if last == 127 { "x" } else { "y" })));
        out.push(fixed("ishl r91.x, r91.x, l8.y"));
        out.push(fixed(&format!("iand r91.y, {index}, l7.y")));
        out.push(fixed("iadd r91.x, r91.x, r91.y"));
        out.push(fixed(&format!("lds_load_id(0) {component}, r91.x")));
        out.push(fixed("fence_threads_lds"));
    }

    /// The first word of the thread's own in LDS: stored, and, where all threads pass, that of another one, whose number follows from this one's.
    pub(super) fn exchange(&mut self, all: bool, out: &mut Vec<Statement>) {
        let (component, other) = (self.component(), self.component());
        let (op, by) = (self.pick(&["iadd", "ixor", "isub"]), self.pick(&["l0.y", "l0.w", "l1.x", "l8.x"]));
        out.push(fixed(&format!("lds_store_id(0) r90.z, {component}")));
        if all {
            let last = self.shape.group() - 1;
            out.push(fixed("fence_threads_lds"));
            out.push(fixed(&match op {
                "isub" => format!("iadd r91.x, {by}, r93.z_neg(xyzw)"),
                op => format!("{op} r91.x, r93.z, {by}"),
            }));
            out.push(fixed(&format!("iand r91.x, r91.x, l9.{}", if last == 127 { "x" } else { "y" })));
            out.push(fixed("ishl r91.x, r91.x, l8.y"));
            out.push(fixed(&format!("lds_load_id(0) {other}, r91.x")));
            out.push(fixed("fence_threads_lds"));
        }
    }

    /// Own words of LDS, and those of other threads of the wave, wherever its threads are.
    fn lockstep(&mut self, kind: usize, out: &mut Vec<Statement>) {
        let (index, component, distance) = (self.component(), self.component(), self.component());
        match kind {
            0 => {
                out.extend(self.address("r90.z", "l7.y", ""));
                out.push(fixed(&format!("lds_store_id(0) r91.x, {component}")));
            }
            _ => {
                out.push(fixed(&format!("iadd r91.x, r93.z, {distance}")));
                out.push(fixed("iand r91.x, r91.x, l9.y"));
                out.push(fixed("ishl r91.x, r91.x, l8.y"));
                out.push(fixed(&format!("iand r91.y, {index}, l7.y")));
                out.push(fixed("iadd r91.x, r91.x, r91.y"));
                out.push(fixed(&format!("lds_load_id(0) {component}, r91.x")));
            }
        }
    }
}
