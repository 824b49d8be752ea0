//! The results of a tournament and its rankings.

use std::collections::BTreeMap;

use super::counts::{Counts, Outcome, Pentanomial, TooManyGames, Trinomial};

/// Maximum number of players.
pub const MAX_PLAYERS: usize = 1024;

/// The results of a tournament, indexed by players.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crosstable {
    byes: Vec<u64>,
    // Keys have the lower index first.
    encounters: BTreeMap<(usize, usize), Encounter>,
}

/// The results of two players, from the point of view of the one with the lower index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Encounter {
    /// Single games as first player.
    pub(super) first: Trinomial,
    /// Single games as second player.
    pub(super) second: Trinomial,
    /// Pairs by the outcome as first player, then as second player.
    pub(super) pairs: [Trinomial; 3],
}

impl Encounter {
    /// The outcome as first player of each row of `pairs`.
    pub(super) const ROWS: [Outcome; 3] = [Outcome::Loss, Outcome::Draw, Outcome::Win];

    /// All games.
    fn games(&self) -> Result<Trinomial, TooManyGames> {
        let mut all = self.first.plus(self.second)?;
        for (row, outcome) in self.pairs.iter().zip(Self::ROWS) {
            all = all.plus(*row)?.plus(several(outcome, row.games())?)?;
        }
        Ok(all)
    }

    /// The pairs; none if there are also single games.
    fn only_pairs(&self) -> Option<Pentanomial> {
        if self.first.games() + self.second.games() > 0 {
            return None;
        }
        let [lost, drawn, won] = self.pairs;
        Pentanomial::new(
            lost.losses(),
            lost.draws() + drawn.losses(),
            lost.wins() + won.losses(),
            drawn.draws(),
            drawn.wins() + won.draws(),
            won.wins(),
        )
        .ok()
    }

    /// Whether each player scored any points.
    pub(super) fn scored(&self) -> [bool; 2] {
        // The sum was checked when the games were added.
        let games = self.games().unwrap_or_default();
        [games.wins() + games.draws() > 0, games.losses() + games.draws() > 0]
    }
}

fn several(outcome: Outcome, games: u64) -> Result<Trinomial, TooManyGames> {
    match outcome {
        Outcome::Loss => Trinomial::new(games, 0, 0),
        Outcome::Draw => Trinomial::new(0, games, 0),
        Outcome::Win => Trinomial::new(0, 0, games),
    }
}

/// An invalid table or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CrosstableError {
    /// More than [`MAX_PLAYERS`].
    #[error("{0} players are more than {MAX_PLAYERS}")]
    TooManyPlayers(usize),
    /// The player does not exist.
    #[error("no player {0}")]
    NoSuchPlayer(usize),
    /// Both players are the same.
    #[error("player {0} cannot play itself")]
    Alone(usize),
    /// More games than can be counted.
    #[error("{TooManyGames}")]
    TooManyGames,
}

impl From<TooManyGames> for CrosstableError {
    fn from(TooManyGames: TooManyGames) -> Self {
        Self::TooManyGames
    }
}

/// A tie-break between players with equal points (FIDE Handbook C.07, *Tie-Break Regulations*).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TieBreak {
    /// Sum of the points of all opponents, for each game, in half points.
    Buchholz,
    /// Buchholz without the lowest opponent, in half points.
    BuchholzCut1,
    /// Buchholz without the lowest and the highest opponent, in half points.
    MedianBuchholz,
    /// Sum of the points of each opponent times the points scored against it, in quarter points.
    SonnebornBerger,
    /// Games won.
    Wins,
}

/// The rank of a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranking {
    /// The player.
    pub player: usize,
    /// The rank from 1; tied players share it.
    pub rank: usize,
    /// Games played, without byes.
    pub games: u64,
    /// Points in half points, including byes.
    pub half_points: u64,
    /// The tie-breaks, in the requested order.
    pub tie_breaks: Vec<u64>,
}

