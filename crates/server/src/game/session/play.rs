//! Playing: whose turn it is, what engines are asked, clocks, offers, ends.

use std::time::Duration;

use readyok_arena::plan::TimeControl;
use readyok_protocol::Score;
use readyok_rules::record::{Evaluation, GameResult, Tag};
use readyok_rules::{Ending, Game, Position, Reason};

use super::{
    ActiveGame, Effect, EngineAnswer, EngineMove, GRACE, GameSession, PendingSearch, PlayState,
    PlayerSlot, ROOT, SearchRequest, TimeBudget, api_error, no_node, not_now, odd_text,
};
use crate::game::clock::GameClocks;
use crate::game::position_view::{outcome as wire_outcome, result_word};
use crate::game::problem::move_problem;
use crate::time::{self, Moment};
use crate::wire::{
    ApiError, ApiErrorCode, EndReason, Failure, Hint, LineMove, MoveInfo, NodeId, Outcome,
    PlayRules, Player, Problem, ProblemKind, Side, Sides, Thing, Time,
};

/// An engine takes a draw from this ply on, if it does not think that it is better.
const DRAW_FROM_PLY: u32 = 30;
/// By so many centipawns.
const DRAW_SCORE: i32 = 10;

/// The time of a player, as PGN writes it.
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

impl GameSession {
    /// Seats players at the end of the main line, at a moment. Nothing starts yet.
    pub(crate) fn seat_players(
        &mut self,
        players: Sides<(Player, String)>,
        rules: PlayRules,
        at: Moment,
    ) {
        let Sides { first, second } = players;
        let slots = Sides {
            first: PlayerSlot::new(first.0, first.1),
            second: PlayerSlot::new(second.0, second.1),
        };
        let clocks = GameClocks::new(slots.first.time(), slots.second.time());
        let tip = self.tree.main_line().last().copied().unwrap_or(ROOT);
        for side in [Side::First, Side::Second] {
            let tag = Tag::Player(side.into()).name(self.game());
            self.tree.headers.set(tag, slots.of(side).name.clone());
        }
        self.note_times(&slots, at);
        self.play = Some(ActiveGame {
            slots,
            clocks,
            readings: std::collections::BTreeMap::new(),
            tip,
            state: PlayState::Paused,
            rules,
            origin: None,
            rematch: None,
            offer: None,
            hint: None,
            last_search_id: 0,
        });
        self.set_cursor(tip);
        self.changes.play = true;
        self.changes.headers = true;
        self.changes.unsaved = true;
    }

    /// Notes in the record when the game was begun, and with what time.
    fn note_times(&mut self, slots: &Sides<PlayerSlot>, at: Moment) {
        let game = self.game();
        let date = Tag::Date.name(game);
        if self.tree.headers.get(date).is_none() {
            let form = if game == Game::Shogi { "%Y/%m/%d %H:%M:%S" } else { "%Y.%m.%d" };
            if let Some(today) = time::local(at, form) {
                self.tree.headers.set(date, today);
            }
        }
        // Shogi has no form for it that all programs read.
        if game != Game::Shogi {
            let control = Tag::TimeControl.name(game);
            let both = [&slots.first, &slots.second].map(|slot| time_control(slot.time()));
            let [white, black] = ["White", "Black"].map(|side| format!("{side}{control}"));
            for name in [control, &white, &black] {
                self.tree.headers.remove(name);
            }
            let [first, second] = both;
            if first == second {
                self.tree.headers.set(control, first);
            } else {
                self.tree.headers.set(white, first);
                self.tree.headers.set(black, second);
            }
        }
    }

    /// An engine has told its name.
    pub(crate) fn set_name(&mut self, side: Side, name: &str) {
        let tag = Tag::Player(side.into()).name(self.game());
        let Some(active) = &mut self.play else { return };
        let slot = active.slots.of_mut(side);
        if slot.name != name {
            name.clone_into(&mut slot.name);
            self.tree.headers.set(tag, name);
            self.changes.play = true;
            self.changes.headers = true;
            self.changes.unsaved = true;
        }
    }

