//! The values of engines' environments, which may be passwords: a result file holds none of them, only
//! what tells whether a value is the same.

use std::io;

use sha2::{Digest as _, Sha256};

use super::ContentHash;
use crate::plan::Plan;

/// What a file holds of a value: `sha256:<salt>:<hash>`.
const START: &str = "sha256:";

/// Whether a plan has values that a file does not hold.
pub(super) fn has_values(plan: &Plan) -> bool {
    plan.engines.iter().any(|engine| !engine.env.is_empty())
}

/// The plan with a salted hash in the place of each value.
pub(super) fn sealed(plan: &Plan) -> io::Result<Plan> {
    let mut plan = plan.clone();
    for (name, value) in plan.engines.iter_mut().flat_map(|engine| &mut engine.env) {
        // With a salt for each, equal values do not show, and no table of hashes helps.
        let mut salt = [0; 16];
        getrandom::fill(&mut salt).map_err(|error| io::Error::other(error.to_string()))?;
        *value = seal(&format!("{:032x}", u128::from_le_bytes(salt)), name, value);
    }
    Ok(plan)
}

/// The plan as a file holds it: with what the file has of each value that is still the same.
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

/// Whether what a file holds is of this value.
pub(super) fn is_of(stored: &str, name: &str, value: &str) -> bool {
    let salt = stored.strip_prefix(START).and_then(|rest| rest.split_once(':'));
    salt.is_some_and(|(salt, _)| seal(salt, name, value) == stored)
}

fn seal(salt: &str, name: &str, value: &str) -> String {
    let mut hash = Sha256::new();
    // Neither a salt nor the name of a variable has this byte.
    for part in [salt, name, value] {
        hash.update(part);
        hash.update([0]);
    }
    format!("{START}{salt}:{}", ContentHash::from_digest(hash))
}
