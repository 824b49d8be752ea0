//! The input features of networks, and their output buckets.

pub(crate) mod chess;
pub(crate) mod shogi;

use readyok_rules::{Game, Side, rsshogi};

/// The number of output buckets: sets of output weights, selected by material.
pub const OUTPUT_BUCKETS: usize = 8;

/// A position that networks evaluate. The trainer and the engine share this definition.
///
/// Features have numbers from the view of a side. That of the first player is the board as it is; that
/// of the second player exchanges the owners of all pieces, and flips ranks (chess) or rotates the
/// board (shogi). In addition, the view of a side is mirrored by files if its king is on one half of the
/// board ([`is_mirrored`](Self::is_mirrored)).
pub trait Features {
    /// [`Game::Chess`], which includes Chess960, or [`Game::Shogi`].
    const GAME: Game;

    /// The number of features.
    const INPUTS: usize;

    /// The maximum number of active features.
    const MAX_ACTIVE: usize;

    /// The side to move.
    fn turn(&self) -> Side;

    /// Calls `each` with every active feature from the view of the first player, without mirroring.
    fn absolute(&self, each: impl FnMut(usize));

    /// Whether the view of a side is mirrored by files: in chess if its king is on files e to h, in
    /// shogi if its king, from its view, is on files 6 to 9.
    fn is_mirrored(&self, side: Side) -> bool;

    /// Converts a feature from [`absolute`](Self::absolute) to the view of a side.
    fn relative(feature: usize, side: Side, mirrored: bool) -> usize;

    /// Calls `each` with every active feature from the view of a side.
    fn features(&self, side: Side, mut each: impl FnMut(usize)) {
        let mirrored = self.is_mirrored(side);
        self.absolute(|feature| each(Self::relative(feature, side, mirrored)));
    }

    /// The output bucket by material, below [`OUTPUT_BUCKETS`].
    ///
    /// - Chess: a quarter of the number of pieces other than two, rounded down: 0 for at most 5 pieces,
    ///   7 for at least 30.
    /// - Shogi: an eighth of the progress, rounded down, at most 7. The progress is the sum over
    ///   pieces in hand of 1 (pawn), 3 (lance, knight), 5 (silver, gold) or 6 (bishop, rook), and of 6
    ///   per promoted piece.
    fn output_bucket(&self) -> usize;
}