    /// Starts the game, or goes on with it.
    pub(crate) fn go_on(&mut self, now: Moment) -> Result<Vec<Effect>, ApiError> {
        let Some(active) = &mut self.play else {
            return Err(not_now(ProblemKind::NobodyPlays, "nobody plays this game"));
        };
        if active.state == PlayState::Going {
            return Err(not_now(ProblemKind::GameGoesOn, "the game is going on"));
        }
        if self.outcome.is_some() && active.state == PlayState::Over {
            return Err(not_now(ProblemKind::GameOver, "the game is over"));
        }
        active.state = PlayState::Going;
        self.changes.play = true;
        self.changes.unsaved = true;
        let Some(position) = self.tip_position() else { return Err(no_node(ROOT)) };
        if let Some(ending) = self.ending(&position) {
            return Ok(self.finish(wire_outcome(ending), now));
        }
        Ok(self.next_turn(&position, None, now))
    }

    /// Plays on from a node: the line to it becomes the game.
    pub(crate) fn rewind_to(&mut self, node: NodeId, now: Moment) -> Result<Vec<Effect>, ApiError> {
        self.tree.node(node).ok_or_else(|| no_node(node))?;
        let effects = self.rest_all(now);
        self.forget_past();
        let changed = self.tree.promote(node, true);
        self.changes.nodes.extend(changed);
        self.forget_outcome();
        if let Some(active) = &mut self.play {
            active.tip = node;
            active.state = PlayState::Paused;
            active.offer = None;
            if let Some(clocks) = &mut active.clocks {
                clocks.set(active.readings.get(&node).copied());
            }
        }
        self.changes.play = true;
        self.changes.unsaved = true;
        self.set_cursor(node);
        Ok(effects)
    }

    fn forget_outcome(&mut self) {
        if self.outcome.take().is_some() {
            self.changes.over = true;
        }
        self.tree.result = GameResult::Unknown;
        for id in self.tree.ids().collect::<Vec<_>>() {
            if let Some(notes) = self.tree.notes_mut(id) {
                notes.end = None;
            }
        }
    }

    fn tip_position(&self) -> Option<Position> {
        self.tree.position(self.play.as_ref()?.tip)
    }

    fn ending(&self, position: &Position) -> Option<Ending> {
        position.ending_under(self.play.as_ref()?.end_rules())
    }

    /// Somebody at the page plays a move: in the game, if it stands where he is; otherwise on the
    /// board alone.
    pub(crate) fn play_move(
        &mut self,
        node: NodeId,
        text: &str,
        now: Moment,
    ) -> Result<(NodeId, Vec<Effect>), ApiError> {
        let position = self.tree.position(node).ok_or_else(|| no_node(node))?;
        let mv = Self::read_move(&position, text)?;
        let in_game = self
            .play
            .as_ref()
            .is_some_and(|active| active.state == PlayState::Going && active.tip == node);
        if !in_game {
            let before = self.tree.child(node, mv).is_none().then(|| self.stage());
            let id = self.add(node, mv)?;
            if let Some(before) = before {
                self.remember(before);
            }
            self.set_cursor(id);
            return Ok((id, Vec::new()));
        }
        let side = Side::from(position.turn());
        if self.slot(side).is_some_and(|slot| slot.engine().is_some()) {
            return Err(not_now(ProblemKind::EnginesTurn, "it is the engine's turn"));
        }
        let (id, effects) = self.make(side, mv, None, now)?;
        self.set_cursor(id);
        Ok((id, effects))
    }

