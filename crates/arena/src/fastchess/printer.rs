//! Follows a match and prints what fastchess prints.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::time::SystemTime;

use readyok_rules::{Game, Side, Termination};

use crate::event::{End, Event, Listener, Score};
use crate::plan::{EngineId, GamesPerPairing, OpeningOrder, OpeningSource, Plan};
use crate::queue::Stop;
use crate::result::PlayedMove;
use crate::stats::Verdict;
use crate::stats::fastchess::verdict_line;

use super::checksum::Checksum;
use super::failures::Failures;
use super::log::{Level, Logger};
use super::options::{Options, OutputFormat};
use super::standing::Standing;
use super::text::{self, GameOver};
use super::voice::Voice;

/// A listener that prints in the form of fastchess, or of cutechess as fastchess does it.
///
/// What is printed for a pair comes when both of its games are complete; where single games count,
/// each is a pair of its own. When the output is closed, the rest is not printed.
#[derive(Debug)]
pub struct Printer<W> {
    voice: Voice<W>,
    plan: Plan,
    pairings: u64,
    options: Options,
    standing: Standing,
    failures: Failures,
    started: SystemTime,
    /// What was stored last, as long as its score was not told.
    stored: Option<Stored>,
    halt: Option<Halt>,
    /// The verdict of the test was told.
    decided: bool,
    checksum: Option<Checksum>,
    /// The games that are being played: who moves first, who second, whose move it is first.
    playing: BTreeMap<(u64, u32), (EngineId, EngineId, Side)>,
}

#[derive(Clone, Copy, Debug)]
struct Stored {
    pair: u64,
    /// How many pairs there are now.
    complete: u64,
}

/// From when on nothing is printed about games, as fastchess does not wait for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Halt {
    Now,
    /// When this pair is stored.
    After(u64),
}

impl<W: Write> Printer<W> {
    /// A printer of a match that starts now and has so many pairings.
    pub fn new(plan: &Plan, pairings: u64, options: &Options, out: W) -> Self {
        let mut voice = Voice::new(out);
        voice.strict = options.strict;
        let mut options = options.clone();
        // A match that goes on is counted as it was begun, whatever is said now.
        options.penta &= plan.games == GamesPerPairing::Two;
        options.penta &= options.output == OutputFormat::Fastchess;
        Self {
            voice,
            plan: plan.clone(),
            pairings,
            standing: Standing::new(plan, &options),
            options,
            failures: Failures::default(),
            started: SystemTime::now(),
            stored: None,
            halt: None,
            decided: false,
            checksum: None,
            playing: BTreeMap::new(),
        }
    }

    /// Writes into a log as well.
    #[must_use]
    pub fn logging(mut self, logger: Option<Logger>) -> Self {
        self.voice.logger = logger;
        self
    }

    /// Calls a function when the match has to end at once: an engine is lost that is not to be started
    /// again, one does not start, or there is a warning where there may be none.
    #[must_use]
    pub fn stopping_by(mut self, act: impl FnMut() + Send + 'static) -> Self {
        self.voice.stop = Some(Box::new(act));
        self
    }

    /// Prints the checksum of a file of records after each pair (`-crc32`).
    #[must_use]
    pub fn checking(mut self, path: PathBuf) -> Self {
        self.checksum = Some(Checksum::of(path));
        self
    }

    fn say(&mut self, text: &str) {
        self.voice.say(text);
    }

    fn name(&self, engine: EngineId) -> &str {
        let index = usize::try_from(engine.0).ok();
        index.and_then(|index| self.plan.engines.get(index)).map_or("?", |engine| &engine.name)
    }

    /// The number of a game, counted from 1 over all pairings.
    fn number(&self, pair: u64, game: u32) -> u64 {
        pair * self.games_of_pair() + u64::from(game) + 1
    }

    fn games_of_pair(&self) -> u64 {
        match self.plan.games {
            GamesPerPairing::One => 1,
            GamesPerPairing::Two => 2,
        }
    }

