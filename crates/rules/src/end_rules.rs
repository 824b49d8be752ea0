//! The rules that end a game, which differ between federations, servers and engine matches, and
//! declarations in an impasse of shogi.

use crate::{GameOutcome, Side, Termination};

/// The rules that end a game, for all games.
///
/// Checkmate and stalemate end every game and are not listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EndRules {
    /// For chess and Chess960.
    pub chess: ChessRules,
    /// For shogi.
    pub shogi: ShogiRules,
}

impl EndRules {
    /// The rules of [`Position::outcome`](crate::Position::outcome): [`ChessRules::ENGINE_MATCH`] and
    /// [`ShogiRules::BOARD`].
    pub const BOARD: Self = Self { chess: ChessRules::ENGINE_MATCH, shogi: ShogiRules::BOARD };
    /// Engine matches: [`ChessRules::ENGINE_MATCH`] and [`ShogiRules::CSA`].
    pub const ENGINE_MATCH: Self = Self { chess: ChessRules::ENGINE_MATCH, shogi: ShogiRules::CSA };
    /// Games between humans: [`ChessRules::FIDE`] and [`ShogiRules::JSA`].
    pub const FEDERATIONS: Self = Self { chess: ChessRules::FIDE, shogi: ShogiRules::JSA };
}

impl Default for EndRules {
    fn default() -> Self {
        Self::BOARD
    }
}

/// The rules that end a game of chess without a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ChessRules {
    /// The number of occurrences of a position that draws: 3 where no claim is needed, 5 under FIDE
    /// 9.6.1. `None` if repetition never draws.
    pub repetition: Option<u32>,
    /// The number of moves by each side without a capture or a pawn move that draws: 50 where no claim
    /// is needed, 75 under FIDE 9.6.2. `None` for no limit. Mate on the last of them counts.
    pub quiet_moves: Option<u32>,
    /// Which dead positions are detected.
    pub dead: DeadPositions,
}

impl ChessRules {
    /// The third repetition, fifty moves and insufficient material draw immediately, as in fastchess and
    /// cutechess.
    pub const ENGINE_MATCH: Self =
        Self { repetition: Some(3), quiet_moves: Some(50), dead: DeadPositions::Material };
    /// The endings under the FIDE Laws of Chess (2023) that need no claim: articles 5.2.2, 9.6.1 and
    /// 9.6.2. [`Position::claims`](crate::Position::claims) returns what a player can claim earlier.
    pub const FIDE: Self =
        Self { repetition: Some(5), quiet_moves: Some(75), dead: DeadPositions::MaterialAndLocked };
    /// Only checkmate and stalemate, for analysis.
    pub const NONE: Self =
        Self { repetition: None, quiet_moves: None, dead: DeadPositions::Ignored };
}

/// Which dead positions are detected. FIDE 5.2.2 draws whenever no line of moves gives mate,
/// which is not decidable exactly during a game; every position detected here is dead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum DeadPositions {
    /// None.
    Ignored,
    /// Neither side has mating material: bare kings, a single knight against a bare king, bishops of
    /// one colour of squares.
    Material,
    /// Also positions with only kings and pawns, where every pawn is blocked permanently and no king can
    /// reach an enemy pawn.
    MaterialAndLocked,
}

/// The rules that end a game of shogi. A player without a move always loses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ShogiRules {
    /// The number of occurrences of a position that ends the game (sennichite): 4 (JSA article 8,
    /// paragraph 1). `None` if repetition never ends it.
    pub repetition: Option<u32>,
    /// Whether a side that has given check with each of its moves since the first of these
    /// positions loses (JSA article 8, on perpetual check). Otherwise it is a draw.
    pub perpetual_check_loses: bool,
    /// How an impasse is decided.
    pub impasse: Impasse,
    /// The maximum length of a game. Without one it is 30,000 moves, as more are not counted.
    pub move_limit: Option<MoveLimit>,
}

