//! Which rules end a game: they differ between federations, servers and matches of programs.

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
    /// What [`Position::ending`](crate::Position::ending) asks: [`ChessRules::ENGINE_MATCH`] and
    /// [`ShogiRules::BOARD`].
    pub const BOARD: Self = Self { chess: ChessRules::ENGINE_MATCH, shogi: ShogiRules::BOARD };
    /// Matches of programs: [`ChessRules::ENGINE_MATCH`] and [`ShogiRules::CSA`].
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
    /// How often a position has to be there to draw: 3 where no claim is needed, 5 under FIDE
    /// 9.6.1. None if it never draws.
    pub repetition: Option<u32>,
    /// After how many moves by each side without a capture or a pawn move the game is drawn: 50
    /// where no claim is needed, 75 under FIDE 9.6.2. `None` for no limit. Mate on the last of
    /// them counts.
    pub quiet_moves: Option<u32>,
    /// Which dead positions are seen.
    pub dead: DeadPositions,
}

impl ChessRules {
    /// The third repetition, fifty moves and insufficient material draw immediately, as fastchess and
    /// cutechess have it.
    pub const ENGINE_MATCH: Self =
        Self { repetition: Some(3), quiet_moves: Some(50), dead: DeadPositions::Material };
    /// What ends a game under the FIDE Laws of Chess (2023) without a claim: articles 5.2.2, 9.6.1
    /// and 9.6.2. [`Position::claims`](crate::Position::claims) returns what a player can claim
    /// before that.
    pub const FIDE: Self =
        Self { repetition: Some(5), quiet_moves: Some(75), dead: DeadPositions::MaterialAndLocked };
    /// Nothing but checkmate and stalemate, for analysis.
    pub const NONE: Self =
        Self { repetition: None, quiet_moves: None, dead: DeadPositions::Ignored };
}

/// Which positions are seen to be dead. FIDE 5.2.2 draws whenever no line of moves gives mate,
/// which is not decidable exactly during a game; every position detected here is dead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum DeadPositions {
    /// None.
    Ignored,
    /// Neither side has the pieces: bare kings, a single knight against a bare king, bishops of
    /// one colour of squares.
    Material,
    /// Also kings and pawns alone, where every pawn is stopped for ever and no king can ever reach
    /// an enemy pawn.
    MaterialAndLocked,
}

/// The rules that end a game of shogi. A player without a move always loses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ShogiRules {
    /// How often a position has to be there to end the game (sennichite): 4 (JSA article 8,
    /// paragraph 1). None if it never does.
    pub repetition: Option<u32>,
    /// Whether a side that has given check with each of its moves since the first of these
    /// positions loses (JSA article 8, on perpetual check). Otherwise it is a draw.
    pub perpetual_check_loses: bool,
    /// How an impasse is decided.
    pub impasse: Impasse,
    /// Where games that are too long end. Without a limit it is at 30,000 moves, as more are not
    /// counted.
    pub move_limit: Option<MoveLimit>,
}

impl ShogiRules {
    /// The fourth repetition draws, perpetual check loses, and 27 points decide an impasse, with what
    /// a handicap leaves out.
    pub const BOARD: Self = Self {
        repetition: Some(4),
        perpetual_check_loses: true,
        impasse: Impasse::Points27Handicap,
        move_limit: None,
    };
    /// The rules of the Computer Shogi Association: those of [`ShogiRules::BOARD`], declaration with
    /// 28 points for the first player and 27 for the second (World Computer Shogi Championship,
    /// from the 11th, 2001, on, section 13 of its outline), and a draw after 320 moves, as its later
    /// championships have it. Mate or a declaration on the last move counts.
    pub const CSA: Self = Self {
        move_limit: Some(MoveLimit { plies: 320, check_goes_on: false, needs_entered_king: false }),
        ..Self::BOARD
    };
    /// The rules for games of the professional association (revised on 1 October 2019): the
    /// 24-point declaration, and a draw after 500 moves if a king has entered the other camp by
    /// then; a check on the last move has to end first.
    pub const JSA: Self = Self {
        impasse: Impasse::Points24,
        move_limit: Some(MoveLimit { plies: 500, check_goes_on: true, needs_entered_king: true }),
        ..Self::BOARD
    };
    /// Nothing but having no move, for analysis.
    pub const NONE: Self = Self {
        repetition: None,
        perpetual_check_loses: false,
        impasse: Impasse::Ignored,
        move_limit: None,
    };

    /// These rules with a move limit: championships have had 256, 320 and 512.
    #[must_use]
    pub fn with_move_limit(self, plies: u32) -> Self {
        let limit = MoveLimit { plies, check_goes_on: false, needs_entered_king: false };
        Self { move_limit: Some(limit), ..self }
    }
}

/// How a game is decided in which kings have entered the other's camp (jishogi).
///
/// Points are counted as for [`Declaration`](crate::Declaration).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Impasse {
    /// By nothing.
    Ignored,
    /// A declaration with 31 points wins, one with 24 to 30 draws (JSA, for its own games). In
    /// handicap games the pieces that the second player has left out count as theirs.
    Points24,
    /// A declaration with 28 points by the first player or 27 by the second wins, whichever game
    /// lacks (CSA, whose championship is played without handicaps).
    Points27,
    /// As [`Impasse::Points27`], and in handicap games the pieces that the second player has left out
    /// count as theirs. The JSA counts so in an impasse: as if the giver of a handicap still had what
    /// was left out (駒落ち将棋の場合は、落とした駒が上手にある、と仮定して点数計算をします), and by the
    /// same count has 27 points decide games of amateurs.
    Points27Handicap,
    /// The first king wins that reaches the square where the opponent's stood at the start: 5a for
    /// the first player, 5i for the second. No federation has this rule; clubs and programs do (the
    /// value `TryRule` of the option `EnteringKingRule` of YaneuraOu).
    Try,
}

/// Where games that are too long end, without a winner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MoveLimit {
    /// After how many moves, by both players together and counted from the start of the game; the
    /// SFEN has the number of moves before it.
    pub plies: u32,
    /// Whether a game whose last move gives check continues until a move gives none.
    pub check_goes_on: bool,
    /// Whether the limit holds only if a king is in the other side's camp.
    pub needs_entered_king: bool,
}
