import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { growingLru } from '../../lib/growing-lru.ts';
import type { Log } from '../../lib/log.ts';
import { type Refusal, refused } from '../operation/refusal.ts';
import { requestError } from '../operation/request-error.ts';
import type { RequestSummary } from '../operation/request-summary.ts';
import type { Params, RequestedDocument } from './params.ts';
import type { TrustedDocuments } from './trusted-documents.ts';

export interface PersistedDocumentsOptions {
  readonly trusted: TrustedDocuments | null;
  /** `on` refuses what is not trusted; `log` executes and logs it; `off` also allows automatic persisted queries. */
  readonly trustedOnly: 'off' | 'log' | 'on';
  readonly log: Pick<Log, 'warn'>;
}

const MAX_LOGGED = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;
// The measured overhead of an entry, so that a flood of tiny texts counts at its true size.
const BYTES_PER_TEXT = 150;

export type PersistedDocuments = ReturnType<typeof createPersistedDocuments>;

/** Finds the document that is executed by what a client sent: an id, a text or both. */
export function createPersistedDocuments(options: PersistedDocumentsOptions) {
  const { trusted, trustedOnly, log } = options;
  /** Automatic persisted queries: texts that clients have registered under their hashes. */
  const registered = new LRUCache<string, string>({
    maxSize: MAX_BYTES,
    sizeCalculation: (text, id) => BYTES_PER_TEXT + 2 * text.length + id.length,
  });
  const logged = growingLru<string, true>({ maxEntries: MAX_LOGGED, entryBytes: 160 });

  /** Logs each document once, without its text, which may contain a password. */
  function logOnce(text: string, operationName: string | null): void {
    const document = hashOf(text);
    if (logged.has(document)) return;
    logged.set(document, true);
    const name = operationName?.slice(0, 100) ?? null;
    log.warn({ document, operationName: name }, 'a document that is not trusted');
  }

  return {
    get byteSize(): number {
      return registered.calculatedSize;
    },
    find(params: Params, record: RequestSummary): RequestedDocument | Refusal {
      const { query, documentId } = params;
      const named = documentId === null ? undefined : trusted?.byId(documentId);
      const text = query ?? named?.text ?? registered.get(documentId ?? '');
      // Clients with automatic persisted queries match this message, and then send the text.
      if (text === undefined)
        return refusing('PERSISTED_DOCUMENT_NOT_FOUND', 'PersistedQueryNotFound');
      const isNamed = query === null || documentId === null || named?.text === query;
      if (!isNamed && hashOf(query) !== documentId) {
        return refusing('BAD_USER_INPUT', 'The hash is not that of the document beside it.');
      }
      const known = named ?? trusted?.byText(text);
      if (known) record.isTrusted = true;
      else if (trustedOnly === 'on') {
        return refusing('PERSISTED_DOCUMENT_REQUIRED', 'Only trusted documents are answered here.');
      }
      return { ...params, query: text, trusted: known?.prepared ?? null };
    },
    /** Registers the text under its hash, or logs it; call it for a document that is valid. */
    register({ query, documentId, operationName, trusted }: RequestedDocument): void {
      if (trusted !== null) return;
      if (trustedOnly === 'log') logOnce(query, operationName);
      else if (documentId !== null && !registered.has(documentId))
        registered.set(documentId, query);
    },
  };
}

function hashOf(text: string): string {
  return hash('sha256', text, 'hex');
}

function refusing(...about: Parameters<typeof requestError>): Refusal {
  return refused([requestError(...about)]);
}
