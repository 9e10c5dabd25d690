import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { findUnusable } from './app/resources.ts';
import { type App, createAppLog, startApp } from './app.ts';
import { withoutPassword } from './config/shown.ts';
import { type Config, ConfigError, parseEnvironment } from './config.ts';

// V8's middle compiler takes up to 60 MB on each of its threads for code that is generated from one
// large document, and keeps them: 250 MB in the worst case found. Requests are as fast without it.
setFlagsFromString('--no-maglev');

/** The process: reads the configuration, starts, and shuts down gracefully on SIGTERM or SIGINT. */
async function main(): Promise<void> {
  const { config, problems, faulty, warnings } = parseEnvironment(process.env);
  if (problems.length > 0) {
    const others = await findUnusable(config, faulty);
    throw new ConfigError([...problems, ...others, ...warnings]);
  }
  const log = createAppLog(config);
  for (const warning of warnings) log.warn({}, warning);
  const app = await startApp(config, { log });

  let stopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      // A second signal skips the graceful shutdown.
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

  // This line is logged last, because its reader may send a signal immediately.
  log.info(servingRecord(config, app), 'serving');
  if (config.sandbox) welcome(app);
}

/** The log record of a process that has just started. */
function servingRecord(config: Config, { url, adminUrl }: App) {
  const { gatewayUrl, redisUrl, orderStore } = config;
  return {
    version: programVersion(),
    gateway: gatewayUrl ?? 'sandbox',
    store: redisUrl === null ? orderStore : withoutPassword(redisUrl),
    adminUrl,
    url,
  };
}

/** The version of this program, as its package.json says. */
function programVersion(): string {
  const manifest: { readonly version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return manifest.version;
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
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  process.exit(1);
}
