// The Test Explorer: every query is a test, with the same verdict as its lens.
import * as vscode from 'vscode';
import { isOurs } from './languages';
import { QueryState } from './protocol';
import { Server } from './server';

/** Files that may contain queries; XML files are included once they are open and turn out to be models. */
const FILES = '**/*.{xta,ta,q}';
/** The files by which a folder with models is recognised; the same as in the activation events. */
const SIGNS = '{zonelens.toml,**/*.xta,**/*.ta}';
const NOT_THERE = '**/node_modules/**';
const MAX_FILES = 500;
/** Status messages may be lost with a dying server: check again after this time. */
const LOOK_AGAIN_MS = 2000;

/** A query in the tree. */
interface Test {
  item: vscode.TestItem;
  document: vscode.Uri;
  query: string;
}

/** Whether a folder of this window contains models that can be tested before any is open. */
export async function hasTests(): Promise<boolean> {
  return (await vscode.workspace.findFiles(SIGNS, NOT_THERE, 1)).length > 0;
}

/** Shows queries as tests and runs them. */
export class TestExplorer implements vscode.Disposable {
  private readonly controller = vscode.tests.createTestController('zonelens', 'Zonelens queries');
  private readonly tests = new Map<string, Test>();
  /** The answer that each test shows, so that none is reported twice. */
  private readonly shown = new Map<string, string>();
  /** Tests that a run of this explorer will report. */
  private readonly owned = new Set<string>();
  private readonly disposables: vscode.Disposable[] = [];

