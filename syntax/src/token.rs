//! Tokens of models and queries.
//!
//! One lexer serves both; [`crate::lexer`] then turns keywords of models back into names where
//! queries do not reserve them. Words that later versions of the language reserved (`abs`, `exit`,
//! `location`, `query`, `string`, `import` …) are plain identifiers here: the grammar recognises
//! them by their context, so old models can keep using them as names.

use logos::Logos;

/// The kind of a token.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[logos(skip r"[ \t\r\n\x0b\x0c\u{feff}\u{a0}]+")]
#[logos(skip r"\\[ \t]*\r?\n")]
#[repr(u8)]
#[allow(missing_docs)]
pub enum TokenKind {
    // Trivia that the lexer keeps.
    #[regex(r"//[^\r\n]*", allow_greedy = true)]
    LineComment,
    #[token("/*", block_comment)]
    BlockComment,

    // Literals and names.
    #[regex(r"[A-Za-z_][A-Za-z0-9_$#]*")]
    Ident,
    #[regex(r"[0-9]+")]
    Nat,
    #[regex(r"[0-9]+\.[0-9]+([eE][+-]?[0-9]+)?")]
    #[regex(r"[0-9]+[eE][+-]?[0-9]+")]
    #[regex(r"\.[0-9]+([eE][+-]?[0-9]+)?")]
    Float,
    #[regex(r#""[^"\r\n]*""#)]
    Str,

    // Punctuation.
    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("[")]
    LBracket,
    #[token("]")]
    RBracket,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
    #[token(",")]
    Comma,
    #[token(";")]
    Semi,
    #[token(":")]
    Colon,
    #[token(".")]
    Dot,
    #[token("?")]
    Question,
    #[token("'")]
    Prime,
    /// Counts steps in statistical queries, `Pr[#<=10]`; no other text has it.
    #[token("#")]
    Hash,
    #[token("->")]
    Arrow,
    #[token("-u->")]
    UncontrollableArrow,
    #[token("-->")]
    LeadsTo,

    // Operators.
    #[token("=")]
    #[token(":=")]
    Assign,
    #[token("+=")]
    AddAssign,
    #[token("-=")]
    SubAssign,
    #[token("*=")]
    MulAssign,
    #[token("/=")]
    DivAssign,
    #[token("%=")]
    ModAssign,
    #[token("&=")]
    AndAssign,
    #[token("|=")]
    OrAssign,
    #[token("^=")]
    XorAssign,
    #[token("<<=")]
    ShlAssign,
    #[token(">>=")]
    ShrAssign,
    #[token("++")]
    PlusPlus,
    #[token("--")]
    MinusMinus,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("**")]
    StarStar,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("<<")]
    Shl,
    #[token(">>")]
    Shr,
    #[token("<?")]
    MinOp,
    #[token(">?")]
    MaxOp,
    #[token("<")]
    Lt,
    #[token("<=")]
    Le,
    #[token(">=")]
    Ge,
    /// `=<` of the 3.x syntax.
    #[token("=<")]
    LegacyLe,
    /// `=>` of the 3.x syntax.
    #[token("=>")]
    LegacyGe,
    #[token(">")]
    Gt,
    #[token("==")]
    EqEq,
    #[token("!=")]
    NotEq,
    #[token("&&")]
    AndAnd,
    #[token("||")]
    OrOr,
    #[token("&")]
    Amp,
    #[token("|")]
    Pipe,
    #[token("^")]
    Caret,
    #[token("!")]
    Bang,

    // Words in expressions.
    #[token("and")]
    And,
    #[token("or")]
    Or,
    #[token("xor")]
    Xor,
    #[token("not")]
    Not,
    #[token("imply")]
    Imply,
    #[token("true")]
    True,
    #[token("false")]
    False,
    #[token("forall")]
    Forall,
    #[token("exists")]
    Exists,
    #[token("sum")]
    Sum,

    // Types and declarations.
    #[token("const")]
    Const,
    #[token("meta")]
    Meta,
    #[token("hybrid")]
    Hybrid,
    #[token("urgent")]
    Urgent,
    #[token("broadcast")]
    Broadcast,
    #[token("int")]
    Int,
    #[token("bool")]
    Bool,
    #[token("clock")]
    Clock,
    #[token("chan")]
    Chan,
    #[token("double")]
    Double,
    #[token("void")]
    Void,
    #[token("scalar")]
    Scalar,
    #[token("scalarset")]
    Scalarset,
    #[token("struct")]
    Struct,
    #[token("typedef")]
    Typedef,
    #[token("process")]
    Process,
    #[token("system")]
    System,
    #[token("priority")]
    Priority,
    #[token("default")]
    Default,
    #[token("progress")]
    Progress,
    #[token("gantt")]
    Gantt,
    #[token("before_update")]
    BeforeUpdate,
    #[token("after_update")]
    AfterUpdate,
    #[token("dynamic")]
    Dynamic,

    // Processes.
    #[token("state")]
    State,
    #[token("branchpoint")]
    Branchpoint,
    #[token("commit")]
    Commit,
    #[token("init")]
    Init,
    #[token("trans")]
    Trans,
    #[token("select")]
    Select,
    #[token("guard")]
    Guard,
    #[token("sync")]
    Sync,
    #[token("assign")]
    AssignKw,
    #[token("probability")]
    Probability,

    // Statements.
    #[token("for")]
    For,
    #[token("while")]
    While,
    #[token("do")]
    Do,
    #[token("if")]
    If,
    #[token("else")]
    Else,
    #[token("return")]
    Return,
    #[token("assert")]
    Assert,

    /// `deadlock`, in queries only.
    Deadlock,
    /// `/*` without `*/`: covers the rest of the text.
    UnclosedComment,
    /// A character that starts no token.
    Unknown,
}

