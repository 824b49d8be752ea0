//! Starts or reaches the engine of an address.

use std::process::Command;

use readyok_client::{Builder, Engine, EngineError, Guard};
use readyok_protocol::Dialect;

use crate::address::{Address, Reach};

impl Address {
    /// Starts or reaches the engine, greets it in this dialect, and sets the options that the
    /// user has settled. Without a dialect UCI is tried before USI. A process is guarded.
    ///
    /// # Errors
    /// It cannot be reached or does not answer, or has no such option.
    pub fn open(&self, dialect: Option<Dialect>, guard: &Guard) -> Result<Engine, EngineError> {
        let mut builder = Engine::builder().guard(guard);
        if let Some(timeout) = self.timeout {
            builder = builder.timeouts(timeout.timeouts());
        }
        if let Some(registration) = &self.registration {
            builder = builder.register(registration.register());
        }
        let start = |dialect| self.start(builder.clone().dialect(dialect));
        let mut engine = match dialect {
            Some(dialect) => start(dialect)?,
            None => start(Dialect::Uci).or_else(|first| {
                // Of an engine that fails twice in the same way, the first failure is reported.
                start(Dialect::Usi).map_err(|second| {
                    if first.problem() == second.problem() { first } else { second }
                })
            })?,
        };
        engine.set_options(self.options.iter().map(|(name, value)| (name, value)))?;
        Ok(engine)
    }

    fn start(&self, builder: Builder) -> Result<Engine, EngineError> {
        match &self.reach {
            Reach::Narikin => builder.in_process(|input, output| {
                // If it cannot go on, its output ends, and that is what its client is told.
                if let Ok(narikin) = narikin::runner() {
                    let _ = narikin.run(input, output);
                }
            }),
            Reach::Program { file, arguments, directory, environment } => {
                let mut command = Command::new(file);
                command.args(arguments).envs(environment);
                if let Some(directory) = directory {
                    command.current_dir(directory);
                }
                builder.spawn(command)
            }
            Reach::Tcp(address) => builder.connect(address),
        }
    }
}
