//! What holds after any line of play, in every game.

use proptest::prelude::*;
use readyok_rules::{
    BoardRef, CastlingForm, ChessBoard, EndRules, Game, Handicap, IllegalReason, Move, Notation,
    Position, Setup, Termination,
    shakmaty::{EnPassantMode, Position as _, zobrist::Zobrist64},
};

use crate::{laws, position};

const NOTATIONS: [Notation; 5] =
    [Notation::Uci, Notation::Western, Notation::WesternDigits, Notation::Long, Notation::Japanese];

/// Where games of chess start, and positions where much is possible.
fn chess_starts() -> impl Strategy<Value = Position> {
    let text = |game, text: &'static str| Just(position(game, text));
    prop_oneof![
        text(Game::Chess, ""),
        text(Game::Chess, "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"),
        text(Game::Chess, "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1"),
        text(Game::Chess, "8/7k/8/QQQ5/Q1Q5/QQQ5/8/4K3 w - - 0 1"),
        (0..960_u16, 0..960_u16).prop_map(|(white, black)| double(white, black, false)),
        (0..960_u16, 0..960_u16).prop_map(|(white, black)| double(white, black, true)),
    ]
}

/// The same for shogi.
fn shogi_starts() -> impl Strategy<Value = Position> {
    let text = |game, text: &'static str| Just(position(game, text));
    prop_oneof![
        text(Game::Shogi, ""),
        text(Game::Shogi, "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1"),
        text(Game::Shogi, "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1"),
        text(Game::Shogi, "8k/9/3+P1+P3/3+P+P+P3/3G1G3/3GSG3/3S1S3/3NSN3/K8 b RBrb 1"),
        (0..Handicap::ALL.len()).prop_map(|index| {
            Setup::handicap(Handicap::ALL[index]).position().expect("a handicap")
        }),
    ]
}

/// A start of double Chess960, or the same with nothing between king and rooks.
fn double(white: u16, black: u16, bare: bool) -> Position {
    let start = Setup::double_chess960(white, black).expect("numbers");
    let mut setup = start.clone();
    for (square, piece) in start.pieces() {
        if bare && "NBQ".contains(piece.kind.letter()) {
            setup.remove(square);
        }
    }
    setup.position().expect("a position")
}

fn chess_lines() -> impl Strategy<Value = (Position, Vec<Move>)> {
    lines_from(chess_starts())
}

fn shogi_lines() -> impl Strategy<Value = (Position, Vec<Move>)> {
    lines_from(shogi_starts())
}

fn lines() -> impl Strategy<Value = (Position, Vec<Move>)> {
    prop_oneof![6 => chess_lines(), 5 => shogi_lines()]
}

