//! The rules for clients in Japanese.

use super::catalogue;

catalogue! {
    "an engine that ends at once is noticed"
        => "エンジンがすぐに終了したことに気付く",
    "an engine that never greets is given up"
        => "最初の呼びかけに応答しないエンジンを諦める",
    "an engine that ends while it greets is noticed"
        => "エンジンが起動時のやり取りの途中で終了したことに気付く",
    "an engine that never ends its greeting is given up"
        => "`uciok` や `usiok` を返さないエンジンを諦める",
    "text before the greeting is ignored"
        => "起動時のやり取りより前の文は無視する",
    "an engine may take its time to greet"
        => "エンジンは起動時の応答に時間をかけてもよい",
    "an engine may have no options"
        => "エンジンはオプションを持たなくてもよい",
    "an engine without a name is used all the same"
        => "名前のないエンジンも使う",
    "a second `uciok` or `usiok` is ignored"
        => "2 回目の `uciok` や `usiok` は無視する",
    "`info` during the greeting is ignored"
        => "起動時のやり取りの途中の `info` は無視する",

    "names and choices of options may contain spaces"
        => "オプションの名前と選択肢は空白を含んでもよい",
    "a button has no value"
        => "ボタンは値を持たない",
    "a string may be empty"
        => "文字列は空でもよい",
    "a `default` without a value is an empty string"
        => "値のない `default` は空の文字列とする",
    "there is a type `filename`"
        => "`filename` という型がある",
    "an option of an unknown type is passed over"
        => "未知の型のオプションは読み飛ばす",
    "an option without a type is passed over"
        => "型のないオプションは読み飛ばす",
    "a spin without bounds does no harm"
        => "範囲のない `spin` があっても問題が起きない",
    "bounds that no integer holds do no harm"
        => "範囲が整数型に収まらなくても問題が起きない",
    "bounds that are no numbers do no harm"
        => "範囲が数でなくても問題が起きない",
    "a default out of bounds, and bounds that are reversed, do no harm"
        => "既定値が範囲外でも、範囲が逆でも問題が起きない",
    "a combo without choices does no harm"
        => "選択肢のない `combo` があっても問題が起きない",
    "a default that is no choice does no harm"
        => "既定値が選択肢になくても問題が起きない",
    "a check that is neither true nor false does no harm"
        => "`true` でも `false` でもない `check` があっても問題が起きない",
    "a button with a value does no harm"
        => "値のあるボタンがあっても問題が起きない",
    "the same option twice does no harm"
        => "同じオプションが二つあっても問題が起きない",
    "names in any script do no harm"
        => "名前がどの文字で書かれていても問題が起きない",
    "names that are markup, formats or paths do no harm"
        => "名前がマークアップ、書式、パスのように見えても問題が起きない",
    "any number of options is taken"
        => "オプションはいくつでも受け取る",
    "an option after the greeting does no harm"
        => "`uciok` や `usiok` の後にオプションが届いても問題が起きない",

    "a program that is protected against copies works when it says so"
        => "コピー保護されたプログラムは、問題がないと伝えれば使える",
    "a program that was copied is refused, or goes on"
        => "不正コピーのプログラムは、拒否するかそのまま使う",
    "an engine that is registered works"
        => "登録済みのエンジンは使える",
    "an engine that wants to be registered is told to wait, or given up"
        => "登録を求めるエンジンには後で登録すると伝えるか、使用を諦める",

    "an engine may take its time to get ready"
        => "エンジンは準備に時間をかけてもよい",
    "an engine that never gets ready is given up"
        => "準備の終わらないエンジンを諦める",
    "an engine that ends while it gets ready is noticed"
        => "エンジンが準備中に終了したことに気付く",
    "an engine may tell what it loads before `readyok`"
        => "エンジンは `readyok` の前に、読み込む内容を伝えてもよい",
    "a second `readyok` is ignored"
        => "2 回目の `readyok` は無視する",
    "a `bestmove` without a search is ignored"
        => "探索していないときの `bestmove` は無視する",

    "a search may tell nothing but its move"
        => "探索は指し手のほかに何も伝えなくてもよい",
    "a move that comes late is waited for, or its engine given up"
        => "遅れた指し手を待つか、そのエンジンを諦める",
    "an engine that never answers is given up"
        => "応答しないエンジンを諦める",
    "an engine that ends when it shall search is noticed"
        => "エンジンが探索を始めるときに終了したことに気付く",
    "an engine that ends in the middle of a search is noticed"
        => "エンジンが探索の途中で終了したことに気付く",
    "an engine that is ended by a signal is noticed"
        => "エンジンがシグナルで終了したことに気付く",
    "an engine that ends in the middle of a line is noticed"
        => "エンジンが行の途中で終了したことに気付く",
    "an engine that closes its output is noticed"
        => "エンジンが出力を閉じたことに気付く",
    "an engine that ends after its answer is noticed"
        => "エンジンが応答の後に終了したことに気付く",
    "`bestmove 0000` is no move, and does no harm"
        => "`bestmove 0000` は指し手ではなく、受け取っても問題が起きない",
    "`bestmove (none)` is no move, and does no harm"
        => "`bestmove (none)` は指し手ではなく、受け取っても問題が起きない",
    "`bestmove resign` ends the game"
        => "`bestmove resign` で対局を終える",
    "`bestmove win` ends the game, or is refused"
        => "`bestmove win` で対局を終えるか、宣言を認めない",
    "`bestmove` without a move does no harm"
        => "指し手のない `bestmove` を受け取っても問題が起きない",
    "a word that is no move does no harm"
        => "指し手でない語を受け取っても問題が起きない",
    "a move that cannot be played does no harm, and is never part of a position"
        => "指せない手を受け取っても問題が起きず、局面にも含めない",
    "an expected move that cannot be played is not pondered on"
        => "予想手が指せない手なら先読みしない",
    "`ponder` without a usable move is dropped"
        => "使える指し手のない `ponder` は捨てる",
    "a second `bestmove` is ignored"
        => "2 回目の `bestmove` は無視する",
    "two different answers are no more than one"
        => "異なる応答が二つ届いても、一つだけを使う",
    "an endless search that ends by itself does no harm"
        => "無制限の探索が自然に終わっても問題が起きない",
    "`info` after the answer is ignored"
        => "応答の後の `info` は無視する",
    "thousands of lines of `info` are taken"
        => "何千行もの `info` を受け取れる",
    "a very long line is taken, or passed over"
        => "非常に長い行は、受け取るか読み飛ばす",
    "fields of `info` that are not understood are passed over"
        => "`info` の理解できない項目は読み飛ばす",
    "a variation that cannot be played is cut, or passed over"
        => "指せない読み筋は、途中で切るか読み飛ばす",
    "scores of any size do no harm"
        => "評価値がどのような大きさでも問題が起きない",
    "what an engine says to its error output does not block it"
        => "エンジンはエラー出力に書き込んでも止まらない",

    "any white space may stand around and between words"
        => "語の前後と間には任意の空白があってよい",
    "unknown lines are ignored, wherever they stand"
        => "未知の行は、どこにあっても無視する",
    "a line may come in pieces"
        => "行は分割されて届いてもよい",
    "answers that nobody has asked for are ignored"
        => "求めていない応答は無視する",

    "an engine may take its time to leave"
        => "エンジンは終了に時間をかけてもよい",
    "an engine that does not leave is ended"
        => "終了しないエンジンを終了させる",
    "an engine that leaves with an error does no harm"
        => "エンジンがエラーで終了しても問題が起きない",

    "each line is a command"
        => "各行はコマンドとする",
    "positions are legal, and so are the moves in them"
        => "局面とその指し手は合法とする",
    "`searchmoves` names moves that can be played"
        => "`searchmoves` には指せる手を書く",
    "only options that the engine has are set, to what they can be"
        => "エンジンが持つオプションだけを、取りうる値に設定する",
    "the clock of the side to move is told, if any is"
        => "持ち時間を伝えるときは、手番側の残り時間を含める",
    "a game begins with `ucinewgame` or `usinewgame`"
        => "対局は `ucinewgame` か `usinewgame` で始める",
    "an engine that is no longer needed is told to quit"
        => "不要になったエンジンには `quit` を送る",
    "`position` is written as it should be"
        => "`position` を正しい形式で書く",
    "`go` is written as it should be"
        => "`go` を正しい形式で書く",
    "`setoption` is written as it should be"
        => "`setoption` を正しい形式で書く",
}
