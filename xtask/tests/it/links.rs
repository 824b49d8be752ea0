//! Links between Markdown pages refer to existing files and headings. Pages of the book link other
//! files of the repository by their address.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::workspace;

/// Address of the files in the repository.
const REPOSITORY: &str = "https://github.com/readyok/readyok/blob/main/";

#[test]
fn links_are_valid() {
    let mut broken = Vec::new();
    let mut links = 0;
    for page in pages() {
        let text = prose(&fs::read_to_string(&page).unwrap());
        for target in targets(&text) {
            links += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = match (file, file.strip_prefix(REPOSITORY)) {
                ("", _) => page.clone(),
                (_, Some(file)) => workspace().join(file),
                (file, None) => page.parent().unwrap().join(file),
            };
            let found = match anchor {
                "" => file.exists(),
                anchor => fs::read_to_string(&file)
                    .is_ok_and(|text| anchors(&prose(&text)).contains(anchor)),
            };
            if !found {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(links > 50, "only {links} links");
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn summary_lists_every_page() {
    let docs = workspace().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let listed: BTreeSet<PathBuf> = targets(&summary).map(|target| docs.join(target)).collect();
    let mut present = BTreeSet::new();
    find(&docs, &mut present);
    present.remove(&docs.join("SUMMARY.md"));
    assert_eq!(listed, present);
}

/// The pages of the book, of the root directory and of crates.
fn pages() -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for directory in ["docs", "crates", "benches", "fuzz", ".github"] {
        find(&workspace().join(directory), &mut found);
    }
    let root = fs::read_dir(workspace()).unwrap().map(|entry| entry.unwrap().path());
    found.extend(root.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    found
}

fn find(directory: &Path, found: &mut BTreeSet<PathBuf>) {
    for path in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() && !path.ends_with("target") {
            find(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.insert(path);
        }
    }
}

/// The text without code blocks.
fn prose(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

/// Targets in the repository of inline links and images.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    text.split("](")
        .skip(1)
        .filter_map(|part| part.split_once(')'))
        .map(|(target, _)| target)
        .filter(|target| !target.contains("::") && !target.contains(' '))
        .filter(|target| !target.contains("://") || target.starts_with(REPOSITORY))
}

/// The anchors that GitHub and mdBook generate for headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|heading| {
            let title = heading.trim_start_matches('#').trim().to_lowercase();
            let anchor =
                title.chars().filter(|&c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            anchor.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
        .collect()
}
