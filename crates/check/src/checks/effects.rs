//! Effects of options.

use readyok_protocol::{Best, OptionKind};

use super::assertions::{middle, search_summary};
use super::clause;
use crate::context::{DeclaredOption, Test, TestCase, TestContext};
use crate::message::message;
use crate::result::{Stop, TestResult};
use crate::session::{EngineSession, Line, OrFail};
use crate::spec::{Need, Profile, Severity};

/// A name that no option has.
const UNKNOWN: &str = "No Such Option";

macro_rules! effect {
    ($id:literal, $rule:literal, $source:literal, $text:literal, $usi:literal, $severity:ident, $needs:expr, $advice:literal, $run:ident) => {
        check!(
            $id,
            $rule,
            [concat!("UCI 2006, ", $source) => $text, "USI draft 1 §5.3, setoption" => $usi],
            $severity,
            Profile::ALL,
            $needs,
            $advice,
            Test::Interactive($run)
        )
    };
}

pub(super) const CHECKS: &[TestCase] = &[
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
        Test::Interactive(value_ignores_case),
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

/// The engine's output after setting an option, without the option's name.
fn output_after_setting(
    session: &mut EngineSession,
    name: &str,
    value: &str,
) -> Result<Vec<String>, Stop> {
    session.send(&format!("setoption name {name} value {value}"));
    // Another check covers the tolerance of values.
    let reported = session.until_ready()?;
    let nameless = |line: Line| format!("{:?}", line.reply).replace(name, "");
    Ok(reported.into_iter().map(nameless).collect())
}

/// The default value of an option.
fn usual(option: &DeclaredOption) -> Option<String> {
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

fn known(context: &TestContext<'_>) -> TestResult {
    // An engine that reports unknown options must not report the same for declared ones.
    let mut session = context.ready_unchecked()?;
    for option in &context.engine_info.options {
        let Some(value) = usual(option) else { continue };
        let diagnostic = output_after_setting(&mut session, UNKNOWN, &value)?;
        let name = &option.decl.name;
        if !diagnostic.is_empty() && output_after_setting(&mut session, name, &value)? == diagnostic
        {
            return Err(Stop::Fail(message!("option.unknown", name, value)));
        }
    }
    Ok(())
}

fn before_ready(context: &TestContext<'_>) -> TestResult {
    let lines = |session: &mut EngineSession| -> Result<u32, Stop> {
        session.ready()?;
        let found = session.search(&middle(context), "go depth 3")?;
        Ok(found.infos.iter().filter_map(|info| info.multipv).max().unwrap_or(1))
    };
    let mut late = context.ready()?;
    late.send(&context.set("MultiPV", "2"));
    if lines(&mut late)? < 2 {
        return Err(Stop::Inconclusive(message!("multipv.not-visible")));
    }
    let mut early = context.after_handshake()?;
    early.send(&context.set("MultiPV", "2"));
    if lines(&mut early)? < 2 {
        return Err(Stop::Fail(message!("multipv.early-ignored")));
    }
    Ok(())
}

fn empty_text(context: &TestContext<'_>) -> TestResult {
    for option in &context.engine_info.options {
        let OptionKind::String { default: Some(default) } = &option.decl.kind else { continue };
        if !default.is_empty() {
            continue;
        }
        let name = &option.decl.name;
        for line in
            [format!("setoption name {name} value <empty>"), format!("setoption name {name} value")]
        {
            let mut session = context.ready()?;
            session.send(&line);
            // Some engines misread the next line.
            if let Err(failure) = session.ready().and_then(|_| session.ready()) {
                // If any text has this effect, the empty string is not the cause.
                let mut other = context.start_separate()?;
                other.send(&format!("setoption name {name} value ."));
                other.ready().map_err(|failure| {
                    Stop::Inconclusive(message!("option.empty-rejected", name, cause = failure))
                })?;
                return Err(failure.into_failure(message!("setoption.no-readyok", line)));
            }
            session
                .search(&middle(context), "go depth 1")
                .or_fail(message!("setoption.no-bestmove", line))?;
        }
    }
    Ok(())
}

fn value_ignores_case(context: &TestContext<'_>) -> TestResult {
    let castled = |value: &str| -> Result<bool, Stop> {
        let mut session = context.ready_unchecked()?;
        session.send(&context.set("UCI_Chess960", value));
        session.ready()?;
        let position = "position fen r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1";
        // Each of the two tokens is castling in one of the modes.
        let found = session.search(position, "go depth 1 searchmoves e1h1 e1g1")?;
        Ok(matches!(&found.best.best, Best::Move(mv) if mv.as_str() == "e1h1"))
    };
    if !castled("true")? {
        return Err(Stop::Skip(message!("option.true-not-visible")));
    }
    if castled("TRUE")? { Ok(()) } else { Err(Stop::Fail(message!("option.true-case-sensitive"))) }
}

/// The smallest value of a spin option.
fn least(context: &TestContext<'_>, name: &str) -> Option<String> {
    match context.option(name)?.kind {
        OptionKind::Spin { min, .. } => min.map(|it| it.to_string()),
        _ => None,
    }
}

fn limit_strength(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    session.send(&context.set("UCI_LimitStrength", "true"));
    if let Some(least) = least(context, "UCI_Elo") {
        session.send(&context.set("UCI_Elo", &least));
    }
    session.ready().or_fail(message!("strength.no-readyok"))?;
    for go in ["go depth 4", "go movetime 100"] {
        session.search(&middle(context), go).or_fail(message!("strength.no-reply", go))?;
    }
    Ok(())
}

fn elo_without_limit(context: &TestContext<'_>) -> TestResult {
    let with = |commands: &[String]| -> Result<_, Stop> {
        let mut session = context.ready()?;
        for command in commands {
            session.send(command);
        }
        session.ready()?;
        search_summary(&mut session, context)
    };
    let usual = with(&[])?;
    if with(&[])? != usual {
        return Err(Stop::Skip(message!("search.not-reproducible")));
    }
    let least = least(context, "UCI_Elo").ok_or_else(|| Stop::Skip(message!("option.no-range")))?;
    let off = context.set("UCI_LimitStrength", "false");
    let weak = with(&[off, context.set("UCI_Elo", &least)])?;
    if weak != usual {
        return Err(Stop::Fail(message!("search.result-changed", before = usual, after = weak)));
    }
    Ok(())
}

fn own_book_off(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    session.send(&context.set("OwnBook", "false"));
    session.ready()?;
    let found = session.search("position startpos", "go movetime 150")?;
    if found.infos.iter().any(|info| info.score.is_some()) {
        return Ok(());
    }
    Err(Stop::Fail(message!("book.no-search")))
}

fn opponent(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    session.send(&context.set("UCI_Opponent", "GM 2800 human Ann Example"));
    session.ready().or_fail(message!("opponent.no-readyok"))?;
    session.send(&context.set("UCI_Opponent", "none none computer Some Engine 1.0"));
    session.ready().or_fail(message!("opponent.no-readyok"))?;
    session.search(&middle(context), "go depth 2").or_fail(message!("opponent.no-bestmove"))?;
    Ok(())
}

fn analyse_mode(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    session.send(&context.set("UCI_AnalyseMode", "true"));
    session.ready().or_fail(message!("analyse.no-readyok"))?;
    session.search(&middle(context), "go depth 3").or_fail(message!("analyse.no-bestmove"))?;
    Ok(())
}
