//! What is found about options and what they do, in Japanese.

use super::catalogue;

catalogue! {
    "option `{name}` (type {kind}): {why}"
        => "オプション `{name}` (`{kind}` 型): {why}",
    "it has no default"
        => "既定値がない",
    "the default is neither `true` nor `false`"
        => "既定値が `true` でも `false` でもない",
    "the default {default} is not between {min} and {max}"
        => "既定値 {default} が {min} から {max} までの範囲にない",
    "there is no whole number for {what}"
        => "`{what}` に整数がない",
    "it has no choices"
        => "選択肢がない",
    "the default `{default}` is no choice"
        => "既定値 `{default}` が選択肢にない",
    "`default` is followed by nothing"
        => "`default` の後に何もない",
    "{count} options have this name"
        => "この名前のオプションが {count} 個ある",
    "the name has the word `{word}`"
        => "名前に `{word}` という語がある",
    "the name has a space"
        => "名前に空白がある",
    "it has to be `USI_{name}`"
        => "`USI_{name}` でなければならない",
    "it is of type {kind}"
        => "`{kind}` 型になっている",
    "there is no such option"
        => "そのオプションがない",
    "in the protocol it is of type {fixed}"
        => "プロトコルでは `{fixed}` 型と決まっている",
    "a button has no value"
        => "ボタンは値を持たない",
    "the choice `{choice}` is there twice"
        => "選択肢 `{choice}` が二つある",
    "the default is {default} MB"
        => "既定値が {default} MB になっている",
    "the engine has none of these options"
        => "エンジンはこれらのオプションを持たない",
    "the default is true"
        => "既定値がオンになっている",
    "the default is {default}"
        => "既定値が {default} になっている",
    "the engine has neither option"
        => "エンジンはどちらのオプションも持たない",
    "there is no `UCI_Elo`"
        => "`UCI_Elo` がない",
    "there is no `UCI_LimitStrength`"
        => "`UCI_LimitStrength` がない",
    "there is no `MultiPV`"
        => "`MultiPV` がない",
    "`setoption name {swapped}` had no effect"
        => "`setoption name {swapped}` が効かなかった",
    "after the button `{name}` `isready` was not answered"
        => "ボタン `{name}` の後、`isready` に応答しなかった",
    "after buttons there was no `bestmove`"
        => "ボタンの後、`bestmove` がなかった",
    "after `{name}` was set to `{value}` `isready` was not answered"
        => "`{name}` を `{value}` に設定した後、`isready` に応答しなかった",
    "after all values were set there was no `bestmove`"
        => "すべての値を設定した後、`bestmove` がなかった",

    "`setoption name {name} value {value}` is answered as for an option that does not exist"
        => "`setoption name {name} value {value}` に、存在しないオプションと同じ応答をした",
    "`MultiPV` has no effect that can be seen"
        => "`MultiPV` の効果が見られない",
    "`MultiPV` had no effect when it was set before `isready`"
        => "`isready` の前に設定した `MultiPV` が効かなかった",
    "it takes neither `<empty>` nor `.` for `{name}`: {lost}"
        => "`{name}` に `<empty>` も `.` も設定できない: {lost}",
    "after `{line}` `isready` was not answered"
        => "`{line}` の後、`isready` に応答しなかった",
    "after `{line}` there was no `bestmove`"
        => "`{line}` の後、`bestmove` がなかった",
    "after `{line}` a search was not answered"
        => "`{line}` の後、探索に応答しなかった",
    "the effect of `true` cannot be seen"
        => "`true` の効果が見られない",
    "`TRUE` had no effect, `true` had one"
        => "`true` は効いたが、`TRUE` は効かなかった",
    "with strength limited `isready` was not answered"
        => "棋力を制限すると `isready` に応答しなかった",
    "with strength limited `{go}` was not answered"
        => "棋力を制限すると `{go}` に応答しなかった",
    "searches of this engine are never quite the same"
        => "このエンジンの探索は毎回結果が異なる",
    "it has no range"
        => "範囲がない",
    "it was {before} and is {after}"
        => "結果が {before} から {after} に変わった",
    "it answered without a search"
        => "探索せずに応答した",
    "after `UCI_Opponent` `isready` was not answered"
        => "`UCI_Opponent` の後、`isready` に応答しなかった",
    "after `UCI_Opponent` there was no `bestmove`"
        => "`UCI_Opponent` の後、`bestmove` がなかった",
    "after `UCI_AnalyseMode` `isready` was not answered"
        => "`UCI_AnalyseMode` の後、`isready` に応答しなかった",
    "while analysing there was no `bestmove`"
        => "検討中に `bestmove` がなかった",
}
