//! What both proofs share: each fault is caught by its own check, and taken for no other.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;

use readyok_check::{Check, CheckResult, Report};
use readyok_protocol::Language;

/// Faults that cannot be had alone: the check, and what else is seen of it.
pub(crate) type Related = [(&'static str, &'static [&'static str])];

/// So many faults at once. Mostly they wait.
const AT_ONCE: usize = 48;

/// Faults that are seen by the processors that an engine takes, or by when it speaks: who shares the
/// machine with many others cannot commit them. They come first.
pub(crate) const NEED_THE_MACHINE: [&str; 3] =
    ["handshake.waits", "resources.idle", "resources.no-own-ponder"];

static MACHINE: RwLock<()> = RwLock::new(());

/// The machine for one test alone: hundreds of conversations at once would find each other slow.
pub(crate) fn alone() -> RwLockWriteGuard<'static, ()> {
    MACHINE.write().unwrap_or_else(PoisonError::into_inner)
}

/// The machine together with the other tests of a few conversations, which mostly wait.
pub(crate) fn together() -> RwLockReadGuard<'static, ()> {
    MACHINE.read().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn failed(report: &Report) -> Vec<&'static str> {
    report.failures().map(|it| it.check.id).collect()
}

/// Commits the fault of each check, and tells of those that are not caught or taken for others.
pub(crate) fn prove(
    checks: impl Iterator<Item = &'static Check>,
    related: &Related,
    commit: impl Fn(&Check) -> Result<Report, String> + Sync,
) {
    let (first, rest): (Vec<&Check>, Vec<&Check>) =
        checks.partition(|check| NEED_THE_MACHINE.contains(&check.id));
    let wrong = Mutex::new(Vec::new());
    let prove_one = |check: &Check| {
        let caught = commit(check).and_then(|report| judge(check, &report, related));
        if let Err(why) = caught {
            wrong.lock().unwrap_or_else(PoisonError::into_inner).push(why);
        }
    };
    thread::scope(|scope| first.iter().for_each(|check| drop(scope.spawn(|| prove_one(check)))));
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(check) = rest.get(next.fetch_add(1, Ordering::Relaxed)) {
                    prove_one(check);
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What is told of a result in the words of this program, and not in those of the protocols, or in
/// Japanese with English in it.
pub(crate) fn told_oddly(report: &Report) -> Option<String> {
    let odd = |result: &CheckResult| {
        let texts = [Some(result.verdict.text()), result.remark.clone()];
        let message = result.verdict.message();
        let japanese = message.map(|it| it.in_language(Language::Japanese));
        let odd = texts.into_iter().flatten().find(|text| is_debug_form(text));
        odd.or_else(|| japanese.filter(|text| has_english(text)))
    };
    report.results.iter().find_map(odd)
}

/// Whether there are words of English in a Japanese text: between backticks everything may stand, and
/// documents at its end are cited as they are called.
fn has_english(text: &str) -> bool {
    let documents = [" (UCI 2006", " (The UCI Protocol", " (USI draft 1", " (PGN specification"];
    let text = documents.iter().find_map(|it| text.split_once(it)).map_or(text, |it| it.0);
    let names = ["UCI", "USI", "CPU", "CR", "MB", "ms", "UTF-8", "ASCII", "JSON", "MultiPV"];
    let outside: String = text.split('`').step_by(2).collect();
    let mut words = outside.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.any(|word| word.contains(|c: char| c.is_ascii_alphabetic()) && !names.contains(&word))
}

/// Whether there is something like `Some(3)`, `Cp(0)` or `Info { depth: … }`.
fn is_debug_form(text: &str) -> bool {
    let is_type = |word: &str| {
        let name = word.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.contains(|c: char| c.is_lowercase())
    };
    ["(", " {"]
        .iter()
        .any(|open| text.match_indices(open).any(|(at, _)| text.get(..at).is_some_and(is_type)))
}

#[test]
fn debug_forms_are_known() {
    for text in ["it has Cp(0)", "a Move(Move(g1f3))", "it was Info { depth: None }"] {
        assert!(is_debug_form(text), "{text}");
    }
    for text in ["it ended with signal: 6 (SIGABRT)", "`cp 3` (bad)", "`lnsgkgsnl/1r5b1` {engine}"]
    {
        assert!(!is_debug_form(text), "{text}");
    }
}

fn judge(check: &Check, report: &Report, related: &Related) -> Result<(), String> {
    let failed = failed(report);
    let related = related.iter().find(|(id, _)| *id == check.id).map_or(&[][..], |(_, them)| them);
    if !failed.contains(&check.id) {
        let result = report.results.iter().find(|it| it.check.id == check.id);
        return Err(format!("{} is not caught: {:?}", check.id, result.map(|it| &it.verdict)));
    }
    if let Some(text) = told_oddly(report) {
        return Err(format!("{} is told in the words of the program: {text}", check.id));
    }
    match failed.iter().find(|id| **id != check.id && !related.contains(*id)) {
        Some(other) => Err(format!("{} is taken for {other}:\n{report}", check.id)),
        None => Ok(()),
    }
}
