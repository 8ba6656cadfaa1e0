//! The book that the pages are: `docs/SUMMARY.md` names each of them, and the reference is as the program prints it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use snapbox::assert::DEFAULT_ACTION_ENV;
use snapbox::{Assert, Data, IntoData};

use crate::{ROOT, accsim, pages, read};

/// The pages that the summary links to, relative to `docs/`.
fn listed() -> Vec<String> {
    let summary = read("docs/SUMMARY.md");
    let links = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    links.map(str::to_owned).collect()
}

#[test]
fn the_book_has_every_page_once() {
    let listed = listed();
    let pages: BTreeSet<String> = pages()
        .iter()
        .filter_map(|page| page.strip_prefix("docs/"))
        .filter(|page| *page != "SUMMARY.md")
        .map(str::to_owned)
        .collect();
    assert_eq!(listed.iter().cloned().collect::<BTreeSet<_>>(), pages);
    assert_eq!(listed.len(), pages.len(), "a page is listed twice");
}

#[test]
fn the_book_is_made_of_these_pages() {
    let book = fs::read_to_string(Path::new(ROOT).join("book.toml")).unwrap();
    let book: toml::Table = toml::from_str(&book).unwrap();
    assert_eq!(book["book"]["src"].as_str(), Some("docs"));
}

/// mdBook copies only what stands in `docs/`: a link out of it is a link to nowhere in the book.
#[test]
fn links_of_the_book_stay_in_it() {
    let mut followed = 0;
    for page in pages().iter().filter(|page| page.starts_with("docs/")) {
        let folder = Path::new(page).parent().unwrap();
        let text = read(page);
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap();
            if file.is_empty() || file.contains("://") {
                continue;
            }
            let mut depth = folder.components().count();
            for part in Path::new(file).components() {
                if part.as_os_str() == ".." {
                    depth -= 1;
                } else {
                    depth += 1;
                }
                assert!(depth >= 1, "{page}: {target}");
            }
            followed += 1;
        }
    }
    assert!(followed > 0);
}

/// Anchors as mdBook and GitHub make them of headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut is_fenced = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if !is_fenced && line.starts_with('#') {
            let heading = line.trim_start_matches('#').trim();
            let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
            found.insert(kept.collect::<String>().to_lowercase().replace(' ', "-"));
        }
    }
    found
}

#[test]
fn links_to_headings_lead_to_one() {
    let mut followed = 0;
    for page in pages() {
        let text = read(&page);
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let Some((file, anchor)) = target.split_once('#') else { continue };
            if file.contains("://") {
                continue;
            }
            let there = if file.is_empty() {
                text.clone()
            } else {
                let path = Path::new(ROOT).join(&page).parent().unwrap().join(file);
                fs::read_to_string(path).unwrap()
            };
            assert!(anchors(&there).contains(anchor), "{page}: {target}");
            followed += 1;
        }
    }
    assert!(followed > 10);
}

#[test]
fn the_reference_is_what_the_definitions_say() {
    let output = accsim(&["man", "--markdown"]).output().unwrap();
    assert!(output.status.success());
    let printed = String::from_utf8(output.stdout).unwrap();
    for flag in ["--margin <MARGIN>", "--emit-log <FILE>", "--golden-dir <DIR>", "accsim throughput pareto"] {
        assert!(printed.contains(flag), "{flag}");
    }
    let page = Data::read_from(&Path::new(ROOT).join("docs/reference.md"), None);
    Assert::new().action_env(DEFAULT_ACTION_ENV).eq(printed.into_data(), page.raw());
}
