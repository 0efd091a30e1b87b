//! What a run looks for: locations, edges, guards, receivers and limits, each once per template.

use crate::program::EdgeId;
use rustc_hash::FxHashMap;
use zonelens_analysis::coverage::{Element, Totals};
use zonelens_analysis::network::{DEFAULT_INT, Network, Shape, Sync};
use zonelens_syntax::ast::Direction;
use zonelens_syntax::span::Span;

/// An edge as written, shared by the processes of its template; one part of an edge that leads over
/// branchpoints.
pub(super) struct Written {
    /// Itself, in the first of these processes.
    pub element: Element,
    /// Its source, unless it starts in a branchpoint.
    pub source: Option<usize>,
    /// Its target, unless it ends in a branchpoint.
    pub target: Option<usize>,
    /// The edges that enter the branchpoint where it starts.
    pub before: Vec<usize>,
    /// Whether it has a guard.
    pub guarded: bool,
    /// Whether it receives, and whether some edge of the model may send to it.
    pub receives: Option<bool>,
}

/// The cells of a variable, or of a field, with one declared range.
pub(super) struct Limited {
    /// The cells, in all processes of the template.
    pub cells: Vec<u32>,
    /// The declared range.
    pub range: (i32, i32),
}

/// Everything that a run looks for.
#[derive(Default)]
pub(super) struct Catalogue {
    /// The locations as written, each in the first process of its template.
    pub places: Vec<Element>,
    /// The edges as written.
    pub written: Vec<Written>,
    /// The variables with a declared range.
    pub limited: Vec<Limited>,
    /// The places of each process, by location.
    pub places_of: Vec<Vec<usize>>,
    /// The parts of each edge of the program, as written.
    pub parts_of: Vec<Vec<usize>>,
}

impl Catalogue {
    /// Lists what a network has.
    pub(super) fn new(network: &Network) -> Catalogue {
        let mut catalogue = Catalogue::default();
        let senders = Senders::new(network);
        let mut places: FxHashMap<(Span, usize), usize> = FxHashMap::default();
        let mut written: FxHashMap<(Span, Span), usize> = FxHashMap::default();
        for (p, process) in network.processes.iter().enumerate() {
            let own = (0..process.locations.len()).map(|location| {
                let key = (process.span, location);
                *places.entry(key).or_insert_with(|| {
                    catalogue.places.push(Element::Location {
                        process: p as u32,
                        location: location as u32,
                    });
                    catalogue.places.len() - 1
                })
            });
            let own: Vec<usize> = own.collect();
            for (e, edge) in process.edges.iter().enumerate() {
                let parts = edge.spans.len();
                let mut ids: Vec<usize> = Vec::with_capacity(parts);
                for (part, span) in edge.spans.iter().enumerate() {
                    let id = *written.entry((process.span, *span)).or_insert_with(|| {
                        let element = Element::Edge {
                            process: p as u32,
                            edge: e as u32,
                            part: part as u32,
                        };
                        let source = (part == 0).then(|| own[edge.source as usize]);
                        let target = (part + 1 == parts).then(|| own[edge.target as usize]);
                        catalogue.written.push(Written {
                            element,
                            source,
                            target,
                            before: Vec::new(),
                            guarded: part == 0 && edge.guard.is_some(),
                            receives: None,
                        });
                        catalogue.written.len() - 1
                    });
                    let written = &mut catalogue.written[id];
                    if part == 0
                        && let Some(sync) = &edge.sync
                        && sync.direction == Direction::Receive
                    {
                        let heard = written.receives.unwrap_or(false);
                        written.receives = Some(heard || senders.reach(p, sync));
                    }
                    if let Some(before) = ids.last()
                        && !written.before.contains(before)
                    {
                        written.before.push(*before);
                    }
                    ids.push(id);
                }
                catalogue.parts_of.push(ids);
            }
            catalogue.places_of.push(own);
        }
        catalogue.limits(network);
        catalogue
    }

