//! Games between scripted engines: each kind of end, and the stored data.

use std::time::Duration;

use readyok_arena::game::{Cancel, GameSettings, Player, play_game};
use readyok_arena::pairing::Opening;
use readyok_arena::plan::{
    Adjudication, DrawAdjudication, EngineId, EnginePlan, Impasse, Limits, Protocol, PvCheck,
    ResignAdjudication,
};
use readyok_arena::result::{EndDetail, EngineFailureKind, MatchGame, MoveRecord, WarningKind};
use readyok_client::WaitLimit;
use readyok_protocol::{OptionError, Register, Rule, Score};
use readyok_rules::{Game, IllegalReason, Side, Termination};
use tempfile::TempDir;

use crate::scripted::{
    Script, game, game_of, plan, play, player, script, setting, speaking, timeouts,
};

fn moves_of(result: &MatchGame) -> Vec<&str> {
    result.moves.iter().map(|made| made.mv.as_str()).collect()
}

fn check(
    setting: &GameSettings,
    position: &str,
    scripts: [&str; 2],
    winner: Option<Side>,
    termination: Termination,
) -> MatchGame {
    let position = (!position.is_empty()).then(|| position.to_owned());
    let opening = Opening { position, ..Opening::default() };
    let result = game(setting, &opening, scripts.map(script));
    let ended = (result.winner, result.end.termination);
    assert_eq!(ended, (winner, termination), "{scripts:?}");
    result
}

const FIRST: Option<Side> = Some(Side::First);
const SECOND: Option<Side> = Some(Side::Second);

#[test]
fn plays_a_game_to_its_end() {
    let chess = setting(Game::Chess);
    let result = check(&chess, "", ["f2f3, g2g4", "e7e5, d8h4"], SECOND, Termination::Checkmate);
    assert_eq!(moves_of(&result), ["f2f3", "e7e5", "g2g4", "d8h4"]);
    assert_eq!((result.first, result.second), (EngineId(0), EngineId(1)));
    assert!(1_700_000_000_000 < result.started_ms);
    let mate = ["e2e4, f1c4, d1h5, h5f7", "e7e5, b8c6, g8f6"];
    check(&chess, "", mate, FIRST, Termination::Checkmate);
    let knights = ["g1f3, f3g1, g1f3, f3g1", "g8f6, f6g8, g8f6, f6g8"];
    check(&chess, "", knights, None, Termination::Repetition);
}

#[test]
fn the_position_determines_the_side_to_move() {
    let position = "rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq - 0 2";
    let chess = setting(Game::Chess);
    let result = check(&chess, position, ["", "d8h4"], SECOND, Termination::Checkmate);
    assert_eq!(result.first, EngineId(0));
}

#[test]
fn plays_shogi_to_each_end() {
    let shogi = setting(Game::Shogi);
    let golds = ["4i4h, 4h4i, 4i4h, 4h4i, 4i4h, 4h4i", "4a4b, 4b4a, 4a4b, 4b4a, 4a4b, 4b4a"];
    check(&shogi, "", golds, None, Termination::Repetition);
    check(&shogi, "", ["7g7f, resign", "3c3d"], SECOND, Termination::Resignation);
    check(&shogi, "", ["7g7f", "resign"], FIRST, Termination::Resignation);
    check(&shogi, "", ["win", ""], SECOND, Termination::FailedDeclaration);
    let mate = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1";
    check(&shogi, mate, ["G*5b", ""], FIRST, Termination::Checkmate);
    let camp = "4K4/+P+P+P+P+P+P+P+P+P/4+P4/9/9/9/9/9/3k5 b 2R2B4G4s4n4l8p 100";
    check(&shogi, camp, ["win", ""], FIRST, Termination::Declaration);
    let adjudication = Adjudication { impasse: Impasse::TryRule, ..Adjudication::default() };
    let tries = GameSettings { adjudication, ..shogi };
    check(&tries, "9/4K4/9/9/9/9/9/9/3k5 b - 1", ["5b5a", ""], FIRST, Termination::TryRule);
}

