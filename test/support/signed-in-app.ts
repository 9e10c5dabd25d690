import { afterEach, beforeEach, expect } from 'vitest';
import type { OperationName } from '../../src/gateway/operations.ts';
import type { Fault } from '../../src/sandbox/faults.ts';
import { sharedApp } from './shared-app.ts';

/** A service for all tests of a file. Each test has a new token, for which nothing is cached. */
export function useSignedInApp() {
  const app = sharedApp();
  let token = '';
  /** A token of another device of the account. */
  const otherToken = () => app.sandbox.token({ email: 'demo@example.com' });
  const ask = (document: string, as = token) => app.query(document, { token: as });
  beforeEach(() => {
    token = otherToken();
    app.sandbox.clearCalls();
  });
  afterEach(() => app.sandbox.clearFaults());
  return {
    app,
    get token() {
      return token;
    },
    otherToken,
    /** The number of gateway calls in this test. */
    calls: (operation: OperationName) => app.sandbox.calls(operation),
    /** Makes the gateway answer with this; a text is sent unchanged. */
    fake(operation: OperationName, body: unknown, more: Partial<Fault> = {}) {
      const headers = { 'content-type': 'application/json' };
      app.sandbox.fail({ operation, kind: 'status', status: 200, body, headers, ...more });
    },
    ask,
    /** An answer's data; errors fail the test. */
    async read(document: string, as?: string) {
      const answer = await ask(document, as);
      expect(answer.errors).toEqual([]);
      return answer.data;
    },
  };
}
