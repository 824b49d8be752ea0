//! Ends of games on the board and by answers, for both sides.

use std::time::Duration;

use readyok_arena::game::{Answer, Decision, OpeningError, Referee, Verdict};
use readyok_arena::pairing::Opening;
use readyok_arena::plan::{Adjudication, Impasse, Limits};
use readyok_arena::result::{EndDetail, GameEnd};
use readyok_rules::{Game, IllegalReason, Side, Termination};

const FIRST: Option<Side> = Some(Side::First);
const SECOND: Option<Side> = Some(Side::Second);

pub(crate) fn referee(game: Game, position: &str, rules: &Adjudication) -> Referee {
    let position = (!position.is_empty()).then(|| position.to_owned());
    let opening = Opening { position, ..Opening::default() };
    Referee::new(game, &opening, [Limits::default(); 2], rules, None).expect("an opening")
}

pub(crate) fn answer(mv: &str) -> Answer<'_> {
    match mv {
        "resign" => Answer::Resign,
        "win" => Answer::Declare,
        "(none)" => Answer::Other(mv),
        mv => Answer::Move(mv),
    }
}

/// Plays moves and returns the last verdict. Earlier moves must not end the game.
fn play(game: Game, position: &str, moves: &str, rules: &Adjudication) -> Verdict {
    let mut referee = referee(game, position, rules);
    let mut moves = moves.split_whitespace().peekable();
    while let Some(mv) = moves.next() {
        let verdict = referee.on_answer(answer(mv), Duration::ZERO, None);
        if moves.peek().is_none() {
            return verdict;
        }
        assert_eq!(verdict, Verdict::Continue, "{mv} of {position}");
    }
    panic!("there are no moves")
}

fn check(game: Game, position: &str, moves: &str, winner: Option<Side>, termination: Termination) {
    let verdict = play(game, position, moves, &Adjudication::default());
    assert_eq!(verdict, Verdict::Over(Decision { winner, end: termination.into() }), "{moves}");
}

fn check_impasse(rule: Impasse, sfen: &str, mv: &str, winner: Option<Side>, by: Termination) {
    let rules = Adjudication { impasse: rule, ..Adjudication::default() };
    let verdict = play(Game::Shogi, sfen, mv, &rules);
    assert_eq!(verdict, Verdict::Over(Decision { winner, end: by.into() }), "{rule:?}: {sfen}");
}

/// The time used by one side is added to the other clock, but the sum never grows.
#[test]
fn an_hourglass_transfers_time_to_the_opponent() {
    let seconds = Duration::from_secs;
    for (game, moves) in [
        (Game::Chess, ["e2e4", "e7e5", "g1f3", "b8c6"]),
        (Game::Shogi, ["7g7f", "3c3d", "2g2f", "8c8d"]),
    ] {
        let limits = Limits { tc: "hg10".parse().ok(), margin_ms: 2000, ..Limits::default() };
        let (opening, rules) = (Opening::default(), Adjudication::default());
        let mut referee =
            Referee::new(game, &opening, [limits; 2], &rules, None).expect("an opening");
        let mut check = |mv, took, left: [u64; 2]| {
            let verdict = referee.on_answer(Answer::Move(mv), seconds(took), None);
            assert_eq!(verdict, Verdict::Continue, "{mv}");
            let clocks = [Side::First, Side::Second].map(|side| referee.clock(side).left());
            assert_eq!(clocks, left.map(|left| Some(seconds(left))), "{mv}");
        };
        check(moves[0], 3, [7, 13]);
        check(moves[1], 5, [12, 8]);
        // An overrun within the margin is not added to the other clock.
        check(moves[2], 14, [0, 20]);
        check(moves[3], 0, [0, 20]);
        let verdict = referee.on_timeout(seconds(3));
        let termination = GameEnd::time_forfeit(3_000_000);
        assert_eq!(verdict, Verdict::Over(Decision { winner: SECOND, end: termination }));
    }
}

#[test]
fn mate_wins_in_chess() {
    let first = "e2e4 e7e5 f1c4 b8c6 d1h5 g8f6 h5f7";
    check(Game::Chess, "", first, FIRST, Termination::Checkmate);
    check(Game::Chess, "", "f2f3 e7e5 g2g4 d8h4", SECOND, Termination::Checkmate);
}

