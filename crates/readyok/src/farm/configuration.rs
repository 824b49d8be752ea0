//! The configuration of the server of a farm.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::FarmError;

/// Where the server listens.
pub(crate) struct Listener {
    pub(crate) address: SocketAddr,
    pub(crate) tls: Option<Tls>,
}

/// Files of the server for TLS, in PEM.
pub(crate) struct Tls {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// The tokens and public keys in a configuration.
pub(super) struct Contents {
    pub(super) operator: String,
    pub(super) system: String,
    pub(super) account: String,
    pub(super) system_key: String,
    pub(super) account_key: String,
}

const HEADER: &str = "\
# Configuration of `nats-server`, written by `readyok farm init`. An invitation changes nothing here.
# `readyok farm revoke` replaces the token of the account, and keeps all other lines.
";

const PID_FILE: &str = "pid_file";

impl Contents {
    /// The configuration of the farm in this directory, which is absolute.
    pub(super) fn to_text(&self, dir: &Path, listener: &Listener) -> Result<String, FarmError> {
        let mut text = HEADER.to_owned();
        let mut line = |line: String| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{line}");
        };
        line(format!("listen: \"{}\"", listener.address));
        if let Some(Tls { certificate, key }) = &listener.tls {
            let (certificate, key) = (quoted_path(certificate)?, quoted_path(key)?);
            line(format!("tls {{ cert_file: {certificate}, key_file: {key} }}"));
        }
        line(format!("{PID_FILE}: {}", quoted_path(&dir.join("nats-server.pid"))?));
        line(format!("jetstream {{ store_dir: {} }}", quoted_path(&dir.join("store"))?));
        line(format!("operator: {}", self.operator));
        line(format!("system_account: {}", self.system_key));
        line("resolver: MEMORY".to_owned());
        line("resolver_preload: {".to_owned());
        line(format!("  {}: {}", self.system_key, self.system));
        line(format!("  {}: {}", self.account_key, self.account));
        line("}".to_owned());
        Ok(text)
    }
}

/// The configuration with another token of the account. `None` if it has no line for it.
pub(super) fn with_account(text: &str, account: &str, token: &str) -> Option<String> {
    let mut is_replaced = false;
    let lines = text.split_inclusive('\n').map(|line| {
        let old = value_of(line, account).filter(|old| !is_replaced && is_token(old));
        is_replaced |= old.is_some();
        old.map_or_else(|| line.to_owned(), |old| line.replace(old, token))
    });
    let changed = lines.collect();
    is_replaced.then_some(changed)
}

/// The path of the file with the process id of the server.
pub(super) fn pid_file(text: &str) -> Option<PathBuf> {
    text.lines().find_map(|line| unquoted(value_of(line, PID_FILE)?)).map(PathBuf::from)
}

/// The value in a line `key: value`.
fn value_of<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let after = line.trim().strip_prefix(key)?.trim_start().strip_prefix(':')?;
    Some(after.trim())
}

/// Whether this is an unquoted token: three parts in Base64.
fn is_token(text: &str) -> bool {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    text.split('.').count() == 3 && text.bytes().all(is_valid)
}

fn quoted_path(path: &Path) -> Result<String, FarmError> {
    path.to_str().map(quoted).ok_or_else(|| FarmError::PathNotUtf8(path.to_owned()))
}

/// A string in the syntax of the configuration of NATS.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// The inverse of [`quoted`]. `None` for other syntax.
fn unquoted(text: &str) -> Option<String> {
    let mut chars = text.strip_prefix('"')?.strip_suffix('"')?.chars();
    let mut plain = String::new();
    while let Some(c) = chars.next() {
        plain.push(match c {
            '\\' => match chars.next()? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                c @ ('"' | '\\') => c,
                _ => return None,
            },
            '"' => return None,
            c => c,
        });
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_read_again() {
        for text in ["", "/farm", "C:\\farm\\new \"x\"", "a\n\r\tb$HOME#{'", "\u{e9}"] {
            assert_eq!(unquoted(&quoted(text)).as_deref(), Some(text));
        }
        for text in ["", "\"", "x", "\"a\"b\"", "\"a\\\"", "\"\\x41\""] {
            assert_eq!(unquoted(text), None, "{text}");
        }
    }

    #[test]
    fn only_the_token_of_the_account_is_replaced() {
        let text = "# ACC: a.b.c\r\nport: 1\r\nresolver_preload: {\r\n  SYS: d.e.f\r\n  ACC: a.b-.c_\r\n}\r\n";
        let expected = text.replace("a.b-.c_", "g.h.i");
        assert_eq!(with_account(text, "ACC", "g.h.i"), Some(expected));
        for other in
            ["", "ACC", "ACC a.b.c", "ACC: \"a.b.c\"", "ACC: a.b.c, SYS: d.e.f", "ACCX: a.b.c"]
        {
            assert_eq!(with_account(other, "ACC", "g.h.i"), None, "{other}");
        }
    }

    #[test]
    fn the_file_of_the_process_is_found() {
        let dir = Path::new("/a \"b\\");
        let contents = Contents {
            operator: "a.b.c".to_owned(),
            system: "d.e.f".to_owned(),
            account: "g.h.i".to_owned(),
            system_key: "SYS".to_owned(),
            account_key: "ACC".to_owned(),
        };
        let address = SocketAddr::from(([0, 0, 0, 0], 4222));
        let text = contents.to_text(dir, &Listener { address, tls: None }).expect("a text");
        assert_eq!(pid_file(&text), Some(dir.join("nats-server.pid")));
        assert_eq!(pid_file("# pid_file: \"a\"\n"), None);
    }
}
