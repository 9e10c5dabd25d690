/**
 * What a user of `trading-graph-client` sees on bad lines: the first positions, an order at the market, the catalog, a restart.
 * `npm run bench -- lines [--quick] [--write] [--only lines|returns|battery|events|phones]` prints Markdown; `--write` puts
 * the tables into bench/bad-lines.md. The battery's take three minutes.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createClient } from '../client/src/create-client.ts';
import { memoryStorage } from '../client/src/storage/memory.ts';
import type { ClientStorage } from '../client/src/storage.ts';
import { startSandbox } from '../sandbox/start.ts';
import { createSeededRandom } from '../test/end-to-end/orders/seeded-random.ts';
import { startFacadeProcess } from '../test/support/facade-process.ts';
import { BATTERY_HEAD, measureBattery } from './battery.ts';
import { EVENTS_HEAD, eventRows } from './events.ts';
import { measureReturns, RETURNS_HEAD } from './returns.ts';
import { measurePhones, PHONES_HEAD } from './small-phones.ts';
import { type BadLine, type LineTerms, startBadLine } from './support/bad-line.ts';
import { table } from './support/markdown.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});
const INSTRUMENTS = 5_000;
const FIELDS = ['digits', 'min', 'max', 'step', 'leverage'] as const;
const RATES = values.quick ? [20, 4] : [20, 12, 8, 4, 2.5];
const ROUND_TRIPS_MS = values.quick ? [50] : [50, 400, 2_000];
const CUTS = values.quick ? [0, 0.1] : [0, 0.02, 0.1];
// A user who waits longer has closed the app.
const PATIENCE_MS = 200_000;
const PAGE = join(import.meta.dirname, 'bad-lines.md');
const MACHINE = `${cpus()[0]?.model}, ${cpus().length} cores, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`;

if (isWanted('lines')) {
  await using service = await startService(1_000);
  show('<!-- table -->', await tableOfLines(service));
}
if (isWanted('returns')) {
  await using service = await startService(1_000);
  const rows = await measureReturns(service.facade.url, service.sandbox);
  show('<!-- returns -->', [MACHINE, table(RETURNS_HEAD, rows)].join('\n\n'));
}
if (isWanted('events')) {
  await using service = await startService(0);
  const rows = await eventRows(service.facade.url, service.sandbox);
  show('<!-- events -->', [MACHINE, table(EVENTS_HEAD, rows)].join('\n\n'));
}
if (isWanted('battery') && !values.quick) {
  // The market stands still.
  await using service = await startService(0);
  const rows = await measureBattery(service.facade.url, service.sandbox);
  show('<!-- battery -->', [MACHINE, table(BATTERY_HEAD, rows)].join('\n\n'));
}
if (isWanted('phones')) {
  await using service = await startService(0);
  const rows = await measurePhones(service.facade.url, service.sandbox);
  show('<!-- phones -->', [MACHINE, table(PHONES_HEAD, rows)].join('\n\n'));
}
process.exit(0);

function isWanted(part: 'lines' | 'returns' | 'battery' | 'events' | 'phones'): boolean {
  return values.only === undefined || values.only === part;
}

async function startService(tickMs: number) {
  const sandbox = await startSandbox({ seed: 'lines', instruments: INSTRUMENTS, tickMs });
  const facade = await startFacadeProcess({
    GATEWAY_URL: sandbox.url,
    ORDER_STORE: 'memory',
    RATE_LIMIT_PER_MINUTE: '10000000',
    LOG_LEVEL: 'info',
  });
  return {
    sandbox,
    facade,
    async [Symbol.asyncDispose]() {
      await facade.kill();
      await sandbox.close();
    },
  };
}

type Service = Awaited<ReturnType<typeof startService>>;

function show(mark: string, text: string): void {
  console.log(text);
  if (!values.write) return;
  const [before = '', , after = ''] = readFileSync(PAGE, 'utf8').split(mark);
  writeFileSync(PAGE, `${before}${mark}\n\n${text}\n\n${mark}${after}`);
}

async function tableOfLines(service: Service): Promise<string> {
  const lines = RATES.flatMap((kilobytes) =>
    ROUND_TRIPS_MS.flatMap((roundTripMs) =>
      CUTS.map((cuts) => ({ bytesPerSecond: kilobytes * 1_000, roundTripMs, cuts })),
    ),
  );
  // The lines are all but idle, so that all of them fit beside one another; they begin one after the other.
  const rows = await Promise.all(
    lines.map(async (terms, at) => {
      await new Promise((resolve) => setTimeout(resolve, at * 250));
      return measure(service, terms, at);
    }),
  );
  const head = ['kB/s', 'round trip', 'cuts', 'positions live', 'order at market', 'catalog whole'];
  const more = [
    'its first rows',
    'received',
    'cuts met',
    'restart: shown',
    'confirmed',
    'positions live',
  ];
  return [`${MACHINE}; ${rows.length} of 45 lines`, table([...head, ...more], rows)].join('\n\n');
}

async function measure(
  { facade, sandbox }: Service,
  terms: LineTerms,
  at: number,
): Promise<string[]> {
  const random = createSeededRandom(at + 1);
  await using line = await startBadLine(facade.url, terms, () => random.below(1_000_000) / 1e6);
  const email = `user-${at + 1}@example.com`;
  const storage = memoryStorage();
  const token = sandbox.token({ email });
  const client = open(line, token, storage);
  const positions = await timed(() => live(client));
  let outcome = '';
  const order = await timed(async () => {
    const placed = await client.orders
      .ticket()
      .place({ symbol: 'AAPL', side: 'BUY', kind: 'MARKET', size: { units: 1 } });
    outcome = placed.status;
  });
  const before = { received: line.received, resets: line.resets };
  const startedAt = performance.now();
  let firstMs = Number.NaN;
  const onProgress = () => {
    if (Number.isNaN(firstMs)) firstMs = performance.now() - startedAt;
  };
  const catalog = await timed(() => loaded(client, onProgress));
  const received = line.received - before.received;
  const login = client.login ?? '';
  const resets = line.resets - before.resets;
  // The copy is written in the background.
  await new Promise((resolve) => setTimeout(resolve, 500));
  client.dispose();
  line.drop();
  const again = open(line, token, storage);
  const shown = timed(async () => {
    await new Promise<void>((resolve) => again.catalog.onChange(resolve));
  });
  const confirmed = await timed(async () => {
    while (!again.catalog.confirmed) await again.catalog.load({ account: login }).catch(() => {});
  });
  const shownAfter = await shown;
  again.dispose();
  line.drop();
  const third = open(line, token, storage);
  const liveAgain = await timed(() => live(third));
  third.dispose();
  const { bytesPerSecond, roundTripMs, cuts } = terms;
  return [
    String(bytesPerSecond / 1_000),
    `${roundTripMs} ms`,
    `${cuts * 100} %`,
    positions,
    `${outcome}, ${order}`,
    catalog,
    seconds(firstMs),
    `${Math.round(received / 1_000)} kB`,
    String(resets),
    shownAfter,
    confirmed,
    liveAgain,
  ];
}

function open(line: BadLine, token: string, storage: ClientStorage) {
  return createClient({
    url: `${line.url}/graphql`,
    token: () => token,
    storage,
    catalogFields: FIELDS,
  });
}

async function live({ positions }: ReturnType<typeof open>): Promise<void> {
  await new Promise<void>((resolve) => {
    const stop = positions(({ status }) => {
      if (status !== 'LIVE') return;
      setTimeout(() => stop());
      resolve();
    });
  });
}

/** As an app with a button to try again. */
async function loaded({ catalog }: ReturnType<typeof open>, onProgress: () => void): Promise<void> {
  for (;;) {
    try {
      await catalog.load({ onProgress });
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
}

async function timed(task: () => Promise<void>): Promise<string> {
  const startedAt = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), PATIENCE_MS);
  });
  const end = await Promise.race([task(), late]);
  clearTimeout(timer);
  return end === 'late' ? 'never' : seconds(performance.now() - startedAt);
}

function seconds(ms: number): string {
  return Number.isNaN(ms) ? '–' : `${(ms / 1_000).toFixed(1)} s`;
}
