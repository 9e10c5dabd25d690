/** The engine that an app's code runs in: Node's, or React Native's without React Native. */
export interface Phone {
  /** Comes back in a turn of its own, as each call of a native store. */
  turn<T>(value: T): Promise<T>;
  /** The longest turn of the event loop, in milliseconds, while the task runs and what it has begun settles. */
  longestStop(task: () => Promise<unknown>): Promise<number>;
  nowMs(): number;
}
