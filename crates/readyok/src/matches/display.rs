//! The display of a match: a live table on a terminal, or lines of text.

use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::time::{Duration, Instant};

use readyok_arena::event::{End, Event, JointRatings, Listener, Score, TestState};
use readyok_arena::match_state::MatchState;
use readyok_arena::plan::{EngineId, OpeningSource, Plan};
use readyok_arena::queue::{Stop, WorkerId};
use readyok_arena::result::{EndSentence, WarningKind};
use readyok_arena::stats::{Counts, Figure, Figures, Trinomial, Verdict};

use super::count_of;
use crate::clock::now;
use crate::terminal::{Canvas, printable};

/// Maximum number of printed lines about repeated games.
const MAX_REPEATED_LINES: u64 = 5;

/// Maximum number of printed warnings of a kind about an engine.
const MAX_WARNINGS: u64 = 5;

/// Number of recent game results in the live table.
const RECENT_GAMES: usize = 5;

/// The minimum interval between two frames of the live table.
const FRAME: Duration = Duration::from_millis(100);

/// The state of a match as its events report it.
#[derive(Clone, Debug)]
pub struct Scoreboard {
    plan: Plan,
    total: u64,
    complete: u64,
    running: BTreeMap<WorkerId, Running>,
    recent: VecDeque<String>,
    scores: BTreeMap<(EngineId, EngineId), Score>,
    test: Option<TestState>,
    ratings: Option<JointRatings>,
    champion: Option<EngineId>,
    failures: BTreeMap<EngineId, u64>,
    /// The number of games that repeat earlier ones.
    repeated: u64,
    warnings: Vec<WarningCount>,
    notice: Option<String>,
}

/// The number of warnings of a kind about an engine.
#[derive(Clone, Debug)]
struct WarningCount {
    engine: Option<EngineId>,
    /// The first one.
    kind: WarningKind,
    count: u64,
}

#[derive(Clone, Debug)]
struct Running {
    pair: u64,
    game: u32,
    first: EngineId,
    second: EngineId,
}

impl Scoreboard {
    /// The state at the start of a match with `total` game pairs.
    pub fn new(plan: &Plan, total: u64) -> Self {
        Self {
            plan: plan.clone(),
            total,
            complete: 0,
            running: BTreeMap::new(),
            recent: VecDeque::new(),
            scores: BTreeMap::new(),
            test: None,
            ratings: None,
            champion: None,
            failures: BTreeMap::new(),
            repeated: 0,
            warnings: Vec::new(),
            notice: None,
        }
    }

    /// Applies an event. Returns a line of text for the important ones.
    pub fn update(&mut self, event: &Event) -> Option<String> {
        match event {
            Event::MatchStart { resumed, .. } => {
                self.complete = *resumed;
                let resumed = Some(*resumed).filter(|resumed| *resumed > 0);
                let resumed =
                    resumed.map(|pairs| format!("resumed after {}", count_of(pairs, "game pair")));
                self.notice = self.openings_warning();
                let lines: Vec<String> =
                    [resumed, self.seed(), self.openings_warning()].into_iter().flatten().collect();
                (!lines.is_empty()).then(|| lines.join("\n"))
            }
            Event::GameStart { pair, game, first, second, worker, .. } => {
                let (pair, game) = (*pair, *game);
                let running = Running { pair, game, first: *first, second: *second };
                self.running.insert(worker.clone(), running);
                None
            }
            Event::GameEnd { pair, game, first, second, winner, end, plies, .. } => {
                self.running.retain(|_, running| (running.pair, running.game) != (*pair, *game));
                let (game_played, winner) = (self.plan.game, *winner);
                let max_moves = self.plan.adjudication.max_moves;
                let sentence = EndSentence { game: game_played, winner, end, max_moves };
                let (first, second) = (self.name(*first), self.name(*second));
                let (score, why) = (sentence.score(), printable(&sentence.to_string()));
                let number = format!("{}.{}", pair + 1, game + 1);
                let plies = count_plies(*plies);
                let line = format!("{number}  {first} – {second}  {score}  {why} ({plies})");
                if self.recent.len() == RECENT_GAMES {
                    self.recent.pop_front();
                }
                self.recent.push_back(line.clone());
                Some(line)
            }
            Event::PairEnd { complete, .. } => {
                self.complete = *complete;
                None
            }
            Event::Score(score) => {
                self.scores.insert((score.engine, score.opponent), *score);
                None
            }
            Event::Test(state) => {
                self.test = Some(*state);
                None
            }
            Event::Ratings(ratings) => {
                self.ratings = Some(ratings.clone());
                None
            }
            Event::Champion { engine } => {
                self.champion = Some(*engine);
                None
            }
            Event::Warning { text, engine, context, .. } => {
                let line = self.warning(*engine, text);
                self.notice = Some(line.clone());
                let count =
                    context.as_ref().map_or(1, |context| self.count(*engine, &context.kind));
                (count <= MAX_WARNINGS).then_some(line)
            }
            Event::RepeatedGame { pair, game, earlier, count } => {
                self.repeated = *count;
                let line = format!(
                    "warning: game {}.{} repeats a game of pair {} move by move",
                    pair + 1,
                    game + 1,
                    earlier + 1
                );
                self.notice = Some(line.clone());
                // The last line of the match has the number of all of them.
                (*count <= MAX_REPEATED_LINES).then_some(line)
            }
            Event::EngineFailure { engine, count, .. } => {
                self.failures.insert(*engine, *count);
                None
            }
            Event::Stopping { how, why } => {
                let line = format!("stopping: {}{}", self.end(why), self.in_progress(*how));
                self.notice = Some(line.clone());
                Some(line)
            }
            Event::MatchEnd { why, complete, games } => {
                self.complete = *complete;
                self.running.clear();
                let (end, pairs) = (self.end(why), count_of(*complete, "game pair"));
                let repeated = match self.repeated {
                    0 => String::new(),
                    1 => ", 1 of which repeats an earlier one".to_owned(),
                    count => format!(", {count} of which repeat earlier ones"),
                };
                let mut lines = self.hidden_warnings();
                lines.push(format!("{end}: {pairs}, {}{repeated}", count_of(*games, "game")));
                Some(lines.join("\n"))
            }
            Event::Move { .. } | Event::Parameters { .. } => None,
        }
    }

