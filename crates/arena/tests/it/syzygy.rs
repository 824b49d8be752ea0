//! Adjudication by real tablebases, compared with known facts of the endgame theory.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use readyok_arena::game::{Answer, Decision, Referee, Tablebases, Verdict};
use readyok_arena::pairing::Opening;
use readyok_arena::plan::{Adjudication, Limits, TablebaseAdjudication, TablebaseScope};
use readyok_rules::shakmaty::fen::Fen;
use readyok_rules::shakmaty::{
    Bitboard, Board, CastlingMode, Chess, Color, Piece, Role, Setup, Square,
};
use readyok_rules::{Game, Side, Syzygy, Termination, Wdl};

fn tables() -> Syzygy {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/syzygy");
    Syzygy::open([directory]).expect("the tables")
}

#[track_caller]
fn check(fen: &str, expected: Option<Wdl>) {
    let fen: Fen = fen.parse().expect("a FEN");
    let position: Chess = fen.into_position(CastlingMode::Standard).expect("a position");
    assert_eq!(tables().probe(&position), expected);
}

#[test]
fn a_king_on_a_key_square_wins() {
    // In front of a pawn on the fifth rank, with either side to move.
    check("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1", Some(Wdl::Win));
    check("4k3/8/4K3/4P3/8/8/8/8 b - - 0 1", Some(Wdl::Loss));
    // Two ranks in front of a pawn on the second rank.
    check("8/8/4k3/8/4K3/8/4P3/8 w - - 0 1", Some(Wdl::Win));
    check("8/8/4k3/8/4K3/8/4P3/8 b - - 0 1", Some(Wdl::Loss));
}

#[test]
fn the_opposition_decides_one_rank_in_front_of_a_pawn() {
    check("8/8/4k3/8/4K3/4P3/8/8 w - - 0 1", Some(Wdl::Draw));
    check("8/8/4k3/8/4K3/4P3/8/8 b - - 0 1", Some(Wdl::Loss));
}

#[test]
fn a_rook_pawn_draws_against_a_king_in_its_corner() {
    check("k7/8/K7/P7/8/8/8/8 w - - 0 1", Some(Wdl::Draw));
    check("k7/8/K7/P7/8/8/8/8 b - - 0 1", Some(Wdl::Draw));
}

#[test]
fn a_pawn_outside_the_square_of_the_king_queens() {
    check("8/8/8/P6k/8/8/8/K7 b - - 0 1", Some(Wdl::Loss));
    check("8/8/8/P3k3/8/8/8/K7 b - - 0 1", Some(Wdl::Draw));
}

#[test]
fn pieces_that_cannot_mate_draw() {
    check("8/8/4k3/8/8/3NN3/8/K7 w - - 0 1", Some(Wdl::Draw));
    check("8/8/4k3/8/8/4B3/8/K7 w - - 0 1", Some(Wdl::Draw));
}

#[test]
fn searches_captures_before_probing() {
    check("8/8/3k4/8/8/1r6/8/K6R w - - 0 1", Some(Wdl::Draw));
    check("8/8/8/3k4/8/8/r6R/K7 w - - 0 1", Some(Wdl::Win));
    check("8/8/8/4k3/8/2K5/8/r2R4 w - - 0 1", Some(Wdl::Win));
    check("8/8/8/4k3/8/3K4/8/q2Q4 b - - 0 1", Some(Wdl::Win));
}

#[test]
fn a_missing_table_has_no_value() {
    check("8/8/4k3/8/8/3BN3/8/K7 w - - 0 1", None);
    check("4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 1", None);
    check("8/8/8/8/8/4k3/8/R3K3 w Q - 0 1", None);
}

/// Stockfish's bitbase of this ending, generated independently, has this number of wins; its source asserts it.
const WINS_OF_KPK: u32 = 111_282;

