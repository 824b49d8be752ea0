//! `readyok match`: from arguments to a plan, and what is shown while it is played.

mod complaints;
mod engines;
mod events;
mod flags;
mod queue;
mod results;
mod run;
mod show;
mod slots;
mod standing;

pub use complaints::complaints;
pub use engines::{EngineError, engine_plan, find_engine};
pub use flags::{FlagError, PerEngine};
pub use queue::{Queue, Worker};
pub use results::{Changes, Continued, Name, Results};
pub use run::{Begun, Coordinate, Manner, Nobody, Run, read_plan, write_report};
pub use show::{Lines, Live};
pub use slots::Slots;
pub use standing::Standing;
