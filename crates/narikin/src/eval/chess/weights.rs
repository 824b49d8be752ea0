//! The weights: one table of their groups, with names, sizes and initial values.

use std::ops::Range;

use cozy_chess::Piece;

use crate::eval::{WEIGHT_UNITS, Weight};

/// A group of weights, such as a table.
#[derive(Debug, Clone)]
pub struct Group {
    /// The name of the group.
    pub name: &'static str,
    /// The indices of its weights.
    pub range: Range<usize>,
    /// The initial middlegame and endgame values in centipawns, by index.
    initial: fn(usize) -> (i32, i32),
}

impl Group {
    /// The index of a weight in the group.
    pub(super) const fn at(&self, index: usize) -> usize {
        self.range.start + index
    }
}

/// Declares each group with its size and initial values.
macro_rules! groups {
    ($($(#[doc = $doc:literal])+ $name:ident, $text:literal, $len:expr, $initial:expr;)*) => {
        #[derive(Clone, Copy)]
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "named as the groups")]
        enum Id { $($name),* }

        const LENGTHS: &[usize] = &[$($len),*];

        $($(#[doc = $doc])+ pub(super) const $name: Group = Group {
            name: $text,
            range: from(Id::$name as usize)..from(Id::$name as usize + 1),
            initial: $initial,
        };)*

        /// All groups, in the order of their weights.
        pub const GROUPS: &[Group] = &[$($name),*];
    };
}

pub(super) const WEIGHTS: usize = from(LENGTHS.len());

/// The number of weights in earlier groups.
const fn from(group: usize) -> usize {
    let mut sum = 0;
    let mut index = 0;
    while index < group {
        sum += LENGTHS[index];
        index += 1;
    }
    sum
}

/// Squares of pawns and of the four other pieces.
pub(super) const PLACES: usize = 48 + 4 * 64;

/// The piece of a square index.
pub(super) fn piece_of(place: usize) -> Piece {
    match place {
        0..48 => Piece::Pawn,
        48..112 => Piece::Knight,
        112..176 => Piece::Bishop,
        176..240 => Piece::Rook,
        _ => Piece::Queen,
    }
}

/// The number of king zones.
pub(super) const KING_ZONES: usize = 10;

