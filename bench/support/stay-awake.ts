/**
 * Busy-polls the event loop until the end of its scope. Waking a sleeping core costs the sender some microseconds, and the
 * slower of two subjects would find it asleep more often.
 */
export function stayAwake(): Disposable {
  let next = setImmediate(look);
  function look() {
    next = setImmediate(look);
  }
  return { [Symbol.dispose]: () => clearImmediate(next) };
}
