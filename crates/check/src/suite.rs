//! A run: which checks, in what order, and what they come to.
//!
//! ```text
//!  greet ──> ask (each check with engines of its own, several at once) ──> listen to all that was said
//! ```
//! A check that hangs or kills its engine costs only itself.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use readyok_protocol::{Dialect, Party};

use crate::bench::{Bench, Effort, Facts, greet};
use crate::check::{Check, Heard, Profile, Severity, Stop, Test, Verdict};
use crate::checks;
use crate::conversation::Conversation;
use crate::excerpt::{Excerpt, Input};
use crate::message::{Message, message};
use crate::pace::Pace;
use crate::settings::{Settings, setters};
use crate::subject::{Launch, Subject};
use crate::talk::{Lost, Talk};
use crate::time::now;
use crate::words;

/// At most so many lines are judged by each check that listens.
const MOST_JUDGED: usize = 200_000;

/// What is done by default.
const EFFORT: Effort = Effort { searches: 500, lines: 200, soak: None };

/// Settings of a run.
///
/// ```no_run
/// use readyok_check::{Subject, Suite};
///
/// let report = Suite::new(Subject::program("./my-engine", [""; 0])).run()?;
/// assert!(report.conforms(), "{report}");
/// # Ok::<(), readyok_check::NoSubject>(())
/// ```
#[derive(Clone, Debug)]
pub struct Suite {
    subject: Subject,
    settings: Settings,
    profile: Option<Profile>,
    effort: Effort,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// The engine, as it calls itself, or the command of the client.
    pub name: String,
    /// Who was looked at.
    pub side: Party,
    /// The protocol.
    pub dialect: Dialect,
    /// The edition that was asked for.
    pub profile: Option<Profile>,
    /// What lots were drawn with.
    pub seed: u64,
    /// The limits.
    pub pace: Pace,
    /// One for each check of the protocol that was selected, in the order of the list.
    pub results: Vec<CheckResult>,
    /// How long it took.
    pub took: Duration,
}

/// What came of a check.
#[derive(Clone, Debug)]
pub struct CheckResult {
    /// The check.
    pub check: &'static Check,
    /// How much it matters in this run.
    pub severity: Severity,
    /// What was found.
    pub verdict: Verdict,
    /// Something worth knowing: a measurement.
    pub remark: Option<String>,
    /// Of a failure, the shortest dialogue that shows it: milliseconds since the engine was started,
    /// `>` for what it was told and `<` for what it said.
    pub dialogue: Option<String>,
    /// What an engine was told in that dialogue.
    pub input: Option<Input>,
    /// How long it took.
    pub took: Duration,
}

/// The engine, or the client, cannot be looked at.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NoSubject(Message);

impl NoSubject {
    pub(crate) fn new(why: Message) -> Self {
        Self(why)
    }

    /// Why not.
    pub fn message(&self) -> &Message {
        &self.0
    }
}

/// What a conversation check leaves behind.
struct Asked {
    result: CheckResult,
    talks: Vec<Conversation>,
}

impl Suite {
    /// All checks, for an engine whose protocol is found out.
    pub fn new(subject: Subject) -> Self {
        Self { subject, settings: Settings::default(), profile: None, effort: EFFORT }
    }

