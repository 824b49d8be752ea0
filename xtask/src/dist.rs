//! Packages for users: archives, `.deb`, Python wheel, npm packages, bill of materials and checksums.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use data_encoding::HEXLOWER;
use platform::{Platform, System};

mod npm;
mod platform;
mod sbom;
mod wheel;

/// What `cargo xtask dist` builds.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) target: String,
    /// An existing executable to package, instead of a build with the profile `dist`.
    pub(crate) binary: Option<PathBuf>,
    /// Only the Python wheel.
    pub(crate) only_wheel: bool,
}

impl Request {
    pub(crate) fn parse(arguments: &[&str]) -> Option<Self> {
        let target = Platform::DEFAULT.to_owned();
        let mut request = Self { target, binary: None, only_wheel: false };
        for pair in arguments.chunks(2) {
            match pair {
                ["--only", "wheel"] => request.only_wheel = true,
                ["--target", target] => (*target).clone_into(&mut request.target),
                ["--binary", file] => request.binary = Some(PathBuf::from(file)),
                _ => return None,
            }
        }
        Some(request)
    }
}

/// The sources and destination of packages.
struct Dist {
    platform: &'static Platform,
    version: String,
    /// The executable, without symbols.
    binary: PathBuf,
    /// The directory of the packages.
    out: PathBuf,
    /// The directory of unpacked packages.
    stage: PathBuf,
    /// Whether the packages are for tests, with an existing executable.
    is_test: bool,
}

/// Builds all packages of a target in `target/dist`.
pub(crate) fn run(request: &Request) -> io::Result<()> {
    let platform = Platform::find(&request.target)?;
    let target =
        PathBuf::from(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()));
    let out = target.join("dist");
    let stage = out.join("stage").join(platform.target);
    if stage.exists() {
        fs::remove_dir_all(&stage)?;
    }
    fs::create_dir_all(&stage)?;
    let binary = match &request.binary {
        Some(binary) => binary.clone(),
        None => build(platform, &target)?,
    };
    let version = version()?;
    let is_test = request.binary.is_some();
    let dist = Dist { platform, version, binary, out, stage, is_test };
    if request.only_wheel {
        return wheel::write(&dist);
    }
    dist.archive()?;
    if platform.system == System::Linux {
        dist.deb()?;
        dist.container()?;
    }
    wheel::write(&dist)?;
    npm::write(&dist)?;
    if platform.target == Platform::DEFAULT {
        npm::rules(&dist)?;
    }
    let sbom = sbom::bill(platform.target, &dist.version)?;
    fs::write(dist.out.join(format!("readyok-{}-{}.cdx.json", dist.version, platform.name)), sbom)?;
    checksums(&dist.out)
}

fn build(platform: &Platform, target: &Path) -> io::Result<PathBuf> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["rustc", "--locked", "--package", "readyok", "--bin", "readyok"]);
    cargo.args(["--profile", "dist", "--target", platform.target, "--"]);
    // Link-time optimization uses the level of the executable for all crates. Only level 3 has all vectorization: at "s",
    // searches take 1.2 to 1.7 times the CPU time. Functions of crates with a lower level stay optimized for size.
    cargo.arg("-Copt-level=3");
    if platform.system == System::Linux {
        // Saves 0.6 MB. Needs binutils 2.38.
        cargo.arg("-Clink-arg=-Wl,-z,pack-relative-relocs");
    }
    check(&mut cargo)?;
    Ok(target.join(platform.target).join("dist").join(platform.executable()))
}

/// The version of the workspace.
fn version() -> io::Result<String> {
    let manifest = fs::read_to_string("Cargo.toml")?;
    let manifest: toml::Table = manifest.parse().map_err(io::Error::other)?;
    let package = manifest.get("workspace").and_then(|workspace| workspace.get("package"));
    let version = package.and_then(|package| package.get("version")).and_then(toml::Value::as_str);
    version.map(str::to_owned).ok_or_else(|| io::Error::other("Cargo.toml has no version"))
}

