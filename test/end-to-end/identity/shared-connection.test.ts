import { Agent, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { withClaims } from '../../support/tokens.ts';

// A proxy sends the requests of all its clients over a few connections.
const QUESTION = JSON.stringify({ query: '{ session { login } customerId }' });

interface Answered {
  readonly login: string | null;
  readonly codes: readonly string[];
  readonly port: number | undefined;
}

let app: TestApp;
let agent: Agent;

beforeAll(async () => {
  app = await startTestApp();
  agent = new Agent({ keepAlive: true, maxSockets: 1 });
});
afterAll(async () => {
  agent.destroy();
  await app.close();
});

function ask(authorization: string | null): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      ...(authorization !== null && { authorization }),
    };
    const outgoing = request(`${app.url}/graphql`, { method: 'POST', agent, headers }, (answer) => {
      const port = answer.socket.localPort;
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (piece: string) => {
        text += piece;
      });
      answer.once('end', () => {
        const { data, errors = [] } = JSON.parse(text);
        const codes = errors.map(
          (error: { extensions: { code: string } }) => error.extensions.code,
        );
        resolve({ login: data.session?.login ?? null, codes, port });
      });
    });
    outgoing.once('error', reject);
    outgoing.end(QUESTION);
  });
}

test('each request on one connection is answered for its own token, never for an earlier one', async () => {
  const one = app.sandbox.token({ email: 'demo@example.com' });
  const other = app.sandbox.token({ email: 'pro@example.com' });
  const forged = withClaims(other, { login: 700001 });
  const refused = ['UNAUTHENTICATED', 'UNAUTHENTICATED'];
  const requests: [string | null, string | null, readonly string[]][] = [
    [`Bearer ${one}`, '700001', []],
    [`Bearer ${one}`, '700001', []],
    [`Bearer ${other}`, '700002', []],
    [null, null, refused],
    [`Bearer ${one}`, '700001', []],
    [`Bearer ${forged}`, null, refused],
    [`bearer ${one}`, '700001', []],
    ['Bearer', null, refused],
    [`Bearer ${other} `, '700002', []],
    [`Basic ${one}`, null, refused],
    [`Bearer ${other}`, '700002', []],
  ];
  const ports = new Set<number | undefined>();
  for (const [authorization, login, codes] of [...requests, ...requests.toReversed()]) {
    const answered = await ask(authorization);
    expect(answered, `sent with ${authorization?.slice(0, 20)}`).toMatchObject({ login, codes });
    ports.add(answered.port);
  }
  expect(ports.size).toBe(1);
});