    /// What is said before the first game.
    fn begin(&mut self, resumed: u64) {
        if self.options.bayesian_instead {
            self.voice.print(
                "Warning; Bayesian SPRT model not available with pentanomial statistics. \
                 Disabling pentanomial reports...",
            );
        }
        match (&self.plan.openings.source, self.plan.openings.order) {
            (OpeningSource::Start, _) => self.voice.print(
                "Warning: No opening book specified! Consider using one, otherwise all games will \
                 be played from the starting position.\nWarning: Unknown opening format, 2. All \
                 games will be played from the starting position.",
            ),
            (OpeningSource::File { .. }, OpeningOrder::Fastchess) => {
                self.say("Indexing opening suite...");
            }
            _ => {}
        }
        if resumed == 0 {
            return;
        }
        let games = resumed * self.games_of_pair();
        let pgn = self.options.pgn.as_ref().is_some_and(|out| !out.append);
        let epd = self.options.epd.as_ref().is_some_and(|out| !out.append);
        for (option, told) in [("-pgnout", pgn), ("-epdout", epd)] {
            if told {
                self.say(&format!("Resuming from {games} games, ignoring {option} append=false."));
            }
        }
    }

    fn game_end(
        &mut self,
        (pair, game): (u64, u32),
        [first, second]: [EngineId; 2],
        over: &GameOver<'_>,
    ) {
        let number = self.number(pair, game);
        let names = format!("{} and {}", self.name(first), self.name(second));
        let loser = over.winner.map(|winner| if winner == Side::First { second } else { first });
        let name = loser.map(|loser| self.name(loser).to_owned()).unwrap_or_default();
        if let Some(why) =
            over.end.failure().filter(|_| *over.end == Termination::EngineStartFailure)
        {
            self.voice.warn(&format!("Fatal; {name} engine startup failure: \"{why}\""));
            self.voice.stop();
            return;
        }
        if let Some(word) = over.end.illegal_text() {
            if self.plan.game != Game::Shogi && !text::is_word_of_uci(word) {
                self.voice.warn(&format!(
                    "Warning; Move does not match uci move format, lowercase and 4/5 chars. Move \
                     {word} played by {name}"
                ));
            }
            self.voice.warn(&format!("Warning; Illegal move {word} played by {name}"));
        }
        if *over.end == Termination::EngineStall {
            self.voice.warn(&format!("Warning; Engine {name} is not responsive"));
        }
        if let Some(failure) = text::failure(&name, over.end) {
            self.voice.note(&failure);
        }
        self.voice.log(Level::Trace, &format!("Game {number} between {names} finished"));
        if over.end.termination.is_engine_failure() {
            self.voice.note(&format!("Game {number} between {names} stalled / disconnected"));
        }
        let is_lost = over.end.termination.is_engine_failure() && !self.options.recover;
        if !is_lost {
            self.failures.count(&name, over.end.termination);
        }
        if self.voice.has_stopped() {
            return;
        }
        if is_lost {
            self.voice.warn(&format!(
                "Game {number} stalled / disconnected and no recover option set for engine, \
                 stopping tournament."
            ));
            let is_last = u64::from(game) + 1 == self.games_of_pair();
            self.halt = Some(if is_last { Halt::After(pair) } else { Halt::Now });
            self.voice.stop();
        }
        let line = text::finished(number, self.name(first), self.name(second), over);
        self.say(&line);
        let score = over.score();
        self.voice.log(Level::Trace, &format!("Game {number} finished with result {score}"));
    }

    /// How much longer a move took than the engine says.
    fn latency(&mut self, game: (u64, u32), ply: u32, played: &PlayedMove) {
        let Some(&(first, second, turn)) = self.playing.get(&game) else { return };
        let mover = if ply.is_multiple_of(2) { turn } else { turn.other() };
        let name = self.name(if mover == Side::First { first } else { second });
        let (elapsed, told) = (played.time_us / 1000, played.told_ms.unwrap_or(0));
        let latency = i128::from(elapsed) - i128::from(told);
        let text =
            format!("Engine {name} latency: {latency}ms (elapsed: {elapsed}, reported: {told})");
        self.voice.log(Level::Info, &text);
    }

    fn score(&mut self, score: Score) {
        self.standing.take(score);
        let Some(Stored { pair, complete }) = self.stored.take() else { return };
        let games = complete * self.games_of_pair();
        let is_last = complete == self.pairings;
        let is_due = |interval: Option<u32>, number: u64| {
            interval.is_some_and(|every| number.is_multiple_of(u64::from(every)))
        };
        if is_due(self.options.score_interval, games) || is_last {
            self.say_score(&score);
        }
        // Pairs are counted by their numbers, games as they end.
        let number = if self.options.penta { pair + 1 } else { games };
        if is_due(self.options.rating_interval, number) || is_last {
            self.report();
        }
    }

    fn say_score(&mut self, score: &Score) {
        if let Some(line) = self.standing.score_line(score) {
            self.say(&line);
        }
    }

