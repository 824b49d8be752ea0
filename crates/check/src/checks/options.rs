//! Declared options, and their values.

use readyok_protocol::{DiagnosticKind, Dialect, OptionKind, OptionType, Reply, Rule};

use crate::checks::{assertions, clause};
use crate::context::{DeclaredOption, Test, TestCase, TestContext, is_expensive};
use crate::format;
use crate::message::{Message, message};
use crate::session::OrFail;
use crate::spec::rule;
use crate::spec::{Need, Profile, Severity};
use crate::spec::{Stop, TestResult};

/// Options with a predefined type, by their UCI names.
const FIXED: [(&str, &str); 16] = [
    ("Hash", "spin"),
    ("NalimovPath", "string"),
    ("NalimovCache", "spin"),
    ("Ponder", "check"),
    ("OwnBook", "check"),
    ("MultiPV", "spin"),
    ("UCI_ShowCurrLine", "check"),
    ("UCI_ShowRefutations", "check"),
    ("UCI_LimitStrength", "check"),
    ("UCI_Elo", "spin"),
    ("UCI_AnalyseMode", "check"),
    ("UCI_Opponent", "string"),
    ("UCI_Chess960", "check"),
    ("UCI_EngineAbout", "string"),
    ("UCI_ShredderbasesPath", "string"),
    ("UCI_SetPositionValue", "string"),
];

/// The largest hash table that is small, in MB.
const MAX_DEFAULT_HASH: i64 = 512;

/// Maximum value of options that use memory or CPU cores.
const MODEST: i64 = 32;

macro_rules! option {
    ($id:literal, $rule:literal, $source:literal, $text:literal, $usi:literal, $severity:ident, $needs:expr, $advice:literal, $run:ident) => {
        check!(
            concat!("options.", $id),
            $rule,
            [
                concat!("UCI 2006, ", $source) => $text,
                "USI draft 1 §5.3, option and setoption" => $usi,
            ],
            $severity,
            Profile::ALL,
            $needs,
            $advice,
            Test::Interactive($run)
        )
    };
}

