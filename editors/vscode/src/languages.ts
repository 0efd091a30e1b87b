// Which documents are ours.
import * as vscode from 'vscode';

/** The languages of models and queries. */
export const LANGUAGES = ['xta', 'uppaal-q', 'uppaal-xml'];

/** Whether a document is a model or a query file. */
export function isOurs(document: vscode.TextDocument): boolean {
  return LANGUAGES.includes(document.languageId) && document.uri.scheme !== 'git';
}

/** The model or query file in the active editor, or the one seen last. */
export class ActiveModel implements vscode.Disposable {
  private readonly listener: vscode.Disposable;
  private last: vscode.TextEditor | undefined;

  constructor() {
    this.listener = vscode.window.onDidChangeActiveTextEditor((editor) => this.see(editor));
    this.see(vscode.window.activeTextEditor);
  }

  dispose(): void {
    this.listener.dispose();
  }

  /** The editor; with a panel in front, the one the user came from. */
  get editor(): vscode.TextEditor | undefined {
    const active = vscode.window.activeTextEditor;
    return active && isOurs(active.document) ? active : this.last;
  }

  private see(editor: vscode.TextEditor | undefined): void {
    const ours = editor !== undefined && isOurs(editor.document);
    if (ours) {
      this.last = editor;
    }
    // A panel is no text editor: what was in front before it stays what commands are about.
    if (ours || editor !== undefined) {
      void vscode.commands.executeCommand('setContext', 'zonelens.modelInEditor', ours);
    }
  }
}

/** Shows a 0-based line of a document beside panels, never over them. */
export async function reveal(uri: vscode.Uri, line: number, focus: boolean): Promise<void> {
  const shown = vscode.window.visibleTextEditors.find((e) => e.document.uri.toString() === uri.toString());
  const document = shown?.document ?? (await vscode.workspace.openTextDocument(uri));
  const at = new vscode.Position(Math.min(line, document.lineCount - 1), 0);
  const start = at.with({ character: document.lineAt(at.line).firstNonWhitespaceCharacterIndex });
  const editor = await vscode.window.showTextDocument(document, {
    viewColumn: shown?.viewColumn ?? vscode.ViewColumn.One,
    preserveFocus: !focus,
    selection: focus ? new vscode.Range(start, start) : undefined,
  });
  editor.revealRange(new vscode.Range(start, start), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
