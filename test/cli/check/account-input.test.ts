import { expect, test } from 'vitest';
import { accountInput } from '../../../src/check/account-input.ts';
import { CheckRun } from '../../../src/check/check-run.ts';
import { Probe } from '../../../src/check/probe.ts';
import { readConfig } from '../../../src/config.ts';
import { read } from '../../../src/gateway/define-operation.ts';
import * as f from '../../../src/gateway/fields.ts';
import type { CallValues } from '../../../src/gateway/requests.ts';
import { clientSettings } from '../../gateway/open-client.ts';
import { answer, startScriptedGateway } from '../../support/scripted-gateway.ts';

const DEALS = f.table('Deals', { next: f.unneeded(f.text) });
type Asked = Readonly<Record<'from' | 'to', string>>;

/** Has the check call a read of deals with an account as its input. Returns the paths of its calls. */
async function checkedPaths(valuesOf: (input: Asked) => CallValues): Promise<readonly string[]> {
  const getDeals = read({
    name: 'getCustomerId',
    number: 13,
    proves: 'nothing',
    calls: {
      list: { method: 'GET', path: '/deals', query: ['from', 'to', 'after'], answer: DEALS.shape },
    },
    run: async (calls, input: Asked) => {
      await calls.send('list', valuesOf(input));
    },
  });
  await using gateway = await startScriptedGateway((socket) => socket.write(answer(200, {})));
  await using probe = new Probe({ ...clientSettings(30_000), url: gateway.url });
  const run = new CheckRun({ probe, config: readConfig({}), nowMs: Date.now, onEnd() {} });
  const account = accountInput({ login: '700001', group: 'real-usd' });
  await run.read(getDeals, 'e30.e30.x', account as unknown as Asked);
  return gateway.requests.map(({ path }) => path);
}

test.each<readonly [string, (input: Asked) => CallValues]>([
  ['whole as its query', (input) => ({ query: input })],
  ['whole as its body', (input) => ({ body: input })],
  ['spread', (input) => ({ query: { ...input } })],
  ['by name', ({ from, to }) => ({ query: { from, to } })],
])('the check does not call a read that takes its arguments %s', async (_, valuesOf) => {
  expect(await checkedPaths(valuesOf)).toEqual([]);
});

test('the check calls a read that pages without arguments', async () => {
  const paths = await checkedPaths(() => ({ query: { after: 'cursor-7' } }));
  expect(paths).toEqual(['/deals?after=cursor-7']);
});