pub(super) const CHECKS: &[TestCase] = &[
    rule!(
        OptionForm,
        Profile::ALL,
        &[],
        "send `option name <name> type <type>`, followed only by default, min, max and var",
        Test::Interactive(readable),
    ),
    rule!(
        CheckDefault,
        Profile::ALL,
        &[Need::Any("check")],
        "send `default true` or `default false`",
        Test::Interactive(check_default),
    ),
    rule!(
        SpinRange,
        Profile::ALL,
        &[Need::Any("spin")],
        "send `default <x> min <y> max <z>` with y <= x <= z",
        Test::Interactive(spin_range),
    ),
    rule!(
        ComboDefault,
        Profile::ALL,
        &[Need::Any("combo")],
        "send each choice as `var <text>`, including the default",
        Test::Interactive(combo_default),
    ),
    rule!(
        StringDefault,
        Profile::ALL,
        &[Need::Any("string")],
        "send `default <empty>` for an empty string",
        Test::Interactive(string_default),
    ),
    option!(
        "distinct-names",
        "option names differ in more than case",
        "setoption",
        "names are case-insensitive",
        "names are case-insensitive",
        Must,
        &[],
        "rename one of the two",
        distinct_names
    ),
    option!(
        "plain-names",
        "option names do not contain the keywords `name`, `value` and `type`",
        "setoption and option",
        "name and value should not occur in the name, as they separate the fields",
        "the keywords of the message are not part of a name",
        Should,
        &[],
        "rename the option",
        plain_names
    ),
    option!(
        "button-plain",
        "a button option has no default, range or choices",
        "option type button",
        "a button has no value, and thus no attributes of a value",
        "a button has no value",
        Should,
        &[Need::Any("button")],
        "send `option name <name> type button` and nothing else",
        button_plain
    ),
    option!(
        "distinct-choices",
        "choices of a combo option differ in more than case",
        "setoption",
        "values are case-insensitive",
        "values are case-insensitive",
        Should,
        &[Need::Any("combo")],
        "rename one of the two choices",
        distinct_choices
    ),
    option!(
        "no-text",
        "the engine prints no other text after `setoption`, also for an option that it does not have",
        "setoption",
        "text for the user is sent as `info string`",
        "text for the user is sent as `info string`",
        Should,
        &[],
        "send comments as `info string`; a bot fails at `No such option: X` (Lishogi-Bot#136)",
        no_text
    ),
    option!(
        "hash-default",
        "the default hash size is at most 512 MB",
        "option Hash",
        "the engine should use a very small hash table by default",
        "the client sets the size; the default is small",
        Should,
        &[Need::Option("Hash")],
        "declare a default of some MB",
        hash_default
    ),
    option!(
        "off-by-default",
        "current lines, refutations and limited strength are off by default",
        "option UCI_ShowCurrLine, UCI_ShowRefutations and UCI_LimitStrength",
        "each is false by default",
        "these features are enabled only by the client",
        Should,
        &[],
        "declare these options with `default false`",
        off_by_default
    ),
    check!(
        "options.no-spaces",
        "USI option names and values contain no spaces",
        ["USI draft 1 §4" => "spaces are not allowed in option names and values"],
        Must,
        Profile::USI,
        &[],
        "replace spaces with `_`",
        Test::Interactive(no_spaces),
    ),
    check!(
        "options.usi-prefix",
        "options defined by USI start with `USI_`",
        ["USI draft 1 §4" => "all predefined options have this prefix"],
        Should,
        Profile::USI,
        &[],
        "declare `USI_Hash`, `USI_Ponder` and `USI_OwnBook`",
        Test::Interactive(usi_prefix),
    ),
    option!(
        "hash-offered",
        "the hash size is configurable",
        "option Hash",
        "every engine with a hash table should have it",
        "`USI_Hash` should be supported by all engines",
        Should,
        &[],
        "declare `Hash` (USI: `USI_Hash`) as a spin option in MB",
        hash_offered
    ),
    option!(
        "fixed-types",
        "predefined options have the type that the protocol defines",
        "option name",
        "the specification defines the type of each option",
        "each predefined option has a type",
        Must,
        &[],
        "declare the option with the type of the specification",
        fixed_types
    ),
    option!(
        "multipv-default",
        "`MultiPV` is 1 by default",
        "option MultiPV",
        "the default value is 1",
        "one line by default",
        Should,
        &[Need::Option("MultiPV")],
        "declare `MultiPV` with `default 1 min 1`",
        multipv_default
    ),
    option!(
        "elo-with-limit",
        "`UCI_LimitStrength` and `UCI_Elo` are declared together",
        "option UCI_LimitStrength and UCI_Elo",
        "each one is meaningful only with the other",
        "one option limits the strength, another one sets it",
        Must,
        &[],
        "declare both or none",
        elo_with_limit
    ),
    option!(
        "name-ignores-case",
        "option names are case-insensitive",
        "setoption",
        "names are case-insensitive",
        "names are case-insensitive",
        Should,
        &[Need::Option("MultiPV")],
        "compare names case-insensitively",
        name_ignores_case
    ),
    option!(
        "button",
        "`setoption` without a value presses a button",
        "setoption",
        "a button needs no value",
        "a button has no value",
        Must,
        &[Need::Any("button")],
        "accept `setoption name <name>` without `value`",
        button
    ),
    option!(
        "every-value",
        "options accept their minimum, maximum and every choice",
        "setoption and option",
        "values in the declared range are allowed",
        "the value is one of the declared ones",
        Should,
        &[],
        "accept all declared values, or declare only accepted ones",
        every_value
    ),
    option!(
        "choice-ignores-case",
        "choices of a combo option are case-insensitive",
        "setoption",
        "values are case-insensitive",
        "values are case-insensitive",
        May,
        &[Need::Any("combo")],
        "compare choices case-insensitively",
        choice_ignores_case
    ),
    option!(
        "invalid-values",
        "the engine tolerates unknown options and invalid values",
        "general rules",
        "invalid input is ignored",
        "invalid input is ignored",
        Should,
        &[],
        "validate values before use",
        bad_values
    ),
];

/// Fails with the first option for which `judge` returns a message.
fn each(
    context: &TestContext<'_>,
    judge: impl Fn(&DeclaredOption) -> Option<Message>,
) -> TestResult {
    for option in &context.engine_info.options {
        if let Some(why) = judge(option) {
            // Shows the lines in the report.
            context.after_handshake()?;
            let name = option.decl.name.escape_debug();
            return Err(Stop::Fail(message!(
                "option.failure",
                name,
                kind = option.decl.kind.keyword(),
                cause = why
            )));
        }
    }
    Ok(())
}

fn readable(context: &TestContext<'_>) -> TestResult {
    if let Some(line) = context.engine_info.invalid_options.first() {
        context.after_handshake()?;
        return Err(Stop::Fail(message!("option.invalid-declaration", line = format::start(line))));
    }
    each(context, |option| option.decl.malformed_part(&option.notes).map(Message::from))
}

