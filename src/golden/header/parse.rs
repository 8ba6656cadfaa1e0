//! Reading a header, line by line. Separators are `|`; blanks before a colon do not matter.

use super::super::{Sampling, Thinking};
use super::{CounterLine, Header, MeasuredOn, ModeHeader, SourceRun};

impl Header {
    /// Reads the comments above the first line of content; what is not understood is passed over.
    ///
    /// ```
    /// use accsim::golden::Header;
    ///
    /// let header = Header::parse("# dataset: coding | temperature: 1.0\n# PROVISIONAL\nmodel:\n");
    /// assert_eq!(header.dataset.as_deref(), Some("coding"));
    /// assert_eq!(header.sampling.temperature, Some(1.0));
    /// assert!(header.provisional);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut header = Self::default();
        for line in text.trim_start_matches('\u{feff}').split(['\n', '\r']) {
            let line = line.trim();
            if let Some(comment) = line.strip_prefix('#') {
                header.line(comment.trim_start_matches('#').trim());
            } else if !line.is_empty() && line != "---" && !line.starts_with('%') {
                break;
            }
        }
        header
    }

    fn line(&mut self, line: &str) {
        if line.split(|character: char| !character.is_ascii_alphanumeric()).any(|word| word == "PROVISIONAL")
        {
            self.provisional = true;
        }
        if let Some((thinking, rest)) = mode(line) {
            self.mode_line(thinking, rest);
        } else if let Some(rest) = after(line, "Measured on") {
            self.measured_on = self.measured_on.take().or_else(|| measured_on(rest));
        } else if let Some(rest) = after(line, "Draft lengths") {
            self.rejected_draft_lengths = self.rejected_draft_lengths.take().or_else(|| rejected(rest));
        } else if line.starts_with("key") && pair(line).is_some_and(|(key, _)| key == "key") {
            self.legend.get_or_insert_with(|| line.to_owned());
        } else {
            let line = after(line, "speculative-config:").unwrap_or(line);
            for (key, value) in line.split('|').filter_map(pair) {
                self.set(key, value);
            }
        }
    }

    /// The first statement of a key counts: the run in line 1 is the source, a later one is not.
    fn set(&mut self, key: &str, value: &str) {
        let text = || Some(value.to_owned());
        match key {
            "Source GitHub Actions run" => {
                self.source_run = self.source_run.take().or_else(|| source_run(value));
            }
            "Source evidence" => self.source_evidence = self.source_evidence.take().or_else(text),
            "dataset" => self.dataset = self.dataset.take().or_else(text),
            "output_len" => self.output_len = self.output_len.or(value.parse().ok()),
            "method" => self.method = self.method.take().or_else(text),
            "draft_sample_method" => {
                self.draft_sample_method = self.draft_sample_method.take().or_else(text);
            }
            "rejection_sample_method" => {
                self.rejection_sample_method = self.rejection_sample_method.take().or_else(text);
            }
            "model" => self.model = self.model.take().or_else(text),
            "image" => self.image = self.image.take().or_else(text),
            "TP" => self.tp = self.tp.or(value.parse().ok()),
            "Draft model" => self.draft_model = self.draft_model.take().or_else(text),
            _ => self.sampling.set(key, value),
        }
    }

    fn mode_line(&mut self, thinking: Thinking, rest: &str) {
        if let Some(line) = counters(thinking, rest) {
            self.counters.push(line);
            return;
        }
        let (words, kwargs) = match rest.split_once("chat_template_kwargs") {
            Some((words, kwargs)) => (words, object(kwargs)),
            None => (rest, None),
        };
        let sampling = sampling(words);
        if kwargs.is_none() && sampling.is_empty() {
            return;
        }
        let said: &mut ModeHeader = self.modes.entry(thinking).or_default();
        if said.sampling.is_empty() {
            said.sampling = sampling;
        }
        said.chat_template_kwargs = said.chat_template_kwargs.take().or(kwargs);
    }
}

