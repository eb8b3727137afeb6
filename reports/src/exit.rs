//! The exit code a report leads to.

use crate::model::SuiteReport;
use crate::run::RunResult;
use crate::verdict::Verdict;

/// What the process ends with. One enum for every command; when several apply, see [`ExitCode::first`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// Every run conforms, or fails as the baseline lists it.
    Conforms = 0,
    /// A run was violated, went off-script, or the engine panicked.
    Failed = 1,
    /// The command line cannot be understood, or a file does not parse.
    Usage = 2,
    /// The harness's own fault: nothing is said about the host.
    HarnessFault = 3,
    /// Nothing ran: no scenario matches, or none has captures for the version asked for.
    NothingRan = 4,
    /// The baseline lists a failure that no longer happens.
    StaleBaseline = 5,
    /// One run, played twice, went two ways.
    Nondeterminism = 6,
    /// What had to come did not come within its bound.
    Liveness = 7,
}

/// What the report cannot say by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// A file did not parse, or an argument makes no sense, and the rest was run all the same.
    pub usage: bool,
    /// The harness failed outside any run.
    pub harness_fault: bool,
    /// Two whole suites differed, although no single run of this report says so.
    pub nondeterminism: bool,
}

impl ExitCode {
    /// Every code, the one that counts before the others first.
    pub const PRECEDENCE: [Self; 8] = [
        Self::HarnessFault,
        Self::Usage,
        Self::Nondeterminism,
        Self::Failed,
        Self::Liveness,
        Self::StaleBaseline,
        Self::NothingRan,
        Self::Conforms,
    ];

    /// The number.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// What it means, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Conforms => "conforms",
            Self::Failed => "violated, off-script or engine panicked",
            Self::Usage => "usage, or a file that does not parse",
            Self::HarnessFault => "the harness's own fault",
            Self::NothingRan => "nothing ran",
            Self::StaleBaseline => "stale baseline",
            Self::Nondeterminism => "nondeterminism",
            Self::Liveness => "liveness",
        }
    }

    /// The one that counts when several apply: 3 > 2 > 6 > 1 > 7 > 5 > 4 > 0; *conforms* when none does.
    pub fn first(codes: impl IntoIterator<Item = Self>) -> Self {
        codes.into_iter().min_by_key(|code| rank(*code)).unwrap_or(Self::Conforms)
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.code())
    }
}

/// The place of a code in [`ExitCode::PRECEDENCE`].
pub(crate) fn rank(code: ExitCode) -> usize {
    ExitCode::PRECEDENCE.iter().position(|other| *other == code).unwrap_or(ExitCode::PRECEDENCE.len())
}

/// What one run contributes. A listed failure contributes nothing, a run that is not repeatable always does.
pub(crate) fn codes_of(run: &RunResult) -> Vec<ExitCode> {
    let verdict = match run.verdict {
        _ if run.known.is_some() => None,
        Verdict::HarnessFault => Some(ExitCode::HarnessFault),
        Verdict::EnginePanicked | Verdict::Violated | Verdict::OffScript => Some(ExitCode::Failed),
        Verdict::Liveness => Some(ExitCode::Liveness),
        Verdict::Conforms => None,
    };
    verdict.into_iter().chain(run.nondeterminism.as_ref().map(|_| ExitCode::Nondeterminism)).collect()
}

/// The exit code of a suite.
pub fn exit_code(report: &SuiteReport, flags: Flags) -> ExitCode {
    let mut codes: Vec<ExitCode> = report.results.iter().flat_map(codes_of).collect();
    for (applies, code) in [
        (flags.harness_fault, ExitCode::HarnessFault),
        (flags.usage, ExitCode::Usage),
        (flags.nondeterminism, ExitCode::Nondeterminism),
        (!report.stale.is_empty(), ExitCode::StaleBaseline),
        (report.results.is_empty(), ExitCode::NothingRan),
    ] {
        if applies {
            codes.push(code);
        }
    }
    ExitCode::first(codes)
}
