//! What is found about positions and moves, in Japanese.

use super::catalogue;

catalogue! {
    "`{command}` was not followed by `bestmove`"
        => "`{command}` の後、`bestmove` がなかった",
    "after `{command}` the answer is no legal move: `{answer}`"
        => "`{command}` の後の応答が合法手ではない: `{answer}`",
    "after `{command}` `isready` was not answered"
        => "`{command}` の後、`isready` に応答しなかった",
    "after `{command}` and a good position there was no `bestmove`"
        => "`{command}` の後、正しい局面を送っても `bestmove` がなかった",
    "`{word}` is written `{usual}` here"
        => "ここでは `{word}` ではなく `{usual}` と書く",
    "castling was not answered"
        => "キャスリングに応答しなかった",
    "castling is written `{word}` here, not `{mv}`"
        => "ここではキャスリングを `{mv}` ではなく `{word}` と書く",
    "`{go}` is answered with `{mv}`"
        => "`{go}` に `{mv}` を返した",
    "castling was answered with `{answer}`"
        => "キャスリングに `{answer}` を返した",
    "a position without a legal move was not answered"
        => "合法手のない局面に応答しなかった",
    "where no move is legal the answer is `{answer}`"
        => "合法手のない局面で `{answer}` を返した",
    "there was a second `bestmove`"
        => "2 回目の `bestmove` があった",
    "`{command}` and `{go}` were not answered"
        => "`{command}` と `{go}` に応答しなかった",
    "`searchmoves` has no effect"
        => "`searchmoves` が効かない",
    "`{word}` is the only move to choose from, and the answer is `{chosen}`"
        => "選べる手は `{word}` だけなのに `{chosen}` を返した",
    "it plays `{word}`"
        => "`{word}` を指した",

    "move {number}: {error}"
        => "{number} 手目: {error}",
    "illegal move `{word}`: {why}"
        => "`{word}` は指せない ({why})",
    "illegal move `{word}`: {why}: {moves}"
        => "`{word}` は指せない ({why}: {moves})",
    "it is no move of this game"
        => "このゲームの指し手ではない",
    "no piece stands on its first square"
        => "移動元に駒がない",
    "the piece belongs to the opponent"
        => "相手の駒である",
    "the target square holds a piece of the same side"
        => "移動先に自分の駒がある",
    "the piece does not move so"
        => "その駒はそこへ動けない",
    "castling is not possible now"
        => "今はキャスリングできない",
    "the piece has to promote"
        => "成らなければならない",
    "the piece cannot promote so"
        => "そのようには成れない",
    "the king would be in check"
        => "キング (玉) に王手がかかる",
    "no such piece is in hand"
        => "その駒は持っていない",
    "the square is taken"
        => "そのマスには駒がある",
    "the file has a pawn of this side already"
        => "二歩になる",
    "the piece could never move again"
        => "行き所のない駒になる",
    "a dropped pawn may not give mate"
        => "打ち歩詰めになる",
    "the game is too long"
        => "手数が長すぎる",
    "it could be several moves"
        => "複数の手が考えられる",
    "the side to move has no such piece"
        => "手番の側にその駒はない",
    "the other side is to move"
        => "手番が違う",
    "there is no last move"
        => "直前の手がない",
}
