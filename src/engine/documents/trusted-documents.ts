import { hash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type Clock, pause } from '../../lib/clock.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import { isObject } from '../../lib/json.ts';
import type { Log } from '../../lib/log.ts';
import { readPlainFile } from '../../lib/read-plain-file.ts';
import { reasonOf } from '../../lib/reason-of.ts';
import { refusal } from '../core/errors.ts';
import type { RequestSummary } from '../core/request-summary.ts';
import type { Documents, PreparedDocument } from './documents.ts';
import { documentId, type Params } from './params.ts';

export interface TrustedDocumentsOptions {
  /** A manifest, or a folder of manifests; null if no document is trusted. */
  readonly path: string | null;
  /** `on` refuses untrusted documents; `log` executes and logs them. */
  readonly trustedOnly: 'off' | 'log' | 'on';
  readonly documents: Documents;
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** The parameters with the text of the document, even if the client has sent only its id. */
export interface RequestedDocument extends Omit<Params, 'documentId'> {
  readonly query: string;
}

const POLL_MS = 1_000;
const MAX_NAME_LENGTH = 100;

/** Finds the documents that clients request. A team's trusted documents are read again whenever their manifest changes. */
export class TrustedDocuments {
  readonly #options: TrustedDocumentsOptions;
  readonly #loggedUntrusted = new WeakSet<PreparedDocument>();
  #byId: ReadonlyMap<string, string> = new Map();
  #texts: ReadonlySet<string> = new Set();
  #state = '';
  /** True while the manifest cannot be read, and the former documents are used. Only this class changes it. */
  isUnreadable = false;
  readonly #closing = new AbortController();

  private constructor(options: TrustedDocumentsOptions) {
    this.#options = options;
  }

  /** Throws a ManifestError if the manifest cannot be used at the start. */
  static async open(options: TrustedDocumentsOptions): Promise<TrustedDocuments> {
    const { path } = options;
    const trusted = new TrustedDocuments(options);
    if (path === null) return trusted;
    // The state is read first, so that a change during the load is not missed.
    trusted.#state = await manifestState(path);
    await trusted.#load(path);
    fireAndForget('trusted documents', trusted.#watch(path));
    return trusted;
  }

  /** Throws a Refusal if the document is unknown, or may not be executed. */
  find(params: Params, summary: RequestSummary): RequestedDocument {
    const { query, documentId, operationName, variables } = params;
    const { path, trustedOnly } = this.#options;
    const trustedText = documentId === null ? undefined : this.#byId.get(documentId);
    const text = query ?? trustedText;
    if (text === undefined) {
      // Apollo Client and urql match these messages: after NotFound they send the text, after NotSupported no more hashes.
      const message = path === null ? 'PersistedQueryNotSupported' : 'PersistedQueryNotFound';
      throw refusal('PERSISTED_DOCUMENT_NOT_FOUND', message);
    }
    const hasOtherText = query !== null && documentId !== null && query !== trustedText;
    if (hasOtherText && hashOf(query) !== documentId) {
      throw refusal('BAD_USER_INPUT', 'The document has another hash.');
    }
    summary.isTrusted = this.#texts.has(text);
    if (!summary.isTrusted && trustedOnly === 'on') {
      throw refusal('PERSISTED_DOCUMENT_REQUIRED', 'Only trusted documents are answered here.');
    }
    return { query: text, operationName, variables };
  }

  /** If the setting is `log`, logs each untrusted document once, without its text, which may contain a password. */
  logIfUntrusted({ query, operationName }: RequestedDocument, prepared: PreparedDocument): void {
    if (this.#options.trustedOnly !== 'log' || this.#texts.has(query)) return;
    if (this.#loggedUntrusted.has(prepared)) return;
    this.#loggedUntrusted.add(prepared);
    const name = operationName?.slice(0, MAX_NAME_LENGTH) ?? null;
    const line = { document: hashOf(query), operationName: name };
    this.#options.log.warn(line, 'a document that is not trusted');
  }

  close(): void {
    this.#closing.abort();
  }

  /** Polls the files, because some file systems, such as those of networks and containers, emit no events. */
  async #watch(path: string): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.#loadIfChanged(path);
      await pause(this.#options.clock, POLL_MS, signal);
    }
  }

  async #loadIfChanged(path: string): Promise<void> {
    const state = await manifestState(path);
    if (state === this.#state) return;
    this.#state = state;
    await this.#load(path).catch((error: unknown) => {
      // The former documents stay in use, so that a typo in the manifest does not refuse every client.
      this.isUnreadable = true;
      const message = 'the manifest of trusted documents cannot be read; the former one counts';
      this.#options.log.warn({ err: error }, message);
    });
  }

