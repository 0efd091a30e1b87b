// The server process: its path, its start, and its restart after an unexpected end.
import * as fs from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import {
  CloseAction,
  CloseHandlerResult,
  DidChangeConfigurationNotification,
  ErrorAction,
  ErrorHandlerResult,
  Executable,
  ExecuteCommandRequest,
  LanguageClient,
  LanguageClientOptions,
  State,
} from 'vscode-languageclient/node';
import { LANGUAGES, SCHEMES } from './languages';
import { LensRefresh } from './lensRefresh';
import { TraceChanged } from './protocol';
import { SimulationState } from './protocolSimulation';

/** After more unexpected ends than this within the time below, it is not restarted automatically. */
const MAX_DEATHS = 5;
const DEATHS_WITHIN_MS = 3 * 60 * 1000;

/** The state of the server. */
export type Health = 'starting' | 'running' | 'stopped' | 'failed';

/** The language server's process and the connection to it. */
export class Server implements vscode.Disposable {
  private channel: vscode.LogOutputChannel | undefined;
  private watcher: vscode.FileSystemWatcher | undefined;
  private begun: Promise<void> | undefined;
  private client: LanguageClient | undefined;
  private deaths: number[] = [];
  private readonly lenses = new LensRefresh();
  private restarted = false;
  private readonly healthEmitter = new vscode.EventEmitter<Health>();
  private readonly statusEmitter = new vscode.EventEmitter<{ state: boolean }>();
  private readonly traceEmitter = new vscode.EventEmitter<TraceChanged>();
  private readonly simulationEmitter = new vscode.EventEmitter<SimulationState>();
  private readonly commandEmitter = new vscode.EventEmitter<{ command: string; result: unknown }>();

  /** Fires when the state of the server changes. */
  readonly onHealth = this.healthEmitter.event;
  /** Fires when the state or the counts of a query change. */
  readonly onStatus = this.statusEmitter.event;
  /** Fires when the open trace, its step or its staleness changes. */
  readonly onTrace = this.traceEmitter.event;
  /** Fires when the zone of the simulation arrives, or an edit changes it. */
  readonly onSimulation = this.simulationEmitter.event;
  /** Fires when a server command was run by a lens, a key or a panel. */
  readonly onCommand = this.commandEmitter.event;

  health: Health = 'stopped';

  /** Does not start the server: the extension is also activated for XML files that are not models. */
  constructor(private readonly context: vscode.ExtensionContext) {}

  dispose(): void {
    this.channel?.dispose();
    this.watcher?.dispose();
    this.healthEmitter.dispose();
    this.statusEmitter.dispose();
    this.traceEmitter.dispose();
    this.simulationEmitter.dispose();
    this.commandEmitter.dispose();
  }

  /** The log of the client and the server. */
  get log(): vscode.LogOutputChannel {
    this.channel ??= vscode.window.createOutputChannel('Zonelens', { log: true });
    return this.channel;
  }

  /** Whether the server was already needed. */
  get needed(): boolean {
    return this.begun !== undefined;
  }

  /** Starts the server the first time something needs it: a model, a command, a test. */
  async ensure(): Promise<void> {
    this.begun ??= this.start();
    await this.begun;
  }

  /** The version of the running server, without its commit. */
  get version(): string | undefined {
    return this.client?.initializeResult?.serverInfo?.version?.split(' ')[0];
  }

  /** The executable: the user's choice, else the one in the extension. */
  executable(): string {
    const chosen = vscode.workspace.getConfiguration('zonelens').get<string>('server.path', '').trim();
    if (chosen !== '') {
      return chosen.startsWith('~/') ? path.join(process.env.HOME ?? '~', chosen.slice(2)) : chosen;
    }
    const name = process.platform === 'win32' ? 'zonelens.exe' : 'zonelens';
    return this.context.asAbsolutePath(path.join('server', name));
  }

  /** The file the server writes its log to. */
  logFile(): string {
    const chosen = vscode.workspace.getConfiguration('zonelens').get<string>('server.logFile', '').trim();
    return chosen !== '' ? chosen : path.join(this.context.logUri.fsPath, 'server.log');
  }

  /** Starts the server. Problems are reported to the user here. */
  private async start(): Promise<void> {
    const command = this.executable();
    if (path.isAbsolute(command) && !fs.existsSync(command)) {
      this.become('failed');
      void this.offer(`The Zonelens server is not at ${command}. Set "zonelens.server.path" to a zonelens executable.`, [
        'Open Settings',
      ]);
      return;
    }
    this.become('starting');
    this.client = this.create(command);
    try {
      await this.client.start();
    } catch (error) {
      this.become('failed');
      this.log.error(String(error));
      void this.offer(`The Zonelens server could not be started: ${String(error)}`, ['Restart', 'Show Log']);
      return;
    }
    this.warnOfOtherVersion();
  }

