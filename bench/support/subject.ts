import { request } from 'undici';
import { headersOf, postBytes } from './post.ts';
import type { ProbedProcess } from './probed-process.ts';

/** The request of a screen: the document for a GraphQL endpoint, the path for a hand-written one. */
export interface Question {
  readonly path: string;
  readonly document: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface SubjectOptions {
  readonly name: string;
  readonly process: ProbedProcess;
  /** The path of its GraphQL endpoint; null if it has a path for each screen. */
  readonly endpoint: string | null;
  /** Whether the server replays recorded answers. It chooses them by the path alone, and ignores the request's body. */
  readonly replaysRecording?: boolean;
  /** One token for each client. */
  readonly tokens: readonly string[];
}

export type Subject = ReturnType<typeof createSubject>;

/** A measured server, and how it takes requests. */
export function createSubject({
  name,
  process,
  endpoint,
  replaysRecording = false,
  tokens,
}: SubjectOptions) {
  const prepared = new WeakMap<Question, Map<number, Buffer>>();
  const bodyOf = ({ document, variables }: Question) =>
    JSON.stringify(endpoint === null ? variables : { query: document, variables });
  const headersFor = (client: number) => ({
    ...headersOf(tokens[client] ?? ''),
    accept: 'application/json',
    'user-agent': 'bench',
  });

  return {
    name,
    process,
    replaysRecording,

    /** Returns a whole request as bytes, memoized for each question and client. The clients take turns by `count`. */
    requestBytes(question: Question, count: number): Buffer {
      const byClient = prepared.get(question) ?? new Map<number, Buffer>();
      prepared.set(question, byClient);
      const client = count % tokens.length;
      const path = endpoint ?? question.path;
      const bytes = byClient.get(client) ?? postBytes(path, headersFor(client), bodyOf(question));
      byClient.set(client, bytes);
      return bytes;
    },

    /** Returns the text of an answer and its data. Throws if the answer has errors. */
    async ask(question: Question) {
      const { statusCode, body } = await request(
        `http://127.0.0.1:${process.port}${endpoint ?? question.path}`,
        { method: 'POST', headers: headersFor(0), body: bodyOf(question) },
      );
      const text = await body.text();
      if (statusCode !== 200) throw new Error(`${name}: status ${statusCode} ${text}`);
      const { data, errors } = JSON.parse(text) as { data: unknown; errors?: unknown };
      if (errors) throw new Error(`${name}: ${JSON.stringify(errors).slice(0, 500)}`);
      return { text, data };
    },
  };
}
