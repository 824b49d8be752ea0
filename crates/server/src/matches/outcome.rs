//! Outcomes of match games in the terms of the page.

use readyok_arena::result::{EndDetail, GameEnd, MatchGame};
use readyok_rules::Termination;

use crate::engine::{failure_problem, printable};
use crate::game::illegal_problem;
use crate::wire::{OutcomeView, Problem, ProblemKind};

/// How a game ended, for the page.
pub(super) fn of_game(game: &MatchGame) -> OutcomeView {
    let problem = problem(&game.end);
    let detail = problem.is_some().then(|| game.end.to_string());
    OutcomeView { detail, problem, ..game.outcome().into() }
}

fn problem(end: &GameEnd) -> Option<Problem> {
    Some(match (&end.detail, end.termination) {
        (Some(EndDetail::TimeForfeit { overrun_us }), _) => {
            Problem::new(ProblemKind::Late).with("time", &(overrun_us / 1000))
        }
        (Some(EndDetail::Stall { waited_ms }), _) => {
            Problem::new(ProblemKind::Silent).with("time", waited_ms)
        }
        (Some(EndDetail::IllegalMove { text, position: _, reason }), _) => {
            illegal_problem(*reason).with("move", &printable(text))
        }
        (Some(EndDetail::Engine { failure }), _) => failure_problem(failure),
        (None, Termination::DrawAdjudication) => Problem::new(ProblemKind::ByScores),
        (None, Termination::ResignAdjudication) => Problem::new(ProblemKind::ByScore),
        (None, Termination::MateAdjudication) => Problem::new(ProblemKind::ByMateClaim),
        (None, Termination::TablebaseAdjudication) => Problem::new(ProblemKind::ByTablebases),
        (None, _) => return None,
    })
}

#[cfg(test)]
mod tests {
    use readyok_client::{EngineFailure, EngineFailureKind, Exit};
    use readyok_rules::IllegalReason;

    use super::*;

    fn check(end: impl Into<GameEnd>, expected: Problem) {
        let end = end.into();
        assert_eq!(problem(&end), Some(expected), "{end:?}");
    }

    #[test]
    fn ends_of_match_games_become_problems() {
        let of = Problem::new;
        check(GameEnd::time_forfeit(2_500), of(ProblemKind::Late).with("time", "2"));
        check(GameEnd::stall(10), of(ProblemKind::Silent).with("time", "10"));
        check(Termination::MateAdjudication, of(ProblemKind::ByMateClaim));
        check(
            GameEnd::illegal_move("e2e5", "", IllegalReason::CannotReach),
            of(ProblemKind::CannotReach).with("move", "e2e5"),
        );
        let crash = GameEnd::crash(EngineFailure::exited(Exit::code(3)));
        check(crash, of(ProblemKind::Exited).with("code", "3"));
        let failure = EngineFailure::new(EngineFailureKind::ReadyTimeout);
        check(GameEnd::no_start(failure), of(ProblemKind::NotReady));
        assert_eq!(problem(&Termination::Checkmate.into()), None);
    }
}
