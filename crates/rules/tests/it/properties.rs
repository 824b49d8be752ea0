//! What holds after any line of play, in every game.

use proptest::prelude::*;
use readyok_rules::{CastlingForm, Game, Handicap, Illegal, Move, Notation, Position, Setup};

use crate::{laws, position};

const NOTATIONS: [Notation; 5] = [
    Notation::Word,
    Notation::Western,
    Notation::WesternDigits,
    Notation::Long,
    Notation::Japanese,
];

/// Where games start, and positions where much is possible.
fn starts() -> impl Strategy<Value = Position> {
    let text = |game, text: &'static str| Just(position(game, text));
    prop_oneof![
        text(Game::Chess, ""),
        text(Game::Chess, "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"),
        text(Game::Chess, "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1"),
        text(Game::Chess, "8/7k/8/QQQ5/Q1Q5/QQQ5/8/4K3 w - - 0 1"),
        (0..960_u16, 0..960_u16).prop_map(|(white, black)| double(white, black, false)),
        (0..960_u16, 0..960_u16).prop_map(|(white, black)| double(white, black, true)),
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

/// A position, and the moves that lead on from it.
fn lines() -> impl Strategy<Value = (Position, Vec<Move>)> {
    (starts(), prop::collection::vec(any::<prop::sample::Index>(), 0..80)).prop_map(
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
        let words = line.iter().map(|mv| mv.word(form));
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

/// Every word that a protocol could send is a generated move, or is refused with a reason.
fn check_all_words(game: Game, text: &str) {
    let position = position(game, text);
    let form = CastlingForm::KingTakesRook;
    let mut generated: Vec<String> =
        position.legal_moves().iter().map(|mv| mv.word(form)).collect();
    let mut read: Vec<String> = Vec::new();
    for word in all_words(game) {
        match position.parse_move(&word) {
            Ok(mv) => read.push(mv.word(form)),
            Err(error) => {
                assert!(!generated.contains(&word), "{text}: {error}");
                let same_square = word.get(..2) == word.get(2..4);
                assert!(same_square || error.why != Illegal::Unreadable, "{text}: {error}");
            }
        }
    }
    generated.sort();
    read.sort();
    // Castling can be written in two ways.
    read.dedup();
    assert_eq!(read, generated, "{text}");
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
        check_all_words(Game::Chess, text);
    }
    check_all_words(Game::Chess960, "1r2k1r1/8/8/8/8/8/8/1R1RK1R1 w KDkq - 0 1");
}

#[test]
fn every_word_of_shogi_is_generated_or_refused() {
    for text in [
        "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1",
        "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
        "4k4/K4r3/3GN1B2/9/9/9/9/9/9 b P 1",
        "4k4/9/4P4/9/9/9/9/9/9 b G 1",
    ] {
        check_all_words(Game::Shogi, text);
    }
}
