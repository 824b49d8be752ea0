//! Options with standardized or conventional names.

use crate::dialect::Dialect;
use crate::language::Language;

/// The party that sets an option.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum SetBy {
    /// The user, in the engine settings.
    User,
    /// The client, derived from the game and the search.
    Client,
    /// Neither: it describes the engine or applies to single positions.
    Elsewhere,
}

struct OptionEntry {
    name: &'static str,
    aliases: &'static [&'static str],
    option_type: OptionType,
    set_by: SetBy,
    english: Text,
    japanese: Text,
    clause: &'static str,
}

struct Text {
    label: &'static str,
    description: &'static str,
}

macro_rules! known_options {
    ($($option:ident = $name:literal $(| $alias:literal)*, $option_type:ident, $set_by:ident {
        en: $en_label:literal, $en:literal,
        ja: $ja_label:literal, $ja:literal,
        clause: $clause:literal,
    })*) => {
        /// An option with a standardized or conventional name.
        ///
        /// Some have values with a syntax of their own: [`Opponent`](crate::Opponent),
        /// [`PositionValue`](crate::PositionValue) and [`PathList`](crate::PathList).
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        pub enum KnownOption {
            $(
                #[doc = concat!("`", $name, "`: ", $en, ".")]
                $option,
            )*
        }

        impl KnownOption {
            /// All known options.
            pub const ALL: &'static [Self] = &[$(Self::$option),*];

            const fn entry(self) -> OptionEntry {
                match self {
                    $(Self::$option => OptionEntry {
                        name: $name,
                        aliases: &[$($alias),*],
                        option_type: OptionType::$option_type,
                        set_by: SetBy::$set_by,
                        english: Text { label: $en_label, description: $en },
                        japanese: Text { label: $ja_label, description: $ja },
                        clause: $clause,
                    },)*
                }
            }
        }
    };
}

impl KnownOption {
    /// Finds an option by name, in any equivalent spelling of the dialect: in USI, `Hash`, `USI_Hash`
    /// and `usi_hash` are equal.
    pub fn find(name: &str, dialect: Dialect) -> Option<Self> {
        Self::ALL.iter().copied().find(|option| {
            let OptionEntry { name: usual, aliases, .. } = option.entry();
            [usual].iter().chain(aliases).any(|known| dialect.same_option(known, name))
        })
    }

    /// The UCI name. [`Dialect::option_name`] converts it to another dialect.
    pub const fn name(self) -> &'static str {
        self.entry().name
    }

    /// The expected type. `filename` is accepted for `string`.
    pub const fn option_type(self) -> OptionType {
        self.entry().option_type
    }

    /// The party that sets the option.
    pub const fn set_by(self) -> SetBy {
        self.entry().set_by
    }

    /// A short label.
    pub const fn label(self, language: Language) -> &'static str {
        self.text(language).label
    }

    /// A description in one sentence without a full stop.
    pub const fn description(self, language: Language) -> &'static str {
        self.text(language).description
    }

    /// The specification or engine that defines the option.
    pub const fn clause(self) -> &'static str {
        self.entry().clause
    }

    const fn text(self, language: Language) -> Text {
        match language {
            Language::English => self.entry().english,
            Language::Japanese => self.entry().japanese,
        }
    }
}

impl Dialect {
    /// Whether setting this option without a declaration is no violation: GUIs set the options of
    /// [`SetBy::Client`] in any case.
    pub fn tolerates_undeclared(self, name: &str) -> bool {
        let known = KnownOption::find(name, self);
        self.sends_undeclared(name) || known.is_some_and(|known| known.set_by() == SetBy::Client)
    }

    /// Whether the engine settings omit an option: one that is set elsewhere, or an unknown one with a
    /// reserved prefix (UCI 2006, option name; USI draft 1 §5.3, option name).
    pub fn hides_option(self, name: &str) -> bool {
        match KnownOption::find(name, self) {
            Some(known) => known.set_by() != SetBy::User,
            None => self.fixes_meaning(name),
        }
    }
}

