//! Values of positions and moves by real tables.

use std::fs;
use std::path::{Path, PathBuf};

use readyok_rules::{
    CastlingForm, Game, Syzygy, TablebaseCategory, TablebaseEnd, TablebaseError, TablebaseResult,
};

use crate::position;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/syzygy")
}

fn tables() -> Syzygy {
    Syzygy::open([directory()]).expect("the tables")
}

#[test]
fn tables_in_memory_have_the_values_of_files() {
    let files =
        fs::read_dir(directory()).expect("a directory").map(|file| file.expect("a file").path());
    let files =
        files.filter(|file| file.extension().is_some_and(|name| name == "rtbw" || name == "rtbz"));
    let named = |file: PathBuf| {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        (name, fs::read(file).expect("a table"))
    };
    let memory = Syzygy::from_files(files.map(named)).expect("the tables");
    let fen = "8/8/8/8/8/5k2/7q/4K3 b - - 0 1";
    assert_eq!(probe(&memory, fen), probe(&tables(), fen));
    let wrong = Syzygy::from_files([("notes.txt".to_owned(), Vec::new())]);
    assert!(wrong.is_err_and(|error| error.to_string().starts_with("`notes.txt`: ")));
}

fn probe(tables: &Syzygy, fen: &str) -> TablebaseResult {
    tables.probe_moves(&position(Game::Chess, fen)).expect(fen)
}

/// The moves as `uci category dtz`, with `z` for zeroing moves and the end of the game.
fn shown(result: &TablebaseResult) -> Vec<String> {
    let moves = result.moves.iter().map(|entry| {
        let category = entry
            .value
            .category
            .map_or_else(|| "unknown".to_owned(), |category| category.to_string());
        let dtz = entry.value.dtz.map_or_else(|| "?".to_owned(), |dtz| dtz.to_string());
        let zeroing = if entry.is_zeroing { " z" } else { "" };
        let end = entry.end.map(|end| format!(" {end}")).unwrap_or_default();
        format!("{} {category} {dtz}{zeroing}{end}", entry.mv.to_uci(CastlingForm::KingMove))
    });
    moves.collect()
}

#[test]
fn wins_are_sorted_by_progress_and_draws_follow() {
    let result = probe(&tables(), "7k/5Q2/6K1/8/8/8/8/8 w - - 0 1");
    assert_eq!(result.value.category, Some(TablebaseCategory::Win));
    let moves = shown(&result);
    let mates: Vec<_> = moves.iter().filter(|line| line.ends_with("win 0 checkmate")).collect();
    assert!(mates.iter().any(|line| line.starts_with("f7g7")), "{moves:?}");
    assert!(moves.iter().take(mates.len()).all(|line| line.ends_with("checkmate")), "{moves:?}");
    assert!(moves.contains(&"g6h6 draw 0 stalemate".to_owned()), "{moves:?}");
    assert!(moves.contains(&"f7g8 draw 0".to_owned()), "{moves:?}");
    let wins: Vec<_> = result.moves.iter().filter_map(|entry| entry.value.dtz).collect();
    let wins: Vec<_> = wins.into_iter().take_while(|dtz| *dtz > 0).collect();
    assert!(wins.is_sorted(), "{wins:?}");
}

#[test]
fn losses_are_sorted_by_resistance() {
    let result = probe(&tables(), "8/8/8/3k4/8/8/1R6/K7 b - - 0 1");
    assert_eq!(result.value.category, Some(TablebaseCategory::Loss));
    let dtz: Vec<_> = result.moves.iter().filter_map(|entry| entry.value.dtz).collect();
    assert_eq!(dtz.len(), result.moves.len());
    assert!(dtz.is_sorted() && dtz.iter().all(|dtz| *dtz < 0), "{dtz:?}");
}

#[test]
fn a_pawn_move_that_wins_precedes_slower_wins() {
    let result = probe(&tables(), "8/P7/8/8/8/2k5/8/K7 w - - 0 1");
    let first = &result.moves[0];
    assert!(first.is_zeroing && first.value.category == Some(TablebaseCategory::Win));
    assert_eq!(first.mv.to_uci(CastlingForm::KingMove).get(..4), Some("a7a8"));
    let knight = shown(&result).into_iter().find(|line| line.starts_with("a7a8n"));
    assert_eq!(knight.as_deref(), Some("a7a8n draw 0 z insufficient material"));
}

#[test]
fn the_fifty_move_rule_turns_wins_into_draws_but_not_mate() {
    let result = probe(&tables(), "7k/5Q2/6K1/8/8/8/8/8 w - - 99 90");
    assert_eq!(result.value.category, Some(TablebaseCategory::Win));
    assert_eq!(result.moves[0].end, Some(TablebaseEnd::Checkmate));
    let categories: Vec<_> = result.moves.iter().filter_map(|entry| entry.value.category).collect();
    assert!(categories.is_sorted());
    assert!(categories.contains(&TablebaseCategory::CursedWin), "{categories:?}");
    let rook = probe(&tables(), "8/8/8/3k4/8/8/1R6/K7 b - - 90 90");
    assert_eq!(rook.value.category, Some(TablebaseCategory::BlessedLoss));
}

