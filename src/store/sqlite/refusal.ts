import {
  AccountRecordsFullError,
  RecordsForgottenError,
  RecordsGapError,
  RecordsUnavailableError,
} from '../order-records.ts';

/** An error that refuses a task, as data: an Error keeps neither class nor properties on its way between threads. */
export type Refusal = Omit<RecordsUnavailableError, 'stack' | 'cause'>;

const CLASSES = new Map<string, { readonly prototype: RecordsUnavailableError }>([
  ['RecordsForgottenError', RecordsForgottenError],
  ['RecordsGapError', RecordsGapError],
  ['AccountRecordsFullError', AccountRecordsFullError],
]);

export function toRefusal(error: RecordsUnavailableError): Refusal {
  const { name, message } = error;
  return { ...error, name, message };
}

/** The error as it was thrown, with a stack of this thread. */
export function toError({ message, ...properties }: Refusal): RecordsUnavailableError {
  const { prototype } = CLASSES.get(properties.name) ?? RecordsUnavailableError;
  return Object.assign(Object.setPrototypeOf(new Error(message), prototype), properties);
}
