//! A run of the checks on a client: once with an engine that obeys, then once for each thing that can
//! go wrong.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use readyok_client::Guard;
use readyok_protocol::{Dialect, Party, Rule};

use super::hear;
use super::probe::{Expect, Probe};
use super::run::{End, Outcome, Setting, run};
use crate::check::{Check, Severity, Test, Verdict};
use crate::conversation::{Conversation, Entry};
use crate::message::{Message, message};
use crate::pace::Pace;
use crate::settings::{Settings, setters};
use crate::suite::{CheckResult, NoSubject, Report, in_parallel, listen};
use crate::time::now;

/// What stands for the engine in the client's command.
const ENGINE: &str = "{engine}";

/// A client in which nothing has happened for so long waits for ever.
const PATIENCE: Duration = Duration::from_secs(12);

/// A client that waits for its user is waited for so long.
const USER: Duration = Duration::from_secs(3);

/// The first run takes at most so long.
const LIMIT: Duration = Duration::from_mins(1);

/// Settings of a run of the checks on a client.
///
/// The client is started many times by a command in which `{engine}` stands for the program that it
/// shall start as its engine. That program has to call [`serve_if_asked`](crate::serve_if_asked) before
/// anything else; it gets no arguments.
///
/// ```no_run
/// use readyok_check::ClientSuite;
///
/// let report = ClientSuite::new(["my-gui", "--engine", "{engine}"], "/usr/bin/readyok").run()?;
/// assert!(report.conforms(), "{report}");
/// # Ok::<(), readyok_check::NoSubject>(())
/// ```
#[derive(Clone, Debug)]
pub struct ClientSuite {
    command: Vec<OsString>,
    partner: PathBuf,
    guard: Option<Guard>,
    settings: Settings,
    patience: Duration,
}

impl ClientSuite {
    /// All checks of a client that is started by these words. `partner` is the program that it shall
    /// start.
    pub fn new(
        command: impl IntoIterator<Item = impl Into<OsString>>,
        partner: impl Into<PathBuf>,
    ) -> Self {
        Self {
            command: command.into_iter().map(Into::into).collect(),
            partner: partner.into(),
            guard: None,
            settings: Settings::default(),
            patience: PATIENCE,
        }
    }

    /// Has no client outlive this program.
    #[must_use]
    pub fn guarded(mut self, guard: &Guard) -> Self {
        self.guard = Some(guard.clone());
        self
    }

    /// Answers this protocol only. By default the engine speaks what it is greeted in.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.settings.dialect = Some(dialect);
        self
    }

    /// How long nothing has to happen until the client is taken to wait for ever. It has to be longer
    /// than the client gives its engine; by default it is 12 s.
    #[must_use]
    pub fn timeouts(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    setters!();

    /// Runs the checks.
    ///
    /// # Errors
    /// The client cannot be started, or starts no engine.
    pub fn run(&self) -> Result<Report, NoSubject> {
        let begin = now();
        let pace = self.settings.pace();
        let command = self.words()?;
        let patience = self.patience.mul_f64(pace.scale());
        let usual = Setting {
            command: &command,
            guard: self.guard.as_ref(),
            dialect: self.settings.dialect,
            probe: None,
            seed: self.settings.seed,
            patience,
            start: patience,
            limit: LIMIT.mul_f64(pace.scale()),
        };
        let baseline = run(&usual).map_err(|error| self.unusable(&error))?;
        let Some(first) = baseline.talks.first() else { return Err(self.idle(&baseline)) };
        let dialect = first.dialect;
        let severity = |check: &Check| check.severity_in(dialect, None);
        let checks = self.settings.chosen(super::all(), severity);
        let probes: Vec<_> = checks
            .iter()
            .filter_map(|(check, severity)| match check.test {
                Test::Provoke(probe) => Some((*check, *severity, probe)),
                Test::Ask(_) | Test::Hear(_) | Test::Order(_) | Test::Form { .. } => None,
            })
            .collect();
        let user = USER.mul_f64(pace.scale().max(1.0));
        let waits = if matches!(baseline.end, End::Exited(_)) { patience } else { user };
        let done = self.settings.watcher.count(probes.len());
        let asked = in_parallel(self.settings.jobs, &probes, |(check, severity, probe)| {
            let setting = Setting {
                probe: Some(*probe),
                patience: waits.min(patience),
                limit: (baseline.took * 3 + patience * 2).min(usual.limit * 2),
                ..usual.clone()
            };
            let asked = provoke(check, *severity, *probe, &setting, &baseline);
            done.tell(&asked.0);
            asked
        });
        let (mut results, talks): (Vec<_>, Vec<_>) = asked.into_iter().unzip();
        let mut talks: Vec<Conversation> = talks.into_iter().flatten().collect();
        // What it does with an engine that obeys shows best what it does.
        talks.splice(0..0, baseline.talks.iter().cloned());
        for (check, severity) in &checks {
            if !matches!(check.test, Test::Provoke(_)) {
                results.push(listen(check, *severity, &talks, Party::Client));
            }
        }
        results.sort_by_key(|it| checks.iter().position(|(check, _)| check.id == it.check.id));
        let words: Vec<_> = self.command.iter().map(|word| word.to_string_lossy()).collect();
        Ok(Report {
            name: words.join(" "),
            side: Party::Client,
            dialect,
            profile: None,
            seed: self.settings.seed,
            pace,
            results,
            took: now().saturating_duration_since(begin),
        })
    }

    /// The command with the partner in the place of the engine.
    fn words(&self) -> Result<Vec<OsString>, NoSubject> {
        let mut found = false;
        let partner = self.partner.to_string_lossy();
        let words = self.command.iter().map(|word| match word.to_str() {
            Some(text) if text.contains(ENGINE) => {
                found = true;
                text.replace(ENGINE, &partner).into()
            }
            _ => word.clone(),
        });
        let words = words.collect();
        let missing = || NoSubject::new(message!("client.no-placeholder", placeholder = ENGINE));
        if found { Ok(words) } else { Err(missing()) }
    }

    fn unusable(&self, error: &io::Error) -> NoSubject {
        let program = self.command.first().map(|it| it.to_string_lossy()).unwrap_or_default();
        NoSubject::new(message!("client.cannot-run", program, error = error.to_string()))
    }

    fn idle(&self, outcome: &Outcome) -> NoSubject {
        let program = self.command.first().map(|it| it.to_string_lossy()).unwrap_or_default();
        let end = came_to(outcome, self.patience);
        NoSubject::new(message!("client.no-engine", program, end))
    }
}

