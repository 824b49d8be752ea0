//! The tests of the server.

mod typescript;
