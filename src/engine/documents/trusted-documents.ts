import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { watchPath } from '../../lib/watch-path.ts';
import type { Documents, PreparedDocument } from './documents.ts';
import { readManifests } from './manifest.ts';

export interface TrustedDocumentsOptions {
  /** A manifest, or a folder of them. */
  readonly path: string;
  readonly documents: Documents;
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Called with the names of the operations whenever they have been read. */
  readonly onLoaded?: (operationNames: ReadonlySet<string>) => void;
}

interface Loaded {
  readonly byId: ReadonlyMap<string, TrustedDocument>;
  readonly byText: ReadonlyMap<string, TrustedDocument>;
}

export interface TrustedDocument {
  readonly text: string;
  readonly prepared: PreparedDocument;
}

export type TrustedDocuments = Awaited<ReturnType<typeof openTrustedDocuments>>;

/** The documents that a team has published. Throws a ManifestError where the manifest cannot be used at the start. */
export async function openTrustedDocuments(options: TrustedDocumentsOptions) {
  const { path, clock, log } = options;
  let loaded: Loaded = { byId: new Map(), byText: new Map() };
  let isUnreadable = false;
  let loading: Promise<void> = Promise.resolve();

  async function loadAgain(): Promise<void> {
    loaded = await load(options);
    isUnreadable = false;
  }

  /** Reloads run one after the other, so that the last change wins. */
  function reload(): void {
    loading = loading
      .catch(() => {})
      .then(loadAgain)
      .catch((error: unknown) => {
        // Clients continue with the documents published before: a typo must not refuse all of them.
        isUnreadable = true;
        const message = 'the manifest of trusted documents cannot be read; the former one counts';
        log.warn({ err: error }, message);
      });
  }

  // Watching starts first, so that a change during the read is not missed.
  const close = await watchPath({ path, clock, onChange: reload });
  loading = loadAgain();
  try {
    await loading;
  } catch (error) {
    close();
    throw error;
  }
  return {
    /** True while the manifests cannot be read, and the former ones count. */
    get isUnreadable() {
      return isUnreadable;
    },
    byId: (id: string) => loaded.byId.get(id),
    byText: (text: string) => loaded.byText.get(text),
    close,
  };
}

async function load(options: TrustedDocumentsOptions): Promise<Loaded> {
  const { path, log, onLoaded } = options;
  const byId = new Map<string, TrustedDocument>();
  const byText = new Map<string, TrustedDocument>();
  const entries = await readManifests(path);
  for (const [id, text] of entries) {
    const trusted = byText.get(text) ?? prepare(id, text, options);
    if (!trusted) continue;
    byId.set(id, trusted);
    byText.set(text, trusted);
    // Preparing thousands of documents takes seconds; yielding lets requests run in between.
    await setImmediate();
  }
  log.info({ documents: byId.size, leftOut: entries.size - byId.size }, 'trusted documents');
  const names = [...byText.values()].flatMap(({ prepared }) => [...prepared.operations.keys()]);
  onLoaded?.(new Set(names.filter((name) => name !== null)));
  return { byId, byText };
}

function prepare(
  id: string,
  text: string,
  { documents, log }: TrustedDocumentsOptions,
): TrustedDocument | null {
  const prepared = documents.prepare(text);
  if (prepared.kind === 'invalid') {
    const errors = prepared.errors.map(({ message }) => message);
    log.warn({ id, errors }, 'a trusted document does not fit and is left out');
    return null;
  }
  for (const { executor } of prepared.operations.values()) executor.compile();
  return { text, prepared };
}
