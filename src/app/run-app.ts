import { flushCompileCache } from 'node:module';
import { type App, startApp } from '../app.ts';
import { withoutPassword } from '../config/shown.ts';
import type { Config } from '../config.ts';
import { steadyClock } from '../lib/clock.ts';
import { createLog, openLogOutput } from '../lib/log.ts';

/** For a reader of the log that is slow, and no longer for one that has stopped. */
export const LAST_LINES_MS = 1_000;

/** npm passes on to the process what a terminal or a supervisor has sent to both: within this time that is one signal. */
const SAME_SIGNAL_MS = 1_000;

/**
 * Runs the service as this process: shuts down gracefully on SIGTERM or SIGINT, and exits. `warnings` are probable
 * mistakes in the environment.
 */
export async function runApp(config: Config, warnings: readonly string[]): Promise<void> {
  const format = config.sandbox ? 'compact' : 'json';
  const output = openLogOutput(format);
  const log = createLog({ level: config.logLevel, format, destination: output });
  const { version: node } = process;
  let serving: App | null = null;
  let isEnding = false;
  const exit = (code: number) => {
    const end = () => process.exit(code);
    output.drain(LAST_LINES_MS).then(end, end);
  };
  process.on('uncaughtException', (error) => {
    if (isEnding) return;
    isEnding = true;
    log.fatal({ err: error }, 'uncaught exception, exiting');
    exit(1);
  });
  let drainingSinceMs: number | null = null;
  const stop = (signal: NodeJS.Signals) => {
    // In a container, as process 1, Node would go on: the kernel ignores the default action there.
    if (serving === null) {
      log.info({ signal }, 'stopped while starting');
      exit(0);
    } else if (drainingSinceMs === null) {
      drainingSinceMs = steadyClock.now();
      log.info({ signal }, 'draining');
      serving.close().then(
        () => exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'the shutdown failed');
          exit(1);
        },
      );
    } else if (steadyClock.now() - drainingSinceMs >= SAME_SIGNAL_MS) {
      // A second signal skips the graceful shutdown.
      process.exit(1);
    }
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop);
  const app = await startApp(config, { log, logOutput: output }).finally(() => {
    // A start that fails logs its warnings as well.
    for (const warning of warnings) log.warn({}, warning);
  });

  serving = app;

  // This line is logged last, because its reader may send a signal immediately.
  const { redisUrl, orderStore } = config;
  const gateway = config.gatewayUrl ?? 'sandbox';
  const store = redisUrl === null ? orderStore : withoutPassword(redisUrl);
  const { adminUrl, url } = app;
  log.info({ ...app.build, node, gateway, store, adminUrl, url }, 'serving');
  if (config.sandbox) output.write(welcome(config, app));
  // Node writes it at a clean exit alone: after a process that was killed the next would compile all again.
  setImmediate(flushCompileCache);
}

function welcome(config: Config, { url, hasDemoPage }: App): string {
  const open = hasDemoPage
    ? `  Open       ${url}/   (what it does, live: you are signed in as the demo user)\n`
    : '';
  const graphiql = config.graphiql ? `  GraphiQL   ${url}/graphql\n` : '';
  return `
  Trading Graph is running with its own sandbox gateway (pretend money, a pretend market).

${open}${graphiql}  Try        { session { id balance } positions { id symbol profit instrument { id name } } }
  Sign in    mutation { login(input: { email: "demo@example.com", password: "demo" }) { ... on LoginSuccess { accessToken } } }
             pro@example.com and fresh@example.com have the same password
  Stop       Ctrl+C

`;
}
