//! A game on a server: the engine of a player, its clocks, and the search for each turn, which survives crashes and
//! hangs of the engine.

use std::time::{Duration, Instant};

use readyok_client::{Engine, EngineError, Game as EngineGame, Guard, Limit, Search, SearchHandle};
use readyok_protocol::{Best, Clock, Clocks, Convention, Dialect, GameResult, OptionKind, Score};
use readyok_rules::{Game, Move, MoveCodec, Position, PositionHistory, Side};

use crate::address::Address;
use crate::clock::now;
use crate::csa::TimeRules;
use crate::terminal::print_error;

/// Maximum number of moves of the PV of an evaluation.
const MAX_PV: usize = 32;
/// Number of restarts of a failed engine for one turn, and the pause before each one after the first.
const MAX_RESTARTS: u32 = 4;
const RESTART_PAUSE: Duration = Duration::from_secs(1);
/// Time that an engine has after `stop` before a move of its last PV is played.
const STOP_WAIT: Duration = Duration::from_millis(150);

/// Settings of the engine.
#[derive(Clone, Debug)]
pub(crate) struct PlayerSettings {
    pub(crate) address: Address,
    /// Options, or buttons without a value.
    pub(crate) options: Vec<String>,
    /// Numeric options with largest values, for engines that have them.
    pub(crate) shares: Vec<(&'static str, u32)>,
    pub(crate) ponders: bool,
}

/// A game in progress from the view of a player.
#[derive(Clone, Debug)]
pub(crate) struct Board {
    /// The side of the player.
    pub(crate) side: Side,
    pub(crate) history: PositionHistory,
    pub(crate) times: [TimeRules; 2],
    pub(crate) remaining: [Duration; 2],
    /// Whether the remaining times contain the increment.
    pub(crate) convention: Convention,
    /// Whether the server counts time in this turn.
    pub(crate) is_clock_running: bool,
    /// Time that each move keeps in reserve for the network.
    pub(crate) margin: Duration,
}

impl Board {
    pub(crate) fn is_own_turn(&self) -> bool {
        self.history.position().turn() == self.side
    }

    /// The turn that starts at this moment, by the clock of the server, if it is the own one.
    pub(crate) fn turn(&self, started: Instant) -> Option<Turn> {
        let is_over = self.history.position().outcome().is_some();
        (self.is_own_turn() && !is_over).then(|| Turn {
            started,
            handle: None,
            restarts: 0,
            next: started,
            deadline: started,
            is_stopped: false,
        })
    }

    pub(crate) fn move_number(&self) -> usize {
        self.history.moves().len() / 2 + 1
    }
}

/// The search for a turn.
#[derive(Debug)]
pub(crate) struct Turn {
    started: Instant,
    handle: Option<SearchHandle>,
    restarts: u32,
    /// When the next search starts.
    next: Instant,
    /// When the engine is stopped, because its time is nearly over.
    deadline: Instant,
    is_stopped: bool,
}

impl Turn {
    /// Whether nothing has been done in this turn.
    pub(crate) fn is_new(&self) -> bool {
        self.handle.is_none() && self.restarts == 0
    }

    /// Starts the search or checks its state. Returns the action when there is one. An engine that fails is restarted
    /// and searches with the time that is left.
    pub(crate) fn advance(
        &mut self,
        player: &mut Player<'_>,
        board: &Board,
    ) -> Option<Result<Action, PlayerError>> {
        loop {
            let result = match self.handle.take() {
                None if now() < self.next => return None,
                None => match self.search(player, board) {
                    Ok(handle) => {
                        self.handle = Some(handle);
                        return None;
                    }
                    Err(error) => Err(error),
                },
                Some(handle) if handle.is_over() => player.action(handle, board.history.position()),
                Some(handle) => {
                    let Some(action) = self.late_action(player, board, &handle) else {
                        self.handle = Some(handle);
                        return None;
                    };
                    player.is_hanging = true;
                    Ok(action)
                }
            };
            match result {
                Err(PlayerError::Engine(error)) if self.restarts < MAX_RESTARTS => {
                    print_error(&error.to_string());
                    player.engine = None;
                    if 0 < self.restarts {
                        self.next = now() + RESTART_PAUSE;
                    }
                    self.restarts += 1;
                }
                done => return Some(done),
            }
        }
    }

