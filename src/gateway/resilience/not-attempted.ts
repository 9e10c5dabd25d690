import type { Exchange } from '../exchange.ts';

/** The reason for which a call was not attempted: our own decision, which says nothing about the gateway. */
export class NotAttemptedError extends Error {
  override readonly name: string = 'NotAttemptedError';
}

export class CircuitOpenError extends NotAttemptedError {
  override readonly name = 'CircuitOpenError';

  constructor(backend: string) {
    super(`the gateway's ${backend} have failed a moment ago and are left alone for now`);
  }
}

export class PollsBusyError extends NotAttemptedError {
  override readonly name = 'PollsBusyError';

  constructor() {
    super('the connections that polls may use were taken for as long as this one could wait');
  }
}

export function wasNotAttempted(exchange: Exchange): boolean {
  return !exchange.sent && exchange.cause instanceof NotAttemptedError;
}
