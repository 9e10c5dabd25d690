import type { Environment } from '../config.ts';

/** The parts of the process that a command may use, passed in so that a test can replace them. */
export interface Terminal {
  readonly environment: Environment;
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
  /** Resolves when the process is asked to stop; until it is called, a signal ends the process as usual. */
  readonly stopped: () => Promise<void>;
}

export interface Command {
  readonly usage: string;
  /** Resolves with the exit code. */
  run(args: readonly string[], terminal: Terminal): Promise<number>;
}

export const EXIT_OK = 0;
export const EXIT_FAILED = 1;
/** The exit code for a faulty command line. */
export const EXIT_USAGE = 2;
