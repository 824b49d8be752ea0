//! Failures that engines did not cause.

use crate::wire::{Failure, Problem, ProblemKind, Thing};

pub(super) fn other_game() -> Failure {
    Failure::new(ProblemKind::OtherGame, "the engine does not play this game")
}

pub(super) fn unsupported_position() -> Failure {
    Failure::new(ProblemKind::Untold, "the engine cannot be told of the position")
}

pub(crate) fn cannot_pass() -> Failure {
    Failure::new(ProblemKind::CannotPass, "the side to move cannot pass here")
}

pub(super) fn no_score() -> Failure {
    Failure::new(ProblemKind::NoScore, "the engine tells no score")
}

pub(super) fn engine_ended() -> Failure {
    Failure::new(ProblemKind::EngineEnded, "the engine was ended")
}

pub(super) fn killed_by_user() -> Failure {
    Failure::new(ProblemKind::KilledByUser, "it was killed")
}

pub(super) fn too_many_engines() -> Failure {
    Failure::new(ProblemKind::TooManyEngines, "too many engines run")
}

pub(crate) fn server_ends() -> Failure {
    Failure::new(ProblemKind::ServerEnds, "the server ends")
}

pub(super) fn game_changed() -> Failure {
    Failure::new(ProblemKind::GameChanged, "the game was changed")
}

pub(super) fn game_closed() -> Failure {
    Failure::new(ProblemKind::GameClosed, "the game was closed")
}

pub(super) fn too_many_games() -> Failure {
    Failure::new(Problem::too_many(Thing::Game), "there are too many games")
}