#[test]
fn counts_the_known_number_of_wins_with_a_pawn() {
    let tables = tables();
    let mut wins = 0;
    for pawn in Square::ALL {
        if !(1..=6).contains(&u32::from(pawn.rank())) || u32::from(pawn.file()) > 3 {
            continue;
        }
        for white in Square::ALL {
            for black in Square::ALL {
                for turn in Color::ALL {
                    let Some(position) = king_and_pawn(white, pawn, black, turn) else { continue };
                    let won = if turn.is_white() { Wdl::Win } else { Wdl::Loss };
                    wins += u32::from(tables.probe(&position).expect("a result") == won);
                }
            }
        }
    }
    assert_eq!(wins, WINS_OF_KPK);
}

fn king_and_pawn(white: Square, pawn: Square, black: Square, turn: Color) -> Option<Chess> {
    let squares = Bitboard::from(white) | Bitboard::from(pawn) | Bitboard::from(black);
    if squares.count() < 3 {
        return None;
    }
    let mut board = Board::empty();
    board.set_piece_at(white, Piece { color: Color::White, role: Role::King });
    board.set_piece_at(pawn, Piece { color: Color::White, role: Role::Pawn });
    board.set_piece_at(black, Piece { color: Color::Black, role: Role::King });
    Setup { board, turn, ..Setup::empty() }.position(CastlingMode::Standard).ok()
}

#[test]
fn a_game_ends_when_a_capture_leads_to_a_table() {
    let rule = TablebaseAdjudication {
        paths: Vec::new(),
        pieces: 0,
        ignore_fifty_moves: false,
        scope: TablebaseScope::Both,
    };
    let rules = Adjudication { tablebases: Some(rule), ..Adjudication::default() };
    let played = |fen: &str, mv: &str| {
        let opening = Opening { position: Some(fen.to_owned()), ..Opening::default() };
        let tables: Arc<dyn Tablebases> = Arc::new(tables());
        let limits = [Limits::default(); 2];
        let mut referee =
            Referee::new(Game::Chess, &opening, limits, &rules, Some(tables)).expect("a position");
        referee.on_answer(Answer::Move(mv), Duration::ZERO, None)
    };
    let end =
        |winner| Verdict::Over(Decision { winner, end: Termination::TablebaseAdjudication.into() });
    let taken = "8/8/4k3/3n4/8/8/8/3R2K1 w - - 4 60";
    assert_eq!(played(taken, "d1d5"), end(None), "the rook is lost, too");
    let taken = "3r2k1/8/8/8/3N4/4K3/8/8 b - - 4 60";
    assert_eq!(played(taken, "d8d4"), end(None), "the rook is lost, too");
    let taken = "8/8/2k5/8/3n4/8/8/3R2K1 w - - 4 60";
    assert_eq!(played(taken, "d1d4"), end(Some(Side::First)));
    let taken = "3r2k1/8/8/3N4/8/2K5/8/8 b - - 4 60";
    assert_eq!(played(taken, "d8d5"), end(Some(Side::Second)));
    let pushed = "8/8/4k3/8/4K3/8/4P3/8 w - - 0 60";
    assert_eq!(played(pushed, "e2e3"), end(Some(Side::First)));
    let pushed = "8/4p3/8/4k3/8/4K3/8/8 b - - 0 60";
    assert_eq!(played(pushed, "e7e6"), end(Some(Side::Second)));
    let pushed = "8/8/3k4/8/4K3/8/4P3/8 b - - 0 60";
    assert_eq!(played(pushed, "d6e6"), Verdict::Continue, "no capture or pawn move");
    let thrown = "8/8/8/4k3/8/3KP3/8/8 w - - 0 60";
    assert_eq!(played(thrown, "e3e4"), end(None), "the king is behind its pawn");
    let thrown = "8/8/3kp3/8/4K3/8/8/8 b - - 0 60";
    assert_eq!(played(thrown, "e6e5"), end(None), "the king is behind its pawn");
}
