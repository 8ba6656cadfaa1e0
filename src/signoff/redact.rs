//! The one place where secrets are taken out of what a report quotes.

/// What stands in place of a secret.
const HIDDEN: &str = "***";

/// What names of secrets end in, with underscores and in lower case.
const SECRET_NAMES: [&str; 18] = [
    "token",
    "api_key",
    "apikey",
    "access_key",
    "secret_key",
    "private_key",
    "secret",
    "password",
    "passwd",
    "credential",
    "credentials",
    "authorization",
    "auth",
    "signature",
    "sig",
    "pass",
    "passphrase",
    "pwd",
];

/// What tokens of well-known services begin with.
const SECRET_STARTS: [&str; 14] = [
    "hf_",
    "sk-",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "nvapi-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "ASIA",
    "AIza",
];

/// A text without what looks like a secret: credentials and query values of URLs, values of names like `token` or
/// `--api-key`, tokens of well-known services, and long random words.
///
/// ```
/// use accsim::signoff::redact;
///
/// assert_eq!(redact("s3://user:pass@host/model?token=abc"), "s3://***@host/model?token=***");
/// assert_eq!(redact("HF_TOKEN=abc x"), "HF_TOKEN=*** x");
/// assert_eq!(redact("lmsysorg/sglang:v0.5.16@sha256:aaaa"), "lmsysorg/sglang:v0.5.16@sha256:aaaa");
/// ```
#[must_use]
pub fn redact(text: &str) -> String {
    let text = credentials(text);
    let text = queries(&text);
    let text = named(&text);
    words(&text)
}

/// Whether a letter ends a URL, a path, a value.
fn is_end(letter: char) -> bool {
    letter.is_whitespace() || letter.is_control() || "\"'`,;()[]{}<>|".contains(letter)
}

/// `scheme://user:pass@host`, and `user:pass@host` without a scheme; an image's `name:tag@sha256:..` is none.
fn credentials(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('@') {
        let (before, behind) = rest.split_at(at);
        let from = before.rfind(|letter: char| is_end(letter) || "/=#".contains(letter)).map_or(0, |found| {
            found + before.get(found..).and_then(|tail| tail.chars().next()).map_or(1, char::len_utf8)
        });
        let (head, user) = before.split_at(from);
        let is_digest = ["@sha256:", "@sha384:", "@sha512:"].iter().any(|mark| behind.starts_with(mark));
        let is_url = head.ends_with("://");
        let has_host = behind.get(1..).is_some_and(|host| host.starts_with(char::is_alphanumeric));
        let is_pair =
            user.split_once(':').is_some_and(|(name, secret)| !name.is_empty() && !secret.is_empty());
        if !is_digest && !user.is_empty() && has_host && (is_url || is_pair) {
            out.push_str(head);
            out.push_str(HIDDEN);
            rest = behind.get(last_of_credentials(behind)..).unwrap_or("");
        } else {
            out.push_str(before);
            rest = behind;
        }
        out.push('@');
        rest = rest.get(1..).unwrap_or("");
    }
    out.push_str(rest);
    out
}

/// The last `@` in front of the host: passwords may hold some too.
fn last_of_credentials(text: &str) -> usize {
    let end = text
        .find(|letter: char| letter.is_whitespace() || letter.is_control() || "\"'`<>/?#".contains(letter));
    let near = text.get(..end.unwrap_or(text.len())).unwrap_or(text);
    let is_of_digest = |at: usize| near.get(at..).is_some_and(|rest| rest.starts_with("@sha"));
    near.rmatch_indices('@').map(|(at, _)| at).find(|at| !is_of_digest(*at)).unwrap_or(0)
}

/// `hfToken` as `hf_token`.
fn snake(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut was_lower = false;
    for letter in name.trim_matches('-').chars() {
        if was_lower && letter.is_ascii_uppercase() {
            out.push('_');
        }
        was_lower = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        out.push(if letter == '-' { '_' } else { letter.to_ascii_lowercase() });
    }
    out
}

/// `path?name=value&name=value`: the names stay.
fn queries(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('?') {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        out.push('?');
        let behind = behind.get(1..).unwrap_or("");
        let end = behind.find(is_end).unwrap_or(behind.len());
        let (query, further) = behind.split_at(end);
        let is_query = !before.is_empty() && !before.ends_with(is_end) && query.contains('=');
        if is_query {
            let pairs = query.split('&').map(|pair| match pair.split_once('=') {
                Some((name, _)) => format!("{name}={HIDDEN}"),
                None => HIDDEN.to_owned(),
            });
            out.push_str(&pairs.collect::<Vec<_>>().join("&"));
        } else {
            out.push_str(query);
        }
        rest = further;
    }
    out.push_str(rest);
    out
}

fn is_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || letter == '-'
}

/// `HF_TOKEN=x`, `"api_key": "x"`, `--api-key x`, `Authorization: Bearer x`.
fn named(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_name) {
        let (before, word) = rest.split_at(start);
        out.push_str(before);
        let end = word.find(|letter| !is_name(letter)).unwrap_or(word.len());
        let (name, behind) = word.split_at(end);
        out.push_str(name);
        rest = behind;
        let plain = snake(name);
        let is_bearer = matches!(plain.as_str(), "bearer" | "basic");
        let is_secret = SECRET_NAMES.iter().any(|secret| {
            plain.strip_suffix(secret).is_some_and(|head| head.is_empty() || head.ends_with('_'))
        });
        if !is_secret && !is_bearer {
            continue;
        }
        let Some(value) = value_behind(behind, is_bearer || name.starts_with("--")) else { continue };
        let (mark, value) = behind.split_at(value);
        let end = value
            .find(|letter: char| is_end(letter) || letter == '&' || letter == '\\')
            .unwrap_or(value.len());
        let (secret, further) = value.split_at(end);
        let scheme = secret.to_ascii_lowercase();
        if secret.is_empty() || matches!(scheme.as_str(), "none" | "null" | "bearer" | "basic" | HIDDEN) {
            continue;
        }
        out.push_str(mark);
        out.push_str(HIDDEN);
        rest = further;
    }
    out.push_str(rest);
    out
}

