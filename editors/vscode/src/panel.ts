// Shared by panels and pictures: a page that loads only one script and one style sheet of the extension.
import * as crypto from 'node:crypto';
import * as vscode from 'vscode';

/** A panel next to the editor. */
export abstract class Panel<To, From extends { type: string }> implements vscode.Disposable {
  protected view: vscode.WebviewPanel | undefined;
  private ready = false;

  protected constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly id: string,
    private readonly title: string,
    private readonly script: string,
  ) {}

  dispose(): void {
    this.view?.dispose();
  }

  /** Whether it is open. */
  get isOpen(): boolean {
    return this.view !== undefined;
  }

  /** The column it is in. */
  get column(): vscode.ViewColumn | undefined {
    return this.view?.viewColumn;
  }

  /** Opens the panel, or brings it to the front; the editor keeps the focus by default. */
  show(focus = false, column = vscode.ViewColumn.Beside): void {
    if (this.view !== undefined) {
      this.view.reveal(undefined, !focus);
      return;
    }
    this.ready = false;
    const where = { viewColumn: column, preserveFocus: !focus };
    this.view = vscode.window.createWebviewPanel(this.id, this.title, where, {
      ...pageOptions(this.context),
      retainContextWhenHidden: false,
    });
    this.view.iconPath = vscode.Uri.joinPath(this.context.extensionUri, 'media', 'icon.png');
    this.view.webview.onDidReceiveMessage((message: From) => {
      // After it was hidden, the page is loaded again and requests its content again.
      if (message.type === 'ready') {
        this.ready = true;
        this.fill();
      } else {
        this.heard(message);
      }
    });
    this.view.onDidDispose(() => {
      this.view = undefined;
      this.ready = false;
      this.closed();
    });
    this.view.webview.html = page(this.context, this.view.webview, this.title, this.script);
  }

  /** Sends a message to the page, if it is loaded. */
  protected post(message: To): void {
    if (this.ready) {
      void this.view?.webview.postMessage(message);
    }
  }

  /** Sends the whole content to a new page. */
  protected abstract fill(): void;
  /** Handles a message of the page. */
  protected abstract heard(message: From): void;
  /** The user closed the panel. */
  protected closed(): void {}
}

/** Where the pages may load files from. */
export function pageOptions(context: vscode.ExtensionContext): vscode.WebviewOptions {
  const folder = (name: string) => vscode.Uri.joinPath(context.extensionUri, name);
  return { enableScripts: true, localResourceRoots: [folder('dist'), folder('media')] };
}

/** A page that loads only one script and one style sheet of the extension. */
export function page(context: vscode.ExtensionContext, webview: vscode.Webview, title: string, script: string): string {
  const file = (...parts: string[]) => webview.asWebviewUri(vscode.Uri.joinPath(context.extensionUri, ...parts)).toString();
  const nonce = crypto.randomBytes(16).toString('base64url');
  const policy = `default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="${file('media', 'panel.css')}">
</head>
<body>
<div id="app"></div>
<script nonce="${nonce}" src="${file('dist', script)}"></script>
</body>
</html>`;
}
