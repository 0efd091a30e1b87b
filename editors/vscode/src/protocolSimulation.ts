// The state of a simulation, as the commands `zonelens.simulation.*` answer it: docs/protocol.md.
import type { State, TextRange } from './protocol';

/** An edge that a process takes. */
export interface SimulatedEdge {
  process: string;
  from: string;
  to: string;
  select: Record<string, number>;
  range: TextRange | null;
  /** The places of guard, synchronisation, update and so on. */
  labels?: TextRange[];
  /** The id of the edge in the drawing. */
  edge: number | null;
}

/** Who takes part, the sender first. */
export interface Transition {
  channel: string | null;
  edges: SimulatedEdge[];
}

/** A transition in words, without its channel: `P(0): idle → req [k = 1], P(1): …`. */
export function words(transition: Transition): string {
  const edges = transition.edges.map((edge) => {
    const select = Object.entries(edge.select).map(([name, value]) => `${name} = ${value}`);
    return `${edge.process}: ${edge.from} → ${edge.to}${select.length > 0 ? ` [${select.join(', ')}]` : ''}`;
  });
  return edges.join(', ');
}

/** Why something is not possible. */
export interface Reason {
  kind: string;
  message: string;
  line: number;
  column: number;
  range: TextRange | null;
}

/** A simulation after a command. */
export interface SimulationState {
  simulation: number;
  revision: number;
  uri: string;
  model: string;
  version: number;
  stale: boolean;
  step: number;
  length: number;
  time: string;
  waited: string;
  state: State;
  previous: State | null;
  walk: { delay: string; fixed: boolean; transition: Transition }[];
  possible: { number: number; group: number; transition: Transition; window: string }[];
  groups: { process: string; from: string; to: string; first: number; count: number; folded: boolean }[];
  otherDelays: { number: number; transition: Transition; reason: Reason | null }[] | null;
  blocked: { transition: Transition; reason: Reason }[];
  leftOut: number;
  wait: { window: string; end: string; message: string };
  choosing: { transition: Transition; process: string; options: SimulatedEdge[]; left: number } | null;
  zone: { kind: 'zone'; pieces: { text: string }[] } | { kind: 'none'; reason: string } | null;
  complete: boolean;
  message: string | null;
}

/** A watched expression with its value. */
export interface Watched {
  expression: string;
  kind: string;
  value: string;
}

/** What `zonelens.simulation.random` is asked with. */
export interface RandomOptions {
  seed: number;
  steps: number;
  /** A moment since the start of the run that ends it. */
  time?: string;
  /** An expression that ends it where it holds. */
  until?: string;
}

/** The messages to the simulator's page. */
export type ToSimulatorPanel =
  | { type: 'state'; state: SimulationState; hidden: string[] }
  | { type: 'watched'; revision: number; values: Watched[] }
  | { type: 'refused'; message: string }
  | { type: 'closed' };

/** The messages from the simulator's page. */
export type FromSimulatorPanel =
  | { type: 'ready' }
  | { type: 'take'; number: number; delay?: string }
  | { type: 'run'; command: 'back' | 'forward' | 'restart' }
  | { type: 'goto'; step: number }
  | { type: 'delay'; delay: string }
  | { type: 'random'; options: RandomOptions }
  | { type: 'hover'; edges: SimulatedEdge[] }
  | { type: 'jump'; line: number }
  | { type: 'watch'; expressions: string[] }
  | { type: 'filter'; hidden: string[] }
  | { type: 'show'; what: 'diagram' | 'chart' | 'text' | 'save' };
