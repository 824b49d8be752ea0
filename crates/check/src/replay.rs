//! Root causes from evidence: failed checks are repeated with changed dialogues.
//!
//! Two failures have one cause if the same change repairs both. A change repairs a failure if the check fails again
//! without it, and passes with it. A failure that no change repairs is its own cause, unless its evidence is that of
//! another one: the same reply, or none, in the same search.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use readyok_protocol::{Command, Go, Party, Reply};

use crate::alteration::applies;
use crate::change::Change;
use crate::checks;
use crate::context::{Test, TestCase, TestContext};
use crate::message::Message;
use crate::spec::{CheckResult, Repair, Verdict};
use crate::suite::{Completed, in_parallel, judge_transcript, run_interactive};
use crate::timeouts::now;
use crate::transcript::{Excerpt, Transcript};

/// Maximum number of repeated checks of a run.
const MAX_REPLAYS: usize = 1500;

/// Maximum number of lines of one kind that are removed from the recorded sessions.
const MAX_REMOVED: usize = 5000;

/// Rounds in which failures are explained by several causes together.
const ROUNDS: usize = 3;

/// Repeats checks.
pub(crate) struct Replays<'a> {
    /// The context of a check.
    pub(crate) context: &'a (dyn Fn(&'static TestCase) -> TestContext<'a> + Sync),
    pub(crate) jobs: Option<usize>,
    /// The changes that may be causes: a rule about them was violated, or was not checked.
    suspects: Vec<Change>,
    count: AtomicUsize,
}

/// Whether a change affects a session.
fn affects(change: Change, dialogues: &[Transcript]) -> bool {
    dialogues.iter().any(|dialogue| applies(change, dialogue))
}

/// A failed check.
struct Failure {
    /// The index of its result.
    at: usize,
    case: &'static TestCase,
    /// The check whose session shows the failure of a check that only observes.
    provider: &'static TestCase,
    /// The sessions, or the part of one that shows the failure.
    dialogues: Vec<Transcript>,
    evidence: String,
}

/// The outcome of a repeated check.
enum Outcome {
    Passes(Excerpt),
    Fails {
        dialogues: Vec<Transcript>,
        excerpt: Excerpt,
        evidence: String,
        why: Message,
    },
    /// There is no verdict.
    Unknown,
}

/// What is known of the cause of a failure.
#[derive(Default)]
struct Finding {
    /// The changes that repair it; the last one is its cause.
    changes: Vec<Change>,
    /// The dialogue that works.
    works: Option<Excerpt>,
    /// The failure in a dialogue that other causes do not affect.
    shown: Option<(Excerpt, Message)>,
    evidence: String,
}

