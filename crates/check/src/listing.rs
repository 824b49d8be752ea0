//! The list of checks: as text, as JSON, and as the page of the documentation.

use std::fmt::Write as _;

use serde::Serialize;

use readyok_protocol::Party;

use crate::check::{Check, Profile};
use crate::{checks, partner};

#[derive(Serialize)]
struct Listed {
    id: &'static str,
    rule: &'static str,
    severity: &'static str,
    profiles: Vec<&'static str>,
    needs: Vec<String>,
    clauses: Vec<ListedClause>,
    advice: &'static str,
}

#[derive(Serialize)]
struct ListedClause {
    place: &'static str,
    says: &'static str,
}

/// What the page of the engines begins with.
const OF_ENGINES: &str = "# What `readyok check` checks\n\n\
    Every rule that an engine is held to, where it stands, and what to change in one that fails.\n\
    Generated from the code by `readyok check --list --markdown docs/conformance.md`.\n\n\
    A *must* is what clients depend on; a *should* is what somebody will have trouble with; a\n\
    *may* is a courtesy, or a matter that documents and practice do not agree on. Without\n\
    `--profile` a rule that only one edition of UCI has is no must.\n";

/// What the page of the clients begins with.
const OF_CLIENTS: &str = "# What `readyok check --gui` checks\n\n\
    Every rule that a client is held to, a GUI or a match runner, where it stands, and what to change in\n\
    one that fails. Most checks have an engine do something, once, and look what becomes of the client.\n\
    Generated from the code by `readyok check --gui --list --markdown docs/conformance-clients.md`.\n\n\
    A *must* is what engines depend on, or what no client should fall over; a *should* is what somebody\n\
    will have trouble with; a *may* is a courtesy.\n";

/// The checks of a side.
fn checks(of: Party) -> Box<dyn Iterator<Item = &'static Check>> {
    match of {
        Party::Engine => Box::new(checks::all()),
        Party::Client => Box::new(partner::all()),
    }
}

/// The list for people at a terminal.
pub fn text(of: Party) -> String {
    let mut out = String::new();
    for check in checks(of) {
        // Writing into a `String` cannot fail.
        let _ = writeln!(out, "{:<32} {:<7} {}", check.id, check.severity.word(), check.rule);
    }
    out
}

/// The list for programs: one JSON array.
pub fn json(of: Party) -> String {
    let listed: Vec<Listed> = checks(of).map(Listed::from).collect();
    // Nothing in it can fail to be written.
    serde_json::to_string_pretty(&listed).unwrap_or_default() + "\n"
}

/// The page of the documentation.
pub fn page(of: Party) -> String {
    let mut page = String::from(match of {
        Party::Engine => OF_ENGINES,
        Party::Client => OF_CLIENTS,
    });
    let mut area = "";
    for check in checks(of) {
        let this = check.area();
        // Writing into a `String` cannot fail.
        let _ = if this == area { Ok(()) } else { writeln!(page, "\n## {this}") };
        area = this;
        let profiles: Vec<_> = check.profiles.iter().map(|it| it.name()).collect();
        let _ = write!(
            page,
            "\n### `{}`\n\n*{}*, {}: {}.\n\n",
            check.id,
            check.severity,
            profiles.join(", "),
            check.rule
        );
        for clause in check.clauses {
            let _ = writeln!(page, "- {}: {}.", clause.place, clause.says);
        }
        for need in check.needs {
            let _ = writeln!(page, "- It needs {need}.");
        }
        let _ = writeln!(page, "- If it fails: {}.", check.advice);
    }
    page
}

impl From<&'static Check> for Listed {
    fn from(check: &'static Check) -> Self {
        let clauses = check.clauses.iter();
        Self {
            id: check.id,
            rule: check.rule,
            severity: check.severity.word(),
            profiles: check.profiles.iter().copied().map(Profile::name).collect(),
            needs: check.needs.iter().map(ToString::to_string).collect(),
            clauses: clauses.map(|it| ListedClause { place: it.place, says: it.says }).collect(),
            advice: check.advice,
        }
    }
}
