//! Addresses that vectors compute, one in each lane.
//!
//! In a loop that adds up products elements are found by the same few operations from different words: rows and limits of surfaces, columns,
//! where surfaces begin. General registers do that one after another, and half of all instructions of a loop were theirs. Here what does not change is
//! put side by side before the loop, words that do are put there a round ahead, and a round begins with all its addresses.

use super::address::{Addresses, MOST, arithmetic};
use super::frame::Frame;
use crate::graph::{Graph, NO, Node, Val};
use crate::op::Op;
use crate::target::{Base, Rm, Scalar};
use rustc_hash::FxHashMap;

/// Fewest values of a block that begins so: shorter rounds wait for their addresses, longer ones of a processor's last round still go on.
pub const LONG: usize = 512;
/// Fewest addresses that are worth it.
const FEWEST: usize = 4;
/// Most vectors of them.
const MOST_PACKS: usize = 12;
/// Registers that a computation may take, from the first one on, and what else is needed.
const REGISTERS: u8 = 4;
const LOW: u8 = REGISTERS;
const HIGH: u8 = REGISTERS + 1;
const ZERO: u8 = REGISTERS + 2;
/// All that they need.
pub const NEEDED: u8 = ZERO + 1;

/// The addresses of a block.
#[derive(Default)]
pub struct Packs {
    list: Vec<Pack>,
    /// Where each is when they are computed.
    found: FxHashMap<(u8, Val), Found>,
    /// What is ready for this round and other in the next one, by number, whose first words lie side by side.
    words: Vec<u32>,
    /// Where they are.
    at: u32,
    /// How many registers are taken for as long as the loop runs.
    pub registers: usize,
}

/// Where an address is when a block begins.
#[derive(Clone, Copy)]
pub struct Found {
    pub at: At,
    /// Where it says how far it is from that of the last round.
    pub distance: Option<u32>,
}

/// Which place that is.
#[derive(Clone, Copy)]
pub enum At {
    Stack(u32),
    /// The register for an address, by number, which keeps it for as long as the loop runs.
    Kept(u8),
}

struct Pack {
    way: Way,
    /// Two vectors of 64-bit elements each: where views begin, addresses, and how far they are from those of the last round.
    views: [u32; 2],
    at: [u32; 2],
    distances: Option<[u32; 2]>,
}

/// How a vector is computed.
enum Way {
    /// One word for all lanes.
    Same(Node),
    /// What does not change, at a place on the stack.
    Fixed(u32),
    /// The words with these numbers of those that do.
    Words(Vec<u32>),
    Inst(Op, Box<[Way]>),
}

/// What an address is computed of, without which words: operations behind their operands.
#[derive(Clone, Copy, PartialEq)]
enum Token {
    Fixed,
    /// It changes from round to round.
    Word,
    Op(Op),
}

/// An address by its parts.
struct Address {
    view: u8,
    first: Val,
    /// Elements there lie side by side.
    member: bool,
    tokens: Vec<Token>,
    leaves: Vec<Val>,
}

impl Address {
    /// Of the word number `first` in a view, if it consists of what does not change and the words that `next` makes.
    fn of(
        graph: &Graph,
        view: u8,
        first: Val,
        member: bool,
        frame: &Frame<'_>,
        next: &Next<'_>,
    ) -> Option<Address> {
        let mut address = Address { view, first, member, tokens: Vec::new(), leaves: Vec::new() };
        let registers = address.collect(graph, first, frame, next)?;
        (registers <= REGISTERS && address.tokens.contains(&Token::Word)).then_some(address)
    }

    /// Notes a part; the registers that it takes.
    fn collect(&mut self, graph: &Graph, val: Val, frame: &Frame<'_>, next: &Next<'_>) -> Option<u8> {
        if let Some((op, a, b)) = arithmetic(graph, val) {
            let mut registers = self.collect(graph, a, frame, next)?;
            if b != NO {
                registers = registers.max(1 + self.collect(graph, b, frame, next)?);
            }
            self.tokens.push(Token::Op(op));
            return (self.tokens.len() <= 3 * MOST).then_some(registers);
        }
        let token = match graph.node(val) {
            Node::Word(_) | Node::Field(..) => Token::Fixed,
            Node::Kept(number) if next.own.contains(&number) => Token::Word,
            Node::Kept(number) if !next.all.contains(&number) => Token::Fixed,
            Node::Row(row) if !frame.moved.contains_key(&row) => Token::Fixed,
            _ => return None,
        };
        self.tokens.push(token);
        self.leaves.push(val);
        Some(1)
    }
}

