// The panel of the simulator.
import * as vscode from 'vscode';
import { reveal } from './languages';
import { Panel } from './panel';
import { FromSimulatorPanel, ToSimulatorPanel } from './protocolSimulation';
import { Simulation } from './simulation';
import { TraceSession } from './traceSession';

/** What can happen next, the values, the walk. */
export class SimulatorPanel extends Panel<ToSimulatorPanel, FromSimulatorPanel> {
  private watched: string[] = [];
  /** Gives the panel a place beside what is shown; nothing if it goes next to the text. */
  makeRoom: () => Promise<vscode.ViewColumn | undefined> = async () => undefined;

  constructor(
    context: vscode.ExtensionContext,
    private readonly simulation: Simulation,
    private readonly session: TraceSession,
  ) {
    super(context, 'zonelens.simulator', 'Simulator', 'simulator.js');
    context.subscriptions.push(
      this,
      simulation.onChange((change) => void this.changed(change)),
      // Said where it is read: in the panel.
      simulation.onRefusal((message) => this.post({ type: 'refused', message })),
    );
  }

  private async changed(change: 'started' | 'state' | 'closed'): Promise<void> {
    if (change === 'closed') {
      this.view?.dispose();
      return;
    }
    if (change === 'started') {
      this.show(true, this.isOpen ? undefined : await this.makeRoom());
    }
    this.fill();
  }

  protected fill(): void {
    const { state } = this.simulation;
    if (state === undefined) {
      this.post({ type: 'closed' });
      return;
    }
    this.post({ type: 'state', state, hidden: this.session.hidden });
    void this.evaluate();
  }

  protected heard(message: FromSimulatorPanel): void {
    const { simulation } = this;
    switch (message.type) {
      case 'take':
        void simulation.choose(message.number, message.delay);
        break;
      case 'run':
        void simulation.run(message.command);
        break;
      case 'goto':
        void simulation.run('goto', { step: message.step });
        break;
      case 'delay':
        void simulation.run('delay', { delay: message.delay });
        break;
      case 'random':
        void simulation.run('random', message.options);
        break;
      case 'hover':
        simulation.hover(message.edges);
        break;
      case 'jump':
        if (simulation.state) {
          void reveal(vscode.Uri.parse(simulation.state.model), message.line, true);
        }
        break;
      case 'watch':
        this.watched = message.expressions;
        void this.evaluate();
        break;
      case 'filter':
        void this.session.filter(message.hidden).then(() => this.fill());
        break;
      case 'show':
        void vscode.commands.executeCommand({ diagram: 'zonelens.showDiagramOf', chart: 'zonelens.showChart', text: 'zonelens.exportTrace', save: 'zonelens.saveTrace' }[message.what], this.simulation.state && vscode.Uri.parse(this.simulation.state.model));
        break;
      case 'ready':
        break;
    }
  }

  protected override closed(): void {
    void this.simulation.run('stop');
  }

  /** The values of the watched expressions, each by itself: one that is wrong says so in its line. */
  private async evaluate(): Promise<void> {
    const revision = this.simulation.state?.revision;
    if (revision === undefined) {
      return;
    }
    const expressions = this.watched;
    const values = [];
    for (const expression of expressions) {
      const { kind, value } = await this.simulation.evaluate(expression);
      values.push({ expression, kind, value });
    }
    if (this.simulation.state?.revision === revision && expressions === this.watched) {
      this.post({ type: 'watched', revision, values });
    }
  }
}
