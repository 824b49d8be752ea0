//! The published state of a match, and the keys of published states.

use std::collections::{BTreeMap, BTreeSet};

use crate::build::BuildFailure;
use crate::event::End;
use crate::match_state::{MatchState, Throughput};
use crate::pairing::{PairResult, WorkerId};
use crate::plan::Plan;
use crate::queue::status::{
    AuditStatus, FailedBuild, LiveGame, LogEntry, Logged, MatchStatus, PlayedGame,
    QuarantinedResult,
};
use crate::takes::Takes;
use crate::time::unix_ms;
use crate::tune::TuneState;
use crate::worker_stats::{ReplayedPairs, WorkerFlag, WorkerRow, WorkerTable};

/// Maximum number of published warnings and invalid results.
const MAX_ENTRIES: usize = 20;

/// Maximum length of a published text in characters.
const MAX_TEXT: usize = 300;

/// Maximum number of failed builds, and maximum length of their outputs in characters.
const MAX_BUILDS: usize = 5;
const MAX_OUTPUT: usize = 3000;
/// Maximum number of published games and events.
const MAX_GAMES: usize = 40;
const MAX_LOG: usize = 100;
/// Maximum number of games in progress that are published, and that are known.
const MAX_LIVE: usize = 64;
const MAX_KNOWN: usize = 10_000;
/// Time after which a silent worker has left, in milliseconds. Workers that play report every few seconds.
const MAX_SILENCE_MS: u64 = 60_000;

/// Builds the published state of a match: a view of its state, and what only the queue knows.
#[derive(Debug, Default)]
pub(super) struct StatusBuilder {
    workers: WorkerTable,
    status: MatchStatus,
    throughput: Throughput,
    /// Games in progress by pairing.
    live: BTreeMap<u64, LiveGame>,
    /// When each worker that takes part has sent its last message, in milliseconds since 1970.
    seen: BTreeMap<WorkerId, u64>,
    changed: bool,
}

impl StatusBuilder {
    pub(super) fn workers_mut(&mut self) -> &mut WorkerTable {
        self.changed = true;
        &mut self.workers
    }

    /// Shows the results of the match.
    pub(super) fn show(&mut self, state: &MatchState) {
        self.changed = true;
        let (plan, status) = (state.plan(), &mut self.status);
        status.total = if plan.is_unlimited() { 0 } else { state.total() };
        (status.pairs, status.games) = (state.pairs(), state.games());
        (status.scores, status.standings) = (state.scores(), state.standings());
        status.test = state.test();
        status.takes = state.takes().map(Takes::status);
        status.takes_curve = state.takes_curve();
        status.elo = state.point().map(|point| point.elo);
        status.curve = state.curve();
        status.tune = state.tune().map(TuneState::status);
        status.strength = state.strength();
        status.remaining_games = state.remaining_games();
        self.throughput.add(unix_ms(), state.games());
        status.games_per_minute = self.throughput.per_minute();
    }

    /// A game starts. It is published with the next change: games of a farm start too often.
    pub(super) fn start_game(&mut self, game: LiveGame) {
        if self.live.len() < MAX_KNOWN || self.live.contains_key(&game.pair) {
            self.live.insert(game.pair, game);
        }
    }

    /// A pair is in progress no more.
    pub(super) fn end_pair(&mut self, index: u64) {
        self.live.remove(&index);
    }

    /// A worker takes jobs or plays.
    pub(super) fn see(&mut self, worker: &str, now_ms: u64) {
        let worker = WorkerId(shortened(worker));
        if let Some(seen) = self.seen.get_mut(&worker) {
            *seen = now_ms;
        } else if self.seen.len() < MAX_KNOWN {
            self.seen.insert(worker.clone(), now_ms);
            self.log(now_ms, Logged::Joined { worker });
        }
    }

