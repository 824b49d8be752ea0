//! Where a match stands, from what its listener heard.

use std::collections::{BTreeMap, VecDeque};

use readyok_arena::event::{End, Event, JointRatings, Score, TestState};
use readyok_arena::plan::{EngineId, Plan};
use readyok_arena::queue::{Stop, WorkerId};
use readyok_arena::result::EndSentence;
use readyok_arena::stats::{Counts, Figure, Figures, Trinomial};

use crate::terminal::printable;

/// How many of the last ends of games are kept.
const LAST_ENDS: usize = 5;

/// Where a match stands.
#[derive(Clone, Debug)]
pub struct Standing {
    plan: Plan,
    total: u64,
    complete: u64,
    running: BTreeMap<WorkerId, Running>,
    ends: VecDeque<String>,
    scores: BTreeMap<(EngineId, EngineId), Score>,
    test: Option<TestState>,
    ratings: Option<JointRatings>,
    champion: Option<EngineId>,
    failures: BTreeMap<EngineId, u64>,
    remark: Option<String>,
}

#[derive(Clone, Debug)]
struct Running {
    pair: u64,
    game: u32,
    first: EngineId,
    second: EngineId,
}

impl Standing {
    /// At the beginning of a match with so many pairings.
    pub fn new(plan: &Plan, total: u64) -> Self {
        Self {
            plan: plan.clone(),
            total,
            complete: 0,
            running: BTreeMap::new(),
            ends: VecDeque::new(),
            scores: BTreeMap::new(),
            test: None,
            ratings: None,
            champion: None,
            failures: BTreeMap::new(),
            remark: None,
        }
    }

