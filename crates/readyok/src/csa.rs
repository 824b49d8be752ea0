//! The server protocol of the Computer Shogi Association, version 1.2.1, with the extensions of floodgate: a client
//! that plays with an engine, and a server for local matches.
//!
//! Source: <http://www2.computer-shogi.org/protocol/tcp_ip_server_121.html>.

mod client;
mod connection;
mod lobby;
mod message;
mod server;

pub(crate) use client::{Client, ClientSettings, Login};
pub(crate) use message::TimeRules;
pub(crate) use server::{ServerSettings, serve};

/// The port of the protocol.
pub(crate) const DEFAULT_PORT: u16 = 4081;
