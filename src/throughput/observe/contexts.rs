//! Contexts of the running requests, as far as the lines tell: a prefill line says how long a prompt is, a decode line how many
//! requests are left and what all of them hold. Who is gone is who fits best.

/// Subsets that are tried for those that are gone; above that the longest go.
const MOST_SUBSETS: usize = 5000;

/// Requests that are followed one by one; a larger batch reads its contexts as equal, which matters little: it waits for the sum.
const MOST_FOLLOWED: usize = 512;

/// A request that was running or that joined in the window.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Member {
    context: f64,
    joined: bool,
}

/// The contexts of one rank's requests.
#[derive(Clone, Debug, Default)]
pub(super) struct Contexts {
    now: Vec<f64>,
    joining: Vec<f64>,
    /// Requests of the last line, followed or not.
    running: u32,
    sum: f64,
    longest: f64,
}

/// Means over a window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Means {
    pub(super) sum: f64,
    pub(super) longest: f64,
}

impl Contexts {
    /// Requests join, `tokens` prompt tokens in all.
    pub(super) fn prefill(&mut self, requests: u32, tokens: f64) {
        let each = tokens / f64::from(requests.max(1));
        let room = MOST_FOLLOWED.saturating_sub(self.joining.len());
        let requests = usize::try_from(requests).unwrap_or(usize::MAX).min(room);
        self.joining.extend(std::iter::repeat_n(each, requests));
    }

    /// A decode line after `steps` steps of `accept_len` tokens: `running` requests hold `total`.
    pub(super) fn decode(&mut self, running: u32, total: f64, accept_len: f64, steps: u32) -> Means {
        let steps = f64::from(steps);
        let gained = steps * accept_len;
        let changed = !self.joining.is_empty() || running != self.running;
        let before = std::mem::replace(&mut self.running, running);
        let (old_sum, old_longest, old_running) = (self.sum, self.longest, f64::from(before));
        let age = self.settle(running, total, accept_len, steps);
        let running = f64::from(running);
        if total <= 0.0 && old_running > 0.0 {
            // All ended with the last step.
            return Means { sum: old_sum + old_running * gained / 2.0, longest: old_longest + gained / 2.0 };
        }
        if !changed {
            return Means { sum: total - running * gained / 2.0, longest: self.longest - gained / 2.0 };
        }
        // The batch of before till the change, that of now after it.
        let after = age.unwrap_or(steps / 2.0);
        let before = steps - after;
        let half = |part: f64| accept_len * part / 2.0;
        let mean = |old: f64, old_count: f64, new: f64, new_count: f64| {
            (before * (old + old_count * half(before)) + after * (new - new_count * half(after))) / steps
        };
        Means {
            sum: mean(old_sum, old_running, total, running),
            longest: mean(old_longest, 1.0, self.longest, 1.0),
        }
    }

    /// Decides who is left, and how many steps ago those that joined did.
    fn settle(&mut self, running: u32, total: f64, accept_len: f64, steps: f64) -> Option<f64> {
        let gained = steps * accept_len;
        let running = usize::try_from(running).unwrap_or(usize::MAX);
        let old = self.now.iter().map(|context| Member { context: context + gained, joined: false });
        let new = self.joining.iter().map(|context| Member { context: *context, joined: true });
        let mut members: Vec<Member> = old.chain(new).collect();
        self.joining.clear();
        if running == 0 || total <= 0.0 || running > MOST_FOLLOWED {
            self.now.clear();
            let count = crate::law::float(u64::try_from(running).unwrap_or(0));
            self.sum = total;
            self.longest = if running > 0 { total / count } else { 0.0 };
            return None;
        }
        if let Some(gone) = members.len().checked_sub(running).filter(|gone| *gone > 0) {
            members = remaining(&members, gone, total, gained);
        }
        let known: f64 = members.iter().map(|member| member.context).sum();
        let missing = running.saturating_sub(members.len());
        if missing > 0 {
            let each = ((total - known) / count(missing)).max(0.0);
            members.extend(std::iter::repeat_n(Member { context: each, joined: false }, missing));
        }
        let joined = members.iter().filter(|member| member.joined).count();
        let known: f64 = members.iter().map(|member| member.context).sum();
        let age = (joined > 0).then(|| ((total - known) / count(joined) / accept_len).clamp(0.0, steps));
        let since = age.unwrap_or(0.0) * accept_len;
        self.now =
            members.iter().map(|member| member.context + if member.joined { since } else { 0.0 }).collect();
        let rest = (total - self.now.iter().sum::<f64>()) / count(running);
        self.now.iter_mut().for_each(|context| *context = (*context + rest).max(0.0));
        self.sum = total;
        self.longest = self.now.iter().copied().fold(0.0, f64::max);
        age
    }
}

fn count(number: usize) -> f64 {
    crate::law::float(u64::try_from(number).unwrap_or(u64::MAX))
}

