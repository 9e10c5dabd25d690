import { expect, test } from 'vitest';
import { createListAgreement } from '../../../src/domain/account/list-agreement.ts';
import type { PositionsAnswer, SessionAnswer } from '../../../src/gateway/answers.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { viewerOf } from '../viewer.ts';

const FIVE_MINUTES_MS = 5 * 60_000;
const NONE = { agree: 0, differ: 0, short: 0 };

/** Reads by their letters: `s` and `p` for op 10 and op 12 with a position, or those of these letters, `S` and `P` for empty ones, `-` for no list. */
function stage() {
  const clock = createScriptedClock();
  const short: (readonly number[])[] = [];
  const agreement = createListAgreement(clock, (...counts) => short.push(counts));
  let logicalTime = 0;
  const read = (read: string, viewer = viewerOf('token-1'), at = ++logicalTime) => {
    const [letter = '', ...given] = read;
    const held = given.length > 0 ? given : ['p-1'];
    const ids = letter === letter.toUpperCase() ? [] : held;
    const sent = { logicalTime: at, sentAtMs: 0, receivedAtMs: 0 };
    const positions = letter === '-' ? null : { ids };
    if (letter.toLowerCase() === 'p') {
      agreement.positionsAnswered(viewer, {
        ...sent,
        positions: ids.map((id) => ({ id })),
      } as unknown as PositionsAnswer);
    } else {
      agreement.snapshotAnswered(viewer, { ...sent, session: { positions } } as SessionAnswer);
    }
  };
  return { clock, agreement, read, short };
}

test.each([
  // What op 12 lists and op 10 does not yet is no empty portfolio.
  ['SpSp', { agree: 1 }],
  // A position that was closed, or opened, in between.
  ['sPPP', { agree: 1 }],
  ['sPs', { differ: 1 }],
  ['PsP', { differ: 1 }],
  ['PsP-PPs', { differ: 1 }],
  ['PsPp', { agree: 1 }],
  ['PsPS', { agree: 1 }],
])('after the reads %s the accounts are %o', (reads, counts) => {
  const { agreement, read } = stage();
  for (const letter of reads) read(letter);
  expect(agreement.counts()).toEqual({ ...NONE, ...counts });
});

test('accounts are counted each by itself, until nobody has read them for five minutes', async () => {
  const { clock, agreement, read } = stage();
  const other = viewerOf('token-2', { login: '2002' });
  for (const letter of 'PsP') read(letter);
  for (const letter of 'sp') read(letter, other);
  // What was sent earlier counts for nothing behind a newer one.
  read('p', viewerOf('token-1'), 2);
  expect(agreement.counts()).toEqual({ ...NONE, agree: 1, differ: 1 });
  await clock.advance(FIVE_MINUTES_MS);
  read('p', other);
  expect(agreement.counts()).toEqual({ ...NONE, agree: 1, differ: 1 });
  await clock.advance(1);
  expect(agreement.counts()).toEqual({ ...NONE, agree: 1 });
});

// Each group of reads is five minutes after the one before.
test.each<[string, readonly string[], Partial<typeof NONE>]>([
  ['three times in ten minutes', ['pab sabcd', 'pab sabcd', 'pab sabcd', 'pab'], { short: 1 }],
  ['twice in ten minutes', ['pab sabcd', '', 'pab sabcd', 'pab'], {}],
  ['of one snapshot alone', ['pab sabcd pab', 'pab', 'pab', 'pab'], {}],
  ['three times at once', ['pab sabcd pab sabcd pab sabcd pab'], {}],
  ['and then no more', ['pab sabcd', 'pab sabcd', 'pab sabcd', 'pab sabcd pabcd'], { agree: 1 }],
  ['and then no more in either', ['pab sabcd', 'pab sabcd', 'pab sabcd', 'pab sab'], { agree: 1 }],
  ['for others each time', ['pab sabc', 'pab sabd', 'pab sabe', 'pab'], {}],
  ['and others, that are not in op 10', ['pax sabcd', 'pax sabcd', 'pax sabcd', 'pax'], {}],
])('a list that lacks positions %s, by the reads %j, is judged %o', async (_, groups, counts) => {
  const { clock, agreement, read, short } = stage();
  for (const [at, reads] of groups.entries()) {
    if (at > 0) await clock.advance(FIVE_MINUTES_MS);
    // One whose lists are the same is never told of.
    for (const one of ['sab', 'pab']) read(one, viewerOf('token-2', { login: '2002' }));
    for (const one of reads.split(' ').filter(Boolean)) read(one);
  }
  const agree = 1 + (counts.agree ?? 0);
  expect(agreement.counts()).toEqual({ ...NONE, ...counts, agree });
  expect(short).toEqual(counts.short || counts.agree ? [[2, 4]] : []);
});
