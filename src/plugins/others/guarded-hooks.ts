type Hook = (...given: unknown[]) => unknown;

/** The functions whose promises envelop waits for, so that what they reject with is an error of the operation. */
const AWAITED = new Set(['onContextBuilding', 'onExecute', 'onSubscribe', 'onExecuteDone']);

/**
 * A hook whose faults stay with its operation: a promise that nobody waits for would end the process with its
 * rejection, and an `onEnd` that throws would keep the events' source open.
 */
export function guarded(name: string, hook: Hook, fault: (error: unknown) => void): Hook {
  return (...given) => {
    const made = name === 'onEnd' ? attempt(() => hook(...given), fault) : hook(...given);
    if (!(made instanceof Promise)) return guardedResult(name, made, fault);
    if (AWAITED.has(name)) return made.then((value) => guardedResult(name, value, fault));
    made.catch(fault);
    return undefined;
  };
}

/** A hook may return the function, or several by their names, that is called next. */
function guardedResult(name: string, made: unknown, fault: (error: unknown) => void): unknown {
  if (typeof made === 'function') return guarded(name, made as Hook, fault);
  if (typeof made !== 'object' || made === null || Array.isArray(made)) return made;
  const entries = Object.entries(made);
  return Object.fromEntries(
    entries.map(([key, value]) => [
      key,
      typeof value === 'function' ? guarded(key, value as Hook, fault) : value,
    ]),
  );
}

function attempt(work: () => unknown, fault: (error: unknown) => void): unknown {
  try {
    return work();
  } catch (error) {
    fault(error);
    return undefined;
  }
}
