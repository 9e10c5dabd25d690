import { expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { provedToken } from '../operations/accounts.ts';
import { seriesValue } from '../operations/scraped.ts';
import {
  askAndStall,
  LONG_ANSWERS,
  longDocument,
  longField,
  MEGABYTE,
  postOf,
  ROOMY,
  statusesIn,
  UNTAKEN_BYTES,
  unreadBytes,
} from './slow-reader.ts';

test('a pipelined request is executed only when the client has read the earlier answers', async () => {
  // With this limit the slow reader is not closed, even on a busy machine.
  const connections = { ...ROOMY, unreadMs: 86_400_000 };
  await using app = await startTestApp(LONG_ANSWERS, { connections });
  const token = await provedToken(app);
  app.sandbox.clearCalls();
  using reader = await askAndStall(app, `{ ${longField(UNTAKEN_BYTES)} }`, { token });
  reader.socket.write(postOf('{ customerId }', { token }).repeat(3));
  await eventually(async () => expect(await unreadBytes(app)).toBeGreaterThan(UNTAKEN_BYTES));
  // The kernel buffers less than this, so a part of this request stays unsent if the service does not read.
  reader.socket.write(postOf(longDocument(20 * MEGABYTE)));
  await eventually(() => expect(reader.socket.writableLength).toBeGreaterThan(10 * MEGABYTE));
  expect(app.sandbox.calls('getCustomerId')).toBe(0);
  reader.socket.resume();
  await eventually(() => expect(statusesIn(reader)).toHaveLength(5));
  expect(new Set(statusesIn(reader))).toEqual(new Set(['200']));
  expect(app.sandbox.calls('getCustomerId')).toBe(3);
});

test('pipelined requests of a closed connection are dropped', async () => {
  const clock = createScriptedClock(Date.now());
  await using gateway = await startSandbox({ clock, tickMs: 0 });
  const app = await startTestApp({}, { gateway });
  const token = await provedToken(app);
  gateway.fail({ operation: 'getCustomerId', kind: 'delay', delayMs: 1_000 });
  const reader = await askAndStall(app, '{ customerId }', { token });
  reader.socket.write(postOf('{ customerId }', { token }).repeat(9));
  await eventually(() => expect(gateway.calls('getCustomerId')).toBe(1));
  reader.socket.destroy();
  const closing = app.close();
  await clock.advance(1_000);
  await closing;
  // The shutdown would wait for the calls of the nine other requests, whose delays the clock never ends.
  expect(app.logged.join()).not.toContain('grace period elapsed');
});

test('a connection with more than 32 waiting requests is closed', async () => {
  const clock = createScriptedClock(Date.now());
  await using gateway = await startSandbox({ clock, tickMs: 0 });
  await using app = await startTestApp({}, { gateway });
  const token = await provedToken(app);
  gateway.fail({ operation: 'getCustomerId', kind: 'delay', delayMs: 1_000 });
  const pipelined = async (count: number) => {
    const raw = await askAndStall(app, '{ customerId }', { token });
    raw.socket.resume();
    raw.socket.write('GET /health/live HTTP/1.1\r\nhost: facade\r\n\r\n'.repeat(count));
    return raw;
  };
  using allowed = await pipelined(32);
  using refused = await pipelined(33);
  await eventually(() => refused.isClosed);
  expect(refused.received).toBe('');
  expect(await seriesValue(app, 'connections_cut_total{reason="pipelined"}')).toBe(1);
  expect((await app.query('{ session { login } }', { token })).errors).toEqual([]);
  expect(allowed.isClosed).toBe(false);
  await clock.advance(1_000);
});
