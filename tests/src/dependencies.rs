//! What we depend on, against the rules of `deny.toml`, without a network.
//!
//! Input: `cargo metadata` as JSON and the rules. Output: what breaks them. Licences, sources, doubled and banned crates are
//! judged; known vulnerabilities are not, that needs the database of cargo-deny or cargo-audit.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use toml::Table;

/// Everything that breaks a rule, for people.
pub fn broken(metadata: &Value, rules: &Table) -> Vec<String> {
    let list = |section: &str, key: &str| -> Vec<String> {
        let entries = rules.get(section).and_then(|s| s.get(key)).and_then(|v| v.as_array());
        let text = |v: &toml::Value| v.as_str().or_else(|| v.get("name")?.as_str()).map(str::to_owned);
        entries.into_iter().flatten().filter_map(text).collect()
    };
    let (licences, skip, deny) = (list("licenses", "allow"), list("bans", "skip"), list("bans", "deny"));
    let registries = list("sources", "allow-registry");
    let mut broken = Vec::new();
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let text = |key: &str| package[key].as_str();
        let (name, version) = (text("name").unwrap_or("?"), text("version").unwrap_or("?"));
        versions.entry(name).or_default().insert(version);
        match text("license") {
            Some(expression) if allowed(expression, &licences) => {}
            Some(expression) => broken.push(format!("{name} {version}: licence `{expression}`")),
            None => broken.push(format!("{name} {version}: no licence")),
        }
        // Ours have no source.
        if let Some(source) = text("source")
            && !registries.iter().any(|r| source == format!("registry+{r}"))
        {
            broken.push(format!("{name} {version}: from {source}"));
        }
        if deny.iter().any(|banned| banned == name) {
            broken.push(format!("{name}: banned"));
        }
    }
    for (name, versions) in
        versions.iter().filter(|(name, v)| v.len() > 1 && !skip.iter().any(|s| s == **name))
    {
        broken.push(format!("{name}: {} versions: {versions:?}", versions.len()));
    }
    for name in skip.iter().filter(|name| versions.get(name.as_str()).is_none_or(|v| v.len() < 2)) {
        broken.push(format!("{name}: skipped by deny.toml, but not doubled"));
    }
    broken
}

/// Whether an SPDX expression can be met with the licences in `list`. `/` is an old spelling of `OR`.
pub fn allowed(expression: &str, list: &[String]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words: Vec<&str> = spaced.split_whitespace().rev().collect();
    let good = either(&mut words, list);
    good && words.is_empty()
}

fn either(words: &mut Vec<&str>, list: &[String]) -> bool {
    let mut good = both(words, list);
    while words.last() == Some(&"OR") {
        words.pop();
        good |= both(words, list);
    }
    good
}

fn both(words: &mut Vec<&str>, list: &[String]) -> bool {
    let mut good = one(words, list);
    while words.last() == Some(&"AND") {
        words.pop();
        good &= one(words, list);
    }
    good
}

fn one(words: &mut Vec<&str>, list: &[String]) -> bool {
    match words.pop() {
        Some("(") => {
            let good = either(words, list);
            words.pop() == Some(")") && good
        }
        Some(name) => {
            let mut name = name.to_owned();
            if words.last() == Some(&"WITH") {
                words.pop();
                name = format!("{name} WITH {}", words.pop().unwrap_or_default());
            }
            list.contains(&name)
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions() {
        let list = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
        for good in [
            "MIT",
            "GPL-3.0 OR MIT",
            "MIT/GPL-3.0",
            "(GPL-3.0 OR MIT) AND Apache-2.0",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert!(allowed(good, &list), "{good}");
        }
        for bad in [
            "",
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "GPL-3.0 OR MIT AND GPL-2.0",
            "GPL-2.0 WITH LLVM-exception",
            "(MIT",
            "MIT)",
        ] {
            assert!(!allowed(bad, &list), "{bad}");
        }
    }

    #[test]
    fn each_rule_is_applied() {
        let rules: Table = "[licenses]\nallow = ['MIT']\n[bans]\nskip = [{name = 'once'}, {name = 'two'}]\ndeny = [{name = 'evil'}]\n\
            [sources]\nallow-registry = ['https://good']".parse().unwrap();
        let package = |name: &str, version: &str, license: &str, source: &str| serde_json::json!({ "name": name, "version": version, "license": license, "source": source });
        let good = "registry+https://good";
        let packages = [
            package("a", "1", "MIT", good),
            package("a", "2", "MIT", good),
            package("two", "1", "MIT", good),
            package("two", "2", "MIT", good),
            package("b", "1", "GPL-3.0", good),
            package("c", "1", "MIT", "git+https://good"),
            package("evil", "1", "MIT", good),
        ];
        let broken = broken(&serde_json::json!({ "packages": packages }), &rules);
        let subjects: Vec<&str> = broken.iter().filter_map(|line| line.split([' ', ':']).next()).collect();
        assert_eq!(subjects, ["b", "c", "evil", "a", "once"], "{broken:?}");
    }
}
