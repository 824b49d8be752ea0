//! The ends of games under different rules.

use readyok_rules::{
    ChessRules, EndRules, Game, GameOutcome, GameResult, IllegalReason, Impasse, ShogiRules, Side,
    Termination::{
        self, FiftyMoveRule, FivefoldRepetition, Repetition, TimeForfeit,
        TimeoutInsufficientMaterial,
    },
};

use crate::{after, position};

const NONE: EndRules = EndRules { chess: ChessRules::NONE, shogi: ShogiRules::NONE };

/// The end of a game as in the tables: `none`, or the winner and the reason.
fn written(outcome: Option<GameOutcome>) -> String {
    let Some(GameOutcome { result, termination }) = outcome else { return "none".to_owned() };
    let result = match result {
        GameResult::Win(Side::First) => "first",
        GameResult::Win(Side::Second) => "second",
        GameResult::Draw => "draw",
        GameResult::Unknown => "unknown",
    };
    format!("{result} {termination:?}")
}

/// The moves of a row, in which a part may be repeated: `(2h3h 8b7b 3h2h 7b8b)*3`.
fn unfolded(moves: &str) -> String {
    let mut line = String::new();
    for part in moves.split('(') {
        let (round, rest) = part.split_once(")*").unwrap_or(("", part));
        let digits = rest.find(' ').unwrap_or(rest.len());
        let times = if round.is_empty() { 0 } else { digits };
        line += &format!("{round} ").repeat(rest[..times].parse().unwrap_or(0));
        line += &rest[times..];
    }
    line
}

/// Checks the ends of games in rows of `position | moves => end`, without a position from the start.
#[track_caller]
fn check_endings(rules: EndRules, game: Game, rows: &str) {
    for row in rows.trim().lines().map(str::trim) {
        let (start, end) = row.split_once(" => ").expect("an end");
        let (text, moves) = start.split_once('|').expect("moves");
        let position = after(game, text.trim(), &unfolded(moves));
        assert_eq!(written(position.outcome_under(&rules)), end, "{row}");
        assert_eq!(position.outcome(), position.outcome_under(&EndRules::BOARD), "{row}");
    }
}

const BOARD: EndRules = EndRules::BOARD;

fn shogi(rules: ShogiRules) -> EndRules {
    EndRules { shogi: rules, ..NONE }
}

#[test]
fn chess_ends_on_the_board() {
    check_endings(BOARD, Game::Chess, include_str!("data/ending/chess_ends_on_the_board.txt"));
}

#[test]
fn chess_ends_with_the_third_repetition() {
    // Castling rights are lost by the first moves of the rooks, so the position is a different one.
    check_endings(
        BOARD,
        Game::Chess,
        "
        | g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 => none
        | (g1f3 g8f6 f3g1 f6g8)*2 => draw Repetition
        r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1 | (h1g1 h8g8 g1h1 g8h8)*2 => none
        r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1 | (h1g1 h8g8 g1h1 g8h8)*3 => draw Repetition
        ",
    );
}

#[test]
fn shogi_ends_on_the_board() {
    check_endings(BOARD, Game::Shogi, include_str!("data/ending/shogi_ends_on_the_board.txt"));
}

#[test]
fn mate_and_stalemate_end_under_all_rules() {
    check_endings(NONE, Game::Chess, "| f2f3 e7e5 g2g4 d8h4 => second Checkmate");
    check_endings(NONE, Game::Shogi, "8k/6G2/7+P1/9/9/9/9/9/4K4 w - 1 | => first Stalemate");
}

