import { hash } from 'node:crypto';
import type { Log } from '../../lib/log.ts';
import { type Refusal, refused } from '../operation/refusal.ts';
import { requestError } from '../operation/request-error.ts';
import type { RequestSummary } from '../operation/request-summary.ts';
import type { PreparedDocument } from './documents.ts';
import type { Params } from './params.ts';
import type { TrustedDocuments } from './trusted-documents.ts';

export interface PersistedDocumentsOptions {
  readonly trusted: TrustedDocuments | null;
  /** `on` refuses untrusted documents; `log` executes and logs them. */
  readonly trustedOnly: 'off' | 'log' | 'on';
  readonly log: Pick<Log, 'warn'>;
}

/** The parameters with the text of the document, even if the client has sent only its id. */
export interface RequestedDocument extends Omit<Params, 'documentId'> {
  readonly query: string;
  /** Null if no manifest contains it. */
  readonly trusted: PreparedDocument | null;
}

const MAX_NAME_LENGTH = 100;

/** Finds the document that a client requests by an id, a text or both. */
export class PersistedDocuments {
  readonly #options: PersistedDocumentsOptions;
  readonly #logged = new WeakSet<PreparedDocument>();

  constructor(options: PersistedDocumentsOptions) {
    this.#options = options;
  }

  find(params: Params, record: RequestSummary): RequestedDocument | Refusal {
    const { query, documentId, operationName, variables } = params;
    const { trusted, trustedOnly } = this.#options;
    const named = documentId === null ? undefined : trusted?.byId(documentId);
    const text = query ?? named?.text;
    if (text === undefined) {
      // Apollo Client and urql match these messages: the first makes them send the text, the second stop sending hashes.
      const message = trusted ? 'PersistedQueryNotFound' : 'PersistedQueryNotSupported';
      return refusing('PERSISTED_DOCUMENT_NOT_FOUND', message);
    }
    const isNamed = query === null || documentId === null || named?.text === query;
    if (!isNamed && hashOf(query) !== documentId) {
      return refusing('BAD_USER_INPUT', 'The hash is not that of the document.');
    }
    const known = named ?? trusted?.byText(text);
    if (known) record.isTrusted = true;
    else if (trustedOnly === 'on') {
      return refusing('PERSISTED_DOCUMENT_REQUIRED', 'Only trusted documents are answered here.');
    }
    const prepared = known?.prepared ?? null;
    return { kind: 'params', query: text, operationName, variables, trusted: prepared };
  }

  /** With `log`, logs each untrusted document once, without its text, which may contain a password. */
  note({ query, operationName, trusted }: RequestedDocument, prepared: PreparedDocument): void {
    if (trusted !== null || this.#options.trustedOnly !== 'log') return;
    if (this.#logged.has(prepared)) return;
    this.#logged.add(prepared);
    const name = operationName?.slice(0, MAX_NAME_LENGTH) ?? null;
    const line = { document: hashOf(query), operationName: name };
    this.#options.log.warn(line, 'a document that is not trusted');
  }
}

function hashOf(text: string): string {
  return hash('sha256', text, 'hex');
}

function refusing(...about: Parameters<typeof requestError>): Refusal {
  return refused([requestError(...about)]);
}
