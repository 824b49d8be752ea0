//! Tests of the workspace.

// Clippy treats helpers as test code only below this attribute.
#[cfg(test)]
mod contributing;
#[cfg(test)]
mod docs;
#[cfg(test)]
mod duplicates;
#[cfg(test)]
mod knots;
#[cfg(test)]
mod licences;
#[cfg(test)]
mod links;
#[cfg(test)]
mod transcripts;
#[cfg(test)]
mod unused;

#[cfg(test)]
fn workspace() -> std::path::PathBuf {
    std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}
