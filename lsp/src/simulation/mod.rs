//! The simulator: a walk through the model that people choose step by step.
//!
//! Its walk is the open trace, so hints, charts and marks are those of traces. The interpreter, on
//! a thread of the simulation, computes the run and what can follow, under limits, and the next
//! request ends what is not needed any more. One worker process knows the zone; its answers arrive
//! later, and without it the simulator goes on.

mod arguments;
mod thread;
mod view;
mod walks;

use crate::announce::SimulationChanged;
use crate::commands::{self, Argument};
use crate::meaning;
use crate::open_trace::OpenTrace;
use crate::replays;
use crate::shared::Shared;
use crate::traces;
use arguments::{Action, read};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use thread::{Held, Thread};
use tokio::sync::Notify;
use view::View;
use walks::Walks;
use zonelens_analysis::network::Network;
use zonelens_analysis::report::{Trace, WorkerRequest, WorkerTask};
use zonelens_analysis::simulation::{WalkAnswer, WalkRequest, WalkZone};
use zonelens_ide::Snapshot;
use zonelens_interpreter::{Limit, RandomEnd, RandomOptions, Session, Taken};

/// What the names of the simulator's commands start with.
pub(crate) const COMMANDS: &str = "zonelens.simulation.";

/// Time for what a command does, and for what it shows.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time that the worker has to choose delays.
const CHOOSING: Duration = Duration::from_secs(12);
/// Transitions that a walk may have here: every answer has all of them.
const MOST_STEPS: usize = 10_000;

const NOT_OPEN: &str = "no simulation is open";
/// For what no other command ends.
static NEVER: AtomicBool = AtomicBool::new(false);

/// The place of the one simulation, and the order of the commands.
#[derive(Default)]
pub(crate) struct Slot {
    open: Mutex<Option<Arc<Simulator>>>,
    turns: Mutex<Turns>,
    overtaken: Notify,
    count: AtomicU64,
}

#[derive(Default)]
struct Turns {
    arrived: u64,
    /// Ends what the present command can do without.
    stop: Arc<AtomicBool>,
}

impl Slot {
    /// A command arrives: what an earlier one still computes can end. Gives its ticket.
    pub(crate) fn arrive(&self) -> u64 {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.arrived += 1;
        turns.stop.store(true, Ordering::Relaxed);
        let ticket = turns.arrived;
        drop(turns);
        self.overtaken.notify_waiters();
        ticket
    }

    /// The flag that ends what a command computes, once another one arrives.
    fn begin(&self, ticket: u64) -> Arc<AtomicBool> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.stop = Arc::new(AtomicBool::new(turns.arrived > ticket));
        Arc::clone(&turns.stop)
    }

    /// Ends the simulation, its thread and its worker.
    pub(crate) fn close(&self) {
        self.arrive();
        *self.open() = None;
    }

    fn open(&self) -> MutexGuard<'_, Option<Arc<Simulator>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn current(&self) -> Option<Arc<Simulator>> {
        self.open().clone()
    }
}

/// A simulation.
struct Simulator {
    number: u64,
    /// The document that it was started from.
    uri: String,
    thread: Thread,
    walks: Mutex<Arc<Walks>>,
}

