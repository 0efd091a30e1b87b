//! `zonelens simulate --interactive`: reads commands and writes states.

use super::commands::{Command, HELP, Random, parse};
use super::screen::Screen;
use super::{Args, Format};
use crate::model::Prepared;
use crate::{BAD_INPUT, SUCCESS, output};
use std::fs::File;
use std::io::{BufRead, IsTerminal, Read, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use zonelens_analysis::network::{Network, Position};
use zonelens_analysis::report::Trace;
use zonelens_analysis::simulation::{Simulation, WalkAnswer, WalkRequest, WalkZone};
use zonelens_analysis::trace_text;
use zonelens_checker::Walks;
use zonelens_interpreter::{Limit, RandomOptions, Session, Taken, Until};
use zonelens_syntax::span::Span;

/// The time limit for one command, and again for the zone after it.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most characters of a command.
const LONGEST_LINE: u64 = 1 << 16;
/// The most transitions of one random walk.
const MOST_RANDOM: usize = 10_000;
/// The most bytes of a saved walk.
const LARGEST_WALK: u64 = 256 << 20;

static NEVER: AtomicBool = AtomicBool::new(false);

fn limit() -> Limit<'static> {
    Limit::new(&NEVER, Some(Instant::now() + PATIENCE))
}

/// Reads commands until they end; returns the exit status.
pub(super) fn run(
    args: &Args,
    prepared: &Prepared,
    network: &Network,
    position: &dyn Fn(Span) -> Position,
) -> u8 {
    let session = match begin(args, network, position) {
        Ok(session) => session,
        Err(message) => {
            output::complain(&message);
            return BAD_INPUT;
        }
    };
    let mut table = Table {
        args,
        prepared,
        position,
        session,
        walks: Walks::new(network),
        screen: Screen::new(network.boolean_names(), args.model.display().to_string()),
        seed: args.seed,
    };
    for number in &args.choose {
        let told = table.take(*number, None);
        if let Err(message) = told {
            output::complain(&format!("--choose {number}: {message}"));
            return BAD_INPUT;
        }
    }
    table.show(None);
    let prompts = args.format == Format::Human && std::io::stdin().is_terminal();
    loop {
        if prompts {
            let mut out = std::io::stdout().lock();
            let _ = write!(out, "> ");
            let _ = out.flush();
        }
        let Some(line) = read_line() else {
            return SUCCESS;
        };
        match line.and_then(|line| parse(&line)) {
            Ok(Command::Quit) => return SUCCESS,
            Ok(command) => table.obey(command),
            Err(message) => table.refuse(&message),
        }
    }
}

/// The initial state, or the end of a saved walk with a message if it had to end earlier.
fn begin(
    args: &Args,
    network: &Network,
    position: &dyn Fn(Span) -> Position,
) -> Result<Session, String> {
    let network = Arc::new(network.clone());
    let Some(path) = &args.walk else {
        return Session::new(network);
    };
    let name = path.display();
    let mut text = String::new();
    let read = File::open(path).and_then(|f| f.take(LARGEST_WALK).read_to_string(&mut text));
    read.map_err(|error| format!("{name} cannot be read: {error}"))?;
    if text.len() as u64 == LARGEST_WALK {
        return Err(format!("{name} is too large for a walk"));
    }
    let trace: Trace = serde_json::from_str(&text)
        .map_err(|error| format!("{name} is not a saved walk: {error}"))?;
    let (mut session, stopped) = Session::from_saved(network, &trace, position, limit())
        .map_err(|error| format!("{name}: {error}"))?;
    if let Some(stopped) = stopped {
        session.say(format!(
            "the saved walk ends before step {}: {}",
            stopped.step, stopped.reason
        ));
    }
    Ok(session)
}

/// The next line of input; `None` at its end.
fn read_line() -> Option<Result<String, String>> {
    let mut bytes = Vec::new();
    let mut stdin = std::io::stdin().lock();
    let read = stdin
        .by_ref()
        .take(LONGEST_LINE)
        .read_until(b'\n', &mut bytes);
    match read {
        Ok(0) | Err(_) => return None,
        Ok(_) => {}
    }
    if bytes.last() != Some(&b'\n') && bytes.len() as u64 == LONGEST_LINE {
        let _ = stdin.skip_until(b'\n');
        return Some(Err("the command is too long".into()));
    }
    let text = String::from_utf8(bytes);
    Some(text.map_err(|_| "the command is not UTF-8".into()))
}

struct Table<'a> {
    args: &'a Args,
    prepared: &'a Prepared,
    position: &'a dyn Fn(Span) -> Position,
    session: Session,
    /// The zones, or why there are none.
    walks: Result<Walks, String>,
    screen: Screen,
    /// The seed of the next random walk.
    seed: u64,
}

