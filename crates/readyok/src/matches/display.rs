//! The display of a match: a live table on a terminal, or lines of text.

use std::io::Write;
use std::time::{Duration, Instant};

use readyok_arena::event::{End, Event};
use readyok_arena::listener::Listener;
use readyok_arena::match_state::{FinishedGame, MatchState, RunningGame, WarningCount};
use readyok_arena::plan::{EngineId, OpeningSource};
use readyok_arena::queue::Stop;
use readyok_arena::result::EndSentence;
use readyok_arena::stats::{Counts, Estimates, Figure, Verdict};
use readyok_arena::takes::{self, TakeStatus, Takes, TakesStatus};
use readyok_arena::tune::TuneStatus;

use super::count_of;
use crate::clock::now;
use crate::terminal::{Canvas, printable};

/// Maximum number of printed lines about repeated games.
const MAX_REPEATED_LINES: u64 = 5;

/// Maximum number of printed warnings of a kind about an engine.
const MAX_WARNINGS: u64 = 5;

/// The minimum interval between two frames of the live table.
const FRAME: Duration = Duration::from_millis(100);

/// The texts of a match for a terminal: a view of its state.
#[derive(Clone, Copy, Debug)]
pub struct MatchText<'a>(pub &'a MatchState);

impl MatchText<'_> {
    /// The lines of an important event, which is applied to the state already.
    pub fn line(self, event: &Event) -> Option<String> {
        match event {
            Event::MatchStart { resumed, .. } => {
                let resumed = Some(*resumed).filter(|resumed| *resumed > 0);
                let resumed =
                    resumed.map(|pairs| format!("resumed after {}", count_of(pairs, "game pair")));
                let lines: Vec<String> =
                    [resumed, self.seed(), self.openings_warning()].into_iter().flatten().collect();
                (!lines.is_empty()).then(|| lines.join("\n"))
            }
            Event::GameEnd { .. } => self.0.latest().back().map(|game| self.game(game)),
            Event::Warning { engine, context: Some(context), .. }
                if self.0.warnings_of(*engine, &context.kind) > MAX_WARNINGS =>
            {
                None
            }
            // The last line of the match has the number of all of them.
            Event::RepeatedGame { count, .. } if *count > MAX_REPEATED_LINES => None,
            Event::Warning { .. } | Event::RepeatedGame { .. } | Event::Stopping { .. } => {
                self.notice(event)
            }
            Event::MatchEnd { why, complete, games } => {
                let (end, pairs) = (self.end(why), count_of(*complete, "game pair"));
                let repeated = match self.0.repeated() {
                    0 => String::new(),
                    1 => ", 1 of which repeats an earlier one".to_owned(),
                    count => format!(", {count} of which repeat earlier ones"),
                };
                let mut lines = self.hidden_warnings();
                lines.push(format!("{end}: {pairs}, {}{repeated}", count_of(*games, "game")));
                Some(lines.join("\n"))
            }
            _ => None,
        }
    }

    /// The message of an event that the live table shows until the next one.
    fn notice(self, event: &Event) -> Option<String> {
        match event {
            Event::MatchStart { .. } => self.openings_warning(),
            Event::Warning { text, engine, .. } => Some(self.warning(*engine, text)),
            Event::RepeatedGame { pair, game, earlier, .. } => Some(format!(
                "warning: game {}.{} repeats a game of pair {} move by move",
                pair + 1,
                game + 1,
                earlier + 1
            )),
            Event::Stopping { how, why } => {
                Some(format!("stopping: {}{}", self.end(why), self.in_progress(*how)))
            }
            _ => None,
        }
    }

    /// The rows of the live table.
    pub fn rows(self, notice: Option<&str>) -> Vec<String> {
        let mut rows = vec![self.title(), self.bar()];
        rows.extend(self.seed());
        rows.extend(self.ratings());
        rows.extend(self.0.running().iter().map(|(worker, running)| {
            let RunningGame { pair, game, first, second } = running;
            let (first, second) = (self.name(*first), self.name(*second));
            format!("  [{}] {}.{}  {first} – {second}", printable(&worker.0), pair + 1, game + 1)
        }));
        rows.extend(self.0.latest().iter().map(|game| format!("  {}", self.game(game))));
        let failures = self.0.failures().iter().filter(|(_, failures)| failures.all > 0);
        rows.extend(failures.map(|(engine, failures)| self.failed(*engine, failures.all)));
        rows.extend(notice.map(str::to_owned));
        rows
    }

    fn game(self, played: &FinishedGame) -> String {
        let FinishedGame { pair, game, first, second, winner, end, plies } = played;
        let (winner, max_moves) = (*winner, self.0.plan().adjudication.max_moves);
        let sentence = EndSentence { game: self.0.plan().game, winner, end, max_moves };
        let (first, second) = (self.name(*first), self.name(*second));
        let (score, why) = (sentence.score(), printable(&sentence.to_string()));
        let plies = count_plies(*plies);
        format!("{}.{}  {first} – {second}  {score}  {why} ({plies})", pair + 1, game + 1)
    }

    fn warning(self, engine: Option<EngineId>, text: &str) -> String {
        let engine = engine.map(|engine| format!("{}: ", self.name(engine)));
        format!("warning: {}{}", engine.unwrap_or_default(), printable(text))
    }

    /// A line for each kind of warnings of which some were not printed.
    fn hidden_warnings(self) -> Vec<String> {
        let hidden = self.0.warnings().iter().filter(|counted| counted.count > MAX_WARNINGS);
        hidden
            .map(|WarningCount { engine, kind, count }| {
                let more = count_of(count - MAX_WARNINGS, "more warning");
                self.warning(*engine, &format!("{more} of this kind: {kind}"))
            })
            .collect()
    }

    /// Elo and scores of the engines, or the values of a tuning, as lines of text.
    pub fn ratings(self) -> Vec<String> {
        if let Some(tune) = self.0.tune() {
            return tuned(&tune.status());
        }
        let mut rows = match self.0.plan().engines.as_slice() {
            [_, _] if self.0.takes().is_none() => self.head_to_head(),
            _ => self.0.takes().map_or_else(|| self.table(), |takes| self.takes(takes)),
        };
        rows.extend(
            self.0.champion().map(|engine| format!("{} wins the knockout", self.name(engine))),
        );
        rows
    }

    /// The seed, if the match has random choices.
    fn seed(self) -> Option<String> {
        self.0.plan().is_random().then(|| format!("seed {}", self.0.plan().seed))
    }

    fn openings_warning(self) -> Option<String> {
        let is_repeated = self.0.total() > 1 && self.0.plan().engines.len() == 2;
        (self.0.plan().openings.source == OpeningSource::Start && is_repeated).then(|| {
            let missing = match self.0.plan().tune {
                Some(_) => "`openings` in the file",
                None => "--openings",
            };
            format!(
                "warning: without {missing} all games start from the same position and may be equal"
            )
        })
    }

    fn title(self) -> String {
        if !self.0.plan().event.is_empty() {
            return printable(&self.0.plan().event);
        }
        let names: Vec<String> = self.0.engines().map(|engine| self.name(engine)).collect();
        names.join(" – ")
    }

    fn bar(self) -> String {
        const WIDTH: u64 = 30;
        if self.0.plan().is_unlimited() {
            return count_of(self.0.pairs(), "game pair");
        }
        let total = self.0.total().max(1);
        let done = self.0.pairs().min(total);
        let filled = done * WIDTH / total;
        let bar: String = (0..WIDTH).map(|at| if at < filled { '█' } else { '░' }).collect();
        format!("{bar} {}/{} game pairs", self.0.pairs(), self.0.total())
    }

    fn head_to_head(self) -> Vec<String> {
        let Some(counts) = self.0.head_to_head() else { return Vec::new() };
        let games = self.0.against(EngineId(0), EngineId(1));
        let figures = Estimates::of(&counts);
        let name = self.name(EngineId(0));
        let mut rows = vec![
            format!(
                "{name}: +{} ={} -{}  ({} %)",
                games.wins(),
                games.draws(),
                games.losses(),
                percent(figures.score)
            ),
            format!(
                "Elo {:.1}  normalized {:.1}  LOS {} %  draws {} %",
                figures.elo,
                figures.normalized_elo,
                percent(figures.los),
                percent(Estimates::of(&Counts::Games(games)).draw_ratio)
            ),
        ];
        if let Counts::Pairs(pairs) = counts {
            let even = percent(figures.draw_ratio);
            rows.push(format!(
                "pentanomial (0, ½, 1, 1½, 2 points): {:?}  even pairs {even} %",
                pairs.five()
            ));
        }
        if let (Some(test), Some(plan)) = (self.0.test(), &self.0.plan().sprt) {
            rows.push(format!(
                "SPRT [{}, {}] ({}): LLR {:.2} ({:.2}, {:.2})",
                plan.elo0, plan.elo1, plan.model, test.llr, test.lower, test.upper
            ));
        }
        rows
    }

    /// The takes with their tests, the best one first.
    fn takes(self, takes: &Takes) -> Vec<String> {
        let TakesStatus { lower, upper, mut takes, .. } = takes.status();
        takes.sort_by(|a, b| b.llr.total_cmp(&a.llr));
        let mut rows: Vec<String> = takes
            .iter()
            .map(|take| {
                let elo = Estimates::of(&self.0.take_counts(take.engine)).elo;
                format!("{}  Elo {elo:.1}", take_text(&self.name(take.engine), take))
            })
            .collect();
        if let Some(plan) = &self.0.plan().sprt {
            let (base, count) = (self.name(takes::BASE), count_of(takes.len() as u64, "take"));
            rows.push(format!(
                "{count} against {base}, SPRT [{}, {}] ({}): accepted at {upper:.2}, dropped at {lower:.2}",
                plan.elo0, plan.elo1, plan.model
            ));
        }
        rows
    }

    fn table(self) -> Vec<String> {
        let figures = |engine| (engine, Estimates::of(&Counts::Games(self.0.games_of(engine))));
        let mut engines: Vec<(EngineId, Estimates)> = self.0.engines().map(figures).collect();
        let sort_key = |(engine, figures): &(EngineId, Estimates)| match self.0.ratings() {
            Some(ratings) => ratings.rating(*engine).elo.unwrap_or(f64::NEG_INFINITY),
            None => figures.score.number().unwrap_or(-1.0),
        };
        engines.sort_by(|a, b| sort_key(b).total_cmp(&sort_key(a)));
        let next = engines.iter().skip(1).map(|(engine, _)| Some(*engine)).chain([None]);
        let mut rows: Vec<String> = (1..)
            .zip(engines.iter().zip(next))
            .map(|(rank, ((engine, figures), next))| {
                let Estimates { games, half_points, .. } = figures;
                let (points, half) = (half_points / 2, 5 * (half_points % 2));
                let (name, score) = (self.name(*engine), percent(figures.score));
                let rating = self.rating(*engine, next);
                let rating = rating.unwrap_or_else(|| format!("Elo {:.1}", figures.elo));
                format!("{rank:>3}. {name}  {points}.{half}/{games}  {score} %  {rating}")
            })
            .collect();
        rows.extend(self.0.ratings().map(|ratings| {
            let advantage = ratings.first_move.estimate();
            format!("joint ratings with mean 0; first-move advantage {advantage:.1}")
        }));
        rows
    }

    /// The rating of an engine and the difference to the next one.
    fn rating(self, engine: EngineId, next: Option<EngineId>) -> Option<String> {
        let ratings = self.0.ratings()?;
        let own = ratings.rating(engine).estimate();
        let ahead = next.and_then(|next| ratings.difference(engine, next));
        Some(match ahead {
            Some(ahead) => format!("rating {own:.1}  {ahead:.1} above next"),
            None => format!("rating {own:.1}"),
        })
    }

    fn name(self, engine: EngineId) -> String {
        printable(self.0.name(engine))
    }

    /// The handling of the games in progress after a stop.
    fn in_progress(self, how: Stop) -> String {
        match (how, self.0.running().len()) {
            (_, 0) => String::new(),
            (Stop::Abort, _) => "; aborting the games in progress".to_owned(),
            (Stop::Finish, running) => {
                let pairs = count_of(running as u64, "game pair");
                format!("; finishing {pairs} in progress, press Ctrl-C again to abort")
            }
        }
    }

    fn end(self, why: &End) -> String {
        match why {
            End::Complete => "finished".to_owned(),
            End::Test { verdict } => match verdict {
                Verdict::AcceptH0 => "SPRT accepted H0".to_owned(),
                Verdict::AcceptH1 => "SPRT accepted H1".to_owned(),
                Verdict::Continue => "SPRT undecided".to_owned(),
            },
            End::Takes { accepted: Some(take) } => format!("take {} is accepted", self.name(*take)),
            End::Takes { accepted: None } => "all takes are dropped".to_owned(),
            End::Interrupted => "interrupted".to_owned(),
            End::Stopped => "stopped by a user of the queue".to_owned(),
            End::Failures { engine, count } => self.failed(*engine, *count),
            End::Error { text } => printable(text),
        }
    }

    fn failed(self, engine: EngineId, count: u64) -> String {
        format!("{} failed {}", self.name(engine), count_of(count, "time"))
    }
}

