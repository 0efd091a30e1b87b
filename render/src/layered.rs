//! Layered layout for graphs without coordinates, after Sugiyama, Tagawa and Toda (1981).
//!
//! Every edge is cut into pieces that each cross one layer border, and its label is a separate node
//! halfway (as in Gansner et al., 1993), so that labels keep their distance like nodes do. Cycles
//! are broken by a depth-first search from the initial location; barycentre sweeps determine the
//! order, and pulling nodes towards their neighbours determines the coordinates. Models have tens
//! of locations: simple passes are fast enough and deterministic.

/// The size of a node or label.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
}

/// An edge to route between two nodes, with the size of its label.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    /// The index of the source node.
    pub source: usize,
    /// The index of the target node, which differs from the source.
    pub target: usize,
    /// The size of its label.
    pub label: Size,
}

/// The computed layout.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    /// The centres of the nodes.
    pub nodes: Vec<(f64, f64)>,
    /// The layer of each node.
    pub layers: Vec<usize>,
    /// The route of each link.
    pub links: Vec<Route>,
    /// The top and bottom of each layer.
    pub rows: Vec<(f64, f64)>,
}

/// The route of a link.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    /// The points it passes through from source to target, without the ends, each with its layer.
    pub bends: Vec<(Point, usize)>,
    /// The index of the point that is the centre of its label.
    pub label: usize,
}

impl Route {
    /// The centre of the label, if there is room for one.
    pub(crate) fn label_at(&self) -> Option<Point> {
        self.bends.get(self.label).map(|(at, _)| *at)
    }
}

/// Horizontal and vertical position.
pub(crate) type Point = (f64, f64);

const GAP_X: f64 = 28.0;
const GAP_Y: f64 = 26.0;
const ORDER_SWEEPS: usize = 12;
const PLACE_SWEEPS: usize = 24;

/// A vertex of the layered graph: a node, a label, or a bend.
struct Vertex {
    rank: usize,
    size: Size,
    up: Vec<usize>,
    down: Vec<usize>,
    x: f64,
}

/// Computes the layout; `root` is the node to start from.
pub(crate) fn place(nodes: &[Size], links: &[Link], root: usize) -> Placed {
    let ranks = ranks(nodes.len(), links, root);
    let mut vertices: Vec<Vertex> = nodes
        .iter()
        .zip(&ranks)
        .map(|(size, rank)| Vertex::new(rank * 2, *size))
        .collect();
    let chains: Vec<Vec<usize>> = links
        .iter()
        .map(|link| chain(&mut vertices, link, &ranks))
        .collect();
    let mut layers = layers(&vertices);
    order(&mut layers, &vertices);
    assign_x(&layers, &mut vertices);
    let rows = assign_y(&layers, &vertices);
    let at = |v: usize| {
        let (top, bottom) = rows[vertices[v].rank];
        (vertices[v].x, f64::midpoint(top, bottom))
    };
    let route = |chain: &Vec<usize>, link: &Link| {
        let bend = |v: &usize| (at(*v), vertices[*v].rank);
        let mut bends: Vec<(Point, usize)> = chain.iter().map(bend).collect();
        let mut label = bends.len() / 2;
        if ranks[link.source] > ranks[link.target] {
            bends.reverse();
            label = bends.len().saturating_sub(label + 1);
        }
        Route { bends, label }
    };
    Placed {
        nodes: (0..nodes.len()).map(at).collect(),
        layers: vertices[..nodes.len()].iter().map(|v| v.rank).collect(),
        links: chains.iter().zip(links).map(|(c, l)| route(c, l)).collect(),
        rows,
    }
}

impl Vertex {
    fn new(rank: usize, size: Size) -> Vertex {
        Vertex {
            rank,
            size,
            up: Vec::new(),
            down: Vec::new(),
            x: 0.0,
        }
    }
}

