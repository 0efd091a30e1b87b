// The entry point of Zonelens for VS Code.
import * as vscode from 'vscode';
import { registerCommands } from './commands';
import { DiagramEditors } from './diagramEditor';
import { rulePages } from './firstContact';
import { ActiveModel, isOurs } from './languages';
import { Server } from './server';
import { Simulation } from './simulation';
import { SimulatorPanel } from './simulatorPanel';
import { StatusBar } from './statusBar';
import { TestExplorer, hasTests } from './testExplorer';
import { TracePanel } from './tracePanel';
import { TraceSession } from './traceSession';
import { XmlModels } from './xmlModels';

let running: Server | undefined;

/**
 * Called by VS Code when the first model, or any XML file, is opened, and in folders with models. Most XML files are not
 * models: until the first one is seen, nothing is started and nothing is shown.
 */
export function activate(context: vscode.ExtensionContext): void {
  const server = new Server(context);
  running = server;
  const active = new ActiveModel();
  const session = new TraceSession(server);
  const trace = new TracePanel(context, session);
  const simulation = new Simulation(server);
  const simulator = new SimulatorPanel(context, simulation, session);
  const diagram = new DiagramEditors(context, server, session, active, trace, simulation, simulator);
  const xml = new XmlModels(context.globalState);
  context.subscriptions.push(server, active, session, simulation, xml, new StatusBar(server), rulePages(server));
  registerCommands(context, { server, session, simulation, trace, diagram, active, xml });

  let tests: TestExplorer | undefined;
  const showTests = (): void => {
    if (tests === undefined) {
      tests = new TestExplorer(server);
      context.subscriptions.push(tests);
    }
  };
  const see = (document: vscode.TextDocument): void => {
    if (isOurs(document)) {
      showTests();
      void server.ensure();
    }
  };
  context.subscriptions.push(
    vscode.workspace.onDidOpenTextDocument(see),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (!server.needed) {
        return;
      }
      if (change.affectsConfiguration('zonelens.server')) {
        await server.restart();
      } else if (change.affectsConfiguration('zonelens')) {
        await server.configure();
      }
    }),
    // Settings that an untrusted workspace may not change apply once it is trusted.
    vscode.workspace.onDidGrantWorkspaceTrust(() => void (server.needed && server.restart())),
  );
  vscode.workspace.textDocuments.forEach(see);
  // VS Code does not say which event activated the extension.
  void Promise.resolve(hasTests()).then((some) => void (some && showTests()));
}

/** Called by VS Code at the end. */
export async function deactivate(): Promise<void> {
  if (running?.needed) {
    await running.stop();
  }
}
