//! Several lines, lines beside the best one, and lines while pondering.

use readyok_protocol::Reply;
use readyok_rules::{Game, Position};

use super::info::{each, played, searched};
use super::{clause, probe};
use crate::bench::Bench;
use crate::check::{Check, Heard, Need, Outcome, Profile, Severity, Stop, Test};
use crate::conversation::Conversation;
use crate::message::message;
use crate::talk::Blame;

pub(super) const CHECKS: &[Check] = &[
    info!(
        "multipv-limit",
        "the number of lines does not exceed `MultiPV`",
        "`multipv` is for the k best lines, and k is 1 by default",
        "the client requests the number of lines",
        Must,
        &[],
        "number lines from 1 to the value of `MultiPV`",
        Test::Hear(multipv_limit)
    ),
    info!(
        "multipv-order",
        "lines are sent in order: 1, 2, 3",
        "all k variants are sent together, in k strings",
        "all lines are sent, numbered from 1",
        Should,
        &[Need::Option("MultiPV")],
        "send line 1 first, then the others in order",
        Test::Hear(multipv_together)
    ),
    info!(
        "multipv-forced",
        "the number of lines does not exceed the number of legal moves",
        "the k variants differ",
        "each line begins with a different move",
        Should,
        &[Need::Option("MultiPV")],
        "use the minimum of `MultiPV` and the number of legal moves",
        Test::Ask(multipv_few)
    ),
    info!(
        "currline-requested",
        "`currline` is sent only while `UCI_ShowCurrLine` is true",
        "the engine should only send this if the option is set to true",
        "the line is sent only on request",
        Must,
        &[],
        "check the option before sending `currline`",
        Test::Hear(current_line_asked)
    ),
    info!(
        "refutation-requested",
        "`refutation` is sent only while `UCI_ShowRefutations` is true",
        "the engine should only send this if the option is set to true",
        "refutations are sent only on request",
        Must,
        &[],
        "check the option before sending `refutation`",
        Test::Hear(refutation_asked)
    ),
    info!(
        "currline",
        "`currline` and `refutation` are legal in the searched position",
        "the current line, and moves with their refutations",
        "both are lists of moves of this position",
        Should,
        &[Need::Option("UCI_ShowCurrLine")],
        "copy the line while no thread modifies it",
        Test::Ask(current_line)
    ),
    info!(
        "ponder-pv",
        "while pondering, PVs begin after the expected move",
        "the last move of the position is the ponder move; the PV begins after it",
        "the position after the expected move is searched",
        Must,
        &[],
        "search the position of the last `position`, including its last move",
        Test::Hear(ponder_pv)
    ),
];

fn multipv_limit(talk: &Conversation) -> Heard {
    each(talk, |search, info| {
        let number = info.multipv?;
        let most = search.settings.lines;
        Some(if number <= most {
            Ok(())
        } else {
            Err(message!("multipv.exceeded", number, limit = most))
        })
    })
}

fn multipv_together(talk: &Conversation) -> Heard {
    let mut seen = 0;
    for search in talk.searches().iter().filter(|it| 1 < it.settings.lines) {
        let mut before = 0;
        for (at, info) in &search.infos {
            let (Some(number), Some(_)) = (info.multipv, &info.pv) else { continue };
            seen += 1;
            // A line may be sent again when its score was only a bound.
            if 1 < number && number != before && number != before + 1 {
                return Err((*at, message!("multipv.order", number, before)));
            }
            before = number;
        }
    }
    Ok(seen)
}

fn multipv_few(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.provoked()?;
    talk.say(&bench.set("MultiPV", "3"));
    talk.ready()?;
    let text = match bench.game() {
        Game::Chess | Game::Chess960 => probe::CHESS_FORCED,
        Game::Shogi => probe::of(Game::Shogi).mated_next[0],
    };
    let found = talk
        .search(&bench.position(text), "go depth 2")
        .or_fail(message!("multipv.forced-no-bestmove"))?;
    match found.infos.iter().filter(|info| info.pv.is_some()).filter_map(|it| it.multipv).max() {
        Some(lines) if 1 < lines => Err(Stop::Fail(message!("multipv.forced", lines))),
        _ => Ok(()),
    }
}

fn current_line_asked(talk: &Conversation) -> Heard {
    each(talk, |search, info| {
        let asked = search.settings.current_line || info.currline.is_none();
        Some(if asked { Ok(()) } else { Err(message!("currline.unrequested")) })
    })
}

fn refutation_asked(talk: &Conversation) -> Heard {
    each(talk, |search, info| {
        let asked = search.settings.refutations || info.refutation.is_none();
        Some(if asked { Ok(()) } else { Err(message!("refutation.unrequested")) })
    })
}

fn current_line(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.provoked()?;
    for name in ["UCI_ShowCurrLine", "UCI_ShowRefutations"] {
        if bench.option(name).is_some() {
            talk.say(&bench.set(name, "true"));
        }
    }
    talk.ready()?;
    let text = probe::of(bench.game()).middle[0];
    let position =
        Position::from_text(bench.game(), text).map_err(|error| Stop::unplayable(&error))?;
    talk.say(&bench.position(text));
    talk.say("go infinite");
    let mut said = Vec::new();
    let enough = talk.hear(std::time::Duration::from_millis(1800), |line| {
        if let Reply::Info(info) = &line.reply {
            said.extend(info.currline.as_ref().map(|it| it.moves.clone()));
            said.extend(info.refutation.clone());
        }
        (8 < said.len()).then_some(())
    });
    if enough.is_err() && !talk.is_searching() {
        return Err(Stop::Inconclusive(message!("infinite.ended")));
    }
    if said.is_empty() {
        return Err(Stop::Skip(message!("currline.none")));
    }
    for moves in said {
        searched(&position, &moves).map_err(Stop::Fail)?;
    }
    talk.say("stop");
    talk.best(bench.pace.answer())?;
    Ok(())
}

fn ponder_pv(talk: &Conversation) -> Heard {
    each(talk, |search, info| {
        let position = search.position.as_ref().filter(|_| search.go.ponder)?;
        Some(played(position, info.pv.as_ref()?).map(drop))
    })
}
