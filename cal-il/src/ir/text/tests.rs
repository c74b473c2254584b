//! What is written is read again, and what is no program is told with its place. The suite reads every program of its cases
//! (`tests/suite/tests/program_text.rs`).

use super::{is_program, parse};
use crate::diagnostic::position;
use crate::ir::Program;
use crate::ir::validate::validate;

fn read(text: &str) -> Program {
    parse(text.as_bytes()).unwrap_or_else(|found| {
        let (line, column) = position(text.as_bytes(), found[0].span.start);
        panic!("{line}:{column}: {}\n{text}", found[0].message)
    })
}

/// Everything that a program may hold.
const WHOLE: &str = "\
program compute
registers 40
group exact 64 1 1
position centre
interpolants 3
outputs 0 15
resources 2 d2 unnormalized
declared resources 4 buffer assumed
samplers 1
constants 0 16
immediates (1.5f, 2, 0xFFFFFFFF, 0x00010000)
uavs 0 raw
uavs 1 structured 16
uavs 2 typed d2_array
uavs 3 arena
srvs 5 0
global
arrays 0 4
lds 0 256 stride 16
internal lds 4294967294 4 stride 0
lds_dwords_per_thread 4
gds 0 64 stride 0
shared 2
counters 0
output 0 = %0 %1 %2 %3
function 0 {
  @12:30 %0 = Iadd vTidInGrpFlat.x, cb0[3].w
  %2 %3 = Dadd %0, %1, 0, 0x7FF80000
  %0 %1 _ _ = Sample resource=2+%5 sampler=1 unnormalized=true coord=(1.5f, -2.0f, %4) offset=(1, 0, -128)
  _ %1 _ _ = Gather resource=2 sampler=1 coord=(v3.x, vWinCoord0.y) texel_offset=(%1, %2) component=3
  %0 %1 %6 %7 = Fetch resource=2 coord=(%1, vObjIndex0, Tmr.y)
  %0 _ _ _ = ResourceInfo resource=2 uint=true
  %0 _ _ _ = BufferInfo of=resource(2+%1)
  %0 %1 _ _ = BufferInfo of=uav1
  %0 %1 _ _ = BufferInfo of=srv5
  %0 _ _ _ = ConstLoad buffer=0 index=%1 offset=-3
  %0 _ _ _ = ImmediateLoad index=%1
  %0 _ _ _ = ArrayLoad array=0 index=%1
  ArrayStore array=0 index=%1 offset=2 src=(%1, _, 1e-7f, _)
  _ _ _ _ = GlobalLoad index=7
  GlobalStore index=cu_id src=(%1, wave_id, _, 0x80000000)
  %0 _ _ %3 = SharedLoad register=1
  SharedStore register=0 src=(%1, %2, %3, %4)
  %0 %1 _ _ = RawLoad space=lds0 address=%3
  %0 _ _ _ = RawLoad space=uav3 address=%3 width=i16
  RawStore space=gds0 address=%3 width=u8 src=(%0, _, _, _)
  %0 _ _ _ = TypedLoad uav=2 coord=(%1, %2, 0)
  TypedStore uav=2 coord=(%1, %2, 0) src=(%1, %2, %3, %4)
  Atomic op=umax space=uav0 address=%1 src=%2
  %5 = Atomic op=cmpxchg space=uav2 address=(%1, %2, 0) src=%2 src2=%3 wide=(%4, 0, %6)
  %5 = Atomic op=mskor space=lds0 address=%1 src=%2 src2=%3 wide=(%4, _, _)
  LdsWriteOwn offset=2 src=(%1, %2, _, _)
  %0 _ _ _ = LdsReadAny thread=%1 offset=%2 neighbor_exchange=true
  %0 = Counter uav=0 consume=true
  InitShared
  loop {
    if !%3 {
      break
    } else {
      continue if %4
    }
    break if %5
    switch %6 {
      case 1 -7 {
        fence threads+lds
        break
      }
      case default {
      }
    }
    if %1 {
    }
    fence memory
  }
  call 1 if !%4
  discard if %1
  return if %2
  fence
}
function 1 label 77 {
  call 2
  return
}
function 2 {
}
";

