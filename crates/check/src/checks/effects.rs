//! Effects of options, and resource usage of the engine.

use std::time::Duration;

use readyok_protocol::{Best, OptionKind, Reply, Rule};

use crate::baseline::Feature;
use crate::checks::assertions::{middle, search_summary};
use crate::checks::clause;
use crate::context::{DeclaredOption, Test, TestCase, TestContext, range};
use crate::format;
use crate::message::message;
use crate::session::{EngineSession, Line, OrFail};
use crate::spec::{Need, Profile, Severity, Stop, TestResult};
use crate::target::Usage;
use crate::timeouts::now;

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
    let value = value.map(|it| format!(" value {it}")).unwrap_or_default();
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
        tokens.filter(|it| !it.is_empty()).map(str::to_lowercase).collect()
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
    same || names_it && WARNINGS.iter().any(|it| text.contains(it))
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
        let mut reported = reported.iter().filter(|it| !usual_texts.contains(it));
        if let Some(line) = reported.find(|it| is_warning(it, &(name, value), &unknown)) {
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

/// Duration of one measurement of an idle engine, their number, and the maximum CPU usage of the best.
/// Some systems count in hundredths of a second.
const LOOK: Duration = Duration::from_millis(200);
const BUSY: f64 = 0.12;
const LITTLE: Duration = Duration::from_millis(2);

/// Hash sizes in MB that are compared, and the allowance for other memory.
const HASH: i64 = 64;
const OTHER_MEMORY: u64 = 16 << 20;

pub(super) const RESOURCES_CHECKS: &[TestCase] = &[
    check!(
        "resources.idle",
        "an idle engine uses no CPU time, before its first search and after a search",
        [
            "UCI 2006, general rules" => "the engine waits for commands, and calculates only after `go`",
            "USI draft 1 §5.1" => "the engine does not calculate without `go`",
        ],
        Must,
        Profile::ALL,
        &[Need::Process],
        "block while waiting for input, and end or park search threads after a search",
        Test::Interactive(idle),
    ),
    check!(
        "resources.no-own-ponder",
        "the engine ponders only after `go ponder`",
        [
            "UCI 2006, bestmove and option Ponder" => "the engine does not start to ponder by itself",
            "USI draft 1 §5.3, option USI_Ponder" => "the option allows pondering, and `go ponder` starts it",
        ],
        Must,
        &[Profile::Uci2006, Profile::UciModern, Profile::UsiDraft1],
        &[Need::Process, Need::Option("Ponder")],
        "after `bestmove` wait for `go ponder`, even while the option is true",
        Test::Interactive(no_own_ponder),
    ),
    check!(
        "resources.undrained-stderr",
        "the engine continues if its stderr is not read",
        [
            "practice" => "some clients never read the stderr pipe, which holds 64 KiB",
        ],
        Should,
        Profile::ALL,
        &[Need::Process],
        "write little to stderr, and nothing during a search",
        Test::Interactive(undrained_stderr),
    ),
    check!(
        "resources.hash-memory",
        "a larger hash table increases memory usage by its size",
        [
            "UCI 2006, option Hash" => "the value is the memory for hash tables in MB",
            "USI draft 1 §5.3, option USI_Hash" => "the memory of hash tables, in MB",
        ],
        Should,
        Profile::ALL,
        &[Need::Process, Need::Option("Hash")],
        "include all tables that depend on the option, and round the size down",
        Test::Interactive(hash_memory),
    ),
    check!(
        "resources.hash-follows",
        "the memory usage follows the hash size",
        [
            "UCI 2006, option Hash" => "the value is the memory for hash tables in MB",
            "USI draft 1 §5.3, option USI_Hash" => "the memory of hash tables, in MB",
        ],
        Should,
        Profile::ALL,
        &[Need::Process, Need::Option("Hash")],
        "allocate the table with the size of the option",
        Test::Interactive(hash_follows),
    ),
    check!(
        "resources.hash-resize",
        "the hash table can be resized between searches",
        [
            "UCI 2006, option Hash and setoption" => "the value can be changed while the engine is waiting",
            "USI draft 1 §5.3, setoption" => "it may be sent while the engine is waiting",
        ],
        Should,
        Profile::ALL,
        &[Need::Option("Hash")],
        "allocate the new table before the next search, without pointers into the old one",
        Test::Interactive(hash_resize),
    ),
];

pub(super) fn usage(session: &EngineSession) -> Result<Usage, Stop> {
    let unknown = || Stop::Skip(message!("usage.unavailable"));
    session.usage().ok_or_else(unknown)
}

/// The lowest CPU usage of several measurements.
///
/// A JIT compiler may run for some seconds after `readyok`.
fn share(session: &mut EngineSession) -> Result<f64, Stop> {
    let mut least: Option<f64> = None;
    let rests = now() + session.timeouts().answer();
    while least.is_none_or(|least| BUSY < least) && now() < rests {
        let (begin, before) = (now(), usage(session)?);
        session.listen(LOOK);
        let after = usage(session)?;
        let took = after.cpu.saturating_sub(before.cpu);
        // Relative to the CPU time that was available on a busy host.
        let waited = after.waited.saturating_sub(before.waited);
        let had = now().saturating_duration_since(begin).saturating_sub(waited).max(took);
        // The time in the run queue is counted only when it ends: without CPU time, a runnable thread may still wait.
        if took <= LITTLE && 0 < after.runnable {
            continue;
        }
        let share = if took <= LITTLE { 0.0 } else { took.as_secs_f64() / had.as_secs_f64() };
        least = Some(least.map_or(share, |least| least.min(share)));
    }
    least.ok_or_else(|| Stop::Loaded(message!("usage.loaded")))
}

fn idle(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    let begins = [
        message!("when.before-search"),
        message!("when.after-search"),
        message!("when.after-position"),
    ];
    for (number, when) in begins.into_iter().enumerate() {
        match number {
            0 => (),
            1 => drop(session.search(&middle(context), "go depth 3")?),
            _ => {
                session.send(&middle(context));
                session.ready()?;
            }
        }
        let share = share(&mut session)?;
        if BUSY < share {
            let percent = share * 100.0;
            return Err(Stop::Fail(message!(
                "usage.idle",
                when,
                percent = format!("{percent:.0}")
            )));
        }
    }
    Ok(())
}

fn no_own_ponder(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    session.send(&context.set("Ponder", "true"));
    session.ready()?;
    session.search(&middle(context), "go depth 4")?;
    session.ready()?;
    let reported = session.listen(context.timeouts.quiet());
    let thinks = |reply: &Reply<'_>| matches!(reply, Reply::Info(info) if info.depth.is_some() || info.pv.is_some());
    if reported.iter().any(|line| thinks(&line.reply)) {
        return Err(Stop::Fail(message!("ponder.own-info")));
    }
    let share = share(&mut session)?;
    if BUSY < share {
        let percent = share * 100.0;
        return Err(Stop::Fail(message!("ponder.own-usage", percent = format!("{percent:.0}"))));
    }
    Ok(())
}

fn undrained_stderr(context: &TestContext<'_>) -> TestResult {
    let mut session = context.start_with_undrained_stderr()?;
    crate::context::handshake(&mut session, context.dialect)?;
    session.ready().or_fail(message!("stderr.no-readyok"))?;
    for depth in [2, 4] {
        session
            .search(&middle(context), &format!("go depth {depth}"))
            .or_fail(message!("stderr.no-reply"))?;
    }
    session.until_ready().or_fail(message!("stderr.no-readyok-later"))?;
    Ok(())
}

fn hash_range(context: &TestContext<'_>) -> Result<(i64, i64), Stop> {
    let (least, limit) = context
        .option("Hash")
        .and_then(range)
        .ok_or_else(|| Stop::Skip(message!("hash.no-range")))?;
    Ok((least.unwrap_or(1), limit.unwrap_or(1)))
}

/// The memory usage after a search with a hash table of the given size in MB, and the number of searched nodes.
fn usage_with(context: &TestContext<'_>, size: i64, go: &str) -> Result<(Usage, u64), Stop> {
    let mut session = context.ready()?;
    session.send(&context.set("Hash", &size.to_string()));
    session.ready()?;
    let found = session.search(&middle(context), go)?;
    let nodes = found.infos.iter().filter_map(|info| info.nodes).max();
    Ok((usage(&session)?, nodes.unwrap_or_default()))
}

/// Searches with which memory is measured.
const SHORT_SEARCH: &str = "go movetime 200";
const LONG_SEARCH: &str = "go movetime 2000";

fn hash_memory(context: &TestContext<'_>) -> TestResult {
    let (least, limit) = hash_range(context)?;
    if !(least..=limit).contains(&HASH) {
        return Err(Stop::Skip(message!("hash.not-allowed", size = HASH)));
    }
    let (small, _) = usage_with(context, least.max(1), SHORT_SEARCH)?;
    let (large, _) = usage_with(context, HASH, SHORT_SEARCH)?;
    let (small, large) = (small.resident, large.resident);
    let table = u64::try_from(HASH - least.max(1)).unwrap_or_default() << 20;
    let more = large.saturating_sub(small);
    let mb = |bytes: u64| bytes >> 20;
    context.remark(format!(
        "{} MB with the smallest hash table, {} MB with one of {HASH} MB",
        mb(small),
        mb(large)
    ));
    if table + table / 4 + OTHER_MEMORY < more {
        return Err(Stop::Fail(message!("hash.memory", size = mb(table), more = mb(more))));
    }
    Ok(())
}

/// Part of the additional hash table that has to be visible: engines round down to a power of two.
const VISIBLE: u64 = 4;

/// Size of the smallest entries. A table that grows with its entries is visible after a number of nodes.
const ENTRY: u64 = 8;

fn hash_follows(context: &TestContext<'_>) -> TestResult {
    let (least, limit) = hash_range(context)?;
    if !(least..=limit).contains(&HASH) || least == HASH {
        return Err(Stop::Skip(message!("hash.not-allowed", size = HASH)));
    }
    let least = least.max(1);
    let table = u64::try_from(HASH - least).unwrap_or_default() << 20;
    let (small, _) = usage_with(context, least, SHORT_SEARCH)?;
    let mut most = 0;
    for go in [SHORT_SEARCH, LONG_SEARCH] {
        let (large, nodes) = usage_with(context, HASH, go)?;
        // A table that is not used yet is visible in the address space only.
        let more = large.reserved.saturating_sub(small.reserved);
        most = most.max(more).max(large.resident.saturating_sub(small.resident));
        if table / VISIBLE <= most {
            return Ok(());
        }
        if table / VISIBLE <= nodes.saturating_mul(ENTRY) {
            let (size, more) = (table >> 20, most >> 20);
            return Err(Stop::Fail(message!("hash.same-memory", size, more)));
        }
    }
    Err(Stop::Inconclusive(message!("hash.few-nodes")))
}

fn hash_resize(context: &TestContext<'_>) -> TestResult {
    let (least, limit) = hash_range(context)?;
    let mut session = context.ready()?;
    for size in [33, 1, 17, 5] {
        let size = size.clamp(least, limit.max(least)).min(least.max(33));
        session.send(&context.set("Hash", &size.to_string()));
        session.ready().or_fail(message!("hash.no-readyok", size))?;
        session.search(&middle(context), "go depth 4").or_fail(message!("hash.no-reply", size))?;
    }
    Ok(())
}

/// Moves of a game, of which every other one is searched.
const PLIES: usize = 40;

/// Tolerated growth of memory from the second to the last quarter of the games.
const GROWTH: u64 = 8 << 20;

const LONG_RUNS: &str = "practice (matches, servers)";

macro_rules! soak {
    ($id:literal, $rule:literal, $text:literal, $severity:ident, $needs:expr, $advice:literal, $run:ident) => {
        check!(
            $id, $rule, [LONG_RUNS => $text], $severity, Profile::ALL, $needs, $advice,
            Test::Interactive($run)
        )
    };
}

pub(super) const SOAK_CHECKS: &[TestCase] = &[
    soak!(
        "soak.replies",
        "each `go` of many games yields one `bestmove`",
        "an engine plays thousands of searches in one process",
        Must,
        &[],
        "look for state that persists between searches: flags, counters, unjoined threads",
        answers
    ),
    soak!(
        "soak.memory",
        "memory usage does not grow from game to game",
        "an overnight match plays thousands of games in one process",
        Should,
        &[Need::Process],
        "free the data of a game when the next one starts",
        memory
    ),
    soak!(
        "soak.threads",
        "the number of threads and open files does not grow from game to game",
        "systems limit both per process",
        Should,
        &[Need::Process],
        "join threads and close files after the search or game",
        threads
    ),
];

/// Plays games of random moves, and measures the engine after each.
fn play<T>(
    context: &TestContext<'_>,
    session: &mut EngineSession,
    mut look: impl FnMut(&EngineSession) -> Result<T, Stop>,
) -> Result<Vec<T>, Stop> {
    let Some(games) = context.effort.soak else {
        return Err(Stop::Skip(message!("soak.disabled")));
    };
    let mut random = fastrand::Rng::with_seed(context.seed);
    let mut seen = Vec::new();
    let mut searches = 0;
    for game in 1..=games {
        session.send(context.dialect.new_game());
        session.ready().or_fail(message!("soak.no-readyok", game))?;
        let (command, _) = context.random_line(&mut random, PLIES);
        let tokens: Vec<&str> = command.split(' ').collect();
        for count in (2..=tokens.len()).step_by(2) {
            searches += 1;
            let position = tokens.get(..count).unwrap_or(&tokens).join(" ");
            session.search(&position, "go depth 1").or_fail(message!(
                "soak.no-reply",
                searches,
                game
            ))?;
        }
        seen.push(look(session)?);
    }
    context.remark(format!("{games} games with {searches} searches"));
    Ok(seen)
}

/// Whether the last quarter of the games uses more than the maximum of the second quarter.
fn grows(
    context: &TestContext<'_>,
    of: impl Fn(&Usage) -> u64,
) -> Result<Option<(u64, u64)>, Stop> {
    let mut session = context.ready()?;
    if context.option("Hash").is_some() {
        // A small table fills quickly.
        session.send(&context.set("Hash", "1"));
    }
    let seen = play(context, &mut session, usage).map_err(|stop| match stop {
        // Another check covers this.
        Stop::Fail(text) | Stop::NoReply(text) => Stop::Inconclusive(text),
        other => other,
    })?;
    let quarter = seen.len() / 4;
    let taken = |games: &[Usage]| games.iter().map(&of).collect::<Vec<_>>();
    let early = taken(seen.get(quarter..quarter * 2).unwrap_or_default()).into_iter().max();
    let late = taken(seen.get(quarter * 3..).unwrap_or_default()).into_iter().min();
    Ok(early.zip(late).filter(|(early, late)| early < late))
}

fn answers(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    play(context, &mut session, |_| Ok(()))?;
    if session.has_violated(Rule::BestMoveWithoutSearch) {
        return Err(Stop::Fail(message!("soak.extra-bestmove")));
    }
    Ok(())
}

fn memory(context: &TestContext<'_>) -> TestResult {
    match grows(context, |usage| usage.resident)? {
        Some((early, late)) if early + GROWTH < late => {
            Err(Stop::Fail(message!("soak.memory", before = early >> 20, now = late >> 20)))
        }
        _ => Ok(()),
    }
}

fn threads(context: &TestContext<'_>) -> TestResult {
    match grows(context, |usage| usage.threads + usage.files)? {
        Some((early, late)) => Err(Stop::Fail(message!("soak.threads", early, late))),
        None => Ok(()),
    }
}
