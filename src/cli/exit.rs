//! Exit codes, part of the contract with scripts.

/// What a finished command tells its caller.
///
/// When several apply to one run, 2 comes before 1, 1 before 3, and 3 before 0: see [`Exit::worst`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done, and every check holds.
    Ok,
    /// Done, and a check found something wrong.
    Wrong,
    /// The command could not be carried out.
    Failed,
    /// The evidence does not allow a decision.
    Undecided,
}

/// Done; every check holds.
pub const EXIT_OK: u8 = 0;
/// Done; a check found something wrong.
pub const EXIT_WRONG: u8 = 1;
/// The command could not be carried out.
pub const EXIT_FAILED: u8 = 2;
/// Cannot decide.
pub const EXIT_UNDECIDED: u8 = 3;

impl Exit {
    /// Every outcome, in the order of its code.
    pub const ALL: [Self; 4] = [Self::Ok, Self::Wrong, Self::Failed, Self::Undecided];

    /// The number that the process ends with.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Ok => EXIT_OK,
            Self::Wrong => EXIT_WRONG,
            Self::Failed => EXIT_FAILED,
            Self::Undecided => EXIT_UNDECIDED,
        }
    }

    /// What the code says, as `--help` and the manual put it.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "done; every check holds (an audit: every point is consistent)",
            Self::Wrong => "done; a check found something wrong (an audit: a point is inconsistent)",
            Self::Failed => {
                "not carried out: bad flag, unknown curve, missing cell, invalid or unreadable file"
            }
            Self::Undecided => "cannot decide: no decode lines, no speculative fields, too few steps",
        }
    }

    /// The one of two that wins.
    ///
    /// ```
    /// use accsim::cli::Exit;
    ///
    /// assert_eq!(Exit::Undecided.worst(Exit::Wrong), Exit::Wrong);
    /// assert_eq!(Exit::Wrong.worst(Exit::Failed), Exit::Failed);
    /// assert_eq!(Exit::Ok.worst(Exit::Undecided), Exit::Undecided);
    /// ```
    #[must_use]
    pub fn worst(self, other: Self) -> Self {
        if self.rank() >= other.rank() { self } else { other }
    }

    fn rank(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Undecided => 1,
            Self::Wrong => 2,
            Self::Failed => 3,
        }
    }
}
