/**
 * The time from a cold start to the first list, the bytes that a moving market of ten minutes brings to a phone, and how long
 * its radio is on. `npm run bench -- cellular` prints Markdown; `-- --seconds` moves it for less.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createClient } from '../client/src/create-client.ts';
import type { Environment } from '../client/src/environment.ts';
import { type Sandbox, startSandbox } from '../sandbox/start.ts';
import { startFacadeProcess } from '../test/support/facade-process.ts';
import { table } from './support/markdown.ts';
import { socketOf } from './support/packed-socket.ts';
import { startRadio } from './support/radio.ts';
import { startSlowLine } from './support/slow-line.ts';
import { median } from './support/statistics.ts';

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

type Transport = readonly [over: string, environment: Partial<Environment>];
const PACKED: Transport = ['a WebSocket, packed', { WebSocket: socketOf(true) }];
const PLAIN: Transport = ['a WebSocket, not packed', { WebSocket: socketOf(false) }];
const STREAM: Transport = ['an event stream', { WebSocket: null }];

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
  const rows: string[][] = [];
  const measure = async (
    what: string,
    over: string,
    first: (client: ReturnType<typeof clientOf>) => Promise<unknown>,
    environment: Partial<Environment> = {},
    known = {},
  ) => {
    const times: number[] = [];
    for (let start = 0; start < STARTS; start += 1) {
      await using line = await startSlowLine(service, LINE);
      const client = clientOf(line.url, sandbox, environment, known);
      const startedMs = performance.now();
      await first(client);
      times.push(performance.now() - startedMs);
      client.dispose();
    }
    rows.push([what, over, `${(median(times) / 1_000).toFixed(2)} s`]);
  };
  for (const [over, environment] of [['a WebSocket', {}], STREAM] as const) {
    await measure('the first list, the login not known', over, isLive, environment);
    const known = { login: () => LOGIN };
    await measure('the first list, the login known', over, isLive, environment, known);
  }
  await measure('home by its query', 'HTTP', (client) => client.query(HOME));
  return rows;
}

/** One row for each interval and transport, all at once. */
async function measureCellular(service: string, sandbox: Sandbox): Promise<string[][]> {
  const cases = INTERVALS_MS.flatMap((intervalMs) =>
    [PACKED, PLAIN, STREAM].map((transport) => ({ intervalMs, transport })),
  );
  return Promise.all(
    cases.map(async ({ intervalMs, transport: [over, environment] }) => {
      await using radio = await startRadio(service);
      const client = clientOf(radio.url, sandbox, environment);
      await isLive(client, intervalMs);
      radio.reset();
      await delay(MOVING_MS);
      const { bytes, onShare } = radio.figures();
      client.dispose();
      const [kilobytes, percent] = [bytes / 1_000, onShare * 100].map(Math.round);
      return [String(intervalMs), over, `${kilobytes} kB`, `${percent} %`];
    }),
  );
}

function clientOf(url: string, sandbox: Sandbox, environment: Partial<Environment>, known = {}) {
  const token = sandbox.token({ email: EMAIL });
  const own = { url: `${url}/graphql`, token: () => token, positionFields: FIVE };
  return createClient({ ...own, environment, ...known });
}

function isLive(client: ReturnType<typeof clientOf>, intervalMs = 1_000): Promise<void> {
  return new Promise((resolve) => {
    client.positions(({ status }) => status === 'LIVE' && resolve(), { intervalMs });
  });
}
