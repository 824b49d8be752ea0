//! Follows a match and prints what fastchess prints.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use readyok_rules::Side;

use crate::event::{End, Event, Listener, Score};
use crate::plan::{EngineId, EnginePlan, GamesPerPairing, OpeningSource, Plan};
use crate::result::{Introduction, PlayedMove, Termination};
use crate::stats::fastchess::{Block, RULE, Setup, ranking, verdict_line};
use crate::stats::{Counts, Figures, Pentanomial, Sprt, Trinomial};

use super::checksum::Checksum;
use super::log::{Level, Logger};
use super::options::{Options, OutputFormat};
use super::text::{self, GameOver};
use super::voice::Voice;

/// A listener that prints in the form of fastchess, or of cutechess as fastchess does it.
///
/// What is printed for a pair comes when both of its games are complete, since only whole pairs
/// count here. When the output is closed, the rest is not printed.
#[derive(Debug)]
pub struct Printer<W> {
    voice: Voice<W>,
    plan: Plan,
    pairings: u64,
    options: Options,
    sprt: Option<Sprt>,
    scores: BTreeMap<(EngineId, EngineId), Score>,
    /// Times and crashes of engines, by name.
    failures: BTreeMap<String, Failures>,
    started: SystemTime,
    games_over: u64,
    pairs_over: u64,
    reported: bool,
    /// The last score that was not told in the form of cutechess.
    unsaid: Option<Score>,
    checksum: Option<Checksum>,
    /// The games that are being played: who moves first, who second, whose move it is first.
    playing: BTreeMap<(u64, u32), (EngineId, EngineId, Side)>,
    introductions: BTreeMap<EngineId, Introduction>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Failures {
    timeouts: u64,
    crashes: u64,
}

impl<W: Write> Printer<W> {
    /// A printer of a match that starts now and has so many pairings.
    pub fn new(plan: &Plan, pairings: u64, options: &Options, out: W) -> Self {
        Self {
            voice: Voice::new(out),
            sprt: plan.sprt.and_then(|sprt| sprt.test().ok()),
            plan: plan.clone(),
            pairings,
            options: options.clone(),
            scores: BTreeMap::new(),
            failures: BTreeMap::new(),
            started: SystemTime::now(),
            games_over: 0,
            pairs_over: 0,
            reported: false,
            unsaid: None,
            checksum: None,
            playing: BTreeMap::new(),
            introductions: BTreeMap::new(),
        }
    }

    /// Writes into a log as well.
    #[must_use]
    pub fn logging(mut self, logger: Option<Logger>) -> Self {
        self.voice.logger = logger;
        self
    }

