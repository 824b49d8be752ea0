//! How a match is shown on a terminal while it is played.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use readyok::matches::{Live, Standing};
use readyok_arena::event::{End, Event, Listener as _, Score};
use readyok_arena::pairing::Opening;
use readyok_arena::plan::{EngineId, Plan};
use readyok_arena::queue::WorkerId;
use readyok_arena::result::Termination;
use readyok_arena::store::ContentHash;
use readyok_rules::Side;

const A: EngineId = EngineId(0);
const B: EngineId = EngineId(1);

fn plan() -> Plan {
    toml::from_str(
        "game = 'chess'\nrounds = 4\n\
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
    let worker = WorkerId("worker-0".to_owned());
    Event::GameStart { pair, game, round: 1, first, second, worker, opening: Opening::default() }
}

fn game_end(pair: u64, game: u32, [first, second]: [EngineId; 2], winner: Option<Side>) -> Event {
    Event::GameEnd {
        pair,
        game,
        first,
        second,
        winner,
        termination: if winner.is_some() { Termination::Checkmate } else { Termination::Stalemate },
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
    standing.hear(&match_start(0));
    assert!(shows(&standing.rows(), "0/4 pairings"), "{:?}", standing.rows());
    let filled = |standing: &Standing| {
        standing.rows().iter().map(|row| row.matches('█').count()).sum::<usize>()
    };
    let mut before = filled(&standing);
    assert_eq!(before, 0);
    for index in 0..4 {
        for event in pair(index) {
            standing.hear(&event);
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
    standing.hear(&match_start(3));
    assert!(shows(&standing.rows(), "3/4 pairings"), "{:?}", standing.rows());
}

#[test]
fn a_game_is_shown_while_it_is_played_and_when_it_has_ended() {
    let mut standing = Standing::new(&plan(), 4);
    standing.hear(&match_start(0));
    assert!(!shows(&standing.rows(), "1.2"));
    standing.hear(&game_start(0, 1, [B, A]));
    let rows = standing.rows();
    assert!(shows(&rows, "worker-0") && shows(&rows, "1.2  b – a"), "{rows:?}");
    let line = standing.hear(&game_end(0, 1, [B, A], None)).expect("a line for people");
    assert!(line.contains("1.2  b – a") && line.contains("(40 plies)"), "{line}");
    let rows = standing.rows();
    assert!(!shows(&rows, "worker-0") && shows(&rows, &line), "{rows:?}");
}

/// What a terminal gets.
#[derive(Clone, Default)]
struct Terminal(Arc<Mutex<Vec<u8>>>);

impl Terminal {
    fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.0.lock().expect("one thread"))).expect("UTF-8")
    }
}

impl Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("one thread").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_table_is_drawn_at_the_start_and_as_it_stands_at_the_end() {
    let terminal = Terminal::default();
    let mut live = Live::new(terminal.clone(), || (80, 24), &plan(), 2);
    live.hear(&match_start(0));
    let first = terminal.take();
    assert!(first.contains("a – b") && first.contains("0/2 pairings"), "{first:?}");
    for event in [pair(0), pair(1)].concat() {
        live.hear(&event);
    }
    terminal.take();
    live.hear(&Event::MatchEnd { why: End::Complete, complete: 2, games: 4 });
    let last = terminal.take();
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
    live.hear(&match_start(0));
    live.hear(&Event::MatchEnd { why: End::Complete, complete: 1, games: 2 });
}