#[test]
fn all_that_a_program_holds_is_written_and_read() {
    let program = read(WHOLE);
    let places = WHOLE.replace("  @12:30 ", "  ");
    assert_eq!(program.to_string(), places);
    assert_eq!(read(&format!("{program:#}")), program);
    assert_eq!(program.functions[0].body[0].span.start, 12);
    assert!(program.declared.resources.len() == 2 && program.interface.resources.len() == 1);
    assert!(program.interface.lds.len() == 2 && program.declared.lds.len() == 1);
    // Only what belongs to pixels is wrong with it.
    assert_eq!(validate(&program), Err(vec!["discard in a compute program".to_string()]));
}

#[test]
fn what_a_program_touches_is_in_its_interface() {
    for line in [
        "interpolants 3",
        "outputs 0 15",
        "constants 0 16",
        "uavs 0 raw",
        "uavs 1 structured 16",
        "uavs 2 typed d2_array",
        "uavs 3 arena",
        "srvs 5 0",
        "global",
        "arrays 0 4",
        "lds 0 256 stride 16",
        "lds_dwords_per_thread 4",
        "gds 0 64 stride 0",
        "shared 2",
        "counters 0",
    ] {
        let text = WHOLE.replacen(&format!("{line}\n"), "", 1);
        let defects = validate(&read(&text)).unwrap_err();
        assert!(text != WHOLE && defects.len() > 1, "{line}: {defects:?}");
    }
    let computed = WHOLE.replacen("resources 2 d2 unnormalized\n", "", 1);
    assert_ne!(computed, WHOLE);
    // A computed number may turn out to be a constant: what is not declared reads 0.
    assert_eq!(validate(&read(&computed)), validate(&read(WHOLE)));
    let other = WHOLE.replace("uavs 2 typed d2_array", "uavs 2 arena");
    assert!(validate(&read(&other)).unwrap_err().contains(&"typed uav2 is not in the interface".to_string()));
}

#[test]
fn blanks_comments_and_ends_of_lines_do_not_count() {
    let text = WHOLE.replace('\n', " ; a comment }\r\n\n").replace("  ", "\t ");
    assert_eq!(read(&text), read(WHOLE));
    assert_eq!(read(WHOLE.trim_end()), read(WHOLE));
}

#[test]
fn words_are_read_in_every_form() {
    let text = |word: &str| format!("program pixel\nregisters 1\nfunction 0 {{\n%0 = Mov {word}\n}}\n");
    for (word, bits) in [
        ("1.0f", 0x3F80_0000),
        ("-1.5e-7f", (-1.5e-7f32).to_bits()),
        ("0x3f800000", 0x3F80_0000),
        ("-1", u32::MAX),
        ("4294967295", u32::MAX),
        ("65535", 65535),
    ] {
        let program = read(&text(word));
        assert!(program.to_string().contains("Mov "), "{program}");
        let found = match &program.functions[0].body[0].kind {
            crate::ir::StmtKind::Lane(inst) => inst.args[0],
            other => panic!("{other:?}"),
        };
        assert_eq!(found, crate::ir::Operand::Imm(bits), "{word}");
        assert_eq!(read(&program.to_string()), program);
    }
    for word in
        ["1.0", "inff", "nanf", "0x1ffffffff", "4294967296", "f", "-", "r0", "vTid", "cb0[-1].x", "cb0[1]"]
    {
        assert!(parse(text(word).as_bytes()).is_err(), "{word}");
    }
}

/// Line and column of a mistake, and what is said.
fn mistake(text: &str) -> (usize, usize, String) {
    let found = parse(text.as_bytes()).expect_err(text);
    let (line, column) = position(text.as_bytes(), found[0].span.start);
    (line, column, found[0].message.clone())
}

