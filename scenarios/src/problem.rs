//! Places in a file, and what is wrong there.
//!
//! Every error of this crate is a [`Problem`]: it names the file, points at the bytes, says what was expected and what
//! did exist, and what to do. A file is read to its end, so one run shows all of its problems.

use std::{fmt, ops::Range, sync::Arc};

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};

/// A range of bytes of the file that is being read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Span { start: range.start, end: range.end }
    }
}

/// A value and where it was written. Two of them are equal when their values are.
#[derive(Clone, Copy, Debug)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Puts a place to a value.
    pub fn new(value: T, span: Span) -> Self {
        Spanned { value, span }
    }

    /// The same place with another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: change(self.value), span: self.span }
    }
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: fmt::Display> fmt::Display for Spanned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

/// A file by the name that errors print, and its text.
pub type Source = Arc<NamedSource<String>>;

/// Makes a [`Source`].
pub fn source(name: &str, text: &str) -> Source {
    Arc::new(NamedSource::new(name, text.to_owned()).with_language("toml"))
}

/// One thing that is wrong with a scenario or a plan, or with what it asks of a run.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", details.message)]
pub struct Problem {
    // Boxed, because a problem travels in the error half of many results.
    details: Box<Details>,
}

#[derive(Clone, Debug)]
struct Details {
    message: String,
    label: String,
    span: Span,
    help: Option<String>,
    earlier: Option<(String, Span)>,
    source: Source,
}

impl Problem {
    /// A problem at `span`; `message` is one line, `label` stands at the place itself.
    pub fn new(source: &Source, span: Span, message: impl Into<String>, label: impl Into<String>) -> Self {
        let (message, label, source) = (message.into(), label.into(), Arc::clone(source));
        Problem { details: Box::new(Details { message, label, span, help: None, earlier: None, source }) }
    }

    /// Says what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.details.help = Some(help.into());
        self
    }

    /// Points at a second place that explains the first.
    #[must_use]
    pub fn earlier(mut self, label: impl Into<String>, span: Span) -> Self {
        self.details.earlier = Some((label.into(), span));
        self
    }

    /// Where it is.
    pub fn span(&self) -> Span {
        self.details.span
    }

    /// The name of the file.
    pub fn file(&self) -> &str {
        self.details.source.name()
    }
}

impl Diagnostic for Problem {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.details.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&*self.details.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let at =
            |label: &str, span: Span| LabeledSpan::new(Some(label.to_owned()), span.start, span.end.saturating_sub(span.start));
        let mut labels = vec![at(&self.details.label, self.details.span)];
        labels.extend(self.details.earlier.iter().map(|(label, span)| at(label, *span)));
        Some(Box::new(labels.into_iter()))
    }
}

/// All that is wrong with one file; never empty.
#[derive(Clone, Debug)]
pub struct Problems {
    first: Problem,
    more: Vec<Problem>,
}

impl Problems {
    /// The problems in the order of the file, or nothing when there are none.
    pub fn of(mut list: Vec<Problem>) -> Option<Self> {
        list.sort_by_key(Problem::span);
        let mut list = list.into_iter();
        list.next().map(|first| Problems { first, more: list.collect() })
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        std::iter::once(&self.first).chain(&self.more)
    }
}

impl From<Problem> for Problems {
    fn from(first: Problem) -> Self {
        Problems { first, more: Vec::new() }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.more.len() {
            0 => self.first.fmt(f),
            more => write!(f, "failed to read {}: {} problems", self.first.file(), more + 1),
        }
    }
}

impl std::error::Error for Problems {}

// With one problem the list is that problem, so that a reader sees one report and not a report inside a report.
impl Diagnostic for Problems {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        if self.more.is_empty() { Diagnostic::help(&self.first) } else { None }
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        if self.more.is_empty() { self.first.source_code() } else { None }
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        if self.more.is_empty() { self.first.labels() } else { None }
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        if self.more.is_empty() {
            return None;
        }
        Some(Box::new(self.iter().map(|problem| problem as &dyn Diagnostic)))
    }
}
