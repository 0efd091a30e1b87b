//! What the simulator's commands ask for.

use crate::commands::{self, Argument};
use serde_json::Value;
use zonelens_ide::Snapshot;
use zonelens_interpreter::{Fraction, Until};
use zonelens_syntax::parse_expression;

/// Transitions that one random walk may take.
const MOST_RANDOM: usize = 10_000;

/// What a command does to a simulation.
pub(super) enum Action {
    /// Nothing.
    State,
    /// Takes a transition.
    Take {
        /// Its number.
        number: usize,
        /// The time before it.
        delay: Option<Fraction>,
        /// The state that the number belongs to.
        revision: Option<u64>,
    },
    /// Lets time pass.
    Delay(Fraction),
    /// Goes back.
    Back,
    /// Goes forward.
    Forward,
    /// Goes to a step.
    Goto(usize),
    /// Restarts.
    Restart,
    /// Walks at random.
    Random {
        /// The most transitions to take.
        steps: usize,
        /// The seed.
        seed: u64,
        /// What ends it.
        until: Vec<Until>,
    },
}

/// Reads a command; `Err` is a sentence for the user.
pub(super) fn read(command: &str, argument: Argument, model: &Snapshot) -> Result<Action, String> {
    Ok(match command {
        commands::SIMULATION_STATE => Action::State,
        commands::SIMULATION_TAKE => Action::Take {
            number: argument.number.ok_or("the command needs {\"number\": …}")?,
            delay: argument.delay.as_ref().map(delay).transpose()?,
            revision: argument.revision,
        },
        commands::SIMULATION_DELAY => {
            let text = argument.delay.ok_or("the command needs {\"delay\": …}")?;
            Action::Delay(delay(&text)?)
        }
        commands::SIMULATION_BACK => Action::Back,
        commands::SIMULATION_FORWARD => Action::Forward,
        commands::SIMULATION_GOTO => {
            Action::Goto(argument.step.ok_or("the command needs {\"step\": …}")?)
        }
        commands::SIMULATION_RESTART => Action::Restart,
        commands::SIMULATION_RANDOM => {
            let steps = argument.steps.unwrap_or(1);
            if steps == 0 || steps > MOST_RANDOM {
                return Err(format!("a random walk takes 1 to {MOST_RANDOM} steps"));
            }
            let mut until = Vec::new();
            if let Some(text) = &argument.until {
                until.push(condition(model, text)?);
            }
            if let Some(time) = &argument.time {
                until.push(Until::Time(delay(time)?));
            }
            Action::Random {
                steps,
                seed: argument.seed.unwrap_or(1),
                until,
            }
        }
        other => return Err(format!("unknown command `{other}`")),
    })
}

/// A delay as a number or as text.
fn delay(value: &Value) -> Result<Fraction, String> {
    match value {
        Value::String(text) => Fraction::read(text),
        Value::Number(number) => Fraction::read(&number.to_string()),
        other => Err(format!(
            "`{other}` is not a delay; write a number that is not negative, such as 2, \"3/2\" or 1.5"
        )),
    }
}

/// A condition on a state, in the language of queries.
fn condition(model: &Snapshot, text: &str) -> Result<Until, String> {
    let expression = parse_expression(text).map_err(|errors| {
        let first = errors.into_iter().next();
        first.map_or_else(String::new, |e| e.message.to_string())
    })?;
    let query = model.model().resolve_condition(&expression);
    let query = query.map_err(|errors| {
        let first = errors.into_iter().next();
        first.map_or_else(String::new, |d| d.message)
    })?;
    Ok(Until::Condition(Box::new(query)))
}
