/**
 * The time from a cold start to the first list, the bytes that a moving market of ten minutes brings to a phone, and how long
 * its radio is on. `npm run bench -- cellular` prints Markdown; `-- --seconds` moves it for less.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { WebSocket } from 'ws';
import { createClient } from '../client/src/create-client.ts';
import type { Environment } from '../client/src/environment.ts';
import { type Sandbox, startSandbox } from '../sandbox/start.ts';
import { startFacadeProcess } from '../test/support/facade-process.ts';
import { table } from './support/markdown.ts';
import { startRadio } from './support/radio.ts';
import { startSlowLine } from './support/slow-line.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '600' } } });
const MOVING_MS = Number(values.seconds) * 1_000;
const INTERVALS_MS = [1_000, 5_000, 15_000];
/** Holds 25 positions. */
const EMAIL = 'pro@example.com';
const FIVE = ['symbol', 'digits', 'priceCurrent', 'profit'] as const;

/** 400 kbit/s. */
const LINE = { roundTripMs: 200, bytesPerMs: 50 };
const STARTS = 5;
const LOGIN = '700002';
const HOME = '{ session { id balance equity } positions { id symbol digits priceCurrent profit } }';

const COLD_HEAD = ['from a cold start', 'over', 'after'];
const HEAD = ['`intervalMs`', 'over', 'received', 'radio on'];

const sandbox = await startSandbox({ seed: 'cellular', instruments: 500, tickMs: 1_000 });
const facade = await startFacadeProcess({ GATEWAY_URL: sandbox.url, ORDER_STORE: 'memory' });
console.log(`${table(COLD_HEAD, await measureColdStarts(facade.url, sandbox))}\n`);
console.log(table(HEAD, await measureCellular(facade.url, sandbox)));
await facade.kill();
await sandbox.close();
process.exit(0);

/** One row for each way to begin, on a line of its own; the median of some starts. */
async function measureColdStarts(service: string, sandbox: Sandbox): Promise<string[][]> {
  const stream = { WebSocket: null };
  const cases = [
    ['the first list, the login not known', 'a WebSocket', {}, {}, 'list'],
    ['the first list, the login known', 'a WebSocket', {}, { login: () => LOGIN }, 'list'],
    ['the first list, the login not known', 'an event stream', stream, {}, 'list'],
    ['the first list, the login known', 'an event stream', stream, { login: () => LOGIN }, 'list'],
    ['home by its query', 'HTTP', {}, {}, 'query'],
  ] as const;
  const rows: string[][] = [];
  for (const [what, over, environment, known, first] of cases) {
    const times: number[] = [];
    for (let start = 0; start < STARTS; start += 1) {
      using line = await startSlowLine(service, LINE);
      const token = sandbox.token({ email: EMAIL });
      const url = `${line.url}/graphql`;
      const options = { url, token: () => token, positionFields: FIVE, environment, ...known };
      const client = createClient(options);
      const startedMs = performance.now();
      if (first === 'query') await client.query(HOME);
      else await isLive(client);
      times.push(performance.now() - startedMs);
      client.dispose();
    }
    const median = times.toSorted((a, b) => a - b)[STARTS >> 1] ?? Number.NaN;
    rows.push([what, over, `${(median / 1_000).toFixed(2)} s`]);
  }
  return rows;
}

interface Following {
  positions(
    listener: (state: { status: string }) => void,
    options: { intervalMs: number },
  ): unknown;
}

function isLive(client: Following, intervalMs = 1_000): Promise<void> {
  return new Promise((resolve) => {
    client.positions(({ status }) => status === 'LIVE' && resolve(), { intervalMs });
  });
}

/** One row for each interval and transport, all at once. */
async function measureCellular(service: string, sandbox: Sandbox): Promise<string[][]> {
  const transports: Record<string, Partial<Environment>> = {
    'a WebSocket, packed': { WebSocket: socketOf(true) },
    'a WebSocket, not packed': { WebSocket: socketOf(false) },
    'an event stream': { WebSocket: null },
  };
  const cases = INTERVALS_MS.flatMap((intervalMs) =>
    Object.entries(transports).map(([over, environment]) => ({ intervalMs, over, environment })),
  );
  return Promise.all(
    cases.map(async ({ intervalMs, over, environment }) => {
      await using radio = await startRadio(service);
      const token = sandbox.token({ email: EMAIL });
      const client = createClient({
        url: `${radio.url}/graphql`,
        token: () => token,
        positionFields: FIVE,
        environment,
      });
      await isLive(client, intervalMs);
      radio.reset();
      await delay(MOVING_MS);
      const { bytes, onShare } = radio.figures();
      client.dispose();
      return [
        String(intervalMs),
        over,
        `${Math.round(bytes / 1_000)} kB`,
        `${Math.round(onShare * 100)} %`,
      ];
    }),
  );
}

function socketOf(isPacked: boolean): typeof globalThis.WebSocket {
  class Socket extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols, { perMessageDeflate: isPacked });
    }
  }
  return Socket as unknown as typeof globalThis.WebSocket;
}