impl Crosstable {
    /// An empty table.
    pub fn new(players: usize) -> Result<Self, CrosstableError> {
        if players > MAX_PLAYERS {
            return Err(CrosstableError::TooManyPlayers(players));
        }
        Ok(Self { byes: vec![0; players], encounters: BTreeMap::new() })
    }

    /// Number of players.
    pub fn players(&self) -> usize {
        self.byes.len()
    }

    /// Adds a game; the outcome is that of `first`, the first player.
    pub fn add_game(
        &mut self,
        first: usize,
        second: usize,
        outcome: Outcome,
    ) -> Result<(), CrosstableError> {
        self.add_games(first, second, several(outcome, 1)?)
    }

    /// Adds games; the results are those of `first`, the first player.
    pub fn add_games(
        &mut self,
        first: usize,
        second: usize,
        games: Trinomial,
    ) -> Result<(), CrosstableError> {
        self.change(first, second, |encounter, lower| {
            if lower {
                encounter.first = encounter.first.plus(games)?;
            } else {
                encounter.second = encounter.second.plus(games.reversed())?;
            }
            Ok(())
        })
    }

    /// Adds a game pair with the outcomes of `player` as first and as second player.
    pub fn add_pair(
        &mut self,
        player: usize,
        opponent: usize,
        moving_first: Outcome,
        moving_second: Outcome,
    ) -> Result<(), CrosstableError> {
        self.change(player, opponent, |encounter, lower| {
            let (row, column) = if lower {
                (moving_first, moving_second)
            } else {
                (moving_second.reversed(), moving_first.reversed())
            };
            let [losses, draws, wins] = &mut encounter.pairs;
            match row {
                Outcome::Loss => losses.add(column),
                Outcome::Draw => draws.add(column),
                Outcome::Win => wins.add(column),
            }
        })
    }

    /// Adds a bye with half points.
    pub fn add_bye(&mut self, player: usize, half_points: u64) -> Result<(), CrosstableError> {
        let bye = self.byes.get_mut(player).ok_or(CrosstableError::NoSuchPlayer(player))?;
        *bye = bye.checked_add(half_points).ok_or(CrosstableError::TooManyGames)?;
        Ok(())
    }

    fn change(
        &mut self,
        one: usize,
        other: usize,
        change: impl FnOnce(&mut Encounter, bool) -> Result<(), TooManyGames>,
    ) -> Result<(), CrosstableError> {
        for player in [one, other] {
            if player >= self.players() {
                return Err(CrosstableError::NoSuchPlayer(player));
            }
        }
        if one == other {
            return Err(CrosstableError::Alone(one));
        }
        let key = (one.min(other), one.max(other));
        let mut encounter = self.encounters.get(&key).copied().unwrap_or_default();
        change(&mut encounter, one < other)?;
        // Reject sums that exceed the limit.
        encounter.games()?;
        self.encounters.insert(key, encounter);
        Ok(())
    }

    pub(super) fn encounters(&self) -> impl Iterator<Item = ((usize, usize), &Encounter)> {
        self.encounters.iter().map(|(players, encounter)| (*players, encounter))
    }

    /// All games of `player` against `opponent`, for `player`.
    pub fn against(&self, player: usize, opponent: usize) -> Trinomial {
        let key = (player.min(opponent), player.max(opponent));
        let games =
            self.encounters.get(&key).map(|encounter| encounter.games().unwrap_or_default());
        let games = games.unwrap_or_default();
        if player <= opponent { games } else { games.reversed() }
    }

    /// The results of `player` against `opponent`, as pairs if there are only pairs.
    pub fn counts(&self, player: usize, opponent: usize) -> Counts {
        let key = (player.min(opponent), player.max(opponent));
        let pairs = self.encounters.get(&key).and_then(Encounter::only_pairs);
        match pairs {
            Some(pairs) if player <= opponent => Counts::Pairs(pairs),
            Some(pairs) => Counts::Pairs(pairs.reversed()),
            None => Counts::Games(self.against(player, opponent)),
        }
    }

