import { expect, test } from 'vitest';
import type { Draft, Selection } from '../../bench/support/hostile/draft.ts';
import { climb } from '../../bench/support/hostile/hill-climb.ts';
import type { Trial } from '../../bench/support/hostile/trial-ground.ts';
import { createRandom } from '../../src/sandbox/random.ts';

const LIMIT = 40;
const SELECTION: Selection = { on: 'Query', name: 'customerId', args: {}, below: [], times: 1 };
const allowed: Trial = {
  ...{ verdict: 'allowed', codes: [], harm: 0 },
  ...{ holdMs: 1, cpuMs: 1, bytes: 1, fields: 1 },
};

const drafted = (length: number): Draft => Array.from({ length }, () => SELECTION);

/** Drafts that do as much harm as they are long, up to a limit; so many of them are tried. */
async function climbTo(
  tries: number,
  measured: (draft: Draft) => Trial,
  seeds: readonly Draft[] = [],
) {
  const tried: number[] = [];
  let looks = 0;
  const result = await climb({
    random: createRandom('climb'),
    seeds,
    compose: () => drafted(1),
    mutate: (draft) => drafted(draft.length + 7),
    shrink: (draft) => drafted(draft.length - 1),
    measure: async (draft) => {
      tried.push(draft.length);
      return measured(draft);
    },
    elapsed: () => {
      looks += 1;
      if (looks > 100 * tries) throw new Error('it looks at the time and tries nothing');
      return tried.length / tries;
    },
  });
  return { ...result, worst: result.worst, tried };
}

const limited = ({ length }: Draft): Trial =>
  length > LIMIT
    ? { ...allowed, verdict: 'refused', codes: ['QUERY_TOO_COMPLEX'], holdMs: length }
    : { ...allowed, harm: length, fields: length };

test('a document that a limit refuses becomes smaller until it passes', async () => {
  const { worst, tried } = await climbTo(200, limited);
  expect(worst[0]?.draft).toHaveLength(LIMIT);
  expect(Math.max(...tried)).toBeGreaterThan(LIMIT);
});

test('what is refused is never the worst, but the time that it took is noted', async () => {
  const { worst, longestRefusedMs } = await climbTo(200, limited);
  expect(worst.every(({ trial }) => trial.verdict === 'allowed')).toBe(true);
  expect(longestRefusedMs).toBeGreaterThan(LIMIT);
});

test('where nothing is allowed there is no worst document', async () => {
  const refused: Trial = { ...allowed, verdict: 'refused', codes: ['GRAPHQL_VALIDATION_FAILED'] };
  expect((await climbTo(20, () => refused)).worst).toEqual([]);
});

test('a new worst is measured twice, and the lesser harm counts', async () => {
  let isFirst = true;
  const once = (draft: Draft): Trial => {
    const harm = isFirst ? 1_000 : draft.length;
    isFirst = false;
    return { ...allowed, harm };
  };
  const { worst } = await climbTo(60, once);
  expect(worst[0]?.trial.harm).toBeLessThan(1_000);
  expect(worst[0]?.draft.length).toBeGreaterThan(1);
});

test('a document that the process does not survive ends the search', async () => {
  const deadly = ({ length }: Draft): Trial =>
    length > 20
      ? { ...allowed, verdict: 'stuck', harm: Number.POSITIVE_INFINITY }
      : { ...allowed, harm: length };
  const { worst, tried } = await climbTo(1_000, deadly);
  expect(worst[0]?.trial.verdict).toBe('stuck');
  expect(tried.length).toBeLessThan(50);
});

test('the search begins with what was the worst in another way', async () => {
  const { tried } = await climbTo(10, limited, [drafted(33), drafted(34)]);
  expect(tried).toEqual(expect.arrayContaining([33, 34]));
  expect(tried[0]).toBe(33);
});