    /// Logs the workers that have left.
    fn check_workers(&mut self, now_ms: u64) {
        let is_silent = |seen: &u64| seen.saturating_add(MAX_SILENCE_MS) < now_ms;
        let silent: Vec<WorkerId> =
            self.seen.extract_if(.., |_, seen| is_silent(seen)).map(|(worker, _)| worker).collect();
        for worker in silent {
            self.live.retain(|_, game| game.worker != worker);
            self.log(now_ms, Logged::Left { worker });
        }
    }

    /// Lists the games of a stored pair, and those that an engine has lost by a failure.
    pub(super) fn add_pair(&mut self, pair: &PairResult) {
        self.end_pair(pair.pairing.index);
        let opening = pair.pairing.opening.moves.len();
        for (number, game) in (0..).zip(&pair.games) {
            let index = pair.pairing.index;
            if let Some(engine) = game.loser().filter(|_| game.end.termination.is_failure()) {
                let (worker, end) = (pair.worker.clone(), game.end.clone());
                let what = Logged::Failure { engine, worker, pair: index, game: number, end };
                self.log(game.started_ms.saturating_add(game.duration_ms).min(unix_ms()), what);
            }
            let played = PlayedGame {
                pair: index,
                game: number,
                round: pair.pairing.round,
                first: game.first,
                second: game.second,
                winner: game.winner,
                end: game.end.clone(),
                plies: u32::try_from(opening + game.moves.len()).unwrap_or(u32::MAX),
            };
            push(&mut self.status.games_played, played, MAX_GAMES);
        }
    }

    /// Forgets the listed games. Those that remain are added again.
    pub(super) fn clear_games(&mut self) {
        self.status.games_played.clear();
        self.status.log.retain(|entry| !matches!(entry.what, Logged::Failure { .. }));
    }

    fn log(&mut self, at_ms: u64, what: Logged) {
        self.changed = true;
        push(&mut self.status.log, LogEntry { at_ms, what }, MAX_LOG);
    }

    pub(super) fn add_quarantined(&mut self, mut entry: QuarantinedResult) {
        self.changed = true;
        self.status.invalid += 1;
        entry.worker.0 = shortened(&entry.worker.0);
        entry.why = shortened(&entry.why);
        let (worker, pair, why) = (entry.worker.clone(), entry.index, entry.why.clone());
        self.log(entry.at_ms, Logged::InvalidResult { worker, pair, why });
        push(&mut self.status.quarantine, entry, MAX_ENTRIES);
    }

    /// Adds a failed build of a worker. The latest output is at its end.
    pub(super) fn add_failed_build(&mut self, worker: &str, engine: &str, failure: &BuildFailure) {
        self.changed = true;
        let skipped = failure.output.chars().count().saturating_sub(MAX_OUTPUT);
        let output = failure.output.chars().skip(skipped).collect();
        let failed = FailedBuild {
            worker: WorkerId(shortened(worker)),
            engine: shortened(engine),
            why: shortened(&failure.to_string()),
            output,
            at_ms: unix_ms(),
        };
        if self.status.failed_builds.len() >= MAX_BUILDS {
            self.status.failed_builds.remove(0);
        }
        self.status.failed_builds.push(failed);
    }

    pub(super) fn warn(&mut self, text: &str) {
        self.changed = true;
        let text = shortened(text);
        self.log(unix_ms(), Logged::Warning { text: text.clone() });
        push(&mut self.status.warnings, text, MAX_ENTRIES);
    }

    /// Sets whether the server proves the names of workers.
    pub(super) fn set_verified(&mut self, has_verified_names: bool) {
        self.changed = true;
        self.status.has_verified_names = has_verified_names;
    }

    /// Sets the numbers of ignored messages and of skipped pairings.
    pub(super) fn set_counts(&mut self, ignored: u64, skipped: u64) {
        let before = (self.status.ignored, self.status.skipped);
        self.changed |= before != (ignored, skipped);
        (self.status.ignored, self.status.skipped) = (ignored, skipped);
    }

