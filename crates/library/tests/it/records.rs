//! Records as stored games, and back.

use std::fs;
use std::time::Duration;

use proptest::prelude::*;
use readyok_library::{NewGame, Source, Speed, Summary, move_of};
use readyok_protocol::Score;
use readyok_rules::record::{
    Annotations, End, Evaluation, GameRecord, Mark, MarkColor, Nag, Node, NodeId, RecordMove, read,
};
use readyok_rules::{Game, GameOutcome, GameResult, Position, Setup, Side, Square, Termination};

use crate::generate::Random;
use crate::laws::stored_game;

fn pick<T: Copy>(random: &mut Random, all: &[T]) -> T {
    all[usize::try_from(random.below(all.len() as u64)).expect("small")]
}

fn time(random: &mut Random) -> Duration {
    match random.below(4) {
        0 => Duration::from_secs(random.below(10_000)),
        1 => Duration::from_millis(random.below(10_000_000)),
        2 => Duration::from_nanos(random.below(1 << 50)),
        _ => Duration::from_secs(600 - random.below(10)),
    }
}

fn text(random: &mut Random) -> String {
    let all =
        ["", "?", "good", "手筋", "a \"quoted\" {comment}", "two\nlines", "12", "007", "平手"];
    pick(random, &all).to_owned()
}

fn annotations(random: &mut Random, game: Game) -> Annotations {
    let mut it = Annotations::default();
    let some = |random: &mut Random| random.below(3) == 0;
    for _ in 0..random.below(3) {
        it.nags.push(Nag(u8::try_from(random.below(256)).expect("small")));
        it.comments.push(text(random));
    }
    if some(random) {
        it.before.push(text(random));
    }
    it.clock = some(random).then(|| time(random));
    it.elapsed = some(random).then(|| time(random));
    let plies = u32::try_from(random.below(1 << 32)).expect("32 bits");
    let cp = i32::from_ne_bytes(plies.to_ne_bytes());
    let scores = [
        Score::Cp(cp),
        Score::Cp(cp % 300),
        Score::Cp(i32::MIN),
        Score::Mated,
        Score::MatedIn { plies },
        Score::MatedInUnknown,
        Score::MateInUnknown,
        Score::MateIn { plies: plies % 20 },
        Score::MateGiven,
    ];
    it.evaluation = some(random)
        .then(|| Evaluation { score: pick(random, &scores), depth: some(random).then_some(plies) });
    let squares: Vec<Square> = Square::all(game).collect();
    for _ in 0..random.below(2) {
        let colors = [MarkColor::Green, MarkColor::Red, MarkColor::Yellow, MarkColor::Blue];
        let to = some(random).then(|| pick(random, &squares));
        it.marks.push(Mark { color: pick(random, &colors), from: pick(random, &squares), to });
    }
    it.end = some(random).then(|| End {
        outcome: GameOutcome {
            result: result(random),
            termination: pick(random, Termination::ALL),
        },
        text: some(random).then(|| text(random)),
        elapsed: some(random).then(|| time(random)),
        comments: (0..random.below(3)).map(|_| text(random)).collect(),
    });
    it
}

fn result(random: &mut Random) -> GameResult {
    let all = [
        GameResult::Unknown,
        GameResult::Draw,
        GameResult::Win(Side::First),
        GameResult::Win(Side::Second),
    ];
    pick(random, &all)
}

fn start(random: &mut Random) -> Position {
    let starts = [
        (Game::Chess, None),
        (Game::Chess, Some("r3k2r/pPppppbp/8/8/3pP3/8/PPPP1P1P/R3K2R b KQkq e3 5 30")),
        (Game::Chess960, None),
        (Game::Chess960, Some("bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1")),
        (Game::Chess960, Some("rk4r1/8/8/8/8/8/8/RK4R1 w GAga - 0 1")),
        (Game::Shogi, None),
        (Game::Shogi, Some("4k4/9/9/P8/9/9/9/9/4K4 b RBGSNL2P 1")),
        (Game::Shogi, Some("4k4/9/9/P8/P8/9/9/9/4K4 b RBGSNL2P 1")),
        (Game::Chess, Some("8/8/8/8/8/8/8/K7 w - - 0 1")),
        (Game::Shogi, Some("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B7/LNSGKGSNL w - 1")),
    ];
    let (game, text) = pick(random, &starts);
    text.map_or_else(
        || Position::start(game),
        |text| Position::for_viewing(&Setup::read(game, text).expect("a setup")),
    )
}

