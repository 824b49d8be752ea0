//! What options an engine declares, and whether it takes their values.

use readyok_protocol::{Dialect, NoteKind, OptionKind, OptionType};

use super::{clause, probe};
use crate::bench::{Bench, Declared, is_costly};
use crate::check::{Check, Need, Outcome, Profile, Severity, Stop, Test};
use crate::message::{Message, said};
use crate::talk::Blame;

/// Options whose type the protocols fix, by their UCI names.
const FIXED: [(&str, &str); 13] = [
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
];

/// The largest hash table that is small, in MB.
const MOST_HASH: i64 = 512;

/// The most that an option that costs memory or processors is set to.
const MODEST: i64 = 32;

macro_rules! option {
    ($id:literal, $rule:literal, $place:literal, $says:literal, $usi:literal, $severity:ident, $needs:expr, $advice:literal, $run:ident) => {
        check!(
            concat!("options.", $id),
            $rule,
            [
                concat!("UCI 2006, ", $place) => $says,
                "USI draft 1 §5.3, option and setoption" => $usi,
            ],
            $severity,
            Profile::ALL,
            $needs,
            $advice,
            Test::Ask($run)
        )
    };
}

pub(super) const CHECKS: &[Check] = &[
    option!(
        "readable",
        "every `option` line has a name, a type of the protocol and nothing unknown",
        "option",
        "a name, one of the types, and the attributes of that type",
        "a name, a type, and what belongs to the type",
        Must,
        &[],
        "write `option name <name> type <type>` and then only default, min, max and var",
        readable
    ),
    option!(
        "check-default",
        "a check option has the default `true` or `false`",
        "option type check",
        "a check box can be true or false",
        "its value is `true` or `false`",
        Must,
        &[Need::Any("check")],
        "write `default true` or `default false`",
        check_default
    ),
    option!(
        "spin-range",
        "a spin option has whole numbers for min, default and max, in this order of size",
        "option type spin",
        "a spin wheel has a value in a range",
        "its value is a whole number from min to max",
        Must,
        &[Need::Any("spin")],
        "write `default <x> min <y> max <z>` with y <= x <= z",
        spin_range
    ),
    option!(
        "combo-default",
        "a combo option has choices, and its default is one of them",
        "option type combo",
        "a combo box has predefined texts",
        "its value is one of those after `var`",
        Must,
        &[Need::Any("combo")],
        "write each choice as `var <text>`, the default among them",
        combo_default
    ),
    option!(
        "string-default",
        "a string option tells its default; an empty one is `<empty>`",
        "option type string and default",
        "the default is a text, and `<empty>` for the empty one",
        "its value is a text; `<empty>` stands for none",
        Should,
        &[Need::Any("string")],
        "write `default <empty>` for an empty text",
        string_default
    ),
    option!(
        "distinct-names",
        "no two options have names that differ only in case",
        "setoption",
        "names are not case sensitive",
        "case does not matter in names",
        Must,
        &[],
        "rename one of the two",
        distinct_names
    ),
    option!(
        "plain-names",
        "names of options are free of the words `name`, `value` and `type`",
        "setoption and option",
        "name and value should not be in the name, as they divide the message",
        "the words that divide the message are not part of a name",
        Should,
        &[],
        "rename the option",
        plain_names
    ),
    option!(
        "button-plain",
        "a button option has neither a default nor a range nor choices",
        "option type button",
        "a button has no value, and so nothing that belongs to a value",
        "a button has no value",
        Should,
        &[Need::Any("button")],
        "write `option name <name> type button` and no more",
        button_plain
    ),
    option!(
        "distinct-choices",
        "the choices of a combo option differ in more than case",
        "setoption",
        "values are not case sensitive",
        "case does not matter in values",
        Should,
        &[Need::Any("combo")],
        "rename one of the two choices",
        distinct_choices
    ),
    option!(
        "hash-default",
        "the hash table is small by default: at most 512 MB",
        "option Hash",
        "the engine should use a very small hash table until it is told otherwise",
        "the client sets the size; until then a small table is enough",
        Should,
        &[Need::Option("Hash")],
        "declare a default of some MB",
        hash_default
    ),
    option!(
        "off-by-default",
        "current lines, refutations and a limit of strength are off by default",
        "option UCI_ShowCurrLine, UCI_ShowRefutations and UCI_LimitStrength",
        "each is false by default",
        "what is shown or weakened is so only if the client asks for it",
        Should,
        &[],
        "declare these options with `default false`",
        off_by_default
    ),
    check!(
        "options.no-spaces",
        "names of options have no spaces in USI",
        ["USI draft 1 §4" => "spaces are not allowed in option names and values"],
        Must,
        Profile::USI,
        &[],
        "write `_` for a space",
        Test::Ask(no_spaces),
    ),
    check!(
        "options.usi-prefix",
        "options with a meaning that USI fixes start with `USI_`",
        ["USI draft 1 §4" => "all options of fixed meaning have names with this prefix"],
        Should,
        Profile::USI,
        &[],
        "declare `USI_Hash`, `USI_Ponder` and `USI_OwnBook`",
        Test::Ask(usi_prefix),
    ),
    option!(
        "hash-offered",
        "the size of the hash table can be set",
        "option Hash",
        "engines should have it, unless they have no hash table",
        "`USI_Hash` should be supported by all engines",
        Should,
        &[],
        "declare `Hash` (USI: `USI_Hash`) as a spin option in MB",
        hash_offered
    ),
    option!(
        "fixed-types",
        "options whose meaning is fixed have the type that is fixed for them",
        "option name",
        "the type of each of these options is given",
        "each option of fixed meaning has its type",
        Must,
        &[],
        "declare the option with the type that the protocol gives it",
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
        "each has a meaning only with the other one",
        "strength is limited by an option, and set by another one",
        Must,
        &[],
        "declare both or none",
        elo_with_limit
    ),
    option!(
        "name-ignores-case",
        "names of options are understood in any case",
        "setoption",
        "names are not case sensitive",
        "case does not matter in names",
        Should,
        &[Need::Option("MultiPV")],
        "compare names without regard to case",
        name_ignores_case
    ),
    option!(
        "button",
        "a button is pressed by `setoption` without a value",
        "setoption",
        "the value is not needed for a button",
        "a button has no value",
        Must,
        &[Need::Any("button")],
        "take `setoption name <name>` without `value`",
        button
    ),
    option!(
        "every-value",
        "options take their smallest and largest value, and each choice",
        "setoption and option",
        "values in the declared range are allowed",
        "the value is one that was declared",
        Should,
        &[],
        "accept what was declared, or declare what is accepted",
        every_value
    ),
    option!(
        "bad-values",
        "unknown options, and values out of range or of another type, do no harm",
        "general rules",
        "what cannot be understood is ignored",
        "what is not understood is ignored",
        Should,
        &[],
        "check values before they are used",
        bad_values
    ),
];

