// The open trace: its content from the server, and the marks of its edges in the text.
import * as vscode from 'vscode';
import { reveal } from './languages';
import { Marks } from './marks';
import { Move, Step, TextRange, TraceChanged, WholeTrace } from './protocol';
import { SimulationState } from './protocolSimulation';
import { Server } from './server';

/** The open trace, shared by the panels, the editor's marks and the commands. */
export class TraceSession implements vscode.Disposable {
  /** The whole trace, or nothing. */
  trace: WholeTrace | undefined;
  /** The current step. */
  step = 0;
  /** Whether the meaning of the text has changed since. */
  stale = false;
  /** Whether it is the walk of a simulation. */
  simulated = false;
  /** Processes without a lane. */
  hidden: string[] = [];

  private readonly emitter = new vscode.EventEmitter<'trace' | 'step' | 'stale' | 'closed'>();
  /** The trace, its step or its freshness changed. */
  readonly onChange = this.emitter.event;

  private readonly disposables: vscode.Disposable[] = [];
  /** A chart is on its way, and another one must follow. */
  private fetching: 'no' | 'yes' | 'again' = 'no';
  /** The last request for the chart, and the last one that was answered: answers may arrive in another order. */
  private asked = 0;
  private answered = 0;
  private readonly marks = new Marks({
    border: new vscode.ThemeColor('zonelens.traceEdgeBorder'),
    style: 'solid',
    background: new vscode.ThemeColor('zonelens.traceEdgeBackground'),
    ruler: new vscode.ThemeColor('zonelens.traceEdgeBorder'),
  });
  /** The labels of the edges of a step, from the last answer that says where they are. */
  private labels: { step: number; edges: (TextRange[] | undefined)[] } | undefined;

  constructor(private readonly server: Server) {
    this.disposables.push(
      this.marks,
      this.emitter,
      server.onCommand(({ command, result }) => void this.heard(command, result)),
      server.onTrace((change) => this.changed(change)),
      server.onSimulation((state) => void this.grown(state, false)),
      server.onHealth((health) => {
        if (health !== 'running') {
          this.forget();
        }
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => this.paint()),
    );
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  /** Opens the trace of a query, or of the one at a line. */
  async open(argument: { uri: string; query?: string; line?: number }): Promise<void> {
    await this.server.execute('zonelens.trace.open', argument);
  }

  /** Steps through the trace. */
  async move(to: Move): Promise<void> {
    if (this.trace !== undefined) {
      await this.server.execute(`zonelens.trace.${to}`, {});
    }
  }

  /** Goes to a step. */
  async goto(step: number): Promise<void> {
    if (this.trace !== undefined) {
      await this.server.execute('zonelens.trace.goto', { step });
    }
  }

  /** Closes the trace. */
  async close(): Promise<void> {
    await this.server.execute('zonelens.trace.close', {});
    this.forget();
  }

  /** Shows the lanes of all processes except these. */
  async filter(hidden: string[]): Promise<void> {
    this.hidden = hidden;
    await this.fetch();
  }

  /** The model's document. */
  get model(): vscode.Uri | undefined {
    return this.trace && vscode.Uri.parse(this.trace.model);
  }

  private async heard(command: string, result: unknown): Promise<void> {
    if (command.startsWith('zonelens.simulation.')) {
      if (command !== 'zonelens.simulation.stop') {
        this.hidden = command === 'zonelens.simulation.start' ? [] : this.hidden;
        await this.grown(result as SimulationState, true);
      }
      return;
    }
    if (!command.startsWith('zonelens.trace.')) {
      return;
    }
    if (command === 'zonelens.trace.close') {
      this.forget();
    } else if (command === 'zonelens.trace.open') {
      this.hidden = [];
      this.stale = false;
      this.simulated = false;
      await this.fetch();
      await this.follow(result as Step);
    } else if (command !== 'zonelens.trace.export' && command !== 'zonelens.trace.evaluate') {
      const step = result as Step;
      if (this.asked !== this.answered) {
        // The chart that is on its way may have the step before this one.
        await this.fetch();
      }
      this.step = step.step;
      this.labels = { step: step.step, edges: step.edges.map((e) => e.labels) };
      this.emitter.fire('step');
      this.paint();
      await this.follow(step);
    }
  }

  /** The walk of the simulation is another one. */
  private async grown(state: SimulationState, follows: boolean): Promise<void> {
    this.simulated = true;
    this.stale = state.stale;
    const taken = state.walk[state.step - 1]?.transition.edges ?? [];
    this.labels = { step: state.step, edges: taken.map((e) => e.labels) };
    if (this.fetching === 'no') {
      do {
        this.fetching = 'yes';
        await this.fetch().catch(() => undefined);
      } while ((this.fetching as string) === 'again');
      this.fetching = 'no';
    } else {
      this.fetching = 'again';
    }
    const edge = taken[0];
    if (follows && edge?.range) {
      await this.follow({ model: state.model, edges: [{ line: edge.range.start.line }] });
    }
  }

  private async fetch(): Promise<void> {
    const all = this.trace && Object.keys(this.trace.steps[0]?.state.locations ?? {});
    const processes = this.hidden.length > 0 ? all?.filter((p) => !this.hidden.includes(p)) : undefined;
    this.asked += 1;
    const number = this.asked;
    const answer = this.server.request<WholeTrace>('zonelens/chart', processes ? { processes } : {});
    const trace = await answer.finally(() => {
      this.answered = Math.max(this.answered, number);
    });
    // Of a trace that was closed, or before a later request, nothing is shown.
    if (trace !== undefined && number === this.asked) {
      this.trace = trace;
      this.step = trace.step;
      void vscode.commands.executeCommand('setContext', 'zonelens.traceOpen', true);
      this.emitter.fire('trace');
      this.paint();
    }
  }

  private async follow(step: { model: string; edges: { line: number }[] }): Promise<void> {
    const wanted = vscode.workspace.getConfiguration('zonelens').get<boolean>('tracePanel.follow', true);
    const edge = step.edges[0];
    if (wanted && edge) {
      await reveal(vscode.Uri.parse(step.model), edge.line, false);
    }
  }

  /** A trace belongs to the text that was verified. */
  private changed(change: TraceChanged): void {
    if (!change.open) {
      this.forget();
    } else if (this.trace !== undefined && change.stale !== this.stale) {
      this.stale = change.stale;
      this.emitter.fire('stale');
      this.paint();
    }
  }

  private forget(): void {
    this.asked += 1;
    this.answered = this.asked;
    if (this.trace === undefined) {
      return;
    }
    this.trace = undefined;
    this.stale = false;
    this.simulated = false;
    void vscode.commands.executeCommand('setContext', 'zonelens.traceOpen', false);
    this.emitter.fire('closed');
    this.paint();
  }

  /** Marks the edges of the current step. */
  private paint(): void {
    const edges = this.stale ? [] : (this.trace?.steps[this.step]?.edges ?? []);
    const labels = this.labels?.step === this.step && this.labels.edges.length === edges.length ? this.labels.edges : [];
    this.marks.show(
      this.model,
      edges.map((edge, i) => ({ line: edge.line, labels: labels[i] })),
    );
  }
}
