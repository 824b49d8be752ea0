//! The runner with fake players: issued pairings, counted results, and reasons of the end.

mod takes;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use readyok_arena::event::{End, Event};
use readyok_arena::pairing::{PairResult, Pairing};
use readyok_arena::plan::{EngineId, Format, KnockoutTie, Plan};
use readyok_arena::queue::{Dispatcher, Job, QueueError, Report, ReturnReason, Stop, WorkerId};
use readyok_arena::result::{EngineFailure, GameEnd};
use readyok_arena::runner::{
    Cpus, Match, MatchError, PairPlayer, PlayContext, PlayerError, Settings, Summary, threads_of,
};
use readyok_arena::stats::{Crosstable, Estimate, Figure, Outcome, Ratings, SprtError, Verdict};
use readyok_arena::store::{Reader, Store};
use readyok_rules::Termination;
use tempfile::TempDir;

use crate::sample;

/// A player that answers with a function.
struct Scripted<F>(F);

impl<F> PairPlayer for Scripted<F>
where
    F: FnMut(&Pairing, &mut PlayContext<'_>) -> Result<Option<PairResult>, PlayerError>,
{
    fn play(
        &mut self,
        pairing: &Pairing,
        watch: &mut PlayContext<'_>,
    ) -> Result<Option<PairResult>, PlayerError> {
        (self.0)(pairing, watch)
    }
}

struct TestDir {
    directory: TempDir,
    plan: Plan,
}

impl TestDir {
    fn new(plan: Plan) -> Self {
        Self { directory: tempfile::tempdir().expect("a directory"), plan }
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join("match.jsonl")
    }

    fn open(&self) -> Store {
        let file = self.file();
        if file.exists() {
            Store::resume(&file, |_| ()).expect("a good file").0
        } else {
            Store::create(&file, &self.plan).expect("a new file")
        }
    }

    fn game(&self, settings: Settings) -> (Match, Receiver<Event>) {
        let (sender, events) = channel();
        let mut game = Match::new(self.open(), settings).expect("a good plan");
        game.listen(sender);
        (game, events)
    }

    /// Plays with two workers.
    fn play(
        &self,
        settings: Settings,
        player: impl Fn(&Pairing, &mut PlayContext<'_>) -> Result<Option<PairResult>, PlayerError>
        + Sync,
    ) -> (Result<Summary, MatchError>, Vec<Event>) {
        let (game, events) = self.game(settings);
        let summary = game.play_here(2, None, |_| Scripted(&player));
        (summary, events.iter().collect())
    }

    /// The indices in the file, in order.
    fn stored(&self) -> Vec<u64> {
        let mut indices = in_file(&self.file());
        indices.sort_unstable();
        indices
    }
}

fn in_file(path: &Path) -> Vec<u64> {
    let pairs = Reader::open(path).expect("a good file");
    pairs.map(|pair| pair.expect("a good line").pairing.index).collect()
}

#[expect(clippy::unnecessary_wraps, reason = "the form of a player")]
fn good(pairing: &Pairing, _: &mut PlayContext<'_>) -> Result<Option<PairResult>, PlayerError> {
    Ok(Some(sample::played(pairing.clone())))
}

#[test]
fn plays_and_reports_every_pairing_once() {
    let place = TestDir::new(sample::plan(&["a", "b", "c"], 4));
    let (summary, events) = place.play(Settings::default(), good);
    let summary = summary.expect("a match");
    assert_eq!((summary.end, summary.complete, summary.games), (End::Complete, 12, 24));
    assert_eq!(place.stored(), (0..12).collect::<Vec<_>>());
    let wins: Vec<_> = summary.scores.iter().map(|score| (score.wins, score.draws)).collect();
    assert_eq!(wins, [(4, 4); 3], "the lower number wins each pair by one game");
    assert!(summary.scores.iter().all(|score| score.pairs == [0, 0, 0, 0, 4, 0]));
    let ends = events.iter().filter(|event| matches!(event, Event::PairEnd { .. })).count();
    assert_eq!(ends, 12);
    assert!(matches!(events.first(), Some(Event::MatchStart { resumed: 0, .. })));
    assert!(matches!(events.last(), Some(Event::MatchEnd { why: End::Complete, .. })));
}

#[test]
fn rates_three_engines_but_not_two() {
    let place = TestDir::new(sample::plan(&["a", "b", "c"], 4));
    let (_, events) = place.play(Settings::default(), good);
    let [.., Event::Ratings(ratings), Event::MatchEnd { .. }] = events.as_slice() else {
        panic!("no ratings before the end: {events:?}");
    };
    // The crosstable of the report, from the same pairs.
    let mut table = Crosstable::new(3).expect("three players");
    for pair in Reader::open(&place.file()).expect("a good file") {
        let Pairing { first, second, .. } = pair.expect("a good line").pairing;
        let index = |engine: EngineId| usize::try_from(engine.0).expect("a small number");
        let outcomes = if first < second {
            [Outcome::Win, Outcome::Draw]
        } else {
            [Outcome::Draw, Outcome::Loss]
        };
        let [one, other] = outcomes;
        table.add_pair(index(first), index(second), one, other).expect("a good pair");
    }
    let expected = Ratings::unanchored(&table).expect("ratings");
    for (engine, rating) in ratings.ratings.iter().enumerate() {
        assert_eq!(rating.estimate(), expected.rating(engine));
    }
    assert_eq!(ratings.first_move.estimate(), expected.first_move());
    let [a, b, c] = [0, 1, 2].map(|engine| ratings.rating(EngineId(engine)).elo.expect("games"));
    assert!(a > b && b > c && (a + b + c).abs() < 1e-6, "{a} {b} {c}");
    let difference = ratings.difference(EngineId(0), EngineId(2)).expect("games between them");
    let Estimate { value, error } = expected.difference(0, 2);
    let close = |one: Figure, other: Figure| {
        let apart = one.number().zip(other.number()).map(|(one, other)| (one - other).abs());
        apart.is_some_and(|apart| apart < 1e-6)
    };
    assert!(
        close(difference.value, value) && close(difference.error, error),
        "{difference} is not {value} {error}"
    );
    let line = serde_json::to_value(Event::Ratings(ratings.clone())).expect("JSON");
    assert_eq!(line["event"], "ratings");
    assert_eq!(line["covariance"][2].as_array().map(Vec::len), Some(3));
    let received: Event = serde_json::from_value(line).expect("an event");
    assert!(matches!(received, Event::Ratings(received) if received.ratings.len() == 3));

    let place = TestDir::new(sample::plan(&["a", "b"], 4));
    let (_, events) = place.play(Settings::default(), good);
    assert!(!events.iter().any(|event| matches!(event, Event::Ratings(_))));
}

#[test]
fn reports_the_winner_of_a_knockout() {
    let format = Format::Knockout { replays: 0, tie: KnockoutTie::HigherSeed };
    let place = TestDir::new(Plan { format, ..sample::plan(&["a", "b", "c"], 1) });
    let (_, events) = place.play(Settings::default(), good);
    let [.., Event::Champion { engine: EngineId(0) }, Event::MatchEnd { .. }] = events.as_slice()
    else {
        panic!("no champion before the end: {events:?}");
    };
}

#[test]
fn a_complete_match_resumes_only_with_more_rounds() {
    let place = TestDir::new(sample::plan(&["a", "b"], 4));
    place.play(Settings::default(), good).0.expect("a match");
    let never = |_: &Pairing, _: &mut PlayContext<'_>| {
        Err(PlayerError::Pairing("nothing is left".to_owned()))
    };
    let (summary, events) = place.play(Settings::default(), never);
    assert_eq!(summary.expect("a match").games, 8);
    assert!(matches!(events.first(), Some(Event::MatchStart { resumed: 4, .. })));
    place.open().accept(&sample::plan(&["a", "b"], 6)).expect("more rounds");
    let played = AtomicU64::new(0);
    let (summary, _) = place.play(Settings::default(), |pairing, watch| {
        played.fetch_add(1, Ordering::Relaxed);
        good(pairing, watch)
    });
    assert_eq!((summary.expect("a match").complete, played.into_inner()), (6, 2));
}

#[test]
fn an_interrupt_finishes_running_pairs_and_the_match_resumes() {
    let place = TestDir::new(sample::plan(&["a", "b"], 50));
    let (game, _events) = place.game(Settings::default());
    let stop = game.stop_handle();
    let player = |pairing: &Pairing, watch: &mut PlayContext<'_>| {
        if pairing.index == 10 {
            stop.interrupt();
        }
        assert!(!watch.stop.is_aborted());
        good(pairing, watch)
    };
    let summary = game.play_here(2, None, |_| Scripted(&player)).expect("a match");
    assert_eq!(summary.end, End::Interrupted);
    assert!((11..50).contains(&summary.complete), "{summary:?}");
    let summary = place.play(Settings::default(), good).0.expect("a match");
    assert_eq!((summary.end, summary.games), (End::Complete, 100));
    assert_eq!(place.stored(), (0..50).collect::<Vec<_>>());
}

