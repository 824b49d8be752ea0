//! Searches positions with the processes of an engine.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use readyok_client::{
    Engine, EngineError, Game as EngineGame, Guard, Problem, Search, SearchResult, Stopper,
};
use readyok_protocol::{Dialect, Go, MateLimit, Score};
use readyok_rules::{Move, MoveCodec, Position};
use serde::{Deserialize, Serialize};

use super::input::Item;
use super::suite::{Answer, Expectation, Judgement, Verdict, is_proven_mate};
use crate::address::Address;

/// An engine of a batch.
#[derive(Clone, Debug)]
pub(crate) struct BatchEngine {
    /// The name in the output.
    pub(crate) name: String,
    pub(crate) address: Address,
}

/// The search of each position.
#[derive(Clone, Debug)]
pub(crate) struct SearchSettings {
    pub(crate) go: Go<'static>,
    /// A mate search: in moves (UCI) or milliseconds (USI).
    pub(crate) mate: Option<u32>,
    pub(crate) multipv: Option<u32>,
    /// Options, or buttons without a value.
    pub(crate) options: Vec<String>,
    /// The engine keeps its hash tables between positions.
    pub(crate) keep_hash: bool,
}

impl SearchSettings {
    /// The mate limit of a protocol.
    pub(crate) fn mate_limit(dialect: Dialect, limit: u32) -> MateLimit {
        if dialect.mate_search_is_timed() {
            MateLimit::Time(Duration::from_millis(limit.into()))
        } else {
            MateLimit::Moves(limit)
        }
    }

    fn search(&self, dialect: Dialect) -> Search {
        let mate = self.mate.map(|limit| Self::mate_limit(dialect, limit));
        let search = Search::from(Go { mate, ..self.go.clone() });
        match self.multipv {
            Some(lines) => search.lines(lines),
            None => search,
        }
    }
}

/// The result of an engine for a position.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The name that the engine states.
    pub(super) engine_name: Option<String>,
    /// The result, or why the engine failed.
    pub(super) analysed: Result<Analysed, String>,
    pub(super) judgement: Judgement,
    /// When the engine found the answer that it kept, if that is right.
    pub(super) solution: Option<Solution>,
}

#[derive(Debug)]
pub(super) enum Analysed {
    Searched {
        result: Box<SearchResult>,
        mv: Option<Move>,
    },
    /// The game is over, and the engine was not asked.
    Over(Score),
}

/// The first information with the right answer that was not given up afterwards.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(super) struct Solution {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) depth: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) nodes: Option<u64>,
    pub(super) time_ms: u64,
}

impl Outcome {
    pub(super) fn score(&self) -> Option<Score> {
        match &self.analysed {
            Ok(Analysed::Searched { result, .. }) => result.info.score,
            Ok(Analysed::Over(score)) => Some(*score),
            Err(_) => None,
        }
    }

    /// The best move, if it is legal.
    pub(super) fn mv(&self) -> Option<Move> {
        match &self.analysed {
            Ok(Analysed::Searched { mv, .. }) => *mv,
            Ok(Analysed::Over(_)) | Err(_) => None,
        }
    }
}

/// Why the run cannot continue.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fatal {
    #[error("engine `{name}`: {error}")]
    Start { name: String, error: EngineError },
    #[error("engine `{name}` is listed with another protocol than the game of the positions needs")]
    Dialect { name: String },
}

impl Fatal {
    /// Whether the arguments of the user are the reason.
    pub(super) fn is_usage(&self) -> bool {
        match self {
            Self::Start { error, .. } => matches!(error.problem(), Problem::Usage(_)),
            Self::Dialect { .. } => true,
        }
    }
}

/// What ends all searches of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct SearchStop {
    /// The stoppers of the processes by the number of their thread.
    stoppers: Arc<Mutex<BTreeMap<usize, Stopper>>>,
    is_stopped: Arc<AtomicBool>,
}

impl SearchStop {
    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Acquire)
    }

    /// Stops all searches. Returns whether they were stopped before.
    pub(super) fn stop(&self) -> bool {
        let was_stopped = self.is_stopped.swap(true, Ordering::AcqRel);
        for stopper in self.stoppers.lock().unwrap_or_else(PoisonError::into_inner).values() {
            stopper.stop();
        }
        was_stopped
    }
}

/// A thread with a process of an engine.
pub(super) struct Searcher<'a> {
    settings: &'a SearchSettings,
    stop: &'a SearchStop,
    engine: &'a BatchEngine,
    guard: &'a Guard,
    /// The number of the thread.
    thread: usize,
    process: Option<Engine>,
    /// The game of all positions, if the engine keeps its hash tables.
    game: Option<EngineGame>,
}

impl<'a> Searcher<'a> {
    pub(super) fn new(
        (settings, stop): (&'a SearchSettings, &'a SearchStop),
        engine: &'a BatchEngine,
        guard: &'a Guard,
        thread: usize,
    ) -> Self {
        Self { settings, stop, engine, guard, thread, process: None, game: None }
    }