    /// Sets the state of the audits.
    pub(super) fn set_audits(
        &mut self,
        audits: AuditStatus,
        replays: &BTreeMap<String, ReplayedPairs>,
    ) {
        let flagged = self.status.audits.flagged;
        let audits = AuditStatus { flagged, ..audits };
        if self.status.audits != audits {
            self.changed = true;
            self.status.audits = audits;
        }
        self.workers.set_replays(replays);
    }

    /// The workers whose games are replayed with too few equal moves.
    pub(super) fn flagged(&self) -> BTreeSet<WorkerId> {
        let rows = self.workers.rows();
        rows.into_iter().filter(has_few_equal_moves).map(|row| row.worker).collect()
    }

    pub(super) fn finish(&mut self, end: &End) {
        self.status.end = Some(end.clone());
        self.log(unix_ms(), Logged::Ended { end: end.clone() });
        self.live.clear();
        self.status.remaining_games = None;
        self.update();
    }

    pub(super) fn status(&self) -> &MatchStatus {
        &self.status
    }

    /// The state, if it has changed since the last call.
    pub(super) fn take_changed(&mut self) -> Option<MatchStatus> {
        self.check_workers(unix_ms());
        std::mem::take(&mut self.changed).then(|| {
            self.update();
            self.status.clone()
        })
    }

    fn update(&mut self) {
        self.status.workers = self.workers.rows();
        let workers = &self.status.workers;
        self.status.audits.flagged =
            workers.iter().filter(|row| has_few_equal_moves(row)).count() as u64;
        self.status.playing = self.live.len() as u64;
        let mut live: Vec<&LiveGame> = self.live.values().collect();
        live.sort_by_key(|game| game.since_ms);
        self.status.live = live.into_iter().take(MAX_LIVE).cloned().collect();
        self.status.updated_ms = unix_ms();
    }
}

fn has_few_equal_moves(row: &WorkerRow) -> bool {
    row.flags.iter().any(|flag| matches!(flag, WorkerFlag::Replays { .. }))
}

fn push<T>(list: &mut Vec<T>, entry: T, max: usize) {
    if list.len() >= max {
        list.remove(0);
    }
    list.push(entry);
}