#[test]
fn fide_lets_players_claim_before_the_game_ends() {
    let fide = EndRules::FEDERATIONS;
    let once = "g1f3 g8f6 f3g1 f6g8 ";
    for (times, claims, outcome) in [
        (1, vec![], None),
        (2, vec![Repetition], None),
        (3, vec![Repetition], None),
        (4, vec![Repetition], Some(FivefoldRepetition)),
    ] {
        let position = after(Game::Chess, "", &once.repeat(times));
        assert_eq!(position.claims(), claims);
        let found = position.outcome_under(&fide);
        assert_eq!(found, outcome.map(GameOutcome::drawn));
    }
    let rook = |clock: u32| format!("7k/8/8/8/8/8/R7/K7 w - - {clock} 80");
    for (clock, claims, outcome) in [
        (99, vec![], "none"),
        (100, vec![FiftyMoveRule], "none"),
        (149, vec![FiftyMoveRule], "none"),
        (150, vec![FiftyMoveRule], "draw SeventyFiveMoveRule"),
    ] {
        assert_eq!(position(Game::Chess, &rook(clock)).claims(), claims);
        check_endings(fide, Game::Chess, &format!("{} | => {outcome}", rook(clock)));
        check_endings(NONE, Game::Chess, &format!("{} | => none", rook(clock)));
    }
    let mating = "7k/8/6K1/8/8/8/R7/8 w - - 149 80";
    check_endings(fide, Game::Chess, &format!("{mating} | a2a8 => first Checkmate"));
    assert_eq!(after(Game::Chess, mating, "a2a8").claims(), []);
}

/// Insufficient and sufficient material. Helpmates count as possible.
#[test]
fn insufficient_material_draws() {
    for (pieces, dead) in [
        ("7k/8/8/8/8/8/8/K7", true),
        ("7k/8/8/8/8/8/8/KN6", true),
        ("7k/8/8/8/8/8/8/KB6", true),
        // Bishops on squares of one color, of one side or of both.
        ("7k/8/8/8/8/3B4/8/KB6", true),
        ("b6k/8/8/8/8/8/8/KB6", true),
        ("1b5k/8/8/8/8/8/8/KB6", false),
        ("6k1/8/8/8/8/2B5/8/KB6", false),
        ("7k/8/8/8/8/8/8/KNN5", false),
        ("6nk/8/8/8/8/8/8/KN6", false),
        ("6nk/8/8/8/8/8/8/KB6", false),
        ("7k/p7/8/8/8/8/8/KB6", false),
        ("7k/8/8/8/8/8/P7/K7", false),
        ("7k/8/8/8/8/8/8/KR6", false),
    ] {
        let row = format!("{pieces} w - - 0 1 | =>");
        let expected = if dead { "draw InsufficientMaterial" } else { "none" };
        check_endings(BOARD, Game::Chess, &format!("{row} {expected}"));
        check_endings(EndRules::FEDERATIONS, Game::Chess, &format!("{row} {expected}"));
        check_endings(NONE, Game::Chess, &format!("{row} none"));
    }
}

#[test]
fn fide_draws_a_blocked_position() {
    let wall = "4k3/8/1p1p1p1p/pPpPpPpP/P1P1P1P1/8/8/4K3 w - - 0 1";
    check_endings(BOARD, Game::Chess, &format!("{wall} | => none"));
    // Enemy pawns guard every path of the kings, and every pawn is blocked. In the others, a pawn can still move, a
    // pawn can capture, a king can use a gap, or a piece is left.
    check_endings(
        EndRules::FEDERATIONS,
        Game::Chess,
        include_str!("data/ending/fide_draws_a_blocked_position.txt"),
    );
}

#[test]
fn time_forfeit_draws_if_the_opponent_cannot_mate() {
    let won = |winner| GameOutcome::won(winner, TimeForfeit);
    let drawn = GameOutcome::drawn(TimeoutInsufficientMaterial);
    for (pieces, by_first, by_second) in [
        // The outcomes if the first player, or the second player, exceeds their time.
        ("7k/8/8/8/8/8/8/KQ6", drawn, won(Side::First)),
        ("6qk/8/8/8/8/8/8/KN6", won(Side::Second), drawn),
        ("6rk/8/8/8/8/8/8/KN6", won(Side::Second), won(Side::First)),
        ("7k/8/8/8/8/8/P7/KB6", drawn, won(Side::First)),
    ] {
        let position = position(Game::Chess, &format!("{pieces} w - - 0 1"));
        assert_eq!(position.outcome_on_timeout(Side::First), by_first, "{pieces}");
        assert_eq!(position.outcome_on_timeout(Side::Second), by_second, "{pieces}");
        for side in Side::BOTH {
            let drawn = position.outcome_on_timeout(side.other()).winner().is_none();
            assert_eq!(position.has_mating_material(side), !drawn);
        }
    }
    let shogi = position(Game::Shogi, "4k4/9/9/9/9/9/9/9/4K4 b - 1");
    assert_eq!(shogi.outcome_on_timeout(Side::First), won(Side::Second));
}

