import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';

const README = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8');

test('README’s first query is answered as it says, apart from times', async () => {
  const query = /```graphql\n(.*?)```/s.exec(README)?.[1] ?? '';
  const shown = JSON.parse(/```json\n(.*?)```/s.exec(README)?.[1] ?? '');
  await using app = await startTestApp({ SANDBOX_SEED: '1' });
  const token = await app.signIn();
  // The catalog and the session are in memory by then, as the receipt shows them.
  await app.query('{ session { id } instrument(id: "AAPL") { id } }', { token });
  const { data, errors, extensions } = await app.query(query, { token });
  expect(errors).toEqual([]);
  expect(data).toEqual({
    ...shown.data,
    positions: [...shown.data.positions, ...data.positions.slice(1)],
  });
  expect(data.positions).toHaveLength(6);
  const receipt = (calls: readonly { operation: string; source: string }[]) =>
    calls.map(({ operation, source }) => `${operation} ${source}`).sort();
  expect(receipt(extensions.gateway)).toEqual(receipt(shown.extensions.gateway));
});
