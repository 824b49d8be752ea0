//! Adjudication by scores, length and tablebases, for both sides, and right before the limits.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use readyok_arena::game::{Answer, Decision, OpeningError, Referee, Tablebases, Verdict};
use readyok_arena::pairing::Opening;
use readyok_arena::plan::{
    Adjudication, DrawAdjudication, Limits, ResignAdjudication, TablebaseAdjudication,
    TablebaseScope,
};
use readyok_protocol::Score;
use readyok_rules::shakmaty::Chess;
use readyok_rules::{Game, Side, Syzygy, Termination, Wdl};

use crate::referee::referee;

/// Plays pairs of move and score. Only the last one may end the game, with this result.
fn check(
    game: Game,
    position: &str,
    rules: &Adjudication,
    moves: &str,
    end: impl Into<Option<Decision>>,
) {
    let mut referee = referee(game, position, rules);
    let mut verdict = Verdict::Continue;
    for (mv, score) in pairs(moves) {
        assert_eq!(verdict, Verdict::Continue, "before {mv} of {moves}");
        verdict = referee.on_answer(Answer::Move(mv), Duration::ZERO, score);
    }
    assert_eq!(verdict, end.into().map_or(Verdict::Continue, Verdict::Over), "{moves}");
}

fn pairs(moves: &str) -> Vec<(&str, Option<Score>)> {
    let tokens: Vec<_> = moves.split_whitespace().collect();
    let score = |text: &str| match text.split_at(1) {
        ("-", "") => None,
        ("M", plies) => Some(Score::MateIn { plies: plies.parse().expect(text) }),
        ("L", plies) => Some(Score::MatedIn { plies: plies.parse().expect(text) }),
        _ => Some(Score::Cp(text.parse().expect(text))),
    };
    tokens.chunks(2).map(|pair| (pair[0], score(pair[1]))).collect()
}

fn draw(termination: Termination) -> Decision {
    Decision::without_winner(termination)
}

fn lost(side: Side) -> Decision {
    Decision::lost_by(side, Termination::ResignAdjudication)
}

fn draw_rule(from_move: u32, moves: u32, score: u32) -> Adjudication {
    let draw = Some(DrawAdjudication { from_move, moves, score });
    Adjudication { draw, ..Adjudication::default() }
}

fn resign_rule(moves: u32, score: u32, two_sided: bool) -> Adjudication {
    let resign = Some(ResignAdjudication { moves, score, two_sided });
    Adjudication { resign, ..Adjudication::default() }
}

#[test]
fn scores_near_zero_of_both_sides_draw() {
    let over = Some(draw(Termination::DrawAdjudication));
    let rule = draw_rule(0, 2, 10);
    let check = |rule: &Adjudication, moves, end: Option<Decision>| {
        check(Game::Chess, "", rule, moves, end);
    };
    check(&rule, "g1f3 10 g8f6 -10 f3g1 0 f6g8 3", over.clone());
    check(&rule, "g1f3 11 g8f6 -10 f3g1 0 f6g8 3", None);
    check(&rule, "g1f3 11 g8f6 -10 f3g1 0 f6g8 3 b1c3 9", over.clone());
    check(&rule, "g1f3 0 g8f6 0 f3g1 0 f6g8 -11", None);
    // A missing score and a mate are not near zero.
    check(&rule, "g1f3 0 g8f6 0 f3g1 - f6g8 0", None);
    check(&rule, "g1f3 0 g8f6 0 f3g1 M1 f6g8 0", None);
    check(&draw_rule(2, 1, 10), "g1f3 0 g8f6 0 f3g1 0 f6g8 0", over);
}

