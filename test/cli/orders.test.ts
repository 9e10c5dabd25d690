import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ordersCommand } from '../../src/cli/orders.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { openSqliteOrderRecords } from '../../src/store/sqlite-order-records.ts';
import { request, reserved } from '../store/order-records-contract.ts';

async function rehearse() {
  const folder = mkdtempSync(join(tmpdir(), 'trading-graph-orders-cli-'));
  const path = join(folder, 'orders.db');
  const out: string[] = [];
  const err: string[] = [];
  const open = () => openSqliteOrderRecords({ path, max: 100, clock: systemClock, onWarn() {} });
  const records = await open();
  await reserved(records, '1', 'key');
  await records.close();
  return {
    ...{ folder, path, out, err, open },
    run: (...args: string[]) =>
      ordersCommand.run(args, {
        environment: { ORDER_STORE: path },
        out: (line) => out.push(line),
        err: (line) => err.push(line),
        ask: () => Promise.resolve(null),
        stopped: () => Promise.resolve(),
      }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

test('the status says how many records there are, and what is wrong', async () => {
  using stage = await rehearse();
  expect(await stage.run('status')).toBe(0);
  expect(stage.out).toEqual([`${stage.path}: 1 order records; orders are taken`]);
  expect(stage.err).toEqual([]);
});

test('a file that its operator has marked incomplete refuses orders, and takes them again', async () => {
  using stage = await rehearse();
  expect(await stage.run('incomplete')).toBe(0);
  expect(stage.out.at(-1)).toContain('may be incomplete');
  const refusing = await stage.open();
  await expect(refusing.reserve(request('1', 'new'))).rejects.toThrow('may be incomplete');
  // A running process notices it too.
  expect(await stage.run('complete')).toBe(0);
  expect(await refusing.reserve(request('1', 'new'))).toMatchObject({ reserved: true });
  await refusing.close();
  expect(await stage.run('status', '--file', stage.path)).toBe(0);
  expect(stage.out.at(-1)).toBe(`${stage.path}: 2 order records; orders are taken`);
});

test.each([
  [[], 'Say one of'],
  [['drop'], 'Say one of'],
  [['status', 'complete'], 'Say one of'],
  [['status', '--now'], '--now'],
])('%j is refused with what is wrong', async (args, text) => {
  using stage = await rehearse();
  expect(await stage.run(...args)).toBe(2);
  expect(stage.err.join()).toContain(text);
});

test('no file is made, and none that is something else is touched', async () => {
  using stage = await rehearse();
  const missing = join(stage.folder, 'missing', 'orders.db');
  expect(await stage.run('complete', '--file', missing)).toBe(1);
  expect(stage.err.at(-1)).toBe('The file does not exist.');
  expect(existsSync(join(stage.folder, 'missing'))).toBe(false);
  const thesis = join(stage.folder, 'thesis');
  writeFileSync(thesis, 'my thesis\n'.repeat(100));
  expect(await stage.run('complete', '--file', thesis)).toBe(1);
  expect(stage.err.at(-1)).toContain('is no database');
  expect(await stage.run('status', '--file', 'memory')).toBe(1);
});

test('the program knows the command', async () => {
  using stage = await rehearse();
  const main = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');
  const child = spawn(process.execPath, [main, 'orders', 'status', '--file', stage.path]);
  let output = '';
  child.stdout.on('data', (text) => {
    output += String(text);
  });
  const [code] = await once(child, 'close');
  expect([code, output]).toEqual([0, `${stage.path}: 1 order records; orders are taken\n`]);
});
