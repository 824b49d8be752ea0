//! What is found at the start of a conversation and in the form of lines, in Japanese.

use super::catalogue;

catalogue! {
    "it said something before it was greeted: `{line}`"
        => "`uci` や `usi` を受け取る前に出力した: `{line}`",
    "there was no `id name`"
        => "`id name` がなかった",
    "there were {count} lines `id name`"
        => "`id name` の行が {count} 行あった",
    "there was no `id author`"
        => "`id author` がなかった",
    "it took {seconds} s"
        => "{seconds} 秒かかった",
    "after a second greeting `isready` was not answered"
        => "2 回目の `uci` や `usi` の後、`isready` に応答しなかった",
    "after a second greeting there was no `bestmove`"
        => "2 回目の `uci` や `usi` の後、`bestmove` がなかった",
    "the first `isready` was not answered"
        => "最初の `isready` に応答しなかった",
    "`isready` after a search was not answered"
        => "探索の後の `isready` に応答しなかった",
    "there was no `readyok` number {number} of {count}"
        => "{count} 回のうち {number} 回目の `readyok` がなかった",
    "nothing told before that there is a check"
        => "その前に `checking` を送っていない",
    "`{text}` is no message of the protocol"
        => "`{text}` はプロトコルのメッセージではない",
    "this line is not in ASCII"
        => "この行は ASCII ではない",
    "{note} in a line"
        => "行の中に問題がある: {note}",

    "`isready` {what} was not answered"
        => "{what} `isready` に応答しなかった",
    "after `position` {what} `isready` was not answered"
        => "{what} `position` の後、`isready` に応答しなかった",
    "`go depth 2` {what} was not answered"
        => "{what} `go depth 2` に応答しなかった",
    "`position` {what} was misread: `{mv}` is no move there"
        => "{what} `position` を読み違えた: `{mv}` はその局面で指せない",
    "with more spaces"
        => "余分な空白を含む",
    "with tabs"
        => "タブ区切りの",
    "with a carriage return"
        => "行末に CR のある",
    "with a carriage return alone"
        => "CR だけで終わる",
    "after empty lines"
        => "空行に続く",
    "after an unknown command"
        => "未知のコマンドに続く",
    "after an unknown word"
        => "未知の語に続く",
    "with an unknown word"
        => "未知の語を含む",
    "before the first search"
        => "最初の探索の前",
    "after a search"
        => "探索の後",
    "after `{command}` {when} `isready` was not answered"
        => "{when}の `{command}` の後、`isready` に応答しなかった",
    "`{command}` {when} was answered with `bestmove`"
        => "{when}の `{command}` に `bestmove` を返した",
    "`{mv}` is no legal move after a short line"
        => "短い行でも、返した `{mv}` は合法手ではない",
    "a `position` of {bytes} bytes was not followed by `bestmove`"
        => "{bytes} バイトの `position` の後、`bestmove` がなかった",
    "after a `position` of {bytes} bytes `{mv}` is no legal move"
        => "{bytes} バイトの `position` の後に返した `{mv}` は合法手ではない",
    "`isready joho` was not answered"
        => "`isready joho` に応答しなかった",
    "`stop joho` did not end the search"
        => "`stop joho` で探索が終わらなかった",
    "`isready` before the beginning of a line was not answered"
        => "次の行の途中までと一緒に届いた `isready` に応答しなかった",
    "`position` and `go depth 2` in pieces were not answered"
        => "分割して送った `position` と `go depth 2` に応答しなかった",
    "`position` in pieces was misread: `{mv}` is no move there"
        => "分割して送った `position` を読み違えた: `{mv}` はその局面で指せない",
    "the greeting in one write with more was not answered"
        => "ほかのコマンドと一度に書き込まれた `uci` や `usi` に応答しなかった",
    "of a conversation in one write `go` was not answered"
        => "一度に書き込まれたコマンドのうち `go` に応答しなかった",
    "after bytes that are no text `isready` was not answered"
        => "文字として読めないバイト列の後、`isready` に応答しなかった",
    "after bytes that are no text a search was not answered"
        => "文字として読めないバイト列の後、探索に応答しなかった",
    "`isready` without line end, at the end of the input, was not answered"
        => "入力の終わりにある改行のない `isready` に応答しなかった",
}
