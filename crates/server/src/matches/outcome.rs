//! Outcomes of match games in the terms of the page.

use readyok_arena::result::{EndDetail, GameEnd, MatchGame};
use readyok_rules::Termination;

use crate::engine::{engine_failure, printable};
use crate::wire::{ErrorCode, ErrorInfo, OutcomeView};

pub(super) fn of_game(game: &MatchGame) -> OutcomeView {
    OutcomeView { detail: detail(&game.end), ..game.outcome().into() }
}

fn detail(end: &GameEnd) -> Option<ErrorInfo> {
    let code = match (&end.detail, end.termination) {
        (Some(EndDetail::TimeForfeit { overrun_us }), _) => {
            ErrorCode::TimeLimitExceeded { time: overrun_us / 1000 }
        }
        (Some(EndDetail::Stall { waited_ms }), _) => ErrorCode::NoOutput { time: *waited_ms },
        (Some(EndDetail::IllegalMove { text, position: _, reason }), _) => {
            return Some(ErrorCode::from(*reason).with(|it| it.mv = Some(printable(text))));
        }
        (Some(EndDetail::Engine { failure }), _) => return Some(engine_failure(failure)),
        (None, Termination::DrawAdjudication) => ErrorCode::DrawAdjudication,
        (None, Termination::ResignAdjudication) => ErrorCode::ResignAdjudication,
        (None, Termination::MateAdjudication) => ErrorCode::MateAdjudication,
        (None, Termination::TablebaseAdjudication) => ErrorCode::TablebaseAdjudication,
        (None, _) => return None,
    };
    Some(code.into())
}

#[cfg(test)]
mod tests {
    use readyok_client::{EngineFailure, EngineFailureKind, Exit};
    use readyok_rules::IllegalReason;

    use super::*;

    fn check(end: impl Into<GameEnd>, expected: impl Into<ErrorInfo>) {
        let end = end.into();
        assert_eq!(detail(&end), Some(expected.into()), "{end:?}");
    }

    #[test]
    fn ends_of_match_games_have_details() {
        check(GameEnd::time_forfeit(2_500), ErrorCode::TimeLimitExceeded { time: 2 });
        check(GameEnd::stall(10), ErrorCode::NoOutput { time: 10 });
        check(Termination::MateAdjudication, ErrorCode::MateAdjudication);
        check(
            GameEnd::illegal_move("e2e5", "", IllegalReason::CannotReach),
            ErrorCode::Unreachable.with(|it| it.mv = Some("e2e5".to_owned())),
        );
        let crash = GameEnd::crash(EngineFailure::exited(Exit::code(3)));
        check(crash, ErrorCode::Exited { status: 3 });
        let failure = EngineFailure::new(EngineFailureKind::ReadyTimeout);
        check(GameEnd::no_start(failure), ErrorCode::ReadyTimeout);
        assert_eq!(detail(&Termination::Checkmate.into()), None);
    }
}
