import type { Environment } from './environment.ts';

/**
 * Calls a function of the app. An error that it throws is rethrown in a task of its own: the platform reports it, and the
 * client continues.
 */
export function callApp({ after }: Pick<Environment, 'after'>, call: () => void): void {
  try {
    call();
  } catch (thrown) {
    after(0, () => {
      throw thrown;
    });
  }
}