    /// Speaks this protocol. By default UCI is tried before USI.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.settings.dialect = Some(dialect);
        self
    }

    /// Judges by this edition, and speaks its protocol. By default what all editions of UCI have is a
    /// must, and in USI what deployed programs speak.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self.settings.dialect = Some(profile.dialect());
        self
    }

    /// Has so many searches with random commands in them; by default 500.
    #[must_use]
    pub fn random_searches(mut self, count: usize) -> Self {
        self.effort.searches = count;
        self
    }

    /// Has so many lines of random moves searched; by default 200.
    #[must_use]
    pub fn random_lines(mut self, count: usize) -> Self {
        self.effort.lines = count;
        self
    }

    /// Runs the checks that are about long runs, too, with so many games in a row: whether memory,
    /// threads and open files stay as they are. They take minutes with an engine that is slow.
    #[must_use]
    pub fn soak(mut self, games: usize) -> Self {
        self.effort.soak = Some(games);
        self
    }

    /// Waits so long for the answer to `uci` or `usi` and to `isready`, whatever the other limits.
    #[must_use]
    pub fn start_timeout(mut self, timeout: Duration) -> Self {
        self.settings.start_timeout = Some(timeout);
        self
    }

    setters!();

    /// Runs the checks.
    ///
    /// # Errors
    /// The engine cannot be started, or answers no greeting.
    pub fn run(&self) -> Result<Report, NoSubject> {
        let begin = now();
        let pace = self.settings.pace();
        let (dialect, facts, ping) = self.meet(pace)?;
        let pace = pace.with_ping(ping);
        let severity = |check: &Check| check.severity_in(dialect, self.profile);
        let chosen = self.settings.chosen(checks::all(), severity);
        let asked = self.ask(&chosen, &facts, dialect, pace);
        let talks: Vec<Conversation> = asked.iter().flat_map(|it| it.talks.clone()).collect();
        let mut results: Vec<CheckResult> = asked.into_iter().map(|it| it.result).collect();
        for (check, severity) in &chosen {
            if !matches!(check.test, Test::Ask(_)) {
                results.push(listen(check, *severity, &talks, Party::Engine));
            }
        }
        results.retain(|it| chosen.iter().any(|(check, _)| check.id == it.check.id));
        results.sort_by_key(|it| chosen.iter().position(|(check, _)| check.id == it.check.id));
        Ok(Report {
            name: facts
                .names
                .first()
                .map_or_else(|| self.subject.name(), String::as_str)
                .to_owned(),
            side: Party::Engine,
            dialect,
            profile: self.profile,
            seed: self.settings.seed,
            pace,
            results,
            took: now().saturating_duration_since(begin),
        })
    }

    /// Finds out which protocol the engine speaks, who it is, and how fast it answers.
    fn meet(&self, pace: Pace) -> Result<(Dialect, Facts, Duration), NoSubject> {
        let dialects =
            self.settings.dialect.map_or_else(|| Dialect::ALL.to_vec(), |dialect| vec![dialect]);
        let mut why: Option<Message> = None;
        for dialect in dialects {
            let record = Rc::new(RefCell::new(Conversation::new(dialect, true)));
            let launch = Launch { check: "greeting", deaf_to_errors: false };
            let mut talk = Talk::start(&self.subject, launch, dialect, pace, record)
                .map_err(NoSubject::from)?;
            match greet(&mut talk, dialect) {
                Ok(mut facts) => {
                    // The first one may load whatever the engine needs.
                    let first = talk.ready();
                    let ping = first.and_then(|_| talk.ready()).unwrap_or_default();
                    let found = talk.search("position startpos", "go depth 1");
                    facts.ends_at_depth = matches!(found, Err(Lost::Ended(_)));
                    return Ok((dialect, facts, ping));
                }
                Err(lost) => {
                    let (name, hello) = (self.subject.name(), dialect.handshake());
                    let lost = message!("engine.no-handshake", name, command = hello, cause = lost);
                    why = Some(match why {
                        Some(first) => message!("engine.both", first, second = lost),
                        None => lost,
                    });
                }
            }
        }
        Err(NoSubject(why.unwrap_or_else(|| message!("engine.no-protocol"))))
    }

    /// Runs the checks by conversation, and a conversation to listen to if nothing else is.
    fn ask(
        &self,
        chosen: &[(&'static Check, Severity)],
        facts: &Facts,
        dialect: Dialect,
        pace: Pace,
    ) -> Vec<Asked> {
        let mut work: Vec<(&'static Check, Severity)> = chosen
            .iter()
            .filter(|(check, _)| matches!(check.test, Test::Ask(_)))
            .copied()
            .collect();
        let listens = chosen.iter().any(|(check, _)| !matches!(check.test, Test::Ask(_)));
        let sample = checks::sample();
        if listens && !work.iter().any(|(check, _)| check.id == sample.id) {
            work.push((sample, sample.severity));
        }
        let done = self.settings.watcher.count(work.len());
        let jobs = self.settings.jobs.or_else(|| self.subject.is_elsewhere().then_some(1));
        in_parallel(jobs, &work, |(check, severity)| {
            let (seed, effort) = (self.settings.seed, self.effort);
            let bench = Bench::new(&self.subject, facts, dialect, pace, seed, effort, check.id);
            let asked = ask(check, *severity, bench);
            done.tell(&asked.result);
            asked
        })
    }
}

/// Does all the work, several pieces at once, by default one for each processor. What comes of it is in
/// no order.
pub(crate) fn in_parallel<W: Sync, R: Send>(
    jobs: Option<usize>,
    work: &[W],
    run: impl Fn(&W) -> R + Sync,
) -> Vec<R> {
    let processors = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let jobs = jobs.unwrap_or(processors).min(work.len());
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(piece) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = run(piece);
                    done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(result);
                }
            });
        }
    });
    done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Whether a check is about the limits of a `go`, and not about something else that is looked at by a search.
fn is_about(check: &Check, go: &str) -> bool {
    let limits = ["depth", "nodes", "movetime", "searchmoves", "ponder", "mate"];
    let plain = !go.split_ascii_whitespace().any(|word| limits.contains(&word));
    let areas = [
        "limits.",
        "search.depth",
        "search.nodes",
        "search.movetime",
        "search.any-order",
        "search.searchmoves",
        "search.mate",
        "search.ponder",
        "usi.ponder",
        "usi.game-over",
    ];
    plain || areas.iter().any(|area| check.id.starts_with(area))
}

