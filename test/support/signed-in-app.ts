import { afterEach, beforeEach, expect } from 'vitest';
import type { Fault } from '../../sandbox/faults.ts';
import type { OperationName } from '../../src/gateway/operations.ts';
import type { GraphQLAnswer, TestApp } from './app.ts';
import { sharedApp } from './shared-app.ts';

/** A facade for all tests of a file, and for each a token of its own, for which nothing is cached. */
export interface SignedInApp {
  readonly app: TestApp;
  readonly token: string;
  /** A token of another device of the account. */
  otherToken(): string;
  /** The number of gateway calls in this test. */
  calls(operation: OperationName): number;
  /** Has the gateway answer with this; a text goes out as it is. */
  fake(operation: OperationName, body: unknown, more?: Partial<Fault>): void;
  ask(document: string, as?: string): Promise<GraphQLAnswer>;
  /** An answer's data; one with errors fails the test. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever shape its own query asked for
  read(document: string, as?: string): Promise<any>;
}

export function useSignedInApp(): SignedInApp {
  const app = sharedApp();
  let token = '';
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
    calls: (operation) => app.sandbox.calls(operation),
    fake(operation, body, more = {}) {
      const headers = { 'content-type': 'application/json' };
      app.sandbox.fail({ operation, kind: 'status', status: 200, body, headers, ...more });
    },
    ask,
    async read(document, as) {
      const answer = await ask(document, as);
      expect(answer.errors).toEqual([]);
      return answer.data;
    },
  };
}
