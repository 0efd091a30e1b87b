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

/** The view type of pictures. */
export const PICTURE = 'zonelens.diagram';

/** The document of a tab, whether it shows the text or the picture. */
function shownBy(tab: vscode.Tab | undefined): vscode.Uri | undefined {
  const input = tab?.input;
  const shows = input instanceof vscode.TabInputText || (input instanceof vscode.TabInputCustom && input.viewType === PICTURE);
  return shows ? input.uri : undefined;
}

/** The model or query file in the active tab, as text or as picture, or the one seen last. */
export class ActiveModel implements vscode.Disposable {
  private readonly disposables: vscode.Disposable[];
  private last: vscode.TextDocument | undefined;
  /** The text editor that had the focus last, for the place of the cursor. */
  private lastEditor: vscode.TextEditor | undefined;
  /** Until then, pictures get the focus only to make room for a panel. */
  private held = 0;

  constructor() {
    const look = (): void => this.look();
    this.disposables = [
      vscode.window.onDidChangeActiveTextEditor(look),
      vscode.window.tabGroups.onDidChangeTabs(look),
      vscode.window.tabGroups.onDidChangeTabGroups(look),
      // A change of language does not change the editor: the document is closed and opened.
      vscode.workspace.onDidOpenTextDocument(look),
    ];
    look();
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  /** The document of the active tab; if that shows a panel or another file, the one that was active before it. */
  get document(): vscode.TextDocument | undefined {
    const { document } = this.shown();
    const last = this.last && !this.last.isClosed && isOurs(this.last) ? this.last : undefined;
    return document && isOurs(document) ? document : last;
  }

  /** The text editor of that document that had the focus last. */
  get editor(): vscode.TextEditor | undefined {
    const { document } = this;
    const own = (editor: vscode.TextEditor | undefined): boolean => editor !== undefined && editor.document === document;
    return [vscode.window.activeTextEditor, this.lastEditor].find(own) ?? vscode.window.visibleTextEditors.find(own);
  }

  /** For a moment, a picture that gets the focus is not what the user means. */
  hold(): void {
    this.held = Date.now() + 1000;
  }

  /** What the active tab shows. Tabs know only names: a document that is just being opened is not found. */
  private shown(): { text: boolean; document: vscode.TextDocument | undefined } {
    const editor = vscode.window.activeTextEditor;
    const uri = shownBy(vscode.window.tabGroups.activeTabGroup.activeTab)?.toString();
    const document = vscode.workspace.textDocuments.find((d) => d.uri.toString() === uri);
    return { text: uri !== undefined || editor !== undefined, document: document ?? editor?.document };
  }

  private look(): void {
    const { text, document } = this.shown();
    const ours = document !== undefined && isOurs(document);
    const meant = vscode.window.activeTextEditor !== undefined || Date.now() > this.held;
    if (ours && meant) {
      this.last = document;
    }
    this.lastEditor = vscode.window.activeTextEditor ?? this.lastEditor;
    // A panel shows no document: commands still refer to the one that was active before it.
    if (ours || text) {
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