/// Fails with an option if there is one for which there is something to say.
fn each(bench: &Bench<'_>, judge: impl Fn(&Declared) -> Option<Message>) -> Outcome {
    for option in &bench.facts.options {
        if let Some(why) = judge(option) {
            // So that the report shows the lines.
            bench.greeted()?;
            let name = option.decl.name.escape_debug();
            return Err(Stop::Fail(said!(
                "option `{name}` (type {kind}): {why}",
                name,
                kind = option.decl.kind.word(),
                why
            )));
        }
    }
    Ok(())
}

fn readable(bench: &Bench<'_>) -> Outcome {
    each(bench, |it| {
        // For these there are checks of their own.
        let others = [NoteKind::BadDefault, NoteKind::SpaceInName];
        if it.decl.kind == OptionKind::Button {
            return None;
        }
        let is_spin = matches!(it.decl.kind, OptionKind::Spin { .. });
        let note = it
            .notes
            .iter()
            .find(|note| !(others.contains(note) || is_spin && **note == NoteKind::NotANumber));
        let empty_default = is_text(&it.decl.kind) && note == Some(&NoteKind::Missing);
        note.filter(|_| !empty_default).map(|note| Message::from(*note))
    })
}

fn is_text(kind: &OptionKind<'_>) -> bool {
    matches!(kind, OptionKind::String { .. } | OptionKind::Filename { .. })
}

