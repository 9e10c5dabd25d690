import type { Plugin } from '@envelop/core';
import { GraphQLError } from 'graphql';
import { expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { outcomesOf } from '../operations/request-lines.ts';
import { seriesValue } from '../operations/scraped.ts';

/** A refusal by a code of the plugin's own. */
const refusal = (status: number) =>
  new GraphQLError('no', { extensions: { code: 'LICENCE', http: { status } } });
const throwing = (status: number): Plugin => ({
  onExecute() {
    throw refusal(status);
  },
});
/** As a resolver's error. */
const stopping = (status: number): Plugin => ({
  onExecute: ({ setResultAndStopExecution }) =>
    setResultAndStopExecution({ errors: [refusal(status)] }),
});

test.each([
  [503, 'fault', throwing],
  [402, 'caller', throwing],
  [500, 'fault', stopping],
])(
  'a plugin’s own code with status %i is counted, and is the %s’s',
  async (status, outcome, made) => {
    await using app = await startTestApp({}, { plugins: [made(status)] });
    const answer = await app.query('{ __typename }');
    expect(answer.status).toBe(status);
    expect(answer.errors).toMatchObject([{ extensions: { code: 'LICENCE' } }]);
    expect(await seriesValue(app, 'errors_total{code="other",operation="none"}')).toBe(1);
    expect(outcomesOf(app, 'LICENCE')).toEqual([outcome]);
  },
);
