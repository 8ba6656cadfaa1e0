use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;

fn shape(node: &Node) -> String {
    match node {
        Node::Scalar(scalar) => scalar.text.to_string(),
        Node::Sequence(sequence) => {
            format!("[{}]", sequence.items.iter().map(shape).collect::<Vec<_>>().join(","))
        }
        Node::Mapping(mapping) => {
            let entry = |entry: &Entry| format!("{}:{}", entry.key.text, shape(&entry.value));
            format!("{{{}}}", mapping.entries.iter().map(entry).collect::<Vec<_>>().join(","))
        }
    }
}

fn fault(text: &str) -> (usize, usize, YamlErrorKind) {
    let error = parse(text).unwrap_err();
    (error.at.line, error.at.column, error.kind)
}

#[test]
fn every_node_knows_its_place() {
    let root = parse("# c\na:\n  - x\n  - {k: 'v'}\n").unwrap();
    let Node::Mapping(root) = root else { panic!("{root:?}") };
    let entry = &root.entries[0];
    assert_eq!((entry.key.at.line, entry.key.at.column), (2, 1));
    let Node::Sequence(items) = &entry.value else { panic!("{root:?}") };
    assert_eq!((items.items[0].at().line, items.items[0].at().column), (3, 5));
    let Node::Mapping(flow) = &items.items[1] else { panic!("{root:?}") };
    let Node::Scalar(value) = &flow.entries[0].value else { panic!("{root:?}") };
    assert_eq!((value.at.line, value.at.column, value.style), (4, 9, ScalarStyle::Quoted));
}

#[test]
fn byte_order_mark_and_line_ends_do_not_move_positions() {
    for text in ["\u{feff}a: 1\r\nb: 2\r\n", "a: 1\nb: 2", "a: 1\rb: 2\r", "\u{feff}a: 1  \nb: 2  \n"] {
        let Node::Mapping(root) = parse(text).unwrap() else { panic!("{text:?}") };
        let at = |index: usize| (root.entries[index].key.at.line, root.entries[index].key.at.column);
        assert_eq!((at(0), at(1)), ((1, 1), (2, 1)), "{text:?}");
    }
}

#[test]
fn a_text_without_a_document_is_an_empty_value() {
    for text in ["", "# only a comment\n", "\u{feff}", "---\n", "\n\n"] {
        assert_eq!(parse(text).unwrap().kind(), NodeKind::Null, "{text:?}");
    }
}

#[test]
fn keys_that_are_one_number_are_duplicates() {
    for second in ["3", "\"3\"", "'03'", "+3", "003"] {
        let text = format!("a:\n  3: x\n  {second}: y\n");
        let (line, column, kind) = fault(&text);
        assert_eq!((line, column), (3, 3), "{second}");
        let YamlErrorKind::DuplicateKey { first, .. } = kind else { panic!("{kind:?}") };
        assert_eq!((first.line, first.column), (2, 3), "{second}");
    }
    for second in ["-3", "3.0", "30", "x3", "+", "''"] {
        assert!(parse(&format!("3: x\n{second}: y\n")).is_ok(), "{second}");
    }
    assert!(parse("0: x\n-0: y\n").is_err());
}

#[test]
fn duplicates_are_found_at_every_level_and_in_flow_form() {
    assert!(matches!(fault("a: 1\nb: 2\na: 3\n"), (3, 1, YamlErrorKind::DuplicateKey { .. })));
    assert!(matches!(fault("a: [{x: 1, x: 2}]\n"), (1, 12, YamlErrorKind::DuplicateKey { .. })));
    assert!(matches!(fault("a: {<<: {x: 1}, <<: {y: 1}}\n"), (1, 17, YamlErrorKind::DuplicateKey { .. })));
}

#[test]
fn aliases_and_merge_keys_resolve_and_local_keys_win() {
    let cases = [
        ("a: &x 1\nb: *x\n", "{a:1,b:1}"),
        ("a: &x {1: p, 3: q}\nb: {<<: *x, 3: r}\n", "{a:{1:p,3:q},b:{1:p,3:r}}"),
        ("a: &x {1: p, 3: q}\nb: {3: r, <<: *x}\n", "{a:{1:p,3:q},b:{3:r,1:p}}"),
        ("a: &x {1: p}\nb: &y {1: s, 2: t}\nc: {<<: [*x, *y]}\n", "{a:{1:p},b:{1:s,2:t},c:{1:p,2:t}}"),
        ("a: {<<: {1: p}}\n", "{a:{1:p}}"),
        ("a: {'<<': {1: p}}\n", "{a:{<<:{1:p}}}"),
        ("a: &k key\n*k : v\n", "{a:key,key:v}"),
        ("a: &x 1\nb: &x 2\nc: *x\n", "{a:1,b:2,c:2}"),
    ];
    for (text, expected) in cases {
        assert_eq!(shape(&parse(text).unwrap()), expected, "{text}");
    }
}

