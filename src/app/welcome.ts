import type { App } from '../app.ts';
import type { Config } from '../config.ts';

export function welcome({ graphiql }: Config, { url, hasDemoPage }: App): string {
  const open = hasDemoPage
    ? `  Open       ${url}/   (what it does, live: you are signed in as the demo user)\n`
    : '';
  return `
  Trading Graph is running with its own sandbox gateway (pretend money, a pretend market).

${open}${graphiql ? `  GraphiQL   ${url}/graphql\n` : ''}  Try        { session { id balance } positions { id symbol profit instrument { id name } } }
  Sign in    mutation { login(input: { email: "demo@example.com", password: "demo" }) { ... on LoginSuccess { accessToken } } }
             pro@example.com and fresh@example.com have the same password
  Stop       Ctrl+C

`;
}
