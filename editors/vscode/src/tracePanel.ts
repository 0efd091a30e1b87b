// The panel with the sequence chart.
import * as vscode from 'vscode';
import { reveal } from './languages';
import { Panel } from './panel';
import { FromTracePanel, ToTracePanel } from './protocol';
import { TraceSession } from './traceSession';

/** The trace as a chart, a list of steps and a table of values. */
export class TracePanel extends Panel<ToTracePanel, FromTracePanel> {
  constructor(
    context: vscode.ExtensionContext,
    private readonly session: TraceSession,
  ) {
    super(context, 'zonelens.trace', 'Trace', 'trace.js');
    context.subscriptions.push(
      this,
      session.onChange((change) => {
        if (change === 'trace') {
          // The chart of a walk grows where it is open; the simulator has a panel of its own.
          if (!session.simulated) {
            this.show();
          }
          this.fill();
        } else if (change === 'step') {
          this.post({ type: 'step', step: session.step });
        } else if (change === 'stale') {
          this.post({ type: 'stale', stale: session.stale });
        } else {
          this.view?.dispose();
        }
      }),
    );
  }

  protected fill(): void {
    const { trace, hidden, stale } = this.session;
    if (trace === undefined) {
      this.post({ type: 'closed' });
      return;
    }
    this.post({ type: 'trace', trace: { ...trace, step: this.session.step }, hidden });
    this.post({ type: 'stale', stale });
  }

  protected heard(message: FromTracePanel): void {
    switch (message.type) {
      case 'goto':
        void this.session.goto(message.step);
        break;
      case 'jump':
        if (this.session.model) {
          void reveal(this.session.model, message.line, true);
        }
        break;
      case 'filter':
        void this.session.filter(message.hidden);
        break;
      case 'text':
        void vscode.commands.executeCommand('zonelens.exportTrace');
        break;
      case 'diagram':
        void vscode.commands.executeCommand('zonelens.showDiagramOf', this.session.model);
        break;
      case 'simulate':
        void vscode.commands.executeCommand('zonelens.simulateFromHere');
        break;
      case 'ready':
        break;
    }
  }

  protected override closed(): void {
    if (this.session.trace !== undefined && !this.session.simulated) {
      void this.session.close();
    }
  }
}
