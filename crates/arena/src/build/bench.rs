//! The signature of a search: the number of nodes that `bench` prints, and that a commit message states.

/// The number of nodes in the output of `bench`: of the last line `Nodes searched: N` (Stockfish) or `nodes: N`
/// (Demolito), or else of the last text `N nodes` (OpenBench).
pub(super) fn nodes(output: &str) -> Option<u64> {
    let searched = output.lines().rev().find_map(|line| {
        let (name, count) = line.split_once(':')?;
        let name = name.trim();
        let is_nodes =
            ["nodes searched", "nodes"].iter().any(|known| name.eq_ignore_ascii_case(known));
        is_nodes.then(|| number(count))?
    });
    searched.or_else(|| output.lines().rev().find_map(nodes_of_line))
}

fn nodes_of_line(line: &str) -> Option<u64> {
    let parts: Vec<&str> = line.split_whitespace().collect();
    parts.windows(2).rev().find_map(|pair| match pair {
        [count, unit] if unit.trim_end_matches([',', ';', '.']).eq_ignore_ascii_case("nodes") => {
            number(count)
        }
        _ => None,
    })
}

/// The signature in a commit message: the last line that begins with `Bench`, with or without a colon (OpenBench,
/// fishtest).
pub(super) fn in_message(message: &str) -> Option<u64> {
    message.lines().rev().find_map(|line| {
        let line = line.trim();
        let (label, rest) = line.split_at_checked(5)?;
        if !label.eq_ignore_ascii_case("bench") {
            return None;
        }
        let rest = rest.trim_start_matches([':', '=', ' ']);
        number(rest.split_whitespace().next()?)
    })
}

/// A number, possibly with separators of thousands.
fn number(text: &str) -> Option<u64> {
    let digits: String =
        text.trim().chars().filter(|letter| !matches!(letter, ',' | '_')).collect();
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_output_of_stockfish_and_of_engines_for_open_bench() {
        let stockfish = "===========================\nTotal time (ms) : 2415\nNodes searched  : 1375309\nNodes/second    : 569486\n";
        assert_eq!(nodes(stockfish), Some(1_375_309));
        assert_eq!(nodes("time  : 1893ms\nnodes : 3131884\nnps   : 1654455\n"), Some(3_131_884));
        assert_eq!(nodes("info string x\n4821334 nodes 1532211 nps\n"), Some(4_821_334));
        assert_eq!(nodes("Bench: 12,345 nodes, 99 nps"), Some(12_345));
        assert_eq!(nodes("10 nodes\n20 nodes\nbye\n"), Some(20));
        for text in ["", "nodes", "many nodes", "-5 nodes", "99999999999999999999999 nodes"] {
            assert_eq!(nodes(text), None, "{text}");
        }
    }

    #[test]
    fn reads_the_signature_of_a_commit_message() {
        for (text, bench) in [
            ("Reduce more\n\nbench: 1375309\n", Some(1_375_309)),
            ("Reduce more\n\nBench 4821334", Some(4_821_334)),
            ("Bench: 1\nBench: 2", Some(2)),
            ("Bench = 7", Some(7)),
            ("No functional change", None),
            ("Benchmark: 12", None),
            ("bench: none", None),
            ("b\u{e9}nch 4", None),
        ] {
            assert_eq!(in_message(text), bench, "{text}");
        }
    }
}
