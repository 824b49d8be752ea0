//! Prints the output of fastchess from the events of a match, with the periodic report of the scores.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use std::{fmt, io};

use crc32fast::Hasher;
use readyok_rules::{Game, Side, Termination};

use crate::event::{End, Event, Score};
use crate::fastchess::options::{Level, Logger, Options, OutputFormat};
use crate::fastchess::text;
use crate::fastchess::text::GameOver;
use crate::listener::Listener;
use crate::match_state::MatchState;
use crate::plan::{
    EngineId, EnginePlan, GamesPerPairing, Limits, OpeningOrder, OpeningSource, Plan, TimeControl,
};
use crate::queue::{Stop, WarningContext};
use crate::result::{EngineInfo, WarningKind};
use crate::stats::fastchess::{Block, RULE, Setup, ranking, verdict_line};
use crate::stats::{Counts, Verdict, fastchess};

/// A listener that prints in the format of fastchess, or in its format of cutechess.
///
/// Scores and reports follow when both games of a pair are complete. Games that count alone are
/// pairs of one game. Output stops when the stream is closed.
#[derive(Debug)]
pub struct Printer<W> {
    out: Output<W>,
    plan: Plan,
    pairings: u64,
    options: Options,
    failures: Failures,
    engine_infos: BTreeMap<EngineId, EngineInfo>,
    started: SystemTime,
    /// The last stored pair, until its score is printed.
    stored: Option<Stored>,
    halt: Option<Halt>,
    /// The result of the SPRT has been printed.
    decided: bool,
    checksum: Option<Checksum>,
    /// The games in progress: first player and second player.
    playing: BTreeMap<(u64, u32), (EngineId, EngineId)>,
}

#[derive(Clone, Copy, Debug)]
struct Stored {
    pair: u64,
    /// Number of stored pairs.
    complete: u64,
}

/// When output about games ends, because fastchess does not wait for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Halt {
    Now,
    /// After this pair is stored.
    After(u64),
}

impl<W: Write> Printer<W> {
    /// A printer of a match that starts now and has `pairings` pairings.
    pub fn new(plan: &Plan, pairings: u64, options: &Options, out: W) -> Self {
        let mut out = Output::new(out);
        out.strict = options.strict;
        let mut options = options.clone();
        // A resumed match has the counting mode of its plan.
        options.penta &= plan.games == GamesPerPairing::Two;
        options.penta &= options.output == OutputFormat::Fastchess;
        Self {
            out,
            plan: plan.clone(),
            pairings,
            options,
            failures: Failures::default(),
            engine_infos: BTreeMap::new(),
            started: SystemTime::now(),
            stored: None,
            halt: None,
            decided: false,
            checksum: None,
            playing: BTreeMap::new(),
        }
    }

    /// Writes to a log in addition.
    #[must_use]
    pub fn with_log(mut self, logger: Option<Logger>) -> Self {
        self.out.logger = logger;
        self
    }

    /// Calls `act` when the match must end immediately: an engine crashed without `-recover`, an
    /// engine does not start, or a warning is printed with `-strict`.
    #[must_use]
    pub fn on_stop(mut self, act: impl FnMut() + Send + 'static) -> Self {
        self.out.stop = Some(Box::new(act));
        self
    }

    /// Prints the checksum of a file after each pair (`-crc32`).
    #[must_use]
    pub fn with_checksum(mut self, path: PathBuf) -> Self {
        self.checksum = Some(Checksum::new(path));
        self
    }
    fn name(&self, engine: EngineId) -> &str {
        self.plan.engine_name(engine)
    }

    /// The number of a game in the match, from 1.
    fn number(&self, pair: u64, game: u32) -> u64 {
        pair * self.games_of_pair() + u64::from(game) + 1
    }

    fn games_of_pair(&self) -> u64 {
        match self.plan.games {
            GamesPerPairing::One => 1,
            GamesPerPairing::Two => 2,
        }
    }

