// New models, and the pages of rules.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import { Server } from './server';

/** The scheme of the pages of rules: `zonelens-rule:/sym/loop-order`. */
export const RULE_SCHEME = 'zonelens-rule';

const MODELS = [
  { label: 'Empty', detail: 'One process with two locations, and a query.', file: 'empty.xta' },
  { label: 'Empty, to draw', detail: 'One process without locations, as UPPAAL’s XML, and its picture.', file: 'empty.xml' },
  { label: 'Fischer', detail: 'Mutual exclusion by time, with interchangeable processes.', file: 'fischer.xta' },
  { label: 'Train gate', detail: 'Trains wait for a bridge, in a queue; channels and functions.', file: 'train-gate.xta' },
];

/** Opens a model to begin with; it has no file until it is saved. */
export async function newModel(context: vscode.ExtensionContext): Promise<void> {
  const chosen = await vscode.window.showQuickPick(MODELS, { title: 'New model', placeHolder: 'What to begin with' });
  if (chosen) {
    const file = vscode.Uri.joinPath(context.extensionUri, 'dist', 'models', chosen.file);
    const content = new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
    const drawn = chosen.file.endsWith('.xml');
    const document = await vscode.workspace.openTextDocument({ language: drawn ? 'uppaal-xml' : 'xta', content });
    await vscode.window.showTextDocument(document);
    if (drawn) {
      await vscode.commands.executeCommand('zonelens.showDiagram');
    }
  }
}

/** The code of the diagnostic under the cursor, else of the nearest one on its line. */
function codeHere(editor: vscode.TextEditor): string | undefined {
  const at = editor.selection.active;
  const away = ({ range }: vscode.Diagnostic): number => (range.contains(at) ? -1 : Math.abs(range.start.character - at.character));
  const onLine = vscode.languages.getDiagnostics(editor.document.uri).filter((d) => d.range.start.line <= at.line && d.range.end.line >= at.line);
  const codes = onLine.sort((a, b) => away(a) - away(b)).map(({ code }) => (typeof code === 'object' ? code.value : code));
  return codes.find((code): code is string => typeof code === 'string' && code.includes('/'));
}

/** Shows the page of the rule whose diagnostic is under the cursor, or of a code that is asked for. */
export async function explain(editor: vscode.TextEditor | undefined): Promise<void> {
  const prompt = { title: 'Explain a diagnostic', prompt: 'No diagnostic is on this line. Its code, or a part of it:', placeHolder: 'sym/loop-order' };
  const code = (editor && codeHere(editor)) ?? (await vscode.window.showInputBox(prompt));
  if (code) {
    const page = vscode.Uri.from({ scheme: RULE_SCHEME, path: `/${code}` });
    await vscode.workspace.openTextDocument(page);
    await vscode.commands.executeCommand('markdown.showPreviewToSide', page);
  }
}

/** Gives out the pages of rules, also to links in the list of problems: `zonelens explain` prints them. */
export function rulePages(server: Server): vscode.Disposable {
  const provider: vscode.TextDocumentContentProvider = {
    provideTextDocumentContent: async (uri) => {
      const { stdout } = await promisify(execFile)(server.executable(), ['explain', '--', uri.path.slice(1)], { encoding: 'utf8' });
      return stdout;
    },
  };
  const markdown = (document: vscode.TextDocument): void => {
    if (document.uri.scheme === RULE_SCHEME && document.languageId !== 'markdown') {
      void vscode.languages.setTextDocumentLanguage(document, 'markdown');
    }
  };
  return vscode.Disposable.from(vscode.workspace.registerTextDocumentContentProvider(RULE_SCHEME, provider), vscode.workspace.onDidOpenTextDocument(markdown));
}