/// What a block makes for the next round, by number, and what all blocks of the loop do.
pub struct Next<'a> {
    pub own: &'a [u32],
    pub all: &'a [u32],
}

impl Packs {
    /// Finds what of a block's addresses can be computed so, and appends what is done before the loop.
    pub fn of(graph: &Graph, addresses: &Addresses, frame: &mut Frame<'_>, next: &Next<'_>) -> Packs {
        let lanes = frame.target.lanes() as usize;
        let mut groups: Vec<Vec<Address>> = Vec::new();
        let mut packs = Packs::default();
        for (view, first, member) in addresses.accesses(graph) {
            let Some(address) = Address::of(graph, view, first, member, frame, next) else { continue };
            if !packs.take_words(graph, &address, lanes) {
                continue;
            }
            let alike = |group: &&mut Vec<Address>| {
                let other = &group[0];
                group.len() < lanes && other.member == member && other.tokens == address.tokens
            };
            match groups.iter_mut().find(alike) {
                Some(group) => group.push(address),
                None => groups.push(vec![address]),
            }
        }
        groups.retain(|group| group.len() >= FEWEST);
        groups.truncate(MOST_PACKS);
        if groups.is_empty() {
            return Packs::default();
        }
        packs.at = frame.slot();
        for group in groups {
            packs.add(graph, &group, frame);
        }
        packs
    }

    /// Addresses that are there already when a block begins, and how many registers the loop takes.
    pub fn ready(found: FxHashMap<(u8, Val), Found>, registers: usize) -> Packs {
        Packs { found, registers, ..Packs::default() }
    }

    /// Copies what words there are for the next round, when a loop begins.
    pub fn begin(&self, frame: &mut Frame<'_>) {
        for (number, kept) in (0..).zip(&self.words) {
            let from = (Base::Stack, frame.kept[*kept as usize]);
            copy_word(frame, from, self.at + 4 * number);
        }
    }

    /// There is room for the words that an address needs.
    fn take_words(&mut self, graph: &Graph, address: &Address, lanes: usize) -> bool {
        let before = self.words.len();
        let kinds = address.tokens.iter().filter(|token| !matches!(token, Token::Op(_)));
        for (_, leaf) in kinds.zip(&address.leaves).filter(|(kind, _)| **kind == Token::Word) {
            let Node::Kept(number) = graph.node(*leaf) else { continue };
            if !self.words.contains(&number) {
                self.words.push(number);
            }
        }
        let fits = self.words.len() <= lanes;
        if !fits {
            self.words.truncate(before);
        }
        fits
    }

    fn add(&mut self, graph: &Graph, group: &[Address], frame: &mut Frame<'_>) {
        let lanes = frame.target.lanes();
        let mut pair = || [frame.slot(), frame.slot()];
        let (views, at) = (pair(), pair());
        let distances = group[0].member.then(pair);
        for (lane, address) in (0..).zip(group) {
            let place =
                |[low, high]: [u32; 2]| if lane % 4 < 2 { low } else { high } + 8 * (lane / 4 * 2 + lane % 2);
            // The first round has none before it.
            for pair in [Some(views), distances.map(|_| at)].into_iter().flatten() {
                frame.target.view_to_stack(&mut frame.code, address.view, place(pair));
            }
            let found = Found { at: At::Stack(place(at)), distance: distances.map(place) };
            self.found.insert((address.view, address.first), found);
        }
        // Lanes without an address compute the first one's.
        let mut stack: Vec<Way> = Vec::new();
        let mut leaf = 0;
        for token in &group[0].tokens {
            let way = match token {
                Token::Op(op) => {
                    let count = if matches!(op, Op::ShlBy(_)) { 1 } else { 2 };
                    Way::Inst(*op, stack.drain(stack.len() - count..).collect())
                }
                kind => {
                    let of = |lane: u32| group.get(lane as usize).unwrap_or(&group[0]).leaves[leaf];
                    let leaves: Vec<Val> = (0..lanes).map(of).collect();
                    leaf += 1;
                    if *kind == Token::Word {
                        self.words_of(graph, &leaves)
                    } else {
                        fixed(graph, &leaves, frame)
                    }
                }
            };
            stack.push(way);
        }
        self.list.extend(stack.pop().map(|way| Pack { way, views, at, distances }));
    }

    fn words_of(&self, graph: &Graph, leaves: &[Val]) -> Way {
        let number = |val: &Val| self.words.iter().position(|word| Node::Kept(*word) == graph.node(*val));
        Way::Words(leaves.iter().filter_map(number).map(|number| number as u32).collect())
    }

