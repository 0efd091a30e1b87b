// The status bar entry: the state of the server, the running query, and cancelling it.
import * as vscode from 'vscode';
import { isOurs } from './languages';
import { grouped } from './numbers';
import { QueryState } from './protocol';
import { Health, Server } from './server';

const WORDS: Record<Health, { text: string; tooltip: string }> = {
  starting: { text: '$(sync~spin) Zonelens', tooltip: 'The server is starting.' },
  running: { text: '$(check) Zonelens', tooltip: 'The server is running.' },
  stopped: { text: '$(circle-slash) Zonelens', tooltip: 'The server is not running.' },
  failed: { text: '$(error) Zonelens', tooltip: 'The server could not be started.' },
};

/** The entry in the status bar; it does not exist before the server is needed. */
export class StatusBar implements vscode.Disposable {
  private item: vscode.StatusBarItem | undefined;
  private readonly disposables: vscode.Disposable[];
  private asking = false;
  private again = false;

  constructor(private readonly server: Server) {
    this.disposables = [server.onHealth(() => void this.update()), server.onStatus(() => void this.update())];
  }

  dispose(): void {
    this.item?.dispose();
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private shown(): vscode.StatusBarItem {
    if (this.item === undefined) {
      this.item = vscode.window.createStatusBarItem('zonelens.status', vscode.StatusBarAlignment.Left, 10);
      this.item.name = 'Zonelens';
      this.item.show();
    }
    return this.item;
  }

  /** The running and waiting queries of all open documents. */
  async running(): Promise<QueryState[]> {
    const documents = vscode.workspace.textDocuments.filter(isOurs);
    const states = await Promise.all(
      documents.map((d) =>
        this.server.execute<QueryState[]>('zonelens.status', { uri: this.server.uri(d.uri) }).catch(() => []),
      ),
    );
    return states.flatMap((s) => s ?? []).filter((q) => q.state === 'running' || q.state === 'queued');
  }

  private async update(): Promise<void> {
    // Counts change often; one request at a time is enough.
    if (this.asking) {
      this.again = true;
      return;
    }
    this.asking = true;
    do {
      this.again = false;
      this.paint(this.server.health === 'running' ? await this.running() : []);
    } while (this.again);
    this.asking = false;
  }

  private paint(busy: QueryState[]): void {
    const item = this.shown();
    const { text, tooltip } = WORDS[this.server.health];
    const first = busy.find((q) => q.state === 'running');
    if (first === undefined) {
      const version = this.server.version ? ` Version ${this.server.version}.` : '';
      item.text = text;
      item.tooltip = `${tooltip}${version}`;
      item.command = 'zonelens.statusMenu';
      item.accessibilityInformation = { label: `Zonelens: ${tooltip}`, role: 'button' };
      return;
    }
    const { progress } = first;
    const states = progress ? `${grouped(progress.stored)} states, ${grouped(Math.round(progress.states_per_second))}/s` : 'starting';
    const waiting = busy.length > 1 ? `, ${busy.length - 1} waiting` : '';
    item.text = `$(sync~spin) Verifying: ${states}${waiting} $(debug-stop)`;
    item.tooltip = `${first.query}\nClick to cancel.`;
    item.command = 'zonelens.cancelRuns';
    item.accessibilityInformation = { label: `Zonelens is verifying, ${states}. Activate to cancel.`, role: 'button' };
  }
}