impl<'a> Replays<'a> {
    pub(crate) fn new(
        context: &'a (dyn Fn(&'static TestCase) -> TestContext<'a> + Sync),
        jobs: Option<usize>,
        results: &[CheckResult],
        needs_new_game: bool,
    ) -> Self {
        let passes = |rule: &&'static str| {
            let result = results.iter().find(|result| result.check.id == *rule);
            result.is_some_and(|result| matches!(result.verdict, Verdict::Pass | Verdict::Skip(_)))
        };
        let is_suspect = |change: &Change| {
            let rules = change.rules();
            let is_possible = *change != Change::NewGameFirst || needs_new_game;
            is_possible && (rules.is_empty() || !rules.iter().all(passes))
        };
        let suspects = Change::ALL.into_iter().filter(is_suspect).collect();
        Self { context, jobs, suspects, count: AtomicUsize::new(0) }
    }

    /// Sets the causes of all failures, and judges again what has no verdict because of them. Returns whether the number
    /// of repetitions was sufficient.
    pub(crate) fn explain(&self, results: &mut [CheckResult], completed: &[Completed]) -> bool {
        let sessions: Vec<(&'static str, &Transcript)> = completed
            .iter()
            .flat_map(|it| it.transcripts.iter().map(|transcript| (it.result.check.id, transcript)))
            .collect();
        let failures: Vec<Failure> = results
            .iter()
            .enumerate()
            .filter(|(_, result)| matches!(result.verdict, Verdict::Fail(_)))
            .filter_map(|(at, result)| failure(at, result, &sessions))
            .collect();
        let heads = by_lines(&failures, &sessions);
        let is_head = |at: usize| heads.get(at).is_none_or(|head| *head == at);
        let work: Vec<usize> = (0..failures.len()).filter(|at| is_head(*at)).collect();
        let mut findings: BTreeMap<usize, Finding> = in_parallel(self.jobs, &work, |at| {
            let finding = failures.get(*at).map(|failure| self.single(failure));
            (*at, finding.unwrap_or_default())
        })
        .into_iter()
        .collect();
        self.include(&failures, &mut findings);
        for _ in 0..ROUNDS {
            if !self.explain_together(&failures, &mut findings) {
                break;
            }
        }
        let known = changes(&findings);
        assign(results, &failures, &heads, findings);
        self.judge_again(results, &known);
        self.count.load(Ordering::Relaxed) < MAX_REPLAYS
    }

    /// Judges checks without a verdict, with the changes of all known causes.
    fn judge_again(&self, results: &mut [CheckResult], known: &[Change]) {
        let genuine = known.iter().copied().filter(|change| change.is_genuine());
        let genuine: Vec<Change> = genuine.collect();
        let limits = self.suspects.iter().copied().filter(|change| change.is_limit());
        let limited: Vec<Change> = genuine.iter().copied().chain(limits).collect();
        let open: Vec<(usize, &'static TestCase)> = results
            .iter()
            .enumerate()
            .filter(|(_, result)| matches!(result.verdict, Verdict::Inconclusive(_)))
            .filter_map(|(at, result)| Some((at, test_case(result.check.id)?)))
            .collect();
        let judged = in_parallel(self.jobs, &open, |(at, case)| {
            let (dialogues, evidence) = (Vec::new(), String::new());
            let failure = Failure { at: *at, case, provider: case, dialogues, evidence };
            let mut outcome = Outcome::Unknown;
            if !genuine.is_empty() {
                outcome = self.repeat(&failure, &genuine);
            }
            if genuine.len() < limited.len() && !matches!(outcome, Outcome::Fails { .. }) {
                outcome = self.repeat(&failure, &limited);
                // With another limit only the end of the process is certainly wrong.
                let has_exited = |it: &Transcript| it.has_exited;
                match &outcome {
                    Outcome::Fails { dialogues, .. } if dialogues.iter().any(has_exited) => (),
                    _ => return None,
                }
            }
            let Outcome::Fails { dialogues, excerpt, evidence, why } = outcome else { return None };
            let finding = Finding { evidence: evidence.clone(), ..Finding::default() };
            let failure = Failure { dialogues, evidence, ..failure };
            let finding = self.combined(&failure, known).unwrap_or(finding);
            (finding.changes.last().is_none_or(|change| !known.contains(change)))
                .then_some((failure, finding, excerpt, why))
        });
        let (mut failures, mut findings) = (Vec::new(), BTreeMap::new());
        for (failure, finding, excerpt, why) in judged.into_iter().flatten() {
            if let Some(result) = results.get_mut(failure.at) {
                result.verdict = Verdict::Fail(why);
                result.cause = None;
                result.transcript = Some(excerpt.transcript);
                result.input = excerpt.input;
            }
            findings.insert(failures.len(), finding);
            failures.push(failure);
        }
        let heads: Vec<usize> = (0..failures.len()).collect();
        assign(results, &failures, &heads, findings);
    }

    /// Finds the change that alone repairs a failure.
    fn single(&self, failure: &Failure) -> Finding {
        let evidence = failure.evidence.clone();
        let Outcome::Fails { .. } = self.repeat(failure, &[]) else {
            return Finding { evidence, ..Finding::default() };
        };
        for change in self.suspects.iter().filter(|change| affects(**change, &failure.dialogues)) {
            let change = *change;
            if let Outcome::Passes(works) = self.repeat(failure, &[change]) {
                let changes = vec![change];
                return Finding { changes, works: Some(works), evidence, shown: None };
            }
        }
        Finding { evidence, ..Finding::default() }
    }

    /// Replaces a cause by one that explains more failures.
    fn include(&self, failures: &[Failure], findings: &mut BTreeMap<usize, Finding>) {
        for (change, included) in Change::INCLUDED {
            let of = |change: Change| {
                let of_change = findings.iter().filter(move |(_, it)| it.changes == [change]);
                of_change.map(|(at, _)| *at).collect::<Vec<usize>>()
            };
            if of(change).len() < of(included).len().max(1) {
                continue;
            }
            let repaired = in_parallel(self.jobs, &of(included), |at| {
                let failure = failures.get(*at)?;
                match self.repeat(failure, &[change]) {
                    Outcome::Passes(works) => Some((*at, works)),
                    Outcome::Fails { .. } | Outcome::Unknown => None,
                }
            });
            for (at, works) in repaired.into_iter().flatten() {
                if let Some(finding) = findings.get_mut(&at) {
                    finding.changes = vec![change];
                    finding.works = Some(works);
                }
            }
        }
    }

    /// Explains the remaining failures by several changes. Returns whether a new cause was found.
    fn explain_together(
        &self,
        failures: &[Failure],
        findings: &mut BTreeMap<usize, Finding>,
    ) -> bool {
        let known = changes(findings);
        let open: Vec<usize> = findings
            .iter()
            .filter(|(_, finding)| finding.changes.is_empty())
            .map(|(at, _)| *at)
            .collect();
        if known.is_empty() {
            return false;
        }
        let explained = in_parallel(self.jobs, &open, |at| {
            (*at, failures.get(*at).and_then(|failure| self.combined(failure, &known)))
        });
        let mut is_new = false;
        for (at, finding) in explained {
            if let Some(finding) = finding {
                is_new |= finding.changes.last().is_some_and(|change| !known.contains(change));
                findings.insert(at, finding);
            }
        }
        is_new
    }

    /// Repeats a failure with the changes of all known causes, then with one more.
    fn combined(&self, failure: &Failure, known: &[Change]) -> Option<Finding> {
        let mut affecting = known.iter().filter(|change| affects(**change, &failure.dialogues));
        let is_affected = affecting.clone().next().is_some();
        let is_genuine = affecting.all(|change| change.is_genuine());
        let mut rest = Finding { evidence: failure.evidence.clone(), ..Finding::default() };
        let mut dialogues = failure.dialogues.clone();
        // Without an effect up to the failure, the check fails in the same way.
        if is_affected {
            match self.repeat(failure, known) {
                Outcome::Passes(works) => {
                    let cause = self.needed(failure, known)?;
                    return Some(Finding { changes: vec![cause], works: Some(works), ..rest });
                }
                Outcome::Fails { dialogues: own, excerpt, evidence, why } => {
                    dialogues = own;
                    rest.shown = is_genuine.then_some((excerpt, why));
                    rest.evidence = evidence;
                }
                Outcome::Unknown => return None,
            }
        }
        let others = self.suspects.iter().filter(|change| !known.contains(change));
        for change in others.filter(|change| affects(**change, &dialogues)) {
            let changes = [known, &[*change]].concat();
            if let Outcome::Passes(works) = self.repeat(failure, &changes) {
                return Some(Finding { changes, works: Some(works), ..rest });
            }
        }
        Some(rest)
    }

    /// The first of several changes without which the failure is not repaired.
    fn needed(&self, failure: &Failure, changes: &[Change]) -> Option<Change> {
        let is_needed = |change: &&Change| {
            let rest: Vec<Change> =
                changes.iter().filter(|other| other != change).copied().collect();
            !matches!(self.repeat(failure, &rest), Outcome::Passes(_))
        };
        let is_affected = |change: &&Change| affects(**change, &failure.dialogues);
        let affected = || changes.iter().filter(is_affected);
        affected().find(is_needed).or_else(|| affected().next()).copied()
    }

    /// Repeats a failed check with changes.
    fn repeat(&self, failure: &Failure, changes: &[Change]) -> Outcome {
        let context = (self.context)(failure.provider).with_changes(changes);
        let is_over = context.timeouts.deadline().is_some_and(|deadline| deadline <= now())
            || context.target.is_canceled();
        if is_over || MAX_REPLAYS <= self.count.fetch_add(1, Ordering::Relaxed) {
            return Outcome::Unknown;
        }
        let severity = failure.provider.check.severity;
        let completed = run_interactive(failure.provider, severity, context);
        let Some(last) = completed.transcripts.last() else { return Outcome::Unknown };
        let area = failure.case.check.area();
        if let Test::Interactive(_) = failure.case.test {
            return match completed.result.verdict {
                Verdict::Pass => Outcome::Passes(last.excerpt(None)),
                Verdict::Fail(why) => Outcome::Fails {
                    excerpt: last.excerpt(None),
                    evidence: evidence(area, last, Some(&why)),
                    dialogues: completed.transcripts.clone(),
                    why,
                },
                Verdict::Skip(_) | Verdict::Inconclusive(_) => Outcome::Unknown,
            };
        }
        let mut seen = 0;
        for transcript in completed.transcripts.iter().filter(|transcript| transcript.conforming) {
            match judge_transcript(failure.case.test, transcript, Party::Engine) {
                Ok(count) => seen += count,
                Err((at, why)) => {
                    let dialogue = part(transcript, at);
                    return Outcome::Fails {
                        excerpt: transcript.excerpt(Some(at)),
                        evidence: evidence(area, &dialogue, None),
                        dialogues: vec![dialogue],
                        why,
                    };
                }
            }
        }
        // Without relevant lines, the session has to be complete.
        if matches!(completed.result.verdict, Verdict::Pass) || 0 < seen {
            Outcome::Passes(last.excerpt(same_search(failure.dialogues.first(), last)))
        } else {
            Outcome::Unknown
        }
    }
}

/// The changes that name causes.
fn changes(findings: &BTreeMap<usize, Finding>) -> Vec<Change> {
    let changes = findings.values().filter_map(|finding| finding.changes.last().copied());
    let mut changes: Vec<Change> = changes.collect();
    changes.sort();
    changes.dedup();
    changes
}

fn test_case(id: &str) -> Option<&'static TestCase> {
    checks::test_cases().find(|case| case.check.id == id)
}

