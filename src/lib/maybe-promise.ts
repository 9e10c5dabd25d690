export type MaybePromise<T> = T | Promise<T>;

/** Calls `next` at once if the value is not a promise: awaiting it would cost a microtask. */
export function chain<T, U>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Returns the promise of `begin` itself. Like an async function, it turns a thrown error into a rejection. */
export function promised<T>(begin: () => MaybePromise<T>): Promise<T> {
  try {
    return Promise.resolve(begin());
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Drops a value. Handles the rejections of its promises, because an unhandled rejection ends the process. */
export function abandon(value: unknown): void {
  for (const each of Array.isArray(value) ? value : [value]) {
    if (isPromiseLike(each)) each.then(undefined, () => {});
  }
}

export function isPromiseLike(value: unknown): value is Promise<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}
