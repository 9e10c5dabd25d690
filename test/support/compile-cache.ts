import type { Environment } from '../../src/config.ts';

/** The compile cache of the tests: without it a process that starts from the sources costs a second of two cores. */
export function compileCache(): Environment {
  const { NODE_COMPILE_CACHE } = process.env;
  return NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
}
