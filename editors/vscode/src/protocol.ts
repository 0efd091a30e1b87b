// The answers of the server beyond the language server protocol: docs/protocol.md.
// Shared by the extension and the scripts of its panels, so nothing here may import either side's library.

/** The result of a finished query: the object of `zonelens verify --format json`. */
export interface Report {
  query: string;
  line: number;
  verdict: 'satisfied' | 'violated' | 'unknown' | 'error';
  reason: string | null;
  expected: 'satisfied' | 'violated' | null;
  statistics: { stored: number; explored: number; transitions: number; seconds: number; peak_memory_bytes: number };
  trace: unknown;
}

/** The state of a query. `line` is 1-based. */
export interface QueryState {
  query: string;
  line: number;
  meaning: string;
  state: 'never' | 'queued' | 'running' | 'satisfied' | 'violated' | 'unknown' | 'error' | 'failed';
  /** The expected verdict. */
  expected: 'satisfied' | 'violated' | null;
  run?: number;
  progress?: { stored: number; states_per_second: number; seconds: number };
  stale?: boolean;
  cached?: boolean;
  report?: Report;
  message?: string;
}

/** A step, as the stepping commands return it. Lines are 0-based. */
export interface Step {
  uri: string;
  model: string;
  query: string;
  step: number;
  steps: number;
  time: string;
  action: string;
  /** In XML an edge is many lines; its `labels` are what people read of it. */
  edges: { text: string; line: number; labels?: TextRange[] }[];
}

/** The parameters of `zonelens/traceChanged`. */
export type TraceChanged = { open: false } | { open: true; stale: boolean; uri: string; model: string; query: string; step: number; steps: number; simulation?: boolean };

/** A concrete state. */
export interface State {
  locations: Record<string, string>;
  variables: Record<string, number>;
  clocks: Record<string, string>;
}

/** An edge a process takes. */
export interface TakenEdge {
  process: string;
  from: string;
  to: string;
  line: number;
  /** The id of the edge in the drawing; null where the text has no such edge any more. */
  edge: number | null;
}

/** A step of the whole trace. */
export interface TraceStep {
  time: string;
  delay: string;
  action: string;
  changes: string[];
  edges: TakenEdge[];
  state: State;
}

/** The layout of a sequence chart. */
export interface Chart {
  width: number;
  height: number;
  top: number;
  lanes: { process: string; x: number }[];
  rows: { step: number; y: number; time: string; later: boolean; action: string }[];
  marks: { step: number; lane: number; y: number; location: string; half: number }[];
  arrows: { step: number; from: number; to: number; y: number; label: string }[];
  cycle_start: number | null;
}

/** The open trace: `zonelens/chart`. */
export interface WholeTrace {
  uri: string;
  model: string;
  query: string;
  step: number;
  summary: string;
  steps: TraceStep[];
  chart: Chart;
}

/** A place in a text, as the language server protocol has it. */
export interface TextRange {
  start: { line: number; character: number };
  end: { line: number; character: number };
}

/** A text in a diagram. */
export interface Label {
  kind: string;
  text: string;
  range: TextRange;
  x: number;
  y: number;
  /** Its upper left corner in the file; null where we place it. */
  place: Point | null;
  centred: boolean;
}

/** A location or branchpoint, drawn. */
export interface DrawnNode {
  id: string;
  name: string;
  anonymous: boolean;
  kind: 'normal' | 'urgent' | 'committed' | 'branchpoint';
  initial: boolean;
  line: number;
  range: TextRange;
  color: string | null;
  comment: string | null;
  x: number;
  y: number;
  width: number;
  height: number;
  labels: Label[];
}

/** An edge, drawn. */
export interface DrawnEdge {
  id: number;
  source: number;
  target: number;
  line: number;
  range: TextRange;
  color: string | null;
  comment: string | null;
  controllable: boolean;
  nails: Point[];
  path: string;
  arrow: string;
  labels: Label[];
}

/** A template, drawn. */
export interface DrawnTemplate {
  name: string;
  parameters: string;
  line: number;
  range: TextRange;
  selectionRange: TextRange;
  /** What was added to the coordinates of the file; null if they do not place every node. */
  offset: { x: number; y: number } | null;
  width: number;
  height: number;
  nodes: DrawnNode[];
  edges: DrawnEdge[];
}

/** A label as it is written, for the field in which it is edited. */
export interface WrittenLabel {
  of: ElementId;
  label: LabelKind;
  text: string;
  range: TextRange;
  place: Point | null;
}

