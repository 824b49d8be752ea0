//! Differences of two plans, and hashes of environment variables, whose values may be secrets and are not
//! stored.

use std::collections::BTreeSet;
use std::{fmt, io};

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::contents::ContentHash;
use crate::plan::Plan;

/// A difference of two plans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The key: `engines[1].limits.tc`.
    pub field: String,
    /// The stored value as JSON; none if it is missing. Values of environment variables are
    /// [`Difference::HIDDEN`].
    pub stored: Option<String>,
    /// The requested value.
    pub wanted: Option<String>,
}

impl Difference {
    /// Replaces a secret value.
    pub const HIDDEN: &str = "…";

    /// A difference of an environment variable.
    pub(super) fn hidden(engine: usize, name: &str, in_stored: bool, in_wanted: bool) -> Self {
        let value = |is_there: bool| is_there.then(|| Self::HIDDEN.to_owned());
        let field = variable(engine, name);
        Self { field, stored: value(in_stored), wanted: value(in_wanted) }
    }
}

/// The key of an environment variable.
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

/// All differences of two plans.
pub(super) fn between(stored: &Plan, wanted: &Plan) -> Vec<Difference> {
    let mut found = Vec::new();
    let count = stored.engines.len().max(wanted.engines.len());
    for index in 0..count {
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
    // Plans are always serializable; otherwise they compare as different.
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

/// The prefix of a hashed value: `sha256:<salt>:<hash>`.
const PREFIX: &str = "sha256:";

/// Whether a plan has environment variables.
pub(super) fn has_values(plan: &Plan) -> bool {
    plan.engines.iter().any(|engine| !engine.env.is_empty())
}

/// The plan with salted hashes instead of the values of environment variables.
pub(super) fn sealed(plan: &Plan) -> io::Result<Plan> {
    let mut plan = plan.clone();
    for (name, value) in plan.engines.iter_mut().flat_map(|engine| &mut engine.env) {
        // Individual salts hide equal values and prevent precomputed tables.
        let mut salt = [0; 16];
        getrandom::fill(&mut salt).map_err(|error| io::Error::other(error.to_string()))?;
        *value = seal(&format!("{:032x}", u128::from_le_bytes(salt)), name, value);
    }
    Ok(plan)
}

/// The plan with the stored hash of each unchanged value.
pub(super) fn sealed_as(stored: &Plan, plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    for (index, engine) in plan.engines.iter_mut().enumerate() {
        let stored = stored.engines.get(index).map(|engine| &engine.env);
        for (name, value) in &mut engine.env {
            let stored = stored.and_then(|stored| stored.get(name));
            let same = stored.filter(|stored| is_of(stored, name, value));
            *value = same.cloned().unwrap_or_default();
        }
    }
    plan
}

/// Whether a stored hash is that of a value.
pub(super) fn is_of(stored: &str, name: &str, value: &str) -> bool {
    let salt = stored.strip_prefix(PREFIX).and_then(|rest| rest.split_once(':'));
    salt.is_some_and(|(salt, _)| seal(salt, name, value) == stored)
}

fn seal(salt: &str, name: &str, value: &str) -> String {
    let mut hash = Sha256::new();
    // Salts and names of variables do not contain this byte.
    for part in [salt, name, value] {
        hash.update(part);
        hash.update([0]);
    }
    format!("{PREFIX}{salt}:{}", ContentHash::from_digest(hash))
}