  async #load(path: string): Promise<void> {
    const byId = new Map<string, string>();
    const entries = await readManifest(path);
    for (const [id, text] of entries) {
      if (!this.#matchesSchema(id, text)) continue;
      byId.set(id, text);
      // Preparing thousands of documents takes seconds. Requests run in between.
      await setImmediate();
    }
    const leftOut = entries.size - byId.size;
    this.#options.log.info({ documents: byId.size, leftOut }, 'trusted documents');
    this.#byId = byId;
    this.#texts = new Set(byId.values());
    this.isUnreadable = false;
  }

  #matchesSchema(id: string, text: string): boolean {
    const { documents, log } = this.#options;
    const prepared = documents.prepare(text);
    if (prepared.kind === 'document') return true;
    const errors = prepared.errors.map(({ message }) => message);
    log.warn({ id, errors }, 'a trusted document does not match the schema and is left out');
    return false;
  }
}

function hashOf(text: string): string {
  return hash('sha256', text, 'hex');
}

/** Thrown if manifests of trusted documents cannot be used, with one reason for each faulty file. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
  readonly reasons: readonly string[];

  constructor(reasons: readonly string[]) {
    super(reasons.join('; '));
    this.reasons = reasons;
  }
}

// A larger file was configured by mistake: this is far more than the documents of any team.
const MAX_BYTES = 64 * 1024 * 1024;

/** Reads the documents of a manifest, or of all `*.json` files in a folder. Returns them by their ids. */
export async function readManifest(path: string): Promise<Map<string, string>> {
  const documents = new Map<string, string>();
  const reasons: string[] = [];
  const files = await filesOf(path).catch((error: unknown) => {
    throw new ManifestError([`${path}: ${reasonOf(error)}`]);
  });
  for (const file of files) {
    try {
      addDocuments(documents, JSON.parse(await readPlainFile(file, MAX_BYTES)));
    } catch (error) {
      reasons.push(`${file}: ${reasonOf(error)}`);
    }
  }
  if (reasons.length > 0) throw new ManifestError(reasons);
  return documents;
}

/** Returns a text that changes whenever a file of the manifest changes. */
async function manifestState(path: string): Promise<string> {
  try {
    const files = (await filesOf(path)).map(async (file) => {
      const { mtimeMs, size, ino } = await stat(file);
      return `${file} ${mtimeMs} ${size} ${ino}`;
    });
    return (await Promise.all(files)).join('\n');
  } catch (error) {
    return `unreadable: ${reasonOf(error)}`;
  }
}

async function filesOf(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const names = (await readdir(path)).filter((name) => name.endsWith('.json'));
  return names.sort().map((name) => join(path, name));
}

/** A manifest is `{ id: text }`, the format of Relay's compiler and GraphQL Code Generator. */
function addDocuments(documents: Map<string, string>, manifest: unknown): void {
  if (!isObject(manifest)) throw new Error('it is not an object');
  for (const [given, text] of Object.entries(manifest)) {
    const id = documentId(given);
    if (typeof text !== 'string') throw new Error(`${given} is not a text`);
    const known = documents.get(id) ?? text;
    if (known !== text) throw new Error(`the id ${given} has two different documents`);
    documents.set(id, text);
  }
}