    /// Plays a move of the game.
    fn make(
        &mut self,
        side: Side,
        mv: readyok_rules::Move,
        measured: Option<u64>,
        now: Moment,
    ) -> Result<(NodeId, Vec<Effect>), ApiError> {
        let Some(active) = &self.play else {
            return Err(not_now(ProblemKind::NobodyPlays, "nobody plays this game"));
        };
        let tip = active.tip;
        let follows = self.cursor == tip;
        let before = self.tree.position(tip).ok_or_else(|| no_node(tip))?;
        self.forget_past();
        let word = mv.word(self.game().castling_form());
        let id = self.add(tip, mv)?;
        let reordered = self.tree.promote(id, true);
        self.changes.nodes.extend(reordered);
        self.changes.nodes.insert(id);
        self.changes.play = true;
        self.changes.unsaved = true;
        let Some(active) = &mut self.play else {
            return Err(not_now(ProblemKind::NobodyPlays, "nobody plays this game"));
        };
        let pressed = active.clocks.as_mut().map(|clocks| clocks.press(side, now, measured));
        if let Some(Err(_)) = pressed {
            // The move came too late, and was not played.
            let gone = self.tree.delete(id);
            self.changes.removed.extend(gone);
            self.changes.nodes.insert(tip);
            return Ok((tip, self.finish(wire_outcome(before.time_is_over(side.into())), now)));
        }
        let left = active.clocks.and_then(|clocks| clocks.left(side));
        if let Some(clocks) = &active.clocks {
            active.readings.insert(id, clocks.reading());
        }
        active.tip = id;
        active.hint = None;
        // An offer stands until the other side has moved.
        active.offer = active.offer.filter(|by| *by == side);
        if let Some(notes) = self.tree.notes_mut(id) {
            let time = Duration::from_millis;
            notes.clock = left.map(time);
            notes.elapsed = pressed.and_then(Result::ok).or(measured).map(time);
        }
        if follows {
            self.set_cursor(id);
        }
        let Some(after) = self.tip_position() else { return Err(no_node(id)) };
        let effects = match self.ending(&after) {
            Some(ending) => self.finish(wire_outcome(ending), now),
            None => self.next_turn(&after, Some(&word), now),
        };
        Ok((id, effects))
    }

    /// The side to move is asked, if it is an engine.
    fn next_turn(&mut self, position: &Position, played: Option<&str>, now: Moment) -> Vec<Effect> {
        let side = Side::from(position.turn());
        let Some(active) = &mut self.play else { return Vec::new() };
        let moves = self.tree.moves_to(active.tip);
        let clocks = active.clocks;
        let slot = active.slots.of_mut(side);
        let Some(engine) = slot.engine() else {
            if let Some(clocks) = &mut active.clocks {
                clocks.start(side, now);
            }
            return Vec::new();
        };
        let budget = TimeBudget::new(clocks, side, &engine.limits);
        let expected = slot.asked.as_ref().and_then(|asked| asked.on.as_deref());
        let hit = expected.is_some() && expected == played;
        // What is still expected is neither right nor wrong.
        slot.tries += u32::from(expected.is_some() && played.is_some());
        let ask = if hit {
            slot.hits += 1;
            if let Some(asked) = &mut slot.asked {
                asked.on = None;
            }
            SearchRequest::Hit { budget }
        } else {
            active.last_search_id += 1;
            let search_id = active.last_search_id;
            slot.asked = Some(PendingSearch { search_id, on: None, begun: false });
            SearchRequest::Think { search_id, moves, budget, ponder: false }
        };
        if hit && let Some(clocks) = &mut active.clocks {
            clocks.start(side, now);
        }
        vec![Effect::Request(side, ask)]
    }

    /// The engine of a side is at its search: now its clock runs.
    pub(crate) fn engine_begins(&mut self, side: Side, search_id: u64, now: Moment) {
        let Some(active) = &mut self.play else { return };
        if active.state != PlayState::Going {
            return;
        }
        let Some(asked) = &mut active.slots.of_mut(side).asked else { return };
        if asked.search_id != search_id || asked.begun {
            return;
        }
        asked.begun = true;
        if asked.on.is_none()
            && let Some(clocks) = &mut active.clocks
            && clocks.running() != Some(side)
        {
            clocks.start(side, now);
        }
        self.changes.play = true;
    }

    /// The engine of a side tells what it thinks.
    pub(crate) fn engine_thinks(&mut self, side: Side, search_id: u64, thought: MoveInfo) {
        let Some(active) = &mut self.play else { return };
        let slot = active.slots.of_mut(side);
        if slot.asked.as_ref().is_some_and(|asked| asked.search_id == search_id) {
            slot.thought = Some(thought);
            self.changes.play = true;
        }
    }

