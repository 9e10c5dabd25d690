import type { Environment } from '../../src/config.ts';

/** The cache of the tests themselves: a process that starts from the sources costs a second of both cores without it. */
export function compileCache(): Environment {
  const { NODE_COMPILE_CACHE } = process.env;
  return NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
}
