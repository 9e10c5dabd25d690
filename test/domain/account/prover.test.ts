import { describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../../src/gateway/operations.ts';
import { ACCOUNT } from '../../../src/lib/account.ts';
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
  test('that has lapsed is renewed by the snapshot in flight, even if another read hangs', async () => {
    const { prover, gateway, sessions, calls, clock } = await openLapsedWorld();
    const plannedProofs = () => [gateway.read(demo, OPERATIONS.getCustomerId)];
    const read = sessions.read(demo);
    const renewed = prover.account(
      viewerBut(demo, { own: { plannedSession: () => null, plannedProofs } }),
    );
    await clock.advance(0);
    calls.at(-1)?.answer(snapshot(2));
    await read;
    expect((await renewed)[ACCOUNT]).toBe('1001');
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

describe('a snapshot that the request’s document reads anyway', () => {
  /** Begins a proof for a viewer whose document reads the snapshot. The snapshot is `calls[1]`. */
  async function beginProof(kind: 'account' | 'group') {
    const world = await openLapsedWorld();
    const plannedSession = () => Promise.resolve(world.sessions.read(demo, { maxAgeMs: 60_000 }));
    const viewer = viewerBut(demo, { own: { plannedSession, plannedProofs: () => [] } });
    const proof = world.prover[kind](viewer);
    await world.clock.advance(0);
    return { ...world, viewer, proof };
  }

  test.each(['account', 'group'] as const)(
    'is not read again for the proof of the %s, even if it fails',
    async (kind) => {
      const { proof, calls } = await beginProof(kind);
      calls[1]?.answer(snapshot(2, [], { group: 'vip' }));
      expect(await proof).toMatchObject(
        kind === 'group' ? { group: 'vip' } : { [ACCOUNT]: '1001' },
      );
      expect(calls).toHaveLength(2);
      const failing = await beginProof(kind);
      failing.calls[1]?.answer({}, 500);
      await expect(failing.proof).rejects.toMatchObject({ kind: 'unavailable' });
      expect(failing.calls).toHaveLength(2);
    },
  );

  test('proves no group if it names no group, or is older than a 403 for its group', async () => {
    const groupless = await beginProof('group');
    groupless.calls[1]?.answer(snapshot(2, [], { group: undefined }));
    // Op 1 has to confirm the group that the token claims.
    await eventually(() => expect(groupless.calls).toHaveLength(3));
    expect(groupless.calls[2]?.operation).toBe('getAllTickers');
    groupless.calls[2]?.answer({}, 403);
    await expect(groupless.proof).rejects.toMatchObject({ kind: 'forbidden' });
    const { proof, viewer, calls, clock, ledger, prover } = await beginProof('group');
    calls[1]?.answer(snapshot(2, [], { group: 'vip' }));
    await proof;
    ledger.forbidden(demo, 'vip');
    // The snapshot of `vip` no longer counts, so the snapshot is read again.
    const next = prover.group(viewer);
    await clock.advance(0);
    calls[2]?.answer(snapshot(3, [], { group: 'moved' }));
    expect((await next)?.group).toBe('moved');
  });
});