known_options! {
    Hash = "Hash", Spin, User {
        en: "Hash size (MB)", "Memory for the hash tables, in megabytes",
        ja: "ハッシュサイズ (MB)", "ハッシュ表に使うメモリの量 (メガバイト)",
        clause: "UCI 2006, option: <id> = Hash; USI draft 1 §5.3: <id> = USI_Hash",
    }
    Ponder = "Ponder", Check, Client {
        en: "Ponder", "Allow the engine to think on the opponent's time",
        ja: "先読み", "相手の手番中にも考えさせることがある",
        clause: "UCI 2006, option: <id> = Ponder; USI draft 1 §5.3: <id> = USI_Ponder",
    }
    OwnBook = "OwnBook", Check, User {
        en: "Own book", "Play openings from the engine's own book",
        ja: "エンジンの定跡", "エンジン自身の定跡を使って指す",
        clause: "UCI 2006, option: <id> = OwnBook; USI draft 1 §5.3: <id> = USI_OwnBook",
    }
    MultiPv = "MultiPV", Spin, Client {
        en: "Number of lines", "How many of the best lines to show",
        ja: "候補手の数", "読み筋を上位からいくつ表示するか",
        clause: "UCI 2006, option: <id> = MultiPV; USI draft 1 §5.3: <id> = USI_MultiPV",
    }
    ShowCurrLine = "UCI_ShowCurrLine", Check, User {
        en: "Show current line", "Show the line that is being searched",
        ja: "探索中の手順を表示", "今調べている手順を表示する",
        clause: "UCI 2006, option: <id> = UCI_ShowCurrLine; USI draft 1 §5.3: <id> = USI_ShowCurrLine",
    }
    ShowRefutations = "UCI_ShowRefutations", Check, User {
        en: "Show refutations", "Show the best answer to each move",
        ja: "反駁手を表示", "それぞれの手に対する最善の応手を表示する",
        clause: "UCI 2006, option: <id> = UCI_ShowRefutations; USI draft 1 §5.3: <id> = USI_ShowRefutations",
    }
    LimitStrength = "UCI_LimitStrength", Check, User {
        en: "Limit strength", "Play no better than the strength that is set",
        ja: "棋力を制限", "設定した棋力に合わせて指す",
        clause: "UCI 2006, option: <id> = UCI_LimitStrength; USI draft 1 §5.3: <id> = USI_LimitStrength",
    }
    Elo = "UCI_Elo", Spin, User {
        en: "Strength (Elo)", "The strength to play with when it is limited, as an Elo rating",
        ja: "棋力 (Elo)", "棋力を制限したときの強さ (Elo レーティング)",
        clause: "UCI 2006, option: <id> = UCI_Elo",
    }
    Strength = "USI_Strength", Spin, User {
        en: "Strength (kyu and dan)", "The strength to play with when it is limited: kyu below zero, amateur dan above",
        ja: "棋力 (級・段)", "棋力を制限したときの強さ。負の数は級、正の数はアマチュアの段",
        clause: "USI draft 1 §5.3: <id> = USI_Strength",
    }
    AnalyseMode = "UCI_AnalyseMode", Check, Client {
        en: "Analysis mode", "The engine analyses and does not play a game",
        ja: "検討モード", "対局ではなく検討をしている",
        clause: "UCI 2006, option: <id> = UCI_AnalyseMode; USI draft 1 §5.3: <id> = USI_AnalyseMode",
    }
    Opponent = "UCI_Opponent", String, Client {
        en: "Opponent", "Title, rating, kind and name of the opponent",
        ja: "対局相手", "対局相手の称号、レーティング、種類、名前",
        clause: "UCI 2006, option: <id> = UCI_Opponent",
    }
    EngineAbout = "UCI_EngineAbout", String, Elsewhere {
        en: "About the engine", "Information about the engine, such as its license",
        ja: "エンジンについて", "ライセンスなど、エンジン自身についての説明",
        clause: "UCI 2006, option: <id> = UCI_EngineAbout",
    }
    SetPositionValue = "UCI_SetPositionValue", String, Elsewhere {
        en: "Value of a position", "The score that the engine gives to one position",
        ja: "局面の評価値", "特定の局面に与える評価値",
        clause: "UCI 2006, option: <id> = UCI_SetPositionValue",
    }
    Chess960 = "UCI_Chess960", Check, Client {
        en: "Chess960", "The game is played by the rules of Chess960",
        ja: "チェス960", "チェス960のルールで指す",
        clause: "UCI 2006, Chess960: UCI_Chess960",
    }
    NalimovPath = "NalimovPath", String, User {
        en: "Nalimov tablebases", "Directories of the Nalimov endgame tablebases, separated by `;`",
        ja: "Nalimov テーブルベース", "Nalimov 終盤データベースのフォルダー (区切りは `;`)",
        clause: "UCI 2006, option: <id> = NalimovPath",
    }
    NalimovCache = "NalimovCache", Spin, User {
        en: "Nalimov cache (MB)", "Memory to cache the Nalimov tablebases in, in megabytes",
        ja: "Nalimov キャッシュ (MB)", "Nalimov 終盤データベースのキャッシュの量 (メガバイト)",
        clause: "UCI 2006, option: <id> = NalimovCache",
    }
    ShredderbasesPath = "UCI_ShredderbasesPath", String, User {
        en: "Shredderbases", "Directory or file of the Shredder endgame databases",
        ja: "Shredder 終盤データベース", "Shredder 終盤データベースのフォルダーまたはファイル",
        clause: "UCI 2006, option: <id> = UCI_ShredderbasesPath",
    }
    Threads = "Threads", Spin, User {
        en: "Threads", "Number of search threads",
        ja: "スレッド数", "探索に使うスレッドの数",
        clause: "The UCI Protocol, option: Threads",
    }
    ClearHash = "Clear Hash", Button, User {
        en: "Clear hash", "Forget everything in the hash tables",
        ja: "ハッシュを消去", "ハッシュ表の内容をすべて消す",
        clause: "The UCI Protocol, option: Clear Hash",
    }
    MoveOverhead = "Move Overhead", Spin, User {
        en: "Move overhead (ms)", "Time lost on the way for each move, in milliseconds",
        ja: "通信の遅れ (ms)", "1手ごとに通信などで失われる時間 (ミリ秒)",
        clause: "The UCI Protocol, option: Move Overhead",
    }
    SyzygyPath = "SyzygyPath", String, User {
        en: "Syzygy tablebases", "Directories of the Syzygy endgame tablebases",
        ja: "Syzygy テーブルベース", "Syzygy 終盤データベースのフォルダー",
        clause: "The UCI Protocol, option: SyzygyPath",
    }
    DebugLogFile = "Debug Log File" | "DebugLogFile", String, User {
        en: "Debug log", "File for a log of all input and output of the engine",
        ja: "デバッグログ", "エンジンとのやり取りを書き出すファイル",
        clause: "The UCI Protocol, setoption: Debug Log File",
    }
    Variant = "UCI_Variant", Combo, Client {
        en: "Variant", "The game, or the variant of it, that is played",
        ja: "ゲームの種類", "対局するゲームの種類",
        clause: "no text; as deployed by Fairy-Stockfish",
    }
    ShowWdl = "UCI_ShowWDL", Check, User {
        en: "Show WDL", "Show win, draw and loss probabilities next to the score",
        ja: "勝率を表示", "評価値とともに勝ち・引き分け・負けの確率を表示する",
        clause: "no text; as deployed by Stockfish and lc0",
    }
    ShowEps = "UCI_ShowEPS", Check, User {
        en: "Show evaluations", "Show how many evaluations a second the network makes",
        ja: "評価回数を表示", "評価関数の毎秒の計算回数を表示する",
        clause: "no text; as deployed by lc0",
    }
    ShowMovesLeft = "UCI_ShowMovesLeft", Check, User {
        en: "Show moves left", "Show how many moves the game is expected to last",
        ja: "残り手数を表示", "終局までの予想手数を表示する",
        clause: "no text; as deployed by lc0",
    }
    RatingAdv = "UCI_RatingAdv", String, Elsewhere {
        en: "Rating advantage", "How much higher than the opponent the engine is rated",
        ja: "レーティング差", "相手に対するレーティングの差",
        clause: "no text; as deployed by lc0",
    }
    Contempt = "Contempt", Spin, User {
        en: "Contempt", "How much to avoid draws, in hundredths of a pawn",
        ja: "引き分け回避", "引き分けを避ける度合い (歩の100分の1単位)",
        clause: "no text; as deployed by earlier Stockfish, and by lc0 as a string",
    }
    SkillLevel = "Skill Level", Spin, User {
        en: "Skill level", "Lower levels play weaker moves on purpose",
        ja: "スキルレベル", "低いほどわざと弱い手を指す",
        clause: "no text; as deployed by Stockfish",
    }
    NodesTime = "nodestime", Spin, User {
        en: "Nodes as time", "Count searched positions in place of time: this many for a millisecond",
        ja: "ノード数で計時", "時間の代わりにノード数で計る (1ミリ秒あたりのノード数)",
        clause: "no text; as deployed by Stockfish",
    }
    SyzygyProbeDepth = "SyzygyProbeDepth", Spin, User {
        en: "Syzygy probe depth", "The smallest depth at which tablebases are asked",
        ja: "Syzygy 参照深さ", "終盤データベースを参照する最小の深さ",
        clause: "no text; as deployed by Stockfish",
    }
    Syzygy50MoveRule = "Syzygy50MoveRule", Check, User {
        en: "Syzygy 50-move rule", "Count as a draw what the 50-move rule makes one",
        ja: "Syzygy 50手ルール", "50手ルールで引き分けになる局面を引き分けとみなす",
        clause: "no text; as deployed by Stockfish",
    }
    SyzygyProbeLimit = "SyzygyProbeLimit", Spin, User {
        en: "Syzygy probe limit", "The largest number of men for which tablebases are asked",
        ja: "Syzygy 駒数の上限", "終盤データベースを参照する駒数の上限",
        clause: "no text; as deployed by Stockfish",
    }
    EvalFile = "EvalFile", String, User {
        en: "Evaluation file", "File of the network that judges positions",
        ja: "評価関数ファイル", "評価関数のファイル",
        clause: "no text; as deployed by Stockfish and YaneuraOu",
    }
    UseNnue = "Use NNUE", Check, User {
        en: "Use the network", "Judge positions by the neural network",
        ja: "ニューラルネットワークを使用", "ニューラルネットワークで局面を評価する",
        clause: "no text; as deployed by earlier Stockfish and Fairy-Stockfish",
    }
    NumaPolicy = "NumaPolicy", String, User {
        en: "NUMA policy", "Distribution of threads over the NUMA nodes of the computer",
        ja: "NUMA の方針", "大きな計算機でスレッドをどう割り当てるか",
        clause: "no text; as deployed by Stockfish and YaneuraOu",
    }
    StochasticPonder = "Stochastic_Ponder", Check, User {
        en: "Stochastic ponder", "Ponder without guessing the opponent's move",
        ja: "確率的な先読み", "相手の手を決め打ちせずに先読みする",
        clause: "no text; as deployed by YaneuraOu and dlshogi",
    }
    EnteringKingRule = "EnteringKingRule", Combo, User {
        en: "Entering king rule", "The rule by which an entered king wins",
        ja: "入玉ルール", "入玉したときの勝敗を決めるルール",
        clause: "no text; as deployed by YaneuraOu",
    }
    MaxMovesToDraw = "MaxMovesToDraw", Spin, User {
        en: "Moves until a draw", "The game is drawn after this many moves; 0 for no limit",
        ja: "引き分けの手数", "この手数で引き分けとする。0は制限なし",
        clause: "no text; as deployed by YaneuraOu",
    }
    ResignValue = "ResignValue", Spin, User {
        en: "Resign value", "Resign when the score falls this far below zero",
        ja: "投了値", "評価値がこの値だけ下回ったら投了する",
        clause: "no text; as deployed by YaneuraOu",
    }
    DrawValueBlack = "DrawValueBlack", Spin, User {
        en: "Value of a draw (black)", "The score of a draw for an engine that plays black",
        ja: "引き分けの価値 (先手)", "エンジンが先手のときの引き分けの評価値",
        clause: "no text; as deployed by YaneuraOu",
    }
    DrawValueWhite = "DrawValueWhite", Spin, User {
        en: "Value of a draw (white)", "The score of a draw for an engine that plays white",
        ja: "引き分けの価値 (後手)", "エンジンが後手のときの引き分けの評価値",
        clause: "no text; as deployed by YaneuraOu",
    }
    NetworkDelay = "NetworkDelay", Spin, User {
        en: "Usual delay (ms)", "Time that is usually lost on the way for each move, in milliseconds",
        ja: "平均の通信遅延 (ms)", "1手ごとの平均的な通信の遅れ (ミリ秒)",
        clause: "no text; as deployed by YaneuraOu",
    }
    NetworkDelay2 = "NetworkDelay2", Spin, User {
        en: "Largest delay (ms)", "Time that is at most lost on the way for each move, in milliseconds",
        ja: "最大の通信遅延 (ms)", "1手ごとの最大の通信の遅れ (ミリ秒)",
        clause: "no text; as deployed by YaneuraOu",
    }
    MinimumThinkingTime = "MinimumThinkingTime", Spin, User {
        en: "Shortest thinking time (ms)", "Time to think about a move at least, in milliseconds",
        ja: "最小思考時間 (ms)", "1手に最低限使う時間 (ミリ秒)",
        clause: "no text; as deployed by YaneuraOu",
    }
    SlowMover = "SlowMover" | "Slow Mover", Spin, User {
        en: "Slow mover (%)", "How much time to spend early in the game, in percent",
        ja: "序盤重視率 (%)", "序盤にどれだけ時間を使うか (パーセント)",
        clause: "no text; as deployed by YaneuraOu, and earlier Stockfish",
    }
    RoundUpToFullSecond = "RoundUpToFullSecond", Check, User {
        en: "Use full seconds", "Use up each second that has begun",
        ja: "秒単位で使い切る", "始まった1秒を使い切ってから指す",
        clause: "no text; as deployed by YaneuraOu",
    }
    BookFile = "BookFile", Combo, User {
        en: "Opening book", "File of the opening book",
        ja: "定跡ファイル", "定跡のファイル",
        clause: "no text; as deployed by YaneuraOu",
    }
    EvalDir = "EvalDir", String, User {
        en: "Evaluation directory", "Directory of the evaluation files",
        ja: "評価関数フォルダー", "評価関数のファイルがあるフォルダー",
        clause: "no text; as deployed by YaneuraOu",
    }
    FvScale = "FV_SCALE", Spin, User {
        en: "Evaluation scale", "What the output of the network is divided by",
        ja: "評価値の倍率", "評価関数の出力を割る数",
        clause: "no text; as deployed by YaneuraOu",
    }
    PvInterval = "PvInterval", Spin, User {
        en: "Interval of output (ms)", "Time between two reports of the search, in milliseconds",
        ja: "出力の間隔 (ms)", "読み筋を出力する間隔 (ミリ秒)",
        clause: "no text; as deployed by YaneuraOu",
    }
    ConsiderationMode = "ConsiderationMode", Check, User {
        en: "Analysis output", "Write lines that suit an analysis",
        ja: "検討用の出力", "検討に適した読み筋を出力する",
        clause: "no text; as deployed by YaneuraOu",
    }
    OutputFailLhPv = "OutputFailLHPV", Check, User {
        en: "Show bounds", "Report scores that are only bounds",
        ja: "途中の評価値を出力", "下限や上限しかわからない評価値も出力する",
        clause: "no text; as deployed by YaneuraOu",
    }
    GenerateAllLegalMoves = "GenerateAllLegalMoves", Check, User {
        en: "All legal moves", "Search moves that are hardly ever good, too, such as not promoting",
        ja: "すべての合法手", "歩の不成など、ほとんど指されない手も調べる",
        clause: "no text; as deployed by YaneuraOu",
    }
    DepthLimit = "DepthLimit", Spin, User {
        en: "Depth limit", "The depth to end each search at; 0 for no limit",
        ja: "深さの上限", "探索を打ち切る深さ。0は制限なし",
        clause: "no text; as deployed by YaneuraOu",
    }
    NodesLimit = "NodesLimit", Spin, User {
        en: "Node limit", "The number of positions to end each search at; 0 for no limit",
        ja: "ノード数の上限", "探索を打ち切るノード数。0は制限なし",
        clause: "no text; as deployed by YaneuraOu",
    }
}

/// The types of options in the protocols.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum OptionType {
    /// True or false.
    Check,
    /// A whole number.
    Spin,
    /// One of several choices.
    Combo,
    /// An action of the engine.
    Button,
    /// A text.
    String,
    /// The path of a file (USI).
    Filename,
}

impl OptionType {
    pub(crate) fn from_token(token: &str) -> Option<Self> {
        Some(match token.as_bytes() {
            b"check" => Self::Check,
            b"spin" => Self::Spin,
            b"combo" => Self::Combo,
            b"button" => Self::Button,
            b"string" => Self::String,
            b"filename" => Self::Filename,
            _ => return None,
        })
    }
}
