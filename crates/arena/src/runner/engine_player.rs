//! A player with real engines, which it keeps from game to game.

use std::fmt;
use std::num::NonZeroU64;
use std::time::Duration;

use readyok_client::{Guard, Timeouts, WaitLimit};
use readyok_rules::{Side, Termination};

use super::tally::loser;
use super::{PairPlayer, PlayContext, PlayerError, time_jump};
use crate::game::{
    Cancel, GameSettings, LineObserver, Player, StderrObserver, TextOptions, play_game, probe,
};
use crate::pairing::{PairResult, Pairing};
use crate::plan::{EngineId, EnginePlan, Plan};
use crate::queue::{NoStart, Progress, WarningContext, WorkerId};
use crate::result::{EngineFailureKind, GameEnd, MatchGame};

/// Plays pairings with the engines of a plan.
///
/// It keeps the two engines of the latest pairing: they go on to the next one if they play there,
/// and are ended if they do not.
pub struct EnginePlayer {
    plan: Plan,
    setting: GameSettings,
    timeouts: Timeouts,
    report_moves: bool,
    guard: Option<Guard>,
    line_observer: Option<LineObserver>,
    stderr_observer: Option<StderrObserver>,
    pause: Duration,
    away: Option<WorkerId>,
    texts: Option<TextOptions>,
    has_played: bool,
    players: Vec<Player>,
}

/// A pair is replayed at most this often. On a host that stalls again and again, the last result counts.
const MAX_REPLAYS: usize = 3;

impl EnginePlayer {
    /// A player for a plan. What `setting` says of the game and of adjudication is taken from the
    /// plan, and how long a search may take if the plan says it. Variations are looked at as far as
    /// either of both wants it, and engines are waited for as the plan says of each.
    pub fn new(plan: &Plan, setting: GameSettings, timeouts: Timeouts) -> Self {
        let (game, adjudication) = (plan.game, plan.adjudication.clone());
        let limit = |ms: NonZeroU64| WaitLimit::fixed(Duration::from_millis(ms.get()));
        let stall = plan.search_timeout_ms.map_or(setting.stall, limit);
        let pv_check = setting.pv_check.max(plan.pv_check);
        let setting = GameSettings { game, adjudication, stall, pv_check, ..setting };
        // Games are judged here, and nobody is hurried by the client before.
        let margin = plan.engines.iter().map(|engine| engine.limits.margin_ms).max();
        let late = Duration::from_millis(margin.unwrap_or(0));
        let timeouts = Timeouts {
            stall: timeouts.stall.max(stall.total),
            overrun: timeouts.overrun.saturating_add(late),
            ..timeouts
        };
        let pause = plan.wait_ms.map_or(Duration::ZERO, |ms| Duration::from_millis(ms.get()));
        let plan = plan.clone();
        Self {
            plan,
            setting,
            timeouts,
            report_moves: false,
            guard: None,
            line_observer: None,
            stderr_observer: None,
            pause,
            away: None,
            texts: None,
            has_played: false,
            players: Vec::new(),
        }
    }

    /// Has a function hear every line that is said to engines and by them.
    #[must_use]
    pub fn on_line(mut self, line_observer: Option<LineObserver>) -> Self {
        self.line_observer = line_observer;
        self
    }

    /// Has a function hear every line of the engines' error output.
    #[must_use]
    pub fn on_stderr(mut self, hearing: Option<StderrObserver>) -> Self {
        self.stderr_observer = hearing;
        self
    }

    /// How long it waits between two games, if not longer by its plan.
    #[must_use]
    pub fn pausing(mut self, pause: Duration) -> Self {
        self.pause = self.pause.max(pause);
        self
    }

    /// Sees to it that no engine outlives this program.
    #[must_use]
    pub fn guarded(mut self, guard: &Guard) -> Self {
        self.guard = Some(guard.clone());
        self
    }

    /// Whether each move is told while it is played.
    #[must_use]
    pub fn report_moves(mut self, tell: bool) -> Self {
        self.report_moves = tell;
        self
    }

    /// Plays for a match of another machine, under this name, which is kept in results. An engine that
    /// does not start loses no game by that: it may start elsewhere.
    #[must_use]
    pub fn as_remote_worker(mut self, name: WorkerId) -> Self {
        self.away = Some(name);
        self
    }

    /// Starts no engine that would get another text as the value of an option. None allows any.
    #[must_use]
    pub fn with_texts(mut self, texts: Option<TextOptions>) -> Self {
        self.texts = texts;
        self
    }

    /// Tries each engine of the plan once: it starts, takes its options, and searches for a moment.
    ///
    /// # Errors
    /// One does not work on this machine.
    pub fn probe_engines(&self) -> Result<(), NoStart> {
        for (id, plan) in (0..).map(EngineId).zip(&self.plan.engines) {
            let mut player = self.player(id, plan);
            probe(&mut player, self.plan.game).map_err(|end| no_start(plan, &end))?;
        }
        Ok(())
    }

    fn take(&mut self, id: EngineId) -> Result<Player, PlayerError> {
        if let Some(at) = self.players.iter().position(|player| player.id() == id) {
            return Ok(self.players.swap_remove(at));
        }
        let plan = usize::try_from(id.0).ok().and_then(|id| self.plan.engines.get(id));
        let none = || PlayerError::Pairing(format!("the plan has no engine {}", id.0));
        Ok(self.player(id, plan.ok_or_else(none)?))
    }

