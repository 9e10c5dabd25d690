/** Measures a reservation in SQLite: its latency at several rates, and the event loop's share. Prints Markdown. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { systemClock } from '../src/lib/clock.ts';
import type { OrderRecords } from '../src/store/order-records.ts';
import { openSqliteOrderRecords } from '../src/store/sqlite/order-records.ts';
import { table } from './support/markdown.ts';

const SECONDS = 10;
const ROWS = ['50', '95', '99', '100'] as const;

export interface Figures {
  /** Reservations by percentile, in milliseconds. */
  readonly latencies: Readonly<Record<(typeof ROWS)[number], number>>;
  /** CPU of the event loop's thread for one order, reservation and outcome, in microseconds. */
  readonly loopMicroseconds: number;
}

/** Places orders at random moments, so many per second on average, and settles each. */
export async function measurePace(records: OrderRecords, perSecond: number): Promise<Figures> {
  const latencies: number[] = [];
  const orders: Promise<void>[] = [];
  const name = `${process.pid}-${performance.now()}`;
  const place = async (n: number) => {
    const startedAtMs = performance.now();
    const answer = await records.reserve({
      ...{ login: '1001', key: `${name}-${n}`, canonical: 'c'.repeat(64) },
      ...{ reservedAtMs: Date.now(), pendingMs: 17_000 },
    });
    latencies.push(performance.now() - startedAtMs);
    if (!answer.reserved) throw new Error('the key is taken');
    await records.settle(answer.reservation, { kind: 'accepted', orderId: '1', message: null });
  };
  const cpu = process.threadCpuUsage();
  const endsAtMs = performance.now() + SECONDS * 1_000;
  while (performance.now() < endsAtMs) {
    orders.push(place(orders.length));
    await delay((-Math.log(1 - Math.random()) * 1_000) / perSecond);
  }
  await Promise.all(orders);
  const { user, system } = process.threadCpuUsage(cpu);
  latencies.sort((one, other) => one - other);
  const at = (share: number) => latencies[Math.ceil(latencies.length * share) - 1] ?? Number.NaN;
  return {
    latencies: { 50: at(0.5), 95: at(0.95), 99: at(0.99), 100: at(1) },
    loopMicroseconds: (user + system) / orders.length,
  };
}

const { values } = parseArgs({ options: { path: { type: 'string' }, pace: { type: 'string' } } });
if (values.path !== undefined) {
  const records = await open(values.path);
  process.stdout.write(`${JSON.stringify(await measurePace(records, Number(values.pace)))}\n`);
  await records.close();
} else {
  const folder = mkdtempSync(join(tmpdir(), 'trading-graph-bench-'));
  const rows = [];
  for (const [processes, pace] of [
    [1, 1],
    [1, 10],
    [1, 200],
    [3, 50],
  ] as const) {
    const path = join(folder, `${processes}-${pace}.db`);
    const all = await Promise.all(Array.from({ length: processes }, () => inProcess(path, pace)));
    for (const { latencies, loopMicroseconds } of all) {
      const figures = ROWS.map((row) => latencies[row].toFixed(1));
      const what =
        processes === 1 ? `${pace} a second` : `${pace} a second, one of ${processes} processes`;
      rows.push([what, ...figures, loopMicroseconds.toFixed(0)]);
    }
  }
  rmSync(folder, { recursive: true });
  const head = ['orders', 'median, ms', '95 %', '99 %', 'longest', "loop's CPU per order, µs"];
  console.log(table(head, rows));
}

function open(path: string): Promise<OrderRecords> {
  return openSqliteOrderRecords({
    path,
    max: 1_000_000,
    clock: systemClock,
    onWarn: console.error,
  });
}

async function inProcess(path: string, pace: number): Promise<Figures> {
  const args = [fileURLToPath(import.meta.url), '--path', path, '--pace', String(pace)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (text) => {
    output += String(text);
  });
  await once(child, 'close');
  return JSON.parse(output) as Figures;
}
