//! The rules of sessions in Japanese.

use super::Rule;

impl Rule {
    pub(super) const fn japanese(self) -> &'static str {
        match self {
            Self::BeforeUciOk => "エンジンが `uciok` か `usiok` を返すまで、`quit` 以外は送らない",
            Self::RepeatedUci => "`uci` や `usi` を送るのは一度だけ",
            Self::BusyEngine => {
                "`position`、`setoption`、`register`、`ucinewgame`、`go` は、前の `go` への応答を待って送る"
            }
            Self::SearchBeforeReady => {
                "最初の探索の前に `isready` を送って `readyok` を待つ。UCI では対局ごとに行う"
            }
            Self::SearchWithoutPosition => "`go` の前に `position` を送る",
            Self::PonderHitWithoutPonder => "`ponderhit` は `go ponder` の探索中にだけ送る",
            Self::RegistrationUnanswered => "`registration error` には `register` で応じる",
            Self::AfterQuit => "`quit` の後には何も送らない",
            Self::ReplyBeforeUci => "エンジンは `uci` か `usi` を受け取るまで何も送らない",
            Self::UciOkWithoutUci => "`uciok` や `usiok` は、`uci` や `usi` に対して一度だけ返す",
            Self::NoName => "`id name` は `uciok` や `usiok` より前に送る",
            Self::LateDeclaration => "`id` と `option` は `uciok` や `usiok` より前に送る",
            Self::EarlyStatus => {
                "`copyprotection` と `registration` は `uciok` や `usiok` より後に送る"
            }
            Self::ReadyOkWithoutIsReady => "`readyok` は `isready` に対して一度だけ返す",
            Self::BestMoveWithoutSearch => "`bestmove` は `go` に対して一度だけ返す",
            Self::BestMoveTooEarly => {
                "`bestmove` を返すのは、`go infinite` では `stop`、`go ponder` では `ponderhit` を受け取ってから"
            }
            Self::CheckmateWithoutMateSearch => "`checkmate` は `go mate` に対して一度だけ返す",
            Self::InfoWithoutSearch => "探索していないときの `info` は `info string` だけ",
            Self::UndeclaredOption => "エンジンが宣言したオプションだけを設定する",
            Self::InvalidOptionValue => "オプションには取りうる値を設定し、ボタンには値を付けない",
            Self::SearchWithoutLimit => "`go` では制限または `infinite` を指定する",
            Self::InvalidClock => {
                "`wtime` と `btime` は正の数 (USI では 0 以上)、その他の時間は 0 以上にする"
            }
            Self::ZeroLimit => "`depth`、`nodes`、`mate`、`movetime`、`movestogo` は 1 以上にする",
            Self::UnrequestedDetail => {
                "`currline` と `refutation` は、対応するオプションがオンのときだけ送る"
            }
            Self::EarlyDetail => {
                "`currmove`、`currmovenumber`、`currline`、`refutation` は、探索開始から 1 秒たってから送る"
            }
            Self::UciUnanswered => "`uci` や `usi` には `uciok` や `usiok` を返す",
            Self::IsReadyUnanswered => "`isready` には、探索中でも `readyok` を返す",
            Self::GoUnanswered => "エンジンは `go` に応答してから終了する",
        }
    }

    pub(super) const fn japanese_clause(self) -> &'static str {
        match self {
            Self::BeforeUciOk
            | Self::RepeatedUci
            | Self::SearchWithoutPosition
            | Self::PonderHitWithoutPonder
            | Self::RegistrationUnanswered
            | Self::AfterQuit
            | Self::UciOkWithoutUci
            | Self::ReadyOkWithoutIsReady
            | Self::BestMoveWithoutSearch
            | Self::InfoWithoutSearch
            | Self::ZeroLimit
            | Self::EarlyDetail
            | Self::IsReadyUnanswered => self.clause(),
            Self::BusyEngine => "UCI 2006, setoption と bestmove; The UCI Protocol, state model",
            Self::SearchBeforeReady => {
                "UCI 2006, isready と ucinewgame; ShogiHome と YaneuraOu の対局開始"
            }
            Self::ReplyBeforeUci | Self::NoName => "UCI 2006, uci と id; USI draft 1 §5.3",
            Self::LateDeclaration => "UCI 2006, uciok と option; USI draft 1 §5.3",
            Self::EarlyStatus => "UCI 2006, copyprotection と registration; USI draft 1 §5.3",
            Self::BestMoveTooEarly => "UCI 2006, go infinite と go ponder; USI draft 1 §5.3",
            Self::CheckmateWithoutMateSearch => "USI の実際の用法 (YaneuraOu, ShogiHome), go mate",
            Self::UndeclaredOption | Self::InvalidOptionValue => {
                "UCI 2006, option と setoption; USI draft 1 §5.3"
            }
            Self::SearchWithoutLimit => {
                "制限のない `go` の意味を定めた文書はない。いつまでも探索する、すぐに指す、応答しないなど、エンジンにより異なる"
            }
            Self::InvalidClock => "UCI 2006, go wtime と winc; USI draft 1 §5.3",
            Self::UnrequestedDetail => {
                "UCI 2006, info currline と refutation; USI draft 1 §5.3, info"
            }
            Self::UciUnanswered => "UCI 2006, uci と uciok; USI draft 1 §5.3, usi と usiok",
            Self::GoUnanswered => "UCI 2006, go と bestmove; USI draft 1 §5.3",
        }
    }
}
