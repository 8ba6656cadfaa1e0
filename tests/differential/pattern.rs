//! The patterns of the slow reader. White space is that of ASCII without the vertical tab.

use std::sync::LazyLock;

use regex::bytes::Regex;

macro_rules! pattern {
    ($name:ident, $text:expr) => {
        pub(crate) static $name: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(concat!("(?s-u)", $text)).unwrap());
    };
}

pattern!(RUNTIME, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[^ ]* (stdout|stderr) ([PF])(?: (.*))?$");
pattern!(WORD, r"Decode|Prefill|server_args=|Cache flushed");
pattern!(
    HEAD,
    r"(Decode|Prefill) batch|(?:Decode|Prefill) [a-z]* batch|(server_args=)|(Cache flushed successfully!)"
);
pattern!(DOCKER, r#"^[ \t\n\x0c\r]*\{"log":""#);
pattern!(ESCAPE, r"\x1b(?:\[[0-?]*[ -/]*[A-Za-z~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-~])?");
pattern!(BRACKET, r"\[[^\[\]]*\][ \t\n\x0c\r]*$");
pattern!(CUT_BRACKET, r"\][ \t\n\x0c\r]*$");
pattern!(TIME, r"^((?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d(?:\.\d+)?)");
pattern!(TAG, r"^([A-Z_]{1,8})(\d{1,8})$");
pattern!(TOUCHING, r#"(?:["'`]|\\[nrt])$"#);
pattern!(MARKDOWN, r"^(?:[>|].*|[-*+#_~ ]+|\d+[.)])$");
pattern!(
    PROSE,
    r"(?:^|[ \t\n\x0c\r])[a-z]+[:,]?[ \t\n\x0c\r]+[a-z]+[:,]?[ \t\n\x0c\r]+[a-z]+[:,]?[ \t\n\x0c\r]+$"
);
pattern!(BLANK, r"^[ \t\n\x0c\r\x00]*$");
pattern!(LABEL, r"^(?:\d.*:|[^ \t\n\x0c\r]*:|.*\]:|\d.*[ \t\n\x0c\r](?:-|DEBUG|INFO|WARNING|ERROR)|.*[|)])$");
pattern!(CUT_HEAD, r"^(?: \[)?\d*(?:[ \t\n\x0c\r]*|\])$");
pattern!(ITERATION, r"^ \[(\d{1,18})(?:[ \t\n\x0c\r%][^\]]*)?\]");
pattern!(RAY, r" \[repeated \d+x across cluster\]");
pattern!(CONTINUED, r"^[a-z_]+=");
pattern!(POOLS, r"^[a-z]+=");
pattern!(INTEGER, r"^(\d{1,18})(?:[ \t\n\x0c\r%]|$)");
pattern!(NEGATIVE_INTEGER, r"^-\d{1,18}(?:[ \t\n\x0c\r%]|$)");
pattern!(F2, r"^(\d{1,18}\.\d\d)(?:[ \t\n\x0c\r%]|$)");
pattern!(NEGATIVE_F2, r"^-\d{1,18}\.\d\d(?:[ \t\n\x0c\r%]|$)");
pattern!(NOT_FINITE, r"^-?(?:nan|inf)(?:[ \t\n\x0c\r%]|$)");
pattern!(BOOLEAN, r"^(True|False)(?:[ \t\n\x0c\r%]|$)");
pattern!(GRAPH, r"^(cuda|cpu|npu|musa) graph$");
pattern!(NAME, r"^[A-Za-z0-9#_+./() %-]{1,64}$");
pattern!(MIXED, r#"\x22|:[ \t\n\x0c\r]|:$|\[\d+[-:]"#);