#[test]
fn captures_and_pawn_moves_reset_the_draw_count() {
    let over = Some(draw(Termination::DrawAdjudication));
    let rule = draw_rule(0, 2, 10);
    check(Game::Chess, "", &rule, "g1f3 0 g8f6 0 f3g1 0 e7e5 0 b1c3 0 b8c6 0", None);
    check(Game::Chess, "", &rule, "g1f3 0 g8f6 0 f3g1 0 e7e5 0 b1c3 0 b8c6 0 c3b1 0", over.clone());
    // In shogi, pawn moves do not reset the count.
    check(Game::Shogi, "", &rule, "7g7f 0 3c3d 0 2g2f 0 8c8d 0", over);
}

#[test]
fn move_numbers_continue_those_of_the_position() {
    let over = Some(draw(Termination::DrawAdjudication));
    let late = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 39";
    check(Game::Chess, late, &draw_rule(40, 1, 10), "g1f3 0 g8f6 0 f3g1 0 f6g8 0", over.clone());
    let late = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 39";
    check(Game::Shogi, late, &draw_rule(41, 1, 10), "7g7f 0 3c3d 0 2g2f 0", over);
}

#[test]
fn a_side_with_losing_scores_loses() {
    let rule = resign_rule(2, 500, false);
    let check = |rule: &Adjudication, moves, end: Option<Decision>| {
        check(Game::Chess, "", rule, moves, end);
    };
    check(&rule, "g1f3 -500 g8f6 0 f3g1 -501", lost(Side::First).into());
    check(&rule, "g1f3 -500 g8f6 0 f3g1 -499", None);
    check(&rule, "g1f3 0 g8f6 -900 f3g1 0 f6g8 -900", lost(Side::Second).into());
    check(&rule, "g1f3 L4 g8f6 0 f3g1 L2", lost(Side::First).into());
    check(&rule, "g1f3 -500 g8f6 0 f3g1 M2 f6g8 0 g1f3 -500", None);
    check(&rule, "g1f3 -500 g8f6 0 f3g1 - f6g8 0 g1f3 -500", None);
}

#[test]
fn a_two_sided_resignation_requires_the_winner_to_agree() {
    let rule = resign_rule(2, 500, true);
    let check = |rule: &Adjudication, moves, end: Option<Decision>| {
        check(Game::Chess, "", rule, moves, end);
    };
    check(&rule, "g1f3 -500 g8f6 500 f3g1 -501 f6g8 M3", lost(Side::First).into());
    check(&rule, "g1f3 -500 g8f6 500 f3g1 -501 f6g8 499", None);
    check(&rule, "g1f3 600 g8f6 -600 f3g1 M9 f6g8 L8", lost(Side::Second).into());
    check(&rule, "g1f3 -500 g8f6 -500 f3g1 -500 f6g8 -500", None);
    check(&rule, "g1f3 500 g8f6 500 f3g1 500 f6g8 500", None);
}

#[test]
fn adjudicates_shogi_like_chess() {
    let one_sided = resign_rule(2, 500, false);
    let two_sided = resign_rule(2, 500, true);
    let check = |rule: &Adjudication, moves, end: Option<Decision>| {
        check(Game::Shogi, "", rule, moves, end);
    };
    check(&one_sided, "7g7f -500 3c3d 0 2g2f -501", lost(Side::First).into());
    check(&one_sided, "7g7f 0 3c3d L4 2g2f 0 8c8d L2", lost(Side::Second).into());
    check(&one_sided, "7g7f -500 3c3d 0 2g2f -499 8c8d 0", None);
    check(&two_sided, "7g7f -500 3c3d 500 2g2f -501 8c8d M3", lost(Side::First).into());
    check(&two_sided, "7g7f 600 3c3d -600 2g2f M9 8c8d L8", lost(Side::Second).into());
    check(&two_sided, "7g7f -500 3c3d -500 2g2f -500 8c8d -500", None);
}

