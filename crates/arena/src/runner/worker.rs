//! The worker loop, and worker threads of this process.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{error, fmt, thread};

use super::{Cpus, Match, MatchError, Summary};
use crate::export::Recorder;
use crate::pairing::{PairResult, Pairing};
use crate::queue::{
    Jobs, LocalJobs, MatchSpec, NoStart, Progress, QueueError, Report, StopToken, WorkerId, local,
};

/// A player of pairings.
pub trait PairPlayer {
    /// Plays all games of a pairing; `None` if the match was aborted.
    ///
    /// # Errors
    /// The pairing cannot be played, or an engine does not start on this host but may start on others. Other failures of
    /// engines are no errors: the engine loses the game.
    fn play(
        &mut self,
        pairing: &Pairing,
        context: &mut PlayContext<'_>,
    ) -> Result<Option<PairResult>, PlayerError>;
}

/// Stop token and progress callback of a player.
pub struct PlayContext<'a> {
    /// The stop state of the match.
    pub stop: &'a StopToken,
    on_progress: &'a mut dyn FnMut(Progress),
}

/// The reason of a missing result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlayerError {
    /// The pairing cannot be played on any host, for this reason.
    Pairing(String),
    /// An engine does not work on this host, but may work on others.
    NoStart(NoStart),
}

/// The reason why a worker leaves before the end of the match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkError {
    /// The queue has failed.
    Queue(QueueError),
    /// An engine does not work on this host. Its job was given back.
    NoStart(NoStart),
}

impl<'a> PlayContext<'a> {
    /// Combines a stop token and a callback.
    pub fn new(stop: &'a StopToken, on_progress: &'a mut dyn FnMut(Progress)) -> Self {
        Self { stop, on_progress }
    }

    /// Reports progress.
    pub fn report(&mut self, progress: Progress) {
        (self.on_progress)(progress);
    }
}

/// Plays jobs until the end of the match.
///
/// # Errors
/// The queue has failed, or an engine does not work on this host.
pub fn work(jobs: &mut dyn Jobs, player: &mut dyn PairPlayer) -> Result<(), WorkError> {
    let stop = jobs.stop_token().clone();
    while let Some(mut lease) = jobs.take()? {
        let pairing = lease.job().pairing.clone();
        let mut on_progress = |progress| lease.report(progress);
        match player.play(&pairing, &mut PlayContext::new(&stop, &mut on_progress)) {
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

/// Maximum number of restarts of a worker after panics.
const MAX_RESTARTS: u32 = 16;

/// Plays a match with threads of this process.
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
                    // Fails without a coordinator, which then needs no report.
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
        // Ends the workers.
        drop(dispatcher);
        summary
    })
}

/// Runs a worker, and restarts it with a new player after a panic.
fn run_worker<P: PairPlayer>(
    jobs: &LocalJobs,
    id: &WorkerId,
    make: impl Fn() -> P,
) -> Result<(), WorkError> {
    let mut jobs = jobs.of(id.clone());
    let mut panics = 0;
    loop {
        // A panic can leave only the player in an inconsistent state, and the player is dropped.
        match catch_unwind(AssertUnwindSafe(|| work(&mut jobs, &mut make()))) {
            Ok(done) => return done,
            Err(_) if panics < MAX_RESTARTS => panics += 1,
            Err(panic) => {
                let text = format!("{id} has panicked {panics} times: {}", text_of(&*panic));
                return Err(QueueError { text }.into());
            }
        }
    }
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
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
