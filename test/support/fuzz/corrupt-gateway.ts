import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createRandom, pick, type Random } from '../../../src/sandbox/random.ts';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { type RawAnswer, rawRequest } from '../raw-request.ts';
import { answer, type ScriptedRequest, startScriptedGateway } from '../scripted-gateway.ts';
import { corruptBytes, corruptJson, corruptTokens } from './corrupt.ts';

/** The login of the user of the first case. Each case has a user of its own, whose requests get corrupt answers. */
const FIRST_LOGIN = 800_001;
const STATUSES = [
  ...[100, 101, 102, 200, 201, 202, 204, 206, 226, 299, 300, 301, 304, 307, 400, 401, 403, 404],
  ...[
    405, 408, 409, 410, 413, 418, 422, 429, 431, 451, 499, 500, 501, 502, 503, 504, 599, 600, 999,
  ],
];
const HEADERS: readonly (readonly [string, readonly string[]])[] = [
  ['age', ['-1', '1e9', '7200', 'x', '0, 5']],
  ['cache-control', ['no-store', 'max-age=0', 'max-age=-1, s-maxage=x', 'private="a']],
  ['content-encoding', ['gzip', 'br', 'x', 'gzip, gzip', 'identity']],
  ['content-length', ['0', '1', '-1', '99999', 'x', '1, 2']],
  ['content-type', ['text/html', 'application/json; charset=utf-16', '', 'x'.repeat(20_000)]],
  ['date', ['x', 'Thu, 01 Jan 1970 00:00:00 GMT', 'Fri, 31 Dec 9999 23:59:59 GMT']],
  ['etag', ['"', 'W/"x"', '*', '"\u0000"']],
  ['location', ['/', 'http://127.0.0.1:1/']],
  ['retry-after', ['-1', '1e99', 'x', '0.5', 'Fri, 31 Dec 9999 23:59:59 GMT']],
  ['transfer-encoding', ['chunked', 'gzip', 'identity', 'chunked, chunked']],
  ['connection', ['close', 'upgrade', 'x']],
  ['x\u0000', ['a']],
  ['', ['a']],
];

/** The email of the user of this case. */
export const emailOf = (index: number) => `user-${index + 1}@example.com`;

/** The sandbox gateway, with corrupt answers to the users of the cases. The seed determines the answers. */
export async function startCorruptGateway(seed: number) {
  await using stack = new AsyncDisposableStack();
  const options = { seed: 'fuzz', instruments: 40, tickMs: 50, slowMs: 500 };
  const sandbox = stack.use(await startSandbox(options));
  const calls = new Map<string, number>();
  let corrupted = 0;

  async function relay(socket: Socket, request: ScriptedRequest): Promise<void> {
    const index = caseOf(request);
    const { authorization, 'content-type': type = 'application/json' } = request.headers;
    const given = await rawRequest(sandbox.url + request.path, {
      method: request.method,
      headers: { 'content-type': type, ...(authorization !== undefined && { authorization }) },
      body: request.body,
    });
    if (index === null) return void socket.write(answer(given.status, given.bytes));
    // The random errors depend on the case, the operation, and how often the case has called the operation.
    const name = `${seed}/${index}/${request.method} ${request.path}`;
    const count = (calls.get(name) ?? 0) + 1;
    calls.set(name, count);
    corrupted += 1;
    writeCorrupt(createRandom(`${name}/${count}`), socket, given);
  }

  const gateway = stack.use(
    await startScriptedGateway((socket, request) => {
      // A case may end before its answer arrives.
      relay(socket, request).catch(() => socket.destroy());
    }),
  );
  // The caller disposes of both servers now.
  const moved = stack.move();
  return {
    url: gateway.url,
    /** The number of corrupt answers. */
    get corrupted() {
      return corrupted;
    },
    token: (email: string) => sandbox.token({ email }),
    /** An account and a group of this case alone, so that no cache answers. */
    tokenOf: (index: number) => sandbox.token({ email: emailOf(index), group: `group-${index}` }),
    /** Makes the answers to a repeated case the same again. */
    beginAnew: () => calls.clear(),
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}

/** The case whose user sends this request, found by the login in its token or the email in its body. */
function caseOf({ headers, body }: ScriptedRequest): number | null {
  const [, payload = ''] = (headers.authorization ?? '').split('.');
  const claims = String(Buffer.from(payload, 'base64url'));
  const [, login] = /"login":"?(8\d{5})\b/.exec(claims) ?? [];
  if (login !== undefined) return Number(login) - FIRST_LOGIN;
  const [, user] = /user-(\d+)@/.exec(body) ?? [];
  return user === undefined ? null : Number(user) - 1;
}

/** Sends an answer with random errors. Most answers are nearly correct. */
function writeCorrupt(
  random: Random,
  socket: Socket,
  { status, text }: Pick<RawAnswer, 'status' | 'text'>,
): void {
  const kind = random();
  if (kind < 0.02) return void socket.resetAndDestroy();
  // This request gets no answer.
  if (kind < 0.04) return;
  const body = kind < 0.7 ? corruptBody(random, text) : Buffer.from(text);
  const isPacked = random() < 0.1;
  const sent = isPacked ? gzipSync(body) : body;
  const headers: Record<string, string> = isPacked ? { 'content-encoding': 'gzip' } : {};
  while (random() < 0.25) {
    const [name, values] = pick(random, HEADERS);
    headers[name] = pick(random, values);
  }
  const sentStatus = random() < 0.15 ? pick(random, STATUSES) : status;
  const whole = answer(sentStatus, sent, headers);
  socket.write(random() < 0.1 ? corruptBytes(random, whole) : whole);
  if (random() < 0.05) socket.end();
}

function corruptBody(random: Random, text: string): Buffer {
  if (text === '' || random() < 0.15) return corruptBytes(random, Buffer.from(text));
  if (random() < 0.2) return Buffer.from(corruptTokens(random, text));
  return Buffer.from(JSON.stringify(corruptJson(random, JSON.parse(text))) ?? '');
}
