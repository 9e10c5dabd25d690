import type { ClientStorage } from '../storage.ts';

/** Throws where a function such as `files` is given in place of its result, which the first order would otherwise be the first to notice. */
export function checkStorage(option: string, storage: unknown): void {
  if (storage === undefined) return;
  const { get, set } = Object(storage) as Partial<ClientStorage>;
  if (typeof get === 'function' && typeof set === 'function') return;
  throw new TypeError(
    `\`${option}\` is made by a call, such as indexedDb({ name }) or files('./orders')`,
  );
}
