//! Complete matches with processes: failing engines, and a runner that is killed repeatedly.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use readyok_arena::event::{End, Event};
use readyok_arena::export::{Existing, Export, Form, PgnStyle};
use readyok_arena::game::GameSettings;
use readyok_arena::pairing::PairResult;
use readyok_arena::plan::EngineId;
use readyok_arena::result::GameEnd;
use readyok_arena::runner::{EnginePlayer, Match, Settings};
use readyok_arena::store::{Reader, Store};
use readyok_client::{Timeouts, WaitLimit};
use readyok_rules::{Game, Side, Termination};

use crate::instant::{TestDir, limits};

/// Files of the match program in a directory.
impl TestDir {
    fn stored(&self) -> Vec<PairResult> {
        let pairs = Reader::open(&self.path("match.jsonl")).expect("a good file");
        let mut pairs: Vec<PairResult> = pairs.map(|pair| pair.expect("a good line")).collect();
        pairs.sort_by_key(|pair| pair.pairing.index);
        pairs
    }

    /// The moves and ends of all games.
    fn games(&self) -> Vec<(u64, Vec<String>, GameEnd)> {
        let pairs = self.stored().into_iter();
        let games = pairs.flat_map(|pair| {
            let index = pair.pairing.index;
            pair.games.into_iter().map(move |game| {
                let moves = game.moves.into_iter().map(|played| played.mv.to_string()).collect();
                (index, moves, game.end)
            })
        });
        games.collect()
    }

    /// Runs the match program.
    fn start(&self) -> Child {
        let plan = self.path("plan.json");
        fs::write(&plan, serde_json::to_string(&self.plan).expect("JSON")).expect("space");
        let mut command = Command::new(crate::instant::test_program("play-match"));
        command.args([self.path("match.jsonl"), plan, self.path("games.pgn")]).arg("2");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a program")
    }
}

fn events(child: &mut Child) -> impl Iterator<Item = Event> + use<> {
    let output = BufReader::new(child.stdout.take().expect("an output"));
    let lines = output.lines().map_while(Result::ok);
    // The last line may be truncated after a kill.
    lines.map_while(|line| serde_json::from_str(&line).ok())
}

/// The games of a PGN file: round, players, result.
fn pgn_games(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("a file");
    let games = text.split("[Event ").skip(1);
    let tags = |game: &str| {
        let wanted = ["[Round ", "[White ", "[Black ", "[Result "];
        let tags = game.lines().filter(|line| wanted.iter().any(|tag| line.starts_with(tag)));
        tags.collect::<Vec<_>>().join(" ")
    };
    games.map(tags).collect()
}

/// The expected PGN games of a store.
fn pgn_of(store: &Path, directory: &Path) -> String {
    let path = directory.join("again.pgn");
    let copy = directory.join("copy.jsonl");
    fs::copy(store, &copy).expect("a copy");
    let (store, _) = Store::resume(&copy, |_| ()).expect("a good file");
    let mut game = Match::new(store, Settings::default()).expect("a match");
    let form = Form::Pgn(PgnStyle::default());
    game.export(Export { path: path.clone(), form, existing: Existing::Replace });
    game.play_here(1, None, |order| {
        EnginePlayer::new(&order.plan, GameSettings::new(order.plan.game), Timeouts::default())
    })
    .expect("a complete match");
    fs::read_to_string(path).expect("a file")
}