#[test]
fn illegal_answers_lose_with_a_reason() {
    let check = |scripts: [&str; 2], winner, reason| {
        let result = game(&setting(Game::Chess), &Opening::default(), scripts.map(script));
        let Some(EndDetail::IllegalMove { reason: found, .. }) = result.end.detail else {
            panic!("{:?}", result.end)
        };
        assert_eq!((result.winner, found), (winner, reason));
        result.moves.len()
    };
    assert_eq!(check(["e2e5", ""], SECOND, IllegalReason::Unreachable), 0);
    assert_eq!(check(["e2e4", "e2e4"], FIRST, IllegalReason::EmptyOriginSquare), 1);
    assert_eq!(check(["e2e4", "0000"], FIRST, IllegalReason::InvalidMove), 1);
    assert_eq!(check(["bestmove (none)|", ""], SECOND, IllegalReason::InvalidMove), 0);
    assert_eq!(check(["bestmove pass|", ""], SECOND, IllegalReason::InvalidMove), 0);
}

#[test]
fn adjudicates_by_the_rules_of_the_plan() {
    let at = |score: &str, mv: &str| format!("info depth 1 score {score}|bestmove {mv}");
    let side = |scores: [&str; 2], moves: [&str; 2]| {
        [at(scores[0], moves[0]), at(scores[1], moves[1])].join(",")
    };
    let resign = Some(ResignAdjudication { moves: 2, score: 500, two_sided: true });
    let draw = Some(DrawAdjudication { from_move: 1, moves: 2, score: 10 });
    let adjudication = Adjudication { draw, resign, ..Adjudication::default() };
    let chess = GameSettings { adjudication, ..setting(Game::Chess) };
    let (white, black) = (["g1f3", "f3g1"], ["g8f6", "f6g8"]);
    let scripts = [side(["cp -600", "cp -700"], white), side(["cp 800", "mate 4"], black)];
    let [first, second] = scripts.each_ref().map(String::as_str);
    check(&chess, "", [first, second], SECOND, Termination::ResignAdjudication);
    let scripts = [side(["cp 600", "cp 700"], white), side(["cp -800", "mate -4"], black)];
    let [first, second] = scripts.each_ref().map(String::as_str);
    check(&chess, "", [first, second], FIRST, Termination::ResignAdjudication);
    let scripts = [side(["cp 0", "cp 9"], white), side(["cp -9", "cp 1"], black)];
    let [first, second] = scripts.each_ref().map(String::as_str);
    check(&chess, "", [first, second], None, Termination::DrawAdjudication);
    let adjudication = Adjudication { max_moves: Some(1), ..Adjudication::default() };
    let short = GameSettings { adjudication, ..setting(Game::Chess) };
    check(&short, "", ["g1f3", "g8f6"], None, Termination::MoveLimit);
}

/// A game of two plans in which the second side reports `score` and the first one then resigns.
fn answered(plans: &[EnginePlan; 2], score: &str) -> MatchGame {
    let second = format!("info depth 1 score {score} pv e7e5|bestmove e7e5");
    let first = "info depth 1 score cp 30 pv e2e4|bestmove e2e4, resign";
    game_of(&setting(Game::Chess), &Opening::default(), plans, [first, &second].map(script))
}

#[test]
fn trusts_mate_scores_if_the_plan_does() {
    let nodes = Limits { nodes: Some(1), ..Limits::default() };
    let plans = |trusted| {
        ["a", "b"].map(|name| EnginePlan { trust_mates: trusted == name, ..plan(name, nodes) })
    };
    let check = |trusted, score, end: Termination| {
        let result = answered(&plans(trusted), score);
        assert_eq!((result.winner, result.end.termination), (SECOND, end), "{trusted} {score}");
    };
    check("b", "mate 5", Termination::MateAdjudication);
    check("b", "mate -5", Termination::Resignation);
    check("b", "cp 31000", Termination::Resignation);
    check("a", "mate 5", Termination::Resignation);
}

#[test]
fn converts_scores_from_the_point_of_view_of_white() {
    let nodes = Limits { nodes: Some(1), ..Limits::default() };
    let plans = ["a", "b"].map(|name| EnginePlan { whitepov: true, ..plan(name, nodes) });
    for (score, own) in [
        ("cp 600", Score::Cp(-600)),
        ("mate 3", Score::MatedIn { plies: 5 }),
        ("mate -3", Score::MateIn { plies: 6 }),
    ] {
        let scores: Vec<_> = answered(&plans, score).moves.iter().map(|mv| mv.score).collect();
        assert_eq!(scores, [Some(Score::Cp(30)), Some(own)]);
    }
}