/// A record with random variations, annotations and headers.
pub(crate) fn random_record(seed: u64) -> GameRecord {
    let mut random = Random(seed);
    let random = &mut random;
    let mut record = GameRecord::new(start(random));
    let game = record.game();
    let mut nodes = vec![(NodeId::ROOT, record.start().clone())];
    for _ in 0..random.below(60) {
        let last = nodes.len() as u64 - 1;
        let at = if random.below(4) > 0 { last } else { random.below(last + 1) };
        let (parent, position) = &nodes[usize::try_from(at).expect("small")];
        let moves = position.legal_moves();
        if moves.is_empty() {
            continue;
        }
        let (legal, mut after) = (pick(random, &moves), position.clone());
        let mv = match random.below(20) {
            // A null move needs a position without check.
            0 if after.clone().play_null().is_ok() => RecordMove::Null,
            1 => {
                let codes = u16::try_from(random.below(1 << 16)).expect("16 bits");
                move_of(position, codes).map_or(RecordMove::Legal(legal), RecordMove::Illegal)
            }
            _ => RecordMove::Legal(legal),
        };
        let id = record.add_at(*parent, &mut after, mv).expect("a move");
        if !record.node(id).and_then(Node::mv).is_some_and(RecordMove::is_illegal) {
            nodes.push((id, after));
        }
    }
    if random.below(2) == 0 {
        for (id, _) in &nodes {
            if random.below(3) > 0 {
                *record.annotations_mut(*id).expect("a node") = annotations(random, game);
            }
        }
    }
    let names = "\
        Event|Site|Date|Round|White|Black|WhiteElo|BlackElo|ECO|Opening|\
        TimeControl|Termination|UTCDate|WhiteType|PlyCount|先手|後手|開始日時|棋戦|場所|\
        戦型|Own header|";
    let names: Vec<&str> = names.split('|').collect();
    let values = "\
        ?|2026.11.25|2026.??.??|2026/11/25|2026/11/25 10:00|2500|02500|99999|\
        300+3|Normal|C50|Italian Game|https://example.org/1|羽生善治|30|";
    let values: Vec<&str> = values.split('|').collect();
    for _ in 0..random.below(12) {
        record.headers.push(pick(random, &names), pick(random, &values));
    }
    record.result = result(random);
    record
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn a_stored_record_is_read_unchanged(seed: u64) {
        let record = random_record(seed);
        let new = NewGame::from_record(&record, Source::Import, 0);
        let read = new.record();
        prop_assert_eq!(read.ok(), Some(record));
    }

    #[test]
    fn any_bytes_are_read_without_panic(
        seed: u64,
        moves: Vec<u8>,
        tags: Vec<u8>,
        annotations: Vec<u8>,
    ) {
        let mut game = NewGame::from_record(&random_record(seed), Source::Import, 0);
        let valid = game.clone();
        let _ = NewGame { moves, ..valid.clone() }.record();
        let _ = NewGame { tags, ..valid.clone() }.record();
        let _ = NewGame { annotations, ..valid }.record();
        // One changed byte in each part.
        let mut random = Random(seed);
        for part in [&mut game.moves, &mut game.tags, &mut game.annotations] {
            if !part.is_empty() {
                let at = usize::try_from(random.below(part.len() as u64)).expect("small");
                part[at] ^= 1 << random.below(8);
            }
        }
        let _ = game.record();
    }
}

#[test]
fn corrupted_seeds_of_the_fuzz_target_obey_the_law() {
    let seeds = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/stored_game");
    let mut replayed = 0;
    for seed in fs::read_dir(seeds).expect("a directory of seeds") {
        let seed = fs::read(seed.expect("a seed").path()).expect("a seed");
        stored_game(&seed);
        let mut random = Random(1);
        for _ in 0..300 {
            let mut bytes = seed.clone();
            let at = usize::try_from(random.below(bytes.len() as u64)).expect("small");
            bytes[at] = u8::try_from(random.below(256)).expect("a byte");
            stored_game(&bytes);
        }
        replayed += 1;
    }
    assert!(replayed > 0);
}

#[test]
fn records_of_all_formats_are_read_unchanged() {
    let mut count = 0;
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata");
    let mut directories = vec![root.into()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir::<std::path::PathBuf>(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let extension =
                path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
            if !matches!(extension, "pgn" | "kif" | "ki2" | "csa" | "jkf") {
                continue;
            }
            let file = fs::read(&path).expect("it is read");
            for record in read(&file[..], None).take(200).flatten() {
                let new = NewGame::from_record(&record, Source::Import, 0);
                let read = new.record().expect("it is decoded");
                assert!(read == record, "{}: {read:?}\n{record:?}", path.display());
                count += 1;
            }
        }
    }
    assert!(count > 40, "{count} records");
}

#[test]
fn summaries_are_computed_from_records() {
    let pgn = "[Event \"Open\"]\n[Site \"https://example.org/x\"]\n[Date \"2024.02.03\"]\n\
        [White \"A\"]\n[Black \"B\"]\n[Result \"1-0\"]\n[WhiteElo \"2500\"]\n[BlackElo \"?\"]\n\
        [TimeControl \"180+2\"]\n[Termination \"Time forfeit\"]\n\n\
        1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6 (5... g6) 6. Be3 1-0\n";
    let record = read(pgn.as_bytes(), None).flatten().next().expect("a record");
    let new = NewGame::from_record(&record, Source::Import, 7);
    let Summary { ratings, plies, result, termination, variations, annotated, speed, .. } =
        new.summary;
    assert_eq!((ratings, plies, result), ([2500, 0], 11, GameResult::Win(Side::First)));
    assert_eq!(termination, Some(Termination::TimeForfeit));
    assert_eq!((variations, annotated, speed), (true, false, Some(Speed::Blitz)));
    assert_eq!((new.event.as_str(), new.site.as_str()), ("Open", ""));
    let najdorf =
        ("B90".to_owned(), "Sicilian Defense: Najdorf Variation, English Attack".to_owned());
    assert_eq!(new.opening, Some(najdorf));
    assert_eq!((new.postings.len(), new.summary.date.to_string().as_str()), (15, "2024.02.03"));
}
