import { fileURLToPath } from 'node:url';

export const SOURCES = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** The program that tests start as a process: the sources, or the bundle that `TEST_PROGRAM` names. */
export const PROGRAM = process.env.TEST_PROGRAM ?? SOURCES;