#[test]
fn fastchess_mode_requires_decisive_scores_and_ends_at_a_move_of_the_loser() {
    let rule = Adjudication { as_fastchess: true, ..resign_rule(2, 500, true) };
    let check = |moves, end: Option<Decision>| check(Game::Chess, "", &rule, moves, end);
    // The fourth decisive score is the winner's: the game ends with the next one.
    check("g1f3 -500 g8f6 500 f3g1 -501 f6g8 M3", None);
    check("g1f3 -500 g8f6 500 f3g1 -501 f6g8 M3 g1f3 L2", lost(Side::First).into());
    check("g1f3 500 g8f6 -500 f3g1 501 f6g8 -500", lost(Side::Second).into());
    check("g1f3 -500 g8f6 -500 f3g1 -500 f6g8 -500", lost(Side::Second).into());
    check("g1f3 500 g8f6 500 f3g1 500 f6g8 500 g1f3 500", None);
    check("g1f3 -500 g8f6 499 f3g1 -500 f6g8 500 g1f3 -500", None);
    check("g1f3 -500 g8f6 - f3g1 -500 f6g8 500 g1f3 -500", None);
    // A one-sided rule is the same for both.
    let rule = Adjudication { as_fastchess: true, ..resign_rule(2, 500, false) };
    self::check(Game::Chess, "", &rule, "g1f3 -500 g8f6 0 f3g1 -501", lost(Side::First));
}

#[test]
fn a_resignation_has_priority_over_a_draw() {
    let mut rule = resign_rule(1, 5, false);
    rule.draw = draw_rule(0, 1, 10).draw;
    check(Game::Chess, "", &rule, "g1f3 0 g8f6 -8", lost(Side::Second));
}

#[test]
fn the_move_limit_draws() {
    let rule = |moves| Adjudication { max_moves: Some(moves), ..Adjudication::default() };
    let over = draw(Termination::MoveLimit);
    check(Game::Chess, "", &rule(2), "g1f3 - g8f6 - f3g1 - f6g8 -", over.clone());
    let black = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1";
    check(Game::Chess, black, &rule(2), "g8f6 - g1f3 - f6g8 - f3g1 -", over.clone());
    check(Game::Shogi, "", &rule(3), "7g7f - 3c3d - 2g2f -", over.clone());
    check(Game::Shogi, "", &rule(2), "7g7f - 3c3d -", over);
    // A mate with the last move wins.
    let mate = |side| Decision { winner: Some(side), end: Termination::Checkmate.into() };
    check(Game::Chess, "", &rule(2), "f2f3 - e7e5 - g2g4 - d8h4 -", mate(Side::Second));
    let black = "7k/R7/8/8/8/8/8/KR6 b - - 0 60";
    check(Game::Chess, black, &rule(1), "h8g8 - b1b8 -", mate(Side::First));
}

/// The limits of shogi championships, each with the last move by either side.
#[test]
fn limits_of_shogi_championships_draw_unless_the_last_move_mates() {
    for limit in [320, 512] {
        let first = "4k4/9/4P4/9/9/9/9/9/4K4 w G 1";
        let kings = ["5a4a", "5i4i", "4a5a", "4i5i"];
        check_last_move(limit, first, kings, ["5a4a", "5i5h", "4a5a"], "5h4h", None);
        let mate = Some(Side::First);
        check_last_move(limit, first, kings, ["5a4a", "5i5h", "4a5a"], "G*5b", mate);
        let second = "4k4/9/9/9/9/9/4p4/9/4K4 b g 1";
        let kings = ["5i4i", "5a4a", "4i5i", "4a5a"];
        check_last_move(limit, second, kings, ["5i4i", "5a5b", "4i5i"], "5b4b", None);
        let mate = Some(Side::Second);
        check_last_move(limit, second, kings, ["5i4i", "5a5b", "4i5i"], "G*5h", mate);
    }
}