#[test]
fn an_illegal_move_loses() {
    let nifu = position(Game::Shogi, "4k4/9/9/9/9/4P4/9/9/4K4 b P 1");
    let reason = nifu.parse_move("P*5b").expect_err("nifu").reason;
    assert_eq!(reason, IllegalReason::SecondPawnOnFile);
    let lost = GameOutcome::won(Side::Second, Termination::IllegalMove);
    assert_eq!(nifu.outcome_on_illegal_move(), lost);
}

/// A pawn moves to the other hand and back while the board is unchanged: between two equal positions
/// is one with the same board and side to move, but other hands.
#[test]
fn repetition_distinguishes_hands() {
    let text = "k8/1r7/9/9/9/9/9/7R1/K8 b P 1";
    let there = "P*8e 8b8e 2h3h 8e8b 3h4h 8b7b 4h2h 7b8b ";
    let back = "2h3h P*3e 3h3e 8b7b 3e3h 7b6b 3h2h 6b8b ";
    let other = after(Game::Shogi, text, there).to_string();
    assert_eq!(other, "k8/1r7/9/9/9/9/9/7R1/K8 b p 9");
    let round = format!("({there}{back})");
    check_endings(BOARD, Game::Shogi, &format!("{text} | {round}*2 {there} => none"));
    check_endings(BOARD, Game::Shogi, &format!("{text} | {round}*3 => draw Repetition"));
}

#[test]
fn repetition_requires_the_count_of_the_rules() {
    let once = "2h3h 8b7b 3h2h 7b8b ";
    for (times, needed) in [(1, 2), (2, 3), (3, 4), (5, 6)] {
        let rules = ShogiRules { repetition: Some(needed), ..ShogiRules::NONE };
        let line = once.repeat(times);
        check_endings(shogi(rules), Game::Shogi, &format!("| {line} => draw Repetition"));
        let (shorter, _) = line.trim_end().rsplit_once(' ').expect("several moves");
        check_endings(shogi(rules), Game::Shogi, &format!("| {shorter} => none"));
        check_endings(NONE, Game::Shogi, &format!("| {line} => none"));
    }
}

#[test]
fn perpetual_check_requires_check_by_every_move() {
    let lenient = ShogiRules { perpetual_check_loses: false, ..ShogiRules::BOARD };
    let checks = "4k4/9/9/9/9/9/9/9/R3K4 b - 1 | 9i9a 5a5b (9a9b 5b5a 9b9a 5a5b)*3";
    check_endings(shogi(lenient), Game::Shogi, &format!("{checks} => draw Repetition"));
    // The king leaves the rook's lines once, so one move between the first and the fourth position gives no check.
    // A quiet move before the first of the four positions does not matter. The second player gives check.
    check_endings(
        BOARD,
        Game::Shogi,
        "
        4k4/9/9/9/9/9/9/9/R3K4 b - 1 | 9i9a 5a5b 9a8a 5b4b 8a9a 4b5b (9a9b 5b5a 9b9a 5a5b)*2 => draw Repetition
        4k4/9/9/9/9/9/9/9/R3K4 b - 1 | 9i9h 5a4b 9h9i 4b5a 9i9a 5a5b (9a9b 5b5a 9b9a 5a5b)*3 => second PerpetualCheck
        r3k4/9/9/9/9/9/9/9/4K4 w - 1 | 9a9i 5i5h (9i9h 5h5i 9h9i 5i5h)*3 => first PerpetualCheck
        ",
    );
}

#[test]
fn shogi_ends_at_the_move_limit() {
    // Mate on the last move counts.
    check_endings(
        shogi(ShogiRules::NONE.with_move_limit(256)),
        Game::Shogi,
        "
        4k4/9/9/9/9/9/9/9/R3K4 b - 255 | 9i9h => none
        4k4/9/9/9/9/9/9/9/R3K4 b - 256 | 9i9h => draw MoveLimit
        4k4/9/9/9/9/9/9/9/R3K4 b - 256 | 9i9a => draw MoveLimit
        4k4/9/4P4/9/9/9/9/9/4K4 b G 256 | G*5b => first Checkmate
        ",
    );
}

