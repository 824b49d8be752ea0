//! An active game: players, clocks, moves, offers, and how it ends.

use std::collections::BTreeMap;
use std::time::Duration;

use readyok_arena::plan::TimeControl;
use readyok_protocol::Score;
use readyok_rules::record::Tag;
use readyok_rules::{EndRules, Game, GameOutcome, GameResult, Move, Position, Termination};

use super::document::ChangeKind;
use super::search::PendingSearch;
use super::{Document, Effect, GameSession, Origin, ROOT, SearchRequest, no_node, no_players};
use crate::game::Tree;
use crate::game::clock::{ClockSnapshot, GameClocks};
use crate::game::position_view::line;
use crate::time::{self, Moment};
use crate::wire::{
    ApiError, Claim, EngineFailure, EnginePlayer, ErrorCode, ErrorSubject, GameId, Hint, LineMove,
    MoveInfo, NewGame, NodeId, OutcomeView, Play, PlayRules, PlayStatus, Player, PlayerState,
    PonderState, Rematch, Side, Sides, Start, Time,
};

/// The ply from which an engine accepts a draw, if it has no better score than [`MAX_DRAW_SCORE`].
const MIN_DRAW_PLY: usize = 30;
/// In centipawns.
const MAX_DRAW_SCORE: i32 = 10;
/// Time for an engine's answer to arrive after its flag has fallen, in milliseconds.
pub(super) const GRACE: u64 = 1000;
/// Maximum time of a time control, in milliseconds.
const MAX_TIME: u64 = 365 * 24 * 3600 * 1000;
/// Maximum length of a player's name, in characters.
const MAX_NAME: usize = 200;

/// A game in progress or after play.
pub(crate) struct ActiveGame {
    pub(super) slots: Sides<PlayerSlot>,
    pub(super) clocks: Option<GameClocks>,
    /// The clocks after each move, to restore them.
    pub(super) readings: BTreeMap<NodeId, ClockSnapshot>,
    /// The node of the last move.
    pub(super) last_move_node: NodeId,
    pub(super) state: PlayState,
    /// The cause of an interruption.
    pub(super) failure: Option<EngineFailure>,
    pub(super) rules: PlayRules,
    /// None if the game was continued from a board.
    pub(super) origin: Option<Origin>,
    pub(super) rematch: Option<GameId>,
    pub(super) offer: Option<Side>,
    pub(super) hint: Option<Hint>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum PlayState {
    Running,
    Paused,
    Interrupted,
    Over,
}

/// The player of a side.
pub(crate) struct PlayerSlot {
    pub(super) player: Player,
    pub(super) name: String,
    pub(super) search: Option<PendingSearch>,
    pub(super) info: Option<MoveInfo>,
    pub(super) hits: u32,
    pub(super) tries: u32,
}

impl PlayerSlot {
    pub(super) fn new(player: Player, name: String) -> Self {
        let (search, info) = (None, None);
        Self { player, name, search, info, hits: 0, tries: 0 }
    }

    fn time(&self) -> Time {
        match &self.player {
            Player::Human { time, .. } | Player::Engine(EnginePlayer { time, .. }) => *time,
        }
    }

    pub(crate) fn engine(&self) -> Option<&EnginePlayer> {
        match &self.player {
            Player::Human { .. } => None,
            Player::Engine(engine) => Some(engine),
        }
    }

    fn state(&self, position: &Position) -> PlayerState {
        let ponders = self.engine().is_some_and(|engine| engine.ponder);
        let ponder = self.search.as_ref().and_then(|search| search.ponder.as_ref());
        let expects =
            ponder.and_then(|mv| line(position, std::slice::from_ref(mv), &[]).into_iter().next());
        PlayerState {
            player: self.player.clone(),
            name: self.name.clone(),
            info: self.info.clone(),
            pondering: ponders.then_some(PonderState {
                expects,
                hits: self.hits,
                tries: self.tries,
            }),
        }
    }
}

impl ActiveGame {
    /// A paused game at the end of the main line.
    pub(super) fn new(
        document: &mut Document,
        players: Sides<(Player, String)>,
        rules: PlayRules,
        now: Moment,
    ) -> Self {
        let Sides { first, second } = players;
        let slots = Sides {
            first: PlayerSlot::new(first.0, first.1),
            second: PlayerSlot::new(second.0, second.1),
        };
        let last_move_node = document.tree().main_line().last().copied().unwrap_or(ROOT);
        document.play(|content| set_headers(&mut content.tree, &slots, now));
        document.set_cursor(last_move_node);
        document.changes.play = true;
        Self::with_slots(slots, rules, last_move_node)
    }

