//! Plans and results for tests.

use readyok_arena::pairing::{Opening, PairResult, Pairing};
use readyok_arena::plan::{EngineId, EnginePlan, Plan};
use readyok_arena::result::{EngineFailure, EngineInfo, GameEnd, MatchGame, MoveRecord};
use readyok_client::Exit;
use readyok_protocol::Score;
use readyok_rules::{Game, Side, Termination};

/// A plan for engines of these names, whose programs do not exist.
pub(crate) fn plan(engines: &[&str], rounds: u32) -> Plan {
    let text = format!("game = \"chess\"\nrounds = {rounds}\nengines = []\n");
    let engine = |name: &&str| EnginePlan {
        name: (*name).to_owned(),
        command: format!("/nowhere/{name}"),
        ..EnginePlan::default()
    };
    let plan: Plan = toml::from_str(&text).expect("a plan");
    Plan { engines: engines.iter().map(engine).collect(), game: Game::Chess, ..plan }
}

/// The pairing of an index between the first two engines.
pub(crate) fn pairing(index: u64) -> Pairing {
    Pairing {
        index,
        round: u32::try_from(index).expect("a small index") + 1,
        first: EngineId(0),
        second: EngineId(1),
        games: 2,
        fixed_colors: false,
        opening: Opening { index, ..Opening::default() },
        options: Default::default(),
    }
}

/// A pair that the first engine won with the first move and drew with the second.
pub(crate) fn pair(index: u64) -> PairResult {
    played(pairing(index))
}

/// What comes of any pairing: the engine with the lower number wins with the first move, and the
/// rest is drawn.
pub(crate) fn played(pairing: Pairing) -> PairResult {
    let game = |number: u32| {
        let (first, second) = pairing.sides(number);
        let winner = (first < second).then_some(Side::First);
        let moves: &[&str] = if winner.is_some() {
            // Scholar's mate.
            &["e2e4", "e7e5", "d1h5", "b8c6", "f1c4", "g8f6", "h5f7"]
        } else {
            &["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1", "f6g8"]
        };
        let termination =
            if winner.is_some() { Termination::Checkmate } else { Termination::Repetition };
        let moves = moves.iter().zip(1..).map(|(mv, ply)| MoveRecord {
            time_us: 1_000 * ply,
            score: Some(Score::Cp(12)),
            depth: Some(3),
            nodes: Some(100 * ply),
            pv: [*mv].into_iter().collect(),
            ..MoveRecord::new(mv.parse().expect("a move"))
        });
        MatchGame {
            first,
            second,
            winner,
            end: termination.into(),
            moves: moves.collect(),
            started_ms: 1_700_000_000_000,
            duration_ms: 28,
            warnings: Vec::new(),
            engines: <[EngineInfo; 2]>::default(),
        }
    };
    PairResult { games: (0..pairing.games).map(game).collect(), pairing, worker: None }
}

/// The end of a game whose loser crashed.
pub(crate) fn crash() -> GameEnd {
    GameEnd::crash(EngineFailure::exited(Exit::code(3)))
}
