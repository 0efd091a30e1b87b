//! The commands of `zonelens simulate --interactive`.

use zonelens_interpreter::Fraction;

/// What `?` shows.
pub(super) const HELP: &str = "\
N          take transition N as early as possible
N DELAY    take it after a delay: 3, 3/2 or 1.5
d DELAY    let time pass
b          back: undo the time that passed, else the last transition
f          forward: take the next transition of the walk again
g N        go to the state after N transitions of the walk
r          restart with an empty walk
w [N] [seed S] [time T] [until EXPRESSION]
           walk N transitions at random (1 if not given; an empty line does the same); end
           earlier when so much time has passed in all, or when the expression holds
o N        list all transitions of the group of N
s FILE     save the walk: as JSON, which --walk reads, or as text if the name ends with .txt
?          show this list
q          quit";

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Command {
    /// Take a transition, possibly after a delay.
    Take(usize, Option<Fraction>),
    /// Let time pass.
    Delay(Fraction),
    /// Go back.
    Back,
    /// Go forward.
    Forward,
    /// Go to a step.
    Goto(usize),
    /// Restart with an empty walk.
    Restart,
    /// Walk at random.
    Random(Random),
    /// List a group of transitions.
    Open(usize),
    /// Save the walk in a file.
    Save(String),
    /// List the commands.
    Help,
    /// End the simulation.
    Quit,
}

/// The arguments of a random walk.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Random {
    /// The most transitions.
    pub steps: Option<usize>,
    /// The seed; a different one each time if it is not given.
    pub seed: Option<u64>,
    /// The time at which it ends.
    pub time: Option<Fraction>,
    /// The state expression at which it ends.
    pub until: Option<String>,
}

/// Reads a line; `Err` says in one line what is wrong with it.
pub(super) fn parse(line: &str) -> Result<Command, String> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let alone = |command: Command| match rest {
        "" => Ok(command),
        _ => Err(format!("`{word}` takes no argument; ? lists the commands")),
    };
    let number = |what: &str| match rest.parse::<usize>() {
        Ok(number) => Ok(number),
        Err(_) => Err(format!(
            "write `{word} {what}` with a number; ? lists the commands"
        )),
    };
    match word {
        "" => Ok(Command::Random(Random::default())),
        "d" | "delay" => Fraction::read(rest).map(Command::Delay),
        "b" | "back" => alone(Command::Back),
        "f" | "forward" => alone(Command::Forward),
        "g" | "goto" => number("N").map(Command::Goto),
        "r" | "restart" => alone(Command::Restart),
        "w" | "random" => random(rest).map(Command::Random),
        "o" | "open" => number("N").map(Command::Open),
        "s" | "save" if rest.is_empty() => {
            Err("write `s FILE` with the name of a file; ? lists the commands".into())
        }
        "s" | "save" => Ok(Command::Save(rest.to_owned())),
        "?" | "help" => alone(Command::Help),
        "q" | "quit" | "exit" => alone(Command::Quit),
        _ => match word.parse::<usize>() {
            Ok(number) if rest.is_empty() => Ok(Command::Take(number, None)),
            Ok(number) => Fraction::read(rest).map(|d| Command::Take(number, Some(d))),
            Err(_) => Err(format!(
                "`{}` is not a command; ? lists the commands",
                crate::output::shortened(line, 60)
            )),
        },
    }
}

fn random(text: &str) -> Result<Random, String> {
    let mut asked = Random::default();
    let (before, until) = match text.split_once("until") {
        Some((before, until)) => (before, Some(until.trim())),
        None => (text, None),
    };
    if let Some(until) = until {
        if until.is_empty() {
            return Err("write a state expression after `until`, such as P.done or n > 2".into());
        }
        asked.until = Some(until.to_owned());
    }
    let mut words = before.split_whitespace();
    while let Some(word) = words.next() {
        let mut value = || {
            words
                .next()
                .ok_or_else(|| format!("write a number after `{word}`"))
        };
        match word {
            "seed" => {
                let value = value()?;
                let seed = value.parse();
                asked.seed = Some(seed.map_err(|_| format!("`{value}` is not a seed"))?);
            }
            "time" => asked.time = Some(Fraction::read(value()?)?),
            number => match number.parse() {
                Ok(steps) if asked.steps.is_none() => asked.steps = Some(steps),
                _ => {
                    return Err(format!(
                        "`w` does not know `{number}`; ? lists the commands"
                    ));
                }
            },
        }
    }
    Ok(asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn half() -> Option<Fraction> {
        Fraction::new(3, 2)
    }

    #[test]
    fn commands_are_read() {
        assert_eq!(parse(" 3 "), Ok(Command::Take(3, None)));
        assert_eq!(parse("3 3/2"), Ok(Command::Take(3, half())));
        assert_eq!(
            parse("d 1.5"),
            half().map(Command::Delay).ok_or_else(String::new)
        );
        assert_eq!(parse("g 4"), Ok(Command::Goto(4)));
        assert_eq!(parse("s a b.json"), Ok(Command::Save("a b.json".into())));
        assert_eq!(parse(""), Ok(Command::Random(Random::default())));
        let asked = Random {
            steps: Some(9),
            seed: Some(7),
            time: half(),
            until: Some("P.done && n > 2".into()),
        };
        let line = "w 9 seed 7 time 3/2 until P.done && n > 2";
        assert_eq!(parse(line), Ok(Command::Random(asked)));
    }

    #[test]
    fn bad_commands_get_one_line() {
        for line in [
            "x",
            "d",
            "d -1",
            "d x",
            "b 1",
            "g",
            "g x",
            "s",
            "-1",
            "1 2 3",
            "w x",
            "w seed",
            "w seed x",
            "w until",
            "w 1 2",
            "99999999999999999999999",
            "o",
            "\u{1b}[2J",
            "d 1/0",
        ] {
            let message = parse(line).expect_err(line);
            assert!(
                !message.contains('\n') && !message.is_empty(),
                "{line}: {message}"
            );
        }
    }
}
