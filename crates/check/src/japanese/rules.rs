//! The rules for engines in Japanese.

use super::catalogue;

catalogue! {
    "an engine that was started says nothing of the protocol before it is greeted"
        => "起動したエンジンは、`uci` か `usi` を受け取るまでプロトコルの行を出力しない",
    "the engine tells its name once, before the end of the greeting"
        => "エンジンは `uciok` か `usiok` の前に、自分の名前を一度だけ伝える",
    "the engine tells who wrote it"
        => "エンジンは作者を伝える",
    "the greeting takes less than a second; heavy work waits for `isready`"
        => "`uci` や `usi` には 1 秒以内に応答し、重い準備は `isready` まで待つ",
    "a second `uci` or `usi` does no harm"
        => "2 回目の `uci` や `usi` を受け取っても問題が起きない",
    "`isready` is answered with one `readyok`"
        => "`isready` には `readyok` を 1 回返す",
    "several `isready` in a row get as many `readyok`"
        => "続けて送られた `isready` には、同じ数の `readyok` を返す",
    "`copyprotection ok` or `error` follows `copyprotection checking`"
        => "`copyprotection ok` や `error` は `copyprotection checking` の後に送る",
    "`registration ok` or `error` follows `registration checking`"
        => "`registration ok` や `error` は `registration checking` の後に送る",
    "every line after the greeting is a message of the protocol; other text is sent as `info string`"
        => "`uciok` や `usiok` より後の行はすべてプロトコルのメッセージとし、その他の文は `info string` で送る",
    "all output is 7-bit ASCII"
        => "出力はすべて 7 ビットの ASCII とする",
    "output is valid UTF-8 without control characters"
        => "出力は正しい UTF-8 で、制御文字を含まない",

    "spaces may stand before, after and repeatedly between words"
        => "行頭、行末、語の間に余分な空白があってもよい",
    "tabs divide words as spaces do"
        => "タブも空白と同じく語を区切る",
    "lines may end with carriage return and line feed"
        => "行末は CR と LF の組でもよい",
    "empty lines are ignored"
        => "空行は無視する",
    "an unknown command is ignored, and the next one is obeyed"
        => "未知のコマンドは無視し、次のコマンドに従う",
    "an unknown word before a command is skipped"
        => "コマンドの前にある未知の語は読み飛ばす",
    "an unknown word in `go` is skipped"
        => "`go` の中の未知の語は読み飛ばす",
    "`stop` without a search is ignored"
        => "探索していないときの `stop` は無視する",
    "`ponderhit` without a search is ignored"
        => "探索していないときの `ponderhit` は無視する",
    "a line with the moves of a long game is read as a whole"
        => "長い対局の指し手を並べた行も最後まで読む",
    "unknown words after a command are skipped"
        => "コマンドの後にある未知の語は読み飛ばす",
    "a line that arrives in pieces is one line"
        => "分割されて届いた行も 1 行として読む",
    "a carriage return alone ends a line, too"
        => "CR だけでも行の終わりとする",
    "a whole conversation in one write is obeyed, line by line"
        => "一度に書き込まれた一連のコマンドにも 1 行ずつ従う",
    "bytes that are no text do no harm"
        => "文字として読めないバイト列を受け取っても問題が起きない",
    "a last line without line end is read when the input ends"
        => "改行のない最後の行も、入力の終わりで読む",

    "every `option` line has a name, a type of the protocol and nothing unknown"
        => "`option` の行は名前とプロトコルで定めた型を持ち、未知の語を含まない",
    "a check option has the default `true` or `false`"
        => "`check` 型のオプションの既定値は `true` か `false` とする",
    "a spin option has whole numbers for min, default and max, in this order of size"
        => "`spin` 型のオプションは整数の `min`、`default`、`max` を持ち、この順に小さい",
    "a combo option has choices, and its default is one of them"
        => "`combo` 型のオプションは選択肢を持ち、既定値はその一つとする",
    "a string option tells its default; an empty one is `<empty>`"
        => "`string` 型のオプションは既定値を伝え、空の場合は `<empty>` と書く",
    "no two options have names that differ only in case"
        => "大文字と小文字だけが違う名前のオプションを持たない",
    "names of options are free of the words `name`, `value` and `type`"
        => "オプション名は `name`、`value`、`type` という語を含まない",
    "a button option has neither a default nor a range nor choices"
        => "`button` 型のオプションは既定値、範囲、選択肢を持たない",
    "the choices of a combo option differ in more than case"
        => "`combo` 型のオプションは、大文字と小文字だけが違う選択肢を持たない",
    "the hash table is small by default: at most 512 MB"
        => "ハッシュテーブルは既定では小さく、512 MB 以下とする",
    "current lines, refutations and a limit of strength are off by default"
        => "現在の読み筋、反駁手順、棋力の制限は既定ではオフとする",
    "names of options have no spaces in USI"
        => "USI ではオプション名に空白を含まない",
    "options with a meaning that USI fixes start with `USI_`"
        => "USI で意味が決まっているオプションの名前は `USI_` で始まる",
    "the size of the hash table can be set"
        => "ハッシュテーブルの大きさを設定できる",
    "options whose meaning is fixed have the type that is fixed for them"
        => "意味が決まっているオプションは、決められた型とする",
    "`MultiPV` is 1 by default"
        => "`MultiPV` の既定値は 1 とする",
    "`UCI_LimitStrength` and `UCI_Elo` are declared together"
        => "`UCI_LimitStrength` と `UCI_Elo` は両方とも宣言する",
    "names of options are understood in any case"
        => "オプション名は大文字と小文字を区別せずに読む",
    "a button is pressed by `setoption` without a value"
        => "ボタンは値のない `setoption` で押される",
    "options take their smallest and largest value, and each choice"
        => "オプションには最小値、最大値、すべての選択肢を設定できる",
    "unknown options, and values out of range or of another type, do no harm"
        => "未知のオプションや、範囲外の値、型の違う値を受け取っても問題が起きない",
    "every option that is declared is known to `setoption`, also if its name has spaces"
        => "宣言したオプションは、名前に空白があっても、すべて `setoption` で設定できる",
    "options that are set directly after the greeting, before `isready`, have their effect"
        => "`uciok` や `usiok` の直後、`isready` の前に設定されたオプションも有効になる",
    "a text option takes `<empty>` and a missing value for no text"
        => "文字列のオプションは、`<empty>` と値の省略を空の文字列として受け取る",
    "`TRUE` is `true`"
        => "`TRUE` は `true` と同じ意味とする",
    "with its strength limited as far as possible the engine answers as usual"
        => "棋力を最も低く制限しても、エンジンは普段と同じように応答する",
    "while strength is not limited, the number for it changes nothing"
        => "棋力を制限していない間は、棋力の数値を変えても何も変わらない",
    "without its own book the engine searches from the start position"
        => "自分の定跡を使わないとき、エンジンは開始局面から探索する",
    "the name of the opponent, with spaces, is taken"
        => "空白を含む対局相手の名前を受け取る",
    "the engine is told that it analyses, and searches as usual"
        => "検討であることを伝えられても、エンジンは普段と同じように探索する",

    "`position startpos` is read with moves, with an empty list of them, and without"
        => "`position startpos` は、指し手がある場合も、空の場合も、省略された場合も読める",
    "a position is read from FEN or SFEN, with either side to move, and moves are played from it"
        => "どちらの手番の FEN や SFEN も読み、その局面から指し手を進める",
    "castling, en passant captures and promotions to all pieces are played from the list of moves"
        => "指し手の列にあるキャスリング、アンパッサン、すべての駒へのプロモーションを進められる",
    "drops, promotions and moves without promotion are played from the list of moves"
        => "指し手の列にある打つ手、成る手、不成の手を進められる",
    "an SFEN is read without move number, and with several pieces in hand"
        => "手数のない SFEN や、持ち駒が複数ある SFEN を読める",
    "a FEN is read without the two counters at its end"
        => "末尾の二つの手数がない FEN を読める",
    "after every prefix of a random game the engine answers with a legal move"
        => "無作為な対局のどの時点でも、エンジンは合法手を返す",
    "an illegal move in a list does not end the engine"
        => "指し手の列に非合法手があっても、エンジンは終了しない",
    "a broken position does not end the engine, nor let it hang"
        => "壊れた局面を受け取っても、エンジンは終了したり応答しなくなったりしない",
    "moves are written in the protocol's form: lower-case promotions, and castling as the king's move, or as king takes rook in Chess960"
        => "指し手はプロトコルの形式で書く。プロモーションは小文字、キャスリングはキングの動き (Chess960 ではキングがルークを取る動き) とする",
    "castling is taken and answered as `e1g1` in normal chess"
        => "通常のチェスでは、キャスリングを `e1g1` の形で読み書きする",
    "in Chess960 castling is taken and answered as king takes rook"
        => "Chess960 では、キャスリングをキングがルークを取る形で読み書きする",
    "without a legal move there is one `bestmove` all the same, and it is no move"
        => "合法手がなくても `bestmove` を 1 回返し、その内容は指し手ではない",
    "a pawn can be captured en passant, after its move and where the FEN says so"
        => "ポーンが進んだ直後も、FEN で示された場合も、アンパッサンで取れる",
    "a pawn promotes to each of the four pieces, written with a lower-case letter"
        => "ポーンは 4 種類の駒のどれにもプロモーションでき、小文字で書く",
    "in Chess960 the two sides may start from different arrays"
        => "Chess960 では、白と黒の初期配置が違っていてもよい",
    "the two counters of a FEN may be large"
        => "FEN の二つの手数は大きな数でもよい",
    "drops, promotions, moves without promotion and forced promotions are known"
        => "打つ手、成る手、不成の手、成らなければならない手を区別できる",
    "an engine does not give mate with the drop of a pawn"
        => "エンジンは打ち歩詰めを指さない",
    "an engine drops no pawn on a file where it has one"
        => "エンジンは二歩を指さない",
    "after hundreds of random lines the engine answers with legal moves"
        => "無作為な手順を何百通り進めても、エンジンは合法手を返す",

    "searches of different positions, with and without more lines, end with `bestmove`"
        => "さまざまな局面の探索は、候補手が一つでも複数でも `bestmove` で終わる",
    "`bestmove` is a legal move, and the move to ponder on is legal after it"
        => "`bestmove` は合法手で、先読みする手もその後の合法手とする",
    "`go depth` ends at this depth"
        => "`go depth` はその深さで終わる",
    "`go nodes` ends after about so many nodes"
        => "`go nodes` はおよそそのノード数で終わる",
    "`go movetime` ends in time"
        => "`go movetime` は時間どおりに終わる",
    "`go movetime` uses its time"
        => "`go movetime` は与えられた時間を使う",
    "with clocks of any size, on one side or both, the engine moves in time"
        => "持ち時間の長さや、片方だけか両方かによらず、エンジンは時間内に指す",
    "a clock at zero or below does not make the engine think for ever"
        => "持ち時間が 0 以下でも、エンジンは考え続けない",
    "`movestogo` is taken into account: the last move before the control is no reason to lose on time"
        => "`movestogo` を考慮し、時間が加算される直前の手でも時間切れにならない",
    "arguments of `go` stand in any order, and the first limit that is reached ends the search"
        => "`go` の引数は順不同で、最初に達した制限で探索を終える",
    "`go infinite` does not end before `stop`, even on a mate or a forced move"
        => "`go infinite` は、詰みや唯一の合法手でも `stop` まで終わらない",
    "`stop` is answered with `bestmove` at once"
        => "`stop` にはすぐに `bestmove` を返す",
    "`stop` directly after `go` ends the search"
        => "`go` の直後の `stop` でも探索を終える",
    "`isready` during a search is answered at once, and the search goes on"
        => "探索中の `isready` にはすぐに応答し、探索を続ける",
    "`go ponder` does not end before `ponderhit` or `stop`, whatever its limits"
        => "`go ponder` は、どのような制限があっても `ponderhit` か `stop` まで終わらない",
    "after `ponderhit` the search ends within its limits"
        => "`ponderhit` の後は、探索を制限内で終える",
    "`stop` ends `go ponder` with `bestmove`, and the next search is as usual"
        => "`go ponder` 中の `stop` には `bestmove` を返し、次の探索は普段どおりに行う",
    "`searchmoves` restricts the search to its moves"
        => "`searchmoves` は探索をその指し手だけに限定する",
    "with `MultiPV` all lines begin with moves of `searchmoves`"
        => "`MultiPV` を使うときも、すべての読み筋は `searchmoves` の指し手で始まる",
    "words of `go` after `searchmoves` and its moves are read"
        => "`searchmoves` とその指し手の後にある `go` の語も読む",
    "`go mate` finds a mate in one and ends"
        => "`go mate` は 1 手詰めを見つけて終わる",
    "a new game may be announced, repeatedly, or not at all"
        => "新しい対局は、何度通知されても、通知されなくてもよい",
    "`debug on` and `debug off` are taken at any time"
        => "`debug on` と `debug off` はいつでも受け取る",
    "`register later` is taken by every engine"
        => "どのエンジンも `register later` を受け取る",
    "searches with little hash and with several threads end as others do"
        => "小さなハッシュや複数のスレッドでも、探索は同じように終わる",
    "whatever legal commands come in a search, in whatever order, each `go` has one answer"
        => "探索中に正しいコマンドがどの順で届いても、それぞれの `go` に 1 回応答する",

    "with 0.4 s on its clock and no increment the engine moves within that time, in every search"
        => "加算なしで残り 0.4 秒のとき、エンジンは毎回その時間内に指す",
    "`go` without any limit ends at `stop`, if not before"
        => "制限のない `go` は、遅くとも `stop` で終わる",
    "depths, counts and times beyond all use are taken for what they are: no limit"
        => "極端に大きな深さ、ノード数、時間は、制限がないものとして扱う",
    "a limit of zero does not hang or end the engine: it answers, at the latest to `stop`"
        => "制限が 0 でもエンジンは終了したり固まったりせず、遅くとも `stop` で応答する",
    "while the engine ponders no limit of depth, nodes or time ends the search"
        => "先読み中は、深さ、ノード数、時間の制限で探索を終えない",

    "a second `stop` after the one that ended the search is ignored"
        => "探索を終えた `stop` に続く 2 回目の `stop` は無視する",
    "`position` during a search does not disturb it"
        => "探索中の `position` は探索に影響しない",
    "`setoption` during a search does not disturb it"
        => "探索中の `setoption` は探索に影響しない",
    "`ucinewgame` or `usinewgame` during a search does not disturb it"
        => "探索中の `ucinewgame` や `usinewgame` は探索に影響しない",
    "a second `go` during a search leaves an engine that can be used"
        => "探索中に 2 回目の `go` を受け取っても、エンジンは引き続き使える",
    "`go`, `stop` and another `go` in one write get two answers"
        => "一度に書き込まれた `go`、`stop`、次の `go` には 2 回応答する",
    "a second `go` without `position` searches the same position again"
        => "`position` のない 2 回目の `go` は、同じ局面をもう一度探索する",
    "`ponderhit` and `stop` directly after it have one `bestmove`"
        => "`ponderhit` とその直後の `stop` には `bestmove` を 1 回返す",
    "`isready` is answered while the engine ponders, and the engine ponders on"
        => "先読み中の `isready` に応答し、先読みを続ける",
    "options keep their values when a new game is announced"
        => "新しい対局が通知されても、オプションの値は変わらない",
    "the same search has the same result before a game and after the next one is announced"
        => "同じ探索は、対局の前でも、次の対局が通知された後でも、同じ結果になる",

    "numbers in `info` are whole, not negative and fit their field"
        => "`info` の数は負でない整数で、項目の範囲に収まる",
    "each word of `info` has its value"
        => "`info` の各項目には値がある",
    "each field of an `info` line is there once"
        => "`info` の行に同じ項目は一度だけ現れる",
    "what stands in a list of moves is a move of the protocol"
        => "指し手の列にあるものは、プロトコルの形式の指し手とする",
    "`seldepth` comes with `depth`"
        => "`seldepth` は `depth` と一緒に送る",
    "every variation can be played from the position that is searched"
        => "読み筋はすべて、探索している局面から指せる",
    "`bestmove` is the first move of the last variation with an exact score"
        => "`bestmove` は、正確な評価値を持つ最後の読み筋の初手とする",
    "a search tells its score before `bestmove`"
        => "探索では `bestmove` の前に評価値を伝える",
    "a variation comes with its depth and its score"
        => "読み筋は深さと評価値と一緒に送る",
    "`lowerbound` and `upperbound` come with a score"
        => "`lowerbound` と `upperbound` は評価値と一緒に送る",
    "time and nodes never decrease during a search"
        => "探索中に時間とノード数は減らない",
    "`hashfull` and `cpuload` are between 0 and 1000"
        => "`hashfull` と `cpuload` は 0 から 1000 までとする",
    "the three numbers of `wdl` add up to 1000"
        => "`wdl` の三つの数の合計は 1000 になる",
    "`currmove` is legal, and `currmovenumber` counts from 1"
        => "`currmove` は合法手で、`currmovenumber` は 1 から数える",
    "the variation of a search's last exact mate score is as long as it says, and ends in mate"
        => "最後に伝えた正確な詰みの評価値では、読み筋の長さが手数と一致し、詰みで終わる",
    "a mate in one is announced as mate in 1 by both sides, a mate in two moves as 2 in UCI"
        => "1 手詰めはどちらの手番でも 1 と伝え、UCI では 3 手詰めを 2 と伝える",
    "scores are from the view of the side to move"
        => "評価値は手番側から見た値とする",
    "with `MultiPV` each depth has lines 1 to k, with different first moves, the best first"
        => "`MultiPV` を使うとき、各深さの読み筋は 1 番からすべてそろい、初手が互いに異なり、良い順に並ぶ",
    "the depth of the best line never decreases during a search"
        => "探索中に最善の読み筋の深さは減らない",
    "`nps` is `nodes` divided by `time`"
        => "`nps` は `nodes` を `time` で割った値とする",
    "`time` is not more than has passed since `go`"
        => "`time` は `go` からの経過時間を超えない",
    "`time` is told in milliseconds, and goes with the clock on the wall"
        => "`time` は実時間をミリ秒で伝える",
    "in a long search nodes are told again and again, at least every two seconds"
        => "長い探索では、少なくとも 2 秒ごとにノード数を伝える",
    "`currmove`, `currmovenumber`, `currline` and `refutation` begin after a second of search"
        => "`currmove`、`currmovenumber`、`currline`、`refutation` は、探索開始から 1 秒たってから送る",
    "a search that is soon done does not flood its client with lines"
        => "すぐに終わる探索で大量の行を送らない",
    "`string` is the last word with a meaning: depth, score and pv stand before it"
        => "意味を持つ語は `string` が最後で、`depth`、`score`、`pv` はその前に置く",
    "there are no more lines than `MultiPV` asks for"
        => "読み筋の数は `MultiPV` の値を超えない",
    "lines are sent in the order of their numbers: 1, 2, 3"
        => "読み筋は 1、2、3 と番号順に送る",
    "where there are fewer moves than lines asked for, there are as many lines as moves"
        => "合法手が候補手の数より少ないときは、合法手と同じ数の読み筋を送る",
    "`currline` is sent only while `UCI_ShowCurrLine` is true"
        => "`currline` は `UCI_ShowCurrLine` がオンのときだけ送る",
    "`refutation` is sent only while `UCI_ShowRefutations` is true"
        => "`refutation` は `UCI_ShowRefutations` がオンのときだけ送る",
    "`currline` and `refutation` can be played from the position that is searched"
        => "`currline` と `refutation` は、探索している局面から指せる",
    "while pondering variations begin after the move that is expected"
        => "先読み中の読み筋は、予想した手の後から始まる",

    "who will be mated has a negative mate score, and the next move is the last one but one"
        => "詰まされる側の評価値は負の詰みで、次の手は最後から 2 番目の手として数える",
    "no mate is announced that is shorter than the shortest there is"
        => "最短の詰みより短い詰みを伝えない",
    "a mate is told as `mate`, and not as a large number of centipawns"
        => "詰みは大きな `cp` の値ではなく `mate` で伝える",
    "a move that repeats the position of the game for the last time is worth a draw"
        => "引き分けとなる同一局面にする手は、引き分けと評価する",
    "`wdl` is sent only while `UCI_ShowWDL` is true"
        => "`wdl` は `UCI_ShowWDL` がオンのときだけ送る",
    "`wdl` and `cp` agree on who is better"
        => "`wdl` と `cp` は、どちらが優勢かで一致する",

    "an engine that waits takes no processor time, neither before its first search nor after one"
        => "待機中のエンジンは、最初の探索の前も探索の後も CPU を使わない",
    "an engine that may ponder does so only when it is told to"
        => "先読みができるエンジンも、指示されたときだけ先読みする",
    "an engine goes on if nobody reads its error output"
        => "エラー出力が読まれなくても、エンジンは動き続ける",
    "with a larger hash table the engine takes as much more memory as it was given, and no more"
        => "ハッシュテーブルを大きくしたとき、増えるメモリーは指定した分だけとする",
    "the hash table can be made larger and smaller between searches"
        => "ハッシュテーブルの大きさは、探索の合間に増やしたり減らしたりできる",

    "`quit` directly after the greeting ends the engine"
        => "`uciok` や `usiok` の直後の `quit` で終了する",
    "`quit` after a search ends the engine"
        => "探索の後の `quit` で終了する",
    "`quit` during a search ends the engine"
        => "探索中の `quit` で終了する",
    "`quit` while pondering ends the engine"
        => "先読み中の `quit` で終了する",
    "after `quit` the exit status is 0"
        => "`quit` の後の終了コードは 0 とする",
    "the end of the input ends the engine"
        => "入力が終わると終了する",
    "the end of the input ends the engine, even during a search"
        => "探索中でも、入力が終わると終了する",
    "`isready` and `quit` in one write end the engine"
        => "一度に書き込まれた `isready` と `quit` で終了する",
    "the engine ends when nobody can hear it any more"
        => "出力を受け取る相手がいなくなると終了する",
    "the engine ends when the system asks it to"
        => "システムから求められると終了する",

    "`USI_Hash` and `USI_Ponder` are taken even if they were not declared"
        => "`USI_Hash` と `USI_Ponder` は、宣言していなくても受け取る",
    "`go btime wtime byoyomi` ends in time"
        => "`go btime wtime byoyomi` は時間内に終わる",
    "`gameover` is taken after a search and in the midst of pondering, and another game can follow"
        => "`gameover` は探索の後でも先読み中でも受け取り、続けて次の対局ができる",
    "`gameover` ends pondering as `stop` does"
        => "`gameover` は `stop` と同じく先読みを終える",
    "`go mate` is answered with `checkmate`"
        => "`go mate` には `checkmate` を返す",
    "`usinewgame` comes after `readyok`, and the game begins without another `isready`"
        => "`usinewgame` は `readyok` の後に届き、対局は次の `isready` なしで始まる",
    "with nothing but byoyomi left the engine moves within it, in every search"
        => "秒読みだけになっても、エンジンは毎回その時間内に指す",
    "clocks with `byoyomi 0`, and with increments from an empty clock, are answered"
        => "`byoyomi 0` にも、残り時間が 0 で加算だけの持ち時間にも応答する",
    "after `ponderhit` the engine moves within its byoyomi"
        => "`ponderhit` の後、エンジンは秒読みの時間内に指す",
    "`ponderhit` with clocks after it is taken for `ponderhit`"
        => "後ろに残り時間の付いた `ponderhit` も `ponderhit` として読む",
    "`gameover` without a search, at any time between games, is taken and not answered"
        => "探索していないときの `gameover` は、対局の合間のいつでも受け取り、応答しない",
    "who has no legal move answers `bestmove resign`"
        => "合法手がないときは `bestmove resign` を返す",
    "where a declaration wins, the engine declares"
        => "入玉宣言で勝てる局面では宣言する",
    "the engine declares nothing without the points for it"
        => "点数が足りないときは入玉宣言をしない",
    "`go mate` with a time ends in that time"
        => "時間を指定した `go mate` はその時間内に終わる",
    "`go mate infinite` ends at `stop`, if not before, with `checkmate`"
        => "`go mate infinite` は、遅くとも `stop` で `checkmate` を返して終わる",
    "the moves of `checkmate` are legal and end in mate"
        => "`checkmate` の手順は合法手だけで、詰みで終わる",
    "the translation file beside the engine can be read, and speaks of its options"
        => "エンジンと同じ場所にある翻訳ファイルが読め、その内容がオプションと合っている",

    "through many games each `go` has one `bestmove`"
        => "多くの対局を続けても、それぞれの `go` に `bestmove` を 1 回返す",
    "memory does not grow from game to game"
        => "対局を重ねてもメモリーの使用量が増えない",
    "threads and open files do not become more from game to game"
        => "対局を重ねてもスレッドと開いたファイルが増えない",
}
