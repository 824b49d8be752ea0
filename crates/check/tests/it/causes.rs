//! Root causes of engines with several defects: random combinations of the faults of the test engine, which were not used for
//! development.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use readyok_check::{Cause, CheckResult, Profile, Report, Suite, Target, Timeouts, Verdict, all};

use crate::defects::{DEFECTS, VIOLATIONS};
use crate::faults::{NEED_IDLE_HOST, alone, filter_map_parallel, test_program};
use crate::mutants::{SILENT, SLOW};

/// The number of combinations in place of `COMBINATIONS`.
const VARIABLE: &str = "READYOK_COMBINATIONS";
const COMBINATIONS: usize = 10;

/// Number of parallel engines.
const PARALLEL: usize = 3;

/// Defects without which the engine cannot be judged: it does not search, or takes seconds for each search.
const FATAL: [&str; 5] = ["exits-at-go", "silent-at-go", "no-readyok", "slow", "slow-when-deep"];

/// A fault of the test engine, with the check that shows it.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Fault {
    name: &'static str,
    is_defect: bool,
    check: &'static str,
}

/// The faults that leave an engine whose other rules can be judged.
fn faults() -> Vec<Fault> {
    let is_left_out = |id: &str| {
        NEED_IDLE_HOST.contains(&id)
            || SLOW.contains(&id)
            || id == SILENT
            || id.starts_with("soak.")
    };
    let checks = all()
        .filter(|check| check.profiles.contains(&Profile::Uci2006))
        .map(|check| Fault { name: check.id, is_defect: false, check: check.id });
    let defects = DEFECTS.iter().filter(|(name, _)| !FATAL.contains(name));
    let defects = defects.map(|(name, roots)| Fault { name, is_defect: true, check: roots[0] });
    let violations = VIOLATIONS
        .iter()
        .filter(|(profiles, _, _)| profiles.contains(&Profile::Uci2006))
        .flat_map(|(_, check, names)| names.split(' ').map(move |name| (name, *check)))
        .map(|(name, check)| Fault { name, is_defect: true, check });
    let mut faults: Vec<Fault> = checks.chain(defects).chain(violations).collect();
    faults.retain(|fault| !is_left_out(fault.check));
    faults.sort();
    faults.dedup_by_key(|fault| fault.name);
    faults
}

/// One to four faults of different rules, random with a fixed seed.
fn combinations(count: usize) -> Vec<Vec<Fault>> {
    let mut random = fastrand::Rng::with_seed(20_261_130);
    let faults = faults();
    (0..count)
        .map(|at| {
            let mut combination: Vec<Fault> = Vec::new();
            while combination.len() < 1 + at % 4 {
                let fault = faults[random.usize(..faults.len())];
                if !combination.iter().any(|other| other.check == fault.check) {
                    combination.push(fault);
                }
            }
            combination
        })
        .collect()
}

fn names(combination: &[Fault]) -> String {
    let name = |fault: &Fault| {
        if fault.is_defect { format!("defect.{}", fault.name) } else { fault.name.to_owned() }
    };
    combination.iter().map(name).collect::<Vec<_>>().join(",")
}

fn check(faults: &str) -> Result<Report, String> {
    let target = Target::program(test_program("obedient"), ["--break", faults]);
    let suite = Suite::new(target).profile(Profile::Uci2006).timeouts(Timeouts::fixed(1.0));
    let suite = suite.random_searches(60).random_lines(6).jobs(4);
    suite.run().map_err(|error| format!("{faults}: {error}"))
}

/// Whether a failure of this check belongs to the cause.
fn shows(cause: &Cause<'_>, check: &str) -> bool {
    let mut findings = cause.root.into_iter().chain(cause.dependents.iter().copied());
    let fails = |result: &CheckResult| matches!(result.verdict, Verdict::Fail(_));
    findings.any(|result| result.check.id == check && fails(result))
}

/// Whether each fault has a cause of its own.
fn matches(combination: &[Fault], causes: &[Cause<'_>], used: &mut BTreeSet<usize>) -> bool {
    let Some((first, rest)) = combination.split_first() else { return true };
    for (at, cause) in causes.iter().enumerate() {
        if shows(cause, first.check) && used.insert(at) {
            if matches(rest, causes, used) {
                return true;
            }
            used.remove(&at);
        }
    }
    false
}

/// The causes in one line each.
fn described(report: &Report) -> String {
    let mut text = String::new();
    for cause in report.causes() {
        let name = cause.name().map(ToString::to_string).unwrap_or_default();
        let fails = |result: &&&CheckResult| matches!(result.verdict, Verdict::Fail(_));
        let failed: Vec<&str> =
            cause.dependents.iter().filter(fails).map(|result| result.check.id).collect();
        let rest = cause.dependents.len() - failed.len();
        // Writing to a `String` never fails.
        let _ = writeln!(text, "    {} [{name}] also {failed:?} and {rest} inconclusive", cause.id);
    }
    text
}

/// Why a combination is not explained. `None` if it is.
enum Wrong {
    /// On a busy host a rule about times has no verdict.
    Busy,
    Unexplained(String),
}

fn judge(combination: &[Fault]) -> Option<Wrong> {
    let faults = names(combination);
    let report = match check(&faults) {
        Ok(report) => report,
        Err(error) => return Some(Wrong::Unexplained(error)),
    };
    let causes = report.causes();
    let is_complete = matches(combination, &causes, &mut BTreeSet::new());
    if is_complete && causes.len() <= combination.len() + 1 {
        return None;
    }
    let is_busy = |fault: &Fault| {
        report.results.iter().any(|result| result.check.id == fault.check && result.loaded)
    };
    if combination.iter().any(is_busy) {
        return Some(Wrong::Busy);
    }
    let what = if is_complete { "too many causes" } else { "a defect is not shown" };
    Some(Wrong::Unexplained(format!("{faults}: {what}\n{}", described(&report))))
}

#[test]
#[expect(clippy::print_stdout, reason = "a long run shows its rate and the exceptions")]
fn each_defect_of_a_combination_is_a_root_cause() {
    let _machine = alone();
    let count = std::env::var(VARIABLE).ok().and_then(|count| count.parse().ok());
    let combinations = combinations(count.unwrap_or(COMBINATIONS));
    let wrong = filter_map_parallel(PARALLEL, &combinations, |combination| {
        // On a busy host replies can be late.
        let wrong = judge(combination).and_then(|_| judge(combination))?;
        if let Wrong::Unexplained(why) = &wrong {
            println!("{why}");
        }
        Some(wrong)
    });
    let unexplained: Vec<&str> = wrong
        .iter()
        .filter_map(|wrong| match wrong {
            Wrong::Unexplained(why) => Some(why.as_str()),
            Wrong::Busy => None,
        })
        .collect();
    let judged = combinations.len() - (wrong.len() - unexplained.len());
    println!("{} of {judged} combinations are explained", judged - unexplained.len());
    // Of few combinations, one may have two faults that cannot be distinguished.
    let allowed = (judged / 20).max(1);
    assert!(unexplained.len() <= allowed, "{}", unexplained.join("\n"));
}
