//! The lines that are read and written.

/// The order of the fields is the one that most crates write.
#[derive(Debug)]
pub struct Lines {
    pub position: String,
    pub go: &'static str,
    pub info: String,
    pub option: &'static str,
}

const CHESS: &str = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7 \
                     f1e1 b7b5 a4b3 d7d6 c2c3 e8g8 h2h3 c6b8 d2d4 b8d7";
const SHOGI: &str = "7g7f 3c3d 2g2f 8c8d 2f2e 8d8e 6i7h 4a3b 2e2d 2c2d \
                     2h2d P*2c 2d3d 2b3c 5i5h 5a5b 3g3f 7a7b 3d3e 8b8d";

impl Lines {
    pub fn uci() -> Self {
        Self {
            position: format!("position startpos moves {}", [CHESS; 5].join(" ")),
            go: "go wtime 300000 btime 298500 winc 2000 binc 2000",
            info: format!(
                "info depth 24 seldepth 33 multipv 2 score cp -31 nodes 14820361 nps 1402881 \
                 hashfull 412 tbhits 7 time 10564 pv {CHESS}"
            ),
            option: "option name Style type combo default Normal var Solid var Normal var Risky",
        }
    }

    /// No rival reads `tbhits` of USI, or byoyomi and an increment in one.
    pub fn usi() -> Self {
        Self {
            position: format!("position startpos moves {}", [SHOGI; 5].join(" ")),
            go: "go btime 300000 wtime 298500 byoyomi 10000",
            info: format!(
                "info depth 24 seldepth 33 time 10564 nodes 14820361 nps 1402881 hashfull 412 \
                 multipv 2 score cp -31 pv {SHOGI}"
            ),
            option: "option name Style type combo default Normal var Solid var Normal var Risky",
        }
    }
}
