import { type Audit, serverAudits } from 'graphql-http';
import { describe, expect, test } from 'vitest';
import { sharedApp } from '../../support/shared-app.ts';

describe.each([
  ['by the direct path', true],
  ['by yoga', false],
])('GraphQL over HTTP, %s', (_path, directPath) => {
  const app = sharedApp({}, { directPath });
  const audits: readonly Audit[] = serverAudits({ url: () => `${app.url}/graphql` });

  // The optional ones too.
  test.each(audits)('$name ($id)', async (audit) => {
    expect(await audit.fn()).toMatchObject({ status: 'ok' });
  });

  test('of which there are as many as the public suite has', () => {
    expect(audits.length).toBeGreaterThan(50);
  });
});
