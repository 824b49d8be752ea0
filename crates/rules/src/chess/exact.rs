//! SAN without the generation of all moves: most time of reading and writing PGN would be spent there.

use shakmaty::{
    Bitboard, Chess, File, Move, Piece, Position as _, Rank, Role, Square, attacks,
    san::{San, SanPlus},
};

/// The legal move of a text in exact SAN. `None` if no move or several moves match, and for castling
/// and en passant: [`San::to_move`] reads these.
pub(crate) fn read_exact(position: &Chess, text: &[u8]) -> Option<Move> {
    let text = match text {
        [rest @ .., b'+' | b'#'] => rest,
        text => text,
    };
    let (text, promotion) = match text {
        [rest @ .., b'=', letter] => {
            (rest, Some(piece_of(*letter).filter(|role| *role != Role::King)?))
        }
        text => (text, None),
    };
    let [text @ .., file, rank] = text else { return None };
    let to = Square::from_coords(file_of(*file)?, rank_of(*rank)?);
    let (role, text) = match text {
        [letter @ b'A'..=b'Z', rest @ ..] => (piece_of(*letter)?, rest),
        text => (Role::Pawn, text),
    };
    let (text, is_capture) = match text {
        [rest @ .., b'x'] => (rest, true),
        text => (text, false),
    };
    let from = match text {
        [] => Bitboard::FULL,
        [byte] => match file_of(*byte) {
            Some(file) => Bitboard::from_file(file),
            None => Bitboard::from_rank(rank_of(*byte)?),
        },
        [file, rank] => {
            Bitboard::from_square(Square::from_coords(file_of(*file)?, rank_of(*rank)?))
        }
        _ => return None,
    };
    let board = position.board();
    let capture = board.role_at(to);
    let is_last_rank = role == Role::Pawn && matches!(to.rank(), Rank::First | Rank::Eighth);
    if capture.is_some() != is_capture || promotion.is_some() != is_last_rank {
        return None;
    }
    let mut found = None;
    for from in candidates(position, role, to) & from {
        if is_safe(position, role, from, to) && found.replace(from).is_some() {
            return None;
        }
    }
    Some(Move::Normal { role, from: found?, capture, to, promotion })
}

/// Appends a move in SAN and plays it.
pub(crate) fn write_san(position: &mut Chess, mv: Move, text: &mut String) {
    let Move::Normal { role, from, capture, to, promotion } = mv else {
        SanPlus::from_move_and_play_unchecked(position, mv).append_to_string(text);
        return;
    };
    if role == Role::Pawn {
        if capture.is_some() {
            text.push(from.file().char());
        }
    } else {
        text.push(role.upper_char());
        let others = candidates(position, role, to) & !Bitboard::from_square(from);
        let (mut is_ambiguous, mut same_file, mut same_rank) = (false, false, false);
        for other in others {
            if is_safe(position, role, other, to) {
                is_ambiguous = true;
                same_file |= other.file() == from.file();
                same_rank |= other.rank() == from.rank();
            }
        }
        if is_ambiguous && (same_rank || !same_file) {
            text.push(from.file().char());
        }
        if same_file {
            text.push(from.rank().char());
        }
    }
    if capture.is_some() {
        text.push('x');
    }
    text.push(to.file().char());
    text.push(to.rank().char());
    if let Some(role) = promotion {
        text.push('=');
        text.push(role.upper_char());
    }
    position.play_unchecked(mv);
    if position.is_check() {
        text.push(if position.legal_moves().is_empty() { '#' } else { '+' });
    }
}

/// A legal move in SAN. The text of another move lacks the signs of check.
pub(crate) fn san(position: &Chess, mv: Move) -> String {
    let mut text = String::with_capacity(7);
    if is_legal(position, mv) {
        write_san(&mut position.clone(), mv, &mut text);
    } else {
        San::from_move(position, mv).append_to_string(&mut text);
    }
    text
}

/// Whether a move is legal.
pub(crate) fn is_legal(position: &Chess, mv: Move) -> bool {
    match mv {
        Move::Normal { role, from, capture, to, promotion } => {
            let is_last_rank =
                role == Role::Pawn && matches!(to.rank(), Rank::First | Rank::Eighth);
            candidates(position, role, to).contains(from)
                && capture == position.board().role_at(to)
                && promotion.is_some() == is_last_rank
                && promotion.is_none_or(|role| !matches!(role, Role::Pawn | Role::King))
                && is_safe(position, role, from, to)
        }
        Move::EnPassant { .. } | Move::Castle { .. } | Move::Put { .. } => position.is_legal(mv),
    }
}

