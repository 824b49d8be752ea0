//! Where rules stand, as far as that is no document with a name of its own, in Japanese.

use super::catalogue;

catalogue! {
    "practice"
        => "慣例",
    "practice (Stockfish, lc0), UCI_ShowWDL"
        => "慣例 (Stockfish, lc0), UCI_ShowWDL",
    "practice (YaneuraOu)"
        => "慣例 (YaneuraOu)",
    "practice (fastchess)"
        => "慣例 (fastchess)",
    "practice (matches, servers)"
        => "慣例 (連続対局, サーバー)",
    "USI as deployed"
        => "USI の実際の用法",
    "USI as deployed, bestmove"
        => "USI の実際の用法, bestmove",
    "USI as deployed (Shogidokoro)"
        => "USI の実際の用法 (Shogidokoro)",
    "USI as deployed (Shogidokoro, ShogiHome)"
        => "USI の実際の用法 (Shogidokoro, ShogiHome)",
    "USI as deployed (Shogidokoro, YaneuraOu)"
        => "USI の実際の用法 (Shogidokoro, YaneuraOu)",
    "USI as deployed (YaneuraOu, ShogiHome)"
        => "USI の実際の用法 (YaneuraOu, ShogiHome)",
    "rules of computer shogi (CSA)"
        => "コンピュータ将棋のルール (CSA)",
}
