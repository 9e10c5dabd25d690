import type { Environment } from './environment.ts';

/** Calls a function of the app's. What it throws is thrown from a task of its own: the platform reports it, and nothing of the client's ends. */
export function callApp({ after }: Pick<Environment, 'after'>, call: () => void): void {
  try {
    call();
  } catch (thrown) {
    after(0, () => {
      throw thrown;
    });
  }
}