/// Runs the client with an engine that does one thing.
fn provoke(
    check: &'static Check,
    severity: Severity,
    probe: Probe,
    setting: &Setting<'_>,
    baseline: &Outcome,
) -> (CheckResult, Vec<Conversation>) {
    let begin = now();
    let (verdict, remark, excerpt, talks) = match run(setting) {
        Err(error) => {
            let why = message!("client.cannot-start", error = error.to_string());
            (Verdict::Inconclusive(why), None, None, Vec::new())
        }
        Ok(outcome) => {
            let verdict = judge(probe, setting.patience, baseline, &outcome);
            let excerpt = match (&verdict, outcome.mark) {
                (Verdict::Fail(_), Some((talk, at))) => {
                    outcome.talks.get(talk).map(|talk| talk.around(at))
                }
                _ => None,
            };
            let remark = match (&verdict, probe.expect) {
                (Verdict::Pass, Expect::Copes) => Some(survived(&outcome, baseline, setting)),
                _ => None,
            };
            (verdict, remark, excerpt, outcome.talks)
        }
    };
    let result = CheckResult::new(check, severity, verdict, excerpt, begin);
    (CheckResult { remark, ..result }, talks)
}

/// So long a line may be on its way while another one comes.
const CROSSING: Duration = Duration::from_millis(250);

