import type { Terminal } from '../cli/dispatch.ts';

const EVERY_MS = 1_000;

/** Says how far a command has come, once a second, so that one that takes long does not look stuck. */
export class Progress implements Disposable {
  readonly #timer: NodeJS.Timeout;

  /** `words` gets the seconds since the start; it is not asked within the first. */
  constructor({ err }: Pick<Terminal, 'err'>, words: (seconds: number) => string) {
    const startedAt = performance.now();
    this.#timer = setInterval(() => {
      err(words(Math.round((performance.now() - startedAt) / 1_000)));
    }, EVERY_MS);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