impl Simulator {
    fn walks(&self) -> Arc<Walks> {
        Arc::clone(&self.walks.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn set_walks(&self, walks: Walks) {
        *self.walks.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(walks);
    }
}

fn limit(stop: &AtomicBool) -> Limit<'_> {
    Limit::new(stop, Instant::now().checked_add(PATIENCE))
}

/// Runs a command of the simulator; `Err` is a sentence for the user.
pub(crate) async fn command(
    shared: &Arc<Shared>,
    command: &str,
    argument: Argument,
) -> Result<Value, String> {
    let ticket = shared.simulation.arrive();
    // First come, first served.
    let _turn = shared.trace_commands.lock().await;
    let stop = shared.simulation.begin(ticket);
    if command == commands::SIMULATION_START {
        let simulator = start(shared, argument).await?;
        return shown(shared, &simulator, &stop).await;
    }
    if command == commands::SIMULATION_STOP {
        if shared.simulation.current().is_some() {
            shared.simulation.close();
            traces::change(shared, None).await;
        }
        return Ok(Value::Null);
    }
    let simulator = shared.simulation.current().ok_or(NOT_OPEN)?;
    let model = traces::model_of(shared, &simulator.uri).await?;
    let action = read(command, argument, &model)?;
    follow_text(shared, &simulator, &model).await?;
    if matches!(action, Action::Restart) {
        // A worker that ended gets another chance.
        let request = simulator.thread.run(|held| Arc::clone(&held.model)).await?;
        simulator.set_walks(new_walks(shared, &request));
    }
    act(shared, &simulator, action, &stop).await?;
    shown(shared, &simulator, &stop).await
}

/// Goes to a step of the walk: the trace commands do so while its trace is open.
pub(crate) async fn follow(shared: &Arc<Shared>, step: usize) -> Result<(), String> {
    let simulator = shared.simulation.current().ok_or(NOT_OPEN)?;
    simulator
        .thread
        .run(move |held| match step <= held.session.len() {
            true => held.session.goto(step),
            // The time since the last transition is the last step of the trace.
            false => Ok(()),
        })
        .await??;
    let stop = Arc::new(AtomicBool::new(false));
    let state = shown(shared, &simulator, &stop).await?;
    tell(shared, state).await;
    Ok(())
}

/// Starts a simulation in the place of the trace or simulation that is open.
async fn start(shared: &Arc<Shared>, argument: Argument) -> Result<Arc<Simulator>, String> {
    let uri = argument.uri.clone();
    let uri = uri.ok_or("the command needs {\"uri\": …}")?;
    let from = if let Some(walk) = argument.walk {
        From::Saved(saved(walk)?)
    } else if argument.query.is_some() || argument.line.is_some() {
        let step = argument.step.unwrap_or(0);
        let found = traces::find(shared, argument.uri, argument.query, argument.line).await?;
        From::Trace(found.trace, step)
    } else {
        From::Start
    };
    let model = traces::model_of(shared, &uri).await?;
    let (held, tool) = (Arc::clone(&model), shared.version.clone());
    let make = move || {
        let meaning = meaning::of_model(&held, &tool);
        let (Some((network, _)), Some(meaning)) = (held.network(), meaning) else {
            return Err("the model has errors; correct them first".to_owned());
        };
        if let Some(unsupported) = network.unsupported.iter().find(|u| u.fatal) {
            return Err(unsupported.message.clone());
        }
        let network = Arc::new(network.clone());
        let session = match from {
            From::Start => Session::new(network)?,
            From::Trace(trace, _) | From::Saved(trace) if trace.steps.len() > MOST_STEPS => {
                return Err(too_long());
            }
            From::Trace(trace, step) => Session::from_trace(network, &trace, step, limit(&NEVER))?,
            From::Saved(trace) => reopened(network, &trace, &held)?,
        };
        Ok(Held::new(session, held, meaning))
    };
    let thread = Thread::start(make).await?;
    let simulator = Arc::new(Simulator {
        number: shared.simulation.count.fetch_add(1, Ordering::Relaxed) + 1,
        uri,
        thread,
        walks: Mutex::new(Arc::new(new_walks(shared, &model))),
    });
    *shared.simulation.open() = Some(Arc::clone(&simulator));
    Ok(simulator)
}

/// What a simulation begins with.
enum From {
    /// The initial state.
    Start,
    /// A step of a trace that was found in this model.
    Trace(Arc<Trace>, usize),
    /// The end of a walk from a file.
    Saved(Arc<Trace>),
}

/// Reads a saved walk.
fn saved(walk: Value) -> Result<Arc<Trace>, String> {
    let trace = serde_json::from_value(walk);
    let trace = trace.map_err(|error| format!("this is not a saved walk: {error}"))?;
    Ok(Arc::new(trace))
}

/// The saved walk as far as it can be taken in this text; the state says where it had to end.
fn reopened(network: Arc<Network>, trace: &Trace, model: &Snapshot) -> Result<Session, String> {
    let position = thread::positions(&model.file().text);
    let opened = Session::from_saved(network, trace, &position, limit(&NEVER));
    let (mut session, stopped) = opened?;
    if let Some(stopped) = stopped {
        session.say(format!(
            "the saved walk ends before step {}: {}",
            stopped.step, stopped.reason
        ));
    }
    Ok(session)
}

fn too_long() -> String {
    format!("a walk has at most {MOST_STEPS} transitions here; go back, or restart")
}

fn new_walks(shared: &Shared, model: &Snapshot) -> Walks {
    let request: WorkerRequest = replays::request(shared, model, WorkerTask::Walk, String::new());
    let program: PathBuf = shared.worker.clone();
    let mut request = request;
    // For each answer; what takes longer would not be waited for.
    request.options.timeout = Some(10.0);
    Walks::start(program, request)
}

/// Does what was asked. What cannot be done is said in the state that follows.
async fn act(
    shared: &Arc<Shared>,
    simulator: &Arc<Simulator>,
    action: Action,
    stop: &Arc<AtomicBool>,
) -> Result<(), String> {
    let flag = Arc::clone(stop);
    let asked = simulator
        .thread
        .run(move |held| {
            // What does not fit the text cannot be continued; the state says why.
            if held.stale.is_some() {
                return None;
            }
            match apply(&mut held.session, action, &flag) {
                Ok(question) => question,
                Err(message) => {
                    held.session.say(message);
                    None
                }
            }
        })
        .await?;
    let Some(question) = asked else { return Ok(()) };
    // Made before the wait: a command that arrives now is not missed.
    let overtaken = shared.simulation.overtaken.notified();
    tokio::pin!(overtaken);
    overtaken.as_mut().enable();
    let answer = if stop.load(Ordering::Relaxed) {
        Err("another command came before delays were chosen".to_owned())
    } else {
        let reply = simulator.walks().ask(question.clone());
        tokio::select! {
            reply = reply => match reply {
                Ok(Ok(answer)) => Ok(answer),
                Ok(Err(why)) => Err(format!("no delays can be chosen: {why}")),
                Err(_) => Err("no delays were chosen".to_owned()),
            },
            () = &mut overtaken => Err("another command came before delays were chosen".to_owned()),
            () = tokio::time::sleep(CHOOSING) => {
                Err("it takes too long to choose delays".to_owned())
            }
        }
    };
    simulator
        .thread
        .run(move |held| {
            let taken = answer.and_then(|answer| {
                let taken = held.session.take_with(&question, &answer);
                if taken.is_err() {
                    held.session.set_zone(answer);
                }
                taken
            });
            if let Err(message) = taken {
                held.session.say(message);
            }
        })
        .await
}

/// Changes a session; gives the question whose answer a transition needs.
fn apply(
    session: &mut Session,
    action: Action,
    stop: &AtomicBool,
) -> Result<Option<WalkRequest>, String> {
    match action {
        Action::State => {}
        Action::Take {
            number,
            delay,
            revision,
        } => {
            if revision.is_some_and(|r| r != session.zone_question().id) {
                return Err("the simulation has changed since; choose again".into());
            }
            if session.step() >= MOST_STEPS {
                return Err(too_long());
            }
            if let Taken::OtherDelays(question) = session.take(number, delay, limit(&NEVER))? {
                return Ok(Some(question));
            }
        }
        Action::Delay(delay) => session.delay(delay, limit(&NEVER))?,
        Action::Back => session.back()?,
        Action::Forward => session.forward()?,
        Action::Goto(step) => session.goto(step)?,
        Action::Restart => session.restart()?,
        Action::Random { steps, seed, until } => {
            let left = MOST_STEPS.saturating_sub(session.step());
            if left == 0 {
                return Err(too_long());
            }
            let options = RandomOptions {
                seed,
                steps: steps.min(left),
                until,
            };
            // One step is a step like another: keys that follow one another quickly all count.
            let stop = if steps > 1 { stop } else { &NEVER };
            match session.random(&options, limit(stop))? {
                RandomEnd::Steps if steps > left => session.say(too_long()),
                RandomEnd::Steps => {}
                end => session.say(end.to_string()),
            }
        }
    }
    Ok(None)
}

/// Shows the present state: as the open trace, and as the answer. Asks for the zone.
async fn shown(
    shared: &Arc<Shared>,
    simulator: &Arc<Simulator>,
    stop: &Arc<AtomicBool>,
) -> Result<Value, String> {
    let (encoding, number) = (shared.encoding(), simulator.number);
    let flag = Arc::clone(stop);
    let (view, model_uri, meaning) = simulator
        .thread
        .run(move |held| {
            let view = view::view(held, number, encoding, limit(&flag));
            (view, held.model.uri.clone(), held.meaning)
        })
        .await?;
    let View {
        mut state,
        trace,
        step,
        question,
    } = view;
    name(&mut state, &simulator.uri, &model_uri);
    let stale = state["stale"] == json!(true);
    let before = shared.trace().filter(|t| !t.simulated);
    shared.set_trace(Some(OpenTrace {
        uri: simulator.uri.clone(),
        model_uri,
        query: "Simulation".to_owned(),
        meaning,
        trace,
        step,
        simulated: true,
    }));
    shared.set_trace_stale(stale);
    if let Some(before) = before {
        // Its query is not marked any more.
        shared.publish_again(&before.uri);
    }
    traces::announce(shared, stale).await;
    if let Some(question) = question.filter(|_| !stale && !stop.load(Ordering::Relaxed)) {
        tokio::spawn(fetch_zone(
            Arc::clone(shared),
            Arc::clone(simulator),
            question,
        ));
    }
    Ok(state)
}

fn name(state: &mut Value, uri: &str, model: &str) {
    state["uri"] = json!(uri);
    state["model"] = json!(model);
}

/// Asks for the zone of a walk and shows it, unless the walk is another one by then.
async fn fetch_zone(shared: Arc<Shared>, simulator: Arc<Simulator>, question: WalkRequest) {
    let id = question.id;
    let reply = simulator.walks().ask(question);
    let (number, encoding) = (simulator.number, shared.encoding());
    // The worker ends with the simulation, which this wait must not hold.
    let waiting = Arc::downgrade(&simulator);
    drop(simulator);
    let Ok(answer) = reply.await else { return };
    let Some(simulator) = waiting.upgrade() else {
        return;
    };
    let answer = answer.unwrap_or_else(|reason| without_zone(id, reason));
    let state = simulator.thread.run(move |held| {
        let fits = held.session.set_zone(answer) && held.stale.is_none();
        let state = || view::view(held, number, encoding, limit(&NEVER)).state;
        fits.then(state)
            .map(|state| (state, held.model.uri.clone()))
    });
    if let Ok(Some((mut state, model))) = state.await {
        name(&mut state, &simulator.uri, &model);
        tell(&shared, state).await;
    }
}

fn without_zone(id: u64, reason: String) -> WalkAnswer {
    WalkAnswer {
        id,
        zone: WalkZone::None { reason },
        transitions: Vec::new(),
        left_out: 0,
        delays: None,
    }
}

async fn tell(shared: &Arc<Shared>, state: Value) {
    if shared.capabilities().extensions {
        let client = &shared.client;
        client.send_notification::<SimulationChanged>(state).await;
    }
}

/// After an edit of `uri`: the walk is taken over into the new text, as far as it can be.
pub(crate) async fn edited(shared: &Arc<Shared>, uri: &str) {
    let Some(open) = shared.trace().filter(|t| t.simulated) else {
        return;
    };
    if open.model_uri != uri && open.uri != uri {
        return;
    }
    let _turn = shared.trace_commands.lock().await;
    let Some(simulator) = shared.simulation.current() else {
        return;
    };
    let Ok(model) = traces::model_of(shared, &simulator.uri).await else {
        return;
    };
    if let Ok(true) = follow_text(shared, &simulator, &model).await {
        let stop = Arc::new(AtomicBool::new(false));
        if let Ok(state) = shown(shared, &simulator, &stop).await {
            tell(shared, state).await;
        }
    }
}

/// Takes the walk over into `model` if that is another text; gives whether it is.
async fn follow_text(
    shared: &Arc<Shared>,
    simulator: &Arc<Simulator>,
    model: &Arc<Snapshot>,
) -> Result<bool, String> {
    let (wanted, tool) = (Arc::clone(model), shared.version.clone());
    let (changed, renewed) = simulator
        .thread
        .run(move |held| {
            if Arc::ptr_eq(&held.model, &wanted) {
                // An edit that was undone by opening the same text is none.
                return (held.stale.take().is_some(), false);
            }
            (true, carry(held, &wanted, &tool))
        })
        .await?;
    if renewed {
        simulator.set_walks(new_walks(shared, model));
    }
    Ok(changed)
}

/// Takes the walk over into `model`; gives whether the model means something else.
fn carry(held: &mut Held, model: &Arc<Snapshot>, tool: &str) -> bool {
    let meaning = meaning::of_model(model, tool);
    let (Some((network, _)), Some(meaning)) = (model.network(), meaning) else {
        let why = "the model has errors; the simulation goes on when they are corrected";
        held.stale = Some(why.to_owned());
        return false;
    };
    if let Some(unsupported) = network.unsupported.iter().find(|u| u.fatal) {
        held.stale = Some(unsupported.message.clone());
        return false;
    }
    let position = thread::positions(&model.file().text);
    let network = Arc::new(network.clone());
    let carried = held.session.carry_over(network, &position, limit(&NEVER));
    match carried {
        Err(why) => {
            held.stale = Some(format!("the model has changed: {why}"));
            false
        }
        Ok((mut session, stopped)) => {
            let renewed = meaning != held.meaning;
            match stopped {
                Some(stopped) => session.say(format!(
                    "the model has changed: the walk ends before step {}: {}",
                    stopped.step, stopped.reason
                )),
                None if renewed => {
                    session.say("the model has changed; the whole walk is still possible");
                }
                None => {}
            }
            *held = Held::new(session, Arc::clone(model), meaning);
            renewed
        }
    }
}
