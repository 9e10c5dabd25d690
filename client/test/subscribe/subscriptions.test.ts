import { describe, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { countedEnvironment } from '../support/counted-environment.ts';
import { cutLine, withoutStreams } from '../support/cut-line.ts';
import { CHANGES, Events, follow, subscribe } from '../support/events.ts';

const SLOW_HANDSHAKE_MS = 3_000;
// Back-off is hurried; watchdogs, handshakes and requests keep their time.
const HURRIED = (changed = {}) =>
  countedEnvironment({
    hurry: (ms) => (ms < 10_000 && ms !== SLOW_HANDSHAKE_MS ? Math.min(ms, 20) : ms),
    ...changed,
  });

// A subscription ends with an error where no list has come by then.
const { app, proxy, open } = cutLine({ GATEWAY_TIMEOUT_MS: '3000' });

describe.each([
  ['a WebSocket', {}],
  ['an event stream', { WebSocket: null }],
])('over %s', (_name, platform) => {
  test('events come, and nothing is left of it afterwards', async () => {
    using core = open({ environment: HURRIED(platform) });
    const events = new Events();
    const leave = core.subscribe(CHANGES, events.variables, events);
    await eventually(() => events.results.length > 0);
    expect(events.results[0]?.data?.positionChanges).toMatchObject({
      snapshot: true,
      status: 'LIVE',
    });
    app.sandbox.tick();
    await eventually(() => expect(events.results.length).toBeGreaterThan(1));
    expect(events.line).toEqual(['connected']);
    leave();
    leave();
    expect(core.countedEnvironment.pending).toBe(0);
    expect(events.end).toBeUndefined();
  });

  test('a lost line is replaced, with the variables of then, until disposing ends it', async () => {
    using core = open({ environment: HURRIED(platform) });
    const events = await follow(core);
    proxy.cut();
    await eventually(() => expect(events.line).toHaveLength(3));
    expect(events.line).toEqual(['connected', 'disconnected', 'connected']);
    await eventually(() => expect(events.results.length).toBeGreaterThan(1));
    expect(events.results[1]?.data?.positionChanges.snapshot).toBe(false);
    core.dispose();
    // The line is lost before the end.
    expect(events.line.slice(3)).toEqual(['disconnected']);
    expect(events.end).toMatchObject({ code: 'DISPOSED' });
    expect(core.countedEnvironment.pending).toBe(0);
  });

  test('a token that expires is renewed, and the subscription goes on', async () => {
    const asked: boolean[] = [];
    using core = open({
      environment: HURRIED(platform),
      token: ({ force }) => {
        asked.push(force);
        return app.sandbox.token({
          email: 'demo@example.com',
          ...(!force && { expiresInSeconds: 3 }),
        });
      },
    });
    const events = subscribe(core);
    await eventually(() => events.line.length === 3 && events.results.length > 1);
    expect(asked.filter((force) => force)).toHaveLength(1);
    expect(events.results.at(-1)?.data?.positionChanges.snapshot).toBe(false);
    expect(events.results.flatMap(({ errors }) => errors)).toEqual([]);
  });

  test('a token that is refused again ends the subscriptions, and signs out once', async () => {
    let count = 0;
    const signedOut: string[] = [];
    using core = open({
      environment: HURRIED(platform),
      onSignedOut: ({ code }) => void signedOut.push(code),
      token: () => {
        count += 1;
        return `bad${count}`;
      },
    });
    const events = subscribe(core);
    await eventually(() => events.end !== undefined);
    expect(events.end).toMatchObject({ code: 'SIGNED_OUT' });
    expect(count).toBe(2);
    expect(signedOut).toEqual(['SIGNED_OUT']);
    expect(core.countedEnvironment.timers.size).toBe(0);
  });

  test('an error that passes is tried again, one that stays is the end', async () => {
    using core = open({ environment: HURRIED(platform) });
    app.sandbox.fail({ operation: 'getOpenPositions', kind: 'status', status: 500 });
    const events = subscribe(core);
    const wrong = new Events();
    core.subscribe('subscription { nothing }' as typeof CHANGES, wrong.variables, wrong);
    await eventually(() => wrong.end !== undefined);
    expect(wrong.end).toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED' });
    const pauses = core.countedEnvironment.pauses;
    await eventually(() =>
      expect(pauses.filter((ms) => ms < 5_000).length).toBeGreaterThanOrEqual(2),
    );
    app.sandbox.clearFaults();
    await eventually(() => events.results.length > 0);
    expect(events.end).toBeUndefined();
  });
});

describe('the WebSocket', () => {
  test('is one for all subscriptions, and gone with the last', async () => {
    using core = open({ environment: HURRIED() });
    const all = Array.from({ length: 5 }, () => new Events());
    const leaves = all.map((events) => core.subscribe(CHANGES, events.variables, events));
    await eventually(() => all.every(({ results }) => results.length > 0));
    expect(proxy.accepted).toBe(1);
    for (const leave of leaves) leave();
    await eventually(() => expect(proxy.open).toBe(0));
  });

  test('whose handshake hangs is given up', async () => {
    proxy.swallowUpgrades();
    const hurry = (ms: number) => Math.min(ms, 100);
    using core = open({ environment: countedEnvironment({ hurry, fetch: withoutStreams }) });
    const events = subscribe(core);
    await eventually(() => expect(proxy.upgrades).toBeGreaterThanOrEqual(2));
    await proxy.heal();
    await eventually(() => events.results.length > 0);
  });

  test('is opened at once when the page comes back', async () => {
    await proxy.refuse();
    // The pause after the third failure does not end by itself.
    const isLong = (ms: number) => ms > 3_000 && ms < 9_000;
    const hurry = (ms: number) => (isLong(ms) ? 86_400_000 : ms < 3_000 ? 20 : ms);
    const environment = countedEnvironment({ hurry, random: () => 0.999 });
    using core = open({ environment });
    const events = subscribe(core);
    await eventually(() => environment.pauses.some(isLong));
    await proxy.heal();
    environment.comeBack();
    await eventually(() => events.results.length > 0);
  });
});

test('what an app throws is left to the platform, and no burden of the line', async () => {
  const thrown: unknown[] = [];
  using core = open({ environment: HURRIED({ thrown }) });
  const next = () => {
    throw new Error('of the app');
  };
  core.subscribe(CHANGES, () => ({ after: null }), { next, ended() {} });
  const events = await follow(core);
  await eventually(() => thrown.length > 0);
  expect(events.line).toEqual(['connected']);
});

test('back-off begins anew with data, not with the acknowledgement', async () => {
  const environment = countedEnvironment({ hurry: () => 1, random: () => 0.999 });
  using core = open({ environment });
  proxy.cutAfterBytes(400);
  subscribe(core);
  const isPause = (ms: number) => ms % 999 === 0;
  await eventually(
    () =>
      environment.pauses.some((ms) => ms > 29_000 && isPause(ms)) ||
      environment.pauses.filter(isPause).length > 6,
  );
});
