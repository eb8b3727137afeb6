//! Enums whose variants are words of the language.

/// Declares an enum together with the words that files use for its variants: `WORDS`, `word()`, `Display`, `FromStr`.
macro_rules! words {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$about:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        $vis enum $name { $($(#[$about])* $variant,)+ }

        impl $name {
            /// The words, in the order of the variants.
            pub const WORDS: &'static [&'static str] = &[$($word),+];
            /// The variants.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The word for it.
            pub const fn word(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::words::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($word => Ok($name::$variant),)+
                    _ => Err($crate::words::UnknownWord { word: text.to_owned(), known: Self::WORDS }),
                }
            }
        }
    };
}

pub(crate) use words;

/// A word that the enum does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown word `{word}`: expected one of {}", known.join(", "))]
pub struct UnknownWord {
    /// What was given.
    pub word: String,
    /// What there is.
    pub known: &'static [&'static str],
}
