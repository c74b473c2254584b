//! `text::format`: the program stays, comments stay, and what is laid out stays as it is.

use std::fs;
use std::path::{Path, PathBuf};

use recal_il::text::{format, parse};

fn kernels(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            kernels(&path, found);
        } else if path.extension().is_some_and(|e| e == "il") {
            found.push(path);
        }
    }
}

/// What comments say, in order, up to `end`.
fn comments(text: &[u8]) -> Vec<Vec<u8>> {
    let text = parse(text).map_or(text, |ast| &text[..ast.statements.last().unwrap().span.end as usize]);
    let comment =
        |line: &[u8]| line.iter().position(|b| *b == b';').map(|at| line[at..].trim_ascii().to_vec());
    text.split(|b| *b == b'\n').filter_map(comment).collect()
}

#[test]
fn programs_and_comments_stay_and_layout_is_final() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut paths = Vec::new();
    for folder in ["tests/cases", "tests/il/accept", "docs/manual/examples"] {
        kernels(&root.join(folder), &mut paths);
    }
    let mut tried = 0;
    for path in paths {
        let text = fs::read(&path).unwrap();
        let Ok(tree) = parse(&text) else { continue };
        let once = format(&text).unwrap();
        let shown = || format!("{}:\n{}", path.display(), String::from_utf8_lossy(&once));
        let again = parse(&once).unwrap_or_else(|e| panic!("{}\n{e:?}", shown()));
        assert_eq!(again.without_spans(), tree.without_spans(), "{}", shown());
        assert_eq!(comments(&once), comments(&text), "{}", shown());
        assert_eq!(
            String::from_utf8_lossy(&format(&once).unwrap()),
            String::from_utf8_lossy(&once),
            "{}",
            path.display()
        );
        assert!(once.ends_with(b"\n") && !once.ends_with(b"\n\n"), "{}", shown());
        tried += 1;
    }
    assert!(tried > 200, "only {tried} kernels");
}

#[test]
fn a_text_is_laid_out() {
    let text = b"; first\nil_ps_2_0   dcl_output_generic o0 ; what\n\n\n\ndcl_literal l0,1.0 , 2,0x3,4\nmov r0,l0\nwhileloop\n\
        ; counts\nif_logicalnz r0 . x\nbreak\nelse\n\tadd   r0 ,r0,r1_neg( xyzw )\n; last\nendif endloop\nswitch r0.x\ncase 1\nmov r1, r0\n\
        default\nmov r1, x0[ r0.x  + 1 ]\nendswitch\nmov o0,r0 endmain\n; f\nfunc 1\nret\nendfunc\nend\nrest  of it\n";
    let text = String::from_utf8_lossy(text).replace("r0 . x", "r0.x").replace("_neg( xyzw )", "_neg(xyzw)");
    let text = text.replace("mov r0,l0", "dcl_indexed_temp_array x0[4]\nmov r0,l0");
    let wanted = "; first
il_ps_2_0
dcl_output_generic o0  ; what

dcl_literal l0, 1.0, 2, 0x3, 4
dcl_indexed_temp_array x0[4]
mov r0, l0
whileloop
    ; counts
    if_logicalnz r0.x
        break
    else
        add r0, r0, r1_neg(xyzw)
        ; last
    endif
endloop
switch r0.x
    case 1
        mov r1, r0
    default
        mov r1, x0[r0.x + 1]
endswitch
mov o0, r0
endmain
; f
func 1
    ret
endfunc
end
rest  of it
";
    assert_eq!(String::from_utf8(format(text.as_bytes()).unwrap()).unwrap(), wanted);
    assert_eq!(format(b"il_ps_2_0\nmadd r0, r1, r2\nend\n").unwrap_err()[0].rule, "unknown-opcode");
}