#[test]
fn stores_search_info() {
    let first = "info depth 7 seldepth 9 multipv 1 score mate 2 nodes 55 nps 66 hashfull 77 \
                 tbhits 88 time 99 pv f2f3 e7e5|bestmove f2f3, g2g4";
    let second = "info depth 3 score cp 25 upperbound pv e7e5|bestmove e7e5, d8h4";
    let limits = Limits { tc: "10+1".parse().ok(), ..Limits::default() };
    let plans = ["a", "b"].map(|name| plan(name, limits));
    let chess = setting(Game::Chess);
    let result = game_of(&chess, &Opening::default(), &plans, [first, second].map(script));
    let [record, bound, ..] = result.moves.as_slice() else { panic!("{result:?}") };
    let left = record.left_ms.expect("a clock");
    assert!((1_000..=11_000).contains(&left), "{left}");
    assert!(record.time_us < 10_000_000);
    let expected = MoveRecord {
        mv: "f2f3".parse().expect("a move"),
        time_us: record.time_us,
        left_ms: record.left_ms,
        score: Some(Score::MateIn { plies: 3 }),
        depth: Some(7),
        seldepth: Some(9),
        nodes: Some(55),
        nps: Some(66),
        hashfull: Some(77),
        tbhits: Some(88),
        reported_time_ms: Some(99),
        pv: ["f2f3", "e7e5"].into_iter().collect(),
        ponder_hit: false,
        lines: Vec::new(),
    };
    assert_eq!(*record, expected);
    assert_eq!(bound.score, Some(Score::Cp(25)));
}

#[test]
fn sends_the_opening_and_stores_only_later_moves() {
    let opening = Opening {
        position: Some("4k3/8/8/8/8/8/8/4K2R w K - 0 1".to_owned()),
        moves: vec!["e1h1".to_owned(), "e8d7".to_owned()],
        ..Opening::default()
    };
    let plan = plan("a", Limits { depth: Some(1), ..Limits::default() });
    let (mut first, received) = player(Game::Chess, 0, &plan, script("f1f8, e2e4"));
    let (mut second, _received) = player(Game::Chess, 1, &plan, script("0000"));
    let result = play(&setting(Game::Chess), &opening, &mut first, &mut second);
    assert_eq!(moves_of(&result), ["f1f8"]);
    let received: Vec<_> =
        received.try_iter().filter(|line| line.starts_with("position")).collect();
    assert_eq!(received, ["position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1 moves e1g1 e8d7"]);
}

/// A UCI engine plays shogi with a USI engine: each uses its own notation.
#[test]
fn plays_shogi_across_protocols() {
    let limits = Limits { tc: "60+1".parse().ok(), ..Limits::default() };
    let uci = speaking(Protocol::Uci, plan("uci", limits));
    let mut script_of_uci =
        script("info depth 2 score mate 1 pv c3c4 g7g6|bestmove c3c4, b2h8+, B@e5");
    "option name UCI_Variant type combo default chess var chess var shogi"
        .clone_into(&mut script_of_uci.handshake);
    let (mut first, received) = player(Game::Shogi, 0, &uci, script_of_uci);
    let usi = plan("usi", limits);
    let (mut second, received_by_second) =
        player(Game::Shogi, 1, &usi, script("3c3d, 3a2b, resign"));
    let sfen = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 3";
    let opening = Opening { position: Some(sfen.to_owned()), ..Opening::default() };
    let result = play(&setting(Game::Shogi), &opening, &mut first, &mut second);
    assert_eq!((result.winner, result.end.termination), (FIRST, Termination::Resignation));
    assert_eq!(moves_of(&result), ["7g7f", "3c3d", "8h2b+", "3a2b", "B*5e"]);
    assert!(result.moves[0].pv.tokens().eq(["7g7f", "3c3d"]));
    assert_eq!(result.moves[0].score, Some(Score::MateIn { plies: 1 }));
    let received: Vec<_> = received.try_iter().collect();
    let has = |line: &str| {
        assert!(received.iter().any(|command| command == line), "{line}: {received:#?}");
    };
    has("setoption name UCI_Variant value shogi");
    has("position fen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL[] w - - 0 2 \
         moves c3c4 g7g6");
    assert!(
        received
            .iter()
            .any(|command| command.starts_with("go wtime 61000 btime 61000 winc 1000 binc 1000"))
    );
    // `gameover` is not awaited: the end of the engine flushes its input.
    drop(second);
    let received: Vec<_> = received_by_second.iter().collect();
    let has = |line: &str| {
        assert!(received.iter().any(|command| command == line), "{line}: {received:#?}");
    };
    has("position sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 3 moves 7g7f");
    has("gameover lose");
}

