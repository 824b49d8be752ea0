//! Signatures of material, for indexes of positions.

use super::super::placement::{
    BISHOP, KING, KNIGHT, PAWN, PiecePlacement, QUEEN, ROOK, piece_of, value,
};
use super::{BishopColors, BoardPattern, Conditions, CountRange};
use crate::{Game, PieceKind, Side};

/// The material of a position as a small number. In chess these are the pieces on the board, with bishops by the color of
/// their squares; in shogi the pieces in hand. Large numbers of pieces have one value.
///
/// | bits | chess | shogi |
/// |---|---|---|
/// | 0–16, 17–33 | first and second side: pawns (4 bits), knights (3), bishops on dark and light squares (2 each), rooks (3), queens (3) | |
/// | 0–14, 15–29 | | in hand: rooks, bishops, golds, silvers, knights, lances (2 bits each), pawns (3) |
/// | 34 | 0 | 1 |
///
/// The largest value of a field means that number or more. All bits but the last are set if a side of chess does not have
/// one king.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MaterialSignature(u64);

/// Whether positions with a [`MaterialSignature`] match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MaterialAnswer {
    /// None.
    No,
    /// Some can.
    Maybe,
    /// All.
    Yes,
}

const SHOGI: u64 = 1 << 34;
const UNKNOWN: u64 = SHOGI - 1;

/// Widths of the fields of a side of chess, and of shogi.
const CHESS_FIELDS: [u32; 6] = [4, 3, 2, 2, 3, 3];
const SHOGI_FIELDS: [u32; 7] = [2, 2, 2, 2, 2, 2, 3];

/// Codes of the first side by field of chess; bishops have two.
const CHESS_CODES: [u8; 6] = [PAWN, KNIGHT, BISHOP, BISHOP, ROOK, QUEEN];

impl MaterialSignature {
    /// Number of bits.
    pub const BITS: u32 = 35;

    /// The signature of a position.
    pub fn new(placement: &PiecePlacement) -> Self {
        let mut bits = 0_u64;
        let mut shift = 0;
        let mut put = |count: u8, width: u32| {
            let most = (1_u64 << width) - 1;
            bits |= u64::from(count).min(most) << shift;
            shift += width;
        };
        if placement.game() == Game::Shogi {
            for side in Side::BOTH {
                for (kind, width) in SHOGI_FIELDS.into_iter().enumerate() {
                    put(placement.in_hand(side, kind), width);
                }
            }
            return Self(bits | SHOGI);
        }
        for (side, of_side) in Side::BOTH.into_iter().zip([0, 16]) {
            if placement.count(KING | of_side) != 1 {
                return Self(UNKNOWN);
            }
            let [dark, light] = placement.bishops(side);
            for (field, (width, code)) in CHESS_FIELDS.into_iter().zip(CHESS_CODES).enumerate() {
                let count = match field {
                    2 => dark,
                    3 => light,
                    _ => placement.count(code | of_side),
                };
                put(count, width);
            }
        }
        Self(bits)
    }

    /// The number, of [`Self::BITS`] bits.
    pub fn bits(self) -> u64 {
        self.0
    }

    /// The signature of a number.
    pub fn from_bits(bits: u64) -> Self {
        Self(bits & (SHOGI | UNKNOWN))
    }

    fn game(self) -> Game {
        if self.0 & SHOGI == 0 { Game::Chess } else { Game::Shogi }
    }

    /// The fields of both sides as ranges of numbers.
    fn fields<const N: usize>(self, widths: [u32; N]) -> [[CountRange; N]; 2] {
        let mut shift = 0;
        Side::BOTH.map(|_| {
            widths.map(|width| {
                let most = (1_u64 << width) - 1;
                let count = u8::try_from(self.0 >> shift & most).unwrap_or_default();
                shift += width;
                let max = if u64::from(count) == most { u8::MAX } else { count };
                CountRange { min: count, max }
            })
        })
    }
}

/// Whether all, some or no numbers of a range are in another one.
fn compare(actual: CountRange, wanted: CountRange) -> MaterialAnswer {
    if wanted.min <= actual.min && actual.max <= wanted.max {
        MaterialAnswer::Yes
    } else if wanted.max < actual.min || actual.max < wanted.min {
        MaterialAnswer::No
    } else {
        MaterialAnswer::Maybe
    }
}

