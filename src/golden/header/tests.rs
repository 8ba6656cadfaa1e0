use super::*;
use crate::golden::Thinking;

fn parse(lines: &str) -> Header {
    Header::parse(lines)
}

#[test]
fn the_source_run_is_that_of_line_one() {
    let header = parse(
        "# Source GitHub Actions run: https://github.com/o/r/actions/runs/31742838308\n\
         # Source GitHub Actions run: https://github.com/o/r/actions/runs/1\nm:\n",
    );
    assert_eq!(header.source_run.unwrap().id, "31742838308");
    let bare = parse("# Source GitHub Actions run : 34493175056\n").source_run.unwrap();
    assert_eq!((bare.text.as_str(), bare.id.as_str()), ("34493175056", "34493175056"));
    let evidence = parse("# Source evidence: run artefacts of the submitter\n");
    assert_eq!(evidence.source_evidence.as_deref(), Some("run artefacts of the submitter"));
}

#[test]
fn keys_between_bars_are_read_with_or_without_blanks() {
    let header = parse("# dataset : coding | temperature: 1.0|top_p : 0.95 | top_k: 40 | output_len: 4096\n");
    assert_eq!(header.dataset.as_deref(), Some("coding"));
    assert_eq!(header.output_len, Some(4096));
    let sampling = header.sampling;
    assert_eq!((sampling.temperature, sampling.top_p, sampling.top_k), (Some(1.0), Some(0.95), Some(40)));
}

#[test]
fn the_three_forms_of_a_mode_line() {
    let header = parse(
        "# thinking_on chat_template_kwargs: {\"thinking\": true, \"reasoning_effort\": \"high\"}\n\
         # thinking_off: temperature=0.6, chat_template_kwargs: {\"thinking\": false}\n",
    );
    let on = &header.modes[&Thinking::On];
    assert_eq!(on.chat_template_kwargs.as_ref().unwrap()["reasoning_effort"], "high");
    assert!(on.sampling.is_empty());
    let off = &header.modes[&Thinking::Off];
    assert_eq!(off.sampling.temperature, Some(0.6));
    assert_eq!(off.chat_template_kwargs.as_ref().unwrap()["thinking"], false);

    let header = parse(
        "# thinking_on : temp 0.6 top_p 0.95 top_k 20 presence_penalty 0.0 | chat_template_kwargs: {\"a\": 1}\n",
    );
    let sampling = header.modes[&Thinking::On].sampling;
    assert_eq!(
        (sampling.temperature, sampling.top_p, sampling.top_k, sampling.presence_penalty),
        (Some(0.6), Some(0.95), Some(20), Some(0.0))
    );
}

#[test]
fn both_forms_of_the_speculative_configuration() {
    for line in [
        "# speculative-config: method=dspark | draft_sample_method=probabilistic | rejection_sample_method=block\n",
        "# method: dspark | draft_sample_method: probabilistic | rejection_sample_method: block\n",
    ] {
        let header = parse(line);
        assert_eq!(header.method.as_deref(), Some("dspark"), "{line}");
        assert_eq!(header.draft_sample_method.as_deref(), Some("probabilistic"), "{line}");
        assert_eq!(header.rejection_sample_method.as_deref(), Some("block"), "{line}");
    }
}

#[test]
fn measured_on_and_the_server() {
    let header = parse("# Measured on kimi-k3 (B300, vLLM DSpark, draft: Inferact/Kimi-K3-DSpark)\n");
    let measured = header.measured_on.unwrap();
    assert_eq!(measured.model, "kimi-k3");
    assert_eq!(measured.server, ["B300", "vLLM DSpark"]);
    assert_eq!(measured.draft.as_deref(), Some("Inferact/Kimi-K3-DSpark"));

    let nested = parse("# Measured on m (B200 (stated in o/r#1), TP4)\n").measured_on.unwrap();
    assert_eq!(nested.server, ["B200 (stated in o/r#1)", "TP4"]);

    let header = parse("# model: m | image: vllm/vllm-openai:tag | TP: 4\n# Draft model: d/e\n");
    assert_eq!((header.model.as_deref(), header.tp), (Some("m"), Some(4)));
    assert_eq!(header.image.as_deref(), Some("vllm/vllm-openai:tag"));
    assert_eq!(header.draft_model.as_deref(), Some("d/e"));
}

#[test]
fn rejected_draft_lengths_and_legend() {
    let header = parse(
        "# Draft lengths 6-8 rejected by the image\n# key = num_speculative_tokens (K); value = golden AL\n",
    );
    assert_eq!(header.rejected_draft_lengths, Some(6..=8));
    assert_eq!(header.legend.as_deref(), Some("key = num_speculative_tokens (K); value = golden AL"));
}

#[test]
fn counter_lines_count_one_plus_accepted_over_drafts() {
    let header = parse(
        "# thinking_on k=3: AR=0.5055; accepted=128899; proposed=254985; drafts=84995\n\
         # thinking_off k = 7 : spec_num_correct_drafts=149574; spec_verify_ct=55993\n\
         # thinking_on k=4: accepted=x; drafts=2\n",
    );
    let [first, second] = header.counters[..] else { panic!("{:?}", header.counters) };
    assert_eq!((first.thinking, first.draft_length), (Thinking::On, 3));
    assert_eq!((first.accepted, first.drafts), (128_899, 84_995));
    assert!((first.accept_length().unwrap() - 2.516_548).abs() < 5e-7);
    assert!((second.accept_length().unwrap() - 3.671_298).abs() < 5e-7);
    assert_eq!(CounterLine { drafts: 0, ..first }.accept_length(), None);
    let large = CounterLine { accepted: 1 << 40, drafts: 1 << 39, ..first };
    assert!((large.accept_length().unwrap() - 3.0).abs() < 1e-12);
}

#[test]
fn provisional_is_a_word_in_capitals() {
    assert!(parse("# PROVISIONAL: copied from GLM-5.2\n").provisional);
    assert!(parse("# values are PROVISIONAL.\n").provisional);
    assert!(!parse("# no longer provisional\n").provisional);
    assert!(!parse("# NONPROVISIONAL\n").provisional);
}

#[test]
fn the_header_ends_where_content_begins() {
    let header = parse("---\n# dataset: a\n\nm: # PROVISIONAL\n# dataset: b\n# PROVISIONAL\n");
    assert_eq!(header.dataset.as_deref(), Some("a"));
    assert!(!header.provisional);
}

#[test]
fn what_is_not_understood_is_passed_over() {
    for text in [
        "# thinking_on\n# thinking_on chat_template_kwargs: {broken\n",
        "# thinking_only: 3\n# | | : = |\n# Measured on\n# Draft lengths many rejected\n# TP: x\n",
        "# Source GitHub Actions run:\n#\n##\n# temperature: nan | top_k: -1\n",
    ] {
        assert_eq!(parse(text), Header::default(), "{text}");
    }
}
