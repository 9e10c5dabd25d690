import { flushCompileCache } from 'node:module';
import { type App, startApp } from './app.ts';
import { withoutPassword } from './config/given-value.ts';
import { type Config, ConfigError, parseEnvironment } from './config.ts';
import { ListenError } from './lib/listen.ts';
import { createLog } from './lib/log.ts';
import { standardOutput } from './lib/log-output.ts';

/** The same environment would fail again, so a supervisor need not restart the process. The number is from `sysexits.h`. */
const EXIT_CONFIG = 78;
const EXIT_FAILED = 1;
/** Enough for a slow reader of the log. A reader that has stopped must not delay the exit longer. */
const LAST_LINES_MS = 1_000;

const output = standardOutput();
try {
  const { config, problems, warnings } = parseEnvironment(process.env);
  if (problems.length > 0) throw new ConfigError([...problems, ...warnings]);
  await run(config, warnings);
} catch (error) {
  report(error);
  await output.drain(LAST_LINES_MS);
  process.exit(exitCodeOf(error));
}

/** Runs the service until SIGTERM or SIGINT. `warnings` are probable mistakes in the environment. */
async function run(config: Config, warnings: readonly string[]): Promise<void> {
  const log = createLog({ level: config.logLevel, destination: output });
  let serving: App | null = null;
  let isDraining = false;
  const exit = (code: number) => {
    const end = () => process.exit(code);
    output.drain(LAST_LINES_MS).then(end, end);
  };
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception, exiting');
    exit(EXIT_FAILED);
  });
  const stop = (signal: NodeJS.Signals) => {
    // npm repeats a signal that a terminal has sent to both processes.
    if (isDraining) return;
    if (serving === null) {
      // Without this, process 1 of a container would ignore the signal: the kernel omits the default action for process 1.
      log.info({ signal }, 'stopped while starting');
      exit(0);
      return;
    }
    isDraining = true;
    log.info({ signal }, 'draining');
    serving.close().then(
      () => exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'the shutdown failed');
        exit(EXIT_FAILED);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop);
  const app = await startApp(config, { log, logOutput: output }).finally(() => {
    // A failed start logs its warnings too.
    for (const warning of warnings) log.warn({}, warning);
  });
  serving = app;

  // This line is logged last, because its reader may send a signal immediately.
  const { redisUrl, orderStore } = config;
  const gateway = config.gatewayUrl ?? 'sandbox';
  const store = redisUrl === null ? orderStore : withoutPassword(redisUrl);
  const { adminUrl, build, url } = app;
  log.info({ ...build, node: process.version, gateway, store, adminUrl, url }, 'serving');
  if (config.sandbox) output.write(welcome(config, app));
  // Node writes the cache only at a clean exit. After a killed process the next one would compile everything again.
  setImmediate(flushCompileCache);
}

/** In production, programs read the log, so each problem is one of its lines. */
function report(error: unknown): void {
  if (process.env.NODE_ENV !== 'production') {
    process.stderr.write(`${explain(error)}\n`);
    return;
  }
  const log = createLog({ level: 'fatal', destination: output });
  if (!(error instanceof ConfigError)) {
    log.fatal({ err: error }, 'the start failed');
    return;
  }
  const message = isTemporary(error) ? 'the start failed' : 'the configuration is wrong';
  for (const problem of error.problems) log.fatal({ problem }, message);
}

function explain(error: unknown): string {
  if (error instanceof ConfigError) {
    const heading = isTemporary(error) ? 'The start failed' : 'The configuration is wrong';
    return `${heading}:\n${error.message}`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function exitCodeOf(error: unknown): number {
  const isFinal = error instanceof ConfigError && !isTemporary(error);
  return isFinal ? EXIT_CONFIG : EXIT_FAILED;
}

function isTemporary({ cause }: ConfigError): boolean {
  return cause instanceof ListenError && cause.isTemporary;
}

function welcome({ graphiql }: Config, { url, hasDemoPage }: App): string {
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
