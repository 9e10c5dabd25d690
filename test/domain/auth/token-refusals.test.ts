import { expect, test } from 'vitest';
import { TokenRefusals } from '../../../src/domain/auth/token-refusals.ts';
import type { Viewer } from '../../../src/domain/auth/viewer.ts';
import { createLog } from '../../../src/lib/log.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

function open() {
  const clock = createScriptedClock(0);
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const refusals = new TokenRefusals({
    clock,
    gatewayNow: () => clock.now(),
    log: createLog({ level: 'info', format: 'json', destination }),
    known: { isNew: () => false },
    onRefused() {},
  });
  return {
    clock,
    refusals,
    refuse: (login: number, wasAccepted = true) =>
      refusals.refused('getSession', viewer(login), wasAccepted),
    accept: (login: number) => refusals.accepted('getSession', String(login)),
    taken: () => lines.splice(0).map(({ level, time, ...line }) => line),
  };
}

function viewer(login: number): Viewer {
  return {
    caller: { token: null },
    tokenHash: String(login),
    login: String(login),
    claimedGroup: null,
    expiresAtMs: null,
  };
}

test('a fault begins with the fifth account, where they are more than half, and is told once', () => {
  const { refuse, accept, taken, refusals } = open();
  for (let login = 101; login <= 105; login += 1) accept(login);
  for (let login = 1; login <= 5; login += 1) refuse(login);
  expect(refusals.degradedReason()).toBeNull();
  expect(refusals.isRefusing('getSession')).toBe(false);
  refuse(6);
  refuse(7);
  expect(taken()).toEqual([
    { operation: 'getSession', accounts: 11, refused: 6, msg: 'known tokens are refused' },
  ]);
  expect(refusals.degradedReason()).toBe(
    'known tokens are refused by getSession: 6 of 11 accounts',
  );
  expect(refusals.isRefusing('getSession')).toBe(true);
  expect(refusals.isRefusing('getOpenPositions')).toBe(false);
});

test('refusals of five minutes do not add up', async () => {
  const { clock, refuse, refusals } = open();
  for (let login = 1; login <= 20; login += 1) {
    refuse(login);
    await clock.advance(16_000);
  }
  expect(refusals.degradedReason()).toBeNull();
});

test('accounts that were accepted earlier than a minute ago no longer count', async () => {
  const { clock, refuse, accept, refusals } = open();
  for (let login = 101; login <= 200; login += 1) accept(login);
  await clock.advance(62_000);
  for (let login = 1; login <= 5; login += 1) refuse(login);
  expect(refusals.degradedReason()).not.toBeNull();
});

test('a refusal counts for a whole minute, and not a second longer', async () => {
  const { clock, refuse, refusals } = open();
  for (let login = 1; login <= 5; login += 1) refuse(login);
  await clock.advance(60_000);
  expect(refusals.isRefusing('getSession')).toBe(true);
  await clock.advance(1_000);
  expect(refusals.isRefusing('getSession')).toBe(false);
});

test('it lasts while those that it hit go on being refused, though their tokens are proved no more', async () => {
  const { clock, refuse, accept, refusals, taken } = open();
  for (let login = 1; login <= 6; login += 1) refuse(login);
  for (let second = 0; second < 180; second += 1) {
    refuse(1 + (second % 6), false);
    accept(101 + (second % 4));
    await clock.advance(1_000);
  }
  expect(refusals.degradedReason()).toBe(
    'known tokens are refused by getSession: 6 of 10 accounts',
  );
  taken();
  // One of them may call again.
  for (let login = 1; login <= 3; login += 1) accept(login);
  await clock.advance(1_000);
  expect(refusals.degradedReason()).toBeNull();
  expect(taken()).toEqual([
    { operation: 'getSession', seconds: 181, msg: 'known tokens are refused no more' },
  ]);
});

test('strangers neither begin it nor keep it going', async () => {
  const { clock, refuse, refusals } = open();
  for (let login = 1; login <= 5; login += 1) refuse(login, false);
  expect(refusals.degradedReason()).toBeNull();
  for (let login = 1; login <= 5; login += 1) refuse(login);
  for (let second = 0; second < 62; second += 1) {
    refuse(1_000 + second, false);
    await clock.advance(1_000);
  }
  expect(refusals.degradedReason()).toBeNull();
});

test('the memory is the same whatever comes', () => {
  const { refuse, accept, refusals } = open();
  accept(1);
  const { byteSize } = refusals;
  for (let login = 1; login <= 20_000; login += 1) {
    accept(login);
    refuse(login, false);
  }
  expect(refusals.byteSize).toBe(byteSize);
  expect(byteSize).toBeLessThan(20_000);
});

test('thousands of accounts are sampled: a third of them is no fault, two thirds are', () => {
  const { refuse, accept, refusals } = open();
  for (let login = 700_001; login <= 720_000; login += 1) {
    if (login % 3 === 0) refuse(login);
    else accept(login);
  }
  expect(refusals.degradedReason()).toBeNull();
  for (let login = 700_001; login <= 720_000; login += 1) {
    if (login % 3 === 0) accept(login);
    else refuse(login);
  }
  expect(refusals.degradedReason()).not.toBeNull();
});