    fn player(&self, id: EngineId, plan: &EnginePlan) -> Player {
        let timeouts = plan.timeouts.apply(self.timeouts);
        let player = Player::new(self.plan.game, id, plan, timeouts);
        let player = player.guarded(self.guard.clone()).with_texts(self.texts.clone());
        let player = player.on_line(self.line_observer.clone());
        player.on_stderr(self.stderr_observer.clone())
    }

    /// The engine that did not start for a game, if it may start on other machines.
    fn not_started_here(&self, game: &MatchGame) -> Option<NoStart> {
        if game.end != Termination::EngineStartFailure {
            return None;
        }
        let everywhere = game.end.failure().is_some_and(|failure| {
            matches!(
                failure.kind,
                EngineFailureKind::UnsupportedPosition | EngineFailureKind::UnsupportedGame
            )
        });
        let id = loser(game).filter(|_| self.away.is_some() && !everywhere)?;
        let plan = usize::try_from(id.0).ok().and_then(|id| self.plan.engines.get(id))?;
        Some(no_start(plan, &game.end))
    }

    fn play_one(
        &mut self,
        number: u32,
        pairing: &Pairing,
        players: [&mut Player; 2],
        cancel: &Cancel,
        jumps: Option<u64>,
        context: &mut PlayContext<'_>,
    ) -> Result<MatchGame, PlayerError> {
        if std::mem::replace(&mut self.has_played, true) && !self.pause.is_zero() {
            context.stop.wait_for_abort(self.pause);
        }
        context.report(Progress::GameStart { game: number });
        let mut ply = 0;
        let report_moves = self.report_moves;
        let game = play_game(&self.setting, &pairing.opening, players, cancel, &mut |_, played| {
            if report_moves {
                context.report(Progress::Move {
                    game: number,
                    ply,
                    played: Box::new(played.clone()),
                });
            }
            ply += 1;
            if has_jumped(jumps) {
                cancel.cancel();
            }
        });
        let mut game = game.map_err(|error| PlayerError::Pairing(error.to_string()))?;
        if let Some(no_start) = self.not_started_here(&game) {
            return Err(PlayerError::NoStart(no_start));
        }
        if has_jumped(jumps) {
            (game.winner, game.end) = (None, Termination::Aborted.into());
        }
        for warning in &game.warnings {
            let engine = match warning.side {
                Side::First => game.first,
                Side::Second => game.second,
            };
            let about = WarningContext::of(&pairing.opening, &game, warning);
            let text = warning.kind.to_string();
            context.report(Progress::Warning {
                game: number,
                engine,
                text,
                about: Some(Box::new(about)),
            });
        }
        if game.end != Termination::Aborted {
            context.report(Progress::GameEnd {
                game: number,
                winner: game.winner,
                end: game.end.clone(),
                plies: u32::try_from(game.moves.len()).unwrap_or(u32::MAX),
                duration_ms: game.duration_ms,
                engines: Box::new(game.engines.clone()),
            });
        }
        Ok(game)
    }
}

impl PairPlayer for EnginePlayer {
    fn play(
        &mut self,
        pairing: &Pairing,
        context: &mut PlayContext<'_>,
    ) -> Result<Option<PairResult>, PlayerError> {
        self.players.retain(|it| [pairing.first, pairing.second].contains(&it.id()));
        for replays in 0.. {
            let jumps = (replays < MAX_REPLAYS).then(time_jump::count);
            let played = self.play_all(pairing, jumps, context)?;
            if !has_jumped(jumps) || context.stop.is_aborted() {
                return Ok(played);
            }
            context.report(Progress::Replay);
        }
        Ok(None)
    }
}

impl EnginePlayer {
    /// Plays all games of a pairing once. None if they were broken off.
    fn play_all(
        &mut self,
        pairing: &Pairing,
        jumps: Option<u64>,
        context: &mut PlayContext<'_>,
    ) -> Result<Option<PairResult>, PlayerError> {
        let cancel = Cancel::default();
        let to_cancel = cancel.clone();
        let _heard = context.stop.on_abort(move || to_cancel.cancel());
        let mut first = self.take(pairing.first)?;
        let mut second = self.take(pairing.second)?;
        let mut games = Vec::new();
        for number in 0..pairing.games {
            let players = if pairing.sides(number).0 == pairing.first {
                [&mut first, &mut second]
            } else {
                [&mut second, &mut first]
            };
            let game = self.play_one(number, pairing, players, &cancel, jumps, context)?;
            if game.end == Termination::Aborted {
                return Ok(None);
            }
            games.push(game);
        }
        self.players.extend([first, second]);
        Ok(Some(PairResult { pairing: pairing.clone(), games, worker: self.away.clone() }))
    }
}

fn no_start(plan: &EnginePlan, end: &GameEnd) -> NoStart {
    NoStart { engine: plan.name.clone(), why: end.to_string() }
}

/// Whether the time has jumped since this number of jumps.
fn has_jumped(before: Option<u64>) -> bool {
    before.is_some_and(|before| before != time_jump::count())
}

impl fmt::Debug for EnginePlayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnginePlayer").field("players", &self.players).finish_non_exhaustive()
    }
}