/// Those that are left when `gone` have finished: the choice whose sum can be the printed one, old requests going first.
fn remaining(members: &[Member], gone: usize, total: f64, gained: f64) -> Vec<Member> {
    if subsets(members.len(), gone) > MOST_SUBSETS {
        let mut sorted = members.to_vec();
        sorted.sort_by(|left, right| right.context.total_cmp(&left.context));
        return sorted.split_off(gone.min(sorted.len()));
    }
    let mut best: Option<(f64, Vec<usize>)> = None;
    let mut chosen: Vec<usize> = (0..gone).collect();
    loop {
        let fault = misfit(members, &chosen, total, gained);
        if best.as_ref().is_none_or(|(least, _)| fault < *least) {
            best = Some((fault, chosen.clone()));
        }
        if !advance(&mut chosen, members.len()) {
            break;
        }
    }
    let out = best.map(|(_, out)| out).unwrap_or_default();
    members.iter().enumerate().filter(|(at, _)| !out.contains(at)).map(|(_, member)| *member).collect()
}

/// Tokens by which a choice misses the printed sum; a little more for a request that came and went within the window.
fn misfit(members: &[Member], gone: &[usize], total: f64, gained: f64) -> f64 {
    let (mut low, mut young, mut quick) = (0.0, 0.0, 0.0);
    for (at, member) in members.iter().enumerate() {
        if gone.contains(&at) {
            quick += f64::from(u8::from(member.joined));
        } else {
            low += member.context;
            young += f64::from(u8::from(member.joined));
        }
    }
    let high = low + young * gained;
    (low - total).max(total - high).max(0.0)
        + 1e-3 * gained * quick
        + 1e-6 * (f64::midpoint(low, high) - total).abs()
}

/// The next choice of as many of `of` in lexical order.
fn advance(chosen: &mut [usize], of: usize) -> bool {
    let size = chosen.len();
    let movable = (0..size).rev().find(|at| chosen.get(*at).is_some_and(|value| *value < of - size + at));
    let Some(at) = movable else { return false };
    let Some(first) = chosen.get(at).map(|value| value + 1) else { return false };
    for (slot, value) in chosen.iter_mut().skip(at).zip(first..) {
        *slot = value;
    }
    true
}

/// How many choices there are, or more than [`MOST_SUBSETS`].
fn subsets(of: usize, size: usize) -> usize {
    let size = size.min(of.saturating_sub(size));
    let mut count = 1_usize;
    for at in 0..size {
        count = count.saturating_mul(of - at) / (at + 1);
        if count > MOST_SUBSETS {
            break;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three requests; the second ends and another joins ten steps before the line.
    #[test]
    fn who_fits_best_is_gone() {
        let mut contexts = Contexts::default();
        contexts.prefill(1, 1000.0);
        contexts.prefill(1, 300.0);
        contexts.prefill(1, 2000.0);
        let first = contexts.decode(3, 3300.0 + 3.0 * 80.0, 2.0, 40);
        assert!((contexts.longest - 2080.0).abs() < 1e-9, "{contexts:?}");
        assert!(first.sum > 0.0);
        contexts.prefill(1, 700.0);
        // 1160 and 2160 are left, and 700 has grown by 20.
        let second = contexts.decode(3, 1160.0 + 2160.0 + 720.0, 2.0, 40);
        let mut now = contexts.now.clone();
        now.sort_by(f64::total_cmp);
        assert_eq!(now.iter().map(|value| value.round()).collect::<Vec<_>>(), [720.0, 1160.0, 2160.0]);
        assert!((second.longest - 2120.0).abs() < 1e-6, "{second:?}");
        let third = contexts.decode(3, 4040.0 + 240.0, 2.0, 40);
        assert!((third.sum - 4160.0).abs() < 1e-9 && (third.longest - 2200.0).abs() < 1e-6, "{third:?}");
    }

    #[test]
    fn large_batches_and_empty_ones_are_not_followed() {
        let mut contexts = Contexts::default();
        contexts.prefill(u32::MAX, 1e9);
        let means = contexts.decode(100_000, 1e8, 3.5, 40);
        assert!(means.sum.is_finite() && contexts.now.is_empty());
        let steady = contexts.decode(100_000, 1.2e8, 3.5, 40);
        assert!(
            (steady.sum - (1.2e8 - 7e6)).abs() < 1.0 && (steady.longest - 1130.0).abs() < 1e-6,
            "{steady:?}"
        );
        assert!(contexts.decode(0, 0.0, 3.5, 40).sum.is_finite());
        assert!(subsets(64, 20) > MOST_SUBSETS && subsets(5, 2) == 10);
    }

    /// Of the choices that give the printed sum, one without a request that came and went within the window.
    #[test]
    fn a_request_that_came_and_went_costs_a_little() {
        let members = [Member { context: 500.0, joined: false }, Member { context: 500.0, joined: true }];
        let young_gone = misfit(&members, &[1], 500.0, 80.0);
        assert!((young_gone - 0.08).abs() < 1e-9, "{young_gone}");
        // Between 500 and 580 the sum may lie anywhere, and best in the middle.
        let old_gone = misfit(&members, &[0], 500.0, 80.0);
        assert!((old_gone - 40e-6).abs() < 1e-9, "{old_gone}");
    }
}
