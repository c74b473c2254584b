//! Kernel text: parser, printer, checker, lowering, SPIR-V.

use arbitrary::Unstructured;
use recal_il::diagnostic::{Severity, render};
use recal_il::ir::validate::validate;
use recal_il::spirv::{self, Assume, Mode, Target};

use crate::generate;

/// Longest text: beyond it nothing new happens, only more slowly.
const LONGEST: usize = 16 << 10;

/// Any bytes as a kernel text.
pub fn text(data: &[u8]) {
    if data.len() <= LONGEST {
        check(data);
    }
}

/// A text made from the bytes: instructions of the table, mostly well-formed.
pub fn structured(data: &[u8]) {
    let mut choices = Unstructured::new(data);
    check(generate::text(&mut choices).as_bytes());
}

/// Everything that holds for every text.
fn check(text: &[u8]) {
    if let Ok(tree) = recal_il::text::parse(text) {
        let printed = recal_il::text::print(&tree);
        let again = match recal_il::text::parse(printed.as_bytes()) {
            Ok(again) => again,
            Err(errors) => panic!("{}", render(&errors, printed.as_bytes(), "printed")),
        };
        assert_eq!(again.without_spans(), tree.without_spans(), "{printed}");
    }
    let kernel = match recal_il::front(text) {
        Ok(kernel) => kernel,
        Err(errors) => {
            assert!(errors.iter().any(|d| d.severity == Severity::Error), "refused without a reason");
            for d in &errors {
                assert!(d.span.start <= d.span.end && d.span.end as usize <= text.len(), "{d:?}");
            }
            assert!(!render(&errors, text, "kernel").is_empty());
            return;
        }
    };
    let Ok(program) = recal_il::lower::lower(&kernel) else { return };
    validate(&program).unwrap_or_else(|e| panic!("{e:?}\n{}", String::from_utf8_lossy(text)));
    if let Ok((named, _)) = recal_il::lower::lower_named(&kernel) {
        validate(&named).unwrap_or_else(|e| panic!("{e:?}\n{}", String::from_utf8_lossy(text)));
    }
    for mode in [Mode::Faithful, Mode::Native] {
        // What a device cannot do is refused, which is all right.
        let _ = spirv::emit(&program, &Target::full(mode), Assume::NOTHING);
    }
}
