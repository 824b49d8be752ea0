//! `readyok match`: from arguments to a plan, and what is shown while it is played.

mod engines;
mod flags;
mod queue;
mod run;
mod show;
mod slots;
mod standing;

pub use engines::{EngineError, engine_plan, find_engine};
pub use flags::{FlagError, PerEngine};
pub use queue::{Queue, Worker};
pub use run::{
    Begun, Changes, Continued, Coordinate, Manner, Name, Nobody, Results, Run, read_plan,
    write_report,
};
pub use show::{Lines, Live};
pub use slots::Slots;
pub use standing::Standing;