    /// The engine of a side has answered.
    pub(crate) fn engine_answers(
        &mut self,
        side: Side,
        search_id: u64,
        answer: &EngineAnswer,
        now: Moment,
    ) -> Vec<Effect> {
        let Some(active) = &mut self.play else { return Vec::new() };
        let slot = active.slots.of_mut(side);
        let Some(asked) = slot.asked.take_if(|asked| asked.search_id == search_id) else {
            return Vec::new();
        };
        if active.state != PlayState::Going || asked.on.is_some() {
            return Vec::new();
        }
        self.changes.play = true;
        let Some(position) = self.tip_position() else { return Vec::new() };
        let word = match &answer.best {
            EngineMove::Move(word) => word,
            EngineMove::Resign => {
                let outcome = lost(side, EndReason::Resignation);
                return self.finish(outcome, now);
            }
            EngineMove::Win => {
                let rules = self.play.as_ref().map(ActiveGame::end_rules);
                let declared = rules.and_then(|rules| position.declare(rules));
                let outcome = match declared {
                    Some(ending) => wire_outcome(ending),
                    None => Outcome {
                        detail: Some("it declared a win in vain".to_owned()),
                        problem: Some(Problem::new(ProblemKind::DeclaredInVain)),
                        ..lost(side, EndReason::IllegalMove)
                    },
                };
                return self.finish(outcome, now);
            }
            EngineMove::Nothing(said) => {
                let outcome = Outcome {
                    detail: Some(format!("it answered `{said}` where it has moves")),
                    problem: Some(Problem::new(ProblemKind::Answered).with("said", said)),
                    ..lost(side, EndReason::EngineFailed)
                };
                return self.finish(outcome, now);
            }
        };
        let mv = match position.parse_move(word) {
            Ok(mv) => mv,
            Err(error) => {
                let outcome = Outcome {
                    detail: Some(error.to_string()),
                    problem: Some(move_problem(&error)),
                    ..lost(side, EndReason::IllegalMove)
                };
                return self.finish(outcome, now);
            }
        };
        let Ok((id, mut effects)) = self.make(side, mv, Some(answer.elapsed), now) else {
            return Vec::new();
        };
        if let Some(active) = &mut self.play
            && let Some(thought) = &mut active.slots.of_mut(side).thought
        {
            thought.node = Some(id);
        }
        self.note_evaluation(side, id);
        if self.is_going() {
            effects.extend(self.ponder(side, answer));
        }
        effects
    }

    /// What an engine thought of its move is kept with it.
    fn note_evaluation(&mut self, side: Side, id: NodeId) {
        let thought = self.play.as_ref().and_then(|active| active.slots.of(side).thought.as_ref());
        let Some((score, depth)) = thought.and_then(|it| it.score.map(|score| (score, it.depth)))
        else {
            return;
        };
        if let Some(notes) = self.tree.notes_mut(id) {
            notes.evaluation = Some(Evaluation::by(side.into(), score, depth));
            self.changes.nodes.insert(id);
        }
    }

    /// An engine that ponders thinks on, if it expects a move that can be played.
    fn ponder(&mut self, side: Side, answer: &EngineAnswer) -> Vec<Effect> {
        let Some(position) = self.tip_position() else { return Vec::new() };
        let Some(active) = &mut self.play else { return Vec::new() };
        let mut moves = self.tree.moves_to(active.tip);
        let clocks = active.clocks;
        let slot = active.slots.of_mut(side);
        let Some(engine) = slot.engine().filter(|engine| engine.ponder) else { return Vec::new() };
        let expected = answer.ponder.as_ref().and_then(|word| position.parse_move(word).ok());
        let Some(mv) = expected else { return Vec::new() };
        moves.push(mv);
        let budget = TimeBudget::new(clocks, side, &engine.limits);
        active.last_search_id += 1;
        let search_id = active.last_search_id;
        let on = Some(mv.word(position.game().castling_form()));
        slot.asked = Some(PendingSearch { search_id, on, begun: false });
        vec![Effect::Request(side, SearchRequest::Think { search_id, moves, budget, ponder: true })]
    }

    /// The engine of a side cannot go on: it loses, if it was to move or will have to.
    pub(crate) fn engine_fails(&mut self, side: Side, why: &Failure, now: Moment) -> Vec<Effect> {
        let Some(active) = &mut self.play else { return Vec::new() };
        if active.state != PlayState::Going {
            return Vec::new();
        }
        let slot = active.slots.of_mut(side);
        slot.asked = None;
        let outcome = Outcome {
            detail: Some(why.text.clone()),
            problem: Some(why.problem.clone()),
            ..lost(side, EndReason::EngineFailed)
        };
        self.finish(outcome, now)
    }

