/**
 * The baseline of the other subjects: it receives the same requests, makes the same calls to the gateway and sends the same
 * bytes, without work in between. The answers were recorded before.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Pool } from 'undici';
import { readBody } from './read-body.ts';

/** The recorded answers, by the path of their request. */
export type PreparedAnswers = Readonly<
  Record<string, { readonly calls: readonly string[]; readonly bodies: readonly string[] }>
>;

const { ANSWERS = '', GATEWAY_URL = '', PORT } = process.env;
const gateway = new Pool(GATEWAY_URL, { connections: 128 });
const answers = JSON.parse(readFileSync(ANSWERS, 'utf8')) as PreparedAnswers;
const prepared = new Map(
  Object.entries(answers).map(([path, { calls, bodies }]) => [
    path,
    { calls, bodies: bodies.map((body) => Buffer.from(body)) },
  ]),
);
let sent = 0;

createServer((request, response) => {
  readBody(request, () => {
    const answer = prepared.get(request.url ?? '');
    if (!answer) return response.writeHead(404).end();
    const headers = { authorization: request.headers.authorization };
    void Promise.all(answer.calls.map((path) => drain(path, headers))).then(() => {
      const body = answer.bodies[sent % answer.bodies.length] as Buffer;
      sent += 1;
      response.writeHead(200, {
        'content-type': 'application/json; charset=utf-8',
        'content-length': body.length,
      });
      response.end(body);
    });
  });
}).listen(Number(PORT), '127.0.0.1');

/** Reads the body without a stream, as the service does. */
function drain(path: string, headers: { authorization: string | undefined }): Promise<void> {
  return new Promise((resolve, reject) => {
    gateway.dispatch(
      { path, method: 'GET', headers },
      {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData() {},
        onResponseEnd: () => resolve(),
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });
}
