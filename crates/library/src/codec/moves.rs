//! Moves as a stream of 16-bit codes in the order of PGN: a move, its variations, the next move.
//!
//! | bits | chess | shogi |
//! |---|---|---|
//! | 0–6 | target: file + 8 · rank, a1 is 0 | target: (file − 1) · 9 + rank, 1a is 0 |
//! | 7–13 | origin, plus 64 for a promotion | origin; 81 + index in `PLNSBRG` for a drop |
//! | 14–15 | promotion to `n`, `b`, `r`, `q` | bit 14: promotion |
//!
//! Castling is the king capturing its own rook. No move has the target 127; the codes with that target control
//! the stream. Codes are independent of the order in which a move generator lists moves.

use readyok_rules::record::{GameRecord, NodeId, PiecePlacement, RecordMove};
use readyok_rules::rsshogi::types as shogi;
use readyok_rules::shakmaty::{self, Position as _, Role};
use readyok_rules::{BoardRef, Game, Move, PieceKind, Position};

use crate::error::{Error, LibraryDefect};
use crate::varint::Corrupt;

/// Begins a variation: moves up to [`CLOSE`] replace the last move.
const OPEN: u16 = 0x007F;
/// Ends a variation.
const CLOSE: u16 = 0x00FF;
/// A null move.
pub(crate) const NULL: u16 = 0x017F;
/// The next code is an illegal move.
const ILLEGAL: u16 = 0x01FF;

const DROPS: [shogi::PieceType; 7] = [
    shogi::PieceType::PAWN,
    shogi::PieceType::LANCE,
    shogi::PieceType::KNIGHT,
    shogi::PieceType::SILVER,
    shogi::PieceType::BISHOP,
    shogi::PieceType::ROOK,
    shogi::PieceType::GOLD,
];
const PROMOTIONS: [Role; 4] = [Role::Knight, Role::Bishop, Role::Rook, Role::Queen];

/// Number of squares of a shogi board.
const SQUARES: u16 = 81;

/// The code of a move.
pub fn code_of(mv: Move) -> u16 {
    let index =
        |found: Option<usize>| found.and_then(|index| u16::try_from(index).ok()).unwrap_or(0);
    match mv {
        Move::Chess(mv) => {
            let (from, to, promotion) = match mv {
                shakmaty::Move::Normal { from, to, promotion, .. } => (from, to, promotion),
                shakmaty::Move::EnPassant { from, to } => (from, to, None),
                shakmaty::Move::Castle { king, rook } => (king, rook, None),
                // Chess has no drops.
                shakmaty::Move::Put { to, .. } => (to, to, None),
            };
            let squares = u16::from(to) | u16::from(from) << 7;
            promotion.map_or(squares, |role| {
                let role = index(PROMOTIONS.iter().position(|known| *known == role));
                (squares + (64 << 7)) | role << 14
            })
        }
        Move::Shogi(mv) => {
            let square = |square: shogi::Square| index(Some(square.to_index()));
            let from = match mv.dropped_piece() {
                Some(piece) => SQUARES + index(DROPS.iter().position(|known| *known == piece)),
                None => square(mv.from_sq()),
            };
            square(mv.to_sq()) | from << 7 | u16::from(mv.is_promotion()) << 14
        }
    }
}

/// The move of a code. It can be illegal.
pub fn move_of(position: &Position, code: u16) -> Option<Move> {
    let (to, from) = (code & 0x7F, code >> 7 & 0x7F);
    match position.board() {
        BoardRef::Chess(board) => {
            let board = board.position();
            chess_move(board, to, from, code >> 14).map(Move::Chess)
        }
        BoardRef::Shogi(board) => {
            let square =
                |code: u16| (code < SQUARES).then(|| shogi::Square::from_index(usize::from(code)));
            let (to, promotes) = (square(to)?, code >> 14 == 1);
            let mv = match (square(from), promotes) {
                (Some(from), false) => shogi::Move::normal(from, to),
                (Some(from), true) => shogi::Move::promotion(from, to),
                (None, _) => shogi::Move::drop(*DROPS.get(usize::from(from - SQUARES))?, to),
            };
            Some(Move::Shogi(board.position().move32_from_move(mv)))
        }
        BoardRef::Diagram(_) => None,
    }
}

fn chess_move(
    board: &shakmaty::Chess,
    to: u16,
    from: u16,
    promotion: u16,
) -> Option<shakmaty::Move> {
    let square = |code: u16| shakmaty::Square::try_from(u32::from(code)).ok();
    let (to, origin) = (square(to)?, square(from % 64)?);
    let promotion = (from >= 64).then(|| PROMOTIONS[usize::from(promotion)]);
    let pieces = board.board();
    let piece = pieces.piece_at(origin)?;
    let target = pieces.piece_at(to);
    Some(if target == Some(piece.color.rook()) && piece.role == Role::King {
        shakmaty::Move::Castle { king: origin, rook: to }
    } else if piece.role == Role::Pawn && origin.file() != to.file() && target.is_none() {
        shakmaty::Move::EnPassant { from: origin, to }
    } else {
        let capture = target.map(|piece| piece.role);
        shakmaty::Move::Normal { role: piece.role, from: origin, capture, to, promotion }
    })
}

