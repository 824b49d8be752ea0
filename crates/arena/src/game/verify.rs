//! Verification of results of other hosts: the [`Referee`] replays each game of a pair.

use std::sync::Arc;
use std::time::Duration;

use readyok_rules::{Side, Termination};

use crate::game::referee::{Answer, OpeningError, Referee, Tablebases, Verdict};
use crate::pairing::{PairResult, Pairing};
use crate::plan::Plan;
use crate::result::{EndDetail, EngineInfo, MatchGame, MoveRecord};

/// A result that contradicts its pairing or the rules of the match.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidResult {
    /// The result is of another pairing.
    #[error("the result is of another pairing or opening")]
    OtherPairing,
    /// The number of games differs from that of the pairing.
    #[error("the result has {found} games")]
    GameCount {
        /// The number of games of the result.
        found: usize,
    },
    /// A game is invalid.
    #[error("game {}: {fault}", game + 1)]
    Game {
        /// The number of the game in its pair, counted from 0.
        game: u32,
        /// The contradiction.
        fault: GameFault,
    },
}

/// A contradiction in the result of a game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GameFault {
    /// The engines or their colors differ from those of the pairing.
    #[error("other engines or colors")]
    Colors,
    /// No game can start from the opening.
    #[error(transparent)]
    Opening(OpeningError),
    /// A text or a list is longer than any of a game.
    #[error("texts or lists are too long")]
    TooLong,
    /// A move is illegal.
    #[error("illegal move `{}` after {ply} plies", .text.escape_debug())]
    IllegalMove {
        /// The number of plies before it.
        ply: usize,
        /// The move.
        text: String,
    },
    /// An engine exceeded its time limit with a move, but did not lose.
    #[error("the move after {ply} plies exceeds the time limit")]
    Late {
        /// The number of plies before the move.
        ply: usize,
    },
    /// The game continues after its end.
    #[error("moves after the end ({}) at ply {ply}", .end.name())]
    AfterEnd {
        /// The number of plies to the end.
        ply: usize,
        /// The end.
        end: Termination,
    },
    /// The game has another end.
    #[error("{}", other_end(*.expected, *.found))]
    OtherEnd {
        /// The end by the rules; none if the game is not over.
        expected: Option<Termination>,
        /// The end in the result.
        found: Termination,
    },
    /// The winner contradicts the end of the game.
    #[error("wrong winner of a game that ended by {}", .end.name())]
    Winner {
        /// The end.
        end: Termination,
    },
}

fn other_end(expected: Option<Termination>, found: Termination) -> String {
    match expected {
        Some(expected) => format!("the end is {}, not {}", expected.name(), found.name()),
        None => format!("the game has not ended by {}", found.name()),
    }
}

/// Replays the games of a pair by the rules of a plan, with its clocks and adjudication.
///
/// Losses by time, crashes and resignations cannot be replayed: only the loser is checked. A tablebase adjudication is
/// checked if tablebases are given; otherwise it is accepted.
///
/// # Errors
/// The result contradicts its pairing or the rules.
pub fn verify_pair(
    plan: &Plan,
    pairing: &Pairing,
    result: &PairResult,
    tablebases: Option<&Arc<dyn Tablebases>>,
) -> Result<(), InvalidResult> {
    if result.pairing != *pairing {
        return Err(InvalidResult::OtherPairing);
    }
    if u32::try_from(result.games.len()) != Ok(pairing.games) {
        return Err(InvalidResult::GameCount { found: result.games.len() });
    }
    for (number, game) in (0..).zip(&result.games) {
        verify_game(plan, pairing, number, game, tablebases)
            .map_err(|fault| InvalidResult::Game { game: number, fault })?;
    }
    Ok(())
}

