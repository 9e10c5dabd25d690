import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../lib/clock.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import type { Log } from '../../lib/log.ts';
import type { Documents, PreparedDocument } from './documents.ts';
import { manifestState, readManifest } from './manifest.ts';

export interface TrustedDocumentsOptions {
  /** A manifest, or a folder of manifests. */
  readonly path: string;
  readonly documents: Documents;
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

export interface TrustedDocument {
  readonly text: string;
  readonly prepared: PreparedDocument;
}

const LOOK_MS = 1_000;

/** The documents that a team has published. They are read again whenever their manifest changes. */
export class TrustedDocuments {
  readonly #options: TrustedDocumentsOptions;
  #byId: ReadonlyMap<string, TrustedDocument> = new Map();
  #byText: ReadonlyMap<string, TrustedDocument> = new Map();
  #state = '';
  #isUnreadable = false;
  #isClosed = false;
  #cancel = () => {};

  private constructor(options: TrustedDocumentsOptions) {
    this.#options = options;
  }

  /** Throws a ManifestError if the manifest cannot be used at the start. */
  static async open(options: TrustedDocumentsOptions): Promise<TrustedDocuments> {
    const trusted = new TrustedDocuments(options);
    // The state is read first, so that a change during the load is not missed.
    trusted.#state = await manifestState(options.path);
    await trusted.#load();
    trusted.#lookLater();
    return trusted;
  }

  /** True while the manifest cannot be read, and the former documents are used. */
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
    this.#isClosed = true;
    this.#cancel();
  }

  /** Polls the files, because some file systems, such as those of networks and containers, emit no events. */
  #lookLater(): void {
    if (this.#isClosed) return;
    const look = () => fireAndForget('trusted documents', this.#look());
    this.#cancel = this.#options.clock.after(LOOK_MS, look);
  }

  async #look(): Promise<void> {
    const state = await manifestState(this.#options.path);
    if (state !== this.#state) {
      this.#state = state;
      await this.#load().catch((error: unknown) => {
        // The former documents stay in use: otherwise a typo would refuse every client.
        this.#isUnreadable = true;
        const message = 'the manifest of trusted documents cannot be read; the former one counts';
        this.#options.log.warn({ err: error }, message);
      });
    }
    this.#lookLater();
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
      // Preparing thousands of documents takes seconds. Requests run in between.
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