    /// The engine of a side could not be started: the game waits for it.
    pub(crate) fn engine_is_missing(&mut self, now: Moment) -> Vec<Effect> {
        let effects = self.rest_all(now);
        if let Some(active) = &mut self.play
            && active.state != PlayState::Over
        {
            active.state = PlayState::Interrupted;
            self.changes.play = true;
            self.changes.unsaved = true;
        }
        effects
    }

    /// When somebody has to look at the clocks.
    pub(crate) fn due(&self) -> Option<Moment> {
        let active = self.play.as_ref().filter(|active| active.state == PlayState::Going)?;
        let (side, at) = active.clocks.as_ref()?.flag()?;
        let is_engine = active.slots.of(side).engine().is_some();
        Some(if is_engine { at.saturating_add(GRACE) } else { at })
    }

    /// Has the page told of the clock that runs.
    pub(crate) fn tell_clocks(&mut self) {
        let clocks = self.play.as_ref().and_then(|active| active.clocks.as_ref());
        self.changes.play |= clocks.is_some_and(|clocks| clocks.running().is_some());
    }

    /// Looks at the clocks.
    pub(crate) fn tick(&mut self, now: Moment) -> Vec<Effect> {
        if self.due().is_none_or(|due| now < due) {
            return Vec::new();
        }
        let flag = self.play.as_ref().and_then(|active| active.clocks.as_ref()?.flag());
        let (Some((side, _)), Some(position)) = (flag, self.tip_position()) else {
            return Vec::new();
        };
        self.finish(wire_outcome(position.time_is_over(side.into())), now)
    }

    /// Ends the game.
    pub(super) fn finish(&mut self, outcome: Outcome, now: Moment) -> Vec<Effect> {
        let mut effects = self.rest_all(now);
        self.forget_past();
        let Some(active) = &mut self.play else { return Vec::new() };
        active.state = PlayState::Over;
        active.offer = None;
        let tip = active.tip;
        for side in [Side::First, Side::Second] {
            if active.slots.of(side).engine().is_some() {
                let won = outcome.winner.map(|winner| winner == side);
                effects.push(Effect::Request(side, SearchRequest::Leave { won }));
            }
        }
        self.tree.result = match (outcome.winner, outcome.result.as_str()) {
            (Some(side), _) => GameResult::Win(side.into()),
            (None, "1/2-1/2") => GameResult::Draw,
            (None, _) => GameResult::Unknown,
        };
        self.tree.conclude(tip, outcome.reason.into());
        self.outcome = Some(outcome);
        self.changes.over = true;
        self.changes.play = true;
        self.changes.unsaved = true;
        effects
    }

    /// Stops the clocks, and the engines that search.
    fn rest_all(&mut self, now: Moment) -> Vec<Effect> {
        let Some(active) = &mut self.play else { return Vec::new() };
        if let Some(clocks) = &mut active.clocks {
            clocks.pause(now);
        }
        let mut effects = Vec::new();
        for side in [Side::First, Side::Second] {
            if active.slots.of_mut(side).asked.take().is_some() {
                effects.push(Effect::Request(side, SearchRequest::Rest));
            }
        }
        effects
    }

    /// Stops the clocks and the engines until somebody goes on.
    pub(crate) fn pause(&mut self, now: Moment) -> Result<Vec<Effect>, ApiError> {
        if !self.is_going() {
            return Err(not_now(ProblemKind::GameRests, "the game is not going on"));
        }
        let effects = self.rest_all(now);
        if let Some(active) = &mut self.play {
            active.state = PlayState::Paused;
        }
        self.changes.play = true;
        self.changes.unsaved = true;
        Ok(effects)
    }

    /// The server ends, or the game is closed.
    pub(crate) fn interrupt(&mut self, now: Moment) -> Vec<Effect> {
        if self.is_going() { self.engine_is_missing(now) } else { Vec::new() }
    }

    /// Breaks the game off without a result.
    pub(crate) fn abort(&mut self, now: Moment) -> Result<Vec<Effect>, ApiError> {
        self.require_open()?;
        let outcome = Outcome {
            winner: None,
            result: "*".to_owned(),
            reason: EndReason::Aborted,
            detail: None,
            problem: None,
        };
        Ok(self.finish(outcome, now))
    }

