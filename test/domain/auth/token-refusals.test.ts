import { expect, test } from 'vitest';
import { createTokenRefusals } from '../../../src/domain/auth/token-refusals.ts';
import { loginNamed } from '../../support/accounts.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { viewerOf } from '../viewer.ts';

function open() {
  const clock = createScriptedClock(0);
  const refusals = createTokenRefusals(clock, () => clock.now(), { isNew: () => false });
  return {
    clock,
    refusals,
    refuse: (login: number, wasAccepted = true) =>
      refusals.refused('getSession', viewerOf('', { login: `${login}` }), wasAccepted),
    accept: (login: number) => refusals.accepted('getSession', loginNamed(`${login}`)),
    counted: () => refusals.accounts('getSession'),
  };
}

test('a call counts for a whole minute, and not a second longer', async () => {
  const { clock, refuse, accept, counted } = open();
  refuse(1);
  accept(2);
  await clock.advance(60_000);
  expect(counted()).toEqual({ accepted: 1, refused: 1 });
  await clock.advance(1_000);
  expect(counted()).toEqual({ accepted: 0, refused: 0 });
});

test('a token that had ended by the gateway’s clock says nothing, and neither does one that nobody knows', () => {
  const { refusals, refuse, counted } = open();
  for (const [login, expiresAtMs] of [0, 1, null].entries()) {
    refusals.refused('getSession', viewerOf('', { login: `${login}`, expiresAtMs }), true);
  }
  refuse(3, false);
  expect(counted()).toEqual({ accepted: 0, refused: 2 });
});
