//! Analysis requests.

use std::time::Duration;

use readyok_client::Limit;
use readyok_protocol::Go;
use serde::Deserialize;

/// An analysis request.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Job {
    pub(super) id: String,
    pub(super) work: Work,
}

/// The position to analyze and its limits.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Work {
    pub(super) session_id: String,
    pub(super) threads: u32,
    /// In mebibytes.
    pub(super) hash: u32,
    pub(super) multi_pv: u32,
    pub(super) variant: String,
    pub(super) initial_fen: String,
    pub(super) moves: Vec<String>,
    #[serde(default)]
    infinite: bool,
    /// In milliseconds.
    movetime: Option<u64>,
    depth: Option<u32>,
    nodes: Option<u64>,
}

impl Work {
    /// The limits of the search. Old clients send none, and `infinite` for a search without an end.
    pub(super) fn limit(&self, default_depth: u32) -> Limit {
        if self.infinite {
            return Limit::Infinite;
        }
        let depth = match (self.movetime, self.depth, self.nodes) {
            (None, None, None) => Some(default_depth),
            (_, depth, _) => depth,
        };
        Limit::Go(Box::new(Go {
            depth,
            nodes: self.nodes,
            move_time: self.movetime.map(Duration::from_millis),
            ..Go::default()
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(limits: &str) -> Work {
        let text = format!(
            r#"{{ "sessionId": "s", "threads": 1, "hash": 16, "multiPv": 1, "variant": "chess",
                "initialFen": "", "moves": [] {limits} }}"#
        );
        serde_json::from_str(&text).expect("a request")
    }

    #[test]
    fn reads_limits() {
        let go = |limits| match work(limits).limit(20) {
            Limit::Go(go) => (go.move_time, go.depth, go.nodes),
            _ => (None, None, None),
        };
        assert_eq!(go(r#", "movetime": 1500"#), (Some(Duration::from_millis(1500)), None, None));
        assert_eq!(go(r#", "depth": 12, "nodes": 5"#), (None, Some(12), Some(5)));
        assert_eq!(go(""), (None, Some(20), None));
        assert!(matches!(work(r#", "infinite": true"#).limit(20), Limit::Infinite));
    }
}
