//! Engines and per-engine values of the command line.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::str::FromStr;
use std::{env, fmt, io};

use readyok_arena::build::{BuildFailure, find_commit};
use readyok_arena::plan::source::{default_build, default_program};
use readyok_arena::plan::{EnginePlan, EngineTimeouts, GitSource};
use readyok_client::{EngineProgram, EngineSource};

use crate::address::{Address, AddressError};
use crate::dirs::Env;

/// An engine argument that cannot be resolved.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The engine was not found.
    #[error(transparent)]
    Address(AddressError),
    /// The path of this executable, which contains Narikin, is unknown.
    #[error("the path of the Narikin executable is unknown: {0}")]
    OwnPath(#[source] io::Error),
    /// A Git repository is named without a branch, a tag or a commit.
    #[error("`{0}` names no branch, tag or commit: expected git:REPOSITORY@REVISION")]
    NoRevision(String),
    /// A commit cannot be read.
    #[error(transparent)]
    Commit(BuildFailure),
    /// A path is not UTF-8, so a plan cannot contain it.
    #[error("`{0}` is not UTF-8")]
    Path(String),
}

/// Resolves an engine argument by [`Address::find`], with the settings of the user's engine list.
///
/// # Errors
/// The engine is not found, or its path is not UTF-8.
pub fn engine_plan(text: &str, env: Env<'_>) -> Result<EnginePlan, EngineError> {
    let address = Address::find(text, env).map_err(EngineError::Address)?;
    let protocol = address.dialect;
    let options: BTreeMap<String, String> = address.options.into_iter().collect();
    let timeout = address.timeout.map(|timeout| timeout.duration().as_millis());
    let timeout = timeout.and_then(|ms| NonZeroU64::new(u64::try_from(ms).ok()?));
    let timeouts = EngineTimeouts { handshake_ms: timeout, ready_ms: timeout };
    let registration = address.registration.map(|registration| registration.register());
    let default = EnginePlan::default();
    let plan = EnginePlan { protocol, options, registration, timeouts, ..default };
    let program = match address.source {
        // Narikin runs in its own process, like every other engine.
        EngineSource::BuiltIn => {
            EngineProgram::new(env::current_exe().map_err(EngineError::OwnPath)?, ["engine"])
        }
        EngineSource::Program(program) => program,
        EngineSource::Tcp { address } => return Ok(plan.with_address(&address)),
    };
    plan.with_program(program).map_err(|path| EngineError::Path(path.display().to_string()))
}

/// Resolves the command of an engine of a plan by [`engine_plan`]. Settings of the plan take
/// precedence over the user's engine list.
///
/// # Errors
/// The engine is not found, or its path is not UTF-8.
pub fn find_engine(engine: &mut EnginePlan, env: Env<'_>) -> Result<(), EngineError> {
    if let Some(source) = &mut engine.source {
        find_commit(source).map_err(EngineError::Commit)?;
        engine.command = source.to_string();
        return Ok(());
    }
    let found = engine_plan(&engine.command, env)?;
    engine.command = found.command;
    engine.args.splice(0..0, found.args);
    engine.dir = engine.dir.take().or(found.dir);
    engine.protocol = engine.protocol.or(found.protocol);
    engine.timeouts.handshake_ms = engine.timeouts.handshake_ms.or(found.timeouts.handshake_ms);
    engine.timeouts.ready_ms = engine.timeouts.ready_ms.or(found.timeouts.ready_ms);
    engine.registration = engine.registration.take().or(found.registration);
    for (name, value) in found.env {
        engine.env.entry(name).or_insert(value);
    }
    for (name, value) in found.options {
        engine.options.entry(name).or_insert(value);
    }
    Ok(())
}

/// The start of an engine argument that is a commit of a Git repository: `git:REPOSITORY@REVISION`.
const GIT: &str = "git:";

/// The source of an engine argument `git:REPOSITORY@REVISION`; `None` if it is another one. The commit is not known yet.
pub fn git_source(text: &str) -> Option<Result<GitSource, EngineError>> {
    let (repository, revision) = match text.strip_prefix(GIT)?.rsplit_once('@') {
        Some((repository, revision)) if !revision.is_empty() => (repository, revision),
        _ => return Some(Err(EngineError::NoRevision(text.to_owned()))),
    };
    Some(Ok(GitSource {
        repository: repository.to_owned(),
        revision: revision.to_owned(),
        build: default_build(),
        program: default_program(),
        ..GitSource::default()
    }))
}

/// A value for all engines of a match or for one of them: `10+0.1`, `2=10+0.1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerEngine<T> {
    /// The number of the engine, from 1; none for all engines.
    pub engine: Option<usize>,
    /// The value.
    pub value: T,
}

/// An invalid [`PerEngine`] value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlagError {
    /// The value is invalid.
    #[error("{0}")]
    Value(String),
    /// There is no engine with this number.
    #[error("no engine {number}: the match has {engines} engines")]
    NoEngine {
        /// The number.
        number: usize,
        /// The number of engines of the match.
        engines: usize,
    },
}

impl<T: FromStr<Err: fmt::Display>> FromStr for PerEngine<T> {
    type Err = FlagError;

    fn from_str(text: &str) -> Result<Self, FlagError> {
        let numbered = text
            .split_once('=')
            .and_then(|(number, value)| number.parse().ok().map(|number: usize| (number, value)));
        let (engine, value) = match numbered {
            Some((number, value)) => (Some(number), value),
            None => (None, text),
        };
        let value = value.parse().map_err(|error: T::Err| FlagError::Value(error.to_string()))?;
        Ok(Self { engine, value })
    }
}

impl<T> PerEngine<T> {
    /// Applies values in order; values for all engines precede those for one.
    ///
    /// # Errors
    /// A value has the number of an engine that does not exist.
    pub fn apply<E>(
        values: &[Self],
        engines: &mut [E],
        mut set: impl FnMut(&mut E, &T),
    ) -> Result<(), FlagError> {
        let count = engines.len();
        for each in values.iter().filter(|each| each.engine.is_none()) {
            for engine in engines.iter_mut() {
                set(engine, &each.value);
            }
        }
        for each in values {
            let Some(number) = each.engine else { continue };
            let engine = number.checked_sub(1).and_then(|index| engines.get_mut(index));
            set(engine.ok_or(FlagError::NoEngine { number, engines: count })?, &each.value);
        }
        Ok(())
    }
}