fn check_default(bench: &Bench<'_>) -> Outcome {
    each(bench, |it| match it.decl.kind {
        OptionKind::Check { default: None } => Some(said!("it has no default")),
        OptionKind::Check { .. } if it.notes.contains(&NoteKind::BadDefault) => {
            Some(said!("the default is neither `true` nor `false`"))
        }
        _ => None,
    })
}

fn spin_range(bench: &Bench<'_>) -> Outcome {
    each(bench, |it| match it.decl.kind {
        OptionKind::Spin { default: Some(default), min: Some(min), max: Some(max) } => {
            (default < min || max < default).then(|| {
                said!("the default {default} is not between {min} and {max}", default, min, max)
            })
        }
        OptionKind::Spin { default, min, max } => {
            let missing = [(default, "default"), (min, "min"), (max, "max")];
            let missing = missing.into_iter().find(|(value, _)| value.is_none());
            missing.map(|(_, what)| said!("there is no whole number for {what}", what))
        }
        _ => None,
    })
}

fn combo_default(bench: &Bench<'_>) -> Outcome {
    each(bench, |it| match &it.decl.kind {
        OptionKind::Combo { vars, .. } if vars.is_empty() => Some(said!("it has no choices")),
        OptionKind::Combo { default: None, .. } => Some(said!("it has no default")),
        OptionKind::Combo { default: Some(default), vars } => {
            let among = vars.iter().any(|var| var.eq_ignore_ascii_case(default));
            (!among).then(|| {
                said!("the default `{default}` is no choice", default = default.escape_debug())
            })
        }
        _ => None,
    })
}

fn string_default(bench: &Bench<'_>) -> Outcome {
    each(bench, |it| match &it.decl.kind {
        OptionKind::String { default: None } | OptionKind::Filename { default: None } => {
            Some(said!("it has no default"))
        }
        kind if is_text(kind) && it.notes.contains(&NoteKind::Missing) => {
            Some(said!("`default` is followed by nothing"))
        }
        _ => None,
    })
}

fn distinct_names(bench: &Bench<'_>) -> Outcome {
    each(bench, |it| {
        let same = |other: &&Declared| other.decl.name.eq_ignore_ascii_case(&it.decl.name);
        let count = bench.facts.options.iter().filter(same).count();
        (1 < count).then(|| said!("{count} options have this name", count))
    })
}

fn plain_names(bench: &Bench<'_>) -> Outcome {
    each(bench, |it| {
        let mut words = it.decl.name.split(' ');
        let word = words.find(|word| {
            ["name", "value", "type"].iter().any(|key| key.eq_ignore_ascii_case(word))
        });
        word.map(|word| said!("the name has the word `{word}`", word))
    })
}

fn no_spaces(bench: &Bench<'_>) -> Outcome {
    each(bench, |it| it.decl.name.contains(' ').then(|| said!("the name has a space")))
}

fn usi_prefix(bench: &Bench<'_>) -> Outcome {
    each(bench, |it| {
        let unprefixed = ["Hash", "Ponder", "OwnBook"];
        let found = unprefixed.iter().find(|name| name.eq_ignore_ascii_case(&it.decl.name));
        found.map(|name| said!("it has to be `USI_{name}`", name = *name))
    })
}

fn hash_offered(bench: &Bench<'_>) -> Outcome {
    match bench.option("Hash") {
        Some(decl) if decl.kind.option_type() == Some(OptionType::Spin) => Ok(()),
        Some(decl) => {
            bench.greeted()?;
            Err(Stop::Fail(said!("it is of type {kind}", kind = decl.kind.word())))
        }
        None => {
            bench.greeted()?;
            Err(Stop::Fail(said!("there is no such option")))
        }
    }
}

