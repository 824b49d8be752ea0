//! Runs of the conformance checker.

use std::sync::Arc;
use std::thread;

use readyok_check::{CheckResult as Found, Suite, Target};
use readyok_protocol::Language;

use super::Engines;
use crate::app::context::Context;
use crate::engine::printable;
use crate::time::{date, now};
use crate::wire::{
    Answer, ApiError, CheckResult, CheckRun, CheckText, EngineId, EngineSource, ErrorCode,
    LocalizedText,
};

/// Number of engine processes that a run uses concurrently: others need the machine too.
const JOBS: usize = 1;

/// Receives the result of a run.
pub(crate) type CheckReporter = Arc<dyn Fn(EngineId, CheckRun) + Send + Sync>;

impl Engines {
    /// Starts a run. Its result is published with the engine.
    pub(in crate::app) fn check(
        &mut self,
        cx: &mut Context<'_>,
        id: EngineId,
    ) -> Result<Answer, ApiError> {
        let engine = self.registry.get(id)?;
        if matches!(engine.check, Some(CheckRun::Running { .. })) {
            return Err(ApiError::conflict(ErrorCode::CheckRunning));
        }
        let subject = match &engine.entry.source {
            EngineSource::Tcp { address } => Target::tcp(address),
            EngineSource::Program { path, args, dir, env } => {
                let subject = Target::program(path, args).with_environment(env);
                match dir {
                    Some(dir) => subject.in_directory(dir),
                    None => subject,
                }
            }
            EngineSource::BuiltIn => {
                let (path, args) = &self.setup.built_in;
                Target::program(path, args).in_directory(&self.setup.data)
            }
        };
        let subject = match &self.setup.guard {
            Some(guard) => subject.guarded(guard),
            None => subject,
        };
        let mut suite = Suite::new(subject).jobs(JOBS).only(&self.setup.checks);
        if let Some(dialect) = engine.dialect(None) {
            suite = suite.dialect(dialect);
        }
        let report = Arc::clone(&self.check_reporter);
        thread::Builder::new()
            .name("check".to_owned())
            .spawn(move || report(id, run(&suite)))
            .map_err(|error| ApiError::limit(ErrorCode::system(&error)))?;
        self.set_check(cx, id, CheckRun::Running { since: cx.now });
        Ok(Answer::Done)
    }

    pub(in crate::app) fn set_check(&mut self, cx: &mut Context<'_>, id: EngineId, run: CheckRun) {
        if let Ok(engine) = self.registry.get_mut(id) {
            engine.check = Some(run);
            self.changed(cx, id);
        }
    }
}

fn run(suite: &Suite) -> CheckRun {
    match suite.run() {
        Ok(report) => CheckRun::Done {
            at: date(now()),
            conforms: report.conforms(),
            checks: report.results.iter().map(result).collect(),
        },
        Err(error) => {
            let [english, japanese] = [Language::English, Language::Japanese]
                .map(|language| printable(&error.message().in_language(language)));
            let text = LocalizedText { english, japanese };
            CheckRun::Failed { error: ErrorCode::CheckFailed { text }.into() }
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
        clauses: found.check.clauses.iter().map(|it| it.source_in(language).into_owned()).collect(),
    }
}
