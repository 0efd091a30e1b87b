// The editor for pictures: the templates of a model as graphs, with the current step of the open trace in them. A
// gesture is one request to the server and one edit of the text; undo, redo, saving and hot exit are those of the text.
import * as vscode from 'vscode';
import { ActiveModel, PICTURE, isEditable, isOurs, reveal } from './languages';
import { page, pageOptions } from './panel';
import { Drawing, Edited, ElementId, FromDiagram, Gesture, Problem, ToDiagram } from './protocol';
import { Server } from './server';
import { Simulation } from './simulation';
import { SimulatorPanel } from './simulatorPanel';
import { TracePanel } from './tracePanel';
import { TraceSession } from './traceSession';

/** Typing should not draw at every key; undo in the picture should be seen at once. */
const REDRAW_AFTER_MS = 250;
const REDRAW_ACTIVE_MS = 20;
/** The error of a request about another version of the text. */
const CONTENT_MODIFIED = -32801;
const CHANGED = 'The text was changed meanwhile: this is the new picture, and nothing was edited. Do it again if you still want it.';

/** What pictures have in common. */
interface Shared {
  server: Server;
  session: TraceSession;
  simulation: Simulation;
}

/** All open pictures. */
export class DiagramEditors implements vscode.CustomTextEditorProvider {
  private readonly pictures = new Set<DiagramEditor>();

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly server: Server,
    private readonly session: TraceSession,
    private readonly active: ActiveModel,
    private readonly trace: TracePanel,
    private readonly simulation: Simulation,
    private readonly simulator: SimulatorPanel,
  ) {
    simulator.makeRoom = () => this.above();
    const all = (action: (editor: DiagramEditor) => void): void => this.pictures.forEach(action);
    context.subscriptions.push(
      vscode.window.registerCustomEditorProvider(PICTURE, this, { supportsMultipleEditorsPerDocument: false }),
      session.onChange(() => all((editor) => editor.postStep())),
      simulation.onHover((edges) => all((editor) => editor.post({ type: 'hover', edges }))),
      vscode.workspace.onDidChangeTextDocument(({ document }) => all((editor) => editor.changed(document))),
      // Also a change of the language: a text becomes a model, or plain XML.
      vscode.workspace.onDidOpenTextDocument((document) => all((editor) => editor.changed(document))),
      vscode.languages.onDidChangeDiagnostics(({ uris }) => all((editor) => editor.diagnosed(uris))),
      server.onHealth(() => all((editor) => editor.soon())),
    );
  }

  /** Called by VS Code to show a picture. */
  resolveCustomTextEditor(document: vscode.TextDocument, view: vscode.WebviewPanel): void {
    view.webview.options = pageOptions(this.context);
    const editor = new DiagramEditor(document, view, this);
    this.pictures.add(editor);
    view.onDidDispose(() => {
      this.pictures.delete(editor);
      editor.dispose();
    });
    view.webview.html = page(this.context, view.webview, 'Diagram', 'diagram.js');
  }

  /** What every picture needs. */
  get shared(): Shared {
    return { server: this.server, session: this.session, simulation: this.simulation };
  }

  /** Shows the picture of a model, or of that of the active document, beside the text. */
  async open(asked?: vscode.Uri): Promise<void> {
    const model = asked ?? (await this.activeModel());
    if (model === undefined) {
      void vscode.window.showInformationMessage('Open a model to see its picture.');
      return;
    }
    const shown = this.find((editor) => editor.shows(model));
    if (shown !== undefined) {
      shown.show(true);
      return;
    }
    const panel = this.simulator.isOpen ? this.simulator : this.trace;
    const other = this.find((editor) => editor.view.visible)?.view.viewColumn;
    let column: vscode.ViewColumn = other ?? vscode.ViewColumn.Beside;
    if (other === undefined && panel.column !== undefined) {
      // Beside the text there is the trace or the simulator: the picture goes below it, into a group that is counted after it.
      column = panel.column + 1;
      panel.show(true);
      await vscode.commands.executeCommand('workbench.action.newGroupBelow');
    }
    await vscode.commands.executeCommand('vscode.openWith', model, PICTURE, { viewColumn: column, preserveFocus: true });
  }

  /** The active document; for a query file, its model. */
  private async activeModel(): Promise<vscode.Uri | undefined> {
    const { document } = this.active;
    if (document?.languageId === 'uppaal-q') {
      const drawing = await this.server.request<Drawing>('zonelens/drawing', { uri: this.server.uri(document.uri) });
      return drawing && vscode.Uri.parse(drawing.model);
    }
    return document?.uri;
  }

  /** Shows the text of the active picture. */
  async showText(): Promise<void> {
    await this.find((editor) => editor.view.active)?.showText();
  }

  private find(fits: (editor: DiagramEditor) => boolean): DiagramEditor | undefined {
    return [...this.pictures].find(fits);
  }

  /** A place over a picture, so that both are seen; nothing if none is open. */
  private async above(): Promise<vscode.ViewColumn | undefined> {
    const picture = this.find((editor) => editor.view.visible);
    const column = picture?.view.viewColumn;
    if (picture !== undefined) {
      this.active.hold();
      picture.show(false);
      await vscode.commands.executeCommand('workbench.action.newGroupAbove');
    }
    return column;
  }
}

