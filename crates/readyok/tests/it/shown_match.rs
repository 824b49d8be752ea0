//! How a match is shown on a terminal while it is played.

use std::io::{self, Write};

use readyok::matches::{Live, Standing};
use readyok_arena::event::{End, Event, JointRatings, Listener as _, Rating, Score};
use readyok_arena::pairing::Opening;
use readyok_arena::plan::{EngineId, Plan};
use readyok_arena::queue::{Stop, WorkerId};
use readyok_arena::result::GameEnd;
use readyok_arena::store::ContentHash;
use readyok_rules::{Side, Termination};

use crate::program::Terminal;

const A: EngineId = EngineId(0);
const B: EngineId = EngineId(1);

fn plan() -> Plan {
    toml::from_str(
        "game = 'chess'\nrounds = 4\nadjudication = { max_moves = 22 }\n\
         [[engines]]\nname = 'a'\ncommand = 'a'\n[[engines]]\nname = 'b'\ncommand = 'b'\n",
    )
    .expect("a plan")
}

fn match_start(resumed: u64) -> Event {
    let engines = vec!["a".to_owned(), "b".to_owned()];
    Event::MatchStart {
        plan_hash: ContentHash::of_plan(&plan()),
        game: plan().game,
        engines,
        resumed,
    }
}

fn game_start(pair: u64, game: u32, [first, second]: [EngineId; 2]) -> Event {
    let worker = WorkerId(format!("worker-{pair}"));
    Event::GameStart { pair, game, round: 1, first, second, worker, opening: Opening::default() }
}

fn game_end(pair: u64, game: u32, sides: [EngineId; 2], winner: Option<Side>) -> Event {
    let mates = winner.is_some();
    let termination = if mates { Termination::Checkmate } else { Termination::Stalemate };
    ended(pair, game, sides, winner, termination.into())
}

fn ended(
    pair: u64,
    game: u32,
    [first, second]: [EngineId; 2],
    winner: Option<Side>,
    end: GameEnd,
) -> Event {
    Event::GameEnd {
        pair,
        game,
        first,
        second,
        winner,
        end,
        plies: 40,
        duration_ms: 1,
        engines: Box::default(),
    }
}

/// A pair that `a` wins by a win and a draw.
fn pair(index: u64) -> Vec<Event> {
    let won = index + 1;
    vec![
        game_start(index, 0, [A, B]),
        game_end(index, 0, [A, B], Some(Side::First)),
        game_start(index, 1, [B, A]),
        game_end(index, 1, [B, A], None),
        Event::PairEnd { pair: index, round: 1, complete: won },
        Event::Score(Score {
            engine: A,
            opponent: B,
            wins: won,
            draws: won,
            losses: 0,
            pairs: [0, 0, 0, 0, won, 0],
        }),
    ]
}

/// Whether one of the rows has this in it.
fn shows(rows: &[String], text: &str) -> bool {
    rows.iter().any(|row| row.contains(text))
}

#[test]
fn the_progress_and_the_counts_follow_the_pairs() {
    let mut standing = Standing::new(&plan(), 4);
    standing.on_event(&match_start(0));
    assert!(shows(&standing.rows(), "0/4 pairings"), "{:?}", standing.rows());
    let filled = |standing: &Standing| {
        standing.rows().iter().map(|row| row.matches('█').count()).sum::<usize>()
    };
    let mut before = filled(&standing);
    assert_eq!(before, 0);
    for index in 0..4 {
        for event in pair(index) {
            standing.on_event(&event);
        }
        let (rows, won) = (standing.rows(), index + 1);
        assert!(shows(&rows, &format!("{won}/4 pairings")), "{rows:?}");
        assert!(shows(&rows, &format!("a: +{won} ={won} -0")), "{rows:?}");
        let now = filled(&standing);
        assert!(before < now, "{rows:?}");
        before = now;
    }
    assert!(!shows(&standing.rows(), "░"), "the bar is full");
}

#[test]
fn a_match_that_goes_on_begins_where_it_stood() {
    let mut standing = Standing::new(&plan(), 4);
    standing.on_event(&match_start(3));
    assert!(shows(&standing.rows(), "3/4 pairings"), "{:?}", standing.rows());
}

#[test]
fn a_game_is_shown_while_it_is_played_and_when_it_has_ended() {
    let mut standing = Standing::new(&plan(), 4);
    standing.on_event(&match_start(0));
    assert!(!shows(&standing.rows(), "1.2"));
    standing.on_event(&game_start(0, 1, [B, A]));
    let rows = standing.rows();
    assert!(shows(&rows, "worker-0") && shows(&rows, "1.2  b – a"), "{rows:?}");
    let line = standing.on_event(&game_end(0, 1, [B, A], None)).expect("a line for people");
    assert!(line.contains("1.2  b – a") && line.contains("(40 plies)"), "{line}");
    let rows = standing.rows();
    assert!(!shows(&rows, "worker-0") && shows(&rows, &line), "{rows:?}");
}