#[test]
fn stalemate_draws_in_chess() {
    let termination = Termination::Stalemate;
    check(Game::Chess, "7k/8/6Q1/8/8/8/8/K7 w - - 0 1", "g6f7", None, termination);
    check(Game::Chess, "k7/8/8/8/8/6q1/8/7K b - - 0 1", "g3f2", None, termination);
}

#[test]
fn threefold_repetition_draws_in_chess() {
    let knights = "g1f3 g8f6 f3g1 f6g8";
    let moves = format!("{knights} {knights}");
    check(Game::Chess, "", &moves, None, Termination::Repetition);
    let after_one = format!("e2e4 {} {}", "g8f6 g1f3 f6g8 f3g1", "g8f6 g1f3 f6g8 f3g1");
    check(Game::Chess, "", &after_one, None, Termination::Repetition);
}

#[test]
fn fifty_move_rule_draws_in_chess_unless_mate() {
    let termination = Termination::FiftyMoveRule;
    check(Game::Chess, "7k/8/8/8/8/8/8/K5R1 w - - 98 80", "a1a2 h8h7", None, termination);
    check(Game::Chess, "7k/8/8/8/8/8/8/K5R1 b - - 98 80", "h8h7 a1a2", None, termination);
    let mate = "7k/R7/8/8/8/8/8/K5R1 w - - 99 80";
    check(Game::Chess, mate, "g1h1", None, Termination::FiftyMoveRule);
    let mate = "7k/R7/8/8/8/8/8/KR6 w - - 99 80";
    check(Game::Chess, mate, "b1b8", FIRST, Termination::Checkmate);
}

#[test]
fn bare_kings_draw_in_chess() {
    let termination = Termination::InsufficientMaterial;
    check(Game::Chess, "7k/8/8/8/8/8/1r6/K7 w - - 0 1", "a1b2", None, termination);
    check(Game::Chess, "7K/8/8/8/8/8/1R6/k7 b - - 0 1", "a1b2", None, termination);
}

#[test]
fn mate_wins_in_shogi() {
    let position = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1";
    check(Game::Shogi, position, "G*5b", FIRST, Termination::Checkmate);
    let position = "4k4/9/9/9/9/9/4p4/9/4K4 w g 1";
    check(Game::Shogi, position, "G*5h", SECOND, Termination::Checkmate);
}

#[test]
fn stalemate_loses_in_shogi() {
    let position = "8k/6G2/9/9/9/6N2/9/9/4K4 b - 1";
    check(Game::Shogi, position, "3f2d", FIRST, Termination::Stalemate);
    let position = "4k4/9/9/2n6/9/9/9/2g6/K8 w - 1";
    check(Game::Shogi, position, "7d8f", SECOND, Termination::Stalemate);
}

/// Rules of the Japan Shogi Association: the fourth occurrence of a position with the same side to move and the same
/// pieces in hand is a draw.
#[test]
fn fourfold_repetition_draws_in_shogi() {
    let golds = "4i4h 4a4b 4h4i 4b4a";
    check(Game::Shogi, "", &[golds; 3].join(" "), None, Termination::Repetition);
    let golds = "4a4b 4i4h 4b4a 4h4i";
    let moves = format!("7g7f {}", [golds; 3].join(" "));
    check(Game::Shogi, "", &moves, None, Termination::Repetition);
}

/// Rules of the Japan Shogi Association: a side that gave check with every move between the four occurrences loses.
#[test]
fn perpetual_check_loses_in_shogi() {
    let position = "4k4/9/9/9/9/9/9/9/R3K4 b - 1";
    let cycle = "9a9b 5b5a 9b9a 5a5b";
    let moves = format!("9i9a+ 5a5b {} 9a9b 5b5a 9b9a", [cycle; 2].join(" "));
    check(Game::Shogi, position, &moves, SECOND, Termination::PerpetualCheck);
    let position = "r3k4/9/9/9/9/9/9/9/4K4 w - 1";
    let cycle = "9i9h 5h5i 9h9i 5i5h";
    let moves = format!("9a9i+ 5i5h {} 9i9h 5h5i 9h9i", [cycle; 2].join(" "));
    check(Game::Shogi, position, &moves, FIRST, Termination::PerpetualCheck);
}

const CAMP: &str = "4K4/+P+P+P+P+P+P+P+P+P/4+P4/9/9/9/9/9/3k5 b";
const OTHER_CAMP: &str = "3K5/9/9/9/9/9/4+p4/+p+p+p+p+p+p+p+p+p/4k4 w";

