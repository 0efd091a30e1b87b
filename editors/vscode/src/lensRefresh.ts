// When lenses are asked for again.
import * as vscode from 'vscode';
import { CodeLensRefreshRequest, CodeLensRequest, LanguageClient, StaticFeature } from 'vscode-languageclient/node';
import { isOurs } from './languages';

/** After this long without a question for lenses, the next refresh is passed on in any case: no editor may be visible. */
const PATIENCE_MS = 2000;

/**
 * Passes the server's refreshes of lenses on, one at a time. After a refresh VS Code waits before it asks for the lenses,
 * the longer the slower the answers are, and begins to wait again with each further refresh: on a busy machine the lens
 * of a running query, refreshed twice a second, would never change.
 */
export class LensRefresh {
  /** Set while a refresh was passed on and VS Code has not asked since. */
  private waiting: NodeJS.Timeout | undefined;
  private again = false;
  private client: LanguageClient | undefined;

  /** A feature of the client that takes the place of its own handler: it is set up after those of the client. */
  feature(client: LanguageClient): StaticFeature {
    const initialize = (): void => {
      this.client = client;
      this.settle();
      client.onRequest(CodeLensRefreshRequest.type, () => this.refresh());
    };
    return { fillClientCapabilities: () => undefined, initialize, getState: () => ({ kind: 'static' }), clear: () => undefined };
  }

  /** VS Code has the lenses it asked for, or does not ask. */
  settle(): void {
    clearTimeout(this.waiting);
    this.waiting = undefined;
    if (this.again) {
      this.refresh();
    }
  }

  private refresh(): void {
    this.again = this.waiting !== undefined;
    if (this.again) {
      return;
    }
    this.waiting = setTimeout(() => this.settle(), PATIENCE_MS);
    const feature = this.client?.getFeature(CodeLensRequest.method);
    const providers = vscode.workspace.textDocuments.filter(isOurs).map((document) => feature?.getProvider(document));
    new Set(providers).forEach((provider) => provider?.onDidChangeCodeLensEmitter.fire());
  }
}
