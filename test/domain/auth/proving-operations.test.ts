import { beforeEach, describe, expect, test } from 'vitest';
import {
  OPERATION_NAMES,
  OPERATIONS,
  type OperationName,
} from '../../../src/gateway/operations.ts';
import { OPERATION_CASES } from '../../operations/cases.ts';
import { eventually } from '../../support/eventually.ts';
import { openAccountWorld, PROOF_MS, snapshot } from '../account/account-world.ts';
import { viewerOf } from '../viewer.ts';

const ANONYMOUS_NAMES = OPERATION_NAMES.filter((name) => OPERATION_CASES[name].ask === null);
const VIEWER_NAMES = OPERATION_NAMES.filter((name) => OPERATION_CASES[name].ask !== null);
const demo = viewerOf('demo');

let world: ReturnType<typeof openAccountWorld>;
beforeEach(() => {
  world = openAccountWorld();
});

/** Makes the operation's single call, and answers it. */
async function ask(operation: OperationName, status = 200, body?: unknown): Promise<void> {
  const { gateway, calls, clock } = world;
  const { ask: send, answer } = OPERATION_CASES[operation];
  // The snapshot must belong to the viewer.
  const success = operation === 'getSession' ? snapshot(1) : answer;
  const before = calls.length;
  const done = send?.(gateway, demo).catch((error: unknown) => error);
  await clock.advance(0);
  expect(calls.slice(before).map((call) => call.operation)).toEqual([operation]);
  calls.at(-1)?.answer(body ?? (status === 200 ? success : { message: 'no' }), status);
  await done;
}

test.each([
  ['token', '..', '..', 'UnsafePathError'],
  ['session', 'standard', '..', 'NoGroupError'],
])(
  'a group whose name is unsafe in a path is never sent: from the %s',
  async (_source, claimedGroup, group, name) => {
    const reading = world.gateway.getAllTickers(viewerOf('demo', { claimedGroup }), group, null);
    await expect(reading).rejects.toMatchObject({ name });
    expect(world.calls).toEqual([]);
  },
);

describe('a 200 of', () => {
  test.each(VIEWER_NAMES)(
    '%s proves what its table row states, and renews a lapsed proof if it proves the token',
    async (operation) => {
      const { proves } = OPERATION_CASES[operation];
      const provesToken = proves === 'login' || proves === 'token';
      const { ledger, clock } = world;
      expect(OPERATIONS[operation].proves).toBe(proves);
      await ask(operation);
      expect(ledger.account(demo) !== null, 'a new token').toBe(proves === 'login');
      expect(ledger.isAccepted(demo)).toBe(provesToken);
      expect(ledger.group(demo) !== null).toBe(proves === 'login');
      await ask('getSession');
      await clock.advance(PROOF_MS);
      expect(ledger.account(demo)).toBeNull();
      await ask(operation);
      expect(ledger.account(demo) !== null).toBe(provesToken);
    },
  );

  test.each(ANONYMOUS_NAMES)('%s proves nothing', (operation) => {
    expect(OPERATIONS[operation].isAnonymous).toBe(true);
    const { ledger } = world;
    ledger.answered(demo, operation, ledger.beginCall(), 'standard');
    expect(ledger.isAccepted(demo)).toBe(false);
    expect(ledger.account(demo)).toBeNull();
    expect(ledger.group(demo)).toBeNull();
  });
});

/** A list with a position that has no symbol, so the whole list is refused. */
const BROKEN_ROWS = [{ id: 1 }];
test.each([
  [1001, true],
  [1002, false],
])(
  'a snapshot of the login %s with a broken row fails, but proves the login if it is the viewer’s: %s',
  async (login, isProved) => {
    const { gateway, prover, ledger, calls, clock } = world;
    const read = gateway.getSession(demo);
    calls[0]?.answer(snapshot(1, [], { login, positions: BROKEN_ROWS }));
    await expect(read).rejects.toMatchObject({ kind: 'contract' });
    expect(ledger.account(demo) !== null).toBe(isProved);
    await clock.advance(PROOF_MS);
    // The prover judges the broken snapshot in the same way.
    const proofs = [prover.account(demo), prover.group(demo)];
    const proved = Promise.allSettled<unknown>(proofs);
    await eventually(() => expect(calls).toHaveLength(2));
    calls[1]?.answer(snapshot(1, [], { login, positions: BROKEN_ROWS }));
    const status = isProved ? 'fulfilled' : 'rejected';
    expect(await proved).toMatchObject([{ status }, { status }]);
  },
);

test.each(VIEWER_NAMES)('a 401 of %s ends the token’s proof at once', async (operation) => {
  await ask('getSession');
  expect(world.ledger.account(demo)).not.toBeNull();
  await ask(operation, 401);
  expect(world.ledger.account(demo)).toBeNull();
  expect(world.ledger.group(demo)).toBeNull();
  expect(world.ledger.isAccepted(demo)).toBe(false);
});

test('the group’s catalog is closed by a 403 of op 1, and by no other failure', async () => {
  const { ledger } = world;
  await ask('getOpenPositions');
  await ask('getAllTickers');
  for (const status of [429, 500]) await ask('getAllTickers', status);
  expect(ledger.group(demo)).not.toBeNull();
  await ask('getAllTickers', 403);
  expect(ledger.group(demo)).toBeNull();
});
