//! Targets of releases and their names in package registries.

use std::io;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum System {
    Linux,
    MacOs,
    Windows,
}

/// A target of releases.
#[derive(Debug)]
pub(super) struct Platform {
    /// The target of the compiler.
    pub(super) target: &'static str,
    pub(super) system: System,
    /// The name in file names of archives.
    pub(super) name: &'static str,
    /// The targets of Python modules, and the platform tags of their wheels.
    pub(super) wheels: &'static [(&'static str, &'static str)],
    /// `process.platform` and `process.arch` of Node.
    pub(super) node: (&'static str, &'static str),
}

impl Platform {
    pub(super) const DEFAULT: &'static str = "x86_64-unknown-linux-musl";

    const ALL: [Self; 6] = [
        Self {
            target: Self::DEFAULT,
            system: System::Linux,
            name: "linux-x86_64",
            wheels: &[
                ("x86_64-unknown-linux-gnu", "manylinux_2_17"),
                (Self::DEFAULT, "musllinux_1_2"),
            ],
            node: ("linux", "x64"),
        },
        Self {
            target: "aarch64-unknown-linux-musl",
            system: System::Linux,
            name: "linux-aarch64",
            wheels: &[
                ("aarch64-unknown-linux-gnu", "manylinux_2_17"),
                ("aarch64-unknown-linux-musl", "musllinux_1_2"),
            ],
            node: ("linux", "arm64"),
        },
        Self {
            target: "aarch64-apple-darwin",
            system: System::MacOs,
            name: "macos-aarch64",
            wheels: &[("aarch64-apple-darwin", "pypi")],
            node: ("darwin", "arm64"),
        },
        Self {
            target: "x86_64-apple-darwin",
            system: System::MacOs,
            name: "macos-x86_64",
            wheels: &[("x86_64-apple-darwin", "pypi")],
            node: ("darwin", "x64"),
        },
        Self {
            target: "x86_64-pc-windows-gnu",
            system: System::Windows,
            name: "windows-x86_64",
            wheels: &[("x86_64-pc-windows-gnu", "pypi")],
            node: ("win32", "x64"),
        },
        Self {
            target: "x86_64-pc-windows-msvc",
            system: System::Windows,
            name: "windows-x86_64",
            wheels: &[("x86_64-pc-windows-msvc", "pypi")],
            node: ("win32", "x64"),
        },
    ];

    pub(super) fn find(target: &str) -> io::Result<&'static Self> {
        static ALL: [Platform; 6] = Platform::ALL;
        ALL.iter().find(|platform| platform.target == target).ok_or_else(|| {
            let known: Vec<_> = ALL.iter().map(|platform| platform.target).collect();
            io::Error::other(format!("`{target}` is not one of {}", known.join(", ")))
        })
    }

    /// The file name of the program.
    pub(super) fn executable(&self) -> &'static str {
        if self.system == System::Windows { "readyok.exe" } else { "readyok" }
    }

    /// Whether this machine can run the program.
    pub(super) fn is_host(&self) -> bool {
        let system = match self.system {
            System::Linux => "linux",
            System::MacOs => "macos",
            System::Windows => "windows",
        };
        std::env::consts::OS == system && self.target.starts_with(std::env::consts::ARCH)
    }

    pub(super) fn debian_architecture(&self) -> &'static str {
        if self.target.starts_with("aarch64") { "arm64" } else { "amd64" }
    }

    /// The package with the program in the npm registry.
    pub(super) fn npm_package(&self) -> String {
        let (system, architecture) = self.node;
        format!("@readyok/{system}-{architecture}")
    }

    /// The npm packages of all targets.
    pub(super) fn npm_packages() -> Vec<String> {
        let mut names: Vec<_> = Self::ALL.iter().map(Self::npm_package).collect();
        names.sort();
        names.dedup();
        names
    }
}
