//! A report of a match as one HTML file that needs nothing else.
//!
//! [`Report`] is fed with results in the order of their pairings and keeps sums only, so that a
//! match of any length fits; [`Report::html`] gives the page. Charts are SVG
//! elements; the page has no script and loads nothing.

mod charts;
mod curve;
mod engines;
mod failures;
mod moves;
mod page;
mod workers;

use readyok_rules::{Side, Termination};

use crate::pairing::PairResult;
use crate::plan::{EngineId, Plan};
use crate::result::MatchGame;
use crate::stats::{Crosstable, MAX_PLAYERS, Ratings, Sprt};

use curve::Curve;
use engines::EngineSums;
use failures::Failures;
use moves::{Lengths, Slowest};
use workers::Workers;

/// What a match has come to so far.
#[derive(Clone, Debug)]
pub struct Report {
    plan: Plan,
    sprt: Option<Sprt>,
    games: u64,
    crosstable: Crosstable,
    curve: Curve,
    engines: Vec<EngineSums>,
    lengths: Lengths,
    slowest: Slowest,
    failures: Failures,
    workers: Workers,
}

impl Report {
    /// An empty report of a match.
    pub fn new(plan: &Plan) -> Self {
        let engines = vec![EngineSums::default(); plan.engines.len()];
        Self {
            sprt: plan.sprt.and_then(|sprt| sprt.test().ok()),
            games: 0,
            // A plan with more engines has no schedule, and so no results.
            crosstable: Crosstable::new(plan.engines.len().min(MAX_PLAYERS)).unwrap_or_default(),
            curve: Curve::default(),
            engines,
            lengths: Lengths::default(),
            slowest: Slowest::default(),
            failures: Failures::default(),
            workers: Workers::default(),
            plan: plan.clone(),
        }
    }

    /// Adds the games of a pairing. Games that were not played to their end do not count.
    pub fn add(&mut self, result: &PairResult) {
        result.count_in(&mut self.crosstable);
        self.workers.add(result);
        for (number, game) in (1..).zip(&result.games) {
            if game.end == Termination::Aborted {
                continue;
            }
            self.games += 1;
            self.lengths.add(game);
            self.slowest.add(result.pairing.index, number, game);
            self.failures.add(result.pairing.index, number, game);
            let mut turn = result.pairing.opening.turn(self.plan.game);
            for (ply, played) in game.moves.iter().enumerate() {
                if let Some(sums) = self.sums(engine_of(game, turn)) {
                    sums.add_move(ply, played);
                }
                turn = turn.other();
            }
            for side in [Side::First, Side::Second] {
                if let Some(sums) = self.sums(engine_of(game, side)) {
                    sums.add_game(game, side);
                }
            }
        }
        if self.plan.engines.len() == 2 {
            let counts = self.crosstable.counts(0, 1);
            self.curve.add(&counts, self.sprt.as_ref());
        }
    }

    /// The ratings of all engines together.
    fn ratings(&self) -> Option<Ratings> {
        Ratings::unanchored(&self.crosstable).ok()
    }

    /// The page.
    pub fn html(&self) -> String {
        page::page(self).into_string()
    }

    fn sums(&mut self, engine: EngineId) -> Option<&mut EngineSums> {
        self.engines.get_mut(usize::try_from(engine.0).ok()?)
    }

    /// What an engine is called.
    fn name(&self, engine: EngineId) -> &str {
        let index = usize::try_from(engine.0).ok();
        index.and_then(|index| self.plan.engines.get(index)).map_or("?", |engine| &engine.name)
    }
}

fn engine_of(game: &MatchGame, side: Side) -> EngineId {
    match side {
        Side::First => game.first,
        Side::Second => game.second,
    }
}