    fn require_open(&self) -> Result<(), ApiError> {
        match &self.play {
            None => Err(not_now(ProblemKind::NobodyPlays, "nobody plays this game")),
            Some(active) if active.state == PlayState::Over => {
                Err(not_now(ProblemKind::GameOver, "the game is over"))
            }
            Some(_) => Ok(()),
        }
    }

    /// The person who acts: the only one, or of two the one to move.
    fn person(&self) -> Result<Side, ApiError> {
        self.require_open()?;
        let Some(active) = &self.play else {
            return Err(not_now(ProblemKind::NobodyPlays, "nobody plays this game"));
        };
        let persons: Vec<Side> = [Side::First, Side::Second]
            .into_iter()
            .filter(|side| active.slots.of(*side).engine().is_none())
            .collect();
        match persons.as_slice() {
            [] => Err(not_now(ProblemKind::NoPerson, "no person plays")),
            [side] => Ok(*side),
            _ => Ok(self.tip_position().map_or(Side::First, |position| position.turn().into())),
        }
    }

    /// The person gives up.
    pub(crate) fn resign(&mut self, now: Moment) -> Result<Vec<Effect>, ApiError> {
        let side = self.person()?;
        Ok(self.finish(lost(side, EndReason::Resignation), now))
    }

    /// The person offers a draw. An engine answers by its score.
    pub(crate) fn offer_draw(&mut self, now: Moment) -> Result<Vec<Effect>, ApiError> {
        let side = self.person()?;
        let Some(active) = &mut self.play else {
            return Err(not_now(ProblemKind::NobodyPlays, "nobody plays this game"));
        };
        let other = active.slots.of(side.other());
        let ply = self.tree.node(active.tip).map_or(0, super::super::tree::Branch::ply);
        let takes = other.engine().is_some()
            && DRAW_FROM_PLY <= ply
            && other.thought.as_ref().is_some_and(|thought| match thought.score {
                Some(Score::Cp(value)) => value <= DRAW_SCORE,
                Some(mate) => mate.is_mated(),
                None => false,
            });
        if takes {
            return Ok(self.finish(drawn(EndReason::Agreement), now));
        }
        active.offer = Some(side);
        self.changes.play = true;
        Ok(Vec::new())
    }

    /// The other person takes the draw.
    pub(crate) fn accept_draw(&mut self, now: Moment) -> Result<Vec<Effect>, ApiError> {
        self.require_open()?;
        let Some(active) = &self.play else {
            return Err(not_now(ProblemKind::NobodyPlays, "nobody plays this game"));
        };
        let Some(by) = active.offer else {
            return Err(not_now(ProblemKind::NoOffer, "nobody has offered a draw"));
        };
        if active.slots.of(by.other()).engine().is_some() {
            return Err(not_now(ProblemKind::DrawRefused, "the engine did not take the draw"));
        }
        Ok(self.finish(drawn(EndReason::Agreement), now))
    }

    /// The person claims a draw (chess) or declares (shogi).
    pub(crate) fn claim(&mut self, now: Moment) -> Result<Vec<Effect>, ApiError> {
        let side = self.person()?;
        let position = self.tip_position().ok_or_else(|| no_node(ROOT))?;
        if Side::from(position.turn()) != side {
            return Err(not_now(ProblemKind::NotYourTurn, "it is not your turn"));
        }
        match self.claimed(&position) {
            Some(ending) => Ok(self.finish(wire_outcome(ending), now)),
            None => Err(not_now(ProblemKind::NothingToClaim, "there is nothing to claim")),
        }
    }

    /// How the game ends if the side to move claims a draw (chess) or declares (shogi), by the rules that it is
    /// played by. A declaration that would lose is none.
    pub(super) fn claimed(&self, position: &Position) -> Option<Ending> {
        if let Some(reason) = position.claims().first() {
            return Some(Ending { winner: None, reason: *reason });
        }
        let declared = position.declare(self.play.as_ref()?.end_rules())?;
        (declared.reason != Reason::FailedDeclaration).then_some(declared)
    }

