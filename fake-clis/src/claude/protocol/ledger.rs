//! Tokens and dollars: what each result reports.

use indexmap::IndexMap;
use serde_json::{Value, json};

use crate::claude::profile::price;

/// Context window that the CLI states for every model it was recorded with, in tokens.
pub(super) const CONTEXT_WINDOW: u64 = 1_000_000;
/// Tokens kept free for the compaction itself.
const COMPACTION_BUFFER: u64 = 33_000;
/// Above this many input tokens a request costs [`LONG_FACTOR`] times as much.
const LONG_INPUT: u64 = 200_000;
/// What a request with a long input costs, against one with a short one.
const LONG_FACTOR: f64 = 5.0;
/// Most output tokens of one message that the CLI states.
const MAX_OUTPUT: u64 = 128_000;

/// Tokens of a message, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tokens {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cache_write: u64,
    pub(super) cache_read: u64,
}

impl Tokens {
    /// Reads a `usage` object.
    pub(super) fn of(usage: &Value) -> Tokens {
        let count = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or(0);
        Tokens {
            input: count("input_tokens"),
            output: count("output_tokens"),
            cache_write: count("cache_creation_input_tokens"),
            cache_read: count("cache_read_input_tokens"),
        }
    }

    pub(super) fn add(&mut self, other: Tokens) {
        self.input += other.input;
        self.output += other.output;
        self.cache_write += other.cache_write;
        self.cache_read += other.cache_read;
    }

    /// All tokens of a request and its answer.
    pub(super) fn total(self) -> u64 {
        self.input + self.output + self.cache_write + self.cache_read
    }

    /// Whether the conversation must be compacted before the next request.
    pub(super) fn overflows(self) -> bool {
        self.total() > CONTEXT_WINDOW - COMPACTION_BUFFER
    }

    /// The `usage` object of a result.
    pub(super) fn usage(self) -> Value {
        json!({
            "input_tokens": self.input,
            "cache_creation_input_tokens": self.cache_write,
            "cache_read_input_tokens": self.cache_read,
            "output_tokens": self.output,
            "output_tokens_details": {"thinking_tokens": 0},
            "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
            "service_tier": "standard",
            "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
            "inference_geo": "",
            "iterations": [],
            "speed": "standard",
            "fallback_credit": null,
        })
    }
}

/// What one model cost.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    tokens: Tokens,
    dollars: f64,
}

/// Tokens and dollars of a process, by model; all threads pay into it.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    all: IndexMap<String, Spent>,
    since: IndexMap<String, Spent>,
    dollars: f64,
}

impl Ledger {
    /// Books one request.
    pub(super) fn book(&mut self, model: &str, tokens: Tokens) {
        let (input, output) = price(model);
        let factor = if tokens.input > LONG_INPUT { LONG_FACTOR } else { 1.0 };
        let dollars = (tokens.input as f64 * input + tokens.output as f64 * output) * factor;
        let spent = self.since.entry(model.to_owned()).or_default();
        spent.tokens.add(tokens);
        spent.dollars += dollars;
        self.carry(model, tokens, dollars);
    }

    /// Takes over what an earlier process of the session spent.
    pub(super) fn carry(&mut self, model: &str, tokens: Tokens, dollars: f64) {
        let spent = self.all.entry(model.to_owned()).or_default();
        spent.tokens.add(tokens);
        spent.dollars += dollars;
        self.dollars += dollars;
    }

    /// What was spent, by model, for the session's file.
    pub(super) fn spent(&self) -> Value {
        let models = self.all.iter().map(|(model, spent)| {
            let Tokens { input, output, cache_write, cache_read } = spent.tokens;
            let tokens = json!({
                "input_tokens": input, "output_tokens": output, "cache_creation_input_tokens": cache_write,
                "cache_read_input_tokens": cache_read, "dollars": spent.dollars,
            });
            (model.clone(), tokens)
        });
        Value::Object(models.collect())
    }

    /// `total_cost_usd`.
    pub(super) fn dollars(&self) -> f64 {
        self.dollars
    }

    /// All tokens.
    pub(super) fn total(&self) -> Tokens {
        let mut sum = Tokens::default();
        self.all.values().for_each(|spent| sum.add(spent.tokens));
        sum
    }

    /// `modelUsage` since the process began.
    pub(super) fn models(&self, newer: bool) -> Value {
        report(&self.all, newer)
    }

    /// `model_usage_since_last_result`, which begins anew.
    pub(super) fn take_since(&mut self, newer: bool) -> Value {
        report(&std::mem::take(&mut self.since), newer)
    }
}

fn report(spent: &IndexMap<String, Spent>, newer: bool) -> Value {
    let models = spent.iter().map(|(model, spent)| {
        let mut usage = json!({
            "inputTokens": spent.tokens.input,
            "outputTokens": spent.tokens.output,
            "cacheReadInputTokens": spent.tokens.cache_read,
            "cacheCreationInputTokens": spent.tokens.cache_write,
            "webSearchRequests": 0,
            "costUSD": spent.dollars,
            "contextWindow": CONTEXT_WINDOW,
            "maxOutputTokens": MAX_OUTPUT,
            "thinkingTokens": 0,
        });
        if newer {
            usage["cacheCreationEphemeral5mInputTokens"] = json!(0);
            usage["cacheCreationEphemeral1hInputTokens"] = json!(0);
        }
        usage["canonicalModel"] = json!(model);
        usage["provider"] = json!("firstParty");
        usage["costBasis"] = json!("list");
        (model.clone(), usage)
    });
    Value::Object(models.collect())
}
