import type { Code } from './error-codes.ts';

/** An error without a stack. A stack takes ten times as long as the rest, and does not show a cause outside the process. */
export class StacklessError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Makes errors of other modules' classes without stacks. A stack keeps everything alive that its functions refer to. */
export function withoutStack<Made>(make: () => Made): Made {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return make();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** An error as clients see it. */
export interface Shown {
  readonly code: Code;
  readonly message: string;
  /** Further `extensions`. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** An error that clients see. Any other error is `INTERNAL` to them, and its message appears only in the log. */
export abstract class PublicError extends StacklessError {
  abstract readonly shown: Shown;
}

/** A client's input is outside what is allowed; `argument` is the path of the offending value. */
export class InputError extends PublicError {
  override readonly name = 'InputError';
  readonly argument: string;

  constructor(argument: string, message: string) {
    super(message);
    this.argument = argument;
  }

  get shown(): Shown {
    const { argument, message } = this;
    return { code: 'BAD_USER_INPUT', message, more: { argument } };
  }
}