/// A line about one mode: the mode, and what follows it without its colon.
fn mode(line: &str) -> Option<(Thinking, &str)> {
    let modes = [(Thinking::On, "thinking_on"), (Thinking::Off, "thinking_off")];
    let (thinking, rest) = modes.into_iter().find_map(|(mode, key)| Some((mode, line.strip_prefix(key)?)))?;
    let starts_word = rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
    let rest = rest.trim_start();
    (!starts_word).then(|| (thinking, rest.strip_prefix(':').unwrap_or(rest).trim_start()))
}

/// `k=3: AR=..; accepted=..; proposed=..; drafts=..`; SGLang's own names for the counters count too.
fn counters(thinking: Thinking, rest: &str) -> Option<CounterLine> {
    let (key, values) = rest.split_once(':')?;
    let (_, draft_length) = pair(key).filter(|(name, _)| matches!(*name, "k" | "K"))?;
    let (mut accepted, mut drafts) = (None, None);
    for (name, value) in values.split(';').filter_map(pair) {
        match name {
            "accepted" | "spec_num_correct_drafts" => accepted = value.parse().ok(),
            "drafts" | "spec_verify_ct" => drafts = value.parse().ok(),
            _ => {}
        }
    }
    Some(CounterLine {
        thinking,
        draft_length: draft_length.parse().ok()?,
        accepted: accepted?,
        drafts: drafts?,
    })
}

/// `temperature=1.0,` or `temp 0.6 top_p 0.95`: names and numbers in turn, whatever stands between them.
fn sampling(words: &str) -> Sampling {
    let mut sampling = Sampling::default();
    let mut name = "";
    for word in words.split([' ', '=', ',', ':', '|', ';', '\t']).filter(|word| !word.is_empty()) {
        sampling.set(name, word);
        name = word;
    }
    sampling
}

/// The JSON object behind `chat_template_kwargs`, whatever follows it.
fn object(text: &str) -> Option<serde_json::Map<String, serde_json::Value>> {
    let text = text.get(text.find('{')?..)?;
    serde_json::Deserializer::from_str(text).into_iter().next()?.ok()
}

/// `MODEL (HARDWARE, ENGINE METHOD[, draft: NAME])`; brackets may hold brackets.
fn measured_on(rest: &str) -> Option<MeasuredOn> {
    let (model, brackets) = match rest.split_once('(') {
        Some((model, brackets)) => (model, brackets.rsplit_once(')').map_or(brackets, |(inside, _)| inside)),
        None => (rest, ""),
    };
    let model = model.trim();
    let mut measured = MeasuredOn { model: model.to_owned(), server: Vec::new(), draft: None };
    for part in brackets.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        match pair(part) {
            Some(("draft", name)) => measured.draft = Some(name.to_owned()),
            _ => measured.server.push(part.to_owned()),
        }
    }
    (!model.is_empty()).then_some(measured)
}

/// `6-8 rejected by the image`.
fn rejected(rest: &str) -> Option<std::ops::RangeInclusive<u32>> {
    let (lengths, said) = rest.split_once(' ')?;
    if !said.contains("rejected") {
        return None;
    }
    let (first, last) = lengths.split_once('-').unwrap_or((lengths, lengths));
    Some(first.parse().ok()?..=last.parse().ok()?)
}

/// The run id is the last part of the link's path.
fn source_run(value: &str) -> Option<SourceRun> {
    let path = value.split(['?', '#']).next().unwrap_or(value).trim_end_matches('/');
    let id = path.rsplit('/').next().filter(|id| !id.is_empty())?;
    Some(SourceRun { text: value.to_owned(), id: id.to_owned() })
}

/// `key: value` or `key = value`, whichever sign comes first; neither side empty.
fn pair(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once([':', '='])?;
    let (key, value) = (key.trim(), value.trim());
    (!key.is_empty() && !value.is_empty()).then_some((key, value))
}

fn after<'a>(line: &'a str, words: &str) -> Option<&'a str> {
    line.strip_prefix(words).map(str::trim_start)
}
