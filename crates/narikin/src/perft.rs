//! Counting the lines of play from a position, on the boards of the search.

use readyok_rules::{BoardRef, Position};

use crate::{
    board::{Board, Chess, MoveList, Shogi},
    control::Limits,
};

/// How many lines of so many plies there are from a position; none if the search's board does not
/// take it. Moves that nobody would play count as well, and the ends of games by rule do not.
pub fn perft(position: &Position, depth: u32) -> Option<u64> {
    match position.board() {
        BoardRef::Chess(_) => start::<Chess>(position, depth),
        BoardRef::Shogi(_) => start::<Shogi>(position, depth),
    }
}

fn start<B: Board>(position: &Position, depth: u32) -> Option<u64> {
    let mut board = B::new(position, &Limits::default())?;
    let mut lists = vec![MoveList::new(); usize::try_from(depth).ok()?];
    Some(count(&mut board, &mut lists))
}

fn count<B: Board>(board: &mut B, lists: &mut [MoveList<B::Move>]) -> u64 {
    let Some((list, deeper)) = lists.split_first_mut() else { return 1 };
    list.clear();
    board.all(list);
    if deeper.is_empty() {
        return u64::try_from(list.len()).unwrap_or(u64::MAX);
    }
    let mut sum = 0_u64;
    for &(_, mv) in list.iter() {
        board.play(mv);
        sum = sum.saturating_add(count(board, deeper));
        board.undo(mv);
    }
    sum
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use readyok_rules::{Game, Position};

    use super::perft;
    use crate::{
        board::{Board, Chess, MoveList, Shogi, Step},
        control::Limits,
    };

    /// The counts of <https://www.chessprogramming.org/Perft_Results> and, for shogi, of YaneuraOu
    /// and others.
    #[test]
    fn counts_as_others_do() {
        let check = |game, text: &str, depth, expected| {
            let position = Position::from_text(game, text).expect("a position");
            assert_eq!(perft(&position, depth), Some(expected), "{text}");
        };
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        check(Game::Chess, start, 4, 197_281);
        let middle = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
        check(Game::Chess, middle, 3, 97_862);
        let castling = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9";
        check(Game::Chess960, castling, 3, 12_189);
        let hirate = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
        check(Game::Shogi, hirate, 3, 25_470);
        let most = "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1";
        check(Game::Shogi, most, 1, 593);
    }

    /// What the stages of the search give, together, is what is legal.
    fn check_stages<B: Board>(board: &mut B, depth: u32) {
        let packed = |list: &MoveList<B::Move>| -> BTreeSet<u16> {
            list.iter().filter(|(_, mv)| board.is_legal(*mv)).map(|(_, mv)| mv.packed()).collect()
        };
        let mut all = MoveList::new();
        board.all(&mut all);
        let (mut noisy, mut quiet) = (MoveList::new(), MoveList::new());
        board.noisy(&mut noisy);
        board.quiet(&mut quiet);
        assert!(noisy.iter().all(|&(_, mv)| board.is_noisy(mv)));
        assert!(quiet.iter().all(|&(_, mv)| !board.is_noisy(mv)));
        let (noisy, quiet) = (packed(&noisy), packed(&quiet));
        assert!(noisy.is_disjoint(&quiet));
        let staged: BTreeSet<u16> = noisy.union(&quiet).copied().collect();
        let legal = packed(&all);
        assert!(staged.is_subset(&legal), "{:?}", staged.difference(&legal));
        for &(_, mv) in &all {
            assert!(board.unpack(mv.packed()) == Some(mv), "{}", B::word(mv));
            // Nobody leaves a pawn, lance or big piece unpromoted, where it could be.
            let left_out = !staged.contains(&mv.packed());
            assert!(!left_out || B::STALEMATE_LOSES, "{}", B::word(mv));
            let check = board.gives_check(mv);
            let (key, parts) = (board.key(), board.part_keys());
            board.play(mv);
            assert_eq!(board.in_check(), check, "{}", B::word(mv));
            if depth > 1 {
                check_stages(board, depth - 1);
            }
            board.undo(mv);
            assert_eq!((board.key(), board.part_keys()), (key, parts), "{}", B::word(mv));
        }
    }

    #[test]
    fn the_stages_of_the_search_give_all_moves_once() {
        for (game, text) in [
            (Game::Chess, "rnbq1k1r/pP1Pbppp/2p5/8/2B5/8/P1P1NnPP/RNBQK2R w KQ - 1 8"),
            (Game::Chess, "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1"),
            (Game::Chess960, "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"),
        ] {
            let position = Position::from_text(game, text).expect("a position");
            let mut board = Chess::new(&position, &Limits::default()).expect("a board");
            check_stages(&mut board, 3);
        }
        for text in [
            "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
            "6n1l/2+S1k4/2lp4p/1np1B2b1/3PP4/1N1S3rP/1P2+pPP+p1/1p1G5/3KG2r1 b GSN2L4Pgs2p 1",
        ] {
            let position = Position::from_text(Game::Shogi, text).expect("a position");
            let mut board = Shogi::new(&position, &Limits::default()).expect("a board");
            check_stages(&mut board, 2);
        }
    }

    #[test]
    fn keys_of_parts_are_as_if_made_anew() {
        let text = "rnbq1k1r/pP1Pbppp/2p5/8/2B5/8/P1P1NnPP/RNBQK2R w KQ - 1 8";
        let position = Position::from_text(Game::Chess, text).expect("a position");
        let board = Chess::new(&position, &Limits::default()).expect("a board");
        for mv in position.legal_moves() {
            let mut after = position.clone();
            after.play(mv).expect("a legal move");
            let fresh = Chess::new(&after, &Limits::default()).expect("a board");
            let mut played = board.clone();
            let mut list = MoveList::new();
            played.all(&mut list);
            let word = mv.word(readyok_rules::CastlingForm::KingTakesRook);
            let found = list.iter().find(|(_, mv)| Chess::word(*mv) == word);
            let &(_, mv) = found.expect("the same move");
            played.play(mv);
            assert_eq!(played.part_keys(), fresh.part_keys(), "{word}");
        }
    }
}
