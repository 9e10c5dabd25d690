import { hash } from 'node:crypto';
import type { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import { growingLru } from '../../lib/growing-lru.ts';
import type { Log } from '../../lib/log.ts';
import { requestError } from '../../schema/public-error.ts';
import type { DocumentResult, Documents, PreparedDocument } from '../documents/documents.ts';
import type { GraphQLRequest } from '../request.ts';
import type { TrustedDocument, TrustedDocuments } from './trusted-documents.ts';

/** The policy for a document that is in no manifest. */
export type Untrusted = 'off' | 'log' | 'on';

export interface DocumentSourceOptions {
  readonly documents: Documents;
  readonly trusted: TrustedDocuments | null;
  /**
   * `on` refuses it; `log` executes and logs it; `off` executes it, and allows automatic persisted
   * queries.
   */
  readonly trustedOnly: Untrusted;
  readonly log: Pick<Log, 'warn'>;
}

const AUTOMATIC_BYTES = 16 * 1024 * 1024;
// The measured overhead of an entry, so that a flood of tiny texts counts at its true size.
const BYTES_PER_TEXT = 150;
const MAX_LOGGED = 10_000;

/** Resolves what a client sent, an id, a text or both, to the document that is executed. */
export class DocumentSource {
  readonly #options: DocumentSourceOptions;
  /** Automatic persisted queries: texts that clients registered under their hashes. */
  readonly #automatic = new LRUCache<string, string>({
    maxSize: AUTOMATIC_BYTES,
    sizeCalculation: (text, id) => BYTES_PER_TEXT + 2 * text.length + id.length,
  });
  readonly #logged = growingLru<string, true>({ maxEntries: MAX_LOGGED, entryBytes: 160 });

  constructor(options: DocumentSourceOptions) {
    this.#options = options;
  }

  /** The estimated size of the texts that clients have registered. */
  get byteSize(): number {
    return this.#automatic.calculatedSize;
  }

  /** True where `find` has nothing to parse or validate, which takes longer than all the rest. */
  isPrepared({ id, text }: GraphQLRequest): boolean {
    const { trusted, documents } = this.#options;
    if (id !== null && trusted?.byId(id)) return true;
    const sent = text ?? this.#automatic.peek(id ?? '');
    return sent === undefined || documents.isPrepared(sent) || trusted?.byText(sent) !== undefined;
  }

  find(request: GraphQLRequest): DocumentResult {
    const { id, text } = request;
    const { trusted, documents } = this.#options;
    const known = id === null ? undefined : trusted?.byId(id);
    if (text === null) return known?.prepared ?? this.#registered(id ?? '');
    if (id !== null && !isNamed(text, id, known)) return refused(mismatch());
    const published = known ?? trusted?.byText(text);
    if (published) return published.prepared;
    if (this.#options.trustedOnly === 'on') return refused(required());
    const result = documents.prepare(text);
    if ('errors' in result) return result;
    if (this.#options.trustedOnly === 'log') this.#logOnce(request, text);
    else if (id !== null) this.#automatic.set(id, text);
    return result;
  }

  /** Whether a manifest has it, so that its operations' names are the operators' own. */
  isTrusted(prepared: PreparedDocument): boolean {
    return this.#options.trusted?.has(prepared) === true;
  }

  #registered(id: string): DocumentResult {
    const text = this.#automatic.get(id);
    return text === undefined ? refused(notFound()) : this.#options.documents.prepare(text);
  }

  /** Logs each document once, without its text, which may contain a password. */
  #logOnce({ operationName }: GraphQLRequest, text: string): void {
    const document = hashOf(text);
    if (this.#logged.has(document)) return;
    this.#logged.set(document, true);
    const name = operationName?.slice(0, 100) ?? null;
    this.#options.log.warn({ document, operationName: name }, 'a document that is not trusted');
  }
}

function isNamed(text: string, id: string, known: TrustedDocument | undefined): boolean {
  return known?.text === text || hashOf(text) === id;
}

function hashOf(text: string): string {
  return hash('sha256', text, 'hex');
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

/** Clients with automatic persisted queries match this message, and then send the text. */
function notFound(): GraphQLError {
  return requestError('PERSISTED_DOCUMENT_NOT_FOUND', 'PersistedQueryNotFound');
}
