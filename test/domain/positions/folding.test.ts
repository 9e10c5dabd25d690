import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { GatewayErrorKind } from '../../../src/gateway/errors.ts';
import type { Position } from '../../../src/gateway/model.ts';
import { createLiveBench, LOGIN } from './live-bench.ts';
import { gatewayError, position } from './scripted-gateway.ts';
import { SlowReader } from './slow-reader.ts';

const READERS = 3;
const id = fc.integer({ min: 0, max: 6 }).map(String);
const reader = fc.integer({ min: 0, max: READERS - 1 });
const kind = fc.constantFrom<GatewayErrorKind>(
  'unavailable',
  'timeout',
  'contract',
  'rate-limited',
  'forbidden',
  'unauthenticated',
);
const intervalMs = fc.constantFrom(null, 1, 700, 5_000);

const move = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('put' as const), id, price: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('close' as const), id }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('turn' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('fail' as const),
      kind,
      retryAfterSeconds: fc.nat(5),
      onlyReader: fc.option(reader),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('heal' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lag' as const), ms: fc.nat(3_000) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(4_000) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('pull' as const), reader, intervalMs }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('leave' as const), reader }) },
);

test('applying a reader’s events gives the gateway’s list at every step', async () => {
  let events = 0;
  let resumed = 0;
  const history = fc.array(move, { minLength: 20, maxLength: 120 });
  await fc.assert(
    fc.asyncProperty(history, fc.nat(1_000), async (moves, seed) => {
      const bench = createLiveBench({ seed, lingerMs: 6_000, pollMaxMs: 8_000 });
      const { clock, gateway } = bench;
      const readers = Array.from(
        { length: READERS },
        (_, each) => new SlowReader(bench, `${each}`),
      );
      let list: readonly Position[] = [];
      for (const step of moves) {
        if (step.do === 'put') {
          const row = position(step.id, { priceCurrent: step.price });
          const isOpen = list.some((each) => each.id === step.id);
          list = isOpen ? list.map((each) => (each.id === step.id ? row : each)) : [...list, row];
        } else if (step.do === 'close') list = list.filter((each) => each.id !== step.id);
        else if (step.do === 'turn') list = list.toReversed();
        else if (step.do === 'fail') {
          const error = gatewayError(step.kind, step.retryAfterSeconds);
          const only = step.onlyReader === null ? null : readers[step.onlyReader];
          gateway.fault = ({ caller }) =>
            !only || caller.token === `token of ${only.token}` ? error : null;
        } else if (step.do === 'heal') gateway.heal();
        else if (step.do === 'lag') gateway.latencyMs = step.ms;
        else if (step.do === 'pull') readers[step.reader]?.pull(step.intervalMs);
        else if (step.do === 'leave') readers[step.reader]?.disconnect();
        gateway.set(LOGIN, list);
        await clock.advance(step.do === 'wait' ? step.ms : 0);
      }
      gateway.heal();
      gateway.latencyMs = 0;
      for (let round = 0; round < 30; round += 1) {
        for (const each of readers) each.pull(null);
        await clock.advance(1_000);
      }
      for (const each of readers) {
        expect(each.problems).toEqual([]);
        expect(each.holds(list)).toBe(true);
        events += each.events;
        resumed += each.resumed;
        each.disconnect();
      }
      await clock.advance(10_000);
      expect(bench.hub.stats()).toMatchObject({ feeds: 0, lingering: 0, subscriptions: 0 });
      expect(clock.pending).toBe(0);
    }),
    { numRuns: 150 },
  );
  // With fewer events the histories would be too quiet to prove anything.
  expect(events).toBeGreaterThan(2_000);
  expect(resumed).toBeGreaterThan(1_000);
}, 600_000);
