//! `recal doctor`.

use serde_json::Value;

use crate::recal_with;

/// The page as JSON, its text, and how the command ended.
fn page(variables: &[(&str, &str)]) -> (Value, String, Option<i32>) {
    let [json, text] =
        [&["doctor", "--json"][..], &["doctor"]].map(|arguments| recal_with(arguments, b"", variables));
    assert_eq!(json.status, text.status);
    let value = serde_json::from_slice(&json.stdout).unwrap_or_else(|e| panic!("{e}: {json:?}"));
    (value, String::from_utf8(text.stdout).unwrap(), text.status.code())
}

/// State and text of a line.
fn line<'p>(page: &'p Value, section: &str, about: &str) -> (&'p str, &'p str) {
    let sections = page["sections"].as_array().unwrap();
    let section =
        sections.iter().find(|s| s["title"] == section).unwrap_or_else(|| panic!("{section}: {page:#}"));
    let lines = section["lines"].as_array().unwrap();
    let line = lines.iter().find(|l| l["about"].as_str().unwrap().starts_with(about));
    let line = line.unwrap_or_else(|| panic!("{about}: {section:#}"));
    (line["state"].as_str().unwrap(), line["text"].as_str().unwrap())
}

#[test]
fn what_is_here_is_told() {
    let folder = crate::scratch("doctor");
    let cache = folder.to_str().unwrap();
    let (json, text, status) = page(&[("CAL_CACHE", cache), ("CAL_TIMEOUT", "soon"), ("CAL_BACKED", "cpu")]);
    assert_eq!((status, json["healthy"].as_bool()), (Some(0), Some(true)), "{text}");
    assert_eq!(json["devices"][0]["backend"], "cpu");
    assert!(json["devices"][0]["error"].is_null() && json["devices"][0]["seconds"].as_f64().unwrap() > 0.0);
    assert!(line(&json, "devices", "0: ").1.starts_with("computes, floats faithful; "));
    assert_eq!(json["devices"][0]["float"], "faithful");
    let native = page(&[("CAL_CACHE", cache), ("CAL_FLOAT", "native")]).0;
    assert_eq!(native["devices"][0]["float"], "native");
    assert_eq!(line(&json, "backend cpu", "instructions").0, "good");
    assert_eq!(line(&json, "backend vulkan", "not asked"), ("absent", "CAL_BACKEND=cpu"));
    assert_eq!(line(&json, "cache", cache).0, "good");
    assert_eq!(line(&json, "environment", "CAL_TIMEOUT=soon").0, "bad");
    assert_eq!(line(&json, "environment", "CAL_BACKED=cpu"), ("bad", "no such variable is read"));
    // The page has all of it.
    for section in json["sections"].as_array().unwrap() {
        assert!(text.contains(&format!("\n{}\n", section["title"].as_str().unwrap())), "{text}");
        for line in section["lines"].as_array().unwrap() {
            assert!(text.contains(line["about"].as_str().unwrap()), "{line}: {text}");
        }
    }
}

#[test]
fn what_is_not_here_is_told_with_the_reason() {
    let none = "/no such folder/icd.json";
    let variables = [("CAL_BACKEND", "vulkan"), ("VK_DRIVER_FILES", none), ("VK_ICD_FILENAMES", none)];
    let (json, text, status) = page(&variables);
    assert_eq!((status, json["healthy"].as_bool()), (Some(1), Some(false)), "{text}");
    assert_eq!(line(&json, "devices", "none").0, "bad");
    let vulkan =
        json["sections"].as_array().unwrap().iter().find(|s| s["title"] == "backend vulkan").unwrap();
    let reasons: Vec<_> =
        vulkan["lines"].as_array().unwrap().iter().filter(|l| l["state"] == "absent").collect();
    assert!(!reasons.is_empty(), "{json:#}");
    assert_eq!(line(&json, "Vulkan drivers", none).0, "bad");
    assert_eq!(line(&json, "backend cpu", "not asked"), ("absent", "CAL_BACKEND=vulkan"));
    let (json, ..) = page(&[("CAL_BACKEND", "cpuu")]);
    assert!(line(&json, "backend cpuu", "CAL_BACKEND").1.starts_with("no backend is called `cpuu`"));
}
