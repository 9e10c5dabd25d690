import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { createScriptedClock } from '../../../test/support/scripted-clock.ts';
import { Audience, type Device, type LiveWorld, startLiveWorld } from './live-world.ts';

let world: LiveWorld;
let device: Device;
let audience: Audience;
/** How much longer the machine has been asleep than its timers say. */
let asleepMs = 0;
const clock = createScriptedClock(Date.now());

beforeEach(async () => {
  asleepMs = 0;
  world = await startLiveWorld();
  device = world.device({
    time: { now: () => clock.now() + asleepMs, uptime: clock.now, after: clock.after },
  });
  audience = new Audience();
  device.positions(audience.listener);
  await clock.advance(0);
  await eventually(() => audience.isLive);
});
afterEach(() => world[Symbol.asyncDispose]());

/** Lets the core's short waits pass until the list is followed again. */
async function recovers(): Promise<void> {
  await eventually(async () => {
    await clock.advance(20);
    return audience.isLive;
  });
  expect(device.core.begun).toBe(1);
}

test('a stalled line is dead after two and a half heartbeats, and is replaced', async () => {
  world.proxy.stall();
  await clock.advance(37_400);
  expect(audience.isLive).toBe(true);
  await clock.advance(200);
  expect(audience.last?.status).toBe('OFFLINE');
  world.proxy.heal();
  await recovers();
  expect(device.core.sent).toHaveLength(2);
  expect(device.core.sent[1]).toMatchObject({ after: expect.any(String) });
});

test('a line over which events come is not, however long it lasts', async () => {
  for (let round = 0; round < 10; round += 1) {
    const { length } = audience.states;
    world.sandbox.tick();
    await eventually(() => audience.states.length > length);
    await clock.advance(30_000);
  }
  expect(device.core.sent).toHaveLength(1);
  expect(world.proxy.accepted).toBe(1);
});

test('who comes back after a sleep gets a new line at once, and after a moment keeps the old one', async () => {
  asleepMs += 10_000;
  device.environment.show();
  expect(audience.isLive).toBe(true);
  asleepMs += 60_000;
  device.environment.show();
  expect(audience.last?.status).toBe('OFFLINE');
  await recovers();
  expect(device.core.sent).toHaveLength(2);
});

test('a machine that sleeps without a word is found out soon after it wakes', async () => {
  asleepMs += 3_600_000;
  await clock.advance(10_000);
  expect(audience.states.some(({ status }) => status === 'OFFLINE')).toBe(true);
  await recovers();
});

test('a clock that is set back does not make a dead line live', async () => {
  asleepMs -= 3_600_000;
  world.proxy.stall();
  await clock.advance(38_000);
  expect(audience.last?.status).toBe('OFFLINE');
  world.proxy.heal();
  await recovers();
});

test('an app that is hidden for five minutes lets go, and goes on from its cursor on return', async () => {
  device.environment.hide();
  // Events come all the while; here their clock is not the test's.
  world.sandbox.tick();
  for (let minute = 0; minute < 4; minute += 1) {
    const { length } = audience.states;
    world.sandbox.tick();
    await eventually(() => audience.states.length > length);
    await clock.advance(30_000);
    world.sandbox.tick();
    await eventually(() => audience.states.length > length + 1);
    await clock.advance(30_000);
  }
  expect(device.core.open).toBe(1);
  await clock.advance(61_000);
  expect(device.core.open).toBe(0);
  expect(audience.last).toMatchObject({ status: 'OFFLINE', positions: { length: 6 } });
  await eventually(() => world.proxy.openLines === 0);
  // Its two listeners alone wait, for days if need be.
  expect(device.environment.pending).toBe(2);
  await clock.advance(86_400_000);
  device.environment.show();
  await eventually(async () => {
    await clock.advance(20);
    return audience.isLive;
  });
  expect(device.core.sent.at(-1)).toMatchObject({ after: expect.any(String) });
});

test('a short look elsewhere changes nothing', async () => {
  device.environment.hide();
  await clock.advance(15_000);
  device.environment.show();
  await clock.advance(15_000);
  expect(device.core.begun).toBe(1);
  expect(audience.states.filter(({ status }) => status === 'OFFLINE')).toHaveLength(1);
});
