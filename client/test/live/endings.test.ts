import { beforeEach, expect, test } from 'vitest';
import { createScriptedClock } from '../../../test/support/scripted-clock.ts';
import type { Core, Sink } from '../../src/core.ts';
import { TradingGraphError } from '../../src/errors.ts';
import type { Position } from '../../src/generated/rows.ts';
import { createPositions, type Positions } from '../../src/live/positions.ts';
import type { PositionChangesData } from '../../src/live/positions-operation.ts';
import { ServerClock } from '../../src/server-clock.ts';
import { countedEnvironment } from '../support/counted-environment.ts';

const ROWS = 50;

/** A server that changes one row in each event, and a network that fails after it. */
class ScriptedServer {
  readonly clock = createScriptedClock();
  readonly environment = countedEnvironment({
    now: this.clock.now,
    uptime: this.clock.now,
    after: this.clock.after,
  });
  sink: Sink<PositionChangesData> | null = null;
  begun = 0;
  /** The cursor that the feed would send now. */
  variables: () => unknown = () => null;
  #version = 0;

  readonly core: Core = {
    environment: this.environment,
    storage: null,
    serverClock: new ServerClock(this.environment),
    heartbeatSeconds: 15,
    request: () => Promise.reject(new Error('not a part of this core')),
    subscribe: (_operation, variables, sink) => {
      this.begun += 1;
      this.variables = variables;
      this.sink = sink as unknown as Sink<PositionChangesData>;
      return () => {
        this.sink = null;
      };
    },
    account: () => Promise.resolve('700001'),
    onAccountChange: () => () => {},
    expectLogin() {},
    login: '700001',
    isDisposed: false,
    onDispose: () => {},
  };

  /** A line that is lost, and replaced at once. */
  reconnect(): void {
    this.sink?.disconnected?.(null);
    this.sink?.connected?.();
  }

  /** Ends the subscription as the server does: with an error as its last event, or with none. */
  end(code: string | null, details: { retryable?: boolean; retryAfter?: number } = {}): void {
    const { sink } = this;
    const error = code && new TradingGraphError(code, { code, retryable: false, ...details });
    if (error) sink?.next({ data: null, errors: [error] });
    this.sink = null;
    sink?.ended(null);
  }

  /** Ends it as a core does that has given up. */
  giveUp(code: string): void {
    const { sink } = this;
    this.sink = null;
    sink?.ended(new TradingGraphError(code, { code, retryable: false }));
  }