    fn search(
        &mut self,
        player: &mut Player<'_>,
        board: &Board,
    ) -> Result<SearchHandle, PlayerError> {
        player.start()?;
        let (mut remaining, game) = (board.remaining, player.game(&board.history)?);
        if board.is_clock_running
            && let (Some(own), Some(rules)) =
                (remaining.get_mut(board.side.index()), board.times.get(board.side.index()))
        {
            // The server counts from its own message, in its units.
            let elapsed = now().saturating_duration_since(self.started);
            let rest = if self.restarts == 0 { rules.rest(elapsed) } else { Duration::ZERO };
            *own = own.saturating_sub(elapsed.saturating_sub(rest));
        }
        let (clocks, budget) = player.clocks(board, remaining);
        let wait = if STOP_WAIT * 3 < budget { STOP_WAIT } else { Duration::ZERO };
        self.deadline = now() + budget.saturating_sub(wait);
        self.is_stopped = false;
        player.search(&game, clocks)
    }

    /// Stops an engine whose time is nearly over. If it does not answer, a move of its last PV is the action.
    fn late_action(
        &mut self,
        player: &Player<'_>,
        board: &Board,
        handle: &SearchHandle,
    ) -> Option<Action> {
        let late = now().checked_duration_since(self.deadline)?;
        if !self.is_stopped {
            self.is_stopped = true;
            handle.stop();
        }
        if late < STOP_WAIT {
            return None;
        }
        let lines = handle.so_far();
        let pv = lines.best()?.pv.as_ref()?;
        let codec = player.codec(board.history.game()).ok()?;
        let text = codec.decode_line(pv).next()?;
        let mv = board.history.position().parse_move(&text).ok()?;
        print_error("the engine does not stop; the first move of its last PV is played");
        Some(Action::Play { mv, evaluation: None })
    }
}

/// The engine with its protocol.
#[derive(Debug)]
pub(crate) struct Player<'a> {
    settings: &'a PlayerSettings,
    guard: &'a Guard,
    /// `None` before the start and after a failure.
    engine: Option<Engine>,
    /// The engine did not end its last search, and is replaced before the next one.
    is_hanging: bool,
    dialect: Dialect,
    game: Option<EngineGame>,
}

/// The action of the engine in a position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    /// A legal move, with the evaluation if there is a score.
    Play {
        mv: Move,
        evaluation: Option<Evaluation>,
    },
    Resign,
    Declare,
}

/// The evaluation of a move.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Evaluation {
    /// For the side that moves.
    pub(crate) score: Score,
    pub(crate) depth: Option<u32>,
    /// The expected moves, in UCI or USI.
    pub(crate) pv: Vec<String>,
}

/// Why an engine cannot play.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlayerError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The protocol of the engine does not have the game.
    #[error("the protocol of the engine does not support {}", .0.name())]
    WrongGame(Game),
    /// The protocol cannot express the position.
    #[error("the engine does not support this position")]
    Position,
    /// The answer is no legal move.
    #[error("the engine answered with an illegal move: `{0}`")]
    IllegalMove(String),
}

impl<'a> Player<'a> {
    /// # Errors
    /// The protocol of the engine does not have the game.
    pub(crate) fn new(
        settings: &'a PlayerSettings,
        game: Game,
        guard: &'a Guard,
    ) -> Result<Self, PlayerError> {
        let usual = MoveCodec::usual(game).dialect();
        let dialect = settings.address.dialect.unwrap_or(usual);
        let player = Self { settings, guard, engine: None, is_hanging: false, dialect, game: None };
        player.codec(game)?;
        Ok(player)
    }

