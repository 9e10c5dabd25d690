import { flushCompileCache } from 'node:module';
import { type App, startApp } from '../app.ts';
import { withoutPassword } from '../config/shown.ts';
import type { Config } from '../config.ts';
import { steadyClock } from '../lib/clock.ts';
import { createLog } from '../lib/log.ts';
import type { LogOutput } from '../lib/log-output.ts';

/** Enough for a slow reader of the log. A reader that has stopped must not delay the exit longer. */
export const LAST_LINES_MS = 1_000;

/** npm forwards a signal that a terminal or a supervisor has sent to both processes. Within this time both are one signal. */
const SAME_SIGNAL_MS = 1_000;

/**
 * Runs the service in this process. On SIGTERM or SIGINT it shuts down gracefully and exits. `warnings` are probable
 * mistakes in the environment.
 */
export async function runApp(
  config: Config,
  warnings: readonly string[],
  output: LogOutput,
): Promise<void> {
  const log = createLog({ level: config.logLevel, destination: output });
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
    // As process 1 of a container Node would continue: the kernel ignores the default action there.
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
    // A failed start logs its warnings too.
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
  // Node writes the cache only at a clean exit. After a killed process the next one would compile everything again.
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
