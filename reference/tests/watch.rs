//! Who watches is told of what waves do, in the order in which they do it.

use std::time::Duration;

use recal_hal::{Extent, Format};
use recal_il::ir::{Program, StmtKind};
use recal_reference::watch::{Event, Scene, Watch, profile};
use recal_reference::{Launch, Machine, Stopped, Surface, parts};

fn compiled(text: &str) -> Program {
    recal_il::compile(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

fn group(threads: u32) -> Extent {
    Extent::Grid { groups: [1; 3], block: [threads, 1, 1] }
}

/// A machine whose `uav0` has so many words.
fn machine(words: u32) -> Machine {
    let mut machine = Machine::default();
    let memory = machine.memory(vec![0; 4 * words as usize]);
    machine.uavs.insert(0, Surface::row(memory, Format::UnsignedInt32x1, words));
    machine
}

/// Wave, what happens, and how many of its threads do it.
type Note = (u32, String, u32);

/// Writes down what happens, and ends the launch after so many events.
struct Notes<'t> {
    text: &'t str,
    list: Vec<Note>,
    most: usize,
}

impl Notes<'_> {
    fn note(&mut self, scene: &Scene<'_>, what: &str, event: Event<'_>) {
        let (kind, stmt) = match event {
            Event::Statement(stmt) => ("", Some(stmt)),
            Event::Round(stmt) => ("round of ", Some(stmt)),
            Event::Closed(stmt) => ("end of ", Some(stmt)),
            Event::End => ("the end", None),
        };
        let word =
            stmt.map_or("", |stmt| self.text[stmt.span.start as usize..].split_whitespace().next().unwrap());
        self.list.push((scene.wave(), format!("{what}{kind}{word}"), scene.executing().count_ones()));
    }
}

impl Watch for Notes<'_> {
    fn before(&mut self, scene: &Scene<'_>, event: Event<'_>) -> bool {
        self.note(scene, "", event);
        self.list.len() < self.most
    }

    fn after(&mut self, scene: &Scene<'_>, event: Event<'_>) {
        let construct = match event {
            Event::Statement(stmt) => !matches!(stmt.kind, StmtKind::Lane(_) | StmtKind::Memory(_)),
            Event::Round(_) | Event::Closed(_) | Event::End => true,
        };
        if construct {
            self.note(scene, "after ", event);
        }
    }
}

fn notes(text: &str, threads: u32, most: usize) -> (Vec<Note>, Result<(), Stopped>, Machine) {
    let (program, extent, mut machine) = (compiled(text), group(threads), machine(256));
    let mut notes = Notes { text, list: Vec::new(), most };
    let mut launch = Launch::of(&program);
    let ended = machine.run(&program, extent, &mut launch, 0..parts(extent), Some(&mut notes));
    (notes.list, ended, machine)
}

/// The waves of a group take turns at barriers, not at statements.
#[test]
fn waves_take_turns_at_barriers() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 100\ndcl_raw_uav_id(0)\ndcl_literal l0, 2, 0, 0, 0\n\
        ishl r0.x, vTidInGrpFlat.x, l0.x\nfence_threads\nuav_raw_store_id(0) mem.x___, r0.x, r0.x\nend\n";
    let (list, ended, machine) = notes(text, 100, usize::MAX);
    let expected = [
        (0, "ishl", 64),
        (0, "fence_threads", 64),
        (0, "after fence_threads", 64),
        (1, "ishl", 36),
        (1, "fence_threads", 36),
        (1, "after fence_threads", 36),
        (0, "uav_raw_store_id(0)", 64),
        (0, "the end", 64),
        (1, "uav_raw_store_id(0)", 36),
        (1, "the end", 36),
    ];
    let list: Vec<(u32, &str, u32)> =
        list.iter().map(|(wave, what, count)| (*wave, &**what, *count)).collect();
    assert_eq!(list, expected);
    assert_eq!(ended, Ok(()));
    assert_eq!(machine.memories[0][396..404], [140, 1, 0, 0, 0, 0, 0, 0]);
}