    pub(super) fn with_slots(
        slots: Sides<PlayerSlot>,
        rules: PlayRules,
        last_move_node: NodeId,
    ) -> Self {
        Self {
            clocks: GameClocks::new(slots.first.time(), slots.second.time()),
            slots,
            readings: BTreeMap::new(),
            last_move_node,
            state: PlayState::Paused,
            failure: None,
            rules,
            origin: None,
            rematch: None,
            offer: None,
            hint: None,
        }
    }

    pub(crate) fn slot(&self, side: Side) -> &PlayerSlot {
        self.slots.of(side)
    }

    pub(crate) fn last_move_node(&self) -> NodeId {
        self.last_move_node
    }

    pub(crate) fn is_running(&self) -> bool {
        self.state == PlayState::Running
    }

    pub(crate) fn is_over(&self) -> bool {
        self.state == PlayState::Over
    }

    /// The state for the page.
    pub(super) fn state(&self, document: &Document, now: Moment) -> Option<Play> {
        let position = self.last_position(document)?;
        let status = self.status(position.turn());
        let can_claim = status == PlayStatus::YourTurn;
        Some(Play {
            status,
            failure: self.failure.clone().filter(|_| status == PlayStatus::Interrupted),
            players: Sides {
                first: self.slots.first.state(&position),
                second: self.slots.second.state(&position),
            },
            last_move_node: self.last_move_node,
            clocks: self.clocks.map(|clocks| clocks.wire(now)),
            draw_offer: self.offer,
            claim: can_claim.then(|| self.claimable(&position)).flatten().map(claim_of),
            hint: self.hint.clone(),
            rematch: self.rematch_state(document),
        })
    }

    fn status(&self, turn: Side) -> PlayStatus {
        match self.state {
            PlayState::Paused => PlayStatus::Paused,
            PlayState::Interrupted => PlayStatus::Interrupted,
            PlayState::Over => PlayStatus::Over,
            PlayState::Running => match &self.slots.of(turn).search {
                Some(search) if search.started => PlayStatus::Searching,
                Some(_) => PlayStatus::Starting,
                None => PlayStatus::YourTurn,
            },
        }
    }

    pub(super) fn end_rules(&self) -> &'static EndRules {
        match self.rules {
            PlayRules::Federation => &EndRules::FEDERATIONS,
            PlayRules::Engines => &EndRules::ENGINE_MATCH,
        }
    }

    pub(super) fn last_position(&self, document: &Document) -> Option<Position> {
        document.tree().position(self.last_move_node)
    }

    /// Sets the name of an engine, which is known after its handshake.
    pub(crate) fn set_name(&mut self, document: &mut Document, side: Side, name: &str) {
        let slot = self.slots.of_mut(side);
        if slot.name != name {
            name.clone_into(&mut slot.name);
            let tag = Tag::Player(side).name(document.game());
            document.play(|content| content.tree.headers.set(tag, name));
            document.changes.play = true;
        }
    }

    pub(crate) fn set_hint(&mut self, document: &mut Document, node: NodeId, hint: LineMove) {
        if self.last_move_node == node {
            self.hint = Some(Hint { node, hint });
            document.changes.play = true;
        }
    }

    // Start, pause, end.

    /// Starts or resumes the game.
    pub(crate) fn resume(
        &mut self,
        document: &mut Document,
        now: Moment,
    ) -> Result<Vec<Effect>, ApiError> {
        if self.is_running() {
            return Err(ApiError::conflict(ErrorCode::GameInProgress));
        }
        if document.outcome().is_some() && self.is_over() {
            return Err(ApiError::conflict(ErrorCode::GameOver));
        }
        self.set_state(document, PlayState::Running);
        let position = self.last_position(document).ok_or_else(|| no_node(ROOT))?;
        if let Some(ending) = position.outcome_under(self.end_rules()) {
            return Ok(self.finish(document, ending.into(), now));
        }
        Ok(self.request_move(document, &position, None, now))
    }

    fn set_state(&mut self, document: &mut Document, state: PlayState) {
        self.state = state;
        self.failure = None;
        document.changes.play = true;
        document.changes.unsaved = true;
    }