/// The indexes from the top left by the numbers of squares in codes of moves (shogi).
const SHOGI_SQUARES: [u8; 81] = {
    let mut squares = [0; 81];
    let mut square: u8 = 0;
    while square < 81 {
        squares[square as usize] = square % 9 * 9 + 8 - square / 9;
        square += 1;
    }
    squares
};

/// Kinds of pieces in the order of [`PROMOTIONS`] and [`DROPS`].
const PROMOTED_KINDS: [PieceKind; 4] =
    [PieceKind::Knight, PieceKind::Bishop, PieceKind::Rook, PieceKind::Queen];
const DROPPED_KINDS: [PieceKind; 7] = [
    PieceKind::Pawn,
    PieceKind::Lance,
    PieceKind::Knight,
    PieceKind::Silver,
    PieceKind::Bishop,
    PieceKind::Rook,
    PieceKind::Gold,
];

/// Plays the move of a code. Codes of damaged files move other pieces or none. Returns whether the material can have
/// changed.
#[inline]
pub(crate) fn play_code(placement: &mut PiecePlacement, code: u16) -> bool {
    if code == NULL {
        placement.pass();
        return false;
    }
    let [to, from] = [code, code >> 7].map(|square| (square & 0x7F).to_le_bytes()[0]);
    if placement.game() == Game::Shogi {
        let square = |index: u8| SHOGI_SQUARES.get(usize::from(index)).copied();
        let Some(to) = square(to) else { return false };
        match square(from) {
            Some(from) if code >> 14 == 1 => placement.move_and_promote(from, to),
            Some(from) => placement.move_piece(from, to, None),
            None => {
                let kind = DROPPED_KINDS.get(usize::from(from - 81));
                if let Some(kind) = kind {
                    placement.drop_piece(*kind, to);
                }
                kind.is_some()
            }
        }
    } else {
        let promotion = (from >= 64).then(|| PROMOTED_KINDS[usize::from(code >> 14)]);
        // Ranks are counted from below.
        let [from, to] = [from, to].map(|square| (square & 0x3F) ^ 0x38);
        placement.move_piece(from, to, promotion)
    }
}

fn put_move(mv: RecordMove, out: &mut Vec<u8>) {
    match mv {
        RecordMove::Legal(mv) => out.extend(code_of(mv).to_le_bytes()),
        RecordMove::Null => out.extend(NULL.to_le_bytes()),
        RecordMove::Illegal(mv) => {
            out.extend(ILLEGAL.to_le_bytes());
            out.extend(code_of(mv).to_le_bytes());
        }
    }
}

/// Appends the moves of a record. Returns its nodes in the order of the stream, with the root as the first.
pub(crate) fn encode(record: &GameRecord, out: &mut Vec<u8>) -> Vec<NodeId> {
    enum Pending {
        After(NodeId),
        Variation(NodeId, RecordMove),
        Close,
    }
    let mut order = Vec::with_capacity(record.len() + 1);
    order.push(NodeId::ROOT);
    out.reserve(2 * record.len());
    let mut pending = vec![Pending::After(NodeId::ROOT)];
    while let Some(next) = pending.pop() {
        let mut at = match next {
            Pending::After(id) => id,
            Pending::Variation(id, mv) => {
                out.extend(OPEN.to_le_bytes());
                put_move(mv, out);
                order.push(id);
                pending.push(Pending::Close);
                id
            }
            Pending::Close => {
                out.extend(CLOSE.to_le_bytes());
                continue;
            }
        };
        loop {
            let mut children = record.children(at).filter_map(|node| Some((node.id(), node.mv()?)));
            let Some((id, mv)) = children.next() else { break };
            put_move(mv, out);
            order.push(id);
            let begin = pending.len();
            pending.extend(children.map(|(id, mv)| Pending::Variation(id, mv)));
            if begin < pending.len() {
                pending.push(Pending::After(id));
                // The first variation is on top, and the next move below all of them.
                pending[begin..].reverse();
                break;
            }
            at = id;
        }
    }
    order
}

/// A line whose last moves are added to a record.
struct Line {
    position: Position,
    node: NodeId,
    /// Position and node before the last move, if a variation follows it.
    before: Option<(Position, NodeId)>,
}

