//! Counts deprecated terms of `xtask/terms.toml` in the tracked files.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

use regex::Regex;
use serde::Deserialize;

const LIST: &str = "xtask/terms.toml";

const EXTENSIONS: [&str; 13] =
    ["rs", "md", "ts", "svelte", "toml", "sh", "py", "mjs", "js", "yml", "html", "css", "json"];

/// Data of other programs, generated files, and the list itself.
const SKIPPED: [&str; 8] = [
    LIST,
    "testdata/",
    "web/dist/",
    "web/package",
    "fuzz/seeds/",
    "docs/conformance-results.md",
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

struct Rule {
    preferred: String,
    words: Option<Regex>,
    patterns: Vec<Regex>,
    paths: Vec<String>,
    except: Vec<Regex>,
}

/// A deprecated term in a file.
struct Finding {
    path: String,
    line: usize,
    found: String,
    preferred: String,
}

/// Prints the findings under `prefix`, or their numbers per term and directory.
pub(crate) fn list(root: &Path, prefix: Option<&str>) -> io::Result<String> {
    let (_, findings) = find(root)?;
    let mut text = String::new();
    if let Some(prefix) = prefix {
        for it in findings.iter().filter(|it| it.path.starts_with(prefix)) {
            let _ = writeln!(text, "{}:{}: `{}`: use {}", it.path, it.line, it.found, it.preferred);
        }
        return Ok(text);
    }
    let mut by_term: BTreeMap<&str, usize> = BTreeMap::new();
    let mut by_place: BTreeMap<String, usize> = BTreeMap::new();
    for it in &findings {
        *by_term.entry(&it.preferred).or_default() += 1;
        let place: Vec<&str> = it.path.split('/').take(3).collect();
        *by_place.entry(place.join("/")).or_default() += 1;
    }
    for (name, count) in by_term.into_iter().chain(by_place.iter().map(|(a, b)| (&**a, *b))) {
        let _ = writeln!(text, "{count:6} {name}");
    }
    let _ = writeln!(text, "{:6} in all", findings.len());
    Ok(text)
}

/// Fails with more findings than the list allows, and asks to lower its maximum with fewer.
pub(crate) fn check(root: &Path) -> io::Result<()> {
    let (max, findings) = find(root)?;
    let count = findings.len();
    if count > max {
        let advice = "`cargo xtask terms <path>` lists them with their replacements";
        return Err(io::Error::other(format!(
            "{count} deprecated terms, {max} allowed by {LIST}; {advice}"
        )));
    }
    Ok(())
}

fn find(root: &Path) -> io::Result<(usize, Vec<Finding>)> {
    let list: List =
        toml::from_str(&fs::read_to_string(root.join(LIST))?).map_err(io::Error::other)?;
    let rules: Vec<Rule> =
        list.term.into_iter().map(compile).collect::<Result<_, _>>().map_err(io::Error::other)?;
    let mut findings = Vec::new();
    for path in tracked(root)? {
        let Ok(text) = fs::read_to_string(root.join(&path)) else { continue };
        let applied: Vec<&Rule> = rules
            .iter()
            .filter(|it| it.paths.is_empty() || it.paths.iter().any(|at| path.starts_with(at)))
            .collect();
        search(&path, 0, &path, &applied, &mut findings);
        for (index, line) in text.lines().enumerate() {
            search(&path, index + 1, line, &applied, &mut findings);
        }
    }
    Ok((list.max, findings))
}

fn compile(term: Term) -> Result<Rule, regex::Error> {
    let words: Vec<String> = term.words.iter().map(|it| regex::escape(it)).collect();
    let words = match &words[..] {
        [] => None,
        words => Some(Regex::new(&format!(r"\b(?:{})\b", words.join("|")))?),
    };
    Ok(Rule {
        preferred: term.preferred,
        words,
        patterns: compile_all(&term.patterns)?,
        paths: term.paths,
        except: compile_all(&term.except)?,
    })
}

fn compile_all(patterns: &[String]) -> Result<Vec<Regex>, regex::Error> {
    patterns.iter().map(|it| Regex::new(it)).collect()
}

fn tracked(root: &Path) -> io::Result<Vec<String>> {
    let output = Command::new("git").current_dir(root).args(["ls-files", "-z"]).output()?;
    if !output.status.success() {
        return Err(io::Error::other("git ls-files failed"));
    }
    let names = String::from_utf8(output.stdout).map_err(io::Error::other)?;
    let wanted = |path: &&str| {
        let extension = path.rsplit('.').next().unwrap_or_default();
        EXTENSIONS.contains(&extension) && !SKIPPED.iter().any(|it| path.starts_with(it))
    };
    Ok(names.split('\0').filter(wanted).map(str::to_owned).collect())
}

fn search(path: &str, line: usize, text: &str, rules: &[&Rule], findings: &mut Vec<Finding>) {
    let plain = plain(text);
    for rule in rules {
        let found = rule.words.iter().flat_map(|it| it.find_iter(&plain));
        let patterns = rule.patterns.iter().flat_map(|it| it.find_iter(text));
        let mut found = found.chain(patterns).peekable();
        if found.peek().is_none() || rule.except.iter().any(|it| it.is_match(text)) {
            continue;
        }
        findings.extend(found.map(|it| Finding {
            path: path.to_owned(),
            line,
            found: it.as_str().to_owned(),
            preferred: rule.preferred.clone(),
        }));
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