    /// Goes back to a node: the line to it becomes the game.
    pub(crate) fn rewind_to(
        &mut self,
        document: &mut Document,
        node: NodeId,
        now: Moment,
    ) -> Result<Vec<Effect>, ApiError> {
        document.tree().node(node).ok_or_else(|| no_node(node))?;
        let effects = self.stop_searches(now);
        document.play(|content| {
            content.tree.promote(node, true);
            content.clear_outcome();
        });
        document.follow(self.last_move_node, node);
        self.last_move_node = node;
        self.offer = None;
        if let Some(clocks) = &mut self.clocks {
            clocks.set(self.readings.get(&node).copied());
        }
        self.set_state(document, PlayState::Paused);
        document.set_cursor(node);
        Ok(effects)
    }

    /// Stops the clocks and the engines until the game is resumed.
    pub(crate) fn pause(
        &mut self,
        document: &mut Document,
        now: Moment,
    ) -> Result<Vec<Effect>, ApiError> {
        if !self.is_running() {
            return Err(ApiError::conflict(ErrorCode::GameNotInProgress));
        }
        let effects = self.stop_searches(now);
        self.set_state(document, PlayState::Paused);
        Ok(effects)
    }

    /// Interrupts the game: the server shuts down, the game is closed, or an engine cannot be started.
    pub(crate) fn interrupt(&mut self, document: &mut Document, now: Moment) -> Vec<Effect> {
        let effects = self.stop_searches(now);
        if !self.is_over() {
            self.set_state(document, PlayState::Interrupted);
        }
        effects
    }

    /// Interrupts the game because of the failure of an engine.
    pub(crate) fn interrupt_by(
        &mut self,
        document: &mut Document,
        failure: EngineFailure,
        now: Moment,
    ) -> Vec<Effect> {
        let effects = self.interrupt(document, now);
        self.failure = Some(failure);
        effects
    }

    /// Continues a game with other players: the clocks and the rules stay.
    pub(super) fn inherit(&mut self, old: Self) {
        let times = |slots: &Sides<PlayerSlot>| (slots.first.time(), slots.second.time());
        if old.is_over()
            || old.last_move_node != self.last_move_node
            || times(&old.slots) != times(&self.slots)
        {
            return;
        }
        (self.clocks, self.readings) = (old.clocks, old.readings);
        (self.rules, self.origin) = (old.rules, old.origin);
    }

    /// Ends the game without a result.
    pub(crate) fn abort(
        &mut self,
        document: &mut Document,
        now: Moment,
    ) -> Result<Vec<Effect>, ApiError> {
        self.require_open()?;
        let result = GameResult::Unknown;
        let outcome = GameOutcome { result, termination: Termination::Aborted };
        Ok(self.finish(document, outcome.into(), now))
    }

    pub(super) fn finish(
        &mut self,
        document: &mut Document,
        outcome: OutcomeView,
        now: Moment,
    ) -> Vec<Effect> {
        let mut effects = self.stop_searches(now);
        self.offer = None;
        for side in [Side::First, Side::Second] {
            if self.slots.of(side).engine().is_some() {
                let won = outcome.winner().map(|winner| winner == side);
                effects.push(Effect::Request(side, SearchRequest::Leave { won }));
            }
        }
        let last_move_node = self.last_move_node;
        document.play(|content| {
            content.tree.result = outcome.result;
            content.tree.conclude(last_move_node, outcome.termination);
            content.outcome = Some(outcome);
        });
        self.set_state(document, PlayState::Over);
        effects
    }

    // Moves.

    /// Plays a move of the human.
    pub(super) fn play_move(
        &mut self,
        document: &mut Document,
        position: &Position,
        mv: Move,
        now: Moment,
    ) -> Result<(NodeId, Vec<Effect>), ApiError> {
        let side = position.turn();
        if self.slots.of(side).engine().is_some() {
            return Err(ApiError::conflict(ErrorCode::EngineTurn));
        }
        let (id, effects) = self.make_move(document, side, mv, None, now)?;
        document.set_cursor(id);
        Ok((id, effects))
    }

