//! What code for loads and stores has at hand, and loads of whole elements: as groups of vectors, or by an address.

use recal_il::ir::lines::Shape;

use super::packs::{At, Found, LONG};
use super::{Body, Frame, Held, Pointer};
use crate::graph::{NO, Node, Val};
use crate::op::Op;
use crate::target::{Access, Base, Group, Order};

impl Body<'_, '_> {
    /// What code for an access has at hand; `words` are the numbers of the words in `index`.
    pub(super) fn access(&mut self, val: Val, op: Op, view: u8, index: u8, words: Val) -> Access<'_> {
        let places: Vec<u32> = (0..self.target.places(op, self.frame.line)).map(|_| self.slot()).collect();
        self.freed.extend(&places);
        let strip = self.graph.strips.get(&val).map_or(0, |strip| usize::from(*strip));
        let exec = self.frame.exec().get(strip).copied();
        let Frame { code, pool, next, ticks, learned, earlier, strips, ahead: addresses, .. } =
            &mut *self.frame;
        let ahead = next.checked_shr(view.into()).unwrap_or_default() & 1 == 1;
        // What is known of executing lanes says nothing about the first lane unless all execute.
        let known = || self.graph.shape_of(words).among(self.target.lanes());
        let shape = if exec.is_some() { Shape::Any } else { known() };
        let inside = self.graph.inside.contains(&(view, words));
        let mut access = Access {
            code,
            pool,
            exec,
            view,
            index,
            at: None,
            shape,
            inside,
            ahead,
            places,
            learned: None,
            earlier: None,
        };
        if let (Op::Store(_), Shape::Step(1), true) = (op, shape, ahead) {
            // The strip before has stored a line before.
            access.earlier = match strips.number {
                _ if strips.together => earlier.first().copied(),
                1 => earlier.pop(),
                _ => None,
            };
            let new: Vec<u32> = access.earlier.iter().flat_map(|at| [*at, at + 8]).collect();
            addresses.extend(new.iter().filter(|at| !addresses.contains(at)).copied().collect::<Vec<_>>());
        }
        if let (Op::Store(_), true, Some(ticks)) = (op, self.target.learns() && !access.follows(), *ticks) {
            access.learned = exec.is_none().then_some([ticks, *learned]);
            *learned += access.learned.map_or(0, |_| 1);
        }
        access
    }

    /// Loads the parts of a group that are used, with the first words of the elements in `first`, or where it is known that they are.
    pub(super) fn group(&mut self, val: Val, op: Op, view: u8, first: Val, at: Option<(Base, u32)>) {
        let parts = self.graph.groups[&val];
        let index = if at.is_none() { self.fetch(first) } else { 0 };
        let count = parts.iter().filter(|&&val| val != NO).count() as u32;
        let wanted = parts.map(|val| val != NO && self.next_use(val).is_some());
        let mut to = [0; 4];
        for k in 0..4 {
            // The places of parts that nobody wants hold what is in between.
            if parts[k] != NO {
                to[k] = self.take(parts[k]);
                self.pinned.push(parts[k]);
            }
        }
        let (target, line) = (self.target, self.frame.line);
        let access = Access { at, ..self.access(val, op, view, index, first) };
        let order = match op {
            Op::Pair(..) => Order::Pairs,
            Op::Member(..) => Order::Memory,
            _ => Order::Words,
        };
        target.load_group(access, &Group { count, line, to, wanted, order });
        self.trail(val, view, count);
        parts.into_iter().filter(|&val| val != NO).for_each(|val| self.release(val));
    }

    /// A place on the stack for so many bytes.
    pub(super) fn room(&mut self, bytes: u32) -> u32 {
        if self.room.1 < bytes {
            self.room = (self.slot(), self.frame.place(1));
        }
        let at = self.room.0;
        self.room = (at + bytes, self.room.1 - bytes);
        at
    }

    /// Loads a part of a group, and all others, by an address that is computed from `leaves`.
    pub(super) fn by_address(&mut self, val: Val, op: Op, first: Val, leaves: &[Val]) {
        if let Some(&(number, bytes)) = self.addresses.and_then(|addresses| addresses.near.get(&val)) {
            let base = Base::Kept(number);
            if let Op::Part(view, _) | Op::Pair(view, _) = op {
                self.pinned.clear();
                self.free.append(&mut self.freed);
                if self.place[val.index()].nowhere() {
                    self.group(val, op, view, first, Some((base, bytes)));
                }
                return;
            }
            let same = self.graph.shape_of(first).among(self.target.lanes()) == Shape::Same;
            // What is read but once may stay where it is: nothing is stored before.
            if self.uses[val.index()].len() == 1 && (!same || self.target.splats()) {
                let place = &mut self.place[val.index()];
                *if same { &mut place.single } else { &mut place.near } = Some((base, bytes));
                return;
            }
            let to = self.take(val);
            let code = &mut self.frame.code;
            return match same {
                true => self.target.broadcast(code, to, base, bytes, false),
                false => self.target.near(code, to, base, bytes),
            };
        }
        let (Op::Part(view, _) | Op::Pair(view, _) | Op::Member(view, _)) = op else { return };
        self.pinned = leaves.into();
        self.free.append(&mut self.freed);
        if self.place[val.index()].nowhere() {
            let (first, words) = self.graph.beside.get(&val).copied().unwrap_or((first, 0));
            let based = match self.graph.node(first) {
                Node::Kept(number) => self.frame.based.get(&(view, number)).copied(),
                _ => None,
            };
            let packed = self.addresses.and_then(|addresses| addresses.packed.get(&val)).copied();
            let held = || self.pointers.iter().position(|pointer| pointer.of == Some((view, first)));
            let pointer = if words > 0 { held() } else { None };
            let mut kept = None;
            match packed {
                Some(Found { at: At::Stack(at), .. }) => self.take_address(at),
                Some(Found { at: At::Kept(number), .. }) => kept = Some(number.into()),
                None if based.is_none() && pointer.is_none() && self.held != Some(Held::Of(view, first)) => {
                    if !matches!(op, Op::Member(..)) && self.behind(view, first).is_some() {
                        kept = self.free_pointer((view, first));
                    }
                    self.address(view, first, kept.map(|kept| kept as u8));
                }
                None => {}
            }
            let parts = self.graph.groups[&val];
            let count = parts.iter().filter(|part| **part != NO).count() as u32;
            if let Op::Member(..) = op {
                let (mut base, far) =
                    based.map_or((Base::First, 4 * words), |(number, far)| (Base::Kept(number), far));
                base = kept.map_or(base, |number| Base::Kept(number as u8));
                self.ask_further(first, words, count, base, packed);
                // What is read but once may stay where it is.
                let once = parts.iter().all(|part| *part == NO || self.uses[part.index()].len() == 1);
                let pointer = if self.frame.summing && once && packed.is_none() {
                    pointer.or_else(|| self.keep_address((view, first)))
                } else {
                    None
                };
                if let Some(number) = pointer {
                    self.pointers[number].parts.extend(parts.iter().filter(|part| **part != NO));
                    base = Base::Kept(number as u8);
                }
                for (k, part) in (0..).zip(parts).filter(|(_, part)| *part != NO) {
                    let bytes = far.wrapping_add(4 * self.target.lanes() * k);
                    if pointer.is_some() || kept.is_some() && once {
                        self.place[part.index()].near = Some((base, bytes));
                    } else if self.next_use(part).is_some() {
                        let to = self.take(part);
                        self.pinned.push(part);
                        self.target.near(&mut self.frame.code, to, base, bytes);
                        let place = &mut self.place[part.index()];
                        match packed.map(|found| found.at) {
                            Some(At::Stack(at)) => place.far = Some((at, bytes)),
                            Some(At::Kept(_)) => place.near = Some((base, bytes)),
                            None => {}
                        }
                    }
                }
            } else {
                let kept = kept.or_else(|| self.keep_address((view, first)));
                let (base, at) = self.element_of(kept, parts, count);
                for (k, part) in parts.into_iter().enumerate().filter(|(_, part)| *part != NO) {
                    let word = if matches!(op, Op::Pair(..)) { k / 2 * 2 } else { k };
                    self.place[part.index()].single = Some((base, at + 4 * word as u32));
                }
            }
        }
        leaves.iter().for_each(|leaf| self.release(*leaf));
    }

    /// Asks for what the next round reads of elements of so many vectors, once for all strips that find them by one address.
    fn ask_further(&mut self, first: Val, words: u32, count: u32, base: Base, packed: Option<Found>) {
        if words > 0 {
            return;
        }
        let shared = self.graph.beside.values().any(|(from, _)| *from == first);
        let strips = if shared { self.frame.strips.line.min(self.frame.strips.number) } else { 1 };
        let bytes = 4 * self.target.lanes() * count * strips;
        if let Some(at) = packed.and_then(|found| found.distance) {
            let short = self.graph.nodes.len() < LONG;
            self.target.fetch_further(&mut self.frame.code, base, at, bytes, short);
        } else if let Some(at) = self.ahead.pop() {
            self.target.fetch_ahead(&mut self.frame.code, at, bytes);
        }
    }

    /// The number of a register for the address of something, if one is free.
    fn free_pointer(&mut self, of: (u8, Val)) -> Option<usize> {
        let used = |pointer: &Pointer| pointer.parts.iter().any(|val| self.next_use(*val).is_some());
        let mut all = self.pointers.iter().enumerate().skip(self.reserved);
        let (free, _) = all.find(|(_, pointer)| !used(pointer))?;
        self.pointers[free] = Pointer { of: Some(of), parts: Vec::new() };
        Some(free)
    }

    /// The same, which holds the address at hand from now on.
    fn keep_address(&mut self, of: (u8, Val)) -> Option<usize> {
        let free = self.free_pointer(of)?;
        self.target.keep_address(&mut self.frame.code, free as u8);
        Some(free)
    }

    /// Where the element whose address was computed can be read for as long as it is used: there, if a register holds the address, else it
    /// is copied.
    fn element_of(&mut self, kept: Option<usize>, parts: [Val; 4], count: u32) -> (Base, u32) {
        if let Some(kept) = kept {
            self.pointers[kept].parts = parts.into_iter().filter(|part| *part != NO).collect();
            return (Base::Kept(kept as u8), 0);
        }
        let at = self.room(4 * count);
        self.target.copy_element(&mut self.frame.code, count, at);
        (Base::Stack, at)
    }
}