/// The pairs, the LLR and the verdict of a take.
pub fn take_text(name: &str, take: &TakeStatus) -> String {
    let verdict = match take.verdict {
        Verdict::Continue => "",
        Verdict::AcceptH0 => ", dropped",
        Verdict::AcceptH1 => ", accepted",
    };
    format!("{name}: {}  LLR {:.2}{verdict}", count_of(take.pairs, "game pair"), take.llr)
}

/// The values of a tuning.
fn tuned(status: &TuneStatus) -> Vec<String> {
    let values = status.parameters.iter().map(|tuned| {
        let (name, value, average) =
            (printable(&tuned.name), tuned.value_text(), tuned.average_text());
        format!("{name} {value}  average {average}  best value {}", tuned.interval())
    });
    values.chain([status.gain_text()]).collect()
}

fn count_plies(plies: u32) -> String {
    format!("{plies} {}", if plies == 1 { "ply" } else { "plies" })
}

fn percent(ratio: Figure) -> String {
    ratio.number().map_or_else(|| "–".to_owned(), |ratio| format!("{:.1}", ratio * 100.0))
}

/// A table on a terminal that is redrawn in place.
#[derive(Debug)]
pub struct LiveTable<W> {
    canvas: Canvas<W>,
    /// The latest message.
    notice: Option<String>,
    drawn: Option<Instant>,
    closed: bool,
}

