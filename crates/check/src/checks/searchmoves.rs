//! Searches restricted by `searchmoves`.

use readyok_protocol::{Best, Dialect};
use readyok_rules::{Game, Position};

use super::assertions;
use super::positions::read;
use crate::capabilities::Feature;
use crate::context::TestContext;
use crate::format;
use crate::message::message;
use crate::session::{EngineSession, OrFail, SearchResult};
use crate::spec::{Stop, TestResult};

/// Moves that an engine is unlikely to choose.
pub(super) fn unusual_moves(context: &TestContext<'_>) -> [&'static str; 2] {
    match context.dialect {
        Dialect::Uci => ["a2a3", "h2h4"],
        Dialect::Usi => ["9g9f", "1i1h"],
    }
}

/// Verifies that a search restricted to these moves returns one of them.
fn restricted(
    session: &mut EngineSession,
    depth: u32,
    moves: &[&str],
) -> Result<SearchResult, Stop> {
    let go = format!("go depth {depth} searchmoves {}", moves.join(" "));
    let found =
        session.search("position startpos", &go).or_fail(message!("go.no-reply", go = &go))?;
    match &found.best.best {
        Best::Move(mv) if moves.contains(&mv.as_str()) => Ok(found),
        answer => {
            let answer = format::answer(answer);
            Err(Stop::Fail(message!("go.reply", go, answer)))
        }
    }
}

pub(super) fn restricts(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    let moves = unusual_moves(context);
    restricted(&mut session, 2, &moves)?;
    restricted(&mut session, 2, &moves[1..])?;
    every_move_counts(context, &mut session)?;
    if session.lacks(Feature::Stop) {
        return Ok(());
    }
    // The restriction does not depend on the limit.
    let go = format!("go infinite searchmoves {}", moves[1]);
    session.send("position startpos");
    session.send(&go);
    session.underway();
    session.send("stop");
    let found =
        session.best(context.timeouts.answer()).or_fail(message!("go.no-reply", go = &go))?;
    match &found.best.best {
        Best::Move(mv) if mv.as_str() == moves[1] => Ok(()),
        answer => {
            let answer = format::answer(answer);
            Err(Stop::Fail(message!("go.reply", go, answer)))
        }
    }
}

/// Verifies that the engine chooses a mate among several moves, first or last.
fn every_move_counts(context: &TestContext<'_>, session: &mut EngineSession) -> TestResult {
    let text = assertions::test_positions(context.game()).mate_in_one[0];
    let position = read(context, text)?;
    let form = context.game().castling_form();
    let (mates, others): (Vec<_>, Vec<_>) =
        position.legal_moves().into_iter().partition(|mv| is_mate(&position, *mv));
    let (Some(mate), Some(other)) = (mates.first(), others.first()) else { return Ok(()) };
    let (mate, other) = (mate.to_uci(form), other.to_uci(form));
    let mut found = Vec::new();
    for moves in [format!("{mate} {other}"), format!("{other} {mate}")] {
        let go = format!("go depth 2 searchmoves {moves}");
        let reply = session
            .search(&context.position(text), &go)
            .or_fail(message!("go.no-reply", go = &go))?;
        found.push((go, format::answer(&reply.best.best)));
    }
    // A weak engine may miss the mate, but not because of its place in the list.
    let misses = found.iter().find(|(_, answer)| *answer != mate);
    match misses {
        Some((go, answer)) if found.iter().any(|(_, answer)| *answer == mate) => {
            Err(Stop::Fail(message!("searchmoves.order", go, answer, mate)))
        }
        _ => Ok(()),
    }
}

pub(super) fn is_mate(position: &Position, mv: readyok_rules::Move) -> bool {
    let mut next = position.clone();
    next.play(mv).is_ok()
        && next.legal_moves().is_empty()
        && (next.in_check() || next.game() == Game::Shogi)
}

pub(super) fn lines(context: &TestContext<'_>) -> TestResult {
    context.depends_on(Feature::SearchMoves)?;
    let mut session = context.ready_unchecked()?;
    session.send(&context.set("MultiPV", "3"));
    session.ready()?;
    let moves = unusual_moves(context);
    let found = restricted(&mut session, 4, &moves)?;
    let mut heads = found.infos.iter().filter_map(|info| info.pv.as_ref()?.tokens().next());
    match heads.find(|head| !moves.contains(head)) {
        Some(head) => Err(Stop::Fail(message!("searchmoves.other-head", head))),
        None => Ok(()),
    }
}

pub(super) fn first(context: &TestContext<'_>) -> TestResult {
    // Excluded from passive checks, because an engine may misread this order.
    let mut session = context.ready_unchecked()?;
    let go = format!("go searchmoves {} depth 2", unusual_moves(context).join(" "));
    let found = session.search("position startpos", &go).or_fail(message!("go.no-reply", go))?;
    found.if_complete().map(drop)
}