#[test]
fn refusals_say_where_and_what() {
    let cases = [
        ("m:\n  on:\n\t1: 1.78\n", 3, 1, "tab"),
        ("m:\n  - b\n\t- c\n", 3, 1, "tab"),
        ("m:\n  b: 1\n \tc: 2\n", 3, 2, "tab"),
        ("m: {\n\t1: 2\n}\n", 2, 1, "tab"),
        ("a: 1\n---\nb: 2\n", 2, 1, "second document"),
        ("a: 1\n...\nb: 2\n", 3, 1, "second document"),
        ("a: !!str 3\n", 1, 4, "tag"),
        ("? [a]\n: b\n", 1, 3, "a list as a key"),
        ("a: {<<: 3}\n", 1, 9, "merge key"),
        ("a: {<<: [{x: 1}, 3]}\n", 1, 18, "merge key"),
        ("a: &x [*x]\n", 1, 8, "inside its own anchor"),
        ("a: *nope\n", 1, 4, "unknown anchor"),
        ("a: 1\u{1b}[31m\n", 1, 5, "U+001B"),
        ("a: 1\0b: 2\n", 1, 5, "U+0000"),
        ("a: [1, 2\n", 2, 1, "invalid YAML"),
    ];
    for (text, line, column, word) in cases {
        let error = parse(text).unwrap_err();
        assert_eq!((error.at.line, error.at.column), (line, column), "{text:?}: {error}");
        assert!(error.to_string().contains(word), "{text:?}: {error}");
    }
    let error = parse_bytes(b"a: 1\nb: \xff\n").unwrap_err();
    assert_eq!((error.at.line, error.at.column, error.kind), (2, 4, YamlErrorKind::NotUtf8));
}

#[test]
fn a_late_complaint_names_the_value_before_it() {
    let error = parse("m:\n  1: 1.78\n  3:2.83\n").unwrap_err();
    assert!(error.to_string().contains("line 2, column 6"), "{error}");
}

#[test]
fn tabs_that_yaml_allows_are_allowed() {
    assert_eq!(shape(&parse("a: |\n  x\n  \ty\n").unwrap()), "{a:x\n\ty\n}");
    assert_eq!(shape(&parse("a: 1\t# c\n\t\nb: 2\n").unwrap()), "{a:1,b:2}");
}

#[test]
fn expansion_is_bounded() {
    let mut laughs = String::from("a0: &a0 [x, x]\n");
    for level in 1..40 {
        let below = level - 1;
        writeln!(laughs, "a{level}: &a{level} [*a{below}, *a{below}]").unwrap();
    }
    assert!(matches!(parse(&laughs).unwrap_err().kind, YamlErrorKind::TooManyNodes { .. }));

    let mut chain = String::from("a0: &a0 [x]\n");
    for level in 1..100 {
        writeln!(chain, "a{level}: &a{level} [*a{}]", level - 1).unwrap();
    }
    assert!(matches!(parse(&chain).unwrap_err().kind, YamlErrorKind::TooDeep { .. }));

    let deep = "[".repeat(200) + &"]".repeat(200);
    assert!(matches!(parse(&deep).unwrap_err().kind, YamlErrorKind::TooDeep { limit: 64 }));

    let small = Limits { input_bytes: 8, ..Limits::default() };
    let error = parse_with("a: 1234567", &small).unwrap_err();
    assert_eq!(error.kind, YamlErrorKind::TooLarge { found: 10, limit: 8 });
    let large = vec![b'#'; (1 << 20) + 1];
    assert!(matches!(parse_bytes(&large).unwrap_err().kind, YamlErrorKind::TooLarge { .. }));
}

#[test]
fn quoted_text_is_short_and_harmless() {
    assert_eq!(quoted("1,78"), "'1,78'");
    assert_eq!(quoted("\u{1b}[31m\n"), "'\\u{1b}[31m\\n'");
    assert_eq!(quoted(&"x".repeat(100)).len(), 60 + "'...'".len());
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
        let _ = parse_bytes(&bytes);
    }

    /// Words of YAML in any order reach far more of the parser than random bytes.
    #[test]
    fn arbitrary_yaml_never_panics(words in proptest::collection::vec(
        proptest::sample::select(vec![
            "a", "b: ", "1", " ", "\n", "\n  ", "- ", "? ", ": ", "[", "]", "{", "}", ",", "&a ", "*a", "!!str ",
            "'", "\"", "|\n", "#c", "---\n", "...\n", "%YAML 1.2\n", "\t", "\r\n", "\u{feff}", "<<: ", "~", "\\",
        ]),
        0..40,
    )) {
        let text = words.concat();
        if let Err(error) = parse(&text) {
            let lines = text.split(['\n', '\r']).count();
            prop_assert!(error.at.line >= 1 && error.at.line <= lines + 1, "{error} in {text:?}");
            prop_assert!(error.at.column >= 1);
        }
    }
}
