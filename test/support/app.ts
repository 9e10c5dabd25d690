import type { AppOptions } from '../../src/app/app-options.ts';
import { startApp } from '../../src/app.ts';
import { type Config, type Environment, readConfig } from '../../src/config.ts';
import { createLog } from '../../src/lib/log.ts';
import type { Sandbox } from '../../src/sandbox/start.ts';
import { assertNoLeak, readMetrics } from './leaks.ts';
import { limitTable, withoutRefills } from './limits.ts';
import { PATIENT } from './patient.ts';

export interface GraphQLAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever shape its own query asked for
  readonly data: any;
  readonly errors: readonly PublicError[];
  readonly extensions: { readonly gateway: readonly { operation: string; source: string }[] };
}

export interface PublicError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: Readonly<Record<string, unknown>> & { readonly code: string };
}

export interface QueryOptions {
  readonly token?: string | null;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TestApp extends AsyncDisposable {
  readonly url: string;
  readonly webSocketUrl: string;
  readonly adminUrl: string;
  readonly config: Config;
  readonly sandbox: Sandbox;
  /** Every line that the service has logged. */
  readonly logged: readonly string[];
  query(document: string, options?: QueryOptions): Promise<GraphQLAnswer>;
  /** Signs in through the service, and returns the token. */
  signIn(email?: string): Promise<string>;
  /** Closes the service. Rejects if the service has logged a secret. */
  close(): Promise<void>;
}

export interface TestAppOptions extends Omit<AppOptions, 'log'> {
  /** A gateway that the test has started, which the service treats as a real gateway. */
  readonly gateway?: Sandbox;
  /** Configuration values without a setting. */
  readonly change?: Partial<Config>;
  /** If false, limits per minute are not refilled. */
  readonly refills?: boolean;
}

/**
 * Starts the real service in this process, on free ports, with its sandbox gateway. The prices of the sandbox change only
 * when the test moves them.
 */
export async function startTestApp(
  environment: Environment = {},
  { gateway, change, refills = true, connections, limits, ...options }: TestAppOptions = {},
): Promise<TestApp> {
  const read = readConfig({
    PORT: '0',
    ADMIN_PORT: '0',
    SANDBOX_SEED: 'tests',
    SANDBOX_TICK_MS: '86400000',
    ...PATIENT,
    ORDER_STORE: 'memory',
    ...(gateway && { GATEWAY_URL: gateway.url }),
    ...environment,
  });
  // No test waits until a new store takes orders.
  const config = { ...read, takesOldKeys: true, ...change };
  // OpenTelemetry's SDK reads its variables from the process when it is created.
  const names = Object.keys(environment).filter((name) => name.startsWith('OTEL_'));
  for (const name of names) process.env[name] = environment[name];
  const logged: string[] = [];
  const log = createLog({
    level: 'debug',
    // One write may hold several lines.
    destination: { write: (lines) => void logged.push(...lines.split(/(?<=\n)/)) },
  });
  const app = await startApp(config, {
    log,
    ...(connections && { connections }),
    limits: { ...(!refills && withoutRefills(limitTable(config))), ...limits },
    ...options,
  }).finally(() => {
    for (const name of names) delete process.env[name];
  });
  const sandbox = gateway ?? app.sandbox;
  if (sandbox === null) throw new Error('tests run against the sandbox gateway');
  const { url, adminUrl } = app;
  const query = (document: string, queryOptions: QueryOptions = {}) =>
    postQuery(`${url}/graphql`, document, queryOptions);
  const close = async () => {
    await app.close();
    assertNoLeak('log', logged, sandbox.requests());
  };
  return {
    url,
    adminUrl,
    config,
    sandbox,
    logged,
    query,
    close,
    webSocketUrl: `${url.replace('http', 'ws')}/graphql`,
    async signIn(email = 'demo@example.com') {
      const { data } = await query(
        'mutation ($email: String!) { login(input: { email: $email, password: "demo" }) { ... on LoginSuccess { accessToken } } }',
        { variables: { email } },
      );
      return data.login.accessToken;
    },
    async [Symbol.asyncDispose]() {
      const metrics = await readMetrics(adminUrl);
      await close();
      assertNoLeak('metrics', [metrics], sandbox.requests());
    },
  };
}

export async function postQuery(
  url: string,
  document: string,
  { token, variables, headers }: QueryOptions,
): Promise<GraphQLAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token != null && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: JSON.stringify({ query: document, variables }),
  });
  const body = (await response.json()) as Partial<GraphQLAnswer>;
  return {
    status: response.status,
    headers: response.headers,
    data: body.data,
    errors: body.errors ?? [],
    extensions: body.extensions ?? { gateway: [] },
  };
}
