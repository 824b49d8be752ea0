//! Writing into bytes.

use alloc::vec::Vec;
use core::fmt;

/// A sink for bytes, for those who send them: messages are text, and are written as UTF-8.
///
/// Like every sink it gets no line ends; they stand between messages.
///
/// ```
/// use readyok_protocol::{ByteSink, Command, Dialect, Go};
/// let mut bytes = Vec::new();
/// for command in [Command::IsReady, Command::Go(Go::depth(5))] {
///     command.write(Dialect::Uci, &mut ByteSink(&mut bytes))?;
///     bytes.push(b'\n');
/// }
/// assert_eq!(bytes, b"isready\ngo depth 5\n");
/// # Ok::<(), readyok_protocol::WriteError>(())
/// ```
#[derive(Debug)]
pub struct ByteSink<'a>(
    /// What is written stands at its end.
    pub &'a mut Vec<u8>,
);

impl fmt::Write for ByteSink<'_> {
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}