/// Kings move back and forth and then to new squares. The last move before the limit mates, if there is a winner.
fn check_last_move(
    limit: u32,
    sfen: &str,
    kings: [&str; 4],
    elsewhere: [&str; 3],
    last: &str,
    winner: Option<Side>,
) {
    let rules = Adjudication { max_moves: Some(limit), ..Adjudication::default() };
    let walked = usize::try_from(limit).expect("small") - 4;
    let tokens = kings.into_iter().cycle().take(walked).chain(elsewhere);
    let moves = tokens.map(str::to_owned).collect();
    let opening = Opening { position: Some(sfen.to_owned()), moves, ..Opening::default() };
    let limits = [Limits::default(); 2];
    let mut referee = Referee::new(Game::Shogi, &opening, limits, &rules, None).expect("a start");
    let verdict = referee.on_answer(Answer::Move(last), Duration::ZERO, None);
    let termination =
        if winner.is_some() { Termination::Checkmate } else { Termination::MoveLimit };
    assert_eq!(
        verdict,
        Verdict::Over(Decision { winner, end: termination.into() }),
        "{limit}: {last}"
    );
}

/// Moves after 30,000 are not counted, and the last one is legal.
#[test]
fn draws_shogi_games_that_are_too_long_to_count() {
    let late = "4k4/9/9/9/9/9/4p4/9/4K4 b g 10000";
    let kings = ["5i4i", "5a4a", "4i5i", "4a5a"];
    let tokens = kings.into_iter().cycle().take(19_996).chain(["5i4i", "5a5b", "4i5i"]);
    let moves = tokens.map(str::to_owned).collect();
    let mut opening = Opening { position: Some(late.to_owned()), moves, ..Opening::default() };
    let start = |opening: &Opening| {
        let rules = Adjudication::default();
        Referee::new(Game::Shogi, opening, [Limits::default(); 2], &rules, None)
    };
    let last = |mv| {
        let mut referee = start(&opening).expect("a start");
        referee.on_answer(Answer::Move(mv), Duration::ZERO, None)
    };
    assert_eq!(last("5b6b"), Verdict::Over(draw(Termination::MoveLimit)));
    let mate = Decision { winner: Some(Side::Second), end: Termination::Checkmate.into() };
    assert_eq!(last("G*5h"), Verdict::Over(mate));
    opening.moves.push("5b6b".to_owned());
    assert_eq!(start(&opening).err(), Some(OpeningError::Over(Termination::MoveLimit)));
}

#[test]
fn opening_moves_count_for_the_limit() {
    let rules = Adjudication { max_moves: Some(2), ..Adjudication::default() };
    let opening = Opening {
        moves: ["g1f3", "g8f6", "f3g1"].map(str::to_owned).to_vec(),
        ..Opening::default()
    };
    let mut referee =
        Referee::new(Game::Chess, &opening, [Limits::default(); 2], &rules, None).expect("a start");
    let verdict = referee.on_answer(Answer::Move("f6g8"), Duration::ZERO, None);
    assert_eq!(verdict, Verdict::Over(draw(Termination::MoveLimit)));
}

#[test]
fn opening_moves_do_not_count_in_fastchess_mode() {
    let rules = Adjudication { max_moves: Some(1), as_fastchess: true, ..Adjudication::default() };
    let moves = ["g1f3", "g8f6", "f3g1"].map(str::to_owned).to_vec();
    let opening = Opening { moves, ..Opening::default() };
    let mut referee =
        Referee::new(Game::Chess, &opening, [Limits::default(); 2], &rules, None).expect("a start");
    let mut play = |mv| referee.on_answer(Answer::Move(mv), Duration::ZERO, None);
    assert_eq!(play("f6g8"), Verdict::Continue);
    assert_eq!(play("b1c3"), Verdict::Over(draw(Termination::MoveLimit)));
}

/// Returns the same value for every position.
#[derive(Debug)]
struct Oracle(Wdl);

impl Tablebases for Oracle {
    fn probe(&self, _: &Chess) -> Option<Wdl> {
        Some(self.0)
    }
}

