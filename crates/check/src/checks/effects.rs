//! What options do.

use readyok_protocol::{Best, OptionKind};

use super::{clause, probe, state};
use crate::bench::{Bench, Declared};
use crate::check::{Check, Need, Outcome, Profile, Severity, Stop, Test};
use crate::message::message;
use crate::talk::{Blame, Line, Talk};

/// A name that no engine has for an option.
const UNKNOWN: &str = "No Such Option";

macro_rules! effect {
    ($id:literal, $rule:literal, $place:literal, $says:literal, $usi:literal, $severity:ident, $needs:expr, $advice:literal, $run:ident) => {
        check!(
            $id,
            $rule,
            [concat!("UCI 2006, ", $place) => $says, "USI draft 1 §5.3, setoption" => $usi],
            $severity,
            Profile::ALL,
            $needs,
            $advice,
            Test::Ask($run)
        )
    };
}

pub(super) const CHECKS: &[Check] = &[
    effect!(
        "options.settable",
        "`setoption` accepts every declared option, including names with spaces",
        "setoption and option",
        "names may contain spaces, and every declared option can be set",
        "the client may set every declared option",
        Must,
        &[],
        "the name is everything between `name` and `value`, compared case-insensitively",
        known
    ),
    effect!(
        "options.before-ready",
        "options set between the handshake and `isready` take effect",
        "setoption and isready",
        "options are sent after the handshake, and `isready` waits until they are applied",
        "after `usiok` the client sets options, then sends `isready`",
        Must,
        &[Need::Option("MultiPV")],
        "accept values from the handshake on, and apply them by `isready`",
        before_ready
    ),
    effect!(
        "options.empty-string",
        "a string option accepts `<empty>` and a missing value as the empty string",
        "setoption and option",
        "the empty string is written `<empty>`",
        "`<empty>` is the empty string",
        Should,
        &[Need::Any("string")],
        "treat `<empty>` and a missing value as the empty string",
        empty_text
    ),
    check!(
        "options.value-ignores-case",
        "`TRUE` means `true`",
        ["UCI 2006, setoption" => "names and values are case-insensitive"],
        May,
        &[Profile::Uci2006],
        &[Need::Option("UCI_Chess960")],
        "compare values case-insensitively",
        Test::Ask(value_ignores_case),
    ),
    effect!(
        "options.limit-strength",
        "the engine replies as usual at minimum strength",
        "option UCI_LimitStrength and UCI_Elo",
        "the engine plays with the strength that was set",
        "the engine plays with the strength that was set",
        Should,
        &[Need::Option("UCI_LimitStrength")],
        "choose weaker moves without changing limits and replies",
        limit_strength
    ),
    effect!(
        "options.elo-without-limit",
        "`UCI_Elo` has no effect while strength is not limited",
        "option UCI_Elo",
        "it is used only if `UCI_LimitStrength` is true",
        "the level is used only if strength is limited",
        May,
        &[Need::Option("UCI_Elo"), Need::Option("UCI_LimitStrength")],
        "read `UCI_Elo` only while `UCI_LimitStrength` is true",
        elo_without_limit
    ),
    effect!(
        "options.own-book-off",
        "the engine searches the start position when its own book is off",
        "option OwnBook",
        "with false the engine calculates, and the client has the book",
        "without its own book the engine calculates",
        May,
        &[Need::Option("OwnBook")],
        "do not probe the book while `OwnBook` is false",
        own_book_off
    ),
    effect!(
        "options.opponent",
        "the engine accepts an opponent name with spaces",
        "option UCI_Opponent",
        "title, rating, kind and name of the opponent, in one value with spaces",
        "it identifies the opponent",
        May,
        &[Need::Option("UCI_Opponent")],
        "the value is everything after `value`",
        opponent
    ),
    effect!(
        "options.analyse-mode",
        "the engine searches as usual in analysis mode",
        "option UCI_AnalyseMode",
        "the client analyses, and does not play",
        "the client analyses, and does not play",
        May,
        &[Need::Option("UCI_AnalyseMode")],
        "restrict the effect of the option to analysis features",
        analyse_mode
    ),
];

fn middle(bench: &Bench<'_>) -> String {
    bench.position(probe::of(bench.game()).middle[0])
}

/// What the engine says to a value for an option, with the option's name left out.
fn said_to(talk: &mut Talk, name: &str, value: &str) -> Result<Vec<String>, Stop> {
    talk.say(&format!("setoption name {name} value {value}"));
    // Whether values do harm is for another check to judge.
    let said = talk.until_ready()?;
    let nameless = |line: Line| format!("{:?}", line.reply).replace(name, "");
    Ok(said.into_iter().map(nameless).collect())
}

/// The value that an option has already.
fn usual(option: &Declared) -> Option<String> {
    match &option.decl.kind {
        OptionKind::Check { default } => default.map(|it| it.to_string()),
        OptionKind::Spin { default, .. } => default.map(|it| it.to_string()),
        OptionKind::Combo { default, .. } => default.as_deref().map(str::to_owned),
        OptionKind::Button
        | OptionKind::String { .. }
        | OptionKind::Filename { .. }
        | OptionKind::Other { .. } => None,
    }
}

fn known(bench: &Bench<'_>) -> Outcome {
    // An engine that complains about what it does not know shall not say the same about what it does.
    let mut talk = bench.provoked()?;
    for option in &bench.facts.options {
        let Some(value) = usual(option) else { continue };
        let complaint = said_to(&mut talk, UNKNOWN, &value)?;
        let name = &option.decl.name;
        if !complaint.is_empty() && said_to(&mut talk, name, &value)? == complaint {
            return Err(Stop::Fail(message!("option.unknown", name, value)));
        }
    }
    Ok(())
}

