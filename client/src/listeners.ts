import { callApp } from './call-app.ts';
import type { Environment } from './environment.ts';

/** A set of the app's callbacks for one kind of event; one that throws does not keep the others from being called. */
export class Listeners<Args extends readonly unknown[] = []> {
  readonly #environment: Environment;
  readonly #listeners = new Set<(...args: Args) => void>();

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  get size(): number {
    return this.#listeners.size;
  }

  /** A listener may be given twice, and each is ended by itself. */
  add(listener: (...args: Args) => void): () => void {
    const own = (...args: Args) => listener(...args);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  clear(): void {
    this.#listeners.clear();
  }

  tell(...args: Args): void {
    for (const listener of [...this.#listeners]) {
      // One that was called before it may have ended it.
      if (this.#listeners.has(listener)) callApp(this.#environment, () => listener(...args));
    }
  }
}
