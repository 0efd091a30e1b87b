//! The language server: documents, features, verification runs.
//!
//! Owns the protocol and the state of runs. It must never know about grammar or zones, and it
//! reaches the engine only through the worker process. Traces are replayed and asked about here, by
//! the interpreter, under limits.

mod announce;
mod cache;
mod capabilities;
mod code_lens;
mod commands;
mod configuration;
mod coverage;
mod diagnostics;
mod document;
mod folders;
mod from_proto;
mod input;
mod large_answer;
mod last_good;
mod leave;
mod log;
mod meaning;
mod open_trace;
mod outline;
mod panels;
mod pool;
mod position;
mod private;
mod publish;
mod queries;
mod query_hover;
mod registrations;
mod replays;
mod rule_pages;
mod runs;
mod server;
mod shared;
mod simulation;
mod status;
mod stdio;
mod store;
mod tidy;
mod to_proto;
mod trace_data;
mod trace_document;
mod traces;
mod typing;
mod uri;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tower_lsp_server::LspService;
use zonelens_project::platform;

/// Handlers hold their place until they answer; with few places a slow one would hold up the next
/// edit.
const CONCURRENCY: usize = 256;
/// Parsing and analysis recurse over the text's tree; memory for the stack is only taken when used.
const STACK_BYTES: usize = 256 << 20;
/// Threads that parse and analyse at the same time; `pool` sees to it that there are few unless
/// tasks take long.
const MAX_BLOCKING_THREADS: usize = 512;

/// Idle threads go soon, and with them what their stacks and allocators hold.
const THREAD_KEEP_ALIVE: Duration = Duration::from_secs(2);

/// What the server is started with.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The program that is started with `worker` for each run.
    pub worker: PathBuf,
    /// Version and commit, for `serverInfo` and as part of what results belong to.
    pub version: String,
    /// Documents with this in their names take long: for tests.
    pub slow: Option<String>,
    /// Where to write the log.
    pub log_file: Option<PathBuf>,
}

/// Serves on standard input and output until the editor leaves; gives whether it said goodbye
/// before.
pub fn serve_stdio(options: ServerOptions) -> std::io::Result<bool> {
    platform::share_memory();
    if let Some(slow) = options.slow.clone() {
        zonelens_ide::snapshot::set_slow(slow);
    }
    let crashes = cache::base_directory().map(|base| base.join("crashes"));
    log::start(options.log_file.as_deref(), crashes)?;
    log::write(&format!("zonelens {} starts", options.version));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(MAX_BLOCKING_THREADS)
        .thread_stack_size(STACK_BYTES)
        .thread_keep_alive(THREAD_KEEP_ALIVE)
        .enable_all()
        .build()?;
    let hints = Arc::new(input::ClientHints::default());
    let listening = Arc::clone(&hints);
    let leave = leave::Leave::new(Arc::clone(&hints));
    leave.with_input();
    let flushed = runtime.block_on(async {
        let input = stdio::input(Arc::clone(&leave))?;
        let stdin = input::guarded(input, Arc::clone(&listening), Arc::clone(&leave));
        let answers = Arc::new(large_answer::LargeAnswers::default());
        let (stdout, flushed) = stdio::output(Arc::clone(&answers))?;
        let (service, socket) = LspService::build(|client| {
            let (worker, version) = (options.worker.clone(), options.version.clone());
            server::Server::new(client, worker, version, answers, listening, leave)
        })
        .custom_method(
            "window/workDoneProgress/cancel",
            server::Server::progress_cancelled,
        )
        .custom_method(input::MALFORMED, server::Server::malformed)
        .custom_method(input::UNKNOWN, server::Server::unknown_request)
        .custom_method("zonelens/documentText", server::Server::document_text)
        .custom_method("zonelens/drawing", server::Server::drawing)
        .custom_method("zonelens/chart", server::Server::chart)
        .custom_method("zonelens/serverStatus", server::Server::server_status)
        .custom_method(
            "workspace/textDocumentContent",
            server::Server::document_content,
        )
        .finish();
        tower_lsp_server::Server::new(stdin, stdout, socket)
            .concurrency_level(CONCURRENCY)
            .serve(service)
            .await;
        Ok::<_, std::io::Error>(flushed)
    })?;
    flushed.wait();
    // A thread may still be parsing for a request that nobody waits for.
    runtime.shutdown_background();
    leave::end_workers();
    let goodbye = hints.said_goodbye();
    log::write(match goodbye {
        true => "the editor said goodbye",
        false => "the editor left without `shutdown`",
    });
    Ok(goodbye)
}