/// A king in the camp with ten pawns and pieces in hand; the opponent has the remaining pieces.
fn declarable(camp: &str, hand: &str) -> String {
    let is_first = camp.ends_with('b');
    let mut rest = String::new();
    for (piece, count) in [('R', 2), ('B', 2), ('G', 4), ('S', 4), ('N', 4), ('L', 4), ('P', 8)] {
        let held = hand.chars().filter(|letter| *letter == piece).count();
        let piece = if is_first { piece.to_ascii_lowercase() } else { piece };
        rest.extend((held..count).map(|_| piece));
    }
    let own = if is_first { hand.to_owned() } else { hand.to_lowercase() };
    let hands = if is_first { own + &rest } else { rest + &own };
    format!("{camp} {hands} 100")
}

/// Rules of the Computer Shogi Association: 28 points for the first player, 27 for the second.
#[test]
fn declares_by_the_27_point_rule() {
    let check = |camp, hand, winner, termination| {
        check_impasse(Impasse::Points27, &declarable(camp, hand), "win", winner, termination);
    };
    check(CAMP, "RRBGGG", FIRST, Termination::Declaration);
    check(CAMP, "RRBGG", SECOND, Termination::FailedDeclaration);
    check(OTHER_CAMP, "RRBGG", SECOND, Termination::Declaration);
    check(OTHER_CAMP, "RRBG", FIRST, Termination::FailedDeclaration);
}

/// Rules of the Japan Shogi Association: 31 points win, 24 to 30 draw.
#[test]
fn declares_by_the_24_point_rule() {
    let check = |camp, hand, winner, termination| {
        check_impasse(Impasse::Points24, &declarable(camp, hand), "win", winner, termination);
    };
    check(CAMP, "RRBBG", FIRST, Termination::Declaration);
    check(CAMP, "RRBB", None, Termination::Impasse);
    check(CAMP, "RRGGGG", None, Termination::Impasse);
    check(CAMP, "RRGGG", SECOND, Termination::FailedDeclaration);
    check(OTHER_CAMP, "RRBBG", SECOND, Termination::Declaration);
    check(OTHER_CAMP, "RRBB", None, Termination::Impasse);
    check(OTHER_CAMP, "RRGGGG", None, Termination::Impasse);
    check(OTHER_CAMP, "RRGGG", FIRST, Termination::FailedDeclaration);
}

/// Rules of the Japan Shogi Association: in a handicap game, the side that gives the handicap also counts the removed
/// pieces; here a rook and a bishop, ten points.
#[test]
fn the_side_that_gives_a_handicap_counts_the_removed_pieces() {
    let check = |rule, camp, hand, winner, termination| {
        let even = declarable(camp, hand);
        let hands = even.strip_prefix(camp).expect("the camp comes first");
        let hands = match camp {
            CAMP => hands.replacen(['r', 'b'], "", 2),
            _ => hands.replacen(['R', 'B'], "", 2),
        };
        check_impasse(rule, &format!("{camp}{hands}"), "win", winner, termination);
    };
    let (won, wrong) = (Termination::Declaration, Termination::FailedDeclaration);
    check(Impasse::Points27, OTHER_CAMP, "GGGGSSS", SECOND, won);
    check(Impasse::Points27, OTHER_CAMP, "GGGGSS", FIRST, wrong);
    check(Impasse::Points24, OTHER_CAMP, "RGGGGSS", SECOND, won);
    check(Impasse::Points24, OTHER_CAMP, "RGGGGS", None, Termination::Impasse);
    check(Impasse::Points24, OTHER_CAMP, "GGGG", None, Termination::Impasse);
    check(Impasse::Points24, OTHER_CAMP, "GGG", FIRST, wrong);
    // The other side does not count them.
    check(Impasse::Points27, CAMP, "RBGGGGSSSS", FIRST, won);
    check(Impasse::Points27, CAMP, "RBGGGGSSS", SECOND, wrong);
    check(Impasse::Points24, CAMP, "RBGGGGSSSSNNN", FIRST, won);
    check(Impasse::Points24, CAMP, "RBGGGG", None, Termination::Impasse);
    check(Impasse::Points24, CAMP, "RBGGG", SECOND, wrong);
}