/// The squares of the pieces of a role that can move to a square, without regard to check, castling and
/// en passant.
pub(crate) fn candidates(position: &Chess, role: Role, to: Square) -> Bitboard {
    let (board, turn) = (position.board(), position.turn());
    let occupied = board.occupied();
    if board.by_color(turn).contains(to) {
        return Bitboard::EMPTY;
    }
    let ours = board.by_piece(Piece { color: turn, role });
    match role {
        Role::Pawn if occupied.contains(to) => attacks::pawn_attacks(!turn, to) & ours,
        Role::Pawn => {
            let (behind, fourth) = turn.fold_wb((-8, Rank::Fourth), (8, Rank::Fifth));
            let Some(single) = to.offset(behind) else { return Bitboard::EMPTY };
            let start = if occupied.contains(single) || to.rank() != fourth {
                single
            } else {
                single.offset(behind).unwrap_or(single)
            };
            Bitboard::from_square(start) & ours
        }
        _ => attacks::attacks(to, Piece { color: turn, role }, occupied) & ours,
    }
}

/// Whether a move other than castling and en passant leaves its king out of check.
fn is_safe(position: &Chess, role: Role, from: Square, to: Square) -> bool {
    let (board, turn) = (position.board(), position.turn());
    let king = if role == Role::King { Some(to) } else { board.king_of(turn) };
    let Some(king) = king else { return false };
    let mut occupied = board.occupied();
    occupied.discard(from);
    occupied.add(to);
    let mut attackers = board.attacks_to(king, !turn, occupied);
    attackers.discard(to);
    attackers.is_empty()
}

fn file_of(byte: u8) -> Option<File> {
    File::from_char(char::from(byte))
}

fn rank_of(byte: u8) -> Option<Rank> {
    Rank::from_char(char::from(byte))
}

fn piece_of(letter: u8) -> Option<Role> {
    Some(match letter {
        b'N' => Role::Knight,
        b'B' => Role::Bishop,
        b'R' => Role::Rook,
        b'Q' => Role::Queen,
        b'K' => Role::King,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use shakmaty::{CastlingMode, fen::Fen};

    use super::*;

    const STARTS: [(&str, CastlingMode); 6] = [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", CastlingMode::Standard),
        (
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            CastlingMode::Standard,
        ),
        ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", CastlingMode::Standard),
        ("1n1n4/P1P1P3/8/k6K/8/2N1N3/1p1p4/N1N1R3 w - - 0 1", CastlingMode::Standard),
        ("3qk3/8/1Q3Q2/8/3Q4/1q3q2/8/3QK1Q1 w - - 0 1", CastlingMode::Standard),
        ("bqrnknrb/pppppppp/8/8/8/8/PPPPPPPP/BQRNKNRB w CGcg - 0 1", CastlingMode::Chess960),
    ];

    /// Positions of random games.
    fn positions() -> Vec<Chess> {
        let mut state = 1_u64;
        let mut random = move |count: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % count
        };
        let mut positions = Vec::new();
        for (fen, mode) in STARTS {
            let start: Chess =
                fen.parse::<Fen>().expect(fen).into_position(mode).expect("a legal position");
            for _ in 0..8 {
                let mut position = start.clone();
                for _ in 0..60 {
                    let moves = position.legal_moves();
                    positions.push(position.clone());
                    if moves.is_empty() {
                        break;
                    }
                    position.play_unchecked(moves[random(moves.len())]);
                }
            }
        }
        positions
    }

    #[test]
    fn writes_the_same_san_as_the_move_generator() {
        for position in positions() {
            for mv in position.legal_moves() {
                let expected = SanPlus::from_move(position.clone(), mv).to_string();
                assert_eq!(san(&position, mv), expected);
                let is_normal = matches!(mv, Move::Normal { .. });
                assert_eq!(read_exact(&position, expected.as_bytes()), is_normal.then_some(mv));
            }
        }
    }

    #[test]
    fn reads_the_same_moves_as_the_move_generator() {
        let positions = positions();
        for (number, position) in (0..).zip(&positions).step_by(7) {
            for to in Square::ALL {
                for role in Role::ALL {
                    let piece =
                        if role == Role::Pawn { String::new() } else { role.upper_char().into() };
                    let file = File::new(number % 8);
                    let rank = Rank::new(number / 8 % 8);
                    for from in
                        [String::new(), file.to_string(), rank.to_string(), format!("{file}{rank}")]
                    {
                        for capture in ["", "x"] {
                            for promotion in ["", "=Q", "=N", "=K", "=P"] {
                                let text = format!("{piece}{from}{capture}{to}{promotion}+");
                                let expected = San::from_ascii(text.as_bytes())
                                    .ok()
                                    .and_then(|san| san.to_move(position).ok())
                                    .filter(|mv| matches!(mv, Move::Normal { .. }));
                                assert_eq!(
                                    read_exact(position, text.as_bytes()),
                                    expected,
                                    "{text}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn moves_of_other_positions_have_a_text() {
        let position = Chess::default();
        let mv = Move::Normal {
            role: Role::Queen,
            from: Square::D1,
            capture: None,
            to: Square::D8,
            promotion: None,
        };
        assert_eq!(san(&position, mv), SanPlus::from_move(position.clone(), mv).to_string());
    }
}
