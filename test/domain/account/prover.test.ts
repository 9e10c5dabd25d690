import { describe, expect, test } from 'vitest';
import { customerIdRead, withdrawalMethodsRead } from '../../../src/gateway/wire/payments.ts';
import { viewerOf } from '../viewer.ts';
import { openAccountWorld, PROOF_MS, snapshot } from './account-world.ts';

const demo = viewerOf('demo');

/** A world in which the token of `asking` was proved, and its proof has lapsed. */
async function openLapsedWorld() {
  const world = openAccountWorld();
  const asking = { ...demo, provingReads: new Set<Promise<void>>() };
  const proved = world.prover.account(asking);
  await world.clock.advance(0);
  world.calls[0]?.answer(snapshot(1));
  await proved;
  await world.clock.advance(PROOF_MS);
  return { ...world, asking };
}

describe('an account’s proof', () => {
  test('costs one call, shared by a single flight', async () => {
    const { prover, calls, clock } = openAccountWorld();
    const asked = Promise.all([prover.account(demo), prover.account(demo)]);
    await clock.advance(0);
    expect(calls).toHaveLength(1);
    calls[0]?.answer(snapshot(1));
    expect((await asked).map(({ login }) => login)).toEqual(['1001', '1001']);
    await prover.account(demo);
    expect(calls).toHaveLength(1);
  });

  test('that has lapsed is renewed by a read of the same request at no further cost', async () => {
    const { asking, prover, gateway, calls, clock } = await openLapsedWorld();
    const again = prover.account(asking);
    const [failing, succeeding] = [
      gateway.read(asking, withdrawalMethodsRead).catch(() => null),
      gateway.read(asking, customerIdRead),
    ];
    await clock.advance(0);
    calls[1]?.answer({}, 500);
    await failing;
    await clock.advance(0);
    expect(calls.map(({ operation }) => operation)).toEqual([
      'getSession',
      'getWithdrawalMethods',
      'getCustomerId',
    ]);
    calls[2]?.answer({ customerId: 'c1' });
    await succeeding;
    expect((await again).login).toBe('1001');
    expect(calls).toHaveLength(3);
    expect(asking.provingReads.size).toBe(0);
  });

  test('that has lapsed is renewed by the snapshot in flight, whatever other read hangs', async () => {
    const { asking, prover, gateway, sessions, calls, clock } = await openLapsedWorld();
    void gateway.read(asking, customerIdRead);
    const read = sessions.read(asking);
    const again = prover.account(asking);
    await clock.advance(0);
    calls.at(-1)?.answer(snapshot(2));
    await read;
    expect((await again).login).toBe('1001');
    expect(calls.filter(({ operation }) => operation === 'getSession')).toHaveLength(2);
  });

  test.each([
    ['and refused by it as well', { message: 'no' }, 401],
    ['which accepts it again', snapshot(1), 200],
  ])(
    'that a 401 undid meanwhile is decided by one call sent after it, %s',
    async (_, body, status) => {
      const { prover, calls, ledger, clock } = openAccountWorld();
      const asked = prover.account(demo);
      await clock.advance(0);
      ledger.refused(demo);
      calls[0]?.answer(snapshot(1));
      await clock.advance(0);
      expect(calls).toHaveLength(2);
      calls[1]?.answer(body, status);
      if (status === 200) expect((await asked).login).toBe('1001');
      else await expect(asked).rejects.toMatchObject({ kind: 'unauthenticated' });
    },
  );
});

test('a group’s proof that has lapsed is renewed by a snapshot alone, which the request’s own read shares', async () => {
  const { asking, prover, sessions, calls, clock } = await openLapsedWorld();
  const again = prover.group(asking);
  const read = sessions.read(asking, { maxAgeMs: 0 });
  await clock.advance(0);
  calls[1]?.answer({ ...snapshot(2), group: 'vip' });
  await read;
  expect((await again)?.group).toBe('vip');
  expect(calls).toHaveLength(2);
});
