import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'undici';
import type { ProbedProcess } from './probed-process.ts';

const PLAIN_JSON = 'application/json';

export type Encoding = 'identity' | 'gzip' | 'br';

/** The request of a screen: the document for a GraphQL endpoint, the path for a hand-written one. */
export interface Question {
  readonly path: string;
  readonly document: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface ContestantOptions {
  readonly name: string;
  readonly port: number;
  readonly process: ProbedProcess;
  readonly speaks: 'graphql' | 'paths';
  /** The path of its GraphQL endpoint. */
  readonly endpoint?: string;
  /** Routes by the path alone, whatever the request's body. */
  readonly replaysRecording?: boolean;
  /** One per connection, as clients have their own. */
  readonly tokens: readonly string[];
}

export interface ContestantAnswer {
  /** As they came, compressed or not. */
  readonly bytes: Buffer;
  readonly encoding: string;
  readonly data: unknown;
}

/** A server that is measured, and its way of taking requests. */
export class Contestant {
  readonly name: string;
  readonly port: number;
  readonly process: ProbedProcess;
  readonly replaysRecording: boolean;
  readonly #options: ContestantOptions;
  readonly #prepared = new WeakMap<Question, Map<string, Buffer>>();

  constructor(options: ContestantOptions) {
    this.name = options.name;
    this.port = options.port;
    this.process = options.process;
    this.replaysRecording = options.replaysRecording ?? false;
    this.#options = options;
  }

  /** The whole request as bytes; memoized for a question that repeats. */
  request(
    question: Question,
    encoding: Encoding,
    connection: number,
    accept: string = PLAIN_JSON,
  ): Buffer {
    let prepared = this.#prepared.get(question);
    if (!prepared) {
      prepared = new Map();
      this.#prepared.set(question, prepared);
    }
    const name = `${connection} ${encoding} ${accept}`;
    let bytes = prepared.get(name);
    if (!bytes) {
      bytes = this.#write(question, encoding, connection, accept);
      prepared.set(name, bytes);
    }
    return bytes;
  }

  async ask(
    question: Question,
    encoding: Encoding = 'identity',
    accept: string = PLAIN_JSON,
  ): Promise<ContestantAnswer> {
    const { statusCode, headers, body } = await request(
      `http://127.0.0.1:${this.port}${this.#path(question)}`,
      { method: 'POST', headers: this.#headers(encoding, 0, accept), body: this.#body(question) },
    );
    const bytes = Buffer.from(await body.arrayBuffer());
    const came = String(headers['content-encoding'] ?? 'identity');
    const text = String(unpack(bytes, came));
    if (statusCode !== 200) throw new Error(`${this.name}: status ${statusCode} ${text}`);
    const { data, errors } = JSON.parse(text);
    if (errors) throw new Error(`${this.name}: ${JSON.stringify(errors).slice(0, 500)}`);
    return { bytes, encoding: came, data };
  }

  #write(question: Question, encoding: Encoding, connection: number, accept: string): Buffer {
    const body = this.#body(question);
    const headers = {
      host: `127.0.0.1:${this.port}`,
      ...this.#headers(encoding, connection, accept),
      'content-length': String(Buffer.byteLength(body)),
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    return Buffer.from(`POST ${this.#path(question)} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
  }

  #headers(encoding: Encoding, connection: number, accept: string): Record<string, string> {
    const { tokens } = this.#options;
    return {
      'content-type': 'application/json',
      accept,
      'user-agent': 'bench',
      ...(encoding !== 'identity' && { 'accept-encoding': encoding }),
      authorization: `Bearer ${tokens[connection % tokens.length]}`,
    };
  }

  #path({ path }: Question): string {
    const { speaks, endpoint = '/graphql' } = this.#options;
    return speaks === 'graphql' ? endpoint : path;
  }

  #body({ document, variables }: Question): string {
    const { speaks } = this.#options;
    return JSON.stringify(speaks === 'graphql' ? { query: document, variables } : variables);
  }
}

function unpack(bytes: Buffer, encoding: string): Buffer {
  if (encoding === 'gzip') return gunzipSync(bytes);
  return encoding === 'br' ? brotliDecompressSync(bytes) : bytes;
}