fn fixed_types(bench: &Bench<'_>) -> Outcome {
    each(bench, |it| {
        let same = |name: &str| bench.dialect.same_option(name, &it.decl.name);
        let (_, fixed) = FIXED.into_iter().find(|(name, _)| same(name))?;
        (it.decl.kind.word() != fixed)
            .then(|| said!("in the protocol it is of type {fixed}", fixed))
    })
}

fn button_plain(bench: &Bench<'_>) -> Outcome {
    each(bench, |it| {
        // What is wrong with its name is for another check to judge.
        let mut notes = it.notes.iter().filter(|note| **note != NoteKind::SpaceInName);
        let plain = it.decl.kind != OptionKind::Button || notes.next().is_none();
        (!plain).then(|| said!("a button has no value"))
    })
}

fn distinct_choices(bench: &Bench<'_>) -> Outcome {
    each(bench, |it| {
        let OptionKind::Combo { vars, .. } = &it.decl.kind else { return None };
        let twice = |var: &&std::borrow::Cow<'_, str>| {
            1 < vars.iter().filter(|other| other.eq_ignore_ascii_case(var)).count()
        };
        let var = vars.iter().find(twice)?;
        Some(said!("the choice `{choice}` is there twice", choice = var.escape_debug()))
    })
}

fn hash_default(bench: &Bench<'_>) -> Outcome {
    each(bench, |it| match it.decl.kind {
        OptionKind::Spin { default: Some(default), .. }
            if bench.dialect.same_option("Hash", &it.decl.name) && MOST_HASH < default =>
        {
            Some(said!("the default is {default} MB", default))
        }
        _ => None,
    })
}

fn off_by_default(bench: &Bench<'_>) -> Outcome {
    let quiet = ["UCI_ShowCurrLine", "UCI_ShowRefutations", "UCI_LimitStrength"];
    if quiet.iter().all(|name| bench.option(name).is_none()) {
        return Err(Stop::Skip(said!("the engine has none of these options")));
    }
    each(bench, |it| {
        let on = it.decl.kind == OptionKind::Check { default: Some(true) };
        let is_one = quiet.iter().any(|name| bench.dialect.same_option(name, &it.decl.name));
        (on && is_one).then(|| said!("the default is true"))
    })
}

fn multipv_default(bench: &Bench<'_>) -> Outcome {
    each(bench, |it| {
        let is_it = bench.dialect.same_option("MultiPV", &it.decl.name);
        match it.decl.kind {
            OptionKind::Spin { default: Some(default), .. } if is_it && default != 1 => {
                Some(said!("the default is {default}", default))
            }
            _ => None,
        }
    })
}

fn elo_with_limit(bench: &Bench<'_>) -> Outcome {
    // In USI strength is a degree (`USI_Strength`); some engines have a number all the same.
    let degree = || bench.option("USI_Strength").filter(|_| bench.dialect == Dialect::Usi);
    let limit = bench.option("UCI_LimitStrength");
    let elo = bench.option("UCI_Elo").or_else(degree);
    match (limit, elo) {
        (None, None) => Err(Stop::Skip(said!("the engine has neither option"))),
        (Some(_), Some(_)) => Ok(()),
        (Some(_), None) => {
            bench.greeted()?;
            Err(Stop::Fail(said!("there is no `UCI_Elo`")))
        }
        (None, Some(_)) => {
            bench.greeted()?;
            Err(Stop::Fail(said!("there is no `UCI_LimitStrength`")))
        }
    }
}