/// Adds encoded moves to an empty record. Returns its nodes in the order of the stream. The ids are in the same order,
/// without the root; without ids the nodes get consecutive ones.
pub(crate) fn decode(
    record: &mut GameRecord,
    bytes: &[u8],
    ids: &[NodeId],
) -> Result<Vec<NodeId>, Error> {
    let (codes, []) = bytes.as_chunks() else {
        return Err(Error::Defect(LibraryDefect::LibraryDamaged));
    };
    let mut codes = codes.iter().map(|code| u16::from_le_bytes(*code)).peekable();
    let mut order = vec![NodeId::ROOT];
    let mut lines = Vec::new();
    let mut line = Line { position: record.start().clone(), node: NodeId::ROOT, before: None };
    while let Some(code) = codes.next() {
        let mv = match code {
            OPEN => {
                let (position, node) = line.before.clone().ok_or(Corrupt)?;
                lines.push(std::mem::replace(&mut line, Line { position, node, before: None }));
                continue;
            }
            CLOSE => {
                line = lines.pop().ok_or(Corrupt)?;
                continue;
            }
            NULL => RecordMove::Null,
            ILLEGAL => {
                let code = codes.next().ok_or(Corrupt)?;
                RecordMove::Illegal(move_of(&line.position, code).ok_or(Corrupt)?)
            }
            _ => RecordMove::Legal(move_of(&line.position, code).ok_or(Corrupt)?),
        };
        line.before = (codes.peek() == Some(&OPEN)).then(|| (line.position.clone(), line.node));
        let added = if ids.is_empty() {
            record.add_at(line.node, &mut line.position, mv)
        } else {
            let id = *ids.get(order.len() - 1).ok_or(Corrupt)?;
            record.add_with_id(id, line.node, &mut line.position, mv)
        };
        line.node = added.map_err(|_| Corrupt)?;
        order.push(line.node);
    }
    let is_complete = lines.is_empty() && (ids.is_empty() || ids.len() == order.len() - 1);
    if is_complete { Ok(order) } else { Err(Error::Defect(LibraryDefect::LibraryDamaged)) }
}

/// Codes of the main line of encoded moves, up to an illegal move.
pub(crate) fn main_line(bytes: &[u8]) -> impl Iterator<Item = u16> {
    let mut codes = bytes.as_chunks().0.iter().map(|code| u16::from_le_bytes(*code));
    let mut depth = 0_usize;
    std::iter::from_fn(move || {
        loop {
            match codes.next()? {
                OPEN => depth += 1,
                CLOSE => depth = depth.saturating_sub(1),
                ILLEGAL if depth == 0 => return None,
                ILLEGAL => drop(codes.next()),
                code if depth == 0 => return Some(code),
                _ => (),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_legal_move_has_its_own_code() {
        for (game, text) in [
            (Game::Chess, "r3k2r/pPppppbp/8/8/3pP3/8/PPPP1P1P/R3K2R b KQkq e3 0 1"),
            (Game::Chess, "r3k2r/pPpppp1p/8/8/8/8/PPPPPP1P/R3K2R w KQkq - 0 1"),
            (Game::Chess960, "4k3/8/8/8/8/8/8/RK4R1 w GA - 0 1"),
            (Game::Shogi, "4k4/9/9/P8/9/9/9/9/4K4 b RBGSNL2P 1"),
        ] {
            let position = Position::from_text(game, text).expect("a position");
            let moves = position.legal_moves();
            let codes: HashSet<u16> = moves.iter().map(|mv| code_of(*mv)).collect();
            assert_eq!(codes.len(), moves.len(), "{text}");
            for mv in moves {
                assert_eq!(move_of(&position, code_of(mv)), Some(mv), "{text}");
                assert_ne!(code_of(mv) & 0x7F, 0x7F);
            }
        }
    }

    #[test]
    fn codes_do_not_change() {
        let code = |game, text| {
            let start = Position::start(game);
            code_of(start.parse_move(text).expect("a legal move"))
        };
        assert_eq!(code(Game::Chess, "e2e4"), 28 + 12 * 128);
        assert_eq!(code(Game::Shogi, "7g7f"), 59 + 60 * 128);
        let drop =
            Position::from_text(Game::Shogi, "4k4/9/9/9/9/9/9/9/4K4 b G 1").expect("a position");
        let drop = drop.parse_move("G*5e").expect("a legal move");
        assert_eq!(code_of(drop), 40 + 87 * 128);
    }

    #[test]
    fn the_main_line_has_no_variations() {
        let codes =
            [1, 2, OPEN, 3, OPEN, 4, ILLEGAL, 7, CLOSE, CLOSE, OPEN, 5, CLOSE, NULL, 6, ILLEGAL, 9];
        let bytes: Vec<u8> = codes.iter().flat_map(|code| code.to_le_bytes()).collect();
        assert_eq!(main_line(&bytes).collect::<Vec<_>>(), [1, 2, NULL, 6]);
    }
}
