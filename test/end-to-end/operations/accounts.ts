import { expect } from 'vitest';
import type { TestApp } from '../../support/app.ts';

/** A breaker opens only if the calls of this many accounts fail. Unproved tokens behind one address count as one account. */
export const EMAILS = ['demo@example.com', 'pro@example.com', 'fresh@example.com'];

/** A token of each account, accepted by the gateway. */
export async function provedTokens(app: TestApp, emails = EMAILS): Promise<string[]> {
  const tokens = emails.map((email) => app.sandbox.token({ email }));
  for (const token of tokens) {
    expect((await app.query('{ session(maxAge: 0) { login } }', { token })).errors).toEqual([]);
  }
  return tokens;
}

/** A token that the gateway has accepted, so that its failures count for its account. */
export async function provedToken(app: TestApp, email = 'demo@example.com'): Promise<string> {
  const [token = ''] = await provedTokens(app, [email]);
  return token;
}
