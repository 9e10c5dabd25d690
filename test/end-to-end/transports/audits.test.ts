import { type Audit, type AuditResult, serverAudits } from 'graphql-http';
import { describe, expect, test } from 'vitest';
import { sharedApp } from '../../support/shared-app.ts';

/** Each optional audit that this server fails, with the reason. */
const FAILING_MAYS: Readonly<Record<string, string>> = {};

test('the suite is the public one, whole', () => {
  const audits = serverAudits({ url: 'http://127.0.0.1' });
  const marked = audits.filter(({ name }) => /^(MUST|SHOULD|MAY)/.test(name));
  expect(marked.length).toBe(audits.length);
  expect(audits.length).toBeGreaterThan(50);
});

describe.each([
  ['by the direct path', true],
  ['by yoga', false],
])('GraphQL over HTTP, %s', (_path, directPath) => {
  const app = sharedApp({}, { directPath });

  const audits: readonly Audit[] = serverAudits({ url: () => `${app.url}/graphql` });
  const required = audits.filter(({ name }) => /^(MUST|SHOULD)/.test(name));
  const optional = audits.filter(({ name }) => /^MAY/.test(name));

  test.each(required)('$name ($id)', async (audit) => {
    expect(await failure(audit)).toBeNull();
  });

  test.each(optional)('$name ($id)', async (audit) => {
    const isListed = audit.id in FAILING_MAYS;
    expect((await failure(audit)) !== null, FAILING_MAYS[audit.id]).toBe(isListed);
  });
});

async function failure(audit: Audit): Promise<string | null> {
  const result: AuditResult = await audit.fn();
  return result.status === 'ok' ? null : result.reason;
}
