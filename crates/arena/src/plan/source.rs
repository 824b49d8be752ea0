//! Engines that are built from a Git repository.

use std::fmt;
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

/// A program that is built from a commit of a Git repository, on each host that plays with it.
///
/// The conventions are those of OpenBench and fishtest: a build command such as `make EXE=engine` or `cargo build
/// --release`, and a program whose argument `bench` prints a number of nodes that identifies its search.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct GitSource {
    /// A URL (`https`, `ssh`, `git` or `file`), or the absolute path of a repository.
    pub repository: String,
    /// The branch, tag or commit that the author named, for display.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub revision: String,
    /// The full hash of the commit.
    #[serde(default)]
    pub commit: String,
    /// The directory of the repository in which the build command runs; the root if it is empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub directory: String,
    /// The build command: a program and its arguments, separated by spaces. No shell interprets it.
    #[serde(default = "default_build")]
    pub build: String,
    /// The path of the program after the build, relative to that directory.
    #[serde(default = "default_program")]
    pub program: String,
    /// The number of nodes that the program prints for the argument `bench`. Not verified if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(type = "number | null", optional))]
    pub bench: Option<u64>,
}

/// The default build command, that of OpenBench.
pub fn default_build() -> String {
    format!("make EXE={}", default_program())
}

/// The default name of the program.
pub fn default_program() -> String {
    "engine".to_owned()
}

readyok_protocol::errors! {
    /// An invalid source of an engine.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum SourceError {
        Repository { text: String } =>
            "`{text}` is neither the URL of a repository nor an absolute path",
        Commit { text: String } => "`{text}` is not the full hash of a commit",
        Path { text: String } => "`{text}` is not a path within the repository",
        Build { text: String } => "`{text}` is not a build command",
    }
}

/// Schemes of URLs. Others can run programs.
const SCHEMES: [&str; 4] = ["https://", "ssh://", "git://", "file:///"];

/// Maximum length of the texts in bytes.
const MAX_TEXT: usize = 500;

impl GitSource {
    /// Checks all texts.
    ///
    /// # Errors
    /// The first invalid text.
    pub fn check(&self) -> Result<(), SourceError> {
        check_repository(&self.repository)?;
        if !is_commit(&self.commit) {
            return Err(SourceError::Commit { text: shown(&self.commit) });
        }
        for (path, may_be_empty) in [(&self.directory, true), (&self.program, false)] {
            let is_valid = is_inside(path) && (may_be_empty || !path.is_empty());
            if !is_valid {
                return Err(SourceError::Path { text: shown(path) });
            }
        }
        let is_build = !self.build.trim().is_empty() && is_plain(&self.build);
        if is_build { Ok(()) } else { Err(SourceError::Build { text: shown(&self.build) }) }
    }

    /// The start of the hash, for display.
    pub fn short_commit(&self) -> &str {
        self.commit.get(..10).unwrap_or(&self.commit)
    }

    /// The address of the page of the commit, on a known host.
    pub fn commit_page(&self) -> Option<String> {
        Some(format!("{}/commit/{}", self.repository_page()?, self.commit))
    }

    /// The address of the page with the difference from another commit of the same repository, on a known host.
    pub fn difference_page(&self, base: &Self) -> Option<String> {
        let page = self.repository_page()?;
        let is_same = base.repository_page().as_ref() == Some(&page);
        is_same.then(|| format!("{page}/compare/{}...{}", base.commit, self.commit))
    }

    fn repository_page(&self) -> Option<String> {
        const HOSTS: [&str; 3] = ["github.com", "gitlab.com", "codeberg.org"];
        let path = self.repository.strip_prefix("https://")?;
        let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
        let (host, name) = path.split_once('/')?;
        let is_name = |text: &str| {
            text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte))
        };
        (HOSTS.contains(&host) && is_name(name)).then(|| format!("https://{path}"))
    }
}

/// The text of the command of an engine with this source, which names no file.
impl fmt::Display for GitSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "git:{}@{}", self.repository, self.short_commit())
    }
}

