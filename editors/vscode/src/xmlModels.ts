// Models in XML: VS Code calls every `.xml` file plain XML, by its name. Here the text decides.
import * as vscode from 'vscode';
import { isEditable } from './languages';
import { HEAD, readHead } from './modelHead';

const PLAIN = 'xml';
const MODEL = 'uppaal-xml';
/** The key under which files that the user wants as plain XML are stored, and their maximum number. */
const KEY = 'zonelens.plainXml';
const REMEMBERED = 1000;

/** Sets the language of XML documents that are models, at most once per opening. */
export class XmlModels implements vscode.Disposable {
  private readonly disposables: vscode.Disposable[];
  /** Documents whose language was set here or changed otherwise since they were opened. */
  private readonly settled = new Set<string>();
  /** Documents whose kind is not clear yet: mostly empty ones. */
  private readonly undecided = new Set<string>();
  /** Untitled documents that the user wants as plain XML: their names are reused, so they are not stored. */
  private readonly plainUntitled = new Set<string>();
  /** A document whose language is being changed, with the language it had: VS Code closes it and opens it again. */
  private changing: { key: string; from: string } | undefined;
  /** Documents whose language is being set here. */
  private readonly own = new Set<string>();

  constructor(private readonly memory: vscode.Memento) {
    this.disposables = [
      vscode.workspace.onDidOpenTextDocument((document) => this.opened(document)),
      vscode.workspace.onDidCloseTextDocument((document) => this.closed(document)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (this.undecided.has(document.uri.toString())) {
          this.look(document);
        }
      }),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('zonelens.xml.detect')) {
          this.lookAtAll();
        }
      }),
    ];
    this.lookAtAll();
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  /** Makes a model plain XML, now and whenever it is opened. */
  async treatAsPlain(document: vscode.TextDocument): Promise<void> {
    await this.remember(document.uri, true);
    await this.set(document, PLAIN);
  }

  private lookAtAll(): void {
    vscode.workspace.textDocuments.forEach((document) => this.look(document));
  }

  private opened(document: vscode.TextDocument): void {
    const key = document.uri.toString();
    const from = this.changing?.key === key ? this.changing.from : undefined;
    this.changing = undefined;
    if (from === undefined || this.own.has(key)) {
      this.look(document);
      return;
    }
    // The language was changed otherwise.
    const active = vscode.window.activeTextEditor?.document === document;
    if (from === MODEL && document.languageId === PLAIN) {
      this.settled.add(key);
      if (active) {
        void this.remember(document.uri, true);
      }
    } else if (document.languageId === MODEL) {
      this.settled.add(key);
      void this.remember(document.uri, false);
    } else {
      this.look(document);
    }
  }

  private closed(document: vscode.TextDocument): void {
    const key = document.uri.toString();
    this.undecided.delete(key);
    if (document.isClosed) {
      this.settled.delete(key);
      this.plainUntitled.delete(key);
    } else {
      this.changing = { key, from: document.languageId };
    }
  }

  /** Sets the language of a document that is plain XML by name and a model by its text. */
  private look(document: vscode.TextDocument): void {
    const key = document.uri.toString();
    if (document.languageId !== PLAIN || !isEditable(document) || document.isClosed || this.settled.has(key)) {
      return;
    }
    const wanted = vscode.workspace.getConfiguration('zonelens', document.uri).get<boolean>('xml.detect', true);
    if (!wanted || this.isPlain(document.uri)) {
      return;
    }
    const end = document.positionAt(HEAD);
    const head = readHead(document.getText(new vscode.Range(new vscode.Position(0, 0), end)));
    if (head === 'undecided') {
      this.undecided.add(key);
      return;
    }
    this.undecided.delete(key);
    if (head === 'model') {
      this.settled.add(key);
      void this.set(document, MODEL);
    }
  }

  private async set(document: vscode.TextDocument, language: string): Promise<void> {
    const key = document.uri.toString();
    this.own.add(key);
    try {
      await vscode.languages.setTextDocumentLanguage(document, language);
    } catch {
      // The document was closed in the meantime; the next opening checks again.
    } finally {
      this.own.delete(key);
    }
  }

  private isPlain(uri: vscode.Uri): boolean {
    const key = uri.toString();
    return this.plainUntitled.has(key) || this.memory.get<string[]>(KEY, []).includes(key);
  }

  private async remember(uri: vscode.Uri, plain: boolean): Promise<void> {
    const key = uri.toString();
    if (uri.scheme === 'untitled') {
      this.plainUntitled[plain ? 'add' : 'delete'](key);
      return;
    }
    const others = this.memory.get<string[]>(KEY, []).filter((k) => k !== key);
    if (plain || others.length < this.memory.get<string[]>(KEY, []).length) {
      await this.memory.update(KEY, plain ? [...others, key].slice(-REMEMBERED) : others);
    }
  }
}