impl<W: Write> LiveTable<W> {
    /// A table of a match. `size` returns the columns and rows of the terminal.
    pub fn new(out: W, size: fn() -> (usize, usize)) -> Self {
        Self { canvas: Canvas::new(out, size), notice: None, drawn: None, closed: false }
    }
}

impl<W: Write + Send> Listener for LiveTable<W> {
    fn on_event(&mut self, event: &Event, state: &MatchState) {
        if self.closed {
            return;
        }
        let text = MatchText(state);
        self.notice = text.notice(event).or_else(|| self.notice.take());
        let last = matches!(event, Event::MatchEnd { .. });
        let now = now();
        if !last && self.drawn.is_some_and(|drawn| now < drawn + FRAME) {
            return;
        }
        self.drawn = Some(now);
        let mut done = self.canvas.draw(text.rows(self.notice.as_deref()));
        if let (true, Some(line)) = (last, text.line(event)) {
            done = done.and_then(|()| self.canvas.finish(&line));
        }
        self.closed = done.is_err();
    }
}

/// One line per game, and ratings at intervals.
#[derive(Debug)]
pub struct Lines<W> {
    out: W,
    /// Number of game pairs between two ratings.
    interval: u64,
    /// Ratings are printed before the next line, unless it is the last one of the match.
    due: bool,
    closed: bool,
}

