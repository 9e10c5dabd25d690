import { executeRootSelectionSet, parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { COSTLY_FIELDS, type Meter } from '../../../src/plugins/cost/meter.ts';
import { CompiledCodeCache } from '../../../src/plugins/execution/compiled-code.ts';
import { createRandom, type Random } from '../../../src/sandbox/random.ts';
import { inFull } from '../../support/in-full.ts';
import { randomDocument } from '../../support/random-documents.ts';
import {
  argsOf,
  compiledFrom,
  meterFor,
  type Question,
  shown,
} from '../execution/both-executors.ts';
import { createStage, hostileSchema } from '../execution/hostile-schema.ts';

const DOCUMENTS = inFull(400, 150);

/** By compiled code, or by the reference executor. */
async function answer(question: Question, meter: Meter, isCompiled: boolean) {
  const args = argsOf(question);
  if (args === null) return null;
  const codeCache = new CompiledCodeCache();
  const operation = compiledFrom(args.document, question.operationName, codeCache);
  if (isCompiled) operation.compile();
  const result = await operation.execute(args, meter);
  return { text: shown(result), result, wasCompiled: codeCache.calculatedSize > 0 };
}

function oneOf(random: Random, documents: string[]): Question {
  const { text, variables } = randomDocument(hostileSchema, random, { operation: 'query' });
  documents.push(text);
  return { text, variables, stage: createStage(random, 0) };
}

describe('a budget ends an answer at the same place', { timeout: 600_000 }, () => {
  test('whichever executor counts it', async () => {
    const random = createRandom('budgets');
    const seen = { compared: 0, ended: 0, whole: 0 };
    for (let at = 0; at < DOCUMENTS; at += 1) {
      const question = oneOf(random, []);
      if (validate(hostileSchema, parse(question.text)).length > 0) continue;
      const args = argsOf(question);
      if (args === null || (await executeRootSelectionSet(args)).errors) continue;
      const unlimited = meterFor();
      const whole = await answer(question, unlimited, true);
      if (!whole?.wasCompiled || unlimited.fields < 2) continue;
      const counted = meterFor();
      await answer(question, counted, false);
      expect(counted.fields, question.text).toBe(unlimited.fields);
      // The very last field, and one less than that.
      for (const budget of [
        unlimited.fields,
        unlimited.fields - 1,
        Math.ceil(unlimited.fields / 2),
      ]) {
        for (const estimate of [0, COSTLY_FIELDS + 1]) {
          const compiled = await answer(question, meterFor(budget, estimate), true);
          const reference = await answer(question, meterFor(budget, estimate), false);
          expect(compiled?.text, question.text).toBe(reference?.text);
          const isWhole = budget >= unlimited.fields;
          expect(compiled?.result.data === null).toBe(!isWhole);
          if (isWhole) expect(compiled?.text).toBe(whole.text);
          seen[isWhole ? 'whole' : 'ended'] += 1;
        }
      }
      seen.compared += 1;
    }
    expect(seen.compared).toBeGreaterThan(DOCUMENTS * 0.15);
    expect(seen.ended).toBeGreaterThan(DOCUMENTS * 0.3);
  });
});
