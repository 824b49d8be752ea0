//! Who played whom with what result, and the tables that tournaments are ranked by.

use std::collections::BTreeMap;
use std::fmt;

use super::counts::{Counts, Outcome, Pentanomial, TooManyGames, Trinomial};

/// The most players of a tournament.
pub const MAX_PLAYERS: usize = 1024;

/// The results of a tournament, by players counted from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crosstable {
    byes: Vec<u64>,
    // The lower player first.
    meetings: BTreeMap<(usize, usize), Meeting>,
}

/// The results of two players, for the lower one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Meeting {
    /// Single games in which it moved first.
    pub(super) first: Trinomial,
    /// Single games in which it moved second.
    pub(super) second: Trinomial,
    /// Pairs by the outcome of the game in which it moved first, then by that of the other.
    pub(super) pairs: [Trinomial; 3],
}

impl Meeting {
    /// The outcome as first mover of each row of `pairs`.
    pub(super) const ROWS: [Outcome; 3] = [Outcome::Loss, Outcome::Draw, Outcome::Win];

    /// All games.
    fn games(&self) -> Result<Trinomial, TooManyGames> {
        let mut all = self.first.plus(self.second)?;
        for (row, outcome) in self.pairs.iter().zip(Self::ROWS) {
            all = all.plus(*row)?.plus(several(outcome, row.games())?)?;
        }
        Ok(all)
    }

    /// The pairs; none if there were single games as well.
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

    /// Whether the lower player and whether the other scored anything.
    pub(super) fn scored(&self) -> [bool; 2] {
        // What is counted was counted with all games together.
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

/// Why a table or a result in it was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrosstableError {
    /// More than [`MAX_PLAYERS`].
    TooManyPlayers(usize),
    /// There is no such player.
    NoSuchPlayer(usize),
    /// Nobody plays themselves.
    Alone(usize),
    /// More games than can be counted.
    TooManyGames,
}

impl fmt::Display for CrosstableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyPlayers(players) => {
                write!(f, "{players} players are more than {MAX_PLAYERS}")
            }
            Self::NoSuchPlayer(player) => write!(f, "there is no player {player}"),
            Self::Alone(player) => write!(f, "player {player} cannot play itself"),
            Self::TooManyGames => TooManyGames.fmt(f),
        }
    }
}

impl std::error::Error for CrosstableError {}

impl From<TooManyGames> for CrosstableError {
    fn from(TooManyGames: TooManyGames) -> Self {
        Self::TooManyGames
    }
}

/// What tells players of equal points apart (FIDE Handbook C.07, *Tie-Break Regulations*).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TieBreak {
    /// The points of all opponents, once for each game: in half points.
    Buchholz,
    /// The same without the lowest: in half points.
    BuchholzCut1,
    /// The same without the lowest and the highest: in half points.
    MedianBuchholz,
    /// The points of each opponent times those scored against it: in quarter points.
    SonnebornBerger,
    /// Games won.
    Wins,
}

/// A player's place in a tournament.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The player.
    pub player: usize,
    /// The place, counted from 1; players that nothing tells apart share it.
    pub rank: usize,
    /// Games played; byes are none.
    pub games: u64,
    /// The points, in half points, byes included.
    pub half_points: u64,
    /// The tie breaks, in the order that was asked for.
    pub tie_breaks: Vec<u64>,
}

impl Crosstable {
    /// A table without results.
    pub fn new(players: usize) -> Result<Self, CrosstableError> {
        if players > MAX_PLAYERS {
            return Err(CrosstableError::TooManyPlayers(players));
        }
        Ok(Self { byes: vec![0; players], meetings: BTreeMap::new() })
    }

    /// How many players.
    pub fn players(&self) -> usize {
        self.byes.len()
    }

    /// Adds a game of `first`, who moved first, against `second`; the outcome is that of `first`.
    pub fn add_game(
        &mut self,
        first: usize,
        second: usize,
        outcome: Outcome,
    ) -> Result<(), CrosstableError> {
        self.add_games(first, second, several(outcome, 1)?)
    }

    /// Adds games in which `first` moved first; the results are those of `first`.
    pub fn add_games(
        &mut self,
        first: usize,
        second: usize,
        games: Trinomial,
    ) -> Result<(), CrosstableError> {
        self.change(first, second, |meeting, lower| {
            if lower {
                meeting.first = meeting.first.plus(games)?;
            } else {
                meeting.second = meeting.second.plus(games.reversed())?;
            }
            Ok(())
        })
    }

    /// Adds a pair of games on one opening: the outcomes of `player` where it moved first and where
    /// it moved second.
    pub fn add_pair(
        &mut self,
        player: usize,
        opponent: usize,
        moving_first: Outcome,
        moving_second: Outcome,
    ) -> Result<(), CrosstableError> {
        self.change(player, opponent, |meeting, lower| {
            let (row, column) = if lower {
                (moving_first, moving_second)
            } else {
                (moving_second.reversed(), moving_first.reversed())
            };
            let [losses, draws, wins] = &mut meeting.pairs;
            match row {
                Outcome::Loss => losses.add(column),
                Outcome::Draw => draws.add(column),
                Outcome::Win => wins.add(column),
            }
        })
    }