    /// Plays a move. `measured` is the time of an engine.
    pub(super) fn make_move(
        &mut self,
        document: &mut Document,
        side: Side,
        mv: Move,
        measured: Option<u64>,
        now: Moment,
    ) -> Result<(NodeId, Vec<Effect>), ApiError> {
        let last_move_node = self.last_move_node;
        let before =
            document.tree().position(last_move_node).ok_or_else(|| no_node(last_move_node))?;
        let text = mv.to_uci(document.game().castling_form());
        document.changes.play = true;
        // A move that the tree does not accept does not press the clock.
        let mut clocks = self.clocks;
        let pressed = clocks.as_mut().map(|clocks| clocks.press(side, now, measured));
        if let Some(Err(_)) = pressed {
            // The flag fell before the move.
            self.clocks = clocks;
            let outcome = before.outcome_on_timeout(side).into();
            return Ok((last_move_node, self.finish(document, outcome, now)));
        }
        let left = clocks.and_then(|clocks| clocks.left(side));
        let elapsed = pressed.and_then(Result::ok).flatten().or(measured);
        let id = document.change(ChangeKind::Play, |content| {
            let id = content.add(last_move_node, mv)?;
            content.tree.promote(id, true);
            let notes = content.annotations(id)?;
            notes.clock = left.map(Duration::from_millis);
            notes.elapsed = elapsed.map(Duration::from_millis);
            Ok(id)
        })?;
        self.clocks = clocks;
        if let Some(clocks) = &self.clocks {
            self.readings.insert(id, clocks.reading());
        }
        self.last_move_node = id;
        self.hint = None;
        // An offer is valid until the other side has moved.
        self.offer = self.offer.filter(|by| *by == side);
        document.follow(last_move_node, id);
        let after = self.last_position(document).ok_or_else(|| no_node(id))?;
        let effects = match after.outcome_under(self.end_rules()) {
            Some(ending) => self.finish(document, ending.into(), now),
            None => self.request_move(document, &after, Some(&text), now),
        };
        Ok((id, effects))
    }

    /// Takes back the last move of a human.
    pub(crate) fn take_back(
        &mut self,
        document: &mut Document,
        now: Moment,
    ) -> Result<Vec<Effect>, ApiError> {
        let was_paused = self.state == PlayState::Paused;
        let tree = document.tree();
        let line = tree.line_to(self.last_move_node);
        let by_human = |id: &NodeId| {
            let parent = tree.parent(*id);
            let position = parent.and_then(|parent| tree.position(parent));
            position.is_some_and(|position| self.slots.of(position.turn()).engine().is_none())
        };
        let Some(last) = line.iter().rev().find(|id| by_human(id)).copied() else {
            return Err(ApiError::conflict(ErrorCode::NothingToTakeBack));
        };
        let parent = tree.parent(last).unwrap_or(ROOT);
        let mut effects = self.rewind_to(document, parent, now)?;
        document.play(|content| drop(content.tree.delete(last)));
        if !was_paused {
            effects.extend(self.resume(document, now)?);
        }
        Ok(effects)
    }

    /// Goes back to the last node of the game's line that remains after an edit.
    pub(super) fn ensure_tip(&mut self, document: &mut Document, line: &[NodeId]) {
        let tree = document.tree();
        if tree.node(self.last_move_node).is_none() {
            let remaining = line.iter().rev().find(|id| tree.node(**id).is_some());
            self.last_move_node = remaining.copied().unwrap_or(ROOT);
            document.changes.play = true;
        }
    }

    // Clocks.

    /// When the flag falls.
    pub(crate) fn next_deadline(&self) -> Option<Moment> {
        let (side, at) = self.clocks.as_ref().filter(|_| self.is_running())?.flag()?;
        let is_engine = self.slots.of(side).engine().is_some();
        Some(if is_engine { at.saturating_add(GRACE) } else { at })
    }

    /// Whether a move was played under these clocks. A human has any time for the first move: the clock of the other
    /// side starts with it.
    pub(super) fn have_clocks_started(&self) -> bool {
        self.readings.contains_key(&self.last_move_node)
    }

    /// Publishes the running clock.
    pub(crate) fn publish_clocks(&self, document: &mut Document) {
        let running = self.clocks.as_ref().and_then(GameClocks::running);
        document.changes.play |= running.is_some();
    }

    /// Ends the game if the flag has fallen.
    pub(crate) fn on_tick(&mut self, document: &mut Document, now: Moment) -> Vec<Effect> {
        if self.next_deadline().is_none_or(|due| now < due) {
            return Vec::new();
        }
        let flag = self.clocks.as_ref().and_then(GameClocks::flag);
        let (Some((side, _)), Some(position)) = (flag, self.last_position(document)) else {
            return Vec::new();
        };
        self.finish(document, position.outcome_on_timeout(side).into(), now)
    }

