//! Expressions that users evaluate in a step of a trace.

use super::limit::SharedBudget;
use super::retrace::{Stopped, evaluate_within};
use zonelens_analysis::Model;
use zonelens_analysis::network::Network;
use zonelens_analysis::report::{Trace, TraceValue};
use zonelens_syntax::parse_expression;

/// The value of an expression in a step of a trace. `network` belongs to `model`. Names are those
/// of the query language; elements of scalarsets are the numbers that the trace shows.
pub fn evaluate_expression(
    model: &Model,
    network: &Network,
    trace: &Trace,
    step: usize,
    text: &str,
    budget: &SharedBudget,
) -> Result<TraceValue, Stopped> {
    let parsed = parse_expression(text);
    let expression = match parsed {
        Ok(expression) => expression,
        Err(errors) => {
            let first = errors.into_iter().next();
            let message = first.map_or_else(String::new, |e| e.message.to_string());
            return Err(Stopped::Refused(message));
        }
    };
    let query = model.resolve_expression(&expression).map_err(|errors| {
        let first = errors.into_iter().next();
        Stopped::Refused(first.map_or_else(String::new, |d| d.message))
    })?;
    evaluate_within(network, trace, step, &query, budget)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Allowance, SimulateOptions, replay_within, simulate};
    use std::collections::BTreeMap;
    use std::time::Duration;
    use zonelens_analysis::network::Position;
    use zonelens_syntax::SourceFile;
    use zonelens_syntax::ast::FileKind;
    use zonelens_syntax::span::Span;

    /// The time limit never decides in these tests, except in those that are about it.
    const LITTLE: Allowance = Allowance {
        steps: 100_000,
        depth: 200,
        moments: 1_000,
        bytes: 1 << 20,
        time: Duration::from_secs(600),
    };

    struct Loaded {
        model: Model,
        network: Network,
        trace: Trace,
    }

    fn nowhere(_: Span) -> Position {
        Position::default()
    }

    fn load(text: &str) -> Loaded {
        let file = SourceFile::parse(text, FileKind::Xta);
        let model = Model::new(&file, &BTreeMap::new());
        let network = model.network().expect("a network");
        let (trace, _) = simulate(&network, &SimulateOptions::default(), &nowhere);
        Loaded {
            model,
            network,
            trace,
        }
    }

    impl Loaded {
        fn ask(&self, text: &str, allowance: Allowance) -> Result<TraceValue, Stopped> {
            let budget = SharedBudget::new(allowance);
            evaluate_expression(&self.model, &self.network, &self.trace, 0, text, &budget)
        }

        fn replay(&self, trace: &Trace, allowance: Allowance) -> Result<Trace, Stopped> {
            let budget = SharedBudget::new(allowance);
            replay_within(&self.network, trace, &nowhere, &budget)
        }
    }

    /// `f0` calls `f1`, which calls `f2`, and so on.
    fn chain(length: usize) -> String {
        let last = format!("int f{length}() {{ return n; }}\n");
        let call = |i: usize| format!("int f{i}() {{ return f{}(); }}\n", i + 1);
        last + &(0..length).rev().map(call).collect::<String>()
    }

    const REST: &str = "process P() { state s; init s; trans s -> s { }; } system P;\n";

    #[test]
    fn what_takes_too_much_ends_at_the_limit() {
        let text = format!(
            "int n; int endless() {{ int i = 0; while (true) {{ i = 1 - i; }} return i; }}\n\
             int large() {{ int a[100000]; return a[7]; }}\n{}{REST}",
            chain(300)
        );
        let loaded = load(&text);
        let many = "forall (i : int[0, 30000]) forall (j : int[0, 30000]) i + j >= n";
        for hostile in [
            "endless()",
            "endless() == 1",
            many,
            "sum (i : int[0, 30000]) sum (j : int[0, 30000]) 1",
            "n == 0 && (exists (i : int[0, 30000]) exists (j : int[0, 30000]) i < 0)",
            "f0()",
            "large()",
        ] {
            assert_eq!(
                loaded.ask(hostile, LITTLE),
                Err(Stopped::Limit),
                "{hostile}"
            );
            assert_eq!(loaded.ask("n", LITTLE), Ok(TraceValue::Integer(0)));
        }
        let more = Allowance {
            steps: 10_000_000,
            depth: 10_000,
            bytes: 100 << 20,
            ..LITTLE
        };
        assert_eq!(loaded.ask("f0()", more), Ok(TraceValue::Integer(0)));
        assert_eq!(loaded.ask("large()", more), Ok(TraceValue::Integer(0)));
        let late = Allowance {
            time: Duration::ZERO,
            ..more
        };
        assert_eq!(loaded.ask(many, late), Err(Stopped::Limit));
    }

    #[test]
    fn hostile_texts_are_refused_with_a_message() {
        let loaded = load(&format!("int n; {REST}"));
        let nested = |open: &str, close: &str| open.repeat(50_000) + "n" + &close.repeat(50_000);
        for text in [
            nested("(", ")"),
            nested("!", ""),
            nested("-(", ")"),
            nested("forall (i : int[0, 1]) ", ""),
            "n, n".to_owned(),
            "n; n".to_owned(),
            "n } : n".to_owned(),
            "E<> n == 0".to_owned(),
            "n == 0 --> n == 1".to_owned(),
            "sup: n".to_owned(),
            "n = 1".to_owned(),
            "n +".to_owned(),
            "nobody".to_owned(),
            "deadlock".to_owned(),
            "\u{0}".to_owned(),
            String::new(),
        ] {
            match loaded.ask(&text, LITTLE) {
                Err(Stopped::Refused(message)) if !message.is_empty() => {}
                other => panic!("{other:?}: {}", &text[..text.len().min(40)]),
            }
        }
        // A long chain is not a deep one.
        let long = "n + ".repeat(150) + "1";
        assert_eq!(loaded.ask(&long, LITTLE), Ok(TraceValue::Integer(1)));
    }

    #[test]
    fn replays_end_at_the_limit() {
        // Urgency is checked wherever the result of a comparison changes: here at every whole
        // number.
        let urgent = |k: u32| format!(", s -> t {{ guard x == {k} && n == 1; sync a!; }}");
        let loaded = load(&format!(
            "urgent chan a; int n; process P() {{ clock x; state s, t; init s; \
             trans s -> t {{ guard x >= 600; }}{}; }} system P;",
            (1..600).map(urgent).collect::<String>()
        ));
        let trace = &loaded.trace;
        assert_eq!(loaded.replay(trace, LITTLE), Err(Stopped::Limit));
        let more = Allowance {
            steps: 100_000_000,
            moments: 1_000_000,
            ..LITTLE
        };
        assert_eq!(loaded.replay(trace, more).as_ref(), Ok(trace));
        let few = Allowance { bytes: 100, ..more };
        assert_eq!(loaded.replay(trace, few), Err(Stopped::Limit));
    }

    /// More choices of select values than fit into memory.
    #[test]
    fn choices_are_not_made_before_they_are_counted() {
        let model = |last: u32| {
            let range = format!("int[0, {last}]");
            format!(
                "int n; process P() {{ state s, t; init s; trans s -> t {{ select i : {range}, j : {range}, k : {range}, \
                 l : {range}; guard n == 5; }}, s -> t {{ }}; }} system P;"
            )
        };
        let small = load(&model(0));
        assert_eq!(small.trace.steps.len(), 2);
        assert!(small.replay(&small.trace, LITTLE).is_ok());
        let file = SourceFile::parse(model(999), FileKind::Xta);
        let large = Model::new(&file, &BTreeMap::new());
        let network = large.network().expect("a network");
        let budget = SharedBudget::new(LITTLE);
        let replayed = replay_within(&network, &small.trace, &nowhere, &budget);
        assert_eq!(replayed, Err(Stopped::Limit));
    }
}