/// Assigns layers by the longest path; edges that close a cycle are reversed.
fn ranks(count: usize, links: &[Link], root: usize) -> Vec<usize> {
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); count];
    for link in links {
        out[link.source].push(link.target);
    }
    // Depth-first search: an edge to a node that is still on the stack closes a cycle.
    let mut finished = Vec::new();
    let mut state = vec![0u8; count];
    for start in std::iter::once(root).chain(0..count) {
        if start >= count || state[start] != 0 {
            continue;
        }
        let mut stack = vec![(start, 0)];
        state[start] = 1;
        while let Some((node, next)) = stack.pop() {
            match out[node].get(next) {
                Some(&to) => {
                    stack.push((node, next + 1));
                    if state[to] == 0 {
                        state[to] = 1;
                        stack.push((to, 0));
                    }
                }
                None => finished.push(node),
            }
        }
    }
    let mut position = vec![0; count];
    for (i, node) in finished.iter().rev().enumerate() {
        position[*node] = i;
    }
    let mut ranks = vec![0; count];
    for node in finished.iter().rev() {
        for link in links {
            let (a, b) = (link.source, link.target);
            let (from, to) = if position[a] <= position[b] {
                (a, b)
            } else {
                (b, a)
            };
            if from == *node {
                ranks[to] = ranks[to].max(ranks[from] + 1);
            }
        }
    }
    ranks
}

/// Cuts a link into pieces: one vertex per layer between its ends, with the label in the middle.
fn chain(vertices: &mut Vec<Vertex>, link: &Link, ranks: &[usize]) -> Vec<usize> {
    let (top, bottom) = if ranks[link.source] <= ranks[link.target] {
        (link.source, link.target)
    } else {
        (link.target, link.source)
    };
    let between = (2 * ranks[top] + 1)..(2 * ranks[bottom]);
    let middle = between.len() / 2;
    let mut chain = Vec::new();
    let mut last = top;
    for (i, rank) in between.enumerate() {
        let size = if i == middle {
            link.label
        } else {
            Size {
                width: 8.0,
                height: 0.0,
            }
        };
        let vertex = vertices.len();
        vertices.push(Vertex::new(rank, size));
        connect(vertices, last, vertex);
        chain.push(vertex);
        last = vertex;
    }
    connect(vertices, last, bottom);
    chain
}

fn connect(vertices: &mut [Vertex], above: usize, below: usize) {
    vertices[above].down.push(below);
    vertices[below].up.push(above);
}

fn layers(vertices: &[Vertex]) -> Vec<Vec<usize>> {
    let count = vertices.iter().map(|v| v.rank + 1).max().unwrap_or(0);
    let mut layers = vec![Vec::new(); count];
    for (i, vertex) in vertices.iter().enumerate() {
        layers[vertex.rank].push(i);
    }
    layers
}

/// Orders each layer by the mean position of the neighbours, downwards and upwards in turn, and
/// keeps the best order.
fn order(layers: &mut Vec<Vec<usize>>, vertices: &[Vertex]) {
    let mut best = (crossings(layers, vertices), layers.clone());
    for sweep in 0..ORDER_SWEEPS {
        let down = sweep % 2 == 0;
        let mut places = places(layers, vertices.len());
        let indices: Vec<usize> = if down {
            (1..layers.len()).collect()
        } else {
            (0..layers.len().saturating_sub(1)).rev().collect()
        };
        for layer in indices {
            let key = |v: usize| {
                let near = if down {
                    &vertices[v].up
                } else {
                    &vertices[v].down
                };
                if near.is_empty() {
                    return places[v];
                }
                near.iter().map(|n| places[*n]).sum::<f64>() / near.len() as f64
            };
            let mut keyed: Vec<(f64, usize)> =
                layers[layer].iter().map(|v| (key(*v), *v)).collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            layers[layer] = keyed.into_iter().map(|(_, v)| v).collect();
            for (i, v) in layers[layer].iter().enumerate() {
                places[*v] = i as f64;
            }
        }
        let now = crossings(layers, vertices);
        if now < best.0 {
            best = (now, layers.clone());
        }
    }
    *layers = best.1;
}

fn places(layers: &[Vec<usize>], count: usize) -> Vec<f64> {
    let mut out = vec![0.0; count];
    for layer in layers {
        for (i, v) in layer.iter().enumerate() {
            out[*v] = i as f64;
        }
    }
    out
}

/// The number of pairs of pieces that cross.
fn crossings(layers: &[Vec<usize>], vertices: &[Vertex]) -> usize {
    let places = places(layers, vertices.len());
    let mut count = 0;
    for layer in layers {
        let pieces: Vec<(f64, f64)> = layer
            .iter()
            .flat_map(|v| vertices[*v].down.iter().map(|d| (places[*v], places[*d])))
            .collect();
        for (i, a) in pieces.iter().enumerate() {
            for b in &pieces[i + 1..] {
                count += usize::from((a.0 - b.0) * (a.1 - b.1) < 0.0);
            }
        }
    }
    count
}