fn table_rule(scope: TablebaseScope, ignore_fifty_moves: bool, pieces: u32) -> Adjudication {
    let paths = Vec::new();
    let tablebases = Some(TablebaseAdjudication { paths, pieces, ignore_fifty_moves, scope });
    Adjudication { tablebases, ..Adjudication::default() }
}

fn judged(
    tables: impl Tablebases + 'static,
    rules: &Adjudication,
    fen: &str,
    mv: &str,
) -> Option<Decision> {
    let opening = Opening { position: Some(fen.to_owned()), ..Opening::default() };
    let tables: Arc<dyn Tablebases> = Arc::new(tables);
    let limits = [Limits::default(); 2];
    let mut referee =
        Referee::new(Game::Chess, &opening, limits, rules, Some(tables)).expect("a position");
    match referee.on_answer(Answer::Move(mv), Duration::ZERO, None) {
        Verdict::Continue => None,
        Verdict::Over(outcome) => Some(outcome),
    }
}

/// White captures, and Black is to move in a position of four pieces.
const TAKES: &str = "7k/8/8/1p6/1R6/8/7r/K7 w - - 3 60";
/// The same position with the sides exchanged.
const BLACK_TAKES: &str = "k7/7R/8/1r6/1P6/8/8/7K b - - 3 60";

#[test]
fn tablebases_end_a_game_within_their_scope() {
    check_tablebases(TAKES, "b4b5", Side::First);
    check_tablebases(BLACK_TAKES, "b5b4", Side::Second);
}

/// A side captures; the table has a value for the other side, which is to move.
fn check_tablebases(fen: &str, takes: &str, taker: Side) {
    let end = |winner| Some(Decision { winner, end: Termination::TablebaseAdjudication.into() });
    let (taken, other) = (end(Some(taker)), end(Some(taker.other())));
    let drawn = end(None);
    for (known, both, ignoring) in [
        (Wdl::Win, &other, &other),
        (Wdl::CursedWin, &drawn, &other),
        (Wdl::Draw, &drawn, &drawn),
        (Wdl::BlessedLoss, &drawn, &taken),
        (Wdl::Loss, &taken, &taken),
    ] {
        let judge =
            |scope, ignore| judged(Oracle(known), &table_rule(scope, ignore, 0), fen, takes);
        assert_eq!(&judge(TablebaseScope::Both, false), both, "{known:?}");
        assert_eq!(&judge(TablebaseScope::Both, true), ignoring, "{known:?}");
        let drawn = both.clone().filter(|outcome| outcome.winner.is_none());
        assert_eq!(judge(TablebaseScope::Draw, false), drawn);
        let decided = both.clone().filter(|outcome| outcome.winner.is_some());
        assert_eq!(judge(TablebaseScope::WinLoss, false), decided);
    }
}

#[test]
fn probes_tablebases_only_where_they_are_exact() {
    let judge = |pieces, fen, mv| {
        judged(Oracle(Wdl::Win), &table_rule(TablebaseScope::Both, false, pieces), fen, mv)
    };
    assert!(judge(4, TAKES, "b4b5").is_some());
    assert!(judge(3, TAKES, "b4b5").is_none());
    // Not after a quiet move, and not with castling rights.
    assert!(judge(0, TAKES, "b4b3").is_none());
    assert!(judge(0, "4k3/8/8/1p6/1R6/8/8/R3K3 w Q - 3 60", "b4b5").is_none());
    assert!(judge(0, "4k3/8/8/1p6/1R6/8/8/R3K3 w - - 3 60", "b4b5").is_some());
}

#[test]
fn a_directory_without_tables_is_an_error() {
    let directory = tempfile::tempdir().expect("a directory");
    assert!(Syzygy::open([directory.path()]).is_err());
    fs::remove_dir(&directory).expect("it is empty");
    assert!(Syzygy::open([directory.path()]).is_err());
}
