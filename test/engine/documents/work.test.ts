import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Documents } from '../../../engine/documents/documents.ts';
import { buildSchema } from '../../../src/schema/schema.ts';
import { inFull } from '../../support/in-full.ts';
import { largestOf, PLAIN, SHAPES, tokensOf } from './largest-documents.ts';
import type { WorkQuestion } from './work-counter.ts';

const ROOM = inFull(
  { maxTokens: 4_000, maxBytes: 262_144 },
  { maxTokens: 1_500, maxBytes: 98_304 },
);
const LIMITS = { maxTokens: ROOM.maxTokens, maxDepth: 15, maxAliases: 30, maxDirectives: 20 };
/** As much more work as text; a product of two things that grow would be twice that. */
const GROWTH = 1.4;
/** The most that any of them takes, in plain documents of its size, is 2.3. */
const TIMES_PLAIN = 4;

const schema = buildSchema();
const counter = fork(join(import.meta.dirname, 'work-counter.ts'));
/** The work of a plain document for each token, and for each character of a comment. */
const plain = { token: 0, character: 0 };

beforeAll(async () => {
  await once(counter, 'message');
  const [few, many] = [PLAIN.write(20), PLAIN.write(40)];
  plain.token = ((await workOf(many)) - (await workOf(few))) / (size(many) - size(few));
  const comment = (length: number) => `#${'c'.repeat(length)}\n${few}`;
  plain.character = ((await workOf(comment(40_000))) - (await workOf(comment(20_000)))) / 20_000;
}, 60_000);
afterAll(async () => {
  counter.disconnect();
  await once(counter, 'exit');
});

test.each(SHAPES)(
  'the work of $name grows as a document does',
  { timeout: 60_000 },
  async (shape) => {
    const largest = largestOf(shape, ROOM);
    const ofThose = isAdmitted(largest.text) ? [] : [largestOf(shape, ROOM, isAdmitted)];
    for (const most of [largest, ...ofThose]) {
      const [whole, half] = [most.text, shape.write(Math.ceil(most.count / 2))];
      const [work, halfOfIt] = [await workOf(whole), await workOf(half)];
      expect(work / halfOfIt).toBeLessThan((whole.length / half.length) * GROWTH);
      const plainWork = plain.token * size(whole) + plain.character * whole.length;
      expect(work / plainWork).toBeLessThan(TIMES_PLAIN);
    }
  },
);

test('unknown fields take no more work than known ones', async () => {
  const text = `{ ${Array.from({ length: ROOM.maxTokens - 10 }, (_, at) => `f${at}`).join(' ')} }`;
  expect(await workOf(text)).toBeLessThan(plain.token * size(text));
});

test('the count is of work: a plain document has some hundred steps a token', () => {
  expect(plain.token).toBeGreaterThan(100);
  expect(plain.character).toBeGreaterThan(1);
});

async function workOf(text: string): Promise<number> {
  counter.send({ text, limits: LIMITS } satisfies WorkQuestion);
  const [work] = (await once(counter, 'message')) as [number];
  return work;
}

function size(text: string): number {
  return tokensOf(text, ROOM.maxTokens);
}

function isAdmitted(text: string): boolean {
  const prepared = new Documents({ schema, limits: LIMITS, introspection: true }).prepare(text);
  if (!('errors' in prepared)) return true;
  return prepared.errors.every(({ extensions }) => extensions.code !== 'QUERY_TOO_COMPLEX');
}