impl<W: Write> Lines<W> {
    /// Lines of a match, with ratings after every `interval` game pairs.
    pub fn new(out: W, interval: u64) -> Self {
        Self { out, interval: interval.max(1), due: false, closed: false }
    }

    fn print_ratings(&mut self, text: MatchText<'_>) {
        for row in text.ratings() {
            self.print(&row);
        }
    }

    fn print(&mut self, line: &str) {
        self.closed |= writeln!(self.out, "{line}").and_then(|()| self.out.flush()).is_err();
    }
}

impl<W: Write + Send> Listener for Lines<W> {
    fn on_event(&mut self, event: &Event, state: &MatchState) {
        if self.closed {
            return;
        }
        let text = MatchText(state);
        let is_news = matches!(event, Event::GameStart { .. } | Event::GameEnd { .. });
        if is_news && std::mem::take(&mut self.due) {
            self.print_ratings(text);
        }
        match event {
            Event::Score(score) => {
                let games = score.wins + score.draws + score.losses;
                let pairs: u64 = score.pairs.iter().sum();
                let played = if pairs > 0 { pairs } else { games };
                self.due = played.is_multiple_of(self.interval);
            }
            Event::MatchEnd { .. } => self.print_ratings(text),
            _ => {}
        }
        if let Some(line) = text.line(event) {
            self.print(&line);
        }
    }
}