impl Dist {
    /// An empty directory for the files of a package.
    fn directory(&self, name: &str) -> io::Result<PathBuf> {
        let directory = self.stage.join(name);
        fs::create_dir_all(&directory)?;
        Ok(directory)
    }

    /// A compressed archive for manual installation.
    fn archive(&self) -> io::Result<()> {
        let name = format!("readyok-{}-{}", self.version, self.platform.name);
        let root = self.directory("archive")?;
        let files = root.join(&name);
        install(&self.binary, &files.join(self.platform.executable()))?;
        for file in ["README.md", "CHANGELOG.md", "LICENSE-GPL", "LICENSE-MIT", "LICENSE-APACHE"] {
            copy(Path::new(file), &files.join(file))?;
        }
        if self.platform.is_host() {
            self.man_pages(&files.join("man"))?;
            self.completions(&files.join("completions"))?;
        }
        if self.platform.system == System::Windows {
            let zip = self.out.join(name + ".zip");
            return pack_zip(&root, &zip);
        }
        let mut tar = reproducible_tar();
        tar.arg("--gzip").arg("--file").arg(self.out.join(name.clone() + ".tar.gz"));
        check(tar.arg("--directory").arg(root).arg(name))
    }

    /// A package for Debian and Ubuntu. The executable is static, so the package has no dependencies.
    fn deb(&self) -> io::Result<()> {
        let root = self.directory("deb")?;
        let share = root.join("usr/share");
        install(&self.binary, &root.join("usr/bin/readyok"))?;
        let man = share.join("man/man1");
        self.man_pages(&man)?;
        for page in fs::read_dir(&man)? {
            check(Command::new("gzip").arg("-9n").arg(page?.path()))?;
        }
        let completions = self.directory("completions")?;
        self.completions(&completions)?;
        for (file, installed) in [
            ("readyok.bash", "bash-completion/completions/readyok"),
            ("_readyok", "zsh/vendor-completions/_readyok"),
            ("readyok.fish", "fish/vendor_completions.d/readyok.fish"),
        ] {
            copy(&completions.join(file), &share.join(installed))?;
        }
        let icon = share.join("icons/hicolor/scalable/apps/readyok.svg");
        copy(Path::new("web/public/icon.svg"), &icon)?;
        let desktop = Path::new("packaging/readyok.desktop");
        copy(desktop, &share.join("applications/readyok.desktop"))?;
        copy(Path::new("packaging/copyright"), &share.join("doc/readyok/copyright"))?;
        let changelog = share.join("doc/readyok/changelog");
        copy(Path::new("CHANGELOG.md"), &changelog)?;
        check(Command::new("gzip").arg("-9n").arg(changelog))?;
        let size = size(&root)?.div_ceil(1024);
        let control = fs::read_to_string("packaging/control")?
            .replace("{version}", &self.version)
            .replace("{architecture}", self.platform.debian_architecture())
            .replace("{size}", &size.to_string());
        fs::create_dir_all(root.join("DEBIAN"))?;
        fs::write(root.join("DEBIAN/control"), control)?;
        let architecture = self.platform.debian_architecture();
        let file = self.out.join(format!("readyok_{}_{architecture}.deb", self.version));
        let mut deb = Command::new("dpkg-deb");
        deb.args(["--root-owner-group", "-Zxz", "--build"]).arg(root).arg(file);
        check(deb.stdout(io::stderr()))
    }

    /// The build context of the container image: the executable and the container file.
    fn container(&self) -> io::Result<()> {
        let root = self.directory("container")?;
        install(&self.binary, &root.join("readyok"))?;
        copy(Path::new("packaging/Containerfile"), &root.join("Containerfile"))
    }

    fn man_pages(&self, directory: &Path) -> io::Result<()> {
        fs::create_dir_all(directory)?;
        check(Command::new(&self.binary).arg("man").arg(directory))
    }