    /// The rows of the live table.
    pub fn rows(&self) -> Vec<String> {
        let mut rows = vec![self.title(), self.bar()];
        rows.extend(self.seed());
        rows.extend(self.ratings());
        rows.extend(self.running.iter().map(|(worker, running)| {
            let Running { pair, game, first, second } = running;
            let (first, second) = (self.name(*first), self.name(*second));
            format!("  [{}] {}.{}  {first} – {second}", printable(&worker.0), pair + 1, game + 1)
        }));
        rows.extend(self.recent.iter().map(|line| format!("  {line}")));
        rows.extend(self.failures.iter().map(|(engine, count)| self.failed(*engine, *count)));
        rows.extend(self.notice.clone());
        rows
    }

    fn warning(&self, engine: Option<EngineId>, text: &str) -> String {
        let engine = engine.map(|engine| format!("{}: ", self.name(engine)));
        format!("warning: {}{}", engine.unwrap_or_default(), printable(text))
    }

    /// Counts a warning. Returns the number of those of its kind about the engine.
    fn count(&mut self, engine: Option<EngineId>, kind: &WarningKind) -> u64 {
        let same = |counted: &&mut WarningCount| {
            counted.engine == engine && counted.kind.is_same_kind(kind)
        };
        if let Some(counted) = self.warnings.iter_mut().find(same) {
            counted.count += 1;
            counted.count
        } else {
            self.warnings.push(WarningCount { engine, kind: kind.clone(), count: 1 });
            1
        }
    }

    /// A line for each kind of warnings of which some were not printed.
    fn hidden_warnings(&self) -> Vec<String> {
        let hidden = self.warnings.iter().filter(|counted| counted.count > MAX_WARNINGS);
        hidden
            .map(|WarningCount { engine, kind, count }| {
                let more = count_of(count - MAX_WARNINGS, "more warning");
                self.warning(*engine, &format!("{more} of this kind: {kind}"))
            })
            .collect()
    }

    /// Elo and scores of the engines as lines of text.
    pub fn ratings(&self) -> Vec<String> {
        if self.plan.tune.is_some() {
            return Vec::new();
        }
        let mut rows = match self.plan.engines.as_slice() {
            [_, _] => self.head_to_head(),
            _ => self.table(),
        };
        rows.extend(self.champion.map(|engine| format!("{} wins the knockout", self.name(engine))));
        rows
    }

    /// The seed, if the match has random choices.
    fn seed(&self) -> Option<String> {
        self.plan.is_random().then(|| format!("seed {}", self.plan.seed))
    }

    fn openings_warning(&self) -> Option<String> {
        let is_repeated = self.total > 1 && self.plan.engines.len() == 2;
        (self.plan.openings.source == OpeningSource::Start && is_repeated).then(|| {
            let missing = match self.plan.tune {
                Some(_) => "`openings` in the file",
                None => "--openings",
            };
            format!(
                "warning: without {missing} all games start from the same position and may be equal"
            )
        })
    }

