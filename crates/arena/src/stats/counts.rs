//! What was counted: single games, or pairs of games on one opening with the sides exchanged.

use super::sample::Sample;

/// The result of a game, for the engine that the statistics are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It lost.
    Loss,
    /// Nobody won.
    Draw,
    /// It won.
    Win,
}

impl Outcome {
    /// The same game for the opponent.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::Loss => Self::Win,
            Self::Draw => Self::Draw,
            Self::Win => Self::Loss,
        }
    }

    /// What it scores, in half points: 0, 1 or 2.
    pub fn half_points(self) -> u64 {
        match self {
            Self::Loss => 0,
            Self::Draw => 1,
            Self::Win => 2,
        }
    }
}

/// The most games that can be counted: as many whole numbers as an `f64` tells apart.
pub const MAX_GAMES: u64 = 1 << 53;

/// More than [`MAX_GAMES`] games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyGames;

impl std::fmt::Display for TooManyGames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "more than {MAX_GAMES} games")
    }
}

impl std::error::Error for TooManyGames {}

/// Results of single games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trinomial {
    losses: u64,
    draws: u64,
    wins: u64,
}

impl Trinomial {
    /// Counts from elsewhere.
    pub fn new(losses: u64, draws: u64, wins: u64) -> Result<Self, TooManyGames> {
        checked(&[losses, draws, wins], MAX_GAMES)?;
        Ok(Self { losses, draws, wins })
    }

    /// A million even games with this share of draws, in thousandths (at most 1000): a base for
    /// forecasts when nothing was played yet.
    pub fn assumed(draws_permill: u16) -> Self {
        let draws = u64::from(draws_permill.min(1000)) * 1000;
        let wins = (1_000_000 - draws) / 2;
        Self { losses: wins, draws, wins }
    }

    /// Counts one more game.
    pub fn add(&mut self, outcome: Outcome) -> Result<(), TooManyGames> {
        if self.games() >= MAX_GAMES {
            return Err(TooManyGames);
        }
        match outcome {
            Outcome::Loss => self.losses += 1,
            Outcome::Draw => self.draws += 1,
            Outcome::Win => self.wins += 1,
        }
        Ok(())
    }

    /// The counts of both together.
    pub fn plus(self, other: Self) -> Result<Self, TooManyGames> {
        // Neither side is above 2^53, so that no sum overflows.
        Self::new(self.losses + other.losses, self.draws + other.draws, self.wins + other.wins)
    }

    /// The same games for the opponent.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { losses: self.wins, draws: self.draws, wins: self.losses }
    }

    /// Games lost.
    pub fn losses(&self) -> u64 {
        self.losses
    }

    /// Games drawn.
    pub fn draws(&self) -> u64 {
        self.draws
    }

    /// Games won.
    pub fn wins(&self) -> u64 {
        self.wins
    }

    /// All games.
    pub fn games(&self) -> u64 {
        self.losses + self.draws + self.wins
    }

    /// What was scored, in half points.
    pub fn half_points(&self) -> u64 {
        2 * self.wins + self.draws
    }

    pub(super) fn sample(&self) -> Sample<3> {
        Sample::new([(0.0, self.losses), (0.5, self.draws), (1.0, self.wins)], 1.0)
    }
}

/// Results of pairs: two games on one opening with the sides exchanged.
///
/// The games of a pair depend on each other through the opening, so that only the pair is an
/// independent experiment (M. Van den Bergh, *A practical introduction to the pentanomial model*).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pentanomial {
    ll: u64,
    ld: u64,
    middle: u64,
    // How many of the middle are a win and a loss; none where only the sum is known.
    wl: Option<u64>,
    wd: u64,
    ww: u64,
}

impl Default for Pentanomial {
    fn default() -> Self {
        Self { ll: 0, ld: 0, middle: 0, wl: Some(0), wd: 0, ww: 0 }
    }
}

impl Pentanomial {
    /// Counts from elsewhere: two losses, loss and draw, win and loss, two draws, win and draw,
    /// two wins.
    pub fn new(ll: u64, ld: u64, wl: u64, dd: u64, wd: u64, ww: u64) -> Result<Self, TooManyGames> {
        checked(&[ll, ld, wl, dd, wd, ww], MAX_GAMES / 2)?;
        Ok(Self { ll, ld, middle: wl + dd, wl: Some(wl), wd, ww })
    }

