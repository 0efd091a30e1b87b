// The panel with the templates as graphs.
import * as vscode from 'vscode';
import { ActiveModel, reveal } from './languages';
import { Panel } from './panel';
import { Drawing, FromDiagramPanel, ToDiagramPanel } from './protocol';
import { Server } from './server';
import { Simulation } from './simulation';
import { SimulatorPanel } from './simulatorPanel';
import { TracePanel } from './tracePanel';
import { TraceSession } from './traceSession';

/** Typing should not draw at every key. */
const REDRAW_AFTER_MS = 250;

/** The templates of a model, with the current step of the open trace in them. */
export class DiagramPanel extends Panel<ToDiagramPanel, FromDiagramPanel> {
  private document: vscode.Uri | undefined;
  private drawing: Drawing | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    context: vscode.ExtensionContext,
    private readonly server: Server,
    private readonly session: TraceSession,
    private readonly active: ActiveModel,
    private readonly trace: TracePanel,
    private readonly simulation: Simulation,
    private readonly simulator: SimulatorPanel,
  ) {
    super(context, 'zonelens.diagram', 'Diagram', 'diagram.js');
    simulator.makeRoom = () => this.above();
    context.subscriptions.push(
      this,
      session.onChange(() => this.postStep()),
      simulation.onHover((edges) => this.post({ type: 'hover', edges })),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (this.isOpen && this.shows(document.uri)) {
          this.soon();
        }
      }),
      active.onModel((editor) => {
        if (this.isOpen && !this.shows(editor.document.uri)) {
          this.document = editor.document.uri;
          void this.draw();
        }
      }),
      server.onHealth((health) => {
        if (health === 'running' && this.isOpen) {
          this.soon();
        }
      }),
    );
  }

  /** A place over the diagram, so that both are seen; nothing if it is not open. */
  private async above(): Promise<vscode.ViewColumn | undefined> {
    const column = this.column;
    if (column !== undefined) {
      this.show(true);
      await vscode.commands.executeCommand('workbench.action.newGroupAbove');
    }
    return column;
  }

  /** Draws the model of the active editor. */
  async open(focus: boolean): Promise<void> {
    this.document = this.active.editor?.document.uri ?? this.document;
    const panel = this.simulator.isOpen ? this.simulator : this.trace;
    const above = this.isOpen ? undefined : panel.column;
    if (above !== undefined) {
      // Beside the text there is the trace or the simulator: the diagram goes below it, into a group that is counted after it.
      panel.show(true);
      await vscode.commands.executeCommand('workbench.action.newGroupBelow');
      this.show(true, above + 1);
    } else {
      this.show(focus);
    }
    await this.draw();
  }

  protected fill(): void {
    if (this.drawing !== undefined) {
      const name = vscode.Uri.parse(this.drawing.model).path.split('/').pop() ?? '';
      this.post({ type: 'drawing', drawing: this.drawing, name });
      this.postStep();
    }
  }

  protected heard(message: FromDiagramPanel): void {
    if (message.type === 'jump' && this.drawing) {
      void reveal(vscode.Uri.parse(this.drawing.model), message.line, true);
    } else if (message.type === 'edge') {
      const own = this.drawing?.processes.filter((p) => p.template === message.template).map((p) => p.name);
      void this.simulation.takeEdge(new Set(own), message.edge);
    } else if (message.type === 'move') {
      void this.session.move(message.to);
    }
  }

  private shows(uri: vscode.Uri): boolean {
    return uri.toString() === this.document?.toString() || this.server.uri(uri) === this.drawing?.model;
  }

  private soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.draw(), REDRAW_AFTER_MS);
  }

  private async draw(): Promise<void> {
    if (this.document === undefined) {
      this.post({ type: 'empty', message: 'Open a model to see its templates.' });
      return;
    }
    try {
      this.drawing = await this.server.request<Drawing>('zonelens/drawing', { uri: this.server.uri(this.document) });
      this.fill();
    } catch (error) {
      this.drawing = undefined;
      this.post({ type: 'empty', message: error instanceof Error ? error.message : String(error) });
    }
  }

  private postStep(): void {
    const { trace, step, stale } = this.session;
    const current = trace?.steps[step];
    if (trace === undefined || current === undefined || stale || trace.model !== this.drawing?.model) {
      this.post({ type: 'step', step: null, simulated: false });
      return;
    }
    this.post({
      type: 'step',
      step: {
        number: step,
        time: current.time,
        action: current.action,
        locations: current.state.locations,
        edges: current.edges,
      },
      simulated: this.session.simulated,
    });
  }
}
