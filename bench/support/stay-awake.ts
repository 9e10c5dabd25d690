/**
 * Busy-polls the event loop until the end of its scope. To wake a sleeping core costs the
 * sender some microseconds, and the slower of two subjects would find it asleep more often.
 */
export function stayAwake(): Disposable {
  let isAwake = true;
  const look = () => {
    if (isAwake) setImmediate(look);
  };
  look();
  return {
    [Symbol.dispose]() {
      isAwake = false;
    },
  };
}
