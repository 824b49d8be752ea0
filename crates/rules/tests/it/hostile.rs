//! Corrupted texts are rejected or playable.

use readyok_rules::{CastlingForm, Game, Notation, Position};

use crate::position;

/// A deterministic random number generator (xorshift).
pub(crate) struct Rng(u64);

impl Rng {
    /// The seed must not be 0.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % end.max(1)
    }

    /// Changes, removes or inserts one to three characters.
    pub(crate) fn corrupt(&mut self, text: &str, alphabet: &str) -> String {
        let mut corrupted: Vec<char> = text.chars().collect();
        let alphabet: Vec<char> = alphabet.chars().collect();
        for _ in 0..=self.below(3) {
            let index = self.below(corrupted.len());
            let letter = alphabet[self.below(alphabet.len())];
            match self.below(3) {
                0 if !corrupted.is_empty() => corrupted[index] = letter,
                1 if !corrupted.is_empty() => {
                    corrupted.remove(index);
                }
                _ => corrupted.insert(index, letter),
            }
        }
        corrupted.into_iter().collect()
    }
}

/// Corrupts the text of a position many times. If it can still be read, some moves are played.
fn check_corrupted_positions(game: Game, text: &str, alphabet: &str) {
    let mut rng = Rng::new(1);
    let mut read = 0;
    for _ in 0..4_000 {
        let text = rng.corrupt(text, alphabet);
        let Ok(mut position) = Position::from_text(game, &text) else { continue };
        read += 1;
        for _ in 0..4 {
            let moves = position.legal_moves();
            assert_eq!(moves.is_empty() && position.in_check(), {
                let mate = readyok_rules::Termination::Checkmate;
                position.outcome().is_some_and(|ending| ending.termination == mate)
            });
            let Some(&mv) = moves.get(rng.below(moves.len())) else { break };
            assert!(!position.notation(mv, Notation::Japanese).is_empty());
            assert!(!position.notation(mv, Notation::Western).is_empty());
            position.play(mv).expect("a legal move");
            let written = position.to_string();
            assert_eq!(self::position(game, &written).key(), position.key(), "{written}");
        }
    }
    assert!(read > 40, "only {read} texts could be read");
}

/// Corrupts the text of moves. If a move can still be read, it is legal.
fn check_corrupted_moves(game: Game, text: &str, alphabet: &str) {
    let mut rng = Rng::new(1);
    let position = position(game, text);
    let moves = position.legal_moves();
    for mv in &moves {
        for _ in 0..20 {
            let uci = rng.corrupt(&mv.to_uci(CastlingForm::KingMove), alphabet);
            match position.parse_move(&uci) {
                Ok(read) => assert!(moves.contains(&read), "{uci}"),
                Err(error) => assert_eq!(error.text, uci),
            }
        }
    }
}

const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
const MAX_MOVES_SFEN: &str = "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1";

#[test]
fn corrupted_positions_of_chess_are_rejected_or_playable() {
    check_corrupted_positions(Game::Chess, KIWIPETE, "pnbrqkPNBRQK12345678/ -wbhaHA~[]_+３");
    check_corrupted_positions(Game::Chess960, KIWIPETE, "pnbrqkPNBRQK12345678/ -wbhaHA~[]_+３");
}

#[test]
fn corrupted_positions_of_shogi_are_rejected_or_playable() {
    check_corrupted_positions(Game::Shogi, MAX_MOVES_SFEN, "plnsgbrkPLNSGBRK123456789/ -bw++０");
    let start = Position::start(Game::Shogi).to_string();
    check_corrupted_positions(Game::Shogi, &start, "plnsgbrkPLNSGBRK123456789/ -bw++０");
}

#[test]
fn corrupted_moves_are_rejected_or_legal() {
    check_corrupted_moves(Game::Chess, KIWIPETE, "abcdefgh12345678qrbnkpQ@-+０é ");
    check_corrupted_moves(Game::Shogi, MAX_MOVES_SFEN, "abcdefghi123456789PLNSGBRKp*+=-０é ");
}

#[test]
fn maximum_counters_do_not_overflow() {
    let text = format!("7k/8/8/8/8/8/R7/K7 w - - {} {}", u32::MAX, u32::MAX);
    let position = position(Game::Chess, &text);
    assert!(position.after(["a2b2", "h8g8"]).is_ok());
}
