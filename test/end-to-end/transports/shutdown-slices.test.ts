import { once } from 'node:events';
import { beforeAll, expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { startSandbox } from '../../../sandbox/start.ts';
import type { Environment } from '../../../src/config.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { startedOnce } from '../../support/started.ts';
import { initializedSocket } from '../live/raw-socket.ts';

const SOCKETS = 40;
const STREAMS = 10;
const POSITIONS = 'subscription { positions { id } }';
const GRACE_IS_OVER = 'the time to drain is over';

const sandbox = startedOnce(() => startSandbox({ seed: 'slices', tickMs: 0 }));
let token: string;
beforeAll(() => {
  token = sandbox.token({ email: 'demo@example.com' });
});

interface End {
  readonly atMs: number;
  /** Null for an event stream. */
  readonly code: number | null;
}

function start(environment: Environment) {
  return startTestApp(
    { ORDER_STORE: 'memory', RATE_LIMIT_PER_MINUTE: '1000000', ...environment },
    { gateway: sandbox },
  );
}

/** Resolves when a first answer has come. */
async function openSocket(app: TestApp): Promise<WebSocket> {
  const raw = await initializedSocket(app, token);
  raw.subscribe('1', POSITIONS);
  await raw.until('1', 'next');
  return raw.socket;
}

async function closeOf(socket: WebSocket): Promise<End> {
  const [code] = (await once(socket, 'close')) as [number];
  return { atMs: performance.now(), code };
}

/** Resolves when the stream is open; its end resolves when it is cut. */
async function openStream(url: string): Promise<{ readonly end: Promise<End> }> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify({ query: POSITIONS }),
  });
  expect(response.status).toBe(200);
  const end = response.text().then(
    () => ({ atMs: performance.now(), code: null }),
    () => ({ atMs: performance.now(), code: null }),
  );
  return { end };
}

/** Opens sockets and streams; the answer is how each of them ends. */
async function openMany(app: TestApp): Promise<Promise<End>[]> {
  const sockets = await Promise.all(Array.from({ length: SOCKETS }, () => openSocket(app)));
  const streams = await Promise.all(Array.from({ length: STREAMS }, () => openStream(app.url)));
  return [...sockets.map(closeOf), ...streams.map(({ end }) => end)];
}

/**
 * Asserts that a quarter of them closed in each quarter of the time: none before its turn, give or take some. That none
 * comes late its own tests show, on a clock of theirs: a busy machine is late with all.
 */
function expectSlices(ends: readonly End[], beganAtMs: number, overMs: number): void {
  const codes = ends.map(({ code }) => code);
  expect(codes.filter((code) => code === 1012)).toHaveLength(SOCKETS);
  expect(codes.filter((code) => code === null)).toHaveLength(STREAMS);
  const afterMs = ends.map(({ atMs }) => atMs - beganAtMs).sort((one, other) => one - other);
  for (const share of [0.25, 0.5, 0.75]) {
    expect(afterMs[Math.floor(ends.length * share)]).toBeGreaterThan((share - 0.12) * overMs);
  }
}

test.each([
  // Over the beginning of the grace period: so few take a slice of 20 ms each, not all of the time.
  [{ SHUTDOWN_GRACE_MS: '8000', ORDER_TIMEOUT_MS: '3000' }, 20 * (SOCKETS + STREAMS)],
  [{ SHUTDOWN_DELAY_MS: '2000' }, 2_000],
])('with %j sockets and event streams close spread over %d ms', async (environment, overMs) => {
  const app = await start(environment);
  const opened = await openMany(app);
  const startedAtMs = performance.now();
  const closing = app.close();
  expectSlices(await Promise.all(opened), startedAtMs, overMs);
  await closing;
  if ('SHUTDOWN_DELAY_MS' in environment) {
    expect(performance.now() - startedAtMs).toBeGreaterThan(1900);
  }
  expect(app.logged.join()).not.toContain(GRACE_IS_OVER);
});
