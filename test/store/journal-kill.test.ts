import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openJournalOrderRecords } from '../../src/store/journal-order-records.ts';

const writer = fileURLToPath(new URL('journal-writer.ts', import.meta.url));

/** Lets a process write until it has printed so many lines, kills it, and tells what it was promised. */
async function writeAndKill(path: string, round: number, lines: number): Promise<string[]> {
  const child = spawn(process.execPath, [writer, path, String(round)], {
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

function open(path: string) {
  return openJournalOrderRecords({
    path,
    max: 1_000_000,
    uptimeMs: () => performance.now(),
    nowMs: Date.now,
    onWarn() {},
  });
}

test('whatever was promised before a kill is there after it, again and again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trading-graph-kill-'));
  const path = join(folder, 'orders.journal');
  const promised: string[] = [];
  for (const [round, lines] of [3, 57, 400, 1_111, 2_000].entries()) {
    promised.push(...(await writeAndKill(path, round, lines)));
    const records = await open(path);
    for (const line of promised) {
      const [state, key = ''] = line.split(' ');
      const record = await records.find('1', key);
      expect(record, line).not.toBe(null);
      if (state === 'settled') expect(record?.outcome, line).toMatchObject({ orderId: key });
    }
    await records.close();
  }
  expect(promised.length).toBeGreaterThan(3_000);
  await rm(folder, { recursive: true });
}, 60_000);

test('a living writer keeps its journal, a killed one leaves it free at once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trading-graph-lock-'));
  const path = join(folder, 'orders.journal');
  const child = spawn(process.execPath, [writer, path, '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  await expect(open(path)).rejects.toThrow('is in use by another process');
  child.kill('SIGKILL');
  child.stdout.resume();
  await once(child, 'close');
  await (await open(path)).close();
  await rm(folder, { recursive: true });
});
