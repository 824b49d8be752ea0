//! Properties of positions after random lines of play, in every game.

use proptest::prelude::*;
use readyok_rules::{
    BoardRef, CastlingForm, ChessBoard, EndRules, FenForm, Game, Handicap, IllegalReason, Move,
    Notation, Position, PositionHistory, Setup, Termination,
    shakmaty::{EnPassantMode, Position as _, Square, fen::Fen, uci::UciMove, zobrist::Zobrist64},
};

use crate::{laws, position};

const NOTATIONS: [Notation; 5] =
    [Notation::Uci, Notation::Western, Notation::WesternDigits, Notation::Long, Notation::Japanese];

/// Start positions of chess, and positions with many kinds of moves.
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

/// Start positions of shogi, and positions with many kinds of moves.
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

/// A start position of double Chess960, optionally without the pieces other than kings and rooks.
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

/// A position and random moves from there.
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

    /// Writing and reading a position preserves its key.
    #[test]
    fn positions_survive_a_round_trip((start, line) in lines()) {
        let mut position = start;
        laws::position(&position);
        for mv in line {
            position.play(mv).expect("a legal move");
            let read = Position::from_text(position.game(), &position.to_string());
            prop_assert_eq!(read.map(|read| read.key()), Ok(position.key()));
        }
        laws::position(&position);
    }

    /// Writing and reading a legal move returns the move, in every notation.
    #[test]
    fn moves_survive_a_round_trip((start, line) in lines()) {
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

    /// The text of a position is that of its setup, and that of the crates of both boards.
    #[test]
    fn texts_are_those_of_other_writers((start, line) in lines()) {
        let mut position = start;
        for mv in line {
            position.play(mv).expect("a legal move");
            let setup = position.setup();
            for form in [FenForm::XFen, FenForm::Shredder] {
                prop_assert_eq!(position.text(form), setup.text(form));
            }
            match position.board() {
                BoardRef::Chess(board) => {
                    for (form, mode) in [
                        (FenForm::Fen, EnPassantMode::Always),
                        (FenForm::XFen, EnPassantMode::Legal),
                    ] {
                        let fen = Fen::from_position(board.position(), mode).to_string();
                        prop_assert_eq!(position.text(form), fen);
                    }
                }
                BoardRef::Shogi(board) => {
                    prop_assert_eq!(position.to_string(), board.position().to_sfen(None));
                }
                BoardRef::Diagram(_) => prop_assert!(false, "no moves"),
            }
        }
    }

    /// Moves as text are those of the crates of both boards. Other texts are not legal moves.
    #[test]
    fn moves_are_those_of_other_writers((start, line) in lines()) {
        let game = start.game();
        let form = game.castling_form();
        let moves = line.iter().map(|mv| mv.to_uci(form));
        let position = start.after(moves).expect("legal moves");
        let legal = position.legal_moves();
        let mut texts = Vec::new();
        for mv in &legal {
            for form in [CastlingForm::KingMove, CastlingForm::KingTakesRook] {
                let expected = match (mv, form) {
                    (Move::Chess(mv), CastlingForm::KingMove) => UciMove::from_standard(*mv).to_string(),
                    (Move::Chess(mv), CastlingForm::KingTakesRook) => {
                        UciMove::from_chess960(*mv).to_string()
                    }
                    (Move::Shogi(mv), _) => mv.to_usi(),
                };
                prop_assert_eq!(mv.uci(form).to_string(), expected.clone());
                prop_assert!(position.is_legal(*mv));
                texts.push(expected);
            }
        }
        if game != Game::Shogi {
            for from in Square::ALL {
                for to in Square::ALL {
                    for suffix in ["", "q", "n", "k", "p"] {
                        let text = format!("{from}{to}{suffix}");
                        let is_legal = position.parse_move(&text).is_ok();
                        prop_assert_eq!(is_legal, texts.contains(&text), "{} {}", position, text);
                    }
                }
            }
        }
    }

    /// Taking back moves leads through the same positions, with the same repetitions.
    #[test]
    fn moves_are_taken_back((start, line) in lines()) {
        let mut history = PositionHistory::new(start.clone());
        let form = start.game().castling_form();
        let facts = |position: &Position| {
            (format!("{position:?}"), position.key(), position.claims(), position.outcome())
        };
        let mut before = Vec::new();
        for (number, mv) in line.iter().enumerate() {
            before.push(facts(history.position()));
            let rejected = history.push_uci("0000");
            prop_assert!(rejected.is_err());
            match number % 3 {
                0 => prop_assert_eq!(history.push(*mv), Ok(())),
                1 => prop_assert_eq!(history.push_uci(&mv.to_uci(form)), Ok(*mv)),
                _ => {
                    let text = history.position().notation(*mv, Notation::Western);
                    prop_assert_eq!(history.push_any(&text), Ok(*mv));
                }
            }
        }
        prop_assert_eq!(history.moves(), line.as_slice());
        let replayed = start.clone().after(line.iter().map(|mv| mv.to_uci(form)));
        prop_assert_eq!(facts(history.position()), facts(&replayed.expect("legal moves")));
        let bad = line.iter().map(|mv| mv.to_uci(form)).chain(["0000".to_owned()]);
        let mut other = PositionHistory::new(start.clone());
        let error = other.push_line(bad).map_err(|error| error.index);
        prop_assert_eq!((error, other.moves().len()), (Err(line.len()), 0));
        prop_assert_eq!(facts(other.position()), facts(&start));
        while let Some(before) = before.pop() {
            let again = history.position().clone();
            let mv = history.pop().expect("a move");
            prop_assert_eq!(facts(history.position()), before.clone());
            history.push(mv).expect("the same move");
            prop_assert_eq!(facts(history.position()), facts(&again));
            history.pop();
            prop_assert_eq!(facts(history.position()), before);
        }
        prop_assert_eq!(history.pop(), None);
        prop_assert_eq!(facts(history.position()), facts(history.start()));
    }

    /// Different moves have different texts.
    #[test]
    fn notations_are_unambiguous((start, line) in lines()) {
        let form = start.game().castling_form();
        let moves = line.iter().map(|mv| mv.to_uci(form));
        let position = start.after(moves).expect("legal moves");
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

/// The FEN or SFEN without counters, which identifies a position for repetition.
fn without_counters(position: &Position) -> String {
    let fields = if position.game() == Game::Shogi { 3 } else { 4 };
    position.to_string().split(' ').take(fields).collect::<Vec<_>>().join(" ")
}

/// Positions with few pieces, where random moves often repeat positions.
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

/// The moves that match, or all if none does.
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

    /// Repetition and perpetual check agree with a complete history of the game.
    #[test]
    fn repetition_agrees_with_the_history((start, choices) in shuffles()) {
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
            // Prefers checks and moves to earlier positions.
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

    /// A key that is updated incrementally, as in a search, equals the key of the position.
    #[test]
    fn incremental_keys_are_correct((start, line) in lines()) {
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

    /// Move generation and legality agree after any line of chess.
    #[test]
    fn every_move_is_generated_or_rejected_after_any_line_of_chess((start, line) in chess_lines()) {
        check_all_moves_after(start, line);
    }

    /// Move generation and legality agree after any line of shogi.
    #[test]
    fn every_move_is_generated_or_rejected_after_any_line_of_shogi((start, line) in shogi_lines()) {
        check_all_moves_after(start, line);
    }
}

fn check_all_moves_after(mut position: Position, line: Vec<Move>) {
    for mv in line {
        position.play(mv).expect("a legal move");
    }
    check_all_moves(&position);
}

/// Every move that a protocol can express is generated, or rejected with a reason.
fn check_all_moves(position: &Position) {
    let game = position.game();
    let form = CastlingForm::KingTakesRook;
    let mut generated: Vec<String> =
        position.legal_moves().iter().map(|mv| mv.to_uci(form)).collect();
    let mut read: Vec<String> = Vec::new();
    for uci in all_moves(game) {
        match position.parse_move(&uci) {
            Ok(mv) => read.push(mv.to_uci(form)),
            Err(error) => {
                assert!(!generated.contains(&uci), "{position}: {error}");
                let same_square = uci.get(..2) == uci.get(2..4);
                assert!(
                    same_square || error.reason != IllegalReason::InvalidMove,
                    "{position}: {error}"
                );
            }
        }
    }
    generated.sort();
    read.sort();
    // Castling has two forms.
    read.dedup();
    assert_eq!(read, generated, "{position}");
}

fn all_moves(game: Game) -> Vec<String> {
    let mut moves = Vec::new();
    let squares: Vec<String> =
        readyok_rules::Square::all(game).map(|square| square.name(game)).collect();
    let suffixes: &[&str] =
        if game == Game::Shogi { &["", "+"] } else { &["", "q", "r", "b", "n", "k", "p"] };
    for from in &squares {
        for to in &squares {
            moves.extend(suffixes.iter().map(|suffix| format!("{from}{to}{suffix}")));
        }
        if game == Game::Shogi {
            moves.extend("RBGSNLP".chars().map(|piece| format!("{piece}*{from}")));
        }
    }
    moves
}

#[test]
fn every_move_of_chess_is_generated_or_rejected() {
    for text in [
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
        "8/8/8/2k5/2pP4/8/B7/4K3 b - d3 0 3",
        "4k2r/8/8/8/7b/8/5P2/R3K2R w KQ - 0 1",
    ] {
        check_all_moves(&position(Game::Chess, text));
    }
    let rooks = "1r2k1r1/8/8/8/8/8/8/1R1RK1R1 w KDkq - 0 1";
    check_all_moves(&position(Game::Chess960, rooks));
}

#[test]
fn every_move_of_shogi_is_generated_or_rejected() {
    for text in [
        "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1",
        "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
        "4k4/K4r3/3GN1B2/9/9/9/9/9/9 b P 1",
        "4k4/9/4P4/9/9/9/9/9/9 b G 1",
    ] {
        check_all_moves(&position(Game::Shogi, text));
    }
}