/// Fails with the first option whose declaration violates a rule.
fn each_violating(
    context: &TestContext<'_>,
    rule: Rule,
    describe: impl Fn(&DeclaredOption) -> Message,
) -> TestResult {
    each(context, |option| option.decl.violates(rule, &option.notes).then(|| describe(option)))
}

fn check_default(context: &TestContext<'_>) -> TestResult {
    each_violating(context, Rule::CheckDefault, |option| match option.decl.kind {
        OptionKind::Check { default: Some(value) }
            if option.notes.contains(&DiagnosticKind::WrongCase) =>
        {
            message!("option.check-case", value = value.to_string())
        }
        OptionKind::Check { default: Some(_) } => message!("option.check-default"),
        _ => message!("option.no-default"),
    })
}

fn spin_range(context: &TestContext<'_>) -> TestResult {
    each_violating(context, Rule::SpinRange, |option| match option.decl.kind {
        OptionKind::Spin { default: Some(default), min: Some(min), max: Some(max) } => {
            message!("option.default-range", default, min, max)
        }
        OptionKind::Spin { default: Some(_), min: Some(_), .. } => {
            message!("option.no-integer", field = "max")
        }
        OptionKind::Spin { default: Some(_), .. } => message!("option.no-integer", field = "min"),
        _ => message!("option.no-integer", field = "default"),
    })
}

fn combo_default(context: &TestContext<'_>) -> TestResult {
    each_violating(context, Rule::ComboDefault, |option| match &option.decl.kind {
        OptionKind::Combo { vars, .. } if vars.is_empty() => message!("option.no-choices"),
        OptionKind::Combo { default: Some(default), .. } => {
            message!("option.default-choice", default = default.escape_debug())
        }
        _ => message!("option.no-default"),
    })
}

fn string_default(context: &TestContext<'_>) -> TestResult {
    each_violating(context, Rule::StringDefault, |option| match &option.decl.kind {
        OptionKind::String { default: Some(_) } | OptionKind::Filename { default: Some(_) } => {
            message!("option.empty-default")
        }
        _ => message!("option.no-default"),
    })
}

fn distinct_names(context: &TestContext<'_>) -> TestResult {
    each(context, |option| {
        let same =
            |other: &&DeclaredOption| other.decl.name.eq_ignore_ascii_case(&option.decl.name);
        let count = context.engine_info.options.iter().filter(same).count();
        (1 < count).then(|| message!("option.repeated-name", count))
    })
}

fn plain_names(context: &TestContext<'_>) -> TestResult {
    each(context, |option| {
        let mut tokens = option.decl.name.split(' ');
        let token = tokens.find(|token| {
            ["name", "value", "type"].iter().any(|key| key.eq_ignore_ascii_case(token))
        });
        token.map(|token| message!("option.keyword", keyword = token))
    })
}

fn no_spaces(context: &TestContext<'_>) -> TestResult {
    each(context, |option| {
        if option.decl.name.contains(' ') {
            return Some(message!("option.space"));
        }
        let OptionKind::Combo { default, vars } = &option.decl.kind else { return None };
        let value = vars.iter().chain(default).find(|value| value.contains(' '))?;
        Some(message!("option.value-space", value = value.escape_debug()))
    })
}

fn usi_prefix(context: &TestContext<'_>) -> TestResult {
    each(context, |option| {
        let unprefixed = ["Hash", "Ponder", "OwnBook"];
        let found = unprefixed.iter().find(|name| name.eq_ignore_ascii_case(&option.decl.name));
        found.map(|name| message!("option.prefix", name = *name))
    })
}

fn hash_offered(context: &TestContext<'_>) -> TestResult {
    match context.option("Hash") {
        Some(decl) if decl.kind.option_type() == Some(OptionType::Spin) => Ok(()),
        Some(decl) => {
            context.after_handshake()?;
            Err(Stop::Fail(message!("option.type", kind = decl.kind.keyword())))
        }
        None => {
            context.after_handshake()?;
            Err(Stop::Fail(message!("option.none")))
        }
    }
}

fn fixed_types(context: &TestContext<'_>) -> TestResult {
    each(context, |option| {
        let same = |name: &str| context.dialect.same_option(name, &option.decl.name);
        let (_, fixed) = FIXED.into_iter().find(|(name, _)| same(name))?;
        (option.decl.kind.keyword() != fixed).then(|| message!("option.fixed-type", fixed))
    })
}

