//! In what two plans differ.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};

use crate::plan::Plan;

/// One thing in which two plans differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Where: `engines[1].limits.tc`.
    pub field: String,
    /// What the file says, as JSON; none if the field is missing there. The values of environments are
    /// nobody's to see: of them it is [`Difference::HIDDEN`].
    pub stored: Option<String>,
    /// What was asked for.
    pub wanted: Option<String>,
}

impl Difference {
    /// What stands for a value that is not shown.
    pub const HIDDEN: &str = "…";

    /// A variable of an engine has another value, or is missing on one side.
    pub(super) fn hidden(engine: usize, name: &str, in_stored: bool, in_wanted: bool) -> Self {
        let value = |is_there: bool| is_there.then(|| Self::HIDDEN.to_owned());
        let field = variable(engine, name);
        Self { field, stored: value(in_stored), wanted: value(in_wanted) }
    }
}

/// Where a plan has a variable of an engine.
pub(super) fn variable(engine: usize, name: &str) -> String {
    format!("engines[{engine}].env.{name}")
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.stored.is_some() && self.stored == self.wanted {
            return write!(f, "{} has another value", self.field);
        }
        let text = |value: &Option<String>| {
            value.as_ref().map_or_else(|| "nothing".to_owned(), |value| format!("`{value}`"))
        };
        let (stored, wanted) = (text(&self.stored), text(&self.wanted));
        write!(f, "{} was {stored} and is {wanted}", self.field)
    }
}

/// Everything in which two plans differ.
pub(super) fn between(stored: &Plan, wanted: &Plan) -> Vec<Difference> {
    let mut found = Vec::new();
    let most = stored.engines.len().max(wanted.engines.len());
    for index in 0..most {
        let env =
            |plan: &Plan| plan.engines.get(index).map(|it| it.env.clone()).unwrap_or_default();
        let (stored, wanted) = (env(stored), env(wanted));
        let names: BTreeSet<&String> = stored.keys().chain(wanted.keys()).collect();
        let others = names.into_iter().filter(|name| stored.get(*name) != wanted.get(*name));
        found.extend(others.map(|name| {
            let (stored, wanted) = (stored.contains_key(name), wanted.contains_key(name));
            Difference::hidden(index, name, stored, wanted)
        }));
    }
    let without = |plan: &Plan| {
        let mut plan = plan.clone();
        plan.engines.iter_mut().for_each(|engine| engine.env.clear());
        plan
    };
    let (stored, wanted) = (without(stored), without(wanted));
    // A plan is always representable; if it were not, the plans compare as different.
    let stored = serde_json::to_value(&stored).unwrap_or_default();
    let wanted = serde_json::to_value(&wanted).unwrap_or_else(|error| error.to_string().into());
    compare("", Some(&stored), Some(&wanted), &mut found);
    found
}

fn compare(
    field: &str,
    stored: Option<&Value>,
    wanted: Option<&Value>,
    found: &mut Vec<Difference>,
) {
    match (stored, wanted) {
        (Some(Value::Object(stored)), Some(Value::Object(wanted))) => {
            for name in names(stored, wanted) {
                let inner = if field.is_empty() { name.clone() } else { format!("{field}.{name}") };
                compare(&inner, stored.get(name), wanted.get(name), found);
            }
        }
        (Some(Value::Array(stored)), Some(Value::Array(wanted))) => {
            for index in 0..stored.len().max(wanted.len()) {
                let inner = format!("{field}[{index}]");
                compare(&inner, stored.get(index), wanted.get(index), found);
            }
        }
        (stored, wanted) if stored == wanted => (),
        (stored, wanted) => found.push(Difference {
            field: field.to_owned(),
            stored: stored.map(Value::to_string),
            wanted: wanted.map(Value::to_string),
        }),
    }
}

fn names<'a>(
    stored: &'a Map<String, Value>,
    wanted: &'a Map<String, Value>,
) -> impl Iterator<Item = &'a String> {
    stored.keys().chain(wanted.keys().filter(|name| !stored.contains_key(*name)))
}