/// Plays a game up to the maximum length with a given last move.
fn check_longest(last: &str, rules: EndRules, expected: &str) {
    let kings = ["5i4i", "5a4a", "4i5i", "4a5a"];
    let walk = kings.into_iter().cycle().take(19_996).chain(["5i4i", "5a5b", "4i5i"]);
    let end = position(Game::Shogi, "4k4/9/9/9/9/9/4p4/9/4K4 b g 10000").after(walk);
    let end = end.expect("legal moves");
    assert_eq!(end.outcome_under(&rules), None);
    let outcome = end.after([last]).expect("a legal move").outcome_under(&rules);
    assert_eq!(written(outcome), expected, "{last}");
}

#[test]
fn shogi_is_drawn_at_the_maximum_length() {
    check_longest("5b6b", BOARD, "draw MoveLimit");
    check_longest("5b6b", NONE, "draw MoveLimit");
    // Mate on the last move counts.
    check_longest("G*5h", BOARD, "second Checkmate");
}

#[test]
fn a_check_at_the_move_limit_must_end_first() {
    let jsa = shogi(ShogiRules { repetition: None, ..ShogiRules::JSA });
    // In the last, no king has entered.
    check_endings(
        jsa,
        Game::Shogi,
        include_str!("data/ending/a_check_at_the_move_limit_must_end_first.txt"),
    );
}

#[test]
fn try_rule_wins_on_the_opponents_king_square() {
    let rules = shogi(ShogiRules { impasse: Impasse::Try, ..ShogiRules::NONE });
    check_endings(
        rules,
        Game::Shogi,
        "
        9/3K5/9/9/9/9/9/9/8k b - 1 | => none
        9/3K5/9/9/9/9/9/9/8k b - 1 | 6b5a => first TryRule
        4K4/9/9/9/9/9/9/4k4/9 w - 1 | 5h5i => second TryRule
        | 7g7f 3c3d => none
        ",
    );
    check_endings(NONE, Game::Shogi, "9/3K5/9/9/9/9/9/9/8k b - 1 | 6b5a => none");
}

#[track_caller]
fn check_declaration(impasse: Impasse, text: &str, expected: &str) {
    let rules = shogi(ShogiRules { impasse, ..ShogiRules::NONE });
    assert_eq!(written(position(Game::Shogi, text).declare(&rules)), expected, "{text}");
}

/// The first player declares.
const WON: &str = "first Declaration";
const LOST: &str = "second FailedDeclaration";

/// The first player's king and ten pieces in the camp: nine pawns and a gold, 10 points.
const ENTERED: &str = "4KG3/PPPPPPPPP/9/9/9/9/9/9/4k4 b";

#[test]
fn declaration_requires_points_by_side() {
    let with_hand = |hand: &str| format!("{ENTERED} {hand} 1");
    // 10 points on the board, 5 for each rook and bishop in hand, 1 for each other piece.
    for (hand, points) in [("2R", 20), ("2RB", 25), ("2RBGS", 27), ("2RBGSN", 28), ("2R2BG", 31)] {
        let text = with_hand(hand);
        let declared = position(Game::Shogi, &text).declaration().expect("shogi");
        assert_eq!((declared.points, declared.pieces), (points, 10), "{hand}");
        let wins = points >= 28;
        let expected = if wins { WON } else { LOST };
        check_declaration(Impasse::Points27, &text, expected);
        assert_eq!(position(Game::Shogi, &text).can_declare(), wins);
        let expected = match points {
            31.. => WON,
            24..31 => "draw Impasse",
            _ => LOST,
        };
        check_declaration(Impasse::Points24, &text, expected);
    }
    // The second player needs one point less.
    let text = "4K4/9/9/9/9/9/9/ppppppppp/4kg3 w 2rbgs 1";
    check_declaration(Impasse::Points27, text, "second Declaration");
    let text = "4K4/9/9/9/9/9/9/ppppppppp/4kg3 w 2rbg 1";
    check_declaration(Impasse::Points27, text, "first FailedDeclaration");
}