impl ShogiRules {
    /// Fourfold repetition draws, perpetual check loses, and 27 points decide an impasse, with the pieces
    /// that a handicap leaves out.
    pub const BOARD: Self = Self {
        repetition: Some(4),
        perpetual_check_loses: true,
        impasse: Impasse::Points27Handicap,
        move_limit: None,
    };
    /// The rules of the Computer Shogi Association: those of [`ShogiRules::BOARD`] and two more.
    ///
    /// A declaration needs 28 points for the first player and 27 for the second (World Computer Shogi
    /// Championship, from the 11th, 2001, on, section 13 of its outline). The game is a draw after 320
    /// moves, as in its later championships. Mate or a declaration on the last move counts.
    pub const CSA: Self = Self {
        move_limit: Some(MoveLimit { plies: 320, check_extends: false, needs_entered_king: false }),
        ..Self::BOARD
    };
    /// The rules for games of the professional association (revised on 1 October 2019): the
    /// 24-point declaration, and a draw after 500 moves if a king has entered the other camp by
    /// then; a check on the last move has to end first.
    pub const JSA: Self = Self {
        impasse: Impasse::Points24,
        move_limit: Some(MoveLimit { plies: 500, check_extends: true, needs_entered_king: true }),
        ..Self::BOARD
    };
    /// Only checkmate and stalemate, for analysis.
    pub const NONE: Self = Self {
        repetition: None,
        perpetual_check_loses: false,
        impasse: Impasse::Ignored,
        move_limit: None,
    };

    /// These rules with a move limit. Championships used 256, 320 and 512.
    #[must_use]
    pub fn with_move_limit(self, plies: u32) -> Self {
        let limit = MoveLimit { plies, check_extends: false, needs_entered_king: false };
        Self { move_limit: Some(limit), ..self }
    }
}

/// How a game with entered kings is decided (jishogi).
///
/// Points are counted as for [`Declaration`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Impasse {
    /// It continues.
    Ignored,
    /// A declaration with 31 points wins, one with 24 to 30 draws (JSA, for its own games). In
    /// handicap games the pieces that the second player has left out count as theirs.
    Points24,
    /// A declaration with 28 points by the first player or 27 by the second wins. Pieces that a handicap
    /// leaves out do not count (CSA, whose championship has no handicaps).
    Points27,
    /// As [`Impasse::Points27`], but in handicap games the pieces that the second player has left out
    /// count as theirs. The JSA counts points this way
    /// (駒落ち将棋の場合は、落とした駒が上手にある、と仮定して点数計算をします), and applies 27 points to
    /// games of amateurs.
    Points27Handicap,
    /// The king wins that first reaches the start square of the opponent's king: 5a for the first
    /// player, 5i for the second. No federation has this rule; clubs and programs do (the value
    /// `TryRule` of the option `EnteringKingRule` of YaneuraOu).
    Try,
}

/// The maximum length of a game. A game that reaches it has no winner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MoveLimit {
    /// The number of plies from the start of the game. The SFEN has the number of moves before it.
    pub plies: u32,
    /// Whether a game whose last move gives check continues until a move does not.
    pub check_extends: bool,
    /// Whether the limit applies only if a king is in the opponent's camp.
    pub needs_entered_king: bool,
}

/// The facts that decide a declaration by the side to move (nyugyoku sengen).
///
/// The conditions of the Japan Shogi Association and of the Computer Shogi Association: the king is on
/// the three furthest ranks and not in check, at least ten other pieces of its side are there, and
/// there are enough points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Declaration {
    /// The declaring side, which is to move.
    pub side: Side,
    /// Whether the king is on one of the three furthest ranks.
    pub king_has_entered: bool,
    /// Whether the king is in check.
    pub in_check: bool,
    /// The number of other pieces of the side on these ranks; ten are required.
    pub pieces: u32,
    /// The points of these pieces and those in hand: five for a rook or a bishop, promoted or not, and
    /// one for any other.
    pub points: u32,
    /// The points of the pieces that the game lacks, as in a handicap.
    pub missing: u32,
}

impl Declaration {
    /// The outcome of the declaration. `None` under rules without declarations.
    pub fn outcome(&self, impasse: Impasse) -> Option<GameOutcome> {
        let needed = match self.side {
            Side::First => 28,
            Side::Second => 27,
        };
        let left_out = match self.side {
            Side::First => 0,
            Side::Second => self.missing,
        };
        let (points, to_draw, to_win) = match impasse {
            Impasse::Ignored | Impasse::Try => return None,
            Impasse::Points24 => (self.points.saturating_add(left_out), 24, 31),
            Impasse::Points27 => (self.points, needed, needed),
            Impasse::Points27Handicap => (self.points.saturating_add(left_out), needed, needed),
        };
        let allowed = self.king_has_entered && !self.in_check && self.pieces >= 10;
        Some(if allowed && points >= to_win {
            GameOutcome::won(self.side, Termination::Declaration)
        } else if allowed && points >= to_draw {
            GameOutcome::drawn(Termination::Impasse)
        } else {
            GameOutcome::won(self.side.other(), Termination::FailedDeclaration)
        })
    }
}