    fn codec(&self, game: Game) -> Result<MoveCodec, PlayerError> {
        MoveCodec::new(self.dialect, game).ok_or(PlayerError::WrongGame(game))
    }

    /// Starts the engine, unless it is running.
    pub(crate) fn start(&mut self) -> Result<&mut Engine, PlayerError> {
        let engine = match self.engine.take().filter(|_| !self.is_hanging) {
            Some(engine) => engine,
            None => self.open()?,
        };
        Ok(self.engine.insert(engine))
    }

    fn open(&mut self) -> Result<Engine, PlayerError> {
        (self.game, self.is_hanging) = (None, false);
        let settings = self.settings;
        let mut engine = settings.address.open(Some(self.dialect), self.guard)?;
        engine.allow_pondering(settings.ponders);
        for &(name, value) in &settings.shares {
            if let Some(largest) = maximum(&engine, name) {
                engine.set_option(name, &value.min(largest).to_string())?;
            }
        }
        set_options(&mut engine, &settings.options)?;
        engine.ready()?;
        Ok(engine)
    }

    /// Ends the engine, until it is needed again.
    pub(crate) fn stop(&mut self) {
        self.engine = None;
    }

    /// Prepares the engine for a game. One that has failed since the last game is restarted.
    pub(crate) fn prepare(&mut self, start: &Position) -> Result<(), PlayerError> {
        match self.new_game(start) {
            Err(PlayerError::Engine(error)) => {
                print_error(&error.to_string());
                self.stop();
                self.new_game(start)
            }
            done => done,
        }
    }

    fn new_game(&mut self, start: &Position) -> Result<(), PlayerError> {
        self.start()?;
        self.game = None;
        let game = self.game(&PositionHistory::new(start.clone()))?;
        let engine = self.start()?;
        engine.new_game(&game)?;
        engine.ready().map_err(PlayerError::Engine)
    }

    fn game(&mut self, history: &PositionHistory) -> Result<EngineGame, PlayerError> {
        let codec = self.codec(history.game())?;
        let encoded = codec.encode_position(history.start(), history.moves());
        let encoded = encoded.ok_or(PlayerError::Position)?;
        let new_game = || EngineGame::new(encoded.clone(), codec.new_game());
        Ok(self.game.get_or_insert_with(new_game).at(encoded.clone()))
    }

    /// Starts a search for the side to move.
    fn search(&mut self, game: &EngineGame, clocks: Clocks) -> Result<SearchHandle, PlayerError> {
        let mut search = Search::new(Limit::clock(clocks));
        if self.settings.ponders {
            search = search.ponder_after();
        }
        self.start()?.begin(game, search).map_err(PlayerError::Engine)
    }

    /// The clocks for the engine, and the time that the player has: without the reserve for the network.
    fn clocks(&self, board: &Board, remaining: [Duration; 2]) -> (Clocks, Duration) {
        let dialect = self.dialect;
        let [first, second] = Side::BOTH.map(|player| {
            let index = player.index();
            let (Some(rules), Some(&remaining)) = (board.times.get(index), remaining.get(index))
            else {
                return Clock::default();
            };
            let margin = if player == board.side { board.margin } else { Duration::ZERO };
            clock(dialect, board.convention, rules, remaining, margin)
        });
        let budget = if board.side == Side::First { first } else { second }.budget();
        // Black, who moves first in shogi, has `btime` in USI; UCI engines call the first player White.
        let clocks = match dialect {
            Dialect::Usi => Clocks::new(second, first),
            Dialect::Uci => Clocks::new(first, second),
        };
        (clocks, budget)
    }