    /// Counts as most programs show them, which do not tell a win and a loss from two draws: pairs
    /// that scored 0, ½, 1, 1½ and 2 points.
    pub fn from_five([ll, ld, middle, wd, ww]: [u64; 5]) -> Result<Self, TooManyGames> {
        checked(&[ll, ld, middle, wd, ww], MAX_GAMES / 2)?;
        Ok(Self { ll, ld, middle, wl: None, wd, ww })
    }

    /// Counts one more finished pair.
    pub fn add(&mut self, one: Outcome, other: Outcome) -> Result<(), TooManyGames> {
        if self.pairs() >= MAX_GAMES / 2 {
            return Err(TooManyGames);
        }
        match (one, other) {
            (Outcome::Loss, Outcome::Loss) => self.ll += 1,
            (Outcome::Loss, Outcome::Draw) | (Outcome::Draw, Outcome::Loss) => self.ld += 1,
            (Outcome::Draw, Outcome::Draw) => self.middle += 1,
            (Outcome::Win, Outcome::Loss) | (Outcome::Loss, Outcome::Win) => {
                self.middle += 1;
                self.wl = self.wl.map(|wl| wl + 1);
            }
            (Outcome::Win, Outcome::Draw) | (Outcome::Draw, Outcome::Win) => self.wd += 1,
            (Outcome::Win, Outcome::Win) => self.ww += 1,
        }
        Ok(())
    }

    /// The counts of both together.
    pub fn plus(self, other: Self) -> Result<Self, TooManyGames> {
        // Neither side is above 2^52, so that no sum overflows.
        let sum = Self::from_five([
            self.ll + other.ll,
            self.ld + other.ld,
            self.middle + other.middle,
            self.wd + other.wd,
            self.ww + other.ww,
        ])?;
        Ok(Self { wl: self.wl.zip(other.wl).map(|(one, other)| one + other), ..sum })
    }

    /// The same pairs for the opponent.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { ll: self.ww, ld: self.wd, wd: self.ld, ww: self.ll, ..self }
    }

    /// Pairs that scored 0, ½, 1, 1½ and 2 points.
    pub fn five(&self) -> [u64; 5] {
        [self.ll, self.ld, self.middle, self.wd, self.ww]
    }

    /// Pairs of a win and a loss; none if the middle was not split.
    pub fn win_and_loss(&self) -> Option<u64> {
        self.wl
    }

    /// Pairs of two draws; none if the middle was not split.
    pub fn two_draws(&self) -> Option<u64> {
        self.wl.map(|wl| self.middle - wl)
    }

    /// All pairs.
    pub fn pairs(&self) -> u64 {
        self.five().iter().sum()
    }

    /// All games: two of each pair.
    pub fn games(&self) -> u64 {
        2 * self.pairs()
    }

    /// What was scored, in half points.
    pub fn half_points(&self) -> u64 {
        self.ld + 2 * self.middle + 3 * self.wd + 4 * self.ww
    }

    /// The single games; none if the middle was not split.
    pub fn single_games(&self) -> Option<Trinomial> {
        let wl = self.wl?;
        Some(Trinomial {
            losses: 2 * self.ll + self.ld + wl,
            draws: self.ld + 2 * (self.middle - wl) + self.wd,
            wins: wl + self.wd + 2 * self.ww,
        })
    }

    pub(super) fn sample(&self) -> Sample<5> {
        let Self { ll, ld, middle, wd, ww, .. } = *self;
        Sample::new([(0.0, ll), (0.25, ld), (0.5, middle), (0.75, wd), (1.0, ww)], 2.0)
    }
}

/// Either count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Single games.
    Games(Trinomial),
    /// Pairs.
    Pairs(Pentanomial),
}

impl Counts {
    /// All games.
    pub fn games(&self) -> u64 {
        match self {
            Self::Games(games) => games.games(),
            Self::Pairs(pairs) => pairs.games(),
        }
    }

    /// What was scored, in half points.
    pub fn half_points(&self) -> u64 {
        match self {
            Self::Games(games) => games.half_points(),
            Self::Pairs(pairs) => pairs.half_points(),
        }
    }

    /// The single games; none for pairs whose middle was not split.
    pub fn single_games(&self) -> Option<Trinomial> {
        match self {
            Self::Games(games) => Some(*games),
            Self::Pairs(pairs) => pairs.single_games(),
        }
    }
}

fn checked(counts: &[u64], most: u64) -> Result<(), TooManyGames> {
    let sum = counts.iter().try_fold(0u64, |sum, count| sum.checked_add(*count));
    if sum.is_some_and(|sum| sum <= most) { Ok(()) } else { Err(TooManyGames) }
}
