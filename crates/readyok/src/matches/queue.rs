//! Matches over several machines.

use std::path::PathBuf;
use std::time::Duration;

use readyok_arena::plan::Plan;
use readyok_arena::queue::nats::{
    Access, Connection, LEASE, Matches, NatsDispatcher, Permissions, Served, measure_speed,
    scale_times,
};
use readyok_arena::queue::{MatchSpec, QueueError, Rejection, WorkerId};
use readyok_arena::runner::{CpuError, Cpus, Match, Summary, WorkError, threads_of, work};
use readyok_arena::store::{ContentHash, IndexSet};
use readyok_client::{Guard, Timeouts};

use super::run::{Coordinate, Failed, about, player, setting};
use super::slots::{Slots, processors};

/// The server that a match is played over.
#[derive(Clone, Debug)]
pub struct Queue {
    /// How to get in.
    pub access: Access,
    /// Times are made as long on each worker as they are worth here.
    pub calibrate: bool,
}

impl Coordinate for Queue {
    fn reach(&self) -> Result<(), Failed> {
        Connection::open(&self.access)?;
        Ok(())
    }

    fn coordinate(&self, game: Match, stored: Option<&IndexSet>) -> Result<Summary, Failed> {
        let connection = Connection::open(&self.access)?;
        let speed = self.calibrate.then(measure_speed);
        let spec = MatchSpec { speed, ..game.spec().clone() }.with_contents()?;
        let mut dispatcher =
            NatsDispatcher::open(&connection, spec, stored, LEASE, game.reports())?;
        let summary = game.coordinate(&mut dispatcher)?;
        // Everything is in the store of the match.
        dispatcher.clear()?;
        Ok(summary)
    }
}

/// A worker: plays for whatever match a server has.
#[derive(Debug)]
pub struct Worker {
    /// How to get in.
    pub access: Access,
    /// What it may run.
    pub permissions: Permissions,
    /// Programs of this machine that it may run, each with its arguments.
    pub engines: Vec<(PathBuf, Vec<String>)>,
    /// Where programs that are delivered are put.
    pub cache: PathBuf,
    /// How many pairings it plays at once; 0 is as many as the processors carry.
    pub slots: usize,
    /// Whether engines are bound to processors: to these, or to all that this program may use. Of
    /// slots there are then no more than processors for them.
    pub pin: Option<Vec<usize>>,
    /// What it is called: different for each worker of a server.
    pub name: String,
    /// It goes home when there was no match for so long. None stays.
    pub idle: Option<Duration>,
    /// What looks after its engines.
    pub guard: Guard,
}

/// Why a worker has left a match before its end.
enum Left {
    Queue(QueueError),
    Rejected(Rejection),
}

impl Left {
    /// What has become of the threads that played.
    fn of(ends: Vec<Result<(), Self>>) -> Result<(), Self> {
        let mut done = Ok(());
        for end in ends {
            match end {
                Ok(()) => {}
                // It tells more than what is wrong with the queue.
                Err(Self::Rejected(why)) => return Err(Self::Rejected(why)),
                Err(Self::Queue(error)) => done = Err(Self::Queue(error)),
            }
        }
        done
    }
}

impl From<WorkError> for Left {
    fn from(error: WorkError) -> Self {
        match error {
            WorkError::Queue(error) => Self::Queue(error),
            WorkError::NoStart(no_start) => Self::Rejected(no_start.into()),
        }
    }
}

/// How long a question for matches goes on at a time.
const ASK: Duration = Duration::from_secs(30);

