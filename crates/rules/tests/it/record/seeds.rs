//! Replays the seeds of the fuzz targets of records.

use super::laws;
use crate::seeds::{check, check_bytes};

/// The alphabet of PGN.
const CHESS: &str = "abcdefghKQRBNxO-=+#!?12345678 .*/$%[]{}()\";\\\n\r\t~½é";
/// The alphabet of KIF, KI2, CSA and USI.
const SHOGI: &str = "+-*#&'%|:：,.()[]{}\"0123456789 \n\r\tabiTPNVK成不打同　歩玉香飛五七７３▲△変化手まで投了持駒先後番";

#[test]
fn seeds_of_the_fuzz_targets_satisfy_their_properties() {
    check("record_pgn", CHESS, laws::pgn);
    check("record_uci", CHESS, laws::uci);
    for (target, law) in [
        ("record_kif", laws::kif as fn(&[u8])),
        ("record_csa", laws::csa),
        ("record_jkf", laws::jkf),
        ("record_usi", laws::usi),
    ] {
        check(target, SHOGI, law);
        // Some are in Shift_JIS.
        check_bytes(target, law);
    }
}
