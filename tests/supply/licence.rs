//! SPDX expressions, as far as crates use them.

/// What one has to accept: a licence, one of several, or all of several.
#[derive(Debug, PartialEq)]
pub(crate) enum Expression {
    One(String),
    Any(Vec<Self>),
    All(Vec<Self>),
}

impl Expression {
    /// Reads `A OR B`, `A AND B`, `A WITH B`, parentheses, and the slash of old manifests, which means OR.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let spaced = text.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
        let mut words: Vec<&str> = spaced.split_whitespace().rev().collect();
        let read = Self::any(&mut words).ok_or_else(|| format!("no licence expression: {text}"))?;
        if words.is_empty() { Ok(read) } else { Err(format!("no licence expression: {text}")) }
    }

    fn any(words: &mut Vec<&str>) -> Option<Self> {
        let mut all = vec![Self::all(words)?];
        while words.pop_if(|word| *word == "OR").is_some() {
            all.push(Self::all(words)?);
        }
        Some(if all.len() == 1 { all.pop()? } else { Self::Any(all) })
    }

    fn all(words: &mut Vec<&str>) -> Option<Self> {
        let mut all = vec![Self::one(words)?];
        while words.pop_if(|word| *word == "AND").is_some() {
            all.push(Self::one(words)?);
        }
        Some(if all.len() == 1 { all.pop()? } else { Self::All(all) })
    }

    fn one(words: &mut Vec<&str>) -> Option<Self> {
        match words.pop()? {
            "(" => {
                let inner = Self::any(words)?;
                (words.pop()? == ")").then_some(inner)
            }
            ")" | "OR" | "AND" | "WITH" => None,
            name if words.pop_if(|word| *word == "WITH").is_some() => {
                Some(Self::One(format!("{name} WITH {}", words.pop()?)))
            }
            name => Some(Self::One(name.to_owned())),
        }
    }

    /// Whether what is allowed suffices.
    pub(crate) fn is_met(&self, is_allowed: &dyn Fn(&str) -> bool) -> bool {
        match self {
            Self::One(name) => is_allowed(name),
            Self::Any(of) => of.iter().any(|one| one.is_met(is_allowed)),
            Self::All(of) => of.iter().all(|one| one.is_met(is_allowed)),
        }
    }
}

#[test]
fn expressions() {
    let met =
        |text: &str| Expression::parse(text).map(|read| read.is_met(&|name| name == "MIT" || name == "ISC"));
    for text in ["MIT", "GPL-3.0 OR MIT", "MIT/GPL-3.0", "(MIT OR X) AND ISC", "X AND Y OR MIT AND ISC"] {
        assert_eq!(met(text), Ok(true), "{text}");
    }
    for text in ["GPL-3.0", "MIT AND GPL-3.0", "MIT WITH Some-exception", "(X OR Y) AND MIT"] {
        assert_eq!(met(text), Ok(false), "{text}");
    }
    for text in ["", "MIT OR", "(MIT", "MIT ISC", "AND"] {
        assert!(met(text).is_err(), "{text}");
    }
}