/// Where the value begins behind a name: `=x`, `": "x`, or a blank alone where one suffices.
fn value_behind(text: &str, blank_suffices: bool) -> Option<usize> {
    let mut has_mark = false;
    let mut has_blank = false;
    for (at, letter) in text.char_indices() {
        match letter {
            '=' | ':' if !has_mark => has_mark = true,
            ' ' | '\t' => has_blank = true,
            // A word of a printed list: `'--api-key', 'x'`.
            ',' if blank_suffices => has_mark = true,
            '"' | '\'' | '\\' => {}
            _ => return (has_mark || (blank_suffices && has_blank)).then_some(at),
        }
    }
    None
}

/// Words that are tokens by their form alone.
fn words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_name) {
        let (before, word) = rest.split_at(start);
        out.push_str(before);
        let end = word.find(|letter| !is_name(letter)).unwrap_or(word.len());
        let (word, behind) = word.split_at(end);
        rest = behind;
        if !is_token(word) {
            out.push_str(word);
            continue;
        }
        out.push_str(HIDDEN);
        // A web token goes on behind its dots.
        if word.starts_with("eyJ") {
            let end = rest.find(|letter| !is_name(letter) && letter != '.').unwrap_or(rest.len());
            rest = rest.get(end..).unwrap_or("");
        }
    }
    out.push_str(rest);
    out
}

fn is_token(word: &str) -> bool {
    const SHORTEST_TAIL: usize = 8;
    const SHORTEST: usize = 32;
    let is_known = SECRET_STARTS.iter().any(|start| {
        word.strip_prefix(start).is_some_and(|tail| {
            tail.len() >= SHORTEST_TAIL
                && tail.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        })
    });
    let is_web = word.starts_with("eyJ") && word.len() >= 16;
    // Random letters of both cases and digits, without a break: digests and commits have one case.
    let is_random = word.split(['-', '_']).any(|part| {
        let count = |is: fn(&u8) -> bool| part.as_bytes().iter().filter(|byte| is(byte)).count();
        part.len() >= SHORTEST
            && count(u8::is_ascii_digit) >= 3
            && count(u8::is_ascii_uppercase) >= 3
            && count(u8::is_ascii_lowercase) >= 3
    });
    is_known || is_web || is_random
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_every_form() {
        for (text, expected) in [
            ("https://hf:abc@huggingface.co/m", "https://***@huggingface.co/m"),
            ("https://abc@host/m", "https://***@host/m"),
            ("docker://user:pass@registry/x:1", "docker://***@registry/x:1"),
            ("user:pass@registry/x:1", "***@registry/x:1"),
            ("https://u:p@ss@w@host/m", "https://***@host/m"),
            ("u:p@ss@host/m:1@sha256:00", "***@host/m:1@sha256:00"),
            ("hfToken=abc", "hfToken=***"),
            ("\"apiKey\": \"abc\"", "\"apiKey\": \"***\""),
            ("db_pass=abc passphrase: abc", "db_pass=*** passphrase: ***"),
            ("https://h/m;sig=abc", "https://h/m;sig=***"),
            ("model_path=s3://a:b@c/d", "model_path=s3://***@c/d"),
            ("r/x:v1?token=abc&b=2 is", "r/x:v1?token=***&b=*** is"),
            ("HF_TOKEN=abc", "HF_TOKEN=***"),
            ("{\"model\": \"m\", \"hf_token\": \"abc\"}", "{\"model\": \"m\", \"hf_token\": \"***\"}"),
            ("{'api_key': 'abc', 'b': 1}", "{'api_key': '***', 'b': 1}"),
            ("{\\\"token\\\": \\\"abc\\\"}", "{\\\"token\\\": \\\"***\\\"}"),
            ("--api-key abc --tp 4", "--api-key *** --tp 4"),
            ("'--api-key', 'abc'", "'--api-key', '***'"),
            ("Authorization: Bearer abc", "Authorization: Bearer ***"),
            ("x hf_0123456789abcdef", "x ***"),
            ("models/sk-0123456789abcdef/x", "models/***/x"),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-d", "***"),
            ("a4Gk9ZpQ2LmXc7RtVb1NsWy6HdJfKe8U", "***"),
        ] {
            assert_eq!(redact(text), expected);
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for text in [
            "SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token",
            "num_speculative_tokens=5, max_total_tokens: 4096",
            "lmsysorg/sglang:v0.5.16-cu130@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
            "api_key=None",
            "did you mean x? C4: 3.61 injected, golden is 3.51",
            "models--org--Qwen3-30B-A3B-Instruct/snapshots/0123456789abcdef0123456789abcdef01234567",
            "dsv41flash_dspark thinking_on, draft length 5, from golden/dsv41flash_dspark.yaml",
            "python@3.12, a@b",
            "",
        ] {
            assert_eq!(redact(text), text);
        }
    }

    #[test]
    fn redacting_twice_changes_nothing_more() {
        for text in
            ["s3://u:p@h/m?token=a&b=c", "--api-key abc", "\"token\": \"abc\"", "Bearer abc", "@@?=?&=@"]
        {
            let once = redact(text);
            assert_eq!(redact(&once), once, "{text}");
        }
    }
}
