import { afterEach, beforeEach, expect } from 'vitest';
import type { OperationName } from '../../src/gateway/operations.ts';
import type { TestApp } from './app.ts';
import { sharedApp } from './shared-app.ts';

/** A facade for all tests of a file, and for each a token of its own, for which nothing is cached. */
export interface SignedInApp {
  readonly app: TestApp;
  readonly token: string;
  /** The number of gateway calls in this test. */
  calls(operation: OperationName): number;
  /** An answer's data; one with errors fails the test. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever shape its own query asked for
  read(document: string): Promise<any>;
}

export function useSignedInApp(): SignedInApp {
  const app = sharedApp();
  let token = '';
  beforeEach(() => {
    token = app.sandbox.token({ email: 'demo@example.com' });
    app.sandbox.clearCalls();
  });
  afterEach(() => app.sandbox.clearFaults());
  return {
    app,
    get token() {
      return token;
    },
    calls: (operation) => app.sandbox.calls(operation),
    async read(document) {
      const answer = await app.query(document, { token });
      expect(answer.errors).toEqual([]);
      return answer.data;
    },
  };
}