/// Pulls vertices towards the mean of their neighbours while keeping order and distance.
fn assign_x(layers: &[Vec<usize>], vertices: &mut [Vertex]) {
    for layer in layers {
        let mut x = 0.0;
        for v in layer {
            let width = vertices[*v].size.width;
            vertices[*v].x = x + width / 2.0;
            x += width + GAP_X;
        }
    }
    for sweep in 0..PLACE_SWEEPS {
        let mut indices: Vec<usize> = (0..layers.len()).collect();
        if sweep % 2 == 1 {
            indices.reverse();
        }
        for layer in indices {
            let wanted: Vec<f64> = layers[layer]
                .iter()
                .map(|v| {
                    let near = vertices[*v].up.iter().chain(&vertices[*v].down);
                    let (sum, count) =
                        near.fold((0.0, 0.0), |(s, c), n| (s + vertices[*n].x, c + 1.0));
                    if count > 0.0 {
                        sum / count
                    } else {
                        vertices[*v].x
                    }
                })
                .collect();
            settle(&layers[layer], &wanted, vertices);
        }
    }
    let left = vertices
        .iter()
        .map(|v| v.x - v.size.width / 2.0)
        .fold(f64::INFINITY, f64::min);
    for vertex in vertices {
        vertex.x -= left;
    }
}

/// Places the vertices near `wanted`: the mean of the positions when pushed apart to the right and
/// to the left. Order and distance are kept in both, and so in their mean.
fn settle(layer: &[usize], wanted: &[f64], vertices: &mut [Vertex]) {
    let gap = |a: usize, b: usize| (vertices[a].size.width + vertices[b].size.width) / 2.0 + GAP_X;
    let mut right = wanted.to_vec();
    for i in 1..layer.len() {
        right[i] = right[i].max(right[i - 1] + gap(layer[i - 1], layer[i]));
    }
    let mut left = wanted.to_vec();
    for i in (0..layer.len().saturating_sub(1)).rev() {
        left[i] = left[i].min(left[i + 1] - gap(layer[i], layer[i + 1]));
    }
    for ((v, r), l) in layer.iter().zip(right).zip(left) {
        vertices[*v].x = (r + l) / 2.0;
    }
}

/// The top and bottom of each layer; a layer is as high as its highest member.
fn assign_y(layers: &[Vec<usize>], vertices: &[Vertex]) -> Vec<(f64, f64)> {
    let mut y = 0.0;
    layers
        .iter()
        .map(|layer| {
            let height = layer
                .iter()
                .map(|v| vertices[*v].size.height)
                .fold(0.0, f64::max);
            let row = (y, y + height);
            y += height + GAP_Y;
            row
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: Size = Size {
        width: 40.0,
        height: 40.0,
    };

    fn link(source: usize, target: usize) -> Link {
        Link {
            source,
            target,
            label: Size {
                width: 80.0,
                height: 15.0,
            },
        }
    }

    fn apart(a: (f64, f64), b: (f64, f64), size: Size) -> bool {
        (a.0 - b.0).abs() >= size.width - 1e-6 || (a.1 - b.1).abs() >= size.height - 1e-6
    }

    /// The graph of Fischer's protocol, with edges in both directions, and a separate component.
    #[test]
    fn nothing_overlaps() {
        let links = [
            link(0, 1),
            link(1, 2),
            link(2, 1),
            link(2, 3),
            link(3, 0),
            link(4, 5),
            link(4, 5),
        ];
        let placed = place(&[NODE; 6], &links, 0);
        for (i, a) in placed.nodes.iter().enumerate() {
            for b in &placed.nodes[..i] {
                assert!(apart(*a, *b, NODE), "{placed:?}");
            }
        }
        let labels: Vec<Point> = placed.links.iter().filter_map(Route::label_at).collect();
        assert_eq!(labels.len(), links.len());
        for (i, a) in labels.iter().enumerate() {
            for b in &labels[..i] {
                assert!(apart(*a, *b, links[0].label), "{placed:?}");
            }
        }
        assert!(placed.nodes[0].1 < placed.nodes[1].1, "the root is on top");
    }

    #[test]
    fn one_node_and_none() {
        assert_eq!(place(&[NODE], &[], 0).nodes, [(20.0, 20.0)]);
        assert!(place(&[], &[], 0).nodes.is_empty());
    }
}