fn judge(probe: Probe, patience: Duration, baseline: &Outcome, outcome: &Outcome) -> Verdict {
    let Some((talk, at)) = outcome.mark else {
        return Verdict::Skip(message!("client.not-reached"));
    };
    if outcome.left_behind {
        return Verdict::Fail(message!("client.orphaned-engine"));
    }
    let end = || came_to(outcome, patience);
    let after = said_after(outcome, talk, at);
    match (baseline.end, outcome.end, probe.expect) {
        (_, End::Exited(status), _) if is_crash(status) => return Verdict::Fail(end()),
        (End::Exited(usual), End::Exited(status), Expect::Works) if usual != status => {
            return Verdict::Fail(message!("client.other-exit", end = end(), usual));
        }
        (End::Exited(_), End::Exited(_), Expect::Works)
            if searches(outcome) < searches(baseline).div_ceil(2) =>
        {
            return Verdict::Fail(message!(
                "client.fewer-searches",
                count = searches(outcome),
                usual = searches(baseline)
            ));
        }
        (End::Exited(_), End::Quiet | End::Cut, _)
        | (End::Quiet | End::Cut, End::Exited(_), Expect::Works) => return Verdict::Fail(end()),
        (End::Quiet | End::Cut, End::Quiet | End::Cut, _) => {
            let same = baseline.talks.get(talk).is_some_and(|usual| {
                let count = |it: &Conversation| count_said(it, 0);
                outcome.talks.get(talk).is_some_and(|it| count(usual) <= count(it))
            });
            let goes_on = same || 0 < after || baseline.talks.len() < outcome.talks.len();
            if !goes_on {
                let why = message!("client.silent");
                return Verdict::Inconclusive(why);
            }
        }
        (End::Exited(_) | End::Quiet | End::Cut, End::Exited(_), _) => (),
    }
    // What an engine does that breaks the rules excuses no client that breaks others.
    let broken = |talk: &Conversation, from: usize| {
        let entries = talk.entries.get(from..).unwrap_or_default();
        let begin = entries.first().map(|it| it.at).unwrap_or_default();
        // What was on its way cannot be taken back.
        let crossed = |it: &Entry| {
            let rule = it.violation.as_ref().map(|it| it.rule);
            rule == Some(Rule::PonderHitWithoutPonder) && it.at < begin + CROSSING
        };
        let mut rules =
            entries.iter().filter(|it| !crossed(it)).filter_map(|it| it.violation.as_ref());
        rules.find(|it| it.by == Party::Client).map(|it| it.rule)
    };
    let new = outcome.talks.get(talk).filter(|talk| !talk.fair).and_then(|it| broken(it, at));
    let new = new.filter(|rule| !baseline.talks.iter().any(|it| broken(it, 0) == Some(*rule)));
    if let Some(rule) = new {
        return Verdict::Fail(message!("client.later-violation", rule));
    }
    let unplayable = |talk: &Conversation| hear::legal_positions(talk).err().map(|(at, _)| at);
    match outcome.talks.get(talk).and_then(unplayable) {
        Some(found) if at <= found && !baseline.talks.iter().any(|it| unplayable(it).is_some()) => {
            Verdict::Fail(message!("client.later-illegal"))
        }
        _ => Verdict::Pass,
    }
}

/// What became of a client that has survived.
fn survived(outcome: &Outcome, baseline: &Outcome, setting: &Setting<'_>) -> String {
    let again = match outcome.talks.len().saturating_sub(baseline.talks.len()) {
        0 => String::new(),
        1 => ", after it had started the engine again".into(),
        count => format!(", after it had started the engine {count} times again"),
    };
    let words = last_words(outcome).map(|it| format!(": {it}")).unwrap_or_default();
    format!("{}{again}{words}", ended(outcome.end, setting.patience))
}

fn ended(end: End, patience: Duration) -> Message {
    match end {
        End::Exited(status) => message!("client.exited", status),
        End::Quiet => {
            let seconds = format!("{:.1}", patience.as_secs_f64());
            message!("client.idle", seconds)
        }
        End::Cut => message!("client.time-limit"),
    }
}

/// How it ended, and its last words.
fn came_to(outcome: &Outcome, patience: Duration) -> Message {
    let end = ended(outcome.end, patience);
    match last_words(outcome) {
        Some(words) => message!("client.last-output", end, line = words),
        None => end,
    }
}

/// At most so much of the client's last line is repeated.
const LONGEST_WORDS: usize = 160;

fn last_words(outcome: &Outcome) -> Option<String> {
    let words: String = outcome.last_words.chars().take(LONGEST_WORDS).collect();
    (!words.is_empty()).then(|| format!("`{words}`"))
}

#[cfg(unix)]
fn is_crash(status: ExitStatus) -> bool {
    std::os::unix::process::ExitStatusExt::signal(&status).is_some()
}

#[cfg(not(unix))]
fn is_crash(_: ExitStatus) -> bool {
    false
}

/// How many searches were asked for.
fn searches(outcome: &Outcome) -> usize {
    let is_go = |text: &str| text.split_ascii_whitespace().next() == Some("go");
    let entries = outcome.talks.iter().flat_map(|talk| &talk.entries);
    entries.filter(|it| it.side == Party::Client && is_go(&it.text)).count()
}

fn said_after(outcome: &Outcome, talk: usize, at: usize) -> usize {
    outcome.talks.get(talk).map_or(0, |talk| count_said(talk, at))
}

fn count_said(talk: &Conversation, from: usize) -> usize {
    let entries = talk.entries.get(from..).unwrap_or_default();
    entries.iter().filter(|it| it.side == Party::Client).count()
}