#[test]
fn a_declaration_requires_king_and_ten_pieces_in_the_camp_and_no_check() {
    let check = |sfen, winner| {
        let wrong = Termination::FailedDeclaration;
        check_impasse(Impasse::Points27, sfen, "win", winner, wrong);
    };
    check("9/+P+P+P+P+P+P+P+P+P/4+P4/4K4/9/9/9/9/4k4 b 2R2B4G 1", SECOND);
    check("4K4/9/9/9/9/4k4/4+p4/+p+p+p+p+p+p+p+p+p/9 w 2r2b4g 1", FIRST);
    check("4K4/+P+P+P+P+P+P+P+P+P/9/9/9/9/9/9/4k4 b 2R2B4G 1", SECOND);
    check("4K4/9/9/9/9/9/9/+p+p+p+p+p+p+p+p+p/4k4 w 2r2b4g 1", FIRST);
    check("r3K4/+P+P+P+P+P+P+P+P+P/4+P4/9/9/9/9/9/4k4 b R2B4G 1", SECOND);
    check("4K4/9/9/9/9/9/4+p4/+p+p+p+p+p+p+p+p+p/4k3R w r2b4g 1", FIRST);
}

#[test]
fn declarations_fail_without_a_rule() {
    // Next to the target square.
    let first = declarable(CAMP, "RRBBGGGG").replace("4K4/", "3K5/");
    let second = declarable(OTHER_CAMP, "RRBBGGGG").replace("4k4 w", "5k3 w");
    for rule in [Impasse::TryRule, Impasse::None] {
        check_impasse(rule, &first, "win", SECOND, Termination::FailedDeclaration);
        check_impasse(rule, &second, "win", FIRST, Termination::FailedDeclaration);
    }
}

#[test]
fn a_try_wins_only_under_the_try_rule() {
    let first = "9/4K4/9/9/9/9/9/9/3k5 b - 1";
    let second = "3K5/9/9/9/9/9/9/4k4/9 w - 1";
    check_impasse(Impasse::TryRule, first, "5b5a", FIRST, Termination::TryRule);
    check_impasse(Impasse::TryRule, second, "5h5i", SECOND, Termination::TryRule);
    let verdict = play(Game::Shogi, first, "5b5a", &Adjudication::default());
    assert_eq!(verdict, Verdict::Continue);
    // The king on another square, or another piece on the target square.
    let rules = Adjudication { impasse: Impasse::TryRule, ..Adjudication::default() };
    assert_eq!(play(Game::Shogi, first, "5b4a", &rules), Verdict::Continue);
    let gold = "9/4GK3/9/9/9/9/9/9/3k5 b - 1";
    assert_eq!(play(Game::Shogi, gold, "5b5a", &rules), Verdict::Continue);
}

#[test]
fn resignation_loses() {
    check(Game::Shogi, "", "resign", SECOND, Termination::Resignation);
    check(Game::Shogi, "", "7g7f resign", FIRST, Termination::Resignation);
    check(Game::Chess, "", "resign", SECOND, Termination::Resignation);
    check(Game::Chess, "", "e2e4 resign", FIRST, Termination::Resignation);
}

fn check_illegal(
    game: Game,
    position: &str,
    moves: &str,
    winner: Option<Side>,
    expected: IllegalReason,
) {
    let verdict = play(game, position, moves, &Adjudication::default());
    let Verdict::Over(Decision { winner: found, end }) = verdict else {
        panic!("{moves} is legal")
    };
    assert!(end.termination.is_failure());
    let Some(EndDetail::IllegalMove { text, position: _, reason }) = &end.detail else {
        panic!("{moves}: {end:?}")
    };
    assert_eq!((found, *reason), (winner, expected), "{moves}");
    assert_eq!(Some(text.as_str()), moves.split(' ').next_back(), "{moves}");
}

#[test]
fn illegal_moves_lose() {
    let chess = |fen, moves, winner, why| check_illegal(Game::Chess, fen, moves, winner, why);
    for (before, winner) in [("", SECOND), ("e2e4 ", FIRST)] {
        let check = |mv, why| {
            check_illegal(Game::Chess, "", &format!("{before}{mv}"), winner, why);
        };
        check("a4a5", IllegalReason::EmptyOriginSquare);
        check("0000", IllegalReason::InvalidMove);
        check("(none)", IllegalReason::InvalidMove);
        check("win", IllegalReason::InvalidMove);
    }
    chess("", "e2e5", SECOND, IllegalReason::Unreachable);
    chess("", "e2e4 e7e4", FIRST, IllegalReason::Unreachable);
    let check = IllegalReason::KingInCheck;
    chess("4r2k/8/8/8/8/8/4R3/4K3 w - - 0 1", "e2d2", SECOND, check);
    chess("4k3/4r3/8/8/8/8/8/4R2K b - - 0 1", "e7d7", FIRST, check);
}