/// Checks the name of a repository.
///
/// # Errors
/// It is neither a URL of a permitted scheme nor an absolute path.
pub fn check_repository(text: &str) -> Result<(), SourceError> {
    let is_url = SCHEMES.iter().any(|scheme| text.starts_with(scheme));
    // An option of git starts with `-`, and a program as a transport contains `::`.
    // ssh takes a host that starts with `-` for an option.
    let is_valid = is_plain(text)
        && !text.contains("::")
        && !text.contains("://-")
        && !text.contains(char::is_whitespace);
    if is_valid && (is_url || Path::new(text).is_absolute()) {
        Ok(())
    } else {
        Err(SourceError::Repository { text: shown(text) })
    }
}

/// Whether this is a full hash, SHA-1 or SHA-256.
pub fn is_commit(text: &str) -> bool {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    matches!(text.len(), 40 | 64) && text.bytes().all(is_hex)
}

fn is_plain(text: &str) -> bool {
    text.len() <= MAX_TEXT && !text.chars().any(char::is_control)
}

fn is_inside(text: &str) -> bool {
    let is_normal = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    is_plain(text) && Path::new(text).components().all(is_normal)
}

fn shown(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect::<String>().escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> GitSource {
        GitSource {
            repository: "https://github.com/me/engine.git".to_owned(),
            revision: "lmr".to_owned(),
            commit: "0123456789abcdef0123456789abcdef01234567".to_owned(),
            directory: "src".to_owned(),
            build: "make EXE=engine".to_owned(),
            program: "engine".to_owned(),
            bench: Some(1_234_567),
        }
    }

    #[test]
    fn accepts_urls_and_paths_but_no_transports_with_programs() {
        for text in ["https://github.com/a/b", "ssh://git@host/a", "file:///srv/a.git", "/srv/a"] {
            assert_eq!(
                GitSource { repository: text.to_owned(), ..source() }.check(),
                Ok(()),
                "{text}"
            );
        }
        for text in [
            "",
            "ext::sh -c true",
            "--upload-pack=/bin/sh",
            "a/b",
            "http://x/y",
            "https://x/\ny",
            "ssh://-oProxyCommand=x/z",
            "/srv/a b",
        ] {
            let source = GitSource { repository: text.to_owned(), ..source() };
            assert!(matches!(source.check(), Err(SourceError::Repository { .. })), "{text}");
        }
    }

    #[test]
    fn paths_stay_within_the_repository() {
        for text in ["..", "a/../../b", "/etc/passwd", "a\0b"] {
            let in_directory = GitSource { directory: text.to_owned(), ..source() };
            let in_program = GitSource { program: text.to_owned(), ..source() };
            for source in [in_directory, in_program] {
                assert!(matches!(source.check(), Err(SourceError::Path { .. })), "{text}");
            }
        }
        assert!(GitSource { program: String::new(), ..source() }.check().is_err());
        assert!(GitSource { commit: "HEAD".to_owned(), ..source() }.check().is_err());
        assert!(GitSource { build: " ".to_owned(), ..source() }.check().is_err());
    }

    #[test]
    fn links_commits_of_known_hosts_only() {
        let page = "https://github.com/me/engine";
        let base = GitSource { commit: "f".repeat(40), ..source() };
        let commit = source().commit;
        assert_eq!(source().commit_page(), Some(format!("{page}/commit/{commit}")));
        let difference = format!("{page}/compare/{}...{commit}", base.commit);
        assert_eq!(source().difference_page(&base), Some(difference));
        let other = GitSource { repository: "https://github.com/me/other".to_owned(), ..source() };
        assert_eq!(source().difference_page(&other), None);
        for text in ["https://evil.example/x", "/srv/engine", "https://github.com/a/<script>"] {
            let source = GitSource { repository: text.to_owned(), ..source() };
            assert_eq!(source.commit_page(), None, "{text}");
        }
    }
}