/// The session that shows a failure.
fn failure(
    at: usize,
    result: &CheckResult,
    sessions: &[(&'static str, &Transcript)],
) -> Option<Failure> {
    let own = test_case(result.check.id)?;
    if let Test::Interactive(_) = own.test {
        let sessions = sessions.iter().filter(|(id, _)| *id == result.check.id);
        let dialogues: Vec<Transcript> =
            sessions.map(|(_, transcript)| (*transcript).clone()).collect();
        let evidence = evidence(own.check.area(), dialogues.last()?, result.verdict.message());
        return Some(Failure { at, case: own, provider: own, dialogues, evidence });
    }
    let conforming = sessions.iter().filter(|(_, transcript)| transcript.conforming);
    let (provider, transcript, line) = conforming
        .filter_map(|(id, transcript)| {
            let (line, _) = judge_transcript(own.test, transcript, Party::Engine).err()?;
            Some((test_case(id)?, *transcript, line))
        })
        // A short session is repeated quickly.
        .min_by_key(|(_, transcript, _)| transcript.entries.len())?;
    let dialogue = part(transcript, line);
    let evidence = evidence(own.check.area(), &dialogue, None);
    Some(Failure { at, case: own, provider, dialogues: vec![dialogue], evidence })
}

/// The start of a session, and the search with an entry.
fn part(transcript: &Transcript, at: usize) -> Transcript {
    let is_command = |at: usize, command: &str| {
        let entry = transcript.entries.get(at);
        entry.is_some_and(|entry| {
            entry.side == Party::Client
                && entry.text.split_ascii_whitespace().next() == Some(command)
        })
    };
    let start = (0..at).find(|at| is_command(*at, "position")).unwrap_or(0);
    let from = (0..=at).rev().find(|at| is_command(*at, "position")).unwrap_or(0);
    let mut part = Transcript::new(transcript.dialect, transcript.conforming);
    let entries = transcript.entries.iter().enumerate();
    let kept = entries.filter(|(index, _)| *index < start || (from..=at).contains(index));
    part.entries = kept.map(|(_, entry)| entry.clone()).collect();
    part
}

/// The end of the first search with the limits of the last search of another session, otherwise that of the first search.
fn same_search(other: Option<&Transcript>, transcript: &Transcript) -> Option<usize> {
    let of = |text: &str| match Command::read(text, transcript.dialect).value {
        Command::Go(go) => Some(limits(&go)),
        _ => None,
    };
    let wanted = other.and_then(|other| other.commands().rev().find_map(of));
    let entries = || transcript.entries.iter().enumerate();
    let is_end =
        |text: &str| matches!(Reply::read(text, transcript.dialect).value, Reply::BestMove(_));
    let start = entries().find(|(_, entry)| {
        entry.side == Party::Client && wanted.is_some() && of(&entry.text) == wanted
    });
    let start = start.map_or(0, |(at, _)| at);
    let mut ends = entries().skip(start);
    ends.find(|(_, it)| it.side == Party::Engine && is_end(&it.text)).map(|(at, _)| at)
}

/// What a failure shows: the position, the command, and the kind of the reply or the message of the check.
fn evidence(area: &str, dialogue: &Transcript, why: Option<&Message>) -> String {
    let command = |text: &str| Command::read(text, dialogue.dialect).value.into_owned();
    // `isready` only shows that the engine has exited or hangs.
    let last = dialogue.commands().rev().map(command).find(|command| *command != Command::IsReady);
    // The values of limits differ from check to check.
    let last = match &last {
        Some(Command::Go(go)) => limits(go),
        Some(Command::Position(_)) | None => String::new(),
        Some(other) => format!("{other:?}"),
    };
    let mut commands = dialogue.commands().rev().map(command);
    let position = commands.find_map(|command| match command {
        Command::Position(position) => Some(format!("{position:?}")),
        _ => None,
    });
    let position = position.unwrap_or_default();
    let ends = dialogue.entries.last();
    let is_scored = |text: &str| match Reply::read(text, dialogue.dialect).value {
        Reply::Info(info) => info.score.is_some(),
        _ => false,
    };
    let is_silent = !dialogue.entries.iter().any(|entry| is_scored(&entry.text));
    let shown = match ends.filter(|entry| entry.side == Party::Engine) {
        None => "no reply".to_owned(),
        Some(entry) => match (Reply::read(&entry.text, dialogue.dialect).value, why) {
            // All searches without `info` show the same.
            (Reply::BestMove(_), None) if is_silent && area == "info" => return "no info".into(),
            (_, Some(why)) if is_silent && why.id() == "book.no-search" => return "no info".into(),
            (Reply::BestMove(_), None) => "bestmove".to_owned(),
            (_, Some(why)) => why.to_string(),
            (_, None) => entry.text.clone(),
        },
    };
    format!("{shown}; {last}; {position}")
}

/// The kinds of the limits of a search.
fn limits(go: &Go<'_>) -> String {
    let kinds = [
        (go.ponder, "ponder"),
        (go.infinite, "infinite"),
        (go.depth.is_some(), "depth"),
        (go.nodes.is_some(), "nodes"),
        (go.move_time.is_some(), "movetime"),
        (go.mate.is_some(), "mate"),
        (!go.clocks.is_empty(), "clocks"),
        (go.search_moves.is_some(), "searchmoves"),
    ];
    let kinds = kinds.into_iter().filter(|(is_used, _)| *is_used).map(|(_, kind)| kind);
    format!("go {}", kinds.collect::<Vec<_>>().join(" "))
}

/// For each failure, the first one whose removed lines repair it. Only checks that observe are compared: their lines
/// are removed from the recorded sessions.
fn by_lines(failures: &[Failure], sessions: &[(&'static str, &Transcript)]) -> Vec<usize> {
    let mut heads: Vec<usize> = (0..failures.len()).collect();
    let passive: Vec<usize> = failures
        .iter()
        .enumerate()
        .filter(|(_, failure)| failure.case.test.is_passive())
        .map(|(at, _)| at)
        .collect();
    for at in &passive {
        if passive.len() < 2 || heads.get(*at) != Some(at) {
            continue;
        }
        let Some(test) = failures.get(*at).map(|failure| failure.case.test) else { continue };
        let Some(rest) = without_lines(test, sessions) else { continue };
        for other in passive.iter().filter(|other| *other != at) {
            let Some(failure) = failures.get(*other) else { continue };
            let mut seen = 0;
            let repaired = rest.iter().all(|transcript| {
                let judged = judge_transcript(failure.case.test, transcript, Party::Engine);
                seen += judged.as_ref().map_or(0, |count| *count);
                judged.is_ok()
            });
            let of_other = heads.get(*other) == Some(other);
            if repaired
                && 0 < seen
                && of_other
                && let Some(head) = heads.get_mut(*other)
            {
                *head = *at;
            }
        }
    }
    // A head may have got a head.
    for at in 0..heads.len() {
        let mut head = at;
        for _ in 0..heads.len() {
            head = heads.get(head).copied().unwrap_or(head);
        }
        if let Some(it) = heads.get_mut(at) {
            *it = head;
        }
    }
    heads
}

/// The sessions without the lines that violate a rule. `None` if replies would have to be removed.
fn without_lines(test: Test, sessions: &[(&'static str, &Transcript)]) -> Option<Vec<Transcript>> {
    let mut removed = 0;
    let conforming = sessions.iter().filter(|(_, transcript)| transcript.conforming);
    conforming
        .map(|(_, transcript)| {
            let mut rest = (*transcript).clone();
            while let Err((at, _)) = judge_transcript(test, &rest, Party::Engine) {
                let line = rest.entries.get(at)?;
                let reply = Reply::read(&line.text, rest.dialect).value;
                let is_removable =
                    matches!(reply, Reply::Info(_) | Reply::Option(_) | Reply::Unknown(_));
                removed += 1;
                if !is_removable || MAX_REMOVED < removed {
                    return None;
                }
                rest = rest.without(at);
            }
            Some(rest)
        })
        .collect()
}

/// Groups the failures by their causes, and sets the causes of the results.
fn assign(
    results: &mut [CheckResult],
    failures: &[Failure],
    heads: &[usize],
    mut findings: BTreeMap<usize, Finding>,
) {
    let mut groups: Vec<(Option<Change>, Vec<usize>)> = Vec::new();
    let mut by_change: Vec<&usize> = findings.keys().collect();
    // A failure that no change repairs may have the evidence of one that is repaired.
    by_change.sort_by_key(|at| findings.get(at).is_none_or(|finding| finding.changes.is_empty()));
    for at in by_change {
        let Some(finding) = findings.get(at) else { continue };
        let change = finding.changes.last().copied();
        let has_evidence = |members: &[usize]| {
            let mut members = members.iter().filter_map(|member| findings.get(member));
            members.any(|member| member.evidence == finding.evidence)
        };
        let group = groups.iter_mut().find(|(other, members)| match change {
            Some(change) => *other == Some(change),
            None => has_evidence(members),
        });
        match group {
            Some((_, members)) => members.push(*at),
            None => groups.push((change, vec![*at])),
        }
    }
    for (change, members) in groups {
        let all: Vec<usize> = failures
            .iter()
            .enumerate()
            .filter(|(at, _)| heads.get(*at).is_some_and(|head| members.contains(head)))
            .map(|(_, failure)| failure.at)
            .collect();
        for member in members {
            let Some(finding) = findings.remove(&member) else { continue };
            let Some(at) = failures.get(member).map(|failure| failure.at) else { continue };
            let Some(result) = results.get_mut(at) else { continue };
            if let Some((excerpt, why)) = finding.shown {
                result.transcript = Some(excerpt.transcript);
                result.input = excerpt.input;
                result.verdict = Verdict::Fail(why);
            }
            if let Some(change) = finding.changes.last() {
                let transcript = finding.works.map(|excerpt| excerpt.transcript);
                result.repair =
                    Some(Repair { key: change.key(), cause: change.cause(), transcript });
            }
        }
        let Some(root) = root(results, &all, change) else { continue };
        for at in all {
            if let Some(result) = results.get_mut(at)
                && result.check.id != root
            {
                result.cause = Some(root);
            }
        }
    }
}

/// The failure that names a cause: the most severe one; of these that of the rule about the change, or the one
/// with the shortest transcript.
fn root(
    results: &[CheckResult],
    members: &[usize],
    change: Option<Change>,
) -> Option<&'static str> {
    let all = || members.iter().filter_map(|at| results.get(*at));
    let rule = change.and_then(|change| change.rules().first().copied());
    let length = |result: &CheckResult| {
        result.transcript.as_ref().map_or(usize::MAX, |transcript| transcript.lines().count())
    };
    let first = all().min_by_key(|result| {
        let is_other = Some(result.check.id) != rule;
        let is_unrepaired = change.is_some() && result.repair.is_none();
        (result.severity, is_other, is_unrepaired, length(result))
    });
    first.map(|result| result.check.id)
}