    fn title(&self) -> String {
        if !self.plan.event.is_empty() {
            return printable(&self.plan.event);
        }
        let names: Vec<String> =
            self.plan.engines.iter().map(|engine| printable(&engine.name)).collect();
        names.join(" – ")
    }

    fn bar(&self) -> String {
        const WIDTH: u64 = 30;
        if self.plan.is_unlimited() {
            return count_of(self.complete, "game pair");
        }
        let total = self.total.max(1);
        let done = self.complete.min(total);
        let filled = done * WIDTH / total;
        let bar: String = (0..WIDTH).map(|at| if at < filled { '█' } else { '░' }).collect();
        format!("{bar} {}/{} game pairs", self.complete, self.total)
    }

    fn head_to_head(&self) -> Vec<String> {
        let Some(score) = self.scores.get(&(EngineId(0), EngineId(1))) else { return Vec::new() };
        let counts = score.counts(self.plan.games).unwrap_or_else(|| Counts::Games(score.games()));
        let figures = Figures::of(&counts);
        let name = self.name(EngineId(0));
        let mut rows = vec![
            format!(
                "{name}: +{} ={} -{}  ({} %)",
                score.wins,
                score.draws,
                score.losses,
                percent(figures.score)
            ),
            format!(
                "Elo {:.1}  normalized {:.1}  LOS {} %  draws {} %",
                figures.elo,
                figures.normalized_elo,
                percent(figures.los),
                percent(Figures::of(&Counts::Games(score.games())).draw_ratio)
            ),
        ];
        if let Counts::Pairs(pairs) = counts {
            let even = percent(figures.draw_ratio);
            rows.push(format!(
                "pentanomial (0, ½, 1, 1½, 2 points): {:?}  even pairs {even} %",
                pairs.five()
            ));
        }
        if let (Some(test), Some(plan)) = (self.test, &self.plan.sprt) {
            rows.push(format!(
                "SPRT [{}, {}] ({}): LLR {:.2} ({:.2}, {:.2})",
                plan.elo0, plan.elo1, plan.model, test.llr, test.lower, test.upper
            ));
        }
        rows
    }

    fn table(&self) -> Vec<String> {
        let mut engines: Vec<(EngineId, Figures)> = (0_u32..)
            .zip(&self.plan.engines)
            .map(|(id, _)| (EngineId(id), Figures::of(&self.total_of(EngineId(id)))))
            .collect();
        let sort_key = |(engine, figures): &(EngineId, Figures)| match &self.ratings {
            Some(ratings) => ratings.rating(*engine).elo.unwrap_or(f64::NEG_INFINITY),
            None => figures.score.number().unwrap_or(-1.0),
        };
        engines.sort_by(|a, b| sort_key(b).total_cmp(&sort_key(a)));
        let next = engines.iter().skip(1).map(|(engine, _)| Some(*engine)).chain([None]);
        let mut rows: Vec<String> = (1..)
            .zip(engines.iter().zip(next))
            .map(|(rank, ((engine, figures), next))| {
                let Figures { games, half_points, .. } = figures;
                let (points, half) = (half_points / 2, 5 * (half_points % 2));
                let (name, score) = (self.name(*engine), percent(figures.score));
                let rating = self.rating(*engine, next);
                let rating = rating.unwrap_or_else(|| format!("Elo {:.1}", figures.elo));
                format!("{rank:>3}. {name}  {points}.{half}/{games}  {score} %  {rating}")
            })
            .collect();
        rows.extend(self.ratings.as_ref().map(|ratings| {
            let advantage = ratings.first_move.estimate();
            format!("joint ratings with mean 0; first-move advantage {advantage:.1}")
        }));
        rows
    }

    /// The rating of an engine and the difference to the next one.
    fn rating(&self, engine: EngineId, next: Option<EngineId>) -> Option<String> {
        let ratings = self.ratings.as_ref()?;
        let own = ratings.rating(engine).estimate();
        let ahead = next.and_then(|next| ratings.difference(engine, next));
        Some(match ahead {
            Some(ahead) => format!("rating {own:.1}  {ahead:.1} above next"),
            None => format!("rating {own:.1}"),
        })
    }