/** All templates of a model: `zonelens/drawing`. */
export interface Drawing {
  model: string;
  version: number;
  templates: DrawnTemplate[];
  processes: { name: string; template: string }[];
  /** Why no gesture is possible; null if gestures are. */
  refused: string | null;
  /** By the names of templates. */
  texts: Record<string, { parameters: string; labels: WrittenLabel[] }>;
}

/** A place in a picture, or in the file. */
export type Point = [number, number];

/** An element of a template: a node by its name, an edge by its number. */
export type ElementId = string | number;

/** The texts of an element. */
export type LabelKind = 'name' | 'invariant' | 'rate' | 'select' | 'guard' | 'sync' | 'update' | 'probability' | 'comment';

/** A gesture of `zonelens.edit`. */
export type Gesture =
  | { kind: 'move'; nodes: string[]; by: Point }
  | { kind: 'moveLabel'; of: ElementId; label: LabelKind; to: Point }
  | { kind: 'moveNail'; edge: number; nail: number; to: Point }
  | { kind: 'addNail'; edge: number; nail: number; at: Point }
  | { kind: 'removeNail'; edge: number; nail: number }
  | { kind: 'addLocation' | 'addBranchpoint'; at: Point }
  | { kind: 'addEdge'; source: string; target: string; nails: Point[] }
  | { kind: 'delete'; elements: ElementId[] }
  | { kind: 'reconnect'; edge: number; end: 'source' | 'target'; node: string }
  | { kind: 'initial'; node: string }
  | { kind: 'setKind'; node: string; to: 'normal' | 'urgent' | 'committed' }
  | { kind: 'label'; of: ElementId; label: LabelKind; text: string }
  | { kind: 'addTemplate' | 'renameTemplate'; name: string }
  | { kind: 'parameters'; text: string }
  | { kind: 'writeLayout' };

/** The answer to `zonelens.edit`. */
export interface Edited {
  edit: {
    documentChanges?: { textDocument: { uri: string; version: number | null }; edits: { range: TextRange; newText: string }[] }[];
    changes?: Record<string, { range: TextRange; newText: string }[]>;
  };
  title: string;
  added: ElementId | null;
  note: string | null;
}

/** A diagnostic of the document, as the picture shows it. */
export interface Problem {
  range: TextRange;
  severity: 'error' | 'warning' | 'information' | 'hint';
  message: string;
  /** What is never reached is dimmed. */
  dimmed: boolean;
}

/** The messages to the trace panel. */
export type ToTracePanel =
  | { type: 'trace'; trace: WholeTrace; hidden: string[] }
  | { type: 'step'; step: number }
  | { type: 'stale'; stale: boolean }
  | { type: 'closed' };

/** The messages from the trace panel. */
export type FromTracePanel =
  | { type: 'ready' }
  | { type: 'goto'; step: number }
  | { type: 'jump'; line: number }
  | { type: 'filter'; hidden: string[] }
  | { type: 'text' }
  | { type: 'diagram' }
  | { type: 'simulate' };

/** The step that the diagram shows: the locations of the processes, and the edges taken last. */
export interface DiagramStep {
  number: number;
  time: string;
  action: string;
  locations: Record<string, string>;
  edges: TakenEdge[];
}

/** The messages to the picture. */
export type ToDiagram =
  | { type: 'drawing'; drawing: Drawing; name: string; refused: string | null; problems: Problem[] }
  | { type: 'problems'; problems: Problem[] }
  | { type: 'step'; step: DiagramStep | null; simulated: boolean }
  | { type: 'hover'; edges: { process: string; edge: number | null }[] }
  /** A gesture was done; the picture after it was sent before. */
  | { type: 'done'; title: string; added: ElementId | null; note: string | null }
  /** What can be written in the labels of an element. */
  | { type: 'names'; names: { name: string; detail: string }[] }
  /** A gesture was not done. */
  | { type: 'refused'; message: string }
  | { type: 'empty'; message: string };

/** The messages from the picture. */
export type FromDiagram =
  | { type: 'ready' }
  | { type: 'jump'; line: number }
  | { type: 'text' }
  | { type: 'move'; to: Move }
  | { type: 'edge'; template: string; edge: number }
  | { type: 'names'; template: string; of: ElementId }
  | { type: 'gesture'; template: string; version: number; gesture: Gesture };

/** A movement in a trace. */
export type Move = 'next' | 'previous' | 'first' | 'last';
