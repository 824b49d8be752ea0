//! The engine as a program for any GUI.

use std::io;

fn main() -> io::Result<()> {
    narikin::runner().map_err(io::Error::other)?.run_stdio()
}
