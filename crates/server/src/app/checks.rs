//! Runs of the conformance checker.

use std::collections::BTreeMap;
use std::sync::Weak;
use std::thread;

use readyok_check::{Cancellation, CheckResult as Found, Progress, Suite, Target, Verdict};
use readyok_protocol::Language;

use super::{App, AppState};
use crate::engine::printable;
use crate::time::{Moment, date, now};
use crate::wire::{
    Answer, ApiError, CheckResult, CheckRun, CheckText, EngineId, EngineSource, ErrorCode,
    LocalizedText,
};

/// Number of concurrent engine processes of a run, which leaves resources to other work.
const JOBS: usize = 1;

/// Minimum time between two messages about the progress of a run, in milliseconds.
const PROGRESS_INTERVAL: u64 = 250;

/// An event of a run.
#[derive(Debug)]
enum CheckEvent {
    /// The engine has completed its handshake.
    Started { total: usize },
    /// A check has ended.
    Checked { failed: Option<CheckResult> },
    /// The run has ended.
    Ended(Result<CheckRun, ErrorCode>),
}

/// The runs in progress.
#[derive(Default)]
pub(super) struct Checks {
    runs: BTreeMap<EngineId, Run>,
}

#[derive(Default)]
struct Run {
    cancellation: Cancellation,
    /// Its progress was not published yet.
    has_progressed: bool,
    published: Moment,
}

impl Checks {
    pub(super) fn cancel(&self, id: EngineId) {
        if let Some(run) = self.runs.get(&id) {
            run.cancellation.cancel();
        }
    }

    pub(super) fn cancel_all(&self) {
        self.runs.values().for_each(|run| run.cancellation.cancel());
    }
}

/// Reports an event of a run to the app, from the thread of the run.
fn report(app: &Weak<App>, engine: EngineId, event: CheckEvent) {
    if let Some(app) = app.upgrade() {
        app.update(|state| state.on_check_event(engine, event));
    }
}

impl AppState {
    /// Starts a run. Its progress and its result are published with the engine.
    pub(super) fn check_engine(&mut self, id: EngineId) -> Result<Answer, ApiError> {
        let engine = self.registry.get(id)?;
        if self.checks.runs.contains_key(&id) {
            return Err(ApiError::conflict(ErrorCode::CheckRunning));
        }
        let subject = match &engine.config.entry.source {
            EngineSource::Tcp { address } => Target::tcp(address),
            EngineSource::Program(program) => program.clone().into(),
            EngineSource::BuiltIn => self.program.built_in.clone().into(),
        };
        let subject = match &self.program.guard {
            Some(guard) => subject.guarded(guard),
            None => subject,
        };
        let mut suite = Suite::new(subject).jobs(JOBS).only(&self.program.checks);
        if let Some(dialect) = engine.dialect(None) {
            suite = suite.dialect(dialect);
        }
        let run = Run::default();
        let app = self.app.clone();
        let suite = suite.canceled_by(&run.cancellation).on_progress(move |progress| {
            let event = match progress {
                Progress::Started { total, .. } => CheckEvent::Started { total },
                Progress::Checked { last, .. } => {
                    let is_failure = matches!(last.verdict, Verdict::Fail(_));
                    CheckEvent::Checked { failed: is_failure.then(|| result(last)) }
                }
            };
            report(&app, id, event);
        });
        let app = self.app.clone();
        thread::Builder::new()
            .name("check".to_owned())
            .spawn(move || report(&app, id, CheckEvent::Ended(run_suite(&suite))))
            .map_err(|error| ApiError::limit(ErrorCode::system(&error)))?;
        self.checks.runs.insert(id, run);
        let run = CheckRun::Running { since: now(), done: 0, total: 0, failed: Vec::new() };
        self.set_check(id, run);
        Ok(Answer::Done)
    }

    /// Ends a run and its processes. The end is published when its thread has ended.
    pub(super) fn cancel_check(&self, id: EngineId) -> Result<(), ApiError> {
        self.registry.get(id)?;
        self.checks.cancel(id);
        Ok(())
    }