fn verify_game(
    plan: &Plan,
    pairing: &Pairing,
    number: u32,
    game: &MatchGame,
    tablebases: Option<&Arc<dyn Tablebases>>,
) -> Result<(), GameFault> {
    if (game.first, game.second) != pairing.sides(number) {
        return Err(GameFault::Colors);
    }
    if !has_normal_lengths(game) {
        return Err(GameFault::TooLong);
    }
    let engines = [game.first, game.second].map(|id| plan.engine(id));
    let [Some(first), Some(second)] = engines else { return Err(GameFault::Colors) };
    let limits = [first.limits, second.limits];
    let rules = &plan.adjudication;
    let mut referee = Referee::new(plan.game, &pairing.opening, limits, rules, None)
        .map_err(GameFault::Opening)?
        .trusting([first.trust_mates, second.trust_mates]);
    let mut verdict = Verdict::Continue;
    for (ply, made) in game.moves.iter().enumerate() {
        if let Verdict::Over(decision) = &verdict {
            return Err(GameFault::AfterEnd { ply, end: decision.end.termination });
        }
        let text = made.mv.to_string();
        verdict =
            referee.on_answer(Answer::Move(&text), Duration::from_micros(made.time_us), made.score);
        if referee.moves_made() == ply {
            return Err(match verdict {
                Verdict::Over(decision) if decision.end == Termination::TimeForfeit => {
                    GameFault::Late { ply }
                }
                _ => GameFault::IllegalMove { ply, text },
            });
        }
    }
    verify_end(plan, game, &mut referee, verdict, tablebases)
}

fn verify_end(
    plan: &Plan,
    game: &MatchGame,
    referee: &mut Referee,
    verdict: Verdict,
    tablebases: Option<&Arc<dyn Tablebases>>,
) -> Result<(), GameFault> {
    let found = game.end.termination;
    let other = |expected| Err(GameFault::OtherEnd { expected, found });
    let wrong_winner = Err(GameFault::Winner { end: found });
    if found == Termination::TablebaseAdjudication {
        let Some(rule) = &plan.adjudication.tablebases else { return other(None) };
        let Some(tables) = tablebases else { return Ok(()) };
        return match referee.decision_by(tables.as_ref(), rule) {
            Some(decision) if decision.winner == game.winner => Ok(()),
            Some(_) => wrong_winner,
            // The tablebases of this host may be smaller.
            None => Ok(()),
        };
    }
    if let Verdict::Over(decision) = verdict {
        return if decision.end.termination != found {
            other(Some(decision.end.termination))
        } else if decision.winner != game.winner {
            wrong_winner
        } else {
            Ok(())
        };
    }
    let turn = referee.turn();
    let has_lost = |side: Side| game.winner == Some(side.other());
    match found {
        Termination::TimeForfeit => {
            if referee.deadline().is_none() {
                return other(None);
            }
        }
        // Both engines start before the first move.
        Termination::EngineStartFailure if game.moves.is_empty() && game.winner.is_some() => {
            return Ok(());
        }
        Termination::EngineStall
        | Termination::EngineCrash
        | Termination::EngineStartFailure
        | Termination::Resignation => {}
        Termination::IllegalMove => {
            if let Some(EndDetail::IllegalMove { text, .. }) = &game.end.detail
                && referee
                    .position()
                    .legal_moves()
                    .iter()
                    .any(|legal| legal.uci(plan.game.castling_form()).as_str() == *text)
            {
                return other(None);
            }
        }
        Termination::Declaration | Termination::FailedDeclaration => {
            return match referee.on_answer(Answer::Declare, Duration::ZERO, None) {
                Verdict::Over(decision) if decision.end.termination != found => {
                    other(Some(decision.end.termination))
                }
                Verdict::Over(decision) if decision.winner == game.winner => Ok(()),
                Verdict::Over(_) | Verdict::Continue => wrong_winner,
            };
        }
        _ => return other(None),
    }
    if has_lost(turn) { Ok(()) } else { wrong_winner }
}

/// Whether texts and lists are within the limits of the runner.
fn has_normal_lengths(game: &MatchGame) -> bool {
    /// Maximum length of a text in bytes: any Unicode text within the limits of the runner.
    const MAX_BYTES: usize = 4 * MoveRecord::MAX_LINE;
    /// Far more kept lines than any configuration needs.
    const MAX_LINES: usize = 64;

    let is_short = |text: &str| text.len() <= 4 * EngineInfo::MAX_TEXT;
    let engines = game.engines.iter().all(|engine| {
        is_short(&engine.name)
            && is_short(&engine.author)
            && engine.threads.as_deref().is_none_or(is_short)
            && engine.hash.as_deref().is_none_or(is_short)
    });
    let moves = game.moves.iter().all(|made| {
        made.pv.tokens().count() <= MoveRecord::MAX_PV
            && made.lines.len() <= MAX_LINES
            && made.lines.iter().all(|line| line.len() <= MAX_BYTES)
    });
    engines && moves && game.warnings.len() <= MatchGame::MAX_WARNINGS
}
