//! The kinds of diagnostics in Japanese.

use super::DiagnosticKind;

impl DiagnosticKind {
    pub(super) const fn japanese(self) -> &'static str {
        match self {
            Self::UnknownToken => "未知の語",
            Self::WrongDirection => "相手側が送るべきメッセージ",
            Self::TrailingText => "メッセージの後の余分な文字列",
            Self::WrongCase => "大文字と小文字の違い",
            Self::Missing => "値がない",
            Self::MissingKeyword => "キーワードがない",
            Self::WrongOrder => "順序の誤り",
            Self::AfterSearchMoves => "`searchmoves` より後にある制限",
            Self::NotANumber => "整数ではない",
            Self::NumberTooLarge => "大きすぎる数",
            Self::NegativeNumber => "負の数",
            Self::Repeated => "同じ項目の重複",
            Self::Conflict => "両立しない項目",
            Self::NotAMove => "指し手ではない",
            Self::MoveRepaired => "標準的でない指し手の表記",
            Self::EmptyList => "空の指し手リスト",
            Self::BadPosition => "局面の書式の誤り",
            Self::UnusualPosition => "標準的でない局面の書式",
            Self::BadDefault => "オプションの値になりえない既定値",
            Self::UnknownType => "未知のオプションの型",
            Self::SpaceInName => "オプション名に含まれる空白",
            Self::NameTooLong => "長すぎるオプション名または型",
            Self::TextTooLong => "長すぎるオプションの文字列",
            Self::TooManyChoices => "多すぎるオプションの選択肢",
            Self::SeldepthWithoutDepth => "`depth` のない `seldepth`",
            Self::ControlCharacter => "制御文字",
            Self::InvalidUtf8 => "UTF-8 ではないバイト列",
        }
    }

    pub(super) const fn japanese_clause(self) -> &'static str {
        match self {
            Self::UnknownToken | Self::TrailingText => {
                "UCI 2006, general rules と USI draft 1 §5.1: 未知の語は読み飛ばし、行の残りを読む"
            }
            Self::WrongDirection => {
                "UCI 2006, “GUI to engine” と “Engine to GUI”: それぞれの側に固有のメッセージがある"
            }
            Self::WrongCase => "UCI 2006: プロトコルの語は小文字で書く",
            Self::Missing => "UCI 2006: この語には値が続く",
            Self::MissingKeyword => "UCI 2006: 続く部分はこの語で始まる",
            Self::WrongOrder => "UCI 2006: このメッセージの各部分の順序は決まっている",
            Self::AfterSearchMoves => {
                "実際の用法 (Stockfish): `searchmoves` は `go` の最後の語で、後に続くのは指し手だけ"
            }
            Self::NotANumber | Self::NumberTooLarge => "UCI 2006: `<x>` は整数",
            Self::NegativeNumber => "UCI 2006: 個数や時間は負にならない",
            Self::Repeated => "UCI 2006, go と info: 各項目の値は一つ",
            Self::Conflict => "The UCI Protocol, info score: 詰みを見つけたときは cp を送らない",
            Self::NotAMove => "UCI 2006, move format; USI draft 1 §5.2",
            Self::MoveRepaired => {
                "UCI 2006, move format と USI draft 1 §5.2: 指し手の書き方は一通り"
            }
            Self::EmptyList => "UCI 2006: `<move1> … <movei>` は一手以上",
            Self::BadPosition => "PGN specification §16.1 (FEN); USI draft 1 §3 (SFEN)",
            Self::UnusualPosition => {
                "PGN specification §16.1 (FEN: 六つの欄); USI draft 1 §3 (SFEN: 持ち駒の順序)"
            }
            Self::BadDefault => "UCI 2006, option: 既定値はそのオプションの値の一つ",
            Self::UnknownType => {
                "UCI 2006, option type: check, spin, combo, button, string。USI ではさらに filename"
            }
            Self::SpaceInName => "USI draft 1 §4: オプション名に空白は使えない",
            Self::NameTooLong | Self::TextTooLong | Self::TooManyChoices => {
                "読み取る側の上限。どのプロトコルにも上限はない"
            }
            Self::SeldepthWithoutDepth => "UCI 2006, info seldepth: 同じ行に depth も送る",
            Self::ControlCharacter => "UCI 2006, general rules: 語は空白で区切る",
            Self::InvalidUtf8 => "USI draft 1 §2: 7 ビットの ASCII。現在は UTF-8",
        }
    }
}