#[test]
fn a_position_after_the_end_of_the_game_has_a_value() {
    let mated = probe(&tables(), "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1");
    assert_eq!(mated.end, Some(TablebaseEnd::Checkmate));
    assert_eq!(mated.value.category, Some(TablebaseCategory::Loss));
    assert!(mated.moves.is_empty());
    let bare = probe(&tables(), "7k/8/6K1/8/8/8/8/8 b - - 0 1");
    assert_eq!(bare.end, Some(TablebaseEnd::InsufficientMaterial));
    assert_eq!(bare.value.category, Some(TablebaseCategory::Draw));
}

#[test]
fn positions_that_no_table_can_contain_are_errors() {
    let error = |game, fen| tables().probe_moves(&position(game, fen)).expect_err(fen);
    let castling = "8/8/8/8/8/4k3/8/R3K3 w Q - 0 1";
    assert_eq!(error(Game::Chess, castling), TablebaseError::CastlingRights);
    assert_eq!(error(Game::Chess960, castling), TablebaseError::CastlingRights);
    assert_eq!(error(Game::Shogi, ""), TablebaseError::Shogi);
    let pawns = "4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 1";
    let too_many = TablebaseError::TooManyPieces { pieces: 10, max: 4 };
    assert_eq!(error(Game::Chess, pawns), too_many);
}

#[test]
fn chess960_positions_without_castling_rights_have_values() {
    let rook = position(Game::Chess960, "8/8/8/8/8/4k3/8/R3K3 w - - 0 1");
    let result = tables().probe_moves(&rook).expect("a result");
    assert_eq!(result.value.category, Some(TablebaseCategory::Win));
}

#[test]
fn a_missing_table_has_unknown_values() {
    let result = probe(&tables(), "8/8/4k3/8/8/3BN3/8/K7 w - - 0 1");
    assert_eq!(result.value.category, None);
    assert!(
        !result.moves.is_empty() && result.moves.iter().all(|entry| entry.value.category.is_none())
    );
    // The capture of a piece leads into a table.
    let result = probe(&tables(), "8/8/8/3k4/3BN3/8/8/K7 b - - 0 1");
    assert_eq!(result.moves[0].value.category, Some(TablebaseCategory::Draw));
    let known = |zeroing| {
        let moves = result.moves.iter().filter(move |entry| entry.is_zeroing == zeroing);
        moves.map(|entry| entry.value.category).collect::<Vec<_>>()
    };
    assert_eq!(known(true), [Some(TablebaseCategory::Draw); 2]);
    assert!(!known(false).is_empty() && known(false).iter().all(Option::is_none));
}

#[test]
fn wdl_tables_alone_are_exact_only_after_a_zeroing_move() {
    let copy = tempfile::tempdir().expect("a directory");
    for file in fs::read_dir(directory()).expect("the tables") {
        let path = file.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "rtbw") {
            fs::copy(&path, copy.path().join(path.file_name().expect("a name"))).expect("a copy");
        }
    }
    let tables = Syzygy::open([copy.path()]).expect("the tables");
    let result = probe(&tables, "8/P7/8/8/8/2k5/8/K7 w - - 0 1");
    assert_eq!(result.value.category, Some(TablebaseCategory::Win));
    assert_eq!(shown(&result)[0], "a7a8q win ? z");
    let king = shown(&result).into_iter().find(|line| line.starts_with("a1a2"));
    assert_eq!(king.as_deref(), Some("a1a2 win or cursed win ?"));
}

#[test]
fn the_best_move_keeps_the_value_of_the_position() {
    let tables = tables();
    let mut count = 0;
    for pieces in ["Q", "R", "P", "B", "N"] {
        for white in [9, 46] {
            for black in (0..64).step_by(3) {
                for piece in (9..55).step_by(13) {
                    for turn in ["w", "b"] {
                        let mut board = [' '; 64];
                        (board[white], board[black]) = ('K', 'k');
                        if board[piece] != ' ' || white == black {
                            continue;
                        }
                        board[piece] = pieces.chars().next().unwrap_or('Q');
                        let ranks = board.chunks(8).map(|rank| {
                            rank.iter().map(|c| if *c == ' ' { '1' } else { *c }).collect()
                        });
                        let board = ranks.collect::<Vec<String>>().join("/");
                        let fen = format!("{board} {turn} - - 0 1");
                        let Ok(position) = readyok_rules::Position::from_text(Game::Chess, &fen)
                        else {
                            continue;
                        };
                        let result = tables.probe_moves(&position).expect("a result");
                        if let Some(first) = result.moves.first() {
                            count += 1;
                            let (best, value) = (first.value.category, result.value.category);
                            assert_eq!(best, value, "{fen}");
                        }
                    }
                }
            }
        }
    }
    assert!(count > 500, "{count}");
}
