import { beforeEach, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { createPositions } from '../../src/live/positions.ts';
import { Audience, startLiveWorld } from './live-world.ts';
import { ROWS, ScriptedServer } from './scripted-server.ts';

let server: ScriptedServer;
let audience: Audience;
let end: () => void;
const RESUMED = { after: expect.stringMatching(/^v\d+$/) };

beforeEach(async () => {
  server = new ScriptedServer();
  audience = new Audience();
  end = createPositions(server.core)(audience.listener);
  await server.clock.advance(0);
  server.send(true);
});

test('a line is dead after two and a half heartbeats without one, and is replaced', async () => {
  await server.clock.advance(37_400);
  expect(audience.isLive).toBe(true);
  expect(server.reconnects).toBe(0);
  await server.clock.advance(200);
  expect(audience.last).toMatchObject({ status: 'OFFLINE', positions: { length: ROWS } });
  expect(server.reconnects).toBe(1);
  expect(server.variables()).toMatchObject(RESUMED);
  server.send(false);
  expect(audience.isLive).toBe(true);
  expect(server.begun).toBe(1);
});

test('a line over which events come is not, however long it lasts', async () => {
  for (let round = 0; round < 100; round += 1) {
    await server.clock.advance(30_000);
    server.send(false);
  }
  expect(server.reconnects).toBe(0);
});

test('a line that is lost is left to the core, which tries again by itself', async () => {
  server.sink?.disconnected?.(null);
  await server.clock.advance(3_600_000);
  expect(server.reconnects).toBe(0);
  server.sink?.connected?.();
  await server.clock.advance(37_600);
  expect(server.reconnects).toBe(1);
});

test('the return from a sleep replaces the line at once, the return after a moment keeps it', () => {
  server.asleepMs += 10_000;
  server.environment.show();
  expect(server.reconnects).toBe(0);
  server.asleepMs += 60_000;
  server.environment.show();
  expect(server.reconnects).toBe(1);
  expect(audience.last?.status).toBe('OFFLINE');
});

test('a sleep that nobody reports is found out soon after it', async () => {
  server.asleepMs += 3_600_000;
  await server.clock.advance(10_000);
  expect(server.reconnects).toBe(1);
});

test('a clock that is set back does not make a dead line live', async () => {
  server.asleepMs -= 3_600_000;
  await server.clock.advance(38_000);
  expect(server.reconnects).toBe(1);
});

test('an app that is hidden for five minutes lets go, and goes on from its cursor on return', async () => {
  server.environment.hide();
  for (let second = 0; second < 290; second += 10) {
    await server.clock.advance(10_000);
    server.send(false);
  }
  expect(server.sink).not.toBeNull();
  await server.clock.advance(11_000);
  expect(server.sink).toBeNull();
  expect(audience.last).toMatchObject({ status: 'OFFLINE', positions: { length: ROWS } });
  // Its two listeners alone wait, for days if need be.
  expect(server.environment.pending).toBe(2);
  await server.clock.advance(86_400_000);
  expect(server.begun).toBe(1);
  server.environment.show();
  expect(server.begun).toBe(2);
  expect(server.variables()).toMatchObject(RESUMED);
  end();
  await server.clock.advance(0);
  expect(server.environment.pending).toBe(0);
});

test('a short look elsewhere changes nothing', async () => {
  server.environment.hide();
  await server.clock.advance(15_000);
  server.environment.show();
  await server.clock.advance(15_000);
  expect(server.begun).toBe(1);
  expect(server.reconnects).toBe(0);
});

test('a real line that stalls is replaced on return, and the list goes on from its cursor', async () => {
  await using world = await startLiveWorld();
  let asleepMs = 0;
  const { positions, environment, core } = world.device({
    time: {
      now: () => Date.now() + asleepMs,
      uptime: () => performance.now(),
      after(ms, task) {
        const timer = setTimeout(task, ms);
        return () => clearTimeout(timer);
      },
    },
  });
  const live = new Audience();
  positions(live.listener);
  await eventually(() => live.isLive);
  world.proxy.stall();
  world.sandbox.tick();
  asleepMs = 60_000;
  environment.show();
  expect(live.last?.status).toBe('OFFLINE');
  const shown = live.last?.positions;
  world.proxy.heal();
  await eventually(() => live.isLive && live.last?.positions !== shown);
  expect(core.begun).toBe(1);
  expect(core.sent).toHaveLength(2);
  expect(core.sent[1]).toMatchObject({ after: expect.any(String) });
});
