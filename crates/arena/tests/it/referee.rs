//! What ends a game on the board, and what an answer is worth: for each end a game that ends so,
//! for both sides.

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

pub(crate) fn answer(word: &str) -> Answer<'_> {
    match word {
        "resign" => Answer::Resign,
        "win" => Answer::Declare,
        "(none)" => Answer::Other(word),
        word => Answer::Move(word),
    }
}

/// Plays moves, none of which but the last may end the game, and gives what the last led to.
fn play(game: Game, position: &str, words: &str, rules: &Adjudication) -> Verdict {
    let mut referee = referee(game, position, rules);
    let mut words = words.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let verdict = referee.on_answer(answer(word), Duration::ZERO, None);
        if words.peek().is_none() {
            return verdict;
        }
        assert_eq!(verdict, Verdict::Continue, "{word} of {position}");
    }
    panic!("there are no moves")
}

fn check(game: Game, position: &str, words: &str, winner: Option<Side>, termination: Termination) {
    let verdict = play(game, position, words, &Adjudication::default());
    assert_eq!(verdict, Verdict::Over(Decision { winner, end: termination.into() }), "{words}");
}

fn check_impasse(rule: Impasse, sfen: &str, word: &str, winner: Option<Side>, by: Termination) {
    let rules = Adjudication { impasse: rule, ..Adjudication::default() };
    let verdict = play(Game::Shogi, sfen, word, &rules);
    assert_eq!(verdict, Verdict::Over(Decision { winner, end: by.into() }), "{rule:?}: {sfen}");
}

