//! What is found about searches, what ends them and what comes meanwhile, in Japanese.

use super::catalogue;

catalogue! {
    "a search was not answered"
        => "探索に応答しなかった",
    "a search of three lines was not answered"
        => "候補手が三つの探索に応答しなかった",
    "there are legal moves, and this is none: `{answer}`"
        => "合法手があるのに、応答が合法手ではない: `{answer}`",
    "`bestmove` is not legal: {error}"
        => "`bestmove` が合法手ではない: {error}",
    "the move to ponder on is not legal: {error}"
        => "先読みする手が合法手ではない: {error}",
    "`go depth {depth}` was not answered"
        => "`go depth {depth}` に応答しなかった",
    "`go depth {depth}` told of depth {reached}"
        => "`go depth {depth}` で深さ {reached} を伝えた",
    "`go depth {depth}` ended at depth {reached}"
        => "`go depth {depth}` が深さ {reached} で終わった",
    "no depth was told"
        => "深さを伝えなかった",
    "`go nodes {nodes}` was not answered"
        => "`go nodes {nodes}` に応答しなかった",
    "`go nodes {nodes}` took {told} nodes"
        => "`go nodes {nodes}` で {told} ノードを探索した",
    "`go movetime` was not answered"
        => "`go movetime` に応答しなかった",
    "it took {ms} ms"
        => "{ms} ms かかった",
    "it ended after {ms} ms"
        => "{ms} ms で終わった",
    "`{go}` was not answered"
        => "`{go}` に応答しなかった",
    "`{go}` was answered with `{answer}`"
        => "`{go}` に `{answer}` を返した",
    "`{go}` took {ms} ms"
        => "`{go}` に {ms} ms かかった",
    "`bestmove` came in `go infinite` before `stop`"
        => "`go infinite` で `stop` より前に `bestmove` を返した",
    "`go infinite` ended by itself"
        => "`go infinite` が自然に終わった",
    "`stop` was not answered with `bestmove`"
        => "`stop` に `bestmove` を返さなかった",
    "`{go}` and `stop` in one write were not answered"
        => "一度に書き込まれた `{go}` と `stop` に応答しなかった",
    "`isready` during a search was not answered"
        => "探索中の `isready` に応答しなかった",
    "`isready` ended the search"
        => "`isready` で探索が終わった",
    "after `isready` in a search `stop` was not answered"
        => "探索中の `isready` の後、`stop` に応答しなかった",
    "`bestmove` came in `go ponder` before `ponderhit` or `stop`"
        => "`go ponder` で `ponderhit` や `stop` より前に `bestmove` を返した",
    "`go ponder` ended by itself"
        => "`go ponder` が自然に終わった",
    "`ponderhit` was not followed by `bestmove`"
        => "`ponderhit` の後、`bestmove` がなかった",
    "`stop` in `go ponder` was not answered"
        => "`go ponder` 中の `stop` に応答しなかった",
    "the search after a ponder miss was not answered"
        => "先読みが外れた後の探索に応答しなかった",
    "a line begins with `{head}`, which is none of them"
        => "読み筋が、指定されていない `{head}` で始まっている",
    "`go mate 1` on a mate in one was not answered"
        => "1 手詰めの `go mate 1` に応答しなかった",
    "`go mate 1` on a mate in one was not answered with a move"
        => "1 手詰めの `go mate 1` に指し手を返さなかった",
    "`{mv}` does not mate"
        => "`{mv}` では詰まない",
    "without a new game a search was not answered"
        => "新しい対局の通知なしでは探索に応答しなかった",
    "`isready` after `{word}` was not answered"
        => "`{word}` の後、`isready` に応答しなかった",
    "a search after `{word}` was not answered"
        => "`{word}` の後、探索に応答しなかった",
    "`isready` after `debug on` was not answered"
        => "`debug on` の後、`isready` に応答しなかった",
    "`bestmove` came after `debug off` in `go infinite`"
        => "`go infinite` 中の `debug off` の後に `bestmove` を返した",
    "after `debug off` in a search `stop` was not answered"
        => "探索中の `debug off` の後、`stop` に応答しなかった",
    "`isready` after `register later` was not answered"
        => "`register later` の後、`isready` に応答しなかった",
    "after `register later` a search was not answered"
        => "`register later` の後、探索に応答しなかった",
    "with {threads} threads `isready` was not answered"
        => "スレッド数 {threads} で `isready` に応答しなかった",
    "with {threads} threads a search was not answered"
        => "スレッド数 {threads} で探索に応答しなかった",
    "with {threads} threads `stop` was not answered"
        => "スレッド数 {threads} で `stop` に応答しなかった",
    "behind search {number} of {count} `isready` was not answered"
        => "{count} 回のうち {number} 回目の探索の後、`isready` に応答しなかった",
    "search {number} of {count} was not answered"
        => "{count} 回のうち {number} 回目の探索に応答しなかった",

    "`{go}` and `stop` were not answered"
        => "`{go}` と `stop` に応答しなかった",
    "after `{go}` `isready` was not answered"
        => "`{go}` の後、`isready` に応答しなかった",
    "`bestmove` came in `go ponder {limit}` before `ponderhit` or `stop`"
        => "`go ponder {limit}` で `ponderhit` や `stop` より前に `bestmove` を返した",

    "after {what} `isready` was not answered"
        => "{what} の後、`isready` に応答しなかった",
    "after {what} there was another `bestmove`"
        => "{what} の後、余分な `bestmove` があった",
    "two `stop`s"
        => "2 回の `stop`",
    "`ponderhit` and `stop`"
        => "`ponderhit` と `stop`",
    "`ponderhit` and `stop` were not answered"
        => "`ponderhit` と `stop` に応答しなかった",
    "`go movetime` ended too early"
        => "`go movetime` が早く終わりすぎた",
    "after `{command}` in a search there was no `bestmove`"
        => "探索中の `{command}` の後、`bestmove` がなかった",
    "after `{command}` in a search the answer is no move of the position: `{mv}`"
        => "探索中の `{command}` の後の応答が、探索した局面の指し手ではない: `{mv}`",
    "after `{command}` in a search `isready` was not answered"
        => "探索中の `{command}` の後、`isready` に応答しなかった",
    "after `{command}` in a search the next one was not answered"
        => "探索中の `{command}` の後、次の探索に応答しなかった",
    "the {what} `go` was not answered"
        => "{what}の `go` に応答しなかった",
    "`go` without another `position` was not answered"
        => "新しい `position` のない `go` に応答しなかった",
    "`{mv}` is no move of the position that was set up"
        => "`{mv}` は設定した局面の指し手ではない",
    "`isready` while pondering was not answered"
        => "先読み中の `isready` に応答しなかった",
    "`isready` ended pondering"
        => "`isready` で先読みが終わった",
    "after `isready` `stop` was not answered"
        => "`isready` の後、`stop` に応答しなかった",
    "after a new game `MultiPV` is 1 again"
        => "新しい対局の通知の後、`MultiPV` が 1 に戻った",
    "`{answer}` with `{score}`"
        => "`{answer}` (`{score}`)",
    "`{answer}` without a score"
        => "`{answer}` (評価値なし)",
}