    /// The edge as written whose guard is that of an edge of the program.
    pub(super) fn first_part(&self, edge: EdgeId) -> usize {
        self.parts_of[edge as usize][0]
    }

    /// Collects the declared ranges. Elements of scalarsets have no order, so the ends of their
    /// ranges are names like all others; what `meta` variables hold between steps has no meaning.
    fn limits(&mut self, network: &Network) {
        let mut known: FxHashMap<(Span, u32, (i32, i32)), usize> = FxHashMap::default();
        for variable in network.variables.iter() {
            let mut leaves = Vec::new();
            leaves_of(&variable.shape, &mut 0, &mut leaves);
            for (leaf, (field, boolean)) in leaves.into_iter().enumerate() {
                let id = variable.first_cell.plus(leaf as u32);
                let Some(cell) = network.cells.get(id) else {
                    continue;
                };
                let range = (cell.lo, cell.hi);
                if boolean || cell.meta || cell.scalarset.is_some() || range == DEFAULT_INT {
                    continue;
                }
                let key = (variable.span, field, range);
                let at = *known.entry(key).or_insert_with(|| {
                    let cells = Vec::new();
                    self.limited.push(Limited { cells, range });
                    self.limited.len() - 1
                });
                self.limited[at].cells.push(id.0);
            }
        }
    }

    /// The numbers of locations, edges, guards, receivers and limits.
    pub(super) fn totals(&self) -> Totals {
        let count =
            |test: fn(&Written) -> bool| self.written.iter().filter(|w| test(w)).count() as u32;
        Totals {
            locations: self.places.len() as u32,
            edges: self.written.len() as u32,
            guards: count(|w| w.guarded),
            receivers: count(|w| w.receives.is_some()),
            limits: 2 * self.limited.len() as u32,
        }
    }
}

/// The leaves of a shape that are cells, in order: a number for each field, and whether it is a
/// boolean. Entries of an array have the same numbers.
fn leaves_of(shape: &Shape, fields: &mut u32, out: &mut Vec<(u32, bool)>) {
    match shape {
        Shape::Int { boolean, .. } => {
            out.push((*fields, *boolean));
            *fields += 1;
        }
        Shape::Clock | Shape::Channel => {}
        Shape::Array { index, element } => {
            let first = *fields;
            for _ in 0..index.len {
                *fields = first;
                leaves_of(element, fields, out);
            }
        }
        Shape::Struct(parts) => {
            for (_, part) in parts {
                leaves_of(part, fields, out);
            }
        }
    }
}

/// The channels that an edge may use.
fn channels(sync: &Sync) -> std::ops::RangeInclusive<usize> {
    let steps = sync.channel.steps.iter();
    let far: u32 = steps
        .map(|s| s.range.len.saturating_sub(1) * s.stride)
        .sum();
    let first = sync.channel.base.0;
    first as usize..=(first + far) as usize
}

/// For each channel, a process that may send on it, and whether another one may, too.
struct Senders(Vec<(Option<usize>, bool)>);

impl Senders {
    fn new(network: &Network) -> Senders {
        let mut all = vec![(None, false); network.channels.len()];
        for (p, process) in network.processes.iter().enumerate() {
            let syncs = process.edges.iter().filter_map(|e| e.sync.as_ref());
            for sync in syncs.filter(|s| s.direction == Direction::Send) {
                for (first, more) in all.get_mut(channels(sync)).into_iter().flatten() {
                    *more |= first.is_some_and(|q| q != p);
                    first.get_or_insert(p);
                }
            }
        }
        Senders(all)
    }

    /// Whether a process other than `receiver` may send on a channel that its edge hears.
    fn reach(&self, receiver: usize, heard: &Sync) -> bool {
        let mut heard = self.0.get(channels(heard)).into_iter().flatten();
        heard.any(|(first, more)| *more || first.is_some_and(|p| p != receiver))
    }
}
