import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { runCli } from '../support/run-cli.ts';

const KEY = { LOG_ACCOUNT_KEY: 'the key of the hashes in the log' };
const logHash = (text: string) =>
  createHmac('sha256', KEY.LOG_ACCOUNT_KEY).update(text).digest('hex').slice(0, 16);

test.each([
  ['700001', '700001'],
  ['6f1c-0d2e', '6f1c-0d2e'],
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
])('the argument %s is hashed as the log hashes %s', async (argument, text) => {
  const result = await runCli(['hash', argument], KEY);
  expect(result).toEqual({ code: 0, out: `${logHash(text)}\n`, err: '' });
});

test('without a key, or with a wrong configuration, no hash is printed', async () => {
  const withoutKey = await runCli(['hash', '700001']);
  expect(withoutKey).toMatchObject({ code: 1, out: '' });
  expect(withoutKey.err).toContain('LOG_ACCOUNT_KEY is not set');
  const withoutFile = await runCli(['hash', '700001'], { LOG_ACCOUNT_KEY_FILE: '/no/such/file' });
  expect(withoutFile).toMatchObject({ code: 1, out: '' });
  expect(withoutFile.err).toContain('LOG_ACCOUNT_KEY_FILE');
});
