// The commands of the palette, menus and keys.
import * as vscode from 'vscode';
import { showCoverage } from './coverage';
import { DiagramEditors } from './diagramEditor';
import { explain, newModel } from './firstContact';
import { ActiveModel } from './languages';
import { Server } from './server';
import { Simulation } from './simulation';
import { TracePanel } from './tracePanel';
import { TraceSession } from './traceSession';
import { XmlModels } from './xmlModels';

/** The objects that the commands use. */
export interface Parts {
  server: Server;
  session: TraceSession;
  simulation: Simulation;
  trace: TracePanel;
  diagram: DiagramEditors;
  active: ActiveModel;
  xml: XmlModels;
}

/** Commands that need no server, or start it themselves. */
const WITHOUT_SERVER = ['zonelens.newModel', 'zonelens.plainXml', 'zonelens.restartServer', 'zonelens.openLog', 'zonelens.showText'];

/** Registers all commands. */
export function registerCommands(context: vscode.ExtensionContext, parts: Parts): void {
  const { server, session, simulation, trace, diagram, active, xml } = parts;

  const here = (): { uri: string; line: number } | undefined => {
    const { document, editor } = active;
    if (document === undefined) {
      void vscode.window.showInformationMessage('Open a model or a query file first.');
      return undefined;
    }
    return { uri: server.uri(document.uri), line: editor?.selection.active.line ?? 0 };
  };

  const actions: Record<string, (argument?: unknown) => unknown> = {
    'zonelens.verifyHere': async () => {
      const place = here();
      await (place && server.execute('zonelens.verify', place));
    },
    'zonelens.verifyFile': async () => {
      const place = here();
      await (place && server.execute('zonelens.verifyAll', { uri: place.uri }));
    },
    'zonelens.cancelRuns': async () => {
      const answer = await server.execute<{ cancelled: number }>('zonelens.cancel', {});
      const count = answer?.cancelled ?? 0;
      vscode.window.setStatusBarMessage(count === 1 ? 'One query was cancelled.' : `${count} queries were cancelled.`, 5000);
    },
    'zonelens.showTrace': async () => {
      const place = here();
      await (place && session.open(place));
    },
    'zonelens.stepNext': () => session.move('next'),
    'zonelens.stepPrevious': () => session.move('previous'),
    'zonelens.stepFirst': () => session.move('first'),
    'zonelens.stepLast': () => session.move('last'),
    'zonelens.closeTrace': () => session.close(),
    'zonelens.exportTrace': async () => {
      const answer = await server.execute<{ text: string }>('zonelens.trace.export', {});
      if (answer) {
        const document = await vscode.workspace.openTextDocument({ content: answer.text, language: 'plaintext' });
        await vscode.window.showTextDocument(document);
      }
    },
    'zonelens.saveTrace': async () => {
      const answer = await server.execute<{ text: string; json: unknown }>('zonelens.trace.export', {});
      await (answer && saveTrace(answer, session.model));
    },
    'zonelens.simulate': async () => {
      const place = here();
      await (place && simulation.start({ uri: place.uri }));
    },
    'zonelens.openWalk': async () => {
      const place = here();
      const walk = place && (await savedWalk(vscode.Uri.parse(place.uri)));
      await (walk !== undefined && place && simulation.start({ uri: place.uri, walk }));
    },
    'zonelens.simulateFromHere': async () => {
      if (session.trace !== undefined && !session.simulated) {
        const { uri, query } = session.trace;
        await simulation.start({ uri, query, step: session.step });
      }
    },
    'zonelens.showChart': () => trace.show(false),
    'zonelens.simulationBack': () => simulation.run('back'),
    'zonelens.simulationForward': () => simulation.run('forward'),
    'zonelens.simulationStop': () => simulation.run('stop'),
    'zonelens.showDiagram': () => diagram.open(),
    'zonelens.showDiagramOf': (model) => diagram.open(model as vscode.Uri | undefined),
    'zonelens.showText': () => diagram.showText(),
    'zonelens.newModel': () => newModel(context),
    'zonelens.explainHere': () => explain(active.editor),
    'zonelens.plainXml': async () => {
      const { document } = active;
      if (document?.languageId === 'uppaal-xml') {
        await xml.treatAsPlain(document);
      }
    },
    'zonelens.restartServer': async () => {
      await server.restart();
      if (server.health === 'running') {
        vscode.window.setStatusBarMessage('The Zonelens server was restarted.', 5000);
      }
    },
    'zonelens.openLog': async () => {
      server.log.show(true);
      const file = vscode.Uri.file(server.logFile());
      const document = await Promise.resolve(vscode.workspace.openTextDocument(file)).catch(() => undefined);
      await (document && vscode.window.showTextDocument(document, { preview: true }));
    },
    'zonelens.showCoverage': async () => {
      const place = here();
      await (place && showCoverage(server, place.uri));
    },
    'zonelens.clearKeptResults': async () => {
      await server.execute('zonelens.clearResults', {});
      vscode.window.setStatusBarMessage('All results were cleared.', 5000);
    },
    'zonelens.statusMenu': () => statusMenu(server),
  };

  for (const [name, action] of Object.entries(actions)) {
    const run = async (argument?: unknown): Promise<void> => {
      try {
        if (!WITHOUT_SERVER.includes(name)) {
          await server.ensure();
        }
        await action(argument);
      } catch (error) {
        // The server's answers are sentences for the user.
        void vscode.window.showWarningMessage(error instanceof Error ? error.message : String(error));
      }
    };
    context.subscriptions.push(vscode.commands.registerCommand(name, run));
  }
}

