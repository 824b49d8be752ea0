//! Helpers that several groups of checks share.

use readyok_protocol::{Bound, Info};
use readyok_rules::Game;

use super::test_positions;
use crate::context::TestContext;
use crate::format;
use crate::message::{Message, message};
use crate::result::{Observation, Stop, TestResult};
use crate::session::EngineSession;
use crate::transcript::{Search, Transcript};

pub(super) fn middle(context: &TestContext<'_>) -> String {
    context.position(test_positions::of(context.game()).middle[0])
}

/// Positions whose search trees are exhausted quickly.
pub(super) fn soon_done(context: &TestContext<'_>) -> Vec<String> {
    let probe = test_positions::of(context.game());
    let mut texts = vec![probe.mate_in_one[0]];
    if context.game() == Game::Chess {
        texts.extend([test_positions::CHESS_FORCED, test_positions::CHESS_MATE_IN_TWO]);
    }
    texts.into_iter().map(|text| context.position(text)).collect()
}

/// Verifies that the search continues.
pub(super) fn continues(session: &mut EngineSession, early: Message) -> TestResult {
    if session.ends_by_itself()? {
        return Err(Stop::Fail(early));
    }
    Ok(())
}

/// Whether an engine without a reply to `stop` replies elsewhere. If not, another check covers it.
pub(super) fn obeys_stop(context: &TestContext<'_>) -> TestResult {
    let mut other = context.start_separate()?;
    other.send(&middle(context));
    other.send("go infinite");
    other.underway();
    other.send("stop");
    other.best(context.timeouts.answer())?;
    Ok(())
}

/// Evaluates the lines of all searches.
pub(super) fn each(
    transcript: &Transcript,
    judge: impl Fn(&Search, &Info<'_>) -> Option<Result<(), Message>>,
) -> Observation {
    let mut seen = 0;
    for search in transcript.searches() {
        for (at, info) in &search.infos {
            match judge(search, info) {
                Some(Ok(())) => seen += 1,
                Some(Err(why)) => return Err((*at, why)),
                None => (),
            }
        }
    }
    Ok(seen)
}

/// Depth of compared searches.
const COMPARED_DEPTH: u32 = 6;

/// The result of a search: its reply and its last score.
pub(super) fn search_summary(
    session: &mut EngineSession,
    context: &TestContext<'_>,
) -> Result<Message, Stop> {
    let found = session.search(&middle(context), &format!("go depth {COMPARED_DEPTH}"))?;
    let exact = found.infos.iter().filter(|info| info.bound == Bound::Exact);
    let answer = format::answer(&found.best.best);
    let Some(score) = exact.filter_map(|info| info.score).next_back() else {
        return Ok(message!("search.unscored-reply", answer));
    };
    let score = format::score(score, context.dialect);
    Ok(message!("search.scored-reply", answer, score))
}
