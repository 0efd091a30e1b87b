//! Verifies one formula and prints the report: `show MODEL FORMULA [dfs] [none|m|alu] [off] [notrace] [two] [N=3]`.

#![allow(clippy::print_stdout)]

#[path = "../tests/common/mod.rs"]
mod common;

use zonelens_analysis::report::{AbstractionOption, Options, SearchOrder};
use zonelens_syntax::ast::FileKind;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, formula, rest @ ..] = args.as_slice() else {
        println!("usage: show MODEL FORMULA [dfs] [none|m|alu] [off] [notrace] [two] [N=3]");
        return;
    };
    let source = std::fs::read(file).unwrap_or_default();
    let kind = if file.ends_with(".xml") {
        FileKind::Xml
    } else {
        FileKind::Xta
    };
    let constants: Vec<(&str, i64)> = rest
        .iter()
        .filter_map(|word| word.split_once('='))
        .filter_map(|(n, v)| Some((n, v.parse().ok()?)))
        .collect();
    let model = match common::load(&String::from_utf8_lossy(&source), kind, &constants) {
        Ok(model) => model,
        Err(e) => {
            println!("{e}");
            return;
        }
    };
    let mut options = Options {
        timeout: Some(20.0),
        ..Options::default()
    };
    for word in rest {
        match word.as_str() {
            "dfs" => options.search = SearchOrder::Dfs,
            "none" => options.abstraction = AbstractionOption::None,
            "m" => options.abstraction = AbstractionOption::ExtraM,
            "off" => options.symmetry = zonelens_analysis::report::SymmetryOption::Off,
            "notrace" => options.trace = zonelens_analysis::report::TraceOption::None,
            "two" => options.threads = 2,
            "alu" => options.abstraction = AbstractionOption::Alu,
            _ => {}
        }
    }
    let mut report = model.verify(formula, &options);
    let trace = report.trace.take();
    println!("{report:#?}");
    if let Some(trace) = trace {
        println!("{:?}, cycle from {:?}", trace.kind, trace.cycle_start);
        for step in &trace.steps {
            let edges = step.transition.as_ref().map(|t| {
                let edges = t
                    .edges
                    .iter()
                    .map(|e| format!("{}: {} -> {} @{}", e.process, e.from, e.to, e.line));
                format!(
                    "{} {}",
                    t.channel.clone().unwrap_or_default(),
                    edges.collect::<Vec<_>>().join("; ")
                )
            });
            println!("+{} {}", step.delay, edges.unwrap_or_default());
        }
        if let Some(last) = trace.steps.last() {
            println!(
                "{:?}\n{:?}\n{:?}",
                last.state.locations, last.state.variables, last.state.clocks
            );
        }
    }
}