impl BoardPattern {
    /// Whether positions with a signature match, for at least one position.
    pub fn allows(&self, material: MaterialSignature) -> MaterialAnswer {
        if !self.is_of(material.game()) {
            return MaterialAnswer::No;
        }
        let answers = self.alternatives.iter().map(|conditions| conditions.allow(material));
        let answer = answers.max().unwrap_or(MaterialAnswer::No);
        let is_restricted = self.plies.min > 0 || self.plies.max < i64::from(u16::MAX);
        if is_restricted { answer.min(MaterialAnswer::Maybe) } else { answer }
    }

    /// Whether a game matches if all its positions for this number of successive plies, with which it ends or not, match.
    pub fn is_long_enough(&self, plies: u32, is_last: bool) -> bool {
        self.length <= plies || self.allows_end && is_last
    }
}

impl Conditions {
    fn allow(&self, material: MaterialSignature) -> MaterialAnswer {
        use MaterialAnswer as A;
        if material.0 == UNKNOWN {
            return A::Maybe;
        }
        // Squares and turn are not known.
        let mut answer =
            if self.squares.is_empty() && self.turn.is_none() { A::Yes } else { A::Maybe };
        if material.game() == Game::Shogi {
            let fields = material.fields(SHOGI_FIELDS);
            for (side, kind, range) in &self.hands {
                answer = answer.min(compare(fields[side.index()][kind % 7], *range));
            }
            let is_known = self.counts.is_empty() && self.balance.is_none();
            return if is_known { answer } else { answer.min(A::Maybe) };
        }
        let fields = material.fields(CHESS_FIELDS);
        let count = |code: u8| {
            let fields = &fields[usize::from(code >> 4 & 1)];
            match code & 15 {
                KING => CountRange { min: 1, max: 1 },
                BISHOP => CountRange {
                    min: fields[2].min + fields[3].min,
                    max: fields[2].max.saturating_add(fields[3].max),
                },
                kind => {
                    let field = CHESS_CODES.iter().position(|code| *code == kind);
                    field.map_or(CountRange { min: 0, max: 0 }, |field| fields[field])
                }
            }
        };
        for (code, range) in &self.counts {
            answer = answer.min(compare(count(*code), *range));
            if answer == A::No {
                return A::No;
            }
        }
        if !self.squares.is_empty() {
            for (code, needed) in (0_u8..).zip(self.minimum()).filter(|(_, needed)| *needed > 0) {
                if piece_of(code).is_some() && count(code).max < needed {
                    return A::No;
                }
            }
        }
        if let Some(colors) = self.bishops {
            let of = |side: usize| [fields[side][2].min, fields[side][3].min];
            if !colors.match_counts(of(0), of(1)) {
                return A::No;
            }
        }
        if let Some((min, max)) = self.balance {
            let [first, second] = [0, 1].map(|side| {
                let total = |bound: fn(CountRange) -> u8| -> i32 {
                    let fields = fields[side].into_iter().zip(CHESS_CODES);
                    fields
                        .filter_map(|(range, code)| {
                            let kind: PieceKind = piece_of(code)?.kind;
                            Some(i32::from(bound(range)) * value(Game::Chess, kind))
                        })
                        .sum()
                };
                (total(|range| range.min), total(|range| range.max))
            });
            let (least, most) = (first.0 - second.1, first.1 - second.0);
            answer = answer.min(if min <= least && most <= max {
                A::Yes
            } else if max < least || most < min {
                A::No
            } else {
                A::Maybe
            });
        }
        answer
    }
}

impl BishopColors {
    /// Whether these are the colors of the bishops of both sides, by their numbers on dark and light squares.
    pub(super) fn match_counts(self, first: [u8; 2], second: [u8; 2]) -> bool {
        match self {
            Self::Same => first == second && [[0, 1], [1, 0]].contains(&first),
            Self::Opposite => [([0, 1], [1, 0]), ([1, 0], [0, 1])].contains(&(first, second)),
        }
    }
}
