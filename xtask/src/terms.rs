//! Counts deprecated terms of `xtask/terms.toml` in the tracked files.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

use regex::{Regex, RegexSet};
use serde::Deserialize;

const LIST: &str = "xtask/terms.toml";

const EXTENSIONS: [&str; 13] =
    ["rs", "md", "ts", "svelte", "toml", "sh", "py", "mjs", "js", "yml", "html", "css", "json"];

/// Third-party data, generated files, and the list itself.
const SKIPPED: [&str; 9] = [
    LIST,
    "testdata/",
    "crates/server/dist/",
    "web/package",
    "packages/js/package",
    "benches/bindings/package",
    "fuzz/seeds/",
    "xtask/src/terms.rs",
    "crates/rules/src/opening/names",
];

#[derive(Deserialize)]
struct List {
    max: usize,
    term: Vec<Term>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Term {
    #[serde(rename = "use")]
    preferred: String,
    #[serde(default)]
    words: Vec<String>,
    #[serde(default)]
    patterns: Vec<String>,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    except: Vec<String>,
}

/// The compiled list. One regular expression finds the words of all terms.
struct Rules {
    terms: Vec<Term>,
    excepts: Vec<RegexSet>,
    words: Regex,
    term_of_word: HashMap<String, usize>,
    patterns: RegexSet,
    pattern: Vec<(Regex, usize)>,
}

/// A deprecated term in a file.
struct Finding {
    path: String,
    line: usize,
    found: String,
    preferred: String,
}

/// Lists the findings under `prefix`, or the counts per term and directory.
pub(crate) fn list(root: &Path, prefix: Option<&str>) -> io::Result<String> {
    let (_, findings) = find(root, prefix.unwrap_or_default())?;
    if prefix.is_some() {
        return Ok(locations(&findings));
    }
    let mut text = String::new();
    let mut by_term: BTreeMap<&str, usize> = BTreeMap::new();
    let mut by_directory: BTreeMap<String, usize> = BTreeMap::new();
    for finding in &findings {
        *by_term.entry(&finding.preferred).or_default() += 1;
        let parts: Vec<&str> = finding.path.split('/').take(3).collect();
        *by_directory.entry(parts.join("/")).or_default() += 1;
    }
    for (name, count) in by_term.into_iter().chain(by_directory.iter().map(|(a, b)| (&**a, *b))) {
        let _ = writeln!(text, "{count:6} {name}");
    }
    let _ = writeln!(text, "{:6} in total", findings.len());
    Ok(text)
}

fn locations(findings: &[Finding]) -> String {
    let mut text = String::new();
    for Finding { path, line, found, preferred } in findings {
        let _ = writeln!(text, "{path}:{line}: `{found}`: use {preferred}");
    }
    text
}

/// Fails if there are more findings than the list allows; the error lists all of them.
pub(crate) fn check(root: &Path) -> io::Result<()> {
    let (max, findings) = find(root, "")?;
    let count = findings.len();
    if count > max {
        return Err(io::Error::other(format!(
            "{count} deprecated terms, {max} allowed by {LIST}\n{}",
            locations(&findings)
        )));
    }
    Ok(())
}

fn find(root: &Path, prefix: &str) -> io::Result<(usize, Vec<Finding>)> {
    let list: List =
        toml::from_str(&fs::read_to_string(root.join(LIST))?).map_err(io::Error::other)?;
    let rules = compile(list.term).map_err(io::Error::other)?;
    let mut findings = Vec::new();
    for path in tracked(root)?.iter().filter(|path| path.starts_with(prefix)) {
        let Ok(text) = fs::read_to_string(root.join(path)) else { continue };
        search(path, 0, path, &rules, &mut findings);
        for (index, line) in text.lines().enumerate() {
            // Rename tables contain the old names.
            if path == "CHANGELOG.md" && line.contains('→') {
                continue;
            }
            search(path, index + 1, line, &rules, &mut findings);
        }
    }
    Ok((list.max, findings))
}

fn compile(terms: Vec<Term>) -> Result<Rules, regex::Error> {
    let mut term_of_word = HashMap::new();
    let mut pattern = Vec::new();
    for (index, term) in terms.iter().enumerate() {
        term_of_word.extend(term.words.iter().map(|word| (word.clone(), index)));
        for it in &term.patterns {
            pattern.push((Regex::new(it)?, index));
        }
    }
    let mut words: Vec<&str> = term_of_word.keys().map(String::as_str).collect();
    // The longest phrase wins.
    words.sort_by_key(|word| (Reverse(word.len()), *word));
    let words: Vec<String> = words.into_iter().map(regex::escape).collect();
    Ok(Rules {
        words: Regex::new(&format!(r"\b(?:{})\b", words.join("|")))?,
        excepts: terms.iter().map(|term| RegexSet::new(&term.except)).collect::<Result<_, _>>()?,
        patterns: RegexSet::new(terms.iter().flat_map(|term| &term.patterns))?,
        terms,
        term_of_word,
        pattern,
    })
}

fn tracked(root: &Path) -> io::Result<Vec<String>> {
    let output = Command::new("git").current_dir(root).args(["ls-files", "-z"]).output()?;
    if !output.status.success() {
        return Err(io::Error::other("git ls-files failed"));
    }
    let names = String::from_utf8(output.stdout).map_err(io::Error::other)?;
    let is_searched = |path: &&str| {
        let extension = path.rsplit('.').next().unwrap_or_default();
        EXTENSIONS.contains(&extension) && !SKIPPED.iter().any(|prefix| path.starts_with(prefix))
    };
    Ok(names.split('\0').filter(is_searched).map(str::to_owned).collect())
}

fn search(path: &str, line: usize, text: &str, rules: &Rules, findings: &mut Vec<Finding>) {
    let mut add = |found: &str, index: usize| {
        let term = &rules.terms[index];
        let applies =
            term.paths.is_empty() || term.paths.iter().any(|prefix| path.starts_with(prefix));
        if applies && !rules.excepts[index].is_match(text) {
            findings.push(Finding {
                path: path.to_owned(),
                line,
                found: found.to_owned(),
                preferred: term.preferred.clone(),
            });
        }
    };
    for found in rules.words.find_iter(&plain(text)) {
        add(found.as_str(), rules.term_of_word[found.as_str()]);
    }
    for at in rules.patterns.matches(text) {
        let (pattern, index) = &rules.pattern[at];
        pattern.find_iter(text).for_each(|found| add(found.as_str(), *index));
    }
}

/// Lowercase text in which the words of identifiers are separated by spaces.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len() + 16);
    let mut before = ' ';
    for it in text.chars() {
        if it.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit()) {
            plain.push(' ');
        }
        plain.push(if matches!(it, '_' | '-') { ' ' } else { it.to_ascii_lowercase() });
        before = it;
    }
    plain
}
