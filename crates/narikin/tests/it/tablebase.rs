//! Probing of real and broken tables.

use std::fs;
use std::path::{Path, PathBuf};

use cozy_chess::{Board, GameStatus};
use narikin::tablebase::{Ranked, Tablebases, Wdl};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/syzygy")
}

fn tables() -> Tablebases {
    Tablebases::open(directory().to_str().expect("a path in UTF-8")).expect("the tables")
}

fn board(fen: &str) -> Board {
    fen.parse().expect("a position")
}

#[track_caller]
fn check(fen: &str, expected: Option<Wdl>) {
    assert_eq!(tables().wdl(&board(fen)), expected, "{fen}");
}

#[test]
fn results_are_from_the_view_of_the_side_to_move() {
    check("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1", Some(Wdl::Win));
    check("4k3/8/4K3/4P3/8/8/8/8 b - - 0 1", Some(Wdl::Loss));
    check("8/8/8/8/4p3/4k3/8/4K3 w - - 0 1", Some(Wdl::Loss));
    check("8/8/4k3/8/4K3/4P3/8/8 w - - 0 1", Some(Wdl::Draw));
    check("8/8/8/4k3/8/2K5/8/r2R4 w - - 0 1", Some(Wdl::Win));
    check("8/8/4k3/8/8/3NN3/8/K7 w - - 0 1", Some(Wdl::Draw));
}

#[test]
fn positions_outside_of_tables_have_no_result() {
    check("8/8/4k3/8/8/3BN3/8/K7 w - - 0 1", None);
    check("4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 1", None);
    check("8/8/8/8/8/4k3/8/R3K3 w Q - 0 1", None);
    check("8/8/8/8/8/4k3/8/R3K3 w - - 0 1", Some(Wdl::Win));
}

#[test]
fn opens_a_list_of_paths() {
    for none in ["", "<empty>"] {
        let tables = Tablebases::open(none).expect("no directories");
        assert_eq!((tables.files(), tables.max_pieces()), (0, 0));
        assert_eq!(tables.wdl(&board("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1")), None);
        assert_eq!(tables.root(&board("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1")), None);
    }
    let separator = if cfg!(windows) { ";" } else { ":" };
    let directory = directory();
    let twice = [directory.to_str().expect("UTF-8"); 2].join(separator);
    let tables = Tablebases::open(&twice).expect("the tables");
    assert_eq!((tables.files(), tables.max_pieces()), (36, 4));
    let missing = directory.join("nowhere");
    let error =
        Tablebases::open(missing.to_str().expect("UTF-8")).expect_err("a missing directory");
    assert!(error.to_string().contains("nowhere"), "{error}");
}

/// Plays the best moves of both sides to the end of the game. Returns the number of plies.
fn play_out(tables: &Tablebases, fen: &str) -> (u32, GameStatus) {
    let mut board = board(fen);
    let mut plies = 0;
    while board.status() == GameStatus::Ongoing {
        let best = tables.root(&board).expect("known moves").first().copied().expect("a move");
        board.play(best.mv);
        plies += 1;
    }
    (plies, board.status())
}

#[test]
fn the_first_ranked_move_wins_fastest() {
    let tables = tables();
    // The longest wins have ten moves with a queen and sixteen with a rook.
    for (fen, most) in [
        ("8/8/8/8/3k4/8/8/KQ6 w - - 0 1", 19),
        ("8/8/8/8/8/2k5/8/K6Q b - - 0 1", 20),
        ("8/8/8/8/3k4/8/8/KR6 w - - 0 1", 31),
        ("8/8/8/8/8/1R1k4/8/K7 b - - 0 1", 32),
    ] {
        let (plies, status) = play_out(&tables, fen);
        assert!(status == GameStatus::Won && plies <= most, "{fen}: {plies} plies, {status:?}");
        let root = tables.root(&board(fen)).expect("known moves");
        // Without captures and pawns, the distance to zeroing is the distance to mate.
        let first = root.first().expect("a move").dtz.unsigned_abs();
        assert!(first.abs_diff(plies) <= 1, "{fen}: {first}, but {plies}");
    }
}