#[test]
fn rejects_usi_for_chess() {
    let usi = speaking(Protocol::Usi, plan("usi", Limits { nodes: Some(1), ..Limits::default() }));
    let uci = EnginePlan { protocol: None, ..usi.clone() };
    let result =
        game_of(&setting(Game::Chess), &Opening::default(), &[uci, usi], ["", ""].map(script));
    assert_eq!(result.winner, FIRST);
    assert_eq!(start_failure(&result), Some(EngineFailureKind::UnsupportedGame));
}

fn start_failure(result: &MatchGame) -> Option<EngineFailureKind> {
    assert_eq!(result.end, Termination::EngineStartFailure);
    result.end.failure().map(|failure| failure.kind.clone())
}

fn pondering(reply: &str) -> (MatchGame, Vec<String>) {
    let limits = Limits { tc: "60+1".parse().ok(), ..Limits::default() };
    let plan = EnginePlan { ponder: true, ..plan("a", limits) };
    let mut acts = script("bestmove e2e4 ponder e7e5|, bestmove g1f3 ponder e2e4|, 0000");
    "option name Ponder type check default false".clone_into(&mut acts.handshake);
    let ponders = acts.ponders.clone();
    let (mut first, received) = player(Game::Chess, 0, &plan, acts);
    let acts = Script { ponders, ..script(&format!("!ponder|bestmove {reply}, 0000")) };
    let (mut second, _received) = player(Game::Chess, 1, &plan, acts);
    let result = play(&setting(Game::Chess), &Opening::default(), &mut first, &mut second);
    drop(first);
    (result, received.try_iter().collect())
}

#[test]
fn ponders_until_the_opponent_moves() {
    let (result, received) = pondering("e7e5");
    assert_eq!(moves_of(&result), ["e2e4", "e7e5", "g1f3"]);
    let hits: Vec<_> = result.moves.iter().map(|made| made.ponder_hit).collect();
    assert_eq!(hits, [false, false, true]);
    let illegal = WarningKind::ProtocolViolation { cause: Rule::IllegalBestMove };
    let warnings: Vec<_> = result.warnings.iter().map(|warning| &warning.kind).collect();
    assert!(warnings.contains(&&illegal), "{warnings:?}");
    let mut after = received.iter().skip_while(|line| !line.starts_with("go ponder")).skip(1);
    assert!(
        received.iter().any(|line| line == "setoption name Ponder value true"),
        "{received:#?}"
    );
    assert_eq!(after.next().map(String::as_str), Some("ponderhit"), "{received:#?}");
    assert!(
        received.iter().any(|line| line == "position startpos moves e2e4 e7e5"),
        "{received:#?}"
    );
}

/// lichess-bot#702: an engine crashes at `go ponder` in a mated position.
#[test]
fn nothing_is_pondered_on_after_mate() {
    let limits = Limits { tc: "60+1".parse().ok(), ..Limits::default() };
    let plan = EnginePlan { ponder: true, ..plan("a", limits) };
    let mut acts = script("bestmove g2g4 ponder d8h4, 0000");
    "option name Ponder type check default false".clone_into(&mut acts.handshake);
    let (mut first, received) = player(Game::Chess, 0, &plan, acts);
    let (mut second, _received) = player(Game::Chess, 1, &plan, script("d8h4, 0000"));
    let moves = ["f2f3", "e7e5"].map(str::to_owned).to_vec();
    let opening = Opening { moves, ..Opening::default() };
    let result = play(&setting(Game::Chess), &opening, &mut first, &mut second);
    drop(first);
    assert_eq!(result.end, Termination::Checkmate);
    let received: Vec<_> = received.try_iter().collect();
    assert!(!received.iter().any(|line| line.starts_with("go ponder")), "{received:#?}");
}

#[test]
fn searches_again_after_a_ponder_miss() {
    let (result, received) = pondering("c7c5");
    // The script of the pondering search is used up, and the next answer is not a move.
    assert_eq!(moves_of(&result), ["e2e4", "c7c5"]);
    assert!(matches!(result.end.termination, Termination::IllegalMove), "{:?}", result.end);
    let line = |text: &str| received.iter().position(|line| line == text);
    let (stop, position) = (line("stop"), line("position startpos moves e2e4 c7c5"));
    assert!(stop.is_some() && stop < position, "{received:#?}");
    assert!(!received.iter().any(|line| line == "ponderhit"));
}

