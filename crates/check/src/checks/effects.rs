//! Effects of options.

use readyok_protocol::{Best, OptionKind, Reply};

use crate::capabilities::Feature;
use crate::checks::assertions::{middle, search_summary};
use crate::checks::clause;
use crate::context::{DeclaredOption, Test, TestCase, TestContext};
use crate::format;
use crate::message::message;
use crate::session::{EngineSession, Line, OrFail};
use crate::spec::{Need, Profile, Severity, Stop, TestResult};

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

/// The engine's output after setting an option.
fn output_after_setting(
    session: &mut EngineSession,
    name: &str,
    value: Option<&str>,
) -> Result<Vec<String>, Stop> {
    let value = value.map(|value| format!(" value {value}")).unwrap_or_default();
    session.send(&format!("setoption name {name}{value}"));
    // Another check covers the tolerance of values.
    let reported = session.until_ready().or_fail(message!("option.no-readyok", name))?;
    Ok(reported.into_iter().map(text_of).collect())
}

/// The text of a line for the user.
fn text_of(line: Line) -> String {
    match line.reply {
        Reply::Info(info) => info.string.map(std::borrow::Cow::into_owned).unwrap_or_default(),
        Reply::Unknown(text) => text.into_owned(),
        _ => String::new(),
    }
}

/// The tokens of a text, in lower case and without those of a name and value.
fn tokens_without(text: &str, name: &str, value: Option<&str>) -> Vec<String> {
    let split = |text: &str| -> Vec<String> {
        let tokens = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        tokens.filter(|token| !token.is_empty()).map(str::to_lowercase).collect()
    };
    let own: Vec<String> =
        split(name).into_iter().chain(split(value.unwrap_or_default())).collect();
    split(text).into_iter().filter(|token| !own.contains(token)).collect()
}

/// Phrases of warnings about an option.
const WARNINGS: [&str; 10] = [
    "unknown",
    "no such",
    "not found",
    "unrecognized",
    "unrecognised",
    "unsupported",
    "invalid",
    "not supported",
    "does not exist",
    "undefined",
];

/// Whether a line is a warning about an option: like one about an option that does not exist, or by its tokens.
fn is_warning(line: &str, about: &(&str, Option<&str>), unknown: &[Vec<String>]) -> bool {
    let tokens = tokens_without(line, about.0, about.1);
    let same = !tokens.is_empty() && unknown.contains(&tokens);
    let text = line.to_lowercase();
    let names_it = text.contains("option") || text.contains(&about.0.to_lowercase());
    same || names_it && WARNINGS.iter().any(|warning| text.contains(warning))
}

/// The default value of an option.
fn usual(option: &DeclaredOption) -> Option<String> {
    match &option.decl.kind {
        OptionKind::Check { default } => default.map(|default| default.to_string()),
        OptionKind::Spin { default, .. } => default.map(|default| default.to_string()),
        OptionKind::Combo { default, .. } => default.as_deref().map(str::to_owned),
        OptionKind::Button
        | OptionKind::String { .. }
        | OptionKind::Filename { .. }
        | OptionKind::Other { .. } => None,
    }
}

fn known(context: &TestContext<'_>) -> TestResult {
    // An engine that reports unknown options must not report declared ones as unknown.
    let mut session = context.ready_unchecked()?;
    // Some engines describe themselves at each `isready`.
    let usual_texts: Vec<String> = session.until_ready()?.into_iter().map(text_of).collect();
    for option in &context.engine_info.options {
        let value = usual(option);
        let is_button = option.decl.kind == OptionKind::Button;
        if value.is_none() && !is_button {
            continue;
        }
        let (name, value) = (&*option.decl.name, value.as_deref());
        let reported = match output_after_setting(&mut session, name, value) {
            // Another check covers buttons.
            Err(Stop::NoReply(why)) if is_button => return Err(Stop::Incomplete(why)),
            other => other?,
        };
        // Another check covers an engine that does not survive this.
        let Ok(unknown) = output_after_setting(&mut session, UNKNOWN, value) else {
            return Err(Stop::Inconclusive(message!("option.unknown-fatal")));
        };
        let unknown: Vec<Vec<String>> =
            unknown.iter().map(|line| tokens_without(line, UNKNOWN, value)).collect();
        let mut reported = reported.iter().filter(|line| !usual_texts.contains(line));
        if let Some(line) = reported.find(|line| is_warning(line, &(name, value), &unknown)) {
            return Err(Stop::Fail(message!("option.unknown", name, line = format::start(line))));
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
    context.depends_on(Feature::SearchMoves)?;
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
        OptionKind::Spin { min, .. } => min.map(|min| min.to_string()),
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
