import { type Audit, type AuditResult, serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';

/** Each optional audit that this server fails, with the reason. */
const FAILING_MAYS: Readonly<Record<string, string>> = {};

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const audits: readonly Audit[] = serverAudits({ url: () => `${app.url}/graphql` });
const required = audits.filter(({ name }) => /^(MUST|SHOULD)/.test(name));
const optional = audits.filter(({ name }) => /^MAY/.test(name));

test('the suite is the public one, whole', () => {
  expect(required.length + optional.length).toBe(audits.length);
  expect(audits.length).toBeGreaterThan(50);
});

describe('GraphQL over HTTP', () => {
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