    /// Calls a function at the first warning (`-strict`).
    #[must_use]
    pub fn on_warning(mut self, act: impl FnMut() + Send + 'static) -> Self {
        self.voice.on_warning = Some(Box::new(act));
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

    fn game_end(&mut self, number: u64, [first, second]: [EngineId; 2], over: &GameOver<'_>) {
        let names = format!("{} and {}", self.name(first), self.name(second));
        let loser = over.winner.map(|winner| if winner == Side::First { second } else { first });
        let name = loser.map(|loser| self.name(loser).to_owned()).unwrap_or_default();
        if let Termination::IllegalMove { word, .. } = over.termination {
            self.voice.warn(&format!("Warning; Illegal move {word} played by {name}"));
        }
        if let Some(fault) = text::fault(&name, over.termination) {
            self.voice.note(&fault);
        }
        self.voice.log(Level::Trace, &format!("Game {number} between {names} finished"));
        if is_broken(over.termination) {
            self.voice.note(&format!("Game {number} between {names} stalled / disconnected"));
        }
        let line = text::finished(number, self.name(first), self.name(second), over);
        self.say(&line);
        let score = over.score();
        self.voice.log(Level::Trace, &format!("Game {number} finished with result {score}"));
        self.games_over += 1;
        if loser.is_none() {
            return;
        }
        match over.termination {
            Termination::TimeForfeit { .. } => {
                self.failures.entry(name).or_default().timeouts += 1;
            }
            broken if is_broken(broken) => self.failures.entry(name).or_default().crashes += 1,
            _ => {}
        }
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
        self.scores.insert((score.engine, score.opponent), score);
        self.unsaid = Some(score);
        if Self::is_due(self.options.score_interval, self.games_over, self.games_of_pair()) {
            self.say_score();
        }
        self.reported = false;
        let (unit, step) = if self.options.penta {
            (self.pairs_over, 1)
        } else {
            (self.games_over, self.games_of_pair())
        };
        if Self::is_due(self.options.rating_interval, unit, step) {
            self.report();
        }
    }

    /// Whether the last `step` of so many units have reached a multiple of the interval. Single games
    /// are counted two at a time where they are played so.
    fn is_due(interval: Option<u32>, units: u64, step: u64) -> bool {
        interval.is_some_and(|every| {
            let every = u64::from(every);
            units / every != units.saturating_sub(step) / every
        })
    }

    /// Tells the last score, unless it was told.
    fn say_score(&mut self) {
        let Some(score) = self.unsaid.take() else { return };
        if self.options.output == OutputFormat::Cutechess {
            let line = self.cutechess_score(&score);
            self.say(&line);
        }
    }

    fn cutechess_score(&self, score: &Score) -> String {
        let Score { wins, draws, losses, .. } = *score;
        let games = wins + draws + losses;
        let ratio = Figures::of(&Counts::Games(score.games())).score.number().unwrap_or_default();
        let (first, second) = (self.name(score.engine), self.name(score.opponent));
        format!("Score of {first} vs {second}: {wins} - {losses} - {draws}  [{ratio:.3}] {games}")
    }

    /// What is printed from time to time.
    fn report(&mut self) {
        self.reported = true;
        let text = match (self.options.output, self.plan.engines.as_slice()) {
            (OutputFormat::Fastchess, [one, other]) => {
                format!("{RULE}\n{}{RULE}", self.block(one, other))
            }
            (OutputFormat::Fastchess, _) => format!("{RULE}\n{}{RULE}", self.ranking()),
            (OutputFormat::Cutechess, [_, _]) => self.cutechess_report(),
            (OutputFormat::Cutechess, _) => without_pairs(&self.ranking()),
        };
        self.voice.print(&text);
    }

    fn block(&self, one: &EnginePlan, other: &EnginePlan) -> String {
        let (one_time, other_time) = (time(one), time(other));
        let [first, second] = [0, 1].map(|id| self.introductions.get(&EngineId(id)));
        let book = match &self.plan.openings.source {
            OpeningSource::File { path, .. } => Some(path.as_str()),
            _ => None,
        };
        let block = Block {
            first: setup(one, first, &one_time),
            second: setup(other, second, &other_time),
            book,
            counts: self.head_to_head(),
            sprt: self.sprt,
        };
        block.to_string()
    }

    fn head_to_head(&self) -> Counts {
        let score = self.scores.get(&(EngineId(0), EngineId(1)));
        score.map_or_else(|| Counts::Games(Trinomial::default()), |score| self.counts(score))
    }

    fn counts(&self, score: &Score) -> Counts {
        let pairs = self.options.penta.then_some(GamesPerPairing::Two);
        let pairs = pairs.and_then(|pairs| score.counts(pairs));
        pairs.unwrap_or_else(|| Counts::Games(score.games()))
    }

    fn ranking(&self) -> String {
        let ids = (0_u32..).zip(&self.plan.engines);
        let rows: Vec<(&str, Counts)> =
            ids.map(|(id, engine)| (engine.name.as_str(), self.total_of(EngineId(id)))).collect();
        ranking(&rows)
    }

    /// What an engine scored against all others.
    fn total_of(&self, engine: EngineId) -> Counts {
        let mut games = Trinomial::default();
        let mut pairs = Pentanomial::default();
        for score in self.scores.values() {
            let (own, reversed) = (score.engine == engine, score.opponent == engine);
            if !own && !reversed {
                continue;
            }
            let these = score.games();
            let these = if own { these } else { these.reversed() };
            games = games.plus(these).unwrap_or(games);
            if let Counts::Pairs(these) = self.counts(score) {
                let these = if own { these } else { these.reversed() };
                pairs = pairs.plus(these).unwrap_or(pairs);
            }
        }
        if self.options.penta { Counts::Pairs(pairs) } else { Counts::Games(games) }
    }

    fn cutechess_report(&self) -> String {
        let counts = match self.scores.get(&(EngineId(0), EngineId(1))) {
            Some(score) => Counts::Games(score.games()),
            None => Counts::Games(Trinomial::default()),
        };
        let figures = Figures::of(&counts);
        let percent = |figure: crate::stats::Figure| match figure.number() {
            Some(share) => format!("{:.2}", share * 100.0),
            None => "nan".to_owned(),
        };
        let mut text = format!(
            "Elo difference: {:.2}, LOS: {} %, DrawRatio: {} %",
            figures.elo,
            percent(figures.los),
            percent(figures.draw_ratio)
        );
        if let Some(Ok(status)) = self.sprt.map(|sprt| sprt.status(&counts)) {
            let share = status.progress().abs() * 100.0;
            // Writing into a string cannot fail.
            let _ = write!(
                text,
                "\nSPRT: llr {:.2} ({share:.1}%), lbound {:.2}, ubound {:.2}",
                status.llr, status.lower, status.upper
            );
        }
        text
    }

    fn end(&mut self, why: &End) {
        if matches!(why, End::Complete | End::Test { .. }) {
            self.say_score();
        }
        if !self.reported && self.games_over > 0 {
            self.report();
        }
        match why {
            End::Test { verdict } => {
                if let Some(line) = self.sprt.and_then(|sprt| verdict_line(&sprt, *verdict)) {
                    match self.options.output {
                        OutputFormat::Fastchess => self.say(&line),
                        OutputFormat::Cutechess => self.say("Tournament finished"),
                    }
                }
            }
            End::Failures { .. } => self.voice.warn(
                "A game stalled / disconnected and no recover option set for engine, stopping \
                 tournament.",
            ),
            End::Error { text } => self.say(&format!("Error: {text}")),
            End::Complete | End::Interrupted => {}
        }
        let failures = std::mem::take(&mut self.failures);
        for (name, Failures { timeouts, crashes }) in &failures {
            self.say(&format!("\nPlayer: {name}\n  Timeouts: {timeouts}\n  Crashed: {crashes}\n"));
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
}

impl<W: Write + Send> Listener for Printer<W> {
    fn hear(&mut self, event: &Event) {
        match event {
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
            Event::GameEnd { pair, game, first, second, winner, termination, engines, .. } => {
                self.playing.remove(&(*pair, *game));
                for (id, engine) in [first, second].into_iter().zip(engines.iter()) {
                    if *engine != Introduction::default() {
                        self.introductions.insert(*id, engine.clone());
                    }
                }
                let over = GameOver { game: self.plan.game, winner: *winner, termination };
                let number = self.number(*pair, *game);
                self.game_end(number, [*first, *second], &over);
            }
            Event::PairEnd { .. } => {
                self.pairs_over += 1;
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
            Event::MatchEnd { why, .. } => self.end(why),
            Event::MatchStart { .. }
            | Event::Move { .. }
            | Event::Test(_)
            | Event::Ratings(_)
            | Event::Champion { .. }
            | Event::EngineFailure { .. }
            | Event::Stopping { .. } => {}
        }
    }
}

/// How an engine was set up: as it says, or, as long as it has said nothing, as the plan wants it.
fn setup<'a>(
    engine: &'a EnginePlan,
    introduction: Option<&'a Introduction>,
    time: &'a str,
) -> Setup<'a> {
    if let Some(Introduction { threads, hash, .. }) = introduction {
        let (threads, hash) = (threads.as_deref(), hash.as_deref());
        return Setup { name: &engine.name, time, threads, hash };
    }
    let option = |names: [&str; 2]| {
        let is_one = |name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        let mut options = engine.options.iter();
        options.find(|(name, _)| is_one(name)).map(|(_, value)| value.as_str())
    };
    let (threads, hash) = (option(["Threads", "USI_Threads"]), option(["Hash", "USI_Hash"]));
    Setup { name: &engine.name, time, threads, hash }
}

/// Whether an engine was lost.
fn is_broken(termination: &Termination) -> bool {
    matches!(
        termination,
        Termination::Crash { .. } | Termination::Stall { .. } | Termination::NoStart { .. }
    )
}

/// A limit as fastchess prints it.
fn time(engine: &EnginePlan) -> String {
    let limits = &engine.limits;
    if let Some(control) = limits.tc {
        return control.to_string();
    }
    let seconds = |millis: u64| Duration::from_millis(millis).as_secs_f64();
    match (limits.byoyomi_ms, limits.move_time_ms, limits.depth, limits.nodes) {
        (Some(byoyomi), ..) => format!("0+{} byoyomi", seconds(byoyomi)),
        (_, Some(time), ..) => format!("{}/move", seconds(time)),
        (.., Some(plies), _) => format!("{plies} plies"),
        (.., Some(nodes)) => format!("{nodes} nodes"),
        (None, None, None, None) => String::new(),
    }
}

/// The table as it is in the form of cutechess, which knows no pairs.
fn without_pairs(table: &str) -> String {
    let lines = table.lines().map(|line| line.trim_end().trim_end_matches("Ptnml(0-2)").trim_end());
    lines.collect::<Vec<_>>().join("\n")
}
