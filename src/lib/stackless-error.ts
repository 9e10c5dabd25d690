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
