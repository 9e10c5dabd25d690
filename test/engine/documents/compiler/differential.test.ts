import { parse, validate, validateExecutionArgs } from 'graphql';
import { describe, expect, test } from 'vitest';
import { createRandom, type Random } from '../../../../src/sandbox/random.ts';
import { inFull } from '../../../support/in-full.ts';
import { randomDocument } from '../../../support/random-documents.ts';
import { canonicalText, executeBoth } from './both-executors.ts';
import { createStage, hostileSchema, type Stage } from './hostile-schema.ts';

const DOCUMENTS = inFull(1_000, 200);

describe('generated documents', { timeout: 600_000 }, () => {
  test.each([
    ['query', 0],
    ['query', 0.01],
    ['query', 0.15],
    ['subscription', 0],
    ['subscription', 0.05],
  ] as const)(
    'for a %s get the same answer from both executors, with a share of %d wrong values',
    async (operation, hostility) => {
      const random = createRandom(`compiled ${operation} ${hostility}`);
      const seen = { valid: 0, compiled: 0, compiledWithoutErrors: 0, failed: 0 };
      for (let i = 0; i < DOCUMENTS; i += 1) {
        const { text, variables } = randomDocument(hostileSchema, random, { operation });
        const document = parse(text);
        if (validate(hostileSchema, document).length > 0) continue;
        seen.valid += 1;
        const contextValue = createStage(random, hostility);
        const isEvent = operation === 'subscription';
        const rootValue = isEvent ? await eventOf(contextValue, random) : undefined;
        const given = { schema: hostileSchema, document, contextValue, rootValue };
        const args = validateExecutionArgs({ ...given, variableValues: variables });
        if (!('schema' in args)) continue;
        const { expected, found, isCountedAlike, isCompiled } = await executeBoth(args);
        expect(canonicalText(found), `${text}\n${JSON.stringify(variables)}`).toBe(
          canonicalText(expected),
        );
        // Both executors must count the same fields, or only one of them would exceed the budget.
        if (hostility === 0 && !expected.errors) expect(isCountedAlike, text).toBe(true);
        if (isCompiled) seen.compiled += 1;
        if (isCompiled && !expected.errors) seen.compiledWithoutErrors += 1;
        if (expected.errors) seen.failed += 1;
      }
      // With fewer compiled documents the test would mostly compare the reference executor with itself.
      expect(seen.valid).toBeGreaterThan(DOCUMENTS * 0.8);
      expect(seen.compiled).toBeGreaterThan(DOCUMENTS * 0.3);
      expect(seen.compiledWithoutErrors).toBeGreaterThan(DOCUMENTS * 0.08);
      if (hostility > 0) expect(seen.failed).toBeGreaterThan(DOCUMENTS * 0.1);
    },
  );
});

/** A random event: a node, null, or undefined in place of a failure. */
async function eventOf(stage: Stage, random: Random): Promise<unknown> {
  const { nodeMustRead } = hostileSchema.getQueryType()?.getFields() ?? {};
  try {
    const event = await nodeMustRead?.resolve?.(undefined, {}, stage, {} as never);
    return random() < 0.1 ? null : event;
  } catch {
    return undefined;
  }
}