/// Plays pairs immediately, except one that lasts until the match is aborted.
fn until_aborted(
    endless: u64,
    interrupt: impl Fn(),
) -> impl Fn(&Pairing, &mut PlayContext<'_>) -> Result<Option<PairResult>, PlayerError> {
    move |pairing, watch| {
        if pairing.index != endless {
            return good(pairing, watch);
        }
        let (sender, aborted) = channel();
        let _registration = watch.stop.on_abort(move || sender.send(()).expect("a receiver"));
        interrupt();
        aborted.recv().expect("an abort");
        Ok(None)
    }
}

#[test]
fn the_second_interrupt_aborts_games_which_are_replayed() {
    let place = TestDir::new(sample::plan(&["a", "b"], 50));
    let (game, _events) = place.game(Settings::default());
    let stop = game.stop_handle();
    let player = until_aborted(3, || {
        stop.interrupt();
        stop.interrupt();
    });
    let summary = game.play_here(2, None, |_| Scripted(&player)).expect("a match");
    assert_eq!(summary.end, End::Interrupted);
    assert!(!place.stored().contains(&3));
    place.play(Settings::default(), good).0.expect("a match");
    assert_eq!(place.stored(), (0..50).collect::<Vec<_>>());
}

#[test]
fn the_first_interrupt_can_abort_games() {
    let place = TestDir::new(sample::plan(&["a", "b"], 50));
    let settings = Settings { on_interrupt: Stop::Abort, ..Settings::default() };
    let (game, _events) = place.game(settings);
    let stop = game.stop_handle();
    let player = until_aborted(0, || stop.interrupt());
    let summary = game.play_here(1, None, |_| Scripted(&player)).expect("a match");
    assert_eq!((summary.end, summary.complete), (End::Interrupted, 0));
}