#[test]
fn registers_an_engine_without_storing_the_registration() {
    let with = Register::With { name: Some("Stefan MK".into()), code: Some("4359".into()) };
    let limits = Limits { nodes: Some(1), ..Limits::default() };
    let plan = EnginePlan { registration: Some(with), ..plan("first", limits) };
    let stored = serde_json::to_string(&plan).expect("a plan is representable");
    assert!(!stored.contains("4359") && !stored.contains("Stefan"), "{stored}");
    let mut acts = script("0000");
    "registration error".clone_into(&mut acts.handshake);
    let (mut first, received) = player(Game::Chess, 0, &plan, acts);
    let (mut second, _received) = player(Game::Chess, 1, &plan, script("0000"));
    play(&setting(Game::Chess), &Opening::default(), &mut first, &mut second);
    drop(first);
    let received: Vec<String> = received.try_iter().collect();
    let sent = received.iter().filter(|line| line.starts_with("register")).collect::<Vec<_>>();
    assert_eq!(sent, ["register name Stefan MK code 4359"], "{received:#?}");
}

#[test]
fn warns_about_unexpected_behavior() {
    let check = |first: &str, kinds: &[WarningKind]| {
        let chess = GameSettings { pv_check: PvCheck::Moves, ..setting(Game::Chess) };
        let fine = "info depth 1 score cp 1 pv e7e5|bestmove e7e5, 0000";
        let scripts = [&format!("{first}, 0000"), fine].map(script);
        let result = game(&chess, &Opening::default(), scripts);
        let found: Vec<_> = result.warnings.into_iter().map(|warning| warning.kind).collect();
        assert_eq!(found, kinds, "{first}");
    };
    let owned = |text: &str| text.to_owned();
    check("info depth 1 score cp 1 pv f2f3 e7e5|bestmove f2f3", &[]);
    check("f2f3", &[WarningKind::MoveWithoutScore]);
    check(
        "info string license expired|registration error|info depth 1 score cp 1 pv f2f3|bestmove f2f3",
        &[WarningKind::Unregistered { message: owned("license expired") }],
    );
    check(
        "info depth 1 score cp 1 pv e2e4|bestmove f2f3",
        &[WarningKind::OtherPv { text: owned("e2e4") }],
    );
    check(
        "info depth 1 score cp 1 pv f2f3 e2e4|bestmove f2f3",
        &[WarningKind::IllegalPv { text: owned("e2e4") }],
    );
    check(
        "info depth 1 score cp 1 pv f2f3 e7e5 g2g4 d8h4 a2a3|bestmove f2f3",
        &[WarningKind::PvBeyondEnd { text: owned("a2a3"), termination: Termination::Checkmate }],
    );
    check(
        "info depth 1 score cp 1 pv f2f3 g8f6 b1c3 f6g8 c3b1 g8f6 b1c3 f6g8 c3b1 a7a6|bestmove f2f3",
        &[WarningKind::PvBeyondEnd { text: owned("a7a6"), termination: Termination::Repetition }],
    );
    check(
        "info depth 1 score mate 2 pv f2f3 e7e5 g2g4 d8h4|bestmove f2f3",
        &[WarningKind::WrongMateSign],
    );
    check("info depth 1 score mate -2 pv f2f3 e7e5 g2g4 d8h4|bestmove f2f3", &[]);
}

/// The rules that fastchess applies to PVs (`isGameOverSimple`): insufficient material does not end them, the fifty-move
/// rule does.
#[test]
fn a_pv_may_continue_after_insufficient_material() {
    let check = |pv: &str, kinds: &[WarningKind]| {
        let chess = GameSettings { pv_check: PvCheck::Moves, ..setting(Game::Chess) };
        let position = "4k3/8/8/8/8/8/3p4/4K3 w - - 0 1";
        let first = format!("info depth 1 score cp 0 pv {pv}|bestmove e1d2");
        let result = check(&chess, position, [&first, ""], None, Termination::InsufficientMaterial);
        let found: Vec<_> = result.warnings.into_iter().map(|warning| warning.kind).collect();
        assert_eq!(found, kinds, "{pv}");
    };
    let owned = |text: &str| text.to_owned();
    check("e1d2 e8e7 d2e2", &[]);
    check("e1d2 e8e8", &[WarningKind::IllegalPv { text: owned("e8e8") }]);
    let cycle = "e8e7 d2e2 e7e8 e2d2";
    check(&format!("e1d2 {}", [cycle; 25].join(" ")), &[]);
    check(
        &format!("e1d2 {} e8e7", [cycle; 25].join(" ")),
        &[WarningKind::PvBeyondEnd {
            text: owned("e8e7"),
            termination: Termination::FiftyMoveRule,
        }],
    );
}

