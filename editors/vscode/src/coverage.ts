// What a model never does: one run in the background, then a list to go through. The text is dimmed by diagnostics.
import * as vscode from 'vscode';
import { Server } from './server';

interface Found {
  kind: 'location' | 'edge' | 'guard' | 'receiver' | 'limit';
  template: string | null;
  message: string;
  range: { start: { line: number; character: number }; end: { line: number; character: number } };
}

interface Coverage {
  uri: string;
  complete: boolean;
  reason: string | null;
  statistics: { explored: number };
  never: Found[];
  notSeen: Found[];
}

/** Explores the model of a document, with a notification that can cancel it, and lists what never happens. */
export async function showCoverage(server: Server, uri: string): Promise<void> {
  const options = { location: vscode.ProgressLocation.Notification, title: 'Zonelens: exploring every state', cancellable: true };
  let stopped = false;
  const answer = await vscode.window.withProgress(options, async (_, token) => {
    token.onCancellationRequested(() => {
      stopped = true;
      void server.execute('zonelens.cancel', { uri });
    });
    try {
      return await server.execute<Coverage>('zonelens.coverage', { uri });
    } catch (error) {
      if (stopped) {
        return undefined;
      }
      throw error;
    }
  });
  if (answer === undefined) {
    return;
  }
  // A guard or a receiver is named with its edge.
  const found = [...answer.never, ...answer.notSeen].filter((one) => one.kind !== 'guard' && one.kind !== 'receiver');
  const states = `${answer.statistics.explored} states`;
  if (!answer.complete) {
    void vscode.window.showWarningMessage(`Not everything was explored (${answer.reason ?? 'no reason given'}).`);
  } else if (found.length === 0) {
    void vscode.window.showInformationMessage(`Everything in this model happens, in ${states}.`);
  }
  if (found.length === 0) {
    return;
  }
  const items = found.map((one) => ({
    label: one.message,
    description: `${one.template ?? 'global declarations'}, line ${one.range.start.line + 1}`,
    one,
  }));
  const chosen = await vscode.window.showQuickPick(items, {
    title: answer.complete ? `Never in ${states}` : `Not seen in ${states}`,
    matchOnDescription: true,
  });
  if (chosen !== undefined) {
    const { start, end } = chosen.one.range;
    const selection = new vscode.Range(start.line, start.character, end.line, end.character);
    await vscode.window.showTextDocument(vscode.Uri.parse(answer.uri), { selection });
  }
}
