//! `readyok annotate`: an engine evaluates every position of games, and the games are written with
//! evaluations, marked mistakes and accuracies.

mod evaluate;
mod journal;
mod run;

pub(crate) use evaluate::EngineSettings;
pub(crate) use run::{Annotation, run};