  send(snapshot: boolean, asOfMs = this.clock.now()): void {
    this.#version += 1;
    const count = snapshot ? ROWS : 1;
    const upserted = Array.from({ length: count }, (_, at) => this.#row(String(at)));
    this.sink?.next({
      data: {
        positionChanges: {
          cursor: `v${this.#version}`,
          snapshot,
          upserted,
          closed: [],
          totals: { count: ROWS, invested: null, profit: this.#version },
          status: 'LIVE',
          asOf: new Date(asOfMs).toISOString(),
        },
      },
      errors: [],
    });
  }

  #row(id: string): Position {
    return { id, symbol: 'AAPL', profit: this.#version } as Position;
  }
}

let server: ScriptedServer;
let positions: Positions;
let end: () => void;
const MAX_WAIT_MS = 30_000;

beforeEach(async () => {
  server = new ScriptedServer();
  positions = createPositions(server.core);
  end = positions(() => {});
  await server.clock.advance(0);
  server.send(true);
});

test('a token that is refused over an event stream is renewed once, after each event again', async () => {
  for (let begun = 1; begun < 4; begun += 1) {
    expect(server.begun).toBe(begun);
    server.end('UNAUTHENTICATED');
    await server.clock.advance(MAX_WAIT_MS);
    server.send(false);
    expect(positions.state()).toMatchObject({ status: 'LIVE', error: null });
  }
  server.end('UNAUTHENTICATED');
  await server.clock.advance(MAX_WAIT_MS);
  server.end('UNAUTHENTICATED');
  await server.clock.advance(100 * MAX_WAIT_MS);
  expect(server.begun).toBe(5);
  expect(positions.state()).toMatchObject({
    status: 'OFFLINE',
    error: { code: 'UNAUTHENTICATED' },
  });
});

test.each(['FORBIDDEN', 'BAD_USER_INPUT', 'SIGNED_OUT'])('%s ends it for good', async (code) => {
  server.giveUp(code);
  await server.clock.advance(100 * MAX_WAIT_MS);
  expect(server.begun).toBe(1);
  expect(server.sink).toBeNull();
  expect(positions.state()).toMatchObject({ status: 'OFFLINE', error: { code } });
  end();
  await server.clock.advance(0);
  expect(server.environment.pending).toBe(0);
});

test.each([
  ['GATEWAY_CONTRACT', false],
  ['INTERNAL', false],
  ['GATEWAY_UNAVAILABLE', true],
])('%s is tried again for as long as it takes', async (code, retryable) => {
  for (let round = 1; round < 30; round += 1) {
    server.end(code, { retryable });
    expect(positions.state()).toMatchObject({ status: 'OFFLINE', error: { code } });
    await server.clock.advance(MAX_WAIT_MS);
    expect(server.begun).toBe(round + 1);
  }
  server.send(true);
  expect(positions.state()).toMatchObject({ status: 'LIVE', error: null });
});

test('the waits grow where a server ends every subscription after its first event', async () => {
  for (let minute = 0; minute < 60; minute += 1) {
    for (let second = 0; second < 60; second += 1) {
      await server.clock.advance(1_000);
      if (server.sink !== null) {
        server.send(true);
        server.end(null);
      }
    }
  }
  expect(server.begun).toBeGreaterThan(100);
  expect(server.begun).toBeLessThan(600);
});

test('an event that comes too late is not believed: the whole list is asked for, and waited for', async () => {
  await server.clock.advance(1_000);
  server.send(false);
  expect(server.variables()).toMatchObject({ after: 'v2' });
  server.send(false, server.clock.now() - 500);
  expect(server.sink).toBeNull();
  await server.clock.advance(MAX_WAIT_MS);
  expect(server.begun).toBe(2);
  expect(server.variables()).toMatchObject({ after: null });
  server.send(true);
  expect(positions.state()).toMatchObject({ status: 'LIVE', error: null });
  expect(server.variables()).toMatchObject({ after: 'v4' });
});

test('the server’s wait is kept, also by one who comes back; without it the return ends the wait', async () => {
  server.end('RATE_LIMITED', { retryable: true, retryAfter: 60 });
  await server.clock.advance(59_000);
  server.environment.comeBack();
  expect(server.begun).toBe(1);
  await server.clock.advance(1_000 + MAX_WAIT_MS);
  expect(server.begun).toBe(2);
  for (let round = 0; round < 10; round += 1) {
    server.end('GATEWAY_UNAVAILABLE', { retryable: true });
    server.environment.comeBack();
    expect(server.begun).toBe(round + 3);
  }
});

test('reconnects of every kind leave no timer behind, and nothing of those who have left', async () => {
  const { clock, environment } = server;
  const { pending } = environment;
  for (let round = 0; round < 100; round += 1) {
    if (round % 4 === 0) server.end(null);
    else if (round % 4 === 1) server.reconnect();
    // Nothing has come for longer than the watch allows.
    else if (round % 4 === 2) await clock.advance(40_000);
    else environment.hide();
    await clock.advance(1_000);
    environment.comeBack();
    await clock.advance(MAX_WAIT_MS);
    // The first list of another server is taken, whatever its clock says.
    server.send(round % 2 === 0, clock.now() - (round % 4 === 0 ? 60_000 : 0));
    server.send(false);
    expect(positions.state()).toMatchObject({ status: 'LIVE', positions: { length: ROWS } });
    expect(environment.pending).toBe(pending);
  }
  end();
  await clock.advance(0);
  expect([server.sink, environment.pending]).toEqual([null, 0]);
});