#[test]
fn replays_a_pair_of_a_panicked_worker() {
    let place = TestDir::new(sample::plan(&["a", "b"], 20));
    let failed = Mutex::new(Vec::new());
    let (summary, events) = place.play(Settings::default(), |pairing, watch| {
        let first = !failed.lock().expect("a lock").contains(&pairing.index);
        if pairing.index.is_multiple_of(7) && first {
            failed.lock().expect("a lock").push(pairing.index);
            panic!("a bug");
        }
        good(pairing, watch)
    });
    assert_eq!(summary.expect("a match").complete, 20);
    assert_eq!(place.stored(), (0..20).collect::<Vec<_>>());
    let again = events.iter().filter_map(|event| match event {
        Event::Warning { pair, .. } => *pair,
        _ => None,
    });
    let mut again: Vec<u64> = again.collect();
    again.sort_unstable();
    assert_eq!(again, [0, 7, 14]);
}

#[test]
fn a_pair_that_kills_all_workers_is_an_error() {
    let place = TestDir::new(sample::plan(&["a", "b"], 20));
    let (summary, events) = place.play(Settings::default(), |pairing, watch| {
        assert_ne!(pairing.index, 5, "a bug");
        good(pairing, watch)
    });
    let error = summary.expect_err("a bug");
    assert!(matches!(error, MatchError::Pairing { index: 5, .. }), "{error}");
    assert!(matches!(events.last(), Some(Event::MatchEnd { why: End::Error { .. }, .. })));
    assert!(!place.stored().contains(&5));
    let complete = place.play(Settings::default(), good).0.expect("a match").complete;
    assert_eq!((complete, place.stored()), (20, (0..20).collect()));
}

#[test]
fn a_pair_that_cannot_be_played_is_an_error() {
    let place = TestDir::new(sample::plan(&["a", "b"], 20));
    let (summary, _) = place.play(Settings::default(), |pairing, watch| match pairing.index {
        4 => Err(PlayerError::Pairing("no such opening".to_owned())),
        _ => good(pairing, watch),
    });
    let error = summary.expect_err("no opening").to_string();
    assert_eq!(error, "pairing 4 cannot be played: no such opening");
}

