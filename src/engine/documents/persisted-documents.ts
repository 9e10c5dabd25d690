import { hash } from 'node:crypto';
import { growingLru } from '../../lib/growing-lru.ts';
import type { Log } from '../../lib/log.ts';
import { type Refusal, refused } from '../operation/refusal.ts';
import { requestError } from '../operation/request-error.ts';
import type { RequestSummary } from '../operation/request-summary.ts';
import type { PreparedDocument } from './documents.ts';
import type { Params } from './params.ts';
import type { TrustedDocuments } from './trusted-documents.ts';

export interface PersistedDocumentsOptions {
  readonly trusted: TrustedDocuments | null;
  /** `on` refuses what is not trusted; `log` executes and logs it. */
  readonly trustedOnly: 'off' | 'log' | 'on';
  readonly log: Pick<Log, 'warn'>;
}

/** The parameters with the text of the document, also where the client has sent its id alone. */
export interface RequestedDocument extends Params {
  readonly query: string;
  /** Null where no manifest has it. */
  readonly trusted: PreparedDocument | null;
}

const MAX_LOGGED = 10_000;

/** Finds the document that a client means by an id, a text or both. */
export class PersistedDocuments {
  readonly #options: PersistedDocumentsOptions;
  readonly #logged = growingLru<string, true>({ maxEntries: MAX_LOGGED, entryBytes: 160 });

  constructor(options: PersistedDocumentsOptions) {
    this.#options = options;
  }

  find(params: Params, record: RequestSummary): RequestedDocument | Refusal {
    const { query, documentId, operationName, variables } = params;
    const { trusted, trustedOnly } = this.#options;
    const named = documentId === null ? undefined : trusted?.byId(documentId);
    const text = query ?? named?.text;
    if (text === undefined) {
      // Apollo Client and urql match these messages: the first has them send the text, the other stop sending hashes.
      const message = trusted ? 'PersistedQueryNotFound' : 'PersistedQueryNotSupported';
      return refusing('PERSISTED_DOCUMENT_NOT_FOUND', message);
    }
    const isNamed = query === null || documentId === null || named?.text === query;
    if (!isNamed && hashOf(query) !== documentId) {
      return refusing('BAD_USER_INPUT', 'The hash is not that of the document beside it.');
    }
    const known = named ?? trusted?.byText(text);
    if (known) record.isTrusted = true;
    else if (trustedOnly === 'on') {
      return refusing('PERSISTED_DOCUMENT_REQUIRED', 'Only trusted documents are answered here.');
    }
    const prepared = known?.prepared ?? null;
    return { kind: 'params', query: text, documentId, operationName, variables, trusted: prepared };
  }

  /** With `log`, logs each valid document that is not trusted once, without its text, which may contain a password. */
  note({ query, operationName, trusted }: RequestedDocument): void {
    if (trusted !== null || this.#options.trustedOnly !== 'log') return;
    const document = hashOf(query);
    if (this.#logged.has(document)) return;
    this.#logged.set(document, true);
    const name = operationName?.slice(0, 100) ?? null;
    this.#options.log.warn({ document, operationName: name }, 'a document that is not trusted');
  }
}

function hashOf(text: string): string {
  return hash('sha256', text, 'hex');
}

function refusing(...about: Parameters<typeof requestError>): Refusal {
  return refused([requestError(...about)]);
}
