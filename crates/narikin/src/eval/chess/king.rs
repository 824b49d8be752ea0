//! King safety: attacks on the enemy king, and the pawn shelter.

use cozy_chess::{
    BitBoard, File, Piece, Rank, Square, get_bishop_moves, get_king_moves, get_knight_moves,
    get_rook_moves,
};

use super::{
    Context,
    terms::TermSink,
    view::{View, adjacent, count, down},
    weights::{ATTACKERS, CASTLING, CHECKS, DANGER, SHELTER, STORM, STORM_BLOCKED},
};

/// Danger per attacking knight, bishop, rook and queen.
const NEAR: [u32; 4] = [4, 3, 4, 6];
const SAFE_CHECK: [u32; 4] = [7, 5, 8, 6];

/// The size of the danger table.
const MAX_DANGER: u32 = 31;

#[inline(always)]
pub(super) fn king(context: &Context<'_>, terms: &mut impl TermSink) {
    attack(context, terms);
    shelter(context.view, terms);
    terms.add_n(CASTLING.at(0), context.view.castling);
}

/// Attacks on the enemy king.
#[inline(always)]
fn attack(context: &Context<'_>, terms: &mut impl TermSink) {
    let Context { view, enemy, .. } = context;
    let own = context.attacks.map();
    let king = view.enemy_king;
    let ring = get_king_moves(king) | king.bitboard();
    let zone = ring | down(ring);
    let (mut attackers, mut danger) = (0, 0);
    for attacker in context.attacks.list() {
        let near = attacker.attacked & zone;
        if !near.is_empty() {
            attackers += 1;
            danger += NEAR[kind(attacker.piece)] + count(near);
        }
    }
    // Squares defended by the king or queen only.
    let weak =
        own.all & !enemy.twice & (!enemy.all | enemy.by(Piece::King) | enemy.by(Piece::Queen));
    danger += 3 * count(ring & weak);
    danger += count(zone & own.by(Piece::Pawn));
    let safe = !view.all_own & (!enemy.all | (weak & own.twice));
    let diagonal = get_bishop_moves(king, view.occupied);
    let straight = get_rook_moves(king, view.occupied);
    let checks = [
        (Piece::Knight, get_knight_moves(king)),
        (Piece::Bishop, diagonal),
        (Piece::Rook, straight),
        (Piece::Queen, diagonal | straight),
    ];
    for (piece, from) in checks {
        let squares = own.by(piece) & from & !view.all_own;
        let safe = squares & safe;
        if !safe.is_empty() {
            danger += SAFE_CHECK[kind(piece)];
            let many = usize::from(count(safe) > 1);
            terms.add(CHECKS.at(kind(piece) * 2 + many));
        } else if !squares.is_empty() {
            danger += 1;
        }
    }
    if view.own(Piece::Queen).is_empty() {
        danger /= 2;
    }
    let files = king.bitboard() | adjacent(king.bitboard());
    danger += 2 * count(files - context.pawns.enemy_files);
    if attackers > 0 {
        terms.add(ATTACKERS.at(attackers.min(5) - 1));
        terms.add(DANGER.at((danger / 2).clamp(1, MAX_DANGER) as usize - 1));
    }
}

/// Pawn shelter and pawn storm.
#[inline(always)]
fn shelter(view: &View, terms: &mut impl TermSink) {
    let ahead = BitBoard(u64::MAX << (8 * view.king.rank() as u32));
    let (own, enemy) = (view.own(Piece::Pawn) & ahead, view.enemy(Piece::Pawn) & ahead);
    let centre = (view.king.file() as usize).clamp(1, 6);
    for index in centre - 1..=centre + 1 {
        let Some(file) = File::try_index(index) else { continue };
        let edge = index.min(7 - index);
        let first = |pawns: BitBoard| (pawns & file.bitboard()).next_square().map(Square::rank);
        let (shield, storm) = (row(first(own)), row(first(enemy)));
        terms.add(SHELTER.at(edge * 7 + shield));
        if shield > 0 && storm == shield + 1 {
            terms.add(STORM_BLOCKED.at(edge * 5 + storm - 2));
        } else {
            terms.add(STORM.at(edge * 7 + storm));
        }
    }
}

#[inline(always)]
fn row(rank: Option<Rank>) -> usize {
    rank.map_or(0, |rank| rank as usize)
}

#[inline(always)]
fn kind(piece: Piece) -> usize {
    (piece as usize).clamp(1, 4) - 1
}
