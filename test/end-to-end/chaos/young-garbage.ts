import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, createServer, type RequestListener, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start.ts';

export interface Aged {
  /** Bytes per request that were promoted to the old generation. */
  readonly bytes: number;
  readonly answers: ReadonlySet<string>;
}

export interface YoungGarbage extends AsyncDisposable {
  /** Sends the same query repeatedly, one at a time, with a minor collection now and then. */
  ask(document: string, times: number): Promise<Aged>;
}

const EMAIL = 'pro@example.com';
const EACH = 50;
const program = fileURLToPath(new URL('young-garbage-main.ts', import.meta.url));

/** Starts the program with a gateway whose market moves with every list of positions. */
export async function openYoungGarbage(): Promise<YoungGarbage> {
  await using resources = new AsyncDisposableStack();
  const sandbox = await startSandbox({ seed: 'young', instruments: 100, tickMs: 0 });
  resources.use(sandbox);
  const token = sandbox.token({ email: EMAIL });
  const gateway = createServer(movingMarket(sandbox, token)).listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  resources.defer(() => void gateway.close());
  resources.defer(() => gateway.closeAllConnections());
  const child = fork(program, {
    execArgv: ['--expose-gc', '--no-allocation-site-pretenuring'],
    env: {
      PORT: '0',
      ADMIN_PORT: '0',
      NODE_ENV: 'production',
      ORDER_STORE: 'memory',
      RATE_LIMIT_PER_MINUTE: '1000000',
      GATEWAY_URL: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
    },
  });
  resources.defer(() => void child.kill('SIGKILL'));
  // A child that exits during its start ends the wait, too.
  const exited = new AbortController();
  child.once('exit', () => exited.abort());
  const [url] = (await once(child, 'message', { signal: exited.signal })) as [string];
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  resources.defer(() => agent.destroy());

  async function collect(): Promise<number> {
    const collected = once(child, 'message', { signal: exited.signal });
    child.send('collect');
    const [bytes] = (await collected) as [number];
    return bytes;
  }

  const kept = resources.move();
  return {
    async ask(document, times) {
      const body = JSON.stringify({ query: document });
      const answers = new Set<string>();
      let before = await collect();
      let aged = 0;
      for (let asked = 0; asked < times; asked += EACH) {
        for (let index = 0; index < EACH; index += 1) {
          answers.add(await post(agent, `${url}/graphql`, token, body));
        }
        const after = await collect();
        // A major collection in between must not hide what was promoted before it.
        aged += Math.max(0, after - before);
        before = after;
      }
      return { bytes: aged / times, answers };
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function post(agent: Agent, url: string, token: string, body: string): Promise<string> {
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    authorization: `Bearer ${token}`,
  };
  const asking = request(url, { method: 'POST', agent, headers });
  asking.end(body);
  const [answer] = await once(asking, 'response');
  return text(answer);
}

/** Replays answers of the sandbox gateway, each list of positions with other prices. */
function movingMarket(sandbox: Sandbox, token: string): RequestListener {
  const said = new Map<string, Promise<string>>();
  let lists = 0;
  function answerTo(path: string): Promise<string> {
    const known = said.get(path) ?? sayOnce(sandbox, token, path);
    said.set(path, known);
    return known;
  }
  return async ({ url = '' }, response) => {
    const answer = await answerTo(url);
    lists += 1;
    const moved = answer.replaceAll(/"(priceCurrent|profit|timeUpdate)":[^,}]+/g, `"$1":${lists}`);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(url.endsWith('/positions') ? moved : answer);
  };
}

async function sayOnce(sandbox: Sandbox, token: string, path: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${sandbox.url}${path}`, { headers });
  return answer.text();
}