fn name_ignores_case(bench: &Bench<'_>) -> Outcome {
    let decl = bench.option("MultiPV").ok_or_else(|| Stop::Skip(said!("there is no `MultiPV`")))?;
    let position = bench.position(probe::of(bench.game()).middle[0]);
    let lines = |name: &str| -> Result<u32, Stop> {
        let mut talk = bench.ready()?;
        talk.say(&format!("setoption name {name} value 2"));
        talk.ready()?;
        let found = talk.search(&position, "go depth 3")?;
        Ok(found.infos.iter().filter_map(|info| info.multipv).max().unwrap_or(1))
    };
    if lines(&decl.name)? < 2 {
        return Err(Stop::Inconclusive(said!("`MultiPV` has no effect that can be seen")));
    }
    let swapped: String = decl.name.chars().map(swap_case).collect();
    if lines(&swapped)? < 2 {
        return Err(Stop::Fail(said!("`setoption name {swapped}` had no effect", swapped)));
    }
    Ok(())
}

fn swap_case(c: char) -> char {
    if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
}

fn button(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    let position = bench.position(probe::of(bench.game()).middle[0]);
    for option in &bench.facts.options {
        if option.decl.kind == OptionKind::Button {
            let name = &option.decl.name;
            talk.say(&format!("setoption name {name}"));
            talk.ready()
                .or_fail(said!("after the button `{name}` `isready` was not answered", name))?;
        }
    }
    talk.search(&position, "go depth 1").or_fail(said!("after buttons there was no `bestmove`"))?;
    Ok(())
}

/// The values of an option that are tried.
fn values(option: &Declared) -> Vec<String> {
    match &option.decl.kind {
        OptionKind::Check { default } => {
            let other = !default.unwrap_or(false);
            [other, !other].iter().map(ToString::to_string).collect()
        }
        OptionKind::Spin { default, min: Some(min), max: Some(max) } => {
            let most = if is_costly(&option.decl) { (*max).min((*min).max(MODEST)) } else { *max };
            [*min, most, default.unwrap_or(*min)].iter().map(ToString::to_string).collect()
        }
        OptionKind::Combo { default, vars } => {
            vars.iter().chain(default).map(ToString::to_string).collect()
        }
        // A path that does not exist or a log that is written is nobody's wish.
        OptionKind::Spin { .. }
        | OptionKind::Button
        | OptionKind::String { .. }
        | OptionKind::Filename { .. }
        | OptionKind::Other { .. } => Vec::new(),
    }
}

fn every_value(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    for option in &bench.facts.options {
        // Another variant has other positions, and another protocol other words.
        let name = option.decl.name.to_ascii_lowercase();
        if name.contains("variant") || name.contains("protocol") {
            continue;
        }
        let name = &option.decl.name;
        for value in values(option) {
            talk.say(&format!("setoption name {name} value {value}"));
            let limit = bench.pace.start();
            talk.say("isready");
            talk.hear(limit, |line| (line.reply == readyok_protocol::Reply::ReadyOk).then_some(()))
                .or_fail(said!(
                    "after `{name}` was set to `{value}` `isready` was not answered",
                    name,
                    value
                ))?;
        }
    }
    let position = bench.position(probe::of(bench.game()).middle[0]);
    talk.search(&position, "go depth 1")
        .or_fail(said!("after all values were set there was no `bestmove`"))?;
    Ok(())
}

fn bad_values(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.provoked()?;
    let mut lines = vec![
        "setoption name No Such Option value 7".to_owned(),
        "setoption name".to_owned(),
        "setoption".to_owned(),
    ];
    let hash = bench.option("Hash").map_or("Hash", |decl| &decl.name);
    let names = bench.facts.options.iter().filter(|it| !is_costly(&it.decl));
    let spins = names.filter(|it| matches!(it.decl.kind, OptionKind::Spin { .. }));
    let mut names: Vec<&str> = spins.map(|it| &*it.decl.name).take(8).collect();
    names.push(hash);
    for name in names {
        lines.push(format!("setoption name {name} value abc"));
        lines.push(format!("setoption name {name} value -5"));
        lines.push(format!("setoption name {name}"));
    }
    let position = bench.position(probe::of(bench.game()).middle[0]);
    for line in lines {
        talk.say(&line);
        talk.ready().or_fail(said!("after `{line}` `isready` was not answered", line = &line))?;
        talk.search(&position, "go depth 1")
            .or_fail(said!("after `{line}` a search was not answered", line))?;
    }
    Ok(())
}
