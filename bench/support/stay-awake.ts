/**
 * Busy-polls the event loop until it is stopped. To wake a sleeping core costs the
 * sender some microseconds, and the slower of two contestants would find it asleep more often.
 */
export function stayAwake(): () => void {
  let isAwake = true;
  const look = () => {
    if (isAwake) setImmediate(look);
  };
  look();
  return () => {
    isAwake = false;
  };
}