/// A text of another host, which may have any length.
pub(super) fn shortened(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

/// The name of a match for users: its event, or its engines.
pub(super) fn name_of(plan: &Plan) -> String {
    if !plan.event.is_empty() {
        return plan.event.clone();
    }
    let names: Vec<&str> = plan.engines.iter().map(|engine| engine.name.as_str()).collect();
    names.join(" vs ")
}

#[cfg(test)]
mod tests {
    use readyok_rules::Side;

    use super::*;
    use crate::match_state::MAX_POINTS;
    use crate::match_state::tests::{pair, plan};
    use crate::plan::{EngineId, GamesPerPairing};
    use crate::queue::status::WorkerStatus;
    use crate::result::GameEnd;
    use crate::tune::TuneFile;

    #[test]
    fn a_long_match_has_a_short_curve() {
        let mut state = MatchState::new(&plan(2, GamesPerPairing::Two), 3000);
        for index in 0..3000 {
            state.add(&pair(index, &(0, 1, vec![Some(Side::First), None], false)));
            if index % 100 == 0 || index > 2990 {
                let mut status = StatusBuilder::default();
                status.show(&state);
                let MatchStatus { pairs, total, curve, scores, .. } = status.status();
                assert!(curve.len() <= MAX_POINTS && curve.is_sorted_by_key(|point| point.pairs));
                assert_eq!(curve.last().map(|point| point.pairs), Some(*pairs));
                assert_eq!((*pairs, *total, scores[0].wins), (index + 1, 3000, index + 1));
            }
        }
    }

    #[test]
    fn a_large_tuning_has_a_small_status() {
        let parameter = |number| {
            format!(
                "[[parameters]]\nname = \"A long name of an option {number}\"\nstart = 0.1234567\nmin = 0\nmax = 1\nc_end = 0.1\ndecimal = true\n"
            )
        };
        let head = "game = \"chess\"\npairs = 1000\nengine = { name = \"a\", command = \"a\", limits = { nodes = 1 } }\n";
        let file = |parameters: u32| -> Plan {
            let text = format!("{head}{}", (0..parameters).map(parameter).collect::<String>());
            toml::from_str::<TuneFile>(&text).expect("a file").into_plan(1)
        };
        file(1001).check().expect_err("too many parameters");
        let plan = file(1000);
        plan.check().expect("a plan");
        let mut state = MatchState::new(&plan, 1000);
        for index in 0..150 {
            let mut pair = pair(index, &(0, 1, vec![Some(Side::First), None], false));
            pair.pairing.options = state.tune().expect("a tuning").tuner().options(index);
            state.add(&pair);
        }
        let mut status = StatusBuilder::default();
        status.show(&state);
        let tune = status.status().tune.as_ref().expect("a tuning");
        assert_eq!(tune.parameters.len(), 1000);
        assert_eq!(tune.curve.last().map(|point| point.pairs), Some(150));
        // The default limit of a message is 1 MiB.
        let size = serde_json::to_vec(status.status()).expect("JSON").len();
        assert!(size < 900_000, "{size}");
    }

    #[test]
    fn the_state_lists_games_failures_and_workers() {
        let mut status = StatusBuilder::default();
        let now = unix_ms();
        status.see("a", now);
        status.see("a", now);
        status.see("b", now.saturating_sub(2 * MAX_SILENCE_MS));
        for index in 0..100 {
            let (worker, game) = (WorkerId("a".to_owned()), 0);
            let (first, second) = (EngineId(0), EngineId(1));
            status.start_game(LiveGame {
                worker,
                pair: index,
                game,
                first,
                second,
                since_ms: 1000 - index,
            });
        }
        let mut lost = pair(7, &(0, 1, vec![Some(Side::First), None], false));
        lost.games[0].end = GameEnd::time_forfeit(3000);
        status.add_pair(&lost);
        let published = status.take_changed().expect("a change");
        assert_eq!((published.playing, published.live.len()), (99, MAX_LIVE));
        assert_eq!(published.live[0].pair, 99);
        let kinds: Vec<&Logged> = published.log.iter().map(|entry| &entry.what).collect();
        let named = |name: &str| WorkerId(name.to_owned());
        assert!(
            matches!(
                kinds.as_slice(),
                [
                    Logged::Joined { worker: a },
                    Logged::Joined { worker: b },
                    Logged::Failure { engine: EngineId(1), pair: 7, game: 0, .. },
                    Logged::Left { worker: left },
                ] if *a == named("a") && *b == named("b") && *left == named("b")
            ),
            "{kinds:?}"
        );
        for index in 0..100 {
            status.add_pair(&pair(index, &(0, 1, vec![None, None], false)));
        }
        assert_eq!(status.status().games_played.len(), MAX_GAMES);
        // The pairs of a worker are discarded, and the others are added again.
        status.clear_games();
        status.add_pair(&lost);
        assert_eq!(status.status().games_played.len(), 2);
        let failures = status.status().log.iter();
        let failures = failures.filter(|entry| matches!(entry.what, Logged::Failure { .. }));
        assert_eq!(failures.count(), 1);
        let text = serde_json::to_string(status.status()).expect("JSON");
        assert_eq!(serde_json::from_str::<MatchStatus>(&text).expect("a status"), *status.status());
    }

    #[test]
    fn speeds_of_workers_are_bounded() {
        for (text, expected) in
            [("1e308", 1e12), ("-1e308", 1.0), ("0", 1.0), ("1e-300", 1.0), ("2500000", 2.5e6)]
        {
            let status = format!(
                r#"{{"name":"a","version":"1","system":"linux","cores":1,"slots":1,"speed":{text},
                "started_ms":0,"updated_ms":0,"activity":"idle","playing":[],"finished":0,"rejected":[]}}"#
            );
            let status: WorkerStatus = serde_json::from_str(&status).expect("a status");
            assert!((status.speed - expected).abs() < 1e-9, "{text}: {}", status.speed);
        }
    }
}