/// The number of features of a game.
pub(super) fn inputs(game: Game) -> usize {
    match game {
        Game::Chess | Game::Chess960 => cozy_chess::Board::INPUTS,
        Game::Shogi => rsshogi::board::Position::INPUTS,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use readyok_rules::rsshogi::board;

    use super::*;

    fn features<P: Features>(position: &P, side: Side) -> BTreeSet<usize> {
        let mut set = BTreeSet::new();
        position.features(side, |feature| assert!(set.insert(feature) && feature < P::INPUTS));
        assert!(set.len() <= P::MAX_ACTIVE);
        set
    }

    fn chess(fen: &str) -> cozy_chess::Board {
        fen.parse().expect("a position")
    }

    fn shogi(sfen: &str) -> board::Position {
        board::Position::from_sfen(sfen).expect("a position")
    }

    /// The text of a position, mirrored by files, or with exchanged sides.
    fn transform(text: &str, mirrors: bool, exchanges: bool) -> String {
        let swap = |text: &str| -> String {
            let swap = |letter: char| {
                if letter.is_ascii_uppercase() {
                    letter.to_ascii_lowercase()
                } else {
                    letter.to_ascii_uppercase()
                }
            };
            if exchanges { text.chars().map(swap).collect() } else { text.to_owned() }
        };
        let fields: Vec<&str> = text.split(' ').collect();
        let [board, side, rest @ ..] = fields.as_slice() else { panic!("{text}") };
        let mut ranks = Vec::new();
        for rank in board.split('/') {
            let mut pieces: Vec<String> = Vec::new();
            for letter in rank.chars() {
                match pieces.last_mut() {
                    Some(piece) if piece == "+" => piece.push(letter),
                    _ => pieces.push(letter.to_string()),
                }
            }
            if mirrors {
                pieces.reverse();
            }
            ranks.push(swap(&pieces.concat()));
        }
        if exchanges {
            ranks.reverse();
        }
        let side = match *side {
            side if !exchanges => side,
            "b" => "w",
            _ => "b",
        };
        format!("{} {side} {}", ranks.join("/"), swap(&rest.join(" ")))
    }

    /// Both sides have the same features in the mirrored position, and exchange them with the sides.
    /// `rotates` if the board is rotated for the second player.
    fn check_symmetry<P: Features>(text: &str, rotates: bool, read: impl Fn(&str) -> P) {
        let position = read(text);
        let mirrored = read(&transform(text, true, false));
        let exchanged = read(&transform(text, rotates, true));
        for side in Side::BOTH {
            let expected = features(&position, side);
            assert_ne!(position.is_mirrored(side), mirrored.is_mirrored(side));
            assert_eq!(features(&mirrored, side), expected);
            assert_eq!(features(&exchanged, side.other()), expected);
        }
        assert_eq!(exchanged.turn(), position.turn().other());
        let bucket = position.output_bucket();
        assert_eq!([mirrored, exchanged].map(|position| position.output_bucket()), [bucket; 2]);
    }

    #[test]
    fn mirrored_and_exchanged_positions_have_equal_features() {
        let fen = "r2q1rk1/1b1nbppp/p2ppn2/1p6/3NPP2/1BN1B3/PPP3PP/1K1R1Q1R w - - 0 13";
        check_symmetry(fen, false, chess);
        let sfen = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LNK4bL w RGgsn5p 1";
        check_symmetry(sfen, true, shogi);
    }

    #[test]
    fn features_have_the_documented_numbers() {
        let board = chess("8/8/8/3k4/8/8/P7/K7 w - - 0 1");
        // Own pawn on a2, own king on a1, the opponent's king on d5.
        let first = [8, 5 * 64, 11 * 64 + 35];
        assert_eq!(features(&board, Side::First), BTreeSet::from(first));
        // Own king on d4, the opponent's pawn on a7 and king on a8.
        let second = [5 * 64 + 27, 6 * 64 + 48, 11 * 64 + 56];
        assert_eq!(features(&board, Side::Second), BTreeSet::from(second));
        let board = chess("8/8/8/4k3/8/8/P7/K7 w - - 0 1");
        // From the view of Black, files are mirrored.
        let second = [5 * 64 + 27, 6 * 64 + 55, 11 * 64 + 63];
        assert_eq!(features(&board, Side::Second), BTreeSet::from(second));

        let position = shogi("4k4/9/9/9/9/9/9/9/K8 b 2Pg 1");
        // Own king on 9i is mirrored to 1i, the opponent's is on 5a.
        let (king, board, hand) = (7 * 81, 14 * 81, 38);
        let first = [king + 8, board + king + 36, 2 * board, 2 * board + 1, 2 * board + hand + 34];
        assert_eq!(features(&position, Side::First), BTreeSet::from(first));
        // Own king on 5i, the opponent's on 1a.
        let second =
            [king + 44, board + king, 2 * board + 34, 2 * board + hand, 2 * board + hand + 1];
        assert_eq!(features(&position, Side::Second), BTreeSet::from(second));
    }

    #[test]
    fn buckets_are_by_material() {
        let bucket = |fen| chess(fen).output_bucket();
        assert_eq!(bucket("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"), 7);
        assert_eq!(bucket("rnbqkbnr/8/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"), 5);
        assert_eq!(bucket("8/8/8/3k4/8/8/PPPP4/K7 w - - 0 1"), 1);
        assert_eq!(bucket("8/8/8/3k4/8/8/PPP5/K7 w - - 0 1"), 0);
        let bucket = |sfen| shogi(sfen).output_bucket();
        assert_eq!(bucket("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"), 0);
        assert_eq!(bucket("4k4/9/9/9/9/9/9/9/4K4 b 2Pg 1"), 0);
        assert_eq!(bucket("4k4/9/9/9/9/9/9/9/4K4 b 3Pg 1"), 1);
        assert_eq!(bucket("4k4/9/9/9/9/9/9/+P+L+N+S+B+R3/4K4 b LNsgbr 1"), 7);
        assert_eq!(bucket("4k4/9/9/9/9/9/9/9/4K4 b R2B4G4S4N4L9P9p 1"), 7);
    }

    #[test]
    fn a_position_without_a_king_has_features() {
        let position = shogi("4k4/9/9/9/9/9/9/9/9 b 2Pg 1");
        assert!(!position.is_mirrored(Side::First));
        assert_eq!(features(&position, Side::First).len(), 4);
    }
}
