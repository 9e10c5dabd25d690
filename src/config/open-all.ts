import { ConfigError } from '../config.ts';

/**
 * Like Promise.all, but waits for all, and its ConfigError lists the problems of all. An error of
 * any other kind is a bug and takes precedence.
 */
export async function openAll<const T extends readonly Promise<unknown>[]>(opening: T) {
  const settled = await Promise.allSettled(opening);
  const errors = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  const problems = errors.flatMap((error) => {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return Promise.all(opening);
}
