//! Terms of pieces: material and squares, mobility, pairs, files, outposts, threats.

use cozy_chess::{BitBoard, File, Piece, Rank, Square};

use super::{
    Context,
    terms::{KingRelative, TermSink},
    view::{View, count, down, fill_down, pawn_attacks_up, same_color, up},
    weights::{
        BISHOP_MOBILITY, BISHOP_PAIR, BISHOP_PAWNS, HANGING, KING_THREAT, KNIGHT_MOBILITY,
        KNIGHT_PAWNS, MINOR_THREAT, OUTPOST, PAWN_THREAT, PUSH_THREAT, QUEEN_MOBILITY,
        QUEEN_THREAT, ROOK_FILE, ROOK_MOBILITY, ROOK_PAWNS, ROOK_THREAT, SHIELDED, SPACE,
    },
};

/// King zones by rank, for files E to H.
const ZONES: [[usize; 4]; 8] = [
    [0, 1, 2, 3],
    [4, 4, 5, 5],
    [6, 6, 7, 7],
    [6, 6, 7, 7],
    [8, 8, 9, 9],
    [8, 8, 9, 9],
    [8, 8, 9, 9],
    [8, 8, 9, 9],
];

#[inline(always)]
pub(super) fn places(view: &View, terms: &mut impl TermSink) {
    let mirror = mirror(view.king);
    let enemy_mirror = self::mirror(view.enemy_king);
    let own_zone = zone(view.king);
    let enemy_zone = zone(view.enemy_king.flip_rank());
    for piece in [Piece::Pawn, Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen] {
        let first = FIRST[piece as usize];
        // Pawns are never on the first rank, so this is not negative.
        let place = |square: usize| (first + square).saturating_sub(8);
        for square in view.own(piece) {
            let own = KingRelative { zone: own_zone, place: place(square as usize ^ mirror) };
            let enemy =
                KingRelative { zone: enemy_zone, place: place(square as usize ^ enemy_mirror) };
            terms.piece(piece, own, enemy);
        }
    }
    let king = view.king as usize ^ mirror;
    terms.king(king / 8 * 4 + king % 4);
}

/// The XOR mask that mirrors a king to the right half.
fn mirror(king: Square) -> usize {
    if king.file() < File::E { 7 } else { 0 }
}

fn zone(king: Square) -> usize {
    let file = king as usize ^ mirror(king);
    ZONES[king.rank() as usize][file % 4]
}

/// First square index per kind plus 8; pawns omit the first and last rank.
const FIRST: [usize; Piece::NUM] = [0, 56, 120, 184, 248, 0];

#[inline(always)]
pub(super) fn mobility(context: &Context<'_>, terms: &mut impl TermSink) {
    let Context { view, enemy, .. } = context;
    let hindered = view.own(Piece::Pawn) | view.own(Piece::King);
    let area = !(enemy.by(Piece::Pawn) | hindered);
    for attacker in context.attacks.list() {
        let squares = (attacker.attacked & area).len() as usize;
        terms.add(match attacker.piece {
            Piece::Knight => KNIGHT_MOBILITY.at(squares),
            Piece::Bishop => BISHOP_MOBILITY.at(squares),
            Piece::Rook => ROOK_MOBILITY.at(squares),
            Piece::Queen | Piece::Pawn | Piece::King => QUEEN_MOBILITY.at(squares),
        });
    }
}

const OUTPOSTS: BitBoard = BitBoard(0x0000_FFFF_FF00_0000);

#[inline(always)]
pub(super) fn pieces(context: &Context<'_>, terms: &mut impl TermSink) {
    let Context { view, pawns, .. } = context;
    let own = context.attacks.map();
    let all_pawns = view.own(Piece::Pawn).len() as usize;
    let bishops = view.own(Piece::Bishop);
    if count(bishops) > 1 {
        terms.add(BISHOP_PAIR.at(all_pawns));
    }
    terms.add_each(KNIGHT_PAWNS.at(all_pawns), view.own(Piece::Knight));
    terms.add_each(ROOK_PAWNS.at(all_pawns), view.own(Piece::Rook));
    for square in bishops {
        let alike = same_color(square) & view.own(Piece::Pawn);
        terms.add(BISHOP_PAWNS.at(alike.len() as usize));
    }
    let safe = OUTPOSTS - pawns.enemy_span;
    let shield = down(view.own(Piece::Pawn) | view.enemy(Piece::Pawn));
    for (index, piece) in [Piece::Knight, Piece::Bishop].into_iter().enumerate() {
        let outposts = view.own(piece) & safe;
        let supported = outposts & own.by(Piece::Pawn);
        terms.add_each(OUTPOST.at(index * 2), supported);
        terms.add_each(OUTPOST.at(index * 2 + 1), outposts - supported);
        terms.add_each(SHIELDED.at(index), view.own(piece) & shield);
    }
    for square in view.own(Piece::Rook) {
        terms.add(ROOK_FILE.at(file_of_rook(view, context, square)));
    }
}