    fn report(&mut self) {
        self.voice.print(&self.standing.report());
    }

    /// Tells the end of the test, once. What was told of the last game is told again.
    fn decide(&mut self, verdict: Verdict) {
        if std::mem::replace(&mut self.decided, true) {
            return;
        }
        let line = self.standing.sprt().and_then(|sprt| verdict_line(sprt, verdict));
        let Some(line) = line else { return };
        if let Some(score) = self.standing.first_score().copied() {
            self.say_score(&score);
        }
        self.report();
        match self.options.output {
            OutputFormat::Fastchess => self.say(&line),
            OutputFormat::Cutechess => self.say("Tournament finished"),
        }
    }

    fn end(&mut self, why: &End) {
        match why {
            End::Test { verdict } => self.decide(*verdict),
            // Whoever plays the match says what is wrong, and that is all.
            End::Error { .. } => return,
            End::Complete | End::Interrupted | End::Failures { .. } => {}
        }
        if self.options.output == OutputFormat::Fastchess
            && let Some(text) = self.failures.text()
        {
            self.say(&text);
        }
        if matches!(why, End::Interrupted | End::Failures { .. }) {
            let state = self.options.resume.outname.display().to_string();
            self.say(&format!(
                "Tournament was interrupted. To resume the tournament, run: readyok match \
                 --fastchess -config file={state}"
            ));
        }
        self.say("Finished match");
        let seconds = self.started.elapsed().unwrap_or_default().as_secs();
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        self.say(&format!(
            "Total Time: {hours:02}:{minutes:02}:{seconds:02} (hours:minutes:seconds)\n"
        ));
    }

    /// Whether an event comes too late to be printed.
    fn is_late(&self, event: &Event) -> bool {
        let Some(halt) = self.halt else { return false };
        match event {
            Event::GameStart { .. }
            | Event::GameEnd { .. }
            | Event::Warning { .. }
            | Event::Move { .. } => true,
            Event::PairEnd { pair, .. } => halt != Halt::After(*pair),
            _ => false,
        }
    }
}

impl<W: Write + Send> Listener for Printer<W> {
    fn on_event(&mut self, event: &Event) {
        if self.is_late(event) {
            return;
        }
        match event {
            Event::MatchStart { resumed, .. } => self.begin(*resumed),
            Event::GameStart { pair, game, first, second, opening, .. } => {
                let number = self.number(*pair, *game);
                let turn = opening.turn(self.plan.game);
                self.playing.insert((*pair, *game), (*first, *second, turn));
                let (first, second) = (self.name(*first), self.name(*second));
                let text = format!("Game {number} between {first} and {second} starting");
                self.voice.log(Level::Trace, &text);
                let line =
                    text::started(number, self.pairings * self.games_of_pair(), first, second);
                self.say(&line);
            }
            Event::GameEnd { pair, game, first, second, winner, end, engines, .. } => {
                self.playing.remove(&(*pair, *game));
                for (id, engine) in [first, second].into_iter().zip(engines.iter()) {
                    self.standing.introduce(*id, engine);
                }
                let over = GameOver { game: self.plan.game, winner: *winner, end };
                self.game_end((*pair, *game), [*first, *second], &over);
            }
            Event::PairEnd { pair, complete, .. } => {
                self.stored = Some(Stored { pair: *pair, complete: *complete });
                if let Some(line) = self.checksum.as_mut().and_then(Checksum::line) {
                    self.say(&line);
                }
            }
            Event::Score(score) => self.score(*score),
            Event::Warning { text, engine, about, .. } => {
                let name = engine.map_or("", |engine| self.name(engine));
                let text = match about {
                    Some(about) => text::warning(name, about, self.options.test_env),
                    None => format!("Warning; {text}"),
                };
                self.voice.warn(&text);
            }
            Event::Move { pair, game, ply, played } if self.options.show_latency => {
                self.latency((*pair, *game), *ply, played);
            }
            Event::Stopping { how, why } => {
                if let End::Test { verdict } = why {
                    self.decide(*verdict);
                }
                if *how == Stop::Abort {
                    self.halt.get_or_insert(Halt::Now);
                }
            }
            Event::MatchEnd { why, .. } => self.end(why),
            Event::Move { .. }
            | Event::Test(_)
            | Event::Ratings(_)
            | Event::Champion { .. }
            | Event::EngineFailure { .. } => {}
        }
        if self.voice.has_stopped() {
            self.halt.get_or_insert(Halt::Now);
        }
    }
}
