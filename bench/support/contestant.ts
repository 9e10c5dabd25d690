import { request } from 'undici';
import type { ProbedProcess } from './probed-process.ts';

const PLAIN_JSON = 'application/json';

/** The request of a screen: the document for a GraphQL endpoint, the path for a hand-written one. */
export interface Question {
  readonly path: string;
  readonly document: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface ContestantOptions {
  readonly name: string;
  readonly process: ProbedProcess;
  /** The path of its GraphQL endpoint; null where it has a path for each screen. */
  readonly endpoint: string | null;
  /** Routes by the path alone, whatever the request's body. */
  readonly replaysRecording?: boolean;
  /** One per connection, as clients have their own. */
  readonly tokens: readonly string[];
}

/** A server that is measured, and its way of taking requests. */
export class Contestant {
  readonly name: string;
  readonly port: number;
  readonly process: ProbedProcess;
  readonly replaysRecording: boolean;
  readonly #endpoint: string | null;
  readonly #tokens: readonly string[];
  readonly #prepared = new WeakMap<Question, Map<string, Buffer>>();

  constructor({ name, process, endpoint, replaysRecording, tokens }: ContestantOptions) {
    this.name = name;
    this.port = process.port;
    this.process = process;
    this.replaysRecording = replaysRecording ?? false;
    this.#endpoint = endpoint;
    this.#tokens = tokens;
  }

  /** The whole request as bytes; memoized for a question that repeats. */
  request(question: Question, connection: number, accept: string = PLAIN_JSON): Buffer {
    const prepared = this.#prepared.get(question) ?? new Map<string, Buffer>();
    this.#prepared.set(question, prepared);
    const name = `${connection} ${accept}`;
    const bytes = prepared.get(name) ?? this.#write(question, connection, accept);
    prepared.set(name, bytes);
    return bytes;
  }

  /** The text of an answer without errors, and its data. */
  async ask(question: Question) {
    const { statusCode, body } = await request(
      `http://127.0.0.1:${this.port}${this.#endpoint ?? question.path}`,
      { method: 'POST', headers: this.#headers(0, PLAIN_JSON), body: this.#body(question) },
    );
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`${this.name}: status ${statusCode} ${text}`);
    const { data, errors } = JSON.parse(text) as { data: unknown; errors?: unknown };
    if (errors) throw new Error(`${this.name}: ${JSON.stringify(errors).slice(0, 500)}`);
    return { text, data };
  }

  #write(question: Question, connection: number, accept: string): Buffer {
    const body = this.#body(question);
    const headers = {
      host: `127.0.0.1:${this.port}`,
      ...this.#headers(connection, accept),
      'content-length': String(Buffer.byteLength(body)),
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    return Buffer.from(
      `POST ${this.#endpoint ?? question.path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`,
    );
  }

  #headers(connection: number, accept: string): Record<string, string> {
    return {
      'content-type': 'application/json',
      accept,
      'user-agent': 'bench',
      authorization: `Bearer ${this.#tokens[connection % this.#tokens.length]}`,
    };
  }

  #body({ document, variables }: Question): string {
    return JSON.stringify(this.#endpoint === null ? variables : { query: document, variables });
  }
}