#[test]
fn a_pawn_wins_by_the_only_move() {
    let root = tables().root(&board("3k4/8/8/1K6/3P4/8/8/8 w - - 0 1")).expect("known moves");
    let wins: Vec<String> = root
        .iter()
        .filter(|ranked| ranked.wdl == Wdl::Win)
        .map(|ranked| ranked.mv.to_string())
        .collect();
    assert_eq!(wins, ["b5c6"], "the only key square at hand");
    assert!(
        root.iter().skip(1).all(|ranked| ranked.wdl == Wdl::Draw && ranked.dtz == 0),
        "{root:?}"
    );
}

#[test]
fn ranks_moves_under_the_fifty_move_rule() {
    let best = |fen: &str| *tables().root(&board(fen)).expect("known moves").first().expect("one");
    let far = "8/8/8/8/3k4/8/8/KR6 w - - 0 1";
    let Ranked { wdl, dtz, .. } = best(far);
    assert_eq!(wdl, Wdl::Win);
    let last = 99 - dtz;
    let counted = |moves: i32| best(&far.replace(" 0 1", &format!(" {moves} 90")));
    assert_eq!(counted(last).wdl, Wdl::Win);
    assert_eq!(counted(last + 1).wdl, Wdl::CursedWin);
    // The rule saves the other side.
    let lost = "8/8/8/8/3k4/8/8/KR6 b - - 95 90";
    assert_eq!(best(lost).wdl, Wdl::BlessedLoss);
    // A mate in one still wins.
    let mate = best("k7/8/1K6/8/8/8/8/7R w - - 99 90");
    assert_eq!((mate.mv.to_string().as_str(), mate.wdl, mate.dtz), ("h1h8", Wdl::Win, 1));
}

#[test]
fn ranks_moves_by_result_without_dtz_tables() {
    let copy = tempfile::tempdir().expect("a directory");
    for name in ["KRvK.rtbw", "KPvK.rtbw", "KQvK.rtbw", "KNvK.rtbw", "KBvK.rtbw"] {
        fs::copy(directory().join(name), copy.path().join(name)).expect("copied");
    }
    let tables = Tablebases::open(copy.path().to_str().expect("UTF-8")).expect("the tables");
    let root = tables.root(&board("3k4/8/8/1K6/3P4/8/8/8 w - - 0 1")).expect("known moves");
    let [first, others @ ..] = root.as_slice() else { panic!("no move") };
    assert_eq!((first.mv.to_string().as_str(), first.wdl), ("b5c6", Wdl::Win));
    assert!(others.iter().all(|ranked| ranked.wdl == Wdl::Draw), "{root:?}");
    // All of these moves win, at unknown distances.
    let root = tables.root(&board("8/8/8/8/3k4/8/8/KR6 w - - 0 1")).expect("known moves");
    assert!(root.iter().all(|ranked| (ranked.wdl, ranked.dtz) == (Wdl::Win, 0)), "{root:?}");
}

#[test]
fn broken_tables_are_ignored() {
    let copy = tempfile::tempdir().expect("a directory");
    let mut seed = 1_u64;
    let mut next = |end: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((seed >> 33) % end as u64).expect("small")
    };
    let boards = [
        "4k3/8/4K3/4P3/8/8/8/8 w - - 0 1",
        "8/8/8/8/3k4/8/8/KR6 w - - 0 1",
        "8/8/8/8/3k4/8/8/KQ6 b - - 0 1",
        "8/8/8/4k3/8/2K5/8/r2R4 w - - 0 1",
    ]
    .map(board);
    let mut unknown = 0;
    for _ in 0..200 {
        for entry in fs::read_dir(directory()).expect("the tables") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name");
            let mut bytes = fs::read(&path).expect("a file");
            // The header has the offsets of all parts.
            for _ in 0..3 {
                let (most, value) = (if next(2) == 0 { 120 } else { bytes.len() }, next(256));
                let place = next(most.min(bytes.len()));
                bytes[place] = u8::try_from(value).expect("a byte");
            }
            fs::write(copy.path().join(name), bytes).expect("space");
        }
        let tables = Tablebases::open(copy.path().to_str().expect("UTF-8")).expect("a directory");
        for board in &boards {
            unknown += u32::from(tables.wdl(board).is_none() || tables.root(board).is_none());
        }
    }
    assert!(unknown > 0);
}
