import { createAppLog, openAppLogOutput } from './app/app-options.ts';
import { networkAddress } from './app/network-address.ts';
import { findUnusable } from './app/resources.ts';
import { type App, startApp } from './app.ts';
import { withoutPassword } from './config/setting.ts';
import { type Config, ConfigError, parseEnvironment } from './config.ts';
import { createLog, openLogOutput } from './lib/log.ts';
import { DemoPage } from './server/demo-page/demo-page.ts';

/** For a reader of the log that is slow, and no longer for one that has stopped. */
const LAST_LINES_MS = 1_000;

/** The process: reads the configuration, starts, and shuts down gracefully on SIGTERM or SIGINT. */
async function main(): Promise<void> {
  const { config, problems, faulty, warnings } = parseEnvironment(process.env);
  if (problems.length > 0) {
    const others = await findUnusable(config, faulty);
    throw new ConfigError([...problems, ...others, ...warnings]);
  }
  const output = openAppLogOutput(config);
  const log = createAppLog(config, output);
  for (const warning of warnings) log.warn({}, warning);
  const app = await startApp(config, { log, logOutput: output });

  let stopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      // A second signal skips the graceful shutdown.
      if (stopping) process.exit(1);
      stopping = true;
      log.info({ signal }, 'draining');
      const exit = async (code: number) => {
        await output.drain(LAST_LINES_MS);
        process.exit(code);
      };
      app.close().then(
        () => exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'the shutdown failed');
          return exit(1);
        },
      );
    });
  }

  // This line is logged last, because its reader may send a signal immediately.
  log.info(servingRecord(config, app), 'serving');
  if (config.sandbox) output.write(welcome(config, app));
}

/** The log record of a process that has just started. */
function servingRecord(config: Config, { build, url, adminUrl }: App) {
  const { gatewayUrl, redisUrl, orderStore } = config;
  return {
    ...build,
    gateway: gatewayUrl ?? 'sandbox',
    store: redisUrl === null ? orderStore : withoutPassword(redisUrl),
    adminUrl,
    url,
  };
}

function welcome(config: Config, { url }: App): string {
  // The container image has no page.
  const hasPage = config.demoPage && DemoPage.find() !== null;
  const open = hasPage
    ? `  Open       ${url}/   (what it does, live: you are signed in as the demo user)\n`
    : '';
  return `
  Trading Graph is running with its own sandbox gateway (pretend money, a pretend market).

${open}  GraphiQL   ${url}/graphql
  Try        { session { id balance } positions { id symbol profit instrument { id name } } }
  Sign in    mutation { login(input: { email: "demo@example.com", password: "demo" }) { ... on LoginSuccess { accessToken } } }
             pro@example.com and fresh@example.com have the same password
  Phone      ${fromAPhone(config, `${url}/${hasPage ? '' : 'graphql'}`)}
  Stop       Ctrl+C

`;
}

/** How a device in the same network opens the page; by default nothing but this machine does. */
function fromAPhone({ host }: Config, url: string): string {
  const address = networkAddress();
  if (address === null) return 'this machine is in no network';
  const { port, pathname } = new URL(url);
  const page = `http://${address}:${port}${pathname}`;
  if (host === '0.0.0.0' || host === '::' || host === address)
    return `${page} from the same network`;
  return `HOST=0.0.0.0 npm start, then ${page} from the same network`;
}

/** In production the log is read by machines, so the problems are lines of it as well. */
async function report(error: unknown): Promise<void> {
  if (process.env.NODE_ENV !== 'production') {
    process.stderr.write(`${explain(error)}\n`);
    return;
  }
  const output = openLogOutput('json');
  const log = createLog({ level: 'fatal', format: 'json', destination: output });
  if (!(error instanceof ConfigError)) log.fatal({ err: error }, 'the start failed');
  else for (const problem of error.problems) log.fatal({ problem }, 'the configuration is wrong');
  await output.drain(LAST_LINES_MS);
}

function explain(error: unknown): string {
  if (error instanceof ConfigError) return `The configuration is wrong:\n${error.message}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

try {
  await main();
} catch (error) {
  await report(error);
  process.exit(1);
}
