/**
 * Looks for what comes all the time, until it is told to rest. To wake a core that sleeps costs whoever
 * sends to it some microseconds, and the slower of two contestants would find it asleep more often.
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