    fn on_check_event(&mut self, id: EngineId, event: CheckEvent) {
        if let CheckEvent::Ended(result) = event {
            let run = self.checks.runs.remove(&id);
            let is_canceled = run.is_some_and(|run| run.cancellation.is_canceled());
            let ended = match (result, self.running_check(id)) {
                // A canceled run has no result.
                (Err(_), Some((done, total, failed))) if is_canceled => {
                    let (done, total, failed) = (*done, *total, std::mem::take(failed));
                    CheckRun::Canceled { at: date(now()), done, total, failed }
                }
                (Err(error), _) => CheckRun::Failed { error: error.into() },
                (Ok(done), _) => done,
            };
            self.set_check(id, ended);
            return;
        }
        let Some(run) = self.checks.runs.get_mut(&id) else { return };
        // Checks that a cancellation ends have no verdict.
        if run.cancellation.is_canceled() {
            return;
        }
        run.has_progressed = true;
        let Some((done, total, failures)) = self.running_check(id) else { return };
        match event {
            CheckEvent::Started { total: count } => *total = count,
            CheckEvent::Checked { failed } => {
                *done += 1;
                failures.extend(failed);
            }
            CheckEvent::Ended(_) => (),
        }
    }

    /// Publishes the progress of all runs since the last call: many checks end within milliseconds.
    pub(super) fn publish_checks(&mut self) {
        let now = now();
        let is_due = |run: &Run| {
            run.has_progressed && PROGRESS_INTERVAL <= now.saturating_sub(run.published)
        };
        let progressed =
            self.checks.runs.iter_mut().filter(|(_, run)| is_due(run)).map(|(id, run)| {
                (run.has_progressed, run.published) = (false, now);
                *id
            });
        for id in progressed.collect::<Vec<_>>() {
            self.publish_engine(id);
        }
    }

    /// The completed checks, their number, and the failed ones, while a check runs.
    fn running_check(
        &mut self,
        id: EngineId,
    ) -> Option<(&mut usize, &mut usize, &mut Vec<CheckResult>)> {
        match self.registry.get_mut(id).ok()?.check.as_mut()? {
            CheckRun::Running { done, total, failed, .. } => Some((done, total, failed)),
            CheckRun::Canceled { .. } | CheckRun::Done { .. } | CheckRun::Failed { .. } => None,
        }
    }

    fn set_check(&mut self, id: EngineId, run: CheckRun) {
        if let Ok(engine) = self.registry.get_mut(id) {
            engine.check = Some(run);
            self.publish_engine(id);
        }
    }
}

fn run_suite(suite: &Suite) -> Result<CheckRun, ErrorCode> {
    match suite.run() {
        Ok(report) => Ok(CheckRun::Done {
            at: date(now()),
            conforms: report.conforms(),
            checks: report.results.iter().map(result).collect(),
        }),
        Err(error) => {
            let [english, japanese] =
                [Language::English, Language::Japanese].map(|language| {
                    match (error.message().in_language(language), error.error_output()) {
                        (text, [.., last]) => printable(&format!("{text} (`{last}`)")),
                        (text, []) => printable(&text),
                    }
                });
            Err(ErrorCode::CheckFailed { text: LocalizedText { english, japanese } })
        }
    }
}

fn result(found: &Found) -> CheckResult {
    CheckResult {
        id: found.check.id.to_owned(),
        severity: found.severity.name().to_owned(),
        verdict: found.verdict.name().to_owned(),
        english: text_of(found, Language::English),
        japanese: text_of(found, Language::Japanese),
    }
}

fn text_of(found: &Found, language: Language) -> CheckText {
    let why = found.verdict.message().map(|message| message.in_language(language));
    CheckText {
        rule: found.check.rule_in(language).to_owned(),
        detail: printable(&why.unwrap_or_default()),
        clauses: found
            .check
            .clauses
            .iter()
            .map(|clause| clause.source_in(language).into_owned())
            .collect(),
    }
}
