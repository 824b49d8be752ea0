//! Tests of sessions without engines.

mod edits;

use std::collections::BTreeMap;

use readyok_protocol::Score;
use readyok_rules::record::{EngineNote, EngineNotes};

use super::play::GRACE;
use super::*;
use crate::wire::{
    Claim, EnginePlayer, LineMove, MoveInfo, MoveText, OutcomeView, PlayStatus, SearchLimits, Time,
};

fn clock(base: u64) -> Time {
    Time::Clock { base, increment: 0, byoyomi: 0, moves: None }
}

fn engine(time: Time, ponder: bool) -> Player {
    Player::Engine(EnginePlayer {
        engine: 1,
        time,
        limits: SearchLimits::default(),
        ponder,
        strength: None,
        options: BTreeMap::new(),
    })
}

fn human(time: Time) -> Player {
    Player::Human { name: "Ada".to_owned(), time }
}

impl GameSession {
    fn with<R>(&mut self, change: impl FnOnce(&mut ActiveGame, &mut Document) -> R) -> R {
        let (active, document) = self.active_mut().expect("it is played");
        change(active, document)
    }

    fn wire_node(&self, id: NodeId) -> Option<crate::wire::Node> {
        self.tree().wire([id].into()).pop()
    }

    fn outcome(&self) -> Option<&OutcomeView> {
        self.document.outcome()
    }
}

/// A started game of chess.
fn begun(first: Player, second: Player) -> (GameSession, Vec<Effect>) {
    let mut session = GameSession::new(7, Tree::new(Position::start(Game::Chess)), 0);
    let named = |player: Player| (player, "A".to_owned());
    let players = Sides { first: named(first), second: named(second) };
    session.set_players(players, PlayRules::Engines, 0);
    let effects =
        session.with(|active, document| active.resume(document, 0)).expect("it can begin");
    (session, effects)
}

