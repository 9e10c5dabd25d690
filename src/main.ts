import { connectionFaults } from './app/max-connections.ts';
import { LAST_LINES_MS, runApp } from './app/run-app.ts';
import { findUnusable } from './app/usable.ts';
import { ConfigError, parseEnvironment } from './config.ts';
import { createLog, openLogOutput } from './lib/log.ts';
import { embeddedSandbox } from './sandbox/embedded.ts';

/** A supervisor need not try again: nothing but another environment helps. As `sysexits.h` has it. */
const EXIT_CONFIG = 78;
/** An address that is taken, or a store that is away, may come free by itself; a file that is wrong stays so. */
const OF_FILES = /^PERSISTED_DOCUMENTS\b/;
let exitCode = 1;

/** The process: reads the configuration and runs the service. */
async function main(): Promise<void> {
  const { config, faulty, ...told } = parseEnvironment(process.env);
  const ofFiles = connectionFaults(config);
  const problems = [...told.problems, ...ofFiles.problems];
  const warnings = [...told.warnings, ...ofFiles.warnings];
  if (problems.length > 0) {
    exitCode = EXIT_CONFIG;
    const others = await findUnusable(config, faulty);
    throw new ConfigError([...problems, ...others, ...warnings]);
  }
  await runApp(config, { warnings, sandbox: embeddedSandbox });
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
  if (error instanceof ConfigError && error.problems.some((problem) => OF_FILES.test(problem)))
    exitCode = EXIT_CONFIG;
  await report(error);
  process.exit(exitCode);
}