/// A position, and the moves that lead on from it.
fn lines_from(
    starts: impl Strategy<Value = Position>,
) -> impl Strategy<Value = (Position, Vec<Move>)> {
    (starts, prop::collection::vec(any::<prop::sample::Index>(), 0..80)).prop_map(
        |(start, choices)| {
            let mut position = start.clone();
            let mut line = Vec::new();
            for choice in choices {
                let moves = position.legal_moves();
                if moves.is_empty() {
                    break;
                }
                let mv = *choice.get(&moves);
                position.play(mv).expect("a legal move");
                line.push(mv);
            }
            (start, line)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// The text of every position is read as that position, with the same key.
    #[test]
    fn positions_survive_being_written((start, line) in lines()) {
        let mut position = start;
        laws::position(&position);
        for mv in line {
            position.play(mv).expect("a legal move");
            let read = Position::from_text(position.game(), &position.to_string());
            prop_assert_eq!(read.map(|read| read.key()), Ok(position.key()));
        }
        laws::position(&position);
    }

    /// Every legal move is read as itself from every notation.
    #[test]
    fn moves_survive_being_written((start, line) in lines()) {
        let mut position = start;
        for mv in line {
            for notation in NOTATIONS {
                let written = position.notation(mv, notation);
                prop_assert_eq!(position.parse(&written, notation), Ok(mv), "{}", written);
            }
            position.play(mv).expect("a legal move");
        }
        for mv in position.legal_moves() {
            for notation in NOTATIONS {
                let written = position.notation(mv, notation);
                prop_assert_eq!(position.parse(&written, notation), Ok(mv), "{}", written);
            }
        }
    }

    /// Different moves are written differently.
    #[test]
    fn moves_are_told_apart((start, line) in lines()) {
        let form = start.game().castling_form();
        let words = line.iter().map(|mv| mv.to_uci(form));
        let position = start.after(words).expect("legal moves");
        for notation in NOTATIONS {
            let moves = position.legal_moves();
            let mut written: Vec<String> =
                moves.iter().map(|&mv| position.notation(mv, notation)).collect();
            written.sort();
            written.dedup();
            prop_assert_eq!(written.len(), moves.len(), "{:?}", notation);
        }
    }
}

/// What FEN and SFEN say but for the counters, which is what makes two positions the same.
fn without_counters(position: &Position) -> String {
    let fields = if position.game() == Game::Shogi { 3 } else { 4 };
    position.to_string().split(' ').take(fields).collect::<Vec<_>>().join(" ")
}

/// Few pieces that walk to and fro, so that positions come again.
fn shuffles() -> impl Strategy<Value = (Position, Vec<prop::sample::Index>)> {
    let text = |game, text: &'static str| Just(position(game, text));
    let starts = prop_oneof![
        text(Game::Chess, "8/8/8/8/p1p1p1p1/P1P1P1P1/6k1/K3R3 w - - 0 1"),
        text(Game::Chess, "r3k3/p7/P7/8/8/p7/P7/4K2R w Kq - 0 1"),
        text(Game::Shogi, "k8/1p1p1p1pp/9/9/9/9/9/PP1P1P1P1/K8 b - 1"),
        text(Game::Shogi, "k7R/9/K8/9/9/9/9/9/9 w - 1"),
        text(Game::Shogi, "8k/7p1/9/9/9/9/9/R8/K8 b P 1"),
        text(Game::Shogi, "k8/9/9/9/9/9/9/7R1/K8 b - 1"),
        text(Game::Shogi, "8k/1r7/9/9/9/9/9/9/8K w - 1"),
    ];
    (starts, prop::collection::vec(any::<prop::sample::Index>(), 60..100))
}

/// The moves that fit, or all if none does.
fn narrowed(moves: Vec<Move>, fits: impl Fn(&Move) -> bool) -> Vec<Move> {
    let fitting: Vec<Move> = moves.iter().copied().filter(fits).collect();
    if fitting.is_empty() { moves } else { fitting }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Repetition is what a list of all positions of the game says, and so is who gave check.
    #[test]
    fn repetition_is_counted_by_the_text((start, choices) in shuffles()) {
        let game = start.game();
        let mut position = start;
        let mut history: Vec<(String, bool)> = Vec::new();
        for choice in choices {
            let text = without_counters(&position);
            history.push((text.clone(), position.in_check()));
            let seen: Vec<usize> =
                (0..history.len()).filter(|&index| history[index].0 == text).collect();
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            if game == Game::Shogi {
                let expected = seen.len().checked_sub(4).map(|skipped| {
                    let since: Vec<bool> =
                        history[seen[skipped] + 1..].iter().map(|&(_, check)| check).collect();
                    let checked = |skip: usize| since.iter().rev().skip(skip).step_by(2).all(|&c| c);
                    match (checked(0), checked(1)) {
                        (true, false) => (Some(position.turn()), Termination::PerpetualCheck),
                        (false, true) => (Some(position.turn().other()), Termination::PerpetualCheck),
                        _ => (None, Termination::Repetition),
                    }
                });
                let found = position.outcome().map(|ending| (ending.winner(), ending.termination));
                prop_assert_eq!(found, expected, "{}", position);
            } else {
                let claimed = position.claims().contains(&Termination::Repetition);
                prop_assert_eq!(claimed, seen.len() >= 3, "{}", position);
                let ending = position.outcome_under(&EndRules::FEDERATIONS);
                let fivefold = ending.is_some_and(|end| end.termination == Termination::FivefoldRepetition);
                prop_assert_eq!(fivefold, seen.len() >= 5, "{}", position);
            }
            // Mostly checks, and mostly back to where the game has been.
            let after = |&mv: &Move| position.clone().after([mv.to_uci(game.castling_form())]);
            let mut few = moves;
            if choice.index(16) != 0 {
                let known = |mv: &Move| {
                    let text = without_counters(&after(mv).expect("a legal move"));
                    history.iter().any(|(earlier, _)| *earlier == text)
                };
                let checks = |mv: &Move| after(mv).expect("a legal move").in_check();
                few = narrowed(narrowed(few, checks), known);
            }
            position.play(few[choice.index(few.len().min(3))]).expect("a legal move");
        }
    }

    /// A key that is carried from move to move, as searches do, is that of the position.
    #[test]
    fn keys_can_be_carried_along((start, line) in lines()) {
        let mut position = start;
        for mv in line {
            let BoardRef::Chess(board) = position.board() else { break };
            let Move::Chess(chess) = mv else { unreachable!("a move of chess") };
            let key = Zobrist64(ChessBoard::key_of(board.position()));
            let carried = board.position().update_zobrist_hash(key, chess, EnPassantMode::Legal);
            position.play(mv).expect("a legal move");
            if let Some(Zobrist64(carried)) = carried {
                prop_assert_eq!(carried, position.key(), "{}", position);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 16,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// What is generated is what is legal, wherever a game of chess has come to.
    #[test]
    fn every_word_is_generated_or_refused_after_any_line_of_chess((start, line) in chess_lines()) {
        check_all_words_after(start, line);
    }

    /// The same for shogi.
    #[test]
    fn every_word_is_generated_or_refused_after_any_line_of_shogi((start, line) in shogi_lines()) {
        check_all_words_after(start, line);
    }
}

fn check_all_words_after(mut position: Position, line: Vec<Move>) {
    for mv in line {
        position.play(mv).expect("a legal move");
    }
    check_all_words(&position);
}

/// Every word that a protocol could send is a generated move, or is refused with a reason.
fn check_all_words(position: &Position) {
    let game = position.game();
    let form = CastlingForm::KingTakesRook;
    let mut generated: Vec<String> =
        position.legal_moves().iter().map(|mv| mv.to_uci(form)).collect();
    let mut read: Vec<String> = Vec::new();
    for word in all_words(game) {
        match position.parse_move(&word) {
            Ok(mv) => read.push(mv.to_uci(form)),
            Err(error) => {
                assert!(!generated.contains(&word), "{position}: {error}");
                let same_square = word.get(..2) == word.get(2..4);
                assert!(
                    same_square || error.reason != IllegalReason::Unreadable,
                    "{position}: {error}"
                );
            }
        }
    }
    generated.sort();
    read.sort();
    // Castling can be written in two ways.
    read.dedup();
    assert_eq!(read, generated, "{position}");
}

fn all_words(game: Game) -> Vec<String> {
    let mut words = Vec::new();
    let squares: Vec<String> =
        readyok_rules::Square::all(game).map(|square| square.name(game)).collect();
    let suffixes: &[&str] =
        if game == Game::Shogi { &["", "+"] } else { &["", "q", "r", "b", "n", "k", "p"] };
    for from in &squares {
        for to in &squares {
            words.extend(suffixes.iter().map(|suffix| format!("{from}{to}{suffix}")));
        }
        if game == Game::Shogi {
            words.extend("RBGSNLP".chars().map(|piece| format!("{piece}*{from}")));
        }
    }
    words
}

#[test]
fn every_word_of_chess_is_generated_or_refused() {
    for text in [
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
        "8/8/8/2k5/2pP4/8/B7/4K3 b - d3 0 3",
        "4k2r/8/8/8/7b/8/5P2/R3K2R w KQ - 0 1",
    ] {
        check_all_words(&position(Game::Chess, text));
    }
    let rooks = "1r2k1r1/8/8/8/8/8/8/1R1RK1R1 w KDkq - 0 1";
    check_all_words(&position(Game::Chess960, rooks));
}

#[test]
fn every_word_of_shogi_is_generated_or_refused() {
    for text in [
        "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1",
        "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
        "4k4/K4r3/3GN1B2/9/9/9/9/9/9 b P 1",
        "4k4/9/4P4/9/9/9/9/9/9 b G 1",
    ] {
        check_all_words(&position(Game::Shogi, text));
    }
}