    /// Prints the messages before the first game.
    fn begin(&mut self, resumed: u64) {
        self.out.log(Level::Info, &format!("Setting seed to: {}", self.plan.seed));
        if self.options.bayesian_instead {
            self.out.print(
                "Warning; Bayesian SPRT model not available with pentanomial statistics. \
                 Disabling pentanomial reports...",
            );
        }
        match (&self.plan.openings.source, self.plan.openings.order) {
            (OpeningSource::Start, _) => self.out.print(
                "Warning: No opening book specified! Consider using one, otherwise all games will \
                 be played from the starting position.\nWarning: Unknown opening format, 2. All \
                 games will be played from the starting position.",
            ),
            (OpeningSource::File { .. }, OpeningOrder::Fastchess) => {
                self.out.info("Indexing opening suite...");
            }
            _ => {}
        }
        if resumed == 0 {
            return;
        }
        let games = resumed * self.games_of_pair();
        let pgn = self.options.pgn.as_ref().is_some_and(|out| !out.append);
        let epd = self.options.epd.as_ref().is_some_and(|out| !out.append);
        for (option, is_ignored) in [("-pgnout", pgn), ("-epdout", epd)] {
            if is_ignored {
                self.out
                    .info(&format!("Resuming from {games} games, ignoring {option} append=false."));
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
        let loser = over.winner.map(|winner| if winner == Side::First { second } else { first });
        let name = loser.map(|loser| self.name(loser).to_owned()).unwrap_or_default();
        if let Some(why) =
            over.end.failure().filter(|_| *over.end == Termination::EngineStartFailure)
        {
            let why = text::start_failure(why);
            self.out.warn(&format!("Fatal; {name} engine startup failure: \"{why}\""));
            self.out.stop();
            return;
        }
        if let Some(mv) = over.end.illegal_text() {
            if mv.is_empty() {
                self.out.warn(&format!(
                    "Warning; No bestmove found from {name} because: Element 'bestmove' not found. \
                     Last line was: bestmove"
                ));
            } else if self.plan.game != Game::Shogi && !text::is_uci_move(mv) {
                self.out.warn(&format!(
                    "Warning; Move does not match uci move format, lowercase and 4/5 chars. Move \
                     {mv} played by {name}"
                ));
            }
            let mv = if mv.is_empty() { "<none>" } else { mv };
            self.out.warn(&format!("Warning; Illegal move {mv} played by {name}"));
        }
        if *over.end == Termination::EngineStall {
            self.out.warn(&format!("Warning; Engine {name} is not responsive"));
        }
        if let Some(failure) = text::failure(&name, over.end) {
            self.out.log_warning(&failure);
        }
        if over.end.termination.is_engine_failure() {
            let names = format!("{} and {}", self.name(first), self.name(second));
            self.out.log_warning(&format!("Game {number} between {names} stalled / disconnected"));
        }
        let is_lost = over.end.termination.is_engine_failure() && !self.options.recover;
        if !is_lost {
            self.failures.count(&name, over.end.termination);
        }
        if self.out.stopped {
            return;
        }
        if is_lost {
            self.out.warn(&format!(
                "Game {number} stalled / disconnected and no recover option set for engine, \
                 stopping tournament."
            ));
            let is_last = u64::from(game) + 1 == self.games_of_pair();
            self.halt = Some(if is_last { Halt::After(pair) } else { Halt::Now });
            self.out.stop();
        }
        let line = text::finished(number, self.name(first), self.name(second), over);
        self.out.info(&line);
    }

    fn warning(
        &self,
        text: &str,
        pair: Option<u64>,
        engine: Option<EngineId>,
        context: Option<&WarningContext>,
    ) -> String {
        let name = engine.map_or("", |engine| self.name(engine));
        let Some(context) = context else { return format!("Warning; {text}") };
        let game = self.playing.iter().find(|((playing, _), _)| Some(*playing) == pair);
        if let (WarningKind::MateScoreConflict { opponent, own }, Some((_, (first, second)))) =
            (&context.kind, game)
        {
            let (other, colors) = if engine == Some(*first) {
                (*second, ["Black", "White"])
            } else {
                (*first, ["White", "Black"])
            };
            let [other_color, color] = colors;
            let scores = [(self.name(other), other_color, *opponent), (name, color, *own)];
            return text::mate_score_conflict(scores, context, self.options.test_env);
        }
        text::warning(name, context, self.options.test_env)
    }

    fn score(&mut self, score: &Score, state: &MatchState) {
        let Some(Stored { pair, complete }) = self.stored.take() else { return };
        let games = complete * self.games_of_pair();
        let is_last = complete == self.pairings;
        let is_due = |interval: Option<u32>, number: u64| {
            interval.is_some_and(|every| number.is_multiple_of(u64::from(every)))
        };
        if is_due(self.options.score_interval, games) || is_last {
            self.print_score(score);
        }
        // Pairs count by their index, single games in the order in which they end.
        let number = if self.options.penta { pair + 1 } else { games };
        if is_due(self.options.rating_interval, number) || is_last {
            self.report(state);
        }
    }

    /// Prints the score line of the cutechess format.
    fn print_score(&mut self, score: &Score) {
        if self.options.output == OutputFormat::Cutechess {
            let [first, second] = [score.engine, score.opponent].map(|engine| self.name(engine));
            let line = fastchess::score_line(first, second, score.games());
            self.out.info(&line);
        }
    }

    /// Prints the periodic report.
    fn report(&mut self, state: &MatchState) {
        let text = match (self.options.output, state.plan().engines.as_slice()) {
            (OutputFormat::Fastchess, [one, other]) => {
                format!("{RULE}\n{}{RULE}", self.block(state, [one, other]))
            }
            (OutputFormat::Fastchess, _) => format!("{RULE}\n{}{RULE}", self.ranking(state)),
            (OutputFormat::Cutechess, [_, _]) => {
                fastchess::report(state.against(EngineId(0), EngineId(1)), state.sprt())
            }
            (OutputFormat::Cutechess, _) => without_pairs(&self.ranking(state)),
        };
        self.out.print(&text);
    }

    fn block(&self, state: &MatchState, [one, other]: [&EnginePlan; 2]) -> String {
        let (one_time, other_time) = (limit_text(&one.limits), limit_text(&other.limits));
        let [first, second] = [0, 1].map(|id| self.engine_infos.get(&EngineId(id)));
        let book = match &state.plan().openings.source {
            OpeningSource::File { path, .. } => Some(path.as_str()),
            _ => None,
        };
        let games = Counts::Games(state.against(EngineId(0), EngineId(1)));
        let pairs = state.head_to_head().filter(|_| self.options.penta);
        let block = Block {
            first: setup(one, first, &one_time),
            second: setup(other, second, &other_time),
            book,
            counts: pairs.unwrap_or(games),
            sprt: state.sprt().copied(),
        };
        block.to_string()
    }

    fn ranking(&self, state: &MatchState) -> String {
        let counts = |engine| {
            if self.options.penta {
                Counts::Pairs(state.pairs_of(engine))
            } else {
                Counts::Games(state.games_of(engine))
            }
        };
        let rows = state.engines().map(|engine| (state.name(engine), counts(engine)));
        ranking(&rows.collect::<Vec<_>>())
    }

    /// Prints the result of the SPRT once, after repeating the last report.
    fn decide(&mut self, verdict: Verdict, state: &MatchState) {
        if std::mem::replace(&mut self.decided, true) {
            return;
        }
        let line = state.sprt().and_then(|sprt| verdict_line(sprt, verdict));
        let Some(line) = line else { return };
        if let Some(score) = state.score(EngineId(0), EngineId(1)) {
            self.print_score(&score);
        }
        self.report(state);
        match self.options.output {
            OutputFormat::Fastchess => self.out.info(&line),
            OutputFormat::Cutechess => self.out.info("Tournament finished"),
        }
    }

    fn end(&mut self, why: &End, state: &MatchState) {
        match why {
            End::Test { verdict } => self.decide(*verdict, state),
            // The caller prints the error.
            End::Error { .. } => return,
            End::Complete
            | End::Takes { .. }
            | End::Interrupted
            | End::Stopped
            | End::Failures { .. } => {}
        }
        if self.options.output == OutputFormat::Fastchess
            && let Some(text) = self.failures.text()
        {
            self.out.info(&text);
        }
        if matches!(why, End::Interrupted | End::Failures { .. }) {
            let state = self.options.resume.outname.display().to_string();
            self.out.info(&format!(
                "Tournament was interrupted. To resume the tournament, run: readyok match \
                 --fastchess -config file={state}"
            ));
        }
        self.out.info("Finished match");
        let seconds = self.started.elapsed().unwrap_or_default().as_secs();
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        self.out.info(&format!(
            "Total Time: {hours:02}:{minutes:02}:{seconds:02} (hours:minutes:seconds)\n"
        ));
    }

    /// Whether an event is not printed because the match is ending.
    fn is_suppressed(&self, event: &Event) -> bool {
        let Some(halt) = self.halt else { return false };
        match event {
            Event::GameStart { .. } | Event::GameEnd { .. } | Event::Warning { .. } => true,
            Event::PairEnd { pair, .. } => halt != Halt::After(*pair),
            _ => false,
        }
    }
}

impl<W: Write + Send> Listener for Printer<W> {
    fn on_event(&mut self, event: &Event, state: &MatchState) {
        if self.is_suppressed(event) {
            return;
        }
        match event {
            Event::MatchStart { resumed, .. } => self.begin(*resumed),
            Event::GameStart { pair, game, first, second, .. } => {
                let number = self.number(*pair, *game);
                self.playing.insert((*pair, *game), (*first, *second));
                let (first, second) = (self.name(*first), self.name(*second));
                let line =
                    text::started(number, self.pairings * self.games_of_pair(), first, second);
                self.out.info(&line);
            }
            Event::GameEnd { pair, game, first, second, winner, end, engines, .. } => {
                self.playing.remove(&(*pair, *game));
                for (id, engine) in [first, second].into_iter().zip(engines.iter()) {
                    if *engine != EngineInfo::default() {
                        self.engine_infos.insert(*id, engine.clone());
                    }
                }
                let over = GameOver { game: self.plan.game, winner: *winner, end };
                self.game_end((*pair, *game), [*first, *second], &over);
            }
            Event::PairEnd { pair, complete, .. } => {
                self.stored = Some(Stored { pair: *pair, complete: *complete });
                if let Some(line) = self.checksum.as_mut().and_then(Checksum::line) {
                    self.out.info(&line);
                }
            }
            Event::Score(score) => self.score(score, state),
            Event::Warning { text, pair, engine, context } => {
                let text = self.warning(text, *pair, *engine, context.as_deref());
                self.out.warn(&text);
            }
            Event::Stopping { how, why } => {
                if let End::Test { verdict } = why {
                    self.decide(*verdict, state);
                }
                if *how == Stop::Abort {
                    self.halt.get_or_insert(Halt::Now);
                }
            }
            Event::MatchEnd { why, .. } => self.end(why, state),
            Event::Move { .. }
            | Event::Test(_)
            | Event::Takes(_)
            | Event::Ratings(_)
            | Event::Champion { .. }
            | Event::RepeatedGame { .. }
            | Event::Parameters { .. }
            | Event::EngineFailure { .. } => {}
        }
        if self.out.stopped {
            self.halt.get_or_insert(Halt::Now);
        }
    }
}

/// Standard output and the log, and the stop of a match with `-strict`. Output stops when the stream
/// is closed.
struct Output<W> {
    out: W,
    closed: bool,
    logger: Option<Logger>,
    strict: bool,
    /// Stops the match; called once.
    stop: Option<Box<dyn FnMut() + Send>>,
    stopped: bool,
}

impl<W: Write> Output<W> {
    fn new(out: W) -> Self {
        Self { out, closed: false, logger: None, strict: false, stop: None, stopped: false }
    }

    /// Prints a text without logging it.
    fn print(&mut self, text: &str) {
        if self.closed {
            return;
        }
        let done = writeln!(self.out, "{text}").and_then(|()| self.out.flush());
        self.closed = done.is_err_and(|error| error.kind() != io::ErrorKind::Interrupted);
    }

    /// Prints and logs a text.
    fn info(&mut self, text: &str) {
        self.print(text);
        self.log(Level::Info, text);
    }

    /// Prints and logs a warning, which may contain texts of engines.
    fn warn(&mut self, text: &str) {
        self.print(&text::ascii(text));
        self.log_warning(text);
    }

    /// Logs a warning without printing it.
    fn log_warning(&mut self, text: &str) {
        self.log(Level::Warn, text);
        if self.strict {
            self.stop();
        }
    }

    /// Stops the match.
    fn stop(&mut self) {
        self.stopped = true;
        if let Some(mut act) = self.stop.take() {
            act();
        }
    }

    fn log(&self, level: Level, text: &str) {
        if let Some(logger) = &self.logger {
            logger.log(level, text);
        }
    }
}

impl<W: fmt::Debug> fmt::Debug for Output<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output").field("out", &self.out).finish_non_exhaustive()
    }
}