/// Open, semi-open or closed; with 3 added near the enemy king.
fn file_of_rook(view: &View, context: &Context<'_>, rook: Square) -> usize {
    let kind = match (context.pawns.files.has(rook), context.pawns.enemy_files.has(rook)) {
        (false, false) => 0,
        (false, true) => 1,
        (true, _) => 2,
    };
    let away = (rook.file() as usize).abs_diff(view.enemy_king.file() as usize);
    kind + if away <= 1 { 3 } else { 0 }
}

/// Pieces that can be threatened.
const VICTIMS: [Piece; 5] = [Piece::Pawn, Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen];

#[inline(always)]
pub(super) fn threats(context: &Context<'_>, terms: &mut impl TermSink) {
    let Context { view, enemy, .. } = context;
    let own = context.attacks.map();
    let defended = enemy.by(Piece::Pawn) | (enemy.twice - own.twice);
    let minors = own.by(Piece::Knight) | own.by(Piece::Bishop);
    // Threats of the side to move count more.
    let now = usize::from(view.to_move);
    for (index, piece) in VICTIMS.into_iter().enumerate() {
        let victims = view.enemy(piece) & own.all;
        if victims.is_empty() {
            continue;
        }
        if index > 0 {
            terms.add_each(PAWN_THREAT.at(now * 4 + index - 1), victims & own.by(Piece::Pawn));
        }
        let weak = victims - defended;
        let held = victims & defended;
        let index = now * 10 + index;
        terms.add_each(MINOR_THREAT.at(index), weak & minors);
        terms.add_each(MINOR_THREAT.at(index + 5), held & minors);
        terms.add_each(ROOK_THREAT.at(index), weak & own.by(Piece::Rook));
        terms.add_each(ROOK_THREAT.at(index + 5), held & own.by(Piece::Rook));
        let index = now * 5 + index % 10;
        terms.add_each(QUEEN_THREAT.at(index), weak & own.by(Piece::Queen));
        terms.add_each(HANGING.at(index), victims - enemy.all);
        terms.add_each(KING_THREAT.at(index), weak & own.by(Piece::King));
    }
    pushes(context, terms);
    space(context, terms);
}

/// Pawn pushes that attack a piece.
#[inline(always)]
fn pushes(context: &Context<'_>, terms: &mut impl TermSink) {
    let Context { view, enemy, .. } = context;
    let own = context.attacks.map();
    let pawns = view.own(Piece::Pawn);
    let free = !view.occupied;
    let once = up(pawns) & free;
    let twice = up(once & Rank::Third.bitboard()) & free;
    let safe = (once | twice) & !enemy.by(Piece::Pawn) & (own.all | !enemy.all);
    let [left, right] = pawn_attacks_up(safe);
    let pieces = view.all_enemy - view.enemy(Piece::Pawn) - view.enemy(Piece::King);
    terms.add_each(
        PUSH_THREAT.at(usize::from(view.to_move)),
        ((left | right) & pieces) - own.by(Piece::Pawn),
    );
}

/// Space: safe squares in the center, twice behind pawns, weighted by the number of pieces.
#[inline(always)]
fn space(context: &Context<'_>, terms: &mut impl TermSink) {
    const CENTRE: BitBoard = BitBoard(0x0000_0000_3C3C_3C00);
    let Context { view, enemy, .. } = context;
    let pawns = view.own(Piece::Pawn);
    let safe = CENTRE - enemy.by(Piece::Pawn) - pawns;
    let behind = (safe & fill_down(down(pawns))) - enemy.all;
    let pieces = (view.all_own - pawns).len() as usize;
    terms.add_n(SPACE.at(pieces.min(8) - 1), safe.len() + behind.len());
}
