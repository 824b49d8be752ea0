//! The kinds of oddities in Japanese.

use super::NoteKind;

impl NoteKind {
    pub(super) const fn japanese(self) -> &'static str {
        match self {
            Self::UnknownWord => "未知の語",
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
}