async function statusMenu(server: Server): Promise<void> {
  const entries = [
    { label: '$(debug-restart) Restart Server', command: 'zonelens.restartServer' },
    { label: '$(output) Show Log', command: 'zonelens.openLog' },
    { label: '$(trash) Clear Results', command: 'zonelens.clearKeptResults' },
    { label: '$(type-hierarchy) Show the Diagram', command: 'zonelens.showDiagram' },
    { label: '$(gear) Settings', command: 'workbench.action.openSettings' },
  ];
  const title = server.version ? `Zonelens ${server.version}: ${server.health}` : `Zonelens: ${server.health}`;
  const chosen = await vscode.window.showQuickPick(entries, { title, placeHolder: 'What to do' });
  if (chosen) {
    await vscode.commands.executeCommand(chosen.command, ...(chosen.command.endsWith('openSettings') ? ['zonelens'] : []));
  }
}

/** Reads a saved walk that the user chooses. */
async function savedWalk(model: vscode.Uri): Promise<unknown> {
  const [file] =
    (await vscode.window.showOpenDialog({
      title: 'Open a saved walk',
      ...(model.scheme === 'file' && { defaultUri: vscode.Uri.joinPath(model, '..') }),
      filters: { 'Saved walks': ['json'] },
    })) ?? [];
  if (file === undefined) {
    return undefined;
  }
  const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error(`${file.path.split('/').pop() ?? 'The file'} is not a saved walk.`);
  }
}

/** Writes a trace or a walk where the user wants it: as text, or as JSON if the name says so. */
async function saveTrace(trace: { text: string; json: unknown }, model: vscode.Uri | undefined): Promise<void> {
  const name = (model?.path.split('/').pop() ?? 'model').replace(/\.\w+$/, '');
  const folder = model?.scheme === 'file' ? vscode.Uri.joinPath(model, '..') : vscode.workspace.workspaceFolders?.[0]?.uri;
  const file = await vscode.window.showSaveDialog({
    title: 'Save the trace',
    defaultUri: folder && vscode.Uri.joinPath(folder, `${name}-trace.txt`),
    filters: { Text: ['txt'], 'JSON, as zonelens verify writes it': ['json'] },
  });
  if (file) {
    const text = file.path.endsWith('.json') ? `${JSON.stringify(trace.json, undefined, 2)}\n` : trace.text;
    await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(text));
  }
}
