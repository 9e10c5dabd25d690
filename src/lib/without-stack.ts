/** Makes an error of another module's class without a stack, as StacklessError does for our own. */
export function withoutStack<Made extends Error>(make: () => Made): Made {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return make();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
