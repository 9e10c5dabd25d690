import { describe, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import {
  type CountedEnvironmentOptions,
  countedEnvironment,
} from '../support/counted-environment.ts';
import { cutLine } from '../support/cut-line.ts';
import { CHANGES, Events, follow, subscribe } from '../support/events.ts';

// The waits for a heartbeat, and for the answer after one that did not come.
const CHECK_MS = 10_000;
const ANSWER_MS = 5_000;
const PLATFORMS: [string, { WebSocket?: null }][] = [
  ['a WebSocket', {}],
  ['an event stream', { WebSocket: null }],
];

const { app, proxy, open } = cutLine();

/** Follows the positions through the proxy, until they are here. */
async function openPhone(options: CountedEnvironmentOptions = {}) {
  const environment = countedEnvironment(options);
  const core = open({ environment });
  const events = await follow(core);
  const last = () => events.results.at(-1)?.data?.positionChanges;
  return { environment, core, events, last, [Symbol.dispose]: () => core.dispose() };
}

describe.each(PLATFORMS)('%s whose address has changed', (_name, platform) => {
  // Nothing that waits for an answer ends by itself.
  const hurry = (ms: number) => (ms >= ANSWER_MS ? 86_400_000 : ms);
  /** The clock on the wall of a device that slept meanwhile; no correction of the real date is taken for less. */
  let asleepMs = 0;
  const now = () => performance.now() + asleepMs;

  test.each([
    ['where the platform says that the network is back', 0, 'online'],
    ['by a return after an overdue heartbeat', 17_000, undefined],
  ] as const)('is replaced at once %s', async (_when, sleptMs, why) => {
    using phone = await openPhone({ ...platform, hurry, now });
    proxy.strand();
    asleepMs += sleptMs;
    phone.environment.comeBack(why);
    expect(phone.events.line).toEqual(['connected', 'disconnected']);
    await eventually(() => expect(phone.events.results.length).toBeGreaterThan(1));
    expect(phone.last()?.snapshot).toBe(false);
    expect(phone.events.line).toEqual(['connected', 'disconnected', 'connected']);
  });

  test('is found dead where nobody says anything', async () => {
    const often = (ms: number) => (ms === CHECK_MS || ms === ANSWER_MS ? 50 : ms);
    // A busy machine needs more than one try for a handshake that is hurried as well.
    using phone = await openPhone({ ...platform, hurry: often, now, random: () => 0 });
    proxy.strand();
    asleepMs += 20_000;
    await eventually(() => expect(phone.events.results.length).toBeGreaterThan(1));
    expect(phone.last()?.snapshot).toBe(false);
  });
});

test('a short look elsewhere keeps the line, which is asked for an answer', async () => {
  using phone = await openPhone();
  const { environment, events } = phone;
  environment.hide();
  expect(environment.pauses.at(-1)).toBe(30_000);
  environment.comeBack();
  expect(environment.pauses.at(-1)).toBe(ANSWER_MS);
  app.sandbox.tick();
  await eventually(() => expect(events.results.length).toBeGreaterThan(1));
  expect(events.line).toEqual(['connected']);
  expect(proxy.accepted).toBe(1);
});

test('a network that flaps replaces the line once, and asks the next one', async () => {
  let upMs = 0;
  using phone = await openPhone({ uptime: () => upMs });
  phone.environment.comeBack('online');
  await eventually(() => expect(phone.events.results.length).toBeGreaterThan(1));
  expect(proxy.accepted).toBe(2);
  upMs = 900;
  phone.environment.comeBack('online');
  expect(phone.environment.pauses.at(-1)).toBe(ANSWER_MS);
  upMs = 1_000;
  phone.environment.comeBack('online');
  await eventually(() => expect(phone.events.results.length).toBeGreaterThan(2));
  expect(proxy.accepted).toBe(3);
});

describe.each(PLATFORMS)('%s of an app that is hidden', (_name, platform) => {
  test('is closed after the time, and goes on from its cursor on return', async () => {
    const environment = countedEnvironment(platform);
    using core = open({ environment, hiddenSeconds: 0.05 });
    const events = new Events();
    const leave = core.subscribe(CHANGES, events.variables, events);
    await eventually(() => events.results.length > 0);
    environment.hide();
    await eventually(() => expect(events.line.at(-1)).toBe('disconnected'));
    if (platform.WebSocket === null) expect(environment.timers.size).toBe(0);
    else await eventually(() => expect(proxy.open).toBe(0));
    const lines = proxy.accepted;
    // What begins meanwhile waits as well.
    const later = subscribe(core);
    expect(environment.timers.size).toBe(0);
    environment.comeBack();
    await eventually(() => events.results.length > 1 && later.results.length > 0);
    expect(events.results.at(-1)?.data?.positionChanges.snapshot).toBe(false);
    if (platform.WebSocket !== null) expect(proxy.accepted).toBe(lines + 1);
    environment.hide();
    await eventually(() => expect(events.line.at(-1)).toBe('disconnected'));
    leave();
    core.dispose();
    expect(environment.pending).toBe(0);
  });
});
