//! Brook+ sources: whatever brcc accepts is good AMD IL, and what it refuses it explains.

use brcc::diagnostic::{Severity, render};
use recal_il::diagnostic::render as render_il;

/// Longest source: beyond it nothing new happens, only more slowly.
const LONGEST: usize = 16 << 10;

/// The first byte chooses options, the rest is a source.
pub fn brook(data: &[u8]) {
    let Some((choice, rest)) = data.split_first() else { return };
    if rest.len() > LONGEST {
        return;
    }
    let bit = |n: u8| choice >> n & 1 != 0;
    let options = brcc::Options {
        strong: !bit(0),
        preprocess: bit(1),
        no_constant_arrays: bit(2),
        translation: !bit(3),
        line_directives: bit(4),
        prototypes: bit(5),
        as_chars: bit(6),
        warnings_are_errors: bit(7),
        warning_level: 3,
        ..brcc::Options::default()
    };
    let source = String::from_utf8_lossy(rest);
    let found = match brcc::compile(&source, &options) {
        Ok(output) => {
            for pass in output.kernels.iter().flat_map(|k| &k.techniques).flat_map(|t| &t.passes) {
                if let Err(errors) = recal_il::front(pass.text.as_bytes()) {
                    let said = render_il(&errors, pass.text.as_bytes(), "kernel");
                    panic!("{source}\n{}\n{said}", pass.text);
                }
            }
            output.warnings
        }
        Err(found) => {
            assert!(found.iter().any(|d| d.severity == Severity::Error), "refused without a reason");
            found
        }
    };
    for d in &found {
        assert!(
            d.span.start <= d.span.end && d.span.end as usize <= source.len(),
            "{d:?} of {}",
            source.len()
        );
    }
    assert_eq!(render(&found, &source, "k.br").is_empty(), found.is_empty());
}