    /// Searches a position. `None` if the run was stopped.
    pub(super) fn analyse(&mut self, item: &Item) -> Result<Option<Outcome>, Fatal> {
        let expectation = expectation(item, self.settings);
        if let Some(score) = item.final_score() {
            let answer = Answer { score: Some(score), ..Answer::default() };
            return Ok(Some(Outcome {
                engine_name: None,
                analysed: Ok(Analysed::Over(score)),
                judgement: expectation.judge(answer),
                solution: None,
            }));
        }
        // An engine that failed is started again once.
        let mut searched = self.search(item, &expectation)?;
        if searched.is_err() && !self.stop.is_stopped() {
            self.process = None;
            self.game = None;
            searched = self.search(item, &expectation)?;
        }
        if self.stop.is_stopped() {
            // The search may have been stopped early.
            return Ok(None);
        }
        let engine_name = self.process.as_ref().map(|engine| engine.identity().name.clone());
        Ok(Some(match searched {
            Ok((result, solution)) => outcome(item, engine_name, result, &expectation, solution),
            Err(error) => {
                self.process = None;
                self.game = None;
                Outcome {
                    engine_name,
                    analysed: Err(error.to_string()),
                    judgement: expectation.judge(Answer::default()),
                    solution: None,
                }
            }
        }))
    }

    fn search(
        &mut self,
        item: &Item,
        expectation: &Expectation,
    ) -> Result<Result<(SearchResult, Option<Solution>), SearchError>, Fatal> {
        let codec = MoveCodec::usual(item.position.game());
        let Some(encoded) = codec.encode_position(&item.root, &item.moves) else {
            return Ok(Err(SearchError::Unsupported));
        };
        let known = self.game.as_ref().filter(|_| self.settings.keep_hash);
        let game = match known {
            Some(game) => game.at(encoded),
            None => EngineGame::new(encoded, codec.new_game()),
        };
        let stop = self.stop;
        let search = self.settings.search(codec.dialect());
        let engine = self.process(codec.dialect())?;
        let mut found = Found::default();
        let searched = engine.analyse(&game, search).and_then(|handle| {
            if stop.is_stopped() {
                handle.stop();
            }
            handle.wait_with(|update| {
                let info = &update.info;
                let first = info.pv.as_ref().and_then(|pv| pv.tokens().next());
                if let Some(first) = first
                    && info.multipv.is_none_or(|number| number == 1)
                {
                    let mv = item.position.parse_move(first).ok();
                    let answer = Answer { mv, score: info.score, is_mate: false };
                    found.add(expectation.is_met(answer) == Some(true), || Solution {
                        depth: info.depth,
                        nodes: info.nodes,
                        time_ms: info.time_ms().unwrap_or_default(),
                    });
                }
            })
        });
        self.game = Some(game);
        Ok(searched.map(|result| (result, found.0)).map_err(SearchError::from))
    }

    /// The process for a protocol.
    fn process(&mut self, dialect: Dialect) -> Result<&mut Engine, Fatal> {
        let name = || self.engine.name.clone();
        if self.engine.address.dialect.is_some_and(|known| known != dialect) {
            return Err(Fatal::Dialect { name: name() });
        }
        if self.process.as_ref().is_some_and(|known| known.dialect() != dialect) {
            self.process = None;
            self.game = None;
        }
        let process = if let Some(process) = self.process.take() {
            process
        } else {
            let started = self.start(dialect).or_else(|error| match error.problem() {
                Problem::Usage(_) => Err(error),
                _ => self.start(dialect),
            });
            started.map_err(|error| Fatal::Start { name: name(), error })?
        };
        Ok(self.process.insert(process))
    }

    fn start(&self, dialect: Dialect) -> Result<Engine, EngineError> {
        let mut engine = self.engine.address.open(Some(dialect), self.guard)?;
        for option in &self.settings.options {
            match option.split_once('=') {
                Some((name, value)) => engine.set_option(name.trim(), value),
                None => engine.push_button(option),
            }?;
        }
        let mut stoppers = self.stop.stoppers.lock().unwrap_or_else(PoisonError::into_inner);
        stoppers.insert(self.thread, engine.stopper());
        Ok(engine)
    }
}

#[derive(Debug, thiserror::Error)]
enum SearchError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("the protocol cannot express the position")]
    Unsupported,
}

/// The time of the right answer so far.
#[derive(Default)]
struct Found(Option<Solution>);

impl Found {
    fn add(&mut self, is_right: bool, solution: impl FnOnce() -> Solution) {
        match (is_right, &self.0) {
            (true, None) => self.0 = Some(solution()),
            (true, Some(_)) => {}
            (false, _) => self.0 = None,
        }
    }
}

fn outcome(
    item: &Item,
    engine_name: Option<String>,
    result: SearchResult,
    expectation: &Expectation,
    found: Option<Solution>,
) -> Outcome {
    let mv = result.best_move();
    let mv = mv.and_then(|mv| item.position.parse_move(mv.as_str()).ok());
    let is_mate = is_proven_mate(&item.position, &result);
    let judgement = expectation.judge(Answer { mv, score: result.info.score, is_mate });
    let solution = (judgement.verdict == Some(Verdict::Solved)).then(|| {
        // Engines need not report the move before they answer.
        found.unwrap_or_else(|| Solution {
            depth: result.info.depth,
            nodes: result.info.nodes,
            time_ms: u64::try_from(result.time().as_millis()).unwrap_or(u64::MAX),
        })
    });
    let analysed = Ok(Analysed::Searched { result: Box::new(result), mv });
    Outcome { engine_name, analysed, judgement, solution }
}

/// The expectation of a position.
pub(super) fn expectation(item: &Item, search: &SearchSettings) -> Expectation {
    let position: &Position = &item.position;
    Expectation::of(position, &item.operations, search.mate.is_some())
}
