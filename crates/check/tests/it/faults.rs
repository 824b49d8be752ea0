//! Test support: each fault must be detected by its own check and by no unrelated one.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;

use readyok_check::{Check, CheckResult, Report, Verdict};
use readyok_protocol::Language;

/// Path of a test program, which is an example of this package: `cargo install` skips it.
#[expect(clippy::expect_used, reason = "used by all tests")]
pub(crate) fn test_program(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let profile = test.ancestors().nth(2).expect("target/<profile>/deps/<test>");
    let program =
        profile.join("examples").join(name).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        program.exists(),
        "`cargo build --examples -p readyok-check` builds {}",
        program.display()
    );
    program
}

/// Faults that violate several rules: the check, and the related checks.
pub(crate) type Related = [(&'static str, &'static [&'static str])];

/// Number of parallel faults, which use little CPU time.
const PARALLEL: usize = 48;

/// Faults that are visible in CPU usage or timing and need an idle host. They come first.
pub(crate) const NEED_IDLE_HOST: [&str; 4] =
    ["handshake.waits", "limits.game", "resources.idle", "resources.no-own-ponder"];

/// Number of runs of a check for which the host is too busy.
const ATTEMPTS: usize = 3;

fn is_loaded(result: &Result<Report, String>, check: &Check) -> bool {
    let mut results = result.iter().flat_map(|report| &report.results);
    results.any(|result| result.check.id == check.id && result.loaded)
}

static HOST: RwLock<()> = RwLock::new(());

/// Exclusive use of the host: hundreds of parallel sessions slow each other down.
pub(crate) fn alone() -> RwLockWriteGuard<'static, ()> {
    HOST.write().unwrap_or_else(PoisonError::into_inner)
}

/// Shared use of the host by tests with a few sessions.
pub(crate) fn together() -> RwLockReadGuard<'static, ()> {
    HOST.read().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn failed(report: &Report) -> Vec<&'static str> {
    report.failures().map(|result| result.check.id).collect()
}

/// Runs the fault of each check, and fails if it is not detected or if an unrelated check fails.
pub(crate) fn prove(
    checks: impl Iterator<Item = &'static Check>,
    related: &Related,
    commit: impl Fn(&Check) -> Result<Report, String> + Sync,
) {
    let (first, rest): (Vec<&Check>, Vec<&Check>) =
        checks.partition(|check| NEED_IDLE_HOST.contains(&check.id));
    let prove_one = |check: &&Check| {
        let result = (0..ATTEMPTS).map(|_| commit(check)).find(|result| !is_loaded(result, check));
        // On a host that is busy for minutes times have no verdict.
        result?.and_then(|report| judge(check, &report, related)).err()
    };
    let mut wrong = filter_map_parallel(first.len(), &first, prove_one);
    wrong.extend(filter_map_parallel(PARALLEL, &rest, prove_one));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Calls a function for each case on several threads, and returns its results.
pub(crate) fn filter_map_parallel<T: Sync, R: Send>(
    threads: usize,
    cases: &[T],
    map: impl Fn(&T) -> Option<R> + Sync,
) -> Vec<R> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = map(case);
                    results.lock().unwrap_or_else(PoisonError::into_inner).extend(result);
                }
            });
        }
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The part of a message that describes a call of `abort`.
pub(crate) const ABORTED: &str =
    if cfg!(windows) { "STATUS_STACK_BUFFER_OVERRUN" } else { "SIGABRT" };

/// A text with debug formatting, or a Japanese text with English in it.
pub(crate) fn unsuitable_text(report: &Report) -> Option<String> {
    let unsuitable = |result: &CheckResult| {
        let texts = [Some(result.verdict.text()), result.remark.clone()];
        let message = result.verdict.message();
        let japanese = message.map(|message| message.in_language(Language::Japanese));
        let unsuitable = texts.into_iter().flatten().find(|text| is_debug_form(text));
        unsuitable.or_else(|| japanese.filter(|text| has_english(text)))
    };
    report.results.iter().find_map(unsuitable)
}

/// Whether a Japanese text contains English outside code spans and citations.
fn has_english(text: &str) -> bool {
    let documents = [" (UCI 2006", " (The UCI Protocol", " (USI draft 1", " (PGN specification"];
    let text = documents
        .iter()
        .find_map(|document| text.split_once(document))
        .map_or(text, |parts| parts.0);
    let names = ["UCI", "USI", "CPU", "CR", "MB", "ms", "UTF-8", "ASCII", "JSON", "MultiPV"];
    let outside: String = text.split('`').step_by(2).collect();
    let mut tokens = outside.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let is_english =
        |token: &str| token.contains(|c: char| c.is_ascii_alphabetic()) && !token.starts_with("0x");
    tokens.any(|token| is_english(token) && !names.contains(&token))
}

/// Whether the text contains debug formatting, such as `Some(3)`, `Cp(0)` or `Info { depth: … }`.
fn is_debug_form(text: &str) -> bool {
    let is_type = |token: &str| {
        let name = token.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.contains(|c: char| c.is_lowercase())
    };
    ["(", " {"]
        .iter()
        .any(|open| text.match_indices(open).any(|(at, _)| text.get(..at).is_some_and(is_type)))
}

#[test]
fn detects_debug_formatting() {
    for text in ["it has Cp(0)", "a Move(Move(g1f3))", "it was Info { depth: None }"] {
        assert!(is_debug_form(text), "{text}");
    }
    for text in ["it ended with signal: 6 (SIGABRT)", "`cp 3` (bad)", "`lnsgkgsnl/1r5b1` {engine}"]
    {
        assert!(!is_debug_form(text), "{text}");
    }
}

/// Whether the check was skipped because this system lacks a function that Linux has.
pub(crate) fn is_unmeasured(report: &Report, id: &str) -> bool {
    let result = report.results.iter().find(|result| result.check.id == id);
    let texts = [
        "the system does not report the resource usage of a process",
        "cannot be observed on this system",
    ];
    !cfg!(target_os = "linux")
        && result.is_some_and(|result| texts.contains(&result.verdict.text().as_str()))
}

fn judge(check: &Check, report: &Report, related: &Related) -> Result<(), String> {
    if is_unmeasured(report, check.id) {
        return Ok(());
    }
    let failed = failed(report);
    let related = related.iter().find(|(id, _)| *id == check.id).map_or(&[][..], |(_, them)| them);
    if !failed.contains(&check.id) {
        let result = report.results.iter().find(|result| result.check.id == check.id);
        return Err(format!(
            "{} is not caught: {:?}",
            check.id,
            result.map(|result| &result.verdict)
        ));
    }
    if let Some(text) = unsuitable_text(report) {
        return Err(format!("{} has an unsuitable text: {text}", check.id));
    }
    if let Some(other) = failed.iter().find(|id| **id != check.id && !related.contains(*id)) {
        return Err(format!("{} is taken for {other}:\n{report}", check.id));
    }
    // On a busy host the engine may be slow, which is no failure.
    let mut causes = report.causes();
    causes.retain(|cause| {
        let fails = |result: &&CheckResult| matches!(result.verdict, Verdict::Fail(_));
        cause.root.as_ref().is_some_and(fails) || cause.dependents.iter().any(fails)
    });
    // Failures of clients are not repeated: each is a cause of its own.
    causes.retain(|cause| !cause.id.starts_with("gui.") || !related.contains(&cause.id));
    match causes.as_slice() {
        [_] => Ok(()),
        causes => Err(format!("{} has {} root causes:\n{report}", check.id, causes.len())),
    }
}