    fn completions(&self, directory: &Path) -> io::Result<()> {
        fs::create_dir_all(directory)?;
        for (shell, file) in [
            ("bash", "readyok.bash"),
            ("zsh", "_readyok"),
            ("fish", "readyok.fish"),
            ("powershell", "readyok.ps1"),
        ] {
            let script = output(Command::new(&self.binary).args(["completions", shell]))?;
            fs::write(directory.join(file), script)?;
        }
        Ok(())
    }
}

/// Writes `SHA256SUMS` for all packages.
fn checksums(out: &Path) -> io::Result<()> {
    let mut lines = Vec::new();
    for entry in fs::read_dir(out)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_file() && name != "SHA256SUMS" {
            lines.push((name, HEXLOWER.encode(&sha256(&fs::read(&path)?))));
        }
    }
    lines.sort();
    let mut text = String::new();
    for (name, hash) in lines {
        _ = writeln!(text, "{hash}  {name}");
    }
    fs::write(out.join("SHA256SUMS"), text)
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    use sha2::Digest as _;

    sha2::Sha256::digest(bytes).into()
}

/// Writes a ZIP archive of the files in a directory. Existing archives are replaced, not updated.
fn pack_zip(directory: &Path, file: &Path) -> io::Result<()> {
    if file.exists() {
        fs::remove_file(file)?;
    }
    let file = std::path::absolute(file)?;
    let mut zip = Command::new("zip");
    zip.args(["--quiet", "--recurse-paths", "-X"]).arg(file).arg(".").current_dir(directory);
    check(&mut zip)
}

/// `tar` with the same output for the same files.
fn reproducible_tar() -> Command {
    let mut tar = Command::new("tar");
    tar.args(["--create", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
    // The default of `SOURCE_DATE_EPOCH` is arbitrary and fixed.
    let time = std::env::var("SOURCE_DATE_EPOCH").unwrap_or_else(|_| "1767225600".to_owned());
    tar.arg(format!("--mtime=@{time}"));
    tar
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(directory) = to.parent() {
        fs::create_dir_all(directory)?;
    }
    let failed = |error| io::Error::other(format!("{}: {error}", from.display()));
    fs::copy(from, to).map(drop).map_err(failed)?;
    permit(to, 0o644)
}

/// Copies an executable.
fn install(from: &Path, to: &Path) -> io::Result<()> {
    copy(from, to)?;
    permit(to, 0o755)
}

#[cfg(unix)]
fn permit(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn permit(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// The total size of the files in a directory.
fn size(directory: &Path) -> io::Result<u64> {
    let mut total = 0;
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        total += if path.is_dir() { size(&path)? } else { path.metadata()?.len() };
    }
    Ok(total)
}

/// Runs a program; it must succeed.
fn check(command: &mut Command) -> io::Result<()> {
    let status = command.status().map_err(|error| not_started(command, &error))?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("{command:?}: {status}"))) }
}

/// The standard output of a program; it must succeed.
fn output(command: &mut Command) -> io::Result<Vec<u8>> {
    let output = command
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|error| not_started(command, &error))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(io::Error::other(format!("{command:?}: {}", output.status)))
    }
}

fn not_started(command: &Command, error: &io::Error) -> io::Error {
    let program: &OsStr = command.get_program();
    io::Error::other(format!("`{}` is required: {error}", program.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_a_target_and_a_binary() {
        let request = Request::parse(&["--binary", "a/readyok"]).expect("valid");
        assert_eq!(request.target, "x86_64-unknown-linux-musl");
        assert_eq!(request.binary.as_deref(), Some(Path::new("a/readyok")));
        assert!(Request::parse(&["--binary"]).is_none());
        assert!(Request::parse(&["--what", "x"]).is_none());
    }

    #[test]
    fn formats_a_checksum() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(HEXLOWER.encode(&sha256(b"")), empty);
    }
}