/// The CRC-32 of a growing file.
#[derive(Clone, Debug)]
struct Checksum {
    path: PathBuf,
    hasher: Hasher,
    read: u64,
}

impl Checksum {
    fn new(path: PathBuf) -> Self {
        Self { path, hasher: Hasher::new(), read: 0 }
    }

    /// Reads the appended part and returns the output line; none if the file cannot be read.
    fn line(&mut self) -> Option<String> {
        self.update().ok()?;
        let sum = self.hasher.clone().finalize();
        Some(format!("File {} has CRC32: {sum:#x}", self.path.display()))
    }

    fn update(&mut self) -> io::Result<()> {
        let mut file = File::open(&self.path)?;
        if file.metadata()?.len() < self.read {
            // The file was rewritten.
            (self.hasher, self.read) = (Hasher::new(), 0);
        }
        file.seek(SeekFrom::Start(self.read))?;
        let mut buffer = vec![0; 64 << 10];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(()),
                length => {
                    self.hasher.update(buffer.get(..length).unwrap_or_default());
                    self.read += length as u64;
                }
            }
        }
    }
}

/// Timeouts and crashes of the engines, in the order of the first ones.
#[derive(Clone, Debug, Default)]
struct Failures(Vec<Failed>);

#[derive(Clone, Debug)]
struct Failed {
    name: String,
    timeouts: u64,
    crashes: u64,
}

