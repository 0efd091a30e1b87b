// Zonelens for VS Code: the pieces, put together.
import * as vscode from 'vscode';
import { registerCommands } from './commands';
import { DiagramPanel } from './diagramPanel';
import { ActiveModel } from './languages';
import { Server } from './server';
import { StatusBar } from './statusBar';
import { TestExplorer } from './testExplorer';
import { TracePanel } from './tracePanel';
import { TraceSession } from './traceSession';

let running: Server | undefined;

/** Called by VS Code when the first model is opened. */
export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const server = new Server(context);
  running = server;
  const active = new ActiveModel();
  const session = new TraceSession(server);
  const trace = new TracePanel(context, session);
  const diagram = new DiagramPanel(context, server, session, active, trace);
  context.subscriptions.push(server, active, session, new StatusBar(server), new TestExplorer(server));
  registerCommands(context, { server, session, diagram, active });
  context.subscriptions.push(
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration('zonelens.server')) {
        await server.restart();
      } else if (change.affectsConfiguration('zonelens')) {
        await server.configure();
      }
    }),
    // What an untrusted workspace may not ask for counts once it is trusted.
    vscode.workspace.onDidGrantWorkspaceTrust(() => void server.restart()),
  );
  await server.start();
}

/** Called by VS Code at the end. */
export async function deactivate(): Promise<void> {
  await running?.stop();
}
