import { expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { startFacadeProcess } from '../../support/facade-process.ts';

/** With null, the value of a flag that has a default, every event fails. */
const FAILING = `subscription ($no: Boolean = false) {
  positionChanges { snapshot upserted { id symbol @skip(if: $no) } }
}`;
const body = JSON.stringify({ query: FAILING, variables: { no: null } });
const MAX_PIECES = 20;

test('a subscription of which every event fails is told so again and again, and delays nobody', async () => {
  await using sandbox = await startSandbox({ tickMs: 0 });
  await using facade = await startFacadeProcess({ GATEWAY_URL: sandbox.url });
  const token = sandbox.token({ email: 'demo@example.com' });
  const headers = {
    accept: 'text/event-stream',
    'content-type': 'application/json',
    authorization: `Bearer ${token}`,
  };
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(60_000)]);
  const init = { method: 'POST', headers, body, signal };
  const { body: events } = await fetch(`${facade.url}/graphql`, init);
  const pieces: string[] = [];
  for await (const piece of events ?? []) {
    pieces.push(Buffer.from(piece).toString());
    const failed = pieces.join('').split('BAD_USER_INPUT').length - 1;
    if (failed === 2 || pieces.length > MAX_PIECES) break;
    // Others are answered before the second event.
    expect((await facade.query('{ __typename }')).data).toEqual({ __typename: 'Query' });
  }
  expect(pieces.join('').split('BAD_USER_INPUT')).toHaveLength(3);
  stop.abort();
});
