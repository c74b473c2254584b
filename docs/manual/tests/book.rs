//! The book: links lead somewhere, nothing is left out, kernels of the chapters compile.

use std::collections::{BTreeMap, BTreeSet};

use recal_manual::book::{address, files};
use recal_manual::chapters::CHAPTERS;
use recal_manual::{Kind, topics};

/// Values of an attribute, in the order of the text.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    page.split(start.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

fn pages() -> BTreeMap<String, String> {
    let pages = files().into_iter().filter(|f| f.name.ends_with(".html"));
    pages.map(|f| (f.name, String::from_utf8(f.bytes).unwrap())).collect()
}

/// The file that a link of a page means, from the top of the book.
fn target(page: &str, link: &str) -> String {
    match (link.strip_prefix("../"), page.split_once('/')) {
        (Some(up), _) => up.to_string(),
        (None, Some((folder, _))) => format!("{folder}/{link}"),
        (None, None) => link.to_string(),
    }
}

#[test]
fn every_link_leads_to_a_file_and_an_anchor() {
    let pages = pages();
    let names: BTreeSet<String> = files().into_iter().map(|f| f.name).collect();
    let mut followed = 0;
    for (name, page) in &pages {
        for link in values(page, "href").into_iter().chain(values(page, "src")) {
            assert!(!link.contains("://"), "{name} leads out of the book: {link}");
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let file = if file.is_empty() { name.clone() } else { target(name, file) };
            assert!(names.contains(&file), "{name}: there is no {file}");
            if !anchor.is_empty() {
                let ids = values(&pages[&file], "id");
                assert!(ids.contains(&anchor), "{name}: {file} has no #{anchor}");
            }
            followed += 1;
        }
    }
    assert!(followed > 15_000, "only {followed} links");
}

#[test]
fn every_topic_has_its_place_and_its_entry_in_the_search() {
    let pages = pages();
    let index = files().into_iter().find(|f| f.name == "index.js").unwrap();
    let index = String::from_utf8(index.bytes).unwrap();
    let mut places = BTreeSet::new();
    for topic in topics() {
        let place = address(topic);
        let file = place.split('#').next().unwrap();
        assert!(pages.contains_key(file), "{}: {place}", topic.name);
        assert!(
            places.insert(place.to_ascii_lowercase()),
            "{place} is two topics, where case does not count"
        );
        assert!(
            index.contains(&format!("[\"{}\",\"{}\",\"{place}\"", topic.name, topic.kind.name())),
            "{}",
            topic.name
        );
        if topic.kind != Kind::Language {
            assert!(
                pages[file].contains(&format!("<h1>{}</h1>", recal_manual::book::escape(&topic.name))),
                "{place}"
            );
        }
    }
}

#[test]
fn pages_stand_on_their_own() {
    for (name, page) in pages() {
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains("name=\"viewport\""), "{name}");
        assert_eq!(page.matches("<h1").count(), 1, "{name}");
        let ids = values(&page, "id");
        assert_eq!(
            ids.iter().collect::<BTreeSet<_>>().len(),
            ids.len(),
            "{name} has an anchor twice: {ids:?}"
        );
        for tag in ["table", "pre", "ul", "figure", "svg"] {
            let (open, shut) =
                (page.matches(&format!("<{tag}")).count(), page.matches(&format!("</{tag}>")).count());
            assert_eq!(open, shut, "{name}: {tag}");
        }
    }
}

#[test]
fn kernels_of_the_chapters_compile() {
    let mut tried = 0;
    for chapter in CHAPTERS {
        for code in chapter.text.split("```il\n").skip(1) {
            let code = code.split("```").next().unwrap();
            if !code.starts_with("il_") {
                continue;
            }
            tried += 1;
            if let Err(errors) = recal_il::compile(code.as_bytes()) {
                panic!("{}", recal_il::diagnostic::render(&errors, code.as_bytes(), chapter.name));
            }
        }
    }
    assert!(tried >= 4, "only {tried} kernels");
}

#[test]
fn examples_of_rust_are_shown_without_what_only_tests_need() {
    let page = &pages()["rust.html"];
    assert!(page.contains("partial_sums") && page.contains("pollster::block_on"));
    assert!(!page.contains("\n# "), "hidden lines");
}

#[test]
fn plots_show_all_of_their_numbers() {
    for (name, page) in pages() {
        for chapter in CHAPTERS.iter().filter(|c| format!("{}.html", c.name) == name) {
            assert_eq!(page.matches("<svg").count(), chapter.text.matches("```plot ").count(), "{name}");
        }
    }
    let page = &pages()["tutorial.html"];
    assert!(page.contains("a block of 8 x 4, 512 x 512: 38.3 GFLOPS"), "the bar of the last step");
    assert_eq!(page.matches("<rect").count(), 15);
}