impl Table<'_> {
    fn obey(&mut self, command: Command) {
        let done = match command {
            Command::Take(number, delay) => self.take(number, delay),
            Command::Delay(delay) => self.session.delay(delay, limit()).map(|()| None),
            Command::Back => self.session.back().map(|()| None),
            Command::Forward => self.session.forward().map(|()| None),
            Command::Goto(step) => self.session.goto(step).map(|()| None),
            Command::Restart => self.session.restart().map(|()| None),
            Command::Random(asked) => self.random(&asked).map(Some),
            Command::Open(number) => return self.open(number),
            Command::Save(name) => self.save(&name).map(Some),
            Command::Help if self.args.format == Format::Json => Ok(Some(HELP.to_owned())),
            Command::Help => return output::say(HELP),
            Command::Quit => return,
        };
        match done {
            Ok(message) => self.show(message),
            Err(message) => self.refuse(&message),
        }
    }

    /// Takes a transition; returns the message about it.
    fn take(
        &mut self,
        number: usize,
        delay: Option<zonelens_interpreter::Fraction>,
    ) -> Result<Option<String>, String> {
        self.find_zone();
        let Taken::OtherDelays(question) = self.session.take(number, delay, limit())? else {
            return Ok(None);
        };
        if delay.is_some() {
            return Err(
                "this transition needs other delays before; take it without a delay".into(),
            );
        }
        let answer = self.ask(&question);
        self.session.take_with(&question, &answer)?;
        Ok(None)
    }

    /// Writes the whole walk; returns the message about it.
    fn save(&self, name: &str) -> Result<String, String> {
        let trace = self.session.whole_trace(self.position);
        let text = if name.ends_with(".txt") {
            let model = self.args.model.display().to_string();
            trace_text::to_text_with(&trace, &model, &self.prepared.booleans())
        } else {
            serde_json::to_string_pretty(&trace).map_err(|e| e.to_string())? + "\n"
        };
        match std::fs::write(name, text) {
            Ok(()) => Ok(format!("the walk is saved in {name}")),
            Err(error) => Err(format!("{name} cannot be written: {error}")),
        }
    }

    fn ask(&mut self, question: &WalkRequest) -> WalkAnswer {
        match &mut self.walks {
            Ok(walks) => walks.answer(question, limit()),
            Err(reason) => WalkAnswer {
                id: question.id,
                zone: WalkZone::None {
                    reason: reason.clone(),
                },
                transitions: Vec::new(),
                left_out: 0,
                delays: None,
            },
        }
    }

    fn find_zone(&mut self) {
        if !self.session.has_zone() {
            let answer = self.ask(&self.session.zone_question());
            self.session.set_zone(answer);
        }
    }

    fn random(&mut self, asked: &Random) -> Result<String, String> {
        let steps = asked.steps.unwrap_or(match (&asked.until, asked.time) {
            (None, None) => 1,
            _ => MOST_RANDOM,
        });
        if steps > MOST_RANDOM {
            return Err(format!("a random walk has at most {MOST_RANDOM} steps"));
        }
        let mut until: Vec<Until> = asked.time.into_iter().map(Until::Time).collect();
        if let Some(expression) = &asked.until {
            until.push(Until::Condition(Box::new(
                self.prepared.condition(expression)?,
            )));
        }
        let seed = asked.seed.unwrap_or(self.seed);
        // Very different from the neighbouring seeds.
        self.seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let options = RandomOptions { seed, steps, until };
        let end = self.session.random(&options, limit())?;
        Ok(format!("random walk: {end}"))
    }

    fn view(&mut self) -> Result<Simulation, String> {
        self.find_zone();
        self.session.view(self.position, limit())
    }

    fn show(&mut self, message: Option<String>) {
        if let Some(message) = message {
            self.session.say(message);
        }
        match self.view() {
            Ok(view) => match self.args.format {
                Format::Json => write_json(&view),
                Format::Human => {
                    let trace = self.session.trace(self.position);
                    output::say(&self.screen.state(&view, &trace));
                }
            },
            Err(error) => self.fail(&error),
        }
        self.session.unsay();
    }

    /// Says why a command was not executed.
    fn refuse(&mut self, message: &str) {
        match self.args.format {
            Format::Human => output::say(&output::one_line(message)),
            Format::Json => self.show(Some(message.to_owned())),
        }
    }

    /// Says why the present state cannot be shown.
    fn fail(&self, error: &str) {
        match self.args.format {
            Format::Human => output::say(&format!("the model fails here: {error}")),
            Format::Json => write_json(&serde_json::json!({ "error": error })),
        }
    }

    fn open(&mut self, number: usize) {
        match self.view() {
            Err(error) => self.fail(&error),
            Ok(view) => match self.screen.group(&view, number) {
                Some(text) if self.args.format == Format::Human => output::say(&text),
                Some(_) => self.show(None),
                None => self.refuse(&format!("there is no transition {number}")),
            },
        }
    }
}

fn write_json(value: &impl serde::Serialize) {
    match serde_json::to_string(value) {
        Ok(line) => {
            output::say(&line);
            let _ = std::io::stdout().lock().flush();
        }
        Err(error) => output::complain(&format!("the state cannot be written: {error}")),
    }
}