    pub fn find(&self, view: u8, first: Val) -> Option<Found> {
        self.found.get(&(view, first)).copied()
    }

    /// Where the first word of what is ready is to be for the next round, by number, if addresses need it.
    pub fn word(&self, number: u32) -> Option<u32> {
        let at = self.words.iter().position(|word| *word == number)?;
        Some(self.at + 4 * at as u32)
    }

    /// Computes them, when no register is taken that blocks are given.
    pub fn compute(&self, frame: &mut Frame<'_>) {
        let target = frame.target;
        if !self.list.is_empty() {
            target.constant(&mut frame.code, frame.pool, ZERO, Node::Word(0));
        }
        for pack in &self.list {
            self.vector(&pack.way, 0, frame);
            let mut operation = |op, to, args: [Rm; 2]| {
                frame.instructions += 1;
                target.operation(&mut frame.code, frame.pool, op, to, [args[0], args[1], Rm::Reg(0)], None);
            };
            for (op, to) in [(Op::ZipLow, LOW), (Op::ZipHigh, HIGH)] {
                operation(op, to, [Rm::Reg(0), Rm::Reg(ZERO)]);
            }
            for (to, views) in [LOW, HIGH].into_iter().zip(pack.views) {
                operation(Op::QShlBy(2), to, [Rm::Reg(to), Rm::Reg(to)]);
                operation(Op::QAdd, to, [Rm::Reg(to), Rm::Mem(Base::Stack, views)]);
            }
            for (k, to) in [LOW, HIGH].into_iter().enumerate() {
                if let Some(distances) = pack.distances {
                    target.load(&mut frame.code, 0, Rm::Mem(Base::Stack, pack.at[k]));
                    let args = [Rm::Reg(to), Rm::Reg(0), Rm::Reg(0)];
                    target.operation(&mut frame.code, frame.pool, Op::QSub, 0, args, None);
                    target.store(&mut frame.code, 0, Base::Stack, distances[k]);
                }
                target.store(&mut frame.code, to, Base::Stack, pack.at[k]);
            }
        }
    }

    /// A register = what a vector is computed of; those behind it are lost.
    fn vector(&self, way: &Way, to: u8, frame: &mut Frame<'_>) {
        let target = frame.target;
        match way {
            Way::Same(node) => target.constant(&mut frame.code, frame.pool, to, *node),
            Way::Fixed(at) => target.load(&mut frame.code, to, Rm::Mem(Base::Stack, *at)),
            Way::Words(numbers) => {
                let table = frame.pool.table(numbers);
                target.load(&mut frame.code, to, Rm::Mem(Base::Pool, table));
                target.choose_words(&mut frame.code, to, self.at);
            }
            Way::Inst(op, args) => {
                frame.instructions += 1;
                self.vector(&args[0], to, frame);
                let second = match args.get(1) {
                    Some(Way::Fixed(at)) if target.takes_memory(*op) => Rm::Mem(Base::Stack, *at),
                    Some(way) => {
                        self.vector(way, to + 1, frame);
                        Rm::Reg(to + 1)
                    }
                    None => Rm::Reg(to),
                };
                let args = [Rm::Reg(to), second, Rm::Reg(to)];
                target.operation(&mut frame.code, frame.pool, *op, to, args, None);
            }
        }
    }
}

/// Words that do not change, side by side.
fn fixed(graph: &Graph, leaves: &[Val], frame: &mut Frame<'_>) -> Way {
    let node = graph.node(leaves[0]);
    let constant = matches!(node, Node::Word(_) | Node::Field(..));
    if constant && leaves.iter().all(|leaf| graph.node(*leaf) == node) {
        return Way::Same(node);
    }
    let at = frame.slot();
    for (lane, leaf) in (0..).zip(leaves) {
        let from = match graph.node(*leaf) {
            Node::Word(word) => (Base::Pool, frame.pool.word(word)),
            Node::Field(view, field) => (Base::Views, frame.target.field(view, field)),
            Node::Kept(number) => (Base::Stack, frame.kept[number as usize]),
            Node::Row(row) => frame.place_of(row),
            node => unreachable!("{node:?} changes"),
        };
        copy_word(frame, from, at + 4 * lane);
    }
    Way::Fixed(at)
}

fn copy_word(frame: &mut Frame<'_>, from: (Base, u32), to: u32) {
    frame.target.scalar(&mut frame.code, Scalar::Move, 0, Ok(from));
    frame.target.word_to_stack(&mut frame.code, to);
}
