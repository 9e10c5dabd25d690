import { GraphQLError } from 'graphql';
import { expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { readMetrics } from '../../support/leaks.ts';

/** A refusal by a code of the plugin's own. */
const refusing = (status: number) => ({
  onExecute() {
    throw new GraphQLError('no', { extensions: { code: 'LICENCE', http: { status } } });
  },
});

test.each([
  [503, 'fault'],
  [402, 'caller'],
])('a plugin’s own code with status %i is counted, and is the %s’s', async (status, outcome) => {
  await using app = await startTestApp({}, { plugins: [refusing(status)] });
  const answer = await app.query('{ __typename }');
  expect(answer.status).toBe(status);
  expect(answer.errors).toMatchObject([{ extensions: { code: 'LICENCE' } }]);
  expect(await readMetrics(app.adminUrl)).toContain(
    'trading_graph_errors_total{code="other",operation="none"} 1\n',
  );
  const line = app.logged
    .map((each) => JSON.parse(each))
    .find(({ codes }) => codes?.includes('LICENCE'));
  expect(line?.outcome).toBe(outcome);
});

test('a resolver’s error of an unregistered code is a fault by its status as well', async () => {
  const plugin = {
    onExecute({
      setResultAndStopExecution,
    }: {
      setResultAndStopExecution: (result: object) => void;
    }) {
      const extensions = { code: 'LICENCE', http: { status: 500 } };
      setResultAndStopExecution({ errors: [new GraphQLError('no', { extensions })] });
    },
  };
  await using app = await startTestApp({}, { plugins: [plugin] });
  await app.query('{ __typename }');
  const line = app.logged
    .map((each) => JSON.parse(each))
    .find(({ codes }) => codes?.includes('LICENCE'));
  expect(line?.outcome).toBe('fault');
});
