import { expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { rawResponse } from '../../support/raw-request.ts';
import { initializedSocket } from '../live/raw-socket.ts';

const SOCKETS = 40;
const STREAMS = 10;
const WATCH = 'subscription { positions { id } }';

/**
 * A quarter of them closes in each quarter of the time: none before its turn, give or take some. That none comes late its
 * own tests show, on a clock of theirs: a busy machine is late with all.
 */
test.each([
  // Over the beginning of the grace period: so few take a slice of 20 ms each, not all of the time.
  [{ SHUTDOWN_GRACE_MS: '8000', ORDER_TIMEOUT_MS: '3000' }, 20 * (SOCKETS + STREAMS)],
  [{ SHUTDOWN_DELAY_MS: '2000' }, 2_000],
])('with %j sockets and event streams close spread over %d ms', async (environment, overMs) => {
  const app = await startTestApp({ RATE_LIMIT_PER_MINUTE: '1000000', ...environment });
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const endsMs: number[] = [];
  const ended = () => void endsMs.push(performance.now());
  const sockets = Array.from({ length: SOCKETS }, async () => {
    const raw = await initializedSocket(app, token);
    raw.subscribe('1', WATCH);
    await raw.until('1', 'next');
    raw.socket.once('close', ended);
    return raw;
  });
  const streams = Array.from({ length: STREAMS }, async () => {
    const headers = { accept: 'text/event-stream', authorization: `Bearer ${token}` };
    const url = `${app.url}/graphql?query=${encodeURIComponent(WATCH)}`;
    const response = await rawResponse(url, { headers });
    expect(response.statusCode).toBe(200);
    response.resume().once('close', ended);
  });
  const opened = await Promise.all(sockets);
  await Promise.all(streams);
  const startedAtMs = performance.now();
  await app.close();
  await eventually(() => endsMs.length === SOCKETS + STREAMS);
  expect(opened.map(({ closed }) => closed?.code)).toEqual(Array(SOCKETS).fill(1012));
  for (const share of [0.25, 0.5, 0.75]) {
    const afterMs = (endsMs[Math.floor(endsMs.length * share)] ?? 0) - startedAtMs;
    expect(afterMs).toBeGreaterThan((share - 0.12) * overMs);
  }
  if ('SHUTDOWN_DELAY_MS' in environment) {
    expect(performance.now() - startedAtMs).toBeGreaterThan(1_900);
  }
  expect(app.logged.join()).not.toContain('the time to drain is over');
});