impl Worker {
    /// Works until there is nothing more to do. `say` is told what it does.
    ///
    /// # Errors
    /// The server is gone for good, or a program of this machine cannot be read.
    pub fn work(mut self, mut say: impl FnMut(&str)) -> Result<(), Failed> {
        for (path, args) in &self.engines {
            let content: ContentHash =
                self.permissions.allow_file(path, args).map_err(|error| about(path, &error))?;
            say(&format!("may run {} ({content})", path.display()));
        }
        let connection = Connection::open(&self.access)?;
        let mut matches = Matches::new(&connection, WorkerId(self.name.clone()));
        let here = measure_speed();
        let mut idle = Duration::ZERO;
        loop {
            let patience = self.idle.map_or(ASK, |most| most.saturating_sub(idle).min(ASK));
            let refused = |why: &str| say(&format!("refused: {why}"));
            let served = matches.next(&self.permissions, &self.cache, patience, refused)?;
            let Some(served) = served else {
                idle += patience;
                if self.idle.is_some_and(|most| most <= idle) {
                    return Ok(());
                }
                continue;
            };
            idle = Duration::ZERO;
            let spec = scale_times(served.spec().clone(), here);
            say(&format!("plays match {}", spec.plan_hash));
            match self.serve(&served, &spec, &mut say) {
                Ok(()) => say("the match is over"),
                Err(Left::Queue(error)) => say(&error.to_string()),
                Err(Left::Rejected(why)) => {
                    say(&format!("refused: match {}: {why}", spec.plan_hash));
                    matches.reject(served, why);
                }
            }
        }
    }

    /// Plays for a match until it is over.
    fn serve(
        &self,
        served: &Served,
        spec: &MatchSpec,
        say: &mut impl FnMut(&str),
    ) -> Result<(), Left> {
        let lacking = |why: String| Left::Rejected(Rejection::MissingResource { why });
        let (slots, cpus) = self.share(&spec.plan).map_err(|error| lacking(error.to_string()))?;
        if self.slots != 0 && slots.count < self.slots {
            let (count, each) = (slots.count, slots.each);
            say(&format!("{count} at once, as each has {each} processors of its own"));
        }
        if let Some(complaint) = slots.complaint() {
            say(&complaint);
        }
        let setting = setting(&spec.plan)
            .map_err(|error| lacking(format!("the tablebases cannot be opened: {error}")))?;
        let player = || {
            let player = player(spec, &setting, Timeouts::default(), &self.guard);
            let player = player.with_texts(served.texts().cloned());
            player.as_remote_worker(WorkerId(self.name.clone()))
        };
        let probing = served.probing();
        player().probe_engines().map_err(|no_start| Left::Rejected(no_start.into()))?;
        drop(probing);
        let done = std::thread::scope(|scope| {
            let slots = (0..slots.count).map(|slot| {
                let (player, cpus) = (&player, &cpus);
                let worker = WorkerId(format!("{}-{slot}", self.name));
                scope.spawn(move || {
                    let bound = cpus.as_ref().map_or(Ok(()), |cpus| cpus.bind(slot));
                    bound.map_err(|error| lacking(error.to_string()))?;
                    let mut jobs = served.jobs(worker).map_err(Left::Queue)?;
                    work(&mut jobs, &mut player()).map_err(Left::from)
                })
            });
            let slots: Vec<_> = slots.collect();
            // All are waited for: a scope passes on the panic of one that is not.
            let ends: Vec<_> = slots.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
            // Its job was given back.
            let panicked = || Left::Queue(QueueError { text: "a player has panicked".to_owned() });
            ends.into_iter().map(|end| end.unwrap_or_else(|_| Err(panicked()))).collect::<Vec<_>>()
        });
        Left::of(done)
    }

    /// The slots for a plan, and their processors if they have some of their own.
    fn share(&self, plan: &Plan) -> Result<(Slots, Option<Cpus>), CpuError> {
        let each = threads_of(plan);
        let Some(list) = &self.pin else {
            return Ok((Slots::new(self.slots, each, processors()), None));
        };
        let list = Some(list.as_slice()).filter(|list| !list.is_empty());
        let slots = Slots::new(self.slots, each, Cpus::count(list)?).within();
        Ok((slots, Some(Cpus::share(slots.count, slots.each, list)?)))
    }
}
