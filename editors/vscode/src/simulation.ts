// The open simulation: its state from the server, and what the panels do with it.
import * as vscode from 'vscode';
import { Marks } from './marks';
import { SimulatedEdge, SimulationState, Transition, words } from './protocolSimulation';
import { Server } from './server';

/** A transition in words, with its channel. */
function named(transition: Transition): string {
  return words(transition) + (transition.channel === null ? '' : ` (${transition.channel})`);
}

/** Whether a state is out of date beside another one. The zone of a walk comes after it and does not go again. */
function isOlder(state: SimulationState, than: SimulationState): boolean {
  if (state.simulation !== than.simulation) {
    return state.simulation < than.simulation;
  }
  return state.revision < than.revision || (state.revision === than.revision && state.zone === null && than.zone !== null);
}

/** The simulation, shared by the panels, the marks in the text and the commands. */
export class Simulation implements vscode.Disposable {
  /** The present state, or nothing. */
  state: SimulationState | undefined;

  /** A state that came before the answer to the command that started it. */
  private early: SimulationState | undefined;
  private readonly emitter = new vscode.EventEmitter<'started' | 'state' | 'closed'>();
  /** It was started, is in another state, or ended. */
  readonly onChange = this.emitter.event;
  private readonly refusedEmitter = new vscode.EventEmitter<string>();
  /** The server cannot do what was asked; a sentence says why. */
  readonly onRefusal = this.refusedEmitter.event;
  private readonly hoverEmitter = new vscode.EventEmitter<SimulatedEdge[]>();
  /** The edges of the transition that is pointed at; none when nothing is. */
  readonly onHover = this.hoverEmitter.event;

  private readonly marks = new Marks({ border: new vscode.ThemeColor('focusBorder'), style: 'dashed' });
  private readonly disposables: vscode.Disposable[] = [];

  constructor(private readonly server: Server) {
    this.disposables.push(
      this.marks,
      this.emitter,
      this.hoverEmitter,
      this.refusedEmitter,
      server.onCommand(({ command, result }) => {
        if (command === 'zonelens.simulation.stop') {
          this.forget();
        } else if (command.startsWith('zonelens.simulation.')) {
          this.take(result as SimulationState, command === 'zonelens.simulation.start');
        }
      }),
      server.onSimulation((state) => this.take(state, false)),
      server.onTrace((change) => {
        if (!change.open || change.simulation !== true) {
          this.forget();
        }
      }),
      server.onHealth((health) => {
        if (health !== 'running') {
          this.forget();
        }
      }),
    );
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  /** Starts a simulation, of a model, from a step of a query's trace, or at the end of a saved walk. */
  async start(argument: { uri: string; query?: string; step?: number; walk?: unknown }): Promise<void> {
    await this.server.execute('zonelens.simulation.start', argument);
  }

  /** Runs a command of the simulation; what the server refuses is said by `onRefusal`. */
  async run(name: string, argument: object = {}): Promise<void> {
    if (this.state === undefined) {
      return;
    }
    try {
      await this.server.execute(`zonelens.simulation.${name}`, argument);
    } catch (error) {
      this.refusedEmitter.fire(error instanceof Error ? error.message : String(error));
    }
  }

  /** Takes a transition of the state that is shown. */
  async choose(number: number, delay?: string): Promise<void> {
    const revision = this.state?.revision;
    await this.run('take', { number, revision, ...(delay === undefined ? {} : { delay }) });
  }

  /** The value of an expression in the present state. */
  async evaluate(expression: string): Promise<{ kind: string; value: string }> {
    try {
      const value = await this.server.execute<{ kind: string; value: string }>('zonelens.trace.evaluate', { expression });
      return value ?? { kind: 'error', value: 'no server' };
    } catch (error) {
      return { kind: 'error', value: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Marks the edges of a transition in text and picture. */
  hover(edges: SimulatedEdge[]): void {
    this.hoverEmitter.fire(edges);
    const shown = edges.flatMap((e) => (e.range === null ? [] : [{ line: e.range.start.line, labels: e.labels }]));
    this.marks.show(this.state && vscode.Uri.parse(this.state.model), shown);
  }

  /** Takes the transition that uses an edge of a template, or lets the user choose among several. */
  async takeEdge(processes: Set<string>, edge: number): Promise<void> {
    const state = this.state;
    if (state === undefined) {
      return;
    }
    const uses = (t: Transition): boolean => t.edges.some((e) => e.edge === edge && processes.has(e.process));
    const possible = state.possible.filter((p) => uses(p.transition)).map((p) => ({ number: p.number, label: named(p.transition), description: `after ${p.window}` }));
    const others = (state.otherDelays ?? [])
      .filter((p) => uses(p.transition))
      .map((p) => ({ number: p.number, label: named(p.transition), description: 'with other delays before' }));
    const all = [...possible, ...others];
    const [only] = all;
    if (only !== undefined && all.length === 1) {
      await this.choose(only.number);
    } else if (all.length > 1) {
      const chosen = await vscode.window.showQuickPick(all, { title: 'Transitions that take this edge', placeHolder: 'Choose one to take' });
      await (chosen && this.choose(chosen.number));
    } else {
      const blocked = state.blocked.find((b) => uses(b.transition));
      const why = blocked?.reason.message ?? 'no process is at its source';
      vscode.window.setStatusBarMessage(`This edge cannot be taken: ${why}.`, 6000);
    }
  }

  private take(state: SimulationState, started: boolean): void {
    const now = this.state;
    if (now === undefined && !started) {
      this.early = state;
      return;
    }
    if (now !== undefined && isOlder(state, now)) {
      if (state.simulation === now.simulation && state.revision === now.revision && state.message !== now.message) {
        // The zone came first; what the answer says is read all the same.
        this.state = { ...now, message: state.message };
        this.emitter.fire('state');
      }
      return;
    }
    const newer = this.early !== undefined && this.early.simulation === state.simulation && isOlder(state, this.early);
    this.state = newer ? this.early : state;
    this.early = undefined;
    void vscode.commands.executeCommand('setContext', 'zonelens.simulationOpen', true);
    this.emitter.fire(started ? 'started' : 'state');
  }

  private forget(): void {
    if (this.state === undefined) {
      return;
    }
    this.hover([]);
    this.state = undefined;
    void vscode.commands.executeCommand('setContext', 'zonelens.simulationOpen', false);
    this.emitter.fire('closed');
  }
}
