import { LAST_LINES_MS, runApp } from './app/run-app.ts';
import { ConfigError, parseEnvironment } from './config.ts';
import { ListenError } from './lib/listen.ts';
import { createLog } from './lib/log.ts';
import { standardOutput } from './lib/log-output.ts';

/** The same environment would fail again, so a supervisor need not restart the process. The number is from `sysexits.h`. */
const EXIT_CONFIG = 78;
const EXIT_FAILED = 1;

/** In production machines read the log, so each problem is a line of it. */
function report(error: unknown): void {
  if (process.env.NODE_ENV !== 'production') {
    process.stderr.write(`${explain(error)}\n`);
    return;
  }
  const log = createLog({ level: 'fatal', destination: output });
  if (!(error instanceof ConfigError)) log.fatal({ err: error }, 'the start failed');
  else for (const problem of error.problems) log.fatal({ problem }, 'the configuration is wrong');
}

function explain(error: unknown): string {
  if (error instanceof ConfigError) return `The configuration is wrong:\n${error.message}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function exitCodeOf(error: unknown): number {
  // A port that is in use may become free.
  const isFinal = error instanceof ConfigError && !(error.cause instanceof ListenError);
  return isFinal ? EXIT_CONFIG : EXIT_FAILED;
}

const output = standardOutput();
try {
  const { config, problems, warnings } = parseEnvironment(process.env);
  if (problems.length > 0) throw new ConfigError([...problems, ...warnings]);
  await runApp(config, warnings, output);
} catch (error) {
  report(error);
  await output.drain(LAST_LINES_MS);
  process.exit(exitCodeOf(error));
}