fn block_comment(lex: &mut logos::Lexer<'_, TokenKind>) -> bool {
    match lex.remainder().find("*/") {
        Some(end) => {
            lex.bump(end + 2);
            true
        }
        None => {
            lex.bump(lex.remainder().len());
            false
        }
    }
}

impl TokenKind {
    /// Every kind, in the order of the discriminants.
    pub(crate) const ALL: [TokenKind; 113] = {
        use TokenKind::*;
        [
            LineComment,
            BlockComment,
            Ident,
            Nat,
            Float,
            Str,
            LParen,
            RParen,
            LBracket,
            RBracket,
            LBrace,
            RBrace,
            Comma,
            Semi,
            Colon,
            Dot,
            Question,
            Prime,
            Hash,
            Arrow,
            UncontrollableArrow,
            LeadsTo,
            Assign,
            AddAssign,
            SubAssign,
            MulAssign,
            DivAssign,
            ModAssign,
            AndAssign,
            OrAssign,
            XorAssign,
            ShlAssign,
            ShrAssign,
            PlusPlus,
            MinusMinus,
            Plus,
            Minus,
            StarStar,
            Star,
            Slash,
            Percent,
            Shl,
            Shr,
            MinOp,
            MaxOp,
            Lt,
            Le,
            Ge,
            LegacyLe,
            LegacyGe,
            Gt,
            EqEq,
            NotEq,
            AndAnd,
            OrOr,
            Amp,
            Pipe,
            Caret,
            Bang,
            And,
            Or,
            Xor,
            Not,
            Imply,
            True,
            False,
            Forall,
            Exists,
            Sum,
            Const,
            Meta,
            Hybrid,
            Urgent,
            Broadcast,
            Int,
            Bool,
            Clock,
            Chan,
            Double,
            Void,
            Scalar,
            Scalarset,
            Struct,
            Typedef,
            Process,
            System,
            Priority,
            Default,
            Progress,
            Gantt,
            BeforeUpdate,
            AfterUpdate,
            Dynamic,
            State,
            Branchpoint,
            Commit,
            Init,
            Trans,
            Select,
            Guard,
            Sync,
            AssignKw,
            Probability,
            For,
            While,
            Do,
            If,
            Else,
            Return,
            Assert,
            Deadlock,
            UnclosedComment,
            Unknown,
        ]
    };

    /// Whether the token is a comment.
    pub fn is_comment(self) -> bool {
        matches!(
            self,
            TokenKind::LineComment | TokenKind::BlockComment | TokenKind::UnclosedComment
        )
    }