    /// Gives a player half points for a round without an opponent.
    pub fn add_bye(&mut self, player: usize, half_points: u64) -> Result<(), CrosstableError> {
        let bye = self.byes.get_mut(player).ok_or(CrosstableError::NoSuchPlayer(player))?;
        *bye = bye.checked_add(half_points).ok_or(CrosstableError::TooManyGames)?;
        Ok(())
    }

    fn change(
        &mut self,
        one: usize,
        other: usize,
        change: impl FnOnce(&mut Meeting, bool) -> Result<(), TooManyGames>,
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
        let mut meeting = self.meetings.get(&key).copied().unwrap_or_default();
        change(&mut meeting, one < other)?;
        // Whatever is asked of a meeting later can be counted.
        meeting.games()?;
        self.meetings.insert(key, meeting);
        Ok(())
    }

    pub(super) fn meetings(&self) -> impl Iterator<Item = ((usize, usize), &Meeting)> {
        self.meetings.iter().map(|(players, meeting)| (*players, meeting))
    }

    /// All games of `player` against `opponent`, for `player`.
    pub fn against(&self, player: usize, opponent: usize) -> Trinomial {
        let key = (player.min(opponent), player.max(opponent));
        let games = self.meetings.get(&key).map(|meeting| meeting.games().unwrap_or_default());
        let games = games.unwrap_or_default();
        if player <= opponent { games } else { games.reversed() }
    }

    /// The results of `player` against `opponent`, as pairs if there were nothing but pairs.
    pub fn counts(&self, player: usize, opponent: usize) -> Counts {
        let key = (player.min(opponent), player.max(opponent));
        let pairs = self.meetings.get(&key).and_then(Meeting::only_pairs);
        match pairs {
            Some(pairs) if player <= opponent => Counts::Pairs(pairs),
            Some(pairs) => Counts::Pairs(pairs.reversed()),
            None => Counts::Games(self.against(player, opponent)),
        }
    }

    /// The results of `player` against all others, as pairs if there were nothing but pairs.
    pub fn total(&self, player: usize) -> Counts {
        let met = self.opponents(player).map(|(opponent, _)| self.counts(player, opponent));
        let pairs = met.map(|counts| match counts {
            Counts::Pairs(pairs) => Some(pairs),
            Counts::Games(_) => None,
        });
        // Counts that do not fit are those of more games than can be played.
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

    /// The points of a player, in half points, byes included.
    pub fn half_points(&self, player: usize) -> u64 {
        let bye = self.byes.get(player).copied().unwrap_or_default();
        self.opponents(player).fold(bye, |sum, (_, games)| sum.saturating_add(games.half_points()))
    }

    fn opponents(&self, player: usize) -> impl Iterator<Item = (usize, Trinomial)> {
        (0..self.players())
            .map(move |opponent| (opponent, self.against(player, opponent)))
            .filter(|(_, games)| games.games() > 0)
    }

    /// The players, best first. Byes count as points but have no opponent: they add nothing to tie
    /// breaks.
    pub fn standings(&self, tie_breaks: &[TieBreak]) -> Vec<Standing> {
        let points: Vec<u64> = (0..self.players()).map(|player| self.half_points(player)).collect();
        let mut standings: Vec<Standing> = (0..self.players())
            .map(|player| {
                let met: Vec<Met> = self
                    .opponents(player)
                    .map(|(opponent, games)| Met {
                        points: points.get(opponent).copied().unwrap_or_default(),
                        games,
                    })
                    .collect();
                Standing {
                    player,
                    rank: 1,
                    games: met.iter().map(|met| met.games.games()).sum(),
                    half_points: points.get(player).copied().unwrap_or_default(),
                    tie_breaks: tie_breaks.iter().map(|rule| rule.of(&met)).collect(),
                }
            })
            .collect();
        standings.sort_by(|one, other| other.merits().cmp(&one.merits()));
        let mut rank = 1;
        let mut before: Option<(u64, Vec<u64>)> = None;
        for (place, standing) in (1..).zip(&mut standings) {
            let merits = (standing.half_points, standing.tie_breaks.clone());
            if before.as_ref() != Some(&merits) {
                rank = place;
                before = Some(merits);
            }
            standing.rank = rank;
        }
        standings
    }
}

impl Standing {
    fn merits(&self) -> (u64, &[u64]) {
        (self.half_points, &self.tie_breaks)
    }
}

/// An opponent's points, and the games against it.
struct Met {
    points: u64,
    games: Trinomial,
}

impl TieBreak {
    fn of(self, met: &[Met]) -> u64 {
        let buchholz = || {
            met.iter().fold(0, |sum: u64, met| {
                sum.saturating_add(met.points.saturating_mul(met.games.games()))
            })
        };
        let lowest = || met.iter().map(|met| met.points).min().unwrap_or_default();
        let highest = || met.iter().map(|met| met.points).max().unwrap_or_default();
        match self {
            Self::Buchholz => buchholz(),
            Self::BuchholzCut1 => buchholz().saturating_sub(lowest()),
            Self::MedianBuchholz => buchholz().saturating_sub(lowest()).saturating_sub(highest()),
            Self::SonnebornBerger => met.iter().fold(0, |sum: u64, met| {
                sum.saturating_add(met.points.saturating_mul(met.games.half_points()))
            }),
            Self::Wins => met.iter().map(|met| met.games.wins()).sum(),
        }
    }
}