groups! {
    /// Having the move.
    TEMPO, "tempo", 1, tempo;
    /// Pawn, knight, bishop, rook, queen.
    MATERIAL, "material", 5, material;
    /// By the square of a piece, its king being in the right half.
    PLACE, "place", PLACES, place;
    /// By the square of the king, in the right half.
    KING, "king", 32, king;
    /// By the zone of the own king and the square of a piece.
    OWN_KING, "place by own king", KING_ZONES * PLACES, zero;
    /// By the zone of the enemy's king and the square of a piece, the enemy's king being in the
    /// right half.
    ENEMY_KING, "place by enemy king", KING_ZONES * PLACES, zero;
    /// By the number of safe squares that it attacks.
    KNIGHT_MOBILITY, "knight mobility", 9, knight_mobility;
    /// By the number of safe squares that it attacks.
    BISHOP_MOBILITY, "bishop mobility", 14, bishop_mobility;
    /// By the number of safe squares that it attacks.
    ROOK_MOBILITY, "rook mobility", 15, rook_mobility;
    /// By the number of safe squares that it attacks.
    QUEEN_MOBILITY, "queen mobility", 28, queen_mobility;
    /// By rank, from the second: adjacent to another pawn.
    PHALANX, "phalanx", 6, phalanx;
    /// By its rank, from the third: defended by another.
    SUPPORTED, "supported pawn", 5, supported;
    /// Behind another of its file: supported, or not.
    DOUBLED, "doubled pawn", 2, doubled;
    /// With no pawn on either side: opposed or not, by the distance of its file from the edge.
    ISOLATED, "isolated pawn", 8, isolated;
    /// Behind its neighbours and stopped by an enemy's pawn: opposed, or not.
    BACKWARD, "backward pawn", 2, backward;
    /// By rank, from the second: as many helpers as opposing pawns.
    CANDIDATE, "candidate pawn", 5, candidate;
    /// By its rank, from the second.
    PASSED, "passed pawn", 6, passed;
    /// By the distance of its file from the edge.
    PASSED_FILE, "passed pawn by file", 4, zero;
    /// By rank, from the second: supported or adjacent to another pawn.
    PASSED_SUPPORTED, "supported passed pawn", 6, passed_supported;
    /// By rank, from the second: blocked by an own or an enemy piece.
    PASSED_BLOCKED, "blocked passed pawn", 12, passed_blocked;
    /// By its rank, from the second: its path is free and not attacked.
    PASSED_FREE, "free passed pawn", 6, passed_free;
    /// By its rank, from the second: the next square is free and not attacked.
    PASSED_SAFE, "safe passed pawn", 5, passed_safe;
    /// By its rank, from the fourth, and the distance of its king from the next square.
    PASSED_KING, "passed pawn by own king", 32, passed_king;
    /// By its rank, from the fourth, and the distance of the enemy's king from the next square.
    PASSED_ENEMY_KING, "passed pawn by enemy king", 32, passed_enemy_king;
    /// An own or an enemy's rook behind it.
    PASSED_ROOK, "rook behind passed pawn", 2, passed_rook;
    /// The enemy has nothing but a king, and that is too far away.
    PASSED_RACE, "passed pawn out of reach", 1, passed_race;
    /// By the number of own pawns.
    BISHOP_PAIR, "bishop pair by pawns", 9, bishop_pair;
    /// By the number of own pawns.
    KNIGHT_PAWNS, "knight by pawns", 9, knight_pawns;
    /// By the number of own pawns.
    ROOK_PAWNS, "rook by pawns", 9, rook_pawns;
    /// By the number of own pawns on squares of its colour.
    BISHOP_PAWNS, "bishop by pawns of its color", 9, bishop_pawns;
    /// Not attackable by pawns: a knight supported by a pawn, and not; a bishop likewise.
    OUTPOST, "outpost", 4, outpost;
    /// Right behind a pawn: a knight, a bishop.
    SHIELDED, "behind a pawn", 2, shielded;
    /// On an open file, one without own pawns, another; then the same near the enemy's king.
    ROOK_FILE, "file of a rook", 6, rook_file;
    /// A right to castle.
    CASTLING, "right to castle", 1, castling;
    /// By the danger that the enemy's king is in.
    DANGER, "danger to a king", 31, danger;
    /// By the number of pieces that attack squares near the enemy's king, from one.
    ATTACKERS, "attackers of a king", 5, zero;
    /// A safe square to give check from, or more; for a knight, bishop, rook, queen.
    CHECKS, "safe checks", 8, zero;
    /// By the distance of a file near the king from the edge, and the rank of the shelter pawn.
    SHELTER, "shelter", 28, shelter;
    /// By the distance of a file near the king from the edge, and the rank of an enemy's pawn.
    STORM, "storm", 28, zero;
    /// Pawn storm blocked by the shelter pawn, from the third rank.
    STORM_BLOCKED, "blocked storm", 20, zero;
    /// Attacked by a pawn: a knight, bishop, rook, queen; then the same with the move.
    PAWN_THREAT, "threat by a pawn", 8, pawn_threat;
    /// Attacked by a knight or bishop and not well defended: a pawn, knight, bishop, rook, queen;
    /// then the same well defended; then both with the move.
    MINOR_THREAT, "threat by a knight or bishop", 20, minor_threat;
    /// Attacks by a rook, in the same order.
    ROOK_THREAT, "threat by a rook", 20, rook_threat;
    /// Attacked by the queen and not well defended: a pawn, knight, bishop, rook, queen; then the
    /// same with the move.
    QUEEN_THREAT, "threat by a queen", 10, zero;
    /// Attacks by the king, in the same order.
    KING_THREAT, "threat by a king", 10, king_threat;
    /// Attacked and not defended: a pawn, knight, bishop, rook, queen; then with the move.
    HANGING, "hanging", 10, hanging;
    /// A piece that a safe move of a pawn would attack; then with the move.
    PUSH_THREAT, "threat of a pawn to attack", 2, push_threat;
    /// By the number of own pieces, for each safe square behind the front.
    SPACE, "space by pieces", 8, space;
    /// Against a bare king, by the distance of the kings, from two.
    BARE_KING, "against a bare king", 6, bare_king;
    /// With bishop and knight against a bare king, by the distance from the corners of the bishop's
    /// color.
    BARE_CORNER, "bare king and the right corner", 8, bare_corner;
}