    /// The score of an engine against all others.
    fn total_of(&self, engine: EngineId) -> Counts {
        let mut sum = Trinomial::default();
        for score in self.scores.values() {
            let games = score.games();
            let games = match engine {
                engine if engine == score.engine => games,
                engine if engine == score.opponent => games.reversed(),
                _ => continue,
            };
            sum = sum.plus(games).unwrap_or(sum);
        }
        Counts::Games(sum)
    }

    fn name(&self, engine: EngineId) -> String {
        printable(self.plan.engine_name(engine))
    }

    /// The handling of the games in progress after a stop.
    fn in_progress(&self, how: Stop) -> String {
        match (how, self.running.len()) {
            (_, 0) => String::new(),
            (Stop::Abort, _) => "; aborting the games in progress".to_owned(),
            (Stop::Finish, running) => {
                let pairs = count_of(running as u64, "game pair");
                format!("; finishing {pairs} in progress, press Ctrl-C again to abort")
            }
        }
    }

    fn end(&self, why: &End) -> String {
        match why {
            End::Complete => "finished".to_owned(),
            End::Test { verdict } => match verdict {
                Verdict::AcceptH0 => "SPRT accepted H0".to_owned(),
                Verdict::AcceptH1 => "SPRT accepted H1".to_owned(),
                Verdict::Continue => "SPRT undecided".to_owned(),
            },
            End::Interrupted => "interrupted".to_owned(),
            End::Stopped => "stopped by a user of the queue".to_owned(),
            End::Failures { engine, count } => self.failed(*engine, *count),
            End::Error { text } => printable(text),
        }
    }

    fn failed(&self, engine: EngineId, count: u64) -> String {
        format!("{} failed {}", self.name(engine), count_of(count, "time"))
    }
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
    scoreboard: Scoreboard,
    drawn: Option<Instant>,
    closed: bool,
}

impl<W: Write> LiveTable<W> {
    /// A table of a match with `total` game pairs. `size` returns the columns and rows of the terminal.
    pub fn new(out: W, size: fn() -> (usize, usize), plan: &Plan, total: u64) -> Self {
        let scoreboard = Scoreboard::new(plan, total);
        Self { canvas: Canvas::new(out, size), scoreboard, drawn: None, closed: false }
    }
}

impl<W: Write + Send> Listener for LiveTable<W> {
    fn on_event(&mut self, event: &Event, _: &MatchState) {
        let line = self.scoreboard.update(event);
        if self.closed {
            return;
        }
        let last = matches!(event, Event::MatchEnd { .. });
        let now = now();
        if !last && self.drawn.is_some_and(|drawn| now < drawn + FRAME) {
            return;
        }
        self.drawn = Some(now);
        let mut done = self.canvas.draw(self.scoreboard.rows());
        if let (true, Some(line)) = (last, line) {
            done = done.and_then(|()| self.canvas.finish(&line));
        }
        self.closed = done.is_err();
    }
}

/// One line per game, and ratings at intervals.
#[derive(Debug)]
pub struct Lines<W> {
    out: W,
    scoreboard: Scoreboard,
    /// Number of game pairs between two ratings.
    interval: u64,
    /// Ratings are printed before the next line, unless it is the last one of the match.
    due: bool,
    closed: bool,
}

impl<W: Write> Lines<W> {
    /// Lines of a match with `total` game pairs, with ratings after every `interval` of them.
    pub fn new(out: W, plan: &Plan, total: u64, interval: u64) -> Self {
        let scoreboard = Scoreboard::new(plan, total);
        Self { out, scoreboard, interval: interval.max(1), due: false, closed: false }
    }

    fn print_ratings(&mut self) {
        for row in self.scoreboard.ratings() {
            self.print(&row);
        }
    }

    fn print(&mut self, line: &str) {
        self.closed |= writeln!(self.out, "{line}").and_then(|()| self.out.flush()).is_err();
    }
}

impl<W: Write + Send> Listener for Lines<W> {
    fn on_event(&mut self, event: &Event, _: &MatchState) {
        if self.closed {
            return;
        }
        // Before the update by this event.
        let is_news = matches!(event, Event::GameStart { .. } | Event::GameEnd { .. });
        if is_news && std::mem::take(&mut self.due) {
            self.print_ratings();
        }
        let line = self.scoreboard.update(event);
        match event {
            Event::Score(score) => {
                let games = score.wins + score.draws + score.losses;
                let pairs: u64 = score.pairs.iter().sum();
                let played = if pairs > 0 { pairs } else { games };
                self.due = played.is_multiple_of(self.interval);
            }
            Event::MatchEnd { .. } => self.print_ratings(),
            _ => {}
        }
        if let Some(line) = line {
            self.print(&line);
        }
    }
}