fn button_plain(context: &TestContext<'_>) -> TestResult {
    each(context, |option| {
        // Other checks cover the name and a missing type.
        let others =
            [DiagnosticKind::SpaceInName, DiagnosticKind::Missing, DiagnosticKind::MissingKeyword];
        let mut notes = option.notes.iter().filter(|note| !others.contains(note));
        let plain = option.decl.kind != OptionKind::Button || notes.next().is_none();
        (!plain).then(|| message!("option.button-value"))
    })
}

fn distinct_choices(context: &TestContext<'_>) -> TestResult {
    each(context, |option| {
        let OptionKind::Combo { vars, .. } = &option.decl.kind else { return None };
        let twice = |var: &&std::borrow::Cow<'_, str>| {
            1 < vars.iter().filter(|other| other.eq_ignore_ascii_case(var)).count()
        };
        let var = vars.iter().find(twice)?;
        Some(message!("option.repeated-choice", choice = var.escape_debug()))
    })
}

fn hash_default(context: &TestContext<'_>) -> TestResult {
    each(context, |option| match option.decl.kind {
        OptionKind::Spin { default: Some(default), .. }
            if context.dialect.same_option("Hash", &option.decl.name)
                && MAX_DEFAULT_HASH < default =>
        {
            Some(message!("option.default-megabytes", default))
        }
        _ => None,
    })
}

fn off_by_default(context: &TestContext<'_>) -> TestResult {
    let quiet = ["UCI_ShowCurrLine", "UCI_ShowRefutations", "UCI_LimitStrength"];
    if quiet.iter().all(|name| context.option(name).is_none()) {
        return Err(Stop::Skip(message!("option.none-of-these")));
    }
    each(context, |option| {
        let on = option.decl.kind == OptionKind::Check { default: Some(true) };
        let is_one = quiet.iter().any(|name| context.dialect.same_option(name, &option.decl.name));
        (on && is_one).then(|| message!("option.default-on"))
    })
}

fn multipv_default(context: &TestContext<'_>) -> TestResult {
    each(context, |option| {
        let is_it = context.dialect.same_option("MultiPV", &option.decl.name);
        match option.decl.kind {
            OptionKind::Spin { default: Some(default), .. } if is_it && default != 1 => {
                Some(message!("option.default", default))
            }
            _ => None,
        }
    })
}

fn elo_with_limit(context: &TestContext<'_>) -> TestResult {
    // In USI strength is a level (`USI_Strength`); some engines also have `UCI_Elo`.
    let degree = || context.option("USI_Strength").filter(|_| context.dialect == Dialect::Usi);
    let limit = context.option("UCI_LimitStrength");
    let name = if context.dialect == Dialect::Usi { "USI_Strength" } else { "UCI_Elo" };
    let elo = context.option("UCI_Elo").or_else(degree);
    match (limit, elo) {
        (None, None) => Err(Stop::Skip(message!("option.neither"))),
        (Some(_), Some(_)) => Ok(()),
        (Some(_), None) => {
            context.after_handshake()?;
            Err(Stop::Fail(message!("option.no-elo", name)))
        }
        (None, Some(_)) => {
            context.after_handshake()?;
            Err(Stop::Fail(message!("option.no-limit")))
        }
    }
}

fn name_ignores_case(context: &TestContext<'_>) -> TestResult {
    let decl =
        context.option("MultiPV").ok_or_else(|| Stop::Skip(message!("option.no-multipv")))?;
    let position = context.position(assertions::test_positions(context.game()).middle[0]);
    let lines = |name: &str| -> Result<u32, Stop> {
        let mut session = context.ready()?;
        session.send(&format!("setoption name {name} value 2"));
        session.ready()?;
        let found = session.search(&position, "go depth 3")?;
        Ok(found.infos.iter().filter_map(|info| info.multipv).max().unwrap_or(1))
    };
    if lines(&decl.name)? < 2 {
        return Err(Stop::Inconclusive(message!("multipv.not-visible")));
    }
    let swapped: String = decl.name.chars().map(swap_case).collect();
    if lines(&swapped)? < 2 {
        return Err(Stop::Fail(message!("option.case-sensitive", swapped)));
    }
    Ok(())
}

fn swap_case(c: char) -> char {
    if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
}

fn button(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    let position = context.position(assertions::test_positions(context.game()).middle[0]);
    for option in &context.engine_info.options {
        if option.decl.kind == OptionKind::Button {
            let name = &option.decl.name;
            session.send(&format!("setoption name {name}"));
            session.ready().or_fail(message!("button.no-readyok", name))?;
        }
    }
    session.search(&position, "go depth 1").or_fail(message!("button.no-bestmove"))?;
    Ok(())
}