#[test]
fn a_decided_test_ends_the_match() {
    let mut plan = sample::plan(&["a", "b"], 100_000);
    plan.sprt = toml::from_str("elo0 = 0.0\nelo1 = 5.0").expect("a test");
    let place = TestDir::new(plan);
    // Between the two bounds: a is stronger, and pairs differ.
    let play = |pairing: &Pairing, watch: &mut PlayContext<'_>| {
        let mut result = good(pairing, watch)?;
        if pairing.index.is_multiple_of(3)
            && let Some(result) = &mut result
        {
            result.games[0] = result.games[1].clone();
            (result.games[0].first, result.games[0].second) = (pairing.first, pairing.second);
        }
        Ok(result)
    };
    let (summary, events) = place.play(Settings::default(), play);
    let summary = summary.expect("a match");
    assert_eq!(summary.end, End::Test { verdict: Verdict::AcceptH1 });
    assert!(summary.complete < 1000, "{summary:?}");
    assert_eq!(place.stored().len() as u64, summary.complete, "nothing counts after the verdict");
    let tests: Vec<_> = events.iter().filter(|event| matches!(event, Event::Test(_))).collect();
    assert_eq!(tests.len() as u64, summary.complete, "one look after each pair");
    let (again, _) = place.play(Settings::default(), play);
    assert_eq!(again.expect("a match"), summary, "it stays decided");
}

#[test]
fn a_test_needs_two_engines() {
    let mut plan = sample::plan(&["a", "b", "c"], 10);
    plan.sprt = toml::from_str("elo0 = 0.0\nelo1 = 5.0").expect("a test");
    let (summary, _) = TestDir::new(plan).play(Settings::default(), good);
    assert!(matches!(
        summary,
        Err(MatchError::Test(SprtError::SprtRequiresTwoEngines { engines: 3 }))
    ));
}

/// The second engine always loses with this termination.
fn lost_by(
    end: GameEnd,
) -> impl Fn(&Pairing, &mut PlayContext<'_>) -> Result<Option<PairResult>, PlayerError> {
    use readyok_rules::Side;
    move |pairing, watch| {
        let mut result = good(pairing, watch)?;
        for game in result.iter_mut().flat_map(|result| &mut result.games) {
            let side = if game.first == EngineId(1) { Side::Second } else { Side::First };
            game.winner = Some(side);
            game.end = end.clone();
        }
        Ok(result)
    }
}

