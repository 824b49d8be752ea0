//! Property tests of client sessions.

use proptest::prelude::*;
use readyok_protocol::Dialect;

use crate::laws::client::{Harness, Step};

const LINES: &str = "\
    bestmove e2e4|bestmove (none)|bestmove 7g7f ponder 3c3d|readyok|uciok|usiok|checkmate nomate|\
    info depth 1 score cp 1 pv e2e4|info string hello|registration error|copyprotection checking|\
    option name Hash type spin default 1 min 1 max 9|id name Other||bestmove|\
    Unknown command: stop";

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0u8..7).prop_map(Step::Search),
        3 => Just(Step::Stop),
        2 => Just(Step::PonderHit),
        1 => Just(Step::PonderHitClocks),
        2 => Just(Step::NewGame),
        1 => Just(Step::GameOver),
        2 => any::<u8>().prop_map(Step::Option),
        2 => Just(Step::Ping),
        1 => Just(Step::Register),
        2 => any::<u16>().prop_map(Step::TimeoutKind),
        12 => Just(Step::Answer),
        6 => prop::sample::select(LINES.split('|').collect::<Vec<_>>())
            .prop_map(|line| Step::Line(line.to_owned())),
    ]
}

fn script() -> impl Strategy<Value = Vec<Step>> {
    let end = prop_oneof![Just(Step::Quit), Just(Step::Eof)];
    (prop::collection::vec(step(), 0..120), end, prop::collection::vec(step(), 0..6)).prop_map(
        |(mut steps, end, after)| {
            steps.push(end);
            steps.extend(after);
            steps.push(Step::Eof);
            steps
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Every search ends exactly once, the session violates no rule, and no handled deadline remains.
    #[test]
    fn every_search_ends_once_for_any_output(usi in any::<bool>(), steps in script()) {
        let mut table = Harness::new(if usi { Dialect::Usi } else { Dialect::Uci });
        for step in &steps {
            table.play(step);
        }
        for (id, ends) in &table.open {
            prop_assert_eq!(*ends, 1, "{:?} ended {} times", id, ends);
        }
    }

    /// With a correct engine nothing waits forever: after enough answers the session is idle.
    #[test]
    fn a_correct_engine_leads_to_an_idle_session(usi in any::<bool>(), steps in prop::collection::vec(step(), 0..80)) {
        let mut table = Harness::new(if usi { Dialect::Usi } else { Dialect::Uci });
        for step in steps.iter().filter(|step| !matches!(step, Step::Line(_))) {
            table.play(step);
        }
        if let Some(id) = table.last {
            table.session.stop(id, table.now, &mut table.out);
        }
        for _ in 0..50 {
            table.play(&Step::Answer);
        }
        prop_assert!(table.session.is_idle());
        prop_assert!(table.open.values().all(|ends| *ends == 1));
    }
}
