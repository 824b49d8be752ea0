//! What is found about processes, long runs and how engines leave, in Japanese.

use super::catalogue;

catalogue! {
    "the system does not tell what a process takes"
        => "システムからプロセスの使用量が得られない",
    "{when} it takes {percent} % of a processor"
        => "{when}に CPU を {percent} % 使っている",
    "after `bestmove` it tells about another search"
        => "`bestmove` の後、別の探索について送った",
    "after `bestmove` it takes {percent} % of a processor"
        => "`bestmove` の後に CPU を {percent} % 使っている",
    "`isready` was not answered with unread error output"
        => "エラー出力が読まれないと `isready` に応答しなかった",
    "a search was not answered with unread error output"
        => "エラー出力が読まれないと探索に応答しなかった",
    "after searches with unread error output `isready` was not answered"
        => "エラー出力が読まれないまま探索した後、`isready` に応答しなかった",
    "`Hash` has no range"
        => "`Hash` に範囲がない",
    "`Hash` cannot be {size}"
        => "`Hash` を {size} にできない",
    "a hash table that is {size} MB larger took {more} MB more"
        => "ハッシュテーブルを {size} MB 増やすと、メモリーが {more} MB 増えた",
    "with a hash table of {size} MB `isready` was not answered"
        => "{size} MB のハッシュテーブルで `isready` に応答しなかった",
    "with a hash table of {size} MB a search was not answered"
        => "{size} MB のハッシュテーブルで探索に応答しなかった",

    "{what} did not end it"
        => "終了しなかった: {what}",
    "`quit`"
        => "`quit`",
    "`quit` after a search"
        => "探索の後の `quit`",
    "`quit` during a search"
        => "探索中の `quit`",
    "`quit` while pondering"
        => "先読み中の `quit`",
    "after `{go}` and `quit` it ended with {status}"
        => "`{go}` と `quit` の後、正常に終了しなかった ({status})",
    "the end of its input"
        => "入力の終わり",
    "the end of its input during a search"
        => "探索中の入力の終わり",
    "`isready` and `quit`"
        => "`isready` と `quit`",
    "a closed output"
        => "出力の切断",
    "a request of the system to terminate"
        => "システムからの終了要求",

    "only `--soak` asks for it"
        => "`--soak` を付けたときだけ検査する",
    "`isready` before game {game} was not answered"
        => "{game} 局目の前の `isready` に応答しなかった",
    "search {searches}, in game {game}, was not answered"
        => "{game} 局目の探索 (通算 {searches} 回目) に応答しなかった",
    "there was a `bestmove` too many"
        => "余分な `bestmove` があった",
    "it grew from {before} MB to {now} MB"
        => "{before} MB から {now} MB に増えた",
    "threads and open files grew from {early} to {late}"
        => "スレッドと開いたファイルが {early} から {late} に増えた",
}