#[test]
fn declaration_requires_a_safe_king_and_ten_pieces_in_the_camp() {
    let enough = "4KG3/PPPPPPPPP/9/9/9/9/9/9/4k4 b 2R2BG 1";
    for (text, expected) in [
        (enough.to_owned(), WON),
        // Nine pieces in the camp and a tenth in hand.
        (enough.replace("KG3", "K4").replace("2R2BG", "2R2B2G"), LOST),
        // The tenth piece is just outside the camp.
        ("4K4/PPPPPPPPP/9/4G4/9/9/9/9/4k4 b 2R2B3G 1".to_owned(), LOST),
        // The king is on the fourth rank, or in check.
        ("4GG3/PPPPPPPPP/9/4K4/9/9/9/9/4k4 b 2R2BG 1".to_owned(), LOST),
        ("r3KG3/PPPPPPPPP/9/9/9/9/9/9/4k4 b R2B3G 1".to_owned(), LOST),
    ] {
        check_declaration(Impasse::Points27, &text, expected);
        check_declaration(Impasse::Points24, &text, expected);
        assert_eq!(position(Game::Shogi, &text).can_declare(), expected == WON);
    }
    let nothing = shogi(ShogiRules::NONE);
    assert_eq!(position(Game::Shogi, enough).declare(&nothing), None);
    assert_eq!(position(Game::Chess, "").declare(&EndRules::ENGINE_MATCH), None);
}

#[test]
fn handicap_pieces_count_for_their_giver() {
    // Rook and bishop are left out: 12 + 10 points.
    let text = "4K4/9/9/9/9/9/9/ppppppppp/4kg3 w RB8P4L4N4S2Gpg 1";
    let declared = position(Game::Shogi, text).declaration().expect("shogi");
    assert_eq!((declared.points, declared.missing), (12, 10));
    check_declaration(Impasse::Points27Handicap, text, "first FailedDeclaration");
    let text = "4K4/9/9/9/9/9/9/ppppppppp/4kg3 w RB8P4L4S2Gp4ng 1";
    check_declaration(Impasse::Points27, text, "first FailedDeclaration");
    let text = "4K4/9/9/9/9/9/9/ppppppppp/4kg3 w R8P4L4Sbp4n2g 1";
    let declared = position(Game::Shogi, text).declaration().expect("shogi");
    assert_eq!((declared.points, declared.missing), (22, 11));
    check_declaration(Impasse::Points27Handicap, text, "second Declaration");
    check_declaration(Impasse::Points27, text, "first FailedDeclaration");
}

#[test]
fn can_declare_agrees_with_the_rules_of_the_board() {
    for (text, may) in [
        // The bishop is left out: 22 points make 27, 21 make 26.
        ("4K4/9/9/9/9/9/9/ppppppppp/4kg3 w 2R3GN4L9Pb4s3n 1", true),
        ("4K4/9/9/9/9/9/9/ppppppppp/4kg3 w 2R3G2N4L9Pb4s2n 1", false),
        // The receiver of the handicap needs 28 points.
        ("4KG3/PPPPPPPPP/9/9/9/9/9/9/4k4 b 2RB3G4s4n4l9p 1", true),
        ("4KG3/PPPPPPPPP/9/9/9/9/9/9/4k4 b 2RB2Gg4s4n4l9p 1", false),
    ] {
        let position = position(Game::Shogi, text);
        assert_eq!(position.can_declare(), may, "{text}: {:?}", position.declaration());
        for shogi in [ShogiRules::BOARD, ShogiRules::CSA] {
            let outcome = position.declare(&EndRules { shogi, ..EndRules::BOARD });
            let wins =
                outcome.is_some_and(|outcome| outcome.termination == Termination::Declaration);
            assert_eq!(wins, may, "{text}");
        }
    }
}

#[test]
fn declaration_wins_with_enough_points() {
    let text = "4K+R+R+B+B/PPPPPPPPP/9/9/9/9/9/9/4k4 b 4P 1";
    let declares = |text: &str| position(Game::Shogi, text).can_declare();
    assert!(declares(text));
    // 29 points without the hand, and fewer than 28 without a dragon.
    assert!(declares(&text.replace("4P", "-")));
    assert!(!declares(&text.replace("+R+R", "+R1").replace("4P", "-")));
    assert!(!declares("4k4/9/9/9/9/9/9/9/4K4 b - 1"));
}
