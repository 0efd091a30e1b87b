// The documents that the extension handles.
import * as vscode from 'vscode';

/** The languages of models and queries. */
export const LANGUAGES = ['xta', 'uppaal-q', 'uppaal-xml'];

/** The schemes of documents that are sent to the server. Views of other versions and the like only get syntax colours. */
export const SCHEMES = ['file', 'untitled'];

/** Whether a document can be edited by the user. */
export function isEditable(document: vscode.TextDocument): boolean {
  return SCHEMES.includes(document.uri.scheme);
}

/** Whether a document is a model or a query file. */
export function isOurs(document: vscode.TextDocument): boolean {
  return LANGUAGES.includes(document.languageId) && isEditable(document);
}

/** The model or query file in the active editor, or the one seen last. */
export class ActiveModel implements vscode.Disposable {
  private readonly disposables: vscode.Disposable[];
  private readonly emitter = new vscode.EventEmitter<vscode.TextEditor>();
  private last: vscode.TextEditor | undefined;

  /** A model became active, or the active document became a model. */
  readonly onModel = this.emitter.event;

  constructor() {
    this.disposables = [
      this.emitter,
      vscode.window.onDidChangeActiveTextEditor((editor) => this.see(editor)),
      // A change of language does not change the editor: the document is closed and opened.
      vscode.workspace.onDidOpenTextDocument((document) => {
        const editor = vscode.window.activeTextEditor;
        if (editor?.document === document) {
          this.see(editor);
        }
      }),
    ];
    this.see(vscode.window.activeTextEditor);
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  /** The active editor; if a panel is active, the editor that was active before it. */
  get editor(): vscode.TextEditor | undefined {
    const active = vscode.window.activeTextEditor;
    const last = this.last && isOurs(this.last.document) ? this.last : undefined;
    return active && isOurs(active.document) ? active : last;
  }

  private see(editor: vscode.TextEditor | undefined): void {
    const ours = editor !== undefined && isOurs(editor.document);
    if (ours) {
      this.last = editor;
      this.emitter.fire(editor);
    }
    // A panel is not a text editor: commands still refer to the editor that was active before it.
    if (ours || editor !== undefined) {
      void vscode.commands.executeCommand('setContext', 'zonelens.modelInEditor', ours);
    }
  }
}

/** Shows a 0-based line of a document next to panels, never over them. */
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
