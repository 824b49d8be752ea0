//! Passwords, of which only a slow hash is stored.

use std::fmt;
use std::sync::Arc;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Argon2, Params};

/// The beginning of an Argon2 hash in the format of the PHC.
const PREFIX: &str = "$argon2";
/// Maximum memory of a hash in KiB, and maximum number of passes.
const MAX_COST: (u32, u32) = (1 << 20, 100);

/// An Argon2 hash of a password.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(Arc<str>);

/// A password cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PasswordError {
    /// The text begins like a hash, but is not one that this program can compute.
    #[error("invalid Argon2 hash: {0}")]
    Hash(String),
    /// The system has no random numbers.
    #[error("the password cannot be hashed: {0}")]
    System(String),
}

/// Omits the hash.
impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Password").finish_non_exhaustive()
    }
}

impl Password {
    /// Hashes a password by Argon2id with a random salt. It takes a part of a second.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn new(text: &str) -> Result<Self, PasswordError> {
        let hash = Argon2::default().hash_password(text.as_bytes());
        let hash = hash.map_err(|error| PasswordError::System(error.to_string()))?;
        Ok(Self(hash.to_string().into()))
    }

    /// Whether a text begins as a hash does.
    pub fn is_hash(text: &str) -> bool {
        text.starts_with(PREFIX)
    }

    /// Reads a hash in the format of the PHC: `$argon2id$v=19$m=19456,t=2,p=1$…`.
    ///
    /// # Errors
    /// The hash is invalid, or needs too much memory or time.
    pub fn from_hash(text: &str) -> Result<Self, PasswordError> {
        let hash = PasswordHash::new(text);
        let hash = hash.map_err(|error| PasswordError::Hash(error.to_string()))?;
        let params = Params::try_from(&hash);
        let params = params.map_err(|error| PasswordError::Hash(error.to_string()))?;
        if MAX_COST.0 < params.m_cost() || MAX_COST.1 < params.t_cost() {
            let (memory, passes) = MAX_COST;
            let why = format!("more than {memory} KiB of memory or {passes} passes");
            return Err(PasswordError::Hash(why));
        }
        if hash.salt.is_none() || hash.hash.is_none() {
            return Err(PasswordError::Hash("the salt or the output is missing".to_owned()));
        }
        // Unknown algorithms fail here instead of at each login.
        match Argon2::default().verify_password(b"", &hash) {
            Ok(()) | Err(argon2::password_hash::Error::PasswordInvalid) => {
                Ok(Self(text.to_owned().into()))
            }
            Err(error) => Err(PasswordError::Hash(error.to_string())),
        }
    }

    /// The hash in the format of the PHC.
    pub fn hash(&self) -> &str {
        &self.0
    }

    /// Compares with a password, which takes as long as [`Self::new`].
    pub(super) fn is(&self, text: &str) -> bool {
        PasswordHash::new(&self.0)
            .is_ok_and(|hash| Argon2::default().verify_password(text.as_bytes(), &hash).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_has_a_salt_and_the_recommended_cost() {
        let [first, second] = [(); 2].map(|()| Password::new("correct horse").expect("a hash"));
        assert_ne!(first, second);
        // The minimum of the OWASP Password Storage Cheat Sheet.
        assert!(first.hash().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", first.hash());
        assert!(first.is("correct horse") && !first.is("correct horse ") && !first.is(""));
        let read = Password::from_hash(first.hash()).expect("its own hash");
        assert!(read.is("correct horse") && !read.is(first.hash()));
        assert!(!format!("{first:?}").contains("argon2"));
    }

    /// `echo -n password | argon2 somesalt -t 2 -m 16 -p 4 -l 24` of the reference implementation, from its README.
    const REFERENCE: &str =
        "$argon2i$v=19$m=65536,t=2,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b+dWRWJTmaaJObG";

    #[test]
    fn hashes_of_other_programs_are_read() {
        assert!(Password::is_hash(REFERENCE) && !Password::is_hash("correct horse"));
        let reference = Password::from_hash(REFERENCE).expect("a hash");
        assert!(reference.is("password") && !reference.is("Password"));
        for wrong in [
            "",
            "$argon2id$",
            "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ",
            "$argon2x$v=19$m=8,t=1,p=1$YWFhYWFhYWE$YWFhYWFhYWFhYWFh",
            "$argon2id$v=19$m=4194304,t=2,p=1$YWFhYWFhYWE$YWFhYWFhYWFhYWFh",
        ] {
            assert!(matches!(Password::from_hash(wrong), Err(PasswordError::Hash(_))), "{wrong}");
        }
    }
}