fn choice_ignores_case(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready_unchecked()?;
    for option in &context.engine_info.options {
        let OptionKind::Combo { vars, .. } = &option.decl.kind else { continue };
        for choice in vars.iter().filter(|text| text.is_ascii()) {
            let name = &option.decl.name;
            let value: String = choice.chars().map(swap_case).collect();
            session.send(&format!("setoption name {name} value {value}"));
            session.ready().or_fail(message!("value.no-readyok", name, value))?;
        }
    }
    Ok(())
}

/// The tested values of an option.
fn values(option: &DeclaredOption) -> Vec<String> {
    match &option.decl.kind {
        OptionKind::Check { default } => {
            let other = !default.unwrap_or(false);
            [other, !other].iter().map(ToString::to_string).collect()
        }
        OptionKind::Spin { default, min: Some(min), max: Some(max) } => {
            let limit =
                if is_expensive(&option.decl) { (*max).min((*min).max(MODEST)) } else { *max };
            [*min, limit, default.unwrap_or(*min)].iter().map(ToString::to_string).collect()
        }
        OptionKind::Combo { default, vars } => {
            vars.iter().chain(default).map(ToString::to_string).collect()
        }
        // Avoid nonexistent paths and log files.
        OptionKind::Spin { .. }
        | OptionKind::Button
        | OptionKind::String { .. }
        | OptionKind::Filename { .. }
        | OptionKind::Other { .. } => Vec::new(),
    }
}

fn every_value(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    for option in &context.engine_info.options {
        // Other variants have other positions, and other protocols other messages.
        let name = option.decl.name.to_ascii_lowercase();
        if name.contains("variant") || name.contains("protocol") {
            continue;
        }
        let name = &option.decl.name;
        for value in values(option) {
            session.send(&format!("setoption name {name} value {value}"));
            let limit = context.timeouts.start();
            session.send("isready");
            session
                .wait_for(limit, |line| (line.reply == Reply::ReadyOk).then_some(()))
                .or_fail(message!("value.no-readyok", name, value))?;
        }
    }
    let position = context.position(assertions::test_positions(context.game()).middle[0]);
    session.search(&position, "go depth 1").or_fail(message!("value.no-bestmove"))?;
    Ok(())
}

/// Options that bots and GUIs set without a declaration.
const UNDECLARED: [&str; 4] = ["Move Overhead", "SyzygyPath", "Ponder", "UCI_AnalyseMode"];

fn no_text(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready_unchecked()?;
    let defaults = context.engine_info.options.iter().filter_map(|option| {
        let value = values(option).pop()?;
        Some(format!("setoption name {} value {value}", option.decl.name))
    });
    let undeclared = UNDECLARED.iter().filter(|name| context.option(name).is_none());
    let undeclared = undeclared
        .map(|name| format!("setoption name {} value 1", context.dialect.option_name(name)));
    // Earlier text is no comment on an option.
    session.until_ready()?;
    for line in defaults.chain(undeclared) {
        session.send(&line);
        let printed = session.until_ready()?.into_iter().find_map(|line| match line.reply {
            Reply::Unknown(text) if !text.is_empty() => Some(text),
            _ => None,
        });
        if let Some(text) = printed {
            return Err(Stop::Fail(message!("option.text", line, text = format::start(&text))));
        }
    }
    Ok(())
}

fn bad_values(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready_unchecked()?;
    let mut lines = vec![
        "setoption name No Such Option value 7".to_owned(),
        "setoption name".to_owned(),
        "setoption".to_owned(),
    ];
    let hash = context.option("Hash").map_or("Hash", |decl| &decl.name);
    let names = context.engine_info.options.iter().filter(|option| !is_expensive(&option.decl));
    let spins = names.filter(|option| matches!(option.decl.kind, OptionKind::Spin { .. }));
    let mut names: Vec<&str> = spins.map(|option| &*option.decl.name).take(8).collect();
    names.push(hash);
    for name in names {
        lines.push(format!("setoption name {name} value abc"));
        lines.push(format!("setoption name {name} value -5"));
        lines.push(format!("setoption name {name}"));
    }
    let position = context.position(assertions::test_positions(context.game()).middle[0]);
    for line in lines {
        session.send(&line);
        session.ready().or_fail(message!("setoption.no-readyok", line = &line))?;
        session.search(&position, "go depth 1").or_fail(message!("setoption.no-reply", line))?;
    }
    Ok(())
}