    // Resignation, draws, claims.

    fn require_open(&self) -> Result<(), ApiError> {
        if self.is_over() {
            return Err(ApiError::conflict(ErrorCode::GameOver));
        }
        Ok(())
    }

    /// The side of the human who acts: the only one, or of two the one to move.
    fn acting_player(&self, document: &Document) -> Result<Side, ApiError> {
        self.require_open()?;
        let is_human = |side: &Side| self.slots.of(*side).engine().is_none();
        let humans: Vec<Side> = [Side::First, Side::Second].into_iter().filter(is_human).collect();
        match humans.as_slice() {
            [] => Err(ApiError::conflict(ErrorCode::NoHumanPlayer)),
            [side] => Ok(*side),
            _ => {
                let position = self.last_position(document);
                Ok(position.map_or(Side::First, |position| position.turn()))
            }
        }
    }

    pub(crate) fn resign(
        &mut self,
        document: &mut Document,
        now: Moment,
    ) -> Result<Vec<Effect>, ApiError> {
        let side = self.acting_player(document)?;
        Ok(self.finish(document, lost(side, Termination::Resignation), now))
    }

    /// Offers a draw. An engine answers immediately, by its score.
    pub(crate) fn offer_draw(
        &mut self,
        document: &mut Document,
        now: Moment,
    ) -> Result<Vec<Effect>, ApiError> {
        let side = self.acting_player(document)?;
        let other = self.slots.of(side.other());
        let ply =
            document.tree().node(self.last_move_node).map_or(0, readyok_rules::record::Node::ply);
        let score = other.info.as_ref().and_then(|info| info.score);
        let accepts = other.engine().is_some()
            && MIN_DRAW_PLY <= ply
            && match score {
                Some(Score::Cp(value)) => value <= MAX_DRAW_SCORE,
                Some(mate) => mate.is_mated(),
                None => false,
            };
        if accepts {
            return Ok(self.finish(
                document,
                GameOutcome::drawn(Termination::DrawAgreement).into(),
                now,
            ));
        }
        self.offer = Some(side);
        document.changes.play = true;
        Ok(Vec::new())
    }

    /// The other human accepts the draw.
    pub(crate) fn accept_draw(
        &mut self,
        document: &mut Document,
        now: Moment,
    ) -> Result<Vec<Effect>, ApiError> {
        self.require_open()?;
        let Some(by) = self.offer else {
            return Err(ApiError::conflict(ErrorCode::NoDrawOffer));
        };
        if self.slots.of(by.other()).engine().is_some() {
            return Err(ApiError::conflict(ErrorCode::DrawDeclined));
        }
        Ok(self.finish(document, GameOutcome::drawn(Termination::DrawAgreement).into(), now))
    }

    /// Claims a draw (chess) or declares a win (shogi).
    pub(crate) fn claim(
        &mut self,
        document: &mut Document,
        now: Moment,
    ) -> Result<Vec<Effect>, ApiError> {
        let side = self.acting_player(document)?;
        let position = self.last_position(document).ok_or_else(|| no_node(ROOT))?;
        if position.turn() != side {
            return Err(ApiError::conflict(ErrorCode::NotYourTurn));
        }
        match self.claimable(&position) {
            Some(ending) => Ok(self.finish(document, ending.into(), now)),
            None => Err(ApiError::conflict(ErrorCode::NothingToClaim)),
        }
    }

    /// How the game ends if the side to move claims a draw or declares a win. A declaration that would lose does not
    /// count.
    fn claimable(&self, position: &Position) -> Option<GameOutcome> {
        if let Some(reason) = position.claims().first() {
            return Some(GameOutcome::drawn(*reason));
        }
        let declared = position.declare(self.end_rules())?;
        (declared.termination != Termination::FailedDeclaration).then_some(declared)
    }
}

/// The claim that leads to an ending.
fn claim_of(outcome: GameOutcome) -> Claim {
    match outcome {
        GameOutcome { result: GameResult::Win(_), .. } => Claim::DeclareWin,
        GameOutcome { termination: Termination::Impasse, .. } => Claim::DeclareDraw,
        GameOutcome { .. } => Claim::Draw,
    }
}

