import { beforeEach, expect, test } from 'vitest';
import { createPositions } from '../../src/live/positions.ts';
import { Audience } from './live-world.ts';
import { ScriptedServer } from './scripted-server.ts';

let server: ScriptedServer;
let audience: Audience;
const LONGEST_WAIT_MS = 30_000;

beforeEach(async () => {
  server = new ScriptedServer();
  audience = new Audience(createPositions(server.core));
  await server.clock.advance(0);
  server.send(true);
});

test('a token that is refused over an event stream is renewed once, after each event again', async () => {
  for (let begun = 1; begun < 4; begun += 1) {
    expect(server.begun).toBe(begun);
    server.end('UNAUTHENTICATED');
    await server.clock.advance(LONGEST_WAIT_MS);
    server.send(false);
    expect(audience.last).toMatchObject({ status: 'LIVE', error: null });
  }
  server.end('UNAUTHENTICATED');
  await server.clock.advance(LONGEST_WAIT_MS);
  server.end('UNAUTHENTICATED');
  await server.clock.advance(100 * LONGEST_WAIT_MS);
  expect(server.begun).toBe(5);
  expect(audience.last).toMatchObject({ status: 'OFFLINE', error: { code: 'UNAUTHENTICATED' } });
});

test.each(['FORBIDDEN', 'BAD_USER_INPUT', 'SIGNED_OUT'])('%s ends it for good', async (code) => {
  server.giveUp(code);
  await server.clock.advance(100 * LONGEST_WAIT_MS);
  expect(server.begun).toBe(1);
  expect(server.sink).toBeNull();
  expect(audience.last).toMatchObject({ status: 'OFFLINE', error: { code } });
  audience.end();
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
    expect(audience.last).toMatchObject({ status: 'OFFLINE', error: { code } });
    await server.clock.advance(LONGEST_WAIT_MS);
    expect(server.begun).toBe(round + 1);
  }
  server.send(true);
  expect(audience.last).toMatchObject({ status: 'LIVE', error: null });
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
  await server.clock.advance(LONGEST_WAIT_MS);
  expect(server.begun).toBe(2);
  expect(server.variables()).toMatchObject({ after: null });
  server.send(true);
  expect(audience.last).toMatchObject({ status: 'LIVE', error: null });
  expect(server.variables()).toMatchObject({ after: 'v4' });
});

test('the server’s wait is kept, also by one who comes back; without it the return ends the wait', async () => {
  server.end('RATE_LIMITED', { retryable: true, retryAfter: 60 });
  await server.clock.advance(59_000);
  server.environment.comeBack();
  expect(server.begun).toBe(1);
  await server.clock.advance(1_000 + LONGEST_WAIT_MS);
  expect(server.begun).toBe(2);
  for (let round = 0; round < 10; round += 1) {
    server.end('GATEWAY_UNAVAILABLE', { retryable: true });
    server.environment.comeBack();
    expect(server.begun).toBe(round + 3);
  }
});
