//! Which weight means what.

use std::ops::Range;

use cozy_chess::Piece;

use super::start;

/// Weights that belong together, such as a table.
#[derive(Debug, Clone)]
pub struct Group {
    /// What they are for.
    pub name: &'static str,
    /// Where they stand among the weights.
    pub range: Range<usize>,
    /// Before any fitting, the value of each in centipawns, in the opening and in the ending.
    pub(super) start: fn(usize) -> (i32, i32),
}

impl Group {
    /// The number of a weight in this group, which has more than `index` of them.
    pub(super) const fn at(&self, index: usize) -> usize {
        self.range.start + index
    }
}

/// Declares each group with the number of its weights and what they are before fitting.
macro_rules! groups {
    ($($(#[doc = $doc:literal])+ $name:ident, $text:literal, $len:expr, $start:expr;)*) => {
        #[derive(Clone, Copy)]
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "named as the groups")]
        enum Id { $($name),* }

        const LENGTHS: &[usize] = &[$($len),*];

        $($(#[doc = $doc])+ pub(super) const $name: Group = Group {
            name: $text,
            range: from(Id::$name as usize)..from(Id::$name as usize + 1),
            start: $start,
        };)*

        /// All groups, in the order of their weights.
        pub const GROUPS: &[Group] = &[$($name),*];
    };
}

/// How many weights there are.
pub(super) const WEIGHTS: usize = from(LENGTHS.len());

/// How many weights there are in the groups before this one.
const fn from(group: usize) -> usize {
    let mut sum = 0;
    let mut index = 0;
    while index < group {
        sum += LENGTHS[index];
        index += 1;
    }
    sum
}

/// Squares on which a pawn can stand, and those of the four other pieces.
pub(super) const PLACES: usize = 48 + 4 * 64;

/// The piece that a place is for.
pub(super) fn piece_of(place: usize) -> Piece {
    match place {
        0..48 => Piece::Pawn,
        48..112 => Piece::Knight,
        112..176 => Piece::Bishop,
        176..240 => Piece::Rook,
        _ => Piece::Queen,
    }
}

/// The kinds of squares that a king can stand on.
pub(super) const KING_ZONES: usize = 10;

