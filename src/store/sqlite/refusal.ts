import {
  AccountRecordsFullError,
  KeyAheadError,
  KeyTooOldError,
  RecordsUnavailableError,
} from '../order-records.ts';

/** An error that refuses a task, as data: an Error loses its class and properties when it is sent between threads. */
export type Refusal = Omit<RecordsUnavailableError, 'stack' | 'cause'>;

const CLASSES = new Map<string, { readonly prototype: RecordsUnavailableError }>([
  ['KeyTooOldError', KeyTooOldError],
  ['KeyAheadError', KeyAheadError],
  ['AccountRecordsFullError', AccountRecordsFullError],
]);

export function toRefusal(error: RecordsUnavailableError): Refusal {
  const { name, message } = error;
  return { ...error, name, message };
}

/** Makes the error again in this thread. */
export function toError({ message, ...properties }: Refusal): RecordsUnavailableError {
  const { prototype } = CLASSES.get(properties.name) ?? RecordsUnavailableError;
  return Object.assign(Object.setPrototypeOf(new Error(message), prototype), properties);
}
