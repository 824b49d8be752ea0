//! What is told of a match while it is played.

use readyok::matches::Standing;
use readyok_arena::event::{End, Event};
use readyok_arena::pairing::Opening;
use readyok_arena::plan::{EngineId, Plan};
use readyok_arena::queue::{Stop, WorkerId};
use readyok_arena::result::Termination;
use readyok_rules::Side;

fn plan() -> Plan {
    let engine = |name| format!("[[engines]]\nname = '{name}'\ncommand = '/nowhere/{name}'\n");
    let text = ["game = 'chess'\nadjudication = { max_moves = 22 }\n", &engine("a"), &engine("b")]
        .concat();
    toml::from_str(&text).expect("a plan")
}

fn started(pair: u64) -> Event {
    Event::GameStart {
        pair,
        game: 0,
        round: 1,
        first: EngineId(0),
        second: EngineId(1),
        worker: WorkerId(pair.to_string()),
        opening: Opening::default(),
    }
}

#[test]
fn an_end_is_told_with_what_is_known_of_it() {
    let mut standing = Standing::new(&plan(), 10);
    let mut hear = |winner, termination| {
        let (first, second) = (EngineId(0), EngineId(1));
        let (pair, game, plies, duration_ms) = (0, 0, 45, 1);
        let engines = Box::default();
        standing.hear(&Event::GameEnd {
            pair,
            game,
            first,
            second,
            winner,
            termination,
            plies,
            duration_ms,
            engines,
        })
    };
    let line = hear(Some(Side::Second), Termination::TimeForfeit { late_us: 400 });
    let told = "1.1  a – b  0-1  White loses on time by 0.4 ms (45 plies)";
    assert_eq!(line.as_deref(), Some(told));
    let line = hear(None, Termination::MoveLimit);
    let told = "1.1  a – b  1/2-1/2  draw by the limit of 22 moves (45 plies)";
    assert_eq!(line.as_deref(), Some(told));
}

#[test]
fn a_stop_says_what_it_waits_for_and_how_it_waits_no_longer() {
    let mut standing = Standing::new(&plan(), 10);
    let stopping = |how| Event::Stopping { how, why: End::Interrupted };
    let none = standing.hear(&stopping(Stop::Finish));
    assert_eq!(none.as_deref(), Some("stopping: interrupted"));
    standing.hear(&started(0));
    let one = "stopping: interrupted; a pairing that is on is played to the end, and the next Ctrl-C \
               breaks off";
    assert_eq!(standing.hear(&stopping(Stop::Finish)).as_deref(), Some(one));
    assert!(standing.rows().iter().any(|row| row == one), "a terminal shows it as well");
    standing.hear(&started(1));
    let two = one.replace("a pairing that is on is", "2 pairings that are on are");
    assert_eq!(standing.hear(&stopping(Stop::Finish)), Some(two));
    let abort = "stopping: interrupted; games that are on are broken off";
    assert_eq!(standing.hear(&stopping(Stop::Abort)).as_deref(), Some(abort));
}
