import { type ParseArgsConfig, parseArgs } from 'node:util';
import { programVersion } from '../app/app-options.ts';
import { ConfigError, type Environment } from '../config.ts';

/** The parts of the process that a command may use, passed in so that a test can replace them. */
export interface Terminal {
  readonly environment: Environment;
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
  /** Resolves when the process is asked to stop. Until `stopped` is called, a signal ends the process as usual. */
  readonly stopped: () => Promise<void>;
}

export interface Command {
  readonly summary: string;
  readonly usage: string;
  /** Resolves to the exit code. The caller prints a UsageError, and the problems of a ConfigError. */
  run(args: readonly string[], terminal: Terminal): Promise<number>;
}

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export const EXIT_OK = 0;
export const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

export type Commands = Readonly<Record<string, Command>>;

export async function dispatch(
  commands: Commands,
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    for (const line of usage(commands)) terminal.out(line);
    return name === undefined ? EXIT_USAGE : EXIT_OK;
  }
  if (name === '--version' || name === '-v') {
    terminal.out(`${programVersion()} (${terminal.environment.REVISION || 'unknown'})`);
    return EXIT_OK;
  }
  // `in` would accept inherited names such as "constructor".
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    terminal.err(`There is no command ${name}.`);
    for (const line of usage(commands)) terminal.err(line);
    return EXIT_USAGE;
  }
  if (rest.includes('--help') || rest.includes('-h')) {
    terminal.out(command.usage);
    return EXIT_OK;
  }
  try {
    return await command.run(rest, terminal);
  } catch (problem) {
    if (problem instanceof UsageError) {
      terminal.err(problem.message);
      return EXIT_USAGE;
    }
    if (!(problem instanceof ConfigError)) throw problem;
    for (const line of problem.problems) terminal.err(line);
    return EXIT_FAILED;
  }
}

function usage(commands: Commands): string[] {
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  return [
    'Usage: trading-graph <command> [options]',
    '',
    ...Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'trading-graph <command> --help explains a command, trading-graph --version prints the version.',
  ];
}

export function readArguments<const T extends ParseArgsConfig>(
  config: T,
): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (problem) {
    throw new UsageError(problem instanceof Error ? problem.message : String(problem));
  }
}