    /// The results of `player` against all others, as pairs if there are only pairs.
    pub fn total(&self, player: usize) -> Counts {
        let opponents = self.opponents(player).map(|(opponent, _)| self.counts(player, opponent));
        let pairs = opponents.map(|counts| match counts {
            Counts::Pairs(pairs) => Some(pairs),
            Counts::Games(_) => None,
        });
        // Sums that exceed the limit are not reachable in practice.
        let pairs = pairs.collect::<Option<Vec<_>>>().and_then(|pairs| {
            pairs.into_iter().try_fold(Pentanomial::default(), Pentanomial::plus).ok()
        });
        pairs.map_or_else(
            || {
                let mut games = self.opponents(player).map(|(_, games)| games);
                Counts::Games(
                    games.try_fold(Trinomial::default(), Trinomial::plus).unwrap_or_default(),
                )
            },
            Counts::Pairs,
        )
    }

    /// The points of a player in half points, including byes.
    pub fn half_points(&self, player: usize) -> u64 {
        let bye = self.byes.get(player).copied().unwrap_or_default();
        self.opponents(player).fold(bye, |sum, (_, games)| sum.saturating_add(games.half_points()))
    }

    fn opponents(&self, player: usize) -> impl Iterator<Item = (usize, Trinomial)> {
        (0..self.players())
            .map(move |opponent| (opponent, self.against(player, opponent)))
            .filter(|(_, games)| games.games() > 0)
    }

    /// The players, best first. Byes count as points but not for tie-breaks.
    pub fn rankings(&self, tie_breaks: &[TieBreak]) -> Vec<Ranking> {
        let points: Vec<u64> = (0..self.players()).map(|player| self.half_points(player)).collect();
        let mut rankings: Vec<Ranking> = (0..self.players())
            .map(|player| {
                let opponents: Vec<Opponent> = self
                    .opponents(player)
                    .map(|(opponent, games)| Opponent {
                        points: points.get(opponent).copied().unwrap_or_default(),
                        games,
                    })
                    .collect();
                Ranking {
                    player,
                    rank: 1,
                    games: opponents.iter().map(|opponent| opponent.games.games()).sum(),
                    half_points: points.get(player).copied().unwrap_or_default(),
                    tie_breaks: tie_breaks.iter().map(|rule| rule.of(&opponents)).collect(),
                }
            })
            .collect();
        rankings.sort_by(|one, other| other.sort_key().cmp(&one.sort_key()));
        let mut rank = 1;
        let mut before: Option<(u64, Vec<u64>)> = None;
        for (position, ranking) in (1..).zip(&mut rankings) {
            let key = (ranking.half_points, ranking.tie_breaks.clone());
            if before.as_ref() != Some(&key) {
                rank = position;
                before = Some(key);
            }
            ranking.rank = rank;
        }
        rankings
    }
}

impl Ranking {
    fn sort_key(&self) -> (u64, &[u64]) {
        (self.half_points, &self.tie_breaks)
    }
}

/// The points of an opponent and the games against it.
struct Opponent {
    points: u64,
    games: Trinomial,
}

impl TieBreak {
    fn of(self, opponents: &[Opponent]) -> u64 {
        let buchholz = || {
            opponents.iter().fold(0, |sum: u64, opponent| {
                sum.saturating_add(opponent.points.saturating_mul(opponent.games.games()))
            })
        };
        let lowest = || opponents.iter().map(|opponent| opponent.points).min().unwrap_or_default();
        let highest = || opponents.iter().map(|opponent| opponent.points).max().unwrap_or_default();
        match self {
            Self::Buchholz => buchholz(),
            Self::BuchholzCut1 => buchholz().saturating_sub(lowest()),
            Self::MedianBuchholz => buchholz().saturating_sub(lowest()).saturating_sub(highest()),
            Self::SonnebornBerger => opponents.iter().fold(0, |sum: u64, opponent| {
                sum.saturating_add(opponent.points.saturating_mul(opponent.games.half_points()))
            }),
            Self::Wins => opponents.iter().map(|opponent| opponent.games.wins()).sum(),
        }
    }
}
