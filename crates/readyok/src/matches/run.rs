//! Plays a match as it was asked for, with everything around it: the store, records, a report, a
//! queue, and Ctrl-C.

use std::error::Error;
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use readyok_arena::event::{JsonLines, Listener};
use readyok_arena::export::{Export, Form};
use readyok_arena::game::{GameSettings, LineObserver, StderrObserver, Syzygy, Tablebases};
use readyok_arena::plan::Plan;
use readyok_arena::queue::MatchSpec;
use readyok_arena::report::Report;
use readyok_arena::runner::{Cpus, EnginePlayer, Match, Settings, StopHandle, Summary, threads_of};
use readyok_arena::schedule::Schedule;
use readyok_arena::store::{IndexSet, Reader};
use readyok_client::{Guard, Timeouts};
use readyok_rules::Game;

use super::events::complaining;
use super::results::Results;
use super::slots::{Slots, processors};
use crate::exit::stop_match;

/// How a match is run.
#[derive(Debug)]
pub struct Run<Q> {
    /// Where results are kept.
    pub results: Results,
    /// How the coordinator acts.
    pub settings: Settings,
    /// How many pairings are played at once; 0 is as many as the processors carry.
    pub slots: usize,
    /// Whether engines are bound to processors: to these, or to all that this program may use.
    pub pin: Option<Vec<usize>>,
    /// Records.
    pub exports: Vec<Export>,
    /// Where events go as lines of JSON.
    pub events: Option<PathBuf>,
    /// Where the report goes at the end.
    pub report: Option<PathBuf>,
    /// Over which server the match is played, instead of by this program alone.
    pub queue: Option<Q>,
    /// What looks after its engines.
    pub guard: Guard,
    /// How engines are waited for and listened to.
    pub manner: Manner,
}

/// A match that begins, or goes on.
#[derive(Clone, Copy, Debug)]
pub struct Begun<'a> {
    /// What is played.
    pub plan: &'a Plan,
    /// How many pairings it has.
    pub pairings: u64,
    /// Ends it.
    pub stop: &'a StopHandle,
    /// Where its results are kept.
    pub results: &'a Path,
}

/// Has a match played by others.
pub trait Coordinate {
    /// Looks whether others can be reached at all, before there is a file of any result.
    ///
    /// # Errors
    /// They cannot.
    fn reach(&self) -> Result<(), Failed>;

    /// Hands out the pairings of a match until it is over. One that goes on has what is `stored`, and there may
    /// be more results already.
    ///
    /// # Errors
    /// The others cannot be reached, or the match cannot be played.
    fn coordinate(&self, game: Match, stored: Option<&IndexSet>) -> Result<Summary, Failed>;
}

/// There are no others: a program that plays all of its matches itself needs nothing to reach them.
#[derive(Clone, Copy, Debug)]
pub enum Nobody {}

impl Coordinate for Nobody {
    fn reach(&self) -> Result<(), Failed> {
        match *self {}
    }

    fn coordinate(&self, _: Match, _: Option<&IndexSet>) -> Result<Summary, Failed> {
        match *self {}
    }
}

/// How engines are waited for and listened to.
#[derive(Clone)]
pub struct Manner {
    /// How long to wait for what.
    pub patience: Timeouts,
    /// How games are looked at; what is played is up to the plan.
    pub setting: GameSettings,
    /// How long each player waits between two games.
    pub pause: Duration,
    /// Who hears every line.
    pub line_observer: Option<LineObserver>,
    /// Who hears every line of error output.
    pub stderr_observer: Option<StderrObserver>,
}

impl Default for Manner {
    fn default() -> Self {
        Self {
            patience: Timeouts::default(),
            setting: GameSettings::new(Game::Chess),
            pause: Duration::ZERO,
            line_observer: None,
            stderr_observer: None,
        }
    }
}

impl fmt::Debug for Manner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Manner").field("patience", &self.patience).finish_non_exhaustive()
    }
}

pub(super) type Failed = Box<dyn Error>;

