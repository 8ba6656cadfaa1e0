//! `$(( ))`: whole numbers, `+ - * / %` and parentheses.

/// The value of an expression whose variables are already resolved; none for anything else.
pub(super) fn value(text: &str) -> Option<i64> {
    let mut reader = Reader { rest: text.as_bytes(), depth: 0 };
    let value = reader.sum()?;
    reader.skip();
    reader.rest.is_empty().then_some(value)
}

/// Whether an expression is true, as `(( ))` has it: not 0, or a comparison that holds.
pub(super) fn holds(text: &str) -> Option<bool> {
    let text = text.trim();
    for operator in ["==", "!=", "<=", ">=", "<", ">"] {
        let Some((left, right)) = text.split_once(operator) else { continue };
        let (left, right) = (value(left)?, value(right)?);
        return Some(match operator {
            "==" => left == right,
            "!=" => left != right,
            "<=" => left <= right,
            ">=" => left >= right,
            "<" => left < right,
            _ => left > right,
        });
    }
    match text.strip_prefix('!') {
        Some(rest) => Some(value(rest)? == 0),
        None => Some(value(text)? != 0),
    }
}

struct Reader<'a> {
    rest: &'a [u8],
    depth: usize,
}

impl Reader<'_> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    fn next_is(&mut self, wanted: u8) -> bool {
        self.skip();
        match self.rest.split_first() {
            Some((first, rest)) if *first == wanted => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    fn sum(&mut self) -> Option<i64> {
        let mut value = self.product()?;
        loop {
            if self.next_is(b'+') {
                value = value.checked_add(self.product()?)?;
            } else if self.next_is(b'-') {
                value = value.checked_sub(self.product()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn product(&mut self) -> Option<i64> {
        let mut value = self.factor()?;
        loop {
            if self.next_is(b'*') {
                value = value.checked_mul(self.factor()?)?;
            } else if self.next_is(b'/') {
                value = value.checked_div(self.factor()?)?;
            } else if self.next_is(b'%') {
                value = value.checked_rem(self.factor()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn factor(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > 64 {
            return None;
        }
        if self.next_is(b'(') {
            let value = self.sum()?;
            self.depth -= 1;
            return self.next_is(b')').then_some(value);
        }
        if self.next_is(b'-') {
            let value = self.factor()?.checked_neg();
            self.depth -= 1;
            return value;
        }
        self.skip();
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, rest) = self.rest.split_at_checked(digits)?;
        self.rest = rest;
        self.depth -= 1;
        std::str::from_utf8(number).ok()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn whole_numbers() {
        assert_eq!(super::value("3 + 1"), Some(4));
        assert_eq!(super::value("2*(3-1)/2 % 3"), Some(2));
        assert_eq!(super::value("-(2) + 5"), Some(3));
        for text in ["", "x", "1 +", "1/0", "1 2", "9223372036854775807 + 1", "(1"] {
            assert_eq!(super::value(text), None, "{text}");
        }
        assert_eq!(super::value(&"(".repeat(10_000)), None);
    }
}