/// What one side uses the other one gets, but never more than there was.
#[test]
fn an_hourglass_gives_what_a_move_takes_to_the_other_side() {
    let seconds = Duration::from_secs;
    for (game, words) in [
        (Game::Chess, ["e2e4", "e7e5", "g1f3", "b8c6"]),
        (Game::Shogi, ["7g7f", "3c3d", "2g2f", "8c8d"]),
    ] {
        let limits = Limits { tc: "hg10".parse().ok(), margin_ms: 2000, ..Limits::default() };
        let (opening, rules) = (Opening::default(), Adjudication::default());
        let mut referee =
            Referee::new(game, &opening, [limits; 2], &rules, None).expect("an opening");
        let mut check = |word, took, left: [u64; 2]| {
            let verdict = referee.on_answer(Answer::Move(word), seconds(took), None);
            assert_eq!(verdict, Verdict::Continue, "{word}");
            let clocks = [Side::First, Side::Second].map(|side| referee.clock(side).left());
            assert_eq!(clocks, left.map(|left| Some(seconds(left))), "{word}");
        };
        check(words[0], 3, [7, 13]);
        check(words[1], 5, [12, 8]);
        // The margin is forgiven, and is no sand.
        check(words[2], 14, [0, 20]);
        check(words[3], 0, [0, 20]);
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
fn the_third_occurrence_draws_in_chess() {
    let knights = "g1f3 g8f6 f3g1 f6g8";
    let words = format!("{knights} {knights}");
    check(Game::Chess, "", &words, None, Termination::Repetition);
    let after_one = format!("e2e4 {} {}", "g8f6 g1f3 f6g8 f3g1", "g8f6 g1f3 f6g8 f3g1");
    check(Game::Chess, "", &after_one, None, Termination::Repetition);
}

#[test]
fn the_hundredth_quiet_ply_draws_in_chess_unless_it_mates() {
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
fn who_cannot_move_loses_in_shogi() {
    let position = "8k/6G2/9/9/9/6N2/9/9/4K4 b - 1";
    check(Game::Shogi, position, "3f2d", FIRST, Termination::Stalemate);
    let position = "4k4/9/9/2n6/9/9/9/2g6/K8 w - 1";
    check(Game::Shogi, position, "7d8f", SECOND, Termination::Stalemate);
}

/// Rules of the Japan Shogi Association: the fourth occurrence of a position, with the same side
/// to move and the same pieces in hand, is no contest.
#[test]
fn the_fourth_occurrence_draws_in_shogi() {
    let golds = "4i4h 4a4b 4h4i 4b4a";
    check(Game::Shogi, "", &[golds; 3].join(" "), None, Termination::Repetition);
    let golds = "4a4b 4i4h 4b4a 4h4i";
    let words = format!("7g7f {}", [golds; 3].join(" "));
    check(Game::Shogi, "", &words, None, Termination::Repetition);
}

/// Rules of the Japan Shogi Association: who gave check with every move between the four
/// occurrences loses.
#[test]
fn perpetual_check_loses_in_shogi() {
    let position = "4k4/9/9/9/9/9/9/9/R3K4 b - 1";
    let cycle = "9a9b 5b5a 9b9a 5a5b";
    let words = format!("9i9a+ 5a5b {} 9a9b 5b5a 9b9a", [cycle; 2].join(" "));
    check(Game::Shogi, position, &words, SECOND, Termination::PerpetualCheck);
    let position = "r3k4/9/9/9/9/9/9/9/4K4 w - 1";
    let cycle = "9i9h 5h5i 9h9i 5i5h";
    let words = format!("9a9i+ 5i5h {} 9i9h 5h5i 9h9i", [cycle; 2].join(" "));
    check(Game::Shogi, position, &words, FIRST, Termination::PerpetualCheck);
}

const CAMP: &str = "4K4/+P+P+P+P+P+P+P+P+P/4+P4/9/9/9/9/9/3k5 b";
const OTHER_CAMP: &str = "3K5/9/9/9/9/9/4+p4/+p+p+p+p+p+p+p+p+p/4k4 w";

/// A camp with ten pawns, pieces in the hand of its side, and the rest of the box in the other.
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
fn a_declaration_is_judged_by_27_points() {
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
fn a_declaration_is_judged_by_24_points() {
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

/// Rules of the Japan Shogi Association: in a handicap game the points are counted as if whoever
/// gives the handicap had the pieces left out; here a rook and a bishop, which are ten points.
#[test]
fn who_gives_a_handicap_declares_with_the_pieces_left_out() {
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
    // Whoever takes the handicap is counted without them.
    check(Impasse::Points27, CAMP, "RBGGGGSSSS", FIRST, won);
    check(Impasse::Points27, CAMP, "RBGGGGSSS", SECOND, wrong);
    check(Impasse::Points24, CAMP, "RBGGGGSSSSNNN", FIRST, won);
    check(Impasse::Points24, CAMP, "RBGGGG", None, Termination::Impasse);
    check(Impasse::Points24, CAMP, "RBGGG", SECOND, wrong);
}

#[test]
fn a_declaration_needs_the_king_and_ten_pieces_there_and_no_check() {
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
fn nobody_declares_where_that_is_no_rule() {
    // Beside the square of the try.
    let first = declarable(CAMP, "RRBBGGGG").replace("4K4/", "3K5/");
    let second = declarable(OTHER_CAMP, "RRBBGGGG").replace("4k4 w", "5k3 w");
    for rule in [Impasse::TryRule, Impasse::None] {
        check_impasse(rule, &first, "win", SECOND, Termination::FailedDeclaration);
        check_impasse(rule, &second, "win", FIRST, Termination::FailedDeclaration);
    }
}

#[test]
fn the_try_wins_under_its_rule_only() {
    let first = "9/4K4/9/9/9/9/9/9/3k5 b - 1";
    let second = "3K5/9/9/9/9/9/9/4k4/9 w - 1";
    check_impasse(Impasse::TryRule, first, "5b5a", FIRST, Termination::TryRule);
    check_impasse(Impasse::TryRule, second, "5h5i", SECOND, Termination::TryRule);
    let verdict = play(Game::Shogi, first, "5b5a", &Adjudication::default());
    assert_eq!(verdict, Verdict::Continue);
    // The king elsewhere, or another piece there, is no try.
    let rules = Adjudication { impasse: Impasse::TryRule, ..Adjudication::default() };
    assert_eq!(play(Game::Shogi, first, "5b4a", &rules), Verdict::Continue);
    let gold = "9/4GK3/9/9/9/9/9/9/3k5 b - 1";
    assert_eq!(play(Game::Shogi, gold, "5b5a", &rules), Verdict::Continue);
}

#[test]
fn who_resigns_loses() {
    check(Game::Shogi, "", "resign", SECOND, Termination::Resignation);
    check(Game::Shogi, "", "7g7f resign", FIRST, Termination::Resignation);
    check(Game::Chess, "", "resign", SECOND, Termination::Resignation);
    check(Game::Chess, "", "e2e4 resign", FIRST, Termination::Resignation);
}

fn check_illegal(
    game: Game,
    position: &str,
    words: &str,
    winner: Option<Side>,
    expected: IllegalReason,
) {
    let verdict = play(game, position, words, &Adjudication::default());
    let Verdict::Over(Decision { winner: found, end }) = verdict else {
        panic!("{words} is legal")
    };
    assert!(end.termination.is_failure());
    let Some(EndDetail::IllegalMove { text, position: _, reason }) = &end.detail else {
        panic!("{words}: {end:?}")
    };
    assert_eq!((found, *reason), (winner, expected), "{words}");
    assert_eq!(Some(text.as_str()), words.split(' ').next_back(), "{words}");
}

#[test]
fn illegal_moves_lose() {
    let chess = |fen, words, winner, why| check_illegal(Game::Chess, fen, words, winner, why);
    for (before, winner) in [("", SECOND), ("e2e4 ", FIRST)] {
        let refused = |word, why| {
            check_illegal(Game::Chess, "", &format!("{before}{word}"), winner, why);
        };
        refused("a4a5", IllegalReason::NoPiece);
        refused("0000", IllegalReason::Unreadable);
        refused("(none)", IllegalReason::Unreadable);
        refused("win", IllegalReason::Unreadable);
    }
    chess("", "e2e5", SECOND, IllegalReason::CannotReach);
    chess("", "e2e4 e7e4", FIRST, IllegalReason::CannotReach);
    let check = IllegalReason::Check;
    chess("4r2k/8/8/8/8/8/4R3/4K3 w - - 0 1", "e2d2", SECOND, check);
    chess("4k3/4r3/8/8/8/8/8/4R2K b - - 0 1", "e7d7", FIRST, check);
}

#[test]
fn fouls_lose_in_shogi() {
    let shogi = |sfen, words, winner, why| check_illegal(Game::Shogi, sfen, words, winner, why);
    shogi("", "7g7e", SECOND, IllegalReason::CannotReach);
    shogi("", "7g7f 3c3e", FIRST, IllegalReason::CannotReach);
    let nifu = "4k4/9/9/9/9/9/4P4/9/4K4 b P 1";
    shogi(nifu, "P*5d", SECOND, IllegalReason::TwoPawns);
    let nifu = "4k4/9/4p4/9/9/9/9/9/4K4 w p 1";
    shogi(nifu, "P*5e", FIRST, IllegalReason::TwoPawns);
    let drop_mate = "8k/6G2/7G1/9/9/9/9/9/4K4 b P 1";
    shogi(drop_mate, "P*1b", SECOND, IllegalReason::DropMate);
    let drop_mate = "4k4/9/9/9/9/9/1g7/2g6/K8 w p 1";
    shogi(drop_mate, "P*9h", FIRST, IllegalReason::DropMate);
    let pinned = "4k4/4r4/9/9/9/9/9/4G4/4K4 b - 1";
    shogi(pinned, "5h4h", SECOND, IllegalReason::Check);
    let pinned = "4k4/4g4/9/9/9/9/9/4R4/4K4 w - 1";
    shogi(pinned, "5b6b", FIRST, IllegalReason::Check);
    let dead = "4k4/9/9/9/9/9/9/9/4K4 b N 1";
    shogi(dead, "N*9b", SECOND, IllegalReason::DeadPiece);
    let dead = "4k4/9/9/9/9/9/9/9/4K4 w n 1";
    shogi(dead, "N*1h", FIRST, IllegalReason::DeadPiece);
}

#[test]
fn an_illegal_word_is_shortened_and_the_position_told() {
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
fn moves_are_kept_as_their_canonical_words() {
    let castles = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";
    for (game, word, canonical) in [
        (Game::Chess, "e1h1", "e1g1"),
        (Game::Chess, "e1g1", "e1g1"),
        (Game::Chess960, "e1h1", "e1h1"),
    ] {
        let mut referee = referee(game, castles, &Adjudication::default());
        assert_eq!(referee.latest_move(), None);
        let verdict = referee.on_answer(Answer::Move(word), Duration::ZERO, None);
        assert_eq!(verdict, Verdict::Continue);
        assert_eq!(referee.latest_move().as_deref(), Some(canonical));
    }
}

#[test]
fn no_game_starts_from_a_bad_opening() {
    let start = |position: &str, moves: &[&str]| {
        let moves = moves.iter().map(|&word| word.to_owned()).collect();
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
