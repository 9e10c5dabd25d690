export type MaybePromise<T> = T | Promise<T>;

/** Calls `next` at once with a value that is no promise: awaiting it would cost a microtask. */
export function chain<T, U>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** The promise that is begun, itself; what is thrown before there is one is a rejection, as that of an async function. */
export function promised<T>(begin: () => MaybePromise<T>): Promise<T> {
  try {
    return Promise.resolve(begin());
  } catch (error) {
    return Promise.reject(error);
  }
}
