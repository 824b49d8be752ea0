//! The lines of fastchess that scripts parse.

use readyok_arena::fastchess::text::{self, GameOver};
use readyok_arena::queue::WarningContext;
use readyok_arena::result::{EngineFailure, GameEnd, WarningKind};
use readyok_protocol::Rule;
use readyok_rules::{Game, IllegalReason, Side, Termination};

#[test]
fn prints_starts_and_results_of_games() {
    assert_eq!(text::started(3, 200, "new", "base"), "Started game 3 of 200 (new vs base)");
    let end = &Termination::Checkmate.into();
    let mate = GameOver { game: Game::Chess, winner: Some(Side::Second), end };
    let line = text::finished(4, "base", "new", &mate);
    assert_eq!(line, "Finished game 4 (base vs new): 0-1 {Black mates}");
}

#[test]
fn prints_the_termination_of_games() {
    let check_end = |winner, end: GameEnd, score: &str, why: &str| {
        let over = GameOver { game: Game::Chess, winner, end: &end };
        assert_eq!((over.score(), over.reason().as_str()), (score, why));
    };
    let check = |winner, termination: Termination, score: &str, why: &str| {
        check_end(winner, termination.into(), score, why);
    };
    let (white, black) = (Some(Side::First), Some(Side::Second));
    check(white, Termination::Checkmate, "1-0", "White mates");
    check(None, Termination::Stalemate, "1/2-1/2", "Draw by stalemate");
    check(None, Termination::Repetition, "1/2-1/2", "Draw by 3-fold repetition");
    check(None, Termination::FiftyMoveRule, "1/2-1/2", "Draw by fifty moves rule");
    let bare = Termination::InsufficientMaterial;
    check(None, bare, "1/2-1/2", "Draw by insufficient mating material");
    check(None, Termination::DrawAdjudication, "1/2-1/2", "Draw by adjudication");
    check(None, Termination::MoveLimit, "1/2-1/2", "Draw by adjudication");
    check(black, Termination::ResignAdjudication, "0-1", "Black wins by adjudication");
    let claim = "White wins by adjudication: trusted mate score";
    check(white, Termination::MateAdjudication, "1-0", claim);
    check(white, Termination::TablebaseAdjudication, "1-0", "White wins by adjudication: SyzygyTB");
    check(None, Termination::TablebaseAdjudication, "1/2-1/2", "Draw by adjudication: SyzygyTB");
    let late = GameEnd::time_forfeit(12_900);
    check_end(black, late, "0-1", "White loses on time (12ms overrun)");
    let illegal = GameEnd::illegal_move("a1a1", "startpos", IllegalReason::EmptyOriginSquare);
    check_end(white, illegal, "1-0", "Black makes an illegal move");
    check_end(white, crate::sample::crash(), "1-0", "Black disconnects");
    check_end(black, GameEnd::stall(5), "0-1", "White's connection stalls");
    check(None, Termination::Aborted, "*", "Game interrupted");
}

#[test]
fn the_first_player_is_black_in_shogi() {
    let check = |winner, termination: Termination, why: &str| {
        let over = GameOver { game: Game::Shogi, winner, end: &termination.into() };
        assert_eq!(over.reason(), why);
    };
    check(Some(Side::First), Termination::Checkmate, "Black mates");
    check(None, Termination::Repetition, "Draw by 4-fold repetition");
    check(Some(Side::Second), Termination::PerpetualCheck, "Black gives perpetual check");
}

#[test]
fn warnings_contain_position_and_moves() {
    let check = |kind: WarningKind, expected: &str| {
        let context = WarningContext {
            kind,
            line: Some("info depth 1 pv e2e4".to_owned()),
            position: None,
            moves: vec!["d2d4".to_owned(), "d7d5".to_owned()],
            played: Some("c2c4".to_owned()),
        };
        let text = text::warning("new", &context, true);
        let more = " :: Info; info depth 1 pv e2e4 :: Position; startpos :: Moves; d2d4 d7d5";
        assert_eq!(text, format!("Warning; {expected}{more}"));
        assert_eq!(text::warning("new", &context, false), text.replace(" :: ", "\n"));
    };
    let token = || "e2e4".to_owned();
    check(WarningKind::IllegalPv { text: token() }, "Illegal PV move - move e2e4 from new");
    let beyond = |end| WarningKind::PvBeyondEnd { text: token(), termination: end };
    for (end, text) in [
        (Termination::Checkmate, "checkmate"),
        (Termination::Stalemate, "stalemate"),
        (Termination::Repetition, "threefold repetition"),
        (Termination::FiftyMoveRule, "fifty-move rule"),
        (Termination::PerpetualCheck, "perpetual check"),
    ] {
        check(beyond(end), &format!("PV continues after {text} - move e2e4 from new"));
    }
    let length = |plies, found| WarningKind::MatePvLength { plies, found };
    check(length(3, 2), "Incomplete mating PV - from new");
    check(length(3, 4), "Too long mating PV - from new");
    let other = WarningKind::OtherPv { text: token() };
    check(other, "Bestmove does not match beginning of last PV - move c2c4 from new");
}

/// The parser of fishtest counts each line with one of these terms as a crash or a loss on time (`worker/games.py`,
/// `parse_fastchess_output`), and that of OpenBench ends at a character outside ASCII (`Client/worker.py`,
/// `run_and_parse_runner`).
#[test]
fn only_results_contain_the_terms_that_workers_count() {
    const COUNTED: [&str; 4] = ["disconnect", "stall", "on time", "timeout"];
    let failure = |text: &str| Box::new(EngineFailure::other(text));
    let rules = Rule::ALL.map(|cause| WarningKind::ProtocolViolation { cause });
    let kinds = rules.into_iter().chain([
        WarningKind::HostOverloaded { percent: 150 },
        WarningKind::Restarted { cause: failure("disconnected after a timeout, §1") },
        WarningKind::Unregistered { message: "it stalls".to_owned() },
        WarningKind::WrongMateSign,
    ]);
    for kind in kinds {
        let context =
            WarningContext { kind, line: None, position: None, moves: Vec::new(), played: None };
        let text = text::warning("new", &context, false);
        assert!(text.starts_with("Warning; new: ") && text.is_ascii(), "{text}");
        assert!(!COUNTED.iter().any(|term| text.contains(term)), "{text}");
    }
}