#[test]
fn the_table_is_drawn_at_the_start_and_as_it_stands_at_the_end() {
    let terminal = Terminal::default();
    let mut live = Live::new(terminal.clone(), || (80, 24), &plan(), 2);
    live.on_event(&match_start(0));
    let first = terminal.drain();
    assert!(first.contains("a – b") && first.contains("0/2 pairings"), "{first:?}");
    for event in [pair(0), pair(1)].concat() {
        live.on_event(&event);
    }
    terminal.drain();
    live.on_event(&Event::MatchEnd { why: End::Complete, complete: 2, games: 4 });
    let last = terminal.drain();
    // Over what was drawn before, whatever that was.
    assert!(last.contains("\r\x1b[J"), "{last:?}");
    for text in ["2/2 pairings", "a: +2 =2 -0", "2.2  b – a"] {
        assert!(last.contains(text), "no {text:?} in {last:?}");
    }
    assert!(last.ends_with("everything was played: 2 pairings, 4 games\n"), "{last:?}");
}

#[test]
fn a_terminal_that_is_gone_ends_nothing() {
    struct Gone;
    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut live = Live::new(Gone, || (80, 24), &plan(), 1);
    live.on_event(&match_start(0));
    live.on_event(&Event::MatchEnd { why: End::Complete, complete: 1, games: 2 });
}

#[test]
fn an_end_is_told_with_what_is_known_of_it() {
    let mut standing = Standing::new(&plan(), 4);
    let mut hear = |winner, how| standing.on_event(&ended(0, 0, [A, B], winner, how));
    let line = hear(Some(Side::Second), GameEnd::time_forfeit(400));
    let told = "1.1  a – b  0-1  White loses on time by 0.4 ms (40 plies)";
    assert_eq!(line.as_deref(), Some(told));
    let line = hear(None, Termination::MoveLimit.into());
    let told = "1.1  a – b  1/2-1/2  draw by the limit of 22 moves (40 plies)";
    assert_eq!(line.as_deref(), Some(told));
}

#[test]
fn engines_are_ranked_by_their_ratings_once_these_are_known() {
    let plan: Plan = toml::from_str(
        "game = 'chess'\nrounds = 4\n[[engines]]\nname = 'a'\ncommand = 'a'\n\
         [[engines]]\nname = 'b'\ncommand = 'b'\n[[engines]]\nname = 'c'\ncommand = 'c'\n",
    )
    .expect("a plan");
    let mut standing = Standing::new(&plan, 4);
    let rows = standing.strength();
    assert!(shows(&rows, "Elo") && !shows(&rows, "rat"), "{rows:?}");
    let rating = |elo, error| Rating { elo, error };
    standing.on_event(&Event::Ratings(JointRatings {
        ratings: vec![
            rating(Some(-50.0), Some(19.6)),
            rating(Some(50.0), Some(19.6)),
            rating(None, None),
        ],
        first_move: rating(Some(12.0), Some(3.0)),
        covariance: vec![
            vec![Some(100.0), Some(-100.0), None],
            vec![Some(-100.0), Some(100.0), None],
            vec![None, None, None],
        ],
    }));
    standing.on_event(&Event::Champion { engine: EngineId(2) });
    let rows = standing.strength();
    let told = [
        "  1. b  0.0/0  – %  rating 50.0 +/- 19.6  100.0 +/- 39.2 above the next",
        "  2. a  0.0/0  – %  rating -50.0 +/- 19.6",
        "  3. c  0.0/0  – %  rating unknown +/- unknown",
        "rated together, with the mean 0; the first move is worth 12.0 +/- 3.0",
        "c wins the knockout",
    ];
    assert_eq!(rows, told);
}

#[test]
fn a_stop_says_what_it_waits_for_and_how_it_waits_no_longer() {
    let mut standing = Standing::new(&plan(), 4);
    let stopping = |how| Event::Stopping { how, why: End::Interrupted };
    let none = standing.on_event(&stopping(Stop::Finish));
    assert_eq!(none.as_deref(), Some("stopping: interrupted"));
    standing.on_event(&game_start(0, 0, [A, B]));
    let one = "stopping: interrupted; a pairing that is on is played to the end, and the next Ctrl-C \
               breaks off";
    assert_eq!(standing.on_event(&stopping(Stop::Finish)).as_deref(), Some(one));
    assert!(standing.rows().iter().any(|row| row == one), "a terminal shows it as well");
    standing.on_event(&game_start(1, 0, [A, B]));
    let two = one.replace("a pairing that is on is", "2 pairings that are on are");
    assert_eq!(standing.on_event(&stopping(Stop::Finish)), Some(two));
    let abort = "stopping: interrupted; games that are on are broken off";
    assert_eq!(standing.on_event(&stopping(Stop::Abort)).as_deref(), Some(abort));
}
