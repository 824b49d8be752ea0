//! What is found about clients, in Japanese.

use super::catalogue;

catalogue! {
    "`{text}` is no command"
        => "`{text}` はコマンドではない",
    "it cannot be played"
        => "この局面は指せない",
    "`{word}` cannot be played"
        => "`{word}` は指せない",
    "`{option}` cannot be set to this"
        => "`{option}` をこの値に設定できない",
    "the engine has no `{option}`"
        => "エンジンに `{option}` がない",
    "there is only the clock of the other side"
        => "相手側の残り時間しかない",
    "it closed the engine's input, or ended, without `quit`"
        => "`quit` を送らずに、エンジンの入力を閉じるか終了した",
    "no `{command}` came before it"
        => "その前に `{command}` がなかった",

    "`{word}` is not in the command of the client"
        => "クライアントのコマンドに `{word}` がない",
    "`{program}` cannot be run: {error}"
        => "`{program}` を実行できない: `{error}`",
    "`{program}` starts no engine: {end}"
        => "`{program}` がエンジンを起動しない: {end}",
    "the client cannot be started: {error}"
        => "クライアントを起動できない: `{error}`",
    "the client gave no occasion for it"
        => "クライアントがその機会を与えなかった",
    "it ended, and left the engine running"
        => "エンジンを残したまま終了した",
    "{end}; else it ends with {usual}"
        => "{end}。普段の終わり方は {usual}",
    "it had {count} searches; else it has {usual}"
        => "探索が {count} 回だった。普段は {usual} 回",
    "it is still there, and says nothing more: look at it"
        => "動いているが、何も送らなくなった。画面を確かめる必要がある",
    "it went on, and broke the rule that {rule}"
        => "続行したが、次の規則に反した: {rule}",
    "it went on, and sent a position that cannot be played"
        => "続行したが、指せない局面を送った",
    "it ended with {status}"
        => "終了した ({status})",
    "it did nothing more for {seconds} s"
        => "{seconds} 秒間、何もしなかった",
    "it did not come to an end"
        => "終わらなかった",
    "{end}: {words}"
        => "{end}: {words}",
}