/** A picture. */
class DiagramEditor implements vscode.Disposable {
  private ready = false;
  private drawing: Drawing | undefined;
  private refused: string | null = null;
  private message: string | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly document: vscode.TextDocument,
    readonly view: vscode.WebviewPanel,
    private readonly editors: DiagramEditors,
  ) {
    view.webview.onDidReceiveMessage((message: FromDiagram) => void this.heard(message));
    void this.draw();
  }

  dispose(): void {
    clearTimeout(this.timer);
  }

  shows(uri: vscode.Uri): boolean {
    return uri.toString() === this.document.uri.toString();
  }

  /** Brings it to the front where it is; without its column it would be opened a second time. */
  show(preserveFocus: boolean): void {
    this.view.reveal(this.view.viewColumn, preserveFocus);
  }

  /** A text changed, or its language. */
  changed(document: vscode.TextDocument): void {
    if (document === this.document && this.drawing?.version !== document.version) {
      this.soon();
    }
  }

  /** Draws once changes pause. */
  soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.draw(), this.view.active ? REDRAW_ACTIVE_MS : REDRAW_AFTER_MS);
  }

  diagnosed(uris: readonly vscode.Uri[]): void {
    if (uris.some((uri) => this.shows(uri))) {
      this.post({ type: 'problems', problems: this.problems() });
    }
  }

  /** Shows the text where it is open already, else in place of the picture. */
  async showText(): Promise<void> {
    const { uri } = this.document;
    const shown = vscode.window.visibleTextEditors.find((e) => e.document.uri.toString() === uri.toString());
    await vscode.commands.executeCommand('vscode.openWith', uri, 'default', shown?.viewColumn ?? this.view.viewColumn);
  }

  /** Sends a message to the page, if it is loaded. */
  post(message: ToDiagram): void {
    if (this.ready) {
      void this.view.webview.postMessage(message);
    }
  }

  postStep(): void {
    const { trace, step, stale, simulated } = this.editors.shared.session;
    const current = trace?.steps[step];
    if (trace === undefined || current === undefined || stale || trace.model !== this.drawing?.model) {
      this.post({ type: 'step', step: null, simulated: false });
      return;
    }
    const { time, action, edges } = current;
    this.post({ type: 'step', step: { number: step, time, action, locations: current.state.locations, edges }, simulated });
  }

  private async heard(message: FromDiagram): Promise<void> {
    const { session, simulation } = this.editors.shared;
    switch (message.type) {
      case 'ready':
        // After it was hidden, the page is loaded again and requests its content again.
        this.ready = true;
        this.fill();
        break;
      case 'jump':
        await reveal(this.document.uri, message.line, true);
        break;
      case 'text':
        await this.showText();
        break;
      case 'edge': {
        const own = this.drawing?.processes.filter((p) => p.template === message.template).map((p) => p.name);
        await simulation.takeEdge(new Set(own), message.edge);
        break;
      }
      case 'move':
        await session.move(message.to);
        break;
      case 'names':
        this.post({ type: 'names', names: await this.names(message.template, message.of) });
        break;
      case 'gesture':
        await this.perform(message.template, message.version, message.gesture);
        break;
    }
  }

  private fill(): void {
    const { drawing, refused, message } = this;
    if (drawing !== undefined) {
      const name = this.document.uri.path.split('/').pop() ?? '';
      this.post({ type: 'drawing', drawing, name, refused, problems: this.problems() });
      this.postStep();
    } else if (message !== undefined) {
      this.post({ type: 'empty', message });
    }
  }

  private async draw(): Promise<void> {
    clearTimeout(this.timer);
    const { server } = this.editors.shared;
    const { document } = this;
    try {
      if (!isOurs(document)) {
        throw new Error(isEditable(document) ? 'This file is not a model of timed automata, so there is no picture of it.' : 'This is another version of a file: only files have pictures.');
      }
      const drawing = await server.request<Drawing>('zonelens/drawing', { uri: server.uri(document.uri) });
      if (drawing === undefined) {
        throw new Error('There is no picture before the Zonelens server runs.');
      }
      this.refused = drawing.refused ?? (await readOnly(document));
      this.drawing = drawing;
    } catch (error) {
      this.drawing = undefined;
      this.message = sentence(error);
    }
    this.fill();
  }

  /** Does a gesture: one edit of the version of the text in which the user saw the picture. */
  private async perform(template: string, version: number, gesture: Gesture): Promise<void> {
    const { server } = this.editors.shared;
    const { document } = this;
    try {
      const argument = { uri: server.uri(document.uri), version, template, gesture };
      const answer = await server.execute<Edited>('zonelens.edit', argument);
      if (answer === undefined) {
        throw new Error('The Zonelens server is not running.');
      }
      // VS Code compares the versions of now with those when it edits.
      const edit = document.version === version && workspaceEdit(answer);
      if (!edit || !(await vscode.workspace.applyEdit(edit))) {
        throw Object.assign(new Error(), { code: CONTENT_MODIFIED });
      }
      await this.draw();
      this.post({ type: 'done', title: answer.title, added: answer.added, note: answer.note });
    } catch (error) {
      const modified = (error as { code?: unknown }).code === CONTENT_MODIFIED;
      if (modified) {
        await this.draw();
      }
      this.post({ type: 'refused', message: modified ? CHANGED : sentence(error) });
    }
  }

  /** What can be written in a label of an element: what the text offers in it, or elsewhere in its template. */
  private async names(template: string, of: ElementId): Promise<{ name: string; detail: string }[]> {
    const { document, drawing } = this;
    const labels = drawing?.texts[template]?.labels?.filter((l) => l.label !== 'name' && l.label !== 'comment') ?? [];
    const at = (labels.find((l) => l.of === of) ?? labels[0])?.range.start;
    if (at === undefined || drawing?.version !== document.version) {
      return [];
    }
    const position = new vscode.Position(at.line, at.character);
    const list = await vscode.commands.executeCommand<vscode.CompletionList | undefined>('vscode.executeCompletionItemProvider', document.uri, position);
    return (list?.items ?? []).map(({ label, detail }) => ({ name: typeof label === 'string' ? label : label.label, detail: detail ?? '' }));
  }

  private problems(): Problem[] {
    const severities = ['error', 'warning', 'information', 'hint'] as const;
    return vscode.languages.getDiagnostics(this.document.uri).map(({ range: { start, end }, severity, message, tags }) => ({
      range: { start: { line: start.line, character: start.character }, end: { line: end.line, character: end.character } },
      severity: severities[severity],
      message,
      dimmed: tags?.includes(vscode.DiagnosticTag.Unnecessary) ?? false,
    }));
  }
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The edit of a gesture; nothing if one of its documents is another version by now. */
function workspaceEdit({ edit, title }: Edited): vscode.WorkspaceEdit | undefined {
  const out = new vscode.WorkspaceEdit();
  const unversioned = Object.entries(edit.changes ?? {}).map(([uri, edits]) => ({ textDocument: { uri, version: null }, edits }));
  for (const { textDocument, edits } of edit.documentChanges ?? unversioned) {
    const uri = vscode.Uri.parse(textDocument.uri);
    const open = vscode.workspace.textDocuments.find((d) => d.uri.toString() === uri.toString());
    if (textDocument.version !== null && open?.version !== textDocument.version) {
      return undefined;
    }
    for (const { range, newText } of edits) {
      const place = new vscode.Range(range.start.line, range.start.character, range.end.line, range.end.character);
      out.replace(uri, place, newText, { label: title, needsConfirmation: false });
    }
  }
  return out;
}

/** Why a document cannot be edited, as far as an extension can know. */
async function readOnly(document: vscode.TextDocument): Promise<string | null> {
  const { uri } = document;
  if (uri.scheme === 'untitled') {
    return null;
  }
  const files = vscode.workspace.getConfiguration('files', uri);
  const matches = (setting: string): boolean =>
    Object.entries(files.get<Record<string, boolean>>(setting, {})).some(([pattern, on]) => on && vscode.languages.match({ pattern }, document) > 0);
  if (matches('readonlyInclude') && !matches('readonlyExclude')) {
    return 'this file is read-only by the setting "files.readonlyInclude"';
  }
  const stat = await Promise.resolve(vscode.workspace.fs.stat(uri)).catch(() => undefined);
  const locked = ((stat?.permissions ?? 0) & vscode.FilePermission.Readonly) !== 0;
  return locked || vscode.workspace.fs.isWritableFileSystem(uri.scheme) === false ? 'this file is read-only' : null;
}
