import { join } from 'node:path';
import { expect, test } from 'vitest';
import { measureStart } from '../../bench/support/measure-start.ts';

const script = join(import.meta.dirname, '../../bench/contestants/bare-listener.ts');
const NO_GATEWAY = { url: 'http://127.0.0.1:9', tokens: [] };

test('a start has taken CPU and time, and the process holds memory', async () => {
  const bare = { name: 'bare', script, endpoint: null };
  const { cpuMs, elapsedMs, idleMb, afterScreenMb } = await measureStart(bare, NO_GATEWAY);
  expect(cpuMs).toBeGreaterThan(0);
  expect(elapsedMs).toBeGreaterThan(0);
  expect(idleMb).toBeGreaterThan(20);
  expect(idleMb).toBeLessThan(300);
  expect(afterScreenMb).toBe(null);
});

test('a program that ends is no start', async () => {
  const wrong = { name: 'wrong', script: `${script}.gone`, endpoint: null };
  await expect(measureStart(wrong, NO_GATEWAY)).rejects.toThrow('ended with 1');
});
