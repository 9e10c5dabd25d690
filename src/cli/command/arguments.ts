import { type ParseArgsConfig, parseArgs } from 'node:util';

/** The command line is faulty; the message names the fault. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Returns the options and positionals of a command line; throws a UsageError if it is faulty. */
export function readArguments<const T extends ParseArgsConfig>(
  config: T,
): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (problem) {
    throw new UsageError(problem instanceof Error ? problem.message : String(problem));
  }
}