    /// Takes the person's last move back.
    pub(crate) fn take_back(&mut self, now: Moment) -> Result<Vec<Effect>, ApiError> {
        let Some(active) = &self.play else {
            return Err(not_now(ProblemKind::NobodyPlays, "nobody plays this game"));
        };
        let was_paused = active.state == PlayState::Paused;
        let line = self.tree.line_to(active.tip);
        let by_person = |id: &NodeId| {
            let parent = self.tree.node(*id).and_then(super::super::tree::Branch::parent);
            let position = parent.and_then(|parent| self.tree.position(parent));
            position
                .is_some_and(|position| active.slots.of(position.turn().into()).engine().is_none())
        };
        let Some(last) = line.iter().rev().find(|id| by_person(id)).copied() else {
            return Err(not_now(
                ProblemKind::NothingToTakeBack,
                "there is no move of a person to take back",
            ));
        };
        let parent = self.tree.node(last).and_then(super::super::tree::Branch::parent);
        let parent = parent.unwrap_or(ROOT);
        let mut effects = self.rewind_to(parent, now)?;
        let gone = self.tree.delete(last);
        self.changes.removed.extend(gone);
        self.changes.nodes.insert(parent);
        if !was_paused {
            effects.extend(self.go_on(now)?);
        }
        Ok(effects)
    }

    /// The engine that thinks is to move at once.
    pub(crate) fn move_now(&mut self) -> Result<Vec<Effect>, ApiError> {
        let thinking = [Side::First, Side::Second].into_iter().find(|side| {
            let asked = self.slot(*side).and_then(|slot| slot.asked.as_ref());
            self.is_going() && asked.is_some_and(|asked| asked.on.is_none())
        });
        let side = thinking
            .ok_or_else(|| not_now(ProblemKind::NobodyThinks, "no engine thinks about its move"))?;
        Ok(vec![Effect::Request(side, SearchRequest::MoveNow)])
    }

    /// The node that a hint is for, with its position.
    pub(crate) fn hint_for(&self) -> Result<(NodeId, Position), ApiError> {
        let node = match &self.play {
            Some(active) if active.state != PlayState::Over => active.tip,
            Some(_) | None => self.cursor,
        };
        Ok((node, self.tree.position(node).ok_or_else(|| no_node(node))?))
    }

    /// A hint has come.
    pub(crate) fn set_hint(&mut self, node: NodeId, hint: LineMove) {
        if let Some(active) = self.play.as_mut().filter(|active| active.tip == node) {
            active.hint = Some(Hint { node, hint });
            self.changes.play = true;
        }
    }

    /// Requires that players can be seated anew.
    pub(crate) fn require_rest(&self) -> Result<(), ApiError> {
        if self.is_going() {
            return Err(not_now(ProblemKind::GameGoesOn, "the game is going on: pause it first"));
        }
        Ok(())
    }
}

fn lost(side: Side, reason: EndReason) -> Outcome {
    let winner = Some(side.other());
    Outcome {
        winner,
        result: result_word(winner, true).to_owned(),
        reason,
        detail: None,
        problem: None,
    }
}

fn drawn(reason: EndReason) -> Outcome {
    let result = result_word(None, true).to_owned();
    Outcome { winner: None, result, reason, detail: None, problem: None }
}

/// No time is longer, in milliseconds.
const YEAR: u64 = 365 * 24 * 3600 * 1000;

/// Refuses players that cannot play.
pub(crate) fn check_players(players: &Sides<Player>) -> Result<(), ApiError> {
    for side in [Side::First, Side::Second] {
        let (name, time) = match players.of(side) {
            Player::Person { name, time } => (name.as_str(), time),
            Player::Engine(engine) => ("", &engine.time),
        };
        if 200 < name.chars().count() || name.chars().any(char::is_control) {
            return Err(odd_text(Thing::PlayerName, "the name of a player is too long or odd"));
        }
        let fits = match *time {
            Time::None => true,
            Time::Clock { base, increment, byoyomi, .. } => {
                [base, increment, byoyomi].iter().all(|time| *time <= YEAR)
                    && 0 < base + increment + byoyomi
            }
            Time::PerMove { time } => 0 < time && time <= YEAR,
        };
        if !fits {
            let text = "there is no such time control";
            return Err(api_error(ApiErrorCode::Malformed, ProblemKind::NoTimeControl, text));
        }
    }
    Ok(())
}
