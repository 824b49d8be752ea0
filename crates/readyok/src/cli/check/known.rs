//! The file of known failures of `readyok check --baseline`, which may only shrink.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use readyok_check::{Report, Severity, Verdict};

use crate::exit::{Code, Failure};

const HEADER: &str = "# Known failures of `readyok check --baseline`: one check per line. The list may only shrink.\n";

/// Differences between a report and the known failures.
#[derive(Debug, Default, Eq, PartialEq)]
struct Difference {
    /// Musts that fail and are not listed.
    new: BTreeSet<String>,
    /// Listed checks that pass.
    resolved: BTreeSet<String>,
    /// Musts without a verdict that are not listed.
    open: BTreeSet<String>,
}

/// The file of known failures.
#[derive(Debug)]
pub(super) struct Known<'a> {
    path: &'a Path,
    /// Remove passing checks, or create the file.
    update: bool,
    /// The listed checks. `None` if the file will be created.
    ids: Option<BTreeSet<String>>,
}

impl<'a> Known<'a> {
    /// Reads the file. It may be missing only for an update.
    pub(super) fn read(path: &'a Path, update: bool) -> Result<Self, Failure> {
        let shown = path.display();
        let ids = match fs::read_to_string(path) {
            Ok(text) => Some(read(&text).map_err(|error| {
                Failure::usage(format!("known failures in `{shown}`: {error}"))
            })?),
            Err(error) if error.kind() == ErrorKind::NotFound && update => None,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(Failure::usage(format!(
                    "the file of known failures `{shown}` does not exist; create it with --update-baseline"
                )));
            }
            Err(error) => {
                return Err(Failure::usage(format!(
                    "cannot read the known failures `{shown}`: {error}"
                )));
            }
        };
        Ok(Self { path, update, ids })
    }

    /// Compares a report with the known failures, and prints the differences.
    pub(super) fn compare(&self, report: &Report, silent: bool) -> Result<Code, Failure> {
        let Some(known) = &self.ids else {
            self.write(&failing(report))?;
            return Ok(Code::Done);
        };
        let found = difference(known, report);
        if self.update && !found.resolved.is_empty() {
            self.write(&known.difference(&found.resolved).cloned().collect())?;
        }
        if !silent {
            super::print(&describe(&found, self.path, self.update))?;
        }
        Ok(if !found.new.is_empty() || !self.update && !found.resolved.is_empty() {
            Code::Nonconforming
        } else if found.open.is_empty() {
            Code::Done
        } else {
            Code::Unjudged
        })
    }

    fn write(&self, ids: &BTreeSet<String>) -> Result<(), Failure> {
        super::write(self.path, &written(ids))
    }
}

/// Ids, one per line. Text after `#` is a comment.
fn read(text: &str) -> Result<BTreeSet<String>, String> {
    let known: Vec<&str> =
        readyok_check::all().chain(readyok_check::all_of_clients()).map(|check| check.id).collect();
    let mut ids = BTreeSet::new();
    for (number, line) in (1..).zip(text.lines()) {
        let id = line.split('#').next().unwrap_or_default().trim();
        if id.is_empty() {
            continue;
        }
        if !known.contains(&id) {
            return Err(format!("line {number}: `{id}` is not the id of a check"));
        }
        ids.insert(id.to_owned());
    }
    Ok(ids)
}

fn written(ids: &BTreeSet<String>) -> String {
    let mut text = HEADER.to_owned();
    for id in ids {
        text.push_str(id);
        text.push('\n');
    }
    text
}

/// The musts that fail.
fn failing(report: &Report) -> BTreeSet<String> {
    let musts = report.failures().filter(|result| result.severity == Severity::Must);
    musts.map(|result| result.check.id.to_owned()).collect()
}

fn difference(known: &BTreeSet<String>, report: &Report) -> Difference {
    let of = |wanted: fn(&Verdict) -> bool| {
        let results = report.results.iter().filter(move |result| wanted(&result.verdict));
        results.map(|result| (result.check.id.to_owned(), result))
    };
    // A check that depends on a known failure has no verdict.
    let open = of(|verdict| matches!(verdict, Verdict::Inconclusive(_)))
        .filter(|(_, result)| result.severity == Severity::Must)
        .filter(|(_, result)| result.cause.is_none_or(|cause| !known.contains(cause)));
    Difference {
        new: failing(report).difference(known).cloned().collect(),
        resolved: of(|verdict| *verdict == Verdict::Pass)
            .map(|(id, _)| id)
            .filter(|id| known.contains(id))
            .collect(),
        open: open.map(|(id, _)| id).filter(|id| !known.contains(id)).collect(),
    }
}

fn describe(found: &Difference, path: &Path, update: bool) -> String {
    let mut text = String::new();
    let resolved = if update { "removed from" } else { "passes, remove it from" };
    for (ids, what) in [
        (&found.new, "new failure, not in"),
        (&found.resolved, resolved),
        (&found.open, "inconclusive, not in"),
    ] {
        for id in ids {
            // Writing to a `String` never fails.
            let _ = writeln!(text, "{id}: {what} {}", path.display());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use readyok_check::{Suite, Target};

    fn ids(ids: &[&str]) -> BTreeSet<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    #[test]
    fn reads_ids_with_comments() {
        let text = format!("{HEADER}\nsearch.depth # slow\n  search.nodes\n");
        assert_eq!(read(&text), Ok(ids(&["search.depth", "search.nodes"])));
        assert_eq!(read(&written(&ids(&["search.depth"]))), Ok(ids(&["search.depth"])));
        let unknown = read("search.depth\nsearch.dept\n");
        assert_eq!(unknown, Err("line 2: `search.dept` is not the id of a check".into()));
    }

    #[test]
    fn passing_checks_are_resolved() {
        let narikin = Target::in_process("narikin", |input, output| {
            // The checks see the end of the output.
            let _ = narikin::runner().map(|runner| runner.run(input, output));
        });
        let report = Suite::new(narikin).only(["handshake.name"]).run().expect("a report");
        let found = difference(&ids(&["handshake.name", "search.depth"]), &report);
        assert_eq!(found.resolved, ids(&["handshake.name"]));
        assert!(found.new.is_empty() && found.open.is_empty(), "{found:?}");
    }
}
