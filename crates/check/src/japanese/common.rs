//! What many checks say, in Japanese.

use super::catalogue;

catalogue! {
    "{what}: {why}"
        => "{what}: {why}",
    "{first}; {second}"
        => "{first}。{second}",
    "first"
        => "1 番目",
    "second"
        => "2 番目",
    "`{name}` cannot be reached: {error}"
        => "`{name}` に接続できない: `{error}`",
    "`{name}` cannot be started: {error}"
        => "`{name}` を起動できない: `{error}`",
    "`{name}` does not answer `{hello}`: {lost}"
        => "`{name}` が `{hello}` に応答しない: {lost}",
    "no protocol was tried"
        => "どのプロトコルも試していない",
    "it did not come so far: {lost}"
        => "検査できる段階まで進まなかった: {lost}",
    "no answer in {seconds} s"
        => "{seconds} 秒以内に応答がなかった",
    "the engine ended with {status}"
        => "エンジンが終了した ({status})",
    "the engine closed its output"
        => "エンジンが出力を閉じた",
    "the engine ends at `{go}`"
        => "エンジンは `{go}` で終了してしまう",
    "it needs {need}"
        => "この検査には{need}が必要",
    "an engine that is a process"
        => "プロセスとして動くエンジン",
    "the option `{name}`"
        => "オプション `{name}` ",
    "an option of type {kind}"
        => " `{kind}` 型のオプション",
    "the engine said nothing of the kind"
        => "エンジンは該当するものを送らなかった",
    "the client said nothing of the kind"
        => "クライアントは該当するものを送らなかった",
    "with `{said}` it broke the rule that {rule}"
        => "`{said}` は次の規則に反する: {rule}",
    "{note} ({clause})"
        => "{note} ({clause})",
    "a line of another form"
        => "形式の異なる行",
    "{english_position}"
        => "検査に使う局面を用意できない",
}
