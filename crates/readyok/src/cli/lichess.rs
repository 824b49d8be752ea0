//! Arguments of commands that connect an engine with Lichess.

use std::path::PathBuf;

use super::engine::StartArgs;
use super::worker::read_secret;
use crate::address::Address;
use crate::dirs;
use crate::exit::Failure;
use crate::http::Address as ServerAddress;
use crate::secrets::LICHESS_API_TOKEN;

#[derive(Debug, clap::Args)]
pub(super) struct LichessArgs {
    /// UCI engine: a name from engines.toml, `narikin`, a path, or a program in PATH
    engine: String,
    /// Read the token from this file, which only its owner can access [default: `LICHESS_API_TOKEN` in the environment]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Set an engine option, or push a button; repeatable
    #[arg(long = "option", value_name = "NAME[=VALUE]")]
    pub(super) options: Vec<String>,
    #[command(flatten)]
    start: StartArgs,
    /// Use this server
    #[arg(long, value_name = "URL", default_value = "https://lichess.org")]
    pub(super) server: ServerAddress,
}

impl LichessArgs {
    /// The token, from the file or else from the environment.
    pub(super) fn token(&self) -> Result<String, Failure> {
        let token = match &self.token_file {
            Some(file) => read_secret(file)?,
            None => dirs::env(LICHESS_API_TOKEN)
                .and_then(|token| token.into_string().ok())
                .unwrap_or_default(),
        };
        let token = token.trim().to_owned();
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Failure::usage(format!(
                "--token-file or {LICHESS_API_TOKEN} must contain a token"
            )));
        }
        Ok(token)
    }

    /// How the engine is started.
    pub(super) fn address(&self) -> Result<Address, Failure> {
        let address = Address::find(&self.engine, &dirs::env).map_err(Failure::usage)?;
        Ok(self.start.apply(address))
    }
}
