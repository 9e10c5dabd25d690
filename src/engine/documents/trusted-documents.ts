import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../lib/clock.ts';
import { isObject } from '../../lib/is-object.ts';
import type { Log } from '../../lib/log.ts';
import { readPlainFile } from '../../lib/read-plain-file.ts';
import { reasonOf } from '../../lib/reason-of.ts';
import type { Documents, PreparedDocument } from './documents.ts';
import { documentId } from './params.ts';
import { watchPath } from './watch-path.ts';

export interface TrustedDocumentsOptions {
  /** A manifest, or a folder of them. */
  readonly path: string;
  readonly documents: Documents;
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

export interface TrustedDocument {
  readonly text: string;
  readonly prepared: PreparedDocument;
}

/** Lists why manifests of trusted documents cannot be used, one reason for each faulty file. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
  readonly reasons: readonly string[];

  constructor(reasons: readonly string[]) {
    super(reasons.join('; '));
    this.reasons = reasons;
  }
}

// A larger file was configured by mistake: this is far above the documents of any team.
const MAX_BYTES = 64 * 1024 * 1024;

/** The documents that a team has published, read again whenever their manifest changes. */
export class TrustedDocuments {
  readonly #options: TrustedDocumentsOptions;
  #byId: ReadonlyMap<string, TrustedDocument> = new Map();
  #byText: ReadonlyMap<string, TrustedDocument> = new Map();
  #loading: Promise<void> = Promise.resolve();
  #isUnreadable = false;
  #stopWatching = () => {};

  private constructor(options: TrustedDocumentsOptions) {
    this.#options = options;
  }

  /** Throws a ManifestError where the manifest cannot be used at the start. */
  static async open(options: TrustedDocumentsOptions): Promise<TrustedDocuments> {
    const trusted = new TrustedDocuments(options);
    const { path, clock } = options;
    // Watching starts first, so that a change during the read is not missed.
    trusted.#stopWatching = await watchPath({ path, clock, onChange: () => trusted.#reload() });
    trusted.#loading = trusted.#load();
    try {
      await trusted.#loading;
    } catch (error) {
      trusted.close();
      throw error;
    }
    return trusted;
  }

  /** True while the manifest cannot be read, and the former one counts. */
  get isUnreadable(): boolean {
    return this.#isUnreadable;
  }

  byId(id: string): TrustedDocument | undefined {
    return this.#byId.get(id);
  }

  byText(text: string): TrustedDocument | undefined {
    return this.#byText.get(text);
  }

  close(): void {
    this.#stopWatching();
  }

  /** Reloads run one after the other, so that the last change wins. */
  #reload(): void {
    this.#loading = this.#loading
      .catch(() => {})
      .then(() => this.#load())
      .catch((error: unknown) => {
        // Clients continue with the documents published before: a typo must not refuse all of them.
        this.#isUnreadable = true;
        const message = 'the manifest of trusted documents cannot be read; the former one counts';
        this.#options.log.warn({ err: error }, message);
      });
  }

  async #load(): Promise<void> {
    const { path, log } = this.#options;
    const byId = new Map<string, TrustedDocument>();
    const byText = new Map<string, TrustedDocument>();
    const entries = await readManifest(path);
    for (const [id, text] of entries) {
      const trusted = byText.get(text) ?? this.#prepare(id, text);
      if (!trusted) continue;
      byId.set(id, trusted);
      byText.set(text, trusted);
      // Preparing thousands of documents takes seconds; yielding lets requests run in between.
      await setImmediate();
    }
    log.info({ documents: byId.size, leftOut: entries.size - byId.size }, 'trusted documents');
    this.#byId = byId;
    this.#byText = byText;
    this.#isUnreadable = false;
  }

  #prepare(id: string, text: string): TrustedDocument | null {
    const { documents, log } = this.#options;
    const prepared = documents.prepare(text);
    if (prepared.kind === 'invalid') {
      const errors = prepared.errors.map(({ message }) => message);
      log.warn({ id, errors }, 'a trusted document does not fit and is left out');
      return null;
    }
    for (const { executor } of prepared.operations.values()) executor.compile();
    return { text, prepared };
  }
}

/** Reads the documents of a manifest, or of all `*.json` files of a folder, by their ids. */
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

async function filesOf(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const names = (await readdir(path)).filter((name) => name.endsWith('.json'));
  return names.sort().map((name) => join(path, name));
}

/** A manifest is `{ id: text }`, as Relay's compiler and GraphQL Code Generator write it. */
function addDocuments(documents: Map<string, string>, manifest: unknown): void {
  if (!isObject(manifest)) throw new Error('it is no object');
  for (const [given, text] of Object.entries(manifest)) {
    const id = documentId(given);
    if (typeof text !== 'string') throw new Error(`${given} is no text`);
    const known = documents.get(id) ?? text;
    if (known !== text) throw new Error(`the id ${given} has two different documents`);
    documents.set(id, text);
  }
}
