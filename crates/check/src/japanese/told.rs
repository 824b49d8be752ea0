//! What is found about what engines tell of searches, in Japanese.

use super::catalogue;

catalogue! {
    "the variation cannot be played: {error}"
        => "読み筋どおりに指せない: {error}",
    "the answer is `{mv}`, but the last first line begins with `{head}`"
        => "応答は `{mv}` だが、最後に送った 1 番の読み筋は `{head}` で始まる",
    "nothing was told about `go depth {depth}`"
        => "`go depth {depth}` について何も伝えなかった",
    "there is no depth beside this variation"
        => "この読み筋に深さがない",
    "there is no score beside this variation"
        => "この読み筋に評価値がない",
    "a bound of no score"
        => "評価値のない上限または下限がある",
    "{what} went back from {before} to {now}"
        => "`{what}` が {before} から {now} に減った",
    "{value} is more than 1000"
        => "{value} は 1000 を超えている",
    "the sum is {sum}"
        => "合計が {sum} になっている",
    "a move has the number 0"
        => "指し手の番号が 0 になっている",
    "a mate in {plies} plies has a variation of {length}"
        => "{plies} 手の詰みなのに、読み筋の長さが {length} 手になっている",
    "after the {plies} plies of the variation there are legal moves"
        => "読み筋の {plies} 手の後に合法手がある",
    "no score was told"
        => "評価値を伝えなかった",
    "the mate in `{text}` was told as `{score}`"
        => "`{text}` の詰みを `{score}` と伝えた",
    "a mate in {plies} plies in `{text}` was told as `{score}`"
        => "`{text}` の {plies} 手詰めを `{score}` と伝えた",
    "a mate in {plies} moves, counted in plies, in `{text}` was told as `{score}`"
        => "`{text}` の {plies} 手詰めを `{score}` と伝えた",
    "who is far ahead and to move in `{text}` has `{score}`"
        => "`{text}` は手番側が大きく優勢なのに、評価値が `{score}` になっている",
    "no variation was told"
        => "読み筋を伝えなかった",
    "at depth {depth} there is no line {number} of 3"
        => "深さ {depth} で、3 本のうち {number} 番の読み筋がない",
    "lines of depth {depth} begin alike: {heads}"
        => "深さ {depth} で初手の同じ読み筋がある: {heads}",
    "lines of depth {depth} are not in order of their scores"
        => "深さ {depth} の読み筋が評価値の順に並んでいない",

    "depth {depth} after depth {deepest}"
        => "深さ {deepest} の後に深さ {depth} を送った",
    "{nodes} nodes in {time} ms are {usual} in a second, and not {nps}"
        => "{time} ms で {nodes} ノードなら 1 秒あたり {usual} で、{nps} ではない",
    "it tells {told} ms when {passed} ms have passed"
        => "{passed} ms の経過時間を {told} ms と伝えた",
    "the engine tells no time"
        => "エンジンは時間を伝えない",
    "for {ms} ms no nodes were told"
        => "{ms} ms の間、ノード数を伝えなかった",
    "it came after {ms} ms"
        => "探索開始から {ms} ms で送った",
    "there were {lines} lines in {time} ms"
        => "{time} ms で {lines} 行を送った",
    "a variation stands in the text after `string`"
        => "`string` の後の文に読み筋がある",

    "line {number} of {most}"
        => "読み筋は {most} 本までなのに、{number} 番を送った",
    "line {number} comes after line {before}"
        => "{before} 番の読み筋の後に {number} 番を送った",
    "with one legal move and three lines there was no `bestmove`"
        => "合法手が一つで候補手が三つのとき、`bestmove` がなかった",
    "there is one legal move, and there are {lines} lines"
        => "合法手は一つなのに、読み筋が {lines} 本ある",
    "nobody has asked for `currline`"
        => "求められていない `currline` を送った",
    "nobody has asked for `refutation`"
        => "求められていない `refutation` を送った",
    "in 1.8 s there was no such line"
        => "1.8 秒の間に該当する行がなかった",

    "the mate in `{text}` was not found"
        => "`{text}` の詰みを見つけなかった",
    "who is mated by the next move in `{text}` has `{score}`"
        => "`{text}` は手番側が次の手で詰まされるのに、評価値が `{score}` になっている",
    "in `{text}` there is no mate in {told} plies; the shortest takes {plies}"
        => "`{text}` に {told} 手の詰みはなく、最短は {plies} 手",
    "in `{text}` the side to move can mate, and has `{score}`"
        => "`{text}` は手番側が詰ませられるのに、評価値が `{score}` になっている",
    "the mate in `{text}` was told as `cp {cp}`"
        => "`{text}` の詰みを `cp {cp}` と伝えた",
    "`{word}` draws by repetition, and has `{score}`"
        => "`{word}` は同一局面で引き分けになるのに、評価値が `{score}` になっている",
    "nobody has asked for `wdl`"
        => "求められていない `wdl` を送った",
    "`cp {cp}` has {wins} wins and {losses} losses"
        => "`cp {cp}` なのに、勝ちが {wins}、負けが {losses} になっている",
}