#[test]
fn a_crash_loses_and_the_match_continues() {
    let place = TestDir::new(sample::plan(&["a", "b"], 20));
    let crash = sample::crash();
    let (summary, events) = place.play(Settings::default(), lost_by(crash));
    let summary = summary.expect("a match");
    assert_eq!((summary.end, summary.scores[0].wins), (End::Complete, 40));
    let failures = events.iter().filter_map(|event| match event {
        Event::EngineFailure { engine, game, count, .. } => Some((*engine, *game, *count)),
        _ => None,
    });
    let expected = (0..40).map(|before| (EngineId(1), before % 2, u64::from(before) + 1));
    assert_eq!(failures.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

#[test]
fn the_failure_limit_ends_the_match() {
    let place = TestDir::new(sample::plan(&["a", "b"], 20));
    let settings = Settings { failures: Some(6), ..Settings::default() };
    let crash = sample::crash();
    let summary = place.play(settings.clone(), lost_by(crash)).0.expect("a match");
    let End::Failures { engine: EngineId(1), count } = summary.end else {
        panic!("{summary:?}");
    };
    assert!(count >= 6 && summary.complete < 20, "{summary:?}");
    let place = TestDir::new(sample::plan(&["a", "b"], 20));
    let late = GameEnd::time_forfeit(5);
    let summary = place.play(settings, lost_by(late)).0.expect("a match");
    assert_eq!(summary.end, End::Complete, "bad play is no failure of that kind");
}

#[test]
fn repeated_start_failures_end_the_match() {
    let place = TestDir::new(sample::plan(&["a", "b"], 1000));
    let no_start = GameEnd::no_start(EngineFailure::other("no such file"));
    let summary = place.play(Settings::default(), lost_by(no_start)).0.expect("a match");
    assert!(matches!(summary.end, End::Failures { engine: EngineId(1), .. }), "{summary:?}");
    assert!(summary.complete < 10, "{summary:?}");
}

/// A queue with a thread that answers jobs by a function.
struct Elsewhere {
    reports: Sender<Report>,
    answer: fn(Job, &Sender<Report>),
}

impl Dispatcher for Elsewhere {
    fn offer(&mut self, job: Job) -> Result<(), QueueError> {
        (self.answer)(job, &self.reports);
        Ok(())
    }

    fn stop(&mut self, _: Stop) -> Result<(), QueueError> {
        Ok(())
    }
}

fn elsewhere(place: &TestDir, answer: fn(Job, &Sender<Report>)) -> Result<Summary, MatchError> {
    let (game, _events) = place.game(Settings::default());
    let reports = game.reports();
    game.coordinate(&mut Elsewhere { reports, answer })
}

fn done(result: PairResult) -> Report {
    Report::Done { worker: WorkerId("far".to_owned()), result: Box::new(result), records: None }
}

#[test]
fn counts_a_duplicate_result_once() {
    let place = TestDir::new(sample::plan(&["a", "b"], 10));
    let summary = elsewhere(&place, |job, reports| {
        for _ in 0..2 {
            reports.send(done(sample::played(job.pairing.clone()))).expect("a coordinator");
        }
    });
    assert_eq!(summary.expect("a match").games, 20);
    assert_eq!(place.stored(), (0..10).collect::<Vec<_>>());
}

#[test]
fn rejects_a_result_of_another_pairing() {
    let check = |answer: fn(Job, &Sender<Report>)| {
        let place = TestDir::new(sample::plan(&["a", "b"], 10));
        let error = elsewhere(&place, answer).expect_err("a wrong result");
        assert!(matches!(error, MatchError::Pairing { index: 0, .. }), "{error}");
        assert!(place.stored().is_empty());
    };
    check(|job, reports| {
        let mut result = sample::played(job.pairing);
        result.games.pop();
        reports.send(done(result)).expect("a coordinator");
    });
    check(|job, reports| {
        let mut result = sample::played(job.pairing);
        result.games[1].first = EngineId(7);
        reports.send(done(result)).expect("a coordinator");
    });
    check(|job, reports| {
        let mut result = sample::played(job.pairing);
        result.games[1].end = Termination::Aborted.into();
        reports.send(done(result)).expect("a coordinator");
    });
    check(|job, reports| {
        let mut result = sample::played(job.pairing);
        result.pairing.opening.name = Some("another".to_owned());
        reports.send(done(result)).expect("a coordinator");
    });
}

#[test]
fn a_queue_failure_ends_the_match() {
    let place = TestDir::new(sample::plan(&["a", "b"], 10));
    let error = elsewhere(&place, |job, reports| {
        let broken = QueueError { text: "no connection".to_owned() };
        reports.send(Report::QueueFailed(broken)).expect("a coordinator");
        let why = ReturnReason::Withdrawn;
        reports.send(Report::Returned { index: job.pairing.index, why }).expect("a coordinator");
    });
    assert!(matches!(error, Err(MatchError::Queue(_))), "{error:?}");
}

#[test]
fn reports_warnings_of_the_queue() {
    let place = TestDir::new(sample::plan(&["a", "b"], 1));
    let (game, events) = place.game(Settings::default());
    let reports = game.reports();
    let answer = |job: Job, reports: &Sender<Report>| {
        let warning = Report::Warning { text: "no luck".to_owned(), pair: Some(0) };
        reports.send(warning).expect("a coordinator");
        reports.send(done(sample::played(job.pairing))).expect("a coordinator");
    };
    let summary = game.coordinate(&mut Elsewhere { reports, answer });
    assert_eq!(summary.expect("a match").end, End::Complete);
    let warnings = events.iter().filter_map(|event| match event {
        Event::Warning { text, pair, .. } => Some((text, pair)),
        _ => None,
    });
    assert_eq!(warnings.collect::<Vec<_>>(), [("no luck".to_owned(), Some(0))]);
}

#[test]
fn continues_without_a_skipped_pairing() {
    let place = TestDir::new(sample::plan(&["a", "b"], 3));
    let summary = elsewhere(&place, |job, reports| {
        let index = job.pairing.index;
        let why = ReturnReason::Skipped("no worker can play it".to_owned());
        let report = if index == 1 {
            Report::Returned { index, why }
        } else {
            done(sample::played(job.pairing))
        };
        reports.send(report).expect("a coordinator");
    });
    let summary = summary.expect("a match");
    assert_eq!((summary.end, summary.complete), (End::Complete, 2));
}

#[test]
fn stores_the_name_of_the_worker_truncated() {
    let place = TestDir::new(sample::plan(&["a", "b"], 1));
    let summary = elsewhere(&place, |job, reports| {
        let worker = Some(WorkerId("x".repeat(100_000)));
        let result = PairResult { worker, ..sample::played(job.pairing) };
        reports.send(done(result)).expect("a coordinator");
    });
    assert_eq!(summary.expect("a match").games, 2);
    let pair = Reader::open(&place.file()).expect("a file").next().expect("a pair");
    let name = pair.expect("a good line").worker.expect("a name").0;
    assert_eq!(name, "x".repeat(500));
}

/// Discarded pairs do not count, also if the match is being stopped: they are not in the results file either.
#[test]
fn a_worker_can_be_excluded_during_a_stop() {
    let place = TestDir::new(sample::plan(&["a", "b"], 10));
    let summary = elsewhere(&place, |job, reports| {
        let index = job.pairing.index;
        let played = |name: &str| {
            let worker = Some(WorkerId(name.to_owned()));
            done(PairResult { worker, ..sample::played(job.pairing.clone()) })
        };
        let sent = match index {
            0 => vec![played("one")],
            1 => vec![played("two")],
            _ => vec![
                Report::Interrupted,
                Report::Excluded(["one".to_owned()].into()),
                Report::Returned { index, why: ReturnReason::Withdrawn },
            ],
        };
        for report in sent {
            reports.send(report).expect("a coordinator");
        }
    });
    let summary = summary.expect("a match");
    assert_eq!((summary.end, summary.complete, summary.games), (End::Interrupted, 1, 2));
    assert_eq!((summary.scores[0].wins, summary.scores[0].draws), (1, 1));
    assert_eq!(place.stored(), [1]);
}

#[test]
fn tournaments_of_all_formats_resume_exactly() {
    for format in ["round-robin", "gauntlet", "swiss", "knockout"] {
        let mut plan = sample::plan(&["a", "b", "c", "d", "e"], 3);
        plan.format = toml::from_str(&format!("kind = \"{format}\"")).expect(format);
        if format == "knockout" {
            plan.rounds = 1;
        }
        let whole = TestDir::new(plan.clone());
        let expected = whole.play(Settings::default(), good).0.expect(format);
        let place = TestDir::new(plan);
        let left = AtomicU64::new(0);
        let mut rounds = 0;
        loop {
            let (game, _events) = place.game(Settings::default());
            let stop = game.stop_handle();
            left.store(2, Ordering::Relaxed);
            let player = |pairing: &Pairing, watch: &mut PlayContext<'_>| {
                let endless = left.fetch_sub(1, Ordering::Relaxed) == 1;
                let endless = if endless { pairing.index } else { u64::MAX };
                until_aborted(endless, || {
                    stop.interrupt();
                    stop.interrupt();
                })(pairing, watch)
            };
            let summary = game.play_here(1, None, |_| Scripted(&player)).expect(format);
            rounds += 1;
            if summary.end == End::Complete {
                assert_eq!(summary, expected, "{format}");
                break;
            }
            assert!(summary.complete >= rounds && rounds < 100, "{format}: {summary:?}");
        }
        assert!(rounds > 2, "{format} was broken off {rounds} times: {expected:?}");
        assert_eq!(place.stored(), whole.stored(), "{format}");
    }
}

#[test]
fn slots_have_cpus_of_their_own() {
    let mut plan = sample::plan(&["a", "b", "c"], 1);
    assert_eq!(threads_of(&plan), 1);
    plan.engines[1].options.insert("threads".to_owned(), "4".to_owned());
    plan.engines[2].options.insert("Threads".to_owned(), "3".to_owned());
    assert_eq!(threads_of(&plan), 4);
    plan.engines[0].ponder = true;
    assert_eq!(threads_of(&plan), 7);
    let Ok(cpus) = Cpus::share(1, 1, None) else { return };
    assert_eq!((cpus.slots().len(), cpus.slots()[0].len()), (1, 1));
    cpus.bind(0).expect("a CPU of this thread");
    let usable = Cpus::share(1, 1, None).expect("that CPU");
    assert_eq!(usable, cpus);
    assert!(Cpus::share(2, 1, None).is_err(), "there is only one left for this thread");
}
