//! A game as stored in a block.

/// The maximum number of plies of a game, without random ones.
pub const MAX_PLIES: usize = 1024;

/// Scores from this one on are mates: `MATE` minus the plies to mate.
pub const MATE: i16 = 30_000;

/// The length of the fields before the moves.
const HEAD: usize = 5;

/// A game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The number of the start position: Scharnagl's number in chess, 0 in shogi.
    pub start: u16,
    /// The random moves, without scores.
    pub opening: Vec<u16>,
    /// The searched moves.
    pub plies: Vec<Ply>,
    /// The winner.
    pub winner: Winner,
    /// What ended the game.
    pub end: End,
}

/// A move and the score of the search before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ply {
    /// The number of the move.
    pub mv: u16,
    /// The score in centipawns for the side to move. Mates are near [`MATE`] and its negative.
    pub score: i16,
}

/// The result of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Winner {
    /// The side that moves second in the start position.
    Second,
    /// A draw.
    None,
    /// The side that moves first.
    First,
}

impl Winner {
    /// The points of the first side: 0, ½ or 1.
    pub fn points(self) -> f32 {
        match self {
            Self::Second => 0.0,
            Self::None => 0.5,
            Self::First => 1.0,
        }
    }
}

/// What ended a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Checkmate or stalemate.
    Board,
    /// Another rule: repetition, fifty moves, insufficient material, a declaration.
    Rule,
    /// Adjudication by scores.
    Scores,
    /// The maximum length.
    Length,
}

impl Record {
    /// Writes the content of a block. `None` if there are too many moves.
    pub(super) fn write(&self) -> Option<Vec<u8>> {
        if self.plies.len() > MAX_PLIES {
            return None;
        }
        let random = u8::try_from(self.opening.len()).ok()?;
        let mut content = Vec::with_capacity(HEAD + 2 * self.opening.len() + 4 * self.plies.len());
        content.extend(self.start.to_le_bytes());
        content.push(match self.winner {
            Winner::Second => 0,
            Winner::None => 1,
            Winner::First => 2,
        });
        content.push(match self.end {
            End::Board => 0,
            End::Rule => 1,
            End::Scores => 2,
            End::Length => 3,
        });
        content.push(random);
        content.extend(self.opening.iter().flat_map(|mv| mv.to_le_bytes()));
        for ply in &self.plies {
            content.extend(ply.mv.to_le_bytes());
            content.extend(ply.score.to_le_bytes());
        }
        Some(content)
    }

    /// Reads the content of a block. The legality of the moves is not checked.
    pub(super) fn read(content: &[u8]) -> Result<Self, &'static str> {
        let (&[low, high, winner, end, random], moves) =
            content.split_first_chunk::<HEAD>().ok_or("a game without its head")?;
        let winner = match winner {
            0 => Winner::Second,
            1 => Winner::None,
            2 => Winner::First,
            _ => return Err("an unknown result"),
        };
        let end = match end {
            0 => End::Board,
            1 => End::Rule,
            2 => End::Scores,
            3 => End::Length,
            _ => return Err("an unknown end of a game"),
        };
        let (opening, plies) =
            moves.split_at_checked(2 * usize::from(random)).ok_or("a game without its opening")?;
        let (opening, _) = opening.as_chunks::<2>();
        let (plies, rest) = plies.as_chunks::<4>();
        if !rest.is_empty() {
            return Err("half a move");
        }
        if plies.len() > MAX_PLIES {
            return Err("a game that is too long");
        }
        let ply = |&[a, b, c, d]: &[u8; 4]| Ply {
            mv: u16::from_le_bytes([a, b]),
            score: i16::from_le_bytes([c, d]),
        };
        Ok(Self {
            start: u16::from_le_bytes([low, high]),
            opening: opening.iter().map(|&bytes| u16::from_le_bytes(bytes)).collect(),
            plies: plies.iter().map(ply).collect(),
            winner,
            end,
        })
    }
}
