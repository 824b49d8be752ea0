//! What is found about USI alone and about translation files, in Japanese.

use super::catalogue;

catalogue! {
    "after `USI_Hash` and `USI_Ponder` `isready` was not answered"
        => "`USI_Hash` と `USI_Ponder` の後、`isready` に応答しなかった",
    "after `USI_Hash` and `USI_Ponder` a search was not answered"
        => "`USI_Hash` と `USI_Ponder` の後、探索に応答しなかった",
    "after `gameover` {when} `isready` was not answered"
        => "{when}の `gameover` の後、`isready` に応答しなかった",
    "in a game after `gameover` {when} a search was not answered"
        => "{when}の `gameover` に続く対局で、探索に応答しなかった",
    "`gameover` {when} was answered with `bestmove`"
        => "{when}の `gameover` に `bestmove` を返した",
    "behind a search"
        => "探索の後",
    "while pondering"
        => "先読み中",
    "before the first game"
        => "最初の対局の前",
    "before the first position"
        => "最初の局面の前",
    "said twice"
        => "2 回目",
    "in the game after `gameover` while pondering `isready` was not answered"
        => "先読み中の `gameover` に続く対局で、`isready` に応答しなかった",
    "after `gameover` while pondering there were more answers than searches"
        => "先読み中の `gameover` の後、応答が探索より多かった",
    "`gameover win` in `{go}` was not answered with `bestmove`"
        => "`{go}` 中の `gameover win` に `bestmove` を返さなかった",
    "in a game after `gameover` a search was not answered"
        => "`gameover` に続く対局で、探索に応答しなかった",
    "`go mate` was not answered"
        => "`go mate` に応答しなかった",
    "`go mate` was answered with `bestmove`"
        => "`go mate` に `bestmove` を返した",
    "a mate in one was answered with `checkmate nomate`"
        => "1 手詰めに `checkmate nomate` を返した",

    "`isready` before a game was not answered"
        => "対局前の `isready` に応答しなかった",
    "the {game} game's first `go` was not answered"
        => "{game}の対局で、最初の `go` に応答しなかった",
    "`{hit}` was not followed by `bestmove`"
        => "`{hit}` の後、`bestmove` がなかった",
    "a search by who is mated was not answered"
        => "詰まされた局面の探索に応答しなかった",
    "who is mated answers `{answer}`"
        => "詰まされた局面で `{answer}` を返した",
    "a search where a declaration wins was not answered"
        => "入玉宣言で勝てる局面の探索に応答しなかった",
    "a search where no declaration wins was not answered"
        => "入玉宣言で勝てない局面の探索に応答しなかった",
    "it answers `{answer}`"
        => "`{answer}` を返した",
    "it declares a win with 2 points"
        => "2 点しかないのに入玉宣言をした",
    "it answers `go mate` with `bestmove`"
        => "`go mate` に `bestmove` を返す",
    "the mate cannot be played: {error}"
        => "詰み手順どおりに指せない: {error}",
    "after the moves of `checkmate` there are legal moves"
        => "`checkmate` の手順の後に合法手がある",

    "the place of the program is not known"
        => "プログラムの場所が分からない",
    "there is no `{path}`"
        => "`{path}` がない",
    "`{path}` cannot be read: {error}"
        => "`{path}` を読めない: {error}",
    "{language}: {problem}"
        => "`{language}`: {problem}",
    "the default language is missing"
        => "既定の言語がない",
    "the engine has no option `{option}`"
        => "エンジンにオプション `{option}` がない",
    "`{option}` is the same option as `{first}`"
        => "`{option}` は `{first}` と同じオプションを指す",
    "option `{option}` has no choice `{value}`"
        => "オプション `{option}` に選択肢 `{value}` がない",
    "{english}"
        => "翻訳ファイルに問題がある",
    "{bytes} bytes are more than {most}"
        => "{bytes} バイトは上限の {most} バイトを超えている",
    "not UTF-8 at byte {at}"
        => "{at} バイト目が UTF-8 ではない",
    "nested too deep at byte {at}"
        => "{at} バイト目で入れ子が深すぎる",
    "{english_syntax}"
        => "JSON の構文が正しくない",
    "version {found} is not known"
        => "未知のバージョン {found}",
    "`{at}`: expected {english}"
        => "`{at}` の値がないか、種類が正しくない",
    "`{at}`: more than {limit} entries"
        => "`{at}` の項目が {limit} 個を超えている",
    "`{at}`: more than {limit} characters"
        => "`{at}` が {limit} 文字を超えている",
}