    /// The action for the answer of a search.
    fn action(&self, handle: SearchHandle, position: &Position) -> Result<Action, PlayerError> {
        let result = handle.wait()?;
        match &result.best {
            Best::Resign | Best::None => return Ok(Action::Resign),
            Best::Win => return Ok(Action::Declare),
            Best::Move(_) | Best::Other(_) => (),
        }
        let Some(best) = result.best_move() else { return Ok(Action::Resign) };
        let text = best.to_string();
        let codec = self.codec(position.game())?;
        let mv = codec.decode(position, &text).map_err(|_| PlayerError::IllegalMove(text))?;
        let pv = result.info.pv.iter().flat_map(|pv| codec.decode_line(pv));
        let pv: Vec<_> = pv.take(MAX_PV).map(std::borrow::Cow::into_owned).collect();
        let evaluation =
            result.info.score.map(|score| Evaluation { score, depth: result.info.depth, pv });
        Ok(Action::Play { mv, evaluation })
    }

    /// Reports the result of the game. A failure appears at the next search.
    pub(crate) fn game_over(&mut self, result: GameResult) {
        if let Some(engine) = &mut self.engine {
            let _ = engine.game_over(result);
            let _ = engine.drain_notices();
        }
    }
}

/// Sets options of the form `NAME=VALUE`, and presses buttons.
pub(crate) fn set_options(engine: &mut Engine, options: &[String]) -> Result<(), EngineError> {
    options.iter().try_for_each(|option| match option.split_once('=') {
        Some((name, value)) => engine.set_option(name.trim(), value),
        None => engine.push_button(option),
    })
}

/// The largest value of a numeric option. `None` without the option.
pub(crate) fn maximum(engine: &Engine, name: &str) -> Option<u32> {
    match &engine.options().find(name)?.kind {
        OptionKind::Spin { max, .. } => {
            Some(max.and_then(|max| u32::try_from(max).ok()).unwrap_or(u32::MAX))
        }
        _ => None,
    }
}

/// A clock as a dialect can express it.
fn clock(
    dialect: Dialect,
    convention: Convention,
    rules: &TimeRules,
    remaining: Duration,
    margin: Duration,
) -> Clock {
    let millis = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    // The reserve comes from the main time, or else from the byoyomi, of which at least half is left.
    let from_main = margin.min(remaining);
    let rest = margin.saturating_sub(from_main);
    let byoyomi = rules.byoyomi.saturating_sub(rest.min(rules.byoyomi / 2));
    let remaining = remaining.saturating_sub(from_main);
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

#[cfg(test)]
mod tests {
    use super::*;

    const TO_COME: Convention = Convention::IncrementToCome;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn keeps_a_reserve_of_the_main_time_or_the_byoyomi() {
        let rules = TimeRules { byoyomi: seconds(10), ..TimeRules::default() };
        let of = |remaining| clock(Dialect::Usi, TO_COME, &rules, remaining, seconds(1));
        assert_eq!((of(seconds(60)).remaining, of(seconds(60)).byoyomi), (59_000, 10_000));
        assert_eq!((of(seconds(0)).remaining, of(seconds(0)).byoyomi), (0, 9_000));
        let short = TimeRules { byoyomi: seconds(1), ..rules };
        assert_eq!(clock(Dialect::Usi, TO_COME, &short, seconds(0), seconds(1)).byoyomi, 500);
        let uci = clock(Dialect::Uci, TO_COME, &rules, seconds(0), seconds(1));
        assert_eq!((uci.remaining, uci.byoyomi, uci.moves_to_go), (9_000, 0, Some(1)));
    }

    #[test]
    fn passes_fischer_clocks_in_the_convention_of_the_protocol() {
        let rules = TimeRules { increment: seconds(10), ..TimeRules::default() };
        let usi = clock(Dialect::Usi, TO_COME, &rules, seconds(300), Duration::ZERO);
        assert_eq!((usi.remaining, usi.increment), (300_000, 10_000));
        let uci = clock(Dialect::Uci, TO_COME, &rules, seconds(300), Duration::ZERO);
        assert_eq!((uci.remaining, uci.increment), (310_000, 10_000));
    }
}
