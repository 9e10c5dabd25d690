import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { openSqliteOrderRecords } from '../../../src/store/sqlite/order-records.ts';

const writer = fileURLToPath(new URL('order-writer.ts', import.meta.url));

/** Lets a process write until it has printed so many lines, kills it, and returns the promised keys. */
async function writeAndKill(path: string, name: string, lines: number): Promise<string[]> {
  const child = spawn(process.execPath, [writer, path, name], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  let killed = false;
  child.stdout.on('data', (text) => {
    printed += String(text);
    if (killed || printed.split('\n').length < lines) return;
    killed = true;
    child.kill('SIGKILL');
  });
  await once(child, 'close');
  expect(killed).toBe(true);
  return printed.split('\n').slice(1, -1);
}

test('every promise before a kill holds after it, with two concurrent processes', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trading-graph-kill-'));
  const path = join(folder, 'orders.db');
  const promised: string[] = [];
  for (const [round, lines] of [3, 40, 150, 311, 700].entries()) {
    // The second is killed while the first writes, and the other way round.
    const killed = await Promise.all([
      writeAndKill(path, `${round}a`, lines),
      writeAndKill(path, `${round}b`, 2 * lines),
    ]);
    promised.push(...killed.flat());
    const warnings: string[] = [];
    const records = await openSqliteOrderRecords({
      ...{ path, max: 1_000_000, clock: systemClock },
      onWarn: (message) => warnings.push(message),
    });
    expect(warnings).toEqual([]);
    const found = await Promise.all(
      promised.map((line) => records.find('1', line.split(' ')[1] ?? '')),
    );
    for (const [n, line] of promised.entries()) {
      const [state, key] = line.split(' ');
      expect(found[n], line).not.toBe(null);
      if (state === 'settled') expect(found[n]?.outcome, line).toMatchObject({ orderId: key });
    }
    await records.close();
  }
  expect(promised.length).toBeGreaterThan(3_000);
  await rm(folder, { recursive: true });
}, 600_000);