/// The weights before tuning.
pub fn initial_weights() -> Vec<Weight> {
    let of = |value: i32| i16::try_from(value * WEIGHT_UNITS).unwrap_or_default();
    let groups = GROUPS.iter().flat_map(|group| (0..group.range.len()).map(group.initial));
    groups.map(|(mg, eg)| Weight { mg: of(mg), eg: of(eg) }).collect()
}

fn zero(_: usize) -> (i32, i32) {
    (0, 0)
}

fn tempo(_: usize) -> (i32, i32) {
    (15, 10)
}

fn material(piece: usize) -> (i32, i32) {
    match piece {
        0 => (90, 110),
        1 => (330, 320),
        2 => (340, 335),
        3 => (480, 540),
        _ => (980, 1000),
    }
}

fn place(place: usize) -> (i32, i32) {
    match piece_of(place) {
        Piece::Pawn => pawn(place + 8),
        Piece::Knight => at(place - 48, knight),
        Piece::Bishop => at(place - 112, bishop),
        Piece::Rook => at(place - 176, rook),
        Piece::Queen | Piece::King => at(place - 240, queen),
    }
}

fn pawn(square: usize) -> (i32, i32) {
    let (rank, centre) = (signed(square / 8), from_edge(square % 8));
    (centre * (rank - 1).min(3) * 3 + rank * rank - 6, rank * rank * 2 - 12)
}

fn knight(rank: i32, centre: i32) -> (i32, i32) {
    (7 * centre + 3 * rank - 30, 5 * centre - 16)
}

fn bishop(rank: i32, centre: i32) -> (i32, i32) {
    (4 * centre - 12 - if rank == 0 { 8 } else { 0 }, 3 * centre - 10)
}

fn rook(rank: i32, centre: i32) -> (i32, i32) {
    (2 * centre - 6 + if rank == 6 { 12 } else { 0 }, if rank == 6 { 12 } else { 0 })
}

fn queen(rank: i32, centre: i32) -> (i32, i32) {
    (centre - 2 * rank, 4 * centre + 2 * rank - 16)
}

/// Behind its pawns in the middlegame, in the center in the endgame.
fn king(place: usize) -> (i32, i32) {
    let (rank, file) = (signed(place / 4), signed(place % 4));
    let centre = from_edge(place / 4) + 3 - file;
    (10 * file - 25 * rank.min(3), 9 * centre - 30)
}

fn at(square: usize, value: fn(i32, i32) -> (i32, i32)) -> (i32, i32) {
    value(signed(square / 8), from_edge(square / 8) + from_edge(square % 8))
}

/// 0 at the edge, 3 in the center.
fn from_edge(index: usize) -> i32 {
    signed(index.min(7 - index))
}

fn knight_mobility(squares: usize) -> (i32, i32) {
    growing(squares, 4, 6, 7)
}

fn bishop_mobility(squares: usize) -> (i32, i32) {
    growing(squares, 6, 5, 6)
}

fn rook_mobility(squares: usize) -> (i32, i32) {
    growing(squares, 7, 3, 5)
}

fn queen_mobility(squares: usize) -> (i32, i32) {
    growing(squares, 13, 1, 3)
}

/// Linear in the squares above the usual number.
fn growing(squares: usize, usual: i32, mg: i32, eg: i32) -> (i32, i32) {
    let more = signed(squares) - usual;
    (more * mg, more * eg)
}

fn phalanx(rank: usize) -> (i32, i32) {
    rising(rank, 3, 2)
}

fn supported(rank: usize) -> (i32, i32) {
    rising(rank + 1, 4, 2)
}

fn doubled(alone: usize) -> (i32, i32) {
    if alone == 1 { (-10, -20) } else { (-4, -10) }
}

fn isolated(case: usize) -> (i32, i32) {
    if case >= 4 { (-16, -14) } else { (-8, -10) }
}

fn backward(open: usize) -> (i32, i32) {
    if open == 1 { (-16, -12) } else { (-6, -6) }
}

fn candidate(rank: usize) -> (i32, i32) {
    rising(rank, 2, 4)
}

fn passed(rank: usize) -> (i32, i32) {
    let rank = signed(rank);
    (rank * rank * 3, 8 + rank * rank * 4)
}

fn passed_supported(rank: usize) -> (i32, i32) {
    rising(rank, 2, 3)
}

fn passed_blocked(case: usize) -> (i32, i32) {
    if case >= 6 { rising(case - 6, -3, -8) } else { (0, 0) }
}