fn before_ready(bench: &Bench<'_>) -> Outcome {
    let lines = |talk: &mut Talk| -> Result<u32, Stop> {
        talk.ready()?;
        let found = talk.search(&middle(bench), "go depth 3")?;
        Ok(found.infos.iter().filter_map(|info| info.multipv).max().unwrap_or(1))
    };
    let mut late = bench.ready()?;
    late.say(&bench.set("MultiPV", "2"));
    if lines(&mut late)? < 2 {
        return Err(Stop::Inconclusive(message!("multipv.not-visible")));
    }
    let mut early = bench.greeted()?;
    early.say(&bench.set("MultiPV", "2"));
    if lines(&mut early)? < 2 {
        return Err(Stop::Fail(message!("multipv.early-ignored")));
    }
    Ok(())
}

fn empty_text(bench: &Bench<'_>) -> Outcome {
    for option in &bench.facts.options {
        let OptionKind::String { default: Some(default) } = &option.decl.kind else { continue };
        if !default.is_empty() {
            continue;
        }
        let name = &option.decl.name;
        for line in
            [format!("setoption name {name} value <empty>"), format!("setoption name {name} value")]
        {
            let mut talk = bench.ready()?;
            talk.say(&line);
            // Some engines stumble at the line after it.
            if let Err(lost) = talk.ready().and_then(|_| talk.ready()) {
                // Where every text does this harm, it is none of the empty one.
                let mut other = bench.aside()?;
                other.say(&format!("setoption name {name} value ."));
                other.ready().map_err(|lost| {
                    Stop::Inconclusive(message!("option.empty-rejected", name, cause = lost))
                })?;
                return Err(lost.blame(message!("setoption.no-readyok", line)));
            }
            talk.search(&middle(bench), "go depth 1")
                .or_fail(message!("setoption.no-bestmove", line))?;
        }
    }
    Ok(())
}

fn value_ignores_case(bench: &Bench<'_>) -> Outcome {
    let castled = |value: &str| -> Result<bool, Stop> {
        let mut talk = bench.provoked()?;
        talk.say(&bench.set("UCI_Chess960", value));
        talk.ready()?;
        let position = "position fen r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1";
        // Each of the two words is castling in one of the modes.
        let found = talk.search(position, "go depth 1 searchmoves e1h1 e1g1")?;
        Ok(matches!(&found.best.best, Best::Move(mv) if mv.as_str() == "e1h1"))
    };
    if !castled("true")? {
        return Err(Stop::Skip(message!("option.true-not-visible")));
    }
    if castled("TRUE")? { Ok(()) } else { Err(Stop::Fail(message!("option.true-case-sensitive"))) }
}

/// The smallest value of a spin option.
fn least(bench: &Bench<'_>, name: &str) -> Option<String> {
    match bench.option(name)?.kind {
        OptionKind::Spin { min, .. } => min.map(|it| it.to_string()),
        _ => None,
    }
}

fn limit_strength(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    talk.say(&bench.set("UCI_LimitStrength", "true"));
    if let Some(least) = least(bench, "UCI_Elo") {
        talk.say(&bench.set("UCI_Elo", &least));
    }
    talk.ready().or_fail(message!("strength.no-readyok"))?;
    for go in ["go depth 4", "go movetime 100"] {
        talk.search(&middle(bench), go).or_fail(message!("strength.no-reply", go))?;
    }
    Ok(())
}

fn elo_without_limit(bench: &Bench<'_>) -> Outcome {
    let with = |commands: &[String]| -> Result<_, Stop> {
        let mut talk = bench.ready()?;
        for command in commands {
            talk.say(command);
        }
        talk.ready()?;
        state::result(&mut talk, bench)
    };
    let usual = with(&[])?;
    if with(&[])? != usual {
        return Err(Stop::Skip(message!("search.not-reproducible")));
    }
    let least = least(bench, "UCI_Elo").ok_or_else(|| Stop::Skip(message!("option.no-range")))?;
    let off = bench.set("UCI_LimitStrength", "false");
    let weak = with(&[off, bench.set("UCI_Elo", &least)])?;
    if weak != usual {
        return Err(Stop::Fail(message!("search.result-changed", before = usual, after = weak)));
    }
    Ok(())
}

fn own_book_off(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    talk.say(&bench.set("OwnBook", "false"));
    talk.ready()?;
    let found = talk.search("position startpos", "go movetime 150")?;
    if found.infos.iter().any(|info| info.score.is_some()) {
        return Ok(());
    }
    Err(Stop::Fail(message!("book.no-search")))
}

fn opponent(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    talk.say(&bench.set("UCI_Opponent", "GM 2800 human Ann Example"));
    talk.ready().or_fail(message!("opponent.no-readyok"))?;
    talk.say(&bench.set("UCI_Opponent", "none none computer Some Engine 1.0"));
    talk.ready().or_fail(message!("opponent.no-readyok"))?;
    talk.search(&middle(bench), "go depth 2").or_fail(message!("opponent.no-bestmove"))?;
    Ok(())
}

fn analyse_mode(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    talk.say(&bench.set("UCI_AnalyseMode", "true"));
    talk.ready().or_fail(message!("analyse.no-readyok"))?;
    talk.search(&middle(bench), "go depth 3").or_fail(message!("analyse.no-bestmove"))?;
    Ok(())
}
