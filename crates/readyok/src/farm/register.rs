//! The register of the workers of a farm.

use std::path::Path;

use readyok_arena::queue::nats::permissions::owner_of;
use serde::{Deserialize, Serialize};

use super::FarmError;

const HEADER: &str =
    "# The workers of the farm, written by `readyok farm`. Times are in seconds since 1970.\n\n";

/// An invitation of a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Worker {
    pub(crate) name: String,
    /// The public key of its credentials.
    pub(crate) key: String,
    /// The time of its invitation in seconds since 1970.
    pub(crate) invited: u64,
    /// The time of its revocation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) revoked: Option<u64>,
}

impl Worker {
    /// The owner in its name.
    pub(crate) fn owner(&self) -> &str {
        owner_of(&self.name)
    }
}

/// All invitations in their order. At most one with each name is not revoked.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Register {
    #[serde(default, rename = "worker", skip_serializing_if = "Vec::is_empty")]
    pub(super) workers: Vec<Worker>,
}

impl Register {
    pub(super) fn to_text(&self, path: &Path) -> Result<String, FarmError> {
        let text = toml::to_string(self).map_err(|error| FarmError::malformed(path, error))?;
        Ok(format!("{HEADER}{text}"))
    }

    pub(super) fn of_text(text: &str, path: &Path) -> Result<Self, FarmError> {
        toml::from_str(text).map_err(|error| FarmError::malformed(path, error))
    }

    /// The worker with this name that is not revoked.
    pub(super) fn enrolled(&self, name: &str) -> Option<&Worker> {
        self.workers.iter().find(|worker| worker.name == name && worker.revoked.is_none())
    }

    pub(super) fn invite(&mut self, name: &str, key: String, now: u64) {
        self.workers.push(Worker { name: name.to_owned(), key, invited: now, revoked: None });
    }

    /// Revokes the invitations of a name. Returns false if the name is unknown.
    pub(super) fn revoke(&mut self, name: &str, now: u64) -> bool {
        let mut is_known = false;
        for worker in self.workers.iter_mut().filter(|worker| worker.name == name) {
            is_known = true;
            // The server revokes tokens up to this time. The clock may have been set back.
            worker.revoked.get_or_insert_with(|| now.max(worker.invited));
        }
        is_known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_invited_again_after_its_revocation() {
        let path = Path::new("workers.toml");
        let mut register = Register::default();
        register.invite("alice/box7", "U1".to_owned(), 5);
        assert!(!register.revoke("box7", 6));
        // The clock was set back.
        assert!(register.revoke("alice/box7", 4));
        assert_eq!(register.enrolled("alice/box7"), None);
        register.invite("alice/box7", "U2".to_owned(), 7);
        assert!(register.enrolled("alice/box7").is_some_and(|worker| worker.key == "U2"));
        let times: Vec<_> = register.workers.iter().map(|worker| worker.revoked).collect();
        assert_eq!(times, [Some(5), None]);
        let again = Register::of_text(&register.to_text(path).expect("text"), path);
        assert_eq!(again.expect("a register"), register);
    }
}