/// The effects as short texts.
fn shown(effects: &[Effect]) -> String {
    let one = |effect: &Effect| {
        let Effect::Request(side, ask) = effect;
        let what = match ask {
            SearchRequest::Think { line, ponder, .. } => {
                let kind = if *ponder { "ponder" } else { "think" };
                format!("{kind}@{}", line.moves.len())
            }
            SearchRequest::Hit { .. } => "hit".to_owned(),
            SearchRequest::MoveNow => "now".to_owned(),
            SearchRequest::Rest => "rest".to_owned(),
            SearchRequest::Leave { won } => format!("leave {won:?}"),
        };
        format!("{side:?} {what}")
    };
    effects.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn answer(mv: &str, ponder: Option<&str>, elapsed: u64) -> EngineAnswer {
    EngineAnswer {
        best: EngineMove::Move(mv.to_owned()),
        ponder: ponder.map(str::to_owned),
        elapsed,
    }
}

fn last_move_node(session: &GameSession) -> NodeId {
    session.active().expect("it is played").last_move_node
}

#[test]
fn the_clock_of_an_engine_runs_while_it_searches() {
    let (mut session, effects) = begun(human(clock(1000)), engine(clock(1000), false));
    assert_eq!(shown(&effects), "");
    let (_, effects) = session.play_move(ROOT, "e4", 300).expect("it is legal");
    assert_eq!(shown(&effects), "Second think@1");
    let clocks =
        |session: &GameSession, now| session.state(None, now).play.expect("it is played").clocks;
    assert_eq!(clocks(&session, 900).expect("clocks").running, None, "it is being started");
    session.with(|active, document| active.on_search_started(document, Side::Second, 1000));
    assert_eq!(clocks(&session, 1100).expect("clocks").remaining.second, Some(900));
    let effects = session.with(|active, document| {
        active.on_answer(document, Side::Second, &answer("e7e5", None, 400), 1450)
    });
    assert_eq!(shown(&effects), "");
    let clocks = clocks(&session, 1450).expect("clocks");
    assert_eq!((clocks.remaining.first, clocks.remaining.second), (Some(1000), Some(600)));
    assert_eq!(clocks.running, Some(Side::First));
    let last = session.wire_node(last_move_node(&session)).expect("a move");
    assert_eq!((last.clock, last.elapsed), (Some(600), Some(400)));
}

/// As on Lichess, where the clocks do not run before the first moves.
#[test]
fn the_clock_of_a_human_starts_with_the_first_move() {
    let (mut session, _) = begun(human(clock(1000)), human(clock(1000)));
    let clocks = |session: &GameSession, now| {
        session.state(None, now).play.and_then(|play| play.clocks).expect("clocks")
    };
    let deadline = |session: &GameSession| session.active().and_then(ActiveGame::next_deadline);
    assert_eq!((clocks(&session, 900).running, deadline(&session)), (None, None));
    session.with(|active, document| active.on_tick(document, 5000));
    assert_eq!(session.outcome(), None, "there is any time for the first move");
    let (first, _) = session.play_move(ROOT, "e4", 6000).expect("it is legal");
    let now = clocks(&session, 6300);
    assert_eq!(now.running, Some(Side::Second));
    assert_eq!((now.remaining.first, now.remaining.second), (Some(1000), Some(700)));
    let notes = session.wire_node(first).expect("a move");
    assert_eq!((notes.clock, notes.elapsed), (Some(1000), None), "it was not timed");
    session.play_move(first, "e5", 6400).expect("it is legal");
    assert_eq!(clocks(&session, 6500).running, Some(Side::First));
    // Back at the start, and after a pause there.
    session.with(|active, document| active.rewind_to(document, ROOT, 6600)).expect("it is there");
    session.with(|active, document| active.resume(document, 6700)).expect("it continues");
    let now = clocks(&session, 7000);
    assert_eq!((now.running, now.remaining.first), (None, Some(1000)));
}

#[test]
fn a_ponder_hit_continues_and_a_miss_restarts_the_search() {
    for (reply, expected, hits) in [("e7e5", "First hit", 1), ("c7c5", "First think@2", 0)] {
        let (mut session, effects) = begun(engine(clock(9000), true), human(Time::None));
        assert_eq!(shown(&effects), "First think@0");
        session.with(|active, document| active.on_search_started(document, Side::First, 0));
        let effects = session.with(|active, document| {
            active.on_answer(document, Side::First, &answer("e2e4", Some("e7e5"), 10), 10)
        });
        assert_eq!(shown(&effects), "First ponder@2");
        session.with(|active, document| active.on_search_started(document, Side::First, 11));
        let node = last_move_node(&session);
        let (_, effects) = session.play_move(node, reply, 500).expect("it is legal");
        assert_eq!(shown(&effects), expected);
        let slot = session.slot(Side::First).expect("a slot");
        assert_eq!((slot.hits, slot.tries), (hits, 1));
    }
}

#[test]
fn flags_fall_and_an_engines_answer_has_a_grace_period() {
    let (mut session, _) = begun(human(clock(1000)), human(clock(1000)));
    session.play_move(ROOT, "e4", 500).expect("it is legal");
    assert_eq!(session.active().and_then(ActiveGame::next_deadline), Some(1500));
    assert!(
        session.with(|active, document| active.on_tick(document, 1499)).is_empty()
            && session.outcome().is_none()
    );
    session.with(|active, document| active.on_tick(document, 1500));
    let outcome = session.outcome().expect("it is over");
    assert_eq!((outcome.winner(), outcome.termination.name()), (Some(Side::First), "time-forfeit"));

    let (mut session, _) = begun(engine(clock(1000), false), human(clock(1000)));
    session.with(|active, document| active.on_search_started(document, Side::First, 0));
    assert_eq!(session.active().and_then(ActiveGame::next_deadline), Some(1000 + GRACE));
    // It was read late, and answered in time.
    session.with(|active, document| {
        active.on_answer(document, Side::First, &answer("e2e4", None, 990), 1300)
    });
    assert_eq!(session.outcome(), None);
    let (mut session, _) = begun(engine(clock(1000), false), human(clock(1000)));
    session.with(|active, document| active.on_search_started(document, Side::First, 0));
    session.with(|active, document| {
        active.on_answer(document, Side::First, &answer("e2e4", None, 1001), 1001)
    });
    assert_eq!(session.outcome().map(|outcome| outcome.termination.name()), Some("time-forfeit"));
    assert!(session.tree().main_line().is_empty(), "the move came too late");
}

#[test]
fn mate_ends_the_game_and_sets_the_result() {
    let (mut session, _) = begun(human(Time::None), human(Time::None));
    for text in ["f3", "e5", "g4", "Qh4"] {
        let node = last_move_node(&session);
        session.play_move(node, text, 1).expect("it is legal");
    }
    let outcome = session.outcome().expect("it is over").clone();
    assert_eq!((outcome.result.as_str(), outcome.termination.name()), ("0-1", "checkmate"));
    let record = session.tree().to_record();
    assert_eq!(record.result.as_str(), "0-1");
    // Afterwards the board is for analysis.
    let node = last_move_node(&session);
    assert!(session.play_move(ROOT, "e4", 2).is_ok() && session.play_move(node, "e4", 2).is_err());
    session.with(|active, document| active.take_back(document, 3)).expect("a move");
    assert_eq!(session.outcome(), None);
}

#[test]
fn a_declaration_has_the_result_of_the_rules() {
    // 28 points with twelve pieces and the king, and 31 with three more lances.
    let few = "K+R+R+B+B4/GGGGSSSS1/9/9/9/9/9/9/8k b - 1";
    let many = "K+R+R+B+B4/GGGGSSSS1/LLL6/9/9/9/9/9/8k b - 1";
    let none = "K+R+R+B5/GGGG5/9/9/9/9/9/9/8k b - 1";
    let cases = [
        (few, PlayRules::Engines, Some((Claim::DeclareWin, "declaration"))),
        (few, PlayRules::Federation, Some((Claim::DeclareDraw, "impasse"))),
        (many, PlayRules::Federation, Some((Claim::DeclareWin, "declaration"))),
        (none, PlayRules::Federation, None),
        (none, PlayRules::Engines, None),
    ];
    for (sfen, rules, expected) in cases {
        let position = Position::from_text(Game::Shogi, sfen).expect("a position");
        let mut session = GameSession::new(7, Tree::new(position), 0);
        let ada = || (human(Time::None), "Ada".to_owned());
        session.set_players(Sides { first: ada(), second: ada() }, rules, 0);
        session.with(|active, document| active.resume(document, 0)).expect("it can begin");
        let claim = session.state(None, 1).play.expect("it is played").claim;
        assert_eq!(claim, expected.map(|(claim, _)| claim), "{sfen} {rules:?}");
        assert_eq!(
            session.with(|active, document| active.claim(document, 2)).is_ok(),
            expected.is_some()
        );
        let state = session.state(None, 3);
        assert_eq!(
            state.outcome.map(|outcome| outcome.termination.name()),
            expected.map(|(_, why)| why)
        );
        // What is over cannot be claimed again.
        assert_eq!(state.play.filter(|_| expected.is_some()).and_then(|play| play.claim), None);
    }
}

#[test]
fn an_engine_accepts_a_draw_without_an_advantage() {
    let (mut session, _) = begun(human(Time::None), engine(Time::None, false));
    session.with(|active, document| active.offer_draw(document, 1)).expect("it can be offered");
    assert_eq!(session.outcome(), None, "the game has just begun");
    for ply in 0..32 {
        let node = last_move_node(&session);
        let side = session.tree().position(node).expect("it is there").turn();
        // Knights go around their stables, never thrice alike.
        let moves = ["g1f3", "g8f6", "f3d4", "f6d5", "d4b3", "d5b6", "b3a5", "b6a4"];
        let back = ["a5b3", "a4b6", "b3d4", "b6d5", "d4f3", "d5f6", "f3g1", "f6g8"];
        let mv = if ply < 8 {
            moves[ply]
        } else if ply < 16 {
            back[ply - 8]
        } else {
            [
                "a2a3", "a7a6", "b2b3", "b7b6", "c2c3", "c7c6", "d2d3", "d7d6", "e2e3", "e7e6",
                "f2f3", "f7f6", "g2g3", "g7g6", "h2h3", "h7h6",
            ][ply - 16]
        };
        if side == Side::First {
            session.play_move(node, mv, 1).expect("it is legal");
        } else {
            let info = MoveInfo {
                node: None,
                depth: Some(9),
                score: Some(Score::Cp(0)),
                nodes: None,
                nps: None,
                time: None,
                pv: Vec::new(),
            };
            session.with(|active, document| active.on_info(document, side, info));
            session
                .with(|active, document| active.on_answer(document, side, &answer(mv, None, 1), 1));
        }
    }
    session.with(|active, document| active.offer_draw(document, 2)).expect("it can be offered");
    assert_eq!(session.outcome().map(|outcome| outcome.termination.name()), Some("agreement"));
}

#[test]
fn a_stored_game_is_restored() {
    let (mut session, _) = begun(human(clock(60_000)), engine(clock(60_000), false));
    session.play_move(ROOT, "e4", 5000).expect("it is legal");
    session.with(|active, document| active.on_search_started(document, Side::Second, 5000));
    session.with(|active, document| {
        active.on_answer(document, Side::Second, &answer("e7e5", None, 2000), 7000)
    });
    let stored = StoredSession::decode(&session.stored().encode()).expect("it is whole");
    let mut back = GameSession::restored(7, stored, 9000);
    let state = back.state(None, 9000);
    assert_eq!(back.tree().wire_all(), session.tree().wire_all());
    let play = state.play.expect("it is played");
    assert_eq!(play.status, PlayStatus::Interrupted);
    let clocks = play.clocks.expect("clocks");
    assert_eq!((clocks.remaining.first, clocks.remaining.second), (Some(60_000), Some(58_000)));
    back.with(|active, document| active.resume(document, 10_000)).expect("it continues");
    assert!(back.is_running());
}

#[test]
fn edits_are_undone_and_redone() {
    let mut session = GameSession::new(1, Tree::new(Position::start(Game::Chess)), 0);
    let (node, _) = session.play_move(ROOT, "e4", 0).expect("it is legal");
    session.take_delta(0);
    session.edit(Edit::Nags { node, nags: vec![1] }).expect("it is there");
    session.edit(Edit::Delete { node }).expect("it is there");
    assert_eq!((session.cursor(), session.tree().node(node).is_none()), (ROOT, true));
    let Published { delta, navigated: moved, .. } = session.take_delta(1);
    assert_eq!((delta.expect("a change").removed, moved), (vec![node], true));
    session.edit(Edit::Undo).expect("it was done");
    assert_eq!(session.wire_node(node).expect("it is back").nags, [1]);
    session.edit(Edit::Undo).expect("it was done");
    assert_eq!(session.wire_node(node).expect("it is there").nags, [0_u8; 0]);
    session.edit(Edit::Redo).expect("it was undone");
    session.edit(Edit::Redo).expect("it was undone");
    assert!(session.tree().node(node).is_none());
    assert!(session.edit(Edit::Redo).is_err());
    let (new, _) = session.play_move(ROOT, "e4", 2).expect("it is legal");
    assert_ne!(new, node, "numbers are not used again");
}

/// What engines found is a layer of its own: it is removed in one step, which is undone in one step, and the
/// author's symbols stay.
#[test]
fn judgements_of_engines_are_removed_and_restored() {
    let mut session = GameSession::new(1, Tree::new(Position::start(Game::Chess)), 0);
    let (node, _) = session.play_move(ROOT, "e4", 0).expect("it is legal");
    session.edit(Edit::Nags { node, nags: vec![1] }).expect("it is there");
    let mut notes = EngineNotes::new("engine");
    notes.set(node.into(), EngineNote::new(Score::Cp(30), 20));
    session.document_mut().set_engine_notes(notes.clone());
    assert!(session.wire_node(node).expect("it is there").engine.is_some());
    session.edit(Edit::RemoveJudgements).expect("it is always possible");
    let plain = session.wire_node(node).expect("it is there");
    assert_eq!((plain.engine.is_none(), plain.nags.as_slice()), (true, [1].as_slice()));
    session.edit(Edit::Undo).expect("it was removed");
    assert_eq!(session.tree().engine_notes(), &notes);
    session.edit(Edit::Redo).expect("it was undone");
    assert_eq!(session.tree().engine_notes(), &EngineNotes::default());
}

#[test]
fn moves_on_a_board_are_undone_one_by_one() {
    let mut session = GameSession::new(1, Tree::new(Position::start(Game::Chess)), 0);
    let (first, _) = session.play_move(ROOT, "e4", 0).expect("it is legal");
    session.edit(Edit::Nags { node: first, nags: vec![1] }).expect("it is there");
    let (second, _) = session.play_move(first, "e5", 0).expect("it is legal");
    // What is there already is no change.
    session.play_move(ROOT, "e4", 0).expect("it is legal");
    session.edit(Edit::Undo).expect("a move was played");
    assert!(session.tree().node(second).is_none());
    assert_eq!(session.cursor(), first, "one sees what is undone");
    assert_eq!(session.wire_node(first).expect("it stays").nags, [1]);
    session.edit(Edit::Undo).expect("a sign was given");
    session.edit(Edit::Undo).expect("a move was played");
    assert_eq!((session.tree().len(), session.cursor()), (1, ROOT));
    assert!(session.edit(Edit::Undo).is_err());
    for _ in 0..3 {
        session.edit(Edit::Redo).expect("it was undone");
    }
    assert_eq!(session.tree().main_line(), [first, second]);
    session.edit(Edit::Undo).expect("it was done again");
    session.play_move(first, "c5", 0).expect("it is legal");
    assert!(session.edit(Edit::Redo).is_err(), "what was undone gives way to what is new");
}

#[test]
fn moves_of_a_game_are_not_undone() {
    let (mut session, _) = begun(human(Time::None), human(Time::None));
    let (node, _) = session.play_move(ROOT, "e4", 0).expect("it is legal");
    session.edit(Edit::Nags { node, nags: vec![1] }).expect("it is there");
    let (reply, _) = session.play_move(node, "e5", 0).expect("it is legal");
    session.edit(Edit::Nags { node, nags: vec![2] }).expect("it is there");
    session.with(|active, document| active.resign(document, 0)).expect("it continues");
    assert!(session.edit(Edit::Undo).is_err(), "the game came after it");
    session.edit(Edit::Nags { node, nags: vec![3] }).expect("it is there");
    session.edit(Edit::Undo).expect("a sign was given");
    assert_eq!(session.tree().main_line(), [node, reply]);
    let outcome = session.state(None, 0).outcome.expect("it is over");
    assert_eq!(outcome.termination.name(), "resignation");
}

#[test]
fn moves_of_a_running_game_stay() {
    let (mut session, _) = begun(human(Time::None), human(Time::None));
    let (node, _) = session.play_move(ROOT, "e4", 0).expect("it is legal");
    assert!(session.edit(Edit::Delete { node }).is_err());
    assert!(session.edit(Edit::Undo).is_err());
    let (variation, _) = session.play_move(ROOT, "d4", 0).expect("it is a variation");
    assert_eq!(last_move_node(&session), node);
    assert!(session.edit(Edit::Promote { node: variation, to_main: true }).is_err());
    session.edit(Edit::Delete { node: variation }).expect("it is no move of the game");
}

#[test]
fn a_hint_belongs_to_its_position() {
    let (mut session, _) = begun(human(Time::None), human(Time::None));
    let hint = LineMove { uci: "e2e4".to_owned(), text: MoveText::default() };
    let (node, _) = session.hint_node().expect("a position");
    session.with(|active, document| active.set_hint(document, node, hint.clone()));
    assert!(session.state(None, 0).play.expect("it is played").hint.is_some());
    session.play_move(ROOT, "d4", 0).expect("it is legal");
    session.with(|active, document| active.set_hint(document, node, hint));
    assert!(session.state(None, 0).play.expect("it is played").hint.is_none());
}

#[test]
fn headers_contain_the_date_and_the_time_control() {
    let clock = |base, increment| Time::Clock { base, increment, byoyomi: 0, moves: None };
    let noted = |game, first, second| {
        let mut session = GameSession::new(7, Tree::new(Position::start(game)), 0);
        let players = Sides { first: human(first), second: human(second) };
        let Sides { first, second } = players;
        let players = Sides { first: (first, "Ada".into()), second: (second, "Bob".into()) };
        // 2026-11-21 at noon UTC: far in the east the next day has begun.
        session.set_players(players.clone(), PlayRules::Engines, 1_795_262_400_000);
        // Who plays on from there has begun nothing.
        session.set_players(players, PlayRules::Engines, 1_895_262_400_000);
        let headers = session.tree().headers.iter();
        headers.map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join("; ")
    };
    let one = noted(Game::Chess, clock(600_000, 5000), clock(600_000, 5000));
    assert!(one.contains("; Date: 2026.11.2"), "{one}");
    assert!(one.ends_with("; TimeControl: 600+5"), "{one}");
    let two = noted(Game::Chess960, clock(90_500, 0), Time::PerMove { time: 1500 });
    assert!(two.ends_with("; WhiteTimeControl: 90.5; BlackTimeControl: 1.5/move"), "{two}");
    let none = noted(Game::Chess, Time::None, Time::None);
    assert!(none.ends_with("; TimeControl: -"), "{none}");
    let shogi = noted(Game::Shogi, clock(600_000, 0), clock(600_000, 0));
    assert!(shogi.contains("; 開始日時: 2026/11/2") && shogi.ends_with(":00"), "{shogi}");
}

/// A move that the tree does not accept leaves the clocks as they are.
#[test]
fn a_rejected_move_does_not_press_the_clock() {
    let mut record = readyok_rules::record::GameRecord::new(Position::start(Game::Chess));
    for uci in ["g1f3", "g8f6", "f3g1", "f6g8"].repeat(1024) {
        record.play(record.position().parse_move(uci).expect("legal")).expect("there is room");
    }
    let mut session = GameSession::new(1, Tree::from_record(&record), 0);
    let named = |name: &str| (human(clock(60_000)), name.to_owned());
    let players = Sides { first: named("Ada"), second: named("Bob") };
    session.set_players(players, PlayRules::default(), 0);
    let before = session.state(None, 0).play.expect("players").clocks;
    let mv = record.position().parse_move("e2e4").expect("legal");
    let made = session
        .with(|active, document| active.make_move(document, Side::First, mv, Some(5000), 9000));
    assert!(made.is_err(), "the line is as long as it can be");
    assert_eq!(session.state(None, 0).play.expect("players").clocks, before);
}
