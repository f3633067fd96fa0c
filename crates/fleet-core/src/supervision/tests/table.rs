//! The verdict by a table over all that a supervision was told, without any state.

use super::*;

/// What a supervision was told, or asked for.
#[derive(Debug, Clone)]
pub(super) enum Told {
    Input(Input),
    /// A look at what is due; whether the journal was full by then.
    Wake {
        is_full: bool,
    },
    /// It asked for more of the budget.
    Asked,
}

pub(super) type History = Vec<(Duration, Told)>;

/// Why the agent has to end.
enum Cause {
    Stop(StopCause),
    /// It said that it is done, and stays.
    Finished,
}

/// The first look at which a row fits decides. An agent that was done and did not exit may still be stopped by somebody.
pub(super) fn predicted(settings: &SupervisionSettings, history: &History) -> SupervisionEnd {
    let mut is_finished = false;
    let mut stopped = None;
    for (index, (_, told)) in history.iter().enumerate() {
        match told {
            Told::Input(Input::Exited(exit)) => {
                let exit = if is_finished { AgentExit::Code(0) } else { exit.clone() };
                return SupervisionEnd { exit, stopped };
            }
            Told::Wake { .. } if stopped.is_none() => {
                match cause(settings, &history[..=index], is_finished) {
                    Some(Cause::Stop(stop)) => stopped = Some(stop),
                    Some(Cause::Finished) => is_finished = true,
                    None => {}
                }
            }
            _ => {}
        }
    }
    panic!("it never exited")
}

/// The rows, in their order.
fn cause(settings: &SupervisionSettings, history: &[(Duration, Told)], is_finished: bool) -> Option<Cause> {
    let now = history.last()?.0;
    let done_since = done_since(history);
    let limits = settings.bounds;
    let stop = |stop: fn(String) -> StopCause, why: String| Some(Cause::Stop(stop(why)));
    match last_order(history) {
        Some(Order::Lost) => {
            return stop(StopCause::Shutdown, "the run was given to another keeper".to_owned());
        }
        Some(Order::Stop(order)) if order.kind == StopKind::Cancel => {
            return stop(StopCause::Killed, order.why);
        }
        Some(Order::Stop(_)) if done_since.is_some() => return Some(Cause::Finished),
        Some(Order::Stop(order)) => return stop(StopCause::Shutdown, order.why),
        None => {}
    }
    if let Some((reason, text)) = statuses(history).find_map(|(_, status)| status.hopeless.clone()) {
        return Some(Cause::Stop(StopCause::Hopeless(reason, text)));
    }
    if is_finished {
        return None;
    }
    if let Some(since) = done_since {
        return (now >= since + s(20)).then_some(Cause::Finished);
    }
    let context = statuses(history).next_back().and_then(|(_, status)| status.context);
    if let Some(full) = context.filter(|it| settings.context_pressure.is_some_and(|most| it.is_at(most))) {
        let text = format!("its conversation has filled its model's context ({full})");
        return stop(StopCause::Context, text);
    }
    if let Some(overrun) = over_tokens(settings, history) {
        return if overrun.is_final { stop(StopCause::Tokens, overrun.text()) } else { None };
    }
    if let Some(limit) = limits.time.filter(|limit| now >= *limit) {
        return stop(StopCause::TimeLimit, Overrun::Time(limit).to_string());
    }
    let limit = limits.idle?;
    let Signs { last_sign, last_probe } = signs(history);
    let is_idle = now >= last_sign + limit && now < last_probe + limit / 4;
    if is_idle { stop(StopCause::Idle, Overrun::Idle(limit).to_string()) } else { None }
}

fn last_order(history: &[(Duration, Told)]) -> Option<Order> {
    history.iter().rev().find_map(|(_, told)| match told {
        Told::Input(Input::Order(order)) => Some(order.clone()),
        _ => None,
    })
}

fn statuses(history: &[(Duration, Told)]) -> impl DoubleEndedIterator<Item = (Duration, &AgentStatus)> {
    history.iter().filter_map(|(at, told)| match told {
        Told::Input(Input::Status(status) | Input::Output { status, .. } | Input::RecordRead(status)) => {
            Some((*at, status))
        }
        _ => None,
    })
}

/// When the agent said that it is done, if it has not said anything else since.
fn done_since(history: &[(Duration, Told)]) -> Option<Duration> {
    let outputs = history.iter().rev().filter_map(|(at, told)| match told {
        Told::Input(Input::Output { status, .. }) => Some((*at, status.is_done)),
        _ => None,
    });
    outputs.take_while(|(_, is_done)| *is_done).last().map(|(at, _)| at)
}

struct OverTokens {
    bound: u64,
    is_final: bool,
}

impl OverTokens {
    fn text(&self) -> String {
        Overrun::Tokens(self.bound).to_string()
    }
}

fn used_tokens(history: &[(Duration, Told)]) -> u64 {
    statuses(history).next_back().map_or(0, |(_, status)| status.used.tokens)
}

fn token_bound(settings: &SupervisionSettings, history: &[(Duration, Told)]) -> Option<u64> {
    let reserved = history.iter().rev().find_map(|(_, told)| match told {
        Told::Input(Input::Reserved(Some(bounds))) => Some(bounds.stricter(settings.limits).tokens),
        _ => None,
    });
    reserved.unwrap_or(settings.bounds.tokens)
}

/// The bound that was passed. It is final if nothing is reserved, or if more was asked for after it was passed, and the
/// answer did not change it.
fn over_tokens(settings: &SupervisionSettings, history: &[(Duration, Told)]) -> Option<OverTokens> {
    let bound = token_bound(settings, history).filter(|bound| used_tokens(history) > *bound)?;
    let asked = history.iter().enumerate().filter(|(_, (_, told))| matches!(told, Told::Asked));
    let answers = history.iter().filter(|(_, told)| matches!(told, Told::Input(Input::Reserved(_)))).count();
    let is_answered = asked.clone().count() == answers;
    // What was the bound at the last request that was made because one was passed?
    let asked_at = asked
        .map(|(index, _)| &history[..index])
        .rev()
        .find_map(|before| token_bound(settings, before).filter(|bound| used_tokens(before) > *bound));
    let is_final = !settings.has_reservation || (is_answered && asked_at == Some(bound));
    Some(OverTokens { bound, is_final })
}

struct Signs {
    last_sign: Duration,
    last_probe: Duration,
}

/// The last sign of work, and the last time that somebody looked for one.
fn signs(history: &[(Duration, Told)]) -> Signs {
    // Output shows work, unless it only tells of retries. It is not missed while nobody listens.
    let is_output = |(index, (_, told)): &(usize, &(Duration, Told))| match told {
        Told::Input(Input::Output { shows_work, .. }) => *shows_work,
        Told::Wake { is_full: true } => done_since(&history[..=*index]).is_none(),
        _ => false,
    };
    let (from, output) = history
        .iter()
        .enumerate()
        .rev()
        .find(is_output)
        .map_or((0, Duration::ZERO), |(index, (at, _))| (index, *at));
    let since = &history[from..];
    let mut signs = Signs { last_sign: output, last_probe: output };
    let mut before: Option<Activity> = None;
    let mut is_retrying = false;
    for (at, told) in since {
        match told {
            Told::Input(Input::Output { shows_work: false, .. }) => is_retrying = true,
            Told::Input(Input::Probed(activity)) => {
                if !is_retrying && before.is_some_and(|before| before != *activity) {
                    signs.last_sign = *at;
                }
                (before, signs.last_probe) = (Some(*activity), *at);
            }
            _ => {}
        }
    }
    signs
}
