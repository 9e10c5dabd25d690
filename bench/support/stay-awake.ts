/**
 * Busy-polls the event loop until the caller's scope ends. Waking a sleeping core costs the sender some microseconds, and
 * the slower of two subjects would find the core asleep more often.
 */
export function stayAwake(): Disposable {
  let next = setImmediate(poll);
  function poll() {
    next = setImmediate(poll);
  }
  return { [Symbol.dispose]: () => clearImmediate(next) };
}