#[test]
fn failing_engines_lose_without_other_effects() {
    let faults = ["", "crash", "illegal", "garbage", "late", "hang", "flood"];
    let time = |fault: &str| matches!(fault, "late" | "hang" | "flood").then_some(150);
    for game in [Game::Chess, Game::Shogi] {
        let engines: Vec<_> = faults.iter().map(|fault| (*fault, limits(time(fault)))).collect();
        let place = TestDir::new(game, 2, &engines);
        let store = Store::create(&place.path("match.jsonl"), &place.plan).expect("new");
        let mut it = Match::new(store, Settings::default()).expect("a match");
        let (sender, received) = channel();
        it.listen(sender);
        let stall = WaitLimit::fixed(Duration::from_mins(1));
        let setting = GameSettings { stall, ..GameSettings::new(game) };
        let summary = it.play_here(2, None, |order| {
            EnginePlayer::new(&order.plan, setting.clone(), Timeouts::default())
        });
        let summary = summary.expect("a match");
        assert_eq!((summary.end, summary.complete), (End::Complete, 42));
        let stored = place.stored();
        let indices: Vec<u64> = stored.iter().map(|pair| pair.pairing.index).collect();
        assert_eq!(indices, (0..42).collect::<Vec<_>>());
        let mut seen: BTreeMap<EngineId, Vec<&Termination>> = BTreeMap::new();
        for game in stored.iter().flat_map(|pair| &pair.games) {
            if game.end.termination.is_failure() {
                let loser = match game.winner.expect("a winner") {
                    Side::First => game.second,
                    Side::Second => game.first,
                };
                seen.entry(loser).or_default().push(&game.end.termination);
            }
        }
        for (engine, ends) in &seen {
            let fault = faults[engine.0 as usize];
            let fits = |end: &&Termination| match fault {
                "crash" => matches!(end, Termination::EngineCrash),
                "illegal" | "garbage" => matches!(end, Termination::IllegalMove),
                "late" | "hang" | "flood" => matches!(end, Termination::TimeForfeit),
                _ => false,
            };
            assert!(ends.iter().all(fits), "{fault}: {ends:?}");
        }
        assert_eq!(seen.len(), faults.len() - 1, "each has failed: {:?}", seen.keys());
        let failures = received.iter().filter(|event| matches!(event, Event::EngineFailure { .. }));
        assert_eq!(failures.count(), seen.values().map(Vec::len).sum::<usize>());
        #[cfg(target_os = "linux")]
        assert_eq!(place.running_become(&[]), [""; 0], "no process is left");
    }
}

#[test]
fn a_runner_killed_twenty_times_loses_and_repeats_no_pair() {
    let engines = [("", limits(None)), ("", limits(None)), ("crash", limits(None))];
    let whole = TestDir::new(Game::Chess, 60, &engines);
    let mut child = whole.start();
    // The output must be read, or the process blocks.
    assert!(events(&mut child).count() > 180);
    assert!(child.wait().expect("an end").success());
    let place = TestDir::new(Game::Chess, 60, &engines);
    for kill in 0..20 {
        let mut child = place.start();
        let pairs = events(&mut child).filter(|event| matches!(event, Event::PairEnd { .. }));
        // After a different number of pairs each time, and during the next ones.
        assert!(pairs.take(1 + kill % 3).count() > 0, "there is something left to play");
        child.kill().expect("a process");
        child.wait().expect("an end");
    }
    #[cfg(target_os = "linux")]
    assert_eq!(place.running_become(&[]), [""; 0], "no process is left");
    let before = place.stored().len();
    assert!((20..180).contains(&before), "{before}");
    let mut child = place.start();
    let received: Vec<Event> = events(&mut child).collect();
    assert!(child.wait().expect("an end").success());
    assert!(
        matches!(received.first(), Some(Event::MatchStart { resumed, .. }) if *resumed == before as u64)
    );
    let indices: Vec<u64> = place.stored().iter().map(|pair| pair.pairing.index).collect();
    assert_eq!(indices, (0..180).collect::<Vec<_>>(), "each pair once");
    assert_eq!(place.games(), whole.games(), "the same games as without a kill");
    let pgn = place.path("games.pgn");
    assert_eq!(
        fs::read_to_string(&pgn).expect("a file"),
        pgn_of(&place.path("match.jsonl"), place.directory.path()),
        "the records match the results"
    );
    let (mut ours, mut theirs) = (pgn_games(&pgn), pgn_games(&whole.path("games.pgn")));
    ours.sort_unstable();
    theirs.sort_unstable();
    assert_eq!((ours.len(), ours), (360, theirs));
    assert!(!place.path("games.pgn.old").exists(), "nothing was rewritten");
}

#[test]
fn an_interrupt_exits_with_complete_pairs_and_no_engines() {
    let place = TestDir::new(Game::Chess, 100_000, &[("", limits(None)), ("", limits(None))]);
    let mut child = place.start();
    let mut input = child.stdin.take().expect("an input");
    let mut events = events(&mut child);
    assert!(events.any(|event| matches!(event, Event::PairEnd { pair: 3, .. })));
    input.write_all(b"\n").expect("a reader");
    let last = events.last().expect("an end");
    assert!(matches!(last, Event::MatchEnd { why: End::Interrupted, .. }), "{last:?}");
    assert!(child.wait().expect("an end").success());
    assert!(place.stored().iter().all(|pair| pair.games.len() == 2));
    #[cfg(target_os = "linux")]
    assert_eq!(place.running_become(&[]), [""; 0], "no process is left");
}
