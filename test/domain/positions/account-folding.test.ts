import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { GatewayErrorKind } from '../../../src/gateway/errors.ts';
import { inFull } from '../../support/in-full.ts';
import { AccountReader } from './account-reader.ts';
import { AccountWorld } from './account-world.ts';
import { createLiveBench, LOGIN } from './live-bench.ts';
import { gatewayError } from './scripted-gateway.ts';

const READERS = 3;
const HISTORIES = inFull(1_000, 60);
const POLL_MS = 1_000;

const at = fc.nat(9);
const reader = fc.integer({ min: 0, max: READERS - 1 });
const intervalMs = fc.constantFrom(null, 1, 700, 5_000);
const kind = fc.constantFrom<GatewayErrorKind>(
  'unavailable',
  'timeout',
  'contract',
  'rate-limited',
);

const step = <Fields extends Record<string, fc.Arbitrary<unknown>>>(
  name: string,
  fields: Fields = {} as Fields,
) => fc.record({ do: fc.constant(name), ...fields });

const change = fc.oneof(
  step('place'),
  step('placeHere'),
  step('trigger', { at }),
  step('cancel', { at }),
  step('close', { at }),
  step('closePartly', { at }),
  step('move', { at, price: fc.nat(9) }),
);
const use = fc.oneof(
  { weight: 4, arbitrary: step('wait', { ms: fc.nat(4_000) }) },
  { weight: 3, arbitrary: step('pull', { reader, intervalMs }) },
  { weight: 1, arbitrary: step('leave', { reader, replica: fc.nat(1) }) },
);
const trouble = fc.oneof(
  step('fail', { kind, isSession: fc.boolean() }),
  step('heal'),
  step('lag', { ms: fc.nat(3_000), isSession: fc.boolean() }),
);

/** Every field that any step may have. */
interface Step {
  readonly do: string;
  readonly at: number;
  readonly price: number;
  readonly ms: number;
  readonly reader: number;
  readonly replica: number;
  readonly intervalMs: number | null;
  readonly kind: GatewayErrorKind;
  readonly isSession: boolean;
}

const calm = fc.array(fc.oneof(change, use, use), { minLength: 20, maxLength: 120 });
const troubled = fc.array(fc.oneof(change, use, use, trouble), { minLength: 20, maxLength: 120 });

async function replay(steps: readonly Step[], seed: number, latencyMs: number) {
  const first = createLiveBench({ seed, lingerMs: 6_000, pollMaxMs: 8_000, pollMs: POLL_MS });
  const replicas = [first, createLiveBench({ seed: seed + 1, pollMs: POLL_MS, beside: first })];
  const { clock, gateway } = first;
  const world = new AccountWorld(gateway);
  const names = Array.from({ length: READERS }, (_, each) => `${each}`);
  const readers = names.map((name) => new AccountReader(replicas, world, name));
  const disagreements: string[] = [];
  gateway.latencyMs = latencyMs;
  gateway.sessionLatencyMs = latencyMs;
  const moves: Record<string, (step: Step) => void> = {
    place: () => world.place(),
    placeHere: () => {
      world.place();
      for (const { hub } of replicas) hub.accountChanged(LOGIN);
    },
    trigger: ({ at }) => world.trigger(at),
    cancel: ({ at }) => world.cancel(at),
    close: ({ at }) => world.close(at),
    closePartly: ({ at }) => world.closePartly(at),
    move: ({ at, price }) => world.move(at, price),
    wait: () => {},
    pull: ({ reader, intervalMs }) => readers[reader]?.pull(intervalMs),
    leave: ({ reader, replica }) => readers[reader]?.disconnect(replica),
    fail: ({ kind, isSession }) => {
      gateway[isSession ? 'sessionFault' : 'fault'] = () => gatewayError(kind);
    },
    heal: () => {
      gateway.heal();
      gateway.sessionFault = () => null;
    },
    lag: ({ ms, isSession }) => {
      gateway[isSession ? 'sessionLatencyMs' : 'latencyMs'] = ms;
    },
  };
  for (const each of steps) {
    moves[each.do]?.(each);
    await clock.advance(each.do === 'wait' ? each.ms : 0);
    disagreements.push(...readers.flatMap((one) => one.disagreements()));
  }
  moves.heal?.({} as Step);
  gateway.latencyMs = 0;
  gateway.sessionLatencyMs = 0;
  // What no list of positions shows is read again when the snapshot is too old.
  for (let second = 0; second < 75; second += 1) {
    for (const one of readers) one.pull(null);
    await clock.advance(1_000);
  }
  for (const one of readers) {
    expect(one.problems).toEqual([]);
    expect(one.isUpToDate).toBe(true);
    expect(one.disagreements()).toEqual([]);
    one.disconnect();
  }
  await clock.advance(15_000);
  for (const { hub } of replicas) {
    expect(hub.stats()).toMatchObject({ feeds: 0, lingering: 0, subscriptions: 0 });
  }
  expect(clock.pending).toBe(0);
  return { readers, disagreements };
}

test('where op 10 answers in time, no client ever sees an order beside its position, or neither', async () => {
  const seen = { events: 0, resumed: 0 };
  await fc.assert(
    fc.asyncProperty(calm, fc.nat(1_000), fc.nat(300), async (steps, seed, latencyMs) => {
      const { readers, disagreements } = await replay(steps as unknown as Step[], seed, latencyMs);
      expect(disagreements).toEqual([]);
      for (const { events, resumed } of readers) {
        seen.events += events;
        seen.resumed += resumed;
      }
    }),
    { numRuns: HISTORIES },
  );
  // With fewer events the histories would be too quiet to prove anything.
  expect(seen.events).toBeGreaterThan(10 * HISTORIES);
  expect(seen.resumed).toBeGreaterThan(5 * HISTORIES);
}, 3_600_000);

test('after any trouble of either operation every client ends with what the gateway has', async () => {
  await fc.assert(
    fc.asyncProperty(troubled, fc.nat(1_000), async (steps, seed) => {
      await replay(steps as unknown as Step[], seed, 0);
    }),
    { numRuns: HISTORIES },
  );
}, 3_600_000);
