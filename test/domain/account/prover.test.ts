import { describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../../src/gateway/operations.ts';
import { eventually } from '../../support/eventually.ts';
import { viewerBut, viewerOf } from '../viewer.ts';
import { openAccountWorld, PROOF_MS, snapshot } from './account-world.ts';

const demo = viewerOf('demo');

/** A world in which the proof of `demo`'s token has lapsed. */
async function openLapsedWorld() {
  const world = openAccountWorld();
  const proved = world.prover.account(demo);
  await world.clock.advance(0);
  world.calls[0]?.answer(snapshot(1));
  await proved;
  await world.clock.advance(PROOF_MS);
  return world;
}

describe('an account’s proof', () => {
  test('that has lapsed is renewed by a read of the same request, without another call', async () => {
    const { prover, gateway, calls, clock } = await openLapsedWorld();
    const plannedProofs = () => [
      gateway.read(demo, OPERATIONS.getWithdrawalMethods),
      gateway.read(demo, OPERATIONS.getCustomerId),
    ];
    const again = prover.account(
      viewerBut(demo, { own: { plannedSession: () => null, plannedProofs } }),
    );
    await clock.advance(0);
    calls[1]?.answer({}, 500);
    await clock.advance(0);
    expect(calls.map(({ operation }) => operation)).toEqual([
      'getSession',
      'getWithdrawalMethods',
      'getCustomerId',
    ]);
    calls[2]?.answer({ customerId: 'c1' });
    expect((await again).account).toBe('1001');
    expect(calls).toHaveLength(3);
  });

  test('that has lapsed is renewed by the snapshot in flight, even if another read hangs', async () => {
    const { prover, gateway, sessions, calls, clock } = await openLapsedWorld();
    const plannedProofs = () => [gateway.read(demo, OPERATIONS.getCustomerId)];
    const read = sessions.read(demo);
    const again = prover.account(
      viewerBut(demo, { own: { plannedSession: () => null, plannedProofs } }),
    );
    await clock.advance(0);
    calls.at(-1)?.answer(snapshot(2));
    await read;
    expect((await again).account).toBe('1001');
    expect(calls.map(({ operation }) => operation)).toEqual(['getSession', 'getSession']);
  });

  test('is refused if a 401 of another call has ended it', async () => {
    const { prover, calls, ledger, clock } = openAccountWorld();
    const asked = prover.account(demo);
    await clock.advance(0);
    ledger.refused(demo);
    calls[0]?.answer(snapshot(1));
    await expect(asked).rejects.toMatchObject({ kind: 'unauthenticated' });
    expect(calls).toHaveLength(1);
  });
});

describe('the snapshot that the document reads anyway', () => {
  async function openOwn(proof: 'account' | 'group') {
    const world = await openLapsedWorld();
    const plannedSession = () => Promise.resolve(world.sessions.read(demo, { maxAgeMs: 60_000 }));
    const asking = viewerBut(demo, { own: { plannedSession, plannedProofs: () => [] } });
    const asked = world.prover[proof](asking);
    await world.clock.advance(0);
    return { ...world, asking, asked };
  }

  test.each(['account', 'group'] as const)(
    'is not read again for the proof of the %s, even if it fails',
    async (proof) => {
      const { asked, calls } = await openOwn(proof);
      calls[1]?.answer({ ...snapshot(2), group: 'vip' });
      expect(await asked).toMatchObject(proof === 'group' ? { group: 'vip' } : { account: '1001' });
      const failing = await openOwn(proof);
      failing.calls[1]?.answer({}, 500);
      await expect(failing.asked).rejects.toMatchObject({ kind: 'unavailable' });
      for (const world of [{ calls }, failing]) expect(world.calls).toHaveLength(2);
    },
  );

  test('proves no group if it names none, or is older than a 403 for the group', async () => {
    const none = await openOwn('group');
    none.calls[1]?.answer({ ...snapshot(2), group: undefined });
    // Op 1 has to confirm the group that the token claims.
    await eventually(() => expect(none.calls).toHaveLength(3));
    expect(none.calls[2]?.operation).toBe('getAllTickers');
    none.calls[2]?.answer({}, 403);
    await expect(none.asked).rejects.toMatchObject({ kind: 'forbidden' });
    const { asked, asking, calls, clock, ledger, prover } = await openOwn('group');
    calls[1]?.answer({ ...snapshot(2), group: 'vip' });
    await asked;
    ledger.forbidden(demo, 'vip');
    const again = prover.group(asking);
    await clock.advance(0);
    calls[2]?.answer({ ...snapshot(3), group: 'moved' });
    expect((await again)?.group).toBe('moved');
  });
});