/// Sets the headers of the players, the date and the time control.
fn set_headers(tree: &mut Tree, slots: &Sides<PlayerSlot>, now: Moment) {
    let game = tree.game();
    let headers = &mut tree.headers;
    for side in [Side::First, Side::Second] {
        headers.set(Tag::Player(side).name(game), slots.of(side).name.clone());
    }
    let date = Tag::Date.name(game);
    if headers.get(date).is_none() {
        let form = if game == Game::Shogi { "%Y/%m/%d %H:%M:%S" } else { "%Y.%m.%d" };
        if let Some(today) = time::local(now, form) {
            headers.set(date, today);
        }
    }
    // Shogi has no form of it that all programs read.
    if game != Game::Shogi {
        let control = Tag::TimeControl.name(game);
        let [first, second] = [&slots.first, &slots.second].map(|slot| time_control(slot.time()));
        let [white, black] = ["White", "Black"].map(|side| format!("{side}{control}"));
        for name in [control, &white, &black] {
            headers.remove(name);
        }
        if first == second {
            headers.set(control, first);
        } else {
            headers.set(white, first);
            headers.set(black, second);
        }
    }
}

/// A time control in the form of PGN.
fn time_control(time: Time) -> String {
    match time {
        Time::None => "-".to_owned(),
        Time::Clock { base, increment, moves, .. } => TimeControl {
            moves,
            time: Duration::from_millis(base),
            increment: Duration::from_millis(increment),
            hourglass: false,
        }
        .to_string(),
        Time::PerMove { time } => format!("{}/move", Duration::from_millis(time).as_secs_f64()),
    }
}

pub(super) fn lost(side: Side, termination: Termination) -> OutcomeView {
    GameOutcome::lost(side, termination).into()
}

/// Checks names and time controls.
pub(crate) fn check_players(players: &Sides<Player>) -> Result<(), ApiError> {
    for side in [Side::First, Side::Second] {
        let (name, time) = match players.of(side) {
            Player::Human { name, time } => (name.as_str(), time),
            Player::Engine(engine) => ("", &engine.time),
        };
        if MAX_NAME < name.chars().count() || name.chars().any(char::is_control) {
            return Err(ApiError::invalid_text(ErrorSubject::PlayerName));
        }
        let fits = match *time {
            Time::None => true,
            Time::Clock { base, increment, byoyomi, .. } => {
                [base, increment, byoyomi].iter().all(|time| *time <= MAX_TIME)
                    && 0 < base + increment + byoyomi
            }
            Time::PerMove { time } => 0 < time && time <= MAX_TIME,
        };
        if !fits {
            return Err(ApiError::invalid_request(ErrorCode::InvalidTimeControl));
        }
    }
    Ok(())
}

impl ActiveGame {
    pub(crate) fn set_origin(&mut self, document: &mut Document, origin: Origin) {
        self.origin = Some(origin);
        document.changes.unsaved = true;
    }

    /// Whether there is a rematch; none while the game is not over.
    fn rematch_state(&self, document: &Document) -> Option<Rematch> {
        if !self.is_over() {
            return None;
        }
        Some(match self.rematch {
            Some(game) => Rematch::Begun { game },
            None => Rematch::Open { swapped: !document.is_handicap() },
        })
    }
}

impl GameSession {
    /// The rematch, if it has started.
    pub(crate) fn rematch(&self) -> Option<GameId> {
        self.active.as_ref()?.rematch
    }

    /// The rematch has started, or was deleted.
    pub(crate) fn set_rematch(&mut self, game: Option<GameId>) {
        if let Some(active) = &mut self.active {
            active.rematch = game;
            self.document.changes.play = true;
            self.document.changes.unsaved = true;
        }
    }

    /// How to set up the rematch.
    pub(crate) fn rematch_setup(&self) -> Result<NewGame, ApiError> {
        let active = self.active.as_ref().ok_or_else(no_players)?;
        if !active.is_over() {
            return Err(ApiError::conflict(ErrorCode::GameNotOver));
        }
        let [first, second] =
            [&active.slots.first, &active.slots.second].map(|slot| slot.player.clone());
        // The weaker player keeps a handicap.
        let players = if self.document.is_handicap() {
            Sides { first, second }
        } else {
            Sides { first: second, second: first }
        };
        let origin = active.origin.clone().unwrap_or_else(|| Origin {
            start: Start::Text { text: self.tree().start().to_string() },
            book: None,
        });
        Ok(NewGame {
            variant: self.game(),
            start: origin.start,
            players: Some(players),
            rules: active.rules,
            book: origin.book,
        })
    }
}
