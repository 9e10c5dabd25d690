import { type App, createAppLog, startApp } from './app.ts';
import { ConfigError, readConfig } from './config.ts';

/** The process: reads the configuration, starts, and on SIGTERM or SIGINT drains and leaves. */
async function main(): Promise<void> {
  const config = readConfig(process.env);
  const log = createAppLog(config);
  const app = await startApp(config, { log });

  let stopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      // A second signal is somebody in a hurry.
      if (stopping) process.exit(1);
      stopping = true;
      log.info({ signal }, 'draining');
      app.close().then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'the shutdown failed');
          process.exit(1);
        },
      );
    });
  }

  // Last: whoever reads it may send a signal at once.
  if (config.sandbox) welcome(app);
  else log.info({ url: app.url }, 'serving');
}

function welcome({ url }: App): void {
  process.stdout.write(`
  Trading Graph is running with its own sandbox gateway (pretend money, a pretend market).

  GraphiQL   ${url}/graphql   (open it: you are signed in as the demo user)
  Try        { session { balance equity } positions { symbol profit instrument { name } } }
  Sign in    mutation { login(input: { email: "demo@example.com", password: "demo" }) { ... on LoginSuccess { accessToken } } }
             pro@example.com and fresh@example.com have the same password
  Stop       Ctrl+C

`);
}

function explain(error: unknown): string {
  if (error instanceof ConfigError) return `The configuration is wrong:\n${error.message}`;
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    const { port } = error as Error & { port?: number };
    const variable = String(port) === (process.env.ADMIN_PORT ?? '4001') ? 'ADMIN_PORT' : 'PORT';
    return `Port ${port} is in use. Stop what uses it, or set ${variable} to another one.`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  process.exit(1);
}
