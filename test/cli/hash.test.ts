import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { runCli } from '../support/run-cli.ts';

const KEY = { LOG_ACCOUNT_KEY: 'the key of the hashes in the log' };
const hashed = (text: string) =>
  createHmac('sha256', KEY.LOG_ACCOUNT_KEY).update(text).digest('hex').slice(0, 16);

test.each([
  ['700001', '700001'],
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
])('the hash of %s is the log’s hash of %s', async (asked, text) => {
  expect(await runCli(['hash', asked], KEY)).toEqual({
    code: 0,
    out: `${hashed(text)}\n`,
    err: '',
  });
});

test('the hash of an order is the log’s hash of its key', async () => {
  expect((await runCli(['hash', '--key', '6f1c-0d2e'], KEY)).out).toBe(`${hashed('6f1c-0d2e')}\n`);
});

test('without a key, or with a wrong configuration, no hash is printed', async () => {
  const none = await runCli(['hash', '700001']);
  expect(none).toMatchObject({ code: 1, out: '' });
  expect(none.err).toContain('LOG_ACCOUNT_KEY is not set');
  const missing = await runCli(['hash', '700001'], { LOG_ACCOUNT_KEY_FILE: '/no/such/file' });
  expect(missing).toMatchObject({ code: 1, out: '' });
  expect(missing.err).toContain('LOG_ACCOUNT_KEY_FILE');
});
