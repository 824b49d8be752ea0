//! The engine of a client: searches with the clocks of the game, and a restart after a crash.

use std::time::Duration;

use readyok_client::{Engine, EngineError, Game as EngineGame, Guard, Limit, Search, SearchHandle};
use readyok_protocol::{Best, Clock, Clocks, Convention, Dialect, GameResult, Score};
use readyok_rules::{Game, Move, MoveCodec, Notation, Position, Side};

use super::message::TimeRules;
use crate::address::Address;

/// Maximum number of moves of a PV in a comment.
const MAX_PV: usize = 32;

/// Settings of the engine.
#[derive(Clone, Debug)]
pub(crate) struct PlayerSettings {
    pub(crate) address: Address,
    /// Options, or buttons without a value.
    pub(crate) options: Vec<String>,
    pub(crate) ponders: bool,
    /// Whether the engine is restarted after each game.
    pub(crate) restarts: bool,
    /// Time that each move keeps in reserve for the network.
    pub(crate) margin: Duration,
    /// The score in centipawns at or below which the engine resigns.
    pub(crate) resign: Option<i32>,
}

/// The engine with its protocol.
pub(super) struct Player<'a> {
    settings: &'a PlayerSettings,
    guard: &'a Guard,
    engine: Engine,
    codec: MoveCodec,
    game: Option<EngineGame>,
}

/// The action of the engine in a position.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    /// A legal move, with the evaluation and PV of floodgate if there is a score.
    Play {
        mv: Move,
        evaluation: Option<Evaluation>,
    },
    Resign,
    Declare,
}

/// The evaluation of a move.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Evaluation {
    /// For the side that moves.
    pub(super) score: Score,
    pub(super) depth: Option<u32>,
    /// The comment of floodgate: the score for Black in centipawns, and the expected moves after this one.
    pub(super) comment: String,
}

/// Why an engine cannot play.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlayerError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The protocol of the engine has no shogi.
    #[error("the protocol of the engine does not support shogi")]
    WrongGame,
    /// The protocol cannot express the position.
    #[error("the engine does not support this position")]
    Position,
    /// The answer is no legal move.
    #[error("the engine answered with an illegal move: `{0}`")]
    IllegalMove(String),
}

impl<'a> Player<'a> {
    pub(super) fn start(
        settings: &'a PlayerSettings,
        guard: &'a Guard,
    ) -> Result<Self, PlayerError> {
        let dialect = settings.address.dialect.unwrap_or(Dialect::Usi);
        let codec = MoveCodec::new(dialect, Game::Shogi).ok_or(PlayerError::WrongGame)?;
        let mut engine = settings.address.open(Some(dialect), guard)?;
        engine.allow_pondering(settings.ponders);
        for option in &settings.options {
            match option.split_once('=') {
                Some((name, value)) => engine.set_option(name.trim(), value),
                None => engine.push_button(option),
            }?;
        }
        engine.ready()?;
        Ok(Self { settings, guard, engine, codec, game: None })
    }

    pub(super) fn restart(&mut self) -> Result<(), PlayerError> {
        *self = Self::start(self.settings, self.guard)?;
        Ok(())
    }

    /// Prepares the engine for a game.
    pub(super) fn new_game(&mut self, start: &Position) -> Result<(), PlayerError> {
        self.game = None;
        let game = self.game(start, &[])?;
        self.engine.new_game(&game)?;
        self.engine.ready().map_err(PlayerError::Engine)
    }

    fn game(&mut self, start: &Position, moves: &[Move]) -> Result<EngineGame, PlayerError> {
        let codec = self.codec;
        let encoded = codec.encode_position(start, moves).ok_or(PlayerError::Position)?;
        let new_game = || EngineGame::new(encoded.clone(), codec.new_game());
        Ok(self.game.get_or_insert_with(new_game).at(encoded.clone()))
    }

    /// Starts a search for the side to move.
    pub(super) fn search(
        &mut self,
        start: &Position,
        moves: &[Move],
        clocks: Clocks,
    ) -> Result<SearchHandle, PlayerError> {
        let game = self.game(start, moves)?;
        let mut search = Search::new(Limit::clock(clocks));
        if self.settings.ponders {
            search = search.ponder_after();
        }
        self.engine.begin(&game, search).map_err(PlayerError::Engine)
    }

    /// The clocks for the engine: without the reserve for the network.
    pub(super) fn clocks(
        &self,
        side: Side,
        rules: &[TimeRules; 2],
        remaining: [Duration; 2],
    ) -> Clocks {
        let [first, second] = Side::BOTH.map(|player| {
            let index = player.index();
            let (Some(rules), Some(&remaining)) = (rules.get(index), remaining.get(index)) else {
                return Clock::default();
            };
            let margin = if player == side { self.settings.margin } else { Duration::ZERO };
            clock(self.codec.dialect(), rules, remaining, margin)
        });
        // Black, who moves first in shogi, has `btime` in USI; UCI engines call the first player White.
        match self.codec.dialect() {
            Dialect::Usi => Clocks::new(second, first),
            Dialect::Uci => Clocks::new(first, second),
        }
    }

