//! `zonelens certify`, and the certificates of `zonelens verify`.

use crate::model::{Prepared, Source};
use crate::verify::constant;
use crate::{BAD_INPUT, inputs, model, output};
use clap::Args as ClapArgs;
use std::io::Cursor;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use zonelens_analysis::network::{Network, Query};
use zonelens_analysis::report::{CertificateReport, Options, QueryReport, Reason, Verdict};
use zonelens_analysis::report_text;
use zonelens_certificate::{Asked, Limits, Obligation, certify, check};
use zonelens_checker::{Certificate, Control, verify_and_certify};
use zonelens_syntax::source::QueryRef;

/// The part of `--help` about the exit status.
const STATUS: &str = "\
The checker shares no code with the engine: docs/certificates.md says what is trusted. `zonelens-certify` is the same in a program of its \
own.

Exit status:
  0  accepted: the claim that is printed is proved
  1  rejected: the obligation that fails, the state and the place in the model are printed
  2  bad usage, unreadable files, or a model with errors";

/// Arguments of `zonelens certify`.
#[derive(ClapArgs)]
#[command(after_help = STATUS)]
pub(crate) struct Args {
    /// The model
    model: PathBuf,
    /// The certificate, as `verify --certificate FILE` writes it
    file: PathBuf,
    /// The formula that the certificate must be about; without it, the one in the certificate is
    /// checked and printed
    #[arg(short = 'q', value_name = "FORMULA", allow_hyphen_values = true)]
    query: Option<String>,
    /// A constant that the certificate must be about; give all of them, or none
    #[arg(long = "const", value_name = "NAME=VALUE", value_parser = constant)]
    constants: Vec<(String, i64)>,
}

/// Checks a certificate; returns the documented exit status.
pub(crate) fn run(args: &Args) -> u8 {
    let text = match model::read_text(&args.model) {
        Ok(text) => text,
        Err(message) => {
            output::complain(&message);
            return BAD_INPUT;
        }
    };
    let mut file = match std::fs::File::open(&args.file) {
        Ok(file) => file,
        Err(error) => {
            let name = args.file.display();
            output::complain(&format!("{name} cannot be read: {error}"));
            return BAD_INPUT;
        }
    };
    let asked = Asked {
        query: args.query.clone(),
        constants: match args.constants.is_empty() {
            true => None,
            false => Some(args.constants.iter().cloned().collect()),
        },
    };
    let kind = inputs::kind_of(&args.model, &text);
    let start = Instant::now();
    let outcome = certify(&text, kind, &asked, &mut file, &Limits::default());
    let text = outcome.text(&args.model.display().to_string());
    match outcome.status() {
        BAD_INPUT => output::complain(&text),
        0 => output::say(&format!("{text}\n  checked in {:.2?}", start.elapsed())),
        _ => output::say(&text),
    }
    outcome.status()
}

/// What `verify` does about certificates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// Where to write it.
    pub file: Option<PathBuf>,
    /// Whether to check it.
    pub check: bool,
}

impl Prepared {
    /// Answers one query of `from` and writes or checks its certificate. `Err` is a message about
    /// the file of the certificate; the report counts nevertheless.
    pub(crate) fn ask_with_certificate(
        &self,
        from: &Source,
        query: QueryRef<'_>,
        options: &Options,
        control: &Control<'_>,
        wanted: &Wanted,
    ) -> (QueryReport, Result<(), String>) {
        if options.every.is_some() || query.query.every.is_some() {
            let mut report = self.ask(from, query, options, control);
            let why = "there are no certificates of proofs for every size yet";
            report.uncertified = Some(why.to_owned());
            return (report, Ok(()));
        }
        let mut written = Ok(());
        let known = self.known_constants(options);
        let report = self.answer(from, query, (options, control), |network, resolved| {
            let start = Instant::now();
            let tool = (concat!("zonelens ", env!("ZONELENS_VERSION")), &known);
            let position = |span| self.position(span);
            let (mut report, certificate) =
                verify_and_certify(network, resolved, options, tool, &position, control);
            match certificate {
                Err(reason) => report.uncertified = Some(reason),
                Ok(certificate) => {
                    let deadline = options.timeout.map(|limit| {
                        Duration::from_secs_f64((limit - start.elapsed().as_secs_f64()).max(0.0))
                    });
                    if wanted.check {
                        self.check(
                            (network, resolved),
                            &certificate,
                            deadline,
                            control,
                            &mut report,
                        );
                    } else {
                        report.certificate = Some(described(&certificate));
                    }
                    if let (Some(file), Some(_)) = (&wanted.file, &report.certificate) {
                        written = std::fs::write(file, &certificate.bytes).map_err(|error| {
                            format!("{} cannot be written: {error}", file.display())
                        });
                    }
                }
            }
            report
        });
        (report, written)
    }

    /// Checks a certificate of a report, within the time that is left.
    fn check(
        &self,
        (network, query): (&Network, &Query),
        certificate: &Certificate,
        time_left: Option<Duration>,
        control: &Control<'_>,
        report: &mut QueryReport,
    ) {
        let start = Instant::now();
        let stop = || {
            control.cancelled.load(Ordering::Relaxed)
                || time_left.is_some_and(|limit| start.elapsed() > limit)
        };
        let limits = Limits {
            stop: &stop,
            ..Limits::default()
        };
        let bytes = &certificate.bytes;
        match check(
            network,
            query,
            Cursor::new(bytes),
            bytes.len() as u64,
            &limits,
        ) {
            Ok(_) => {
                report.certificate = Some(CertificateReport {
                    checked: true,
                    seconds: start.elapsed().as_secs_f64(),
                    ..described(certificate)
                });
            }
            Err(rejection) if rejection.obligation == Obligation::Finished => {
                let size = report_text::bytes(bytes.len() as u64);
                let reason = format!("the limits were reached while it ({size}) was checked");
                report.uncertified = Some(reason);
            }
            Err(rejection) => {
                let place = rejection.span.map(|span| self.position(span).line);
                let place = place
                    .map(|line| format!(", line {line}"))
                    .unwrap_or_default();
                let reason = format!(
                    "its certificate is rejected ({rejection}{place}); please report this model"
                );
                report.verdict = Verdict::Error;
                report.reason = Some(Reason::Internal(reason));
            }
        }
    }
}

/// A certificate that was not checked.
fn described(certificate: &Certificate) -> CertificateReport {
    CertificateReport {
        kind: certificate.kind.name().to_owned(),
        states: certificate.states,
        zones: certificate.zones,
        bytes: certificate.bytes.len() as u64,
        checked: false,
        seconds: 0.0,
        symmetry: certificate.symmetry,
        searched_again: certificate.searched_again,
    }
}