fn passed_free(rank: usize) -> (i32, i32) {
    rising(rank, 3, 14)
}

fn passed_safe(rank: usize) -> (i32, i32) {
    rising(rank, 1, 4)
}

fn passed_king(case: usize) -> (i32, i32) {
    let (rank, distance) = (signed(case / 8) + 1, signed(case % 8));
    (0, (3 - distance) * rank * 2)
}

fn passed_enemy_king(case: usize) -> (i32, i32) {
    let (rank, distance) = (signed(case / 8) + 1, signed(case % 8));
    (0, (distance - 3) * rank * 4)
}

fn passed_rook(enemy: usize) -> (i32, i32) {
    if enemy == 1 { (-5, -20) } else { (5, 20) }
}

fn passed_race(_: usize) -> (i32, i32) {
    (400, 400)
}

fn bishop_pair(_: usize) -> (i32, i32) {
    (25, 45)
}

/// Knights are stronger with many pawns, rooks with few.
fn knight_pawns(pawns: usize) -> (i32, i32) {
    let more = signed(pawns) - 5;
    (3 * more, 3 * more)
}

fn rook_pawns(pawns: usize) -> (i32, i32) {
    let fewer = 5 - signed(pawns);
    (3 * fewer, 3 * fewer)
}

fn bishop_pawns(pawns: usize) -> (i32, i32) {
    let more = signed(pawns) - 3;
    (-3 * more, -5 * more)
}

fn outpost(case: usize) -> (i32, i32) {
    match case {
        0 => (28, 16),
        1 => (12, 6),
        2 => (20, 8),
        _ => (8, 2),
    }
}

fn shielded(_: usize) -> (i32, i32) {
    (6, 3)
}

fn rook_file(case: usize) -> (i32, i32) {
    let near = if case >= 3 { 6 } else { 0 };
    match case % 3 {
        0 => (26 + near, 10),
        1 => (10 + near, 6),
        _ => (-4, -2),
    }
}

fn castling(_: usize) -> (i32, i32) {
    (12, 0)
}

fn danger(case: usize) -> (i32, i32) {
    let square = signed(case * case);
    (square * 2 / 3, square / 6)
}

fn shelter(case: usize) -> (i32, i32) {
    match case % 7 {
        0 => (-20, 0),
        1 => (14, 0),
        2 => (6, 0),
        _ => (-6, 0),
    }
}

fn pawn_threat(case: usize) -> (i32, i32) {
    let value = if case % 4 < 2 { 45 } else { 65 };
    with_the_move(case / 4, value)
}

fn minor_threat(case: usize) -> (i32, i32) {
    let value = match case % 10 {
        0 => 8,
        1 | 2 => 24,
        3 => 50,
        4 => 55,
        8 | 9 => 35,
        _ => 2,
    };
    with_the_move(case / 10, value)
}

fn rook_threat(case: usize) -> (i32, i32) {
    let value = match case % 10 {
        0 => 8,
        1 | 2 => 28,
        4 => 50,
        9 => 40,
        _ => 2,
    };
    with_the_move(case / 10, value)
}

fn king_threat(case: usize) -> (i32, i32) {
    with_the_move(case / 5, 15)
}

fn hanging(case: usize) -> (i32, i32) {
    let value = if case.is_multiple_of(5) { 5 } else { 25 };
    with_the_move(case / 5, value)
}

fn push_threat(now: usize) -> (i32, i32) {
    with_the_move(now, 12)
}

fn space(pieces: usize) -> (i32, i32) {
    (signed(pieces) / 3, 0)
}

fn bare_king(distance: usize) -> (i32, i32) {
    let near = 10 * (5 - signed(distance));
    (near, near)
}

/// Strictly monotonic along the edge, so that the king leaves the wrong corner.
fn bare_corner(distance: usize) -> (i32, i32) {
    let near = 40 * (7 - signed(distance));
    (near, near)
}

/// Threats of the side to move count more.
fn with_the_move(now: usize, value: i32) -> (i32, i32) {
    let value = if now == 1 { value * 3 / 2 } else { value };
    (value, value)
}

/// Linear in the rank.
fn rising(rank: usize, mg: i32, eg: i32) -> (i32, i32) {
    (signed(rank) * mg, signed(rank) * eg)
}

fn signed(value: usize) -> i32 {
    i32::try_from(value).unwrap_or_default()
}