impl Failures {
    fn count(&mut self, loser: &str, termination: Termination) {
        let is_late = termination == Termination::TimeForfeit;
        if !is_late && !termination.is_engine_failure() {
            return;
        }
        let at = self.0.iter().position(|failed| failed.name == loser).unwrap_or_else(|| {
            self.0.push(Failed { name: loser.to_owned(), timeouts: 0, crashes: 0 });
            self.0.len() - 1
        });
        if let Some(failed) = self.0.get_mut(at) {
            failed.timeouts += u64::from(is_late);
            failed.crashes += u64::from(!is_late);
        }
    }

    /// The summary; none without failures. The last engine that failed is first, which is the usual
    /// order of the hash table of fastchess.
    fn text(&self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let mut text = String::new();
        for Failed { name, timeouts, crashes } in self.0.iter().rev() {
            // Writing into a string cannot fail.
            let _ = write!(text, "\nPlayer: {name}\n  Timeouts: {timeouts}\n  Crashed: {crashes}");
        }
        text.push('\n');
        Some(text)
    }
}

/// The settings of an engine: the reported ones if known, otherwise those of the plan.
fn setup<'a>(engine: &'a EnginePlan, info: Option<&'a EngineInfo>, time: &'a str) -> Setup<'a> {
    if let Some(EngineInfo { threads, hash, .. }) = info {
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

/// Removes the pentanomial column for the cutechess format.
fn without_pairs(table: &str) -> String {
    let lines = table.lines().map(|line| line.trim_end().trim_end_matches("Ptnml(0-2)").trim_end());
    lines.collect::<Vec<_>>().join("\n")
}

/// The limits of an engine: `40/60+0.5`, `0.1/move`, `12 plies` or `5000 nodes`.
fn limit_text(limits: &Limits) -> String {
    if let Some(control) = limits.tc {
        return clock(&control);
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

fn clock(control: &TimeControl) -> String {
    let base = TimeControl { increment: Duration::ZERO, ..*control }.to_string();
    if control.increment == Duration::ZERO {
        return base;
    }
    format!("{base}+{}", two_digits(control.increment.as_secs_f64()))
}

/// Formats a number like `%.2g` in C, as fastchess formats increments.
fn two_digits(number: f64) -> String {
    let scientific = format!("{number:.1e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    match usize::try_from(1 - exponent) {
        Ok(places) if exponent >= -4 => trim_zeros(&format!("{number:.places$}")).to_owned(),
        _ => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{}e{sign}{:02}", trim_zeros(digits), exponent.abs())
        }
    }
}

/// Removes trailing zeros of a decimal fraction.
fn trim_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn increments_have_two_digits() {
        for (control, expected) in [
            ("10+0.1", "10+0.1"),
            ("40/1:02.5+12.5", "40/62.5+12"),
            ("8+0.08", "8+0.08"),
            ("7.843+0.078", "7.843+0.078"),
            ("1+0.125", "1+0.12"),
            ("1+1.999", "1+2"),
            ("1+99.9", "1+1e+02"),
            ("0+0.001", "0+0.001"),
            ("60", "60"),
        ] {
            let limits = Limits { tc: control.parse().ok(), ..Limits::default() };
            assert_eq!(limit_text(&limits), expected);
        }
    }
}
