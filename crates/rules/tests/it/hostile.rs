//! Texts that someone has spoilt: each is refused, or can be played.

use readyok_rules::{CastlingForm, Game, Notation, Position};

use crate::position;

/// Numbers that look random and are the same each time.
pub(crate) struct Numbers(u64);

impl Numbers {
    /// Each seed but 0 gives other numbers.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % end.max(1)
    }

    /// Changes, removes, adds or doubles one character or a few.
    pub(crate) fn spoil(&mut self, text: &str, alphabet: &str) -> String {
        let mut spoilt: Vec<char> = text.chars().collect();
        let alphabet: Vec<char> = alphabet.chars().collect();
        for _ in 0..=self.below(3) {
            let index = self.below(spoilt.len());
            let letter = alphabet[self.below(alphabet.len())];
            match self.below(3) {
                0 if !spoilt.is_empty() => spoilt[index] = letter,
                1 if !spoilt.is_empty() => {
                    spoilt.remove(index);
                }
                _ => spoilt.insert(index, letter),
            }
        }
        spoilt.into_iter().collect()
    }
}

/// Spoils a position's text many times; whatever can still be read is played for a few moves.
fn check_spoilt_positions(game: Game, text: &str, alphabet: &str) {
    let mut numbers = Numbers::new(1);
    let mut read = 0;
    for _ in 0..4_000 {
        let text = numbers.spoil(text, alphabet);
        let Ok(mut position) = Position::from_text(game, &text) else { continue };
        read += 1;
        for _ in 0..4 {
            let moves = position.legal_moves();
            assert_eq!(moves.is_empty() && position.in_check(), {
                let mate = readyok_rules::Termination::Checkmate;
                position.outcome().is_some_and(|ending| ending.termination == mate)
            });
            let Some(&mv) = moves.get(numbers.below(moves.len())) else { break };
            assert!(!position.notation(mv, Notation::Japanese).is_empty());
            assert!(!position.notation(mv, Notation::Western).is_empty());
            position.play(mv).expect("a legal move");
            let written = position.to_string();
            assert_eq!(self::position(game, &written).key(), position.key(), "{written}");
        }
    }
    assert!(read > 40, "only {read} texts could be read");
}

/// Spoils the words of moves; whatever can still be read is a legal move.
fn check_spoilt_words(game: Game, text: &str, alphabet: &str) {
    let mut numbers = Numbers::new(1);
    let position = position(game, text);
    let moves = position.legal_moves();
    for mv in &moves {
        for _ in 0..20 {
            let word = numbers.spoil(&mv.to_uci(CastlingForm::KingMove), alphabet);
            match position.parse_move(&word) {
                Ok(read) => assert!(moves.contains(&read), "{word}"),
                Err(error) => assert_eq!(error.text, word),
            }
        }
    }
}

const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
const MOST_MOVES: &str = "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1";

#[test]
fn spoilt_positions_of_chess_are_refused_or_playable() {
    check_spoilt_positions(Game::Chess, KIWIPETE, "pnbrqkPNBRQK12345678/ -wbhaHA~[]_+３");
    check_spoilt_positions(Game::Chess960, KIWIPETE, "pnbrqkPNBRQK12345678/ -wbhaHA~[]_+３");
}

#[test]
fn spoilt_positions_of_shogi_are_refused_or_playable() {
    check_spoilt_positions(Game::Shogi, MOST_MOVES, "plnsgbrkPLNSGBRK123456789/ -bw++０");
    let start = Position::start(Game::Shogi).to_string();
    check_spoilt_positions(Game::Shogi, &start, "plnsgbrkPLNSGBRK123456789/ -bw++０");
}

#[test]
fn spoilt_moves_are_refused_or_legal() {
    check_spoilt_words(Game::Chess, KIWIPETE, "abcdefgh12345678qrbnkpQ@-+０é ");
    check_spoilt_words(Game::Shogi, MOST_MOVES, "abcdefghi123456789PLNSGBRKp*+=-０é ");
}

#[test]
fn counters_at_their_ends_can_go_on() {
    let text = format!("7k/8/8/8/8/8/R7/K7 w - - {} {}", u32::MAX, u32::MAX);
    let position = position(Game::Chess, &text);
    assert!(position.after(["a2b2", "h8g8"]).is_ok());
}