    /// The action for the answer of a search.
    pub(super) fn action(
        &self,
        handle: SearchHandle,
        position: &Position,
    ) -> Result<Action, PlayerError> {
        let result = handle.wait()?;
        let score = result.info.score;
        if let (Some(limit), Some(Score::Cp(score))) = (self.settings.resign, score)
            && score <= limit
        {
            return Ok(Action::Resign);
        }
        match &result.best {
            Best::Resign | Best::None => return Ok(Action::Resign),
            Best::Win => return Ok(Action::Declare),
            Best::Move(_) | Best::Other(_) => (),
        }
        let Some(best) = result.best_move() else { return Ok(Action::Resign) };
        let text = best.to_string();
        let mv = self.codec.decode(position, &text).map_err(|_| PlayerError::IllegalMove(text))?;
        let pv = result.info.pv.iter().flat_map(|pv| self.codec.decode_line(pv));
        let pv: Vec<_> = pv.take(MAX_PV).map(std::borrow::Cow::into_owned).collect();
        let evaluation = score.map(|score| Evaluation {
            score,
            depth: result.info.depth,
            comment: comment(position, score, &pv),
        });
        Ok(Action::Play { mv, evaluation })
    }

    /// Reports the result of the game. A failure appears at the next search.
    pub(super) fn game_over(&mut self, result: GameResult) {
        let _ = self.engine.game_over(result);
    }

    pub(super) fn drain_notices(&mut self) {
        let _ = self.engine.drain_notices();
    }
}

/// A clock as a dialect can express it.
fn clock(dialect: Dialect, rules: &TimeRules, remaining: Duration, margin: Duration) -> Clock {
    let millis = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    // The reserve comes from the main time, or else from the byoyomi, of which at least half is left.
    let from_main = margin.min(remaining);
    let rest = margin.saturating_sub(from_main);
    let byoyomi = rules.byoyomi.saturating_sub(rest.min(rules.byoyomi / 2));
    let remaining = remaining.saturating_sub(from_main);
    let convention = Convention::IncrementToCome;
    let increment = millis(rules.increment);
    match dialect {
        // USI has one of both.
        Dialect::Usi if increment == 0 || byoyomi.is_zero() => Clock {
            remaining: millis(remaining),
            increment,
            byoyomi: millis(byoyomi),
            moves_to_go: None,
            convention,
        },
        // UCI has no byoyomi: it is time for this move.
        Dialect::Usi | Dialect::Uci => Clock {
            remaining: millis(remaining.saturating_add(byoyomi)),
            increment,
            byoyomi: 0,
            moves_to_go: (!byoyomi.is_zero() && remaining.is_zero()).then_some(1),
            convention,
        },
    }
    .in_convention(dialect.clock_convention())
}

/// `* 30 -3334FU +2726FU`: the score for Black and the moves that follow the first one of the PV.
fn comment(position: &Position, score: Score, pv: &[String]) -> String {
    const MATE: i32 = 100_000;
    let score = match score {
        Score::Cp(score) => score,
        Score::MateIn { .. } | Score::MateInUnknown | Score::MateGiven => MATE,
        Score::Mated | Score::MatedIn { .. } | Score::MatedInUnknown => -MATE,
    };
    let score = if position.turn() == Side::First { score } else { score.saturating_neg() };
    let mut text = format!("* {score}");
    let mut position = position.clone();
    for (number, uci) in pv.iter().enumerate() {
        let Ok(mv) = position.parse_move(uci) else { break };
        if number > 0 {
            text.push(' ');
            text.push_str(&position.notation(mv, Notation::Csa));
        }
        if position.play(mv).is_err() {
            break;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn writes_comments_of_floodgate_from_blacks_view() {
        let mut position = Position::start(Game::Shogi);
        let pv = ["7g7f", "3c3d", "2g2f", "resign"].map(str::to_owned);
        assert_eq!(comment(&position, Score::Cp(30), &pv), "* 30 -3334FU +2726FU");
        position.play_uci("7g7f").expect("legal");
        assert_eq!(comment(&position, Score::Cp(30), &pv[1..2]), "* -30");
        assert_eq!(comment(&position, Score::Mated, &[]), "* 100000");
    }

    #[test]
    fn keeps_a_reserve_of_the_main_time_or_the_byoyomi() {
        let rules = TimeRules { byoyomi: seconds(10), ..TimeRules::default() };
        let of = |remaining| clock(Dialect::Usi, &rules, remaining, seconds(1));
        assert_eq!((of(seconds(60)).remaining, of(seconds(60)).byoyomi), (59_000, 10_000));
        assert_eq!((of(seconds(0)).remaining, of(seconds(0)).byoyomi), (0, 9_000));
        let short = TimeRules { byoyomi: seconds(1), ..rules };
        assert_eq!(clock(Dialect::Usi, &short, seconds(0), seconds(1)).byoyomi, 500);
        let uci = clock(Dialect::Uci, &rules, seconds(0), seconds(1));
        assert_eq!((uci.remaining, uci.byoyomi, uci.moves_to_go), (9_000, 0, Some(1)));
    }

    #[test]
    fn passes_fischer_clocks_in_the_convention_of_the_protocol() {
        let rules = TimeRules { increment: seconds(10), ..TimeRules::default() };
        let usi = clock(Dialect::Usi, &rules, seconds(300), Duration::ZERO);
        assert_eq!((usi.remaining, usi.increment), (300_000, 10_000));
        let uci = clock(Dialect::Uci, &rules, seconds(300), Duration::ZERO);
        assert_eq!((uci.remaining, uci.increment), (310_000, 10_000));
    }
}
