//! The fields of a message: `name: value` pieces between commas.

/// One piece of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field<'a> {
    /// `name: value`, both without surrounding white space; the value is not empty.
    Named {
        /// All that stands before the first colon.
        name: &'a [u8],
        /// All that stands behind it.
        value: &'a [u8],
    },
    /// `swa=900`: the rest of a value that itself holds a comma.
    Continued(&'a [u8]),
    /// Anything else.
    Junk(&'a [u8]),
}

impl<'a> Field<'a> {
    /// The value of a named field, the whole piece otherwise.
    #[must_use]
    pub fn value(self) -> &'a [u8] {
        match self {
            Self::Named { value, .. } => value,
            Self::Continued(piece) | Self::Junk(piece) => piece,
        }
    }
}

/// Splits a message at its commas, those inside brackets excepted.
///
/// ```
/// use accsim::evidence::{Field, Fields};
///
/// let mut fields = Fields::new(b" accept len: 3.52, est uncap acc len: 3.71 [3.55, 3.87], ");
/// assert_eq!(fields.next(), Some(Field::Named { name: b"accept len", value: b"3.52" }));
/// assert_eq!(fields.next(), Some(Field::Named { name: b"est uncap acc len", value: b"3.71 [3.55, 3.87]" }));
/// assert_eq!(fields.next(), None);
/// ```
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// The fields of `message`: what stands behind the head of a record.
    #[must_use]
    pub fn new(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    /// The text of the fields that are left.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Whether no field is left.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.rest.iter().all(|byte| *byte == b',' || byte.is_ascii_whitespace())
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        while !self.rest.is_empty() {
            let comma = end_of_piece(self.rest);
            let (piece, rest) = self.rest.split_at_checked(comma).unwrap_or((self.rest, &[]));
            self.rest = rest.get(1..).unwrap_or(&[]);
            let piece = piece.trim_ascii();
            if !piece.is_empty() {
                return Some(classify(piece));
            }
        }
        None
    }
}

/// The value of the field called `name`, as printed.
pub(super) fn value<'a>(message: &'a [u8], name: &str) -> Option<&'a [u8]> {
    Fields::new(message).find_map(|field| match field {
        Field::Named { name: found, value } if found == name.as_bytes() => Some(value),
        _ => None,
    })
}

/// Index of the first comma outside brackets, or the length. A bracket that never closes hides no comma.
fn end_of_piece(text: &[u8]) -> usize {
    let comma = memchr::memchr(b',', text).unwrap_or(text.len());
    let piece = text.get(..comma).unwrap_or(text);
    if memchr::memchr2(b'(', b'[', piece).is_none() { comma } else { end_of_bracketed_piece(text, comma) }
}

fn end_of_bracketed_piece(text: &[u8], first_comma: usize) -> usize {
    let mut depth = 0_usize;
    for (index, byte) in text.iter().enumerate() {
        match byte {
            b',' if depth == 0 => return index,
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    if depth == 0 { text.len() } else { first_comma }
}

fn classify(piece: &[u8]) -> Field<'_> {
    if let Some(colon) = memchr::memchr(b':', piece) {
        let (name, value) = piece.split_at_checked(colon).unwrap_or((piece, &[]));
        let value = value.get(1..).unwrap_or(&[]).trim_ascii_start();
        if !name.is_empty() && !value.is_empty() {
            return Field::Named { name: name.trim_ascii_end(), value };
        }
        return Field::Junk(piece);
    }
    let is_pool = memchr::memchr(b'=', piece).and_then(|equals| piece.get(..equals)).is_some_and(|pool| {
        !pool.is_empty() && pool.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'_')
    });
    if is_pool { Field::Continued(piece) } else { Field::Junk(piece) }
}
