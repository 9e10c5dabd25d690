import type { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Log } from '../../lib/log.ts';
import { requestError } from '../../schema/public-error.ts';
import type { GraphQLRequest } from '../request.ts';
import { hashOf } from './document-id.ts';
import type { DocumentResult, Documents } from './documents.ts';
import type { TrustedDocument, TrustedDocuments } from './trusted-documents.ts';

/** What becomes of a document that no manifest has. */
export type Untrusted = 'off' | 'log' | 'on';

export interface DocumentSourceOptions {
  readonly documents: Documents;
  readonly trusted: TrustedDocuments | null;
  /** `on`: it is refused; `log`: it is noted; `off`: it is welcome, and may be kept under its hash. */
  readonly trustedOnly: Untrusted;
  readonly log: Pick<Log, 'warn'>;
}

const AUTOMATIC_BYTES = 16 * 1024 * 1024;
const NOTED = 10_000;

/** From what a client sent, an id or a text or both, to the document that is run. */
export class DocumentSource {
  readonly #options: DocumentSourceOptions;
  /** Texts that clients have left here under their hashes. */
  readonly #automatic = new LRUCache<string, string>({
    maxSize: AUTOMATIC_BYTES,
    sizeCalculation: (text, id) => text.length + id.length,
  });
  readonly #noted = new LRUCache<string, true>({ max: NOTED });

  constructor(options: DocumentSourceOptions) {
    this.#options = options;
  }

  find(request: GraphQLRequest): DocumentResult {
    const { id, text } = request;
    const { trusted, documents } = this.#options;
    const known = id === null ? undefined : trusted?.byId(id);
    if (text === null) return known?.prepared ?? this.#leftEarlier(id ?? '');
    if (id !== null && !isNamed(text, id, known)) return refused(mismatch());
    const published = known ?? trusted?.byText(text);
    if (published) return published.prepared;
    if (this.#options.trustedOnly === 'on') return refused(required());
    const result = documents.prepare(text);
    if ('errors' in result) return result;
    if (this.#options.trustedOnly === 'log') this.#note(request, text);
    else if (id !== null) this.#automatic.set(id, text);
    return result;
  }

  #leftEarlier(id: string): DocumentResult {
    const text = this.#automatic.get(id);
    return text === undefined ? refused(notFound()) : this.#options.documents.prepare(text);
  }

  /** Once per document; not its text, in which somebody may have written a password. */
  #note({ operationName }: GraphQLRequest, text: string): void {
    const document = hashOf(text);
    if (this.#noted.has(document)) return;
    this.#noted.set(document, true);
    const name = operationName?.slice(0, 100) ?? null;
    this.#options.log.warn({ document, operationName: name }, 'a document that is not trusted');
  }
}

function isNamed(text: string, id: string, known: TrustedDocument | undefined): boolean {
  return known?.text === text || hashOf(text) === id;
}

function refused(error: GraphQLError): DocumentResult {
  return { errors: [error] };
}

function mismatch(): GraphQLError {
  return requestError('BAD_USER_INPUT', 'The hash is not that of the document beside it.');
}

function required(): GraphQLError {
  return requestError('PERSISTED_DOCUMENT_REQUIRED', 'Only trusted documents are answered here.');
}

/** In these words: clients that send hashes first look for them, and send the text then. */
function notFound(): GraphQLError {
  return requestError('PERSISTED_DOCUMENT_NOT_FOUND', 'PersistedQueryNotFound');
}