  constructor(private readonly server: Server) {
    this.controller.resolveHandler = async (item) => (item ? await this.resolve(item) : await this.discover());
    this.controller.refreshHandler = () => this.discover();
    this.controller.createRunProfile(
      'Verify',
      vscode.TestRunProfileKind.Run,
      (request, token) => this.run(request, token),
      true,
    );
    this.disposables.push(
      this.controller,
      server.onStatus(({ state }) => void (state && this.refreshAll())),
      server.onHealth((health) => void (health === 'running' && this.refreshAll())),
      vscode.workspace.onDidOpenTextDocument((document) => void this.refresh(document)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => void this.refresh(document)),
      vscode.workspace.onDidCloseTextDocument((document) => void this.closed(document)),
    );
    void this.refreshAll();
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private async discover(): Promise<void> {
    for (const uri of await vscode.workspace.findFiles(FILES, NOT_THERE, MAX_FILES)) {
      this.file(uri);
    }
    await this.refreshAll();
  }

  private file(uri: vscode.Uri): vscode.TestItem {
    const known = this.controller.items.get(uri.toString());
    if (known) {
      return known;
    }
    const item = this.controller.createTestItem(uri.toString(), vscode.workspace.asRelativePath(uri), uri);
    item.canResolveChildren = true;
    this.controller.items.add(item);
    return item;
  }

  /** The server knows open documents; opening one without showing it is enough. */
  private async resolve(item: vscode.TestItem): Promise<void> {
    if (item.uri && item.children.size === 0) {
      await this.server.ensure();
      const document = await vscode.workspace.openTextDocument(item.uri);
      await this.refresh(document);
    }
  }

  private async refreshAll(): Promise<void> {
    await Promise.all(vscode.workspace.textDocuments.map((document) => this.refresh(document)));
  }

  private async states(uri: vscode.Uri): Promise<QueryState[] | undefined> {
    return await this.server
      .execute<QueryState[]>('zonelens.status', { uri: this.server.uri(uri) })
      .catch(() => undefined);
  }

  private async refresh(document: vscode.TextDocument): Promise<void> {
    if (!isOurs(document) || document.isClosed) {
      return;
    }
    const states = await this.states(document.uri);
    if (states === undefined) {
      return;
    }
    if (states.length === 0 && !this.controller.items.get(document.uri.toString())) {
      return;
    }
    const parent = this.file(document.uri);
    const items = states.map((state, i) => this.item(document, state, i));
    parent.children.replace(items);
    states.forEach((state, i) => this.mirror(items[i], state));
  }

  private item(document: vscode.TextDocument, state: QueryState, index: number): vscode.TestItem {
    const id = `${document.uri.toString()}#${index}`;
    const known = this.tests.get(id);
    const item =
      known?.query === state.query ? known.item : this.controller.createTestItem(id, state.query, document.uri);
    const line = Math.min(Math.max(state.line - 1, 0), document.lineCount - 1);
    item.range = document.lineAt(line).range;
    item.sortText = String(index).padStart(4, '0');
    item.description = state.stale ? 'stale' : undefined;
    if (known?.query !== state.query) {
      this.shown.delete(id);
    }
    this.tests.set(id, { item, document: document.uri, query: state.query });
    return item;
  }

  private async closed(document: vscode.TextDocument): Promise<void> {
    // A document whose language changes is closed and opened: as plain XML it has no tests.
    if (document.uri.scheme === 'untitled' || (isOurs(document) && !document.isClosed)) {
      this.controller.items.delete(document.uri.toString());
    }
  }

  /** Reports an answer that a lens or a command requested. */
  private mirror(item: vscode.TestItem | undefined, state: QueryState): void {
    if (!item || this.owned.has(item.id)) {
      return;
    }
    if (state.stale === true || state.state === 'never') {
      if (this.shown.delete(item.id)) {
        this.controller.invalidateTestResults(item);
      }
      return;
    }
    const key = answerKey(state);
    if (key === undefined || this.shown.get(item.id) === key) {
      return;
    }
    this.shown.set(item.id, key);
    const run = this.controller.createTestRun(new vscode.TestRunRequest([item]), undefined, false);
    void this.report(run, item, state).finally(() => run.end());
  }

  private async run(request: vscode.TestRunRequest, token: vscode.CancellationToken): Promise<void> {
    // First the tests, then the run: of two results the tree shows the one whose run was made last.
    const tests = await this.selected(request);
    const run = this.controller.createTestRun(request);
    try {
      for (const test of tests) {
        this.owned.add(test.item.id);
        run.enqueued(test.item);
      }
      await Promise.all(tests.map((test) => this.verify(run, test, token)));
    } finally {
      tests.forEach((test) => this.owned.delete(test.item.id));
      run.end();
    }
  }

  private async selected(request: vscode.TestRunRequest): Promise<Test[]> {
    const chosen: Test[] = [];
    const visit = async (item: vscode.TestItem): Promise<void> => {
      if (request.exclude?.includes(item)) {
        return;
      }
      const test = this.tests.get(item.id);
      if (test) {
        chosen.push(test);
        return;
      }
      await this.resolve(item);
      for (const [, child] of item.children) {
        await visit(child);
      }
    };
    const roots = request.include ?? [...this.controller.items].map(([, item]) => item);
    for (const item of roots) {
      await visit(item);
    }
    return chosen;
  }

  private async verify(run: vscode.TestRun, test: Test, token: vscode.CancellationToken): Promise<void> {
    const argument = { uri: this.server.uri(test.document), query: test.query };
    const stop = token.onCancellationRequested(() => void this.server.execute('zonelens.cancel', argument));
    try {
      await this.server.ensure();
      await vscode.workspace.openTextDocument(test.document);
      const answer = await this.server.execute<{ runs: number[] }>('zonelens.verify', argument);
      if (answer === undefined) {
        run.errored(test.item, new vscode.TestMessage('The Zonelens server is not running.'));
        return;
      }
      const state = await this.finished(run, test);
      if (state === undefined) {
        run.errored(test.item, new vscode.TestMessage('The Zonelens server ended before the query was answered.'));
      } else if (token.isCancellationRequested && answerKey(state) === undefined) {
        run.skipped(test.item);
      } else {
        this.shown.set(test.item.id, answerKey(state) ?? '');
        await this.report(run, test.item, state);
      }
    } catch (error) {
      run.errored(test.item, new vscode.TestMessage(error instanceof Error ? error.message : String(error)));
    } finally {
      stop.dispose();
    }
  }

  /** Waits until a query is neither waiting nor running; `undefined` if the server has ended. */
  private async finished(run: vscode.TestRun, test: Test): Promise<QueryState | undefined> {
    let started = false;
    for (;;) {
      const state = (await this.states(test.document))?.find((s) => s.query === test.query);
      if (state === undefined) {
        return undefined;
      }
      if (state.state === 'running' && !started) {
        started = true;
        run.started(test.item);
      }
      if (state.state !== 'running' && state.state !== 'queued') {
        return state;
      }
      await this.change();
    }
  }

  private change(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        listener.dispose();
        resolve();
      };
      const timer = setTimeout(done, LOOK_AGAIN_MS);
      const listener = this.server.onStatus(({ state }) => void (state && done()));
    });
  }

  private async report(run: vscode.TestRun, item: vscode.TestItem, state: QueryState): Promise<void> {
    const report = state.report;
    if (report === undefined) {
      const message = state.message ?? `The query was not answered (${state.state}).`;
      run.errored(item, at(item, new vscode.TestMessage(message)));
      return;
    }
    const duration = report.statistics.seconds * 1000;
    // A stored answer may have been requested by another file with another expectation.
    const wanted = state.expected ?? 'satisfied';
    const line = `${report.verdict}: ${report.query} (${report.statistics.stored} states, ${Math.round(duration)} ms)`;
    run.appendOutput(`${line}\r\n`, undefined, item);
    if (report.verdict === wanted) {
      run.passed(item, duration);
    } else if (report.verdict === 'satisfied' || report.verdict === 'violated') {
      const trace = await this.traceText(item, report.query);
      const message = new vscode.TestMessage(`${report.verdict}, expected ${wanted}${trace === '' ? '' : `\n\n${trace}`}`);
      if (trace !== '') {
        run.appendOutput(`${trace.replace(/\r?\n/g, '\r\n')}\r\n`, undefined, item);
      }
      run.failed(item, at(item, message), duration);
    } else {
      run.errored(item, at(item, new vscode.TestMessage(`${report.verdict}: ${report.reason ?? 'no reason given'}`)), duration);
    }
  }

  private async traceText(item: vscode.TestItem, query: string): Promise<string> {
    if (!item.uri) {
      return '';
    }
    const argument = { uri: this.server.uri(item.uri), query };
    const answer = await this.server
      .execute<{ text: string }>('zonelens.trace.export', argument)
      .catch(() => undefined);
    return answer?.text ?? '';
  }
}

/** A key that differs between different answers; `undefined` while there is none. */
function answerKey(state: QueryState): string | undefined {
  switch (state.state) {
    case 'never':
    case 'queued':
    case 'running':
      return undefined;
    default:
      return `${state.state} ${state.meaning} ${state.message ?? ''}`;
  }
}

function at(item: vscode.TestItem, message: vscode.TestMessage): vscode.TestMessage {
  if (item.uri && item.range) {
    message.location = new vscode.Location(item.uri, item.range);
  }
  return message;
}
