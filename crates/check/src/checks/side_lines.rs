//! Several lines, lines beside the best one, and lines while pondering.

use readyok_protocol::Reply;
use readyok_rules::{Game, Position};

use super::info::{each, played, searched};
use super::{clause, probe};
use crate::bench::Bench;
use crate::check::{Check, Heard, Need, Outcome, Profile, Severity, Stop, Test};
use crate::conversation::Conversation;
use crate::message::said;
use crate::talk::Blame;

pub(super) const CHECKS: &[Check] = &[
    info!(
        "multipv-limit",
        "there are no more lines than `MultiPV` asks for",
        "`multipv` is for the k best lines, and k is 1 by default",
        "so many lines as the client asks for",
        Must,
        &[],
        "number lines from 1 to the value of `MultiPV`",
        Test::Hear(multipv_limit)
    ),
    info!(
        "multipv-together",
        "lines are sent in the order of their numbers: 1, 2, 3",
        "all k variants are sent together, in k strings",
        "with several lines all of them are sent, numbered from 1",
        Should,
        &[Need::Option("MultiPV")],
        "send line 1 first, and each of the others after the one before it",
        Test::Hear(multipv_together)
    ),
    info!(
        "multipv-few",
        "where there are fewer moves than lines asked for, there are as many lines as moves",
        "each of the k variants is another one",
        "each line begins with another move",
        Should,
        &[Need::Option("MultiPV")],
        "take the smaller one of `MultiPV` and the number of legal moves",
        Test::Ask(multipv_few)
    ),
    info!(
        "currline-asked",
        "`currline` is sent only while `UCI_ShowCurrLine` is true",
        "the engine should only send this if the option is set to true",
        "the line is sent only if the client asks for it",
        Must,
        &[],
        "look at the option before `currline` is sent",
        Test::Hear(current_line_asked)
    ),
    info!(
        "refutation-asked",
        "`refutation` is sent only while `UCI_ShowRefutations` is true",
        "the engine should only send this if the option is set to true",
        "refutations are sent only if the client asks for them",
        Must,
        &[],
        "look at the option before `refutation` is sent",
        Test::Hear(refutation_asked)
    ),
    info!(
        "currline",
        "`currline` and `refutation` can be played from the position that is searched",
        "the line that is being calculated, and moves with what refutes them",
        "both are lists of moves of this position",
        Should,
        &[Need::Option("UCI_ShowCurrLine")],
        "copy the line while no thread changes it",
        Test::Ask(current_line)
    ),
    info!(
        "ponder-pv",
        "while pondering variations begin after the move that is expected",
        "the last move of the position is the one to ponder on; without it there is to be no main line",
        "the position that is searched is the one after the expected move",
        Must,
        &[],
        "search the position that `position` has set up, its last move played",
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
            Err(said!("line {number} of {most}", number, most))
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
                return Err((
                    *at,
                    said!("line {number} comes after line {before}", number, before),
                ));
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
        .or_fail(said!("with one legal move and three lines there was no `bestmove`"))?;
    match found.infos.iter().filter(|info| info.pv.is_some()).filter_map(|it| it.multipv).max() {
        Some(lines) if 1 < lines => {
            Err(Stop::Fail(said!("there is one legal move, and there are {lines} lines", lines)))
        }
        _ => Ok(()),
    }
}

fn current_line_asked(talk: &Conversation) -> Heard {
    each(talk, |search, info| {
        let asked = search.settings.current_line || info.currline.is_none();
        Some(if asked { Ok(()) } else { Err(said!("nobody has asked for `currline`")) })
    })
}

fn refutation_asked(talk: &Conversation) -> Heard {
    each(talk, |search, info| {
        let asked = search.settings.refutations || info.refutation.is_none();
        Some(if asked { Ok(()) } else { Err(said!("nobody has asked for `refutation`")) })
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
        return Err(Stop::Inconclusive(said!("`go infinite` ended by itself")));
    }
    if said.is_empty() {
        return Err(Stop::Skip(said!("in 1.8 s there was no such line")));
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
