//! Where the results of a match are kept: in a new file, or in that of a match that goes on.

use std::path::PathBuf;

use readyok_arena::export::Export;
use readyok_arena::plan::Plan;
use readyok_arena::runner::Match;
use readyok_arena::store::{Store, StoreError};

use super::run::{Failed, setting};

/// Where results are kept.
#[derive(Clone, Debug)]
pub enum Results {
    /// In a new file.
    New(Name, Box<Plan>),
    /// In the file of a match that goes on.
    GoOn(PathBuf, Continued, Changes),
}

/// What the file of a new match is called.
#[derive(Clone, Debug)]
pub enum Name {
    /// As the user says.
    Given(PathBuf),
    /// Like this; with a number if there is such a file, as of another match that began now.
    Like(PathBuf),
}

/// How a match goes on.
#[derive(Clone, Debug)]
pub enum Continued {
    /// As its file says.
    AsItWas,
    /// With so many rounds, which may be more.
    Rounds(u32),
    /// As a plan says, which is the same but may have more rounds.
    Plan(Box<Plan>),
}

/// What happens when a match is to go on, and its engines or openings have changed since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changes {
    /// It does not go on.
    Refused,
    /// It goes on, and its file says so.
    Accepted,
}

impl Results {
    /// The store, and how many bytes of a torn end were cut off it.
    pub(super) fn open(self, exports: &[Export]) -> Result<(Store, u64), Failed> {
        match self {
            Self::New(name, plan) => {
                Match::check(&plan, exports)?;
                // Its tablebases are opened here only to see that they are there.
                setting(&plan)?;
                Ok((name.create(&plan)?, 0))
            }
            Self::GoOn(path, continued, changes) => {
                let (mut store, cut) = Store::resume(&path, |_| ())?;
                match continued {
                    Continued::AsItWas => {}
                    Continued::Rounds(rounds) => store.accept_rounds(rounds)?,
                    Continued::Plan(plan) => store.accept(&plan)?,
                }
                match changes {
                    Changes::Refused => store.check_files()?,
                    Changes::Accepted => store.accept_files()?,
                }
                Ok((store, cut))
            }
        }
    }
}

impl Name {
    fn create(self, plan: &Plan) -> Result<Store, StoreError> {
        /// So many matches begin in one folder within a second.
        const MOST: u32 = 1000;

        let path = match self {
            Self::Given(path) => return Store::create(&path, plan),
            Self::Like(path) => path,
        };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        let mut made = Store::create(&path, plan);
        for number in 2..MOST {
            if !matches!(made, Err(StoreError::Exists(_))) {
                break;
            }
            made = Store::create(&path.with_file_name(format!("{stem}-{number}.{ending}")), plan);
        }
        made
    }
}
