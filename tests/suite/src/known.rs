//! `tests/cases/known.toml`: failures that are known, each with its reason.
//!
//! ```toml
//! [[known]]
//! case = "flow/recursion"     # exact, or a prefix that ends in *
//! backend = "vulkan"          # if on one backend only
//! mode = "native"             # if in one float mode only
//! device = "llvmpipe"         # if on devices with this in their name only
//! reason = "why it fails and what must happen"
//! ```
//!
//! A known failure that passes is an error: the entry must go.

use serde::Deserialize;

/// The list.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    #[serde(default)]
    known: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    case: String,
    backend: Option<String>,
    mode: Option<String>,
    device: Option<String>,
    reason: String,
}

impl Known {
    /// Reads the list; a reason is required.
    pub fn parse(text: &str) -> Result<Known, String> {
        let known: Known = toml::from_str(text).map_err(|e| e.to_string())?;
        match known.known.iter().find(|e| e.reason.trim().is_empty()) {
            Some(entry) => Err(format!("{} has no reason", entry.case)),
            None => Ok(known),
        }
    }

    /// Why a case is known to fail there; with no device, on some device.
    pub fn reason(&self, case: &str, backend: &str, mode: &str, device: Option<&str>) -> Option<&str> {
        let names = |pattern: &str| match pattern.strip_suffix('*') {
            Some(prefix) => case.starts_with(prefix),
            None => case == pattern,
        };
        let fits = |wanted: &Option<String>, is: &str| wanted.as_deref().is_none_or(|w| w == is);
        self.known
            .iter()
            .filter(|e| names(&e.case) && fits(&e.backend, backend) && fits(&e.mode, mode))
            .find(|e| match (&e.device, device) {
                (Some(wanted), Some(device)) => device.contains(wanted.as_str()),
                _ => true,
            })
            .map(|e| e.reason.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Known;

    #[test]
    fn entries_name_cases_backends_and_modes() {
        let known = Known::parse(
            "[[known]]\ncase = 'a/*'\nbackend = 'vulkan'\nreason = 'x'\n[[known]]\ncase = 'b'\nmode = 'native'\nreason = 'y'",
        )
        .unwrap();
        assert_eq!(known.reason("a/b", "vulkan", "faithful", Some("a device")), Some("x"));
        assert_eq!(known.reason("a/b", "cpu", "faithful", None), None);
        assert_eq!(known.reason("b", "cpu", "native", None), Some("y"));
        assert!(Known::parse("[[known]]\ncase = 'a'\nreason = ' '").is_err());
        assert!(Known::parse("[[known]]\ncase = 'a'").is_err());
    }
}