#[test]
fn mistakes_have_their_places() {
    let body = |line: &str| format!("program pixel\nregisters 9\nfunction 0 {{\n{line}\n}}\n");
    for (line, column, said) in [
        ("%0 = Iade %1, %2", 6, "`Iade` is no operation"),
        ("Iadd %1, %2", 1, "`Iadd` writes one register or two"),
        ("%0 %1 %2 = Iadd %1, %2", 12, "`Iadd` writes one register or two"),
        ("%0 = Iadd %1 %2", 14, "expected `,`"),
        ("%0 = RawLoad space=lds0 address=%1", 6, "`RawLoad` has another number of results"),
        ("%0 = InitShared", 6, "`InitShared` has no result"),
        ("RawStore space=lds0 src=(_, _, _, _)", 21, "expected `address=`"),
        ("RawStore address=%1 space=lds0 src=(_, _, _, _)", 10, "expected `space=`"),
        ("RawStore space=cb0 address=%1 src=(_, _, _, _)", 16, "`cb0` is no memory"),
        ("if %1", 6, "expected `{`"),
        ("loop {", 7, "expected `}`"),
        ("switch 1 {\nbreak\n}", 11, "expected `case`"),
        ("discard", 8, "expected `if`"),
        ("break %1", 7, "expected the end of the line"),
        ("fence lsd", 7, "`lsd` is no fence"),
    ] {
        let (_, c, message) = mistake(&body(line));
        let column = if line.contains('\n') || line.starts_with("loop") { c } else { column };
        assert_eq!((c, message.as_str()), (column, said), "{line}");
    }
    for (text, said) in [
        ("", "expected `program`"),
        ("il_ps_2_0\nend\n", "expected `program`"),
        ("program vertex", "`vertex` is no stage"),
        ("program pixel\n", "expected `function 0`"),
        ("program pixel\nregister 4\n", "`register` is nothing that a program has"),
        ("program pixel\nregisters 4000000000\n", "more than 16777216 registers"),
        ("program pixel\nuavs 0 raw\nuavs 0 arena\n", "number 0 again"),
        ("program pixel\nfunction 1 {\n}\n", "expected function 0"),
    ] {
        assert_eq!(mistake(text).2, said, "{text}");
    }
    let deep = format!("program pixel\nfunction 0 {{\n{}{}}}\n", "loop {\n".repeat(2000), "}\n".repeat(2000));
    assert_eq!(mistake(&deep).2, "blocks in more than 1024 others");
}

#[test]
fn a_program_is_told_from_a_kernel() {
    assert!(is_program(b"; a comment\n\nprogram pixel\n"));
    assert!(!is_program(b"il_ps_2_0\nend\n") && !is_program(b"") && !is_program(b"programs"));
}

/// Whatever is cut from the text or doubled in it: a program or a mistake, and a program is written as what is read again.
#[test]
fn damaged_text_is_a_program_or_a_mistake() {
    let bytes = WHOLE.as_bytes();
    let (mut good, mut bad) = (0, 0);
    for at in 0..bytes.len() {
        for (from, to, put) in
            [(at, at + 1, &b""[..]), (at, at, b"7"), (at, at + 1, b"}"), (at, bytes.len(), b"")]
        {
            let text = [&bytes[..from], put, &bytes[to..]].concat();
            match parse(&text) {
                Ok(program) => {
                    assert_eq!(read(&program.to_string()).to_string(), program.to_string());
                    good += 1;
                }
                Err(found) => {
                    assert!(found[0].span.start <= found[0].span.end);
                    assert!(found[0].span.end as usize <= text.len(), "{:?}", found[0]);
                    bad += 1;
                }
            }
        }
    }
    assert!(good > 500 && bad > 5000, "{good} {bad}");
}