impl<Q: Coordinate> Run<Q> {
    /// Plays the match, followed by whoever `listen` makes for it.
    ///
    /// # Errors
    /// The match cannot be played, or something around it does not work.
    pub fn play(
        self,
        listen: impl FnOnce(Begun<'_>) -> Vec<Box<dyn Listener>>,
    ) -> Result<Summary, Failed> {
        self.look_for_folders()?;
        self.queue.as_ref().map_or(Ok(()), Coordinate::reach)?;
        let goes_on = matches!(self.results, Results::GoOn(..));
        let (store, cut) = self.results.open(&self.exports)?;
        let (path, plan) = (store.path().to_owned(), store.plan().clone());
        let resumed = !store.stored().is_empty();
        // The first results may be on the way to the store of a match that goes on.
        let stored = goes_on.then(|| store.stored().clone());
        let total = Schedule::open(&plan)?.total();
        let mut game = Match::new(store, self.settings)?;
        let stop = game.stop_handle();
        let begun = Begun { plan: &plan, pairings: total, stop: &stop, results: &path };
        for listener in listen(begun) {
            game.listen(listener);
        }
        if let Some(events) = &self.events {
            game.listen(JsonLines::new(complaining(events, resumed)?));
        }
        for export in self.exports {
            game.export(export);
        }
        stop_match(stop)?;
        if cut > 0 {
            // The last line was torn when the program was killed; its pairing is played again.
            writeln!(io::stderr(), "readyok: {cut} bytes of a torn line were cut off")?;
        }
        let summary = if let Some(queue) = self.queue {
            queue.coordinate(game, stored.as_ref())?
        } else {
            let (slots, cpus) = match &self.pin {
                Some(list) => {
                    let list = Some(list.as_slice()).filter(|list| !list.is_empty());
                    let slots = Slots::new(self.slots, threads_of(&plan), Cpus::count(list)?);
                    (slots, Some(Cpus::share(slots.count, slots.each, list)?))
                }
                None => (Slots::new(self.slots, threads_of(&plan), processors()), None),
            };
            if let Some(complaint) = slots.complaint() {
                writeln!(io::stderr(), "readyok: {complaint}")?;
            }
            let Manner { patience, setting: manner, pause, line_observer, stderr_observer } =
                &self.manner;
            let setting = GameSettings { tablebases: setting(&plan)?.tablebases, ..manner.clone() };
            let guard = &self.guard;
            game.play_here(slots.count, cpus.as_ref(), |spec| {
                let player = player(spec, &setting, *patience, guard);
                let player = player.pausing(*pause).on_line(line_observer.clone());
                player.on_stderr(stderr_observer.clone())
            })?
        };
        if let Some(report) = &self.report {
            write_report(&path, report)?;
        }
        Ok(summary)
    }
}

impl<Q> Run<Q> {
    /// Looks whether what is written can be put where it is to be, before there is a file of any result.
    fn look_for_folders(&self) -> Result<(), Failed> {
        let files = self.exports.iter().filter(|export| export.form != Form::Kif);
        let files = files.map(|export| &export.path).chain(&self.events).chain(&self.report);
        for file in files.filter(|file| file.as_os_str() != "-") {
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
            if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
                let why = format!("there is no folder `{}`", folder.display());
                return Err(about(file, &io::Error::new(io::ErrorKind::NotFound, why)));
            }
        }
        Ok(())
    }
}

/// What games of a plan need: among others its tablebases, which are opened once.
pub(super) fn setting(plan: &Plan) -> io::Result<GameSettings> {
    let tablebases = match &plan.adjudication.tablebases {
        Some(tables) => Some(Arc::new(Syzygy::open(&tables.paths)?) as Arc<dyn Tablebases>),
        None => None,
    };
    Ok(GameSettings { tablebases, ..GameSettings::new(plan.game) })
}

/// Somebody who plays for an order.
pub(super) fn player(
    spec: &MatchSpec,
    setting: &GameSettings,
    patience: Timeouts,
    guard: &Guard,
) -> EnginePlayer {
    let player = EnginePlayer::new(&spec.plan, setting.clone(), patience);
    player.report_moves(spec.report_moves).guarded(guard)
}

/// An error that says which file it is about.
pub(super) fn about(path: &Path, error: &io::Error) -> Failed {
    format!("`{}`: {error}", path.display()).into()
}

/// Writes the report of a match from its results.
///
/// # Errors
/// The results cannot be read, or the report cannot be written.
pub fn write_report(results: &Path, report: &Path) -> Result<(), Failed> {
    let reader = Reader::open(results)?;
    let mut page = Report::new(reader.plan());
    for pair in reader {
        page.add(&pair?);
    }
    // Whoever looks at the old one meanwhile sees all of it.
    let mut part = report.as_os_str().to_owned();
    part.push(".part");
    let written = fs::write(&part, page.html()).and_then(|()| fs::rename(&part, report));
    written.map_err(|error| {
        // What there is of it is of no use, and may not be there at all.
        let _ = fs::remove_file(&part);
        about(report, &error)
    })
}

/// Reads a plan from a file.
///
/// # Errors
/// It cannot be read, or is no plan.
pub fn read_plan(path: &Path) -> Result<Plan, Failed> {
    let text = fs::read_to_string(path)?;
    Ok(toml::from_str(&text)?)
}
