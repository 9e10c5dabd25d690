import { expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';

test.each(['', ' ', ','])('an empty Accept (%j) accepts anything', async (accept) => {
  await using app = await startTestApp();
  const authorization = `Bearer ${await app.signIn()}`;
  const headers = { accept, authorization };
  const query = await fetch(`${app.url}/graphql?query={customerId}`, { headers });
  expect(query.headers.get('content-type')).toContain('application/json');
  expect((await query.json()).data.customerId).toEqual(expect.any(String));
  const abort = new AbortController();
  const events = await fetch(`${app.url}/graphql?query=subscription{positions{id}}`, {
    headers,
    signal: abort.signal,
  });
  expect(events.headers.get('content-type')).toBe('text/event-stream');
  abort.abort();
});
