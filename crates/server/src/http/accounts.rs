//! Accounts of the users of a farm's page, in addition to its owner.
//!
//! ```toml
//! [alice]
//! role = "author"
//! password = "$argon2id$v=19$m=19456,t=2,p=1$…"
//! ```
//! The program prints the hash of a password with `readyok serve --print-hash`.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::password::{Password, PasswordError};
use crate::wire::QueueRole;

/// Maximum length of the name of an account in bytes.
const MAX_NAME: usize = 64;
/// Maximum number of accounts.
const MAX_ACCOUNTS: usize = 10_000;

/// An account.
#[derive(Clone, Debug)]
pub struct Account {
    pub(super) name: Arc<str>,
    pub(super) role: QueueRole,
    pub(super) password: Password,
}

/// Accounts cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum AccountsError {
    /// The text is not a table of accounts.
    #[error(transparent)]
    Toml(#[from] toml::de::Error),
    /// A name is empty, too long or has control characters.
    #[error("`{0}` is not the name of an account")]
    Name(String),
    /// An owner has the password of the server.
    #[error(
        "the account `{0}` cannot be an owner: the owner logs in with the password of the server"
    )]
    Owner(String),
    /// There are too many accounts.
    #[error("more than {MAX_ACCOUNTS} accounts")]
    TooMany,
    /// The hash of a password is invalid.
    #[error("the account `{name}`: {why}")]
    Password {
        /// The account.
        name: String,
        /// The reason.
        why: PasswordError,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredAccount {
    role: QueueRole,
    /// An Argon2 hash in the format of the PHC.
    password: String,
}

impl Account {
    /// Reads a table of accounts in TOML.
    ///
    /// # Errors
    /// An entry is invalid.
    pub fn read_all(text: &str) -> Result<Vec<Self>, AccountsError> {
        let stored: BTreeMap<String, StoredAccount> = toml::from_str(text)?;
        if MAX_ACCOUNTS < stored.len() {
            return Err(AccountsError::TooMany);
        }
        let account = |(name, StoredAccount { role, password }): (String, StoredAccount)| {
            if name.is_empty() || MAX_NAME < name.len() || name.chars().any(char::is_control) {
                return Err(AccountsError::Name(name.escape_debug().to_string()));
            }
            if role == QueueRole::Owner {
                return Err(AccountsError::Owner(name));
            }
            match Password::from_hash(&password) {
                Ok(password) => Ok(Self { name: name.into(), role, password }),
                Err(why) => Err(AccountsError::Password { name, why }),
            }
        };
        stored.into_iter().map(account).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str =
        "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$vGuUEy4D9pZzVKH4Xl2aT0Sj4D0M0SC8PDUX2fYl9yY";

    #[test]
    fn reads_authors_and_approvers_but_no_owners() {
        let with = |role: &str, name: &str| {
            format!("[{name}]\nrole = \"{role}\"\npassword = \"{HASH}\"\n")
        };
        let text = with("author", "alice") + &with("approver", "bob");
        let accounts = Account::read_all(&text).expect("accounts");
        let read: Vec<_> = accounts.iter().map(|account| (&*account.name, account.role)).collect();
        assert_eq!(read, [("alice", QueueRole::Author), ("bob", QueueRole::Approver)]);
        assert!(matches!(Account::read_all(&with("owner", "x")), Err(AccountsError::Owner(_))));
        assert!(matches!(Account::read_all(&with("king", "x")), Err(AccountsError::Toml(_))));
        assert!(matches!(Account::read_all(&with("author", "\"\"")), Err(AccountsError::Name(_))));
        let plain = "[x]\nrole = \"author\"\npassword = \"secret\"\n";
        assert!(matches!(Account::read_all(plain), Err(AccountsError::Password { .. })));
    }
}
