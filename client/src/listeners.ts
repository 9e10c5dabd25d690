import { callApp } from './call-app.ts';
import type { Environment } from './environment.ts';

/** A set of the app's callbacks for one kind of event. If one throws, the others are still called. */
export class Listeners<Args extends readonly unknown[] = []> {
  readonly #environment: Environment;
  readonly #listeners = new Set<(...args: Args) => void>();

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  get size(): number {
    return this.#listeners.size;
  }

  /** The same listener may be added twice; each addition ends separately. */
  add(listener: (...args: Args) => void): () => void {
    const own = (...args: Args) => listener(...args);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  clear(): void {
    this.#listeners.clear();
  }

  notify(...args: Args): void {
    for (const listener of [...this.#listeners]) {
      // A listener that was called before may have removed this one.
      if (this.#listeners.has(listener)) callApp(this.#environment, () => listener(...args));
    }
  }
}