/// Each test of a construct is told with who takes part after it, then its rounds and its end.
#[test]
fn constructs_are_told_with_who_is_in_them() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 4\ndcl_literal l0, 1, 2, 0, 0\n\
        mov r0.x, l0.z\nwhileloop\nige r1.x, r0.x, vTidInGrpFlat.x\nbreak_logicalnz r1.x\niadd r0.x, r0.x, l0.x\n\
        ige r1.x, r0.x, l0.y\nbreak_logicalnz r1.x\nendloop\nif_logicalz r0.x\nelse\ncall 3\nendif\nendmain\n\
        func 3\nige r1.x, r0.x, l0.y\nret_logicalnz r1.x\nmov r2.x, l0.x\nret\nend\n";
    let (list, ended, _) = notes(text, 4, usize::MAX);
    let flow = list.iter().map(|(_, what, count)| (&**what, *count));
    let flow: Vec<(&str, u32)> =
        flow.filter(|(what, _)| ["after", "round", "the end"].iter().any(|k| what.starts_with(k))).collect();
    let expected = [
        ("after whileloop", 4),
        ("after break_logicalnz", 3),
        ("after break_logicalnz", 3),
        ("round of whileloop", 3),
        ("after round of whileloop", 3),
        ("after break_logicalnz", 2),
        ("after break_logicalnz", 0),
        ("after end of whileloop", 4),
        ("after if_logicalz", 1),
        ("after call", 3),
        ("after ret_logicalnz", 1),
        ("after end of call", 3),
        ("after end of if_logicalz", 4),
        ("the end", 4),
    ];
    assert_eq!(flow, expected);
    assert_eq!(ended, Ok(()));
}

#[test]
fn who_watches_may_end_the_launch_before_a_statement() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 1\ndcl_raw_uav_id(0)\ndcl_literal l0, 4, 7, 0, 0\n\
        uav_raw_store_id(0) mem.x___, l0.z, l0.y\nuav_raw_store_id(0) mem.x___, l0.x, l0.y\nend\n";
    for (most, words) in [(1, [0, 0]), (2, [7, 0]), (3, [7, 7])] {
        let (list, ended, machine) = notes(text, 1, most);
        assert_eq!((list.len(), ended), (most, Err(Stopped::Ended)));
        assert_eq!([machine.memories[0][0], machine.memories[0][4]], words);
    }
}

#[test]
fn counts_are_of_waves_and_of_their_threads() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 100\ndcl_raw_uav_id(0)\ndcl_literal l0, 2, 4, 1, 0\n\
        ishl r0.x, vTidInGrpFlat.x, l0.x\nult r1.x, vTidInGrpFlat.x, l0.y\nif_logicalnz r1.x\n\
        mad r2.x, r0.x, r0.x, r0.x\nendif\nuav_raw_store_id(0) mem.x___, r0.x, r2.x\n\
        iand r3.x, vTidInGrpFlat.x, l0.z\nswitch r3.x\ncase 1\nmov r2.x, l0.x\nbreak\ndefault\nmov r2.x, l0.y\nbreak\nendswitch\n\
        uav_raw_store_id(0) mem.x___, l0.w, l0.w\nend\n";
    let (program, mut machine) = (compiled(text), machine(256));
    let mut launch = Launch::of(&program);
    let limit = Duration::from_secs(60);
    let counted = profile(&mut machine, &mut launch, &program, group(100), limit).unwrap();
    assert_eq!((counted.parts, counted.lines), ((1, 1), 7));
    let of = |word: &str| {
        let found = counted.counts.iter().find(|c| text[c.span.start as usize..].starts_with(word)).unwrap();
        (found.executions, found.lanes, found.launched, found.splits)
    };
    assert_eq!(of("ishl"), (2, 100, 100, 0));
    assert_eq!(of("if_logicalnz"), (2, 100, 100, 1));
    assert_eq!(of("mad"), (1, 4, 64, 0));
    assert_eq!(of("switch"), (2, 100, 100, 2));
    let flops: u64 = counted.counts.iter().map(|counts| counts.flops).sum();
    assert_eq!(flops, 8, "a multiply-add of four threads");
    let stores = counted.counts.iter().filter(|c| text[c.span.start as usize..].starts_with("uav_raw_store"));
    let lines: Vec<(u64, u64)> = stores.map(|c| (c.lines, c.new_lines)).collect();
    assert_eq!(lines, [(7, 7), (2, 0)], "400 bytes, then one word of each wave");
}
