import { type ParseArgsConfig, parseArgs } from 'node:util';

/** Returns the options and positionals of a command line, or a text that says what is wrong with it. */
export function readArguments<const T extends ParseArgsConfig>(
  config: T,
): ReturnType<typeof parseArgs<T>> | string {
  try {
    return parseArgs(config);
  } catch (problem) {
    return problem instanceof Error ? problem.message : String(problem);
  }
}
