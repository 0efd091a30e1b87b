// Marks of edges in the text: whole lines; in XML, where an edge is many lines, its labels.
import * as vscode from 'vscode';
import { TextRange } from './protocol';

/** An edge to mark: its first line, and its labels if they are known. */
export interface MarkedEdge {
  line: number;
  labels?: TextRange[] | undefined;
}

/** A kind of mark, told apart from others by its border. */
export class Marks implements vscode.Disposable {
  private readonly lines: vscode.TextEditorDecorationType;
  private readonly labels: vscode.TextEditorDecorationType;

  constructor(look: { border: vscode.ThemeColor; style: 'solid' | 'dashed'; background?: vscode.ThemeColor; ruler?: vscode.ThemeColor }) {
    const common: vscode.DecorationRenderOptions = {
      borderColor: look.border,
      borderStyle: look.style,
      ...(look.background && { backgroundColor: look.background }),
      ...(look.ruler && { overviewRulerColor: look.ruler, overviewRulerLane: vscode.OverviewRulerLane.Full }),
    };
    this.lines = vscode.window.createTextEditorDecorationType({ ...common, isWholeLine: true, borderWidth: '1px 0 1px 4px' });
    this.labels = vscode.window.createTextEditorDecorationType({ ...common, borderWidth: '0 0 3px 0' });
  }

  dispose(): void {
    this.lines.dispose();
    this.labels.dispose();
  }

  /** Marks edges of `model` in all editors that show it, and nothing else. */
  show(model: vscode.Uri | undefined, edges: MarkedEdge[]): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const { document } = editor;
      const ours = model?.toString() === document.uri.toString() ? edges : [];
      const byLabel = (edge: MarkedEdge): boolean => document.languageId === 'uppaal-xml' && (edge.labels?.length ?? 0) > 0;
      const whole = ours.filter((edge) => !byLabel(edge) && edge.line < document.lineCount);
      const ranges = ours.filter(byLabel).flatMap((edge) => edge.labels ?? []);
      const place = ({ start, end }: TextRange): vscode.Range => document.validateRange(new vscode.Range(start.line, start.character, end.line, end.character));
      editor.setDecorations(this.lines, whole.map((edge) => document.lineAt(edge.line).range));
      editor.setDecorations(this.labels, ranges.map(place));
    }
  }
}
