//! Those who play: a loop around a player, and the threads of this program that run it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{error, fmt, thread};

use super::{Cpus, Match, MatchError, Summary};
use crate::export::Recorder;
use crate::pairing::{PairResult, Pairing};
use crate::queue::{
    Jobs, LocalJobs, MatchSpec, NoStart, Progress, QueueError, Report, StopToken, WorkerId, local,
};

/// Somebody who can play pairings, and keeps engines between them.
pub trait PairPlayer {
    /// Plays all games of a pairing. None if they were broken off, as the match was aborted.
    ///
    /// # Errors
    /// The pairing cannot be played by anybody. An engine that fails is no error: it loses, unless others
    /// may have a machine that it works on.
    fn play(
        &mut self,
        pairing: &Pairing,
        context: &mut PlayContext<'_>,
    ) -> Result<Option<PairResult>, PlayerError>;
}

/// What a player has to do with the world outside while it plays.
pub struct PlayContext<'a> {
    /// Says when to break off.
    pub stop: &'a StopToken,
    tell: &'a mut dyn FnMut(Progress),
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlayerError {
    /// The pairing cannot be played by anybody, since this is wrong with it.
    Pairing(String),
    /// An engine does not work on this machine, and may on others.
    NoStart(NoStart),
}

/// Why a worker takes no more jobs before the match is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkError {
    /// The queue is out of order.
    Queue(QueueError),
    /// An engine does not work on this machine. Its job was given back.
    NoStart(NoStart),
}

impl<'a> PlayContext<'a> {
    /// A context that hands on what it is told.
    pub fn new(stop: &'a StopToken, tell: &'a mut dyn FnMut(Progress)) -> Self {
        Self { stop, tell }
    }

    /// Tells how the pairing goes.
    pub fn report(&mut self, progress: Progress) {
        (self.tell)(progress);
    }
}

/// Plays what there is until there is no more.
///
/// # Errors
/// The queue is out of order, or an engine does not work here.
pub fn work(jobs: &mut dyn Jobs, player: &mut dyn PairPlayer) -> Result<(), WorkError> {
    let stop = jobs.stop_token().clone();
    while let Some(mut lease) = jobs.take()? {
        let pairing = lease.job().pairing.clone();
        let mut tell = |progress| lease.report(progress);
        match player.play(&pairing, &mut PlayContext::new(&stop, &mut tell)) {
            Ok(Some(result)) => lease.finish(result)?,
            Ok(None) => drop(lease),
            Err(PlayerError::Pairing(why)) => lease.fail(why),
            Err(PlayerError::NoStart(no_start)) => {
                lease.decline();
                return Err(WorkError::NoStart(no_start));
            }
        }
    }
    Ok(())
}

/// How often a worker of this program starts anew after it has panicked.
const RESTARTS: u32 = 16;

/// Plays a match with threads of this program.
pub(super) fn run_workers<P: PairPlayer>(
    game: Match,
    slots: usize,
    cpus: Option<&Cpus>,
    make: impl Fn(&MatchSpec) -> P + Sync,
) -> Result<Summary, MatchError> {
    let reports = game.reports();
    let (mut dispatcher, jobs) = local(reports.clone());
    let spec = game.spec().clone();
    let jobs = jobs.recorded_by(Recorder::new(&spec.plan, &game.exports));
    thread::scope(|scope| {
        for slot in 0..slots.max(1) {
            let (jobs, reports, spec, make) = (jobs.clone(), reports.clone(), &spec, &make);
            let name = format!("worker-{slot}");
            let id = WorkerId(name.clone());
            let act = move || {
                let bound = cpus.map_or(Ok(()), |cpus| cpus.bind(slot));
                let done = match bound {
                    Ok(()) => run_worker(&jobs, &id, || make(spec)),
                    Err(error) => Err(QueueError { text: error.to_string() }.into()),
                };
                if let Err(error) = done {
                    let error = match error {
                        WorkError::Queue(error) => error,
                        WorkError::NoStart(no_start) => QueueError { text: no_start.to_string() },
                    };
                    // Without a coordinator nobody wants to know.
                    let _ = reports.send(Report::QueueFailed(error));
                }
            };
            thread::Builder::new()
                .name(name)
                .spawn_scoped(scope, act)
                .map_err(MatchError::Threads)?;
        }
        drop(jobs);
        drop(reports);
        let summary = game.coordinate(&mut dispatcher);
        // Sends workers home, whatever has happened.
        drop(dispatcher);
        summary
    })
}

/// Works, and starts anew with a fresh player after a panic.
fn run_worker<P: PairPlayer>(
    jobs: &LocalJobs,
    id: &WorkerId,
    make: impl Fn() -> P,
) -> Result<(), WorkError> {
    let mut jobs = jobs.of(id.clone());
    let mut panics = 0;
    loop {
        // What a panic can leave half done is in the player, which is gone then.
        match catch_unwind(AssertUnwindSafe(|| work(&mut jobs, &mut make()))) {
            Ok(done) => return done,
            Err(_) if panics < RESTARTS => panics += 1,
            Err(panic) => {
                let text = format!("{id} has panicked {panics} times: {}", text_of(&*panic));
                return Err(QueueError { text }.into());
            }
        }
    }
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("for no reason that it told")
}

impl fmt::Debug for PlayContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlayContext").field("stop", self.stop).finish_non_exhaustive()
    }
}

impl fmt::Display for PlayerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pairing(why) => f.write_str(why),
            Self::NoStart(no_start) => no_start.fmt(f),
        }
    }
}

impl error::Error for PlayerError {}

impl fmt::Display for WorkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Queue(error) => error.fmt(f),
            Self::NoStart(no_start) => no_start.fmt(f),
        }
    }
}

impl error::Error for WorkError {}

impl From<QueueError> for WorkError {
    fn from(error: QueueError) -> Self {
        Self::Queue(error)
    }
}