#[test]
fn reports_a_copy_protection_error_with_the_text_of_the_engine() {
    let score = "info depth 1 score cp 1 pv e2e4";
    let first = format!("{score}|info string no dongle|copyprotection error|bestmove e2e4, g1f3");
    let scripts = [&*first, "info depth 1 score cp 1 pv e7e5|bestmove e7e5, b8c6"].map(script);
    let result = game(&setting(Game::Chess), &Opening::default(), scripts);
    assert_eq!(result.winner, Some(Side::Second));
    let text = result.end.to_string();
    assert!(text.contains("reported a copy protection error: `no dongle`"), "{text}");
    assert_eq!(start_failure(&result), Some(EngineFailureKind::CopyProtected));
}

#[test]
fn warns_about_mate_scores_with_other_pvs() {
    let check = |first: &str, kinds: &[WarningKind]| {
        let chess = GameSettings { pv_check: PvCheck::Mate, ..setting(Game::Chess) };
        let fine = "info depth 1 score cp 1 pv e7e5|bestmove e7e5, 0000";
        let line = format!("info depth 1 score mate {first}");
        let scripts = [&format!("{line}|bestmove f2f3, 0000"), fine].map(script);
        let warnings = game(&chess, &Opening::default(), scripts).warnings;
        let found: Vec<_> = warnings.iter().map(|warning| warning.kind.clone()).collect();
        assert_eq!(found, kinds, "{first}");
        assert!(warnings.iter().all(|warning| warning.line.as_ref() == Some(&line)));
    };
    check("-2 pv f2f3 e7e5 g2g4 d8h4", &[]);
    let length = |plies, found| WarningKind::MatePvLength { plies, found };
    check("-3 pv f2f3 e7e5 g2g4 d8h4", &[length(6, 4)]);
    check("-1 pv f2f3 e7e5 g2g4 d8h4", &[length(2, 4)]);
    check("-2 pv f2f3 e7e5 g2g4 d8g5", &[WarningKind::MatePvWithoutMate]);
    check("-2 lowerbound pv f2f3", &[]);
}

#[test]
fn stores_matching_lines() {
    let keep_lines =
        ["^info string", "score .* pv", "nothing"].map(|text| text.parse().expect(text));
    let chess = GameSettings { keep_lines: keep_lines.to_vec(), ..setting(Game::Chess) };
    let first =
        "info string one|info string two|info depth 1 score cp 1 pv f2f3|bestmove f2f3, 0000";
    let scripts = [first, "info depth 1 score cp 1|bestmove e7e5, 0000"].map(script);
    let result = game(&chess, &Opening::default(), scripts);
    let lines: Vec<_> = result.moves.iter().map(|made| made.lines.clone()).collect();
    assert_eq!(lines[0], ["info string two", "info depth 1 score cp 1 pv f2f3"]);
    assert_eq!(lines[1], [""; 0]);
    assert_eq!(result.engines[0].hash.as_deref(), Some("16"), "{:?}", result.engines);
}

#[test]
fn sets_options_and_warns_about_unknown_ones() {
    let limits = Limits { nodes: Some(1), ..Limits::default() };
    let with = |name: &str, value: &str| EnginePlan {
        options: [(name.to_owned(), value.to_owned())].into(),
        ..plan("a", limits)
    };
    let game = |plan: &EnginePlan| {
        let (mut first, received) = player(Game::Chess, 0, plan, script("0000"));
        let (mut second, _received) = player(Game::Chess, 1, &self::plan("b", limits), script(""));
        let results = [(); 2]
            .map(|()| play(&setting(Game::Chess), &Opening::default(), &mut first, &mut second));
        (results, received.try_iter().any(|line| line == "setoption name Hash value 32"))
    };
    let (results, received) = game(&with("Hash", "32"));
    assert!(received && results.iter().all(|result| result.warnings.is_empty()), "{results:?}");
    let ([result, _], _) = game(&with("Hsah", "32"));
    let unknown = WarningKind::UnsettableOption { name: "Hsah".to_owned() };
    assert_eq!(result.warnings.first().map(|warning| &warning.kind), Some(&unknown));
    // An invalid option value does not lose the game.
    let ([result, _], received) = game(&with("Hash", "9999"));
    let warning = result.warnings.first().map(|warning| &warning.kind);
    let Some(WarningKind::OptionNotSet { cause, .. }) = warning else { panic!("{result:?}") };
    let OptionError::OutOfRange { option, value: 9999, .. } = &cause else { panic!("{cause}") };
    assert!(!received && option == "Hash", "{result:?}");
    assert!(!matches!(result.end.termination, Termination::EngineStartFailure), "{result:?}");
}