  /** Ends the server. */
  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client?.needsStop()) {
      await client.stop().catch((error: unknown) => this.log.warn(`stopping: ${String(error)}`));
    }
    await client?.dispose().catch(() => undefined);
    this.become('stopped');
  }

  /** Ends the server and starts it again. */
  async restart(): Promise<void> {
    this.deaths = [];
    await this.stop();
    this.begun = this.start();
    await this.begun;
  }

  /** Runs a server command; `undefined` when there is no server. Errors are thrown. */
  async execute<T>(command: string, argument: object): Promise<T | undefined> {
    if (!this.client?.isRunning()) {
      return undefined;
    }
    const result: unknown = await this.client.sendRequest(ExecuteCommandRequest.type, {
      command,
      arguments: [argument],
    });
    this.commandEmitter.fire({ command, result });
    return result as T;
  }

  /** Sends a request of docs/protocol.md. */
  async request<T>(method: string, params: object): Promise<T | undefined> {
    return this.client?.isRunning() ? await this.client.sendRequest<T>(method, params) : undefined;
  }

  /** Notifies the server that settings changed. */
  async configure(): Promise<void> {
    if (this.client?.isRunning()) {
      await this.client.sendNotification(DidChangeConfigurationNotification.type, {
        settings: { zonelens: this.settings() },
      });
    }
  }

  /** The settings that the user changed. Defaults are left out, because the workspace's zonelens.toml overrides them. */
  private settings(scope?: string): Record<string, unknown> {
    const uri = scope === undefined ? undefined : vscode.Uri.parse(scope);
    const all = vscode.workspace.getConfiguration('zonelens', uri);
    const manifest = this.context.extension.packageJSON as {
      contributes: { configuration: { properties: Record<string, unknown> } };
    };
    const names = Object.keys(manifest.contributes.configuration.properties).map((key) => key.slice('zonelens.'.length));
    const chosen: Record<string, unknown> = {};
    for (const name of names.filter((n) => !n.includes('.'))) {
      const places = all.inspect(name);
      if ((places?.workspaceFolderValue ?? places?.workspaceValue ?? places?.globalValue) !== undefined) {
        chosen[name] = all.get(name);
      }
    }
    return chosen;
  }

  /** The URI as the server knows it. */
  uri(uri: vscode.Uri): string {
    return this.client?.code2ProtocolConverter.asUri(uri) ?? uri.toString();
  }

  private create(command: string): LanguageClient {
    fs.mkdirSync(path.dirname(this.logFile()), { recursive: true });
    this.watcher ??= vscode.workspace.createFileSystemWatcher('**/{*.xta,*.ta,*.q,*.xml,zonelens.toml}');
    const run: Executable = { command, args: ['lsp', '--log-file', this.logFile()] };
    const options: LanguageClientOptions = {
      documentSelector: LANGUAGES.flatMap((language) => SCHEMES.map((scheme) => ({ scheme, language }))),
      outputChannel: this.log,
      initializationOptions: {
        ...this.settings(),
        statusNotifications: true,
        trusted: vscode.workspace.isTrusted,
      },
      synchronize: {
        fileEvents: this.watcher,
      },
      errorHandler: { error: (_, __, count) => this.onError(count ?? 1), closed: () => this.onClosed() },
      middleware: {
        // The status item shows running queries, and cancels them; they are not shown twice.
        handleWorkDoneProgress: (token, params, next) => {
          if (!String(token).startsWith('zonelens/run/')) {
            next(token, params);
          }
        },
        provideCodeLenses: async (document, token, next) => {
          try {
            return await next(document, token);
          } finally {
            this.lenses.settle();
          }
        },
        workspace: {
          configuration: ({ items }) =>
            items.map((item) => (item.section === 'zonelens' ? this.settings(item.scopeUri) : null)),
        },
        executeCommand: async (name, args, next) => {
          const result: unknown = await next(name, args);
          this.commandEmitter.fire({ command: name, result });
          return result;
        },
      },
    };
    const client = new LanguageClient('zonelens-client', 'Zonelens', run, options);
    client.registerFeature(this.lenses.feature(client));
    client.onNotification('zonelens/status', (params: { state: boolean }) => this.statusEmitter.fire(params));
    client.onNotification('zonelens/traceChanged', (params: TraceChanged) => this.traceEmitter.fire(params));
    client.onNotification('zonelens/simulationChanged', (params: SimulationState) => this.simulationEmitter.fire(params));
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Running) {
        this.become('running');
        this.tellOfRestart();
      } else if (newState === State.Starting) {
        this.become('starting');
      }
    });
    return client;
  }

  private onError(count: number): ErrorHandlerResult {
    // A broken pipe is followed by the end of the process, which is handled there.
    return { action: count <= 3 ? ErrorAction.Continue : ErrorAction.Shutdown, handled: true };
  }

  private onClosed(): CloseHandlerResult {
    const now = Date.now();
    this.deaths = [...this.deaths.filter((at) => now - at < DEATHS_WITHIN_MS), now];
    this.log.error('the server ended unexpectedly');
    if (this.deaths.length >= MAX_DEATHS) {
      this.become('failed');
      const message = `The Zonelens server ended ${MAX_DEATHS} times within three minutes and is not restarted.`;
      void this.offer(message, ['Restart', 'Show Log']);
      return { action: CloseAction.DoNotRestart, handled: true };
    }
    this.restarted = true;
    return { action: CloseAction.Restart, handled: true };
  }

  private tellOfRestart(): void {
    if (this.restarted) {
      this.restarted = false;
      void this.offer('The Zonelens server ended unexpectedly and was restarted. Running queries were lost.', [
        'Show Log',
      ]);
    }
  }

  private warnOfOtherVersion(): void {
    const own = (this.context.extension.packageJSON as { version: string }).version;
    if (this.version !== undefined && this.version !== own) {
      void this.offer(
        `The Zonelens server is version ${this.version}, this extension is ${own}. Use the same version of both, or empty "zonelens.server.path".`,
        ['Open Settings'],
      );
    }
  }

  private become(health: Health): void {
    this.health = health;
    this.healthEmitter.fire(health);
  }

  private async offer(message: string, actions: string[]): Promise<void> {
    const chosen = await vscode.window.showWarningMessage(message, ...actions);
    if (chosen === 'Restart') {
      await vscode.commands.executeCommand('zonelens.restartServer');
    } else if (chosen === 'Show Log') {
      await vscode.commands.executeCommand('zonelens.openLog');
    } else if (chosen === 'Open Settings') {
      await vscode.commands.executeCommand('workbench.action.openSettings', 'zonelens.server.path');
    }
  }
}
