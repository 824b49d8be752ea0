//! The private keys of a farm.

use std::path::Path;

use nkeys::KeyPair;
use serde::{Deserialize, Serialize};

use super::FarmError;

const HEADER: &str = "\
# The private keys of the farm. With them, workers are invited, and the permissions of all workers can be changed.
# The server does not need them.
";

/// The keys that sign tokens.
pub(super) struct Keys {
    /// Signs the accounts.
    pub(super) operator: KeyPair,
    /// Signs the owner.
    pub(super) account: KeyPair,
    /// Signs workers, with the permissions of its template.
    pub(super) workers: KeyPair,
}

/// The seeds.
#[derive(Serialize, Deserialize)]
struct Stored {
    operator: String,
    account: String,
    workers: String,
}

impl Keys {
    pub(super) fn generate() -> Self {
        Self {
            operator: KeyPair::new_operator(),
            account: KeyPair::new_account(),
            workers: KeyPair::new_account(),
        }
    }

    pub(super) fn to_text(&self, path: &Path) -> Result<String, FarmError> {
        let stored = Stored {
            operator: self.operator.seed()?,
            account: self.account.seed()?,
            workers: self.workers.seed()?,
        };
        let text = toml::to_string(&stored).map_err(|error| FarmError::malformed(path, error))?;
        Ok(format!("{HEADER}{text}"))
    }

    pub(super) fn of_text(text: &str, path: &Path) -> Result<Self, FarmError> {
        // The message of the parser quotes the line, which may be a key.
        let stored: Stored =
            toml::from_str(text).map_err(|error| FarmError::malformed(path, error.message()))?;
        let key = |seed: &str| {
            KeyPair::from_seed(seed).map_err(|error| FarmError::malformed(path, error))
        };
        Ok(Self {
            operator: key(&stored.operator)?,
            account: key(&stored.account)?,
            workers: key(&stored.workers)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_again() {
        let path = Path::new("farm.keys");
        let keys = Keys::generate();
        let text = keys.to_text(path).expect("keys");
        let again = Keys::of_text(&text, path).expect("keys");
        let public =
            |keys: &Keys| [&keys.operator, &keys.account, &keys.workers].map(KeyPair::public_key);
        assert_eq!(public(&again), public(&keys));
    }

    #[test]
    fn errors_contain_no_key() {
        let path = Path::new("farm.keys");
        let seed = KeyPair::new_account().seed().expect("a seed");
        for text in [
            format!("operator = {seed}\n"),
            format!("operator = \"{seed}\"\n"),
            format!("operator = \"{seed}x\"\naccount = \"{seed}x\"\nworkers = \"{seed}x\"\n"),
        ] {
            let error = Keys::of_text(&text, path).err().expect("an error").to_string();
            assert!(error.starts_with("`farm.keys` is malformed: "), "{error}");
            assert!(!error.contains(&seed), "{error}");
        }
    }
}
