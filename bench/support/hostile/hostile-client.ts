import { Pool } from 'undici';
import { headersOf } from '../post.ts';

export interface HostileDocument {
  readonly text: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface HostileReply {
  /** The HTTP status; 0 where the connection ended without one. */
  readonly status: number;
  /** The codes of its errors, each once. */
  readonly codes: readonly string[];
}

export interface Account {
  readonly port: number;
  readonly token: string;
}

export const NO_REPLY: HostileReply = { status: 0, codes: [] };

const KEPT_CHARACTERS = 4_096;

/** Sends requests over HTTP as one account, on as many connections as it likes. */
export function openHostileClient({ port, token }: Account) {
  const pool = new Pool(`http://127.0.0.1:${port}`);
  return {
    /** Never rejects: a connection that the server closes is an answer too. */
    async post(document: HostileDocument, signal: AbortSignal): Promise<HostileReply> {
      try {
        const { statusCode, body } = await pool.request({
          path: '/graphql',
          method: 'POST',
          headers: headersOf(token),
          body: bodyOf(document),
          signal,
        });
        const ends = new AnswerEnds();
        for await (const chunk of body) ends.take(chunk as Buffer);
        return { status: statusCode, codes: ends.codes };
      } catch {
        return NO_REPLY;
      }
    },
    [Symbol.dispose]: () => void pool.destroy(),
  };
}

/** Keeps the two ends of an answer, where errors are: the rest may have tens of megabytes. */
export class AnswerEnds {
  #head = '';
  #tail = '';

  take(chunk: Buffer): void {
    if (this.#head.length < KEPT_CHARACTERS) {
      this.#head += chunk.toString('latin1', 0, KEPT_CHARACTERS - this.#head.length);
    }
    this.#tail += chunk.toString('latin1', Math.max(0, chunk.length - KEPT_CHARACTERS));
    this.#tail = this.#tail.slice(-KEPT_CHARACTERS);
  }

  get codes(): readonly string[] {
    const codes = (this.#head + this.#tail).matchAll(/"code":"([A-Z_]+)"/g);
    return [...new Set([...codes].map(([, code = '']) => code))];
  }
}

export function bodyOf({ text, variables }: HostileDocument): string {
  return JSON.stringify({ query: text, variables });
}