/// Working directory and environment.
#[cfg(unix)]
#[test]
fn starts_a_program_in_the_directory_and_environment_of_the_plan() {
    let directory = TempDir::new().expect("a directory");
    std::fs::write(directory.path().join("half"), "f3").expect("it can be written");
    let limits = Limits { nodes: Some(1), ..Limits::default() };
    let text = "while read -r name rest; do case $name in uci) echo uciok;; isready) echo readyok;; \
                go) echo bestmove $HALF$(cat half);; quit) exit;; esac; done";
    let shell = EnginePlan {
        command: "sh".to_owned(),
        args: vec!["-c".to_owned(), text.to_owned()],
        dir: Some(directory.path().display().to_string()),
        env: [("HALF".to_owned(), "f2".to_owned())].into(),
        ..plan("shell", limits)
    };
    let mut first = Player::new(Game::Chess, EngineId(0), &shell, timeouts());
    let (mut second, _received) = player(Game::Chess, 1, &plan("b", limits), script("0000"));
    let result = play(&setting(Game::Chess), &Opening::default(), &mut first, &mut second);
    assert_eq!(moves_of(&result), ["f2f3"], "{:?}", result.end);
}

#[test]
fn a_cancelled_game_ends_immediately() {
    let limits = Limits { depth: Some(1), ..Limits::default() };
    let chess = GameSettings::new(Game::Chess);
    let cancel = Cancel::default();
    // After a move.
    let (mut first, _received) = player(Game::Chess, 0, &plan("a", limits), script("e2e4"));
    let (mut second, received) = player(Game::Chess, 1, &plan("b", limits), script("!hang"));
    let canceller = cancel.clone();
    let mut on_move = |_: &_, _: &_| canceller.cancel();
    let opening = Opening::default();
    let players = [&mut first, &mut second];
    let result = play_game(&chess, &opening, players, &cancel, &mut on_move).expect("a start");
    assert_eq!((result.winner, result.end.termination), (None, Termination::Aborted));
    // During a search that would never end.
    let cancel = Cancel::default();
    let canceller = cancel.clone();
    let thread = std::thread::spawn(move || {
        let went = received.into_iter().any(|line| line.starts_with("go"));
        canceller.cancel();
        went
    });
    let players = [&mut first, &mut second];
    let result = play_game(&chess, &opening, players, &cancel, &mut |_, _| ()).expect("a start");
    assert_eq!((result.winner, result.end.termination), (None, Termination::Aborted));
    assert!(thread.join().expect("it ends"));
    // Before the start.
    let players = [&mut first, &mut second];
    let result = play_game(&chess, &opening, players, &cancel, &mut |_, _| ()).expect("a start");
    assert_eq!((result.moves.len(), result.end.termination), (0, Termination::Aborted));
}

#[test]
fn an_answer_without_a_move_loses_immediately() {
    for answer in
        ["bestmove|", "info depth 1 score cp 1|bestmove ", "bestmove Nf3|", "bestmove e9e4|"]
    {
        let result =
            game(&setting(Game::Chess), &Opening::default(), [script(answer), script("e7e5")]);
        assert_eq!(result.end, Termination::IllegalMove, "{answer}: {result:?}");
        assert_eq!(result.winner, Some(Side::Second), "{answer}");
    }
    let result =
        game(&setting(Game::Chess), &Opening::default(), [script("bestmove|"), script("")]);
    assert_eq!(result.end.illegal_text(), Some(""));
    assert_eq!(result.end.to_string(), "sends `bestmove` without a move");
}

/// The settings of `--fastchess`.
fn as_fastchess() -> GameSettings {
    let adjudication = Adjudication { as_fastchess: true, ..Adjudication::default() };
    GameSettings { adjudication, pv_check: PvCheck::Mate, ..setting(Game::Chess) }
}

