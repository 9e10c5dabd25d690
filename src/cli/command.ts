import type { Environment } from '../config.ts';

/** What a command may use of the process, so that a test can hand it something else. */
export interface Terminal {
  readonly environment: Environment;
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
  /** Resolves when the process is asked to stop; until this is called a signal ends it as ever. */
  readonly stopped: () => Promise<void>;
}

export interface Command {
  readonly usage: string;
  /** Answers with the exit code. */
  run(args: readonly string[], terminal: Terminal): Promise<number>;
}

export const EXIT_OK = 0;
export const EXIT_FAILED = 1;
/** The command line itself was wrong. */
export const EXIT_USAGE = 2;