fn ask(check: &'static Check, severity: Severity, bench: Bench<'_>) -> Asked {
    let begin = now();
    let missing = check.needs.iter().find(|need| !bench.has(**need));
    let ends_at_depth = bench.facts.ends_at_depth;
    let mut verdict = match (missing, check.test) {
        (Some(need), _) => Verdict::Skip(message!("check.requires", need = Message::from(*need))),
        (None, Test::Ask(run)) => run(&bench).map_or_else(Verdict::from, |()| Verdict::Pass),
        (None, Test::Hear(_) | Test::Order(_) | Test::Form { .. } | Test::Provoke(_)) => {
            Verdict::Pass
        }
    };
    let (talks, remark) = bench.finish();
    if ends_at_depth
        && matches!(verdict, Verdict::Fail(_))
        && let Some(go) = talks.last().and_then(Conversation::last_go)
        && !is_about(check, &go)
    {
        verdict = Verdict::Inconclusive(message!("engine.exits-at-go", go));
    }
    let excerpt = match &verdict {
        Verdict::Fail(_) => talks.last().map(|talk| talk.excerpt(None)),
        Verdict::Pass | Verdict::Skip(_) | Verdict::Inconclusive(_) => None,
    };
    let result = CheckResult::new(check, severity, verdict, excerpt, begin);
    Asked { result: CheckResult { remark, ..result }, talks }
}

/// Judges one side in all conversations in which the other kept to the rules.
pub(crate) fn listen(
    check: &'static Check,
    severity: Severity,
    talks: &[Conversation],
    side: Party,
) -> CheckResult {
    let begin = now();
    let mut seen = 0;
    let mut breach = None;
    for talk in talks.iter().filter(|talk| talk.fair) {
        match hear(check.test, talk, side) {
            Ok(count) => seen += count,
            Err((at, finding)) => {
                // What a client does has its reason in what stands before it.
                let excerpt = match side {
                    Party::Engine => talk.excerpt(Some(at)),
                    Party::Client => talk.around(at),
                };
                breach = Some((finding, excerpt));
                break;
            }
        }
        if MOST_JUDGED < seen {
            break;
        }
    }
    let (verdict, excerpt) = match breach {
        Some((finding, excerpt)) => (Verdict::Fail(finding), Some(excerpt)),
        None if seen == 0 => (Verdict::Skip(unsaid(side)), None),
        None => (Verdict::Pass, None),
    };
    CheckResult::new(check, severity, verdict, excerpt, begin)
}

/// There was nothing to judge.
fn unsaid(side: Party) -> Message {
    match side {
        Party::Engine => message!("engine.no-such-line"),
        Party::Client => message!("client.no-such-line"),
    }
}

fn hear(test: Test, talk: &Conversation, side: Party) -> Heard {
    match test {
        Test::Ask(_) | Test::Provoke(_) => Ok(0),
        Test::Hear(judge) => judge(talk),
        Test::Order(rule) => {
            let broken = |violation: &readyok_protocol::Violation| violation.rule == rule;
            match talk.entries.iter().position(|it| it.violation.as_ref().is_some_and(broken)) {
                Some(at) => {
                    let said = talk.entries.get(at).map_or("", |it| &it.text);
                    let said = words::start(said);
                    Err((at, message!("line.violation", line = said, rule)))
                }
                None => Ok(talk.entries.iter().filter(|it| it.side == side).count()),
            }
        }
        Test::Form { word, notes } => {
            let mut seen = 0;
            for (at, entry) in talk.entries.iter().enumerate() {
                let is_one =
                    entry.side == side && entry.text.split_ascii_whitespace().next() == Some(word);
                if !is_one {
                    continue;
                }
                seen += 1;
                if let Some(note) = entry.notes.iter().find(|note| notes.contains(note)) {
                    return Err((
                        at,
                        message!("line.diagnostic", note, clause = Message::clause(*note)),
                    ));
                }
            }
            Ok(seen)
        }
    }
}

impl CheckResult {
    /// What came of a check that was begun then.
    pub(crate) fn new(
        check: &'static Check,
        severity: Severity,
        verdict: Verdict,
        excerpt: Option<Excerpt>,
        begin: Instant,
    ) -> Self {
        let (dialogue, input) = excerpt.map(|it| (it.dialogue, it.input)).unzip();
        let took = now().saturating_duration_since(begin);
        Self { check, severity, verdict, remark: None, dialogue, input: input.flatten(), took }
    }
}

impl Report {
    /// Whether no must is broken and each could be judged.
    pub fn conforms(&self) -> bool {
        self.exit_status() == 0
    }

    /// 0 if the engine conforms, 1 if it breaks a must, 2 if a must could not be judged.
    pub fn exit_status(&self) -> u8 {
        let musts = || self.results.iter().filter(|it| it.severity == Severity::Must);
        if musts().any(|it| matches!(it.verdict, Verdict::Fail(_))) {
            1
        } else {
            u8::from(musts().any(|it| matches!(it.verdict, Verdict::Inconclusive(_)))) * 2
        }
    }

    /// The checks that failed.
    pub fn failures(&self) -> impl Iterator<Item = &CheckResult> {
        self.results.iter().filter(|it| matches!(it.verdict, Verdict::Fail(_)))
    }
}

impl fmt::Display for NoSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for NoSubject {}

impl From<Stop> for NoSubject {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Fail(why) | Stop::Skip(why) | Stop::Inconclusive(why) => Self(why),
        }
    }
}