#[test]
fn upper_case_moves_are_illegal_only_as_in_fastchess() {
    let scripts = || [script("E2E4, d2d4"), script("e7e5, resign")];
    let result = game(&setting(Game::Chess), &Opening::default(), scripts());
    assert_eq!((result.moves.len(), &result.end.termination), (3, &Termination::Resignation));
    let result = game(&as_fastchess(), &Opening::default(), scripts());
    assert_eq!(result.end.illegal_text(), Some("E2E4"));
    assert_eq!(result.winner, Some(Side::Second));
}

fn kinds(result: &MatchGame) -> Vec<&WarningKind> {
    result.warnings.iter().map(|warning| &warning.kind).collect()
}

#[test]
fn checks_the_mating_pv_of_every_line() {
    let lines = "info depth 1 score mate 2 pv e2e4|info depth 2 score mate 2 pv e2e4 e7e5|\
                 info depth 3 score cp 10 pv e2e4|bestmove e2e4";
    let scripts = || [script(&format!("{lines}, resign")), script("e7e5")];
    let result = game(&as_fastchess(), &Opening::default(), scripts());
    let expected = [1, 2].map(|found| WarningKind::MatePvLength { plies: 3, found });
    assert_eq!(kinds(&result)[..2], [&expected[0], &expected[1]]);
    let lines: Vec<_> = result.warnings.iter().map(|warning| warning.line.as_deref()).collect();
    assert_eq!(lines[1], Some("info depth 2 score mate 2 pv e2e4 e7e5"));
    // Otherwise a kind of warning is not repeated for each line of a search.
    let setting = GameSettings { pv_check: PvCheck::Mate, ..setting(Game::Chess) };
    let result = game(&setting, &Opening::default(), scripts());
    assert_eq!(kinds(&result)[0], &expected[0]);
    assert!(!matches!(kinds(&result)[1], WarningKind::MatePvLength { .. }), "{result:?}");
}

#[test]
fn reports_mate_scores_that_contradict_each_other() {
    let first = "info depth 1 score mate 3 pv e2e4|bestmove e2e4";
    let second = "info depth 1 score mate 2 pv e7e5|bestmove e7e5";
    let scripts = [script(&format!("{first}, resign")), script(second)];
    let setting = GameSettings { pv_check: PvCheck::Moves, ..as_fastchess() };
    let result = game(&setting, &Opening::default(), scripts);
    let [warning] = result.warnings.as_slice() else { panic!("{result:?}") };
    assert_eq!(warning.kind, WarningKind::MateScoreConflict { opponent: 3, own: 2 });
    assert_eq!((warning.side, warning.ply), (Side::Second, 1));
    let lines = "info depth 1 score mate 3 pv e2e4 ; info depth 1 score mate 2 pv e7e5";
    assert_eq!(warning.line.as_deref(), Some(lines));
}

#[test]
fn an_engine_that_does_not_answer_a_ping_between_moves_stalls() {
    // A hanging engine does not read the `isready` before its next move.
    let stalls = "bestmove e2e4|!hang";
    let ping = Some(WaitLimit::fixed(Duration::from_millis(50)));
    let setting = GameSettings { ping, ..setting(Game::Chess) };
    let result = game(&setting, &Opening::default(), [script(stalls), script("e7e5")]);
    assert_eq!(result.end, Termination::EngineStall, "{result:?}");
    assert_eq!((result.winner, result.moves.len()), (Some(Side::Second), 2));
}

/// The engine reads the moves of a long game before its clock starts with `go`.
#[test]
fn a_position_is_sent_before_isready_if_a_clock_runs() {
    let received = |limits: Limits| {
        let [one, other] = ["first", "second"].map(|name| plan(name, limits));
        let (mut first, lines) = player(Game::Chess, 0, &one, script("f2f3, g2g4"));
        let (mut second, _received) = player(Game::Chess, 1, &other, script("e7e5, d8h4"));
        play(&setting(Game::Chess), &Opening::default(), &mut first, &mut second);
        drop(first);
        let lines: Vec<String> =
            lines.try_iter().skip_while(|line| !line.starts_with("go")).collect();
        let tokens = lines.iter().filter_map(|line| line.split(' ').next().map(str::to_owned));
        tokens.take(4).collect::<Vec<_>>()
    };
    let clock = Limits { tc: Some("60+1".parse().expect("a time control")), ..Limits::default() };
    assert_eq!(received(clock), ["go", "position", "isready", "go"]);
    let nodes = Limits { nodes: Some(1), ..Limits::default() };
    assert_eq!(received(nodes)[..3], ["go", "position", "go"]);
}