    /// Takes note of what has happened, and gives a line for people if it deserves one.
    pub fn on_event(&mut self, event: &Event) -> Option<String> {
        match event {
            Event::MatchStart { resumed, .. } => {
                self.complete = *resumed;
                (*resumed > 0).then(|| format!("goes on after {resumed} pairings"))
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
                let over = EndSentence { game: game_played, winner, end, max_moves };
                let (first, second) = (self.name(*first), self.name(*second));
                let (score, why) = (over.score(), printable(&over.to_string()));
                let number = format!("{}.{}", pair + 1, game + 1);
                let line = format!("{number}  {first} – {second}  {score}  {why} ({plies} plies)");
                if self.ends.len() == LAST_ENDS {
                    self.ends.pop_front();
                }
                self.ends.push_back(line.clone());
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
            Event::Warning { text, engine, .. } => {
                let who = engine.map(|engine| format!("{}: ", self.name(engine)));
                let line = format!("warning: {}{}", who.unwrap_or_default(), printable(text));
                self.remark = Some(line.clone());
                Some(line)
            }
            Event::EngineFailure { engine, count, .. } => {
                self.failures.insert(*engine, *count);
                None
            }
            Event::Stopping { how, why } => {
                let line = format!("stopping: {}{}", self.end(why), self.awaited(*how));
                self.remark = Some(line.clone());
                Some(line)
            }
            Event::MatchEnd { why, complete, games } => {
                self.complete = *complete;
                self.running.clear();
                let end = self.end(why);
                Some(format!("{end}: {complete} pairings, {games} games"))
            }
            Event::Move { .. } => None,
        }
    }

    /// The table that is drawn on a terminal.
    pub fn rows(&self) -> Vec<String> {
        let mut rows = vec![self.title(), self.bar()];
        rows.extend(self.strength());
        rows.extend(self.running.iter().map(|(worker, running)| {
            let Running { pair, game, first, second } = running;
            let (first, second) = (self.name(*first), self.name(*second));
            format!("  [{}] {}.{}  {first} – {second}", printable(&worker.0), pair + 1, game + 1)
        }));
        rows.extend(self.ends.iter().map(|end| format!("  {end}")));
        rows.extend(
            self.failures
                .iter()
                .map(|(engine, count)| format!("{} has failed {count} times", self.name(*engine))),
        );
        rows.extend(self.remark.clone());
        rows
    }

    /// How strong the engines look, in lines of text.
    pub fn strength(&self) -> Vec<String> {
        let mut rows = match self.plan.engines.as_slice() {
            [_, _] => self.head_to_head(),
            _ => self.table(),
        };
        rows.extend(self.champion.map(|engine| format!("{} wins the knockout", self.name(engine))));
        rows
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
        let total = self.total.max(1);
        let done = self.complete.min(total);
        let filled = done * WIDTH / total;
        let bar: String = (0..WIDTH).map(|at| if at < filled { '█' } else { '░' }).collect();
        format!("{bar} {}/{} pairings", self.complete, self.total)
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
                "Elo {:.1}  normalized {:.1}  superior with {} %  draws {} %",
                figures.elo,
                figures.normalized_elo,
                percent(figures.los),
                percent(figures.draw_ratio)
            ),
        ];
        if let Counts::Pairs(pairs) = counts {
            rows.push(format!("pairs with 0, ½, 1, 1½, 2 points: {:?}", pairs.five()));
        }
        if let (Some(test), Some(plan)) = (self.test, &self.plan.sprt) {
            rows.push(format!(
                "test of {} against {} ({}): LLR {:.2} between {:.2} and {:.2}",
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
        let strength = |(engine, figures): &(EngineId, Figures)| match &self.ratings {
            Some(ratings) => ratings.rating(*engine).elo.unwrap_or(f64::NEG_INFINITY),
            None => figures.score.number().unwrap_or(-1.0),
        };
        engines.sort_by(|a, b| strength(b).total_cmp(&strength(a)));
        let next = engines.iter().skip(1).map(|(engine, _)| Some(*engine)).chain([None]);
        let mut rows: Vec<String> = (1..)
            .zip(engines.iter().zip(next))
            .map(|(rank, ((engine, figures), next))| {
                let Figures { games, half_points, .. } = figures;
                let (points, half) = (half_points / 2, 5 * (half_points % 2));
                let (name, score) = (self.name(*engine), percent(figures.score));
                let strength = self.rating(*engine, next);
                let strength = strength.unwrap_or_else(|| format!("Elo {:.1}", figures.elo));
                format!("{rank:>3}. {name}  {points}.{half}/{games}  {score} %  {strength}")
            })
            .collect();
        rows.extend(self.ratings.as_ref().map(|ratings| {
            let worth = ratings.first_move.estimate();
            format!("rated together, with the mean 0; the first move is worth {worth:.1}")
        }));
        rows
    }

    /// The rating of an engine, and how much it is above that of the next.
    fn rating(&self, engine: EngineId, next: Option<EngineId>) -> Option<String> {
        let ratings = self.ratings.as_ref()?;
        let own = ratings.rating(engine).estimate();
        let ahead = next.and_then(|next| ratings.difference(engine, next));
        Some(match ahead {
            Some(ahead) => format!("rating {own:.1}  {ahead:.1} above the next"),
            None => format!("rating {own:.1}"),
        })
    }

    /// What an engine scored against all others.
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
        let index = usize::try_from(engine.0).ok();
        let engine = index.and_then(|index| self.plan.engines.get(index));
        engine.map_or_else(|| "?".to_owned(), |engine| printable(&engine.name))
    }

    /// What a stop waits for, and how it waits no longer.
    fn awaited(&self, how: Stop) -> String {
        match (how, self.running.len()) {
            (_, 0) => String::new(),
            (Stop::Abort, _) => "; games that are on are broken off".to_owned(),
            (Stop::Finish, pairings) => {
                let pairings = match pairings {
                    1 => "a pairing that is on is".to_owned(),
                    more => format!("{more} pairings that are on are"),
                };
                format!("; {pairings} played to the end, and the next Ctrl-C breaks off")
            }
        }
    }

    fn end(&self, why: &End) -> String {
        match why {
            End::Complete => "everything was played".to_owned(),
            End::Test { verdict } => match verdict {
                readyok_arena::stats::Verdict::AcceptH0 => "the test accepts H0".to_owned(),
                readyok_arena::stats::Verdict::AcceptH1 => "the test accepts H1".to_owned(),
                readyok_arena::stats::Verdict::Continue => "the test goes on".to_owned(),
            },
            End::Interrupted => "interrupted".to_owned(),
            End::Failures { engine, count } => {
                format!("{} has failed {count} times", self.name(*engine))
            }
            End::Error { text } => printable(text),
        }
    }
}

fn percent(share: Figure) -> String {
    share.number().map_or_else(|| "–".to_owned(), |share| format!("{:.1}", share * 100.0))
}
