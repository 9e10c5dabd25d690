import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startStubServer } from './stub-server.ts';
import type { Answer, Ask, Follow, StartGraph } from './test-graph.ts';

/** The market stands still, so that a test finds what it found before. */
const ENVIRONMENT = {
  PORT: '0',
  ADMIN_PORT: '0',
  ORDER_STORE: 'memory',
  SANDBOX_SEED: 'tests',
  SANDBOX_TICK_MS: '86400000',
  // Each test may sign in anew.
  LOGIN_LIMIT_PER_MINUTE: '10000',
};

const SIGN_IN = `mutation ($email: String!) {
  login(input: { email: $email, password: "demo" }) { ... on LoginSuccess { accessToken } }
}`;

export const startGraph: StartGraph = async ({ extensions, backends = {}, environment = {} }) => {
  await using started = new AsyncDisposableStack();
  /** Errors that stubs have thrown and no request has been told of. */
  const thrown: unknown[] = [];
  const backendUrls: Record<string, string> = {};
  for (const [name, stub] of Object.entries(backends)) {
    const server = await startStubServer(stub, (error) => thrown.push(error));
    started.defer(server.close);
    backendUrls[name] = server.url;
  }
  const files = extensions.map((each) => (each instanceof URL ? fileURLToPath(each) : each));
  const settings = { ...ENVIRONMENT, EXTENSIONS: files.join(','), ...environment };
  const service = await startService({ environment: settings, backendUrls }, environment);
  started.defer(service.close);

  const url = `${service.url}/graphql`;
  const throwOfStubs = () => {
    // A read is retried, and the stub may have thrown each time.
    const errors = thrown.splice(0);
    if (errors.length > 0) throw errors[0];
  };
  const askWith =
    (token?: string): Ask =>
    async (query, variables, headers) => {
      const response = await post(url, { query, variables }, token, headers);
      const answer = answerOf(await response.text());
      throwOfStubs();
      return answer as never;
    };
  const followWith = (token: string): Follow =>
    async function* (query, variables, headers) {
      const accept = { accept: 'text/event-stream', ...headers };
      const response = await post(url, { query, variables }, token, accept);
      let rest = '';
      for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const events = `${rest}${piece}`.split('\n\n');
        rest = events.pop() ?? '';
        for (const event of events) {
          throwOfStubs();
          const [, result] = /^data: (.+)$/m.exec(event) ?? [];
          if (result !== undefined) yield answerOf(result) as never;
        }
      }
      // A refusal may be no stream.
      if (rest !== '') yield answerOf(rest) as never;
    };
  const ask = askWith();
  const rest = started.move();
  const close = () => rest.disposeAsync();
  return {
    url: service.url,
    logged: service.logged,
    ask,
    close,
    async signIn(email = 'demo@example.com') {
      const { data, errors } = await ask<{ readonly login: Login } | null>(SIGN_IN, { email });
      if (errors[0]) throw new Error(`no sign-in of ${email}: ${errors[0].message}`);
      const token = data?.login.accessToken;
      if (token === undefined) throw new Error(`the sandbox has no user ${email}`);
      return { token, ask: askWith(token), follow: followWith(token) };
    },
    [Symbol.asyncDispose]: close,
  };
};

interface Login {
  readonly accessToken?: string;
}

interface Message {
  readonly url?: string;
  readonly problem?: string;
}

async function startService(given: object, variables: Readonly<Record<string, string>>) {
  const program = fileURLToPath(new URL('./service.ts', import.meta.url));
  const child = spawn(process.execPath, [program, JSON.stringify(given)], {
    // Each start after the first takes half of the time.
    env: {
      NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'),
      ...process.env,
      ...variables,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const exit = once(child, 'exit');
  const logged: string[] = [];
  for (const input of [child.stdout, child.stderr]) {
    if (input) createInterface({ input }).on('line', (line) => logged.push(line));
  }
  const ended = exit.then(([code]): [Message] => [{ problem: `the service left with ${code}` }]);
  const [{ url, problem }] = await Promise.race([
    once(child, 'message') as Promise<[Message]>,
    ended,
  ]);
  if (url === undefined) throw new Error([problem, ...logged].join('\n'));
  return {
    url,
    logged,
    async close() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}

async function post(
  url: string,
  body: object,
  token?: string,
  headers?: Readonly<Record<string, string>>,
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: JSON.stringify(body),
  });
}

function answerOf(text: string): Answer<unknown> {
  const { data = null, errors = [] } = JSON.parse(text) as Partial<Answer<unknown>>;
  return { data, errors };
}