#[test]
fn fouls_lose_in_shogi() {
    let shogi = |sfen, moves, winner, why| check_illegal(Game::Shogi, sfen, moves, winner, why);
    shogi("", "7g7e", SECOND, IllegalReason::Unreachable);
    shogi("", "7g7f 3c3e", FIRST, IllegalReason::Unreachable);
    let nifu = "4k4/9/9/9/9/9/4P4/9/4K4 b P 1";
    shogi(nifu, "P*5d", SECOND, IllegalReason::SecondPawnOnFile);
    let nifu = "4k4/9/4p4/9/9/9/9/9/4K4 w p 1";
    shogi(nifu, "P*5e", FIRST, IllegalReason::SecondPawnOnFile);
    let drop_mate = "8k/6G2/7G1/9/9/9/9/9/4K4 b P 1";
    shogi(drop_mate, "P*1b", SECOND, IllegalReason::PawnDropMate);
    let drop_mate = "4k4/9/9/9/9/9/1g7/2g6/K8 w p 1";
    shogi(drop_mate, "P*9h", FIRST, IllegalReason::PawnDropMate);
    let pinned = "4k4/4r4/9/9/9/9/9/4G4/4K4 b - 1";
    shogi(pinned, "5h4h", SECOND, IllegalReason::KingInCheck);
    let pinned = "4k4/4g4/9/9/9/9/9/4R4/4K4 w - 1";
    shogi(pinned, "5b6b", FIRST, IllegalReason::KingInCheck);
    let dead = "4k4/9/9/9/9/9/9/9/4K4 b N 1";
    shogi(dead, "N*9b", SECOND, IllegalReason::NoFurtherMove);
    let dead = "4k4/9/9/9/9/9/9/9/4K4 w n 1";
    shogi(dead, "N*1h", FIRST, IllegalReason::NoFurtherMove);
}

#[test]
fn shortens_illegal_moves_and_reports_the_position() {
    let long = "x".repeat(10_000);
    let mut referee = referee(Game::Chess, "", &Adjudication::default());
    referee.on_answer(Answer::Move("e2e4"), Duration::ZERO, None);
    let verdict = referee.on_answer(Answer::Other(&long), Duration::ZERO, None);
    let Verdict::Over(Decision { winner: FIRST, end }) = verdict else { panic!("legal") };
    let Some(EndDetail::IllegalMove { text, position, .. }) = end.detail else { panic!("legal") };
    assert!(text.chars().count() <= 41, "{text}");
    assert_eq!(position, "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
}

#[test]
fn stores_moves_in_canonical_notation() {
    let castles = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";
    for (game, mv, canonical) in [
        (Game::Chess, "e1h1", "e1g1"),
        (Game::Chess, "e1g1", "e1g1"),
        (Game::Chess960, "e1h1", "e1h1"),
    ] {
        let mut referee = referee(game, castles, &Adjudication::default());
        assert_eq!(referee.latest_move(), None);
        let verdict = referee.on_answer(Answer::Move(mv), Duration::ZERO, None);
        assert_eq!(verdict, Verdict::Continue);
        assert_eq!(referee.latest_move().as_deref(), Some(canonical));
    }
}

#[test]
fn rejects_invalid_openings() {
    let start = |position: &str, moves: &[&str]| {
        let moves = moves.iter().map(|&mv| mv.to_owned()).collect();
        let opening = Opening { position: Some(position.to_owned()), moves, ..Opening::default() };
        let limits = [Limits::default(); 2];
        Referee::new(Game::Chess, &opening, limits, &Adjudication::default(), None).err()
    };
    assert!(matches!(start("8/8/8 w", &[]), Some(OpeningError::Position(_))));
    let usual = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    assert!(matches!(start(usual, &["e2e5"]), Some(OpeningError::Moves(_))));
    let mated = start(usual, &["f2f3", "e7e5", "g2g4", "d8h4"]);
    assert_eq!(mated, Some(OpeningError::Over(Termination::Checkmate)));
    assert_eq!(start(usual, &["e2e4"]), None);
}