groups! {
    /// Having the move.
    TEMPO, "tempo", 1, start::tempo;
    /// Pawn, knight, bishop, rook, queen.
    MATERIAL, "material", 5, start::material;
    /// By the square of a piece, its king being in the right half.
    PLACE, "place", PLACES, start::place;
    /// By the square of the king, in the right half.
    KING, "king", 32, start::king;
    /// By the zone of the own king and the square of a piece.
    OWN_KING, "place by own king", KING_ZONES * PLACES, start::nothing;
    /// By the zone of the enemy's king and the square of a piece, the enemy's king being in the
    /// right half.
    ENEMY_KING, "place by enemy king", KING_ZONES * PLACES, start::nothing;
    /// By the number of safe squares that it attacks.
    KNIGHT_MOBILITY, "knight mobility", 9, start::knight_mobility;
    /// By the number of safe squares that it attacks.
    BISHOP_MOBILITY, "bishop mobility", 14, start::bishop_mobility;
    /// By the number of safe squares that it attacks.
    ROOK_MOBILITY, "rook mobility", 15, start::rook_mobility;
    /// By the number of safe squares that it attacks.
    QUEEN_MOBILITY, "queen mobility", 28, start::queen_mobility;
    /// By its rank, from the second: beside another.
    PHALANX, "phalanx", 6, start::phalanx;
    /// By its rank, from the third: defended by another.
    SUPPORTED, "supported pawn", 5, start::supported;
    /// Behind another of its file: supported, or not.
    DOUBLED, "doubled pawn", 2, start::doubled;
    /// With no pawn on either side: opposed or not, by the distance of its file from the edge.
    ISOLATED, "isolated pawn", 8, start::isolated;
    /// Behind its neighbours and stopped by an enemy's pawn: opposed, or not.
    BACKWARD, "backward pawn", 2, start::backward;
    /// By its rank, from the second: its neighbours are as many as those who watch its way.
    CANDIDATE, "candidate pawn", 5, start::candidate;
    /// By its rank, from the second.
    PASSED, "passed pawn", 6, start::passed;
    /// By the distance of its file from the edge.
    PASSED_FILE, "passed pawn by file", 4, start::nothing;
    /// By its rank, from the second: supported or beside another.
    PASSED_SUPPORTED, "supported passed pawn", 6, start::passed_supported;
    /// By its rank, from the second: the square before it is taken, by a friend or by an enemy.
    PASSED_BLOCKED, "blocked passed pawn", 12, start::passed_blocked;
    /// By its rank, from the second: nothing stands on its way or attacks it.
    PASSED_FREE, "free passed pawn", 6, start::passed_free;
    /// By its rank, from the second: the next square is free and not attacked.
    PASSED_SAFE, "safe passed pawn", 5, start::passed_safe;
    /// By its rank, from the fourth, and the distance of its king from the next square.
    PASSED_KING, "passed pawn by own king", 32, start::passed_king;
    /// By its rank, from the fourth, and the distance of the enemy's king from the next square.
    PASSED_ENEMY_KING, "passed pawn by enemy king", 32, start::passed_enemy_king;
    /// An own or an enemy's rook behind it.
    PASSED_ROOK, "rook behind passed pawn", 2, start::passed_rook;
    /// The enemy has nothing but a king, and that is too far away.
    PASSED_RACE, "passed pawn out of reach", 1, start::passed_race;
    /// By the number of own pawns.
    BISHOP_PAIR, "bishop pair by pawns", 9, start::bishop_pair;
    /// By the number of own pawns.
    KNIGHT_PAWNS, "knight by pawns", 9, start::knight_pawns;
    /// By the number of own pawns.
    ROOK_PAWNS, "rook by pawns", 9, start::rook_pawns;
    /// By the number of own pawns on squares of its colour.
    BISHOP_PAWNS, "bishop by pawns of its colour", 9, start::bishop_pawns;
    /// Where no pawn can chase it: a knight supported by a pawn, and not; a bishop likewise.
    OUTPOST, "outpost", 4, start::outpost;
    /// Right behind a pawn: a knight, a bishop.
    SHIELDED, "behind a pawn", 2, start::shielded;
    /// On an open file, one without own pawns, another; then the same near the enemy's king.
    ROOK_FILE, "file of a rook", 6, start::rook_file;
    /// A right to castle.
    CASTLING, "right to castle", 1, start::castling;
    /// By the danger that the enemy's king is in.
    DANGER, "danger to a king", 31, start::danger;
    /// By the number of pieces that attack squares near the enemy's king, from one.
    ATTACKERS, "attackers of a king", 5, start::nothing;
    /// A safe square to give check from, or more; for a knight, bishop, rook, queen.
    CHECKS, "safe checks", 8, start::nothing;
    /// By the distance of a file near the king from the edge, and the rank of the pawn there that
    /// shelters the king.
    SHELTER, "shelter", 28, start::shelter;
    /// By the distance of a file near the king from the edge, and the rank of an enemy's pawn.
    STORM, "storm", 28, start::nothing;
    /// The same if it is blocked by the pawn that shelters the king, from the third rank.
    STORM_BLOCKED, "blocked storm", 20, start::nothing;
    /// Attacked by a pawn: a knight, bishop, rook, queen; then the same with the move.
    PAWN_THREAT, "threat by a pawn", 8, start::pawn_threat;
    /// Attacked by a knight or bishop and not well defended: a pawn, knight, bishop, rook, queen;
    /// then the same well defended; then both with the move.
    MINOR_THREAT, "threat by a knight or bishop", 20, start::minor_threat;
    /// The same for a rook.
    ROOK_THREAT, "threat by a rook", 20, start::rook_threat;
    /// Attacked by the queen and not well defended: a pawn, knight, bishop, rook, queen; then the
    /// same with the move.
    QUEEN_THREAT, "threat by a queen", 10, start::nothing;
    /// The same for the king.
    KING_THREAT, "threat by a king", 10, start::king_threat;
    /// Attacked and not defended: a pawn, knight, bishop, rook, queen; then with the move.
    HANGING, "hanging", 10, start::hanging;
    /// A piece that a safe move of a pawn would attack; then with the move.
    PUSH_THREAT, "threat of a pawn to attack", 2, start::push_threat;
    /// By the number of own pieces, for each safe square behind the front.
    SPACE, "space by pieces", 8, start::space;
    /// Against a bare king, by the distance of the kings, from two.
    BARE_KING, "against a bare king", 6, start::bare_king;
    /// With bishop and knight against a bare king, by how far that is from the corners of the bishop's
    /// colour.
    BARE_CORNER, "bare king and the right corner", 8, start::bare_corner;
}
