import { Agent, type IncomingMessage, request } from 'node:http';
import { AnswerScan } from './answer-scan.ts';
import type { HostileDocument } from './hostile-document.ts';

export interface HostileReply {
  /** The HTTP status; 0 where the connection ended without one. */
  readonly status: number;
  readonly codes: readonly string[];
  readonly bytes: number;
  readonly fields: number;
}

export const NO_REPLY: HostileReply = { status: 0, codes: [], bytes: 0, fields: 0 };

const REFUSALS: ReadonlySet<string> = new Set([
  'QUERY_TOO_COMPLEX',
  'GRAPHQL_VALIDATION_FAILED',
  'GRAPHQL_PARSE_FAILED',
  'RATE_LIMITED',
  'PAYLOAD_TOO_LARGE',
  'UNAUTHENTICATED',
]);

/** Returns true where the whole document was refused, and not a field of it that failed. */
export function isRefused({ codes }: HostileReply): boolean {
  return codes.some((code) => REFUSALS.has(code));
}

export interface Account {
  readonly port: number;
  readonly token: string;
}

/** Sends requests over HTTP as one account, on as many connections as it likes. */
export class HostileClient implements Disposable {
  readonly #account: Account;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(account: Account) {
    this.#account = account;
  }

  /** Never rejects: a connection that the server closes is an answer too. */
  post(document: HostileDocument, signal: AbortSignal): Promise<HostileReply> {
    return new Promise((resolve) => {
      const { port, token } = this.#account;
      const outgoing = request({
        ...{ host: '127.0.0.1', port, path: '/graphql', method: 'POST' },
        ...{ agent: this.#agent, signal, headers: headersOf(token) },
      });
      outgoing.on('error', () => resolve(NO_REPLY));
      outgoing.on('response', (response) => resolve(readReply(response)));
      outgoing.end(bodyOf(document));
    });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

export function bodyOf({ text, variables }: HostileDocument): string {
  return JSON.stringify({ query: text, variables });
}

export function headersOf(token: string): Record<string, string> {
  return { 'content-type': 'application/json', authorization: `Bearer ${token}` };
}

async function readReply(response: IncomingMessage): Promise<HostileReply> {
  const scan = new AnswerScan();
  try {
    for await (const chunk of response) scan.take(chunk);
  } catch {
    return NO_REPLY;
  }
  const { codes, bytes, fields } = scan;
  return { status: response.statusCode ?? 0, codes, bytes, fields };
}
