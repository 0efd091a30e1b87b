//! Questions about walks: a worker that runs as long as a simulation.

use super::{STOPPED, prepare, send};
use crate::{SUCCESS, output};
use std::io::BufRead;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};
use zonelens_analysis::report::{WorkerMessage, WorkerRequest};
use zonelens_analysis::simulation::{ChosenDelays, WalkAnswer, WalkRequest, WalkZone};
use zonelens_checker::Walks;
use zonelens_interpreter::Limit;

/// The time limit for one answer if the request sets none.
const PATIENCE: Duration = Duration::from_secs(10);

/// Set when another question arrives: the present one need not be answered any more.
static CANCELLED: AtomicBool = AtomicBool::new(false);
/// Held while a question and the flag are passed on together, so that no question cancels itself.
static HANDOVER: Mutex<()> = Mutex::new(());

/// Answers until the input closes.
pub(super) fn run(request: &WorkerRequest) -> u8 {
    let (sender, questions) = channel();
    if let Err(error) = std::thread::Builder::new().spawn(move || listen(&sender)) {
        output::complain(&format!("the worker cannot watch its input: {error}"));
        return crate::BAD_INPUT;
    }
    let prepared = prepare(request);
    let mut walks = match prepared.network() {
        Some(network) => Walks::new(network),
        None => Err("the model has errors".to_owned()),
    };
    let patience = request.options.timeout.map(Duration::try_from_secs_f64);
    let patience = patience.and_then(Result::ok).unwrap_or(PATIENCE);
    while let Some(question) = next(&questions) {
        let limit = Limit::new(&CANCELLED, Instant::now().checked_add(patience));
        let answer = match &mut walks {
            Ok(walks) => walks.answer(&question, limit),
            Err(reason) => without_zone(&question, reason),
        };
        send(&WorkerMessage::Walk(Box::new(answer)));
    }
    SUCCESS
}

/// The newest question; older ones get an answer without a zone.
fn next(questions: &Receiver<WalkRequest>) -> Option<WalkRequest> {
    let mut question = questions.recv().ok()?;
    loop {
        let _handover = HANDOVER.lock();
        CANCELLED.store(false, Ordering::SeqCst);
        match questions.try_recv() {
            Ok(newer) => {
                let answer = without_zone(&question, "another question came in");
                send(&WorkerMessage::Walk(Box::new(answer)));
                question = newer;
            }
            Err(_) => return Some(question),
        }
    }
}

fn listen(sender: &Sender<WalkRequest>) {
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        match serde_json::from_str::<WalkRequest>(&line) {
            Ok(question) => {
                let _handover = HANDOVER.lock();
                if sender.send(question).is_err() {
                    break;
                }
                CANCELLED.store(true, Ordering::SeqCst);
            }
            Err(error) => output::complain(&format!("this is not a question: {error}")),
        }
    }
    // If the input ends for any reason, no client waits for an answer.
    std::process::exit(STOPPED);
}

fn without_zone(question: &WalkRequest, reason: &str) -> WalkAnswer {
    WalkAnswer {
        id: question.id,
        zone: WalkZone::None {
            reason: reason.to_owned(),
        },
        transitions: Vec::new(),
        left_out: 0,
        delays: question.take.as_ref().map(|_| ChosenDelays::None {
            reason: reason.to_owned(),
        }),
    }
}