    /// Whether the token is a reserved word of models.
    pub fn is_keyword(self) -> bool {
        (TokenKind::And as u8..=TokenKind::Assert as u8).contains(&(self as u8))
    }

    /// The keyword that `text` is in models, if any.
    pub fn keyword(text: &str) -> Option<TokenKind> {
        let kind = TokenKind::lexer(text).next()?.ok()?;
        (kind.is_keyword() && kind.text() == text).then_some(kind)
    }

    /// How a message names the token: by its text if that is fixed, else by its class.
    pub fn describe(self) -> String {
        match self {
            TokenKind::Ident => "a name".to_owned(),
            TokenKind::Nat => "a number".to_owned(),
            TokenKind::Float => "a decimal number".to_owned(),
            TokenKind::Str => "a string".to_owned(),
            TokenKind::LineComment | TokenKind::BlockComment | TokenKind::UnclosedComment => {
                "a comment".to_owned()
            }
            TokenKind::Unknown => "an unknown character".to_owned(),
            kind => format!("`{}`", kind.text()),
        }
    }

    /// The fixed text of a token; empty for tokens that have none.
    pub fn text(self) -> &'static str {
        use TokenKind::*;
        match self {
            LineComment | BlockComment | Ident | Nat | Float | Str | UnclosedComment | Unknown => {
                ""
            }
            LParen => "(",
            RParen => ")",
            LBracket => "[",
            RBracket => "]",
            LBrace => "{",
            RBrace => "}",
            Comma => ",",
            Semi => ";",
            Colon => ":",
            Dot => ".",
            Question => "?",
            Prime => "'",
            Hash => "#",
            Arrow => "->",
            UncontrollableArrow => "-u->",
            LeadsTo => "-->",
            Assign => "=",
            AddAssign => "+=",
            SubAssign => "-=",
            MulAssign => "*=",
            DivAssign => "/=",
            ModAssign => "%=",
            AndAssign => "&=",
            OrAssign => "|=",
            XorAssign => "^=",
            ShlAssign => "<<=",
            ShrAssign => ">>=",
            PlusPlus => "++",
            MinusMinus => "--",
            Plus => "+",
            Minus => "-",
            StarStar => "**",
            Star => "*",
            Slash => "/",
            Percent => "%",
            Shl => "<<",
            Shr => ">>",
            MinOp => "<?",
            MaxOp => ">?",
            Lt => "<",
            Le => "<=",
            Ge => ">=",
            LegacyLe => "=<",
            LegacyGe => "=>",
            Gt => ">",
            EqEq => "==",
            NotEq => "!=",
            AndAnd => "&&",
            OrOr => "||",
            Amp => "&",
            Pipe => "|",
            Caret => "^",
            Bang => "!",
            And => "and",
            Or => "or",
            Xor => "xor",
            Not => "not",
            Imply => "imply",
            True => "true",
            False => "false",
            Forall => "forall",
            Exists => "exists",
            Sum => "sum",
            Const => "const",
            Meta => "meta",
            Hybrid => "hybrid",
            Urgent => "urgent",
            Broadcast => "broadcast",
            Int => "int",
            Bool => "bool",
            Clock => "clock",
            Chan => "chan",
            Double => "double",
            Void => "void",
            Scalar => "scalar",
            Scalarset => "scalarset",
            Struct => "struct",
            Typedef => "typedef",
            Process => "process",
            System => "system",
            Priority => "priority",
            Default => "default",
            Progress => "progress",
            Gantt => "gantt",
            BeforeUpdate => "before_update",
            AfterUpdate => "after_update",
            Dynamic => "dynamic",
            State => "state",
            Branchpoint => "branchpoint",
            Commit => "commit",
            Init => "init",
            Trans => "trans",
            Select => "select",
            Guard => "guard",
            Sync => "sync",
            AssignKw => "assign",
            Probability => "probability",
            For => "for",
            While => "while",
            Do => "do",
            If => "if",
            Else => "else",
            Return => "return",
            Assert => "assert",
            Deadlock => "deadlock",
        }
    }
}
