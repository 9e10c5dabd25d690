import { expect, test } from 'vitest';
import { startTestApp } from '../../test/support/app.ts';
import { startCore } from './support/client.ts';
import { countedEnvironment } from './support/counted-environment.ts';

test('another account that signs in before the first one is known is a change for those who listen', async () => {
  await using app = await startTestApp();
  const first = app.sandbox.token({ email: 'demo@example.com' });
  const second = app.sandbox.token({ email: 'pro@example.com' });
  let token = first;
  const asked = Promise.withResolvers<void>();
  const environment = countedEnvironment({
    // The first question never gets an answer.
    fetch(input, init) {
      if (new Headers(init?.headers).get('authorization') !== `Bearer ${first}`)
        return fetch(input, init);
      asked.resolve();
      return new Promise((_, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      });
    },
  });
  using core = startCore(app, { environment, token: () => token });
  let changes = 0;
  core.onAccountChange(() => {
    changes += 1;
  });
  core.account().catch(() => {});
  await asked.promise;
  token = second;
  await core.tokenChanged();
  expect(await core.account()).toBe('700002');
  expect(changes).toBe(1);
});

test('the first account that becomes known is none', async () => {
  await using app = await startTestApp();
  using core = startCore(app);
  let changes = 0;
  core.onAccountChange(() => {
    changes += 1;
  });
  expect(await core.account()).toBe('700001');
  await core.tokenChanged();
  expect(await core.account()).toBe('700001');
  expect(changes).toBe(0);
});

test('a server that does not answer is asked for the account a few times, not for ever', async () => {
  await using app = await startTestApp();
  let asked = 0;
  const environment = countedEnvironment({
    hurry: (ms) => (ms < 10_000 ? 0 : ms),
    fetch: async () => {
      asked += 1;
      throw new TypeError('the connection was lost');
    },
  });
  using core = startCore(app, { environment });
  await expect(core.account()).rejects.toMatchObject({ code: 'NETWORK' });
  expect(asked).toBe(3);
});
