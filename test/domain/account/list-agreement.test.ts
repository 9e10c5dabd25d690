import { expect, test } from 'vitest';
import { createListAgreement } from '../../../src/domain/account/list-agreement.ts';
import type { PositionsAnswer, SessionAnswer } from '../../../src/gateway/answers.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { viewerOf } from '../viewer.ts';

const FIVE_MINUTES_MS = 5 * 60_000;

/** Reads by their letters: `s` and `p` for op 10 and op 12 with a position, `S` and `P` for empty ones, `-` for no list. */
function stage() {
  const clock = createScriptedClock();
  const agreement = createListAgreement(clock);
  let logicalTime = 0;
  const read = (letter: string, viewer = viewerOf('token-1'), at = ++logicalTime) => {
    const ids = letter === letter.toUpperCase() ? [] : ['p-1'];
    const sent = { logicalTime: at, sentAtMs: 0, receivedAtMs: 0 };
    const positions = letter === '-' ? null : { ids };
    if (letter.toLowerCase() === 'p') {
      agreement.positionsAnswered(viewer, {
        ...sent,
        positions: ids,
      } as unknown as PositionsAnswer);
    } else {
      agreement.snapshotAnswered(viewer, { ...sent, session: { positions } } as SessionAnswer);
    }
  };
  return { clock, agreement, read };
}

test.each([
  // What op 12 lists and op 10 does not yet is no empty portfolio.
  ['SpSp', { agree: 1, differ: 0 }],
  // A position that was closed, or opened, in between.
  ['sPPP', { agree: 1, differ: 0 }],
  ['sPs', { agree: 0, differ: 1 }],
  ['PsP', { agree: 0, differ: 1 }],
  ['PsP-PPs', { agree: 0, differ: 1 }],
  ['PsPp', { agree: 1, differ: 0 }],
  ['PsPS', { agree: 1, differ: 0 }],
])('after the reads %s the accounts are %o', (reads, counts) => {
  const { agreement, read } = stage();
  for (const letter of reads) read(letter);
  expect(agreement.counts()).toEqual(counts);
});

test('accounts are counted each by itself, until nobody has read them for five minutes', async () => {
  const { clock, agreement, read } = stage();
  const other = viewerOf('token-2', { login: '2002' });
  for (const letter of 'PsP') read(letter);
  for (const letter of 'sp') read(letter, other);
  // What was sent earlier counts for nothing behind a newer one.
  read('p', viewerOf('token-1'), 2);
  expect(agreement.counts()).toEqual({ agree: 1, differ: 1 });
  await clock.advance(FIVE_MINUTES_MS);
  read('p', other);
  expect(agreement.counts()).toEqual({ agree: 1, differ: 1 });
  await clock.advance(1);
  expect(agreement.counts()).toEqual({ agree: 1, differ: 0 });
});
